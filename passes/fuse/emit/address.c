/* SPDX-License-Identifier: Apache-2.0 */
/* address.c - where the factors of a product lie: views in front of them are looked through. */
#include "../fuse.h"

/* ---- coordinates of products ---- */

static void matrix(Ctx *c, const Op *x, Ix row, Ix col, Ix *co)
{
	int d;

	for (d = 0; d < x->rank; d++)
		co[d] = ix_const(c->ix, 0);
	co[x->rank - 2] = row;
	co[x->rank - 1] = col;
}

/* The axes in front of a matrix, which broadcast to those of the product. */
static void batch(Ctx *c, const Op *o, const Op *x, Ix b, Ix *co)
{
	Ix lead[F_RANK];
	int d;

	ix_unflat(c->ix, b, o->dim, o->rank - 2, lead);
	for (d = 0; d < x->rank - 2; d++)
		co[d] = x->dim[d] == 1 ? ix_const(c->ix, 0) : lead[d + o->rank - x->rank];
}

static void of_matmul(Ctx *c, const Op *o, const Op *x, int which, Ix b, Ix m, Ix n, Ix k, Ix *co)
{
	Ix row = which == 2 ? k : m, col = which == 1 ? k : n;

	matrix(c, x, row, col, co);
	if (o->mode == FORM_BATCH)
		batch(c, o, x, b, co);
	else if (which != 2)
		ix_unflat(c->ix, m, x->dim, x->rank - 1, co);
}

static void of_conv(Ctx *c, const Op *o, const Op *x, int which, Ix b, Ix m, Ix n, Ix k, Ix *co)
{
	int point = o->mode == FORM_POINT, d;

	for (d = 0; d < x->rank; d++)
		co[d] = ix_const(c->ix, 0);
	if (which == 0) {
		co[0] = point ? m : b;
		co[1] = point ? n : m;
	} else if (point) {
		co[0] = which == 1 ? m : n;
		co[1] = k;
	} else {
		co[0] = which == 1 ? m : b;
		co[1] = k;
	}
	if (o->mode == FORM_CONV && which == 1)
		ix_unflat(c->ix, k, x->dim + 1, x->rank - 1, co + 1);
	if (!point && which != 1)
		ix_unflat(c->ix, n, x->dim + 2, x->rank - 2, co + 2);
}

void f_dot_coords(Ctx *c, const Op *o, int which, Ix b, Ix m, Ix n, Ix k, Ix *co)
{
	const Op *x = which ? &c->g->op[o->in[which - 1]] : o;

	if (o->mode == FORM_POINT || o->mode == FORM_IMAGE || o->mode == FORM_CONV) {
		of_conv(c, o, x, which, b, m, n, k, co);
	} else if (o->mode == FORM_GEMM) {
		Ix row = which == 2 ? k : m, col = which == 1 ? k : n;
		int turned = which && (o->axis >> (which - 1) & 1);

		matrix(c, x, turned ? col : row, turned ? row : col, co);
	} else {
		of_matmul(c, o, x, which, b, m, n, k, co);
	}
}

/* ---- where factors lie ---- */

/* Coordinates in the operand of a view; 0 when it is none. */
static int through(Ctx *c, const Op *o, const Ix *co, Ix *at)
{
	const Op *x = &c->g->op[o->in[0]];
	int d;

	switch (o->kind) {
	case OP_RESHAPE:
	case OP_SAME:
		ix_unflat(c->ix, ix_flat(c->ix, co, o->dim, o->rank), x->dim, x->rank, at);
		return 1;
	case OP_EXPAND:
		for (d = 0; d < x->rank; d++)
			at[d] = x->dim[d] == 1 ? ix_const(c->ix, 0) : co[d + o->rank - x->rank];
		return 1;
	case OP_TRANSPOSE:
		for (d = 0; d < o->rank; d++)
			at[o->par[d]] = co[d];
		return 1;
	case OP_SLICE:
		for (d = 0; d < o->rank; d++)
			at[d] = ix_plus(c->ix, ix_scale(c->ix, co[d], o->par[F_RANK + d]), o->par[d]);
		return 1;
	default:
		return 0;
	}
}

/* The nest says that all of the operand is read. */
static void factor(Ctx *c, int arg)
{
	Block *out = c->b.out;

	c->b.out = &c->b.nest.decl;
	f_emit(c, ST_FACTOR)->arg = (int16_t)arg;
	c->b.out = out;
}

/* The index of op at the coordinates, in the operand of the kernel that it is a view of. */
static int descend(Ctx *c, int op, const Ix *coords, Factor *f, Ix *index)
{
	Ix co[F_RANK], at[F_RANK];
	int d;

	for (d = 0; d < c->g->op[op].rank; d++)
		co[d] = coords[d];
	while (f_computed(c, &c->g->op[op])) {
		const Op *o = &c->g->op[op];

		if (!through(c, o, co, at)) {
			f_fail(c, "a factor of the product is computed");
			return 0;
		}
		op = o->in[0];
		for (d = 0; d < c->g->op[op].rank; d++)
			co[d] = c->g->op[op].dim[d] == 1 ? ix_const(c->ix, 0) : at[d];
	}
	if (c->g->op[op].kind == OP_NUM || c->fail) {
		f_fail(c, "a factor of the product is a number");
		return 0;
	}
	*index = ix_flat(c->ix, co, c->g->op[op].dim, c->g->op[op].rank);
	f->arg = f_arg(c, op);
	factor(c, f->arg);
	return !c->fail;
}

