/* SPDX-License-Identifier: Apache-2.0 */
/* conform_sources.c - kernels of the cases, each once, to be compiled ahead. */
#include "bench/conform/conform_priv.h"

#include <stdlib.h>
#include <string.h>

void pm__source_set_add(PmSourceSet *set, const PmSource *s)
{
	uint64_t h = pm_hash64(s->source, strlen(s->source), PM_HASH_SEED + (uint64_t)s->type);
	size_t k;

	for (k = 0; k < set->hash.n; k++)
		if (set->hash.v[k] == h)
			return;
	PM_VEC_PUSH(&set->hash, h);
	PM_VEC_PUSH(&set->v, ((PmSource){ pm_xstrdup(s->label), pm_xstrdup(s->source), s->type }));
}

void pm__source_set_release(PmSourceSet *set)
{
	size_t k;

	for (k = 0; k < set->v.n; k++) {
		free((char *)(uintptr_t)set->v.v[k].label);
		free((char *)(uintptr_t)set->v.v[k].source);
	}
	PM_VEC_RELEASE(&set->v);
	PM_VEC_RELEASE(&set->hash);
}
