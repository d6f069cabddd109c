/* SPDX-License-Identifier: Apache-2.0 */
/* eager_copy.c - copies of strided places into contiguous buffers. */
#include "runtime/exec/plan_priv.h"

#include "kernels/transpose.cu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 32, MOST_ALIKE = 4 };

/* Copies whose places are laid out alike: sources and results. */
typedef struct Alike {
	const Loc *from[MOST_ALIKE], *to[MOST_ALIKE];
	int n;
} Alike;

/* Where the source (0) and the result (1) have the elements. */
static void both_sides(PmSpace *s, const int64_t *dim, int rank, const int64_t *from, const int64_t *to)
{
	const int64_t *rows[2] = { from, to };

	pm__space(s, dim, rank, rows, 2);
}

/* The dimension along which the source's elements are neighbours, when it is another than the result's and
 * both are long enough for squares; -1 if not. */
static int other_fast(const PmSpace *s)
{
	int last = s->rank - 1;

	if (s->stride[0][last] == 1 || s->dim[last] < TILE / 2)
		return -1;
	for (int d = 0; d < last; d++)
		if (s->stride[0][d] == 1 && s->dim[d] >= TILE / 2)
			return d;
	return -1;
}

/* Sources and results of a launch; those behind the first are for blocks of their own. */
static void put_alike(KGen *k, const PmSpace *s, const Alike *a)
{
	PmStr others = PM_STR_INIT;
	char x[24] = "x", y[24] = "y";

	for (int i = 0; i < a->n; i++) {
		if (i) {
			snprintf(x, sizeof x, "x%d", i);
			snprintf(y, sizeof y, "y%d", i);
			pm_str_addf(&others, "%sif (blockIdx.y == %d) { x = %s; y = %s; }", i > 1 ? " " : "",
				    i, x, y);
		}
		pm__kg_out(k, y, a->to[i], k->dtype, s->total);
		pm__kg_in(k, x, a->from[i], k->dtype, s->total);
	}
	if (others.len)
		pm__kg_define(k, "OTHERS", "%s", others.s);
	pm_str_release(&others);
}

/* `s` is over both sides. */
static PmStatus transposed(KGen *k, const char *label, const PmSpace *s, int fast, const Alike *a, PmErr *err)
{
	int64_t dim[2 * PM_MAX_RANK], xs[2 * PM_MAX_RANK], ys[2 * PM_MAX_RANK], batches = 1;
	const int64_t *rows[2] = { xs, ys };
	int64_t tiles_r, tiles_c;
	int last = s->rank - 1, n = 0, w = 4 / (int)pm_dtype_size(k->dtype);

	w = w ? w : 1;

	for (int d = 0; d < last; d++) {
		if (d == fast)
			continue;
		dim[n] = s->dim[d];
		xs[n] = s->stride[0][d];
		ys[n++] = s->stride[1][d];
		batches *= s->dim[d];
	}
	/* Elements smaller than a word are moved by words where everything is a multiple of them. */
	while (s->dim[fast] % w || s->dim[last] % w || s->stride[0][last] % w || s->stride[1][fast] % w)
		w /= 2;
	for (int i = 0; i < a->n; i++)
		while (a->from[i]->off % w || a->to[i]->off % w)
			w /= 2;
	for (int d = 0; d < n; d++)
		while (xs[d] % w || ys[d] % w)
			w /= 2;
	tiles_r = (s->dim[fast] / w + TILE - 1) / TILE;
	tiles_c = (s->dim[last] / w + TILE - 1) / TILE;
	pm__kg_define(k, "W", "%d", w);
	pm__kg_define(k, "X", "%s", pm__ctype(k->dtype));
	pm__kg_define(k, "TILE", "%d", TILE);
	put_alike(k, s, a);
	pm__kg_space(k, "b", dim, n, rows, 2);
	pm__kg_divisor(k, "tiles_r", tiles_r);
	pm__kg_divisor(k, "tiles_c", tiles_c);
	pm__kg_int(k, "rows", s->dim[fast] / w);
	pm__kg_int(k, "cols", s->dim[last] / w);
	pm__kg_int(k, "xc", s->stride[0][last]);
	pm__kg_int(k, "yr", s->stride[1][fast]);
	return pm__kg_launch_grid(k, label, transpose_cu,
				  (PmGrid){ s->total ? batches * tiles_r * tiles_c : 0, a->n, PM__BLOCK }, 0,
				  err);
}

