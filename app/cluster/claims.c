/* SPDX-License-Identifier: Apache-2.0 */
/* claims.c - shards as files that are renamed, and workers that say that they live. */
#include "app/cluster/claims.h"

#include "app/eval/origin.h"
#include "base/core/hash.h"
#include "base/core/json.h"
#include "base/sys/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAYS_MAX = 1 << 16 };

/* ---- the files of a shard ---- */

/* `worker` names the file of a shard that is running. */
static void path_of(const char *dir, PmClaimState state, const char *worker, size_t shard, PmStr *out)
{
	if (state == PM_CLAIM_RUNNING)
		pm_str_addf(out, "%s/running/%zu.%s", dir, shard, worker);
	else
		pm_str_addf(out, "%s/%s/%zu", dir, state == PM_CLAIM_DONE ? "done" : "pending", shard);
}

/* *moved (may be NULL) is 0 when it was not in the state `from`: another process was quicker. */
static PmStatus move(const char *dir, const char *worker, size_t shard, PmClaimState from, PmClaimState to,
		     int *moved, PmErr *err)
{
	PmStr old = PM_STR_INIT, now = PM_STR_INIT;
	PmStatus st = PM_OK;
	int is;

	path_of(dir, from, worker, shard, &old);
	path_of(dir, to, worker, shard, &now);
	is = !rename(old.s, now.s);
	if (!is && errno != ENOENT)
		st = pm_path_error("rename", old.s, 1, err);
	if (moved)
		*moved = is;
	pm_str_release(&old);
	pm_str_release(&now);
	return st;
}

PmStatus pm_claim_take(const char *dir, const char *worker, size_t shard, int *got, PmErr *err)
{
	PmStr from = PM_STR_INIT;

	path_of(dir, PM_CLAIM_PENDING, NULL, shard, &from);
	/* Before the claim: else it would look like that of a worker that has been silent since the plan was
	 * made. */
	(void)utimensat(AT_FDCWD, from.s, NULL, 0);
	pm_str_release(&from);
	return move(dir, worker, shard, PM_CLAIM_PENDING, PM_CLAIM_RUNNING, got, err);
}

int pm_claim_touch(const char *dir, const char *worker, size_t shard)
{
	PmStr path = PM_STR_INIT;
	int mine;

	path_of(dir, PM_CLAIM_RUNNING, worker, shard, &path);
	/* Any other failure is the file server's, and says nothing of the claim. */
	mine = !utimensat(AT_FDCWD, path.s, NULL, 0) || errno != ENOENT;
	pm_str_release(&path);
	return mine;
}

PmStatus pm_claim_give_back(const char *dir, const char *worker, size_t shard, PmErr *err)
{
	return move(dir, worker, shard, PM_CLAIM_RUNNING, PM_CLAIM_PENDING, NULL, err);
}

PmStatus pm_claim_finish(const char *dir, const char *worker, size_t shard, PmErr *err)
{
	return move(dir, worker, shard, PM_CLAIM_RUNNING, PM_CLAIM_DONE, NULL, err);
}

PmStatus pm_claim_settle(const char *dir, size_t shard, PmErr *err)
{
	return move(dir, NULL, shard, PM_CLAIM_PENDING, PM_CLAIM_DONE, NULL, err);
}

PmStatus pm_claim_reopen(const char *dir, size_t shard, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	int moved;
	PmStatus st = move(dir, NULL, shard, PM_CLAIM_DONE, PM_CLAIM_PENDING, &moved, err);

	path_of(dir, PM_CLAIM_PENDING, NULL, shard, &path);
	if (!st && !moved && !pm_path_exists(path.s))
		st = pm_cluster_publish(path.s, "", 0, 0644, err);
	pm_str_release(&path);
	return st;
}

/* ---- reading them ---- */

static PmStatus list(const char *dir, const char *folder, PmNames *out, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmStatus st;

	pm_cluster_path(dir, NULL, folder, &path);
	st = pm_list_dir(path.s, out, err);
	pm_str_release(&path);
	return st;
}

static PmStatus read_still(const char *dir, const char *folder, PmClaimState state, size_t n,
			   PmShardClaim *out, PmErr *err)
{
	PmNames names = { 0 };
	PmStatus st = list(dir, folder, &names, err);

	for (size_t i = 0; i < names.n && !st; i++) {
		int64_t k = pm_cluster_number(names.v[i], "");

		if (k >= 0 && (size_t)k < n)
			out[k] = (PmShardClaim){ .state = state };
	}
	pm_names_release(&names);
	return st;
}

static PmStatus read_running(const char *dir, size_t n, PmShardClaim *out, PmErr *err)
{
	PmNames names = { 0 };
	PmStr path = PM_STR_INIT;
	double now = 0, at;
	PmStatus st = list(dir, "running", &names, err);

	for (size_t i = 0; i < names.n && !st; i++) {
		int64_t k = pm_cluster_number(names.v[i], ".");
		const char *worker = strchr(names.v[i], '.');

		if (k < 0 || (size_t)k >= n || strlen(worker + 1) >= PM_CLUSTER_WORKER)
			continue;
		if (now == 0)
			st = pm_cluster_now(dir, &now, err);
		pm_str_clear(&path);
		pm_cluster_path(dir, "running", names.v[i], &path);
		if (st || pm_cluster_touched(path.s, &at)) /* renamed since */
			continue;
		/* Of two that believe to have it the one that was heard of last. */
		if (out[k].state == PM_CLAIM_RUNNING && out[k].age <= now - at)
			continue;
		out[k] = (PmShardClaim){ .state = PM_CLAIM_RUNNING, .age = now - at };
		snprintf(out[k].worker, sizeof out[k].worker, "%s", worker + 1);
	}
	pm_names_release(&names);
	pm_str_release(&path);
	return st;
}

