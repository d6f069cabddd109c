/* SPDX-License-Identifier: Apache-2.0 */
/* resources.c - long texts by URI: what an author reads (guides, SDK headers, graphs) and what runs left. */
#include "app/tools/tools_priv.h"

#include "app/exemplar/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME "passmith://"

/* Folders whose files can be read. The page of what is not defended is for those who mend it. */
static const struct {
	const char *folder, *as, *ending, *mime, *what, *without;
} shelves[] = {
	{ "docs/guide", "docs/guide/", ".md", "text/markdown", "Guide", NULL },
	{ "docs/reference", "docs/reference/", ".md", "text/markdown", "Reference", NULL },
	{ "docs/design", "docs/design/", ".md", "text/markdown", "Design", "integrity.md" },
	{ "include/passmith", "sdk/", ".h", "text/x-c", "SDK header", NULL },
	{ "include/passmith", "sdk/", ".cuh", "text/x-c", "SDK header", NULL },
	{ "models", "models/", ".gpt", "text/plain", "Bundled graph", NULL },
#define PASSES(folder, what, kernels)                                                                        \
	{ folder, folder "/", ".c", "text/x-c", what, NULL },                                                \
		{ folder, folder "/", ".h", "text/x-c", what, NULL },                                        \
	{                                                                                                    \
		folder, folder "/", ".cu", "text/x-c", kernels, NULL                                         \
	}
	PASSES("passes/library/activation", "A complete pass", "Kernels of a pass"),
	PASSES("passes/library/attention", "A complete pass", "Kernels of a pass"),
	PASSES("passes/library/layout", "A complete pass", "Kernels of a pass"),
	PASSES("passes/library/norm", "A complete pass", "Kernels of a pass"),
	PASSES("passes/common", "What passes share", "Kernels that passes share"),
#undef PASSES
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

/* Behind the end of a line of a comment: where the next one's words begin; NULL when it has none. */
static const char *next_line(const char *p)
{
	p += strspn(p, " \t");
	if (*p == '*' && p[1] != '/')
		p++;
	p += strspn(p, " \t");
	return *p && *p != '\n' && strncmp(p, "*/", 2) != 0 ? p : NULL;
}

/* The first sentence of what stands at p, over the lines of a comment; a heading has one line. */
static void add_sentence(const char *p, int heading, PmStr *out)
{
	while (p && *p && strncmp(p, "*/", 2) != 0) {
		if (*p == '.' && (p[1] == ' ' || p[1] == '\n' || !p[1]))
			break;
		if (*p != '\n') {
			pm_str_addc(out, *p++);
			continue;
		}
		p = heading ? NULL : next_line(p + 1);
		pm_str_add(out, p ? " " : "");
	}
	while (out->len && out->s[out->len - 1] == ' ')
		out->s[--out->len] = '\0';
}

/* The name, and what the file says of itself: its heading, or the sentence behind "name - ". A title that is
 * too long ends behind a word. */
static void title_of(const char *text, const char *name, PmStr *out)
{
	enum { MOST = 100 };
	PmStr mark = PM_STR_INIT, said = PM_STR_INIT;
	const char *p = text, *at;

	pm_str_addf(&mark, "%s - ", name);
	at = strstr(text, mark.s);
	if (!strncmp(p, "<!--", 4)) /* of a generated page */
		p = strchr(p, '\n') ? strchr(p, '\n') + 1 : p;
	if (!strncmp(p, "# ", 2))
		add_sentence(p + 2, 1, &said);
	else if (at)
		add_sentence(at + mark.len, 0, &said);
	pm_str_addf(out, "%s%s%s", name, said.len ? ": " : "", said.s ? said.s : "");
	if (out->len > MOST) {
		size_t n = MOST - strlen(" ...");

		while (n && out->s[n] != ' ')
			n--;
		if (n) {
			out->s[out->len = n] = '\0';
			pm_str_add(out, " ...");
		}
	}
	pm_str_release(&mark);
	pm_str_release(&said);
}

/* A plain name, which leads to no other folder, of a file that is shown. */
static int is_on(int k, const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && pm_str_ends(name, shelves[k].ending) &&
	       !(shelves[k].without && !strcmp(name, shelves[k].without));
}

static void each_of(const PmTools *t, int k, PmShelfFn fn, void *arg)
{
	PmStr folder = PM_STR_INIT;
	PmNames names = { 0 };

	if (!pm_text_folder(t->root, shelves[k].folder, &folder, NULL) &&
	    !pm_list_dir(folder.s, &names, NULL))
		for (size_t i = 0; i < names.n; i++) {
			PmStr path = PM_STR_INIT, text = PM_STR_INIT;
			PmShelved x = { .as = shelves[k].as,
					.name = names.v[i],
					.mime = shelves[k].mime,
					.what = shelves[k].what };

			pm_path_join(folder.s, names.v[i], &path);
			if (is_on(k, names.v[i])) {
				pm_read_file(path.s, PM__FILE_MAX, &text, NULL);
				x.text = text.s;
				fn(arg, &x);
			}
			pm_str_release(&path);
			pm_str_release(&text);
		}
	pm_names_release(&names);
	pm_str_release(&folder);
}

void pm__shelf_each(const PmTools *t, PmShelfFn fn, void *arg)
{
	for (int k = 0; k < N_SHELVES; k++)
		each_of(t, k, fn, arg);
}

static void add_shelved(void *arg, const PmShelved *x)
{
	PmStr title = PM_STR_INIT;

	title_of(x->text, x->name, &title);
	add(arg, x->as, x->name, title.s, x->what, x->mime);
	pm_str_release(&title);
}

cJSON *pm_tools_resources(const PmTools *t)
{
	cJSON *list = cJSON_CreateArray();

	pm__shelf_each(t, add_shelved, list);
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

static PmStatus read_shelf(const PmTools *t, const char *at, PmStr *text, const char **mime)
{
	for (int k = 0; k < N_SHELVES; k++) {
		size_t n = strlen(shelves[k].as);
		PmStr path = PM_STR_INIT, folder = PM_STR_INIT;
		PmStatus st;

		if (strncmp(at, shelves[k].as, n) || !is_on(k, at + n))
			continue;
		st = pm_text_folder(t->root, shelves[k].folder, &folder, NULL);
		pm_path_join(folder.s, at + n, &path);
		st = st ? st : pm_read_file(path.s, 0, text, NULL);
		*mime = shelves[k].mime;
		pm_str_release(&path);
		pm_str_release(&folder);
		return st;
	}
	return PM_E_NOT_FOUND;
}

static PmStatus add_task(const PmTools *t, const char *name, PmStr *text, PmErr *err)
{
	int64_t id;
	PmStatus st = pm__task_id(t, name, &id, err);

	return st ? st : pm__task_text(t, id, text, err);
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
