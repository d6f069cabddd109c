/* SPDX-License-Identifier: Apache-2.0 */
/* torch_resize.c - Resize as F.interpolate, where the two read the same places with the same weights. */
#include "bench/torch/torch_priv.h"
#include "ir/core/resize.h"

#include <math.h>

/* The element that F.interpolate(mode="nearest" or "nearest-exact") takes: floats, as there. */
static int64_t nearest_there(const PmResizeAxis *a, int64_t o, int exact)
{
	float scale = (float)a->in / (float)a->out;
	int64_t i = (int64_t)floorf(exact ? ((float)o + 0.5f) * scale : (float)o * scale);

	return i < a->in - 1 ? i : a->in - 1;
}

/* The place between elements that it interpolates at. */
static double source_there(const PmResizeAxis *a, int64_t o, int corners)
{
	if (corners)
		return a->out > 1 ? (double)o * (double)(a->in - 1) / (double)(a->out - 1) : 0;
	return ((double)o + 0.5) * (double)a->in / (double)a->out - 0.5;
}

static int same_places(const PmResize *r, int variant)
{
	for (int d = 2; d < r->rank; d++) {
		const PmResizeAxis *a = &r->axis[d];

		for (int64_t o = 0; o < a->out; o++) {
			double s = a->same ? (double)o : pm_resize_source(r, a, o);

			if (r->mode == PM_RESIZE_NEAREST
				    ? (a->same ? o : pm_resize_nearest(r, a, s)) !=
					      nearest_there(a, o, variant)
				    : fabs(s - source_there(a, o, variant)) > 1e-6 * (double)a->in)
				return 0;
		}
	}
	return 1;
}

/* Its mode's name by the number of axes it works on; NULL: there is none. */
static const char *mode_of(const PmResize *r, int variant)
{
	static const char *const linear[] = { "linear", "bilinear", "trilinear" };
	int axes = r->rank - 2;

	if (axes < 1 || axes > 3)
		return NULL;
	if (r->mode == PM_RESIZE_NEAREST)
		return variant ? "nearest-exact" : "nearest";
	if (r->mode == PM_RESIZE_LINEAR)
		return linear[axes - 1];
	return axes == 2 && r->cubic_a == -0.75 ? "bicubic" : NULL;
}

static const char *reason(const PmResize *r, const char **mode, int *variant)
{
	if (r->antialias || r->exclude_outside || r->coord == PM_RESIZE_CROP)
		return "it smooths, leaves out or crops";
	if (r->rank < 3 || r->axis[0].in != r->axis[0].out || r->axis[1].in != r->axis[1].out)
		return "it changes one of the first two axes";
	for (*variant = 0; *variant < 2 && !same_places(r, *variant); (*variant)++)
		;
	if (*variant == 2)
		return "it reads other places than F.interpolate does";
	*mode = mode_of(r, *variant);
	return *mode ? NULL : "there is no such mode for this number of axes";
}

PmStatus pm__torch_resize(const PmGraph *g, PmNode n, PmStr *out, PmErr *err)
{
	char why[160];
	const char *mode = NULL, *no = why;
	PmResize r;
	int variant;

	if (!pm_resize_of(g, n, &r, why))
		no = reason(&r, &mode, &variant);
	if (no)
		return pm_err(err, PM_E_UNSUPPORTED, "Resize has no counterpart in PyTorch here: %s.", no);
	pm_str_add(out, "size=(");
	for (int d = 2; d < r.rank; d++)
		pm_str_addf(out, "%lld, ", (long long)r.axis[d].out);
	pm_str_addf(out, "), mode=\"%s\"", mode);
	if (r.mode != PM_RESIZE_NEAREST)
		pm_str_addf(out, ", align_corners=%s", variant ? "True" : "False");
	return PM_OK;
}
