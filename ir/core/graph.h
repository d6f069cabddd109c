/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - the tensor graph: values, nodes, attributes, constants.
 *
 * Values and nodes are 32-bit handles into arrays owned by the graph; id 0 means "none" (an omitted
 * operand, no producer). Handles survive growth, print, and are never reused. Every accessor accepts a
 * bad handle and answers as for "none".
 * A node's operands and results are ordered lists. A value has exactly one definition: graph input,
 * constant, or result k of a node. Killing a node removes it from the execution order; its results must
 * have no uses left.
 * The execution order (pm_graph_node_at) is a topological order after pm_graph_sort; nodes added later
 * are appended.
 */
#ifndef IR_GRAPH_H
#define IR_GRAPH_H

#include "base/core/arena.h"
#include "base/core/err.h"
#include "ir/core/op.h"
#include "ir/core/type.h"

#include <stddef.h>
#include <stdint.h>

enum {
	PM_MAX_NODES = 4 << 20,
	PM_MAX_VALUES = 16 << 20,
	PM_MAX_NODE_OPERANDS = 1 << 20,
	PM_MAX_NAME = 65535
};

typedef struct PmGraph PmGraph;
typedef struct PmValue {
	uint32_t id;
} PmValue;
typedef struct PmNode {
	uint32_t id;
} PmNode;

/* ---- constant data: reference-counted, immutable, usually a map of a file ---- */

typedef struct PmBlob {
	int refs;
	const void *data;     /* little-endian elements in row-major order; NULL when absent */
	size_t size;          /* bytes; the expected size when absent */
	const char *location; /* external file as written in the model, or NULL */
	int64_t offset;       /* in that file */
	/* Without data: writes bytes [offset, offset + n) of made-up elements (ir/data/weights.h), whole
	 * elements only; NULL when nobody makes them. */
	void (*make)(const struct PmBlob *, size_t offset, size_t n, void *out);
	void (*drop)(struct PmBlob *); /* frees data; may be NULL */
	void *owner;                   /* for make and drop */
} PmBlob;

PmBlob *pm_blob_copy(const void *p, size_t n); /* returns owned, refs 1 */
PmBlob *pm_blob_take(void *p, size_t n);       /* takes a malloc'ed block */
/* A blob of an external file's bytes, which whoever sets `drop` frees; `location` is copied. */
PmBlob *pm_blob_located(const void *data, const char *location, int64_t offset, size_t size);
/* A blob whose bytes are not at hand: only where they would be. Such a constant is never read as zeros. */
PmBlob *pm_blob_absent(const char *location, int64_t offset, size_t size);
/* Whether its bytes can be read: they are here, or somebody makes them. */
int pm_blob_readable(const PmBlob *b);
/* Bytes [offset, offset + n) of a readable blob, which must have them; offset and n on element borders. */
void pm_blob_read(const PmBlob *b, size_t offset, size_t n, void *out);
PmBlob *pm_blob_ref(PmBlob *b);
void pm_blob_unref(PmBlob *b);

/* ---- attributes ---- */

typedef struct PmAttr {
	const char *name; /* interned in the graph */
	PmAttrKind kind;
	int64_t i;
	double f;      /* FLOAT: holds a float32 value exactly */
	const char *s; /* STRING, n bytes, terminated */
	size_t n;      /* length of STRING, count of INTS, FLOATS, STRINGS */
	const int64_t *ints;
	const double *floats;
	const char *const *strings; /* each terminated */
	PmBlob *blob;               /* TENSOR; owned by the graph */
	PmGraph *graph;             /* GRAPH; owned by the graph */
	PmType type;                /* TENSOR; last: of other kinds a graph keeps what is before it */
} PmAttr;

/* ---- life cycle ---- */

PmGraph *pm_graph_new(size_t budget); /* budget in bytes, 0 = none; over it calls return PM_E_LIMIT */
/* Frees the graph with all that it owns; NULL is allowed. */
void pm_graph_free(PmGraph *g);
/* A deep copy (constants shared) with ids renumbered in execution order. Returns owned. Names that were given
 * stay; those that were made up are made up anew, since such a name says the number that its value has in the
 * graph at hand (pm_value_name). Where all names were given, the clone prints like its original. */
