/* SPDX-License-Identifier: Apache-2.0 */
/* test_targets.c - the table of GPUs, what is taken over by ratios, devices that no row describes, and JSON.
 */
#include "targets/targets.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Needs what stands above. */
#include <cmocka.h>

/* What the columns of data sheets are to each other, so that a slip in a row is seen: float operations are
 * two of each of 128 (A100: 64) units of a multiprocessor in a clock. */
static void facts_agree(void **state)
{
	const PmTarget *t;

	(void)state;
	for (size_t i = 0; (t = pm_target_at(i)); i++) {
		double units = t->compute_capability == 80 ? 64 : 128,
		       peak = 2 * units * t->sm_count * t->sm_clock_hz;

		assert_true(fabs(t->f32_flops_per_second / peak - 1) < 0.01);
		assert_true(t->struct_size == sizeof *t && t->warp_threads == 32 && t->block_threads == 1024);
		assert_true(t->sm_threads >= 1536 && t->sm_registers == 65536 && t->thread_registers == 255);
		assert_true(t->block_shared_bytes + t->block_kept_shared_bytes == t->sm_shared_bytes);
		assert_true(t->copy_bytes_per_second < t->memory_bytes_per_second);
		assert_true(t->l2_bytes_per_second > t->copy_bytes_per_second);
		assert_true(t->f16_tensor_flops_per_second > t->f32_flops_per_second);
	}
	assert_true(pm_target_at(0)->fitted && !pm_target_find("l4")->fitted);
	assert_ptr_equal(pm_target_of_cc(90), pm_target_find("h200"));
	assert_null(pm_target_of_cc(70));
	assert_null(pm_target_find("abacus"));
}

/* Every row has every constant, in the order of costs.def, which is that of the names. */
static void numbers_are_complete_and_sorted(void **state)
{
	const PmTarget *t;

	(void)state;
	for (size_t i = 0; (t = pm_target_at(i)); i++)
		for (uint32_t k = 0; k < t->n_numbers; k++) {
			assert_string_equal(t->number[k].name, pm_cost_info(k)->name);
			assert_true(t->number[k].value > 0);
			assert_true(!k || strcmp(t->number[k - 1].name, t->number[k].name) < 0);
			assert_true(strlen(pm_cost_info(k)->meaning) && strlen(pm_cost_info(k)->experiment));
		}
	assert_null(pm_cost_info(pm_target_at(0)->n_numbers));
	assert_true(isnan(pm_target_cost(pm_target_now(), "abacus")));
}

/* What was not fitted is the first target's, by the ratio that its row names. */
static void others_are_taken_over_by_ratios(void **state)
{
	const PmTarget *from = pm_target_at(0), *t = pm_target_find("l4");

	(void)state;
	assert_true(pm_target_cost(t, "launch_us") == pm_target_cost(from, "launch_us"));
	assert_true(fabs(pm_target_cost(t, "copy_bytes_per_us") / pm_target_cost(from, "copy_bytes_per_us") -
			 0.3e12 / 4.8e12) < 1e-12);
	assert_true(fabs(pm_target_cost(t, "sm_cycles_per_us") / pm_target_cost(from, "sm_cycles_per_us") -
			 2.04 / 1.98) < 1e-12);
	assert_true(fabs(pm_target_cost(t, "mma_per_us") / pm_target_cost(from, "mma_per_us") -
			 (121.0 / 58) / (989.0 / 132)) < 1e-12);
	assert_true(fabs(t->l2_bytes_per_second / from->l2_bytes_per_second - 58.0 / 132 * 2.04 / 1.98) <
		    1e-12);
}

