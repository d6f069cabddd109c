/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import_order.c - names of a graph or function body: who defines them, who uses them, in what order. */
#include "ir/onnx/onnx_priv.h"
#include "ir/onnx/onnx_source.h"

#include <stdio.h>
#include <string.h>

static const char *text(const char *s)
{
	return s ? s : "";
}

/* Copies at most `max` bytes of a text; the caller's room is enough for them. */
static char *put(char *to, const char *s, size_t max)
{
	size_t n = strnlen(s, max);

	memcpy(to, s, n);
	return to + n;
}

/* Made for every node, in case it is needed: by hand, printf would take a tenth of the import's time. */
PmOnnxWhere pm__onnx_where(const Onnx__NodeProto *np, size_t index)
{
	const char *name = text(np->name), *quote = " '";
	char digits[24], *d = digits + sizeof digits - 1, *to;
	PmOnnxWhere w;

	if (!*name && np->n_output) {
		name = np->output[0];
		quote = " -> '";
	}
	*d = '\0';
	do {
		*--d = (char)('0' + index % 10);
		index /= 10;
	} while (index);
	to = put(w.s, "node ", 8);
	to = put(to, d, sizeof digits);
	to = put(to, " (", 2);
	to = put(to, text(np->op_type), 60);
	if (*name) {
		to = put(to, quote, 8);
		to = put(to, name, 100);
		*to++ = '\'';
	}
	*to++ = ')';
	*to = '\0';
	return w;
}

void pm__scope_init(PmOnnxScope *sc, const PmOnnxSource *source, PmIntern *names)
{
	memset(sc, 0, sizeof *sc);
	if (!names)
		names = sc->own_names = pm_intern_new_borrowing();
	sc->names = names;
	sc->source = sc->infos = source;
	PM_VEC_PUSH(&sc->v, (PmOnnxName){ .known = 1 }); /* "", an omitted operand */
}

void pm__scope_release(PmOnnxScope *sc)
{
	pm_intern_free(sc->own_names);
	PM_VEC_RELEASE(&sc->v);
	PM_VEC_RELEASE(&sc->finals);
}

uint32_t pm__scope_id(PmOnnxScope *sc, const char *name, size_t n)
{
	uint32_t id = pm_intern(sc->names, name, n);

	while (sc->v.n <= id)
		PM_VEC_PUSH(&sc->v, (PmOnnxName){ 0 });
	return id;
}

PmOnnxName *pm__scope_at(PmOnnxScope *sc, const char *name)
{
	return &sc->v.v[pm__scope_id(sc, name, strlen(name))];
}

PmOnnxName *pm__scope_find(const PmOnnxScope *sc, const char *name)
{
	uint32_t id = pm_intern_find(sc->names, name, strlen(name));

	return id < sc->v.n ? &sc->v.v[id] : NULL;
}

void pm__scope_set_final(PmOnnxScope *sc, const PmOnnxName *nm, const char *name)
{
	size_t id = (size_t)(nm - sc->v.v);

	while (sc->finals.n <= id)
		PM_VEC_PUSH(&sc->finals, NULL);
	sc->finals.v[id] = name;
}

const char *pm__scope_final(const PmOnnxScope *sc, const PmOnnxName *nm)
{
	size_t id = (size_t)(nm - sc->v.v);

	return id < sc->finals.n ? sc->finals.v[id] : NULL;
}

enum { INFO_KINDS = 4 };

void pm__scope_note(PmOnnxName *nm, PmPart part, size_t i)
{
	nm->info = (uint32_t)(INFO_KINDS * (i + 1)) + (uint32_t)(part - PM_PART_INPUT);
}

PmStatus pm__scope_info(const PmOnnxScope *sc, const PmOnnxName *nm, PmOnnxSlot *slot,
			const Onnx__ValueInfoProto **out, PmErr *err)
{
	PmPart part = (PmPart)(PM_PART_INPUT + nm->info % INFO_KINDS);

	*out = NULL;
	if (!nm->info)
		return PM_OK;
	*out = pm__source_info(sc->infos, part, nm->info / INFO_KINDS - 1, slot, err);
	return *out ? PM_OK : err->code;
}

/* ---- names that nested graphs take from outside ---- */

typedef struct Frame {
	const struct Frame *up;
	const Onnx__GraphProto *g;
	PmIntern *defined;
} Frame;

static int is_local(const Frame *f, const char *name)
{
	for (; f; f = f->up) {
		if (pm_intern_find(f->defined, name, strlen(name)) != UINT32_MAX)
			return 1;
	}
	return 0;
}

static void define(PmIntern *t, const char *name)
{
	pm_intern(t, text(name), strlen(text(name)));
}

