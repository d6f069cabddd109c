/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - a device that runs CUDA C++ kernels: `emu` (this CPU) or `cuda` (a GPU).
 *
 * The interface is a struct of functions; each member's contract is stated once, here. A device belongs to
 * one thread. Buffers and modules are handles of one device; id 0 means none. Errors of kernels are
 * PM_E_OOB (access outside a buffer), PM_E_MUTATED (an input was written), PM_E_LIMIT (a launch that no
 * device takes), PM_E_FORBIDDEN (what a kernel's sandbox forbids) or PM_E_DEVICE (divergent barrier, trap,
 * ...), with a sentence that names kernel, argument and position; after such an error only `close` may be
 * called. (The `ref` device runs operators, not kernels: see ref.h. run.h puts all three behind one call.)
 */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include "base/core/err.h"
#include "base/core/hash.h"
#include "base/core/str.h"
#include "ir/core/type.h"
#include "runtime/device/digest.h"
#include "runtime/device/library.h"
#include "runtime/device/print.h"
#include "runtime/device/sampled.h"
#include "runtime/device/sketch.h"
#include "runtime/profile/counts.h"
#include "runtime/profile/hwcounters.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmDevice PmDevice;
typedef struct PmBuf {
	uint32_t id;
} PmBuf;
typedef struct PmModule {
	uint32_t id;
} PmModule;

/* What a source is compiled with: the same prelude (passmith/kernel.cuh) goes in front on every device. */
typedef struct PmSource {
	const char *label;  /* for messages: "silu", "eager Add float" */
	const char *source; /* CUDA C++ without the prelude */
	PmDType type;       /* `typedef <type> T;` is put between prelude and source */
} PmSource;

typedef enum { PM_DARG_BUF, PM_DARG_I64, PM_DARG_I32, PM_DARG_F32, PM_DARG_F64 } PmDevArgKind;
typedef struct PmDevArg {
	PmDevArgKind kind;
	PmBuf buf;    /* BUF: address of the buffer + offset bytes */
	int readonly; /* BUF: the launch may only read it; `emu` holds kernels to that */
	int64_t offset;
	int64_t i;
	double f;
} PmDevArg;

typedef struct PmDevLaunch {
	PmModule module;
	const char *entry; /* extern "C" __global__ function */
	uint32_t grid[3], block[3];
	uint32_t smem; /* dynamic shared memory in bytes */
	const PmDevArg *args;
	int n_args;
} PmDevLaunch;

/* Why a buffer exists: decides protection where the device has any. */
typedef enum { PM_BUF_INPUT, PM_BUF_OUTPUT, PM_BUF_SCRATCH } PmBufUse;

typedef struct PmDeviceInfo {
	char name[128]; /* "emu (host CPU)", "NVIDIA H200" */
	int cc;         /* compute capability, 90 for sm_90; what emu reports as __CUDA_ARCH__ / 10 */
	int n_sm;
	int sm_threads, sm_blocks, sm_registers; /* that a multiprocessor holds at a time; 0 = not known */
	int64_t sm_shared;                       /* its shared memory, bytes; 0 = not known */
	double sm_clock_hz, memory_clock_hz, memory_bus_bits; /* the highest clocks; 0 = not known */
	int64_t memory, l2;                                   /* bytes */
	int64_t max_scratch; /* bytes of scratch that the kernels of a candidate may have together (limits.h)
			      */
	int max_smem;        /* dynamic shared memory per block, bytes */
	int measured;        /* 1: event times are real; 0: times must be modelled */
	char pci[32];        /* address on the bus, as NVML takes it; "" = none */
	int exclusive;       /* 1: it takes one process at a time (compute mode EXCLUSIVE_PROCESS) */
} PmDeviceInfo;

/* A sequence of launches that the device has recorded, to be enqueued again as one. */
typedef struct PmReplay {
	uint32_t id;
} PmReplay;

/* A library's call, made ready on a device. */
typedef struct PmLib {
	uint32_t id;
} PmLib;

/* One step of a sequence: a library's call on the launch's arguments when lib.id is not 0, else the launch.
 */
typedef struct PmDevStep {
	PmDevLaunch launch;
	PmLib lib;
} PmDevStep;

/* Such a sequence, made ready on a device. */
typedef struct PmCall {
	uint32_t id;
} PmCall;

