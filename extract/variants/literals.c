/* SPDX-License-Identifier: Apache-2.0 */
/* literals.c - numbers inside a graph that repeat sizes, fitted to new sizes. */
#include "base/core/str.h"
#include "extract/variants/variants_priv.h"

#include <stdlib.h>
#include <string.h>

typedef struct Fit {
	const PmResize *r;
	PmNode b; /* in r->base */
	PmGraph *g;
	PmNode n;                /* in g */
	const PmType *was, *now; /* of operand 0 */
} Fit;

/* What a size that cannot be traced becomes. */
static int64_t substitute(const PmResize *r, int64_t x)
{
	size_t i;

	for (i = 0; i < r->n_subst && !r->keep_literals; i++) {
		if (r->subst[i].from == x)
			return r->subst[i].to;
	}
	return x;
}

/* The constant shape operand 1; returns its length, 0 when it is no constant. */
static size_t shape_operand(const Fit *f, int64_t out[PM_MAX_RANK])
{
	size_t n = 0;

	if (pm_value_const_ints(f->g, pm_node_in(f->g, f->n, 1), out, PM_MAX_RANK, &n))
		return 0;
	return n;
}

/* Nodes that shared a shape go on sharing it where it changes alike: the new one is found by its name. */
static PmStatus set_shape_operand(const Fit *f, const int64_t *v, size_t n)
{
	PmType t = pm_type(PM_I64, 1, (int64_t[]){ (int64_t)n });
	PmStr name = PM_STR_INIT;
	PmValue made;
	const PmBlob *b;
	PmStatus st = PM_OK;

	pm_str_addf(&name, "%s~", pm_value_name(f->g, pm_node_in(f->g, f->n, 1)));
	made = pm_graph_find_value(f->g, name.s);
	b = pm_value_blob(f->g, made);
	if (!b || !b->data || b->size != n * sizeof *v || memcmp(b->data, v, b->size) != 0)
		st = pm_graph_add_const(f->g, made.id ? NULL : name.s, &t, pm_blob_copy(v, n * sizeof *v),
					&made, NULL);
	pm_str_release(&name);
	if (st)
		return PM_DECLINED;
	pm_node_set_operand(f->g, f->n, 1, made);
	return PM_OK;
}

static int64_t product(const PmDim *d, int n)
{
	int64_t p = 1;
	int i;

	for (i = 0; i < n; i++) {
		if (!pm_mul_i64(p, d[i], &p))
			return -1;
	}
	return p;
}

/* Gives the result dimensions out[0..m-1] of one block the volume of the operand dimensions that became
 * now[0..n-1]: each changed dimension passes its size to a result dimension that had the same one; failing
 * that, the first result dimension that divides takes the whole change (for [768] to [12,64], more heads of
 * the same width). */
static int fit_block(const PmDim *was, const PmDim *now, int n, PmDim *out, int m)
{
	int64_t volume = product(now, n);
	PmDim old[PM_MAX_RANK];
	unsigned char taken[PM_MAX_RANK] = { 0 };
	int i, j;

	if (volume < 0 || m == 0)
		return volume == 1;
	memcpy(old, out, (size_t)m * sizeof *out);
	for (i = 0; i < n; i++) {
		for (j = 0; j < m && (taken[j] || old[j] != was[i]); j++)
			continue;
		if (j < m) {
			taken[j] = 1;
			out[j] = now[i];
		}
	}
	if (product(out, m) == volume)
		return 1;
	memcpy(out, old, (size_t)m * sizeof *out);
	for (j = 0; j < m; j++) {
		int64_t rest = product(old, j) * product(old + j + 1, m - j - 1);

		if (rest > 0 && volume % rest == 0) {
			out[j] = volume / rest;
			return 1;
		}
	}
	return 0;
}

