/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - handles, rounds and execution positions of one pass over one graph. */
#include "matcher/rewrite/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local PmSession *current;

void pm__session_init(PmSession *s, PmGraph *g)
{
	memset(s, 0, sizeof *s);
	s->g = g;
	s->base = 1;
	s->pos_stale = 1;
}

void pm__session_release(PmSession *s)
{
	pm__round_end(s);
	PM_VEC_RELEASE(&s->tab);
	PM_VEC_RELEASE(&s->handle_of);
	PM_VEC_RELEASE(&s->pos);
	PM_VEC_RELEASE(&s->seen);
	PM_VEC_RELEASE(&s->map);
	pm_str_release(&s->report);
}

PmStatus pm__session_order(PmSession *s, PmErr *err)
{
	PmStatus st = pm_graph_sort(s->g, err);
	size_t n = pm_graph_n_nodes(s->g), limit = pm_graph_node_limit(s->g);

	if (st)
		return st;
	PM_VEC_RESERVE(&s->pos, limit);
	s->pos.n = limit;
	memset(s->pos.v, 0, limit * sizeof *s->pos.v);
	for (size_t i = 0; i < n; i++)
		s->pos.v[pm_graph_node_at(s->g, i).id] = (uint32_t)i;
	s->pos_stale = 0;
	return PM_OK;
}

void pm__round_begin(PmSession *s)
{
	s->base += (uint32_t)s->tab.n;
	s->tab.n = 0;
	if (s->base > UINT32_MAX / 2) {
		/* Numbers are used up: start again. */
		s->base = 1;
		if (s->handle_of.n)
			memset(s->handle_of.v, 0, s->handle_of.n * sizeof *s->handle_of.v);
	}
	s->steps = 0;
	s->over = 0;
	s->why[0] = 0;
	pm_str_clear(&s->report);
	pm_err_init(&s->misuse);
	s->serial++;
	current = s;
}

void pm__round_end(PmSession *s)
{
	pm_arena_free(s->memory);
	s->memory = NULL;
	s->rw = NULL;
	s->region = NULL;
	if (current == s)
		current = NULL;
}

PmSession *pm__session_current(void)
{
	return current;
}

PmVal pm__handle(PmSession *s, PmValue v)
{
	if (!v.id)
		return (PmVal){ 0 };
	while (s->handle_of.n <= v.id)
		PM_VEC_PUSH(&s->handle_of, 0u);
	if (s->handle_of.v[v.id] < s->base) {
		s->handle_of.v[v.id] = s->base + (uint32_t)s->tab.n;
		PM_VEC_PUSH(&s->tab, v);
	}
	return (PmVal){ s->handle_of.v[v.id] };
}

int pm__unhandle(PmSession *s, PmVal h, PmValue *out)
{
	*out = (PmValue){ 0 };
	if (!h.id)
		return 0;
	if (h.id < s->base || h.id - s->base >= s->tab.n) {
		pm__misuse(
			s,
			"The plugin used value handle %u, which is not of this match; handles are valid only "
			"until the callback that received them returns.",
			h.id);
		return 0;
	}
	*out = s->tab.v[h.id - s->base];
	return 1;
}

PmStatus pm__misuse(PmSession *s, const char *fmt, ...)
{
	va_list ap;

	if (s->misuse.code == PM_OK) {
		s->misuse.code = PM_E_INVALID;
		va_start(ap, fmt);
		vsnprintf(s->misuse.text, sizeof s->misuse.text, fmt, ap);
		va_end(ap);
	}
	return PM_E_INVALID;
}
