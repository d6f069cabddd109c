/* onnx_import_order.c - names of a graph or function body: who defines them, who uses them, in what order. */
#include "ir/onnx_priv.h"

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

void pm__scope_init(PmOnnxScope *sc)
{
	memset(sc, 0, sizeof *sc);
	sc->names = pm_intern_new_borrowing();           /* from the message */
	PM_VEC_PUSH(&sc->v, (PmOnnxName){ .known = 1 }); /* "", an omitted operand */
}

void pm__scope_release(PmOnnxScope *sc)
{
	pm_intern_free(sc->names);
	PM_VEC_RELEASE(&sc->v);
}

uint32_t pm__scope_id(PmOnnxScope *sc, const char *name)
{
	uint32_t id = pm_intern(sc->names, name, strlen(name));

	while (sc->v.n <= id)
		PM_VEC_PUSH(&sc->v, (PmOnnxName){ 0 });
	return id;
}

PmOnnxName *pm__scope_at(PmOnnxScope *sc, const char *name)
{
	uint32_t id = pm__scope_id(sc, name);

	return &sc->v.v[id];
}

PmOnnxName *pm__scope_find(const PmOnnxScope *sc, const char *name)
{
	uint32_t id = pm_intern_find(sc->names, name, strlen(name));

	return id < sc->v.n ? &sc->v.v[id] : NULL;
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

static PmStatus define_results(PmOnnxScope *sc, PmErr *err)
{
	size_t i, k;

	for (i = 0; i < sc->n_nodes; i++) {
		const Onnx__NodeProto *np = sc->nodes[i];

		for (k = 0; k < np->n_output; k++) {
			PmOnnxName *nm;

			if (!*np->output[k])
				continue;
			nm = pm__scope_at(sc, np->output[k]);
			if (nm->known || nm->def) {
				PmOnnxWhere w = pm__onnx_where(np, i);

				return pm_err(
					err, PM_E_INVALID,
					"The value '%.200s' is defined by %s and by %s; give each value a "
					"name of its own.",
					np->output[k], w.s,
					nm->def ? pm__onnx_where(sc->nodes[nm->def - 1], nm->def - 1).s
						: "a graph input or initializer");
			}
			nm->def = (uint32_t)i + 1;
		}
	}
	return PM_OK;
}

typedef struct Visit {
	uint32_t node, k; /* k: next operand, then captured names */
} Visit;

typedef struct Order {
	PmOnnxScope *sc;
	unsigned char *state; /* 0 new, 1 on the stack, 2 placed */
	uint32_t *order;
	size_t n;
	PM_VEC(Visit) stack;
	PmOnnxFree *captures; /* by node; NULL when no node has nested graphs */
} Order;

static size_t n_needs(const Order *o, uint32_t i)
{
	return o->sc->nodes[i]->n_input + (o->captures ? o->captures[i].v.n : 0);
}

static const char *need(const Order *o, uint32_t i, size_t k)
{
	const Onnx__NodeProto *np = o->sc->nodes[i];

	return k < np->n_input ? np->input[k] : o->captures[i].v.v[k - np->n_input];
}

/* Places node i after everything it needs. */
static PmStatus place(Order *o, uint32_t i, PmErr *err)
{
	PM_VEC_PUSH(&o->stack, ((Visit){ i, 0 }));
	o->state[i] = 1;
	while (o->stack.n) {
		Visit *top = &o->stack.v[o->stack.n - 1];
		const PmOnnxName *nm;
		uint32_t at = top->node;

		if (top->k == n_needs(o, at)) {
			o->state[at] = 2;
			o->order[o->n++] = at;
			o->stack.n--;
			continue;
		}
		nm = pm__scope_find(o->sc, need(o, at, top->k));
		if (nm && nm->known) {
			top->k++;
			continue;
		}
		if (!nm || !nm->def)
			return pm_err(
				err, PM_E_INVALID,
				"Operand %u of %s is '%.200s', which no input, initializer or node defines; "
				"fix the model.",
				top->k, pm__onnx_where(o->sc->nodes[at], at).s, need(o, at, top->k));
		top->k++;
		if (o->state[nm->def - 1] == 1)
			return pm_err(
				err, PM_E_INVALID,
				"The graph has a cycle through %s and its operand '%.200s'; no execution "
				"order exists, so fix the model.",
				pm__onnx_where(o->sc->nodes[at], at).s, need(o, at, top->k - 1));
		if (o->state[nm->def - 1] == 0) {
			uint32_t next = nm->def - 1;

			o->state[next] = 1;
			PM_VEC_PUSH(&o->stack, ((Visit){ next, 0 }));
		}
	}
	return PM_OK;
}

static void count_uses(Order *o)
{
	size_t i, k;

	for (i = 0; i < o->sc->n_nodes; i++) {
		const Onnx__NodeProto *np = o->sc->nodes[i];

		for (k = 0; k < np->n_attribute; k++) {
			if ((np->attribute[k]->g || np->attribute[k]->n_graphs) && !o->captures)
				o->captures = pm_xcalloc(o->sc->n_nodes, sizeof *o->captures);
		}
	}
	for (i = 0; i < o->sc->n_nodes; i++) {
		if (o->captures)
			pm__onnx_captures(o->sc->nodes[i], &o->captures[i]);
		for (k = 0; k < n_needs(o, (uint32_t)i); k++) {
			PmOnnxName *nm = pm__scope_find(o->sc, need(o, (uint32_t)i, k));

			if (nm)
				nm->uses++;
		}
	}
}

PmStatus pm__scope_order(PmOnnxScope *sc, uint32_t **order, PmErr *err)
{
	Order o = { .sc = sc };
	PmStatus st = define_results(sc, err);
	size_t i;

	if (st)
		return st;
	o.state = pm_xcalloc(sc->n_nodes + 1, 1);
	o.order = pm_xcalloc(sc->n_nodes + 1, sizeof *o.order);
	count_uses(&o);
	for (i = 0; i < sc->n_nodes && !st; i++) {
		if (!o.state[i])
			st = place(&o, (uint32_t)i, err);
	}
	for (i = 0; o.captures && i < sc->n_nodes; i++)
		PM_VEC_RELEASE(&o.captures[i].v);
	free(o.captures);
	free(o.state);
	PM_VEC_RELEASE(&o.stack);
	if (st)
		free(o.order);
	else
		*order = o.order;
	return st;
}
