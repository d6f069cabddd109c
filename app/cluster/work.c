/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - a worker: claims, heartbeats, and items in processes of their own. */
#include "app/cluster/work.h"

#include "app/cluster/claims.h"
#include "app/cluster/item.h"
#include "app/cluster/items.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "base/sys/proc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const double beat_seconds = 5; /* between two heartbeats, and at most a quarter of the lease */

typedef struct Worker {
	const PmClusterWork *w;
	PmClusterWorked *out;
	char name[PM_CLUSTER_WORKER];
	PmWorkerSays says;
	PmStr local;
	PmItemProgress *progress;
	double next_beat; /* on pm_now()'s clock */
	size_t shard;
	int lost;       /* the shard is another worker's */
	unsigned tries; /* of all items, to tell them apart */
} Worker;

static void say(const Worker *k, const char *fmt, ...) PM_PRINTF(2, 3);

static void say(const Worker *k, const char *fmt, ...)
{
	char text[PM_ERR_MAX];
	va_list ap;

	if (!k->w->said)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	k->w->said(k->w->arg, text);
}

/* ---- while an item is evaluated ---- */

static void beat(Worker *k)
{
	const PmClusterPlan *p = k->w->plan;
	double every = p->opts.lease / 4 < beat_seconds ? p->opts.lease / 4 : beat_seconds;

	k->lost |= !pm_claim_touch(p->dir, k->name, k->shard);
	k->says.done = atomic_load(&k->progress->done);
	k->says.total = atomic_load(&k->progress->total);
	(void)pm_worker_say(p->dir, k->name, &k->says, NULL); /* for those who look, and not for the work */
	k->next_beat = pm_now() + every;
}

/* One item in its process. */
typedef struct Try {
	Worker *k;
	PmItemWork work;
	PmSecret *secret;
	PmPoolEnd end;
	PmItemEnd result;
	PmStatus status; /* of the evaluation */
	char why[PM_ERR_MAX];
} Try;

typedef struct Shared {
	PmItemEnd end;
	PmStatus status;
	char why[PM_ERR_MAX];
} Shared;

static void tick(void *arg)
{
	Try *t = arg;

	if (pm_now() >= t->k->next_beat)
		beat(t->k);
}

static int is_over(void *arg)
{
	const Try *t = arg;

	return *t->k->w->stop || t->k->lost;
}

static void lend(const Try *t, int on)
{
	pm_secret_lend(t->secret, on);
	pm_secret_lend(t->work.plan->secret, on);
}

/* What the process starts in its turn may run a stranger's code: it gets no secret, and nothing that is
 * shared. */
static PmStatus start(void *arg, int worker, PmErr *err)
{
	const Try *t = arg;
	const int asked[] = { SIGUSR1, SIGTERM, SIGINT };

	(void)worker;
	(void)err;
	lend(t, 0);
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
		signal(asked[i], SIG_DFL);
	if (madvise(t->work.progress, sizeof *t->work.progress, MADV_DONTFORK))
		PM_BUG("the system does not say who inherits a page");
	return PM_OK;
}

static PmStatus work(void *arg, size_t i, void *result, PmErr *err)
{
	Try *t = arg;
	Shared *s = result;

	(void)i;
	pm_err_init(err);
	s->status = pm_item_evaluate(&t->work, &s->end, err);
	snprintf(s->why, sizeof s->why, "%s", s->status ? err->text : s->end.why);
	return PM_OK;
}

static PmStatus done(void *arg, size_t i, PmPoolEnd end, const void *result, PmErr *err)
{
	Try *t = arg;
	Shared s;

	(void)i;
	(void)err;
	memcpy(&s, result, sizeof s);
	t->end = end;
	t->result = s.end;
	t->status = s.status;
	snprintf(t->why, sizeof t->why, "%s",
		 end == PM_POOL_DIED ? "The process that evaluated it was ended from outside." : s.why);
	return PM_OK;
}

