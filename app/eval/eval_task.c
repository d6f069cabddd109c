/* SPDX-License-Identifier: Apache-2.0 */
/* eval_task.c - one pass on the variants of a task, resuming what a database holds. */
#include "app/eval/eval_task.h"

#include "app/eval/eval_pool.h"
#include "app/eval/heartbeat.h"
#include "app/eval/origin.h"
#include "app/model/algebra.h"
#include "base/core/version.h"
#include "base/sys/proc.h"
#include "bench/eval/run_key.h"
#include "bench/report/report.h"
#include "dataset/store/results.h"
#include "dataset/store/rewrites.h"
#include "runtime/device/device.h"
#include "runtime/worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Stored {
	const PmEvalTask *e;
	PmEvalReport *r;
	char *have; /* by position in the variant list */
} Stored;

/* The run of the database that results are read from and stored in; all 0 where none is kept. */
typedef struct Kept {
	PmStr machine, options;
	const char *ranking; /* of runs that count; NULL = all */
	PmRunRow row;
	int64_t id;      /* 0 = not in the database yet */
	int has_hidden;  /* what became of the pass on hidden shapes is in the report */
	PmEvalReport *r; /* that takes it */
} Kept;

static PmStatus take_stored(void *arg, const PmResultRow *row, PmErr *err)
{
	Stored *s = arg;
	cJSON *j = NULL;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < s->r->n && !st; i++) {
		if (s->e->variants->list.v[i].ordinal != row->ordinal || s->have[i])
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

static void begin_kept(const PmEvalTask *e, PmEvalReport *r, Kept *k)
{
	PmOrigin origin;

	memset(k, 0, sizeof *k);
	pm_str_init(&k->machine);
	pm_str_init(&k->options);
	pm_run_key_here(e->opts.device, r->sandbox_lacks, &k->machine);
	pm_origin_here(e->opts.device, &origin);
	pm_db_set_origin(e->db, &origin);
	pm_run_key_options(&e->opts, e->preset, e->tf32, e->hidden, &k->options);
	r->opts.keep_rewritten = 1;
	k->r = r;
	k->ranking = e->any_machine ? e->ranking : NULL;
	k->row = (PmRunRow){ .task = e->variants->task,
			     .pass_path = e->pass_path ? e->pass_path : r->pass,
			     .pass_sha256 = r->sha256,
			     .device = e->opts.device,
			     .seed = e->opts.seed,
			     .version = PM_VERSION,
			     .options = k->options.s,
			     .machine = k->machine.s };
}

static void end_kept(Kept *k)
{
	pm_str_release(&k->machine);
	pm_str_release(&k->options);
}

/* Times of two drivers or settings of clocks are not in one table. */
static int is_of_ranking(const Kept *k, const char *machine)
{
	PmStr ranking = PM_STR_INIT;
	int is;

	if (!k->ranking)
		return 1;
	pm_run_key_ranking(machine, &ranking);
	is = !strcmp(ranking.s, k->ranking);
	pm_str_release(&ranking);
	return is;
}

/* For a table of what is stored: the run of this machine, or else the last of any. */
static PmStatus take_any_machine(void *arg, const PmRunRow *row, PmErr *err)
{
	Kept *k = arg;
	const PmRunRow *w = &k->row;

	(void)err;
	if (pm_run_row_is_like(row, w) && is_of_ranking(k, row->machine))
		k->id = row->id;
	return PM_OK;
}

static PmStatus take_hidden(void *arg, const PmRunRow *row, PmErr *err)
{
	Kept *k = arg;
	cJSON *j = NULL;
	PmStatus st;

	if (row->id != k->id || !*row->hidden)
		return PM_OK;
	st = pm_json_parse(row->hidden_json, strlen(row->hidden_json), &j, err);
	if (!st)
		st = pm_eval_hidden_from_json(j, &k->r->hidden, err);
	k->has_hidden = !st;
	cJSON_Delete(j);
	return st;
}

/* What the database has. A run that is not there is stored with its first result. */
static PmStatus read_kept(const PmEvalTask *e, Kept *k, Stored *stored, PmErr *err)
{
	PmStatus st = is_of_ranking(k, k->row.machine) ? pm_run_find(e->db, &k->row, &k->id, err) : PM_OK;

	if (!st && !k->id && e->stored_only && e->any_machine)
		st = pm_runs_each(e->db, k->row.task, take_any_machine, k, err);
	if (!st && k->id)
		st = pm_results_each(e->db, k->id, take_stored, stored, err);
	if (!st && k->id)
		st = pm_runs_each(e->db, k->row.task, take_hidden, k, err);
	return st;
}

/* What the pass made of a variant: *id, 0 where it made nothing. */
static PmStatus store_rewritten(PmDb *db, int64_t run, const char *text, int64_t *id, PmErr *err)
{
	PM_VEC(const char *) sources = { 0 };
	const cJSON *s;
	cJSON *j = NULL;
	PmRewriteRow row = { 0 };
	PmStatus st;

	*id = 0;
	if (!text)
		return PM_OK;
	st = pm_json_parse(text, strlen(text), &j, err);
	row.code = pm_json_str(j, "code", "");
	row.text = pm_json_str(j, "text", "");
	cJSON_ArrayForEach(s, cJSON_GetObjectItem(j, "sources")) PM_VEC_PUSH(&sources, s->valuestring);
	if (!st)
		st = pm_rewrite_put(db, run, &row, sources.v, sources.n, id, err);
	PM_VEC_RELEASE(&sources);
	cJSON_Delete(j);
	return st;
}

/* Both, or neither. */
static PmStatus put_result(PmDb *db, const char *rewritten, PmResultRow *row, PmErr *err)
{
	PmStatus st = pm_db_begin(db, err);

	if (st)
		return st;
	st = store_rewritten(db, row->run, rewritten, &row->rewrite, err);
	if (!st)
		st = pm_result_put(db, row, NULL, err);
	if (!st)
		return pm_db_commit(db, err);
	pm_db_rollback(db);
	return st;
}

static PmStatus store(const PmEvalTask *e, Kept *k, size_t i, const PmEvalRecord *rec, PmErr *err)
{
	cJSON *j = pm_eval_record_json(rec);
	PmStr text = PM_STR_INIT;
	PmResultRow row = { .task = e->variants->task,
			    .ordinal = e->variants->list.v[i].ordinal,
			    .verdict = pm_verdict_name(rec->verdict),
			    .stage = pm_eval_stage(rec),
			    .speedup = rec->speedup };
	PmStatus st = k->id ? PM_OK : pm_run_put(e->db, &k->row, &k->id, NULL, err);

	pm_json_print(j, 0, &text);
	row.json = text.s;
	row.run = k->id;
	if (!st)
		st = put_result(e->db, rec->rewritten, &row, err);
	cJSON_Delete(j);
	pm_str_release(&text);
	return st;
}

static PmStatus store_hidden(const PmEvalTask *e, const Kept *k, PmErr *err)
{
	const PmEvalHidden *h = &k->r->hidden;
	cJSON *j = pm_eval_hidden_json(h);
	PmStr text = PM_STR_INIT;
	PmStatus st;

	pm_json_print(j, 0, &text);
	st = pm_run_set_hidden(e->db, k->id, pm_verdict_name(h->verdict), text.s, err);
	cJSON_Delete(j);
	pm_str_release(&text);
	return st;
}

/* Drops the records from n on. */
static void cut(PmEvalReport *r, size_t n)
{
	for (size_t i = n; i < r->n; i++)
		pm_eval_record_release(&r->rec[i]);
	r->n_left_out += r->n - n;
	r->n = n;
}

/* A pass that is right nowhere has nothing to lose on other shapes. */
static int any_right(const PmEvalReport *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->rec[i].verdict == PM_VERDICT_OK)
			return 1;
	return 0;
}

