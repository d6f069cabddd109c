/* SPDX-License-Identifier: Apache-2.0 */
/* test_slurm.c - Slurm as text: what its programs printed (tests/golden/slurm, Slurm 22.05), what they never
 * should, and the scripts of a plan. */
#include "app/cluster/slurm.h"

#include "base/sys/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void read_golden(const char *name, PmStr *out)
{
	char path[128];
	PmErr err;

	pm_err_init(&err);
	snprintf(path, sizeof path, "tests/golden/slurm/%s", name);
	if (pm_read_file(path, 0, out, &err))
		fail_msg("%s", err.text);
}

static void assert_element(const PmSlurmElement *e, int64_t job, int64_t index, const char *state,
			   const char *node, const char *why)
{
	assert_int_equal(e->job, job);
	assert_int_equal(e->index, index);
	assert_string_equal(e->state, state);
	assert_string_equal(e->node, node);
	assert_string_equal(e->why, why);
}

static void the_queue_of_a_cluster_is_read(void **state)
{
	PmSlurmElements q = { 0 };
	PmStr text = PM_STR_INIT;

	(void)state;
	read_golden("squeue_mixed.txt", &text);
	assert_int_equal(pm_slurm_parse_queue(text.s, &q, NULL), PM_OK);
	assert_int_equal(q.list.n, 10);
	assert_element(&q.list.v[0], 1, 3, "PENDING", "", "Resources");
	assert_element(&q.list.v[3], 1, 0, "PENDING", "", "BeginTime");
	assert_element(&q.list.v[4], 2, -1, "PENDING", "", "Dependency");
	assert_element(&q.list.v[5], 3, 0, "PENDING", "", "ReqNodeNotAvail, UnavailableNodes:n2");
	assert_element(&q.list.v[8], 1, 1, "RUNNING", "n1", "");
	pm_str_release(&text);
	PM_VEC_RELEASE(&q.list);
}

static void how_elements_ended_is_read(void **state)
{
	PmSlurmElements q = { 0 };
	PmStr text = PM_STR_INIT;

	(void)state;
	read_golden("sacct.txt", &text);
	pm_str_add(&text,
		   "1_[10-99%6]|PENDING|0:0|None assigned\n7|TIMEOUT|0:0|n[1-2]\n8|OUT_OF_MEMORY|0:125|n2\n");
	assert_int_equal(pm_slurm_parse_ended(text.s, &q, NULL), PM_OK);
	assert_int_equal(q.list.n, 12);
	assert_element(&q.list.v[0], 1, 0, "FAILED", "n1", "exit code 3");
	assert_element(&q.list.v[1], 1, 1, "FAILED", "n1", "signal 9");
	assert_element(&q.list.v[2], 1, 2, "COMPLETED", "n2", "");
	assert_element(&q.list.v[3], 1, 3, "CANCELLED", "n2", "");
	assert_element(&q.list.v[9], 1, 4, "PENDING", "", "");
	assert_element(&q.list.v[10], 7, -1, "TIMEOUT", "n[1-2]", "");
	assert_element(&q.list.v[11], 8, -1, "OUT_OF_MEMORY", "n2", "signal 125");
	pm_str_release(&text);
	PM_VEC_RELEASE(&q.list);
}

static void the_largest_array_is_read(void **state)
{
	static const char *const bad[] = { "", "MaxArraySize", "MaxArraySize = 0", "MaxArraySize = x",
					   "MaxArraySize = 1" };
	PmStr text = PM_STR_INIT;
	int64_t max;

	(void)state;
	read_golden("config.txt", &text);
	assert_int_equal(pm_slurm_parse_max_array(text.s, &max, NULL), PM_OK);
	assert_int_equal(max, 1001);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(pm_slurm_parse_max_array(bad[i], &max, NULL), PM_E_INVALID);
	pm_str_release(&text);
}

static void the_number_of_a_job_is_read(void **state)
{
	static const char *const bad[] = { "",         "\n",
					   "0\n",      "-1\n",
					   "12x\n",    "Submitted batch job 12\n",
					   "12\n13\n", "99999999999999999999\n" };
	int64_t job;

	(void)state;
	assert_int_equal(pm_slurm_parse_job("12\n", &job, NULL), PM_OK);
	assert_int_equal(job, 12);
	assert_int_equal(pm_slurm_parse_job("13;cluster\n", &job, NULL), PM_OK);
	assert_int_equal(job, 13);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(pm_slurm_parse_job(bad[i], &job, NULL), PM_E_INVALID);
}

