/* cmd_task.c - passmith task: makes, lists, shows and exports tasks. */
#include "cli/cmds.h"

#include "cli/task_export.h"
#include "dataset/subgraphs.h"
#include "dataset/tasks.h"
#include "extract/variants.h"
#include "ir/text.h"
#include "matcher/pass_host.h"
#include "runtime/ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Make {
	PmDb *db;
	const char *for_pass, *name;
	int64_t top, shapes, max_elements, max_mflop;
	PM_VEC(int64_t) chosen; /* subgraph ids */
	PmStrList hashes;
	cJSON *list; /* NULL: print lines */
	int64_t made, had;
} Make;

typedef struct Pick {
	int64_t id, weight;
} Pick;

typedef struct Picks {
	PM_VEC(Pick) list;
} Picks;

static PmStatus pick(void *arg, const PmSubgraphRow *row, PmErr *err)
{
	Picks *p = arg;

	(void)err;
	PM_VEC_PUSH(&p->list, ((Pick){ row->id, row->n_found * row->n_nodes }));
	return PM_OK;
}

/* The most nodes in all models first; then the order in which they were stored. */
static int by_weight(const void *a, const void *b)
{
	const Pick *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int64_t flops_of(const PmGraph *g)
{
	int64_t sum = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		sum += pm_op_flops(g, pm_graph_node_at(g, i));
	return sum;
}

/* 1 when the stored subgraph is small enough and the pass, if one is asked for, applies to it. */
static PmStatus qualifies(Make *m, int64_t id, int *yes, PmErr *err)
{
	PmPassOutcome o = { 0 };
	PmPassOpts po = { 0 };
	PmGraph *g = NULL;
	PmStatus st = pm_subgraph_get(m->db, id, &g, err);

	*yes = !st && (!m->max_mflop || flops_of(g) <= m->max_mflop * 1000000);
	if (*yes && m->for_pass) {
		st = pm_pass_apply(m->for_pass, g, &po, &o, err);
		*yes = !st && o.verdict == PM_VERDICT_OK;
	}
	pm_pass_outcome_release(&o);
	pm_graph_free(g);
	return st;
}

static PmStatus choose(Make *m, PmErr *err)
{
	Picks p = { 0 };
	PmStatus st = PM_OK;

	for (size_t i = 0; i < m->hashes.list.n && !st; i++) {
		int64_t id;

		st = pm_subgraph_find(m->db, m->hashes.list.v[i], &id, err);
		if (!st)
			PM_VEC_PUSH(&m->chosen, id);
	}
	if (st || m->hashes.list.n)
		return st;
	st = pm_subgraphs_each(m->db, "fusible", 0, pick, &p, err);
	if (!st && p.list.n)
		qsort(p.list.v, p.list.n, sizeof *p.list.v, by_weight);
	for (size_t i = 0; i < p.list.n && !st && (int64_t)m->chosen.n < m->top; i++) {
		int yes;

		st = qualifies(m, p.list.v[i].id, &yes, err);
		if (!st && yes)
			PM_VEC_PUSH(&m->chosen, p.list.v[i].id);
	}
	PM_VEC_RELEASE(&p.list);
	return st;
}

/* "Mul_Sigmoid-1a2b3c4d": what it does and which it is. */
static void default_name(const PmGraph *g, const char *hash, PmStr *out)
{
	PmStr ops = PM_STR_INIT;

	pm_graph_ops(g, &ops);
	for (size_t i = 0; i < ops.len && i < 40; i++)
		pm_str_addc(out, ops.s[i] == ',' ? '_' : ops.s[i]);
	pm_str_addf(out, "%s-%.8s", ops.len > 40 ? ".." : "", hash);
	pm_str_release(&ops);
}

typedef struct Named {
	int64_t id;
	PmStr *name;
} Named;

static PmStatus take_name(void *arg, const PmTaskRow *row, PmErr *err)
{
	Named *n = arg;

	(void)err;
	if (row->id == n->id) {
		pm_str_clear(n->name);
		pm_str_add(n->name, row->name);
	}
	return PM_OK;
}

static PmStatus make_one(Make *m, int64_t subgraph, PmErr *err)
{
	PmVariantOpts vo = { .n_shapes = (int)m->shapes, .max_elements = m->max_elements };
	PmVariantReport vr = { 0 };
	PmStr name = PM_STR_INIT;
	PmTaskBuilder *b;
	PmGraph *g = NULL;
	PmGraphKey key;
	int64_t id = 0;
	int is_new = 0;
	PmStatus st = pm_subgraph_get(m->db, subgraph, &g, err);

	if (!st)
		st = pm_graph_key(g, &key, err);
	if (!st) {
		if (m->name && m->chosen.n == 1)
			pm_str_add(&name, m->name);
		else
			default_name(g, key.full, &name);
		b = pm_task_begin(name.s, "fusible");
		st = pm_variants_make(g, &vo, pm_task_add, b, &vr, err);
		if (st)
			pm_task_drop(b);
		else
			st = pm_task_end(b, m->db, &id, &is_new, err);
	}
	/* The same members may be there under another name, which is then the task's. */
	if (!st && !is_new)
		st = pm_tasks_each(m->db, take_name, &(Named){ id, &name }, err);
	if (!st && m->list) {
		cJSON *j = cJSON_CreateObject(), *dropped;

		pm_json_add_i64(j, "id", id);
		cJSON_AddStringToObject(j, "name", name.s);
		cJSON_AddBoolToObject(j, "new", is_new);
		pm_json_add_i64(j, "shapes", (int64_t)vr.n_shapes);
		pm_json_add_i64(j, "members", (int64_t)vr.n_made);
		dropped = cJSON_AddObjectToObject(j, "dropped");
		for (int r = 0; r < PM_VARIANT_N_REASONS; r++)
			if (vr.rejected[r])
				cJSON_AddNumberToObject(dropped, pm_variant_reason((PmVariantReason)r),
							(double)vr.rejected[r]);
		cJSON_AddItemToArray(m->list, j);
	} else if (!st) {
		printf("task %lld %s: %zu members of %zu shapes%s\n", (long long)id, name.s, vr.n_made,
		       vr.n_shapes, is_new ? "" : " (was there, by this name)");
	}
	m->made += is_new;
	m->had += !st && !is_new;
	pm_graph_free(g);
	pm_str_release(&name);
	return st;
}

static PmStatus task_make(Make *m, PmErr *err)
{
	PmStatus st = choose(m, err);

	if (!st && !m->chosen.n)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "%s holds no subgraph %s; run passmith extract on more models.",
			    pm_db_path(m->db), m->for_pass ? "to which the pass applies" : "yet");
	m->list = pm_cli_json ? cJSON_CreateArray() : NULL;
	for (size_t i = 0; i < m->chosen.n && !st; i++)
		st = make_one(m, m->chosen.v[i], err);
	if (m->list && !st)
		pm_cli_put_json(m->list);
	else
		cJSON_Delete(m->list);
	return st;
}

