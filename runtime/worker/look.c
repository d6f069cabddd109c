/* SPDX-License-Identifier: Apache-2.0 */
/* look.c - whether a device is there, found out by a process that ends again. */
#include "base/sys/proc.h"
#include "runtime/device/device.h"
#include "runtime/worker/worker.h"

#include <string.h>

enum { LOOK_SECONDS = 60 };

/* What the process says. */
typedef struct Looked {
	PmStatus status;
	char text[PM_ERR_MAX];
	PmDeviceInfo info;
} Looked;

static int look(void *arg, PmStr *out)
{
	Looked l = { 0 };
	PmDevice *d = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_device_kind(arg) == PM_DEVICE_CUDA)
		l.status = pm_cuda_look(&l.info, &err);
	else
		l.status = pm_device_open(arg, &d, &err);
	if (d) {
		d->ops->info(d, &l.info);
		d->ops->close(d);
	}
	memcpy(l.text, err.text, sizeof l.text);
	pm_str_addn(out, &l, sizeof l);
	return 0;
}

PmStatus pm_worker_look(const char *device, PmDeviceInfo *out, PmErr *err)
{
	const PmLimits lim = { .seconds = LOOK_SECONDS, .file_size = -1, .tries = 3 };
	PmStr how = PM_STR_INIT;
	PmProcResult r;
	PmStatus st = pm_fork_call(look, pm_unconst(device), &lim, &r, err);
	Looked l;

	if (st)
		return st;
	if (r.end == PM_PROC_EXITED && r.out.len == sizeof l) {
		memcpy(&l, r.out.s, sizeof l);
		if (out)
			*out = l.info;
		if (l.status)
			st = pm_err(err, l.status, "%s", l.text);
	} else {
		pm_proc_describe(&r, &how);
		st = pm_err(err, PM_E_ENV,
			    "The process that looks for device \"%s\" %s; run passmith doctor.", device,
			    how.s);
		pm_str_release(&how);
	}
	pm_proc_result_release(&r);
	return st;
}
