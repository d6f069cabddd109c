/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_key.c - what tells one run from another: the GPU, its driver, libraries and options; and runs that
 * were stored before their machine was written down. */
#include "bench/eval/run_key.h"

#include "app/eval/origin.h"
#include "base/sys/io.h"
#include "dataset/store/db_priv.h"
#include "dataset/store/results.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const PmFound h100[] = {
	{ .what = "C++ compiler", .found = 1, .version = "g++ 12.2.0" },
	{ .what = "CUDA driver",
	  .found = 1,
	  .detail = "580.1, CUDA 13.0, /a",
	  .version = "580.1, CUDA 13.0" },
	{ .what = "GPU", .found = 1, .version = "NVIDIA H100, compute capability 9.0" },
	{ .what = "NVML", .found = 1, .detail = "SM 1980 MHz" },
	{ .what = "NVRTC", .found = 1, .detail = "NVRTC 13.0, /a", .version = "NVRTC 13.0" },
	{ .what = "cuBLASLt", .found = 1, .version = "cuBLASLt 13.1.0" },
	{ .what = "cuDNN", .found = 1, .version = "cuDNN 9.19.0" },
};
enum { N = sizeof h100 / sizeof *h100 };

static void text_of(const char *device, const PmFound *found, const char *lacks, PmStr *out)
{
	pm_str_clear(out);
	pm_run_key_machine(device, found, N, lacks, out);
}

/* One version changed at a time: those that decide make another text, the others the same. */
static void each_thing_that_decides_is_there(void **state)
{
	static const struct {
		const char *what;
		int emu, cuda;
	} decides[] = { { "C++ compiler", 1, 0 }, { "CUDA driver", 0, 1 }, { "GPU", 0, 1 },  { "NVML", 0, 0 },
			{ "NVRTC", 1, 1 },        { "cuBLASLt", 0, 1 },    { "cuDNN", 0, 1 } };
	PmStr a = PM_STR_INIT, b = PM_STR_INIT;

	(void)state;
	for (size_t i = 0; i < N; i++)
		for (int cuda = 0; cuda < 2; cuda++) {
			PmFound other[N];

			memcpy(other, h100, sizeof other);
			snprintf(other[i].version, sizeof other[i].version, "another");
			snprintf(other[i].detail, sizeof other[i].detail, "elsewhere");
			assert_string_equal(other[i].what, decides[i].what);
			text_of(cuda ? "cuda" : "emu", h100, "", &a);
			text_of(cuda ? "cuda" : "emu", other, "", &b);
			assert_int_equal(strcmp(a.s, b.s) != 0, cuda ? decides[i].cuda : decides[i].emu);
		}
	text_of("cuda", h100, "no clock", &b);
	assert_string_equal(b.s, "GPU=NVIDIA H100, compute capability 9.0; CUDA driver=580.1, CUDA 13.0; "
				 "NVRTC=NVRTC 13.0; cuBLASLt=cuBLASLt 13.1.0; cuDNN=cuDNN 9.19.0; sandbox "
				 "lacks no clock");
	/* What the GPU's clocks are set to, where it is known; other clocks are another machine. */
	for (int k = 0; k < 2; k++) {
		PmFound other[N];

		memcpy(other, h100, sizeof other);
		snprintf(other[3].clocks, sizeof other[3].clocks, "SM %d MHz, memory 2619 MHz", 1755 + k);
		text_of("cuda", other, "", k ? &b : &a);
	}
	assert_non_null(strstr(a.s, "; GPU clocks=SM 1755 MHz, memory 2619 MHz"));
	assert_string_not_equal(a.s, b.s);
	pm_str_release(&a);
	pm_str_release(&b);
}

static void a_slurm_job_is_an_origin(void **state)
{
	PmOrigin o;

	(void)state;
	unsetenv("SLURM_ARRAY_JOB_ID");
	unsetenv("SLURM_ARRAY_TASK_ID");
	unsetenv("SLURM_RESTART_COUNT");
	setenv("SLURM_JOB_ID", "12", 1);
	pm_origin_here("emu", &o);
	assert_true(*o.node);
	assert_string_equal(o.job, "12");
	assert_true(o.element == -1 && o.restarts == 0 && !o.gpu && !o.clocks);
	setenv("SLURM_ARRAY_JOB_ID", "10", 1);
	setenv("SLURM_ARRAY_TASK_ID", "3", 1);
	setenv("SLURM_RESTART_COUNT", "2", 1);
	pm_origin_here("emu", &o);
	assert_string_equal(o.job, "10");
	assert_true(o.element == 3 && o.restarts == 2);
	setenv("SLURM_ARRAY_TASK_ID", "x", 1); /* no number is none */
	pm_origin_here("emu", &o);
	assert_int_equal(o.element, -1);
}

