/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_marks.c - what the clock stands on: do its marks tell the time, does its flush empty the caches,
 * and are inputs, digests and sketches made on the GPU those that the host makes?
 *
 * All figures come from one process with a device of its own; the cases look at what it printed.
 */
#include "base/core/str.h"
#include "base/sys/proc.h"
#include "bench/compare/stats.h"
#include "runtime/device/device.h"
#include "runtime/device/input_pool.h"
#include "tests/lib/figures.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

enum { SAMPLES = 21, READ = 16 << 20, ODD_BYTES = 12345 };

static const char kernels[] =
	"extern \"C\" __global__ void nothing() { }\n"
	"extern \"C\" __global__ void spin(long long ns)\n"
	"{\n"
	"	unsigned long long t, u;\n"
	"	asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t));\n"
	"	do asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(u)); while (u - t < ns);\n"
	"}\n"
	"#define LOOP for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; "
	"i += (long long)gridDim.x * blockDim.x)\n"
	"extern \"C\" __global__ void copy(const float4 *x, float4 *y, long long n) { LOOP y[i] = x[i]; }\n"
	"extern \"C\" __global__ void read(const float4 *x, float *y, long long n)\n"
	"{\n"
	"	float s = 0;\n"
	"	LOOP s += x[i].x + x[i].y + x[i].z + x[i].w;\n"
	"	if (s == 12345.678f) y[0] = s;\n"
	"}\n"
	"extern \"C\" __global__ void hold(const float4 *x, float *y, long long n)\n"
	"{\n"
	"	float s = 0;\n"
	"#if __CUDA_ARCH__ >= 800\n"
	"	unsigned long long p;\n"
	"	asm volatile(\"createpolicy.fractional.L2::evict_last.b64 %0, 1.0;\" : \"=l\"(p));\n"
	"	LOOP {\n"
	"		float a, b, c, d;\n"
	"		asm volatile(\"ld.global.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;\"\n"
	"			     : \"=f\"(a), \"=f\"(b), \"=f\"(c), \"=f\"(d) : \"l\"(x + i), "
	"\"l\"(p));\n"
	"		s += a + b + c + d;\n"
	"	}\n"
	"#else\n"
	"	LOOP s += x[i].x + x[i].y + x[i].z + x[i].w;\n"
	"#endif\n"
	"	if (s == 12345.678f) y[0] = s;\n"
	"}\n";

/* --- in the process that has the device --- */

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

typedef struct Call {
	const char *entry;
	uint32_t blocks, threads;
	PmDevArg arg[3];
	int n;
	int64_t stride; /* added to the first argument's offset before each sample */
} Call;

static void launch(Bench *b, const Call *c)
{
	PmDevLaunch l = { b->m, c->entry, { c->blocks, 1, 1 }, { c->threads, 1, 1 }, 0, c->arg, c->n };

	must(b, b->d->ops->launch(b->d, &l, &b->err));
}

/* Median seconds of the call: with `held` launched before the flush; after a flush, when `cold`; after
 * itself, when `again`. */
static double seconds(Bench *b, Call c, const Call *held, int cold, int again)
{
	double t[SAMPLES], e[SAMPLES];

	for (int i = 0; i < SAMPLES; i++) {
		must(b, b->d->ops->clock->delay(b->d, 30e-6, &b->err));
		must(b, b->d->ops->event_record(b->d, 0, &b->err));
		must(b, b->d->ops->event_record(b->d, 1, &b->err));
		must(b, b->d->ops->event_elapsed(b->d, 0, 1, &e[i], &b->err));
		if (held)
			launch(b, held);
		if (cold)
			must(b, b->d->ops->clock->flush(b->d, &b->err));
		must(b, b->d->ops->clock->delay(b->d, 50e-6, &b->err));
		if (again)
			launch(b, &c);
		must(b, b->d->ops->event_record(b->d, 0, &b->err));
		launch(b, &c);
		must(b, b->d->ops->event_record(b->d, 1, &b->err));
		must(b, b->d->ops->event_elapsed(b->d, 0, 1, &t[i], &b->err));
		c.arg[0].offset += c.stride;
	}
	return pm_median(t, SAMPLES) - pm_median(e, SAMPLES);
}

