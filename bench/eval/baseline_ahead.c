/* SPDX-License-Identifier: Apache-2.0 */
/* baseline_ahead.c - compiles the baseline's kernels beside the judging of the candidate. */
#include "bench/eval/baseline_ahead.h"

#include "base/core/arena.h"
#include "base/sys/cpus.h"
#include "base/sys/serve.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/exec/exec.h"

#include <stdlib.h>

struct PmBaselineAhead {
	int cc;
	const PmGraph *g;
	PmServer *server;
};

static void compile(const PmPlan *plan, int cc)
{
	const PmSource *all;
	PmSource *own = pm_xcalloc(pm_plan_sources(plan, &all) + 1, sizeof *own);
	size_t n = pm_plan_own_sources(plan, own);

	pm_nvrtc_ahead(own, n, cc, pm_cpus_unpinned_count());
	for (size_t i = 0; i < n; i++) { /* a single one is still to be compiled */
		PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;

		pm_nvrtc_compile(&own[i], cc, &ptx, &cubin, NULL);
		pm_str_release(&ptx);
		pm_str_release(&cubin);
	}
	free(own);
}

/* In the process: the first call has no request, and what it makes stays in the cache. */
static int serve(void *arg, const char *request, size_t n, PmStr *reply)
{
	const PmBaselineAhead *a = arg;
	PmPlan *plan = NULL;

	(void)n;
	if (request) {
		pm_str_addc(reply, '.');
		return 0;
	}
	if (!pm_plan_new(a->g, NULL, 0, &plan, NULL))
		compile(plan, a->cc);
	pm_plan_free(plan);
	return 0;
}

PmBaselineAhead *pm_baseline_ahead_begin(int cc, const PmGraph *g)
{
	PmLimits lim = { .file_size = -1 };
	PmBaselineAhead *a = pm_xcalloc(1, sizeof *a);

	a->cc = cc;
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
