/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_priv.h - the driver's functions, the guard of buffers and what a kernel's PTX says of its parameters;
 * shared by cuda_*.c. */
#ifndef RUNTIME_CUDA_PRIV_H
#define RUNTIME_CUDA_PRIV_H

#include "base/core/arena.h"
#include "base/core/str.h"
#include "base/core/vec.h"
#include "runtime/device/device.h"

#include <stddef.h>
#include <stdint.h>

/* ---- the driver (cuda_api.c) ---- */

/* The driver's own types, by the signatures of the driver API's documentation. 0 is success. */
typedef uint64_t CuPtr;
typedef struct CuCtx CuCtx;
typedef struct CuMod CuMod;
typedef struct CuFn CuFn;
typedef struct CuStream CuStream;
typedef struct CuEvent CuEvent;
typedef struct CuGraph CuGraph;
typedef struct CuGraphExec CuGraphExec;
typedef struct CuMemPlace {
	int type, id;
} CuMemPlace;
typedef struct CuMemProp {
	int type, handle_types;
	CuMemPlace where;
	void *unused;
	unsigned char flags[8];
} CuMemProp;
typedef struct CuMemAccess {
	CuMemPlace where;
	int flags;
} CuMemAccess;

/* XX(member, symbol, parameters). All return int. */
#define PM__CUDA_FUNCTIONS(XX)                                                                               \
	XX(init, cuInit, (unsigned flags))                                                                   \
	XX(driver_version, cuDriverGetVersion, (int *v))                                                     \
	XX(error_name, cuGetErrorName, (int error, const char **name))                                       \
	XX(error_string, cuGetErrorString, (int error, const char **text))                                   \
	XX(device_count, cuDeviceGetCount, (int *n))                                                         \
	XX(device_get, cuDeviceGet, (int *dev, int ordinal))                                                 \
	XX(device_name, cuDeviceGetName, (char *name, int n, int dev))                                       \
	XX(device_attr, cuDeviceGetAttribute, (int *value, int attr, int dev))                               \
	XX(device_pci, cuDeviceGetPCIBusId, (char *id, int n, int dev))                                      \
	XX(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, int dev))                                    \
	XX(ctx_retain, cuDevicePrimaryCtxRetain, (CuCtx * *ctx, int dev))                                    \
	XX(ctx_release, cuDevicePrimaryCtxRelease_v2, (int dev))                                             \
	XX(ctx_set, cuCtxSetCurrent, (CuCtx * ctx))                                                          \
	XX(module_load, cuModuleLoadData, (CuMod * *m, const void *image))                                   \
	XX(module_unload, cuModuleUnload, (CuMod * m))                                                       \
	XX(module_function, cuModuleGetFunction, (CuFn * *f, CuMod * m, const char *name))                   \
	XX(fn_attr, cuFuncGetAttribute, (int *value, int attr, CuFn *f))                                     \
	XX(fn_set_attr, cuFuncSetAttribute, (CuFn * f, int attr, int value))                                 \
	XX(mem_info, cuMemGetInfo_v2, (size_t * free, size_t * total))                                       \
	XX(mem_alloc, cuMemAlloc_v2, (CuPtr * p, size_t bytes))                                              \
	XX(mem_free, cuMemFree_v2, (CuPtr p))                                                                \
	XX(copy_to, cuMemcpyHtoDAsync_v2, (CuPtr to, const void *from, size_t bytes, CuStream *s))           \
	XX(copy_from, cuMemcpyDtoHAsync_v2, (void *to, CuPtr from, size_t bytes, CuStream *s))               \
	XX(set8, cuMemsetD8Async, (CuPtr p, unsigned char v, size_t n, CuStream *s))                         \
	XX(set16, cuMemsetD16Async, (CuPtr p, unsigned short v, size_t n, CuStream *s))                      \
	XX(set32, cuMemsetD32Async, (CuPtr p, unsigned v, size_t n, CuStream *s))                            \
	XX(copy, cuMemcpyDtoDAsync_v2, (CuPtr to, CuPtr from, size_t bytes, CuStream * s))                   \
	XX(mem_granularity, cuMemGetAllocationGranularity, (size_t * bytes, const CuMemProp *p, int which))  \
	XX(mem_reserve, cuMemAddressReserve,                                                                 \
	   (CuPtr * p, size_t bytes, size_t align, CuPtr at, unsigned long long flags))                      \
	XX(mem_unreserve, cuMemAddressFree, (CuPtr p, size_t bytes))                                         \
	XX(mem_create, cuMemCreate,                                                                          \
	   (unsigned long long *handle, size_t bytes, const CuMemProp *p, unsigned long long flags))         \
	XX(mem_release, cuMemRelease, (unsigned long long handle))                                           \
	XX(mem_map, cuMemMap,                                                                                \
	   (CuPtr p, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags))      \
	XX(mem_unmap, cuMemUnmap, (CuPtr p, size_t bytes))                                                   \
	XX(mem_access, cuMemSetAccess, (CuPtr p, size_t bytes, const CuMemAccess *a, size_t n))              \
	XX(launch, cuLaunchKernel,                                                                           \
	   (CuFn * f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,          \
	    unsigned smem, CuStream *s, void **params, void **extra))                                        \
	XX(stream_create, cuStreamCreate, (CuStream * *s, unsigned flags))                                   \
	XX(stream_destroy, cuStreamDestroy_v2, (CuStream * s))                                               \
	XX(stream_sync, cuStreamSynchronize, (CuStream * s))                                                 \
	XX(event_create, cuEventCreate, (CuEvent * *e, unsigned flags))                                      \
	XX(event_destroy, cuEventDestroy_v2, (CuEvent * e))                                                  \
	XX(event_record, cuEventRecord, (CuEvent * e, CuStream * s))                                         \
	XX(event_sync, cuEventSynchronize, (CuEvent * e))                                                    \
	XX(event_elapsed, cuEventElapsedTime, (float *ms, CuEvent *from, CuEvent *to))                       \
	XX(ctx_reset_l2, cuCtxResetPersistingL2Cache, (void))                                                \
	XX(capture_begin, cuStreamBeginCapture_v2, (CuStream * s, int mode))                                 \
	XX(capture_end, cuStreamEndCapture, (CuStream * s, CuGraph * *g))                                    \
	XX(graph_make, cuGraphInstantiateWithFlags,                                                          \
	   (CuGraphExec * *x, CuGraph * g, unsigned long long flags))                                        \
	XX(graph_launch, cuGraphLaunch, (CuGraphExec * x, CuStream * s))                                     \
	XX(graph_destroy, cuGraphDestroy, (CuGraph * g))                                                     \
	XX(graph_exec_destroy, cuGraphExecDestroy, (CuGraphExec * x))

