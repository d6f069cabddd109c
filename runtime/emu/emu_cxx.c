/* SPDX-License-Identifier: Apache-2.0 */
/* emu_cxx.c - the host's C++ compiler, in a box: it sees itself, its libraries, our headers and one folder of
 * its own, which goes when it is done.
 *
 * A source can make a compiler read files (#include, .incbin) and is a stranger's. The folder is locked while
 * its owner lives; one whose lock can be had was left by a process that was killed, and is removed.
 */
#include "runtime/emu/emu_priv.h"

#include "base/sandbox/sandbox.h"
#include "base/sys/io.h"
#include "runtime/device/kcache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { MAX_ARGV = 16 + PM_EMU_MAX_ARGV };

static const PmLimits compile_limits = {
	.seconds = 120,
	.cpu_seconds = 120,
	.memory = (int64_t)8 << 30,
	.file_size = (int64_t)64 << 20,
	.max_output = (int64_t)16 << 20,
	.bare = 1,
	.tries = 3,
};

/* --- its folder ------------------------------------------------------------------------------------------
 */

static int lock_path(const char *path, int how)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, how) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Removes what killed processes left. The caller holds the lock of the parent folder. */
static void sweep(const char *dir)
{
	PmStr path = PM_STR_INIT;
	PmNames names = { 0 };

	if (pm_list_dir(dir, &names, NULL))
		names.n = 0;
	for (size_t i = 0; i < names.n; i++) {
		int fd;

		pm_str_clear(&path);
		pm_path_join(dir, names.v[i], &path);
		fd = lock_path(path.s, LOCK_EX | LOCK_NB);
		if (fd < 0)
			continue;
		pm_remove_tree(path.s, NULL);
		close(fd);
	}
	pm_names_release(&names);
	pm_str_release(&path);
}

void pm__emu_work_sweep(void)
{
	PmStr dir = PM_STR_INIT;
	int parent = pm_kcache_dir("emu-work", &dir, NULL) ? -1 : lock_path(dir.s, LOCK_EX | LOCK_NB);

	if (parent >= 0) {
		sweep(dir.s);
		close(parent);
	}
	pm_str_release(&dir);
}

PmStatus pm__emu_work_open(PmEmuWork *w, PmErr *err)
{
	PmStr dir = PM_STR_INIT;
	PmStatus st = pm_kcache_dir("emu-work", &dir, err);
	int parent = st ? -1 : lock_path(dir.s, LOCK_EX);

	w->lock = -1;
	pm_str_init(&w->dir);
	if (!st) {
		sweep(dir.s);
		pm_path_join(dir.s, "XXXXXX", &w->dir);
		if (mkdtemp(w->dir.s))
			w->lock = lock_path(w->dir.s, LOCK_EX | LOCK_NB);
		if (w->lock < 0)
			st = pm_err(err, PM_E_IO,
				    "Cannot make a folder for the compiler in \"%s\"; check that it may be "
				    "written.",
				    dir.s);
	}
	if (parent >= 0)
		close(parent);
	pm_str_release(&dir);
	return st;
}

void pm__emu_work_close(PmEmuWork *w)
{
	if (w->lock >= 0) {
		pm_remove_tree(w->dir.s, NULL);
		close(w->lock);
	}
	w->lock = -1;
	pm_str_release(&w->dir);
}

/* --- where it is -----------------------------------------------------------------------------------------
 */

char *pm__emu_cxx_file(const char *cxx)
{
	const char *path = getenv("PATH");
	PmStr file = PM_STR_INIT;
	char *real = NULL;

	if (strchr(cxx, '/'))
		real = realpath(cxx, NULL);
	for (; !real && !strchr(cxx, '/') && path && *path; path += *path == ':') {
		size_t n = strcspn(path, ":");

		pm_str_clear(&file);
		pm_str_addf(&file, "%.*s/%s", (int)n, path, cxx);
		if (access(file.s, X_OK) == 0)
			real = realpath(file.s, NULL);
		path += n;
	}
	pm_str_release(&file);
	return real;
}

