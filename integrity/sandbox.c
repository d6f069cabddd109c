/* sandbox.c - entering the sandbox, layer by layer: the filter last, since it forbids what the others need.
 */
#include "integrity/sandbox.h"

#include "base/proc.h"

#include <linux/landlock.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "integrity/sandbox_priv.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self  446
#endif
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

/* The kernel counts the bits of handled_access_fs by version; one that does not know all is asked for fewer.
 */
static const uint64_t fs_access[] = { 0, 0x1fff, 0x3fff, 0x7fff, 0x7fff, 0xffff };

static int enter_landlock(void)
{
	/* The first two fields of the kernel's structure; older kernels take the first alone. */
	uint64_t attr[2] = { 0, 0 };
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* version */), fd, ok;
	size_t last = sizeof fs_access / sizeof *fs_access - 1;

	if (abi < 1)
		return 0;
	attr[0] = fs_access[(size_t)abi < last ? (size_t)abi : last];
	attr[1] = abi >= 4 ? 3 : 0; /* TCP: bind, connect */
	fd = syscall(SYS_landlock_create_ruleset, attr, abi >= 4 ? sizeof attr : sizeof *attr, 0);
	if (fd < 0)
		return 0;
	ok = syscall(SYS_landlock_restrict_self, (int)fd, 0) == 0;
	close((int)fd);
	return (int)ok;
}

static int enter_namespaces(void)
{
	int most = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWPID;

	return unshare(most) == 0;
}

static int forbid_clock(void)
{
#if defined(__x86_64__)
	return !SANITIZED && prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0;
#else
	return 0;
#endif
}

/* Closes descriptor 0 and all from `first` on, leaves the machine's names, gives up new privileges; then,
 * when that can be had, files. Returns the layers that hold. */
static unsigned leave_machine(unsigned first)
{
	static const struct rlimit none = { 0, 0 };
	unsigned layers = 0;

	close(0);
#ifdef SYS_close_range
	syscall(SYS_close_range, first, ~0u, 0);
#endif
	if (enter_namespaces())
		layers |= PM_BOX_NAMESPACES;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return layers;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	setrlimit(RLIMIT_CORE, &none);
	if (enter_landlock())
		layers |= PM_BOX_LANDLOCK;
	setrlimit(RLIMIT_NOFILE, &none); /* landlock takes a descriptor */
	return layers;
}

unsigned pm_sandbox_enter(void)
{
	unsigned layers = leave_machine(3);

	if (!SANITIZED)
		prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
	if (forbid_clock())
		layers |= PM_BOX_NO_CLOCK;
	if (!SANITIZED && pm__filter_install() == 0)
		layers |= PM_BOX_FILTER;
	return layers;
}

unsigned pm_sandbox_enter_compiler(void)
{
	return leave_machine(4);
}

static int probe_child(void *arg, PmStr *out)
{
	(void)arg;
	(void)out;
	return (int)pm_sandbox_enter();
}

/* pm_fork_call's child still writes to its channel after fn returned; the exit status alone brings the
 * answer. The channel, which the sandbox closes, and the libc that writes are not needed: `out` stays empty.
 */
PmStatus pm_sandbox_probe(unsigned *layers, PmErr *err)
{
	PmLimits lim = { .seconds = 10, .file_size = -1 };
	PmProcResult r;
	PmStatus st = pm_fork_call(probe_child, NULL, &lim, &r, err);

	*layers = 0;
	if (st)
		return st;
	if (r.end == PM_PROC_EXITED && r.code <= PM_BOX_ALL)
		*layers = (unsigned)r.code;
	else
		st = pm_err(err, PM_E_INTERNAL, "The sandbox could not be tried.");
	pm_proc_result_release(&r);
	return st;
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
