/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_ptx.c - reading the kernels and their parameters out of PTX, by which launches are checked. */
#include "runtime/cuda/cuda_priv.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void kinds_of_parameters_are_read(void **state)
{
	static const char text[] = ".version 9.0\n.target sm_90\n"
				   ".visible .entry first(\n"
				   "\t.param .u64 .ptr .align 1 first_param_0,\n"
				   "\t.param .u64 first_param_1,\n"
				   "\t.param .u32 first_param_2,\n"
				   "\t.param .f32 first_param_3,\n"
				   "\t.param .f64 first_param_4,\n"
				   "\t.param .align 8 .b8 first_param_5[16],\n"
				   "\t.param .u8 first_param_6\n"
				   ")\n.maxntid 64\n{\n\tret;\n}\n"
				   ".entry second()\n{\n\tret;\n}\n"
				   ".weak .entry third\n{\n\tret;\n}\n";
	static const PmPtxKind want[] = { PTX_I64, PTX_I64, PTX_I32, PTX_F32, PTX_F64, PTX_OTHER, PTX_OTHER };
	PmPtx p;
	int i;

	(void)state;
	pm__ptx_read(text, &p);
	assert_int_equal(p.entries.n, 3);
	assert_string_equal(p.entries.v[0].name, "first");
	assert_int_equal(p.entries.v[0].n_params, 7);
	for (i = 0; i < 7; i++)
		assert_int_equal(p.entries.v[0].kind[i], want[i]);
	assert_string_equal(p.entries.v[1].name, "second");
	assert_int_equal(p.entries.v[1].n_params, 0);
	assert_string_equal(p.entries.v[2].name, "third");
	assert_int_equal(p.entries.v[2].n_params, 0);
	pm__ptx_release(&p);
}

/* Every prefix of a text, and texts that are nothing: the reader stays inside. */
static void broken_texts_are_survived(void **state)
{
	static const char *const texts[] = { "",
					     ".entry",
					     ".entry ",
					     ".entry (",
					     ".entry a(",
					     ".entry a(,",
					     ".entry a(,,)",
					     ".entry .entry a()",
					     ".entry a(.param .u64 x, .param .f32 y) { } // .entry b(" };
	char *part;
	size_t i, n;
	PmPtx p;

	(void)state;
	for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
		for (n = 0; n <= strlen(texts[i]); n++) {
			part = test_malloc(n + 1);
			memcpy(part, texts[i], n);
			part[n] = '\0';
			pm__ptx_read(part, &p);
			pm__ptx_release(&p);
			test_free(part);
		}
	pm__ptx_read(texts[8], &p);
	assert_int_equal(p.entries.n, 1);
	assert_int_equal(p.entries.v[0].n_params, 2);
	pm__ptx_release(&p);
}

static void the_output_of_the_compiler_is_read(void **state)
{
	PmSource s = { "kinds",
		       "extern \"C\" __global__ void k(const T *x, long long n, int i, float f, double d)\n"
		       "{\n\tif (n > i && x[0] > f + d) __trap();\n}\n"
		       "extern \"C\" __global__ void nothing() { }\n",
		       PM_F32 };
	static const PmPtxKind want[] = { PTX_I64, PTX_I64, PTX_I32, PTX_F32, PTX_F64 };
	PmStr ptx = PM_STR_INIT;
	PmErr err;
	PmPtx p;
	size_t i;
	int k;

	(void)state;
	pm_err_init(&err);
	if (pm_nvrtc_version(&ptx, &err))
		pm_test_skip("%s", err.text);
	pm_str_clear(&ptx);
	if (pm_nvrtc_ptx(&s, 90, &ptx, &err))
		fail_msg("%s", err.text);
	pm__ptx_read(ptx.s, &p);
	assert_int_equal(p.entries.n, 2);
	for (i = 0; i < 2; i++) {
		const PmPtxEntry *e = &p.entries.v[i];

		if (strcmp(e->name, "nothing") == 0) {
			assert_int_equal(e->n_params, 0);
			continue;
		}
		assert_string_equal(e->name, "k");
		assert_int_equal(e->n_params, 5);
		for (k = 0; k < 5; k++)
			assert_int_equal(e->kind[k], want[k]);
	}
	pm__ptx_release(&p);
	pm_str_release(&ptx);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_parameters_are_read),
		cmocka_unit_test(broken_texts_are_survived),
		cmocka_unit_test(the_output_of_the_compiler_is_read),
	};

	return cmocka_run_group_tests_name("cuda_ptx", tests, NULL, NULL);
}
