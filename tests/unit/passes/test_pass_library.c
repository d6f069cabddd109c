/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_library.c - every pass of passes/ that has no test program of its own, on awkward shapes and
 * element types (tests/lib/passes/pass_library.c), and that none is left out. */
#include "base/sys/io.h"
#include "integrity/gates/compile_gate.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/pass_library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fuses(void **state)
{
	const char *pass = *state;

	for (size_t i = 0; i < library_n_cases; i++) {
		const LibraryCase *c = &library_cases[i];

		if (strcmp(c->pass, pass) != 0)
			continue;
		if (c->float_only)
			pass_fuses_float(pass, c->tmpl, 1, c->rows, library_n_rows(c));
		else
			pass_fuses(pass, c->tmpl, 1, c->rows, library_n_rows(c));
	}
}

static void near_misses_are_left_alone(void **state)
{
	const char *pass = *state;

	for (size_t i = 0; i < library_n_misses; i++)
		if (strcmp(library_misses[i].pass, pass) == 0)
			pass_refuses(pass, library_misses[i].tmpl, library_misses[i].row,
				     library_misses[i].why);
}

/* Compiles for a GPU and passes the gate on PTX, which refuses also what the source does not write out. */
static void compiles(const LibraryCase *c, const PassDims *row, const char *type, int cc)
{
	PmGraph *fused = pass_fused(c->pass, c->tmpl, type, *row);
	PmCompileJudgement j;
	PmErr err;

	pm_err_init(&err);
	if (pm_compile_gate(fused, &(PmCompileAsk){ .cc = cc }, &j, &err))
		fail_msg("%s: %s", c->pass, err.text);
	if (j.verdict != PM_VERDICT_OK)
		fail_msg("%s, %s, sm_%d: %s: %s", c->pass, type, cc, pm_verdict_name(j.verdict), j.why);
	pm_graph_free(fused);
}

/* Every spelling for sm_90; of each pass one for sm_80; the first and the last row, where other kernels may
 * be made. */
static void kernels_compile(void **state)
{
	PmStr version = PM_STR_INIT;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_nvrtc_version(&version, &err))
		pm_test_skip("%s", err.text);
	pm_str_release(&version);
	for (size_t i = 0; i < library_n_cases; i++) {
		const LibraryCase *c = &library_cases[i];
		int first = i == 0 || strcmp(c->pass, c[-1].pass) != 0;

		compiles(c, &c->rows[0], "float16", 90);
		if (first) {
			compiles(c, &c->rows[library_n_rows(c) - 1], "float16", 90);
			compiles(c, &c->rows[0], "bfloat16", 80);
		}
	}
}

static int has_case(const char *pass)
{
	int cases = 0, misses = 0;

	for (size_t i = 0; i < library_n_cases; i++)
		cases += strcmp(library_cases[i].pass, pass) == 0;
	for (size_t i = 0; i < library_n_misses; i++)
		misses += strcmp(library_misses[i].pass, pass) == 0;
	return cases && misses;
}

/* How many passes the folder passes/library/NAME holds; fails for one without a test. */
static size_t tested_in(const char *folder)
{
	const char *build = getenv("PASSMITH_BUILD");
	PmNames names = { 0 };
	size_t passes = 0;
	PmErr err;

	pm_err_init(&err);
	if (pm_list_dir(folder, &names, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < names.n; i++) {
		char pass[256], test[512];

		if (!pm_str_ends(names.v[i], ".c"))
			continue;
		snprintf(pass, sizeof pass, "%.*s", (int)strlen(names.v[i]) - 2, names.v[i]);
		snprintf(test, sizeof test, "%s/tests/unit/passes/test_pass_%s", build ? build : "build",
			 pass);
		if (!has_case(pass) && !pm_path_exists(test))
			fail_msg("%s has neither a test program nor a case and a near miss in the library's "
				 "table",
				 names.v[i]);
		passes++;
	}
	pm_names_release(&names);
	return passes;
}

static void every_pass_is_tested(void **state)
{
	PmNames names = { 0 };
	size_t passes = 0;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_list_dir("passes/library", &names, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < names.n; i++) {
		char path[256];

		snprintf(path, sizeof path, "passes/library/%s", names.v[i]);
		passes += tested_in(path);
	}
	pm_names_release(&names);
	assert_true(passes >= 20);
}

/* Two more tests for each pass of the table, named after it. */
int main(void)
{
	struct CMUnitTest *tests = calloc(2 * library_n_cases + 2, sizeof *tests);
	size_t n = 0, i, failed;

	tests[n++] = (struct CMUnitTest)cmocka_unit_test(every_pass_is_tested);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(kernels_compile);
	for (i = 0; i < library_n_cases; i++) {
		const char *pass = library_cases[i].pass;
		void *state = (void *)(uintptr_t)pass;
		char *name;

		if (i && strcmp(pass, library_cases[i - 1].pass) == 0)
			continue;
		name = malloc(strlen(pass) + 32);
		sprintf(name, "%s_fuses", pass);
		tests[n++] = (struct CMUnitTest){ name, fuses, NULL, NULL, state };
		name = malloc(strlen(pass) + 32);
		sprintf(name, "%s_leaves_near_misses_alone", pass);
		tests[n++] = (struct CMUnitTest){ name, near_misses_are_left_alone, NULL, NULL, state };
	}
	failed = (size_t)_cmocka_run_group_tests("pass_library", tests, n, NULL, NULL);
	for (i = 2; i < n; i++)
		free((void *)(uintptr_t)tests[i].name);
	free(tests);
	return failed > 255 ? 255 : (int)failed;
}