/* ---- list and show ---- */

static PmStatus list_one(void *arg, const PmTaskRow *row, PmErr *err)
{
	cJSON *list = arg;

	(void)err;
	if (list) {
		cJSON *j = cJSON_CreateObject();

		pm_json_add_i64(j, "id", row->id);
		cJSON_AddStringToObject(j, "name", row->name);
		cJSON_AddStringToObject(j, "kind", row->kind);
		cJSON_AddStringToObject(j, "hash", row->hash);
		pm_json_add_i64(j, "members", row->n_members);
		cJSON_AddItemToArray(list, j);
	} else {
		printf("%4lld  %-48s %4lld members  %.12s\n", (long long)row->id, row->name,
		       (long long)row->n_members, row->hash);
	}
	return PM_OK;
}

static PmStatus task_list(PmDb *db, PmErr *err)
{
	cJSON *list = pm_cli_json ? cJSON_CreateArray() : NULL;
	PmStatus st = pm_tasks_each(db, list_one, list, err);

	if (list && !st)
		pm_cli_put_json(list);
	else
		cJSON_Delete(list);
	return st;
}

typedef struct Show {
	cJSON *list;
	int whole;
} Show;

static PmStatus show_one(void *arg, const PmMemberRow *row, PmErr *err)
{
	Show *s = arg;

	(void)err;
	if (s->list) {
		cJSON *j = cJSON_CreateObject();

		pm_json_add_i64(j, "ordinal", row->ordinal);
		cJSON_AddStringToObject(j, "label", row->label);
		cJSON_AddStringToObject(j, "dtype", pm_dtype_name(row->dtype));
		cJSON_AddStringToObject(j, "hash", row->hash);
		cJSON_AddStringToObject(j, "text", row->text);
		cJSON_AddItemToArray(s->list, j);
	} else {
		printf("%s# member %lld: %s\n%s", row->ordinal ? "\n" : "", (long long)row->ordinal,
		       row->label, s->whole || row->ordinal == 0 ? row->text : "");
	}
	return PM_OK;
}

