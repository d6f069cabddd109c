/* SPDX-License-Identifier: Apache-2.0 */
/* group_list.c - reads which models are one task. */
#include "app/task/group_list.h"

#include "base/core/str.h"
#include "base/sys/io.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 256 << 20 };

static void take_models(PmGroupLine *g, const char *folder, char *names)
{
	for (char *save = NULL, *m = strtok_r(names, ",", &save); m; m = strtok_r(NULL, ",", &save)) {
		PmStr path = PM_STR_INIT;

		if (*m == '/')
			pm_str_add(&path, m);
		else
			pm_path_join(folder, m, &path);
		PM_VEC_PUSH(&g->model, pm_str_detach(&path, NULL));
	}
}

/* `line` is taken apart in place. */
static PmStatus take_line(PmGroupList *l, const char *path, const char *folder, char *line, size_t number,
			  PmErr *err)
{
	char *models = strchr(line, '\t'), *count = models ? strchr(models + 1, '\t') : NULL;
	PmGroupLine g = { 0 }, *last;

	if (models)
		*models++ = '\0';
	if (count)
		*count++ = '\0';
	for (size_t i = 0; i < l->group.n; i++)
		if (models && !strcmp(l->group.v[i].name, line))
			return pm_err(
				err, PM_E_INVALID,
				"Line %zu of %s names the group '%.80s' a second time; give each group a "
				"name of its own.",
				number, path, line);
	PM_VEC_PUSH(&l->group, g); /* from here on it is released with the list */
	last = &l->group.v[l->group.n - 1];
	last->name = pm_xstrdup(line);
	if (models)
		take_models(last, folder, models);
	last->listed = (int64_t)last->model.n;
	if (!*line || !last->model.n || (count && (!pm_parse_i64(count, &last->listed) || last->listed < 1)))
		return pm_err(
			err, PM_E_INVALID,
			"Line %zu of %s is not NAME<TAB>MODEL,MODEL,... or that with <TAB>LISTED, a number "
			"from 1; tools/bench/import_kernelbench.py writes such files.",
			number, path);
	return PM_OK;
}

PmStatus pm_group_list_read(const char *path, PmGroupList *out, PmErr *err)
{
	PmStr text = PM_STR_INIT, folder = PM_STR_INIT;
	PmStatus st = pm_read_file(path, MAX_BYTES, &text, err);
	char *line = text.s;

	pm_path_dir(path, &folder);
	for (size_t number = 1; !st && text.len && line; number++) {
		char *end = strchr(line, '\n'), *next = end ? end + 1 : NULL;

		if (end)
			*end = '\0';
		line[strcspn(line, "\r")] = '\0';
		if (*line && *line != '#')
			st = take_line(out, path, folder.s, line, number, err);
		line = next;
	}
	if (!st && !out->group.n)
		st = pm_err(err, PM_E_INVALID, "%s names no group; a line is NAME<TAB>MODEL,MODEL,....",
			    path);
	pm_str_release(&text);
	pm_str_release(&folder);
	return st;
}

void pm_group_list_release(PmGroupList *l)
{
	for (size_t i = 0; i < l->group.n; i++) {
		for (size_t k = 0; k < l->group.v[i].model.n; k++)
			free(l->group.v[i].model.v[k]);
		PM_VEC_RELEASE(&l->group.v[i].model);
		free(l->group.v[i].name);
	}
	PM_VEC_RELEASE(&l->group);
}
