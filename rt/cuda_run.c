/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_run.c - runs on a GPU: launches one by one, or as one graph.
 *
 * A graph is captured on a stream of the session's own, so that nobody else's work gets into it, and launched
 * on the stream of the run. A few graphs are kept, each for the addresses that it was captured with. At
 * others the launches are captured again, and the graph that was not used for the longest time takes them
 * over (cuGraphExecUpdate); where it cannot, another is made.
 */
#include "rt/cuda_priv.h"

#include "base/core/arena.h"

#include <stdlib.h>
#include <string.h>

static PmRtCudaReady *own_of(const PmRtRun *r)
{
	if (!r->ready->own) {
		PmRtCudaReady *own = pm_xcalloc(1, sizeof *own);

		own->placed = pm_xcalloc(r->s->m->pk.shape[r->shape].n_steps + 1, sizeof *own->placed);
		own->calls = pm_rt_calls_in(r);
		r->ready->own = own;
	}
	return r->ready->own;
}

/* All steps of the shape, in order. */
static PmStatus enqueue(const PmRtRun *r, PmRtCudaReady *own, CuStream *stream, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(r->s);
	const PmRtPackage *p = &r->s->m->pk;
	const PmRtfShape *shape = &p->shape[r->shape];
	void **params = r->ready->params;

	for (uint32_t i = 0; i < shape->n_steps; i++) {
		const PmRtfStep *s = &p->step[shape->first_step + i];
		CuFn *f = c->fn[shape->first_step + i];
		PmStatus st;
		int rc;

		if (f) {
			rc = c->cu->launch(f, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
					   s->block[2], s->smem, stream, params, NULL);
			if (rc) {
				st = pm_rt_cuda_fail(c, "launch a kernel", rc, err);
				pm_err_ctx(err, "Kernel '%.120s'", pm_package_text(p, s->label));
				return st;
			}
		} else {
			st = pm_rt_call_run(r, own, i, stream, err);
			if (st)
				return st;
		}
		params += s->n_args;
	}
	return PM_OK;
}

static PmStatus capture(const PmRtRun *r, PmRtCudaReady *own, CuGraph **out, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(r->s);
	CuStream *stream = ((PmRtCudaSession *)r->s->own)->capture;
	PmStatus st;
	int rc;

	*out = NULL;
	/* Before it begins: a driver may let nobody load or copy until a capture is over, and who has the
	 * lock may be about to. */
	if (own->calls)
		pm_rt_calls_hold(1);
	rc = c->cu->capture_begin(stream, CU_CAPTURE_RELAXED);
	if (rc) {
		st = pm_rt_cuda_fail(c, "capture launches", rc, err);
	} else {
		st = enqueue(r, own, stream, err);
		rc = c->cu->capture_end(stream, out);
		if (!st && rc)
			st = pm_rt_cuda_fail(c, "capture launches", rc, err);
	}
	if (own->calls)
		pm_rt_calls_hold(0);
	return st;
}

static size_t n_addresses(const PmRtRun *r)
{
	return r->s->m->n_in + r->s->m->n_out;
}

/* The one with the addresses that values have now; NULL = none. */
static PmRtCudaGraph *find_graph(const PmRtRun *r, PmRtCudaReady *own)
{
	for (int i = 0; i < PM_RT_GRAPHS; i++)
		if (own->graph[i].exec &&
		    !memcmp(own->graph[i].at, r->ready->at, n_addresses(r) * sizeof *own->graph[i].at))
			return &own->graph[i];
	return NULL;
}

/* A free place for a graph, else that of the one that was not used for the longest time. */
static PmRtCudaGraph *oldest_graph(PmRtCudaReady *own)
{
	PmRtCudaGraph *old = &own->graph[0];

	for (int i = 1; i < PM_RT_GRAPHS && old->exec; i++)
		if (!own->graph[i].exec || own->graph[i].used < old->used)
			old = &own->graph[i];
	return old;
}

/* Captures the launches with the addresses that values have now, in the place of a graph. */
static PmStatus make_graph(const PmRtRun *r, PmRtCudaReady *own, PmRtCudaGraph *to, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(r->s);
	CuGraphUpdate why;
	CuGraph *g = NULL;
	PmStatus st;
	int rc = 0;

	r->s->again_binds = 0; /* it may be of the graph whose place this is */
	st = capture(r, own, &g, err);
	if (to->exec && (st || c->cu->graph_update(to->exec, g, &why))) {
		c->cu->graph_exec_destroy(to->exec);
		to->exec = NULL;
	}
	if (!st && !to->exec)
		rc = c->cu->graph_make(&to->exec, g, 0);
	if (rc) {
		to->exec = NULL;
		st = pm_rt_cuda_fail(c, "make a graph of launches", rc, err);
	}
	if (g)
		c->cu->graph_destroy(g);
	if (!to->at)
		to->at = pm_xcalloc(n_addresses(r) + 1, sizeof *to->at);
	memcpy(to->at, r->ready->at, n_addresses(r) * sizeof *to->at);
	return st;
}

