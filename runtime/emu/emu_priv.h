/* SPDX-License-Identifier: Apache-2.0 */
/* emu_priv.h - what the files of the emulated device share: emu_device.c (the interface), emu_buf.c
 * (guarded memory), emu_scan.c, emu_build.c, emu_head.c, emu_cxx.c and emu_object.c (source to shared
 * object), emu_run.c (launches), emu_fault.c (signals). emu_sched.h has what runtime/host needs too.
 */
#ifndef RUNTIME_EMU_PRIV_H
#define RUNTIME_EMU_PRIV_H

#include "base/core/str.h"
#include "base/core/vec.h"
#include "base/sys/proc.h"
#include "runtime/device/device.h"
#include "runtime/emu/emu_sched.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PM_EMU_GUARD = 64 * 1024, /* inaccessible bytes on both sides of a buffer */
	PM_EMU_MAX_ARGV = 60,     /* arguments of the compiler, */
	PM_EMU_KEEP = 3,          /* of which so many are made for it */
};

/* --- emu_buf.c: memory that ends at an inaccessible page ------------------------------------------- */

typedef struct PmEmuBuf {
	unsigned char *map; /* guard, pages, guard; NULL = not in use */
	size_t pages;       /* bytes between the guards */
	size_t front;       /* bytes of the guard before them */
	unsigned char *p; /* the buffer: guarded at the end of the pages, slack below 16 bytes behind it; else
			   * at their beginning */
	int64_t bytes;
	PmBufUse use;
	int locked; /* its pages are read-only now */
} PmEmuBuf;

/* `gap`: pages that the guard before it has more. */
PmStatus pm__emu_buf_new(int64_t bytes, PmBufUse use, int guarded, unsigned gap, PmEmuBuf *out, PmErr *err);
void pm__emu_buf_free(PmEmuBuf *b);
/* Makes the pages read-only (1) or writable (0). */
PmStatus pm__emu_buf_lock(PmEmuBuf *b, int locked, PmErr *err);
/* Offset relative to the buffer's start of the first changed byte around it; 0 when all is as it was. */
int64_t pm__emu_buf_damage(const PmEmuBuf *b);
/* 1 when the address lies in the buffer or in the guards around it. */
int pm__emu_buf_covers(const PmEmuBuf *b, const void *addr);

/* --- emu_scan.c: what must be known or changed before compiling -------------------------------------- */

typedef struct PmEmuName {
	char *name;
	char *bounds; /* first argument of __launch_bounds__ as written, or NULL */
	int c_linkage;
} PmEmuName;

typedef struct PmEmuScan {
	PmStr text; /* the source with `extern __shared__` declarations rewritten, lines kept */
	PM_VEC(PmEmuName) kernels;
	int conditional; /* kernels may depend on macros: scan the preprocessed text for their names */
} PmEmuScan;

PmStatus pm__emu_scan(const char *label, const char *src, size_t n, PmEmuScan *out, PmErr *err);
void pm__emu_scan_release(PmEmuScan *s);

typedef struct PmEmuBuilder PmEmuBuilder;

/* --- emu_cxx.c: the compiler, in its box --------------------------------------------------------------- */

/* The one folder in which a compiler may write: made empty, removed by close. */
typedef struct PmEmuWork {
	PmStr dir;
	int lock;
} PmEmuWork;
PmStatus pm__emu_work_open(PmEmuWork *w, PmErr *err);
/* Removes the folders of compilations that were killed, unless another process is about to: who finds all
 * kernels in the cache opens none. */
void pm__emu_work_sweep(void);
void pm__emu_work_close(PmEmuWork *w); /* after a failed open too */
/* Runs the compiler with `args` (fewer than PM_EMU_MAX_ARGV, ends with NULL) on the text `in`. PM_OK when it
 * ran, however it ended. */
PmStatus pm__emu_cxx(const PmEmuBuilder *b, const PmEmuWork *w, const char *const *args, const PmStr *in,
		     PmProcResult *r, PmErr *err);

/* --- emu_build.c: source to shared object, cached ---------------------------------------------------- */

typedef enum {
	PM_EMU_PLAIN,
	PM_EMU_RACES,  /* kernels with shared memory are compiled to be watched */
	PM_EMU_PRINT,  /* kernels may print */
	PM_EMU_COUNTS, /* kernels of `counts` are compiled to be counted */
} PmEmuMode;

struct PmEmuBuilder {
	PmStr root, cache, heads; /* folders; heads: of emu_head.c */
	PmStr cxx;                /* the compiler */
	PmEmuMode mode;
	char key[65];           /* hash of compiler, flags, shim and prelude */
	char watch_key[65];     /* of that and of what watching or counting adds */
	const PmCounts *counts; /* borrowed; NULL = none */
};

PmStatus pm__emu_builder_open(PmEmuBuilder *b, PmEmuMode mode, PmErr *err);
void pm__emu_builder_close(PmEmuBuilder *b);
/* Appends the path of the shared object of `s`, compiling it when the cache has none. */
PmStatus pm__emu_build(const PmEmuBuilder *b, const PmSource *s, PmStr *path, PmErr *err);
/* Checks a source without writing code. *said is PM_OK or PM_E_INVALID, and `log` gets what the compiler says
 * then, macros folded to where they are used. */
