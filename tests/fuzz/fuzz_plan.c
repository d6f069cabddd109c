/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_plan.c - any bytes are refused with a sentence, or are a plan in which each item has a task and a pass
 * and stands in one shard. */
#include "app/cluster/plan.h"

#include "base/core/version.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_shards(const PmClusterPlan *p)
{
	size_t *seen = calloc(p->item.n + 1, sizeof *seen);

	if (!seen)
		abort();
	for (size_t i = 0; i < p->shard.n; i++)
		for (size_t k = 0; k < p->shard.v[i].item.n; k++) {
			if (p->shard.v[i].item.v[k] >= p->item.n)
				abort();
			seen[p->shard.v[i].item.v[k]]++;
		}
	for (size_t i = 0; i < p->item.n; i++)
		if (seen[i] != 1)
			abort();
	free(seen);
}

static void check(PmStatus st, PmClusterPlan *p, const PmErr *err)
{
	if (st && !err->text[0])
		abort(); /* a refusal has a sentence */
	if (!st) {
		if (!p->secret || !p->opts.device || !p->opts.preset || !(p->opts.lease > 0))
			abort();
		for (size_t i = 0; i < p->item.n; i++)
			if (p->item.v[i].task >= p->task.n || p->item.v[i].pass >= p->pass.n ||
			    !(p->item.v[i].seconds >= 0))
				abort();
		check_shards(p);
		if (p->item.n)
			pm_secret_free(pm_cluster_item_secret(p, p->item.n - 1));
	}
	pm_cluster_plan_release(p);
	if (p->dir || p->secret || p->shard.n)
		abort();
}

/* As the file's text; and as JSON, in which an empty version is this program's, and no SHA-256 is needed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	PmClusterPlan p;
	PmStr text = PM_STR_INIT;
	cJSON *j = NULL, *version;
	PmErr err;

	pm_err_init(&err);
	pm_str_addn(&text, data, n);
	if (!pm_json_parse(text.s, text.len, &j, NULL)) {
		version = cJSON_GetObjectItemCaseSensitive(j, "version");
		if (cJSON_IsString(version) && !*version->valuestring)
			cJSON_SetValuestring(version, PM_VERSION);
		check(pm_cluster_plan_from_json("plan", j, &p, &err), &p, &err);
		cJSON_Delete(j);
	}
	pm_err_init(&err);
	check(pm_cluster_plan_parse("plan", text.s, text.len, &p, &err), &p, &err);
	for (size_t i = 0; i < n; i++)
		if (text.s[i])
			abort(); /* the secret does not stay in memory */
	pm_str_release(&text);
	return 0;
}
