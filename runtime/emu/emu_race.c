/* SPDX-License-Identifier: Apache-2.0 */
/* emu_race.c - accesses to shared memory that no barrier orders, and those between two arrays.
 *
 * For every byte: who wrote it last and who has read it since, and when, counted in barriers of the block and
 * in collectives of the warp. Two threads that touch a byte, one of them writing, with no barrier between
 * them race; threads of one warp are ordered by any collective of it. A write that leaves what was there is
 * harmless, so whether a write races is only known after it: it waits until the next access of anybody.
 */
#include "runtime/emu/emu_priv.h"
#include "runtime/emu/races/races.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = 0xffff, MANY = 0xfffe, WARP = 0x8000 /* + its number: several threads of it */ };

typedef struct Cell {
	uint32_t written, read;           /* barriers passed at that time, over all blocks */
	uint32_t warp_written, warp_read; /* collectives of the warp passed at that time */
	uint16_t writer, reader;
	uint16_t seen[2]; /* readers to be named: two of the warp where `reader` is one, of two warps where it
			     is MANY */
} Cell;

struct PmEmuRaces {
	PmEmuWatch *watch;
	unsigned char *shared, *shared_end, *dyn, *dyn_end;
	Cell *cell; /* of the static bytes, then of the dynamic ones */
	PM_VEC(unsigned char *) gaps;
	uint32_t barriers, collectives[PM_EMU_MAX_THREADS / 32];
	/* A write whose effect is not known yet. */
	const unsigned char *at;
	unsigned char was[16];
	unsigned n;
	int by, other, other_wrote;
};

static Cell *cell_of(const PmEmuRaces *w, const unsigned char *p)
{
	if (p >= w->shared && p < w->shared_end)
		return &w->cell[p - w->shared];
	if (p >= w->dyn && p < w->dyn_end)
		return &w->cell[(w->shared_end - w->shared) + (p - w->dyn)];
	return NULL;
}

/* ---- what is said ---- */

/* Static bytes are counted as if there were no gaps. */
static void say_place(const PmEmuRaces *w, const unsigned char *p, char *out, size_t size)
{
	ptrdiff_t gaps = 0;

	for (size_t i = 0; i < w->gaps.n; i++)
		gaps += w->gaps.v[i] < p ? 8 * PM_EMU_GAP_WORDS : 0;
	if (p >= w->shared && p < w->shared_end)
		snprintf(out, size, "byte %td of its static shared memory", p - w->shared - gaps);
	else
		snprintf(out, size, "byte %td of its dynamic shared memory", p - w->dyn);
}

static void report(PmEmuRun *r, const unsigned char *p, int other, const char *how)
{
	char place[96];
	PmEmu3 a = r->index[other], b = r->index[r->cur];

	say_place(r->races, p, place, sizeof place);
	pm__emu_fail(
		r, PM_E_RACE,
		"has a race: threads (%u,%u,%u) and (%u,%u,%u) of a block %s %s without a __syncthreads() "
		"between them.",
		a.x, a.y, a.z, b.x, b.y, b.z, how, place);
}

void pm__emu_race_settle(PmEmuRun *r)
{
	PmEmuRaces *w = r->races;
	const unsigned char *at = w ? w->at : NULL;

	if (!at)
		return;
	w->at = NULL;
	if (memcmp(at, w->was, w->n) == 0)
		return;
	r->cur = w->by;
	report(r, at, w->other, w->other_wrote ? "both write" : "write and read");
}

/* ---- accesses ---- */

/* Whether an access by thread `who` at that time is ordered before one of the running thread now. */
static int ordered(const PmEmuRun *r, const PmEmuRaces *w, int who, uint32_t barriers, uint32_t collectives)
{
	return barriers != w->barriers || who == NOBODY || who == r->cur ||
	       (who < PM_EMU_MAX_THREADS && who / 32 == r->cur / 32 &&
		collectives != w->collectives[r->cur / 32]) ||
	       (who >= WARP && who < MANY && who - WARP == r->cur / 32 &&
		collectives != w->collectives[r->cur / 32]);
}

/* A thread that read the byte and that thread `me` races with: not itself, and of another warp where several
 * warps did, as its own may be ordered. */
static int other_reader(const Cell *c, int me)
{
	if (c->reader < PM_EMU_MAX_THREADS)
		return c->reader;
	if (c->reader == MANY)
		return c->seen[c->seen[0] / 32 == me / 32];
	return c->seen[c->seen[0] == me];
}

static int is_of_warp(int who, int warp)
{
	return who < PM_EMU_MAX_THREADS ? who / 32 == warp : who == WARP + warp;
}

/* What the warp read before its last collective is ordered before this read, which stands for it from now
 * on: who is not ordered behind this one is not behind those either. */
