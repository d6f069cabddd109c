/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cuda.c - a CUDA driver and an NVRTC for GPUs that are made up (fake.h): memory is the host's, and
 * kernels do nothing, so that what they should have made is missing. */
#include "tests/machine/fake.h"

#include <ctype.h>
#include <malloc.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#define XX(name, parameters)                                                                                 \
	__attribute__((visibility("default"))) int name parameters;                                          \
	int name parameters

enum { NO_DEVICE = 100, UNAVAILABLE = 46, NOT_SUPPORTED = 801, LAUNCH_FAILED = 719 };

static FakeGpu all[FAKE_GPUS_MAX];
static FakeGpu *seen[FAKE_GPUS_MAX];
static int n_seen, failed;

/* ---- the driver ---- */

/* As CUDA reads CUDA_VISIBLE_DEVICES: numbers or beginnings of UUIDs, up to the first that is neither. */
XX(cuInit, (unsigned flags))
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	int n = fake_read(all);

	(void)flags;
	n_seen = 0;
	for (int i = 0; i < n && !visible; i++)
		seen[n_seen++] = &all[i];
	for (const char *p = visible; p && *p; p += strcspn(p, ","), p += *p == ',') {
		size_t len = strcspn(p, ",");
		int i = 0;

		while (i < n && !(isdigit((unsigned char)*p) ? i == atoi(p) : !strncmp(all[i].uuid, p, len)))
			i++;
		if (i == n || n_seen == FAKE_GPUS_MAX)
			break;
		seen[n_seen++] = &all[i];
	}
	return n_seen ? 0 : NO_DEVICE;
}

XX(cuDriverGetVersion, (int *v))
{
	const char *version = getenv("FAKE_DRIVER"); /* of CUDA; 13.0 without it */

	*v = version ? atoi(version) : 13000;
	return 0;
}

XX(cuGetErrorName, (int error, const char **name))
{
	*name = error == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_DEVICE_UNAVAILABLE";
	return 0;
}

XX(cuGetErrorString, (int error, const char **text))
{
	(void)error;
	*text = "made up";
	return 0;
}

XX(cuDeviceGetCount, (int *n))
{
	*n = n_seen;
	return 0;
}

XX(cuDeviceGet, (int *dev, int ordinal))
{
	*dev = ordinal;
	return ordinal < n_seen ? 0 : NO_DEVICE;
}

XX(cuDeviceGetName, (char *name, int n, int dev))
{
	snprintf(name, (size_t)n, "%s", seen[dev]->name);
	return 0;
}

XX(cuDeviceGetAttribute, (int *value, int attr, int dev))
{
	(void)dev;
	switch (attr) {
	case 16: /* multiprocessors */
		*value = 4;
		break;
	case 38: /* bytes of the L2 cache */
		*value = 1 << 20;
		break;
	case 75: /* compute capability 9.0 */
		*value = 9;
		break;
	case 97: /* shared memory of a block */
		*value = 200 << 10;
		break;
	default:
		*value = 0;
	}
	return 0;
}

XX(cuDeviceGetPCIBusId, (char *id, int n, int dev))
{
	snprintf(id, (size_t)n, "%s", seen[dev]->pci);
	return 0;
}

XX(cuDeviceTotalMem_v2, (size_t * bytes, int dev))
{
	(void)dev;
	*bytes = (size_t)64 << 30;
	return 0;
}

static void note_opening(void)
{
	FILE *f = fake_file(seen[0], "log", "ae");
	cpu_set_t set;
	char line[256];
	int at = snprintf(line, sizeof line, "%d ", (int)getpid());

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof set, &set);
	for (int c = 0, any = 0; c < CPU_SETSIZE && at < 200; c++)
		if (CPU_ISSET(c, &set))
			at += snprintf(line + at, sizeof line - (size_t)at, "%s%d", any++ ? "," : "", c);
	if (!f)
		return;
	fprintf(f, "%s\n", line);
	fclose(f);
}