static int any_failing(const PmEvalReport *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (pm_is_failing(r->rec[i].verdict))
			return 1;
	return 0;
}

static size_t count_algebraic(const PmVariantList *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->list.n; i++)
		n += (size_t)pm_cli_is_algebraic(m->list.v[i].g);
	return n;
}

/* Whether hidden shapes are to be drawn now, or replayed: as far as it is known before, */
static int may_want_hidden(const PmEvalTask *e, const cJSON *past)
{
	return !e->stored_only && e->hidden && e->opts.preset == PM_PRESET_SOUND &&
	       (!past || pm_replay_hidden(past));
}

/* and when all variants have their records. */
static int wants_hidden(const PmEvalTask *e, const cJSON *past, const PmEvalReport *r)
{
	return may_want_hidden(e, past) && !(e->fail_fast && any_failing(r)) && any_right(r);
}

/* ---- evaluating ---- */

/* One pass on its way through a task. Variants are settled in their order, and hidden shapes after them,
 * however many are evaluated at once. */
typedef struct Way {
	const PmEvalTask *e;
	const char *so;
	const cJSON *past; /* what a report drew, or NULL */
	Kept *kept;        /* where it is stored, or NULL */
	char *has;         /* by variant: there is a record */
	PmEvalReport *r;
	size_t settled; /* variants */
	PM_VEC(PmEvalItem) item;
	PM_VEC(size_t) of; /* items of variants: their positions; hidden shapes come behind them */
	PmHidden hidden;
	PmHeartbeat heart;
	int draw; /* hidden shapes are wanted; known when all variants are settled */
} Way;

