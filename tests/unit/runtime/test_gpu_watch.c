/* SPDX-License-Identifier: Apache-2.0 */
/* test_gpu_watch.c - what is seen of a GPU while it is measured, from a library with made-up answers. */
#include "bench/report/report.h"
#include "bench/timing/clock.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define FAKE "tests/plugin/fake_nvml.so"

static void extremes_are_kept(void **state)
{
	PmGpuWatch *w = pm_gpu_watch_open(built(FAKE), "00000000:1B:00.0");
	const PmGpuSeen *s = pm_gpu_watch_seen(w);

	(void)state;
	assert_true(s->known && s->looks == 0);
	assert_string_equal(s->driver, "999.12.03");
	assert_string_equal(s->uuid, "GPU-made-up");
	assert_int_equal(s->index, 5);
	assert_string_equal(s->clocks, "SM 1755 MHz, memory 2619 MHz");
	pm_gpu_watch_look(w, 1);
	assert_true(s->sm_mhz[0] == 1980 && s->sm_mhz[1] == 1980 && s->slowed == 0 && s->others == 0);
	for (int i = 0; i < 3; i++)
		pm_gpu_watch_look(w, 1);
	assert_true(s->known && s->looks == 4);
	assert_true(s->sm_mhz[0] == 1935 && s->sm_mhz[1] == 1980);
	assert_true(s->memory_mhz[0] == 3201 && s->memory_mhz[1] == 3201);
	assert_true(s->celsius == 43 && s->persistence == 1);
	assert_int_equal(s->slowed, 0x24); /* of the second look alone */
	assert_int_equal(s->others, 2);    /* of the third: one of the three is ours */
	pm_gpu_watch_close(w);
}

/* The third answer has two others, the fourth none; what was seen while waiting is not held against anybody.
 */
static void others_may_leave_before_the_first_look(void **state)
{
	PmGpuWatch *w = pm_gpu_watch_open(built(FAKE), "00000000:1B:00.0");

	(void)state;
	assert_true(pm_gpu_watch_wait(w, 1, 0) && pm_gpu_watch_wait(w, 1, 0)); /* there are none */
	assert_false(pm_gpu_watch_wait(w, 0, 0.01));                           /* who stays is there */
	pm_gpu_watch_close(w);
	w = pm_gpu_watch_open(built(FAKE), "00000000:1B:00.0");
	pm_gpu_watch_wait(w, 1, 0);
	pm_gpu_watch_wait(w, 1, 0);
	assert_true(pm_gpu_watch_wait(w, 1, 60));
	assert_true(pm_gpu_watch_seen(w)->looks == 0 && pm_gpu_watch_seen(w)->others == 0);
	pm_gpu_watch_close(w);
	w = pm_gpu_watch_open("/nowhere/libnvidia-ml.so.1", "0");
	assert_true(pm_gpu_watch_wait(w, 0, 60)); /* nothing is known: nobody waits */
	pm_gpu_watch_close(w);
}

static void what_does_not_answer_is_a_label(void **state)
{
	PmGpuWatch *w = pm_gpu_watch_open("/nowhere/libnvidia-ml.so.1", "0");
	const PmGpuSeen *s = pm_gpu_watch_seen(w);

	(void)state;
	pm_gpu_watch_look(w, 1); /* harmless */
	assert_true(!s->known && s->looks == 0);
	assert_non_null(strstr(s->why, "/nowhere/libnvidia-ml.so.1 is not here"));
	pm_gpu_watch_close(w);
	w = pm_gpu_watch_open(built("tests/plugin/wrong_silu.so"), "0"); /* a library, but another */
	assert_non_null(strstr(pm_gpu_watch_seen(w)->why, "nvmlInit_v2"));
	pm_gpu_watch_close(w);
	w = pm_gpu_watch_open(built(FAKE), "elsewhere");
	assert_non_null(strstr(pm_gpu_watch_seen(w)->why, "error 6"));
	assert_string_equal(pm_gpu_watch_seen(w)->driver, "999.12.03"); /* known without a GPU */
	pm_gpu_watch_close(w);
	w = pm_gpu_watch_open(built(FAKE), "0");
	for (int i = 0; i < 5; i++)
		pm_gpu_watch_look(w, 1);
	s = pm_gpu_watch_seen(w);
	assert_true(!s->known && s->looks == 4 && strstr(s->why, "error 15"));
	pm_gpu_watch_close(w);
}

static void reasons_have_names(void **state)
{
	char text[64];

	(void)state;
	pm_gpu_slowed_text(0, text, sizeof text);
	assert_string_equal(text, "nothing");
	pm_gpu_slowed_text(0x1 | 0x2, text, sizeof text);
	assert_string_equal(text, "nothing");
	pm_gpu_slowed_text(0x4 | 0x20 | 0x1, text, sizeof text);
	assert_string_equal(text, "power cap, heat");
	pm_gpu_slowed_text(~(uint64_t)0, text, 20); /* cut, not overrun */
	assert_int_equal(strlen(text), 19);
}

/* A report names the driver, and a stored result keeps its name. */
static void a_record_keeps_the_driver(void **state)
{
	PmEvalRecord r = { .measured = 1, .verdict = PM_VERDICT_OK, .timing = { .gpu = { .known = 1 } } },
		     back;
	cJSON *j;

	(void)state;
	strcpy(r.timing.gpu.driver, "580.159.03");
	strcpy(r.timing.gpu.uuid, "GPU-0123");
	r.timing.gpu.index = 3;
	j = pm_eval_record_json(&r);
	assert_int_equal(pm_eval_record_from_json(j, &back, NULL), PM_OK);
	assert_string_equal(back.timing.gpu.driver, "580.159.03");
	assert_string_equal(back.timing.gpu.uuid, "GPU-0123");
	assert_int_equal(back.timing.gpu.index, 3);
	cJSON_Delete(j);
	pm_eval_record_release(&back);
}

static void others_on_the_gpu_void_the_times(void **state)
{
	PmGpuSeen seen = { .known = 1, .others = 0 };
	PmTiming t = { .state = PM_TIMING_OK };

	(void)state;
	pm_clock_judge_gpu(&seen, &t);
	assert_int_equal(t.state, PM_TIMING_OK);
	seen.others = 1;
	pm_clock_judge_gpu(&seen, &t);
	assert_int_equal(t.state, PM_TIMING_UNSTABLE);
	assert_non_null(strstr(t.why, "1 other processes used the GPU"));
	t.state = PM_TIMING_IMPLAUSIBLE; /* what is worse stays */
	pm_clock_judge_gpu(&seen, &t);
	assert_int_equal(t.state, PM_TIMING_IMPLAUSIBLE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(extremes_are_kept),
		cmocka_unit_test(others_may_leave_before_the_first_look),
		cmocka_unit_test(what_does_not_answer_is_a_label),
		cmocka_unit_test(reasons_have_names),
		cmocka_unit_test(a_record_keeps_the_driver),
		cmocka_unit_test(others_on_the_gpu_void_the_times),
	};

	return cmocka_run_group_tests_name("gpu_watch", tests, NULL, NULL);
}
