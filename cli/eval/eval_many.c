/* SPDX-License-Identifier: Apache-2.0 */
/* eval_many.c - passmith eval on several targets, each by a process of its own. */
#include "cli/eval/eval.h"

#include "app/eval/many.h"
#include "base/sys/io.h"
#include "bench/report/category_report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Many {
	PmEvalCmd *e;
	cJSON *reports; /* of all targets, in order */
	PmHeartbeat heart;
	PmDb *told; /* what it goes to; NULL = nobody is told */
	size_t n_of[PM_N_VERDICTS], n_failed;
	int all_ok, code; /* of the first that was not evaluated; 0 = all were */
	PmErr why;        /* where there is one target: its failure is the command's */
} Many;

/* What the command has to know of one target: its tables, its reports, and whether all is right. */
static void put_one(const PmEvalCmd *e, const PmEvalReport *r, PmStr *out)
{
	size_t n = e->passes.list.n;
	cJSON *j = cJSON_CreateObject(), *reports;
	PmStr table = PM_STR_INIT;

	pm_str_addf(&table, "%s\n", e->target);
	pm__eval_add_tables(e, r, n, &table);
	cJSON_AddBoolToObject(j, "ok", pm__eval_is_all_ok(r, n));
	cJSON_AddStringToObject(j, "text", table.s);
	reports = cJSON_AddArrayToObject(j, "reports");
	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(reports, pm__eval_report_json(e, &r[i]));
	pm_json_print(j, 0, out);
	cJSON_Delete(j);
	pm_str_release(&table);
}

/* Of a report of several targets what is of this one; *out holds references. */
static PmStatus replay_of(const PmEvalCmd *e, PmReplayFile *out, PmErr *err)
{
	cJSON *part;

	*out = (PmReplayFile){ .path = e->replay.path, .json = cJSON_CreateArray() };
	cJSON_ArrayForEach(part, e->replay.json)
	{
		if (!strcmp(pm_json_str(part, "task", ""), e->target))
			cJSON_AddItemReferenceToArray(out->json, part);
	}
	if (cJSON_GetArraySize(out->json))
		return PM_OK;
	return pm_err(err, PM_E_INVALID, "%s has no report of it; name it as it was named then.", out->path);
}

static PmStatus eval_one(void *arg, size_t item, PmStr *out, PmErr *err)
{
	const Many *m = arg;
	PmEvalCmd e = *m->e;
	size_t n = e.passes.list.n, done = 0;
	PmEvalReport *r = pm_xcalloc(n + 1, sizeof *r);
	PmReplayFile part = { 0 };
	PmStatus st = PM_OK;

	e.target = e.targets.list.v[item];
	if (e.seats)
		e.opts.lock = e.clocks[pm_seats_at(e.seats)];
	e.bar.mode = 0; /* the caller's */
	if (e.replay_path)
		st = replay_of(&e, &part, err);
	e.replay = part;
	if (!st)
		st = pm__eval_find_selected(&e, err);
	if (!st && e.targets.list.n == 1 && !pm_cli_quiet)
		pm_progress_start(&e.bar, "evaluating", (int64_t)(n * e.variant_list.list.n));
	if (!st)
		st = pm__eval_passes(&e, r, NULL, &done, err);
	pm_progress_end(&e.bar);
	if (!st)
		put_one(&e, r, out);
	for (size_t i = 0; i < n; i++)
		pm_eval_report_release(&r[i]);
	free(r);
	pm_replay_release(&part);
	pm_variant_list_release(&e.variant_list);
	pm_db_close(e.db);
	return st;
}

static void count_verdicts(Many *m, const cJSON *report)
{
	const cJSON *record;

	cJSON_ArrayForEach(record, cJSON_GetObjectItem(report, "records"))
	{
		const char *name = pm_json_str(record, "verdict", "");

		for (PmVerdict v = 0; v < PM_N_VERDICTS; v++)
			m->n_of[v] += !strcmp(name, pm_verdict_name(v));
	}
}

static PmStatus take_one(void *arg, size_t item, const PmManyEnd *end, PmErr *err)
{
	Many *m = arg;
	cJSON *j = NULL, *reports, *report;
	PmStatus st = end->status ? PM_OK : pm_json_parse(end->out->s, end->out->len, &j, err);

	if (end->status && m->e->targets.list.n == 1) {
		pm_err(&m->why, end->status, "%s", end->why);
	} else if (end->status) {
		pm_cli_complain("%s was not evaluated: %s", m->e->targets.list.v[item], end->why);
		m->code = m->code ? m->code : pm_status_exit_code(end->status);
		m->n_failed++;
	}
	if (!j)
		return st;
	m->all_ok &= cJSON_IsTrue(cJSON_GetObjectItem(j, "ok"));
	if (!pm_cli_json)
		printf("%s\n", pm_json_str(j, "text", ""));
	reports = cJSON_GetObjectItem(j, "reports");
	while ((report = cJSON_DetachItemFromArray(reports, 0)) != NULL) {
		count_verdicts(m, report);
		cJSON_AddItemToArray(m->reports, report);
	}
	cJSON_Delete(j);
	return PM_OK;
}

static void tick(void *arg)
{
	Many *m = arg;

	pm_heartbeat_tick(&m->heart);
}

