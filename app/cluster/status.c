/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - how far a plan is, and shards that are to be taken again. */
#include "app/cluster/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 200 }; /* finished items whose times are read */

int pm_cluster_is_left(const PmItemState *s)
{
	return !s->done && s->tries >= PM_CLUSTER_TRIES;
}

void pm_cluster_status_release(PmClusterStatus *s)
{
	free(s->claim);
	free(s->item);
	PM_VEC_RELEASE(&s->worker);
	memset(s, 0, sizeof *s);
}

int pm_cluster_has_work(const PmClusterShard *s, const PmItemState *item)
{
	for (size_t i = 0; i < s->item.n; i++) {
		const PmItemState *it = &item[s->item.v[i]];

		if (!it->done && !pm_cluster_is_left(it))
			return 1;
	}
	return 0;
}

static void count_shards(const PmClusterPlan *p, PmClusterStatus *s)
{
	PmWorkerSays self;

	pm_worker_self(&self);
	for (size_t i = 0; i < p->shard.n; i++) {
		const PmShardClaim *c = &s->claim[i];
		PmClusterWorker w = { .shard = i, .age = c->age };

		int still = c->state == PM_CLAIM_PENDING || c->state == PM_CLAIM_NONE;
		int work = still && pm_cluster_has_work(&p->shard.v[i], s->item);

		s->pending += still && work;
		s->running += c->state == PM_CLAIM_RUNNING;
		s->done += c->state == PM_CLAIM_DONE || (still && !work);
		if (c->state != PM_CLAIM_RUNNING)
			continue;
		memcpy(w.name, c->worker, sizeof w.name);
		w.silent = c->age > p->opts.lease;
		if (!pm_worker_read(p->dir, c->worker, &w.says, NULL))
			w.silent |= pm_worker_is_gone(&w.says, &self);
		s->alive += !w.silent;
		PM_VEC_PUSH(&s->worker, w);
	}
}

static void count_items(const PmClusterPlan *p, PmClusterStatus *s)
{
	for (size_t i = 0; i < p->item.n; i++) {
		const PmItemState *it = &s->item[i];

		s->items_done += it->done;
		s->items_begun += it->partial > 0;
		s->items_failed += pm_cluster_is_left(it);
		if (!it->done && !pm_cluster_is_left(it))
			s->modelled_left += p->item.v[i].seconds;
	}
}

/* What finished items took over what the model says, evenly from all of them; NAN = none is finished. */
static double seen_over_modelled(const PmClusterPlan *p, const PmClusterStatus *s)
{
	size_t every = s->items_done / SAMPLES + 1, k = 0;
	double seen = 0, modelled = 0;
	PmStr path = PM_STR_INIT;

	for (size_t i = 0; i < p->item.n; i++) {
		double seconds;

		if (!s->item[i].done || k++ % every)
			continue;
		pm_str_clear(&path);
		pm_item_result_path(p, i, &path);
		seconds = pm_cluster_findings_seconds(path.s);
		if (isnan(seconds))
			continue;
		seen += seconds;
		modelled += p->item.v[i].seconds;
	}
	pm_str_release(&path);
	return modelled > 0 ? seen / modelled : NAN;
}

PmStatus pm_cluster_status_read(const PmClusterPlan *p, PmClusterStatus *out, PmErr *err)
{
	PmStatus st;

	memset(out, 0, sizeof *out);
	out->claim = pm_xcalloc(p->shard.n + 1, sizeof *out->claim);
	out->item = pm_xcalloc(p->item.n + 1, sizeof *out->item);
	st = pm_claims_read(p->dir, p->shard.n, out->claim, err);
	if (!st)
		st = pm_items_read(p, out->item, err);
	if (st)
		return st;
	count_shards(p, out);
	count_items(p, out);
	out->rest = out->modelled_left > 0
			    ? out->modelled_left * seen_over_modelled(p, out) / (double)out->alive
			    : 0;
	if (!isfinite(out->rest))
		out->rest = NAN;
	return PM_OK;
}

/* ---- resuming ---- */

/* The shard of a worker that is silent is pending. */
static PmStatus take_back(const PmClusterPlan *p, PmClusterStatus *s, PmClusterResumed *out, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < s->worker.n && !st; i++) {
		const PmClusterWorker *w = &s->worker.v[i];

		if (!w->silent)
			continue;
		st = pm_claim_give_back(p->dir, w->name, w->shard, err);
		pm_worker_forget(p->dir, w->name);
		s->claim[w->shard].state = PM_CLAIM_PENDING;
		out->taken_back++;
	}
	return st;
}

/* What is known of the items decides whether a shard is pending or done, when nobody has it. */
static PmStatus put_right(const PmClusterPlan *p, const PmClusterStatus *s, PmClusterResumed *out, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < p->shard.n && !st; i++) {
		PmClaimState state = s->claim[i].state;
		int work = pm_cluster_has_work(&p->shard.v[i], s->item);

		if (work && (state == PM_CLAIM_DONE || state == PM_CLAIM_NONE)) {
			st = pm_claim_reopen(p->dir, i, err);
			out->reopened++;
		} else if (!work && state == PM_CLAIM_PENDING) {
			st = pm_claim_settle(p->dir, i, err);
			out->settled++;
		}
	}
	return st;
}

PmStatus pm_cluster_resume(const PmClusterPlan *p, int retry, PmClusterResumed *out, PmErr *err)
{
	PmClusterStatus s;
	PmStatus st = pm_cluster_status_read(p, &s, err);

	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < p->item.n && !st && retry; i++)
		if (pm_cluster_is_left(&s.item[i])) {
			pm_item_forget_tries(p, i);
			s.item[i].tries = 0;
			out->retried++;
		}
	if (!st)
		st = take_back(p, &s, out, err);
	if (!st)
		st = put_right(p, &s, out, err);
	if (!st)
		st = pm_cluster_sweep(p->dir, p->opts.lease, &out->swept, err);
	pm_cluster_status_release(&s);
	return st;
}
