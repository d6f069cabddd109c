/* pass_run.h - a fused graph on a device that runs kernels against the original on the reference device. */
#ifndef TESTS_LIB_PASS_RUN_H
#define TESTS_LIB_PASS_RUN_H

#include "ir/graph.h"

/* Runs every alternative of the fused nodes of `fused` on seeded inputs of two kinds and fails the running
 * cmocka test unless all outputs agree with those of `g` at t = -5 or, where values have been rounded on the
 * way as an eager run rounds them, are within the referee's error bound. The device is "emu", or
 * $PASSMITH_TEST_DEVICE. `text` is shown with a failure. */
void pass_run_all(const PmGraph *g, const PmGraph *fused, const char *text);

/* The same against the eager run of `g` on the same device: at level t, or bit by bit when t is below all
 * levels.
 */
void pass_run_beside(const PmGraph *g, const PmGraph *fused, int t, const char *text);

#endif
