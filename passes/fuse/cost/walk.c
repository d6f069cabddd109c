/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - counts what a nest does: bytes, sectors, operations, turns that wait for each other. */
#include "walk.h"

enum {
	NEAR = 32 << 10, /* bytes of an operand that is near, wherever its elements lie */
	LINE_BYTES = 128 /* of L1: CUDA C++ Programming Guide, compute capability 9.0 */
};

/* Where a walk is. */
typedef struct Walk {
	const Nest *n;
	const Target *t;
	Cost *cost;
	double times; /* how often statements run there, in all */
	double turns; /* and in loops of one thread */
	int of_row;   /* they are the row's: each of its threads runs them */
	int held;     /* the operand that the section reads once (early.c); -1: none */
} Walk;

/* ---- memory ---- */

/* Whether an atom changes from one neighbour in this variable to the next: a quotient seldom does. */
static int turns_with(const Index *ix, int atom, uint32_t dep)
{
	const Atom *a = &ix->atom[atom];
	const Lin *l;
	int i;

	if (!(a->deps & dep) || a->kind == ATOM_DIV)
		return 0;
	if (a->kind == ATOM_VAR)
		return 1;
	for (l = &ix->lin[a->of], i = 0; i < l->n; i++)
		if (turns_with(ix, l->t[i].atom, dep))
			return 1;
	return 0;
}

int64_t nest_stride(const Index *ix, Ix at, uint32_t dep)
{
	const Lin *l = &ix->lin[at];
	int64_t best = 0;
	int i;

	for (i = 0; i < l->n; i++) {
		int64_t k = l->t[i].k < 0 ? -l->t[i].k : l->t[i].k;

		if ((!best || k < best) && turns_with(ix, l->t[i].atom, dep))
			best = k;
	}
	return best;
}

/* Whether nothing but what a gather reads from its indices (eval_gather.c) changes the place from one
 * neighbour to the next. */
static int goes_anywhere(const Index *ix, Ix at, uint32_t dep)
{
	const Lin *l = &ix->lin[at];
	int i, found = 0;

	for (i = 0; i < l->n; i++) {
		const Atom *a = &ix->atom[l->t[i].atom];

		if (!turns_with(ix, l->t[i].atom, dep))
			continue;
		if (a->kind != ATOM_VAR || a->name[0] != INDEX_FOUND)
			return 0;
		found = 1;
	}
	return found;
}

/* In which order of memory bytes are accessed. */
static void count_order(const Walk *w, const Stmt *s, double bytes)
{
	int64_t size = (int64_t)pm_dtype_bytes(s->dtype), row = nest_stride(w->n->ix, s->at, DEP_ROW) * size,
		chunk = nest_stride(w->n->ix, s->at, DEP_CHUNK) * size;

	if (chunk && chunk <= 16)
		w->cost->along += bytes;
	else if (row && row <= 16)
		w->cost->across += bytes;
}

/* Rows of a block whose elements lie side by side share what is read: 32 bytes at a time. */
static double rows_in_a_sector(const Nest *n, Ix at, double size)
{
	double apart = (double)nest_stride(n->ix, at, DEP_ROW) * size, rows;

	if (!n->shape.rows || apart <= 0 || apart > 16)
		return 1;
	rows = 32 / apart;
	return rows < n->shape.per_block ? rows : n->shape.per_block;
}

static void count_work(const Walk *w, int lanes, double n)
{
	/* Every thread of a row computes what is the row's. */
	double threads = w->of_row && w->n->shape.rows ? w->n->shape.group : 1;

	w->cost->work += w->times * threads * (lanes ? w->n->shape.vec : 1) * n;
}

/* Lines of L1 for each lane of a load whose lanes are `wide` bytes apart. Rows of one warp whose elements lie
 * side by side share them. */
static double lines_of_lane(const Nest *n, const Stmt *s, double wide)
{
	const Shape *x = &n->shape;
	double apart = (double)nest_stride(n->ix, s->at, DEP_ROW) * pm_dtype_bytes(s->dtype);
	double share = x->rows && !x->column && x->group < 32 && apart > 0 && apart <= 16 ? x->group / 32.0
											  : 1;

	return share * (wide < LINE_BYTES ? wide / LINE_BYTES : 1);
}

/* What a section that holds its rows holds: what is asked for first by vectors, in front of its loops. */
static int held_operand(const Nest *n)
{
	const Stmt *s;

	for (s = n->asked; s; s = s->asked)
		if (s->kind == ST_LOAD && s->where >= 0 && s->where != EARLY_ROW && s->vec)
			return s->arg;
	return -1;
}

