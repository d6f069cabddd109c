/* SPDX-License-Identifier: Apache-2.0 */
/* ref_conv.c - Conv and ConvTranspose in any number of spatial dimensions.
 *
 * Output positions are taken in tiles; for each tile the input elements that meet some rows of the filter
 * matrix are laid out as a panel (one row per input channel and filter tap), and the panel is multiplied by
 * the filters. Padding appears in the panel as zeros.
 */
#include "runtime/ref/ref_priv.h"

#include "base/sys/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A panel is a block of ref_product.c; narrow ones have whole tiles too. */
enum { PANEL_ROWS = 128, PANEL_COLS = 480, NARROW_COLS = 96, MAX_SPATIAL = PM_MAX_RANK - 2 };

typedef struct Conv {
	int nd; /* spatial dimensions */
	int64_t in[MAX_SPATIAL], out[MAX_SPATIAL], kernel[MAX_SPATIAL];
	const int64_t *stride, *dilation, *pad; /* pad: all begins, then all ends */
	int64_t in_size, out_size, taps;        /* products of the above */
} Conv;

/* Where filter tap `tap` reads, from an output position times the stride. */
static void shift_of_tap(const Conv *v, int64_t tap, int64_t *shift)
{
	for (int d = v->nd; d-- > 0; tap /= v->kernel[d])
		shift[d] = tap % v->kernel[d] * v->dilation[d] - v->pad[d];
}

/* Fills n columns of a panel row: the input plane `x`, shifted, from output position `at`. */
static void panel_row(const Conv *v, const double *x, const int64_t *shift, int64_t at, int64_t n,
		      double *row)
{
	int64_t pos[MAX_SPATIAL], last = v->nd - 1, d;

	for (d = v->nd; d-- > 0; at /= v->out[d])
		pos[d] = at % v->out[d];
	while (n > 0) {
		int64_t run = v->out[last] - pos[last], base = 0, step = v->stride[last], i, k;
		int inside = 1;

		run = run < n ? run : n;
		for (d = 0; d < last; d++) {
			i = pos[d] * v->stride[d] + shift[d];
			inside = inside && i >= 0 && i < v->in[d];
			base = base * v->in[d] + i;
		}
		i = pos[last] * step + shift[last];
		for (k = 0; k < run; k++, i += step)
			row[k] = inside && i >= 0 && i < v->in[last] ? x[base * v->in[last] + i] : 0;
		row += run;
		n -= run;
		pos[last] = 0;
		for (d = last; d-- > 0;) {
			if (++pos[d] < v->out[d])
				break;
			pos[d] = 0;
		}
	}
}

/* Output positions [at, at + n) of one group of one batch entry: x has `ic` planes, y `oc` planes (started
 * with the bias). */
static void conv_tile(const Conv *v, const double *x, int64_t ic, const double *w, int64_t oc, int64_t at,
		      int64_t n, double *y, double *panel)
{
	int64_t rows = ic * v->taps, shift[MAX_SPATIAL], r0, r;

	for (r0 = 0; r0 < rows; r0 += PANEL_ROWS) {
		int64_t nr = rows - r0 < PANEL_ROWS ? rows - r0 : PANEL_ROWS;

		for (r = 0; r < nr; r++) {
			shift_of_tap(v, (r0 + r) % v->taps, shift);
			panel_row(v, x + (r0 + r) / v->taps * v->in_size, shift, at, n, panel + r * n);
		}
		pm__ref_gemm_f(oc, n, nr, w + r0, rows, panel, n, y + at, v->out_size);
	}
}

/* All tiles: of each batch entry and group, one after the other. */
typedef struct Tiles {
	const Conv *v;
	const double *x, *w;
	double *y;
	int64_t ic, oc, groups, cols, each; /* oc: of a group; cols: of a tile; each: tiles of a group */
} Tiles;

