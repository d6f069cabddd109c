/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - the text of a kernel: what every one begins with, and its sections one after another. */
#include "fuse.h"

#include "./codegen/gen.h"
#include "./loop/print.h"

#include "held.cu.h"
#include "round.cu.h"

static const char HEAD[] =
	"#define K(x) ((S)(x))\n"
	"#define LANES(n) _Pragma(\"unroll\") for (int j = 0; j < n; j++)\n"
	"#define QUOT(x, d) ((int)((unsigned)(x) / (unsigned)(d)))\n"
	"#define REST(x, d) ((int)((unsigned)(x) % (unsigned)(d)))\n"
	"/* A: 1 all pointers are aligned, 0 some are not, 2 not known. */\n"
	"template<int N, int A, class U> __device__ __forceinline__ pm_vec<U, N> fetch(const U *p)\n"
	"{\n"
	"\tconst int C = N * (int)sizeof(U) > 16 ? 16 / (int)sizeof(U) : N;\n"
	"\tpm_vec<U, N> v;\n"
	"\tif (A == 1 || (A == 2 && pm_aligned(p, C * (int)sizeof(U)))) {\n"
	"#pragma unroll\n"
	"\t\tfor (int i = 0; i < N; i += C) {\n"
	"\t\t\tconst pm_vec<U, C> w = pm_load<C>(p + i);\n"
	"#pragma unroll\n"
	"\t\t\tfor (int j = 0; j < C; j++)\n\t\t\t\tv[i + j] = w[j];\n"
	"\t\t}\n\t\treturn v;\n\t}\n"
	"#pragma unroll\n"
	"\tfor (int j = 0; j < N; j++)\n\t\tv[j] = p[j];\n"
	"\treturn v;\n"
	"}\n"
	"template<int N, int A, class U> __device__ __forceinline__ void deposit(U *p, const pm_vec<U, N> "
	"&v)\n"
	"{\n"
	"\tconst int C = N * (int)sizeof(U) > 16 ? 16 / (int)sizeof(U) : N;\n"
	"\tif (A == 1 || (A == 2 && pm_aligned(p, C * (int)sizeof(U)))) {\n"
	"#pragma unroll\n"
	"\t\tfor (int i = 0; i < N; i += C) {\n"
	"\t\t\tpm_vec<U, C> w;\n"
	"#pragma unroll\n"
	"\t\t\tfor (int j = 0; j < C; j++)\n\t\t\t\tw[j] = v[i + j];\n"
	"\t\t\tpm_store<C>(p + i, w);\n"
	"\t\t}\n\t\treturn;\n\t}\n"
	"#pragma unroll\n"
	"\tfor (int j = 0; j < N; j++)\n\t\tp[j] = v[j];\n"
	"}\n"
	"/* What seldom runs: a kernel's first instructions are waited for, and these are not among them. "
	"*/\n"
	"template<class F> static __device__ __noinline__ void aside(const F f)\n{\n\tf();\n}\n";

/* Divisions as the compiler has them where operands and result are usual, which is asked once for all lanes.
 */
static const char DIVIDE[] =
	"struct Usual { float lo, hi; };\n"
	"__device__ __forceinline__ void see(Usual &u, float x)\n"
	"{\n\tx = fabsf(x);\n\tu.lo = fminf(u.lo, x);\n\tu.hi = fmaxf(u.hi, x);\n}\n"
	"__device__ __forceinline__ bool is_usual(const Usual &u) { return u.lo > 0x1p-60f && u.hi < "
	"0x1p60f; }\n"
	"__device__ __forceinline__ float inverse(float x, Usual &u)\n"
	"{\n\tfloat r;\n\tsee(u, x);\n"
	"#ifdef PASSMITH_EMU\n\tr = 1.f / x;\n"
	"#else\n\tasm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(x));\n#endif\n"
	"\treturn __fmaf_rn(r, __fmaf_rn(-x, r, 1.f), r);\n}\n"
	"__device__ __forceinline__ float quotient(float a, float b, float r, Usual &u)\n"
	"{\n\tconst float q = __fmul_rn(a, r);\n\tsee(u, a == 0 ? 1.f : a);\n"
	"\treturn a == 0 ? q : __fmaf_rn(r, __fmaf_rn(-b, q, a), q);\n}\n";

