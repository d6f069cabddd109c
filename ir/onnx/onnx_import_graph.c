/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import_graph.c - a GraphProto becomes a graph: inputs, constants, nodes in order, outputs. */
#include "ir/core/graph_priv.h"
#include "ir/onnx/onnx_source.h"

#include <stdio.h>
#include <string.h>

enum { FEW_MORE = 32, MOST_MORE = 256 }; /* names besides those in the file that room is made for */

static const char *text(const char *s)
{
	return s ? s : "";
}

/* ---- constants ---- */

PmStatus pm__import_const(PmImport *im, const char *name, Onnx__TensorProto *t, int take, PmValue *out,
			  char why[96], PmErr *err)
{
	PmBlob *blob = NULL;
	PmType type;
	int absent = 0;
	PmStatus st = pm__onnx_tensor_type(t, &type, why, err);

	if (st)
		return st;
	if (t->has_data_location && t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
		st = pm__onnx_external(im->files, t, &type, &blob, &absent, err);
	else
		st = pm__onnx_tensor_data(t, &type, take, &blob, err);
	if (!st)
		st = pm_graph_add_const(im->g, name, &type, blob, out, err);
	if (!st)
		im->report->n_absent += (size_t)absent;
	return st;
}

/* ---- graphs ---- */

static PmStatus too_long(const char *what, PmErr *err)
{
	return pm_err(err, PM_E_LIMIT, "A name of %s has more than %d bytes; shorten it.", what, PM_MAX_NAME);
}

/* Notes the graph, so that invented names stay clear of its own; refuses over-long ones; makes room for it.
 */
static PmStatus take_names(PmImport *im, PmOnnxScope *sc, PmErr *err)
{
	const PmOnnxSource *src = sc->source;
	size_t n_nodes = src->n[PM_PART_NODE], values = src->n[PM_PART_INPUT] + src->n[PM_PART_INITIALIZER];
	PmOnnxWires w = { .nests = 0 };
	PmStatus st = PM_OK;
	size_t i, k, more, names, operands = 0;

	if (im->nested)
		pm__import_take_graph(im, src, 1); /* its message goes before the import ends */
	else
		im->taken->unread = src;
	for (i = 0; i < n_nodes && !st; i++) {
		pm__source_wires(src, i, &w);
		for (k = 0; k < w.out.n && !st; k++) {
			if (w.out.v[k].n > PM_MAX_NAME)
				st = too_long("a node's result", err);
		}
		operands += w.in.n;
		values += w.out.n;
	}
	pm__wires_release(&w);
	/* Some more values and names: constants that are made on the way, attributes. */
	more = FEW_MORE + values / 8;
	names = values + (more < MOST_MORE ? more : MOST_MORE);
	pm__graph_reserve(im->g, n_nodes, values + more, operands, names);
	PM_VEC_RESERVE(&sc->v, names);
	return st;
}

static const PmOnnxBind *bound(const PmImport *im, const char *name)
{
	size_t i;

	for (i = 0; i < im->opts->n_bind; i++) {
		if (strcmp(im->opts->bind[i].name, name) == 0)
			return &im->opts->bind[i];
	}
	return NULL;
}

static PmStatus add_input(PmImport *im, const Onnx__ValueInfoProto *info, int may_bind, PmValue *v,
			  PmErr *err)
{
	const char *name = text(info->name);
	const PmOnnxBind *b = may_bind ? bound(im, name) : NULL;
	char why[96];
	PmType t;
	PmStatus st;

	if (b) {
		st = pm_graph_add_const(im->g, name, &b->type, pm_blob_ref(b->blob), v, err);
		return st ? st : pm__import_check_stated(im, *v, info, err);
	}
	st = pm__import_type(im, info->type, "graph input", name, &t, why, err);
	if (!st && t.rank < 0)
		st = pm_err(err, PM_E_UNSUPPORTED,
			    "The graph input '%.200s' has no shape; state its dimensions, by name "
			    "where unknown.",
			    name);
	if (st == PM_DECLINED)
		st = pm_err(err, PM_E_UNSUPPORTED,
			    "The graph input '%.200s' cannot be read (%s); only tensors of supported "
			    "element "
			    "types are.",
			    name, why);
	return st ? st : pm_graph_add_input(im->g, name, &t, v, err);
}

static PmStatus one_input(PmImport *im, PmOnnxScope *sc, size_t i, PmErr *err)
{
	const Onnx__ValueInfoProto *info = pm__source_info(sc->source, PM_PART_INPUT, i, im->info_slot, err);
	const char *name = info ? text(info->name) : "";
	uint32_t id = pm__scope_id(sc, name, strlen(name));
	PmOnnxName *nm = &sc->v.v[id];
	PmValue v = { 0 };
	PmStatus st;

	if (!info)
		return err->code;
	if (strlen(name) > PM_MAX_NAME)
		return too_long("a graph input", err);
	if (!*name)
		return pm_err(err, PM_E_INVALID, "Graph input %zu has no name; name it.", i);
	if (nm->info || nm->known)
		return pm_err(err, PM_E_INVALID, "The graph input '%.200s' is listed twice; list it once.",
			      name);
	pm__scope_note(nm, PM_PART_INPUT, i);
	if (nm->constant) /* a default value: IR before version 4 lists every constant */
		return PM_OK;
	nm->known = 1;
	st = add_input(im, info, im->nested == 0, &v, err);
	sc->v.v[id].value = v;
	return st;
}

static PmStatus add_inputs(PmImport *im, PmOnnxScope *sc, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i;

	for (i = 0; i < sc->source->n[PM_PART_INITIALIZER]; i++) {
		PmOnnxText name = pm__source_name(sc->source, PM_PART_INITIALIZER, i);
		uint32_t id = pm__scope_id(sc, name.s, name.n);

		sc->v.v[id].constant = id != 0;
	}
	for (i = 0; i < sc->source->n[PM_PART_INPUT] && !st; i++)
		st = one_input(im, sc, i, err);
	return st;
}

/* A tensor of an element type that is not ours lives on as an opaque Constant node. */
static PmStatus opaque_constant(PmImport *im, PmOnnxScope *sc, Onnx__TensorProto *t, const char *why,
				PmErr *err)
{
	char op[] = "Constant", attr[] = "value";
	Onnx__AttributeProto a = ONNX__ATTRIBUTE_PROTO__INIT, *list = &a;
	Onnx__NodeProto np = ONNX__NODE_PROTO__INIT;
	char *name = t->name;
	PmStatus st;

	if (t->has_data_location && t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
		return pm_err(
			err, PM_E_UNSUPPORTED,
			"Initializer '%.200s' lies in another file and its %s; store it inline or cast it.",
			name, why);
	a.name = attr;
	a.has_type = 1;
	a.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
	a.t = t;
	np.op_type = op;
	np.n_output = 1;
	np.output = &name;
	np.n_attribute = 1;
	np.attribute = &list;
	st = pm__import_opaque(im, sc, &np, 0, why, err);
	return st;
}

static PmStatus add_initializer(PmImport *im, PmOnnxScope *sc, size_t i, PmErr *err)
{
	Onnx__TensorProto *t = pm__source_initializer(sc->source, i, sc->slot, err);
	const char *name = t ? text(t->name) : "";
	uint32_t id = pm__scope_id(sc, name, strlen(name));
	char why[96];
	PmStatus st;

	if (!t)
		return err->code;
	if (!*name)
		return pm_err(err, PM_E_INVALID, "Initializer %zu has no name; name it.", i);
	if (strlen(name) > PM_MAX_NAME)
		return too_long("an initializer", err);
	if (sc->v.v[id].known)
		return pm_err(err, PM_E_INVALID, "The initializer '%.200s' is listed twice; list it once.",
			      name);
	sc->v.v[id].known = 1;
	/* A graph in a function's body is read at each call. */
	st = pm__import_const(im, pm__import_final_name(im, sc, name), t, !sc->prefix && !im->read_again,
			      &sc->v.v[id].value, why, err);
	if (st == PM_DECLINED)
		return opaque_constant(im, sc, t, why, err);
	return st ? st : pm__import_check_name(im, sc, &sc->v.v[id], sc->v.v[id].value, err);
}

static PmStatus add_output(PmImport *im, PmOnnxScope *sc, size_t i, PmErr *err)
{
	const Onnx__ValueInfoProto *info = pm__source_info(sc->source, PM_PART_OUTPUT, i, im->info_slot, err);
	const PmOnnxName *nm = info ? pm__scope_find(sc, text(info->name)) : NULL;
	PmStatus st;

	if (!info)
		return err->code;
	if (!nm || !nm->known || !nm->value.id)
		return pm_err(err, PM_E_INVALID,
			      "The graph output '%.200s' is not defined by any input, initializer or "
			      "node; fix the "
			      "model.",
			      text(info->name));
	st = pm_graph_add_output(im->g, nm->value, err);
	if (!st && !im->opts->compare_stated) /* done where the value was made */
		st = pm__import_check_stated(im, nm->value, info, err);
	return st;
}

/* What the model states about the types of values, outputs last. */
static void note_types(PmOnnxScope *sc)
{
	static const PmPart parts[] = { PM_PART_INFO, PM_PART_OUTPUT };
	size_t i, k;

	for (k = 0; k < 2; k++) {
		for (i = 0; i < sc->source->n[parts[k]]; i++) {
			PmOnnxText name = pm__source_name(sc->source, parts[k], i);
			uint32_t id = pm__scope_id(sc, name.s, name.n);

			pm__scope_note(&sc->v.v[id], parts[k], i);
		}
	}
	sc->v.v[0].info = 0;
}

static PmStatus fill_graph(PmImport *im, PmOnnxScope *sc, PmErr *err)
{
	const PmOnnxSource *src = sc->source;
	PmStatus st = take_names(im, sc, err);
	size_t i;

	if (!st)
		st = add_inputs(im, sc, err);
	for (i = 0; i < src->n[PM_PART_INITIALIZER] && !st; i++)
		st = add_initializer(im, sc, i, err);
	if (!st)
		note_types(sc);
	if (!st)
		st = pm__import_nodes(im, sc, err);
	for (i = 0; i < src->n[PM_PART_OUTPUT] && !st; i++)
		st = add_output(im, sc, i, err);
	return st;
}

PmStatus pm__import_graph(PmImport *im, const PmOnnxSource *src, PmErr *err)
{
	char *name = pm_arena_strndup(im->arena, src->name.s, src->name.n);
	PmOnnxScope sc;
	PmStatus st;

	if (!name)
		return pm_err(err, PM_E_LIMIT, "The model takes too much memory for its names; split it.");
	st = pm_graph_set_name(im->g, name, err);
	if (!st && src->n_sparse)
		st = pm_err(err, PM_E_UNSUPPORTED, "The model has sparse initializers; store them dense.");
	if (st)
		return st;
	/* Most of its names become the graph's, so they are kept there. */
	pm__scope_init(&sc, src, im->g->names);
	sc.slot = im->node_slot;
	sc.opsets = im->model->head->opset_import;
	sc.n_opsets = im->model->head->n_opset_import;
	st = fill_graph(im, &sc, err);
	pm__scope_release(&sc);
	return st;
}

/* ---- graphs in attributes ---- */

/* Gives names of the body the values that they have around it. */
static PmStatus bind_names(PmOnnxScope *body, const PmOnnxScope *around, Onnx__AttributeProto *a,
			   const PmValue *in, const PmOnnxWhere *w, PmErr *err)
{
	Onnx__NodeProto alone = ONNX__NODE_PROTO__INIT;
	PmOnnxFree taken = { { NULL, 0, 0 } };
	PmStatus st = PM_OK;

	for (size_t k = 0; k < a->g->n_input; k++) {
		PmOnnxName *nm = pm__scope_at(body, text(a->g->input[k]->name));

		if (nm->known)
			return pm_err(err, PM_E_INVALID,
				      "The graph '%.100s' of %s has two inputs of one name; fix it.",
				      text(a->name), w->s);
		nm->known = 1;
		nm->value = in[k];
	}
	alone.n_attribute = 1;
	alone.attribute = &a;
	pm__onnx_captures(&alone, &taken);
	for (size_t k = 0; k < taken.v.n && !st; k++) {
		PmValue v = { 0 };

		st = pm__scope_value(around, taken.v.v[k], &v, w, err);
		*pm__scope_at(body, taken.v.v[k]) = (PmOnnxName){ .value = v, .known = 1 };
	}
	PM_VEC_RELEASE(&taken.v);
	return st;
}

static PmStatus fill_body(PmImport *im, PmOnnxScope *body, const Onnx__AttributeProto *a,
			  const PmOnnxWhere *w, PmValue *out, PmErr *err)
{
	PmArena *scratch = im->scratch; /* holds the draft of the node around */
	const PmOnnxName *nm;
	PmStatus st = PM_OK;

	im->scratch = pm_arena_new((size_t)1 << 30);
	for (size_t i = 0; i < body->source->n[PM_PART_INITIALIZER] && !st; i++)
		st = add_initializer(im, body, i, err);
	if (!st)
		st = pm__import_nodes(im, body, err);
	pm_arena_free(im->scratch);
	im->scratch = scratch;
	if (st)
		return pm_err_ctx(err, "The graph '%.60s' of %s", text(a->name), w->s);
	nm = pm__scope_find(body, text(a->g->output[0]->name));
	if (!nm || !nm->known || !nm->value.id)
		return pm_err(err, PM_E_INVALID, "Nothing defines the output of the graph '%.100s' of %s.",
			      text(a->name), w->s);
	*out = nm->value;
	return PM_OK;
}

PmStatus pm__import_inline(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, Onnx__AttributeProto *a,
			   const PmOnnxWhere *w, const PmValue *in, size_t n_in, PmValue *out, PmErr *err)
{
	PmStr prefix = PM_STR_INIT;
	PmOnnxSource source;
	PmOnnxScope body;
	PmStatus st;

	if (!a->g || a->g->n_input != n_in || a->g->n_output != 1 || a->g->n_sparse_initializer)
		return pm_err(
			err, PM_E_INVALID,
			"The attribute '%.100s' of %s has to be a graph of %zu input(s) and one output, "
			"without sparse initializers; fix the model.",
			text(a->name), w->s, n_in);
	if (sc->depth >= PM_ONNX_MAX_CALLS)
		return pm_err(err, PM_E_LIMIT, "Graphs and functions are nested deeper than %d at %s.",
			      PM_ONNX_MAX_CALLS, w->s);
	pm__source_of_graph(&source, a->g);
	pm__scope_init(&body, &source, NULL);
	pm_str_addf(&prefix, "%s%s%.200s/%.60s", sc->prefix ? sc->prefix : "", sc->prefix ? "/" : "",
		    *text(np->name) ? np->name : np->output[0], text(a->name));
	body.opsets = sc->opsets;
	body.n_opsets = sc->n_opsets;
	body.caller = sc->caller;
	body.call = sc->call;
	body.defaults = sc->defaults;
	body.n_defaults = sc->n_defaults;
	body.prefix = prefix.s;
	body.depth = sc->depth + 1;
	st = bind_names(&body, sc, a, in, w, err);
	if (!st)
		st = fill_body(im, &body, a, w, out, err);
	pm__scope_release(&body);
	pm_str_release(&prefix);
	return st;
}
