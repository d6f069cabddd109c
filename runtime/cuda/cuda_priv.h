/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_priv.h - the device, the guard of its buffers, and its parts; shared by cuda_*.c. */
#ifndef RUNTIME_CUDA_PRIV_H
#define RUNTIME_CUDA_PRIV_H

#include "base/core/arena.h"
#include "base/core/str.h"
#include "base/core/vec.h"
#include "runtime/cuda/cuda_api.h"
#include "runtime/cuda/cuda_ptx.h"
#include "runtime/device/device.h"

#include <stddef.h>
#include <stdint.h>

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

enum { CU_N_EVENTS = 256, CU_MAX_ARGS = 128 };

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
	CuPtr kept;    /* owned; what the algorithm makes of constant weights */
	CuPtr kept_of; /* the weights' address: 0 before it was made */
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
/* Gives back the memory that the flush writes and reads, until the next flush. */
void pm__cuda_clock_give_area(PmCudaDevice *d);
void pm__cuda_clock_close(PmCudaDevice *d);

#endif
