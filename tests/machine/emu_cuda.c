/* SPDX-License-Identifier: Apache-2.0 */
/* emu_cuda.c - a CUDA driver for one GPU that is this processor: what stands for machine code are objects of
 * the emulated device, which run_host launches. So what a program does with the driver gives real results.
 *
 * It has what libpassmith_rt and libpassmith_ort call. Work is done when it is enqueued, unless its stream is
 * captured. Every call but those about contexts wants the context to be current, as on a GPU. emu_cuda_count
 * says what was done.
 */
#include "tests/machine/emu_cuda.h"
#include "base/core/err.h"
#include "runtime/emu/emu_sched.h"
#include "runtime/host/host.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define XX(name, parameters)                                                                                 \
	__attribute__((visibility("default"))) int name parameters;                                          \
	int name parameters

enum {
	INVALID_VALUE = 1,
	NO_MEMORY = 2,
	NO_DEVICE = 100,
	INVALID_IMAGE = 200,
	INVALID_CONTEXT = 201,
	NOT_FOUND = 500,
	LAUNCH_FAILED = 719,
	NOT_SUPPORTED = 801,
	UPDATE_FAILED = 910
};
enum { MAX_ARGS = 128, MAX_DEPTH = 64, MAX_PIECES = 4096 };

typedef unsigned long long Ptr;

typedef struct Function {
	struct Function *next;
	struct Module *m;
	const PmEmuEntry *entry;
} Function;

typedef struct Module {
	PmHostModule *host;
	void *so; /* the same object once more, whose tables are read */
	Function *fns;
} Module;

typedef struct Launch {
	struct Launch *next;
	const Function *f;
	void (*host)(void *arg); /* of a library, with what is in value[]; NULL: f is launched */
	unsigned grid[3], block[3], smem;
	uint64_t value[MAX_ARGS];
} Launch;

typedef struct Graph {
	Launch *first, *last;
} Graph;

typedef struct Stream {
	Graph *captured; /* NULL = what is enqueued runs */
} Stream;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counts[EMU_CUDA_N];
static Ptr piece[MAX_PIECES]; /* memory that is allocated */
static char the_context;
static int no_updates;
static _Thread_local void *stack[MAX_DEPTH];
static _Thread_local int depth;

static int manner[EMU_CUDA_N_MANNERS];
static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t capture_over = PTHREAD_COND_INITIALIZER;
static int captures;                  /* that are open, of all threads */
static _Thread_local int my_captures; /* of this one */

static void count(int what, long n)
{
	pthread_mutex_lock(&lock);
	counts[what] += n;
	pthread_mutex_unlock(&lock);
}

__attribute__((visibility("default"))) long emu_cuda_count(int what)
{
	long n;

	pthread_mutex_lock(&lock);
	n = counts[what];
	pthread_mutex_unlock(&lock);
	return n;
}

__attribute__((visibility("default"))) void emu_cuda_refuse_updates(int on)
{
	no_updates = on;
}

__attribute__((visibility("default"))) void emu_cuda_behave(int how, int on)
{
	manner[how] = on;
}

/* What every call of the context does. 0 when it is not current. */
static int current(void)
{
	count(EMU_CUDA_CALLS, 1);
	if (manner[EMU_CUDA_SLOW]) {
		pthread_mutex_lock(&context_lock);
		pthread_mutex_unlock(&context_lock);
	}
	return depth && stack[depth - 1] == &the_context;
}

/* Nobody else's call returns meanwhile. */
static void take_long(void)
{
	const struct timespec nap = { 0, 20000000 };

	if (!manner[EMU_CUDA_SLOW])
		return;
	pthread_mutex_lock(&context_lock);
	nanosleep(&nap, NULL);
	pthread_mutex_unlock(&context_lock);
}

/* Until no other thread captures. */
static void wait_for_captures(void)
{
	pthread_mutex_lock(&lock);
	while (manner[EMU_CUDA_CAPTURES_HOLD] && captures > my_captures)
		pthread_cond_wait(&capture_over, &lock);
	pthread_mutex_unlock(&lock);
}

