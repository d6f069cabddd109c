/* SPDX-License-Identifier: Apache-2.0 */
/* ref_sample.c - GridSample, RoiAlign, Col2Im, Det. */
#include "runtime/ref/ref_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SPATIAL = 3, MAX_TAPS = 4 };

/* ---- GridSample ---- */

typedef enum { ZEROS, BORDER, REFLECTION } Padding;

typedef struct Sampler {
	int spatial, taps, align;
	Padding padding;
	int64_t size[MAX_SPATIAL];
} Sampler;

/* Folds v back into [lo, hi]. */
static double reflect(double v, double lo, double hi)
{
	double range = hi - lo, off = v < lo ? lo - v : v - hi, turns;

	if (v >= lo && v <= hi)
		return v;
	if (!(range > 0))
		return lo;
	turns = floor(off / range);
	off -= turns * range;
	return (fmod(turns, 2) == 0) == (v < lo) ? lo + off : hi - off;
}

static double position(const Sampler *s, int d, double g)
{
	double n = (double)s->size[d], lo = s->align ? 0 : -0.5, hi = s->align ? n - 1 : n - 0.5;
	double v = s->align ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;

	if (s->taps == 1)
		v = rint(v);
	if (s->padding == BORDER && (v < lo || v > hi))
		v = v < 0 ? 0 : (v > n - 1 ? n - 1 : v);
	else if (s->padding == REFLECTION)
		v = reflect(v, lo, hi);
	/* Farther out nothing changes; NaN counts as outside. */
	return v >= -3 ? (v > n + 3 ? n + 3 : v) : -3;
}

/* Index of a tap, -1 when it reads as zero. */
static int64_t place(const Sampler *s, int d, int64_t i)
{
	int64_t n = s->size[d];

	if (i >= 0 && i < n)
		return i;
	if (s->padding == ZEROS)
		return -1;
	if (s->padding == BORDER)
		return i < 0 ? 0 : n - 1;
	return (int64_t)reflect((double)i, s->align ? 0 : -0.5, s->align ? (double)n - 1 : (double)n - 0.5);
}

/* Weights of the taps around a position whose fraction is f: Keys' cubic with a = -0.75. */
static void weights(int taps, double f, double w[MAX_TAPS])
{
	double g = 1 - f, a = -0.75;

	w[0] = taps == 2 ? g : 1;
	if (taps >= 2)
		w[1] = f;
	if (taps < 4)
		return;
	w[0] = ((a * (f + 1) - 5 * a) * (f + 1) + 8 * a) * (f + 1) - 4 * a;
	w[1] = ((a + 2) * f - (a + 3)) * f * f + 1;
	w[2] = ((a + 2) * g - (a + 3)) * g * g + 1;
	w[3] = ((a * (g + 1) - 5 * a) * (g + 1) + 8 * a) * (g + 1) - 4 * a;
}

/* One result: the sum over all taps of all axes. `grid` has the last axis' coordinate first. */
static double sample(const Sampler *s, const double *x, const double *grid)
{
	double w[MAX_SPATIAL][MAX_TAPS], sum = 0;
	int64_t at[MAX_SPATIAL][MAX_TAPS];
	int d, k, all = 1, n;

	for (d = 0; d < s->spatial; d++, all *= s->taps) {
		double v = position(s, d, grid[s->spatial - 1 - d]);
		int64_t base = (int64_t)floor(v) - (s->taps == 4);

		weights(s->taps, v - floor(v), w[d]);
		for (k = 0; k < s->taps; k++)
			at[d][k] = place(s, d, base + k);
	}
	for (n = 0; n < all; n++) {
		int64_t off = 0;
		double product = 1;

		for (d = s->spatial - 1, k = n; d >= 0; d--, k /= s->taps) {
			int64_t inner = 1;

			for (int j = d + 1; j < s->spatial; j++)
				inner *= s->size[j];
			product *= w[d][k % s->taps];
			off = at[d][k % s->taps] < 0 || off < 0 ? -1 : off + at[d][k % s->taps] * inner;
		}
		if (off >= 0)
			sum += product * x[off];
	}
	return sum;
}

