/* eval_task.c - one pass on the members of a task, resuming what a database holds. */
#include "cli/eval_task.h"

#include "base/version.h"
#include "bench/report.h"
#include "cli/algebra.h"
#include "cli/hidden.h"
#include "dataset/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Stored {
	const PmEvalTask *e;
	PmEvalReport *r;
	char *have; /* by position in the member list */
} Stored;

static PmStatus take_stored(void *arg, const PmResultRow *row, PmErr *err)
{
	Stored *s = arg;
	cJSON *j = NULL;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < s->r->n && !st; i++) {
		if (s->e->members->list.v[i].ordinal != row->ordinal || s->have[i])
			continue;
		st = pm_json_parse(row->json, strlen(row->json), &j, err);
		if (!st)
			st = pm_eval_record_from_json(j, &s->r->rec[i], err);
		cJSON_Delete(j);
		s->have[i] = !st;
		break;
	}
	return st;
}

static PmStatus open_run(const PmEvalTask *e, const PmEvalReport *r, int64_t *run, PmErr *err)
{
	char options[160];
	PmRunRow row = { .task = e->members->task,
			 .pass_path = r->pass,
			 .pass_sha256 = r->sha256,
			 .device = e->opts.device,
			 .seed = e->opts.seed,
			 .version = PM_VERSION,
			 .options = options };

	/* Results of inputs that were drawn by the seed alone have a key without the last word. */
	snprintf(options, sizeof options, "profile=%s preset=%s%s%s%s%s secret",
		 e->opts.profile ? e->opts.profile : pm_profile(NULL)->name, e->preset,
		 e->tf32 ? " tf32" : "", e->opts.lane ? " lane=" : "",
		 e->opts.lane ? pm_lane_name(e->opts.lane) : "", e->opts.graphs ? " graphs" : "");
	return pm_run_put(e->db, &row, run, NULL, err);
}

static PmStatus store(const PmEvalTask *e, int64_t run, size_t i, const PmEvalRecord *rec, PmErr *err)
{
	cJSON *j = pm_eval_record_json(rec);
	PmStr text = PM_STR_INIT;
	PmResultRow row = { .run = run,
			    .task = e->members->task,
			    .ordinal = e->members->list.v[i].ordinal,
			    .verdict = pm_verdict_name(rec->verdict),
			    .stage = pm_eval_stage(rec),
			    .speedup = rec->speedup };
	PmStatus st;

	pm_json_print(j, 0, &text);
	row.json = text.s;
	st = pm_result_put(e->db, &row, NULL, err);
	cJSON_Delete(j);
	pm_str_release(&text);
	return st;
}

static PmStatus eval_missing(const PmEvalTask *e, const char *so, int64_t run, const cJSON *past, char *have,
			     PmEvalReport *r, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < r->n && !st; i++) {
		PmEvalMember m = { .label = e->members->list.v[i].label,
				   .g = e->members->list.v[i].g,
				   .number = e->members->list.v[i].ordinal,
				   .replay = past ? pm_replay_secret(past, i) : NULL };

		if (e->stored_only && !have[i])
			continue;
		if (!have[i])
			st = pm_eval_member(so, &m, &r->opts, &r->rec[i], err);
		if (!st && !have[i] && run)
			st = store(e, run, i, &r->rec[i], err);
		have[i] = have[i] || !st;
		if (e->bar)
			pm_progress_step(e->bar, m.label);
	}
	return st;
}

/* A pass that is right nowhere has nothing to lose on other shapes. */
static int any_right(const PmEvalReport *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->rec[i].verdict == PM_VERDICT_OK)
			return 1;
	return 0;
}

static size_t count_algebraic(const PmMembers *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->list.n; i++)
		n += (size_t)pm_cli_is_algebraic(m->list.v[i].g);
	return n;
}

/* The records, and what becomes of the pass on hidden shapes. `past`: what a report drew, or NULL. */
static PmStatus eval_members(const PmEvalTask *e, const char *so, const cJSON *past, char *has,
			     PmEvalReport *r, PmErr *err)
{
	Stored stored = { e, r, has };
	int64_t run = 0;
	PmStatus st = PM_OK;

	if (e->db && e->members->task && !past) {
		st = open_run(e, r, &run, err);
		if (!st)
			st = pm_results_each(e->db, run, take_stored, &stored, err);
	}
	if (!st)
		st = eval_missing(e, so, run, past, has, r, err);
	if (!st && !e->stored_only && e->hidden && e->opts.preset == PM_PRESET_SOUND && any_right(r) &&
	    (!past || pm_replay_hidden(past)))
		st = pm_hidden_check(so, e->members, &r->opts, e->hidden,
				     past ? pm_replay_hidden(past) : NULL, r, err);
	if (!st && run && !e->stored_only)
		st = pm_run_finish(e->db, run, err);
	return st;
}

PmStatus pm_eval_task(const PmEvalTask *e, const char *so, PmEvalReport *r, char *have, PmErr *err)
{
	char *has = pm_xcalloc(e->members->list.n + 1, 1);
	PmSecret *drawn = e->opts.secret ? NULL : pm_secret_draw();
	const cJSON *past = NULL;
	PmStatus st = pm_eval_report_begin(r, so, e->members->list.n, &e->opts, err);

	if (drawn)
		r->opts.secret = drawn;
	if (!st && e->replay)
		st = pm_replay_find(e->replay, r, e->members, &past, err);
	if (!st)
		st = eval_members(e, so, past, has, r, err);
	if (!st && past) {
		r->replayed = 1;
		r->n_agree = pm_replay_agrees(past, r);
	}
	r->opts.secret = NULL;
	pm_secret_free(drawn);
	r->n_algebraic = count_algebraic(e->members);
	if (!st)
		st = pm_eval_score(r, err);
	if (have)
		memcpy(have, has, e->members->list.n);
	free(has);
	return st;
}
