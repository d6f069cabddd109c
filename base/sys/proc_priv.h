/* SPDX-License-Identifier: Apache-2.0 */
/* proc_priv.h - what starting a child takes, shared by proc.c and serve.c. */
#ifndef BASE_PROC_PRIV_H
#define BASE_PROC_PRIV_H

#include "base/sys/proc.h"

#include <sys/types.h>

enum {
	PM__CHANNEL = 3,       /* the child's descriptor for its answers, or for exec's errno */
	PM__EXEC_FAILED = 127, /* exit status after a failed exec, as in the shell */
};

/* A pipe whose ends stay clear of 0..3, which the child's dup2 calls overwrite. -1 and errno on failure. */
int pm__make_pipe(int fd[2]);
void pm__close_fd(int *fd); /* closes unless -1, which it becomes */

/* A deadline that a busy machine does not shorten: time in which the child was ready to run, and had no
 * processor, does not count, up to PM__STARVED_TIMES the deadline. */
typedef struct PmDeadline {
	pid_t group;           /* the child, which leads its process group */
	double seconds, began; /* as given, < 0 = none; pm_now() at the beginning */
	double before;         /* seconds that the child had waited until then */
	double starved;        /* and since then, as last read */
	/* The last look: processor time of the child's processes, and since when it has not grown although
	 * one of them is ready to run. */
	double used, stuck_since;
} PmDeadline;
enum { PM__STARVED_TIMES = 100 };
void pm__deadline_begin(PmDeadline *d, pid_t group, double seconds); /* seconds <= 0: none */
/* Seconds that are left: above 0, 0 when it is over, or -1 when there is none. */
double pm__deadline_rest(PmDeadline *d);

/* In a new child: descriptors 0..3 in place and no others, signals as in a fresh process, a process group of
 * its own, and the end when the parent ends. */
void pm__become_child(int in, int out, int errfd, int channel, pid_t parent);
void pm__apply_limits(const PmLimits *lim);

#endif
