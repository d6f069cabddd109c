/* SPDX-License-Identifier: Apache-2.0 */
/* emu_count.c - what the warps of a launch did: the threads' own stories put together.
 *
 * Threads run one after another, so each tells what it does into a list of its own. The lists of a warp are
 * then gone through as its lanes would go on a GPU: in step where they are at the same place; elsewhere those
 * first that are deepest in calls, then those at the lowest place. At a barrier or a collective a lane waits
 * for the others. A thread whose list is full waits until the lists of its warp have been gone through as far
 * as they reach.
 */
#include "runtime/emu/emu_count.h"

#include "base/core/vec.h"
#include "runtime/emu/counts/counts.h"
#include "runtime/emu/emu_lines.h"
#include "runtime/emu/emu_reuse.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LANES = 32,
	EVENTS = 1024,       /* of a thread's list */
	SITES = 4096,        /* places that access memory; a power of two */
	WORD = 4,            /* bytes of a bank */
	MOST = 24 * 1000000, /* events of a launch after which no further block is counted */
	PIECE = 16           /* bytes of the widest access */
};

typedef struct Event {
	uint32_t pc;
	uint16_t depth;
	uint8_t what, n;
	uint64_t at; /* address; of a collective its mask */
} Event;

typedef struct Lane {
	Event *ev; /* EVENTS of them; from..to are told and not gone through */
	unsigned from, to, depth;
	uint64_t step; /* the last that it took part in, */
	int together;  /* with so many, */
	int parted;    /* and it is known that they went different ways */
} Lane;

typedef struct Site {
	uint32_t pc;
	uint8_t what, n, shared, used;
	PmCountGlobal global;
	PmCountShared bank;
} Site;

typedef struct Buffer {
	uint64_t from, to;
	uint8_t *seen;  /* a bit for each sector that was read */
	uint64_t asked; /* sectors asked of L2 */
} Buffer;

struct PmEmuCounter {
	PmEmuTally *tally;
	const unsigned char *base; /* where the object begins */
	PmEmuLines *lines;
	Lane lane[PM_EMU_MAX_THREADS];
	Site site[SITES];
	PM_VEC(Buffer) buffers; /* of the launch */
	PmEmuReuse l1;          /* of the block */
	uint64_t events, steps;
	uint64_t shared, shared_end, dyn, dyn_end;
	uint64_t every, next; /* which blocks are counted */
	PmLaunchCounts *out;
};

/* ---- a request ---- */

/* Adds v to the n different ones; how many there are then. set[0] is the largest. */
static int add_new(uint64_t *set, int n, uint64_t v)
{
	if (n && v > set[0]) { /* in most requests the next lane's */
		set[n] = set[0];
		set[0] = v;
		return n + 1;
	}
	for (int i = 0; i < n; i++)
		if (set[i] == v)
			return n;
	set[n] = v;
	return n + 1;
}

static Buffer *buffer_of(PmEmuCounter *c, uint64_t at)
{
	for (size_t i = 0; i < c->buffers.n; i++)
		if (at >= c->buffers.v[i].from && at < c->buffers.v[i].to)
			return &c->buffers.v[i];
	return NULL;
}

static Buffer *buffer_of_sector(PmEmuCounter *c, uint64_t sector)
{
	Buffer *b = buffer_of(c, sector * PM_COUNT_SECTOR);

	/* It may begin inside of the sector. */
	return b ? b : buffer_of(c, sector * PM_COUNT_SECTOR + PM_COUNT_SECTOR - 1);
}

static void ask_l2(PmEmuCounter *c, Buffer *b)
{
	c->out->l2_sectors++;
	if (b)
		b->asked++;
}

static void see(PmEmuCounter *c, uint64_t sector)
{
	Buffer *b = buffer_of_sector(c, sector);
	uint64_t k;

	c->out->read_sectors++;
	if (pm__emu_reuse_read(&c->l1, sector))
		c->out->l1_hits++;
	else
		ask_l2(c, b);
	if (!b)
		return;
	k = sector - b->from / PM_COUNT_SECTOR;
	c->out->unique_sectors += !(b->seen[k / 8] >> k % 8 & 1);
	b->seen[k / 8] |= (uint8_t)(1u << k % 8);
}

