/* SPDX-License-Identifier: Apache-2.0 */
/* time_file.c - the file of passmith time. */
#include "app/time/time_file.h"

#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "dataset/store/subgraphs.h"
#include "runtime/device/library.h"

#include <stdio.h>
#include <string.h>

static const double keep_every = 10; /* seconds after which the times so far are written */

enum { MAX_FILE = 1 << 30 };

cJSON *pm_time_file_json(PmTime *t)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "kind", "passmith_time");
	if (t->has_info) {
		cJSON_AddStringToObject(j, "device", t->info.name);
		cJSON_AddStringToObject(j, "cublaslt",
					pm_library_allowed() ? pm_library_cublaslt()->text : "off");
		cJSON_AddStringToObject(j, "cudnn", pm_library_allowed() ? pm_library_cudnn()->text : "off");
	}
	cJSON_AddBoolToObject(j, "tf32", t->tf32);
	cJSON_AddNumberToObject(j, "rewrite_seconds", t->rewritten);
	cJSON_AddNumberToObject(j, "open_seconds", t->opened);
	cJSON_AddNumberToObject(j, "compile_seconds", t->compiled);
	cJSON_AddNumberToObject(j, "all_seconds", pm_now() - t->begin);
	cJSON_AddBoolToObject(j, "graphs", t->graphs);
	cJSON_AddNumberToObject(j, "left_out", t->left_out);
	if (t->seats)
		cJSON_AddItemToObject(j, "gpus", pm_seats_json(t->seats));
	if (t->timings)
		cJSON_AddItemToObject(j, "timings", pm_time_stages_json(&t->stages));
	cJSON_AddItemToObject(j, "records", cJSON_Duplicate(t->records, 1));
	return j;
}

/* Without a device there are no times, and a file of the run before stays. */
PmStatus pm_time_file_write(const PmTime *t, const cJSON *times, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st;

	if (!t->json_out || !t->has_info)
		return PM_OK;
	pm_json_print(times, 1, &text);
	st = pm_write_file(t->json_out, text.s, text.len, err);
	pm_str_release(&text);
	return st;
}

PmStatus pm_time_file_keep(PmTime *t, PmErr *err)
{
	cJSON *j;
	PmStatus st;

	if (!t->json_out || pm_now() - t->kept < keep_every)
		return PM_OK;
	j = pm_time_file_json(t);
	st = pm_time_file_write(t, j, err);
	t->kept = pm_now();
	cJSON_Delete(j);
	return st;
}

PmStatus pm_time_file_resume(PmTime *t, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmDeviceInfo info = t->info;
	cJSON *j = NULL, *records;
	PmStatus st = t->has_info ? PM_OK : pm_worker_info(t->worker, &info, err);

	if (!st)
		st = pm_read_file(t->json_out, MAX_FILE, &text, err);
	if (!st)
		st = pm_json_parse(text.s, text.len, &j, err);
	records = cJSON_GetObjectItem(j, "records");
	if (!st && (!cJSON_IsArray(records) || strcmp(pm_json_str(j, "kind", ""), "passmith_time")))
		st = pm_err(err, PM_E_INVALID, "%s has no times of passmith time; name another file with -o.",
			    t->json_out);
	else if (!st && (strcmp(pm_json_str(j, "device", ""), info.name) ||
			 cJSON_IsTrue(cJSON_GetObjectItem(j, "tf32")) != t->tf32 ||
			 cJSON_IsTrue(cJSON_GetObjectItem(j, "graphs")) != t->graphs))
		st = pm_err(
			err, PM_E_INVALID,
			"The times in %s are of '%.80s', this is '%.80s', or of other --tf32 or --graphs; "
			"begin a file of their own with -o.",
			t->json_out, pm_json_str(j, "device", ""), info.name);
	for (cJSON *r = st ? NULL : cJSON_GetArrayItem(records, 0), *next; r; r = next) {
		next = r->next;
		if (cJSON_HasObjectItem(r, "times"))
			cJSON_AddItemToArray(t->records, cJSON_DetachItemViaPointer(records, r));
	}
	cJSON_Delete(j);
	pm_str_release(&text);
	return st;
}

int pm_time_file_has(const PmTime *t, const PmGraph *g)
{
	const cJSON *r;
	PmGraphKey key;

	if (!t->resume || pm_graph_key(g, &key, NULL))
		return 0;
	cJSON_ArrayForEach(r, t->records)
	{
		const cJSON *times = cJSON_GetObjectItem(r, "times");

		if (times && !strcmp(pm_json_str(r, "graph", ""), key.full) &&
		    !strcmp(pm_json_str(r, "target", ""), t->target) &&
		    cJSON_HasObjectItem(times, t->pass ? t->system : "passmith eager"))
			return 1;
	}
	return 0;
}
