/* SPDX-License-Identifier: Apache-2.0 */
/* origin.c - where this process measures. */
#include "app/eval/origin.h"

#include "base/core/str.h"
#include "bench/eval/run_key.h"
#include "runtime/device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int64_t number_of(const char *s, int64_t otherwise)
{
	int64_t n = 0;

	return s && pm_parse_i64(s, &n) && n >= 0 ? n : otherwise;
}

void pm_origin_here(const char *device, PmOrigin *out)
{
	static char node[256], gpu[64];
	const char *job = getenv("SLURM_ARRAY_JOB_ID");
	const PmFound *nvml, *card, *driver, *found;
	int n;

	if (!*node && gethostname(node, sizeof node - 1))
		snprintf(node, sizeof node, "unknown");
	*out = (PmOrigin){ .node = node,
			   .job = job ? job : getenv("SLURM_JOB_ID"),
			   .element = number_of(getenv("SLURM_ARRAY_TASK_ID"), -1),
			   .restarts = number_of(getenv("SLURM_RESTART_COUNT"), 0) };
	if (pm_device_kind(device) != PM_DEVICE_CUDA)
		return; /* and the machine is not searched for libraries */
	found = pm_run_key_found(device, &n);
	nvml = pm_probe_find(found, n, "NVML");
	card = pm_probe_find(found, n, "GPU");
	driver = pm_probe_find(found, n, "CUDA driver");
	if (card)
		snprintf(gpu, sizeof gpu, "%.*s", (int)strcspn(card->version, ","), card->version);
	out->gpu = gpu;
	out->gpu_id = nvml ? nvml->id : "";
	out->clocks = nvml ? nvml->clocks : "";
	out->driver = driver ? driver->version : "";
}
