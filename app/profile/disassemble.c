/* SPDX-License-Identifier: Apache-2.0 */
/* disassemble.c - finds nvdisasm and has it read machine code that came from a stranger's source. */
#include "app/profile/disassemble.h"

#include "base/sandbox/sandbox.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void enter(const void *arg)
{
	pm_sandbox_enter_tool(arg);
}

/* 1 when the folder (of n characters) has it; *out is its path then. */
static int is_in(const char *dir, size_t n, PmStr *out)
{
	pm_str_clear(out);
	pm_str_addf(out, "%.*s/nvdisasm", (int)n, dir);
	return n && access(out->s, X_OK) == 0;
}

static int find(PmStr *out)
{
	const char *path = getenv("PATH"), *home = getenv("CUDA_HOME");
	PmStr bin = PM_STR_INIT;
	int found = 0;

	for (const char *p = path; p && *p && !found; p += *p == ':') {
		size_t n = strcspn(p, ":");

		found = is_in(p, n, out);
		p += n;
	}
	if (!found && home) {
		pm_str_addf(&bin, "%s/bin", home);
		found = is_in(bin.s, bin.len, out);
	}
	pm_str_release(&bin);
	return found || is_in("/usr/local/cuda/bin", strlen("/usr/local/cuda/bin"), out);
}

static PmStatus run(const char *program, const char *file, PmStr *sass, PmErr *err)
{
	const char *may_run[] = { program,  "/usr/lib",         "/usr/lib64", "/lib",
				  "/lib64", "/etc/ld.so.cache", NULL };
	const char *may_read[] = { file, NULL };
	const PmSandboxPaths box = { .run = may_run, .read = may_read };
	const char *argv[] = { program, "-c", file, NULL };
	PmLimits lim = { .seconds = 60, .file_size = -1, .bare = 1, .enter = enter, .enter_arg = &box };
	PmProcResult r = { 0 };
	PmStr why = PM_STR_INIT;
	PmStatus st = pm_run(argv, NULL, 0, &lim, &r, err);

	if (!st && (r.end != PM_PROC_EXITED || r.code)) {
		pm_proc_describe(&r, &why);
		st = pm_err(err, PM_E_ENV, "%s %s: %.200s", program, why.s, r.errtext.s ? r.errtext.s : "");
	}
	if (!st)
		pm_str_addn(sass, r.out.s, r.out.len);
	pm_str_release(&why);
	pm_proc_result_release(&r);
	return st;
}

PmStatus pm__disassemble(const PmStr *cubin, PmStr *sass, PmErr *err)
{
	char file[] = "/tmp/passmith-cubin-XXXXXX";
	PmStr program = PM_STR_INIT;
	PmStatus st = PM_OK;
	int fd;

	if (!find(&program))
		st = pm_err(err, PM_E_ENV,
			    "There is no nvdisasm, so there is no SASS: install the CUDA toolkit (package "
			    "cuda-nvdisasm, or nvidia-cuda-nvcc of pip), and put its bin folder on PATH.");
	fd = st ? -1 : mkstemp(file);
	if (!st && fd < 0)
		st = pm_err(err, PM_E_IO, "Cannot make a file in /tmp for nvdisasm; check its space.");
	if (!st && write(fd, cubin->s, cubin->len) != (ssize_t)cubin->len)
		st = pm_err(err, PM_E_IO, "Cannot write \"%s\" for nvdisasm; check the space in /tmp.", file);
	if (!st)
		st = run(program.s, file, sass, err);
	if (fd >= 0) {
		close(fd);
		unlink(file);
	}
	pm_str_release(&program);
	return st;
}
