/* task_build.c - passmith task build: a benchmark of all fusible subgraphs of a database.
 *
 * Graphs are grouped (dataset/group.h); lists of operators are chosen by rarity and coverage
 * (dataset/select.h), at most one of each component (dataset/split.h), and the largest group of each becomes
 * a task to evaluate on. What is in the component of such a task is held out; groups of the other components
 * become tasks to train on, one of each list of operators in turn. Everything follows from the graphs'
 * content, and an interrupted build goes on where it stopped.
 */
#include "cli/task.h"

#include "base/hash.h"
#include "base/progress.h"
#include "cli/task_one.h"
#include "dataset/group.h"
#include "dataset/select.h"
#include "dataset/split.h"
#include "dataset/subgraphs.h"
#include "dataset/tasks.h"
#include "ir/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All groups with one list of operators. */
typedef struct Seq {
	size_t first_group, n_groups, part;
} Seq;

typedef struct Judge {
	struct Build *b;
	size_t structure;
} Judge;

typedef struct Build {
	PmTaskCmd *c;
	PmIntern *texts;
	PM_VEC(PmSample) sample;
	PM_VEC(int64_t) id;         /* by sample */
	PM_VEC(PmSplitItem) item;   /* by sample */
	PM_VEC(PmColors) colors;    /* by structure */
	PM_VEC(uint32_t) structure; /* interned text to number + 1 */
	PM_VEC(size_t) least;       /* by structure: the sample with the least hash */
	PmTaskVerdict *verdict;     /* by structure; json NULL: not asked yet */
	size_t *part, n_parts;      /* by sample */
	PmGroups groups;
	PM_VEC(Seq) seq;
	PM_VEC(unsigned) ops; /* of all sequences, as pm_select takes them */
	PM_VEC(size_t) start;
	unsigned n_ops;
	char *taken;              /* by part: asked in evaluation */
	char plan[PM_SHA256_HEX]; /* hash of graphs and options */
	PmProgress bar;
	const char *split;
	int64_t n[2], members[2], rejected, before; /* eval, train */
	PM_VEC(uint32_t) reason;                    /* interned, one for each rejection of this run */
} Build;

/* ---- what there is ---- */

static uint32_t intern(Build *b, const char *s)
{
	return pm_intern(b->texts, s, strlen(s));
}

static PmStatus take_sample(void *arg, const PmSubgraphRow *row, PmErr *err)
{
	Build *b = arg;
	uint32_t structure = intern(b, row->structure);
	PmSample s = { pm_intern_text(b->texts, intern(b, row->hash)), row->n_nodes, row->op_seq,
		       intern(b, row->shape_bucket), intern(b, row->dtypes) };
	PmStatus st = PM_OK;
	size_t *least;

	while (b->structure.n <= structure)
		PM_VEC_PUSH(&b->structure, 0);
	if (!b->structure.v[structure]) {
		PmGraph *g = NULL;
		PmColors colors;

		st = pm_graph_parse(row->text, strlen(row->text), &g, err);
		if (st)
			return pm_err_ctx(err, "subgraph %lld", (long long)row->id);
		pm_colors_of(g, &colors);
		PM_VEC_PUSH(&b->colors, colors);
		b->structure.v[structure] = (uint32_t)b->colors.n;
		PM_VEC_PUSH(&b->least, b->sample.n);
		pm_graph_free(g);
	}
	least = &b->least.v[b->structure.v[structure] - 1];
	if (*least < b->sample.n && strcmp(s.hash, b->sample.v[*least].hash) < 0)
		*least = b->sample.n;
	PM_VEC_PUSH(&b->sample, s);
	PM_VEC_PUSH(&b->id, row->id);
	PM_VEC_PUSH(&b->item, ((PmSplitItem){ b->structure.v[structure] - 1, row->op_seq }));
	return st;
}

static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* What decides the outcome: the graphs, in any order, and the options. */
static void hash_plan(Build *b)
{
	const char **hash = pm_xcalloc(b->sample.n + 1, sizeof *hash);
	PmStr s = PM_STR_INIT;

	for (size_t i = 0; i < b->sample.n; i++)
		hash[i] = b->sample.v[i].hash;
	qsort(hash, b->sample.n, sizeof *hash, by_text);
	pm_str_addf(&s, "build 1 eval=%lld stride=%lld shapes=%lld elements=%lld seed=%lld honest=%lld\n",
		    (long long)b->c->n_eval, (long long)b->c->stride, (long long)b->c->shapes,
		    (long long)b->c->max_elements, (long long)b->c->seed, (long long)b->c->honest);
	for (size_t i = 0; i < b->sample.n; i++)
		pm_str_addf(&s, "%s\n", hash[i]);
	pm_sha256_hex(s.s, s.len, b->plan);
	free(hash);
	pm_str_release(&s);
}

/* ---- plan ---- */

static void add_ops(Build *b, PmIntern *names, const char *ops)
{
	while (*ops) {
		size_t n = strcspn(ops, ",");
		unsigned op = pm_intern(names, ops, n) - 1;

		PM_VEC_PUSH(&b->ops, op);
		b->n_ops = op + 1 > b->n_ops ? op + 1 : b->n_ops;
		ops += n + (ops[n] == ',');
	}
	PM_VEC_PUSH(&b->start, b->ops.n);
}

