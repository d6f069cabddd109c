/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_cluster.c - passmith cluster: picks the verb. */
#include "cli/cluster/cluster.h"

#include "app/eval/hidden.h"
#include "bench/eval/runner.h"
#include "cli/eval_options.h"

#include <string.h>

static const struct {
	const char *name;
	PmClusterVerb run;
} verbs[] = {
	{ "plan", pm_cluster_verb_plan },     { "work", pm_cluster_verb_work },
	{ "status", pm_cluster_verb_status }, { "collect", pm_cluster_verb_collect },
	{ "resume", pm_cluster_verb_resume }, { "submit", pm_cluster_verb_submit },
	{ "cancel", pm_cluster_verb_cancel },
};

enum { N_VERBS = sizeof verbs / sizeof *verbs };

static int find_verb(const char *name)
{
	int k = 0;

	while (k < N_VERBS && strcmp(verbs[k].name, name))
		k++;
	return k;
}

/* What the parser cannot know of a plan: 0, or the exit code after one sentence. */
static int check_plan(const PmCmd *cmd, const PmClusterCmd *c)
{
	PmPrecisionTier tier;
	int code;

	if (!c->db || !c->dir || !c->passes.list.n || !c->tasks == !c->split)
		return pm_cli_usage(cmd,
				    "Say cluster plan --db FILE --tasks A,B or --split NAME, --pass P.so and "
				    "-o DIR.");
	code = pm_cli_eval_words(cmd, c->preset, c->reference);
	if (code)
		return code;
	if (!pm_tier_from_name(c->precision, &tier))
		return pm_cli_usage(cmd, "There is no precision '%.40s'; strict, tf32 and bf16 exist.",
				    c->precision);
	if (c->hidden > PM_MAX_HIDDEN_SHAPES)
		return pm_cli_usage(cmd, "--hidden takes a number from 0 to %d.", PM_MAX_HIDDEN_SHAPES);
	if (c->shards > PM_CLUSTER_MAX_SHARDS)
		return pm_cli_usage(cmd, "--shards takes a number up to %d.", PM_CLUSTER_MAX_SHARDS);
	if (c->lease <= 0)
		return pm_cli_usage(cmd, "--lease takes a number of seconds above 0.");
	return 0;
}

static int run_verb(PmClusterCmd *c, int verb)
{
	PmErr err;

	pm_err_init(&err);
	return verbs[verb].run(c, &err) ? pm_cli_fail(&err) : c->no;
}

