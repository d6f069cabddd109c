/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_source.h - a model's messages one at a time.
 *
 * protobuf-c unpacks whole messages, and a whole model unpacked takes several times its file. So the
 * outermost two layers, ModelProto and GraphProto, are walked here (onnx_wire.h): where each of their list
 * entries lies is noted, and an entry is unpacked when it is wanted, into a slot that the next one reuses.
 * Fields may come in any order. A graph given in several pieces is one, as protobuf defines: lists are
 * joined, of other fields the last counts. Graphs of attributes and bodies of functions are unpacked with the
 * message they are in; a source hides the difference.
 */
#ifndef IR_ONNX_SOURCE_H
#define IR_ONNX_SOURCE_H

#include "ir/onnx/onnx_priv.h"
#include "ir/onnx/onnx_wire.h"

/* ---- a place to unpack one message into ---- */

typedef struct PmOnnxSlot {
	PmOnnxAlloc alloc;
	int used;
} PmOnnxSlot;

/* The message of that kind in n scanned bytes; what the slot held before is gone. NULL with a sentence when
 * that takes too much memory. */
ProtobufCMessage *pm__slot_unpack(PmOnnxSlot *s, const ProtobufCMessageDescriptor *d, const void *p, size_t n,
				  PmErr *err);
void pm__slot_release(PmOnnxSlot *s); /* leaves it empty and reusable */

/* ---- graphs ---- */

typedef struct PmOnnxText { /* borrowed; not terminated */
	const char *s;
	size_t n;
} PmOnnxText;

typedef enum {
	PM_PART_NODE,
	PM_PART_INITIALIZER,
	PM_PART_INPUT,
	PM_PART_OUTPUT,
	PM_PART_INFO,
	PM_PARTS
} PmPart;

typedef uint32_t PmOnnxPlace; /* where in the model's bytes an entry's field starts */

/* A graph's, or a function body's, lists. */
struct PmOnnxSource {
	size_t n[PM_PARTS];
	/* Either of a file: */
	const uint8_t *bytes; /* NULL: not of a file */
	const uint8_t *end;
	PmOnnxPlace *place[PM_PARTS];
	/* or unpacked: */
	Onnx__NodeProto **node;
	Onnx__TensorProto **initializer;
	Onnx__ValueInfoProto **info[PM_PARTS];
	PmOnnxText name;
	size_t n_sparse; /* sparse initializers */
};

/* The source of an unpacked graph, whose messages it borrows. */
void pm__source_of_graph(PmOnnxSource *src, const Onnx__GraphProto *g);
/* Entry i of a list; unpacked ones are where they are, others go to the slot. NULL with a sentence. */
Onnx__NodeProto *pm__source_node(const PmOnnxSource *src, size_t i, PmOnnxSlot *slot, PmErr *err);
Onnx__TensorProto *pm__source_initializer(const PmOnnxSource *src, size_t i, PmOnnxSlot *slot, PmErr *err);
Onnx__ValueInfoProto *pm__source_info(const PmOnnxSource *src, PmPart part, size_t i, PmOnnxSlot *slot,
				      PmErr *err);
/* Its name alone, of an entry of any list but nodes. */
PmOnnxText pm__source_name(const PmOnnxSource *src, PmPart part, size_t i);

/* Key and value of a scanned StringStringEntryProto, each up to its first zero byte. They may be as large as
 * the file, so they are copied once: from there to where they stay. */
void pm__source_pair(const PmWireField *f, PmOnnxText *key, PmOnnxText *value);

/* A node's operands and results, without unpacking it. */
typedef struct PmOnnxWires {
	PM_VEC(PmOnnxText) in, out;
	int nests; /* it has graphs in attributes */
} PmOnnxWires;
void pm__source_wires(const PmOnnxSource *src, size_t i, PmOnnxWires *w); /* what w held is dropped */
/* Frees the two lists; their texts are the source's. */
void pm__wires_release(PmOnnxWires *w);

/* What the model states about a value: entry i of that part (inputs, outputs, value_info). */
void pm__scope_note(PmOnnxName *nm, PmPart part, size_t i);
/* The entry, NULL when nothing is noted. */
PmStatus pm__scope_info(const PmOnnxScope *sc, const PmOnnxName *nm, PmOnnxSlot *slot,
			const Onnx__ValueInfoProto **out, PmErr *err);

/* ---- models ---- */

typedef struct PmOnnxFunction {
	PmOnnxText name, domain, overload;
	PmWireField field;
	PmOnnxText meta;              /* of a kernel (onnx_kernel.h); s NULL: there is none */
	Onnx__NodeProto *kernel;      /* likewise, once it was called: a node with the body as a graph */
	int declined;                 /* it looks like a kernel and is none */
	Onnx__FunctionProto *message; /* NULL: not called yet */
	PmOnnxSlot slot;
} PmOnnxFunction;

typedef struct PmOnnxModel {
	Onnx__ModelProto *head; /* only versions, opsets and producer */
	int has_graph;
	PmOnnxSource graph;
	PM_VEC(PmOnnxFunction) functions;
	PM_VEC(PmWireField) meta; /* metadata_props, without those of functions (pm__model_find_kernels) */
	PmOnnxSlot head_slot;
} PmOnnxModel;

/* Checks the bytes of a model, which must outlive *m, and finds its parts. On failure there is nothing to
 * close. */
PmStatus pm__model_open(PmOnnxModel *m, const void *p, size_t n, size_t max_nodes, PmErr *err);
void pm__model_close(PmOnnxModel *m);
/* Moves the metadata of kernels from the model's to their functions. */
void pm__model_find_kernels(PmOnnxModel *m);
/* A function of the model, unpacked at its first call. NULL with a sentence. */
const Onnx__FunctionProto *pm__model_function(PmOnnxFunction *f, PmErr *err);

#endif