static void conv_tiles(void *arg, int64_t from, int64_t to)
{
	const Tiles *t = arg;
	const Conv *v = t->v;
	double *panel = pm_xcalloc((size_t)PANEL_ROWS * (size_t)t->cols, sizeof *panel);

	for (int64_t k = from; k < to; k++) {
		int64_t pair = k / t->each, g = pair % t->groups, at = k % t->each * t->cols;
		int64_t n = v->out_size - at < t->cols ? v->out_size - at : t->cols;

		conv_tile(v, t->x + pair * t->ic * v->in_size, t->ic, t->w + g * t->oc * t->ic * v->taps,
			  t->oc, at, n, t->y + pair * t->oc * v->out_size, panel);
	}
	free(panel);
}

static PmStatus conv_setup(const PmRefCall *c, Conv *v, PmErr *err)
{
	const PmType *x = &c->in[0].type, *w = &c->in[1].type, *y = &c->out[0].type;
	int d;

	memset(v, 0, sizeof *v);
	v->nd = x->rank - 2;
	if (v->nd < 1 || w->rank != x->rank || y->rank != x->rank)
		return pm__ref_fail(c, err, PM_E_SHAPE, "operands must have equal ranks of at least 3.");
	if (pm_node_ints(c->g, c->node, "strides", &v->stride) != (size_t)v->nd ||
	    pm_node_ints(c->g, c->node, "dilations", &v->dilation) != (size_t)v->nd ||
	    pm_node_ints(c->g, c->node, "pads", &v->pad) != 2 * (size_t)v->nd)
		return pm__ref_fail(c, err, PM_E_INVALID,
				    "strides, dilations and pads must cover %d spatial axes.", v->nd);
	v->in_size = v->out_size = v->taps = 1;
	for (d = 0; d < v->nd; d++) {
		v->in_size *= v->in[d] = x->dim[d + 2];
		v->out_size *= v->out[d] = y->dim[d + 2];
		v->taps *= v->kernel[d] = w->dim[d + 2];
	}
	return PM_OK;
}

PmStatus pm__ref_conv(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0], *w = &c->in[1], *bias = pm__ref_in(c, 2);
	int64_t groups = pm_node_i(c->g, c->node, "group", 1), batch, ic, oc, k, p;
	double *y = c->out[0].f;
	Tiles t;
	Conv v;
	PmStatus st = conv_setup(c, &v, err);

	if (st)
		return st;
	batch = x->type.dim[0];
	oc = w->type.dim[0];
	ic = w->type.dim[1];
	if (groups < 1 || oc % groups || x->type.dim[1] != ic * groups)
		return pm__ref_fail(c, err, PM_E_SHAPE, "%lld groups do not fit the channels.",
				    (long long)groups);
	if (!c->out[0].numel)
		return PM_OK;
	for (k = 0; bias && k < batch * oc; k++)
		for (p = 0; p < v.out_size; p++)
			y[k * v.out_size + p] = bias->f[k % oc];
	if (!x->numel || !w->numel)
		return PM_OK;
	t = (Tiles){ .v = &v, .x = x->f, .w = w->f, .y = y, .ic = ic, .oc = oc / groups, .groups = groups };
	/* Narrower tiles where there would be few. */
	t.cols = batch * groups * v.out_size < 16 * PANEL_COLS ? NARROW_COLS : PANEL_COLS;
	t.each = (v.out_size + t.cols - 1) / t.cols;
	pm_threads_run(batch * groups * t.each, 1 + PM__REF_LEAST / (t.cols * t.oc * ic * v.taps), conv_tiles,
		       &t);
	return PM_OK;
}

/* ---- ConvTranspose: every input element adds the filter, scaled, where Conv would have read it from ---- */

/* Adds x * filter plane `w` to the result plane `y`, both of one pair of channels. */
static void spread_plane(const Conv *v, const double *x, const double *w, double *y)
{
	int64_t pos[MAX_SPATIAL], tap[MAX_SPATIAL], i, k, at, q, o;
	int d, inside;

	for (i = 0; i < v->in_size; i++) {
		for (q = i, d = v->nd; d-- > 0; q /= v->in[d])
			pos[d] = q % v->in[d] * v->stride[d] - v->pad[d];
		for (k = 0; k < v->taps; k++) {
			for (q = k, d = v->nd; d-- > 0; q /= v->kernel[d])
				tap[d] = q % v->kernel[d] * v->dilation[d];
			for (at = 0, inside = 1, d = 0; d < v->nd; d++) {
				o = pos[d] + tap[d];
				inside = inside && o >= 0 && o < v->out[d];
				at = at * v->out[d] + o;
			}
			if (inside)
				y[at] += x[i] * w[k];
		}
	}
}

