/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_export.c - a graph becomes an ONNX model: constants, types, names, metadata; see onnx_export_node.c.
 */
#include "ir/onnx/onnx.h"

#include "base/sys/io.h"
#include "ir/onnx/onnx_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MODEL ((size_t)INT32_MAX) /* what protobuf readers accept */

void *pm__export_alloc(PmExport *x, size_t n, size_t size)
{
	void *p = pm_arena_alloc(x->arena, (n ? n : 1) * size);

	if (!p)
		PM_BUG("an arena without a budget ran out at %zu * %zu bytes", n, size);
	return p;
}

PmStatus pm__export_text(PmExport *x, const char *s, const char *what, char **out, PmErr *err)
{
	if (!pm__utf8_ok(s, strlen(s)))
		return pm_err(err, PM_E_INVALID,
			      "A %s of the graph is not UTF-8, which ONNX needs; rename it.", what);
	*out = pm__export_alloc(x, strlen(s) + 1, 1);
	memcpy(*out, s, strlen(s) + 1);
	return PM_OK;
}

/* ---- types ---- */

static void fill_dim(PmExport *x, const PmGraph *g, PmDim dim, Onnx__TensorShapeProto__Dimension *d)
{
	const char *name = pm_graph_symbol_name(g, dim);

	onnx__tensor_shape_proto__dimension__init(d);
	if (dim >= 0) {
		d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
		d->dim_value = dim;
		return;
	}
	d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
	if (pm__export_text(x, name ? name : "", "symbol", &d->dim_param, NULL))
		d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE__NOT_SET;
}

/* The type kept as bytes with an opaque node, or NULL. */
static Onnx__TypeProto *kept_type(PmExport *x, const PmGraph *g, PmValue v)
{
	ProtobufCAllocator alloc = pm__onnx_arena_allocator(x->arena);
	size_t k;
	PmNode n = pm_value_def(g, v, &k);
	const PmAttr *a;
	char name[32];

	snprintf(name, sizeof name, PM_ONNX_TYPE_ATTR "%zu", k);
	a = pm_node_op(g, n) == PM_OP_Opaque ? pm_node_attr(g, n, name) : NULL;
	if (!a || a->kind != PM_ATTR_STRING || pm__onnx_scan(&onnx__type_proto__descriptor, a->s, a->n, NULL))
		return NULL;
	return (Onnx__TypeProto *)protobuf_c_message_unpack(&onnx__type_proto__descriptor, &alloc, a->n,
							    (const uint8_t *)a->s);
}

static PmStatus value_info(PmExport *x, const PmGraph *g, PmValue v, Onnx__ValueInfoProto **out, PmErr *err)
{
	const PmType *t = pm_value_type(g, v);
	Onnx__ValueInfoProto *info = pm__export_alloc(x, 1, sizeof *info);
	Onnx__TypeProto *tp = pm__export_alloc(x, 1, sizeof *tp);
	Onnx__TypeProto__Tensor *tt = pm__export_alloc(x, 1, sizeof *tt);
	int k;

	onnx__value_info_proto__init(info);
	onnx__type_proto__init(tp);
	onnx__type_proto__tensor__init(tt);
	*out = info;
	if (t->dtype < 0)
		info->type = kept_type(x, g, v);
	if (t->dtype >= 0) {
		info->type = tp;
		tp->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
		tp->tensor_type = tt;
		tt->has_elem_type = 1;
		tt->elem_type = pm_dtype_to_onnx(t->dtype);
	}
	if (t->dtype >= 0 && t->rank >= 0) {
		tt->shape = pm__export_alloc(x, 1, sizeof *tt->shape);
		onnx__tensor_shape_proto__init(tt->shape);
		tt->shape->n_dim = (size_t)t->rank;
		tt->shape->dim = pm__export_alloc(x, (size_t)t->rank, sizeof *tt->shape->dim);
		for (k = 0; k < t->rank; k++) {
			tt->shape->dim[k] = pm__export_alloc(x, 1, sizeof **tt->shape->dim);
			fill_dim(x, g, t->dim[k], tt->shape->dim[k]);
		}
	}
	return pm__export_text(x, pm_value_name(g, v), "value name", &info->name, err);
}

/* ---- constants ---- */

PmStatus pm__export_const(PmExport *x, const char *name, const PmType *t, const PmBlob *blob, PmErr *err)
{
	Onnx__TensorProto *tp = pm__export_alloc(x, 1, sizeof *tp);
	PmStatus st = pm__onnx_tensor_fill(tp, name, t, blob, x->arena, err);

	if (!st)
		st = pm__export_text(x, name, "value name", &tp->name, err);
	PM_VEC_PUSH(&x->initializers, tp);
	return st;
}

