/* SPDX-License-Identifier: Apache-2.0 */
/* test_profile_hw.c - what a report makes of hardware counters: numbers, lines, sentences. */
#include "app/profile/hw_view.h"
#include "app/profile/limits.h"
#include "app/profile/show.h"
#include "ir/infer/infer.h"
#include "ir/text/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* 4 MB in, 4 MB out. */
static const char GRAPH[] = "g (float[1024,1024] x) => (float[1024,1024] y)\n{ y = Tanh(x)\n}\n";

static PmProfileOpts opts(void)
{
	return (PmProfileOpts){ .device = "cuda", .target = pm_profile(NULL) };
}

/* A report of one launch that nobody measured. */
static void report(PmProfileReport *r)
{
	PmProfileKernel k = { .times = 1 };
	PmErr err;

	pm_err_init(&err);
	memset(r, 0, sizeof *r);
	r->target = pm_profile(NULL);
	r->cc = r->target->cc;
	r->n_sm = r->target->n_sm;
	if (pm_graph_parse(GRAPH, strlen(GRAPH), &r->g, &err) || pm_plan_new(r->g, NULL, 0, &r->plan, &err))
		fail_msg("%s", err.text);
	assert_int_equal(pm_plan_n_launches(r->plan), 1);
	pm_plan_launch(r->plan, 0, &k.launch);
	pm_access_time(&k.launch, NULL, r->target, &k.time);
	for (int m = 0; m < PM_N_HW_METRICS; m++)
		k.hw[m] = NAN;
	PM_VEC_PUSH(&r->kernel, k);
	PM_VEC_PUSH(&r->code,
		    ((PmProfileCode){
			    .why = "none", .ptx = PM_STR_INIT, .cubin = PM_STR_INIT, .sass = PM_STR_INIT }));
}

/* The same with counters: a kernel that reads everything twice, with conflicts, and waits. */
static PmProfileKernel *counted(PmProfileReport *r)
{
	PmProfileKernel *k;

	report(r);
	k = &r->kernel.v[0];
	r->hw_version = 130001;
	r->hw_passes = 44;
	k->has_hw = 1;
	k->hw[PM_HW_NANOSECONDS] = 10000;
	k->hw[PM_HW_DRAM_READ] = 12e6;
	k->hw[PM_HW_DRAM_WRITTEN] = 4e6;
	k->hw[PM_HW_DRAM_BUSY] = 40;
	k->hw[PM_HW_L2_HIT] = 25;
	k->hw[PM_HW_LOAD_REQUESTS] = 1000;
	k->hw[PM_HW_LOAD_SECTORS] = 32000;
	k->hw[PM_HW_STORE_REQUESTS] = 0;
	k->hw[PM_HW_STORE_SECTORS] = 0;
	k->hw[PM_HW_SHARED_LOAD_PASSES] = 800;
	k->hw[PM_HW_SHARED_LOAD_CONFLICTS] = 600;
	k->hw[PM_HW_SHARED_STORE_PASSES] = 200;
	k->hw[PM_HW_SHARED_STORE_CONFLICTS] = 100;
	k->hw[PM_HW_OCCUPANCY] = 62.5;
	k->hw[PM_HW_ISSUE_BUSY] = 30;
	k->hw[PM_HW_STALL_SELECTED] = 1;
	k->hw[PM_HW_STALL_NOT_SELECTED] = 2;
	k->hw[PM_HW_STALL_WAIT] = 1;
	k->hw[PM_HW_STALL_BARRIER] = 0;
	k->hw[PM_HW_STALL_LONG_SCOREBOARD] = 4;
	k->has_mix = 1;
	k->mix.total = 10;
	k->mix.width[PM_MIX_GLOBAL_LOAD][2] = 3; /* 4 bytes */
	return k;
}

static void units_of_the_report(void **state)
{
	PmProfileReport r;
	PmHwView v;

	(void)state;
	pm__hw_view(&r, counted(&r), &v);
	assert_true(isnan(v.copy_share) && isnan(v.flop_share)); /* another GPU than the target */
	r.same_gpu = 1;
	pm__hw_view(&r, &r.kernel.v[0], &v);
	assert_float_equal(v.copy_share, 1.6e12 / r.target->bytes_per_second, 1e-9);
	assert_true(v.flop_share > 0 && v.flop_share < 1);
	assert_float_equal(v.seconds, 1e-5, 1e-12);
	assert_float_equal(v.dram_rate, 1.6e12, 1);
	assert_true(v.dram_share == 0.4 && v.l2_hit == 0.25 && isnan(v.l1_hit) && isnan(v.sm_share));
	assert_true(v.sectors[PM_COUNT_LOAD] == 32 && isnan(v.sectors[PM_COUNT_STORE]));
	assert_true(v.occupancy == 0.625);
	assert_int_equal(v.n_stalls, 2); /* a warp that issues, or could, is not stalled */
	assert_true(v.stall[0].reason == PM_HW_STALL_LONG_SCOREBOARD && v.stall[0].share == 0.5);
	assert_true(v.stall[1].reason == PM_HW_STALL_WAIT && v.stall[1].share == 0.125);
	pm_profile_release(&r);
}

