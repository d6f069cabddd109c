/* SPDX-License-Identifier: Apache-2.0 */
/* test_code.c - tokens of sources: by known kinds, and by putting random and hostile texts together again. */
#include "base/core/hash.h"
#include "base/core/rng.h"
#include "draw/html/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* "k:for p: ..." without plain pieces: kind letter, colon, text, '|'. */
static void kinds(const char *text, PmStr *out)
{
	static const char letter[] = "pcsnkdu";
	size_t n = strlen(text), len;

	for (size_t at = 0; at < n; at += len) {
		PmCodeKind kind = pm_code_token(text, n, at, &len);

		if (kind == PM_CODE_PLAIN)
			continue;
		pm_str_addf(out, "%c:", letter[kind]);
		pm_str_addn(out, text + at, len);
		pm_str_addc(out, '|');
	}
}

static void kinds_are_told_apart(void **state)
{
	static const char *const cases[][2] = {
		{ "for (int i = 0;", "k:for|k:int|n:0|" },
		{ "format integer", "" },
		{ "// a \"b\"\nx", "c:// a \"b\"|" },
		{ "// on \\\nand on\nx", "c:// on \\\nand on|" },
		{ "/* a\nb */c", "c:/* a\nb */|" },
		{ "/*/ x */1", "c:/*/ x */|n:1|" },
		{ "/* never closed", "c:/* never closed|" },
		{ "\"a\\\"b\" 'x' '\\''", "s:\"a\\\"b\"|s:'x'|s:'\\''|" },
		{ "\"not closed\nint", "s:\"not closed|k:int|" },
		{ "R\"x(a)\" )x\" 2", "s:R\"x(a)\" )x\"|n:2|" },
		{ "0x1p-3f+1'000.5e+2-x1", "n:0x1p-3f|n:1'000.5e+2|" },
		{ ".5 a.b", "n:.5|" },
		{ "  # define A\na # b", "d:# define|" },
		{ "#", "d:#|" },
		{ "__global__ void f(threadIdx.x)", "u:__global__|k:void|u:threadIdx|" },
		{ "__", "" },
		{ "a / b * c", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		PmStr out = PM_STR_INIT;

		kinds(cases[i][0], &out);
		assert_string_equal(out.s, cases[i][1]);
		pm_str_release(&out);
	}
}

/* Tokens of at least one byte that end where the text ends. */
static void is_whole(const char *text, size_t n)
{
	size_t len;

	for (size_t at = 0; at < n; at += len) {
		pm_code_token(text, n, at, &len);
		assert_true(len > 0 && len <= n - at);
	}
}

static void tokens_are_the_text(void **state)
{
	static const char *const pieces[] = { "/*",   "*/",  "//",  "\"",           "'",      "\\",
					      "\n",   "R\"", "(",   ")\"",          "#",      "0x",
					      "e+",   "for", " ",   "\xe2\x80\xae", "<",      "</script>",
					      "\xff", ".",   "__x", "\t",           "R\"ab(", ")ab\"" };
	PmRng rng;
	PmStr s = PM_STR_INIT;

	(void)state;
	pm_rng_init(&rng, 5);
	for (int i = 0; i < 4000; i++) {
		int64_t n = pm_rng_range(&rng, 1, 30);

		pm_str_clear(&s);
		for (int64_t k = 0; k < n; k++)
			pm_str_add(&s, pieces[pm_rng_range(&rng, 0, sizeof pieces / sizeof *pieces - 1)]);
		is_whole(s.s, s.len);
	}
	for (int i = 0; i < 4000; i++) {
		pm_str_clear(&s);
		for (int64_t k = pm_rng_range(&rng, 1, 60); k > 0; k--)
			pm_str_addc(&s, (char)pm_rng_range(&rng, 1, 255));
		is_whole(s.s, s.len);
	}
	pm_str_release(&s);
}

/* The text of a page without its tags and with what was escaped as it was. */
static void plain_text(const PmStr *html, PmStr *out)
{
	static const char *const named[][2] = {
		{ "&lt;", "<" }, { "&gt;", ">" }, { "&amp;", "&" }, { "&quot;", "\"" }, { "&#39;", "'" }
	};

	for (const char *p = html->s; *p; p++) {
		size_t k = 0;

		if (*p == '<') {
			p = strchr(p, '>');
			continue;
		}
		while (k < 5 && strncmp(p, named[k][0], strlen(named[k][0])) != 0)
			k++;
		pm_str_addc(out, k < 5 ? *named[k][1] : *p);
		p += k < 5 ? strlen(named[k][0]) - 1 : 0;
	}
}

static size_t put(const char *text, size_t most, PmStr *out)
{
	PmHtml h;
	size_t left;

	pm_str_clear(out);
	pm_html_begin(&h, out);
	left = pm_code_put(&h, text, most);
	assert_int_equal(h.n_open, 0);
	return left;
}

static void a_page_has_the_text_and_no_elements_of_it(void **state)
{
	static const char text[] = "int x; // </script><script>alert(1)</script>\nchar *s = \"<b>&'\";\n";
	PmStr html = PM_STR_INIT, got = PM_STR_INIT;

	(void)state;
	assert_int_equal(put(text, 1000, &html), 0);
	assert_null(strstr(html.s, "<script"));
	assert_null(strstr(html.s, "<b>"));
	assert_non_null(
		strstr(html.s, "<span class=\"key\">int</span> x; <span class=\"com\">// &lt;/script&gt;"));
	plain_text(&html, &got);
	assert_string_equal(got.s, text);
	pm_str_release(&html);
	pm_str_release(&got);
}

static void what_is_long_is_cut(void **state)
{
	PmStr text = PM_STR_INIT, html = PM_STR_INIT, got = PM_STR_INIT;

	(void)state;
	assert_int_equal(put("one\ntwo\nthree\n", 9, &html), 6); /* whole lines */
	plain_text(&html, &got);
	assert_string_equal(got.s, "one\ntwo\n");
	for (int i = 0; i < 10000; i++)
		pm_str_addc(&text, 'x');
	pm_str_add(&text, "\nend");
	pm_str_clear(&got);
	assert_int_equal(put(text.s, 100000, &html), 0);
	plain_text(&html, &got);
	assert_int_equal(got.len, 400 + 3 + 4);
	assert_non_null(strstr(got.s, "x...\nend"));
	pm_str_release(&text);
	pm_str_release(&html);
	pm_str_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_told_apart),
		cmocka_unit_test(tokens_are_the_text),
		cmocka_unit_test(a_page_has_the_text_and_no_elements_of_it),
		cmocka_unit_test(what_is_long_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
