/* SPDX-License-Identifier: Apache-2.0 */
/* test_library.c - what plans tell libraries about products and convolutions is what they compute.
 *
 * The emulated device gets a library: plain loops over a PmLibCall, in double. A graph run with it must agree
 * with the reference, so every stride, offset, transpose, batch, pad and bias in the description is right;
 * and lie within the error bound, so nothing is rounded on the way.
 */
#include "bench/compare/agree.h"
#include "bench/inputs/inputs.h"
#include "integrity/referee/referee.h"
#include "runtime/cuda/library/lib_algo.h"
#include "runtime/exec/exec.h"
#include "runtime/ref/ref.h"
#include "tests/lib/device/bound_check.h"
#include "tests/lib/device/lib_cases.h"
#include "tests/lib/device/lib_loops.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/plugin/paths.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_CALLS = 8, MAX_VALUES = 8 };

static struct {
	PmLibCall call[MAX_CALLS];
	int n, runs;
} lib;

static int declines;    /* everything */
static int infinite;    /* the first element of the first operand is */
static int constant;    /* weights are taken for constants */
static PmAlgoKind algo; /* by which calls are made; one that cannot be made so is declined */

static int lib_has_third(const PmLibCall *c)
{
	return c->kind == PM_LIB_GEMM ? c->gemm.c != PM_LIB_C_NONE : c->conv.has_bias;
}

static PmStatus prepare(PmDevice *d, const PmLibCall *c, const char *label, PmLib *out, PmErr *err)
{
	PmAlgo w;

	(void)d, (void)label, (void)err;
	assert_true(lib.n < MAX_CALLS);
	if (declines || !pm_algo_describe(c, algo, &w))
		return PM_DECLINED;
	lib.call[lib.n] = *c;
	if (constant && c->kind == PM_LIB_CONV)
		lib.call[lib.n].conv.constant = 1;
	lib.n++;
	out->id = (uint32_t)lib.n;
	return PM_OK;
}

static void run_kernel(PmDevice *d, const PmAlgoStage *s, PmModule m, const PmDevArg *at)
{
	PmDevArg args[PM_ALGO_PLACES + PM_ALGO_INTS];
	int n = 0;
	PmErr err;

	pm_err_init(&err);
	for (int i = 0; i < s->n_places; i++) {
		args[n] = at[s->place[i].arg];
		args[n].readonly = s->place[i].arg > 0 && s->place[i].arg < PM_ALGO_SCRATCH;
		args[n++].offset += s->place[i].offset;
	}
	for (int i = 0; i < s->n_ints; i++)
		args[n++] = (PmDevArg){ .kind = PM_DARG_I32, .i = s->v[i] };
	if (d->ops->launch(d,
			   &(PmDevLaunch){ .module = m,
					   .entry = s->entry,
					   .grid = { s->blocks, 1, 1 },
					   .block = { PM_ALGO_BLOCK, 1, 1 },
					   .args = args,
					   .n_args = n },
			   &err))
		fail_msg("%s: %s", s->entry, err.text);
}

