/* SPDX-License-Identifier: Apache-2.0 */
/* emu_fiber.c - stacks that take turns on one thread. */
#include "runtime/emu/emu_fiber.h"

#include "base/core/arena.h"
#include "base/core/asan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if PM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* -DFIBER_UCONTEXT tries the portable way where there is a faster one. */
#if !defined(FIBER_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define FIBER_UCONTEXT 1
#endif
#ifdef FIBER_UCONTEXT
#include <ucontext.h>
#endif

struct PmFiber {
#ifdef FIBER_UCONTEXT
	ucontext_t context;
#else
	void *sp; /* where the saved registers lie while the fiber does not run */
#endif
	void (*fn)(void);
	unsigned char *map; /* guard region, then the stack; NULL for the thread's own stack */
	const void *low;    /* lowest byte of the stack and its size, for AddressSanitizer */
	size_t size;
	void *fake; /* AddressSanitizer's second stack while the fiber does not run */
};

/* Stacks that all began at the same place of a page would share a few lines of the caches, and a block's
 * threads would drive each other out at every switch: each begins somewhat lower than the one before. */
enum {
	SHIFT = 5 * 64, /* an odd number of lines */
	SHIFTS = 64,
	ROOM = 64 * 1024, /* of pages of any size, above the stack */
	WHOLE = PM_FIBER_GUARD + PM_FIBER_STACK + ROOM
};
_Static_assert(ROOM >= SHIFT * SHIFTS, "a stack that begins lower has all its bytes");

static _Thread_local PmFiber *running; /* who is being switched to: read by a fiber that starts */

/* pm__fiber_asm(save, load): pushes the callee-saved registers, stores the stack pointer in *save, takes
 * `load` as stack pointer and pops what lies there. */
#if defined(__x86_64__)
__asm__(".text\n"
	".globl pm__fiber_asm\n"
	".hidden pm__fiber_asm\n"
	".type pm__fiber_asm, @function\n"
	"pm__fiber_asm:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size pm__fiber_asm, .-pm__fiber_asm\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl pm__fiber_asm\n"
	".hidden pm__fiber_asm\n"
	".type pm__fiber_asm, %function\n"
	"pm__fiber_asm:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp, #0]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size pm__fiber_asm, .-pm__fiber_asm\n");
#endif
#ifndef FIBER_UCONTEXT
void pm__fiber_asm(void **save, void *load);
#endif

#if PM_ASAN
static _Thread_local PmFiber *previous; /* NULL = one that was left for good */

/* On the stack that was switched to. Where a thread's own stack lies is learned each time one comes from it,
 * for a fiber may go on on another thread than before; that is also why this is a function of its own, which
 * asks anew where the thread's variables are. */
static __attribute__((noinline)) void arrived(void *fake)
{
	if (!previous || previous->map)
		__sanitizer_finish_switch_fiber(fake, NULL, NULL);
	else
		__sanitizer_finish_switch_fiber(fake, &previous->low, &previous->size);
}
#endif

/* The first thing a fiber does. */
static void start(void)
{
#if PM_ASAN
	arrived(NULL);
#endif
	running->fn();
	abort(); /* fn never returns */
}

static void prepare(PmFiber *f)
{
	static _Thread_local unsigned made;
	unsigned char *top = f->map + WHOLE - SHIFT * (made++ % SHIFTS);
#if defined(FIBER_UCONTEXT)
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = f->map + PM_FIBER_GUARD;
	f->context.uc_stack.ss_size = (size_t)(top - (f->map + PM_FIBER_GUARD));
	f->context.uc_link = NULL;
	makecontext(&f->context, start, 0);
#elif defined(__x86_64__)
	/* Six registers and the address `ret` takes; then the stack is as after a call: 8 modulo 16. */
	void **sp = (void **)(void *)(top - 64);
	void (*entry)(void) = start;

	memset(sp, 0, 64);
	memcpy(&sp[6], &entry, sizeof entry);
	f->sp = sp;
#else
	void **sp = (void **)(void *)(top - 160);
	void (*entry)(void) = start;

	memset(sp, 0, 160);
	memcpy(&sp[11], &entry, sizeof entry); /* x30 */
	f->sp = sp;
#endif
}

PmStatus pm__fiber_new(void (*fn)(void), PmFiber **out, PmErr *err)
{
	void *map = mmap(NULL, WHOLE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	PmFiber *f;

	if (map == MAP_FAILED || mprotect((unsigned char *)map + PM_FIBER_GUARD, WHOLE - PM_FIBER_GUARD,
					  PROT_READ | PROT_WRITE) != 0) {
		if (map != MAP_FAILED)
			munmap(map, WHOLE);
		return pm_err(err, PM_E_LIMIT,
			      "The emulated device cannot get %d KiB for the stack of one more CUDA thread; "
			      "raise the memory limit or use smaller blocks.",
			      PM_FIBER_STACK / 1024);
	}
	f = pm_xcalloc(1, sizeof *f);
	f->fn = fn;
	f->map = map;
	f->low = f->map + PM_FIBER_GUARD;
	f->size = WHOLE - PM_FIBER_GUARD;
	prepare(f);
	*out = f;
	return PM_OK;
}

PmFiber *pm__fiber_main(void)
{
	return pm_xcalloc(1, sizeof(PmFiber));
}

void pm__fiber_free(PmFiber *f)
{
	if (!f)
		return;
	if (f->map) {
#if PM_ASAN
		/* A fiber that was left for good may have poisoned parts of its stack. */
		__asan_unpoison_memory_region(f->low, f->size);
#endif
		munmap(f->map, WHOLE);
	}
	free(f);
}

void pm__fiber_switch(PmFiber *from, PmFiber *to)
{
	running = to;
#if PM_ASAN
	previous = from;
	__sanitizer_start_switch_fiber(&from->fake, to->low, to->size);
#endif
#ifdef FIBER_UCONTEXT
	swapcontext(&from->context, &to->context);
#else
	pm__fiber_asm(&from->sp, to->sp);
#endif
#if PM_ASAN
	arrived(from->fake);
#endif
}

void pm__fiber_leave(PmFiber *to)
{
	running = to;
#if PM_ASAN
	previous = NULL;
	__sanitizer_start_switch_fiber(NULL, to->low, to->size);
#endif
#ifdef FIBER_UCONTEXT
	setcontext(&to->context);
#else
	{
		void *unused;
		pm__fiber_asm(&unused, to->sp);
	}
#endif
}

int pm__fiber_overflowed(const PmFiber *f, const void *addr)
{
	uintptr_t a = (uintptr_t)addr, low = (uintptr_t)f->map;

	return f->map && a >= low && a < low + PM_FIBER_GUARD;
}
