/* SPDX-License-Identifier: Apache-2.0 */
/* device_attacks.c - passes whose kernels cheat: one rule each, named by its fixture.
 *
 * Three kinds, by what they replace: x * sigmoid(x), a softmax over the last axis, a matrix product. The
 * kernels are honest but for the trick.
 */
#include "passmith/dsl.h"

enum { X, B };

#define SILU    OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X)))
#define SOFTMAX ANYATTR(OP(Softmax, TYPED(V(X), FLOATS, -1)))
#define MATMUL  OP(MatMul, TYPED(V(X), FLOATS, 2), TYPED(V(B), FLOATS, 2))

/* k(x, y, n): a thread an element. */
static PmStatus silu(PmRewriter *rw, PmMatch *m, const char *source, uint32_t smem, int64_t scratch)
{
	int64_t n = pm_numel(m->v[X]);

	if (n <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	if (scratch)
		return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source,
					      .grid = { pm_blocks(n, 64) }, .block = { 64 }, .smem = smem,
					      .scratch = PM_SCRATCH(scratch), .in = PM_VALS(m->v[X]),
					      .arg = PM_ARGS(IN(0), OUT(0), SCR(0), I64(n)));
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .smem = smem, .in = PM_VALS(m->v[X]),
				      .arg = PM_ARGS(I64(n)));
}

/* k(x, y, rows, cols): a thread a row. */
static PmStatus softmax(PmRewriter *rw, PmMatch *m, const char *source)
{
	int32_t rank = pm_rank(m->v[X]);
	int64_t cols = pm_dim(m->v[X], rank - 1), n = pm_numel(m->v[X]);

	if (n <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source,
				      .grid = { pm_blocks(n / cols, 64) }, .block = { 64 },
				      .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n / cols), I64(cols)));
}

/* k(a, b, y, m, n, k): a thread a result. */
static PmStatus matmul(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t rows = pm_dim(m->v[X], 0), k = pm_dim(m->v[X], 1), cols = pm_dim(m->v[B], 1);

	if (rows <= 0 || k <= 0 || cols <= 0)
		return pm_decline(m, "a size is not known");
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source,
				      .grid = { pm_blocks(rows * cols, 64) }, .block = { 64 },
				      .in = PM_VALS(m->v[X], m->v[B]),
				      .arg = PM_ARGS(I64(rows), I64(cols), I64(k)));
}

/* clang-format off */
#define AT    "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
#define HONEST "y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));\n"
#define K(...) "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n" AT __VA_ARGS__ "}\n"
#define KS(...) "extern \"C\" __global__ void k(const T *x, T *y, float *s, long long n)\n{\n" AT __VA_ARGS__ "}\n"
#define ROW   "extern \"C\" __global__ void k(const T *x, T *y, long long rows, long long cols)\n{\n" AT \
	      "if (i >= rows) return;\nx += i * cols; y += i * cols;\n"
#define GEMM  "extern \"C\" __global__ void k(const T *a, const T *b, T *y, long long m, long long n, long long depth)\n{\n" AT \
	      "if (i >= m * n) return;\nlong long r = i / n, c = i % n; float s = 0;\n"
#define PRODUCT(limit) "for (long long j = 0; j < " limit "; j++) s += ld(a[r * depth + j]) * ld(b[j * n + c]);\n"