/* PM_DECLINED when the worker is to stop, or lost the shard. */
static PmStatus run_item(Try *t, PmErr *err)
{
	PmPool pool = { .n_items = 1,
			.result_size = sizeof(Shared),
			.jobs = 1,
			.start = start,
			.work = work,
			.done = done,
			.arg = t };
	PmEvalOpts opts = *t->work.opts;
	PmStatus st;

	t->secret = pm_cluster_item_secret(t->work.plan, t->work.item);
	opts.secret = t->secret;
	t->work.opts = &opts;
	lend(t, 1);
	st = pm_pool_run_until(&pool, tick, is_over, err);
	lend(t, 0);
	pm_secret_free(t->secret);
	return st;
}

/* ---- items ---- */

static void say_item(const Worker *k, size_t item, const char *what, const char *why)
{
	const PmClusterPlan *p = k->w->plan;
	const PmClusterItem *it = &p->item.v[item];

	say(k, "Item %zu (%s on %s) %s%s%s", item, pm_path_base(p->pass.v[it->pass].path),
	    p->task.v[it->task].name, what, *why ? ": " : ".", why);
}

/* After one try: its mark goes, or says why it came to nothing. */
static PmStatus settle(Worker *k, Try *t, unsigned n, PmErr *err)
{
	const PmClusterPlan *p = k->w->plan;
	size_t item = t->work.item;
	PmStatus st = t->status;

	if (t->end == PM_POOL_DONE && st && t->result.folder) {
		pm_item_untry(p, item, k->name, n);
		return pm_err(err, st, "%s", t->why);
	}
	if (t->end == PM_POOL_DONE && t->result.done) {
		k->out->items++;
		say_item(k, item, "is finished", "");
		return PM_OK;
	}
	say_item(k, item, "came to nothing", t->why);
	return pm_item_try(p, item, k->name, n, t->why, t->end == PM_POOL_DONE && t->result.not_judged, err);
}

static PmStatus try_item(Worker *k, size_t item, int unjudged, PmErr *err)
{
	const PmClusterPlan *p = k->w->plan;
	Try t = { .k = k,
		  .work = { .plan = p,
			    .item = item,
			    .worker = k->name,
			    .local = k->local.s,
			    .opts = &k->w->opts,
			    .jobs = k->w->jobs,
			    .last = unjudged + 1 >= PM_CLUSTER_TRIES,
			    .progress = k->progress } };
	unsigned n = k->tries++;
	PmStatus st;

	atomic_store(&k->progress->done, 0);
	atomic_store(&k->progress->total, 0);
	atomic_store(&k->progress->evaluated, 0);
	k->says.item = (int64_t)item;
	beat(k);
	if (is_over(&t))
		return PM_DECLINED;
	st = pm_item_try(p, item, k->name, n, NULL, 0, err);
	if (!st)
		st = run_item(&t, err);
	k->out->variants += atomic_load(&k->progress->evaluated);
	if (st) {
		pm_item_untry(p, item, k->name, n);
		return st;
	}
	return settle(k, &t, n, err);
}

/* Until the item is finished, or is left. */
static PmStatus do_item(Worker *k, size_t item, PmErr *err)
{
	const PmClusterPlan *p = k->w->plan;
	PmStr why = PM_STR_INIT;
	PmStatus st = PM_OK;

	while (!st && !pm_item_is_done(p, item)) {
		int unjudged, tries = pm_item_tries(p, item, &unjudged, &why);

		if (tries >= PM_CLUSTER_TRIES) {
			k->out->failed++;
			say_item(k, item, "is left, since it came to nothing three times", why.s);
			break;
		}
		st = try_item(k, item, unjudged, err);
	}
	pm_str_release(&why);
	return st;
}

/* ---- shards ---- */

static PmStatus do_shard(Worker *k, size_t shard, PmErr *err)
{
	const PmClusterPlan *p = k->w->plan;
	const PmClusterShard *s = &p->shard.v[shard];
	PmStatus st = PM_OK;

	k->shard = shard;
	k->lost = 0;
	k->says.shard = (int64_t)shard;
	for (size_t i = 0; i < s->item.n && !st; i++)
		st = do_item(k, s->item.v[i], err);
	k->says.shard = k->says.item = -1;
	if (!st) {
		k->out->shards++;
		return pm_claim_finish(p->dir, k->name, shard, err);
	}
	if (k->lost) {
		k->out->lost++;
		say(k,
		    "Shard %zu was taken by another worker, since this one had not been heard of; it goes on "
		    "with "
		    "the next.",
		    shard);
	}
	(void)pm_claim_give_back(p->dir, k->name, shard, NULL); /* the error is more important */
	return st;
}

