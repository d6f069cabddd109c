/* SPDX-License-Identifier: Apache-2.0 */
/* misbehaves.c - one rule per way to go wrong while running; tests pick one with only_rule.
 *
 * All match Mul(x, Sigmoid(x)). They are wrong within the interface; attacks on the host are in
 * tests/adversarial.
 */
#include "passmith/dsl.h"

enum { X };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void silu(const T *x, T *y, long long n)
	{
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
		if (i < n)
			y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));
	}
);
/* clang-format on */

static PmStatus silu(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "silu", .source = SRC, .grid = { pm_blocks(n, 256) },
				      .block = { 256 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)));
}

#define SILU OP(Mul, V(X), OP(Sigmoid, V(X)))

static PmStatus null_check(PmMatch *m)
{
	volatile int *volatile p = NULL;

	(void)m;
	return *p;
}

static volatile int on = 1;

static PmStatus endless_check(PmMatch *m)
{
	(void)m;
	while (on)
		;
	return PM_OK;
}

static PmStatus (*volatile deeper)(PmMatch *);

static PmStatus deep_check(PmMatch *m)
{
	volatile char big[4096];

	big[0] = 0;
	deeper = deep_check;
	return deeper(m) + big[0];
}

/* Reads on past the end of the stack. */
static PmStatus above_check(PmMatch *m)
{
	const volatile char *p = __builtin_frame_address(0);

	(void)m;
	while (on)
		(void)*p++;
	return PM_OK;
}

static PmStatus stale_check(PmMatch *m)
{
	static PmVal kept;

	if (!kept.id) {
		kept = m->v[X];
		return pm_decline(m, "first time");
	}
	return pm_numel(kept) > 0 ? PM_OK : PM_DECLINED;
}

static PmStatus invented_check(PmMatch *m)
{
	return pm_rank((PmVal){ m->root.id + 1000 }) >= 0 ? PM_OK : PM_DECLINED;
}

static PmStatus error_check(PmMatch *m)
{
	(void)m;
	return PM_E_SHAPE;
}

static PmStatus busy_check(PmMatch *m)
{
	int64_t sum = 0;

	for (int64_t k = 0; k < 50000000; k++)
		sum += pm_rank(m->root);
	return sum ? PM_OK : PM_DECLINED;
}

static PmStatus silent_rewrite(PmRewriter *rw, PmMatch *m)
{
	(void)rw, (void)m;
	return PM_OK;
}

static PmStatus late_rewrite(PmRewriter *rw, PmMatch *m)
{
	static PmRewriter *kept;
	PmStatus st;

	if (!kept) {
		kept = rw;
		return pm_decline(m, "first time");
	}
	st = silu(kept == rw ? (PmRewriter *)(void *)m : kept, m);
	return st;
}

PM_RULE(null_deref, .pattern = SILU, .check = null_check, .rewrite = silu);
PM_RULE(endless, .pattern = SILU, .check = endless_check, .rewrite = silu);
PM_RULE(deep, .pattern = SILU, .check = deep_check, .rewrite = silu);
PM_RULE(above, .pattern = SILU, .check = above_check, .rewrite = silu);
PM_RULE(stale, .pattern = SILU, .check = stale_check, .rewrite = silu);
PM_RULE(invented, .pattern = SILU, .check = invented_check, .rewrite = silu);
PM_RULE(error_status, .pattern = SILU, .check = error_check, .rewrite = silu);
PM_RULE(busy, .pattern = SILU, .check = busy_check, .rewrite = silu);
PM_RULE(silent, .pattern = SILU, .rewrite = silent_rewrite);
PM_RULE(late, .pattern = SILU, .rewrite = late_rewrite);

PM_PLUGIN("misbehaves", "1", &null_deref, &endless, &deep, &above, &stale, &invented, &error_status, &busy,
	  &silent, &late)