static PmIntern *definitions(const Onnx__GraphProto *g)
{
	PmIntern *t = pm_intern_new();
	size_t i, k;

	for (i = 0; i < g->n_input; i++)
		define(t, g->input[i]->name);
	for (i = 0; i < g->n_initializer; i++)
		define(t, g->initializer[i]->name);
	for (i = 0; i < g->n_sparse_initializer; i++) {
		if (g->sparse_initializer[i]->values)
			define(t, g->sparse_initializer[i]->values->name);
	}
	for (i = 0; i < g->n_node; i++) {
		for (k = 0; k < g->node[i]->n_output; k++)
			define(t, g->node[i]->output[k]);
	}
	return t;
}

typedef struct Walk {
	/* Called with the address of every name a nested graph takes from outside. */
	void (*see)(struct Walk *w, const Frame *f, char **name);
	PmIntern *seen;
	PmOnnxFree *out;
	const char *const *from, *const *to;
	size_t n;
	const char *clash;
} Walk;

static void walk_node(Walk *w, const Frame *up, const Onnx__NodeProto *np);

static void walk_graph(Walk *w, const Frame *up, const Onnx__GraphProto *g)
{
	Frame f = { up, g, definitions(g) };
	size_t i, k;

	for (i = 0; i < g->n_node; i++) {
		for (k = 0; k < g->node[i]->n_input; k++) {
			if (!is_local(&f, g->node[i]->input[k]))
				w->see(w, &f, &g->node[i]->input[k]);
		}
		walk_node(w, &f, g->node[i]);
	}
	for (i = 0; i < g->n_output; i++) {
		if (g->output[i]->name && !is_local(&f, g->output[i]->name))
			w->see(w, &f, &g->output[i]->name);
	}
	pm_intern_free(f.defined);
}

static void walk_node(Walk *w, const Frame *up, const Onnx__NodeProto *np)
{
	size_t i, k;

	for (i = 0; i < np->n_attribute; i++) {
		if (np->attribute[i]->g)
			walk_graph(w, up, np->attribute[i]->g);
		for (k = 0; k < np->attribute[i]->n_graphs; k++)
			walk_graph(w, up, np->attribute[i]->graphs[k]);
	}
}

static void collect(Walk *w, const Frame *f, char **name)
{
	(void)f;
	if (pm_intern_find(w->seen, *name, strlen(*name)) != UINT32_MAX)
		return;
	pm_intern(w->seen, *name, strlen(*name));
	PM_VEC_PUSH(&w->out->v, *name);
}

void pm__onnx_captures(const Onnx__NodeProto *np, PmOnnxFree *out)
{
	Walk w = { .see = collect, .out = out };
	size_t i;

	for (i = 0; i < np->n_attribute && !w.seen; i++) {
		if (np->attribute[i]->g || np->attribute[i]->n_graphs)
			w.seen = pm_intern_new();
	}
	if (!w.seen)
		return;
	walk_node(&w, NULL, np);
	pm_intern_free(w.seen);
}

static void rename_one(Walk *w, const Frame *f, char **name)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		if (strcmp(w->from[i], *name) != 0)
			continue;
		if (strcmp(w->from[i], w->to[i]) != 0 && is_local(f, w->to[i]))
			w->clash = w->to[i];
		*name = (char *)(uintptr_t)w->to[i];
		return;
	}
}

PmStatus pm__onnx_rename_captures(Onnx__NodeProto *np, const char *const *from, const char *const *to,
				  size_t n, PmErr *err)
{
	Walk w = { .see = rename_one, .from = from, .to = to, .n = n };

	walk_node(&w, NULL, np);
	if (w.clash)
		return pm_err(
			err, PM_E_INVALID,
			"The value name '%.200s' means something else inside a nested graph of a %s node; "
			"rename the value.",
			w.clash, text(np->op_type));
	return PM_OK;
}

/* ---- order ---- */

typedef struct Visit {
	uint32_t node, k; /* k: next of its needs */
} Visit;

typedef struct Order {
	PmOnnxScope *sc;
	size_t n_nodes;
	PM_VEC(uint32_t)
	needs;                /* names, by id: operands of node 0, what its nested graphs take, node 1, ... */
	uint32_t *first;      /* of a node's needs; one more than there are nodes */
	unsigned char *state; /* 0 new, 1 on the stack, 2 placed */
	uint32_t *order;
	size_t n;
	PM_VEC(Visit) stack;
} Order;

/* Of a node of the scope, for sentences; while no node of it is being imported. */
static PmOnnxWhere where(const PmOnnxScope *sc, size_t i)
{
	const Onnx__NodeProto *np = pm__source_node(sc->source, i, sc->slot, NULL);

	return np ? pm__onnx_where(np, i) : (PmOnnxWhere){ "a node" };
}

