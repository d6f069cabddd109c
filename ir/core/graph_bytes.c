/* SPDX-License-Identifier: Apache-2.0 */
/* graph_bytes.c - a graph as it lies in memory, and back. */
#include "ir/core/graph_bytes.h"

#include "ir/core/graph_priv.h"

#include <stdlib.h>
#include <string.h>

/* What a graph is besides its lists. */
typedef struct Head {
	uint64_t budget, symbol_steps, n_names, n_types, n_attrs, n_meta;
	uint32_t name, n_fresh;
	int32_t names_later, order_dirty;
} Head;

/* A blob, before its location and its data. */
typedef struct BlobHead {
	uint64_t size;
	int64_t offset;
	uint32_t present, has_data, has_location;
} BlobHead;

/* ---- to bytes ---- */

static void put_text(PmStr *out, const char *s, size_t n)
{
	uint32_t len = (uint32_t)n;

	pm_str_addn(out, &len, sizeof len);
	pm_str_addn(out, s, n);
}

static void put_list(PmStr *out, const void *v, size_t n, size_t size)
{
	uint64_t count = n;

	pm_str_addn(out, &count, sizeof count);
	if (n)
		pm_str_addn(out, v, n * size);
}

#define PUT_VEC(out, vec) put_list((out), (vec)->v, (vec)->n, sizeof *(vec)->v)

static void put_blob(PmStr *out, const PmBlob *b, size_t max_const)
{
	BlobHead h = { 0 };

	if (b) {
		h.present = 1;
		h.size = b->size;
		h.offset = b->offset;
		h.has_data = b->data && b->size <= max_const;
		h.has_location = b->location != NULL;
	}
	pm_str_addn(out, &h, sizeof h);
	if (h.has_location)
		put_text(out, b->location, strlen(b->location));
	if (h.has_data)
		pm_str_addn(out, b->data, b->size);
}

static void put_attr(const PmGraph *g, const PmAttr *a, PmStr *out)
{
	uint32_t name = pm_intern_find(g->names, a->name, strlen(a->name));
	PmStr inner = PM_STR_INIT;

	pm_str_addn(out, &name, sizeof name);
	pm_str_addn(out, a, offsetof(PmAttr, type));
	if (a->kind == PM_ATTR_STRING) {
		put_text(out, a->s, a->n);
	} else if (a->kind == PM_ATTR_INTS) {
		put_list(out, a->ints, a->n, sizeof *a->ints);
	} else if (a->kind == PM_ATTR_FLOATS) {
		put_list(out, a->floats, a->n, sizeof *a->floats);
	} else if (a->kind == PM_ATTR_STRINGS) {
		for (size_t i = 0; i < a->n; i++)
			put_text(out, a->strings[i], strlen(a->strings[i]));
	} else if (a->kind == PM_ATTR_TENSOR) {
		pm_str_addn(out, &a->type, sizeof a->type);
		put_blob(out, a->blob, SIZE_MAX);
	} else if (a->kind == PM_ATTR_GRAPH) {
		if (a->graph) /* a node may have let it go */
			pm_graph_to_bytes(a->graph, SIZE_MAX, &inner);
		put_list(out, inner.s, inner.len, 1);
	}
	pm_str_release(&inner);
}

static void put_values(const PmGraph *g, size_t max_const, PmStr *out)
{
	PUT_VEC(out, &g->values);
	for (size_t i = 0; i < g->values.n; i++)
		if (g->values.v[i].blob) /* the pointer says that one follows */
			put_blob(out, g->values.v[i].blob, max_const);
}

static void put_nodes(const PmGraph *g, PmStr *out)
{
	PUT_VEC(out, &g->nodes);
	for (size_t i = 0; i < g->nodes.n; i++)
		if (g->nodes.v[i].name)
			put_text(out, g->nodes.v[i].name, strlen(g->nodes.v[i].name));
}

