/* SPDX-License-Identifier: Apache-2.0 */
/* serve_gpu.c - memory and streams of a GPU for a program that serves a model. */
#include "app/serve/serve_gpu.h"

#include "base/core/arena.h"
#include "base/sys/proc.h"
#include "runtime/cuda/cuda_api.h"

#include <stdlib.h>

struct PmServeGpu {
	const PmCuda *cu;
	CuCtx *ctx; /* NULL = not retained */
	int dev;
};

/* The context is current between the two. */
static PmStatus enter(PmServeGpu *g, PmErr *err)
{
	int rc = g->cu->ctx_push(g->ctx);

	return rc ? pm__cuda_fail(g->cu, PM_E_DEVICE, "be made current", rc, err) : PM_OK;
}

static PmStatus leave(PmServeGpu *g, const char *what, int rc, PmErr *err)
{
	CuCtx *before = NULL;

	g->cu->ctx_pop(&before);
	return rc ? pm__cuda_fail(g->cu, rc == CU_OUT_OF_MEMORY ? PM_E_LIMIT : PM_E_DEVICE, what, rc, err)
		  : PM_OK;
}

PmStatus pm__gpu_open(int ordinal, PmServeGpu **out, PmErr *err)
{
	PmServeGpu *g = pm_xcalloc(1, sizeof *g);
	PmStatus st = pm__cuda_open(&g->cu, err);
	int rc = 0;

	if (!st)
		rc = g->cu->device_get(&g->dev, ordinal);
	if (!st && !rc)
		rc = g->cu->ctx_retain(&g->ctx, g->dev);
	if (rc) {
		g->ctx = NULL;
		st = pm__cuda_fail(g->cu, PM_E_ENV, "be used", rc, err);
	}
	if (st) {
		pm__gpu_close(g);
		return st;
	}
	*out = g;
	return PM_OK;
}

void pm__gpu_close(PmServeGpu *g)
{
	if (!g)
		return;
	if (g->ctx)
		g->cu->ctx_release(g->dev);
	free(g);
}

PmStatus pm__gpu_alloc(PmServeGpu *g, size_t bytes, void **out, PmErr *err)
{
	PmStatus st = enter(g, err);
	CuPtr p = 0;

	if (st)
		return st;
	st = leave(g, "hold a tensor", g->cu->mem_alloc(&p, bytes ? bytes : 1), err);
	*out = (void *)(uintptr_t)p;
	return st;
}

void pm__gpu_free(PmServeGpu *g, void *p)
{
	if (!p || enter(g, NULL))
		return;
	leave(g, "", g->cu->mem_free((CuPtr)(uintptr_t)p), NULL);
}

PmStatus pm__gpu_stream(PmServeGpu *g, void **out, PmErr *err)
{
	PmStatus st = enter(g, err);
	CuStream *s = NULL;

	if (st)
		return st;
	st = leave(g, "make a stream", g->cu->stream_create(&s, CU_STREAM_NON_BLOCKING), err);
	*out = s;
	return st;
}

void pm__gpu_stream_end(PmServeGpu *g, void *stream)
{
	if (!stream || enter(g, NULL))
		return;
	leave(g, "", g->cu->stream_destroy(stream), NULL);
}

PmStatus pm__gpu_put(PmServeGpu *g, void *to, const void *from, size_t n, void *stream, PmErr *err)
{
	PmStatus st = enter(g, err);
	int rc;

	if (st)
		return st;
	rc = n ? g->cu->copy_to((CuPtr)(uintptr_t)to, from, n, stream) : 0;
	if (!rc)
		rc = g->cu->stream_sync(stream);
	return leave(g, "take a tensor", rc, err);
}

PmStatus pm__gpu_get(PmServeGpu *g, void *to, const void *from, size_t n, void *stream, PmErr *err)
{
	PmStatus st = enter(g, err);
	int rc;

	if (st)
		return st;
	rc = n ? g->cu->copy_from(to, (CuPtr)(uintptr_t)from, n, stream) : 0;
	if (!rc)
		rc = g->cu->stream_sync(stream);
	return leave(g, "give a tensor back", rc, err);
}

PmStatus pm__gpu_wait(PmServeGpu *g, void *stream, PmErr *err)
{
	PmStatus st = enter(g, err);

	return st ? st : leave(g, "finish a run", g->cu->stream_sync(stream), err);
}

PmStatus pm__gpu_capture(PmServeGpu *g, void *stream, PmStatus (*f)(void *arg, PmErr *err), void *arg,
			 void **graph, PmErr *err)
{
	PmStatus st = enter(g, err), said = PM_OK;
	CuGraphExec *exec = NULL;
	CuGraph *all = NULL;
	int rc;

	if (st)
		return st;
	rc = g->cu->capture_begin(stream, CU_CAPTURE_RELAXED);
	if (!rc) {
		said = f(arg, err);
		rc = g->cu->capture_end(stream, &all);
	}
	if (!rc && !said)
		rc = g->cu->graph_make(&exec, all, 0);
	if (all)
		g->cu->graph_destroy(all);
	*graph = exec;
	st = leave(g, "make a graph of a run", rc, said ? NULL : err);
	return said ? said : st;
}

PmStatus pm__gpu_launch(PmServeGpu *g, void *graph, void *stream, double *seconds, PmErr *err)
{
	PmStatus st = enter(g, err);
	double from;
	int rc;

	if (st)
		return st;
	from = pm_now();
	rc = g->cu->graph_launch(graph, stream);
	*seconds = pm_now() - from;
	return leave(g, "launch a graph", rc, err);
}

void pm__gpu_graph_end(PmServeGpu *g, void *graph)
{
	if (!graph || enter(g, NULL))
		return;
	leave(g, "", g->cu->graph_exec_destroy(graph), NULL);
}

int64_t pm__gpu_taken(PmServeGpu *g)
{
	size_t left = 0, all = 0;

	if (enter(g, NULL))
		return 0;
	return leave(g, "", g->cu->mem_info(&left, &all), NULL) ? 0 : (int64_t)(all - left);
}
