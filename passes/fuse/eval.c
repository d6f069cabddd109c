/* SPDX-License-Identifier: Apache-2.0 */
/* eval.c - the statements that compute a value at coordinates: loads, and who makes what. */
#include "fuse.h"

int f_fail(Ctx *c, const char *why)
{
	if (!c->fail)
		c->fail = why;
	return -1;
}

/* ---- loads ---- */

enum { NEAR = 32 << 10 /* bytes */ };
static const double AGAIN = 0.5; /* of what has been read once by the same section: it is in the cache */

int f_arg(Ctx *c, int op)
{
	int i;

	for (i = 0; i < c->n_arg_in; i++)
		if (c->arg_in[i] == op)
			return i;
	if (c->n_arg_in == F_ARGS) {
		f_fail(c, "it has too many operands");
		return 0;
	}
	c->arg_in[c->n_arg_in] = op;
	return c->n_arg_in++;
}

/* Whether an atom changes from one neighbour in this variable to the next: a quotient seldom does. */
static int turns_with(const Ctx *c, int atom, uint32_t dep)
{
	const Atom *a = &c->atom[atom];
	const Lin *l;
	int i;

	if (!(a->deps & dep) || a->kind == ATOM_DIV)
		return 0;
	if (a->kind == ATOM_VAR)
		return 1;
	for (l = &c->lin[a->of], i = 0; i < l->n; i++)
		if (turns_with(c, l->t[i].atom, dep))
			return 1;
	return 0;
}

/* Elements between what neighbours in this variable read; 0 when it does not matter. */
static int64_t stride_by(const Ctx *c, Ix at, uint32_t dep)
{
	const Lin *l = &c->lin[at];
	int64_t best = 0;
	int i;

	for (i = 0; i < l->n; i++) {
		int64_t k = l->t[i].k < 0 ? -l->t[i].k : l->t[i].k;

		if ((!best || k < best) && turns_with(c, l->t[i].atom, dep))
			best = k;
	}
	return best;
}

void f_count_order(Ctx *c, const Op *o, Ix at, double bytes)
{
	int64_t row = stride_by(c, at, DEP_ROW), chunk = stride_by(c, at, DEP_CHUNK);

	if (chunk && chunk * pm_dtype_bytes(o->dtype) <= 16)
		c->s->along += bytes;
	else if (row && row * pm_dtype_bytes(o->dtype) <= 16)
		c->s->across += bytes;
}

/* Rows of a block whose elements lie side by side share what is read: 32 bytes at a time. */
static double rows_in_a_sector(const Ctx *c, Ix at, double size)
{
	double apart = (double)stride_by(c, at, DEP_ROW) * size, n;

	if (!c->s->rows || apart <= 0 || apart > 16)
		return 1;
	n = 32 / apart;
	return n < c->s->per_block ? n : c->s->per_block;
}

void f_work(Ctx *c, int lanes, int n)
{
	/* Every thread of a row computes what is the row's. */
	double threads = c->at_row && c->s->rows ? c->s->group : 1;

	if (!c->trial)
		c->s->work += c->times * threads * (lanes ? c->s->vec : 1) * n;
}

void f_count_load(Ctx *c, const Op *o, int arg, Ix at, int lanes)
{
	/* Of the bytes of a sector that no thread of the warp asks for, so many are read from memory: the
	 * rest are still in a cache when their thread comes. Of a bias and a transposition of 64 MB on an
	 * H200, 103 and 116 us (tools/bench/large_graphs.py). */
	static const double MISSED = 0.45;
	double size = pm_dtype_bytes(o->dtype), all = c->times * (lanes ? c->s->vec : 1) * size;
	double once = (double)f_numel(o) * size, wide;
	int rows = c->s->rows && (c->s->column || c->s->group == 1), again;

	if (c->trial)
		return;
	wide = (double)stride_by(c, at, rows ? DEP_ROW : DEP_CHUNK) * size;
	f_count_order(c, o, at, all);
	again = arg >= 0 && (c->read >> arg & 1);
	c->s->bytes += (all < once ? all : once + 0.1 * (all - once)) * (again ? AGAIN : 1);
	c->read |= arg >= 0 ? 1ull << arg : 0;
	if (wide > 16)
		c->s->spread += all * ((wide > 32 ? 32 : wide) / (size * (lanes ? c->s->vec : 1)) - 1) *
				MISSED / (rows ? 1 : rows_in_a_sector(c, at, size));
	f_work(c, 0, 2);
}

static int is_half(const Op *o)
{
	return o->dtype == PM_F16 || o->dtype == PM_BF16;
}

