/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import_node.c - one node at a time: draft, normal form, graph node, inference; constants. */
#include "ir/onnx/onnx_source.h"

#include "ir/core/graph_priv.h"
#include "ir/infer/infer_priv.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const char *s)
{
	return s ? s : "";
}

/* ---- constants ---- */

static PmStatus add_list_const(PmImport *im, const char *name, PmDType dtype, int is_list, const void *data,
			       size_t n, PmValue *out, PmErr *err)
{
	int64_t dim = (int64_t)n;
	PmType t = pm_type(dtype, is_list, &dim);

	return pm_graph_add_const(im->g, name, &t, pm_blob_copy(data, n * pm_dtype_size(dtype)), out, err);
}

/* A Constant node becomes a constant; PM_DECLINED for the forms (text, sparse, foreign types) we lack. */
static PmStatus import_constant(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, PmValue *out,
				char why[96], PmErr *err)
{
	const Onnx__AttributeProto *a = np->n_attribute == 1 ? pm__scope_attr(sc, np->attribute[0]) : NULL;
	const char *kind = a ? text(np->attribute[0]->name) : "", *name;

	snprintf(why, 96, "a Constant of the form '%.40s'", kind);
	if (np->n_output != 1 || !*np->output[0] || np->n_input || !a)
		return PM_DECLINED;
	name = pm__import_final_name(im, sc, np->output[0]);
	if (strcmp(kind, "value") == 0 && a->t)
		return pm__import_const(im, name, a->t, !sc->prefix && !im->read_again, out, why, err);
	if (strcmp(kind, "value_int") == 0 && a->has_i)
		return add_list_const(im, name, PM_I64, 0, &a->i, 1, out, err);
	if (strcmp(kind, "value_float") == 0 && a->has_f)
		return add_list_const(im, name, PM_F32, 0, &a->f, 1, out, err);
	if (strcmp(kind, "value_ints") == 0)
		return add_list_const(im, name, PM_I64, 1, a->ints, a->n_ints, out, err);
	if (strcmp(kind, "value_floats") == 0)
		return add_list_const(im, name, PM_F32, 1, a->floats, a->n_floats, out, err);
	return PM_DECLINED;
}

/* ---- operators of the table ---- */

static PmStatus set_attr(PmGraph *g, PmNode n, PmDraftAttr *a, PmErr *err)
{
	PmBlob *blob = a->blob;

	switch (a->kind) {
	case PM_ATTR_INT:
		return pm_node_set_i(g, n, a->name, a->i, err);
	case PM_ATTR_FLOAT:
		return pm_node_set_f(g, n, a->name, a->f, err);
	case PM_ATTR_STRING:
		return pm_node_set_s(g, n, a->name, a->s, a->n, err);
	case PM_ATTR_INTS:
		return pm_node_set_ints(g, n, a->name, a->ints, a->n, err);
	default:
		a->blob = NULL;
		return pm_node_set_tensor(g, n, a->name, &a->type, blob, err);
	}
}

static PmStatus check_counts(const PmDraft *d, PmErr *err)
{
	const PmOpDesc *desc = pm_op_desc(d->op);
	int k;

	if (d->n_in < (size_t)desc->in_min || (desc->in_max >= 0 && d->n_in > (size_t)desc->in_max))
		return pm_err(err, PM_E_INVALID, "There are %zu operands at %s; %s takes %d%s.", d->n_in,
			      d->where.s, desc->name,
			      d->n_in < (size_t)desc->in_min ? desc->in_min : desc->in_max,
			      d->n_in < (size_t)desc->in_min ? " or more" : " at most");
	if (d->n_out < (size_t)desc->out_min || (desc->out_max >= 0 && d->n_out > (size_t)desc->out_max))
		return pm_err(err, PM_E_INVALID, "There are %zu results at %s; %s gives %d%s.", d->n_out,
			      d->where.s, desc->name,
			      d->n_out < (size_t)desc->out_min ? desc->out_min : desc->out_max,
			      d->n_out < (size_t)desc->out_min ? " or more" : " at most");
	for (k = 0; k < desc->in_min; k++) {
		if (!d->in[k].id)
			return pm_err(err, PM_E_INVALID,
				      "Operand %d of %s is omitted but required; fix the model.", k,
				      d->where.s);
	}
	return PM_OK;
}

/* Inference names a node as the graph counts it; whoever reads the sentence has the file. */
static void in_file_terms(const PmDraft *d, PmNode n, const PmErr *why, PmStr *out)
{
	PmStr own = PM_STR_INIT;

	pm_str_add(&own, "In ");
	pm_node_describe(d->g, n, &own);
	if (strncmp(why->text, own.s, own.len) == 0)
		pm_str_addf(out, "In %s%s", d->where.s, why->text + own.len);
	else
		pm_str_add(out, why->text);
	pm_str_release(&own);
}

