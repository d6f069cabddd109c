/* SPDX-License-Identifier: Apache-2.0 */
/* test_ort.c - libpassmith_ort in a host with ONNX Runtime's interface: kernels on the CPU give the bits of
 * the device emu, by any number of threads; what does not fit is a status with a sentence.
 */
#include "base/sys/io.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/ort/ort_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 25, NEWEST = 18 };

static const PmOrtArchs archs = { .emu = 1, .jobs = 2 };
static const OrtHostPlace cpu = { .provider = "CPUExecutionProvider" };
static char folder[64], file[80];
static OrtFile one; /* the kernel of ort_case_graph */
static PmErr err;

static void must(PmStatus st)
{
	if (st)
		fail_msg("%s: %s", pm_status_name(st), err.text);
}

static int prepare(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/test_ort.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof file, "%s/one", folder);
	unsetenv("PASSMITH_ORT_KERNELS");
	ort_case_one(file, &archs, "emu", &one);
	return 0;
}

static int clean(void **state)
{
	(void)state;
	ort_file_release(&one);
	rmdir(folder);
	return 0;
}

static void says(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' does not say '%s'", text, words);
}

/* --- kernels ---------------------------------------------------------------------------------------------
 */

static void a_kernel_of_two_launches_with_scratch_gives_the_bits_of_emu(void **state)
{
	OrtHost *h = ort_case_host(file);
	unsigned long long before = ort_host_launches(h);
	OrtHostTensor in[ORT_CASE_IN], out[ORT_CASE_IN];
	char why[ORT_HOST_TEXT];

	(void)state;
	assert_int_equal(ort_host_n_ops(h), 1);
	assert_string_equal(ort_host_provider(h, 0), "CPUExecutionProvider");
	assert_string_equal(ort_host_name(h, 0), one.list[0].name);
	assert_int_equal(strncmp(one.list[0].name, "Kernel_", 7), 0);
	ort_case_tensors(&one.list[0], in, out);
	assert_true(ort_host_fits(h, 0, in, 2, out, 2));
	if (ort_case_on_cpu(h, &one.list[0], 0, why))
		fail_msg("%s", why);
	assert_int_equal(ort_host_launches(h) - before, 2);
	/* Where vectors cannot be read or written. */
	if (ort_case_on_cpu(h, &one.list[0], 8, why))
		fail_msg("%s", why);
	ort_host_close(h);
}

static int on_cpu(OrtHost *h, const OrtCase *c, char why[ORT_HOST_TEXT])
{
	return ort_case_on_cpu(h, c, 0, why);
}

static void eight_threads_run_one_session(void **state)
{
	OrtHost *h = ort_case_host(file);

	(void)state;
	ort_case_threads(h, &one.list[0], ROUNDS, on_cpu);
	ort_host_close(h);
}

static void kernels_of_all_bundled_models_give_the_bits_of_emu(void **state)
{
	char why[ORT_HOST_TEXT];
	size_t n = 0;
	OrtFiles all;

	(void)state;
	ort_cases_of_models(folder, &archs, "emu", &all);
	for (size_t i = 0; i < all.n; i++) {
		OrtHost *h = ort_case_host(all.list[i].path);

		assert_int_equal(ort_host_n_ops(h), all.list[i].n);
		for (size_t k = 0; k < all.list[i].n; k++, n++)
			if (ort_case_on_cpu(h, &all.list[i].list[k], 0, why))
				fail_msg("%s", why);
		ort_host_close(h);
	}
	assert_true(n >= 40);
	ort_files_release(&all);
}

/* --- what is refused --------------------------------------------------------------------------------------
 */

static void other_sizes_and_types_are_a_status(void **state)
{
	static char data[ORT_CASE_N * 16];
	OrtHostTensor in[ORT_CASE_IN], out[ORT_CASE_IN];
	char why[ORT_HOST_TEXT];
	const char *name = one.list[0].name;
	OrtHost *h = ort_case_host(file);

	(void)state;
	ort_case_tensors(&one.list[0], in, out);
	in[0].data = in[1].data = out[0].data = out[1].data = data;
	in[0].dim[0] = ORT_CASE_N + 1;
	assert_int_equal(ort_host_run(h, name, &cpu, in, 2, out, 2, why), 2);
	says(why, "(kernel 'two_steps') was compiled for type 1 [1000] as operand 0 and gets type 1 [1001]; "
		  "bind the "
		  "original model to these sizes");
	in[0].dim[0] = ORT_CASE_N;
	in[1].type = 6;
	assert_int_equal(ort_host_run(h, name, &cpu, in, 2, out, 2, why), 2);
	says(why, "compiled for type 7 [4] as operand 1 and gets type 6 [4]");
	in[1].type = 7;
	in[1].rank = 0;
	assert_int_equal(ort_host_run(h, name, &cpu, in, 2, out, 2, why), 2);
	assert_int_equal(ort_host_run(h, name, &cpu, in, 1, out, 2, why), 10);
	says(why, "other numbers of operands");
	assert_int_equal(ort_host_run(h, "Kernel_0000000000000000", &cpu, in, 2, out, 2, why), -1);
	ort_host_close(h);
}