static void counters_take_the_place_of_the_model(void **state)
{
	PmProfileReport r;
	PmProfileKernel *k = counted(&r);
	PmFacts f;

	(void)state;
	pm_profile_facts(&r, k, &f);
	assert_true(isnan(f.launch_share) && isnan(f.memory_share) && isnan(f.arithmetic_share));
	assert_float_equal(f.load_waste, 7.0 / 8, 1e-9); /* 32 sectors where 4 bytes of a thread need 4 */
	assert_true(isnan(f.store_waste));
	assert_float_equal(f.conflicts, 0.7, 1e-9);
	assert_float_equal(f.traffic, 16e6 / (double)k->launch.bytes, 1e-9);
	assert_true(f.stall == PM_HW_STALL_LONG_SCOREBOARD && f.stall_share == 0.5);
	assert_true(f.at_memory == 0.5 && f.at_shared == 0);
	/* No more sectors than its widest access needs: nothing is known to be wasted. */
	k->mix.width[PM_MIX_GLOBAL_LOAD][4] = 1;
	k->hw[PM_HW_LOAD_SECTORS] = 16000;
	pm_profile_facts(&r, k, &f);
	assert_true(f.load_waste == 0 && f.widest == 16);
	k->has_mix = 0; /* the code is not known */
	pm_profile_facts(&r, k, &f);
	assert_true(isnan(f.load_waste));
	k->launch.bytes = 1000; /* so little that caches hold it */
	pm_profile_facts(&r, k, &f);
	assert_true(isnan(f.traffic));
	k->has_hw = 0;
	pm_profile_facts(&r, k, &f);
	assert_true(f.memory_share > 0 && isnan(f.dram));
	pm_profile_release(&r);
}

static void has(const PmStr *text, const char *what)
{
	if (!text->s || !strstr(text->s, what))
		fail_msg("\"%s\" is not in:\n%s", what, text->s ? text->s : "");
}

static void lines_of_the_report(void **state)
{
	PmProfileOpts o = opts();
	PmStr text = PM_STR_INIT;
	PmProfileReport r;

	(void)state;
	counted(&r);
	pm_profile_text(&r, &o, &text);
	has(&text, "Counters of the hardware: CUPTI 130001, 44 runs of each kernel, from cold caches.");
	has(&text, "  counters      10.00 us, ");
	has(&text, "62 % of the warps there, an instruction issued in 30 % of the cycles\n");
	has(&text, "  DRAM          12 MB read, 4 MB written: 1.6 TB/s, DRAM at 40 % of its peak\n");
	has(&text, "  caches        L2 hit rate 25 %\n");
	has(&text, "  global loads  1000 requests, 32.00 sectors each\n");
	assert_null(strstr(text.s, "global stores"));
	has(&text, "  shared loads  800 passes, 600 of them for bank conflicts\n");
	has(&text, "  shared stores 200 passes, 100 of them for bank conflicts\n");
	has(&text, "  stalls        long_scoreboard 50 %, wait 12 % of the warps' time\n");
	has(&text, "Global loads touch 8 times the sectors");
	has(&text, "since the L2 cache hits 25 % of the time");
	assert_null(strstr(text.s, "of the modelled time is"));
	assert_null(strstr(text.s, "-nan"));
	pm_profile_release(&r);
	pm_str_release(&text);
}

/* What is not known is no member. */
static void members_of_the_report(void **state)
{
	PmProfileOpts o = opts();
	cJSON *j = cJSON_CreateObject();
	const cJSON *k, *c, *s;
	PmProfileReport r;

	(void)state;
	counted(&r);
	r.hw_lacks[PM_HW_L1_HIT] = 1;
	pm_profile_json(&r, &o, j);
	k = cJSON_GetArrayItem(cJSON_GetObjectItem(j, "kernels"), 0);
	c = cJSON_GetObjectItem(k, "counters");
	assert_non_null(c);
	assert_true(cJSON_GetObjectItem(c, "dram_bytes_per_second")->valuedouble == 1.6e12);
	assert_true(cJSON_GetObjectItem(c, "l2_hit_rate")->valuedouble == 0.25);
	assert_true(cJSON_GetObjectItem(c, "load_sectors_per_request")->valuedouble == 32);
	assert_true(cJSON_GetObjectItem(c, "shared_load_bank_conflicts")->valuedouble == 600);
	assert_true(cJSON_GetObjectItem(c, "achieved_occupancy_share")->valuedouble == 0.625);
	assert_null(cJSON_GetObjectItem(c, "l1_hit_rate"));
	assert_null(cJSON_GetObjectItem(c, "store_sectors_per_request"));
	s = cJSON_GetArrayItem(cJSON_GetObjectItem(c, "stalls"), 0);
	assert_string_equal(cJSON_GetObjectItem(s, "reason")->valuestring, "long_scoreboard");
	assert_true(cJSON_GetObjectItem(s, "share")->valuedouble == 0.5);
	c = cJSON_GetObjectItem(j, "hardware_counters");
	assert_int_equal(cJSON_GetObjectItem(c, "passes")->valueint, 44);
	s = cJSON_GetArrayItem(cJSON_GetObjectItem(c, "lacking"), 0);
	assert_string_equal(s->valuestring, "l1tex__t_sector_hit_rate.pct");
	assert_null(cJSON_GetArrayItem(cJSON_GetObjectItem(j, "absent"), 1)); /* the code alone */
	cJSON_Delete(j);
	pm_profile_release(&r);
}

