/* SPDX-License-Identifier: Apache-2.0 */
/* eager_depth.c - convolution of each channel by itself: a kernel of its own, since there is nothing to share
 * between channels and libraries serve it badly where images lie plane by plane. */
#include "runtime/exec/plan_priv.h"

#include "kernels/conv_depth.cu.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

enum {
	MAX_TAPS = 49, /* of a kernel: they are held in registers */
	MAX_STRIP = 8,
	BLOCK = 128
};

/* Sizes with a height of 1 where there is one spatial dimension. */
typedef struct Depth {
	int64_t n, filters, channels, y[2], x[2], k[2], stride[2], pad[2], dilation[2];
	int64_t xs[4], ws[3]; /* strides: n, c, h, w and m, h, w */
} Depth;

int pm__is_depthwise(const PmPlan *p, PmNode n)
{
	const PmType *xt = pm__type(p, pm_node_in(p->g, n, 0)), *wt = pm__type(p, pm_node_in(p->g, n, 1));
	int64_t groups = pm_node_i(p->g, n, "group", 1), taps = 1;

	for (int d = 2; d < wt->rank; d++)
		taps *= wt->dim[d];
	return pm_node_op(p->g, n) == PM_OP_Conv && (xt->rank == 3 || xt->rank == 4) && groups > 1 &&
	       groups == xt->dim[1] && wt->dim[1] == 1 && taps <= MAX_TAPS;
}

static void measure(const PmPlan *p, PmNode n, Depth *o)
{
	PmValue x = pm_node_in(p->g, n, 0), w = pm_node_in(p->g, n, 1);
	const PmType *xt = pm__type(p, x), *wt = pm__type(p, w), *yt = pm__type(p, pm_node_out(p->g, n, 0));
	const Loc *xl = pm__loc(p, x), *wl = pm__loc(p, w);
	int skip = 4 - xt->rank;
	const int64_t *strides, *pads, *dilations;

	*o = (Depth){ .n = xt->dim[0],
		      .filters = wt->dim[0],
		      .channels = xt->dim[1],
		      .y = { 1, 1 },
		      .x = { 1, 1 },
		      .k = { 1, 1 },
		      .stride = { 1, 1 },
		      .dilation = { 1, 1 },
		      .xs = { xl->stride[0], xl->stride[1] },
		      .ws = { wl->stride[0] } };
	pm_node_ints(p->g, n, "strides", &strides);
	pm_node_ints(p->g, n, "pads", &pads);
	pm_node_ints(p->g, n, "dilations", &dilations);
	for (int d = skip; d < 2; d++) {
		o->y[d] = yt->dim[2 + d - skip];
		o->x[d] = xt->dim[2 + d - skip];
		o->k[d] = wt->dim[2 + d - skip];
		o->stride[d] = strides[d - skip];
		o->pad[d] = pads[d - skip];
		o->dilation[d] = dilations[d - skip];
		o->xs[2 + d] = xl->stride[2 + d - skip];
		o->ws[1 + d] = wl->stride[2 + d - skip];
	}
}

/* Results below each other that a thread makes (of a single row: beside each other): many where there are
 * enough threads all the same. */
static int64_t strip(const Depth *o, const PmTarget *t)
{
	int64_t full = (int64_t)t->sm_count * t->sm_threads / 4, h = MAX_STRIP,
		along = o->y[0] > 1 ? o->y[0] : o->y[1];

	while (h > 1 && (along < h || o->n * o->filters * o->y[0] * o->y[1] / h < full))
		h /= 2;
	return h;
}

static void put_sizes(KGen *k, const Depth *o, int64_t h, int64_t w)
{
	static const char *const names[2][3] = { { "KH", "SH", "DH" }, { "KW", "SW", "DW" } };

	for (int d = 0; d < 2; d++) {
		pm__kg_define(k, names[d][0], "%lld", (long long)o->k[d]);
		pm__kg_define(k, names[d][1], "%lld", (long long)o->stride[d]);
		pm__kg_define(k, names[d][2], "%lld", (long long)o->dilation[d]);
	}
	pm__kg_define(k, "TH", "%lld", (long long)h);
	pm__kg_define(k, "TW", "%lld", (long long)w);
	pm__kg_define(k, "XW(c)", o->xs[3] == 1 ? "(c)" : "((c) * xs_w)");
	pm__kg_define(k, "MULT", "%lld", (long long)(o->filters / o->channels));
	pm__kg_int(k, "y_h", o->y[0]);
	pm__kg_int(k, "y_w", o->y[1]);
	pm__kg_divisor(k, "y_cols", (o->y[1] + w - 1) / w);
	pm__kg_divisor(k, "strips", (o->y[0] + h - 1) / h);
	pm__kg_divisor(k, "filters", o->filters);
	pm__kg_int(k, "height", o->x[0]);
	pm__kg_int(k, "width", o->x[1]);
	pm__kg_int(k, "ph", o->pad[0]);
	pm__kg_int(k, "pw", o->pad[1]);
	pm__kg_int(k, "xs_n", o->xs[0]);
	pm__kg_int(k, "xs_c", o->xs[1]);
	pm__kg_int(k, "xs_h", o->xs[2]);
	pm__kg_int(k, "xs_w", o->xs[3]);
	pm__kg_int(k, "ws_m", o->ws[0]);
	pm__kg_int(k, "ws_h", o->ws[1]);
	pm__kg_int(k, "ws_w", o->ws[2]);
}

PmStatus pm__depthwise(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), w = pm_node_in(p->g, n, 1), b = pm_node_in(p->g, n, 2),
		y = pm_node_out(p->g, n, 0);
	const PmType *xt = pm__type(p, x);
	PmStatus st = pm__place(p, y, err);
	int64_t h, wide = 1, threads;
	char label[96];
	Depth o;
	KGen k;

	if (st)
		return st;
	measure(p, n, &o);
	h = strip(&o, p->target);
	if (o.y[0] == 1) {
		wide = h;
		h = 1;
	}
	pm__kg_init(&k, p, n, xt->dtype);
	pm_str_addf(&k.head, "typedef %s A;\n", pm__acc_type(xt->dtype));
	snprintf(label, sizeof label, "eager depthwise %s %s", pm_node_op_name(p->g, n),
		 pm_dtype_name(xt->dtype));
	pm__kg_out(&k, "y", pm__loc(p, y), xt->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", pm__loc(p, x), xt->dtype, pm__distinct(xt, pm__loc(p, x)));
	pm__kg_in(&k, "w", pm__loc(p, w), xt->dtype, pm__distinct(pm__type(p, w), pm__loc(p, w)));
	if (b.id) {
		pm__kg_define(&k, "HAS_BIAS", "1");
		pm__kg_in(&k, "bias", pm__loc(p, b), xt->dtype, pm__distinct(pm__type(p, b), pm__loc(p, b)));
		pm__kg_int(&k, "bs", pm__loc(p, b)->stride[0]);
	}
	put_sizes(&k, &o, h, wide);
	threads = pm__numel(p, y) ? o.n * o.filters * ((o.y[0] + h - 1) / h) * ((o.y[1] + wide - 1) / wide)
				  : 0;
	pm__kg_int(&k, "total", threads);
	st = pm__kg_launch_grid(&k, label, conv_depth_cu, (PmGrid){ (threads + BLOCK - 1) / BLOCK, 1, BLOCK },
				pm_op_flops(p->g, n), err);
	if (!st && threads)
		p->steps.v[p->steps.n - 1].depthwise = 1;
	return st;
}
