/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_priv.h - the parts of the sandbox (private to base/). */
#ifndef BASE_SANDBOX_PRIV_H
#define BASE_SANDBOX_PRIV_H

#include "base/sandbox/sandbox.h"

/* Whose system calls are left (sandbox_filter.c). */
typedef enum {
	PM__CALLS_PLUGIN,  /* new memory and giving it back, writing to 1 and 2, ending; only from the C
			    * library's code */
	PM__CALLS_KERNEL,  /* and protection of memory, signals of its own, writing to 3 */
	PM__CALLS_SERVING, /* and reading from 0 */
	PM__CALLS_LIBRARY, /* all but a list that no compiler needs; and no other programs */
	PM__CALLS_PROGRAM, /* all but that list */
} Pm__Calls;

/* The last step of a process that runs a stranger's code: no clock (pm__clock_find has looked), the filter.
 * Returns the layers that hold (sandbox.c). */
unsigned pm__close_off(Pm__Calls calls);

/* Installs the filter for this process; 0, or -1 with errno. */
int pm__filter_install(Pm__Calls calls);

/* Finds the pages that tell the time; while /proc can be read. Then unmaps them and forbids the processor's
 * counter; 1 when no clock is left, else 0 with errno, 0 where
 * the pages are not known (sandbox_clock.c). */
void pm__clock_find(void);
int pm__clock_drop(void);
/* 1 while the kernel notes each interruption of this thread where the thread can see it. */
int pm__clock_counts_interruptions(void);

/* Denies every access to files and TCP, and signals to other processes, but for the paths given, which may be
 * NULL (sandbox_landlock.c). 1 when it holds. */
int pm__landlock(const PmSandboxPaths *p);

/* Tries `layer` (PM_BOX_FILTER, PM_BOX_NO_CLOCK) of a box in children that have entered it: 1 when each thing
 * that it forbids ends its child, or fails where it only has to fail (sandbox_probe.c). *hole (may be NULL)
 * names the first thing that went through. */
int pm__sandbox_stops(unsigned (*enter)(void), unsigned layer, const char **hole);

#endif
