/* SPDX-License-Identifier: Apache-2.0 */
/* task_pack.c - passmith task pack, unpack, verify: tasks as folders. */
#include "cli/task/task.h"

#include "app/task/task_pack.h"

#include <stdio.h>

PmStatus pm_task_verb_pack(PmTaskCmd *c, PmErr *err)
{
	PmProgress bar = { 0 };
	const PmWatch watch = pm_cli_watch(&bar);
	const PmTaskPackOpts o = { c->db, c->arg, c->split, c->out, &watch };
	PmTaskPacked p;
	PmStatus st = pm_task_pack(&o, &p, err);

	if (!st && pm_cli_json) {
		cJSON *j = cJSON_CreateObject();

		pm_json_add_i64(j, "packs", (int64_t)p.n);
		pm_json_add_i64(j, "new", (int64_t)p.n_new);
		cJSON_AddStringToObject(j, "last", p.dir.s);
		pm_cli_put_json(j);
	} else if (!st && p.n == 1) {
		printf("%s\n", p.dir.s);
	} else if (!st) {
		printf("%zu packs below %s, %zu of them new\n", p.n, c->out, p.n_new);
	}
	pm_str_release(&p.dir);
	return st;
}

static PmStatus unpack(PmDb *db, const char *dir, const char *what, PmErr *err)
{
	int64_t n;
	PmStatus st = pm_task_unpack(db, dir, &n, err);

	if (!st && pm_cli_json) {
		cJSON *j = cJSON_CreateObject();

		pm_json_add_i64(j, what, n);
		pm_cli_put_json(j);
	} else if (!st) {
		printf("%lld packs %s\n", (long long)n, what);
	}
	return st;
}

PmStatus pm_task_verb_unpack(PmTaskCmd *c, PmErr *err)
{
	return unpack(c->db, c->arg, "unpacked", err);
}

PmStatus pm_task_verb_verify(PmTaskCmd *c, PmErr *err)
{
	return unpack(NULL, c->arg, "verified", err);
}
