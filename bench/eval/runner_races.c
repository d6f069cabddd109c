/* SPDX-License-Identifier: Apache-2.0 */
/* runner_races.c - a run of the candidate whose accesses to shared memory are watched (device "emu+races").
 *
 * Only where emu is the device and a kernel has shared memory. What the watched run says beyond races and
 * accesses between arrays was said by the plain one before it, or is the watching's own.
 */
#include "base/sys/log.h"
#include "bench/eval/runner_priv.h"
#include "ir/core/kernel.h"
#include "runtime/device/device.h"
#include "runtime/worker/run.h"

#include <stdlib.h>
#include <string.h>

/* 1 when alternative `alt` of some kernel has shared memory. */
static int has_shared(const PmGraph *g, int alt)
{
	PmArena *arena = pm_arena_new(0);
	int found = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g) && !found; i++) {
		PmNode node = pm_graph_node_at(g, i);
		PmKernelDesc d;

		if (pm_node_op(g, node) == PM_OP_Kernel && !pm_kernel_decode(g, node, arena, &d, NULL))
			found = pm_emu_races_wanted(d.alts[alt < d.n_alts ? alt : d.n_alts - 1].source);
	}
	pm_arena_free(arena);
	return found;
}

int pm__races_wanted(const Eval *e, int alt)
{
	/* On that device nobody prints. */
	return e->o->preset == PM_PRESET_SOUND && !e->o->print &&
	       pm_device_kind(e->o->device) == PM_DEVICE_EMU && has_shared(e->cand.g, alt);
}

void pm__check_races(Eval *e, const PmTensor *in, int alt, uint32_t poison)
{
	PmRunOpts o = { .device = "emu+races",
			.deadline = e->deadline,
			.poison = poison,
			.profile = e->o->profile,
			.sampled = e->sample.run };
	PmRunResult r;
	PmErr why;
	PmStage was;
	PmStatus st;
	int *alts;

	if (!pm__races_wanted(e, alt))
		return;
	pm_err_init(&why);
	alts = pm__choose_alternatives(e->probe.g, alt, &o.n_alts);
	o.alts = alts;
	was = pm_stage_enter(&e->stages, PM_STAGE_RACES);
	st = pm_run_graph(e->probe.g, in, pm_graph_n_inputs(e->probe.g), &o, &r, &why);
	pm_stage_enter(&e->stages, was);
	free(alts);
	if (!st)
		pm_run_result_release(&r);
	else if (st == PM_E_RACE || st == PM_E_OOB)
		pm__say(e, pm__device_verdict(st), why.text);
	else
		pm_log(PM_LOG_WARN, "bench", "Races were not looked for: %s", why.text);
}
