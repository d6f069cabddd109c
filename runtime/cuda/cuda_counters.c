/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_counters.c - hardware counters of the device's context, by CUPTI. */
#include "runtime/cuda/cuda_priv.h"

#include "runtime/cuda/cupti/cupti.h"

static PmStatus hw_open(PmDevice *dev, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = pm__cuda_failed(d, err);

	pm__cuda_hw_close(d);
	return st ? st : pm_cupti_open(d->ctx, d->dev, &d->cupti, err);
}

void pm__cuda_hw_close(PmCudaDevice *d)
{
	pm_cupti_free(d->cupti);
	d->cupti = NULL;
}

/* A session that is open, on a device on which nothing has failed. */
static PmStatus ready(PmCudaDevice *d, PmErr *err)
{
	if (!d->cupti)
		return pm_err(err, PM_E_INVALID, "Hardware counters are not open on this device.");
	return pm__cuda_failed(d, err);
}

/* The same, and everything enqueued is done. */
static PmStatus idle(PmCudaDevice *d, PmErr *err)
{
	PmStatus st = ready(d, err);

	return st ? st : pm__cuda_sync(&d->base, err);
}

static PmStatus hw_pass_begin(PmDevice *dev, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = idle(d, err);

	return st ? st : pm_cupti_pass_begin(d->cupti, err);
}

static PmStatus hw_pass_end(PmDevice *dev, int *done, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = idle(d, err);

	return st ? st : pm_cupti_pass_end(d->cupti, done, err);
}

static PmStatus hw_launch_begin(PmDevice *dev, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = idle(d, err);

	return st ? st : pm_cupti_launch_begin(d->cupti, err);
}

static PmStatus hw_launch_end(PmDevice *dev, PmHwLaunch *out, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = ready(d, err);

	return st ? st : pm_cupti_launch_end(d->cupti, out, err);
}

static void hw_about(PmDevice *dev, PmHwCounters *out)
{
	pm_cupti_about(((PmCudaDevice *)dev)->cupti, out);
}

const PmHwOps pm__cuda_hw_ops = {
	.open = hw_open,
	.launch_begin = hw_launch_begin,
	.pass_begin = hw_pass_begin,
	.pass_end = hw_pass_end,
	.launch_end = hw_launch_end,
	.about = hw_about,
};

int pm_cuda_counters_probe(PmStr *detail)
{
	return pm_cupti_probe(detail);
}
