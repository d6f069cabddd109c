/* SPDX-License-Identifier: Apache-2.0 */
/* diff_priv.h - what the steps of a comparison share: graphs as arrays of items. */
#ifndef APP_DIFF_DIFF_PRIV_H
#define APP_DIFF_DIFF_PRIV_H

#include "app/diff/diff.h"

/* An operand of an item. */
typedef struct Operand {
	uint32_t item;   /* what gives it; PM_DIFF_NONE of a constant and of what is left out */
	uint32_t result; /* which of that item's results */
	uint64_t is;     /* of a constant: hash of type and contents; 0 = left out */
} Operand;

/* An item that has a result of another one as an operand. */
typedef struct Reader {
	uint32_t item, slot, result; /* slot: 0 for both of commuting operands */
} Reader;

/* One graph. Items are its nodes by place, then its inputs, then its outputs, which read one operand. */
typedef struct Side {
	const PmGraph *g;
	uint32_t n_nodes, n_inputs, n; /* n: of all items */
	uint32_t *place;               /* by node id */
	uint32_t *symbol;              /* by symbol: its number by first use in inputs; 0 = none there */
	size_t n_symbols;
	uint64_t *op;                           /* by item: hash of operator and domain */
	uint64_t *label;                        /* and of attributes, types of results and constants */
	uint64_t *down;                         /* and of all that it depends on */
	uint64_t *up;                           /* label, and all that depends on it */
	uint64_t *color, *next, *sum;           /* for a step */
	char *commutes;                         /* operands 0 and 1 may be swapped */
	uint32_t *first_operand, *first_reader; /* n + 1 each */
	Operand *operand;
	Reader *reader;
	uint32_t *match; /* by item: that of the other side, or PM_DIFF_NONE */
} Side;

typedef struct Diffing {
	Side a, b;
	PM_VEC(uint32_t) queue; /* items of a that were matched and are to be grown from */
} Diffing;

static inline uint64_t pm__diff_mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15ull + (b ^ (b >> 29)) * 0xbf58476d1ce4e5b9ull +
		     0x94d049bb133111ebull;

	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ (x >> 32);
}

/* An item by what it is looked for; sorted by key, then by item. */
typedef struct Key {
	uint64_t key;
	uint32_t item;
} Key;
int pm__diff_by_key(const void *a, const void *b);

/* diff_side.c: a graph as items, with op, label and operands. */
PmStatus pm__diff_side(const PmGraph *g, Side *out, PmErr *err);
void pm__diff_side_release(Side *s);
/* Appends a type with symbols by their numbers of first use. */
void pm__diff_type(const Side *s, const PmType *t, PmStr *out);
/* A hash of contents and type of a constant. */
uint64_t pm__diff_const(const Side *s, PmValue v);

/* diff_seed.c: where a graph has kernels, the pairs that it has without them. */
PmStatus pm__diff_seed(Diffing *d, PmErr *err);
/* diff_match.c: fills `match` of both sides. */
void pm__diff_match(Diffing *d);
/* diff_grow.c: makes two items a pair, which waits in the queue; and matches neighbours of the items in the
 * queue, and of these. `loose`: 0 = what has the same label and contradicts nothing; 1 = also what has the
 * same operator alone; 2 = also where there is a choice, in the order of places. */
void pm__diff_pair(Diffing *d, uint32_t x, uint32_t y);
void pm__diff_grow(Diffing *d, int loose);
/* Strict growth from the items in the queue from `from` on, which stay in it. */
void pm__diff_grow_from(Diffing *d, size_t from);
/* diff_bridge.c: pairs across edits where graphs are alike for `steps` on the other side. May leave pairs of
 * two operators, which carry growth and are to be broken. */
void pm__diff_bridge(Diffing *d, int steps);
/* Whether two operands are the same by what is matched. */
int pm__diff_corresponds(const Diffing *d, const Operand *x, const Operand *y);
/* How many operands of a pair correspond, commuting ones in the better order; *swapped is set when that is
 * not as they stand. */
size_t pm__diff_operands(const Diffing *d, uint32_t x, uint32_t y, int *swapped);
/* 1 when the pair has the same number of operands, and all correspond. */
int pm__diff_same_operands(const Diffing *d, uint32_t x, uint32_t y);
/* diff_repair.c: breaks pairs until what diff.h states holds. */
void pm__diff_repair(Diffing *d);
/* diff_order.c: fills out->order. */
void pm__diff_order(const Diffing *d, PmDiff *out);
/* diff_text.c: appends what differs in a pair of nodes; nothing when nothing does. */
void pm__diff_node_text(const Diffing *d, uint32_t x, uint32_t y, PmStr *out);
/* Appends where an operand comes from: "Relu 'a'", "input x", "constant w". */
void pm__diff_operand_text(const Side *s, uint32_t item, size_t slot, PmStr *out);

#endif
