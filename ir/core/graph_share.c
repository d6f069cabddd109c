/* SPDX-License-Identifier: Apache-2.0 */
/* graph_share.c - types and attributes: a graph has few different ones, each is kept once.
 *
 * Values and nodes hold their numbers. What is kept is never changed or moved, so pointers to it last as long
 * as the graph. Tensor and graph attributes own something and belong to one node alone.
 */
#include "base/core/hash.h"
#include "ir/core/graph_priv.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 16 };

void pm__shared_release(PmShared *s)
{
	PM_VEC_RELEASE(&s->v);
	PM_VEC_RELEASE(&s->hash);
	free(s->slots);
	s->slots = NULL;
	s->n_slots = 0;
}

static void place(PmShared *s, uint32_t id)
{
	size_t i = s->hash.v[id] & (s->n_slots - 1);

	while (s->slots[i])
		i = (i + 1) & (s->n_slots - 1);
	s->slots[i] = id + 1;
}

static uint32_t add(PmShared *s, void *p, uint32_t hash)
{
	PM_VEC_PUSH(&s->v, p);
	PM_VEC_PUSH(&s->hash, hash);
	if (s->v.n * 2 <= s->n_slots) {
		place(s, (uint32_t)s->v.n - 1);
		return (uint32_t)s->v.n - 1;
	}
	free(s->slots);
	s->n_slots = s->n_slots ? s->n_slots * 2 : FIRST_SLOTS;
	s->slots = pm_xcalloc(s->n_slots, sizeof *s->slots);
	for (uint32_t i = 0; i < s->v.n; i++)
		place(s, i);
	return (uint32_t)s->v.n - 1;
}

/* The next entry with that hash after slot *at (start: hash); NULL when there is no more. */
static const void *next(const PmShared *s, uint32_t hash, size_t *at, uint32_t *id)
{
	size_t i = *at;

	for (; s->n_slots && s->slots[i & (s->n_slots - 1)]; i++) {
		*id = s->slots[i & (s->n_slots - 1)] - 1;
		*at = i + 1;
		if (s->hash.v[*id] == hash)
			return s->v.v[*id];
	}
	return NULL;
}

static uint32_t fold(uint64_t h)
{
	return (uint32_t)(h ^ h >> 32);
}

/* ---- types ---- */

static size_t type_bytes(const PmType *t)
{
	return offsetof(PmType, dim) + (t->rank > 0 ? (size_t)t->rank * sizeof *t->dim : 0);
}

uint32_t pm__graph_type(PmGraph *g, const PmType *t)
{
	size_t n = type_bytes(t);
	uint32_t hash = fold(pm_hash_bytes(t, n)), id;
	size_t at = hash;
	const PmType *have;
	PmType *fresh;

	while ((have = next(&g->types, hash, &at, &id)) != NULL) {
		if (type_bytes(have) == n && memcmp(have, t, n) == 0)
			return id;
	}
	fresh = pm_arena_alloc(g->arena, sizeof *fresh);
	memcpy(fresh, t, n);
	return add(&g->types, fresh, hash);
}

/* ---- attributes ---- */

/* What the attribute is besides name and kind. */
static const void *payload(const PmAttr *a, size_t *bytes)
{
	switch (a->kind) {
	case PM_ATTR_INT:
		*bytes = sizeof a->i;
		return &a->i;
	case PM_ATTR_FLOAT:
		*bytes = sizeof a->f;
		return &a->f;
	case PM_ATTR_STRING:
		*bytes = a->n;
		return a->s;
	case PM_ATTR_INTS:
		*bytes = a->n * sizeof *a->ints;
		return a->ints;
	case PM_ATTR_FLOATS:
		*bytes = a->n * sizeof *a->floats;
		return a->floats;
	default:
		*bytes = 0;
		return "";
	}
}

static int is_shared(PmAttrKind kind)
{
	return kind == PM_ATTR_INT || kind == PM_ATTR_FLOAT || kind == PM_ATTR_STRING ||
	       kind == PM_ATTR_INTS || kind == PM_ATTR_FLOATS;
}

static int same_attr(const PmAttr *a, const PmAttr *b)
{
	size_t n, m;
	const void *p = payload(a, &n), *q = payload(b, &m);

	return a->name == b->name && a->kind == b->kind && n == m && (!n || memcmp(p, q, n) == 0);
}

/* A copy of n elements of `size` bytes in the graph's arena. */
static void *keep(PmGraph *g, const void *p, size_t n, size_t size)
{
	void *q = pm_arena_alloc(g->arena, n * size);

	if (n)
		memcpy(q, p, n * size);
	return q;
}

static PmAttr *keep_attr(PmGraph *g, const PmAttr *a)
{
	PmAttr *fresh = keep(g, a, 1, a->kind == PM_ATTR_TENSOR ? sizeof *a : offsetof(PmAttr, type));
	const char **strings;

	if (a->kind == PM_ATTR_STRING)
		fresh->s = pm_arena_strndup(g->arena, a->s, a->n);
	else if (a->kind == PM_ATTR_INTS)
		fresh->ints = keep(g, a->ints, a->n, sizeof *a->ints);
	else if (a->kind == PM_ATTR_FLOATS)
		fresh->floats = keep(g, a->floats, a->n, sizeof *a->floats);
	else if (a->kind == PM_ATTR_STRINGS) {
		strings = pm_arena_alloc(g->arena, a->n * sizeof *strings);
		for (size_t i = 0; i < a->n; i++)
			strings[i] = pm_arena_strdup(g->arena, a->strings[i]);
		fresh->strings = strings;
	}
	return fresh;
}

uint32_t pm__graph_attr(PmGraph *g, const PmAttr *a)
{
	uint32_t hash, id;
	const PmAttr *have;
	const void *p;
	size_t n, at;

	p = payload(a, &n);
	hash = fold(pm_hash_bytes(p, n) ^ (uintptr_t)a->name * UINT64_C(0x9e3779b97f4a7c15));
	at = hash;
	while (is_shared(a->kind) && (have = next(&g->attrs, hash, &at, &id)) != NULL) {
		if (same_attr(have, a))
			return id;
	}
	return add(&g->attrs, keep_attr(g, a), hash);
}

void pm__attr_release(PmGraph *g, uint32_t id)
{
	PmAttr *a = g->attrs.v.v[id];

	pm_blob_unref(a->blob);
	pm_graph_free(a->graph);
	a->blob = NULL;
	a->graph = NULL;
}
