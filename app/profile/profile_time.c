/* SPDX-License-Identifier: Apache-2.0 */
/* profile_time.c - a short clock on the GPU: the original, the rewritten graph, and the original again. */
#include "app/profile/profile_time.h"

#include "bench/timing/clock.h"
#include "integrity/gates/compile_gate.h"
#include "runtime/gpus/target.h"
#include "runtime/worker/worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 6 };

PmStatus pm__profile_gpu(PmProfileReport *r, PmErr *err)
{
	PmDeviceInfo info;
	PmStatus st = pm_worker_look("cuda", &info, err);

	if (st)
		return st;
	r->cc = info.cc;
	r->n_sm = info.n_sm;
	r->same_gpu = pm_target_here() == r->target->target;
	return PM_OK;
}

static PmStatus gate(const PmProfileReport *r, PmErr *err)
{
	PmCompileJudgement j;
	PmStatus st = pm_compile_gate(r->g, &(PmCompileAsk){ .cc = r->cc }, &j, err);

	if (!st && j.verdict != PM_VERDICT_OK)
		st = pm_err(err, PM_E_INVALID, "%s: %s", pm_verdict_name(j.verdict), j.why);
	return st;
}

static PmStatus compare(PmProfileReport *r, const PmGraph *g, const PmProfileOpts *o, PmErr *err)
{
	PmSecret *secret = pm_secret_draw();
	PmWorker *w = pm_worker_new("cuda");
	const PmClockOpts opts = {
		.secret = secret, .deadline = o->deadline, .blocks = BLOCKS, .quick = 1, .cold_only = 1
	};
	const PmWork base = { .g = g }, cand = { .g = r->g, .alts = r->alts, .n_alts = r->n_alts };
	PmClockResult c = { 0 };
	PmStatus st = pm_clock_compare(w, &base, &cand, 1, &opts, &c, err);

	for (int i = 0; i < 2 && !st; i++)
		r->seconds[i] = pm_timer_seconds(&c.t.kind[PM_TIME_COLD],
						 i ? PM_SIDE_CANDIDATE : PM_SIDE_BASELINE);
	if (!st)
		pm_clock_release(&c);
	if (!st && !(isfinite(r->seconds[0]) && isfinite(r->seconds[1])))
		st = pm_err(err, PM_E_UNSUPPORTED, "The graph takes less time than the GPU's marks resolve.");
	pm_worker_free(w);
	pm_secret_free(secret);
	return st;
}

void pm__profile_time(PmProfileReport *r, const PmGraph *g, const PmProfileOpts *o)
{
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	st = gate(r, &why);
	if (!st)
		st = compare(r, g, o, &why);
	r->has_time = !st;
	if (st)
		snprintf(r->why_not_timed, sizeof r->why_not_timed, "%s", why.text);
}