/* Counters of several passes that do not fit together. */
static void a_share_above_all(void **state)
{
	PmProfileOpts o = opts();
	PmStr text = PM_STR_INIT;
	cJSON *j = cJSON_CreateObject();
	const cJSON *c;
	PmProfileReport r;
	PmHwView v;

	(void)state;
	counted(&r)->hw[PM_HW_L2_HIT] = 268;
	r.kernel.v[0].hw[PM_HW_OCCUPANCY] = 100.5; /* rounding */
	pm__hw_view(&r, &r.kernel.v[0], &v);
	assert_true(isnan(v.l2_hit) && v.occupancy == 1);
	pm_profile_text(&r, &o, &text);
	has(&text, "  not reliable  lts__t_sector_hit_rate.pct: the kernel is too short for it\n");
	assert_null(strstr(text.s, "L2 hit rate"));
	assert_null(strstr(text.s, "the L2 cache hits"));
	pm_profile_json(&r, &o, j);
	c = cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(j, "kernels"), 0), "counters");
	assert_null(cJSON_GetObjectItem(c, "l2_hit_rate"));
	c = cJSON_GetObjectItem(c, "unreliable");
	assert_int_equal(cJSON_GetArraySize(c), 1);
	assert_string_equal(cJSON_GetArrayItem(c, 0)->valuestring, "lts__t_sector_hit_rate.pct");
	cJSON_Delete(j);
	pm_profile_release(&r);
	pm_str_release(&text);
}

/* An agent reads 16 KB at once: kernels that have no room are counted. */
static void many_kernels(void **state)
{
	PmProfileOpts o = opts();
	cJSON *j = cJSON_CreateObject();
	PmStr text = PM_STR_INIT;
	PmProfileReport r;
	int shown;

	(void)state;
	counted(&r);
	for (int i = 1; i < 40; i++)
		PM_VEC_PUSH(&r.kernel, r.kernel.v[0]);
	for (int i = 0; i < 40; i++)
		for (int m = 0; m < PM_N_HW_METRICS; m++)
			r.kernel.v[i].hw[m] = 12.3456;
	for (size_t i = 0; i < 500; i++)
		r.why_no_hw[i] = 'x';
	pm_profile_json(&r, &o, j);
	pm_json_print(j, 1, &text);
	assert_in_range(text.len, 8000, 16384);
	shown = cJSON_GetArraySize(cJSON_GetObjectItem(j, "kernels"));
	assert_in_range(shown, 2, 20);
	assert_int_equal(cJSON_GetObjectItem(j, "kernels_left_out")->valueint, 40 - shown);
	cJSON_Delete(j);
	pm_profile_release(&r);
	pm_str_release(&text);
}

/* Nothing but the reason, and the model's sentences. */
static void without_counters(void **state)
{
	PmProfileOpts o = opts();
	PmStr text = PM_STR_INIT;
	PmProfileReport r;

	(void)state;
	report(&r);
	strcpy(r.why_no_hw, "Hardware counters need CUPTI.");
	pm_profile_text(&r, &o, &text);
	has(&text, "Not in this report:\n");
	has(&text, "  Hardware counters need CUPTI.\n");
	has(&text, "of the modelled time is");
	assert_null(strstr(text.s, "  counters "));
	assert_null(strstr(text.s, "Counters of the hardware"));
	pm_str_clear(&text);
	*r.why_no_hw = 0;
	pm_profile_text(&r, &o, &text);
	has(&text, "Hardware counters are not there: they are read once the kernels have been timed.");
	pm_profile_release(&r);
	pm_str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_of_the_report), cmocka_unit_test(counters_take_the_place_of_the_model),
		cmocka_unit_test(lines_of_the_report), cmocka_unit_test(members_of_the_report),
		cmocka_unit_test(a_share_above_all),   cmocka_unit_test(many_kernels),
		cmocka_unit_test(without_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
