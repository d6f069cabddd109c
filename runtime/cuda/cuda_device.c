/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_device.c - the device interface on a GPU, through the driver API.
 *
 * Everything goes to one stream. After a kernel error the context is lost: the error is kept, every call
 * returns it, and the process (a worker, see run.c) has to end.
 */
#include "runtime/cuda/cuda_priv.h"

#include "runtime/device/limits.h"

#include <stdio.h>
#include <stdlib.h>

/* --- the device ----------------------------------------------------------------------------------------- */

static void cuda_info(PmDevice *dev, PmDeviceInfo *out)
{
	*out = ((PmCudaDevice *)dev)->info;
}

static void cuda_close(PmDevice *dev)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	size_t i;

	if (d->stream) {
		d->cu->stream_sync(d->stream);
		pm__cuda_hw_close(d);
		pm__guard_close(d->cu, &d->guard);
		pm__cuda_clock_close(d);
		pm__cuda_call_close(d);
		pm__cuda_lib_close(d);
	}
	for (i = 0; i < d->modules.n; i++)
		pm__cuda_close_module(d, &d->modules.v[i]);
	for (i = 0; i < d->bufs.n; i++)
		if (d->bufs.v[i].mapped)
			pm__vmm_unmap(d, &d->bufs.v[i]);
		else if (d->bufs.v[i].base)
			d->cu->mem_free(d->bufs.v[i].base);
	pm__cuda_drop_kept(d);
	for (i = 0; i < CU_N_EVENTS; i++)
		if (d->event[i])
			d->cu->event_destroy(d->event[i]);
	if (d->stream)
		d->cu->stream_destroy(d->stream);
	if (d->ctx) {
		d->cu->ctx_set(NULL); /* it was made current when the device was opened */
		d->cu->ctx_release(d->dev);
	}
	PM_VEC_RELEASE(&d->modules);
	PM_VEC_RELEASE(&d->bufs);
	PM_VEC_RELEASE(&d->kept);
	PM_VEC_RELEASE(&d->replays);
	PM_VEC_RELEASE(&d->calls);
	pm_intern_free(d->names);
	free(d);
}

/* An attribute that a driver may not know: 0 then. */
static int attribute(const PmCudaDevice *d, int a)
{
	int v = 0;

	return d->cu->device_attr(&v, a, d->dev) ? 0 : v;
}

/* What decides how work is shared, beside what every driver says. */
static void ask_sizes(PmCudaDevice *d)
{
	d->info.sm_threads = attribute(d, CU_DEV_SM_THREADS);
	d->info.sm_blocks = attribute(d, CU_DEV_SM_BLOCKS);
	d->info.sm_registers = attribute(d, CU_DEV_SM_REGISTERS);
	d->info.sm_shared = attribute(d, CU_DEV_SM_SMEM);
	d->info.sm_clock_hz = attribute(d, CU_DEV_SM_KHZ) * 1e3;
	d->info.memory_clock_hz = attribute(d, CU_DEV_MEMORY_KHZ) * 1e3;
	d->info.memory_bus_bits = attribute(d, CU_DEV_MEMORY_BUS_BITS);
}

static int ask_device(PmCudaDevice *d, int ordinal)
{
	const PmCuda *cu = d->cu;
	int major = 0, minor = 0, l2 = 0, mode = 0;
	size_t memory = 0;
	int rc = cu->device_get(&d->dev, ordinal);

	if (!rc)
		rc = cu->device_name(d->info.name, (int)sizeof d->info.name, d->dev);
	if (!rc)
		rc = cu->device_attr(&major, CU_DEV_CC_MAJOR, d->dev);
	if (!rc)
		rc = cu->device_attr(&minor, CU_DEV_CC_MINOR, d->dev);
	if (!rc)
		rc = cu->device_attr(&d->info.n_sm, CU_DEV_N_SM, d->dev);
	if (!rc)
		rc = cu->device_attr(&l2, CU_DEV_L2, d->dev);
	if (!rc)
		rc = cu->device_attr(&mode, CU_DEV_COMPUTE_MODE, d->dev);
	if (!rc)
		rc = cu->device_attr(&d->info.max_smem, CU_DEV_MAX_SMEM, d->dev);
	if (!rc)
		rc = cu->device_memory(&memory, d->dev);
	if (!rc)
		rc = cu->device_pci(d->info.pci, (int)sizeof d->info.pci, d->dev);
	d->info.cc = major * 10 + minor;
	d->info.l2 = l2;
	d->info.exclusive = mode == CU_MODE_EXCLUSIVE;
	d->info.memory = (int64_t)memory;
	d->info.measured = 1;
	ask_sizes(d);
	return rc;
}

