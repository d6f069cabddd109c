/* SPDX-License-Identifier: Apache-2.0 */
/* eval_target.c - passmith eval on one target: its variants, its passes, and what is said of them. */
#include "cli/eval/eval.h"

#include "app/eval/many.h"
#include "base/sys/io.h"
#include "bench/report/report.h"
#include "cli/cmds.h"
#include "cli/eval_options.h"
#include "dataset/pack/pack.h"
#include "ir/category/category.h"

#include <math.h>
#include <stdio.h>
#include <sys/mman.h>

static PmStatus find_variants(PmEvalCmd *e, PmErr *err)
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

int pm__eval_is_part(const PmEvalCmd *e)
{
	return e->dtype || e->shape >= 0 || e->only.list.n;
}

static PmStatus select_variants(PmEvalCmd *e, PmErr *err)
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
static void say_replay(const PmEvalCmd *e, const PmEvalReport *r, size_t n, PmStr *out)
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
cJSON *pm__eval_report_json(const PmEvalCmd *e, const PmEvalReport *r)
{
	cJSON *j = pm_eval_report_json(r, e->target);

	if (e->variant_list.list.n)
		cJSON_AddStringToObject(j, "category",
					pm_category_name(pm_category_of(e->variant_list.list.v[0].g, NULL)));
	if (e->seats)
		cJSON_AddItemToObject(j, "gpu", pm_cli_gpu_json(e->seats));
	return j;
}

static PmStatus put_record(const PmEvalCmd *e, const cJSON *reports, PmErr *err)
{
	PmRecordOpts o = {
		.hidden = e->hidden, .tf32 = e->tf32, .graphs = e->opts.graphs, .confirm = e->confirm
	};
	PmStatus st = pm_record_write(e->record_path, e->key_path, reports, &e->variant_list, &o, err);

	if (!st && !pm_cli_json)
		printf("Record: %s (passmith verify checks it)\n", e->record_path);
	return st;
}

void pm__eval_add_tables(const PmEvalCmd *e, const PmEvalReport *r, size_t n, PmStr *table)
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

static PmStatus put_results(PmEvalCmd *e, const PmEvalReport *r, size_t n, PmErr *err)
{
	cJSON *list = cJSON_CreateArray();
	PmStr text = PM_STR_INIT, table = PM_STR_INIT;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(list, pm__eval_report_json(e, &r[i]));
	pm_json_print(list, 1, &text);
	if (!pm_cli_json) {
		pm__eval_add_tables(e, r, n, &table);
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
static void put_finished(const PmEvalCmd *e, const PmEvalReport *r, size_t done, const char *have)
{
	cJSON *j = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(j, "results"), *part, *records;

	for (size_t i = 0; i < done; i++)
		cJSON_AddItemToArray(list, pm__eval_report_json(e, &r[i]));
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
void pm__eval_say_found(void *arg, const char *kind, const char *label, const char *why)
{
	const PmEvalCmd *e = arg;

	fprintf(stderr, "%spassmith: Found on %s %s: %s\n", e->bar.mode == 1 ? "\r\033[K" : "", kind, label,
		why);
}

/* Once for each pass, whichever variant is the first; the verdict may be another. */
static void say_first(void *arg, const PmFirstAnswer *a)
{
	const PmEvalCmd *e = arg;
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

void pm__eval_want_first_answer(PmEvalCmd *e)
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
PmStatus pm__eval_look_at_device(PmEvalCmd *e, PmErr *err)
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

void pm__eval_leave_device(PmEvalCmd *e)
{
	pm_emu_ahead_end(e->ahead);
	pm_look_end(e->look);
	pm_rwlock_free(e->opts.lock);
	e->opts.lock = NULL;
}

/* The variants of a target that are evaluated. */
PmStatus pm__eval_find_selected(PmEvalCmd *e, PmErr *err)
{
	PmStatus st = find_variants(e, err);

	if (!st && pm__eval_is_part(e))
		st = select_variants(e, err);
	if (!st && e->opts.first_answer)
		e->n_unselected += pm_variant_list_keep_smallest(&e->variant_list);
	if (!st && !e->variant_list.list.n)
		st = pm_err(err, PM_E_NOT_FOUND, "%s gives no variant to evaluate.", e->target);
	return st;
}

/* All passes on the variants of a target: `done` of them have a report. */
PmStatus pm__eval_passes(PmEvalCmd *e, PmEvalReport *r, char *have, size_t *done, PmErr *err)
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

int pm__eval_is_all_ok(const PmEvalReport *r, size_t n)
{
	int ok = 1;

	for (size_t i = 0; i < n; i++) {
		ok = ok && r[i].hidden.verdict == PM_VERDICT_OK;
		for (size_t k = 0; k < r[i].n; k++)
			ok = ok && r[i].rec[k].verdict == PM_VERDICT_OK;
	}
	return ok;
}

PmStatus pm__eval_target(PmEvalCmd *e, int *all_ok, PmErr *err)
{
	size_t n = e->passes.list.n, done = 0;
	char *have = NULL;
	PmEvalReport *r = pm_xcalloc(n + 1, sizeof *r);
	PmStatus st = pm__eval_find_selected(e, err);

	if (!st && e->key_path)
		st = pm_record_try_key(e->key_path, err);
	if (!st && e->replay_path)
		st = pm_replay_open(e->replay_path, &e->replay, err);
	if (!st)
		st = pm__eval_look_at_device(e, err);
	if (!st && !pm_cli_quiet)
		pm_progress_start(&e->bar, "evaluating", (int64_t)(n * e->variant_list.list.n));
	have = pm_xcalloc(e->variant_list.list.n + 1, 1);
	e->share = pm_cli_eval_jobs(e->jobs, e->opts.device);
	if (!st)
		st = pm__eval_passes(e, r, have, &done, err);
	pm__eval_leave_device(e);
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
	*all_ok = pm__eval_is_all_ok(r, n);
	for (size_t i = 0; i < n; i++)
		pm_eval_report_release(&r[i]);
	free(r);
	return st;
}
