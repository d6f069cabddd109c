/* SPDX-License-Identifier: Apache-2.0 */
/* test_eval_pool.c - evaluations in several processes: the same records in the same order, and a process that
 * dies or fails takes nothing with it.
 */
#include "app/eval/eval_pool.h"

#include "bench/report/report.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { N = 5 };
#define HANGS built("tests/plugin/hanging_check.so")

static const char *const shapes[N] = { "3,67", "5,9", "1,1", "17,4", "2,300" };

typedef struct Case {
	PmGraph *g[N];
	PmEvalItem item[N];
	PmEvalOpts opts;
	PmEvalReport report; /* of which the options are */
	PmEvalRecord rec[N];
	size_t taken, decline_at;
} Case;

static void begin(Case *c, const char *so)
{
	static char label[N][16];
	PmEvalOpts o = { .device = "emu",
			 .preset = PM_PRESET_SOUND,
			 .secret = test_secret(7),
			 .pass_deadline = 60,
			 .device_deadline = 100 };
	PmErr err;

	memset(c, 0, sizeof *c);
	pm_err_init(&err);
	if (pm_eval_report_begin(&c->report, so, 0, &o, &err))
		fail_msg("%s", err.text);
	c->opts = c->report.opts;
	c->decline_at = N;
	for (int i = 0; i < N; i++) {
		char text[160];

		snprintf(text, sizeof text,
			 "g (float[%s] x) => (float[%s] y) { s = Sigmoid(x)\n y = Mul(x, s) }", shapes[i],
			 shapes[i]);
		snprintf(label[i], sizeof label[i], "v%d", i);
		c->g[i] = pm_test_graph(text);
		c->item[i] = (PmEvalItem){ { .label = label[i], .g = c->g[i], .number = i }, &c->opts };
	}
}

static void end(Case *c)
{
	for (int i = 0; i < N; i++) {
		pm_graph_free(c->g[i]);
		pm_eval_record_release(&c->rec[i]);
	}
	pm_eval_report_release(&c->report);
}

static PmStatus take(void *arg, size_t item, PmEvalRecord *rec, PmErr *err)
{
	Case *c = arg;

	(void)err;
	assert_true(item >= c->taken); /* in order */
	c->taken = item + 1;
	c->rec[item] = *rec;
	return item == c->decline_at ? PM_DECLINED : PM_OK;
}

static PmStatus run(Case *c, const char *so, int jobs, PmErr *err)
{
	PmEvalPool p = { .so = so, .item = c->item, .n = N, .jobs = jobs, .take = take, .arg = c };

	pm_err_init(err);
	return pm_eval_pool(&p, err);
}

/* A record as it is published, without what a clock said: as many calls are looked at as a time allows. */
static char *text_of(const PmEvalRecord *r)
{
	cJSON *j = pm_eval_record_json(r);
	char *text;

	cJSON_DeleteItemFromObject(j, "wall_seconds");
	cJSON_DeleteItemFromObject(j, "calls");
	text = cJSON_Print(j);
	cJSON_Delete(j);
	return text;
}

static void same_records(const char *so)
{
	Case one, three;
	PmErr err;

	begin(&one, so);
	begin(&three, so);
	assert_int_equal(run(&one, so, 1, &err), PM_OK);
	assert_int_equal(run(&three, so, 3, &err), PM_OK);
	assert_int_equal(three.taken, N);
	for (int i = 0; i < N; i++) {
		char *a = text_of(&one.rec[i]), *b = text_of(&three.rec[i]);

		assert_string_equal(a, b);
		assert_string_equal(three.rec[i].label, three.item[i].v.label);
		assert_int_equal(three.rec[i].n_outputs, one.rec[i].n_outputs);
		assert_true(three.rec[i].wall_seconds > 0);
		free(a);
		free(b);
	}
	end(&one);
	end(&three);
}

static void three_processes_make_the_records_of_one(void **state)
{
	char so[512];

	(void)state;
	snprintf(so, sizeof so, "%s", built("passes/silu.so"));
	same_records(so);
	snprintf(so, sizeof so, "%s", built("tests/plugin/wrong_silu.so")); /* with sentences and elements */
	same_records(so);
	snprintf(so, sizeof so, "%s",
		 built("passes/swiglu.so")); /* does not match, and says how near it came */
	same_records(so);
}

