/* SPDX-License-Identifier: Apache-2.0 */
/* ref_data.c - operators whose result is as large as a value says: Range, NonZero, Unique, NonMaxSuppression.
 */
#include "ir/infer/infer.h"
#include "runtime/ref/ref_priv.h"

#include <stdlib.h>
#include <string.h>

PmStatus pm__ref_range(const PmRefCall *c, PmErr *err)
{
	int dtype = c->in[0].type.dtype;
	double v[3] = { 0 };
	int64_t w[3] = { 0 }, n, k;
	PmRefTensor *y = &c->out[0];
	PmStatus st;
	PmType t;

	for (k = 0; k < 3; k++) {
		if (c->in[k].numel != 1)
			return pm__ref_fail(c, err, PM_E_SHAPE,
					    "start, limit and step must be one number each.");
		if (c->in[k].f)
			v[k] = c->in[k].f[0];
		else
			w[k] = c->in[k].i[0];
	}
	n = pm_range_length(dtype, v, w);
	if (n < 0)
		return pm__ref_fail(c, err, PM_E_INVALID,
				    "the range does not end; give a step other than 0.");
	t = pm_type((PmDType)dtype, 1, &n);
	st = pm__ref_sized(c, 0, &t, err);
	for (k = 0; !st && k < n; k++) {
		if (y->f)
			y->f[k] = v[0] + (double)k * v[2];
		else
			y->i[k] = pm_int_wrap(dtype,
					      (int64_t)((uint64_t)w[0] + (uint64_t)k * (uint64_t)w[2]));
	}
	return st;
}

PmStatus pm__ref_non_zero(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	int64_t k, dim[2] = { x->type.rank, 0 }, col = 0;
	PmRefWalk w = { .rank = x->type.rank };
	PmStatus st;
	PmType t;
	int d;

	for (k = 0; k < x->numel; k++)
		dim[1] += x->f ? x->f[k] != 0 : x->i[k] != 0;
	t = pm_type(PM_I64, 2, dim);
	st = pm__ref_sized(c, 0, &t, err);
	if (st || !x->numel)
		return st;
	for (d = 0; d < w.rank; d++)
		w.dim[d] = x->type.dim[d];
	k = 0;
	do {
		if (x->f ? x->f[k] != 0 : x->i[k] != 0) {
			for (d = 0; d < w.rank; d++)
				c->out[0].i[d * dim[1] + col] = w.at[d];
			col++;
		}
		k++;
	} while (pm__ref_walk_next(&w));
	return PM_OK;
}

/* ---- Unique: entries of one axis, each a set of elements ---- */

typedef struct Entries {
	const PmRefTensor *x;
	int64_t n, outer, inner;
} Entries;

static int64_t place(const Entries *e, int64_t entry, int64_t j)
{
	return (j / e->inner * e->n + entry) * e->inner + j % e->inner;
}

/* The order of entries: element by element, NaN last and equal to itself. */
static int compare(const Entries *e, int64_t a, int64_t b)
{
	int64_t j;

	for (j = 0; j < e->outer * e->inner; j++) {
		int64_t p = place(e, a, j), q = place(e, b, j);

		if (e->x->f) {
			double u = e->x->f[p], v = e->x->f[q];

			if (u != u || v != v) {
				if ((u != u) != (v != v))
					return u != u ? 1 : -1;
			} else if (u != v) {
				return u < v ? -1 : 1;
			}
		} else if (e->x->i[p] != e->x->i[q]) {
			return pm_int_less(e->x->type.dtype, e->x->i[p], e->x->i[q]) ? -1 : 1;
		}
	}
	return 0;
}

typedef struct Item {
	const Entries *e;
	int64_t at;
} Item;