XX(cuDevicePrimaryCtxRetain, (void **ctx, int dev))
{
	const struct timespec nap = { 0, 5000000 };

	*ctx = seen[dev];
	note_opening();
	while (fake_has(seen[0], "gate"))
		nanosleep(&nap, NULL);
	return fake_has(seen[0], "broken") ? UNAVAILABLE : 0;
}

XX(cuDevicePrimaryCtxRelease_v2, (int dev))
{
	(void)dev;
	return 0;
}

XX(cuCtxSetCurrent, (void *ctx))
{
	(void)ctx;
	return 0;
}

XX(cuCtxGetCurrent, (void **ctx))
{
	*ctx = seen[0];
	return 0;
}

XX(cuCtxGetDevice, (int *dev))
{
	*dev = 0;
	return 0;
}

XX(cuStreamGetCtx, (void *s, void **ctx))
{
	(void)s;
	*ctx = seen[0];
	return 0;
}

XX(cuCtxPushCurrent_v2, (void *ctx))
{
	(void)ctx;
	return 0;
}

XX(cuCtxPopCurrent_v2, (void **ctx))
{
	*ctx = seen[0];
	return 0;
}

XX(cuModuleLoadData, (void **m, const void *image))
{
	(void)image;
	*m = all;
	return 0;
}

XX(cuModuleUnload, (void *m))
{
	(void)m;
	return 0;
}

/* Kernels of the device itself are known by name. */
static int is_ours(const char *name)
{
	static const char *const names[] = { "zones", "hash", "scrub", "mend" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name))
			return 1;
	return 0;
}

static char ours, theirs;

XX(cuModuleGetFunction, (void **f, void *m, const char *name))
{
	(void)m;
	*f = is_ours(name) ? &ours : &theirs;
	return 0;
}

XX(cuFuncGetAttribute, (int *value, int attr, void *f))
{
	(void)f;
	*value = attr == 0 ? 1024 : 0;
	return 0;
}

XX(cuFuncSetAttribute, (void *f, int attr, int value))
{
	(void)f, (void)attr, (void)value;
	return 0;
}

XX(cuMemGetInfo_v2, (size_t * unused, size_t *total))
{
	*unused = *total = (size_t)64 << 30;
	return 0;
}

/* Bytes that this process holds, of those that the file `room` allows. */
static size_t held_bytes;

static size_t room(void)
{
	FILE *f = fake_file(seen[0], "room", "re");
	size_t bytes = SIZE_MAX;

	if (f && fscanf(f, "%zu", &bytes) != 1)
		bytes = SIZE_MAX;
	if (f)
		fclose(f);
	return bytes;
}

XX(cuMemAlloc_v2, (unsigned long long *p, size_t bytes))
{
	void *m = held_bytes + bytes > room() ? NULL : calloc(bytes ? bytes : 1, 1);

	*p = (unsigned long long)(size_t)m;
	held_bytes += m ? malloc_usable_size(m) : 0;
	return m ? 0 : 2;
}

static void *host(unsigned long long p)
{
	return (void *)(size_t)p;
}

XX(cuMemFree_v2, (unsigned long long p))
{
	held_bytes -= p ? malloc_usable_size(host(p)) : 0;
	free(host(p));
	return 0;
}

XX(cuMemcpyHtoDAsync_v2, (unsigned long long to, const void *from, size_t n, void *s))
{
	(void)s;
	memcpy(host(to), from, n);
	return failed;
}

XX(cuMemcpyDtoHAsync_v2, (void *to, unsigned long long from, size_t n, void *s))
{
	(void)s;
	memcpy(to, host(from), n);
	return failed;
}

XX(cuMemcpyDtoDAsync_v2, (unsigned long long to, unsigned long long from, size_t n, void *s))
{
	(void)s;
	memmove(host(to), host(from), n);
	return failed;
}