PmStatus pm__ref_grid_sample(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0], *grid = &c->in[1];
	const char *mode = pm_node_s(c->g, c->node, "mode", "linear"),
		   *padding = pm_node_s(c->g, c->node, "padding_mode", "zeros");
	PmRefTensor *y = &c->out[0];
	int rank = x->type.rank;
	int64_t points = pm__ref_extent(&y->type, 2, rank), plane = pm__ref_extent(&x->type, 2, rank), i;
	Sampler s = { .spatial = rank - 2,
		      .taps = strcmp(mode, "nearest") == 0 ? 1 : (strcmp(mode, "cubic") == 0 ? 4 : 2),
		      .align = pm_node_i(c->g, c->node, "align_corners", 0) != 0,
		      .padding = strcmp(padding, "border") == 0       ? BORDER
				 : strcmp(padding, "reflection") == 0 ? REFLECTION
								      : ZEROS };

	(void)err;
	for (i = 0; i < s.spatial; i++)
		s.size[i] = x->type.dim[i + 2];
	for (i = 0; i < y->numel; i++) {
		int64_t batch = i / points / y->type.dim[1];

		y->f[i] = sample(&s, x->f + i / points * plane,
				 grid->f + (batch * points + i % points) * s.spatial);
	}
	return PM_OK;
}

/* ---- RoiAlign ---- */

typedef struct Roi {
	double y, x, bin_h, bin_w;
	int64_t grid_h, grid_w;
} Roi;

static Roi read_roi(const PmRefCall *c, const double *r)
{
	const char *how = pm_node_s(c->g, c->node, "coordinate_transformation_mode", "half_pixel");
	double scale = pm_node_f(c->g, c->node, "spatial_scale", 1);
	int half = strcmp(how, "half_pixel") == 0;
	double offset = half ? 0.5 : 0, w, h;
	int64_t ratio = pm_node_i(c->g, c->node, "sampling_ratio", 0);
	Roi roi = { .x = r[0] * scale - offset, .y = r[1] * scale - offset };

	w = r[2] * scale - offset - roi.x;
	h = r[3] * scale - offset - roi.y;
	if (!half) { /* a region has at least one pixel */
		w = w > 1 ? w : 1;
		h = h > 1 ? h : 1;
	}
	roi.bin_h = h / (double)c->out[0].type.dim[2];
	roi.bin_w = w / (double)c->out[0].type.dim[3];
	roi.grid_h = ratio > 0 ? ratio : (int64_t)ceil(roi.bin_h);
	roi.grid_w = ratio > 0 ? ratio : (int64_t)ceil(roi.bin_w);
	return roi;
}

/* Neighbours and weights of a point of an axis of n elements; 0 when it is too far outside. */
static int neighbours(double v, int64_t n, int64_t at[2], double w[2])
{
	if (!(v >= -1 && v <= (double)n))
		return 0;
	v = v > 0 ? v : 0;
	at[0] = (int64_t)v;
	if (at[0] >= n - 1) {
		at[0] = at[1] = n - 1;
		v = (double)at[0];
	} else {
		at[1] = at[0] + 1;
	}
	w[1] = v - (double)at[0];
	w[0] = 1 - w[1];
	return 1;
}

/* The mean of the bin's points, or the largest of their weighted neighbours, as ONNX has it. */
static double pool_bin(const Roi *roi, const double *x, int64_t height, int64_t width, int64_t ph, int64_t pw,
		       int is_max)
{
	double result = 0, count = (double)(roi->grid_h * roi->grid_w);

	for (int64_t i = 0; i < roi->grid_h; i++)
		for (int64_t j = 0; j < roi->grid_w; j++) {
			double y = roi->y + (double)ph * roi->bin_h +
				   ((double)i + 0.5) * roi->bin_h / (double)roi->grid_h;
			double v = roi->x + (double)pw * roi->bin_w +
				   ((double)j + 0.5) * roi->bin_w / (double)roi->grid_w;
			int64_t ay[2] = { 0, 0 }, ax[2] = { 0, 0 };
			double wy[2] = { 0, 0 }, wx[2] = { 0, 0 }, best = -INFINITY;

			if (!neighbours(y, height, ay, wy) || !neighbours(v, width, ax, wx))
				wy[0] = wy[1] = 0; /* counts as a zero */
			for (int k = 0; k < 4; k++) {
				double one = wy[k / 2] * wx[k % 2] * x[ay[k / 2] * width + ax[k % 2]];

				best = one > best ? one : best;
				result += is_max ? 0 : one;
			}
			if (is_max && ((i == 0 && j == 0) || best > result))
				result = best;
		}
	return is_max ? result : result / (count > 1 ? count : 1);
}

