/* SPDX-License-Identifier: Apache-2.0 */
/* look.c - whether a device is there, found out by a process that stays while others open the device. */
#include "base/sys/serve.h"
#include "runtime/device/device.h"
#include "runtime/worker/worker.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_SECONDS = 60, TRIES = 3 };

struct PmLook {
	const char *device;
	PmServer *server; /* NULL = could not be had, or has ended */
};

/* What the process says. */
typedef struct Looked {
	PmStatus status;
	char text[PM_ERR_MAX];
	PmDeviceInfo info;
} Looked;

static void look(const char *device, Looked *l)
{
	PmDevice *d = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_device_kind(device) == PM_DEVICE_CUDA)
		l->status = pm_cuda_look(&l->info, &err);
	else
		l->status = pm_device_open(device, &d, &err);
	if (d) {
		d->ops->info(d, &l->info);
		d->ops->close(d);
	}
	memcpy(l->text, err.text, sizeof l->text);
}

static int serve(void *arg, const char *request, size_t n, PmStr *reply)
{
	static Looked l; /* of this process, which looks once */
	const PmLook *at = arg;

	(void)n;
	if (!request)
		look(at->device, &l);
	else
		pm_str_addn(reply, &l, sizeof l);
	return 0;
}

static PmStatus start(PmLook *l, PmErr *err)
{
	const PmLimits lim = { .file_size = -1 };

	return pm_server_start(serve, l, &lim, &l->server, err);
}

PmLook *pm_look_begin(const char *device)
{
	PmLook *l = pm_xcalloc(1, sizeof *l);

	l->device = device;
	start(l, NULL); /* asked for again by who waits */
	return l;
}

static PmStatus ask(PmLook *l, PmStr *reply, PmErr *err)
{
	PmStatus st = l->server ? PM_OK : start(l, err);

	if (!st)
		st = pm_server_call(l->server, "process that looks for the device", "?", 1, LOOK_SECONDS,
				    sizeof(Looked), reply, err);
	return st;
}

PmStatus pm_look_info(PmLook *l, PmDeviceInfo *out, PmErr *err)
{
	PmStr reply = PM_STR_INIT;
	PmStatus st = ask(l, &reply, err);
	Looked said;

	for (int i = 1; i < TRIES && st && l->server && pm_server_killed(l->server); i++) {
		pm_server_stop(l->server);
		l->server = NULL;
		st = ask(l, &reply, err);
	}
	if (st || reply.len != sizeof said) {
		pm_str_release(&reply);
		return pm_err(err, PM_E_ENV,
			      "The process that looks for device \"%s\" gave no answer; run passmith "
			      "doctor.",
			      l->device);
	}
	memcpy(&said, reply.s, sizeof said);
	pm_str_release(&reply);
	if (out)
		*out = said.info;
	return said.status ? pm_err(err, said.status, "%s", said.text) : PM_OK;
}

void pm_look_end(PmLook *l)
{
	if (!l)
		return;
	pm_server_abandon(l->server); /* the last to leave a GPU waits for it a tenth of a second */
	free(l);
}

PmStatus pm_worker_look(const char *device, PmDeviceInfo *out, PmErr *err)
{
	PmLook *l = pm_look_begin(device);
	PmStatus st = pm_look_info(l, out, err);

	pm_look_end(l);
	return st;
}
