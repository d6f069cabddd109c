/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_priv.h - what the files of the ONNX reader and writer share.
 *
 * Reading goes: scan (bytes are well formed, nesting is bounded, text is UTF-8), find the parts
 * (onnx_source.h), order (nodes after what they need), then node by node: unpack (protobuf-c, within a
 * budget), draft (operands and attributes as written), normalise (onnx_norm*.c), emit (graph node, inference,
 * comparison with the stated type).
 * A normaliser that cannot express a node returns PM_DECLINED and says why; the node becomes opaque.
 */
#ifndef IR_ONNX_PRIV_H
#define IR_ONNX_PRIV_H

#include "base/core/arena.h"
#include "base/core/str.h"
#include "base/core/vec.h"
#include "ir/core/graph.h"
#include "ir/onnx/onnx.h"

#include "onnx.pb-c.h"

enum {
	PM_ONNX_MIN_OPSET = 7,
	PM_ONNX_MAX_OPSET = 28,
	PM_ONNX_MIN_IR = 3, /* the first with opset_import; a file without a version is let in */
	PM_ONNX_MAX_IR = 14,
	PM_ONNX_OUT_OPSET = 18,      /* written unless a node needs a later one */
	PM_ONNX_MAX_DEPTH = 64,      /* nested messages: graphs in nodes in graphs, types in types */
	PM_ONNX_MAX_CALLS = 32,      /* nested calls of model-local functions */
	PM_ONNX_DRAFT_ATTRS = 24,    /* attributes of one operator of the table */
	PM_ONNX_MADE = 4,            /* results of an expanded operator */
	PM_ONNX_MAX_META = 64 << 20, /* bytes of one text: metadata, documentation */
};

#define PM_ONNX_KERNEL_DOMAIN "passmith"
#define PM_ONNX_PRODUCER      "passmith"
#define PM_ONNX_TYPE_ATTR                                                                                    \
	"type_" /* + result number: a TypeProto that is no type of ours, on opaque nodes                     \
		 */

/* ---- onnx_import_scan.c ---- */

/* Checks that n bytes are a message of this kind: fields complete, nesting bounded, text UTF-8. */
PmStatus pm__onnx_scan(const ProtobufCMessageDescriptor *d, const void *p, size_t n, PmErr *err);
int pm__utf8_ok(const char *s, size_t n);

/* What a message is unpacked into: small things from an arena, large ones (data of tensors) singly. */
typedef struct PmOnnxLarge {
	struct PmOnnxLarge *prev, *next;
	uint64_t
		pad; /* a large block's bytes start at 8 modulo 16, an arena's at 0: so they are told apart */
} PmOnnxLarge;
typedef struct PmOnnxAlloc {
	ProtobufCAllocator base;
	PmArena *arena;
	PmOnnxLarge large; /* head of a ring */
	size_t used, budget;
	int over;
} PmOnnxAlloc;
void pm__onnx_alloc_init(PmOnnxAlloc *a, size_t message_bytes);
/* Ready for another message: what was unpacked before is gone, but for what was taken out. */
void pm__onnx_alloc_reset(PmOnnxAlloc *a, size_t message_bytes);
/* Frees all that was unpacked, but for what was taken out. */
void pm__onnx_alloc_release(PmOnnxAlloc *a);
/* A blob that owns these bytes of a message; NULL when they are not a large block of their own. */
PmBlob *pm__onnx_alloc_take(void *p, size_t n);
/* An allocator that takes from an arena and frees nothing: its messages need no free_unpacked. */
ProtobufCAllocator pm__onnx_arena_allocator(PmArena *a);
/* Scan and unpack. NULL with a sentence on failure, and then there is nothing to release. */
ProtobufCMessage *pm__onnx_unpack(const ProtobufCMessageDescriptor *d, const void *p, size_t n,
				  PmOnnxAlloc *a, PmErr *err);
/* Unpack alone, of bytes that were scanned; what a failure leaves is the allocator's. */
ProtobufCMessage *pm__onnx_unpack_scanned(const ProtobufCMessageDescriptor *d, const void *p, size_t n,
					  PmOnnxAlloc *a, PmErr *err);

/* ---- onnx_tensor.c ---- */

