/* SPDX-License-Identifier: Apache-2.0 */
/* role.c - roles of inputs and constants, read off their uses. */
#include "ir/data/role.h"

#include <ctype.h>
#include <string.h>

const char *pm_input_role_name(PmInputRole role)
{
	static const char *const names[] = { "data",        "weight", "scale",         "variance",
					     "probability", "mask",   "inverted mask", "additive mask",
					     "index",       "count",  "bias",          "mean",
					     "table" };

	return role < PM_N_ROLES ? names[role] : "?";
}

/* Case-insensitive search of a word in a name. */
static int says(const char *name, const char *word)
{
	size_t n = strlen(word);

	for (; *name; name++) {
		size_t i = 0;

		while (i < n && tolower((unsigned char)name[i]) == word[i])
			i++;
		if (i == n)
			return 1;
	}
	return 0;
}

/* What is found out about an input while its uses are followed. */
typedef struct Clues {
	int index, variance, scale, weight, softmax_bias, condition, inverted;
	int dot, bias, mean, table, factor; /* told apart for weights only */
	int64_t limit;
} Clues;

enum { MAX_DEPTH = 12 };

static void look(const PmGraph *g, PmValue v, int depth, Clues *c);

/* "x * -3.4e38": an inverted attention mask on its way to a softmax. */
static int times_minus_huge(const PmGraph *g, PmUse u)
{
	double f;
	size_t n;

	return !pm_value_const_floats(g, pm_node_in(g, u.node, 1 - u.operand), &f, 1, &n) && n == 1 &&
	       f <= -1e3;
}

/* "1 - x": exporters write attention masks so. */
static int one_minus(const PmGraph *g, PmUse u)
{
	double one;
	size_t n;

	return pm_node_op(g, u.node) == PM_OP_Sub && u.operand == 1 &&
	       !pm_value_const_floats(g, pm_node_in(g, u.node, 0), &one, 1, &n) && n == 1 && one == 1;
}

/* Operators whose operand 1 holds indices into operand 0: sets *limit to the least extent they index. */
static int is_index_use(const PmGraph *g, PmUse u, int64_t *limit)
{
	PmOp op = pm_node_op(g, u.node);
	const PmType *t = pm_value_type(g, pm_node_in(g, u.node, 0));
	const PmType *it = pm_value_type(g, pm_node_in(g, u.node, 1));
	int64_t first = pm_node_i(g, u.node, "batch_dims", 0), end;

	if (op == PM_OP_RoiAlign && u.operand == 2) { /* which image a region is of */
		*limit = t->rank > 0 ? t->dim[0] : 1;
		return 1;
	}
	if (u.operand != 1)
		return 0;
	if (op == PM_OP_Gather || op == PM_OP_GatherElements || op == PM_OP_ScatterElements) {
		first = pm_node_i(g, u.node, "axis", 0);
		end = first + 1;
	} else if (op == PM_OP_GatherND || op == PM_OP_ScatterND) {
		end = first + (it->rank > 0 ? it->dim[it->rank - 1] : 0);
	} else {
		return 0;
	}
	*limit = first < t->rank ? t->dim[first] : 1;
	for (; first < end && first < t->rank; first++)
		*limit = t->dim[first] < *limit ? t->dim[first] : *limit;
	return 1;
}

/* What only a constant is asked. */
static void look_at_weight_use(const PmGraph *g, PmUse u, Clues *c)
{
	PmOp op = pm_node_op(g, u.node);
	uint32_t flags = pm_op_desc(op)->flags;
	int affine = op == PM_OP_BatchNormalization || op == PM_OP_LayerNormalization ||
		     op == PM_OP_InstanceNormalization || op == PM_OP_GroupNormalization;

	c->bias |= ((affine || (flags & PM_OPF_DOT)) && u.operand == 2) || op == PM_OP_Add || op == PM_OP_Sub;
	c->mean |= op == PM_OP_BatchNormalization && u.operand == 3;
	c->table |= (op == PM_OP_Gather || op == PM_OP_GatherElements || op == PM_OP_GatherND) &&
		    u.operand == 0;
	c->factor |= (affine && u.operand == 1) || op == PM_OP_Mul;
	c->dot |= (flags & PM_OPF_DOT) && u.operand < 2;
}

