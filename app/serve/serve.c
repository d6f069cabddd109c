/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - opens a package as a server would, and runs it by several threads. */
#include "app/serve/serve.h"

#include "app/serve/held.h"
#include "app/serve/latency.h"
#include "app/serve/serve_error.h"
#include "app/serve/serve_gpu.h"
#include "base/core/arena.h"
#include "base/sys/proc.h"
#include "bench/inputs/inputs.h"
#include "bench/inputs/testdata.h"
#include "ir/core/onnx_dtype.h"
#include "rt/passmith_rt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const double pm_serve_levels[PM_SERVE_LEVELS] = { 0.5, 0.9, 0.99, 0.999, 0.9999 };

enum { WARM = 10, STEPS = 100, HOST_RUNS = 200 };

/* Where threads wait until all have come, and memory was looked at. */
typedef struct Gate {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	int arrived, open;
} Gate;

typedef struct Bench {
	const PmServeAsk *ask;
	PmRtModel *m;
	PmServeGpu *gpu; /* NULL: tensors of the host */
	PmTensor *in;    /* of all threads, by input */
	size_t n_in, n_out;
	atomic_llong left, done; /* runs that nobody has begun; that are over */
	atomic_int failed;
	Gate gate;
} Bench;

typedef struct Thread {
	Bench *b;
	PmRtSession *s;
	PmTensor *out; /* owned; by output */
	void **place;  /* owned; of inputs, then outputs, on the GPU */
	void *stream;
	double warm, first, tenth;
	PmLatency latency;
	PmErr err; /* code 0 = none */
	int number;
	pthread_t id;
} Thread;

/* ---- inputs ---- */

/* A graph of the package's inputs alone, in the sizes of the shape: for who draws and reads inputs. */
static PmStatus inputs_graph(const PmServeAsk *ask, const PmRtModel *m, PmGraph **out, PmErr *err)
{
	PmGraph *g = pm_graph_new(0);
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_rt_n_inputs(m) && !st; i++) {
		PmRtValue v;
		PmType t;
		PmValue added;

		if (pm_rt_shape_input(m, ask->shape, i, &v))
			st = pm_err(err, PM_E_NOT_FOUND, "%s has %zu shapes; there is no number %zu.",
				    ask->package, pm_rt_n_shapes(m), ask->shape);
		if (!st) {
			t = pm_type((PmDType)pm_dtype_from_onnx((int)v.type), v.rank, v.dim);
			st = pm_graph_add_input(g, v.name, &t, &added, err);
		}
	}
	if (st) {
		pm_graph_free(g);
		return st;
	}
	*out = g;
	return PM_OK;
}

/* Integers are often indices: of which 0 alone is sure to be one. */
static void zero_integers(const PmGraph *g, PmTensor *in)
{
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		if (!pm_dtype_is_float(in[i].type.dtype) && in[i].bytes)
			memset(in[i].data, 0, in[i].bytes);
}

static PmStatus make_inputs(Bench *b, PmErr *err)
{
	PmGraph *g = NULL;
	PmStatus st = inputs_graph(b->ask, b->m, &g, err);

	if (st)
		return st;
	b->in = pm_xcalloc(b->n_in + 1, sizeof *b->in);
	if (b->ask->inputs)
		st = pm_testdata_read_inputs(b->ask->inputs, g, b->in, err);
	else
		st = pm_inputs_make(g, b->ask->seed, PM_INPUTS_NORMAL, b->in, err);
	if (!st && !b->ask->inputs)
		zero_integers(g, b->in);
	pm_graph_free(g);
	return st;
}

/* ---- one thread ---- */

static PmRtTensor tensor_of(const PmTensor *t, void *on_device)
{
	PmRtTensor r = { .data = on_device ? on_device : t->data,
			 .type = (PmRtType)pm_dtype_to_onnx(t->type.dtype),
			 .place = on_device ? PM_RT_ON_DEVICE : PM_RT_HOST,
			 .rank = t->type.rank };

	memcpy(r.dim, t->type.dim, (size_t)t->type.rank * sizeof *r.dim);
	return r;
}

static PmStatus bind_inputs(Thread *t, PmErr *err)
{
	Bench *b = t->b;
	PmStatus st = PM_OK;
	PmRtError e;

	for (size_t i = 0; i < b->n_in && !st; i++) {
		PmRtTensor in;

		if (b->gpu)
			st = pm__gpu_alloc(b->gpu, b->in[i].bytes, &t->place[i], err);
		if (b->gpu && !st)
			st = pm__gpu_put(b->gpu, t->place[i], b->in[i].data, b->in[i].bytes, t->stream, err);
		in = tensor_of(&b->in[i], t->place[i]);
		if (!st)
			st = pm__serve_error(pm_rt_bind_input(t->s, i, &in, &e), &e, err);
	}
	return st;
}

