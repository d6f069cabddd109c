/* SPDX-License-Identifier: Apache-2.0 */
/* count.c - a process that opens the device, one inside of it in which the kernels run, and back come counts.
 */
#include "runtime/worker/count.h"

#include "base/sys/proc.h"
#include "runtime/device/device.h"

#include <stdlib.h>
#include <string.h>

/* By which the blocks of a large launch that run are drawn: the same ones each time. */
enum { POISON = 0x7fc07fc0, BLOCKS = 1 };

typedef struct Job {
	const PmPlan *plan;
	const PmTensor *in;
	size_t n_in, n_out;
	PmCounts *counts;
} Job;

typedef struct Reply {
	PmStatus status;
	char text[PM_ERR_MAX];
} Reply;

static PmStatus work(const Job *j, PmErr *err)
{
	PmTensor *out = pm_xcalloc(j->n_out + 1, sizeof *out);
	PmDevice *d = NULL;
	PmExec *x = NULL;
	PmStatus st = pm_device_open(PM_DEVICE_COUNTS, &d, err);

	if (!st) {
		*d->counts = *j->counts;
		st = pm_exec_new(j->plan, d, &x, err);
	}
	if (!st) {
		/* Nothing reads what the blocks of a plan's only launch write. */
		if (pm_plan_n_launches(j->plan) == 1)
			d->ops->sample(d, &(PmSampled){ BLOCKS, PM_SAMPLED_MOST });
		pm_exec_plain(x, 1); /* buffers lie as a GPU's do */
		st = pm_exec_run_isolated(x, j->in, j->n_in, POISON, out, j->n_out, NULL, err);
	}
	if (!st)
		*j->counts = *d->counts;
	for (size_t i = 0; i < j->n_out; i++)
		pm_tensor_release(&out[i]);
	free(out);
	if (!st)
		pm_exec_free(x);
	if (d)
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
		pm_str_addn(out, (const char *)j->counts->of, pm_counts_bytes(j->counts));
	return 0;
}

static PmStatus take(const PmProcResult *p, PmCounts *c, double deadline, PmErr *err)
{
	PmStr how = PM_STR_INIT;
	PmStatus st = PM_OK;
	Reply r;

	pm_proc_describe(p, &how);
	if (p->end == PM_PROC_TIMEOUT)
		st = pm_err(err, PM_E_TIMEOUT, "Counting took more than %g seconds; give --deadline.",
			    deadline);
	else if (p->end != PM_PROC_EXITED || p->code || p->out.len < sizeof r)
		st = pm_err(err, PM_E_CRASH, "The process that counts %s.", how.s);
	pm_str_release(&how);
	if (st)
		return st;
	memcpy(&r, p->out.s, sizeof r);
	r.text[sizeof r.text - 1] = 0;
	if (r.status)
		return pm_err(err, r.status < 0 ? r.status : PM_E_INTERNAL, "%s", r.text);
	return pm_counts_take(c, p->out.s + sizeof r, p->out.len - sizeof r, err);
}

PmStatus pm_count_run(const PmPlan *p, size_t n_out, const PmTensor *in, size_t n_in, double deadline,
		      PmCounts *c, PmErr *err)
{
	Job j = { p, in, n_in, n_out, c };
	PmLimits lim = { .seconds = deadline,
			 .file_size = -1,
			 .max_output = (int64_t)(sizeof(Reply) + pm_counts_bytes(c) + 4096),
			 .tries = 3 };
	PmProcResult r;
	PmStatus st = pm_fork_call(child, &j, &lim, &r, err);

	if (st)
		return st;
	st = take(&r, c, deadline, err);
	pm_proc_result_release(&r);
	return st;
}
