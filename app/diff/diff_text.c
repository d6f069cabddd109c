/* SPDX-License-Identifier: Apache-2.0 */
/* diff_text.c - what differs in a pair, as text. */
#include "app/diff/diff_priv.h"
#include "base/core/str.h"
#include "ir/canon/canon.h"
#include "ir/text/text.h"

#include <string.h>

enum { VALUE = 120 /* bytes of one value; what is longer is cut */ };

static void begin(PmStr *out)
{
	if (out->len)
		pm_str_add(out, "; ");
}

/* Appends at most VALUE bytes of a text, cut between characters. */
static void add_cut(const PmStr *text, PmStr *out)
{
	size_t n = text->len;

	if (n <= VALUE) {
		pm_str_addn(out, text->s, n);
		return;
	}
	for (n = VALUE; n && ((unsigned char)text->s[n] & 0xc0) == 0x80; n--)
		;
	pm_str_addn(out, text->s, n);
	pm_str_add(out, "...");
}

static void add_became(const PmStr *from, const PmStr *to, PmStr *out)
{
	add_cut(from, out);
	pm_str_add(out, " became ");
	add_cut(to, out);
}

static void node_text(const Side *s, uint32_t i, PmStr *out)
{
	PmNode n = pm_graph_node_at(s->g, i);
	PmStr text = PM_STR_INIT;

	if (*pm_node_name(s->g, n))
		pm_str_addf(&text, "%s '%s'", pm_node_op_name(s->g, n), pm_node_name(s->g, n));
	else if (pm_node_n_out(s->g, n))
		pm_str_addf(&text, "%s of %s", pm_node_op_name(s->g, n),
			    pm_value_name(s->g, pm_node_out(s->g, n, 0)));
	else
		pm_str_add(&text, pm_node_op_name(s->g, n));
	add_cut(&text, out);
	pm_str_release(&text);
}

static PmValue value_of(const Side *s, uint32_t item, size_t slot)
{
	if (item < s->n_nodes)
		return pm_node_in(s->g, pm_graph_node_at(s->g, item), slot);
	return pm_graph_output(s->g, item - s->n_nodes - s->n_inputs);
}

void pm__diff_operand_text(const Side *s, uint32_t item, size_t slot, PmStr *out)
{
	const Operand *o = &s->operand[s->first_operand[item] + slot];
	PmStr text = PM_STR_INIT;

	if (o->item < s->n_nodes) {
		if (o->result)
			pm_str_addf(&text, "result %u of ", (unsigned)o->result);
		node_text(s, o->item, &text);
	} else if (o->item != PM_DIFF_NONE) {
		pm_str_addf(&text, "input %s", pm_value_name(s->g, value_of(s, item, slot)));
	} else if (!o->is) {
		pm_str_add(&text, "nothing");
	} else {
		PmValue v = value_of(s, item, slot);

		pm_str_addf(&text, "constant %s: ", pm_value_name(s->g, v));
		pm_graph_describe_type(s->g, pm_value_type(s->g, v), &text);
	}
	add_cut(&text, out);
	pm_str_release(&text);
}

/* ---- attributes ---- */

static int same_graph(const PmGraph *a, const PmGraph *b)
{
	PmStr x = PM_STR_INIT, y = PM_STR_INIT;
	int same = !pm_canon_text(a, PM_CANON_FULL, &x, NULL) && !pm_canon_text(b, PM_CANON_FULL, &y, NULL) &&
		   x.len == y.len && !memcmp(x.s, y.s, x.len);

	pm_str_release(&x);
	pm_str_release(&y);
	return same;
}

static int same_blob(const PmAttr *a, const PmAttr *b)
{
	return pm_type_equal(&a->type, &b->type) && (a->blob == b->blob || !a->blob->data || !b->blob->data ||
						     !memcmp(a->blob->data, b->blob->data, a->blob->size));
}

/* An attribute, or its default; "none" when there is neither. */
static void attr_text(const PmAttr *a, PmOp op, const char *name, PmStr *out)
{
	const PmAttrDesc *desc = a ? NULL : pm_op_attr_desc(op, name);

	if (a)
		pm_attr_describe(a, out);
	else if (!desc || !desc->has_default)
		pm_str_add(out, "none");
	else if (desc->kind == PM_ATTR_INT)
		pm_str_addi(out, desc->i);
	else if (desc->kind == PM_ATTR_FLOAT)
		pm_str_addf(out, "%.9g", desc->f);
	else
		pm_str_add(out, desc->kind == PM_ATTR_STRING ? desc->s : "[]");
}

static void compare_attr(const PmAttr *a, const PmAttr *b, PmOp op, PmStr *out)
{
	const char *name = a ? a->name : b->name;
	PmStr x = PM_STR_INIT, y = PM_STR_INIT;
	int same_kind = a && b && a->kind == b->kind;

	attr_text(a, op, name, &x);
	attr_text(b, op, name, &y);
	if (strcmp(x.s, y.s) != 0) {
		begin(out);
		pm_str_addf(out, "attribute %s: ", name);
		add_became(&x, &y, out);
	} else if (same_kind && ((a->kind == PM_ATTR_TENSOR && !same_blob(a, b)) ||
				 (a->kind == PM_ATTR_GRAPH && !same_graph(a->graph, b->graph)))) {
		begin(out);
		pm_str_addf(out, "attribute %s: other contents of %s", name, x.s);
	}
	pm_str_release(&x);
	pm_str_release(&y);
}