static const char SHARE[] =
	"struct Sum { template<class V> static __device__ V of(V a, V b) { return a + b; } };\n"
	"struct Prod { template<class V> static __device__ V of(V a, V b) { return a * b; } };\n"
	"struct Max { template<class V> static __device__ V of(V a, V b) { return pm_max(a, b); } };\n"
	"struct Min { template<class V> static __device__ V of(V a, V b) { return pm_min(a, b); } };\n"
	"/* Over the G threads of a row; ROWS: they lie so many threads apart, some of them in one warp. "
	"Sums that "
	"follow\n"
	" * each other use other memory (PLACE), so that one barrier each is enough. */\n"
	"template<class F, int G, int ROWS, int PLACE, class V> __device__ __forceinline__ V share(V v)\n"
	"{\n"
	"\tconst int R = ROWS ? ROWS : 1, NEAR = R < 32 ? 32 / R : 1, FAR = G > NEAR ? G / NEAR : 1;\n"
	"\t__shared__ V part[ROWS ? FAR * R : 32];\n"
	"\tconst int t = threadIdx.x;\n"
	"\tif (ROWS) {\n"
	"#pragma unroll\n"
	"\t\tfor (int d = R; d < 32; d *= 2)\n"
	"\t\t\tv = F::of(v, __shfl_xor_sync(0xffffffffu, v, d));\n"
	"\t\tif (R >= 32)\n\t\t\tpart[t] = v;\n"
	"\t\telse if (t % 32 < R)\n\t\t\tpart[t / 32 * R + t % 32] = v;\n"
	"\t\t__syncthreads();\n"
	"\t\tv = part[t % R];\n"
	"\t\tfor (int g = 1; g < FAR; g++)\n\t\t\tv = F::of(v, part[t % R + g * R]);\n"
	"\t\treturn v;\n\t}\n"
	"#pragma unroll\n"
	"\tfor (int d = (G < 32 ? G : 32) / 2; d > 0; d >>= 1)\n"
	"\t\tv = F::of(v, __shfl_xor_sync(0xffffffffu, v, d));\n"
	"\tif (G > 32) {\n"
	"\t\tif (t % 32 == 0)\n\t\t\tpart[t / 32] = v;\n\t\t__syncthreads();\n"
	"\t\tv = part[t % (G / 32 > 0 ? G / 32 : 1)];\n"
	"#pragma unroll\n"
	"\t\tfor (int d = G / 64; d > 0; d >>= 1)\n"
	"\t\t\tv = F::of(v, __shfl_xor_sync(0xffffffffu, v, d));\n"
	"\t}\n\treturn v;\n"
	"}\n"
	"/* Shared memory of a result (PLACE). */\n"
	"template<class V, int N, int PLACE> __device__ __forceinline__ V *stage_of()\n"
	"{\n\t__shared__ __align__(16) V p[N];\n\treturn p;\n}\n"
	"/* Where element d of a row is in it, VEC of them one thread's: the SIDE rows of a warp stay side "
	"by side. "
	"From\n * vector to vector they change places with others, so that threads meet in no bank. */\n"
	"template<int VEC, int SIDE, int ROWS> __device__ __forceinline__ int stage_at(int d, int row)\n"
	"{\n\treturn d * ROWS + (row ^ (int)((unsigned)d / VEC % 8 * SIDE));\n}\n"
	"/* Memory for parts, the same for all reductions of a type: what follows two barriers may use it "
	"again. "
	"*/\n"
	"template<class V, int N> __device__ __forceinline__ V *parts()\n"
	"{\n\t__shared__ V p[N];\n\treturn p;\n}\n"
	"/* The same of N neighbouring rows, one after another in neighbouring threads. */\n"
	"template<class F, int G, int ROWS, int PLACE, class V, int N> __device__ __forceinline__ void "
	"share(V (&v)[N])\n"
	"{\n"
	"\tV *const part = parts<V, (G + 1) * ROWS * N>(), *const all = part + G * ROWS * N;\n"
	"\tconst int t = threadIdx.x;\n"
	"#pragma unroll\n"
	"\tfor (int j = 0; j < N; j++)\n\t\tpart[t / ROWS * ROWS * N + j * ROWS + t % ROWS] = v[j];\n"
	"\t__syncthreads();\n"
	"\tfor (int i = t; i < ROWS * N; i += G * ROWS) {\n"
	"\t\tV sum = part[i];\n"
	"#pragma unroll\n"
	"\t\tfor (int g = 1; g < G; g++)\n\t\t\tsum = F::of(sum, part[g * ROWS * N + i]);\n"
	"\t\tall[i] = sum;\n\t}\n"
	"\t__syncthreads();\n"
	"#pragma unroll\n"
	"\tfor (int j = 0; j < N; j++)\n\t\tv[j] = all[j * ROWS + t % ROWS];\n"
	"}\n";

