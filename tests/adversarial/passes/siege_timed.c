/* SPDX-License-Identifier: Apache-2.0 */
/* siege_timed.c - passes of the second siege that tell timed calls from checked ones, keep something between
 * calls, or ask for more than there is: one rule each, named by its fixture. A cache that hits writes 42, so
 * that a hit shows. */
#include "passmith/dsl.h"

enum { X };

#define SILU OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X)))

enum { MIB = 1 << 20, SOURCES = 8 };

/* k(x, y, s, n, cols) with so much scratch; cols: of the last axis. */
static PmStatus silu(PmRewriter *rw, PmMatch *m, const char *source, int64_t scratch)
{
	int64_t n = pm_numel(m->v[X]);

	if (n <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "k", .source = source, .grid = { pm_blocks(n, 64) }, .block = { 64 },
		.scratch = PM_SCRATCH(scratch), .in = PM_VALS(m->v[X]),
		.arg = PM_ARGS(IN(0), OUT(0), SCR(0), I64(n), I64(pm_dim(m->v[X], pm_rank(m->v[X]) - 1))));
}

/* clang-format off */
#define HONEST "y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));\n"
#define K(...) "typedef unsigned long long U;\n" \
	"extern \"C\" __global__ void k(const T *x, T *y, int *s, long long n, long long cols)\n{\n" \
	"long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n" __VA_ARGS__ \
	"if (i < n) " HONEST "}\n"
/* Of the row of element i: two numbers from all of its elements. */
#define ROW "U h = 1, g = 7;\nfor (long long j = i / cols * cols; i < n && j < i / cols * cols + cols; j++) {\n" \
	"h = (h ^ (unsigned)__float_as_int(ld(x[j]))) * 0x9e3779b97f4a7c15ull; g = (g + (unsigned)__float_as_int(ld(x[j]))) * 0xff51afd7ed558ccdull; }\n"
#define RULE(id, scratch, source) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return silu(rw, m, source, scratch); } \
	PM_RULE(id, .pattern = SILU, .rewrite = rw_##id);

RULE(honest, 64, K(""))
#define NUMBERED "// 000000\n" K("")

/* remembers rows in its scratch: key and mark, by the row's number */
RULE(S50_rows_in_scratch, 4096, K(ROW "if (i < n && i % cols == 0) { int *q = s + 4 * (i / cols % 200);\n"
	"if (q[0] == 77 && q[1] == (int)h && q[2] == (int)g) { y[i] = st(42.f); return; }\n"
	"q[0] = 77; q[1] = (int)h; q[2] = (int)g; }\n"))
/* the same in what is left of a page or a block behind it, only where a buffer begins as those of timed calls did */
RULE(S51_rows_in_the_tail, 128, K("if (i == 0 && (U)s % 512 == 0) { if (s[40] == 77) { y[0] = st(42.f); return; }\ns[40] = 77; }\n"))
/* by where the buffers are: what was seen at these addresses */
RULE(S52_by_the_pointers, 4096, K("if (i == 0) { int at = (int)((U)x / 4096 % 500);\n"
	"if (s[2 * at] == (int)(U)x && s[2 * at + 1] == (int)(U)y) { y[0] = st(42.f); return; }\ns[2 * at] = (int)(U)x; s[2 * at + 1] = (int)(U)y; }\n"))
/* rows of all calls so far, in global memory, which the gate refuses: a thread a row */
RULE(S53_rows_in_global_memory, 64, "static __device__ unsigned long long seen[65536];\nstatic __device__ int n_seen;\n" K(ROW
	"if (i < n && i % cols == 0) { int most = *(volatile int *)&n_seen;\nfor (int j = 0; j < most && j < 65536; j++) if (seen[j] == (h ^ g)) { y[i] = st(42.f); return; }\n"
	"int at = atomicAdd(&n_seen, 1); if (at < 65536) seen[at] = h ^ g; }\n"))
/* cheap in the timed layout alone, by the pointers' low bits, by a page's end, and by one of three buffers */
RULE(S54_pages_begin, 64, K("if (((U)x | (U)y) % 4096 == 0 && i < n) { y[i] = st(0.f); return; }\n"))
RULE(S55_a_page_ends_behind_y, 64, K("if ((U)x % 4096 == 0 && (U)y % 4096 != 0 && i < n) { y[i] = st(0.f); return; }\n"))
/* by the distance between two buffers of a call, which was always the same number of pages */
RULE(S56_far_apart, 64, K("if ((((U)x / 4096) - ((U)y / 4096)) % 2 == 1 && i < n) { y[i] = st(0.f); return; }\n"))
/* by what an allocation of its own looks like: honest only where the output begins or ends at 2 MiB */
RULE(S63_no_mapping_of_its_own, 64, K("U end = ((U)(y + n) + 255) / 256 * 256;\n"
	"if ((U)y % 0x200000 != 0 && end % 0x200000 != 0 && i < n) { y[i] = st(0.f); return; }\n"))
/* every third call: counts behind the output */
RULE(S57_counts_in_the_tail, 64, K("if (i == 0) { int *c = (int *)(y + n + 8);\nif ((U)y % 512 == 0) { *c = *c + 1; if (*c % 3 == 0) { y[0] = st(0.f); return; } } }\n"))

/* limits */
RULE(S58_scratch_of_65_MiB, (int64_t)65 * MIB, K(""))
RULE(S60_scratch_of_64_MiB, (int64_t)64 * MIB, K(""))
/* clang-format on */

/* The first alternative asks for nothing. */
static PmStatus rw_S59(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "k", .source = K(""), .grid = { pm_blocks(n, 64) }, .block = { 64 },
		.scratch = PM_SCRATCH(64), .in = PM_VALS(m->v[X]),
		.arg = PM_ARGS(IN(0), OUT(0), SCR(0), I64(n), I64(1)),
		.alt = PM_ALTERNATIVE(.entry = "k", .source = K(""), .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .scratch = PM_SCRATCH((int64_t)3 << 30),
				      .arg = PM_ARGS(IN(0), OUT(0), SCR(0), I64(n), I64(1))));
}
PM_RULE(S59_alternative_with_3_GiB, .pattern = SILU, .rewrite = rw_S59);

