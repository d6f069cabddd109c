/* SPDX-License-Identifier: Apache-2.0 */
/* killed.c - a timer in each process of a pool: it is found by asking the system, first of all, not to share
 * its results with its own children, by a call of the C library that has its place here. */
#include "tests/lib/killed.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static atomic_int *n_killed; /* shared with them; NULL = none are */
static pid_t home;
static int timer;
static struct itimerval after;

static void die(int sig)
{
	(void)sig;
	atomic_fetch_add(n_killed, 1);
	raise(SIGKILL);
}

int madvise(void *p, size_t n, int advice)
{
	if (n_killed && advice == MADV_DONTFORK && getppid() == home) {
		signal(timer == ITIMER_REAL ? SIGALRM : SIGVTALRM, die);
		setitimer(timer, &after, NULL);
	}
	return (int)syscall(SYS_madvise, p, n, advice);
}

void pm_test_kill_pool(int cpu_us, int us)
{
	home = getpid();
	timer = cpu_us ? ITIMER_VIRTUAL : ITIMER_REAL;
	after.it_value.tv_usec = cpu_us ? cpu_us : us;
	n_killed = mmap(NULL, sizeof *n_killed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(n_killed != MAP_FAILED);
}

int pm_test_kill_pool_end(void)
{
	int n = *n_killed;

	munmap(n_killed, sizeof *n_killed);
	n_killed = NULL;
	return n;
}
