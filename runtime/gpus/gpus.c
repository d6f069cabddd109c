/* SPDX-License-Identifier: Apache-2.0 */
/* gpus.c - which GPUs there are, by the driver and by NVML. */
#include "runtime/gpus/gpus.h"

#include "base/core/arena.h"
#include "base/sys/cpus.h"
#include "base/sys/pool.h"
#include "runtime/device/gpu_watch.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Numbers of NVML's documentation. Its functions return 0 for success. */
enum {
	NVML_NOT_SUPPORTED = 3,
	NVML_TOO_SMALL = 7,
	NVML_UNINITIALIZED = 1,
	NVML_UNCORRECTED = 1,
	NVML_SINCE_LOADED = 0,
	PROCESSES = 64
};

static const uint64_t bad_reasons = PM_GPU_SLOWED_BITS;

typedef struct NvmlProcess {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
} NvmlProcess;

/* XX(member, symbol, parameters): all return int. */
#define NVML_FUNCTIONS(XX)                                                                                   \
	XX(init, nvmlInit_v2, (void))                                                                        \
	XX(find, nvmlDeviceGetHandleByPciBusId_v2, (const char *pci, void **device))                         \
	XX(uuid, nvmlDeviceGetUUID, (void *device, char *text, unsigned room))                               \
	XX(index, nvmlDeviceGetIndex, (void *device, unsigned *index))                                       \
	XX(near, nvmlDeviceGetCpuAffinity, (void *device, unsigned n, unsigned long *words))                 \
	XX(slowed, nvmlDeviceGetCurrentClocksThrottleReasons, (void *device, unsigned long long *reasons))   \
	XX(processes, nvmlDeviceGetComputeRunningProcesses_v3, (void *device, unsigned *n, NvmlProcess *p))  \
	XX(errors, nvmlDeviceGetTotalEccErrors, (void *device, int kind, int since, unsigned long long *n))  \
	XX(rows, nvmlDeviceGetRemappedRows,                                                                  \
	   (void *device, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed))

/* The library stays open. It is begun by each process for itself: NVML knows nothing of a process that was
 * forked from one that had begun it (NVML_UNINITIALIZED), and handles are those of the process. */
static struct {
	void *so;
	pid_t begun_by;
#define XX(member, symbol, parameters) int(*member) parameters;
	NVML_FUNCTIONS(XX)
#undef XX
} nvml;

static const char *load_functions(void)
{
	void *p;

#define XX(member, symbol, parameters)                                                                       \
	p = dlsym(nvml.so, #symbol);                                                                         \
	if (!p)                                                                                              \
		return #symbol;                                                                              \
	memcpy(&nvml.member, &p, sizeof p);
	NVML_FUNCTIONS(XX)
#undef XX
	return NULL;
}

/* 0, or NVML's error. */
static int begin_nvml(void)
{
	int rc = nvml.init();

	if (!rc)
		nvml.begun_by = getpid();
	return rc;
}

/* NVML's handle of a GPU in this process. 0, or NVML's error. */
static int handle_of(const PmDeviceInfo *info, void **handle)
{
	int rc = nvml.begun_by == getpid() ? 0 : begin_nvml();

	if (!rc)
		rc = nvml.find(info->pci, handle);
	if (rc == NVML_UNINITIALIZED && !(rc = begin_nvml())) /* whoever else uses it here has ended it */
		rc = nvml.find(info->pci, handle);
	return rc;
}

static PmStatus open_nvml(PmErr *err)
{
	const char *lacks;
	int rc;

	if (nvml.so)
		return PM_OK;
	nvml.so = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!nvml.so)
		return pm_err(err, PM_E_ENV,
			      "Several GPUs are told apart by NVML (libnvidia-ml.so.1), which is not here; "
			      "it comes with the GPU's driver. Without --gpus the first GPU is used.");
	lacks = load_functions();
	rc = lacks ? 0 : begin_nvml();
	if (!lacks && !rc)
		return PM_OK;
	dlclose(nvml.so);
	nvml.so = NULL;
	return lacks ? pm_err(err, PM_E_ENV, "NVML has no %s; use a driver of version 510 or newer.", lacks)
		     : pm_err(err, PM_E_ENV, "NVML does not start (error %d); check that nvidia-smi works.",
			      rc);
}

/* ---- which there are ---- */

typedef struct Seen {
	int n;
	PmDeviceInfo info[PM_GPUS_MAX];
} Seen;

/* In a process of its own, as the driver is initialised there. */
static PmStatus ask_driver(void *arg, size_t item, void *result, PmErr *err)
{
	Seen *s = result;

	(void)arg, (void)item;
	return pm_cuda_list(s->info, PM_GPUS_MAX, &s->n, err);
}