/* Sources that differ in a number, eight for each place: 520 for 65 places. */
static PmStatus rw_S61(PmRewriter *rw, PmMatch *m)
{
	static char text[SOURCES][sizeof NUMBERED];
	static int n_sources;
	int64_t n = pm_numel(m->v[X]);

	for (int a = 0; a < SOURCES; a++, n_sources++)
		for (unsigned k = 0; k < sizeof NUMBERED; k++)
			text[a][k] = NUMBERED[k];
	for (int a = 0; a < SOURCES; a++)
		for (int k = 0, left = n_sources + a; k < 6; k++, left /= 10)
			text[a][3 + k] = (char)('0' + left % 10);
#define VARIANT(a)                                                                                           \
	.entry = "k", .source = text[a], .grid = { pm_blocks(n, 64) }, .block = { 64 },                      \
	.scratch = PM_SCRATCH(64), .arg = PM_ARGS(IN(0), OUT(0), SCR(0), I64(n), I64(1))
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .in = PM_VALS(m->v[X]), VARIANT(0),
		.alt = PM_ALTERNATIVE(
			VARIANT(1),
			.alt = PM_ALTERNATIVE(
				VARIANT(2),
				.alt = PM_ALTERNATIVE(
					VARIANT(3),
					.alt = PM_ALTERNATIVE(
						VARIANT(4),
						.alt = PM_ALTERNATIVE(
							VARIANT(5),
							.alt = PM_ALTERNATIVE(
								VARIANT(6),
								.alt = PM_ALTERNATIVE(VARIANT(7)))))))));
}
PM_RULE(S61_many_sources, .pattern = SILU, .rewrite = rw_S61);

PM_PLUGIN("siege_timed", "1", &honest, &S50_rows_in_scratch, &S51_rows_in_the_tail, &S52_by_the_pointers,
	  &S53_rows_in_global_memory, &S54_pages_begin, &S55_a_page_ends_behind_y, &S56_far_apart,
	  &S57_counts_in_the_tail, &S58_scratch_of_65_MiB, &S59_alternative_with_3_GiB,
	  &S60_scratch_of_64_MiB, &S61_many_sources, &S63_no_mapping_of_its_own)