/* The call by the algorithm that is being tried: kernels on the device, calls by loops. */
static void run_algo(PmDevice *d, const PmLibCall *c, const PmDevArg *args)
{
	PmSource source = { "lib_algo.cu", pm_algo_source(), (PmDType)c->dtype };
	PmDevArg at[PM_ALGO_N_ARGS] = { { .kind = PM_DARG_BUF } }, moved[4];
	PmModule m = { 0 };
	PmAlgo w;
	PmErr err;
	int own; /* kernels, scratch */

	pm_err_init(&err);
	assert_true(pm_algo_describe(c, algo, &w));
	own = algo != PM_ALGO_PLAIN || w.n > 1;
	memcpy(at, args, (size_t)(lib_has_third(c) ? 4 : 3) * sizeof *args);
	at[PM_ALGO_SCRATCH] = at[PM_ALGO_KEPT] = (PmDevArg){ .kind = PM_DARG_BUF };
	if (own && (d->ops->load(d, &source, 1, &m, &err) ||
		    d->ops->alloc(d, w.scratch, PM_BUF_SCRATCH, &at[PM_ALGO_SCRATCH].buf, &err) ||
		    d->ops->alloc(d, w.kept, PM_BUF_SCRATCH, &at[PM_ALGO_KEPT].buf, &err)))
		fail_msg("%s", err.text);
	for (int i = 0; i < w.n_once; i++) /* constants, and what is kept, are all that they know */
		for (int k = 0; k < w.stage[i].n_places; k++)
			assert_true(w.stage[i].entry && (w.stage[i].place[k].arg == 2 ||
							 w.stage[i].place[k].arg == PM_ALGO_KEPT));
	for (int i = 0; i < w.n; i++) {
		const PmAlgoStage *s = &w.stage[i];

		if (s->entry) {
			run_kernel(d, s, m, at);
			continue;
		}
		for (int k = 0; k < s->n_places; k++) {
			moved[k] = at[s->place[k].arg];
			moved[k].offset += s->place[k].offset;
		}
		lib_loops_run(d, &s->call, moved);
	}
	if (!own)
		return;
	assert_int_equal(d->ops->sync(d, &err), PM_OK);
	d->ops->release(d, at[PM_ALGO_SCRATCH].buf);
	d->ops->release(d, at[PM_ALGO_KEPT].buf);
	d->ops->unload(d, m);
}

static PmStatus run(PmDevice *d, PmLib l, const PmDevArg *args, int n, PmErr *err)
{
	const PmLibCall *c = &lib.call[l.id - 1];

	(void)err;
	assert_true(n >= 3);
	run_algo(d, c, args);
	lib.runs++;
	return PM_OK;
}

static void drop(PmDevice *d, PmLib l)
{
	(void)d, (void)l;
}

/* --- the same device with sequences: they are kept, and run step by step ---------------------------------
 */

enum { MAX_STEPS = 32, MAX_ARGS = 64 };

static int sequences; /* the device takes them */
static struct {
	PmDevStep step[MAX_STEPS];
	PmDevArg args[MAX_STEPS][MAX_ARGS];
	size_t n;
	int made, runs, dropped;
} seq;

static PmStatus seq_new(PmDevice *d, const PmDevStep *step, size_t n, PmCall *out, PmErr *err)
{
	(void)d, (void)err;
	assert_true(n <= MAX_STEPS);
	for (size_t i = 0; i < n; i++) {
		assert_true(step[i].launch.n_args <= MAX_ARGS);
		seq.step[i] = step[i];
		memcpy(seq.args[i], step[i].launch.args, (size_t)step[i].launch.n_args * sizeof(PmDevArg));
		seq.step[i].launch.args = seq.args[i];
	}
	seq.n = n;
	seq.made++;
	out->id = 1;
	return PM_OK;
}

static PmStatus seq_run(PmDevice *d, PmCall c, PmErr *err)
{
	PmStatus st = PM_OK;

	assert_int_equal(c.id, 1);
	seq.runs++;
	for (size_t i = 0; i < seq.n && !st; i++) {
		const PmDevStep *s = &seq.step[i];

		st = s->lib.id ? run(d, s->lib, s->launch.args, s->launch.n_args, err)
			       : d->ops->launch(d, &s->launch, err);
	}
	return st;
}

static void seq_drop(PmDevice *d, PmCall c)
{
	(void)d, (void)c;
	seq.dropped++;
}

static const char *text_of(void *text, size_t k)
{
	(void)k;
	return text;
}

