/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - what an earlier evaluation drew, read from its report. */
#include "app/eval/replay.h"

#include "base/core/hash.h"
#include "base/core/str.h"
#include "base/sys/io.h"

#include <string.h>

static const int64_t largest = (int64_t)64 << 20;

PmStatus pm_replay_open(const char *path, PmReplayFile *out, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st = pm_read_file(path, largest, &text, err);

	*out = (PmReplayFile){ .path = path };
	if (!st) {
		st = pm_json_parse(text.s, text.len, &out->json, err);
		if (st)
			pm_err_ctx(err, "%s", path);
	}
	if (!st && (!cJSON_IsArray(out->json) || !cJSON_GetArraySize(out->json)))
		st = pm_err(err, PM_E_INVALID,
			    "%s is no report of evaluations; give a file that passmith eval -o wrote.", path);
	pm_str_release(&text);
	return st;
}

void pm_replay_release(PmReplayFile *f)
{
	cJSON_Delete(f->json);
	f->json = NULL;
}

static const cJSON *record(const cJSON *part, size_t i)
{
	return cJSON_GetArrayItem(cJSON_GetObjectItem(part, "records"), (int)i);
}

const char *pm_replay_secret(const cJSON *part, size_t i)
{
	return pm_json_str(record(part, i), "secret", "");
}

const char *pm_replay_hidden(const cJSON *part)
{
	return pm_json_str(cJSON_GetObjectItem(part, "hidden"), "secret", NULL);
}

size_t pm_replay_n(const cJSON *part)
{
	return (size_t)cJSON_GetArraySize(cJSON_GetObjectItem(part, "records"));
}

static PmStatus check_records(const PmReplayFile *f, const cJSON *part, const PmVariantList *m, PmErr *err)
{
	size_t n = pm_replay_n(part);

	/* A report that the first failure ended has records of the variants before it. */
	if (n > m->list.n || (n < m->list.n && !pm_json_i64(part, "left_out", 0)))
		return pm_err(
			err, PM_E_INVALID,
			"%s has %zu record%s and there %s %zu variant%s; replay it on the task or model, "
			"and with the --variants, --seed and selection, that it was made of.",
			f->path, n, pm_plural(n), pm_is_or_are(m->list.n), m->list.n, pm_plural(m->list.n));
	for (size_t i = 0; i < n; i++) {
		PmSecret *s;

		if (strcmp(pm_json_str(record(part, i), "variant", ""), m->list.v[i].label) != 0)
			return pm_err(err, PM_E_INVALID,
				      "Record %zu of %s is not of variant '%.100s'; replay it on the task or "
				      "model that it was made of.",
				      i, f->path, m->list.v[i].label);
		s = pm_secret_parse(pm_replay_secret(part, i));
		if (!s)
			return pm_err(err, PM_E_INVALID,
				      "Record %zu of %s (variant '%.100s') has no secret of 64 hexadecimal "
				      "digits, so that what was drawn for it is not known; evaluate again.",
				      i, f->path, m->list.v[i].label);
		pm_secret_free(s);
	}
	return PM_OK;
}

PmStatus pm_replay_find(const PmReplayFile *f, const PmEvalReport *r, const PmVariantList *variants,
			const cJSON **out, PmErr *err)
{
	int n = cJSON_GetArraySize(f->json);
	const cJSON *part;

	*out = n == 1 ? cJSON_GetArrayItem(f->json, 0) : NULL;
	cJSON_ArrayForEach(part,
			   f->json) if (!strcmp(pm_json_str(part, "pass_sha256", ""), r->sha256)) *out = part;
	if (!*out)
		return pm_err(
			err, PM_E_INVALID,
			"None of the %d pass%s in %s is %s as it is now; replay the pass that it names, or "
			"a report of one pass.",
			n, n == 1 ? "" : "es", f->path, r->pass);
	return check_records(f, *out, variants, err);
}

size_t pm_replay_agrees(const cJSON *part, const PmEvalReport *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += !strcmp(pm_json_str(record(part, i), "verdict", ""), pm_verdict_name(r->rec[i].verdict));
	return n;
}
