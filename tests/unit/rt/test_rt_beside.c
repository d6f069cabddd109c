/* SPDX-License-Identifier: Apache-2.0 */
/* test_rt_beside.c - libpassmith_rt beside other code of the process that loads kernels, too: each has its
 * own. */
#include "runtime/device/device.h"
#include "runtime/host/host.h"
#include "tests/lib/device/package.h"

#include "bench/inputs/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* A loader tells files apart by their names, and both would count their loads from 0. */
static void other_code(void **state)
{
	const PmCompileAsk ask = {
		.model = "models/bge_pooling_head.gpt", .deadline = 60, .emu = 1, .jobs = 2
	};
	const PmSource s = { "other", "extern \"C\" __global__ void other(T *y) { *y = 1; }\n", PM_F32 };
	PmStr object = PM_STR_INIT;
	PmHostModule *other = NULL;
	PmTensor out[TEST_VALUES];
	TestPackage p;
	PmRtModel *m = NULL;
	PmRtSession *session = NULL;
	PmRtError e;
	PmErr err;

	(void)state;
	test_package_make(&ask, "emu", 1, &p);
	if (pm_emu_object(&s, &object, &err) || pm_host_load(object.s, object.len, "other", &other, &err))
		fail_msg("%s", err.text);
	if (pm_rt_open(p.path, "emu", &m, &e) || pm_rt_session_new(m, &session, &e))
		fail_msg("%s", e.text);
	test_bind(session, &p.run[0], out);
	if (pm_rt_run(session, NULL, 0, &e))
		fail_msg("%s", e.text);
	test_same(&p.run[0], out, "beside other kernels");
	pm_tensors_release(out, p.run[0].n_out);
	pm_rt_session_free(session);
	pm_rt_close(m);
	pm_host_unload(other);
	pm_str_release(&object);
	test_package_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(other_code) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
