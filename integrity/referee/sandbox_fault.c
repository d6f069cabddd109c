/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_fault.c - why a plugin faulted, as far as the answer is "it tried something forbidden".
 *
 * The handler runs in the plugin's process, which could replace it; all it could gain is another way to fail.
 */
#include "integrity/referee/sandbox_fault.h"

#include "base/sandbox/sandbox.h"
#include "matcher/host/pass_job.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK = 64 << 10, NEAR = 1 << 20 };

static char alternate[STACK];

/* A frame of the host that the plugin's frames lie below: a stack does not overflow upwards. */
static uintptr_t host_frame;

static void stop(const char *why)
{
	if (write(2, why, strlen(why)) < 0)
		_exit(PM__CHILD_SANDBOX + 1);
	_exit(PM__CHILD_SANDBOX);
}

#if defined(__x86_64__)
/* rdtsc and rdtscp. */
static int reads_clock(const ucontext_t *u)
{
	const unsigned char *ip = (const unsigned char *)u->uc_mcontext.gregs[REG_RIP];

	return ip && ip[0] == 0x0f && (ip[1] == 0x31 || (ip[1] == 0x01 && ip[2] == 0xf9));
}

static uintptr_t stack_pointer(const ucontext_t *u)
{
	return (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
}
#else
static int reads_clock(const ucontext_t *u)
{
	(void)u;
	return 0;
}

static uintptr_t stack_pointer(const ucontext_t *u)
{
	return (uintptr_t)u->uc_mcontext.sp;
}
#endif

static int overflows_stack(uintptr_t at, uintptr_t sp)
{
	return at < host_frame && at + NEAR > sp && at < sp + NEAR;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;
	uintptr_t at = (uintptr_t)info->si_addr, sp = stack_pointer(u);

	if (info->si_code != SI_KERNEL && pm_sandbox_told_time(info->si_addr))
		stop("looked for the time where the kernel keeps it; a pass has no clock.");
	if (info->si_code == SI_KERNEL && reads_clock(u))
		stop("read the time-stamp counter; a pass has no clock.");
	if (sig == SIGSEGV && info->si_code != SI_KERNEL && overflows_stack(at, sp))
		stop("overflowed its stack.");
	if (sig == SIGSEGV && info->si_code == SEGV_ACCERR)
		stop("touched memory that is protected from it, such as the host's tables.");
	/* Anything else happens once more, without a handler (SA_RESETHAND). */
}

void pm_sandbox_name_faults(void)
{
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof alternate };
	struct sigaction act = { .sa_sigaction = on_fault,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND };

	host_frame = (uintptr_t)__builtin_frame_address(0);
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
}
