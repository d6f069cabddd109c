/* SPDX-License-Identifier: Apache-2.0 */
/* resize.c - Resize along each axis: extents, scales, source positions and weights. */
#include "ir/core/resize.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static PmStatus fail(char why[160], PmStatus st, const char *text)
{
	snprintf(why, 160, "%s", text);
	return st;
}

/* Index of an attribute's value in a list; -1 when it is none of them. */
static int choice(const PmGraph *g, PmNode n, const char *name, const char *const *list, int count)
{
	const char *s = pm_node_s(g, n, name, list[0]);
	int k;

	for (k = 0; k < count; k++) {
		if (strcmp(s, list[k]) == 0)
			return k;
	}
	return -1;
}

int pm_resize_axes(const PmGraph *g, PmNode n, int rank, int axis[PM_MAX_RANK])
{
	const int64_t *v;
	size_t count = pm_node_ints(g, n, "axes", &v), k, i;

	if (!count) {
		for (k = 0; k < (size_t)rank; k++)
			axis[k] = (int)k;
		return rank;
	}
	if (count > (size_t)rank)
		return -1;
	for (k = 0; k < count; k++) {
		if (v[k] < -rank || v[k] >= rank)
			return -1;
		axis[k] = (int)(v[k] < 0 ? v[k] + rank : v[k]);
		for (i = 0; i < k; i++) {
			if (axis[i] == axis[k])
				return -1;
		}
	}
	return (int)count;
}

