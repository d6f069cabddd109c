/* SPDX-License-Identifier: Apache-2.0 */
/* library_time.h - the modelled time of calls that libraries take on a GPU: products and convolutions.
 *
 * The formula is that of include/passmith/target.h.
 */
#ifndef RUNTIME_EXEC_LIBRARY_TIME_H
#define RUNTIME_EXEC_LIBRARY_TIME_H

#include "runtime/device/library.h"
#include "runtime/exec/profiles.h"

/* Of a call with so many bytes and operations, its launch included. Of types other than float, float16 and
 * bfloat16 it is that of any launch: what prof's first comment says. */
double pm_library_seconds(const PmLibCall *c, int64_t bytes, int64_t flops, const PmProfile *prof);
/* Of a depthwise convolution, which is a kernel of the eager run. */
double pm_depthwise_seconds(int64_t bytes, int64_t flops, const PmProfile *prof);

#endif