/* PmRtSession.again. */
static PmStatus launch_again(PmRtSession *s, void *stream, PmErr *err)
{
	const PmRtCudaAgain *a = &((PmRtCudaSession *)s->own)->again;
	CuCtx *before = NULL;
	int rc = a->ctx_push(a->ctx);

	if (rc)
		return pm_rt_cuda_fail(pm_rt_cuda_of(s), "be made current", rc, err);
	rc = a->graph_launch(a->exec, stream);
	a->ctx_pop(&before);
	return rc ? pm_rt_cuda_fail(pm_rt_cuda_of(s), "launch a graph", rc, err) : PM_OK;
}

static void keep_for_again(PmRtSession *s, CuGraphExec *exec)
{
	const PmRtCuda *c = pm_rt_cuda_of(s);

	((PmRtCudaSession *)s->own)->again = (PmRtCudaAgain){ exec, c->ctx, c->cu->ctx_push,
							      c->cu->graph_launch, c->cu->ctx_pop };
	s->again = launch_again;
	s->again_binds = s->binds;
}

static PmStatus launch_graph(const PmRtRun *r, PmRtCudaReady *own, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(r->s);
	CuStream *now = ((PmRtCudaSession *)r->s->own)->now;
	PmRtCudaGraph *g = find_graph(r, own);
	PmStatus st = PM_OK;
	int rc = 0;

	if (!g) {
		g = oldest_graph(own);
		if (own->placed_at != r->ready->moves)
			st = pm_rt_calls_place(r, own, err);
		if (!st)
			st = make_graph(r, own, g, err);
		if (st)
			return st;
	}
	g->used = ++own->runs;
	if (!r->s->m->pk.shape[r->shape].n_steps)
		return PM_OK;
	rc = c->cu->graph_launch(g->exec, now);
	if (rc)
		return pm_rt_cuda_fail(c, "launch a graph", rc, err);
	if (r->alone)
		keep_for_again(r->s, g->exec);
	return PM_OK;
}

PmStatus pm_rt_cuda_launch(const PmRtRun *r, PmErr *err)
{
	PmRtCudaReady *own = own_of(r);
	PmStatus st = PM_OK;

	/* Drivers and libraries load what a launch needs when it is made for the first time, and not every
	 * one of them can while launches are captured: a shape's first run is never captured. */
	if (own->warm && r->flags & PM_RT_GRAPH)
		return launch_graph(r, own, err);
	if (own->placed_at != r->ready->moves)
		st = pm_rt_calls_place(r, own, err);
	own->warm = 1;
	return st ? st : enqueue(r, own, ((PmRtCudaSession *)r->s->own)->now, err);
}

PmStatus pm_rt_cuda_prepare(const PmRtRun *r, PmErr *err)
{
	PmRtCudaReady *own = own_of(r);
	PmRtCudaGraph *g = find_graph(r, own);
	PmStatus st = PM_OK;

	if (g)
		return PM_OK;
	g = &own->graph[0];
	for (int i = 1; i < PM_RT_GRAPHS; i++)
		if (own->graph[i].exec && own->graph[i].used > g->used)
			g = &own->graph[i];
	if (own->placed_at != r->ready->moves)
		st = pm_rt_calls_place(r, own, err);
	return st ? st : make_graph(r, own, g, err);
}

void pm_rt_cuda_ready_free(PmRtSession *s, PmRtReady *r)
{
	const PmRtCuda *c = pm_rt_cuda_of(s);
	PmRtCudaReady *own = r->own;

	if (s->m->device->enter(s, NULL, NULL) == PM_OK) {
		pm_rt_calls_unplace(s->m->pk.shape[r - s->ready].n_steps, own);
		for (int i = 0; i < PM_RT_GRAPHS; i++)
			if (own->graph[i].exec)
				c->cu->graph_exec_destroy(own->graph[i].exec);
		s->m->device->leave(s);
	}
	for (int i = 0; i < PM_RT_GRAPHS; i++)
		free(own->graph[i].at);
	free(own->placed);
	free(own);
}
