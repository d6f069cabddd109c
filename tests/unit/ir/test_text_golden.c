/* SPDX-License-Identifier: Apache-2.0 */
/* test_text_golden.c - graph texts with the canonical text or the error sentence that they must give.
 *
 * tests/golden/text/NAME.gpt holds cases:
 *     #=== what the case shows
 *     text to parse
 *     #--- canonical | renumbered | by-reference N | error
 *     what must come out
 * With PM_GOLDEN_UPDATE=1 the expected parts are written anew instead of compared.
 */
#include "base/sys/io.h"
#include "ir/text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char folder[] = "tests/golden/text";

/* The line that starts with `mark` at or after p, or NULL. */
static const char *find_line(const char *p, const char *mark)
{
	while (p && strncmp(p, mark, strlen(mark)) != 0) {
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	return p;
}

static const char *line_end(const char *p)
{
	const char *nl = strchr(p, '\n');

	return nl ? nl + 1 : p + strlen(p);
}

/* What text n bytes long gives in the given mode; never starts a line with '#'. */
static void answer(const char *text, size_t n, const char *mode, PmStr *out)
{
	PmPrintOpts opts = { .no_header = 1 };
	PmErr err;
	PmGraph *g = NULL;
	PmStr once = PM_STR_INIT, again = PM_STR_INIT;

	pm_err_init(&err);
	opts.renumber = strncmp(mode, "renumbered", 10) == 0;
	if (strncmp(mode, "by-reference ", 13) == 0)
		opts.max_inline = atoi(mode + 13);
	if (strncmp(mode, "canonical", 9) == 0)
		opts.no_header = 0;
	if (pm_graph_parse(text, n, &g, &err) != PM_OK || pm_graph_print(g, &opts, &once, &err) != PM_OK) {
		pm_str_addf(out, "%s: %s\n", pm_status_name(err.code), err.text);
	} else {
		pm_graph_free(g);
		g = NULL;
		if (pm_graph_parse(once.s, once.len, &g, &err) != PM_OK)
			fail_msg("%s\n%s", err.text, once.s);
		assert_int_equal(pm_graph_print(g, &opts, &again, &err), PM_OK);
		assert_string_equal(again.s, once.s);
		pm_str_addn(out, once.s, once.len);
	}
	pm_graph_free(g);
	pm_str_release(&once);
	pm_str_release(&again);
}

/* Runs the cases of one file; appends the file as it should be to *fresh. Returns the number of cases. */
static int run_file(const char *text, PmStr *fresh)
{
	const char *p = find_line(text, "#=== ");
	int cases = 0;

	assert_non_null(p);
	pm_str_addn(fresh, text, (size_t)(p - text));
	for (; p; cases++) {
		const char *body = line_end(p), *mode = find_line(body, "#--- "), *next;

		assert_non_null(mode);
		next = find_line(mode, "#=== ");
		pm_str_addn(fresh, p, (size_t)(line_end(mode) - p));
		answer(body, (size_t)(mode - body), mode + 5, fresh);
		if (next)
			pm_str_addc(fresh, '\n');
		p = next;
	}
	return cases;
}

static int run_golden(const char *name)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT, fresh = PM_STR_INIT;
	PmErr err;
	int cases;

	pm_err_init(&err);
	pm_path_join(folder, name, &path);
	assert_int_equal(pm_read_file(path.s, 0, &text, &err), PM_OK);
	cases = run_file(text.s, &fresh);
	if (getenv("PM_GOLDEN_UPDATE"))
		assert_int_equal(pm_write_file(path.s, fresh.s, fresh.len, &err), PM_OK);
	else
		assert_string_equal(fresh.s, text.s);
	pm_str_release(&path);
	pm_str_release(&text);
	pm_str_release(&fresh);
	return cases;
}

static void texts_print_canonically(void **state)
{
	(void)state;
	assert_true(run_golden("print.gpt") >= 8);
}

static void bad_texts_are_refused_with_a_sentence(void **state)
{
	(void)state;
	assert_true(run_golden("errors.gpt") >= 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_print_canonically),
		cmocka_unit_test(bad_texts_are_refused_with_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
