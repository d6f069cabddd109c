/* SPDX-License-Identifier: Apache-2.0 */
/* task_from.c - passmith task from: says which models became tasks. */
#include "cli/task/task.h"

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

PmStatus pm_task_verb_from(PmTaskCmd *c, PmErr *err)
{
	From f = { .c = c, .list = pm_cli_json ? cJSON_CreateArray() : NULL };
	PmStatus st = read_tags(&f, err);

	for (size_t i = 0; i < c->models.list.n && !st; i++)
		from_one(&f, c->models.list.v[i]);
	pm_cli_put_json(f.list);
	if (!st && !pm_cli_json)
		printf("%zu of %zu models are tasks\n", c->models.list.n - f.failed, c->models.list.n);
	c->no = f.failed > 0;
	for (size_t i = 0; i < f.keys.n; i++)
		free(f.keys.v[i]);
	PM_VEC_RELEASE(&f.keys);
	PM_VEC_RELEASE(&f.tags);
	return st;
}
