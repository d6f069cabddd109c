/* kcache.c - what the compilers of both kernel devices share. */
#include "runtime/kcache.h"

#include "base/io.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_JOBS = 64, MAX_HEADER = 16 << 20 }; /* processes at once; bytes of a header */

PmStatus pm_kcache_dir(const char *name, PmStr *out, PmErr *err)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmStatus rc = pm_cache_dir(&dir, err);

	if (!rc) {
		pm_path_join(dir.s, name, &path);
		rc = pm_mkdirs(path.s, err);
	}
	if (!rc)
		pm_str_add(out, path.s);
	pm_str_release(&dir);
	pm_str_release(&path);
	return rc;
}

PmStatus pm_kcache_add_headers(const char *dir, const char *sub, PmStr *text, PmErr *err)
{
	PmStr path = PM_STR_INIT, file = PM_STR_INIT;
	PmNames names = { 0 };
	PmStatus rc;
	size_t i;

	pm_path_join(dir, sub, &path);
	rc = pm_list_dir(path.s, &names, err);
	for (i = 0; !rc && i < names.n; i++) {
		if (!pm_str_ends(names.v[i], ".h") && !pm_str_ends(names.v[i], ".cuh") &&
		    !pm_str_ends(names.v[i], ".inc") && !pm_str_ends(names.v[i], ".ld"))
			continue;
		pm_str_clear(&file);
		pm_path_join(path.s, names.v[i], &file);
		pm_str_addf(text, "\n== %s\n", names.v[i]);
		rc = pm_read_file(file.s, MAX_HEADER, text, err);
	}
	pm_names_release(&names);
	pm_str_release(&path);
	pm_str_release(&file);
	return rc;
}

void pm_kcache_ahead(int jobs, size_t n, void (*fn)(void *arg, size_t i), void *arg)
{
	pid_t child[MAX_JOBS], parent = getpid();
	int i, started = 0;

	if (jobs > MAX_JOBS)
		jobs = MAX_JOBS;
	if ((size_t)jobs > n)
		jobs = (int)n;
	for (i = 0; i < jobs; i++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			size_t k;

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				_exit(1);
			for (k = (size_t)i; k < n; k += (size_t)jobs)
				fn(arg, k);
			_exit(0);
		}
		child[started++] = pid;
	}
	for (i = 0; i < started; i++)
		while (waitpid(child[i], NULL, 0) < 0 && errno == EINTR)
			;
}
