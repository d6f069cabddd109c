/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import.c - ONNX models in: entry points, model-level checks, the report. */

#include "base/sys/io.h"
#include "ir/core/graph_priv.h"
#include "ir/infer/infer_priv.h"
#include "ir/onnx/onnx_source.h"

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

static PmStatus wanted_operands(const Onnx__GraphProto *g, const Onnx__NodeProto *np, char names[][128],
				size_t max, size_t *count, PmErr *err)
{
	const PmNormRow *row = np->op_type && (!np->domain || !*np->domain) ? pm__norm_row(np->op_type)
									    : NULL;
	size_t k;

	for (k = 0; row && k < np->n_input && k < 32; k++) {
		const char *name = np->input[k];

		if (!(row->const_ops >> k & 1) || !*name || listed(names, *count, name) ||
		    !is_free_input(g, name))
			continue;
		if (*count == max || strlen(name) >= 128)
			return pm_err(err, PM_E_LIMIT,
				      "More than %zu inputs, or one with a long name ('%.130s'), would have "
				      "to be bound.",
				      max, name);
		strcpy(names[(*count)++], name);
	}
	return PM_OK;
}

PmStatus pm_onnx_inputs_to_bind(const void *p, size_t n, char names[][128], size_t max, size_t *count,
				PmErr *err)
{
	PmOnnxAlloc alloc;
	PmErr local;
	ProtobufCMessage *m;
	const Onnx__GraphProto *g;
	PmStatus st = PM_OK;
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
	for (i = 0; g && i < g->n_node && !st; i++)
		st = wanted_operands(g, g->node[i], names, max, count, err);
	pm__onnx_alloc_release(&alloc);
	return st;
}
