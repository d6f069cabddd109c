/* SPDX-License-Identifier: Apache-2.0 */
/* hwcounters.c - names of metrics, and hardware counters as they cross from process to process. */
#include "runtime/profile/hwcounters.h"

#include <string.h>

static const char *const metric[PM_N_HW_METRICS] = {
#define XX(id, name, other) name,
#include "runtime/profile/hwmetrics.def"
#undef XX
#define XX(id, reason, waits, helps) "smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio",
#include "runtime/profile/hwstalls.def"
#undef XX
};

static const char *const other_name[PM_HW_STALLS] = {
#define XX(id, name, other) other,
#include "runtime/profile/hwmetrics.def"
#undef XX
};

static const struct {
	const char *reason, *waits, *helps;
} stall[PM_N_HW_STALLS] = {
#define XX(id, reason, waits, helps) { reason, waits, helps },
#include "runtime/profile/hwstalls.def"
#undef XX
};

const char *pm_hw_metric_name(PmHwMetric m)
{
	return metric[m];
}

const char *pm_hw_metric_other(PmHwMetric m)
{
	return m < PM_HW_STALLS ? other_name[m] : NULL;
}

const char *pm_hw_stall_name(PmHwMetric m)
{
	return stall[m - PM_HW_STALLS].reason;
}

const char *pm_hw_stall_waits(PmHwMetric m)
{
	return stall[m - PM_HW_STALLS].waits;
}

const char *pm_hw_stall_helps(PmHwMetric m)
{
	return stall[m - PM_HW_STALLS].helps;
}

PmStatus pm_hw_take(PmHwCounters *c, const void *bytes, size_t n, PmErr *err)
{
	PmHwCounters got;
	int same = n == sizeof got;

	if (same) {
		memcpy(&got, bytes, sizeof got);
		same = got.n == c->n;
	}
	for (size_t i = 0; i < c->n && same; i++)
		same = got.of[i].launch == c->of[i].launch;
	if (!same)
		return pm_err(err, PM_E_CRASH, "The process that reads counters sent half an answer.");
	*c = got;
	return PM_OK;
}