PmStatus pm__move(PmPlan *p, PmNode n, const char *label, const PmVecOut *out, const PmVecIn *in, PmErr *err)
{
	int64_t to[2 * PM_MAX_RANK], step = 1;
	PmSpace s;
	KGen k;
	int fast;

	for (int d = out->rank - 1; d >= 0; d--) {
		to[d] = step;
		step *= out->dim[d];
	}
	both_sides(&s, out->dim, out->rank, in->stride, to);
	pm__kg_init(&k, p, n, in->dtype);
	fast = other_fast(&s);
	if (fast >= 0)
		return transposed(&k, label, &s, fast, &(Alike){ { in->loc }, { out->loc }, 1 }, err);
	return pm__vec_launch(&k, label, out, in, 1, "\tq = e0;\n", 0, err);
}

int pm__lies_across(const PmType *t, const Loc *from, const Loc *to)
{
	PmSpace s;

	both_sides(&s, t->dim, t->rank, from->stride, to->stride);
	return s.stride[1][s.rank - 1] == 1 && other_fast(&s) >= 0;
}

PmStatus pm__move_across(PmPlan *p, PmNode n, const char *label, const PmType *t, const Loc *from,
			 const Loc *to, PmErr *err)
{
	PmSpace s;
	KGen k;

	both_sides(&s, t->dim, t->rank, from->stride, to->stride);
	pm__kg_init(&k, p, n, t->dtype);
	return transposed(&k, label, &s, other_fast(&s), &(Alike){ { from }, { to }, 1 }, err);
}

/* Gives a copy its fresh contiguous buffer. */
static PmStatus place_copy(PmPlan *p, PmCopy *c, PmErr *err)
{
	int64_t bytes;
	PmStatus st = pm_type_bytes(c->type, &bytes, err);

	if (st)
		return st;
	c->to = (Loc){ .buf = pm__add_buffer(p, bytes, PM_BUF_SCRATCH) };
	pm__contiguous_strides(c->type, c->to.stride);
	return PM_OK;
}

static PmStatus copy_one(PmPlan *p, const PmCopy *c, PmErr *err)
{
	const PmType *t = c->type;
	PmVecIn in = { .loc = &c->from, .dtype = t->dtype, .numel = pm__distinct(t, &c->from) };
	PmVecOut out = { .loc = &c->to, .dtype = t->dtype, .rank = t->rank, .dim = t->dim };
	char label[96];

	memcpy(in.stride, c->from.stride, sizeof c->from.stride);
	snprintf(label, sizeof label, "eager copy %s", pm_dtype_name(t->dtype));
	return pm__move(p, c->node, label, &out, &in, err);
}

PmStatus pm__copy(PmPlan *p, PmNode n, const PmType *t, const Loc *from, Loc *to, PmErr *err)
{
	PmCopy c = { .node = n, .type = t, .from = *from };
	PmStatus st = place_copy(p, &c, err);

	if (!st)
		st = copy_one(p, &c, err);
	if (!st)
		*to = c.to;
	return st;
}

/* ---- several copies, one launch ---- */

/* Each has blocks of its own, whose threads move a vector each. */
typedef struct Group {
	KGen k;
	PmStr body;
	int64_t blocks; /* so far */
	int n;
	const PmCopy *first;
} Group;

/* 1 when a launch of its own would move this no better: not through shared memory, and a vector a thread. */
static int joins(const PmPlan *p, const PmCopy *c, PmSpace *s, int *v)
{
	const int64_t *row = c->from.stride;
	int size = (int)pm_dtype_size(c->type->dtype);

	pm__space(s, c->type->dim, c->type->rank, &row, 1);
	*v = pm__space_width(s, 0, c->from.off, 16 / size);
	return other_fast(s) < 0 && pm__vectors(p->target, s->total, *v, size, 0) == 1;
}

static int arguments_of(const PmSpace *s)
{
	return 2 + 2 + 3 * (s->rank - 1) + s->rank; /* pointers, sizes, divisors, strides */
}

/* A copy's blocks are those below its own end that are not below an earlier one: an element's number is never
 * larger than what the copy has, and indices have the width that its sizes ask for. */
