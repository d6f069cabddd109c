/* SPDX-License-Identifier: Apache-2.0 */
/* emu_head.c - what stands in front of every kernel, compiled once: reading cuda_host.h and the prelude takes
 * the compiler longer than a kernel does.
 *
 * GCC looks in each folder of its list for NAME.gch before NAME, and passes over one that it cannot use, as
 * other compilers pass over all. The folder's name is the key of what it is made from, so that it is never
 * out of date.
 */
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "base/sys/serve.h"
#include "runtime/device/kcache.h"
#include "runtime/emu/emu_priv.h"

#include <stdio.h>
#include <stdlib.h>

/* By mode; a kernel that may print has the plain one. */
static const char *const names[] = { "cuda_host.h", "races.h", "cuda_host.h", "counts.h" };
static const char *const folders[] = { "include", "races", "include", "counts" };

void pm__emu_head_dir(const PmEmuBuilder *b, PmEmuMode as, PmStr *out)
{
	pm_path_join(b->heads.s, as == PM_EMU_PLAIN ? b->key : b->watch_key, out);
}

static void head_path(const PmEmuBuilder *b, PmEmuMode as, PmStr *out)
{
	pm__emu_head_dir(b, as, out);
	pm_str_addf(out, "/%s.gch", names[as]);
}

void pm__emu_head_make(const PmEmuBuilder *b, PmEmuMode as)
{
	const char *argv[PM_EMU_MAX_ARGV];
	PmStr keep[PM_EMU_KEEP], dir = PM_STR_INIT, path = PM_STR_INIT, header = PM_STR_INIT;
	PmStr made = PM_STR_INIT, nothing = PM_STR_INIT;
	PmProcResult r = { 0 };
	PmEmuWork work;
	int n = pm__emu_flags(b, as, argv, keep), lock = -1;

	pm__emu_head_dir(b, as, &dir);
	head_path(b, as, &path);
	pm_str_addf(&header, "%s/runtime/emu/%s/%s", b->root.s, folders[as], names[as]);
	if (!pm_path_exists(path.s))
		lock = pm_kcache_lock(path.s);
	if (!pm_path_exists(path.s) && !pm_mkdirs(dir.s, NULL)) {
		if (!pm__emu_work_open(&work, NULL)) {
			pm_path_join(work.dir.s, "head.gch", &made);
			argv[n++] = "-xc++-header";
			argv[n++] = header.s;
			argv[n++] = "-o";
			argv[n++] = made.s;
			argv[n] = NULL;
			if (!pm__emu_cxx(b, &work, argv, &nothing, &r, NULL) && r.end == PM_PROC_EXITED &&
			    r.code == 0)
				rename(made.s, path.s);
			pm_proc_result_release(&r);
		}
		pm__emu_work_close(&work);
	}
	pm_kcache_unlock(lock);
	pm__emu_flags_release(keep);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_str_release(&header);
	pm_str_release(&made);
	pm_str_release(&nothing);
}

/* --- beside other things --------------------------------------------------------------------------------
 */

struct PmEmuAhead {
	PmServer *server;
};

static int serve(void *arg, const char *request, size_t n, PmStr *reply)
{
	(void)n;
	(void)reply;
	if (!request)
		pm__emu_head_make(arg, PM_EMU_PLAIN);
	return request != NULL;
}

PmEmuAhead *pm_emu_ahead_begin(void)
{
	const PmLimits lim = { .file_size = -1 };
	PmStr path = PM_STR_INIT;
	PmEmuAhead *a = NULL;
	PmEmuBuilder b;

	if (pm__emu_builder_open(&b, PM_EMU_PLAIN, NULL))
		return NULL; /* who opens the device hears why */
	head_path(&b, PM_EMU_PLAIN, &path);
	if (!pm_path_exists(path.s)) {
		a = pm_xcalloc(1, sizeof *a);
		if (pm_server_start(serve, &b, &lim, &a->server, NULL)) {
			free(a);
			a = NULL;
		}
	}
	pm_str_release(&path);
	pm__emu_builder_close(&b);
	return a;
}

void pm_emu_ahead_end(PmEmuAhead *a)
{
	if (a)
		pm_server_kill(a->server);
	free(a);
}