static void compare_attrs(const PmGraph *ga, PmNode x, const PmGraph *gb, PmNode y, PmStr *out)
{
	for (size_t i = 0; i < pm_node_n_attrs(ga, x); i++) {
		const PmAttr *a = pm_node_attr_at(ga, x, i);

		compare_attr(a, pm_node_attr(gb, y, a->name), pm_node_op(ga, x), out);
	}
	for (size_t i = 0; i < pm_node_n_attrs(gb, y); i++) {
		const PmAttr *b = pm_node_attr_at(gb, y, i);

		if (!pm_node_attr(ga, x, b->name))
			compare_attr(NULL, b, pm_node_op(ga, x), out);
	}
}

/* ---- types and operands ---- */

static void compare_types(const Diffing *d, PmNode x, PmNode y, PmStr *out)
{
	const PmGraph *ga = d->a.g, *gb = d->b.g;
	size_t na = pm_node_n_out(ga, x), nb = pm_node_n_out(gb, y);
	PmStr s = PM_STR_INIT, t = PM_STR_INIT;

	if (na != nb) {
		begin(out);
		pm_str_addf(out, "results: %zu became %zu", na, nb);
	}
	for (size_t k = 0; k < na && k < nb; k++) {
		pm_str_clear(&s);
		pm_str_clear(&t);
		pm__diff_type(&d->a, pm_value_type(ga, pm_node_out(ga, x, k)), &s);
		pm__diff_type(&d->b, pm_value_type(gb, pm_node_out(gb, y, k)), &t);
		if (!strcmp(s.s, t.s))
			continue;
		pm_str_clear(&s);
		pm_str_clear(&t);
		pm_graph_describe_type(ga, pm_value_type(ga, pm_node_out(ga, x, k)), &s);
		pm_graph_describe_type(gb, pm_value_type(gb, pm_node_out(gb, y, k)), &t);
		begin(out);
		pm_str_addf(out, na > 1 ? "type of result %zu: " : "type of result: ", k);
		add_became(&s, &t, out);
	}
	pm_str_release(&s);
	pm_str_release(&t);
}

static void compare_operand(const Diffing *d, uint32_t x, size_t i, uint32_t y, size_t k, PmStr *out)
{
	const Operand *p = &d->a.operand[d->a.first_operand[x] + i];
	const Operand *q = &d->b.operand[d->b.first_operand[y] + k];
	PmStr s = PM_STR_INIT, t = PM_STR_INIT;

	if (pm__diff_corresponds(d, p, q))
		return;
	pm__diff_operand_text(&d->a, x, i, &s);
	pm__diff_operand_text(&d->b, y, k, &t);
	begin(out);
	pm_str_addf(out, "operand %zu: ", i);
	if (p->item == PM_DIFF_NONE && q->item == PM_DIFF_NONE && !strcmp(s.s, t.s)) {
		pm_str_add(out, "other contents of ");
		add_cut(&s, out);
	} else {
		add_became(&s, &t, out);
		if (!strcmp(s.s, t.s))
			pm_str_add(out, ", another one of that name");
	}
	pm_str_release(&s);
	pm_str_release(&t);
}

static void compare_operands(const Diffing *d, uint32_t x, uint32_t y, PmStr *out)
{
	size_t na = d->a.first_operand[x + 1] - d->a.first_operand[x];
	size_t nb = d->b.first_operand[y + 1] - d->b.first_operand[y];
	int swapped;

	pm__diff_operands(d, x, y, &swapped);
	if (na != nb) {
		begin(out);
		pm_str_addf(out, "operands: %zu became %zu", na, nb);
	}
	for (size_t k = 0; k < na && k < nb; k++)
		compare_operand(d, x, k, y, swapped && k < 2 ? 1 - k : k, out);
}

void pm__diff_node_text(const Diffing *d, uint32_t x, uint32_t y, PmStr *out)
{
	int same = pm__diff_same_operands(d, x, y);

	if (d->a.label[x] != d->b.label[y]) {
		PmNode n = pm_graph_node_at(d->a.g, x), m = pm_graph_node_at(d->b.g, y);

		compare_attrs(d->a.g, n, d->b.g, m, out);
		compare_types(d, n, m, out);
	}
	if (!same)
		compare_operands(d, x, y, out);
}

/* ---- subjects ---- */

const char *pm_diff_kind_name(PmDiffKind kind)
{
	static const char *const name[] = { "removed", "added", "changed" };

	return name[kind];
}

void pm_diff_describe(const PmDiff *d, const PmDiffChange *c, PmStr *out)
{
	const PmGraph *g = c->b != PM_DIFF_NONE ? d->b : d->a;
	uint32_t at = c->b != PM_DIFF_NONE ? c->b : c->a;

	if (c->subject == PM_DIFF_NODE) {
		Side s = { .g = g };

		node_text(&s, at, out);
		return;
	}
	pm_str_addf(out, c->subject == PM_DIFF_INPUT ? "input %.*s" : "output %.*s", VALUE,
		    pm_value_name(g, c->subject == PM_DIFF_INPUT ? pm_graph_input(g, at)
								 : pm_graph_output(g, at)));
}