static PmStatus keep_seen(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	(void)item;
	if (end != PM_POOL_DONE)
		return pm_err(err, PM_E_ENV,
			      "The process that asked the driver which GPUs there are died; check that "
			      "nvidia-smi works.");
	memcpy(arg, result, sizeof(Seen));
	return PM_OK;
}

static PmStatus describe(const PmDeviceInfo *info, PmGpu *g, PmErr *err)
{
	unsigned long words[CPU_SETSIZE / (8 * sizeof(unsigned long))] = { 0 };
	enum { WORDS = sizeof words / sizeof *words, BITS = 8 * sizeof *words };
	unsigned index = 0;
	void *handle;
	int rc;

	memset(g, 0, sizeof *g);
	g->info = *info;
	rc = handle_of(info, &handle);
	if (!rc)
		rc = nvml.uuid(handle, g->uuid, sizeof g->uuid - 1);
	if (!rc)
		rc = nvml.index(handle, &index);
	if (rc)
		return pm_err(err, PM_E_ENV, "NVML does not answer for the GPU at '%.30s' (error %d).",
			      info->pci, rc);
	g->index = (int)index;
	CPU_ZERO(&g->near);
	if (!nvml.near(handle, WORDS, words))
		for (int c = 0; c < CPU_SETSIZE; c++)
			if (words[(size_t)c / BITS] >> (size_t)c % BITS & 1)
				CPU_SET(c, &g->near);
	g->n_near = CPU_COUNT(&g->near);
	for (char *p = g->uuid; *p; p++) /* it becomes the name of a file */
		if (!isalnum((unsigned char)*p) && *p != '-')
			*p = '_';
	return PM_OK;
}

PmStatus pm_gpus_find(PmGpus *out, PmErr *err)
{
	Seen s = { 0 };
	PmPool pool = { .n_items = 1,
			.result_size = sizeof s,
			.jobs = 1,
			.work = ask_driver,
			.done = keep_seen,
			.arg = &s };
	PmStatus st = pm_pool_run_apart(&pool, err);

	memset(out, 0, sizeof *out);
	if (!st)
		st = open_nvml(err);
	for (int i = 0; i < s.n && !st; i++)
		st = describe(&s.info[i], &out->gpu[out->n++], err);
	return st;
}

/* ---- which are meant ---- */

static int is_number(const char *s, size_t n)
{
	return n > 0 && n < 5 && strspn(s, "0123456789") >= n;
}

static int is_uuid(const char *s, size_t n)
{
	if (n < 8 || n > 64 || strncmp(s, "GPU-", 4) != 0)
		return 0;
	for (size_t i = 4; i < n; i++)
		if (!isxdigit((unsigned char)s[i]) && s[i] != '-')
			return 0;
	return 1;
}

int pm_gpus_is_list(const char *text)
{
	if (!strcmp(text, "all"))
		return 1;
	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");

		if (!is_number(p, n) && !is_uuid(p, n))
			return 0;
		p += n;
		if (!*p)
			return 1;
	}
}

static int is_meant(const PmGpu *g, const char *word, size_t n)
{
	return is_number(word, n) ? g->index == atoi(word) : !strncmp(g->uuid, word, n);
}

/* "0, 2" */
static void list_numbers(const PmGpus *all, char *out, size_t room)
{
	size_t at = 0;

	*out = 0;
	for (int i = 0; i < all->n && at < room; i++)
		at += (size_t)snprintf(out + at, room - at, "%s%d", i ? ", " : "", all->gpu[i].index);
}

static PmStatus add(const PmGpus *all, const char *word, size_t n, PmGpus *out, PmErr *err)
{
	char there[128];
	int found = -1, k = 0;

	for (int i = 0; i < all->n; i++) {
		if (!is_meant(&all->gpu[i], word, n))
			continue;
		if (found >= 0)
			return pm_err(err, PM_E_INVALID,
				      "--gpus: '%.*s' is the beginning of two UUIDs; write more of it.",
				      (int)n, word);
		found = i;
	}
	list_numbers(all, there, sizeof there);
	if (found < 0)
		return pm_err(err, PM_E_NOT_FOUND,
			      "--gpus: there is no GPU %.*s for this command; it can use %s (nvidia-smi -L "
			      "lists them, and CUDA_VISIBLE_DEVICES may hide some).",
			      (int)n, word, there);
	while (k < out->n && strcmp(out->gpu[k].uuid, all->gpu[found].uuid) != 0)
		k++;
	if (k == out->n)
		out->gpu[out->n++] = all->gpu[found];
	return PM_OK;
}