/* 1 when the worker that has the shard cannot come back to it. */
static int is_abandoned(const Worker *k, const PmShardClaim *c)
{
	PmWorkerSays says;

	if (c->state != PM_CLAIM_RUNNING || !strcmp(c->worker, k->name))
		return 0;
	if (c->age > k->w->plan->opts.lease)
		return 1;
	return !pm_worker_read(k->w->plan->dir, c->worker, &says, NULL) && pm_worker_is_gone(&says, &k->says);
}

static PmStatus take_from(const Worker *k, const PmShardClaim *c, size_t shard, int *got, PmErr *err)
{
	const char *dir = k->w->plan->dir;
	PmStatus st = pm_claim_give_back(dir, c->worker, shard, err);

	if (st)
		return st;
	pm_worker_forget(dir, c->worker);
	say(k, "Shard %zu is taken from worker %s, which has ended or was silent for %.0f s.", shard,
	    c->worker, c->age);
	return pm_claim_take(dir, k->name, shard, got, err);
}

/* A shard of a worker that has ended. *shard is the number of shards when there is none. */
static PmStatus take_abandoned(const Worker *k, size_t *shard, PmErr *err)
{
	const PmClusterPlan *p = k->w->plan;
	PmShardClaim *claim = pm_xcalloc(p->shard.n + 1, sizeof *claim);
	PmStatus st = pm_claims_read(p->dir, p->shard.n, claim, err);
	int got = 0;

	*shard = p->shard.n;
	for (size_t i = 0; i < p->shard.n && !st && !got; i++) {
		if (is_abandoned(k, &claim[i]))
			st = take_from(k, &claim[i], i, &got, err);
		if (got)
			*shard = i;
	}
	free(claim);
	return st;
}

static PmStatus any_shard(Worker *k, PmErr *err)
{
	size_t n = k->w->plan->shard.n, shard;
	PmStatus st = PM_OK;

	while (!st && !*k->w->stop) {
		st = pm_claim_take_any(k->w->plan->dir, k->name, n, &shard, err);
		if (!st && shard == n)
			st = take_abandoned(k, &shard, err);
		if (st || shard == n)
			break;
		st = do_shard(k, shard, err);
		if (st == PM_DECLINED && k->lost)
			st = PM_OK;
		if (k->w->once)
			break;
	}
	return st;
}

/* All items of the shard have a result, or are left. */
static int is_at_end(const PmClusterPlan *p, size_t shard)
{
	const PmClusterShard *s = &p->shard.v[shard];

	for (size_t i = 0; i < s->item.n; i++)
		if (!pm_item_is_done(p, s->item.v[i]) &&
		    pm_item_tries(p, s->item.v[i], NULL, NULL) < PM_CLUSTER_TRIES)
			return 0;
	return 1;
}

/* This shard alone, as an element of an array does: waits while another worker has it and may live. */
static PmStatus this_shard(Worker *k, size_t shard, PmErr *err)
{
	const struct timespec nap = { 0, 200 * 1000 * 1000 };
	const PmClusterPlan *p = k->w->plan;
	PmShardClaim *claim = pm_xcalloc(p->shard.n + 1, sizeof *claim);
	int got = 0, waits = 0;
	PmStatus st = PM_OK;

	while (!st && !got && !*k->w->stop) {
		const PmShardClaim *c = &claim[shard];

		st = pm_claims_read(p->dir, p->shard.n, claim, err);
		if (st)
			break;
		if (c->state != PM_CLAIM_RUNNING && is_at_end(p, shard)) {
			/* Another worker may have been killed after the last result. */
			if (c->state == PM_CLAIM_PENDING)
				st = pm_claim_settle(p->dir, shard, err);
			break;
		}
		if (c->state == PM_CLAIM_DONE || c->state == PM_CLAIM_NONE)
			st = pm_claim_reopen(p->dir, shard, err);
		else if (c->state == PM_CLAIM_PENDING)
			st = pm_claim_take(p->dir, k->name, shard, &got, err);
		else if (is_abandoned(k, c))
			st = take_from(k, c, shard, &got, err);
		else if (!waits++)
			say(k,
			    "Shard %zu is worker %s's, which is waited for until it is finished or silent "
			    "for %g s.",
			    shard, c->worker, p->opts.lease);
		if (!st && !got)
			nanosleep(&nap, NULL);
	}
	free(claim);
	return st || !got ? st : do_shard(k, shard, err);
}

