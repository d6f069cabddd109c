/* SPDX-License-Identifier: Apache-2.0 */
/* eager_copy.c - copies of strided places into contiguous buffers. */
#include "runtime/exec/plan_priv.h"

#include "kernels/transpose.cu.h"

#include <stdio.h>
#include <string.h>

enum { TILE = 32 };

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

static PmStatus transposed(KGen *k, const char *label, const PmSpace *s, int fast, const Loc *from,
			   const Loc *to, PmErr *err)
{
	int64_t dim[2 * PM_MAX_RANK], xs[2 * PM_MAX_RANK], ys[2 * PM_MAX_RANK], batches = 1;
	const int64_t *rows[2] = { xs, ys };
	int64_t step[2 * PM_MAX_RANK], tiles_r, tiles_c;
	int last = s->rank - 1, n = 0, w = 4 / (int)pm_dtype_size(k->dtype);

	w = w ? w : 1;

	step[last] = 1;
	for (int d = last; d > 0; d--)
		step[d - 1] = step[d] * s->dim[d];
	for (int d = 0; d < last; d++) {
		if (d == fast)
			continue;
		dim[n] = s->dim[d];
		xs[n] = s->stride[0][d];
		ys[n++] = step[d];
		batches *= s->dim[d];
	}
	/* Elements smaller than a word are moved by words where everything is a multiple of them. */
	while (s->dim[fast] % w || s->dim[last] % w || s->stride[0][last] % w || from->off % w)
		w /= 2;
	for (int d = 0; d < n; d++)
		while (xs[d] % w)
			w /= 2;
	tiles_r = (s->dim[fast] / w + TILE - 1) / TILE;
	tiles_c = (s->dim[last] / w + TILE - 1) / TILE;
	pm__kg_define(k, "W", "%d", w);
	pm__kg_define(k, "X", "%s", pm__ctype(k->dtype));
	pm__kg_define(k, "TILE", "%d", TILE);
	pm__kg_out(k, "y", to, k->dtype, s->total);
	pm__kg_in(k, "x", from, k->dtype, s->total);
	pm__kg_space(k, "b", dim, n, rows, 2);
	pm__kg_divisor(k, "tiles_r", tiles_r);
	pm__kg_divisor(k, "tiles_c", tiles_c);
	pm__kg_int(k, "rows", s->dim[fast] / w);
	pm__kg_int(k, "cols", s->dim[last] / w);
	pm__kg_int(k, "xc", s->stride[0][last]);
	pm__kg_int(k, "yr", step[fast]);
	return pm__kg_launch_grid(k, label, transpose_cu,
				  (PmGrid){ s->total ? batches * tiles_r * tiles_c : 0, 1, PM__BLOCK }, 0,
				  err);
}

PmStatus pm__move(PmPlan *p, PmNode n, const char *label, const PmVecOut *out, const PmVecIn *in, PmErr *err)
{
	const int64_t *row = in->stride;
	PmSpace s;
	KGen k;
	int fast;

	pm__space(&s, out->dim, out->rank, &row, 1);
	pm__kg_init(&k, p, n, in->dtype);
	fast = other_fast(&s);
	if (fast >= 0)
		return transposed(&k, label, &s, fast, in->loc, out->loc, err);
	return pm__vec_launch(&k, label, out, in, 1, "\tq = e0;\n", 0, err);
}

PmStatus pm__copy(PmPlan *p, PmNode n, const PmType *t, const Loc *from, Loc *to, PmErr *err)
{
	PmVecIn in = { .dtype = t->dtype };
	PmVecOut out = { .dtype = t->dtype, .rank = t->rank, .dim = t->dim };
	Loc source = *from, l = { 0 }; /* *to may be *from */
	int64_t bytes;
	PmStatus st = pm_type_bytes(t, &bytes, err);
	char label[96];

	if (st)
		return st;
	l.buf = pm__add_buffer(p, bytes, PM_BUF_SCRATCH);
	pm__contiguous_strides(t, l.stride);
	in.loc = &source;
	in.numel = pm__distinct(t, &source);
	memcpy(in.stride, source.stride, sizeof source.stride);
	out.loc = &l;
	snprintf(label, sizeof label, "eager copy %s", pm_dtype_name(t->dtype));
	st = pm__move(p, n, label, &out, &in, err);
	*to = l;
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
