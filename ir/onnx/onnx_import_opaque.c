/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import_opaque.c - nodes whose meaning we do not know: kept as bytes, wired like any other node.
 *
 * Attribute `raw` is the NodeProto without operands, results and name; `opset` the version of its domain;
 * `captures` the names that its nested graphs take from outside, whose values follow the node's own operands.
 */
#include "ir/onnx/onnx_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const char *s)
{
	return s ? s : "";
}

static void record_opaque(PmOnnxReport *r, const char *domain, const char *op_type, const char *why)
{
	PmOnnxOpaque o = { .count = 1 };
	size_t i;

	r->n_opaque_nodes++;
	snprintf(o.name, sizeof o.name, "%.60s%s%.60s", domain, *domain ? ":" : "", op_type);
	snprintf(o.why, sizeof o.why, "%s", why);
	for (i = 0; i < r->n_opaque; i++) {
		if (strcmp(r->opaque[i].name, o.name) == 0 && strcmp(r->opaque[i].why, o.why) == 0) {
			r->opaque[i].count++;
			return;
		}
	}
	if (r->n_opaque < sizeof r->opaque / sizeof *r->opaque)
		r->opaque[r->n_opaque++] = o;
}

/* The serialised node without operands, results and name; a function's attribute references resolved. */
static void raw_bytes(const PmOnnxScope *sc, const Onnx__NodeProto *np, PmStr *out)
{
	Onnx__NodeProto copy = *np;
	Onnx__AttributeProto *resolved = pm_xcalloc(np->n_attribute + 1, sizeof *resolved);
	size_t i, n;
	char *buf;

	copy.n_input = copy.n_output = copy.n_attribute = 0;
	copy.name = NULL;
	if (!*pm__onnx_domain(np))
		copy.domain = NULL;
	copy.attribute = pm_xcalloc(np->n_attribute + 1, sizeof *copy.attribute);
	for (i = 0; i < np->n_attribute; i++) {
		const Onnx__AttributeProto *a = pm__scope_attr(sc, np->attribute[i]);

		if (!a)
			continue;
		resolved[i] = *a;
		resolved[i].name = np->attribute[i]->name;
		copy.attribute[copy.n_attribute++] = &resolved[i];
	}
	n = onnx__node_proto__get_packed_size(&copy);
	buf = pm_xmalloc(n + 1);
	onnx__node_proto__pack(&copy, (uint8_t *)buf);
	pm_str_addn(out, buf, n);
	free(buf);
	free(copy.attribute);
	free(resolved);
}

static PmStatus opaque_attrs(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, PmNode n,
			     const PmOnnxFree *captured, PmErr *err)
{
	PmStr raw = PM_STR_INIT;
	const char *domain = pm__onnx_domain(np);
	int64_t opset;
	PmStatus st = pm_node_set_opaque(im->g, n, domain, np->op_type, err);

	raw_bytes(sc, np, &raw);
	if (!st)
		st = pm_node_set_s(im->g, n, "raw", raw.s, raw.len, err);
	/* Of a domain that the model forgot to import, the export imports the first version. */
	opset = pm__scope_opset(sc, domain);
	if (opset < 1)
		opset = 1;
	/* What an older opset shares with the one we write is of that one: the same node reads the same. */
	if (!*domain && opset < PM_ONNX_OUT_OPSET && !pm__onnx_breaks(np, opset, PM_ONNX_OUT_OPSET))
		opset = PM_ONNX_OUT_OPSET;
	if (!st)
		st = pm_node_set_i(im->g, n, "opset", opset, err);
	if (!st && captured->v.n)
		st = pm_node_set_strings(im->g, n, "captures", captured->v.v, captured->v.n, err);
	pm_str_release(&raw);
	return st;
}

/* Nested graphs are kept as bytes, so nothing in them may need this model's functions or attributes. */
static PmStatus check_nested(const PmImport *im, const Onnx__NodeProto *np, const PmOnnxWhere *w, int top,
			     PmErr *err);

static PmStatus check_nested_graph(const PmImport *im, const Onnx__GraphProto *g, const PmOnnxWhere *w,
				   PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i;

	for (i = 0; g && i < g->n_node && !st; i++)
		st = check_nested(im, g->node[i], w, 0, err);
	return st;
}