PmStatus pm_graph_clone(const PmGraph *g, PmGraph **out, PmErr *err);
const char *pm_graph_name(const PmGraph *g); /* never NULL */
PmStatus pm_graph_set_name(PmGraph *g, const char *name, PmErr *err);
/* Free-form metadata (model metadata_props): n pairs; set replaces. */
size_t pm_graph_n_meta(const PmGraph *g);
void pm_graph_meta_at(const PmGraph *g, size_t i, const char **key, const char **value);
const char *pm_graph_meta(const PmGraph *g, const char *key); /* NULL when missing */
PmStatus pm_graph_set_meta(PmGraph *g, const char *key, const char *value, PmErr *err);
void pm_graph_drop_meta(PmGraph *g, const char *key); /* when there is such a pair */

/* ---- laws of inputs ---- */

/* What an input is drawn from, where the graph says so: a metadata entry per input, in the words of
 * ir/data/law.h. A graph of a task has no statistics of the model that it was made of, since its inputs have
 * other names; it keeps these. They are a part of what the graph is: they count in its canonical form, and
 * follow an input that is renamed. The input's name follows the key. */
#define PM_INPUT_LAW_KEY "input_law."

enum { PM_MAX_INPUT_LAWS = 4000 }; /* of a graph: about as many entries as files hold */

/* The law of an input as text, borrowed; NULL when it has none. */
const char *pm_graph_input_law(const PmGraph *g, PmValue input);
/* Sets it. PM_E_LIMIT when the graph has PM_MAX_INPUT_LAWS entries. */
PmStatus pm_graph_set_input_law(PmGraph *g, PmValue input, const char *law, PmErr *err);
/* The place of the input that a metadata key gives a law to; pm_graph_n_inputs(g) when it is no such key, or
 * there is no such input. */
size_t pm_graph_law_input(const PmGraph *g, const char *key);

/* ---- symbols: named unknown dimensions ---- */

/* The dimension of the symbol called `name`, made on first use. */
PmDim pm_graph_symbol(PmGraph *g, const char *name);
const char *pm_graph_symbol_name(const PmGraph *g, PmDim d); /* NULL for a constant */
/* Appends a type for people, symbols by name: "float32[batch,3,224,224]". */
void pm_graph_describe_type(const PmGraph *g, const PmType *t, PmStr *out);
/* A symbol that equals no other: "_d0", "_d1", ... */
PmDim pm_graph_fresh_symbol(PmGraph *g);

/* ---- building ---- */

/* `name` NULL or "" makes a fresh one ("v12"). A name already in use is PM_E_INVALID. */
PmStatus pm_graph_add_input(PmGraph *g, const char *name, const PmType *t, PmValue *out, PmErr *err);
/* Takes the reference to `blob`; its size must be the type's, which must be static. */
PmStatus pm_graph_add_const(PmGraph *g, const char *name, const PmType *t, PmBlob *blob, PmValue *out,
			    PmErr *err);
/* Adds a node at the end of the order with n_out fresh unnamed results of unknown type; operands may be
 * {0}. No attributes yet. */
PmStatus pm_graph_add_node(PmGraph *g, PmOp op, const PmValue *in, size_t n_in, size_t n_out, PmNode *out,
			   PmErr *err);
PmStatus pm_graph_add_output(PmGraph *g, PmValue v, PmErr *err);
/* Opaque nodes: their ONNX domain and operator type. */
PmStatus pm_node_set_opaque(PmGraph *g, PmNode n, const char *domain, const char *op_type, PmErr *err);

/* A name of at most PM_MAX_NAME bytes, copied; "" = unnamed. Names of nodes need not differ. */
PmStatus pm_node_set_name(PmGraph *g, PmNode n, const char *name, PmErr *err);
/* Sets an attribute, in place of one of that name. Texts, lists and their elements are copied; floats are
 * rounded to single precision, as ONNX stores them. set_tensor takes the reference to `blob`, whose size
 * must be that of the type, and set_graph takes the graph: both also when they fail. PM_E_INVALID for a
 * handle that is not of the graph, PM_E_LIMIT over the budget. */
