/* SPDX-License-Identifier: Apache-2.0 */
/* counts.c - counts of launches as they cross from process to process. */
#include "runtime/profile/counts.h"

#include <string.h>

int pm_counts_of_source(const PmCounts *c, const char *source)
{
	for (size_t i = 0; c && i < c->n; i++)
		if (!strcmp(c->source[i], source))
			return 1;
	return 0;
}

PmLaunchCounts *pm_counts_of_launch(PmCounts *c, uint64_t launch)
{
	for (size_t i = 0; c && i < c->n; i++)
		if (c->of[i].launch == launch)
			return &c->of[i];
	return NULL;
}

size_t pm_counts_bytes(const PmCounts *c)
{
	return c->n * sizeof *c->of;
}

static void make_safe(PmCountSite *s)
{
	s->file[sizeof s->file - 1] = 0;
	for (char *p = s->file; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	s->shared = s->shared != 0;
	if ((unsigned)s->kind >= PM_N_COUNT_KINDS)
		s->kind = PM_COUNT_LOAD;
}

PmStatus pm_counts_take(PmCounts *c, const void *bytes, size_t n, PmErr *err)
{
	PmCounts was = *c;

	if (n != pm_counts_bytes(c))
		return pm_err(err, PM_E_CRASH,
			      "The process of the kernels sent %zu bytes of counts, not %zu.", n,
			      pm_counts_bytes(c));
	if (n)
		memcpy(c->of, bytes, n);
	for (size_t i = 0; i < c->n; i++) {
		PmLaunchCounts *l = &c->of[i];

		l->launch = was.of[i].launch;
		if (l->shared_bytes > PM_COUNT_SHARED_MOST)
			l->shared_bytes = PM_COUNT_SHARED_MOST;
		if (l->blocks > PM_COUNT_BLOCKS)
			l->blocks = PM_COUNT_BLOCKS;
		if (l->n_sites < 0 || l->n_sites > PM_COUNT_SITES)
			l->n_sites = 0;
		for (int k = 0; k < l->n_sites; k++)
			make_safe(&l->site[k]);
	}
	return PM_OK;
}