static void each_option_that_decides_is_there(void **state)
{
	const PmEvalOpts plain = { .device = "emu" };
	const PmEvalOpts other[] = { { .profile = "h100" },  { .tier = PM_TIER_TF32 }, { .clock_seconds = 3 },
				     { .confirm_above = 1 }, { .graphs = 1 },          { .only_rule = "r" },
				     { .check_only = 1 },    { .deadline = 600 } };
	const PmEvalOpts same = { .clock_seconds = 20, .device = "emu" };
	PmStr a = PM_STR_INIT, b = PM_STR_INIT;

	(void)state;
	pm_run_key_options(&plain, "sound", 0, 2, &a);
	pm_run_key_options(&same, "sound", 0, 2, &b);
	assert_string_equal(a.s, b.s);
	assert_non_null(strstr(a.s, " model=accesses"));
	for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
		PmEvalOpts o = other[i];

		o.device = "emu";
		pm_str_clear(&b);
		pm_run_key_options(&o, "sound", 0, 2, &b);
		assert_string_not_equal(a.s, b.s);
		/* Where times are measured, or there are none, accesses say nothing of them. */
		assert_int_equal(strstr(b.s, "model=accesses") != NULL, !o.check_only);
		o.device = "cuda";
		pm_str_clear(&b);
		pm_run_key_options(&o, "sound", 0, 2, &b);
		assert_null(strstr(b.s, "model=accesses"));
	}
	for (int k = 0; k < 3; k++) {
		pm_str_clear(&b);
		pm_run_key_options(&plain, k == 0 ? "passnet" : "sound", k == 1, k == 2 ? 3 : 2, &b);
		assert_string_not_equal(a.s, b.s);
	}
	pm_str_release(&a);
	pm_str_release(&b);
}

/* ---- in a database ---- */

static PmDb *open_db(const PmStr *path)
{
	PmDb *db;

	assert_int_equal(pm_db_open(path->s, 0, &db, NULL), PM_OK);
	return db;
}

static void another_gpu_is_another_run(void **state)
{
	PmDb *db = open_db(*state);
	PmRunRow r = { .pass_path = "p.so",
		       .pass_sha256 = "00",
		       .device = "cuda",
		       .version = "1",
		       .options = "o",
		       .machine = "GPU=NVIDIA H100" };
	int64_t id = -1, first, found;
	int is_new;

	assert_int_equal(pm_run_find(db, &r, &id, NULL), PM_OK);
	assert_int_equal(id, 0); /* looking stores nothing */
	assert_int_equal(pm_run_put(db, &r, &first, &is_new, NULL), PM_OK);
	assert_true(is_new);
	assert_int_equal(pm_run_find(db, &r, &found, NULL), PM_OK);
	assert_int_equal(found, first);
	r.machine = "GPU=NVIDIA H200";
	assert_int_equal(pm_run_find(db, &r, &found, NULL), PM_OK);
	assert_int_equal(found, 0);
	assert_int_equal(pm_run_put(db, &r, &id, &is_new, NULL), PM_OK);
	assert_true(is_new && id != first);
	r.task = 77;
	assert_int_equal(pm_run_find(db, &r, &found, NULL), PM_E_NOT_FOUND); /* no such task */
	pm_db_close(db);
}

typedef struct Seen {
	int runs, results;
	char machine[64], hidden[32], json[64];
} Seen;

static PmStatus see_run(void *arg, const PmRunRow *row, PmErr *err)
{
	Seen *s = arg;

	(void)err;
	s->runs++;
	snprintf(s->machine, sizeof s->machine, "%s", row->machine);
	snprintf(s->hidden, sizeof s->hidden, "%s", row->hidden);
	snprintf(s->json, sizeof s->json, "%s", row->hidden_json);
	return PM_OK;
}

static PmStatus see_result(void *arg, const PmResultRow *row, PmErr *err)
{
	Seen *s = arg;

	(void)err;
	s->results += !strcmp(row->verdict, "OK") && row->ordinal == 0;
	return PM_OK;
}

