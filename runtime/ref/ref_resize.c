/* SPDX-License-Identifier: Apache-2.0 */
/* ref_resize.c - Resize, one axis after the other. */
#include "ir/core/resize.h"
#include "runtime/ref/ref_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Resizes axis d of x (outer x in x inner) into a new block. */
static double *along(const PmResize *r, const PmResizeAxis *a, const double *x, int64_t outer, int64_t inner)
{
	double *y = pm_xcalloc((size_t)(outer * a->out * inner) + 1, sizeof *y);
	double *w = pm_xcalloc((size_t)a->taps, sizeof *w);
	int64_t *at = pm_xcalloc((size_t)a->taps, sizeof *at), o, n, i;
	int k;

	for (o = 0; o < a->out; o++) {
		double source = pm_resize_source(r, a, o);
		int outside = pm_resize_outside(r, a, source), taps;

		taps = pm_resize_window(r, a, o, source, at, w);
		for (n = 0; n < outer; n++)
			for (i = 0; i < inner; i++) {
				double sum = 0;

				for (k = 0; k < taps; k++)
					sum += w[k] == 0 ? 0 : w[k] * x[(n * a->in + at[k]) * inner + i];
				y[(n * a->out + o) * inner + i] = outside ? r->extrapolation : sum;
			}
	}
	free(w);
	free(at);
	return y;
}

PmStatus pm_ref_resize(const PmRefCall *c, PmResize *r, PmErr *err)
{
	const PmRefTensor *roi = pm__ref_in(c, 1), *scales = pm__ref_in(c, 2), *sizes = pm__ref_in(c, 3);
	PmResizeArgs args = { .n_roi = roi ? (size_t)roi->numel : 0,
			      .n_scales = scales ? (size_t)scales->numel : 0,
			      .n_sizes = sizes ? (size_t)sizes->numel : 0 };
	char why[160];
	size_t k;
	int d;
	PmStatus st;

	if (args.n_roi > 2 * PM_MAX_RANK || args.n_scales > PM_MAX_RANK || args.n_sizes > PM_MAX_RANK)
		return pm__ref_fail(c, err, PM_E_INVALID, "there are more scales or sizes than axes.");
	for (k = 0; k < args.n_roi; k++)
		args.roi[k] = roi->f[k];
	for (k = 0; k < args.n_scales; k++)
		args.scales[k] = scales->f[k];
	for (k = 0; k < args.n_sizes; k++)
		args.sizes[k] = sizes->i[k];
	st = pm_resize_read(c->g, c->node, &c->in[0].type, &args, r, why);
	if (st)
		return pm__ref_fail(c, err, st, "%s.", why);
	for (d = 0; d < r->rank; d++) {
		if (r->axis[d].out != c->out[0].type.dim[d])
			return pm__ref_fail(c, err, PM_E_SHAPE,
					    "axis %d becomes %lld, not %lld as the graph says.", d,
					    (long long)r->axis[d].out, (long long)c->out[0].type.dim[d]);
	}
	return PM_OK;
}

PmStatus pm__ref_resize(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	PmRefTensor *y = &c->out[0];
	double *now = NULL, *next;
	PmResize r;
	int64_t k, outer;
	int d;
	PmStatus st = pm_ref_resize(c, &r, err);

	if (st || !y->numel)
		return st;
	now = pm_xcalloc((size_t)x->numel + 1, sizeof *now);
	for (k = 0; k < x->numel; k++)
		now[k] = x->f ? x->f[k] : pm_int_to_f64(x->type.dtype, x->i[k]);
	for (d = 0; d < r.rank; d++) {
		if (r.axis[d].same)
			continue;
		for (k = 0, outer = 1; k < d; k++)
			outer *= r.axis[k].out;
		next = along(&r, &r.axis[d], now, outer, pm__ref_extent(&x->type, d + 1, r.rank));
		free(now);
		now = next;
	}
	for (k = 0; k < y->numel; k++) {
		if (y->f)
			y->f[k] = now[k];
		else
			y->i[k] = pm_int_from_f64(y->type.dtype, now[k]);
	}
	free(now);
	return PM_OK;
}
