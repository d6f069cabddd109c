/* SPDX-License-Identifier: Apache-2.0 */
/* graph_priv.h - the graph's inside, for the files graph*.c only. */
#ifndef IR_GRAPH_PRIV_H
#define IR_GRAPH_PRIV_H

#include "base/core/vec.h"
#include "ir/core/graph.h"

/* One operand slot of a node; slots of a value form a doubly linked list. Slot 0 is never used. */
typedef struct Slot {
	uint32_t value, node; /* it is operand number (this slot - the node's slot0) */
	uint32_t next, prev;
} Slot;

typedef struct ValueRec {
	uint32_t name; /* interned */
	uint32_t def;  /* producing node; 0 = input or constant */
	uint32_t first_slot, n_uses;
	uint32_t n_outputs : 29; /* times it is a graph output */
	uint32_t auto_named : 1, is_input : 1, dead : 1;
	uint32_t type; /* of g->types */
	PmBlob *blob;
} ValueRec;

typedef struct NodeRec {
	uint16_t op;
	uint8_t dead;
	uint32_t domain, op_type; /* interned */
	const char *name;         /* in the arena; NULL = none. No two nodes have the same as a rule */
	uint32_t slot0, n_in;     /* operand slots are consecutive */
	uint32_t value0, n_out;   /* result values are consecutive */
	uint32_t attr0, n_attrs;  /* as are attributes in g->attr_ids */
} NodeRec;

/* Things of which each is kept once, by number (graph_share.c). */
typedef struct PmShared {
	PM_VEC(void *) v; /* in the graph's arena */
	PM_VEC(uint32_t) hash;
	uint32_t *slots; /* number + 1, or 0 = free; never more than half full */
	size_t n_slots;  /* a power of two */
} PmShared;

typedef struct Meta {
	const char *key, *value;
} Meta;

struct PmGraph {
	size_t budget;
	PmArena *arena;
	PmIntern *names;
	uint32_t name;             /* interned graph name */
	PM_VEC(ValueRec) values;   /* [0] is "none" */
	PM_VEC(NodeRec) nodes;     /* [0] is "none" */
	PM_VEC(Slot) slots;        /* [0] is "none" */
	PmShared types;            /* PmType; 0 is the unknown one */
	PmShared attrs;            /* PmAttr */
	PM_VEC(uint32_t) attr_ids; /* of g->attrs; a node's list moves to the end when it has to grow */
	PM_VEC(uint32_t) order;
	PM_VEC(uint32_t) inputs;
	PM_VEC(uint32_t) outputs;
	PM_VEC(uint32_t) by_name;   /* value id by name id */
	PM_VEC(uint32_t) symbols;   /* name id by symbol number */
	PM_VEC(uint32_t) symbol_of; /* symbol number + 1 by name id; 0 = the name is no symbol's */
	PM_VEC(Meta) meta;
	uint32_t n_fresh;
	uint64_t symbol_steps; /* entries of symbol_of touched so far; tests hold it against the names */
	int names_later;       /* results of a new node wait for pm__node_name_results */
	int order_dirty;       /* the order still lists dead nodes */
};

static inline ValueRec *pm__value(const PmGraph *g, PmValue v)
{
	return v.id && v.id < g->values.n && !g->values.v[v.id].dead ? &g->values.v[v.id] : NULL;
}

static inline NodeRec *pm__node(const PmGraph *g, PmNode n)
{
	return n.id && n.id < g->nodes.n && !g->nodes.v[n.id].dead ? &g->nodes.v[n.id] : NULL;
}

/* Makes room for so many more, and names in all: building them then moves nothing. */
void pm__graph_reserve(PmGraph *g, size_t n_nodes, size_t n_values, size_t n_operands, size_t n_names);
/* Names the results of a node that have none. Who reads a model and names most results as soon as their node
 * is made sets names_later before that, and calls this after: names that nobody would see take memory. */
void pm__node_name_results(PmGraph *g, PmNode n);
/* Bytes that the graph holds, without those of other graphs in its attributes. */
size_t pm__graph_used(const PmGraph *g);
/* Charges what was allocated so far against the budget. */
PmStatus pm__graph_check_budget(const PmGraph *g, PmErr *err);
/* pm_graph_set_meta with texts that are not terminated. */
PmStatus pm__graph_set_meta(PmGraph *g, const char *key, size_t n_key, const char *value, size_t n_value,
			    PmErr *err);
/* Interned text that lives as long as the graph. */
const char *pm__graph_text(PmGraph *g, const char *s);

static inline const PmType *pm__type_of(const PmGraph *g, const ValueRec *r)
{
	return g->types.v.v[r->type];
}

static inline const PmAttr *pm__attr_of(const PmGraph *g, const NodeRec *r, uint32_t k)
{
	return g->attrs.v.v[g->attr_ids.v[r->attr0 + k]];
}

/* The number of a type, or of an attribute of that name, kind and content (which are copied when they are
 * new); a tensor or graph is taken and always gets a number of its own. */
uint32_t pm__graph_type(PmGraph *g, const PmType *t);
uint32_t pm__graph_attr(PmGraph *g, const PmAttr *a);
/* Drops what an attribute owns, because no node has it any more. */
void pm__attr_release(PmGraph *g, uint32_t id);
void pm__shared_release(PmShared *s);
/* The same for all attributes of a node, which is left without any. */
void pm__attrs_drop(PmGraph *g, NodeRec *r);
void pm__slot_link(PmGraph *g, uint32_t slot, uint32_t value);
void pm__slot_unlink(PmGraph *g, uint32_t slot);

#endif
