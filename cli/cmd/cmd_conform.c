/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_conform.c - passmith conform: ONNX backend tests on a device, counted per operator. */
#include "cli/cmds.h"

#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "base/sys/progress.h"
#include "bench/conform/conform.h"
#include "runtime/device/device.h"

#include <stdio.h>
#include <string.h>

typedef struct Request {
	PmStrList dirs;
	PmConformOpts o;
	const char *doc, *check_doc; /* write it / hold it against the run */
	int verbose;
} Request;

static void show(void *arg, const char *name, size_t done, size_t total)
{
	PmProgress *p = arg;

	if (!done)
		pm_progress_start(p, "running cases", (int64_t)total);
	pm_progress_step(p, name);
}

/* Runs the folders, or the installed node tests when there is none. */
static PmStatus run_all(Request *r, PmConform *c, PmErr *err)
{
	PmStr folder = PM_STR_INIT;
	PmProgress progress = { 0 };
	PmStatus st = PM_OK;
	size_t k;

	r->o.on_case = show;
	r->o.arg = &progress;
	if (!r->dirs.list.n)
		st = pm_conform_folder(&folder, err);
	if (!st && !r->dirs.list.n)
		st = pm_conform_run(folder.s, &r->o, c, err);
	for (k = 0; k < r->dirs.list.n && !st; k++)
		st = pm_conform_run(r->dirs.list.v[k], &r->o, c, err);
	pm_progress_end(&progress);
	pm_str_release(&folder);
	return st;
}

static void put(const Request *r, const PmConform *c)
{
	PmStr text = PM_STR_INIT;

	if (pm_cli_json) {
		pm_cli_put_json(pm_conform_json(c));
		return;
	}
	pm_conform_print(c, r->verbose, &text);
	fputs(text.s, stdout);
	pm_str_release(&text);
}

static PmStatus check_doc(const Request *r, const PmConform *c, PmErr *err)
{
	PmStr doc = PM_STR_INIT;
	PmStatus st = pm_read_file(r->check_doc, 0, &doc, err);

	if (!st)
		st = pm_conform_doc_check(doc.s, r->o.device, c, err);
	if (st == PM_DECLINED)
		st = pm_err(err, PM_E_INVALID, "%.200s is about other cases than those that were run.",
			    r->check_doc);
	pm_str_release(&doc);
	return st;
}

/* Both devices, into the document. */
static PmStatus write_doc(Request *r, PmErr *err)
{
	PmConform ref = { 0 }, emu = { 0 };
	PmStr doc = PM_STR_INIT;
	PmStatus st;

	r->o.device = "ref";
	st = run_all(r, &ref, err);
	r->o.device = "emu";
	if (!st)
		st = run_all(r, &emu, err);
	if (!st) {
		pm_conform_doc(&ref, &emu, &doc);
		st = pm_write_file(r->doc, doc.s, doc.len, err);
	}
	pm_conform_release(&ref);
	pm_conform_release(&emu);
	pm_str_release(&doc);
	return st;
}

static int conform(Request *r)
{
	PmConform c = { 0 };
	PmStatus st;
	PmErr err;
	int failed = 0;

	pm_err_init(&err);
	if (r->doc)
		return write_doc(r, &err) ? pm_cli_fail(&err) : 0;
	st = run_all(r, &c, &err);
	if (!st)
		put(r, &c);
	failed = !st && pm_conform_total(&c).failed > 0;
	if (!st && r->check_doc)
		st = check_doc(r, &c, &err);
	pm_conform_release(&c);
	return st ? pm_cli_fail(&err) : failed;
}

int pm_cmd_conform(const PmCmd *cmd, int argc, char **argv)
{
	int64_t per_op = 0, jobs = pm_cpu_count();
	Request r = { .o = { .device = "ref" } };
	int code = 0;
	const PmOpt opts[] = {
		{ "--device", PM_OPT_ANY_DEVICE, &r.o.device, "ref (the default), emu or cuda" },
		{ "--per-op", PM_OPT_COUNT, &per_op, "only N cases of each operator, a fixed choice" },
		{ "-j", PM_OPT_COUNT, &jobs,
		  "compile kernels for emu in N processes (default: all processors)" },
		{ "--verbose", PM_OPT_FLAG, &r.verbose,
		  "also list unsupported and excluded cases with the reason" },
		{ "--doc", PM_OPT_STR, &r.doc,
		  "run on ref and emu and write the results to FILE, as Markdown" },
		{ "--check-doc", PM_OPT_STR, &r.check_doc, "fail when FILE says other than this run" },
		{ 0 },
	};

	if (pm_args_parse(cmd, opts, argc, argv, &r.dirs, &code)) {
		if (per_op > INT32_MAX || jobs < 1 || jobs > 64)
			code = pm_cli_usage(cmd, "--per-op takes a number up to %d, and -j one from 1 to 64.",
					    INT32_MAX);
		else if (r.check_doc && pm_device_kind(r.o.device) == PM_DEVICE_CUDA)
			code = pm_cli_usage(cmd,
					    "--check-doc is for ref and emu, which the document is about.");
		else {
			r.o.per_op = (int)per_op;
			r.o.jobs = (int)jobs;
			code = conform(&r);
		}
	}
	PM_VEC_RELEASE(&r.dirs.list);
	return code;
}