/* Runs a graph on emu with that library against the reference; `calls` of its operators go there. */
static void graph_agrees(const PmGraph *g, const char *text, int calls)
{
	PmTensor in[MAX_VALUES], got[MAX_VALUES], want[MAX_VALUES], again[MAX_VALUES];
	PmDeviceOps ops;
	PmDevice *d = NULL;
	PmPlan *plan = NULL;
	PmExec *x = NULL;
	PmBind *b = NULL;
	PmAgreement a;
	PmErr err;

	pm_err_init(&err);
	memset(&lib, 0, sizeof lib);
	if (pm_device_open("emu", &d, &err))
		fail_msg("%s: %s", text, err.text);
	ops = *d->ops;
	ops.lib_prepare = prepare;
	ops.lib_run = run;
	ops.lib_drop = drop;
	if (sequences) {
		memset(&seq, 0, sizeof seq);
		ops.call_new = seq_new;
		ops.call_run = seq_run;
		ops.call_drop = seq_drop;
		ops.lib_run = NULL;
	}
	d->ops = &ops;
	if (pm_inputs_make(g, 5, PM_INPUTS_NORMAL, in, &err))
		fail_msg("%s: %s", text, err.text);
	if (infinite)
		pm_tensor_set(&in[0], 0, INFINITY);
	if (pm_plan_new(g, NULL, 0, &plan, &err) || pm_exec_new(plan, d, &x, &err) ||
	    pm_exec_run(x, in, pm_graph_n_inputs(g), 0x7fc00000, got, pm_graph_n_outputs(g), &err) ||
	    pm_ref_run(g, in, pm_graph_n_inputs(g), want, pm_graph_n_outputs(g), &err) ||
	    pm_agree(g, in, got, want, pm_graph_n_outputs(g), 1, &a, &err))
		fail_msg("%s: %s", text, err.text);
	if (!a.agrees)
		fail_msg("%s: element %lld is %.9g, expected %.9g", text, (long long)a.c.worst.index,
			 a.c.worst.got, a.c.worst.expected);
	if (!infinite)
		bound_check(g, in, got, pm_graph_n_outputs(g), text_of, (void *)(uintptr_t)text);
	if (sequences) { /* a binding's launches are made ready once, however often they run */
		if (pm_bind_new(x, 0, &b, &err))
			fail_msg("%s: %s", text, err.text);
		for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
			assert_int_equal(d->ops->upload(d, pm_bind_input(b, i), 0, in[i].data,
							(int64_t)in[i].bytes, &err),
					 PM_OK);
		if (pm_bind_launch(b, &err) || pm_bind_launch(b, &err) ||
		    pm_bind_outputs(b, again, pm_graph_n_outputs(g), &err))
			fail_msg("%s, again: %s", text, err.text);
		assert_true(seq.made == 2 && seq.runs == 3);
		assert_memory_equal(again[0].data, got[0].data, got[0].bytes);
		pm_tensors_release(again, pm_graph_n_outputs(g));
		lib.runs /= 3;
	}
	if (lib.runs != calls)
		fail_msg("%s: %d calls of the library, expected %d", text, lib.runs, calls);
	pm_tensors_release(in, pm_graph_n_inputs(g));
	pm_tensors_release(got, pm_graph_n_outputs(g));
	pm_tensors_release(want, pm_graph_n_outputs(g));
	pm_exec_free(x);
	assert_int_equal(seq.dropped, seq.made);
	d->ops->close(d);
	pm_plan_free(plan);
}

static void agrees(const char *text, int calls)
{
	PmGraph *g = pm_test_graph(text);

	graph_agrees(g, text, calls);
	pm_graph_free(g);
}

/* What a pass leaves as it was is the same call on both sides, so that a speedup is never a library's. */
static void a_rewritten_graph_makes_the_same_calls(void **state)
{
	static const char text[] = "g (float[1,10,32] x, float[32,32] w, float[32] b, float[1,10,32] r, "
				   "float[32] s, float[32] t) => "
				   "(float[1,10,32] y) { m = MatMul(x, w)\n a = Add(b, m)\n c = Add(a, r)\n "
				   "y = LayerNormalization <axis "
				   "= 2> (c, s, t) }";
	PmGraph *g = pm_test_graph(text);
	PmCandidate cand;
	PmLibGemm a, b;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	graph_agrees(g, text, 1);
	a = lib.call[0].gemm;
	if (pm_referee_rewrite(built("passes/add_layer_norm.so"), NULL, g, 60, &cand, &err))
		fail_msg("%s", err.text);
	assert_int_equal(cand.verdict, PM_VERDICT_OK);
	assert_int_equal(cand.n_kernels, 1);
	graph_agrees(cand.g, "rewritten", 1);
	b = lib.call[0].gemm;
	assert_true(a.m == b.m && a.n == b.n && a.k == b.k && a.batch == b.batch && a.outer == b.outer);
	assert_true(a.a_row == b.a_row && a.a_col == b.a_col && a.b_row == b.b_row && a.b_col == b.b_col);
	pm_candidate_release(&cand);
	pm_graph_free(g);
}

