/* SPDX-License-Identifier: Apache-2.0 */
/* rt_cases.c - what libpassmith_rt must do on a GPU. */
#include "tests/lib/device/rt_cases.h"

#include "bench/inputs/inputs.h"
#include "rt/rt_priv.h"
#include "tests/lib/device/stuck.h"
#include "tests/lib/held.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { AWAY = 64, SETS = 5, TURNS = 3 /* more and less than the graphs of a session */ };

/* The driver's functions that a caller of the library uses. */
static struct {
	int (*init)(unsigned);
	int (*retain)(void **, int);
	int (*push)(void *);
	int (*pop)(void **);
	int (*current)(void **);
	int (*alloc)(unsigned long long *, size_t);
	int (*release)(unsigned long long);
	int (*to)(unsigned long long, const void *, size_t, void *);
	int (*from)(void *, unsigned long long, size_t, void *);
	int (*stream)(void **, unsigned);
	int (*stream_end)(void *);
	int (*sync)(void *);
	int (*capture)(void *, int);
	int (*capture_end)(void *, void **);
	int (*graph_end)(void *);
	int (*info)(size_t *, size_t *);
} cu;
static void *ctx;

static void find(void *so, const char *name, void *to)
{
	void *p = dlsym(so, name);

	if (!p)
		fail_msg("The driver has no %s.", name);
	memcpy(to, &p, sizeof p);
}

void rt_cases_open(void)
{
	void *so = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!so)
		fail_msg("There is no driver: %s", dlerror());
	find(so, "cuInit", &cu.init);
	find(so, "cuDevicePrimaryCtxRetain", &cu.retain);
	find(so, "cuCtxPushCurrent_v2", &cu.push);
	find(so, "cuCtxPopCurrent_v2", &cu.pop);
	find(so, "cuCtxGetCurrent", &cu.current);
	find(so, "cuMemAlloc_v2", &cu.alloc);
	find(so, "cuMemFree_v2", &cu.release);
	find(so, "cuMemcpyHtoDAsync_v2", &cu.to);
	find(so, "cuMemcpyDtoHAsync_v2", &cu.from);
	find(so, "cuStreamCreate", &cu.stream);
	find(so, "cuStreamDestroy_v2", &cu.stream_end);
	find(so, "cuStreamSynchronize", &cu.sync);
	find(so, "cuStreamBeginCapture_v2", &cu.capture);
	find(so, "cuStreamEndCapture", &cu.capture_end);
	find(so, "cuGraphDestroy", &cu.graph_end);
	find(so, "cuMemGetInfo_v2", &cu.info);
	assert_int_equal(cu.init(0), 0);
	assert_int_equal(cu.retain(&ctx, 0), 0);
}

static PmRtModel *open_model(const TestPackage *p)
{
	PmRtModel *m = NULL;
	PmRtError e;

	if (pm_rt_open(p->path, "cuda", &m, &e))
		fail_msg("%s", e.text);
	assert_non_null(strstr(pm_rt_about(m), "\"device\":\"cuda:0"));
	return m;
}

static PmRtSession *open_session(PmRtModel *m)
{
	PmRtSession *s = NULL;
	PmRtError e;

	if (pm_rt_session_new(m, &s, &e))
		fail_msg("%s", e.text);
	return s;
}

static void run(PmRtSession *s, void *stream, unsigned flags)
{
	PmRtError e;

	if (pm_rt_run(s, stream, flags, &e))
		fail_msg("%s", e.text);
}

void rt_case_host(const TestPackage *p)
{
	PmRtModel *m = open_model(p);
	PmRtSession *s = open_session(m);
	PmTensor out[TEST_VALUES];

	for (int again = 0; again < 4; again++)
		for (size_t k = 0; k < p->n_runs; k++) {
			test_bind(s, &p->run[k], out);
			run(s, NULL, again % 2 ? PM_RT_GRAPH : 0);
			test_same(&p->run[k], out, again % 2 ? "host, graph" : "host");
			pm_tensors_release(out, p->run[k].n_out);
		}
	pm_rt_session_free(s);
	pm_rt_close(m);
}

/* ---- tensors on the device ---- */

typedef struct Set {
	unsigned long long base[TEST_VALUES], at[TEST_VALUES]; /* inputs, then outputs */
	size_t n;
} Set;

