/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import_func.c - model-local functions are inlined where they are called.
 *
 * The body is imported in a scope of its own: its inputs stand for the call's operands, its outputs get the
 * names of the call's results, everything else is prefixed by the call.
 */
#include "ir/onnx/onnx_source.h"

#include <string.h>

/* Of FunctionProto in schemas newer than ours: defaults of attributes. */
enum { ATTRIBUTE_PROTO_FIELD = 11 };

static const char *text(const char *s)
{
	return s ? s : "";
}

/* Attribute defaults arrive as fields that our schema does not know: length, then an AttributeProto. */
static PmStatus read_defaults(PmImport *im, const Onnx__FunctionProto *f, PmOnnxScope *sc, PmErr *err)
{
	ProtobufCAllocator alloc = pm__onnx_arena_allocator(im->arena);
	unsigned i;

	sc->defaults = pm_arena_alloc(im->arena, f->base.n_unknown_fields * sizeof *sc->defaults);
	for (i = 0; i < f->base.n_unknown_fields && sc->defaults; i++) {
		const ProtobufCMessageUnknownField *u = &f->base.unknown_fields[i];
		size_t skip = 0;
		ProtobufCMessage *m;

		if (u->tag != ATTRIBUTE_PROTO_FIELD || u->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
			continue;
		while (skip < u->len && u->data[skip] & 0x80)
			skip++;
		skip += skip < u->len;
		if (pm__onnx_scan(&onnx__attribute_proto__descriptor, u->data + skip, u->len - skip, err))
			return PM_E_INVALID;
		m = protobuf_c_message_unpack(&onnx__attribute_proto__descriptor, &alloc, u->len - skip,
					      u->data + skip);
		if (!m)
			return pm_err(
				err, PM_E_INVALID,
				"A default attribute of the function '%.200s' cannot be read; fix the model.",
				text(f->name));
		sc->defaults[sc->n_defaults++] = (Onnx__AttributeProto *)m;
	}
	return PM_OK;
}

static PmStatus bind_inputs(PmOnnxScope *body, PmOnnxScope *sc, const Onnx__NodeProto *np,
			    const Onnx__FunctionProto *f, const PmOnnxWhere *w, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t k;

	if (np->n_input > f->n_input || np->n_output > f->n_output)
		return pm_err(err, PM_E_INVALID,
			      "There are %zu operands and %zu results at %s, but the function has %zu and "
			      "%zu; fix the "
			      "model.",
			      np->n_input, np->n_output, w->s, f->n_input, f->n_output);
	for (k = 0; k < f->n_input && !st; k++) {
		PmValue v = { 0 };
		PmOnnxName *nm;

		if (k < np->n_input)
			st = pm__scope_value(sc, np->input[k], &v, w, err);
		nm = pm__scope_at(body, f->input[k]);
		if (nm->known && *f->input[k])
			return pm_err(err, PM_E_INVALID,
				      "The function '%.100s' has two inputs called '%.100s'; fix it.",
				      text(f->name), f->input[k]);
		nm->known = 1;
		nm->value = v;
	}
	return st;
}

/* Before the body: results of the call whose names the body's nodes can give directly. */
static void pass_names(PmImport *im, PmOnnxScope *body, PmOnnxScope *sc, const Onnx__NodeProto *np,
		       const Onnx__FunctionProto *f)
{
	size_t k;

	for (k = 0; k < f->n_output; k++) {
		PmOnnxName *nm = pm__scope_at(body, f->output[k]);

		if (k >= np->n_output || !*np->output[k] || nm->known || pm__scope_final(body, nm))
			continue;
		pm__scope_set_final(body, nm, pm__import_final_name(im, sc, np->output[k]));
		nm->info = pm__scope_find(sc, np->output[k])->info;
	}
}

/* After the body: the call's results are the body's; one that is an operand or listed twice is copied. */
static PmStatus take_results(PmImport *im, PmOnnxScope *body, PmOnnxScope *sc, const Onnx__NodeProto *np,
			     const Onnx__FunctionProto *f, const PmOnnxWhere *w, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t k;

	for (k = 0; k < np->n_output && !st; k++) {
		const PmOnnxName *from = pm__scope_find(body, f->output[k]);
		PmOnnxName *to = pm__scope_find(sc, np->output[k]);
		const char *want;
		PmNode n;

		if (!*np->output[k])
			continue;
		if (!from || !from->known || !from->value.id)
			return pm_err(
				err, PM_E_INVALID,
				"Output '%.200s' of the function called at %s is defined by nothing; fix the "
				"function.",
				f->output[k], w->s);
		to->value = from->value;
		to->known = 1;
		want = pm__import_final_name(im, sc, np->output[k]);
		if (strcmp(pm_value_name(im->g, from->value), want) == 0)
			continue;
		st = pm_graph_add_node(im->g, PM_OP_Identity, &from->value, 1, 1, &n, err);
		if (st)
			return st;
		to->value = pm_node_out(im->g, n, 0);
		pm_value_set_type(im->g, to->value, pm_value_type(im->g, from->value));
		st = pm_value_set_name(im->g, to->value, want, err);
		if (!st)
			st = pm__import_check_name(im, sc, to, to->value, err);
	}
	return st;
}

static PmStatus import_body(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, const PmOnnxWhere *w,
			    const Onnx__FunctionProto *f, PmErr *err)
{
	const PmOnnxSource source = { .node = f->node, .n = { [PM_PART_NODE] = f->n_node } };
	PmStr prefix = PM_STR_INIT;
	PmOnnxScope body;
	int64_t opset;
	PmStatus st;

	pm__scope_init(&body, &source, NULL);
	pm_str_addf(&prefix, "%s%s%.200s", sc->prefix ? sc->prefix : "", sc->prefix ? "/" : "",
		    *text(np->name) ? np->name
		    : np->n_output  ? np->output[0]
				    : text(f->name));
	body.infos = sc->infos;
	body.opsets = f->opset_import;
	body.n_opsets = f->n_opset_import;
	body.caller = sc;
	body.call = np;
	body.prefix = prefix.s;
	body.depth = sc->depth + 1;
	st = pm__import_check_opsets(f->opset_import, f->n_opset_import, &opset, err);
	if (!st)
		st = read_defaults(im, f, &body, err);
	if (!st)
		st = bind_inputs(&body, sc, np, f, w, err);
	if (!st)
		pass_names(im, &body, sc, np, f);
	if (!st)
		st = pm__import_nodes(im, &body, err);
	if (st)
		pm_err_ctx(err, "Function '%.60s'", text(f->name));
	if (!st)
		st = take_results(im, &body, sc, np, f, w, err);
	pm__scope_release(&body);
	pm_str_release(&prefix);
	return st;
}

PmStatus pm__import_call(PmImport *im, PmOnnxScope *sc, Onnx__NodeProto *np, size_t index, PmOnnxFunction *fn,
			 PmErr *err)
{
	PmOnnxWhere w = pm__onnx_where(np, index);
	const Onnx__FunctionProto *f;
	PmStatus st = pm__import_kernel_call(im, sc, np, index, fn, err);

	if (st != PM_DECLINED)
		return st;
	if (sc->depth >= PM_ONNX_MAX_CALLS)
		return pm_err(
			err, PM_E_LIMIT,
			"Function calls are nested deeper than %d at %s; recursion is not allowed in ONNX.",
			PM_ONNX_MAX_CALLS, w.s);
	im->report->n_inlined++;
	f = pm__model_function(fn, err);
	return f ? import_body(im, sc, np, &w, f, err) : err->code;
}
