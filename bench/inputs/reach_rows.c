/* SPDX-License-Identifier: Apache-2.0 */
/* reach_rows.c - what inputs reach in a large graph, part by part: several are in work at once, and none of
 * the values is held whole. */
#include "bench/inputs/reach_priv.h"

#include "base/sys/threads.h"
#include "bench/rows/rows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Elements of a graph that is looked at by rows, and of the largest value in a part, which a processor's own
 * cache holds. Operands without rows are read by each part. */
enum { LEAST = 1 << 20, PART = 1 << 15, LEAST_ROWS = 2, ARRAYS = 6 }; /* ARRAYS: of values, in work at once */

typedef struct Parts {
	const PmGraph *g;
	const PmTensor *in;
	int how;
	double room;
	PmRows rows;
	int64_t each, more, n; /* rows of a part; the first `more` have one more */
	PmGraph *of[2];
	atomic_int_least64_t *beyond; /* by place of the node: elements of its result */
	atomic_int_least64_t stop;    /* place of the first node that is refused */
	atomic_uint inside;
	pthread_mutex_t lock; /* of what follows */
	const char *why;      /* of that node; NULL: the reference does, */
	int64_t part;         /* by the first part that refuses it; n: by all together */
	PmReached *r;
	PmBranches *seen;
} Parts;

/* One part's run. */
typedef struct Watch {
	Parts *p;
	int64_t part, at; /* place of the node that runs next */
	int stopped;
	PmReached r;
	PmBranches seen;
} Watch;

/* The first node counts, and there the first part, whichever comes first. */
static void refuse(Parts *p, int64_t at, int64_t part, const char *why)
{
	pthread_mutex_lock(&p->lock);
	if (at < p->stop || (at == p->stop && part < p->part)) {
		p->why = why;
		p->part = part;
		p->stop = at;
	}
	pthread_mutex_unlock(&p->lock);
}

/* 1 when the node is refused for this part's elements. */
static int is_refused(Parts *p, const PmRefCall *c, int64_t at, int64_t part)
{
	const char *why = p->how & PM_REACH_DEFINED ? pm_undefined(c) : NULL;

	if (!why && p->how & PM_REACH_FINITE)
		why = pm__reach_too_large(c);
	if (why)
		refuse(p, at, part, why);
	return why != NULL;
}

/* What is beyond the range of a type is counted in all parts. */
static void count_beyond(Parts *p, const PmRefCall *c, int64_t at)
{
	int64_t numel = 0, n = pm__reach_beyond(c, 0, p->room);
	const char *why;

	if (!n)
		return;
	n += atomic_fetch_add(&p->beyond[at], n);
	(void)pm_type_numel(pm_value_type(p->g, pm_node_out(p->g, pm_graph_node_at(p->g, (size_t)at), 0)),
			    &numel, NULL);
	if (pm__reach_leaves(n, numel, &why))
		refuse(p, at, p->n, why);
}

static PmStatus watch(void *arg, const PmRefCall *c, PmErr *err)
{
	Watch *w = arg;
	int64_t at = w->at++;

	(void)err;
	w->stopped = at > w->p->stop || is_refused(w->p, c, at, w->part);
	if (!w->stopped && w->p->how & PM_REACH_FINITE)
		count_beyond(w->p, c, at);
	w->stopped |= at >= w->p->stop; /* later nodes do not count any more */
	if (w->stopped)
		return PM_DECLINED;
	pm__reach_note(c, w->p->inside, &w->r, &w->seen);
	return PM_OK;
}

/* Rows from row `at` on of a tensor with all of them. Borrowed. */
static PmTensor rows_of(const Parts *p, const PmTensor *t, const PmType *type, int64_t at, int64_t n)
{
	size_t row = t->bytes / (size_t)p->rows.n;

	return (PmTensor){ *type, (char *)t->data + row * (size_t)at, row * (size_t)n };
}

static void join(Parts *p, const Watch *w, const PmGraph *of, PmStatus st)
{
	if (st && !w->stopped) /* before the node could be looked at */
		refuse(p, w->at, w->part - p->n, NULL);
	pthread_mutex_lock(&p->lock);
	p->r->inside |= w->r.inside;
	p->r->most = w->r.most > p->r->most ? w->r.most : p->r->most;
	for (size_t i = 0; i < pm_graph_n_nodes(p->g); i++)
		p->seen->seen[pm_graph_node_at(p->g, i).id] |= w->seen.seen[pm_graph_node_at(of, i).id];
	pthread_mutex_unlock(&p->lock);
	atomic_fetch_or(&p->inside, w->r.inside);
}

