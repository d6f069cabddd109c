/* sandbox_priv.h - the parts of the sandbox (private to base/). */
#ifndef BASE_SANDBOX_PRIV_H
#define BASE_SANDBOX_PRIV_H

#include "base/sandbox.h"

/* Whose system calls are left (sandbox_filter.c). */
typedef enum {
	PM__CALLS_PLUGIN,  /* memory, writing to 1 and 2, ending; only from the C library's code */
	PM__CALLS_KERNEL,  /* and protection of memory, signals of its own, writing to 3 */
	PM__CALLS_SERVING, /* and reading from 0 */
	PM__CALLS_LIBRARY, /* all but a list that no compiler needs; and no other programs */
	PM__CALLS_PROGRAM, /* all but that list */
} Pm__Calls;

/* Installs the filter for this process; 0, or -1 when the kernel has none. */
int pm__filter_install(Pm__Calls calls);

/* Denies every access to files and TCP, and signals to other processes, but for the paths given, which may be
 * NULL (sandbox_landlock.c). 1 when it holds. */
int pm__landlock(const PmSandboxPaths *p);

/* 1 when a child that has entered and then does what `layer` (PM_BOX_FILTER, PM_BOX_NO_CLOCK) forbids is
 * killed for it. */
int pm__sandbox_stops(unsigned (*enter)(void), unsigned layer);

#endif