static PmStatus bind_outputs(Thread *t, PmErr *err)
{
	Bench *b = t->b;
	PmStatus st = PM_OK;
	PmRtError e;

	for (size_t i = 0; i < b->n_out && !st; i++) {
		void **place = &t->place[b->n_in + i];
		PmRtTensor to;
		PmRtValue v;
		PmType type;

		st = pm__serve_error(pm_rt_output_shape(t->s, i, &v, &e), &e, err);
		if (st)
			return st;
		type = pm_type((PmDType)pm_dtype_from_onnx((int)v.type), v.rank, v.dim);
		st = pm_tensor_init(&t->out[i], &type, err);
		if (b->gpu && !st)
			st = pm__gpu_alloc(b->gpu, t->out[i].bytes, place, err);
		to = tensor_of(&t->out[i], *place);
		if (!st)
			st = pm__serve_error(pm_rt_bind_output(t->s, i, &to, &e), &e, err);
	}
	return st;
}

static PmStatus open_thread(Thread *t, PmErr *err)
{
	Bench *b = t->b;
	PmRtError e;
	PmStatus st = pm__serve_error(pm_rt_session_new(b->m, &t->s, &e), &e, err);

	t->out = pm_xcalloc(b->n_out + 1, sizeof *t->out);
	t->place = pm_xcalloc(b->n_in + b->n_out + 1, sizeof *t->place);
	if (!st && b->gpu)
		st = pm__gpu_stream(b->gpu, &t->stream, err);
	if (!st)
		st = bind_inputs(t, err);
	return st ? st : bind_outputs(t, err);
}

static void close_thread(Thread *t)
{
	Bench *b = t->b;

	pm_rt_session_free(t->s);
	for (size_t i = 0; b->gpu && t->place && i < b->n_in + b->n_out; i++)
		pm__gpu_free(b->gpu, t->place[i]);
	if (b->gpu)
		pm__gpu_stream_end(b->gpu, t->stream);
	if (t->out)
		pm_tensors_release(t->out, b->n_out);
	free(t->out);
	free(t->place);
}

/* A run, and the wait for what it makes. */
static PmStatus run_once(Thread *t, double *seconds, PmErr *err)
{
	const Bench *b = t->b;
	double from = pm_now();
	PmRtError e;
	PmStatus st = pm__serve_error(pm_rt_run(t->s, t->stream, b->ask->graph ? PM_RT_GRAPH : 0, &e), &e,
				      err);

	if (!st && b->gpu)
		st = pm__gpu_wait(b->gpu, t->stream, err);
	*seconds = pm_now() - from;
	return st;
}

static PmStatus warm_session(Thread *t, PmErr *err)
{
	double from = pm_now();
	PmRtError e;
	PmStatus st = pm__serve_error(pm_rt_session_warm(t->s, t->b->ask->graph ? PM_RT_GRAPH : 0, &e), &e,
				      err);

	t->warm = pm_now() - from;
	return st;
}

static PmStatus run_warm(Thread *t, PmErr *err)
{
	PmStatus st = t->b->ask->warm ? warm_session(t, err) : PM_OK;

	for (int i = 0; i < WARM && !st; i++) {
		double seconds;

		st = run_once(t, &seconds, err);
		if (i == 0)
			t->first = seconds;
		t->tenth = seconds;
	}
	return st;
}

