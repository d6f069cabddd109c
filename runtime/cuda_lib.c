/* cuda_lib.c - library calls on a GPU: prepared once per plan, run in place of a launch. */
#include "runtime/cuda_lib_priv.h"

#include <stdlib.h>
#include <string.h>

static const int64_t gemm_workspace = 32 << 20, conv_workspace = 1 << 30;

PmCudaLib *pm__cuda_lib(PmCudaDevice *d, PmLib h)
{
	return h.id && h.id <= d->libs.n && d->libs.v[h.id - 1].call ? &d->libs.v[h.id - 1] : NULL;
}

/* Room that the calls share, one after the other. Old room stays until the device closes: recorded launches
 * may know its address. */
static PmStatus grow_workspace(PmCudaDevice *d, int64_t bytes, PmErr *err)
{
	CuPtr p = 0;
	int rc;

	if (bytes <= d->workspace_bytes)
		return PM_OK;
	rc = d->cu->mem_alloc(&p, (size_t)bytes);
	if (rc == CU_OUT_OF_MEMORY)
		return PM_DECLINED;
	if (rc)
		return pm__cuda_kernel_error(d, rc, err);
	PM_VEC_PUSH(&d->workspaces, p);
	d->workspace = p;
	d->workspace_bytes = bytes;
	return PM_OK;
}

PmStatus pm__cuda_lib_prepare(PmDevice *dev, const PmLibCall *c, const char *label, PmLib *out, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmCudaLib l = { .kind = c->kind };
	PmStatus st = pm__cuda_failed(d, err);
	int64_t bytes = 0;
	size_t i = 0;

	if (st || !pm_library_allowed())
		return st ? st : PM_DECLINED;
	st = c->kind == PM_LIB_GEMM ? pm__gemm_prepare(c, gemm_workspace, &l.call, &bytes, err)
				    : pm__conv_prepare(c, conv_workspace, &l.call, &bytes, err);
	if (st)
		return st;
	st = grow_workspace(d, bytes, err);
	l.label = pm__cuda_keep_name(d, label);
	l.workspace = bytes ? d->workspace : 0;
	l.bytes = bytes;
	while (i < d->libs.n && d->libs.v[i].call)
		i++;
	if (i < d->libs.n)
		d->libs.v[i] = l;
	else
		PM_VEC_PUSH(&d->libs, l);
	out->id = (uint32_t)i + 1;
	if (st)
		pm__cuda_lib_drop(dev, *out);
	return st;
}

void pm__cuda_lib_drop(PmDevice *dev, PmLib h)
{
	PmCudaLib *l = pm__cuda_lib((PmCudaDevice *)dev, h);

	if (!l)
		return;
	(l->kind == PM_LIB_GEMM ? pm__gemm_drop : pm__conv_drop)(l->call);
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
}
