/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_source.c - where the parts of a model lie, and unpacking them one at a time. */
#include "ir/onnx/onnx_source.h"

#include <stdlib.h>
#include <string.h>

enum { /* field numbers */
       MODEL_IR_VERSION = 1,
       MODEL_PRODUCER_NAME = 2,
       MODEL_GRAPH = 7,
       MODEL_OPSET_IMPORT = 8,
       MODEL_METADATA = 14,
       MODEL_FUNCTION = 25,
       GRAPH_NODE = 1,
       GRAPH_NAME = 2,
       GRAPH_INITIALIZER = 5,
       GRAPH_INPUT = 11,
       GRAPH_OUTPUT = 12,
       GRAPH_VALUE_INFO = 13,
       GRAPH_SPARSE_INITIALIZER = 15,
       NODE_INPUT = 1,
       NODE_OUTPUT = 2,
       NODE_ATTRIBUTE = 5,
       ATTRIBUTE_GRAPH = 6,
       ATTRIBUTE_GRAPHS = 11,
       TENSOR_NAME = 8,
       VALUE_INFO_NAME = 1,
       PAIR_KEY = 1,
       PAIR_VALUE = 2,
       FUNCTION_NAME = 1,
       FUNCTION_DOMAIN = 10,
       FUNCTION_OVERLOAD = 13,
};

/* ---- slots ---- */

void pm__slot_release(PmOnnxSlot *s)
{
	if (s->used)
		pm__onnx_alloc_release(&s->alloc);
	memset(s, 0, sizeof *s);
}

ProtobufCMessage *pm__slot_unpack(PmOnnxSlot *s, const ProtobufCMessageDescriptor *d, const void *p, size_t n,
				  PmErr *err)
{
	if (s->used)
		pm__onnx_alloc_reset(&s->alloc, n);
	else
		pm__onnx_alloc_init(&s->alloc, n);
	s->used = 1;
	return pm__onnx_unpack_scanned(d, p, n, &s->alloc, err);
}

/* ---- walking ---- */

static PmOnnxText text_of(const char *s)
{
	return s ? (PmOnnxText){ s, strlen(s) } : (PmOnnxText){ "", 0 };
}

static PmOnnxText text_in(const PmWireField *f)
{
	return (PmOnnxText){ (const char *)f->p, f->n };
}

static PmWire walk(const void *p, size_t n)
{
	return (PmWire){ p, (const uint8_t *)p + n };
}

/* The last text of that field number; the bytes have been scanned. */
static PmOnnxText text_field(const uint8_t *p, size_t n, uint32_t id)
{
	PmOnnxText t = { "", 0 };
	PmWire w = walk(p, n);
	PmWireField f;

	while (pm__wire_next(&w, &f) > 0) {
		if (f.id == id && f.type == PM_WIRE_BYTES)
			t = text_in(&f);
	}
	return t;
}

/* ---- graphs ---- */

void pm__source_of_graph(PmOnnxSource *src, const Onnx__GraphProto *g)
{
	memset(src, 0, sizeof *src);
	src->n[PM_PART_NODE] = g->n_node;
	src->n[PM_PART_INITIALIZER] = g->n_initializer;
	src->n[PM_PART_INPUT] = g->n_input;
	src->n[PM_PART_OUTPUT] = g->n_output;
	src->n[PM_PART_INFO] = g->n_value_info;
	src->node = g->node;
	src->initializer = g->initializer;
	src->info[PM_PART_INPUT] = g->input;
	src->info[PM_PART_OUTPUT] = g->output;
	src->info[PM_PART_INFO] = g->value_info;
	src->name = text_of(g->name);
	src->n_sparse = g->n_sparse_initializer;
}

/* An entry of a file's list; it has been scanned. */
static PmWireField entry(const PmOnnxSource *src, PmPart part, size_t i)
{
	PmWire w = { src->bytes + src->place[part][i], src->end };
	PmWireField f = { .p = src->bytes };

	pm__wire_next(&w, &f);
	return f;
}

static ProtobufCMessage *unpack(const PmOnnxSource *src, PmPart part, size_t i,
				const ProtobufCMessageDescriptor *d, PmOnnxSlot *slot, PmErr *err)
{
	PmWireField f = entry(src, part, i);

	return pm__slot_unpack(slot, d, f.p, f.n, err);
}

Onnx__NodeProto *pm__source_node(const PmOnnxSource *src, size_t i, PmOnnxSlot *slot, PmErr *err)
{
	if (!src->bytes)
		return src->node[i];
	return (Onnx__NodeProto *)unpack(src, PM_PART_NODE, i, &onnx__node_proto__descriptor, slot, err);
}

