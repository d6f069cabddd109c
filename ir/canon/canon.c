/* SPDX-License-Identifier: Apache-2.0 */
/* canon.c - canonical text and hash of a graph.
 *
 * One line per value source or node, in the order of a depth-first walk from the outputs:
 *
 *   input:float[2,s0]
 *   input "uniform(0, 1)":float[2,s0]
 *   const:float[1]=0000803f
 *   Add 0 1:float[2,s0]
 *   out 2
 *
 * Lines are numbered from 0; "4.1" is result 1 of line 4. Outputs are a set: they are visited in the order of
 * their colours (canon_color.c) and listed by line; so are commuting operands. When colours tie, the value
 * with the smaller number comes first. When none has one, the values are alike as far as refinement can tell:
 * each is tried, which is made known to all by refining again, and the least of the texts counts. Choices
 * that lead to a text that was seen at the same place lead to nothing new and are not followed. A budget
 * keeps the cost near-linear for very large graphs; when it is spent, two spellings of one graph may keep two
 * texts, but never do two graphs share one.
 *
 * A graph in an attribute is bound by position: its inputs carry their numbers and its outputs their order.
 */
#include "ir/canon/canon.h"

#include "ir/canon/canon_priv.h"

#include <stdlib.h>
#include <string.h>

enum {
	TIE_BUDGET = 4 << 20, /* value visits spent on refining after ties */
	SOME_TEXT = 32        /* bytes that the text of a label, or of a value, is expected to take */
};

typedef struct Frame {
	uint32_t node;
	uint32_t next;
	int swap;
} Frame;

typedef struct Output {
	uint64_t color;
	uint32_t value, place;
} Output;

typedef struct Walk {
	PmCanon *c;
	PM_VEC(Frame) stack;
	uint32_t *line; /* by value id: 1 + its line, 0 before the walk came by */
	uint32_t *symbol_of;
	uint32_t n_lines, n_symbols;
	Output *outputs; /* those not visited yet come last, sorted */
	PmStr *out;
	PmTies *ties;
} Walk;

/* ---- which nodes count ---- */

static void note_symbols(PmCanon *c, PmValue v)
{
	const PmType *t = pm_value_type(c->g, v);
	int i;

	for (i = 0; i < t->rank; i++) {
		if (t->dim[i] < 0 && (uint64_t)-t->dim[i] > c->n_symbols)
			c->n_symbols = (size_t)-t->dim[i];
	}
}

static void note_value(PmCanon *c, unsigned char *seen, PmValue v)
{
	if (seen[v.id])
		return;
	seen[v.id] = 1;
	PM_VEC_PUSH(&c->values, v.id);
	note_symbols(c, v);
}

enum { NEW, OPEN, DONE };

/* Collects what `v` depends on, operands first. */
static PmStatus collect(PmCanon *c, PmValue v, unsigned char *state, unsigned char *seen, PmErr *err)
{
	PM_VEC(Frame) stack = { NULL, 0, 0 };
	PmNode n = pm_value_def(c->g, v, NULL);
	PmStatus st = PM_OK;
	size_t k;

	note_value(c, seen, v);
	if (n.id && state[n.id] == NEW) {
		state[n.id] = OPEN;
		PM_VEC_PUSH(&stack, ((Frame){ n.id, 0, 0 }));
	}
	while (stack.n && st == PM_OK) {
		Frame *f = &stack.v[stack.n - 1];
		PmNode at = { f->node };

		if (f->next == pm_node_n_in(c->g, at)) {
			for (k = 0; k < pm_node_n_out(c->g, at); k++)
				note_value(c, seen, pm_node_out(c->g, at, k));
			state[at.id] = DONE;
			c->pos[at.id] = (uint32_t)c->nodes.n + 1;
			PM_VEC_PUSH(&c->nodes, at.id);
			stack.n--;
			continue;
		}
		v = pm_node_in(c->g, at, f->next++);
		if (!v.id)
			continue;
		note_value(c, seen, v);
		n = pm_value_def(c->g, v, NULL);
		if (n.id && state[n.id] == OPEN)
			st = pm_err(err, PM_E_INVALID, "Node %u of the graph depends on itself.",
				    (unsigned)n.id);
		if (n.id && state[n.id] == NEW) {
			state[n.id] = OPEN;
			PM_VEC_PUSH(&stack, ((Frame){ n.id, 0, 0 }));
		}
	}
	PM_VEC_RELEASE(&stack);
	return st;
}

