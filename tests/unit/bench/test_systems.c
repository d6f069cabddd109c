/* SPDX-License-Identifier: Apache-2.0 */
/* test_systems.c - the table of systems: figures worked out by hand, and what its plots draw. */
#include "bench/report/plot.h"
#include "bench/report/systems_report.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { REF, SYS, OTHER };

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12 * fabs(want)))
		fail_msg("%.17g is not %.17g", got, want);
}

static void put(PmSysGraph *g, int system, const char *status, int matched, int t, double seconds)
{
	PmSysCell *c = &g->cell[system];

	snprintf(c->status, sizeof c->status, "%s", status);
	c->matched = matched;
	c->smallest_t = t;
	c->seconds[PM_SYS_REPLAY] = seconds;
}

/* Task 1: 2x right, 1/2x right and declined. Task 2: 8x but wrong, 8x right at t = -3 only, no result. */
static void table(PmSystems *s)
{
	static const double ref[5] = { 2e-6, 4e-6, 8e-6, 8e-6, 1e-6 };

	memset(s, 0, sizeof *s);
	s->n = 3;
	snprintf(s->name[REF], sizeof s->name[REF], "eager");
	snprintf(s->name[SYS], sizeof s->name[SYS], "a<b");
	snprintf(s->name[OTHER], sizeof s->name[OTHER], "other");
	for (int i = 0; i < 5; i++) {
		PmSysGraph *g = pm_systems_add(s);

		g->task = i < 2 ? 1 : 2;
		g->ordinal = i;
		g->roofline = 0.5e-6;
		put(g, REF, "correct", 1, PM_T_MIN, ref[i]);
	}
	put(&s->graphs.v[0], SYS, "correct", 1, -6, 1e-6);
	put(&s->graphs.v[1], SYS, "correct", 0, PM_T_MIN, 8e-6);
	put(&s->graphs.v[2], SYS, "accuracy", 1, PM_T_NEVER, 1e-6);
	put(&s->graphs.v[3], SYS, "correct", 1, -3, 1e-6);
	put(&s->graphs.v[0], OTHER, "correct", 1, -7, 0.5e-6);
	put(&s->graphs.v[1], OTHER, "correct", 1, -7, 16e-6);
	put(&s->graphs.v[3], OTHER, "correct", 1, -5, 1e-7); /* SYS is not right there */
}

static void figures_are_those_worked_out_by_hand(void **state)
{
	PmSystems s;
	PmSysFigures f;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	table(&s);
	assert_int_equal(
		pm_systems_figures(&s, SYS, PM_SYS_REPLAY, 0, PM_SYS_ALL, PM_PRESET_PASSNET, &f, &err),
		PM_OK);
	assert_int_equal(f.n, 5);
	assert_int_equal(f.n_timed, 4);
	assert_int_equal(f.n_matched, 3);
	assert_int_equal(f.n_right, 2);
	assert_int_equal(f.n_faster, 1);
	near(f.gmean.point, 1.0); /* 2 and 1/2 */
	near(f.worst, 0.5);
	near(f.roofline, 0.5); /* shares 1/2, 1/16, 1/2, 1/2 */
	near(f.fast_p[3], 0.2);
	/* ES(-5): 2, 1/2, b, b, b; ES(-3): 2, 1/2, b, 8, b */
	near(f.score.es[-5 - PM_T_MIN], pow(1e-3, 0.2));
	near(f.score.es[-3 - PM_T_MIN], pow(8e-2, 0.2));
	/* strictly, the declined graph is an error */
	near(f.strict.es[-5 - PM_T_MIN], pow(2e-4, 0.2));
	assert_int_equal(
		pm_systems_figures(&s, SYS, PM_SYS_REPLAY, 1, PM_SYS_ALL, PM_PRESET_PASSNET, &f, &err),
		PM_OK);
	assert_int_equal(f.n, 2);
	near(f.score.es[-5 - PM_T_MIN], 1.0);
	assert_int_equal(pm_systems_figures(&s, REF, PM_SYS_REPLAY, 0, PM_SYS_ALL, PM_PRESET_SOUND, &f, &err),
			 PM_OK);
	near(f.score.as, 1.0);
	near(f.worst, 1.0);
	/* what algebra gains, and the rest: 2x right; 1/2x right, 8x wrong, 8x right at t = -3, no result */
	s.graphs.v[0].algebraic = 1;
	assert_int_equal(pm_systems_count(&s, PM_SYS_ALGEBRAIC), 1);
	assert_int_equal(pm_systems_count(&s, PM_SYS_OTHERS), 4);
	assert_int_equal(
		pm_systems_figures(&s, SYS, PM_SYS_REPLAY, 0, PM_SYS_ALGEBRAIC, PM_PRESET_PASSNET, &f, &err),
		PM_OK);
	assert_int_equal(f.n, 1);
	near(f.gmean.point, 2);
	assert_int_equal(
		pm_systems_figures(&s, SYS, PM_SYS_REPLAY, 0, PM_SYS_OTHERS, PM_PRESET_PASSNET, &f, &err),
		PM_OK);
	assert_int_equal(f.n, 4);
	near(f.gmean.point, 0.5);
	pm_systems_release(&s);
}