static void on_global(PmEmuCounter *c, Site *s, const uint64_t *at, int n)
{
	uint64_t sector[2 * LANES], place[LANES];
	int n_sectors = 0, n_places = 0;
	PmCountGlobal g = { .requests = 1 };

	for (int i = 0; i < n; i++) {
		n_places = add_new(place, n_places, at[i]);
		n_sectors = add_new(sector, n_sectors, at[i] / PM_COUNT_SECTOR);
		n_sectors = add_new(sector, n_sectors, (at[i] + s->n - 1) / PM_COUNT_SECTOR);
	}
	g.sectors = (uint64_t)n_sectors;
	g.bytes = (uint64_t)n_places * s->n;
	g.ideal = (g.bytes + PM_COUNT_SECTOR - 1) / PM_COUNT_SECTOR;
	g.passes = (g.sectors + PM_COUNT_PASS_SECTORS - 1) / PM_COUNT_PASS_SECTORS;
	for (int k = 0; k < 2; k++) {
		PmCountGlobal *to = k ? &s->global : &c->out->global[s->what];

		to->requests += g.requests;
		to->sectors += g.sectors;
		to->bytes += g.bytes;
		to->ideal += g.ideal;
		to->passes += g.passes;
	}
	for (int i = 0; i < n_sectors; i++)
		if (s->what == PM_EMU_DID_READ)
			see(c, sector[i]);
		else
			ask_l2(c, buffer_of_sector(c, sector[i]));
}

/* Lanes of one pass: the bank with most different words says how many passes they take instead. */
static unsigned passes(const uint64_t *at, int n, int size)
{
	uint64_t word[PM_COUNT_BANKS][LANES];
	int used[PM_COUNT_BANKS] = { 0 }, most = 0;

	for (int i = 0; i < n; i++)
		for (uint64_t w = at[i] / WORD; w <= (at[i] + (unsigned)size - 1) / WORD; w++) {
			int b = (int)(w % PM_COUNT_BANKS);

			used[b] = add_new(word[b], used[b], w);
			most = used[b] > most ? used[b] : most;
		}
	return (unsigned)most;
}

/* 1 when each lane is at the same address as the lane whose number differs by the bit `apart`, if that one is
 * there. `lane` beside `at`. */
static int in_pairs(const uint64_t *at, const int *lane, int n, int apart)
{
	uint64_t of[LANES];
	uint32_t there = 0;

	for (int i = 0; i < n; i++) {
		of[lane[i]] = at[i];
		there |= 1u << lane[i];
	}
	for (int i = 0; i < n; i++)
		if (there >> (lane[i] ^ apart) & 1 && of[lane[i] ^ apart] != at[i])
			return 0;
	return 1;
}

/* Lanes that go together: half a warp for 8 bytes each, a quarter for 16, and twice as many where neighbours
 * (or next but one) want the same: what they get is packed
 * (forums.developer.nvidia.com/t/unexpected-shared-memory-bank-conflict/77228/2). */
static int together(const Site *s, const uint64_t *at, const int *lane, int n)
{
	int group = s->n > 8 ? LANES / 4 : s->n > WORD ? LANES / 2 : LANES;

	if (group < LANES && s->what == PM_EMU_DID_READ &&
	    (in_pairs(at, lane, n, 1) || in_pairs(at, lane, n, 2)))
		group *= 2;
	return group;
}

static void on_shared(PmEmuCounter *c, Site *s, const uint64_t *at, const int *lane, int n)
{
	int group = together(s, at, lane, n);
	PmCountShared b = { .requests = 1 };

	for (int i = 0; i < n;) {
		int first = i, part = lane[i] / group;

		while (i < n && lane[i] / group == part)
			i++;
		b.passes += passes(at + first, i - first, s->n);
		b.ideal++;
	}
	for (int k = 0; k < 2; k++) {
		PmCountShared *to = k ? &s->bank : &c->out->shared[s->what];

		to->requests += b.requests;
		to->passes += b.passes;
		to->ideal += b.ideal;
	}
}

static void on_atomic(PmEmuCounter *c, const uint64_t *at, int n, int shared)
{
	uint64_t sector[LANES];
	int most = 0, n_sectors = 0;

	for (int i = 0; i < n; i++) {
		int same = 0;

		for (int k = 0; k < n; k++)
			same += at[k] == at[i];
		most = same > most ? same : most;
		n_sectors = add_new(sector, n_sectors, at[i] / PM_COUNT_SECTOR);
	}
	for (int i = 0; i < n_sectors && !shared; i++)
		ask_l2(c, buffer_of_sector(c, sector[i]));
	c->out->atomic.requests++;
	c->out->atomic.threads += (uint64_t)n;
	c->out->atomic.same += (uint64_t)most;
}

