/* SPDX-License-Identifier: Apache-2.0 */
/* test_html.c - whatever a text holds, a page made of it has the elements that its maker wrote and no others.
 *
 * How it is known: by exact expected bytes, and by counting '<' and '"' in what random bytes become.
 */
#include "base/core/hash.h"
#include "base/core/rng.h"
#include "draw/html/frame.h"
#include "draw/html/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static size_t count(const PmStr *s, char c)
{
	size_t n = 0;

	for (size_t i = 0; i < s->len; i++)
		n += s->s[i] == c;
	return n;
}

static void test_elements(void **state)
{
	PmStr out = PM_STR_INIT;
	PmHtml h;

	(void)state;
	pm_html_begin(&h, &out);
	pm_html_el(&h, PM_EL_p);
	pm_html_at(&h, PM_AT_aria_label, "a \"b\" <c> & 'd'");
	pm_html_textf(&h, "%d < %d", 1, 2);
	pm_html_put(&h, PM_EL_span, "x", "</p>");
	pm_html_end(&h, PM_EL_p);
	assert_string_equal(out.s, "<p aria-label=\"a &quot;b&quot; &lt;c&gt; &amp; &#39;d&#39;\">1 &lt; 2"
				   "<span class=\"x\">&lt;/p&gt;</span></p>\n");
	pm_str_release(&out);
}

/* A frame can be scrolled by keyboard and has a name; names are text. */
static void test_frame(void **state)
{
	static const char *const head[] = { "a", "<b>" };
	PmStr out = PM_STR_INIT;
	PmHtml h;

	(void)state;
	pm_html_begin(&h, &out);
	pm_frame_table(&h, "wide changes", "Table %d <i>", 3);
	pm_html_at(&h, PM_AT_id, "t");
	pm_frame_heads(&h, head, 2);
	pm_frame_table_end(&h);
	pm_frame_open(&h, "canvas", "Drawing");
	pm_html_end(&h, PM_EL_div);
	assert_string_equal(
		out.s,
		"<div class=\"wide changes\" tabindex=\"0\" role=\"region\" aria-label=\"Table 3 &lt;i&gt;\">"
		"<table id=\"t\"><thead><tr><th scope=\"col\">a</th><th "
		"scope=\"col\">&lt;b&gt;</th></tr>\n</thead>\n"
		"<tbody></tbody></table>\n</div>\n"
		"<div class=\"canvas\" tabindex=\"0\" role=\"region\" aria-label=\"Drawing\"></div>\n");
	pm_str_release(&out);
}

/* Marks of direction, control characters, bytes that are no UTF-8. */
static void test_marks(void **state)
{
	PmStr out = PM_STR_INIT;
	PmHtml h;

	(void)state;
	pm_html_begin(&h, &out);
	pm_html_text(&h, "a\xe2\x80\xae"
			 "b\x1b[31m\xff\xc3\xa9");
	assert_string_equal(out.s, "a?b [31m?\xc3\xa9");
	pm_str_release(&out);
}

static void test_cut(void **state)
{
	PmStr out = PM_STR_INIT, text = PM_STR_INIT;
	PmHtml h;

	(void)state;
	for (int i = 0; i < 10000; i++)
		pm_str_addc(&text, '<');
	pm_html_begin(&h, &out);
	pm_html_el(&h, PM_EL_td);
	pm_html_text_cut(&h, text.s, 3);
	pm_html_end(&h, PM_EL_td);
	assert_int_equal(count(&out, '<'), 2);
	assert_true(pm_str_ends(out.s, "\">&lt;&lt;&lt;...</td>"));
	assert_true(out.len < 2000 * 4 + 100);
	pm_str_clear(&out);
	pm_html_text_cut(&h, "caf\xc3\xa9s", 4); /* not through a character */
	assert_string_equal(out.s, "caf...");
	pm_str_release(&out);
	pm_str_release(&text);
}

static const char *href(const char *value, PmStr *out)
{
	PmHtml h;

	pm_str_clear(out);
	pm_html_begin(&h, out);
	pm_html_el(&h, PM_EL_a);
	pm_html_at(&h, PM_AT_href, value);
	pm_html_end(&h, PM_EL_a);
	return out->s;
}

