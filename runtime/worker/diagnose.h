/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose.h - everything a compiler says about kernels that only have to compile: for their author.
 *
 * NVRTC where it is there, else the C++ compiler of the emulated device, which checks and writes no code.
 * Both read the sources in the same boxes as for a run (nvrtc_box.h, base/sandbox/sandbox.h). Nothing is kept
 * or loaded.
 */
#ifndef RUNTIME_DIAGNOSE_H
#define RUNTIME_DIAGNOSE_H

#include "base/core/str.h"
#include "runtime/device/device.h"

#include <stddef.h>

typedef struct PmKernelLog {
	PmStatus st; /* PM_OK: it compiles; PM_E_INVALID, PM_E_LIMIT */
	PmStr text;  /* what the compiler said, or one sentence that says why it was not asked */
} PmKernelLog;

/* Compiles each source; messages name its label and count the lines of the source. `by` gets the compiler:
 * "NVRTC 13.0", or "g++ for emu". PM_E_ENV when there is none. Release each out[i].text in every case. */
PmStatus pm_kernel_diagnose(const PmSource *s, size_t n, PmStr *by, PmKernelLog *out, PmErr *err);

#endif
