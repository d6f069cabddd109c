/* SPDX-License-Identifier: Apache-2.0 */
/* emu_sched.c - the threads of a block take turns.
 *
 * A thread runs until it ends or waits. A fiber whose thread has ended takes the next thread that has not
 * started, so a kernel that never waits runs on one stack without switching. Threads that may go on run
 * before threads that have not started. When nobody can run and somebody waits, the wait is an error - after
 * the lanes at __activemask() were let go: those that are there then are the ones active together.
 *
 * Blocks take turns in the direction in which their threads start, so that a kernel which lacks a barrier
 * is found out whichever neighbour it depends on.
 */
#include "runtime/emu/emu_sched.h"

#include "base/core/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEW, RUNNING, READY, AT_BARRIER, AT_WARP, AT_ACTIVE, HELD, ENDED };

static const char *const warp_names[] = {
	"__syncwarp",        "__shfl_sync",       "a vote",
	"__match_sync",      "__reduce_add_sync", "__reduce_min_sync",
	"__reduce_min_sync", "__reduce_max_sync", "__reduce_max_sync",
	"__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync",
	"pm_mma_16816",      "__activemask",
};

static void block_main(void);

/* --- choosing who runs --------------------------------------------------------------------------------- */

static void make_ready(PmEmuSched *s, int t)
{
	s->t[t].state = READY;
	s->queue[(s->head + s->ready++) % PM_EMU_MAX_THREADS] = t;
}

static void set_current(PmEmuSched *s, int t)
{
	PmEmuCtx *c = s->module->ctx;

	s->cur = t;
	s->t[t].state = RUNNING;
	c->thread = s->index[t];
	c->lane = (unsigned)t % 32;
}

static void go(PmEmuSched *s, PmFiber *to)
{
	PmFiber *from = s->fiber;

	s->fiber = to;
	if (from != to)
		pm__fiber_switch(from, to);
}

static PmFiber *idle_fiber(PmEmuSched *s)
{
	PmFiber *f;

	if (s->idle.n)
		return s->idle.v[--s->idle.n];
	if (pm__fiber_new(block_main, &f, &s->err))
		return NULL;
	PM_VEC_PUSH(&s->fibers, f);
	return f;
}

/* Continues somebody else: a ready thread, one that has not started, or the caller of the launch. */
static void next_thread(PmEmuSched *s)
{
	if (s->ready) {
		int t = s->queue[s->head];

		s->head = (s->head + 1) % PM_EMU_MAX_THREADS;
		s->ready--;
		set_current(s, t);
		go(s, s->t[t].fiber);
	} else if (s->next < s->n) {
		PmFiber *f = idle_fiber(s);

		if (!f)
			pm__emu_give_up(s);
		else
			go(s, f);
	} else {
		go(s, s->main);
	}
}

static void settle(PmEmuSched *s)
{
	if (s->hooks)
		s->hooks->settle(s);
}

/* The running thread waits in `state` until somebody makes it ready. */
static void park(PmEmuSched *s, int state)
{
	PmEmuThread *t;

	settle(s);
	t = &s->t[s->cur];
	t->state = (uint8_t)state;
	t->fiber = s->fiber;
	next_thread(s);
}

/* --- the barrier of a block ---------------------------------------------------------------------------- */

int pm__emu_sched_barrier(int kind, int pred, int line, const char *file)
{
	PmEmuSched *s = pm__emu_running;
	PmEmuThread *me = &s->t[s->cur];
	int i, result;

	if (s->hooks)
		s->hooks->wait(s, 0, ~0u, __builtin_return_address(0));
	me->line = line;
	me->file = file;
	if (s->arrived && (kind != s->bar_kind || line != s->bar_line ||
			   (file != s->bar_file && strcmp(file, s->bar_file) != 0))) {
		char where[PM_EMU_WHERE];

		pm__emu_fail(
			s, PM_E_DEVICE,
			"has a divergent barrier: %s waits at line %d of %s while other threads of its block "
			"wait "
			"at line %d of %s; every thread of a block must reach the same __syncthreads().",
			pm__emu_where(s, where), line, file, s->bar_line, s->bar_file);
	}
	s->bar_kind = kind;
	s->bar_line = line;
	s->bar_file = file;
	s->votes += pred != 0;
	if (++s->arrived < s->n) {
		park(s, AT_BARRIER);
		return (int)me->result;
	}
	settle(s);
	if (s->hooks)
		s->hooks->barrier(s);
	result = kind == PM_EMU_BAR_AND ? s->votes == s->n : kind == PM_EMU_BAR_OR ? s->votes > 0 : s->votes;
	s->arrived = s->votes = 0;
	for (i = 0; i < s->n; i++) {
		int t = s->step > 0 ? i : s->n - 1 - i;

		if (t == s->cur)
			continue;
		s->t[t].result = (unsigned long long)result;
		make_ready(s, t);
	}
	return result;
}

