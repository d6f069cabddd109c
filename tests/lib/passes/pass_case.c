/* SPDX-License-Identifier: Apache-2.0 */
/* pass_case.c - passes against graphs made from templates. */
#include "tests/lib/passes/pass_case.h"

#include "bench/eval/runner.h"
#include "matcher/host/pass_host.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/passes/pass_run.h"
#include "tests/lib/passes/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct Type {
	const char *name;
	int onnx; /* its number in ONNX, which Cast names it by */
} types[] = { { "float", 1 }, { "float16", 10 }, { "bfloat16", 16 } };

static void expand(const char *tmpl, const struct Type *type, const PassDims *row, PmStr *out)
{
	for (const char *p = tmpl; *p; p++) {
		if (*p != '$') {
			pm_str_addc(out, *p);
			continue;
		}
		p++;
		if (*p == 'T')
			pm_str_add(out, type->name);
		else if (*p == 'O')
			pm_str_addf(out, "%d", type->onnx);
		else if (*p >= 'a' && *p <= 'h')
			pm_str_addf(out, "%lld", (long long)row->d[*p - 'a']);
		else
			fail_msg("The template has an unknown $%c.", *p);
	}
}

static void so_path(const char *pass, PmStr *out)
{
	const char *build = getenv("PASSMITH_BUILD");

	pm_str_addf(out, "%s/passes/%s.so", build ? build : "build", pass);
}

static void apply(const char *pass, const PmGraph *g, int misses, PmPassOutcome *out)
{
	PmPassOpts opts = { .seconds = 30, .misses = misses };
	PmStr path = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	so_path(pass, &path);
	if (pm_pass_apply(path.s, g, &opts, out, &err))
		fail_msg("%s", err.text);
	pm_str_release(&path);
}

static int n_judged, n_refused;

static void print_judged(void)
{
	printf("# judged: %d of %d refused\n", n_refused, n_judged);
}

/* As a stranger's pass is: all inputs, the error bound, gates, a box. */
static void judge(const char *pass, const PmGraph *g, const char *text)
{
	PmEvalOpts o = { .device = "emu", .preset = PM_PRESET_SOUND, .check_only = 1 };
	PmEvalVariant m = { .label = pass, .g = g };
	PmStr path = PM_STR_INIT;
	PmEvalRecord rec;
	PmErr err;

	if (!n_judged)
		atexit(print_judged);
	o.secret = test_secret((uint64_t)++n_judged);
	pm_err_init(&err);
	so_path(pass, &path);
	if (pm_eval_variant(path.s, &m, &o, &rec, &err))
		fail_msg("%s: %s", pass, err.text);
	if (rec.verdict != PM_VERDICT_OK) {
		n_refused++;
		printf("# refused: %s: %s: %s: %s\n", pass, pm_verdict_name(rec.verdict), rec.why, text);
	}
	pm_eval_record_release(&rec);
	pm_str_release(&path);
}

static void fuse_one(const char *pass, const char *tmpl, int kernels, const struct Type *type,
		     const PassDims *row)
{
	PmStr text = PM_STR_INIT;
	PmPassOutcome out;
	PmGraph *g;

	expand(tmpl, type, row, &text);
	g = pm_test_graph(text.s);
	apply(pass, g, 1, &out);
	if (out.verdict != PM_VERDICT_OK) {
		PmStr report = PM_STR_INIT;

		pm_pass_outcome_print(&out, &report);
		fail_msg("%s\n%s\n%s", out.message, report.s ? report.s : "", text.s);
	}
	for (size_t i = 0; i < pm_graph_n_nodes(out.graph); i++)
		if (pm_node_op(out.graph, pm_graph_node_at(out.graph, i)) != PM_OP_Kernel)
			fail_msg("%s is left beside the kernel\n%s",
				 pm_op_desc(pm_node_op(out.graph, pm_graph_node_at(out.graph, i)))->name,
				 text.s);
	assert_int_equal(pm_graph_n_nodes(out.graph), kernels);
	if (getenv("PASSMITH_TEST_JUDGE"))
		judge(pass, g, text.s);
	else
		pass_run_all(g, out.graph, text.s);
	pm_pass_outcome_release(&out);
	pm_graph_free(g);
	pm_str_release(&text);
}

