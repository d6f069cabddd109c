/* SPDX-License-Identifier: Apache-2.0 */
/* torch_module.c - the text of a PyTorch module that computes a graph. */
#include "bench/torch/torch_export.h"

#include "base/core/arena.h"
#include "bench/torch/torch_helpers.py.h"
#include "bench/torch/torch_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const expressions[PM_N_OPS] = {
#define OP(name, text) [PM_OP_##name] = text,
#include "bench/torch/torch.def"
#undef OP
};

int pm__torch_is_number(const PmGraph *g, PmValue v)
{
	return pm_value_is_const(g, v) && pm_value_type(g, v)->rank == 0 && pm_value_blob(g, v)->data;
}

/* A number as Python writes it; bool and integers by their class. */
void pm__torch_number(PmStr *out, int dtype, double f, int64_t i)
{
	if (dtype == PM_BOOL)
		pm_str_add(out, i ? "True" : "False");
	else if (!pm_dtype_is_float(dtype))
		pm_str_addf(out, "%lld", (long long)i);
	else if (isnan(f))
		pm_str_add(out, "float('nan')");
	else if (isinf(f))
		pm_str_add(out, f > 0 ? "float('inf')" : "float('-inf')");
	else
		pm_str_addf(out, "%.17g%s", f, f == floor(f) && fabs(f) < 1e15 ? ".0" : "");
}

typedef struct Writer {
	const PmGraph *g;
	PmStr *out;
	char (*name)[24]; /* by value id; "" = not yet named */
	int *last;        /* by value id: position of the last node that uses it; -1 = none */
	PmNode n;
} Writer;

static void number_of(Writer *w, PmValue v, PmErr *err)
{
	PmTensor t;

	if (pm_tensor_from_const(&t, w->g, v, err))
		return;
	pm__torch_number(w->out, t.type.dtype, pm_tensor_get(&t, 0), pm_tensor_get_i(&t, 0));
	pm_tensor_release(&t);
}

/* How an expression names operand k of its node: not at all, as a tensor, as a tensor or number, as indices.
 */
typedef enum How { HOW_NONE, HOW_TENSOR, HOW_NUMBER, HOW_INDEX } How;

static How how_named(const char *text, size_t k)
{
	static const struct {
		const char *mark;
		How how;
	} rows[] = { { "$", HOW_TENSOR }, { "$n", HOW_NUMBER }, { "$i", HOW_INDEX } };
	char want[32];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(want, sizeof want, "%s%zu", rows[i].mark, k);
		if (strstr(text, want))
			return rows[i].how;
	}
	return strstr(text, "$n*") ? HOW_NUMBER : strstr(text, "$*") ? HOW_TENSOR : HOW_NONE;
}

/* PyTorch's functions and the methods of tensors want one tensor at least: a number has neither. */
static int stands_as_number(const PmGraph *g, PmNode n, size_t k, How how)
{
	if ((how != HOW_NUMBER && how != HOW_INDEX) || !pm__torch_is_number(g, pm_node_in(g, n, k)))
		return 0;
	for (size_t i = 0; i < pm_node_n_in(g, n); i++) {
		PmValue v = pm_node_in(g, n, i);

		if (v.id && !pm__torch_is_number(g, v))
			return 1;
	}
	return 0;
}

static void operand(Writer *w, size_t i, How how, PmErr *err)
{
	PmValue v = i < pm_node_n_in(w->g, w->n) ? pm_node_in(w->g, w->n, i) : (PmValue){ 0 };

	if (!v.id)
		pm_str_add(w->out, "None");
	else if (stands_as_number(w->g, w->n, i, how))
		number_of(w, v, err);
	else
		pm_str_add(w->out, w->name[v.id]);
}

static int has_negative(const PmGraph *g, PmValue constant)
{
	PmTensor t;
	int any = 0;

	if (pm_tensor_from_const(&t, g, constant, NULL))
		return 1;
	for (int64_t i = 0; i < pm_tensor_numel(&t); i++)
		any |= pm_tensor_get_i(&t, i) < 0;
	pm_tensor_release(&t);
	return any;
}

