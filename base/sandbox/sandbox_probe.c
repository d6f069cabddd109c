/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_probe.c - trying the sandbox: children enter it and do what it forbids.
 *
 * What a box says of itself is not believed. The filter's tries end by SIGSYS, one child each; those that
 * have to fail but not to kill say so by their exit status. The clock's tries fault, and one child makes them
 * all.
 */
#include "base/sandbox/sandbox_priv.h"

#include "base/core/arena.h"
#include "base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Exit statuses of a child that did a forbidden thing. */
enum { REFUSED = 90, WENT_THROUGH = 91 };

enum { PROBE_TRIES = 3 }; /* of a child that is killed from outside */

typedef struct Try {
	const char *what;
	void (*act)(void);
	enum { MUST_KILL, MAY_FAIL, MAY_FAULT } may; /* how it may end besides by SIGSYS */
} Try;

static _Noreturn void went(int through)
{
	_exit(through ? WENT_THROUGH : REFUSED);
}

/* ---- the filter ---- */

/* A page of the C library's code, and one of memory. */
static char *code_page(void)
{
	static ssize_t (*const fn)(int, const void *, size_t) = write;
	uintptr_t at;

	memcpy(&at, &fn, sizeof at);
	return (char *)(at & ~(uintptr_t)4095);
}

static char data_page[8192];

static char *memory_page(void)
{
	return (char *)(((uintptr_t)data_page + 4095) & ~(uintptr_t)4095);
}

#define CALL(name, ...)                                                                                      \
	static void name(void)                                                                               \
	{                                                                                                    \
		went(syscall(__VA_ARGS__) != -1);                                                            \
	}

#define NEW (MAP_PRIVATE | MAP_ANONYMOUS)

CALL(not_listed, SYS_getppid)
CALL(thread, SYS_clone, 0x10f00L, 0L, 0L, 0L, 0L)
CALL(clock_by_call, SYS_clock_gettime, CLOCK_REALTIME_COARSE, data_page)
CALL(cpu_by_call, SYS_getcpu, data_page, 0L, 0L)
CALL(move, SYS_mremap, memory_page(), 4096L, 4096L, (long)MREMAP_MAYMOVE)
CALL(move_over_code, SYS_mremap, memory_page(), 4096L, 4096L, (long)(MREMAP_MAYMOVE | MREMAP_FIXED),
     code_page())
CALL(map_over_code, SYS_mmap, code_page(), 4096L, (long)PROT_READ, (long)(NEW | MAP_FIXED), -1L, 0L)
CALL(map_somewhere, SYS_mmap, 1L << 32, 4096L, (long)PROT_READ, (long)NEW, -1L, 0L)
CALL(map_code, SYS_mmap, 0L, 4096L, (long)(PROT_READ | PROT_EXEC), (long)NEW, -1L, 0L)
CALL(map_file, SYS_mmap, 0L, 4096L, (long)PROT_READ, (long)MAP_PRIVATE, 1L, 0L)
CALL(map_shared, SYS_mmap, 0L, 4096L, (long)PROT_READ, (long)(MAP_SHARED | MAP_ANONYMOUS), -1L, 0L)
CALL(unmap_code, SYS_munmap, code_page(), 4096L)
CALL(unmap_up_to_code, SYS_munmap, code_page() - (1L << 30), (1L << 30) + 4096L)
CALL(make_executable, SYS_mprotect, memory_page(), 4096L, (long)(PROT_READ | PROT_EXEC))
CALL(make_code_writable, SYS_mprotect, code_page(), 4096L, (long)(PROT_READ | PROT_WRITE))
CALL(write_to_self, SYS_process_vm_writev, 0L, 0L, 0L, 0L, 0L, 0L)
CALL(handle_faults, SYS_userfaultfd, 0L)
#ifdef SYS_remap_file_pages
CALL(remap_pages, SYS_remap_file_pages, code_page(), 4096L, 0L, 0L, 0L)
#endif
#ifdef SYS_pkey_mprotect
CALL(protect_by_key, SYS_pkey_mprotect, code_page(), 4096L, (long)PROT_READ, -1L)
#endif

#if defined(__x86_64__)
static void own_call(void)
{
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"((long)SYS_brk), "D"(0L) : "rcx", "r11", "memory");
	went(1);
}

/* The page at a fixed address through which old programs ask for the time. */
static void old_time_page(void)
{
	typedef long Time(long *);
	uintptr_t at = 0xffffffffff600400;
	Time *f;

	memcpy(&f, &at, sizeof f);
	went(f(NULL) != -1);
}
#endif

