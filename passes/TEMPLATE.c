/* TEMPLATE.c - max(a + b, 0) as one kernel: a complete pass to start from.
 *
 * Copy it (`passmith new NAME` does), then change the four numbered parts. Everything that a pass may use is
 * in passmith/dsl.h. Where a rule does not match, `passmith explain` says at which node and why.
 */
#include "passmith/dsl.h"

/* 1. The values that the pattern captures. */
enum { A, B };

/* 2. The kernel. T is the element type of the output; ld() turns a T into a float, st() a float into a T.
 *    Parameters: inputs, outputs, scratch buffers, scalars, in this order. */
/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void add_relu(const T *a, const T *b, T *y, long long n)
	{
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
		if (i >= n)
			return;
		float v = ld(a[i]) + ld(b[i]);
		y[i] = st(v < 0.f ? 0.f : v);
	}
);
/* clang-format on */

/* 3. What the pattern cannot say: relations between captured values. Decline where the kernel would be wrong;
 *    here Add could broadcast, and the kernel does not. */
static PmStatus check(PmMatch *m)
{
	if (!pm_same_type(m->v[A], m->v[B]))
		return pm_decline(m, "a and b differ in type or shape");
	if (pm_numel(m->v[A]) <= 0)
		return pm_decline(m, "a is empty or its size is not known");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->root);

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "add_relu", .source = SRC, .grid = { pm_blocks(n, 256) }, .block = { 256 },
		.in = PM_VALS(m->v[A], m->v[B]), .arg = PM_ARGS(I64(n)), .like = m->root);
}

/* 4. The pattern. It reads like the formula; whatever it does not allow does not match. */
PM_RULE(add_relu, .doc = "Relu(Add(a, b)) -> one kernel",
	.pattern = OP(Relu, OP(Add, TYPED(V(A), FLOATS, -1), TYPED(V(B), FLOATS, -1))), .check = check,
	.rewrite = rewrite);

PM_PLUGIN("TEMPLATE", "1", &add_relu)
