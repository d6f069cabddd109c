/* SPDX-License-Identifier: Apache-2.0 */
/* secret_attacks.c - passes whose first alternative is honest, and another is not: one rule each, named by
 * its fixture. Which alternative runs is chosen by its time, so that the first is there to be looked at only.
 */
#include "passmith/dsl.h"

enum { X };

#define SILU OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X)))

/* clang-format off */
#define K(...) "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n" \
	"long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n" __VA_ARGS__ "}\n"
#define HONEST "y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));\n"
static const char HONEST_SRC[] = K("if (i < n) " HONEST);

#define SPEC(src) .entry = "k", .source = src, .grid = { pm_blocks(n, 64) }, .block = { 64 }, .arg = PM_ARGS(I64(n))
#define THEN(src, more) .alt = PM_ALTERNATIVE(SPEC(src), more)
/* An honest alternative, then `src`. */
#define SECOND_RULE(id, src) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) \
	{ \
		int64_t n = pm_numel(m->v[X]); \
		return PM_REPLACE_WITH_KERNEL(rw, m, SPEC(HONEST_SRC), .in = PM_VALS(m->v[X]), .alt = PM_ALTERNATIVE(SPEC(src))); \
	} \
	PM_RULE(id, .pattern = SILU, .rewrite = rw_##id);

SECOND_RULE(honest_twice, K("if (i < n) { float v = ld(x[i]); y[i] = st(v / (1.f + expf(-v))); }\n"))
SECOND_RULE(S02_second_is_constant, K("if (i < n) y[i] = st(42.f);\n"))
SECOND_RULE(S05_second_races, K("__shared__ float s[64];\ns[threadIdx.x] = i < n ? ld(x[i]) : 0.f;\nfloat z = s[threadIdx.x ^ 33];\n"
	    "if (i < n) y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))) + (z == 12345.f ? 1.f : 0.f));\n"))
SECOND_RULE(S06_second_forgets_one, K("if (i < n && i != 200) " HONEST))
SECOND_RULE(S07_second_by_the_poison, K("if (i < n && (__float_as_int(y[i]) & 3) == 2) { y[i] = st(0.f); return; }\nif (i < n) " HONEST))
SECOND_RULE(S08_second_is_coarse_where_large, K("if (i < n) { float v = ld(x[i]); y[i] = st(v > 6.f ? v : v / (1.f + expf(-v))); }\n"))

static PmStatus rw_S03(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);
	static const char last[] = K("if (i < n) y[i] = st(ld(x[i]) * 0.5f);\n");

	return PM_REPLACE_WITH_KERNEL(rw, m, SPEC(HONEST_SRC), .in = PM_VALS(m->v[X]), THEN(HONEST_SRC, THEN(HONEST_SRC, THEN(HONEST_SRC,
		THEN(HONEST_SRC, THEN(HONEST_SRC, THEN(HONEST_SRC, .alt = PM_ALTERNATIVE(SPEC(last)))))))));
}
PM_RULE(S03_last_of_eight, .pattern = SILU, .rewrite = rw_S03);
/* clang-format on */

PM_PLUGIN("secret_attacks", "1", &honest_twice, &S02_second_is_constant, &S03_last_of_eight,
	  &S05_second_races, &S06_second_forgets_one, &S07_second_by_the_poison,
	  &S08_second_is_coarse_where_large)
