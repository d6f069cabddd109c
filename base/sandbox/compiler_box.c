/* SPDX-License-Identifier: Apache-2.0 */
/* compiler_box.c - the sandbox of the host's compilers. */
#include "base/sandbox/compiler_box.h"

#include "base/sys/io.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where distributions keep compilers, and what these load and read. */
static const char *const of_distribution[] = {
	"/usr/bin",       "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/local/bin",
	"/usr/local/lib", "/bin",     "/lib",       "/lib64",       "/etc/ld.so.cache"
};
enum { N_DISTRIBUTION = sizeof of_distribution / sizeof *of_distribution };
_Static_assert(N_DISTRIBUTION + 2 <= PM_COMPILER_BOX_RUN, "with the compiler's own folder and the end");

char *pm_program_file(const char *name)
{
	const char *path = getenv("PATH");
	PmStr file = PM_STR_INIT;
	char *real = NULL;

	if (strchr(name, '/'))
		real = realpath(name, NULL);
	for (; !real && !strchr(name, '/') && path && *path; path += *path == ':') {
		size_t n = strcspn(path, ":");

		pm_str_clear(&file);
		pm_str_addf(&file, "%.*s/%s", (int)n, path, name);
		if (access(file.s, X_OK) == 0)
			real = realpath(file.s, NULL);
		path += n;
	}
	pm_str_release(&file);
	return real;
}

/* Appends the folder above the one that holds the compiler, unless the distribution's have it. */
static void find_prefix(const char *compiler, PmStr *out)
{
	PmStr dir = PM_STR_INIT;
	char *real = pm_program_file(compiler);

	if (real && strncmp(real, "/usr/", 5) != 0 && strncmp(real, "/bin/", 5) != 0) {
		pm_path_dir(real, &dir);
		pm_path_dir(dir.s, out);
	}
	free(real);
	pm_str_release(&dir);
}

void pm_compiler_box_open(PmCompilerBox *b, const char *compiler, const char *const *read, const char *write)
{
	const char *path = getenv("PATH");
	size_t n = 0;

	memset(b, 0, sizeof *b);
	find_prefix(compiler, &b->prefix);
	for (; n < N_DISTRIBUTION; n++)
		b->run[n] = of_distribution[n];
	if (b->prefix.len)
		b->run[n] = b->prefix.s;
	for (n = 0; read[n] && n < PM_COMPILER_BOX_READ - 1; n++)
		b->read[n] = read[n];
	b->paths = (PmSandboxPaths){ .run = b->run, .read = b->read, .write = write };
	pm_str_addf(&b->path, "PATH=%s", path ? path : "/usr/bin:/bin");
	pm_str_addf(&b->tmp, "TMPDIR=%s", write);
	pm_str_addf(&b->home, "HOME=%s", write);
	n = 0;
	b->env[n++] = "env";
	b->env[n++] = "LC_ALL=C";         /* its messages are read */
	b->env[n++] = "CCACHE_DISABLE=1"; /* its folder is not in the box */
	b->env[n++] = b->path.s;
	b->env[n++] = b->tmp.s;
	b->env[n++] = b->home.s;
}

static void enter(const void *paths)
{
	pm_sandbox_enter_tool(paths);
}

void pm_compiler_box_limit(const PmCompilerBox *b, PmLimits *lim)
{
	lim->enter = enter;
	lim->enter_arg = &b->paths;
}

void pm_compiler_box_close(PmCompilerBox *b)
{
	pm_str_release(&b->prefix);
	pm_str_release(&b->path);
	pm_str_release(&b->tmp);
	pm_str_release(&b->home);
}
