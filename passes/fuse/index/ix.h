/* SPDX-License-Identifier: Apache-2.0 */
/* ix.h - index arithmetic: linear forms over loop variables, their quotients and remainders. */
#ifndef PASSES_FUSE_IX_H
#define PASSES_FUSE_IX_H

#include "limits.h"

/* What an index depends on. The low bits are free for plan.c to ask which axes matter. */
enum {
	DEP_AXES = 0xff,
	DEP_ROW = 0x100,   /* the row */
	DEP_CHUNK = 0x200, /* the place in the row, in vectors */
	DEP_LANE = 0x400,  /* the place in the vector */
	DEP_WIN = 0x800,   /* a loop of one thread */
	DEP_HERE = 0x1000  /* something that exists only where it was written */
};

/* Of an index behind a product: which of its matrices' axes it depends on. */
enum { DOT_B = 1, DOT_M = 2, DOT_N = 4, DOT_K = 8 };

typedef int Ix; /* a linear form; equal forms have equal numbers */

typedef struct Term {
	int32_t atom;
	int64_t k;
} Term;

typedef struct Lin {
	int16_t n, slot; /* terms; its place in lin_of */
	uint32_t deps;
	int64_t c, lo, hi;
	Term t[F_TERMS];
} Lin;

typedef enum AtomKind { ATOM_VAR, ATOM_DIV, ATOM_MOD } AtomKind;

typedef struct Atom { /* 0 to hi */
	uint8_t kind;
	uint8_t lanes; /* a variable with a value for each lane */
	uint32_t deps;
	Ix of;
	int64_t by, hi;
	char name[12];
} Atom;

/* The indices of one section. */
typedef struct Index {
	Lin *lin;
	Atom *atom;
	int16_t *lin_of;
	int n_lins, n_atoms;
	int vec;           /* lanes of a vector */
	Ix lane;           /* which of them, 0 when there is one */
	const char **fail; /* what could not be done is said here; NULL there: nothing */
} Index;

/* Its memory; 0 when there is none. */
int ix_new(Index *c, const char **fail);
/* Non-negative numbers, except where an index is still to be confined. */
void ix_reset(Index *c);
Ix ix_const(Index *c, int64_t k);
Ix ix_of_atom(Index *c, int atom);
/* A copy of *a as the last atom; its number. */
int ix_atom(Index *c, const Atom *a);
Ix ix_var(Index *c, const char *name, int64_t hi, uint32_t deps, int lanes);
Ix ix_add(Index *c, Ix a, Ix b);
Ix ix_plus(Index *c, Ix a, int64_t k);
Ix ix_scale(Index *c, Ix a, int64_t k);
Ix ix_div(Index *c, Ix a, int64_t by);
Ix ix_mod(Index *c, Ix a, int64_t by);
/* a without its lane; *k is what the lane counts, -1 when it stands inside a quotient. */
Ix ix_without_lane(Index *c, Ix a, int64_t *k);
/* a as what depends on the lane alone, of 0 to the vector's last, and the rest, a multiple of the vector; 0
 * when it is no such sum. */
int ix_split_lane(Index *c, Ix a, Ix *lane, Ix *rest);
/* The place of coordinates in a contiguous tensor, and back. */
Ix ix_flat(Index *c, const Ix *co, const int64_t *dim, int rank);
void ix_unflat(Index *c, Ix flat, const int64_t *dim, int rank, Ix *co);

#endif
