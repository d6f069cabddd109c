/* SPDX-License-Identifier: Apache-2.0 */
/* test_ort_cuda.c - libpassmith_ort on GPUs, with a driver whose GPU is this processor: what stands for
 * machine code are objects of the emulated device (tests/machine/emu_cuda.c). tests/gpu/test_ort_cuda.c is
 * the same on a real one.
 */
#include "base/sys/io.h"
#include "ort/kernels.h"
#include "tests/lib/ort/ort_gpu.h"
#include "tests/machine/emu_cuda.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 10 };

static char folder[64], file[80];
static OrtFile one;
static OrtFiles all;
static long (*counted)(int what);

/* Says that a file's objects for CPUs are machine code for a GPU of that capability; `both`: they stay
 * objects, too. */
static void as_gpu(const char *path, uint32_t arch, int both)
{
	PmArena *arena = pm_arena_new(0);
	PmStr bytes = PM_STR_INIT, out = PM_STR_INIT;
	PmOrtKernels k = { 0 }, more;
	PmErr err;

	if (pm_read_file(path, 0, &bytes, &err) ||
	    pm_ort_kernels_read(bytes.s, bytes.len, path, arena, &k, &err))
		fail_msg("%s", err.text);
	more = k;
	more.n_images = k.n_images * 2;
	more.image = pm_arena_alloc(arena, more.n_images * sizeof *more.image);
	for (uint32_t i = 0; i < k.n_images; i++) {
		more.image[i] = more.image[k.n_images + i] = k.image[i];
		more.image[k.n_images + i].kind = PM_ORT_CUBIN;
		more.image[k.n_images + i].arch = arch;
	}
	for (uint32_t i = 0; i < k.n_kernels; i++) {
		PmOrtKernel *to = &more.kernel[i];
		uint32_t *images = pm_arena_alloc(arena, 2 * sizeof *images);

		images[0] = to->images[0] + k.n_images;
		images[1] = to->images[0];
		to->images = images;
		to->n_images = both ? 2 : 1;
	}
	pm_ort_kernels_write(&more, &out);
	if (pm_write_file(path, out.s, out.len, &err))
		fail_msg("%s", err.text);
	pm_str_release(&bytes);
	pm_str_release(&out);
	pm_arena_free(arena);
}

/* Whatever forks comes first: then the driver is loaded, which from here on is found by its name. */
static int prepare(void **state)
{
	const PmOrtArchs archs = { .emu = 1, .jobs = 2 };
	const char *build = getenv("PASSMITH_BUILD");
	char path[512];
	void *so, *p;

	(void)state;
	snprintf(folder, sizeof folder, "/tmp/test_ort_cuda.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof file, "%s/one", folder);
	unsetenv("PASSMITH_ORT_KERNELS");
	ort_case_one(file, &archs, "emu", &one);
	as_gpu(file, 90, 1);
	ort_cases_of_models(folder, &archs, "emu", &all);
	for (size_t i = 0; i < all.n; i++)
		as_gpu(all.list[i].path, 90, 0);
	snprintf(path, sizeof path, "%s/tests/machine/emu/libcuda.so.1", build && *build ? build : "build");
	so = dlopen(path, RTLD_NOW);
	assert_non_null(so);
	p = dlsym(so, "emu_cuda_count");
	assert_non_null(p);
	memcpy(&counted, &p, sizeof p);
	ort_gpu_open();
	return 0;
}

static int clean(void **state)
{
	(void)state;
	ort_file_release(&one);
	ort_files_release(&all);
	rmdir(folder);
	return 0;
}

static void must(int code, const char *why)
{
	if (code)
		fail_msg("code %d: %s", code, why);
}

static void says(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' does not say '%s'", text, words);
}

/* --- cases -----------------------------------------------------------------------------------------------
 */

static void each_kernel_has_an_operator_for_each_provider(void **state)
{
	OrtHostTensor in[ORT_CASE_IN], out[ORT_CASE_IN];
	OrtHost *h = ort_case_host(file);
	char why[ORT_HOST_TEXT];

	(void)state;
	assert_int_equal(ort_host_n_ops(h), 2);
	assert_string_equal(ort_host_name(h, 0), ort_host_name(h, 1));
	assert_string_equal(ort_host_provider(h, 0), "CPUExecutionProvider");
	assert_string_equal(ort_host_provider(h, 1), "CUDAExecutionProvider");
	ort_case_tensors(&one.list[0], in, out);
	assert_true(ort_host_fits(h, 1, in, 2, out, 2));
	must(ort_case_on_cpu(h, &one.list[0], 0, why), why);
	ort_host_close(h);
}

static void launches_are_enqueued_and_nothing_is_waited_for(void **state)
{
	OrtHost *h = ort_case_host(file);
	char why[ORT_HOST_TEXT];
	long launches, waits, copies;

	(void)state;
	for (int own = 0; own < 2; own++) {
		int taken = ort_host_scratch_taken();

		launches = counted(EMU_CUDA_LAUNCHES);
		must(ort_gpu_call(h, &one.list[0], ORT_GPU_PLAIN, own, why), why);
		assert_int_equal(counted(EMU_CUDA_LAUNCHES) - launches, 2);
		assert_int_equal(ort_host_scratch_taken() - taken, 1);
		assert_int_equal(ort_host_scratch_out(), 0);
	}
	/* What the test itself waits for and copies is the same without the call. */
	waits = counted(EMU_CUDA_WAITS);
	copies = counted(EMU_CUDA_COPIES);
	must(ort_gpu_call(h, &one.list[0], ORT_GPU_PLAIN, 1, why), why);
	waits = counted(EMU_CUDA_WAITS) - waits;
	copies = counted(EMU_CUDA_COPIES) - copies;
	assert_int_equal(copies, 2 + 2 + 2);          /* operands, fill, results */
	assert_int_equal(waits, 4 + 1 + 2 * (4 + 1)); /* as many as put, fetch and release make */
	ort_host_close(h);
}

static void a_stream_that_records_a_graph_gets_the_launches(void **state)
{
	OrtHost *h = ort_case_host(file);
	char why[ORT_HOST_TEXT];
	long captured;

	(void)state;
	/* As ONNX Runtime does: once without. */
	must(ort_gpu_call(h, &one.list[0], ORT_GPU_PLAIN, 1, why), why);
	captured = counted(EMU_CUDA_CAPTURED);
	must(ort_gpu_call(h, &one.list[0], ORT_GPU_GRAPH, 1, why), why);
	assert_int_equal(counted(EMU_CUDA_CAPTURED) - captured, 2);
	ort_host_close(h);
}

static void a_thread_without_a_context_has_none_afterwards(void **state)
{
	OrtHost *h = ort_case_host(file);
	char why[ORT_HOST_TEXT];

	(void)state;
	ort_gpu_enter(0);
	must(ort_gpu_call(h, &one.list[0], ORT_GPU_PLAIN, 1, why), why);
	assert_null(ort_gpu_current());
	ort_gpu_enter(1);
	must(ort_gpu_call(h, &one.list[0], ORT_GPU_PLAIN, 1, why), why);
	ort_host_close(h);
}

static void kernels_of_all_bundled_models_give_the_bits_of_emu(void **state)
{
	char why[ORT_HOST_TEXT];
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < all.n; i++) {
		OrtHost *h = ort_case_host(all.list[i].path);

		assert_int_equal(ort_host_n_ops(h), all.list[i].n);
		for (size_t k = 0; k < all.list[i].n; k++, n++)
			must(ort_gpu_call(h, &all.list[i].list[k], ORT_GPU_PLAIN, (int)(n & 1), why), why);
		ort_host_close(h);
	}
	assert_true(n >= 40);
}

