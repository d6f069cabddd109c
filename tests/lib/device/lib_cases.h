/* SPDX-License-Identifier: Apache-2.0 */
/* lib_cases.h - convolutions on shapes that tiles, vectors and lanes do not divide, and the ways there are
 * for them. */
#ifndef TESTS_LIB_LIB_CASES_H
#define TESTS_LIB_LIB_CASES_H

#include "runtime/cuda/library/lib_algo.h"

#include <stddef.h>

typedef struct LibCase {
	const char *op, *x, *w, *y, *bias, *attrs; /* bias: "" = none */
	unsigned ways;                             /* bits of PmAlgoKind */
} LibCase;

enum { LIB_CASE_TEXT = 512 };

/* NULL behind the last. */
const LibCase *lib_case(size_t i);
/* The graph for an element type; returns `out`, which has LIB_CASE_TEXT bytes. */
const char *lib_case_text(const LibCase *c, const char *type, char *out);
/* 1 when there must be that way for it. */
int lib_case_has(const LibCase *c, PmAlgoKind way, const char *type);

#endif
