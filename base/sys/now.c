/* SPDX-License-Identifier: Apache-2.0 */
/* now.c - the clocks: one that never goes back, and the time of day. */
#include "base/sys/proc.h"

#include <math.h>
#include <time.h>

double pm_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double pm_wall_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + floor((double)t.tv_nsec * 1e-6) * 1e-3;
}
