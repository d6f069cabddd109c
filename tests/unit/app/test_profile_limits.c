/* SPDX-License-Identifier: Apache-2.0 */
/* test_profile_limits.c - each rule of limits.def is said where it holds, and nothing where nothing is known.
 */
#include "app/profile/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/* Needs what stands above. */
#include <cmocka.h>

static void nothing_is_known(void **state)
{
	PmFacts f;
	PmStr out = PM_STR_INIT;

	(void)state;
	pm_profile_no_facts(&f);
	assert_int_equal(pm_profile_say(&f, 100, &out), 0);
	pm_str_release(&out);
}

/* Facts under which one rule holds alone, and what it says. */
static void each_rule(void **state)
{
	static const struct {
		size_t member[3];
		double value[3];
		const char *says;
	} cases[] = {
#define OF(name) offsetof(PmFacts, name)
		{ { OF(launch_share) }, { 0.9 }, "90 % of the modelled time is the launch itself" },
		{ { OF(local_share) }, { 0.1 }, "10 % of the instructions move registers or arrays" },
		{ { OF(load_waste), OF(access_share) },
		  { 0.5, 0.4 },
		  "Global loads touch 2 times the sectors" },
		{ { OF(store_waste), OF(access_share) },
		  { 0.75, 0.4 },
		  "Global stores touch 4 times the sectors" },
		{ { OF(conflicts) }, { 0.875 }, "Shared memory takes 8 times the passes" },
		{ { OF(rereads) }, { 12 }, "Each sector is read 12 times" },
		{ { OF(efficiency) }, { 0.5 }, "Only 50 % of the lanes are active" },
		{ { OF(same_address) }, { 32 }, "32 threads of a warp go to the same address" },
		{ { OF(fp64_share) }, { 0.1 }, "10 % of the instructions are of double precision" },
		{ { OF(launch_share), OF(waves) }, { 0.1, 0.25 }, "The grid fills 25 % of the places" },
		{ { OF(waves), OF(idle) }, { 1.5, 0.25 }, "25 % of the places stay empty in the last round" },
		{ { OF(widest), OF(memory_share), OF(load_waste) },
		  { 4, 0.6, 0 },
		  "Each thread loads at most 4 bytes" },
		{ { OF(memory_share), OF(arithmetic_share) },
		  { 0.8, 0.2 },
		  "80 % of the modelled time is memory traffic" },
		{ { OF(arithmetic_share) }, { 0.8 }, "80 % of the modelled time is arithmetic" },
		{ { OF(l2_share) }, { 0.8 }, "80 % of the modelled time is what the L2 cache is asked for" },
		{ { OF(l1_share) }, { 0.8 }, "80 % of the modelled time is passes over the L1 cache" },
		{ { OF(issue_share) }, { 0.8 }, "80 % of the modelled time is instructions of warps" },
		{ { OF(widest), OF(dram), OF(load_waste) },
		  { 4, 0.5, 0 },
		  "Each thread loads at most 4 bytes" },
		{ { OF(microseconds), OF(launch_us) }, { 1.5, 2.7 }, "The kernel runs for 1.5 us" },
		{ { OF(dram) }, { 0.75 }, "DRAM works at 75 % of its peak" },
		{ { OF(traffic), OF(l2_hit) }, { 2.5, 0.25 }, "the L2 cache hits 25 % of the time" },
		{ { OF(sm) }, { 0.875 }, "busiest unit works at 87.5 % of its peak" },
		{ { OF(achieved), OF(occupancy), OF(waves) },
		  { 0.25, 0.75, 3 },
		  "Only 25 % of the warps were there on average" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		PmStr out = PM_STR_INIT;
		PmFacts f;

		pm_profile_no_facts(&f);
		for (int k = 0; k < 3; k++)
			if (!k || cases[i].member[k])
				*(double *)(void *)((char *)&f + cases[i].member[k]) = cases[i].value[k];
		if (pm_profile_say(&f, 100, &out) != 1 || !strstr(out.s, cases[i].says))
			fail_msg("\"%s\" is not: %s", cases[i].says, out.s ? out.s : "");
		pm_str_release(&out);
	}
}

/* A grid that all but fills the GPU is no limit. */
static void a_grid_that_nearly_fills(void **state)
{
	PmStr out = PM_STR_INIT;
	PmFacts f;

	(void)state;
	pm_profile_no_facts(&f);
	f.waves = 0.97;
	assert_int_equal(pm_profile_say(&f, 100, &out), 0);
	pm_str_release(&out);
}

static void what_occupancy_lacks(void **state)
{
	static const char *const says[] = { "Registers leave room for 25 %",
					    "Shared memory leaves room for 25 %",
					    "only 25 % of the warps are there" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		PmStr out = PM_STR_INIT;
		PmFacts f;

		pm_profile_no_facts(&f);
		f.occupancy = 0.25;
		f.waves = 20;
		f.by_registers = i == 0;
		f.by_shared = i == 1;
		f.by_blocks = i == 2;
		if (pm_profile_say(&f, 100, &out) != 1 || !strstr(out.s, says[i]))
			fail_msg("\"%s\" is not: %s", says[i], out.s ? out.s : "");
		pm_str_release(&out);
	}
}

/* Of each stall reason the sentence says what the warps wait for, and where something helps, what. */
static void why_warps_wait(void **state)
{
	(void)state;
	for (int m = PM_HW_STALLS; m < PM_N_HW_METRICS; m++) {
		PmStr out = PM_STR_INIT;
		PmFacts f;

		pm_profile_no_facts(&f);
		f.stall = (PmHwMetric)m;
		f.stall_share = 0.625;
		assert_int_equal(pm_profile_say(&f, 100, &out), 1);
		assert_ptr_equal(strstr(out.s, "62.5 % of the warps' time"), out.s);
		assert_non_null(strstr(out.s, pm_hw_stall_waits(f.stall)));
		assert_non_null(strstr(out.s, pm_hw_stall_name(f.stall)));
		assert_non_null(strstr(out.s, pm_hw_stall_helps(f.stall)));
		assert_string_equal(out.s + out.len - 2, ".\n");
		pm_str_clear(&out);
		f.stall_share = 0.25; /* one of many */
		assert_int_equal(pm_profile_say(&f, 100, &out), 0);
		pm_str_release(&out);
	}
}

/* At the peak of DRAM that is what limits, and waiting for it follows from that. */
static void a_peak_comes_before_waiting(void **state)
{
	PmStr out = PM_STR_INIT;
	PmFacts f;

	(void)state;
	pm_profile_no_facts(&f);
	f.stall = PM_HW_STALL_LONG_SCOREBOARD;
	f.stall_share = 0.9;
	f.dram = 0.875;
	assert_int_equal(pm_profile_say(&f, 2, &out), 2);
	assert_ptr_equal(strstr(out.s, "DRAM works at 87.5 %"), out.s);
	pm_str_clear(&out);
	f.dram = 0.125;
	assert_int_equal(pm_profile_say(&f, 2, &out), 1);
	assert_non_null(
		strstr(out.s, "wait for data from L1, L2 or DRAM (long_scoreboard): have more loads"));
	pm_str_release(&out);
}

static void the_weightiest_come_first(void **state)
{
	PmStr out = PM_STR_INIT;
	const char *banks, *loads, *lanes;
	PmFacts f;

	(void)state;
	pm_profile_no_facts(&f);
	f.access_share = 0.3;
	f.load_waste = 0.5;  /* 0.15 */
	f.efficiency = 0.6;  /* 0.4 */
	f.conflicts = 0.875; /* 0.6 */
	assert_int_equal(pm_profile_say(&f, 3, &out), 3);
	banks = strstr(out.s, "bank conflicts");
	lanes = strstr(out.s, "lanes are active");
	loads = strstr(out.s, "Global loads");
	assert_true(banks && lanes && loads && banks < lanes && lanes < loads);
	pm_str_clear(&out);
	assert_int_equal(pm_profile_say(&f, 1, &out), 1);
	assert_null(strstr(out.s, "lanes are active"));
	pm_str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_known),
		cmocka_unit_test(each_rule),
		cmocka_unit_test(a_grid_that_nearly_fills),
		cmocka_unit_test(what_occupancy_lacks),
		cmocka_unit_test(why_warps_wait),
		cmocka_unit_test(a_peak_comes_before_waiting),
		cmocka_unit_test(the_weightiest_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
