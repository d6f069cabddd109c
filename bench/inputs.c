/* inputs.c - seeded input tensors by role. */
#include "bench/inputs.h"

#include "base/rng.h"
#include "ir/kernel.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *pm_input_role_name(PmInputRole role)
{
	static const char *const names[] = { "data",        "weight", "scale",         "variance",
					     "probability", "mask",   "inverted mask", "additive mask",
					     "index",       "count" };

	return names[role];
}

const char *pm_input_class_name(PmInputClass cls)
{
	static const char *const names[] = { "normal", "uniform", "wide", "ints", "sparse" };

	return cls < PM_N_INPUT_CLASSES ? names[cls] : "?";
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

/* Operators that take indices into operand 0 (as operand 1, RoiAlign as operand 2): sets *limit to the least
 * extent they index. */
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

/* Rules for one use; anything that only moves or converts elements is looked through. */
static void look_at_use(const PmGraph *g, PmUse u, int depth, Clues *c)
{
	PmOp op = pm_node_op(g, u.node);
	uint32_t flags = pm_op_desc(op)->flags;
	PmValue out = pm_node_out(g, u.node, 0);

	int64_t dim;

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

PmInputRole pm_input_role(const PmGraph *g, PmValue v, int64_t *limit)
{
	const char *name = pm_value_name(g, v);
	int dtype = pm_value_type(g, v)->dtype;
	Clues c = { 0 };

	look(g, v, 0, &c);
	*limit = c.index ? c.limit : 0;
	if (dtype == PM_BOOL)
		return PM_ROLE_MASK;
	if (!pm_dtype_is_float(dtype)) {
		if (c.index)
			return PM_ROLE_INDEX;
		if (c.inverted)
			return PM_ROLE_INVERTED;
		return says(name, "mask") || c.condition ? PM_ROLE_MASK : PM_ROLE_COUNT;
	}
	if (c.variance || says(name, "running_var"))
		return PM_ROLE_VARIANCE;
	if (c.scale)
		return PM_ROLE_SCALE;
	if (c.condition)
		return PM_ROLE_MASK;
	if (c.inverted)
		return PM_ROLE_INVERTED;
	if (says(name, "mask"))
		return c.softmax_bias ? PM_ROLE_BIAS_MASK : PM_ROLE_MASK;
	if (says(name, "prob"))
		return PM_ROLE_PROB;
	return c.weight || says(name, "weight") ? PM_ROLE_WEIGHT : PM_ROLE_DATA;
}

static double draw_class(PmRng *r, PmInputClass cls, double row)
{
	switch (cls) {
	case PM_INPUTS_UNIFORM:
		return 2 * pm_rng_uniform(r) - 1;
	case PM_INPUTS_WIDE:
		return pm_rng_normal(r) * row;
	case PM_INPUTS_INTS:
		return (double)pm_rng_range(r, -1, 1);
	case PM_INPUTS_SPARSE:
		return pm_rng_range(r, 0, 9) ? 0 : pm_rng_normal(r);
	default:
		return pm_rng_normal(r);
	}
}

/* Elements that one result of a contraction sums over, guessed from a weight's shape. */
static double fan_in(const PmType *t)
{
	double n = 1;

	if (t->rank == 2)
		return (double)(t->dim[0] > t->dim[1] ? t->dim[0] : t->dim[1]);
	for (int d = 1; d < t->rank; d++)
		n *= (double)t->dim[d];
	return n < 1 ? 1 : n;
}

static double draw(PmRng *r, PmInputRole role, PmInputClass cls, const PmType *t, double row, int first)
{
	switch (role) {
	case PM_ROLE_WEIGHT:
		return draw_class(r, cls, row) / sqrt(fan_in(t));
	case PM_ROLE_SCALE:
		return 1 + 0.2 * pm_rng_normal(r);
	case PM_ROLE_VARIANCE:
		return 0.25 + 1.5 * pm_rng_uniform(r);
	case PM_ROLE_PROB:
		return 0.01 + 0.98 * pm_rng_uniform(r);
	case PM_ROLE_MASK:
		return first || pm_rng_range(r, 0, 3) ? 1 : 0;
	case PM_ROLE_INVERTED:
		return first || pm_rng_range(r, 0, 3) ? 0 : 1;
	case PM_ROLE_BIAS_MASK:
		return first || pm_rng_range(r, 0, 3) ? 0 : -1e4;
	default:
		return draw_class(r, cls, row);
	}
}

static void fill(PmRng *r, PmInputRole role, PmInputClass cls, int64_t limit, PmTensor *t)
{
	int64_t n = pm_tensor_numel(t), last = t->type.rank ? t->type.dim[t->type.rank - 1] : 1;
	double row = 1;

	for (int64_t i = 0; i < n; i++) {
		if (i % last == 0)
			row = exp2(8 * pm_rng_uniform(r) - 4);
		if (role == PM_ROLE_INDEX)
			pm_tensor_set_i(t, i, limit > 0 ? pm_rng_range(r, 0, limit - 1) : 0);
		else if (role == PM_ROLE_COUNT)
			pm_tensor_set_i(t, i, pm_rng_range(r, 0, 8));
		else
			pm_tensor_set(t, i, draw(r, role, cls, &t->type, row, i % last == 0));
	}
}

static PmStatus draw_inputs(const PmGraph *g, uint64_t seed, PmInputClass cls, PmTensor *out, PmErr *err)
{
	size_t n = pm_graph_n_inputs(g);

	memset(out, 0, n * sizeof *out);
	for (size_t i = 0; i < n; i++) {
		PmValue v = pm_graph_input(g, i);
		int64_t limit;
		PmInputRole role = pm_input_role(g, v, &limit);
		PmStatus st = pm_tensor_init(&out[i], pm_value_type(g, v), err);
		PmRng r;

		if (st) {
			pm_tensors_release(out, n);
			return pm_err_ctx(err, "input '%.120s'", pm_value_name(g, v));
		}
		pm_rng_init_named(&r, seed * PM_N_INPUT_CLASSES + (uint64_t)cls, pm_value_name(g, v));
		fill(&r, role, cls, limit, &out[i]);
	}
	return PM_OK;
}

static int has_kernel(const PmGraph *g)
{
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		if (pm_node_op(g, pm_graph_node_at(g, i)) == PM_OP_Kernel)
			return 1;
	return 0;
}

/* A rewritten graph gets the inputs of the original: what they are for stands in the kernels' bodies. */
PmStatus pm_inputs_make(const PmGraph *g, uint64_t seed, PmInputClass cls, PmTensor *out, PmErr *err)
{
	PmGraph *plain = NULL;
	PmStatus st;

	if (!has_kernel(g))
		return draw_inputs(g, seed, cls, out, err);
	memset(out, 0, pm_graph_n_inputs(g) * sizeof *out);
	st = pm_graph_clone(g, &plain, err);
	if (!st)
		st = pm_graph_inline_kernels(plain, err);
	if (!st)
		st = draw_inputs(plain, seed, cls, out, err);
	pm_graph_free(plain);
	return st;
}

void pm_tensors_release(PmTensor *t, size_t n)
{
	for (size_t i = 0; t && i < n; i++)
		pm_tensor_release(&t[i]);
}