typedef struct PmCuda {
	void *so;
#define XX(member, symbol, parameters) int(*member) parameters;
	PM__CUDA_FUNCTIONS(XX)
#undef XX
	int version; /* of CUDA that the driver knows: 13000 */
} PmCuda;

/* Numbers of the driver API that are used. */
enum {
	CU_OUT_OF_MEMORY = 2,
	CU_NO_DEVICE = 100,
	CU_INVALID_IMAGE = 200,
	CU_NO_BINARY_FOR_GPU = 209,
	CU_INVALID_PTX = 218,
	CU_UNSUPPORTED_PTX_VERSION = 222,
	CU_ILLEGAL_ADDRESS = 700,
	CU_LAUNCH_OUT_OF_RESOURCES = 701,
	CU_LAUNCH_TIMEOUT = 702,
	CU_ASSERT = 710,
	CU_HARDWARE_STACK_ERROR = 714,
	CU_ILLEGAL_INSTRUCTION = 715,
	CU_MISALIGNED_ADDRESS = 716,
	CU_INVALID_ADDRESS_SPACE = 717,
	CU_INVALID_PC = 718,
	CU_LAUNCH_FAILED = 719,

	CU_DEV_N_SM = 16,
	CU_DEV_COMPUTE_MODE = 20,
	CU_DEV_L2 = 38,
	CU_DEV_CC_MAJOR = 75,
	CU_DEV_CC_MINOR = 76,
	CU_DEV_MAX_SMEM = 97, /* per block, opt-in */
	CU_DEV_HAS_VMM = 102,

	CU_MODE_EXCLUSIVE = 3, /* one process at a time */

	CU_FN_MAX_THREADS = 0,
	CU_FN_STATIC_SMEM = 1,
	CU_FN_MAX_DYNAMIC_SMEM = 8,

	CU_STREAM_NON_BLOCKING = 1,
	CU_CAPTURE_RELAXED = 2,
	CU_MIN_DRIVER = 12000
};

/* Opens libcuda.so.1 and initialises it, once in this process: never call this in a process that forks device
 * workers later. *out is borrowed. PM_E_ENV says what is missing. */
PmStatus pm__cuda_open(const PmCuda **out, PmErr *err);

/* "cuMemAlloc: out of memory (CUDA_ERROR_OUT_OF_MEMORY)" as an error of the given status. */
PmStatus pm__cuda_fail(const PmCuda *cu, PmStatus st, const char *what, int error, PmErr *err);