PmStatus pm_node_set_i(PmGraph *g, PmNode n, const char *attr, int64_t v, PmErr *err);
PmStatus pm_node_set_f(PmGraph *g, PmNode n, const char *attr, double v, PmErr *err);
PmStatus pm_node_set_s(PmGraph *g, PmNode n, const char *attr, const char *s, size_t len, PmErr *err);
PmStatus pm_node_set_ints(PmGraph *g, PmNode n, const char *attr, const int64_t *v, size_t cnt, PmErr *err);
PmStatus pm_node_set_floats(PmGraph *g, PmNode n, const char *attr, const double *v, size_t cnt, PmErr *err);
PmStatus pm_node_set_strings(PmGraph *g, PmNode n, const char *attr, const char *const *v, size_t cnt,
			     PmErr *err);
PmStatus pm_node_set_tensor(PmGraph *g, PmNode n, const char *attr, const PmType *t, PmBlob *blob,
			    PmErr *err);
PmStatus pm_node_set_graph(PmGraph *g, PmNode n, const char *attr, PmGraph *takes, PmErr *err);
/* Sets every attribute that `from` has; those that only `to` has stay. Tensors are shared, graphs copied. */
PmStatus pm_node_copy_attrs(PmGraph *g, PmNode to, const PmGraph *from_g, PmNode from, PmErr *err);
/* Removes an attribute; one that is missing is none. */
void pm_node_drop_attr(PmGraph *g, PmNode n, const char *attr);
/* Adds every attribute of the op table that has a default and is not present. */
PmStatus pm_node_fill_defaults(PmGraph *g, PmNode n, PmErr *err);

/* ---- editing ---- */

void pm_node_set_operand(PmGraph *g, PmNode n, size_t k, PmValue v); /* k below the operand count */
void pm_node_trim_operands(PmGraph *g, PmNode n, size_t count);      /* drops operands from `count` on */
/* Every use of `from`, graph outputs included, becomes a use of `to`. */
void pm_graph_replace_uses(PmGraph *g, PmValue from, PmValue to);
/* PM_E_INVALID when a result still has a use or is a graph output. Positions in the order shift: walk by id
 * (pm_graph_node_limit) while killing. */
PmStatus pm_graph_kill_node(PmGraph *g, PmNode n, PmErr *err);
/* PM_E_INVALID when the value is no constant, has a use or is a graph output. */
PmStatus pm_graph_kill_const(PmGraph *g, PmValue v, PmErr *err);
/* Removes nodes and constants nothing depends on (opaque nodes too: they have no effects). Returns the
 * number of nodes removed. */
size_t pm_graph_sweep(PmGraph *g);
/* Makes the order topological (lowest id first among the ready); PM_E_INVALID names a cycle's node. */
PmStatus pm_graph_sort(PmGraph *g, PmErr *err);

/* States the type of a value (copied); nothing is inferred from it. */
void pm_value_set_type(PmGraph *g, PmValue v, const PmType *t);
/* Renames a value: at most PM_MAX_NAME bytes, copied; NULL or "" makes a fresh name. PM_E_INVALID when
 * another value has the name. */
PmStatus pm_value_set_name(PmGraph *g, PmValue v, const char *name, PmErr *err);

/* ---- reading ---- */

/* Inputs and outputs in the order of the signature; {0} out of range. */
size_t pm_graph_n_inputs(const PmGraph *g);
PmValue pm_graph_input(const PmGraph *g, size_t i);
size_t pm_graph_n_outputs(const PmGraph *g);
PmValue pm_graph_output(const PmGraph *g, size_t i);
size_t pm_graph_n_nodes(const PmGraph *g);           /* live nodes */
PmNode pm_graph_node_at(const PmGraph *g, size_t i); /* in execution order */
uint32_t pm_graph_node_limit(const PmGraph *g);      /* all node ids are below this: for side tables */
uint32_t pm_graph_value_limit(const PmGraph *g);     /* all value ids are below this */
PmValue pm_graph_find_value(const PmGraph *g, const char *name); /* {0} when there is none */
/* The same among values that were given their names: while a graph is read, a name that was made up for a
 * value without one is nothing that the text may mean. */
