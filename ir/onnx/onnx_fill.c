/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_fill.c - writes a model with every weight in it: the file's own nodes, unchanged, and the elements of
 * initializers that were kept in other files or nowhere.
 *
 * The message is put together by hand around the packed rest, because a weight must not be held twice: a
 * ModelProto is its fields without the graph, then the graph (field 7): its fields without initializers,
 * then the initializers (field 5), whose elements are raw_data (field 9) or bytes of the data file.
 */
#include "ir/onnx/onnx.h"

#include "base/sys/io.h"
#include "base/sys/outfile.h"
#include "ir/onnx/onnx_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MODEL_GRAPH = 7 << 3 | 2, /* tags: field number, length-delimited */
	GRAPH_INITIALIZER = 5 << 3 | 2,
	TENSOR_RAW_DATA = 9 << 3 | 2,
	ALIGN = 64, /* of tensors in a data file */
	PIECE = 4 << 20
};
#define MAX_MODEL INT64_C(0x7fffffff) /* what protobuf readers accept */

/* An initializer whose elements are not in the message. */
typedef struct Filled {
	Onnx__TensorProto head; /* without data; borrows from the message */
	PmBlob *blob;
	size_t head_size;
	int64_t offset; /* in the data file */
	char number[2][24];
	Onnx__StringStringEntryProto entry[3], *entries[3];
} Filled;

typedef struct Fill {
	Onnx__ModelProto *m;
	const PmGraph *g;
	const PmOnnxFillOpts *opts;
	PmOnnxFillReport *report;
	Filled *filled; /* by initializer; blob NULL: packed as it is */
	PmOutFile *out, *data;
	char *location;
	int64_t done, total; /* bytes of elements */
} Fill;

static int is_external(const Onnx__TensorProto *t)
{
	return t && t->has_data_location && t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

/* ---- what cannot be filled: tensors of nested graphs and of attributes ---- */

static PmStatus refuse(const Onnx__TensorProto *t, PmErr *err)
{
	return pm_err(err, PM_E_UNSUPPORTED,
		      "Tensor '%.200s' is in a nested graph or an attribute and keeps its data in another "
		      "file; "
		      "store it inline.",
		      t->name ? t->name : "");
}

static PmStatus check_nodes(Onnx__NodeProto *const *nodes, size_t n, PmErr *err);

static PmStatus check_graph(const Onnx__GraphProto *g, PmErr *err)
{
	for (size_t i = 0; i < g->n_initializer; i++)
		if (is_external(g->initializer[i]))
			return refuse(g->initializer[i], err);
	return check_nodes(g->node, g->n_node, err);
}

static PmStatus check_attr(const Onnx__AttributeProto *a, PmErr *err)
{
	PmStatus st = PM_OK;

	if (is_external(a->t))
		return refuse(a->t, err);
	for (size_t i = 0; i < a->n_tensors; i++)
		if (is_external(a->tensors[i]))
			return refuse(a->tensors[i], err);
	if (a->g)
		st = check_graph(a->g, err);
	for (size_t i = 0; i < a->n_graphs && !st; i++)
		st = check_graph(a->graphs[i], err);
	return st;
}

static PmStatus check_nodes(Onnx__NodeProto *const *nodes, size_t n, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n && !st; i++)
		for (size_t k = 0; k < nodes[i]->n_attribute && !st; k++)
			st = check_attr(nodes[i]->attribute[k], err);
	return st;
}

static PmStatus check_model(const Onnx__ModelProto *m, PmErr *err)
{
	PmStatus st = check_nodes(m->graph->node, m->graph->n_node, err);

	for (size_t i = 0; i < m->n_functions && !st; i++)
		st = check_nodes(m->functions[i]->node, m->functions[i]->n_node, err);
	return st;
}

/* ---- where the elements come from ---- */

