/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h - what this machine has for running kernels: libraries, GPUs, compilers. */
#ifndef RUNTIME_PROBE_H
#define RUNTIME_PROBE_H

#include "base/core/err.h"
#include "runtime/device/device.h"

typedef struct PmFound {
	const char *what; /* "CUDA driver" */
	const char *needed_for;
	int found;
	char detail[256];  /* version and path when found, else what to do */
	char id[96];       /* NVML: UUID of the GPU; "" = not known */
	char clocks[64];   /* NVML: what the GPU's clocks are set to; "" = not known */
	char version[128]; /* the same without the path and what changes from look to look; "" when not found
			    */
} PmFound;

enum { PM_MAX_PROBES = 16 };

/* Looks for everything; returns the number of entries written to `out` (at most PM_MAX_PROBES). */
int pm_probe_all(PmFound *out);

/* The same for these alone, by the names that pm_probe_all gives as `what` (NULL ends the list; driver, GPU
 * and NVML come together). Of cuBLASLt and cuDNN it opens only what is asked for: once open they stay
 * (runtime/device/library.h), and cuBLASLt writes 84 MB, whose page tables every later fork copies. */
int pm_probe_some(const char *const *wanted, PmFound *out);

/* The GPU that the driver gives this process first: 1 and what it is, or 0. It is asked once, in a child. */
int pm_probe_gpu(PmDeviceInfo *out);

/* The entry of that name among n; NULL when there is none. Borrowed from `found`. */
const PmFound *pm_probe_find(const PmFound *found, int n, const char *what);

#endif
