/* SPDX-License-Identifier: Apache-2.0 */
/* pass_library.h - graphs for the passes of passes/ that have no test program of their own: what each must
 * fuse, and what only looks like it. */
#ifndef TESTS_LIB_PASS_LIBRARY_H
#define TESTS_LIB_PASS_LIBRARY_H

#include "tests/lib/passes/pass_case.h"

enum { LIBRARY_ROWS = 6 };

typedef struct LibraryCase {
	const char *pass, *tmpl;
	int float_only; /* another spelling of a kernel that a case before it runs in all types */
	PassDims rows[LIBRARY_ROWS]; /* ends with a row that begins with 0, or is full */
} LibraryCase;

typedef struct LibraryMiss {
	const char *pass, *tmpl;
	PassDims row;
	const char *why; /* part of the report */
} LibraryMiss;

extern const LibraryCase library_cases[];
extern const size_t library_n_cases;
extern const LibraryMiss library_misses[];
extern const size_t library_n_misses;

/* Rows of a case that are filled in. */
size_t library_n_rows(const LibraryCase *c);

#endif
