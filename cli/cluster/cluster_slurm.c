/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_slurm.c - passmith cluster submit and cancel, and what status and resume say of Slurm. */
#include "cli/cluster/cluster_slurm.h"

#include "app/cluster/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What n of the queue are: elements of the array, and the job that collects. */
static const char *elements(size_t n)
{
	return n == 1 ? "element or job" : "elements and jobs";
}

/* ---- submit, and resume of what was submitted ---- */

static PmStatus submit_missing(PmClusterCmd *c, PmSlurm *slurm, int beside, PmSlurmSubmitted *did,
			       size_t *missing, PmErr *err)
{
	PmClusterPlan plan = { 0 };
	PmItemState *item = NULL;
	int64_t *shards = NULL;
	PmStatus st = pm_cluster_plan_read(c->dir, &plan, err);

	*missing = 0;
	if (!st) {
		item = pm_xcalloc(plan.item.n + 1, sizeof *item);
		shards = pm_xcalloc(plan.shard.n + 1, sizeof *shards);
		st = pm_items_read(&plan, item, err);
	}
	for (size_t i = 0; i < plan.shard.n && !st; i++)
		if (pm_cluster_has_work(&plan.shard.v[i], item))
			shards[(*missing)++] = (int64_t)i;
	if (!st)
		st = pm_slurm_submit(slurm, shards, *missing, beside, did, err);
	free(item);
	free(shards);
	pm_cluster_plan_release(&plan);
	return st;
}

static cJSON *submitted_json(const PmSlurm *slurm, const PmSlurmSubmitted *did)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "name", slurm->name);
	pm_json_add_i64(j, "queued", (int64_t)did->queued);
	pm_json_add_i64(j, "submitted", (int64_t)did->elements);
	pm_json_add_i64(j, "arrays", (int64_t)did->arrays);
	pm_json_add_i64(j, "collect", did->collect);
	return j;
}

static void say_submitted(const PmSlurm *slurm, const PmSlurmSubmitted *did, size_t missing)
{
	if (did->elements)
		printf("Slurm: %zu element%s in %zu array%s %s submitted as %s; job %lld collects "
		       "afterwards\n",
		       did->elements, pm_plural(did->elements), did->arrays, pm_plural(did->arrays),
		       pm_is_or_are(did->elements), slurm->name, (long long)did->collect);
	else if (did->queued)
		printf("Slurm: nothing is submitted, since %zu element%s of %s %s queued already\n",
		       did->queued, pm_plural(did->queued), slurm->name, pm_is_or_are(did->queued));
	else if (!missing)
		printf("Slurm: nothing is submitted, since all shards are done\n");
}

PmStatus pm_cluster_verb_submit(PmClusterCmd *c, PmErr *err)
{
	PmSlurmSubmitted did = { 0 };
	PmSlurm slurm = { 0 };
	size_t missing = 0;
	PmStatus st = pm_slurm_open(c->dir, &slurm, err);

	pm_cli_stage("working");
	if (!st)
		st = submit_missing(c, &slurm, 0, &did, &missing, err);
	if (!st && !pm_cli_json)
		say_submitted(&slurm, &did, missing);
	else if (!st)
		pm_cli_put_json(submitted_json(&slurm, &did));
	pm_slurm_release(&slurm);
	return st;
}

/* Only for a plan whose jobs were submitted once: *out is NULL for others. */
PmStatus pm_cluster_slurm_resume(PmClusterCmd *c, cJSON **out, PmErr *err)
{
	PmSlurmSubmitted did = { 0 };
	PmSlurm slurm = { 0 };
	size_t missing = 0;
	PmStatus st = pm_slurm_open(c->dir, &slurm, err);

	*out = NULL;
	if (st == PM_E_NOT_FOUND) /* made without scripts for Slurm */
		st = PM_OK;
	if (!st && slurm.job.n) {
		st = submit_missing(c, &slurm, 1, &did, &missing, err);
		if (!st && !pm_cli_json)
			say_submitted(&slurm, &did, missing);
		if (!st)
			*out = submitted_json(&slurm, &did);
	}
	pm_slurm_release(&slurm);
	return st;
}

/* ---- cancel ---- */

PmStatus pm_cluster_verb_cancel(PmClusterCmd *c, PmErr *err)
{
	PmSlurm slurm = { 0 };
	size_t n = 0;
	PmStatus st = pm_slurm_open(c->dir, &slurm, err);

	pm_cli_stage("working");
	if (!st)
		st = pm_slurm_cancel(&slurm, &n, err);
	if (!st && !pm_cli_json) {
		printf("Slurm: %zu %s of %s %s cancelled; what %s published stays\n", n, elements(n),
		       slurm.name, pm_is_or_are(n), n == 1 ? "it" : "they");
	} else if (!st) {
		cJSON *j = cJSON_CreateObject();

		cJSON_AddStringToObject(j, "name", slurm.name);
		pm_json_add_i64(j, "cancelled", (int64_t)n);
		pm_cli_put_json(j);
	}
	pm_slurm_release(&slurm);
	return st;
}