/* The type of a tensor; PM_DECLINED when its element type is not ours (`why` is filled). */
PmStatus pm__onnx_tensor_type(const Onnx__TensorProto *t, PmType *type, char why[96], PmErr *err);
/* Elements of an inline tensor of that type; `take` moves raw_data out of the message instead of copying. */
PmStatus pm__onnx_tensor_data(Onnx__TensorProto *t, const PmType *type, int take, PmBlob **out, PmErr *err);
/* Fills `t` from a constant; storage comes from `a` or is borrowed from the blob. */
PmStatus pm__onnx_tensor_fill(Onnx__TensorProto *t, const char *name, const PmType *type, const PmBlob *blob,
			      PmArena *a, PmErr *err);
/* v as one little-endian element of dtype (a float type, or an integer type when v is whole). */
void pm__encode_element(int dtype, double v, unsigned char out[8]);

/* ---- onnx_pack.c: element types of fewer than 8 bits ---- */

/* Bytes of so many elements of dtype in a file's raw_data or data file. */
int64_t pm__onnx_packed_bytes(int dtype, int64_t numel);
/* From the bytes of a file to one byte for each element, and back. dtype has fewer than 8 bits. */
void pm__onnx_unpack_bits(int dtype, const unsigned char *from, int64_t numel, unsigned char *to);
void pm__onnx_pack_bits(int dtype, const unsigned char *from, int64_t numel, unsigned char *to);

/* ---- onnx_import_ext.c ---- */

typedef struct PmOnnxFiles PmOnnxFiles; /* maps of external data files, one per file */
/* `model_path` NULL: the model came from memory and every file counts as missing. */
PmOnnxFiles *pm__onnx_files_new(const char *model_path);
void pm__onnx_files_free(PmOnnxFiles *f); /* blobs keep their maps */
PmStatus pm__onnx_external(PmOnnxFiles *f, const Onnx__TensorProto *t, const PmType *type, PmBlob **out,
			   int *absent, PmErr *err);

/* ---- onnx_import_order.c: names, scopes, order ---- */

typedef struct PmOnnxSource PmOnnxSource; /* onnx_source.h */
struct PmOnnxFunction;

typedef struct PmOnnxName {
	PmValue value;
	uint32_t def;          /* 1 + index of the node that defines it; 0 = none */
	uint32_t info : 30;    /* what the model states about it (pm__scope_note); 0 = nothing */
	uint32_t known : 1;    /* has a value, possibly {0} (an omitted argument of a function) */
	uint32_t constant : 1; /* an initializer has this name */
} PmOnnxName;

typedef struct PmOnnxOpset {
	const char *domain;
	int64_t version;
} PmOnnxOpset;

typedef struct PmOnnxScope {
	PmIntern *names;
	PmIntern *own_names;         /* `names`, unless those are a graph's */
	PM_VEC(PmOnnxName) v;        /* by id in `names` */
	PM_VEC(const char *) finals; /* likewise: the name the value gets in the graph, when not its own */
	const PmOnnxSource *source;
	const PmOnnxSource *infos; /* which PmOnnxName.info is about: of the graph around */
	struct PmOnnxSlot *slot;   /* for nodes */
	Onnx__OperatorSetIdProto **opsets;
	size_t n_opsets;
	const struct PmOnnxScope *caller; /* of a function's body */
	const Onnx__NodeProto *call;      /* whose attributes the body refers to */
	Onnx__AttributeProto **defaults;  /* of the function's attributes */
	size_t n_defaults;
	const char *prefix; /* of names of an inlined body; NULL at the top */
	int depth;
} PmOnnxScope;

/* A scope over a graph's (or body's) lists. Its names are kept in `names`, NULL: in a table of its own that
 * borrows them. */
void pm__scope_init(PmOnnxScope *sc, const PmOnnxSource *source, PmIntern *names);
void pm__scope_release(PmOnnxScope *sc);
uint32_t pm__scope_id(PmOnnxScope *sc, const char *name, size_t n); /* made when missing; below v.n */
PmOnnxName *pm__scope_at(PmOnnxScope *sc, const char *name); /* likewise; valid until the next new name */
PmOnnxName *pm__scope_find(const PmOnnxScope *sc, const char *name); /* NULL when missing */
/* Defines every node's results, counts uses, and gives an order in which operands come first. Names with
 * `known` set come from outside. *order is malloc'ed. */
