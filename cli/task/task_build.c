/* task_build.c - passmith task build: a benchmark of all fusible subgraphs of a database.
 *
 * Graphs are grouped (dataset/select/group.h); lists of operators are chosen by rarity and coverage
 * (dataset/select/select.h), at most one of each component (dataset/select/split.h), and the largest group of
 * each becomes a task to evaluate on. What is in the component of such a task is held out; groups of the
 * other components become tasks to train on, one of each list of operators in turn. Everything follows from
 * the graphs' content, and an interrupted build goes on where it stopped.
 */
#include "base/sys/progress.h"
#include "cli/task/task_one.h"
#include "cli/task/task_plan.h"
#include "cli/task/task_verdicts.h"
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
	PmTaskCmd *c;
	PmTaskPlan p;
	PmVerdicts verdicts;
	char *taken; /* by part: asked in evaluation */
	PmProgress bar;
	const char *split;
	int64_t n[2], members[2], rejected, before; /* eval, train */
	int64_t shapes_dropped;                     /* in this run */
	int64_t whole[2], twin[2];                  /* variants that the reference ran */
	PM_VEC(uint32_t) reason;                    /* interned, one for each rejection of this run */
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
		pm_db_path(b->c->db));
}

static PmStatus check_earlier(Build *b, PmErr *err)
{
	PmStatus st = b->c->rebuild ? pm_tasks_drop_splits(b->c->db, NULL, err) : PM_OK;

	if (!st)
		st = pm_tasks_of_split(b->c->db, "eval", other_plan, b, err);
	if (!st)
		st = pm_tasks_of_split(b->c->db, "train", other_plan, b, err);
	return st;
}

/* ---- tasks ---- */

/* Up to PM_TASK_MAX_BASES members, evenly spread over the group. */
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
			    .shapes = b->c->shapes,
			    .max_elements = b->c->max_elements,
			    .seed = b->c->seed,
			    .n_honest = eval ? (int)b->c->honest : 0 };
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
	st = pm_task_make_one(b->c->db, &spec, made, err);
	b->before += made->before;
	b->n[!eval] += made->made;
	b->members[!eval] += made->members;
	b->rejected += !made->made;
	b->shapes_dropped += made->shapes_dropped;
	if (!st && *made->rule)
		PM_VEC_PUSH(&b->reason, pm_intern(b->p.texts, made->rule, strlen(made->rule)));
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
		pm_progress_step(&b->bar, NULL);
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
	if (!pm_cli_quiet)
		pm_progress_start(&b->bar, "tasks to evaluate on", b->c->n_eval);
	st = pm_select(b->p.ops.v, b->p.start.v, b->p.seq.n, b->p.n_ops, (size_t)b->c->n_eval, &o, sel, err);
	pm_progress_end(&b->bar);
	free(part);
	return st;
}

static int enough(const Build *b)
{
	return b->n[1] >= b->c->ratio * b->n[0] && b->members[1] >= b->c->ratio * b->members[0];
}

static PmStatus make_train(Build *b, PmErr *err)
{
	PmStatus st = PM_OK;
	int more = 1;

	b->split = "train";
	if (!pm_cli_quiet)
		pm_progress_start(&b->bar, "tasks to train on", b->c->ratio * b->n[0]);
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
				pm_progress_step(&b->bar, NULL);
		}
	}
	pm_progress_end(&b->bar);
	return st;
}

/* ---- report ---- */

static size_t held_out(const Build *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->p.sample.n; i++)
		n += (size_t)b->taken[b->p.part[i]];
	return n;
}

static void put_reasons(const Build *b, cJSON *j)
{
	for (size_t i = 0; i < b->reason.n; i++) {
		size_t count = 0, first = 0;

		while (b->reason.v[first] != b->reason.v[i])
			first++;
		for (size_t k = first; k < b->reason.n && first == i; k++)
			count += b->reason.v[k] == b->reason.v[i];
		if (first == i && j)
			cJSON_AddNumberToObject(j, pm_intern_text(b->p.texts, b->reason.v[i]), (double)count);
		else if (first == i)
			printf("  %-12s %6zu\n", pm_intern_text(b->p.texts, b->reason.v[i]), count);
	}
}

static PmStatus add_ref(void *arg, size_t n, const char *const *names, const char *const *values, PmErr *err)
{
	Build *b = arg;
	int train = values[0] && !strcmp(values[0], "train");

	(void)n;
	(void)names;
	(void)err;
	if (values[1] && values[2])
		*(!strcmp(values[1], "twin") ? &b->twin[train] : &b->whole[train]) = atoll(values[2]);
	return PM_OK;
}

