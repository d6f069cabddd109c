/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_watch.c - what happens on a GPU while it is measured. */
#include "runtime/device/gpu_watch.h"

#include "base/core/arena.h"
#include "base/core/err.h"
#include "base/sys/proc.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Numbers of NVML's documentation. Its functions return 0 for success. */
enum {
	NVML_TOO_SMALL = 7,
	NVML_CLOCK_SM = 1,
	NVML_CLOCK_MEMORY = 2,
	NVML_TEMPERATURE_GPU = 0,
	NVML_PROCESSES = 64,
};

typedef struct NvmlProcess {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
} NvmlProcess;

/* XX(member, symbol, parameters): all return int. */
#define NVML_FUNCTIONS(XX)                                                                                   \
	XX(init, nvmlInit_v2, (void))                                                                        \
	XX(shutdown, nvmlShutdown, (void))                                                                   \
	XX(find, nvmlDeviceGetHandleByPciBusId_v2, (const char *pci, void **device))                         \
	XX(clock, nvmlDeviceGetClockInfo, (void *device, int which, unsigned *mhz))                          \
	XX(temperature, nvmlDeviceGetTemperature, (void *device, int which, unsigned *celsius))              \
	XX(slowed, nvmlDeviceGetCurrentClocksThrottleReasons, (void *device, unsigned long long *reasons))   \
	XX(persistence, nvmlDeviceGetPersistenceMode, (void *device, int *on))                               \
	XX(processes, nvmlDeviceGetComputeRunningProcesses_v3, (void *device, unsigned *n, NvmlProcess *p))

struct PmGpuWatch {
	PmGpuSeen seen;
	void *so, *device;
	int begun; /* init was called and is to be matched */
#define XX(member, symbol, parameters) int(*member) parameters;
	NVML_FUNCTIONS(XX)
#undef XX
};

static const struct {
	uint64_t bit;
	const char *text;
} reasons[] = {
	{ 0x4, "power cap" },       { 0x8, "hardware slowdown" },       { 0x10, "sync boost" },
	{ 0x20, "heat" },           { 0x40, "hardware heat slowdown" }, { 0x80, "power brake" },
	{ 0x100, "display clock" },
};
static const uint64_t harmless = 0x1 | 0x2; /* idle, clocks set by the user */

void pm_gpu_slowed_text(uint64_t slowed, char *out, int room)
{
	int at = snprintf(out, (size_t)room, "%s", slowed & ~harmless ? "" : "nothing");

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (slowed & reasons[i].bit && at < room)
			at += snprintf(out + at, (size_t)(room - at), "%s%s", at ? ", " : "",
				       reasons[i].text);
}

static void unknown(PmGpuWatch *w, const char *fmt, ...) PM_PRINTF(2, 3);
static void unknown(PmGpuWatch *w, const char *fmt, ...)
{
	va_list ap;

	w->seen.known = 0;
	va_start(ap, fmt);
	vsnprintf(w->seen.why, sizeof w->seen.why, fmt, ap);
	va_end(ap);
}