PmStatus pm__scope_order(PmOnnxScope *sc, uint32_t **order, PmErr *err);
/* In a function's body: the name that the value gets in the graph; NULL when none was set. */
void pm__scope_set_final(PmOnnxScope *sc, const PmOnnxName *nm, const char *name);
const char *pm__scope_final(const PmOnnxScope *sc, const PmOnnxName *nm);
/* Names that nested graphs of a node take from outside, each once, in order of first use. */
typedef struct PmOnnxFree {
	PM_VEC(const char *) v; /* borrowed from the message */
} PmOnnxFree;
void pm__onnx_captures(const Onnx__NodeProto *np, PmOnnxFree *out);
/* Renames free names in a node's nested graphs: from[i] becomes to[i]. */
PmStatus pm__onnx_rename_captures(Onnx__NodeProto *np, const char *const *from, const char *const *to,
				  size_t n, PmErr *err);
/* "node 3 (Add 'x')" of a message, for sentences. */
typedef struct PmOnnxWhere {
	char s[224];
} PmOnnxWhere;
PmOnnxWhere pm__onnx_where(const Onnx__NodeProto *np, size_t index);

/* ---- onnx_import.c / onnx_import_graph.c ---- */

/* Names of the model's graphs, read when the first new name is needed: most models need none. */
typedef struct PmTaken {
	PmIntern *names;
	const PmOnnxSource *unread; /* the model's graph until then */
} PmTaken;

typedef struct PmStatedName {
	const char *name; /* as the model states it */
	PmDim dim;        /* what inference calls it */
} PmStatedName;

typedef struct PmImport {
	PmGraph *g;
	PmArena *arena;   /* names and lists that live until the import ends */
	PmArena *scratch; /* a draft's lists, gone after it */
	struct PmOnnxModel *model;
	struct PmOnnxSlot *node_slot,
		*info_slot; /* for the model's own nodes; for stated types and weights */
	PmOnnxFiles *files;
	const PmOnnxOpts *opts; /* never NULL */
	PmOnnxReport *report;   /* never NULL */
	struct PmTaken *taken;  /* names that new values must not get */
	PM_VEC(PmValue) eaten;  /* operands that became attributes */
	struct PmFold *fold;    /* small integers known so far; NULL for our own files, read as they are */
	size_t n_nodes, max_nodes;
	int nested;                        /* depth of kernel bodies */
	int read_again;                    /* nothing may be taken out of the messages that are read */
	PM_VEC(PmStatedName) stated_names; /* seen while comparing stated types */
	PM_VEC(uint32_t) overruled;        /* values whose stated type was dropped */
} PmImport;

/* After all nodes: removes operands that became attributes, folds shape arithmetic. */
PmStatus pm__import_finish(PmImport *im, PmErr *err);
/* Fills an empty graph from a source: inputs, initializers, nodes, outputs. */
PmStatus pm__import_graph(PmImport *im, const PmOnnxSource *src, PmErr *err);
/* An attribute, or in a function's body the caller's attribute it refers to (under another name); NULL when
 * the caller gives none and there is no default. */
Onnx__AttributeProto *pm__scope_attr(const PmOnnxScope *sc, Onnx__AttributeProto *a);
/* Imports the graph in attribute `a` of node np in the place of the node: its inputs are `in`, its one output
 * is *out. Names that it does not define are those of sc, the node's scope; its own are prefixed. */
PmStatus pm__import_inline(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, Onnx__AttributeProto *a,
			   const PmOnnxWhere *w, const PmValue *in, size_t n_in, PmValue *out, PmErr *err);
/* Imports the ordered nodes of a scope. */
PmStatus pm__import_nodes(PmImport *im, PmOnnxScope *sc, PmErr *err);
PmStatus pm__import_type(PmImport *im, const Onnx__TypeProto *tp, const char *what, const char *name,
			 PmType *out, char why[96], PmErr *err);
