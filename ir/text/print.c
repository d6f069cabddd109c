/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - a graph in its canonical text form. */
#include "ir/text/text.h"

#include "base/core/vec.h"
#include "ir/core/element.h"
#include "ir/data/stats.h"
#include "ir/infer/infer_priv.h"
#include "ir/text/parse_priv.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Printer {
	const PmPrintOpts *opts;
	PmStr *out;
	PmErr *err;
	int depth;
} Printer;

/* A graph being printed. */
typedef struct Page {
	Printer *pr;
	const PmGraph *g;
	int indent;
	uint32_t *number; /* renumber: 1 + the number of each value */
	uint32_t n_numbered;
	PM_VEC(PmValue) consts; /* in the order they are printed */
} Page;

static PmStatus graph_text(Printer *pr, const PmGraph *g, int indent);

/* ---- words ---- */

static int is_plain(const char *s)
{
	static const char *const reserved[] = { "inf", "nan", "undefined" };

	if (!*s || (*s >= '0' && *s <= '9'))
		return 0;
	for (const char *p = s; *p; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
		      *p == '_'))
			return 0;
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
		if (strcmp(s, reserved[i]) == 0)
			return 0;
	return pm_dtype_from_name(s) < 0;
}

void pm__text_add_name(const char *name, PmStr *out)
{
	if (is_plain(name))
		pm_str_add(out, name);
	else
		pm_str_add_quoted(out, name, strlen(name));
}

void pm__text_add_type(const PmGraph *g, const PmType *t, PmStr *out)
{
	pm_str_add(out, pm_dtype_name(t->dtype));
	if (t->rank == 0)
		return;
	pm_str_addc(out, '[');
	for (int i = 0; i < t->rank; i++) {
		const char *sym = pm_graph_symbol_name(g, t->dim[i]);

		if (i)
			pm_str_addc(out, ',');
		if (sym)
			pm__text_add_name(sym, out);
		else
			pm_str_addf(out, "%" PRId64, t->dim[i]);
	}
	pm_str_addc(out, ']');
}

/* `point`: make it readable as a float, not an integer. */
static void add_float(PmStr *out, double x, int digits, int point)
{
	char buf[48];

	if (x != x) {
		pm_str_add(out, "nan");
		return;
	}
	snprintf(buf, sizeof buf, "%.*g", digits, x);
	pm_str_add(out, buf);
	if (point && !strpbrk(buf, ".en"))
		pm_str_add(out, ".0");
}

static void add_element(PmStr *out, int dtype, const unsigned char *p)
{
	if (pm_dtype_is_float(dtype))
		add_float(out, pm_float_load(dtype, p), pm_dtype_size(dtype) > 4 ? 17 : 9, 0);
	else if (pm_dtype_is_unsigned(dtype))
		pm_str_addf(out, "%" PRIu64, (uint64_t)pm_int_load(dtype, p));
	else
		pm_str_addf(out, "%" PRId64, pm_int_load(dtype, p));
}

static int has_data(const PmBlob *b)
{
	return b->data || b->size == 0;
}

static void add_data(PmStr *out, const PmType *t, const PmBlob *b, int by_reference)
{
	size_t size = pm_dtype_size(t->dtype);

	if (by_reference || (!has_data(b) && b->location && strcmp(b->location, "@") == 0)) {
		pm_str_add(out, "[\"location\": \"@\"]");
		return;
	}
	if (!has_data(b)) {
		const char *where = b->location ? b->location : "";

		pm_str_add(out, "[\"location\": ");
		pm_str_add_quoted(out, where, strlen(where));
		pm_str_addf(out, ", \"offset\": \"%" PRId64 "\", \"length\": \"%zu\"]", b->offset, b->size);
		return;
	}
	pm_str_addc(out, '{');
	for (size_t at = 0; at + size <= b->size; at += size) {
		if (at)
			pm_str_add(out, ", ");
		add_element(out, t->dtype, (const unsigned char *)b->data + at);
	}
	pm_str_addc(out, '}');
}