PmValue pm_graph_find_given(const PmGraph *g, const char *name);

PmOp pm_node_op(const PmGraph *g, PmNode n);             /* PM_OP_NONE for a dead or bad handle */
const char *pm_node_name(const PmGraph *g, PmNode n);    /* "" when unnamed */
const char *pm_node_op_name(const PmGraph *g, PmNode n); /* table name, or the opaque op type */
const char *pm_node_domain(const PmGraph *g, PmNode n);  /* "" or the opaque node's domain */
/* Operands of a node, omitted ones included; 0 for a dead or bad handle. */
size_t pm_node_n_in(const PmGraph *g, PmNode n);
PmValue pm_node_in(const PmGraph *g, PmNode n, size_t k); /* {0} when omitted or out of range */
/* Results of a node; {0} out of range. */
size_t pm_node_n_out(const PmGraph *g, PmNode n);
PmValue pm_node_out(const PmGraph *g, PmNode n, size_t k);

/* Attributes in the order in which they were set; NULL out of range. Borrowed until the node changes. */
size_t pm_node_n_attrs(const PmGraph *g, PmNode n);
const PmAttr *pm_node_attr_at(const PmGraph *g, PmNode n, size_t i);
const PmAttr *pm_node_attr(const PmGraph *g, PmNode n, const char *name); /* NULL when missing */
/* Value of an attribute, or `dflt` when it is missing or of another kind. */
int64_t pm_node_i(const PmGraph *g, PmNode n, const char *name, int64_t dflt);
double pm_node_f(const PmGraph *g, PmNode n, const char *name, double dflt);
const char *pm_node_s(const PmGraph *g, PmNode n, const char *name, const char *dflt);
/* Number of ints (0 when missing) and their storage (borrowed) in *v. */
size_t pm_node_ints(const PmGraph *g, PmNode n, const char *name, const int64_t **v);

/* Never NULL. A value that was given no name has one that was made up when it was made, or when its name was
 * taken away: "v" and its number; reading a graph changes nothing in it. */
const char *pm_value_name(const PmGraph *g, PmValue v);
const PmType *pm_value_type(const PmGraph *g, PmValue v); /* never NULL; unknown type for a bad handle */
int pm_value_is_input(const PmGraph *g, PmValue v);
int pm_value_is_const(const PmGraph *g, PmValue v);
int pm_value_is_output(const PmGraph *g, PmValue v);
/* A new reference to the same, owned by the caller. */
PmBlob *pm_value_blob_ref(const PmGraph *g, PmValue v);
const PmBlob *pm_value_blob(const PmGraph *g, PmValue v);               /* NULL when not a constant */
PmNode pm_value_def(const PmGraph *g, PmValue v, size_t *result_index); /* {0} for inputs and constants */
/* Uses by node operands; graph outputs are not counted (pm_value_is_output). */
size_t pm_value_n_uses(const PmGraph *g, PmValue v);
typedef struct PmUse {
	uint32_t slot; /* internal; 0 = end */
	PmNode node;
	uint32_t operand;
} PmUse;
/* The uses of a value by nodes, one after the other, in no order that means anything. The last is followed
 * by one whose slot is 0. */
PmUse pm_value_first_use(const PmGraph *g, PmValue v);
PmUse pm_use_next(const PmGraph *g, PmUse u);

/* Reads a constant of at most `max` elements as integers / doubles. PM_DECLINED when it is not a
 * constant, has no data at hand, is larger, or (ints) is not of an integer or bool type or holds a uint64
 * that no int64_t can. */
PmStatus pm_value_const_ints(const PmGraph *g, PmValue v, int64_t *out, size_t max, size_t *n);
PmStatus pm_value_const_floats(const PmGraph *g, PmValue v, double *out, size_t max, size_t *n);

/* "node 12 (Conv 'layer1.conv')": appends for messages. */
void pm_node_describe(const PmGraph *g, PmNode n, PmStr *out);

#endif
