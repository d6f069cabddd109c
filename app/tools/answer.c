/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - answers of tools: errors as sentences, and how much one may hold. */
#include "app/tools/tools_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

cJSON *pm__error(int *is_error, const char *fmt, ...)
{
	char text[PM_ERR_MAX];
	cJSON *j = cJSON_CreateObject();
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	cJSON_AddStringToObject(j, "error", text);
	*is_error = 1;
	return j;
}

cJSON *pm__error_of(int *is_error, const PmErr *err)
{
	return pm__error(is_error, "%s", err->text);
}

const char *pm__arg(const cJSON *args, const char *name)
{
	return pm_json_str(args, name, NULL);
}

void pm__json_copy(cJSON *to, const cJSON *from, const char *name)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(from, name);

	if (m)
		cJSON_AddItemToObject(to, name, cJSON_Duplicate(m, 1));
}

/* ---- what is too long ---- */

enum { TEXT_KEEP = 400, LIST_KEEP = 1 };

size_t pm__json_bytes(const cJSON *j)
{
	PmStr text = PM_STR_INIT;
	size_t n;

	pm_json_print(j, 0, &text);
	n = text.len;
	pm_str_release(&text);
	return n;
}

typedef struct Largest {
	cJSON *at;
	size_t bytes;
	char name[96];
} Largest;

/* Where most bytes would be saved: of the lists and texts that may still be cut, the deepest that holds the
 * most. A list that holds little beside one member leaves that member to be cut. */
static void find(cJSON *j, const char *name, Largest *best)
{
	cJSON *m;
	char path[96];

	cJSON_ArrayForEach(m, j)
	{
		size_t bytes;

		snprintf(path, sizeof path, "%s%s%s", name, *name && m->string ? "." : "",
			 m->string ? m->string : "[]");
		if (cJSON_IsArray(m) && cJSON_GetArraySize(m) > LIST_KEEP) {
			bytes = pm__json_bytes(m);
			if (bytes > best->bytes && strcmp(path, "left_out")) {
				best->at = m;
				best->bytes = bytes;
				snprintf(best->name, sizeof best->name, "%s", path);
			}
		}
		if (cJSON_IsString(m) && strlen(m->valuestring) > TEXT_KEEP + 64 &&
		    (bytes = pm__json_bytes(m)) > best->bytes) {
			best->at = m;
			best->bytes = bytes;
			snprintf(best->name, sizeof best->name, "%s", path);
		}
		find(m, path, best);
	}
}

static void cut_list(cJSON *list, size_t over)
{
	int n = cJSON_GetArraySize(list);

	for (size_t gone = 0; n > LIST_KEEP && gone < over; n--) {
		gone += pm__json_bytes(cJSON_GetArrayItem(list, n - 1)) + 1;
		cJSON_DeleteItemFromArray(list, n - 1);
	}
}

static void cut_text(cJSON *text, size_t over)
{
	size_t n = strlen(text->valuestring), keep = n > over + TEXT_KEEP ? n - over : TEXT_KEEP;
	PmStr cut = PM_STR_INIT;

	while (keep && ((unsigned char)text->valuestring[keep] & 0xc0) == 0x80)
		keep--;
	pm_str_addn(&cut, text->valuestring, keep);
	pm_str_addf(&cut, " ... (%zu bytes more)", n - keep);
	cJSON_SetValuestring(text, cut.s);
	pm_str_release(&cut);
}

/* One line for each thing that was cut, told once with its last count. */
static void note(cJSON *notes, const Largest *what, int had, const char *uri)
{
	PmStr line = PM_STR_INIT;
	size_t n = strlen(what->name);
	cJSON *old;
	int at = 0;

	cJSON_ArrayForEach(old, notes)
	{
		if (!strncmp(old->valuestring, what->name, n) && old->valuestring[n] == ':')
			break;
		at++;
	}
	if (old)
		cJSON_DeleteItemFromArray(notes, at);
	if (cJSON_IsArray(what->at))
		pm_str_addf(&line, "%s: the first %d are here", what->name, cJSON_GetArraySize(what->at));
	else
		pm_str_addf(&line, "%s: a text is cut", what->name);
	(void)had;
	if (uri)
		pm_str_addf(&line, ", all is in %s", uri);
	cJSON_AddItemToArray(notes, cJSON_CreateString(line.s));
	pm_str_release(&line);
}

void pm__fit(cJSON *answer, const char *uri)
{
	enum { ROUNDS = 64, ROOM = 512 };
	cJSON *notes = NULL;
	size_t bytes;

	for (int i = 0; i < ROUNDS && (bytes = pm__json_bytes(answer)) > PM__ANSWER_MAX; i++) {
		Largest l = { 0 };
		size_t over = bytes - PM__ANSWER_MAX + ROOM;
		int had;

		find(answer, "", &l);
		if (!l.at)
			return;
		had = cJSON_GetArraySize(l.at);
		if (cJSON_IsArray(l.at))
			cut_list(l.at, over < l.bytes / 2 ? over : l.bytes / 2);
		else
			cut_text(l.at, over < l.bytes / 2 ? over : l.bytes / 2);
		if (!notes)
			notes = cJSON_AddArrayToObject(answer, "left_out");
		note(notes, &l, had, uri);
	}
}
