/* SPDX-License-Identifier: Apache-2.0 */
/* events.c - lines of JSON about variants that are finished. */
#include "app/eval/events.h"

#include "base/core/json.h"
#include "base/core/str.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "bench/report/report.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct PmEvents {
	int fd;
	char *path;
	double began;
};

PmStatus pm_events_open(const char *path, PmEvents **out, PmErr *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	PmEvents *e;

	if (fd < 0)
		return pm_path_error("write", path, 1, err);
	e = pm_xcalloc(1, sizeof *e);
	e->fd = fd;
	e->path = pm_xstrdup(path);
	*out = e;
	return PM_OK;
}

void pm_events_close(PmEvents *e)
{
	if (!e)
		return;
	close(e->fd);
	free(e->path);
	free(e);
}

/* Takes `j`. One write a line: a reader sees whole lines, and the part of one at most at the end. */
static PmStatus put(PmEvents *e, cJSON *j, PmErr *err)
{
	PmStr line = PM_STR_INIT;
	PmStatus st = PM_OK;

	pm_json_print(j, 0, &line);
	while (line.len && line.s[line.len - 1] == '\n')
		line.s[--line.len] = '\0';
	pm_str_addc(&line, '\n');
	if (write(e->fd, line.s, line.len) != (ssize_t)line.len)
		st = pm_path_error("write", e->path, 1, err);
	pm_str_release(&line);
	cJSON_Delete(j);
	return st;
}

PmStatus pm_events_begin(PmEvents *e, const char *pass, size_t n, PmErr *err)
{
	cJSON *j;

	if (!e)
		return PM_OK;
	e->began = pm_now();
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "event", "begin");
	cJSON_AddStringToObject(j, "pass", pass);
	pm_json_add_i64(j, "variants", (int64_t)n);
	return put(e, j, err);
}

PmStatus pm_events_variant(PmEvents *e, int64_t number, const PmEvalRecord *rec, int stored, PmErr *err)
{
	cJSON *j, *record;

	if (!e)
		return PM_OK;
	record = pm_eval_record_json(rec);
	cJSON_DeleteItemFromObjectCaseSensitive(record, "secret");
	cJSON_DeleteItemFromObjectCaseSensitive(record, "inputs");
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "event", "variant");
	pm_json_add_i64(j, "number", number);
	cJSON_AddNumberToObject(j, "seconds", pm_now() - e->began);
	cJSON_AddBoolToObject(j, "stored", stored);
	cJSON_AddItemToObject(j, "record", record);
	return put(e, j, err);
}