/* Variant `settled` has its record, if it is to have one. PM_DECLINED when it is the last that counts. */
static PmStatus settle(Way *w, PmErr *err)
{
	const PmEvalTask *e = w->e;
	size_t i = w->settled++;
	const PmTaskVariant *m = &e->variants->list.v[i];
	PmStatus st;

	if (!w->has[i])
		return PM_OK;
	st = pm_failing_save(e->save, m->g, w->r, &w->r->rec[i], err);
	if (e->step)
		e->step(e->step_arg, m->label);
	if (st || !e->fail_fast || !pm_is_failing(w->r->rec[i].verdict))
		return st;
	cut(w->r, i + 1);
	return PM_DECLINED;
}

/* Those before position `end`, which all have what they will have. */
static PmStatus settle_to(Way *w, size_t end, PmErr *err)
{
	PmStatus st = PM_OK;

	while (!st && w->settled < end)
		st = settle(w, err);
	return st;
}

/* A record is kept as soon as it comes, so that who is killed loses no finished variant that waits for one
 * before it; in order where it may yet turn out not to count. */
static int keeps_at_once(const Way *w)
{
	return !w->e->accept && !w->e->fail_fast;
}

/* What the harness could not judge is tried again next time. */
static PmStatus keep(Way *w, size_t i, const PmEvalRecord *rec, PmErr *err)
{
	PmStatus st = PM_OK;

	if (w->kept && rec->verdict != PM_VERDICT_HARNESS_FAIL)
		st = store(w->e, w->kept, i, rec, err);
	if (!st && w->e->evaluated)
		w->e->evaluated(w->e->step_arg);
	return st;
}

static PmStatus take_variant(Way *w, size_t i, PmEvalRecord *rec, PmErr *err)
{
	PmStatus st = settle_to(w, i, err);

	w->r->rec[i] = *rec;
	if (!st && !keeps_at_once(w))
		st = keep(w, i, rec, err);
	w->has[i] = !st;
	return st ? st : settle(w, err);
}

static PmStatus take(void *arg, size_t item, PmEvalRecord *rec, PmErr *err)
{
	Way *w = arg;
	PmStatus st = w->e->accept ? w->e->accept(w->e->accept_arg, rec, err) : PM_OK;

	if (st) {
		pm_eval_record_release(rec);
		return st;
	}
	if (item >= w->of.n) {
		st = pm_hidden_take(&w->hidden, item - w->of.n, rec, w->e->save, w->r, err);
		pm_eval_record_release(rec);
		return st;
	}
	st = take_variant(w, w->of.v[item], rec, err);
	if (st || item + 1 < w->of.n)
		return st;
	st = settle_to(w, w->r->n, err);
	w->draw = !st && wants_hidden(w->e, w->past, w->r);
	return st || w->draw ? st : PM_DECLINED;
}

static PmStatus came(void *arg, size_t item, const PmEvalRecord *rec, PmErr *err)
{
	Way *w = arg;
	size_t i;
	PmStatus st;

	if (item >= w->of.n)
		return PM_OK;
	i = w->of.v[item];
	pm_heartbeat_step(&w->heart);
	st = keeps_at_once(w) ? keep(w, i, rec, err) : PM_OK;
	return st ? st : pm_events_variant(w->e->events, w->e->variants->list.v[i].ordinal, rec, 0, err);
}

