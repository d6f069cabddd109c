/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_task.c - passmith task: picks the verb; lists and shows tasks. */
#include "cli/task/task.h"

#include "base/core/renamed.h"
#include "dataset/store/tasks.h"
#include "extract/variants/variants.h"
#include "ir/category/category.h"

#include <stdio.h>
#include <string.h>

/* ---- list and show ---- */

typedef struct List {
	cJSON *list;          /* NULL: for people */
	const char *category; /* NULL: any */
} List;

static PmStatus list_one(void *arg, const PmTaskRow *row, PmErr *err)
{
	const List *l = arg;
	cJSON *list = l->list;

	(void)err;
	if (l->category && strcmp(row->category, l->category))
		return PM_OK;
	if (list) {
		cJSON *j = cJSON_CreateObject();

		pm_json_add_i64(j, "id", row->id);
		cJSON_AddStringToObject(j, "name", row->name);
		cJSON_AddStringToObject(j, "kind", row->kind);
		cJSON_AddStringToObject(j, "category", row->category);
		cJSON_AddStringToObject(j, "hash", row->hash);
		pm_json_add_i64(j, "variants", row->n_variants);
		pm_json_add_old(j, "variants");
		cJSON_AddStringToObject(j, "split", row->split);
		cJSON_AddStringToObject(j, "policy", row->policy);
		cJSON_AddStringToObject(j, "stratum", row->stratum);
		cJSON_AddStringToObject(j, "gate", row->gate);
		cJSON_AddItemToArray(list, j);
	} else {
		printf("%4lld  %-54s %4lld variants  %.12s  %-13s %-5s %s\n", (long long)row->id, row->name,
		       (long long)row->n_variants, row->hash, row->category, row->split, row->stratum);
	}
	return PM_OK;
}

PmStatus pm_task_verb_list(PmTaskCmd *c, PmErr *err)
{
	PmCategory category = c->category ? pm_category_from_name(c->category) : PM_N_CATEGORIES;
	List l = { NULL, c->category ? pm_category_name(category) : NULL };
	PmStatus st;

	if (c->category && category == PM_N_CATEGORIES)
		return pm_err(err, PM_E_INVALID,
			      "There is no category '%.80s'; docs/reference/exemplars.md lists them.",
			      c->category);
	l.list = pm_cli_json ? cJSON_CreateArray() : NULL;
	st = c->split ? pm_tasks_of_split(c->db, c->split, list_one, &l, err)
		      : pm_tasks_each(c->db, list_one, &l, err);
	pm_cli_put_json(l.list); /* as far as it got */
	return st;
}

typedef struct Show {
	cJSON *list;
	int whole;
} Show;

static PmStatus show_one(void *arg, const PmVariantRow *row, PmErr *err)
{
	Show *s = arg;

	(void)err;
	if (s->list) {
		cJSON *j = cJSON_CreateObject();

		pm_json_add_i64(j, "ordinal", row->ordinal);
		cJSON_AddStringToObject(j, "label", row->label);
		cJSON_AddStringToObject(j, "dtype", pm_dtype_name(row->dtype));
		cJSON_AddStringToObject(j, "hash", row->hash);
		cJSON_AddStringToObject(j, "ref", row->ref);
		cJSON_AddStringToObject(j, "ref_why", row->ref_why);
		cJSON_AddStringToObject(j, "text", row->text);
		cJSON_AddItemToArray(s->list, j);
	} else {
		printf("%s# variant %lld: %s%s%s%s%s\n%s", row->ordinal ? "\n" : "", (long long)row->ordinal,
		       row->label, *row->ref ? "; on the reference: " : "", row->ref,
		       *row->ref_why ? ", " : "", row->ref_why,
		       s->whole || row->ordinal == 0 ? row->text : "");
	}
	return PM_OK;
}

PmStatus pm_task_verb_show(PmTaskCmd *c, PmErr *err)
{
	Show s = { pm_cli_json ? cJSON_CreateArray() : NULL, c->whole };
	int64_t id;
	PmStatus st = pm_task_find(c->db, c->arg, &id, err);

	if (!st)
		st = pm_task_variants_each(c->db, id, show_one, &s, err);
	pm_cli_put_json(s.list); /* as far as it got */
	return st;
}

