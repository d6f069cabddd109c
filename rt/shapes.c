/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.c - which specialised shape, or shapes one after the other, the bound inputs need. */
#include "rt/rt_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NEAREST = 3 }; /* shapes that a sentence lists */

/* ---- in words ---- */

static void add(char *text, size_t room, size_t *at, const char *fmt, ...) PM_PRINTF(4, 5);
static void add(char *text, size_t room, size_t *at, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = *at < room ? vsnprintf(text + *at, room - *at, fmt, ap) : 0;
	va_end(ap);
	*at += n > 0 ? (size_t)n : 0;
	if (*at >= room)
		*at = room - 1;
}

/* 1 when a dimension before [i][k] has this symbol. */
static int seen(const PmRtModel *m, size_t i, int k, const char *symbol)
{
	for (size_t j = 0; j <= i; j++)
		for (int d = 0; d < (j < i ? m->value[j].rank : k); d++)
			if (m->value[j].symbol[d] && !strcmp(m->value[j].symbol[d], symbol))
				return 1;
	return 0;
}

void pm_rt_shape_text(const PmRtModel *m, size_t shape, char *text, size_t room, size_t *at)
{
	int n = 0;

	for (size_t i = 0; i < m->n_in; i++)
		for (int k = 0; k < m->value[i].rank; k++) {
			const char *symbol = m->value[i].symbol[k];

			if (symbol && !seen(m, i, k, symbol))
				add(text, room, at, "%s%.60s=%lld", n++ ? ", " : "", symbol,
				    (long long)pm_package_extent(&m->pk, shape, i)->dim[k]);
		}
	if (!n)
		add(text, room, at, "the sizes of the model");
}

static void add_given(const PmRtSession *s, char *text, size_t room, size_t *at)
{
	for (size_t i = 0; i < s->m->n_in && i < 8; i++) {
		const PmRtTensor *t = &s->bound[i].t;

		add(text, room, at, "%s%.60s [", i ? ", " : "", s->m->value[i].name);
		for (int k = 0; k < t->rank; k++)
			add(text, room, at, "%s%lld", k ? "," : "", (long long)t->dim[k]);
		add(text, room, at, "]");
	}
}

/* How far a shape is from what is bound: the sum of the factors by which sizes differ. */
static double distance(const PmRtSession *s, size_t shape)
{
	double d = 0;

	for (size_t i = 0; i < s->m->n_in; i++)
		for (int k = 0; k < s->m->value[i].rank; k++) {
			double a = 1 + (double)s->bound[i].t.dim[k];
			double b = 1 + (double)pm_package_extent(&s->m->pk, shape, i)->dim[k];

			d += (a > b ? a / b : b / a) - 1;
		}
	return d;
}

/* Shapes by distance, of equals the first: repeated selection, for the few that are listed. */
static PmStatus refuse(const PmRtSession *s, const char *why, PmErr *err)
{
	char given[300] = "", near[500] = "";
	size_t at_given = 0, at = 0, n = s->m->pk.n_shape;
	double last = -1;
	size_t last_shape = 0;

	add_given(s, given, sizeof given, &at_given);
	for (int i = 0; i < NEAREST && i < (int)n; i++) {
		size_t best = n;

		for (size_t k = 0; k < n; k++) {
			double d = distance(s, k);

			if ((d > last || (d == last && k > last_shape)) &&
			    (best == n || d < distance(s, best)))
				best = k;
		}
		if (best == n)
			break;
		last = distance(s, best);
		last_shape = best;
		add(near, sizeof near, &at, "%s", i ? "; " : "");
		pm_rt_shape_text(s->m, best, near, sizeof near, &at);
	}
	return pm_err(err, PM_E_SHAPE,
		      "%.200s has no shape for %s%s; the nearest of its %zu are: %s. Compile the model with "
		      "--shape for "
		      "these sizes too.",
		      s->m->path, given, why, n, near);
}

/* ---- choosing ---- */

