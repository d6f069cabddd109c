/* cmd_time.c - passmith time: measured times of the eager baseline, without any pass. */
#include "cli/cmds.h"

#include "base/io.h"
#include "base/progress.h"
#include "bench/clock.h"
#include "cli/members.h"
#include "dataset/subgraphs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Time {
	const char *device, *db_path, *json_out;
	int64_t seed, shapes;
	int variants, tf32, failed;
	PmWorker *worker;
	cJSON *records;
	PmProgress bar;
} Time;

static void kind_json(cJSON *j, const PmTimes *t, const char *name)
{
	cJSON *k = cJSON_AddObjectToObject(j, name);

	cJSON_AddNumberToObject(k, "seconds", t->side[PM_SIDE_BASELINE].median);
	cJSON_AddNumberToObject(k, "control", t->ratio[PM_SIDE_CONTROL].point);
	cJSON_AddNumberToObject(k, "blocks", t->blocks);
}

static cJSON *times_json(const PmTiming *t)
{
	cJSON *j = cJSON_CreateObject();

	for (int k = 0; k < PM_N_TIME_KINDS; k++)
		kind_json(j, &t->kind[k], pm_time_kind_name((PmTimeKind)k));
	cJSON_AddStringToObject(j, "state", pm_timing_state_name(t->state));
	if (*t->why)
		cJSON_AddStringToObject(j, "why", t->why);
	return j;
}

static void print_times(const PmMember *m, const PmPlanStats *s, const PmTiming *t)
{
	printf("  %-44.44s %4d launches %10.2f us %10.2f us %10.2f us  %s\n", m->label, s->n_launches,
	       t->kind[PM_TIME_COLD].side[0].median * 1e6, t->kind[PM_TIME_REPLAY].side[0].median * 1e6,
	       t->kind[PM_TIME_WALL].side[0].median * 1e6, *t->why ? t->why : "ok");
	fflush(stdout); /* a line each few seconds, to whoever waits for it */
}

static PmStatus launches(const PmGraph *g, PmPlanStats *s, PmErr *err)
{
	PmPlan *p = NULL;
	PmStatus st = pm_plan_new(g, NULL, 0, &p, err);

	if (!st)
		pm_plan_stats(p, NULL, s);
	pm_plan_free(p);
	return st;
}

/* One graph; what fails there is its record, unless there is no such device. */
static PmStatus time_one(Time *t, const PmMember *m, PmErr *err)
{
	PmClockOpts o = { .seed = (uint64_t)t->seed, .deadline = 120 };
	PmWork work = { .g = m->g };
	PmClockResult r = { 0 };
	PmPlanStats s = { 0 };
	PmGraphKey key;
	cJSON *j = cJSON_CreateObject(), *times;
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	st = pm_graph_key(m->g, &key, &why);
	if (!st)
		st = launches(m->g, &s, &why);
	if (!st)
		st = pm_clock_compare(t->worker, &work, &work, &o, &r, &why);
	cJSON_AddStringToObject(j, "name", m->label);
	cJSON_AddStringToObject(j, "graph", key.full);
	cJSON_AddNumberToObject(j, "launches", s.n_launches);
	if (st) {
		cJSON_AddStringToObject(j, "error", why.text);
		if (!pm_cli_json)
			printf("  %-44.44s %s\n", m->label, why.text);
		t->failed++;
	} else {
		times = cJSON_AddObjectToObject(j, "times");
		cJSON_AddItemToObject(times, "passmith eager", times_json(&r.t));
		if (!pm_cli_json)
			print_times(m, &s, &r.t);
		pm_clock_release(&r);
	}
	cJSON_AddItemToArray(t->records, j);
	return st == PM_E_ENV || st == PM_E_NOT_FOUND || (st == PM_E_UNSUPPORTED && t->failed == 1)
		       ? pm_err(err, st, "%s", why.text)
		       : PM_OK;
}

static PmStatus time_target(Time *t, const char *target, PmErr *err)
{
	PmMembers members = { 0 };
	PmDb *db = NULL;
	PmStatus st = t->db_path ? pm_db_open(t->db_path, PM_DB_MUST_EXIST, &db, err) : PM_OK;

	if (!st)
		st = db ? pm_members_of_task(db, target, &members, err)
			: pm_members_of_model(target, t->variants, &members, err);
	if (!st && !pm_cli_json)
		printf("%s: GPU time with caches cold, replayed as a CUDA graph, on the host's clock\n",
		       target);
	pm_members_keep_shapes(&members, t->shapes);
	for (size_t i = 0; i < members.list.n && !st; i++)
		st = time_one(t, &members.list.v[i], err);
	pm_members_release(&members);
	pm_db_close(db);
	return st;
}

static PmStatus put(Time *t, PmErr *err)
{
	cJSON *j = cJSON_CreateObject();
	PmDeviceInfo info;
	PmStr text = PM_STR_INIT;
	PmStatus st = pm_worker_info(t->worker, &info, err);

	if (!st) {
		cJSON_AddStringToObject(j, "kind", "passmith_time");
		cJSON_AddStringToObject(j, "device", info.name);
		cJSON_AddStringToObject(j, "cublaslt",
					pm_library_allowed() ? pm_library_cublaslt()->text : "off");
		cJSON_AddStringToObject(j, "cudnn", pm_library_allowed() ? pm_library_cudnn()->text : "off");
		cJSON_AddBoolToObject(j, "tf32", t->tf32);
		cJSON_AddItemToObject(j, "records", t->records);
		t->records = NULL;
		pm_json_print(j, 1, &text);
		if (pm_cli_json)
			fwrite(text.s, 1, text.len, stdout);
		if (t->json_out)
			st = pm_write_file(t->json_out, text.s, text.len, err);
	}
	cJSON_Delete(j);
	pm_str_release(&text);
	return st;
}

int pm_cmd_time(const PmCmd *cmd, int argc, char **argv)
{
	Time t = { .device = "cuda", .seed = 1 };
	const PmOpt opts[] = {
		{ "--device", PM_OPT_STR, &t.device, "a device with a clock (default cuda)" },
		{ "--db", PM_OPT_STR, &t.db_path, "the targets are tasks of this database, not model files" },
		{ "--variants", PM_OPT_FLAG, &t.variants,
		  "a model in all the shapes and types it generalises to" },
		{ "--shapes", PM_OPT_INT, &t.shapes, "the first N shapes of each graph only" },
		{ "--tf32", PM_OPT_FLAG, &t.tf32, "let libraries use TF32 for float" },
		{ "--seed", PM_OPT_INT, &t.seed, "seed of inputs and orders (default 1)" },
		{ "-o", PM_OPT_STR, &t.json_out, "write the times as JSON, for passmith results import" },
		{ 0 },
	};
	PmStrList targets = { 0 };
	PmStatus st = PM_OK;
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &targets, &code)) {
		if (!targets.list.n) {
			code = pm_cli_usage(cmd, "time takes at least one model or task.");
		} else {
			pm_cli_libraries(t.device, t.tf32);
			t.worker = pm_worker_new(t.device);
			t.records = cJSON_CreateArray();
			for (size_t i = 0; i < targets.list.n && !st; i++)
				st = time_target(&t, targets.list.v[i], &err);
			if (!st)
				st = put(&t, &err);
			code = st ? pm_cli_fail(&err) : t.failed != 0;
		}
	}
	cJSON_Delete(t.records);
	pm_worker_free(t.worker);
	PM_VEC_RELEASE(&targets.list);
	return code;
}
