/* conform_report.c - counts of conformance cases per operator, as a table and as JSON. */
#include "bench/conform.h"

#include "ir/op.h"

#include <string.h>

static const char SEVERAL[] = "(several)", OTHER[] = "(not in the table)";

static const char *row_of(const PmCase *c)
{
	return c->in_table || strcmp(c->op, SEVERAL) == 0 ? c->op : OTHER;
}

static PmConformRow count(const PmConform *c, const char *op)
{
	PmConformRow r = { op, 0, 0, 0, 0 };
	size_t k;

	for (k = 0; k < c->n; k++) {
		if (op && strcmp(row_of(&c->v[k]), op) != 0)
			continue;
		r.passed += c->v[k].verdict == PM_CASE_PASSED;
		r.failed += c->v[k].verdict == PM_CASE_FAILED;
		r.skipped += c->v[k].verdict == PM_CASE_SKIPPED;
	}
	r.run = r.passed + r.failed;
	return r;
}

size_t pm_conform_rows(const PmConform *c, PmConformRow *rows, size_t max)
{
	size_t n = 0;
	int op;

	for (op = PM_OP_NONE + 1; op < PM_N_OPS; op++) {
		const PmOpDesc *d = pm_op_desc((PmOp)op);

		if (d->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL)) /* ours, not ONNX's */
			continue;
		if (n < max)
			rows[n] = count(c, d->name);
		n++;
	}
	if (n < max)
		rows[n] = count(c, SEVERAL);
	n++;
	if (n < max)
		rows[n] = count(c, OTHER);
	return n + 1;
}

enum { MAX_ROWS = PM_N_OPS + 2 };

void pm_conform_print(const PmConform *c, int skips, PmStr *out)
{
	PmConformRow rows[MAX_ROWS], all = count(c, NULL);
	size_t n = pm_conform_rows(c, rows, MAX_ROWS), k;

	pm_str_addf(out, "%-22s %5s %7s %7s %8s\n", "operator", "run", "passed", "failed", "skipped");
	for (k = 0; k < n; k++)
		pm_str_addf(out, "%-22s %5d %7d %7d %8d%s\n", rows[k].op, rows[k].run, rows[k].passed,
			    rows[k].failed, rows[k].skipped,
			    rows[k].run + rows[k].skipped ? "" : "  no case of its own");
	pm_str_addf(out, "%-22s %5d %7d %7d %8d\n", "total", all.run, all.passed, all.failed, all.skipped);
	if (c->left_out)
		pm_str_addf(out, "%zu more cases were left out: a fixed choice per operator was run\n",
			    c->left_out);
	for (k = 0; k < c->n; k++)
		if (c->v[k].verdict == PM_CASE_FAILED)
			pm_str_addf(out, "failed: %s (%s): %s\n", c->v[k].name, c->v[k].op, c->v[k].why);
	for (k = 0; skips && k < c->n; k++)
		if (c->v[k].verdict == PM_CASE_SKIPPED && row_of(&c->v[k]) != OTHER)
			pm_str_addf(out, "skipped: %s (%s): %s\n", c->v[k].name, c->v[k].op, c->v[k].why);
}

static void add_counts(cJSON *to, const PmConformRow *r)
{
	cJSON_AddNumberToObject(to, "run", r->run);
	cJSON_AddNumberToObject(to, "passed", r->passed);
	cJSON_AddNumberToObject(to, "failed", r->failed);
	cJSON_AddNumberToObject(to, "skipped", r->skipped);
}

cJSON *pm_conform_json(const PmConform *c)
{
	static const char *const verdicts[] = { "passed", "failed", "skipped" };
	PmConformRow rows[MAX_ROWS], all = count(c, NULL);
	size_t n = pm_conform_rows(c, rows, MAX_ROWS), k;
	cJSON *j = cJSON_CreateObject(), *ops = cJSON_AddArrayToObject(j, "ops"),
	      *cases = cJSON_AddArrayToObject(j, "cases");

	add_counts(j, &all);
	cJSON_AddNumberToObject(j, "left_out", (double)c->left_out);
	for (k = 0; k < n; k++) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "op", rows[k].op);
		add_counts(o, &rows[k]);
		cJSON_AddItemToArray(ops, o);
	}
	for (k = 0; k < c->n; k++) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "name", c->v[k].name);
		cJSON_AddStringToObject(o, "op", c->v[k].op);
		cJSON_AddStringToObject(o, "verdict", verdicts[c->v[k].verdict]);
		if (c->v[k].why[0])
			cJSON_AddStringToObject(o, "why", c->v[k].why);
		cJSON_AddItemToArray(cases, o);
	}
	return j;
}