static void tick(void *arg)
{
	Way *w = arg;

	pm_heartbeat_tick(&w->heart);
}

/* Those who look at the database see it from now on. */
static void begin_heart(Way *w)
{
	PmRunningRow row = { .parent = w->e->command,
			     .task = w->kept->row.task,
			     .pass_path = w->so,
			     .device = w->e->opts.device,
			     .stage = "variants",
			     .total = (int64_t)w->r->n };

	for (size_t i = 0; i < w->r->n; i++)
		row.done += w->has[i];
	pm_heartbeat_begin(&w->heart, w->e->db, &row);
}

/* What the database had. */
static PmStatus tell_stored(const Way *w, PmErr *err)
{
	PmStatus st = pm_events_begin(w->e->events, w->so, w->r->n, err);

	for (size_t i = 0; i < w->r->n && !st; i++)
		if (w->has[i])
			st = pm_events_variant(w->e->events, w->e->variants->list.v[i].ordinal, &w->r->rec[i],
					       1, err);
	return st;
}

static int is_timed(const PmEvalOpts *o)
{
	return !o->check_only && pm_device_kind(o->device) == PM_DEVICE_CUDA;
}

static PmStatus begin_hidden(Way *w, PmErr *err)
{
	PmStatus st = pm_hidden_begin(&w->hidden, w->e->variants, &w->r->opts, w->e->hidden,
				      w->past ? pm_replay_hidden(w->past) : NULL, err);

	w->hidden.accept = w->e->accept;
	w->hidden.accept_arg = w->e->accept_arg;
	return st;
}

/* Where there are processes enough, hidden shapes are evaluated beside the last variants, before it is known
 * whether they are wanted: then what became of them counts for nothing. */
static PmStatus add_hidden(Way *w, int n, PmErr *err)
{
	PmStatus st = begin_hidden(w, err);

	if (!st)
		st = pm_hidden_draw(&w->hidden, n, err);
	for (size_t i = 0; i < w->hidden.shapes.list.n && !st; i++)
		PM_VEC_PUSH(&w->item, ((PmEvalItem){ pm_hidden_variant(&w->hidden, i), &w->hidden.opts }));
	return st;
}

static void add_variants(Way *w)
{
	for (size_t i = 0; i < w->r->n; i++) {
		const PmTaskVariant *m = &w->e->variants->list.v[i];
		PmEvalVariant v = { .label = m->label,
				    .g = m->g,
				    .number = m->ordinal,
				    .replay = w->past ? pm_replay_secret(w->past, i) : NULL };

		if (w->has[i] || w->e->stored_only)
			continue;
		PM_VEC_PUSH(&w->item, ((PmEvalItem){ v, &w->r->opts }));
		PM_VEC_PUSH(&w->of, i);
	}
}

/* All of a kind that is evaluated is large. */
static int all_large(const Way *w)
{
	for (size_t k = 0; k < w->of.n; k++)
		if (!pm_hidden_is_smaller(w->e->variants->list.v[w->of.v[k]].g))
			return 0;
	return 1;
}

/* Variants that have no record, and hidden shapes beside them. A mistake is found soonest where least is to
 * be computed: where all variants are large, on a hidden shape, which comes first. Else a clock comes first:
 * a GPU opens for one process after the other, and each that leaves it takes a while, so that hidden shapes
 * would hold up what is timed. */
static PmStatus eval_missing(Way *w, int jobs, PmErr *err)
{
	PmEvalPool pool = { .so = w->so, .take = take, .came = came, .arg = w };
	int share, large;
	PmStatus st = PM_OK;

	if (w->heart.db)
		pool.tick = tick;
	add_variants(w);
	large = all_large(w);
	/* Nothing else runs beside a clock. One variant waits with its own until hidden shapes are done, or
	 * they wait for it. */
	share = jobs > 1 && (!is_timed(&w->r->opts) || (w->r->opts.lock && w->of.n == 1));
	if (share && is_timed(&w->r->opts) && !large)
		st = pm_rwlock_new(&w->r->opts.turn, err);
	pool.jobs = share ? jobs : 1;
	if (!st && (share || large) && w->of.n && may_want_hidden(w->e, w->past) &&
	    !(w->kept && w->kept->has_hidden))
		st = add_hidden(w, share ? w->e->hidden : 1, err);
	pool.item = w->item.v;
	pool.n = w->item.n;
	if (large && w->item.n > w->of.n)
		pool.first = w->of.n;
	if (!st)
		st = pm_eval_pool(&pool, err);
	return st;
}