static Call reading(const char *entry, PmBuf x, PmBuf y, int64_t bytes, uint32_t blocks)
{
	return (Call){ .entry = entry,
		       .blocks = blocks,
		       .threads = 512,
		       .arg = { { .kind = PM_DARG_BUF, .buf = x, .readonly = 1 },
				{ .kind = PM_DARG_BUF, .buf = y },
				{ .kind = PM_DARG_I64, .i = bytes / 16 } },
		       .n = 3 };
}

static void digests(Bench *b, PmStr *out)
{
	unsigned char bytes[ODD_BYTES];
	int64_t n[2] = { ODD_BYTES, 40 };
	PmDigest here = { { 0, 0 } }, there;
	PmBuf buf[2];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(i * i + 3);
	for (int i = 0; i < 2; i++) {
		must(b, b->d->ops->alloc(b->d, n[i], PM_BUF_SCRATCH, &buf[i], &b->err));
		must(b, b->d->ops->upload(b->d, buf[i], 0, bytes, n[i], &b->err));
		pm_digest_add(&here, 99, (uint64_t)i, bytes, n[i]);
	}
	must(b, b->d->ops->clock->digest(b->d, buf, n, 2, 99, &there, &b->err));
	pm_str_addf(out, "digest %d 0\n", pm_digest_equal(&here, &there));
}

/* Of every element type: the GPU's sketch is the host's but for the order of its sums. */
static void sketches(Bench *b, PmStr *out)
{
	int64_t n = ODD_BYTES, dim[] = { ODD_BYTES };
	double worst = 0;

	for (int dtype = 0; dtype < PM_N_DTYPES && !pm_dtype_is_narrow(dtype); dtype++) {
		PmType type = pm_type((PmDType)dtype, 1, dim);
		PmSketch here, there;
		PmTensor t;
		PmBuf buf;

		must(b, pm_tensor_init(&t, &type, &b->err));
		for (size_t i = 0; i < t.bytes; i++) /* NaNs and infinities among them */
			((unsigned char *)t.data)[i] = (unsigned char)(i * i + i / 7);
		for (int64_t i = 0; dtype == PM_BOOL && i < n; i++)
			((unsigned char *)t.data)[i] = i % 3 == 0;
		for (size_t i = 7; dtype == PM_F64 && i < t.bytes; i += 8)
			((unsigned char *)t.data)[i] &= 0xbf; /* so that no sum overflows */
		pm_sketch_make(&here, 99, (uint64_t)dtype, &t);
		must(b, b->d->ops->alloc(b->d, (int64_t)t.bytes, PM_BUF_SCRATCH, &buf, &b->err));
		must(b, b->d->ops->upload(b->d, buf, 0, t.data, (int64_t)t.bytes, &b->err));
		must(b, b->d->ops->clock->sketch(b->d, buf, dtype, n, 99, (uint64_t)dtype, &there, &b->err));
		worst = fmax(worst, pm_sketch_distance(&there, &here));
		pm_tensor_release(&t);
	}
	pm_str_addf(out, "sketch %d %.9g\n", PM_N_DTYPES, worst);
}

