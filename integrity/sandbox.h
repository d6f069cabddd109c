/* sandbox.h - what a process that runs a plugin's code can still do: compute, take memory, write its answer.
 *
 * Layers, each on its own enough against most attacks:
 *   namespaces   user, network, IPC, mount: nothing of the machine is named
 *   landlock     every access to files is denied
 *   no clock     the time-stamp counter faults, and with it the clock calls that need no system call
 *   filter       a system call outside a short list, or from code that is not the C library's, kills the
 * process and always: no new privileges, no descriptors but two, no core, hidden from ptrace.
 *
 * A kernel may lack a layer; what is missing is reported (pm_sandbox_probe), never silently accepted.
 */
#ifndef INTEGRITY_SANDBOX_H
#define INTEGRITY_SANDBOX_H

#include "base/err.h"
#include "base/str.h"

enum {
	PM_BOX_FILTER = 1,
	PM_BOX_LANDLOCK = 2,
	PM_BOX_NAMESPACES = 4,
	PM_BOX_NO_CLOCK = 8,
	PM_BOX_ALL = 15,
};

/* Enters the sandbox; there is no way back. Descriptors 1 and 2 stay open. Single-threaded callers only.
 * Returns the layers that hold (PM_BOX_*). In a build with a sanitizer, whose run time needs more system
 * calls, the filter and the clock are left alone. */
unsigned pm_sandbox_enter(void);

/* For a process that compiles a stranger's source: no files, no descriptors but 1 to 3, no new ones, no
 * network, no new privileges. System calls are not filtered: a compiler needs many. Returns the layers that
 * hold. */
unsigned pm_sandbox_enter_compiler(void);

/* Turns faults of the plugin into an exit with status PM__CHILD_SANDBOX and a sentence on descriptor 2, when
 * the cause is something that the sandbox forbids: reading the time-stamp counter, writing to memory that is
 * not the plugin's, overflowing the stack. Other faults end the process by their signal. Call before
 * pm_sandbox_enter. */
void pm_sandbox_name_faults(void);

/* Tries the sandbox in a child: the layers that this machine has. */
PmStatus pm_sandbox_probe(unsigned *layers, PmErr *err);
/* Appends the names of the given layers, separated by ", "; "none" for none. */
void pm_sandbox_names(unsigned layers, PmStr *out);

#endif