/* Whether an element may count from the end. Inputs are drawn from 0 on, by their role (ir/data/role.h). */
static int may_be_negative(const PmGraph *g, PmValue v, int depth)
{
	PmNode def = pm_value_def(g, v, NULL);
	PmOp op = def.id ? pm_node_op(g, def) : PM_OP_Identity;
	size_t n = op == PM_OP_Concat ? pm_node_n_in(g, def) : 1; /* operands that elements come from */
	int moves = (pm_op_desc(op)->flags & PM_OPF_VIEW) || op == PM_OP_Cast || op == PM_OP_Identity ||
		    op == PM_OP_Split || op == PM_OP_Concat;

	if (pm_value_is_const(g, v))
		return has_negative(g, v);
	if (!def.id || op == PM_OP_ArgMax || op == PM_OP_ArgMin)
		return 0;
	if (!moves || depth > 8)
		return 1;
	for (size_t i = 0; i < n; i++)
		if (may_be_negative(g, pm_node_in(g, def, i), depth + 1))
			return 1;
	return 0;
}

/* Indices as PyTorch takes them: counted from the front, and of 64 bits but where rows are picked. */
static void index_operand(Writer *w, size_t i, PmErr *err)
{
	PmValue v = pm_node_in(w->g, w->n, i);
	const PmType *t = pm_value_type(w->g, pm_node_in(w->g, w->n, 0));
	int64_t axis = pm_node_i(w->g, w->n, "axis", 0);

	if (stands_as_number(w->g, w->n, i, HOW_INDEX)) {
		number_of(w, v, err);
		return;
	}
	if (may_be_negative(w->g, v, 0))
		pm_str_addf(w->out, "_front(%s, %lld)", w->name[v.id],
			    (long long)t->dim[axis < 0 ? axis + t->rank : axis]);
	else
		pm_str_add(w->out, w->name[v.id]);
	if (pm_node_op(w->g, w->n) != PM_OP_Gather && pm_value_type(w->g, v)->dtype != PM_I64)
		pm_str_add(w->out, ".long()");
}

static PmStatus list_of(Writer *w, size_t i, PmErr *err)
{
	PmValue v = i < pm_node_n_in(w->g, w->n) ? pm_node_in(w->g, w->n, i) : (PmValue){ 0 };
	PmTensor t;
	PmStatus st;

	if (!v.id || !pm_value_is_const(w->g, v))
		return pm_err(
			err, PM_E_UNSUPPORTED,
			"Operand %zu of %s is computed; PyTorch's counterpart takes numbers that are known.",
			i, pm_node_op_name(w->g, w->n));
	st = pm_tensor_from_const(&t, w->g, v, err);
	if (st)
		return st;
	pm_str_addc(w->out, '(');
	for (int64_t k = 0; k < pm_tensor_numel(&t); k++) {
		pm__torch_number(w->out, t.type.dtype, pm_tensor_get(&t, k), pm_tensor_get_i(&t, k));
		pm_str_add(w->out, ", ");
	}
	pm_str_addc(w->out, ')');
	pm_tensor_release(&t);
	return PM_OK;
}

static void ints(PmStr *out, const int64_t *v, size_t n)
{
	pm_str_addc(out, '(');
	for (size_t i = 0; i < n; i++)
		pm_str_addf(out, "%lld%s", (long long)v[i], i + 1 < n ? ", " : (n == 1 ? "," : ""));
	pm_str_addc(out, ')');
}

/* The first element of an attribute that is a tensor; 0 without one. */
static void element(PmStr *out, const PmAttr *a)
{
	PmTensor t;

	if (!pm_tensor_of_attr(&t, a)) {
		pm_str_addc(out, '0');
		return;
	}
	pm__torch_number(out, t.type.dtype, pm_tensor_get(&t, 0), pm_tensor_get_i(&t, 0));
}

static PmStatus attribute(Writer *w, const char *name, PmErr *err)
{
	const PmOpDesc *d = pm_op_desc(pm_node_op(w->g, w->n));
	const PmAttr *a = pm_node_attr(w->g, w->n, name);
	const PmAttrDesc *desc = NULL;
	PmAttrKind kind;

	for (int i = 0; i < d->n_attrs; i++)
		if (!strcmp(d->attrs[i].name, name))
			desc = &d->attrs[i];
	if (!desc)
		return pm_err(err, PM_E_INTERNAL, "torch.def names attribute '%s', which %s does not have.",
			      name, d->name);
	kind = a ? a->kind : desc->kind;
	if (kind == PM_ATTR_INT)
		pm_str_addf(w->out, "%lld", (long long)(a ? a->i : desc->i));
	else if (kind == PM_ATTR_FLOAT)
		pm__torch_number(w->out, PM_F32, (double)(float)(a ? a->f : desc->f), 0);
	else if (kind == PM_ATTR_STRING)
		pm_str_add_quoted(w->out, a ? a->s : desc->s, strlen(a ? a->s : desc->s));
	else if (kind == PM_ATTR_INTS)
		ints(w->out, a ? a->ints : NULL, a ? a->n : 0);
	else if (kind == PM_ATTR_TENSOR)
		element(w->out, a);
	else
		return pm_err(err, PM_E_INTERNAL,
			      "torch.def: attribute '%s' of %s is no number, text or list.", name, d->name);
	return PM_OK;
}