static int on_gpu(OrtHost *h, const OrtCase *c, char why[ORT_HOST_TEXT])
{
	return ort_gpu_call(h, c, ORT_GPU_PLAIN, 1, why);
}

static void machine_code_is_loaded_once(void **state)
{
	long modules = counted(EMU_CUDA_MODULES), memory = counted(EMU_CUDA_MEMORY);

	(void)state;
	for (int again = 0; again < 3; again++) {
		OrtHost *h = ort_case_host(file);

		ort_case_threads(h, &one.list[0], ROUNDS, on_gpu);
		ort_host_close(h);
	}
	assert_int_equal(counted(EMU_CUDA_MODULES), modules);
	assert_int_equal(counted(EMU_CUDA_MEMORY), memory);
	assert_int_equal(ort_host_scratch_out(), 0);
}

static void what_cannot_run_there_is_a_status(void **state)
{
	const PmOrtArchs archs = { .emu = 1, .jobs = 2 };
	char why[ORT_HOST_TEXT], path[96];
	OrtFile other;
	OrtHost *h = ort_case_host(file);

	(void)state;
	assert_int_equal(ort_gpu_call(h, &one.list[0], ORT_GPU_OFF, 1, why), 2);
	says(why, "kernel 'two_steps' begins at an address that is no multiple of 16 bytes");
	ort_host_close(h);
	snprintf(path, sizeof path, "%s/other", folder);
	for (uint32_t arch = 80; arch <= 100; arch += 20) {
		ort_case_one(path, &archs, "emu", &other);
		as_gpu(path, arch, 0);
		h = ort_case_host(path);
		assert_int_equal(ort_gpu_call(h, &other.list[0], ORT_GPU_PLAIN, 1, why), 1);
		says(why, arch == 80 ? "Kernel 'two_steps' is compiled for sm_80, and this GPU is sm_90"
				     : "Kernel 'two_steps' is compiled for sm_100, and this GPU is sm_90");
		ort_host_close(h);
		ort_file_release(&other);
	}
}

static void a_launch_that_fails_is_a_status(void **state)
{
	const PmOrtArchs archs = { .emu = 1, .jobs = 2 };
	PmGraph *g = ort_case_graph(1);
	char why[ORT_HOST_TEXT], path[96];
	OrtCase c = one.list[0];
	PmOrtWritten w;
	PmErr err;
	OrtHost *h;

	(void)state;
	snprintf(path, sizeof path, "%s/ends", folder);
	if (pm_ort_kernels_make(g, &archs, path, &w, &err))
		fail_msg("%s", err.text);
	as_gpu(path, 90, 0);
	h = ort_case_host(path);
	snprintf(c.name, sizeof c.name, "%s", ort_host_name(h, 0));
	assert_int_equal(ort_gpu_call(h, &c, ORT_GPU_PLAIN, 1, why), 1);
	says(why, "The GPU cannot launch kernel 'two_steps'");
	assert_int_equal(ort_host_scratch_out(), 0);
	ort_host_close(h);
	unlink(path);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kernel_has_an_operator_for_each_provider),
		cmocka_unit_test(launches_are_enqueued_and_nothing_is_waited_for),
		cmocka_unit_test(a_stream_that_records_a_graph_gets_the_launches),
		cmocka_unit_test(a_thread_without_a_context_has_none_afterwards),
		cmocka_unit_test(kernels_of_all_bundled_models_give_the_bits_of_emu),
		cmocka_unit_test(machine_code_is_loaded_once),
		cmocka_unit_test(what_cannot_run_there_is_a_status),
		cmocka_unit_test(a_launch_that_fails_is_a_status),
	};

	return cmocka_run_group_tests_name("ort_cuda", tests, prepare, clean);
}
