/* canon.c - canonical text and hash of a graph.
 *
 * One line per value source or node, in the order of a depth-first walk from the outputs:
 *
 *   input:float[2,s0]
 *   const:float[1]=0000803f
 *   Add 0 1:float[2,s0]
 *   out 2
 *
 * Lines are numbered from 0; "4.1" is result 1 of line 4. Commuting operands are visited in the order of
 * their colours (canon_color.c). When colours tie, the operand with the smaller number comes first; when
 * neither has one, the two are alike as far as refinement can tell, one is picked, and the pick is made known
 * to all by refining again (within a budget, so that the cost stays near-linear for very large graphs).
 */
#include "ir/canon.h"

#include "ir/canon_priv.h"

#include <stdlib.h>
#include <string.h>

enum { TIE_BUDGET = 4 << 20 }; /* value visits spent on refining after ties */

typedef struct Frame {
	uint32_t node;
	uint32_t next;
	int swap;
} Frame;

typedef struct Walk {
	PmCanon *c;
	PM_VEC(Frame) stack;
	uint32_t *line; /* by value id: 1 + its line, 0 before the walk came by */
	uint32_t *symbol_of;
	uint32_t n_lines, n_symbols;
	PmStr *out;
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

	for (i = 0; i < pm_graph_n_outputs(c->g) && st == PM_OK; i++)
		st = collect(c, pm_graph_output(c->g, i), state, seen, err);
	for (i = 0; i < c->nodes.n && st == PM_OK; i++) {
		PM_VEC_PUSH(&c->label_at, c->labels.len);
		st = pm__canon_node_label(c, (PmNode){ c->nodes.v[i] }, &c->labels, err);
		pm_str_addc(&c->labels, 0);
	}
	free(state);
	free(seen);
	return st;
}

/* ---- the walk ---- */

/* 1 when operand 1 comes before operand 0. */
static int choose_order(Walk *w, PmNode n)
{
	PmCanon *c = w->c;
	PmValue a = pm_node_in(c->g, n, 0), b = pm_node_in(c->g, n, 1);
	uint64_t ca = a.id ? c->color[a.id] : 0, cb = b.id ? c->color[b.id] : 0;
	uint32_t la = w->line[a.id] - 1, lb = w->line[b.id] - 1; /* not visited yet is the largest */

	if (a.id == b.id)
		return 0;
	if (ca != cb)
		return cb < ca;
	if (la != lb)
		return lb < la;
	if (a.id && la == UINT32_MAX && c->budget > 0) {
		c->color[a.id] = pm__mix(c->color[a.id], w->n_lines);
		pm__canon_refine(c);
	}
	return 0;
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

static void walk(Walk *w)
{
	const PmGraph *g = w->c->g;
	size_t i;

	for (i = 0; i < pm_graph_n_outputs(g); i++) {
		visit(w, pm_graph_output(g, i));
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
	pm_str_add(w->out, "out");
	for (i = 0; i < pm_graph_n_outputs(g); i++)
		add_ref(w, pm_graph_output(g, i));
	pm_str_addc(w->out, '\n');
}

PmStatus pm__canon_text_at(const PmGraph *g, PmCanonLevel level, int depth, PmStr *out, PmErr *err)
{
	size_t values = (size_t)pm_graph_value_limit(g) + 1, i;
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
		c.base = pm_xcalloc(values * 3, sizeof *c.base);
		c.color = c.base + values;
		c.sum = c.color + values;
		c.symbol_sum = pm_xcalloc(c.n_symbols + 1, sizeof *c.symbol_sum);
		pm__canon_color_init(&c);
		pm__canon_refine(&c);
		w.c = &c;
		w.out = out;
		w.line = pm_xcalloc(values, sizeof *w.line);
		w.symbol_of = pm_xcalloc(c.n_symbols + 1, sizeof *w.symbol_of);
		for (i = 0; i < c.n_symbols; i++)
			w.symbol_of[i] = UINT32_MAX;
		walk(&w);
	}
	PM_VEC_RELEASE(&c.nodes);
	PM_VEC_RELEASE(&c.values);
	PM_VEC_RELEASE(&c.label_at);
	PM_VEC_RELEASE(&w.stack);
	pm_str_release(&c.labels);
	free(c.pos);
	free(c.base);
	free(c.symbol_sum);
	free(w.line);
	free(w.symbol_of);
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
