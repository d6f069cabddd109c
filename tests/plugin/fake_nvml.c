/* SPDX-License-Identifier: Apache-2.0 */
/* fake_nvml.c - a library with NVML's functions and made-up answers, for test_gpu_watch.c: clocks that fall,
 * a power cap at the second look, three processes. Compiled like a pass, so without the C library. */
#define EXPORT __attribute__((visibility("default"))) int

EXPORT nvmlInit_v2(void);
EXPORT nvmlShutdown(void);
EXPORT nvmlSystemGetDriverVersion(char *version, unsigned room);
EXPORT nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device);
EXPORT nvmlDeviceGetUUID(void *device, char *text, unsigned room);
EXPORT nvmlDeviceGetIndex(void *device, unsigned *index);
EXPORT nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz);
EXPORT nvmlDeviceGetApplicationsClock(void *device, int which, unsigned *mhz)
{
	(void)device;
	*mhz = which == 1 ? 1755 : 2619;
	return 0;
}

EXPORT nvmlDeviceGetTemperature(void *device, int which, unsigned *celsius);
EXPORT nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
EXPORT nvmlDeviceGetPersistenceMode(void *device, int *on);
EXPORT nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, void *p);

static int looks, thing;

EXPORT nvmlInit_v2(void)
{
	looks = 0;
	return 0;
}

EXPORT nvmlShutdown(void)
{
	return 0;
}

EXPORT nvmlSystemGetDriverVersion(char *version, unsigned room)
{
	const char *text = "999.12.03";
	unsigned i = 0;

	while (text[i] && i + 1 < room) {
		version[i] = text[i];
		i++;
	}
	version[i] = 0;
	return room > 9 ? 0 : 7;
}

EXPORT nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device)
{
	*device = &thing;
	return pci[0] == '0' ? 0 : 6; /* not found */
}

EXPORT nvmlDeviceGetUUID(void *device, char *text, unsigned room)
{
	const char *uuid = "GPU-made-up";
	unsigned i = 0;

	(void)device;
	for (; uuid[i] && i + 1 < room; i++)
		text[i] = uuid[i];
	text[i] = 0;
	return 0;
}

EXPORT nvmlDeviceGetIndex(void *device, unsigned *index)
{
	(void)device;
	*index = 5;
	return 0;
}

EXPORT nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz)
{
	(void)device;
	*mhz = which == 1 ? 1980 - 15 * (unsigned)looks : 3201;
	return 0;
}

EXPORT nvmlDeviceGetTemperature(void *device, int which, unsigned *celsius)
{
	(void)device;
	*celsius = which == 0 ? 40 + (unsigned)looks : 0;
	return 0;
}

EXPORT nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	(void)device;
	*reasons = looks == 1 ? 0x4 | 0x20 : 0x1;
	return looks > 3 ? 15 : 0; /* the GPU is lost */
}

EXPORT nvmlDeviceGetPersistenceMode(void *device, int *on)
{
	(void)device;
	*on = 1;
	return 0;
}

EXPORT nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, void *p)
{
	(void)device, (void)p;
	*n = looks++ == 2 ? 3 : 1;
	return 0;
}
