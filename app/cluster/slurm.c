/* SPDX-License-Identifier: Apache-2.0 */
/* slurm.c - jobs of a plan: submitted, looked at and cancelled by Slurm's programs. */
#include "app/cluster/slurm.h"

#include "app/cluster/folder.h"
#include "app/cluster/slurm_priv.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A controller that does not answer makes its programs wait for minutes, as its configuration says. */
static const double program_seconds = 600;

/* ---- programs ---- */

/* The first line that is worth something of what a program complained of. */
static void first_line(const PmStr *text, char *out, size_t size)
{
	const char *s = text->s + strspn(text->s, " \t\r\n");

	snprintf(out, size, "%.*s", (int)strcspn(s, "\n"), s);
}

/* Runs a program and appends what it prints. *refused (may be NULL) is 1, with PM_OK, when it ended with
 * another status than 0 and the caller wants to look at that itself. */
static PmStatus run(const char *const *argv, PmStr *out, PmStr *complaint, int *refused, PmErr *err)
{
	const PmLimits lim = { .seconds = program_seconds, .file_size = -1, .max_output = (int64_t)1 << 30 };
	PmProcResult r = { 0 };
	PmStr how = PM_STR_INIT;
	PmErr inner;
	char line[400];
	PmStatus st;

	pm_err_init(&inner);
	st = pm_run(argv, NULL, 0, &lim, &r, &inner);
	if (st == PM_E_ENV) {
		st = pm_err(err, PM_E_ENV,
			    "Slurm's program %s cannot be run (%s); use a machine from which jobs are "
			    "submitted, or "
			    "start passmith cluster work DIR on each machine.",
			    argv[0], inner.text);
	} else if (st) {
		st = pm_err(err, st, "%s", inner.text);
	} else if (r.end == PM_PROC_EXITED && !r.code) {
		pm_str_addn(out, r.out.s, r.out.len);
	} else if (r.end == PM_PROC_EXITED && refused) {
		*refused = 1;
		pm_str_addn(complaint, r.errtext.s, r.errtext.len);
	} else {
		pm_proc_describe(&r, &how);
		first_line(r.errtext.len ? &r.errtext : &r.out, line, sizeof line);
		st = pm_err(err, PM_E_ENV,
			    "Slurm's program %s %s, and said \"%s\"; mend what it names (`scontrol ping` "
			    "says whether "
			    "the controller answers), then give the same command again.",
			    argv[0], how.s, line);
	}
	pm_str_release(&how);
	pm_proc_result_release(&r);
	return st;
}

/* ---- what is queued ---- */

PmStatus pm_slurm_queue(const PmSlurm *s, PmSlurmElements *out, PmErr *err)
{
	char user[24];
	const char *argv[] = { "squeue", "-h", "-r", "-u", user, "-n", s->name, "-o", PM_SLURM_QUEUE_FORMAT,
			       NULL };
	PmStr text = PM_STR_INIT;
	PmStatus st;

	snprintf(user, sizeof user, "%ld", (long)geteuid());
	st = run(argv, &text, NULL, NULL, err);
	if (!st)
		st = pm_slurm_parse_queue(text.s, out, err);
	pm_str_release(&text);
	return st;
}

PmStatus pm_slurm_ended(const PmSlurm *s, PmSlurmElements *out, int *known, PmErr *err)
{
	PmStr ids = PM_STR_INIT, text = PM_STR_INIT, complaint = PM_STR_INIT;
	int refused = 0;
	PmErr inner;
	PmStatus st;

	*known = 0;
	pm_err_init(&inner);
	for (size_t i = 0; i < s->job.n; i++)
		pm_str_addf(&ids, "%s%lld", i ? "," : "", (long long)s->job.v[i].id);
	if (s->job.n) {
		const char *argv[] = { "sacct", "-n", "-P", "-X", "-j", ids.s, "-o", PM_SLURM_ENDED_FORMAT,
				       NULL };

		/* A cluster may have no accounting, and a machine no sacct: then it is not known. */
		st = run(argv, &text, &complaint, &refused, &inner);
		*known = !st && !refused;
	}
	st = *known ? pm_slurm_parse_ended(text.s, out, err) : PM_OK;
	pm_str_release(&ids);
	pm_str_release(&text);
	pm_str_release(&complaint);
	return st;
}

