/* SPDX-License-Identifier: Apache-2.0 */
/* eager_resize.c - Resize: one launch over all axes that change. */
#include "runtime/exec/plan_priv.h"

#include "ir/core/resize.h"
#include "kernels/resize.cu.h"
#include "kernels/resize_planes.cu.h"
#include "kernels/resize_window.cu.h"
#include "runtime/ref/ref.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_PARTS = 65535, /* what a grid may have in its second dimension */
	MAX_TAPS = 16,     /* of a window whose weights a thread keeps */
	WORTH = 16         /* planes for which a thread's window costs little */
};

/* A list of doubles, as V_name. */
static void doubles(KGen *k, const char *name, const double *v, int n)
{
	char one[64], text[512] = "";

	for (int i = 0; i < n; i++) {
		snprintf(one, sizeof one, "%s_%d", name, i);
		pm__kg_f64(k, one, v[i]);
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? ", " : "", one);
	}
	snprintf(one, sizeof one, "V_%s", name);
	pm__kg_define(k, one, "%s", text);
}

/* Operands must be constant: the window depends on them. */
static PmStatus read(const PmPlan *p, PmNode n, PmResize *r, PmErr *err)
{
	char why[160];
	PmStatus st = pm_resize_of(p->g, n, r, why);

	return st ? pm_err(err, st, "Node %u (Resize) cannot be planned: %s.", n.id, why) : PM_OK;
}

/* What the kernel needs of each axis that changes. */
typedef struct Lists {
	int64_t xd[PM_MAX_RANK], yd[PM_MAX_RANK], below[PM_MAX_RANK], xs[PM_MAX_RANK], first[PM_MAX_RANK],
		taps[PM_MAX_RANK];
	double scale[PM_MAX_RANK], width[PM_MAX_RANK], from[PM_MAX_RANK], to[PM_MAX_RANK],
		stretch[PM_MAX_RANK], step[PM_MAX_RANK], start[PM_MAX_RANK];
	int n;
} Lists;

/* Where results lie along an axis, in elements of the input: places are on a line. */
static void line_of(const PmResize *r, const PmResizeAxis *a, double *step, double *start)
{
	*start = pm_resize_source(r, a, 0);
	*step = r->coord == PM_RESIZE_ALIGN_CORNERS
			? (a->width == 1 ? 0 : ((double)a->in - 1) / (a->width - 1))
		: r->coord == PM_RESIZE_PYTORCH_HALF_PIXEL && a->out == 1 ? 0
									  : 1 / a->scale;
}

static void fill(Lists *l, const PmResize *r, const int64_t *stride, int64_t *kept)
{
	int64_t below = 1;

	l->n = 0;
	for (int d = r->rank - 1; d >= 0; d--) {
		const PmResizeAxis *a = &r->axis[d];

		kept[d] = a->same ? stride[d] : 0;
		if (!a->same) {
			l->xd[l->n] = a->in;
			l->yd[l->n] = a->out;
			l->below[l->n] = below;
			l->xs[l->n] = stride[d];
			l->first[l->n] = a->first;
			l->taps[l->n] = a->taps;
			l->scale[l->n] = a->scale;
			l->width[l->n] = a->width;
			l->from[l->n] = a->from;
			l->to[l->n] = a->to;
			line_of(r, a, &l->step[l->n], &l->start[l->n]);
			l->stretch[l->n++] = a->stretch;
		}
		below *= a->out;
	}
}

/* Whether all axes that change come last and the window is small enough for registers. */
static int in_planes(const PmResize *r, const Lists *l)
{
	int64_t taps = 1;

	for (int i = 0; i < l->n; i++)
		taps *= r->mode == PM_RESIZE_NEAREST ? 1 : l->taps[i];
	for (int d = r->rank - l->n; d < r->rank; d++)
		if (r->axis[d].same)
			return 0;
	return taps <= MAX_TAPS;
}

static PmStatus launch(KGen *k, const char *text, PmGrid grid, PmErr *err)
{
	PmStr body = PM_STR_INIT;
	char label[96];
	PmStatus st;

	pm_str_add(&body, resize_window_cu);
	pm_str_add(&body, text);
	snprintf(label, sizeof label, "eager Resize %s", pm_dtype_name(k->dtype));
	st = pm__kg_launch_grid(k, label, body.s, grid, pm_op_flops(k->p->g, k->node), err);
	pm_str_release(&body);
	return st;
}

/* Whether all places on all axes are multiples of 1/4096 below 2048: float has them as they are. */
static int in_float(const PmResize *r, const Lists *l)
{
	enum { GRID = 4096 };

	if (r->mode == PM_RESIZE_NEAREST || r->coord == PM_RESIZE_CROP)
		return 0;
	for (int i = 0; i < l->n; i++) {
		double step = l->step[i] * GRID, start = l->start[i] * GRID;

		if (l->xd[i] >= GRID / 2 || l->yd[i] >= GRID / 2 || step != floor(step) ||
		    start != floor(start))
			return 0;
	}
	return 1;
}

