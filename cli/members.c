/* members.c - the graphs an evaluation runs on. */
#include "cli/members.h"

#include "bench/inputs.h"
#include "cli/cmds.h"
#include "dataset/pack.h"
#include "dataset/tasks.h"
#include "extract/variants.h"
#include "ir/text.h"

#include <stdlib.h>
#include <string.h>

static PmStatus add_row(void *arg, const PmMemberRow *row, PmErr *err)
{
	PmMembers *m = arg;
	PmGraph *g;
	PmStatus st = pm_graph_parse(row->text, strlen(row->text), &g, err);

	if (st)
		return pm_err_ctx(err, "member %lld of the task", (long long)row->ordinal);
	PM_VEC_PUSH(&m->list,
		    ((PmMember){ pm_xstrdup(row->label), g, row->ordinal, (int)row->shape, row->dtype }));
	return PM_OK;
}

PmStatus pm_members_of_task(PmDb *db, const char *target, PmMembers *out, PmErr *err)
{
	PmStatus st = pm_task_find(db, target, &out->task, err);

	return st ? st : pm_members_each(db, out->task, add_row, out, err);
}

static PmStatus add_packed(void *arg, const PmPackGraph *p, PmErr *err)
{
	PmMembers *m = arg;
	PmGraph *copy;
	PmStatus st = p->ordinal < 0 ? PM_DECLINED : pm_graph_clone(p->g, &copy, err);

	if (!st)
		PM_VEC_PUSH(&m->list,
			    ((PmMember){ pm_xstrdup(p->label), copy, p->ordinal, p->shape, p->dtype }));
	return st == PM_DECLINED ? PM_OK : st;
}

PmStatus pm_members_of_pack(const char *dir, PmMembers *out, PmErr *err)
{
	return pm_pack_read(dir, add_packed, out, NULL, err);
}

static PmStatus add_variant(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	PmMembers *m = arg;
	PmGraph *copy;
	PmStatus st = pm_graph_clone(g, &copy, err);

	if (!st)
		PM_VEC_PUSH(&m->list,
			    ((PmMember){ pm_xstrdup(label), copy, (int64_t)m->list.n, shape, dtype }));
	return st;
}

PmStatus pm_members_of_model(const char *path, int variants, uint64_t seed, PmMembers *out, PmErr *err)
{
	PmVariantOpts opts = { .seed = seed };
	PmGraph *g = NULL;
	PmStatus st = pm_cli_load(path, &g, NULL, err);

	if (!st && variants)
		st = pm_variants_make(g, &opts, add_variant, out, NULL, err);
	else if (!st && !(st = pm_inputs_have_sizes(g, err)))
		st = add_variant(out, g, "as written", 0, PM_F32, err);
	pm_graph_free(g);
	return st;
}

void pm_members_keep_shapes(PmMembers *m, int64_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->list.n; i++) {
		if (n <= 0 || m->list.v[i].shape < n) {
			m->list.v[kept++] = m->list.v[i];
			continue;
		}
		free(m->list.v[i].label);
		pm_graph_free(m->list.v[i].g);
	}
	m->list.n = kept;
}

void pm_members_release(PmMembers *m)
{
	for (size_t i = 0; i < m->list.n; i++) {
		free(m->list.v[i].label);
		pm_graph_free(m->list.v[i].g);
	}
	PM_VEC_RELEASE(&m->list);
}