/* The name of a function that the library lacks, or NULL. */
static const char *load_functions(PmGpuWatch *w)
{
	void *p;

#define XX(member, symbol, parameters)                                                                       \
	p = dlsym(w->so, #symbol);                                                                           \
	if (!p)                                                                                              \
		return #symbol;                                                                              \
	memcpy(&w->member, &p, sizeof p);
	NVML_FUNCTIONS(XX)
#undef XX
	return NULL;
}

/* Of a library that lacks the function it stays unknown: nothing else rests on it. */
static void ask_driver_version(PmGpuWatch *w)
{
	void *p = dlsym(w->so, "nvmlSystemGetDriverVersion");
	int (*ask)(char *version, unsigned room);
	char text[sizeof w->seen.driver] = "";

	memcpy(&ask, &p, sizeof ask);
	if (!p || ask(text, sizeof text - 1))
		return;
	for (size_t i = 0; text[i]; i++) /* it becomes part of keys and tables */
		w->seen.driver[i] = (char)(text[i] > ' ' && text[i] <= '~' ? text[i] : '?');
}

/* Likewise which GPU it is, and what its clocks are set to. */
static void ask_which(PmGpuWatch *w)
{
	void *p = dlsym(w->so, "nvmlDeviceGetUUID"), *q = dlsym(w->so, "nvmlDeviceGetIndex"),
	     *r = dlsym(w->so, "nvmlDeviceGetApplicationsClock");
	int (*ask_uuid)(void *device, char *text, unsigned room);
	int (*ask_index)(void *device, unsigned *index);
	int (*clock)(void *device, int which, unsigned *mhz);
	char text[sizeof w->seen.uuid] = "";
	unsigned index = 0, sm = 0, memory = 0;

	memcpy(&ask_uuid, &p, sizeof ask_uuid);
	memcpy(&ask_index, &q, sizeof ask_index);
	memcpy(&clock, &r, sizeof clock);
	if (p && !ask_uuid(w->device, text, sizeof text - 1))
		for (size_t i = 0; text[i]; i++) /* it becomes part of tables */
			w->seen.uuid[i] = (char)(text[i] > ' ' && text[i] <= '~' ? text[i] : '?');
	if (q && !ask_index(w->device, &index))
		w->seen.index = (int)index;
	if (r && !clock(w->device, NVML_CLOCK_SM, &sm) && !clock(w->device, NVML_CLOCK_MEMORY, &memory))
		snprintf(w->seen.clocks, sizeof w->seen.clocks, "SM %u MHz, memory %u MHz", sm, memory);
}

PmGpuWatch *pm_gpu_watch_open(const char *library, const char *pci)
{
	PmGpuWatch *w = pm_xcalloc(1, sizeof *w);
	const char *lacks;
	int rc;

	w->seen.index = -1;
	w->so = dlopen(library ? library : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!w->so) {
		unknown(w, "%s is not here; it comes with the GPU's driver.",
			library ? library : "libnvidia-ml.so.1");
		return w;
	}
	lacks = load_functions(w);
	if (lacks) {
		unknown(w, "NVML has no %s; use a driver of version 510 or newer.", lacks);
		return w;
	}
	rc = w->init();
	w->begun = !rc;
	if (w->begun)
		ask_driver_version(w);
	if (!rc)
		rc = w->find(pci, &w->device);
	w->seen.known = !rc;
	if (!rc)
		ask_which(w);
	if (rc)
		unknown(w, "NVML does not answer for the GPU at '%.40s' (error %d).", pci, rc);
	return w;
}

static int count_processes(PmGpuWatch *w, int *n)
{
	NvmlProcess p[NVML_PROCESSES];
	unsigned room = NVML_PROCESSES;
	int rc = w->processes(w->device, &room, p);

	*n = (int)room;
	return rc == NVML_TOO_SMALL ? 0 : rc;
}

int pm_gpu_watch_wait(PmGpuWatch *w, int ours, double seconds)
{
	const struct timespec pause = { 0, 20000000 };
	double t0 = pm_now();
	int n = 0;

	while (w->seen.known && !count_processes(w, &n) && n > ours) {
		if (pm_now() - t0 > seconds)
			return 0;
		nanosleep(&pause, NULL);
	}
	return 1;
}

static void widen(int range[2], unsigned v, int first)
{
	range[0] = first || (int)v < range[0] ? (int)v : range[0];
	range[1] = (int)v > range[1] ? (int)v : range[1];
}

void pm_gpu_watch_look(PmGpuWatch *w, int ours)
{
	unsigned sm = 0, memory = 0, celsius = 0;
	unsigned long long slowed = 0;
	PmGpuSeen *s = &w->seen;
	int n = 0, rc;

	if (!s->known)
		return;
	rc = w->clock(w->device, NVML_CLOCK_SM, &sm);
	if (!rc)
		rc = w->clock(w->device, NVML_CLOCK_MEMORY, &memory);
	if (!rc)
		rc = w->temperature(w->device, NVML_TEMPERATURE_GPU, &celsius);
	if (!rc)
		rc = w->slowed(w->device, &slowed);
	if (!rc)
		rc = w->persistence(w->device, &s->persistence);
	if (!rc)
		rc = count_processes(w, &n);
	if (rc) {
		unknown(w, "NVML stopped answering (error %d).", rc);
		return;
	}
	widen(s->sm_mhz, sm, s->looks == 0);
	widen(s->memory_mhz, memory, s->looks == 0);
	s->celsius = (int)celsius > s->celsius ? (int)celsius : s->celsius;
	s->slowed |= slowed & ~harmless;
	s->others = n - ours > s->others ? n - ours : s->others;
	s->looks++;
}

const PmGpuSeen *pm_gpu_watch_seen(const PmGpuWatch *w)
{
	return &w->seen;
}

void pm_gpu_watch_close(PmGpuWatch *w)
{
	if (!w)
		return;
	if (w->begun)
		w->shutdown();
	if (w->so)
		dlclose(w->so);
	free(w);
}