static PmStatus check_nested(const PmImport *im, const Onnx__NodeProto *np, const PmOnnxWhere *w, int top,
			     PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i, k;

	if (!top && pm__onnx_function(im, np))
		return pm_err(err, PM_E_UNSUPPORTED,
			      "A nested graph of %s calls the model's function '%.200s'; inline the "
			      "functions first "
			      "(onnx.inliner).",
			      w->s, text(np->op_type));
	for (i = 0; i < np->n_attribute && !st; i++) {
		const Onnx__AttributeProto *a = np->attribute[i];

		if (!top && *text(a->ref_attr_name))
			return pm_err(err, PM_E_UNSUPPORTED,
				      "A nested graph of %s refers to the function's attribute '%.200s'; "
				      "inline the "
				      "functions first (onnx.inliner).",
				      w->s, a->ref_attr_name);
		st = check_nested_graph(im, a->g, w, err);
		for (k = 0; k < a->n_graphs && !st; k++)
			st = check_nested_graph(im, a->graphs[k], w, err);
	}
	return st;
}

PmStatus pm__import_opaque(PmImport *im, PmOnnxScope *sc, Onnx__NodeProto *np, size_t index, const char *why,
			   PmErr *err)
{
	PmOnnxWhere w = pm__onnx_where(np, index);
	PmOnnxFree captured = { { NULL, 0, 0 } };
	size_t n_in, k;
	PmValue *in;
	PmNode n;
	PmStatus st = check_nested(im, np, &w, 1, err);

	pm__onnx_captures(np, &captured);
	n_in = np->n_input + captured.v.n;
	in = pm_xcalloc(n_in + 1, sizeof *in);
	for (k = 0; k < n_in && !st; k++)
		st = pm__scope_value(sc, k < np->n_input ? np->input[k] : captured.v.v[k - np->n_input],
				     &in[k], &w, err);
	if (!st)
		st = pm_graph_add_node(im->g, PM_OP_Opaque, in, n_in, np->n_output, &n, err);
	if (!st)
		st = opaque_attrs(im, sc, np, n, &captured, err);
	if (!st)
		st = pm__import_stated_types(im, sc, np, n, err);
	if (!st)
		st = pm__import_results(im, sc, np, n, err);
	if (!st)
		record_opaque(im->report, pm__onnx_domain(np), np->op_type, why);
	PM_VEC_RELEASE(&captured.v);
	free(in);
	return st;
}

/* ---- one opset for all ---- */

static PmStatus raise_node(PmImport *im, PmGraph *g, PmNode n, int64_t opset, PmErr *err)
{
	ProtobufCAllocator alloc = pm__onnx_arena_allocator(im->arena);
	const PmAttr *raw = pm_node_attr(g, n, "raw");
	int64_t from = pm_node_i(g, n, "opset", opset);
	ProtobufCMessage *m;

	if (from >= opset || *pm_node_domain(g, n) || !raw || raw->kind != PM_ATTR_STRING)
		return PM_OK;
	if (pm__onnx_scan(&onnx__node_proto__descriptor, raw->s, raw->n, NULL))
		return PM_OK; /* writing it will say so */
	m = protobuf_c_message_unpack(&onnx__node_proto__descriptor, &alloc, raw->n, (const uint8_t *)raw->s);
	if (!m || pm__onnx_breaks((const Onnx__NodeProto *)m, from, opset))
		return PM_OK;
	return pm_node_set_i(g, n, "opset", opset, err);
}

static PmStatus raise_graph(PmImport *im, PmGraph *g, int64_t opset, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i, k;

	for (i = 0; i < pm_graph_n_nodes(g) && !st; i++) {
		PmNode n = pm_graph_node_at(g, i);

		if (pm_node_op(g, n) == PM_OP_Opaque)
			st = raise_node(im, g, n, opset, err);
		for (k = 0; k < pm_node_n_attrs(g, n) && !st; k++) {
			PmGraph *body = pm_node_attr_at(g, n, k)->graph;

			if (body)
				st = raise_graph(im, body, opset, err);
		}
	}
	return st;
}

PmStatus pm__import_raise_opsets(PmImport *im, PmErr *err)
{
	PmExportDomains domains = { NULL, 0, 0 };
	PmExport x = { .arena = im->arena, .g = im->g, .domains = &domains };
	PmStatus st = PM_OK;

	if (im->report->n_opaque_nodes && !pm__export_opset(&x, im->g, NULL) && x.opset > PM_ONNX_OUT_OPSET)
		st = raise_graph(im, im->g, x.opset, err);
	PM_VEC_RELEASE(&domains);
	return st;
}
