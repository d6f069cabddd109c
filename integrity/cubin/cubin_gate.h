/* SPDX-License-Identifier: Apache-2.0 */
/* cubin_gate.h - reads the machine code of a candidate before a device loads it.
 *
 * It was made from PTX that was judged, in the same call, so this is a second look: that the file holds the
 * described kernels and nothing else, and that what it asks of the device is within limits. The reader is
 * bounds-checked; layout and attribute codes are those that NVRTC 13.0 writes for sm_80 to sm_100.
 */
#ifndef INTEGRITY_CUBIN_GATE_H
#define INTEGRITY_CUBIN_GATE_H

#include "base/core/str.h"

#include <stddef.h>
#include <stdint.h>

enum {
	PM_CUBIN_MAX_BYTES = 32 << 20,
	PM_CUBIN_MAX_REGISTERS = 255,
	PM_CUBIN_MAX_LOCAL = 16 << 10, /* bytes of stack for each thread, spills included */
	PM_CUBIN_MAX_SHARED = 228
			      << 10, /* static bytes of a block, the 1 KiB included that the system keeps */
	PM_CUBIN_MAX_THREADS = 1024,
	PM_CUBIN_MAX_BARRIERS = 16,
	PM_CUBIN_MAX_CONST = 64 << 10, /* bytes of one constant bank */
};

/* What one kernel asks for. */
typedef struct PmCubinKernel {
	char name[64];
	uint32_t registers, local, shared, barriers, max_threads; /* max_threads 0: not stated */
} PmCubinKernel;

/* Judges a cubin whose kernels must be among `entries` (any, when there are none). Appends one sentence to
 * *problems for each problem, each on a line of its own, and returns how many. out[0..*n_out) (room for max;
 * may be NULL with max 0) are the kernels found. */
int pm_cubin_gate(const void *cubin, size_t len, const char *const *entries, size_t n_entries,
		  PmCubinKernel *out, size_t max, size_t *n_out, PmStr *problems);

/* 1 when the instructions of sm_`cc` are read; for others the gate reads sections, symbols and limits alone.
 */
int pm_cubin_reads_code(int cc);

#endif