static void step_one(void *arg, size_t item)
{
	Many *m = arg;

	pm_heartbeat_step(&m->heart);
	pm_progress_step(&m->e->bar, m->e->targets.list.v[item]);
}

/* Where nobody said how many at once: the most that one target needs. What cannot be read is said when it is
 * to be evaluated. */
static int64_t most_needed(const PmEvalCmd *e)
{
	int64_t most = 0;

	for (size_t i = 0; i < e->targets.list.n && !e->jobs; i++) {
		PmEvalCmd one = *e;
		int64_t need = 0;

		one.target = e->targets.list.v[i];
		if (!pm__eval_find_selected(&one, NULL))
			need = pm_many_need(&one.variant_list, e->opts.device);
		most = need > most ? need : most;
		pm_variant_list_release(&one.variant_list);
		pm_db_close(one.db);
	}
	return most;
}

static void say_counts(const Many *m)
{
	const char *sep = " ";

	printf("%zu graph%s:", m->e->targets.list.n, pm_plural(m->e->targets.list.n));
	for (PmVerdict v = 0; v < PM_N_VERDICTS; v++)
		if (m->n_of[v]) {
			printf("%s%zu %s", sep, m->n_of[v], pm_verdict_name(v));
			sep = ", ";
		}
	if (m->n_failed)
		printf("%s%zu not evaluated", sep, m->n_failed);
	printf("\n");
}

static PmStatus put_many(Many *m, PmErr *err)
{
	PmStr text = PM_STR_INIT, table = PM_STR_INIT;
	cJSON *answer = cJSON_CreateObject(), *categories;
	PmStatus st = PM_OK;

	pm_json_print(m->reports, 1, &text);
	categories = pm_category_report_json(m->reports);
	if (!pm_cli_json) {
		pm_category_report_table(categories, &table);
		fputs(table.s ? table.s : "", stdout);
		say_counts(m);
	}
	pm_cli_stage("writing");
	if (m->e->json_out)
		st = pm_write_file(m->e->json_out, text.s, text.len, err);
	if (!st && m->e->json_out && !pm_cli_json)
		printf("JSON: %s\n", m->e->json_out);
	cJSON_AddItemToObject(answer, "results", m->reports);
	cJSON_AddItemToObject(answer, "categories", categories);
	if (m->e->seats)
		cJSON_AddItemToObject(answer, "gpus", pm_seats_json(m->e->seats));
	pm_cli_put_json(answer);
	pm_str_release(&text);
	pm_str_release(&table);
	return st;
}

PmStatus pm__eval_many(PmEvalCmd *e, int *code, PmErr *err)
{
	size_t n = e->targets.list.n;
	Many many = { .e = e, .reports = cJSON_CreateArray(), .all_ok = 1 };
	PmMany m = {
		.n = n, .work = eval_one, .ended = step_one, .take = take_one, .tick = tick, .arg = &many
	};
	PmRunningRow row = {
		.pass_path = "", .device = e->opts.device, .stage = "graphs", .total = (int64_t)n
	};
	PmStatus st = PM_OK;
	int at_once, each;

	for (size_t i = 0; i < e->passes.list.n && !st; i++)
		st = pm_cli_pass_is_there(e->passes.list.v[i], err);
	if (!st && e->replay_path)
		st = pm_replay_open(e->replay_path, &e->replay, err);
	if (!st)
		st = pm__eval_look_at_device(e, err);
	if (!st && e->seats)
		st = pm_cli_gpu_locks(e->seats, e->clocks, err);
	at_once = st || e->seats ? 1 : pm_many_jobs(e->jobs, e->opts.device, most_needed(e));
	m.jobs = e->device.exclusive ? 1 : (size_t)at_once < n ? at_once : (int)n;
	e->share = at_once / m.jobs;
	if (!st && e->seats) {
		each = e->device.exclusive ? 1
					   : pm_many_jobs_each(e->jobs, pm_seats_n(e->seats), most_needed(e));
		m.seats = e->seats;
		m.jobs = (int)((size_t)each < n ? (size_t)each : n);
		e->share = each / m.jobs;
		m.jobs *= pm_seats_n(e->seats);
	}
	if (!st && !pm_cli_quiet && n > 1)
		pm_progress_start(&e->bar, "evaluating", (int64_t)n);
	fflush(stdout); /* else each process has what is in it */
	e->command = getpid();
	if (!st && e->db_path) /* of packs it may be made later: then nobody looks yet */
		(void)pm_db_open(e->db_path, PM_DB_MUST_EXIST, &many.told, NULL);
	if (!st)
		pm_heartbeat_begin(&many.heart, many.told, &row);
	if (!st)
		st = pm_many(&m, err);
	pm_heartbeat_end(&many.heart);
	pm_db_close(many.told);
	pm__eval_leave_device(e);
	for (int i = 0; e->seats && i < pm_seats_n(e->seats); i++)
		pm_rwlock_free(e->clocks[i]);
	pm_progress_end(&e->bar);
	if (st)
		pm_cli_put_json(many.reports);
	else
		st = put_many(&many, err);
	*code = many.code ? many.code : !many.all_ok;
	if (!st && many.why.code) {
		st = many.why.code;
		*err = many.why;
	}
	return st;
}
