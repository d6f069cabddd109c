/* SPDX-License-Identifier: Apache-2.0 */
/* test_author.c - texts of kernels found in an author's files with the places of their characters, and what
 * compilers say as fields. */
#include "app/author/author_text.h"
#include "app/author/messages.h"

#include "base/sys/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Reads `text` as pass.c of a folder that also has `cu` as kernel.cu. */
static void read_author(const char *text, const char *cu, PmAuthor *a)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT, other = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	memset(a, 0, sizeof *a);
	assert_int_equal(pm_temp_dir("author", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "pass.c", &path);
	pm_path_join(dir.s, "kernel.cu", &other);
	assert_int_equal(pm_write_file(path.s, text, strlen(text), NULL), PM_OK);
	if (cu)
		assert_int_equal(pm_write_file(other.s, cu, strlen(cu), NULL), PM_OK);
	if (pm_author_read(path.s, a, &err))
		fail_msg("%s", err.text);
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_str_release(&other);
}

static void literals_side_by_side_are_one_text(void **state)
{
	PmAuthor a;
	const PmAuthorText *t;

	(void)state;
	read_author("static const char text[] =\n\t\"__global__ void k()\\n\"\n\t\"{}\";\n"
		    "static const char other[] = \"no kernel\";\n",
		    NULL, &a);
	assert_int_equal(a.text.n, 1);
	t = &a.text.v[0];
	assert_string_equal(t->name, "text");
	assert_string_equal(t->text.s, "__global__ void k()\n{}");
	assert_int_equal(t->at.n, t->text.len);
	assert_int_equal(t->at.v[0].line, 2);
	assert_int_equal(t->at.v[0].column, 3);
	assert_int_equal(t->at.v[20].line, 3); /* the brace */
	assert_int_equal(t->at.v[20].column, 3);
	pm_author_release(&a);
}

/* The object has one line of it, where blanks and comments are one blank; a compiler gets the author's lines.
 */
static void a_macro_keeps_its_lines_for_the_compiler(void **state)
{
	PmAuthor a;

	(void)state;
	read_author("Kernel k = { .source = PM_CUDA(__global__ void k()\n{ /* a, b */\n\tint x = 1;\n}) };\n",
		    NULL, &a);
	assert_int_equal(a.text.n, 1);
	assert_true(a.text.v[0].whole);
	assert_string_equal(a.text.v[0].held.s, "__global__ void k() { int x = 1; }");
	assert_string_equal(a.text.v[0].text.s, "__global__ void k()\n{ /* a, b */\n\tint x = 1;\n}");
	pm_author_release(&a);
}

static void defines_and_included_files_are_seen(void **state)
{
	PmAuthor a;

	(void)state;
	read_author("#include \"kernel.cu.h\"\n/* DEF(NOT, 1) */\nvoid f(void) { DEF(BLOCK, 128); DEF(ROWS, "
		    "n + 1); }\n"
		    "Kernel k = { .source = kernel_cu };\n",
		    "__global__ void k() {}\n", &a);
	assert_int_equal(a.text.n, 1);
	assert_string_equal(a.text.v[0].name, "kernel_cu");
	assert_int_equal(a.def.n, 2);
	assert_string_equal(a.def.v[0].name, "BLOCK");
	assert_true(a.def.v[0].known);
	assert_int_equal(a.def.v[0].value, 128);
	assert_string_equal(a.def.v[1].name, "ROWS");
	assert_false(a.def.v[1].known);
	assert_int_equal(a.source.n, 1);
	assert_string_equal(a.source.v[0], "kernel_cu");
	assert_int_equal(a.file.n, 2);
	pm_author_release(&a);
}

static void words_are_told_from_parts_of_words(void **state)
{
	(void)state;
	assert_true(pm_author_has_word("int n = ROWS;", "ROWS"));
	assert_false(pm_author_has_word("int n = MAX_ROWS;", "ROWS"));
	assert_true(pm_author_sets("enum { ROWS = 3 };", "ROWS"));
	assert_false(pm_author_sets("if (ROWS == 3) {}", "ROWS"));
	assert_false(pm_author_sets("/* ROWS = 3 */ int n;", "ROWS"));
}

/* What a macro of the SDK wrote is blamed on the author's use of it. */
static void a_message_in_the_sdk_is_one_about_its_use(void **state)
{
	PmMessages m = { 0 };

	(void)state;
	pm_messages_of_c("/a/passmith/dsl.h:10:5: error: unknown type name 'x'\n"
			 "/a/passmith/dsl.h:8:1: note: in expansion of macro 'INNER'\n"
			 "pass.c:3:7: note: in expansion of macro 'RULE'\n"
			 "pass.c:9:1: warning: unused variable 'y'\n"
			 "collect2: error: ld returned 1 exit status\n",
			 &m);
	assert_int_equal(m.v.n, 2);
	assert_int_equal(pm_messages_errors(&m), 1);
	assert_string_equal(m.v.v[0].file, "pass.c");
	assert_int_equal(m.v.v[0].line, 3);
	assert_int_equal(m.v.v[0].column, 7);
	assert_string_equal(m.v.v[0].text, "unknown type name 'x'");
	assert_string_equal(m.v.v[1].severity, "warning");
	pm_messages_release(&m);
}

static void errors_of_a_kernel_count_its_lines(void **state)
{
	PmMessages m = { 0 };
	cJSON *j;

	(void)state;
	pm_messages_of_kernel(
		"softmax(4): error: identifier \"z\" is undefined\n      int x = z;\n              ^\n\n"
		"softmax(6): warning #177-D: variable \"q\" was declared but never referenced\n",
		"softmax", &m);
	assert_int_equal(m.v.n, 1);
	assert_string_equal(m.v.v[0].file, "softmax");
	assert_int_equal(m.v.v[0].line, 4);
	assert_int_equal(m.v.v[0].column, 13);
	j = pm_messages_json(&m);
	assert_int_equal(pm_json_i64(cJSON_GetArrayItem(j, 0), "line", 0), 4);
	assert_string_equal(pm_json_str(cJSON_GetArrayItem(j, 0), "severity", ""), "error");
	cJSON_Delete(j);
	pm_messages_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literals_side_by_side_are_one_text),
		cmocka_unit_test(a_macro_keeps_its_lines_for_the_compiler),
		cmocka_unit_test(defines_and_included_files_are_seen),
		cmocka_unit_test(words_are_told_from_parts_of_words),
		cmocka_unit_test(a_message_in_the_sdk_is_one_about_its_use),
		cmocka_unit_test(errors_of_a_kernel_count_its_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