/* Output positions of one remainder by the stride are a grid; only some taps reach it, each from a place of x
 * that moves by one when the grid's does. Over such a phase a transposed convolution is one of stride 1. */
typedef struct Phase {
	Conv grid;                  /* out: the grid's extents; stride 1 */
	int64_t first[MAX_SPATIAL]; /* its first output position */
	int64_t n_taps, *shift;     /* MAX_SPATIAL numbers for each tap, in falling order of taps */
	double *w; /* each output channel: all input channels of its group, under these taps */
	const Conv *v;
	const double *x;
	double *y;
	int64_t ic, oc, groups, cols, each; /* ic, oc: of a group; cols: of a tile; each: tiles of a group */
} Phase;

static void phase_release(Phase *p)
{
	free(p->shift);
	free(p->w);
}

/* Taps come last to first, so that terms are added in the order of the elements of x. */
static void phase_taps(Phase *p, const double *w)
{
	const Conv *v = p->v;
	int64_t tap[MAX_SPATIAL], rest, *kept = pm_xcalloc((size_t)v->taps + 1, sizeof *kept);

	p->shift = pm_xcalloc((size_t)v->taps * MAX_SPATIAL + 1, sizeof *p->shift);
	for (int64_t k = v->taps; k-- > 0;) {
		int64_t *shift = p->shift + p->n_taps * MAX_SPATIAL;
		int reaches = 1;

		rest = k;
		for (int d = v->nd; d-- > 0; rest /= v->kernel[d]) {
			tap[d] = p->first[d] + v->pad[d] - rest % v->kernel[d] * v->dilation[d];
			reaches = reaches && tap[d] % v->stride[d] == 0;
			shift[d] = tap[d] / v->stride[d];
		}
		if (reaches)
			kept[p->n_taps++] = k;
	}
	p->w = pm_xcalloc((size_t)(p->groups * p->oc * p->ic * p->n_taps) + 1, sizeof *p->w);
	for (int64_t i = 0; i < p->groups * p->ic; i++)
		for (int64_t o = 0; o < p->oc; o++)
			for (int64_t t = 0; t < p->n_taps; t++)
				p->w[((i / p->ic * p->oc + o) * p->ic + i % p->ic) * p->n_taps + t] =
					w[(i * p->oc + o) * v->taps + kept[t]];
	free(kept);
}

/* n results of one plane of y from place `at` of the grid on: into a row, or out of it. */
static void grid_row(const Phase *p, double *y, int64_t at, int64_t n, double *row, int store)
{
	for (int64_t k = 0; k < n; k++) {
		int64_t rest = at + k, to = 0, step = 1;

		for (int d = p->v->nd; d-- > 0; rest /= p->grid.out[d]) {
			to += (p->first[d] + rest % p->grid.out[d] * p->v->stride[d]) * step;
			step *= p->v->out[d];
		}
		if (store)
			y[to] = row[k];
		else
			row[k] = y[to];
	}
}