/* Operand and result dimensions fall into blocks of equal volume; sizes pass from block to block. */
static PmStatus fit_reshape(const Fit *f)
{
	const PmType *res = pm_value_type(f->r->base, pm_node_out(f->r->base, f->b, 0));
	int64_t lit[PM_MAX_RANK];
	PmDim out[PM_MAX_RANK];
	size_t n = shape_operand(f, lit);
	int i = 0, j = 0, k, changed = 0;

	if (n == 0 || (int)n != res->rank)
		return PM_OK;
	for (k = 0; k < res->rank; k++) {
		if (lit[k] == 0 && pm_node_i(f->g, f->n, "allowzero", 0))
			return PM_OK; /* a size of 0: nothing to follow */
	}
	memcpy(out, res->dim, sizeof out);
	while (i < f->was->rank || j < res->rank) {
		int i0 = i, j0 = j;
		int64_t a = i < f->was->rank ? f->was->dim[i++] : 1;
		int64_t b = j < res->rank ? res->dim[j++] : 1;

		while (a != b) {
			if (a < b && i < f->was->rank)
				a *= f->was->dim[i++];
			else if (a > b && j < res->rank)
				b *= res->dim[j++];
			else
				return PM_DECLINED;
		}
		if (!fit_block(f->was->dim + i0, f->now->dim + i0, i - i0, out + j0, j - j0))
			return PM_DECLINED;
	}
	for (k = 0; k < res->rank; k++) {
		if (lit[k] == 0 && (k >= f->now->rank || out[k] != f->now->dim[k]))
			lit[k] = out[k], changed = 1; /* "as operand 0" no longer holds */
		if (lit[k] > 0 && lit[k] != out[k])
			lit[k] = out[k], changed = 1;
	}
	return changed ? set_shape_operand(f, lit, n) : PM_OK;
}

static PmStatus fit_expand(const Fit *f)
{
	int64_t lit[PM_MAX_RANK];
	size_t n = shape_operand(f, lit);
	int k, changed = 0;

	for (k = 0; k < (int)n; k++) {
		int axis = k - (int)n + f->was->rank;
		int64_t want = lit[k];

		if (lit[k] > 1 && axis >= 0 && f->was->dim[axis] == lit[k])
			want = f->now->dim[axis];
		else if (lit[k] > 1)
			want = substitute(f->r, lit[k]);
		changed |= want != lit[k];
		lit[k] = want;
	}
	return changed ? set_shape_operand(f, lit, n) : PM_OK;
}

/* A border at the end or in the middle of an axis stays there. */
static int64_t move_border(int64_t x, int64_t was, int64_t now)
{
	if (x == was)
		return now;
	if (was % 2 == 0 && x == was / 2)
		return now % 2 == 0 ? now / 2 : -1;
	return x;
}

static PmStatus fit_slice(const Fit *f)
{
	const int64_t *starts, *ends, *axes;
	int64_t s[PM_MAX_RANK], e[PM_MAX_RANK];
	size_t i, n = pm_node_ints(f->g, f->n, "axes", &axes);

	if (n > PM_MAX_RANK || pm_node_ints(f->g, f->n, "starts", &starts) != n ||
	    pm_node_ints(f->g, f->n, "ends", &ends) != n)
		return PM_OK;
	for (i = 0; i < n; i++) {
		int64_t was, now;

		s[i] = starts[i];
		e[i] = ends[i];
		if (axes[i] < 0 || axes[i] >= f->was->rank)
			return PM_OK;
		was = f->was->dim[axes[i]];
		now = f->now->dim[axes[i]];
		if (was == now)
			continue;
		if (s[i] > 0)
			s[i] = move_border(s[i], was, now);
		if (e[i] > 0)
			e[i] = move_border(e[i], was, now);
		if ((starts[i] > 0 && s[i] < 0) ||
		    (ends[i] > 0 && (e[i] < 0 || (ends[i] < was && e[i] > now))))
			return PM_DECLINED; /* a border inside would fall outside */
	}
	if (pm_node_set_ints(f->g, f->n, "starts", s, n, NULL) ||
	    pm_node_set_ints(f->g, f->n, "ends", e, n, NULL))
		return PM_DECLINED;
	return PM_OK;
}