/* NULL when there is no room for another. */
static Site *site_of(PmEmuCounter *c, const Event *e, int shared)
{
	uint32_t k = (e->pc * 2654435761u + e->n * 31u + (unsigned)shared) % SITES;

	for (int i = 0; i < SITES; i++, k = (k + 1) % SITES) {
		Site *s = &c->site[k];

		if (!s->used) {
			*s = (Site){
				.pc = e->pc, .what = e->what, .n = e->n, .shared = (uint8_t)shared, .used = 1
			};
			return s;
		}
		if (s->pc == e->pc && s->what == e->what && s->n == e->n && s->shared == shared)
			return s;
	}
	return NULL;
}

static int is_shared(const PmEmuCounter *c, uint64_t at)
{
	return (at >= c->shared && at < c->shared_end) || (at >= c->dyn && at < c->dyn_end);
}

/* One instruction of the lanes in `group`; what is neither global nor shared memory is a thread's own. */
static void on_access(PmEmuCounter *c, const Lane *warp, uint32_t group, const Event *e)
{
	uint64_t at[2][LANES];
	int lane[2][LANES], n[2] = { 0, 0 };

	for (int i = 0; i < LANES; i++) {
		uint64_t a;
		int shared;

		if (!(group >> i & 1))
			continue;
		a = warp[i].ev[warp[i].from].at;
		shared = is_shared(c, a);
		if (!shared && !buffer_of(c, a))
			continue;
		/* Where shared memory begins is bank 0. */
		at[shared][n[shared]] = !shared ? a
						: a - (a >= c->dyn && a < c->dyn_end ? c->dyn : c->shared);
		lane[shared][n[shared]++] = i;
	}
	for (int shared = 0; shared < 2; shared++) {
		Site *s = n[shared] && e->what != PM_EMU_DID_ATOMIC ? site_of(c, e, shared) : NULL;

		if (n[shared] && e->what == PM_EMU_DID_ATOMIC)
			on_atomic(c, at[shared], n[shared], shared);
		else if (s && shared)
			on_shared(c, s, at[1], lane[1], n[1]);
		else if (s)
			on_global(c, s, at[0], n[0]);
	}
}

/* ---- a warp ---- */

static int waits(const Event *e)
{
	return e->what == PM_EMU_DID_BARRIER || e->what == PM_EMU_DID_COLLECTIVE;
}

static const Event *head(const Lane *l)
{
	return &l->ev[l->from];
}

/* The lanes that are at the same barrier or collective as `first`, when all that it waits for are there. */
static uint32_t meeting(const Lane *warp, uint32_t known, int first)
{
	const Event *e = head(&warp[first]);
	uint32_t mask = (uint32_t)e->at & known;

	for (int i = 0; i < LANES; i++) {
		const Event *o = mask >> i & 1 ? head(&warp[i]) : NULL;

		if (o && (o->what != e->what || o->at != e->at))
			return 0;
	}
	return mask;
}

static uint32_t at_the_same_place(const Lane *warp, uint32_t known, const Event *e)
{
	uint32_t group = 0;

	for (int i = 0; i < LANES; i++) {
		const Event *o = known >> i & 1 ? head(&warp[i]) : NULL;

		if (o && o->pc == e->pc && o->depth == e->depth && o->what == e->what && o->n == e->n)
			group |= 1u << i;
	}
	return group;
}

/* The lanes that go on next; 0 when that is not known yet, or there is nothing left. `live`: threads that
 * have not ended. */
static uint32_t choose(const Lane *warp, uint32_t live)
{
	const Event *best = NULL;
	uint32_t known = 0, group = 0;

	for (int i = 0; i < LANES; i++)
		if (warp[i].from < warp[i].to)
			known |= 1u << i;
	if (live & ~known)
		return 0;
	for (int i = 0; i < LANES; i++) {
		const Event *e = known >> i & 1 ? head(&warp[i]) : NULL;

		if (e && !waits(e) &&
		    (!best || e->depth > best->depth || (e->depth == best->depth && e->pc < best->pc)))
			best = e;
	}
	if (best)
		return at_the_same_place(warp, known, best);
	for (int i = 0; i < LANES && !group; i++)
		group = known >> i & 1 ? meeting(warp, known, i) : 0;
	return group ? group : known & (~known + 1);
}