/* Rows that many blocks share (split.c): elements of a slice, `left` from its begin on; sums of squares
 * around the mean of n elements that add up to `sum`, and of powers under the maximum `top`, as sums around
 * the row's. */
static const char SLICES[] =
	"__device__ __forceinline__ int within(int left, int most)\n"
	"{ return left < 0 ? 0 : left < most ? left : most; }\n"
	"template<class V, class M> __device__ __forceinline__ V moved_squares(V squares, V sum, M mean, int "
	"n)\n"
	"{ const V d = sum / n - mean; return n > 0 ? squares + n * d * d : V(0); }\n"
	"template<class V, class M> __device__ __forceinline__ V moved_exps(V exps, M top, M row)\n"
	"{ return top == -INFINITY ? (row == -INFINITY ? exps : V(0)) : exps * exp(V(top - row)); }\n";

static const char INTS[] =
	"typedef unsigned long long Un;\n"
	"__device__ __forceinline__ long long iadd(long long a, long long b) { return (long long)((Un)a + "
	"(Un)b); }\n"
	"__device__ __forceinline__ long long isub(long long a, long long b) { return (long long)((Un)a - "
	"(Un)b); }\n"
	"__device__ __forceinline__ long long imul(long long a, long long b) { return (long long)((Un)a * "
	"(Un)b); }\n"
	"__device__ __forceinline__ long long ineg(long long a) { return isub(0, a); }\n"
	"__device__ __forceinline__ long long idiv(long long a, long long b)\n"
	"{ return b == 0 ? 0 : b == -1 ? ineg(a) : a / b; }\n"
	"__device__ __forceinline__ long long irem(long long a, long long b) { return b == 0 || b == -1 ? 0 "
	": a % b; }\n"
	"__device__ __forceinline__ long long imod(long long a, long long b)\n"
	"{ const long long r = irem(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }\n"
	"__device__ __forceinline__ long long ishl(long long a, long long b)\n"
	"{ return (Un)b < 64 ? (long long)((Un)a << b) : 0; }\n"
	"__device__ __forceinline__ long long ishr(long long a, long long b)\n"
	"{ return (Un)b < 64 ? a >> b : a < 0 ? -1 : 0; }\n"
	"__device__ inline long long ipow(long long a, long long b)\n"
	"{\n\tlong long r = 1;\n"
	"\tif (b < 0)\n\t\treturn a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;\n"
	"\tfor (; b; b >>= 1, a = imul(a, a))\n\t\tif (b & 1)\n\t\t\tr = imul(r, a);\n"
	"\treturn r;\n}\n"
	"template<class V> __device__ __forceinline__ long long saturate(V v, long long lo, long long hi)\n"
	"{ return v != v ? 0 : v >= (V)hi ? hi : v <= (V)lo ? lo : (long long)v; }\n"
	"__device__ __forceinline__ int pick(long long i, int n) { return (int)(i < 0 ? i + n : i); }\n"
	"/* Whether an index of an axis of n elements, from its front or its end, is `at`. */\n"
	"__device__ __forceinline__ int names(long long i, int at, int n) { return (int)i == at || (int)i == "
	"at - n; }\n"
	"/* Whether it is one of `lanes` neighbours from `at` on. */\n"
	"__device__ __forceinline__ int names_any(long long i, int at, int lanes, int n)\n"
	"{ return (unsigned)(pick(i, n) - at) < (unsigned)lanes; }\n"
	"__device__ __forceinline__ int pad_edge(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }\n"
	"__device__ __forceinline__ int pad_reflect(int i, int n)\n"
	"{ return n == 1 ? 0 : i < 0 ? -i : i < n ? i : 2 * (n - 1) - i; }\n"
	"/* Where a result of a resize lies between the n elements of an axis. */\n"
	"template<typename P> __device__ __forceinline__ P resize_at(int i, P factor, P offset, int n)\n"
	"{\n\tconst P x = i * factor + offset;\n\treturn x < 0 ? 0 : x > n - 1 ? n - 1 : x;\n}\n";