/* --- warps --------------------------------------------------------------------------------------------- */

static unsigned long long reduce(int op, unsigned long long a, unsigned long long b)
{
	uint32_t ua = (uint32_t)a, ub = (uint32_t)b;
	int32_t sa = (int32_t)ua, sb = (int32_t)ub;

	switch (op) {
	case PM_EMU_WARP_ADD:
		return ua + ub;
	case PM_EMU_WARP_MIN:
		return (uint32_t)(sa < sb ? sa : sb);
	case PM_EMU_WARP_UMIN:
		return ua < ub ? ua : ub;
	case PM_EMU_WARP_MAX:
		return (uint32_t)(sa > sb ? sa : sb);
	case PM_EMU_WARP_UMAX:
		return ua > ub ? ua : ub;
	case PM_EMU_WARP_AND:
		return ua & ub;
	case PM_EMU_WARP_OR:
		return ua | ub;
	default:
		return ua ^ ub;
	}
}

/* What lane `lane` of the group gets; t[0] is lane 0 of the warp. */
static unsigned long long lane_result(const PmEmuThread *t, int lane, uint32_t group)
{
	const unsigned long long poison = 0xffc5ffc5ffc5ffc5ull;
	unsigned long long v = 0;
	int i, first = 1, src = t[lane].arg & 31;

	if (t[lane].op == PM_EMU_WARP_SHFL)
		return group >> src & 1 ? t[src].value : poison;
	for (i = 0; i < 32; i++) {
		if (!(group >> i & 1))
			continue;
		if (t[lane].op == PM_EMU_WARP_BALLOT)
			v |= (t[i].value & 1) << i;
		else if (t[lane].op == PM_EMU_WARP_MATCH)
			v |= (unsigned long long)(t[i].value == t[lane].value) << i;
		else if (t[lane].op >= PM_EMU_WARP_ADD && t[lane].op <= PM_EMU_WARP_XOR)
			v = first ? t[i].value : reduce(t[lane].op, v, t[i].value);
		first = 0;
	}
	return v;
}

/* Takes what the lanes of the group share; the others' is what a shuffle gives of such a lane. */
static unsigned long long share(PmEmuSched *s, int warp, uint32_t group)
{
	const PmEmuThread *t = &s->t[warp * 32];
	unsigned char(*to)[PM_EMU_SHARE] = &s->lanes[warp * 32];

	for (int i = 0; i < 32; i++) {
		if (group >> i & 1)
			memcpy(to[i], (const void *)(uintptr_t)t[i].value,
			       t[i].arg < PM_EMU_SHARE ? (unsigned)t[i].arg : PM_EMU_SHARE);
		else
			pm__emu_poison(to[i], PM_EMU_SHARE, (uint32_t)PM_EMU_PATTERN);
	}
	return (uintptr_t)to;
}

/* When every living lane of the mask that `lane` gave is there with the same operation, all get their
 * results and go on. */
static int complete(PmEmuSched *s, int warp, int lane)
{
	PmEmuThread *t = &s->t[warp * 32];
	uint32_t mask = t[lane].mask, group = mask & s->live[warp];
	unsigned long long shared = 0;
	int i;

	if ((s->waiting[warp] & group) != group)
		return 0;
	for (i = 0; i < 32; i++)
		if ((group >> i & 1) && (t[i].op != t[lane].op || t[i].mask != mask))
			return 0;
	if (t[lane].op == PM_EMU_WARP_SHARE)
		shared = share(s, warp, group);
	for (i = 0; i < 32; i++)
		if (group >> i & 1)
			t[i].result = shared ? shared : lane_result(t, i, group);
	settle(s);
	if (s->hooks)
		s->hooks->collective(s, warp);
	s->waiting[warp] &= ~group;
	for (i = 0; i < 32; i++)
		if ((group >> i & 1) && warp * 32 + i != s->cur)
			make_ready(s, warp * 32 + i);
	return 1;
}