static void test_links(void **state)
{
	static const char *const refused[] = { "javascript:alert(1)", "//host/x",         "http://host",
					       "/etc/passwd",         "data:text/html,x", "",
					       "\tjavascript:x" };
	PmStr out = PM_STR_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		assert_string_equal(href(refused[i], &out), "<a href=\"#\"></a>");
	assert_string_equal(href("#task-1", &out), "<a href=\"#task-1\"></a>");
	assert_string_equal(href("../report.html#b-2", &out), "<a href=\"../report.html#b-2\"></a>");
	pm_str_release(&out);
}

static void test_data(void **state)
{
	PmStr out = PM_STR_INIT;
	cJSON *j = cJSON_CreateObject();
	PmHtml h;

	(void)state;
	cJSON_AddStringToObject(j, "</script><!--", "&<");
	pm_html_begin(&h, &out);
	pm_html_json(&h, "data", j);
	assert_string_equal(out.s, "<script type=\"application/json\" id=\"data\">"
				   "{\"\\u003c/script\\u003e\\u003c!--\":\"\\u0026\\u003c\"}\n</script>\n");
	cJSON_Delete(j);
	pm_str_release(&out);
}

static void test_random(void **state)
{
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 6);
	for (int round = 0; round < 2000; round++) {
		PmStr out = PM_STR_INIT;
		char bytes[41];
		size_t n = (size_t)pm_rng_range(&rng, 0, 40);
		PmHtml h;

		for (size_t i = 0; i < n; i++)
			bytes[i] = round % 2 ? (char)pm_rng_range(&rng, 1, 255)
					     : "<>\"'&/=!-a"[pm_rng_range(&rng, 0, 9)];
		bytes[n] = 0;
		pm_html_begin(&h, &out);
		pm_html_el(&h, PM_EL_td);
		pm_html_at(&h, PM_AT_title, bytes);
		pm_html_at(&h, PM_AT_href, bytes);
		pm_html_text(&h, bytes);
		pm_html_end(&h, PM_EL_td);
		assert_int_equal(count(&out, '<'), 2);
		assert_int_equal(count(&out, '>'), 2);
		assert_int_equal(count(&out, '"'), 4);
		pm_str_release(&out);
	}
}

/* The text between two marks. */
static void between(const char *s, const char *from, const char *to, PmStr *out)
{
	const char *a = strstr(s, from), *b;

	assert_non_null(a);
	a += strlen(from);
	b = strstr(a, to);
	assert_non_null(b);
	pm_str_clear(out);
	pm_str_addn(out, a, (size_t)(b - a));
}

/* The policy's hashes are of what is in the page. */
static void test_policy(void **state)
{
	PmPage page = { .title = "</title><script>", .style = "/* more */\n", .script = "/* more */\n" };
	PmStr out = PM_STR_INIT, part = PM_STR_INIT, policy = PM_STR_INIT, want = PM_STR_INIT;
	char sum[PM_SHA256_BASE64];
	PmHtml h;

	(void)state;
	pm_html_begin(&h, &out);
	pm_page_open(&h, &page);
	pm_page_close(&h, &page);
	between(out.s, "Content-Security-Policy\" content=\"", "\"", &policy);
	pm_str_add(&want, "default-src 'none'; style-src 'sha256-");
	between(out.s, "<style>", "</style>", &part);
	pm_sha256_base64(part.s, part.len, sum);
	pm_str_addf(&want, "%s'; script-src 'sha256-", sum);
	between(out.s, "<script>", "</script>", &part);
	pm_sha256_base64(part.s, part.len, sum);
	pm_str_addf(&want, "%s'; base-uri 'none'; form-action 'none'", sum);
	assert_string_equal(policy.s, want.s);
	assert_true(pm_str_ends(part.s, "/* more */\n"));
	between(out.s, "<title>", "</title>", &part);
	assert_string_equal(part.s, "&lt;/title&gt;&lt;script&gt;");
	pm_str_release(&out);
	pm_str_release(&part);
	pm_str_release(&policy);
	pm_str_release(&want);
}

/* A published value: SHA-256 of "abc" (FIPS 180-4). */
static void test_base64(void **state)
{
	char sum[PM_SHA256_BASE64];

	(void)state;
	pm_sha256_base64("abc", 3, sum);
	assert_string_equal(sum, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elements), cmocka_unit_test(test_frame),  cmocka_unit_test(test_marks),
		cmocka_unit_test(test_cut),      cmocka_unit_test(test_links),  cmocka_unit_test(test_data),
		cmocka_unit_test(test_random),   cmocka_unit_test(test_policy), cmocka_unit_test(test_base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
