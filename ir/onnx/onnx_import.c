/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import.c - ONNX models in: entry points, model-level checks, the report. */

#include "base/sys/io.h"
#include "ir/core/graph_priv.h"
#include "ir/infer/infer_priv.h"
#include "ir/onnx/onnx_source.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FILE     ((size_t)2 << 30)
#define GRAPH_BUDGET ((size_t)8 << 30)
enum { MAX_META_KEYS = 4096 };

static PmStatus copy_meta(PmImport *im, PmErr *err)
{
	const PmOnnxModel *m = im->model;
	PmStatus st = PM_OK;
	size_t i;

	if (m->meta.n > MAX_META_KEYS)
		return pm_err(err, PM_E_LIMIT,
			      "The model has %zu metadata entries; at most %d are kept, so merge them.",
			      m->meta.n, MAX_META_KEYS);
	for (i = 0; i < m->meta.n && !st; i++) {
		PmOnnxText key, value;

		pm__source_pair(&m->meta.v[i], &key, &value);
		if (key.n > PM_MAX_NAME)
			return pm_err(err, PM_E_LIMIT, "A metadata key has more than %d bytes; shorten it.",
				      PM_MAX_NAME);
		st = pm__graph_set_meta(im->g, key.s, key.n, value.s, value.n, err);
	}
	return st;
}

static PmStatus build(PmImport *im, PmErr *err)
{
	const Onnx__ModelProto *m = im->model->head;
	PmStatus st;

	im->report->ir_version = m->ir_version;
	if (m->has_ir_version && (m->ir_version < PM_ONNX_MIN_IR || m->ir_version > PM_ONNX_MAX_IR))
		return pm_err(err, PM_E_UNSUPPORTED,
			      "The model has IR version %lld and versions %d to %d are read; export it with "
			      "another "
			      "version of ONNX.",
			      (long long)m->ir_version, PM_ONNX_MIN_IR, PM_ONNX_MAX_IR);
	st = pm__import_check_opsets(m->opset_import, m->n_opset_import, &im->report->opset, err);

	if (!st && !im->model->has_graph)
		st = pm_err(err, PM_E_INVALID,
			    "The model has no graph; it is not an ONNX model, or an empty one.");
	pm__model_find_kernels(im->model);
	if (!st)
		st = copy_meta(im, err);
	if (!st)
		st = pm__import_graph(im, &im->model->graph, err);
	if (!st)
		st = pm__import_finish(im, err);
	if (!st)
		st = pm__import_raise_opsets(im, err);
	if (!st)
		st = pm_verify(im->g, err);
	im->report->n_nodes = pm_graph_n_nodes(im->g);
	return st;
}

static PmStatus import_bytes(const void *p, size_t n, const char *path, const PmOnnxOpts *opts, PmGraph **out,
			     PmOnnxReport *report, PmErr *err)
{
	size_t max_nodes = opts->max_nodes ? opts->max_nodes : PM_MAX_NODES;
	PmTaken taken = { NULL, NULL };
	PmOnnxSlot node_slot = { .used = 0 }, info_slot = { .used = 0 };
	PmOnnxModel m;
	PmStatus st = pm__model_open(&m, p, n, max_nodes, err);
	PmImport im = {
		.opts = opts, .report = report, .taken = &taken, .model = &m, .max_nodes = max_nodes
	};

	if (st)
		return st;
	taken.names = pm_intern_new_borrowing();
	im.g = pm_graph_new(GRAPH_BUDGET);
	im.arena = pm_arena_new(GRAPH_BUDGET);
	im.scratch = pm_arena_new(GRAPH_BUDGET);
	im.node_slot = &node_slot;
	im.info_slot = &info_slot;
	im.files = pm__onnx_files_new(path);
	/* Our own files are in normal form already; folding again would change what was written. */
	if (opts->compare_stated || !pm_str_eq(m.head->producer_name, PM_ONNX_PRODUCER))
		im.fold = pm__fold_new(1);
	st = build(&im, err);
	PM_VEC_RELEASE(&im.eaten);
	PM_VEC_RELEASE(&im.stated_names);
	PM_VEC_RELEASE(&im.overruled);
	pm__fold_free(im.fold); /* when it failed before the end */
	pm_intern_free(taken.names);
	pm__onnx_files_free(im.files);
	pm_arena_free(im.arena);
	pm_arena_free(im.scratch);
	pm__slot_release(&node_slot);
	pm__slot_release(&info_slot);
	pm__model_close(&m);
	if (st) {
		pm_graph_free(im.g);
		return st;
	}
	*out = im.g;
	return PM_OK;
}

