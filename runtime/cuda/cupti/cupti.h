/* SPDX-License-Identifier: Apache-2.0 */
/* cupti.h - hardware counters of a GPU, read with NVIDIA's CUPTI library, which is opened at run time.
 *
 * A session is of one context of the driver, and counts one launch of a kernel at a time. It is launched
 * several times, in passes, since the hardware has fewer counters than metrics need. Errors are PM_E_ENV and
 * name CUPTI's function and the number of its error.
 */
#ifndef RUNTIME_CUDA_CUPTI_H
#define RUNTIME_CUDA_CUPTI_H

#include "base/core/str.h"
#include "runtime/profile/hwcounters.h"

typedef struct PmCupti PmCupti;

/* Gets ready to count all metrics that the chip of GPU number `device` has, in the driver's context `ctx`,
 * which must outlive the session. The library is looked for where the system does and below $CUDA_HOME, and
 * stays open as long as the process. Owned. */
PmStatus pm_cupti_open(void *ctx, int device, PmCupti **out, PmErr *err);
/* Ends it; NULL is allowed. */
void pm_cupti_free(PmCupti *c);

/* What comes next are passes of another launch. */
PmStatus pm_cupti_launch_begin(PmCupti *c, PmErr *err);
/* Around the launch and nothing else. The device has nothing to do at either place. */
PmStatus pm_cupti_pass_begin(PmCupti *c, PmErr *err);
/* *done: all metrics have been counted. */
PmStatus pm_cupti_pass_end(PmCupti *c, int *done, PmErr *err);
/* After the last pass: out->v and out->measured. */
PmStatus pm_cupti_launch_end(PmCupti *c, PmHwLaunch *out, PmErr *err);
/* What is known of the chip and of the library: all of *out but the launches. */
void pm_cupti_about(const PmCupti *c, PmHwCounters *out);

/* Whether the library is there and has what is needed, for doctor: 1, with its version, place, and whom the
 * driver allows to read counters, or 0 with what is missing. Nothing of the GPU is touched. */
int pm_cupti_probe(PmStr *detail);
/* Appends one sentence about who may read counters, and how to allow it, from the driver's parameters in file
 * `params` ("/proc/driver/nvidia/params"). */
void pm_cupti_permission(const char *params, PmStr *out);

#endif
