/* SPDX-License-Identifier: Apache-2.0 */
/* median_interval.h - an interval for a median, which the clock's rule is compared with. */
#ifndef TESTS_LIB_MEDIAN_INTERVAL_H
#define TESTS_LIB_MEDIAN_INTERVAL_H

#include "bench/compare/stats.h"

/* The interval between two order statistics that holds the median of the distribution with at least
 * `confidence`, whatever the distribution is: the number of values below the true median is binomial (n, 1/2)
 * (David and Nagaraja, Order Statistics, 3rd ed., 7.1). Where n values cannot say that much (fewer than 8 for
 * 0.99) it is unbounded. NaN everywhere when x is empty or holds a value that is not finite. */
PmInterval test_median_interval(const double *x, size_t n, double confidence);

#endif
