/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.h - what a process that handles a stranger's code can still do.
 *
 * Layers, each on its own enough against most attacks:
 *   namespaces   user, network, IPC, mount: nothing of the machine is named
 *   landlock     every access to files is denied, but to those that are given
 *   no clock     the time-stamp counter faults; the kernel's pages that tell the time are unmapped
 *   filter       a system call outside a short list, or from code that is not the C library's, kills the
 *                process; code stays where it is
 * and always: no new privileges, no core, hidden from ptrace.
 *
 * Who enters which: a pass and an emulated kernel run in all four (pm_sandbox_enter, pm_sandbox_load and
 * pm_sandbox_close); compilers, which need many system calls and their own files, in the first two and a
 * filter that knows what no compiler needs. A kernel may lack a layer; what is missing is reported
 * (pm_sandbox_probe), never silently accepted. All are for single-threaded callers, and there is no way back.
 */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include "base/core/err.h"
#include "base/core/str.h"

enum {
	PM_BOX_FILTER = 1,
	PM_BOX_LANDLOCK = 2,
	PM_BOX_NAMESPACES = 4,
	PM_BOX_NO_CLOCK = 8,
	PM_BOX_ALL = 15,
};

/* For a process that calls into a plugin: compute, take memory, write to descriptors 1 and 2, which alone
 * stay open. Nothing in it can ask for the time afterwards. Returns the layers that hold (PM_BOX_*). In a
 * build with a sanitizer, whose run time needs more system calls, the filter and the clock are left alone. */
unsigned pm_sandbox_enter(void);

/* For a process that compiles a stranger's source with a library: no files, no descriptors but 1 to 3, no new
 * ones, no network, no other programs. Returns the layers that hold. */
unsigned pm_sandbox_enter_compiler(void);

/* Folders and files of a program that reads a stranger's source. Lists end with NULL; what does not exist is
 * left out. */
typedef struct PmSandboxPaths {
	const char *const *run;  /* may be read, and run as programs */
	const char *const *read; /* may be read */
	const char *write;       /* a folder in which anything may be done */
} PmSandboxPaths;

/* For a child that is about to become such a program: those files, no network, no new privileges, and none
 * of the system calls that no compiler makes. Descriptors stay as they are. Returns the layers that hold. */
unsigned pm_sandbox_enter_tool(const PmSandboxPaths *p);

/* For a process that runs emulated kernels, in two steps. load: descriptors 1 to 3 stay open, the given files
 * (list ends with NULL) may still be opened to read, everything else is gone. close: compute, take memory
 * that is not executable, change its protection and handle its own signals, write to descriptors 1 to 3.
 * Both return the layers that hold; close those of both together when it is given what load returned.
 * `serving`: requests go on coming on descriptor 0, which stays open to be read. After close nothing in the
 * process can ask for the time: deadlines are the parent's. */
unsigned pm_sandbox_load(const char *const *files, int serving);
unsigned pm_sandbox_close(unsigned loaded, int serving);

/* 1 when a page at this address told the time before the sandbox took it away: for who explains a fault. */
int pm_sandbox_told_time(const void *address);

/* Tries the sandbox of plugins in children: the layers that this machine has. One that kills is there only
 * when it has ended children that did what it forbids: each kind of clock, and each way to move or overlay
 * code that Linux offers (sandbox_probe.c). */
PmStatus pm_sandbox_probe(unsigned *layers, PmErr *err);
/* The same for emulated kernels. */
PmStatus pm_sandbox_probe_kernels(unsigned *layers, PmErr *err);
/* From now on a process that runs a pass, or emulated kernels, has to hold these layers at least, or ends
 * before anything of a stranger's runs in it: what a report says of its machine has to be so in each child.
 * For the caller's process and what it forks or starts; 0 and 0 at first, which ask for nothing. */
void pm_sandbox_require(unsigned passes, unsigned kernels);
unsigned pm_sandbox_required(void);         /* of a process that runs a pass */
unsigned pm_sandbox_required_kernels(void); /* of one that runs emulated kernels */
/* Appends what this process lacks of the given layers, after it has entered: "namespaces (error 28, No space
 * left on device)", the error of the step that failed; no error for a layer that was not tried. */
void pm_sandbox_lost(unsigned layers, PmStr *out);
/* Appends the names of the given layers, separated by ", "; "none" for none. */
void pm_sandbox_names(unsigned layers, PmStr *out);

#endif
