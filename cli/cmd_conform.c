/* cmd_conform.c - passmith conform: the ONNX project's node tests on a device, counted per operator. */
#include "cli/cmds.h"

#include "base/progress.h"
#include "bench/conform.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void show(void *arg, const char *name, size_t done, size_t total)
{
	PmProgress *p = arg;

	if (!done)
		pm_progress_start(p, "running cases", (int64_t)total);
	pm_progress_step(p, name);
}

static PmStatus conform(const char *dir, PmConformOpts *o, int verbose, int *failed, PmErr *err)
{
	PmStr folder = PM_STR_INIT, text = PM_STR_INIT;
	PmProgress progress = { 0 };
	PmConform c = { 0 };
	PmStatus st = PM_OK;
	size_t k;

	o->on_case = show;
	o->arg = &progress;
	if (dir)
		pm_str_add(&folder, dir);
	else
		st = pm_conform_folder(&folder, err);
	if (!st)
		st = pm_conform_run(folder.s, o, &c, err);
	pm_progress_end(&progress);
	if (!st && pm_cli_json) {
		pm_cli_put_json(pm_conform_json(&c));
	} else if (!st) {
		pm_conform_print(&c, verbose, &text);
		fputs(text.s, stdout);
	}
	for (k = 0; k < c.n; k++)
		*failed += c.v[k].verdict == PM_CASE_FAILED;
	pm_conform_release(&c);
	pm_str_release(&folder);
	pm_str_release(&text);
	return st;
}

int pm_cmd_conform(const PmCmd *cmd, int argc, char **argv)
{
	int64_t per_op = 0, jobs = sysconf(_SC_NPROCESSORS_ONLN);
	PmConformOpts o = { .device = "ref" };
	int verbose = 0, failed = 0, code = 0;
	const PmOpt opts[] = {
		{ "--device", PM_OPT_STR, &o.device, "ref (the default), emu or cuda" },
		{ "--per-op", PM_OPT_INT, &per_op, "only N cases of each operator, a fixed choice" },
		{ "-j", PM_OPT_INT, &jobs,
		  "compile kernels for emu in N processes (default: all processors)" },
		{ "--verbose", PM_OPT_FLAG, &verbose, "also say why cases were skipped" },
		{ 0 },
	};
	PmStrList dirs = { 0 };
	PmErr err;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &dirs, &code)) {
		if (dirs.list.n > 1)
			code = pm_cli_usage(cmd, "conform takes one folder.");
		else if (per_op < 0 || per_op > INT32_MAX || jobs < 1 || jobs > 64)
			code = pm_cli_usage(cmd, "--per-op takes a positive number and -j one from 1 to 64.");
		else if (strcmp(o.device, "ref") && strcmp(o.device, "emu") && strcmp(o.device, "cuda"))
			code = pm_cli_usage(cmd, "There is no device '%.40s'; name ref, emu or cuda.",
					    o.device);
		else {
			o.per_op = (int)per_op;
			o.jobs = (int)jobs;
			if (conform(dirs.list.n ? dirs.list.v[0] : NULL, &o, verbose, &failed, &err))
				code = pm_cli_fail(&err);
			else
				code = failed ? 1 : 0;
		}
	}
	PM_VEC_RELEASE(&dirs.list);
	return code;
}
