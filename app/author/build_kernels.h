/* SPDX-License-Identifier: Apache-2.0 */
/* build_kernels.h - the kernels that a built pass carries, compiled for what the compiler says of them. */
#ifndef APP_BUILD_KERNELS_H
#define APP_BUILD_KERNELS_H

#include "app/author/messages.h"
#include "base/core/err.h"

typedef struct PmBuiltKernels {
	int compiled; /* sources that compile or have errors */
	int unknown; /* texts with a __global__ that are no sources by themselves, as far as is known before a
		      * match: the rest is written for a graph */
	PmStr by;    /* the compiler; "" when there was nothing to compile */
} PmBuiltKernels;

/* `source`: the .c file or folder; `so`: what was built from it. A source is compiled for the element types
 * and, where its defines are computed, for some numbers: an error that all of them have is one of the source.
 * Errors are added to `m`, at their place in the author's files. Release out->by in every case. */
PmStatus pm_build_kernels(const char *source, const char *so, PmMessages *m, PmBuiltKernels *out, PmErr *err);

#endif
