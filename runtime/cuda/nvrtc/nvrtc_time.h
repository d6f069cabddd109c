/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_time.h - whether what a compiler makes of a source depends on the time, and if it differs, why.
 *
 * NVRTC knows the time by __DATE__ and __TIME__, which cannot be taken away from it. Both are local time, so
 * the time zone sets them: a source is compiled at 11:00:00 of one day and at 00:31:57 of the next, which
 * differ in every digit of the time, at once and without waiting. Where the results differ there are two
 * explanations. The source knows the time: then each of the two times has its own result, always. Or the
 * compiler wavers: then one time has several results, or both have one in common. That is no fault of the
 * source. Where compiling takes longer than a second, seconds pass for a source that knows the time, too:
 * there each time has to have a result that came twice.
 */
#ifndef RUNTIME_NVRTC_TIME_H
#define RUNTIME_NVRTC_TIME_H

#include "base/core/err.h"
#include "base/core/str.h"

typedef enum PmTimeFinding {
	PM_TIME_UNKNOWN, /* the same at both times */
	PM_TIME_KNOWN,   /* the source knows the time */
	PM_TIME_WAVERS,  /* the compiler gives several results for one source and time */
} PmTimeFinding;

/* Appends the result at the time that has been set. A failure is a result like any other. */
typedef PmStatus (*PmTimedCompile)(void *arg, PmStr *ptx, PmErr *err);

/* Sets the local time of this process to the first (0) or second (1) of the two. Changes TZ. */
void pm__time_set(int which);

/* `first` is what compile() gave at time 0. Compiles once at time 1; only where that differs up to 8 times at
 * each, as long as `seconds` have not passed. A result counts as a status with its PTX or message. */
PmTimeFinding pm__time_look(PmTimedCompile compile, void *arg, const PmStr *first, double seconds);

#endif
