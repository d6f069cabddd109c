/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.h - questions about shapes that several passes ask. For passes only. */
#ifndef PASSES_SHAPES_H
#define PASSES_SHAPES_H

#include "passmith/dsl.h"

/* Rows (along the last axis) of v when it repeats along the leading axes of `sum`: a bias has 1, a position
 * embedding [1, S, H] has S. 0 when it does not line up with it. */
static inline int64_t row_period(PmVal v, PmVal sum)
{
	int32_t r = pm_rank(v), k;
	int64_t rows = 1;
	int repeats = 0;

	if (r < 1 || r > pm_rank(sum) || pm_dim(v, -1) != pm_dim(sum, -1))
		return 0;
	for (k = 2; k <= r; k++) {
		int64_t d = pm_dim(v, -k), s = pm_dim(sum, -k);

		if (d < 1 || (d != s && d != 1) || (repeats && d != 1))
			return 0;
		repeats |= d != s;
		rows *= d;
	}
	return rows;
}

/* 1 when v has one element for each column of `like`, whatever axes of size 1 stand in front. */
static inline int is_column_vector(PmVal v, PmVal like)
{
	return pm_same_dtype(v, like) && pm_rank(v) >= 1 && pm_dim(v, -1) == pm_dim(like, -1) &&
	       pm_numel(v) == pm_dim(like, -1);
}

/* The element of an operand that belongs to element i of the result: i / inner % n. */
typedef struct Band {
	int64_t inner, n;
} Band;

/* b as a band of axes of y: axes of size 1, then axes of y's size, then axes of size 1. 0 when it is none. */
static inline int find_band(PmVal b, PmVal y, Band *band)
{
	int32_t r = pm_rank(b), k;
	int inside = 0, over = 0;

	band->inner = band->n = 1;
	if (r < 0 || r > pm_rank(y))
		return 0;
	for (k = 1; k <= r; k++) {
		int64_t d = pm_dim(b, -k), size = pm_dim(y, -k);

		if (d == size && size != 1) {
			if (over)
				return 0;
			inside = 1;
			band->n *= d;
		} else if (d == 1) {
			over |= inside && size != 1;
			if (!inside)
				band->inner *= size;
		} else {
			return 0;
		}
	}
	return 1;
}

/* [start, end) of a Slice with step 1 over the one axis it has; 0 when it is another kind of Slice. */
static inline int slice_range(PmVal slice, int64_t *axis, int64_t *start, int64_t *end)
{
	int64_t step, size;
	int32_t rank = pm_rank(slice);

	if (pm_attr_ints(slice, "axes", axis, 1) != 1 || pm_attr_ints(slice, "starts", start, 1) != 1 ||
	    pm_attr_ints(slice, "ends", end, 1) != 1 || pm_attr_ints(slice, "steps", &step, 1) != 1 ||
	    step != 1)
		return 0;
	if (*axis < 0)
		*axis += rank;
	size = *axis < 0 || *axis >= rank ? -1 : pm_dim(pm_in(slice, 0), (int32_t)*axis);
	if (size < 0)
		return 0;
	*start = *start < 0 ? *start + size : *start;
	*end = *end < 0 ? *end + size : *end;
	*start = *start < 0 ? 0 : *start > size ? size : *start;
	*end = *end < *start ? *start : *end > size ? size : *end;
	return 1;
}

/* concat([k:], [:k]) over the axis: k, else -1. */
static inline int64_t roll_of(PmVal concat, int64_t axis)
{
	int64_t a0, a1, s0, s1, e0, e1, size = pm_dim(concat, (int32_t)axis);

	if (!slice_range(pm_in(concat, 0), &a0, &s0, &e0) || !slice_range(pm_in(concat, 1), &a1, &s1, &e1) ||
	    a0 != axis || a1 != axis)
		return -1;
	return e0 == size && s1 == 0 && e1 == s0 && s0 < size ? s0 : -1;
}

/* 1 when the Transpose has exactly this permutation. */
static inline int has_perm(PmVal transpose, int32_t rank, const int64_t *perm)
{
	int64_t p[8];
	int32_t k;

	if (rank > 8 || pm_attr_ints(transpose, "perm", p, 8) != rank)
		return 0;
	for (k = 0; k < rank; k++)
		if (p[k] != perm[k])
			return 0;
	return 1;
}

/* The matched operator of this name that comes first, or none. */
static inline PmVal find_op(PmMatch *m, const char *name)
{
	uint32_t i;

	for (i = 0; i < m->node.n; i++)
		if (pm_str_same(pm_op(m->node.v[i]), name))
			return m->node.v[i];
	return (PmVal){ 0 };
}

/* 1 when nothing but the root, and `also` (which may be the root), leaves the match. */
static inline int only_leaves(PmMatch *m, PmVal also)
{
	uint32_t i;

	for (i = 0; i < m->out.n; i++)
		if (!pm_same(m->out.v[i], m->root) && !pm_same(m->out.v[i], also))
			return 0;
	return 1;
}

enum { MAX_WARP_ROW = 1024 }; /* elements of a row that one warp holds in registers */

/* Elements per lane of a warp that holds a row of n, a power of two so that few variants are compiled; 0: too
 * long. */
static inline int per_lane(int64_t n)
{
	int per = 1;

	if (n > MAX_WARP_ROW)
		return 0;
	while (per * 32 < n)
		per *= 2;
	return per;
}

#endif