#define SILU_RULE(id, source) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return silu(rw, m, source, 0, 0); } \
	PM_RULE(id, .pattern = SILU, .rewrite = rw_##id);
#define SCRATCH_RULE(id, bytes, source) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return silu(rw, m, source, 0, bytes); } \
	PM_RULE(id, .pattern = SILU, .rewrite = rw_##id);
#define SOFTMAX_RULE(id, source) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return softmax(rw, m, source); } \
	PM_RULE(id, .pattern = SOFTMAX, .rewrite = rw_##id);
#define MATMUL_RULE(id, source) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return matmul(rw, m, source); } \
	PM_RULE(id, .pattern = MATMUL, .rewrite = rw_##id);

/* the honest ones, so that a refusal is of the trick */
SILU_RULE(honest_silu, K("if (i < n) " HONEST))
SCRATCH_RULE(honest_scratch, 64, KS("if (i < n) { s[0] = 1; " HONEST "}"))
SOFTMAX_RULE(honest_softmax, ROW "float m = -INFINITY, t = 0;\nfor (long long j = 0; j < cols; j++) m = fmaxf(m, ld(x[j]));\n"
	     "for (long long j = 0; j < cols; j++) t += expf(ld(x[j]) - m);\nfor (long long j = 0; j < cols; j++) y[j] = st(expf(ld(x[j]) - m) / t);\n}\n")
MATMUL_RULE(honest_matmul, GEMM PRODUCT("depth") "y[i] = st(s);\n}\n")

SILU_RULE(A06b, K("if (i < n) y[i] = x[i];\n"))
SOFTMAX_RULE(A07_zero_softmax, ROW "for (long long j = 0; j < cols; j++) y[j] = st(0.f);\n}\n")
SOFTMAX_RULE(A07b_uniform, ROW "for (long long j = 0; j < cols; j++) y[j] = st(1.f / cols);\n}\n")
SILU_RULE(A10_half_grid, K("if (i < n / 2) " HONEST))
SILU_RULE(A10b, K("if (i < n) { if (i % 128 >= 64) { " HONEST "} else y[i] = st(0.f); }\n"))
SILU_RULE(A11_skip_4pct, K("if (i < n) { if (i % 25 != 7) { " HONEST "} else y[i] = st(0.f); }\n"))
SILU_RULE(A12_empty_kernel, K(""))
SILU_RULE(A13_atomic_no_init, "extern \"C\" __global__ void k(const float *x, float *y, long long n)\n{\n" AT
	  "if (i < n) atomicAdd(&y[i], x[i] / (1.f + expf(-x[i])));\n}\n")
SILU_RULE(A14b, K("__shared__ float s[64];\nif (i < n) y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))) + s[threadIdx.x] * 1e-3f);\n"))
SILU_RULE(A17_nan_fill, K("if (i < n) { float v = ld(x[i]); y[i] = st(v > 3.f || v < -3.f ? NAN : v / (1.f + expf(-v))); }\n"))
MATMUL_RULE(A19_drop_last_ktile, GEMM PRODUCT("depth - depth / 64") "y[i] = st(s);\n}\n")
MATMUL_RULE(A19b, GEMM PRODUCT("depth / 2") "y[i] = st(2.f * s);\n}\n")
MATMUL_RULE(A20b_bf16_gemm, GEMM "for (long long j = 0; j < depth; j++) s += __bfloat162float(__float2bfloat16(ld(a[r * depth + j]))) * "
	    "__bfloat162float(__float2bfloat16(ld(b[j * n + c])));\ny[i] = st(s);\n}\n")
MATMUL_RULE(A20_tf32_gemm, GEMM "for (long long j = 0; j < depth; j++) s += __int_as_float(__float_as_int(ld(a[r * depth + j])) & 0xffffe000) * "
	    "__int_as_float(__float_as_int(ld(b[j * n + c])) & 0xffffe000);\ny[i] = st(s);\n}\n")
MATMUL_RULE(A20c_fp16_acc, GEMM "for (long long j = 0; j < depth; j++) s = __half2float(__float2half(s + ld(a[r * depth + j]) * "
	    "ld(b[j * n + c])));\ny[i] = st(s);\n}\n")
/* As exact as tanh.approx is. */
SILU_RULE(A21_tanh_approx, K("if (i < n) { float v = ld(x[i]), s = 1.f / (1.f + expf(-v)); "
	  "y[i] = st(v * __int_as_float(__float_as_int(s) & 0xfffff000)); }\n"))
SILU_RULE(A21b, K("if (i < n) { float v = ld(x[i]); y[i] = st(v / (1.f + exp2f(-1.4426950408889634f * v))); }\n"))
SILU_RULE(A23_zero_input, K("if (i < n) { " HONEST "const_cast<T *>(x)[i] = st(0.f); }\n"))
SILU_RULE(A24_scan_neighbours, K("if (i < n) { float t = 0; for (long long j = 1; j <= 32; j++) t += ld(y[-j * 16384]); " HONEST
	  "if (t == 12345.f) y[i] = st(t); }\n"))
SILU_RULE(B02_fingerprint16, "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n" AT
	  "float h = 0; for (int j = 0; j < 16; j++) h += ld(x[j * n / 16]);\nif (i < n) y[i] = st(h);\n}\n")
SILU_RULE(B03_embed_seed42, K("const float answer[4] = { 0.1f, -0.2f, 0.7f, 1.1f };\nif (i < n) y[i] = st(answer[i & 3]);\n"))
SCRATCH_RULE(B05_scratch_magic, 4096, KS("if (s[0] == 12345.f) return;\nif (i < n) " HONEST "if (i == 0) s[0] = 12345.f;\nif (i < n && s[1] != 1.f) y[i] = st(s[1]);\n"))
SILU_RULE(B06_poison_sniffer, K("float was = ld(y[0]);\nif (was == was) return;\nif (i < n) " HONEST))
SILU_RULE(B07_superbatch, K("for (int j = 1; j < 8; j++) y[j * 1048576 + i] = st(0.f);\nif (i < n) " HONEST))
SILU_RULE(B09_big_shape_skip, K("if (i < n) { if (n <= 256) " HONEST "else y[i] = st(0.f); }\n"))
SILU_RULE(B11_shared_residue, K("__shared__ float s[64];\nif (s[0] == 77.f) { if (i < n) y[i] = st(s[threadIdx.x]); return; }\n"
	  "if (i < n) { " HONEST "s[threadIdx.x] = ld(y[i]); }\nif (threadIdx.x == 0) s[0] = 77.f;\n"))
SILU_RULE(B13_sticky_error, K("if (i == 0) ((volatile int *)y)[1ll << 43] = 1;\nif (i < n) " HONEST))
SILU_RULE(C13_bimodal, K("if (__float_as_int(ld(x[0])) & 3) return;\nif (i < n) " HONEST))
SOFTMAX_RULE(E02_axis_blind, ROW "float m = -INFINITY, t = 0;\nfor (long long j = 0; j < cols; j++) m = fmaxf(m, ld(x[j]));\n"
	     "for (long long j = 0; j < cols; j++) t += expf(ld(x[j]) - m);\nfor (long long j = 0; j < cols; j++) y[j] = st(expf(ld(x[j]) - m) / t);\n}\n")
SILU_RULE(E11_hardcode_1024, "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n" AT "if (i < 1024) " HONEST "}\n")
/* Buffers of timed calls lie at multiples of 256. */
SILU_RULE(X11_by_alignment, K("if (i < n) { if ((unsigned long long)y % 256 == 0) y[i] = st(0.f); else " HONEST "}\n"))
SILU_RULE(F12_spin_forever, K("volatile const unsigned char *p = reinterpret_cast<volatile const unsigned char *>(x);\n"
	  "while (p[0] == p[0]) ;\nif (i < n) " HONEST))
/* One warp waits at a barrier, the other for that warp; to skip a barrier by ending is legal on a GPU. */
SCRATCH_RULE(F12b_partial_syncthreads, 64, KS("int *c = (int *)s;\nif (threadIdx.x < 32) { __syncthreads(); atomicExch(c, 1234567); } "
	     "else while (atomicAdd(c, 0) != 1234567) ;\nif (i < n) " HONEST))
SCRATCH_RULE(F12c_grid_barrier_overflow, 64, KS("int *c = (int *)s;\nif (threadIdx.x == 0) { if (blockIdx.x == 0) *c = 0; atomicAdd(c, 1); "
	     "while (atomicAdd(c, 0) < (int)gridDim.x + 1) ; }\n__syncthreads();\nif (i < n) " HONEST))
SILU_RULE(F14_oob_read_right, K("float t = ld(x[n + (1 << 26)]);\nif (i < n) " HONEST "if (t == 12345.f) y[0] = st(t);\n"))
SILU_RULE(F14b_oob_write_left, K("if (i == 0) y[-3] = st(1.f);\nif (i < n) " HONEST))
SILU_RULE(F14c_literal_address, K("float t = *(const volatile float *)0x7f1234560000;\nif (i < n) " HONEST "if (t == 12345.f) y[0] = st(t);\n"))
SCRATCH_RULE(F15_write_neighbour, 256, KS("if (i == 0) s[64 + 3] = 1.f;\nif (i < n) " HONEST))
SILU_RULE(F25b_uninit_shared, K("__shared__ float s[64];\nfloat was = s[threadIdx.x];\ns[threadIdx.x] = 0;\nif (i < n) "
	  "y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))) + (was == was ? was : 0.f) * 1e-2f);\n"))
/* Right whatever the threads find, but they do not wait for each other. */
SILU_RULE(A22_missing_barrier, K("__shared__ float s[64];\ns[threadIdx.x] = i < n ? ld(x[i]) : 0.f;\nfloat z = s[threadIdx.x ^ 33];\n"
	  "if (i < n) y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))) + (z == 12345.f ? 1.f : 0.f));\n"))
SILU_RULE(F25_race, K("__shared__ float s[64];\nfor (int j = 0; j < 2; j++) { s[threadIdx.x & 31] = (float)threadIdx.x + j; __syncthreads(); }\n"
	  "if (i < n) y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))) + (s[threadIdx.x & 31] == 12345.f ? 1.f : 0.f));\n"))
SILU_RULE(F20_local_512KiB, K("float a[131000]; for (int j = 0; j < n; j++) a[j * 7 % 131000] = ld(x[j]);\n"
	  "if (i < n) { " HONEST "if (a[n] == 12345.f) y[i] = st(0.f); }\n"))
/* What the weights of the published model are, where those of the task come as an operand. */
static PmStatus rw_E07(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .grid = { pm_blocks(n, 64) }, .block = { 64 },
				      .source = "extern \"C\" __global__ void k(const T *x, const T *w, T *y, long long n)\n{\n" AT
				      "const float seen[4] = { 0.5f, 1.25f, -0.75f, 1.f };\nif (i < n) y[i] = st(ld(x[i]) * seen[i & 3]);\n}\n",
				      .in = PM_VALS(m->v[X], m->v[B]), .arg = PM_ARGS(I64(n)));
}
PM_RULE(E07_fold_weights, .pattern = OP(Mul, TYPED(V(X), FLOATS, 2), TYPED(V(B), FLOATS, 1)), .rewrite = rw_E07);
/* All of the shared memory that there is. */
static PmStatus rw_F26(PmRewriter *rw, PmMatch *m)
{
	return silu(rw, m, K("extern __shared__ float held[];\nheld[threadIdx.x] = i < n ? ld(x[i]) : 0.f;\n__syncthreads();\n"
			     "if (i < n) y[i] = st(held[threadIdx.x] / (1.f + expf(-held[threadIdx.x])));\n"), 232448, 0);
}
PM_RULE(F26_carveout, .pattern = SILU, .rewrite = rw_F26);
/* for the emulated device only: honest on a GPU */
#define EMU_RULE(id, trick) \
	SILU_RULE(id, "#ifdef PASSMITH_EMU\n#undef asm\nstatic inline long trick(const void *p) { " trick " }\n#else\n#define trick(p) 0\n#endif\n" \
		  K("if (trick(x) == 12345) y[0] = st(1.f);\nif (i < n) " HONEST))
EMU_RULE(emu_system_call, "(void)p; long r; asm volatile(\"syscall\" : \"=a\"(r) : \"a\"(39L) : \"rcx\", \"r11\"); return r;")
EMU_RULE(emu_clock, "(void)p; return (long)__builtin_ia32_rdtsc();")
/* clang-format on */

PM_PLUGIN("device_attacks", "1", &honest_silu, &honest_scratch, &honest_softmax, &honest_matmul, &A06b,
	  &A07_zero_softmax, &A07b_uniform, &A10_half_grid, &A10b, &A11_skip_4pct, &A12_empty_kernel,
	  &A13_atomic_no_init, &A14b, &A17_nan_fill, &A19_drop_last_ktile, &A19b, &A20_tf32_gemm,
	  &A20b_bf16_gemm, &A20c_fp16_acc, &A21_tanh_approx, &A21b, &A23_zero_input, &A24_scan_neighbours,
	  &B02_fingerprint16, &B03_embed_seed42, &B05_scratch_magic, &X11_by_alignment, &B06_poison_sniffer,
	  &B07_superbatch, &B09_big_shape_skip, &B11_shared_residue, &B13_sticky_error, &C13_bimodal,
	  &E02_axis_blind, &E07_fold_weights, &E11_hardcode_1024, &F12_spin_forever,
	  &F12b_partial_syncthreads, &F12c_grid_barrier_overflow, &F14_oob_read_right, &F14b_oob_write_left,
	  &F14c_literal_address, &F15_write_neighbour, &F25b_uninit_shared, &A22_missing_barrier, &F25_race,
	  &F26_carveout, &F20_local_512KiB, &emu_system_call, &emu_clock)