static void wait_at(Gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->arrived++;
	pthread_cond_broadcast(&g->moved);
	while (!g->open)
		pthread_cond_wait(&g->moved, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

/* Threads take runs until none is left. All meet where memory is looked at, also those that have failed. */
static void *work(void *arg)
{
	Thread *t = arg;
	Bench *b = t->b;
	PmStatus st = open_thread(t, &t->err);

	if (!st)
		st = run_warm(t, &t->err);
	wait_at(&b->gate);
	while (!st && !atomic_load(&b->failed) && atomic_fetch_sub(&b->left, 1) > 0) {
		double seconds;

		st = run_once(t, &seconds, &t->err);
		pm_latency_add(&t->latency, seconds);
		atomic_fetch_add(&b->done, 1);
	}
	if (st) {
		t->err.code = st;
		atomic_store(&b->failed, 1);
	}
	return NULL;
}

/* ---- all of them ---- */

static void look(const Bench *b, PmServeHeld *out)
{
	pm__held_now(out);
	if (b->gpu)
		out->device = pm__gpu_taken(b->gpu);
}

/* The bar has a hundred steps, whatever the number of runs. */
static void follow(Bench *b)
{
	const PmServeAsk *a = b->ask;
	const struct timespec nap = { 0, 50000000 };
	int64_t shown = 0;

	pm_watch_begin(&a->watch, "running", STEPS);
	while (atomic_load(&b->done) < a->runs && !atomic_load(&b->failed)) {
		int64_t now = atomic_load(&b->done) * STEPS / a->runs;

		for (; shown < now; shown++)
			pm_watch_step(&a->watch, NULL);
		nanosleep(&nap, NULL);
	}
	pm_watch_end(&a->watch);
}

/* Starts the threads and waits until all have made ten runs; *n is how many there are, fewer after an error.
 */
static PmStatus start_threads(Bench *b, Thread *t, int *n, PmErr *err)
{
	PmStatus st = PM_OK;

	for (*n = 0; *n < b->ask->threads && !st; ++*n)
		if (pthread_create(&t[*n].id, NULL, work, &t[*n])) {
			st = pm_err(err, PM_E_ENV,
				    "This process can have no more than %d threads; give --threads %d.", *n,
				    *n);
			break;
		}
	pthread_mutex_lock(&b->gate.lock);
	while (b->gate.arrived < *n)
		pthread_cond_wait(&b->gate.moved, &b->gate.lock);
	pthread_mutex_unlock(&b->gate.lock);
	if (st)
		atomic_store(&b->failed, 1);
	return st;
}

static void open_gate(Bench *b)
{
	pthread_mutex_lock(&b->gate.lock);
	b->gate.open = 1;
	pthread_cond_broadcast(&b->gate.moved);
	pthread_mutex_unlock(&b->gate.lock);
}

static void note_latency(const Thread *t, const PmLatency *all, PmServed *out)
{
	out->warming = t->warm;
	out->first = t->first;
	out->tenth = t->tenth;
	out->runs = (int64_t)all->n;
	out->mean = all->n ? all->sum / (double)all->n : 0;
	out->most = all->most;
	for (int i = 0; i < PM_SERVE_LEVELS; i++)
		out->level[i] = pm_latency_level(all, pm_serve_levels[i]);
}

static PmStatus run_threads(Bench *b, Thread *t, PmServed *out, PmErr *err)
{
	PmLatency *all = pm_xcalloc(1, sizeof *all);
	double from;
	int n;
	PmStatus st = start_threads(b, t, &n, err);

	look(b, &out->warm);
	from = pm_now();
	open_gate(b);
	follow(b);
	for (int i = 0; i < n; i++) {
		pthread_join(t[i].id, NULL);
		pm_latency_merge(all, &t[i].latency);
		if (t[i].err.code && !st)
			st = pm_err(err, t[i].err.code, "%s", t[i].err.text);
	}
	out->seconds = pm_now() - from;
	look(b, &out->after);
	note_latency(&t[0], all, out);
	free(all);
	return st;
}

static PmStatus take_outputs(Thread *t, PmServed *out, PmErr *err)
{
	Bench *b = t->b;
	PmStatus st = PM_OK;

	out->n_outputs = b->n_out < PM_SERVE_OUTPUTS ? b->n_out : PM_SERVE_OUTPUTS;
	for (size_t i = 0; i < out->n_outputs && !st; i++) {
		if (b->gpu)
			st = pm__gpu_get(b->gpu, t->out[i].data, t->place[b->n_in + i], t->out[i].bytes,
					 t->stream, err);
		pm_sha256_hex(t->out[i].data, t->out[i].bytes, out->output[i]);
	}
	return st;
}

static PmStatus serve(Bench *b, PmServed *out, PmErr *err)
{
	Thread *t = pm_xcalloc((size_t)b->ask->threads, sizeof *t);
	PmStatus st;

	for (int i = 0; i < b->ask->threads; i++) {
		t[i].b = b;
		t[i].number = i;
		pm_err_init(&t[i].err);
	}
	st = run_threads(b, t, out, err);
	if (!st)
		st = take_outputs(&t[0], out, err);
	if (!st && b->gpu && b->ask->graph)
		st = pm__host_cost(t[0].s, b->gpu, t[0].stream, HOST_RUNS, &out->host, err);
	for (int i = 0; i < b->ask->threads; i++)
		close_thread(&t[i]);
	free(t);
	return st;
}

/* The GPU of a model, by what it says of itself. */
static PmStatus find_gpu(Bench *b, PmErr *err)
{
	const char *at = strstr(pm_rt_about(b->m), "\"device\":\"cuda:");

	if (!at)
		return b->ask->on_device
			       ? pm_err(err, PM_E_INVALID,
					"%s is open on a device without memory of its own; leave out "
					"--device-tensors.",
					b->ask->package)
			       : PM_OK;
	return b->ask->on_device ? pm__gpu_open(atoi(strchr(at + 10, ':') + 1), &b->gpu, err) : PM_OK;
}

PmStatus pm_serve(const PmServeAsk *ask, PmServed *out, PmErr *err)
{
	Bench b = { .ask = ask,
		    .gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER } };
	PmRtError e;
	PmStatus st;
	double from;

	memset(out, 0, sizeof *out);
	look(&b, &out->before);
	from = pm_now();
	st = pm__serve_error(pm_rt_open(ask->package, ask->device, &b.m, &e), &e, err);
	out->open = pm_now() - from;
	if (st)
		return st;
	out->about = pm_xstrdup(pm_rt_about(b.m));
	b.n_in = pm_rt_n_inputs(b.m);
	b.n_out = pm_rt_n_outputs(b.m);
	atomic_store(&b.left, ask->runs);
	look(&b, &out->opened);
	st = find_gpu(&b, err);
	if (!st)
		st = make_inputs(&b, err);
	if (!st)
		st = serve(&b, out, err);
	if (b.in)
		pm_tensors_release(b.in, b.n_in);
	free(b.in);
	pm_rt_close(b.m);
	pm__gpu_close(b.gpu);
	return st;
}

void pm_served_release(PmServed *s)
{
	free(s->about);
	memset(s, 0, sizeof *s);
}
