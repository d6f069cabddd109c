/* SPDX-License-Identifier: Apache-2.0 */
/* test_host.c - kernels compiled ahead and launched in this process give the bits of the emulated device, by
 * any number of threads; what a kernel says is an error, and what is no kernel is refused. */
#include "base/core/elf.h"
#include "base/sys/io.h"
#include "runtime/host/host.h"
#include "tests/lib/device/emu.h"
#include "tests/lib/held.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 4096, BLOCK = 128, THREADS = 8, ROUNDS = 40 };

static PmStr object;
static PmHostModule *host;
static float x[N];
static PmErr err;

static void must(PmStatus st)
{
	if (st)
		fail_msg("%s: %s", pm_status_name(st), err.text);
}

static void object_of(const char *file, PmStr *out)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmSource s = { .label = file, .type = PM_F32 };

	must(pm_root_dir(&path, &err));
	pm_str_addf(&path, "/tests/kernels/%s", file);
	must(pm_read_file(path.s, 1 << 20, &text, &err));
	s.source = text.s;
	must(pm_emu_object(&s, out, &err));
	pm_str_release(&path);
	pm_str_release(&text);
}

static int load(void **state)
{
	(void)state;
	object_of("host.cu", &object);
	must(pm_host_load(object.s, object.len, "host.cu", &host, &err));
	for (int i = 0; i < N; i++)
		x[i] = (float)((i * 2654435761u >> 8) % 20011) / 977.f - 10.f;
	return 0;
}

static int unload(void **state)
{
	(void)state;
	pm_host_unload(host);
	pm_str_release(&object);
	return 0;
}

/* --- the same launches on both -------------------------------------------------------------------------- */

typedef struct Case {
	const char *entry;
	uint32_t grid[3], smem;
	int n_out;
} Case;

static const Case cases[] = {
	{ "sums", { 1, 1, 1 }, 0, 1 },
	{ "sums", { 5, 1, 1 }, 0, 5 },
	{ "warps", { N / BLOCK, 1, 1 }, 0, N },
	{ "reversed", { 4, N / BLOCK / 4, 1 }, BLOCK * sizeof(float), N },
};
enum { N_CASES = sizeof cases / sizeof *cases };

static PmStatus on_host(PmHostModule *m, const Case *c, float shift, float *y, PmErr *e)
{
	static const unsigned char kinds[3][4] = {
		{ PM_EMU_POINTER, PM_EMU_POINTER, PM_EMU_INT64, 0 },
		{ PM_EMU_POINTER, PM_EMU_POINTER, PM_EMU_INT32, PM_EMU_FLOAT },
		{ PM_EMU_POINTER, PM_EMU_POINTER, 0, 0 },
	};
	const float *from = x;
	long long n = N;
	int by = 3;
	int which = strcmp(c->entry, "sums") == 0 ? 0 : strcmp(c->entry, "warps") == 0 ? 1 : 2;
	void *args[4] = { &from, &y, which ? (void *)&by : (void *)&n, &shift };
	PmHostLaunch l = { .entry = c->entry,
			   .grid = { c->grid[0], c->grid[1], c->grid[2] },
			   .block = { BLOCK, 1, 1 },
			   .smem = c->smem,
			   .args = args,
			   .kinds = kinds[which],
			   .n_args = which == 2   ? 2
				     : which == 1 ? 4
						  : 3 };

	return pm_host_launch(m, &l, e);
}

static void on_emu(PmDevice *dev, PmModule m, const Case *c, float shift, float *y)
{
	PmBuf in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	PmBuf out = emu_buf(dev, PM_BUF_OUTPUT, NULL, c->n_out * (int64_t)sizeof *y);
	PmDevArg args[4] = { emu_arg(in), emu_arg(out), emu_i64(N), emu_f32(shift) };
	PmDevLaunch l = { .module = m,
			  .entry = c->entry,
			  .grid = { c->grid[0], c->grid[1], c->grid[2] },
			  .block = { BLOCK, 1, 1 },
			  .smem = c->smem,
			  .args = args,
			  .n_args = 2 };

	if (strcmp(c->entry, "sums") == 0)
		l.n_args = 3;
	if (strcmp(c->entry, "warps") == 0) {
		args[2] = emu_i32(3);
		l.n_args = 4;
	}
	must(dev->ops->launch(dev, &l, &err));
	emu_get(dev, out, y, c->n_out * (int64_t)sizeof *y);
	dev->ops->release(dev, in);
	dev->ops->release(dev, out);
}

