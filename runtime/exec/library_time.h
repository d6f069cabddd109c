/* SPDX-License-Identifier: Apache-2.0 */
/* library_time.h - the modelled time of calls that libraries take on a GPU: products and convolutions.
 *
 *   seconds = call + ramp x operations / (operations + library_ramp_flops) + term x (terms of a sum)
 *           + operations / rate + bytes / bandwidth
 *
 * call, ramp, term and rate are constants of the target (call_* of targets/costs.def), by kind of call:
 *
 *   row         one row or one column, any type: the eager run's own kernel is faster than a library's
 *   f32, half   other products of float, and of float16 or bfloat16; odd: of those that have rows which do
 * not begin at 16 bytes image_*     convolutions of 1 by 1, which are products conv_*      other
 * convolutions; group_*: those in groups
 *
 * They are fitted to single calls and to whole graphs of kept models: docs/results/modelled-times.md.
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
