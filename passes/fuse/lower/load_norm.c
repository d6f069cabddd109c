/* SPDX-License-Identifier: Apache-2.0 */
/* load_norm.c - reductions, and the operators that are made of them: softmax and norms. */
#include "load.h"

static uint32_t bits(int first, int end)
{
	return ((1u << end) - 1) & ~((1u << first) - 1);
}

/* `red` of x over the axes; the extents stay as 1. */
static int reduce(Graph *c, int node, Red red, int x, uint32_t axes)
{
	int k = f_op(c, OP_REDUCE, x, node), d;
	Op *o = &c->op[k];

	o->in = f_alloc(c, sizeof *o->in);
	if (!o->in)
		return k;
	o->in[0] = x;
	o->n_in = 1;
	o->red = (uint8_t)red;
	o->axis = (int32_t)axes;
	for (d = 0; d < o->rank; d++)
		if (axes >> d & 1)
			o->dim[d] = 1;
	return k;
}

static int view(Graph *c, int node, Kind kind, int x, int like)
{
	int k = f_op(c, kind, like, node);

	c->op[k].dtype = c->op[x].dtype;
	c->op[k].in = f_alloc(c, sizeof *c->op[k].in);
	if (c->op[k].in)
		c->op[k].in[0] = x;
	c->op[k].n_in = 1;
	return k;
}

/* Makes `out` the same as x, which may have another shape of as many elements. */
static int is_now(Graph *c, int out, int x)
{
	Op *o = &c->op[out];

	o->kind = OP_RESHAPE;
	o->in = f_alloc(c, sizeof *o->in);
	o->n_in = 1;
	if (!o->in)
		return 0;
	o->in[0] = x;
	return !*c->fail && f_numel(o) == f_numel(&c->op[x]);
}

static int load_softmax(Graph *c, const Node *n, int out, int is_log)
{
	int64_t a = pm_attr_i(n->val, "axis", -1);
	int x = n->in[0], top, off, e, sum;
	uint32_t axes;

	a = a < 0 ? a + c->op[x].rank : a;
	axes = bits((int)a, (int)a + 1);
	top = reduce(c, -1, RED_MAX, x, axes);
	off = f_ew(c, -1, x, "a - b", x, top, -1);
	e = f_ew(c, -1, x, "exp(a)", off, -1, -1);
	sum = reduce(c, -1, RED_SUM, e, axes);
	if (is_log)
		return f_becomes(c, out, "a - b", off, f_ew(c, -1, sum, "log(a)", sum, -1, -1), -1);
	return f_becomes(c, out, "a * b", e, f_ew(c, -1, sum, "K(1) / a", sum, -1, -1), -1);
}

/* 1 / sqrt(x + eps) */
static int inverse(Graph *c, int x, double eps)
{
	int k = f_ew(c, -1, x, "rsqrt(a + p0)", x, -1, -1);

	c->op[k].num[0] = eps;
	c->op[k].n_num = 1;
	return k;
}

static int load_layer_norm(Graph *c, const Node *n, int out, int rms)
{
	int64_t a = pm_attr_i(n->val, "axis", -1);
	double eps = pm_attr_f(n->val, "epsilon", 1e-5);
	int x = n->in[0], off = x, inv, y;
	uint32_t axes;

	a = a < 0 ? a + c->op[x].rank : a;
	axes = bits((int)a, c->op[x].rank);
	if (!rms)
		off = f_ew(c, -1, x, "a - b", x, reduce(c, -1, RED_MEAN, x, axes), -1);
	inv = inverse(c, reduce(c, -1, RED_MEAN, f_ew(c, -1, x, "a * a", off, -1, -1), axes), eps);
	if (n->n_in < 3 || n->in[2] < 0)
		return f_becomes(c, out, "a * b * c", off, inv, n->in[1]);
	y = f_ew(c, -1, x, "a * b * c", off, inv, n->in[1]);
	return f_becomes(c, out, "a + b", y, n->in[2], -1);
}

/* A parameter of the channels, as large as `like`. */
static int spread(Graph *c, int parameter, int like)
{
	int k = view(c, -1, OP_SPREAD, parameter, like);

	c->op[k].axis = 1;
	return k;
}

static int load_batch_norm(Graph *c, const Node *n, int out)
{
	int x = n->in[0], k;

	if (c->op[x].rank < 2 || pm_attr_i(n->val, "training_mode", 0))
		return 0;
	k = f_ew(c, -1, n->in[4], "a * b", inverse(c, n->in[4], pm_attr_f(n->val, "epsilon", 1e-5)), n->in[1],
		 -1);
	k = f_ew(c, -1, out, "(a - b) * c", x, spread(c, n->in[3], x), spread(c, k, x));
	return f_becomes(c, out, "a + b", k, spread(c, n->in[2], x), -1);
}

