/* test_cuda_clock.c - the clock on a GPU: does it find what is the same the same, and what is slower slower?
 *
 * The one place where tests look at times: these are properties of the clock, not of code under test. Each
 * prints its figures; $PASSMITH_CLOCK_JSON names a file that gets them all.
 */
#include "base/io.h"
#include "base/proc.h"
#include "bench/clock.h"
#include "bench/inputs.h"
#include "ir/text.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 100, ENOUGH = 95 };

static PmStr json = PM_STR_INIT;

static void figure(const char *fmt, ...) PM_PRINTF(1, 2);
static void figure(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	print_message("# %s\n", line);
	pm_str_addf(&json, "%s%s", json.len ? ",\n" : "", line);
}

static PmGraph *parse(const char *fmt, ...) PM_PRINTF(1, 2);
static PmGraph *parse(const char *fmt, ...)
{
	char text[512];
	va_list ap;
	PmGraph *g;
	PmErr err;

	pm_err_init(&err);
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (pm_graph_parse(text, strlen(text), &g, &err))
		fail_msg("%s: %s", text, err.text);
	return g;
}

/* --- two works in a worker's clock, without a candidate's checks --- */

static PmStatus sample(void *w, const PmSampleAsk *ask, PmSample *out, PmErr *err)
{
	return pm_worker_clock_take(w, ask, out, NULL, err);
}

static PmStatus empty(void *w, double *seconds, PmErr *err)
{
	return pm_worker_clock_empty(w, seconds, err);
}

static PmStatus warm(void *w, double *seconds, PmErr *err)
{
	return pm_worker_clock_warm(w, seconds, err);
}

static double now(void *w)
{
	(void)w;
	return pm_now();
}

typedef struct Pair {
	PmWorker *w;
	PmTensor in[2];
	size_t n_in;
	int depth;
} Pair;

static void open_pair(Pair *p, const PmGraph *a, const PmGraph *b)
{
	PmWork side[2] = { { .g = a }, { .g = b } };
	PmBank bank = { .t = p->in, .n_sets = 1, .n_in = 1, .seed = 7 };
	PmErr err;

	pm_test_need_device("cuda");
	pm_err_init(&err);
	p->w = pm_worker_new("cuda");
	p->n_in = 1;
	if (pm_inputs_make(a, 1, PM_INPUTS_NORMAL, p->in, &err) ||
	    pm_worker_clock_open(p->w, side, 2, &bank, 100, &p->depth, &err))
		fail_msg("%s", err.text);
}