void pm_graph_to_bytes(const PmGraph *g, size_t max_const, PmStr *out)
{
	Head h = { .budget = g->budget,
		   .symbol_steps = g->symbol_steps,
		   .n_names = pm_intern_n(g->names),
		   .n_types = g->types.v.n,
		   .n_attrs = g->attrs.v.n,
		   .n_meta = g->meta.n,
		   .name = g->name,
		   .n_fresh = g->n_fresh,
		   .names_later = g->names_later,
		   .order_dirty = g->order_dirty };

	pm_str_addn(out, &h, sizeof h);
	for (uint32_t i = 0; i < h.n_names; i++)
		put_text(out, pm_intern_text(g->names, i), pm_intern_len(g->names, i));
	for (size_t i = 0; i < g->types.v.n; i++)
		pm_str_addn(out, g->types.v.v[i], sizeof(PmType));
	for (size_t i = 0; i < g->attrs.v.n; i++)
		put_attr(g, g->attrs.v.v[i], out);
	put_values(g, max_const, out);
	put_nodes(g, out);
	PUT_VEC(out, &g->slots);
	PUT_VEC(out, &g->attr_ids);
	PUT_VEC(out, &g->order);
	PUT_VEC(out, &g->inputs);
	PUT_VEC(out, &g->outputs);
	PUT_VEC(out, &g->by_name);
	PUT_VEC(out, &g->symbols);
	PUT_VEC(out, &g->symbol_of);
	for (size_t i = 0; i < g->meta.n; i++) {
		put_text(out, g->meta.v[i].key, strlen(g->meta.v[i].key));
		put_text(out, g->meta.v[i].value, strlen(g->meta.v[i].value));
	}
}

/* ---- and back ---- */

typedef struct Reader {
	const char *p;
	size_t left;
	int bad;
} Reader;

static const void *take(Reader *r, size_t n)
{
	const char *p = r->p;

	if (r->bad || n > r->left) {
		r->bad = 1;
		return NULL;
	}
	r->p += n;
	r->left -= n;
	return p;
}

static void get(Reader *r, void *to, size_t n)
{
	const void *p = take(r, n);

	if (p && n)
		memcpy(to, p, n);
	else
		memset(to, 0, n);
}

static const char *get_text(Reader *r, size_t *n)
{
	uint32_t len = 0;
	const char *p;

	get(r, &len, sizeof len);
	p = take(r, len);
	*n = p ? len : 0;
	return p ? p : "";
}

/* The bytes of a list of *n things; NULL when it has none. */
static const void *get_list(Reader *r, size_t size, size_t *n)
{
	uint64_t count = 0;

	get(r, &count, sizeof count);
	if (count > r->left / size)
		r->bad = 1;
	*n = r->bad ? 0 : count;
	return *n ? take(r, *n * size) : NULL;
}

/* In place of what the list held. */
#define GET_VEC(r, vec)                                                                                      \
	do {                                                                                                 \
		size_t get_n_;                                                                               \
		const void *get_p_ = get_list((r), sizeof *(vec)->v, &get_n_);                               \
		PM_VEC_RESERVE((vec), get_n_);                                                               \
		if (get_p_)                                                                                  \
			memcpy((vec)->v, get_p_, get_n_ * sizeof *(vec)->v);                                 \
		(vec)->n = get_n_;                                                                           \
	} while (0)

static void drop_data(PmBlob *b)
{
	free(b->owner);
}

static PmBlob *get_blob(Reader *r)
{
	const char *location = "", *data = NULL;
	char *text;
	BlobHead h;
	size_t n = 0;
	PmBlob *b;

	get(r, &h, sizeof h);
	if (!h.present)
		return NULL;
	if (h.has_location)
		location = get_text(r, &n);
	if (h.has_data)
		data = take(r, h.size);
	text = pm_xcalloc(n + 1, 1);
	memcpy(text, location, n);
	b = pm_blob_absent(text, h.offset, h.size);
	free(text);
	if (!h.has_location)
		b->location = NULL;
	if (data) {
		b->owner = pm_xmalloc(h.size + 1);
		memcpy(b->owner, data, h.size);
		b->data = b->owner;
		b->drop = drop_data;
	}
	return b;
}

static void get_names(Reader *r, PmGraph *g, uint64_t count)
{
	pm_intern_reserve(g->names, count < r->left / sizeof(uint32_t) ? count : 0);
	for (uint64_t i = 0; i < count && !r->bad; i++) {
		size_t n;
		const char *s = get_text(r, &n);

		pm_intern(g->names, s, n);
	}
}

