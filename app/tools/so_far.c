/* SPDX-License-Identifier: Apache-2.0 */
/* so_far.c - what a whole evaluation has finished before it ends, from the file that `passmith eval
 * --progress` writes: it is there after a cancelled run and a session that is gone, too. */
#include "app/tools/tools_priv.h"

#include "matcher/host/verdict.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void pm__so_far_path(const PmToolRun *r, char path[64])
{
	snprintf(path, 64, ".runs/%.16s.progress.jsonl", r->handle);
}

/* ---- lines ---- */

static void take_line(PmToolRun *r, const char *line, size_t n)
{
	cJSON *j = NULL;

	if (pm_json_parse(line, n, &j, NULL))
		return;
	if (!strcmp(pm_json_str(j, "event", ""), "begin")) { /* again: what came before does not count */
		cJSON_Delete(r->so_far);
		r->so_far = NULL;
		r->total = pm_json_num(j, "variants", 0);
		r->done = 0;
		r->told++;
	}
	if (strcmp(pm_json_str(j, "event", ""), "variant") != 0) {
		cJSON_Delete(j);
		return;
	}
	if (!r->so_far)
		r->so_far = cJSON_CreateArray();
	cJSON_AddItemToArray(r->so_far, j);
	r->done++;
	r->heard = pm_now();
	r->told++;
}

static double work_of(const PmToolRun *r, int64_t number)
{
	return number >= 0 && number < (int64_t)r->work.n ? r->work.v[number] : 1;
}

/* What the database had took no time. A variant that is in work has no line, so that it is left. */
double pm__seconds_left(const PmToolRun *r, double now)
{
	const cJSON *line;
	double seconds = 0, done = 0, judged = 0, all = r->work.n ? 0 : r->total, left;
	int n = 0;

	for (size_t i = 0; i < r->work.n; i++)
		all += r->work.v[i];
	cJSON_ArrayForEach(line, r->so_far)
	{
		double work = work_of(r, pm_json_i64(line, "number", -1));

		judged += work;
		if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line, "stored")))
			continue;
		n++;
		done += work;
		seconds = fmax(seconds, pm_json_num(line, "seconds", 0));
	}
	if (n < 2 || r->total <= r->done || !(done > 0))
		return NAN;
	left = (all - judged) * seconds / done - (now - r->heard);
	return left > 0 ? left : NAN;
}

static double seconds_left(const PmToolRun *r)
{
	return pm__seconds_left(r, r->state == PM__RUNNING ? pm_now() : r->heard);
}

static cJSON *records_of(const PmToolRun *r)
{
	cJSON *list = cJSON_CreateArray();
	const cJSON *line;

	cJSON_ArrayForEach(line, r->so_far)
	{
		cJSON *rec = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(line, "record"), 1);

		cJSON_AddNumberToObject(rec, "number", pm_json_num(line, "number", 0));
		cJSON_AddItemToArray(list, rec);
	}
	return list;
}

/* "12 of 30 variants are judged (11 OK, 1 PRECISION); about 40 s are left". */
static void words_of(const PmToolRun *r, PmStr *out)
{
	double left = seconds_left(r);
	int of[PM_N_VERDICTS + 1] = { 0 };
	const char *sep = " (";
	const cJSON *line;

	cJSON_ArrayForEach(line, r->so_far) of[pm_verdict_from_name(
		pm_json_str(cJSON_GetObjectItemCaseSensitive(line, "record"), "verdict", ""))]++;
	pm_str_addf(out, "%g of %g variants are judged", r->done, r->total);
	for (int v = 0; v < PM_N_VERDICTS; v++)
		if (of[v]) {
			pm_str_addf(out, "%s%d %s", sep, of[v], pm_verdict_name((PmVerdict)v));
			sep = ", ";
		}
	if (r->done > 0)
		pm_str_addc(out, ')');
	if (r->state == PM__RUNNING && r->done >= r->total)
		pm_str_add(out, "; hidden shapes are looked at");
	if (r->state == PM__RUNNING && isfinite(left))
		pm_str_addf(out, "; about %.0f s are left", ceil(left));
}

int pm__so_far_read(const PmTools *t, PmToolRun *r, PmStr *words)
{
	PmStr text = PM_STR_INIT;
	int64_t before = r->read;
	char path[64], chunk[64 * 1024];
	const char *line, *end;
	ssize_t n;
	int fd, news;

	pm__so_far_path(r, path);
	fd = openat(t->dir, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	while ((n = pread(fd, chunk, sizeof chunk, (off_t)(r->read + (int64_t)text.len))) > 0)
		pm_str_addn(&text, chunk, (size_t)n);
	close(fd);
	for (line = text.s; text.len && (end = strchr(line, '\n')) != NULL; line = end + 1) {
		take_line(r, line, (size_t)(end - line));
		r->read += end + 1 - line;
	}
	news = r->read > before;
	if (news)
		words_of(r, words);
	pm_str_release(&text);
	return news;
}

void pm__so_far_add(const PmTools *t, const PmToolRun *r, cJSON *j)
{
	PmStr words = PM_STR_INIT;
	double left = seconds_left(r);
	cJSON *records;

	if (!(r->done > 0)) /* what its first variant says is in `progress` */
		return;
	records = records_of(r);
	words_of(r, &words);
	cJSON_DeleteItemFromObjectCaseSensitive(j, "progress");
	cJSON_AddStringToObject(j, "progress", words.s);
	if (isfinite(left) && r->state == PM__RUNNING)
		cJSON_AddNumberToObject(j, "seconds_left", ceil(left));
	cJSON_AddItemToObject(j, "so_far", pm__eval_so_far(t, r, records));
	cJSON_Delete(records);
	pm_str_release(&words);
}