static void products_are_described(void **state)
{
	static const char *const texts[] = {
		"g (float[5,7] a, float[7,3] b) => (float[5,3] y) { y = MatMul(a, b) }",
		"g (float16[5,7] a, float16[7,3] b) => (float16[5,3] y) { y = MatMul(a, b) }",
		"g (bfloat16[1,7] a, bfloat16[7,1] b) => (bfloat16[1,1] y) { y = MatMul(a, b) }",
		"g (double[1,1] a, double[1,6] b) => (double[1,6] y) { y = MatMul(a, b) }",
		"g (float[7] a, float[7,3] b) => (float[3] y) { y = MatMul(a, b) }",
		"g (float[5,7] a, float[7] b) => (float[5] y) { y = MatMul(a, b) }",
		"g (float[7] a, float[7] b) => (float y) { y = MatMul(a, b) }",
		"g (float[2,4,5,7] a, float[2,4,7,3] b) => (float[2,4,5,3] y) { y = MatMul(a, b) }",
		"g (float[2,4,5,7] a, float[7,3] b) => (float[2,4,5,3] y) { y = MatMul(a, b) }",
		"g (float[5,7] a, float[4,7,3] b) => (float[4,5,3] y) { y = MatMul(a, b) }",
		"g (float[7,5] a, float[7,3] b) => (float[5,3] y) { t = Transpose <perm = [1, 0]> (a)\n y = "
		"MatMul(t, b) }",
		"g (float[5,7] a, float[3,7] b) => (float[5,3] y) { t = Transpose <perm = [1, 0]> (b)\n y = "
		"MatMul(a, t) }",
		"g (float[2,5,4,7] q, float[2,5,4,7] k) => (float[2,4,5,5] y) { a = Transpose <perm = [0, 2, "
		"1, 3]> (q)\n"
		" b = Transpose <perm = [0, 2, 3, 1]> (k)\n y = MatMul(a, b) }",
		"g (float[5,9] x, float[4,3] b) => (float[5,3] y) { a = Slice <axes = [1], ends = [7], "
		"starts = [3], steps = "
		"[1]> (x)\n y = MatMul(a, b) }",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		agrees(texts[i], 1);
	/* Batch strides that are not one, and too many for calls of their own. */
	agrees("g (float[9,5,4,7] q, float[9,4,7,3] k) => (float[9,4,5,3] y) { a = Transpose <perm = [0, 2, "
	       "1, 3]> (q)\n "
	       "y = MatMul(a, k) }",
	       0);
}

static void gemms_are_described(void **state)
{
	(void)state;
	agrees("g (float[5,7] a, float[7,3] b) => (float[5,3] y) { y = Gemm(a, b) }", 1);
	agrees("g (float[7,5] a, float[3,7] b, float[3] c) => (float[5,3] y) { y = Gemm <transA = 1, transB "
	       "= 1, alpha "
	       "= 0.5> (a, b, c) }",
	       1);
	agrees("g (float[5,7] a, float[7,3] b, float[1,3] c) => (float[5,3] y) { y = Gemm(a, b, c) }", 1);
	agrees("g (float[5,7] a, float[3,7] b, float[5,3] c) => (float[5,3] y) { y = Gemm <transB = 1, alpha "
	       "= 2.0, beta "
	       "= 0.25> (a, b, c) }",
	       1);
	agrees("g (float[5,7] a, float[7,3] b, float[5,1] c) => (float[5,3] y) { y = Gemm(a, b, c) }", 0);
	agrees("g (float[5,7] a, float[7,3] b, float[3] c) => (float[5,3] y) { y = Gemm <beta = 2.0> (a, b, "
	       "c) }",
	       0);
	agrees("g (float[4,4] a, float[4] c) => (float[4,4] y) { y = Gemm <transB = 1> (a, a, c) }", 1);
	agrees("g (float[4,4] a) => (float[4,4] y) { y = MatMul(a, a) }", 1);
	agrees("g (int64[5,7] a, int64[7,3] b) => (int64[5,3] y) { y = MatMul(a, b) }", 0);
	agrees("g (float[0,7] a, float[7,3] b) => (float[0,3] y) { y = MatMul(a, b) }", 0);
}

static void conv_case(const char *types, const char *attrs, const char *operands, int calls)
{
	char text[512];

	snprintf(text, sizeof text, "g (%s y) { y = Conv <%s> (%s) }", types, attrs, operands);
	agrees(text, calls);
}

static void convolutions_are_described(void **state)
{
	(void)state;
	conv_case("float[2,3,8,9] x, float[4,3,3,3] w) => (float[2,4,6,7]",
		  "dilations = [1, 1], group = 1, pads = [0, 0, 0, 0], strides = [1, 1]", "x, w", 1);
	conv_case("float16[2,3,8,9] x, float16[4,3,3,2] w, float16[4] b) => (float16[2,4,4,9]",
		  "dilations = [1, 2], group = 1, pads = [1, 1, 1, 1], strides = [2, 1]", "x, w, b", 1);
	conv_case("float[2,4,9] x, float[6,2,3] w, float[6] b) => (float[2,6,9]",
		  "dilations = [1], group = 2, pads = [1, 1], strides = [1]", "x, w, b", 1);
	conv_case("float[1,2,4,5,6] x, float[3,2,2,2,2] w) => (float[1,3,3,4,5]",
		  "dilations = [1, 1, 1], group = 1, pads = [0, 0, 0, 0, 0, 0], "
		  "strides = "
		  "[1, 1, 1]",
		  "x, w", 1);
	/* Depthwise, and pads that differ. */
	conv_case("float[1,4,6,6] x, float[4,1,3,3] w) => (float[1,4,4,4]",
		  "dilations = [1, 1], group = 4, pads = [0, 0, 0, 0], strides = [1, 1]", "x, w", 0);
	conv_case("float[1,2,6,6] x, float[3,2,3,3] w) => (float[1,3,5,5]",
		  "dilations = [1, 1], group = 1, pads = [1, 1, 0, 0], strides = [1, 1]", "x, w", 0);
}

static void transposed_convolutions_are_described(void **state)
{
	(void)state;
	agrees("g (float[2,4,5,6] x, float[4,3,3,4] w, float[3] b) => (float[2,3,9,12] y) { y = "
	       "ConvTranspose <dilations "
	       "= [1, 1], group = 1, output_padding = [0, 0], pads = [1, 1, 1, 1], strides = [2, 2]> (x, w, "
	       "b) }",
	       1);
	agrees("g (float[1,4,5] x, float[4,3,3] w) => (float[1,6,10] y) { y = ConvTranspose <dilations = "
	       "[1], group = 2, "
	       "output_padding = [1], pads = [1, 1], strides = [2]> (x, w) }",
	       1);
	/* Pads that differ. */
	agrees("g (float[1,4,5] x, float[4,3,3] w) => (float[1,6,10] y) { y = ConvTranspose <dilations = "
	       "[1], group = 2, "
	       "output_padding = [0], pads = [1, 0], strides = [2]> (x, w) }",
	       0);
}

static void every_way_agrees(void **state)
{
	static const char *const types[] = { "float", "float16" }; /* all four on a GPU */
	const LibCase *c;
	char text[LIB_CASE_TEXT];

	(void)state;
	for (int w = 0; w < PM_N_ALGOS; w++)
		assert_true(strlen(pm_algo_name((PmAlgoKind)w)) > 1);
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; (c = lib_case(k)); k++)
			for (int w = 0; w < PM_N_ALGOS; w++) {
				algo = (PmAlgoKind)w;
				agrees(lib_case_text(c, types[i], text), lib_case_has(c, algo, types[i]));
			}
	algo = PM_ALGO_PLAIN;
}