/* 1 when the lanes in `group` took their last step together, and no other lane with them. */
static int still_together(const Lane *warp, uint32_t group)
{
	const Lane *first = &warp[__builtin_ctz(group)];

	for (uint32_t left = group; left; left &= left - 1)
		if (warp[__builtin_ctz(left)].step != first->step)
			return 0;
	return first->together == __builtin_popcount(group);
}

/* Lanes that were together a step ago and are not now went different ways there. */
static void note_parting(PmEmuCounter *c, Lane *warp, uint32_t group)
{
	if (still_together(warp, group))
		return;
	for (int i = 0; i < LANES; i++) {
		const Lane *l = &warp[i];
		int same = 0;

		if (!(group >> i & 1) || l->parted)
			continue;
		for (int k = 0; k < LANES; k++)
			same += (group >> k & 1) && warp[k].step == l->step;
		if (same == l->together)
			continue;
		c->out->parted++;
		for (int k = 0; k < LANES; k++)
			if (k != i && warp[k].step == l->step)
				warp[k].parted = 1;
		warp[i].parted = 1;
	}
}

static void take_step(PmEmuCounter *c, Lane *warp, uint32_t group)
{
	int first = __builtin_ctz(group), n = __builtin_popcount(group);
	const Event e = *head(&warp[first]);

	if (!waits(&e))
		note_parting(c, warp, group);
	switch (e.what) {
	case PM_EMU_DID_BLOCK:
		c->out->steps++;
		c->out->active += (uint64_t)n;
		break;
	case PM_EMU_DID_BARRIER:
		c->out->barriers++;
		break;
	case PM_EMU_DID_COLLECTIVE:
		c->out->collectives++;
		break;
	default:
		on_access(c, warp, group, &e);
	}
	c->steps++;
	for (int i = 0; i < LANES; i++)
		if (group >> i & 1) {
			warp[i].from++;
			warp[i].step = c->steps;
			warp[i].together = n;
			warp[i].parted = 0;
		}
}

static void drain(PmEmuCounter *c, int w, uint32_t live)
{
	Lane *warp = &c->lane[w * LANES];
	uint32_t group;

	while ((group = choose(warp, live)) != 0)
		take_step(c, warp, group);
	for (int i = 0; i < LANES; i++) {
		Lane *l = &warp[i];

		if (l->from && l->to > l->from)
			memmove(l->ev, l->ev + l->from, (l->to - l->from) * sizeof *l->ev);
		l->to -= l->from;
		l->from = 0;
	}
}

/* ---- what threads tell ---- */

static void tell(PmEmuRun *r, PmEmuCounter *c, Event e)
{
	Lane *l = &c->lane[r->s.cur];

	e.depth = (uint16_t)l->depth;
	l->ev[l->to++] = e;
	c->events++;
	if (l->to == EVENTS)
		pm__emu_sched_hold(&r->s);
}

/* Wider than a GPU's instructions, or not aligned to its size: in pieces, each a place of its own. */
static void tell_in_pieces(PmEmuRun *r, PmEmuCounter *c, int what, unsigned n, uint64_t at, uint32_t pc)
{
	for (unsigned k = 0, piece; n; n -= piece, at += piece, k++) {
		for (piece = PIECE; piece > n || at % piece; piece /= 2)
			;
		tell(r, c,
		     (Event){ .pc = pc - (k < 4 ? k : 4),
			      .what = (uint8_t)what,
			      .n = (uint8_t)piece,
			      .at = at });
	}
}

static void did(int what, unsigned n, const void *p, const void *pc)
{
	PmEmuRun *r = pm__emu_run_of(pm__emu_running);
	PmEmuCounter *c = r ? r->counter : NULL;
	uint64_t at = (uintptr_t)p;
	uint32_t place = c && pc ? (uint32_t)((const unsigned char *)pc - c->base) : 0;

	if (!c)
		return;
	if (what == PM_EMU_DID_ENTER) {
		c->lane[r->s.cur].depth++;
	} else if (what == PM_EMU_DID_LEAVE) {
		c->lane[r->s.cur].depth -= c->lane[r->s.cur].depth > 0;
	} else if (what == PM_EMU_DID_BLOCK) {
		tell(r, c, (Event){ .pc = place, .what = PM_EMU_DID_BLOCK });
	} else if (is_shared(c, at) || buffer_of(c, at)) {
		tell_in_pieces(r, c, what, n, at, place);
	}
}

