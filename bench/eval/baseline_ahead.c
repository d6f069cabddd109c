/* SPDX-License-Identifier: Apache-2.0 */
/* baseline_ahead.c - compiles the baseline's kernels beside the judging of the candidate. */
#include "bench/eval/baseline_ahead.h"

#include "base/core/arena.h"
#include "base/sys/serve.h"
#include "runtime/device/device.h"
#include "runtime/exec/exec.h"

#include <stdlib.h>

struct PmBaselineAhead {
	const char *device;
	const PmGraph *g;
	PmServer *server;
};

/* In the process: the first call has no request, and what it makes stays in the cache. The device itself is
 * let go by the end of the process. */
static int serve(void *arg, const char *request, size_t n, PmStr *reply)
{
	const PmBaselineAhead *a = arg;
	PmDevice *d = NULL;
	PmPlan *plan = NULL;
	PmExec *x = NULL;

	(void)n;
	if (request) {
		pm_str_addc(reply, '.');
		return 0;
	}
	if (!pm_device_open(a->device, &d, NULL) && !pm_plan_new(a->g, NULL, 0, &plan, NULL) &&
	    !pm_exec_new(plan, d, &x, NULL))
		pm_exec_free(x);
	pm_plan_free(plan);
	return 0;
}

PmBaselineAhead *pm_baseline_ahead_begin(const char *device, const PmGraph *g)
{
	PmLimits lim = { .file_size = -1 };
	PmBaselineAhead *a;

	if (pm_device_kind(device) != PM_DEVICE_CUDA)
		return NULL;
	a = pm_xcalloc(1, sizeof *a);
	a->device = device;
	a->g = g;
	if (pm_server_start(serve, a, &lim, &a->server, NULL)) {
		free(a);
		return NULL;
	}
	return a;
}

void pm_baseline_ahead_end(PmBaselineAhead *a, int wait)
{
	PmStr reply = PM_STR_INIT;

	if (!a)
		return;
	if (wait)
		pm_server_call(a->server, "compiler of the baseline", "?", 1, 0, 16, &reply, NULL);
	pm_str_release(&reply);
	if (wait)
		pm_server_stop(a->server);
	else
		pm_server_kill(a->server);
	free(a);
}
