/* SPDX-License-Identifier: Apache-2.0 */
/* diff.c - the steps of a comparison, and its changes. */
#include "app/diff/diff.h"

#include "app/diff/diff_kernel.h"
#include "base/core/str.h"

#include <string.h>

enum { NAMED = 8 /* nodes that a kernel stands for, by name; more are counted */ };

/* Which of two graphs comes first, by what they are. */
static int order(const Side *a, const Side *b)
{
	if (a->n_nodes != b->n_nodes)
		return a->n_nodes < b->n_nodes ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	for (uint32_t i = 0; i < a->n; i++) {
		size_t n = a->first_operand[i + 1] - a->first_operand[i];

		if (a->label[i] != b->label[i])
			return a->label[i] < b->label[i] ? -1 : 1;
		if (n != b->first_operand[i + 1] - b->first_operand[i])
			return n < b->first_operand[i + 1] - b->first_operand[i] ? -1 : 1;
		for (size_t k = 0; k < n; k++) {
			const Operand *x = &a->operand[a->first_operand[i] + k];
			const Operand *y = &b->operand[b->first_operand[i] + k];

			if (x->item != y->item)
				return x->item < y->item ? -1 : 1;
			if (x->result != y->result)
				return x->result < y->result ? -1 : 1;
		}
	}
	return 0;
}

static void swap(Diffing *d)
{
	Side s = d->a;

	d->a = d->b;
	d->b = s;
	d->queue.n = 0;
}

/* ---- changes ---- */

static void add_change(PmDiff *out, PmDiffKind kind, PmDiffSubject subject, uint32_t a, uint32_t b,
		       PmStr *what)
{
	PmDiffChange c = { kind, subject, a, b, pm_str_detach(what, NULL) };

	PM_VEC_PUSH(&out->change, c);
	if (subject == PM_DIFF_NODE)
		out->n[kind]++;
	else
		out->n_signature++;
}

/* "stands for 3 removed nodes: Mul 'a', Add 'b', Relu 'c'" */
static void body_text(const PmGraph *g, PmDiffKind kind, const PmDiffBody *body, PmStr *out)
{
	if (!body->n)
		return;
	pm_str_addf(out, "stands for %zu %s node%s: ", body->n, pm_diff_kind_name(kind),
		    body->n == 1 ? "" : "s");
	for (size_t i = 0; i < body->n && i < NAMED; i++) {
		PmDiff d = { .a = g, .b = g };
		PmDiffChange c = { .subject = PM_DIFF_NODE, .a = PM_DIFF_NONE, .b = body->v[i] };

		pm_str_add(out, i ? ", " : "");
		pm_diff_describe(&d, &c, out);
	}
	if (body->n > NAMED)
		pm_str_addf(out, " and %zu more", body->n - NAMED);
}

static void node_changes(const Diffing *d, const PmDiffBody *in_a, const PmDiffBody *in_b, PmDiff *out)
{
	for (size_t i = 0; i < out->order.n; i++) {
		uint32_t at = out->order.v[i];
		uint32_t x = at & PM_DIFF_IN_A ? at & ~PM_DIFF_IN_A : out->to_a[at];
		uint32_t y = at & PM_DIFF_IN_A ? PM_DIFF_NONE : at;
		PmStr what = PM_STR_INIT;

		if (y == PM_DIFF_NONE) {
			body_text(d->b.g, PM_DIFF_ADDED, &in_a[x], &what);
			add_change(out, PM_DIFF_REMOVED, PM_DIFF_NODE, x, y, &what);
		} else if (x == PM_DIFF_NONE) {
			body_text(d->a.g, PM_DIFF_REMOVED, &in_b[y], &what);
			add_change(out, PM_DIFF_ADDED, PM_DIFF_NODE, x, y, &what);
		} else if (d->a.label[x] == d->b.label[y] && pm__diff_same_operands(d, x, y)) {
			out->n_same++;
		} else {
			pm__diff_node_text(d, x, y, &what);
			if (!what.len)
				pm_str_add(&what, "attributes");
			add_change(out, PM_DIFF_CHANGED, PM_DIFF_NODE, x, y, &what);
		}
	}
}

static void port_pair(const Diffing *d, PmDiffSubject subject, uint32_t x, uint32_t y, uint32_t i, uint32_t k,
		      PmDiff *out)
{
	PmStr what = PM_STR_INIT, s = PM_STR_INIT, t = PM_STR_INIT;
	int input = subject == PM_DIFF_INPUT;

	if (d->a.label[x] != d->b.label[y]) {
		PmValue v = input ? pm_graph_input(d->a.g, i) : pm_graph_output(d->a.g, i);
		PmValue w = input ? pm_graph_input(d->b.g, k) : pm_graph_output(d->b.g, k);

		pm_graph_describe_type(d->a.g, pm_value_type(d->a.g, v), &s);
		pm_graph_describe_type(d->b.g, pm_value_type(d->b.g, w), &t);
		if (strcmp(s.s, t.s) != 0)
			pm_str_addf(&what, "type: %s became %s", s.s, t.s);
	}
	if (!input && !pm__diff_same_operands(d, x, y)) {
		pm_str_clear(&s);
		pm_str_clear(&t);
		pm__diff_operand_text(&d->a, x, 0, &s);
		pm__diff_operand_text(&d->b, y, 0, &t);
		pm_str_addf(&what, "%swas %s, is %s", what.len ? "; " : "", s.s, t.s);
	}
	if (i != k)
		pm_str_addf(&what, "%splace: %u became %u", what.len ? "; " : "", (unsigned)i, (unsigned)k);
	if (what.len)
		add_change(out, PM_DIFF_CHANGED, subject, i, k, &what);
	pm_str_release(&what);
	pm_str_release(&s);
	pm_str_release(&t);
}

