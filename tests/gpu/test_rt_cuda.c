/* SPDX-License-Identifier: Apache-2.0 */
/* test_rt_cuda.c - the device "cuda" of libpassmith_rt on a GPU: the bits of this program's own runs there,
 * plain and as graphs, on other pointers and a stream of the caller, by 8 threads, without growth. */
#include "base/sys/io.h"
#include "runtime/device/device.h"
#include "runtime/worker/worker.h"
#include "tests/lib/device/rt_cases.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PACKAGES = 5, SHAPES = 2, CHANNELS = 64 };

static TestPackage package[PACKAGES];
static int n_packages;
static char fuse[512];

static void make(const char *model, const PmCompileShape *shape, size_t n_shapes, int cc, int with_fuse,
		 int tune)
{
	const char *pass[] = { fuse };
	const PmCompileAsk ask = { .model = model,
				   .deadline = 60,
				   .cc = &cc,
				   .n_cc = 1,
				   .jobs = 4,
				   .shape = shape,
				   .n_shapes = n_shapes,
				   .pass = pass,
				   .n_pass = (size_t)with_fuse,
				   .tune = tune };

	test_package_make(&ask, "cuda", 20261128, &package[n_packages++]);
}

/* A convolution of half types and constant weights: the fastest way to make it puts these in another order,
 * once. Its file's path is static storage. */
static const char *convolution(void)
{
	PmStr s = PM_STR_INIT;
	const char *path;

	pm_str_addf(&s,
		    "<ir_version: 8, opset_import: [\"\" : 18]>\nconvolution (float16[1,%d,28,28] x, "
		    "float16[%d] b) "
		    "=> (float16[1,%d,28,28] y) <float16[%d,%d,3,3] w = {",
		    CHANNELS, CHANNELS, CHANNELS, CHANNELS, CHANNELS);
	for (int i = 0; i < CHANNELS * CHANNELS * 9; i++)
		pm_str_addf(&s, "%s%g", i ? ", " : "", (i * 7 % 31 - 15) / 256.0);
	pm_str_add(&s, "}>\n{ y = Conv <dilations = [1, 1], group = 1, pads = [1, 1, 1, 1], strides = [1, "
		       "1]> (x, w, b) }\n");
	path = test_model_file("convolution", s.s);
	pm_str_release(&s);
	return path;
}

/* Everything that forks a user of the GPU comes before the driver is loaded here. The program's runs take the
 * first algorithm that a library suggests, as packages do that nobody has tuned; the last package is tuned.
 */
static int open_all(void **state)
{
	PmDimSize a[] = { { "batch", 2 }, { "tokens", 5 } }, b[] = { { "batch", 3 }, { "tokens", 64 } };
	const PmCompileShape shapes[SHAPES] = { { a, 2 }, { b, 2 } };
	PmDeviceInfo info;
	PmErr err;

	(void)state;
	setenv("PASSMITH_LIBRARIES", "first", 1);
	pm_err_init(&err);
	if (pm_worker_look("cuda", &info, &err))
		return 0; /* each case says why it is skipped */
	snprintf(fuse, sizeof fuse, "%s/passes/fuse.so", getenv("PASSMITH_BUILD"));
	make("models/open/bge_pooling_head.gpt", shapes, SHAPES, info.cc, 0, 0);
	make("models/llama_block.gpt", NULL, 0, info.cc, 1, 0);
	make("models/resnet_bottleneck.gpt", NULL, 0, info.cc, 0, 0);
	make("models/resnet_bottleneck.gpt", NULL, 0, info.cc, 1, 0);
	/* Those that a trial has chosen, in the program's run and in a package that is tuned: the cache has
	 * one outcome. */
	unsetenv("PASSMITH_LIBRARIES");
	make(convolution(), NULL, 0, info.cc, 0, 1);
	rt_cases_open();
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	while (n_packages)
		test_package_release(&package[--n_packages]);
	return 0;
}

static void need_gpu(void)
{
	if (!n_packages)
		pm_test_need_device("cuda");
	assert_int_equal(n_packages, PACKAGES);
}

static void host(void **state)
{
	(void)state;
	need_gpu();
	for (int i = 0; i < n_packages; i++)
		rt_case_host(&package[i]);
}

static void device(void **state)
{
	(void)state;
	need_gpu();
	for (int i = 0; i < n_packages; i++)
		rt_case_device(&package[i]);
}

static void warm(void **state)
{
	(void)state;
	need_gpu();
	for (int i = 0; i < n_packages; i++)
		rt_case_warm(&package[i], NULL);
}

static void threads(void **state)
{
	(void)state;
	need_gpu();
	for (int i = 0; i < n_packages; i++)
		rt_case_threads(&package[i], 8, 60);
}

static void again(void **state)
{
	(void)state;
	need_gpu();
	for (int i = 0; i < n_packages; i++)
		rt_case_again(&package[i]);
}

static void growth(void **state)
{
	(void)state;
	need_gpu();
	for (int i = 0; i < n_packages; i++)
		rt_case_growth(&package[i], 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host),    cmocka_unit_test(device), cmocka_unit_test(warm),
		cmocka_unit_test(threads), cmocka_unit_test(growth), cmocka_unit_test(again),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