int pm_cmd_cluster(const PmCmd *cmd, int argc, char **argv)
{
	PmClusterCmd c = { .device = "emu",
			   .preset = "sound",
			   .precision = "strict",
			   .reference = "cpu",
			   .hidden = PM_HIDDEN_SHAPES,
			   .deadline = PM_EVAL_DEADLINE,
			   .lease = PM_CLUSTER_LEASE,
			   .at_once = 64,
			   .shard = -1 };
	const char *out = NULL;
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &c.db, "plan: the database that holds the tasks" },
		{ "--tasks", PM_OPT_STR, &c.tasks, "A,B  plan: these tasks, by id, name or hash" },
		{ "--split", PM_OPT_STR, &c.split, "plan: all tasks of this split (eval, train)" },
		{ "--pass", PM_OPT_LIST, &c.passes, "plan: a pass (may be given several times)" },
		{ "--shards", PM_OPT_COUNT, &c.shards,
		  "plan: parts of equal time (default: one for each pass on each task, at most 1000)" },
		{ "--lease", PM_OPT_NUM, &c.lease,
		  "plan: seconds of silence after which others may take a shard (default 60)" },
		{ "--device", PM_OPT_DEVICE, &c.device, "plan: emu (times are modelled) or cuda" },
		{ "--target", PM_OPT_TARGET, &c.profile,
		  "plan: GPU that kernels are written for and times are modelled of, as in eval" },
		{ "--preset", PM_OPT_STR, &c.preset, "plan: sound (default) or passnet, as in eval" },
		{ "--precision", PM_OPT_STR, &c.precision,
		  "plan: strict (default), tf32 or bf16, as in eval" },
		{ "--reference", PM_OPT_STR, &c.reference, "plan: cpu (default) or auto, as in eval" },
		{ "--seed", PM_OPT_INT, &c.seed, "plan: part of what is resumed (default 0), as in eval" },
		{ "--hidden", PM_OPT_COUNT, &c.hidden, "plan: hidden shapes of each task (default 2)" },
		{ "--deadline", PM_OPT_NUM, &c.deadline,
		  "plan: seconds that one variant may take (default 120, 0 = any)" },
		{ "--tf32", PM_OPT_FLAG, &c.tf32,
		  "plan: let libraries of the baseline use TF32, as in eval" },
		{ "--graphs", PM_OPT_FLAG, &c.graphs, "plan: time launches as one CUDA graph, as in eval" },
		{ "--confirm", PM_OPT_FLAG, &c.confirm,
		  "plan: what is faster is measured again, as in eval" },
		{ "--weak-sandbox", PM_OPT_FLAG, &c.weak,
		  "plan: also where a layer of the sandbox is missing; results say so" },
		{ "--gres", PM_OPT_STR, &c.gres,
		  "TEXT  plan: what an element asks Slurm for (default: gpu:1; emu: nothing)" },
		{ "--constraint", PM_OPT_STR, &c.constraint,
		  "NAME  plan: feature that Slurm's nodes must have, as the model of their GPU" },
		{ "--at-once", PM_OPT_COUNT, &c.at_once,
		  "plan: elements that Slurm runs at once (default 64, 0 = any number)" },
		{ "--sbatch", PM_OPT_STR, &c.sbatch,
		  "OPTIONS  plan: more options of sbatch, written --sbatch=\"--partition=gpu "
		  "--time=2:00:00\"" },
		{ "--setup", PM_OPT_STR, &c.setup,
		  "LINE  plan: line of shell before the program on a node, as \"module load cuda\"" },
		{ "--launch", PM_OPT_STR, &c.launch,
		  "WORDS  plan: before the program's name, as \"apptainer exec --nv passmith.sif\"" },
		{ "--program", PM_OPT_STR, &c.program,
		  "PATH  plan: the program on a node (default: this one)" },
		{ "-o", PM_OPT_STR, &out, "plan: the folder to make, which all machines see" },
		{ "--shard", PM_OPT_COUNT, &c.shard,
		  "work: this shard alone, as an element of an array does" },
		{ "--once", PM_OPT_FLAG, &c.once, "work: one shard, and no more" },
		{ "--jobs", PM_OPT_COUNT, &c.jobs,
		  "work: variants of an item that are evaluated at once (default: all processors; cuda: 3)" },
		{ "-j", PM_OPT_COUNT, &c.jobs, "the same as --jobs" },
		{ "--retry", PM_OPT_FLAG, &c.retry, "resume: also items that came to nothing three times" },
		{ 0 },
	};
	PmStrList args = { 0 };
	int code = 0;

	if (pm_args_parse(cmd, opts, argc, argv, &args, &code)) {
		int verb = args.list.n ? find_verb(args.list.v[0]) : N_VERBS;
		int plans = verb < N_VERBS && verbs[verb].run == pm_cluster_verb_plan;

		c.dir = plans ? out : args.list.n > 1 ? args.list.v[1] : NULL;
		if (verb == N_VERBS || args.list.n != (plans ? 1u : 2u) || (!plans && out))
			code = pm_cli_usage(
				cmd, "Say cluster plan -o DIR, or cluster work, status, collect, resume, "
				     "submit or cancel DIR.");
		else
			code = plans ? check_plan(cmd, &c) : 0;
		if (!code)
			code = run_verb(&c, verb);
	}
	PM_VEC_RELEASE(&c.passes.list);
	PM_VEC_RELEASE(&args.list);
	return code;
}