/* The constant of the imported graph, when it is still the initializer of that name and type. */
static PmBlob *from_graph(const PmGraph *g, const char *name, const PmType *type)
{
	PmValue v = pm_graph_find_value(g, name);
	const PmBlob *b = v.id ? pm_value_blob(g, v) : NULL;

	if (!b || !pm_type_equal(pm_value_type(g, v), type) || !pm_blob_readable(b))
		return NULL;
	return pm_value_blob_ref(g, v);
}

/* The bytes that a file holds of elements which share them. */
static PmBlob *packed(const PmType *type, PmBlob *from)
{
	int64_t numel = (int64_t)from->size, bytes = pm__onnx_packed_bytes(type->dtype, numel);
	unsigned char *each = pm_xmalloc(from->size + 1), *p = pm_xmalloc((size_t)bytes + 1);

	pm_blob_read(from, 0, from->size, each);
	pm__onnx_pack_bits(type->dtype, each, numel, p);
	free(each);
	pm_blob_unref(from);
	return pm_blob_take(p, (size_t)bytes);
}

static PmStatus find_blob(Fill *f, PmOnnxFiles *files, Onnx__TensorProto *t, PmBlob **out, PmErr *err)
{
	const char *name = t->name ? t->name : "";
	PmType type;
	char why[96];
	int absent = 0;
	PmStatus st = pm__onnx_tensor_type(t, &type, why, err);

	if (st == PM_DECLINED)
		return pm_err(err, PM_E_UNSUPPORTED,
			      "Initializer '%.200s' cannot be filled: %s; add its data file.", name, why);
	if (st)
		return st;
	*out = from_graph(f->g, name, &type);
	if (!*out) {
		st = pm__onnx_external(files, t, &type, out, &absent, err);
		if (!st && absent)
			pm_weights_attach_unused(f->g, name, &type, *out, NULL);
	}
	f->report->n_made += !st && (*out)->make != NULL;
	if (!st && pm_dtype_bits(type.dtype) < 8)
		*out = packed(&type, *out);
	return st;
}

static PmStatus find_blobs(Fill *f, const char *path, PmErr *err)
{
	PmOnnxFiles *files = pm__onnx_files_new(path);
	Onnx__GraphProto *gp = f->m->graph;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < gp->n_initializer && !st; i++) {
		Onnx__TensorProto *t = gp->initializer[i];
		Filled *x = &f->filled[i];

		if (!is_external(t))
			continue;
		st = find_blob(f, files, t, &x->blob, err);
		if (st)
			break;
		onnx__tensor_proto__init(&x->head);
		x->head.name = t->name;
		x->head.doc_string = t->doc_string;
		x->head.n_dims = t->n_dims;
		x->head.dims = t->dims;
		x->head.has_data_type = 1;
		x->head.data_type = t->data_type;
		f->total += (int64_t)x->blob->size;
		f->report->n_filled++;
	}
	f->report->bytes = f->total;
	pm__onnx_files_free(files);
	return st;
}

/* ---- sizes ---- */

static size_t varint(uint64_t v, unsigned char to[10])
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (unsigned char)(v | 0x80);
	to[n++] = (unsigned char)v;
	return n;
}

static int64_t field_size(int64_t bytes) /* of a one-byte tag, a length and so many bytes */
{
	unsigned char buf[10];

	return 1 + (int64_t)varint((uint64_t)bytes, buf) + bytes;
}

static int64_t tensor_size(const Fill *f, size_t i)
{
	const Filled *x = &f->filled[i];

	if (!x->blob)
		return (int64_t)onnx__tensor_proto__get_packed_size(f->m->graph->initializer[i]);
	return (int64_t)x->head_size + (f->data ? 0 : field_size((int64_t)x->blob->size));
}

static void measure_heads(Fill *f)
{
	for (size_t i = 0; i < f->m->graph->n_initializer; i++)
		if (f->filled[i].blob)
			f->filled[i].head_size = onnx__tensor_proto__get_packed_size(&f->filled[i].head);
}

/* Bytes of the initializers as fields of the graph. */
static int64_t initializers_size(const Fill *f)
{
	int64_t sum = 0;

	for (size_t i = 0; i < f->m->graph->n_initializer; i++)
		sum += field_size(tensor_size(f, i));
	return sum;
}

