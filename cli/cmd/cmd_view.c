/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_view.c - passmith view: a model or a task as a drawing, and two models compared. */
#include "app/view/view.h"
#include "cli/cmds.h"

#include "base/core/clean.h"
#include "base/sys/io.h"
#include "dataset/pack/pack.h"

#include <stdio.h>

enum { LINES = 40 /* changes that are printed; --json has all */ };

typedef struct View {
	const char *out, *db_path;
	int64_t variant; /* -1: not given */
	PmViewOpts o;
	PmDb *db;
	PmGraph *g[2];
	const char *path[2];
	size_t n;
	PmDiff diff;
	PmViewDone done;
	PmStr text;
} View;

/* ---- what is drawn ---- */

static PmStatus find_variants(View *v, const char *target, PmVariantList *list, PmErr *err)
{
	PmStatus st = PM_OK;

	if (v->db_path && !v->db)
		st = pm_db_open(v->db_path, PM_DB_MUST_EXIST, &v->db, err);
	if (st)
		return st;
	if (v->db)
		return pm_variant_list_of_task(v->db, target, list, err);
	if (pm_pack_is(target))
		return pm_variant_list_of_pack(target, list, err);
	return pm_cli_variants(target, 1, 0, list, err);
}

/* The graph of a model as it is written, or of a variant: the first, or that of --variant. */
static PmStatus load(View *v, const char *target, PmGraph **out, PmErr *err)
{
	PmVariantList list = { 0 };
	PmStatus st;

	if (!v->db_path && v->variant < 0 && !pm_pack_is(target))
		return pm_cli_load(target, out, NULL, err);
	st = find_variants(v, target, &list, err);
	for (size_t i = 0; i < list.list.n && !st && !*out; i++) {
		if (v->variant >= 0 && list.list.v[i].ordinal != v->variant)
			continue;
		*out = list.list.v[i].g;
		list.list.v[i].g = NULL;
	}
	if (!st && !*out)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "%.200s has no variant %lld among its %zu; leave --variant out for the first.",
			    target, (long long)(v->variant < 0 ? 0 : v->variant), list.list.n);
	pm_variant_list_release(&list);
	return st;
}

/* ---- the answer ---- */

static cJSON *change_json(const PmDiff *d, const PmDiffChange *c)
{
	static const char *const subject[] = { "input", "node", "output" };
	cJSON *j = cJSON_CreateObject();
	PmStr name = PM_STR_INIT;

	pm_diff_describe(d, c, &name);
	cJSON_AddStringToObject(j, "change", pm_diff_kind_name(c->kind));
	cJSON_AddStringToObject(j, "subject", subject[c->subject]);
	cJSON_AddStringToObject(j, "where", name.s);
	if (c->a == PM_DIFF_NONE)
		cJSON_AddNullToObject(j, "a");
	else
		pm_json_add_i64(j, "a", c->a);
	if (c->b == PM_DIFF_NONE)
		cJSON_AddNullToObject(j, "b");
	else
		pm_json_add_i64(j, "b", c->b);
	cJSON_AddStringToObject(j, "what", c->what);
	pm_str_release(&name);
	return j;
}

static void add_diff(const View *v, cJSON *j)
{
	const PmDiff *d = &v->diff;
	cJSON *list;

	cJSON_AddStringToObject(j, "other", v->path[1]);
	pm_json_add_i64(j, "same", (int64_t)d->n_same);
	pm_json_add_i64(j, "removed", (int64_t)d->n[PM_DIFF_REMOVED]);
	pm_json_add_i64(j, "added", (int64_t)d->n[PM_DIFF_ADDED]);
	pm_json_add_i64(j, "changed", (int64_t)d->n[PM_DIFF_CHANGED]);
	pm_json_add_i64(j, "signature", (int64_t)d->n_signature);
	list = cJSON_AddArrayToObject(j, "changes");
	for (size_t i = 0; i < d->change.n; i++)
		cJSON_AddItemToArray(list, change_json(d, &d->change.v[i]));
}

static void put_json(const View *v)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "file", v->path[0]);
	if (v->n == 2)
		add_diff(v, j);
	if (v->out) {
		cJSON_AddStringToObject(j, "out", v->out);
		pm_json_add_i64(j, "nodes", (int64_t)v->done.nodes);
		pm_json_add_i64(j, "groups", (int64_t)v->done.groups);
		pm_json_add_i64(j, "levels", (int64_t)v->done.sheets);
		pm_json_add_i64(j, "boxes", (int64_t)v->done.boxes);
		pm_json_add_i64(j, "closed", (int64_t)v->done.closed);
		pm_json_add_i64(j, "bytes", (int64_t)v->text.len);
	}
	pm_cli_put_json(j);
}

