/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - the target of a process. */
#include "runtime/gpus/target.h"

#include "base/core/arena.h"
#include "runtime/device/device.h"
#include "runtime/device/probe.h"
#include "runtime/gpus/gpus.h"

#include <stdlib.h>
#include <string.h>

static const PmTarget *of_gpu(const PmDeviceInfo *i)
{
	const PmTargetFacts f = {
		.full_name = i->name,
		.cc = i->cc,
		.sm_count = i->n_sm,
		.sm_threads = i->sm_threads,
		.sm_blocks = i->sm_blocks,
		.sm_registers = i->sm_registers,
		.l2_bytes = i->l2,
		.memory_bytes = i->memory,
		.sm_shared_bytes = i->sm_shared,
		.block_shared_bytes = i->max_smem,
		.sm_clock_hz = i->sm_clock_hz,
		.memory_clock_hz = i->memory_clock_hz,
		.memory_bus_bits = i->memory_bus_bits,
	};

	return pm_target_of_device(&f);
}

const PmTarget *pm_target_here(void)
{
	static const PmTarget *here;
	PmDeviceInfo i;

	if (!here && pm_probe_gpu(&i))
		here = of_gpu(&i);
	return here;
}

void pm_target_choose_gpus(const char *gpus)
{
	PmGpus *all = pm_xcalloc(1, sizeof *all), *some = pm_xcalloc(1, sizeof *some);

	/* What is wrong with the list is said when it is used. */
	if (!pm_gpus_find(all, NULL) && !pm_gpus_select(all, gpus, some, NULL) && some->n)
		pm_target_set(of_gpu(&some->gpu[0].info));
	free(all);
	free(some);
}

static PmStatus choose_named(const char *name, PmErr *err)
{
	const PmTarget *t = pm_target_find(name);

	if (!t) {
		t = pm_target_here();
		if (t && strcmp(name, "device") != 0 && strcmp(name, t->name) != 0)
			t = NULL;
		if (!t && !strcmp(name, "device"))
			return pm_err(err, PM_E_ENV,
				      "There is no GPU here that could be the target; name one of:%s.",
				      pm_target_names());
	}
	if (!t)
		return pm_err(err, PM_E_NOT_FOUND,
			      "There is no target '%.60s'; there are%s, and device, the GPU of this machine.",
			      name, pm_target_names());
	pm_target_set(t);
	return PM_OK;
}

PmStatus pm_target_choose(const char *name, const char *device, PmErr *err)
{
	const PmTarget *t;

	if (name)
		return choose_named(name, err);
	t = device && pm_device_kind(device) == PM_DEVICE_CUDA ? pm_target_here() : NULL;
	if (t)
		pm_target_set(t);
	return PM_OK;
}
