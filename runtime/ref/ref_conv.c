/* SPDX-License-Identifier: Apache-2.0 */
/* ref_conv.c - Conv and ConvTranspose in any number of spatial dimensions.
 *
 * Output positions are taken in tiles; for each tile the input elements that meet some rows of the filter
 * matrix are laid out as a panel (one row per input channel and filter tap), and the panel is multiplied by
 * the filters. Padding appears in the panel as zeros.
 */
#include "runtime/ref/ref_priv.h"

#include "base/sys/threads.h"

#include <stdlib.h>
#include <string.h>

enum { PANEL_ROWS = 128, PANEL_COLS = 512, MAX_SPATIAL = PM_MAX_RANK - 2 };

typedef struct Conv {
	int nd; /* spatial dimensions */
	int64_t in[MAX_SPATIAL], out[MAX_SPATIAL], kernel[MAX_SPATIAL];
	const int64_t *stride, *dilation, *pad; /* pad: all begins, then all ends */
	int64_t in_size, out_size, taps;        /* products of the above */
} Conv;

/* Fills n columns of a panel row: the input plane `x` under filter tap `tap` from output position `at`. */
static void panel_row(const Conv *v, const double *x, int64_t tap, int64_t at, int64_t n, double *row)
{
	int64_t shift[MAX_SPATIAL], pos[MAX_SPATIAL], last = v->nd - 1, d;

	for (d = v->nd; d-- > 0;) {
		shift[d] = tap % v->kernel[d] * v->dilation[d] - v->pad[d];
		tap /= v->kernel[d];
		pos[d] = at % v->out[d];
		at /= v->out[d];
	}
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
	int64_t rows = ic * v->taps, r0, r;

	for (r0 = 0; r0 < rows; r0 += PANEL_ROWS) {
		int64_t nr = rows - r0 < PANEL_ROWS ? rows - r0 : PANEL_ROWS;

		for (r = 0; r < nr; r++)
			panel_row(v, x + (r0 + r) / v->taps * v->in_size, (r0 + r) % v->taps, at, n,
				  panel + r * n);
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
	t.cols = batch * groups * v.out_size < 16 * PANEL_COLS ? PANEL_COLS / 8 : PANEL_COLS;
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
	for (n = 0; n < x->type.dim[0]; n++)
		for (i = 0; i < ic; i++)
			for (o = 0; o < each; o++)
				spread_plane(&v, x->f + (n * ic + i) * v.in_size,
					     w->f + (i * each + o) * v.taps,
					     y + (n * oc + i / (ic / groups) * each + o) * v.out_size);
	return PM_OK;
}