static void group_add(Group *u, PmPlan *p, const PmCopy *c, const PmSpace *s, int v)
{
	int dtype = c->type->dtype, i = u->n++;
	char name[24], first[24] = "0";

	if (!i) {
		pm__kg_init(&u->k, p, c->node, dtype);
		u->first = c;
	}
	snprintf(name, sizeof name, "y%d", i);
	pm__kg_out(&u->k, name, &c->to, dtype, s->total);
	snprintf(name, sizeof name, "x%d", i);
	pm__kg_in(&u->k, name, &c->from, dtype, pm__distinct(c->type, &c->from));
	u->blocks += (s->total + PM__BLOCK * v - 1) / (PM__BLOCK * v);
	snprintf(name, sizeof name, "end%d", i);
	pm__kg_int(&u->k, name, u->blocks);
	snprintf(name, sizeof name, "o%d", i);
	pm__kg_put_space(&u->k, name, s);
	if (i)
		snprintf(first, sizeof first, "end%d", i - 1);
	pm_str_addf(&u->body,
		    "\t%sif (b < end%d) {\n\t\tconst I t = ((b - %s) * B + (I)threadIdx.x) * %d;\n\n"
		    "\t\tif (t < N_o%d)\n\t\t\tpm_put(y%d + t, pm_get<%d>(x%d + OFF_o%d_0(t)));\n\t}\n",
		    i ? "else " : "", i, first, v, i, i, v, i, i);
}

static PmStatus group_end(Group *u, PmPlan *p, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st = PM_OK;
	char label[96];

	if (u->n == 1) {
		pm__kg_release(&u->k);
		st = copy_one(p, u->first, err);
	} else if (u->n > 1) {
		pm_str_addf(&text, "KERNEL\n{\n\tconst I b = blockIdx.x;\n\n%s}\n", u->body.s);
		snprintf(label, sizeof label, "eager copies %d", u->n);
		st = pm__kg_launch_grid(&u->k, label, text.s, (PmGrid){ u->blocks, 1, PM__BLOCK }, 0, err);
	}
	pm_str_release(&text);
	pm_str_release(&u->body);
	memset(u, 0, sizeof *u);
	return st;
}

static int is_alike(const PmCopy *a, const PmCopy *b)
{
	size_t bytes = (size_t)a->type->rank * sizeof *a->type->dim;

	return a->type->dtype == b->type->dtype && a->type->rank == b->type->rank &&
	       !memcmp(a->type->dim, b->type->dim, bytes) && !memcmp(a->from.stride, b->from.stride, bytes);
}

/* A copy that does not join others. One that goes through shared memory takes those with it that are laid out
 * alike, of the n from c on; done says of each whether it was taken. */
static PmStatus copy_alike(PmPlan *p, PmCopy *c, char *done, size_t n, PmErr *err)
{
	Alike a = { { &c->from }, { &c->to }, 1 };
	char label[96];
	PmSpace s;
	KGen k;
	int fast;

	both_sides(&s, c->type->dim, c->type->rank, c->from.stride, c->to.stride);
	fast = other_fast(&s);

	for (size_t i = 1; i < n && a.n < MOST_ALIKE && fast >= 0; i++)
		if (!done[i] && is_alike(c, &c[i])) {
			PmStatus st = place_copy(p, &c[i], err);

			if (st)
				return st;
			a.from[a.n] = &c[i].from;
			a.to[a.n++] = &c[i].to;
			done[i] = 1;
		}
	if (a.n == 1)
		return copy_one(p, c, err);
	pm__kg_init(&k, p, c->node, c->type->dtype);
	snprintf(label, sizeof label, "eager copies %d", a.n);
	return transposed(&k, label, &s, fast, &a, err);
}

PmStatus pm__copy_all(PmPlan *p, PmCopy *c, size_t n_copies, PmErr *err)
{
	char *done = pm_xcalloc(n_copies + 1, 1);
	PmStatus st = PM_OK;
	Group u = { 0 };
	PmSpace s;
	int v;

	for (size_t i = 0; i < n_copies && !st; i++) {
		if (done[i])
			continue;
		st = place_copy(p, &c[i], err);
		if (st)
			break;
		if (!joins(p, &c[i], &s, &v)) {
			st = copy_alike(p, &c[i], done + i, n_copies - i, err);
			continue;
		}
		if (u.n && (int)u.k.args.n + arguments_of(&s) > PM_MAX_KERNEL_ARGS)
			st = group_end(&u, p, err);
		if (!st)
			group_add(&u, p, &c[i], &s, v);
	}
	free(done);
	if (!st)
		return group_end(&u, p, err);
	if (u.n)
		pm__kg_release(&u.k);
	pm_str_release(&u.body);
	return st;
}

PmStatus pm__make_contiguous(PmPlan *p, PmNode n, PmValue v, Loc *out, PmErr *err)
{
	if (pm__is_contiguous(p, v)) {
		*out = *pm__loc(p, v);
		return PM_OK;
	}
	return pm__copy(p, n, pm__type(p, v), pm__loc(p, v), out, err);
}
