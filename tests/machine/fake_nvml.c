/* SPDX-License-Identifier: Apache-2.0 */
/* fake_nvml.c - NVML for GPUs that are made up (fake.h). */
#include "tests/machine/fake.h"

#include <unistd.h>

#define XX(name, parameters)                                                                                 \
	__attribute__((visibility("default"))) int name parameters;                                          \
	int name parameters

enum { UNINITIALIZED = 1, NOT_FOUND = 6, TOO_SMALL = 7 };

typedef struct Process {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
} Process;

static FakeGpu gpus[FAKE_GPUS_MAX];
static int n_gpus;
static pid_t begun_by; /* a process that is forked from it has to begin for itself, as with NVML */

static unsigned long long number(void *device, const char *name)
{
	FILE *f = fake_file(device, name, "re");
	unsigned long long v = 0;

	if (f && fscanf(f, "%llu", &v) != 1)
		v = 0;
	if (f)
		fclose(f);
	return v;
}

XX(nvmlInit_v2, (void))
{
	n_gpus = fake_read(gpus);
	begun_by = getpid();
	return 0;
}

XX(nvmlShutdown, (void))
{
	return 0;
}

XX(nvmlSystemGetDriverVersion, (char *version, unsigned room))
{
	snprintf(version, room, "999.1");
	return 0;
}

XX(nvmlDeviceGetHandleByPciBusId_v2, (const char *pci, void **device))
{
	if (begun_by != getpid())
		return UNINITIALIZED;
	for (int i = 0; i < n_gpus; i++)
		if (!strcmp(gpus[i].pci, pci)) {
			*device = &gpus[i];
			return 0;
		}
	return NOT_FOUND;
}

XX(nvmlDeviceGetUUID, (void *device, char *text, unsigned room))
{
	if (begun_by != getpid())
		return UNINITIALIZED;
	snprintf(text, room, "%s", ((FakeGpu *)device)->uuid);
	return 0;
}

XX(nvmlDeviceGetIndex, (void *device, unsigned *index))
{
	if (begun_by != getpid())
		return UNINITIALIZED;
	*index = (unsigned)((FakeGpu *)device)->index;
	return 0;
}

XX(nvmlDeviceGetCpuAffinity, (void *device, unsigned n, unsigned long *words))
{
	if (begun_by != getpid())
		return UNINITIALIZED;
	memset(words, 0, n * sizeof *words);
	words[((FakeGpu *)device)->cpu / 64] = 1UL << ((FakeGpu *)device)->cpu % 64;
	return 0;
}

XX(nvmlDeviceGetClockInfo, (void *device, int which, unsigned *mhz))
{
	if (begun_by != getpid())
		return UNINITIALIZED;
	(void)device;
	*mhz = which == 1 ? 1980 : 3201;
	return 0;
}

XX(nvmlDeviceGetTemperature, (void *device, int which, unsigned *celsius))
{
	if (begun_by != getpid())
		return UNINITIALIZED;
	(void)device, (void)which;
	*celsius = 40;
	return 0;
}

XX(nvmlDeviceGetCurrentClocksThrottleReasons, (void *device, unsigned long long *reasons))
{
	if (begun_by != getpid())
		return UNINITIALIZED;
	*reasons = number(device, "slowed");
	return 0;
}

XX(nvmlDeviceGetPersistenceMode, (void *device, int *on))
{
	if (begun_by != getpid())
		return UNINITIALIZED;
	(void)device;
	*on = 1;
	return 0;
}

XX(nvmlDeviceGetComputeRunningProcesses_v3, (void *device, unsigned *n, Process *p))
{
	FILE *f = fake_file(device, "processes", "re");
	unsigned room = *n;

	if (begun_by != getpid())
		return UNINITIALIZED;
	for (*n = 0; f && *n < room && fscanf(f, "%u", &p[*n].pid) == 1; ++*n)
		;
	if (f)
		fclose(f);
	return 0;
}

XX(nvmlDeviceGetTotalEccErrors, (void *device, int kind, int since, unsigned long long *n))
{
	if (begun_by != getpid())
		return UNINITIALIZED;
	*n = kind == 1 && since == 0 ? number(device, "errors") : 0;
	return 0;
}

XX(nvmlDeviceGetRemappedRows,
   (void *device, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed))
{
	if (begun_by != getpid())
		return UNINITIALIZED;
	*corrected = *uncorrected = *pending = 0;
	*failed = (unsigned)fake_has(device, "rows");
	return 0;
}