/* Matrices are transposed by elements, in pairs of 64 and of 32 rows, in whole rows, and by 16 bytes in tiles
 * of 64, 32 and 128 rows; constant weights once. */
static void matrices_are_transposed_in_every_way(void **state)
{
	static const struct {
		const char *x, *w, *y, *bias;
		int once; /* weights that are turned */
	} cases[] = {
		{ "2,70,9,10", "66,70,3,3", "2,66,9,10", "66", 1 },
		{ "2,70,9,10", "66,70,3,3", "2,66,9,10", "", 1 },
		{ "1,66,61,130", "2,66,1,1", "1,2,61,130", "2", 0 },
		{ "1,34,90,174", "32,34,1,1", "1,32,90,174", "", 0 },
		{ "1,9,7,7", "6,9,3,3", "1,6,7,7", "6", 1 },
		{ "1,64,3,5", "6,64,3,3", "1,6,3,5", "6", 1 },
		{ "1,520,2,3", "3,520,3,3", "1,3,2,3", "3", 1 },
		{ "2,72,9,8", "40,72,3,3", "2,40,9,8", "", 1 },
		{ "1,32,40,13", "32,32,1,1", "1,32,40,13", "", 0 },
		{ "1,24,16,9", "72,24,3,3", "1,72,16,9", "72", 1 },
		{ "1,8,8,9", "16,8,4,8", "1,16,7,4", "", 1 },
	};
	char text[LIB_CASE_TEXT], bias[32];

	(void)state;
	algo = PM_ALGO_LAST;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (constant = 0; constant < 2; constant++) {
			int pad = cases[i].once;
			PmAlgo w;

			bias[0] = '\0';
			if (*cases[i].bias)
				snprintf(bias, sizeof bias, ", float16[%s] b", cases[i].bias);
			snprintf(text, sizeof text,
				 "g (float16[%s] x, float16[%s] w%s) => (float16[%s] y) { y = Conv "
				 "<dilations = "
				 "[1, 1], group = 1, pads = [%d, %d, %d, %d], strides = [1, 1]> (x, w%s) }",
				 cases[i].x, cases[i].w, bias, cases[i].y, pad, pad, pad, pad,
				 *cases[i].bias ? ", b" : "");
			agrees(text, 1);
			assert_true(pm_algo_describe(&lib.call[0], algo, &w));
			assert_int_equal(w.n_once, constant && cases[i].once);
			assert_int_equal(w.n, 3 + w.n_once); /* with the bias, too */
		}
	constant = 1;
	algo = PM_ALGO_PHASES_4;
	agrees("g (float[1,4,6,6] x, float[6,2,3,3] w) => (float[1,6,6,6] y) { y = Conv <dilations = [1, 1], "
	       "group = 2, pads = [1, 1, 1, 1], strides = [1, 1]> (x, w) }",
	       1);
	constant = 0;
	algo = PM_ALGO_PLAIN;
}