/* ---- submitting ---- */

/* One process at a time: two that both see an empty queue would submit everything twice. */
static PmStatus lock(const PmSlurm *s, PmStr *path, PmErr *err)
{
	char text[128] = "", host[64] = "";
	PmStr old = PM_STR_INIT;
	int fd;

	pm_cluster_path(s->dir, "slurm", "submitting", path);
	fd = open(path->s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 && errno != EEXIST)
		return pm_path_error("make", path->s, 1, err);
	if (fd >= 0) {
		gethostname(host, sizeof host - 1);
		snprintf(text, sizeof text, "process %ld on %s", (long)getpid(), host);
		if (write(fd, text, strlen(text)) < 0)
			text[0] = '\0'; /* the file itself is the lock */
		close(fd);
		return PM_OK;
	}
	(void)pm_read_file(path->s, sizeof text, &old, NULL);
	pm_err(err, PM_E_ENV,
	       "Another process submits jobs of this plan (%s says: %s); wait for it, or remove the file "
	       "when that "
	       "process has ended.",
	       path->s, old.s);
	pm_str_release(&old);
	pm_str_clear(path); /* not ours to remove */
	return PM_E_ENV;
}

static PmStatus max_array(int64_t *max, PmErr *err)
{
	const char *argv[] = { "scontrol", "show", "config", NULL };
	PmStr text = PM_STR_INIT;
	PmStatus st = run(argv, &text, NULL, NULL, err);

	if (!st)
		st = pm_slurm_parse_max_array(text.s, max, err);
	pm_str_release(&text);
	return st;
}

/* sbatch with two more words: an option in front of the script, and its argument behind it or NULL. */
static PmStatus sbatch(PmSlurm *s, const char *option, const char *script, const char *arg, PmSlurmJob job,
		       PmErr *err)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	const char *argv[] = { "sbatch", "--parsable", option, NULL, arg, NULL };
	PmStatus st;

	pm_cluster_path(s->dir, "slurm", script, &path);
	argv[3] = path.s;
	st = run(argv, &text, NULL, NULL, err);
	if (!st)
		st = pm_slurm_parse_job(text.s, &job.id, err);
	if (!st) {
		PM_VEC_PUSH(&s->job, job);
		st = pm__slurm_save(s, err);
	}
	pm_str_release(&path);
	pm_str_release(&text);
	return st;
}

/* The array of the shards from list[0] on that have a place in it: *n becomes how many. */
static PmStatus submit_array(PmSlurm *s, const int64_t *list, size_t *n, int64_t max, PmErr *err)
{
	PmSlurmJob job = { .first = list[0] / max * max };
	int64_t *index = pm_xcalloc(*n, sizeof *index);
	PmStr option = PM_STR_INIT;
	char first[24];
	size_t k = 0;
	PmStatus st;

	for (; k < *n && list[k] - job.first < max; k++)
		index[k] = list[k] - job.first;
	*n = k;
	pm_str_add(&option, "--array=");
	pm_slurm_array(index, k, s->at_once, &option);
	snprintf(first, sizeof first, "%lld", (long long)job.first);
	st = sbatch(s, option.s, "element.sh", first, job, err);
	pm_str_release(&option);
	free(index);
	return st;
}