static void plan_groups(Build *b)
{
	pm_group(b->sample.v, b->sample.n, (size_t)b->c->stride, &b->groups);
	for (size_t g = 0; g < b->groups.n; g++) {
		size_t first = b->groups.member[b->groups.group[g].first];
		size_t last =
			b->seq.n ? b->groups.member[b->groups.group[b->seq.v[b->seq.n - 1].first_group].first]
				 : 0;

		if (!b->seq.n || b->sample.v[first].op_seq != b->sample.v[last].op_seq)
			PM_VEC_PUSH(&b->seq, ((Seq){ g, 0, b->part[first] }));
		b->seq.v[b->seq.n - 1].n_groups++;
	}
}

/* The lists of operators, in the order of b->seq. */
static PmStatus plan_ops(Build *b, PmErr *err)
{
	PmIntern *names = pm_intern_new();
	PmStatus st = PM_OK;

	PM_VEC_PUSH(&b->start, 0);
	for (size_t i = 0; i < b->seq.n && !st; i++) {
		PmStr ops = PM_STR_INIT;
		PmGraph *g = NULL;

		st = pm_subgraph_get(
			b->c->db, b->id.v[b->groups.member[b->groups.group[b->seq.v[i].first_group].first]],
			&g, err);
		if (!st) {
			pm_graph_ops(g, &ops);
			add_ops(b, names, ops.s);
		}
		pm_graph_free(g);
		pm_str_release(&ops);
	}
	pm_intern_free(names);
	return st;
}

static PmStatus make_plan(Build *b, PmErr *err)
{
	PmStatus st = pm_subgraphs_each(b->c->db, "fusible", 0, take_sample, b, err);

	if (!st && !b->sample.n)
		st = pm_err(err, PM_E_NOT_FOUND, "%s holds no fusible subgraph; run passmith extract first.",
			    pm_db_path(b->c->db));
	if (st)
		return st;
	b->part = pm_xcalloc(b->sample.n, sizeof *b->part);
	b->n_parts = pm_components(b->item.v, b->sample.n, b->colors.v, b->colors.n, b->part);
	b->taken = pm_xcalloc(b->n_parts + 1, 1);
	b->verdict = pm_xcalloc(b->colors.n + 1, sizeof *b->verdict);
	hash_plan(b);
	plan_groups(b);
	return plan_ops(b, err);
}

/* ---- an earlier build ---- */

static PmStatus other_plan(void *arg, const PmTaskRow *row, PmErr *err)
{
	Build *b = arg;
	const char *mark = strrchr(row->policy, ' ');

	if (mark && !strncmp(mark + 1, b->plan, 12))
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
		size_t s = b->groups.member[g->first + i * g->n / n];

		base[i] = b->id.v[s];
		pm_str_addf(hashes, "%s\n", b->sample.v[s].hash);
	}
	return n;
}

/* Tasks to train on are judged by one graph of each structure, the one with the least hash: what the rules
 * look for are properties of structures. Asked only when a group of the structure is not decided yet. */
static PmStatus judge_structure(void *arg, const PmTaskVerdict **out, PmErr *err)
{
	const Judge *j = arg;
	PmTaskVerdict *v = &j->b->verdict[j->structure];
	PmGraph *g = NULL;
	PmStatus st = PM_OK;

	if (!v->json) {
		st = pm_subgraph_get(j->b->c->db, j->b->id.v[j->b->least.v[j->structure]], &g, err);
		if (!st)
			st = pm_task_judge(g, j->b->c->seed, 0, v, err);
		pm_graph_free(g);
	}
	*out = v;
	return st;
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
	Judge judge = { b, b->item.v[b->groups.member[g->first]].structure };
	PmStatus st;

	if (!eval) {
		spec.judge = judge_structure;
		spec.judge_arg = &judge;
	}
	pm_str_addf(&key_text, "%s %s %s\n", b->plan, b->split, pm_group_rule_name(g->rule));
	spec.n_base = pick_bases(b, g, base, &key_text);
	pm_sha256_hex(key_text.s, key_text.len, key);
	snprintf(policy, sizeof policy, "%s %.12s", pm_group_rule_name(g->rule), b->plan);
	st = pm_task_make_one(b->c->db, &spec, made, err);
	b->before += made->before;
	b->n[!eval] += made->made;
	b->members[!eval] += made->members;
	b->rejected += !made->made;
	if (!st && *made->rule)
		PM_VEC_PUSH(&b->reason, intern(b, made->rule));
	pm_str_release(&key_text);
	return st;
}

