/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - memory that is freed all at once, with a byte budget; and checked heap calls.
 *
 * In a hostile build (PM_HOSTILE) blocks are tiny, growing always moves and freed bytes are overwritten,
 * so that code which keeps a pointer for too long fails in the tests and not at a user's desk.
 */
#include "base/core/arena.h"

#include "base/core/err.h"

#include <stdlib.h>
#include <string.h>

#ifdef PM_HOSTILE
#include <malloc.h>
#endif

enum {
	ALIGN = 16,
#ifdef PM_HOSTILE
	FIRST_BLOCK = 64,
	LAST_BLOCK = 64,
	ALONE = 16,
#else
	FIRST_BLOCK = 128, /* small arenas are made for single nodes; a block is an eighth of all before */
	LAST_BLOCK = 64 * 1024,
	ALONE = 96, /* a request that is larger, and not small beside a block, gets a block of its own */
#endif
	POISON = 0xdb,
};

typedef struct Block { /* the data follow, aligned as malloc's memory and this header are */
	struct Block *next;
	size_t used, cap; /* bytes of data: those between the two are free */
	size_t full;      /* cap of an empty block: texts are put at the end, where no alignment is lost */
} Block;

_Static_assert(sizeof(Block) % ALIGN == 0 && _Alignof(max_align_t) >= ALIGN, "blocks are not aligned");

struct PmArena {
	Block *blocks; /* the first one is being filled */
	size_t budget, used;
	size_t total;      /* bytes of all blocks */
	size_t next_block; /* bytes of the next ordinary block */
};

static void poison(void *p, size_t n)
{
#ifdef PM_HOSTILE
	volatile unsigned char *b = p; /* volatile: or the stores before free() are optimised away */

	while (n--)
		b[n] = POISON;
#else
	(void)p;
	(void)n;
#endif
}

PmArena *pm_arena_new(size_t budget)
{
	PmArena *a = pm_xcalloc(1, sizeof *a);

	a->budget = budget ? budget : SIZE_MAX;
	a->next_block = FIRST_BLOCK;
	return a;
}

static unsigned char *data(Block *b)
{
	return (unsigned char *)(b + 1);
}

static void release_blocks(Block *b)
{
	Block *next;

	for (; b; b = next) {
		next = b->next;
		poison(data(b), b->full);
		free(b);
	}
}

void pm_arena_free(PmArena *a)
{
	if (!a)
		return;
	release_blocks(a->blocks);
	free(a);
}

void pm_arena_reset(PmArena *a)
{
	Block *keep = NULL, **at;

#ifndef PM_HOSTILE
	if (a->blocks && a->blocks->next) /* next time one is enough */
		a->next_block = a->total < LAST_BLOCK ? a->total : LAST_BLOCK;
	/* One of ordinary size: what a single large request took is given back. */
	for (at = &a->blocks; *at && ((*at)->full > LAST_BLOCK || (*at)->full < a->next_block);)
		at = &(*at)->next;
	if ((keep = *at)) {
		*at = keep->next;
		memset(data(keep), 0, keep->used);
		memset(data(keep) + keep->cap, 0, keep->full - keep->cap);
		keep->next = NULL;
		keep->used = 0;
		keep->cap = keep->full;
	}
#else
	(void)at;
#endif
	release_blocks(a->blocks);
	a->blocks = keep;
	a->total = keep ? keep->full : 0;
	a->used = 0;
}

static Block *block_new(size_t cap)
{
	Block *b;

	if (cap > SIZE_MAX - sizeof *b)
		PM_BUG("arena block of %zu bytes", cap);
	b = pm_xcalloc(1, sizeof *b + cap);
	b->cap = b->full = cap;
	return b;
}

/* A block with room for `want` bytes, at the head of the list or next to it. */
static Block *room(PmArena *a, size_t want)
{
	Block *b = a->blocks, *fresh;

	if (b && want <= b->cap - b->used)
		return b;
	fresh = block_new(want > a->next_block / 4 && want > ALONE ? want : a->next_block);
	a->total += fresh->cap;
	if (a->total / 8 > a->next_block)
		a->next_block = a->total / 8 < LAST_BLOCK ? a->total / 8 : LAST_BLOCK;
	if (b && b->cap - b->used > fresh->cap - want) { /* keep filling the roomier one */
		fresh->next = b->next;
		b->next = fresh;
	} else {
		fresh->next = b;
		a->blocks = fresh;
	}
	return fresh;
}

/* Whether the budget allows that many bytes; if so, `charged` are counted. */
static int charge(PmArena *a, size_t bytes, size_t charged)
{
	if (bytes > a->budget - a->used || bytes > SIZE_MAX / 2)
		return 0;
	a->used = charged > a->budget - a->used ? a->budget : a->used + charged;
	return 1;
}

void *pm_arena_alloc(PmArena *a, size_t size)
{
	size_t want = size ? size : 1,
	       rounded = want > SIZE_MAX / 2 ? want : (want + ALIGN - 1) / ALIGN * ALIGN;
	Block *b;
	void *p;

	/* Charged rounded up to the alignment, so that many tiny requests cannot outgrow the budget. */
	if (!charge(a, want, rounded))
		return NULL;
	b = room(a, rounded);
	p = data(b) + b->used;
	b->used += rounded;
	return p;
}

char *pm_arena_strndup(PmArena *a, const char *s, size_t len)
{
	Block *b;
	char *p;

	if (len == SIZE_MAX || !charge(a, len + 1, len + 1))
		return NULL;
	b = room(a, len + 1);
	b->cap -= len + 1;
	p = (char *)data(b) + b->cap;
	if (len)
		memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *pm_arena_strdup(PmArena *a, const char *s)
{
	return pm_arena_strndup(a, s, strlen(s));
}

size_t pm_arena_used(const PmArena *a)
{
	return a->used;
}

void *pm_xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		PM_BUG("out of memory for %zu bytes", size);
	return p;
}

void *pm_xcalloc(size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (!pm_mul_size(n, size, &bytes))
		PM_BUG("%zu elements of %zu bytes do not fit in memory", n, size);
	p = calloc(bytes ? bytes : 1, 1);
	if (!p)
		PM_BUG("out of memory for %zu bytes", bytes);
	return p;
}

void *pm_xrealloc(void *p, size_t n, size_t size)
{
	size_t bytes;
	void *q;

	if (!pm_mul_size(n, size, &bytes))
		PM_BUG("%zu elements of %zu bytes do not fit in memory", n, size);
#ifdef PM_HOSTILE
	q = pm_xmalloc(bytes);
	if (p) {
		size_t old = malloc_usable_size(p);

		memcpy(q, p, old < bytes ? old : bytes);
		poison(p, old);
		free(p);
	}
#else
	q = realloc(p, bytes ? bytes : 1);
	if (!q)
		PM_BUG("out of memory for %zu bytes", bytes);
#endif
	return q;
}

char *pm_xstrdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(pm_xmalloc(n), s, n);
}

int pm_mul_i64(int64_t a, int64_t b, int64_t *out)
{
	int64_t r;

	if (__builtin_mul_overflow(a, b, &r))
		return 0;
	*out = r;
	return 1;
}

int pm_add_i64(int64_t a, int64_t b, int64_t *out)
{
	int64_t r;

	if (__builtin_add_overflow(a, b, &r))
		return 0;
	*out = r;
	return 1;
}

int pm_mul_size(size_t a, size_t b, size_t *out)
{
	size_t r;

	if (__builtin_mul_overflow(a, b, &r))
		return 0;
	*out = r;
	return 1;
}
