/* SPDX-License-Identifier: Apache-2.0 */
/* bench_collect.c - results for all items of a plan, made from one real result, so that collect can be timed.
 *
 * bench_collect DIR ITEM: each item that has no result gets the rows of ITEM, which has, under the SHA-256 of
 * its own pass and a run key of its own. All items must be of ITEM's task. tools/bench/collect.sh uses it.
 */
#include "app/cluster/folder.h"
#include "app/cluster/items.h"

#include "base/core/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends `text` to *out with each `from` as `to`; both have the same length. */
static void replace(const PmStr *text, const char *from, const char *to, PmStr *out)
{
	size_t n = strlen(from);
	char *p;

	pm_str_addn(out, text->s, text->len);
	for (p = out->s; (p = strstr(p, from)) != NULL; p += n)
		memcpy(p, to, n);
}

static PmStatus run_key(const PmStr *rows, char key[PM_SHA256_HEX], PmErr *err)
{
	static const char before[] = "{\"row\":\"run\",\"key\":\"";
	const char *p = strstr(rows->s, before);

	if (!p || strlen(p) < sizeof before + PM_SHA256_HEX)
		return pm_err(err, PM_E_INVALID, "The result has no run; evaluate the item first.");
	snprintf(key, PM_SHA256_HEX, "%s", p + sizeof before - 1);
	return PM_OK;
}

static PmStatus add(const PmClusterPlan *p, const PmStr *rows, const char *key, size_t of, size_t item,
		    PmErr *err)
{
	const char *was = p->pass.v[p->item.v[of].pass].sha256, *is = p->pass.v[p->item.v[item].pass].sha256;
	PmClusterHead head = { .secret = p->secret, .item = (int64_t)item, .seconds = 1 };
	PmStr pass = PM_STR_INIT, own = PM_STR_INIT, path = PM_STR_INIT;
	char own_key[PM_SHA256_HEX];
	PmStatus st;

	pm_sha256_hex(is, strlen(is), own_key);
	replace(rows, was, is, &pass);
	replace(&pass, key, own_key, &own);
	pm_item_result_path(p, item, &path);
	st = pm_cluster_findings_write(path.s, &head, &own, err);
	pm_str_release(&pass);
	pm_str_release(&own);
	pm_str_release(&path);
	return st;
}

static PmStatus fill(const PmClusterPlan *p, size_t of, PmErr *err)
{
	PmClusterHead head = { .secret = p->secret, .item = (int64_t)of };
	PmStr path = PM_STR_INIT, rows = PM_STR_INIT;
	char key[PM_SHA256_HEX];
	PmStatus st;

	if (of >= p->item.n)
		return pm_err(err, PM_E_INVALID, "The plan has no item %zu; it has %zu.", of, p->item.n);
	pm_item_result_path(p, of, &path);
	st = pm_cluster_findings_read(path.s, &head, &rows, err);
	if (!st)
		st = run_key(&rows, key, err);
	for (size_t i = 0; i < p->item.n && !st; i++)
		if (p->item.v[i].task == p->item.v[of].task && !pm_item_is_done(p, i))
			st = add(p, &rows, key, of, i, err);
	printf("%zu items, %zu bytes of rows each\n", p->item.n, rows.len);
	pm_str_release(&path);
	pm_str_release(&rows);
	return st;
}

int main(int argc, char **argv)
{
	PmClusterPlan plan = { 0 };
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	if (argc != 3) {
		fprintf(stderr, "bench_collect DIR ITEM\n");
		return 2;
	}
	st = pm_cluster_plan_read(argv[1], &plan, &err);
	if (!st)
		st = fill(&plan, (size_t)strtoul(argv[2], NULL, 10), &err);
	if (st)
		fprintf(stderr, "bench_collect: %s\n", err.text);
	pm_cluster_plan_release(&plan);
	return st ? 1 : 0;
}