static void print_diff(const View *v)
{
	const PmDiff *d = &v->diff;

	printf("%zu nodes are in both, %zu removed, %zu added, %zu changed", d->n_same, d->n[PM_DIFF_REMOVED],
	       d->n[PM_DIFF_ADDED], d->n[PM_DIFF_CHANGED]);
	if (d->n_signature)
		printf("; %zu change%s of inputs and outputs", d->n_signature,
		       d->n_signature == 1 ? "" : "s");
	printf("\n");
	for (size_t i = 0; i < d->change.n && i < LINES; i++) {
		PmStr line = PM_STR_INIT;

		pm_str_addf(&line, "%s ", pm_diff_kind_name(d->change.v[i].kind));
		pm_diff_describe(d, &d->change.v[i], &line);
		if (*d->change.v[i].what)
			pm_str_addf(&line, ": %s", d->change.v[i].what);
		pm_clean(line.s, line.s, line.len + 1, 0);
		printf("  %s\n", line.s);
		pm_str_release(&line);
	}
	if (d->change.n > LINES)
		printf("  and %zu more; --json lists all\n", d->change.n - LINES);
}

static void put(const View *v)
{
	if (pm_cli_json) {
		put_json(v);
		return;
	}
	if (v->n == 2)
		print_diff(v);
	if (v->out)
		printf("wrote %s: %zu nodes, %zu groups; %zu level%s drawn, %zu bytes\n", v->out,
		       v->done.nodes, v->done.groups, v->done.sheets, v->done.sheets == 1 ? "" : "s",
		       v->text.len);
}

/* ---- the work ---- */

static PmStatus draw(View *v, PmErr *err)
{
	PmStr name = PM_STR_INIT;
	PmStatus st;

	pm_str_add(&name, pm_path_base(v->path[0]));
	if (v->n == 2)
		pm_str_addf(&name, " and %s", pm_path_base(v->path[1]));
	v->o.name = name.s;
	v->o.svg = pm_str_ends(v->out, ".svg");
	st = v->n == 2 ? pm_view_diff(&v->diff, &v->o, &v->text, &v->done, err)
		       : pm_view(v->g[0], &v->o, &v->text, &v->done, err);
	if (!st) {
		pm_cli_stage("writing");
		st = pm_write_file(v->out, v->text.s, v->text.len, err);
	}
	pm_str_release(&name);
	return st;
}

static PmStatus view(View *v, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < v->n && !st; i++)
		st = load(v, v->path[i], &v->g[i], err);
	if (!st && v->n == 2)
		st = pm_diff(v->g[0], v->g[1], &v->diff, err);
	if (!st && v->out)
		st = draw(v, err);
	if (!st)
		put(v);
	pm_diff_release(&v->diff);
	pm_str_release(&v->text);
	pm_graph_free(v->g[0]);
	pm_graph_free(v->g[1]);
	pm_db_close(v->db);
	return st;
}

/* 1 when `name` is a way to lay out; *out is it. */
static int engine(const char *name, PmLayoutEngine *out)
{
	*out = pm_str_eq(name, "own")        ? PM_LAYOUT_OWN
	       : pm_str_eq(name, "graphviz") ? PM_LAYOUT_GRAPHVIZ
					     : PM_LAYOUT_AUTO;
	return *out != PM_LAYOUT_AUTO || pm_str_eq(name, "auto");
}

/* 1 when the files are one or two, and what is written is one of ours; two need no file. */
static int is_usage(const View *v)
{
	int known = v->out && (pm_str_ends(v->out, ".html") || pm_str_ends(v->out, ".svg"));

	return (v->n == 1 || v->n == 2) && (known || (!v->out && v->n == 2));
}

int pm_cmd_view(const PmCmd *cmd, int argc, char **argv)
{
	View v = { .variant = -1, .text = PM_STR_INIT };
	const char *layout = "auto";
	int64_t group = 0;
	const PmOpt opts[] = {
		{ "-o", PM_OPT_STR, &v.out,
		  "the file to write, NAME.html or NAME.svg; two models need none" },
		{ "--flat", PM_OPT_FLAG, &v.o.flat, "all nodes on one level, without groups" },
		{ "--group", PM_OPT_COUNT, &group, "begins with group N; 0 = the whole" },
		{ "--layout", PM_OPT_STR, &layout,
		  "auto, own or graphviz: auto takes Graphviz for small levels where it is there" },
		{ "--db", PM_OPT_STR, &v.db_path,
		  "database that holds the task, by its number, name or hash" },
		{ "--variant", PM_OPT_COUNT, &v.variant,
		  "of a task, a pack or a model the variant with this number; without it the first" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		v.o.group = (size_t)group;
		v.n = files.list.n;
		for (size_t i = 0; i < v.n && i < 2; i++)
			v.path[i] = files.list.v[i];
		if (!is_usage(&v))
			code = pm_cli_usage(
				cmd, "view takes one model and -o NAME.html or -o NAME.svg, or two models.");
		else if (!engine(layout, &v.o.engine))
			code = pm_cli_usage(cmd, "--layout is auto, own or graphviz, not '%.100s'.", layout);
		else if (view(&v, &err))
			code = pm_cli_fail(&err);
	}
	PM_VEC_RELEASE(&files.list);
	return code;
}
