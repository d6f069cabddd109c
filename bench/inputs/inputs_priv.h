/* SPDX-License-Identifier: Apache-2.0 */
/* inputs_priv.h - what the files that draw inputs share. */
#ifndef BENCH_INPUTS_PRIV_H
#define BENCH_INPUTS_PRIV_H

#include "base/core/rng.h"
#include "bench/inputs/inputs.h"

/* Draws the indices t of input v again, without any of them twice as far as there are enough places, when
 * they go to a ScatterND or ScatterElements without a reduction: which of two updates of one place stays is
 * not defined. */
int pm__is_scattered(const PmGraph *g, PmValue v); /* such indices they are */
void pm__scatter_indices(const PmGraph *g, PmValue v, PmRng *r, PmTensor *t);

/* Numbers at which the graph changes its mind about an input's elements: what makes a value that goes through
 * element-wise operators equal to the constant that it is compared with, or clipped at. */
enum { PM__MAX_TARGETS = 24, PM__MAX_LINES = 4 };
typedef struct PmTargets {
	size_t n;
	double t[PM__MAX_TARGETS];
	unsigned char pole[PM__MAX_TARGETS]; /* it leads to NaN or an infinity */
	/* The same for what goes through a sum or a maximum: numbers that a whole line of elements has to
	 * have. */
	size_t n_lines;
	double line[PM__MAX_LINES];
	unsigned char line_pole[PM__MAX_LINES];
} PmTargets;
/* One entry per graph input, owned by the caller. */
PmTargets *pm__targets_find(const PmGraph *g);

/* How far an integer input may go. */
enum {
	PM__INT_ANY = 1,     /* all its uses are arithmetic, which wraps */
	PM__INT_DIVISOR = 2, /* it divides integers: never 0 and never -1 */
	PM__INT_SHIFT = 4    /* it says by how many bits: fewer than there are */
};
int pm__int_use(const PmGraph *g, PmValue v);

/* Levels of the classes that may have to be tamed (PM_INPUTS_SPECIAL, PM_INPUTS_RANGE): 0 is all that the
 * class has, each further one less. */
int pm__n_levels(PmInputClass cls);
/* Kinds of values (bench/inputs/defined.h) that a level leaves out. */
unsigned pm__level_leaves(PmInputClass cls, int level);
/* Overwrites elements of an input that was drawn from N(0, 1) with what its class is for. */
void pm__draw_extreme(const PmGraph *g, PmValue v, PmInputRole role, PmInputClass cls, int level,
		      const PmTargets *targets, PmRng *r, PmTensor *t);

#endif
