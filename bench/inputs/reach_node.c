/* SPDX-License-Identifier: Apache-2.0 */
/* reach_node.c - which kinds of values, ties and branches one operator's run meets. */
#include "bench/inputs/reach_priv.h"

#include "base/core/str.h"
#include "base/sys/threads.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 1 << 15 }; /* elements from which on a thread is worth its start */

void pm_branches_init(PmBranches *b, const PmGraph *g)
{
	b->n = pm_graph_node_limit(g);
	b->seen = pm_xcalloc(b->n + 1, 1);
}

void pm_branches_release(PmBranches *b)
{
	free(b->seen);
	memset(b, 0, sizeof *b);
}

static int has_two_ways(PmOp op)
{
	return op == PM_OP_Where || op == PM_OP_Equal || op == PM_OP_Less || op == PM_OP_LessOrEqual ||
	       op == PM_OP_Greater || op == PM_OP_GreaterOrEqual || op == PM_OP_IsInf || op == PM_OP_IsNaN;
}

int pm_branch_not_taken(const PmBranches *b, const PmGraph *g, size_t k, char *text, size_t room)
{
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);
		int seen = n.id < b->n ? b->seen[n.id] : 3;

		if (!has_two_ways(pm_node_op(g, n)))
			continue;
		for (int way = 0; way < 2; way++)
			if (!(seen >> way & 1) && !k--) {
				snprintf(text, room, "%s '%.60s' never %s",
					 pm_op_desc(pm_node_op(g, n))->name,
					 pm_value_name(g, pm_node_out(g, n, 0)), way ? "false" : "true");
				return 1;
			}
	}
	return 0;
}

/* ---- one node ---- */

static void note_branches(const PmRefCall *c, PmBranches *b)
{
	PmOp op = pm_node_op(c->g, c->node);
	const PmRefTensor *t = op == PM_OP_Where ? &c->in[0] : &c->out[0];
	unsigned seen = 0;

	if (!has_two_ways(op) || c->node.id >= b->n || !t->i)
		return;
	for (int64_t i = 0; i < t->numel && seen != 3; i++)
		seen |= t->i[i] ? 1 : 2;
	b->seen[c->node.id] |= (unsigned char)seen;
}

static int is_outside(int dtype, double v)
{
	return v > pm_int_to_f64(dtype, pm_int_from_f64(dtype, INFINITY)) ||
	       v < pm_int_to_f64(dtype, pm_int_from_f64(dtype, -INFINITY));
}

static PmStatus as_double(const PmRefTensor *from, PmRefTensor *to, PmErr *err)
{
	PmType t = from->type;
	PmStatus st;

	t.dtype = PM_F64;
	st = pm_ref_tensor_init(to, &t, err);
	for (int64_t i = 0; i < from->numel && !st && from->i; i++)
		to->f[i] = pm_int_to_f64(from->type.dtype, from->i[i]);
	return st;
}

/* 1 when the node's integers wrap: the same computed in double precision does not fit the type. */
static int wraps(const PmRefCall *c)
{
	PmRefTensor *in = pm_xcalloc(c->n_in + 1, sizeof *in), out = { 0 };
	PmRefCall call = { c->g, c->node, in, c->n_in, &out, 1 };
	int found = 0;
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	st = as_double(&c->out[0], &out, &err);
	for (size_t k = 0; k < c->n_in && !st; k++)
		st = c->in[k].type.dtype < 0 ? (in[k] = c->in[k], PM_OK) : as_double(&c->in[k], &in[k], &err);
	if (!st)
		st = pm_ref_node(&call, &err);
	for (int64_t i = 0; i < out.numel && !st && !found; i++)
		found = is_outside(c->out[0].type.dtype, out.f[i]);
	for (size_t k = 0; k < c->n_in; k++)
		if (c->in[k].type.dtype >= 0)
			pm_ref_tensor_release(&in[k]);
	pm_ref_tensor_release(&out);
	free(in);
	return found;
}

static int narrows(const PmRefCall *c)
{
	int from = c->in[0].type.dtype, to = c->out[0].type.dtype;

	for (int64_t i = 0; i < c->in[0].numel && c->in[0].i && c->out[0].i && to != PM_BOOL; i++)
		if (is_outside(to, pm_int_to_f64(from, c->in[0].i[i])))
			return 1;
	return 0;
}

static int is_wrapped(const PmRefCall *c)
{
	PmOp op = pm_node_op(c->g, c->node);

	if (c->n_out != 1 || !c->out[0].i || c->out[0].type.dtype == PM_BOOL)
		return 0;
	if (op == PM_OP_Cast)
		return narrows(c);
	return (op == PM_OP_Add || op == PM_OP_Sub || op == PM_OP_Mul || op == PM_OP_Neg || op == PM_OP_Abs ||
		op == PM_OP_ReduceSum || op == PM_OP_ReduceProd || op == PM_OP_MatMul || op == PM_OP_Gemm ||
		op == PM_OP_Einsum) &&
	       wraps(c);
}