/* Names come from the file and may hold anything: a message stays one line. */
static void one_line(PmErr *err)
{
	char *c;

	for (c = err->text; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	}
}

/* Fills in what callers may leave out, checks the size, names the model in front of a sentence. */
static PmStatus import_labelled(const void *p, size_t n, const char *label, const char *path,
				const PmOnnxOpts *opts, PmGraph **out, PmOnnxReport *report, PmErr *err)
{
	static const PmOnnxOpts defaults;
	PmOnnxReport unused;
	PmErr local;
	PmStatus st;
	size_t max;

	if (!opts)
		opts = &defaults;
	if (!report)
		report = &unused;
	memset(report, 0, sizeof *report);
	if (!err) {
		pm_err_init(&local);
		err = &local;
	}
	max = opts->max_file ? opts->max_file : MAX_FILE;
	if (n > max)
		st = pm_err(err, PM_E_LIMIT,
			    "The model has %zu bytes and at most %zu are read; keep weights in an external "
			    "data file.",
			    n, max);
	else
		st = import_bytes(p, n, path, opts, out, report, err);
	if (st) {
		pm_err_ctx(err, "%.300s", label);
		one_line(err);
	}
	return st;
}

PmStatus pm_onnx_import(const char *path, const PmOnnxOpts *opts, PmGraph **out, PmOnnxReport *report,
			PmErr *err)
{
	PmMap map = { .p = NULL };
	PmStatus st = pm_map_file(path, &map, err);

	if (st)
		return st;
	st = import_labelled(map.p, map.n, path, path, opts, out, report, err);
	pm_unmap(&map);
	return st;
}

PmStatus pm_onnx_import_mem(const void *p, size_t n, const char *label, const PmOnnxOpts *opts, PmGraph **out,
			    PmOnnxReport *report, PmErr *err)
{
	return import_labelled(p, n, label, NULL, opts, out, report, err);
}

PmStatus pm_onnx_import_read(const void *p, size_t n, const char *path, const PmOnnxOpts *opts, PmGraph **out,
			     PmOnnxReport *report, PmErr *err)
{
	return import_labelled(p, n, path, path, opts, out, report, err);
}

/* ---- inputs to bind ---- */

static int listed(char names[][128], size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (strcmp(names[i], name) == 0)
			return 1;
	}
	return 0;
}

static int is_free_input(const Onnx__GraphProto *g, const char *name)
{
	size_t i;
	int found = 0;

	for (i = 0; i < g->n_input; i++)
		found |= g->input[i]->name && strcmp(g->input[i]->name, name) == 0;
	for (i = 0; i < g->n_initializer; i++)
		found &= !(g->initializer[i]->name && strcmp(g->initializer[i]->name, name) == 0);
	return found;
}

/* Which inputs a model's constants are made of. */
typedef struct Bindings {
	const Onnx__GraphProto *g;
	char (*names)[128];
	size_t max, *count;
	char *seen; /* by node: what it is made of has been looked at */
} Bindings;

