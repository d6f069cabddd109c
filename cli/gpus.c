/* SPDX-License-Identifier: Apache-2.0 */
/* gpus.c - the option --gpus. */
#include "cli/gpus.h"

#include "base/core/arena.h"
#include "cli/device_lock.h"

#include <stdio.h>
#include <stdlib.h>

int pm_cli_gpus_usage(const PmCmd *cmd, const char *gpus, const char *device)
{
	if (!gpus)
		return 0;
	if (!pm_gpus_is_list(gpus))
		return pm_cli_usage(
			cmd,
			"--gpus takes all, or numbers and UUIDs with commas as nvidia-smi -L lists "
			"them (0,2), not '%.60s'.",
			gpus);
	if (pm_device_kind(device) != PM_DEVICE_CUDA)
		return pm_cli_usage(
			cmd, "--gpus names GPUs, and the device is %.20s: give --device cuda too.", device);
	return 0;
}

static void say(const char *text)
{
	fprintf(stderr, "passmith: %s\n", text);
}

PmStatus pm_cli_gpus(const char *gpus, PmSeats **out, PmErr *err)
{
	const char *dir = getenv("PASSMITH_LOCKS");
	PmStatus st = pm_seats_new(gpus, dir && *dir ? dir : NULL, say, out, err);

	if (!st)
		setenv("CUDA_VISIBLE_DEVICES", pm_seats_gpu(*out, 0)->uuid, 1);
	return st;
}

PmStatus pm_cli_gpus_limit(const char *gpus, int *n, PmErr *err)
{
	PmGpus *all = pm_xcalloc(1, sizeof *all), *some = pm_xcalloc(1, sizeof *some);
	PmStr uuids = PM_STR_INIT;
	PmStatus st = pm_gpus_find(all, err);

	if (!st)
		st = pm_gpus_select(all, gpus, some, err);
	for (int i = 0; i < some->n && !st; i++)
		pm_str_addf(&uuids, "%s%s", i ? "," : "", some->gpu[i].uuid);
	if (!st)
		setenv("CUDA_VISIBLE_DEVICES", uuids.s, 1);
	*n = some->n;
	pm_str_release(&uuids);
	free(all);
	free(some);
	return st;
}

PmStatus pm_cli_gpu_locks(const PmSeats *s, PmRwlock **out, PmErr *err)
{
	PmStatus st = PM_OK;

	for (int i = 0; i < pm_seats_n(s) && !st; i++)
		st = pm_cli_device_lock("cuda", &pm_seats_gpu(s, i)->info, &out[i], err);
	return st;
}

cJSON *pm_cli_gpu_json(const PmSeats *s)
{
	const PmGpu *g = pm_seats_gpu(s, pm_seats_at(s));
	cJSON *j = cJSON_CreateObject();

	cJSON_AddNumberToObject(j, "index", g->index);
	cJSON_AddStringToObject(j, "uuid", g->uuid);
	return j;
}