static PmStatus task_show(PmDb *db, const char *what, int whole, PmErr *err)
{
	Show s = { pm_cli_json ? cJSON_CreateArray() : NULL, whole };
	int64_t id;
	PmStatus st = pm_task_find(db, what, &id, err);

	if (!st)
		st = pm_members_each(db, id, show_one, &s, err);
	if (s.list && !st)
		pm_cli_put_json(s.list);
	else
		cJSON_Delete(s.list);
	return st;
}

int pm_cmd_task(const PmCmd *cmd, int argc, char **argv)
{
	Make m = { .top = 10 };
	PmTaskExport e = { .seed = 1, .max_check = 32 << 20 };
	const char *db = NULL;
	int whole = 0;
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &db, "the database" },
		{ "--top", PM_OPT_INT, &m.top,
		  "make: from the N subgraphs that cover most nodes (default 10)" },
		{ "--for", PM_OPT_STR, &m.for_pass, "make: only from subgraphs to which this pass applies" },
		{ "--subgraph", PM_OPT_LIST, &m.hashes,
		  "make: from the subgraph of this hash (several times)" },
		{ "--name", PM_OPT_STR, &m.name, "make: name of a single task" },
		{ "--shapes", PM_OPT_INT, &m.shapes,
		  "make: shapes of each task, the original included (default 9)" },
		{ "--max-elements", PM_OPT_INT, &m.max_elements,
		  "make: elements of one value at most (default 4194304)" },
		{ "--max-mflop", PM_OPT_INT, &m.max_mflop,
		  "make: only from subgraphs of at most N megaflops" },
		{ "--torch", PM_OPT_STR, &e.dir,
		  "export: a folder for PyTorch modules, one folder per graph" },
		{ "--seed", PM_OPT_INT, &e.seed, "export: of the inputs (default 1)" },
		{ "--max-check", PM_OPT_INT, &e.max_check,
		  "export: store inputs and expected outputs up to N bytes and operations (default "
		  "33554432)" },
		{ "--all", PM_OPT_FLAG, &whole, "show: the text of every member, not only the first" },
		{ 0 },
	};
	PmStrList args = { 0 };
	PmStatus st = PM_OK;
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &args, &code)) {
		const char *verb = args.list.n ? args.list.v[0] : "";
		int list = !strcmp(verb, "list"), make = !strcmp(verb, "make"), show = !strcmp(verb, "show");
		int export = !strcmp(verb, "export");

		if ((!db && !export) || args.list.n != (show || export ? 2u : 1u) ||
		    !(list || make || show || export))
			code = pm_cli_usage(
				cmd, "Say task list, task make, task show TASK or task export TASK, with "
				     "--db FILE (task export MODEL does without).");
		else if (export && !e.dir)
			code = pm_cli_usage(cmd, "task export needs --torch DIR.");
		else if (m.shapes < 0 || m.shapes > PM_MAX_SHAPES)
			code = pm_cli_usage(cmd, "--shapes takes a number up to %d.", PM_MAX_SHAPES);
		else if (db)
			st = pm_db_open(db, PM_DB_MUST_EXIST, &m.db, &err);
		if (!st && !code && export)
			st = pm_task_export(m.db, args.list.v[1], &e, &err);
		else if (!st && m.db)
			st = list ? task_list(m.db, &err)
				  : (make ? task_make(&m, &err)
					  : task_show(m.db, args.list.v[1], whole, &err));
		if (st)
			code = pm_cli_fail(&err);
	}
	pm_db_close(m.db);
	PM_VEC_RELEASE(&m.chosen);
	PM_VEC_RELEASE(&m.hashes.list);
	PM_VEC_RELEASE(&args.list);
	return code;
}
