/* SPDX-License-Identifier: Apache-2.0 */
/* pass_run.h - a fused graph on a device that runs kernels against the original on the reference device. */
#ifndef TESTS_LIB_PASS_RUN_H
#define TESTS_LIB_PASS_RUN_H

#include "ir/core/graph.h"

/* Runs every alternative of the fused nodes of `fused` on seeded inputs of two kinds and fails the running
 * cmocka test unless all outputs agree with those of `g` at t = -5 or, where values have been rounded on the
 * way as an eager run rounds them, are within the referee's error bound. The device is "emu", or
 * $PASSMITH_TEST_DEVICE. `text` is shown with a failure.
 *
 * Either will do, because that is the referee's rule for right (docs/reference/scoring.md): t = -5 alone
 * would refuse a pass for rounding where the graph says it does, which the tolerance, relative to the result,
 * does not know of when terms cancel. The bound is taken over the whole graph here, not kernel by kernel on
 * the operands that each got, so what several kernels did wrong within it together goes unseen; and what is
 * right at t = -5 is not asked for its lane. Both are in evaluations (tests/adversarial/test_judge.c,
 * tests/cli/model/core.sh), and pass_run_beside compares with the eager run. */
void pass_run_all(const PmGraph *g, const PmGraph *fused, const char *text);

/* The same against the eager run of `g` on the same device: at level t, or bit by bit when t is below all
 * levels.
 */
void pass_run_beside(const PmGraph *g, const PmGraph *fused, int t, const char *text);

#endif