static void new_line(const Page *pg, int extra)
{
	pm_str_addc(pg->pr->out, '\n');
	for (int i = 0; i < pg->indent + extra; i++)
		pm_str_addc(pg->pr->out, ' ');
}

static void add_value(const Page *pg, PmValue v)
{
	if (pg->number)
		pm_str_addf(pg->pr->out, "v%u", pg->number[v.id] - 1);
	else
		pm__text_add_name(pm_value_name(pg->g, v), pg->pr->out);
}

/* ---- the order of values ---- */

static void number_value(Page *pg, PmValue v)
{
	if (pg->number && v.id && !pg->number[v.id])
		pg->number[v.id] = ++pg->n_numbered;
}

/* Collects the constants: by id, or by first use when values are renumbered, the unused last. */
static void collect(Page *pg)
{
	const PmGraph *g = pg->g;
	uint32_t limit = pm_graph_value_limit(g);
	size_t n_nodes = pm_graph_n_nodes(g);

	if (pg->pr->opts->renumber)
		pg->number = pm_xcalloc(limit, sizeof *pg->number);
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		number_value(pg, pm_graph_input(g, i));
	for (size_t i = 0; pg->number && i < n_nodes; i++) {
		PmNode n = pm_graph_node_at(g, i);

		for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
			PmValue v = pm_node_in(g, n, k);

			if (pm_value_is_const(g, v) && !pg->number[v.id]) {
				number_value(pg, v);
				PM_VEC_PUSH(&pg->consts, v);
			}
		}
	}
	for (PmValue v = { 1 }; v.id < limit; v.id++)
		if (pm_value_is_const(g, v) && !(pg->number && pg->number[v.id])) {
			number_value(pg, v);
			PM_VEC_PUSH(&pg->consts, v);
		}
	for (size_t i = 0; pg->number && i < n_nodes; i++) {
		PmNode n = pm_graph_node_at(g, i);

		for (size_t k = 0; k < pm_node_n_out(g, n); k++)
			number_value(pg, pm_node_out(g, n, k));
	}
}

/* ---- which types the text has to state ---- */

static int is_reference(const Page *pg, PmValue v)
{
	const PmBlob *b = pm_value_blob(pg->g, v);
	size_t size = pm_dtype_size(pm_value_type(pg->g, v)->dtype);
	int64_t max = pg->pr->opts->max_inline;

	return max > 0 && size && b->size / size > (uint64_t)max;
}

/* The operand whose value is the result's shape, when n has one. */
static PmValue shape_operand(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);

	if (op == PM_OP_ConstantOfShape)
		return pm_node_in(g, n, 0);
	if (op == PM_OP_Reshape || op == PM_OP_Expand || op == PM_OP_Tile)
		return pm_node_in(g, n, 1);
	return (PmValue){ 0 };
}

/* 1 when whoever reads the text cannot derive the type of result k, which inference alone says is `t`. */
static int needs_type(const Page *pg, PmNode n, size_t k, const PmType *t)
{
	const PmGraph *g = pg->g;
	PmValue v = pm_node_out(g, n, k), shape = shape_operand(g, n);
	const PmType *have = pm_value_type(g, v);

	if (pm_value_is_output(g, v) || (have->dtype < 0 && have->rank < 0))
		return 0;
	if (t->dtype < 0 || t->rank < 0)
		return 1;
	if (pm_value_is_const(g, shape) && is_reference(pg, shape))
		return 1;
	for (int i = 0; i < t->rank; i++)
		if (t->dim[i] == PM_DIM_UNKNOWN)
			return 1;
	return 0;
}

/* ---- parts of a graph ---- */

static void add_typed(const Page *pg, PmValue v)
{
	const PmType *t = pm_value_type(pg->g, v);

	if (t->dtype >= 0 || t->rank >= 0) {
		pm__text_add_type(pg->g, t, pg->pr->out);
		pm_str_addc(pg->pr->out, ' ');
	}
	add_value(pg, v);
}