/* A name not used by the model or the graph so far, starting with `base`; from the import's arena. */
const char *pm__import_fresh(PmImport *im, const char *base);
/* Notes the names of a graph, which a fresh name must not be; `keep` when their text does not last as long as
 * the import. */
void pm__import_take_graph(PmImport *im, const PmOnnxSource *src, int keep);
/* A constant from a tensor; `take` as above. PM_DECLINED with `why` when its element type is not ours. */
PmStatus pm__import_const(PmImport *im, const char *name, Onnx__TensorProto *t, int take, PmValue *out,
			  char why[96], PmErr *err);
/* The dimension called `name`: its size when the caller gives it one (PmOnnxOpts.dims), else a symbol. */
PmDim pm__import_dim(PmImport *im, const char *name);
/* At most PM_MAX_RANK dimensions, none negative. */
PmStatus pm__import_check_dims(const Onnx__TensorShapeProto *s, const char *what, const char *name,
			       PmErr *err);

/* ---- onnx_import_stated.c ---- */

/* A known type must agree with a stated one in element type, rank and constant dimensions; with
 * PmOnnxOpts.compare_stated it is only compared and counted, with types_infer the stated one is dropped. */
PmStatus pm__import_check_stated(PmImport *im, PmValue v, const Onnx__ValueInfoProto *info, PmErr *err);
/* With what the scope has noted for the name. */
PmStatus pm__import_check_name(PmImport *im, const PmOnnxScope *sc, const PmOnnxName *nm, PmValue v,
			       PmErr *err);

/* ---- onnx_import_node.c ---- */

/* No domain twice, the default one in the range we read; *opset is its version or 0. */
PmStatus pm__import_check_opsets(Onnx__OperatorSetIdProto **v, size_t n, int64_t *opset, PmErr *err);
const char *pm__onnx_domain_name(const char *domain);               /* "" for "ai.onnx" and NULL */
int64_t pm__scope_opset(const PmOnnxScope *sc, const char *domain); /* 0 when not imported */
const char *pm__onnx_domain(const Onnx__NodeProto *np);             /* "" for the default one */
/* The value of an operand's name. */
PmStatus pm__scope_value(const PmOnnxScope *sc, const char *name, PmValue *out, const PmOnnxWhere *w,
			 PmErr *err);
/* Names a node and its results, notes them in the scope, compares with what the model states. */
PmStatus pm__import_results(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, PmNode n, PmErr *err);
/* Gives a node's results the types that the model states for them, unless those are only compared. */
PmStatus pm__import_stated_types(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, PmNode n,
				 PmErr *err);
/* The name a result called `name` in this scope gets in the graph. */
const char *pm__import_final_name(PmImport *im, const PmOnnxScope *sc, const char *name);

/* ---- onnx_import_opaque.c ---- */

PmStatus pm__import_opaque(PmImport *im, PmOnnxScope *sc, Onnx__NodeProto *np, size_t index, const char *why,
			   PmErr *err);

/* The opaque nodes of a whole model, functions and kernels included, in the opset that it would be written
 * in, where they mean the same in it: so that writing and reading changes nothing. */
PmStatus pm__import_raise_opsets(PmImport *im, PmErr *err);

/* ---- onnx_import_kernel.c ---- */

/* A node that has its body as a graph. */
PmStatus pm__import_kernel(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, size_t index,
			   PmErr *err);
/* A call of a function that is a kernel (onnx_kernel.h). PM_DECLINED when it is none; when it looks like one,
 * the report says why. */
PmStatus pm__import_kernel_call(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, size_t index,
				struct PmOnnxFunction *f, PmErr *err);

/* ---- onnx_import_func.c ---- */

/* The model-local function a node calls, or NULL. */
struct PmOnnxFunction *pm__onnx_function(const PmImport *im, const Onnx__NodeProto *np);
PmStatus pm__import_call(PmImport *im, PmOnnxScope *sc, Onnx__NodeProto *np, size_t index,
			 struct PmOnnxFunction *f, PmErr *err);

/* ---- onnx_norm.c: drafts ---- */

