/* SPDX-License-Identifier: Apache-2.0 */
/* resources.c - long texts by URI: what an author reads (guides, SDK headers, graphs) and what runs left. */
#include "app/tools/tools_priv.h"

#include "dataset/store/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME "passmith://"

/* Folders below the program's root whose files can be read. */
static const struct {
	const char *prefix, *folder, *ending, *mime, *what;
} shelves[] = {
	{ "docs/guide/", "docs/guide", ".md", "text/markdown", "Guide" },
	{ "docs/reference/", "docs/reference", ".md", "text/markdown", "Reference" },
	{ "sdk/", "include/passmith", ".h", "text/x-c", "SDK header" },
	{ "sdk/", "include/passmith", ".cuh", "text/x-c", "SDK header" },
	{ "models/", "models", ".gpt", "text/plain", "Bundled graph" },
};
enum { N_SHELVES = sizeof shelves / sizeof *shelves };

static void add(cJSON *list, const char *prefix, const char *name, const char *title, const char *about,
		const char *mime)
{
	cJSON *j = cJSON_CreateObject();
	PmStr uri = PM_STR_INIT;

	pm_str_addf(&uri, SCHEME "%s%s", prefix, name);
	cJSON_AddStringToObject(j, "uri", uri.s);
	cJSON_AddStringToObject(j, "name", name);
	cJSON_AddStringToObject(j, "title", title);
	cJSON_AddStringToObject(j, "description", about);
	cJSON_AddStringToObject(j, "mimeType", mime);
	cJSON_AddItemToArray(list, j);
	pm_str_release(&uri);
}

/* What a page says of itself: its heading, or the line after "name - ". */
static void title_of(const char *path, const char *name, PmStr *out)
{
	PmStr text = PM_STR_INIT;
	const char *p, *dash;

	if (!pm_read_file(path, PM__FILE_MAX, &text, NULL)) {
		p = text.s;
		if (!strncmp(p, "<!--", 4)) /* of a generated page */
			p = strchr(p, '\n') ? strchr(p, '\n') + 1 : p;
		if (!strncmp(p, "# ", 2))
			pm_str_addn(out, p + 2, strcspn(p + 2, "\n"));
		dash = strstr(text.s, name);
		dash = dash && !strncmp(dash + strlen(name), " - ", 3) ? dash + strlen(name) + 3 : NULL;
		if (!out->len && dash)
			pm_str_addn(out, dash, strcspn(dash, "\n*"));
	}
	if (!out->len)
		pm_str_add(out, name);
	pm_str_release(&text);
}

static void add_shelf(const PmTools *t, int k, cJSON *list)
{
	PmStr folder = PM_STR_INIT;
	PmNames names = { 0 };

	pm_path_join(t->root, shelves[k].folder, &folder);
	if (!pm_list_dir(folder.s, &names, NULL))
		for (size_t i = 0; i < names.n; i++) {
			PmStr path = PM_STR_INIT, title = PM_STR_INIT;

			if (!pm_str_ends(names.v[i], shelves[k].ending))
				continue;
			pm_path_join(folder.s, names.v[i], &path);
			title_of(path.s, names.v[i], &title);
			add(list, shelves[k].prefix, names.v[i], title.s, shelves[k].what, shelves[k].mime);
			pm_str_release(&path);
			pm_str_release(&title);
		}
	pm_names_release(&names);
	pm_str_release(&folder);
}

cJSON *pm_tools_resources(const PmTools *t)
{
	cJSON *list = cJSON_CreateArray();

	for (int k = 0; k < N_SHELVES; k++)
		add_shelf(t, k, list);
	add(list, "sdk/", "template.c", "The template of a pass", "A complete pass to start from",
	    "text/x-c");
	for (size_t i = 0; i < t->runs.n; i++) {
		char title[64];

		snprintf(title, sizeof title, "Report of %s (%s)", t->runs.v[i]->handle, t->runs.v[i]->tool);
		add(list, "run/", t->runs.v[i]->handle, title, "Arguments, answer and whole report",
		    "application/json");
	}
	return list;
}

/* ---- one ---- */

static PmStatus none(const char *uri, PmErr *err)
{
	return pm_err(err, PM_E_NOT_FOUND,
		      "There is no resource %.120s; the list of resources has those that there are, and a "
		      "report is passmith://run/ and the handle of a run.",
		      uri);
}

/* A plain name, which leads to no other folder. */
static int is_name(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/');
}

static PmStatus read_shelf(const PmTools *t, const char *at, PmStr *text, const char **mime)
{
	for (int k = 0; k < N_SHELVES; k++) {
		size_t n = strlen(shelves[k].prefix);
		PmStr path = PM_STR_INIT, folder = PM_STR_INIT;
		PmStatus st = PM_E_NOT_FOUND;

		if (strncmp(at, shelves[k].prefix, n) || !is_name(at + n) ||
		    !pm_str_ends(at, shelves[k].ending))
			continue;
		pm_path_join(t->root, shelves[k].folder, &folder);
		pm_path_join(folder.s, at + n, &path);
		st = pm_read_file(path.s, 0, text, NULL);
		*mime = shelves[k].mime;
		pm_str_release(&path);
		pm_str_release(&folder);
		return st;
	}
	return PM_E_NOT_FOUND;
}

static PmStatus add_variant(void *arg, const PmVariantRow *v, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "# variant %lld: %s\n%s\n", (long long)v->ordinal, v->label, v->text);
	return PM_OK;
}

static PmStatus add_task(const PmTools *t, const char *name, PmStr *text, PmErr *err)
{
	int64_t id;
	PmStatus st = pm__task_id(t, name, &id, err);

	return st ? st : pm_task_variants_each(t->db, id, add_variant, text, err);
}

static PmStatus read_template(const PmTools *t, PmStr *text)
{
	PmStr path = PM_STR_INIT;
	PmStatus st;

	pm_path_join(t->root, "passes/TEMPLATE.c", &path);
	st = pm_read_file(path.s, 0, text, NULL);
	pm_str_release(&path);
	return st;
}

PmStatus pm_tools_resource(const PmTools *t, const char *uri, PmStr *text, const char **mime, PmErr *err)
{
	const char *at = uri + strlen(SCHEME);
	PmStatus st = PM_E_NOT_FOUND;

	if (strncmp(uri, SCHEME, strlen(SCHEME)))
		return none(uri, err);
	if (!strncmp(at, "run/", 4)) {
		cJSON *j = pm__run_read(t, at + 4);

		*mime = "application/json";
		if (j) {
			pm_json_print(j, 1, text);
			st = PM_OK;
		}
		cJSON_Delete(j);
	} else if (!strncmp(at, "task/", 5)) {
		*mime = "text/plain";
		return add_task(t, at + 5, text, err);
	} else if (!strcmp(at, "sdk/template.c")) {
		*mime = "text/x-c";
		st = read_template(t, text);
	} else {
		st = read_shelf(t, at, text, mime);
	}
	return st ? none(uri, err) : PM_OK;
}
