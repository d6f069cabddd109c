/* SPDX-License-Identifier: Apache-2.0 */
/* latency.c - counts of times by their size. */
#include "app/serve/latency.h"

#include <math.h>

static const double unit = 1e-9;

void pm_latency_add(PmLatency *l, double seconds)
{
	double at = seconds > unit ? log2(seconds / unit) * PM_LATENCY_STEPS : 0;
	int most = PM_LATENCY_OCTAVES * PM_LATENCY_STEPS - 1;

	l->count[at < most ? (int)at : most]++;
	l->n++;
	l->sum += seconds;
	l->most = seconds > l->most ? seconds : l->most;
}

void pm_latency_merge(PmLatency *to, const PmLatency *from)
{
	for (int i = 0; i < PM_LATENCY_OCTAVES * PM_LATENCY_STEPS; i++)
		to->count[i] += from->count[i];
	to->n += from->n;
	to->sum += from->sum;
	to->most = from->most > to->most ? from->most : to->most;
}

double pm_latency_level(const PmLatency *l, double part)
{
	double wanted = part * (double)l->n;
	uint64_t seen = 0;

	/* The last step has no end. */
	for (int i = 0; i < PM_LATENCY_OCTAVES * PM_LATENCY_STEPS - 1; i++) {
		double end = exp2((double)(i + 1) / PM_LATENCY_STEPS) * unit;

		seen += l->count[i];
		if (seen && (double)seen >= wanted)
			return end < l->most ? end : l->most;
	}
	return l->most;
}