/* ---- parameters of kernels (cuda_ptx.c) ---- */

typedef enum { PTX_I64, PTX_I32, PTX_F32, PTX_F64, PTX_OTHER } PmPtxKind;

typedef struct PmPtxEntry {
	char *name; /* owned */
	int n_params;
	PmPtxKind *kind; /* owned */
} PmPtxEntry;

typedef struct PmPtx {
	PM_VEC(PmPtxEntry) entries;
} PmPtx;

/* Finds the kernels of a PTX text and the types of their parameters: pointers and 64-bit integers are
 * PTX_I64. What it cannot read it leaves out. */
void pm__ptx_read(const char *text, PmPtx *out);
void pm__ptx_release(PmPtx *p);

/* ---- the guard (cuda_guard.c) ---- */

enum {
	CU_ZONE = 1024 /* bytes before and behind each buffer that has no mapping of its own, at least */
};

/* One buffer on the device: [base, base + total) is allocated, [p, p + bytes) is the caller's. */
typedef struct PmCudaBuf {
	CuPtr base; /* 0 = this handle is free */
	CuPtr p;
	int64_t bytes, total;
	PmBufUse use;
	int hashed;         /* INPUT: the slot holds the hash of what was last written by the host */
	uint32_t launches;  /* since the last check: how many had this buffer as argument, */
	const char *kernel; /* the last one's label, */
	int arg;            /* and which argument it was */
	/* A mapping of its own (cuda_vmm.c): */
	int mapped, readonly;
	unsigned long long handle; /* its memory */
	CuPtr reserve;             /* its addresses, gaps included */
	size_t reserved;
} PmCudaBuf;

typedef PM_VEC(PmCudaBuf) PmCudaBufs;

/* Trusted kernels that look whether anything around the buffers changed, and whether inputs did. */
typedef struct PmCudaGuard {
	CuMod *module;
	CuFn *zones, *hash, *scrub, *mend;
	CuPtr report; /* 8 bytes: first damaged byte */
	CuPtr slots;  /* two 8-byte hashes per buffer handle: before, after */
	CuPtr table;  /* address and size of each zone */
	int scrub_smem;
	size_t n_zones;
	int mended;     /* the report holds what pm__guard_mend found since the last look */
	int stale;      /* the table does not describe the current buffers */
	uint64_t *host; /* room for what is copied back and forth */
	uint32_t *zone_buf;
} PmCudaGuard;

enum { CU_MAX_BUFS = 1 << 16 };

/* max_smem: dynamic shared memory of a block, which scrubbing fills. */
PmStatus pm__guard_open(const PmCuda *cu, int cc, int max_smem, PmCudaGuard *g, PmErr *err);
/* Enqueues the filling of every multiprocessor's shared memory and registers with a pattern. 0 or the
 * driver's error. */
int pm__guard_scrub(const PmCuda *cu, CuStream *s, const PmCudaGuard *g, int n_sm, uint32_t pattern);
void pm__guard_close(const PmCuda *cu, PmCudaGuard *g);
/* Enqueues the filling of a new buffer, zones included, with a pattern that is NaN in every floating type. */
PmStatus pm__guard_fill(const PmCuda *cu, CuStream *s, const PmCudaBuf *b, PmErr *err);
/* Enqueues the repair of everything around the buffers; what had changed there is found at the next look. 0
 * or the driver's error. */
int pm__guard_mend(const PmCuda *cu, CuStream *s, PmCudaGuard *g, const PmCudaBufs *bufs);
/* Before a launch that has buffer number i, an input, as argument: remembers its contents. */
PmStatus pm__guard_input(const PmCuda *cu, CuStream *s, PmCudaGuard *g, PmCudaBuf *b, size_t i, PmErr *err);
/* After launches: waits, then PM_E_OOB when bytes around a buffer changed and PM_E_MUTATED when an input that
 * was an argument did. A status of the driver goes to *cu_error, its error is left to the caller. */
PmStatus pm__guard_check(const PmCuda *cu, CuStream *s, PmCudaGuard *g, PmCudaBufs *bufs, int *cu_error,
			 PmErr *err);

/* ---- the device (cuda_device.c, cuda_mem.c, cuda_launch.c, cuda_clock.c) ---- */

enum {
	CU_N_EVENTS = 256,
	CU_MAX_ARGS = 128,
	CU_PLAIN_SMEM = 48 * 1024 /* dynamic shared memory that needs no opting in */
};

typedef struct PmCudaFn {
	const char *name;
	CuFn *f;
	const PmPtxEntry *entry;
	int max_threads, static_smem, smem_allowed;
} PmCudaFn;