unsigned long long pm__emu_sched_warp(int op, unsigned mask, unsigned long long value, int arg, int line)
{
	PmEmuSched *s = pm__emu_running;
	PmEmuThread *me = &s->t[s->cur];
	int w = s->cur / 32, lane = s->cur % 32;

	if (s->hooks && op != PM_EMU_WARP_ACTIVE)
		s->hooks->wait(s, 1, mask, __builtin_return_address(0));
	me->op = (uint8_t)op;
	me->mask = mask;
	me->value = value;
	me->arg = arg;
	me->line = line;
	if (op == PM_EMU_WARP_ACTIVE) {
		park(s, AT_ACTIVE);
		return me->result;
	}
	if (!(mask >> lane & 1)) {
		char where[PM_EMU_WHERE];

		pm__emu_fail(s, PM_E_DEVICE,
			     "calls %s at line %d with mask 0x%08x in %s, which is lane %d: a thread must be "
			     "in the "
			     "mask "
			     "it gives.",
			     warp_names[op], line, mask, pm__emu_where(s, where), lane);
	}
	s->waiting[w] |= 1u << lane;
	if (!complete(s, w, lane))
		park(s, AT_WARP);
	return me->result;
}

/* A thread that ends is no longer waited for by its warp. */
static void thread_ended(PmEmuSched *s)
{
	int w = s->cur / 32, i;

	settle(s);
	s->t[s->cur].state = ENDED;
	s->done++;
	s->live[w] &= ~(1u << s->cur % 32);
	for (i = 0; s->waiting[w] && i < 32; i++)
		if (s->waiting[w] >> i & 1)
			complete(s, w, i);
}

/* Lets the lanes go that wait at the same __activemask() of one warp; 0 when there are none. */
static int release_active(PmEmuSched *s)
{
	unsigned long long mask = 0;
	int i, first, end;

	for (first = 0; first < s->n && s->t[first].state != AT_ACTIVE; first++)
		;
	if (first == s->n)
		return 0;
	end = first / 32 * 32 + 32 < s->n ? first / 32 * 32 + 32 : s->n;
	for (i = first; i < end; i++)
		if (s->t[i].state == AT_ACTIVE && s->t[i].line == s->t[first].line)
			mask |= 1ull << i % 32;
	for (i = first; i < end; i++) {
		if (mask >> i % 32 & 1) {
			s->t[i].result = mask;
			make_ready(s, i);
		}
	}
	return 1;
}

void pm__emu_sched_hold(PmEmuSched *s)
{
	park(s, HELD);
}

int pm__emu_sched_held(const PmEmuSched *s, int t)
{
	return s->t[t].state == HELD;
}

void pm__emu_sched_let_go(PmEmuSched *s, int t)
{
	make_ready(s, t);
}

/* --- blocks -------------------------------------------------------------------------------------------- */

/* What every fiber does: threads, until there are none to start or others are ready. */
/* A fiber belongs to one scheduler for good: who that is, is asked once, on the thread that starts it. */
static void block_main(void)
{
	PmEmuSched *s = pm__emu_running;

	for (;;) {
		while (s->next < s->n && !s->ready) {
			int t = s->step > 0 ? s->next : s->n - 1 - s->next;

			s->next++;
			set_current(s, t);
			s->entry->call(s->args);
			thread_ended(s);
		}
		PM_VEC_PUSH(&s->idle, s->fiber);
		next_thread(s);
	}
}

/* Nobody can run and somebody waits: says why. */
static void describe_stuck(PmEmuSched *s)
{
	char where[PM_EMU_WHERE];
	const PmEmuThread *t;
	int i, n = 0;

	for (i = 0; i < s->n; i++)
		n += s->t[i].state == AT_BARRIER;
	for (i = 0; i < s->n && s->t[i].state == ENDED; i++)
		;
	for (; i < s->n - 1 && s->t[i].state != AT_WARP; i++)
		;
	if (s->t[i].state != AT_WARP)
		for (i = 0; i < s->n - 1 && s->t[i].state != AT_BARRIER; i++)
			;
	t = &s->t[i];
	s->cur = i;
	if (t->state == AT_WARP)
		pm_err(&s->err, PM_E_DEVICE,
		       "Kernel '%s' (entry '%s') is stuck in a warp collective: %s waits in %s at line %d "
		       "with "
		       "mask 0x%08x, but lanes of that mask wait elsewhere or gave another mask; all lanes "
		       "named "
		       "in the mask must make the same call.",
		       s->label, s->entry->name, pm__emu_where(s, where), warp_names[t->op], t->line,
		       t->mask);
	else
		pm_err(&s->err, PM_E_DEVICE,
		       "Kernel '%s' (entry '%s') has a divergent barrier: %s and %d more threads wait at "
		       "line %d "
		       "of %s, but %d threads of the block have ended; every thread of a block must reach "
		       "the "
		       "same __syncthreads().",
		       s->label, s->entry->name, pm__emu_where(s, where), n - 1, t->line, t->file, s->done);
	s->failed = 1;
}