static void count_captures(int more)
{
	pthread_mutex_lock(&lock);
	captures += more;
	my_captures += more;
	pthread_cond_broadcast(&capture_over);
	pthread_mutex_unlock(&lock);
}

#define NEED_CONTEXT()                                                                                       \
	do {                                                                                                 \
		if (!current())                                                                              \
			return INVALID_CONTEXT;                                                              \
	} while (0)

/* ---- the driver, the device, contexts ---- */

XX(cuInit, (unsigned flags))
{
	(void)flags;
	return 0;
}

XX(cuDriverGetVersion, (int *v))
{
	*v = 13000;
	return 0;
}

XX(cuGetErrorName, (int error, const char **name))
{
	(void)error;
	*name = "CUDA_ERROR_MADE_UP";
	return 0;
}

XX(cuGetErrorString, (int error, const char **text))
{
	static _Thread_local char said[32];

	snprintf(said, sizeof said, "made up %d", error);
	*text = said;
	return 0;
}

XX(cuDeviceGetCount, (int *n))
{
	*n = 1;
	return 0;
}

XX(cuDeviceGet, (int *dev, int ordinal))
{
	*dev = ordinal;
	return ordinal ? NO_DEVICE : 0;
}

XX(cuDeviceGetName, (char *name, int n, int dev))
{
	(void)dev;
	snprintf(name, (size_t)n, "Emulated One");
	return 0;
}

XX(cuDeviceGetAttribute, (int *value, int attr, int dev))
{
	(void)dev;
	*value = attr == 75 ? 9 : (attr == 97 ? 200 << 10 : 0); /* sm_90 */
	return 0;
}

XX(cuDevicePrimaryCtxRetain, (void **ctx, int dev))
{
	(void)dev;
	*ctx = &the_context;
	count(EMU_CUDA_RETAINED, 1);
	return 0;
}

XX(cuDevicePrimaryCtxRelease_v2, (int dev))
{
	(void)dev;
	count(EMU_CUDA_RETAINED, -1);
	return 0;
}

XX(cuCtxSetCurrent, (void *ctx))
{
	depth = 1;
	stack[0] = ctx;
	return 0;
}

XX(cuCtxGetCurrent, (void **ctx))
{
	*ctx = depth ? stack[depth - 1] : NULL;
	return 0;
}

XX(cuCtxGetDevice, (int *dev))
{
	*dev = 0;
	return depth && stack[depth - 1] ? 0 : INVALID_CONTEXT;
}

/* There is one context. */
XX(cuStreamGetCtx, (void *stream, void **ctx))
{
	(void)stream;
	*ctx = &the_context;
	return 0;
}

XX(cuCtxPushCurrent_v2, (void *ctx))
{
	count(EMU_CUDA_CALLS, 1);
	if (depth == MAX_DEPTH)
		return INVALID_VALUE;
	stack[depth++] = ctx;
	return 0;
}

XX(cuCtxPopCurrent_v2, (void **ctx))
{
	count(EMU_CUDA_CALLS, 1);
	if (!depth)
		return INVALID_CONTEXT;
	*ctx = stack[--depth];
	return 0;
}

/* ---- modules ---- */

