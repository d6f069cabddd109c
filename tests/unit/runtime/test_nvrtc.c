/* SPDX-License-Identifier: Apache-2.0 */
/* test_nvrtc.c - what Passmith would launch on a GPU compiles for one: every eager kernel, the kernels of
 * every first-party pass and the device's own, to machine code for two architectures. No GPU is needed. */
#include "base/core/hash.h"
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "base/sys/proc.h"
#include "integrity/cubin/cubin_gate.h"
#include "integrity/ptx/ptx_gate.h"
#include "ir/core/kernel.h"
#include "kernels/clock.cu.h"
#include "kernels/guard.cu.h"
#include "kernels/product.cu.h"
#include "kernels/redraw.cu.h"
#include "runtime/cuda/library/lib_algo.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/exec/exec.h"
#include "tests/lib/device/eager_bench.h"
#include "tests/lib/device/eager_shapes.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/pass_case.h"
#include "tests/lib/passes/pass_models.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int archs[] = { 80, 90 };
enum { N_ARCHS = sizeof archs / sizeof archs[0], MAX_SOURCES = 4096, BATCH = 16, MAX_KERNELS = 64 };

static void need_nvrtc(void)
{
	PmStr version = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (pm_nvrtc_version(&version, &err))
		pm_test_skip("%s", err.text);
	pm_str_release(&version);
}

/* --- sets of different sources --- */

typedef struct Launched {
	size_t source;
	char entry[64];
	uint32_t threads; /* of a block */
} Launched;

typedef struct Set {
	PmSource s[MAX_SOURCES];
	uint64_t hash[MAX_SOURCES];
	size_t n;
	PM_VEC(Launched) launched;
} Set;

static Set *new_set(void)
{
	return pm_xcalloc(1, sizeof(Set));
}

/* The place of the source in the set. */
static size_t keep(Set *set, const char *label, const char *source, PmDType type)
{
	uint64_t h = pm_hash64(source, strlen(source), PM_HASH_SEED + (uint64_t)type);
	size_t i;

	for (i = 0; i < set->n; i++)
		if (set->hash[i] == h)
			return i;
	assert_true(set->n < MAX_SOURCES);
	set->hash[set->n] = h;
	set->s[set->n++] = (PmSource){ pm_xstrdup(label), pm_xstrdup(source), type };
	return i;
}

static void keep_launches(Set *set, const PmKAlt *a, size_t source)
{
	for (int i = 0; i < a->n_launches; i++) {
		const PmKLaunch *k = &a->launches[i];
		Launched l = { .source = source, .threads = k->block[0] * k->block[1] * k->block[2] };

		snprintf(l.entry, sizeof l.entry, "%s", k->entry);
		PM_VEC_PUSH(&set->launched, l);
	}
}

static void free_set(Set *set)
{
	size_t i;

	for (i = 0; i < set->n; i++) {
		free((void *)(uintptr_t)set->s[i].label);
		free((void *)(uintptr_t)set->s[i].source);
	}
	PM_VEC_RELEASE(&set->launched);
	free(set);
}

/* A block's registers have to be there at once: a warp's are given out in pieces of 256. */
static void fits(const char *label, const PmCubinKernel *k, uint32_t threads)
{
	enum { FILE_OF_REGISTERS = 65536 };
	uint32_t warps = (threads + 31) / 32, each = (k->registers + 7) / 8 * 8;

	if (warps * 32 * each > FILE_OF_REGISTERS)
		fail_msg("%s: kernel '%s' takes %u registers, so that a block of %u threads cannot be "
			 "launched",
			 label, k->name, k->registers, threads);
}

/* Every kernel at the size that it states, and at each that it is launched with. */
static void fit_all(const Set *set, size_t source, const PmCubinKernel *k, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_true(k[i].registers > 0);
		fits(set->s[source].label, &k[i], k[i].max_threads);
		for (size_t j = 0; j < set->launched.n; j++) {
			const Launched *l = &set->launched.v[j];

			if (l->source == source && !strcmp(l->entry, k[i].name))
				fits(set->s[source].label, &k[i], l->threads);
		}
	}
}

