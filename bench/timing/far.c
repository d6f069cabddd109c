/* SPDX-License-Identifier: Apache-2.0 */
/* far.c - which calls are further from the baseline than the others. */
#include "bench/timing/far.h"

#include "base/core/arena.h"
#include "bench/compare/stats.h"

#include <math.h>
#include <stdlib.h>

void pm_far_times(const double *distance, size_t n, size_t n_out, double *times)
{
	double *column = pm_xcalloc(n + 1, sizeof *column);

	for (size_t i = 0; i < n; i++)
		times[i] = 0;
	for (size_t o = 0; o < n_out; o++) {
		double ordinary;

		for (size_t i = 0; i < n; i++)
			column[i] = distance[i * n_out + o];
		qsort(column, n, sizeof *column, pm_ascending);
		ordinary = column[n / 4];
		for (size_t i = 0; i < n; i++) {
			double d = distance[i * n_out + o];
			double t = d == 0 ? 0 : ordinary > 0 && isfinite(d) ? d / ordinary : INFINITY;

			times[i] = fmax(times[i], t);
		}
	}
	free(column);
}
