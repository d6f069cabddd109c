/* SPDX-License-Identifier: Apache-2.0 */
/* emu_fiber.h - stacks that take turns on one thread: the emulated device's CUDA threads.
 *
 * Switching saves the callee-saved registers and nothing else (x86-64, aarch64; ucontext elsewhere). Below
 * every stack lies an inaccessible region, so that an overflow faults. Works under AddressSanitizer.
 */
#ifndef RUNTIME_EMU_FIBER_H
#define RUNTIME_EMU_FIBER_H

#include "base/core/err.h"

#include <stddef.h>

enum {
	PM_FIBER_STACK = 256 * 1024, /* bytes of one stack; touched pages only are real */
	PM_FIBER_GUARD = 64 * 1024
};

typedef struct PmFiber PmFiber;

/* A fiber that runs fn when it is first switched to; fn never returns. NULL stack memory is PM_E_LIMIT. */
PmStatus pm__fiber_new(void (*fn)(void), PmFiber **out, PmErr *err);
/* The calling thread as a fiber, so that others can switch back to it. Returns owned. */
PmFiber *pm__fiber_main(void);
void pm__fiber_free(PmFiber *f);
/* Continues `to`; returns when somebody switches to `from` again. */
void pm__fiber_switch(PmFiber *from, PmFiber *to);
/* Continues `to` for good: the running fiber will only be freed. Allowed in a signal handler. */
void pm__fiber_leave(PmFiber *to);
/* 1 when the address lies in the inaccessible region below the fiber's stack. */
int pm__fiber_overflowed(const PmFiber *f, const void *addr);

#endif
