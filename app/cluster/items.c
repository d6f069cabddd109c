/* SPDX-License-Identifier: Apache-2.0 */
/* items.c - results, tries and parts of items, as files of the plan's folder. */
#include "app/cluster/items.h"

#include "app/cluster/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRY_MAX = 1 << 16 };

static void folder_path(const PmClusterPlan *p, const char *folder, size_t item, PmStr *out)
{
	pm_str_addf(out, "%s/%s/%zu", p->dir, folder, item);
}

static void try_path(const PmClusterPlan *p, size_t item, const char *worker, unsigned n, PmStr *out)
{
	pm_str_addf(out, "%s/tries/%zu/%u.%s.json", p->dir, item, n, worker);
}

void pm_item_result_path(const PmClusterPlan *p, size_t item, PmStr *out)
{
	pm_str_addf(out, "%s/results/%zu.jsonl", p->dir, item);
}

int pm_item_is_done(const PmClusterPlan *p, size_t item)
{
	PmStr path = PM_STR_INIT;
	int is;

	pm_item_result_path(p, item, &path);
	is = pm_path_exists(path.s);
	pm_str_release(&path);
	return is;
}

/* Names in a folder of the plan; none when there is no folder. */
static PmStatus list(const char *path, PmNames *out, PmErr *err)
{
	PmStatus st = pm_list_dir(path, out, err);

	return st == PM_E_NOT_FOUND ? PM_OK : st;
}

/* ---- tries ---- */

int pm_item_tries(const PmClusterPlan *p, size_t item, int *unjudged, PmStr *why)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmNames names = { 0 };
	cJSON *j;
	int n = 0, not_judged = 0;

	folder_path(p, "tries", item, &path);
	(void)list(path.s, &names, NULL);
	for (size_t i = 0; i < names.n; i++) {
		if (pm_cluster_number(names.v[i], ".") < 0 || !pm_str_ends(names.v[i], ".json"))
			continue;
		n++;
		pm_str_clear(&path);
		pm_str_addf(&path, "%s/tries/%zu/%s", p->dir, item, names.v[i]);
		pm_str_clear(&text);
		j = NULL;
		if ((why || unjudged) && !pm_read_file(path.s, TRY_MAX, &text, NULL))
			(void)pm_json_parse(text.s, text.len, &j, NULL);
		not_judged += cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(j, "unjudged"));
		if (why && *pm_json_str(j, "why", "")) {
			pm_str_clear(why);
			pm_str_add(why, pm_json_str(j, "why", ""));
		}
		cJSON_Delete(j);
	}
	if (unjudged)
		*unjudged = not_judged;
	pm_names_release(&names);
	pm_str_release(&path);
	pm_str_release(&text);
	return n;
}

PmStatus pm_item_try(const PmClusterPlan *p, size_t item, const char *worker, unsigned n, const char *why,
		     int unjudged, PmErr *err)
{
	cJSON *j = cJSON_CreateObject();
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st;

	cJSON_AddStringToObject(j, "worker", worker);
	cJSON_AddStringToObject(j, "why", why ? why : "");
	cJSON_AddBoolToObject(j, "unjudged", unjudged);
	pm_json_print(j, 0, &text);
	cJSON_Delete(j);
	try_path(p, item, worker, n, &path);
	st = pm_cluster_publish_in(path.s, text.s, text.len, err);
	pm_str_release(&path);
	pm_str_release(&text);
	return st;
}

void pm_item_untry(const PmClusterPlan *p, size_t item, const char *worker, unsigned n)
{
	PmStr path = PM_STR_INIT;

	try_path(p, item, worker, n, &path);
	unlink(path.s);
	pm_str_clear(&path);
	folder_path(p, "tries", item, &path);
	rmdir(path.s); /* when it was the last */
	pm_str_release(&path);
}

void pm_item_forget_tries(const PmClusterPlan *p, size_t item)
{
	PmStr path = PM_STR_INIT;

	folder_path(p, "tries", item, &path);
	(void)pm_remove_tree(path.s, NULL);
	pm_str_release(&path);
}

/* ---- parts ---- */

PmStatus pm_item_partials(const PmClusterPlan *p, size_t item, PmNames *out, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	size_t n = 0;
	PmStatus st;

	folder_path(p, "partial", item, &path);
	st = list(path.s, out, err);
	for (size_t i = 0; i < out->n; i++) {
		if (pm_str_ends(out->v[i], ".jsonl"))
			out->v[n++] = out->v[i];
		else
			free(out->v[i]);
	}
	out->n = n;
	pm_str_release(&path);
	return st;
}

void pm_item_partial_path(const PmClusterPlan *p, size_t item, const char *name, PmStr *out)
{
	pm_str_addf(out, "%s/partial/%zu/%s", p->dir, item, name);
}

void pm_item_clear(const PmClusterPlan *p, size_t item)
{
	PmStr path = PM_STR_INIT;

	folder_path(p, "partial", item, &path);
	(void)pm_remove_tree(path.s, NULL);
	pm_str_release(&path);
	pm_item_forget_tries(p, item);
}

/* ---- all items ---- */

static PmStatus read_results(const PmClusterPlan *p, PmItemState *out, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmNames names = { 0 };
	PmStatus st;

	pm_cluster_path(p->dir, NULL, "results", &path);
	st = pm_list_dir(path.s, &names, err);
	for (size_t i = 0; i < names.n && !st; i++) {
		int64_t k = pm_cluster_number(names.v[i], ".jsonl");

		if (k >= 0 && (size_t)k < p->item.n)
			out[k].done = 1;
	}
	pm_names_release(&names);
	pm_str_release(&path);
	return st;
}

/* Folders that are named by items which are not done. */
static PmStatus each_open(const PmClusterPlan *p, const char *folder, PmItemState *out,
			  PmStatus (*fn)(const PmClusterPlan *p, size_t item, PmItemState *s, PmErr *err),
			  PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmNames names = { 0 };
	PmStatus st;

	pm_cluster_path(p->dir, NULL, folder, &path);
	st = pm_list_dir(path.s, &names, err);
	for (size_t i = 0; i < names.n && !st; i++) {
		int64_t k = pm_cluster_number(names.v[i], "");

		if (k >= 0 && (size_t)k < p->item.n && !out[k].done)
			st = fn(p, (size_t)k, &out[k], err);
	}
	pm_names_release(&names);
	pm_str_release(&path);
	return st;
}

static PmStatus read_tries(const PmClusterPlan *p, size_t item, PmItemState *s, PmErr *err)
{
	(void)err;
	s->tries = pm_item_tries(p, item, NULL, NULL);
	return PM_OK;
}

static PmStatus read_partial(const PmClusterPlan *p, size_t item, PmItemState *s, PmErr *err)
{
	PmNames names = { 0 };
	PmStatus st = pm_item_partials(p, item, &names, err);

	s->partial = (int)names.n;
	pm_names_release(&names);
	return st;
}

PmStatus pm_items_read(const PmClusterPlan *p, PmItemState *out, PmErr *err)
{
	PmStatus st;

	memset(out, 0, p->item.n * sizeof *out);
	st = read_results(p, out, err);
	if (!st)
		st = each_open(p, "tries", out, read_tries, err);
	return st ? st : each_open(p, "partial", out, read_partial, err);
}