static PmStatus fit_split(const Fit *f)
{
	enum { MAX_PARTS = 64 };
	const int64_t *was;
	int64_t part[MAX_PARTS], from, to;
	int64_t axis = pm_node_i(f->g, f->n, "axis", 0);
	size_t i, n = pm_node_ints(f->g, f->n, "split", &was);

	if (axis < 0 || axis >= f->was->rank || n == 0)
		return PM_OK;
	from = f->was->dim[axis];
	to = f->now->dim[axis];
	if (from == to)
		return PM_OK;
	if (n > MAX_PARTS)
		return PM_DECLINED;
	for (i = 0; i < n; i++) {
		if (!pm_mul_i64(was[i], to, &part[i]) || part[i] % from)
			return PM_DECLINED;
		part[i] /= from;
	}
	return pm_node_set_ints(f->g, f->n, "split", part, n, NULL) ? PM_DECLINED : PM_OK;
}

/* Whether a value is a constant or computed from constants alone. */
static int is_known(const PmGraph *g, PmValue v, int depth)
{
	PmNode def = pm_value_def(g, v, NULL);

	if (!def.id)
		return pm_value_is_const(g, v);
	for (size_t i = 0; i < pm_node_n_in(g, def); i++)
		if (depth == 0 ||
		    (pm_node_in(g, def, i).id && !is_known(g, pm_node_in(g, def, i), depth - 1)))
			return 0;
	return pm_node_n_in(g, def) > 0;
}

/* Known indices may lie anywhere in what they pick from, which must not become smaller then. */
static PmStatus fit_picked(const Fit *f)
{
	enum { MAX_DEPTH = 8 };
	PmOp op = pm_node_op(f->g, f->n);
	int64_t axis = pm_node_i(f->g, f->n, "axis", 0);
	int all = op == PM_OP_GatherND || op == PM_OP_ScatterND, k;

	for (k = 0; k < f->now->rank; k++)
		if ((all || k == axis) && f->now->dim[k] < f->was->dim[k] &&
		    is_known(f->g, pm_node_in(f->g, f->n, 1), MAX_DEPTH))
			return PM_DECLINED;
	return PM_OK;
}

/* Constant indices must stay inside. */
static PmStatus fit_gather(const Fit *f)
{
	enum { MAX_INDICES = 4096 };
	int64_t *v, axis = pm_node_i(f->g, f->n, "axis", 0), size;
	PmStatus st = PM_OK;
	size_t i, n = 0;

	if (axis < 0 || axis >= f->now->rank || f->was->dim[axis] == f->now->dim[axis])
		return PM_OK;
	if (!pm_value_is_const(f->g, pm_node_in(f->g, f->n, 1)))
		return fit_picked(f);
	size = f->now->dim[axis];
	v = pm_xcalloc(MAX_INDICES, sizeof *v);
	if (pm_value_const_ints(f->g, pm_node_in(f->g, f->n, 1), v, MAX_INDICES, &n))
		st = PM_DECLINED;
	for (i = 0; i < n; i++) {
		if (v[i] < -size || v[i] >= size)
			st = PM_DECLINED;
	}
	free(v);
	return st;
}

PmStatus pm__fit_literals(const PmResize *r, PmNode b, PmGraph *g, PmNode n)
{
	static const struct {
		PmOp op;
		PmStatus (*fit)(const Fit *f);
	} rules[] = {
		{ PM_OP_Reshape, fit_reshape },
		{ PM_OP_Expand, fit_expand },
		{ PM_OP_Slice, fit_slice },
		{ PM_OP_Split, fit_split },
		{ PM_OP_Gather, fit_gather },
		{ PM_OP_GatherND, fit_picked },
		{ PM_OP_GatherElements, fit_picked },
		{ PM_OP_ScatterND, fit_picked },
		{ PM_OP_ScatterElements, fit_picked },
	};
	PmOp op = pm_node_op(g, n);
	Fit f = { r,
		  b,
		  g,
		  n,
		  pm_value_type(r->base, pm_node_in(r->base, b, 0)),
		  pm_value_type(g, pm_node_in(g, n, 0)) };
	size_t i;

	for (i = 0; i < sizeof rules / sizeof rules[0]; i++) {
		if (rules[i].op != op)
			continue;
		if (!pm_type_is_static(f.was) || !pm_type_is_static(f.now) || f.was->rank != f.now->rank)
			return PM_OK; /* symbols before: nothing to trace */
		return rules[i].fit(&f);
	}
	return PM_OK;
}
