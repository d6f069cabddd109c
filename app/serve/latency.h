/* SPDX-License-Identifier: Apache-2.0 */
/* latency.h - how often something took how long, in memory that does not grow with the number of times. */
#ifndef APP_SERVE_LATENCY_H
#define APP_SERVE_LATENCY_H

#include <stdint.h>

enum { PM_LATENCY_STEPS = 64, PM_LATENCY_OCTAVES = 40 };

/* Counts by size: 64 steps for each power of two from a nanosecond on, so that a level is known to 1.1 %. */
typedef struct PmLatency {
	uint64_t count[PM_LATENCY_OCTAVES * PM_LATENCY_STEPS], n;
	double sum, most; /* seconds */
} PmLatency;

/* *l is zeros to begin with. */
void pm_latency_add(PmLatency *l, double seconds);
void pm_latency_merge(PmLatency *to, const PmLatency *from);
/* The time that the given part of all did not exceed, by the upper end of its step; 0 of none. */
double pm_latency_level(const PmLatency *l, double part);

#endif
