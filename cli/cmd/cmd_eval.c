/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_eval.c - passmith eval: scores passes on a task, resuming what a database already holds. */
#include "cli/cmds.h"
#include "cli/device_lock.h"
#include "cli/eval_options.h"
#include "cli/gpus.h"

#include "app/eval/eval_task.h"
#include "app/eval/heartbeat.h"
#include "app/eval/many.h"
#include "app/eval/record.h"
#include "base/core/str.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "bench/report/category_report.h"
#include "bench/report/report.h"
#include "dataset/pack/pack.h"
#include "extract/variants/variants.h"
#include "ir/category/category.h"
#include "runtime/device/device.h"
#include "runtime/gpus/gpus.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct Eval {
	const char *target, *db_path, *json_out, *preset, *reference, *replay_path, *record_path, *key_path;
	const char *tier, *dtype, *save_dir, *progress_path;
	PmStrList only, targets;
	PmFailing save;
	PmEvents *events;
	PmReplayFile replay;
	PmEmuAhead *ahead; /* of what every kernel needs */
	PmLook *look;      /* at the device; NULL = not yet */
	PmStrList passes;
	PmEvalOpts opts;
	int64_t seed, hidden, shape, jobs;
	size_t n_unselected;
	PmDeviceInfo device;
	const char *gpus;              /* --gpus, or NULL */
	PmSeats *seats;                /* the same */
	PmRwlock *clocks[PM_GPUS_MAX]; /* of each of them */
	int share;                     /* processes of one target's evaluation */
	int64_t command;               /* the process that evaluates several targets; 0 = there is one */
	int variants, summary, tf32, confirm, fail_fast, strong, weak;
	PmDb *db;
	PmVariantList variant_list;
	PmProgress bar;
	atomic_int
		*answered; /* shared by the processes that evaluate: the first answer on this pass was told */
} Eval;

/* ---- all of them ---- */

static PmStatus find_variants(Eval *e, PmErr *err)
{
	int pack = pm_pack_is(e->target);

	if (e->db_path) { /* a pack becomes a stored task, so that its results are kept */
		char id[24];
		int64_t task;
		PmStatus st = pm_db_open(e->db_path, pack ? 0 : PM_DB_MUST_EXIST, &e->db, err);

		if (!st && pack && !(st = pm_pack_unpack(e->target, e->db, &task, NULL, err)))
			snprintf(id, sizeof id, "%lld", (long long)task);
		return st ? st : pm_variant_list_of_task(e->db, pack ? id : e->target, &e->variant_list, err);
	}
	if (pack)
		return pm_variant_list_of_pack(e->target, &e->variant_list, err);
	if (!pm_path_exists(e->target))
		return pm_err(err, PM_E_NOT_FOUND,
			      "There is no model file %s; for a stored task give --db FILE too.", e->target);
	if (pm_path_is_dir(e->target))
		return pm_err(
			err, PM_E_INVALID,
			"The folder %s is no pack, for it holds no task.json; name one of the folders that "
			"passmith task pack wrote below its -o.",
			e->target);
	return pm_cli_variants(e->target, e->variants, (uint64_t)e->seed, &e->variant_list, err);
}

static int is_part(const Eval *e)
{
	return e->dtype || e->shape >= 0 || e->only.list.n;
}

static PmStatus select_variants(Eval *e, PmErr *err)
{
	size_t n = e->variant_list.list.n;
	int64_t *only = pm_xcalloc(e->only.list.n + 1, sizeof *only);
	PmSelect s = { .dtype = e->dtype ? pm_dtype_from_name(e->dtype) : -1,
		       .shape = e->shape,
		       .only = only,
		       .n_only = e->only.list.n };

	for (size_t i = 0; i < s.n_only; i++)
		pm_parse_i64(e->only.list.v[i], &only[i]);
	e->n_unselected = pm_variant_list_select(&e->variant_list, &s);
	free(only);
	if (n && e->n_unselected == n)
		return pm_err(
			err, PM_E_NOT_FOUND,
			"None of the %zu variant%s of %s is what --dtype, --shape and --only name; their "
			"numbers begin with 0, and passmith eval without these options lists them.",
			n, pm_plural(n), e->target);
	return PM_OK;
}