static PmStatus constants(PmExport *x, PmErr *err)
{
	uint32_t id, limit = pm_graph_value_limit(x->g);
	PmStatus st = PM_OK;

	for (id = 1; id < limit && !st; id++) {
		PmValue v = { id };

		if (pm_value_is_const(x->g, v))
			st = pm__export_const(x, pm_value_name(x->g, v), pm_value_type(x->g, v),
					      pm_value_blob(x->g, v), err);
	}
	return st;
}

/* ---- graphs ---- */

static PmStatus interface(PmExport *x, Onnx__GraphProto *gp, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i;

	gp->n_input = pm_graph_n_inputs(x->g);
	gp->input = pm__export_alloc(x, gp->n_input, sizeof *gp->input);
	for (i = 0; i < gp->n_input && !st; i++)
		st = value_info(x, x->g, pm_graph_input(x->g, i), &gp->input[i], err);
	gp->n_output = pm_graph_n_outputs(x->g);
	gp->output = pm__export_alloc(x, gp->n_output, sizeof *gp->output);
	for (i = 0; i < gp->n_output && !st; i++)
		st = value_info(x, x->g, pm_graph_output(x->g, i), &gp->output[i], err);
	return st;
}

static PmStatus nodes(PmExport *x, Onnx__GraphProto *gp, PmErr *err)
{
	size_t i, k, n = pm_graph_n_nodes(x->g);
	PmStatus st = PM_OK;

	gp->node = pm__export_alloc(x, n, sizeof *gp->node);
	for (i = 0; i < n && !st; i++) {
		PmNode at = pm_graph_node_at(x->g, i);

		st = pm__export_node(x, at, &gp->node[i], err);
		gp->n_node = i + 1;
		for (k = 0; k < pm_node_n_out(x->g, at) && !st; k++) {
			PmValue v = pm_node_out(x->g, at, k);
			Onnx__ValueInfoProto *info;

			if (pm_value_is_output(x->g, v))
				continue;
			st = value_info(x, x->g, v, &info, err);
			if (info->type)
				PM_VEC_PUSH(&x->infos, info);
		}
	}
	return st;
}

PmStatus pm__export_graph(PmExport *up, const PmGraph *g, Onnx__GraphProto *gp, PmErr *err)
{
	PmExport x = { .arena = up->arena,
		       .g = g,
		       .opset = up->opset,
		       .depth = up->depth + 1,
		       .domains = up->domains,
		       .functions = up->functions };
	PmStatus st;

	onnx__graph_proto__init(gp);
	if (x.depth > PM_ONNX_MAX_CALLS)
		return pm_err(err, PM_E_LIMIT, "Graphs are nested deeper than %d; inline the kernels first.",
			      PM_ONNX_MAX_CALLS);
	x.taken = pm_intern_new();
	st = pm__export_text(&x, pm_graph_name(g), "graph name", &gp->name, err);
	if (!st)
		st = interface(&x, gp, err);
	if (!st)
		st = constants(&x, err);
	if (!st)
		st = nodes(&x, gp, err);
	gp->n_initializer = x.initializers.n;
	gp->initializer = pm__export_alloc(&x, x.initializers.n, sizeof *gp->initializer);
	gp->n_value_info = x.infos.n;
	gp->value_info = pm__export_alloc(&x, x.infos.n, sizeof *gp->value_info);
	if (x.initializers.n)
		memcpy(gp->initializer, x.initializers.v, x.initializers.n * sizeof *gp->initializer);
	if (x.infos.n)
		memcpy(gp->value_info, x.infos.v, x.infos.n * sizeof *gp->value_info);
	PM_VEC_RELEASE(&x.initializers);
	PM_VEC_RELEASE(&x.infos);
	pm_intern_free(x.taken);
	return st;
}

/* ---- models ---- */

/* Functions, and the metadata that belongs to them. An entry of the graph that has one of their keys goes. */
static void functions(PmExport *x, Onnx__ModelProto *m)
{
	const PmExportFunctions *all = x->functions;

	m->n_functions = all->v.n;
	m->functions = pm__export_alloc(x, all->v.n, sizeof *m->functions);
	for (size_t i = 0; i < all->v.n; i++) {
		m->functions[i] = all->v.v[i];
		m->metadata_props[m->n_metadata_props++] = all->meta.v[i];
	}
}

static int is_function_key(const PmExport *x, const char *key)
{
	for (size_t i = 0; i < x->functions->meta.n; i++)
		if (strcmp(x->functions->meta.v[i]->key, key) == 0)
			return 1;
	return 0;
}