static PmGraph *fused_of(const char *pass, const PmGraph *g, const char *text)
{
	PmPassOutcome out;
	PmGraph *fused;

	apply(pass, g, 0, &out);
	if (out.verdict != PM_VERDICT_OK)
		fail_msg("%s: %s\n%s", pass, out.message, text);
	fused = out.graph;
	out.graph = NULL;
	pm_pass_outcome_release(&out);
	return fused;
}

PmGraph *pass_fused(const char *pass, const char *tmpl, const char *type, PassDims row)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g, *fused;
	size_t t = 0;

	while (strcmp(types[t].name, type) != 0)
		assert_true(++t < PASS_COUNT(types));
	expand(tmpl, &types[t], &row, &text);
	g = pm_test_graph(text.s);
	fused = fused_of(pass, g, text.s);
	pm_graph_free(g);
	pm_str_release(&text);
	return fused;
}

void pass_agrees_with_eager(const char *pass, const char *tmpl, int t, const PassDims *rows, size_t n_rows)
{
	for (size_t i = 0; i < PASS_COUNT(types) * n_rows; i++) {
		PmStr text = PM_STR_INIT;
		PmGraph *g, *fused;

		expand(tmpl, &types[i / n_rows], &rows[i % n_rows], &text);
		g = pm_test_graph(text.s);
		fused = fused_of(pass, g, text.s);
		pass_run_beside(g, fused, t, text.s);
		pm_graph_free(fused);
		pm_graph_free(g);
		pm_str_release(&text);
	}
}

/* A kernel of both 16-bit types is one text with elements of one size. Compiling it for the emulated device
 * is most of a case: there each row after the first runs in one of the two, in turns. */
static int wanted(size_t type, size_t row)
{
	return type == 0 || row == 0 || row % 2 == type % 2 || getenv("PASSMITH_TEST_DEVICE") ||
	       getenv("PASSMITH_TEST_JUDGE");
}

static void fuse_types(const char *pass, const char *tmpl, int kernels, const PassDims *rows, size_t n_rows,
		       size_t n_types)
{
	for (size_t t = 0; t < n_types; t++)
		for (size_t i = 0; i < n_rows; i++)
			if (wanted(t, i))
				fuse_one(pass, tmpl, kernels, &types[t], &rows[i]);
}

void pass_fuses(const char *pass, const char *tmpl, int kernels, const PassDims *rows, size_t n_rows)
{
	fuse_types(pass, tmpl, kernels, rows, n_rows, PASS_COUNT(types));
}

void pass_fuses_float(const char *pass, const char *tmpl, int kernels, const PassDims *rows, size_t n_rows)
{
	fuse_types(pass, tmpl, kernels, rows, n_rows, 1);
}

void pass_refuses(const char *pass, const char *tmpl, PassDims row, const char *why)
{
	PmStr text = PM_STR_INIT, report = PM_STR_INIT;
	PmPassOutcome out;
	PmGraph *g;

	expand(tmpl, &types[0], &row, &text);
	g = pm_test_graph(text.s);
	apply(pass, g, 1, &out);
	pm_pass_outcome_print(&out, &report);
	if (out.verdict != PM_VERDICT_NO_MATCH)
		fail_msg("The pass should leave this alone, but the verdict is %s\n%s\n%s",
			 pm_verdict_name(out.verdict), report.s, text.s);
	if (!strstr(report.s, why))
		fail_msg("The report does not say \"%s\"\n%s\n%s", why, report.s, text.s);
	pm_pass_outcome_release(&out);
	pm_graph_free(g);
	pm_str_release(&report);
	pm_str_release(&text);
}