static size_t image_bytes(const void *image)
{
	Elf64_Ehdr h;

	memcpy(&h, image, sizeof h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	return h.e_shoff + (size_t)h.e_shnum * h.e_shentsize;
}

/* A file of its own name, since a loader takes two of one name for one. */
static void *open_tables(const void *image, size_t n)
{
	const char *folder = getenv("TMPDIR");
	char path[512];
	void *so = NULL;
	int fd;

	snprintf(path, sizeof path, "%s/tables-XXXXXX", folder ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd >= 0 && write(fd, image, n) == (ssize_t)n)
		so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return so;
}

XX(cuModuleLoadData, (void **out, const void *image))
{
	size_t n = image_bytes(image);
	Module *m = calloc(1, sizeof *m);

	NEED_CONTEXT();
	wait_for_captures();
	take_long();
	if (!n || !m || pm_host_load(image, n, "an image", &m->host, NULL) ||
	    !(m->so = open_tables(image, n))) {
		free(m);
		return INVALID_IMAGE;
	}
	*out = m;
	count(EMU_CUDA_MODULES, 1);
	count(EMU_CUDA_LOADS, 1);
	return 0;
}

XX(cuModuleUnload, (void *module))
{
	Module *m = module;

	NEED_CONTEXT();
	for (Function *f = m->fns, *next; f; f = next) {
		next = f->next;
		free(f);
	}
	pm_host_unload(m->host);
	dlclose(m->so);
	free(m);
	count(EMU_CUDA_MODULES, -1);
	return 0;
}

XX(cuModuleGetFunction, (void **out, void *module, const char *name))
{
	Module *m = module;
	const PmEmuEntry *entry;
	Function *f;

	NEED_CONTEXT();
	if (pm__emu_entry_find(pm__emu_module_of(m->so), "an image", name, &entry, NULL))
		return NOT_FOUND;
	f = calloc(1, sizeof *f);
	if (!f)
		return NO_MEMORY;
	*f = (Function){ m->fns, m, entry };
	m->fns = f;
	count(EMU_CUDA_FUNCTIONS, 1);
	*out = f;
	return 0;
}

XX(cuFuncGetAttribute, (int *value, int attr, void *f))
{
	(void)f;
	NEED_CONTEXT();
	*value = attr == 0 ? 1024 : 0;
	return 0;
}

XX(cuFuncSetAttribute, (void *f, int attr, int value))
{
	(void)f, (void)attr, (void)value;
	NEED_CONTEXT();
	return 0;
}

/* ---- memory ---- */

XX(cuMemGetInfo_v2, (size_t * unused, size_t *total))
{
	NEED_CONTEXT();
	*unused = *total = (size_t)1 << 40;
	return 0;
}

XX(cuMemAlloc_v2, (Ptr * out, size_t bytes))
{
	void *p = NULL;
	int i = 0;

	NEED_CONTEXT();
	wait_for_captures();
	if (bytes > (size_t)1 << 40)
		return NO_MEMORY;
	p = aligned_alloc(256, (bytes + 255) / 256 * 256);
	if (!p)
		return NO_MEMORY;
	memset(p, 0xa5, (bytes + 255) / 256 * 256);
	pthread_mutex_lock(&lock);
	while (i < MAX_PIECES - 1 && piece[i])
		i++;
	piece[i] = (Ptr)(size_t)p;
	pthread_mutex_unlock(&lock);
	count(EMU_CUDA_MEMORY, 1);
	count(EMU_CUDA_ALLOCS, 1);
	*out = (Ptr)(size_t)p;
	return 0;
}

XX(cuMemFree_v2, (Ptr p))
{
	int i = 0;

	NEED_CONTEXT();
	wait_for_captures();
	pthread_mutex_lock(&lock);
	while (i < MAX_PIECES && piece[i] != p)
		i++;
	if (i < MAX_PIECES)
		piece[i] = 0;
	pthread_mutex_unlock(&lock);
	if (i == MAX_PIECES)
		return INVALID_VALUE;
	free((void *)(size_t)p);
	count(EMU_CUDA_MEMORY, -1);
	return 0;
}

/* Copies are not what graphs here hold. */
static int copy(void *to, const void *from, size_t n, const Stream *s)
{
	if (!current())
		return INVALID_CONTEXT;
	if (s && s->captured)
		return NOT_SUPPORTED;
	wait_for_captures();
	memmove(to, from, n);
	count(EMU_CUDA_COPIES, 1);
	return 0;
}

XX(cuMemcpyHtoDAsync_v2, (Ptr to, const void *from, size_t n, void *s))
{
	return copy((void *)(size_t)to, from, n, s);
}

XX(cuMemcpyDtoHAsync_v2, (void *to, Ptr from, size_t n, void *s))
{
	return copy(to, (const void *)(size_t)from, n, s);
}

XX(cuMemcpyDtoDAsync_v2, (Ptr to, Ptr from, size_t n, void *s))
{
	return copy((void *)(size_t)to, (const void *)(size_t)from, n, s);
}

XX(cuMemsetD8Async, (Ptr to, unsigned char v, size_t n, void *stream))
{
	const Stream *s = stream;

	NEED_CONTEXT();
	if (s && s->captured)
		return NOT_SUPPORTED;
	memset((void *)(size_t)to, v, n);
	return 0;
}

/* ---- launches ---- */

static int run(const Launch *l)
{
	void *args[MAX_ARGS];
	PmHostLaunch h = { .grid = { l->grid[0], l->grid[1], l->grid[2] },
			   .block = { l->block[0], l->block[1], l->block[2] },
			   .smem = l->smem,
			   .args = args };

	if (l->host) {
		l->host((void *)(size_t)l->value);
		return 0;
	}
	h.entry = l->f->entry->name;
	h.kinds = l->f->entry->kind;
	h.n_args = l->f->entry->n_params;
	for (int i = 0; i < l->f->entry->n_params; i++)
		args[i] = (void *)(size_t)&l->value[i];
	return pm_host_launch(l->f->m->host, &h, NULL) ? LAUNCH_FAILED : 0;
}

/* A launch with copies of its parameters. 0 when it cannot be. */
static int describe(Launch *l, Function *f, void **params)
{
	static const size_t size[] = { [PM_EMU_POINTER] = 8,
				       [PM_EMU_INT64] = 8,
				       [PM_EMU_INT32] = 4,
				       [PM_EMU_FLOAT] = 4,
				       [PM_EMU_DOUBLE] = 8 };

	if (f->entry->n_params > MAX_ARGS)
		return 0;
	l->f = f;
	for (int i = 0; i < f->entry->n_params; i++) {
		if (f->entry->kind[i] >= sizeof size / sizeof *size)
			return 0;
		memcpy(&l->value[i], params[i], size[f->entry->kind[i]]);
	}
	return 1;
}

/* Takes the launch. */
static int enqueue(Stream *s, Launch *l)
{
	int rc;

	if (s && s->captured) {
		*(s->captured->last ? &s->captured->last->next : &s->captured->first) = l;
		s->captured->last = l;
		count(EMU_CUDA_CAPTURED, 1);
		return 0;
	}
	rc = run(l);
	free(l);
	count(EMU_CUDA_LAUNCHES, 1);
	return rc;
}

XX(cuLaunchKernel, (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		    unsigned smem, void *stream, void **params, void **extra))
{
	Stream *s = stream;
	Launch *l;
	(void)extra;
	NEED_CONTEXT();
	l = calloc(1, sizeof *l);
	if (!l)
		return NO_MEMORY;
	*l = (Launch){ .grid = { gx, gy, gz }, .block = { bx, by, bz }, .smem = smem };
	if (!describe(l, f, params)) {
		free(l);
		return INVALID_VALUE;
	}
	return enqueue(s, l);
}

__attribute__((visibility("default"))) int emu_cuda_enqueue(void *stream, void (*f)(void *arg),
							    const void *arg, unsigned long n)
{
	Launch *l;

	NEED_CONTEXT();
	wait_for_captures();
	l = calloc(1, sizeof *l);
	if (!l || n > 256) {
		free(l);
		return INVALID_VALUE;
	}
	l->host = f;
	memcpy(l->value, arg, n);
	return enqueue(stream, l);
}

/* ---- streams and graphs ---- */

XX(cuStreamCreate, (void **s, unsigned flags))
{
	(void)flags;
	NEED_CONTEXT();
	*s = calloc(1, sizeof(Stream));
	count(EMU_CUDA_STREAMS, 1);
	return *s ? 0 : NO_MEMORY;
}

XX(cuStreamDestroy_v2, (void *s))
{
	NEED_CONTEXT();
	free(s);
	count(EMU_CUDA_STREAMS, -1);
	return 0;
}

XX(cuStreamSynchronize, (void *s))
{
	(void)s;
	NEED_CONTEXT();
	wait_for_captures();
	count(EMU_CUDA_WAITS, 1);
	return 0;
}

XX(cuCtxSynchronize, (void))
{
	NEED_CONTEXT();
	count(EMU_CUDA_WAITS, 1);
	return 0;
}

XX(cuStreamBeginCapture_v2, (void *stream, int mode))
{
	Stream *s = stream;

	(void)mode;
	NEED_CONTEXT();
	if (!s || s->captured)
		return INVALID_VALUE;
	s->captured = calloc(1, sizeof(Graph));
	if (!s->captured)
		return NO_MEMORY;
	count_captures(1);
	return 0;
}

XX(cuStreamEndCapture, (void *stream, void **graph))
{
	Stream *s = stream;

	NEED_CONTEXT();
	*graph = s->captured;
	if (s->captured)
		count_captures(-1);
	s->captured = NULL;
	count(EMU_CUDA_GRAPHS, *graph != NULL);
	return *graph ? 0 : INVALID_VALUE;
}

static void drop(Graph *g)
{
	for (Launch *l = g->first, *next; l; l = next) {
		next = l->next;
		free(l);
	}
	free(g);
	count(EMU_CUDA_GRAPHS, -1);
}

static Graph *copy_of(const Graph *g)
{
	Graph *to = calloc(1, sizeof *to);

	for (const Launch *l = g->first; l && to; l = l->next) {
		Launch *c = malloc(sizeof *c);

		if (!c)
			break;
		*c = *l;
		c->next = NULL;
		*(to->last ? &to->last->next : &to->first) = c;
		to->last = c;
	}
	count(EMU_CUDA_GRAPHS, 1);
	return to;
}

XX(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags))
{
	(void)flags;
	NEED_CONTEXT();
	take_long();
	*exec = copy_of(graph);
	count(EMU_CUDA_INSTANTIATED, 1);
	return *exec ? 0 : NO_MEMORY;
}

