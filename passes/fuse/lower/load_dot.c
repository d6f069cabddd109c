/* SPDX-License-Identifier: Apache-2.0 */
/* load_dot.c - MatMul, Einsum, Gemm and convolutions as products of matrices, with what is added to them. */
#include "load.h"

static int dot(Graph *c, int out, Form form, int a, int b)
{
	int k = f_op(c, OP_DOT, out, -1);
	Op *o = &c->op[k];

	o->in = f_alloc(c, 2 * sizeof *o->in);
	o->par = f_alloc(c, (DOT_CONV + CONV_N) * sizeof *o->par);
	if (*c->fail)
		return k;
	o->in[0] = a;
	o->in[1] = b;
	o->n_in = 2;
	o->mode = (uint8_t)form;
	o->axis = 0;
	/* Rounded once, behind what is added to it. */
	o->dtype = PM_F32;
	return k;
}

static void extents(Op *o, int64_t batch, int64_t m, int64_t n, int64_t k)
{
	o->par[0] = batch;
	o->par[1] = m;
	o->par[2] = n;
	o->par[3] = k;
}

static int load_matmul(Graph *c, const Node *n, int out)
{
	const Op *a = &c->op[n->in[0]], *b = &c->op[n->in[1]];
	int64_t matrices = 1, batch = 1;
	int d, k;

	if (a->rank < 2 || b->rank < 2)
		return 0;
	for (d = 0; d < b->rank - 2; d++)
		matrices *= b->dim[d];
	k = dot(c, out, matrices == 1 ? FORM_FLAT : FORM_BATCH, n->in[0], n->in[1]);
	if (*c->fail)
		return 0;
	a = &c->op[n->in[0]];
	b = &c->op[n->in[1]];
	for (d = 0; d < c->op[out].rank - 2; d++)
		batch *= c->op[out].dim[d];
	if (matrices == 1)
		extents(&c->op[k], 1, f_numel(a) / a->dim[a->rank - 1], b->dim[b->rank - 1],
			b->dim[b->rank - 2]);
	else
		extents(&c->op[k], batch, a->dim[a->rank - 2], b->dim[b->rank - 1], a->dim[a->rank - 1]);
	return f_becomes(c, out, "a", k, -1, -1);
}

static int load_einsum(Graph *c, const Node *n, int out)
{
	int64_t batch = 1;
	int a, b, d, k;

	if (!f_load_einsum(c, n, &a, &b))
		return 0;
	k = dot(c, out, FORM_BATCH, a, b);
	if (*c->fail)
		return 0;
	for (d = 0; d < c->op[out].rank - 2; d++)
		batch *= c->op[out].dim[d];
	extents(&c->op[k], batch, c->op[out].dim[d], c->op[out].dim[d + 1], c->op[a].dim[d + 1]);
	return f_becomes(c, out, "a", k, -1, -1);
}

static int load_gemm(Graph *c, const Node *n, int out)
{
	int ta = pm_attr_i(n->val, "transA", 0) != 0, tb = pm_attr_i(n->val, "transB", 0) != 0;
	double alpha = pm_attr_f(n->val, "alpha", 1), beta = pm_attr_f(n->val, "beta", 1);
	int k = dot(c, out, FORM_GEMM, n->in[0], n->in[1]), add = n->n_in > 2 ? n->in[2] : -1;
	const Op *a = &c->op[n->in[0]];

	if (*c->fail)
		return 0;
	extents(&c->op[k], 1, c->op[out].dim[0], c->op[out].dim[1], a->dim[ta ? 0 : 1]);
	c->op[k].axis = ta | tb << 1;
	if (alpha != 1)
		k = f_ew(c, -1, k, "a * b", k, f_num(c, PM_F32, alpha), -1);
	if (add < 0 || beta == 0)
		return f_becomes(c, out, "a", k, -1, -1);
	if (beta != 1) {
		add = f_ew(c, -1, add, "a * b", add, f_num(c, PM_F32, beta), -1);
		c->op[add].dtype = PM_F32;
	}
	return f_becomes(c, out, "a + b", k, add, -1);
}

/* All numbers of an attribute are `want`. */
static int all(const Node *n, const char *name, int64_t want)
{
	int64_t v[2 * F_RANK];
	int count = pm_attr_ints(n->val, name, v, 2 * F_RANK), i;

	for (i = 0; i < count && v[i] == want; i++)
		;
	return i >= count;
}

/* Two numbers of an attribute from `from` on, 1 or 0 in front where the image has one axis. */
static void two(const Node *n, const char *name, int axes, int from, int64_t none, int64_t *to)
{
	int64_t v[2 * F_RANK];
	int count = pm_attr_ints(n->val, name, v, 2 * F_RANK);

	to[0] = axes == 2 && count >= from + 2 ? v[from] : none;
	to[1] = count >= from + axes ? v[from + axes - 1] : none;
}

