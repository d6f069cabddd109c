/* SPDX-License-Identifier: Apache-2.0 */
/* host_cost.c - what a run costs the host beside the bare launch of a CUDA graph.
 *
 * The graph is captured from a run without PM_RT_GRAPH, so that it has the launches that the session's own
 * graph has. The two are timed in turn, each on an idle stream: what the driver does when a stream is busy is
 * no part of it.
 */
#include "app/serve/host_cost.h"

#include "app/serve/latency.h"
#include "app/serve/serve_error.h"
#include "base/core/arena.h"
#include "base/sys/proc.h"

#include <stdlib.h>

typedef struct Captured {
	PmRtSession *s;
	void *stream;
} Captured;

static PmStatus enqueue(void *arg, PmErr *err)
{
	const Captured *c = arg;
	PmRtError e;

	return pm__serve_error(pm_rt_run(c->s, c->stream, 0, &e), &e, err);
}

/* One of each, each waited for. */
static PmStatus time_pair(const Captured *c, PmServeGpu *gpu, void *graph, PmLatency *run, PmLatency *launch,
			  PmErr *err)
{
	double from = pm_now(), seconds;
	PmRtError e;
	PmStatus st = pm__serve_error(pm_rt_run(c->s, c->stream, PM_RT_GRAPH, &e), &e, err);

	pm_latency_add(run, pm_now() - from);
	if (!st)
		st = pm__gpu_wait(gpu, c->stream, err);
	if (!st)
		st = pm__gpu_launch(gpu, graph, c->stream, &seconds, err);
	if (st)
		return st;
	pm_latency_add(launch, seconds);
	return pm__gpu_wait(gpu, c->stream, err);
}

PmStatus pm__host_cost(PmRtSession *s, PmServeGpu *gpu, void *stream, int64_t runs, PmHostCost *out,
		       PmErr *err)
{
	Captured c = { s, stream };
	PmLatency *time = pm_xcalloc(2, sizeof *time);
	void *graph = NULL;
	PmStatus st = pm__gpu_wait(gpu, stream, err);

	if (!st)
		st = pm__gpu_capture(gpu, stream, enqueue, &c, &graph, err);
	for (int64_t i = 0; i < runs && !st; i++)
		st = time_pair(&c, gpu, graph, &time[0], &time[1], err);
	pm__gpu_graph_end(gpu, graph);
	if (!st)
		*out = (PmHostCost){ runs, pm_latency_level(&time[0], 0.5), pm_latency_level(&time[1], 0.5) };
	free(time);
	return st;
}
