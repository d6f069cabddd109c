/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_results.c - passmith results: keeps times that were taken elsewhere beside those of passes, and shows
 * all. */
#include "cli/cmds.h"

#include "base/core/version.h"
#include "base/sys/io.h"
#include "dataset/store/results.h"
#include "dataset/store/tasks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a graph stands: a variant of a task. */
typedef struct Place {
	int64_t task, ordinal;
	char hash[65], label[128];
} Place;

typedef struct Results {
	PmDb *db;
	PM_VEC(Place) places;
	const cJSON *file;
	int64_t stored, unknown;
	/* show: one row per variant, one column per system */
	PM_VEC(char *) systems;
	PM_VEC(double) seconds; /* places.n x MAX_SYSTEMS */
	int left_out;           /* there are more systems than columns */
	int64_t task;
	const char *system; /* of the run being read */
	int external;       /* its times were imported */
	int wrong;          /* its pass was wrong on a hidden shape: nothing of it counts as right */
} Results;

enum { MAX_SYSTEMS = 64 };

static PmStatus add_place(void *arg, const PmVariantRow *row, PmErr *err)
{
	Results *r = arg;
	Place p = { .task = row->task, .ordinal = row->ordinal };

	(void)err;
	snprintf(p.hash, sizeof p.hash, "%s", row->hash);
	snprintf(p.label, sizeof p.label, "%s", row->label);
	PM_VEC_PUSH(&r->places, p);
	return PM_OK;
}

static PmStatus add_task(void *arg, const PmTaskRow *row, PmErr *err)
{
	Results *r = arg;

	return pm_task_variants_each(r->db, row->id, add_place, r, err);
}

/* ---- import ---- */

static PmStatus store(Results *r, const Place *p, const char *system, const cJSON *times, PmErr *err)
{
	char device[160], options[200];
	PmStr text = PM_STR_INIT;
	PmRunRow run = {
		.task = p->task, .pass_path = system, .pass_sha256 = "", .device = device, .options = options
	};
	PmResultRow row = {
		.task = p->task, .ordinal = p->ordinal, .verdict = "OK", .stage = "speed", .speedup = NAN
	};
	PmStatus st;

	snprintf(device, sizeof device, "cuda:%s", pm_json_str(r->file, "device", "?"));
	snprintf(options, sizeof options, "external=%s %s=%s", system, pm_json_str(r->file, "kind", "?"),
		 pm_json_str(r->file, "torch", PM_VERSION));
	run.version = pm_json_str(r->file, "torch", PM_VERSION);
	pm_json_print(times, 0, &text);
	row.json = text.s;
	st = pm_run_put(r->db, &run, &row.run, NULL, err);
	if (!st)
		st = pm_result_put(r->db, &row, NULL, err);
	if (!st)
		st = pm_run_finish(r->db, row.run, err);
	r->stored += !st;
	pm_str_release(&text);
	return st;
}

static PmStatus import_record(Results *r, const cJSON *rec, PmErr *err)
{
	const char *hash = pm_json_str(rec, "graph", "");
	const cJSON *times = cJSON_GetObjectItem(rec, "times"), *system;
	int found = 0;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < r->places.n && !st && *hash; i++) {
		if (strcmp(r->places.v[i].hash, hash) != 0)
			continue;
		found = 1;
		cJSON_ArrayForEach(system, times) if (!st && !pm_str_eq(system->string, "control"))
			st = store(r, &r->places.v[i], system->string, system, err);
	}
	r->unknown += !found;
	return st;
}

static PmStatus import(Results *r, const char *path, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	const cJSON *rec, *list;
	cJSON *j = NULL;
	PmStatus st = pm_read_file(path, 256 << 20, &text, err);

	if (!st)
		st = pm_json_parse(text.s, text.len, &j, err);
	if (st && text.len)
		pm_err_ctx(err, "%s", path);
	list = cJSON_GetObjectItem(j, "records");
	if (!st && !cJSON_IsArray(list))
		st = pm_err(err, PM_E_INVALID,
			    "%s has no list \"records\"; give what torch_bench.py or passmith time wrote.",
			    path);
	r->file = j;
	if (!st)
		st = pm_tasks_each(r->db, add_task, r, err);
	if (!st)
		st = pm_db_begin(r->db, err);
	cJSON_ArrayForEach(rec, list) if (!st) st = import_record(r, rec, err);
	if (!st)
		st = pm_db_commit(r->db, err);
	if (!st && pm_cli_json) {
		cJSON *o = cJSON_CreateObject();

		pm_json_add_i64(o, "stored", r->stored);
		pm_json_add_i64(o, "unknown_graphs", r->unknown);
		pm_cli_put_json(o);
	} else if (!st) {
		printf("%lld times stored, %lld graphs are in no task of %s\n", (long long)r->stored,
		       (long long)r->unknown, pm_db_path(r->db));
	}
	cJSON_Delete(j);
	pm_str_release(&text);
	return st;
}

/* ---- show ---- */

static size_t system_number(Results *r, const char *name)
{
	for (size_t i = 0; i < r->systems.n; i++)
		if (!strcmp(r->systems.v[i], name))
			return i;
	if (r->systems.n == MAX_SYSTEMS) {
		r->left_out = 1;
		return MAX_SYSTEMS;
	}
	PM_VEC_PUSH(&r->systems, pm_xstrdup(name));
	return r->systems.n - 1;
}

static void note(Results *r, int64_t ordinal, const char *system, double seconds)
{
	size_t k = system_number(r, system);

	for (size_t i = 0; i < r->places.n && k < MAX_SYSTEMS && seconds > 0; i++)
		if (r->places.v[i].ordinal == ordinal)
			r->seconds.v[i * MAX_SYSTEMS + k] = seconds;
}

