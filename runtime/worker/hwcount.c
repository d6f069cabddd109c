/* SPDX-License-Identifier: Apache-2.0 */
/* hwcount.c - a process that opens the GPU and its counters, runs a plan in passes, and sends what was
 * counted.
 */
#include "runtime/worker/hwcount.h"

#include "base/sys/proc.h"
#include "runtime/device/device.h"

#include <stdlib.h>
#include <string.h>

enum { POISON = 0x7fc07fc0 };

typedef struct Job {
	const PmPlan *plan;
	const char *device;
	const PmTensor *in;
	size_t n_in;
	double seconds; /* after which no other launch is begun with */
	PmHwCounters *counters;
} Job;

typedef struct Reply {
	PmStatus status;
	char text[PM_ERR_MAX];
} Reply;

/* What the watch of launches needs. */
typedef struct Watch {
	PmDevice *d;
	size_t launch; /* that is counted */
	int done;      /* it needs no other pass */
} Watch;

static PmStatus before(void *arg, size_t i, PmErr *err)
{
	const Watch *w = arg;

	return i == w->launch ? w->d->ops->hw->pass_begin(w->d, err) : PM_OK;
}

static PmStatus after(void *arg, size_t i, PmErr *err)
{
	Watch *w = arg;

	return i == w->launch ? w->d->ops->hw->pass_end(w->d, &w->done, err) : PM_OK;
}

static PmStatus upload(const Job *j, PmDevice *d, PmBind *b, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < j->n_in && !st; i++)
		if (j->in[i].bytes)
			st = d->ops->upload(d, pm_bind_input(b, i), 0, j->in[i].data, (int64_t)j->in[i].bytes,
					    err);
	return st;
}

/* All passes of one launch: those before it run, too, so that it finds memory and caches as in a run. */
static PmStatus count_launch(PmDevice *d, PmBind *b, PmHwLaunch *l, PmErr *err)
{
	Watch w = { .d = d, .launch = l->launch };
	const PmLaunchWatch watch = { before, after, &w };
	PmStatus st = d->ops->hw->launch_begin(d, err);

	while (!st && !w.done) {
		st = d->ops->clock->flush(d, err);
		if (!st)
			st = pm_bind_launch_watched(b, (size_t)l->launch + 1, &watch, err);
	}
	return st ? st : d->ops->hw->launch_end(d, l, err);
}

/* Those that come last may have no time. */
static PmStatus count_all(const Job *j, PmDevice *d, PmBind *b, PmErr *err)
{
	double until = pm_now() + j->seconds;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < j->counters->n && !st && (!i || pm_now() < until); i++)
		st = count_launch(d, b, &j->counters->of[i], err);
	if (!st)
		d->ops->hw->about(d, j->counters);
	return st;
}

/* Launches in quiet mode are alone on the device; leaving it has the guard look at what they did. */
static PmStatus count(const Job *j, PmDevice *d, PmExec *x, PmErr *err)
{
	PmBind *b = NULL;
	PmStatus st = pm_bind_new(x, 1, &b, err);

	if (!st)
		st = pm_bind_poison(b, POISON, err);
	if (!st)
		st = upload(j, d, b, err);
	if (!st)
		st = d->ops->hw->open(d, err);
	if (!st)
		st = d->ops->clock->quiet(d, 1, err);
	if (!st)
		st = count_all(j, d, b, err);
	return st ? st : d->ops->clock->quiet(d, 0, err);
}

static PmStatus work(const Job *j, PmErr *err)
{
	PmDevice *d = NULL;
	PmExec *x = NULL;
	PmStatus st = pm_device_open(j->device, &d, err);

	if (!st && (!d->ops->hw || !d->ops->clock))
		st = pm_err(err, PM_E_ENV, "Device \"%s\" has no hardware counters.", j->device);
	if (!st)
		st = pm_exec_new(j->plan, d, &x, err);
	if (!st)
		st = count(j, d, x, err);
	if (!st)
		pm_exec_free(x); /* after an error of a kernel only the process may end */
	if (!st)
		d->ops->close(d);
	return st;
}

static int child(void *arg, PmStr *out)
{
	const Job *j = arg;
	Reply r = { 0 };
	PmErr err;

	pm_err_init(&err);
	r.status = work(j, &err);
	memcpy(r.text, err.text, sizeof r.text);
	pm_str_addn(out, (const char *)&r, sizeof r);
	if (!r.status)
		pm_str_addn(out, (const char *)j->counters, sizeof *j->counters);
	return 0;
}

static PmStatus take(const PmProcResult *p, PmHwCounters *c, double deadline, PmErr *err)
{
	PmStr how = PM_STR_INIT;
	PmStatus st = PM_OK;
	Reply r;

	pm_proc_describe(p, &how);
	if (p->end == PM_PROC_TIMEOUT)
		st = pm_err(err, PM_E_TIMEOUT,
			    "Reading hardware counters took more than %g seconds; give --deadline.",
			    deadline);
	else if (p->end != PM_PROC_EXITED || p->code || p->out.len < sizeof r)
		st = pm_err(err, PM_E_CRASH, "The process that reads hardware counters %s.", how.s);
	pm_str_release(&how);
	if (st)
		return st;
	memcpy(&r, p->out.s, sizeof r);
	r.text[sizeof r.text - 1] = 0;
	if (r.status)
		return pm_err(err, r.status < 0 ? r.status : PM_E_INTERNAL, "%s", r.text);
	return pm_hw_take(c, p->out.s + sizeof r, p->out.len - sizeof r, err);
}

PmStatus pm_hw_count_run(const PmPlan *p, const char *device, const PmTensor *in, size_t n_in,
			 double deadline, PmHwCounters *c, PmErr *err)
{
	Job j = { p, device, in, n_in, deadline / 2, c };
	PmLimits lim = { .seconds = deadline,
			 .file_size = -1,
			 .max_output = (int64_t)(sizeof(Reply) + sizeof *c + 4096),
			 .tries = 3 };
	PmProcResult r;
	PmStatus st = pm_fork_call(child, &j, &lim, &r, err);

	if (st)
		return st;
	st = take(&r, c, deadline, err);
	pm_proc_result_release(&r);
	return st;
}
