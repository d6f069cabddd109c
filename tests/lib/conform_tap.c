/* conform_tap.c - the ONNX project's node tests on one device, one TAP line per operator. */
#include "tests/lib/conform_tap.h"

#include "bench/conform.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ROWS = 1024 };

/* The reason of the first skipped case of an operator. */
static const char *first_reason(const PmConform *c, const char *op)
{
	size_t k;

	for (k = 0; k < c->n; k++)
		if (c->v[k].verdict == PM_CASE_SKIPPED && strcmp(c->v[k].op, op) == 0)
			return c->v[k].why;
	return "every case needs an operator that is not in the table";
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

static int print_tap(const PmConform *c)
{
	PmConformRow rows[MAX_ROWS];
	size_t n = pm_conform_rows(c, rows, MAX_ROWS), k;
	int failed = 0;

	print_comment(c);
	printf("1..%zu\n", n);
	for (k = 0; k < n; k++) {
		const PmConformRow *r = &rows[k];

		printf("%s %zu - %s: %d run, %d passed, %d skipped", r->failed ? "not ok" : "ok", k + 1,
		       r->op, r->run, r->passed, r->skipped);
		if (!r->run)
			printf(" # SKIP %s", r->skipped ? first_reason(c, r->op) : "there is no case for it");
		printf("\n");
		failed += r->failed;
	}
	return failed ? 1 : 0;
}

int pm_conform_tap(const char *device, int argc, char **argv)
{
	PmConformOpts opts = { .device = device, .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN) };
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
		rc = print_tap(&c);
	}
	pm_conform_release(&c);
	pm_str_release(&folder);
	return rc;
}
