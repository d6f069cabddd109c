/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h - looking at each kernel of a rewritten graph by itself.
 *
 * The probe is the candidate graph with every kernel's operands and results added to its outputs, so that one
 * run on a device gives what each kernel was handed and what it made of it. The expected results are its body
 * in double precision on those very operands. Together with the referee's proof that the bodies are the
 * original's regions, this judges a pass by what it replaced: neither the rounding of the operators around it
 * nor their conditioning can hide or cause an error.
 */
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#include "runtime/device/tensor.h"

typedef struct PmProbe {
	PmGraph *g;                  /* owned */
	size_t n_kernels, n_results; /* results of all kernels together */
	PmNode *kernel;              /* owned, in execution order */
	size_t *place;               /* owned; by value id of g: output position + 1, or 0 */
} PmProbe;

/* Builds the probe of a rewritten graph, which it copies. On an error *p holds nothing but may be
 * released. pm_probe_release frees what it owns. */
PmStatus pm_probe_init(PmProbe *p, const PmGraph *candidate, PmErr *err);
void pm_probe_release(PmProbe *p);
/* Element type of result number `slot`, counted over all kernels in order. */
int pm_probe_dtype(const PmProbe *p, size_t slot);
/* Name and tensor of result i of kernel k; `out` is what running p->g gave. */
const char *pm_probe_name(const PmProbe *p, size_t k, size_t i);
const PmTensor *pm_probe_result(const PmProbe *p, size_t k, size_t i, const PmTensor *out);
/* What kernel k was given, and the graph that says what it should make of it: *ops has *n tensors, which are
 * those of `in` and `out` where they are no constants. The array is released by pm_probe_operands_release. */
PmStatus pm_probe_operands(const PmProbe *p, size_t k, const PmTensor *in, const PmTensor *out,
			   const PmGraph **body, PmTensor **ops, size_t *n, PmErr *err);
void pm_probe_operands_release(const PmProbe *p, size_t k, PmTensor **ops); /* *ops may be NULL */

#endif