/* What the reference ran, now or before. */
static PmStatus count_ref(Build *b, PmErr *err)
{
	return pm_db_query(b->c->db,
			   "SELECT t.split, r.how, count(*) FROM tasks t JOIN members m ON m.task = t.id "
			   "JOIN ref_runs r ON r.subgraph = m.subgraph WHERE t.split IN ('eval', 'train') "
			   "GROUP BY t.split, r.how",
			   add_ref, b, err);
}

static void report(const Build *b, const PmSelection *sel, size_t leaks)
{
	if (pm_cli_json) {
		cJSON *j = cJSON_CreateObject();

		pm_json_add_i64(j, "subgraphs", (int64_t)b->p.sample.n);
		pm_json_add_i64(j, "op_sequences", (int64_t)b->p.seq.n);
		pm_json_add_i64(j, "components", (int64_t)b->p.n_parts);
		pm_json_add_i64(j, "groups", (int64_t)b->p.groups.n);
		pm_json_add_i64(j, "edges", (int64_t)sel->n_edges);
		pm_json_add_i64(j, "edges_covered", (int64_t)sel->n_covered);
		pm_json_add_i64(j, "eval_tasks", b->n[0]);
		pm_json_add_i64(j, "eval_members", b->members[0]);
		pm_json_add_i64(j, "train_tasks", b->n[1]);
		pm_json_add_i64(j, "train_members", b->members[1]);
		pm_json_add_i64(j, "held_out_subgraphs", (int64_t)held_out(b));
		pm_json_add_i64(j, "decided_before", b->before);
		pm_json_add_i64(j, "rejected_groups", b->rejected);
		pm_json_add_i64(j, "leaks", (int64_t)leaks);
		pm_json_add_i64(j, "eval_ref_whole", b->whole[0]);
		pm_json_add_i64(j, "eval_ref_twin", b->twin[0]);
		pm_json_add_i64(j, "train_ref_whole", b->whole[1]);
		pm_json_add_i64(j, "shapes_dropped_now", b->shapes_dropped);
		put_reasons(b, cJSON_AddObjectToObject(j, "rejected_now"));
		pm_cli_put_json(j);
		return;
	}
	printf("%zu subgraphs, %zu lists of operators, %zu components, %zu groups\n", b->p.sample.n,
	       b->p.seq.n, b->p.n_parts, b->p.groups.n);
	printf("eval:  %lld tasks, %lld variants, %zu of %zu operator pairs; %zu subgraphs in their "
	       "components\n",
	       (long long)b->n[0], (long long)b->members[0], sel->n_covered, sel->n_edges, held_out(b));
	printf("train: %lld tasks, %lld variants\n", (long long)b->n[1], (long long)b->members[1]);
	printf("ref:   of the eval variants %lld ran as they are, %lld as a twin of smaller sizes; of the "
	       "train "
	       "variants %lld ran; %lld shapes dropped because they do not run\n",
	       (long long)b->whole[0], (long long)b->twin[0], (long long)b->whole[1],
	       (long long)b->shapes_dropped);
	printf("%lld groups rejected; %lld decided before; %zu leaks\n", (long long)b->rejected,
	       (long long)b->before, leaks);
	put_reasons(b, NULL);
}

static void release(Build *b)
{
	pm_verdicts_release(&b->verdicts);
	free(b->taken);
	PM_VEC_RELEASE(&b->reason);
	pm_task_plan_release(&b->p);
}

PmStatus pm_task_verb_build(PmTaskCmd *c, PmErr *err)
{
	Build b = { .c = c };
	PmSelection sel = { 0 };
	size_t leaks = 0;
	PmStatus st;

	c->shapes = c->shapes ? c->shapes : 10;
	st = pm_task_plan(&b.p, c, err);
	b.taken = pm_xcalloc(b.p.n_parts + 1, 1);
	pm_verdicts_init(&b.verdicts, &b.p, b.taken);
	if (!st)
		st = check_earlier(&b, err);
	if (!st)
		st = make_eval(&b, &sel, err);
	if (!st)
		st = make_train(&b, err);
	if (!st)
		st = pm_leakage_check(c->db, NULL, NULL, &leaks, err);
	if (!st)
		st = count_ref(&b, err);
	if (!st) {
		report(&b, &sel, leaks);
		if (b.n[0] < c->n_eval || !enough(&b))
			pm_cli_complain("The database does not give as many tasks as asked for; extract more "
					"models, or use a smaller --stride.");
		c->no = leaks || b.n[0] < c->n_eval || !enough(&b);
	}
	pm_selection_release(&sel);
	release(&b);
	return st;
}
