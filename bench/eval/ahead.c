/* SPDX-License-Identifier: Apache-2.0 */
/* ahead.c - a process that compiles for the emulated device while the candidate is judged.
 *
 * It plans the candidate as the device's workers will, and has its device compile what the plan needs: first
 * for ordinary runs, then, where a kernel has shared memory, for the run that looks for races. Objects go
 * into the cache, where the workers find them, or wait for the one that is being made. Nothing of the
 * candidate runs in it, and no verdict comes from it: what does not compile is compiled, and told, again.
 */
#include "base/sys/serve.h"
#include "bench/eval/runner_priv.h"

typedef struct Ahead {
	const PmGraph *g;
	const char *device;
	int first, end; /* alternatives */
	int races;
} Ahead;

static void load(const PmGraph *g, PmDevice *d, int alt)
{
	PmPlan *plan = NULL;
	PmExec *x = NULL;
	size_t n;
	int *alts = pm__choose_alternatives(g, alt, &n);

	if (!pm_plan_new(g, alts, n, &plan, NULL))
		pm_exec_new_bare(plan, d, &x, NULL);
	/* The process ends: nothing has to be released, and plans live until then. */
}

static void compile_for(const Ahead *a, const char *device)
{
	PmDevice *d = NULL;

	if (pm_device_open(device, &d, NULL))
		return;
	for (int alt = a->first; alt < a->end; alt++)
		load(a->g, d, alt);
}

static int serve(void *arg, const char *request, size_t n, PmStr *reply)
{
	const Ahead *a = arg;

	(void)n;
	(void)reply;
	if (request)
		return 1;
	compile_for(a, a->device);
	if (a->races)
		compile_for(a, "emu+races");
	return 0;
}

void pm__ahead_begin(Eval *e)
{
	Ahead a = { .g = e->cand.g, .device = pm__eval_device(e), .end = pm__count_alternatives(e->cand.g) };
	PmLimits lim = { .file_size = -1 };

	if (pm_device_kind(e->o->device) != PM_DEVICE_EMU)
		return;
	if (e->o->first_answer) {
		a.first = e->first_alt;
		a.end = a.first + 1;
	}
	for (int alt = 0; alt < a.end && !e->o->first_answer; alt++)
		a.races |= pm__races_wanted(e, alt);
	if (pm_server_start(serve, &a, &lim, &e->ahead, NULL))
		e->ahead = NULL;
}

void pm__ahead_end(Eval *e)
{
	pm_server_kill(e->ahead);
	e->ahead = NULL;
}