static void line(PmText *t, const char *a, int64_t x, const char *b)
{
	pm_text_add(t, a);
	pm_text_int(t, x);
	pm_text_add(t, b);
}

static void parameters(Ctx *c, PmText *t)
{
	int i, n = 0;

	for (i = 0; i < c->n_arg_in; i++) {
		if (!(c->uses.in >> i & 1))
			continue;
		pm_text_add(t, n++ ? ", const " : "const ");
		pm_text_add(t, f_ctype(c->g->op[c->arg_in[i]].dtype));
		line(t, " *__restrict__ p", i, "");
	}
	for (i = 0; i < c->n_arg_out; i++) {
		if (!(c->uses.out >> i & 1))
			continue;
		pm_text_add(t, n++ ? ", " : "");
		pm_text_add(t, f_ctype(c->g->op[c->arg_out[i]].dtype));
		line(t, " *__restrict__ q", i, "");
	}
	if (c->uses.tiles)
		pm_text_add(t, n++ ? ", float *__restrict__ tiles" : "float *__restrict__ tiles");
	if (c->uses.parts)
		pm_text_add(t, n++ ? ", double *__restrict__ parts" : "double *__restrict__ parts");
}

/* "(p0, p1, q0);" */
static void arguments(Ctx *c, PmText *t)
{
	int i, n = 0;

	for (i = 0; i < c->n_arg_in; i++)
		if (c->uses.in >> i & 1)
			line(t, n++ ? ", p" : "(p", i, "");
	for (i = 0; i < c->n_arg_out; i++)
		if (c->uses.out >> i & 1)
			line(t, n++ ? ", q" : "(q", i, "");
	if (c->uses.tiles)
		pm_text_add(t, n++ ? ", tiles" : "(tiles");
	if (c->uses.parts)
		pm_text_add(t, n++ ? ", parts" : "(parts");
	pm_text_add(t, ");\n");
}

static int has_vectors(const Ctx *c)
{
	return ((c->vec_in & c->uses.in) | (c->vec_out & c->uses.out)) != 0;
}

/* The body is there twice, for pointers that are aligned and for any others, so that no load stands in a
 * branch of its own. The second is no part of the entry: its text would lie in front of what runs, and the
 * first instructions of a kernel are waited for. */
static void unaligned(Ctx *c, PmText *t)
{
	if (!has_vectors(c))
		return;
	line(t, "static __device__ __noinline__ void unaligned", c->stage, "(");
	parameters(c, t);
	line(t, ")\n{\nbody", c->stage, "<0>");
	arguments(c, t);
	pm_text_add(t, "}\n");
}

