/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_file.c - what a plan keeps for Slurm: the scripts, and the jobs that were submitted. */
#include "app/cluster/slurm_priv.h"

#include "app/cluster/folder.h"
#include "base/core/json.h"
#include "base/core/rng.h"
#include "base/sys/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX = 16 << 20, FORMAT = 1, MAX_JOBS = 100000 };

/* ---- jobs.json ---- */

static void jobs_path(const char *dir, PmStr *out)
{
	pm_cluster_path(dir, "slurm", "jobs.json", out);
}

PmStatus pm__slurm_save(const PmSlurm *s, PmErr *err)
{
	cJSON *j = cJSON_CreateObject(), *list;
	PmStr text = PM_STR_INIT, path = PM_STR_INIT;
	PmStatus st;

	pm_json_add_i64(j, "format", FORMAT);
	cJSON_AddStringToObject(j, "name", s->name);
	pm_json_add_i64(j, "at_once", s->at_once);
	list = cJSON_AddArrayToObject(j, "jobs");
	for (size_t i = 0; i < s->job.n; i++) {
		cJSON *job = cJSON_CreateObject();

		pm_json_add_i64(job, "id", s->job.v[i].id);
		pm_json_add_i64(job, "first", s->job.v[i].first);
		cJSON_AddBoolToObject(job, "collects", s->job.v[i].collects);
		cJSON_AddItemToArray(list, job);
	}
	pm_json_print(j, 1, &text);
	cJSON_Delete(j);
	jobs_path(s->dir, &path);
	st = pm_cluster_publish_in(path.s, text.s, text.len, err);
	pm_str_release(&text);
	pm_str_release(&path);
	return st;
}

/* A name goes to squeue and scancel, where it selects jobs: any other one could select jobs of others. */
static int is_name(const char *s)
{
	static const char prefix[] = "passmith-";
	size_t n = strlen(prefix);

	return !strncmp(s, prefix, n) && strlen(s + n) == 12 && strspn(s + n, "0123456789abcdef") == 12;
}

static int read_jobs(const cJSON *list, PmSlurm *s)
{
	const cJSON *j;

	if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > MAX_JOBS)
		return 0;
	cJSON_ArrayForEach(j, list)
	{
		PmSlurmJob job = { pm_json_i64(j, "id", 0), pm_json_i64(j, "first", -1),
				   cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(j, "collects")) };

		if (job.id < 1 || job.first < 0)
			return 0;
		PM_VEC_PUSH(&s->job, job);
	}
	return 1;
}

PmStatus pm_slurm_read(const char *path, const char *text, size_t n, PmSlurm *out, PmErr *err)
{
	cJSON *j = NULL;
	PmStatus st = pm_json_parse(text, n, &j, err);
	int ok;

	if (st)
		return pm_err_ctx(err, "%s", path);
	ok = cJSON_IsObject(j) && pm_json_i64(j, "format", 0) == FORMAT &&
	     is_name(pm_json_str(j, "name", ""));
	out->at_once = ok ? pm_json_i64(j, "at_once", -1) : -1;
	if (!ok || out->at_once < 0 || !read_jobs(cJSON_GetObjectItemCaseSensitive(j, "jobs"), out))
		st = pm_err(err, PM_E_INVALID,
			    "%s is no list of jobs of this program (format %d, a name \"passmith-\" and 12 "
			    "hexadecimal "
			    "digits, jobs with id and first); look with squeue what runs, and take the file "
			    "from where "
			    "the plan was made.",
			    path, FORMAT);
	else
		snprintf(out->name, sizeof out->name, "%s", pm_json_str(j, "name", ""));
	cJSON_Delete(j);
	return st;
}

PmStatus pm_slurm_open(const char *dir, PmSlurm *out, PmErr *err)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st;

	memset(out, 0, sizeof *out);
	out->dir = pm_xstrdup(dir);
	jobs_path(dir, &path);
	if (!pm_path_exists(path.s))
		st = pm_err(err, PM_E_NOT_FOUND,
			    "There is no %s; make the plan with this version of passmith cluster plan.",
			    path.s);
	else
		st = pm_read_file(path.s, FILE_MAX, &text, err);
	if (!st)
		st = pm_slurm_read(path.s, text.s, text.len, out, err);
	pm_str_release(&path);
	pm_str_release(&text);
	return st;
}

void pm_slurm_release(PmSlurm *s)
{
	free(s->dir);
	s->dir = NULL;
	PM_VEC_RELEASE(&s->job);
}

const PmSlurmJob *pm_slurm_job(const PmSlurm *s, int64_t id)
{
	for (size_t i = 0; i < s->job.n; i++)
		if (s->job.v[i].id == id)
			return &s->job.v[i];
	return NULL;
}

int64_t pm_slurm_shard(const PmSlurm *s, const PmSlurmElement *e)
{
	const PmSlurmJob *job = e->index < 0 ? NULL : pm_slurm_job(s, e->job);

	return job && !job->collects ? job->first + e->index : -1;
}

/* ---- the scripts ---- */

static PmStatus put_script(const PmSlurmOpts *o, const char *name,
			   PmStatus (*make)(const PmSlurmOpts *o, PmStr *out, PmErr *err), PmErr *err)
{
	PmStr text = PM_STR_INIT, path = PM_STR_INIT;
	PmStatus st = make(o, &text, err);

	pm_cluster_path(o->dir, "slurm", name, &path);
	if (!st)
		st = pm_cluster_publish_in(path.s, text.s, text.len, err);
	if (!st && chmod(path.s, 0755))
		st = pm_path_error("make executable", path.s, 1, err);
	pm_str_release(&text);
	pm_str_release(&path);
	return st;
}

PmStatus pm_slurm_make(const char *dir, const PmSlurmOpts *o, PmErr *err)
{
	PmSlurm s = { .dir = pm_xstrdup(dir), .at_once = o->at_once };
	char *absolute = realpath(dir, NULL);
	PmStr self = PM_STR_INIT, program = PM_STR_INIT;
	PmSlurmOpts with = *o;
	PmStatus st = absolute ? PM_OK : pm_path_error("find", dir, 0, err);

	snprintf(s.name, sizeof s.name, "passmith-%012llx",
		 (unsigned long long)(pm_rng_secure_seed() & 0xffffffffffff));
	if (!st && !o->program)
		st = pm_self_dir(&self, err);
	if (!st) {
		pm_path_join(self.s, "passmith", &program);
		with.name = s.name;
		with.dir = absolute;
		with.program = o->program ? o->program : program.s;
		st = put_script(&with, "element.sh", pm_slurm_element_script, err);
	}
	if (!st)
		st = put_script(&with, "collect.sh", pm_slurm_collect_script, err);
	if (!st)
		st = pm__slurm_save(&s, err);
	pm_slurm_release(&s);
	pm_str_release(&self);
	pm_str_release(&program);
	free(absolute);
	return st;
}
