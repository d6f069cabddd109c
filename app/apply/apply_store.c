/* SPDX-License-Identifier: Apache-2.0 */
/* apply_store.c - storing what apply found in a database. */
#include "app/apply/apply_store.h"

#include "base/core/version.h"
#include "base/sys/io.h"
#include "dataset/store/applications.h"
#include "dataset/store/models.h"
#include "ir/text/text.h"

#include <stdlib.h>
#include <string.h>

/* Kernels get the name of the last node that they took, so that drawings put them where it was, and lose
 * their sources. */
static PmStatus strip(const PmApply *a, PmGraph **out, PmErr *err)
{
	static const char no_source[] = "//"; /* a kernel has one */
	PmGraph *g = NULL;
	PmStatus st = pm_graph_clone(a->after, &g, err);

	for (size_t i = 0; i < a->regions.list.n && !st; i++) {
		const PmApplyRegion *r = &a->regions.list.v[i];
		PmNode n = pm_graph_node_at(g, r->place);

		for (size_t k = 0; k < pm_node_n_attrs(g, n) && !st; k++) {
			const PmAttr *at = pm_node_attr_at(g, n, k);

			if (!strncmp(at->name, "source_", 7))
				st = pm_node_set_s(g, n, at->name, no_source, strlen(no_source), err);
		}
		if (!st && r->n) {
			uint32_t last = a->regions.node.v[r->first + r->n - 1];

			st = pm_node_set_name(
				g, n, pm_node_name(a->before, pm_graph_node_at(a->before, last)), err);
		}
	}
	*out = g;
	return st;
}

/* Small constants stay: shapes are read from them, as where a pass is run. */
static PmStatus print(const PmGraph *g, PmStr *out, PmErr *err)
{
	static const PmPrintOpts how = { .max_inline = 64, .no_header = 1, .no_stats = 1 };

	return pm_graph_print(g, &how, out, err);
}

/* Names in place of paths: the same on every machine. */
static void print_record(const PmApply *a, const char *name, PmStr *out)
{
	cJSON *j = pm_apply_json(a, name), *p;

	cJSON_ArrayForEach(p, cJSON_GetObjectItemCaseSensitive(j, "passes"))
	{
		char *base = pm_xstrdup(pm_path_base(pm_json_str(p, "pass", "")));

		cJSON_ReplaceItemInObjectCaseSensitive(p, "pass", cJSON_CreateString(base));
		free(base);
	}
	pm_json_print(j, 0, out);
	cJSON_Delete(j);
}

PmStatus pm_apply_store(PmDb *db, const PmApply *a, const char *path, int *is_new, PmErr *err)
{
	PmStr record = PM_STR_INIT, before = PM_STR_INIT, after = PM_STR_INIT;
	char sha256[PM_SHA256_HEX];
	PmGraph *bare = NULL;
	PmApplicationRow r = { .model_sha256 = sha256, .name = pm_path_base(path), .path = path };
	PmStatus st = pm_model_hash(path, sha256, err);

	print_record(a, r.name, &record);
	if (!st)
		st = print(a->before, &before, err);
	if (!st)
		st = strip(a, &bare, err);
	if (!st)
		st = print(bare, &after, err);
	if (before.len > PM_APPLICATION_TEXT || after.len > PM_APPLICATION_TEXT) {
		pm_str_clear(&before);
		pm_str_clear(&after);
	}
	r.version = PM_VERSION;
	r.record = record.s;
	r.before_text = before.len ? before.s : "";
	r.after_text = after.len ? after.s : "";
	if (!st)
		st = pm_application_put(db, &r, is_new, err);
	pm_graph_free(bare);
	pm_str_release(&record);
	pm_str_release(&before);
	pm_str_release(&after);
	return st;
}