static int open_context(PmCudaDevice *d)
{
	size_t unused = 0, all = 0;
	int rc = d->cu->ctx_retain(&d->ctx, d->dev);

	if (rc)
		d->ctx = NULL;
	if (!rc)
		rc = d->cu->ctx_set(d->ctx);
	if (!rc)
		rc = d->cu->mem_info(&unused, &all);
	d->info.max_scratch = (int64_t)unused / PM_LIMIT_SCRATCH_SHARE;
	if (d->info.max_scratch > PM_LIMIT_SCRATCH_CUDA)
		d->info.max_scratch = PM_LIMIT_SCRATCH_CUDA;
	return rc ? rc : d->cu->stream_create(&d->stream, CU_STREAM_NON_BLOCKING);
}

static const PmDeviceOps ops = {
	.info = cuda_info,
	.alloc = pm__cuda_alloc,
	.alloc_guarded = pm__cuda_alloc_guarded,
	.release = pm__cuda_release,
	.upload = pm__cuda_upload,
	.download = pm__cuda_download,
	.fill = pm__cuda_fill,
	.copy = pm__cuda_copy,
	.draw = pm__cuda_draw,
	.layout = pm__cuda_layout,
	.mend = pm__cuda_mend,
	.load = pm__cuda_load,
	.unload = pm__cuda_unload,
	.code = pm__cuda_code,
	.launch = pm__cuda_launch,
	.sync = pm__cuda_sync,
	.event_record = pm__cuda_event_record,
	.event_elapsed = pm__cuda_event_elapsed,
	.close = cuda_close,
	.call_new = pm__cuda_call_new,
	.call_run = pm__cuda_call_run,
	.call_drop = pm__cuda_call_drop,
	.lib_prepare = pm__cuda_lib_prepare,
	.lib_drop = pm__cuda_lib_drop,
	.clock = &pm__cuda_clock_ops,
	.hw = &pm__cuda_hw_ops,
};

PmStatus pm_cuda_look(PmDeviceInfo *out, PmErr *err)
{
	PmCudaDevice d = { 0 };
	PmStatus st = pm__cuda_open(&d.cu, err);
	int rc = st ? 0 : ask_device(&d, 0);

	*out = d.info;
	return rc ? pm__cuda_fail(d.cu, PM_E_ENV, "be asked what it is", rc, err) : st;
}

PmStatus pm_cuda_list(PmDeviceInfo *out, int room, int *n, PmErr *err)
{
	PmCudaDevice d = { 0 };
	PmStatus st = pm__cuda_open(&d.cu, err);
	int rc = st ? 0 : d.cu->device_count(n);

	*n = st || rc ? 0 : *n < room ? *n : room;
	for (int i = 0; i < *n && !rc; i++) {
		rc = ask_device(&d, i);
		out[i] = d.info;
	}
	return rc ? pm__cuda_fail(d.cu, PM_E_ENV, "be asked what it is", rc, err) : st;
}

PmStatus pm_cuda_open(PmDevice **out, PmErr *err)
{
	const PmCuda *cu;
	PmCudaDevice *d;
	PmStatus st = pm__cuda_open(&cu, err);
	int rc;

	if (st)
		return st;
	d = pm_xcalloc(1, sizeof *d);
	d->base.ops = &ops;
	d->cu = cu;
	d->names = pm_intern_new();
	rc = ask_device(d, 0);
	if (!rc)
		rc = open_context(d);
	if (rc)
		st = pm__cuda_fail(cu, PM_E_ENV, "be opened", rc, err);
	else
		st = pm__guard_open(cu, d->info.cc, d->info.max_smem, &d->guard, err);
	if (!st)
		pm__vmm_open(d);
	if (st) {
		cuda_close(&d->base);
		return st;
	}
	*out = &d->base;
	return PM_OK;
}