/* `ours`: of the device itself, which may look at clocks; all others must pass the gate for candidates. */
static size_t compile_one(const Set *set, size_t source, int cc, int ours, int *failed)
{
	static PmCubinKernel kernel[MAX_KERNELS];
	const PmSource *s = &set->s[source];
	size_t n_kernels = 0;
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT, problems = PM_STR_INIT;
	char target[32];
	size_t bytes;
	PmErr err;

	pm_err_init(&err);
	snprintf(target, sizeof target, ".target sm_%d", cc);
	if (pm_nvrtc_compile(s, cc, &ptx, &cubin, &err)) {
		if (!failed)
			fail_msg("sm_%d %s: %s", cc, pm_dtype_name(s->type), err.text);
		*failed = 1;
		return 0;
	}
	assert_non_null(strstr(ptx.s, target));
	assert_non_null(strstr(ptx.s, ".entry"));
	assert_true(cubin.len > 64 && memcmp(cubin.s, "\177ELF", 4) == 0);
	if (!ours && pm_ptx_gate(ptx.s, ptx.len, NULL, 0, &problems))
		fail_msg("sm_%d %s: our own kernel '%s' is refused: %s", cc, pm_dtype_name(s->type), s->label,
			 problems.s);
	if (pm_cubin_gate(cubin.s, cubin.len, NULL, 0, kernel, MAX_KERNELS, &n_kernels, &problems) && !ours)
		fail_msg("sm_%d %s: our own kernel '%s' is refused: %s", cc, pm_dtype_name(s->type), s->label,
			 problems.s);
	assert_in_range(n_kernels, 1, MAX_KERNELS);
	fit_all(set, source, kernel, n_kernels);
	pm_str_release(&problems);
	bytes = cubin.len;
	pm_str_release(&ptx);
	pm_str_release(&cubin);
	return bytes;
}

static void compile_all(const Set *set, const char *what, int ours)
{
	double t0 = pm_now();
	size_t a, i, bytes = 0;

	for (a = 0; a < N_ARCHS; a++) {
		pm_nvrtc_ahead(set->s, set->n, archs[a], pm_cpu_count());
		for (i = 0; i < set->n; i++)
			bytes += compile_one(set, i, archs[a], ours, NULL);
	}
	print_message("# %zu %s x 2 architectures in %.1f s, %zu bytes\n", set->n, what, pm_now() - t0,
		      bytes);
}

/* --- many kernels as one source, because most of the time goes into CUDA's headers --- */

/* Adds source number i in a namespace, its entry and its macros kept from the others. */
static void add_member(PmStr *text, const PmSource *s, size_t i)
{
	const char *p;

	pm_str_addf(text, "namespace n%zu {\n#define k k%zu\n%s\n#undef k\n", i, i, s->source);
	for (p = strstr(s->source, "#define "); p; p = strstr(p, "#define ")) {
		p += strlen("#define ");
		pm_str_addf(text, "#undef %.*s\n", (int)strcspn(p, " \t(\n"), p);
	}
	pm_str_add(text, "}\n");
}

/* Sources of up to BATCH members, all of one element type. */
static Set *make_batches(const Set *set)
{
	Set *out = new_set();
	int type;
	size_t i;

	for (type = 0; type < PM_N_DTYPES; type++) {
		PmStr text = PM_STR_INIT;
		char label[64];
		int n = 0;

		for (i = 0; i < set->n; i++) {
			if ((int)set->s[i].type != type)
				continue;
			add_member(&text, &set->s[i], i);
			if (++n % BATCH == 0) {
				snprintf(label, sizeof label, "%d kernels", n);
				keep(out, label, text.s, (PmDType)type);
				pm_str_clear(&text);
			}
		}
		if (text.len)
			keep(out, "last kernels", text.s, (PmDType)type);
		pm_str_release(&text);
	}
	return out;
}

/* When a batch does not compile, each kernel is compiled by itself, so that the one to blame is named. */
static void compile_batches(const Set *set, const char *what)
{
	Set *batches = make_batches(set);
	double t0 = pm_now();
	size_t a, i, bytes = 0;
	int failed = 0;

	for (a = 0; a < N_ARCHS; a++) {
		pm_nvrtc_ahead(batches->s, batches->n, archs[a], pm_cpu_count());
		for (i = 0; i < batches->n; i++)
			bytes += compile_one(batches, i, archs[a], 0, &failed);
	}
	print_message("# %zu %s in %zu batches x 2 architectures in %.1f s, %zu bytes%s\n", set->n, what,
		      batches->n, pm_now() - t0, bytes, failed ? "; a batch failed" : "");
	free_set(batches);
	if (failed)
		compile_all(set, what, 0);
}

/* --- eager kernels --- */