void pm__emu_count_wait(PmEmuRun *r, int collective, uint32_t mask, const void *pc)
{
	PmEmuCounter *c = r->counter;

	if (c && c->tally->on)
		tell(r, c,
		     (Event){ .pc = (uint32_t)((const unsigned char *)pc - c->base),
			      .what = collective ? PM_EMU_DID_COLLECTIVE : PM_EMU_DID_BARRIER,
			      .at = mask });
}

int pm__emu_count_full(const PmEmuRun *r, int thread)
{
	return r->counter->lane[thread].to == EVENTS;
}

void pm__emu_count_drain(PmEmuRun *r)
{
	for (int w = 0; r->counter && w < (r->s.n + LANES - 1) / LANES; w++)
		drain(r->counter, w, r->s.live[w]);
}

/* ---- launches and blocks ---- */

PmEmuCounter *pm__emu_counter_new(void *so, const void *object, size_t n)
{
	PmEmuTally *tally = dlsym(so, "pm_emu_tally");
	PmEmuCounter *c;
	Dl_info where;

	if (!tally || !dladdr(tally, &where))
		return NULL; /* compiled without */
	c = pm_xcalloc(1, sizeof *c);
	c->tally = tally;
	c->tally->did = did;
	c->base = where.dli_fbase;
	c->lines = pm__emu_lines_read(object, n);
	return c;
}

static void drop_launch(PmEmuCounter *c)
{
	for (size_t i = 0; i < c->buffers.n; i++)
		free(c->buffers.v[i].seen);
	PM_VEC_RELEASE(&c->buffers);
	pm__emu_reuse_release(&c->l1);
	for (int i = 0; i < PM_EMU_MAX_THREADS; i++) {
		free(c->lane[i].ev);
		c->lane[i].ev = NULL;
	}
	c->out = NULL;
	c->tally->on = 0;
}

void pm__emu_counter_free(PmEmuCounter *c)
{
	if (!c)
		return;
	drop_launch(c);
	pm__emu_lines_free(c->lines);
	free(c);
}

void pm__emu_count_buffer(PmEmuCounter *c, const void *p, int64_t bytes)
{
	Buffer b = { .from = (uintptr_t)p, .to = (uintptr_t)p + (uint64_t)bytes };

	if (!c->out || bytes <= 0 || buffer_of(c, b.from))
		return;
	b.seen = pm_xcalloc((size_t)bytes / PM_COUNT_SECTOR / 8 + 2, 1);
	PM_VEC_PUSH(&c->buffers, b);
}

void pm__emu_count_begin(PmEmuRun *r, PmLaunchCounts *out, uint64_t blocks, int threads)
{
	PmEmuCounter *c = r->counter;
	const PmEmuModule *m = r->s.module;

	drop_launch(c);
	if (!out)
		return;
	c->out = out;
	out->of_blocks = blocks;
	c->events = c->steps = 0;
	memset(c->site, 0, sizeof c->site);
	c->shared = (uintptr_t)m->shared;
	c->shared_end = (uintptr_t)m->shared_end;
	c->dyn = (uintptr_t)r->s.dyn;
	c->dyn_end = c->dyn + r->smem;
	out->shared_bytes = c->shared_end - c->shared + r->smem;
	c->next = 0;
	for (int i = 0; i < threads; i++)
		c->lane[i].ev = pm_xmalloc(EVENTS * sizeof *c->lane[i].ev);
}

/* Number k of those that are counted, spread over the n blocks, the first and the last among them. */
static uint64_t chosen(uint64_t k, uint64_t n)
{
	return n <= PM_COUNT_BLOCKS ? k : k * (n - 1) / (PM_COUNT_BLOCKS - 1);
}

/* Sectors that a block's part of L1 holds beside its shared memory. */
static uint64_t room_of_l1(const PmEmuCounter *c, int threads)
{
	uint64_t part = (uint64_t)PM_COUNT_L1_OF_THREAD *
			(uint64_t)(threads > PM_COUNT_L1_THREADS ? threads : PM_COUNT_L1_THREADS);
	uint64_t shared = c->out->shared_bytes;

	return part > shared ? (part - shared) / PM_COUNT_SECTOR : 0;
}