XX(cuMemsetD8Async, (unsigned long long p, unsigned char v, size_t n, void *s))
{
	(void)s;
	memset(host(p), v, n);
	return failed;
}

XX(cuMemsetD16Async, (unsigned long long p, unsigned short v, size_t n, void *s))
{
	(void)s;
	for (size_t i = 0; i < n; i++)
		memcpy((char *)host(p) + 2 * i, &v, 2);
	return failed;
}

XX(cuMemsetD32Async, (unsigned long long p, unsigned v, size_t n, void *s))
{
	(void)s;
	for (size_t i = 0; i < n; i++)
		memcpy((char *)host(p) + 4 * i, &v, 4);
	return failed;
}

XX(cuLaunchKernel, (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		    unsigned smem, void *s, void **params, void **extra))
{
	(void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)smem, (void)s, (void)params,
		(void)extra;
	if (f != &theirs)
		return failed;
	if (fake_has(seen[0], "breaks")) {
		FILE *b = fake_file(seen[0], "broken", "we");

		if (b)
			fclose(b);
		failed = LAUNCH_FAILED;
	}
	if (fake_has(seen[0], "faults"))
		failed = LAUNCH_FAILED;
	return 0;
}

XX(cuStreamCreate, (void **s, unsigned flags))
{
	(void)flags;
	*s = all;
	return 0;
}

XX(cuStreamDestroy_v2, (void *s))
{
	(void)s;
	return 0;
}

XX(cuStreamSynchronize, (void *s))
{
	(void)s;
	return failed;
}

XX(cuEventCreate, (void **e, unsigned flags))
{
	(void)flags;
	*e = all;
	return 0;
}

XX(cuEventDestroy_v2, (void *e))
{
	(void)e;
	return 0;
}

XX(cuEventRecord, (void *e, void *s))
{
	(void)e, (void)s;
	return failed;
}

XX(cuEventSynchronize, (void *e))
{
	(void)e;
	return failed;
}

XX(cuEventElapsedTime, (float *ms, void *from, void *to))
{
	(void)from, (void)to;
	*ms = 1;
	return failed;
}

XX(cuCtxResetPersistingL2Cache, (void))
{
	return 0;
}

/* Launches that are recorded do nothing when they are played, either. */
XX(cuStreamBeginCapture_v2, (void *s, int mode))
{
	(void)s, (void)mode;
	return failed;
}

XX(cuStreamEndCapture, (void *s, void **graph))
{
	(void)s;
	*graph = all;
	return failed;
}

XX(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags))
{
	(void)graph, (void)flags;
	*exec = all;
	return failed;
}

XX(cuGraphExecUpdate_v2, (void *exec, void *graph, void *why))
{
	(void)exec, (void)graph, (void)why;
	return failed;
}

XX(cuGraphLaunch, (void *exec, void *s))
{
	(void)exec, (void)s;
	return failed;
}

XX(cuGraphDestroy, (void *graph))
{
	(void)graph;
	return 0;
}

XX(cuGraphExecDestroy, (void *exec))
{
	(void)exec;
	return 0;
}

/* What these GPUs cannot do. */
#define CANNOT(name)                                                                                         \
	XX(name, (void))                                                                                     \
	{                                                                                                    \
		return NOT_SUPPORTED;                                                                        \
	}
CANNOT(cuMemGetAllocationGranularity)
CANNOT(cuMemAddressReserve)
CANNOT(cuMemAddressFree)
CANNOT(cuMemCreate)
CANNOT(cuMemRelease)
CANNOT(cuMemMap)
CANNOT(cuMemUnmap)
CANNOT(cuMemSetAccess)

/* ---- NVRTC: kernels with the parameters that their source has, and no instruction ---- */

typedef struct Program {
	char *ptx;
	size_t n, room;
} Program;

