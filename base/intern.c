/* intern.c - equal strings get equal ids: an open-addressing table over texts kept in an arena. */
#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"

#include <string.h>

enum {
#ifdef PM_HOSTILE
	FIRST_SLOTS = 2,
#else
	FIRST_SLOTS = 64,
#endif
};

typedef struct Entry {
	const char *s; /* terminated, in the arena */
	size_t n;
	uint64_t hash;
} Entry;

typedef struct Slot {
	uint32_t id;  /* + 1, or 0 = free */
	uint32_t top; /* the upper half of the text's hash: other entries are passed without a look at them */
} Slot;

struct PmIntern {
	PmArena *text;         /* NULL: texts are borrowed */
	PM_VEC(Entry) entries; /* by id */
	Slot *slots;           /* never more than half full */
	size_t n_slots;        /* a power of two */
};

static void place(PmIntern *t, uint32_t id)
{
	size_t i = (size_t)t->entries.v[id].hash & (t->n_slots - 1);

	while (t->slots[i].id)
		i = (i + 1) & (t->n_slots - 1);
	t->slots[i] = (Slot){ id + 1, (uint32_t)(t->entries.v[id].hash >> 32) };
}

static uint32_t add(PmIntern *t, const char *s, size_t n, uint64_t hash)
{
	Entry e = { t->text ? pm_arena_strndup(t->text, s, n) : s, n, hash };
	size_t i;

	if (!e.s || t->entries.n >= UINT32_MAX - 1)
		PM_BUG("out of room for interned text after %zu strings", t->entries.n);
	PM_VEC_PUSH(&t->entries, e);
	if (t->entries.n * 2 <= t->n_slots) {
		place(t, (uint32_t)(t->entries.n - 1));
		return (uint32_t)(t->entries.n - 1);
	}
	free(t->slots);
	t->n_slots = t->n_slots ? t->n_slots * 2 : FIRST_SLOTS;
	t->slots = pm_xcalloc(t->n_slots, sizeof *t->slots);
	for (i = 0; i < t->entries.n; i++)
		place(t, (uint32_t)i);
	return (uint32_t)(t->entries.n - 1);
}

static PmIntern *with_text(PmArena *text)
{
	PmIntern *t = pm_xcalloc(1, sizeof *t);

	t->text = text;
	add(t, "", 0, pm_hash_bytes("", 0));
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

static uint32_t find(const PmIntern *t, const char *s, size_t n, uint64_t hash)
{
	size_t i = (size_t)hash & (t->n_slots - 1);

	for (; t->slots[i].id; i = (i + 1) & (t->n_slots - 1)) {
		const Entry *e = &t->entries.v[t->slots[i].id - 1];

		if (t->slots[i].top == (uint32_t)(hash >> 32) && e->hash == hash && e->n == n &&
		    (n == 0 || memcmp(e->s, s, n) == 0))
			return t->slots[i].id - 1;
	}
	return UINT32_MAX;
}

uint32_t pm_intern(PmIntern *t, const char *s, size_t n)
{
	uint64_t hash = pm_hash_bytes(s, n);
	uint32_t id = find(t, s, n, hash);

	return id != UINT32_MAX ? id : add(t, s, n, hash);
}

uint32_t pm_intern_find(const PmIntern *t, const char *s, size_t n)
{
	return find(t, s, n, pm_hash_bytes(s, n));
}

const char *pm_intern_text(const PmIntern *t, uint32_t id)
{
	return id < t->entries.n ? t->entries.v[id].s : "";
}
