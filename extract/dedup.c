/* SPDX-License-Identifier: Apache-2.0 */
/* dedup.c - a table of hashes with counts. */
#include "extract/dedup.h"

#include "base/core/str.h"
#include "base/core/vec.h"

#include <stdlib.h>
#include <string.h>

struct PmDedup {
	PmIntern *ids; /* id 0 is the empty string: numbers are id - 1 */
	PM_VEC(size_t) count;
};

PmDedup *pm_dedup_new(void)
{
	PmDedup *d = pm_xcalloc(1, sizeof *d);

	d->ids = pm_intern_new();
	return d;
}

void pm_dedup_free(PmDedup *d)
{
	if (!d)
		return;
	pm_intern_free(d->ids);
	PM_VEC_RELEASE(&d->count);
	free(d);
}

size_t pm_dedup_add(PmDedup *d, const char *hash, size_t *count)
{
	size_t k;

	if (!*hash)
		PM_BUG("an empty hash");
	k = pm_intern(d->ids, hash, strlen(hash)) - 1;
	if (k == d->count.n)
		PM_VEC_PUSH(&d->count, 0);
	d->count.v[k]++;
	if (count)
		*count = d->count.v[k];
	return k;
}

int pm_dedup_has(const PmDedup *d, const char *hash)
{
	return pm_intern_find(d->ids, hash, strlen(hash)) != UINT32_MAX;
}

size_t pm_dedup_size(const PmDedup *d)
{
	return d->count.n;
}