/* ---- status ---- */

static cJSON *element_json(const PmSlurm *slurm, const PmSlurmElement *e)
{
	const PmSlurmJob *job = pm_slurm_job(slurm, e->job);
	cJSON *j = cJSON_CreateObject();
	char id[48];

	snprintf(id, sizeof id, e->index < 0 ? "%lld" : "%lld_%lld", (long long)e->job, (long long)e->index);
	cJSON_AddStringToObject(j, "job", id);
	pm_json_add_i64(j, "shard", pm_slurm_shard(slurm, e));
	cJSON_AddBoolToObject(j, "collects", job && job->collects);
	cJSON_AddStringToObject(j, "state", e->state);
	cJSON_AddStringToObject(j, "node", e->node);
	cJSON_AddStringToObject(j, "why", e->why);
	return j;
}

static int is_bad(const PmSlurmElement *e)
{
	static const char *const good[] = { "COMPLETED", "RUNNING",   "PENDING",
					    "REQUEUED",  "SUSPENDED", "COMPLETING" };

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (!strcmp(e->state, good[i]))
			return 0;
	return 1;
}

static PmStatus fill(const PmSlurm *slurm, cJSON *j, PmErr *err)
{
	PmSlurmElements queue = { 0 }, ended = { 0 };
	cJSON *list;
	int known = 0;
	PmStatus st = pm_slurm_queue(slurm, &queue, err);

	if (!st)
		st = pm_slurm_ended(slurm, &ended, &known, err);
	list = cJSON_AddArrayToObject(j, "queued");
	for (size_t i = 0; i < queue.list.n; i++)
		cJSON_AddItemToArray(list, element_json(slurm, &queue.list.v[i]));
	cJSON_AddBoolToObject(j, "accounting", known);
	list = cJSON_AddArrayToObject(j, "failed");
	for (size_t i = 0; i < ended.list.n; i++)
		if (is_bad(&ended.list.v[i]))
			cJSON_AddItemToArray(list, element_json(slurm, &ended.list.v[i]));
	PM_VEC_RELEASE(&queue.list);
	PM_VEC_RELEASE(&ended.list);
	return st;
}

PmStatus pm_cluster_slurm_status(const char *dir, cJSON **out, PmErr *err)
{
	PmSlurm slurm = { 0 };
	PmErr said;
	PmStatus st = pm_slurm_open(dir, &slurm, err);

	*out = NULL;
	if (st == PM_E_NOT_FOUND) /* made without scripts for Slurm */
		st = PM_OK;
	if (!st && slurm.job.n) {
		*out = cJSON_CreateObject();
		cJSON_AddStringToObject(*out, "name", slurm.name);
		pm_err_init(&said);
		if (fill(&slurm, *out, &said))
			cJSON_AddStringToObject(*out, "error", said.text);
	}
	pm_slurm_release(&slurm);
	return st;
}

/* How many of a list are in the state of its element i, when none before it is; else 0. */
static size_t same_state(const cJSON *list, const cJSON *of)
{
	const char *state = pm_json_str(of, "state", ""), *why = pm_json_str(of, "why", "");
	const cJSON *e;
	int behind = 0;
	size_t n = 0;

	cJSON_ArrayForEach(e, list)
	{
		behind |= e == of;
		if (strcmp(pm_json_str(e, "state", ""), state) || strcmp(pm_json_str(e, "why", ""), why))
			continue;
		if (!behind)
			return 0;
		n++;
	}
	return n;
}

void pm_cluster_slurm_say(const cJSON *slurm)
{
	const cJSON *queue = cJSON_GetObjectItemCaseSensitive(slurm, "queued"),
		    *failed = cJSON_GetObjectItemCaseSensitive(slurm, "failed"), *e;
	const char *error = pm_json_str(slurm, "error", NULL);
	size_t n_queued = (size_t)cJSON_GetArraySize(queue);

	if (error) {
		printf("Slurm: %s\n", error);
		return;
	}
	printf("Slurm: %zu %s of %s %s queued%s\n", n_queued, elements(n_queued),
	       pm_json_str(slurm, "name", ""), pm_is_or_are(n_queued),
	       cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(slurm, "accounting")) ? "" : "; no accounting");
	cJSON_ArrayForEach(e, queue)
	{
		size_t n = same_state(queue, e);
		const char *why = pm_json_str(e, "why", "");

		if (n)
			printf("  %zu %s%s%s\n", n, pm_json_str(e, "state", ""), *why ? ": " : "", why);
	}
	cJSON_ArrayForEach(e, failed)
	{
		const char *why = pm_json_str(e, "why", "");

		printf("  job %s (shard %lld) ended as %s on %s%s%s\n", pm_json_str(e, "job", ""),
		       (long long)pm_json_i64(e, "shard", -1), pm_json_str(e, "state", ""),
		       pm_json_str(e, "node", ""), *why ? ", " : "", why);
	}
}