/* The kernels of a graph, and which operators have one. */
static void plan_graph(Set *set, const PmGraph *g, int *launched)
{
	const PmSource *s;
	PmPlan *p = NULL;
	size_t i, n;
	PmErr err;

	pm_err_init(&err);
	if (pm_plan_new(g, NULL, 0, &p, &err))
		fail_msg("%s", err.text);
	n = pm_plan_sources(p, &s);
	for (i = 0; i < n; i++) {
		PmOp op;

		keep(set, s[i].label, s[i].source, s[i].type);
		for (op = PM_OP_NONE + 1; op < PM_N_OPS; op++) {
			const char *name = pm_op_desc(op)->name;
			size_t len = strlen(name);

			if (strncmp(s[i].label, "eager ", 6) == 0 &&
			    strncmp(s[i].label + 6, name, len) == 0 &&
			    (s[i].label[6 + len] == ' ' || s[i].label[6 + len] == '\0'))
				launched[op] = 1;
		}
	}
	pm_plan_free(p);
}

static void plan_bench(Set *set, EagerBench *b, int *launched)
{
	plan_graph(set, b->g, launched);
	eager_free(b);
}

static void plan_shapes(Set *set, int dtype, int *launched)
{
	for (size_t i = 0; i < eager_shapes_count(); i++) {
		PmGraph *g = eager_shapes_graph(i, dtype);

		if (!g)
			continue;
		plan_graph(set, g, launched);
		pm_graph_free(g);
	}
}

static void add_large(EagerBench *b, int dtype)
{
	/* Over 2^31 elements: these count in 64 bits. */
	eager_add(b, dtype, "Add", "#[70000,70000] #[70000]", "", 1);
	eager_add(b, dtype, "ReduceSum", "#[70000,70000]", "axes=[1]", 1);
	eager_add(b, dtype, "Softmax", "#[70000,70000]", "axis=1", 1);
	eager_add(b, dtype, "Gather", "#[70000,70000] int64{1,0}", "axis=0", 1);
	eager_add(b, dtype, "MatMul", "#[70000,64] #[64,70000]", "", 1);
	eager_add(b, dtype, "Pad", "#[70000,70000]", "pads=[1,0,0,1] mode='constant'", 1);
	eager_add(b, dtype, "LayerNormalization", "#[70000,70000] #[70000] #[70000]", "axis=1", 1);
}

static void eager_kernels_compile(void **state)
{
	static const int floats[] = { PM_F32, PM_F16, PM_BF16 };
	int launched[PM_N_OPS] = { 0 };
	Set *set = new_set();
	EagerBench *b;
	size_t i;
	PmOp op;

	(void)state;
	need_nvrtc();
	for (i = 0; i < 3; i++) {
		b = eager_open();
		eager_add_rows(b, floats[i]);
		plan_bench(set, b, launched);
		b = eager_open();
		eager_add_numbers(b, floats[i]);
		eager_add_floats(b, floats[i]);
		eager_add_moves(b, floats[i]);
		eager_add_infinity(b, floats[i]);
		add_large(b, floats[i]);
		plan_bench(set, b, launched);
		plan_shapes(set, floats[i], launched);
	}
	b = eager_open();
	eager_add_rows(b, PM_BOOL);
	eager_add_rows(b, PM_I64);
	eager_add_casts(b);
	eager_add_powers(b);
	plan_bench(set, b, launched);
	for (op = PM_OP_NONE + 1; op < PM_N_OPS; op++)
		if (pm_op_desc(op)->flags & PM_OPF_EW && !launched[op])
			fail_msg("no kernel of %s was compiled", pm_op_desc(op)->name);
	compile_batches(set, "eager kernels");
	free_set(set);
}

/* --- passes --- */

typedef struct Found {
	Set *set;
	int times[PASS_MODELS_MAX][PM_N_DTYPES];
} Found;

static void take_kernels(void *arg, int pass, const char *model, int dtype, const PmGraph *g,
			 const PmGraph *fused)
{
	PmArena *arena = pm_arena_new(0);
	Found *f = arg;
	size_t i;
	int k;

	(void)g;
	for (i = 0; i < pm_graph_n_nodes(fused); i++) {
		PmNode n = pm_graph_node_at(fused, i);
		PmKernelDesc d;
		PmErr err;

		pm_err_init(&err);
		if (pm_node_op(fused, n) != PM_OP_Kernel)
			continue;
		if (pm_kernel_decode(fused, n, arena, &d, &err))
			fail_msg("%s: %s", model, err.text);
		for (k = 0; k < d.n_alts; k++)
			keep_launches(f->set, &d.alts[k],
				      keep(f->set, d.name, d.alts[k].source, d.alts[k].type));
		f->times[pass][dtype]++;
	}
	pm_arena_free(arena);
}

