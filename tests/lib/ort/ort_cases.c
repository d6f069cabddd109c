/* SPDX-License-Identifier: Apache-2.0 */
/* ort_cases.c - kernels for tests of libpassmith_ort. */
#include "tests/lib/ort/ort_cases.h"

#include "base/core/rng.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "ir/core/kernel.h"
#include "ir/core/onnx_dtype.h"
#include "ir/onnx/onnx.h"
#include "matcher/host/pass_host.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/passes/pass_models.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static PmErr err;

static void must(PmStatus st)
{
	if (st)
		fail_msg("%s: %s", pm_status_name(st), err.text);
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

PmGraph *ort_case_graph(int ends)
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
			      .scratch = (int64_t[]){ ORT_CASE_N * 8 },
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

/* --- cases -----------------------------------------------------------------------------------------------
 */

static void draw(PmTensor *t, uint64_t seed)
{
	PmRng r;

	pm_rng_init(&r, seed);
	for (int64_t i = 0; i < pm_tensor_numel(t); i++)
		pm_tensor_set(t, i,
			      pm_dtype_is_float(t->type.dtype) ? 2 * pm_rng_uniform(&r) - 1
							       : (double)(pm_rng_u64(&r) & 1));
}

/* Of a graph of one kernel. */
static void make_case(const PmGraph *g, const char *name, const char *device, OrtCase *c)
{
	const PmRunOpts opts = { .device = device };

	snprintf(c->name, sizeof c->name, "%s", name);
	c->n_in = pm_graph_n_inputs(g);
	for (size_t i = 0; i < c->n_in; i++) {
		must(pm_tensor_init(&c->in[i], pm_value_type(g, pm_graph_input(g, i)), &err));
		draw(&c->in[i], 77 + i);
	}
	must(pm_run_graph(g, c->in, c->n_in, &opts, &c->want, &err));
}

/* The node alone, with its operands as inputs. */
static PmGraph *alone(const PmGraph *g, PmNode n)
{
	PmGraph *one = pm_graph_new(0);
	PmArena *arena = pm_arena_new(0);
	PmValue in[ORT_CASE_IN];
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

typedef struct Adding {
	OrtFile *file;
	const char *device;
} Adding;

static void add_kernel(void *arg, const PmGraph *g, PmNode n, const char *name)
{
	Adding *a = arg;
	PmGraph *one;

	for (size_t i = 0; i < a->file->n; i++)
		if (strcmp(a->file->list[i].name, name) == 0)
			return;
	one = alone(g, n);
	a->file->list = pm_xrealloc(a->file->list, a->file->n + 1, sizeof *a->file->list);
	memset(&a->file->list[a->file->n], 0, sizeof *a->file->list);
	make_case(one, name, a->device, &a->file->list[a->file->n++]);
	pm_graph_free(one);
}

typedef struct Making {
	const PmGraph *g;
	const PmOrtArchs *archs;
	const char *path;
} Making;

static int write_kernels(void *arg, PmStr *out)
{
	const Making *m = arg;
	PmOrtWritten w;

	if (pm_ort_kernels_make(m->g, m->archs, m->path, &w, &err)) {
		pm_str_add(out, err.text);
		return 1;
	}
	pm_str_addf(out, "%zu", w.n_kernels);
	return 0;
}

/* In a process of its own: NVRTC starts the driver, which no fork may have before it. */
static size_t write_file(Making *m)
{
	PmLimits lim = { .seconds = 300, .file_size = -1 };
	PmProcResult r;
	size_t n;

	must(pm_fork_call(write_kernels, m, &lim, &r, &err));
	if (r.end != PM_PROC_EXITED || r.code)
		fail_msg("%s: %s %s", m->path, r.out.s, r.errtext.s);
	n = (size_t)strtoul(r.out.s, NULL, 10);
	pm_proc_result_release(&r);
	return n;
}

static void make_file(const PmGraph *g, const char *path, const PmOrtArchs *archs, const char *device,
		      OrtFile *out)
{
	Adding a = { out, device };
	Making m = { g, archs, path };

	memset(out, 0, sizeof *out);
	snprintf(out->path, sizeof out->path, "%s", path);
	must(pm_onnx_kernels(g, add_kernel, &a, &err));
	assert_int_equal(write_file(&m), out->n);
}

void ort_case_one(const char *path, const PmOrtArchs *archs, const char *device, OrtFile *out)
{
	PmGraph *g = ort_case_graph(0);

	make_file(g, path, archs, device, out);
	pm_graph_free(g);
}

typedef struct Models {
	OrtFiles *out;
	const char *folder, *device;
	const PmOrtArchs *archs;
} Models;

static void add_model(Models *m, const PmGraph *fused)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%zu.kernels", m->folder, m->out->n);
	m->out->list = pm_xrealloc(m->out->list, m->out->n + 1, sizeof *m->out->list);
	make_file(fused, path, m->archs, m->device, &m->out->list[m->out->n++]);
}

/* What each pass makes of the model, and what `fuse` makes of it, which is one kernel in place of many nodes.
 */
static void on_model(void *arg, int pass, const char *model, int dtype, const PmGraph *g,
		     const PmGraph *fused)
{
	const PmPassOpts opts = { .seconds = 60 };
	const char *build = getenv("PASSMITH_BUILD");
	PmPassOutcome out;
	char path[512];

	(void)model;
	if (pass >= 0 && dtype != PM_BF16) {
		add_model(arg, fused);
	} else if (dtype != PM_BF16) {
		snprintf(path, sizeof path, "%s/passes/fuse.so", build && *build ? build : "build");
		must(pm_pass_apply(path, g, &opts, &out, &err));
		assert_int_equal(out.verdict, PM_VERDICT_OK);
		add_model(arg, out.graph);
		pm_pass_outcome_release(&out);
	}
}

void ort_cases_of_models(const char *folder, const PmOrtArchs *archs, const char *device, OrtFiles *out)
{
	Models m = { out, folder, device, archs };

	memset(out, 0, sizeof *out);
	pass_models(on_model, &m);
	assert_true(out->n >= 20);
}

void ort_file_release(OrtFile *f)
{
	for (size_t k = 0; k < f->n; k++) {
		for (size_t i = 0; i < f->list[k].n_in; i++)
			pm_tensor_release(&f->list[k].in[i]);
		pm_run_result_release(&f->list[k].want);
	}
	free(f->list);
	unlink(f->path);
	memset(f, 0, sizeof *f);
}

void ort_files_release(OrtFiles *f)
{
	for (size_t i = 0; i < f->n; i++)
		ort_file_release(&f->list[i]);
	free(f->list);
	memset(f, 0, sizeof *f);
}

/* --- calls -----------------------------------------------------------------------------------------------
 */

static OrtHostTensor tensor_of(const PmType *t)
{
	OrtHostTensor out = { .type = pm_dtype_to_onnx(t->dtype), .rank = (size_t)t->rank };

	memcpy(out.dim, t->dim, sizeof out.dim);
	return out;
}

void ort_case_tensors(const OrtCase *c, OrtHostTensor *in, OrtHostTensor *out)
{
	for (size_t i = 0; i < c->n_in; i++)
		in[i] = tensor_of(&c->in[i].type);
	for (size_t i = 0; i < c->want.n_out; i++)
		out[i] = tensor_of(&c->want.out[i].type);
}

int ort_case_same(const OrtCase *c, void *const *out, char why[ORT_HOST_TEXT])
{
	for (size_t i = 0; i < c->want.n_out; i++)
		if (c->want.out[i].bytes && memcmp(out[i], c->want.out[i].data, c->want.out[i].bytes) != 0) {
			snprintf(why, ORT_HOST_TEXT, "%s: result %zu differs", c->name, i);
			return 0;
		}
	return 1;
}

static void *take(size_t bytes, size_t off, void **memory)
{
	*memory = aligned_alloc(64, (bytes + off) / 64 * 64 + 64);
	assert_non_null(*memory);
	memset(*memory, 0x5a, bytes + off);
	return (char *)*memory + off;
}

int ort_case_on_cpu(OrtHost *h, const OrtCase *c, size_t off, char why[ORT_HOST_TEXT])
{
	static const OrtHostPlace cpu = { .provider = "CPUExecutionProvider" };
	OrtHostTensor in[ORT_CASE_IN] = { { 0 } }, out[ORT_CASE_IN] = { { 0 } };
	void *memory[2 * ORT_CASE_IN], *data[ORT_CASE_IN];
	size_t n = 0;
	int code;

	ort_case_tensors(c, in, out);
	for (size_t i = 0; i < c->n_in; i++) {
		in[i].data = take(c->in[i].bytes, off, &memory[n++]);
		if (c->in[i].bytes)
			memcpy(in[i].data, c->in[i].data, c->in[i].bytes);
	}
	for (size_t i = 0; i < c->want.n_out; i++)
		out[i].data = data[i] = take(c->want.out[i].bytes, off, &memory[n++]);
	code = ort_host_run(h, c->name, &cpu, in, c->n_in, out, c->want.n_out, why);
	if (!code && !ort_case_same(c, data, why))
		code = -2;
	while (n)
		free(memory[--n]);
	return code;
}

typedef struct Worker {
	pthread_t thread;
	OrtHost *host;
	const OrtCase *c;
	OrtCaseCall call;
	int rounds, code;
	char why[ORT_HOST_TEXT];
} Worker;

static void *work(void *arg)
{
	Worker *w = arg;

	for (int i = 0; i < w->rounds && !w->code; i++)
		w->code = w->call(w->host, w->c, w->why);
	return NULL;
}

void ort_case_threads(OrtHost *h, const OrtCase *c, int rounds, OrtCaseCall call)
{
	enum { THREADS = 8 };
	Worker w[THREADS];

	for (int i = 0; i < THREADS; i++) {
		w[i] = (Worker){ .host = h, .c = c, .call = call, .rounds = rounds };
		assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(w[i].thread, NULL);
	for (int i = 0; i < THREADS; i++)
		if (w[i].code)
			fail_msg("code %d: %s", w[i].code, w[i].why);
}

const char *ort_case_library(void)
{
	static char path[1024];
	const char *build = getenv("PASSMITH_BUILD");
	char cwd[512] = "";

	build = build && *build ? build : "build";
	if (*build != '/')
		assert_non_null(getcwd(cwd, sizeof cwd));
	snprintf(path, sizeof path, "%s%s%s/libpassmith_ort.so", cwd, *cwd ? "/" : "", build);
	return path;
}

OrtHost *ort_case_host(const char *entry)
{
	char why[ORT_HOST_TEXT];
	OrtHost *h = ort_host_open(ort_case_library(), entry, 18, why);

	if (!h)
		fail_msg("%s", why);
	return h;
}