/* `away` bytes behind an aligned place. The context is current. */
static void make_set(const TestRun *r, size_t away, void *stream, Set *s)
{
	s->n = r->n_in + r->n_out;
	for (size_t i = 0; i < s->n; i++) {
		const PmTensor *t = i < r->n_in ? &r->in[i] : &r->want[i - r->n_in];

		assert_int_equal(cu.alloc(&s->base[i], t->bytes + away + 1), 0);
		s->at[i] = s->base[i] + away;
		if (i < r->n_in && t->bytes)
			assert_int_equal(cu.to(s->at[i], t->data, t->bytes, stream), 0);
	}
	assert_int_equal(cu.sync(stream), 0);
}

static void bind_set(PmRtSession *s, const TestRun *r, const Set *set)
{
	PmRtError e;

	for (size_t i = 0; i < set->n; i++) {
		int in = i < r->n_in;
		PmRtTensor t = test_rt_tensor(in ? &r->in[i] : &r->want[i - r->n_in]);

		t.data = (void *)(size_t)set->at[i];
		t.place = PM_RT_ON_DEVICE;
		if (in ? pm_rt_bind_input(s, i, &t, &e) : pm_rt_bind_output(s, i - r->n_in, &t, &e))
			fail_msg("%s", e.text);
	}
}

static void check_set(const TestRun *r, const Set *set, void *stream, const char *what)
{
	for (size_t i = 0; i < r->n_out; i++) {
		size_t n = r->want[i].bytes;
		char *got = calloc(1, n + 1);

		assert_int_equal(cu.from(got, set->at[r->n_in + i], n, stream), 0);
		assert_int_equal(cu.sync(stream), 0);
		if (memcmp(got, r->want[i].data, n) != 0)
			fail_msg("%s: output %zu has other bits.", what, i);
		/* So that the next run has to make it again. */
		memset(got, 0x5a, n);
		assert_int_equal(cu.to(set->at[r->n_in + i], got, n, stream), 0);
		assert_int_equal(cu.sync(stream), 0);
		free(got);
	}
}

static void drop_set(Set *s)
{
	for (size_t i = 0; i < s->n; i++)
		assert_int_equal(cu.release(s->base[i]), 0);
}

void rt_case_device(const TestPackage *p)
{
	PmRtModel *m = open_model(p);
	PmRtSession *s = open_session(m);
	void *stream, *now;

	assert_int_equal(cu.current(&now), 0);
	assert_null(now);
	assert_int_equal(cu.push(ctx), 0);
	assert_int_equal(cu.stream(&stream, 1), 0);
	for (size_t k = 0; k < p->n_runs; k++) {
		const TestRun *r = &p->run[k];
		Set set[SETS];

		for (size_t away = 0; away <= AWAY; away += AWAY) {
			for (int i = 0; i < SETS; i++)
				make_set(r, away, stream, &set[i]);
			for (int i = 0; i < 3 * SETS; i++) {
				bind_set(s, r, &set[i % SETS]);
				run(s, stream, i < SETS ? 0 : PM_RT_GRAPH);
				check_set(r, &set[i % SETS], stream, i < SETS ? "device" : "device, graph");
			}
			for (int i = 0; i < SETS; i++)
				drop_set(&set[i]);
		}
	}
	assert_int_equal(cu.current(&now), 0);
	assert_ptr_equal(now, ctx);
	assert_int_equal(cu.stream_end(stream), 0);
	assert_int_equal(cu.pop(&now), 0);
	pm_rt_session_free(s);
	pm_rt_close(m);
	assert_int_equal(cu.current(&now), 0);
	assert_null(now);
}

void rt_case_turns(const TestPackage *p, long (*captured)(void))
{
	const TestRun *r = &p->run[0];
	PmRtModel *m = open_model(p);
	PmRtSession *s = open_session(m);
	void *stream, *now;
	Set set[TURNS];
	long before = 0;

	assert_int_equal(cu.push(ctx), 0);
	assert_int_equal(cu.stream(&stream, 1), 0);
	for (int i = 0; i < TURNS; i++)
		make_set(r, 0, stream, &set[i]);
	for (int i = 0; i < 4 * TURNS; i++) {
		if (i == 2 * TURNS)
			before = captured();
		bind_set(s, r, &set[i % TURNS]);
		run(s, stream, PM_RT_GRAPH);
		check_set(r, &set[i % TURNS], stream, "in turn");
	}
	assert_int_equal(captured(), before);
	for (int i = 0; i < TURNS; i++)
		drop_set(&set[i]);
	assert_int_equal(cu.stream_end(stream), 0);
	assert_int_equal(cu.pop(&now), 0);
	pm_rt_session_free(s);
	pm_rt_close(m);
}