/* What a plan says of weights: whether they are the model's own. */
static void plans_know_constant_weights(void **state)
{
	(void)state;
	agrees("g (float[1,1,5] x) => (float[1,1,4] y) <float[1,1,2] w = {1, 2}> { y = Conv <dilations = "
	       "[1], "
	       "group = 1, pads = [0, 0], strides = [1]> (x, w) }",
	       1);
	assert_int_equal(lib.call[0].conv.constant, 1);
	agrees("g (float[1,1,5] x, float[1,1,2] w) => (float[1,1,4] y) { y = Conv <dilations = [1], group = "
	       "1, "
	       "pads = [0, 0], strides = [1]> (x, w) }",
	       1);
	assert_int_equal(lib.call[0].conv.constant, 0);
}

/* The convolutions by a kernel of ours in the other types too. */
static void phases_agree_in_every_type(void **state)
{
	static const char *const types[] = { "double", "bfloat16" };
	const LibCase *c;
	char text[LIB_CASE_TEXT];

	(void)state;
	for (int w = PM_ALGO_PHASES_16; w <= PM_ALGO_PHASES_4; w++)
		for (int i = 0; i < 2; i++)
			for (size_t k = 0; (c = lib_case(k)); k++) {
				algo = (PmAlgoKind)w;
				if (lib_case_has(c, algo, types[i]))
					agrees(lib_case_text(c, types[i], text), 1);
			}
	algo = PM_ALGO_PLAIN;
}

/* A depth that is no multiple of what a loop takes, or none at all: an infinity is multiplied by no zero. */
static void phases_keep_infinities(void **state)
{
	(void)state;
	algo = PM_ALGO_PHASES_4;
	infinite = 1;
	agrees("g (float[1,1,5] x, float[1,2,3] w) => (float[1,2,7] y) { y = ConvTranspose <dilations = [1], "
	       "group = 1, output_padding = [0], pads = [0, 0], strides = [1]> (x, w) }",
	       1);
	agrees("g (float[1,1,5] x, float[1,2,1] w) => (float[1,2,13] y) { y = ConvTranspose <dilations = "
	       "[1], "
	       "group = 1, output_padding = [0], pads = [0, 0], strides = [3]> (x, w) }",
	       1);
	infinite = 0;
	algo = PM_ALGO_PLAIN;
}

