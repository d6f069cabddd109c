/* SPDX-License-Identifier: Apache-2.0 */
/* plan_place.c - where values of a plan lie: buffers, strides, views. */
#include "runtime/exec/plan_priv.h"

#include <stdio.h>

const PmType *pm__type(const PmPlan *p, PmValue v)
{
	return pm_value_type(p->g, v);
}

Loc *pm__loc(const PmPlan *p, PmValue v)
{
	return &p->loc[v.id];
}

int64_t pm__numel(const PmPlan *p, PmValue v)
{
	int64_t n = 0;

	pm_type_numel(pm__type(p, v), &n, NULL); /* every type was checked when planning began */
	return n;
}

int pm__add_buffer(PmPlan *p, int64_t bytes, PmBufUse use)
{
	PM_VEC_PUSH(&p->buffers, ((Buffer){ .bytes = bytes, .use = use }));
	return (int)p->buffers.n - 1;
}

void pm__contiguous_strides(const PmType *t, int64_t *stride)
{
	int64_t s = 1;

	for (int d = t->rank - 1; d >= 0; d--) {
		stride[d] = s;
		s *= t->dim[d];
	}
}

PmStatus pm__place(PmPlan *p, PmValue v, PmErr *err)
{
	const PmType *t = pm__type(p, v);
	Loc *l = pm__loc(p, v);
	int64_t bytes;
	PmStatus st = pm_type_bytes(t, &bytes, err);

	if (st)
		return st;
	l->buf = pm__add_buffer(p, bytes, PM_BUF_SCRATCH);
	p->buffers.v[l->buf].holds_value = 1;
	l->off = 0;
	pm__contiguous_strides(t, l->stride);
	return PM_OK;
}

int pm__is_contiguous(const PmPlan *p, PmValue v)
{
	const PmType *t = pm__type(p, v);
	int64_t want[PM_MAX_RANK];

	pm__contiguous_strides(t, want);
	for (int d = 0; d < t->rank; d++)
		if (t->dim[d] != 1 && pm__loc(p, v)->stride[d] != want[d])
			return 0;
	return 1;
}

void pm__place_view(PmPlan *p, PmNode n, PmValue v, const Loc *l)
{
	char label[64];

	*pm__loc(p, v) = *l;
	snprintf(label, sizeof label, "view %s", pm_node_op_name(p->g, n));
	PM_VEC_PUSH(&p->steps, ((Step){ .label = pm_arena_strdup(p->arena, label), .source = -1 }));
}

int pm__merge_strides(const int64_t *dim, const int64_t *stride, int n, int64_t *out)
{
	int64_t inner = 1;
	int first = 1;

	*out = 0;
	for (int d = n - 1; d >= 0; d--) {
		if (dim[d] == 1)
			continue;
		if (first)
			*out = stride[d];
		else if (stride[d] != *out * inner)
			return 0;
		first = 0;
		inner *= dim[d];
	}
	return 1;
}
