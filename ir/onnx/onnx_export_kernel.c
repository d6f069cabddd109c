/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_export_kernel.c - a kernel becomes a call of a function of the model (onnx_kernel.h). */
#include "ir/onnx/onnx_kernel.h"

#include <stdio.h>
#include <string.h>

static char literal_constant[] = "Constant", literal_value[] = "value", literal_identity[] = "Identity",
	    literal_domain[] = PM_ONNX_KERNEL_DOMAIN;

/* ---- the function ---- */

static Onnx__NodeProto *constant_node(PmExport *x, Onnx__TensorProto *t)
{
	Onnx__NodeProto *np = pm__export_alloc(x, 1, sizeof *np);
	Onnx__AttributeProto *a = pm__export_alloc(x, 1, sizeof *a);

	onnx__node_proto__init(np);
	onnx__attribute_proto__init(a);
	np->op_type = literal_constant;
	np->n_output = np->n_attribute = 1;
	np->output = pm__export_alloc(x, 1, sizeof *np->output);
	np->output[0] = t->name;
	np->attribute = pm__export_alloc(x, 1, sizeof *np->attribute);
	np->attribute[0] = a;
	a->name = literal_value;
	a->has_type = 1;
	a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
	a->t = t;
	return np;
}

/* Every name of the body: what a copy may not be called. */
static PmIntern *names_of(const Onnx__GraphProto *body)
{
	PmIntern *t = pm_intern_new();

	for (size_t i = 0; i < body->n_input; i++)
		pm_intern(t, body->input[i]->name, strlen(body->input[i]->name));
	for (size_t i = 0; i < body->n_initializer; i++)
		pm_intern(t, body->initializer[i]->name, strlen(body->initializer[i]->name));
	for (size_t i = 0; i < body->n_node; i++)
		for (size_t k = 0; k < body->node[i]->n_output; k++)
			pm_intern(t, body->node[i]->output[k], strlen(body->node[i]->output[k]));
	return t;
}

static Onnx__NodeProto *copy_node(PmExport *x, PmIntern *names, char *from)
{
	Onnx__NodeProto *np = pm__export_alloc(x, 1, sizeof *np);
	PmStr name = PM_STR_INIT;

	onnx__node_proto__init(np);
	for (int k = 1; k == 1 || pm_intern_find(names, name.s, name.len) != UINT32_MAX; k++) {
		pm_str_clear(&name);
		pm_str_addf(&name, "%s.copy.%d", from, k);
	}
	pm_intern(names, name.s, name.len);
	np->op_type = literal_identity;
	np->n_input = np->n_output = 1;
	np->input = pm__export_alloc(x, 1, sizeof *np->input);
	np->output = pm__export_alloc(x, 1, sizeof *np->output);
	np->input[0] = from;
	np->output[0] = pm__export_alloc(x, name.len + 1, 1);
	memcpy(np->output[0], name.s, name.len + 1);
	pm_str_release(&name);
	return np;
}

/* Outputs of the function are results of its nodes, each once: others are copied by nodes at the end. */
static size_t add_outputs(PmExport *x, const PmGraph *g, const Onnx__GraphProto *body, Onnx__FunctionProto *f)
{
	PmIntern *names = NULL;
	size_t copies = 0;

	f->n_output = body->n_output;
	f->output = pm__export_alloc(x, f->n_output, sizeof *f->output);
	for (size_t i = 0; i < f->n_output; i++) {
		PmValue v = pm_graph_output(g, i);
		int given = pm_value_def(g, v, NULL).id != 0;

		for (size_t k = 0; k < i; k++)
			given &= pm_graph_output(g, k).id != v.id;
		f->output[i] = body->output[i]->name;
		if (given)
			continue;
		names = names ? names : names_of(body);
		f->node[f->n_node] = copy_node(x, names, f->output[i]);
		f->output[i] = f->node[f->n_node++]->output[0];
		copies++;
	}
	pm_intern_free(names);
	return copies;
}

/* The default domain first, then those of the body, in the versions of the model. */
static void add_opsets(PmExport *x, const PmExportDomains *own, Onnx__FunctionProto *f)
{
	f->n_opset_import = own->n + 1;
	f->opset_import = pm__export_alloc(x, f->n_opset_import, sizeof *f->opset_import);
	for (size_t i = 0; i <= own->n; i++) {
		Onnx__OperatorSetIdProto *o = pm__export_alloc(x, 1, sizeof *o);

		onnx__operator_set_id_proto__init(o);
		o->has_version = 1;
		o->domain = (char *)(uintptr_t)(i ? own->v[i - 1].domain : "");
		o->version = i ? pm__export_note_domain(x, own->v[i - 1].domain, own->v[i - 1].version)
			       : x->opset;
		f->opset_import[i] = o;
	}
}