static void add_head(const Page *pg)
{
	PmStr *out = pg->pr->out;

	pm__text_add_name(pm_graph_name(pg->g), out);
	pm_str_add(out, " (");
	for (size_t i = 0; i < pm_graph_n_inputs(pg->g); i++) {
		pm_str_add(out, i ? ", " : "");
		add_typed(pg, pm_graph_input(pg->g, i));
	}
	pm_str_add(out, ") => (");
	for (size_t i = 0; i < pm_graph_n_outputs(pg->g); i++) {
		pm_str_add(out, i ? ", " : "");
		add_typed(pg, pm_graph_output(pg->g, i));
	}
	pm_str_addc(out, ')');
}

/* The start of the next entry of the list of constants and types. */
static void entry(const Page *pg, int *n, PmValue v)
{
	if ((*n)++)
		pm_str_addc(pg->pr->out, ',');
	new_line(pg, *n > 1 ? 1 : 0);
	if (*n == 1)
		pm_str_addc(pg->pr->out, '<');
	add_typed(pg, v);
}

static void add_list(const Page *pg)
{
	const PmGraph *g = pg->g;
	int n = 0;

	for (size_t i = 0; i < pg->consts.n; i++) {
		PmValue v = pg->consts.v[i];

		entry(pg, &n, v);
		pm_str_add(pg->pr->out, " = ");
		add_data(pg->pr->out, pm_value_type(g, v), pm_value_blob(g, v), is_reference(pg, v));
	}
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode node = pm_graph_node_at(g, i);
		size_t n_out = pm_node_n_out(g, node);
		PmType *t = pm_xcalloc(n_out + 1, sizeof *t);

		if (pm__infer_types(g, node, NULL, t, NULL) != PM_OK)
			for (size_t k = 0; k < n_out; k++)
				t[k] = pm_type_unknown();
		for (size_t k = 0; k < n_out; k++)
			if (needs_type(pg, node, k, &t[k]))
				entry(pg, &n, pm_node_out(g, node, k));
		free(t);
	}
	if (n)
		pm_str_addc(pg->pr->out, '>');
}

/* ---- attributes ---- */

typedef struct AttrRef {
	const PmAttr *a;
	int rank; /* place in the operator's table */
} AttrRef;

static int by_rank(const void *pa, const void *pb)
{
	const AttrRef *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(a->a->name, b->a->name);
}

static int is_default(const PmAttrDesc *d, const PmAttr *a)
{
	if (!d || !d->has_default || d->kind != a->kind)
		return 0;
	switch (a->kind) {
	case PM_ATTR_INT:
		return a->i == d->i;
	case PM_ATTR_FLOAT:
		return (float)a->f == (float)d->f;
	case PM_ATTR_STRING:
		return strlen(d->s) == a->n && memcmp(d->s, a->s, a->n) == 0;
	default:
		return a->n == 0;
	}
}

static void add_attr_list(PmStr *out, const PmAttr *a)
{
	pm_str_addc(out, '[');
	for (size_t i = 0; i < a->n; i++) {
		pm_str_add(out, i ? ", " : "");
		if (a->kind == PM_ATTR_INTS)
			pm_str_addf(out, "%" PRId64, a->ints[i]);
		else if (a->kind == PM_ATTR_FLOATS)
			add_float(out, a->floats[i], 9, 1);
		else
			pm_str_add_quoted(out, a->strings[i], strlen(a->strings[i]));
	}
	pm_str_addc(out, ']');
}

/* "@i", where the source is, or has become, number i of those beside the text. Equal attributes of a graph
 * are one, so that their texts are found by address. */
static void add_source(PmTextSources *all, const PmAttr *a, PmStr *out)
{
	size_t i = all->s.n;

	while (i > 0 && all->s.v[i - 1] != a->s)
		i--;
	if (!i) {
		PM_VEC_PUSH(&all->s, a->s);
		PM_VEC_PUSH(&all->n, a->n);
		i = all->s.n;
	}
	pm_str_addf(out, "\"@%zu\"", i - 1);
}

