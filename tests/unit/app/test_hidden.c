/* SPDX-License-Identifier: Apache-2.0 */
/* test_hidden.c - hidden shapes: drawn by a secret, none of them a variant, and a failing one is written
 * down.
 */
#include "app/eval/eval_task.h"

#include "base/sys/io.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char silu[] = "g (float[3,67] x) => (float[3,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";

static void make(PmVariantList *m)
{
	PmGraph *g = NULL;

	memset(m, 0, sizeof *m);
	g = pm_test_graph(silu);
	assert_int_equal(pm_variant_list_of_graph(g, 0, 0, m, NULL), PM_OK);
	pm_graph_free(g);
}

static void check(const char *so, const PmVariantList *m, int n, const char *replay, PmFailing *save,
		  PmEvalReport *r)
{
	PmEvalOpts o = {
		.device = "emu", .secret = test_secret(7), .pass_deadline = 60, .device_deadline = 100
	};
	PmHidden h = { 0 };
	PmErr err;

	pm_err_init(&err);
	if (pm_eval_report_begin(r, so, 0, &o, &err) || pm_hidden_begin(&h, m, &o, n, replay, &err) ||
	    pm_hidden_check(&h, so, 1, save, r, &err))
		fail_msg("%s", err.text);
	pm_hidden_release(&h);
}

static void a_right_pass_is_run_on_as_many_as_asked_for(void **state)
{
	const char *so;
	PmVariantList m;
	PmEvalReport a, b;

	(void)state;
	so = built("passes/silu.so");
	make(&m);
	check(so, &m, 2, NULL, NULL, &a);
	assert_int_equal(a.hidden.n, 2);
	assert_int_equal(a.hidden.n_matched, 2);
	assert_int_equal(a.hidden.verdict, PM_VERDICT_OK);
	assert_string_equal(a.hidden.why, "");
	/* The secret that is published draws the same. */
	check(so, &m, 2, a.hidden.secret, NULL, &b);
	assert_string_equal(a.hidden.secret, b.hidden.secret);
	assert_int_equal(b.hidden.n, 2);
	pm_eval_report_release(&a);
	pm_eval_report_release(&b);
	pm_variant_list_release(&m);
}

/* The first failure is the last shape; its file can be evaluated as a model. */
static void a_wrong_pass_is_told_on_which_and_saved(void **state)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT, text = PM_STR_INIT;
	PmFailing save = { .preset = "sound" };
	const char *so;
	PmEvalReport r;
	PmVariantList m;
	PmGraph *g = NULL;

	(void)state;
	assert_int_equal(pm_temp_dir("hidden", &dir, NULL), PM_OK);
	so = built("tests/plugin/wrong_silu.so");
	save.dir = dir.s;
	save.pass = so;
	make(&m);
	check(so, &m, 2, NULL, &save, &r);
	assert_int_equal(r.hidden.n, 1);
	assert_int_equal(r.hidden.verdict, PM_VERDICT_INCORRECT);
	assert_non_null(strstr(r.hidden.why, "On the hidden "));
	assert_int_equal(save.n, 1);
	pm_path_join(dir.s, "wrong_silu-0.gpt", &path);
	assert_int_equal(pm_read_file(path.s, 1 << 20, &text, NULL), PM_OK);
	g = pm_test_graph(text.s);
	pm_str_clear(&path);
	pm_str_clear(&text);
	pm_path_join(dir.s, "replay.sh", &path);
	assert_int_equal(pm_read_file(path.s, 1 << 20, &text, NULL), PM_OK);
	assert_non_null(strstr(text.s, "wrong_silu-0.json"));
	assert_non_null(strstr(text.s, ": INCORRECT\n"));
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_str_release(&text);
	pm_graph_free(g);
	pm_eval_report_release(&r);
	pm_variant_list_release(&m);
}

