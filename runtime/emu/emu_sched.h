/* SPDX-License-Identifier: Apache-2.0 */
/* emu_sched.h - the threads of one block as fibers that take turns: barriers, collectives of warps, ends.
 *
 * Used by the emulated device, which watches what a kernel does (PmEmuHooks), and by runtime/host, which does
 * not. Nothing here knows of buffers, signals or races. A scheduler belongs to one thread while a block runs.
 */
#ifndef RUNTIME_EMU_SCHED_H
#define RUNTIME_EMU_SCHED_H

#include "base/core/err.h"
#include "base/core/str.h"
#include "base/core/vec.h"
#include "runtime/emu/emu_fiber.h"
#include "runtime/emu/include/emu_abi.h"

#include <stddef.h>
#include <stdint.h>

enum {
	PM_EMU_MAX_THREADS = 1024,        /* of a block */
	PM_EMU_MAX_STATIC = 48 * 1024,    /* static shared memory of a kernel */
	PM_EMU_MAX_SMEM = 227 * 1024,     /* static and dynamic shared memory of a block */
	PM_EMU_MAX_ARGS = 128,            /* of a launch */
	PM_EMU_ALIGN = 16,                /* of a buffer's start, and of dynamic shared memory */
	PM_EMU_PATTERN = (int)0xffc5ffc5, /* fills slack: NaN as f32, f16 and bf16 */
	PM_EMU_MAX_OBJECT = 64 << 20,     /* bytes of a compiled kernel */
	PM_EMU_WHERE = 128,
};

typedef struct PmEmuThread {
	PmFiber *fiber; /* while it waits */
	unsigned long long value, result;
	const char *file;
	uint32_t mask;
	int arg, line;
	uint8_t state, op;
} PmEmuThread;

typedef struct PmEmuSched PmEmuSched;

/* What somebody who watches a launch is told. */
typedef struct PmEmuHooks {
	/* The running thread comes to a barrier, or to a collective of the lanes in `mask`, at `pc`. */
	void (*wait)(PmEmuSched *s, int collective, uint32_t mask, const void *pc);
	/* Before another thread runs: the running one waits or has ended. */
	void (*settle)(PmEmuSched *s);
	/* The block passed a barrier, or another block begins; lanes of a warp passed a collective. */
	void (*barrier)(PmEmuSched *s);
	void (*collective)(PmEmuSched *s, int warp);
	/* Nobody can run: makes threads ready that pm__emu_sched_hold holds. How many; 0 = none. */
	int (*release)(PmEmuSched *s);
} PmEmuHooks;

struct PmEmuSched {
	const PmEmuModule *module;
	const PmEmuEntry *entry;
	void *const *args;
	const char *label;
	const PmEmuCalls *calls; /* what the kernel calls */
	const PmEmuHooks *hooks; /* NULL = nobody watches */
	unsigned char *dyn;      /* dynamic shared memory */

	int n, next, done; /* threads of the block: all, started, ended */
	int step;          /* +1 or -1: in which direction threads start */
	int cur;           /* the running thread */
	PmEmuThread t[PM_EMU_MAX_THREADS];
	PmEmu3 index[PM_EMU_MAX_THREADS];
	int queue[PM_EMU_MAX_THREADS], head, ready; /* threads that may go on, oldest first */
	uint32_t live[PM_EMU_MAX_THREADS / 32], waiting[PM_EMU_MAX_THREADS / 32]; /* lanes of each warp */
	unsigned char lanes[PM_EMU_MAX_THREADS][PM_EMU_SHARE];                    /* what they share */
	int arrived, votes, bar_kind, bar_line;                                   /* the block's barrier */
	const char *bar_file;

	PmFiber *main, *fiber; /* the caller; who runs */
	PM_VEC(PmFiber *) fibers;
	PM_VEC(PmFiber *) idle;
	int failed;
	PmErr err; /* why; code 0 where somebody else knows it */
};

/* Fills in what is not zero in a new scheduler. After a launch that failed only close may be called. */
void pm__emu_sched_open(PmEmuSched *s);
void pm__emu_sched_close(PmEmuSched *s);

