/* SPDX-License-Identifier: Apache-2.0 */
/* published.c - published tables as text and JSON. */
#include "bench/report/published.h"

#include <string.h>

enum { MAX_COLUMNS = 10 };

/* A table, or (view PM_N_VIEWS) a row of the table before it. */
typedef struct Entry {
	PmView view;
	const char *hardware, *date, *source, *what, *columns; /* of a table */
	const char *row;
	double value[MAX_COLUMNS];
	size_t n;
} Entry;

#define TABLE(view, hardware, date, source, what, columns)                                                   \
	{ PM_VIEW_##view, hardware, date, source, what, columns, NULL, { 0 }, 0 },
#define ROW(name, ...)                                                                                       \
	{ PM_N_VIEWS,                                                                                        \
	  NULL,                                                                                              \
	  NULL,                                                                                              \
	  NULL,                                                                                              \
	  NULL,                                                                                              \
	  NULL,                                                                                              \
	  name,                                                                                              \
	  { __VA_ARGS__ },                                                                                   \
	  sizeof((double[]){ __VA_ARGS__ }) / sizeof(double) },
static const Entry entries[] = {
#include "bench/report/published.def"
};
enum { N_ENTRIES = sizeof entries / sizeof *entries };

static const char *const names[PM_N_VIEWS] = { "kernelbench", "multikernelbench", "metr", "passnet" };

PmView pm_view_from_name(const char *name)
{
	PmView v = 0;

	while (v < PM_N_VIEWS && strcmp(names[v], name))
		v++;
	return v;
}

const char *pm_view_name(PmView view)
{
	return names[view];
}

/* Cuts the next heading off; its length. */
static size_t heading(const char **at, const char **text)
{
	size_t n = strcspn(*at, "|");

	*text = *at;
	*at += n + ((*at)[n] == '|');
	return n;
}

static size_t is_row(size_t i)
{
	return i < N_ENTRIES && entries[i].row;
}

static void put_table(size_t t, PmStr *out)
{
	const char *at = entries[t].columns, *text;
	size_t width[MAX_COLUMNS], n = 0;

	pm_str_addf(out, "published, on %s (%s): %s; %s\n  %-50s", entries[t].hardware, entries[t].date,
		    entries[t].source, entries[t].what, "");
	while (*at) {
		size_t len = heading(&at, &text);

		width[n] = len < 8 ? 8 : len;
		pm_str_addf(out, " %*.*s", (int)width[n++], (int)len, text);
	}
	pm_str_addc(out, '\n');
	for (size_t i = t + 1; is_row(i); i++) {
		pm_str_addf(out, "  %-50s", entries[i].row);
		for (size_t k = 0; k < entries[i].n; k++)
			pm_str_addf(out, " %*.7g", (int)width[k], entries[i].value[k]);
		pm_str_addc(out, '\n');
	}
}

void pm_published_text(PmView view, PmStr *out)
{
	pm_str_add(out, "\nMeasured elsewhere, in no figure above:\n");
	for (size_t i = 0; i < N_ENTRIES; i++)
		if (entries[i].view == view)
			put_table(i, out);
}

static cJSON *table_json(size_t t)
{
	const char *at = entries[t].columns, *text;
	cJSON *j = cJSON_CreateObject(), *list;

	cJSON_AddStringToObject(j, "hardware", entries[t].hardware);
	cJSON_AddStringToObject(j, "date", entries[t].date);
	cJSON_AddStringToObject(j, "source", entries[t].source);
	cJSON_AddStringToObject(j, "what", entries[t].what);
	list = cJSON_AddArrayToObject(j, "columns");
	while (*at) {
		size_t len = heading(&at, &text);
		PmStr one = PM_STR_INIT;

		pm_str_addn(&one, text, len);
		cJSON_AddItemToArray(list, cJSON_CreateString(one.s));
		pm_str_release(&one);
	}
	list = cJSON_AddArrayToObject(j, "rows");
	for (size_t i = t + 1; is_row(i); i++) {
		cJSON *row = cJSON_CreateObject();

		cJSON_AddStringToObject(row, "name", entries[i].row);
		cJSON_AddItemToObject(row, "values",
				      cJSON_CreateDoubleArray(entries[i].value, (int)entries[i].n));
		cJSON_AddItemToArray(list, row);
	}
	return j;
}

cJSON *pm_published_json(PmView view)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < N_ENTRIES; i++)
		if (entries[i].view == view)
			cJSON_AddItemToArray(list, table_json(i));
	return list;
}
