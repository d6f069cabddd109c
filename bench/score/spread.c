/* SPDX-License-Identifier: Apache-2.0 */
/* spread.c - spread of measurements within and between nodes. */
#include "bench/score/spread.h"

#include <math.h>

/* Sums over variants. */
typedef struct Sums {
	double ss_within, ss_between; /* squares */
	double df_within, df_between; /* degrees of freedom */
	double size;                  /* of N - sum n_i^2 / N */
} Sums;

static double mean(const PmSpreadItem *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i].value;
	return sum / (double)n;
}

static void add_variant(Sums *s, const PmSpreadItem *x, size_t n)
{
	double all = mean(x, n), squares = 0;
	size_t nodes = 0, end;

	for (size_t i = 0; i < n; i = end, nodes++) {
		double own, m;

		for (end = i; end < n && x[end].node == x[i].node; end++)
			continue;
		m = (double)(end - i);
		own = mean(x + i, end - i);
		for (size_t k = i; k < end; k++)
			s->ss_within += (x[k].value - own) * (x[k].value - own);
		s->ss_between += m * (own - all) * (own - all);
		s->df_within += m - 1;
		squares += m * m;
	}
	s->df_between += (double)nodes - 1;
	s->size += (double)n - squares / (double)n;
}

static size_t count_nodes(const PmSpreadItem *x, size_t n)
{
	size_t nodes = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < i && x[k].node != x[i].node)
			k++;
		nodes += k == i;
	}
	return nodes;
}

PmSpread pm_spread(const PmSpreadItem *x, size_t n)
{
	PmSpread out = { n, count_nodes(x, n), NAN, NAN };
	Sums s = { 0 };
	double within;
	size_t end;

	for (size_t i = 0; i < n; i = end) {
		for (end = i; end < n && x[end].variant == x[i].variant; end++)
			continue;
		add_variant(&s, x + i, end - i);
	}
	if (!(s.df_within > 0))
		return out;
	within = s.ss_within / s.df_within;
	out.within = sqrt(within);
	if (s.df_between > 0)
		out.between = sqrt(fmax(0, (s.ss_between / s.df_between - within) * s.df_between / s.size));
	return out;
}
