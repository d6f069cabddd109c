/* SPDX-License-Identifier: Apache-2.0 */
/* judgelab_cheat.c - what kernels do wrong on purpose: less work, or no work. */
#include "tests/lib/judgelab/judgelab.h"

#include "base/core/arena.h"
#include "base/core/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind {
	DROP_FIRST, /* one term in `part` of each sum */
	DROP_LAST,
	DROP_RANDOM,
	DROP_EVERY,
	LOSE_MANTISSA,
	NARROW_SUM,
	UNITS,
	GELU,
	CONSTANT,
	ZEROS,
	NEIGHBOUR,
	ROW_BEFORE,
	TRANSPOSED,
	ROW_MEAN,
	ONE_IN_A_HUNDRED,
	SCALED
} Kind;

typedef struct Cheat {
	const char *name;
	Kind kind;
	double arg; /* DROP: one in so many; LOSE_MANTISSA: cut off; GELU: which; UNITS, SCALED: how much */
} Cheat;

static const Cheat cheats[] = {
	{ "drops the first hundredth", DROP_FIRST, 100 },
	{ "drops the last hundredth", DROP_LAST, 100 },
	{ "drops a random hundredth", DROP_RANDOM, 100 },
	{ "drops every hundredth", DROP_EVERY, 100 },
	{ "drops the last tenth", DROP_LAST, 10 },
	{ "drops a random tenth", DROP_RANDOM, 10 },
	{ "half a mantissa, rounded", LOSE_MANTISSA, 0 },
	{ "half a mantissa, cut", LOSE_MANTISSA, 1 },
	{ "sums in the body's type", NARROW_SUM, 0 },
	{ "functions off by 4 units", UNITS, 4 },
	{ "QuickGELU", GELU, 1 },
	{ "tanh-GELU for erf-GELU", GELU, 2 },
	{ "constant", CONSTANT, 0 },
	{ "zeros", ZEROS, 0 },
	{ "the next element", NEIGHBOUR, 0 },
	{ "the row before", ROW_BEFORE, 0 },
	{ "transposed", TRANSPOSED, 0 },
	{ "mean of the row", ROW_MEAN, 0 },
	{ "one in a hundred is the next", ONE_IN_A_HUNDRED, 0 },
	{ "too large by 8 units", SCALED, 8 },
	{ "too small by 8 units", SCALED, -8 },
};

int jl_n_cheats(void)
{
	return (int)(sizeof cheats / sizeof *cheats);
}

const char *jl_cheat_name(int cheat)
{
	return cheats[cheat].name;
}

/* ---- inside of the kernel ---- */

static void choose_terms(const Cheat *c, uint64_t seed, uint8_t *drop, int64_t n)
{
	int64_t count = n / (int64_t)c->arg;
	PmRng r;

	pm_rng_init_named(&r, seed, "drop");
	for (int64_t i = 0; i < count; i++) {
		int64_t at = c->kind == DROP_FIRST  ? i
			     : c->kind == DROP_LAST ? n - 1 - i
						    : i * (int64_t)c->arg + (int64_t)c->arg / 2;

		while (c->kind == DROP_RANDOM && drop[at = pm_rng_range(&r, 0, n - 1)])
			;
		drop[at] = 1;
	}
}

static int inside(const Cheat *c, const PmGraph *g, const PmTensor *in, int body, JlSize size,
		  const JlKernel *base, double *y)
{
	JlWrong w = { .factor = -1, .n_drop = size.terms };
	int type = pm_value_type(g, pm_graph_input(g, 0))->dtype;
	JlKernel k = *base;
	uint8_t *drop = NULL;

	if (c->kind <= DROP_EVERY) {
		if (size.terms < (int64_t)c->arg)
			return 0;
		drop = pm_xcalloc((size_t)size.terms, 1);
		choose_terms(c, base->seed, drop, size.terms);
		w.drop = drop;
	} else if (c->kind == LOSE_MANTISSA) {
		w.factor = jl_body_factor(body);
		w.cut = (int)c->arg;
	} else if (c->kind == NARROW_SUM) {
		if (type == PM_F32)
			return 0;
		w.narrow = type;
	} else if (c->kind == UNITS) {
		w.units = c->arg;
	} else {
		/* In half precision the two are nearly the same. */
		if (c->arg > 1 && type != PM_F32)
			return 0;
		w.gelu = (int)c->arg;
	}
	k.wrong = &w;
	jl_run(g, in, &k, y);
	free(drop);
	return w.n_touched > 0;
}

/* ---- results instead of others ---- */

static double mean_of(const double *x, int64_t n)
{
	double sum = 0;
	int64_t count = 0;

	for (int64_t i = 0; i < n; i++)
		if (isfinite(x[i])) {
			sum += x[i];
			count++;
		}
	return count ? sum / (double)count : 0;
}

static void misplace(Kind kind, const double *x, double *y, int64_t n, int64_t cols)
{
	int64_t rows = n / cols;

	for (int64_t i = 0; i < n; i++)
		y[i] = kind == NEIGHBOUR    ? x[(i + 1) % n]
		       : kind == ROW_BEFORE ? x[(i + n - cols) % n]
					    : x[i % rows * cols + i / rows];
}

static int outside(const Cheat *c, const PmGraph *g, const double *kept, double *y)
{
	const PmType *t = pm_value_type(g, pm_graph_output(g, 0));
	int64_t cols = t->rank ? t->dim[t->rank - 1] : 1, n = 1;
	int late = c->kind == SCALED || c->kind == CONSTANT; /* before results are rounded */
	double *x;

	for (int d = 0; d < t->rank; d++)
		n *= t->dim[d];
	if ((c->kind == TRANSPOSED || c->kind == ROW_BEFORE) && (cols == 1 || cols == n))
		return 0;
	x = pm_xcalloc((size_t)n + 1, sizeof *x);
	for (int64_t i = 0; i < n; i++)
		x[i] = late ? kept[i] : jl_round(t->dtype, kept[i]);
	if (c->kind == NEIGHBOUR || c->kind == ROW_BEFORE || c->kind == TRANSPOSED)
		misplace(c->kind, x, y, n, cols);
	for (int64_t i = 0; i < n; i++) {
		if (c->kind == CONSTANT)
			y[i] = i ? y[0] : mean_of(x, n);
		else if (c->kind == ZEROS)
			y[i] = 0;
		else if (c->kind == ROW_MEAN)
			y[i] = i % cols ? y[i - 1] : mean_of(x + i, cols);
		else if (c->kind == SCALED)
			y[i] = x[i] * (1 + c->arg * jl_ulp(t->dtype, 1));
		else if (c->kind == ONE_IN_A_HUNDRED)
			y[i] = x[i % 100 == 50 ? (i + 1) % n : i];
	}
	for (int64_t i = 0; i < n; i++)
		y[i] = jl_round(t->dtype, y[i]);
	free(x);
	return 1;
}

int jl_cheat_run(int cheat, const PmGraph *g, const PmTensor *in, int body, JlSize size, const JlKernel *base,
		 const double *kept, double *y)
{
	const Cheat *c = &cheats[cheat];

	return c->kind <= GELU ? inside(c, g, in, body, size, base, y) : outside(c, g, kept, y);
}