/* The words that are operands: 0 when the one at *p is none. */
static int operands(Writer *w, const char **p, PmErr *err)
{
	How how = **p == 'n' ? HOW_NUMBER : **p == 'i' ? HOW_INDEX : HOW_TENSOR;
	const char *at = *p + (how != HOW_TENSOR);
	size_t k;

	if (*at == '*') {
		for (size_t i = 0; i < pm_node_n_in(w->g, w->n); i++) {
			pm_str_add(w->out, i ? ", " : "");
			operand(w, i, how, err);
		}
		*p = at + 1;
		return 1;
	}
	if (!isdigit((unsigned char)*at))
		return 0;
	k = (size_t)strtol(at, (char **)(uintptr_t)p, 10);
	if (how == HOW_INDEX)
		index_operand(w, k, err);
	else
		operand(w, k, how, err);
	return 1;
}

/* One word; *p stands behind its '$'. */
static PmStatus word(Writer *w, const char **p, PmErr *err)
{
	const PmType *t = pm_value_type(w->g, pm_node_out(w->g, w->n, 0));
	char name[64];
	size_t n = 0;

	if (operands(w, p, err))
		return PM_OK;
	while (n + 1 < sizeof name && (isalnum((unsigned char)**p) || **p == '_'))
		name[n++] = *(*p)++;
	name[n] = '\0';
	if (!strcmp(name, "T"))
		pm_str_add(w->out, pm_dtype_torch(t->dtype));
	else if (!strcmp(name, "S"))
		ints(w->out, t->dim, (size_t)t->rank);
	else if (name[0] == 'L' && isdigit((unsigned char)name[1]))
		return list_of(w, (size_t)atoi(name + 1), err);
	else if (!strcmp(name, "resize"))
		return pm__torch_resize(w->g, w->n, w->out, err);
	else
		return attribute(w, name, err);
	return PM_OK;
}

static PmStatus expression(Writer *w, const char *text, PmErr *err)
{
	PmStatus st = PM_OK;

	while (*text && !st) {
		if (*text != '$') {
			pm_str_addc(w->out, *text++);
			continue;
		}
		text++;
		st = word(w, &text, err);
	}
	return st;
}

/* Frees what nothing uses any more, as Dynamo's own text does. */
static void drop_unused(Writer *w, int at)
{
	for (size_t i = 0; i < pm_node_n_in(w->g, w->n); i++) {
		PmValue v = pm_node_in(w->g, w->n, i);

		if (!v.id || !*w->name[v.id] || pm_value_is_output(w->g, v) || w->last[v.id] != at)
			continue;
		pm_str_addf(w->out, ";  %s = None", w->name[v.id]);
		w->last[v.id] = -1; /* once, also when it is two operands */
	}
}

static PmStatus statement(Writer *w, int at, int *locals, PmErr *err)
{
	const char *text = expressions[pm_node_op(w->g, w->n)];
	size_t n_out = pm_node_n_out(w->g, w->n);
	PmStatus st;

	if (!text || (n_out > 1 && pm_node_op(w->g, w->n) != PM_OP_Split))
		return pm_err(err, PM_E_UNSUPPORTED,
			      "%s%s has no counterpart in PyTorch here (bench/torch/torch.def).",
			      pm_node_op_name(w->g, w->n), text ? " with several results" : "");
	pm_str_add(w->out, "        ");
	for (size_t i = 0; i < n_out; i++) {
		PmValue v = pm_node_out(w->g, w->n, i);

		if (v.id)
			snprintf(w->name[v.id], sizeof w->name[v.id], "tmp_%d", (*locals)++);
		pm_str_addf(w->out, "%s%s", i ? ", " : "", v.id ? w->name[v.id] : "_");
	}
	if (n_out == 1 && pm_node_op(w->g, w->n) == PM_OP_Split)
		pm_str_addc(w->out, ',');
	pm_str_add(w->out, " = ");
	st = expression(w, text, err);
	if (!st)
		drop_unused(w, at);
	pm_str_addc(w->out, '\n');
	return st;
}

