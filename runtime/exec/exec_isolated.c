/* SPDX-License-Identifier: Apache-2.0 */
/* exec_isolated.c - a run in a process of its own, which a kernel cannot leave and which ends with the run.
 *
 * The process is forked from one that holds the device with everything loaded, so that the inputs and the
 * modules are there without being sent; it shuts itself in, runs, and sends the outputs. What comes back was
 * in the hands of a kernel: lengths are checked.
 */
#include "runtime/exec/exec.h"

#include "base/sys/proc.h"
#include "runtime/exec/plan_priv.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job {
	PmExec *x;
	const PmTensor *in;
	size_t n_in, n_out;
	uint32_t poison;
} Job;

/* What is sent back first; then what kernels printed, what was counted, and each output's bytes. */
typedef struct Head {
	PmStatus status;
	char text[PM_ERR_MAX];
	size_t n_printed, n_counted;
	int64_t cut;
} Head;

static int work(void *arg, PmStr *reply)
{
	const Job *j = arg;
	PmDevice *d = pm_exec_device(j->x);
	PmTensor *out = pm_xcalloc(j->n_out + 1, sizeof *out);
	size_t bytes = 0;
	Head h = { 0 };
	PmErr err;

	pm_err_init(&err);
	h.status = d->ops->shut(d, 0, &err);
	if (!h.status)
		h.status = pm_exec_run(j->x, j->in, j->n_in, j->poison, out, j->n_out, &err);
	memcpy(h.text, err.text, sizeof h.text);
	if (d->print) {
		h.n_printed = d->print->n;
		h.cut = d->print->cut;
	}
	if (d->counts)
		h.n_counted = pm_counts_bytes(d->counts);
	for (size_t i = 0; i < j->n_out && !h.status; i++)
		bytes += out[i].bytes;
	pm_str_reserve(reply, sizeof h + h.n_printed + h.n_counted + bytes);
	pm_str_addn(reply, &h, sizeof h);
	if (d->print)
		pm_str_addn(reply, d->print->text, d->print->n);
	if (d->counts)
		pm_str_addn(reply, (const char *)d->counts->of, h.n_counted);
	for (size_t i = 0; i < j->n_out && !h.status; i++) {
		pm_str_addn(reply, out[i].data, out[i].bytes);
		pm_tensor_release(&out[i]);
	}
	return 0;
}

static PmStatus take(const Job *j, const PmStr *reply, PmTensor *out, PmErr *err)
{
	const PmGraph *g = pm_exec_plan(j->x)->g;
	PmPrint *print = pm_exec_device(j->x)->print;
	PmCounts *counts = pm_exec_device(j->x)->counts;
	const char *p = reply->s;
	size_t left = reply->len;
	PmStatus st = PM_OK;
	Head h;

	if (left < sizeof h)
		return pm_err(err, PM_E_CRASH, "The process of the kernels ended without an answer.");
	memcpy(&h, p, sizeof h);
	h.text[sizeof h.text - 1] = '\0';
	p += sizeof h;
	left -= sizeof h;
	if (print) {
		if (h.n_printed > left || h.n_printed > PM_PRINT_MAX)
			return pm_err(err, PM_E_CRASH, "The process of the kernels sent half an answer.");
		pm_print_take(print, p, h.n_printed, h.cut);
		p += h.n_printed;
		left -= h.n_printed;
	}
	if (counts) {
		if (h.n_counted > left)
			return pm_err(err, PM_E_CRASH, "The process of the kernels sent half an answer.");
		st = pm_counts_take(counts, p, h.n_counted, err);
		if (st)
			return st;
		p += h.n_counted;
		left -= h.n_counted;
	}
	if (h.status)
		return pm_err(err, h.status < 0 ? h.status : PM_E_INTERNAL, "%s", h.text);
	for (size_t i = 0; i < j->n_out && !st; i++) {
		st = pm_tensor_room(&out[i], pm_value_type(g, pm_graph_output(g, i)), err);
		if (!st && left < out[i].bytes)
			st = pm_err(err, PM_E_CRASH, "The process of the kernels sent too little.");
		if (st)
			break;
		if (out[i].bytes)
			memcpy(out[i].data, p, out[i].bytes);
		p += out[i].bytes;
		left -= out[i].bytes;
	}
	return st;
}

static PmStatus judge_end(const PmProcResult *r, PmErr *err)
{
	PmStr how = PM_STR_INIT;
	PmStatus st = PM_OK;

	pm_proc_describe(r, &how);
	if (r->end == PM_PROC_SIGNALED && r->code == SIGSYS)
		st = pm_err(
			err, PM_E_FORBIDDEN,
			"A kernel made a system call, which nothing but its sandbox noticed: its process %s.",
			how.s);
	else if (r->end != PM_PROC_EXITED || r->code)
		st = pm_err(err, PM_E_CRASH, "The process of the kernels %s.", how.s);
	pm_str_release(&how);
	return st;
}

PmStatus pm_exec_run_isolated(PmExec *x, const PmTensor *in, size_t n_in, uint32_t poison, PmTensor *out,
			      size_t n_out, double *seconds, PmErr *err)
{
	Job j = { x, in, n_in, n_out, poison };
	const PmGraph *g = pm_exec_plan(x)->g;
	PmLimits lim = { .file_size = 0, .max_output = sizeof(Head), .tries = 3 };
	double t0 = pm_now();
	PmProcResult r;
	PmStatus st;

	if (!pm_exec_device(x)->ops->shut) {
		st = pm_exec_run(x, in, n_in, poison, out, n_out, err);
		if (seconds)
			*seconds = pm_now() - t0;
		return st;
	}
	if (pm_exec_device(x)->print)
		lim.max_output += PM_PRINT_MAX;
	if (pm_exec_device(x)->counts)
		lim.max_output += (int64_t)pm_counts_bytes(pm_exec_device(x)->counts);
	memset(out, 0, n_out * sizeof *out);
	for (size_t i = 0; i < n_out && i < pm_graph_n_outputs(g); i++) {
		int64_t bytes = 0;

		pm_type_bytes(pm_value_type(g, pm_graph_output(g, i)), &bytes, NULL);
		lim.max_output += bytes;
	}
	st = pm_fork_call(work, &j, &lim, &r, err);
	if (st)
		return st;
	if (seconds)
		*seconds = r.seconds;
	st = judge_end(&r, err);
	if (!st)
		st = take(&j, &r.out, out, err);
	for (size_t i = 0; i < n_out && st; i++)
		pm_tensor_release(&out[i]);
	pm_proc_result_release(&r);
	return st;
}