static int load_group_norm(Graph *c, const Node *n, int out)
{
	int x = n->in[0], flat, off, inv, y;
	int64_t channels = c->op[x].rank > 1 ? c->op[x].dim[1] : 0,
		groups = pm_attr_i(n->val, "num_groups", channels);
	Op *o;

	if (groups < 1 || channels % groups || f_numel(&c->op[n->in[1]]) != channels)
		return 0;
	flat = view(c, -1, OP_RESHAPE, x, x);
	o = &c->op[flat];
	o->rank = 3;
	o->dim[0] = c->op[x].dim[0];
	o->dim[1] = groups;
	o->dim[2] = f_numel(&c->op[x]) / (o->dim[0] * groups);
	off = f_ew(c, -1, flat, "a - b", flat, reduce(c, -1, RED_MEAN, flat, 4), -1);
	inv = inverse(c, reduce(c, -1, RED_MEAN, f_ew(c, -1, flat, "a * a", off, -1, -1), 4),
		      pm_attr_f(n->val, "epsilon", 1e-5));
	y = view(c, -1, OP_RESHAPE, f_ew(c, -1, flat, "a * b", off, inv, -1), x);
	y = f_ew(c, -1, x, "a * b", y, spread(c, n->in[1], x), -1);
	return f_becomes(c, out, "a + b", y, spread(c, n->in[2], x), -1);
}

static int load_log_sum_exp(Graph *c, int x, uint32_t axes)
{
	int top = reduce(c, -1, RED_MAX, x, axes);
	int off = f_ew(c, -1, x, "a == b ? K(0) : a - b", x, top, -1),
	    e = f_ew(c, -1, x, "exp(a)", off, -1, -1);

	return f_ew(c, -1, top, "a + log(b)", top, reduce(c, -1, RED_SUM, e, axes), -1);
}

static int load_reduce(Graph *c, const Node *n, const char *name, int out)
{
	int64_t axis[F_RANK];
	int32_t count = pm_attr_ints(n->val, "axes", axis, F_RANK), i;
	int x = n->in[0], type = c->op[x].dtype, y;
	uint32_t axes = 0;

	if (count < 0)
		return 0;
	for (i = 0; i < count; i++)
		axes |= 1u << (axis[i] < 0 ? axis[i] + c->op[x].rank : axis[i]);
	if (f_class(type) == PM_I64 && (type != PM_I64 || f_is(name, "Mean")))
		return 0;
	if (f_is(name, "Sum"))
		y = reduce(c, -1, RED_SUM, x, axes);
	else if (f_is(name, "Mean"))
		y = reduce(c, -1, RED_MEAN, x, axes);
	else if (f_is(name, "Max"))
		y = reduce(c, -1, RED_MAX, x, axes);
	else if (f_is(name, "Min"))
		y = reduce(c, -1, RED_MIN, x, axes);
	else if (f_is(name, "Prod"))
		y = reduce(c, -1, RED_PROD, x, axes);
	else if (f_class(type) == PM_I64)
		return 0;
	else if (f_is(name, "SumSquare") || f_is(name, "L2"))
		y = reduce(c, -1, RED_SUM, f_ew(c, -1, x, "a * a", x, -1, -1), axes);
	else if (f_is(name, "L1"))
		y = reduce(c, -1, RED_SUM, f_ew(c, -1, x, "fabs(a)", x, -1, -1), axes);
	else if (f_is(name, "LogSum"))
		y = reduce(c, -1, RED_SUM, x, axes);
	else if (f_is(name, "LogSumExp"))
		y = load_log_sum_exp(c, x, axes);
	else
		return 0;
	if (f_is(name, "L2"))
		y = f_ew(c, -1, y, "sqrt(a)", y, -1, -1);
	if (f_is(name, "LogSum")) {
		y = f_ew(c, -1, y, "log(a)", y, -1, -1);
		c->op[y].compute = PM_F64;
	}
	return is_now(c, out, y);
}

