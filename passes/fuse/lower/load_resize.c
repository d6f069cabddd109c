/* SPDX-License-Identifier: Apache-2.0 */
/* load_resize.c - Resize: nearest neighbours by whole factors, linear on one or two axes. */
#include "load.h"

static double scale_of(const Op *x, const Op *o, int d, const double *given)
{
	return given ? given[d] : (double)o->dim[d] / (double)x->dim[d];
}

/* Half-pixel and asymmetric grids agree where the factor is whole. */
static int nearest(Graph *c, const Node *n, int out, const char *grid, const double *given)
{
	const Op *x = &c->op[n->in[0]];
	const char *near = pm_attr_s(n->val, "nearest_mode", "round_prefer_floor");
	int64_t *par = f_alloc(c, F_RANK * sizeof *par);
	int d;

	if (!par || !((f_is(grid, "asymmetric") && f_is(near, "floor")) ||
		      (f_is(grid, "half_pixel") && f_is(near, "round_prefer_floor"))))
		return 0;
	for (d = 0; d < x->rank; d++) {
		par[d] = c->op[out].dim[d] / x->dim[d];
		if (par[d] < 1 || par[d] * x->dim[d] != c->op[out].dim[d] ||
		    scale_of(x, &c->op[out], d, given) != (double)par[d])
			return 0;
	}
	c->op[out].kind = OP_RESIZE;
	c->op[out].par = par;
	return 1;
}

/* place in the operand = result's place * factor + offset, between the first and the last element */
static int grid_of(const char *grid, double scale, int64_t in, int64_t out, double *factor, double *offset)
{
	*factor = 1 / scale;
	*offset = 0;
	if (f_is(grid, "half_pixel") || (f_is(grid, "pytorch_half_pixel") && out > 1))
		*offset = 0.5 / scale - 0.5;
	else if (f_is(grid, "pytorch_half_pixel"))
		*factor = 0;
	else if (f_is(grid, "align_corners"))
		*factor = out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
	else if (!f_is(grid, "asymmetric"))
		return 0;
	return 1;
}

static int linear(Graph *c, const Node *n, int out, const char *grid, const double *given)
{
	const Op *x = &c->op[n->in[0]];
	Op *o = &c->op[out];
	int64_t *par = f_alloc(c, 2 * sizeof *par);
	int d, k = 0;

	if (!par || f_class(o->dtype) != PM_F32)
		return 0;
	for (d = 0; d < x->rank; d++) {
		double scale = scale_of(x, o, d, given);

		if (scale == 1 && x->dim[d] == o->dim[d])
			continue;
		if (k == 2 || !(scale > 0) ||
		    !grid_of(grid, scale, x->dim[d], o->dim[d], &o->num[2 * k], &o->num[2 * k + 1]))
			return 0;
		par[k++] = d;
	}
	o->kind = OP_LINEAR;
	o->par = par;
	o->n_num = 2 * k;
	return k > 0;
}

int f_load_resize(Graph *c, Node *n, int out)
{
	const char *grid = pm_attr_s(n->val, "coordinate_transformation_mode", "half_pixel");
	const char *mode = pm_attr_s(n->val, "mode", "nearest");
	double scale[F_RANK];
	int32_t given = n->n_in > 2 && n->in[2] >= 0 ? pm_floats(c->op[n->in[2]].val, scale, F_RANK) : 0;
	int64_t axes;

	if (given && given != c->op[out].rank)
		return 0;
	if (pm_attr_ints(n->val, "axes", &axes, 1) != 0 || pm_attr_i(n->val, "antialias", 0) ||
	    !f_is(pm_attr_s(n->val, "keep_aspect_ratio_policy", "stretch"), "stretch"))
		return 0;
	c->op[out].in = n->in;
	c->op[out].n_in = 1;
	if (f_is(mode, "nearest"))
		return nearest(c, n, out, grid, given ? scale : NULL);
	return f_is(mode, "linear") && linear(c, n, out, grid, given ? scale : NULL);
}
