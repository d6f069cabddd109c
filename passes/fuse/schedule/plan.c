/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - sections: which results one nest of loops makes, and what a row is.
 */
#include "../fuse.h"

/* ---- the axes of a row ---- */

/* Bits of the axes of `shape` that reductions under op depend on; -1 when it cannot be told. */
static int probe(Ctx *c, int op, int shape)
{
	Section s = { .vec = 1, .max_serial = 1 << 30 };
	const Op *o = &c->g->op[op], *as = &c->g->op[shape];
	Ix co[F_RANK];
	int d;

	f_clear(c, &s);
	c->b.probing = 1;
	c->b.probe = c->b.plain = 0;
	c->b.n_probed = 0;
	for (d = 0; d < as->rank; d++)
		co[d] = as->dim[d] == 1 ? ix_const(c->ix, 0) : ix_var(c->ix, "a", as->dim[d] - 1, 1u << d, 0);
	if (op != shape)
		ix_unflat(c->ix, ix_flat(c->ix, co, as->dim, as->rank), o->dim, o->rank, co);
	f_eval(c, op, co);
	c->b.probing = 0;
	if (c->fail) {
		c->fail = NULL;
		return -1;
	}
	return (int)(c->b.probe & DEP_AXES);
}

int f_same_shape(const Op *a, const Op *b)
{
	int d;

	for (d = 0; d < a->rank && a->rank == b->rank && a->dim[d] == b->dim[d]; d++)
		;
	return a->rank == b->rank && d == a->rank;
}

/* How op is walked so that there are as few rows as possible: by its own extents, or by those of another
 * value of as many elements. 0 when no reduction is under it, -1 when it cannot be told. */
static int64_t find_rows(Ctx *c, int op, int *shape, uint32_t *axes)
{
	enum { TRIES = 6 };
	int64_t numel = f_numel(&c->g->op[op]), best = -1, rows;
	int tried[TRIES], n = 0, i, k;

	for (i = -1; i < c->g->n_ops && n < TRIES; i++) {
		int as = i < 0 ? op : i;
		const Op *o = &c->g->op[as];
		int mask;

		if (i >= 0 && (!f_computed(c, o) || f_numel(o) != numel))
			continue;
		for (k = 0; k < n && !f_same_shape(&c->g->op[tried[k]], o); k++)
			;
		if (k < n)
			continue;
		tried[n++] = as;
		mask = probe(c, op, as);
		if (mask < 0)
			continue;
		rows = mask ? f_rows_of(o, (uint32_t)mask) : c->b.n_probed ? 1 : 0;
		if (best < 0 || rows < best) {
			best = rows;
			*shape = as;
			*axes = (uint32_t)mask;
		}
		/* Every choice of these axes is another element of that reduction, however op is walked. */
		if (c->b.plain == (uint32_t)mask)
			break;
	}
	return best;
}

/* ---- which results go together ---- */

static Section *new_section(Ctx *c, int64_t rows)
{
	Section *s = &c->section[c->n_sections];

	if (c->n_sections == F_SECTIONS) {
		f_fail(c, "its results have too many different shapes");
		return NULL;
	}
	c->n_sections++;
	*s = (Section){ .rows = rows, .max_serial = rows ? 64 : 256 };
	return s;
}

static void put(Section *s, int k, int shape, uint32_t axes)
{
	s->out[s->n_out] = (int16_t)k;
	s->shape[s->n_out] = (int16_t)shape;
	s->axes[s->n_out++] = axes;
}

/* A result without reductions joins a section that walks as many elements. */
static int join(Ctx *c, int k)
{
	const Op *o = &c->g->op[c->arg_out[k]];
	int i, j;

	for (i = 0; i < c->n_sections; i++) {
		Section *s = &c->section[i];

		for (j = 0; j < s->n_out && !s->dot; j++)
			if (f_numel(&c->g->op[s->shape[j]]) == f_numel(o)) {
				put(s, k, s->rows ? s->shape[j] : c->arg_out[k], s->axes[j]);
				return 1;
			}
	}
	return 0;
}

static int has_reduction(const Ctx *c)
{
	int i;

	for (i = 0; i < c->g->n_ops; i++)
		if (c->g->op[i].kind == OP_REDUCE && f_computed(c, &c->g->op[i]))
			return 1;
	return 0;
}

