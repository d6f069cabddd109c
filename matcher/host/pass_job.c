/* SPDX-License-Identifier: Apache-2.0 */
/* pass_job.c - a job for the pass host's program, as bytes. */
#include "matcher/host/pass_job.h"

#include "base/core/arena.h"

#include <stdio.h>
#include <string.h>

static const char magic[] = "PMJOB3";

static void part(PmStr *out, const char *p, size_t n)
{
	if (n)
		pm_str_addn(out, p, n);
	pm_str_addc(out, 0);
}

static void targets_text(const PmPassJob *job, PmStr *out)
{
	cJSON *j = cJSON_CreateObject(), *list;

	pm_target_to_json(job->target, cJSON_AddObjectToObject(j, "target"));
	list = cJSON_AddArrayToObject(j, "trials");
	for (size_t i = 0; i < job->n_trials; i++) {
		cJSON *o = cJSON_CreateObject();

		pm_target_to_json(job->trial[i], o);
		cJSON_AddItemToArray(list, o);
	}
	pm_json_print(j, 0, out);
	cJSON_Delete(j);
}

static PmStatus read_targets(const char *text, size_t n, PmPassJob *out, PmErr *err)
{
	cJSON *j = NULL;
	const cJSON *list, *x;
	PmTarget *t = NULL;
	const PmTarget **trial;
	PmStatus st = pm_json_parse(text, n, &j, err);

	if (!st)
		st = pm_target_from_json(cJSON_GetObjectItem(j, "target"), &t, err);
	out->target = t;
	list = cJSON_GetObjectItem(j, "trials");
	trial = pm_xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *trial);
	out->trial = trial;
	cJSON_ArrayForEach(x, list)
	{
		if (!st)
			st = pm_target_from_json(x, &t, err);
		if (!st)
			trial[out->n_trials++] = t;
	}
	cJSON_Delete(j);
	return st;
}

void pm__job_write(const PmPassJob *job, PmStr *out)
{
	size_t rule = job->rule ? strlen(job->rule) : 0, name = strlen(job->name);
	PmStr target = PM_STR_INIT;

	targets_text(job, &target);
	pm_str_addf(out, "%s %zu %zu %zu %zu %zu %d %d %u %u\n", magic, job->object_len, job->text_len, rule,
		    name, target.len, job->text != NULL, job->misses, job->variant, job->require);
	part(out, job->object, job->object_len);
	part(out, job->text, job->text_len);
	part(out, job->rule, rule);
	part(out, job->name, name);
	part(out, target.s, target.len);
	pm_str_release(&target);
}

/* Takes n bytes and the zero byte after them. */
static const char *take(const PmStr *s, size_t *at, size_t n)
{
	const char *p = s->s + *at;

	if (*at > s->len || n >= s->len - *at || p[n] != 0)
		return NULL;
	*at += n + 1;
	return p;
}

PmStatus pm__job_read(PmStr *s, PmPassJob *out, PmErr *err)
{
	size_t rule, name, target, at;
	const char *target_at;
	int has_text;
	const char *nl = memchr(s->s, '\n', s->len < 160 ? s->len : 160);
	char line[161];

	memset(out, 0, sizeof *out);
	snprintf(line, sizeof line, "%.*s", nl ? (int)(nl - s->s) : 0, s->s);
	if (strncmp(line, magic, sizeof magic - 1) != 0 ||
	    sscanf(line + sizeof magic - 1, " %zu %zu %zu %zu %zu %d %d %u %u", &out->object_len,
		   &out->text_len, &rule, &name, &target, &has_text, &out->misses, &out->variant,
		   &out->require) != 9)
		return pm_err(err, PM_E_INVALID, "This program is started by passmith, with a job on stdin.");
	at = (size_t)(nl - s->s) + 1;
	out->object = take(s, &at, out->object_len);
	out->text = out->object ? take(s, &at, out->text_len) : NULL;
	out->rule = out->text ? take(s, &at, rule) : NULL;
	out->name = out->rule ? take(s, &at, name) : NULL;
	target_at = out->name ? take(s, &at, target) : NULL;
	if (!target_at || at != s->len)
		return pm_err(err, PM_E_INVALID, "The job on stdin has another length than it says.");
	if (!has_text)
		out->text = NULL;
	if (!rule)
		out->rule = NULL;
	return read_targets(target_at, target, out, err);
}