static int by_value(const void *a, const void *b)
{
	const Item *x = a, *y = b;
	int order = compare(x->e, x->at, y->at);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int by_place(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Where each group of equal entries begins in the sorted list; group[entry] is its number. */
static int64_t make_groups(const Entries *e, const Item *sorted, int64_t *first, int64_t *group)
{
	int64_t k, n = 0;

	for (k = 0; k < e->n; k++) {
		if (k == 0 || compare(e, sorted[k - 1].at, sorted[k].at) != 0)
			first[n++] = sorted[k].at;
		group[sorted[k].at] = n - 1;
	}
	return n;
}

/* Renumbers the groups by first appearance. */
static void unsort(const Entries *e, int64_t *first, int64_t *group, int64_t n)
{
	int64_t k, *order = pm_xcalloc((size_t)n + 1, sizeof *order),
		   *rank = pm_xcalloc((size_t)n + 1, sizeof *rank);

	for (k = 0; k < n; k++)
		order[k] = first[k];
	qsort(order, (size_t)n, sizeof *order, by_place);
	for (k = 0; k < n; k++)
		rank[group[order[k]]] = k;
	for (k = 0; k < e->n; k++)
		group[k] = rank[group[k]];
	memcpy(first, order, (size_t)n * sizeof *first);
	free(order);
	free(rank);
}

static PmStatus fill_unique(const PmRefCall *c, const Entries *e, int axis, const int64_t *first,
			    const int64_t *group, int64_t n, PmErr *err)
{
	PmType t = e->x->type, list = pm_type(PM_I64, 1, &n), all = pm_type(PM_I64, 1, &e->n);
	int64_t j, k;
	size_t r;
	PmStatus st;

	t.dim[axis] = n;
	st = pm__ref_sized(c, 0, &t, err);
	for (r = 1; !st && r < c->n_out; r++)
		st = pm__ref_sized(c, r, r == 2 ? &all : &list, err);
	if (st)
		return st;
	for (k = 0; k < n; k++)
		for (j = 0; j < e->outer * e->inner; j++) {
			int64_t to = (j / e->inner * n + k) * e->inner + j % e->inner,
				from = place(e, first[k], j);

			if (e->x->f)
				c->out[0].f[to] = e->x->f[from];
			else
				c->out[0].i[to] = e->x->i[from];
		}
	for (k = 0; k < n && c->n_out > 1; k++)
		c->out[1].i[k] = first[k];
	for (k = 0; k < e->n && c->n_out > 2; k++)
		c->out[2].i[k] = group[k];
	for (k = 0; k < e->n && c->n_out > 3; k++)
		c->out[3].i[group[k]]++;
	return PM_OK;
}

PmStatus pm__ref_unique(const PmRefCall *c, PmErr *err)
{
	const PmType *t = &c->in[0].type;
	int axis = (int)pm_node_i(c->g, c->node, "axis", 0);
	Entries e = { &c->in[0], 0, 0, 0 };
	int64_t *first, *group, k, n;
	Item *items;
	PmStatus st;

	if (axis >= t->rank)
		return pm__ref_fail(c, err, PM_E_SHAPE, "axis %d does not exist.", axis);
	e.n = t->dim[axis];
	e.outer = pm__ref_extent(t, 0, axis);
	e.inner = pm__ref_extent(t, axis + 1, t->rank);
	items = pm_xcalloc((size_t)e.n + 1, sizeof *items);
	first = pm_xcalloc((size_t)e.n + 1, sizeof *first);
	group = pm_xcalloc((size_t)e.n + 1, sizeof *group);
	for (k = 0; k < e.n; k++)
		items[k] = (Item){ &e, k };
	qsort(items, (size_t)e.n, sizeof *items, by_value);
	n = make_groups(&e, items, first, group);
	if (!pm_node_i(c->g, c->node, "sorted", 1))
		unsort(&e, first, group, n);
	st = fill_unique(c, &e, axis, first, group, n, err);
	free(items);
	free(first);
	free(group);
	return st;
}

/* ---- NonMaxSuppression ---- */

typedef struct Box {
	double y0, x0, y1, x1;
} Box;

static Box box_at(const double *b, int center)
{
	if (center)
		return (Box){ b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2 };
	return (Box){ b[0] < b[2] ? b[0] : b[2], b[1] < b[3] ? b[1] : b[3], b[0] < b[2] ? b[2] : b[0],
		      b[1] < b[3] ? b[3] : b[1] };
}

/* Area in common over area in all. */
static double overlap(Box a, Box b)
{
	double h = (a.y1 < b.y1 ? a.y1 : b.y1) - (a.y0 > b.y0 ? a.y0 : b.y0);
	double w = (a.x1 < b.x1 ? a.x1 : b.x1) - (a.x0 > b.x0 ? a.x0 : b.x0), both;

	if (!(h > 0) || !(w > 0))
		return 0;
	both = h * w;
	return both / ((a.y1 - a.y0) * (a.x1 - a.x0) + (b.y1 - b.y0) * (b.x1 - b.x0) - both);
}

typedef struct Candidate {
	double score;
	int64_t box;
} Candidate;

/* The best first; of equal ones the first. */
static int by_score(const void *a, const void *b)
{
	const Candidate *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->box > y->box) - (x->box < y->box);
}

typedef struct Limits {
	int64_t most; /* boxes of one class */
	double iou, score;
	int has_score, center;
} Limits;

/* Boxes kept of one class of one image, best first; their number. */
static int64_t suppress(const double *boxes, const double *scores, int64_t n, const Limits *l,
			Candidate *cand, int64_t *kept)
{
	int64_t k, j, found = 0, left = 0;

	for (k = 0; k < n; k++)
		if (!l->has_score || scores[k] > l->score)
			cand[found++] = (Candidate){ scores[k], k };
	qsort(cand, (size_t)found, sizeof *cand, by_score);
	for (k = 0; k < found && left < l->most; k++) {
		Box b = box_at(boxes + 4 * cand[k].box, l->center);

		for (j = 0; j < left; j++)
			if (overlap(b, box_at(boxes + 4 * kept[j], l->center)) > l->iou)
				break;
		if (j == left)
			kept[left++] = cand[k].box;
	}
	return left;
}

PmStatus pm__ref_non_max_suppression(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *most = pm__ref_in(c, 2), *iou = pm__ref_in(c, 3), *score = pm__ref_in(c, 4);
	const PmType *bt = &c->in[0].type, *st3 = &c->in[1].type;
	Limits l = { .most = most && most->numel ? most->i[0] : 0,
		     .iou = iou && iou->numel ? iou->f[0] : 0,
		     .score = score && score->numel ? score->f[0] : 0,
		     .has_score = score && score->numel,
		     .center = pm_node_i(c->g, c->node, "center_point_box", 0) != 0 };
	int64_t n = bt->dim[1], classes = st3->dim[1], b, k, j, total = 0, dim[2] = { 0, 3 };
	int64_t room = l.most < 0 ? 0 : (l.most < n ? l.most : n), *kept, *rows;
	Candidate *cand;
	PmStatus st;
	PmType t;

	if (!pm_mul_i64(room, 3 * classes * bt->dim[0], &total) || total > (int64_t)1 << 32)
		return pm__ref_fail(c, err, PM_E_LIMIT, "too many boxes may be kept; lower the limit.");
	total = 0;
	kept = pm_xcalloc((size_t)n + 1, sizeof *kept);
	cand = pm_xcalloc((size_t)n + 1, sizeof *cand);
	rows = pm_xcalloc((size_t)(room * 3 * classes * bt->dim[0]) + 1, sizeof *rows);
	for (b = 0; b < bt->dim[0]; b++)
		for (k = 0; k < classes; k++) {
			int64_t found = suppress(c->in[0].f + b * n * 4, c->in[1].f + (b * classes + k) * n,
						 n, &l, cand, kept);

			for (j = 0; j < found; j++) {
				rows[3 * total] = b;
				rows[3 * total + 1] = k;
				rows[3 * total++ + 2] = kept[j];
			}
		}
	dim[0] = total;
	t = pm_type(PM_I64, 2, dim);
	st = pm__ref_sized(c, 0, &t, err);
	if (!st && total)
		memcpy(c->out[0].i, rows, (size_t)total * 3 * sizeof *rows);
	free(kept);
	free(cand);
	free(rows);
	return st;
}