/* Launches of the same functions in the same order may have other arguments. */
XX(cuGraphExecUpdate_v2, (void *exec, void *graph, void *why))
{
	Launch *a = ((Graph *)exec)->first;
	const Launch *b = ((const Graph *)graph)->first;

	(void)why;
	NEED_CONTEXT();
	if (no_updates)
		return UPDATE_FAILED;
	for (; a && b; a = a->next, b = b->next) {
		if (a->f != b->f || a->host != b->host)
			return UPDATE_FAILED;
		memcpy(a->value, b->value, sizeof a->value);
	}
	count(EMU_CUDA_UPDATED, 1);
	return a || b ? UPDATE_FAILED : 0;
}

XX(cuGraphLaunch, (void *exec, void *s))
{
	int rc = 0;

	(void)s;
	NEED_CONTEXT();
	for (const Launch *l = ((const Graph *)exec)->first; l && !rc; l = l->next)
		rc = run(l);
	count(EMU_CUDA_GRAPH_LAUNCHES, 1);
	return rc;
}

XX(cuGraphDestroy, (void *graph))
{
	NEED_CONTEXT();
	drop(graph);
	return 0;
}

XX(cuGraphExecDestroy, (void *exec))
{
	NEED_CONTEXT();
	drop(exec);
	return 0;
}

/* What the library looks up and does not call. */
#define CANNOT(name)                                                                                         \
	XX(name, (void))                                                                                     \
	{                                                                                                    \
		return NOT_SUPPORTED;                                                                        \
	}
CANNOT(cuDeviceGetPCIBusId)
CANNOT(cuDeviceTotalMem_v2)
CANNOT(cuMemsetD16Async)
CANNOT(cuMemsetD32Async)
CANNOT(cuMemGetAllocationGranularity)
CANNOT(cuMemAddressReserve)
CANNOT(cuMemAddressFree)
CANNOT(cuMemCreate)
CANNOT(cuMemRelease)
CANNOT(cuMemMap)
CANNOT(cuMemUnmap)
CANNOT(cuMemSetAccess)
CANNOT(cuEventCreate)
CANNOT(cuEventDestroy_v2)
CANNOT(cuEventRecord)
CANNOT(cuEventSynchronize)
CANNOT(cuEventElapsedTime)
CANNOT(cuCtxResetPersistingL2Cache)
