/* SPDX-License-Identifier: Apache-2.0 */
/* leakage.c - looks for graphs that the two sides of a split share, pair by pair. */
#include "dataset/select/split.h"

#include "base/core/str.h"
#include "base/core/vec.h"
#include "dataset/store/db_priv.h"
#include "dataset/store/subgraphs.h"

#include <stdlib.h>
#include <string.h>

/* A member, or the base of one. */
typedef struct Item {
	int64_t task, subgraph, op_seq;
	uint32_t hash, structure; /* interned */
} Item;

typedef struct Side {
	PM_VEC(Item) item;   /* by task */
	PM_VEC(size_t) task; /* where each task's items begin, and the end */
} Side;

typedef struct Check {
	PmDb *db;
	PmIntern *texts;
	Side side[2]; /* eval, train */
	Side *into;
	PM_VEC(PmColors) colors; /* by number of structure - 1 */
	signed char *alike;      /* by eval and train structure: 0 not looked at, 1 no, 2 yes */
	size_t n_structures;
} Check;

const char *pm_leak_name(PmLeakKind k)
{
	static const char *const names[] = { "same graph", "same structure", "same operators",
					     "near duplicate" };

	return names[k];
}

static PmStatus take_item(void *arg, sqlite3_stmt *row, PmErr *err)
{
	Check *c = arg;
	const char *hash = pm__col_text(row, 3), *structure = pm__col_text(row, 4);
	Item m = { sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2),
		   pm_intern(c->texts, hash, strlen(hash)),
		   pm_intern(c->texts, structure, strlen(structure)) };

	(void)err;
	PM_VEC_PUSH(&c->into->item, m);
	return PM_OK;
}

static int by_task(const void *x, const void *y)
{
	const Item *a = x, *b = y;

	if (a->task != b->task)
		return a->task < b->task ? -1 : 1;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return 0;
}

static PmStatus load(Check *c, int which, const char *split, PmErr *err)
{
	Side *s = c->into = &c->side[which];
	PmStatus st = pm__db_each(c->db, "list variants", take_item, c, NULL, err,
				  "SELECT t.id, s.id, s.op_seq, s.hash, s.structure FROM tasks t "
				  "JOIN variants m ON m.task = t.id JOIN subgraphs s ON s.id = m.subgraph "
				  "WHERE t.split = ?",
				  "s", split);
	size_t n = 0;

	if (!st)
		st = pm__db_each(c->db, "list bases of variants", take_item, c, NULL, err,
				 "SELECT t.id, s.id, s.op_seq, s.hash, s.structure FROM tasks t "
				 "JOIN variants m ON m.task = t.id JOIN subgraphs s ON s.id = m.base "
				 "WHERE t.split = ?",
				 "s", split);
	if (s->item.n)
		qsort(s->item.v, s->item.n, sizeof *s->item.v, by_task);
	for (size_t i = 0; i < s->item.n; i++) { /* each graph of a task once */
		if (i == 0 || by_task(&s->item.v[i], &s->item.v[n - 1]))
			s->item.v[n++] = s->item.v[i];
	}
	s->item.n = n;
	for (size_t i = 0; i < n; i++)
		if (i == 0 || s->item.v[i].task != s->item.v[i - 1].task)
			PM_VEC_PUSH(&s->task, i);
	PM_VEC_PUSH(&s->task, n);
	return st;
}

/* Gives each structure a small number in place of its text, and its colours. */
static PmStatus number_structures(Check *c, PmErr *err)
{
	PM_VEC(uint32_t) number = { NULL, 0, 0 };
	PmStatus st = PM_OK;

	for (int w = 0; w < 2; w++)
		for (size_t i = 0; i < c->side[w].item.n && !st; i++) {
			Item *m = &c->side[w].item.v[i];
			PmGraph *g = NULL;
			PmColors colors;

			while (number.n <= m->structure)
				PM_VEC_PUSH(&number, 0);
			if (!number.v[m->structure]) {
				st = pm_subgraph_get(c->db, m->subgraph, &g, err);
				if (st)
					break;
				pm_colors_of(g, &colors);
				pm_graph_free(g);
				PM_VEC_PUSH(&c->colors, colors);
				number.v[m->structure] = (uint32_t)c->colors.n;
			}
			m->structure = number.v[m->structure] - 1;
		}
	c->n_structures = c->colors.n;
	c->alike = pm_xcalloc(c->n_structures * c->n_structures + 1, 1);
	PM_VEC_RELEASE(&number);
	return st;
}

static int alike(Check *c, uint32_t a, uint32_t b)
{
	signed char *known = &c->alike[a * c->n_structures + b];

	if (!*known)
		*known = pm_colors_jaccard(&c->colors.v[a], &c->colors.v[b]) >= PM_ALIKE ? 2 : 1;
	return *known == 2;
}

/* What two graphs share: a PmLeakKind, or one more than the last. */
static int shared(Check *c, const Item *a, const Item *b)
{
	if (a->hash == b->hash)
		return PM_LEAK_HASH;
	if (a->structure == b->structure)
		return PM_LEAK_STRUCTURE;
	if (a->op_seq == b->op_seq)
		return PM_LEAK_OPERATORS;
	return alike(c, a->structure, b->structure) ? PM_LEAK_NEAR : PM_LEAK_NEAR + 1;
}

static PmStatus compare_tasks(Check *c, size_t e, size_t t, PmLeakFn fn, void *arg, size_t *n, PmErr *err)
{
	const Side *a = &c->side[0], *b = &c->side[1];
	PmLeak leak = { .eval_task = a->item.v[a->task.v[e]].task,
			.train_task = b->item.v[b->task.v[t]].task };
	int worst = PM_LEAK_NEAR + 1;

	for (size_t i = a->task.v[e]; i < a->task.v[e + 1]; i++)
		for (size_t k = b->task.v[t]; k < b->task.v[t + 1]; k++) {
			int how = shared(c, &a->item.v[i], &b->item.v[k]);

			if (how >= worst)
				continue;
			worst = how;
			leak.likeness = pm_colors_jaccard(&c->colors.v[a->item.v[i].structure],
							  &c->colors.v[b->item.v[k].structure]);
		}
	if (worst > PM_LEAK_NEAR)
		return PM_OK;
	leak.kind = (PmLeakKind)worst;
	++*n;
	return fn ? fn(arg, &leak, err) : PM_OK;
}

PmStatus pm_leakage_check(PmDb *db, PmLeakFn fn, void *arg, size_t *n, PmErr *err)
{
	Check c = { .db = db, .texts = pm_intern_new() };
	size_t found = 0;
	PmStatus st = load(&c, 0, "eval", err);

	if (!st)
		st = load(&c, 1, "train", err);
	if (!st)
		st = number_structures(&c, err);
	for (size_t e = 0; !st && e + 1 < c.side[0].task.n; e++)
		for (size_t t = 0; !st && t + 1 < c.side[1].task.n; t++)
			st = compare_tasks(&c, e, t, fn, arg, &found, err);
	if (n)
		*n = found;
	for (size_t i = 0; i < c.colors.n; i++)
		pm_colors_release(&c.colors.v[i]);
	PM_VEC_RELEASE(&c.colors);
	for (int w = 0; w < 2; w++) {
		PM_VEC_RELEASE(&c.side[w].item);
		PM_VEC_RELEASE(&c.side[w].task);
	}
	pm_intern_free(c.texts);
	free(c.alike);
	return st;
}