/* Whether blocks have to make whole rows of the product. */
static int by_rows(Ctx *c, int dot)
{
	int k;

	for (k = 0; k < c->n_arg_out; k++)
		if (f_reduced_after(c, c->arg_out[k], dot))
			return 1;
	return 0;
}

/* A result of a product joins its section; 0 when it is none. */
static int of_product(Ctx *c, int k)
{
	int shape = c->arg_out[k], dot = f_dot_under(c, shape), i;
	uint32_t axes = 0;
	int64_t rows = 0;

	if (!dot || c->sums || c->apart)
		return 0;
	if (dot < 0) {
		f_fail(c, "a result comes from two products");
		return 1;
	}
	for (i = 0; i < c->n_sections && c->section[i].dot != dot; i++)
		;
	if (by_rows(c, dot)) {
		rows = find_rows(c, shape, &shape, &axes);
		rows = rows ? rows : 1;
	}
	if (rows < 0 || (rows && rows != c->g->op[dot].par[0] * c->g->op[dot].par[1])) {
		f_fail(c, "what follows the product has other rows");
		return 1;
	}
	if (i < c->n_sections || new_section(c, rows)) {
		put(&c->section[i], k, shape, axes);
		c->section[i].dot = dot;
		c->section[i].max_serial = 16;
	}
	return 1;
}

/* With as_rows, threads share reductions; without, each thread does its own. */
static void make_sections(Ctx *c, int as_rows)
{
	int plain[F_ARGS], n = 0, k, i;

	c->n_sections = 0;
	for (k = 0; k < c->n_arg_out && !c->fail; k++) {
		int shape = c->arg_out[k];
		uint32_t axes = 0;
		int64_t rows;

		if (of_product(c, k))
			continue;
		rows = as_rows ? find_rows(c, shape, &shape, &axes) : 0;
		if (rows < 0)
			f_fail(c, "its indices cannot be taken apart");
		if (rows <= 0) {
			plain[n++] = k;
			continue;
		}
		for (i = 0; i < c->n_sections && c->section[i].rows != rows; i++)
			;
		if (i < c->n_sections || new_section(c, rows))
			put(&c->section[i], k, shape, axes);
	}
	for (k = 0; k < n && !c->fail; k++)
		if (!join(c, plain[k]) && new_section(c, 0))
			put(&c->section[c->n_sections - 1], plain[k], c->arg_out[plain[k]], 0);
}

/* All sections of a kernel have blocks of one size. */
static void level(Ctx *c)
{
	int64_t staged = 0;
	int block = 0, i;

	for (i = 0; i < c->n_sections; i++)
		if (c->section[i].block > block)
			block = c->section[i].block;
	for (i = 0; i < c->n_sections; i++) {
		Section *s = &c->section[i];

		if (!s->dot != !c->section[0].dot || (s->dot && s->block != block))
			f_fail(c, "a product and what is none do not go together");
		if (s->dot)
			continue;
		s->block = block;
		if (s->rows && s->group > 32 && !s->column)
			s->group = block;
		else if (s->rows)
			s->per_block = block / s->group;
		s->blocks = s->rows ? (f_groups(s) + s->per_block - 1) / s->per_block *
					      (s->split ? s->split : 1)
				    : (s->extent / s->vec + block - 1) / block;
		staged += s->stage ? f_staged_bytes(c, s) : 0;
	}
	if (staged > f_target()->is.block_static_shared_bytes)
		f_fail(c, "its sections hold more results than shared memory has room for");
}

static int measure(Ctx *c)
{
	int i;

	for (i = 0; i < c->n_sections && !c->fail; i++)
		f_schedule(c, &c->section[i]);
	if (!c->fail)
		level(c);
	return !c->fail;
}

static int plan_rows(Ctx *c, int rows)
{
	c->fail = NULL;
	c->n_arg_in = c->n_known_in;
	c->stage = c->shorts = 0;
	if (c->apart && !f_front(c))
		return 0;
	make_sections(c, rows);
	return !c->fail && measure(c);
}

/* A plan that has been made, to come back to. */
typedef struct Made {
	Section section[F_SECTIONS], front;
	int32_t arg_in[F_ARGS];
	int n_sections, n_arg_in, apart, sums, alone;
} Made;