Onnx__TensorProto *pm__source_initializer(const PmOnnxSource *src, size_t i, PmOnnxSlot *slot, PmErr *err)
{
	if (!src->bytes)
		return src->initializer[i];
	return (Onnx__TensorProto *)unpack(src, PM_PART_INITIALIZER, i, &onnx__tensor_proto__descriptor, slot,
					   err);
}

Onnx__ValueInfoProto *pm__source_info(const PmOnnxSource *src, PmPart part, size_t i, PmOnnxSlot *slot,
				      PmErr *err)
{
	if (!src->bytes)
		return src->info[part][i];
	return (Onnx__ValueInfoProto *)unpack(src, part, i, &onnx__value_info_proto__descriptor, slot, err);
}

PmOnnxText pm__source_name(const PmOnnxSource *src, PmPart part, size_t i)
{
	PmWireField f;

	if (!src->bytes)
		return text_of(part == PM_PART_INITIALIZER ? src->initializer[i]->name
							   : src->info[part][i]->name);
	f = entry(src, part, i);
	return text_field(f.p, f.n, part == PM_PART_INITIALIZER ? TENSOR_NAME : VALUE_INFO_NAME);
}

static PmOnnxText c_text(PmOnnxText t)
{
	t.n = strnlen(t.s, t.n);
	return t;
}

void pm__source_pair(const PmWireField *f, PmOnnxText *key, PmOnnxText *value)
{
	*key = c_text(text_field(f->p, f->n, PAIR_KEY));
	*value = c_text(text_field(f->p, f->n, PAIR_VALUE));
}

static int nests(const PmWireField *attribute)
{
	PmWire w = walk(attribute->p, attribute->n);
	PmWireField f;

	while (pm__wire_next(&w, &f) > 0) {
		if (f.id == ATTRIBUTE_GRAPH || f.id == ATTRIBUTE_GRAPHS)
			return 1;
	}
	return 0;
}

static void wires_of_message(const Onnx__NodeProto *np, PmOnnxWires *w)
{
	for (size_t k = 0; k < np->n_input; k++)
		PM_VEC_PUSH(&w->in, text_of(np->input[k]));
	for (size_t k = 0; k < np->n_output; k++)
		PM_VEC_PUSH(&w->out, text_of(np->output[k]));
	for (size_t k = 0; k < np->n_attribute; k++)
		w->nests |= np->attribute[k]->g || np->attribute[k]->n_graphs;
}

void pm__source_wires(const PmOnnxSource *src, size_t i, PmOnnxWires *w)
{
	PmWireField f;
	PmWire at;

	w->in.n = w->out.n = 0;
	w->nests = 0;
	if (!src->bytes) {
		wires_of_message(src->node[i], w);
		return;
	}
	f = entry(src, PM_PART_NODE, i);
	at = walk(f.p, f.n);
	while (pm__wire_next(&at, &f) > 0) {
		if (f.id == NODE_INPUT)
			PM_VEC_PUSH(&w->in, text_in(&f));
		else if (f.id == NODE_OUTPUT)
			PM_VEC_PUSH(&w->out, text_in(&f));
		else if (f.id == NODE_ATTRIBUTE && !w->nests)
			w->nests = nests(&f);
	}
}

void pm__wires_release(PmOnnxWires *w)
{
	PM_VEC_RELEASE(&w->in);
	PM_VEC_RELEASE(&w->out);
}

/* ---- models ---- */

static int part_of(uint32_t graph_field)
{
	switch (graph_field) {
	case GRAPH_NODE:
		return PM_PART_NODE;
	case GRAPH_INITIALIZER:
		return PM_PART_INITIALIZER;
	case GRAPH_INPUT:
		return PM_PART_INPUT;
	case GRAPH_OUTPUT:
		return PM_PART_OUTPUT;
	case GRAPH_VALUE_INFO:
		return PM_PART_INFO;
	default:
		return PM_PARTS;
	}
}

/* The fields of one piece of the graph; lists are counted, and filled when there is room for them. */
static void graph_piece(PmOnnxSource *src, PmWire w)
{
	const uint8_t *start = w.at;
	PmWireField f;

	for (; pm__wire_next(&w, &f) > 0; start = w.at) {
		int part = part_of(f.id);

		if (part != PM_PARTS) {
			if (src->place[part])
				src->place[part][src->n[part]] = (PmOnnxPlace)(start - src->bytes);
			src->n[part]++;
		} else if (f.id == GRAPH_NAME) {
			src->name = text_in(&f);
		} else if (f.id == GRAPH_SPARSE_INITIALIZER) {
			src->n_sparse++;
		}
	}
}