static float expected[THREADS][N_CASES][N];

static void compute_expected(void)
{
	PmDevice *dev = emu_open();
	PmModule m = emu_load(dev, "host.cu", PM_F32);

	for (int t = 0; t < THREADS; t++)
		for (int i = 0; i < N_CASES; i++)
			on_emu(dev, m, &cases[i], (float)t * 0.25f, expected[t][i]);
	dev->ops->close(dev);
}

static void launches_give_the_bits_of_the_emulated_device(void **state)
{
	static float y[N];

	(void)state;
	compute_expected();
	assert_memory_not_equal(expected[0][2], expected[1][2], sizeof x);
	for (int i = 0; i < N_CASES; i++) {
		memset(y, 0x5a, sizeof y);
		must(on_host(host, &cases[i], 0.f, y, &err));
		assert_memory_equal(y, expected[0][i], (size_t)cases[i].n_out * sizeof *y);
	}
}

typedef struct Worker {
	pthread_t thread;
	int id, wrong;
	PmErr err;
	float y[N];
} Worker;

static void *work(void *arg)
{
	Worker *w = arg;

	for (int k = 0; k < ROUNDS * N_CASES; k++) {
		const Case *c = &cases[k % N_CASES];
		size_t bytes = (size_t)c->n_out * sizeof *w->y;

		memset(w->y, 0x5a, sizeof w->y);
		if (on_host(host, c, (float)w->id * 0.25f, w->y, &w->err))
			return w;
		w->wrong += memcmp(w->y, expected[w->id][k % N_CASES], bytes) != 0;
	}
	return NULL;
}

static void eight_threads_launch_kernels_of_one_module_at_once(void **state)
{
	static Worker w[THREADS];

	(void)state;
	compute_expected();
	/* Twice: the second time stacks come from threads that have ended. */
	for (int again = 0; again < 2; again++) {
		for (int i = 0; i < THREADS; i++) {
			w[i].id = i;
			w[i].wrong = 0;
			assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
		}
		for (int i = 0; i < THREADS; i++) {
			void *failed;

			pthread_join(w[i].thread, &failed);
			if (failed)
				fail_msg("%s", w[i].err.text);
			assert_int_equal(w[i].wrong, 0);
		}
	}
}

/* --- errors ----------------------------------------------------------------------------------------------
 */

static PmStatus end_as(int how, uint32_t threads, unsigned char kind, int n_args, const char *entry)
{
	void *args[2] = { &how, &how };
	unsigned char kinds[2] = { kind, kind };
	PmHostLaunch l = { .entry = entry,
			   .grid = { 2, 1, 1 },
			   .block = { threads, 1, 1 },
			   .args = args,
			   .kinds = kinds,
			   .n_args = n_args };

	pm_err_init(&err);
	return pm_host_launch(host, &l, &err);
}

static void says(const char *what)
{
	if (!strstr(err.text, what))
		fail_msg("'%s' does not say '%s'", err.text, what);
}

static void what_a_kernel_says_is_an_error_and_no_end_of_the_process(void **state)
{
	(void)state;
	assert_int_equal(end_as(1, 64, PM_EMU_INT32, 1, "ends"), PM_E_DEVICE);
	says("called __trap() at line");
	says("block (0,0,0) thread (33,0,0)");
	assert_int_equal(end_as(2, 64, PM_EMU_INT32, 1, "ends"), PM_E_DEVICE);
	says("has a divergent barrier");
	assert_int_equal(end_as(3, 64, PM_EMU_INT32, 1, "ends"), PM_E_DEVICE);
	says("is stuck in a warp collective");
	must(end_as(0, 64, PM_EMU_INT32, 1, "ends"));
}

