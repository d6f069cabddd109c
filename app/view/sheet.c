/* SPDX-License-Identifier: Apache-2.0 */
/* sheet.c - which boxes and edges one level of a drawing has. */
#include "app/view/sheet.h"

typedef struct Making {
	PmSheet *s;
	size_t n_items;
	uint32_t *in; /* by value id: 1 + number of its port */
	PM_VEC(PmValue) in_value;
	PM_VEC(PmValue) out_value;
} Making;

/* Ports have numbers behind all items until it is known how many there are. */
enum { IN_PORT = 1 << 30, OUT_PORT = 1 << 29 };

static uint32_t in_port(Making *m, PmValue v)
{
	if (!m->in[v.id]) {
		PM_VEC_PUSH(&m->in_value, v);
		m->in[v.id] = (uint32_t)m->in_value.n;
	}
	return IN_PORT + m->in[v.id] - 1;
}

static void add(Making *m, uint32_t from, uint32_t to, PmValue v)
{
	if (from != to)
		PM_VEC_PUSH(&m->s->wire, ((PmWire){ from, to, v, 1 }));
}

static void add_operands(Making *m, PmNode n, uint32_t box)
{
	const PmFold *f = m->s->f;

	for (size_t k = 0; k < pm_node_n_in(f->g, n); k++) {
		PmValue v = pm_node_in(f->g, n, k);
		PmNode def = pm_value_def(f->g, v, NULL);
		uint32_t from = def.id ? pm_fold_item_of(f, m->s->group, f->place[def.id]) : PM_FOLD_NONE;

		if (v.id && !pm_value_is_const(f->g, v))
			add(m, from == PM_FOLD_NONE ? in_port(m, v) : from, box, v);
	}
}

static int goes_out(const Making *m, PmValue v)
{
	const PmFold *f = m->s->f;

	if (pm_value_is_output(f->g, v))
		return 1;
	for (PmUse u = pm_value_first_use(f->g, v); u.slot; u = pm_use_next(f->g, u)) {
		if (pm_fold_item_of(f, m->s->group, f->place[u.node.id]) == PM_FOLD_NONE)
			return 1;
	}
	return 0;
}

static void add_results(Making *m, PmNode n, uint32_t box)
{
	const PmGraph *g = m->s->f->g;

	for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
		PmValue v = pm_node_out(g, n, k);

		if (!goes_out(m, v))
			continue;
		PM_VEC_PUSH(&m->out_value, v);
		add(m, box, OUT_PORT + (uint32_t)m->out_value.n - 1, v);
	}
}

/* Inputs and constants of the model that are its outputs too. */
static void add_passed(Making *m)
{
	const PmGraph *g = m->s->f->g;

	for (size_t i = 0; i < pm_graph_n_outputs(g) && !m->s->group; i++) {
		PmValue v = pm_graph_output(g, i);

		if (pm_value_def(g, v, NULL).id)
			continue;
		PM_VEC_PUSH(&m->out_value, v);
		if (pm_value_is_input(g, v))
			add(m, in_port(m, v), OUT_PORT + (uint32_t)m->out_value.n - 1, v);
	}
}

/* The model's inputs are drawn, used or not. */
static void add_inputs(Making *m)
{
	const PmGraph *g = m->s->f->g;

	for (size_t i = 0; i < pm_graph_n_inputs(g) && !m->s->group; i++)
		in_port(m, pm_graph_input(g, i));
}

static void add_ports(PmSheet *s, PmBoxKind kind, const PmValue *v, size_t n)
{
	if (n > PM_SHEET_PORTS) {
		PM_VEC_PUSH(&s->box, ((PmBox){ kind, PM_FOLD_NONE, n }));
		return;
	}
	for (size_t i = 0; i < n; i++)
		PM_VEC_PUSH(&s->box, ((PmBox){ kind, v[i].id, 1 }));
}

static int by_ends(const void *a, const void *b)
{
	const PmWire *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->value.id > y->value.id) - (x->value.id < y->value.id);
}

/* One wire for all values between the same boxes, in which each value counts once. */
static void merge(PmSheet *s)
{
	size_t n = 0;
	PmValue last = { 0 };

	qsort(s->wire.v, s->wire.n, sizeof *s->wire.v, by_ends);
	for (size_t i = 0; i < s->wire.n; i++) {
		PmWire w = s->wire.v[i];

		if (n && s->wire.v[n - 1].from == w.from && s->wire.v[n - 1].to == w.to)
			s->wire.v[n - 1].n += w.value.id != last.id;
		else
			s->wire.v[n++] = w;
		last = w.value;
	}
	s->wire.n = n;
}

static uint32_t final(const Making *m, uint32_t box)
{
	uint32_t first_out = (uint32_t)(m->n_items + (m->in_value.n > PM_SHEET_PORTS ? 1 : m->in_value.n));

	if (box >= IN_PORT)
		return (uint32_t)m->n_items + (m->in_value.n > PM_SHEET_PORTS ? 0 : box - IN_PORT);
	if (box >= OUT_PORT)
		return first_out + (m->out_value.n > PM_SHEET_PORTS ? 0 : box - OUT_PORT);
	return box;
}

void pm_sheet_make(const PmFold *f, uint32_t group, PmSheet *s)
{
	const PmFoldGroup *g = &f->group.v[group];
	Making m = { .s = s, .n_items = g->n };
	PmPlaces places = { 0 };

	*s = (PmSheet){ .f = f, .group = group };
	m.in = pm_xcalloc(pm_graph_value_limit(f->g) + 1, sizeof *m.in);
	for (size_t i = 0; i < g->n; i++) {
		PmFoldItem item = f->item.v[g->first + i];

		PM_VEC_PUSH(&s->box, ((PmBox){ item.is_group ? PM_BOX_GROUP : PM_BOX_NODE, item.id, 1 }));
	}
	add_inputs(&m);
	pm_fold_places(f, group, &places);
	for (size_t i = 0; i < places.n; i++) {
		PmNode n = pm_graph_node_at(f->g, places.v[i]);
		uint32_t box = pm_fold_item_of(f, group, places.v[i]);

		add_operands(&m, n, box);
		add_results(&m, n, box);
	}
	add_passed(&m);
	add_ports(s, PM_BOX_IN, m.in_value.v, m.in_value.n);
	add_ports(s, PM_BOX_OUT, m.out_value.v, m.out_value.n);
	for (size_t i = 0; i < s->wire.n; i++) {
		s->wire.v[i].from = final(&m, s->wire.v[i].from);
		s->wire.v[i].to = final(&m, s->wire.v[i].to);
	}
	merge(s);
	free(m.in);
	PM_VEC_RELEASE(&m.in_value);
	PM_VEC_RELEASE(&m.out_value);
	PM_VEC_RELEASE(&places);
}

void pm_sheet_release(PmSheet *s)
{
	PM_VEC_RELEASE(&s->box);
	PM_VEC_RELEASE(&s->wire);
}
