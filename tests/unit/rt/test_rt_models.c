/* SPDX-License-Identifier: Apache-2.0 */
/* test_rt_models.c - packages of the bundled models, run by libpassmith_rt, give the bits of the device
 * "emu". */
#include "tests/lib/device/package.h"

#include "base/sys/io.h"
#include "bench/inputs/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char passes[64][512];
static const char *pass[64];
static size_t n_pass;

/* All built passes, by name. */
static int list_passes(void **state)
{
	PmStr dir = PM_STR_INIT;
	PmNames names = { 0 };
	PmErr err;

	(void)state;
	pm_str_addf(&dir, "%s/passes", getenv("PASSMITH_BUILD"));
	if (pm_list_dir(dir.s, &names, &err))
		return 1;
	for (size_t i = 0; i < names.n && n_pass < 64; i++)
		if (pm_str_ends(names.v[i], ".so") && strcmp(names.v[i], "TEMPLATE.so")) {
			snprintf(passes[n_pass], sizeof *passes, "%.400s/%.100s", dir.s, names.v[i]);
			pass[n_pass] = passes[n_pass];
			n_pass++;
		}
	pm_names_release(&names);
	pm_str_release(&dir);
	return 0;
}

static void run_all(const PmCompileAsk *ask, const char *what)
{
	PmTensor out[TEST_VALUES];
	TestPackage p;
	PmRtModel *m;
	PmRtSession *s;
	PmRtError e;

	test_package_make(ask, "emu", 1, &p);
	if (pm_rt_open(p.path, "emu", &m, &e) || pm_rt_session_new(m, &s, &e) || pm_rt_verify(m, &e))
		fail_msg("%s", e.text);
	assert_int_equal(pm_rt_n_shapes(m), p.n_runs);
	for (int again = 0; again < 2; again++)
		for (size_t k = 0; k < p.n_runs; k++) {
			test_bind(s, &p.run[k], out);
			if (pm_rt_run(s, NULL, again ? PM_RT_GRAPH : 0, &e))
				fail_msg("%s: %s", what, e.text);
			test_same(&p.run[k], out, what);
			pm_tensors_release(out, p.run[k].n_out);
		}
	pm_rt_session_free(s);
	pm_rt_close(m);
	test_package_release(&p);
}

static void model(const char *name, int fused)
{
	char path[128];
	PmCompileAsk ask = {
		.model = path, .deadline = 60, .emu = 1, .jobs = 2, .pass = pass, .n_pass = fused ? n_pass : 0
	};

	snprintf(path, sizeof path, "models/%s.gpt", name);
	run_all(&ask, name);
}

#define MODEL(name)                                                                                          \
	static void name(void **state)                                                                       \
	{                                                                                                    \
		(void)state;                                                                                 \
		model(#name, 0);                                                                             \
		model(#name, 1);                                                                             \
	}
MODEL(llama_block)
MODEL(bert_encoder_layer)
MODEL(resnet_bottleneck)
MODEL(mobilenetv3_se_block)
MODEL(swin_block)
MODEL(bge_pooling_head)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(llama_block),       cmocka_unit_test(bert_encoder_layer),
		cmocka_unit_test(resnet_bottleneck), cmocka_unit_test(mobilenetv3_se_block),
		cmocka_unit_test(swin_block),        cmocka_unit_test(bge_pooling_head),
	};

	return cmocka_run_group_tests(tests, list_passes, NULL);
}
