/* SPDX-License-Identifier: Apache-2.0 */
/* emu_run.c - one launch on the emulated device: its blocks one after another (emu_sched.c), what their
 * shared memory holds, and who watches them.
 */
#include "runtime/emu/emu_count.h"
#include "runtime/emu/emu_priv.h"

#include "base/core/arena.h"

#include <stdlib.h>
#include <string.h>

/* --- who watches: accesses to shared memory, and what is counted ------------------------------------------
 */

static void on_wait(PmEmuSched *s, int collective, uint32_t mask, const void *pc)
{
	PmEmuRun *r = pm__emu_run_of(s);

	if (r->counter)
		pm__emu_count_wait(r, collective, mask, pc);
}

static void on_settle(PmEmuSched *s)
{
	pm__emu_race_settle(pm__emu_run_of(s));
}

static void on_barrier(PmEmuSched *s)
{
	pm__emu_race_barrier(pm__emu_run_of(s));
}

static void on_collective(PmEmuSched *s, int warp)
{
	pm__emu_race_collective(pm__emu_run_of(s), warp);
}

/* Lets the threads go that had no room to tell more and have it now. */
static int on_release(PmEmuSched *s)
{
	PmEmuRun *r = pm__emu_run_of(s);
	int n = 0;

	if (!r->counter)
		return 0;
	pm__emu_count_drain(r);
	for (int i = 0; i < s->n; i++)
		if (pm__emu_sched_held(s, i) && !pm__emu_count_full(r, i)) {
			pm__emu_sched_let_go(s, i);
			n++;
		}
	return n;
}

static const PmEmuHooks hooks = { on_wait, on_settle, on_barrier, on_collective, on_release };

static int print(const char *format, const PmEmuPrintArg *v, int n)
{
	return pm__emu_print(pm__emu_run_of(pm__emu_running), format, v, n);
}

static const PmEmuCalls calls = {
	pm__emu_sched_barrier, pm__emu_sched_warp, pm__emu_sched_trap, memcpy, memmove, memset, print
};

/* --- blocks -------------------------------------------------------------------------------------------- */

/* Dynamic shared memory ends at an inaccessible page; the few bytes before it are the pattern. */
static PmStatus check_dyn(const PmEmuRun *r, PmErr *err)
{
	PmEmu3 b = r->s.module->ctx->block;
	uint32_t i, end = (r->smem + PM_EMU_ALIGN - 1) / PM_EMU_ALIGN * PM_EMU_ALIGN;
	const uint32_t pattern = (uint32_t)PM_EMU_PATTERN;

	for (i = r->smem; i < end; i++)
		if (r->s.dyn[i] != ((const unsigned char *)&pattern)[i % 4])
			return pm_err(
				err, PM_E_OOB,
				"Kernel '%s' (entry '%s') wrote past the end of its dynamic shared memory "
				"(byte %u of %u) in block (%u,%u,%u).",
				r->s.label, r->s.entry->name, i, r->smem, b.x, b.y, b.z);
	return PM_OK;
}

/* A block finds in shared memory whatever lay there: the pattern that buffers were last filled with, so that
 * a kernel which reads it unwritten gives another result when the pattern is another. */
static void fresh_shared(const PmEmuRun *r)
{
	const PmEmuModule *m = r->s.module;
	uint32_t rounded = (r->smem + PM_EMU_ALIGN - 1) / PM_EMU_ALIGN * PM_EMU_ALIGN;

	pm__emu_poison(m->shared, (size_t)(m->shared_end - m->shared), r->fresh);
	pm__emu_poison(r->s.dyn, r->smem, r->fresh);
	for (uint32_t i = r->smem; i < rounded; i++) /* looked at by check_dyn */
		r->s.dyn[i] = (unsigned char)((uint32_t)PM_EMU_PATTERN >> i % 4 * 8);
}

PmStatus pm__emu_run(PmEmuRun *r, const uint32_t grid[3], const uint32_t block[3], PmErr *err)
{
	uint64_t n_blocks = r->n_chosen ? r->n_chosen : pm_grid_blocks(grid);
	PmStatus rc = PM_OK;

	memset(&r->fault, 0, sizeof r->fault);
	r->s.calls = &calls;
	r->s.hooks = r->races || r->counter ? &hooks : NULL;
	pm__emu_sched_begin(&r->s, grid, block);
	for (uint64_t k = 0; !rc && k < n_blocks; k++) {
		fresh_shared(r);
		if (r->counter)
			pm__emu_count_block(r, k, n_blocks);
		rc = pm__emu_sched_block(&r->s, r->n_chosen ? r->chosen[k] : k, r->order, err);
		if (!rc && r->counter)
			pm__emu_count_block_end(r);
		if (!rc && r->smem % PM_EMU_ALIGN)
			rc = check_dyn(r, err);
	}
	pm__emu_sched_end(&r->s);
	return rc;
}

PmEmuRun *pm__emu_run_new(void)
{
	PmEmuRun *r = pm_xcalloc(1, sizeof *r);

	r->fresh = (uint32_t)PM_EMU_PATTERN;
	pm__emu_sched_open(&r->s);
	return r;
}

void pm__emu_run_free(PmEmuRun *r)
{
	if (!r)
		return;
	pm__emu_sched_close(&r->s);
	free(r);
}