static int by_shard(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Those of the shards that no queued element has. *unknown is 1 when elements are queued that were never
 * noted, so that nobody can say which shards they have. */
static size_t not_queued(const PmSlurm *s, const PmSlurmElements *q, const int64_t *shards, size_t n,
			 int64_t *out, size_t *queued, int *unknown)
{
	int64_t *have = pm_xcalloc(q->list.n + 1, sizeof *have);
	size_t k = 0;

	for (size_t i = 0; i < q->list.n; i++) {
		int64_t shard = pm_slurm_shard(s, &q->list.v[i]);

		*unknown |= shard < 0 && q->list.v[i].index >= 0;
		*queued += q->list.v[i].index >= 0;
		have[i] = shard;
	}
	qsort(have, q->list.n, sizeof *have, by_shard);
	for (size_t i = 0; i < n; i++)
		if (!bsearch(&shards[i], have, q->list.n, sizeof *have, by_shard))
			out[k++] = shards[i];
	free(have);
	return k;
}

static PmStatus cancel_job(int64_t id, PmErr *err)
{
	char text[24];
	const char *argv[] = { "scancel", text, NULL };
	PmStr out = PM_STR_INIT;
	PmStatus st;

	snprintf(text, sizeof text, "%lld", (long long)id);
	st = run(argv, &out, NULL, NULL, err);
	pm_str_release(&out);
	return st;
}

/* After all arrays that are queued now and those that were submitted from number `from` on; in place of
 * collecting jobs that wait for fewer. */
static PmStatus submit_collect(PmSlurm *s, const PmSlurmElements *q, size_t from, PmSlurmSubmitted *out,
			       PmErr *err)
{
	PmStr option = PM_STR_INIT;
	PmStatus st = PM_OK;
	int64_t last = 0;

	pm_str_add(&option, "--dependency=afterany");
	for (size_t i = 0; i < q->list.n && !st; i++) {
		const PmSlurmElement *e = &q->list.v[i];
		const PmSlurmJob *job = pm_slurm_job(s, e->job);

		if (e->index >= 0 && e->job != last)
			pm_str_addf(&option, ":%lld", (long long)(last = e->job));
		else if (job && job->collects && !strcmp(e->state, "PENDING"))
			st = cancel_job(e->job, err);
	}
	for (size_t i = from; i < s->job.n; i++)
		pm_str_addf(&option, ":%lld", (long long)s->job.v[i].id);
	if (!st)
		st = sbatch(s, option.s, "collect.sh", NULL, (PmSlurmJob){ .collects = 1 }, err);
	if (!st)
		out->collect = s->job.v[s->job.n - 1].id;
	pm_str_release(&option);
	return st;
}

static PmStatus submit(PmSlurm *s, const PmSlurmElements *q, const int64_t *list, size_t n,
		       PmSlurmSubmitted *out, PmErr *err)
{
	size_t from = s->job.n;
	int64_t max = 0;
	PmStatus st = max_array(&max, err);

	for (size_t i = 0, k; i < n && !st; i += k) {
		k = n - i;
		st = submit_array(s, list + i, &k, max, err);
		out->elements += st ? 0 : k;
		out->arrays += !st;
	}
	return st ? st : submit_collect(s, q, from, out, err);
}

PmStatus pm_slurm_submit(PmSlurm *s, const int64_t *shards, size_t n, int beside, PmSlurmSubmitted *out,
			 PmErr *err)
{
	int64_t *list = pm_xcalloc(n + 1, sizeof *list);
	PmSlurmElements q = { 0 };
	PmStr path = PM_STR_INIT;
	int unknown = 0;
	PmSlurm now = { 0 };
	PmStatus st = lock(s, &path, err);

	memset(out, 0, sizeof *out);
	if (!st)
		st = pm_slurm_open(s->dir, &now, err); /* what another one noted since */
	if (!st) {
		PM_VEC_RELEASE(&s->job);
		s->job.v = now.job.v;
		s->job.n = now.job.n;
		s->job.cap = now.job.cap;
		now.job.v = NULL;
		st = pm_slurm_queue(s, &q, err);
	}
	if (!st) {
		n = not_queued(s, &q, shards, n, list, &out->queued, &unknown);
		if (n && !unknown && (beside || !out->queued))
			st = submit(s, &q, list, n, out, err);
	}
	if (path.len)
		unlink(path.s);
	pm_slurm_release(&now);
	pm_str_release(&path);
	PM_VEC_RELEASE(&q.list);
	free(list);
	return st;
}

PmStatus pm_slurm_cancel(const PmSlurm *s, size_t *n, PmErr *err)
{
	char user[24];
	const char *argv[] = { "scancel", "-Q", "-u", user, "-n", s->name, NULL };
	PmSlurmElements q = { 0 };
	PmStr out = PM_STR_INIT;
	PmStatus st = pm_slurm_queue(s, &q, err);

	*n = q.list.n;
	snprintf(user, sizeof user, "%ld", (long)geteuid());
	if (!st && *n)
		st = run(argv, &out, NULL, NULL, err);
	pm_str_release(&out);
	PM_VEC_RELEASE(&q.list);
	return st;
}