/* A launch: module, entry, args, label, calls, hooks and dyn are set before. All blocks run on the thread
 * that began it. */
void pm__emu_sched_begin(PmEmuSched *s, const uint32_t grid[3], const uint32_t block[3]);
/* Runs block number `at` of the grid; `order` changes in which direction its threads take turns. An error is
 * PM_E_DEVICE, or what the failed call said. */
PmStatus pm__emu_sched_block(PmEmuSched *s, uint64_t at, uint64_t order, PmErr *err);
void pm__emu_sched_end(PmEmuSched *s);

/* What a running kernel calls (PmEmuCalls). */
int pm__emu_sched_barrier(int kind, int pred, int line, const char *file);
unsigned long long pm__emu_sched_warp(int op, unsigned mask, unsigned long long value, int arg, int line);
void pm__emu_sched_trap(const char *what, int line, const char *file);

/* For who watches: the running thread waits until it is let go; lets thread number `t` go. */
void pm__emu_sched_hold(PmEmuSched *s);
int pm__emu_sched_held(const PmEmuSched *s, int t);
void pm__emu_sched_let_go(PmEmuSched *s, int t);

/* Fills n bytes with a pattern. */
void pm__emu_poison(unsigned char *p, size_t n, uint32_t pattern);

/* --- emu_fail.c: how a launch ends from inside a kernel --------------------------------------------------
 */

/* The launch that this thread is in; NULL outside of one. */
extern _Thread_local PmEmuSched *pm__emu_running;
/* Ends it: "Kernel 'x' (entry 'y') <text>". Does not return. */
void pm__emu_fail(PmEmuSched *s, PmStatus st, const char *fmt, ...) PM_PRINTF(3, 4);
/* Ends it; the error is in s->err. */
void pm__emu_give_up(PmEmuSched *s);
/* "block (0,0,0) thread (5,0,0)" of the running thread. */
const char *pm__emu_where(const PmEmuSched *s, char out[PM_EMU_WHERE]);

/* --- emu_entry.c: what a compiled kernel offers, and what it is launched with -----------------------------
 */

/* Asks a loaded object (dlopen) what is in it, which is the first code of it that runs. NULL when it is not
 * one of this version. */
const PmEmuModule *pm__emu_module_of(void *so);
int pm__emu_module_entries(const PmEmuModule *m);
/* PM_E_DEVICE when the kernels of the module have more static shared memory than a GPU lets them have. */
PmStatus pm__emu_module_check(const PmEmuModule *m, const char *label, PmErr *err);
/* PM_E_DEVICE with the names that there are. */
PmStatus pm__emu_entry_find(const PmEmuModule *m, const char *label, const char *name, const PmEmuEntry **out,
			    PmErr *err);
/* PM_E_LIMIT when no device takes such a grid, such blocks or, with `smem` bytes of dynamic shared memory
 * beside `shared` static ones, so much of it. */
PmStatus pm__emu_entry_shape(const PmEmuEntry *e, const char *label, const uint32_t grid[3],
			     const uint32_t block[3], uint32_t smem, size_t shared, PmErr *err);
/* The static shared memory of the one kernel of a module; 0 when it has several: which of them it belongs to
 * is not known. */
size_t pm__emu_entry_shared(const PmEmuModule *m);
/* PM_E_DEVICE when a launch with n arguments is not what the entry takes. */
PmStatus pm__emu_entry_count(const PmEmuEntry *e, const char *label, int n, PmErr *err);
/* "a pointer": a kind of parameter in a sentence. */
const char *pm__emu_kind_name(int kind);

/* --- emu_object.c: what a compiled kernel may hold ----------------------------------------------------- */

/* Whether the n bytes of a compiled kernel may be loaded: PM_E_INVALID and a sentence in `why` when loading
 * would run code of it, or when it needs more than libm. */
PmStatus pm__emu_object_judge(const void *object, size_t n, PmStr *why);

#endif