static PmStatus run_block(PmEmuSched *s, PmErr *err)
{
	PmFiber *first;
	int i;

	if (s->hooks)
		s->hooks->barrier(s);
	s->next = s->done = s->head = s->ready = s->arrived = s->votes = 0;
	for (i = 0; i < s->n; i++)
		s->t[i].state = NEW;
	for (i = 0; i < (s->n + 31) / 32; i++) {
		s->live[i] = s->n - i * 32 >= 32 ? 0xffffffffu : (1u << (s->n - i * 32)) - 1;
		s->waiting[i] = 0;
	}
	first = idle_fiber(s);
	if (!first)
		s->failed = 1;
	else
		go(s, first);
	s->fiber = s->main;
	while (!s->failed && s->done < s->n) {
		if ((s->hooks && s->hooks->release(s)) || release_active(s))
			next_thread(s);
		else
			describe_stuck(s);
		s->fiber = s->main;
	}
	if (!s->failed)
		return PM_OK;
	if (s->err.code && err)
		*err = s->err;
	return s->err.code ? s->err.code : PM_E_DEVICE;
}

void pm__emu_sched_trap(const char *what, int line, const char *file)
{
	char where[PM_EMU_WHERE];

	pm__emu_fail(pm__emu_running, PM_E_DEVICE, "%s at line %d of %s in %s.", what, line, file,
		     pm__emu_where(pm__emu_running, where));
}

/* --- launches ------------------------------------------------------------------------------------------ */

void pm__emu_sched_begin(PmEmuSched *s, const uint32_t grid[3], const uint32_t block[3])
{
	PmEmu3 n = { block[0], block[1], block[2] }, g = { grid[0], grid[1], grid[2] };
	PmEmuCtx *c = s->module->ctx;

	s->n = (int)(n.x * n.y * n.z);
	for (uint32_t i = 0; i < (uint32_t)s->n; i++) {
		s->index[i].x = i % n.x;
		s->index[i].y = i / n.x % n.y;
		s->index[i].z = i / n.x / n.y;
	}
	s->failed = 0;
	s->err.code = PM_OK;
	pm__emu_running = s;
	c->calls = s->calls;
	c->dyn = s->dyn;
	c->block_dim = n;
	c->grid_dim = g;
	s->fiber = s->main;
}

PmStatus pm__emu_sched_block(PmEmuSched *s, uint64_t at, uint64_t order, PmErr *err)
{
	PmEmuCtx *c = s->module->ctx;

	c->block.x = (unsigned)(at % c->grid_dim.x);
	c->block.y = (unsigned)(at / c->grid_dim.x % c->grid_dim.y);
	c->block.z = (unsigned)(at / c->grid_dim.x / c->grid_dim.y);
	s->step = (order + at) & 1 ? -1 : 1;
	return run_block(s, err);
}

void pm__emu_sched_end(PmEmuSched *s)
{
	(void)s;
	pm__emu_running = NULL;
}

void pm__emu_sched_open(PmEmuSched *s)
{
	s->main = pm__fiber_main();
}

void pm__emu_sched_close(PmEmuSched *s)
{
	for (size_t i = 0; i < s->fibers.n; i++)
		pm__fiber_free(s->fibers.v[i]);
	PM_VEC_RELEASE(&s->fibers);
	PM_VEC_RELEASE(&s->idle);
	pm__fiber_free(s->main);
}

void pm__emu_poison(unsigned char *p, size_t n, uint32_t pattern)
{
	size_t filled = n < 4 ? n : 4;

	memcpy(p, &pattern, filled);
	while (filled < n) {
		size_t more = filled < n - filled ? filled : n - filled;

		memcpy(p + filled, p, more);
		filled += more;
	}
}