/* ---- writing ---- */

static PmStatus put_tag(PmOutFile *out, int tag, int64_t bytes, PmErr *err)
{
	unsigned char buf[11] = { (unsigned char)tag };
	size_t n = 1 + varint((uint64_t)bytes, buf + 1);

	return pm_out_write(out, buf, n, err);
}

static PmStatus put_packed(PmOutFile *out, const ProtobufCMessage *m, PmErr *err)
{
	size_t n = protobuf_c_message_get_packed_size(m);
	uint8_t *buf = pm_xmalloc(n ? n : 1);
	PmStatus st;

	protobuf_c_message_pack(m, buf);
	st = pm_out_write(out, buf, n, err);
	free(buf);
	return st;
}

static PmStatus put_elements(Fill *f, PmOutFile *out, const Filled *x, PmErr *err)
{
	size_t n = x->blob->size, at, piece;
	void *buf = pm_xmalloc(PIECE);
	PmStatus st = PM_OK;

	for (at = 0; at < n && !st; at += piece) {
		piece = n - at < PIECE ? n - at : PIECE;
		pm_blob_read(x->blob, at, piece, buf);
		st = pm_out_write(out, buf, piece, err);
		f->done += (int64_t)piece;
		if (f->opts->on_bytes)
			f->opts->on_bytes(f->opts->arg, x->head.name ? x->head.name : "", f->done, f->total);
	}
	free(buf);
	return st;
}

/* Fills the data file, noting in the heads where each tensor is. */
static PmStatus put_data_file(Fill *f, PmErr *err)
{
	static const char zeros[ALIGN];
	static char location[] = "location", offset[] = "offset", length[] = "length";
	PmStatus st = PM_OK;

	for (size_t i = 0; i < f->m->graph->n_initializer && !st; i++) {
		Filled *x = &f->filled[i];

		if (!x->blob)
			continue;
		st = pm_out_write(f->data, zeros, (size_t)(-(uint64_t)pm_out_size(f->data) % ALIGN), err);
		x->offset = pm_out_size(f->data);
		snprintf(x->number[0], sizeof x->number[0], "%" PRId64, x->offset);
		snprintf(x->number[1], sizeof x->number[1], "%zu", x->blob->size);
		for (int k = 0; k < 3; k++) {
			onnx__string_string_entry_proto__init(&x->entry[k]);
			x->entry[k].key = k == 0 ? location : k == 1 ? offset : length;
			x->entry[k].value = k == 0 ? f->location : x->number[k - 1];
			x->entries[k] = &x->entry[k];
		}
		x->head.has_data_location = 1;
		x->head.data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
		x->head.n_external_data = 3;
		x->head.external_data = x->entries;
		if (!st)
			st = put_elements(f, f->data, x, err);
	}
	measure_heads(f);
	return st;
}

static PmStatus put_initializer(Fill *f, size_t i, PmErr *err)
{
	Filled *x = &f->filled[i];
	PmStatus st = put_tag(f->out, GRAPH_INITIALIZER, tensor_size(f, i), err);

	if (st)
		return st;
	if (!x->blob)
		return put_packed(f->out, &f->m->graph->initializer[i]->base, err);
	st = put_packed(f->out, &x->head.base, err);
	if (!st && !f->data)
		st = put_tag(f->out, TENSOR_RAW_DATA, (int64_t)x->blob->size, err);
	if (!st && !f->data)
		st = put_elements(f, f->out, x, err);
	return st;
}

