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

#include "ix.h"
#include "load.h"

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
typedef enum ForHow { FOR_SERIAL, FOR_LOOK, FOR_FOUND } ForHow;
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
	Ix chunk; /* the chunk's variable */
} Loop;

/* A load at the begin of a section, "e3". */
typedef struct Early {
	const Stmt *load;
	int where;
	int64_t turns; /* elements, one for each turn of its loop; 0: it is outside of loops */
} Early;

#endif
