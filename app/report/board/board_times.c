/* SPDX-License-Identifier: Apache-2.0 */
/* board_times.c - a board from a file of times. */
#define _XOPEN_SOURCE 700
#include "app/report/board/board_times.h"

#include "app/eval/bench_cells.h"
#include "base/core/arena.h"
#include "base/core/json.h"
#include "base/sys/io.h"
#include "runtime/exec/exec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int is_about(const char *key)
{
	static const char *const about[] = { "task", "variant", "class", "launches", "graph_host", "failed" };

	for (size_t i = 0; i < sizeof about / sizeof *about; i++)
		if (!strcmp(key, about[i]))
			return 1;
	return 0;
}

static int is_column(const PmBoard *b, const char *system)
{
	for (size_t k = 0; k < b->table.n; k++)
		if (!strcmp(b->system[k].path, system))
			return 1;
	return 0;
}

/* Adds the columns that a graph has and those before it have not: a system may lack some graphs. */
static PmStatus add_systems(PmBoard *b, const cJSON *graph, PmErr *err)
{
	for (const cJSON *c = graph->child; c; c = c->next) {
		if (is_about(c->string) || is_column(b, c->string))
			continue;
		if (b->table.n == PM_MAX_SYSTEMS)
			return pm_err(err, PM_E_LIMIT,
				      "A ranking has at most %d systems; '%.60s' is one too many.",
				      PM_MAX_SYSTEMS, c->string);
		b->system[b->table.n].path = pm_xstrdup(c->string);
		snprintf(b->table.name[b->table.n], sizeof b->table.name[0], "%s", c->string);
		b->table.n++;
	}
	return PM_OK;
}

/* Three positive numbers, and perhaps a level. */
static int is_times(const cJSON *times)
{
	int n = cJSON_GetArraySize(times);
	const cJSON *t = cJSON_GetArrayItem(times, 3);

	for (int k = 0; k < 3; k++) {
		const cJSON *x = cJSON_GetArrayItem(times, k);

		if (!cJSON_IsNumber(x) || !(x->valuedouble > 0))
			return 0;
	}
	return cJSON_IsArray(times) && n <= 4 && (!t || cJSON_IsNumber(t));
}

/* An answer that is right at no level of the ladder is right at none. */
static PmStatus take_cell(PmBoard *b, const cJSON *times, const char *system, PmSysGraph *g, PmSysCell *c,
			  PmErr *err)
{
	const cJSON *t = cJSON_GetArrayItem(times, 3);

	if (!times || cJSON_IsNull(times))
		return PM_OK;
	if (!is_times(times))
		return pm_err(err, PM_E_INVALID,
			      "Graph '%.100s' of the file of times has for '%.60s' no list of three times, "
			      "and of a "
			      "level where there is one; app/report/board_times.h says what it has to have.",
			      g->label, system);
	snprintf(c->status, sizeof c->status, "correct");
	snprintf(c->machine, sizeof c->machine, "%s", b->gpu);
	c->matched = 1;
	c->smallest_t = PM_T_MIN;
	if (t)
		c->smallest_t = t->valuedouble >= PM_T_MIN && t->valuedouble <= PM_T_MAX ? t->valueint
											 : PM_T_NEVER;
	for (int k = 0; k < 3; k++)
		c->seconds[k] = 1e-6 * cJSON_GetNumberValue(cJSON_GetArrayItem(times, k));
	return PM_OK;
}

static void take_declined(PmBoard *b, PmSysGraph *g, size_t k)
{
	for (size_t e = 0; e < b->table.n; e++)
		if (!strcmp(b->table.name[e], "eager")) {
			snprintf(g->cell[k].status, sizeof g->cell[k].status, "correct");
			g->cell[k].smallest_t = PM_T_MIN;
			pm_bench_cell_decline(&g->cell[k], &g->cell[e]);
		}
}

/* Of "shape 0, bfloat16: 1x196x384"; -1 for another label. */
static int dtype_of(const char *label)
{
	const char *at = strchr(label, ',');
	char name[16];

	if (!at)
		return -1;
	at += strspn(at, ", ");
	snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ":"), at);
	return pm_dtype_from_name(name);
}