static PmStatus collect_all(PmCanon *c, PmErr *err)
{
	unsigned char *state = pm_xcalloc((size_t)pm_graph_node_limit(c->g) + 1, 1);
	unsigned char *seen = pm_xcalloc((size_t)pm_graph_value_limit(c->g) + 1, 1);
	PmStatus st = PM_OK;
	size_t i;

	/* Room at once: what grows is moved, and its old places stay with the process. */
	PM_VEC_RESERVE(&c->nodes, pm_graph_n_nodes(c->g));
	PM_VEC_RESERVE(&c->values, pm_graph_value_limit(c->g));
	for (i = 0; i < pm_graph_n_outputs(c->g) && st == PM_OK; i++)
		st = collect(c, pm_graph_output(c->g, i), state, seen, err);
	PM_VEC_RESERVE(&c->label_at, c->nodes.n);
	pm_str_reserve(&c->labels, c->nodes.n * SOME_TEXT);
	for (i = 0; i < c->nodes.n && st == PM_OK; i++) {
		PM_VEC_PUSH(&c->label_at, c->labels.len);
		st = pm__canon_node_label(c, (PmNode){ c->nodes.v[i] }, &c->labels, err);
		pm_str_addc(&c->labels, 0);
	}
	free(state);
	free(seen);
	return st;
}

/* Uses by nodes that count, and as outputs. */
static void count_uses(PmCanon *c)
{
	size_t i, k;

	for (i = 0; i < c->nodes.n; i++) {
		PmNode n = { c->nodes.v[i] };

		for (k = 0; k < pm_node_n_in(c->g, n); k++)
			c->n_uses[pm_node_in(c->g, n, k).id]++;
	}
	for (i = 0; i < pm_graph_n_outputs(c->g); i++)
		c->n_uses[pm_graph_output(c->g, i).id]++;
}

/* ---- the walk ---- */

/* Swapping two sources of one type that nothing else reads changes nothing. */
static int sources_of_one_reader(const PmCanon *c, PmValue a, PmValue b)
{
	const PmType *x = pm_value_type(c->g, a), *y = pm_value_type(c->g, b);

	if (x->rank != y->rank || (x->rank > 0 && memcmp(x->dim, y->dim, (size_t)x->rank * sizeof *x->dim)))
		return 0;
	return !pm_value_def(c->g, a, NULL).id && !pm_value_def(c->g, b, NULL).id && c->n_uses[a.id] == 1 &&
	       c->n_uses[b.id] == 1;
}

/* One of n values that are alike so far comes first: makes that known. */
static void put_first(Walk *w, PmValue v)
{
	w->c->color[v.id] = pm__mix(w->c->color[v.id], w->n_lines);
	pm__canon_refine(w->c);
}

/* 1 when operand 1 comes before operand 0. */
static int choose_order(Walk *w, PmNode n)
{
	PmCanon *c = w->c;
	PmValue a = pm_node_in(c->g, n, 0), b = pm_node_in(c->g, n, 1);
	uint64_t ca = a.id ? c->color[a.id] : 0, cb = b.id ? c->color[b.id] : 0;
	uint32_t la = w->line[a.id] - 1, lb = w->line[b.id] - 1; /* not visited yet is the largest */
	int swap;

	if (a.id == b.id)
		return 0;
	if (ca != cb)
		return cb < ca;
	if (la != lb)
		return lb < la;
	if (!a.id || la != UINT32_MAX || c->budget <= 0 || sources_of_one_reader(c, a, b))
		return 0;
	swap = (int)pm__ties_pick(w->ties, 2);
	put_first(w, swap ? b : a);
	return swap;
}

static void add_ref(Walk *w, PmValue v)
{
	size_t k;

	if (!v.id) {
		pm_str_add(w->out, " -");
		return;
	}
	pm_str_addc(w->out, ' ');
	pm_str_addi(w->out, (int64_t)w->line[v.id] - 1);
	if (pm_value_def(w->c->g, v, &k).id && k)
		pm_str_addf(w->out, ".%zu", k);
}

static void add_type(Walk *w, PmValue v)
{
	const PmType *t = pm_value_type(w->c->g, v);
	int i;

	for (i = 0; i < t->rank && w->c->level != PM_CANON_STRUCTURE; i++) {
		uint32_t *s = t->dim[i] < 0 ? &w->symbol_of[-(t->dim[i] + 1)] : NULL;

		if (s && *s == UINT32_MAX)
			*s = w->n_symbols++;
	}
	pm__canon_type(w->c, t, w->symbol_of, w->out);
}

static void print_source(Walk *w, PmValue v)
{
	w->line[v.id] = ++w->n_lines;
	pm__canon_source(w->c, v, w->out);
	add_type(w, v);
	pm_str_addc(w->out, '\n');
}