PmStatus pm__emu_say(const PmEmuBuilder *b, const PmSource *s, PmStatus *said, PmStr *log, PmErr *err);
/* Compiles what the cache lacks with up to `jobs` processes. Errors are left for pm__emu_build to report. */
void pm__emu_build_ahead(const PmEmuBuilder *b, const PmSource *src, size_t n, int jobs);
/* Writes the flags of a compilation to `argv` and returns how many. `as`: PM_EMU_RACES or PM_EMU_COUNTS for a
 * kernel that is watched or counted, else PM_EMU_PLAIN. `keep` (PM_EMU_KEEP strings, not
 * initialised) holds the text of some until pm__emu_flags_release. */
int pm__emu_flags(const PmEmuBuilder *b, PmEmuMode as, const char **argv, PmStr *keep);
void pm__emu_flags_release(PmStr *keep);
/* Write the linker's flags, and the libraries that follow the objects, to `argv`; return how many. */
int pm__emu_link_flags(const char **argv);
int pm__emu_link_libraries(const char **argv);

/* --- emu_head.c: the headers before every kernel, compiled once ----------------------------------------- */

/* Appends the folder to put first in the compiler's list. It may be missing: compiling only takes longer
 * then. */
void pm__emu_head_dir(const PmEmuBuilder *b, PmEmuMode as, PmStr *out);
/* Makes what that folder holds when it is missing. */
void pm__emu_head_make(const PmEmuBuilder *b, PmEmuMode as);

/* --- emu_run.c: one launch --------------------------------------------------------------------------- */

typedef struct PmEmuRaces PmEmuRaces;     /* emu_race.c */
typedef struct PmEmuCounter PmEmuCounter; /* emu_count.c */

typedef struct PmEmuFault {
	int signal; /* 0 = none */
	int wild;   /* the hardware gave no address */
	int write;  /* 1 write, 0 read, -1 not known */
	const void *addr;
} PmEmuFault;

typedef struct PmEmuRun {
	PmEmuSched s; /* first: pm__emu_run_of; s.dyn has smem bytes */
	uint32_t smem;
	uint32_t fresh;  /* what shared memory holds when a block begins */
	uint64_t order;  /* changes in which direction threads of a block take turns */
	size_t n_chosen; /* blocks that run, by number; 0 = all */
	uint64_t chosen[PM_SAMPLED_MOST];
	PmEmuFault fault;
	PmEmuRaces *races;                /* of the module; NULL = accesses are not watched */
	PmEmuCounter *counter;            /* of the module; NULL = it is not counted */
	PmPrint *print;                   /* of the device; NULL = kernels do not print */
	char printer[PM_EMU_WHERE + 256]; /* who printed last */
} PmEmuRun;

PmEmuRun *pm__emu_run_new(void);
void pm__emu_run_free(PmEmuRun *r);
/* Runs all blocks, or the chosen ones. A fault is left in r->fault for the caller, who knows the buffers
 * (PM_E_DEVICE). */
PmStatus pm__emu_run(PmEmuRun *r, const uint32_t grid[3], const uint32_t block[3], PmErr *err);
/* The run of a scheduler; NULL of NULL. */
static inline PmEmuRun *pm__emu_run_of(PmEmuSched *s)
{
	return (PmEmuRun *)s;
}

/* --- emu_print.c: printf of a kernel ---------------------------------------------------------------------
 */

/* Adds what the running thread prints to r->print, with who it is; fails the run where that is NULL. */
int pm__emu_print(PmEmuRun *r, const char *text, const PmEmuPrintArg *v, int n);

/* --- emu_race.c: accesses to shared memory without order ------------------------------------------------ */

/* Watches the accesses of a module; NULL when it was not compiled for that. */
PmEmuRaces *pm__emu_races_new(void *so, const PmEmuModule *m);
void pm__emu_races_free(PmEmuRaces *w);
/* Before a launch with so much dynamic shared memory. */
void pm__emu_races_begin(PmEmuRaces *w, unsigned char *dyn, uint32_t bytes);
/* The block passed a barrier, or another block begins; lanes of a warp passed a collective. */
void pm__emu_race_barrier(PmEmuRun *r);
void pm__emu_race_collective(PmEmuRun *r, int warp);
/* Before another thread runs: judges a write whose effect was waited for. */
void pm__emu_race_settle(PmEmuRun *r);

/* --- emu_fault.c: signals while a kernel runs ----------------------------------------------------------- */

typedef struct PmEmuSignals {
	struct sigaction old[4];
	stack_t old_stack;
	void *stack;
} PmEmuSignals;

/* Between enter and leave, a fault of this thread ends the run that is given. */
PmStatus pm__emu_signals_open(PmEmuSignals *s, PmErr *err);
void pm__emu_signals_close(PmEmuSignals *s);
void pm__emu_signals_enter(PmEmuSignals *s, PmEmuRun *r);
void pm__emu_signals_leave(PmEmuSignals *s);

#endif
