/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - the device "cuda": a GPU, by the driver's interface. */
#include "rt/rt_priv.h"

int pm_rt_cuda_fits(const PmRtPackage *p)
{
	(void)p;
	return 0;
}

static PmStatus cuda_open(PmRtModel *m, int ordinal, PmErr *err)
{
	(void)m, (void)ordinal;
	return pm_err(err, PM_E_ENV, "This build has no device cuda; use emu.");
}

static void cuda_close(PmRtModel *m)
{
	(void)m;
}

const PmRtDevice pm_rt_cuda = { .name = "cuda", .align = 256, .open = cuda_open, .close = cuda_close };