static PmStatus define_results(PmOnnxScope *sc, const PmOnnxWires *w, size_t i, PmErr *err)
{
	for (size_t k = 0; k < w->out.n; k++) {
		uint32_t id = pm__scope_id(sc, w->out.v[k].s, w->out.v[k].n);
		PmOnnxName *nm = &sc->v.v[id];

		if (!id)
			continue;
		if (nm->known || nm->def)
			return pm_err(err, PM_E_INVALID,
				      "The value '%.200s' is defined by %s and by %s; give each value a "
				      "name of its own.",
				      pm_intern_text(sc->names, id), where(sc, i).s,
				      nm->def ? where(sc, nm->def - 1).s : "a graph input or initializer");
		nm->def = (uint32_t)i + 1;
	}
	return PM_OK;
}

static PmStatus note_captures(Order *o, size_t i, PmErr *err)
{
	const Onnx__NodeProto *np = pm__source_node(o->sc->source, i, o->sc->slot, err);
	PmOnnxFree captured = { { NULL, 0, 0 } };

	if (!np)
		return err->code;
	pm__onnx_captures(np, &captured);
	for (size_t k = 0; k < captured.v.n; k++) {
		const char *name = captured.v.v[k];

		PM_VEC_PUSH(&o->needs, pm__scope_id(o->sc, name, strlen(name)));
	}
	PM_VEC_RELEASE(&captured.v);
	return PM_OK;
}

/* Defines every node's results, collects what each needs. */
static PmStatus note_nodes(Order *o, PmErr *err)
{
	PmOnnxWires w = { .nests = 0 };
	PmStatus st = PM_OK;

	for (size_t i = 0; i < o->n_nodes && !st; i++) {
		pm__source_wires(o->sc->source, i, &w);
		st = define_results(o->sc, &w, i, err);
		for (size_t k = 0; k < w.in.n; k++)
			PM_VEC_PUSH(&o->needs, pm__scope_id(o->sc, w.in.v[k].s, w.in.v[k].n));
		if (!st && w.nests)
			st = note_captures(o, i, err);
		if (!st && o->needs.n > UINT32_MAX)
			st = pm_err(err, PM_E_LIMIT,
				    "The nodes have more than %lu operands; split the model.",
				    (unsigned long)UINT32_MAX);
		o->first[i + 1] = (uint32_t)o->needs.n;
	}
	pm__wires_release(&w);
	return st;
}

static PmStatus undefined(const Order *o, const Visit *at, const char *name, PmErr *err)
{
	return pm_err(err, PM_E_INVALID,
		      "Operand %u of %s is '%.200s', which no input, initializer or node defines; "
		      "fix the model.",
		      at->k, where(o->sc, at->node).s, name);
}

static PmStatus cycle(const Order *o, const Visit *at, const char *name, PmErr *err)
{
	return pm_err(err, PM_E_INVALID,
		      "The graph has a cycle through %s and its operand '%.200s'; no execution "
		      "order exists, so fix the model.",
		      where(o->sc, at->node).s, name);
}

/* Places node i after everything it needs. */
static PmStatus place(Order *o, uint32_t i, PmErr *err)
{
	PM_VEC_PUSH(&o->stack, ((Visit){ i, 0 }));
	o->state[i] = 1;
	while (o->stack.n) {
		Visit *top = &o->stack.v[o->stack.n - 1];
		uint32_t at = top->node, name, def;
		const PmOnnxName *nm;

		if (top->k == o->first[at + 1] - o->first[at]) {
			o->state[at] = 2;
			o->order[o->n++] = at;
			o->stack.n--;
			continue;
		}
		name = o->needs.v[o->first[at] + top->k];
		nm = &o->sc->v.v[name];
		def = nm->def;
		if (!nm->known && !def)
			return undefined(o, top, pm_intern_text(o->sc->names, name), err);
		if (!nm->known && o->state[def - 1] == 1)
			return cycle(o, top, pm_intern_text(o->sc->names, name), err);
		top->k++;
		if (!nm->known && o->state[def - 1] == 0) {
			o->state[def - 1] = 1;
			PM_VEC_PUSH(&o->stack, ((Visit){ def - 1, 0 }));
		}
	}
	return PM_OK;
}

PmStatus pm__scope_order(PmOnnxScope *sc, uint32_t **order, PmErr *err)
{
	Order o = { .sc = sc, .n_nodes = sc->source->n[PM_PART_NODE] };
	PmStatus st;

	o.first = pm_xcalloc(o.n_nodes + 1, sizeof *o.first);
	o.state = pm_xcalloc(o.n_nodes + 1, 1);
	o.order = pm_xcalloc(o.n_nodes + 1, sizeof *o.order);
	st = note_nodes(&o, err);
	for (size_t i = 0; i < o.n_nodes && !st; i++) {
		if (!o.state[i])
			st = place(&o, (uint32_t)i, err);
	}
	free(o.first);
	free(o.state);
	PM_VEC_RELEASE(&o.needs);
	PM_VEC_RELEASE(&o.stack);
	if (st)
		free(o.order);
	else
		*order = o.order;
	return st;
}