/* Graphs of which each type makes kernels that were once refused, or that no model has. */
static const struct Written {
	const char *what, *pass, *text;
	PassDims dims;
} written[] = {
	/* Blocks grow with rows: the longest that this kernel takes. In float it once had 71 registers there,
	 * of the 64 that a block of 1,024 threads leaves. */
	{ "long rows",
	  "layer_scale_add_layer_norm",
	  "g ($T[1,2,$a] x, $T[1,2,$a] r, $T[$a] k, $T[$a] w, $T[$a] v) => ($T[1,2,$a] y) { "
	  "m = Mul(x, k) s = Add(r, m) y = LayerNormalization<axis = 2>(s, w, v) }",
	  { { 16384 } } },
	/* Maxima and sums in turns down few long columns, which many threads share: each kind twice, in
	 * another place, took more shared memory than a block has. */
	{ "long columns",
	  "fuse",
	  "g ($T[$a,4096] x, $T[$a,4096] z) => ($T[$a,4096] y) { a = Softmax<axis = 0>(x) b = Mul(a, z) "
	  "s = ReduceSum<axes = [0], keepdims = 1>(b) c = Div(b, s) d = Add(c, z) y = Softmax<axis = 0>(d) }",
	  { { 1024 } } },
	/* Updates looked for, those that add and those that replace, for lanes alike and each by itself, and
	 * at places that are known. */
	{ "scatters",
	  "fuse",
	  "g ($T[40,$a] x, int64[9,$a] i, int64[50,1] k, $T[9,$a] u, $T[50,$a] v, $T[4,$a] w) => ($T[40,$a] "
	  "y) "
	  "<int64[4,1] at = {1, 8, 15, 22}> { "
	  "a = Relu(u) b = ScatterElements<axis = 0, reduction = \"add\">(x, i, a) "
	  "c = ScatterElements<axis = 0>(b, i, u) d = ScatterND(c, k, v) e = Relu(w) y = ScatterND(d, at, e) "
	  "}",
	  { { 256 } } },
};

static void take_written(Set *set)
{
	static const char *const types[] = { "float", "float16", "bfloat16" };
	Found f = { .set = set };

	for (size_t k = 0; k < sizeof written / sizeof *written; k++)
		for (size_t i = 0; i < 3; i++) {
			PmGraph *g = pass_fused(written[k].pass, written[k].text, types[i], written[k].dims);

			take_kernels(&f, 0, written[k].what, PM_F32, NULL, g);
			pm_graph_free(g);
			assert_int_equal(f.times[0][PM_F32], 3 * k + i + 1);
		}
}

static void kernels_of_passes_compile(void **state)
{
	Found f = { .set = new_set() };
	size_t i, n;

	(void)state;
	need_nvrtc();
	n = pass_models(take_kernels, &f);
	for (i = 0; i < n; i++)
		if (!f.times[i][PM_F32] || !f.times[i][PM_F16] || !f.times[i][PM_BF16])
			fail_msg("%s makes %d float, %d float16 and %d bfloat16 kernels", pass_models_name(i),
				 f.times[i][PM_F32], f.times[i][PM_F16], f.times[i][PM_BF16]);
	take_written(f.set);
	compile_all(f.set, "kernels of passes", 0);
	free_set(f.set);
}

static void kernels_of_the_device_compile(void **state)
{
	Set *set = new_set();

	(void)state;
	need_nvrtc();
	keep(set, "guard.cu", guard_cu, PM_F32);
	keep(set, "clock.cu", clock_cu, PM_F32);
	keep(set, "redraw.cu", redraw_cu, PM_F32);
	keep(set, "product.cu", product_cu, PM_F64);
	keep(set, "lib_algo.cu", pm_algo_source(), PM_BF16);
	keep(set, "lib_algo.cu", pm_algo_source(), PM_F64);
	compile_all(set, "kernels of the device", 1);
	free_set(set);
}

/* --- the compiler itself --- */

static const char doubling[] =
	"extern \"C\" __global__ void k(const T *x, T *y)\n{\n\ty[0] = st(2 * ld(x[0]));\n}\n";

/* Runs with an empty cache of its own. */
static void with_cache(char *dir, size_t n)
{
	PmStr path = PM_STR_INIT;

	assert_int_equal(pm_temp_dir("nvrtc", &path, NULL), PM_OK);
	snprintf(dir, n, "%s", path.s);
	pm_str_release(&path);
	setenv("PASSMITH_CACHE", dir, 1);
}

