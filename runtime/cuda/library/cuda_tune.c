/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_tune.c - the outcomes of trials, call by call. */
#include "runtime/cuda/library/cuda_tune.h"

#include "runtime/cuda/library/cuda_lib_priv.h"

#include <stdio.h>
#include <string.h>

PmStatus pm_cuda_tune(const PmLibCall *call, size_t n, PmTuned *out, PmTunedOn *on, PmErr *err)
{
	PmDevice *d = NULL;
	PmStatus st = pm_cuda_open(&d, err);
	PmDeviceInfo info;

	if (st)
		return st;
	d->ops->info(d, &info);
	snprintf(on->gpu, sizeof on->gpu, "%s", info.name);
	memset(out, 0, n * sizeof *out);
	on->cublaslt = pm_library_cublaslt()->version;
	on->cudnn = pm_library_cudnn()->version;
	for (size_t i = 0; i < n && !st && pm_library_allowed(); i++) {
		PmCudaAlgo algo;

		st = pm__algo_choose((PmCudaDevice *)d, &call[i], &algo, err);
		if (!st)
			out[i] = (PmTuned){ 1, (int)algo.algo.kind, algo.pick };
		if (!st)
			pm__algo_drop(&algo);
		/* Nobody takes the call; or a library does not start here, and takes none. */
		st = st == PM_DECLINED || st == PM_E_ENV ? PM_OK : st;
	}
	d->ops->close(d);
	return st;
}