/* What timing takes beyond events. All of it is trusted work, enqueued like launches. */
typedef struct PmClockOps {
	/* Quiet: launches are enqueued without the guard's work before them, and sync only waits. Leaving it
	 * waits and looks at everything around the buffers at once (PM_E_OOB). */
	PmStatus (*quiet)(PmDevice *d, int on, PmErr *err);
	/* Fills the L2 cache with other, clean lines, and every multiprocessor's shared memory with a
	 * pattern. */
	PmStatus (*flush)(PmDevice *d, PmErr *err);
	/* Keeps the device busy for that long, so that what is enqueued meanwhile follows without gaps. */
	PmStatus (*delay)(PmDevice *d, double seconds, PmErr *err);
	/* A fixed amount of arithmetic and copying, some milliseconds of it. */
	PmStatus (*work)(PmDevice *d, PmErr *err);
	/* Between the two, launches are recorded instead of run; nothing else may be called. */
	PmStatus (*record_begin)(PmDevice *d, PmErr *err);
	PmStatus (*record_end)(PmDevice *d, PmReplay *out, PmErr *err);
	PmStatus (*replay)(PmDevice *d, PmReplay r, PmErr *err);
	void (*replay_drop)(PmDevice *d, PmReplay r);
	/* Digest of n buffers in order, each from its start; waits. */
	PmStatus (*digest)(PmDevice *d, const PmBuf *buf, const int64_t *bytes, size_t n, uint64_t key,
			   PmDigest *out, PmErr *err);
	/* Sketch of tensor number `which`, n elements from the buffer's start; waits. */
	PmStatus (*sketch)(PmDevice *d, PmBuf buf, int dtype, int64_t n, uint64_t key, uint64_t which,
			   PmSketch *out, PmErr *err);
} PmClockOps;

/* Hardware counters (hwcounters.h), for reports to authors; nothing is judged on them. One launch is counted
 * at a time: it is enqueued again in each of several passes, alone between pass_begin and pass_end. A failure
 * is PM_E_ENV, with what is missing and how to get it. */
typedef struct PmHwOps {
	PmStatus (*open)(PmDevice *d, PmErr *err);
	/* What comes next are passes of another launch. */
	PmStatus (*launch_begin)(PmDevice *d, PmErr *err);
	PmStatus (*pass_begin)(PmDevice *d, PmErr *err);
	/* *done: there need be no other pass. */
	PmStatus (*pass_end)(PmDevice *d, int *done, PmErr *err);
	/* After the last pass: out->v. */
	PmStatus (*launch_end)(PmDevice *d, PmHwLaunch *out, PmErr *err);
	/* All of *out but the launches. */
	void (*about)(PmDevice *d, PmHwCounters *out);
} PmHwOps;

