/* SPDX-License-Identifier: Apache-2.0 */
/* inputs_scatter.c - indices of which none is there twice, for scatters that do not say what happens then. */
#include "bench/inputs/inputs_priv.h"

#include "base/core/arena.h"

#include <string.h>

/* The scatter without a reduction that takes an input as its indices, through views that keep the order of
 * the elements; {0} when there is none. Where two of its indices are equal, which update stays is not
 * defined. */
static PmNode scatter_of(const PmGraph *g, PmValue v, int depth)
{
	PmNode none = { 0 };

	for (PmUse u = pm_value_first_use(g, v); u.slot && depth < 8; u = pm_use_next(g, u)) {
		PmOp op = pm_node_op(g, u.node);
		const char *how = pm_node_s(g, u.node, "reduction", "none");
		PmNode behind;

		if ((op == PM_OP_ScatterND || op == PM_OP_ScatterElements) && u.operand == 1 &&
		    !strcmp(how, "none"))
			return u.node;
		if (u.operand || (op != PM_OP_Reshape && op != PM_OP_Unsqueeze && op != PM_OP_Squeeze &&
				  op != PM_OP_Cast && op != PM_OP_Identity))
			continue;
		behind = scatter_of(g, pm_node_out(g, u.node, 0), depth + 1);
		if (behind.id)
			return behind;
	}
	return none;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* A walk through 0 .. n-1 that meets every number once: first, first + step, ... modulo n. */
typedef struct Walk {
	int64_t n, at, step;
} Walk;

static Walk walk_begin(PmRng *r, int64_t n)
{
	Walk w = { n, pm_rng_range(r, 0, n - 1), pm_rng_range(r, 1, n > 1 ? n - 1 : 1) };

	while (common_divisor(w.step, n) != 1)
		w.step = w.step % n + 1;
	return w;
}

static int64_t walk_next(Walk *w)
{
	int64_t was = w->at;

	w->at = (w->at + w->step) % w->n;
	return was;
}

/* Tuples of indices, all different while there are enough of them. */
static void fill_tuples(PmRng *r, const PmType *data, int64_t width, PmTensor *t)
{
	int64_t n = pm_tensor_numel(t), places = 1;
	Walk w;

	for (int64_t k = 0; k < width; k++)
		if (!pm_mul_i64(places, data->dim[k], &places))
			return;
	w = walk_begin(r, places);
	for (int64_t i = 0; i + width <= n; i += width) {
		int64_t place = walk_next(&w);

		for (int64_t k = width; k-- > 0; place /= data->dim[k])
			pm_tensor_set_i(t, i + k, place % data->dim[k]);
	}
}

/* Indices along an axis, all different in each line along it while there are enough of them. */
static void fill_lines(PmRng *r, const PmType *data, const PmType *index, int axis, PmTensor *t)
{
	int64_t n = pm_tensor_numel(t), len = index->dim[axis], inner = 1;

	for (int k = axis + 1; k < index->rank; k++)
		inner *= index->dim[k];
	for (int64_t line = 0; len > 0 && line < n / len; line++) {
		int64_t first = line / inner * inner * len + line % inner;
		Walk w = walk_begin(r, data->dim[axis]);

		for (int64_t i = 0; i < len; i++)
			pm_tensor_set_i(t, first + i * inner, walk_next(&w));
	}
}

static void fill_scatter(const PmGraph *g, PmNode n, PmRng *r, PmTensor *t)
{
	const PmType *data = pm_value_type(g, pm_node_in(g, n, 0));
	const PmType *index = pm_value_type(g, pm_node_in(g, n, 1));
	int64_t axis = pm_node_i(g, n, "axis", 0);

	axis += axis < 0 ? data->rank : 0;
	for (int k = 0; k < data->rank; k++)
		if (data->dim[k] <= 0)
			return;
	if (pm_node_op(g, n) == PM_OP_ScatterElements && axis < index->rank)
		fill_lines(r, data, index, (int)axis, t);
	else if (pm_node_op(g, n) == PM_OP_ScatterND && index->rank > 0 &&
		 index->dim[index->rank - 1] <= data->rank)
		fill_tuples(r, data, index->dim[index->rank - 1], t);
}

int pm__is_scattered(const PmGraph *g, PmValue v)
{
	return scatter_of(g, v, 0).id != 0;
}

void pm__scatter_indices(const PmGraph *g, PmValue v, PmRng *r, PmTensor *t)
{
	PmNode n = scatter_of(g, v, 0);

	if (n.id)
		fill_scatter(g, n, r, t);
}
