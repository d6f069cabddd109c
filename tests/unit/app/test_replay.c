/* SPDX-License-Identifier: Apache-2.0 */
/* test_replay.c - the part of a report that says what an evaluation drew, and the reports that say it not. */
#include "app/eval/replay.h"

#include "base/core/str.h"
#include "base/sys/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B64 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* Members are compared by their labels. */
static PmTaskVariant two[] = { { .label = (char *)(uintptr_t) "s0" }, { .label = (char *)(uintptr_t) "s1" } };
static const PmVariantList variants = { .list = { .v = two, .n = 2 } };

/* Opens the text as a report; *f is released also after a failure. */
static PmStatus open_text(const char *text, PmReplayFile *f, PmErr *err)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmStatus st;

	pm_err_init(err);
	assert_int_equal(pm_temp_dir("replay", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "r.json", &path);
	assert_int_equal(pm_write_file(path.s, text, strlen(text), NULL), PM_OK);
	st = pm_replay_open(path.s, f, err);
	f->path = "r.json";
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
	return st;
}

static PmStatus find(const char *text, const char *sha256, const cJSON **part, PmReplayFile *f, PmErr *err)
{
	PmEvalReport r = { .pass = "mine.so" };

	snprintf(r.sha256, sizeof r.sha256, "%s", sha256);
	if (open_text(text, f, err))
		fail_msg("%s", err->text);
	return pm_replay_find(f, &r, &variants, part, err);
}

#define RECORDS                                                                                              \
	"\"records\": [{\"variant\": \"s0\", \"secret\": \"" A64 "\", \"verdict\": \"OK\"},"                 \
	"{\"variant\": \"s1\", \"secret\": \"" B64 "\", \"verdict\": \"CRASH\"}]"

static void what_is_no_report_is_refused(void **state)
{
	static const char *const texts[] = { "{}", "[]", "3", "not JSON" };
	PmReplayFile f;
	PmErr err;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_int_not_equal(open_text(texts[i], &f, &err), PM_OK);
		assert_non_null(strstr(err.text, "r.json"));
		pm_replay_release(&f);
	}
}

static void the_pass_of_the_same_bytes_is_found(void **state)
{
	const cJSON *part;
	PmReplayFile f;
	PmErr err;

	(void)state;
	assert_int_equal(find("[{\"pass_sha256\": \"" A64 "\", " RECORDS "},"
			      "{\"pass_sha256\": \"" B64 "\", \"hidden\": {\"secret\": \"" A64 "\"}, " RECORDS
			      "}]",
			      B64, &part, &f, &err),
			 PM_OK);
	assert_string_equal(pm_json_str(part, "pass_sha256", ""), B64);
	assert_int_equal(pm_replay_n(part), 2);
	assert_string_equal(pm_replay_secret(part, 0), A64);
	assert_string_equal(pm_replay_secret(part, 1), B64);
	assert_string_equal(pm_replay_hidden(part), A64);
	assert_null(pm_replay_hidden(cJSON_GetArrayItem(f.json, 0)));
	pm_replay_release(&f);
}

/* One pass that was built anew is meant; of several nobody knows which. */
static void only_one_pass_may_have_other_bytes(void **state)
{
	const cJSON *part;
	PmReplayFile f;
	PmErr err;

	(void)state;
	assert_int_equal(find("[{\"pass_sha256\": \"" A64 "\", " RECORDS "}]", B64, &part, &f, &err), PM_OK);
	pm_replay_release(&f);
	assert_int_equal(find("[{\"pass_sha256\": \"" A64 "\", " RECORDS
			      "}, {\"pass_sha256\": \"c\", " RECORDS "}]",
			      B64, &part, &f, &err),
			 PM_E_INVALID);
	assert_non_null(strstr(err.text, "mine.so"));
	pm_replay_release(&f);
}

static void records_that_do_not_fit_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "[{\"records\": [{\"variant\": \"s0\", \"secret\": \"" A64 "\"}]}]", "1 record" },
		{ "[{\"records\": [{\"variant\": \"s0\", \"secret\": \"" A64 "\"},"
		  "{\"variant\": \"s2\", \"secret\": \"" A64 "\"}]}]",
		  "'s1'" },
		{ "[{\"records\": [{\"variant\": \"s0\", \"secret\": \"" A64 "\"},"
		  "{\"variant\": \"s1\", \"secret\": \"12\"}]}]",
		  "64 hexadecimal" },
		{ "[{\"left_out\": 5, \"records\": [{\"variant\": \"s0\", \"secret\": \"" A64 "\"},"
		  "{\"variant\": \"s1\", \"secret\": \"" A64 "\"}, {}]}]",
		  "3 records" },
	};
	const cJSON *part;
	PmReplayFile f;
	PmErr err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(find(bad[i].text, A64, &part, &f, &err), PM_E_INVALID);
		if (!strstr(err.text, bad[i].says))
			fail_msg("%s", err.text);
		pm_replay_release(&f);
	}
	/* A report that the first failure ended says so. */
	assert_int_equal(find("[{\"left_out\": 1, \"records\": [{\"variant\": \"s0\", \"secret\": \"" A64
			      "\"}]}]",
			      A64, &part, &f, &err),
			 PM_OK);
	assert_int_equal(pm_replay_n(part), 1);
	pm_replay_release(&f);
}

static void verdicts_that_agree_are_counted(void **state)
{
	PmEvalRecord rec[2] = { { .verdict = PM_VERDICT_OK }, { .verdict = PM_VERDICT_OK } };
	PmEvalReport r = { .n = 2, .rec = rec };
	const cJSON *part;
	PmReplayFile f;
	PmErr err;

	(void)state;
	assert_int_equal(find("[{" RECORDS "}]", A64, &part, &f, &err), PM_OK);
	assert_int_equal(pm_replay_agrees(part, &r), 1);
	rec[0].verdict = PM_VERDICT_INCORRECT;
	assert_int_equal(pm_replay_agrees(part, &r), 0);
	pm_replay_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_report_is_refused),
		cmocka_unit_test(the_pass_of_the_same_bytes_is_found),
		cmocka_unit_test(only_one_pass_may_have_other_bytes),
		cmocka_unit_test(records_that_do_not_fit_are_refused),
		cmocka_unit_test(verdicts_that_agree_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
