/* SPDX-License-Identifier: Apache-2.0 */
/* task_build.c - a benchmark of all fusible subgraphs of a database.
 *
 * Graphs are grouped (dataset/select/group.h); lists of operators are chosen by rarity and coverage
 * (dataset/select/select.h), at most one of each component (dataset/select/split.h), and the largest group of
 * each becomes a task to evaluate on. What is in the component of such a task is held out; groups of the
 * other components become tasks to train on, one of each list of operators in turn. Everything follows from
 * the graphs' content, and an interrupted build goes on where it stopped.
 */
#include "app/task/task_build.h"

#include "app/task/task_one.h"
#include "app/task/task_verdicts.h"
#include "dataset/select/select.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Judge {
	struct Build *b;
	size_t structure;
} Judge;

typedef struct Build {
	const PmTaskBuildOpts *o;
	const PmWatch *watch;
	PmTaskBuilt *out;
	PmTaskPlan p;
	PmVerdicts verdicts;
	char *taken; /* by part: asked in evaluation */
	const char *split;
} Build;

/* ---- an earlier build ---- */

static PmStatus other_plan(void *arg, const PmTaskRow *row, PmErr *err)
{
	Build *b = arg;
	const char *mark = strrchr(row->policy, ' ');

	if (mark && !strncmp(mark + 1, b->p.hash, 12))
		return PM_OK;
	return pm_err(
		err, PM_E_CONFLICT,
		"%s holds a benchmark that was built of other graphs or with other options; add --rebuild to "
		"remove it, or build in a copy.",
		pm_db_path(b->o->db));
}

static PmStatus check_earlier(Build *b, PmErr *err)
{
	PmStatus st = b->o->rebuild ? pm_tasks_drop_splits(b->o->db, NULL, err) : PM_OK;

	if (!st)
		st = pm_tasks_of_split(b->o->db, "eval", other_plan, b, err);
	if (!st)
		st = pm_tasks_of_split(b->o->db, "train", other_plan, b, err);
	return st;
}

/* ---- tasks ---- */

/* Up to PM_TASK_MAX_BASES variants, evenly spread over the group. */
static size_t pick_bases(const Build *b, const PmGroup *g, int64_t *base, PmStr *hashes)
{
	size_t n = g->n < PM_TASK_MAX_BASES ? g->n : PM_TASK_MAX_BASES;

	for (size_t i = 0; i < n; i++) {
		size_t s = b->p.groups.member[g->first + i * g->n / n];

		base[i] = b->p.id.v[s];
		pm_str_addf(hashes, "%s\n", b->p.sample.v[s].hash);
	}
	return n;
}

/* Tasks to train on are judged by one graph of each structure. Asked only when a group of the structure is
 * not decided yet. */
static PmStatus judge_structure(void *arg, const PmTaskVerdict **out, PmErr *err)
{
	const Judge *j = arg;

	return pm_verdicts_get(&j->b->verdicts, j->structure, out, err);
}

static void add_reason(PmTaskBuilt *out, const char *rule)
{
	PmTaskReason new = { "", 1 };

	for (size_t i = 0; i < out->reason.n; i++)
		if (!strcmp(out->reason.v[i].rule, rule)) {
			out->reason.v[i].n++;
			return;
		}
	snprintf(new.rule, sizeof new.rule, "%s", rule);
	PM_VEC_PUSH(&out->reason, new);
}

static PmStatus make_group(Build *b, const PmGroup *g, PmTaskMade *made, PmErr *err)
{
	int64_t base[PM_TASK_MAX_BASES];
	PmStr key_text = PM_STR_INIT;
	char key[PM_SHA256_HEX], policy[64];
	int eval = !strcmp(b->split, "eval");
	PmTaskSpec spec = { .base = base,
			    .key = key,
			    .split = b->split,
			    .policy = policy,
			    .shapes = b->o->shapes,
			    .max_elements = b->o->max_elements,
			    .seed = b->o->seed,
			    .n_honest = eval ? (int)b->o->honest : 0 };
	Judge judge = { b, b->p.item.v[b->p.groups.member[g->first]].structure };
	PmStatus st;

	if (!eval) {
		spec.judge = judge_structure;
		spec.judge_arg = &judge;
	}
	pm_str_addf(&key_text, "%s %s %s\n", b->p.hash, b->split, pm_group_rule_name(g->rule));
	spec.n_base = pick_bases(b, g, base, &key_text);
	pm_sha256_hex(key_text.s, key_text.len, key);
	snprintf(policy, sizeof policy, "%s %.12s", pm_group_rule_name(g->rule), b->p.hash);
	st = pm_task_make_one(b->o->db, &spec, made, err);
	b->out->before += made->before;
	b->out->n[!eval] += made->made;
	b->out->variants[!eval] += made->variants;
	b->out->rejected += !made->made;
	b->out->shapes_dropped += made->shapes_dropped;
	if (!st && *made->rule)
		add_reason(b->out, made->rule);
	pm_str_release(&key_text);
	return st;
}