/* Inputs of every element type: the host's bits, and how fast. */
static void redraws(Bench *b, PmBuf large, PmStr *out)
{
	int same = 0;
	double t;

	for (int dtype = 0; dtype < PM_N_DTYPES; dtype++) {
		size_t size = pm_dtype_size(dtype);
		unsigned char *table = calloc(PM_BANK_TABLE, size), *here = calloc(ODD_BYTES, size),
			      *there = calloc(ODD_BYTES, size);
		PmBuf from, to;

		for (size_t i = 0; i < PM_BANK_TABLE * size; i++)
			table[i] = (unsigned char)(i * i + i / 7);
		must(b,
		     b->d->ops->alloc(b->d, (int64_t)(PM_BANK_TABLE * size), PM_BUF_SCRATCH, &from, &b->err));
		must(b, b->d->ops->alloc(b->d, (int64_t)(ODD_BYTES * size), PM_BUF_SCRATCH, &to, &b->err));
		must(b, b->d->ops->upload(b->d, from, 0, table, (int64_t)(PM_BANK_TABLE * size), &b->err));
		must(b, b->d->ops->draw(b->d, to, ODD_BYTES, dtype, from, 99 + (uint64_t)dtype, &b->err));
		must(b, b->d->ops->download(b->d, to, 0, there, (int64_t)(ODD_BYTES * size), &b->err));
		pm_input_pool_draw(here, ODD_BYTES, dtype, table, 99 + (uint64_t)dtype);
		same += !memcmp(here, there, ODD_BYTES * size);
		if (dtype == PM_F32) {
			must(b, b->d->ops->event_record(b->d, 0, &b->err));
			must(b, b->d->ops->draw(b->d, large, (int64_t)1 << 28, dtype, from, 7, &b->err));
			must(b, b->d->ops->event_record(b->d, 1, &b->err));
			must(b, b->d->ops->event_elapsed(b->d, 0, 1, &t, &b->err));
			pm_str_addf(out, "redraw-gib 1 %.9g\n", t);
		}
		free(table);
		free(here);
		free(there);
	}
	pm_str_addf(out, "redraw %d %d\n", PM_N_DTYPES, same);
}

static int device_figures(void *arg, PmStr *out)
{
	static const double ns[] = { 1e3, 10e3, 100e3, 1e6, 10e6 };
	PmSource s = { .label = "clock study", .source = kernels, .type = PM_F32 };
	Call c, held;
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
	digests(&b, out);
	sketches(&b, out);
	redraws(&b, x, out);
	c = (Call){ .entry = "nothing", .blocks = 1, .threads = 32 };
	pm_str_addf(out, "null 0 %.9g\n", seconds(&b, c, NULL, 1, 0));
	for (int i = 0; i < 5; i++) {
		c = (Call){ .entry = "spin", .blocks = 1, .threads = 1, .n = 1 };
		c.arg[0] = (PmDevArg){ .kind = PM_DARG_I64, .i = (int64_t)ns[i] };
		pm_str_addf(out, "spin %.0f %.9g\n", ns[i], seconds(&b, c, NULL, 0, 0));
	}
	for (int64_t n = 1 << 20; n <= 1 << 30; n *= 4)
		pm_str_addf(out, "copy %lld %.9g\n", (long long)n,
			    seconds(&b, reading("copy", x, y, n, 132 * 16), NULL, 1, 0));
	c = reading("read", x, y, READ, 132 * 8);
	held = reading("hold", x, y, READ, 132 * 8);
	pm_str_addf(out, "hot %d %.9g\n", READ, seconds(&b, c, NULL, 0, 1));
	pm_str_addf(out, "cold %d %.9g\n", READ, seconds(&b, c, &c, 1, 0));
	pm_str_addf(out, "held %d %.9g\n", READ, seconds(&b, c, &held, 1, 0));
	c.stride = READ;
	pm_str_addf(out, "untouched %d %.9g\n", READ, seconds(&b, c, NULL, 1, 0));
	b.d->ops->close(b.d);
	return 0;
}

/* --- what it printed --- */

static char *printed;

static void run_device(void **state)
{
	PmLimits lim = { .seconds = 100, .file_size = -1 };
	PmProcResult r;
	PmErr err;

	(void)state;
	if (printed)
		return;
	pm_test_need_device("cuda");
	pm_err_init(&err);
	if (pm_fork_call(device_figures, NULL, &lim, &r, &err))
		fail_msg("%s", err.text);
	if (r.end != PM_PROC_EXITED || r.code)
		fail_msg("%s", r.errtext.s);
	printed = strdup(r.out.s);
	pm_proc_result_release(&r);
}

