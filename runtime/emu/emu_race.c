/* SPDX-License-Identifier: Apache-2.0 */
/* emu_race.c - accesses to shared memory that no barrier orders, and those between two arrays.
 *
 * For every byte: who wrote it last and who has read it since, and when, counted in barriers of the block and
 * in collectives of the warp. Bytes of a word that were always touched together have one cell; the first
 * access that parts them gives each part a copy of it. Two threads that touch a byte, one of them writing,
 * with no barrier between them race; threads of one warp are ordered by any collective of it. A write that
 * leaves what was there is harmless, so whether a write races is only known after it: it waits until the next
 * access of anybody.
 */
#include "runtime/emu/emu_priv.h"
#include "runtime/emu/races/races.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 0xfffe, WARP = 0x8000 /* + its number: several threads of it */ };
enum { WORD = 4, GAP = 0x80 /* what `part` says of a word between arrays; else log2 of a part's bytes */ };

/* All zero: nobody has touched it, as the first block begins behind a barrier. */
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
	unsigned char *part;  /* by word: the static ones, then the dynamic ones */
	Cell *word, *of_part; /* by word where it is one part; by byte where a part begins */
	size_t n_static;      /* words */
	PM_VEC(unsigned char *) gaps;
	uint32_t barriers, collectives[PM_EMU_MAX_THREADS / 32];
	/* A write whose effect is not known yet. */
	const unsigned char *at;
	unsigned char was[16];
	unsigned n;
	int by, other, other_wrote;
};

/* The byte's number among those that have cells; -1 = it has none. */
static ptrdiff_t place_of(const PmEmuRaces *w, const unsigned char *p)
{
	if (p >= w->shared && p < w->shared_end)
		return p - w->shared;
	if (p >= w->dyn && p < w->dyn_end)
		return (ptrdiff_t)(w->n_static * WORD) + (p - w->dyn);
	return -1;
}

/* Gives parts of 1 << `log` bytes a cell each. */
static void split(PmEmuRaces *w, size_t word, unsigned log)
{
	unsigned was = w->part[word], i;
	Cell *c = &w->of_part[word * WORD];

	for (i = WORD; i-- > 0;)
		if (i % (1u << log) == 0)
			c[i] = was == 2 ? w->word[word] : c[i >> was << was];
	w->part[word] = (unsigned char)log;
}

