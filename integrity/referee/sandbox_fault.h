/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_fault.h - why a plugin in its sandbox faulted, said by name. */
#ifndef INTEGRITY_SANDBOX_FAULT_H
#define INTEGRITY_SANDBOX_FAULT_H

/* Turns faults of the plugin into an exit with status PM__CHILD_SANDBOX and a sentence on descriptor 2, when
 * the cause is something that the sandbox forbids: reading the time-stamp counter, writing to memory that is
 * not the plugin's, overflowing the stack. Other faults end the process by their signal. Call before
 * pm_sandbox_enter. */
void pm_sandbox_name_faults(void);

#endif