typedef struct PmDraftAttr {
	const char *name;
	PmAttrKind kind; /* INT, FLOAT, STRING, INTS, TENSOR */
	int64_t i;
	double f;
	const char *s;
	size_t n;
	const int64_t *ints;
	PmType type;
	PmBlob *blob; /* owned by the draft */
} PmDraftAttr;

typedef struct PmDraft {
	PmImport *im;
	PmGraph *g;
	PmOnnxScope *sc;
	Onnx__NodeProto *np;
	size_t index; /* in the file */
	int64_t opset;
	PmOp op;
	PmValue *in;
	size_t n_in, n_out;
	size_t n_attr;
	PmValue made[PM_ONNX_MADE]; /* results, when the node became several (onnx_expand.h) */
	size_t n_made;              /* 0: the draft is one node */
	PmOnnxWhere where;
	char why[192]; /* empty, or a sentence's part; from here on a new draft is not cleared */
	PmDraftAttr attr[PM_ONNX_DRAFT_ATTRS];
} PmDraft;

/* Brings a draft whose operands are set to normal form: d->op, operands and attributes. PM_DECLINED with
 * d->why when the node must stay opaque. */
PmStatus pm__norm(PmDraft *d, PmErr *err);
/* The table operator that a node becomes (Identity: it may become several), or PM_OP_NONE. */
PmOp pm__norm_op(const Onnx__NodeProto *np);
void pm__draft_release(PmDraft *d);
PmStatus pm__decline(PmDraft *d, const char *fmt, ...) PM_PRINTF(2, 3);

/* Attributes as written, references to a function's attributes resolved; NULL when missing. */
Onnx__AttributeProto *pm__draft_proto(const PmDraft *d, const char *name);
/* Kind-checked reading; a missing attribute gives the default / n = 0 and *present = 0. */
PmStatus pm__draft_get_i(PmDraft *d, const char *name, int64_t dflt, int64_t *out, PmErr *err);
PmStatus pm__draft_get_f(PmDraft *d, const char *name, double dflt, double *out, PmErr *err);
PmStatus pm__draft_get_s(PmDraft *d, const char *name, const char *dflt, const char **out, PmErr *err);
PmStatus pm__draft_get_ints(PmDraft *d, const char *name, int64_t **v, size_t *n, int *present, PmErr *err);

void pm__draft_set_i(PmDraft *d, const char *name, int64_t v);
void pm__draft_set_f(PmDraft *d, const char *name, double v);
void pm__draft_set_s(PmDraft *d, const char *name, const char *s);
void pm__draft_set_ints(PmDraft *d, const char *name, const int64_t *v, size_t n);
void pm__draft_set_tensor(PmDraft *d, const char *name, const PmType *t, PmBlob *takes);
/* The attribute `a` of the node, of the kind that the table says, into the draft. */
PmStatus pm__draft_take(PmDraft *d, const PmAttrDesc *desc, const Onnx__AttributeProto *a, PmErr *err);
const PmDraftAttr *pm__draft_attr(const PmDraft *d, const char *name);

/* The integers of constant operand k into the arena; declines with "<what> is not constant". *present = 0
 * when the operand is omitted. */
PmStatus pm__draft_operand_ints(PmDraft *d, size_t k, const char *what, int64_t **v, size_t *n, int *present,
				PmErr *err);
/* Drops operands from k on, remembering constants that became attributes. */
void pm__draft_eat(PmDraft *d, size_t k);
/* A new constant of one element (rank 0) / a list of int64. */
PmStatus pm__draft_scalar(PmDraft *d, int dtype, double v, PmValue *out, PmErr *err);
PmStatus pm__draft_list(PmDraft *d, const int64_t *v, size_t n, PmValue *out, PmErr *err);
/* A node of its own before the draft's, with an optional int attribute; inferred at once. */
PmStatus pm__draft_before(PmDraft *d, PmOp op, const PmValue *in, size_t n_in, const char *attr, int64_t v,
			  PmValue *out, PmErr *err);
/* Makes an axis non-negative: in [0, rank), or [0, rank] when `end` is 1. */
PmStatus pm__draft_axis(PmDraft *d, int64_t *axis, int rank, int end, PmErr *err);
/* Axes: each non-negative, sorted, distinct. */
PmStatus pm__draft_axes(PmDraft *d, int64_t *v, size_t n, int rank, PmErr *err);
const PmType *pm__draft_type(const PmDraft *d, size_t k); /* of operand k */
/* The type that the floating-point operands would be cast to where they have several and the operator wants
 * one: of products the 16-bit type, else the one that holds all; numbers of rank 0 follow the others. -1
 * elsewhere. */
