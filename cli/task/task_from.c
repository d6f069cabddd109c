/* SPDX-License-Identifier: Apache-2.0 */
/* task_from.c - passmith task from: says which models became tasks. */
#include "cli/task/task.h"

#include "app/task/group_list.h"
#include "app/task/task_from.h"

#include <stdio.h>
#include <string.h>

typedef struct From {
	PmTaskCmd *c;
	PM_VEC(PmTaskTag) tags;
	PM_VEC(char *) keys; /* owned: the keys of the tags */
	cJSON *list;
	size_t failed;
} From;

static PmStatus read_tags(From *f, PmErr *err)
{
	for (size_t i = 0; i < f->c->tags.list.n; i++) {
		const char *text = f->c->tags.list.v[i], *eq = strchr(text, '=');
		char *key;

		if (!eq || eq == text)
			return pm_err(err, PM_E_INVALID, "The tag '%.80s' is not KEY=VALUE, as level=2 is.",
				      text);
		key = pm_xstrdup(text);
		key[eq - text] = '\0';
		PM_VEC_PUSH(&f->keys, key);
		PM_VEC_PUSH(&f->tags, ((PmTaskTag){ key, eq + 1 }));
	}
	return PM_OK;
}

static void put_json(From *f, const char *path, const char *name, const PmTaskFrom *t, const char *why)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "model", path);
	cJSON_AddStringToObject(j, "name", name);
	pm_json_add_i64(j, "id", t->id);
	cJSON_AddBoolToObject(j, "new", t->is_new);
	pm_json_add_i64(j, "shapes", (int64_t)(t->variants.n_shapes - t->dropped));
	pm_json_add_i64(j, "laws", (int64_t)t->laws);
	cJSON_AddBoolToObject(j, "cut", t->cut.is_cut);
	cJSON_AddBoolToObject(j, "over", t->cut.is_over);
	pm_json_add_i64(j, "elements_before", t->cut.elements_before);
	pm_json_add_i64(j, "elements", t->cut.elements);
	cJSON_AddNumberToObject(j, "mflop_before", (double)t->cut.cost_before / 1e6);
	cJSON_AddNumberToObject(j, "mflop", (double)t->cut.cost / 1e6);
	cJSON_AddStringToObject(j, "refused", why);
	cJSON_AddItemToArray(f->list, j);
}

static void put_text(const char *name, const PmTaskFrom *t)
{
	printf("task %lld %s: %zu shapes", (long long)t->id, name, t->variants.n_shapes - t->dropped);
	if (t->cut.is_cut)
		printf("; cut: the largest value from %lld to %lld elements, %.4g to %.4g megaflops",
		       (long long)t->cut.elements_before, (long long)t->cut.elements,
		       (double)t->cut.cost_before / 1e6, (double)t->cut.cost / 1e6);
	if (t->cut.is_over)
		printf("; over the limits, and cannot be cut more");
	printf("%s\n", t->is_new ? "" : " (was there)");
}

/* One model. What cannot become a task is said, and the others go on. */
static void from_one(From *f, const char *path)
{
	const PmTaskCmd *c = f->c;
	PmStr name = PM_STR_INIT;
	PmTaskFromOpts o = { .path = path,
			     .shapes = c->shapes,
			     .max_elements = c->max_elements,
			     .max_mflop = c->max_mflop,
			     .seed = c->seed,
			     .tag = f->tags.v,
			     .n_tags = f->tags.n };
	PmTaskFrom t = { 0 };
	PmGraph *g = NULL;
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	if (c->name)
		pm_str_add(&name, c->name);
	else
		pm_task_from_name(path, &name);
	o.name = name.s;
	st = pm_cli_load(path, &g, NULL, &err);
	if (!st)
		st = pm_task_from(c->db, g, &o, &t, &err);
	if (f->list)
		put_json(f, path, name.s, &t, st ? err.text : "");
	else if (st)
		fprintf(stderr, "left out %s: %s\n", path, err.text);
	else
		put_text(name.s, &t);
	f->failed += st != PM_OK;
	pm_graph_free(g);
	pm_str_release(&name);
}

/* ---- groups ---- */

