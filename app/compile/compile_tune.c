/* SPDX-License-Identifier: Apache-2.0 */
/* compile_tune.c - which algorithms the calls of a package take on the GPU of this machine. */
#include "app/compile/compile_priv.h"

#include "base/core/arena.h"
#include "runtime/cuda/library/cuda_tune.h"

#include <stdlib.h>

PmStatus pm__calls_tune(PmPackage *p, PmErr *err)
{
	PmTuned *t = pm_xcalloc(p->lib.n + 1, sizeof *t);
	PmTunedOn on = { 0 };
	PmStatus st;

	pm_watch_begin(&p->ask->watch, "tuning", (int64_t)p->lib.n);
	st = pm_cuda_tune(p->lib.v, p->lib.n, t, &on, err);
	for (size_t i = 0; i < p->lib.n && !st; i++) {
		PmRtfChoice c = { .call = (uint32_t)i,
				  .cublaslt = (uint32_t)on.cublaslt,
				  .cudnn = (uint32_t)on.cudnn,
				  .algorithm = (uint32_t)t[i].algorithm,
				  .candidate = (uint32_t)t[i].candidate };

		if (!t[i].taken)
			continue;
		c.gpu = pm__text(p, on.gpu);
		PM_VEC_PUSH(&p->choice, c);
	}
	pm_watch_end(&p->ask->watch);
	free(t);
	return st;
}
