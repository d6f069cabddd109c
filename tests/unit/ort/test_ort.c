/* SPDX-License-Identifier: Apache-2.0 */
/* test_ort.c - libpassmith_ort in a host with ONNX Runtime's interface: kernels on the CPU give the bits of
 * the device emu, by any number of threads; what does not fit is a status with a sentence.
 */
#include "app/apply/ort_kernels.h"
#include "base/core/rng.h"
#include "base/sys/io.h"
#include "ir/core/kernel.h"
#include "ir/core/onnx_dtype.h"
#include "ir/onnx/onnx.h"
#include "matcher/host/pass_host.h"
#include "runtime/device/tensor.h"
#include "runtime/worker/run.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/ort/ort_host.h"
#include "tests/lib/passes/pass_models.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 1000, THREADS = 8, ROUNDS = 25, NEWEST = 18 };

static const OrtHostPlace cpu = { .provider = "CPUExecutionProvider" };
static char folder[64], file[80], library[512];
static PmErr err;

static void must(PmStatus st)
{
	if (st)
		fail_msg("%s: %s", pm_status_name(st), err.text);
}

static int prepare(void **state)
{
	const char *build = getenv("PASSMITH_BUILD");

	(void)state;
	snprintf(library, sizeof library, "%s/libpassmith_ort.so", build && *build ? build : "build");
	if (library[0] != '/') {
		char cwd[400];

		assert_non_null(getcwd(cwd, sizeof cwd));
		snprintf(library, sizeof library, "%s/%s/libpassmith_ort.so", cwd,
			 build && *build ? build : "build");
	}
	snprintf(folder, sizeof folder, "/tmp/test_ort.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof file, "%s/kernels", folder);
	unsetenv("PASSMITH_ORT_KERNELS");
	return 0;
}

static int clean(void **state)
{
	(void)state;
	unlink(file);
	rmdir(folder);
	return 0;
}

/* --- a graph with one kernel that has everything ---------------------------------------------------------
 */

static const char source[] =
	"extern \"C\" __global__ void part(const T *x, const long long *by, double *s, int k, float f, "
	"double g,\n"
	"                                 long long n)\n"
	"{\n"
	"	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
	"	if (i < n)\n"
	"		s[i] = (double)(ld(x[i]) * f) + g * (double)by[i % 4] + k;\n"
	"}\n"
	"extern \"C\" __global__ void rest(const double *s, T *y, bool *z, long long n, int ends)\n"
	"{\n"
	"	__shared__ double line[128];\n"
	"	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
	"	line[threadIdx.x] = i < n ? s[i] : 0;\n"
	"	__syncthreads();\n"
	"	if (ends)\n"
	"		__trap();\n"
	"	if (i < n) {\n"
	"		y[i] = st((float)(line[threadIdx.x] + line[threadIdx.x ^ 1]));\n"
	"		z[i] = line[threadIdx.x] > 0;\n"
	"	}\n"
	"}\n";

static const char body[] = "b (float[1000] x, int64[4] by) => (float[1000] y, bool[1000] z)\n"
			   "{ y = Add(x, x)\n z = Greater(x, y) }";

/* A graph of that kernel alone; `ends`: it traps. */
static PmGraph *one_kernel(int ends)
{
	PmGraph *inner = pm_test_graph(body), *g = pm_graph_new(0);
	PmArena *arena = pm_arena_new(0);
	PmKernelDesc d = { .name = "two_steps", .n_alts = 1, .body = inner };
	PmKLaunch launches[2];
	PmValue in[2];
	PmNode n;
	char line[128];

	must(pm_klaunch_parse("part grid=8,1,1 block=128,1,1 smem=0 "
			      "args=i0,i1,s0,i32:-3,f32:0x1.8p-3,f64:0x1.3333p+0,i64:1000",
			      arena, &launches[0], &err));
	snprintf(line, sizeof line, "rest grid=8,1,1 block=128,1,1 smem=0 args=s0,o0,o1,i64:1000,i32:%d",
		 ends);
	must(pm_klaunch_parse(line, arena, &launches[1], &err));
	d.alts[0] = (PmKAlt){ .source = source,
			      .type = PM_F32,
			      .n_scratch = 1,
			      .scratch = (int64_t[]){ N * 8 },
			      .n_launches = 2,
			      .launches = launches };
	for (size_t i = 0; i < 2; i++)
		must(pm_graph_add_input(g, i ? "by" : "x", pm_value_type(inner, pm_graph_input(inner, i)),
					&in[i], &err));
	must(pm_kernel_add(g, &d, in, 2, &n, &err));
	for (size_t i = 0; i < 2; i++)
		must(pm_graph_add_output(g, pm_node_out(g, n, i), &err));
	pm_graph_free(inner);
	pm_arena_free(arena);
	return g;
}

static void write_kernels(const PmGraph *g)
{
	const PmOrtArchs archs = { .emu = 1, .jobs = 2 };
	PmOrtWritten w;

	must(pm_ort_kernels_make(g, &archs, file, &w, &err));
}

/* --- tensors ---------------------------------------------------------------------------------------------
 */

static OrtHostTensor tensor_of(const PmType *t, void *data)
{
	OrtHostTensor out = { .type = pm_dtype_to_onnx(t->dtype), .rank = (size_t)t->rank, .data = data };

	memcpy(out.dim, t->dim, sizeof out.dim);
	return out;
}

static void draw(PmTensor *t, uint64_t seed)
{
	PmRng r;

	pm_rng_init(&r, seed);
	for (int64_t i = 0; i < pm_tensor_numel(t); i++)
		pm_tensor_set(t, i,
			      pm_dtype_is_float(t->type.dtype) ? 2 * pm_rng_uniform(&r) - 1
							       : (double)(pm_rng_u64(&r) & 1));
}

/* The inputs of a graph, and what emu makes of them. */
typedef struct Case {
	PmTensor in[64];
	size_t n_in;
	PmRunResult want;
} Case;

static void make_case(const PmGraph *g, Case *c)
{
	const PmRunOpts opts = { .device = "emu" };

	c->n_in = pm_graph_n_inputs(g);
	for (size_t i = 0; i < c->n_in; i++) {
		must(pm_tensor_init(&c->in[i], pm_value_type(g, pm_graph_input(g, i)), &err));
		draw(&c->in[i], 77 + i);
	}
	must(pm_run_graph(g, c->in, c->n_in, &opts, &c->want, &err));
}

static void release_case(Case *c)
{
	for (size_t i = 0; i < c->n_in; i++)
		pm_tensor_release(&c->in[i]);
	pm_run_result_release(&c->want);
}

/* Calls the kernel of that name with the case's inputs, all tensors `off` bytes behind a good place. The
 * code; 0 also means that the bits are those of emu. */
static int run_case(OrtHost *h, const char *name, const Case *c, size_t off, char why[ORT_HOST_TEXT])
{
	OrtHostTensor in[64] = { { 0 } }, out[64] = { { 0 } };
	char *memory[128];
	size_t n = 0, n_out = c->want.n_out;
	int code;

	for (size_t i = 0; i < c->n_in + n_out; i++) {
		const PmTensor *t = i < c->n_in ? &c->in[i] : &c->want.out[i - c->n_in];
		OrtHostTensor *to = i < c->n_in ? &in[i] : &out[i - c->n_in];

		memory[n] = aligned_alloc(64, (t->bytes + off) / 64 * 64 + 64);
		assert_non_null(memory[n]);
		*to = tensor_of(&t->type, memory[n] + off);
		if (i < c->n_in && t->bytes)
			memcpy(to->data, t->data, t->bytes);
		else
			memset(to->data, 0x5a, t->bytes);
		n++;
	}
	code = ort_host_run(h, name, &cpu, in, c->n_in, out, n_out, why);
	for (size_t i = 0; i < n_out && !code; i++)
		if (c->want.out[i].bytes &&
		    memcmp(out[i].data, c->want.out[i].data, c->want.out[i].bytes) != 0) {
			snprintf(why, ORT_HOST_TEXT, "%s: result %zu differs from emu", name, i);
			code = -2;
		}
	while (n)
		free(memory[--n]);
	return code;
}

static OrtHost *open_host(const char *entry)
{
	char why[ORT_HOST_TEXT];
	OrtHost *h = ort_host_open(library, entry, NEWEST, why);

	if (!h)
		fail_msg("%s", why);
	return h;
}

static void says(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' does not say '%s'", text, words);
}

/* --- kernels ---------------------------------------------------------------------------------------------
 */

static void a_kernel_of_two_launches_with_scratch_gives_the_bits_of_emu(void **state)
{
	PmGraph *g = one_kernel(0);
	char why[ORT_HOST_TEXT], name[64];
	OrtHostTensor in[2], out[2];
	unsigned long long before;
	Case c = { .n_in = 0 };
	OrtHost *h;

	(void)state;
	write_kernels(g);
	make_case(g, &c);
	h = open_host(file);
	assert_int_equal(ort_host_n_ops(h), 1);
	assert_string_equal(ort_host_provider(h, 0), "CPUExecutionProvider");
	for (int i = 0; i < 2; i++) {
		in[i] = tensor_of(&c.in[i].type, NULL);
		out[i] = tensor_of(&c.want.out[i].type, NULL);
	}
	assert_true(ort_host_fits(h, 0, in, 2, out, 2));
	snprintf(name, sizeof name, "%s", ort_host_name(h, 0));
	assert_int_equal(strncmp(name, "Kernel_", 7), 0);
	before = ort_host_launches(h);
	if (run_case(h, name, &c, 0, why))
		fail_msg("%s", why);
	assert_int_equal(ort_host_launches(h) - before, 2);
	/* Where vectors cannot be read or written. */
	if (run_case(h, name, &c, 8, why))
		fail_msg("%s", why);
	ort_host_close(h);
	release_case(&c);
	pm_graph_free(g);
}

typedef struct Worker {
	pthread_t thread;
	OrtHost *host;
	const char *name;
	const Case *c;
	int code;
	char why[ORT_HOST_TEXT];
} Worker;

static void *work(void *arg)
{
	Worker *w = arg;

	for (int i = 0; i < ROUNDS && !w->code; i++)
		w->code = run_case(w->host, w->name, w->c, 0, w->why);
	return NULL;
}

static void eight_threads_run_one_session(void **state)
{
	PmGraph *g = one_kernel(0);
	Worker w[THREADS];
	Case c = { .n_in = 0 };
	OrtHost *h;

	(void)state;
	write_kernels(g);
	make_case(g, &c);
	h = open_host(file);
	for (int i = 0; i < THREADS; i++) {
		w[i] = (Worker){ .host = h, .name = ort_host_name(h, 0), .c = &c };
		assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(w[i].thread, NULL);
	for (int i = 0; i < THREADS; i++)
		if (w[i].code)
			fail_msg("%s", w[i].why);
	ort_host_close(h);
	release_case(&c);
	pm_graph_free(g);
}

/* --- kernels of models ------------------------------------------------------------------------------------
 */

typedef struct Models {
	size_t n_kernels, n_files;
	OrtHost *host;
	const char *model;
} Models;

/* The node alone, with its operands as inputs. */
static PmGraph *alone(const PmGraph *g, PmNode n)
{
	PmGraph *one = pm_graph_new(0);
	PmArena *arena = pm_arena_new(0);
	PmValue in[64];
	PmKernelDesc d;
	PmNode k;

	must(pm_kernel_decode(g, n, arena, &d, &err));
	for (size_t i = 0; i < pm_node_n_in(g, n); i++) {
		char name[32];

		snprintf(name, sizeof name, "i%zu", i);
		must(pm_graph_add_input(one, name, pm_value_type(g, pm_node_in(g, n, i)), &in[i], &err));
	}
	must(pm_kernel_add(one, &d, in, pm_node_n_in(g, n), &k, &err));
	for (size_t i = 0; i < pm_node_n_out(g, n); i++)
		must(pm_graph_add_output(one, pm_node_out(one, k, i), &err));
	pm_arena_free(arena);
	return one;
}

static void run_kernel(void *arg, const PmGraph *g, PmNode n, const char *name)
{
	Models *m = arg;
	PmGraph *one = alone(g, n);
	Case c = { .n_in = 0 };
	char why[ORT_HOST_TEXT];

	make_case(one, &c);
	if (run_case(m->host, name, &c, 0, why))
		fail_msg("%s: %s", m->model, why);
	m->n_kernels++;
	release_case(&c);
	pm_graph_free(one);
}

static void run_kernels(Models *m, const PmGraph *fused)
{
	write_kernels(fused);
	m->host = open_host(file);
	m->n_files++;
	must(pm_onnx_kernels(fused, run_kernel, m, &err));
	ort_host_close(m->host);
}

/* What each pass makes of the model, and what `fuse` makes of it, which is one kernel in place of many nodes.
 */
static void run_model(void *arg, int pass, const char *model, int dtype, const PmGraph *g,
		      const PmGraph *fused)
{
	const PmPassOpts opts = { .seconds = 60 };
	const char *build = getenv("PASSMITH_BUILD");
	PmPassOutcome out;
	Models *m = arg;
	char path[512];

	m->model = model;
	if (pass >= 0 && dtype != PM_BF16) {
		run_kernels(m, fused);
	} else if (dtype != PM_BF16) {
		snprintf(path, sizeof path, "%s/passes/fuse.so", build && *build ? build : "build");
		must(pm_pass_apply(path, g, &opts, &out, &err));
		assert_int_equal(out.verdict, PM_VERDICT_OK);
		run_kernels(m, out.graph);
		pm_pass_outcome_release(&out);
	}
}

static void kernels_of_all_bundled_models_give_the_bits_of_emu(void **state)
{
	Models m = { 0 };

	(void)state;
	pass_models(run_model, &m);
	assert_true(m.n_files >= 20);
	assert_true(m.n_kernels >= 40);
}

/* --- what is refused --------------------------------------------------------------------------------------
 */

static void other_sizes_and_types_are_a_status(void **state)
{
	static char data[N * 16];
	PmGraph *g = one_kernel(0);
	OrtHostTensor in[2], out[2];
	char why[ORT_HOST_TEXT];
	PmType t = pm_type(PM_F32, 1, (int64_t[]){ N });
	PmType by = pm_type(PM_I64, 1, (int64_t[]){ 4 });
	PmType z = pm_type(PM_BOOL, 1, (int64_t[]){ N });
	OrtHost *h;

	(void)state;
	write_kernels(g);
	h = open_host(file);
	in[0] = out[0] = tensor_of(&t, data);
	in[1] = tensor_of(&by, data);
	out[1] = tensor_of(&z, data);
	in[0].dim[0] = N + 1;
	assert_int_equal(ort_host_run(h, ort_host_name(h, 0), &cpu, in, 2, out, 2, why), 2);
	says(why, "(kernel 'two_steps') was compiled for type 1 [1000] as operand 0 and gets type 1 [1001]; "
		  "bind the "
		  "original model to these sizes");
	in[0].dim[0] = N;
	in[1].type = 6;
	assert_int_equal(ort_host_run(h, ort_host_name(h, 0), &cpu, in, 2, out, 2, why), 2);
	says(why, "compiled for type 7 [4] as operand 1 and gets type 6 [4]");
	in[1].type = 7;
	in[1].rank = 0;
	assert_int_equal(ort_host_run(h, ort_host_name(h, 0), &cpu, in, 2, out, 2, why), 2);
	assert_int_equal(ort_host_run(h, ort_host_name(h, 0), &cpu, in, 1, out, 2, why), 10);
	says(why, "other numbers of operands");
	assert_int_equal(ort_host_run(h, "Kernel_0000000000000000", &cpu, in, 2, out, 2, why), -1);
	ort_host_close(h);
	pm_graph_free(g);
}

static void a_trap_is_a_status_and_no_end_of_the_process(void **state)
{
	static char data[N * 16];
	PmGraph *g = one_kernel(1);
	OrtHostTensor in[2], out[2];
	char why[ORT_HOST_TEXT];
	PmType t = pm_type(PM_F32, 1, (int64_t[]){ N });
	PmType by = pm_type(PM_I64, 1, (int64_t[]){ 4 });
	PmType z = pm_type(PM_BOOL, 1, (int64_t[]){ N });
	OrtHost *h;

	(void)state;
	write_kernels(g);
	h = open_host(file);
	in[0] = out[0] = tensor_of(&t, data);
	in[1] = tensor_of(&by, data);
	out[1] = tensor_of(&z, data);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ort_host_run(h, ort_host_name(h, 0), &cpu, in, 2, out, 2, why), 1);
		says(why, "Kernel 'two_steps' (entry 'rest') called __trap()");
	}
	ort_host_close(h);
	pm_graph_free(g);
}

