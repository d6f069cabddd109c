/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_script.c - the scripts that Slurm runs for a plan. */
#include "app/cluster/slurm_text.h"

#include <ctype.h>
#include <string.h>

/* A word for the shell. */
static void add_word(PmStr *out, const char *s)
{
	pm_str_addc(out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			pm_str_add(out, "'\\''");
		else
			pm_str_addc(out, *s);
	}
	pm_str_addc(out, '\'');
}

static PmStatus check_line(const char *option, const char *s, PmErr *err)
{
	for (; s && *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return pm_err(
				err, PM_E_INVALID,
				"%s has a character that cannot stand in one line of a script; write it "
				"without line ends and control characters.",
				option);
	return PM_OK;
}

/* In a file name of sbatch a '\' switches patterns off, and a '"' would end it. */
static PmStatus check(const PmSlurmOpts *o, PmErr *err)
{
	PmStatus st = check_line("The path of the plan's folder", o->dir, err);

	if (!st && strpbrk(o->dir, "\"\\"))
		st = pm_err(err, PM_E_INVALID,
			    "The path %s has a character (\" or \\) that Slurm's names of files cannot have; "
			    "make "
			    "the plan in another folder.",
			    o->dir);
	if (!st)
		st = check_line("The path of the program", o->program, err);
	if (!st)
		st = check_line("--gres", o->gres, err);
	if (!st)
		st = check_line("--constraint", o->constraint, err);
	if (!st)
		st = check_line("--sbatch", o->site, err);
	if (!st)
		st = check_line("--setup", o->setup, err);
	if (!st)
		st = check_line("--launch", o->launch, err);
	if (!st && o->site && *o->site && *o->site != '-')
		st = pm_err(err, PM_E_INVALID,
			    "--sbatch takes options of sbatch, and \"%s\" begins with none; write them as "
			    "--sbatch=\"--partition=NAME --time=2:00:00\".",
			    o->site);
	return st;
}

/* The path of a log, in which '%' begins a pattern. */
static void add_log(const PmSlurmOpts *o, const char *name, PmStr *out)
{
	pm_str_add(out, "#SBATCH --output=\"");
	for (const char *s = o->dir; *s; s++) {
		if (*s == '%')
			pm_str_addc(out, '%');
		pm_str_addc(out, *s);
	}
	pm_str_addf(out, "/slurm/%s\"\n", name);
}

static void add_site(const PmSlurmOpts *o, PmStr *out)
{
	if (o->site && *o->site)
		pm_str_addf(out, "#SBATCH %s\n", o->site);
}

static void add_setup(const PmSlurmOpts *o, PmStr *out)
{
	pm_str_add(out, "dir=");
	add_word(out, o->dir);
	pm_str_add(out, "\nprogram=");
	add_word(out, o->program);
	pm_str_add(out, "\n");
	if (o->setup && *o->setup)
		pm_str_addf(out, "%s\n", o->setup);
}

static void add_array(const PmSlurmOpts *o, PmStr *out)
{
	pm_str_addf(out, "#SBATCH --array=0-%lld", (long long)o->shards - 1);
	if (o->at_once > 0)
		pm_str_addf(out, "%%%lld", (long long)o->at_once);
	pm_str_addc(out, '\n');
}

PmStatus pm_slurm_element_script(const PmSlurmOpts *o, PmStr *out, PmErr *err)
{
	PmStatus st = check(o, err);

	if (st)
		return st;
	pm_str_addf(
		out,
		"#!/bin/sh\n# element.sh - one shard of a plan, as an element of an array of jobs of Slurm.\n"
		"#\n# passmith cluster submit gives the shards of the array's element 0 as the argument, 0 "
		"without "
		"one, and the array that is missing.\n"
		"#SBATCH --job-name=%s\n",
		o->name);
	add_array(o, out);
	if (o->gres && *o->gres)
		pm_str_addf(out, "#SBATCH --gres=%s\n", o->gres);
	if (o->constraint && *o->constraint)
		pm_str_addf(out, "#SBATCH --constraint=\"%s\"\n", o->constraint);
	pm_str_add(out, "#SBATCH --requeue\n#SBATCH --signal=B:USR1@90\n#SBATCH --open-mode=append\n");
	add_log(o, "%A_%a.log", out);
	add_site(o, out);
	pm_str_add(out, "\nshard=$((${1:-0} + SLURM_ARRAY_TASK_ID))\n");
	add_setup(o, out);
	pm_str_add(
		out,
		"echo \"shard $shard: job $SLURM_JOB_ID, element $SLURM_ARRAY_TASK_ID, node $SLURMD_NODENAME,"
		" restarts ${SLURM_RESTART_COUNT:-0}\"\n\n"
		"# USR1 comes 90 seconds before the time limit: the worker publishes what is finished and "
		"ends.\n"
		"worker=\nasked=\n"
		"ask() { asked=$1; [ -z \"$worker\" ] || kill -s \"$1\" \"$worker\" 2>/dev/null; }\n"
		"trap 'ask USR1' USR1\ntrap 'ask TERM' TERM\n");
	if (o->launch && *o->launch)
		pm_str_addf(out, "%s ", o->launch);
	pm_str_addf(out,
		    "\"$program\" cluster work \"$dir\" --shard \"$shard\" &\nworker=$!\n"
		    "# A signal that came before there was a worker.\n"
		    "[ -z \"$asked\" ] || ask \"$asked\"\n"
		    "wait \"$worker\"\ncode=$?\n"
		    "# A signal ends wait, and not the worker.\n"
		    "while kill -0 \"$worker\" 2>/dev/null; do\n\twait \"$worker\"\n\tcode=$?\ndone\n\n"
		    "if [ \"$asked\" = USR1 ] && [ \"$code\" -ne 0 ]; then\n"
		    "\tif [ \"${SLURM_RESTART_COUNT:-0}\" -ge %d ]; then\n"
		    "\t\techo \"shard $shard: not finished after $SLURM_RESTART_COUNT restarts; give more "
		    "time with "
		    "sbatch --time, then: passmith cluster resume\"\n"
		    "\telif scontrol requeue \"$SLURM_JOB_ID\"; then\n"
		    "\t\techo \"shard $shard: queued again\"\n"
		    "\t\texit 0\n"
		    "\telse\n"
		    "\t\techo \"shard $shard: cannot be queued again by scontrol; then: passmith cluster "
		    "resume\"\n"
		    "\tfi\nfi\nexit \"$code\"\n",
		    PM_SLURM_MAX_RESTARTS);
	return PM_OK;
}

PmStatus pm_slurm_collect_script(const PmSlurmOpts *o, PmStr *out, PmErr *err)
{
	PmStatus st = check(o, err);

	if (st)
		return st;
	pm_str_addf(out,
		    "#!/bin/sh\n# collect.sh - makes one database of the results, after the elements of the "
		    "array have "
		    "ended.\n#SBATCH --job-name=%s\n#SBATCH --requeue\n#SBATCH --open-mode=append\n",
		    o->name);
	add_log(o, "collect_%j.log", out);
	add_site(o, out);
	pm_str_addc(out, '\n');
	add_setup(o, out);
	pm_str_add(out, "exec ");
	if (o->launch && *o->launch)
		pm_str_addf(out, "%s ", o->launch);
	pm_str_add(out, "\"$program\" cluster collect \"$dir\"\n");
	return PM_OK;
}

void pm_slurm_array(const int64_t *index, size_t n, int64_t at_once, PmStr *out)
{
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && index[k] == index[k - 1] + 1;)
			k++;
		pm_str_addf(out, "%s%lld", i ? "," : "", (long long)index[i]);
		if (k > i + 1)
			pm_str_addf(out, "-%lld", (long long)index[k - 1]);
	}
	if (at_once > 0)
		pm_str_addf(out, "%%%lld", (long long)at_once);
}
