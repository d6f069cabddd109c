/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_clock.c - taking the clock away: the counter's instructions, and the pages that tell the time.
 *
 * The kernel maps code that reads the time without a system call ([vdso]) and the numbers that it reads
 * ([vvar], [vvar_vclock]). The coarse clocks there need no counter, so that a counter that faults does not
 * stop them: the pages themselves go. Afterwards the C library's functions that ask for the time fault too.
 *
 * What cannot be taken away: RDPID and LSL give the number of the processor, which is no time.
 */
#include "base/sandbox/sandbox_priv.h"

#include "base/core/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>
#define HAVE_RSEQ 1
#endif
#endif

enum { MAX_RANGES = 8 };

/* Where they are; found before the sandbox closes /proc, used when it closes the rest. */
static struct {
	int n, known;
	struct {
		uintptr_t from, to;
	} range[MAX_RANGES];
} pages;

static int read_maps(PmStr *out)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char chunk[4096];
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			pm_str_addn(out, chunk, (size_t)n);
	close(fd);
	return n < 0 ? -1 : 0;
}

/* A program returns from a signal handler through [vdso] where the processor is no x86-64. */
static int tells_time(const char *line)
{
#if defined(__x86_64__)
	if (strstr(line, "[vdso]"))
		return 1;
#endif
	return strstr(line, "[vvar") != NULL;
}

void pm__clock_find(void)
{
	PmStr maps = PM_STR_INIT;
	char *line, *rest;

	pages.n = 0;
	pages.known = read_maps(&maps) == 0;
	for (line = maps.s; pages.known && *line; line = rest) {
		uintptr_t from, to;

		rest = line + strcspn(line, "\n");
		if (*rest)
			*rest++ = 0;
		if (!tells_time(line) || sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) != 2)
			continue;
		if (pages.n == MAX_RANGES) {
			pages.known = 0;
			break;
		}
		pages.range[pages.n].from = from;
		pages.range[pages.n++].to = to;
	}
	pm_str_release(&maps);
}

#ifdef HAVE_RSEQ
static struct rseq *rseq_area(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}
#endif

int pm__clock_counts_interruptions(void)
{
#ifdef HAVE_RSEQ
	return __rseq_size && (int32_t)rseq_area()->cpu_id >= 0;
#else
	return 0;
#endif
}

/* The kernel writes into this area whenever the process was interrupted: a counter of that would be a clock.
 * It has to be told the size that it was given, which is this one or the one that the library names. */
static void leave_rseq(void)
{
#ifdef HAVE_RSEQ
	if (__rseq_size && syscall(SYS_rseq, rseq_area(), 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) != 0)
		syscall(SYS_rseq, rseq_area(), __rseq_size, RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
#endif
}

int pm_sandbox_told_time(const void *address)
{
	uintptr_t at = (uintptr_t)address;

	for (int i = 0; i < pages.n; i++)
		if (at >= pages.range[i].from && at < pages.range[i].to)
			return 1;
	return 0;
}

int pm__clock_drop(void)
{
	int gone = pages.known;

	leave_rseq();
	errno = 0; /* of the steps that count */
	/* Nothing takes their place, so that who looks there faults every time. A kernel may have sealed
	 * them. */
	for (int i = 0; i < pages.n; i++)
		if (mmap((void *)pages.range[i].from, pages.range[i].to - pages.range[i].from, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
			gone = 0;
#if defined(__x86_64__)
	return prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0 && gone;
#else
	(void)gone; /* the processor's own counter stays */
	return 0;
#endif
}
