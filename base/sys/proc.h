/* SPDX-License-Identifier: Apache-2.0 */
/* proc.h - child processes with resource limits and a deadline.
 *
 * Two forms: pm_run runs another program; pm_fork_call runs a C function in a forked child and brings
 * back the bytes it wrote. Both kill the whole process group at the deadline and always reap.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include "base/core/err.h"
#include "base/core/str.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmLimits {
	double seconds;     /* deadline, less the time in which the child waited for a processor; 0 = none */
	int cpu_seconds;    /* RLIMIT_CPU; 0 = none */
	int64_t memory;     /* RLIMIT_AS in bytes; 0 = none */
	int64_t file_size;  /* RLIMIT_FSIZE in bytes; -1 = none */
	int max_files;      /* RLIMIT_NOFILE; 0 = as inherited */
	int64_t max_output; /* bytes accepted from the child; over it the child is killed; 0 = 64 MiB */
	int bare;           /* pm_run: the child gets an empty environment and starts in "/" */
	int tries; /* in all, when something outside kills the child (SIGKILL): nobody's mistake; 0 = 1 */
	/* pm_run: called in the child, last before the program starts, as by base/sandbox/sandbox.h; may be
	 * NULL */
	void (*enter)(const void *arg);
	const void *enter_arg;
} PmLimits;

typedef enum {
	PM_PROC_EXITED,   /* `code` is the exit status */
	PM_PROC_SIGNALED, /* `code` is the signal number */
	PM_PROC_TIMEOUT,  /* deadline or RLIMIT_CPU reached; killed */
	PM_PROC_TOO_MUCH, /* wrote more than max_output; killed */
} PmProcEnd;

typedef struct PmProcResult {
	PmProcEnd end;
	int code;
	double seconds; /* wall time */
	PmStr out;      /* what the child wrote to stdout (pm_run) or to its result channel (pm_fork_call) */
	PmStr errtext;  /* what it wrote to stderr */
} PmProcResult;

/* Frees both texts of a result. */
void pm_proc_result_release(PmProcResult *r);

/* Runs argv[0] (searched on PATH), stdin from `in` (in_len bytes, may be NULL), stdout and stderr
 * captured. Returns PM_OK whenever the child was started and reaped; look at r->end. */
PmStatus pm_run(const char *const *argv, const void *in, size_t in_len, const PmLimits *lim, PmProcResult *r,
		PmErr *err);

/* Forks; the child closes every descriptor but its channel and stderr, applies `lim`, runs fn(arg, out)
 * and exits with fn's return value (0..255); what fn left in `out` is sent back whole. stdout of the
 * child goes to stderr's capture. Signals and deadline as above. `input` of any size reaches the child
 * by fork, through `arg`. */
typedef int (*PmForkFn)(void *arg, PmStr *out);
PmStatus pm_fork_call(PmForkFn fn, void *arg, const PmLimits *lim, PmProcResult *r, PmErr *err);

/* One sentence about how a child ended: "was killed by signal 11 (Segmentation fault)". */
void pm_proc_describe(const PmProcResult *r, PmStr *out);

double pm_now(void);        /* monotonic seconds */
double pm_wall_clock(void); /* seconds since 1970, to a millisecond: finer ones say nothing */

#endif