/* A load of an operand of `numel` elements. */
static void count_load(const Walk *w, const Stmt *s, int64_t numel)
{
	const Shape *x = &w->n->shape;
	int rows = x->rows && (x->column || x->group == 1);
	double size = pm_dtype_bytes(s->dtype), lanes = s->lanes ? x->vec : 1, all = w->times * lanes * size;
	double once = (double)numel * size;
	double wide = (double)nest_stride(w->n->ix, s->at, rows ? DEP_ROW : DEP_CHUNK) * size;

	/* From more than L2 keeps beside other operands each comes with a sector of its own. */
	if (once > (double)w->t->is.l2_bytes / 4 &&
	    goes_anywhere(w->n->ix, s->at, rows ? DEP_ROW : DEP_CHUNK))
		wide = 32;
	count_order(w, s, all);
	w->cost->bytes += (all < once ? all : once + w->t->beyond_share * (all - once)) *
			  (!s->reread          ? 1
			   : s->arg == w->held ? 0
					       : w->t->again_share);
	if (wide > 16)
		w->cost->spread += all * ((wide > 32 ? 32 : wide) / (size * lanes) - 1) *
				   w->t->sector_missed_share /
				   (rows ? 1 : rows_in_a_sector(w->n, s->at, size));
	if (wide > 32 && !x->dot)
		w->cost->lines += all / (size * lanes) * lines_of_lane(w->n, s, wide);
	count_work(w, 0, 2);
}

/* Bytes that the threads of a warp write with one instruction without a gap, `width` each: of a row's
 * neighbours where these lie side by side, else of neighbouring rows. */
static double side_by_side(const Nest *n, const Stmt *s, double width)
{
	const Shape *x = &n->shape;
	double size = pm_dtype_bytes(s->dtype), along = (double)nest_stride(n->ix, s->at, DEP_CHUNK) * size;

	if (!x->rows || x->column || along <= (width > 16 ? width : 16))
		return 32;
	return nest_stride(n->ix, s->at, DEP_ROW) == 1 && x->group < 32 ? 32.0 / x->group * width : width;
}

static void count_sectors(const Walk *w, double bytes, double whole)
{
	if (whole < 32)
		w->cost->apart += bytes * (32 / whole - 1);
}

/* What a block has in shared memory is stored by neighbouring threads, row by row of the result. */
static void count_drain(const Walk *w, const Stmt *s)
{
	double size = pm_dtype_bytes(s->dtype), numel = (double)w->n->out[s->arg].numel;

	w->cost->bytes += numel * size;
	count_sectors(w, numel * size, w->n->shape.per_block * size);
	w->cost->work += (s->vec ? 4.0 * w->n->shape.group / 32 : 4) * numel;
	w->cost->syncs += s->flag;
}

static void count_store(const Walk *w, const Stmt *s)
{
	const Lin *l = &w->n->ix->lin[s->at];
	double numel = (double)w->n->out[s->arg].numel, size = pm_dtype_bytes(s->dtype);
	int i;

	w->cost->bytes += numel * size;
	count_order(w, s, numel * size);
	w->cost->lane_loads += s->lanes && !s->vec;
	if (!w->n->shape.dot)
		count_sectors(w, numel * size, side_by_side(w->n, s, s->vec ? w->n->shape.vec * size : size));
	/* Which of a product's axes runs along memory. */
	for (i = 0; i < l->n && w->n->shape.dot && w->n->shape.vec == 1; i++) {
		uint32_t deps = w->n->ix->atom[l->t[i].atom].deps;

		if (l->t[i].k != 1 && !(deps & DEP_LANE))
			continue;
		if (deps & DOT_N)
			w->cost->fast_n += numel;
		else if (deps & DOT_M)
			w->cost->fast_m += numel;
	}
}

/* ---- operations ---- */

/* Simple operations that the dearest function of an expression amounts to; 1: there is none. */
static int price(const char *e)
{
	int most = 1, p;

	for (; *e; e++) {
		p = e[0] == 'e' && e[1] == 'x' ? 6
		    : e[0] == '/' || (e[0] == 's' && e[1] == 'q') || (e[0] == 'l' && e[1] == 'o') ||
				    (e[0] == 'g' && e[1] == 'e')
			    ? 10
		    : (e[0] == 'e' && e[1] == 'r') || (e[0] == 't' && e[1] == 'a') ||
				    (e[0] == 'p' && e[1] == 'o') || (e[0] == 's' && e[1] == 'i')
			    ? 20
			    : 1;
		most = p > most ? p : most;
	}
	return most;
}

/* ---- the walk ---- */

static void block(const Walk *w, const Block *b);

/* The body of s, which runs `part` as often as what is around it. */
static void part(const Walk *w, const Stmt *s, double times)
{
	Walk in = *w;

	in.times *= times;
	block(&in, s->body);
}