static void lines_of_another_form_are_refused_and_shown(void **state)
{
	static const char *const bad[] = { "x\n",
					   "1|2|RUNNING|n1\n",
					   "1|2|running|n1|\n",
					   "1|2||n1|\n",
					   "1|x|RUNNING|n1|\n",
					   "1|0,3-5|PENDING||Resources\n",
					   "99999999999999999999|1|RUNNING|n1|\n",
					   "|||||||\n",
					   "slurm_load_jobs error: Unable to contact slurm controller\n" };
	static const char *const ended[] = { "1_|FAILED|1:0|n1\n", "1_2x|FAILED|1:0|n1\n", "1|FAILED|1|n1\n",
					     "1|FAILED|1:0\n", "1.batch|FAILED|1:0|n1\n" };
	PmSlurmElements q = { 0 };
	PmStr line = PM_STR_INIT;
	PmErr err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		pm_err_init(&err);
		assert_int_equal(pm_slurm_parse_queue(bad[i], &q, &err), PM_E_INVALID);
		assert_non_null(strstr(err.text, "squeue printed"));
	}
	for (size_t i = 0; i < sizeof ended / sizeof *ended; i++)
		assert_int_equal(pm_slurm_parse_ended(ended[i], &q, NULL), PM_E_INVALID);
	/* Longer than any line that Slurm prints: refused; texts that are too long for their places: cut. */
	pm_str_add(&line, "1|2|RUNNING|");
	for (int i = 0; i < 1000; i++)
		pm_str_addc(&line, 'n');
	pm_str_add(&line, "|\x1b[31mwhy");
	assert_int_equal(pm_slurm_parse_queue(line.s, &q, NULL), PM_OK);
	assert_int_equal(strlen(q.list.v[0].node), sizeof q.list.v[0].node - 1);
	assert_null(strchr(q.list.v[0].why, '\x1b'));
	for (int i = 0; i < 4000; i++)
		pm_str_addc(&line, 'w');
	assert_int_equal(pm_slurm_parse_queue(line.s, &q, NULL), PM_E_INVALID);
	pm_str_release(&line);
	PM_VEC_RELEASE(&q.list);
}

static void shards_are_written_as_ranges(void **state)
{
	static const int64_t list[] = { 0, 1, 2, 5, 7, 8 };
	PmStr out = PM_STR_INIT;

	(void)state;
	pm_slurm_array(list, 6, 16, &out);
	assert_string_equal(out.s, "0-2,5,7-8%16");
	pm_str_clear(&out);
	pm_slurm_array(list + 3, 1, 0, &out);
	assert_string_equal(out.s, "5");
	pm_str_release(&out);
}

static PmSlurmOpts some_opts(void)
{
	PmSlurmOpts o = { .name = "passmith-0123456789ab",
			  .dir = "/data/it's 100%",
			  .program = "/opt/pass mith",
			  .gres = "gpu:1",
			  .constraint = "h200&ib",
			  .site = "--partition=gpu --time=2:00:00",
			  .setup = "module load cuda",
			  .launch = "apptainer exec --nv p.sif",
			  .shards = 50,
			  .at_once = 8 };

	return o;
}

static void the_script_has_what_the_plan_says(void **state)
{
	static const char *const want[] = {
		"#SBATCH --job-name=passmith-0123456789ab\n",
		"#SBATCH --array=0-49%8\n",
		"#SBATCH --gres=gpu:1\n",
		"#SBATCH --constraint=\"h200&ib\"\n",
		"#SBATCH --requeue\n",
		"#SBATCH --signal=B:USR1@90\n",
		"#SBATCH --open-mode=append\n",
		"#SBATCH --output=\"/data/it's 100%%/slurm/%A_%a.log\"\n",
		"#SBATCH --partition=gpu --time=2:00:00\n",
		"\ndir='/data/it'\\''s 100%'\n",
		"\nprogram='/opt/pass mith'\n",
		"\nmodule load cuda\n",
		"\napptainer exec --nv p.sif \"$program\" cluster work \"$dir\""
	};
	PmSlurmOpts o = some_opts();
	PmStr out = PM_STR_INIT;

	(void)state;
	assert_int_equal(pm_slurm_element_script(&o, &out, NULL), PM_OK);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++)
		if (!strstr(out.s, want[i]))
			fail_msg("the script lacks %s", want[i]);
	o.gres = o.constraint = NULL;
	o.at_once = 0;
	pm_str_clear(&out);
	assert_int_equal(pm_slurm_element_script(&o, &out, NULL), PM_OK);
	assert_null(strstr(out.s, "--gres"));
	assert_null(strstr(out.s, "--constraint"));
	assert_non_null(strstr(out.s, "--array=0-49\n"));
	pm_str_clear(&out);
	assert_int_equal(pm_slurm_collect_script(&o, &out, NULL), PM_OK);
	assert_non_null(
		strstr(out.s, "exec apptainer exec --nv p.sif \"$program\" cluster collect \"$dir\"\n"));
	pm_str_release(&out);
}