static void port_changes(const Diffing *d, PmDiffSubject subject, PmDiff *out)
{
	int input = subject == PM_DIFF_INPUT;
	uint32_t fa = d->a.n_nodes + (input ? 0 : d->a.n_inputs),
		 fb = d->b.n_nodes + (input ? 0 : d->b.n_inputs);
	uint32_t na = input ? d->a.n_inputs : d->a.n - fa, nb = input ? d->b.n_inputs : d->b.n - fb;
	PmStr none = PM_STR_INIT;

	for (uint32_t i = 0; i < na; i++) {
		if (d->a.match[fa + i] == PM_DIFF_NONE)
			add_change(out, PM_DIFF_REMOVED, subject, i, PM_DIFF_NONE, &none);
	}
	for (uint32_t k = 0; k < nb; k++) {
		uint32_t x = d->b.match[fb + k];

		if (x == PM_DIFF_NONE)
			add_change(out, PM_DIFF_ADDED, subject, PM_DIFF_NONE, k, &none);
		else
			port_pair(d, subject, x, fb + k, x - fa, k, out);
	}
}

static void changes(const Diffing *d, PmDiff *out)
{
	PmDiffBody *in_a = pm_xcalloc((size_t)d->a.n_nodes + 1, sizeof *in_a);
	PmDiffBody *in_b = pm_xcalloc((size_t)d->b.n_nodes + 1, sizeof *in_b);

	pm__diff_kernels(&d->a, &d->b, in_a);
	pm__diff_kernels(&d->b, &d->a, in_b);
	port_changes(d, PM_DIFF_INPUT, out);
	node_changes(d, in_a, in_b, out);
	port_changes(d, PM_DIFF_OUTPUT, out);
	for (uint32_t i = 0; i < d->a.n_nodes; i++)
		PM_VEC_RELEASE(&in_a[i]);
	for (uint32_t i = 0; i < d->b.n_nodes; i++)
		PM_VEC_RELEASE(&in_b[i]);
	free(in_a);
	free(in_b);
}

static uint32_t *copy_matches(const Side *s)
{
	uint32_t *out = pm_xcalloc((size_t)s->n_nodes + 1, sizeof *out);

	memcpy(out, s->match, s->n_nodes * sizeof *out);
	return out;
}

/* The matches of n ports from item fa on, as numbers of the ports from item fb on. */
static uint32_t *port_matches(const Side *s, uint32_t fa, uint32_t n, uint32_t fb)
{
	uint32_t *out = pm_xcalloc((size_t)n + 1, sizeof *out);

	for (uint32_t i = 0; i < n; i++)
		out[i] = s->match[fa + i] == PM_DIFF_NONE ? PM_DIFF_NONE : s->match[fa + i] - fb;
	return out;
}

static void copy_ports(const Diffing *d, PmDiff *out)
{
	uint32_t fa = d->a.n_nodes + d->a.n_inputs, fb = d->b.n_nodes + d->b.n_inputs;

	out->input_to_b = port_matches(&d->a, d->a.n_nodes, d->a.n_inputs, d->b.n_nodes);
	out->output_to_b = port_matches(&d->a, fa, d->a.n - fa, fb);
}

PmStatus pm_diff(const PmGraph *a, const PmGraph *b, PmDiff *out, PmErr *err)
{
	Diffing d = { 0 };
	PmStatus st = pm__diff_side(a, &d.a, err);
	int swapped;

	memset(out, 0, sizeof *out);
	out->a = a;
	out->b = b;
	if (!st)
		st = pm__diff_side(b, &d.b, err);
	if (!st) {
		swapped = order(&d.a, &d.b) > 0;
		if (swapped)
			swap(&d);
		st = pm__diff_seed(&d, err);
		if (!st) {
			pm__diff_match(&d);
			pm__diff_repair(&d);
		}
		if (swapped)
			swap(&d);
		out->to_b = copy_matches(&d.a);
		out->to_a = copy_matches(&d.b);
		copy_ports(&d, out);
		pm__diff_order(&d, out);
		changes(&d, out);
	}
	pm__diff_side_release(&d.a);
	pm__diff_side_release(&d.b);
	PM_VEC_RELEASE(&d.queue);
	return st;
}

void pm_diff_release(PmDiff *d)
{
	free(d->to_a);
	free(d->to_b);
	free(d->input_to_b);
	free(d->output_to_b);
	for (size_t i = 0; i < d->change.n; i++)
		free(d->change.v[i].what);
	PM_VEC_RELEASE(&d->change);
	PM_VEC_RELEASE(&d->order);
}
