/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - fused nodes: CUDA source, launch plan, argument binding, and the matched subgraph as body.
 *
 * A Kernel node is stored as ordinary attributes, so that it prints, parses, exports, hashes and crosses
 * process borders like any node:
 *   name      STRING  the rule that made it
 *   body      GRAPH   inputs/outputs in the order of the node's operands/results; its meaning
 *   alts      INT     number of alternatives, 1..PM_MAX_ALTS; alternative k (from 0) has
 *   source_k  STRING  CUDA C++ without the prelude (passmith/kernel.cuh is put in front, then
 *                     `typedef <type_k> T;`)
 *   type_k    STRING  dtype name T stands for
 *   scratch_k INTS    bytes of each scratch buffer (absent when none)
 *   launch_k  STRINGS one per launch, in order:
 *             "entry grid=4,1,1 block=256,1,1 smem=0 args=i0,i1,o0,s0,i64:128,i32:-1,f32:0x1p-3,f64:0x1p+0"
 *             i/o/s k = pointer to the data of operand, result, scratch k (operands are contiguous);
 *             the rest are scalars by value, floats in hexadecimal so that they are exact.
 * Node alternatives differ in code only; all must compute the body.
 */
#ifndef IR_KERNEL_H
#define IR_KERNEL_H

#include "ir/core/graph.h"
#include "ir/core/limits.h"

typedef enum {
	PM_KARG_IN,
	PM_KARG_OUT,
	PM_KARG_SCRATCH,
	PM_KARG_I64,
	PM_KARG_I32,
	PM_KARG_F32,
	PM_KARG_F64
} PmKArgKind;

typedef struct PmKArg {
	PmKArgKind kind;
	uint32_t index; /* IN, OUT, SCRATCH */
	int64_t i;
	double f;
} PmKArg;

typedef struct PmKLaunch {
	const char *entry;
	uint32_t grid[3], block[3];
	uint32_t smem; /* dynamic shared memory in bytes */
	int n_args;
	PmKArg *args;
} PmKLaunch;

typedef struct PmKAlt {
	const char *source;
	PmDType type;
	int n_scratch;
	int64_t *scratch; /* bytes */
	int n_launches;
	PmKLaunch *launches;
} PmKAlt;

typedef struct PmKernelDesc {
	const char *name;
	int n_alts;
	PmKAlt alts[PM_MAX_ALTS];
	const PmGraph *body; /* borrowed */
} PmKernelDesc;

/* Decodes and checks every limit, index (against the node's operand and result counts) and grammar of a
 * Kernel node into `arena`; strings stay in the graph. */
PmStatus pm_kernel_decode(const PmGraph *g, PmNode n, PmArena *arena, PmKernelDesc *out, PmErr *err);
/* Adds a Kernel node with the given operands and result types; clones d->body. Result types are taken
 * from the body's outputs. */
PmStatus pm_kernel_add(PmGraph *g, const PmKernelDesc *d, const PmValue *in, size_t n_in, PmNode *out,
		       PmErr *err);
/* Text of one launch in the grammar above, appended; and its parser (into arena). */
void pm_klaunch_print(const PmKLaunch *l, PmStr *out);
PmStatus pm_klaunch_parse(const char *text, PmArena *arena, PmKLaunch *out, PmErr *err);
/* Replaces every Kernel node by its body, recursively: what the graph means. */
PmStatus pm_graph_inline_kernels(PmGraph *g, PmErr *err);

#endif