/* 1 when something was found that another draw might not find. */
static int can_be_repeated(const PmEvalReport *r)
{
	int any = r->hidden.verdict != PM_VERDICT_OK;

	for (size_t i = 0; i < r->n; i++)
		any |= r->rec[i].n_kernels > 0 && pm_verdict_may_be_drawn(r->rec[i].verdict);
	return any && !r->replayed && !r->printed && !r->opts.first_answer;
}

/* The command that sees the same failures again. */
static void say_replay(const Eval *e, const PmEvalReport *r, size_t n, PmStr *out)
{
	int any = 0;

	for (size_t i = 0; i < n; i++)
		any |= can_be_repeated(&r[i]);
	if (!any || e->save_dir) /* what was saved has its own lines */
		return;
	if (e->json_out)
		pm_str_addf(out,
			    "\nInputs are drawn anew each time; --replay %s, with the same command, draws "
			    "these again.\n",
			    e->json_out);
	else
		pm_str_add(out,
			   "\nInputs are drawn anew each time; give -o REPORT, and later --replay REPORT "
			   "draws the same again.\n");
}

/* With the category of the target, which is that of its first variant. */
static cJSON *report_json(const Eval *e, const PmEvalReport *r)
{
	cJSON *j = pm_eval_report_json(r, e->target);

	if (e->variant_list.list.n)
		cJSON_AddStringToObject(j, "category",
					pm_category_name(pm_category_of(e->variant_list.list.v[0].g, NULL)));
	if (e->seats)
		cJSON_AddItemToObject(j, "gpu", pm_cli_gpu_json(e->seats));
	return j;
}

static PmStatus put_record(const Eval *e, const cJSON *reports, PmErr *err)
{
	PmRecordOpts o = {
		.hidden = e->hidden, .tf32 = e->tf32, .graphs = e->opts.graphs, .confirm = e->confirm
	};
	PmStatus st = pm_record_write(e->record_path, e->key_path, reports, &e->variant_list, &o, err);

	if (!st && !pm_cli_json)
		printf("Record: %s (passmith verify checks it)\n", e->record_path);
	return st;
}

static void add_tables(const Eval *e, const PmEvalReport *r, size_t n, PmStr *table)
{
	for (size_t i = 0; i < n && !e->summary; i++)
		pm_eval_report_table(&r[i], table);
	if (!e->summary)
		pm_str_addc(table, '\n');
	pm_eval_summary_table(r, n, table);
	for (size_t i = 0; i < n && e->opts.timings; i++) {
		pm_str_addc(table, '\n');
		pm_eval_timings_table(&r[i], table);
	}
}

static PmStatus put_results(Eval *e, const PmEvalReport *r, size_t n, PmErr *err)
{
	cJSON *list = cJSON_CreateArray();
	PmStr text = PM_STR_INIT, table = PM_STR_INIT;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(list, report_json(e, &r[i]));
	pm_json_print(list, 1, &text);
	if (!pm_cli_json) {
		add_tables(e, r, n, &table);
		say_replay(e, r, n, &table);
		fputs(table.s, stdout);
	}
	pm_cli_stage("writing");
	if (e->json_out)
		st = pm_write_file(e->json_out, text.s, text.len, err);
	if (!st && e->json_out && !pm_cli_json)
		printf("JSON: %s\n", e->json_out);
	if (!st && e->record_path)
		st = put_record(e, list, err);
	pm_cli_put_json(list);
	pm_str_release(&text);
	pm_str_release(&table);
	return st;
}

/* What kernels printed, each pass's at once. */
static void say_printed(const PmEvalReport *r)
{
	const PmPrint *p = r->printed;

	if (!p)
		return;
	fwrite(p->text, 1, p->n, stderr);
	if (p->n && p->text[p->n - 1] != '\n')
		fputc('\n', stderr);
	if (p->cut)
		fprintf(stderr, "passmith: The kernels of %s printed %lld bytes more, which are cut.\n",
			r->pass, (long long)p->cut);
}

/* After an error: the reports of the passes that are finished, and of the one at hand the records that are.
 */
