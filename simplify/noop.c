/* SPDX-License-Identifier: Apache-2.0 */
/* noop.c - nodes that give back their operand. */
#include "simplify/simplify_priv.h"

#include <string.h>

/* Whether result 0 is operand 0, element by element; types are equal already. */
typedef int (*KeepsFn)(const PmGraph *g, PmNode n);

static PmStatus remove_where(PmGraph *g, const PmOp *ops, size_t n_ops, KeepsFn keeps, size_t *changes)
{
	uint32_t id, limit = pm_graph_node_limit(g);
	size_t k;

	for (id = 1; id < limit; id++) {
		PmNode n = { id };
		PmOp op = pm_node_op(g, n);
		PmValue x = pm_node_in(g, n, 0);

		for (k = 0; k < n_ops && ops[k] != op; k++)
			;
		if (k == n_ops || !x.id || pm_node_n_out(g, n) != 1 ||
		    !pm_type_equal(pm_value_type(g, x), pm_value_type(g, pm_node_out(g, n, 0))))
			continue;
		if (keeps(g, n))
			*changes += (size_t)pm__simplify_replace(g, n, x);
	}
	return PM_OK;
}

#define REMOVE(keeps, ...)                                                                                   \
	static const PmOp ops[] = { __VA_ARGS__ };                                                           \
	(void)err;                                                                                           \
	return remove_where(g, ops, sizeof ops / sizeof *ops, keeps, changes)

static int always(const PmGraph *g, PmNode n)
{
	(void)g, (void)n;
	return 1;
}

PmStatus pm__simplify_identity(PmGraph *g, size_t *changes, PmErr *err)
{
	REMOVE(always, PM_OP_Identity);
}

/* On the reference device a Cast rounds what was computed in double precision: it goes only where that is
 * done. */
static int rounds_nothing(const PmGraph *g, PmNode n)
{
	PmValue x = pm_node_in(g, n, 0);
	int dtype = pm_value_type(g, x)->dtype;

	return !pm_dtype_is_float(dtype) || dtype == PM_F64 || pm_value_is_input(g, x) ||
	       pm_value_is_const(g, x) || pm_node_op(g, pm_value_def(g, x, NULL)) == PM_OP_Cast;
}

PmStatus pm__simplify_noop_cast(PmGraph *g, size_t *changes, PmErr *err)
{
	REMOVE(rounds_nothing, PM_OP_Cast);
}

static int keeps_axes(const PmGraph *g, PmNode n)
{
	const int64_t *perm;
	size_t i, count = pm_node_ints(g, n, "perm", &perm);

	for (i = 0; i < count && perm[i] == (int64_t)i; i++)
		;
	return i == count;
}

PmStatus pm__simplify_noop_transpose(PmGraph *g, size_t *changes, PmErr *err)
{
	REMOVE(keeps_axes, PM_OP_Transpose);
}

/* They move nothing, or repeat: with the shape unchanged, every element is where it was. */
PmStatus pm__simplify_noop_reshape(PmGraph *g, size_t *changes, PmErr *err)
{
	REMOVE(always, PM_OP_Reshape, PM_OP_Flatten, PM_OP_Squeeze, PM_OP_Unsqueeze, PM_OP_Expand,
	       PM_OP_Tile);
}

static int all_are(const PmGraph *g, PmNode n, const char *attr, int64_t want)
{
	const int64_t *v;
	size_t i, count = pm_node_ints(g, n, attr, &v);

	for (i = 0; i < count && v[i] == want; i++)
		;
	return i == count;
}

static int keeps_elements(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);

	if (op == PM_OP_Slice) /* all of an axis, forwards */
		return all_are(g, n, "steps", 1);
	if (op == PM_OP_Pad) /* not as much taken away in front as added at the end */
		return all_are(g, n, "pads", 0);
	return op == PM_OP_Split || pm_node_n_in(g, n) == 1; /* into one part, of one part */
}

PmStatus pm__simplify_noop_slice(PmGraph *g, size_t *changes, PmErr *err)
{
	REMOVE(keeps_elements, PM_OP_Slice, PM_OP_Split, PM_OP_Pad, PM_OP_Concat);
}

/* Operand 1 is a constant of small size whose elements are all `want`. */
static int is_const_of(const PmGraph *g, PmNode n, double want)
{
	enum { MAX = 4096 };
	double v[MAX];
	size_t i, count;

	if (pm_value_const_floats(g, pm_node_in(g, n, 1), v, MAX, &count) != PM_OK)
		return 0;
	/* x - (-0.0) would turn -0.0 into 0.0. */
	for (i = 0; i < count && memcmp(&v[i], &want, sizeof want) == 0; i++)
		;
	return i == count;
}

static int keeps_numbers(const PmGraph *g, PmNode n)
{
	return is_const_of(g, n, pm_node_op(g, n) == PM_OP_Sub ? 0.0 : 1.0);
}

PmStatus pm__simplify_noop_arithmetic(PmGraph *g, size_t *changes, PmErr *err)
{
	REMOVE(keeps_numbers, PM_OP_Mul, PM_OP_Div, PM_OP_Sub);
}

/* What has been done once is done. */
static int is_done(const PmGraph *g, PmNode n)
{
	PmNode def = pm_value_def(g, pm_node_in(g, n, 0), NULL);

	return def.id && pm_node_op(g, def) == pm_node_op(g, n);
}

PmStatus pm__simplify_repeated(PmGraph *g, size_t *changes, PmErr *err)
{
	REMOVE(is_done, PM_OP_Relu, PM_OP_Abs, PM_OP_Ceil, PM_OP_Floor, PM_OP_Round, PM_OP_Sign);
}
