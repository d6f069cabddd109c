/* SPDX-License-Identifier: Apache-2.0 */
/* task_gate.c - judging one graph again by the rules that a task has to pass. */
#include "app/task/task_gate.h"

#include "app/task/task_proxy.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tasks.h"
#include "ir/text/text.h"

#include <string.h>

static PmStatus keep_first(void *arg, const PmVariantRow *row, PmErr *err)
{
	PmGraph **g = arg;

	return *g ? PM_OK : pm_graph_parse(row->text, strlen(row->text), g, err);
}

PmStatus pm_task_stored_graph(PmDb *db, const char *what, PmGraph **out, PmErr *err)
{
	int64_t id;
	PmErr none;
	PmStatus st;

	*out = NULL;
	pm_err_init(&none);
	if (!pm_task_find(db, what, &id, &none))
		return pm_task_variants_each(db, id, keep_first, out, err);
	st = pm_subgraph_find(db, what, &id, &none);
	return st ? pm_err(err, PM_E_NOT_FOUND, "'%.80s' is no model file, and no task or subgraph of %s.",
			   what, pm_db_path(db))
		  : pm_subgraph_get(db, id, out, err);
}

PmStatus pm_task_gate(const PmGraph *g, int64_t seed, int n_honest, PmTaskGated *out, PmErr *err)
{
	PmGateOpts o = { .seed = (uint64_t)seed, .n_honest = n_honest, .ask_all = 1 };
	PmGraph *proxy = NULL;
	PmStatus st;

	memset(out, 0, sizeof *out);
	st = pm_task_proxy(g, &proxy, out->label, err);
	if (!st)
		st = pm_gate(proxy, &o, &out->report, err);
	pm_graph_free(proxy);
	return st;
}
