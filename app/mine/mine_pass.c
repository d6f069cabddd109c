/* SPDX-License-Identifier: Apache-2.0 */
/* mine_pass.c - for a structure that is worth a pass: the pass to start from, and files of both. */
#include "app/mine/mine_pass.h"

#include "base/sys/io.h"
#include "dataset/store/subgraphs.h"
#include "ir/text/text.h"
#include "matcher/pattern/propose.h"

#include <stdio.h>
#include <string.h>

static void doc_of(const PmMined *x, PmStr *out)
{
	pm_str_addf(out, "%.80s%s: %lld occurrences in %lld models", x->ops,
		    strlen(x->ops) > 80 ? ",..." : "", (long long)x->occurrences, (long long)x->models);
}

PmStatus pm_mine_pass(PmDb *db, const PmMined *x, PmMinePass *out, PmErr *err)
{
	PmStr doc = PM_STR_INIT;
	PmGraph *g = NULL;
	PmErr no;
	PmStatus st;

	*out = (PmMinePass){ .source = PM_STR_INIT, .why = PM_STR_INIT };
	snprintf(out->name, sizeof out->name, "mined_%.8s", x->structure);
	st = pm_subgraph_get(db, x->example, &g, err);
	pm_err_init(&no);
	doc_of(x, &doc);
	if (!st && pm_propose_pass(g, out->name, doc.s, &out->source, &no))
		pm_str_add(&out->why, no.text);
	pm_graph_free(g);
	pm_str_release(&doc);
	return st;
}

void pm_mine_pass_release(PmMinePass *p)
{
	pm_str_release(&p->source);
	pm_str_release(&p->why);
}

PmStatus pm_mine_pass_write(PmDb *db, const PmMined *x, const PmMinePass *p, const char *dir, PmErr *err)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmGraph *g = NULL;
	PmStatus st = pm_mkdirs(dir, err);

	pm_str_addf(&path, "%s/%s.c", dir, p->name);
	if (!st && p->source.len)
		st = pm_write_file(path.s, p->source.s, p->source.len, err);
	pm_str_clear(&path);
	pm_str_addf(&path, "%s/%s.gpt", dir, p->name);
	if (!st)
		st = pm_subgraph_get(db, x->example, &g, err);
	if (!st)
		st = pm_graph_print(g, NULL, &text, err);
	if (!st)
		st = pm_write_file(path.s, text.s, text.len, err);
	pm_graph_free(g);
	pm_str_release(&path);
	pm_str_release(&text);
	return st;
}
