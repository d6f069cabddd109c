/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - what the kernels of a candidate may ask for. */
#include "runtime/device/limits.h"

#include "base/core/vec.h"
#include "ir/core/kernel.h"

#include <string.h>

/* Calls `each` with every kernel of the graph until one is over a limit. */
static PmStatus each_kernel(const PmGraph *g, PmStatus (*each)(void *arg, const PmKernelDesc *d, PmErr *err),
			    void *arg, PmErr *err)
{
	PmArena *arena = pm_arena_new(0);
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_nodes(g) && !st; i++) {
		PmNode n = pm_graph_node_at(g, i);
		PmKernelDesc d;

		if (pm_node_op(g, n) != PM_OP_Kernel)
			continue;
		st = pm_kernel_decode(g, n, arena, &d, err);
		if (!st)
			st = each(arg, &d, err);
	}
	pm_arena_free(arena);
	return st;
}

/* --- scratch ---------------------------------------------------------------------------------------------
 */

typedef struct Scratch {
	int64_t sum, limit;
} Scratch;

/* The alternative that wants most: any may be chosen. Saturates above the limit. */
static int64_t most_scratch(const PmKernelDesc *d, int64_t limit)
{
	int64_t most = 0;

	for (int a = 0; a < d->n_alts; a++) {
		int64_t sum = 0;

		for (int i = 0; i < d->alts[a].n_scratch; i++)
			sum = d->alts[a].scratch[i] > limit || sum > limit ? limit + 1
									   : sum + d->alts[a].scratch[i];
		most = sum > most ? sum : most;
	}
	return most;
}

static PmStatus add_scratch(void *arg, const PmKernelDesc *d, PmErr *err)
{
	Scratch *s = arg;
	int64_t largest = 0;

	for (int a = 0; a < d->n_alts; a++)
		for (int i = 0; i < d->alts[a].n_scratch; i++)
			largest = d->alts[a].scratch[i] > largest ? d->alts[a].scratch[i] : largest;
	s->sum += most_scratch(d, s->limit);
	if (s->sum <= s->limit)
		return PM_OK;
	return pm_err(
		err, PM_E_LIMIT,
		"With kernel '%.64s', whose largest scratch buffer has %lld bytes, the candidate asks for "
		"more than the %lld bytes of scratch that all its kernels together may have on this device; "
		"use smaller or fewer buffers.",
		d->name, (long long)largest, (long long)s->limit);
}

PmStatus pm_limit_scratch(const PmGraph *g, int64_t max_scratch, PmErr *err)
{
	Scratch s = { 0, max_scratch };

	return each_kernel(g, add_scratch, &s, err);
}

/* --- sources ---------------------------------------------------------------------------------------------
 */

typedef struct Sources {
	PM_VEC(const char *) seen; /* of the graph: they outlive the walk */
	int64_t bytes;
} Sources;

static int is_new(const Sources *s, const char *source)
{
	for (size_t i = 0; i < s->seen.n; i++)
		if (!strcmp(s->seen.v[i], source))
			return 0;
	return 1;
}

static PmStatus add_sources(void *arg, const PmKernelDesc *d, PmErr *err)
{
	Sources *s = arg;

	for (int a = 0; a < d->n_alts; a++) {
		if (!is_new(s, d->alts[a].source))
			continue;
		PM_VEC_PUSH(&s->seen, d->alts[a].source);
		s->bytes += (int64_t)strlen(d->alts[a].source);
		if (s->seen.n > PM_LIMIT_SOURCES || s->bytes > PM_LIMIT_SOURCE_BYTES)
			return pm_err(
				err, PM_E_LIMIT,
				"With alternative %d of kernel '%.64s' the candidate has %zu different "
				"sources "
				"of %lld bytes together; at most %d of %d bytes are allowed. Use fewer "
				"alternatives, or arguments instead of sources that differ in a number.",
				a, d->name, s->seen.n, (long long)s->bytes, (int)PM_LIMIT_SOURCES,
				(int)PM_LIMIT_SOURCE_BYTES);
	}
	return PM_OK;
}

PmStatus pm_limit_sources(const PmGraph *g, PmErr *err)
{
	Sources s = { 0 };
	PmStatus st = each_kernel(g, add_sources, &s, err);

	PM_VEC_RELEASE(&s.seen);
	return st;
}
