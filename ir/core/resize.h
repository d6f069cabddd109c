/* SPDX-License-Identifier: Apache-2.0 */
/* resize.h - what Resize does along each axis, from its attributes, scales or sizes; for every device. */
#ifndef IR_RESIZE_H
#define IR_RESIZE_H

#include "base/core/err.h"
#include "ir/core/graph.h"

#include <stddef.h>

typedef enum { PM_RESIZE_NEAREST, PM_RESIZE_LINEAR, PM_RESIZE_CUBIC } PmResizeMode;
typedef enum {
	PM_RESIZE_HALF_PIXEL,
	PM_RESIZE_HALF_PIXEL_SYMMETRIC,
	PM_RESIZE_PYTORCH_HALF_PIXEL,
	PM_RESIZE_ALIGN_CORNERS,
	PM_RESIZE_ASYMMETRIC,
	PM_RESIZE_CROP
} PmResizeCoord;
typedef enum { PM_ROUND_PREFER_FLOOR, PM_ROUND_PREFER_CEIL, PM_ROUND_FLOOR, PM_ROUND_CEIL } PmResizeRound;

typedef struct PmResizeAxis {
	int64_t in, out; /* extents; a symbol or INT64_MIN (not known) where the type is not static */
	double scale;    /* of this axis */
	double width;    /* extent of the result before rounding */
	double from, to; /* the crop box, as fractions of the axis */
	int same;        /* elements are copied */
	double stretch;  /* of the window: below 1 it is widened against aliasing */
	int first, taps; /* window: taps elements from floor(source) + first on */
} PmResizeAxis;

typedef struct PmResize {
	PmResizeMode mode;
	PmResizeCoord coord;
	PmResizeRound round;
	int exclude_outside, antialias;
	double cubic_a, extrapolation;
	int rank;
	PmResizeAxis axis[PM_MAX_RANK];
} PmResize;

/* Operands as read: n = 0 where one is empty or omitted. A size that is not known is INT64_MIN. */
typedef struct PmResizeArgs {
	double roi[2 * PM_MAX_RANK], scales[PM_MAX_RANK];
	int64_t sizes[PM_MAX_RANK];
	size_t n_roi, n_scales, n_sizes;
} PmResizeArgs;

/* The axes in the attribute 'axes' (all of them when it is empty) into axis[]; their number, or -1 when one
 * is outside the rank. */
int pm_resize_axes(const PmGraph *g, PmNode n, int rank, int axis[PM_MAX_RANK]);
/* PM_E_INVALID or PM_E_UNSUPPORTED with the reason in why. */
PmStatus pm_resize_read(const PmGraph *g, PmNode n, const PmType *x, const PmResizeArgs *args, PmResize *out,
			char why[160]);
/* The same of a node whose other operands are constants; PM_E_UNSUPPORTED when one is not. */
PmStatus pm_resize_of(const PmGraph *g, PmNode n, PmResize *out, char why[160]);
/* Where element o of the result lies along the axis, in elements of the input. */
double pm_resize_source(const PmResize *r, const PmResizeAxis *a, int64_t o);
/* The element that the nearest mode takes. */
int64_t pm_resize_nearest(const PmResize *r, const PmResizeAxis *a, double source);
/* Weight of an element at a (stretched) distance. */
double pm_resize_weight(const PmResize *r, double distance);
/* The elements at[] along the axis that a result at `source` is made of, with weights w[] whose sum is 1;
 * both have room for a->taps, of which the number that is used is returned (1 where one is copied). `o` is
 * the result's place, which an axis that stays the same takes. */
int pm_resize_window(const PmResize *r, const PmResizeAxis *a, int64_t o, double source, int64_t *at,
		     double *w);
/* A result at `source` lies outside the crop box's image and gets the extrapolation value. */
int pm_resize_outside(const PmResize *r, const PmResizeAxis *a, double source);

#endif