static void devices_that_a_row_describes(void **state)
{
	/* Names and bytes as their drivers report them. */
	static const struct {
		PmTargetFacts facts;
		const char *name;
	} cases[] = {
		{ { .full_name = "NVIDIA H200", .cc = 90, .sm_count = 132, .memory_bytes = 150109880320 },
		  "h200" },
		{ { .full_name = "NVIDIA H100 80GB HBM3",
		    .cc = 90,
		    .sm_count = 132,
		    .memory_bytes = 85029158912 },
		  "h100" },
		{ { .full_name = "NVIDIA A100-SXM4-80GB",
		    .cc = 80,
		    .sm_count = 108,
		    .memory_bytes = 85100396544 },
		  "a100" },
		{ { .full_name = "NVIDIA GeForce RTX 4090",
		    .cc = 89,
		    .sm_count = 128,
		    .memory_bytes = 25386352640 },
		  "rtx4090" },
		{ { .full_name = "NVIDIA L4", .cc = 89, .sm_count = 58, .memory_bytes = 23580639232 }, "l4" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(pm_target_of_device(&cases[i].facts)->name, cases[i].name);
}

/* A GPU of which there are attributes alone: an RTX A6000. */
static void a_device_that_no_row_describes(void **state)
{
	const PmTargetFacts f = { .full_name = "NVIDIA RTX A6000",
				  .cc = 86,
				  .sm_count = 84,
				  .sm_threads = 1536,
				  .sm_blocks = 16,
				  .sm_registers = 65536,
				  .l2_bytes = 6291456,
				  .memory_bytes = 51041271808,
				  .sm_shared_bytes = 102400,
				  .block_shared_bytes = 101376,
				  .sm_clock_hz = 1.8e9,
				  .memory_clock_hz = 8.001e9,
				  .memory_bus_bits = 384 };
	const PmTarget *t = pm_target_of_device(&f), *from = pm_target_find("a100");

	(void)state;
	assert_string_equal(t->name, "nvidia-rtx-a6000");
	assert_string_equal(t->full_name, "NVIDIA RTX A6000");
	assert_true(t->compute_capability == 86 && t->sm_count == 84 && t->sm_threads == 1536);
	assert_true(t->l2_bytes == 6291456 && t->sm_shared_bytes == 102400 && !t->fitted);
	assert_true(fabs(t->memory_bytes_per_second - 768.096e9) < 1e6);
	assert_true(fabs(t->f32_flops_per_second / from->f32_flops_per_second - 84.0 / 108 * 1.8 / 1.41) <
		    1e-12);
	assert_true(fabs(pm_target_cost(t, "copy_bytes_per_us") / pm_target_cost(from, "copy_bytes_per_us") -
			 768.096 / 2039) < 1e-9);
}

/* As a pass's process gets it. */
static void json_there_and_back(void **state)
{
	const PmTarget *t = pm_target_find("rtx4090");
	cJSON *j = cJSON_CreateObject(), *parsed;
	PmStr text = PM_STR_INIT, again = PM_STR_INIT;
	PmTarget *back;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_target_to_json(t, j);
	pm_json_print(j, 0, &text);
	cJSON_Delete(j);
	assert_int_equal(pm_json_parse(text.s, text.len, &parsed, &err), PM_OK);
	assert_int_equal(pm_target_from_json(parsed, &back, &err), PM_OK);
	j = cJSON_CreateObject();
	pm_target_to_json(back, j);
	pm_json_print(j, 0, &again);
	assert_string_equal(again.s, text.s);
	assert_int_equal(back->n_numbers, t->n_numbers);
	assert_int_equal(back->struct_size, sizeof *back);
	free(back);
	cJSON_DeleteItemFromObject(parsed, "l2_bytes");
	assert_int_equal(pm_target_from_json(parsed, &back, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "lacks 'l2_bytes'"));
	cJSON_Delete(parsed);
	cJSON_Delete(j);
	pm_str_release(&text);
	pm_str_release(&again);
}

/* What a cost model would be like with other constants. */
static void trials(void **state)
{
	const PmTarget *list[2];
	PmTarget *t, *bad;
	cJSON *j;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_json_parse("{\"launch_us\":2.5}", 17, &j, &err), PM_OK);
	assert_int_equal(pm_target_changed(pm_target_find("l4"), j, &t, &err), PM_OK);
	cJSON_Delete(j);
	assert_true(pm_target_cost(t, "launch_us") == 2.5 && t->sm_count == 58);
	assert_true(pm_target_cost(t, "wait_us") == pm_target_cost(pm_target_find("l4"), "wait_us"));
	assert_int_equal(pm_json_parse("{\"launch_us\":-1}", 16, &j, &err), PM_OK);
	assert_int_equal(pm_target_changed(t, j, &bad, &err), PM_E_INVALID);
	assert_null(bad);
	cJSON_Delete(j);
	list[0] = list[1] = t;
	pm_target_trials(list, 2);
	assert_ptr_equal(pm_target_trial(0), pm_target_now());
	assert_ptr_equal(pm_target_trial(2), t);
	assert_null(pm_target_trial(3));
	pm_target_trials(NULL, 0);
	assert_null(pm_target_trial(1));
	free(t);
}

static void the_process_has_one(void **state)
{
	(void)state;
	assert_ptr_equal(pm_target_now(), pm_target_at(0));
	pm_target_set(pm_target_find("a100"));
	assert_string_equal(pm_target_now()->name, "a100");
	assert_ptr_equal(pm_target_find(NULL), pm_target_now());
	pm_target_set(pm_target_at(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_agree),
		cmocka_unit_test(numbers_are_complete_and_sorted),
		cmocka_unit_test(others_are_taken_over_by_ratios),
		cmocka_unit_test(devices_that_a_row_describes),
		cmocka_unit_test(a_device_that_no_row_describes),
		cmocka_unit_test(json_there_and_back),
		cmocka_unit_test(trials),
		cmocka_unit_test(the_process_has_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
