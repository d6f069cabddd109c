/* SPDX-License-Identifier: Apache-2.0 */
/* hwcounters.h - what the hardware counters of a GPU say of launches. */
#ifndef RUNTIME_PROFILE_HWCOUNTERS_H
#define RUNTIME_PROFILE_HWCOUNTERS_H

#include "base/core/err.h"
#include "runtime/profile/counts.h"

#include <stddef.h>
#include <stdint.h>

/* The metrics (hwmetrics.def), and behind them the stall reasons (hwstalls.def). */
typedef enum PmHwMetric {
#define XX(id, name, other) PM_HW_##id,
#include "runtime/profile/hwmetrics.def"
#undef XX
	PM_HW_STALLS,                           /* how many of these there are, and the first reason */
	PM_HW_BEFORE_STALLS = PM_HW_STALLS - 1, /* the next one is numbered as the one above */
#define XX(id, reason, waits, helps) PM_HW_STALL_##id,
#include "runtime/profile/hwstalls.def"
#undef XX
	PM_N_HW_METRICS
} PmHwMetric;
enum { PM_N_HW_STALLS = PM_N_HW_METRICS - PM_HW_STALLS };

/* CUPTI's name of a metric. */
const char *pm_hw_metric_name(PmHwMetric m);
/* The name that other chips have it under; NULL = all have the same. */
const char *pm_hw_metric_other(PmHwMetric m);
/* Of a stall reason (PM_HW_STALLS and up): its name, what the warp waits for, what usually helps ("" =
 * nothing to say). */
const char *pm_hw_stall_name(PmHwMetric m);
const char *pm_hw_stall_waits(PmHwMetric m);
const char *pm_hw_stall_helps(PmHwMetric m);

typedef struct PmHwLaunch {
	uint32_t launch;           /* number of the launch in its plan: set by who asks */
	int measured;              /* what follows is known */
	double v[PM_N_HW_METRICS]; /* in CUPTI's units; NaN = the chip lacks it, or it divides by nothing */
} PmHwLaunch;

/* Starts zeroed but for n and the launches' numbers. */
typedef struct PmHwCounters {
	size_t n; /* launches that are asked about */
	PmHwLaunch of[PM_COUNT_LAUNCHES];
	uint32_t version;                     /* of CUPTI's interface */
	int passes;                           /* how often each launch ran for it */
	unsigned char lacks[PM_N_HW_METRICS]; /* 1: this chip has no such metric */
} PmHwCounters;

/* Takes what another process sent; PM_E_CRASH when it is of another size or answers another question. */
PmStatus pm_hw_take(PmHwCounters *c, const void *bytes, size_t n, PmErr *err);

#endif