static void put_finished(const Eval *e, const PmEvalReport *r, size_t done, const char *have)
{
	cJSON *j = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(j, "results"), *part, *records;

	for (size_t i = 0; i < done; i++)
		cJSON_AddItemToArray(list, report_json(e, &r[i]));
	if (r[done].n) {
		part = cJSON_AddObjectToObject(j, "unfinished");
		cJSON_AddStringToObject(part, "pass", e->passes.list.v[done]);
		records = cJSON_AddArrayToObject(part, "records");
		for (size_t k = 0; k < r[done].n; k++)
			if (have[k])
				cJSON_AddItemToArray(records, pm_eval_record_json(&r[done].rec[k]));
	}
	pm_cli_put_json(j);
}

/* At once, and so in between: the record comes when everything has been looked at. In a process of its own,
 * maybe. */
static void say_found(void *arg, const char *kind, const char *label, const char *why)
{
	const Eval *e = arg;

	fprintf(stderr, "%spassmith: Found on %s %s: %s\n", e->bar.mode == 1 ? "\r\033[K" : "", kind, label,
		why);
}

/* Once for each pass, whichever variant is the first; the verdict may be another. */
static void say_first(void *arg, const PmFirstAnswer *a)
{
	const Eval *e = arg;
	char speed[96] = "";

	if (!e->answered || atomic_exchange(e->answered, 1))
		return;
	if (isfinite(a->speedup) && a->measured)
		snprintf(speed, sizeof speed, ", %.2f times as fast [%.2f, %.2f] measured", a->speedup, a->lo,
			 a->hi);
	else if (isfinite(a->speedup))
		snprintf(speed, sizeof speed, ", %.2f times as fast (modelled)", a->speedup);
	fprintf(stderr,
		"%spassmith: First answer on variant %s: right on %d class%s of inputs, alternative %d%s; "
		"the "
		"rest follows.\n",
		e->bar.mode == 1 ? "\r\033[K" : "", a->label, a->n_classes, a->n_classes == 1 ? "" : "es",
		a->alternative, speed);
}

static void want_first_answer(Eval *e)
{
	void *shared = mmap(NULL, sizeof *e->answered, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			    0);

	if (shared == MAP_FAILED)
		return; /* nothing is told before the end */
	e->answered = shared;
	e->opts.answered = say_first;
	e->opts.answered_arg = e;
}

/* What is to be known of the device before anything runs there, and the lock for it. */
static PmStatus look_at_device(Eval *e, PmErr *err)
{
	PmStatus st;

	pm_cli_stage("working");
	if (!e->look) {
		e->ahead = pm_emu_ahead_begin();
		e->look = pm_look_begin(e->opts.device);
	}
	st = pm_look_info(e->look, &e->device, err);
	if (pm_device_kind(e->opts.device) == PM_DEVICE_CUDA)
		e->opts.cc = e->device.cc;
	e->opts.reference_on_gpu &= !e->device.exclusive;
	if (st || e->seats) /* which have a lock each */
		return st;
	return pm_cli_device_lock(e->opts.device, &e->device, &e->opts.lock, err);
}

static void leave_device(Eval *e)
{
	pm_emu_ahead_end(e->ahead);
	pm_look_end(e->look);
	pm_rwlock_free(e->opts.lock);
	e->opts.lock = NULL;
}

/* The variants of a target that are evaluated. */
static PmStatus find_selected(Eval *e, PmErr *err)
{
	PmStatus st = find_variants(e, err);

	if (!st && is_part(e))
		st = select_variants(e, err);
	if (!st && e->opts.first_answer)
		e->n_unselected += pm_variant_list_keep_smallest(&e->variant_list);
	if (!st && !e->variant_list.list.n)
		st = pm_err(err, PM_E_NOT_FOUND, "%s gives no variant to evaluate.", e->target);
	return st;
}