static PmStatus add_attr(const Page *pg, const PmAttr *a, int is_source)
{
	static const char *const empty[] = { "ints", "floats", "strings" };
	PmStr *out = pg->pr->out;

	pm__text_add_name(a->name, out);
	if (a->kind >= PM_ATTR_INTS && a->kind <= PM_ATTR_STRINGS && !a->n)
		pm_str_addf(out, ": %s", empty[a->kind - PM_ATTR_INTS]);
	pm_str_add(out, " = ");
	switch (a->kind) {
	case PM_ATTR_INT:
		pm_str_addf(out, "%" PRId64, a->i);
		break;
	case PM_ATTR_FLOAT:
		add_float(out, a->f, 9, 1);
		break;
	case PM_ATTR_STRING:
		if (is_source)
			add_source(pg->pr->opts->sources, a, out);
		else
			pm_str_add_quoted(out, a->s, a->n);
		break;
	case PM_ATTR_TENSOR:
		pm__text_add_type(pg->g, &a->type, out);
		pm_str_addc(out, ' ');
		add_data(out, &a->type, a->blob, 0);
		break;
	case PM_ATTR_GRAPH:
		return graph_text(pg->pr, a->graph, pg->indent + 3);
	default:
		add_attr_list(out, a);
	}
	return PM_OK;
}

static PmStatus add_attrs(const Page *pg, PmNode n)
{
	const PmGraph *g = pg->g;
	const PmOpDesc *d = pm_op_desc(pm_node_op(g, n));
	size_t count = pm_node_n_attrs(g, n), kept = 0;
	AttrRef *refs = pm_xcalloc(count + 1, sizeof *refs);
	int apart = pg->pr->opts->sources && !pg->indent && pm_node_op(g, n) == PM_OP_Kernel;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < count; i++) {
		const PmAttr *a = pm_node_attr_at(g, n, i);
		int rank = 0;

		while (rank < d->n_attrs && strcmp(d->attrs[rank].name, a->name) != 0)
			rank++;
		if (!is_default(rank < d->n_attrs ? &d->attrs[rank] : NULL, a))
			refs[kept++] = (AttrRef){ a, rank };
	}
	qsort(refs, kept, sizeof *refs, by_rank);
	for (size_t i = 0; i < kept && st == PM_OK; i++) {
		pm_str_add(pg->pr->out, i ? ", " : " <");
		st = add_attr(pg, refs[i].a, apart && pm__text_is_source(refs[i].a));
	}
	if (kept)
		pm_str_addc(pg->pr->out, '>');
	free(refs);
	return st;
}

/* ---- nodes and graphs ---- */

static PmStatus add_operator(const Page *pg, PmNode n)
{
	PmStr *out = pg->pr->out, full = PM_STR_INIT;
	const char *type = pm_node_op_name(pg->g, n), *domain = pm_node_domain(pg->g, n);
	PmStatus st = PM_OK;

	if (!(pm_op_desc(pm_node_op(pg->g, n))->flags & PM_OPF_OPAQUE)) {
		pm_str_add(out, type);
		return PM_OK;
	}
	if (strchr(domain, ':') || (!*domain && strchr(type, ':'))) {
		pm_node_describe(pg->g, n, &full);
		st = pm_err(
			pg->pr->err, PM_E_UNSUPPORTED,
			"The operator of %.300s has a ':' in its domain or name, which the text form cannot "
			"say; rename it in the model.",
			full.s);
	} else {
		if (*domain)
			pm_str_addf(&full, "%s:", domain);
		pm_str_add(&full, type);
		pm_str_add_quoted(out, full.s, full.len);
	}
	pm_str_release(&full);
	return st;
}

