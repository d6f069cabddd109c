/* SPDX-License-Identifier: Apache-2.0 */
/* eager_reduce.c - reductions: of rows, of columns, and in two steps where there are few results. */
#include "runtime/exec/plan_priv.h"

#include "kernels/acc.cu.h"
#include "kernels/reduce.cu.h"
#include "kernels/reduce_col.cu.h"
#include "kernels/reduce_end.cu.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

enum {
	WARP = 32,
	LONG = 4096 /* elements of a row that a block, not a warp, reduces */
};

/* What distinguishes one reduction from another: start, step over (a, v), join of a and another a (v), the
 * end. */
typedef struct Reduction {
	PmOp op;
	const char *init, *step, *join, *fin;
	const char *iinit, *uinit; /* start for integers, and for uint64; NULL = as init */
} Reduction;

#define MOST  "((v) > (a) || (v) != (v) ? (v) : (a))"
#define LEAST "((v) < (a) || (v) != (v) ? (v) : (a))"
#define PLUS  "(a) + (v)"

static const Reduction reductions[] = {
	{ PM_OP_ReduceSum, "0", PLUS, PLUS, "(a)", NULL, NULL },
	{ PM_OP_ReduceMean, "0", PLUS, PLUS, "pm_div(a, (A)N_r)", NULL, NULL },
	{ PM_OP_ReduceMax, "-(A)INFINITY", MOST, MOST, "(a)", "(-0x7fffffffffffffffll - 1)", "0" },
	{ PM_OP_ReduceMin, "(A)INFINITY", LEAST, LEAST, "(a)", "0x7fffffffffffffffll",
	  "0xffffffffffffffffull" },
	{ PM_OP_ReduceProd, "1", "(a) * (v)", "(a) * (v)", "(a)", NULL, NULL },
	{ PM_OP_ReduceL1, "0", "(a) + ((v) < 0 ? -(v) : (v))", PLUS, "(a)", NULL, NULL },
	{ PM_OP_ReduceL2, "0", "(a) + (v) * (v)", PLUS, "(A)sqrt((double)(a))", NULL, NULL },
	{ PM_OP_ReduceSumSquare, "0", "(a) + (v) * (v)", PLUS, "(a)", NULL, NULL },
	{ PM_OP_ReduceLogSum, "0", PLUS, PLUS, "(A)log((double)(a))", NULL, NULL },
	{ PM_OP_GlobalAveragePool, "0", PLUS, PLUS, "pm_div(a, (A)N_r)", NULL, NULL },
	{ PM_OP_GlobalMaxPool, "-(A)INFINITY", MOST, MOST, "(a)", NULL, NULL },
};

static const char *start_of(const Reduction *r, int dtype)
{
	const char *other = dtype == PM_U64 ? r->uinit : pm_dtype_is_float(dtype) ? NULL : r->iinit;

	return other ? other : r->init;
}

/* What acc.cu has to be told, and the size of the Acc that it makes of it. */
typedef struct Accumulator {
	PmStr text;
	int64_t bytes;
} Accumulator;

/* What is reduced and how: the results (space o) and what each is made of (space r), over operand 0. */
typedef struct Plan {
	PmSpace o, r;
	int by_rows, v; /* rows: neighbours are reduced into one result */
	int g, tx, ty, block;
	int64_t blocks, parts, chunk; /* parts > 1: in two steps */
	int64_t part_bytes;           /* of all accumulators that the first step leaves */
} Plan;

static int least(int a, int b)
{
	return a < b ? a : b;
}

static int64_t up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* The number by which both spaces can be read at once along the fast dimension of the one. */
static int width(const PmSpace *fast, const PmSpace *other, const Loc *l, int dtype)
{
	int v = pm__space_width(fast, 0, l->off, 16 / (int)pm_dtype_size(dtype));

	for (int d = 0; d < other->rank; d++)
		while (v > 1 && other->dim[d] > 1 && other->stride[0][d] % v)
			v /= 2;
	return v;
}

static int64_t closest(const PmSpace *s)
{
	int64_t n = s->dim[s->rank - 1] > 1 ? s->stride[0][s->rank - 1] : INT64_MAX;

	return n < 0 ? -n : n;
}