static PmStatus read_attributes(const PmGraph *g, PmNode n, PmResize *r, char why[160])
{
	static const char *const modes[] = { "nearest", "linear", "cubic" };
	static const char *const coords[] = { "half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
					      "align_corners", "asymmetric",           "tf_crop_and_resize" };
	static const char *const rounds[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil" };
	int mode = choice(g, n, "mode", modes, 3);
	int coord = choice(g, n, "coordinate_transformation_mode", coords, 6);
	int round = choice(g, n, "nearest_mode", rounds, 4);

	if (mode < 0 || coord < 0 || round < 0)
		return fail(why, PM_E_UNSUPPORTED, "its mode, coordinate mode or nearest mode is not known");
	r->mode = (PmResizeMode)mode;
	r->coord = (PmResizeCoord)coord;
	r->round = (PmResizeRound)round;
	r->exclude_outside = pm_node_i(g, n, "exclude_outside", 0) != 0;
	r->antialias = pm_node_i(g, n, "antialias", 0) != 0 && r->mode != PM_RESIZE_NEAREST;
	r->cubic_a = pm_node_f(g, n, "cubic_coeff_a", -0.75);
	r->extrapolation = pm_node_f(g, n, "extrapolation_value", 0);
	return PM_OK;
}

/* Extents by scales: ONNX multiplies in float32 and rounds down. */
static PmStatus by_scales(PmResize *r, const int *axis, int n, const PmResizeArgs *args, char why[160])
{
	int k;

	for (k = 0; k < n; k++) {
		PmResizeAxis *a = &r->axis[axis[k]];
		float size;

		a->scale = args->scales[k];
		if (!(a->scale > 0) || a->scale > 1e6)
			return fail(why, PM_E_INVALID, "a scale is not a positive number up to a million");
		if (a->in < 0) {
			a->out = a->scale == 1 ? a->in : INT64_MIN;
			continue;
		}
		size = floorf((float)a->in * (float)a->scale);
		if (size > (float)(1 << 30))
			return fail(why, PM_E_LIMIT, "the result has more than 2^30 elements along an axis");
		a->out = a->scale == 1 ? a->in : (int64_t)size;
	}
	return PM_OK;
}

/* Extents by sizes, or by the one scale that keeps the aspect ratio. */
static PmStatus by_sizes(PmResize *r, const int *axis, int n, const PmResizeArgs *args, int policy,
			 char why[160])
{
	double one = 0, s;
	int k, known = 1;

	for (k = 0; k < n; k++) {
		PmResizeAxis *a = &r->axis[axis[k]];

		a->out = args->sizes[k];
		known = known && a->in > 0 && a->out >= 0;
		if (a->out != INT64_MIN && (a->out < 0 || a->out > 1 << 30))
			return fail(why, PM_E_INVALID, "a size is not from 0 to 2^30");
		if (a->in <= 0)
			continue;
		s = (double)a->out / (double)a->in;
		a->scale = s;
		a->width = policy ? 0 : (double)a->out;
		one = k == 0 || (policy == 1 ? s < one : s > one) ? s : one;
	}
	for (k = 0; k < n && policy; k++) {
		PmResizeAxis *a = &r->axis[axis[k]];

		a->scale = one;
		a->out = known ? (int64_t)floor(one * (double)a->in + 0.5) : INT64_MIN;
		if (a->out > 1 << 30)
			return fail(why, PM_E_LIMIT, "the result has more than 2^30 elements along an axis");
	}
	return PM_OK;
}

/* The window of an axis: two elements for linear, four for cubic, more where it is widened. */
static PmStatus window(const PmResize *r, PmResizeAxis *a, char why[160])
{
	double reach = r->mode == PM_RESIZE_CUBIC ? 2 : 1;

	a->same = a->in == a->out && a->scale == 1 && r->coord != PM_RESIZE_CROP;
	a->stretch = r->antialias && a->scale < 1 ? a->scale : 1;
	if (a->width == 0)
		a->width = a->scale * (double)a->in;
	a->first = 0;
	a->taps = 1;
	if (a->in == 0 && a->out > 0)
		return fail(why, PM_E_INVALID, "an axis without elements cannot be enlarged");
	if (r->mode == PM_RESIZE_NEAREST || a->same)
		return PM_OK;
	if (reach / a->stretch > 1 << 20)
		return fail(why, PM_E_LIMIT, "the window has more than 2^20 elements");
	a->first = (int)floor(-reach / a->stretch) + 1;
	a->taps = 2 - 2 * a->first;
	return PM_OK;
}

PmStatus pm_resize_read(const PmGraph *g, PmNode n, const PmType *x, const PmResizeArgs *args, PmResize *out,
			char why[160])
{
	static const char *const policies[] = { "stretch", "not_larger", "not_smaller" };
	int axis[PM_MAX_RANK], count = pm_resize_axes(g, n, x->rank, axis), k;
	int policy = choice(g, n, "keep_aspect_ratio_policy", policies, 3);
	PmStatus st;

	memset(out, 0, sizeof *out);
	out->rank = x->rank;
	for (k = 0; k < x->rank; k++)
		out->axis[k] = (PmResizeAxis){ .in = x->dim[k], .out = x->dim[k], .scale = 1, .to = 1 };
	if (count < 0)
		return fail(why, PM_E_INVALID, "the attribute 'axes' does not list axes of the input");
	if (policy < 0)
		return fail(why, PM_E_UNSUPPORTED, "its keep_aspect_ratio_policy is not known");
	st = read_attributes(g, n, out, why);
	if (st)
		return st;
	if ((args->n_sizes != 0) == (args->n_scales != 0) && count > 0)
		return fail(why, PM_E_INVALID, "there must be scales or sizes, and not both");
	if ((args->n_sizes ? args->n_sizes : args->n_scales) != (size_t)count)
		return fail(why, PM_E_INVALID, "there must be one scale or size for each axis");
	st = args->n_sizes ? by_sizes(out, axis, count, args, policy, why)
			   : by_scales(out, axis, count, args, why);
	if (!st && out->coord == PM_RESIZE_CROP && args->n_roi != 2 * (size_t)count)
		return fail(why, PM_E_INVALID, "the crop box must have two numbers for each axis");
	for (k = 0; k < count && out->coord == PM_RESIZE_CROP; k++) {
		out->axis[axis[k]].from = args->roi[k];
		out->axis[axis[k]].to = args->roi[count + k];
	}
	for (k = 0; k < x->rank && !st; k++)
		st = window(out, &out->axis[k], why);
	return st;
}

PmStatus pm_resize_of(const PmGraph *g, PmNode n, PmResize *out, char why[160])
{
	PmResizeArgs a = { .n_roi = 0 };
	PmValue in[4] = { { 0 } };
	PmStatus st = PM_OK;

	for (size_t i = 0; i < 4 && i < pm_node_n_in(g, n); i++) {
		int64_t numel = 1;

		in[i] = pm_node_in(g, n, i);
		if (i && in[i].id && !pm_type_numel(pm_value_type(g, in[i]), &numel, NULL) && !numel)
			in[i].id = 0;
	}
	if (in[1].id)
		st = pm_value_const_floats(g, in[1], a.roi, 2 * PM_MAX_RANK, &a.n_roi);
	if (in[2].id && !st)
		st = pm_value_const_floats(g, in[2], a.scales, PM_MAX_RANK, &a.n_scales);
	if (in[3].id && !st)
		st = pm_value_const_ints(g, in[3], a.sizes, PM_MAX_RANK, &a.n_sizes);
	if (st)
		return fail(why, PM_E_UNSUPPORTED,
			    "its scales or sizes are not constant, which only the device ref takes");
	return pm_resize_read(g, n, pm_value_type(g, in[0]), &a, out, why);
}

double pm_resize_source(const PmResize *r, const PmResizeAxis *a, int64_t o)
{
	double x = (double)o, last = (double)a->in - 1, width = a->width;

	switch (r->coord) {
	case PM_RESIZE_ALIGN_CORNERS:
		return width == 1 ? 0 : x * last / (width - 1);
	case PM_RESIZE_ASYMMETRIC:
		return x / a->scale;
	case PM_RESIZE_CROP:
		if (width == 1)
			return 0.5 * (a->from + a->to) * last;
		return a->from * last + x * (a->to - a->from) * last / (width - 1);
	case PM_RESIZE_PYTORCH_HALF_PIXEL:
		return a->out == 1 ? 0 : (x + 0.5) / a->scale - 0.5;
	case PM_RESIZE_HALF_PIXEL_SYMMETRIC:
		return (double)a->in / 2 * (1 - (double)a->out / width) + (x + 0.5) / a->scale - 0.5;
	case PM_RESIZE_HALF_PIXEL:
		break;
	}
	return (x + 0.5) / a->scale - 0.5;
}

int64_t pm_resize_nearest(const PmResize *r, const PmResizeAxis *a, double source)
{
	double v = r->round == PM_ROUND_PREFER_FLOOR  ? ceil(source - 0.5)
		   : r->round == PM_ROUND_PREFER_CEIL ? floor(source + 0.5)
		   : r->round == PM_ROUND_FLOOR       ? floor(source)
						      : ceil(source);

	if (!(v > 0))
		return 0;
	return v > (double)(a->in - 1) ? a->in - 1 : (int64_t)v;
}

double pm_resize_weight(const PmResize *r, double distance)
{
	double d = fabs(distance), a = r->cubic_a;

	if (r->mode == PM_RESIZE_LINEAR)
		return d < 1 ? 1 - d : 0;
	if (d <= 1)
		return ((a + 2) * d - (a + 3)) * d * d + 1;
	return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

int pm_resize_window(const PmResize *r, const PmResizeAxis *a, int64_t o, double source, int64_t *at,
		     double *w)
{
	double low = floor(source), sum = 0;

	if (a->same || r->mode == PM_RESIZE_NEAREST) {
		at[0] = a->same ? o : pm_resize_nearest(r, a, source);
		w[0] = 1;
		return 1;
	}
	for (int k = 0; k < a->taps; k++) {
		double i = low + a->first + k;
		int outside = i < 0 || i > (double)(a->in - 1);

		w[k] = outside && r->exclude_outside ? 0 : pm_resize_weight(r, (i - source) * a->stretch);
		at[k] = i < 0 ? 0 : (i > (double)(a->in - 1) ? a->in - 1 : (int64_t)i);
		sum += w[k];
	}
	for (int k = 0; k < a->taps && sum != 0; k++)
		w[k] /= sum;
	return a->taps;
}

int pm_resize_outside(const PmResize *r, const PmResizeAxis *a, double source)
{
	return r->coord == PM_RESIZE_CROP && !a->same && (source < 0 || source > (double)(a->in - 1));
}