static int is_pieces(const PmRtModel *m, size_t value, int k)
{
	const PmRtPackage *p = &m->pk;

	return p->header->pieces != PM_RTF_NONE && k == 0 && m->value[value].rank &&
	       m->value[value].symbol[0] &&
	       !strcmp(m->value[value].symbol[0], pm_package_text(p, p->header->pieces));
}

/* Whether the bound sizes are those of the shape, where `but_pieces` but for what pieces cut. */
static int fits(const PmRtSession *s, size_t shape, int but_pieces)
{
	const PmRtModel *m = s->m;

	for (size_t i = 0; i < m->n_in; i++)
		for (int k = 0; k < m->value[i].rank; k++)
			if (s->bound[i].t.dim[k] != pm_package_extent(&m->pk, shape, i)->dim[k] &&
			    !(but_pieces && is_pieces(m, i, k)))
				return 0;
	return 1;
}

/* The size by which a shape is cut, and in *all what is bound to it: -1 where inputs differ. */
static int64_t rows_of(const PmRtSession *s, size_t shape, int64_t *all)
{
	const PmRtModel *m = s->m;
	int64_t rows = 0;

	*all = -1;
	for (size_t i = 0; i < m->n_in; i++) {
		if (!is_pieces(m, i, 0))
			continue;
		if (*all >= 0 && *all != s->bound[i].t.dim[0])
			return -1;
		*all = s->bound[i].t.dim[0];
		rows = pm_package_extent(&m->pk, shape, i)->dim[0];
	}
	return rows;
}

/* The largest shape of at most `left` rows; n_shape = none. */
static size_t largest(const PmRtSession *s, int64_t left, int64_t *rows)
{
	size_t best = s->m->pk.n_shape;

	*rows = 0;
	for (size_t k = 0; k < s->m->pk.n_shape; k++) {
		int64_t all, r = fits(s, k, 1) ? rows_of(s, k, &all) : 0;

		if (r > *rows && r <= left) {
			*rows = r;
			best = k;
		}
	}
	return best;
}

static void note_extents(PmRtSession *s, size_t shape, int64_t all)
{
	const PmRtModel *m = s->m;

	for (size_t i = 0; i < m->n_in + m->n_out; i++) {
		s->extent[i] = *pm_package_extent(&m->pk, shape, i);
		if (all >= 0 && is_pieces(m, i, 0))
			s->extent[i].dim[0] = all;
	}
}

static PmStatus choose_pieces(PmRtSession *s, PmErr *err)
{
	int64_t all = -1, left, rows;
	size_t first = s->m->pk.n_shape, shape;

	for (size_t k = 0; k < s->m->pk.n_shape && first == s->m->pk.n_shape; k++)
		if (fits(s, k, 1) && rows_of(s, k, &all) > 0 && all >= 0)
			first = k;
	if (first == s->m->pk.n_shape)
		return refuse(s, "", err);
	for (left = all; left > 0; left -= s->piece[s->n_pieces - 1].times * rows) {
		shape = largest(s, left, &rows);
		if (shape == s->m->pk.n_shape) {
			s->n_pieces = 0;
			return refuse(s,
				      ", and what is left of it after the larger pieces is less than the "
				      "smallest one",
				      err);
		}
		s->piece[s->n_pieces++] = (PmRtPiece){ shape, rows, left / rows };
	}
	note_extents(s, first, all);
	return PM_OK;
}

PmStatus pm_rt_choose(PmRtSession *s, PmErr *err)
{
	PmStatus st;

	s->n_pieces = 0;
	for (size_t k = 0; k < s->m->pk.n_shape; k++)
		if (fits(s, k, 0)) {
			s->piece[s->n_pieces++] = (PmRtPiece){ k, 0, 1 };
			note_extents(s, k, -1);
			s->chosen = 1;
			return PM_OK;
		}
	st = s->m->pk.header->pieces != PM_RTF_NONE ? choose_pieces(s, err) : refuse(s, "", err);
	s->chosen = !st;
	return st;
}