/* Four blocks of each multiprocessor keep it busy. */
static void choose(Plan *c, const PmTarget *t, const Loc *l, int dtype)
{
	int64_t full = 4 * (int64_t)t->sm_count, need;

	c->by_rows = closest(&c->r) <= closest(&c->o);
	c->v = c->by_rows ? width(&c->r, &c->o, l, dtype) : width(&c->o, &c->r, l, dtype);
	c->parts = 1;
	c->chunk = c->r.total;
	if (c->by_rows) {
		need = up(c->r.total, c->v);
		for (c->g = 1; c->g < WARP && c->g < need;)
			c->g *= 2;
		if (c->r.total > LONG || (c->o.total < full && need > WARP * 4))
			c->g = PM__BLOCK;
		c->block = PM__BLOCK;
		c->blocks = up(c->o.total * c->g, c->block);
		need = up(need, (int64_t)c->block * 4); /* parts that are still worth a block */
	} else {
		while (c->v > 1 && c->o.total / c->v < full * WARP && c->r.total < full)
			c->v /= 2;
		for (c->tx = 1; c->tx < WARP && (int64_t)c->tx * c->v < c->o.total;)
			c->tx *= 2;
		for (c->ty = 1; c->ty < least(PM__BLOCK / c->tx, WARP) && c->ty * 2 < c->r.total;)
			c->ty *= 2;
		c->block = c->tx * c->ty;
		c->blocks = up(c->o.total, (int64_t)c->tx * c->v);
		need = up(c->r.total, (int64_t)c->ty * 8);
	}
	if (c->blocks && c->blocks < full / 2 && need > 1 && (!c->by_rows || c->g > WARP)) {
		c->parts = up(full, c->blocks);
		c->parts = c->parts < need ? c->parts : need;
		c->chunk = up(up(c->r.total, c->parts), c->v) * c->v;
		c->parts = up(c->r.total, c->chunk);
	}
}

/* The text behind its accumulator. */
static PmStatus launch(KGen *k, const char *text, PmGrid grid, int64_t flops, PmErr *err)
{
	PmStr body = PM_STR_INIT;
	char label[96];
	PmStatus st;

	snprintf(label, sizeof label, "eager %s %s", pm_node_op_name(k->p->g, k->node),
		 pm_dtype_name(k->dtype));
	pm_str_add(&body, acc_cu);
	pm_str_add(&body, text);
	st = pm__kg_launch_grid(k, label, body.s, grid, flops, err);
	pm_str_release(&body);
	return st;
}

static PmStatus join_parts(PmPlan *p, PmNode n, const Accumulator *acc, const Plan *c, const Loc *part,
			   int dtype, PmErr *err)
{
	PmValue y = pm_node_out(p->g, n, 0);
	int g = 1;
	KGen k;

	while (g < WARP && g < c->parts)
		g *= 2;
	pm__kg_init(&k, p, n, dtype);
	pm_str_addn(&k.head, acc->text.s, acc->text.len);
	pm__kg_define(&k, "G", "%d", g);
	pm__kg_out(&k, "y", pm__loc(p, y), pm__type(p, y)->dtype, c->o.total);
	pm__kg_scratch(&k, "const Acc *__restrict__ part", part, c->part_bytes);
	pm__kg_int(&k, "results", c->o.total);
	pm__kg_int(&k, "parts", c->parts);
	pm__kg_int(&k, "N_r", c->r.total);
	return launch(&k, reduce_end_cu, (PmGrid){ up(c->o.total * g, 128), 1, 128 }, 0, err);
}

