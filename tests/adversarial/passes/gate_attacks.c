/* SPDX-License-Identifier: Apache-2.0 */
/* gate_attacks.c - passes whose kernels are right and reach, for a GPU's compiler only, what is not theirs:
 * one rule each, named by its fixture. They match different graphs, so that one file shows one at a time. */
#include "passmith/dsl.h"

enum { X };

static PmStatus kernel(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t n = pm_numel(m->v[X]);

	if (n <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)));
}

/* clang-format off */
#define KERNEL(ptx, value) "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n" \
	"long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\nunsigned t = 0;\n" \
	"#ifndef PASSMITH_EMU\nasm volatile(\"" ptx "\" : \"=r\"(t));\n#endif\n" \
	"if (i < n) y[i] = st(" value " + (t == 12345u ? 1.f : 0.f));\n}\n"
#define RULE(id, op, ptx, value) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return kernel(rw, m, KERNEL(ptx, value)); } \
	PM_RULE(id, .pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(op, V(X))), .rewrite = rw_##id);
/* `other` is a kernel that no launch names. */
#define RULE_BESIDE(id, op, other, value) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) \
	{ return kernel(rw, m, other KERNEL("mov.u32 %0, %%tid.x;", value)); } \
	PM_RULE(id, .pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(op, V(X))), .rewrite = rw_##id);
/* clang-format on */

RULE(none, Sigmoid, "mov.u32 %0, %%tid.x;", "ld(x[i]) / (1.f + expf(-ld(x[i])))")
RULE(by_register, Tanh, "{ .reg .b64 p; mov.b64 p, 0; ld.param.u32 %0, [p+64]; }",
     "ld(x[i]) * tanhf(ld(x[i]))")
RULE(by_number, Abs, "ld.local.u32 %0, [64];", "ld(x[i]) * fabsf(ld(x[i]))")
RULE(of_function, Relu, "{ .reg .b64 p; mov.u64 p, k; cvt.u32.u64 %0, p; }",
     "ld(x[i]) * (ld(x[i]) > 0.f ? ld(x[i]) : 0.f)")
RULE(by_time, Neg,
     "{ .shared .align 8 .b64 b; .reg .pred q; mbarrier.init.shared.b64 [b], 1; "
     "mbarrier.try_wait.parity.shared.b64 q, [b], 0, 20000; selp.u32 %0, 1, 0, q; }",
     "ld(x[i]) * -ld(x[i])")
/* Written out and never launched, with what no kernel may do. */
RULE_BESIDE(
	idle, Exp,
	"extern \"C\" __global__ void idle(unsigned *p)\n{\nunsigned t = 0;\n"
	"#ifndef PASSMITH_EMU\nasm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(t));\n#endif\np[0] = t;\n}\n",
	"ld(x[i]) * expf(ld(x[i]))")
/* The text shows one kernel less than the module has. */
RULE_BESIDE(by_macro, Sqrt, "#define MADE __global__ void made\nextern \"C\" MADE(float *p) { p[0] = 1; }\n",
	    "ld(x[i]) * sqrtf(ld(x[i]))")

/* PTX says how much local memory an array has, and the machine code of it alone how much a thread's frame
 * has. */
static const char frame_source[] =
	"extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n"
	"long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\nfloat more = 0;\n"
	"#ifndef PASSMITH_EMU\nfloat big[4352];\n#pragma unroll 1\n"
	"for (int j = 0; j < 4352; j++) big[j] = (float)(j * n);\n"
	"more = big[(unsigned)(n * n) % 4352u] < 0 ? 1.f : 0.f;\n#endif\n"
	"if (i < n) y[i] = st(ld(x[i]) * erff(ld(x[i])) + more);\n}\n";
static PmStatus rw_by_frame(PmRewriter *rw, PmMatch *m)
{
	return kernel(rw, m, frame_source);
}
PM_RULE(by_frame, .pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Erf, V(X))), .rewrite = rw_by_frame);

PM_PLUGIN("gate_attacks", "1", &none, &by_register, &by_number, &of_function, &by_time, &by_frame, &idle,
	  &by_macro)