PmStatus pm__ref_roi_align(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0], *rois = &c->in[1], *batch = &c->in[2];
	PmRefTensor *y = &c->out[0];
	int64_t channels = x->type.dim[1], height = x->type.dim[2], width = x->type.dim[3];
	int64_t oh = y->type.dim[2], ow = y->type.dim[3];
	int is_max = strcmp(pm_node_s(c->g, c->node, "mode", "avg"), "max") == 0;

	for (int64_t i = 0; i < y->numel; i++) {
		int64_t r = i / ow / oh / channels, ch = i / ow / oh % channels, b = batch->i[r];
		Roi roi = read_roi(c, rois->f + 4 * r);

		if (b < 0 || b >= x->type.dim[0])
			return pm__ref_fail(c, err, PM_E_INVALID, "region %lld is of batch element %lld.",
					    (long long)r, (long long)b);
		if (height && width)
			y->f[i] = pool_bin(&roi, x->f + (b * channels + ch) * height * width, height, width,
					   i / ow % oh, i % ow, is_max);
	}
	return PM_OK;
}

/* ---- Col2Im ---- */

PmStatus pm__ref_col2im(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	PmRefTensor *y = &c->out[0];
	const int64_t *block, *dilations, *pads, *strides;
	int n = (int)pm_node_ints(c->g, c->node, "block_shape", &block), d;
	int64_t blocks = 1, places = x->type.dim[2], count[PM_MAX_RANK], i;

	(void)err;
	pm_node_ints(c->g, c->node, "dilations", &dilations);
	pm_node_ints(c->g, c->node, "pads", &pads);
	pm_node_ints(c->g, c->node, "strides", &strides);
	for (d = 0; d < n; d++) {
		blocks *= block[d];
		count[d] = (y->type.dim[d + 2] + pads[d] + pads[d + n] - (block[d] - 1) * dilations[d] - 1) /
				   strides[d] +
			   1;
	}
	/* Every column is added to the places of the image that it was cut from. */
	for (i = 0; i < x->numel; i++) {
		int64_t place = i % places, b = i / places % blocks, to = 0, step = 1;

		for (d = n - 1; d >= 0; d--) {
			int64_t at = place % count[d] * strides[d] + b % block[d] * dilations[d] - pads[d];

			if (at < 0 || at >= y->type.dim[d + 2])
				break;
			to += at * step;
			step *= y->type.dim[d + 2];
			place /= count[d];
			b /= block[d];
		}
		if (d >= 0)
			continue;
		to += i / places / blocks * step;
		if (y->f)
			y->f[to] += x->f[i];
		else
			y->i[to] = (int64_t)((uint64_t)y->i[to] + (uint64_t)x->i[i]);
	}
	for (i = 0; y->i && i < y->numel; i++)
		y->i[i] = pm_int_wrap(y->type.dtype, y->i[i]);
	return PM_OK;
}

/* ---- Det ---- */

/* Gaussian elimination with partial pivoting, in place. */
static double determinant(double *m, int64_t n)
{
	double det = 1;

	for (int64_t k = 0; k < n; k++) {
		int64_t best = k;

		for (int64_t r = k + 1; r < n; r++)
			if (fabs(m[r * n + k]) > fabs(m[best * n + k]))
				best = r;
		for (int64_t j = 0; j < n && best != k; j++) {
			double t = m[k * n + j];

			m[k * n + j] = m[best * n + j];
			m[best * n + j] = t;
		}
		det *= best == k ? m[k * n + k] : -m[k * n + k];
		if (m[k * n + k] == 0)
			return det;
		for (int64_t r = k + 1; r < n; r++) {
			double f = m[r * n + k] / m[k * n + k];

			for (int64_t j = k; j < n; j++)
				m[r * n + j] -= f * m[k * n + j];
		}
	}
	return det;
}

PmStatus pm__ref_det(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	int64_t n = x->type.dim[x->type.rank - 1], i;
	double *m = pm_xcalloc((size_t)(n * n) + 1, sizeof *m);

	(void)err;
	for (i = 0; i < c->out[0].numel; i++) {
		if (n)
			memcpy(m, x->f + i * n * n, (size_t)(n * n) * sizeof *m);
		c->out[0].f[i] = determinant(m, n);
	}
	free(m);
	return PM_OK;
}