/* All passes on the variants of a target: `done` of them have a report. */
static PmStatus eval_passes(Eval *e, PmEvalReport *r, char *have, size_t *done, PmErr *err)
{
	PmEvalTask task = { .db = e->db,
			    .variants = &e->variant_list,
			    .opts = e->opts,
			    .preset = e->preset,
			    .tf32 = e->tf32,
			    .hidden = (int)e->hidden,
			    .replay = e->replay_path ? &e->replay : NULL,
			    .jobs = e->device.exclusive ? 1 : e->share,
			    .fail_fast = e->fail_fast,
			    .n_unselected = e->n_unselected,
			    .save = e->save_dir ? &e->save : NULL,
			    .events = e->events,
			    .command = e->command,
			    .accept = e->seats ? pm_many_accept : NULL,
			    .accept_arg = e->seats,
			    .step = e->bar.mode ? pm_cli_step : NULL,
			    .step_arg = &e->bar };
	PmStatus st = PM_OK;

	for (; *done < e->passes.list.n && !st; *done += !st) {
		st = pm_cli_pass_is_there(e->passes.list.v[*done], err);
		if (e->answered)
			atomic_store(e->answered, 0);
		if (!st)
			st = pm_eval_task(&task, e->passes.list.v[*done], &r[*done], have, err);
	}
	return st;
}

static int is_all_ok(const PmEvalReport *r, size_t n)
{
	int ok = 1;

	for (size_t i = 0; i < n; i++) {
		ok = ok && r[i].hidden.verdict == PM_VERDICT_OK;
		for (size_t k = 0; k < r[i].n; k++)
			ok = ok && r[i].rec[k].verdict == PM_VERDICT_OK;
	}
	return ok;
}

static PmStatus eval_all(Eval *e, int *all_ok, PmErr *err)
{
	size_t n = e->passes.list.n, done = 0;
	char *have = NULL;
	PmEvalReport *r = pm_xcalloc(n + 1, sizeof *r);
	PmStatus st = find_selected(e, err);

	if (!st && e->key_path)
		st = pm_record_try_key(e->key_path, err);
	if (!st && e->replay_path)
		st = pm_replay_open(e->replay_path, &e->replay, err);
	if (!st)
		st = look_at_device(e, err);
	if (!st && !pm_cli_quiet)
		pm_progress_start(&e->bar, "evaluating", (int64_t)(n * e->variant_list.list.n));
	have = pm_xcalloc(e->variant_list.list.n + 1, 1);
	e->share = pm_cli_eval_jobs(e->jobs, e->opts.device);
	if (!st)
		st = eval_passes(e, r, have, &done, err);
	leave_device(e);
	pm_progress_end(&e->bar);
	for (size_t i = 0; i < n; i++)
		say_printed(&r[i]);
	if (e->save.n && !pm_cli_json)
		printf("Failing variants: %zu in %s (sh %s/replay.sh runs them again)\n", e->save.n,
		       e->save_dir, e->save_dir);
	if (!st)
		st = put_results(e, r, n, err);
	else
		put_finished(e, r, done, have);
	free(have);
	*all_ok = is_all_ok(r, n);
	for (size_t i = 0; i < n; i++)
		pm_eval_report_release(&r[i]);
	free(r);
	return st;
}

/* ---- several targets, each by a process of its own ---- */

typedef struct Many {
	Eval *e;
	cJSON *reports; /* of all targets, in order */
	PmHeartbeat heart;
	PmDb *told; /* what it goes to; NULL = nobody is told */
	size_t n_of[PM_N_VERDICTS], n_failed;
	int all_ok, code; /* of the first that was not evaluated; 0 = all were */
	PmErr why;        /* where there is one target: its failure is the command's */
} Many;

/* What the command has to know of one target: its tables, its reports, and whether all is right. */
static void put_one(const Eval *e, const PmEvalReport *r, PmStr *out)
{
	size_t n = e->passes.list.n;
	cJSON *j = cJSON_CreateObject(), *reports;
	PmStr table = PM_STR_INIT;

	pm_str_addf(&table, "%s\n", e->target);
	add_tables(e, r, n, &table);
	cJSON_AddBoolToObject(j, "ok", is_all_ok(r, n));
	cJSON_AddStringToObject(j, "text", table.s);
	reports = cJSON_AddArrayToObject(j, "reports");
	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(reports, report_json(e, &r[i]));
	pm_json_print(j, 0, out);
	cJSON_Delete(j);
	pm_str_release(&table);
}

