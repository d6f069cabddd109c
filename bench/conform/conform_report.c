/* SPDX-License-Identifier: Apache-2.0 */
/* conform_report.c - counts of conformance cases per operator, as a table and as JSON. */
#include "bench/conform/conform.h"

#include "base/core/arena.h"
#include "ir/core/op.h"

#include <stdlib.h>
#include <string.h>

static const char SEVERAL[] = "(several)";

const char *pm_case_verdict_name(PmCaseVerdict v)
{
	static const char *const names[] = { "passed", "failed", "unsupported", "excluded" };

	return names[v];
}

static PmConformRow count(const PmConform *c, const char *op, const char *label)
{
	PmConformRow r = { label, 0, 0, 0, 0, 0 };
	size_t k;

	for (k = 0; k < c->n; k++) {
		if (op && strcmp(c->v[k].op, op) != 0)
			continue;
		r.passed += c->v[k].verdict == PM_CASE_PASSED;
		r.failed += c->v[k].verdict == PM_CASE_FAILED;
		r.unsupported += c->v[k].verdict == PM_CASE_UNSUPPORTED;
		r.excluded += c->v[k].verdict == PM_CASE_EXCLUDED;
	}
	r.run = r.passed + r.failed;
	return r;
}

PmConformRow pm_conform_total(const PmConform *c)
{
	return count(c, NULL, "total");
}

double pm_conform_rate(const PmConformRow *r)
{
	int counted = r->run + r->unsupported;

	return counted ? 100.0 * r->passed / counted : 100;
}

/* "(several)" comes last. */
static int by_name(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	int sx = strcmp(x, SEVERAL) == 0, sy = strcmp(y, SEVERAL) == 0;

	return sx != sy ? sx - sy : strcmp(x, y);
}

size_t pm_conform_rows(const PmConform *c, PmConformRow *rows, size_t max)
{
	const char **names = pm_xcalloc(c->n + PM_N_OPS + 1, sizeof *names);
	size_t n = 0, k, made = 0;
	int op;

	for (op = PM_OP_NONE + 1; op < PM_N_OPS; op++) {
		const PmOpDesc *d = pm_op_desc((PmOp)op);

		if (!(d->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL))) /* ours, not ONNX's */
			names[n++] = d->name;
	}
	for (k = 0; k < c->n; k++)
		names[n++] = c->v[k].op;
	qsort(names, n, sizeof *names, by_name);
	for (k = 0; k < n; k++) {
		if (k && strcmp(names[k], names[k - 1]) == 0)
			continue;
		if (made < max)
			rows[made] = count(c, names[k], names[k]);
		made++;
	}
	free(names);
	return made;
}

/* All rows; freed by the caller. */
static PmConformRow *all_rows(const PmConform *c, size_t *n)
{
	PmConformRow *rows;

	*n = pm_conform_rows(c, NULL, 0);
	rows = pm_xcalloc(*n + 1, sizeof *rows);
	pm_conform_rows(c, rows, *n);
	return rows;
}

void pm_conform_print(const PmConform *c, int all, PmStr *out)
{
	PmConformRow total = pm_conform_total(c), *rows;
	size_t n, k;

	rows = all_rows(c, &n);
	pm_str_addf(out, "%-25s %5s %7s %7s %12s %9s\n", "operator", "run", "passed", "failed", "unsupported",
		    "excluded");
	rows[n++] = total;
	for (k = 0; k < n; k++)
		pm_str_addf(out, "%-25s %5d %7d %7d %12d %9d%s\n", rows[k].op, rows[k].run, rows[k].passed,
			    rows[k].failed, rows[k].unsupported, rows[k].excluded,
			    rows[k].run + rows[k].unsupported + rows[k].excluded ? ""
										 : "  no case of its own");
	free(rows);
	pm_str_addf(out, "%.1f %% of %d cases that count passed\n", pm_conform_rate(&total),
		    total.run + total.unsupported);
	if (c->left_out)
		pm_str_addf(out, "%zu more cases were left out: a fixed choice per operator was run\n",
			    c->left_out);
	for (k = 0; k < c->n; k++)
		if (c->v[k].verdict == PM_CASE_FAILED || (all && c->v[k].verdict != PM_CASE_PASSED))
			pm_str_addf(out, "%s: %s (%s): %s\n", pm_case_verdict_name(c->v[k].verdict),
				    c->v[k].name, c->v[k].op, c->v[k].why);
}

static void add_counts(cJSON *to, const PmConformRow *r)
{
	cJSON_AddNumberToObject(to, "run", r->run);
	cJSON_AddNumberToObject(to, "passed", r->passed);
	cJSON_AddNumberToObject(to, "failed", r->failed);
	cJSON_AddNumberToObject(to, "unsupported", r->unsupported);
	cJSON_AddNumberToObject(to, "excluded", r->excluded);
}

cJSON *pm_conform_json(const PmConform *c)
{
	PmConformRow total = pm_conform_total(c), *rows;
	cJSON *j = cJSON_CreateObject(), *ops = cJSON_AddArrayToObject(j, "ops"),
	      *cases = cJSON_AddArrayToObject(j, "cases");
	size_t n, k;

	rows = all_rows(c, &n);
	add_counts(j, &total);
	cJSON_AddNumberToObject(j, "rate", pm_conform_rate(&total));
	cJSON_AddNumberToObject(j, "left_out", (double)c->left_out);
	for (k = 0; k < n; k++) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "op", rows[k].op);
		add_counts(o, &rows[k]);
		cJSON_AddItemToArray(ops, o);
	}
	free(rows);
	for (k = 0; k < c->n; k++) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "name", c->v[k].name);
		cJSON_AddStringToObject(o, "op", c->v[k].op);
		cJSON_AddStringToObject(o, "verdict", pm_case_verdict_name(c->v[k].verdict));
		if (c->v[k].why[0])
			cJSON_AddStringToObject(o, "why", c->v[k].why);
		cJSON_AddItemToArray(cases, o);
	}
	return j;
}
