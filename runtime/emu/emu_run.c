/* SPDX-License-Identifier: Apache-2.0 */
/* emu_run.c - one launch: blocks one after another, the threads of a block as fibers.
 *
 * A thread runs until it ends or waits. A fiber whose thread has ended takes the next thread that has not
 * started, so a kernel that never waits runs on one stack without switching. Threads that may go on run
 * before threads that have not started. When nobody can run and somebody waits, the wait is an error - after
 * the lanes at __activemask() were let go: those that are there then are the ones active together.
 *
 * Blocks take turns in the direction in which their threads start, so that a kernel which lacks a barrier
 * is found out whichever neighbour it depends on.
 */
#include "runtime/emu/emu_count.h"
#include "runtime/emu/emu_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEW, RUNNING, READY, AT_BARRIER, AT_WARP, AT_ACTIVE, AT_FULL, ENDED };

static const char *const warp_names[] = {
	"__syncwarp",        "__shfl_sync",       "a vote",
	"__match_sync",      "__reduce_add_sync", "__reduce_min_sync",
	"__reduce_min_sync", "__reduce_max_sync", "__reduce_max_sync",
	"__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync",
	"pm_mma_16816",      "__activemask",
};

static void block_main(void);

/* --- choosing who runs --------------------------------------------------------------------------------- */

static void make_ready(PmEmuRun *r, int t)
{
	r->t[t].state = READY;
	r->queue[(r->head + r->ready++) % PM_EMU_MAX_THREADS] = t;
}

static void set_current(PmEmuRun *r, int t)
{
	PmEmuCtx *c = r->module->ctx;

	r->cur = t;
	r->t[t].state = RUNNING;
	c->thread = r->index[t];
	c->lane = (unsigned)t % 32;
}

static void go(PmEmuRun *r, PmFiber *to)
{
	PmFiber *from = r->fiber;

	r->fiber = to;
	if (from != to)
		pm__fiber_switch(from, to);
}