/* Asked by the selection: the largest group of the sequence that makes a task. */
static PmStatus accept(void *arg, size_t i, int *yes, PmErr *err)
{
	Build *b = arg;
	const Seq *q = &b->seq.v[i];
	char *tried = pm_xcalloc(q->n_groups, 1);
	PmStatus st = PM_OK;

	*yes = 0;
	for (size_t round = 0; round < q->n_groups && round < 3 && !*yes && !st; round++) {
		size_t best = q->n_groups;
		PmTaskMade made;

		for (size_t k = 0; k < q->n_groups; k++)
			if (!tried[k] &&
			    (best == q->n_groups || b->groups.group[q->first_group + k].n >
							    b->groups.group[q->first_group + best].n))
				best = k;
		tried[best] = 1;
		st = make_group(b, &b->groups.group[q->first_group + best], &made, err);
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
	size_t *part = pm_xcalloc(b->seq.n + 1, sizeof *part);
	PmSelectOpts o = { .weight = -1, .part = part, .accept = accept, .arg = b };
	PmStatus st;

	for (size_t i = 0; i < b->seq.n; i++)
		part[i] = b->seq.v[i].part;
	b->split = "eval";
	if (!pm_cli_quiet)
		pm_progress_start(&b->bar, "tasks to evaluate on", b->c->n_eval);
	st = pm_select(b->ops.v, b->start.v, b->seq.n, b->n_ops, (size_t)b->c->n_eval, &o, sel, err);
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
		for (size_t i = 0; i < b->seq.n && !st && !enough(b); i++) {
			const Seq *q = &b->seq.v[i];
			PmTaskMade made;

			if (b->taken[q->part] || round >= q->n_groups)
				continue;
			more = 1;
			st = make_group(b, &b->groups.group[q->first_group + round], &made, err);
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

	for (size_t i = 0; i < b->sample.n; i++)
		n += (size_t)b->taken[b->part[i]];
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
			cJSON_AddNumberToObject(j, pm_intern_text(b->texts, b->reason.v[i]), (double)count);
		else if (first == i)
			printf("  %-12s %6zu\n", pm_intern_text(b->texts, b->reason.v[i]), count);
	}
}

static void report(const Build *b, const PmSelection *sel, size_t leaks)
{
	if (pm_cli_json) {
		cJSON *j = cJSON_CreateObject();

		pm_json_add_i64(j, "subgraphs", (int64_t)b->sample.n);
		pm_json_add_i64(j, "op_sequences", (int64_t)b->seq.n);
		pm_json_add_i64(j, "components", (int64_t)b->n_parts);
		pm_json_add_i64(j, "groups", (int64_t)b->groups.n);
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
		put_reasons(b, cJSON_AddObjectToObject(j, "rejected_now"));
		pm_cli_put_json(j);
		return;
	}
	printf("%zu subgraphs, %zu lists of operators, %zu components, %zu groups\n", b->sample.n, b->seq.n,
	       b->n_parts, b->groups.n);
	printf("eval:  %lld tasks, %lld variants, %zu of %zu operator pairs; %zu subgraphs in their "
	       "components\n",
	       (long long)b->n[0], (long long)b->members[0], sel->n_covered, sel->n_edges, held_out(b));
	printf("train: %lld tasks, %lld variants\n", (long long)b->n[1], (long long)b->members[1]);
	printf("%lld groups rejected; %lld decided before; %zu leaks\n", (long long)b->rejected,
	       (long long)b->before, leaks);
	put_reasons(b, NULL);
}

static void release(Build *b)
{
	for (size_t i = 0; i < b->colors.n; i++)
		pm_colors_release(&b->colors.v[i]);
	PM_VEC_RELEASE(&b->sample);
	PM_VEC_RELEASE(&b->id);
	PM_VEC_RELEASE(&b->item);
	PM_VEC_RELEASE(&b->colors);
	PM_VEC_RELEASE(&b->structure);
	for (size_t i = 0; b->verdict && i < b->colors.n; i++)
		pm_task_verdict_release(&b->verdict[i]);
	free(b->verdict);
	PM_VEC_RELEASE(&b->least);
	PM_VEC_RELEASE(&b->seq);
	PM_VEC_RELEASE(&b->ops);
	PM_VEC_RELEASE(&b->start);
	PM_VEC_RELEASE(&b->reason);
	pm_groups_release(&b->groups);
	pm_intern_free(b->texts);
	free(b->part);
	free(b->taken);
}

PmStatus pm_task_verb_build(PmTaskCmd *c, PmErr *err)
{
	Build b = { .c = c, .texts = pm_intern_new() };
	PmSelection sel = { 0 };
	size_t leaks = 0;
	PmStatus st;

	c->shapes = c->shapes ? c->shapes : 10;
	st = make_plan(&b, err);
	if (!st)
		st = check_earlier(&b, err);
	if (!st)
		st = make_eval(&b, &sel, err);
	if (!st)
		st = make_train(&b, err);
	if (!st)
		st = pm_leakage_check(c->db, NULL, NULL, &leaks, err);
	if (!st) {
		report(&b, &sel, leaks);
		if (b.n[0] < c->n_eval || !enough(&b))
			fprintf(stderr, "passmith: The database does not give as many tasks as asked for; "
					"extract more "
					"models, or use a smaller --stride.\n");
		c->no = leaks || b.n[0] < c->n_eval || !enough(&b);
	}
	pm_selection_release(&sel);
	release(&b);
	return st;
}
