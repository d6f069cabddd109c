/* SPDX-License-Identifier: Apache-2.0 */
/* ref_index.c - operators that read or write elements at places given by another tensor. */
#include "runtime/ref/ref_priv.h"

#include <string.h>

/* How a written element joins the one that is there. */
typedef enum { REPLACE, ADD, MUL, MAX, MIN } Join;

static Join join_of(const PmRefCall *c)
{
	static const char *const names[] = { "none", "add", "mul", "max", "min" };
	const char *s = pm_node_s(c->g, c->node, "reduction", "none");
	int k;

	for (k = REPLACE; k < MIN && strcmp(s, names[k]) != 0; k++)
		;
	return (Join)k;
}

static double join_f(Join j, double a, double b)
{
	switch (j) {
	case ADD:
		return a + b;
	case MUL:
		return a * b;
	case MAX:
		return b > a || b != b ? b : a;
	case MIN:
		return b < a || b != b ? b : a;
	case REPLACE:
		break;
	}
	return b;
}

static int64_t join_i(Join j, int dtype, int64_t a, int64_t b)
{
	switch (j) {
	case ADD:
		return (int64_t)((uint64_t)a + (uint64_t)b);
	case MUL:
		return (int64_t)((uint64_t)a * (uint64_t)b);
	case MAX:
		return pm_int_less(dtype, a, b) ? b : a;
	case MIN:
		return pm_int_less(dtype, b, a) ? b : a;
	case REPLACE:
		break;
	}
	return b;
}

static void join_at(Join j, PmRefTensor *to, int64_t at, const PmRefTensor *from, int64_t k)
{
	if (to->f)
		to->f[at] = join_f(j, to->f[at], from->f[k]);
	else
		to->i[at] = pm_int_wrap(to->type.dtype, join_i(j, to->type.dtype, to->i[at], from->i[k]));
}

static void copy_all(PmRefTensor *to, const PmRefTensor *from)
{
	if (!to->numel)
		return;
	if (to->f)
		memcpy(to->f, from->f, (size_t)to->numel * sizeof *to->f);
	else
		memcpy(to->i, from->i, (size_t)to->numel * sizeof *to->i);
}

/* An index as a position along axis `axis` of dim elements; negative ones count from the end. */
static PmStatus position(const PmRefCall *c, int64_t k, int axis, int64_t dim, int64_t *out, PmErr *err)
{
	int64_t at = c->in[1].i[k];

	if (at < -dim || at >= dim)
		return pm__ref_fail(c, err, PM_E_INVALID,
				    "index %lld (element %lld of '%s') is outside axis %d of %lld entries; "
				    "supply indices in range.",
				    (long long)at, (long long)k,
				    pm_value_name(c->g, pm_node_in(c->g, c->node, 1)), axis, (long long)dim);
	*out = at < 0 ? at + dim : at;
	return PM_OK;
}

/* Calls for every index element: its number and the place in the data that it names. */
static PmStatus each_element(const PmRefCall *c, int scatter, Join j, PmErr *err)
{
	const PmType *t = &c->in[0].type, *it = &c->in[1].type;
	int axis = (int)pm_node_i(c->g, c->node, "axis", 0), d;
	int64_t stride[PM_MAX_RANK], k = 0, at, place;
	PmRefWalk w = { .rank = it->rank };
	PmStatus st;

	if (axis >= t->rank || it->rank != t->rank)
		return pm__ref_fail(c, err, PM_E_SHAPE, "data and indices must have equal ranks.");
	if (!c->in[1].numel)
		return PM_OK;
	pm__ref_strides(t, stride);
	for (d = 0; d < w.rank; d++)
		w.dim[d] = it->dim[d];
	do {
		st = position(c, k, axis, t->dim[axis], &at, err);
		if (st)
			return st;
		place = at * stride[axis];
		for (d = 0; d < w.rank; d++)
			place += d == axis ? 0 : w.at[d] * stride[d];
		if (scatter)
			join_at(j, &c->out[0], place, &c->in[2], k);
		else
			join_at(REPLACE, &c->out[0], k, &c->in[0], place);
		k++;
	} while (pm__ref_walk_next(&w));
	return PM_OK;
}

PmStatus pm__ref_gather_elements(const PmRefCall *c, PmErr *err)
{
	return each_element(c, 0, REPLACE, err);
}

PmStatus pm__ref_scatter_elements(const PmRefCall *c, PmErr *err)
{
	copy_all(&c->out[0], &c->in[0]);
	return each_element(c, 1, join_of(c), err);
}

/* Each index tuple names a block of the data: all elements under its coordinates. */
static PmStatus each_tuple(const PmRefCall *c, int batch_dims, int scatter, Join j, PmErr *err)
{
	const PmType *t = &c->in[0].type, *it = &c->in[1].type;
	int len = (int)it->dim[it->rank - 1], d;
	int64_t tuples = pm__ref_extent(it, 0, it->rank - 1), batches = pm__ref_extent(t, 0, batch_dims);
	int64_t block = pm__ref_extent(t, batch_dims + len, t->rank), n, k, at, place;
	PmStatus st;

	if (len < 1 || batch_dims + len > t->rank)
		return pm__ref_fail(c, err, PM_E_SHAPE, "an index tuple has %d elements for rank %d.", len,
				    t->rank);
	for (n = 0; n < tuples; n++) {
		place = n / (tuples / batches);
		for (d = 0; d < len; d++) {
			st = position(c, n * len + d, batch_dims + d, t->dim[batch_dims + d], &at, err);
			if (st)
				return st;
			place = place * t->dim[batch_dims + d] + at;
		}
		for (k = 0; k < block; k++) {
			if (scatter)
				join_at(j, &c->out[0], place * block + k, &c->in[2], n * block + k);
			else
				join_at(REPLACE, &c->out[0], n * block + k, &c->in[0], place * block + k);
		}
	}
	return PM_OK;
}

PmStatus pm__ref_gather_nd(const PmRefCall *c, PmErr *err)
{
	return each_tuple(c, (int)pm_node_i(c->g, c->node, "batch_dims", 0), 0, REPLACE, err);
}

PmStatus pm__ref_scatter_nd(const PmRefCall *c, PmErr *err)
{
	copy_all(&c->out[0], &c->in[0]);
	return each_tuple(c, 0, 1, join_of(c), err);
}