static void fail(PmEmuRun *r, const char *fmt, ...) PM_PRINTF(2, 3);
static void fail(PmEmuRun *r, const char *fmt, ...)
{
	char text[PM_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pm_err(&r->err, PM_E_DEVICE, "Kernel '%s' (entry '%s') %s", r->label, r->entry->name, text);
	pm__emu_give_up(r);
}

static PmFiber *idle_fiber(PmEmuRun *r)
{
	PmFiber *f;

	if (r->idle.n)
		return r->idle.v[--r->idle.n];
	if (pm__fiber_new(block_main, &f, &r->err))
		return NULL;
	PM_VEC_PUSH(&r->fibers, f);
	return f;
}

/* Continues somebody else: a ready thread, one that has not started, or the caller of the launch. */
static void next_thread(PmEmuRun *r)
{
	if (r->ready) {
		int t = r->queue[r->head];

		r->head = (r->head + 1) % PM_EMU_MAX_THREADS;
		r->ready--;
		set_current(r, t);
		go(r, r->t[t].fiber);
	} else if (r->next < r->n) {
		PmFiber *f = idle_fiber(r);

		if (!f)
			pm__emu_give_up(r);
		else
			go(r, f);
	} else {
		go(r, r->main);
	}
}

/* The running thread waits in `state` until somebody makes it ready. */
static void park(PmEmuRun *r, int state)
{
	pm__emu_race_settle(r);
	PmEmuThread *t = &r->t[r->cur];

	t->state = (uint8_t)state;
	t->fiber = r->fiber;
	next_thread(r);
}

/* --- the barrier of a block ---------------------------------------------------------------------------- */

static int barrier(int kind, int pred, int line, const char *file)
{
	PmEmuRun *r = pm__emu_current;
	PmEmuThread *me = &r->t[r->cur];
	int i, result;

	if (r->counter)
		pm__emu_count_wait(r, 0, ~0u, __builtin_return_address(0));
	me->line = line;
	me->file = file;
	if (r->arrived && (kind != r->bar_kind || line != r->bar_line ||
			   (file != r->bar_file && strcmp(file, r->bar_file) != 0))) {
		char where[PM_EMU_WHERE];

		fail(r,
		     "has a divergent barrier: %s waits at line %d of %s while other threads of its block "
		     "wait "
		     "at line %d of %s; every thread of a block must reach the same __syncthreads().",
		     pm__emu_where(r, where), line, file, r->bar_line, r->bar_file);
	}
	r->bar_kind = kind;
	r->bar_line = line;
	r->bar_file = file;
	r->votes += pred != 0;
	if (++r->arrived < r->n) {
		park(r, AT_BARRIER);
		return (int)me->result;
	}
	pm__emu_race_settle(r);
	pm__emu_race_barrier(r);
	result = kind == PM_EMU_BAR_AND ? r->votes == r->n : kind == PM_EMU_BAR_OR ? r->votes > 0 : r->votes;
	r->arrived = r->votes = 0;
	for (i = 0; i < r->n; i++) {
		int t = r->step > 0 ? i : r->n - 1 - i;

		if (t == r->cur)
			continue;
		r->t[t].result = (unsigned long long)result;
		make_ready(r, t);
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
static unsigned long long share(PmEmuRun *r, int warp, uint32_t group)
{
	const PmEmuThread *t = &r->t[warp * 32];
	unsigned char(*to)[PM_EMU_SHARE] = &r->lanes[warp * 32];

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
static int complete(PmEmuRun *r, int warp, int lane)
{
	PmEmuThread *t = &r->t[warp * 32];
	uint32_t mask = t[lane].mask, group = mask & r->live[warp];
	unsigned long long shared = 0;
	int i;

	if ((r->waiting[warp] & group) != group)
		return 0;
	for (i = 0; i < 32; i++)
		if ((group >> i & 1) && (t[i].op != t[lane].op || t[i].mask != mask))
			return 0;
	if (t[lane].op == PM_EMU_WARP_SHARE)
		shared = share(r, warp, group);
	for (i = 0; i < 32; i++)
		if (group >> i & 1)
			t[i].result = shared ? shared : lane_result(t, i, group);
	pm__emu_race_settle(r);
	pm__emu_race_collective(r, warp);
	r->waiting[warp] &= ~group;
	for (i = 0; i < 32; i++)
		if ((group >> i & 1) && warp * 32 + i != r->cur)
			make_ready(r, warp * 32 + i);
	return 1;
}

static unsigned long long warp(int op, unsigned mask, unsigned long long value, int arg, int line)
{
	PmEmuRun *r = pm__emu_current;
	PmEmuThread *me = &r->t[r->cur];
	int w = r->cur / 32, lane = r->cur % 32;

	if (r->counter && op != PM_EMU_WARP_ACTIVE)
		pm__emu_count_wait(r, 1, mask, __builtin_return_address(0));
	me->op = (uint8_t)op;
	me->mask = mask;
	me->value = value;
	me->arg = arg;
	me->line = line;
	if (op == PM_EMU_WARP_ACTIVE) {
		park(r, AT_ACTIVE);
		return me->result;
	}
	if (!(mask >> lane & 1)) {
		char where[PM_EMU_WHERE];

		fail(r,
		     "calls %s at line %d with mask 0x%08x in %s, which is lane %d: a thread must be in the "
		     "mask "
		     "it gives.",
		     warp_names[op], line, mask, pm__emu_where(r, where), lane);
	}
	r->waiting[w] |= 1u << lane;
	if (!complete(r, w, lane))
		park(r, AT_WARP);
	return me->result;
}

/* A thread that ends is no longer waited for by its warp. */
static void thread_ended(PmEmuRun *r)
{
	int w = r->cur / 32, i;

	pm__emu_race_settle(r);
	r->t[r->cur].state = ENDED;
	r->done++;
	r->live[w] &= ~(1u << r->cur % 32);
	for (i = 0; r->waiting[w] && i < 32; i++)
		if (r->waiting[w] >> i & 1)
			complete(r, w, i);
}

/* Lets the lanes go that wait at the same __activemask() of one warp; 0 when there are none. */
static int release_active(PmEmuRun *r)
{
	unsigned long long mask = 0;
	int i, first, end;

	for (first = 0; first < r->n && r->t[first].state != AT_ACTIVE; first++)
		;
	if (first == r->n)
		return 0;
	end = first / 32 * 32 + 32 < r->n ? first / 32 * 32 + 32 : r->n;
	for (i = first; i < end; i++)
		if (r->t[i].state == AT_ACTIVE && r->t[i].line == r->t[first].line)
			mask |= 1ull << i % 32;
	for (i = first; i < end; i++) {
		if (mask >> i % 32 & 1) {
			r->t[i].result = mask;
			make_ready(r, i);
		}
	}
	return 1;
}

static void full(PmEmuRun *r)
{
	park(r, AT_FULL);
}

/* Lets the threads go that had no room to tell more and have it now; 0 when there are none. */
static int release_full(PmEmuRun *r)
{
	int n = 0;

	if (!r->counter)
		return 0;
	pm__emu_count_drain(r);
	for (int i = 0; i < r->n; i++)
		if (r->t[i].state == AT_FULL && !pm__emu_count_full(r, i)) {
			make_ready(r, i);
			n++;
		}
	return n;
}

/* --- blocks -------------------------------------------------------------------------------------------- */

/* What every fiber does: threads, until there are none to start or others are ready. */
static void block_main(void)
{
	for (;;) {
		PmEmuRun *r = pm__emu_current;

		while (r->next < r->n && !r->ready) {
			int t = r->step > 0 ? r->next : r->n - 1 - r->next;

			r->next++;
			set_current(r, t);
			r->entry->call(r->args);
			thread_ended(r);
		}
		PM_VEC_PUSH(&r->idle, r->fiber);
		next_thread(r);
	}
}

/* Nobody can run and somebody waits: says why. */
static void describe_stuck(PmEmuRun *r)
{
	char where[PM_EMU_WHERE];
	const PmEmuThread *t;
	int i, n = 0;

	for (i = 0; i < r->n; i++)
		n += r->t[i].state == AT_BARRIER;
	for (i = 0; i < r->n && r->t[i].state == ENDED; i++)
		;
	for (; i < r->n - 1 && r->t[i].state != AT_WARP; i++)
		;
	if (r->t[i].state != AT_WARP)
		for (i = 0; i < r->n - 1 && r->t[i].state != AT_BARRIER; i++)
			;
	t = &r->t[i];
	r->cur = i;
	if (t->state == AT_WARP)
		pm_err(&r->err, PM_E_DEVICE,
		       "Kernel '%s' (entry '%s') is stuck in a warp collective: %s waits in %s at line %d "
		       "with "
		       "mask 0x%08x, but lanes of that mask wait elsewhere or gave another mask; all lanes "
		       "named "
		       "in the mask must make the same call.",
		       r->label, r->entry->name, pm__emu_where(r, where), warp_names[t->op], t->line,
		       t->mask);
	else
		pm_err(&r->err, PM_E_DEVICE,
		       "Kernel '%s' (entry '%s') has a divergent barrier: %s and %d more threads wait at "
		       "line %d "
		       "of %s, but %d threads of the block have ended; every thread of a block must reach "
		       "the "
		       "same __syncthreads().",
		       r->label, r->entry->name, pm__emu_where(r, where), n - 1, t->line, t->file, r->done);
	r->failed = 1;
}

static PmStatus run_block(PmEmuRun *r, PmErr *err)
{
	PmFiber *first;
	int i;

	pm__emu_race_barrier(r);
	r->next = r->done = r->head = r->ready = r->arrived = r->votes = 0;
	for (i = 0; i < r->n; i++)
		r->t[i].state = NEW;
	for (i = 0; i < (r->n + 31) / 32; i++) {
		r->live[i] = r->n - i * 32 >= 32 ? 0xffffffffu : (1u << (r->n - i * 32)) - 1;
		r->waiting[i] = 0;
	}
	first = idle_fiber(r);
	if (!first) {
		if (err)
			*err = r->err;
		return r->err.code;
	}
	go(r, first);
	r->fiber = r->main;
	while (!r->failed && r->done < r->n) {
		if (release_full(r) || release_active(r))
			next_thread(r);
		else
			describe_stuck(r);
		r->fiber = r->main;
	}
	if (!r->failed)
		return PM_OK;
	if (!r->fault.signal && err)
		*err = r->err;
	return r->fault.signal ? PM_E_DEVICE : r->err.code;
}

static void trap(const char *what, int line, const char *file)
{
	char where[PM_EMU_WHERE];

	fail(pm__emu_current, "%s at line %d of %s in %s.", what, line, file,
	     pm__emu_where(pm__emu_current, where));
}

static int print(const char *format, const PmEmuPrintArg *v, int n)
{
	return pm__emu_print(pm__emu_current, format, v, n);
}

static const PmEmuCalls calls = { barrier, warp, trap, memcpy, memmove, memset, print };

/* Dynamic shared memory ends at an inaccessible page; the few bytes before it are the pattern. */
static PmStatus check_dyn(PmEmuRun *r, PmErr *err)
{
	PmEmu3 b = r->module->ctx->block;
	uint32_t i, end = (r->smem + PM_EMU_ALIGN - 1) / PM_EMU_ALIGN * PM_EMU_ALIGN;
	const uint32_t pattern = (uint32_t)PM_EMU_PATTERN;

	for (i = r->smem; i < end; i++)
		if (r->dyn[i] != ((const unsigned char *)&pattern)[i % 4])
			return pm_err(
				err, PM_E_OOB,
				"Kernel '%s' (entry '%s') wrote past the end of its dynamic shared memory "
				"(byte %u of %u) in block (%u,%u,%u).",
				r->label, r->entry->name, i, r->smem, b.x, b.y, b.z);
	return PM_OK;
}

/* A block finds in shared memory whatever lay there: the pattern that buffers were last filled with, so that
 * a kernel which reads it unwritten gives another result when the pattern is another. */
static void fresh_shared(PmEmuRun *r)
{
	const PmEmuModule *m = r->module;
	uint32_t rounded = (r->smem + PM_EMU_ALIGN - 1) / PM_EMU_ALIGN * PM_EMU_ALIGN;

	pm__emu_poison(m->shared, (size_t)(m->shared_end - m->shared), r->fresh);
	pm__emu_poison(r->dyn, r->smem, r->fresh);
	for (uint32_t i = r->smem; i < rounded; i++) /* looked at by check_dyn */
		r->dyn[i] = (unsigned char)((uint32_t)PM_EMU_PATTERN >> i % 4 * 8);
}

PmStatus pm__emu_run(PmEmuRun *r, const uint32_t grid[3], const uint32_t block[3], PmErr *err)
{
	const PmEmuModule *m = r->module;
	PmEmuCtx *c = m->ctx;
	PmEmu3 b = { 0, 0, 0 }, g = { grid[0], grid[1], grid[2] }, n = { block[0], block[1], block[2] };
	uint64_t n_blocks = r->n_chosen ? r->n_chosen : pm_grid_blocks(grid);
	PmStatus rc = PM_OK;
	uint32_t i;

	r->n = (int)(n.x * n.y * n.z);
	for (i = 0; i < (uint32_t)r->n; i++) {
		r->index[i].x = i % n.x;
		r->index[i].y = i / n.x % n.y;
		r->index[i].z = i / n.x / n.y;
	}
	r->full = full;
	r->failed = 0;
	memset(&r->fault, 0, sizeof r->fault);
	pm__emu_current = r;
	c->calls = &calls;
	c->dyn = r->dyn;
	c->block_dim = n;
	c->grid_dim = g;
	r->fiber = r->main;
	for (uint64_t k = 0; !rc && k < n_blocks; k++) {
		uint64_t at = r->n_chosen ? r->chosen[k] : k;

		b.x = (unsigned)(at % g.x);
		b.y = (unsigned)(at / g.x % g.y);
		b.z = (unsigned)(at / g.x / g.y);
		c->block = b;
		r->step = (r->order + at) & 1 ? -1 : 1;
		fresh_shared(r);
		if (r->counter)
			pm__emu_count_block(r, k, n_blocks);
		rc = run_block(r, err);
		if (!rc && r->counter)
			pm__emu_count_block_end(r);
		if (!rc && r->smem % PM_EMU_ALIGN)
			rc = check_dyn(r, err);
	}
	pm__emu_current = NULL;
	return rc;
}

PmEmuRun *pm__emu_run_new(void)
{
	PmEmuRun *r = pm_xcalloc(1, sizeof *r);

	r->fresh = (uint32_t)PM_EMU_PATTERN;
	r->main = pm__fiber_main();
	return r;
}

void pm__emu_run_free(PmEmuRun *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->fibers.n; i++)
		pm__fiber_free(r->fibers.v[i]);
	PM_VEC_RELEASE(&r->fibers);
	PM_VEC_RELEASE(&r->idle);
	pm__fiber_free(r->main);
	free(r);
}
