/* cmd_validate.c - passmith validate: may a model serve in a dataset, and if not, why not. */
#include "base/io.h"
#include "base/pool.h"
#include "base/progress.h"
#include "cli/cmds.h"
#include "cli/constraints.h"

#include <stdio.h>
#include <string.h>

typedef struct Result {
	int read; /* 0: the model could not be read */
	char why[PM_ERR_MAX];
	PmConstraints c;
} Result;

typedef struct Job {
	const PmStrList *files;
	PmConstraintOpts opts;
	PmProgress bar;
	cJSON *list;
	size_t n, n_unread, n_broken;
	size_t count[PM_N_CONSTRAINTS][3]; /* by verdict */
} Job;

static PmStatus check_one(void *arg, size_t item, void *result, PmErr *err)
{
	Job *j = arg;
	Result *r = result;
	PmGraph *g = NULL;
	PmErr bad;

	(void)err;
	pm_err_init(&bad);
	if (pm_cli_load(j->files->list.v[item], &g, NULL, &bad)) {
		memcpy(r->why, bad.text, sizeof r->why);
		return PM_OK;
	}
	r->read = 1;
	pm_constraints_check(g, &j->opts, &r->c);
	pm_graph_free(g);
	return PM_OK;
}

static void put_text(const char *path, const PmConstraints *c)
{
	int k;

	printf("%s: %s\n", pm_path_base(path), pm_constraints_hold(c) ? "valid" : "NOT VALID");
	for (k = 0; k < PM_N_CONSTRAINTS; k++)
		printf("  %-28s %-9s  %s\n", pm_constraint_name((PmConstraintKind)k),
		       pm_constraint_verdict(c->of[k].verdict), c->of[k].why);
}

static PmStatus took_one(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Job *j = arg;
	const Result *r = result;
	const char *path = j->files->list.v[item];
	int k;

	(void)err;
	pm_progress_step(&j->bar, pm_path_base(path));
	j->n++;
	if (end == PM_POOL_DIED || !r->read) {
		j->n_unread++;
		fprintf(stderr, "passmith: %s\n", end == PM_POOL_DIED ? path : r->why);
		if (end == PM_POOL_DIED)
			fprintf(stderr, "passmith: checking it ended the process.\n");
		return PM_OK;
	}
	for (k = 0; k < PM_N_CONSTRAINTS; k++)
		j->count[k][r->c.of[k].verdict]++;
	j->n_broken += !pm_constraints_hold(&r->c);
	if (j->list) {
		cJSON *o = pm_constraints_json(&r->c);

		cJSON_AddStringToObject(o, "model", path);
		cJSON_AddItemToArray(j->list, o);
	} else {
		put_text(path, &r->c);
	}
	return PM_OK;
}

static void put_sum(const Job *j)
{
	int k;

	printf("\n%zu models, %zu valid, %zu not, %zu could not be read\n", j->n,
	       j->n - j->n_broken - j->n_unread, j->n_broken, j->n_unread);
	for (k = 0; k < PM_N_CONSTRAINTS; k++)
		printf("  %-28s holds %zu, broken %zu, undecided %zu\n",
		       pm_constraint_name((PmConstraintKind)k), j->count[k][PM_HOLDS], j->count[k][PM_BROKEN],
		       j->count[k][PM_UNDECIDED]);
}

int pm_cmd_validate(const PmCmd *cmd, int argc, char **argv)
{
	int64_t mflop = 0, jobs = 0, seeds = 0;
	const PmOpt opts[] = {
		{ "--max-mflop", PM_OPT_INT, &mflop,
		  "N  run the largest part of a model within N Mflop (20)" },
		{ "--seeds", PM_OPT_INT, &seeds, "N  inputs to run on (3)" },
		{ "-j", PM_OPT_INT, &jobs, "N  processes (all processors)" },
		{ 0 },
	};
	PmStrList files = { 0 };
	Job j = { .files = &files };
	PmPool pool = { .result_size = sizeof(Result), .work = check_one, .done = took_one, .arg = &j };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (!pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		PM_VEC_RELEASE(&files.list);
		return code;
	}
	j.opts.max_flops = mflop > 0 && mflop < 1000000 ? mflop * 1000000 : 0;
	j.opts.seeds = seeds > 0 && seeds < 1000 ? (int)seeds : 0;
	pool.n_items = files.list.n;
	pool.jobs = jobs > 0 && jobs < 1000 ? (int)jobs : pm_cpu_count();
	if (!files.list.n) {
		code = pm_cli_usage(cmd, "No model was given.");
	} else {
		j.list = pm_cli_json ? cJSON_CreateArray() : NULL;
		if (!pm_cli_quiet)
			pm_progress_start(&j.bar, "validating", (int64_t)files.list.n);
		code = pm_pool_run(&pool, &err) ? pm_cli_fail(&err) : j.n_unread ? 4 : j.n_broken ? 1 : 0;
		pm_progress_end(&j.bar);
		if (j.list)
			pm_cli_put_json(j.list);
		else if (j.n > 1)
			put_sum(&j);
	}
	PM_VEC_RELEASE(&files.list);
	return code;
}
