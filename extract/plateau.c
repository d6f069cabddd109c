/* SPDX-License-Identifier: Apache-2.0 */
/* plateau.c - plateaus of a curve of kernel counts. */
#include "extract/plateau.h"

#include "base/core/arena.h"

#include <stdlib.h>

/* The smallest level that reaches over each place: a level reaches from its first to its last occurrence. */
static int64_t *close_levels(const int64_t *k, size_t n)
{
	int64_t *level = pm_xcalloc(n, sizeof *level);
	size_t i, j, last;

	for (i = 0; i < n; i++)
		level[i] = k[i];
	for (i = 0; i < n; i++) {
		for (last = n - 1; k[last] != k[i]; last--)
			continue;
		for (j = i; j <= last; j++) {
			if (k[i] < level[j])
				level[j] = k[i];
		}
	}
	return level;
}

/* Runs of equal levels; under the old rule those of one operator are left out. */
static size_t equal_runs(const int64_t *level, size_t n, PmPlateauRule rule, PmOpRange *out)
{
	size_t i, j, m = 0;

	for (i = 0; i < n; i = j) {
		for (j = i + 1; j < n && level[j] == level[i]; j++)
			continue;
		if (rule == PM_PLATEAU_CURRENT || j - i > 1)
			out[m++] = (PmOpRange){ i, j };
	}
	return m;
}

/* Joins neighbours that do not rise from one to the other. A range joined over a gap keeps the number of its
 * operators in `size`, so that it can be told from a whole one. */
static size_t join_runs(const int64_t *k, PmOpRange *r, size_t *size, size_t n)
{
	size_t i, m = 0;

	for (i = 0; i < n; i++) {
		if (m && k[r[m - 1].end - 1] >= k[r[i].begin]) {
			r[m - 1].end = r[i].end;
			size[m - 1] += size[i];
			continue;
		}
		r[m] = r[i];
		size[m++] = size[i];
	}
	return m;
}

static int level_enough(const int64_t *k, PmOpRange r, PmPlateauRule rule)
{
	size_t i;

	if (k[r.begin] < k[r.end - 1])
		return 0;
	if (rule == PM_PLATEAU_OLD) {
		for (i = r.begin; i + 1 < r.end && k[r.begin] == k[r.end - 1]; i++) {
			if (k[i] < k[i + 1])
				return 0;
		}
		return 1;
	}
	for (i = r.end - 1; i > r.begin; i--) { /* the last change must not be a rise */
		if (k[i - 1] != k[i])
			return k[i - 1] > k[i];
	}
	return 1;
}

size_t pm_plateaus(const int64_t *k, size_t n, PmPlateauRule rule, PmOpRange *out)
{
	int64_t *level = n && rule == PM_PLATEAU_CURRENT ? close_levels(k, n) : NULL;
	PmOpRange *runs = pm_xcalloc(n + 1, sizeof *runs);
	size_t *size = pm_xcalloc(n + 1, sizeof *size);
	size_t i, m, kept = 0;

	m = equal_runs(level ? level : k, n, rule, runs);
	for (i = 0; i < m; i++)
		size[i] = runs[i].end - runs[i].begin;
	m = join_runs(k, runs, size, m);
	for (i = 0; i < m; i++) {
		if (size[i] >= 2 && size[i] == runs[i].end - runs[i].begin && level_enough(k, runs[i], rule))
			out[kept++] = runs[i];
	}
	free(level);
	free(runs);
	free(size);
	return kept;
}
