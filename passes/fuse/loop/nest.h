/* SPDX-License-Identifier: Apache-2.0 */
/* nest.h - a loop nest: what the threads of one section do, as data.
 *
 * A nest is built once for each way of sharing a section among threads (eval*.c through emit.c), without any
 * text. What it costs is a walk over it (walk.c), and its CUDA text is made of the one that was chosen
 * (codegen*.c). stmt.def lists the statements; print.c and parse.c have a nest as text for people and tests.
 *
 * Variables are numbered, "v7". One with lanes has a value for each lane of the thread's vector. Indices are
 * linear forms (ix.h). Everything a nest points to lies in its arena, and is gone when the next one is begun.
 */
#ifndef PASSES_FUSE_NEST_H
#define PASSES_FUSE_NEST_H

#include "../index/ix.h"
#include "../lower/load.h"

typedef enum StmtKind {
#define STMT(kind_, template_) ST_##kind_,
#include "stmt.def"
#undef STMT
	ST_KINDS
} StmtKind;

/* What a variable is before anything is added to it. */
typedef enum Start { START_NONE, START_ZERO, START_ONE, START_LOWEST, START_HIGHEST } Start;
/* The half of a matrix whose elements stay. */
typedef enum Side { SIDE_LOWER, SIDE_UPPER } Side;
/* How a statement makes an index of another one: the same; the nearest inside; mirrored at the ends; the
 * element behind it, inside; divided by the vector's length; the first of two neighbours that a resize lies
 * between, its place computed in double or in float; 0 for what is negative.
 */
typedef enum IndexHow {
	INDEX_SAME,
	INDEX_NEAREST,
	INDEX_MIRRORED,
	INDEX_NEXT,
	INDEX_VECTOR,
	INDEX_RESIZE,
	INDEX_RESIZE_FLOAT,
	INDEX_FROM_ZERO,
	INDEX_NONE /* -1: there is none yet */
} IndexHow;
/* Loops of one thread: over a sum or a window; over the indices of a scatter, some at a time; over the same
 * again for what was found. */
/* First letters of indices that a statement makes: of other indices, and what a gather reads. */
enum { INDEX_MADE = 'x', INDEX_FOUND = 'y' };
typedef enum ForHow { FOR_SERIAL, FOR_LOOK, FOR_FOUND, FOR_TAPS } ForHow;
/* Which lanes take an update: all, the one that its index names, or those whose bit is set. */
typedef enum UpdateHow { UPDATE_ALL, UPDATE_LANE, UPDATE_BIT } UpdateHow;

/* A variable that is read. */
typedef struct Ref {
	int16_t var;  /* -1: none */
	uint8_t kept; /* as a loop before left it */
} Ref;

/* One of the conditions that must all hold. */
typedef struct Cond {
	struct Cond *next;
	uint8_t kind; /* CondKind */
	Ix at;
	int64_t n;
} Cond;

typedef enum CondKind {
	COND_BELOW,     /* at < n */
	COND_FROM,      /* at >= n */
	COND_IN,        /* this turn of the row's loop has an element */
	COND_LIVE,      /* the thread's row exists */
	COND_FIRST,     /* the first thread of the row */
	COND_FIRST_PART /* of the first of the blocks that share it */
} CondKind;

typedef struct Block {
	struct Stmt *first, *last;
} Block;

/* A statement. Which fields one of its kind has is in stmt.def. */
typedef struct Stmt {
	struct Stmt *next;
	struct Stmt *asked; /* the next one of nest->asked */
	uint8_t kind;       /* StmtKind */
	uint8_t how;        /* of the kind's operations */
	uint8_t lanes;      /* once for each lane of the vector */
	uint8_t vec;        /* neighbours in memory, as one vector */
	uint8_t packed;     /* as vectors of 16-bit elements, without their lanes */
	uint8_t reread;     /* the section has read this operand before */
	uint8_t unroll;
	uint8_t flag;
	uint8_t shown;         /* nest_show(): the launch has it */
	int8_t dtype, compute; /* PmDType */
	int8_t where; /* of a load: before which loops it may be issued, EARLY_ROW; -1: nowhere else */
	int16_t to;   /* the variable that is defined or changed */
	Ref from[3];
	int16_t arg, early; /* early: the number of the early load that it takes its value from, -1: none */
	Ix at, base, lane, def;
	int64_t n, m;
	int o;
	const char *name;
	const double *num;
	int n_num;
	double part; /* of the threads' turns around it, those in which the body runs; of BITS: how often in
			each */
	Cond *cond;
	Block *body;
} Stmt;

/* Early loads in front of the row's own statements, behind those in front of loop classes. */
enum { EARLY_ROW = F_LOOPS };