static void choose_body(Ctx *c, PmText *t)
{
	uint64_t in = c->vec_in & c->uses.in, out = c->vec_out & c->uses.out;
	int i;

	if (!has_vectors(c)) {
		line(t, "body", c->stage, "<0>");
		arguments(c, t);
		return;
	}
	pm_text_add(t, "if (__builtin_expect((0");
	for (i = 0; i < F_ARGS; i++)
		if (in >> i & 1)
			line(t, " | (Un)p", i, "");
	for (i = 0; i < F_ARGS; i++)
		if (out >> i & 1)
			line(t, " | (Un)q", i, "");
	line(t, ") % 16 == 0, 1)) {\nbody", c->stage, "<1>");
	arguments(c, t);
	line(t, "return;\n}\nunaligned", c->stage, "");
	arguments(c, t);
}

/* Which row and which place in it a thread has. */
static void row_head(const Section *s, PmText *t)
{
	if (s->split) {
		line(t, "const int row_block = block / ", s->split, "");
		line(t, ", slice = block % ", s->split, ";\n(void)slice;\n");
	} else {
		pm_text_add(t, "const int row_block = block;\n");
	}
	if (s->group > 32 && !s->column) {
		pm_text_add(t, "const int r = row_block, lane = threadIdx.x;\nconst bool live = true;\n");
	} else if (s->column) {
		line(t, "const int lane = threadIdx.x / ", s->per_block, "");
		line(t, ", r0 = row_block * ", s->per_block, "");
		line(t, " + threadIdx.x % ", s->per_block, ";\n");
	} else {
		line(t, "const int lane = threadIdx.x % ", s->group, "");
		line(t, ", r0 = row_block * ", s->per_block, "");
		line(t, " + threadIdx.x / ", s->group, ";\n");
	}
	if (s->group <= 32 || s->column) {
		line(t, "const bool live = r0 < ", f_groups(s), ";\n");
		line(t, "const int r = live ? r0 : ", f_groups(s) - 1, ";\n");
	}
	pm_text_add(t, "(void)lane; (void)live; (void)r;\n");
}

/* The early loads in front of loops, in loops of their own. */
static void early_loops(const Gen *g)
{
	int k;

	for (k = 0; k < F_LOOPS; k++) {
		if (!g->n->early[k].first)
			continue;
		g_loops(g, k, &g->n->early[k]);
	}
}

static void section_text(Ctx *c, Section *s, int first, PmText *t)
{
	Gen g = { .n = &c->b.nest, .t = t };

	c->keep = s->rows && s->keep;
	if (!f_build(c, s))
		return;
	c->kept_words = c->keep ? f_kept_words(s, s->group) : 0;
	f_finish(c);
	if (c->fail)
		return;
	nest_uses(&c->b.nest, &c->uses);
	if (c->report) {
		line(c->report, "section ", s - c->section, "");
		line(c->report, " launch ", c->stage + c->apart, "\n");
		nest_print(&c->b.nest, c->report);
	}
	line(t, "if (blockIdx.x < ", first + s->blocks, ") {\n");
	line(t, "const int block = blockIdx.x - ", first, ";\n");
	if (s->dot) {
		f_product_text(c, s, t);
	} else if (s->rows) {
		row_head(s, t);
		/* Results of rows are one block's. */
		if (s->split && c->stage == s->n_stages && !f_along(c))
			pm_text_add(t, "if (slice != 0)\nreturn;\n");
		g_block(&g, &c->b.nest.decl);
		g_block(&g, &c->b.nest.early[EARLY_ROW]);
		early_loops(&g);
		pm_text_add(t, c->uses.held_bytes ? "held_now();\n" : "");
		g_block(&g, &c->b.nest.rows);
	} else {
		line(t, "const int m = block * ", s->block, " + threadIdx.x;\n");
		g_block(&g, &c->b.nest.early[EARLY_ROW]);
		g_block(&g, &c->b.nest.rows);
		line(t, "if (m < ", s->extent / s->vec, ") {\n");
		g_block(&g, &c->b.nest.early[0]);
		g_block(&g, &c->b.nest.body);
		pm_text_add(t, "}\n");
	}
	pm_text_add(t, "return;\n}\n");
}

