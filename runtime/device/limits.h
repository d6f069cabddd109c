/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - what the kernels of a candidate may ask for: judged from the graph alone, before a byte is
 * allocated or a line compiled, by whoever evaluates and by the worker when it takes a graph. The numbers are
 * those of ir/core/limits.h.
 *
 * Each function is PM_OK, or PM_E_LIMIT with a sentence that names the kernel, the size and the limit.
 */
#ifndef RUNTIME_LIMITS_H
#define RUNTIME_LIMITS_H

#include "ir/core/graph.h"
#include "ir/core/limits.h"

/* Scratch of all kernels, of each the alternative that wants most, against PmDeviceInfo.max_scratch. */
PmStatus pm_limit_scratch(const PmGraph *g, int64_t max_scratch, PmErr *err);
PmStatus pm_limit_sources(const PmGraph *g, PmErr *err);

#endif