static void add(Program *p, const char *s, size_t n)
{
	if (p->n + n + 1 > p->room) {
		p->room = 2 * (p->n + n + 1);
		p->ptx = realloc(p->ptx, p->room);
	}
	memcpy(p->ptx + p->n, s, n);
	p->n += n;
	p->ptx[p->n] = 0;
}

static void add_text(Program *p, const char *s)
{
	add(p, s, strlen(s));
}

static const char *type_of(const char *s, size_t n)
{
	char text[256];

	snprintf(text, sizeof text, "%.*s", (int)n, s);
	if (strchr(text, '*') || strstr(text, "long") || strstr(text, "64") || strstr(text, "size_t"))
		return "u64";
	return strstr(text, "double") ? "f64" : strstr(text, "float") ? "f32" : "u32";
}

/* `s` is behind __global__: "void name(T *x, int n)". */
static void add_kernel(Program *p, const char *s)
{
	const char *open = strchr(s, '('), *name, *close;
	char line[512];
	int k = 0;

	if (open && !strncmp(open - (open - s < 17 ? 0 : 17), "__launch_bounds__", 17))
		open = strchr(strchr(open, ')'), '(');
	close = open ? strchr(open, ')') : NULL;
	if (!close)
		return;
	for (name = open; name > s && (isalnum((unsigned char)name[-1]) || name[-1] == '_'); name--)
		;
	snprintf(line, sizeof line, ".visible .entry %.*s(\n", (int)(open - name), name);
	add_text(p, line);
	for (const char *q = open + 1; q < close; k++) {
		size_t n = strcspn(q, ",)");

		snprintf(line, sizeof line, "%s\t.param .%s %.*s_param_%d", k ? ",\n" : "", type_of(q, n),
			 (int)(open - name), name, k);
		add_text(p, line);
		q += n + 1;
	}
	add_text(p, "\n)\n{\n\tret;\n}\n");
}

XX(nvrtcVersion, (int *major, int *minor))
{
	*major = 13;
	*minor = 0;
	return 0;
}

XX(nvrtcGetNumSupportedArchs, (int *n))
{
	*n = 1;
	return 0;
}

/* Older than the GPUs, so that there is no machine code. */
XX(nvrtcGetSupportedArchs, (int *archs))
{
	archs[0] = 80;
	return 0;
}

XX(nvrtcCreateProgram, (Program * *out, const char *src, const char *name, int n, const char *const *headers,
			const char *const *names))
{
	Program *p = calloc(1, sizeof *p);

	(void)name, (void)n, (void)headers, (void)names;
	add_text(p, ".version 8.0\n.target sm_80\n.address_size 64\n\n");
	for (const char *s = src; (s = strstr(s, "__global__")) != NULL;)
		add_kernel(p, s += 10);
	*out = p;
	return 0;
}

XX(nvrtcCompileProgram, (Program * p, int n, const char *const *options))
{
	(void)p, (void)n, (void)options;
	return 0;
}

XX(nvrtcGetProgramLogSize, (Program * p, size_t *n))
{
	(void)p;
	*n = 1;
	return 0;
}

XX(nvrtcGetProgramLog, (Program * p, char *log))
{
	(void)p;
	*log = 0;
	return 0;
}

XX(nvrtcGetPTXSize, (Program * p, size_t *n))
{
	*n = p->n + 1;
	return 0;
}

XX(nvrtcGetPTX, (Program * p, char *out))
{
	memcpy(out, p->ptx, p->n + 1);
	return 0;
}

XX(nvrtcGetCUBINSize, (Program * p, size_t *n))
{
	(void)p;
	*n = 0;
	return 0;
}

XX(nvrtcGetCUBIN, (Program * p, char *out))
{
	(void)p, (void)out;
	return 0;
}

XX(nvrtcDestroyProgram, (Program * *p))
{
	free((*p)->ptx);
	free(*p);
	*p = NULL;
	return 0;
}
