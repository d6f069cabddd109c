/* SPDX-License-Identifier: Apache-2.0 */
/* runner_speed.c - the stage that says how fast a candidate is, and how much it replaced. */
#include "bench/eval/runner_priv.h"

PmStatus pm__stage_speed(Eval *e, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	PmPlanStats base, best = { 0 };
	int alt = 0;
	PmStatus st = pm__model_counted(e, &base, &best, &alt, err);

	if (st)
		return st;
	r->baseline_seconds = base.modelled_seconds;
	r->candidate_seconds = best.modelled_seconds;
	r->baseline_launches = base.n_launches;
	r->candidate_launches = best.n_launches;
	r->baseline_bytes = base.bytes;
	r->candidate_bytes = best.bytes;
	if (best.modelled_seconds > 0 && base.modelled_seconds > 0)
		r->speedup = base.modelled_seconds / best.modelled_seconds;
	r->coverage = pm__modelled_coverage(&base, &best);
	if (r->verdict == PM_VERDICT_OK && pm__has_no_credit(e, r->coverage)) {
		r->speedup = 1;
		return pm__say(
			e, PM_VERDICT_NO_CREDIT,
			"What the pass replaced costs the baseline no time: views and other free operators.");
	}
	return pm__stage_clock(e, alt, &base, &best, err);
}
