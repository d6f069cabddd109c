/* SPDX-License-Identifier: Apache-2.0 */
/* fenced.c - blocks of a text. */
#include "app/chat/fenced.h"

#include "base/core/clean.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WORD = 256 };

static const char unnamed[] = "pass.c";

/* The marks that a line begins with behind at most three blanks: how many and which; 0 = none. */
static size_t fence(const char *line, char *mark, const char **after)
{
	size_t n = 0;

	for (int i = 0; i < 3 && *line == ' '; i++)
		line++;
	*mark = *line;
	if (*line != '`' && *line != '~')
		return 0;
	while (line[n] == *mark)
		n++;
	*after = line + n;
	return n >= 3 ? n : 0;
}

static const char *next_line(const char *p)
{
	const char *end = strchr(p, '\n');

	return end ? end + 1 : p + strlen(p);
}

/* Is it the name of a file? */
static int is_path(const char *w)
{
	return strpbrk(w, "./") != NULL;
}

/* What a block is, from its first line: its language and the name of its file, each "" when not given. */
static void read_info(const char *p, char *language, char *path)
{
	static const char *const keys[] = { "name=", "file=", "path=", "title=" };
	char line[WORD * 2], *save = NULL, *colon;
	size_t n = strcspn(p, "\r\n");

	*language = *path = '\0';
	snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), p);
	for (char *w = strtok_r(line, " \t{}`", &save); w; w = strtok_r(NULL, " \t{}`", &save)) {
		for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
			if (!strncasecmp(w, keys[k], strlen(keys[k])))
				w += strlen(keys[k]);
		w += *w == '"' || *w == '\'';
		w[strcspn(w, "\"'")] = '\0';
		colon = strchr(w, ':');
		if (!*language && colon && is_path(colon + 1)) {
			*colon = '\0';
			snprintf(path, WORD, "%s", colon + 1);
			snprintf(language, WORD, "%s", w);
		} else if (is_path(w)) {
			snprintf(path, WORD, "%s", w);
		} else if (!*language) {
			snprintf(language, WORD, "%s", w);
		}
	}
}

static void add_file(cJSON *files, const char *path, const char *text, size_t n)
{
	cJSON *f = cJSON_CreateObject();
	PmStr s = PM_STR_INIT;

	pm_str_addn(&s, text, n);
	cJSON_AddStringToObject(f, "path", path);
	cJSON_AddStringToObject(f, "content", s.s);
	cJSON_AddItemToArray(files, f);
	pm_str_release(&s);
}

static void add_call(cJSON *calls, const char *text, size_t n)
{
	cJSON *c = cJSON_CreateObject(), *j = NULL, *args;
	const char *name;
	PmErr err;

	pm_err_init(&err);
	pm_json_parse(text, n, &j, &err);
	name = pm_json_str(j, "name", NULL);
	args = cJSON_DetachItemFromObjectCaseSensitive(j, "arguments");
	cJSON_AddStringToObject(c, "name", name ? name : "");
	if (name && (!args || cJSON_IsObject(args)))
		cJSON_AddItemToObject(c, "arguments", args ? args : cJSON_CreateObject());
	else
		cJSON_AddStringToObject(c, "error",
					"A block of ```tool holds one JSON object with \"name\" and "
					"\"arguments\", an object; write it so.");
	if (!cJSON_GetObjectItemCaseSensitive(c, "arguments"))
		cJSON_Delete(args);
	cJSON_AddItemToArray(calls, c);
	cJSON_Delete(j);
}

/* The block that begins at `line`, or NULL when none does: where the text goes on. *end is the end of what it
 * holds, which begins at *from; a block that nobody ends goes to the end of the text. */
static const char *block(const char *line, const char **info, const char **from, const char **end)
{
	char mark, other;
	const char *after;
	size_t n = fence(line, &mark, info), m;

	if (!n || (mark == '`' && memchr(*info, '`', strcspn(*info, "\n"))))
		return NULL;
	*from = next_line(line);
	for (line = *from; *line; line = next_line(line)) {
		m = fence(line, &other, &after);
		if (m >= n && other == mark && strchr("\n", after[strspn(after, " \t\r")]))
			break;
	}
	*end = line;
	return *line ? next_line(line) : line;
}

int pm_fenced_read(const char *text, cJSON *files, cJSON *calls)
{
	char language[WORD], path[WORD];
	const char *line, *next, *info, *from, *end, *only = NULL, *only_end = NULL;
	int n = 0, left_out = 0, bare = 0;

	for (line = text; *line; line = next) {
		next = block(line, &info, &from, &end);
		if (!next) {
			next = next_line(line);
			continue;
		}
		read_info(info, language, path);
		if (!*path && strcasecmp(language, "tool") != 0) {
			if (!strcasecmp(language, "c") && ++bare == 1) {
				only = from;
				only_end = end;
			}
			continue;
		}
		if (n++ >= PM_FENCED_MAX)
			left_out++;
		else if (*path)
			add_file(files, path, from, (size_t)(end - from));
		else
			add_call(calls, from, (size_t)(end - from));
	}
	if (bare == 1 && !cJSON_GetArraySize(files))
		add_file(files, unnamed, only, (size_t)(only_end - only));
	return left_out;
}
