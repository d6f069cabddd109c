/* SPDX-License-Identifier: Apache-2.0 */
/* test_time_file.c - the file of passmith time is taken up again on the same device with the same options,
 * and only what has times counts. */
#include "app/time/time_file.h"

#include "base/sys/io.h"
#include "dataset/store/subgraphs.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char silu[] = "g (float[3,67] x) => (float[3,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";

/* A run on emu with one record of `g` that has times and one that has an error. */
static void begin(PmTime *t, const char *file, const PmGraph *g)
{
	cJSON *r = cJSON_CreateObject(), *bad = cJSON_CreateObject();
	PmGraphKey key;
	PmErr err;

	pm_err_init(&err);
	*t = (PmTime){ .device = "emu", .json_out = file, .target = "silu.gpt", .resume = 1 };
	t->worker = pm_worker_new("emu");
	t->records = cJSON_CreateArray();
	if (pm_worker_info(t->worker, &t->info, &err))
		fail_msg("%s", err.text);
	t->has_info = 1;
	assert_int_equal(pm_graph_key(g, &key, &err), PM_OK);
	cJSON_AddStringToObject(r, "target", "silu.gpt");
	cJSON_AddStringToObject(r, "graph", key.full);
	cJSON_AddObjectToObject(cJSON_AddObjectToObject(r, "times"), "passmith eager");
	cJSON_AddItemToArray(t->records, r);
	cJSON_AddStringToObject(bad, "target", "broken.gpt");
	cJSON_AddStringToObject(bad, "error", "It cannot be read.");
	cJSON_AddItemToArray(t->records, bad);
}

static void end(PmTime *t)
{
	cJSON_Delete(t->records);
	pm_worker_free(t->worker);
}

static void a_run_goes_on_where_the_file_ends(void **state)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmGraph *g = NULL;
	PmTime t, next;
	cJSON *times;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	g = pm_test_graph(silu);
	assert_int_equal(pm_temp_dir("time", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "times.json", &path);
	begin(&t, path.s, g);
	times = pm_time_file_json(&t);
	assert_string_equal(pm_json_str(times, "device", ""), t.info.name);
	assert_int_equal(pm_time_file_write(&t, times, &err), PM_OK);
	cJSON_Delete(times);
	begin(&next, path.s, g);
	cJSON_Delete(next.records);
	next.records = cJSON_CreateArray();
	assert_false(pm_time_file_has(&next, g));
	if (pm_time_file_resume(&next, &err))
		fail_msg("%s", err.text);
	assert_int_equal(cJSON_GetArraySize(next.records), 1);
	assert_true(pm_time_file_has(&next, g));
	next.target = "other.gpt";
	assert_false(pm_time_file_has(&next, g));
	next.target = "silu.gpt";
	next.pass = "p.so"; /* whose times are not there */
	assert_false(pm_time_file_has(&next, g));
	next.tf32 = 1;
	assert_int_equal(pm_time_file_resume(&next, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "--tf32"));
	end(&t);
	end(&next);
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_graph_free(g);
}

/* A file of the run before stays when no device was opened. */
static void without_a_device_nothing_is_written(void **state)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmGraph *g = NULL;
	PmTime t;
	cJSON *times;

	(void)state;
	g = pm_test_graph(silu);
	assert_int_equal(pm_temp_dir("time", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "times.json", &path);
	begin(&t, path.s, g);
	t.has_info = 0;
	times = pm_time_file_json(&t);
	assert_false(cJSON_HasObjectItem(times, "device"));
	assert_int_equal(pm_time_file_write(&t, times, NULL), PM_OK);
	assert_false(pm_path_exists(path.s));
	cJSON_Delete(times);
	end(&t);
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_goes_on_where_the_file_ends),
		cmocka_unit_test(without_a_device_nothing_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