/* A number or a list of integers, as shapes and axes are. */
static int is_int_list(const Onnx__GraphProto *g, const char *name)
{
	for (size_t i = 0; i < g->n_input; i++) {
		const Onnx__TypeProto *t = g->input[i]->type;

		if (g->input[i]->name && strcmp(g->input[i]->name, name) == 0)
			return t && t->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
			       pm_dtype_is_int(pm_dtype_from_onnx(t->tensor_type->elem_type)) &&
			       t->tensor_type->shape && t->tensor_type->shape->n_dim <= 1;
	}
	return 0;
}

static PmStatus want(Bindings *b, const char *name, PmErr *err)
{
	if (listed(b->names, *b->count, name))
		return PM_OK;
	if (*b->count == b->max || strlen(name) >= 128)
		return pm_err(err, PM_E_LIMIT,
			      "More than %zu inputs, or one with a long name ('%.130s'), would have "
			      "to be bound.",
			      b->max, name);
	strcpy(b->names[(*b->count)++], name);
	return PM_OK;
}

/* The node that gives a value; n_node when none does. */
static size_t giver(const Onnx__GraphProto *g, const char *name)
{
	for (size_t i = 0; i < g->n_node; i++)
		for (size_t k = 0; k < g->node[i]->n_output; k++)
			if (strcmp(g->node[i]->output[k], name) == 0)
				return i;
	return g->n_node;
}

/* The lists of integers among the inputs that a value is computed from. Of a shape the type is enough. */
static PmStatus want_makers(Bindings *b, const char *name, PmErr *err)
{
	PM_VEC(size_t) left = { NULL, 0, 0 };
	size_t at = giver(b->g, name);
	PmStatus st = PM_OK;

	if (at < b->g->n_node)
		PM_VEC_PUSH(&left, at);
	while (left.n && !st) {
		const Onnx__NodeProto *np = b->g->node[at = left.v[--left.n]];

		if (b->seen[at]++ || !np->op_type || !strcmp(np->op_type, "Shape") ||
		    !strcmp(np->op_type, "Size"))
			continue;
		for (size_t k = 0; k < np->n_input && !st; k++) {
			size_t up = giver(b->g, np->input[k]);

			if (up < b->g->n_node && !b->seen[up])
				PM_VEC_PUSH(&left, up);
			else if (is_free_input(b->g, np->input[k]) && is_int_list(b->g, np->input[k]))
				st = want(b, np->input[k], err);
		}
	}
	PM_VEC_RELEASE(&left);
	return st;
}

static PmStatus wanted_operands(Bindings *b, const Onnx__NodeProto *np, PmErr *err)
{
	const PmNormRow *row = np->op_type ? pm__norm_row(np) : NULL;
	PmStatus st = PM_OK;

	for (size_t k = 0; row && k < np->n_input && k < 32 && !st; k++) {
		const char *name = np->input[k];

		if (!(row->const_ops >> k & 1) || !*name)
			continue;
		st = is_free_input(b->g, name) ? want(b, name, err) : want_makers(b, name, err);
	}
	return st;
}

PmStatus pm_onnx_inputs_to_bind(const void *p, size_t n, char names[][128], size_t max, size_t *count,
				PmErr *err)
{
	PmOnnxAlloc alloc;
	PmErr local;
	ProtobufCMessage *m;
	const Onnx__GraphProto *g;
	PmStatus st = PM_OK;
	Bindings b;
	size_t i;

	if (!err) {
		pm_err_init(&local);
		err = &local;
	}
	*count = 0;
	m = pm__onnx_unpack(&onnx__model_proto__descriptor, p, n, &alloc, err);
	if (!m)
		return err->code;
	g = ((Onnx__ModelProto *)m)->graph;
	b = (Bindings){ g, names, max, count, pm_xcalloc(g ? g->n_node + 1 : 1, 1) };
	for (i = 0; g && i < g->n_node && !st; i++)
		st = wanted_operands(&b, g->node[i], err);
	free(b.seen);
	pm__onnx_alloc_release(&alloc);
	return st;
}
