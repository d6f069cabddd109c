/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - how much of everything there is room for. */
#ifndef PASSES_FUSE_LIMITS_H
#define PASSES_FUSE_LIMITS_H

#define PM_SEVERAL_FILES
#include "passmith/dsl.h"

enum {
	F_RANK = PM_MAX_RANK,
	F_OPS = 1024,   /* operations of the IR */
	F_NODES = 192,  /* nodes of the graph that are looked at around one seed */
	F_SET = 64,     /* nodes of one kernel */
	F_ARGS = 48,    /* inputs, or outputs, of a kernel */
	F_TERMS = 10,   /* of a linear form */
	F_READERS = 24, /* of a value; with more it counts as read outside of any set */
	F_LINS = 4096,
	F_ATOMS = 768,
	F_VARS = 2048, /* variables of a kernel */
	F_SEEN = 768,
	F_DEPTH = 8, /* loops in loops */
	F_SECTIONS = 8,
	F_CHOICES = 5, /* kernels that may be tried for one set with a product */
	F_SPLITS = 6,  /* reductions of a row that many blocks share */
	F_SHORT = 16,  /* elements of a reduction that one thread may make for a row */
	F_TURNS = 8,   /* of a loop that is unrolled, whatever it keeps */
	F_LOOPS = 8,   /* different trip counts of a section */
	F_CHUNKS = 32, /* pieces of memory of a nest */
	F_EARLY = 64   /* loads of a section that are issued at its begin */
};

#endif
