/* SPDX-License-Identifier: Apache-2.0 */
/* test_ort_cuda.c - libpassmith_ort on a GPU: its kernels give the bits of the device cuda, on ONNX Runtime's
 * stream, in a graph, and by several threads. The host is ours (ort_host.h), for there is no CUDA build of
 * ONNX Runtime here.
 */
#include "runtime/device/device.h"
#include "tests/lib/need.h"
#include "tests/lib/ort/ort_gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 20 };

static char folder[64];
static OrtFile one;
static OrtFiles all;

/* The GPU's compute capability, asked in a process of its own: this one still forks. 0 = there is none. */
static int capability(void)
{
	int fd[2], cc = 0;
	pid_t child;

	assert_int_equal(pipe(fd), 0);
	child = fork();
	if (!child) {
		PmDeviceInfo i = { .cc = 0 };

		if (pm_cuda_look(&i, NULL))
			i.cc = 0;
		_exit(write(fd[1], &i.cc, sizeof i.cc) != sizeof i.cc);
	}
	close(fd[1]);
	if (read(fd[0], &cc, sizeof cc) != sizeof cc)
		cc = 0;
	close(fd[0]);
	waitpid(child, NULL, 0);
	return cc;
}

/* Whatever forks comes first. */
static void prepare(void)
{
	static int cc;
	const PmOrtArchs archs = { .cc = &cc, .n_cc = 1, .jobs = 4 };
	char path[96];

	if (one.n)
		return;
	pm_test_need_device("cuda");
	cc = capability();
	assert_true(cc > 0);
	snprintf(folder, sizeof folder, "/tmp/test_ort_cuda.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/one", folder);
	unsetenv("PASSMITH_ORT_KERNELS");
	ort_case_one(path, &archs, "cuda", &one);
	ort_cases_of_models(folder, &archs, "cuda", &all);
	ort_gpu_open();
}

static int clean(void **state)
{
	(void)state;
	ort_file_release(&one);
	ort_files_release(&all);
	if (*folder)
		rmdir(folder);
	return 0;
}

static void must(int code, const char *why)
{
	if (code)
		fail_msg("code %d: %s", code, why);
}

static void kernels_of_all_bundled_models_give_the_bits_of_cuda(void **state)
{
	char why[ORT_HOST_TEXT];
	size_t n = 0;

	(void)state;
	prepare();
	for (size_t i = 0; i < all.n; i++) {
		OrtHost *h = ort_case_host(all.list[i].path);

		assert_int_equal(ort_host_n_ops(h), all.list[i].n);
		for (size_t k = 0; k < all.list[i].n; k++, n++) {
			must(ort_gpu_call(h, &all.list[i].list[k], ORT_GPU_PLAIN, 0, why), why);
			must(ort_gpu_call(h, &all.list[i].list[k], ORT_GPU_PLAIN, 1, why), why);
			must(ort_gpu_call(h, &all.list[i].list[k], ORT_GPU_GRAPH, 1, why), why);
		}
		ort_host_close(h);
	}
	assert_true(n >= 40);
}

static void scratch_goes_back_and_the_context_stays(void **state)
{
	char why[ORT_HOST_TEXT];
	OrtHost *h;

	(void)state;
	prepare();
	h = ort_case_host(one.path);
	ort_gpu_enter(0);
	must(ort_gpu_call(h, &one.list[0], ORT_GPU_PLAIN, 1, why), why);
	assert_null(ort_gpu_current());
	ort_gpu_enter(1);
	must(ort_gpu_call(h, &one.list[0], ORT_GPU_GRAPH, 1, why), why);
	assert_int_equal(ort_host_scratch_out(), 0);
	assert_int_equal(ort_gpu_call(h, &one.list[0], ORT_GPU_OFF, 1, why), 2);
	ort_host_close(h);
}

static int on_gpu(OrtHost *h, const OrtCase *c, char why[ORT_HOST_TEXT])
{
	return ort_gpu_call(h, c, ORT_GPU_PLAIN, 1, why);
}

static void eight_threads_run_one_session(void **state)
{
	OrtHost *h;

	(void)state;
	prepare();
	h = ort_case_host(one.path);
	ort_case_threads(h, &one.list[0], ROUNDS, on_gpu);
	ort_host_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_all_bundled_models_give_the_bits_of_cuda),
		cmocka_unit_test(scratch_goes_back_and_the_context_stays),
		cmocka_unit_test(eight_threads_run_one_session),
	};

	return cmocka_run_group_tests_name("ort_cuda", tests, NULL, clean);
}
