/* SPDX-License-Identifier: Apache-2.0 */
/* conform_tap.c - the ONNX project's node tests on one device, one TAP line per operator. */
#include "tests/lib/graphs/conform_tap.h"

#include "base/core/arena.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "bench/conform/conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The reason of the first case of an operator that was not run. */
static const char *first_reason(const PmConform *c, const char *op)
{
	size_t k;

	for (k = 0; k < c->n; k++)
		if (c->v[k].verdict != PM_CASE_PASSED && strcmp(c->v[k].op, op) == 0)
			return c->v[k].why;
	return "there is no case for it";
}

static void print_comment(const PmConform *c)
{
	PmStr s = PM_STR_INIT;
	const char *line;

	pm_conform_print(c, 1, &s);
	for (line = s.s; *line;) {
		int n = (int)strcspn(line, "\n");

		printf("# %.*s\n", n, line);
		line += n + (line[n] == '\n');
	}
	pm_str_release(&s);
}

/* The committed document must say what this run found. */
static int doc_is_true(const PmConform *c, const char *device, size_t number)
{
	const char *root = getenv("PASSMITH_ROOT");
	PmStr path = PM_STR_INIT, doc = PM_STR_INIT;
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	pm_path_join(root ? root : ".", "docs/reference/conformance.md", &path);
	st = pm_read_file(path.s, 0, &doc, &err);
	if (!st)
		st = pm_conform_doc_check(doc.s, device, c, &err);
	if (st == PM_DECLINED)
		printf("ok %zu - docs/reference/conformance.md # SKIP it is about another version of the "
		       "cases\n",
		       number);
	else
		printf("%s %zu - docs/reference/conformance.md is true for %s\n", st ? "not ok" : "ok",
		       number, device);
	if (st < 0)
		printf("# %s\n", err.text);
	pm_str_release(&path);
	pm_str_release(&doc);
	return st >= 0;
}

static int print_tap(const PmConform *c, const char *device, int with_doc)
{
	size_t n = pm_conform_rows(c, NULL, 0), k;
	PmConformRow *rows = pm_xcalloc(n + 1, sizeof *rows);
	int failed = 0;

	pm_conform_rows(c, rows, n);
	print_comment(c);
	printf("1..%zu\n", n + (size_t)with_doc);
	for (k = 0; k < n; k++) {
		const PmConformRow *r = &rows[k];

		printf("%s %zu - %s: %d run, %d passed, %d unsupported", r->failed ? "not ok" : "ok", k + 1,
		       r->op, r->run, r->passed, r->unsupported);
		if (!r->run)
			printf(" # SKIP %s", first_reason(c, r->op));
		printf("\n");
		failed += r->failed;
	}
	free(rows);
	if (with_doc)
		failed += !doc_is_true(c, device, n + 1);
	return failed ? 1 : 0;
}

int pm_conform_tap(const char *device, int argc, char **argv)
{
	PmConformOpts opts = { .device = device, .jobs = pm_cpu_count() };
	PmStr folder = PM_STR_INIT;
	PmConform c = { 0 };
	PmErr err;
	int json = argc > 1 && strcmp(argv[1], "--json") == 0, rc = 1;
	PmStatus st = PM_OK;

	pm_err_init(&err);
	if (argc > 1 + json)
		pm_str_add(&folder, argv[1 + json]);
	else
		st = pm_conform_folder(&folder, &err);
	if (!st)
		st = pm_conform_run(folder.s, &opts, &c, &err);
	if (st == PM_E_ENV) {
		printf("%s\n", err.text);
		rc = 77; /* skipped, with the reason as the last line */
	} else if (st) {
		printf("Bail out! %s\n", err.text);
	} else if (json) {
		PmStr s = PM_STR_INIT;
		cJSON *j = pm_conform_json(&c);

		pm_json_print(j, 1, &s);
		fputs(s.s, stdout);
		cJSON_Delete(j);
		pm_str_release(&s);
		rc = 0;
	} else {
		rc = print_tap(&c, device, argc < 2);
	}
	pm_conform_release(&c);
	pm_str_release(&folder);
	return rc;
}