static void keep_made(const Ctx *c, Made *m)
{
	int i;

	for (i = 0; i < c->n_sections; i++)
		m->section[i] = c->section[i];
	for (i = 0; i < c->n_arg_in; i++)
		m->arg_in[i] = c->arg_in[i];
	m->front = c->front;
	m->n_sections = c->n_sections;
	m->n_arg_in = c->n_arg_in;
	m->apart = c->apart;
	m->sums = c->sums;
	m->alone = c->alone;
}

static void take_made(Ctx *c, const Made *m)
{
	int i;

	for (i = 0; i < m->n_sections; i++)
		c->section[i] = m->section[i];
	for (i = 0; i < m->n_arg_in; i++)
		c->arg_in[i] = m->arg_in[i];
	c->front = m->front;
	c->n_sections = m->n_sections;
	c->n_arg_in = m->n_arg_in;
	c->apart = m->apart;
	c->sums = m->sums;
	c->alone = m->alone;
	c->fail = NULL;
}

static const double SUM_MARGIN =
	0.9; /* of shared rows' time, which sums of each thread's own have to stay below */

/* Whether all products of the set are sums of few terms. */
static int is_short(const Ctx *c)
{
	int i;

	for (i = 0; i < c->g->n_nodes; i++)
		if (c->g->node[i].in_set && c->g->node[i].dot && c->g->op[c->g->node[i].dot].par[3] > F_SHORT)
			return 0;
	return 1;
}

/* Threads share a row, or each does its own, whichever can be done; short reductions in either way, whichever
 * takes less. */
static int plan(Ctx *c)
{
	double shared;
	Made rows;

	c->alone = 0;
	if (!has_reduction(c))
		return plan_rows(c, 0);
	if (!plan_rows(c, 1))
		return plan_rows(c, 0);
	if (!c->shorts || (f_has_product(c) && !(c->sums && is_short(c))))
		return 1;
	shared = f_kernel_time(c);
	keep_made(c, &rows);
	c->alone = 1;
	if (!plan_rows(c, 1) || f_kernel_time(c) >= shared * (c->sums ? SUM_MARGIN : 1))
		take_made(c, &rows);
	return 1;
}

static const double FITTED_MARGIN = 1.15; /* of two estimates, the one of a kernel has been fitted to more */

enum { TOGETHER, APART, AS_SUM };

/* With the product in the kernel, in a launch of its own, or as a sum; microseconds, -1 when it cannot be. */
static double try_plan(Ctx *c, int way, Made *m)
{
	c->apart = way == APART;
	c->sums = way == AS_SUM;
	if (!plan(c))
		return -1;
	keep_made(c, m);
	return f_kernel_time(c);
}

/* A sum is for what no tile reaches, and for few terms. Choices are the two other ways in turn, where both
 * are possible, each by the estimates of its tiles. */
static int with_product(Ctx *c)
{
	int way, rank = c->choice;
	double time[3];
	Made made[3];

	for (way = TOGETHER; way <= AS_SUM; way++)
		time[way] = way == AS_SUM && time[TOGETHER] >= 0 && !is_short(c)
				    ? -1
				    : try_plan(c, way, &made[way]);
	way = time[APART] >= 0 && (time[TOGETHER] < 0 || time[APART] * FITTED_MARGIN < time[TOGETHER]);
	if (time[TOGETHER] >= 0 && time[APART] >= 0) {
		way = way != rank % 2;
		rank /= 2;
	}
	if (time[AS_SUM] >= 0 && (time[APART] < 0 || time[AS_SUM] < time[APART] * FITTED_MARGIN) &&
	    (time[TOGETHER] < 0 || time[AS_SUM] < time[TOGETHER]))
		way = AS_SUM;
	if (time[way] < 0)
		return 0;
	if (way == AS_SUM)
		c->other = rank > 0;
	else
		c->rank = rank;
	if (rank)
		return try_plan(c, way, &made[way]) >= 0;
	take_made(c, &made[way]);
	return 1;
}

int f_plan(Ctx *c)
{
	c->sums = c->apart = c->other = c->rank = 0;
	if (f_has_product(c))
		return with_product(c);
	c->other = c->choice > 0;
	return plan(c);
}