typedef struct PmDeviceOps {
	void (*info)(PmDevice *d, PmDeviceInfo *out);
	/* A buffer of `bytes` (>= 0), 256-byte aligned start unless `guard` placement says otherwise. */
	PmStatus (*alloc)(PmDevice *d, int64_t bytes, PmBufUse use, PmBuf *out, PmErr *err);
	/* The same for a run that is checked: at a random place, the beginning or the end at a gap in which
	 * every access faults, read-only to launches that may only read it. NULL: alloc does so, or nothing
	 * does. */
	PmStatus (*alloc_guarded)(PmDevice *d, int64_t bytes, PmBufUse use, PmBuf *out, PmErr *err);
	/* Where the buffers that are made from here on lie. 0: as `alloc` and `alloc_guarded` say. Else
	 * `secret` decides and the two are the same, so that a kernel cannot tell what kind of run it is in;
	 * of a secret and the one that differs from it in bit 0, one has every buffer where the other has it
	 * not. On emu each buffer ends at a page or begins at one, at a random distance from others; on cuda
	 * all of them are mapped, or none is. */
	void (*layout)(PmDevice *d, uint64_t secret);
	/* Makes what lies around all buffers as it was when they were made. What had changed there is
	 * PM_E_OOB, here or once the device looks (sync, or leaving quiet mode). Enqueued like a launch. */
	PmStatus (*mend)(PmDevice *d, PmErr *err);
	void (*release)(PmDevice *d, PmBuf b);
	/* Copies between host and buffer; ranges are checked. */
	PmStatus (*upload)(PmDevice *d, PmBuf b, int64_t offset, const void *p, int64_t n, PmErr *err);
	PmStatus (*download)(PmDevice *d, PmBuf b, int64_t offset, void *p, int64_t n, PmErr *err);
	/* Fills a range with a repeated 32-bit pattern (poison). */
	PmStatus (*fill)(PmDevice *d, PmBuf b, int64_t offset, int64_t n, uint32_t pattern, PmErr *err);
	/* Copies a range of one buffer to another, or to a place of the same buffer that does not overlap.
	 * Enqueued like a launch. */
	PmStatus (*copy)(PmDevice *d, PmBuf to, int64_t to_offset, PmBuf from, int64_t from_offset, int64_t n,
			 PmErr *err);
	/* Fills a buffer's first n elements of `dtype` as pm_input_pool_draw does (input_pool.h), from a
	 * table in another buffer. Enqueued like a launch. */
	PmStatus (*draw)(PmDevice *d, PmBuf to, int64_t n, int dtype, PmBuf table, uint64_t base, PmErr *err);
	/* Compiles (cached on disk by content) and loads several sources at once; out[i] for each.
	 * A compile error is PM_E_INVALID with the compiler's first error, its line counted in the source. */
	PmStatus (*load)(PmDevice *d, const PmSource *src, size_t n, PmModule *out, PmErr *err);
	void (*unload)(PmDevice *d, PmModule m);
	/* Digest of the machine code that was loaded. NULL: there is none. */
	void (*code)(PmDevice *d, PmModule m, char hex[PM_CHAIN_HEX]);
	/* Enqueues one launch. Entry, argument count and kinds were checked by the caller or are checked
	 * here. */
	PmStatus (*launch)(PmDevice *d, const PmDevLaunch *l, PmErr *err);
	/* Of launches from here on only these blocks run (sampled.h). NULL: all of them always do, as on a
	 * GPU. */
	void (*sample)(PmDevice *d, const PmSampled *s);
	/* Waits for everything enqueued and reports the first kernel error. */
	PmStatus (*sync)(PmDevice *d, PmErr *err);
	/* Events: record marks a point in the stream; elapsed gives seconds between two recorded events. */
	PmStatus (*event_record)(PmDevice *d, int slot, PmErr *err); /* slot 0..255 */
	PmStatus (*event_elapsed)(PmDevice *d, int from, int to, double *seconds, PmErr *err);
	void (*close)(PmDevice *d);
	/* Gives up, in a process of its own, all of the machine that running what is loaded does not need:
	 * from here on buffers and launches only, and no way back. Kernels of strangers run on such a device
	 * alone (exec.h, pm_exec_run_isolated). `serving`: the process goes on answering requests on
	 * descriptor 0. NULL: the device's kernels run where they can do no harm. */
	PmStatus (*shut)(PmDevice *d, int serving, PmErr *err);
	/* A sequence of steps that runs again and again on the same arguments: new checks and lays out
	 * everything, and enqueues what depends on constants alone; run only enqueues, in order. Buffers,
	 * modules and library calls must outlive it. Members NULL where nothing is gained: use launch and
	 * lib_run. */
	PmStatus (*call_new)(PmDevice *d, const PmDevStep *step, size_t n, PmCall *out, PmErr *err);
	PmStatus (*call_run)(PmDevice *d, PmCall c, PmErr *err);
	void (*call_drop)(PmDevice *d, PmCall c);
	/* Libraries (library.h), members NULL where there are none. prepare: PM_DECLINED when no library
	 * takes the call, which is no error: our kernel runs then. `label` is for messages. run enqueues it
	 * on a launch's arguments; NULL where only sequences run them. */
	PmStatus (*lib_prepare)(PmDevice *d, const PmLibCall *c, const char *label, PmLib *out, PmErr *err);
	PmStatus (*lib_run)(PmDevice *d, PmLib l, const PmDevArg *args, int n, PmErr *err);
	void (*lib_drop)(PmDevice *d, PmLib l);
	const PmClockOps *clock; /* NULL: this device's times mean nothing */
	const PmHwOps *hw;       /* NULL: it has no hardware counters */
} PmDeviceOps;

struct PmDevice {
	const PmDeviceOps *ops;
	PmPrint *print;   /* what kernels have printed; NULL = they cannot */
	PmCounts *counts; /* what is counted, filled in before sources are loaded; NULL = nothing is */
			  /* device's own state follows in the derived struct */
};

