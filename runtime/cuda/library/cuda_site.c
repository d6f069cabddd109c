/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_site.c - what a cuda device runs algorithms with: its stream, and the kernels around libraries' calls,
 * compiled when they are first needed. */
#include "runtime/cuda/library/cuda_lib_priv.h"

#include "runtime/cuda/nvrtc/nvrtc.h"

/* The module of the kernels for an element type; PM_E_ENV when it cannot be had. */
static PmStatus module_for(PmCudaDevice *d, int dtype, CuMod **out, PmErr *err)
{
	PmSource source = { .label = "lib_algo.cu", .source = pm_algo_source(), .type = (PmDType)dtype };
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
	PmStatus st = PM_OK;
	int rc = 0;

	if (!d->algo_modules[dtype]) {
		st = pm_nvrtc_compile(&source, d->info.cc, &ptx, &cubin, err);
		if (!st)
			rc = d->cu->module_load(&d->algo_modules[dtype], cubin.len ? cubin.s : ptx.s);
		pm_str_release(&ptx);
		pm_str_release(&cubin);
	}
	*out = d->algo_modules[dtype];
	return rc ? pm__cuda_fail(d->cu, PM_E_ENV, "load the kernels around a library's calls", rc, err) : st;
}

static PmStatus load_kernel(void *arg, int dtype, const char *entry, CuFn **out, PmErr *err)
{
	PmCudaDevice *d = arg;
	CuMod *m = NULL;
	PmStatus st = module_for(d, dtype, &m, err);
	int rc = st ? 0 : d->cu->module_function(out, m, entry);

	return rc ? pm__cuda_fail(d->cu, PM_E_ENV, "find a kernel around a library's calls", rc, err) : st;
}

void pm__cuda_algos_close(PmCudaDevice *d)
{
	for (int i = 0; i < (int)(sizeof d->algo_modules / sizeof *d->algo_modules); i++)
		if (d->algo_modules[i])
			d->cu->module_unload(d->algo_modules[i]);
}

PmCudaSite pm__cuda_site(PmCudaDevice *d)
{
	return (PmCudaSite){
		.cu = d->cu, .dev = d->dev, .stream = d->stream, .kernel = load_kernel, .arg = d
	};
}
