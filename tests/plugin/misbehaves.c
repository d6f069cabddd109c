/* misbehaves.c - one rule per way to go wrong while running; tests pick one with only_rule.
 *
 * All match Mul(x, Sigmoid(x)). Those that need the C library declare what they use: nothing stops a plugin
 * from trying.
 */
#include "passmith/dsl.h"

extern void *malloc(size_t n);
extern long write(int fd, const void *p, size_t n);
extern void _exit(int status);

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

static PmStatus greedy_check(PmMatch *m)
{
	(void)m;
	while (on) {
		volatile char *p = malloc(1 << 20);

		for (size_t k = 0; k < 1 << 20; k += 4096)
			p[k] = 1;
	}
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

static PmStatus exit_check(PmMatch *m)
{
	(void)m;
	_exit(0);
	return PM_OK;
}

static PmStatus chatty_check(PmMatch *m)
{
	(void)m;
	return write(1, "hello from the pass\n", 20) == 20 ? PM_OK : PM_DECLINED;
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

/* Writes an answer of its own to the channel of the pass host and leaves: the graph without its Sigmoid. */
static PmStatus forge_check(PmMatch *m)
{
	static const char forged[] = "PMPASS1 29 57\n"
				     "{\"end\":\"applied\",\"applied\":1}"
				     "g (float[4,8] x) => (float[4,8] y)\n{\n   y = Mul (x, x)\n}\n";

	(void)m;
	if (write(3, forged, sizeof forged - 1) < 0)
		return PM_DECLINED;
	_exit(0);
	return PM_OK;
}

static PmStatus garbage_check(PmMatch *m)
{
	(void)m;
	if (write(3, "PMPASS1 99999999999999999999 5\n{}", 33) < 0)
		return PM_DECLINED;
	_exit(0);
	return PM_OK;
}

PM_RULE(null_deref, .pattern = SILU, .check = null_check, .rewrite = silu);
PM_RULE(endless, .pattern = SILU, .check = endless_check, .rewrite = silu);
PM_RULE(greedy, .pattern = SILU, .check = greedy_check, .rewrite = silu);
PM_RULE(deep, .pattern = SILU, .check = deep_check, .rewrite = silu);
PM_RULE(leaves, .pattern = SILU, .check = exit_check, .rewrite = silu);
PM_RULE(chatty, .pattern = SILU, .check = chatty_check, .rewrite = silu);
PM_RULE(stale, .pattern = SILU, .check = stale_check, .rewrite = silu);
PM_RULE(invented, .pattern = SILU, .check = invented_check, .rewrite = silu);
PM_RULE(error_status, .pattern = SILU, .check = error_check, .rewrite = silu);
PM_RULE(busy, .pattern = SILU, .check = busy_check, .rewrite = silu);
PM_RULE(silent, .pattern = SILU, .rewrite = silent_rewrite);
PM_RULE(late, .pattern = SILU, .rewrite = late_rewrite);
PM_RULE(forge, .pattern = SILU, .check = forge_check, .rewrite = silu);
PM_RULE(garbage, .pattern = SILU, .check = garbage_check, .rewrite = silu);

PM_PLUGIN("misbehaves", "1", &null_deref, &endless, &greedy, &deep, &leaves, &chatty, &stale, &invented,
	  &error_status, &busy, &silent, &late, &forge, &garbage)