static void systems_are_compared_where_both_are_right(void **state)
{
	PmSystems s;
	size_t n;

	(void)state;
	table(&s);
	near(pm_systems_share_faster(&s, OTHER, SYS, PM_SYS_REPLAY, &n), 0.5);
	assert_int_equal(n, 2);
	near(pm_systems_share_faster(&s, SYS, OTHER, PM_SYS_REPLAY, &n), 0.5);
	assert_true(isnan(pm_systems_share_faster(&s, SYS, OTHER, PM_SYS_WALL, &n)));
	assert_int_equal(n, 0);
	pm_systems_release(&s);
}

/* OTHER over REF: task 1 has 4x and 1/4x, which is 1; task 2 has 80x. A task counts once: the square root
 * of 80. */
static void tasks_count_once_where_two_systems_are_compared(void **state)
{
	PmInterval x, back;
	PmSystems s;

	(void)state;
	table(&s);
	x = pm_systems_times_as_fast(&s, OTHER, REF, PM_SYS_REPLAY);
	assert_true(fabs(x.point - sqrt(80)) < 1e-9);
	near(x.lo, 1); /* of two tasks a bootstrap draws each twice now and then */
	assert_true(fabs(x.hi - 80) < 1e-9);
	back = pm_systems_times_as_fast(&s, REF, OTHER, PM_SYS_REPLAY);
	assert_true(fabs(back.point * x.point - 1) < 1e-12);
	/* SYS and OTHER are both right in task 1 alone: its graphs, 1/2 and 2, are what is drawn. */
	x = pm_systems_times_as_fast(&s, SYS, OTHER, PM_SYS_REPLAY);
	near(x.point, 1);
	assert_true(x.lo < 1 && x.hi > 1);
	assert_true(isnan(pm_systems_times_as_fast(&s, SYS, OTHER, PM_SYS_WALL).point));
	pm_systems_release(&s);
}

static void groups_are_rows_of_a_category_and_a_type(void **state)
{
	PmSysFigures f;
	PmSystems s;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	table(&s);
	for (int i = 0; i < 5; i++) {
		s.graphs.v[i].dtype = i == 3 ? PM_BF16 : PM_F32;
		s.graphs.v[i].category = i < 2 ? PM_CATEGORY_normalization : PM_CATEGORY_fuse;
	}
	assert_int_equal(pm_systems_count_group(&s, &(PmSysGroup){ PM_N_CATEGORIES, -1 }), 5);
	assert_int_equal(pm_systems_count_group(&s, &(PmSysGroup){ PM_CATEGORY_fuse, -1 }), 3);
	assert_int_equal(pm_systems_count_group(&s, &(PmSysGroup){ PM_CATEGORY_fuse, PM_BF16 }), 1);
	assert_int_equal(pm_systems_count_group(&s, &(PmSysGroup){ PM_CATEGORY_normalization, PM_BF16 }), 0);
	assert_int_equal(pm_systems_of_group(&s, OTHER, PM_SYS_REPLAY,
					     &(PmSysGroup){ PM_CATEGORY_fuse, PM_BF16 }, PM_PRESET_SOUND, &f,
					     &err),
			 PM_OK);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.n_right, 1);
	near(f.gmean.point, 8e-6 / 1e-7);
	pm_systems_release(&s);
}

static void a_right_answer_without_a_time_is_missing(void **state)
{
	PmSystems s;
	PmSysFigures f;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	table(&s);
	assert_int_equal(pm_systems_figures(&s, SYS, PM_SYS_COLD, 0, PM_SYS_ALL, PM_PRESET_PASSNET, &f, &err),
			 PM_OK);
	assert_int_equal(f.n_timed, 0);
	near(f.score.es[0], 0.1);
	assert_true(isnan(f.gmean.point));
	assert_false(pm_systems_has_clock(&s, PM_SYS_COLD));
	pm_systems_release(&s);
}

static void the_roofline_counts_what_crosses_the_border_once(void **state)
{
	PmGraph *g = pm_test_graph(
		"m (float[100,10] x) => (float[100,10] y) <float[10] w = {1,1,1,1,1,1,1,1,1,1}> "
		"{ s = Sigmoid(x)\n t = Mul(x, s)\n y = Add(t, w) }");
	PmGraph *mm = pm_test_graph(
		"m (float[512,512] a, float[512,512] b) => (float[512,512] y) { y = MatMul(a, b) }");
	double t;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_sys_roofline(g, "h200", &t, &err), PM_OK);
	near(t, (4000.0 + 4000.0 + 40.0) / 3.97e12);
	assert_int_equal(pm_sys_roofline(mm, "h200", &t, &err), PM_OK);
	near(t, 2.0 * 512 * 512 * 512 / 66.9e12); /* arithmetic is the longer side */
	assert_int_equal(pm_sys_roofline(g, "abacus", &t, &err), PM_E_NOT_FOUND);
	pm_graph_free(g);
	pm_graph_free(mm);
}

