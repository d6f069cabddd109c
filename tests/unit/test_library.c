/* test_library.c - what plans tell libraries about products and convolutions is what they compute.
 *
 * The emulated device gets a library: plain loops over a PmLibCall, in double. A graph run with it must agree
 * with the reference, so every stride, offset, transpose, batch, pad and bias in the description is right.
 */
#include "bench/agree.h"
#include "bench/inputs.h"
#include "integrity/referee.h"
#include "ir/text.h"
#include "runtime/exec.h"
#include "runtime/ref.h"
#include "tests/plugin/paths.h"

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

static int declines; /* everything */

static PmStatus prepare(PmDevice *d, const PmLibCall *c, const char *label, PmLib *out, PmErr *err)
{
	(void)d, (void)label, (void)err;
	assert_true(lib.n < MAX_CALLS);
	if (declines)
		return PM_DECLINED;
	lib.call[lib.n++] = *c;
	out->id = (uint32_t)lib.n;
	return PM_OK;
}

/* The whole buffer behind an argument as numbers, and how many stand before its offset. */
static PmTensor fetch(PmDevice *d, const PmDevArg *a, int dtype, int64_t numel, int64_t *first)
{
	PmType t = { .dtype = dtype, .rank = 1 };
	PmTensor out;
	PmErr err;

	pm_err_init(&err);
	*first = a->offset / (int64_t)pm_dtype_size(dtype);
	t.dim[0] = numel + *first;
	if (pm_tensor_init(&out, &t, &err) ||
	    d->ops->download(d, a->buf, 0, out.data, (int64_t)out.bytes, &err))
		fail_msg("%s", err.text);
	return out;
}

static void gemm_once(PmDevice *d, const PmLibCall *c, const PmDevArg *args)
{
	const PmLibGemm *g = &c->gemm;
	int64_t fa, fb, fy, fc = 0, ny = g->batch * g->m * g->n;
	int64_t na = (g->batch - 1) * g->a_batch + (g->m - 1) * g->a_row + (g->k - 1) * g->a_col + 1;
	int64_t nb = (g->batch - 1) * g->b_batch + (g->k - 1) * g->b_row + (g->n - 1) * g->b_col + 1;
	PmTensor a = fetch(d, &args[1], c->dtype, na, &fa), b = fetch(d, &args[2], c->dtype, nb, &fb),
		 y = fetch(d, &args[0], c->dtype, ny, &fy), third = { .data = NULL };

	if (g->c)
		third = fetch(d, &args[3], c->dtype, g->c == PM_LIB_C_COLUMNS ? g->n : ny, &fc);
	for (int64_t i = 0; i < ny; i++) {
		int64_t col = i % g->n, row = i / g->n % g->m, at = i / g->n / g->m;
		double sum = 0;

		for (int64_t k = 0; k < g->k; k++)
			sum += pm_tensor_get(&a, fa + at * g->a_batch + row * g->a_row + k * g->a_col) *
			       pm_tensor_get(&b, fb + at * g->b_batch + k * g->b_row + col * g->b_col);
		sum *= g->alpha;
		if (g->c == PM_LIB_C_COLUMNS)
			sum += pm_tensor_get(&third, fc + col);
		if (g->c == PM_LIB_C_MATRIX)
			sum += g->beta * pm_tensor_get(&third, fc + i);
		pm_tensor_set(&y, fy + i, sum);
	}
	assert_int_equal(d->ops->upload(d, args[0].buf, 0, y.data, (int64_t)y.bytes, NULL), PM_OK);
	pm_tensor_release(&a);
	pm_tensor_release(&b);
	pm_tensor_release(&y);
	pm_tensor_release(&third);
}

static void gemm(PmDevice *d, const PmLibCall *c, const PmDevArg *args)
{
	PmDevArg moved[4];

	for (int64_t o = 0; o < c->gemm.outer; o++) {
		for (int i = 0; i < 3 + (c->gemm.c != 0); i++) {
			moved[i] = args[i];
			moved[i].offset += o * c->step[i];
			assert_true(moved[i].offset % c->align[i] == 0);
		}
		gemm_once(d, c, moved);
	}
}

static int64_t product(const int64_t *v, int n)
{
	int64_t p = 1;

	while (n-- > 0)
		p *= v[n];
	return p;
}

/* The sum for one output element; `at` holds its coordinates. */
static double conv_one(const PmLibConv *v, const PmTensor *x, const PmTensor *w, const int64_t *at)
{
	int64_t per_group = v->w[0] / v->groups, channels = v->w[1], group = at[1] / per_group, taps;
	double sum = 0;

	taps = product(v->w + 2, v->spatial);
	for (int64_t c = 0; c < channels; c++)
		for (int64_t k = 0; k < taps; k++) {
			int64_t rest = k, xi = 0, scale = 1;
			int inside = 1;

			for (int d = v->spatial - 1; d >= 0; d--) {
				int64_t p = at[2 + d] * v->stride[d] - v->pad[d] +
					    rest % v->w[2 + d] * v->dilation[d];

				rest /= v->w[2 + d];
				inside &= p >= 0 && p < v->x[2 + d];
				xi += p * scale;
				scale *= v->x[2 + d];
			}
			if (inside)
				sum += pm_tensor_get(x, ((at[0] * v->x[1]) + group * channels + c) * scale +
								xi) *
				       pm_tensor_get(w, (at[1] * channels + c) * taps + k);
		}
	return sum;
}