/* Floats of the largest tile; 0 when there is no product. */
static int shared_floats(const Ctx *c)
{
	int most = 0, i;

	for (i = 0; i < c->n_sections; i++) {
		int n = c->section[i].dot ? f_tile_shared(&c->section[i].tile) : 0;

		most = n > most ? n : most;
	}
	return most;
}

/* "template<int A> __device__ __forceinline__ void body0(...) {": what an entry calls. */
static void body(Ctx *c, PmText *t)
{
	line(t, "template<int A> __device__ __forceinline__ void body", c->stage, "(");
	parameters(c, t);
	pm_text_add(t, ")\n{\n");
}

/* `extern "C" __global__ void __launch_bounds__(256, 2) fused0(...) {`: threads, and blocks that are to fit.
 */
static void entry(Ctx *c, PmText *t, int block, int fit, int number)
{
	line(t, "extern \"C\" __global__ void __launch_bounds__(", block, "");
	line(t, ", ", fit, ") ");
	line(t, "fused", number, "(");
	parameters(c, t);
	pm_text_add(t, ")\n{\n");
}

/* The sections of a launch go to c->sections: what they use is known behind them. */
static void begin_launch(Ctx *c)
{
	c->uses = (Uses){ 0 };
	c->vec_in = c->vec_out = 0;
	c->sections.n = 0;
}

/* A kernel of one launch is given all that there is. */
static void end_launch(Ctx *c, int number, PmText *t)
{
	if (f_stages(c) + c->apart == 1)
		c->uses.in = c->uses.out = ~0ull;
	c->used[number] = c->uses;
	c->sections.s[c->sections.n] = 0; /* the launch before may have had more */
	t->full |= c->sections.full;
}

static void front_launch(Ctx *c, PmText *t)
{
	begin_launch(c);
	f_front_text(c, &c->sections);
	nest_uses(&c->b.nest, &c->uses);
	c->uses.tiles = 1;
	end_launch(c, 0, t);
	entry(c, t, c->front.block, c->front.block > 128 ? 2 : 3, 0);
	pm_text_add(t, c->sections.s);
	pm_text_add(t, "}\n");
}

/* The launch of c->stage, which may share `shared` floats with a product in it. */
static void stage_launch(Ctx *c, PmText *t, int block, int shared, int64_t *blocks)
{
	int i, number = c->stage + c->apart;

	*blocks = 0;
	begin_launch(c);
	for (i = 0; i < c->n_sections && !c->fail; i++) {
		section_text(c, &c->section[i], (int)*blocks, &c->sections);
		*blocks += c->section[i].blocks;
	}
	end_launch(c, number, t);
	if (shared) {
		entry(c, t, block, 1, number);
		line(t, "enum { A = 2 };\n__shared__ __align__(16) float part[", shared, "];\n");
	} else {
		body(c, t);
	}
	pm_text_add(t, c->sections.s);
	pm_text_add(t, "}\n");
	if (shared)
		return;
	unaligned(c, t);
	entry(c, t, block, f_fit(c), number);
	choose_body(c, t);
	pm_text_add(t, "}\n");
}

int f_source(Ctx *c, PmText *t, int block, int64_t *blocks)
{
	int shared = shared_floats(c);

	if (!c->sections.s)
		c->sections = pm_text(F_TEXT);
	if (!c->sections.s)
		return f_fail(c, "there is no memory") && 0;
	c->sections.full = 0;
	pm_text_add(t, HEAD);
	pm_text_add(t, round_cu);
	pm_text_add(t, DIVIDE);
	pm_text_add(t, SHARE);
	pm_text_add(t, INTS);
	if (f_stages(c) > 1)
		pm_text_add(t, SLICES);
	if (c->section[0].hold)
		pm_text_add(t, held_cu);
	if (shared || c->apart)
		pm_text_add(t, f_product_source());
	if (c->apart) {
		f_front_source(c, t);
		front_launch(c, t);
	}
	for (c->stage = 0; c->stage < f_stages(c); c->stage++)
		stage_launch(c, t, block, shared, blocks);
	return !c->fail && !t->full;
}