/* The cell of a byte and in *n how many of the `left` bytes from there on it is the cell of. */
static Cell *cell_of(PmEmuRaces *w, ptrdiff_t at, unsigned left, unsigned *n)
{
	size_t word = (size_t)at / WORD;
	unsigned in = (unsigned)at % WORD, log = in == 0 && left >= 4 ? 2 : in % 2 == 0 && left >= 2 ? 1 : 0;

	if (w->part[word] > log)
		split(w, word, log);
	*n = 1u << w->part[word];
	return w->part[word] == 2 ? &w->word[word] : &w->of_part[at];
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
	PmEmu3 a = r->s.index[other], b = r->s.index[r->s.cur];

	say_place(r->races, p, place, sizeof place);
	pm__emu_fail(
		&r->s, PM_E_RACE,
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
	r->s.cur = w->by;
	report(r, at, w->other, w->other_wrote ? "both write" : "write and read");
}

/* ---- accesses ---- */

/* Whether an access by thread `who` at that time is ordered before one of the running thread now. */
static int ordered(const PmEmuRun *r, const PmEmuRaces *w, int who, uint32_t barriers, uint32_t collectives)
{
	return barriers != w->barriers || who == r->s.cur ||
	       (who < PM_EMU_MAX_THREADS && who / 32 == r->s.cur / 32 &&
		collectives != w->collectives[r->s.cur / 32]) ||
	       (who >= WARP && who < MANY && who - WARP == r->s.cur / 32 &&
		collectives != w->collectives[r->s.cur / 32]);
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
	int me = r->s.cur, warp = me / 32, mine = is_of_warp(c->reader, warp);

	if (c->read != w->barriers || c->reader == me || (mine && c->warp_read != w->collectives[warp])) {
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
	w->by = r->s.cur;
	w->other = other;
	w->other_wrote = wrote;
}

static int is_gap(const PmEmuRaces *w, const unsigned char *p)
{
	ptrdiff_t at = place_of(w, p);

	return at >= 0 && w->part[at / WORD] == GAP;
}

static int in_gap(const PmEmuRaces *w, const unsigned char *p, unsigned n)
{
	for (unsigned i = 0; i < n; i += WORD)
		if (is_gap(w, p + i))
			return 1;
	return n > 1 && is_gap(w, p + n - 1);
}

static void note_write(PmEmuRun *r, PmEmuRaces *w, Cell *c, const unsigned char *p, unsigned n)
{
	if (!w->at && !ordered(r, w, c->writer, c->written, c->warp_written))
		wait_for_effect(r, w, p, n, c->writer, 1);
	if (!w->at && !ordered(r, w, c->reader, c->read, c->warp_read))
		wait_for_effect(r, w, p, n, other_reader(c, r->s.cur), 0);
	c->writer = (uint16_t)r->s.cur;
	c->written = w->barriers;
	c->warp_written = w->collectives[r->s.cur / 32];
}

/* What most accesses are: to a whole word, which nobody touched since the last barrier but in the same way. 0
 * when it has to be looked at closely. */
static inline int quick(const PmEmuRun *r, PmEmuRaces *w, const unsigned char *p, int write)
{
	ptrdiff_t at = place_of(w, p);
	int me = r->s.cur;
	Cell *c;

	if (at < 0 || w->part[at / WORD] != 2)
		return 0;
	c = &w->word[at / WORD];
	if (c->written == w->barriers && c->writer != me)
		return 0;
	if (!write) {
		if (c->read != w->barriers || c->reader != MANY)
			note_read(r, w, c);
		return 1;
	}
	if (c->read == w->barriers && c->reader != me)
		return 0;
	c->writer = (uint16_t)me;
	c->written = w->barriers;
	c->warp_written = w->collectives[me / 32];
	return 1;
}

/* The access's bytes from number i on. */
__attribute__((noinline)) static void look(PmEmuRun *r, PmEmuRaces *w, const unsigned char *p, unsigned n,
					   int write, unsigned i)
{
	unsigned step;

	if (in_gap(w, p, n))
		pm__emu_fail(&r->s, PM_E_OOB,
			     "%s shared memory outside its __shared__ arrays, beside one of them.",
			     write ? "wrote" : "read");
	for (; i < n; i += step) {
		ptrdiff_t at = place_of(w, p + i);
		Cell *c;

		if (at < 0)
			return;
		c = cell_of(w, at, n - i, &step);
		if (write) {
			note_write(r, w, c, p, n);
			continue;
		}
		if (!ordered(r, w, c->writer, c->written, c->warp_written))
			report(r, p + i, c->writer, "write and read");
		note_read(r, w, c);
	}
}

static void on_access(const void *address, unsigned n, int write)
{
	PmEmuRun *r = pm__emu_run_of(pm__emu_running);
	PmEmuRaces *w = r ? r->races : NULL;
	const unsigned char *p = address;
	unsigned i = 0;

	if (!w)
		return;
	if (w->at)
		pm__emu_race_settle(r);
	while ((uintptr_t)p % WORD == 0 && n - i >= WORD && quick(r, w, p + i, write))
		i += WORD;
	if (i < n)
		look(r, w, p, n, write, i);
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
	free(w->part);
	free(w->word);
	free(w->of_part);
	free(w);
}

void pm__emu_races_begin(PmEmuRaces *w, unsigned char *dyn, uint32_t bytes)
{
	size_t n;

	w->watch->dyn = w->dyn = dyn;
	w->watch->dyn_end = w->dyn_end = dyn + bytes;
	w->n_static = ((size_t)(w->shared_end - w->shared) + WORD - 1) / WORD;
	n = w->n_static + (bytes + WORD - 1) / WORD;
	free(w->part);
	free(w->word);
	free(w->of_part);
	w->part = pm_xmalloc(n + 1);
	w->word = pm_xcalloc(n + 1, sizeof *w->word);
	w->of_part = pm_xcalloc((n + 1) * WORD, sizeof *w->of_part);
	memset(w->part, 2, n + 1);
	for (size_t i = 0; i < w->gaps.n; i++)
		memset(&w->part[(w->gaps.v[i] - w->shared) / WORD], GAP, 8 * PM_EMU_GAP_WORDS / WORD);
	w->at = NULL;
}

int pm_emu_races_wanted(const char *source)
{
	return strstr(source, "__shared__") || strstr(source, "pm_block_");
}
