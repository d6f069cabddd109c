/* SPDX-License-Identifier: Apache-2.0 */
/* test_clean.c - names of strangers in sentences, and #line in their sources. */
#include "base/core/clean.h"
#include "base/core/err.h"
#include "base/core/rng.h"
#include "base/core/str.h"
#include "runtime/device/kernel_unit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void control_characters_and_marks_go(void **state)
{
	static const char *const cases[][2] = {
		{ "conv/weight:0", "conv/weight:0" },
		{ "a\x1b[31mb\r\nc\td", "a [31mb  c d" },
		{ "gr\xc3\xb6\xc3\x9f"
		  "e \xe5\xb1\x82",
		  "gr\xc3\xb6\xc3\x9f"
		  "e \xe5\xb1\x82" },
		{ "\xe2\x80\xaetxt.exe", "?txt.exe" }, /* right to left from here */
		{ "a\xe2\x80\x8b"
		  "b\xef\xbb\xbf",
		  "a?b?" }, /* zero widths */
		{ "a\xc2\x9b"
		  "31m",
		  "a?31m" }, /* a control sequence in one character */
		{ "a\xe2\x80\xa8"
		  "b",
		  "a?b" },                     /* another end of line */
		{ "\xf3\xa0\x81\x81x", "?x" }, /* a tag */
		{ "a\xff\xc0\xaf"
		  "b\xed\xa0\x80",
		  "a???b???" }, /* no UTF-8 */
		{ "a\xe2\x80", "a??" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char out[64];

		pm_clean(cases[i][0], out, sizeof out, 0);
		assert_string_equal(out, cases[i][1]);
	}
}

static void it_is_cut_at_a_character(void **state)
{
	char out[4];

	(void)state;
	pm_clean("ab\xc3\xb6", out, sizeof out, 0);
	assert_string_equal(out, "ab");
	pm_clean("x", out, 1, 0);
	assert_string_equal(out, "");
}

/* What a terminal shows is printable, whatever the bytes: no control characters, no second line. */
static void no_bytes_get_through(void **state)
{
	PmRng r;

	(void)state;
	pm_rng_init(&r, 20261122);
	for (int i = 0; i < 20000; i++) {
		char name[40], out[64], again[64];
		PmErr err;

		for (size_t k = 0; k + 1 < sizeof name; k++)
			name[k] = (char)pm_rng_range(&r, 1, 255);
		name[sizeof name - 1] = 0;
		pm_clean(name, out, sizeof out, 0);
		for (const char *p = out; *p; p++)
			assert_true((unsigned char)*p >= 32 && *p != 127);
		pm_clean(out, again, sizeof again, 0);
		assert_string_equal(out, again);
		pm_err(&err, PM_E_INVALID, "Value '%s' is bad.", name);
		for (const char *p = err.text; *p; p++)
			assert_true((unsigned char)*p >= 32 && *p != 127);
	}
}

/* A long name leaves room for what to do next. */
static void what_comes_behind_a_long_name_is_said(void **state)
{
	char *name = malloc(65536);
	PmErr err;

	(void)state;
	memset(name, 'n', 65535);
	name[65535] = 0;
	pm_err(&err, PM_E_INVALID, "Value '%s' has no type (line %d); give it one.", name, 7);
	assert_non_null(strstr(err.text, "nnn...nnn"));
	assert_non_null(strstr(err.text, "nnn' has no type (line 7); give it one."));
	pm_err_ctx(&err, "In graph '%s'", name);
	assert_non_null(strstr(err.text, "nnn': Value 'nnn"));
	assert_non_null(strstr(err.text, "give it one."));
	free(name);
}

static PmStatus check(const char *source, PmErr *err)
{
	PmSource s = { .label = "k", .source = source, .type = PM_F32 };

	pm_err_init(err);
	return pm_kernel_source_check(&s, err);
}

static void line_directives_are_refused(void **state)
{
	static const char *const bad[] = {
		"#line 1 \"/etc/passwd\"\n",
		"#line 7\n",
		"#line 2 \"a.cu\"\n",
		"#line 1 \"a.cu\" 3\n",
		"#line 1 \"a\\\\b.cu\"\n",
		"# 1 \"x\" 1 3\n",
		"#\t33\n",
		" \t # line 3\n",
		"%:line 3\n",
		"?\?=line 3\n",
		"#li\\\nne 3\n",
		"#\\  \nline 3\n",
		"#/* a\n b */line 3\n",
		"/* a */ #line 3\n",
		"/* a\n*/#line 3\n",
		"int a;\r#line 3\n",
		"#define N 3\n#line N\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		PmErr err;

		if (check(bad[i], &err) != PM_E_INVALID || !strstr(err.text, "has a #line"))
			fail_msg("case %zu: %s", i, err.text);
	}
}

static void other_directives_stay(void **state)
{
	static const char *const good[] = {
		"#define LINE 1\n#if LINE\n#endif\n",
		"#define S(x) \\\n #x\n",
		"int a; // step #1: #line\n",
		"#linear\n#lines 3\n#pragma unroll 4\n",
		"#line 1 \"passes/fuse/dot_product.cu\"\nint a;\n#line 1 \"b.cu\"\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		PmErr err;

		if (check(good[i], &err))
			fail_msg("case %zu: %s", i, err.text);
	}
}

static void the_kernel_is_named_first(void **state)
{
	static const char text[] = "int a;\n#line 1 \"/home/me/part.cu\"\nint b;\n";
	PmSource s = { .label = "k", .source = text, .type = PM_F32 };
	PmStr out = PM_STR_INIT, part = PM_STR_INIT;

	(void)state;
	pm_kernel_lines_add(&s, text, sizeof text - 1, &out);
	assert_string_equal(out.s, "int a;\n#line 1 \"k|part.cu\"\nint b;\n");
	assert_string_equal(pm_kernel_lines_part("k|part.cu:3: error", "k", &part), ":3: error");
	assert_string_equal(part.s, " of part.cu");
	pm_str_clear(&part);
	assert_string_equal(pm_kernel_lines_part("k(3): error", "k", &part), "(3): error");
	assert_string_equal(part.s, "");
	assert_null(pm_kernel_lines_part("other.cu:3: error", "k", &part));
	pm_str_release(&out);
	pm_str_release(&part);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_and_marks_go),
		cmocka_unit_test(it_is_cut_at_a_character),
		cmocka_unit_test(no_bytes_get_through),
		cmocka_unit_test(what_comes_behind_a_long_name_is_said),
		cmocka_unit_test(line_directives_are_refused),
		cmocka_unit_test(other_directives_stay),
		cmocka_unit_test(the_kernel_is_named_first),
	};

	return cmocka_run_group_tests_name("clean", tests, NULL, NULL);
}