/* ---- the verbs ---- */

enum { NO, MAYBE, YES, SOME };

enum { MOST_MFLOP = 1000000000 };

static const struct {
	const char *name;
	int arg, db, out; /* NO, MAYBE or YES: what the verb takes; SOME: one or more */
	PmTaskVerb run;
} verbs[] = {
	{ "list", NO, YES, NO, pm_task_verb_list },     { "make", NO, YES, NO, pm_task_verb_make },
	{ "show", YES, YES, NO, pm_task_verb_show },    { "build", NO, YES, NO, pm_task_verb_build },
	{ "check", NO, YES, NO, pm_task_verb_check },   { "gate", YES, MAYBE, NO, pm_task_verb_gate },
	{ "pack", MAYBE, YES, YES, pm_task_verb_pack }, { "unpack", YES, YES, NO, pm_task_verb_unpack },
	{ "verify", YES, NO, NO, pm_task_verb_verify }, { "export", YES, MAYBE, NO, pm_task_verb_export },
	{ "from", SOME, YES, NO, pm_task_verb_from },
};

enum { N_VERBS = sizeof verbs / sizeof *verbs };

static int find_verb(const char *name)
{
	int k = 0;

	while (k < N_VERBS && strcmp(verbs[k].name, name))
		k++;
	return k;
}

/* Unpacking, and tasks of models, may make a database. */
static int run_verb(PmTaskCmd *c, int verb, const char *db)
{
	int makes = verbs[verb].run == pm_task_verb_unpack || verbs[verb].run == pm_task_verb_from;
	unsigned flags = makes ? 0 : PM_DB_MUST_EXIST;
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = db ? pm_db_open(db, flags, &c->db, &err) : PM_OK;
	if (!st)
		st = verbs[verb].run(c, &err);
	pm_db_close(c->db);
	return st ? pm_cli_fail(&err) : c->no;
}

static int fits(int wants, int given)
{
	return wants == MAYBE || given == (wants >= YES);
}

