/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - kernels compiled ahead, on this CPU: the emulated device's code without its checks.
 *
 * There are no guard pages, no signals, no watching and no counting: a kernel that reads outside a buffer
 * does what any code of the process does. What a kernel says itself is found: __trap(), a barrier that not
 * all threads reach, a collective that waits for ever. The bits are those of the device "emu".
 *
 * Needs libc alone, and of the project: base/core (arena, clean, elf, err, str) and runtime/emu (emu_entry,
 * emu_fail, emu_fiber, emu_object, emu_sched).
 */
#ifndef RUNTIME_HOST_HOST_H
#define RUNTIME_HOST_HOST_H

#include "base/core/err.h"
#include "runtime/emu/include/emu_abi.h"

#include <stddef.h>
#include <stdint.h>

/* One compiled object. Any number of threads may launch its kernels at the same time: each launch has a
 * loaded copy of the object to itself, since the object has the place of the running thread and static shared
 * memory in it. At most PM_HOST_COPIES launches run at once, others wait. Copies stay until the module is
 * unloaded. */
typedef struct PmHostModule PmHostModule;
enum { PM_HOST_COPIES = 64 };

/* Loads an object that pm_emu_object made; the bytes are not used afterwards. `label` names it in messages.
 * PM_E_INVALID when it is not such an object: what loading would run code of, or what needs a library other
 * than libm, is refused before it is loaded (pm__emu_object_judge). Whoever calls the kernels trusts them.
 * PM_E_DEVICE when a kernel has more static shared memory than a GPU lets it have. Returns owned. */
PmStatus pm_host_load(const void *object, size_t n, const char *label, PmHostModule **out, PmErr *err);
/* No launch of it may be running. NULL is allowed. */
void pm_host_unload(PmHostModule *m);

typedef struct PmHostLaunch {
	const char *entry;          /* extern "C" __global__ function */
	uint32_t grid[3], block[3]; /* blocks, and threads of a block */
	uint32_t smem;              /* bytes of dynamic shared memory */
	void *const *args;          /* args[i] points at the value of parameter i */
	const unsigned char *kinds; /* PM_EMU_POINTER, ...: what the values are; compared with the entry's */
	int n_args;
} PmHostLaunch;

/* Runs all blocks, then returns. PM_E_DEVICE for an entry that does not exist, for arguments that are not its
 * parameters, and for what the kernel did; PM_E_LIMIT for what no device launches. The module may be used
 * after an error. */
PmStatus pm_host_launch(PmHostModule *m, const PmHostLaunch *l, PmErr *err);

#endif
