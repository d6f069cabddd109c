/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - shifted windows: from a sum's flattened addend down to the image it was cut from. For passes
 * only. */
#ifndef PASSES_WINDOW_H
#define PASSES_WINDOW_H

#include "norm_rows.h"

/* Fills size, out and move of w, where `flat` is a Reshape of up to two Slices (which drop padding) of, when
 * `rolled`, a cyclic shift of axes 1 and 2 of x = [B, H, W, C]. Returns NULL, or why it is none. */
static inline const char *find_window(PmVal flat, PmVal x, int rolled, NormWindow *w)
{
	PmVal v = pm_in(flat, 0), part;
	int64_t axis, start, end, k;

	for (k = 0; k < 2; k++) {
		w->size[k] = pm_dim(x, (int32_t)k + 1);
		w->out[k] = pm_dim(v, (int32_t)k + 1);
		w->move[k] = 0;
		w->win[k] = 0;
	}
	if (pm_dim(flat, -1) != pm_dim(x, 3) || pm_dim(v, 3) != pm_dim(x, 3) || pm_dim(v, 0) != pm_dim(x, 0))
		return "the reshape changes the rows, or a slice cuts batch or channels";
	while (!pm_same(v, x) && pm_is_op(v, Slice)) {
		if (!slice_range(v, &axis, &start, &end) || axis < 1 || axis > 2)
			return "a slice after the roll is not a plain range of one of the rolled axes";
		w->move[axis - 1] += start;
		v = pm_in(v, 0);
	}
	for (k = 1; rolled && k >= 0; k--) { /* columns were shifted last */
		int64_t roll = roll_of(v, k + 1);

		if (roll < 0)
			return "a concatenation is not a roll: it does not swap the two parts of its axis";
		w->move[k] = (w->move[k] + roll) % w->size[k];
		part = pm_in(v, 0);
		v = pm_in(part, 0);
	}
	return 0;
}

/* Fills win of w, where x = Reshape(Transpose(Reshape(windows))) puts windows of rows of C elements back into
 * place. Returns NULL, or why it does not. */
static inline const char *find_windows(PmVal x, NormWindow *w)
{
	static const int64_t perm[6] = { 0, 1, 3, 2, 4, 5 };
	PmVal moved = pm_in(x, 0), six = pm_in(moved, 0);

	w->win[0] = pm_dim(six, 3);
	w->win[1] = pm_dim(six, 4);
	if (pm_rank(six) != 6 || !has_perm(moved, 6, perm) || pm_dim(six, 5) != pm_dim(x, 3) ||
	    pm_dim(six, 0) != pm_dim(x, 0) || pm_dim(pm_in(six, 0), -1) != pm_dim(x, 3))
		return "the transpose does not put windows back into place";
	if (w->win[0] < 1 || w->win[1] < 1 || pm_dim(six, 1) * w->win[0] != pm_dim(x, 1) ||
	    pm_dim(six, 2) * w->win[1] != pm_dim(x, 2))
		return "the windows do not fill the image";
	return 0;
}

/* The operand of the sum that is not `other`. */
static inline PmVal other_addend(PmVal sum, PmVal other)
{
	return pm_in(sum, pm_same(pm_in(sum, 0), other) ? 1 : 0);
}

#define WINDOW_PART(p)          ANYATTR(OP(Slice, p)) /* ranges are check()'s business */
#define WINDOW_ROLL_H(slot_, p) AS(slot_, WITH(OP(Concat, WINDOW_PART(p), WINDOW_PART(V(X))), INT(axis, 1)))
#define WINDOW_ROLL(slot_, p)                                                                                \
	WITH(OP(Concat, WINDOW_PART(WINDOW_ROLL_H(slot_, p)), WINDOW_PART(V(slot_))), INT(axis, 2))
#define WINDOW_CUT(p)     ANYATTR(OPT(Slice, ANYATTR(OPT(Slice, p))))
#define WINDOW_REVERSE(p) ANYATTR(OP(Reshape, ANYATTR(OP(Transpose, ANYATTR(OP(Reshape, p, ANY)))), ANY))
#define WINDOW_NORM(p)                                                                                       \
	WITH(ANYATTR(OP(LayerNormalization, AS(SUM, OP(Add, ANYATTR(OP(Reshape, p, ANY)), V(RES))),          \
			V(SCALE), V(BIAS))),                                                                 \
	     INT(axis, -1))

#endif