static const Try filter_tries[] = {
	{ "a system call that is not listed", not_listed, MUST_KILL },
	{ "a thread", thread, MUST_KILL },
	{ "clock_gettime as a system call", clock_by_call, MUST_KILL },
	{ "getcpu as a system call", cpu_by_call, MUST_KILL },
	{ "mremap", move, MAY_FAIL },
	{ "mremap over code", move_over_code, MUST_KILL },
	{ "mmap over code", map_over_code, MUST_KILL },
	{ "mmap at an address", map_somewhere, MUST_KILL },
	{ "mmap of executable memory", map_code, MUST_KILL },
	{ "mmap of a file", map_file, MUST_KILL },
	{ "mmap of shared memory", map_shared, MUST_KILL },
	{ "munmap of code", unmap_code, MUST_KILL },
	{ "munmap that reaches code", unmap_up_to_code, MUST_KILL },
	{ "mprotect to executable", make_executable, MUST_KILL },
	{ "mprotect of code", make_code_writable, MUST_KILL },
	{ "process_vm_writev", write_to_self, MUST_KILL },
	{ "userfaultfd", handle_faults, MUST_KILL },
#ifdef SYS_remap_file_pages
	{ "remap_file_pages", remap_pages, MUST_KILL },
#endif
#ifdef SYS_pkey_mprotect
	{ "pkey_mprotect", protect_by_key, MUST_KILL },
#endif
#if defined(__x86_64__)
	{ "a system call of its own", own_call, MUST_KILL },
	{ "the old page of the time", old_time_page, MAY_FAULT },
#endif
};

/* ---- the clock ---- */

static jmp_buf after_fault;

static void on_fault(int sig)
{
	(void)sig;
	longjmp(after_fault, 1);
}

static unsigned char *time_page;
static volatile uint64_t sink;
static volatile clockid_t clock_id;

static void read_page(void)
{
	sink = *(volatile unsigned char *)time_page;
}

static void ask_clock(void)
{
	struct timespec t;

	clock_gettime(clock_id, &t);
}

static void ask_time_of_day(void)
{
	struct timeval t;

	gettimeofday(&t, NULL);
}

static void ask_seconds(void)
{
	sink = (uint64_t)time(NULL);
}

/* The kernel's note of each interruption: gone when the area is not registered any more. */
static void count_interruptions(void)
{
	if (!pm__clock_counts_interruptions())
		longjmp(after_fault, 1);
}

#if defined(__x86_64__)
static void counter(void)
{
	sink = __builtin_ia32_rdtsc();
}

static void counter_and_cpu(void)
{
	unsigned cpu;

	sink = __builtin_ia32_rdtscp(&cpu);
}

static void performance_counter(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(1u << 30));
	sink = lo + hi;
}
#endif

static const Try clock_tries[] = {
	{ "the kernel's page of the time", read_page, MAY_FAULT },
	{ "the kernel's note of interruptions", count_interruptions, MAY_FAULT },
	{ "gettimeofday", ask_time_of_day, MAY_FAULT },
	{ "time", ask_seconds, MAY_FAULT },
#if defined(__x86_64__)
	{ "rdtsc", counter, MAY_FAULT },
	{ "rdtscp", counter_and_cpu, MAY_FAULT },
	{ "rdpmc", performance_counter, MAY_FAULT },
#endif
};

/* Clocks that are read from the page; the C library makes a system call for others, which the filter's tries
 * look at. */
static const clockid_t clock_ids[] = {
	CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE,
	CLOCK_BOOTTIME, CLOCK_TAI
};

enum {
	N_CLOCK_TRIES = sizeof clock_tries / sizeof *clock_tries,
	N_CLOCKS = sizeof clock_ids / sizeof *clock_ids
};

/* Comes back when each of them faulted; else ends with the number of the one that did not, from 1. */
static void try_clocks(void)
{
	static volatile int next;

	setjmp(after_fault); /* each fault comes back here, to the next one */
	if (next < N_CLOCK_TRIES) {
		clock_tries[next++].act();
		_exit(next);
	}
	if (next < N_CLOCK_TRIES + N_CLOCKS) {
		clock_id = clock_ids[next++ - N_CLOCK_TRIES];
		ask_clock();
		_exit(next);
	}
}

static const char *clock_name(int number)
{
	if (number < 1 || number > N_CLOCK_TRIES + N_CLOCKS)
		return "a clock";
	return number <= N_CLOCK_TRIES ? clock_tries[number - 1].what : "clock_gettime";
}

/* ---- children ---- */

typedef struct Probe {
	unsigned (*enter)(void);
	unsigned layer; /* 0: enter only */
} Probe;

