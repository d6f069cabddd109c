/* SPDX-License-Identifier: Apache-2.0 */
/* plan_launch.c - the launches of a plan, one by one, for who reports on them. */
#include "runtime/exec/plan_priv.h"

#include <string.h>

size_t pm_plan_n_launches(const PmPlan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->steps.n; i++)
		n += p->steps.v[i].source >= 0;
	return n;
}

void pm_plan_launch(const PmPlan *p, size_t i, PmPlanLaunch *out)
{
	size_t k = 0;

	memset(out, 0, sizeof *out);
	for (; k < p->steps.n; k++)
		if (p->steps.v[k].source >= 0 && i-- == 0)
			break;
	if (k == p->steps.n)
		return;
	out->label = p->steps.v[k].label;
	out->entry = p->steps.v[k].entry;
	out->source = p->steps.v[k].source;
	out->fused = p->steps.v[k].fused;
	memcpy(out->grid, p->steps.v[k].grid, sizeof out->grid);
	memcpy(out->block, p->steps.v[k].block, sizeof out->block);
	out->smem = p->steps.v[k].smem;
	out->bytes = p->steps.v[k].bytes;
	out->flops = p->steps.v[k].flops;
	out->flop_class = p->steps.v[k].flop_class;
}

int pm_plan_launch_alike(const PmPlan *p, const PmPlanLaunch *a, const PmPlanLaunch *b)
{
	const PmSource *s = p->sources.v;

	return !strcmp(a->label, b->label) && !strcmp(a->entry, b->entry) &&
	       !memcmp(a->grid, b->grid, sizeof a->grid) && !memcmp(a->block, b->block, sizeof a->block) &&
	       a->smem == b->smem && a->bytes == b->bytes && a->flops == b->flops &&
	       s[a->source].type == s[b->source].type && !strcmp(s[a->source].source, s[b->source].source);
}

double pm_plan_launch_seconds(const PmPlanLaunch *l, const PmProfile *prof)
{
	return pm_profile_launch_seconds(prof, l->bytes, l->flops, l->flop_class);
}
