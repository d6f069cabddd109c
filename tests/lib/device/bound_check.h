/* SPDX-License-Identifier: Apache-2.0 */
/* bound_check.h - do a device's results lie within the error bound? */
#ifndef TESTS_LIB_BOUND_CHECK_H
#define TESTS_LIB_BOUND_CHECK_H

#include "bench/compare/bound/bound.h"

/* Fails the running test when output k of g, for which the bound knows a rule, is outside of it; `name` says
 * what output k is. Returns how many were judged. Graphs whose types only a run tells are not judged. */
size_t bound_check(const PmGraph *g, const PmTensor *in, const PmTensor *got, size_t n_out,
		   const char *(*name)(void *arg, size_t k), void *arg);

#endif