static PmStatus read_result(void *arg, const PmResultRow *row, PmErr *err)
{
	Results *r = arg;
	cJSON *j = NULL;
	PmStatus st = pm_json_parse(row->json, strlen(row->json), &j, err);

	if (!st && r->external) {
		note(r, row->ordinal, r->system, pm_json_num(cJSON_GetObjectItem(j, "cold"), "seconds", NAN));
	} else if (!st && pm_str_eq(pm_json_str(j, "time", ""), "measured")) {
		note(r, row->ordinal, "passmith eager", pm_json_num(j, "baseline_seconds", NAN));
		if (pm_str_eq(row->verdict, "OK") && !r->wrong)
			note(r, row->ordinal, r->system, pm_json_num(j, "candidate_seconds", NAN));
	}
	cJSON_Delete(j);
	return st;
}

typedef struct Run {
	int64_t id;
	char *system;
	int external, wrong;
} Run;
typedef PM_VEC(Run) Runs;

/* Runs are listed first: results are read when that query is over. */
static PmStatus list_run(void *arg, const PmRunRow *row, PmErr *err)
{
	Runs *runs = arg;
	Run one = { .id = row->id,
		    .external = strncmp(row->options, "external=", 9) == 0,
		    .wrong = *row->hidden && strcmp(row->hidden, "OK") != 0 };
	PmStr name = PM_STR_INIT;

	(void)err;
	pm_str_add(&name, one.external ? row->pass_path : pm_path_base(row->pass_path));
	one.system = pm_str_detach(&name, NULL);
	PM_VEC_PUSH(runs, one);
	return PM_OK;
}

static void print_table(const Results *r)
{
	printf("  %-40s", "GPU time in us, caches cold");
	for (size_t k = 0; k < r->systems.n; k++)
		printf(" %16.16s", r->systems.v[k]);
	printf("\n");
	for (size_t i = 0; i < r->places.n; i++) {
		printf("  %-40.40s", r->places.v[i].label);
		for (size_t k = 0; k < r->systems.n; k++) {
			double s = r->seconds.v[i * MAX_SYSTEMS + k];

			if (s > 0)
				printf(" %16.2f", s * 1e6);
			else
				printf(" %16s", "-");
		}
		printf("\n");
	}
}

static cJSON *table_json(const Results *r)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < r->places.n; i++) {
		cJSON *j = cJSON_CreateObject(), *t;

		pm_json_add_i64(j, "ordinal", r->places.v[i].ordinal);
		cJSON_AddStringToObject(j, "variant", r->places.v[i].label);
		t = cJSON_AddObjectToObject(j, "seconds");
		for (size_t k = 0; k < r->systems.n; k++)
			if (r->seconds.v[i * MAX_SYSTEMS + k] > 0)
				cJSON_AddNumberToObject(t, r->systems.v[k],
							r->seconds.v[i * MAX_SYSTEMS + k]);
		cJSON_AddItemToArray(list, j);
	}
	return list;
}

static PmStatus show(Results *r, const char *task, PmErr *err)
{
	Runs runs = { 0 };
	PmStatus st = pm_task_find(r->db, task, &r->task, err);

	if (!st)
		st = pm_task_variants_each(r->db, r->task, add_place, r, err);
	PM_VEC_RESERVE(&r->seconds, r->places.n * MAX_SYSTEMS + 1);
	memset(r->seconds.v, 0, (r->places.n * MAX_SYSTEMS + 1) * sizeof *r->seconds.v);
	if (!st)
		st = pm_runs_each(r->db, r->task, list_run, &runs, err);
	for (size_t i = 0; i < runs.n; i++) {
		r->system = runs.v[i].system;
		r->external = runs.v[i].external;
		r->wrong = runs.v[i].wrong;
		if (!st)
			st = pm_results_each(r->db, runs.v[i].id, read_result, r, err);
	}
	if (!st && pm_cli_json)
		pm_cli_put_json(table_json(r));
	else if (!st)
		print_table(r);
	if (r->left_out)
		fprintf(stderr,
			"passmith: There are more than %d systems; those after the first %d are left out.\n",
			MAX_SYSTEMS, MAX_SYSTEMS);
	for (size_t i = 0; i < runs.n; i++)
		free(runs.v[i].system);
	PM_VEC_RELEASE(&runs);
	return st;
}

int pm_cmd_results(const PmCmd *cmd, int argc, char **argv)
{
	Results r = { 0 };
	const char *db = NULL;
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &db, "the database" },
		{ 0 },
	};
	PmStrList args = { 0 };
	PmStatus st = PM_OK;
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &args, &code)) {
		const char *verb = args.list.n ? args.list.v[0] : "";

		if (!db || args.list.n != 2 || (strcmp(verb, "import") && strcmp(verb, "show"))) {
			code = pm_cli_usage(cmd,
					    "Say results import FILE or results show TASK, with --db FILE.");
		} else {
			st = pm_db_open(db, PM_DB_MUST_EXIST, &r.db, &err);
			if (!st)
				st = (!strcmp(verb, "import") ? import : show)(&r, args.list.v[1], &err);
			if (st)
				code = pm_cli_fail(&err);
		}
	}
	for (size_t i = 0; i < r.systems.n; i++)
		free(r.systems.v[i]);
	pm_db_close(r.db);
	PM_VEC_RELEASE(&r.places);
	PM_VEC_RELEASE(&r.systems);
	PM_VEC_RELEASE(&r.seconds);
	PM_VEC_RELEASE(&args.list);
	return code;
}