void pm__emu_count_block(PmEmuRun *r, uint64_t k, uint64_t n)
{
	PmEmuCounter *c = r->counter;

	if (!c)
		return;
	c->tally->on = 0;
	c->tally->quiet = 0;
	if (!c->out || c->next >= PM_COUNT_BLOCKS || chosen(c->next, n) != k)
		return;
	c->next++;
	if (c->events > MOST) {
		c->out->stopped = 1;
		return;
	}
	c->out->blocks++;
	c->tally->on = 1;
	pm__emu_reuse_begin(&c->l1, room_of_l1(c, r->s.n));
	for (int i = 0; i < r->s.n; i++) {
		Lane *l = &c->lane[i];

		l->from = l->to = l->depth = 0;
		l->step = 0;
		l->together = 0;
		l->parted = 1; /* nothing was before */
	}
}

void pm__emu_count_block_end(PmEmuRun *r)
{
	if (r->counter && r->counter->tally->on)
		pm__emu_count_drain(r);
}

/* ---- the places that cost most ---- */

static double cost(const PmCountSite *s)
{
	/* A pass of shared memory and 4 sectors of the L1 cache take the same time. */
	return s->shared ? 4 * (double)(s->bank.passes - s->bank.ideal)
			 : (double)s->global.sectors - (double)s->global.ideal;
}

static int by_cost(const void *a, const void *b)
{
	const PmCountSite *x = a, *y = b;
	double p = cost(x), q = cost(y);

	if (p != q)
		return p < q ? 1 : -1;
	if (x->global.sectors + x->bank.passes != y->global.sectors + y->bank.passes)
		return x->global.sectors + x->bank.passes < y->global.sectors + y->bank.passes ? 1 : -1;
	if (x->line != y->line || x->column != y->column)
		return x->line != y->line ? x->line - y->line : x->column - y->column;
	return strcmp(x->file, y->file);
}

static int alike(const PmCountSite *a, const PmCountSite *b)
{
	return a->line == b->line && a->column == b->column && a->shared == b->shared && a->kind == b->kind &&
	       a->size == b->size && !strcmp(a->file, b->file);
}

static void add(PmCountSite *to, const PmCountSite *s)
{
	to->global.requests += s->global.requests;
	to->global.sectors += s->global.sectors;
	to->global.ideal += s->global.ideal;
	to->global.bytes += s->global.bytes;
	to->global.passes += s->global.passes;
	to->bank.requests += s->bank.requests;
	to->bank.passes += s->bank.passes;
	to->bank.ideal += s->bank.ideal;
}

/* What the counted blocks asked of L2 stands for all blocks. */
static void sum_dram(const PmEmuCounter *c)
{
	double times = c->out->blocks ? (double)c->out->of_blocks / (double)c->out->blocks : 0;

	for (size_t i = 0; i < c->buffers.n; i++) {
		const Buffer *b = &c->buffers.v[i];
		double asked = (double)b->asked * times;
		uint64_t all = (b->to - 1) / PM_COUNT_SECTOR - b->from / PM_COUNT_SECTOR + 1;

		c->out->dram_sectors += asked < (double)all ? (uint64_t)asked : all;
	}
}

void pm__emu_count_end(PmEmuRun *r, const char *own)
{
	PmEmuCounter *c = r->counter;
	PM_VEC(PmCountSite) all = { 0 };

	for (int i = 0; c->out && i < SITES; i++) {
		const Site *s = &c->site[i];
		PmCountSite t = { .shared = s->shared,
				  .kind = s->what == PM_EMU_DID_READ ? PM_COUNT_LOAD : PM_COUNT_STORE,
				  .size = s->n,
				  .global = s->global,
				  .bank = s->bank };
		const char *file;
		size_t k = 0;

		if (!s->used)
			continue;
		t.line = pm__emu_lines_find(c->lines, s->pc - 1, own, &file, &t.column);
		snprintf(t.file, sizeof t.file, "%s", file);
		while (k < all.n && !alike(&all.v[k], &t))
			k++;
		if (k < all.n)
			add(&all.v[k], &t);
		else
			PM_VEC_PUSH(&all, t);
	}
	if (all.n)
		qsort(all.v, all.n, sizeof *all.v, by_cost);
	if (c->out) {
		sum_dram(c);
		c->out->n_all_sites = (int)all.n;
		c->out->n_sites = all.n < PM_COUNT_SITES ? (int)all.n : PM_COUNT_SITES;
		if (all.n)
			memcpy(c->out->site, all.v, (size_t)c->out->n_sites * sizeof *all.v);
	}
	PM_VEC_RELEASE(&all);
	drop_launch(c);
}
