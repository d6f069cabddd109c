/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory that is freed all at once, with a byte budget; and checked heap calls.
 *
 * A true malloc failure aborts the program (a batch tool cannot do better); a budget overrun is the
 * recoverable case: pm_arena_alloc returns NULL and the owner reports PM_E_LIMIT.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct PmArena PmArena;

/* A new arena that hands out at most `budget` bytes (0 = no limit). Returns owned. */
PmArena *pm_arena_new(size_t budget);
/* Frees the arena and everything in it; NULL is allowed. */
void pm_arena_free(PmArena *a);
/* Takes back all that was handed out, and keeps one block to start again with. */
void pm_arena_reset(PmArena *a);
/* `size` zeroed bytes aligned to 16, or NULL when the budget is used up. size 0 gives a unique pointer. */
void *pm_arena_alloc(PmArena *a, size_t size);
/* A terminated copy of `len` bytes / of a string, not aligned; NULL when over budget. */
char *pm_arena_strndup(PmArena *a, const char *s, size_t len);
char *pm_arena_strdup(PmArena *a, const char *s);
/* Bytes handed out so far. */
size_t pm_arena_used(const PmArena *a);

/* malloc family that aborts on failure; sizes are n * size with the product checked. */
void *pm_xmalloc(size_t size);
void *pm_xcalloc(size_t n, size_t size);

/* What a pointer to const points at, for two uses alone: its owner frees it, or it goes to an interface that
 * only reads it and does not say so. Everything else that drops const is refused by the compiler
 * (-Wcast-qual). */
static inline void *pm_unconst(const void *p)
{
	return (void *)(uintptr_t)p;
}
void *pm_xrealloc(void *p, size_t n, size_t size);
char *pm_xstrdup(const char *s);

/* *out = a * b (or a + b); returns false and leaves *out alone when the result does not fit. */
int pm_mul_i64(int64_t a, int64_t b, int64_t *out);
int pm_add_i64(int64_t a, int64_t b, int64_t *out);
int pm_mul_size(size_t a, size_t b, size_t *out);

#endif
