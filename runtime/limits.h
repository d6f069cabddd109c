/* limits.h - what the kernels of a candidate may ask for: judged from the graph alone, before a byte is
 * allocated or a line compiled, by whoever evaluates and by the worker when it takes a graph.
 *
 * Each function is PM_OK, or PM_E_LIMIT with a sentence that names the kernel, the size and the limit.
 */
#ifndef RUNTIME_LIMITS_H
#define RUNTIME_LIMITS_H

#include "ir/graph.h"

enum {
	PM_LIMIT_SOURCES = 512,          /* different sources of a candidate, alternatives included, */
	PM_LIMIT_SOURCE_BYTES = 8 << 20, /* and their bytes together */
	PM_LIMIT_SCRATCH_EMU = 64 << 20, /* bytes of scratch of a candidate on emu; */
	PM_LIMIT_SCRATCH_CUDA = 1 << 30, /* on cuda that, or if it is less this share of what was free */
	PM_LIMIT_SCRATCH_SHARE = 4       /* when the device was opened */
};

/* Scratch of all kernels, of each the alternative that wants most, against PmDeviceInfo.max_scratch. */
PmStatus pm_limit_scratch(const PmGraph *g, int64_t max_scratch, PmErr *err);
PmStatus pm_limit_sources(const PmGraph *g, PmErr *err);

#endif
