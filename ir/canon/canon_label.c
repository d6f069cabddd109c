/* SPDX-License-Identifier: Apache-2.0 */
/* canon_label.c - canonical text of a node's operator and attributes, of types and of small constants. */
#include "ir/canon/canon_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 8, SMALL_CONST = 64 };

void pm__canon_type(const PmCanon *c, const PmType *t, const uint32_t *symbol_of, PmStr *out)
{
	int i;

	if (c->level == PM_CANON_STRUCTURE)
		return;
	pm_str_addc(out, ':');
	if (c->level == PM_CANON_FULL)
		pm_str_add(out, pm_dtype_name(t->dtype));
	pm_str_add(out, t->rank < 0 ? "[..." : "[");
	for (i = 0; i < t->rank; i++) {
		if (i)
			pm_str_addc(out, ',');
		if (t->dim[i] >= 0)
			pm_str_addi(out, t->dim[i]);
		else if (symbol_of)
			pm_str_addf(out, "s%u", (unsigned)symbol_of[-(t->dim[i] + 1)]);
		else
			pm_str_addc(out, 's');
	}
	pm_str_addc(out, ']');
}

static void add_hex(PmStr *out, const void *p, size_t n)
{
	const unsigned char *b = p;
	size_t i;

	for (i = 0; i < n; i++) {
		pm_str_addc(out, "0123456789abcdef"[b[i] >> 4]);
		pm_str_addc(out, "0123456789abcdef"[b[i] & 15]);
	}
}

/* Data of at most SMALL_CONST elements. */
static void add_small_data(const PmType *t, const PmBlob *b, PmStr *out)
{
	int64_t numel;

	if (pm_type_numel(t, &numel, NULL) || numel > SMALL_CONST || !b)
		return;
	pm_str_addc(out, '=');
	if (b->data)
		add_hex(out, b->data, b->size);
	else
		pm_str_addc(out, '?');
}

void pm__canon_source(const PmCanon *c, PmValue v, PmStr *out)
{
	int is_const = pm_value_is_const(c->g, v);
	const char *law;
	size_t i;

	pm_str_add(out, is_const ? "const" : "input");
	for (i = 0; c->depth && !is_const && i < pm_graph_n_inputs(c->g); i++) {
		if (pm_graph_input(c->g, i).id == v.id)
			pm_str_addf(out, "%zu", i); /* a body's inputs are bound by position */
	}
	law = is_const || c->depth || c->level != PM_CANON_FULL ? NULL : pm_graph_input_law(c->g, v);
	if (law) {
		pm_str_addc(out, ' ');
		pm_str_add_quoted(out, law, strlen(law));
	}
	if (is_const && c->level == PM_CANON_FULL)
		add_small_data(pm_value_type(c->g, v), pm_value_blob(c->g, v), out);
}

/* ---- attributes ---- */

static PmStatus add_graph_hash(const PmGraph *g, PmCanonLevel level, int depth, PmStr *out, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	char hex[PM_SHA256_HEX];
	PmStatus st = PM_OK;

	if (depth >= MAX_DEPTH)
		return pm_err(err, PM_E_LIMIT, "Graphs in attributes are nested more than %d deep.",
			      MAX_DEPTH);
	if (g)
		st = pm__canon_text_at(g, level, depth + 1, &text, err);
	if (st == PM_OK) {
		pm_sha256_hex(text.s, text.len, hex);
		pm_str_add(out, hex);
	}
	pm_str_release(&text);
	return st;
}

static void add_tensor(const PmAttr *a, PmStr *out)
{
	char hex[PM_SHA256_HEX];

	pm_type_describe(&a->type, out);
	pm_str_addc(out, '=');
	if (!a->blob || !a->blob->data) {
		pm_str_addc(out, '?');
		return;
	}
	pm_sha256_hex(a->blob->data, a->blob->size, hex);
	pm_str_add(out, hex);
}

