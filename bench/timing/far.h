/* SPDX-License-Identifier: Apache-2.0 */
/* far.h - which calls are further from the baseline than the others. */
#ifndef BENCH_FAR_H
#define BENCH_FAR_H

#include <stddef.h>

/* distance[i * n_out + o]: of output o of call i from the baseline's (runtime/device/sketch.h). times[i]
 * becomes how many times further call i is than an ordinary one (the lower quartile of the calls), in the
 * output where that is most: infinite where ordinary calls are at no distance at all and it is, 0 where it is
 * at none. No distance that rounding explains is the same for every graph, element type and kernel, but on
 * inputs of one kind it is much the same for every call. */
void pm_far_times(const double *distance, size_t n, size_t n_out, double *times);

#endif