static PmStatus add_node(const Page *pg, PmNode n)
{
	const PmGraph *g = pg->g;
	PmStr *out = pg->pr->out;
	size_t n_in = pm_node_n_in(g, n);
	PmStatus st;

	new_line(pg, 3);
	if (*pm_node_name(g, n) && !pg->number) {
		pm_str_addc(out, '[');
		pm__text_add_name(pm_node_name(g, n), out);
		pm_str_add(out, "] ");
	}
	for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
		pm_str_add(out, k ? ", " : "");
		add_value(pg, pm_node_out(g, n, k));
	}
	pm_str_add(out, pm_node_n_out(g, n) ? " = " : "= ");
	st = add_operator(pg, n);
	if (st == PM_OK)
		st = add_attrs(pg, n);
	if (st != PM_OK)
		return st;
	pm_str_add(out, " (");
	for (size_t k = 0; k < n_in; k++) {
		PmValue v = pm_node_in(g, n, k);

		pm_str_add(out, k ? ", " : "");
		if (v.id)
			add_value(pg, v);
		else if (k + 1 == n_in)
			pm_str_add(out, "\"\""); /* a comma before ')' would be easy to miss */
	}
	pm_str_addc(out, ')');
	return PM_OK;
}

static PmStatus graph_text(Printer *pr, const PmGraph *g, int indent)
{
	Page pg = { .pr = pr, .g = g, .indent = indent };
	PmStatus st = PM_OK;

	if (pr->depth > PM_TEXT_MAX_DEPTH)
		return pm_err(
			pr->err, PM_E_LIMIT,
			"Graphs inside attributes are nested more than %d deep, which the text form does not "
			"support.",
			(int)PM_TEXT_MAX_DEPTH);
	pr->depth++;
	collect(&pg);
	add_head(&pg);
	add_list(&pg);
	new_line(&pg, 0);
	pm_str_addc(pr->out, '{');
	for (size_t i = 0; i < pm_graph_n_nodes(g) && st == PM_OK; i++)
		st = add_node(&pg, pm_graph_node_at(g, i));
	new_line(&pg, 0);
	pm_str_addc(pr->out, '}');
	free(pg.number);
	PM_VEC_RELEASE(&pg.consts);
	pr->depth--;
	return st;
}

/* The law of an input follows its new name: inputs are numbered first. */
static void add_key(const PmGraph *g, const char *key, int renumber, PmStr *out)
{
	size_t input = renumber ? pm_graph_law_input(g, key) : pm_graph_n_inputs(g);
	PmStr renamed = PM_STR_INIT;

	if (input < pm_graph_n_inputs(g)) {
		pm_str_addf(&renamed, PM_INPUT_LAW_KEY "v%zu", input);
		key = renamed.s;
	}
	pm_str_add_quoted(out, key, strlen(key));
	pm_str_release(&renamed);
}

static void add_header(const PmGraph *g, const PmPrintOpts *opts, PmStr *out)
{
	size_t n = 0;

	pm_str_add(out, "<ir_version: 8, opset_import: [\"\" : 18]");
	for (size_t i = 0; i < pm_graph_n_meta(g); i++) {
		const char *key, *value;

		pm_graph_meta_at(g, i, &key, &value);
		if (opts->no_stats && !strcmp(key, PM_STATS_KEY))
			continue;
		pm_str_add(out, n++ ? ", " : ", metadata_props: [");
		add_key(g, key, opts->renumber, out);
		pm_str_add(out, ": ");
		pm_str_add_quoted(out, value, strlen(value));
	}
	pm_str_add(out, n ? "]>\n" : ">\n");
}

PmStatus pm_graph_print(const PmGraph *g, const PmPrintOpts *opts, PmStr *out, PmErr *err)
{
	static const PmPrintOpts plain;
	Printer pr = { .opts = opts ? opts : &plain, .out = out, .err = err };
	size_t before = out->len;
	PmStatus st;

	if (!pr.opts->no_header)
		add_header(g, pr.opts, out);
	st = graph_text(&pr, g, 0);
	if (st == PM_OK) {
		pm_str_addc(out, '\n');
	} else {
		out->len = before;
		if (out->cap)
			out->s[before] = '\0';
	}
	return st;
}
