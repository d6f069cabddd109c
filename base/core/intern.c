/* SPDX-License-Identifier: Apache-2.0 */
/* intern.c - equal strings get equal ids: an open-addressing table over texts kept in an arena. */
#include "base/core/arena.h"
#include "base/core/hash.h"
#include "base/core/str.h"
#include "base/core/vec.h"

#include <string.h>

enum {
#ifdef PM_HOSTILE
	FIRST_SLOTS = 4,
#else
	FIRST_SLOTS = 64,
#endif
};

typedef struct Entry {
	const char *s; /* terminated, in the arena */
	uint32_t n;
	uint32_t hash;
} Entry;

struct PmIntern {
	PmArena *text;         /* NULL: texts are borrowed */
	PM_VEC(Entry) entries; /* by id */
	uint32_t *slots;       /* id + 1, or 0 = free; never more than 3/4 full */
	size_t n_slots;        /* a power of two */
};

static size_t slot_of(const PmIntern *t, uint32_t hash)
{
	return (size_t)(hash * UINT32_C(0x9e3779b1)) & (t->n_slots - 1);
}

static void place(PmIntern *t, uint32_t id)
{
	size_t i = slot_of(t, t->entries.v[id].hash);

	while (t->slots[i])
		i = (i + 1) & (t->n_slots - 1);
	t->slots[i] = id + 1;
}

static void resize(PmIntern *t, size_t n_slots)
{
	free(t->slots);
	t->n_slots = n_slots;
	t->slots = pm_xcalloc(n_slots, sizeof *t->slots);
	for (size_t i = 0; i < t->entries.n; i++)
		place(t, (uint32_t)i);
}

void pm_intern_reserve(PmIntern *t, size_t n)
{
	size_t n_slots = t->n_slots;

	while (n_slots / 4 * 3 < n && n < UINT32_MAX)
		n_slots *= 2;
	PM_VEC_RESERVE(&t->entries, n);
	if (n_slots > t->n_slots)
		resize(t, n_slots);
}

static uint32_t add(PmIntern *t, const char *s, size_t n, uint32_t hash)
{
	Entry e = { t->text ? pm_arena_strndup(t->text, s, n) : s, (uint32_t)n, hash };

	if (!e.s || t->entries.n >= UINT32_MAX - 1 || n > UINT32_MAX)
		PM_BUG("out of room for interned text after %zu strings", t->entries.n);
	PM_VEC_PUSH(&t->entries, e);
	if (t->entries.n <= t->n_slots / 4 * 3)
		place(t, (uint32_t)(t->entries.n - 1));
	else
		resize(t, t->n_slots ? t->n_slots * 2 : FIRST_SLOTS);
	return (uint32_t)(t->entries.n - 1);
}

static uint32_t hash_of(const char *s, size_t n)
{
	return (uint32_t)(pm_hash_bytes(s, n) >> 32);
}

static PmIntern *with_text(PmArena *text)
{
	PmIntern *t = pm_xcalloc(1, sizeof *t);

	t->text = text;
	add(t, "", 0, hash_of("", 0));
	return t;
}

PmIntern *pm_intern_new(void)
{
	return with_text(pm_arena_new(0));
}

PmIntern *pm_intern_new_borrowing(void)
{
	return with_text(NULL);
}

void pm_intern_free(PmIntern *t)
{
	if (!t)
		return;
	pm_arena_free(t->text);
	PM_VEC_RELEASE(&t->entries);
	free(t->slots);
	free(t);
}

static uint32_t find(const PmIntern *t, const char *s, size_t n, uint32_t hash)
{
	size_t i = slot_of(t, hash);

	for (; t->slots[i]; i = (i + 1) & (t->n_slots - 1)) {
		const Entry *e = &t->entries.v[t->slots[i] - 1];

		if (e->hash == hash && e->n == n && (n == 0 || memcmp(e->s, s, n) == 0))
			return t->slots[i] - 1;
	}
	return UINT32_MAX;
}

uint32_t pm_intern(PmIntern *t, const char *s, size_t n)
{
	uint32_t hash = hash_of(s, n), id = find(t, s, n, hash);

	return id != UINT32_MAX ? id : add(t, s, n, hash);
}

uint32_t pm_intern_find(const PmIntern *t, const char *s, size_t n)
{
	return find(t, s, n, hash_of(s, n));
}

const char *pm_intern_text(const PmIntern *t, uint32_t id)
{
	return id < t->entries.n ? t->entries.v[id].s : "";
}

size_t pm_intern_n(const PmIntern *t)
{
	return t->entries.n;
}

size_t pm_intern_len(const PmIntern *t, uint32_t id)
{
	return id < t->entries.n ? t->entries.v[id].n : 0;
}