/* As version 3 of the tables left it: a run without a machine, and a result. */
static void make_version_3(const PmStr *path)
{
	PmStr sql = PM_STR_INIT;
	sqlite3 *sq = NULL;
	char *end, zeros[65];

	memset(zeros, '0', 64);
	zeros[64] = 0;
	assert_int_equal(pm_read_file("dataset/store/schema.sql", 0, &sql, NULL), PM_OK);
	end = strstr(sql.s, "-- migration 4");
	assert_non_null(end);
	*end = '\0';
	sql.len = (size_t)(end - sql.s);
	pm_str_addf(&sql,
		    "INSERT INTO op_seqs (text) VALUES ('Relu');"
		    "INSERT INTO subgraphs (hash, structure, shapes, n_nodes, op_seq, text) "
		    "VALUES ('%s', '%s', '%s', 1, 1, 'g (float[8] x) => (float[8] y) { y = Relu (x) }');"
		    "INSERT INTO tasks (hash, name, kind) VALUES ('%s', 'old', 'fusible');"
		    "INSERT INTO members (task, ordinal, subgraph, label, shape, dtype) "
		    "VALUES (1, 0, 1, 'x', 0, 'float');"
		    "INSERT INTO runs (key, task, pass_path, pass_sha256, device, seed, version, options, "
		    "started) "
		    "VALUES ('%s', 1, 'p.so', '00', 'cuda', '0', '0.1.0', 'o', 5);"
		    "INSERT INTO results (run, task, ordinal, verdict, stage, speedup, json) "
		    "VALUES (1, 1, 0, 'OK', 'speed', 2.0, '{}');"
		    "PRAGMA user_version = 3; PRAGMA application_id = %d;",
		    zeros, zeros, zeros, zeros, zeros, 0x506d4453);
	assert_int_equal(sqlite3_open(path->s, &sq), SQLITE_OK);
	if (sqlite3_exec(sq, sql.s, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(sq));
	sqlite3_close(sq);
	pm_str_release(&sql);
}

static void old_results_are_read_and_not_resumed(void **state)
{
	PmRunRow r = { .task = 1,
		       .pass_path = "p.so",
		       .pass_sha256 = "00",
		       .device = "cuda",
		       .version = "0.1.0",
		       .options = "o",
		       .machine = "GPU=NVIDIA H100" };
	Seen seen = { 0 };
	int64_t id = -1;
	PmDb *db;

	make_version_3(*state);
	db = open_db(*state);
	assert_int_equal(pm_runs_each(db, 1, see_run, &seen, NULL), PM_OK);
	assert_int_equal(pm_results_each(db, 1, see_result, &seen, NULL), PM_OK);
	assert_true(seen.runs == 1 && seen.results == 1);
	assert_string_equal(seen.machine, "");
	assert_string_equal(seen.hidden, "");
	assert_int_equal(pm_run_find(db, &r, &id, NULL), PM_OK);
	assert_int_equal(id, 0);
	/* The first verdict on hidden shapes stays. */
	assert_int_equal(pm_run_set_hidden(db, 1, "INCORRECT", "{1}", NULL), PM_OK);
	assert_int_equal(pm_run_set_hidden(db, 1, "OK", "{2}", NULL), PM_OK);
	assert_int_equal(pm_runs_each(db, 1, see_run, &seen, NULL), PM_OK);
	assert_string_equal(seen.hidden, "INCORRECT");
	assert_string_equal(seen.json, "{1}");
	pm_db_close(db);
}

static int set_up(void **state)
{
	static PmStr dir, path;

	pm_str_init(&dir);
	pm_str_init(&path);
	assert_int_equal(pm_temp_dir("runs", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "r.db", &path);
	pm_str_release(&dir);
	*state = &path;
	return 0;
}

static int tear_down(void **state)
{
	PmStr *path = *state, dir = PM_STR_INIT;

	pm_path_dir(path->s, &dir);
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thing_that_decides_is_there),
		cmocka_unit_test(each_option_that_decides_is_there),
		cmocka_unit_test(a_slurm_job_is_an_origin),
		cmocka_unit_test_setup_teardown(another_gpu_is_another_run, set_up, tear_down),
		cmocka_unit_test_setup_teardown(old_results_are_read_and_not_resumed, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("run_key", tests, NULL, NULL);
}
