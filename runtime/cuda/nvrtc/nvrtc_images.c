/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_images.c - a source as machine code and text for several kinds of GPUs. */
#include "runtime/cuda/nvrtc/nvrtc_images.h"

#include "runtime/cuda/nvrtc/nvrtc.h"

PmStatus pm_nvrtc_images(const PmSource *s, const int *cc, size_t n, PmGpuImageFn add, void *arg, PmErr *err)
{
	int lowest = n ? cc[0] : 0;
	PmStatus st = PM_OK;

	for (size_t i = 1; i < n; i++)
		lowest = cc[i] < lowest ? cc[i] : lowest;
	for (size_t i = 0; i < n && !st; i++) {
		PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;

		st = pm_nvrtc_compile(s, cc[i], &ptx, &cubin, err);
		if (!st && cubin.len)
			st = add(arg, &(PmGpuImage){ cc[i], 0, cubin.s, cubin.len }, err);
		if (!st && (cc[i] == lowest || !cubin.len))
			st = add(arg, &(PmGpuImage){ cc[i], 1, ptx.s, ptx.len + 1 }, err);
		pm_str_release(&ptx);
		pm_str_release(&cubin);
	}
	return st;
}