/* Its results are named by pm__import_results, as soon as their types are known. */
static PmStatus add_nameless(PmDraft *d, PmNode *n, PmErr *err)
{
	PmStatus st;

	d->g->names_later = 1;
	st = pm_graph_add_node(d->g, d->op, d->in, d->n_in, d->n_out, n, err);
	d->g->names_later = 0;
	return st;
}

/* Adds the drafted node and infers its types. PM_DECLINED: it was taken back, d->why says why. */
static PmStatus emit(PmDraft *d, PmNode *n, PmErr *err)
{
	PmErr why;
	PmStatus st = check_counts(d, err);
	size_t k;

	if (!st)
		st = add_nameless(d, n, err);
	for (k = 0; k < d->n_attr && !st; k++)
		st = set_attr(d->g, *n, &d->attr[k], err);
	if (!st)
		st = pm_node_fill_defaults(d->g, *n, err);
	/* Inference overrides what the model states, but for the dimensions it cannot tell. */
	if (!st)
		st = pm__import_stated_types(d->im, d->sc, d->np, *n, err);
	if (st)
		return st;
	pm_err_init(&why);
	st = pm__infer_node(d->g, *n, d->im->fold, &why);
	if (st == PM_DECLINED || st == PM_E_UNSUPPORTED) {
		st = pm_graph_kill_node(d->g, *n, err);
		return st ? st : pm__decline(d, "%.180s", why.text);
	}
	if (st) {
		PmStr text = PM_STR_INIT;

		in_file_terms(d, *n, &why, &text);
		pm_err(err, st, "%s%s", text.s,
		       pm__import_mixed_type(d) < 0
			       ? ""
			       : " Cast one of them, or have casts stated with --types infer.");
		pm_str_release(&text);
	}
	return st;
}

/* A copy of something is a copy whatever it is. Operators that are taken apart have Identity's number too. */
static int copies(const PmDraft *d)
{
	return strcmp(d->np->op_type, "Identity") == 0 || strcmp(d->np->op_type, "Dropout") == 0;
}

static PmStatus draft_operands(PmDraft *d, PmErr *err)
{
	const Onnx__NodeProto *np = d->np;
	const PmNormRow *row = pm__norm_row(np);
	int takes_none = row && row->const_ops & PM_NORM_NO_OPERANDS;
	PmStatus st = PM_OK;
	size_t k;

	d->n_in = np->n_input;
	d->in = pm_arena_alloc(d->im->scratch, (np->n_input + 8) * sizeof *d->in);
	if (!d->in)
		return pm_err(err, PM_E_LIMIT, "The model takes too much memory at %s; split it.",
			      d->where.s);
	for (k = 0; k < np->n_input && !st; k++) {
		st = pm__scope_value(d->sc, np->input[k], &d->in[k], &d->where, err);
		if (!st && d->in[k].id && !copies(d) && pm_value_type(d->g, d->in[k])->rank < 0)
			st = pm__decline(d, "the type of operand %zu is not known", k);
	}
	while (d->n_in && !d->in[d->n_in - 1].id)
		d->n_in--;
	if (!st && !(takes_none && !np->n_input) && (!d->n_in || !d->in[0].id))
		st = pm_err(err, PM_E_INVALID, "Operand 0 of %s is omitted but required; fix the model.",
			    d->where.s);
	d->n_out = np->n_output;
	while (d->n_out && !*np->output[d->n_out - 1])
		d->n_out--;
	return st;
}

/* Names the results of an expanded operator. A result that is an operand, or another result, is copied. */
static PmStatus name_made(PmDraft *d, uint32_t first_value, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t k, i;

	for (k = 0; k < d->np->n_output && !st; k++) {
		PmValue v = k < d->n_made ? d->made[k] : (PmValue){ 0 };
		int fresh = v.id >= first_value;
		PmOnnxName *nm;

		if (!*d->np->output[k])
			continue;
		if (!v.id)
			return pm_err(err, PM_E_INVALID, "%s has no result %zu; fix the model.", d->where.s,
				      k);
		for (i = 0; i < k; i++)
			fresh &= d->made[i].id != v.id || !*d->np->output[i];
		if (!fresh)
			st = pm__draft_before(d, PM_OP_Identity, &v, 1, NULL, 0, &v, err);
		nm = pm__scope_find(d->sc, d->np->output[k]);
		if (!st)
			st = pm_value_set_name(d->g, v, pm__import_final_name(d->im, d->sc, d->np->output[k]),
					       err);
		nm->value = v;
		nm->known = 1;
		if (!st)
			st = pm__import_check_name(d->im, d->sc, nm, v, err);
	}
	return st;
}

/* Removes what a declined draft has added. */
static void take_back(PmGraph *g, uint32_t first_node, uint32_t first_value)
{
	uint32_t id;

	for (id = pm_graph_node_limit(g); id-- > first_node;)
		if (pm_node_op(g, (PmNode){ id }) != PM_OP_NONE)
			pm_graph_kill_node(g, (PmNode){ id }, NULL);
	for (id = pm_graph_value_limit(g); id-- > first_value;)
		if (pm_value_is_const(g, (PmValue){ id }))
			pm_graph_kill_const(g, (PmValue){ id }, NULL);
}

