/* nvrtc.h - CUDA source to PTX through NVRTC, opened at run time: no toolkit is needed to build Passmith. */
#ifndef RUNTIME_NVRTC_H
#define RUNTIME_NVRTC_H

#include "base/str.h"
#include "runtime/device.h"

/* Compiles prelude and source for compute capability `cc` (80, 90, ...) and appends the PTX. The first error
 * of the compiler is PM_E_INVALID, its line counted in the source; PM_E_ENV says what is missing when there
 * is no NVRTC or when it has no headers. Works without a GPU. */
PmStatus pm_nvrtc_ptx(const PmSource *s, int cc, PmStr *ptx, PmErr *err);
/* The version as "13.0", appended. PM_E_ENV when there is no NVRTC. */
PmStatus pm_nvrtc_version(PmStr *out, PmErr *err);

#endif