/* Reduces operand 0 over the dimensions marked in `over`. */
static PmStatus reduce_over(PmPlan *p, PmNode n, const int *over, const Accumulator *acc, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	const Loc *l = pm__loc(p, x);
	int64_t od[PM_MAX_RANK], os[PM_MAX_RANK], rd[PM_MAX_RANK], rs[PM_MAX_RANK];
	const int64_t *orow = os, *rrow = rs;
	int no = 0, nr = 0;
	Loc part = { 0 };
	PmStatus st = pm__place(p, y, err);
	Plan c = { 0 };
	KGen k;

	if (st)
		return st;
	for (int d = 0; d < t->rank; d++) {
		int64_t *dim = over[d] ? &rd[nr] : &od[no], *stride = over[d] ? &rs[nr++] : &os[no++];

		*dim = t->dim[d];
		*stride = l->stride[d];
	}
	pm__space(&c.o, od, no, &orow, 1);
	pm__space(&c.r, rd, nr, &rrow, 1);
	choose(&c, p->target, l, t->dtype);
	pm__kg_init(&k, p, n, t->dtype);
	pm_str_addn(&k.head, acc->text.s, acc->text.len);
	pm_str_addf(&k.head, "typedef %s X;\n", pm__ctype(t->dtype));
	pm__kg_define(&k, "V", "%d", c.v);
	pm__kg_define(&k, c.by_rows ? "G" : "TX", "%d", c.by_rows ? c.g : c.tx);
	if (!c.by_rows)
		pm__kg_define(&k, "TY", "%d", c.ty);
	if (c.parts > 1) {
		pm__kg_define(&k, "SPLIT", "1");
		c.part_bytes = acc->bytes * c.o.total * c.parts;
		part.buf = pm__add_buffer(p, c.part_bytes, PM_BUF_SCRATCH);
		pm__kg_scratch(&k, "Acc *__restrict__ part", &part, c.part_bytes);
		pm__kg_int(&k, "chunk", c.chunk);
	} else {
		pm__kg_out(&k, "y", pm__loc(p, y), pm__type(p, y)->dtype, c.o.total);
	}
	pm__kg_in(&k, "x", l, t->dtype, pm__distinct(t, l));
	pm__kg_put_space(&k, "o", &c.o);
	pm__kg_put_space(&k, "r", &c.r);
	st = launch(&k, c.by_rows ? reduce_cu : reduce_col_cu, (PmGrid){ c.blocks, c.parts, c.block },
		    pm_op_flops(p->g, n), err);
	if (!st && c.parts > 1)
		st = join_parts(p, n, acc, &c, &part, t->dtype, err);
	return st;
}

static PmStatus reduce_by_table(PmPlan *p, PmNode n, const int *over, PmErr *err)
{
	int dtype = pm__type(p, pm_node_in(p->g, n, 0))->dtype, is_float = pm_dtype_is_float(dtype);
	const Reduction *r = NULL;
	Accumulator acc = { .text = PM_STR_INIT };
	PmStatus st;

	for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
		if (reductions[i].op == pm_node_op(p->g, n))
			r = &reductions[i];
	if (!r && pm_node_op(p->g, n) != PM_OP_ReduceLogSumExp)
		PM_BUG("%s has no row in the table of reductions", pm_op_desc(pm_node_op(p->g, n))->name);
	acc.bytes = (dtype == PM_F64 || !is_float ? 8 : 4) * (r ? 1 : 2);
	if (r)
		pm_str_addf(&acc.text,
			    "typedef %s A;\n#define ACC 0\n#define INIT %s\n#define STEP(a, v) (%s)\n"
			    "#define JOIN(a, v) (%s)\n#define FIN(a) %s\n",
			    pm__acc_type(dtype), start_of(r, dtype), r->step, r->join, r->fin);
	else /* ReduceLogSumExp; of integers in double */
		pm_str_addf(&acc.text, "typedef %s A;\n#define ACC 1\n",
			    is_float ? pm__acc_type(dtype) : "double");
	st = reduce_over(p, n, over, &acc, err);
	pm_str_release(&acc.text);
	return st;
}

PmStatus eager_reduce(PmPlan *p, PmNode n, PmErr *err)
{
	int over[PM_MAX_RANK] = { 0 };
	const int64_t *axes;
	size_t cnt = pm_node_ints(p->g, n, "axes", &axes);

	for (size_t i = 0; i < cnt; i++)
		if (axes[i] >= 0 && axes[i] < PM_MAX_RANK)
			over[axes[i]] = 1;
	return reduce_by_table(p, n, over, err);
}

PmStatus eager_global_pool(PmPlan *p, PmNode n, PmErr *err)
{
	int over[PM_MAX_RANK] = { 0 };

	for (int d = 2; d < pm__type(p, pm_node_in(p->g, n, 0))->rank; d++)
		over[d] = 1;
	return reduce_by_table(p, n, over, err);
}

PmStatus eager_arg(PmPlan *p, PmNode n, PmErr *err)
{
	int over[PM_MAX_RANK] = { 0 };
	Accumulator acc = { .text = PM_STR_INIT };
	PmStatus st;

	over[pm_node_i(p->g, n, "axis", 0)] = 1;
	acc.bytes = 16;
	pm_str_addf(&acc.text,
		    "typedef %s A;\n#define ACC 2\n#define LAST %d\n#define BETTER(v, top) ((v) %s (top))\n",
		    pm__acc_type(pm__type(p, pm_node_in(p->g, n, 0))->dtype),
		    pm_node_i(p->g, n, "select_last_index", 0) != 0,
		    pm_node_op(p->g, n) == PM_OP_ArgMin ? "<" : ">");
	st = reduce_over(p, n, over, &acc, err);
	pm_str_release(&acc.text);
	return st;
}