static void each_piece(PmOnnxModel *m)
{
	PmWire w = { m->graph.bytes, m->graph.end };
	PmWireField f;

	memset(m->graph.n, 0, sizeof m->graph.n);
	m->graph.n_sparse = 0;
	while (pm__wire_next(&w, &f) > 0) {
		if (f.id != MODEL_GRAPH)
			continue;
		m->has_graph = 1;
		graph_piece(&m->graph, walk(f.p, f.n));
	}
}

static PmStatus index_graph(PmOnnxModel *m, size_t max_nodes, PmErr *err)
{
	size_t values = 0;

	m->graph.name = text_of(NULL);
	each_piece(m);
	for (int part = PM_PART_INITIALIZER; part < PM_PARTS; part++)
		values += m->graph.n[part];
	if (m->graph.n[PM_PART_NODE] > max_nodes)
		return pm_err(err, PM_E_LIMIT, "The model has more than %zu nodes; split it.", max_nodes);
	if (values > PM_MAX_VALUES)
		return pm_err(err, PM_E_LIMIT, "The graph has more than %d values; split the model.",
			      PM_MAX_VALUES);
	for (int part = 0; part < PM_PARTS; part++)
		m->graph.place[part] = pm_xcalloc(m->graph.n[part] + 1, sizeof *m->graph.place[part]);
	each_piece(m);
	return PM_OK;
}

static PmOnnxFunction function_in(const PmWireField *f)
{
	return (PmOnnxFunction){ .name = text_field(f->p, f->n, FUNCTION_NAME),
				 .domain = text_field(f->p, f->n, FUNCTION_DOMAIN),
				 .overload = text_field(f->p, f->n, FUNCTION_OVERLOAD),
				 .field = *f };
}

/* All but the graph: functions and metadata are noted, the fields that are wanted gathered in *head. */
static void outer_fields(PmOnnxModel *m, PmStr *head)
{
	PmWire w = { m->graph.bytes, m->graph.end };
	const uint8_t *start = w.at;
	PmWireField f;

	for (; pm__wire_next(&w, &f) > 0; start = w.at) {
		if (f.id == MODEL_IR_VERSION || f.id == MODEL_PRODUCER_NAME || f.id == MODEL_OPSET_IMPORT)
			pm_str_addn(head, (const char *)start, (size_t)(w.at - start));
		else if (f.id == MODEL_METADATA)
			PM_VEC_PUSH(&m->meta, f);
		else if (f.id == MODEL_FUNCTION)
			PM_VEC_PUSH(&m->functions, function_in(&f));
	}
}

PmStatus pm__model_open(PmOnnxModel *m, const void *p, size_t n, size_t max_nodes, PmErr *err)
{
	static const uint8_t none[1];
	PmStr head = PM_STR_INIT;
	PmStatus st;

	memset(m, 0, sizeof *m);
	m->graph.bytes = n ? p : none;
	m->graph.end = m->graph.bytes + n;
	if (n > UINT32_MAX)
		return pm_err(err, PM_E_LIMIT, "The model has %zu bytes and no more than %lu can be read.", n,
			      (unsigned long)UINT32_MAX);
	st = pm__onnx_scan(&onnx__model_proto__descriptor, p, n, err);
	if (st)
		return st;
	outer_fields(m, &head);
	m->head = (Onnx__ModelProto *)pm__slot_unpack(&m->head_slot, &onnx__model_proto__descriptor, head.s,
						      head.len, err);
	pm_str_release(&head);
	st = m->head ? index_graph(m, max_nodes, err) : err->code;
	if (st)
		pm__model_close(m);
	return st;
}

void pm__model_close(PmOnnxModel *m)
{
	for (int part = 0; part < PM_PARTS; part++)
		free(m->graph.place[part]);
	for (size_t i = 0; i < m->functions.n; i++)
		pm__slot_release(&m->functions.v[i].slot);
	PM_VEC_RELEASE(&m->functions);
	PM_VEC_RELEASE(&m->meta);
	pm__slot_release(&m->head_slot);
	memset(m, 0, sizeof *m);
}

const Onnx__FunctionProto *pm__model_function(PmOnnxFunction *f, PmErr *err)
{
	if (!f->message)
		f->message = (Onnx__FunctionProto *)pm__slot_unpack(
			&f->slot, &onnx__function_proto__descriptor, f->field.p, f->field.n, err);
	return f->message;
}