int pm__import_mixed_type(const PmDraft *d);
/* Casts them so, with a node of its own and a sentence in the report for each. */
PmStatus pm__import_join_types(PmDraft *d, PmErr *err);

/* ---- the normalisers: one per operator family ---- */

typedef PmStatus (*PmNormFn)(PmDraft *d, PmErr *err);
typedef struct PmNormRow {
	const char *op_type;
	PmOp op;            /* of the table */
	PmNormFn fn;        /* NULL: operands and attributes are right as written */
	const char *extra;  /* attributes that fn reads and the table does not have, space separated */
	unsigned const_ops; /* bit k: operand k must be constant for the node to import */
} PmNormRow;
/* In const_ops: the operator takes no operands. */
#define PM_NORM_NO_OPERANDS (1u << 31)
extern const PmNormRow pm__norm_axes_rows[], pm__norm_nn_rows[], pm__norm_misc_rows[]; /* end: op_type NULL */
/* Conv: operands 0 (input) and 1 (weights) are read, the attributes of the draft set. */
PmStatus pm__norm_conv(PmDraft *d, PmErr *err);
/* The row of a node's operator, or NULL. */
const PmNormRow *pm__norm_row(const Onnx__NodeProto *np);

/* ---- onnx_export.c, onnx_export_node.c, onnx_export_kernel.c ---- */

typedef PM_VEC(PmOnnxOpset) PmExportDomains;

/* Functions of the model that is written: one for each different kernel. */
typedef struct PmExportFunctions {
	PmIntern *names; /* NULL: there is none yet */
	PM_VEC(Onnx__FunctionProto *) v;
	PM_VEC(Onnx__StringStringEntryProto *) meta; /* of each */
	PmOnnxKernelFn *on_kernel;                   /* told of each call; NULL = nobody */
	void *arg;
} PmExportFunctions;

typedef struct PmExport {
	PmArena *arena; /* every message; no budget */
	const PmGraph *g;
	int64_t opset;
	int depth;                /* of nested graphs */
	PmExportDomains *domains; /* other than the default one */
	PmExportFunctions *functions;
	PmIntern *taken; /* names of constants made on the way */
	PM_VEC(Onnx__TensorProto *) initializers;
	PM_VEC(Onnx__ValueInfoProto *) infos;
} PmExport;

void *pm__export_alloc(PmExport *x, size_t n, size_t size); /* zeroed; never NULL */
PmStatus pm__export_text(PmExport *x, const char *s, const char *what, char **out, PmErr *err);
PmStatus pm__export_const(PmExport *x, const char *name, const PmType *t, const PmBlob *blob, PmErr *err);
PmStatus pm__export_graph(PmExport *up, const PmGraph *g, Onnx__GraphProto *gp, PmErr *err);
PmStatus pm__export_node(PmExport *x, PmNode n, Onnx__NodeProto **out, PmErr *err);
/* The function that Kernel node n calls: np->op_type is its name. */
PmStatus pm__export_kernel(PmExport *x, PmNode n, Onnx__NodeProto *np, PmErr *err);
/* The first operator, nested graphs included, that changes its meaning between two opsets; NULL when none. */
const char *pm__onnx_breaks(const Onnx__NodeProto *np, int64_t from, int64_t to);
/* Raises x->opset to what the nodes of g need and notes their domains. */
PmStatus pm__export_opset(PmExport *x, const PmGraph *g, PmErr *err);
/* Notes a domain other than the default one, in that version at least, and gives the version noted. */
int64_t pm__export_note_domain(PmExport *x, const char *domain, int64_t version);
/* Domains of operators in nested graphs are written too. */
void pm__export_note_domains(PmExport *x, const Onnx__NodeProto *np);
/* Whether a list attribute of a node is absent or all 1. */
int pm__export_all_ones(const PmGraph *g, PmNode n, const char *attr);

#endif
