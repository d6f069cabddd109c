/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_mine.c - passmith mine: which structures are worth a pass, and a pass to start from for each. */
#include "app/mine/mine_pass.h"
#include "base/sys/io.h"
#include "base/sys/progress.h"
#include "cli/cmds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct MineCmd {
	PmDb *db;
	const char *db_path, *out;
	int64_t top, show;
	PmMine m;
	PmProgress bar;
} MineCmd;

static void step(void *arg, int64_t total)
{
	(void)total;
	pm_progress_step(arg, NULL);
}

static void put_json(const MineCmd *c, const PmMined *x, const char *source, const char *why, cJSON *list)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "structure", x->structure);
	cJSON_AddStringToObject(j, "ops", x->ops);
	pm_json_add_i64(j, "graphs", x->n_graphs);
	pm_json_add_i64(j, "occurrences", x->occurrences);
	pm_json_add_i64(j, "models", x->models);
	pm_json_add_i64(j, "support", x->support);
	cJSON_AddNumberToObject(j, "seconds", x->seconds);
	cJSON_AddNumberToObject(j, "seconds_at_stake", x->at_stake);
	cJSON_AddNumberToObject(j, "share", x->seconds / c->m.seconds);
	cJSON_AddNumberToObject(j, "share_at_stake", x->at_stake / c->m.seconds);
	cJSON_AddStringToObject(j, "time", x->measured ? "measured" : "modelled");
	cJSON_AddStringToObject(j, "best_pass", x->best_pass);
	cJSON_AddNumberToObject(j, "best_speedup", x->best_speedup);
	if (*source)
		cJSON_AddStringToObject(j, "pass", source);
	else
		cJSON_AddStringToObject(j, "no_pass", why);
	cJSON_AddItemToArray(list, j);
}

static void put_line(const MineCmd *c, size_t i, const PmMined *x, int expressible)
{
	char best[64] = "-";

	if (*x->best_pass)
		snprintf(best, sizeof best, "%.40s %.2fx", pm_path_base(x->best_pass), x->best_speedup);
	printf("%4zu  %6.2f %%  %6.2f %%  %8lld  %6lld  %7lld  %-8s  %-22s  %.8s%s %.70s%s\n", i + 1,
	       100 * x->at_stake / c->m.seconds, 100 * x->seconds / c->m.seconds, (long long)x->occurrences,
	       (long long)x->models, (long long)x->support, x->measured ? "measured" : "modelled", best,
	       x->structure, expressible ? " " : "*", x->ops, strlen(x->ops) > 70 ? ",..." : "");
}

static PmStatus put_all(MineCmd *c, PmErr *err)
{
	cJSON *list = pm_cli_json ? cJSON_CreateArray() : NULL;
	PmStr shown = PM_STR_INIT;
	PmStatus st = PM_OK;

	if (!list)
		printf("%zu structures in %lld models (%lld without clones); %lld graphs have no modelled "
		       "time\n"
		       "rank  at stake  of time  occurrences  models  support  time      best pass           "
		       "    structure "
		       "and operators\n",
		       c->m.n, (long long)c->m.models, (long long)c->m.distinct_models,
		       (long long)c->m.unplanned);
	for (size_t i = 0; i < c->m.n && (int64_t)i < c->top && !st; i++) {
		const PmMined *x = &c->m.v[i];
		PmMinePass p;

		st = pm_mine_pass(c->db, x, &p, err);
		if (!st && c->out)
			st = pm_mine_pass_write(c->db, x, &p, c->out, err);
		if (!st && list)
			put_json(c, x, p.source.s, p.why.s, list);
		else if (!st)
			put_line(c, i, x, p.source.len > 0);
		if ((int64_t)i + 1 == c->show)
			pm_str_addf(&shown, "\n%s\n", p.source.len ? p.source.s : p.why.s);
		pm_mine_pass_release(&p);
	}
	pm_cli_put_json(list); /* as far as it got */
	if (!pm_cli_json && !st)
		printf("* a pattern cannot say it\n%s", shown.s);
	pm_str_release(&shown);
	return st;
}

int pm_cmd_mine(const PmCmd *cmd, int argc, char **argv)
{
	MineCmd c = { .top = 20 };
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &c.db_path, "the database" },
		{ "--top", PM_OPT_COUNT, &c.top, "how many structures (default 20)" },
		{ "--show", PM_OPT_COUNT, &c.show,
		  "print the pass to start from for the structure of this rank" },
		{ "-o", PM_OPT_STR, &c.out,
		  "write a pass (.c) and its graph (.gpt) for each into this folder" },
		{ 0 },
	};
	PmStrList args = { 0 };
	PmDbStats s;
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &args, &code)) {
		if (!c.db_path || args.list.n) {
			code = pm_cli_usage(cmd, "mine needs --db FILE, and takes no other argument.");
		} else if (c.top < 1) {
			code = pm_cli_usage(cmd, "--top takes a number from 1.");
		} else if (c.show > c.top) {
			code = pm_cli_usage(cmd, "--show takes a rank up to that of --top, %lld.",
					    (long long)c.top);
		} else if (pm_db_open(c.db_path, PM_DB_MUST_EXIST, &c.db, &err) ||
			   pm_db_stats(c.db, &s, &err)) {
			code = pm_cli_fail(&err);
		} else {
			PmStatus st;

			if (!pm_cli_quiet)
				pm_progress_start(&c.bar, "mining", s.subgraphs);
			st = pm_mine(c.db, step, &c.bar, &c.m, &err);
			pm_progress_end(&c.bar);
			if (!st && !c.m.n)
				st = pm_err(&err, PM_E_NOT_FOUND,
					    "%s holds no fusible subgraph; run passmith extract first.",
					    c.db_path);
			if (st || put_all(&c, &err))
				code = pm_cli_fail(&err);
		}
	}
	pm_mine_release(&c.m);
	pm_db_close(c.db);
	PM_VEC_RELEASE(&args.list);
	return code;
}