static double element(const PmRefTensor *t, int64_t i)
{
	return t->f ? t->f[i] : pm_int_to_f64(t->type.dtype, t->i[i]);
}

typedef struct Lines {
	const PmRefTensor *x;
	int64_t len, inner;
	double sign;
	atomic_int found;
} Lines;

static void look_for_tie(void *arg, int64_t from, int64_t to)
{
	Lines *l = arg;

	for (int64_t line = from; line < to && !l->found; line++) {
		int64_t at = line / l->inner * l->inner * l->len + line % l->inner;
		double top = -INFINITY;
		int n = 0;

		for (int64_t k = 0; k < l->len; k++) {
			double v = l->sign * element(l->x, at + k * l->inner);

			n = v > top ? 1 : n + (v == top);
			top = v > top ? v : top;
		}
		if (n > 1)
			l->found = 1;
	}
}

/* 1 when some line along the axis has its largest (or least) element twice. */
static int has_tie(const PmRefCall *c)
{
	const PmRefTensor *x = &c->in[0];
	PmOp op = pm_node_op(c->g, c->node);
	int64_t axis = pm_node_i(c->g, c->node, "axis", -1), len;
	Lines l = { .x = x, .inner = 1, .sign = op == PM_OP_ArgMin || op == PM_OP_ReduceMin ? -1 : 1 };

	if (op == PM_OP_ReduceMax || op == PM_OP_ReduceMin) {
		const int64_t *axes;

		if (pm_node_ints(c->g, c->node, "axes", &axes) != 1)
			return 0;
		axis = axes[0];
	} else if (op != PM_OP_ArgMax && op != PM_OP_ArgMin && op != PM_OP_TopK && op != PM_OP_Softmax &&
		   op != PM_OP_Hardmax) {
		return 0;
	}
	axis += axis < 0 ? x->type.rank : 0;
	if (axis < 0 || axis >= x->type.rank)
		return 0;
	len = x->type.dim[axis];
	for (int d = (int)axis + 1; d < x->type.rank; d++)
		l.inner *= x->type.dim[d];
	l.len = len;
	if (len > 0)
		pm_threads_run(x->numel / len, 1 + (1 << 14) / len, look_for_tie, &l);
	return l.found;
}

static double top_of(int dtype)
{
	const PmFloatType *f = pm_float_type(dtype), *half = pm_float_type(PM_BF16);

	return f && (f->largest < half->largest || pm_dtype_size(dtype) > 4) ? f->largest : half->largest;
}

const char *pm__reach_too_large(const PmRefCall *c)
{
	double up_to = pm_defined_up_to(pm_node_op(c->g, c->node)), most;

	for (size_t k = 0; k < c->n_in && isfinite(up_to); k++)
		if (c->in[k].f && ((void)pm_kinds_of(&c->in[k], &most), most > up_to))
			return "an operand larger than can be compared";
	return NULL;
}

typedef struct Beyond {
	const double *f;
	double top;
	atomic_int_least64_t n;
} Beyond;

static void count_beyond(void *arg, int64_t from, int64_t to)
{
	Beyond *b = arg;
	int64_t n = 0;

	for (int64_t i = from; i < to; i++)
		n += !(fabs(b->f[i]) <= b->top);
	atomic_fetch_add(&b->n, n);
}

int64_t pm__reach_beyond(const PmRefCall *c, size_t k, double room)
{
	const PmRefTensor *t = &c->out[k];
	Beyond b = { t->f, top_of(t->type.dtype) / (pm_float_is_short_range(t->type.dtype) ? 2 : room), 0 };

	if (t->f)
		pm_threads_run(t->numel, LEAST, count_beyond, &b);
	return b.n;
}

int pm__reach_leaves(int64_t beyond, int64_t numel, const char **why)
{
	*why = "results beyond the range of their type";
	return beyond * 256 > numel;
}

PmStatus pm__reach_refuse(const PmGraph *g, PmNode n, const char *why, PmErr *err)
{
	PmStr node = PM_STR_INIT;

	pm_node_describe(g, n, &node);
	pm_err(err, PM_DECLINED, "%.100s: %s", node.s, why);
	pm_str_release(&node);
	return PM_DECLINED;
}

void pm__reach_note(const PmRefCall *c, unsigned known, PmReached *r, PmBranches *seen)
{
	note_branches(c, seen);
	for (size_t k = 0; k < c->n_out; k++) {
		double most;

		r->inside |= pm_kinds_of(&c->out[k], &most);
		r->most = fmax(r->most, most);
	}
	if (!((r->inside | known) & PM_KIND_WRAP) && is_wrapped(c))
		r->inside |= PM_KIND_WRAP;
	if (!((r->inside | known) & PM_KIND_TIE) && c->n_in && has_tie(c))
		r->inside |= PM_KIND_TIE;
}