static void a_trap_is_a_status_and_no_end_of_the_process(void **state)
{
	static char data[ORT_CASE_N * 16];
	PmGraph *g = ort_case_graph(1);
	OrtHostTensor in[ORT_CASE_IN], out[ORT_CASE_IN];
	char why[ORT_HOST_TEXT], path[96];
	PmOrtWritten w;
	OrtHost *h;

	(void)state;
	snprintf(path, sizeof path, "%s/ends", folder);
	must(pm_ort_kernels_make(g, &archs, path, &w, &err));
	h = ort_case_host(path);
	ort_case_tensors(&one.list[0], in, out);
	in[0].data = in[1].data = out[0].data = out[1].data = data;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ort_host_run(h, ort_host_name(h, 0), &cpu, in, 2, out, 2, why), 1);
		says(why, "Kernel 'two_steps' (entry 'rest') called __trap()");
	}
	ort_host_close(h);
	unlink(path);
	pm_graph_free(g);
}

static void refuses(const char *entry, uint32_t newest, const char *words)
{
	char why[ORT_HOST_TEXT];

	assert_null(ort_host_open(ort_case_library(), entry, newest, why));
	says(why, words);
}

static void a_file_that_is_missing_or_damaged_is_a_status(void **state)
{
	PmStr bytes = PM_STR_INIT;
	char path[96];

	(void)state;
	snprintf(path, sizeof path, "%s/bad", folder);
	refuses(NULL, NEWEST, "does not know which kernels to run");
	refuses("/nowhere/kernels", NEWEST, "\"/nowhere/kernels\" cannot be read");
	refuses(folder, NEWEST, "cannot be read");
	refuses(file, NEWEST - 1, "needs ONNX Runtime 1.18 or newer, and this is 1.17.0");
	must(pm_read_file(file, 0, &bytes, &err));
	bytes.s[bytes.len / 2] ^= 1;
	must(pm_write_file(path, bytes.s, bytes.len, &err));
	refuses(path, NEWEST,
		"cannot be used as a file of kernels: its digest is another, so it was changed");
	must(pm_write_file(path, bytes.s, bytes.len / 2, &err));
	refuses(path, NEWEST, "it ends in the middle");
	pm_str_release(&bytes);
	unlink(path);
}

static void the_environment_names_the_file_too(void **state)
{
	OrtHost *a, *b;

	(void)state;
	setenv("PASSMITH_ORT_KERNELS", file, 1);
	a = ort_case_host(NULL);
	/* The entry comes first. */
	refuses("/nowhere/kernels", NEWEST, "cannot be read");
	unsetenv("PASSMITH_ORT_KERNELS");
	b = ort_case_host(file);
	assert_int_equal(ort_host_n_ops(a), 1);
	/* The same content is there once. */
	assert_ptr_equal(ort_host_name(a, 0), ort_host_name(b, 0));
	ort_host_close(a);
	ort_host_close(b);
}

static void a_model_without_kernels_has_no_file(void **state)
{
	PmGraph *g = pm_test_graph("g (float[8] x) => (float[8] y) { y = Exp(x) }");
	char path[96];
	PmOrtWritten w;

	(void)state;
	snprintf(path, sizeof path, "%s/none", folder);
	assert_int_equal(pm_ort_kernels_make(g, &archs, path, &w, &err), PM_E_NOT_FOUND);
	says(err.text, "has no kernel to write");
	assert_int_equal(access(path, F_OK), -1);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_of_two_launches_with_scratch_gives_the_bits_of_emu),
		cmocka_unit_test(eight_threads_run_one_session),
		cmocka_unit_test(kernels_of_all_bundled_models_give_the_bits_of_emu),
		cmocka_unit_test(other_sizes_and_types_are_a_status),
		cmocka_unit_test(a_trap_is_a_status_and_no_end_of_the_process),
		cmocka_unit_test(a_file_that_is_missing_or_damaged_is_a_status),
		cmocka_unit_test(the_environment_names_the_file_too),
		cmocka_unit_test(a_model_without_kernels_has_no_file),
	};

	return cmocka_run_group_tests_name("ort", tests, prepare, clean);
}
