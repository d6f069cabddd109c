/* SPDX-License-Identifier: Apache-2.0 */
/* now.c - the monotonic clock. */
#include "base/sys/proc.h"

#include <time.h>

double pm_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