static void print_node(Walk *w, PmNode n, int swap)
{
	const PmGraph *g = w->c->g;
	size_t k, n_in = pm_node_n_in(g, n);

	w->n_lines++;
	pm_str_add(w->out, pm__canon_label(w->c, w->c->pos[n.id] - 1));
	for (k = 0; k < n_in; k++)
		add_ref(w, pm_node_in(g, n, swap && k < 2 ? 1 - k : k));
	for (k = 0; k < pm_node_n_out(g, n); k++) {
		w->line[pm_node_out(g, n, k).id] = w->n_lines;
		add_type(w, pm_node_out(g, n, k));
	}
	pm_str_addc(w->out, '\n');
}

/* Visits a value: prints its source, or pushes its node. */
static void visit(Walk *w, PmValue v)
{
	const PmGraph *g = w->c->g;
	PmNode n = pm_value_def(g, v, NULL);
	Frame f = { n.id, 0, 0 };

	if (!v.id || w->line[v.id])
		return;
	if (!n.id) {
		print_source(w, v);
		return;
	}
	if ((pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_COMM) && pm_node_n_in(g, n) >= 2)
		f.swap = choose_order(w, n);
	PM_VEC_PUSH(&w->stack, f);
}

static void walk_from(Walk *w, PmValue v)
{
	const PmGraph *g = w->c->g;

	visit(w, v);
	while (w->stack.n) {
		Frame *f = &w->stack.v[w->stack.n - 1];
		PmNode n = { f->node };
		uint32_t k = f->next;

		if (k == pm_node_n_in(g, n)) {
			int swap = f->swap;

			w->stack.n--;
			print_node(w, n, swap);
			continue;
		}
		f->next++;
		visit(w, pm_node_in(g, n, f->swap && k < 2 ? 1 - k : k));
	}
}

/* ---- outputs ---- */