/* ---- sessions that are warm ---- */

static void mark_outputs(const TestRun *r, const Set *set, void *stream)
{
	for (size_t i = 0; i < r->n_out; i++) {
		char *mark = malloc(r->want[i].bytes + 1);

		memset(mark, 0x5a, r->want[i].bytes + 1);
		assert_int_equal(cu.to(set->at[r->n_in + i], mark, r->want[i].bytes, stream), 0);
		assert_int_equal(cu.sync(stream), 0);
		free(mark);
	}
}

/* Inputs are what they were, outputs are what mark_outputs wrote. */
static void check_untouched(const TestRun *r, const Set *set, void *stream)
{
	for (size_t i = 0; i < set->n; i++) {
		const PmTensor *t = i < r->n_in ? &r->in[i] : &r->want[i - r->n_in];
		char *got = calloc(1, t->bytes + 1);

		assert_int_equal(cu.from(got, set->at[i], t->bytes, stream), 0);
		assert_int_equal(cu.sync(stream), 0);
		for (size_t k = 0; k < t->bytes; k++)
			assert_int_equal(got[k], i < r->n_in ? ((char *)t->data)[k] : 0x5a);
		free(got);
	}
}

static void warm_up(PmRtSession *s, unsigned flags)
{
	PmRtError e;

	if (pm_rt_session_warm(s, flags, &e))
		fail_msg("%s", e.text);
}

static void warm_bound(PmRtModel *m, const TestRun *r, void *stream, void (*note)(int when))
{
	PmRtSession *s = open_session(m);
	Set set;

	make_set(r, 0, stream, &set);
	mark_outputs(r, &set, stream);
	bind_set(s, r, &set);
	if (note)
		note(RT_BOUND);
	warm_up(s, PM_RT_GRAPH);
	if (note)
		note(RT_WARM);
	check_untouched(r, &set, stream);
	if (note)
		note(RT_WARM);
	run(s, stream, PM_RT_GRAPH);
	if (note)
		note(RT_FIRST);
	check_set(r, &set, stream, "warm");
	run(s, stream, 0);
	check_set(r, &set, stream, "warm, without a graph");
	pm_rt_session_free(s);
	drop_set(&set);
}

void rt_case_warm(const TestPackage *p, void (*note)(int when))
{
	PmRtModel *m = open_model(p);
	PmTensor out[TEST_VALUES];
	PmRtSession *s;
	void *stream, *now;

	assert_int_equal(cu.push(ctx), 0);
	assert_int_equal(cu.stream(&stream, 1), 0);
	for (size_t k = 0; k < p->n_runs; k++)
		warm_bound(m, &p->run[k], stream, note);
	assert_int_equal(cu.stream_end(stream), 0);
	assert_int_equal(cu.pop(&now), 0);
	s = open_session(m);
	warm_up(s, PM_RT_GRAPH);
	for (size_t k = 0; k < p->n_runs; k++) {
		test_bind(s, &p->run[k], out);
		warm_up(s, 0);
		run(s, NULL, PM_RT_GRAPH);
		test_same(&p->run[k], out, "warm, tensors of the host");
		pm_tensors_release(out, p->run[k].n_out);
	}
	pm_rt_session_free(s);
	pm_rt_close(m);
}

long rt_case_host_calls(const TestPackage *p, long (*counted)(void))
{
	const TestRun *r = &p->run[0];
	PmRtModel *m = open_model(p);
	PmRtSession *s = open_session(m);
	void *stream, *now;
	long each = 0;
	Set set;

	assert_int_equal(cu.push(ctx), 0);
	assert_int_equal(cu.stream(&stream, 1), 0);
	make_set(r, 0, stream, &set);
	bind_set(s, r, &set);
	run(s, stream, PM_RT_GRAPH);
	run(s, stream, PM_RT_GRAPH);
	for (int i = 0; i < 10; i++) {
		long before = counted();

		run(s, stream, PM_RT_GRAPH);
		if (i)
			assert_int_equal(counted() - before, each);
		each = counted() - before;
	}
	check_set(r, &set, stream, "as graphs");
	drop_set(&set);
	assert_int_equal(cu.stream_end(stream), 0);
	assert_int_equal(cu.pop(&now), 0);
	pm_rt_session_free(s);
	pm_rt_close(m);
	return each;
}

