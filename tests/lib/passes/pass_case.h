/* SPDX-License-Identifier: Apache-2.0 */
/* pass_case.h - a first-party pass against graphs made from templates: must fuse and be right, or must not.
 *
 * In a template $T is the element type, $O its number in ONNX, and $a .. $h are the numbers of the case.
 * Everything fails the running cmocka test when it does not hold, and prints the case.
 */
#ifndef TESTS_LIB_PASS_CASE_H
#define TESTS_LIB_PASS_CASE_H

#include "ir/core/graph.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PassDims {
	int64_t d[8]; /* $a .. $h */
} PassDims;

#define PASS_COUNT(table) (sizeof(table) / sizeof *(table))

/* For every row in float and in float16 or bfloat16 in turns, for the first in all three: the pass applies,
 * nothing but `kernels` fused nodes is left, every alternative runs on the emulated device, and all outputs
 * agree with the reference device on the original graph at t = -5. With PASSMITH_TEST_DEVICE or
 * PASSMITH_TEST_JUDGE every row is run in all three types.
 * With PASSMITH_TEST_JUDGE in the environment each case is instead evaluated as a stranger's pass is; how
 * many are refused is printed, with a line for each (tools/judge/honest.sh). */
void pass_fuses(const char *pass, const char *tmpl, int kernels, const PassDims *rows, size_t n_rows);
/* The same for float only. */
void pass_fuses_float(const char *pass, const char *tmpl, int kernels, const PassDims *rows, size_t n_rows);

/* As pass_fuses, but what counts is how near the outputs are to those of the eager run on the same device:
 * within tolerance level t, or the same bits (t = PASS_SAME_BITS). Any number of kernels may do it. */
enum { PASS_SAME_BITS = -99 };
void pass_agrees_with_eager(const char *pass, const char *tmpl, int t, const PassDims *rows, size_t n_rows);

/* What the pass makes of the graph in this element type ("float", "float16", "bfloat16"); it must apply. */
PmGraph *pass_fused(const char *pass, const char *tmpl, const char *type, PassDims row);

/* The pass leaves the graph alone, and what it says about it (a reason to decline or a near miss) contains
 * `why`. */
void pass_refuses(const char *pass, const char *tmpl, PassDims row, const char *why);

#endif