/* ---- the worker ---- */

void pm_cluster_eval_opts(const PmClusterPlan *p, PmEvalOpts *o)
{
	*o = (PmEvalOpts){ .device = p->opts.device,
			   .profile = p->opts.profile,
			   .preset = strcmp(p->opts.preset, "passnet") ? PM_PRESET_SOUND : PM_PRESET_PASSNET,
			   .seed = (uint64_t)p->opts.seed,
			   .deadline = p->opts.deadline,
			   .reference_on_gpu = !strcmp(p->opts.reference, "auto"),
			   .confirm_above = p->opts.confirm ? 1 : 0,
			   .require_sandbox = !p->opts.weak,
			   .graphs = p->opts.graphs };
	(void)pm_tier_from_name(p->opts.precision, &o->tier);
}

/* The tasks on a disk of this machine, checked. */
static PmStatus fetch_tasks(const Worker *k, PmErr *err)
{
	PmStr from = PM_STR_INIT, to = PM_STR_INIT;
	char sha256[PM_SHA256_HEX];
	PmMap map;
	PmStatus st;

	pm_cluster_path(k->w->plan->dir, NULL, "tasks.db", &from);
	pm_cluster_path(k->local.s, NULL, "tasks.db", &to);
	st = pm_map_file(from.s, &map, err);
	if (!st) {
		pm_sha256_hex(map.p, map.n, sha256);
		if (strcmp(sha256, k->w->plan->tasks_sha256))
			st = pm_err(err, PM_E_INVALID,
				    "%s is damaged; make the plan again in another folder.", from.s);
		else
			st = pm_write_file(to.s, map.p, map.n, err);
		pm_unmap(&map);
	}
	pm_str_release(&from);
	pm_str_release(&to);
	return st;
}

static PmStatus begin(Worker *k, PmErr *err)
{
	PmStatus st;

	pm_cluster_worker_name(k->name);
	pm_worker_self(&k->says);
	k->progress = mmap(NULL, sizeof *k->progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			   0);
	if (k->progress == MAP_FAILED)
		return pm_err(err, PM_E_ENV, "There is no memory to share with the processes that evaluate.");
	st = pm_temp_dir("cluster", &k->local, err);
	if (!st)
		st = fetch_tasks(k, err);
	/* Before it takes anything: others ask who it is. */
	return st ? st : pm_worker_say(k->w->plan->dir, k->name, &k->says, err);
}

PmStatus pm_cluster_work(const PmClusterWork *w, PmClusterWorked *out, PmErr *err)
{
	Worker k = { .w = w, .out = out, .local = PM_STR_INIT };
	PmStatus st;

	memset(out, 0, sizeof *out);
	st = begin(&k, err);
	if (!st)
		st = w->shard >= 0 ? this_shard(&k, (size_t)w->shard, err) : any_shard(&k, err);
	out->stopped = *w->stop != 0;
	if (st == PM_DECLINED) /* stopped, or the one shard is another worker's now */
		st = PM_OK;
	pm_worker_forget(w->plan->dir, k.name);
	if (k.local.len)
		(void)pm_remove_tree(k.local.s, NULL);
	pm_str_release(&k.local);
	if (k.progress != MAP_FAILED)
		munmap(k.progress, sizeof *k.progress);
	return st;
}