static void launches_that_do_not_fit_the_kernel_are_refused(void **state)
{
	(void)state;
	assert_int_equal(end_as(0, 64, PM_EMU_INT64, 1, "ends"), PM_E_DEVICE);
	says("parameter 0 is a 32-bit integer, but the launch gives a 64-bit integer");
	assert_int_equal(end_as(0, 64, PM_EMU_OTHER, 1, "ends"), PM_E_DEVICE);
	assert_int_equal(end_as(0, 64, PM_EMU_INT32, 2, "ends"), PM_E_DEVICE);
	says("has 1 parameters, but the launch gives 2 arguments");
	assert_int_equal(end_as(0, 64, PM_EMU_INT32, 1, "nothing"), PM_E_DEVICE);
	says("has no entry 'nothing'; its extern \"C\" __global__ functions are: 'sums', 'warps'");
	assert_int_equal(end_as(0, 65, PM_EMU_INT32, 1, "ends"), PM_E_LIMIT);
	says("its __launch_bounds__ say 64");
	assert_int_equal(end_as(0, 0, PM_EMU_INT32, 1, "ends"), PM_E_LIMIT);
}

static void refused(const void *bytes, size_t n, const char *why)
{
	PmHostModule *m = NULL;

	pm_err_init(&err);
	assert_int_equal(pm_host_load(bytes, n, "foreign", &m, &err), PM_E_INVALID);
	assert_null(m);
	says("Kernel 'foreign'");
	says(why);
}

/* A shared object of this project that no compiler of kernels made. */
static void read_built(const char *name, PmStr *out)
{
	const char *build = getenv("BUILD");
	PmStr path = PM_STR_INIT;

	pm_str_addf(&path, "%s/%s", build && *build ? build : "build", name);
	must(pm_read_file(path.s, 0, out, &err));
	pm_str_release(&path);
}

/* What follows in the file is not loaded and may be missing. */
static size_t loaded_bytes(void)
{
	size_t end = 0;
	PmElf e;

	assert_int_equal(pm_elf_read(object.s, object.len, &e, NULL, NULL), 0);
	for (size_t i = 0; i < e.n_segs; i++)
		if (e.seg[i].offset + e.seg[i].filesz > end)
			end = e.seg[i].offset + e.seg[i].filesz;
	return end;
}

static void foreign_bytes_are_refused(void **state)
{
	static const char *const bad[] = { "tests/adversarial/elf/D01_ctor.so",
					   "tests/adversarial/elf/D02b_ifunc_export.so",
					   "tests/adversarial/elf/D10b_execstack.so",
					   "tests/adversarial/elf/D23_tls.so" };
	PmStr other = PM_STR_INIT;

	(void)state;
	refused("#!/bin/sh\nexit 0\n", 17, "is not an object that passmith compiled");
	refused("", 0, "is not an object that passmith compiled");
	for (size_t end = loaded_bytes(), n = 1; n < end; n += end / 61)
		refused(object.s, n, "is not an object that passmith compiled");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		pm_str_clear(&other);
		read_built(bad[i], &other);
		refused(other.s, other.len, "is not an object that passmith compiled");
	}
	/* Harmless to load, but nothing that was compiled as a kernel. */
	pm_str_clear(&other);
	read_built("passes/silu.so", &other);
	refused(other.s, other.len, "");
	pm_str_release(&other);
}

/* --- what stays ---------------------------------------------------------------------------------------- */

static void modules_come_and_go_without_traces(void **state)
{
	int files = test_open_files(), maps = test_mappings("passmith-kernel");
	PmStr other = PM_STR_INIT;
	PmHostModule *m, *o;
	float y[N];

	(void)state;
	object_of("warp.cu", &other);
	for (int i = 0; i < 200; i++) {
		must(pm_host_load(object.s, object.len, "a", &m, &err));
		/* The descriptor's number is the same: a loader that goes by names would give the first. */
		must(pm_host_load(other.s, other.len, "b", &o, &err));
		must(on_host(m, &cases[0], 0.f, y, &err));
		assert_int_equal(on_host(o, &cases[0], 0.f, y, &err), PM_E_DEVICE);
		says("has no entry 'sums'");
		pm_host_unload(i % 2 ? m : o);
		pm_host_unload(i % 2 ? o : m);
	}
	assert_int_equal(test_open_files(), files);
	assert_int_equal(test_mappings("passmith-kernel"), maps);
	pm_str_release(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_give_the_bits_of_the_emulated_device),
		cmocka_unit_test(eight_threads_launch_kernels_of_one_module_at_once),
		cmocka_unit_test(what_a_kernel_says_is_an_error_and_no_end_of_the_process),
		cmocka_unit_test(launches_that_do_not_fit_the_kernel_are_refused),
		cmocka_unit_test(foreign_bytes_are_refused),
		cmocka_unit_test(modules_come_and_go_without_traces),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