/* Into how many parts planes are divided: several waves of blocks, so that the last one is a small part of
 * it, where that leaves a thread planes enough, else what is there at a time. */
static int64_t parts_of(const PmTarget *t, int64_t blocks, int64_t planes)
{
	int64_t wave = (int64_t)t->sm_count * (t->sm_threads / PM__BLOCK);
	int64_t parts = blocks ? 4 * wave / blocks : 1;

	if (planes < parts * WORTH)
		parts = blocks ? wave / blocks : 1;
	parts = parts < 1 ? 1 : parts < planes ? parts : planes;
	return parts < MAX_PARTS ? parts : MAX_PARTS;
}

static PmStatus resize_planes(KGen *k, const PmResize *r, const Lists *l, PmErr *err)
{
	const PmPlan *p = k->p;
	PmValue x = pm_node_in(p->g, k->node, 0), y = pm_node_out(p->g, k->node, 0);
	const int64_t *row = pm__loc(p, x)->stride;
	int64_t positions = 1, planes = 1, parts, taps = 1, reach = 1;
	PmStr list = PM_STR_INIT;

	for (int d = 0; d < r->rank; d++)
		*(d < r->rank - l->n ? &planes : &positions) *= pm__type(p, y)->dim[d];
	for (int i = 0; i < l->n; i++) {
		int64_t n = r->mode == PM_RESIZE_NEAREST ? 1 : l->taps[i];

		pm_str_addf(&list, "%s%lld", i ? ", " : "", (long long)n);
		taps *= n;
		reach = n > reach ? n : reach;
	}
	pm__kg_define(k, "REACH", "%lld", (long long)reach);
	pm_str_addf(&k->head, "typedef %s Place;\n", in_float(r, l) ? "float" : "double");
	pm__kg_define(k, "NORM", "%d", r->antialias || r->exclude_outside);
	doubles(k, "step", l->step, l->n);
	doubles(k, "start", l->start, l->n);
	pm__kg_define(k, "TAPS", "%lld", (long long)taps);
	pm__kg_define(k, "TAPS_LIST", "%s", list.s);
	pm_str_release(&list);
	pm__kg_space(k, "o", pm__type(p, y)->dim, r->rank - l->n, &row, 1);
	parts = positions && planes ? parts_of(p->target, (positions + PM__BLOCK - 1) / PM__BLOCK, planes)
				    : 0;
	pm__kg_int(k, "positions", positions);
	pm__kg_int(k, "planes", planes);
	pm__kg_int(k, "chunk", parts ? (planes + parts - 1) / parts : 1);
	return launch(k, resize_planes_cu,
		      (PmGrid){ (positions + PM__BLOCK - 1) / PM__BLOCK, parts, PM__BLOCK }, err);
}

PmStatus eager_resize(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y);
	int64_t kept[PM_MAX_RANK];
	const int64_t *row = kept;
	PmResize r;
	Lists l;
	KGen k;
	PmStatus st = read(p, n, &r, err);

	if (st)
		return st;
	fill(&l, &r, pm__loc(p, x)->stride, kept);
	if (!l.n) {
		pm__place_view(p, n, y, pm__loc(p, x));
		return PM_OK;
	}
	st = pm__place(p, y, err);
	if (st)
		return st;
	pm__kg_init(&k, p, n, t->dtype);
	pm_str_addf(&k.head, "typedef %s A;\n",
		    pm_dtype_is_float(t->dtype) ? pm__acc_type(t->dtype) : "double");
	pm__kg_define(&k, "MODE", "%d", (int)r.mode);
	pm__kg_define(&k, "COORD", "%d", (int)r.coord);
	pm__kg_define(&k, "ROUND", "%d", (int)r.round);
	pm__kg_define(&k, "AXES", "%d", l.n);
	if (r.exclude_outside)
		pm__kg_define(&k, "EXCLUDE_OUTSIDE", "1");
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", pm__loc(p, x), t->dtype, pm__distinct(pm__type(p, x), pm__loc(p, x)));
	pm__kg_list(&k, "xd", l.xd, l.n);
	pm__kg_list(&k, "yd", l.yd, l.n);
	pm__kg_list(&k, "below", l.below, l.n);
	pm__kg_list(&k, "xs", l.xs, l.n);
	pm__kg_list(&k, "first", l.first, l.n);
	doubles(&k, "scale", l.scale, l.n);
	doubles(&k, "width", l.width, l.n);
	doubles(&k, "from", l.from, l.n);
	doubles(&k, "to", l.to, l.n);
	doubles(&k, "stretch", l.stretch, l.n);
	pm__kg_f64(&k, "cubic_a", r.cubic_a);
	pm__kg_f64(&k, "extrapolation", r.extrapolation);
	if (in_planes(&r, &l))
		return resize_planes(&k, &r, &l, err);
	pm__kg_list(&k, "taps", l.taps, l.n);
	pm__kg_space(&k, "o", t->dim, t->rank, &row, 1);
	return launch(&k, resize_cu, (PmGrid){ (pm__numel(p, y) + PM__BLOCK - 1) / PM__BLOCK, 1, PM__BLOCK },
		      err);
}