int pm_cmd_task(const PmCmd *cmd, int argc, char **argv)
{
	PmTaskCmd c = { .top = 10,
			.n_eval = 200,
			.ratio = 10,
			.stride = 16,
			.seed = 1,
			.honest = 2,
			.max_check = 32 << 20 };
	const char *db = NULL;
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &db, "the database" },
		{ "--top", PM_OPT_COUNT, &c.top,
		  "make: from the N subgraphs that cover most nodes (default 10)" },
		{ "--even", PM_OPT_FLAG, &c.even,
		  "make: as many for each operator that dominates, classical subgraphs too" },
		{ "--for", PM_OPT_STR, &c.for_pass, "make: only from subgraphs to which this pass applies" },
		{ "--subgraph", PM_OPT_LIST, &c.hashes,
		  "make: from the subgraph of this hash (several times)" },
		{ "--name", PM_OPT_STR, &c.name, "make, from: name of a single task" },
		{ "--tag", PM_OPT_LIST, &c.tags, "KEY=VALUE  from: a tag of the tasks (several times)" },
		{ "--groups", PM_OPT_STR, &c.groups,
		  "FILE  from: one task of several models for each line NAME<TAB>MODEL,MODEL,..." },
		{ "--shapes", PM_OPT_COUNT, &c.shapes,
		  "make, build, from: shapes of each task, the original included (default 9; build 10; "
		  "from 5); export: the first N only" },
		{ "--max-elements", PM_OPT_COUNT, &c.max_elements,
		  "make, build: elements of one value at most (default 4194304); from: cut sizes to it" },
		{ "--max-mflop", PM_OPT_COUNT, &c.max_mflop,
		  "make: only from subgraphs of at most N megaflops; from: cut sizes to it; gate --filters: "
		  "the "
		  "most that one run may take (default 2000)" },
		{ "--eval", PM_OPT_COUNT, &c.n_eval, "build: tasks to evaluate on (default 200)" },
		{ "--ratio", PM_OPT_COUNT, &c.ratio,
		  "build: tasks to train on for each of them (default 10)" },
		{ "--stride", PM_OPT_COUNT, &c.stride,
		  "build: every N-th graph of a bucket is a task of its own (default 16)" },
		{ "--seed", PM_OPT_INT, &c.seed,
		  "build, from, gate, export: seed of variants and inputs (default 1)" },
		{ "--honest", PM_OPT_COUNT, &c.honest,
		  "build, gate: runs of plain kernels on emu that must agree (default 2, of eval tasks)" },
		{ "--filters", PM_OPT_FLAG, &c.filters,
		  "gate: measure by the published filters, at the graph's own sizes where they are small "
		  "enough" },
		{ "-j", PM_OPT_COUNT, &c.jobs, "N  build: processes that judge structures (all processors)" },
		{ "--rebuild", PM_OPT_FLAG, &c.rebuild, "build: remove the tasks of an earlier build first" },
		{ "--split", PM_OPT_STR, &c.split, "list, pack: eval or train only" },
		{ "--category", PM_OPT_STR, &c.category, "list: tasks of one category only, such as reduce" },
		{ "-o", PM_OPT_STR, &c.out, "pack: the folder below which packs are written" },
		{ "--torch", PM_OPT_STR, &c.torch_dir,
		  "export: a folder for PyTorch modules, one folder per graph" },
		{ "--max-check", PM_OPT_COUNT, &c.max_check,
		  "export: store inputs and expected outputs up to N bytes and operations (default "
		  "33554432)" },
		{ "--all", PM_OPT_FLAG, &c.whole, "show: the text of every variant, not only the first" },
		{ 0 },
	};
	PmStrList args = { 0 };
	int code = 0;

	if (pm_args_parse(cmd, opts, argc, argv, &args, &code)) {
		int verb = args.list.n ? find_verb(args.list.v[0]) : N_VERBS;

		c.arg = args.list.n > 1 ? args.list.v[1] : NULL;
		if (verb == N_VERBS || (args.list.n > 2 && verbs[verb].arg != SOME) ||
		    !fits(verbs[verb].arg, c.arg || (c.groups && verbs[verb].arg == SOME)) ||
		    !fits(verbs[verb].db, db != NULL) || !fits(verbs[verb].out, c.out != NULL))
			code = pm_cli_usage(cmd, "Say task list, make, build, from MODEL... or --groups "
						 "FILE, check, show TASK, gate TASK, "
						 "export TASK --torch DIR, pack [TASK] -o "
						 "DIR or unpack DIR, with --db FILE; or task verify DIR.");
		else if (verbs[verb].run == pm_task_verb_export && !c.torch_dir)
			code = pm_cli_usage(cmd, "task export needs --torch DIR.");
		else if (c.groups && (verbs[verb].arg != SOME || c.arg || c.name || c.shapes))
			code = pm_cli_usage(
				cmd, "--groups is of task from, and names models, tasks and shapes: give no "
				     "MODEL, --name or --shapes beside it.");
		else if (c.name && args.list.n > 2)
			code = pm_cli_usage(cmd, "--name names one task: give one model.");
		else if (c.shapes > PM_MAX_SHAPES)
			code = pm_cli_usage(cmd, "--shapes takes a number up to %d.", PM_MAX_SHAPES);
		else if (c.top < 1)
			code = pm_cli_usage(cmd, "--top takes a number from 1.");
		else if (c.max_mflop > MOST_MFLOP)
			code = pm_cli_usage(cmd, "--max-mflop takes a number up to %d.", MOST_MFLOP);
		else if (c.stride < 1)
			code = pm_cli_usage(cmd, "--stride takes a number from 1.");
		else {
			for (size_t i = 1; i < args.list.n; i++)
				PM_VEC_PUSH(&c.models.list, args.list.v[i]);
			code = run_verb(&c, verb, db);
		}
	}
	PM_VEC_RELEASE(&c.hashes.list);
	PM_VEC_RELEASE(&c.tags.list);
	PM_VEC_RELEASE(&c.models.list);
	PM_VEC_RELEASE(&args.list);
	return code;
}