static PmStatus import_table_node(PmImport *im, PmOnnxScope *sc, Onnx__NodeProto *np, size_t index, PmOp op,
				  PmErr *err)
{
	PmDraft d;
	uint32_t first_node = pm_graph_node_limit(im->g), first_value = pm_graph_value_limit(im->g);
	size_t eaten = im->eaten.n;
	PmNode n = { 0 };
	PmStatus st;

	memset(&d, 0, offsetof(PmDraft, where)); /* the rest is several thousand bytes */
	d.why[0] = '\0';
	d.im = im;
	d.g = im->g;
	d.sc = sc;
	d.np = np;
	d.index = index;
	d.op = op;
	d.where = pm__onnx_where(np, index);
	d.opset = pm__scope_opset(sc, pm__onnx_domain(np));
	st = draft_operands(&d, err);
	if (!st)
		st = pm__norm(&d, err);
	if (!st && d.n_made)
		st = name_made(&d, first_value, err);
	else if (!st && im->opts->types_infer)
		st = pm__import_join_types(&d, err);
	if (!st && !d.n_made)
		st = emit(&d, &n, err);
	if (!st && !d.n_made)
		st = pm__import_results(im, sc, np, n, err);
	if (st == PM_DECLINED) {
		take_back(im->g, first_node, first_value);
		im->eaten.n = eaten;
		st = pm__import_opaque(im, sc, np, index, d.why, err);
	}
	pm__draft_release(&d);
	pm_arena_reset(im->scratch);
	return st;
}

static PmStatus import_node(PmImport *im, PmOnnxScope *sc, Onnx__NodeProto *np, size_t index, PmErr *err)
{
	const char *domain = pm__onnx_domain(np);
	PmStatus st;
	char why[96];
	PmOp op;

	if (!*text(np->op_type))
		return pm_err(err, PM_E_INVALID, "The operator type of %s is missing; fix the model.",
			      pm__onnx_where(np, index).s);
	if (strlen(np->op_type) > PM_MAX_NAME || strlen(domain) > PM_MAX_NAME ||
	    strlen(text(np->name)) > PM_MAX_NAME)
		return pm_err(err, PM_E_LIMIT, "A name at %s has more than %d bytes; shorten it.",
			      pm__onnx_where(np, index).s, PM_MAX_NAME);
	if (strchr(np->op_type, ':') || strchr(domain, ':'))
		return pm_err(err, PM_E_UNSUPPORTED,
			      "The operator type or domain at %s has a ':', which the text form of graphs "
			      "cannot say; "
			      "rename it.",
			      pm__onnx_where(np, index).s);
	if (strcmp(domain, PM_ONNX_KERNEL_DOMAIN) == 0 && strcmp(np->op_type, "Kernel") == 0)
		return pm__import_kernel(im, sc, np, index, err);
	op = pm__norm_op(np);
	if (*domain && op == PM_OP_NONE)
		return pm__import_opaque(im, sc, np, index, "not in the operator table", err);
	if (!pm__scope_opset(sc, domain))
		return pm_err(err, PM_E_INVALID,
			      "The model has %s but does not say which opset it uses; add an opset_import.",
			      pm__onnx_where(np, index).s);
	if (!*domain && strcmp(np->op_type, "Constant") == 0) {
		PmValue v = { 0 };

		st = import_constant(im, sc, np, &v, why, err);
		if (st == PM_DECLINED)
			return pm__import_opaque(im, sc, np, index, why, err);
		if (!st) {
			PmOnnxName *nm = pm__scope_find(sc, np->output[0]);

			nm->value = v;
			nm->known = 1;
			st = pm__import_check_name(im, sc, nm, v, err);
		}
		return st;
	}
	if (op == PM_OP_NONE)
		return pm__import_opaque(im, sc, np, index, "not in the operator table", err);
	return import_table_node(im, sc, np, index, op, err);
}

PmStatus pm__import_nodes(PmImport *im, PmOnnxScope *sc, PmErr *err)
{
	uint32_t *order = NULL;
	PmStatus st = pm__scope_order(sc, &order, err);
	size_t i;

	for (i = 0; i < sc->source->n[PM_PART_NODE] && !st; i++) {
		Onnx__NodeProto *np = pm__source_node(sc->source, order[i], sc->slot, err);
		PmOnnxFunction *f = np ? pm__onnx_function(im, np) : NULL;

		if (!np)
			st = err->code;
		else if (++im->n_nodes > im->max_nodes)
			st = pm_err(err, PM_E_LIMIT, "The model has more than %zu nodes; split it.",
				    im->max_nodes);
		else if (f)
			st = pm__import_call(im, sc, np, order[i], f, err);
		else
			st = import_node(im, sc, np, order[i], err);
	}
	free(order);
	return st;
}