static void note_read(const PmEmuRun *r, const PmEmuRaces *w, Cell *c)
{
	int me = r->cur, warp = me / 32, mine = is_of_warp(c->reader, warp);

	if (c->read != w->barriers || c->reader == NOBODY || c->reader == me ||
	    (mine && c->warp_read != w->collectives[warp])) {
		c->reader = c->seen[0] = (uint16_t)me;
	} else if (mine) {
		c->reader = (uint16_t)(WARP + warp);
		c->seen[c->seen[0] != me] = (uint16_t)me;
	} else if (c->reader != MANY) {
		c->reader = MANY;
		c->seen[1] = (uint16_t)me;
	}
	c->read = w->barriers;
	c->warp_read = w->collectives[warp];
}

/* A later write of the same bytes is what is waited for. */
static void wait_for_effect(PmEmuRun *r, PmEmuRaces *w, const unsigned char *p, unsigned n, int other,
			    int wrote)
{
	w->at = p;
	w->n = n < sizeof w->was ? n : (unsigned)sizeof w->was;
	memcpy(w->was, p, w->n);
	w->by = r->cur;
	w->other = other;
	w->other_wrote = wrote;
}

static int in_gap(const PmEmuRaces *w, const unsigned char *p, unsigned n)
{
	for (size_t i = 0; i < w->gaps.n; i++)
		if (p + n > w->gaps.v[i] && p < w->gaps.v[i] + 8 * PM_EMU_GAP_WORDS)
			return 1;
	return 0;
}

static void on_access(const void *address, unsigned n, int write)
{
	PmEmuRun *r = pm__emu_running();
	PmEmuRaces *w = r ? r->races : NULL;
	const unsigned char *p = address;

	if (!w)
		return;
	pm__emu_race_settle(r);
	if (in_gap(w, p, n))
		pm__emu_fail(r, PM_E_OOB,
			     "%s shared memory outside its __shared__ arrays, beside one of them.",
			     write ? "wrote" : "read");
	for (unsigned i = 0; i < n; i++) {
		Cell *c = cell_of(w, p + i);

		if (!c)
			return;
		if (!write && !ordered(r, w, c->writer, c->written, c->warp_written))
			report(r, p + i, c->writer, "write and read");
		if (!write) {
			note_read(r, w, c);
			continue;
		}
		if (!w->at && !ordered(r, w, c->writer, c->written, c->warp_written))
			wait_for_effect(r, w, p, n, c->writer, 1);
		if (!w->at && !ordered(r, w, c->reader, c->read, c->warp_read))
			wait_for_effect(r, w, p, n, other_reader(c, r->cur), 0);
		c->writer = (uint16_t)r->cur;
		c->written = w->barriers;
		c->warp_written = w->collectives[r->cur / 32];
	}
}

void pm__emu_race_barrier(PmEmuRun *r)
{
	if (r->races)
		r->races->barriers++;
}

void pm__emu_race_collective(PmEmuRun *r, int warp)
{
	if (r->races)
		r->races->collectives[warp]++;
}

/* ---- modules ---- */

static void find_gaps(PmEmuRaces *w)
{
	for (unsigned char *p = w->shared; p + 8 * PM_EMU_GAP_WORDS <= w->shared_end; p += 8) {
		uint64_t word[PM_EMU_GAP_WORDS];
		int n = 0;

		memcpy(word, p, sizeof word);
		while (n < PM_EMU_GAP_WORDS && word[n] == PM_EMU_GAP_WORD)
			n++;
		if (n == PM_EMU_GAP_WORDS)
			PM_VEC_PUSH(&w->gaps, p);
	}
}

PmEmuRaces *pm__emu_races_new(void *so, const PmEmuModule *m)
{
	PmEmuRaces *w;
	void *watch = dlsym(so, "pm_emu_watch");

	if (!watch)
		return NULL; /* compiled without */
	w = pm_xcalloc(1, sizeof *w);
	w->watch = watch;
	w->shared = m->shared;
	w->shared_end = m->shared_end;
	find_gaps(w);
	w->watch->access = on_access;
	return w;
}

void pm__emu_races_free(PmEmuRaces *w)
{
	if (!w)
		return;
	PM_VEC_RELEASE(&w->gaps);
	free(w->cell);
	free(w);
}

void pm__emu_races_begin(PmEmuRaces *w, unsigned char *dyn, uint32_t bytes)
{
	size_t n = (size_t)(w->shared_end - w->shared) + bytes;

	w->watch->dyn = w->dyn = dyn;
	w->watch->dyn_end = w->dyn_end = dyn + bytes;
	free(w->cell);
	w->cell = pm_xcalloc(n + 1, sizeof *w->cell);
	for (size_t i = 0; i < n; i++)
		w->cell[i].writer = w->cell[i].reader = NOBODY;
	w->at = NULL;
}

int pm_emu_races_wanted(const char *source)
{
	return strstr(source, "__shared__") || strstr(source, "pm_block_");
}
