/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc.h - CUDA source to PTX and cubin through NVRTC, opened at run time: no toolkit is needed to build
 * Passmith, no GPU to compile kernels. */
#ifndef RUNTIME_NVRTC_H
#define RUNTIME_NVRTC_H

#include "base/core/str.h"
#include "runtime/device/device.h"

#include <stddef.h>

/* Compiles prelude and source for compute capability `cc` (80, 90, ...) and appends the PTX. The first error
 * of the compiler is PM_E_INVALID, its line counted in the source; PM_E_ENV says what is missing when there
 * is no NVRTC or when it has no headers. Works without a GPU. Nothing is cached. */
PmStatus pm_nvrtc_ptx(const PmSource *s, int cc, PmStr *ptx, PmErr *err);

/* The same to PTX and machine code for a device of compute capability `cc`, kept in the cache by content
 * (source, prelude, options, architecture, version of NVRTC); several processes may do so at once. A device
 * newer than NVRTC gets PTX for the newest architecture known and an empty cubin: its driver compiles the
 * PTX. */
PmStatus pm_nvrtc_compile(const PmSource *s, int cc, PmStr *ptx, PmStr *cubin, PmErr *err);

/* Compiles what the cache lacks with up to `jobs` processes, so that pm_nvrtc_compile finds it there. Errors
 * are left for that call to report. */
void pm_nvrtc_ahead(const PmSource *src, size_t n, int cc, int jobs);

/* The version as "13.0", appended. PM_E_ENV when there is no NVRTC. */
PmStatus pm_nvrtc_version(PmStr *out, PmErr *err);

#endif