/* What a name stands for. The reference runs no kernels: pm_device_open does not open it. */
typedef enum PmDeviceKind {
	PM_DEVICE_NONE, /* no device of that name */
	PM_DEVICE_REF,
	PM_DEVICE_EMU,
	PM_DEVICE_EMU_RACES,
	PM_DEVICE_EMU_PRINT,
	PM_DEVICE_EMU_COUNTS,
	PM_DEVICE_CUDA
} PmDeviceKind;
/* The kind of the device called `name` (NULL = none): the one place where names are compared. */
PmDeviceKind pm_device_kind(const char *name);
/* Whether an option may select the device of this name. */
int pm_device_is_known(const char *name);
/* Opens "emu", "emu+races", PM_DEVICE_PRINT, PM_DEVICE_COUNTS or "cuda"; PM_E_ENV with what is missing and
 * how to get it. Returns owned (ops->close). */
PmStatus pm_device_open(const char *name, PmDevice **out, PmErr *err);
/* For devices, of a range that the program itself copies: whether n bytes at `offset` are in buffer b, which
 * has `bytes` bytes, or -1 when the device has no such buffer. PM_E_INVALID says what cannot be done: `what`
 * is a verb. */
PmStatus pm_device_range(PmBuf b, int64_t bytes, int64_t offset, int64_t n, const char *what, PmErr *err);
PmStatus pm_emu_open(PmDevice **out, PmErr *err);
/* "emu+races": the same, slower, watching shared memory: PM_E_RACE when two threads touch a byte, one of them
 * writing, without a barrier between them, PM_E_OOB for an access between two __shared__ arrays. It is the
 * judge's: no option selects it. */
PmStatus pm_emu_open_races(PmDevice **out, PmErr *err);
/* The same as "emu", but kernels may call printf, whose text is in `print`. It is for --debug-print alone:
 * pm_device_is_known does not know its name, so that no option selects it and no result says it. */
#define PM_DEVICE_PRINT "emu+print"
PmStatus pm_emu_open_print(PmDevice **out, PmErr *err);
/* The same as "emu", slower, and what kernels do is counted into `counts`. It is for reports to authors
 * (`passmith profile`): no option selects it, and nothing is judged on it. */
#define PM_DEVICE_COUNTS "emu+counts"
PmStatus pm_emu_open_counts(PmDevice **out, PmErr *err);
/* Whether that device watches a source at all: it names shared memory, or what in the prelude uses it. */
int pm_emu_races_wanted(const char *source);
/* The driver is initialised in the calling process, which must not fork users of the device afterwards. */
PmStatus pm_cuda_open(PmDevice **out, PmErr *err);
/* The same, and asks for the device's facts alone: nothing is opened on it. max_scratch, which follows from
 * what memory is free, stays 0. */
PmStatus pm_cuda_look(PmDeviceInfo *out, PmErr *err);

/* The same of all GPUs that the driver leaves to this process (CUDA_VISIBLE_DEVICES), at most `room`. */
PmStatus pm_cuda_list(PmDeviceInfo *out, int room, int *n, PmErr *err);

/* Whether a GPU's hardware counters could be read: 1 with the library's version and place and whom the driver
 * lets read them, or 0 with what is missing. No GPU is touched; the library stays in the process. */
int pm_cuda_counters_probe(PmStr *detail);

/* What every process that opens the emulated device needs, found out once: who the compiler is is known to
 * those that are forked after this. Where the cache lacks what stands before every kernel, a process begins
 * to compile it beside the caller. Returns owned, or NULL when there is nothing to do. `end` stops what is
 * not done; NULL is allowed. */
typedef struct PmEmuAhead PmEmuAhead;
PmEmuAhead *pm_emu_ahead_begin(void);
void pm_emu_ahead_end(PmEmuAhead *a);

/* Compiles sources for the emulated device without running anything: the shared objects land in the cache.
 * Used to warm the cache in parallel (jobs processes). */
PmStatus pm_emu_compile(const PmSource *src, size_t n, int jobs, PmErr *err);
/* Appends the shared object of one source, compiled for the emulated device: what runtime/host loads.
 * Compiled where the cache has none. */
PmStatus pm_emu_object(const PmSource *s, PmStr *object, PmErr *err);

#endif