static void phase_tiles(void *arg, int64_t from, int64_t to)
{
	const Phase *p = arg;
	int64_t rows = p->ic * p->n_taps;
	double *panel = pm_xcalloc((size_t)(PANEL_ROWS * p->cols), sizeof *panel);
	double *sum = pm_xcalloc((size_t)(p->oc * p->cols), sizeof *sum);

	for (int64_t k = from; k < to; k++) {
		int64_t pair = k / p->each, at = k % p->each * p->cols;
		int64_t n = p->grid.out_size - at < p->cols ? p->grid.out_size - at : p->cols;
		const double *x = p->x + pair * p->ic * p->v->in_size,
			     *w = p->w + pair % p->groups * p->oc * rows;
		double *y = p->y + pair * p->oc * p->v->out_size;

		for (int64_t o = 0; o < p->oc; o++)
			grid_row(p, y + o * p->v->out_size, at, n, sum + o * n, 0);
		for (int64_t r0 = 0; r0 < rows; r0 += PANEL_ROWS) {
			int64_t nr = rows - r0 < PANEL_ROWS ? rows - r0 : PANEL_ROWS;

			for (int64_t r = r0; r < r0 + nr; r++)
				panel_row(&p->grid, x + r / p->n_taps * p->v->in_size,
					  p->shift + r % p->n_taps * MAX_SPATIAL, at, n,
					  panel + (r - r0) * n);
			pm__ref_gemm_f(p->oc, n, nr, w + r0, rows, panel, n, sum, n);
		}
		for (int64_t o = 0; o < p->oc; o++)
			grid_row(p, y + o * p->v->out_size, at, n, sum + o * n, 1);
	}
	free(panel);
	free(sum);
}

/* All phases, one after the other. */
static void by_phases(const Phase *of_all, const double *w, int64_t batch)
{
	static const int64_t ones[MAX_SPATIAL] = { 1, 1, 1, 1, 1, 1 };
	const Conv *v = of_all->v;
	int64_t n = 1;

	for (int d = 0; d < v->nd; d++)
		n *= v->stride[d];
	for (int64_t k = 0; k < n; k++) {
		Phase p = *of_all;
		int64_t rest = k;

		p.grid = *v;
		p.grid.stride = ones;
		p.grid.out_size = 1;
		for (int d = v->nd; d-- > 0; rest /= v->stride[d]) {
			p.first[d] = rest % v->stride[d];
			p.grid.out[d] = (v->out[d] - p.first[d] + v->stride[d] - 1) / v->stride[d];
			p.grid.out_size *= p.grid.out[d] > 0 ? p.grid.out[d] : 0;
		}
		phase_taps(&p, w);
		if (p.n_taps && p.grid.out_size) {
			p.cols = batch * p.groups * p.grid.out_size < 16 * PANEL_COLS ? NARROW_COLS
										      : PANEL_COLS;
			p.each = (p.grid.out_size + p.cols - 1) / p.cols;
			pm_threads_run(batch * p.groups * p.each,
				       1 + PM__REF_LEAST / (p.cols * p.oc * p.ic * p.n_taps), phase_tiles,
				       &p);
		}
		phase_release(&p);
	}
}

static int all_finite(const double *w, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (!isfinite(w[i]))
			return 0;
	return 1;
}

PmStatus pm__ref_conv_transpose(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0], *w = &c->in[1], *bias = pm__ref_in(c, 2);
	int64_t groups = pm_node_i(c->g, c->node, "group", 1), ic, oc, n, i, o, k, each;
	double *y = c->out[0].f;
	Conv v;
	PmStatus st = conv_setup(c, &v, err);

	if (st)
		return st;
	ic = x->type.dim[1];
	each = w->type.dim[1];
	if (groups < 1 || ic % groups || w->type.dim[0] != ic || c->out[0].type.dim[1] != each * groups)
		return pm__ref_fail(c, err, PM_E_SHAPE, "%lld groups do not fit the channels.",
				    (long long)groups);
	oc = each * groups;
	for (k = 0; bias && k < c->out[0].numel; k++)
		y[k] = bias->f[k / v.out_size % oc];
	if (!x->numel || !c->out[0].numel)
		return PM_OK;
	/* What lies beside x is a zero in a panel, and no term here: an infinite weight would tell. */
	if (all_finite(w->f, w->numel)) {
		by_phases(
			&(Phase){
				.v = &v, .x = x->f, .y = y, .ic = ic / groups, .oc = each, .groups = groups },
			w->f, x->type.dim[0]);
		return PM_OK;
	}
	for (n = 0; n < x->type.dim[0]; n++)
		for (i = 0; i < ic; i++)
			for (o = 0; o < each; o++)
				spread_plane(&v, x->f + (n * ic + i) * v.in_size,
					     w->f + (i * each + o) * v.taps,
					     y + (n * oc + i / (ic / groups) * each + o) * v.out_size);
	return PM_OK;
}
