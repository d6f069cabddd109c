/* SPDX-License-Identifier: Apache-2.0 */
/* gated.h - act(gate) * up, with the two as separate values or as the halves of one tensor. For passes only.
 */
#ifndef PASSES_GATED_H
#define PASSES_GATED_H

#include "elementwise.h"

/* G the gate, U the other factor; JOINT the tensor that both are halves of. */
enum { G, U, JOINT };

/* A half of the last axis, the other one by the second pattern; check() looks at the sizes. */
#define GATED_HALF(slot_)                                                                                    \
	AS(slot_, ALT(ANYATTR(OP(Split, TYPED(V(JOINT), FLOATS, -1))),                                       \
		      RESULT(1, ANYATTR(OP(Split, V(JOINT)))), ANYATTR(OP(Slice, V(JOINT)))))

/* Where the half begins; -1 when v is not a range of the last axis. */
static inline int64_t gated_offset(PmVal v)
{
	int64_t axis, start, end;

	if (pm_is_op(v, Slice))
		return slice_range(v, &axis, &start, &end) && axis == pm_rank(v) - 1 ? start : -1;
	axis = pm_attr_i(v, "axis", 0);
	if (axis != pm_rank(v) - 1 && axis != -1)
		return -1;
	return pm_same(v, pm_out(v, 0)) ? 0 : pm_dim(pm_out(v, 0), -1);
}

/* PM_OK when gate G and value U have the root's type and differ, and are, where they come from one value
 * JOINT, ranges of its last axis; else a decline that says why not. */
static inline PmStatus gated_check(PmMatch *m)
{
	PmVal g = m->v[G], u = m->v[U];

	if (pm_numel(m->root) <= 0)
		return pm_decline(m, "the gate is empty or its size is not known");
	if (!pm_same_type(g, m->root) || !pm_same_type(u, m->root))
		return pm_decline(m, "gate and value differ in type or shape");
	if (pm_same(g, u))
		return pm_decline(m, "gate and value are the same");
	if (m->out.n > 1)
		return pm_decline(m, "a part of the gate is used outside");
	if (m->n_slots > JOINT && (gated_offset(g) < 0 || gated_offset(u) < 0))
		return pm_decline(m, "gate and value are not ranges of the last axis");
	return PM_OK;
}

/* e->form, act, p0 and p1 are set; op[0] becomes the gate for FORM_ACT_TIMES and the value for
 * FORM_TIMES_ACT. */
static inline PmStatus gated_replace(PmRewriter *rw, PmMatch *m, Elementwise *e)
{
	int swap = e->form == FORM_TIMES_ACT, k;

	for (k = 0; k < 2; k++) {
		PmVal v = m->v[(k == 0) != swap ? G : U];

		if (m->n_slots > JOINT)
			elementwise_add_part(e, m->v[JOINT], pm_dim(v, -1), gated_offset(v));
		else if (!elementwise_add(e, v, m->root))
			return PM_DECLINED;
	}
	return elementwise_replace(rw, m, e);
}

#endif