/* A loop of all threads of a row over its elements. */
static void row_loop(const Walk *w, const Stmt *s)
{
	Walk in = *w;

	in.times = (double)(w->n->shape.rows ? nest_groups(w->n) : 1) * (double)nest_chunks(w->n, (int)s->n);
	in.of_row = 0;
	block(&in, s->body);
}

/* What is left of each row, an element a thread. */
static void tail(const Walk *w, const Stmt *s)
{
	Walk in = *w;

	in.times = (double)nest_groups(w->n) * (double)s->n;
	in.of_row = 0;
	block(&in, s->body);
}

static void serial_loop(const Walk *w, const Stmt *s)
{
	/* What a turn is counted for that loads an element and adds it up: serial_turn_us is of that. */
	enum { LOAD_AND_ADD = 4 };
	double turns = w->turns * (double)s->n, before = w->cost->work, work;
	Walk in = *w;

	in.times *= (double)s->n / (double)s->m;
	in.turns *= (double)s->n;
	block(&in, s->body);
	if (s->how == FOR_LOOK)
		w->cost->looks += w->turns * (double)((s->n + s->m - 1) / s->m);
	if (s->how != FOR_SERIAL && s->how != FOR_TAPS)
		return;
	/* A sum's turns wait for each other; the taps of a window do not. */
	work = s->how == FOR_SERIAL && in.times > 0 ? (w->cost->work - before) / in.times : 0;
	w->cost->serial += turns * (s->unroll ? w->t->unrolled_share : 1) *
			   (work > LOAD_AND_ADD ? work / LOAD_AND_ADD : 1);
}

/* A thread takes one of the arms. */
static void choose(const Walk *w, const Stmt *s)
{
	double looks = w->cost->looks, most = looks;
	const Stmt *arm;

	for (arm = s->body->first; arm; arm = arm->next) {
		w->cost->looks = looks;
		part(w, arm, arm->part);
		most = w->cost->looks > most ? w->cost->looks : most;
	}
	w->cost->looks = most;
}

static void statement(const Walk *w, const Stmt *s)
{
	const Nest *n = w->n;

	switch (s->kind) {
	case ST_LOAD:
		count_load(w, s, n->in[s->arg].numel);
		w->cost->lane_loads += s->lanes && !s->vec &&
				       n->in[s->arg].numel * pm_dtype_bytes(s->dtype) > NEAR;
		break;
	case ST_PARTS:
		for (int64_t i = 0; i < s->n; i++)
			count_load(w, s, s->m);
		w->cost->lane_loads += s->lanes && !s->vec;
		break;
	case ST_FACTOR:
		/* Its reads are in the time of the tile. */
		break;
	case ST_STORE:
		count_store(w, s);
		break;
	case ST_STAGE:
		count_work(w, s->lanes, 2);
		break;
	case ST_DRAIN:
		count_drain(w, s);
		break;
	case ST_EW:
		count_work(w, n->var[s->to].lanes, price(s->name));
		break;
	case ST_ROUND:
		count_work(w, n->var[s->to].lanes, 1);
		break;
	case ST_SELECT:
		if (s->flag)
			count_work(w, 1, 1);
		break;
	case ST_MIX:
		w->cost->work += 4 * w->times;
		break;
	case ST_LOOK:
		w->cost->work += 4 * w->times * (s->lanes ? n->shape.vec : 1);
		break;
	case ST_MOMENTS:
		count_work(w, 1, 2);
		break;
	case ST_SHARE:
	case ST_JOIN_MOMENTS:
		w->cost->syncs++;
		break;
	case ST_ROWS:
		row_loop(w, s);
		break;
	case ST_TAIL:
		tail(w, s);
		break;
	case ST_FOR:
		serial_loop(w, s);
		break;
	case ST_CHOOSE:
		choose(w, s);
		break;
	default:
		if (s->body)
			part(w, s, s->part);
	}
}

static void block(const Walk *w, const Block *b)
{
	const Stmt *s;

	for (s = b->first; s; s = s->next)
		statement(w, s);
}

Cost nest_cost(const Nest *n, const Target *t)
{
	Cost cost = { 0 };
	Walk w = { n, t, &cost, 1, 1, 1, n->shape.hold ? held_operand(n) : -1 };
	int i;

	block(&w, &n->decl);
	w.times = n->shape.rows ? (double)nest_groups(n) : 1;
	block(&w, &n->rows);
	w.times = n->elements;
	w.of_row = 0;
	block(&w, &n->body);
	for (i = 0; i < n->n_vars; i++)
		cost.cached += n->var[i].wanted ? (n->var[i].dtype == PM_F32 ? 1 : 2) : 0;
	return cost;
}
