/* SPDX-License-Identifier: Apache-2.0 */
/* report_data.c - what a report is made of as JSON. */
#include "app/report/report_data.h"

#include "app/report/put.h"
#include "bench/report/systems_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_CELLS = 4000 }; /* about a hundred bytes of page and as many of data each */

int pm_report_is_small(const PmBoards *b)
{
	size_t n = 0;

	for (size_t k = 0; k < b->v.n; k++)
		n += b->v.v[k].table.graphs.n * b->v.v[k].table.n;
	return n <= SMALL_CELLS;
}

/* Six digits are what a reader of a page can use, and a third of the bytes. */
static void round_numbers(cJSON *j)
{
	for (cJSON *c = j->child; c; c = c->next) {
		char text[32];

		if (cJSON_IsNumber(c) && isfinite(c->valuedouble) && fabs(c->valuedouble) < 1e15 &&
		    c->valuedouble != floor(c->valuedouble)) {
			snprintf(text, sizeof text, "%.6g", c->valuedouble);
			cJSON_SetNumberValue(c, strtod(text, NULL));
		}
		round_numbers(c);
	}
}

static const char *const lists[] = { "tasks", "graphs" };
enum { N_LISTS = sizeof lists / sizeof *lists };

static PmStatus board_json(const PmBoard *b, cJSON *to, PmErr *err)
{
	cJSON *j = cJSON_CreateObject(), *bench = NULL;
	char text[128];
	PmStatus st;

	cJSON_AddItemToArray(to, j);
	pm_board_name(b, text, sizeof text);
	cJSON_AddStringToObject(j, "name", text);
	cJSON_AddStringToObject(j, "gpu", b->gpu);
	cJSON_AddStringToObject(j, "version", b->version);
	cJSON_AddStringToObject(j, "options", b->options);
	cJSON_AddStringToObject(j, "machines", b->machines ? b->machines : "");
	pm_put_date_text(b->first, text, sizeof text);
	cJSON_AddStringToObject(j, "first", text);
	pm_put_date_text(b->last, text, sizeof text);
	cJSON_AddStringToObject(j, "last", text);
	cJSON_AddStringToObject(j, "clock", pm_sys_clock_name(pm_systems_main_clock(&b->table)));
	st = pm_systems_json(&b->table, b->preset, &bench, err);
	if (st)
		return st;
	round_numbers(bench);
	cJSON_AddItemToObject(j, "bench", bench);
	return PM_OK;
}

PmStatus pm_report_data(const PmBoards *b, cJSON **out, PmErr *err)
{
	cJSON *j = cJSON_CreateObject(), *boards = cJSON_AddArrayToObject(j, "boards");
	PmStatus st = PM_OK;

	for (size_t k = 0; k < b->v.n && !st; k++)
		st = board_json(&b->v.v[k], boards, err);
	if (st)
		cJSON_Delete(j);
	else
		*out = j;
	return st;
}

static cJSON *of_task(const cJSON *list, int64_t task)
{
	cJSON *out = cJSON_CreateArray();

	for (const cJSON *c = list ? list->child : NULL; c; c = c->next)
		if (pm_json_i64(c, "task", 0) == task)
			cJSON_AddItemToArray(out, cJSON_Duplicate(c, 1));
	return out;
}

/* A board without its lists, or (task) with what they have of it and without the figures over all. */
static cJSON *part_of(const cJSON *board, int64_t task)
{
	cJSON *j = cJSON_CreateObject(), *to;
	const cJSON *bench = cJSON_GetObjectItem(board, "bench");

	for (const cJSON *c = board->child; c; c = c->next)
		if (c != bench)
			cJSON_AddItemToObject(j, c->string, cJSON_Duplicate(c, 1));
	to = cJSON_AddObjectToObject(j, "bench");
	for (const cJSON *c = bench ? bench->child : NULL; c; c = c->next) {
		int is_list = 0;

		for (int i = 0; i < N_LISTS; i++)
			is_list |= !strcmp(c->string, lists[i]);
		if (is_list && task)
			cJSON_AddItemToObject(to, c->string, of_task(c, task));
		else if (!is_list && (!task || !c->child))
			cJSON_AddItemToObject(to, c->string, cJSON_Duplicate(c, 1));
	}
	return j;
}

cJSON *pm_report_data_part(const cJSON *data, int64_t task)
{
	cJSON *j = cJSON_CreateObject(), *boards = cJSON_AddArrayToObject(j, "boards"), *left;

	for (const cJSON *b = cJSON_GetObjectItem(data, "boards")->child; b; b = b->next)
		cJSON_AddItemToArray(boards, part_of(b, task));
	left = cJSON_AddArrayToObject(j, "left_out");
	for (int i = 0; i < N_LISTS && !task; i++)
		cJSON_AddItemToArray(left, cJSON_CreateString(lists[i]));
	return j;
}