typedef struct PmCudaModule {
	CuMod *m; /* NULL = this handle is free */
	const char *label;
	PmPtx ptx;
	PM_VEC(PmCudaFn) fns; /* those that were launched */
	char code[PM_CHAIN_HEX];
} PmCudaModule;

typedef struct PmCudaBlock {
	CuPtr base;
	int64_t total;
} PmCudaBlock;

/* Trusted kernels and memory for timing, made when they are first needed. */
typedef struct PmCudaClock {
	CuMod *module, *drawing; /* NULL = not yet made */
	CuFn *spin, *sweep, *work, *digest, *sketch;
	CuFn *redraw[4]; /* of elements of 1, 2, 4, 8 bytes */
	CuPtr area;      /* what the flush writes and reads */
	CuPtr sum;       /* of a digest, or of a sketch */
	int64_t bytes;
} PmCudaClock;

struct PmCudaAlgo; /* cuda_lib_priv.h */

typedef struct PmCudaLib {
	struct PmCudaAlgo *algo; /* owned; NULL = this handle is free */
	const char *label;
	CuPtr workspace;
} PmCudaLib;

/* One argument as the driver wants to find it. */
typedef union PmCudaValue {
	CuPtr p;
	int64_t i64;
	int32_t i32;
	float f32;
	double f64;
} PmCudaValue;

/* A launch that was checked: nothing is looked up any more. */
typedef struct PmCudaReady {
	CuFn *f;
	const char *label, *entry; /* as long as the device */
	uint32_t grid[3], block[3], smem;
	PmCudaValue *value; /* room for the arguments, given by who asks, */
	void **params;      /* and for their addresses */
} PmCudaReady;

struct PmCudaCall; /* cuda_call.c */
struct PmCupti;    /* cupti.h */

typedef struct PmCudaDevice {
	PmDevice base;
	const PmCuda *cu;
	int dev;
	CuCtx *ctx; /* NULL = none was opened */
	PmDeviceInfo info;
	CuStream *stream;
	PmCudaGuard guard;
	PmCudaBufs bufs; /* handle id - 1 */
	PM_VEC(PmCudaModule) modules;
	PM_VEC(PmCudaBlock) kept; /* released, to be used again */
	int64_t kept_bytes;
	CuEvent *event[CU_N_EVENTS];
	unsigned char recorded[CU_N_EVENTS];
	PmIntern *names;                     /* labels and entries, so that messages may outlive modules */
	uint64_t n_pending;                  /* launches since the last sync, */
	const char *first_label;             /* the first of them, */
	const char *last_label, *last_entry; /* and the last */
	size_t granule;                      /* of mappings; 0 = this device has none */
	unsigned n_mapped;                   /* buffers mapped so far */
	uint64_t layout;                     /* PmDeviceOps.layout */
	uint32_t fresh;                      /* the pattern that buffers were last filled with */
	PmErr failed;                        /* the first kernel error; code 0 = none */
	size_t first_free;                   /* no handle of bufs below it is free */
	int quiet, recording;
	PmCudaClock clock;
	PM_VEC(CuGraphExec *) replays;     /* id - 1; NULL = free */
	PM_VEC(PmCudaLib) libs;            /* id - 1 */
	PM_VEC(struct PmCudaCall *) calls; /* id - 1; NULL = free */
	uint64_t n_checks;                 /* looks of the guard so far, and changes of `quiet` */
	PM_VEC(CuPtr) workspaces;          /* all that were ever needed; the last is the largest */
	CuPtr workspace;
	int64_t workspace_bytes;
	struct PmCupti *cupti;   /* hardware counters; NULL = not asked for */
	CuMod *algo_modules[32]; /* kernels around library calls, by element type; NULL = not needed so far */
} PmCudaDevice;

void pm__cuda_layout(PmDevice *d, uint64_t secret);
PmStatus pm__cuda_mend(PmDevice *d, PmErr *err);
/* Inputs of timed calls (cuda_clock.c). */
PmStatus pm__cuda_draw(PmDevice *d, PmBuf to, int64_t n, int dtype, PmBuf table, uint64_t base, PmErr *err);

/* Text that lives as long as the device. */
const char *pm__cuda_keep_name(PmCudaDevice *d, const char *s);
/* Remembers *why as what every later call returns. */
PmStatus pm__cuda_fail_with(PmCudaDevice *d, PmStatus st, const PmErr *why, PmErr *err);
/* The error remembered, PM_OK when there is none. */
PmStatus pm__cuda_failed(const PmCudaDevice *d, PmErr *err);
/* The sentence about an error that the driver reports some time after a launch; it is remembered. */
PmStatus pm__cuda_kernel_error(PmCudaDevice *d, int error, PmErr *err);

