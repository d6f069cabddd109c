/* SPDX-License-Identifier: Apache-2.0 */
/* judgelab_run.c - runs a body as a simulated kernel: values, roundings, sums. */
#include "tests/lib/judgelab/judgelab_priv.h"

#include "base/core/arena.h"
#include "base/core/half.h"
#include "base/core/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nearest number whose significand has so many bits behind the first; of two, the even one. */
static double keep_bits(double x, int kept)
{
	int rest = 52 - kept;
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	bits += (bits >> rest & 1) + (1ull << (rest - 1)) - 1;
	bits &= ~((1ull << rest) - 1);
	memcpy(&x, &bits, sizeof x);
	return x;
}

double jl_round(int dtype, double x)
{
	double size = fabs(x);

	switch (dtype) {
	case PM_F32:
		return (double)(float)x;
	case PM_F16:
		return size >= 0x1p-14 && size < 0x1p15 ? keep_bits(x, 10)
							: pm_f16_to_f64(pm_f16_from_f64(x));
	case PM_BF16:
		return size >= 0x1p-126 && size < 0x1p126 ? keep_bits(x, 7)
							  : pm_bf16_to_f64(pm_bf16_from_f64(x));
	default:
		return x;
	}
}

double jl_ulp(int dtype, double x)
{
	int e, bits = dtype == PM_F32 ? 24 : dtype == PM_F16 ? 11 : 8;
	int least = dtype == PM_F32 ? -149 : dtype == PM_F16 ? -24 : -133;

	if (!isfinite(x))
		return 0;
	frexp(x, &e);
	return ldexp(1, x == 0 || e - bits < least ? least : e - bits);
}

JlKernel jl_eager(void)
{
	return (JlKernel){ .rounded = 1 };
}

JlKernel jl_exact(void)
{
	return (JlKernel){ .exact = 1 };
}

JlKernel jl_honest(uint64_t seed)
{
	JlKernel k = { .seed = seed };
	PmRng r;

	pm_rng_init_named(&r, seed, "honest");
	switch (pm_rng_range(&r, 0, 4)) {
	case 0:
		k.rounded = 1;
		break;
	case 1:
		break;
	default:
		k.rounded = pm_rng_uniform(&r);
	}
	k.order = (JlOrder)pm_rng_range(&r, 0, JL_N_ORDERS - 1);
	k.fma = (int)pm_rng_range(&r, 0, 1);
	k.exp2 = (int)pm_rng_range(&r, 0, 1);
	k.reciprocal = (int)pm_rng_range(&r, 0, 1);
	k.online = (int)pm_rng_range(&r, 0, 1);
	k.slack = pm_rng_range(&r, 0, 1) ? 1.5 : 0;
	return k;
}

double jl__float(const JlKernel *k, double x)
{
	return k->exact ? x : (double)(float)x;
}

const uint8_t *jl__dropped(const JlKernel *k, int64_t n)
{
	if (!k->wrong || !k->wrong->drop || k->wrong->n_drop != n)
		return NULL;
	k->wrong->n_touched++;
	return k->wrong->drop;
}

/* ---- a run ---- */

static void shape(JlVal *x, const PmType *t)
{
	x->rank = t->rank;
	x->dtype = t->dtype;
	x->n = 1;
	for (int d = 0; d < t->rank; d++)
		x->n *= x->dim[d] = t->dim[d];
	x->v = pm_xcalloc((size_t)x->n + 1, sizeof *x->v);
}

static void load(JlVal *x, const PmTensor *t)
{
	const float *single = t->data;
	int dtype = t->type.dtype, is_float = pm_dtype_is_float(dtype);

	shape(x, &t->type);
	if (dtype == PM_F32)
		for (int64_t i = 0; i < x->n; i++)
			x->v[i] = (double)single[i];
	else
		for (int64_t i = 0; i < x->n; i++)
			x->v[i] = is_float ? pm_tensor_get(t, i) : (double)pm_tensor_get_i(t, i);
}

static void lose_mantissa(JlVal *x, int cut, JlWrong *w)
{
	int bits = x->dtype == PM_F32 ? 12 : x->dtype == PM_F16 ? 5 : 4;

	for (int64_t i = 0; i < x->n; i++) {
		int e;
		double m = frexp(x->v[i], &e), scaled = ldexp(m, bits);
		double y = ldexp(cut ? trunc(scaled) : rint(scaled), e - bits);

		w->n_touched += y != x->v[i];
		if (isfinite(x->v[i]))
			x->v[i] = y;
	}
}

static int is_output(const PmGraph *g, PmValue v)
{
	return pm_graph_output(g, 0).id == v.id;
}

/* Does this kernel round value v? */
static int rounds(const PmGraph *g, const JlKernel *k, PmValue v)
{
	PmRng r;

	if (k->exact)
		return 0;
	if (is_output(g, v))
		return !k->keep;
	if (k->rounded >= 1 || k->rounded <= 0)
		return k->rounded >= 1;
	pm_rng_init(&r, k->seed * 1000003 + v.id);
	return pm_rng_uniform(&r) < k->rounded;
}

static void constant(const PmGraph *g, PmValue v, JlVal *x)
{
	PmTensor t;
	PmErr err;

	pm_err_init(&err);
	if (pm_tensor_from_const(&t, g, v, &err)) {
		fprintf(stderr, "judgelab: %s\n", err.text);
		exit(2);
	}
	load(x, &t);
	pm_tensor_release(&t);
}

static void step(const PmGraph *g, PmNode n, const JlKernel *k, JlVal *val)
{
	PmValue out = pm_node_out(g, n, 0);
	JlNode c = { .g = g, .n = n, .k = k, .out = &val[out.id] };

	shape(c.out, pm_value_type(g, out));
	for (size_t i = 0; i < pm_node_n_in(g, n) && i < 8; i++) {
		PmValue v = pm_node_in(g, n, i);

		if (v.id && !val[v.id].v)
			constant(g, v, &val[v.id]);
		c.in[i] = &val[v.id];
	}
	jl__node(&c);
	if (rounds(g, k, out))
		for (int64_t i = 0; i < c.out->n; i++)
			c.out->v[i] = jl_round(c.out->dtype, c.out->v[i]);
}

void jl_run(const PmGraph *g, const PmTensor *in, const JlKernel *k, double *y)
{
	size_t limit = pm_graph_value_limit(g) + 1;
	JlVal *val = pm_xcalloc(limit, sizeof *val), *out;

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		JlVal *x = &val[pm_graph_input(g, i).id];

		load(x, &in[i]);
		if (k->wrong && k->wrong->factor == (int)i)
			lose_mantissa(x, k->wrong->cut, k->wrong);
	}
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		step(g, pm_graph_node_at(g, i), k, val);
	out = &val[pm_graph_output(g, 0).id];
	memcpy(y, out->v, (size_t)out->n * sizeof *y);
	for (size_t v = 0; v < limit; v++)
		free(val[v].v);
	free(val);
}
