/* SPDX-License-Identifier: Apache-2.0 */
/* ref_util.c - strides, walks, wrapping and box copies for the reference device. */
#include "runtime/ref/ref_priv.h"

#include "ir/core/element.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

PmStatus pm__ref_fail(const PmRefCall *c, PmErr *err, PmStatus code, const char *fmt, ...)
{
	PmStr who = PM_STR_INIT;
	char text[PM_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pm_node_describe(c->g, c->node, &who);
	pm_err(err, code, "%s: %s", who.s, text);
	pm_str_release(&who);
	return code;
}

const PmRefTensor *pm__ref_in(const PmRefCall *c, size_t k)
{
	return k < c->n_in && c->in[k].type.dtype >= 0 ? &c->in[k] : NULL;
}

PmStatus pm__ref_sized(const PmRefCall *c, size_t k, const PmType *t, PmErr *err)
{
	PmStr want = PM_STR_INIT, got = PM_STR_INIT;
	PmStatus st;

	if (!pm_type_is_static(&c->out[k].type))
		return pm_ref_tensor_init(&c->out[k], t, err);
	if (pm_type_equal(&c->out[k].type, t))
		return PM_OK;
	pm_type_describe(&c->out[k].type, &want);
	pm_type_describe(t, &got);
	st = pm__ref_fail(c, err, PM_E_SHAPE,
			  "for this data result %zu is %s, but the graph says %s; leave its size open.", k,
			  got.s, want.s);
	pm_str_release(&want);
	pm_str_release(&got);
	return st;
}

void pm__ref_strides(const PmType *t, int64_t *stride)
{
	int64_t s = 1;
	int d;

	for (d = t->rank; d-- > 0;) {
		stride[d] = s;
		s *= t->dim[d];
	}
}

void pm__ref_broadcast_strides(const PmType *t, const PmType *to, int64_t *stride)
{
	int64_t own[PM_MAX_RANK];
	int lead = to->rank - t->rank, d;

	pm__ref_strides(t, own);
	for (d = 0; d < to->rank; d++)
		stride[d] = d < lead || t->dim[d - lead] == 1 ? 0 : own[d - lead];
}

int64_t pm__ref_extent(const PmType *t, int from, int to)
{
	int64_t n = 1;
	int d;

	for (d = from; d < to; d++)
		n *= t->dim[d];
	return n;
}

double pm__ref_round(int dtype, double v)
{
	return pm_float_round(dtype, v);
}

int pm__ref_walk_next(PmRefWalk *w)
{
	int d;

	for (d = w->rank; d-- > 0;) {
		if (++w->at[d] < w->dim[d])
			return 1;
		w->at[d] = 0;
	}
	return 0;
}

static void copy_run(PmRefTensor *to, int64_t t0, int64_t ts, const PmRefTensor *from, int64_t f0, int64_t fs,
		     int64_t n)
{
	int64_t k;

	if (to->f && ts == 1 && fs == 1)
		memcpy(to->f + t0, from->f + f0, (size_t)n * sizeof *to->f);
	else if (to->f)
		for (k = 0; k < n; k++)
			to->f[t0 + k * ts] = from->f[f0 + k * fs];
	else if (ts == 1 && fs == 1)
		memcpy(to->i + t0, from->i + f0, (size_t)n * sizeof *to->i);
	else
		for (k = 0; k < n; k++)
			to->i[t0 + k * ts] = from->i[f0 + k * fs];
}

void pm__ref_copy(PmRefTensor *to, const PmRefTensor *from, const PmRefCopy *box)
{
	int64_t t, f, n = 1, ts = 1, fs = 1;
	PmRefWalk w;
	int d, rank = box->rank;

	for (d = 0; d < rank; d++)
		if (!box->dim[d])
			return;
	/* The inner run covers as many trailing axes as lie densely on both sides. */
	while (rank > 0 &&
	       (n == 1 || (box->to_stride[rank - 1] == ts * n && box->from_stride[rank - 1] == fs * n))) {
		if (n == 1 && box->dim[rank - 1] > 1) {
			ts = box->to_stride[rank - 1];
			fs = box->from_stride[rank - 1];
		}
		n *= box->dim[--rank];
	}
	w.rank = rank;
	for (d = 0; d < rank; d++) {
		w.dim[d] = box->dim[d];
		w.at[d] = 0;
	}
	do {
		t = box->to_offset;
		f = box->from_offset;
		for (d = 0; d < rank; d++) {
			t += w.at[d] * box->to_stride[d];
			f += w.at[d] * box->from_stride[d];
		}
		copy_run(to, t, ts, from, f, fs, n);
	} while (pm__ref_walk_next(&w));
}