typedef struct Var {    /* a variable */
	int8_t dtype;   /* PM_F32, PM_F64 or PM_I64 */
	uint8_t lanes;  /* one value for each lane */
	uint8_t wanted; /* kept over loops */
	uint8_t cached; /* of a loop that is over */
	uint8_t kept;   /* has been looked at by KEEP */
	uint8_t row;    /* of the row's part */
	uint8_t exact;  /* rounding it to its operation's type would change nothing */
	int8_t packed;  /* its lanes also stand in the vector w of its number, as this type of 16 bits; -1:
			   they do not */
	int16_t before; /* the variable beside it that holds it as it was before it was rounded, -1: none */
	int16_t loop;   /* loop class that made it, -1: none */
} Var;

typedef struct Loop { /* loops of a section with the same trip count */
	int64_t extent;
	int64_t tail; /* of them, those behind the last full turn of all threads, that go one a thread; 0:
			 none do */
	Ix chunk;     /* the chunk's variable */
} Loop;

/* How threads share the section. */
typedef struct Shape {
	int64_t rows;                /* 0: none, every element by itself */
	int vec;                     /* lanes of a thread's vector */
	int wide;                    /* they are neighbouring rows; 0: neighbours of one row */
	int group, per_block, block; /* threads of a row, rows of a block, threads of a block */
	int column;                  /* neighbouring threads have neighbouring rows */
	int keep;                    /* values stay in registers from loop to loop */
	int hold;                    /* what loops load does, of so many blocks of a multiprocessor */
	int split;                   /* blocks that share a row; 0: one */
	int dot;                     /* the section has a product, whose tile is: */
	int tile_rows, tile_cols, warps;
	int down; /* neighbouring threads have neighbouring rows of the tile */
} Shape;

/* A value in memory. */
typedef struct Operand {
	int8_t dtype;
	int64_t numel;
} Operand;

typedef struct Nest {
	Shape shape;
	Index *ix;
	Ix row; /* the thread's row */
	Operand in[F_ARGS], out[F_ARGS];
	Var *var;
	int n_vars;
	Loop loop[F_LOOPS];
	int n_loops;
	Block decl;               /* arrays that loops share, factors of a product */
	Block early[F_LOOPS + 1]; /* loads in front of each class of loops, or of the elements; of the row */
	Block rows, body;         /* the row's statements, those of each element */
	double elements;          /* how often the body runs, in all threads together */
	int n_early;
	Stmt *asked,
		*asked_last;   /* loads, folds and values to keep in the order in which they were asked for */
	char *chunk[F_CHUNKS]; /* its arena */
	int chunk_now;
	uint32_t chunk_n;
	Stmt spare; /* what is written when there is no more of it */
} Nest;

/* How many turns of loops of class k, the last ones, have their row in shared memory; the others have it in
 * registers. */
int64_t nest_held_behind(const Nest *n, int k);
/* Elements of a row that one vector holds. */
static inline int nest_step(const Nest *n)
{
	return n->shape.wide ? 1 : n->shape.vec;
}

/* Rows, or vectors of neighbouring rows: the threads of a group share one. */
static inline int64_t nest_groups(const Nest *n)
{
	return n->shape.wide ? n->shape.rows / n->shape.vec : n->shape.rows;
}

/* ---- nest.c ---- */

/* No statements, variables and loops. */
void nest_reset(Nest *n);
/* Memory that lives as long as the nest; NULL when there is no more of it. */
void *nest_take(Nest *n, uint32_t bytes);
/* A statement, its fields none; n->spare when there is no more memory. */
Stmt *nest_new(Nest *n, StmtKind kind);
/* Puts s behind the others of b. */
void nest_put(Block *b, Stmt *s);

/* Which arguments a launch has: bits of operands and of results, and scratch buffers. */
typedef struct Uses {
	uint64_t in, out;
	int tiles, parts;
	int64_t held_bytes; /* of shared memory, in which a block holds what it has no registers for */
} Uses;

/* The statement of a block at which the launch ends, the last NEXT; NULL: it has all of them. */
const Stmt *nest_end(const Block *b);
/* Marks the statements that the launch has: those that were built for a loop that was dropped, or that stand
 * behind its end, it has not. */
void nest_show(Nest *n);
/* Adds what these use to *u. */
void nest_uses(const Nest *n, Uses *u);
/* A condition behind the others of s; 0 when there is no memory. */
int nest_when(Nest *n, Stmt *s, CondKind kind, Ix at, int64_t k);
/* Of loops of class k: vectors of a row, but for its tail; turns of a thread; whether all are unrolled;
 * whether the last ones are made by all threads, "in" says for which there is an element, and the others have
 * the last one: in a branch, loads of one turn would wait for those of the turn before. */
int64_t nest_chunks(const Nest *n, int k);
int64_t nest_turns(const Nest *n, int k);
int nest_unrolled(const Nest *n, int k);
int nest_is_open(const Nest *n, int k);
/* The atom of an index that is nothing else. */
const Atom *nest_atom(const Nest *n, Ix x);

#endif
