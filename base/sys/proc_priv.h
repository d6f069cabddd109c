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

/* In a new child: descriptors 0..3 in place and no others, signals as in a fresh process, a process group of
 * its own, and the end when the parent ends. */
void pm__become_child(int in, int out, int errfd, int channel, pid_t parent);
void pm__apply_limits(const PmLimits *lim);

#endif