PmStatus pm_gpus_select(const PmGpus *all, const char *text, PmGpus *out, PmErr *err)
{
	PmStatus st = PM_OK;
	const char *p = text;

	memset(out, 0, sizeof *out);
	if (!strcmp(text, "all"))
		*out = *all;
	else
		for (; *p && !st; p += strcspn(p, ","), p += *p == ',')
			st = add(all, p, strcspn(p, ","), out, err);
	for (int i = 1; i < out->n && !st; i++)
		if (strcmp(out->gpu[i].info.name, out->gpu[0].info.name) != 0)
			st = pm_err(err, PM_E_INVALID,
				    "--gpus: GPU %d is %.60s and GPU %d is %.60s, and times of different "
				    "models are "
				    "not compared; name GPUs of one model.",
				    out->gpu[0].index, out->gpu[0].info.name, out->gpu[i].index,
				    out->gpu[i].info.name);
	return st;
}

/* ---- how one is ---- */

const char *pm_gpu_fault_name(PmGpuFault f)
{
	static const char *const names[] = { "well", "slowed", "strangers", "memory", "lost", "failing" };

	return f <= PM_GPU_FAILING ? names[f] : "unknown";
}

uint64_t pm_gpu_memory_errors(const PmGpu *g)
{
	unsigned long long n = 0;
	void *handle;

	return handle_of(&g->info, &handle) || nvml.errors(handle, NVML_UNCORRECTED, NVML_SINCE_LOADED, &n)
		       ? 0
		       : n;
}

/* Its name when it is a process that this machine shows, and not of Passmith. */
static int is_stranger(unsigned pid, char *name, size_t room)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%u/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(name, (int)room, f))
		name[0] = 0;
	fclose(f);
	name[strcspn(name, "\n")] = 0;
	return *name && strncmp(name, "passmith", 8) != 0;
}

/* 0, or NVML's error. */
static int look_for_strangers(void *handle, char *why, int room, PmGpuFault *f)
{
	NvmlProcess p[PROCESSES];
	unsigned n = PROCESSES;
	char name[32] = "";
	int rc = nvml.processes(handle, &n, p);

	for (unsigned i = 0; !rc && i < n && i < PROCESSES && *f == PM_GPU_WELL; i++)
		if (is_stranger(p[i].pid, name, sizeof name)) {
			*f = PM_GPU_STRANGERS;
			snprintf(why, (size_t)room, "process %u (%s) of another program uses it", p[i].pid,
				 name);
		}
	return rc == NVML_TOO_SMALL || rc == NVML_NOT_SUPPORTED ? 0 : rc;
}

static PmGpuFault look_at_memory(const PmGpu *g, void *handle, uint64_t known, char *why, int room)
{
	unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
	uint64_t errors = pm_gpu_memory_errors(g);

	if (errors > known) {
		snprintf(why, (size_t)room, "its memory had %llu errors that could not be corrected",
			 (unsigned long long)(errors - known));
		return PM_GPU_MEMORY;
	}
	if (!nvml.rows(handle, &corrected, &uncorrected, &pending, &failed) && (failed || pending)) {
		snprintf(why, (size_t)room,
			 failed ? "a damaged row of its memory could not be replaced"
				: "a damaged row of its memory is to be replaced, and it has to be reset for "
				  "that");
		return PM_GPU_MEMORY;
	}
	return PM_GPU_WELL;
}

PmGpuFault pm_gpu_look(const PmGpu *g, uint64_t errors, char *why, int room)
{
	unsigned long long reasons = 0;
	PmGpuFault f = PM_GPU_WELL;
	char text[128];
	void *handle;
	int rc = handle_of(&g->info, &handle);

	if (!rc)
		rc = nvml.slowed(handle, &reasons);
	if (!rc && reasons & bad_reasons) {
		pm_gpu_slowed_text(reasons & bad_reasons, text, sizeof text);
		snprintf(why, (size_t)room, "it is slowed down (%s)", text);
		return PM_GPU_SLOWED;
	}
	if (!rc)
		rc = look_for_strangers(handle, why, room, &f);
	if (rc && rc != NVML_NOT_SUPPORTED) {
		snprintf(why, (size_t)room, "NVML gets no answer from it (error %d)", rc);
		return PM_GPU_LOST;
	}
	return f ? f : look_at_memory(g, handle, errors, why, room);
}

void pm_gpu_pin(const PmGpu *g)
{
	if (g->n_near)
		pm_cpus_pin(&g->near);
}
