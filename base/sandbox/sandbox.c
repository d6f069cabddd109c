/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.c - entering the sandbox, layer by layer: the filter last, since it forbids what the others need.
 */
#include "base/sandbox/sandbox.h"

#include "base/sandbox/sandbox_priv.h"
#include "base/sys/proc.h"
#include "base/sys/threads.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* The error with which each layer failed, by bit; 0 for one that holds or was not tried. */
static int failed[4];

/* `layer` when `ok`; else 0, and why is noted. */
static unsigned held(unsigned layer, int ok)
{
	int error = ok ? 0 : errno;

	for (unsigned i = 0; i < sizeof failed / sizeof *failed; i++)
		if (layer == 1u << i)
			failed[i] = error;
	return ok ? layer : 0;
}

/* With processes of its own, the first child's end is the end of all: right for who starts none. */
static int enter_namespaces(int starts_programs)
{
	int most = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS | CLONE_NEWUTS;

	return unshare(most | (starts_programs ? 0 : CLONE_NEWPID)) == 0;
}

/* Leaves the machine's names, gives up new privileges, then files. The end of the parent goes on being the
 * end of this process, although it became another user. Returns the layers that hold. */
static unsigned leave_machine(const PmSandboxPaths *paths, int starts_programs)
{
	static const struct rlimit none = { 0, 0 };
	unsigned layers = 0;

	layers |= held(PM_BOX_NAMESPACES, enter_namespaces(starts_programs));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return layers;
	return layers | held(PM_BOX_LANDLOCK, pm__landlock(paths));
}

/* Closes descriptor 0, unless it is kept, and all from `first` on. */
static void close_files(unsigned first, int keep_input)
{
	if (!keep_input)
		close(0);
#ifdef SYS_close_range
	syscall(SYS_close_range, first, ~0u, 0);
#else
	(void)first;
#endif
}

unsigned pm__close_off(Pm__Calls calls)
{
	static const struct rlimit none = { 0, 0 };
	unsigned layers = 0;

	pm_threads_limit(1); /* the filter ends who starts one */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	setrlimit(RLIMIT_NOFILE, &none); /* landlock took a descriptor */
	/* Without it only root may have a filter; the probe's tries come here without having left the
	 * machine. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (SANITIZED)
		return 0;
	prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
	layers |= held(PM_BOX_NO_CLOCK, pm__clock_drop());
	return layers | held(PM_BOX_FILTER, pm__filter_install(calls) == 0);
}

unsigned pm_sandbox_enter(void)
{
	unsigned layers;

	pm__clock_find();
	close_files(3, 0);
	layers = leave_machine(NULL, 0);
	return layers | pm__close_off(PM__CALLS_PLUGIN);
}

unsigned pm_sandbox_load(const char *const *files, int serving)
{
	PmSandboxPaths p = { .read = files };

	pm__clock_find();
	close_files(4, serving);
	return leave_machine(&p, 0);
}

unsigned pm_sandbox_close(unsigned loaded, int serving)
{
	return loaded | pm__close_off(serving ? PM__CALLS_SERVING : PM__CALLS_KERNEL);
}

/* What compilers may do is the same with or without a sanitizer around this program: the list of what they
 * may not do holds nothing that a run time needs. */
static unsigned filter(Pm__Calls calls)
{
	return held(PM_BOX_FILTER, pm__filter_install(calls) == 0);
}

unsigned pm_sandbox_enter_compiler(void)
{
	static const struct rlimit none = { 0, 0 };
	unsigned layers;

	close_files(4, 0);
	layers = leave_machine(NULL, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	setrlimit(RLIMIT_NOFILE, &none);
	return layers | filter(PM__CALLS_LIBRARY);
}

/* Stays behind as the parent of the program, whose end it passes on. */
static _Noreturn void mind(pid_t child)
{
	int status = 0;

	for (int fd = 0; fd < 4; fd++)
		close(fd);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		kill(getpid(), WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

/* The program becomes the first process of a namespace: with its end, or ours, all that it started ends. */
static void be_first(void)
{
	pid_t child = fork();

	if (child < 0)
		_exit(127);
	if (child > 0)
		mind(child);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

unsigned pm_sandbox_enter_tool(const PmSandboxPaths *p)
{
	unsigned layers;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0)
		be_first();
	layers = leave_machine(p, 1);
	return layers | filter(PM__CALLS_PROGRAM);
}

static unsigned required_of_passes, required_of_kernels;

void pm_sandbox_require(unsigned passes, unsigned kernels)
{
	required_of_passes = passes;
	required_of_kernels = kernels;
}

unsigned pm_sandbox_required(void)
{
	return required_of_passes;
}

unsigned pm_sandbox_required_kernels(void)
{
	return required_of_kernels;
}

void pm_sandbox_names(unsigned layers, PmStr *out)
{
	static const struct {
		unsigned bit;
		const char *name;
	} all[] = {
		{ PM_BOX_FILTER, "system call filter" },
		{ PM_BOX_LANDLOCK, "landlock" },
		{ PM_BOX_NAMESPACES, "namespaces" },
		{ PM_BOX_NO_CLOCK, "no clock" },
	};
	int n = 0;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (layers & all[i].bit)
			pm_str_addf(out, "%s%s", n++ ? ", " : "", all[i].name);
	if (!n)
		pm_str_add(out, "none");
}

void pm_sandbox_lost(unsigned layers, PmStr *out)
{
	const char *separator = "";

	for (unsigned i = 0; i < sizeof failed / sizeof *failed; i++) {
		if (!(layers & 1u << i))
			continue;
		pm_str_add(out, separator);
		pm_sandbox_names(1u << i, out);
		if (failed[i])
			pm_str_addf(out, " (error %d, %s)", failed[i], strerror(failed[i]));
		separator = ", ";
	}
}
