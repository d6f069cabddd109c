/* SPDX-License-Identifier: Apache-2.0 */
/* emu_fault.c - turns a fault of a running kernel into a record and goes back to the launch.
 *
 * The handler runs on a stack of its own (the kernel's may have overflowed). It does not return: it leaves
 * the kernel's fiber for good. Signals are not blocked while it runs (SA_NODEFER), so nothing has to be
 * restored. Faults outside a launch go to whoever had the signal before, for instance AddressSanitizer.
 */
#include "runtime/emu/emu_priv.h"

#include "base/core/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STACK_BYTES = 256 * 1024 };

static const int signals[4] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
static _Thread_local PmEmuRun *current;
static _Thread_local PmEmuSignals *installed;

/* 1 when the faulting access was a write, 0 a read, -1 where the machine does not tell. */
static int was_write(const ucontext_t *u)
{
#if defined(__x86_64__)
	return (u->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#elif defined(__aarch64__)
	const unsigned char *p = (const unsigned char *)u->uc_mcontext.__reserved;
	size_t at = 0;

	while (at + 16 <= sizeof u->uc_mcontext.__reserved) {
		uint32_t magic, size;
		uint64_t esr;

		memcpy(&magic, p + at, sizeof magic);
		memcpy(&size, p + at + 4, sizeof size);
		if (!magic || size < 8)
			break;
		if (magic == 0x45535201) { /* the exception syndrome register */
			memcpy(&esr, p + at + 8, sizeof esr);
			return (int)(esr >> 6 & 1);
		}
		at += size;
	}
	return -1;
#else
	(void)u;
	return -1;
#endif
}

static void on_fault(int sig, siginfo_t *si, void *context)
{
	PmEmuRun *r = current;
	int i;

	if (!r) {
		for (i = 0; i < 4; i++)
			if (signals[i] == sig && installed)
				sigaction(sig, &installed->old[i], NULL);
		if (!installed)
			signal(sig, SIG_DFL);
		return; /* the instruction faults again, for the older handler */
	}
	current = NULL;
	r->s.failed = 1;
	r->fault.signal = sig;
	r->fault.addr = si->si_addr;
	r->fault.wild = sig == SIGSEGV && si->si_code != SEGV_MAPERR && si->si_code != SEGV_ACCERR;
	r->fault.write = was_write(context);
	pm__fiber_leave(r->s.main);
}

PmStatus pm__emu_signals_open(PmEmuSignals *s, PmErr *err)
{
	stack_t st;

	memset(s, 0, sizeof *s);
	memset(&st, 0, sizeof st);
	s->stack = pm_xmalloc(STACK_BYTES);
	st.ss_sp = s->stack;
	st.ss_size = STACK_BYTES;
	if (sigaltstack(&st, &s->old_stack) != 0) {
		free(s->stack);
		s->stack = NULL;
		return pm_err(err, PM_E_INTERNAL,
			      "The emulated device cannot set up its signal stack (%s); run it on a thread "
			      "that is not handling a signal.",
			      strerror(errno));
	}
	return PM_OK;
}

void pm__emu_signals_close(PmEmuSignals *s)
{
	if (!s->stack)
		return;
	sigaltstack(&s->old_stack, NULL);
	free(s->stack);
	s->stack = NULL;
}

void pm__emu_signals_enter(PmEmuSignals *s, PmEmuRun *r)
{
	struct sigaction a;
	int i;

	memset(&a, 0, sizeof a);
	a.sa_sigaction = on_fault;
	a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	sigemptyset(&a.sa_mask);
	installed = s;
	current = r;
	for (i = 0; i < 4; i++)
		sigaction(signals[i], &a, &s->old[i]);
}

void pm__emu_signals_leave(PmEmuSignals *s)
{
	int i;

	current = NULL;
	for (i = 0; i < 4; i++)
		sigaction(signals[i], &s->old[i], NULL);
	installed = NULL;
}
