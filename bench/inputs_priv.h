/* inputs_priv.h - what the files that draw inputs share. */
#ifndef BENCH_INPUTS_PRIV_H
#define BENCH_INPUTS_PRIV_H

#include "base/rng.h"
#include "bench/inputs.h"

/* Draws the indices t of input v again, without any of them twice as far as there are enough places, when
 * they go to a ScatterND or ScatterElements without a reduction: which of two updates of one place stays is
 * not defined. */
int pm__is_scattered(const PmGraph *g, PmValue v); /* such indices they are */
void pm__scatter_indices(const PmGraph *g, PmValue v, PmRng *r, PmTensor *t);

#endif
