/* SPDX-License-Identifier: Apache-2.0 */
/* runner_say.c - how the stages of an evaluation end it, and what they choose alike. */
#include "base/core/str.h"
#include "base/sys/proc.h"
#include "bench/eval/runner_priv.h"

#include <stdio.h>
#include <string.h>

PmStatus pm__say(Eval *e, PmVerdict v, const char *text)
{
	e->rec->verdict = v;
	snprintf(e->rec->why, sizeof e->rec->why, "%s", text);
	return PM_OK;
}

void pm__tell(Eval *e, const char *why)
{
	if (e->told || !e->o->found)
		return;
	e->told = 1;
	e->o->found(e->o->found_arg, e->o->kind ? e->o->kind : "variant", e->m->label, why);
}

uint64_t pm__draw(const Eval *e, const char *purpose, uint64_t number)
{
	return pm_secret_u64(e->secret, purpose, number);
}

int pm__may_go_on(const Eval *e)
{
	double waited = pm_eval_waited(e->o) - e->waited;

	return !(e->o->deadline > 0) || pm_now() - e->start - waited + e->longest <= e->o->deadline;
}

/* Before it waits: of what it has on the device nothing moves any more, and others know of it. */
static PmStatus leave_behind(Eval *e, PmErr *err)
{
	if (!e->o->lock)
		return PM_OK;
	pm_worker_settle(e->worker);
	return pm_rwlock_leave_behind(e->o->lock, pm_worker_processes(e->worker), err);
}

static PmStatus waiting(Eval *e, PmStatus (*lock)(Eval *e, PmErr *err), PmErr *err)
{
	PmStage was = pm_stage_enter(&e->stages, PM_STAGE_WAIT);
	PmStatus st = leave_behind(e, err);

	if (!st)
		st = lock(e, err);
	pm_stage_enter(&e->stages, was);
	return st;
}

int pm__follows(const Eval *e)
{
	return e->o->lock && e->o->turn && e->o->check_only;
}

/* Who holds the lock alone lets go of it first. */
static PmStatus share(Eval *e, PmErr *err)
{
	pm_rwlock_leave(e->o->lock);
	return pm_rwlock_share(e->o->lock, err);
}

static PmStatus lead_and_share(Eval *e, PmErr *err)
{
	PmStatus st = e->o->check_only ? PM_OK : pm_rwlock_lead(e->o->turn, err);

	return st ? st : share(e, err);
}

/* It holds nothing meanwhile: the clock that it waits for is alone. */
static PmStatus follow_and_share(Eval *e, PmErr *err)
{
	PmStatus st;

	pm_rwlock_leave(e->o->lock);
	st = pm_rwlock_follow(e->o->turn, err);
	return st ? st : pm_rwlock_share(e->o->lock, err);
}

static PmStatus alone(Eval *e, PmErr *err)
{
	return pm_rwlock_alone(e->o->lock, err);
}

PmStatus pm__share_device(Eval *e, PmErr *err)
{
	return waiting(e, lead_and_share, err);
}

PmStatus pm__follow_clock(Eval *e, PmErr *err)
{
	return pm__follows(e) ? waiting(e, follow_and_share, err) : PM_OK;
}

PmStatus pm__have_device_alone(Eval *e, PmErr *err)
{
	return waiting(e, alone, err);
}

PmStatus pm__let_others(Eval *e, PmErr *err)
{
	pm_rwlock_leave(e->o->turn);
	return waiting(e, share, err);
}

double pm_eval_waited(const PmEvalOpts *opts)
{
	return pm_rwlock_waited(opts->lock) + pm_rwlock_waited(opts->turn);
}

void pm__leave_device(Eval *e)
{
	pm_rwlock_leave(e->o->turn);
	pm_rwlock_leave(e->o->lock); /* its processes have left the device */
	pm_rwlock_leave_behind(e->o->lock, 0, NULL);
}

void pm__leave_out(Eval *e, const char *what)
{
	PmEvalUnchecked *u = &e->rec->unchecked;

	if (u->n < PM_EVAL_UNCHECKED)
		snprintf(u->what[u->n], sizeof u->what[0], "%s", what);
	u->n++;
}

void pm__say_unchecked(Eval *e)
{
	const PmEvalUnchecked *u = &e->rec->unchecked;
	PmStr text = PM_STR_INIT;

	pm_str_addf(&text,
		    "Not everything was checked before the deadline of %g s (--deadline): ", e->o->deadline);
	for (int i = 0; i < u->n && i < PM_EVAL_UNCHECKED; i++)
		pm_str_addf(&text, "%s%s", i ? "; " : "", u->what[i]);
	if (u->n > PM_EVAL_UNCHECKED)
		pm_str_addf(&text, "; and %d more", u->n - PM_EVAL_UNCHECKED);
	pm_str_add(&text, " were left out. It scores as if no rule had applied.");
	pm__say(e, PM_VERDICT_NOT_CHECKED, text.s);
	pm_str_release(&text);
}