int f_load_norm(Graph *c, Node *n, const char *name, int out)
{
	int rank = n->n_in && n->in[0] >= 0 ? c->op[n->in[0]].rank : 0, k;

	if (n->n_out != 1 || !n->n_in || n->in[0] < 0)
		return 0;
	for (k = 0; k < 6 && name[k] == "Reduce"[k]; k++)
		;
	if (k == 6)
		return load_reduce(c, n, name + 6, out);
	if (f_class(c->op[n->in[0]].dtype) == PM_I64)
		return 0;
	if (f_is(name, "Softmax") || f_is(name, "LogSoftmax"))
		return load_softmax(c, n, out, name[0] == 'L');
	if (f_is(name, "LayerNormalization") || f_is(name, "RMSNormalization"))
		return load_layer_norm(c, n, out, name[0] == 'R');
	if (f_is(name, "BatchNormalization"))
		return load_batch_norm(c, n, out);
	if (f_is(name, "GroupNormalization") || f_is(name, "InstanceNormalization"))
		return load_group_norm(c, n, out);
	if (rank > 2 && (f_is(name, "GlobalAveragePool") || f_is(name, "GlobalMaxPool")))
		return is_now(c, out,
			      reduce(c, -1, name[6] == 'A' ? RED_MEAN : RED_MAX, n->in[0], bits(2, rank)));
	return 0;
}

/* ---- pools: windows that one thread walks ---- */

static int window(Graph *c, const Node *n, const char *name, int count, int64_t *to)
{
	return !*c->fail && pm_attr_ints(n->val, name, to, 2 * F_RANK) == count;
}

/* How the windows of a pool lie. */
typedef enum Windows { OVERLAP, APART, TILES /* of the operand, all of it */ } Windows;

static Windows windows(const Op *x, const Op *o, const int64_t *par)
{
	const int64_t *kernel = par, *stride = par + F_RANK, *dilation = par + 2 * F_RANK,
		      *pad = par + 3 * F_RANK;
	int d, spatial = o->rank - 2, tiles = 1;

	for (d = 0; d < spatial; d++) {
		if (dilation[d] != 1 || (o->dim[d + 2] > 1 && stride[d] < kernel[d]))
			return OVERLAP;
		tiles &= !pad[d] && !pad[spatial + d] && (o->dim[d + 2] == 1 || stride[d] == kernel[d]) &&
			 x->dim[d + 2] == o->dim[d + 2] * kernel[d];
	}
	return tiles ? TILES : APART;
}

/* Windows that tile the operand are rows of a reduction: it is [n, channels, windows, of each, windows, of
 * each]. */
static int load_tiles(Graph *c, int x, int out, const int64_t *kernel, int max)
{
	int spatial = c->op[out].rank - 2, tiled, d;
	uint32_t axes = 0;
	Op *o;

	if (2 + 2 * spatial > F_RANK)
		return 0;
	tiled = view(c, -1, OP_RESHAPE, x, x);
	o = &c->op[tiled];
	o->rank = 2 + 2 * spatial;
	for (d = 0; d < spatial; d++) {
		o->dim[2 + 2 * d] = c->op[out].dim[d + 2];
		o->dim[3 + 2 * d] = kernel[d];
		axes |= 8u << 2 * d;
	}
	return is_now(c, out, reduce(c, -1, max ? RED_MAX : RED_MEAN, tiled, axes));
}

int f_load_pool(Graph *c, Node *n, const char *name, int out)
{
	/* Elements of a window that are more than one thread's: our run has a warp for them. */
	enum { MANY = 32 };
	int max = f_is(name, "MaxPool"), x = n->n_in ? n->in[0] : -1, spatial, d;
	int64_t elements = 1;
	Windows how;
	Op *o = &c->op[out];
	int64_t *par;

	if (n->n_out != 1 || x < 0 || !(max || f_is(name, "AveragePool")) || f_class(o->dtype) == PM_I64)
		return 0;
	spatial = o->rank - 2;
	par = f_alloc(c, 6 * F_RANK * sizeof *par);
	if (!par || spatial < 1 || !window(c, n, "kernel_shape", spatial, par) ||
	    !window(c, n, "strides", spatial, par + F_RANK) ||
	    !window(c, n, "dilations", spatial, par + 2 * F_RANK) ||
	    !window(c, n, "pads", 2 * spatial, par + 3 * F_RANK))
		return 0;
	for (d = 0; d < spatial; d++)
		elements *= par[d];
	how = windows(&c->op[x], o, par);
	if (elements >= MANY && how != OVERLAP)
		return how == TILES && load_tiles(c, x, out, par, max);
	o->kind = OP_POOL;
	o->in = n->in;
	o->n_in = 1;
	o->par = par;
	o->red = max ? RED_MAX : RED_AVG;
	o->mode = pm_attr_i(n->val, "count_include_pad", 0) != 0;
	return 1;
}