/* Half types with enough channels are left to tensor cores, unless transposed. */
static void phases_leave_tensor_cores_theirs(void **state)
{
	PmLibCall c = { .kind = PM_LIB_CONV, .dtype = PM_F16 };
	PmAlgo w;

	(void)state;
	c.conv = (PmLibConv){ .spatial = 1,
			      .x = { 1, 8, 9 },
			      .w = { 8, 8, 3 },
			      .y = { 1, 8, 7 },
			      .stride = { 1 },
			      .dilation = { 1 },
			      .groups = 1 };
	assert_false(pm_algo_describe(&c, PM_ALGO_PHASES_8, &w));
	c.dtype = PM_F32;
	assert_true(pm_algo_describe(&c, PM_ALGO_PHASES_8, &w));
	assert_false(pm_algo_describe(&c, PM_ALGO_PHASES_16, &w)); /* half of its rows are idle */
	c.dtype = PM_F16;
	c.conv.transposed = 1;
	c.conv.y[2] = 11;
	assert_true(pm_algo_describe(&c, PM_ALGO_PHASES_8, &w));
}

static void einsums_are_described(void **state)
{
	static const struct {
		const char *a, *b, *y, *equation;
		int calls;
	} cases[] = {
		{ "5,7", "7,3", "5,3", "ij,jk->ik", 1 },
		{ "5,7", "7,3", "3,5", "ij,jk->ki", 1 },
		{ "2,5,7", "2,7,3", "2,5,3", "bij,bjk->bik", 1 },
		{ "2,5,7", "2,9,7", "2,5,9", "bnd,bmd->bnm", 1 },
		{ "2,5,7", "2,9,7", "2,9,5", "bnd,bmd->bmn", 1 },
		{ "2,5,7", "7,3", "2,5,3", "abc,cd->abd", 1 },
		{ "2,4,5,7", "2,4,9,7", "2,4,5,9", "bhid,bhjd->bhij", 1 },
		{ "5,7", "7", "5", "ij,j->i", 1 },
		{ "1,5,7", "2,7,3", "2,5,3", "bij,bjk->bik", 0 }, /* one operand is repeated */
		{ "5,2,7", "2,7,3", "2,5,3", "ibj,bjk->bik", 1 },
		{ "5,6,7", "7,6,3", "5,3", "iab,bak->ik", 0 },    /* sums that lie in another order */
		{ "5,7", "3", "5,7,3", "ij,k->ijk", 0 },          /* nothing is summed */
		{ "5,7", "7,3", "5,3", "ij,lk->ik", 0 },          /* sums of one operand alone */
		{ "2,5,7", "2,7,3", "5,2,3", "bij,bjk->ibk", 0 }, /* seven sums are not worth a copy */
		{ "2,5,8", "2,8,3", "5,2,3", "bij,bjk->ibk", 1 },
		{ "1,12,5,9", "1,5,7,9", "1,12,5,7", "bchj,bhwj->bchw", 1 },
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(text, sizeof text,
			 "g (float[%s] a, float[%s] b) => (float[%s] y) { y = Einsum <equation = \"%s\"> (a, "
			 "b) }",
			 cases[i].a, cases[i].b, cases[i].y, cases[i].equation);
		agrees(text, cases[i].calls);
	}
	/* Each pair of a chain. */
	agrees("g (float[17,13] a, float[13,11] b, float[11,19] c) => (float[17,19] y) { y = Einsum "
	       "<equation = \"ab,bc,cd->ad\"> (a, b, c) }",
	       2);
}

static void a_library_that_declines_leaves_it_to_our_kernel(void **state)
{
	(void)state;
	declines = 1;
	agrees("g (float[5,7] a, float[7,3] b) => (float[5,3] y) { t = MatMul(a, b)\n y = Neg(t) }", 0);
	declines = 0;
	agrees("g (float[5,7] a, float[7,3] b) => (float[5,3] y) { t = MatMul(a, b)\n y = Neg(t) }", 1);
}

