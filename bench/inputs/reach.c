/* SPDX-License-Identifier: Apache-2.0 */
/* reach.c - runs the reference and notes which kinds of values, ties and branches it meets. */
#include "bench/inputs/reach_priv.h"

#include "base/sys/threads.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { LEAST = 1 << 15 }; /* elements from which on a thread is worth its start */

typedef struct Watch {
	PmReached *r;
	PmBranches seen;
	int how;
	double room; /* what another order of operations may exceed a result by */
	int stopped;
} Watch;

/* What leaves what can be compared, or NULL. */
static const char *leaves_range(const Watch *w, const PmRefCall *c)
{
	const char *why = pm__reach_too_large(c), *leaves;

	for (size_t k = 0; k < c->n_out && !why; k++)
		if (pm__reach_leaves(pm__reach_beyond(c, k, w->room), c->out[k].numel, &leaves))
			why = leaves;
	return why;
}

static PmStatus watch(void *arg, const PmRefCall *c, PmErr *err)
{
	Watch *w = arg;
	const char *why = w->how & PM_REACH_DEFINED ? pm_undefined(c) : NULL;

	if (!why && w->how & PM_REACH_FINITE)
		why = leaves_range(w, c);
	if (why) {
		w->stopped = 1;
		return pm__reach_refuse(c->g, c->node, why, err);
	}
	pm__reach_note(c, 0, w->r, &w->seen);
	return PM_OK;
}

/* ---- a run ---- */

/* 4 for each operation that can be moved past another, and the terms of sums. */
static double room_of(const PmGraph *g)
{
	double bits = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);
		PmOp op = pm_node_op(g, n);
		const PmOpDesc *d = pm_op_desc(op);
		const PmType *in = pm_value_type(g, pm_node_in(g, n, 0));
		int64_t numel = 1;

		if (op == PM_OP_Add || op == PM_OP_Sub || op == PM_OP_Mul || op == PM_OP_Div ||
		    op == PM_OP_Sum || op == PM_OP_BatchNormalization)
			bits += 2;
		if (!(d->flags & (PM_OPF_RED | PM_OPF_DOT | PM_OPF_POOL | PM_OPF_NORM)) ||
		    op == PM_OP_ReduceMax || op == PM_OP_ReduceMin || op == PM_OP_ArgMax ||
		    op == PM_OP_ArgMin || op == PM_OP_TopK || op == PM_OP_MaxPool ||
		    op == PM_OP_GlobalMaxPool || op == PM_OP_Softmax)
			continue;
		if (pm_type_is_static(in) && !pm_type_numel(in, &numel, NULL))
			bits += log2((double)numel + 1);
	}
	return exp2(fmin(bits, 60));
}

typedef struct Noted {
	const PmTensor *t;
	PmReached *r;
	pthread_mutex_t lock; /* of that */
} Noted;

static void note_some(void *arg, int64_t from, int64_t to)
{
	enum { SOME = 512 };
	Noted *all = arg;
	PmRefTensor t = { .type = all->t->type };
	int is_float = pm_dtype_is_float(t.type.dtype);
	double v[SOME], most, largest = 0;
	int64_t word[SOME];
	unsigned kinds = 0;

	t.f = is_float ? v : NULL;
	t.i = is_float ? NULL : word;
	for (int64_t i = from; i < to; i += SOME) {
		t.numel = to - i < SOME ? to - i : SOME;
		if (is_float)
			pm_tensor_gets(all->t, i, t.numel, v);
		for (int64_t j = 0; j < t.numel && !is_float; j++)
			word[j] = pm_tensor_get_i(all->t, i + j);
		kinds |= pm_kinds_of(&t, &most);
		largest = fmax(largest, most);
	}
	pthread_mutex_lock(&all->lock);
	all->r->in |= kinds;
	all->r->in_most = fmax(all->r->in_most, largest);
	pthread_mutex_unlock(&all->lock);
}

static void note_inputs(const PmTensor *in, size_t n, PmReached *r)
{
	for (size_t k = 0; k < n; k++)
		pm_threads_run(pm_tensor_numel(&in[k]), LEAST, note_some,
			       &(Noted){ &in[k], r, PTHREAD_MUTEX_INITIALIZER });
}

/* Parts first, where there are any: what they refuse without a reason of ours is run as a whole. */
static PmStatus run(Watch *w, const PmGraph *g, const PmTensor *in, PmErr *err)
{
	PmStatus st = pm__reach_is_by_rows(g) ? pm__reach_by_rows(g, in, w->how, w->room, w->r, &w->seen, err)
					      : PM_E_INVALID;

	if (!st)
		return PM_OK;
	w->r->inside = 0; /* how far parts had come is no result */
	w->r->most = 0;
	w->stopped = st == PM_DECLINED;
	if (w->stopped)
		return st;
	pm_err_init(err);
	return pm_ref_run_watched(g, in, pm_graph_n_inputs(g), watch, w, err);
}

PmStatus pm_reach(const PmGraph *g, const PmTensor *in, int how, PmReached *r, PmBranches *b, PmErr *err)
{
	Watch w = { .r = r, .how = how, .room = how & PM_REACH_FINITE ? room_of(g) : 1 };
	size_t n = pm_graph_n_inputs(g);
	PmErr why;
	PmStatus st;

	r->in = r->inside = 0;
	r->in_most = r->most = 0;
	pm_branches_init(&w.seen, g);
	pm_err_init(&why);
	st = run(&w, g, in, &why);
	r->measured = !st;
	if (!st) {
		note_inputs(in, n, r);
		for (size_t i = 0; b && i < b->n && i < w.seen.n; i++)
			b->seen[i] |= w.seen.seen[i];
	} else {
		snprintf(r->why, sizeof r->why, "%.*s", (int)sizeof r->why - 1, why.text);
	}
	pm_branches_release(&w.seen);
	if (!st)
		return PM_OK;
	if (w.stopped || st == PM_E_INVALID || st == PM_E_SHAPE || st == PM_E_UNSUPPORTED)
		return PM_DECLINED;
	return pm_err(err, st, "%s", why.text);
}