static void get(const PmSource *s, int cc, PmStr *ptx, PmStr *cubin)
{
	PmErr err;

	pm_err_init(&err);
	pm_str_clear(ptx);
	pm_str_clear(cubin);
	if (pm_nvrtc_compile(s, cc, ptx, cubin, &err))
		fail_msg("%s", err.text);
}

static void results_are_kept_by_content(void **state)
{
	PmSource s = { "doubling", doubling, PM_F16 };
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT, ptx2 = PM_STR_INIT, cubin2 = PM_STR_INIT,
	      dir = PM_STR_INIT, file = PM_STR_INIT;
	const char *old = getenv("PASSMITH_CACHE");
	char *saved = old ? pm_xstrdup(old) : NULL, cache[512];
	PmNames names = { 0 };
	size_t i;

	(void)state;
	need_nvrtc();
	with_cache(cache, sizeof cache);
	get(&s, 90, &ptx, &cubin);
	pm_str_addf(&dir, "%s/nvrtc", cache);
	assert_int_equal(pm_list_dir(dir.s, &names, NULL), PM_OK);
	assert_int_equal(names.n, 2);
	for (i = 0; i < 2; i++)
		if (pm_str_ends(names.v[i], ".ptx"))
			pm_path_join(dir.s, names.v[i], &file);
	/* What is there is taken as it is; what is damaged is made again. */
	assert_int_equal(pm_write_file(file.s, "kept", 4, NULL), PM_OK);
	get(&s, 90, &ptx2, &cubin2);
	assert_string_equal(ptx2.s, "kept");
	assert_int_equal(cubin2.len, cubin.len);
	assert_memory_equal(cubin2.s, cubin.s, cubin.len);
	assert_int_equal(pm_write_file(file.s, "", 0, NULL), PM_OK);
	get(&s, 90, &ptx2, &cubin2);
	assert_string_equal(ptx2.s, ptx.s);
	pm_names_release(&names);
	/* Another type, architecture or source is another entry. */
	s.type = PM_F32;
	get(&s, 90, &ptx2, &cubin2);
	get(&s, 80, &ptx2, &cubin2);
	assert_non_null(strstr(ptx2.s, ".target sm_80"));
	assert_int_equal(pm_list_dir(dir.s, &names, NULL), PM_OK);
	assert_int_equal(names.n, 6);
	pm_names_release(&names);
	assert_int_equal(pm_remove_tree(cache, NULL), PM_OK);
	if (saved)
		setenv("PASSMITH_CACHE", saved, 1);
	else
		unsetenv("PASSMITH_CACHE");
	free(saved);
	pm_str_release(&ptx);
	pm_str_release(&cubin);
	pm_str_release(&ptx2);
	pm_str_release(&cubin2);
	pm_str_release(&dir);
	pm_str_release(&file);
}

static void devices_out_of_range_are_handled(void **state)
{
	PmSource s = { "doubling", doubling, PM_F32 };
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
	PmErr err;

	(void)state;
	need_nvrtc();
	/* A later device of a known generation runs the code of an earlier one; an unknown one gets PTX. */
	get(&s, 89, &ptx, &cubin);
	assert_true(cubin.len > 0);
	get(&s, 990, &ptx, &cubin);
	assert_int_equal(cubin.len, 0);
	assert_non_null(strstr(ptx.s, ".entry k("));
	pm_err_init(&err);
	assert_int_equal(pm_nvrtc_compile(&s, 20, &ptx, &cubin, &err), PM_E_ENV);
	assert_non_null(strstr(err.text, "this device has 2.0"));
	pm_str_release(&ptx);
	pm_str_release(&cubin);
}

static void errors_name_kernel_and_line(void **state)
{
	PmSource s = { "author", "extern \"C\" __global__ void k(T *y)\n{\n\ty[0] = nothing;\n}\n", PM_F16 };
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
	PmErr err;

	(void)state;
	need_nvrtc();
	pm_err_init(&err);
	assert_int_equal(pm_nvrtc_compile(&s, 90, &ptx, &cubin, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "Kernel 'author' does not compile: line 3: "));
	assert_int_equal(ptx.len + cubin.len, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_the_device_compile),
		cmocka_unit_test(results_are_kept_by_content),
		cmocka_unit_test(devices_out_of_range_are_handled),
		cmocka_unit_test(errors_name_kernel_and_line),
		cmocka_unit_test(kernels_of_passes_compile),
		cmocka_unit_test(eager_kernels_compile),
	};

	return cmocka_run_group_tests_name("nvrtc", tests, NULL, NULL);
}