/* Rules for one use; anything that only moves or converts elements is looked through. */
static void look_at_use(const PmGraph *g, PmUse u, int depth, Clues *c)
{
	PmOp op = pm_node_op(g, u.node);
	uint32_t flags = pm_op_desc(op)->flags;
	PmValue out = pm_node_out(g, u.node, 0);

	int64_t dim;

	look_at_weight_use(g, u, c);
	if (is_index_use(g, u, &dim)) {
		c->limit = !c->index || dim < c->limit ? dim : c->limit;
		c->index = 1;
	} else if ((op == PM_OP_BatchNormalization && u.operand == 4) || op == PM_OP_Sqrt ||
		   op == PM_OP_Log || op == PM_OP_Reciprocal || (op == PM_OP_Div && u.operand == 1) ||
		   (op == PM_OP_QuantizeLinear && u.operand == 1)) {
		c->variance = 1;
	} else if (((op == PM_OP_BatchNormalization || op == PM_OP_LayerNormalization) && u.operand == 1)) {
		c->scale = 1;
	} else if ((flags & PM_OPF_DOT) && u.operand == 1) {
		c->weight = 1;
	} else if ((op == PM_OP_Where && u.operand == 0) || one_minus(g, u)) {
		c->condition = 1;
	} else if (op == PM_OP_Add && pm_value_n_uses(g, out) == 1 &&
		   pm_node_op(g, pm_value_first_use(g, out).node) == PM_OP_Softmax) {
		c->softmax_bias = 1;
	} else if ((flags & (PM_OPF_VIEW | PM_OPF_MOVE)) || op == PM_OP_Cast || op == PM_OP_MaxPool) {
		for (size_t k = 0; k < pm_node_n_out(g, u.node); k++)
			look(g, pm_node_out(g, u.node, k), depth + 1, c);
	} else if (op == PM_OP_Mul && times_minus_huge(g, u)) {
		c->inverted = 1;
	} else if (op == PM_OP_Mul) {
		/* A mask spread by multiplying with ones is still a mask; nothing else is said by a product.
		 */
		Clues behind = { 0 };

		look(g, out, depth + 4, &behind);
		c->condition |= behind.condition;
		c->inverted |= behind.inverted;
	}
}

static void look(const PmGraph *g, PmValue v, int depth, Clues *c)
{
	if (depth > MAX_DEPTH)
		return;
	for (PmUse u = pm_value_first_use(g, v); u.slot; u = pm_use_next(g, u))
		look_at_use(g, u, depth, c);
}

static PmInputRole role_of(const PmGraph *g, PmValue v, int is_weight, int64_t *limit, Clues *c)
{
	const char *name = pm_value_name(g, v);
	int dtype = pm_value_type(g, v)->dtype;

	look(g, v, 0, c);
	*limit = c->index ? c->limit : 0;
	if (dtype == PM_BOOL)
		return PM_ROLE_MASK;
	if (!pm_dtype_is_float(dtype)) {
		if (c->index)
			return PM_ROLE_INDEX;
		if (c->inverted)
			return PM_ROLE_INVERTED;
		return says(name, "mask") || c->condition ? PM_ROLE_MASK : PM_ROLE_COUNT;
	}
	if (c->variance || says(name, "running_var"))
		return PM_ROLE_VARIANCE;
	if (c->scale)
		return PM_ROLE_SCALE;
	if (c->condition)
		return PM_ROLE_MASK;
	if (c->inverted)
		return PM_ROLE_INVERTED;
	if (says(name, "mask") && (!is_weight || c->softmax_bias)) /* a "mask_head" has weights like any */
		return c->softmax_bias ? PM_ROLE_BIAS_MASK : PM_ROLE_MASK;
	if (says(name, "prob") && !is_weight)
		return PM_ROLE_PROB;
	return c->weight || says(name, "weight") ? PM_ROLE_WEIGHT : PM_ROLE_DATA;
}

PmInputRole pm_input_role(const PmGraph *g, PmValue v, int64_t *limit)
{
	Clues c = { 0 };

	return role_of(g, v, 0, limit, &c);
}

PmInputRole pm_weight_role(const PmGraph *g, PmValue v, int64_t *limit)
{
	Clues c = { 0 };
	PmInputRole role = role_of(g, v, 1, limit, &c);

	if (role != PM_ROLE_DATA && role != PM_ROLE_WEIGHT)
		return role;
	if (c.dot)
		return PM_ROLE_WEIGHT;
	if (c.table)
		return PM_ROLE_TABLE;
	if (c.mean)
		return PM_ROLE_MEAN;
	if (c.bias)
		return PM_ROLE_BIAS;
	return c.factor ? PM_ROLE_SCALE : role;
}

int pm_input_is_parameter(const PmGraph *g, PmValue v)
{
	static const char *const ends[] = { "weight", "bias", "embedding", "token", "gamma", "beta" };
	const char *name = pm_value_name(g, v);
	size_t n = strlen(name);
	int64_t limit;
	PmInputRole role;

	if (!pm_dtype_is_float(pm_value_type(g, v)->dtype))
		return 0;
	if (strchr(name, '.'))
		return 1;
	for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
		if (n >= strlen(ends[k]) && !strcmp(name + n - strlen(ends[k]), ends[k]))
			return 1;
	role = pm_input_role(g, v, &limit);
	return role == PM_ROLE_WEIGHT || role == PM_ROLE_SCALE;
}

double pm_fan_in(const PmType *t)
{
	double n = 1;

	if (t->rank == 2)
		return (double)(t->dim[0] > t->dim[1] ? t->dim[0] : t->dim[1]);
	for (int d = 1; d < t->rank; d++)
		n *= (double)t->dim[d];
	return n < 1 ? 1 : n;
}