/* A device that takes sequences gets all launches and calls of a binding in order, once. */
static void a_sequence_is_the_same_as_its_steps(void **state)
{
	(void)state;
	sequences = 1;
	agrees("g (float[5,7] a, float[7,3] b, float[3] c) => (float[5,3] y) { t = MatMul(a, b)\n u = "
	       "Neg(t)\n "
	       "y = Add(u, c) }",
	       1);
	agrees("g (float[2,3] x) => (float[3,2] y) <float[2] c = {1, 2}> { t = Transpose <perm = [1, 0]> "
	       "(x)\n y = "
	       "Mul(t, c) }",
	       0);
	sequences = 0;
}

/* Sizes of which a product wraps around to a small number: no algorithm but the library's own. */
static void sizes_that_wrap_are_left_to_the_library(void **state)
{
	static const int64_t large = (int64_t)1 << 30;
	PmLibCall c = { .kind = PM_LIB_CONV, .dtype = PM_F16 };
	PmAlgo w;

	(void)state;
	c.conv = (PmLibConv){ .spatial = 2,
			      .x = { 16, large, large, 1 },
			      .w = { 1, large, 1, 1 },
			      .y = { 16, 1, 1, 1 },
			      .stride = { large, 1 },
			      .dilation = { 1, 1 },
			      .groups = 1 };
	for (int kind = PM_ALGO_PLAIN + 1; kind < PM_N_ALGOS; kind++)
		if (pm_algo_describe(&c, (PmAlgoKind)kind, &w))
			fail_msg("%s", pm_algo_name((PmAlgoKind)kind));
	c.conv.has_bias = 1;
	c.conv.y[0] = c.conv.y[1] = c.conv.y[2] = c.conv.y[3] = (int64_t)1 << 32;
	assert_int_equal(pm_algo_describe(&c, PM_ALGO_PLAIN, &w), 0);
}

/* 2^31 results are more than our kernels count. A product that none of them takes part in is made all the
 * same. */
static void products_alone_may_be_of_any_size(void **state)
{
	PmLibCall c = { .kind = PM_LIB_CONV, .dtype = PM_F32, .align = { 256, 256, 256, 256 } };
	PmAlgo w;

	(void)state;
	c.conv = (PmLibConv){ .spatial = 2,
			      .x = { 16, 64, 1024, 1024 },
			      .w = { 128, 64, 1, 1 },
			      .y = { 16, 128, 1024, 1024 },
			      .stride = { 1, 1 },
			      .dilation = { 1, 1 },
			      .groups = 1 };
	for (int has_bias = 0; has_bias < 2; has_bias++) {
		c.conv.has_bias = has_bias;
		for (int k = PM_ALGO_PRODUCT; k < PM_N_ALGOS; k++)
			assert_int_equal(pm_algo_describe(&c, (PmAlgoKind)k, &w),
					 k == PM_ALGO_PRODUCT && !has_bias);
	}
	c.conv.x[0] = c.conv.y[0] = 8;
	assert_true(pm_algo_describe(&c, PM_ALGO_PRODUCT, &w));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_described),
		cmocka_unit_test(gemms_are_described),
		cmocka_unit_test(convolutions_are_described),
		cmocka_unit_test(transposed_convolutions_are_described),
		cmocka_unit_test(every_way_agrees),
		cmocka_unit_test(matrices_are_transposed_in_every_way),
		cmocka_unit_test(plans_know_constant_weights),
		cmocka_unit_test(phases_agree_in_every_type),
		cmocka_unit_test(phases_keep_infinities),
		cmocka_unit_test(phases_leave_tensor_cores_theirs),
		cmocka_unit_test(sizes_that_wrap_are_left_to_the_library),
		cmocka_unit_test(products_alone_may_be_of_any_size),
		cmocka_unit_test(einsums_are_described),
		cmocka_unit_test(a_rewritten_graph_makes_the_same_calls),
		cmocka_unit_test(a_library_that_declines_leaves_it_to_our_kernel),
		cmocka_unit_test(a_sequence_is_the_same_as_its_steps),
	};

	return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
