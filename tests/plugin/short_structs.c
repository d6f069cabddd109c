/* SPDX-License-Identifier: Apache-2.0 */
/* short_structs.c - a plugin whose structures end before the last fields of today's: those read as 0, and
 * what lies behind them in memory is not looked at. Ends as OK. */
#include "passmith/dsl.h"

#include <stddef.h>

static const char SRC[] = PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {
	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
	if (i < n) {
		float v = ld(x[i]);
		y[i] = st(v / (1.f + expf(-v)));
	}
});

/* Bytes that are not this structure's. */
#define JUNK ((const void *)0x10)

static const PmPat x = { .struct_size = offsetof(PmPat, op), .kind = PM_PAT_VAR };
static const PmPat sigmoid = { .struct_size = offsetof(PmPat, attr),
			       .kind = PM_PAT_OP,
			       .op = "Sigmoid",
			       .in = (const PmPat *const[]){ &x, NULL },
			       .attr = JUNK };
static const PmPat product = { .struct_size = offsetof(PmPat, num),
			       .kind = PM_PAT_OP,
			       .op = "Mul",
			       .in = (const PmPat *const[]){ &x, &sigmoid, NULL },
			       .dtypes = 1,
			       .rank = 7 };

/* Float inputs get one launch written in the structure, of a version without .launch and .alt. */
static PmStatus one_launch(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[0]);

	return pm_host_->replace(rw, &(const PmKernelSpec){ .struct_size = offsetof(PmKernelSpec, launch),
							    .entry = "k",
							    .source = SRC,
							    .grid = { pm_blocks(n, 64) },
							    .block = { 64 },
							    .in = PM_VALS(m->v[0]),
							    .arg = PM_ARGS(I64(n)),
							    .launch = JUNK,
							    .alt = JUNK });
}

static PmStatus check(PmMatch *m)
{
	return pm_rank(m->v[0]) == 1 ? PM_OK : pm_decline(m, "more than one dimension");
}

static const PmRule flat = { .struct_size = offsetof(PmRule, region),
			     .name = "flat",
			     .doc = "Mul(x, Sigmoid(x)) of a vector",
			     .pattern = &product,
			     .check = check,
			     .rewrite = one_launch,
			     .region = (PmStatus(*)(PmRegion *, PmVal))0x10 };

PM_PLUGIN("short_structs", "1", &flat)