/* The child borrows this process's memory (that is what vfork is on Linux), which costs a tenth of a copy:
 * what it does to it ends with this process too, which does nothing else. */
static int status_of_try(const Probe *p, const Try *t)
{
	pid_t child = vfork(), ended;
	int status = 0;

	if (child == 0) {
		alarm(10);
		p->enter();
		t->act();
		_exit(WENT_THROUGH);
	}
	do
		ended = child > 0 ? waitpid(child, &status, 0) : -1;
	while (child > 0 && ended < 0 && errno == EINTR);
	return ended < 0 ? WENT_THROUGH << 8 : status;
}

static int stopped(const Try *t, int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS || (t->may == MAY_FAULT && WTERMSIG(status) == SIGSEGV);
	return t->may == MAY_FAIL && WIFEXITED(status) && WEXITSTATUS(status) == REFUSED;
}

/* A try that somebody killed from outside, which no layer does, tells nothing: it is made again. */
static int was_stopped(const Probe *p, const Try *t)
{
	int status = 0;

	for (int n = 0; n < PROBE_TRIES; n++) {
		status = status_of_try(p, t);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			break;
	}
	return stopped(t, status);
}

/* Names the first that went through. */
static void run_filter_tries(const Probe *p, PmStr *out)
{
	for (size_t i = 0; i < sizeof filter_tries / sizeof *filter_tries && !out->len; i++)
		if (!was_stopped(p, &filter_tries[i]))
			pm_str_add(out, filter_tries[i].what);
}

static int probe_child(void *arg, PmStr *out)
{
	const struct sigaction act = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	const Probe *p = arg;

	pm__clock_find();
	if (p->layer == PM_BOX_FILTER) {
		run_filter_tries(p, out);
		return 0;
	}
	if (!p->layer)
		return (int)p->enter();
	time_page = (unsigned char *)getauxval(AT_SYSINFO_EHDR);
	sigaction(SIGSEGV, &act, NULL);
	p->enter();
	try_clocks();
	return 0;
}

static PmStatus probe_once(Probe *p, PmProcResult *r, PmErr *err)
{
	PmLimits lim = { .seconds = 30, .file_size = -1, .tries = PROBE_TRIES };

	return pm_fork_call(probe_child, p, &lim, r, err);
}

int pm__sandbox_stops(unsigned (*enter)(void), unsigned layer, const char **hole)
{
	static _Thread_local char name[80];
	Probe p = { enter, layer };
	const char *found = NULL;
	PmProcResult r;

	if (probe_once(&p, &r, NULL)) {
		found = "no child could be started";
	} else {
		if (r.end != PM_PROC_EXITED)
			found = "the child that tries it ended otherwise";
		else if (layer == PM_BOX_NO_CLOCK && r.code)
			found = clock_name(r.code);
		else if (r.out.len)
			found = r.out.s;
		if (found) {
			snprintf(name, sizeof name, "%s", found);
			found = name;
		}
		pm_proc_result_release(&r);
	}
	if (hole)
		*hole = found;
	return !found;
}

static PmStatus probe(unsigned (*enter)(void), unsigned (*close_off)(void), unsigned *layers, PmErr *err)
{
	static const unsigned deadly[] = { PM_BOX_FILTER, PM_BOX_NO_CLOCK };
	Probe p = { enter, 0 };
	PmProcResult r;
	PmStatus st = probe_once(&p, &r, err);

	*layers = 0;
	if (st)
		return st;
	if (r.end == PM_PROC_EXITED && r.code <= PM_BOX_ALL)
		*layers = (unsigned)r.code;
	else
		st = pm_err(err, PM_E_INTERNAL, "The sandbox could not be tried.");
	pm_proc_result_release(&r);
	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		if (*layers & deadly[i] && !pm__sandbox_stops(close_off, deadly[i], NULL))
			*layers &= ~deadly[i];
	return st;
}

static unsigned enter_kernels(void)
{
	static const char *const none[] = { NULL };

	return pm_sandbox_close(pm_sandbox_load(none, 0), 0);
}

/* The steps that a try is about; namespaces, which cost most, make no difference to it. */
static unsigned close_plugin(void)
{
	return pm__close_off(PM__CALLS_PLUGIN);
}

static unsigned close_kernels(void)
{
	return pm__close_off(PM__CALLS_KERNEL);
}

PmStatus pm_sandbox_probe(unsigned *layers, PmErr *err)
{
	return probe(pm_sandbox_enter, close_plugin, layers, err);
}

PmStatus pm_sandbox_probe_kernels(unsigned *layers, PmErr *err)
{
	return probe(enter_kernels, close_kernels, layers, err);
}