/* Takes row and k out of an index, which must be linear in both. */
static int take_apart(Ctx *c, Ix index, uint32_t row, Factor *f)
{
	Lin l = c->ix->lin[index];
	Ix rest = index;
	int i;

	f->by_row = f->by_k = 0;
	for (i = 0; i < l.n; i++) {
		const Atom *a = &c->ix->atom[l.t[i].atom];

		if (!(a->deps & (row | DOT_K)))
			continue;
		if (a->kind != ATOM_VAR || l.t[i].k < 0) {
			f_fail(c, "the product does not read a matrix as it lies in memory");
			return 0;
		}
		if (a->deps & DOT_K)
			f->by_k = l.t[i].k;
		else
			f->by_row = l.t[i].k;
		rest = ix_add(c->ix, rest, ix_scale(c->ix, ix_of_atom(c->ix, l.t[i].atom), -l.t[i].k));
	}
	f->rest = rest;
	return !c->fail;
}

static int vector(const Ctx *c, const Factor *f, int most, int64_t extent, int64_t stride)
{
	const Lin *l = &c->ix->lin[f->rest];
	int v = most, i;

	for (; v > 1; v /= 2) {
		int fits = extent % v == 0 && stride % v == 0 && l->c % v == 0;

		for (i = 0; i < l->n && fits; i++)
			fits = l->t[i].k % v == 0;
		if (fits)
			break;
	}
	return v;
}

/* The image of a convolution: its elements are found one by one. */
static int image(Ctx *c, const Op *o, Ix b, Factor *f)
{
	const Op *x = &c->g->op[o->in[1]];
	Ix co[F_RANK];
	int d;

	for (d = 0; d < x->rank; d++)
		co[d] = d ? ix_const(c->ix, 0) : b;
	if (f_computed(c, x) || x->kind == OP_NUM) {
		f_fail(c, "the image of a convolution is computed");
		return 0;
	}
	*f = (Factor){ .arg = f_arg(c, o->in[1]), .rest = ix_flat(c->ix, co, x->dim, x->rank), .vec = 1 };
	factor(c, f->arg);
	return !c->fail;
}

int f_factors(Ctx *c, Section *s)
{
	const Op *o = &c->g->op[s->dot];
	int most = c->g->op[o->in[0]].dtype == PM_F32 ? 4 : 8;
	int64_t n = o->par[2];
	Ix b = o->par[0] == 1 ? ix_const(c->ix, 0) : ix_var(c->ix, "gb", o->par[0] - 1, DOT_B, 0);
	Ix im = o->par[1] == 1 ? ix_const(c->ix, 0) : ix_var(c->ix, "m", o->par[1] - 1, DOT_M, 0);
	Ix in = n == 1 ? ix_const(c->ix, 0) : ix_var(c->ix, "n", n - 1, DOT_N, 0);
	Ix ik = o->par[3] == 1 ? ix_const(c->ix, 0) : ix_var(c->ix, "k", o->par[3] - 1, DOT_K, 0);
	Ix co[F_RANK], at;
	Factor f;

	f_dot_coords(c, o, 1, b, im, in, ik, co);
	if (!descend(c, o->in[0], co, &s->a, &at) || !take_apart(c, at, DOT_M, &s->a))
		return 0;
	if (o->mode == FORM_CONV) {
		s->swapped = 0;
		s->a.vec = vector(c, &s->a, most, o->par[3], s->a.by_row);
		if (s != &c->front || (s->a.by_k != 1 && o->par[3] > 1))
			f_fail(c, "a convolution of windows is no tile");
		return !c->fail && image(c, o, b, &s->b);
	}
	f_dot_coords(c, o, 2, b, im, in, ik, co);
	if (!descend(c, o->in[1], co, &s->b, &at) || !take_apart(c, at, DOT_N, &s->b))
		return 0;
	s->swapped = s->a.by_k != 1 && o->par[3] > 1;
	if (s->swapped && s->rows)
		f_fail(c, "rows of the product are not rows of a factor");
	if (s->swapped) {
		f = s->a;
		s->a = s->b;
		s->b = f;
		n = o->par[1];
	}
	s->b.along_k = s->b.by_k == 1 || o->par[3] == 1;
	if ((s->a.by_k != 1 && o->par[3] > 1) || (!s->b.along_k && s->b.by_row != 1 && n > 1)) {
		f_fail(c, "no factor of the product has its sum's elements side by side");
		return 0;
	}
	s->a.vec = vector(c, &s->a, most, o->par[3], s->a.by_row);
	s->b.vec = s->b.along_k ? vector(c, &s->b, most, o->par[3], s->b.by_row)
				: vector(c, &s->b, most, n, s->b.by_k);
	return !c->fail;
}
