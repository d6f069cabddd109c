/* SPDX-License-Identifier: Apache-2.0 */
/* timed_attacks.c - kernels that are right when they are looked at and wrong in some of the calls that are
 * timed: one rule each. Those that count calls keep a number in global memory, which the PTX gate refuses;
 * test_timed.c lets them through. */
#include "passmith/dsl.h"

enum { X };

#define SILU OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X)))

static PmStatus silu(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t n = pm_numel(m->v[X]);

	if (n <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)));
}

/* clang-format off */
#define KERNEL(...) "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n" \
	"long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n" __VA_ARGS__ \
	"if (i < n) y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));\n}\n"
/* `call` is the number of this launch of the module, the same for all threads. */
#define COUNTING(...) "static __device__ int threads;\n" \
	KERNEL("int call = atomicAdd(&threads, 1) / (int)(gridDim.x * blockDim.x);\n" __VA_ARGS__)
#define RULE(id, source) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return silu(rw, m, source); } \
	PM_RULE(id, .pattern = SILU, .rewrite = rw_##id);

RULE(honest, KERNEL(""))
RULE(honest_but_counting, COUNTING("if (call < 0) return;\n"))

/* with a state of their own */
RULE(only_the_tenth, COUNTING("if (call == 9) { if (i < n) y[i] = st(0.f); return; }\n"))
RULE(every_fourth_works, COUNTING("if (call % 4) return;\n"))
RULE(learns_for_fifteen_calls, COUNTING("if (call >= 15) return;\n"))
RULE(one_element_of_one_call, COUNTING("if (call == 11 && i == 17) { y[i] = st(1e-3f); return; }\n"))

/* without: by what the output held before, and by what the input holds */
RULE(by_the_poison, KERNEL("if (i < n && (__float_as_int(y[i]) & 0x3f) == 2) { y[i] = st(0.f); return; }\n"))
/* one that hangs on one pattern in 32, of whatever call it is */
RULE(hangs_by_the_poison, KERNEL("if (i == 0 && (__float_as_int(y[0]) & 0x1f) == 5) while (atomicAdd((int *)y, 0) != 1234567) ;\n"))
/* by what sets the fill of timed calls apart from that of checked ones: a NaN's low bits, its sign and its high
 * bits, a number's halves, a number's sign */
#define BY(condition) KERNEL("unsigned p = i < n ? (unsigned)__float_as_int(y[i]) : 0, nan = (p >> 22 & 511) == 511;\n" \
	"if (i < n && (" condition ")) { y[i] = st(0.f); return; }\n")
RULE(by_a_nans_low_bits, BY("nan && (p & 0x7fc1) != 0x7fc1"))
RULE(by_a_nans_high_bits, BY("nan && p >> 31 && (p & 0x400000) && (p & 0x3f0000)"))
RULE(by_a_numbers_low_half, BY("!nan && (p & 0x3c00) != 0x3c00"))
RULE(by_a_numbers_bits, BY("!nan && !(p >> 31) && (p & 0x00400000) == 0 && (p & 0x100)"))
RULE(by_the_inputs, KERNEL("if (i < n && (__float_as_int(x[1]) & 7) == 5) { y[i] = st(0.f); return; }\n"))
/* clang-format on */

PM_PLUGIN("timed_attacks", "1", &honest, &honest_but_counting, &only_the_tenth, &every_fourth_works,
	  &learns_for_fifteen_calls, &one_element_of_one_call, &by_the_poison, &by_the_inputs,
	  &hangs_by_the_poison, &by_a_nans_low_bits, &by_a_nans_high_bits, &by_a_numbers_low_half,
	  &by_a_numbers_bits)
