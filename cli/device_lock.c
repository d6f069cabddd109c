/* SPDX-License-Identifier: Apache-2.0 */
/* device_lock.c - one lock file for each GPU of a machine. */
#include "cli/device_lock.h"

#include "base/core/str.h"
#include "base/sys/io.h"
#include "cli/args.h"

#include <stdio.h>
#include <stdlib.h>

/* The same folder for everybody on the machine, whatever TMPDIR is. */
static const char folder[] = "/tmp";

static void say_waits(void *arg, int pid)
{
	char who[48] = "another command";

	(void)arg;
	if (pid)
		snprintf(who, sizeof who, "process %d, of another command,", pid);
	fprintf(stderr,
		"passmith: Waits until %s has left the GPU to this one, since what is timed runs alone "
		"there; "
		"this goes on by itself.\n",
		who);
}

PmStatus pm_cli_device_lock(const char *device, const PmDeviceInfo *info, PmRwlock **out, PmErr *err)
{
	const char *dir = getenv("PASSMITH_LOCKS");
	PmStr name = PM_STR_INIT, path = PM_STR_INIT;
	PmStatus st;

	*out = NULL;
	if (pm_device_kind(device) != PM_DEVICE_CUDA)
		return PM_OK;
	pm_str_addf(&name, "passmith-gpu-%s.lock", *info->pci ? info->pci : "first");
	pm_path_join(dir && *dir ? dir : folder, name.s, &path);
	st = pm_rwlock_open(path.s, out, err);
	if (st)
		pm_err_ctx(err, "PASSMITH_LOCKS names a folder that can be written to");
	else if (!pm_cli_quiet)
		pm_rwlock_on_wait(*out, say_waits, NULL);
	pm_str_release(&name);
	pm_str_release(&path);
	return st;
}