/* Appends the folder above the one that holds the compiler, unless the list below has it. */
static void find_prefix(const char *cxx, PmStr *out)
{
	PmStr dir = PM_STR_INIT;
	char *real = pm__emu_cxx_file(cxx);

	if (real && strncmp(real, "/usr/", 5) != 0 && strncmp(real, "/bin/", 5) != 0) {
		pm_path_dir(real, &dir);
		pm_path_dir(dir.s, out);
	}
	free(real);
	pm_str_release(&dir);
}

/* The driver says so of a program that it started, and ends as after an error of the source. */
static int part_was_killed(const PmProcResult *r)
{
	return r->end == PM_PROC_EXITED && r->code &&
	       strstr(r->errtext.s, "Killed signal terminated program");
}

static void enter(const void *arg)
{
	pm_sandbox_enter_tool(arg);
}

PmStatus pm__emu_cxx(const PmEmuBuilder *b, const PmEmuWork *w, const char *const *args, const PmStr *in,
		     PmProcResult *r, PmErr *err)
{
	PmStr prefix = PM_STR_INIT, path = PM_STR_INIT, tmp = PM_STR_INIT, home = PM_STR_INIT;
	PmStr shim = PM_STR_INIT, sdk = PM_STR_INIT, races = PM_STR_INIT, counts = PM_STR_INIT;
	const char *env_path = getenv("PATH"), *argv[MAX_ARGV];
	const char *run[] = { "/usr/bin",       "/usr/lib",         "/usr/lib64", "/usr/libexec",
			      "/usr/local/bin", "/usr/local/lib",   "/bin",       "/lib",
			      "/lib64",         "/etc/ld.so.cache", NULL,         NULL };
	const char *read[6] = { NULL };
	PmSandboxPaths paths = { .run = run, .read = read, .write = w->dir.s };
	PmLimits lim = compile_limits;
	PmStatus st;
	int n = 0, tries = 0;

	find_prefix(b->cxx.s, &prefix);
	if (prefix.len)
		run[sizeof run / sizeof *run - 2] = prefix.s;
	pm_str_addf(&shim, "%s/runtime/emu/include", b->root.s);
	pm_str_addf(&sdk, "%s/include/passmith", b->root.s);
	pm_str_addf(&path, "PATH=%s", env_path ? env_path : "/usr/bin:/bin");
	pm_str_addf(&tmp, "TMPDIR=%s", w->dir.s);
	pm_str_addf(&home, "HOME=%s", w->dir.s);
	read[0] = shim.s;
	read[1] = sdk.s;
	pm_str_addf(&races, "%s/runtime/emu/races", b->root.s);
	read[2] = races.s;
	read[3] = b->heads.s;
	pm_str_addf(&counts, "%s/runtime/emu/counts", b->root.s);
	read[4] = b->mode == PM_EMU_COUNTS ? counts.s : NULL;
	argv[n++] = "env";
	argv[n++] = "LC_ALL=C";
	argv[n++] = "CCACHE_DISABLE=1"; /* its folder is not in the box, and we keep what is compiled */
	argv[n++] = path.s;
	argv[n++] = tmp.s;
	argv[n++] = home.s;
	argv[n++] = b->cxx.s;
	while (*args && n < MAX_ARGV - 1)
		argv[n++] = *args++;
	argv[n] = NULL;
	lim.enter = enter;
	lim.enter_arg = &paths;
	st = pm_run(argv, in->s, in->len, &lim, r, err);
	while (!st && part_was_killed(r) && ++tries < lim.tries) {
		pm_proc_result_release(r);
		st = pm_run(argv, in->s, in->len, &lim, r, err);
	}
	if (st)
		st = pm_err(err, PM_E_ENV,
			    "The emulated device needs a C++ compiler, but \"%s\" cannot be run; install g++ "
			    "or set PASSMITH_CXX to a compiler.",
			    b->cxx.s);
	pm_str_release(&prefix);
	pm_str_release(&path);
	pm_str_release(&tmp);
	pm_str_release(&home);
	pm_str_release(&shim);
	pm_str_release(&sdk);
	pm_str_release(&races);
	pm_str_release(&counts);
	return st;
}