static void text_and_json_show_every_system(void **state)
{
	PmSystems s;
	PmStr out = PM_STR_INIT;
	cJSON *j = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	table(&s);
	assert_int_equal(pm_systems_text(&s, PM_PRESET_SOUND, &out, &err), PM_OK);
	assert_non_null(strstr(out.s, "replayed as CUDA graphs; speedup over eager, 5 graphs"));
	assert_null(strstr(out.s, "host"));
	assert_null(strstr(out.s, "algebraic"));
	assert_non_null(strstr(out.s, "a<b is faster than other on 50.0 % of 2 graphs"));
	assert_int_equal(pm_systems_json(&s, PM_PRESET_SOUND, &j, &err), PM_OK);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "graphs")), 5);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "tasks")), 2);
	assert_null(cJSON_GetObjectItem(j, "algebraic"));
	cJSON_Delete(j);
	s.graphs.v[1].algebraic = 1;
	pm_str_clear(&out);
	assert_int_equal(pm_systems_text(&s, PM_PRESET_SOUND, &out, &err), PM_OK);
	assert_non_null(strstr(out.s, "stratum algebraic: 1 graph that"));
	assert_non_null(strstr(out.s, "the other 4"));
	assert_int_equal(pm_systems_json(&s, PM_PRESET_SOUND, &j, &err), PM_OK);
	assert_non_null(cJSON_GetObjectItem(cJSON_GetObjectItem(j, "algebraic"), "a<b"));
	assert_non_null(cJSON_GetObjectItem(cJSON_GetObjectItem(j, "others"), "a<b"));
	cJSON_Delete(j);
	pm_str_release(&out);
	pm_systems_release(&s);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, what)); p++)
		n++;
	return n;
}

static void plots_draw_a_line_for_each_system(void **state)
{
	PmSystems s;
	PmStr es = PM_STR_INIT, again = PM_STR_INIT, speed = PM_STR_INIT;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	table(&s);
	assert_int_equal(pm_systems_plot_es(&s, PM_SYS_REPLAY, PM_PRESET_PASSNET, 0, &es, &err), PM_OK);
	assert_int_equal(pm_systems_plot_es(&s, PM_SYS_REPLAY, PM_PRESET_PASSNET, 0, &again, &err), PM_OK);
	assert_string_equal(es.s, again.s);
	assert_int_equal(count(es.s, "<path"), 3);
	assert_non_null(strstr(es.s, "a&lt;b"));
	assert_null(strstr(es.s, "nan"));
	pm_systems_plot_speedups(&s, PM_SYS_REPLAY, 0, &speed);
	assert_int_equal(count(speed.s, "<path"), 2); /* not the reference */
	pm_str_release(&es);
	pm_str_release(&again);
	pm_str_release(&speed);
	pm_systems_release(&s);
}

static void a_plot_survives_gaps_and_emptiness(void **state)
{
	static const double x[4] = { 1, 2, 3, 4 }, y[4] = { 1, NAN, -3, 100 };
	PmPlot p = { .title = "t",
		     .x_label = "x",
		     .y_label = "y",
		     .log_y = 1,
		     .guide_x = NAN,
		     .n = 1,
		     .line = { { "one", 4, x, y, 0 } } };
	PmStr out = PM_STR_INIT;

	(void)state;
	pm_plot_svg(&p, &out);
	assert_null(strstr(out.s, "nan"));
	assert_non_null(
		strstr(out.s, "M70.0 364.0M550.0 40.0")); /* the ends of the plane, and no line between */
	pm_str_clear(&out);
	p.n = 0;
	pm_plot_svg(&p, &out);
	assert_non_null(strstr(out.s, "there is nothing to draw"));
	pm_str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_those_worked_out_by_hand),
		cmocka_unit_test(systems_are_compared_where_both_are_right),
		cmocka_unit_test(tasks_count_once_where_two_systems_are_compared),
		cmocka_unit_test(groups_are_rows_of_a_category_and_a_type),
		cmocka_unit_test(a_right_answer_without_a_time_is_missing),
		cmocka_unit_test(the_roofline_counts_what_crosses_the_border_once),
		cmocka_unit_test(text_and_json_show_every_system),
		cmocka_unit_test(plots_draw_a_line_for_each_system),
		cmocka_unit_test(a_plot_survives_gaps_and_emptiness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