/* A line end would begin a line of its own, which Slurm or the shell runs. */
static void texts_that_would_break_out_of_a_line_are_refused(void **state)
{
	PmStr out = PM_STR_INIT;

	(void)state;
	for (int i = 0; i < 7; i++) {
		PmSlurmOpts o = some_opts();
		const char **texts[] = { &o.dir,  &o.program, &o.gres,  &o.constraint,
					 &o.site, &o.setup,   &o.launch };

		*texts[i] = "--a\nrm -rf x";
		assert_int_equal(pm_slurm_element_script(&o, &out, NULL), PM_E_INVALID);
		assert_int_equal(pm_slurm_collect_script(&o, &out, NULL), PM_E_INVALID);
		o = some_opts();
		o.dir = i % 2 ? "/a\"b" : "/a\\b";
		assert_int_equal(pm_slurm_element_script(&o, &out, NULL), PM_E_INVALID);
		o = some_opts();
		o.site = "partition=gpu";
		assert_int_equal(pm_slurm_element_script(&o, &out, NULL), PM_E_INVALID);
	}
	assert_int_equal(out.len, 0);
	pm_str_release(&out);
}

static PmStatus read_jobs(const char *text, PmSlurm *s)
{
	PmErr err;
	PmStatus st;

	memset(s, 0, sizeof *s);
	pm_err_init(&err);
	st = pm_slurm_read("jobs.json", text, strlen(text), s, &err);
	if (st)
		assert_non_null(strstr(err.text, "jobs.json"));
	return st;
}

static void jobs_are_read_and_what_is_damaged_is_refused(void **state)
{
	static const char good[] =
		"{\"format\": 1, \"name\": \"passmith-0123456789ab\", \"at_once\": 8, \"jobs\": ["
		"{\"id\": 12, \"first\": 1000, \"collects\": false},"
		"{\"id\": 13, \"first\": 0, \"collects\": true}]}";
	/* What stands in a file: format, name, and the rest. */
	static const struct {
		int format;
		const char *name, *rest;
	} bad[] = {
		{ 2, "passmith-0123456789ab", "\"at_once\": 8, \"jobs\": []" },
		{ 1, "passmith-0123456789a", "\"at_once\": 8, \"jobs\": []" },
		{ 1, "passmith-0123456789ab,x", "\"at_once\": 8, \"jobs\": []" },
		{ 1, "", "\"at_once\": 8, \"jobs\": []" },
		{ 1, "passmith-0123456789ab", "\"at_once\": -1, \"jobs\": []" },
		{ 1, "passmith-0123456789ab", "\"at_once\": 8" },
		{ 1, "passmith-0123456789ab", "\"at_once\": 8, \"jobs\": [7]" },
		{ 1, "passmith-0123456789ab", "\"at_once\": 8, \"jobs\": [{\"id\": -3, \"first\": 0}]" },
	};
	static const char *const other[] = { "", "[]", "{}" };
	PmStr text = PM_STR_INIT;
	PmSlurmElement e = { .job = 12, .index = 3 };
	PmSlurm s;

	(void)state;
	assert_int_equal(read_jobs(good, &s), PM_OK);
	assert_int_equal(s.job.n, 2);
	assert_int_equal(pm_slurm_shard(&s, &e), 1003);
	e.job = 13;
	assert_int_equal(pm_slurm_shard(&s, &e), -1);
	e.job = 14;
	assert_int_equal(pm_slurm_shard(&s, &e), -1);
	pm_slurm_release(&s);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		pm_str_clear(&text);
		pm_str_addf(&text, "{\"format\": %d, \"name\": \"%s\", %s}", bad[i].format, bad[i].name,
			    bad[i].rest);
		assert_int_equal(read_jobs(text.s, &s), PM_E_INVALID);
		pm_slurm_release(&s);
	}
	for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
		assert_int_equal(read_jobs(other[i], &s), PM_E_INVALID);
		pm_slurm_release(&s);
	}
	pm_str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_queue_of_a_cluster_is_read),
		cmocka_unit_test(how_elements_ended_is_read),
		cmocka_unit_test(the_largest_array_is_read),
		cmocka_unit_test(the_number_of_a_job_is_read),
		cmocka_unit_test(lines_of_another_form_are_refused_and_shown),
		cmocka_unit_test(shards_are_written_as_ranges),
		cmocka_unit_test(the_script_has_what_the_plan_says),
		cmocka_unit_test(texts_that_would_break_out_of_a_line_are_refused),
		cmocka_unit_test(jobs_are_read_and_what_is_damaged_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
