/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_run.c - runs on a GPU: launches one by one, or as one graph.
 *
 * A graph is captured on a stream of the session's own, so that nobody else's work gets into it, and launched
 * on the stream of the run. When addresses moved, the launches are captured again and the graph takes them
 * over (cuGraphExecUpdate); where it cannot, another is made.
 */
#include "rt/cuda_priv.h"

#include "base/core/arena.h"

#include <stdlib.h>

static PmRtCudaReady *own_of(const PmRtRun *r)
{
	if (!r->ready->own) {
		PmRtCudaReady *own = pm_xcalloc(1, sizeof *own);

		own->placed = pm_xcalloc(r->s->m->pk.shape[r->shape].n_steps + 1, sizeof *own->placed);
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
	int rc = c->cu->capture_begin(stream, CU_CAPTURE_RELAXED);
	PmStatus st;

	*out = NULL;
	if (rc)
		return pm_rt_cuda_fail(c, "capture launches", rc, err);
	st = enqueue(r, own, stream, err);
	rc = c->cu->capture_end(stream, out);
	return !st && rc ? pm_rt_cuda_fail(c, "capture launches", rc, err) : st;
}

/* The graph of the shape, with the addresses that it has now. */
static PmStatus make_graph(const PmRtRun *r, PmRtCudaReady *own, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(r->s);
	CuGraphUpdate why;
	CuGraph *g = NULL;
	PmStatus st = capture(r, own, &g, err);
	int rc = 0;

	if (!st && own->exec && c->cu->graph_update(own->exec, g, &why)) {
		c->cu->graph_exec_destroy(own->exec);
		own->exec = NULL;
	}
	if (!st && !own->exec)
		rc = c->cu->graph_make(&own->exec, g, 0);
	if (rc) {
		own->exec = NULL;
		st = pm_rt_cuda_fail(c, "make a graph of launches", rc, err);
	}
	if (g)
		c->cu->graph_destroy(g);
	own->captured_at = st ? 0 : r->ready->moves;
	return st;
}

PmStatus pm_rt_cuda_launch(const PmRtRun *r, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(r->s);
	CuStream *now = ((PmRtCudaSession *)r->s->own)->now;
	PmRtCudaReady *own = own_of(r);
	PmStatus st = PM_OK;
	int rc = 0;

	if (own->placed_at != r->ready->moves)
		st = pm_rt_calls_place(r, own, err);
	/* Drivers and libraries load what a launch needs when it is made for the first time, and not every
	 * one of them can while launches are captured: a shape's first run is never captured. */
	if (st || !own->warm || !(r->flags & PM_RT_GRAPH)) {
		own->warm = 1;
		return st ? st : enqueue(r, own, now, err);
	}
	if (own->captured_at != r->ready->moves)
		st = make_graph(r, own, err);
	if (!st && r->s->m->pk.shape[r->shape].n_steps)
		rc = c->cu->graph_launch(own->exec, now);
	return rc ? pm_rt_cuda_fail(c, "launch a graph", rc, err) : st;
}

void pm_rt_cuda_ready_free(PmRtSession *s, PmRtReady *r)
{
	const PmRtCuda *c = pm_rt_cuda_of(s);
	PmRtCudaReady *own = r->own;

	if (s->m->device->enter(s, NULL, NULL) == PM_OK) {
		pm_rt_calls_unplace(s, s->m->pk.shape[r - s->ready].n_steps, own);
		if (own->exec)
			c->cu->graph_exec_destroy(own->exec);
		s->m->device->leave(s);
	}
	free(own->placed);
	free(own);
}