/* Asked by the selection: the largest group of the sequence that makes a task. */
static PmStatus accept(void *arg, size_t i, int *yes, PmErr *err)
{
	Build *b = arg;
	const PmTaskSeq *q = &b->p.seq.v[i];
	char *tried = pm_xcalloc(q->n_groups, 1);
	PmStatus st = PM_OK;

	*yes = 0;
	for (size_t round = 0; round < q->n_groups && round < 3 && !*yes && !st; round++) {
		size_t best = q->n_groups;
		PmTaskMade made;

		for (size_t k = 0; k < q->n_groups; k++)
			if (!tried[k] &&
			    (best == q->n_groups || b->p.groups.group[q->first_group + k].n >
							    b->p.groups.group[q->first_group + best].n))
				best = k;
		tried[best] = 1;
		st = make_group(b, &b->p.groups.group[q->first_group + best], &made, err);
		*yes = !st && made.made;
	}
	if (*yes) {
		b->taken[q->part] = 1;
		pm_watch_step(b->watch, NULL);
	}
	free(tried);
	return st;
}

static PmStatus make_eval(Build *b, PmSelection *sel, PmErr *err)
{
	size_t *part = pm_xcalloc(b->p.seq.n + 1, sizeof *part);
	PmSelectOpts o = { .weight = -1, .part = part, .accept = accept, .arg = b };
	PmStatus st;

	for (size_t i = 0; i < b->p.seq.n; i++)
		part[i] = b->p.seq.v[i].part;
	b->split = "eval";
	pm_watch_begin(b->watch, "tasks to evaluate on", b->o->n_eval);
	st = pm_select(b->p.ops.v, b->p.start.v, b->p.seq.n, b->p.n_ops, (size_t)b->o->n_eval, &o, sel, err);
	pm_watch_end(b->watch);
	free(part);
	return st;
}

static int enough(const Build *b)
{
	return b->out->n[1] >= b->o->ratio * b->out->n[0] &&
	       b->out->variants[1] >= b->o->ratio * b->out->variants[0];
}

static PmStatus make_train(Build *b, PmErr *err)
{
	PmStatus st = PM_OK;
	int more = 1;

	b->split = "train";
	pm_watch_begin(b->watch, "tasks to train on", b->o->ratio * b->out->n[0]);
	for (size_t round = 0; more && !st && !enough(b); round++) {
		more = 0;
		for (size_t i = 0; i < b->p.seq.n && !st && !enough(b); i++) {
			const PmTaskSeq *q = &b->p.seq.v[i];
			PmTaskMade made;

			if (b->taken[q->part] || round >= q->n_groups)
				continue;
			more = 1;
			b->verdicts.round = round;
			b->verdicts.at = i;
			st = make_group(b, &b->p.groups.group[q->first_group + round], &made, err);
			if (!st && made.made)
				pm_watch_step(b->watch, NULL);
		}
	}
	pm_watch_end(b->watch);
	return st;
}

/* ---- what there is now ---- */

static size_t held_out(const Build *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->p.sample.n; i++)
		n += (size_t)b->taken[b->p.part[i]];
	return n;
}

static PmStatus add_ref(void *arg, size_t n, const char *const *names, const char *const *values, PmErr *err)
{
	Build *b = arg;
	int train = values[0] && !strcmp(values[0], "train");

	(void)n;
	(void)names;
	(void)err;
	if (values[1] && values[2])
		*(!strcmp(values[1], "proxy") ? &b->out->proxy[train]
					      : &b->out->whole[train]) = atoll(values[2]);
	return PM_OK;
}

/* What the reference ran, now or before. */
static PmStatus count_ref(Build *b, PmErr *err)
{
	return pm_db_query(b->o->db,
			   "SELECT t.split, r.how, count(*) FROM tasks t JOIN variants m ON m.task = t.id "
			   "JOIN ref_runs r ON r.subgraph = m.subgraph WHERE t.split IN ('eval', 'train') "
			   "GROUP BY t.split, r.how",
			   add_ref, b, err);
}

static void sum_up(Build *b, const PmSelection *sel)
{
	PmTaskBuilt *out = b->out;

	out->subgraphs = b->p.sample.n;
	out->op_sequences = b->p.seq.n;
	out->components = b->p.n_parts;
	out->groups = b->p.groups.n;
	out->edges = sel->n_edges;
	out->edges_covered = sel->n_covered;
	out->held_out = held_out(b);
	out->short_of_tasks = out->n[0] < b->o->n_eval || !enough(b);
}

PmStatus pm_task_build(const PmTaskBuildOpts *o, const PmWatch *watch, PmTaskBuilt *out, PmErr *err)
{
	Build b = { .o = o, .watch = watch, .out = out };
	PmSelection sel = { 0 };
	PmStatus st;

	memset(out, 0, sizeof *out);
	st = pm_task_plan(&b.p, o, err);
	b.taken = pm_xcalloc(b.p.n_parts + 1, 1);
	pm_verdicts_init(&b.verdicts, &b.p, b.taken);
	if (!st)
		st = check_earlier(&b, err);
	if (!st)
		st = make_eval(&b, &sel, err);
	if (!st)
		st = make_train(&b, err);
	if (!st)
		st = pm_leakage_check(o->db, NULL, NULL, &out->leaks, err);
	if (!st)
		st = count_ref(&b, err);
	if (!st)
		sum_up(&b, &sel);
	pm_selection_release(&sel);
	pm_verdicts_release(&b.verdicts);
	free(b.taken);
	pm_task_plan_release(&b.p);
	return st;
}

void pm_task_built_release(PmTaskBuilt *b)
{
	PM_VEC_RELEASE(&b->reason);
}
