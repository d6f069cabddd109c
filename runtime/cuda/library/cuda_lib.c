/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_lib.c - library calls on a GPU: prepared once per plan, run in place of a launch. */
#include "runtime/cuda/library/cuda_lib_priv.h"

#include <stdlib.h>
#include <string.h>

PmCudaLib *pm__cuda_lib(PmCudaDevice *d, PmLib h)
{
	return h.id && h.id <= d->libs.n && d->libs.v[h.id - 1].algo ? &d->libs.v[h.id - 1] : NULL;
}

/* Memory for calls; PM_DECLINED where there is none. */
static PmStatus take_memory(PmCudaDevice *d, int64_t bytes, CuPtr *out, PmErr *err)
{
	int rc = bytes ? d->cu->mem_alloc(out, (size_t)bytes) : 0;

	if (rc == CU_OUT_OF_MEMORY)
		return PM_DECLINED;
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}

/* Memory that the calls share, one after the other. Old memory stays until the device closes: recorded
 * launches may know its address. */
static PmStatus grow_workspace(PmCudaDevice *d, int64_t bytes, PmErr *err)
{
	CuPtr p = 0;
	PmStatus st;

	if (bytes <= d->workspace_bytes)
		return PM_OK;
	st = take_memory(d, bytes, &p, err);
	if (st)
		return st;
	PM_VEC_PUSH(&d->workspaces, p);
	d->workspace = p;
	d->workspace_bytes = bytes;
	return PM_OK;
}

PmStatus pm__cuda_lib_prepare(PmDevice *dev, const PmLibCall *c, const char *label, PmLib *out, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmCudaLib l = { 0 };
	PmStatus st = pm__cuda_failed(d, err);
	PmCudaAlgo algo;
	size_t i = 0;

	if (st || !pm_library_allowed())
		return st ? st : PM_DECLINED;
	st = pm__algo_choose(d, c, &algo, err);
	if (st)
		return st;
	st = grow_workspace(d, algo.workspace, err);
	if (!st)
		st = take_memory(d, algo.algo.kept, &l.kept, err);
	l.algo = pm_xmalloc(sizeof algo);
	*l.algo = algo;
	l.label = pm__cuda_keep_name(d, label);
	l.workspace = algo.workspace ? d->workspace : 0;
	while (i < d->libs.n && d->libs.v[i].algo)
		i++;
	if (i < d->libs.n)
		d->libs.v[i] = l;
	else
		PM_VEC_PUSH(&d->libs, l);
	out->id = (uint32_t)i + 1;
	if (st) {
		pm__cuda_lib_drop(dev, *out);
		out->id = 0;
	}
	return st;
}

void pm__cuda_lib_drop(PmDevice *dev, PmLib h)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmCudaLib *l = pm__cuda_lib(d, h);

	if (!l)
		return;
	if (l->kept)
		d->cu->mem_free(l->kept);
	pm__algo_drop(l->algo);
	free(l->algo);
	memset(l, 0, sizeof *l);
}

void pm__cuda_lib_close(PmCudaDevice *d)
{
	for (size_t i = 0; i < d->libs.n; i++)
		pm__cuda_lib_drop(&d->base, (PmLib){ (uint32_t)i + 1 });
	for (size_t i = 0; i < d->workspaces.n; i++)
		d->cu->mem_free(d->workspaces.v[i]);
	PM_VEC_RELEASE(&d->libs);
	PM_VEC_RELEASE(&d->workspaces);
	pm__cuda_algos_close(d);
}