/* Adds the next attribute, which owns what it has from the start. */
static void get_attr(Reader *r, PmGraph *g)
{
	const char **strings = NULL;
	PmAttr a = { 0 };
	uint32_t name = 0;
	PmErr ignored;

	pm_err_init(&ignored);
	get(r, &name, sizeof name);
	get(r, &a, offsetof(PmAttr, type));
	a.name = pm_intern_text(g->names, name);
	a.s = NULL;
	a.ints = NULL;
	a.floats = NULL;
	a.strings = NULL;
	a.blob = NULL;
	a.graph = NULL;
	if (a.kind == PM_ATTR_STRING) {
		a.s = get_text(r, &a.n);
	} else if (a.kind == PM_ATTR_INTS) {
		a.ints = get_list(r, sizeof *a.ints, &a.n);
	} else if (a.kind == PM_ATTR_FLOATS) {
		a.floats = get_list(r, sizeof *a.floats, &a.n);
	} else if (a.kind == PM_ATTR_STRINGS) {
		if (a.n > r->left / sizeof(uint32_t))
			r->bad = 1;
		a.n = r->bad ? 0 : a.n;
		strings = pm_xcalloc(a.n + 1, sizeof *strings);
		for (size_t i = 0, n; i < a.n; i++) {
			const char *s = get_text(r, &n);

			strings[i] = pm_arena_strndup(g->arena, s, n);
		}
		a.strings = strings;
	} else if (a.kind == PM_ATTR_TENSOR) {
		get(r, &a.type, sizeof a.type);
		a.blob = get_blob(r);
	} else if (a.kind == PM_ATTR_GRAPH) {
		size_t n;
		const void *p = get_list(r, 1, &n);

		if (p && pm_graph_from_bytes(p, n, &a.graph, &ignored))
			r->bad = 1;
	}
	pm__graph_attr(g, &a);
	free(strings);
}

static void get_values(Reader *r, PmGraph *g)
{
	GET_VEC(r, &g->values);
	for (size_t i = 0; i < g->values.n; i++) {
		int follows = g->values.v[i].blob != NULL;

		g->values.v[i].blob = NULL; /* of another process */
		if (follows)
			g->values.v[i].blob = get_blob(r);
	}
}

static void get_nodes(Reader *r, PmGraph *g)
{
	GET_VEC(r, &g->nodes);
	for (size_t i = 0; i < g->nodes.n; i++) {
		NodeRec *n = &g->nodes.v[i];
		const char *s;
		size_t len;

		if (!n->name)
			continue;
		s = get_text(r, &len);
		n->name = pm_arena_strndup(g->arena, s, len);
	}
}

static void get_meta(Reader *r, PmGraph *g, uint64_t count)
{
	for (uint64_t i = 0; i < count && !r->bad; i++) {
		size_t n, m;
		const char *key = get_text(r, &n), *value = get_text(r, &m);
		const char *k = pm_intern_text(g->names, pm_intern(g->names, key, n));

		PM_VEC_PUSH(&g->meta, ((Meta){ k, pm_arena_strndup(g->arena, value, m) }));
	}
}

static void get_graph(Reader *r, PmGraph *g)
{
	Head h;
	PmType t;

	get(r, &h, sizeof h);
	g->budget = h.budget;
	g->symbol_steps = h.symbol_steps;
	g->name = h.name;
	g->n_fresh = h.n_fresh;
	g->names_later = h.names_later;
	g->order_dirty = h.order_dirty;
	get_names(r, g, h.n_names);
	for (uint64_t i = 0; i < h.n_types && !r->bad; i++) {
		get(r, &t, sizeof t);
		pm__graph_type(g, &t);
	}
	for (uint64_t i = 0; i < h.n_attrs && !r->bad; i++)
		get_attr(r, g);
	get_values(r, g);
	get_nodes(r, g);
	GET_VEC(r, &g->slots);
	GET_VEC(r, &g->attr_ids);
	GET_VEC(r, &g->order);
	GET_VEC(r, &g->inputs);
	GET_VEC(r, &g->outputs);
	GET_VEC(r, &g->by_name);
	GET_VEC(r, &g->symbols);
	GET_VEC(r, &g->symbol_of);
	get_meta(r, g, h.n_meta);
}

PmStatus pm_graph_from_bytes(const void *p, size_t n, PmGraph **out, PmErr *err)
{
	Reader r = { p, n, 0 };
	PmGraph *g = pm_graph_new(0);

	get_graph(&r, g);
	if (r.bad || r.left) {
		pm_graph_free(g);
		return pm_err(err, PM_E_INVALID,
			      "A graph of %zu bytes from another process is cut short or damaged.", n);
	}
	*out = g;
	return PM_OK;
}