PmStatus pm_claims_read(const char *dir, size_t n, PmShardClaim *out, PmErr *err)
{
	PmStatus st;

	for (size_t i = 0; i < n; i++)
		out[i] = (PmShardClaim){ .state = PM_CLAIM_NONE };
	/* In the order in which a shard goes: one that moves meanwhile is seen at its later place. */
	st = read_still(dir, "pending", PM_CLAIM_PENDING, n, out, err);
	if (!st)
		st = read_running(dir, n, out, err);
	return st ? st : read_still(dir, "done", PM_CLAIM_DONE, n, out, err);
}

PmStatus pm_claim_take_any(const char *dir, const char *worker, size_t n, size_t *shard, PmErr *err)
{
	PmNames names = { 0 };
	size_t start;
	int got = 0;
	PmStatus st = list(dir, "pending", &names, err);

	/* Workers that begin at one moment are not to run after the same file. */
	start = names.n ? (size_t)(pm_hash64(worker, strlen(worker), PM_HASH_SEED) % names.n) : 0;
	*shard = n;
	for (size_t i = 0; i < names.n && !st && !got; i++) {
		int64_t k = pm_cluster_number(names.v[(start + i) % names.n], "");

		if (k < 0 || (size_t)k >= n)
			continue;
		st = pm_claim_take(dir, worker, (size_t)k, &got, err);
		if (got)
			*shard = (size_t)k;
	}
	pm_names_release(&names);
	return st;
}

/* ---- workers ---- */

static void read_line(const char *path, char *out, size_t size)
{
	FILE *f = fopen(path, "r");

	*out = '\0';
	if (f && fgets(out, (int)size, f))
		out[strcspn(out, "\n")] = '\0';
	if (f)
		fclose(f);
}

void pm_worker_self(PmWorkerSays *out)
{
	char boot[48], pids[40] = "";
	PmOrigin here;

	memset(out, 0, sizeof *out);
	pm_origin_here("emu", &here); /* which GPU it has does not matter */
	snprintf(out->host, sizeof out->host, "%s", here.node);
	snprintf(out->job, sizeof out->job, "%s", here.job ? here.job : "");
	out->pid = getpid();
	out->element = here.element;
	out->restarts = here.restarts;
	out->shard = out->item = -1;
	/* Numbers of processes mean nothing in another container, or after a restart of the host. */
	read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
	if (readlink("/proc/self/ns/pid", pids, sizeof pids - 1) > 0 && *boot)
		snprintf(out->life, sizeof out->life, "%s %s", boot, pids);
}

static void worker_path(const char *dir, const char *worker, PmStr *out)
{
	pm_str_addf(out, "%s/workers/%s.json", dir, worker);
}

PmStatus pm_worker_say(const char *dir, const char *worker, const PmWorkerSays *w, PmErr *err)
{
	cJSON *j = cJSON_CreateObject();
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st;

	cJSON_AddStringToObject(j, "host", w->host);
	pm_json_add_i64(j, "pid", w->pid);
	cJSON_AddStringToObject(j, "job", w->job);
	pm_json_add_i64(j, "element", w->element);
	pm_json_add_i64(j, "restarts", w->restarts);
	pm_json_add_i64(j, "shard", w->shard);
	pm_json_add_i64(j, "item", w->item);
	pm_json_add_i64(j, "done", w->done);
	pm_json_add_i64(j, "total", w->total);
	cJSON_AddStringToObject(j, "life", w->life);
	pm_json_print(j, 0, &text);
	cJSON_Delete(j);
	worker_path(dir, worker, &path);
	st = pm_cluster_publish(path.s, text.s, text.len, 0644, err);
	pm_str_release(&path);
	pm_str_release(&text);
	return st;
}

PmStatus pm_worker_read(const char *dir, const char *worker, PmWorkerSays *out, PmErr *err)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	cJSON *j = NULL;
	PmStatus st;

	memset(out, 0, sizeof *out);
	worker_path(dir, worker, &path);
	st = pm_read_file(path.s, SAYS_MAX, &text, err);
	if (!st)
		st = pm_json_parse(text.s, text.len, &j, err);
	snprintf(out->host, sizeof out->host, "%s", pm_json_str(j, "host", "unknown"));
	snprintf(out->job, sizeof out->job, "%s", pm_json_str(j, "job", ""));
	snprintf(out->life, sizeof out->life, "%s", pm_json_str(j, "life", ""));
	out->pid = pm_json_i64(j, "pid", 0);
	out->element = pm_json_i64(j, "element", -1);
	out->restarts = pm_json_i64(j, "restarts", 0);
	out->shard = pm_json_i64(j, "shard", -1);
	out->item = pm_json_i64(j, "item", -1);
	out->done = pm_json_i64(j, "done", 0);
	out->total = pm_json_i64(j, "total", 0);
	cJSON_Delete(j);
	pm_str_release(&path);
	pm_str_release(&text);
	return st;
}

void pm_worker_forget(const char *dir, const char *worker)
{
	PmStr path = PM_STR_INIT;

	worker_path(dir, worker, &path);
	unlink(path.s);
	pm_str_release(&path);
}

int pm_worker_is_gone(const PmWorkerSays *w, const PmWorkerSays *self)
{
	if (*w->job && !strcmp(w->job, self->job) && w->element >= 0 && w->element == self->element)
		return w->restarts < self->restarts;
	return *w->life && !strcmp(w->life, self->life) && !strcmp(w->host, self->host) && w->pid > 0 &&
	       kill((pid_t)w->pid, 0) && errno == ESRCH;
}