/* The body as a graph, and the domains that it needs. */
static PmStatus write_body(PmExport *x, const PmGraph *g, PmExportDomains *own, Onnx__GraphProto *body,
			   PmErr *err)
{
	PmExport sub = *x;
	PmStatus st;

	sub.domains = own;
	sub.depth++;
	st = pm__export_opset(&sub, g, err);
	sub.depth--;
	return st ? st : pm__export_graph(&sub, g, body, err);
}

static PmStatus write_function(PmExport *x, const PmGraph *g, Onnx__GraphProto *body, Onnx__FunctionProto *f,
			       size_t *copies, PmErr *err)
{
	PmExportDomains own = { NULL, 0, 0 };
	PmStatus st = write_body(x, g, &own, body, err);

	onnx__function_proto__init(f);
	f->domain = literal_domain;
	if (!st) {
		f->n_input = body->n_input;
		f->input = pm__export_alloc(x, f->n_input, sizeof *f->input);
		for (size_t i = 0; i < f->n_input; i++)
			f->input[i] = body->input[i]->name;
		f->node = pm__export_alloc(x, body->n_initializer + body->n_node + body->n_output,
					   sizeof *f->node);
		for (size_t i = 0; i < body->n_initializer; i++)
			f->node[f->n_node++] = constant_node(x, body->initializer[i]);
		for (size_t i = 0; i < body->n_node; i++)
			f->node[f->n_node++] = body->node[i];
		*copies = add_outputs(x, g, body, f);
		add_opsets(x, &own, f);
	}
	PM_VEC_RELEASE(&own);
	return st;
}

/* ---- functions of the model ---- */

static Onnx__StringStringEntryProto *entry(PmExport *x, const char *name, const PmStr *value)
{
	Onnx__StringStringEntryProto *e = pm__export_alloc(x, 1, sizeof *e);
	size_t room = sizeof PM_ONNX_KERNEL_META + PM_ONNX_KERNEL_NAME;

	onnx__string_string_entry_proto__init(e);
	e->key = pm__export_alloc(x, room, 1);
	snprintf(e->key, room, PM_ONNX_KERNEL_META "%s", name);
	e->value = pm__export_alloc(x, value->len + 1, 1);
	memcpy(e->value, value->s, value->len + 1);
	return e;
}

/* Nodes with the same body and sources call the same function. */
static char *add_function(PmExport *x, Onnx__FunctionProto *f, const PmStr *meta)
{
	PmExportFunctions *all = x->functions;
	char name[PM_ONNX_KERNEL_NAME];
	uint32_t id;

	pm__kernel_name(f, meta->s, meta->len, name);
	if (!all->names)
		all->names = pm_intern_new();
	id = pm_intern_find(all->names, name, strlen(name));
	if (id != UINT32_MAX)
		return (char *)(uintptr_t)pm_intern_text(all->names, id);
	id = pm_intern(all->names, name, strlen(name));
	f->name = (char *)(uintptr_t)pm_intern_text(all->names, id);
	PM_VEC_PUSH(&all->v, f);
	PM_VEC_PUSH(&all->meta, entry(x, name, meta));
	return f->name;
}

PmStatus pm__export_kernel(PmExport *x, PmNode n, Onnx__NodeProto *np, PmErr *err)
{
	const PmAttr *body = pm_node_attr(x->g, n, "body");
	Onnx__GraphProto *gp = pm__export_alloc(x, 1, sizeof *gp);
	Onnx__FunctionProto *f = pm__export_alloc(x, 1, sizeof *f);
	PmStr meta = PM_STR_INIT;
	size_t copies = 0;
	PmStatus st;

	if (!body || body->kind != PM_ATTR_GRAPH || !body->graph ||
	    pm_graph_n_inputs(body->graph) != pm_node_n_in(x->g, n) ||
	    pm_graph_n_outputs(body->graph) != pm_node_n_out(x->g, n))
		return pm_err(err, PM_E_UNSUPPORTED,
			      "A Kernel node has no body with as many inputs and outputs as it has operands "
			      "and results, so it cannot be written; give it one.");
	st = write_function(x, body->graph, gp, f, &copies, err);
	if (!st)
		st = pm__kernel_text(x->g, n, gp, copies, &meta, err);
	if (!st && meta.len > PM_ONNX_MAX_KERNEL_TEXT)
		st = pm_err(err, PM_E_LIMIT,
			    "The sources of a kernel take more than %d MiB; generate less code.",
			    PM_ONNX_MAX_KERNEL_TEXT >> 20);
	if (!st)
		np->op_type = add_function(x, f, &meta);
	if (!st && x->functions->on_kernel)
		x->functions->on_kernel(x->functions->arg, x->g, n, np->op_type);
	pm_str_release(&meta);
	return st;
}
