/* SPDX-License-Identifier: Apache-2.0 */
/* canon_priv.h - what the files of the canonical form share. */
#ifndef IR_CANON_PRIV_H
#define IR_CANON_PRIV_H

#include "base/core/vec.h"
#include "ir/canon/canon.h"

typedef struct PmCanon {
	const PmGraph *g;
	PmCanonLevel level;
	int depth;               /* of graphs in attributes */
	PM_VEC(uint32_t) nodes;  /* nodes the outputs depend on, operands first */
	PM_VEC(uint32_t) values; /* values of those nodes, operands included */
	PM_VEC(size_t) label_at; /* by position in `nodes`: where its label begins in `labels` */
	PmStr labels;            /* terminated labels, one after another */
	uint32_t *pos;           /* by node id: 1 + position in `nodes` */
	uint64_t *color, *sum;   /* by value id; in one block */
	uint64_t *symbol_sum;    /* by symbol number */
	uint32_t *n_uses;        /* by value id: by `nodes`, and as outputs */
	size_t n_symbols;
	int64_t budget;     /* value visits left for refinement after ties */
	uint64_t n_refined; /* refinements so far: colours may have changed */
} PmCanon;

static inline uint64_t pm__mix(uint64_t a, uint64_t b)
{
	uint64_t z = a * 0x9e3779b97f4a7c15ull + b + 0x632be59bd9b4e019ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* The label of the node at position i: operator, and what the level shows of its attributes. */
static inline const char *pm__canon_label(const PmCanon *c, size_t i)
{
	return c->labels.s + c->label_at.v[i];
}

/* canon_label.c: appends a node's label, a value's type and a small constant's data as the level shows them.
 * Symbols print through `symbol_of` (may be NULL: all alike). */
PmStatus pm__canon_node_label(PmCanon *c, PmNode n, PmStr *out, PmErr *err);
void pm__canon_type(const PmCanon *c, const PmType *t, const uint32_t *symbol_of, PmStr *out);
void pm__canon_source(const PmCanon *c, PmValue v, PmStr *out);
PmStatus pm__canon_text_at(const PmGraph *g, PmCanonLevel level, int depth, PmStr *out, PmErr *err);

/* canon_color.c: colours that tell values apart by what they depend on and what depends on them. */
void pm__canon_color_init(PmCanon *c);
void pm__canon_refine(PmCanon *c);

/* canon_ties.c: a walk through all combinations of choices, depth first.
 *
 * The walk asks for a choice wherever values tie. After a walk, next() says what came of it and moves on: the
 * last choice takes its next option, unless the text shows that this option is no different from one before
 * it (equal texts mean that an automorphism leads from one to the other), until all are tried. */
typedef struct PmTies PmTies;
PmTies *pm__ties_new(void);
void pm__ties_free(PmTies *t);
/* The option to take, below n. */
size_t pm__ties_pick(PmTies *t, size_t n);
/* 1 when another walk is to be made. */
int pm__ties_next(PmTies *t, const char *text, size_t len);

#endif