static void a_secret_that_is_none_is_refused(void **state)
{
	PmEvalOpts o = { .device = "emu", .secret = test_secret(7) };
	PmVariantList m = { 0 };
	PmHidden h;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_hidden_begin(&h, &m, &o, 2, "12", &err), PM_E_INVALID);
	pm_hidden_release(&h);
	assert_non_null(strstr(err.text, "64 hexadecimal digits"));
}

/* What says nothing of the pass is no failure of it. */
static void a_verdict_says_whether_the_pass_did_wrong(void **state)
{
	(void)state;
	assert_false(pm_is_failing(PM_VERDICT_OK));
	assert_false(pm_is_failing(PM_VERDICT_NO_MATCH));
	assert_false(pm_is_failing(PM_VERDICT_NO_CREDIT));
	assert_false(pm_is_failing(PM_VERDICT_HARNESS_FAIL));
	assert_false(pm_is_failing(PM_VERDICT_NOT_CHECKED));
	assert_true(pm_is_failing(PM_VERDICT_INCORRECT));
	assert_true(pm_is_failing(PM_VERDICT_UNWRITTEN));
	assert_true(pm_is_failing(PM_VERDICT_PASS_TIMEOUT));
}

/* A pass that takes its time where it would be found wrong gains nothing: no variant counts as right. */
static void what_is_not_checked_counts_as_no_match(void **state)
{
	PmEvalOpts o = { .device = "emu", .secret = test_secret(7) };
	PmEvalRecord slow = { .verdict = PM_VERDICT_NOT_CHECKED, .why = "No time.", .n_kernels = 1 };
	PmEvalRecord right = { .verdict = PM_VERDICT_OK, .n_kernels = 1 };
	PmEvalReport r = { .n = 1, .rec = &right };
	PmVariantList m;
	PmHidden h;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	make(&m);
	assert_int_equal(pm_hidden_begin(&h, &m, &o, 2, NULL, &err), PM_OK);
	assert_int_equal(pm_hidden_draw(&h, 2, &err), PM_OK);
	assert_int_equal(h.shapes.list.n, 2);
	assert_string_equal(pm_eval_score_status(&r, 0), "correct");
	assert_int_equal(pm_hidden_take(&h, 0, &slow, NULL, &r, &err), PM_DECLINED);
	assert_int_equal(r.hidden.verdict, PM_VERDICT_NOT_CHECKED);
	assert_string_equal(pm_eval_score_status(&r, 0), "no_match");
	pm_hidden_release(&h);
	pm_variant_list_release(&m);
}

static void count(void *arg, const char *label)
{
	assert_string_equal(label, "as written");
	++*(int *)arg;
}

/* Each variant is told once, and the score counts it. */
static void a_task_tells_its_steps(void **state)
{
	int n = 0;
	PmEvalTask t = { .opts = { .device = "emu",
				   .preset = PM_PRESET_SOUND,
				   .secret = test_secret(7),
				   .pass_deadline = 60,
				   .device_deadline = 100 },
			 .preset = "sound",
			 .hidden = 1,
			 .step = count,
			 .step_arg = &n };
	PmEvalReport r;
	PmVariantList m;
	char have = 0;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	make(&m);
	t.variants = &m;
	if (pm_eval_task(&t, built("passes/silu.so"), &r, &have, &err))
		fail_msg("%s", err.text);
	assert_int_equal(n, 1);
	assert_int_equal(have, 1);
	assert_int_equal(r.n, 1);
	assert_string_equal(pm_verdict_name(r.rec[0].verdict), "OK");
	assert_int_equal(r.hidden.n, 1);
	pm_eval_report_release(&r);
	pm_variant_list_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_right_pass_is_run_on_as_many_as_asked_for),
		cmocka_unit_test(a_wrong_pass_is_told_on_which_and_saved),
		cmocka_unit_test(a_secret_that_is_none_is_refused),
		cmocka_unit_test(what_is_not_checked_counts_as_no_match),
		cmocka_unit_test(a_verdict_says_whether_the_pass_did_wrong),
		cmocka_unit_test(a_task_tells_its_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
