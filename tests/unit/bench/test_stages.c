/* SPDX-License-Identifier: Apache-2.0 */
/* test_stages.c - where the time of an evaluation goes: stages exclude each other, sums and tables hold them
 * all. */
#include "base/core/str.h"
#include "base/sys/proc.h"
#include "bench/eval/stages.h"
#include "bench/report/stages_report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The sum over stages is the time from begin to end, however they are nested. */
static void stages_share_the_time_out(void **state)
{
	PmStageTimes t;
	PmStages s;
	PmStage was, inner;
	double t0 = pm_now(), before, after;

	(void)state;
	pm_stages_begin(&s, &t);
	before = pm_now();
	was = pm_stage_enter(&s, PM_STAGE_REHEARSE);
	assert_int_equal(was, PM_STAGE_OTHER);
	inner = pm_stage_enter(&s, PM_STAGE_REPLAY_VERIFY);
	assert_int_equal(inner, PM_STAGE_REHEARSE);
	while (pm_now() - before < .02)
		;
	assert_int_equal(pm_stage_enter(&s, inner), PM_STAGE_REPLAY_VERIFY);
	assert_int_equal(pm_stage_enter(&s, was), PM_STAGE_REHEARSE);
	after = pm_now();
	pm_stages_end(&s);
	assert_true(t.seconds[PM_STAGE_REPLAY_VERIFY] > 0);
	assert_true(t.seconds[PM_STAGE_REPLAY_VERIFY] + t.seconds[PM_STAGE_REHEARSE] <=
		    after - before + 1e-9);
	assert_true(pm_stage_times_total(&t) >= after - before - 1e-9);
	assert_true(pm_stage_times_total(&t) <= pm_now() - t0 + 1e-9);
}

static void every_stage_has_a_key_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < PM_N_STAGES; i++) {
		assert_true(*pm_stage_key((PmStage)i) && *pm_stage_what((PmStage)i));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(pm_stage_key((PmStage)i), pm_stage_key((PmStage)k));
	}
}

/* Two records that were evaluated, and one that a database held. */
static void a_report_sums_what_was_evaluated_now(void **state)
{
	PmEvalRecord rec[3] = { 0 };
	PmEvalReport r = { .n = 3, .rec = rec };
	PmStr text = PM_STR_INIT;
	PmStageTimes t;
	cJSON *j;

	(void)state;
	rec[0].stages.seconds[PM_STAGE_COMPILE] = 3;
	rec[0].stages.class_seconds[PM_INPUTS_NORMAL] = 1;
	rec[2].stages.seconds[PM_STAGE_COMPILE] = 1;
	rec[2].stages.seconds[PM_STAGE_LAUNCH] = 2;
	rec[2].stages.class_seconds[PM_INPUTS_NORMAL] = .5;
	r.hidden.wall_seconds = 2;
	assert_int_equal(pm_eval_stage_times(&r, &t), 2);
	assert_true(fabs(pm_stage_times_total(&t) - 8) < 1e-12);
	pm_stage_times_table(&t, 2, &text);
	assert_non_null(strstr(text.s, "8.000 s for 2 evaluations"));
	assert_non_null(strstr(text.s, "compile              4.000   50.0%"));
	assert_non_null(strstr(text.s, "hidden               2.000   25.0%"));
	assert_non_null(strstr(text.s, "normal               1.500   18.8%"));
	assert_true(strstr(text.s, "compile") < strstr(text.s, "launch")); /* the longest first */
	assert_null(strstr(text.s, "timing "));                            /* what took none */
	j = pm_stage_times_json(&t);
	assert_true(cJSON_GetObjectItem(j, "seconds")->valuedouble == 8);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "stages")), PM_N_STAGES);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "classes")), PM_N_ALL_CLASSES);
	assert_true(cJSON_GetObjectItem(cJSON_GetObjectItem(j, "stages"), "compile")->valuedouble == 4);
	cJSON_Delete(j);
	pm_str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stages_share_the_time_out),
		cmocka_unit_test(every_stage_has_a_key_of_its_own),
		cmocka_unit_test(a_report_sums_what_was_evaluated_now),
	};

	return cmocka_run_group_tests_name("stages", tests, NULL, NULL);
}