static int by_color(const void *a, const void *b)
{
	const Output *x = a, *y = b;

	if (x->color != y->color)
		return x->color < y->color ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static void sort_outputs(Walk *w, size_t from, size_t n)
{
	size_t i;

	for (i = from; i < n; i++)
		w->outputs[i].color = w->c->color[w->outputs[i].value];
	if (n > from)
		qsort(w->outputs + from, n - from, sizeof *w->outputs, by_color);
}

static void swap_outputs(Walk *w, size_t i, size_t k)
{
	Output o = w->outputs[i];

	w->outputs[i] = w->outputs[k];
	w->outputs[k] = o;
}

/* Brings the output to visit next to place i: of those that tie, one that was visited on the way; else each
 * is tried. */
static void choose_output(Walk *w, size_t i, size_t n)
{
	uint64_t color = w->outputs[i].color;
	size_t k, tied = 1, different = 0;

	if (w->line[w->outputs[i].value] || w->c->budget <= 0)
		return;
	while (i + tied < n && w->outputs[i + tied].color == color)
		tied++;
	for (k = 1; k < tied; k++) {
		if (w->line[w->outputs[i + k].value]) {
			swap_outputs(w, i, i + k);
			return;
		}
		different += w->outputs[i + k].value != w->outputs[i].value;
	}
	if (!different)
		return;
	swap_outputs(w, i, i + pm__ties_pick(w->ties, tied));
	put_first(w, (PmValue){ w->outputs[i].value });
}

static void walk_outputs(Walk *w)
{
	size_t i, n = pm_graph_n_outputs(w->c->g);
	uint64_t refined = w->c->n_refined;

	for (i = 0; i < n; i++)
		w->outputs[i] = (Output){ 0, pm_graph_output(w->c->g, i).id, (uint32_t)i };
	if (w->c->depth == 0)
		sort_outputs(w, 0, n);
	for (i = 0; i < n; i++) {
		if (w->c->depth == 0 && refined != w->c->n_refined)
			sort_outputs(w, i, n);
		refined = w->c->n_refined;
		if (w->c->depth == 0)
			choose_output(w, i, n);
		walk_from(w, (PmValue){ w->outputs[i].value });
	}
}

static int by_line(const void *a, const void *b)
{
	const Output *x = a, *y = b;

	if (x->color != y->color)
		return x->color < y->color ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static void print_outputs(Walk *w)
{
	size_t i, k, n = pm_graph_n_outputs(w->c->g);

	for (i = 0; i < n && w->c->depth == 0; i++) {
		PmValue v = { w->outputs[i].value };

		k = 0;
		pm_value_def(w->c->g, v, &k);
		w->outputs[i].color = w->line[v.id];
		w->outputs[i].place = (uint32_t)k;
	}
	if (n && w->c->depth == 0)
		qsort(w->outputs, n, sizeof *w->outputs, by_line);
	pm_str_add(w->out, "out");
	for (i = 0; i < n; i++)
		add_ref(w, (PmValue){ w->outputs[i].value });
	pm_str_addc(w->out, '\n');
}

/* ---- all choices ---- */

static void walk(Walk *w)
{
	size_t i;

	memset(w->line, 0, ((size_t)pm_graph_value_limit(w->c->g) + 1) * sizeof *w->line);
	for (i = 0; i < w->c->n_symbols; i++)
		w->symbol_of[i] = UINT32_MAX;
	w->n_lines = w->n_symbols = 0;
	pm_str_clear(w->out);
	walk_outputs(w);
	print_outputs(w);
}

/* The least text over all ways to break ties. */
static void least_text(Walk *w, PmStr *best)
{
	PmCanon *c = w->c;
	size_t i, n = c->values.n;
	uint64_t *start = pm_xcalloc(n + 1, sizeof *start);
	PmStr text = PM_STR_INIT;
	int least, more;

	for (i = 0; i < n; i++)
		start[i] = c->color[c->values.v[i]];
	pm_str_reserve(&text, c->labels.len + n * SOME_TEXT);
	w->out = &text;
	do {
		for (i = 0; i < n; i++)
			c->color[c->values.v[i]] = start[i];
		walk(w);
		least = !best->len || text.len < best->len ||
			(text.len == best->len && memcmp(text.s, best->s, text.len) < 0);
		more = pm__ties_next(w->ties, text.s, text.len) && c->budget > 0;
		if (least) { /* not copied: as a rule there is one text, and it is large */
			PmStr other = *best;

			*best = text;
			text = other;
		}
	} while (more);
	pm_str_release(&text);
	free(start);
}

static void release(PmCanon *c, Walk *w)
{
	PM_VEC_RELEASE(&c->nodes);
	PM_VEC_RELEASE(&c->values);
	PM_VEC_RELEASE(&c->label_at);
	PM_VEC_RELEASE(&w->stack);
	pm_str_release(&c->labels);
	free(c->pos);
	free(c->color);
	free(c->symbol_sum);
	free(c->n_uses);
	free(w->line);
	free(w->symbol_of);
	free(w->outputs);
	pm__ties_free(w->ties);
}

PmStatus pm__canon_text_at(const PmGraph *g, PmCanonLevel level, int depth, PmStr *out, PmErr *err)
{
	size_t values = (size_t)pm_graph_value_limit(g) + 1;
	PmStr best = PM_STR_INIT;
	PmCanon c;
	Walk w;
	PmStatus st;

	memset(&c, 0, sizeof c);
	memset(&w, 0, sizeof w);
	c.g = g;
	c.level = level;
	c.depth = depth;
	c.budget = TIE_BUDGET;
	pm_str_init(&c.labels);
	c.pos = pm_xcalloc((size_t)pm_graph_node_limit(g) + 1, sizeof *c.pos);
	st = collect_all(&c, err);
	if (st == PM_OK) {
		c.color = pm_xcalloc(values * 2, sizeof *c.color);
		c.sum = c.color + values;
		c.symbol_sum = pm_xcalloc(c.n_symbols + 1, sizeof *c.symbol_sum);
		c.n_uses = pm_xcalloc(values, sizeof *c.n_uses);
		count_uses(&c);
		pm__canon_color_init(&c);
		pm__canon_refine(&c);
		w.c = &c;
		w.line = pm_xcalloc(values, sizeof *w.line);
		w.symbol_of = pm_xcalloc(c.n_symbols + 1, sizeof *w.symbol_of);
		w.outputs = pm_xcalloc(pm_graph_n_outputs(g) + 1, sizeof *w.outputs);
		w.ties = pm__ties_new();
		least_text(&w, &best);
	}
	release(&c, &w);
	if (st == PM_OK && !out->cap) {
		*out = best; /* a second copy would be the most that a hash needs */
		return st;
	}
	if (st == PM_OK)
		pm_str_addn(out, best.s, best.len);
	pm_str_release(&best);
	return st;
}

PmStatus pm_canon_text(const PmGraph *g, PmCanonLevel level, PmStr *out, PmErr *err)
{
	return pm__canon_text_at(g, level, 0, out, err);
}

PmStatus pm_canon_hash(const PmGraph *g, PmCanonLevel level, char hex[PM_SHA256_HEX], PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st = pm_canon_text(g, level, &text, err);

	if (st == PM_OK)
		pm_sha256_hex(text.s, text.len, hex);
	pm_str_release(&text);
	return st;
}

PmStatus pm_canon_node_text(const PmGraph *g, PmNode n, PmCanonLevel level, PmStr *out, PmErr *err)
{
	PmCanon c;

	memset(&c, 0, sizeof c);
	c.g = g;
	c.level = level;
	return pm__canon_node_label(&c, n, out, err);
}