/* ---- runs that are the one before, once more ---- */

/* Whether the next run as a graph looks at nothing. */
static int is_short(const PmRtSession *s)
{
	return s->again_binds == s->binds;
}

/* Binds the set and runs it three times, the last of them short. */
static void run_thrice(PmRtSession *s, const TestRun *r, const Set *set, void *stream, const char *what)
{
	bind_set(s, r, set);
	assert_false(is_short(s));
	for (int i = 0; i < 3; i++) {
		run(s, stream, PM_RT_GRAPH);
		check_set(r, set, stream, what);
	}
	assert_true(is_short(s));
}

/* What lies where kernels cannot use it is copied, each time. */
static void run_away(PmRtSession *s, const TestRun *r, void *stream)
{
	Set away;

	make_set(r, AWAY, stream, &away);
	bind_set(s, r, &away);
	for (int i = 0; i < 3; i++) {
		run(s, stream, PM_RT_GRAPH);
		assert_false(is_short(s));
		check_set(r, &away, stream, "again, copied");
	}
	drop_set(&away);
}

void rt_case_again(const TestPackage *p)
{
	const TestRun *r = &p->run[0], *other = &p->run[p->n_runs - 1];
	PmRtModel *m = open_model(p);
	PmRtSession *s = open_session(m);
	Set set[SETS], last;
	void *stream, *now;

	assert_int_equal(cu.push(ctx), 0);
	assert_int_equal(cu.stream(&stream, 1), 0);
	make_set(other, 0, stream, &last);
	for (int i = 0; i < SETS; i++)
		make_set(r, 0, stream, &set[i]);
	for (int i = 0; i < 2 * SETS; i++) /* a graph takes another's place */
		run_thrice(s, r, &set[i % SETS], stream, "again");
	run(s, stream, 0);
	check_set(r, &set[SETS - 1], stream, "again, without a graph");
	run(s, stream, PM_RT_GRAPH);
	check_set(r, &set[SETS - 1], stream, "again, after a run without a graph");
	assert_true(is_short(s));
	warm_up(s, PM_RT_GRAPH); /* on the session's own memory: its graph takes a place */
	assert_false(is_short(s));
	run(s, stream, PM_RT_GRAPH);
	check_set(r, &set[SETS - 1], stream, "again, after it was warmed");
	run_away(s, r, stream);
	run_thrice(s, other, &last, stream, "again, the last sizes");
	run_thrice(s, r, &set[0], stream, "again, the first sizes");
	run(s, NULL, PM_RT_GRAPH);
	check_set(r, &set[0], stream, "again, waited for");
	for (int i = 0; i < SETS; i++)
		drop_set(&set[i]);
	drop_set(&last);
	assert_int_equal(cu.stream_end(stream), 0);
	assert_int_equal(cu.pop(&now), 0);
	pm_rt_session_free(s);
	pm_rt_close(m);
}

/* ---- threads ---- */

double rt_threads_tell_s = 10, rt_threads_end_s = 120;

typedef struct Thread {
	const TestPackage *p;
	PmRtModel *m;
	TestWorker *at;
	int runs, number;
	char why[1100]; /* "" = all was right */
} Thread;

/* Runs what is bound, as a graph each third time. */
static int run_bound(Thread *t, PmRtSession *s, int i, PmRtError *e)
{
	int graph = i % 3 == 0;

	test_step(t->at, graph ? "pm_rt_run with a graph" : "pm_rt_run", i);
	return pm_rt_run(s, NULL, graph ? PM_RT_GRAPH : 0, e);
}