/* What evaluates item 2 reads where nothing is. */
static void a_process_that_dies_three_times_judges_nobody(void **state)
{
	void *nothing = mmap(NULL, sizeof(PmObject), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char so[512];
	PmEvalOpts bad;
	PmErr err;
	Case c;

	(void)state;
	assert_ptr_not_equal(nothing, MAP_FAILED);
	signal(SIGSEGV, SIG_DFL); /* not cmocka's, in the processes as well */
	snprintf(so, sizeof so, "%s", built("passes/silu.so"));
	begin(&c, so);
	bad = c.opts;
	bad.object = nothing;
	c.item[2].opts = &bad;
	assert_int_equal(run(&c, so, 2, &err), PM_OK);
	assert_int_equal(c.taken, N);
	for (int i = 0; i < N; i++)
		assert_int_equal(c.rec[i].verdict, i == 2 ? PM_VERDICT_HARNESS_FAIL : PM_VERDICT_OK);
	assert_non_null(strstr(c.rec[2].why, "died three times"));
	assert_string_equal(c.rec[2].label, "v2");
	assert_int_equal(strlen(c.rec[2].secret), PM_SECRET_HEX - 1);
	end(&c);
	munmap(nothing, sizeof(PmObject));
}

/* What does not come back is ended with its process, and is no reason to try it again. */
static void a_deadline_ends_what_does_not_come_back(void **state)
{
	PmEvalOpts slow;
	PmErr err;
	Case c;

	(void)state;
	for (int jobs = 1; jobs <= 2; jobs++) {
		begin(&c, HANGS);
		slow = c.opts;
		slow.deadline = 0.01;
		for (int i = 0; i < N; i++)
			c.item[i].opts = &slow;
		assert_int_equal(run(&c, HANGS, jobs, &err), PM_OK);
		assert_int_equal(c.taken, N);
		for (int i = 0; i < N; i++) {
			assert_int_equal(c.rec[i].verdict, PM_VERDICT_NOT_CHECKED);
			assert_non_null(strstr(c.rec[i].why, "longer than the deadline of 0.01 s"));
			assert_string_equal(c.rec[i].unchecked.what[0], "everything");
			assert_int_equal(strlen(c.rec[i].secret), PM_SECRET_HEX - 1);
		}
		end(&c);
	}
}

/* Where there is no time for any check a wrong pass is not called wrong, nor a right one right. */
static void what_was_left_out_is_named(void **state)
{
	static const char *const passes[] = { "passes/silu.so", "tests/plugin/wrong_silu.so" };

	(void)state;
	for (int k = 0; k < 2; k++) {
		PmEvalRecord r, back;
		PmEvalOpts none;
		char so[512];
		cJSON *j;
		PmErr err;
		Case c;

		pm_err_init(&err);
		snprintf(so, sizeof so, "%s", built(passes[k]));
		begin(&c, so);
		none = c.opts;
		none.deadline = 1e-9;
		if (pm_eval_variant(so, &c.item[0].v, &none, &r, &err))
			fail_msg("%s", err.text);
		assert_int_equal(r.verdict, PM_VERDICT_NOT_CHECKED);
		assert_true(r.unchecked.n >= PM_N_ALL_CLASSES); /* and the edited one */
		assert_non_null(strstr(r.why, "inputs tail, alternative 0"));
		assert_true(isnan(r.speedup));
		j = pm_eval_record_json(&r);
		assert_int_equal(pm_eval_record_from_json(j, &back, &err), PM_OK);
		assert_memory_equal(&back.unchecked, &r.unchecked, sizeof r.unchecked);
		cJSON_Delete(j);
		pm_eval_record_release(&r);
		pm_eval_record_release(&back);
		end(&c);
	}
}

/* Which comes first decides nothing of what is taken when. */
static void any_item_may_be_the_first(void **state)
{
	char so[512];
	PmErr err;
	Case c;

	(void)state;
	snprintf(so, sizeof so, "%s", built("passes/silu.so"));
	for (int jobs = 1; jobs <= 2; jobs++)
		for (size_t first = 0; first < N; first += 2) {
			PmEvalPool p = {
				.so = so, .n = N, .jobs = jobs, .first = first, .take = take, .arg = &c
			};

			begin(&c, so);
			p.item = c.item;
			pm_err_init(&err);
			assert_int_equal(pm_eval_pool(&p, &err), PM_OK);
			assert_int_equal(c.taken, N);
			for (int i = 0; i < N; i++) {
				assert_int_equal(c.rec[i].verdict, PM_VERDICT_OK);
				assert_string_equal(c.rec[i].label, c.item[i].v.label);
			}
			end(&c);
		}
}

static void what_declines_ends_the_rest(void **state)
{
	char so[512];
	PmErr err;
	Case c;

	(void)state;
	snprintf(so, sizeof so, "%s", built("passes/silu.so"));
	for (int jobs = 1; jobs <= 3; jobs += 2) {
		begin(&c, so);
		c.decline_at = 1;
		assert_int_equal(run(&c, so, jobs, &err), PM_OK);
		assert_int_equal(c.taken, 2);
		end(&c);
	}
}

/* No variant before the error is lost, and the error is told. */
static void an_error_comes_after_what_is_finished(void **state)
{
	char so[512];
	PmErr err;
	Case c;

	(void)state;
	snprintf(so, sizeof so, "%s", built("passes/silu.so"));
	for (int jobs = 1; jobs <= 2; jobs++) {
		begin(&c, so);
		c.item[N - 1].v.replay = "12";
		assert_int_equal(run(&c, so, jobs, &err), PM_E_INVALID);
		assert_non_null(strstr(err.text, "64 hexadecimal digits"));
		assert_int_equal(c.taken, N - 1);
		end(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_processes_make_the_records_of_one),
		cmocka_unit_test(a_process_that_dies_three_times_judges_nobody),
		cmocka_unit_test(a_deadline_ends_what_does_not_come_back),
		cmocka_unit_test(what_was_left_out_is_named),
		cmocka_unit_test(any_item_may_be_the_first),
		cmocka_unit_test(what_declines_ends_the_rest),
		cmocka_unit_test(an_error_comes_after_what_is_finished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
