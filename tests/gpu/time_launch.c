/* SPDX-License-Identifier: Apache-2.0 */
/* time_launch.c - what a call of a planned graph costs the host, beside a bare launch through the driver.
 *
 *   time_launch [OUT.jsonl]
 *
 * Not a test: it asserts nothing. All in one process and one run, on the host's clock:
 *   enqueue  one call of a batch of 64, until the last has been given to the driver (the GPU keeps up or is
 * ahead) latency  one call and the wait for its result, alone on an idle GPU of bare launches (an empty
 * kernel without parameters, one with 24, the first as a CUDA graph) and of small graphs as the executor runs
 * them, launch by launch and replayed as one CUDA graph. Medians of 400 batches and 4000 calls.
 */
#include "base/sys/proc.h"
#include "ir/text/text.h"
#include "runtime/cuda/cuda_priv.h"
#include "runtime/exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRAIN = 64, TRAINS = 400, CALLS = 4000, WARM = 50, N_PARAMS = 24 };

static const struct {
	const char *name, *text;
} cases[] = {
	{ "relu", "(float[4096] x) => (float[4096] y) { y = Relu (x) }" },
	{ "relu of a transpose",
	  "(float[64,3,96] x) => (float[96,3,64] y) { a = Transpose <perm = [2, 1, 0]> "
	  "(x) y = Relu (a) }" },
	{ "softmax", "(float[64,512] x) => (float[64,512] y) { y = Softmax <axis = 1> (x) }" },
	{ "eight in a row", "(float[4096] x, float[4096] z) => (float[4096] y) { a = Add (x, z) b = Mul (a, "
			    "z) c = Sub (b, x) d = "
			    "Relu (c) e = Add (d, z) f = Mul (e, x) g = Sigmoid (f) y = Add (g, x) }" },
	{ "matmul",
	  "(float16[128,256] x, float16[256,128] z) => (float16[128,128] y) { y = MatMul (x, z) }" },
	{ "gemm with bias", "(float16[128,256] x, float16[256,128] z, float16[128] c) => (float16[128,128] "
			    "y) { y = Gemm (x, z, "
			    "c) }" },
	{ "conv 1x1", "(float16[1,64,28,28] x, float16[64,64,1,1] w) => (float16[1,64,28,28] y) { y = Conv "
		      "<strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w) }" },
	{ "conv 3x3 with bias", "(float16[1,64,28,28] x, float16[64,64,3,3] w, float16[64] c) => "
				"(float16[1,64,28,28] y) { y = Conv "
				"<strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]> (x, w, c) }" },
	{ "depthwise 3x3",
	  "(float16[1,64,28,28] x, float16[64,1,3,3] w) => (float16[1,64,28,28] y) { y = Conv "
	  "<strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 64> (x, w) }" },
};

/* An empty kernel, with 24 parameters or none. */
static const char ptx[] =
	".version 6.0\n.target sm_70\n.address_size 64\n"
	".visible .entry none() { ret; }\n"
	".visible .entry many(.param .u64 a, .param .u64 b, .param .u32 c0, .param .u32 c1, "
	".param .u32 c2, .param .u32 c3, .param .u32 c4, .param .u32 c5, .param .u32 c6, "
	".param .u32 c7, .param .u32 c8, .param .u32 c9, .param .u32 d0, .param .u32 d1, "
	".param .u32 d2, .param .u32 d3, .param .u32 d4, .param .u32 d5, .param .u32 d6, "
	".param .u32 d7, .param .u32 d8, .param .u32 d9, .param .u32 e0, .param .u32 e1) { ret; "
	"}\n";

static void die(const char *what, const char *why)
{
	fprintf(stderr, "time_launch: %s: %s\n", what, why);
	exit(1);
}

static void need(int rc, const char *what)
{
	if (rc)
		die(what, "the driver refuses");
}

static void need_st(PmStatus st, const char *what, const PmErr *err)
{
	if (st)
		die(what, err->text);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *t, int n)
{
	qsort(t, (size_t)n, sizeof *t, by_value);
	return t[n / 2];
}

/* What is timed: a function that enqueues one call. */
typedef struct Subject {
	PmCudaDevice *d;
	PmBind *bind;     /* of a graph */
	PmReplay replay;  /* of its recording */
	CuFn *fn;         /* or a bare kernel */
	CuGraphExec *all; /* or a bare graph */
	void **params;
} Subject;
typedef void (*Call)(const Subject *s);

static void call_bind(const Subject *s)
{
	PmErr err;

	need_st(pm_bind_launch(s->bind, &err), "launch", &err);
}

static void call_replay(const Subject *s)
{
	PmErr err;

	need_st(s->d->base.ops->clock->replay(&s->d->base, s->replay, &err), "replay", &err);
}

static void call_bare(const Subject *s)
{
	need(s->d->cu->launch(s->fn, 1, 1, 1, 128, 1, 1, 0, s->d->stream, s->params, NULL), "a bare launch");
}