/* The records, and what becomes of the pass on hidden shapes. */
static PmStatus eval_members(Way *w, int jobs, PmErr *err)
{
	const PmEvalTask *e = w->e;
	Stored stored = { e, w->r, w->has };
	Kept *kept = w->kept;
	PmStatus st = kept ? read_kept(e, kept, &stored, err) : PM_OK;

	w->r->n_left_out = e->n_unselected;
	if (w->past && pm_replay_n(w->past) < w->r->n)
		cut(w->r, pm_replay_n(w->past));
	if (!st)
		st = tell_stored(w, err);
	if (!st && kept && !e->stored_only)
		begin_heart(w);
	if (!st)
		st = eval_missing(w, jobs, err);
	if (!st && (st = settle_to(w, w->r->n, err)) == PM_DECLINED)
		st = PM_OK;
	if (!st)
		w->draw = wants_hidden(e, w->past, w->r) && !(kept && kept->has_hidden);
	if (!st && w->draw && !w->hidden.secret)
		st = begin_hidden(w, err);
	if (!st && w->draw && w->heart.db) {
		pm_heartbeat_stage(&w->heart, "hidden shapes", w->r->hidden.n, e->hidden);
		w->hidden.tick = pm_heartbeat_tick;
		w->hidden.tick_arg = &w->heart;
	}
	if (!st && w->draw)
		st = pm_hidden_check(&w->hidden, w->so, jobs, e->save, w->r, err);
	/* What a part saw is not what became of the whole. */
	if (!st && w->draw && kept && kept->id && !w->r->n_left_out)
		st = store_hidden(e, kept, err);
	if (!st && kept && kept->id && !e->stored_only && !w->r->n_left_out)
		st = pm_run_finish(e->db, kept->id, err);
	return st;
}

static PmStatus evaluate(const PmEvalTask *e, const char *so, const cJSON *past, Kept *kept, char *has,
			 PmEvalReport *r, PmErr *err)
{
	Way w = { .e = e, .so = so, .past = past, .kept = kept, .has = has, .r = r };
	double t0 = pm_now();
	PmStatus st;

	r->jobs = e->jobs > 1 && !r->printed ? e->jobs : 1; /* what is printed is kept in this process */
	st = eval_members(&w, r->jobs, err);
	r->wall_seconds = pm_now() - t0;
	pm_heartbeat_end(&w.heart);
	pm_hidden_release(&w.hidden);
	pm_rwlock_free(r->opts.turn);
	r->opts.turn = NULL;
	PM_VEC_RELEASE(&w.item);
	PM_VEC_RELEASE(&w.of);
	return st;
}

PmStatus pm_eval_task(const PmEvalTask *e, const char *so, PmEvalReport *r, char *have, PmErr *err)
{
	char *has = pm_xcalloc(e->variants->list.n + 1, 1);
	PmSecret *drawn = e->opts.secret ? NULL : pm_secret_draw();
	const cJSON *past = NULL;
	Kept kept = { .machine = PM_STR_INIT, .options = PM_STR_INIT };
	PmStatus st = pm_eval_report_begin(r, so, e->variants->list.n, &e->opts, err);

	if (drawn)
		r->opts.secret = drawn;
	if (e->save)
		e->save->pass = so;
	if (!st && e->replay)
		st = pm_replay_find(e->replay, r, e->variants, &past, err);
	if (!st && e->db && e->variants->task && !past)
		begin_kept(e, r, &kept);
	if (!st)
		st = evaluate(e, so, past, kept.row.task ? &kept : NULL, has, r, err);
	if (!st && past) {
		r->replayed = 1;
		r->n_agree = pm_replay_agrees(past, r);
	}
	r->opts.secret = NULL;
	pm_secret_free(drawn);
	r->n_algebraic = count_algebraic(e->variants);
	if (!st)
		st = pm_eval_score(r, err);
	if (have)
		memcpy(have, has, e->variants->list.n);
	free(has);
	if (e->run)
		*e->run = kept.id;
	end_kept(&kept);
	return st;
}
