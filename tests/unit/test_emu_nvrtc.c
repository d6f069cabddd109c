/* test_emu_nvrtc.c - what runs on the emulated device also compiles for a GPU, prelude and all. */
#include "base/io.h"
#include "runtime/nvrtc.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void need_nvrtc(void)
{
	PmStr version = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (pm_nvrtc_version(&version, &err))
		pm_test_skip("%s", err.text);
	pm_str_release(&version);
}

static void compiles(const char *name, PmDType type, int cc)
{
	PmStr root = PM_STR_INIT, path = PM_STR_INIT, text = PM_STR_INIT, ptx = PM_STR_INIT;
	char target[32];
	PmSource s;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_root_dir(&root, &err), PM_OK);
	pm_str_addf(&path, "%s/tests/kernels/%s", root.s, name);
	assert_int_equal(pm_read_file(path.s, 1 << 20, &text, &err), PM_OK);
	s = (PmSource){ .label = name, .source = text.s, .type = type };
	if (pm_nvrtc_ptx(&s, cc, &ptx, &err))
		fail_msg("sm_%d %s: %s", cc, pm_dtype_name(type), err.text);
	snprintf(target, sizeof target, ".target sm_%d", cc);
	assert_non_null(strstr(ptx.s, target));
	assert_non_null(strstr(ptx.s, ".visible .entry"));
	pm_str_release(&root);
	pm_str_release(&path);
	pm_str_release(&text);
	pm_str_release(&ptx);
}

static void every_kernel_of_the_tests_compiles(void **state)
{
	static const char *const files[] = { "atomic.cu",   "barrier.cu", "errors.cu", "index.cu",
					     "language.cu", "math.cu",    "shared.cu", "vector.cu",
					     "warp.cu",     "prelude.cu", "pairs.cu" };
	size_t i;

	(void)state;
	need_nvrtc();
	for (i = 0; i < sizeof files / sizeof files[0]; i++)
		compiles(files[i], PM_F32, 80 + 10 * (i % 2));
	compiles("half.cu", PM_F16, 80);
	compiles("half.cu", PM_BF16, 90);
}

static void the_prelude_compiles_for_every_type(void **state)
{
	int type;

	(void)state;
	need_nvrtc();
	for (type = 0; type < PM_N_DTYPES; type++) {
		compiles("prelude.cu", (PmDType)type, 80);
		compiles("prelude.cu", (PmDType)type, 90);
	}
}

static void errors_count_lines_of_the_source(void **state)
{
	PmSource s = { "author", "extern \"C\" __global__ void k(T *y)\n{\n\ty[0] = nothing;\n}\n", PM_F16 };
	PmStr ptx = PM_STR_INIT;
	PmErr err;

	(void)state;
	need_nvrtc();
	pm_err_init(&err);
	assert_int_equal(pm_nvrtc_ptx(&s, 90, &ptx, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "Kernel 'author' does not compile: line 3: "));
	assert_non_null(strstr(err.text, "\"nothing\" is undefined"));
	assert_int_equal(ptx.len, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kernel_of_the_tests_compiles),
		cmocka_unit_test(the_prelude_compiles_for_every_type),
		cmocka_unit_test(errors_count_lines_of_the_source),
	};

	return cmocka_run_group_tests_name("emu_nvrtc", tests, NULL, NULL);
}