/* The next line that begins with `what`; 0 when there is none. */
static int next(const char **at, const char *what, double *n, double *t)
{
	for (; **at; *at += strcspn(*at, "\n") + 1)
		if (!strncmp(*at, what, strlen(what)) && (*at)[strlen(what)] == ' ') {
			assert_int_equal(sscanf(*at + strlen(what), "%lf %lf", n, t), 2);
			*at += strcspn(*at, "\n") + 1;
			return 1;
		}
	return 0;
}

static double only(const char *what)
{
	const char *at = printed;
	double n, t;

	assert_true(next(&at, what, &n, &t));
	return t;
}

static void the_marks_tell_the_time(void **state)
{
	const char *at;
	double n, t;

	run_device(state);
	pm_figure("{\"what\": \"an empty kernel after a flush\", \"us\": %.3f}", only("null") * 1e6);
	assert_true(only("null") <= 4e-6);
	for (at = printed; next(&at, "spin", &n, &t);) {
		pm_figure("{\"what\": \"spin\", \"wanted_us\": %.1f, \"us\": %.3f}", n / 1e3, t * 1e6);
		/* A launch lasts about 2 us longer than what runs in it. */
		assert_true(t >= n * 1e-9 * 0.98 && t <= n * 1e-9 * 1.02 + 5e-6);
	}
}

static void copies_are_never_faster_than_memory(void **state)
{
	const char *at;
	double n, t;

	run_device(state);
	for (at = printed; next(&at, "copy", &n, &t);) {
		pm_figure("{\"what\": \"copy\", \"MB\": %.0f, \"us\": %.2f, \"TB_per_s\": %.3f}", n / 1048576,
			  t * 1e6, 2e-12 * n / t);
		assert_true(2 * n / t < 4.8e12 * 1.02);
	}
}

/* Whatever was read before the flush: nothing of it is left, not even what asked to stay. */
static void the_flush_empties(void **state)
{
	double hot, cold, held, untouched;

	run_device(state);
	hot = only("hot");
	cold = only("cold");
	held = only("held");
	untouched = only("untouched");
	pm_figure(
		"{\"what\": \"read of 16 MB\", \"hot_us\": %.2f, \"cold_us\": %.2f, \"untouched_us\": %.2f, "
		"\"held_by_evict_last_us\": %.2f}",
		hot * 1e6, cold * 1e6, untouched * 1e6, held * 1e6);
	assert_true(cold > 1.2 * hot);
	assert_true(cold >= 0.95 * untouched);
	assert_true(held >= 0.97 * cold);
}

static void digests_are_those_of_the_host(void **state)
{
	const char *at;
	double same, t;

	run_device(state);
	at = printed;
	assert_true(next(&at, "digest", &same, &t) && same == 1);
}

static void sketches_are_those_of_the_host(void **state)
{
	const char *at;
	double n, apart;

	run_device(state);
	at = printed;
	assert_true(next(&at, "sketch", &n, &apart));
	pm_figure("{\"what\": \"sketches of the GPU beside the host's\", \"types\": %.0f, \"apart\": %.3g}",
		  n, apart);
	assert_true(apart < 1e-12);
}

static int write_figures(void **state)
{
	(void)state;
	free(printed);
	return pm_figures_write("marks");
}

static void inputs_drawn_there_are_the_hosts(void **state)
{
	run_device(state);
	print_message("# 1 GiB of inputs is drawn in %.0f us\n", 1e6 * only("redraw-gib"));
	assert_true(only("redraw") == PM_N_DTYPES);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(inputs_drawn_there_are_the_hosts),
		cmocka_unit_test(digests_are_those_of_the_host),
		cmocka_unit_test(sketches_are_those_of_the_host),
		cmocka_unit_test(the_marks_tell_the_time),
		cmocka_unit_test(copies_are_never_faster_than_memory),
		cmocka_unit_test(the_flush_empties),
	};

	return cmocka_run_group_tests_name("cuda_marks", tests, NULL, write_figures);
}