static void name_arguments(Writer *w)
{
	int inputs = 0, constants = 0;

	for (size_t i = 0; i < pm_graph_n_inputs(w->g); i++)
		snprintf(w->name[pm_graph_input(w->g, i).id], sizeof w->name[0], "in_%d", inputs++);
	for (uint32_t id = 1; id < pm_graph_value_limit(w->g); id++)
		if (pm__torch_is_argument(w->g, (PmValue){ id }) && !pm_value_is_input(w->g, (PmValue){ id }))
			snprintf(w->name[id], sizeof w->name[id], "w_%d", constants++);
}

/* A constant that some operand wants as a tensor; shapes and other lists are written out where they stand. */
int pm__torch_is_argument(const PmGraph *g, PmValue v)
{
	if (pm_value_is_input(g, v))
		return 1;
	if (!pm_value_is_const(g, v))
		return 0;
	if (pm_value_is_output(g, v))
		return 1;
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);
		const char *text = expressions[pm_node_op(g, n)];

		for (size_t k = 0; text && k < pm_node_n_in(g, n); k++) {
			How how = how_named(text, k);

			if (pm_node_in(g, n, k).id == v.id && how != HOW_NONE &&
			    !stands_as_number(g, n, k, how))
				return 1;
		}
	}
	return 0;
}

static PmStatus forward(Writer *w, PmErr *err)
{
	const PmGraph *g = w->g;
	int locals = 0;
	PmStatus st = PM_OK;

	pm_str_add(w->out, "class GraphModule(torch.nn.Module):\n    def forward(self");
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		pm_str_addf(w->out, ", %s", w->name[pm_graph_input(g, i).id]);
	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++)
		if (w->name[id][0] == 'w')
			pm_str_addf(w->out, ", %s", w->name[id]);
	pm_str_add(w->out, "):\n");
	for (size_t i = 0; i < pm_graph_n_nodes(g) && !st; i++) {
		w->n = pm_graph_node_at(g, i);
		st = statement(w, (int)i, &locals, err);
	}
	pm_str_add(w->out, "        return (");
	for (size_t i = 0; i < pm_graph_n_outputs(g) && !st; i++) {
		PmValue v = pm_graph_output(g, i);

		pm_str_addf(w->out, "%s,%s", w->name[v.id], i + 1 < pm_graph_n_outputs(g) ? " " : "");
	}
	pm_str_add(w->out, ")\n");
	return st;
}

/* PyTorch computes in few of the narrow types, and packs those of 4 bits otherwise. */
static PmStatus refuse_narrow(const PmGraph *g, PmErr *err)
{
	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		PmValue v = { id };

		if (pm_dtype_is_narrow(pm_value_type(g, v)->dtype))
			return pm_err(err, PM_E_UNSUPPORTED,
				      "Value '%.120s' is %s, which is not written as PyTorch; cast it to "
				      "int8 or float16 in the model.",
				      pm_value_name(g, v), pm_dtype_name(pm_value_type(g, v)->dtype));
	}
	return PM_OK;
}

PmStatus pm_torch_module(const PmGraph *g, PmStr *out, PmErr *err)
{
	Writer w = { .g = g, .out = out };
	PmStatus st = refuse_narrow(g, err);

	if (st)
		return st;
	w.name = pm_xcalloc(pm_graph_value_limit(g) + 1, sizeof *w.name);
	w.last = pm_xcalloc(pm_graph_value_limit(g) + 1, sizeof *w.last);
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		for (size_t k = 0; k < pm_node_n_in(g, pm_graph_node_at(g, i)); k++)
			w.last[pm_node_in(g, pm_graph_node_at(g, i), k).id] = (int)i;
	name_arguments(&w);
	pm_str_add(out, "import torch\nimport torch.nn.functional as F\n\n");
	pm_str_add(out, torch_helpers_py);
	pm_str_add(out, "\n\n");
	st = forward(&w, err);
	free(w.name);
	free(w.last);
	return st;
}