static void put_group_json(From *f, const PmGroupLine *g, const PmTaskGroupMade *t, const char *why)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "group", g->name);
	pm_json_add_i64(j, "id", t->id);
	cJSON_AddBoolToObject(j, "new", t->is_new);
	pm_json_add_i64(j, "listed", g->listed);
	pm_json_add_i64(j, "graphs", (int64_t)t->graphs);
	pm_json_add_i64(j, "equal", (int64_t)t->equal);
	pm_json_add_i64(j, "shapes", (int64_t)t->shapes);
	pm_json_add_i64(j, "op_lists", (int64_t)t->op_lists);
	pm_json_add_i64(j, "laws", (int64_t)t->laws);
	pm_json_add_i64(j, "cut", (int64_t)t->cut);
	pm_json_add_i64(j, "over", (int64_t)t->over);
	cJSON_AddStringToObject(j, "refused", why);
	cJSON_AddItemToArray(f->list, j);
}

static void put_group_text(const PmGroupLine *g, const PmTaskGroupMade *t)
{
	printf("task %lld %s: %zu of %lld graphs, %zu shapes", (long long)t->id, g->name, t->graphs,
	       (long long)g->listed, t->shapes);
	if (t->equal)
		printf("; %zu equal to another of them", t->equal);
	if (t->op_lists > 1)
		printf("; %zu lists of operators", t->op_lists);
	if (t->cut)
		printf("; %zu cut", t->cut);
	if (t->over)
		printf("; %zu over the limits, and cannot be cut more", t->over);
	printf("%s\n", t->is_new ? "" : " (was there)");
}

/* A group lacks no model that its line names: with fewer graphs it would be another task. */
static PmStatus make_group(const PmTaskCmd *c, const PmGroupLine *g, const PmTaskFromOpts *o,
			   PmTaskGroupMade *out, PmErr *err)
{
	PmTaskGroup *t = pm_task_group_begin(o);
	PmStatus st = PM_OK;

	for (size_t i = 0; i < g->model.n && !st; i++) {
		PmGraph *one = NULL;

		st = pm_cli_load(g->model.v[i], &one, NULL, err);
		if (!st)
			st = pm_task_group_add(t, one, err);
		pm_graph_free(one);
	}
	if (!st)
		st = pm_task_group_end(t, c->db, g->listed, out, err);
	pm_task_group_drop(t);
	return st;
}

static void from_group(From *f, const PmGroupLine *g)
{
	const PmTaskFromOpts o = { .name = g->name,
				   .path = g->name,
				   .max_elements = f->c->max_elements,
				   .max_mflop = f->c->max_mflop,
				   .seed = f->c->seed,
				   .tag = f->tags.v,
				   .n_tags = f->tags.n };
	PmTaskGroupMade t = { 0 };
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = make_group(f->c, g, &o, &t, &err);
	if (f->list)
		put_group_json(f, g, &t, st ? err.text : "");
	else if (st)
		fprintf(stderr, "left out %s: %s\n", g->name, err.text);
	else
		put_group_text(g, &t);
	f->failed += st != PM_OK;
}

static PmStatus from_groups(From *f, PmErr *err)
{
	PmGroupList l = { 0 };
	PmStatus st = pm_group_list_read(f->c->groups, &l, err);

	for (size_t i = 0; i < l.group.n && !st; i++)
		from_group(f, &l.group.v[i]);
	if (!st && !pm_cli_json)
		printf("%zu of %zu groups are tasks\n", l.group.n - f->failed, l.group.n);
	pm_group_list_release(&l);
	return st;
}

static void from_models(From *f)
{
	for (size_t i = 0; i < f->c->models.list.n; i++)
		from_one(f, f->c->models.list.v[i]);
	if (!pm_cli_json)
		printf("%zu of %zu models are tasks\n", f->c->models.list.n - f->failed, f->c->models.list.n);
}

PmStatus pm_task_verb_from(PmTaskCmd *c, PmErr *err)
{
	From f = { .c = c, .list = pm_cli_json ? cJSON_CreateArray() : NULL };
	PmStatus st = read_tags(&f, err);

	if (!st && c->groups)
		st = from_groups(&f, err);
	else if (!st)
		from_models(&f);
	pm_cli_put_json(f.list);
	c->no = f.failed > 0;
	for (size_t i = 0; i < f.keys.n; i++)
		free(f.keys.v[i]);
	PM_VEC_RELEASE(&f.keys);
	PM_VEC_RELEASE(&f.tags);
	return st;
}