int pm_is_failing(PmVerdict v)
{
	return v != PM_VERDICT_OK && v != PM_VERDICT_NO_MATCH && v != PM_VERDICT_NO_CREDIT &&
	       v != PM_VERDICT_HARNESS_FAIL && v != PM_VERDICT_NOT_CHECKED;
}

PmVerdict pm__device_verdict(PmStatus st)
{
	switch (st) {
	case PM_E_INVALID:
		return PM_VERDICT_COMPILE_FAIL;
	case PM_E_TIMEOUT:
		return PM_VERDICT_DEVICE_TIMEOUT;
	case PM_E_OOB:
		return PM_VERDICT_OOB;
	case PM_E_MUTATED:
		return PM_VERDICT_INPUT_MUTATED;
	case PM_E_LIMIT:
		return PM_VERDICT_LAUNCH_FAIL;
	case PM_E_RACE:
		return PM_VERDICT_NONDET;
	case PM_E_FORBIDDEN:
		return PM_VERDICT_SANDBOX_KILL;
	default:
		return PM_VERDICT_DEVICE_FAULT;
	}
}

int pm__is_our_fault(PmStatus st)
{
	return st == PM_E_ENV || st == PM_E_INTERNAL || st == PM_E_IO || st == PM_E_NOT_FOUND;
}

/* A run that was killed tells nothing of itself: the kernels that were in it are named. */
static PmStatus say_who_hangs(Eval *e, const PmErr *why)
{
	PmArena *arena = pm_arena_new(0);
	PmStr text = PM_STR_INIT;
	int n = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(e->cand.g); i++) {
		PmNode node = pm_graph_node_at(e->cand.g, i);
		PmKernelDesc d;
		char name[80];

		if (pm_node_op(e->cand.g, node) != PM_OP_Kernel ||
		    pm_kernel_decode(e->cand.g, node, arena, &d, NULL))
			continue;
		snprintf(name, sizeof name, "'%.64s'", d.name);
		if (!strstr(text.s, name))
			pm_str_addf(&text, "%s%s", n++ ? ", " : "", name);
	}
	pm__say(e, PM_VERDICT_DEVICE_TIMEOUT, "");
	snprintf(e->rec->why, sizeof e->rec->why, "%s %.400s did not end. %.400s",
		 n > 1 ? "One of the kernels" : "Kernel", text.s, why->text);
	pm_str_release(&text);
	pm_arena_free(arena);
	return PM_OK;
}

PmStatus pm__device_said(Eval *e, PmStatus st, const PmErr *why, PmErr *err)
{
	if (!st)
		return PM_OK;
	if (pm__is_our_fault(st))
		return pm_err(err, st, "%s", why->text);
	if (st == PM_E_TIMEOUT && e->cand.g)
		return say_who_hangs(e, why);
	return pm__say(e, pm__device_verdict(st), why->text);
}

int pm__is_inexact(PmVerdict v)
{
	return v == PM_VERDICT_INCORRECT || v == PM_VERDICT_PRECISION;
}

int *pm__choose_alternatives(const PmGraph *g, int k, size_t *n)
{
	int *alts = pm_xcalloc(pm_graph_n_nodes(g) + 1, sizeof *alts);

	*n = 0;
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode node = pm_graph_node_at(g, i);
		int have;

		if (pm_node_op(g, node) != PM_OP_Kernel)
			continue;
		have = (int)pm_node_i(g, node, "alts", 1);
		alts[(*n)++] = k < have ? k : have - 1;
	}
	return alts;
}

int pm__count_alternatives(const PmGraph *g)
{
	int most = 1;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		int n = (int)pm_node_i(g, pm_graph_node_at(g, i), "alts", 1);

		if (pm_node_op(g, pm_graph_node_at(g, i)) == PM_OP_Kernel && n > most)
			most = n;
	}
	return most;
}

PmStatus pm__same_plan(Eval *e, int alt, const char *digest, PmErr *err)
{
	char *judged = e->plan[alt];

	if (!*judged)
		snprintf(judged, PM_CHAIN_HEX, "%s", digest);
	if (*digest && !strcmp(judged, digest))
		return PM_OK;
	return pm_err(
		err, PM_E_ENV,
		"Alternative %d that ran (digest %.16s) is not the one that was judged (%.16s); somebody "
		"changed the cache of compiled kernels: remove its folder, and evaluate again.",
		alt, digest, judged);
}

void pm__choose(Eval *e, int alt)
{
	e->rec->alternative = alt;
	memcpy(e->rec->plan, e->plan[alt], sizeof e->rec->plan);
}

const char *pm__eval_device(const Eval *e)
{
	return e->o->print ? PM_DEVICE_PRINT : e->o->device;
}