/* Mappings (cuda_vmm.c). All return 0 or the driver's error. open finds out whether the device has them; map
 * takes b->bytes and fills in where it lies, writable; lock makes it read-only to kernels or writable. */
void pm__vmm_open(PmCudaDevice *d);
int pm__vmm_map(PmCudaDevice *d, PmCudaBuf *b);
void pm__vmm_unmap(PmCudaDevice *d, PmCudaBuf *b);
int pm__vmm_lock(PmCudaDevice *d, PmCudaBuf *b, int readonly);

PmCudaBuf *pm__cuda_buf(PmCudaDevice *d, PmBuf b); /* NULL for an unknown handle */
void pm__cuda_drop_kept(PmCudaDevice *d);          /* gives released memory back to the driver */
PmCudaModule *pm__cuda_module(PmCudaDevice *d, PmModule m);
void pm__cuda_close_module(PmCudaDevice *d, PmCudaModule *m);

/* The members of PmDeviceOps, as device.h says. */
PmStatus pm__cuda_alloc(PmDevice *dev, int64_t bytes, PmBufUse use, PmBuf *out, PmErr *err);
PmStatus pm__cuda_alloc_guarded(PmDevice *dev, int64_t bytes, PmBufUse use, PmBuf *out, PmErr *err);
void pm__cuda_release(PmDevice *dev, PmBuf h);
PmStatus pm__cuda_upload(PmDevice *dev, PmBuf h, int64_t offset, const void *src, int64_t n, PmErr *err);
PmStatus pm__cuda_download(PmDevice *dev, PmBuf h, int64_t offset, void *dst, int64_t n, PmErr *err);
PmStatus pm__cuda_fill(PmDevice *dev, PmBuf h, int64_t offset, int64_t n, uint32_t pattern, PmErr *err);
PmStatus pm__cuda_copy(PmDevice *dev, PmBuf to, int64_t to_offset, PmBuf from, int64_t from_offset, int64_t n,
		       PmErr *err);
PmStatus pm__cuda_load(PmDevice *dev, const PmSource *src, size_t n, PmModule *out, PmErr *err);
void pm__cuda_code(PmDevice *d, PmModule m, char hex[PM_CHAIN_HEX]);
void pm__cuda_unload(PmDevice *dev, PmModule h);
PmStatus pm__cuda_launch(PmDevice *dev, const PmDevLaunch *l, PmErr *err);
PmStatus pm__cuda_sync(PmDevice *dev, PmErr *err);
PmStatus pm__cuda_event_record(PmDevice *dev, int slot, PmErr *err);
PmStatus pm__cuda_event_elapsed(PmDevice *dev, int from, int to, double *seconds, PmErr *err);
PmStatus pm__cuda_lib_prepare(PmDevice *dev, const PmLibCall *c, const char *label, PmLib *out, PmErr *err);
void pm__cuda_lib_drop(PmDevice *dev, PmLib l);
void pm__cuda_lib_close(PmCudaDevice *d);
void pm__cuda_algos_close(PmCudaDevice *d);
/* Buffers that a launch or call is about to use: inputs are hashed or read-only, all remember who used them.
 */
PmStatus pm__cuda_note_buffers(PmCudaDevice *d, const char *label, const PmDevArg *args, int n, PmErr *err);
/* Checks a launch and lays out its arguments in out->value and out->params, which have room for CU_MAX_ARGS
 * or as many as the launch has. Nothing is enqueued. */
PmStatus pm__cuda_ready_launch(PmCudaDevice *d, const PmDevLaunch *l, PmCudaReady *out, PmErr *err);
/* Enqueues it: one call of the driver. */
PmStatus pm__cuda_enqueue(PmCudaDevice *d, const PmCudaReady *r, PmErr *err);
PmStatus pm__cuda_call_new(PmDevice *dev, const PmDevStep *step, size_t n, PmCall *out, PmErr *err);
PmStatus pm__cuda_call_run(PmDevice *dev, PmCall c, PmErr *err);
void pm__cuda_call_drop(PmDevice *dev, PmCall c);
void pm__cuda_call_close(PmCudaDevice *d);
extern const PmClockOps pm__cuda_clock_ops;
extern const PmHwOps pm__cuda_hw_ops; /* cuda_counters.c */
void pm__cuda_hw_close(PmCudaDevice *d);
void pm__cuda_clock_close(PmCudaDevice *d);

#endif