/* Of a report of several targets what is of this one; *out holds references. */
static PmStatus replay_of(const Eval *e, PmReplayFile *out, PmErr *err)
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
	Eval e = *m->e;
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
		st = find_selected(&e, err);
	if (!st && e.targets.list.n == 1 && !pm_cli_quiet)
		pm_progress_start(&e.bar, "evaluating", (int64_t)(n * e.variant_list.list.n));
	if (!st)
		st = eval_passes(&e, r, NULL, &done, err);
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
static int64_t most_needed(const Eval *e)
{
	int64_t most = 0;

	for (size_t i = 0; i < e->targets.list.n && !e->jobs; i++) {
		Eval one = *e;
		int64_t need = 0;

		one.target = e->targets.list.v[i];
		if (!find_selected(&one, NULL))
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

static PmStatus eval_many(Eval *e, int *code, PmErr *err)
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
		st = look_at_device(e, err);
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
	leave_device(e);
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

/* What the parser cannot know of what is evaluated: 0, or the exit code after one sentence. */
static int check_selection(const PmCmd *cmd, const Eval *e)
{
	int64_t number;

	if (e->dtype && pm_dtype_from_name(e->dtype) < 0)
		return pm_cli_usage(cmd,
				    "There is no element type '%.40s'; float, float16 and bfloat16 are "
				    "some that exist.",
				    e->dtype);
	if (e->shape > PM_MAX_SHAPES)
		return pm_cli_usage(cmd, "--shape takes a number from 0 to %d.", PM_MAX_SHAPES);
	for (size_t i = 0; i < e->only.list.n; i++)
		if (!pm_parse_i64(e->only.list.v[i], &number) || number < 0)
			return pm_cli_usage(cmd, "--only takes the number of a variant, not '%.40s'.",
					    e->only.list.v[i]);
	if (e->record_path && (is_part(e) || e->fail_fast))
		return pm_cli_usage(cmd, "A part of the variants has no score, and so no record: leave out "
					 "--record, or --dtype, --shape, --only and --fail-fast.");
	return 0;
}

/* Whether there is something beside --quick that a first answer has not. */
static int check_quick(const PmCmd *cmd, const Eval *e)
{
	if (e->opts.first_answer &&
	    (e->db_path || e->record_path || e->key_path || e->replay_path || e->save_dir || e->confirm ||
	     e->hidden >= 0 || e->fail_fast || e->opts.debug_print))
		return pm_cli_usage(cmd,
				    "A first answer has no score, is not kept and looks at no hidden shape: "
				    "leave out --quick, or --db, --record, --sign-key, --replay, "
				    "--save-failing, --confirm, --hidden, --fail-fast and "
				    "--debug-print.");
	return 0;
}

/* The same of everything else. */
static int check_args(const PmCmd *cmd, Eval *e)
{
	int code;

	if (!e->targets.list.n || !e->passes.list.n)
		return pm_cli_usage(cmd, "eval takes a task, pack or model, or several of them, and at least "
					 "one --pass.");
	code = pm_cli_gpus_usage(cmd, e->gpus, e->opts.device);
	if (code)
		return code;
	if (e->targets.list.n > 1 &&
	    (e->record_path || e->save_dir || e->progress_path || e->opts.debug_print || is_part(e)))
		return pm_cli_usage(cmd,
				    "These are of one task, pack or model: leave out --record, "
				    "--save-failing, --progress, --debug-print, --dtype, --shape and --only, "
				    "or evaluate one alone.");
	if (e->gpus && (e->record_path || e->save_dir))
		return pm_cli_usage(cmd,
				    "Give --record or --save-failing without --gpus: they are of one GPU.");
	code = pm_cli_eval_words(cmd, e->preset, e->reference);
	if (code)
		return code;
	if (e->opts.check_only && (e->db_path || e->record_path))
		return pm_cli_usage(cmd, "What was not timed is not stored: leave out --check-only, or --db "
					 "and --record.");
	if (e->record_path && e->replay_path)
		return pm_cli_usage(cmd, "What is replayed has no score, and so no record: leave out "
					 "--replay or --record.");
	if (e->opts.debug_print && (pm_device_kind(e->opts.device) != PM_DEVICE_EMU || e->db_path ||
				    e->record_path || e->replay_path || e->key_path || e->save_dir))
		return pm_cli_usage(cmd,
				    "Kernels print on emu alone, and a debugging run has no score and is "
				    "not kept: leave out --debug-print, or --device cuda, --db, --record, "
				    "--sign-key, --replay and --save-failing.");
	if (e->key_path && !e->record_path)
		return pm_cli_usage(cmd, "--sign-key signs the file of --record: give both.");
	if (e->strong && e->weak)
		return pm_cli_usage(cmd, "Give --require-sandbox or --weak-sandbox, not both.");
	if (e->hidden > PM_MAX_HIDDEN_SHAPES)
		return pm_cli_usage(cmd, "--hidden takes a number from 0 to %d.", PM_MAX_HIDDEN_SHAPES);
	if (!pm_tier_from_name(e->tier, &e->opts.tier))
		return pm_cli_usage(cmd, "There is no precision '%.40s'; strict, tf32 and bf16 exist.",
				    e->tier);
	e->opts.reference_on_gpu = !strcmp(e->reference, "auto");
	code = check_quick(cmd, e);
	return code ? code : check_selection(cmd, e);
}

static int run(Eval *e)
{
	PmErr err;
	int all_ok = 1, code = 0, several;

	pm_err_init(&err);
	/* Who may compute less exactly is measured against a baseline that may. */
	e->tf32 |= e->opts.tier > PM_TIER_STRICT;
	e->variants |= is_part(e);
	e->opts.seed = (uint64_t)e->seed;
	if (e->hidden < 0)
		e->hidden = PM_HIDDEN_SHAPES;
	if (e->opts.debug_print || e->opts.first_answer)
		e->hidden = 0;
	e->opts.require_sandbox = e->strong || ((e->db_path || e->record_path) && !e->weak);
	e->opts.confirm_above = e->confirm ? 1 : 0;
	e->opts.preset = !strcmp(e->preset, "passnet") ? PM_PRESET_PASSNET : PM_PRESET_SOUND;
	e->save = (PmFailing){
		.dir = e->save_dir, .preset = e->preset, .tf32 = e->tf32, .confirm = e->confirm
	};
	e->target = e->targets.list.v[0];
	several = e->targets.list.n > 1 || e->gpus;
	if (e->gpus && pm_cli_gpus(e->gpus, &e->seats, &err))
		return pm_cli_fail(&err);
	if (e->progress_path && pm_events_open(e->progress_path, &e->events, &err))
		return pm_cli_fail(&err);
	if (pm_device_kind(e->opts.device) == PM_DEVICE_CUDA) /* whose driver takes its time */
		e->look = pm_look_begin(e->opts.device);
	pm_cli_libraries(e->opts.device, e->tf32);
	if (!pm_cli_quiet && e->targets.list.n == 1) {
		e->opts.found = say_found;
		e->opts.found_arg = e;
		want_first_answer(e);
	}
	if (several)
		return eval_many(e, &code, &err) ? pm_cli_fail(&err) : code;
	return eval_all(e, &all_ok, &err) ? pm_cli_fail(&err) : !all_ok;
}

int pm_cmd_eval(const PmCmd *cmd, int argc, char **argv)
{
	Eval e = { .opts = { .device = "emu", .deadline = PM_EVAL_DEADLINE },
		   .hidden = -1, /* nobody said */
		   .preset = "sound",
		   .reference = "cpu",
		   .tier = "strict",
		   .shape = -1 };
	const PmOpt opts[] = {
		{ "--pass", PM_OPT_LIST, &e.passes, "a pass (may be given several times)" },
		{ "--db", PM_OPT_STR, &e.db_path,
		  "database that holds the task; results are kept and resumed" },
		{ "--device", PM_OPT_DEVICE, &e.opts.device, "emu (times are modelled) or cuda" },
		{ "--gpus", PM_OPT_STR, &e.gpus,
		  "cuda: all, or numbers and UUIDs with commas (0,2): graphs go to whichever GPU is free" },
		PM_OPT_TARGET_ROW(&e.opts.profile),
		{ "--reference", PM_OPT_STR, &e.reference,
		  "cpu (default), or auto: with --device cuda the GPU computes large products of the "
		  "reference" },
		{ "--preset", PM_OPT_STR, &e.preset,
		  "sound (default) or passnet: how closeness and scores count" },
		{ "--precision", PM_OPT_STR, &e.tier,
		  "strict (default), tf32 or bf16: how exact results have to be" },
		{ "--seed", PM_OPT_INT, &e.seed,
		  "of the shapes of --variants, and of what is resumed (default 0); of nothing secret" },
		{ "--hidden", PM_OPT_COUNT, &e.hidden,
		  "shapes that are drawn now, on which the pass has to be right too (default 2)" },
		{ "--replay", PM_OPT_STR, &e.replay_path,
		  "a report (-o): draws the same again; the result has no score and is not stored" },
		{ "--variants", PM_OPT_FLAG, &e.variants, "with a model: also its other shapes and dtypes" },
		{ "--deadline", PM_OPT_NUM, &e.opts.deadline,
		  "seconds that one variant may take (default 120, 0 = any): what is not checked then is "
		  "named and scores as the baseline" },
		{ "--quick", PM_OPT_FLAG, &e.opts.first_answer,
		  "a first answer alone: the smallest variant, on some of the inputs; no score, and not "
		  "kept" },
		{ "--check-only", PM_OPT_FLAG, &e.opts.check_only,
		  "say whether it is right, and take no times: without --db and --record" },
		{ "--dtype", PM_OPT_STR, &e.dtype,
		  "only variants of this element type (float16); a part of the variants has no score" },
		{ "--shape", PM_OPT_COUNT, &e.shape,
		  "only variants of this shape (a number; 0 = the original's)" },
		{ "--only", PM_OPT_LIST, &e.only,
		  "only this variant (a number from 0; may be given several times)" },
		{ "--jobs", PM_OPT_COUNT, &e.jobs,
		  "evaluations at once: of several graphs, of the variants and hidden shapes of one "
		  "(default: "
		  "all processors, cuda: 3 of one graph, up to 4 graphs, and what memory has room for); what "
		  "is timed runs alone" },
		{ "-j", PM_OPT_COUNT, &e.jobs, "the same as --jobs" },
		{ "--fail-fast", PM_OPT_FLAG, &e.fail_fast,
		  "stop at the first variant on which the pass fails" },
		{ "--save-failing", PM_OPT_STR, &e.save_dir,
		  "write each variant on which a pass fails to this folder, with the line that runs it "
		  "again" },
		{ "--debug-print", PM_OPT_FLAG, &e.opts.debug_print,
		  "emu: printf of kernels goes to stderr; the result has no score and is not kept" },
		{ "--timings", PM_OPT_FLAG, &e.opts.timings,
		  "also say where the time went, by stage and by class of inputs" },
		{ "--summary", PM_OPT_FLAG, &e.summary, "one line per pass only" },
		{ "--graphs", PM_OPT_FLAG, &e.opts.graphs,
		  "cuda: every call of both sides replays its launches as one CUDA graph" },
		{ "--tf32", PM_OPT_FLAG, &e.tf32, "cuda: let libraries of the baseline use TF32 for float" },
		{ "--require-sandbox", PM_OPT_FLAG, &e.strong,
		  "only where no layer of the sandbox is missing (default with --db and --record)" },
		{ "--weak-sandbox", PM_OPT_FLAG, &e.weak,
		  "with --db or --record: also where a layer is missing; the result says so" },
		{ "--confirm", PM_OPT_FLAG, &e.confirm,
		  "cuda: what is faster is measured again, with other inputs; two runs must agree" },
		{ "--progress", PM_OPT_STR, &e.progress_path,
		  "also write to this file, as soon as each variant is finished, a line of JSON with its "
		  "record" },
		{ "-o", PM_OPT_STR, &e.json_out, "also write the JSON report to this file" },
		{ "--record", PM_OPT_STR, &e.record_path,
		  "also write a sealed record, which passmith verify checks anywhere" },
		{ "--sign-key", PM_OPT_STR, &e.key_path,
		  "sign the record with this key (passmith verify --new-key makes one)" },
		{ 0 },
	};
	int code = 0;

	if (pm_args_parse(cmd, opts, argc, argv, &e.targets, &code)) {
		code = check_args(cmd, &e);
		if (!code)
			code = run(&e);
	}
	if (e.answered)
		munmap(e.answered, sizeof *e.answered);
	pm_seats_free(e.seats);
	pm_events_close(e.events);
	pm_replay_release(&e.replay);
	pm_variant_list_release(&e.variant_list);
	pm_db_close(e.db);
	PM_VEC_RELEASE(&e.passes.list);
	PM_VEC_RELEASE(&e.only.list);
	PM_VEC_RELEASE(&e.targets.list);
	return code;
}