/* No assertion here: cmocka's belong to the first thread. */
static int run_one(Thread *t, PmRtSession *s, int i)
{
	const TestRun *r = &t->p->run[(size_t)(i + t->number) % t->p->n_runs];
	PmTensor out[TEST_VALUES];
	PmRtError e = { 0 };
	int bad = 0;

	test_step(t->at, "binding tensors", i);
	for (size_t k = 0; k < r->n_in && !bad; k++) {
		PmRtTensor in = test_rt_tensor(&r->in[k]);

		bad = pm_rt_bind_input(s, k, &in, &e);
	}
	for (size_t k = 0; k < r->n_out; k++) {
		PmRtTensor to;

		if (pm_tensor_init(&out[k], &r->want[k].type, NULL))
			bad = 1;
		to = test_rt_tensor(&out[k]);
		bad = bad || pm_rt_bind_output(s, k, &to, &e);
	}
	bad = bad || run_bound(t, s, i, &e);
	test_step(t->at, "comparing outputs", i);
	for (size_t k = 0; k < r->n_out; k++) {
		if (!bad && memcmp(out[k].data, r->want[k].data, r->want[k].bytes) != 0) {
			snprintf(e.text, sizeof e.text, "output %zu of run %d has other bits", k, i);
			bad = 1;
		}
		pm_tensor_release(&out[k]);
	}
	if (bad)
		snprintf(t->why, sizeof t->why, "%s.", e.text);
	return bad;
}

static void *work(void *arg)
{
	Thread *t = arg;
	PmRtSession *s = NULL;
	PmRtError e;

	test_step(t->at, "pm_rt_session_new", 0);
	if (pm_rt_session_new(t->m, &s, &e))
		snprintf(t->why, sizeof t->why, "%s", e.text);
	for (int i = 0; s && i < t->runs && !run_one(t, s, i); i++)
		;
	test_step(t->at, "pm_rt_session_free", t->runs);
	pm_rt_session_free(s);
	test_step(t->at, "ending", t->runs);
	return NULL;
}

static void all_threads(const TestPackage *p, PmRtModel *m, int n, int runs)
{
	Thread *t = calloc((size_t)n, sizeof *t);
	TestWorker *w = calloc((size_t)n, sizeof *w);

	for (int i = 0; i < n; i++) {
		t[i] = (Thread){ .p = p, .m = m, .at = &w[i], .runs = runs, .number = i };
		assert_int_equal(pthread_create(&w[i].id, NULL, work, &t[i]), 0);
	}
	test_join(w, n, p->name, rt_threads_tell_s, rt_threads_end_s);
	for (int i = 0; i < n; i++)
		if (*t[i].why)
			fail_msg("thread %d: %s", i, t[i].why);
	free(t);
	free(w);
}

void rt_case_threads(const TestPackage *p, int n, int runs)
{
	PmRtModel *m = open_model(p);

	all_threads(p, m, n, runs);
	pm_rt_close(m);
}

void rt_case_threads_held(const TestPackage *p, int n, int runs)
{
	PmRtModel *m = open_model(p);
	void *stream, *graph, *now;

	assert_int_equal(cu.push(ctx), 0);
	assert_int_equal(cu.stream(&stream, 1), 0);
	assert_int_equal(cu.capture(stream, 2), 0);
	assert_int_equal(cu.pop(&now), 0);
	all_threads(p, m, n, runs);
	assert_int_equal(cu.push(ctx), 0);
	assert_int_equal(cu.capture_end(stream, &graph), 0);
	assert_int_equal(cu.graph_end(graph), 0);
	assert_int_equal(cu.stream_end(stream), 0);
	assert_int_equal(cu.pop(&now), 0);
	pm_rt_close(m);
}

/* ---- growth ---- */

static size_t free_memory(void)
{
	size_t left = 0, all = 0;
	void *now;

	assert_int_equal(cu.push(ctx), 0);
	assert_int_equal(cu.info(&left, &all), 0);
	assert_int_equal(cu.pop(&now), 0);
	return left;
}

void rt_case_growth(const TestPackage *p, int runs)
{
	PmRtModel *m = open_model(p);
	PmRtSession *s = open_session(m);
	const TestRun *r = &p->run[0];
	PmTensor out[TEST_VALUES];
	size_t memory;
	int files;

	test_bind(s, r, out);
	for (int i = 0; i < 3; i++)
		run(s, NULL, i % 2 ? PM_RT_GRAPH : 0);
	files = test_open_files();
	memory = free_memory();
	for (int i = 0; i < runs; i++)
		run(s, NULL, i % 2 ? PM_RT_GRAPH : 0);
	assert_int_equal(test_open_files(), files);
	assert_true(free_memory() >= memory);
	test_same(r, out, "after many runs");
	pm_tensors_release(out, r->n_out);
	pm_rt_session_free(s);
	pm_rt_close(m);
}
