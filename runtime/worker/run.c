/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - runs a graph on a device by name; devices that run kernels live in a worker process. */
#include "runtime/worker/run.h"

#include "base/sys/proc.h"
#include "runtime/device/device.h"
#include "runtime/ref/ref.h"

#include <stdlib.h>
#include <string.h>

/* What the worker is given (through fork) and what it sends back: a header, then each output's bytes. */
typedef struct Job {
	const PmPlan *plan;
	const PmTensor *in;
	size_t n_in, n_out;
	const PmRunOpts *opts;
} Job;

typedef struct Reply {
	PmStatus status;
	double seconds;
	char text[PM_ERR_MAX];
} Reply;

static PmStatus work(const Job *j, PmTensor *out, double *seconds, PmErr *err)
{
	PmDevice *d = NULL;
	PmExec *x = NULL;
	PmStatus st = pm_device_open(j->opts->device, &d, err);

	if (!st && d->ops->sample)
		d->ops->sample(d, &j->opts->sampled);
	if (!st)
		st = pm_exec_new(j->plan, d, &x, err);
	if (!st)
		st = pm_exec_run_isolated(x, j->in, j->n_in, j->opts->poison, out, j->n_out, seconds, err);
	/* After a kernel error the device must not be touched; the process ends anyway. */
	if (!st)
		pm_exec_free(x);
	if (d)
		d->ops->close(d);
	return st;
}

static int worker(void *arg, PmStr *out)
{
	const Job *j = arg;
	PmTensor *t = pm_xcalloc(j->n_out + 1, sizeof *t);
	Reply r = { 0 };
	PmErr err;

	pm_err_init(&err);
	r.status = work(j, t, &r.seconds, &err);
	memcpy(r.text, err.text, sizeof r.text);
	pm_str_addn(out, &r, sizeof r);
	for (size_t i = 0; i < j->n_out && !r.status; i++)
		pm_str_addn(out, t[i].data, t[i].bytes);
	for (size_t i = 0; i < j->n_out; i++)
		pm_tensor_release(&t[i]);
	free(t);
	return 0;
}

/* The worker ran candidate code, so its reply is checked, never trusted. */
static PmStatus read_reply(const PmGraph *g, const PmProcResult *pr, PmRunResult *out, PmErr *err)
{
	const char *p = pr->out.s;
	size_t left = pr->out.len;
	Reply r;

	if (left < sizeof r)
		return pm_err(err, PM_E_CRASH, "The device worker ended without an answer.");
	memcpy(&r, p, sizeof r);
	r.text[sizeof r.text - 1] = '\0';
	p += sizeof r;
	left -= sizeof r;
	if (r.status)
		return pm_err(err, r.status < 0 ? r.status : PM_E_INTERNAL, "%s", r.text);
	out->wall_seconds = r.seconds;
	for (size_t i = 0; i < out->n_out; i++) {
		PmStatus st = pm_tensor_init(&out->out[i], pm_value_type(g, pm_graph_output(g, i)), err);

		if (st)
			return st;
		if (left < out->out[i].bytes)
			return pm_err(err, PM_E_CRASH, "The device worker sent too few bytes for output %zu.",
				      i);
		if (out->out[i].bytes)
			memcpy(out->out[i].data, p, out->out[i].bytes);
		p += out->out[i].bytes;
		left -= out->out[i].bytes;
	}
	return PM_OK;
}

static PmStatus run_worker(const PmGraph *g, const Job *j, PmRunResult *out, PmErr *err)
{
	PmLimits lim = { .seconds = j->opts->deadline > 0 ? j->opts->deadline : 60,
			 .file_size = -1,
			 .tries = 3 };
	PmProcResult pr;
	PmStr why = PM_STR_INIT;
	int64_t total = (int64_t)sizeof(Reply);
	PmStatus st;

	for (size_t i = 0; i < j->n_out; i++) {
		int64_t bytes = 0;

		pm_type_bytes(pm_value_type(g, pm_graph_output(g, i)), &bytes, NULL);
		total += bytes;
	}
	lim.max_output = total + 4096;
	st = pm_fork_call(worker, (void *)(uintptr_t)j, &lim, &pr, err);
	if (st)
		return st;
	pm_proc_describe(&pr, &why);
	if (pr.end == PM_PROC_TIMEOUT)
		st = pm_err(err, PM_E_TIMEOUT,
			    "The device worker did not finish within %g seconds and was killed.",
			    lim.seconds);
	else if (pr.end != PM_PROC_EXITED || pr.code)
		st = pm_err(err, PM_E_CRASH, "The device worker %s.", why.s);
	else
		st = read_reply(g, &pr, out, err);
	pm_str_release(&why);
	pm_proc_result_release(&pr);
	return st;
}

static PmStatus run_there(const PmGraph *g, const Job *j, PmRunResult *out, PmErr *err)
{
	PmWork work = { g, j->opts->alts, j->opts->n_alts, j->opts->layout, j->opts->sampled };

	if (j->n_in != pm_graph_n_inputs(g))
		return pm_err(err, PM_E_INVALID, "The graph has %zu inputs; %zu were given.",
			      pm_graph_n_inputs(g), j->n_in);
	return pm_worker_run(j->opts->worker, &work, j->in, j->opts->poison, j->opts->deadline, out->out,
			     &out->wall_seconds, err);
}

PmStatus pm_run_graph(const PmGraph *g, const PmTensor *in, size_t n_in, const PmRunOpts *opts,
		      PmRunResult *out, PmErr *err)
{
	Job j = { .in = in, .n_in = n_in, .n_out = pm_graph_n_outputs(g), .opts = opts };
	const PmProfile *prof = pm_profile(opts->profile);
	PmPlan *plan = NULL;
	PmStatus st = PM_OK;

	memset(out, 0, sizeof *out);
	out->n_out = j.n_out;
	out->out = pm_xcalloc(j.n_out + 1, sizeof *out->out);
	if (!prof)
		st = pm_err(err, PM_E_NOT_FOUND, "There is no device profile '%.60s'; there are%s.",
			    opts->profile, pm_target_names());
	if (!st && pm_device_kind(opts->device) == PM_DEVICE_REF) {
		double t0 = pm_now();

		st = pm_ref_run(g, in, n_in, out->out, out->n_out, err);
		out->wall_seconds = pm_now() - t0;
	} else if (!st) {
		st = pm_plan_new(g, opts->alts, opts->n_alts, &plan, err);
		if (!st) {
			pm_plan_stats(plan, prof, &out->stats);
			j.plan = plan;
			st = opts->worker && !strcmp(pm_worker_device(opts->worker), opts->device)
				     ? run_there(g, &j, out, err)
				     : run_worker(g, &j, out, err);
		}
	}
	pm_plan_free(plan);
	if (st)
		pm_run_result_release(out);
	return st;
}

void pm_run_result_release(PmRunResult *r)
{
	for (size_t i = 0; r->out && i < r->n_out; i++)
		pm_tensor_release(&r->out[i]);
	free(r->out);
	memset(r, 0, sizeof *r);
}
