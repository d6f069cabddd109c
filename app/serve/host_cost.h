/* SPDX-License-Identifier: Apache-2.0 */
/* host_cost.h - what a run costs the host beside the bare launch of a CUDA graph of the same launches. */
#ifndef APP_SERVE_HOST_COST_H
#define APP_SERVE_HOST_COST_H

#include "app/serve/serve_gpu.h"
#include "rt/passmith_rt.h"

typedef struct PmHostCost {
	int64_t runs; /* of each; 0 = nothing was measured */
	double run,
		launch; /* seconds of this thread, at the median: pm_rt_run with PM_RT_GRAPH; cuGraphLaunch */
} PmHostCost;

/* Times `runs` of each in turn, on an idle stream of the caller's. Everything is bound, lies on the GPU, and
 * was run before; nothing else uses the model. Errors: PM_E_DEVICE, and what pm_rt_run says. */
PmStatus pm__host_cost(PmRtSession *s, PmServeGpu *gpu, void *stream, int64_t runs, PmHostCost *out,
		       PmErr *err);

#endif
