/* SPDX-License-Identifier: Apache-2.0 */
/* choose.h - how wide a kernel loads, and several kernels for one match, of which the tuning step takes the
 * fastest. For passes only. */
#ifndef PASSES_CHOOSE_H
#define PASSES_CHOOSE_H

#include "passmith/dsl.h"

/* Elements of one load, where loads may only end at multiples of `ends` (0: anywhere): 16 bytes of them, 4,
 * or 1. */
static inline int64_t load_size(int64_t ends, PmVal like)
{
	int64_t most = 16 / pm_dtype_bytes(pm_dtype(like));

	return ends % most == 0 ? most : ends % 4 == 0 ? 4 : 1;
}

/* Elements of a thread where nothing but elements is computed: a thread with more has more to do after its
 * one wait for memory, which takes longer than what it saves. From LARGE elements on the other way is tried
 * too. */
enum { FEW = 4, LARGE = 1 << 19 };

/* 1 when two launches differ in nothing: the defines are compared by value, in order. */
static inline int same_kernel(const PmKernelSpec *a, const PmKernelSpec *b)
{
	uint32_t k;

	for (k = 0; k < 3; k++)
		if (a->grid[k] != b->grid[k] || a->block[k] != b->block[k])
			return 0;
	for (k = 0; k < a->define.n; k++)
		if (a->define.v[k].value != b->define.v[k].value)
			return 0;
	return pm_str_same(a->entry, b->entry);
}

/* Describes spec[0] .. spec[n - 1] as alternatives; those that equal the one before are left out. All of one
 * source and with the same names of defines; struct_size, in, like and alt are filled in here. */
static inline PmStatus replace_with_any(PmRewriter *rw, PmKernelSpec *spec, uint32_t n, PmVals in, PmVal like)
{
	uint32_t k, last = 0;

	for (k = 0; k < n; k++) {
		spec[k].struct_size = sizeof *spec;
		if (k == 0 || same_kernel(&spec[last], &spec[k]))
			continue;
		spec[last].alt = &spec[k];
		last = k;
	}
	spec[0].in = in;
	spec[0].like = like;
	return pm_host_->replace(rw, &spec[0]);
}

#endif