static void refuses(const char *entry, uint32_t newest, const char *words)
{
	char why[ORT_HOST_TEXT];

	assert_null(ort_host_open(library, entry, newest, why));
	says(why, words);
}

static void a_file_that_is_missing_or_damaged_is_a_status(void **state)
{
	PmGraph *g = one_kernel(0);
	PmStr bytes = PM_STR_INIT;

	(void)state;
	write_kernels(g);
	refuses(NULL, NEWEST, "does not know which kernels to run");
	refuses("/nowhere/kernels", NEWEST, "\"/nowhere/kernels\" cannot be read");
	refuses(folder, NEWEST, "cannot be read");
	refuses(file, NEWEST - 1, "needs ONNX Runtime 1.18 or newer, and this is 1.17.0");
	must(pm_read_file(file, 0, &bytes, &err));
	bytes.s[bytes.len / 2] ^= 1;
	must(pm_write_file(file, bytes.s, bytes.len, &err));
	refuses(file, NEWEST,
		"cannot be used as a file of kernels: its digest is another, so it was changed");
	must(pm_write_file(file, bytes.s, bytes.len / 2, &err));
	refuses(file, NEWEST, "it ends in the middle");
	pm_str_release(&bytes);
	pm_graph_free(g);
}

static void the_environment_names_the_file_too(void **state)
{
	PmGraph *g = one_kernel(0);
	OrtHost *a, *b;

	(void)state;
	write_kernels(g);
	setenv("PASSMITH_ORT_KERNELS", file, 1);
	a = open_host(NULL);
	/* The entry comes first. */
	refuses("/nowhere/kernels", NEWEST, "cannot be read");
	unsetenv("PASSMITH_ORT_KERNELS");
	b = open_host(file);
	assert_int_equal(ort_host_n_ops(a), 1);
	/* The same content is there once. */
	assert_ptr_equal(ort_host_name(a, 0), ort_host_name(b, 0));
	ort_host_close(a);
	ort_host_close(b);
	pm_graph_free(g);
}

static void a_model_without_kernels_has_no_file(void **state)
{
	const PmOrtArchs archs = { .emu = 1, .jobs = 1 };
	PmGraph *g = pm_test_graph("g (float[8] x) => (float[8] y) { y = Exp(x) }");
	PmOrtWritten w;

	(void)state;
	assert_int_equal(pm_ort_kernels_make(g, &archs, file, &w, &err), PM_E_NOT_FOUND);
	says(err.text, "has no kernel to write");
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_of_two_launches_with_scratch_gives_the_bits_of_emu),
		cmocka_unit_test(eight_threads_run_one_session),
		cmocka_unit_test(kernels_of_all_bundled_models_give_the_bits_of_emu),
		cmocka_unit_test(other_sizes_and_types_are_a_status),
		cmocka_unit_test(a_trap_is_a_status_and_no_end_of_the_process),
		cmocka_unit_test(a_file_that_is_missing_or_damaged_is_a_status),
		cmocka_unit_test(the_environment_names_the_file_too),
		cmocka_unit_test(a_model_without_kernels_has_no_file),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
