/* SPDX-License-Identifier: Apache-2.0 */
/* compile_gate.h - the kernels of a candidate, compiled in a closed process and judged by their PTX and their
 * machine code, before any device sees them.
 */
#ifndef INTEGRITY_COMPILE_GATE_H
#define INTEGRITY_COMPILE_GATE_H

#include "base/core/hash.h"
#include "ir/core/graph.h"
#include "matcher/host/verdict.h"

/* What was compiled, as SHA-256 over the digests of all sources of a candidate, in the order in which its
 * kernels stand: the sources with their element types, the PTX and the machine code. "" where there is none.
 */
typedef struct PmCodeDigests {
	char sources[PM_SHA256_HEX], ptx[PM_SHA256_HEX], cubin[PM_SHA256_HEX];
} PmCodeDigests;

typedef struct PmCompileJudgement {
	PmVerdict verdict;    /* OK, COMPILE_FAIL, COMPILE_LIMIT, REJECT_PTX, REJECT_CUBIN */
	char why[PM_ERR_MAX]; /* one sentence, or the first problems; "" when OK */
	int checked;          /* 0: there is no NVRTC here, nothing was judged */
	PmCodeDigests code;   /* of what was judged */
} PmCompileJudgement;

/* What of a candidate is compiled, and how. */
typedef struct PmCompileAsk {
	int cc;     /* compute capability */
	int prints; /* for a debugging run; a call of printf is taken for an expression that does nothing */
	int one;    /* alternative `alt` of each Kernel node alone, its last where it has fewer; 0 = all */
	int alt;
} PmCompileAsk;

/* Compiles the alternatives of every Kernel node of `g` and judges the PTX. What is accepted is put into the
 * cache, so the device assembles and runs the very bytes that were judged.
 * Whatever the sources do, this returns PM_OK and a verdict; an error is of this machine. */
PmStatus pm_compile_gate(const PmGraph *g, const PmCompileAsk *ask, PmCompileJudgement *out, PmErr *err);

#endif