static PmStatus metadata(PmExport *x, Onnx__ModelProto *m, PmErr *err)
{
	size_t i, n = pm_graph_n_meta(x->g);
	PmStatus st = PM_OK;

	m->metadata_props = pm__export_alloc(x, n + x->functions->v.n, sizeof *m->metadata_props);
	for (i = 0; i < n && !st; i++) {
		Onnx__StringStringEntryProto *e = pm__export_alloc(x, 1, sizeof *e);
		const char *key, *value;

		onnx__string_string_entry_proto__init(e);
		pm_graph_meta_at(x->g, i, &key, &value);
		if (is_function_key(x, key))
			continue;
		m->metadata_props[m->n_metadata_props++] = e;
		st = pm__export_text(x, key, "metadata key", &e->key, err);
		if (!st)
			st = pm__export_text(x, value, "metadata value", &e->value, err);
	}
	return st;
}

static void opsets(PmExport *x, Onnx__ModelProto *m)
{
	size_t i;

	m->n_opset_import = x->domains->n + 1;
	m->opset_import = pm__export_alloc(x, m->n_opset_import, sizeof *m->opset_import);
	for (i = 0; i < m->n_opset_import; i++) {
		Onnx__OperatorSetIdProto *o = pm__export_alloc(x, 1, sizeof *o);

		onnx__operator_set_id_proto__init(o);
		o->has_version = 1;
		o->version = i ? x->domains->v[i - 1].version : x->opset;
		o->domain = (char *)(uintptr_t)(i ? x->domains->v[i - 1].domain : "");
		m->opset_import[i] = o;
	}
}

/* The IR version of the first release with an opset, from the table of versions in ONNX's documentation. */
static int64_t ir_version(int64_t opset)
{
	return opset <= 18   ? 8
	       : opset <= 20 ? 9
	       : opset <= 22 ? 10
	       : opset <= 24 ? opset - 12
	       : opset <= 27 ? 13
			     : 14;
}

static PmStatus fill_model(PmExport *x, Onnx__ModelProto *m, PmErr *err)
{
	static char producer[] = PM_ONNX_PRODUCER;
	PmStatus st;

	onnx__model_proto__init(m);
	m->has_ir_version = 1;
	m->producer_name = producer;
	m->graph = pm__export_alloc(x, 1, sizeof *m->graph);
	st = pm__export_opset(x, x->g, err);
	m->ir_version = ir_version(x->opset);
	if (!st)
		st = pm__export_graph(x, x->g, m->graph, err);
	if (!st)
		st = metadata(x, m, err);
	if (!st)
		functions(x, m);
	opsets(x, m);
	return st;
}

/* The model as messages, appended to *out as bytes when that is not NULL. */
static PmStatus export_model(const PmGraph *g, PmExportFunctions *functions, PmStr *out, PmErr *err)
{
	PmExportDomains domains = { NULL, 0, 0 };
	PmExport x = { .arena = pm_arena_new(0), .g = g, .domains = &domains, .functions = functions };
	Onnx__ModelProto m;
	PmStatus st = fill_model(&x, &m, err);
	size_t n = st || !out ? 0 : onnx__model_proto__get_packed_size(&m);

	if (n > MAX_MODEL)
		st = pm_err(
			err, PM_E_LIMIT,
			"The model takes %zu bytes and ONNX files hold at most %zu; export a smaller graph.",
			n, MAX_MODEL);
	if (!st && out) {
		uint8_t *buf = pm_xmalloc(n ? n : 1);

		onnx__model_proto__pack(&m, buf);
		pm_str_addn(out, buf, n);
		free(buf);
	}
	PM_VEC_RELEASE(&domains);
	PM_VEC_RELEASE(&functions->v);
	PM_VEC_RELEASE(&functions->meta);
	pm_intern_free(functions->names);
	pm_arena_free(x.arena);
	return st;
}

PmStatus pm_onnx_export_mem(const PmGraph *g, PmStr *out, PmErr *err)
{
	PmExportFunctions functions = { .names = NULL };

	return export_model(g, &functions, out, err);
}

PmStatus pm_onnx_kernels(const PmGraph *g, PmOnnxKernelFn *on_kernel, void *arg, PmErr *err)
{
	PmExportFunctions functions = { .on_kernel = on_kernel, .arg = arg };

	return export_model(g, &functions, NULL, err);
}

PmStatus pm_onnx_export(const PmGraph *g, const char *path, PmErr *err)
{
	PmStr out = PM_STR_INIT;
	PmStatus st = pm_onnx_export_mem(g, &out, err);

	if (!st)
		st = pm_write_file(path, out.s, out.len, err);
	pm_str_release(&out);
	return st;
}