/* The message without its initializers is packed as usual; both counts are put back. */
static PmStatus put_model(Fill *f, PmErr *err)
{
	Onnx__GraphProto *gp = f->m->graph;
	size_t n = gp->n_initializer, i;
	int64_t graph_size = initializers_size(f);
	PmStatus st;

	f->m->graph = NULL;
	st = put_packed(f->out, &f->m->base, err);
	f->m->graph = gp;
	gp->n_initializer = 0;
	graph_size += (int64_t)onnx__graph_proto__get_packed_size(gp);
	if (!st)
		st = put_tag(f->out, MODEL_GRAPH, graph_size, err);
	if (!st)
		st = put_packed(f->out, &gp->base, err);
	gp->n_initializer = n;
	for (i = 0; i < n && !st; i++)
		st = put_initializer(f, i, err);
	return st;
}

static int too_large_inline(Fill *f)
{
	size_t n = f->m->graph->n_initializer;
	int64_t rest, all = initializers_size(f);

	f->m->graph->n_initializer = 0;
	rest = (int64_t)onnx__model_proto__get_packed_size(f->m);
	f->m->graph->n_initializer = n;
	return all > MAX_MODEL - rest - 64; /* 64: tags and lengths that grow */
}

static PmStatus write_files(Fill *f, const char *path, PmErr *err)
{
	PmStr data = PM_STR_INIT;
	PmStatus st = PM_OK;

	measure_heads(f);
	if (f->total && (f->opts->external || too_large_inline(f))) {
		pm_str_addf(&data, "%s.data", path);
		f->location = pm_xstrdup(pm_path_base(data.s));
		f->report->external = 1;
		st = pm_out_open(data.s, &f->data, err);
		if (!st)
			st = put_data_file(f, err);
	}
	if (!st)
		st = pm_out_open(path, &f->out, err);
	if (!st)
		st = put_model(f, err);
	if (!st && f->data) {
		PmOutFile *d = f->data;

		f->data = NULL;
		st = pm_out_commit(d, err);
	}
	if (!st) {
		st = pm_out_commit(f->out, err);
		f->out = NULL;
	}
	pm_out_abort(f->out);
	pm_out_abort(f->data);
	free(f->location);
	pm_str_release(&data);
	return st;
}

static PmStatus fill_bytes(const void *p, size_t n, const char *model_path, const PmGraph *g,
			   const char *path, const PmOnnxFillOpts *opts, PmOnnxFillReport *report, PmErr *err)
{
	Fill f = { .g = g, .opts = opts, .report = report };
	PmOnnxAlloc alloc;
	PmStatus st;

	f.m = (Onnx__ModelProto *)pm__onnx_unpack(&onnx__model_proto__descriptor, p, n, &alloc, err);
	if (!f.m)
		return err->code;
	if (!f.m->graph) {
		st = pm_err(err, PM_E_INVALID, "The model has no graph.");
	} else {
		f.filled = pm_xcalloc(f.m->graph->n_initializer + 1, sizeof *f.filled);
		st = check_model(f.m, err);
		if (!st)
			st = find_blobs(&f, model_path, err);
		if (!st)
			st = write_files(&f, path, err);
		for (size_t i = 0; i < f.m->graph->n_initializer; i++)
			pm_blob_unref(f.filled[i].blob);
	}
	free(f.filled);
	pm__onnx_alloc_release(&alloc);
	return st;
}

PmStatus pm_onnx_materialize(const char *model, const PmGraph *g, const char *path,
			     const PmOnnxFillOpts *opts, PmOnnxFillReport *report, PmErr *err)
{
	static const PmOnnxFillOpts defaults;
	PmOnnxFillReport unused;
	PmErr local;
	PmMap map = { .p = NULL };
	PmStr bytes = PM_STR_INIT;
	PmStatus st;

	report = report ? report : &unused;
	memset(report, 0, sizeof *report);
	if (!err) {
		pm_err_init(&local);
		err = &local;
	}
	st = model ? pm_map_file(model, &map, err) : pm_onnx_export_mem(g, &bytes, err);
	if (!st)
		st = fill_bytes(model ? map.p : bytes.s, model ? map.n : bytes.len, model, g, path,
				opts ? opts : &defaults, report, err);
	if (st && model)
		pm_err_ctx(err, "%.300s", model);
	pm_unmap(&map);
	pm_str_release(&bytes);
	return st;
}