static void call_graph(const Subject *s)
{
	need(s->d->cu->graph_launch(s->all, s->d->stream), "a bare graph");
}

/* The wait is the executor's for graphs and the driver's for bare launches. */
static void wait_for(const Subject *s)
{
	PmErr err;

	if (s->bind)
		need_st(s->d->base.ops->sync(&s->d->base, &err), "wait", &err);
	else
		need(s->d->cu->stream_sync(s->d->stream), "wait");
}

static void measure(FILE *f, const char *name, const char *how, int launches, const Subject *s, Call call)
{
	static double batch[TRAINS], one[CALLS];
	double t0;

	for (int i = 0; i < WARM; i++)
		call(s);
	wait_for(s);
	for (int i = 0; i < TRAINS; i++) {
		t0 = pm_now();
		for (int k = 0; k < TRAIN; k++)
			call(s);
		batch[i] = (pm_now() - t0) / TRAIN;
		wait_for(s);
	}
	for (int i = 0; i < CALLS; i++) {
		t0 = pm_now();
		call(s);
		wait_for(s);
		one[i] = pm_now() - t0;
	}
	t0 = median(batch, TRAINS);
	printf("%-32s %-10s %3d launches  enqueue %7.2f us  latency %7.2f us\n", name, how, launches,
	       t0 * 1e6, median(one, CALLS) * 1e6);
	fflush(stdout);
	if (f)
		fprintf(f,
			"{\"name\": \"%s\", \"how\": \"%s\", \"launches\": %d, \"enqueue_us\": %.3f, "
			"\"latency_us\": %.3f}\n",
			name, how, launches, t0 * 1e6, one[CALLS / 2] * 1e6);
}

static void bare(FILE *f, PmCudaDevice *d)
{
	uint64_t zero[N_PARAMS] = { 0 };
	void *params[N_PARAMS];
	Subject s = { .d = d, .params = params };
	CuGraph *g = NULL;
	CuMod *m = NULL;

	for (int i = 0; i < N_PARAMS; i++)
		params[i] = &zero[i];
	need(d->cu->module_load(&m, ptx), "loading a kernel");
	need(d->cu->module_function(&s.fn, m, "none"), "finding a kernel");
	measure(f, "empty kernel", "bare", 1, &s, call_bare);
	need(d->cu->capture_begin(d->stream, CU_CAPTURE_RELAXED), "recording");
	call_bare(&s);
	need(d->cu->capture_end(d->stream, &g), "recording");
	need(d->cu->graph_make(&s.all, g, 0), "recording");
	measure(f, "empty kernel", "bare graph", 1, &s, call_graph);
	need(d->cu->module_function(&s.fn, m, "many"), "finding a kernel");
	measure(f, "empty kernel, 24 parameters", "bare", 1, &s, call_bare);
	d->cu->graph_exec_destroy(s.all);
	d->cu->graph_destroy(g);
	d->cu->module_unload(m);
}

static void run(FILE *f, PmCudaDevice *d, size_t i)
{
	PmDevice *dev = &d->base;
	PmStr text = PM_STR_INIT;
	Subject s = { .d = d };
	PmGraph *g;
	PmPlan *p;
	PmExec *x;
	PmErr err;

	pm_err_init(&err);
	pm_str_addf(&text, "g %s", cases[i].text);
	need_st(pm_graph_parse(text.s, text.len, &g, &err), cases[i].name, &err);
	need_st(pm_plan_new(g, NULL, 0, &p, &err), cases[i].name, &err);
	need_st(pm_exec_new(p, dev, &x, &err), cases[i].name, &err);
	need_st(pm_bind_new(x, 1, &s.bind, &err), cases[i].name, &err);
	need_st(pm_bind_launch(s.bind, &err), cases[i].name, &err);
	need_st(dev->ops->clock->quiet(dev, 1, &err), "quiet", &err);
	measure(f, cases[i].name, "launches", pm_exec_launches(x), &s, call_bind);
	need_st(dev->ops->clock->record_begin(dev, &err), "recording", &err);
	call_bind(&s);
	need_st(dev->ops->clock->record_end(dev, &s.replay, &err), "recording", &err);
	measure(f, cases[i].name, "graph", pm_exec_launches(x), &s, call_replay);
	dev->ops->clock->replay_drop(dev, s.replay);
	need_st(dev->ops->clock->quiet(dev, 0, &err), "quiet", &err);
	pm_exec_free(x);
	pm_plan_free(p);
	pm_graph_free(g);
	pm_str_release(&text);
}

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "w") : NULL;
	PmDevice *d;
	PmErr err;

	pm_err_init(&err);
	need_st(pm_device_open("cuda", &d, &err), "cuda", &err);
	bare(f, (PmCudaDevice *)d);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		run(f, (PmCudaDevice *)d, i);
	d->ops->close(d);
	if (f)
		fclose(f);
	return 0;
}