/* Windows of one or two axes. */
static int load_windows(Graph *c, const Node *n, int out)
{
	const Op *x = &c->op[n->in[0]], *w = &c->op[n->in[1]], *y = &c->op[out];
	int axes = x->rank - 2, last = x->rank - 1;
	int64_t h = axes == 2 ? x->dim[2] : 1, kh = axes == 2 ? w->dim[2] : 1, oh = axes == 2 ? y->dim[2] : 1,
		*g;
	int k;

	if (axes > 2)
		return -1;
	k = dot(c, out, FORM_CONV, n->in[1], n->in[0]);
	if (*c->fail)
		return -1;
	x = &c->op[n->in[0]];
	w = &c->op[n->in[1]];
	y = &c->op[out];
	extents(&c->op[k], x->dim[0], w->dim[0], oh * y->dim[last], w->dim[1] * kh * w->dim[last]);
	g = c->op[k].par + DOT_CONV;
	g[0] = h;
	g[1] = x->dim[last];
	g[2] = y->dim[last];
	g[3] = kh;
	g[4] = w->dim[last];
	two(n, "strides", axes, 0, 1, g + 5);
	two(n, "dilations", axes, 0, 1, g + 7);
	two(n, "pads", axes, 0, 0, g + 9);
	return k;
}

static int load_points(Graph *c, const Node *n, int out)
{
	const Op *x = &c->op[n->in[0]], *w = &c->op[n->in[1]];
	int64_t pixels = 1, images = x->dim[0], from = w->dim[1], to = w->dim[0];
	int d, k;

	for (d = 2; d < x->rank; d++)
		pixels *= x->dim[d];
	k = pixels == 1 ? dot(c, out, FORM_POINT, n->in[0], n->in[1])
			: dot(c, out, FORM_IMAGE, n->in[1], n->in[0]);
	if (*c->fail)
		return -1;
	if (pixels == 1)
		extents(&c->op[k], 1, images, to, from);
	else
		extents(&c->op[k], images, to, pixels, from);
	return k;
}

static int load_conv(Graph *c, const Node *n, int out)
{
	const Op *x = &c->op[n->in[0]], *w = &c->op[n->in[1]];
	int points = all(n, "pads", 0) && all(n, "strides", 1), d, k, bias;

	if (x->rank < 3 || w->rank != x->rank || pm_attr_i(n->val, "group", 1) != 1)
		return 0;
	for (d = 2; d < x->rank; d++)
		points = points && w->dim[d] == 1 && c->op[out].dim[d] == x->dim[d];
	k = points ? load_points(c, n, out) : load_windows(c, n, out);
	if (k < 0 || *c->fail)
		return 0;
	if (n->n_in < 3 || n->in[2] < 0)
		return f_becomes(c, out, "a", k, -1, -1);
	bias = f_op(c, OP_SPREAD, out, -1);
	c->op[bias].dtype = c->op[n->in[2]].dtype;
	c->op[bias].in = f_alloc(c, sizeof *c->op[bias].in);
	if (*c->fail)
		return 0;
	c->op[bias].in[0] = n->in[2];
	c->op[bias].n_in = 1;
	c->op[bias].axis = 1;
	return f_becomes(c, out, "a + b", k, bias, -1);
}

/* Small products can be sums too: par[4]. */
static void small_sum(Graph *c, int dot)
{
	static const double SMALL = 4e6;
	const int64_t *p = c->op[dot].par;
	double work = (double)p[0] * (double)p[1] * (double)p[2] * (double)p[3];

	c->op[dot].par[4] = work <= SMALL ? f_load_sum(c, dot) : 0;
}

int f_load_dot(Graph *c, Node *n, const char *name, int out)
{
	const Op *o = &c->op[out];
	int first = c->n_ops, ok = 0, k;

	if (n->n_in < 2 || n->n_out != 1 || n->in[0] < 0 || n->in[1] < 0 ||
	    (o->dtype != PM_F32 && o->dtype != PM_F16 && o->dtype != PM_BF16) ||
	    c->op[n->in[0]].dtype != o->dtype || c->op[n->in[1]].dtype != o->dtype)
		return 0;
	if (f_is(name, "MatMul"))
		ok = load_matmul(c, n, out);
	else if (f_is(name, "Gemm"))
		ok = load_gemm(c, n, out);
	else if (f_is(name, "Conv"))
		ok = load_conv(c, n, out);
	else if (f_is(name, "Einsum"))
		ok = load_einsum(c, n, out);
	if (!ok || *c->fail)
		return 0;
	for (k = first; k < c->n_ops; k++)
		if (c->op[k].kind == OP_DOT)
			n->dot = k;
	small_sum(c, n->dot);
	o = &c->op[n->dot];
	for (k = 0; k < 4; k++)
		if (o->par[k] < 1 || o->par[k] > INT32_MAX / 4)
			return 0;
	return f_numel(&c->op[n->in[0]]) < INT32_MAX && f_numel(&c->op[n->in[1]]) < INT32_MAX &&
	       f_numel(o) < INT32_MAX;
}