static void run_part(Parts *p, int64_t part)
{
	int64_t at = part * p->each + (part < p->more ? part : p->more), n = p->each + (part < p->more);
	const PmGraph *of = p->of[part < p->more];
	size_t n_in = pm_graph_n_inputs(of);
	PmTensor *in = pm_xcalloc(n_in + 1, sizeof *in);
	Watch w = { .p = p, .part = part };
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	pm_branches_init(&w.seen, of);
	for (size_t k = 0; k < n_in; k++)
		in[k] = p->rows.split[pm_graph_input(p->g, k).id] == PM_ROWS_SPLIT
				? rows_of(p, &p->in[k], pm_value_type(of, pm_graph_input(of, k)), at, n)
				: p->in[k];
	st = pm_ref_run_watched(of, in, n_in, watch, &w, &err);
	join(p, &w, of, st);
	pm_branches_release(&w.seen);
	free(in);
}

static void run_parts(void *arg, int64_t from, int64_t to)
{
	for (int64_t part = from; part < to; part++)
		run_part(arg, part);
}

/* An operator whose rule looks at the ends of all elements, not at pairs of them. */
static int looks_at_all(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);

	return op == PM_OP_QuantizeLinear ||
	       (op == PM_OP_Div && !pm_dtype_is_float(pm_value_type(g, pm_node_in(g, n, 0))->dtype));
}

static int find_rows(const PmGraph *g, PmRows *out)
{
	int all = 0;

	if (!pm_rows_find(g, out))
		return 0;
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		all |= looks_at_all(g, pm_graph_node_at(g, i));
	if (!all && out->n >= 2 * LEAST_ROWS && out->row * out->n >= LEAST && out->whole <= 4 * PART)
		return 1;
	pm_rows_release(out);
	return 0;
}

int pm__reach_is_by_rows(const PmGraph *g)
{
	PmRows rows;

	if (!find_rows(g, &rows))
		return 0;
	pm_rows_release(&rows);
	return 1;
}

/* Rows of a part, which is large beside the operands that each of them reads. */
static int64_t rows_of_part(const PmRows *r)
{
	int64_t rows = (r->whole > PART ? 4 * PART : PART) / (r->row > 0 ? r->row : 1);

	return rows > LEAST_ROWS ? rows : LEAST_ROWS;
}

int64_t pm_reach_bytes_by_rows(const PmGraph *g)
{
	int64_t bytes;
	PmRows rows;

	if (!find_rows(g, &rows))
		return 0;
	bytes = pm_threads_most() * (ARRAYS * rows_of_part(&rows) * rows.row + 2 * rows.whole) *
		(int64_t)sizeof(double);
	pm_rows_release(&rows);
	return bytes;
}

static void cut(Parts *p)
{
	int64_t rows = rows_of_part(&p->rows);

	p->n = p->rows.n / rows > 0 ? p->rows.n / rows : 1;
	p->each = p->rows.n / p->n;
	p->more = p->rows.n % p->n;
}

PmStatus pm__reach_by_rows(const PmGraph *g, const PmTensor *in, int how, double room, PmReached *r,
			   PmBranches *seen, PmErr *err)
{
	Parts p = { .g = g,
		    .in = in,
		    .how = how,
		    .room = room,
		    .stop = INT64_MAX,
		    .lock = PTHREAD_MUTEX_INITIALIZER,
		    .r = r,
		    .seen = seen };
	PmStatus st;

	if (!find_rows(g, &p.rows))
		return pm_err(err, PM_E_INVALID, "Graph '%.100s' has no rows.", pm_graph_name(g));
	cut(&p);
	p.beyond = pm_xcalloc(pm_graph_n_nodes(g) + 1, sizeof *p.beyond);
	st = pm_rows_graph(g, &p.rows, p.each, &p.of[0], err);
	if (!st)
		st = pm_rows_graph(g, &p.rows, p.each + 1, &p.of[1], err);
	if (!st)
		pm_threads_run(p.n, 1, run_parts, &p);
	if (!st && p.stop < INT64_MAX && !p.why)
		st = pm_err(err, PM_E_INVALID, "The reference refuses some rows.");
	else if (!st && p.why)
		st = pm__reach_refuse(g, pm_graph_node_at(g, (size_t)p.stop), p.why, err);
	pm_graph_free(p.of[0]);
	pm_graph_free(p.of[1]);
	pm_rows_release(&p.rows);
	free(p.beyond);
	return st;
}