static PmTiming run_pair(Pair *p, uint64_t seed, int kinds)
{
	PmClock c = { sample, empty, warm, now, p->w };
	PmTimerOpts o = { .n_sides = 2,
			  .max_train = p->depth,
			  .warm = seed > 0,
			  .seed = seed,
			  .replay = kinds ? 0 : -1,
			  .wall = kinds ? 0 : -1 };
	PmTiming t;
	PmErr err;

	pm_err_init(&err);
	if (pm_timer_run(&c, &o, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

static void close_pair(Pair *p)
{
	PmErr err;

	pm_err_init(&err);
	if (pm_worker_clock_close(p->w, &err))
		fail_msg("%s", err.text);
	pm_tensors_release(p->in, p->n_in);
	pm_worker_free(p->w);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* --- the promises --- */

/* The same graph against itself, elements of float: 100 runs, each on its own. */
static void control(long long elements)
{
	PmGraph *g = parse("g (float[%lld] x) => (float[%lld] y) { y = Tanh(x) }", elements, elements);
	double ratio[REPETITIONS], bound = 0;
	int good = 0, ok = 0, blocks = 0, repeated = 0;
	PmTiming t;
	Pair p;

	open_pair(&p, g, g);
	t = run_pair(&p, 0, 1);
	figure("{\"what\": \"A/A\", \"elements\": %lld, \"cold_us\": %.3f, \"replay_us\": %.3f, "
	       "\"wall_us\": %.3f, \"overhead_us\": %.3f, \"tick_ns\": %.1f, \"train\": %d, \"warm_s\": "
	       "%.2f, "
	       "\"steady\": %d, \"state\": \"%s\", \"why\": \"%s\"}",
	       elements, t.kind[0].side[0].median * 1e6, t.kind[1].side[0].median * 1e6,
	       t.kind[2].side[0].median * 1e6, t.overhead * 1e6, t.tick * 1e9, t.train, t.warm_seconds,
	       t.steady, pm_timing_state_name(t.state), t.why);
	bound = pm_timer_control_bound(t.kind[PM_TIME_COLD].side[0].median);
	for (int i = 0; i < REPETITIONS; i++) {
		t = run_pair(&p, 1 + (uint64_t)i, 0);
		ratio[i] = t.kind[PM_TIME_COLD].ratio[1].point;
		good += fabs(ratio[i] - 1) <= bound;
		ok += t.state == PM_TIMING_OK;
		blocks += t.kind[PM_TIME_COLD].blocks;
		repeated += t.repeated;
	}
	qsort(ratio, REPETITIONS, sizeof *ratio, ascending);
	figure("{\"what\": \"A/A of %d\", \"us\": %.2f, \"bound\": %.3f, \"within\": %d, \"ok\": %d, \"p2\": "
	       "%.5f, "
	       "\"p50\": %.5f, \"p98\": %.5f, \"blocks\": %.1f, \"repeated\": %.2f}",
	       REPETITIONS, t.kind[PM_TIME_COLD].side[0].median * 1e6, bound, good, ok, ratio[2], ratio[50],
	       ratio[97], blocks / (double)REPETITIONS, repeated / (double)REPETITIONS);
	close_pair(&p);
	pm_graph_free(g);
	assert_true(good >= ENOUGH);
}

static void short_calls_are_found_equal(void **state)
{
	(void)state;
	control(1 << 14);
}

static void calls_of_fifty_microseconds_are_found_equal(void **state)
{
	(void)state;
	control(16 << 20);
}

static void long_calls_are_found_equal(void **state)
{
	(void)state;
	control(128 << 20);
}

/* The second computes 3 % more elements of the same input; its time is proportional to them. */
static void three_percent_more_work_is_found(void **state)
{
	enum { N = 16 << 20, MORE = N / 100 * 103 };
	PmGraph *
		a = parse(
		       "g (float[%d] x) => (float[%d] y) { s = Slice <axes = [0], ends = [%d], starts = [0], "
		       "steps = [1]> (x)\n y = Tanh(s) }",
		       MORE, N, N),
	       *b = parse("g (float[%d] x) => (float[%d] y) { y = Tanh(x) }", MORE, MORE);
	int found = 0, wrong = 0;
	double sum = 0;
	PmTiming t;
	Pair p;

	(void)state;
	open_pair(&p, a, b);
	run_pair(&p, 0, 0);
	for (int i = 0; i < REPETITIONS; i++) {
		t = run_pair(&p, 1 + (uint64_t)i, 0);
		found += t.kind[PM_TIME_COLD].ratio[1].hi < 1;
		wrong += t.kind[PM_TIME_COLD].ratio[1].lo > 1;
		sum += t.kind[PM_TIME_COLD].ratio[1].point;
	}
	figure("{\"what\": \"3 %% slowdown\", \"us\": %.2f, \"found\": %d, \"of\": %d, \"mean_ratio\": %.5f}",
	       t.kind[PM_TIME_COLD].side[0].median * 1e6, found, REPETITIONS, sum / REPETITIONS);
	close_pair(&p);
	pm_graph_free(a);
	pm_graph_free(b);
	assert_true(found >= ENOUGH && wrong == 0);
}

/* --- the marks and the flush, in a process that has a device of its own --- */

static const char kernels[] =
	"extern \"C\" __global__ void spin(long long ns)\n"
	"{\n"
	"	unsigned long long t, u;\n"
	"	asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t));\n"
	"	do asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(u)); while (u - t < ns);\n"
	"}\n"
	"extern \"C\" __global__ void copy(const float4 *x, float4 *y, long long n)\n"
	"{\n"
	"	for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long "
	"long)gridDim.x * "
	"blockDim.x)\n"
	"		y[i] = x[i];\n"
	"}\n"
	"extern \"C\" __global__ void read(const float4 *x, float *y, long long n)\n"
	"{\n"
	"	float s = 0;\n"
	"	for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long "
	"long)gridDim.x * "
	"blockDim.x)\n"
	"		s += x[i].x + x[i].y + x[i].z + x[i].w;\n"
	"	if (s == 12345.678f) y[0] = s;\n"
	"}\n";

typedef struct Bench {
	PmDevice *d;
	PmModule m;
	PmErr err;
} Bench;

static void must(Bench *b, PmStatus st)
{
	if (st) {
		fprintf(stderr, "%s\n", b->err.text);
		_Exit(1);
	}
}

/* Median seconds of 21 launches, each after a flush when `cold`; with `again`, after one more launch of
 * itself. */
static double seconds(Bench *b, const char *entry, PmDevArg *args, int n, uint32_t blocks, uint32_t threads,
		      int cold, int again)
{
	PmDevLaunch l = { b->m, entry, { blocks, 1, 1 }, { threads, 1, 1 }, 0, args, n };
	double t[21], e[21];

	for (int i = 0; i < 21; i++) {
		must(b, b->d->ops->clock->delay(b->d, 30e-6, &b->err));
		must(b, b->d->ops->event_record(b->d, 0, &b->err));
		must(b, b->d->ops->event_record(b->d, 1, &b->err));
		must(b, b->d->ops->event_elapsed(b->d, 0, 1, &e[i], &b->err));
		if (cold)
			must(b, b->d->ops->clock->flush(b->d, &b->err));
		must(b, b->d->ops->clock->delay(b->d, 50e-6, &b->err));
		if (again)
			must(b, b->d->ops->launch(b->d, &l, &b->err));
		must(b, b->d->ops->event_record(b->d, 0, &b->err));
		must(b, b->d->ops->launch(b->d, &l, &b->err));
		must(b, b->d->ops->event_record(b->d, 1, &b->err));
		must(b, b->d->ops->event_elapsed(b->d, 0, 1, &t[i], &b->err));
	}
	return pm_median(t, 21) - pm_median(e, 21);
}

static int device_figures(void *arg, PmStr *out)
{
	static const double ns[] = { 10e3, 100e3, 1e6, 10e6 };
	PmSource s = { .label = "clock study", .source = kernels, .type = PM_F32 };
	PmBuf x, y;
	Bench b = { 0 };

	(void)arg;
	pm_err_init(&b.err);
	must(&b, pm_device_open("cuda", &b.d, &b.err));
	must(&b, b.d->ops->load(b.d, &s, 1, &b.m, &b.err));
	must(&b, b.d->ops->alloc(b.d, 1 << 30, PM_BUF_SCRATCH, &x, &b.err));
	must(&b, b.d->ops->alloc(b.d, 1 << 30, PM_BUF_SCRATCH, &y, &b.err));
	must(&b, b.d->ops->clock->quiet(b.d, 1, &b.err));
	for (int i = 0; i < 60; i++)
		must(&b, b.d->ops->clock->work(b.d, &b.err));
	for (int i = 0; i < 4; i++) {
		PmDevArg a = { .kind = PM_DARG_I64, .i = (int64_t)ns[i] };

		pm_str_addf(out, "spin %.0f %.9g\n", ns[i], seconds(&b, "spin", &a, 1, 1, 1, 0, 0));
	}
	for (int64_t n = 1 << 20; n <= 1 << 30; n *= 4) {
		PmDevArg a[] = { { .kind = PM_DARG_BUF, .buf = x, .readonly = 1 },
				 { .kind = PM_DARG_BUF, .buf = y },
				 { .kind = PM_DARG_I64, .i = n / 16 } };

		pm_str_addf(out, "copy %lld %.9g\n", (long long)n,
			    seconds(&b, "copy", a, 3, 132 * 16, 512, 1, 0));
		if (n == 16 << 20) {
			pm_str_addf(out, "cold %lld %.9g\n", (long long)n,
				    seconds(&b, "read", a, 3, 132 * 8, 512, 1, 0));
			pm_str_addf(out, "hot %lld %.9g\n", (long long)n,
				    seconds(&b, "read", a, 3, 132 * 8, 512, 0, 1));
		}
	}
	b.d->ops->close(b.d);
	return 0;
}

static void the_marks_tell_the_time_and_the_flush_empties(void **state)
{
	PmLimits lim = { .seconds = 100, .file_size = -1 };
	double cold = 0, hot = 0, last = 0;
	PmProcResult r;
	PmErr err;

	(void)state;
	pm_test_need_device("cuda");
	pm_err_init(&err);
	if (pm_fork_call(device_figures, NULL, &lim, &r, &err))
		fail_msg("%s", err.text);
	if (r.end != PM_PROC_EXITED || r.code)
		fail_msg("%s", r.errtext.s);
	for (const char *p = r.out.s; *p; p += strcspn(p, "\n") + 1) {
		char what[16];
		double n, t;

		assert_int_equal(sscanf(p, "%15s %lf %lf", what, &n, &t), 3);
		if (!strcmp(what, "spin")) {
			figure("{\"what\": \"spin\", \"wanted_us\": %.1f, \"us\": %.3f}", n / 1e3, t * 1e6);
			/* A launch lasts about 3 us longer than what runs in it. */
			assert_true(t >= n * 1e-9 * 0.98 && t <= n * 1e-9 * 1.02 + 5e-6);
		} else if (!strcmp(what, "copy")) {
			figure("{\"what\": \"copy\", \"MB\": %.0f, \"us\": %.2f, \"TB_per_s\": %.3f}",
			       n / 1048576, t * 1e6, 2e-12 * n / t);
			assert_true(2 * n / t >= last * 0.95); /* more at once is never slower */
			last = 2 * n / t;
		} else {
			*(strcmp(what, "cold") ? &hot : &cold) = t;
		}
	}
	figure("{\"what\": \"read of 16 MB\", \"cold_us\": %.2f, \"hot_us\": %.2f}", cold * 1e6, hot * 1e6);
	assert_true(cold > 1.2 * hot);
	pm_proc_result_release(&r);
}

static int write_json(void **state)
{
	const char *path = getenv("PASSMITH_CLOCK_JSON");
	PmStr text = PM_STR_INIT;

	(void)state;
	if (path) {
		pm_str_addf(&text, "[\n%s\n]\n", json.s);
		pm_write_file(path, text.s, text.len, NULL);
	}
	pm_str_release(&text);
	pm_str_release(&json);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_marks_tell_the_time_and_the_flush_empties),
		cmocka_unit_test(short_calls_are_found_equal),
		cmocka_unit_test(calls_of_fifty_microseconds_are_found_equal),
		cmocka_unit_test(long_calls_are_found_equal),
		cmocka_unit_test(three_percent_more_work_is_found),
	};

	return cmocka_run_group_tests_name("cuda_clock", tests, NULL, write_json);
}