static void add_task(PmBoards *all, int64_t id, const char *kind)
{
	PmBoardTask t = {
		.id = id, .kind = pm_xstrdup(""), .split = pm_xstrdup(""), .stratum = pm_xstrdup("")
	};
	PmStr name = PM_STR_INIT;

	pm_str_addf(&name, "%s (task %lld)", kind, (long long)id);
	t.name = pm_str_detach(&name, NULL);
	PM_VEC_PUSH(&all->tasks, t);
}

static PmStatus add_graph(PmBoards *all, PmBoard *b, const cJSON *graph, PmErr *err)
{
	int64_t task = pm_json_i64(graph, "task", 0);
	const char *label = pm_json_str(graph, "variant", "");
	PmStatus st = PM_OK;
	PmSysGraph *g;

	if (task < 1 || dtype_of(label) < 0 || !b->table.n)
		return pm_err(err, PM_E_INVALID,
			      "Graph %zu of the file of times has no task, no variant with an element type "
			      "or no system; "
			      "app/report/board/board_times.h says what it has to have.",
			      b->table.graphs.n);
	if (!all->tasks.n || all->tasks.v[all->tasks.n - 1].id != task)
		add_task(all, task, pm_json_str(graph, "class", ""));
	g = pm_systems_add(&b->table);
	g->task = task;
	g->ordinal = all->tasks.v[all->tasks.n - 1].n_variants++;
	g->dtype = dtype_of(label);
	g->category = PM_N_CATEGORIES;
	snprintf(g->label, sizeof g->label, "%s", label);
	for (size_t k = 0; k < b->table.n && !st; k++)
		st = take_cell(b, cJSON_GetObjectItemCaseSensitive(graph, b->table.name[k]), b->table.name[k],
			       g, &g->cell[k], err);
	for (size_t k = 0; k < b->table.n; k++)
		if (cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(graph, b->table.name[k])))
			take_declined(b, g, k);
	return st;
}

static void take_about(const cJSON *j, PmBoard *b)
{
	const char *preset = pm_json_str(j, "preset", "sound");
	PmStr options = PM_STR_INIT;
	struct tm day = { 0 };

	snprintf(b->device, sizeof b->device, "cuda");
	snprintf(b->gpu, sizeof b->gpu, "%s", pm_json_str(j, "device", ""));
	snprintf(b->profile, sizeof b->profile, "%s", pm_profile(NULL)->name);
	snprintf(b->version, sizeof b->version, "at commit %.16s", pm_json_str(j, "commit", "-"));
	b->preset = strcmp(preset, "passnet") ? PM_PRESET_SOUND : PM_PRESET_PASSNET;
	pm_str_addf(&options, "preset=%s", b->preset == PM_PRESET_PASSNET ? "passnet" : "sound");
	b->options = pm_str_detach(&options, NULL);
	if (strptime(pm_json_str(j, "date", ""), "%Y-%m-%d", &day))
		b->first = b->last = (int64_t)timegm(&day);
}

PmStatus pm_boards_from_times(const char *path, PmBoards *out, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmBoard b = { .n_left_out = 0 };
	const cJSON *graphs;
	cJSON *j = NULL;
	PmStatus st = pm_read_file(path, 0, &text, err);

	if (!st)
		st = pm_json_parse(text.s, text.len, &j, err);
	graphs = cJSON_GetObjectItem(j, "graphs");
	if (!st && (!cJSON_IsArray(graphs) || !graphs->child))
		st = pm_err(err, PM_E_INVALID,
			    "%.200s has no list 'graphs'; app/report/board_times.h says what a file of times "
			    "has.",
			    path);
	if (!st) {
		take_about(j, &b);
		for (const cJSON *g = graphs->child; g && !st; g = g->next)
			st = add_systems(&b, g, err);
	}
	for (const cJSON *g = st ? NULL : graphs->child; g && !st; g = g->next)
		st = add_graph(out, &b, g, err);
	b.cell = pm_xcalloc(b.table.graphs.n * PM_MAX_SYSTEMS + 1, sizeof *b.cell);
	PM_VEC_PUSH(&out->v, b);
	cJSON_Delete(j);
	pm_str_release(&text);
	return st;
}