static int load(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->op[op];
	Ix at = ix_flat(c, co, o->dim, o->rank), base, rest, of_lane = -1;
	int64_t step;
	Stmt *s;

	if (c->fail)
		return -1;
	base = ix_without_lane(c, at, &step);
	/* Elements of one vector in another order. */
	if (step == -1 && ix_split_lane(c, at, &of_lane, &rest)) {
		step = 1;
		base = rest;
	} else {
		of_lane = -1;
	}
	s = f_emit_to(c, ST_LOAD, f_new_var(c, o->dtype, step != 0), -1);
	s->arg = (int16_t)f_arg(c, op);
	s->dtype = o->dtype;
	s->lanes = step != 0;
	s->vec = step == 1;
	s->at = step == 1 ? base : at;
	s->lane = of_lane;
	s->where = (int8_t)(of_lane >= 0 ? -1 : f_early_place(c, o, at));
	f_ask(c, s);
	f_count_load(c, o, s->arg, base, step != 0);
	c->vec_in |= step == 1 ? 1ull << s->arg : 0;
	/* What is small is near, wherever its elements lie. */
	c->s->lane_loads += step != 0 && step != 1 && f_numel(o) * pm_dtype_bytes(o->dtype) > NEAR;
	c->var[s->to].exact = 1;
	if (step == 1 && of_lane < 0 && is_half(o))
		c->var[s->to].packed = o->dtype;
	return s->to;
}

static int number(Ctx *c, const Op *o)
{
	Stmt *s = f_emit_to(c, ST_NUMBER, f_new_var(c, o->dtype, 0), -1);

	c->var[s->to].exact = 1;
	s->num = o->num;
	s->n_num = 1;
	return s->to;
}

int f_computed(const Ctx *c, const Op *o)
{
	return o->node >= 0 && c->node[o->node].in_set;
}

/* ---- asking ---- */

int f_eval_ew(Ctx *c, int op, const Ix *co);

static int within(const Ctx *c, const Op *o, const Ix *co)
{
	int d;

	for (d = 0; d < o->rank; d++)
		if (c->lin[co[d]].lo < 0 || c->lin[co[d]].hi >= o->dim[d])
			return 0;
	return 1;
}

/* Writes it where c stands; not rounded yet. */
static int write_exact(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->op[op];
	int red = c->at_row && !c->branch && within(c, o, co) ? f_picked_from(c, op) : -1;

	if (red >= 0)
		return f_pick(c, op, co, red);
	if (o->kind == OP_NUM)
		return number(c, o);
	if (!f_computed(c, o))
		return load(c, op, co);
	switch (o->kind) {
	case OP_EW:
	case OP_FOLD:
	case OP_CAST:
		return f_eval_ew(c, op, co);
	case OP_REDUCE:
		return f_eval_reduce(c, op, co);
	case OP_POOL:
		return f_eval_pool(c, op, co);
	case OP_SCATTER:
		return f_eval_scatter(c, op, co);
	case OP_LINEAR:
		return f_eval_linear(c, op, co);
	case OP_DOT:
		return f_eval_dot(c, op, co);
	default:
		return f_eval_move(c, op, co);
	}
}

int f_rounded(Ctx *c, int op, int var)
{
	const Op *o = &c->op[op];
	Stmt *s;
	int y;

	if (var < 0 || !o->val.id || !is_half(o) || c->var[var].exact)
		return var;
	y = f_new_var(c, o->dtype, c->var[var].lanes);
	c->var[y].exact = 1;
	c->var[y].before = (int16_t)var;
	f_work(c, c->var[y].lanes, 1);
	s = f_emit_to(c, ST_ROUND, y, var);
	s->dtype = o->dtype;
	s->packed = c->var[y].lanes && !c->singly;
	if (s->packed)
		c->var[y].packed = o->dtype;
	return y;
}

/* A value of the graph is what it would be if it were stored: readers see it rounded to its type. */
static int write_value(Ctx *c, int op, const Ix *co)
{
	return f_rounded(c, op, write_exact(c, op, co));
}

/* What depends on the row only is written once for the row, in front of the loops. */
static int for_the_row(Ctx *c, int op, const Ix *co)
{
	Block *out = c->out;
	double times = c->times, turns = c->turns;
	int var, branch = c->branch, trial = c->trial;

	c->trial = 0;
	c->out = c->row;
	c->at_row = 1;
	c->branch = 0;
	c->times = c->s->rows ? (double)f_groups(c->s) : 1;
	c->turns = 1;
	var = write_value(c, op, co);
	if (var >= 0 && !c->fail)
		f_memo_add(c, op, co, c->op[op].rank, var);
	c->at_row = 0;
	c->branch = branch;
	c->trial = trial;
	c->times = times;
	c->turns = turns;
	c->out = out;
	return var;
}

int f_eval(Ctx *c, int op, const Ix *coords)
{
	const Op *o = &c->op[op];
	uint32_t deps = 0;
	Ix co[F_RANK];
	int d, var;

	if (c->fail)
		return -1;
	for (d = 0; d < o->rank; d++) {
		co[d] = o->dim[d] == 1 ? ix_const(c, 0) : coords[d];
		deps |= c->lin[co[d]].deps;
	}
	var = f_memo_find(c, op, co, o->rank);
	if (var >= 0)
		return var;
	if (!c->at_row && !(deps & ~f_row_deps(c)) && within(c, o, co))
		return for_the_row(c, op, co);
	var = write_value(c, op, co);
	if (var >= 0 && !c->fail)
		f_memo_add(c, op, co, o->rank, var);
	return c->fail ? -1 : var;
}