/* The same of a transposed one: what each tap of each input that reaches the place gives. */
static double transposed_one(const PmLibConv *v, const PmTensor *x, const PmTensor *w, const int64_t *at)
{
	int64_t each = v->w[1], channels = v->x[1] / v->groups, group = at[1] / each,
		taps = product(v->w + 2, v->spatial);
	double sum = 0;

	for (int64_t c = group * channels; c < (group + 1) * channels; c++)
		for (int64_t k = 0; k < taps; k++) {
			int64_t rest = k, xi = 0, scale = 1;
			int inside = 1;

			for (int d = v->spatial - 1; d >= 0; d--) {
				int64_t p = at[2 + d] + v->pad[d] - rest % v->w[2 + d] * v->dilation[d];

				rest /= v->w[2 + d];
				inside &= p >= 0 && p % v->stride[d] == 0 && p / v->stride[d] < v->x[2 + d];
				xi += p / v->stride[d] * scale;
				scale *= v->x[2 + d];
			}
			if (inside)
				sum += pm_tensor_get(x, (at[0] * v->x[1] + c) * scale + xi) *
				       pm_tensor_get(w, (c * each + at[1] % each) * taps + k);
		}
	return sum;
}

static void conv(PmDevice *d, const PmLibCall *c, const PmDevArg *args)
{
	const PmLibConv *v = &c->conv;
	int rank = v->spatial + 2;
	int64_t fx, fw, fy, fb = 0, ny = product(v->y, rank);
	PmTensor x = fetch(d, &args[1], c->dtype, product(v->x, rank), &fx),
		 w = fetch(d, &args[2], c->dtype, product(v->w, rank), &fw),
		 y = fetch(d, &args[0], c->dtype, ny, &fy), bias = { .data = NULL };

	assert_true(fx == 0 && fw == 0 && fy == 0);
	if (v->has_bias)
		bias = fetch(d, &args[3], c->dtype, v->y[1], &fb);
	for (int64_t i = 0; i < ny; i++) {
		int64_t at[5], rest = i;

		for (int k = rank - 1; k >= 0; k--) {
			at[k] = rest % v->y[k];
			rest /= v->y[k];
		}
		pm_tensor_set(&y, i,
			      (v->transposed ? transposed_one : conv_one)(v, &x, &w, at) +
				      (v->has_bias ? pm_tensor_get(&bias, fb + at[1]) : 0));
	}
	assert_int_equal(d->ops->upload(d, args[0].buf, 0, y.data, (int64_t)y.bytes, NULL), PM_OK);
	pm_tensor_release(&x);
	pm_tensor_release(&w);
	pm_tensor_release(&y);
	pm_tensor_release(&bias);
}

static PmStatus run(PmDevice *d, PmLib l, const PmDevArg *args, int n, PmErr *err)
{
	const PmLibCall *c = &lib.call[l.id - 1];

	(void)err;
	assert_true(n >= 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(args[i].kind, PM_DARG_BUF);
		assert_true(c->align[i] >= 1 && args[i].offset % c->align[i] == 0);
	}
	(c->kind == PM_LIB_GEMM ? gemm : conv)(d, c, args);
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
	if (pm_inputs_make(g, 5, PM_INPUTS_NORMAL, in, &err) || pm_plan_new(g, NULL, 0, &plan, &err) ||
	    pm_exec_new(plan, d, &x, &err) ||
	    pm_exec_run(x, in, pm_graph_n_inputs(g), 0x7fc00000, got, pm_graph_n_outputs(g), &err) ||
	    pm_ref_run(g, in, pm_graph_n_inputs(g), want, pm_graph_n_outputs(g), &err) ||
	    pm_agree(g, in, got, want, pm_graph_n_outputs(g), 1, &a, &err))
		fail_msg("%s: %s", text, err.text);
	if (!a.agrees)
		fail_msg("%s: element %lld is %.9g, expected %.9g", text, (long long)a.c.worst.index,
			 a.c.worst.got, a.c.worst.expected);
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

static PmGraph *parse(const char *text)
{
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &g, &err))
		fail_msg("%s: %s", text, err.text);
	return g;
}

static void agrees(const char *text, int calls)
{
	PmGraph *g = parse(text);

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
	PmGraph *g = parse(text);
	PmCandidate cand;
	PmLibGemm a, b;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	graph_agrees(g, text, 1);
	a = lib.call[0].gemm;
	if (pm_referee_rewrite(built("passes/add_layer_norm.so"), NULL, g, 10, &cand, &err))
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
		{ "5,6,7", "7,6,3", "5,3", "iab,bak->ik", 0 }, /* sums that lie in another order */
		{ "5,7", "3", "5,7,3", "ij,k->ijk", 0 },       /* nothing is summed */
		{ "5,7", "7,3", "5,3", "ij,lk->ik", 0 },       /* sums of one operand alone */
		{ "2,5,7", "2,7,3", "5,2,3", "bij,bjk->ibk", 0 },
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_described),
		cmocka_unit_test(gemms_are_described),
		cmocka_unit_test(convolutions_are_described),
		cmocka_unit_test(transposed_convolutions_are_described),
		cmocka_unit_test(einsums_are_described),
		cmocka_unit_test(a_rewritten_graph_makes_the_same_calls),
		cmocka_unit_test(a_library_that_declines_leaves_it_to_our_kernel),
		cmocka_unit_test(a_sequence_is_the_same_as_its_steps),
	};

	return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