static PmStatus add_attr(const PmCanon *c, const PmAttr *a, PmStr *out, PmErr *err)
{
	size_t i;

	pm_str_addc(out, ' ');
	pm_str_add_quoted(out, a->name, strlen(a->name));
	pm_str_addc(out, '=');
	pm_str_addi(out, (int)a->kind);
	pm_str_addc(out, ':');
	if (a->kind == PM_ATTR_INT)
		pm_str_addi(out, a->i);
	else if (a->kind == PM_ATTR_FLOAT)
		pm_str_addf(out, "%.17g", a->f);
	else if (a->kind == PM_ATTR_STRING)
		pm_str_add_quoted(out, a->s, a->n);
	else if (a->kind == PM_ATTR_TENSOR)
		add_tensor(a, out);
	else if (a->kind == PM_ATTR_GRAPH)
		return add_graph_hash(a->graph, c->level, c->depth, out, err);
	for (i = 0; i < a->n && a->kind == PM_ATTR_INTS; i++) {
		pm_str_addi(out, a->ints[i]);
		pm_str_addc(out, ',');
	}
	for (i = 0; i < a->n && a->kind == PM_ATTR_FLOATS; i++)
		pm_str_addf(out, "%.17g,", a->floats[i]);
	for (i = 0; i < a->n && a->kind == PM_ATTR_STRINGS; i++)
		pm_str_add_quoted(out, a->strings[i], strlen(a->strings[i]));
	return PM_OK;
}

static int is_default(const PmAttr *a, const PmAttrDesc *d)
{
	if (!d || !d->has_default || d->kind != a->kind)
		return 0;
	if (a->kind == PM_ATTR_INT)
		return a->i == d->i;
	if (a->kind == PM_ATTR_FLOAT)
		return a->f == d->f;
	if (a->kind == PM_ATTR_STRING)
		return a->n == strlen(d->s) && memcmp(a->s, d->s, a->n) == 0;
	return a->kind == PM_ATTR_INTS && a->n == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const PmAttr *const *)a)->name, (*(const PmAttr *const *)b)->name);
}

static PmStatus add_attrs(const PmCanon *c, PmNode n, PmStr *out, PmErr *err)
{
	PmOp op = pm_node_op(c->g, n);
	size_t i, count = pm_node_n_attrs(c->g, n);
	const PmAttr **sorted;
	PmStatus st = PM_OK;

	if (!count)
		return PM_OK;
	sorted = pm_xcalloc(count, sizeof *sorted);
	for (i = 0; i < count; i++)
		sorted[i] = pm_node_attr_at(c->g, n, i);
	qsort(sorted, count, sizeof *sorted, by_name);
	for (i = 0; i < count && st == PM_OK; i++) {
		if (!is_default(sorted[i], pm_op_attr_desc(op, sorted[i]->name)))
			st = add_attr(c, sorted[i], out, err);
	}
	free(sorted);
	return st;
}

PmStatus pm__canon_node_label(PmCanon *c, PmNode n, PmStr *out, PmErr *err)
{
	PmOp op = pm_node_op(c->g, n);
	const PmAttr *body = pm_node_attr(c->g, n, "body");

	if (op == PM_OP_Opaque) {
		pm_str_add_quoted(out, pm_node_domain(c->g, n), strlen(pm_node_domain(c->g, n)));
		pm_str_add_quoted(out, pm_node_op_name(c->g, n), strlen(pm_node_op_name(c->g, n)));
	} else {
		pm_str_add(out, pm_op_desc(op)->name);
	}
	if (pm_node_n_out(c->g, n) != 1)
		pm_str_addf(out, "/%zu", pm_node_n_out(c->g, n));
	if (c->level == PM_CANON_FULL)
		return add_attrs(c, n, out, err);
	/* A kernel means its body at every level. */
	if (op == PM_OP_Kernel && body && body->kind == PM_ATTR_GRAPH) {
		pm_str_addc(out, ' ');
		return add_graph_hash(body->graph, c->level, c->depth, out, err);
	}
	return PM_OK;
}
