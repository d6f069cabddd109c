/* eval_scatter.c - scatters seen from the result: a thread goes through the indices of its line, some of them
 * at once, and adds the updates that name its place, in their order and in the type of sums, or takes the
 * last of them. */
#include "fuse.h"

enum { MOST = 32 }; /* indices looked at together */

/* Tuples of one index each name a place on the first axis. */
static int is_tuples(const Op *x, const Op *i, const Op *u)
{
	int d;

	for (d = 1; d < x->rank && u->rank == x->rank && u->dim[d] == x->dim[d]; d++)
		;
	return d == x->rank && u->rank == x->rank && i->rank == 2 && i->dim[1] == 1 &&
	       i->dim[0] == u->dim[0] && i->dim[0] >= 1;
}

static int is_elements(const Op *x, const Op *i, const Op *u, int axis)
{
	int d;

	for (d = 0; d < x->rank; d++)
		if ((d != axis && i->dim[d] > x->dim[d]) || u->dim[d] != i->dim[d] || i->dim[d] < 1)
			return 0;
	return 1;
}

int f_load_scatter(Ctx *c, Node *n, const char *name, int out)
{
	Op *o = &c->op[out];
	const char *join = pm_attr_s(n->val, "reduction", "none");
	int tuples = f_is(name, "ScatterND"), adds = f_is(join, "add");
	const Op *x, *i, *u;

	if ((!tuples && !f_is(name, "ScatterElements")) || n->n_in != 3 || n->n_out != 1 ||
	    (adds ? f_class(o->dtype) == PM_I64 : !f_is(join, "none")))
		return 0;
	x = &c->op[n->in[0]];
	i = &c->op[n->in[1]];
	u = &c->op[n->in[2]];
	o->kind = OP_SCATTER;
	o->mode = (uint8_t)((tuples ? SCATTER_TUPLES : 0) | (adds ? 0 : SCATTER_LAST));
	o->in = n->in;
	o->n_in = 3;
	o->axis = tuples ? 0 : (int)pm_attr_i(n->val, "axis", 0);
	o->axis += o->axis < 0 ? o->rank : 0;
	if (f_class(i->dtype) != PM_I64 || !(tuples ? is_tuples(x, i, u) : is_elements(x, i, u, o->axis)))
		return 0;
	return adds || f_load_steps(c, o);
}

/* "for (int i4 = 0; i4 < n; i4 += step) {"; i4 and what is added to it stay below n only where lin says so.
 */
static Ix loop(Ctx *c, int64_t n, int step)
{
	char name[F_NAME];

	f_for(c, n, step, name);
	return ix_var(c, name, (n - 1) / step * step, DEP_WIN | DEP_HERE, 0);
}

/* i, or the last place where that is none. */
static Ix at_most(Ctx *c, Ix i, int64_t n)
{
	char tail[32];
	PmText t = { tail, 0, sizeof tail, 0 };

	if (c->lin[i].hi < n)
		return i;
	pm_text_add(&t, ", ");
	pm_text_int(&t, n);
	pm_text_add(&t, ")");
	tail[t.n] = 0;
	return f_opaque(c, i, "pad_edge(", tail, n - 1);
}

/* How many indices of n are looked at together: the pieces are alike. */
static int at_once(int64_t n)
{
	int64_t pieces = (n + MOST - 1) / MOST;

	return (int)((n + pieces - 1) / pieces);
}

/* The variable of bits: which updates are for this place; of each lane where lanes differ. */
typedef struct Hits {
	int name, lanes;
} Hits;

static void hits(Ctx *c, const Hits *h)
{
	t_add(c, "h");
	t_int(c, h->name);
	t_add(c, h->lanes ? "[j]" : "");
}

static void declare_hits(Ctx *c, Hits *h, int lanes)
{
	h->name = c->n_names++;
	h->lanes = lanes && c->s->vec > 1;
	t_add(c, "unsigned int h");
	t_int(c, h->name);
	if (h->lanes) {
		t_add(c, "[");
		t_int(c, c->s->vec);
		t_add(c, "]");
	}
	t_add(c, h->lanes ? " = {};\n" : " = 0;\n");
}

/* Sets bit k where update i, that index says, is for `here`. */
static void look(Ctx *c, const Hits *h, int index, Ix i, int64_t n, Ix here, int64_t extent, int k)
{
	f_for_lanes(c, h->lanes);
	t_add(c, "if (");
	if (c->lin[i].hi >= n) {
		t_ix(c, i);
		t_add(c, " < ");
		t_int(c, n);
		t_add(c, " && ");
	}
	t_add(c, "names(");
	f_ref(c, c->out, index);
	t_add(c, ", ");
	t_ix(c, here);
	t_add(c, ", ");
	t_int(c, extent);
	t_add(c, ")) ");
	hits(c, h);
	t_add(c, " |= 1u << ");
	t_int(c, k);
	t_add(c, ";\n");
}

/* The bits of the updates from `first` on. */
static int find(Ctx *c, const Op *o, const Ix *co, Ix first, int together, Hits *h)
{
	const Op *idx = &c->op[o->in[1]];
	int64_t n = idx->dim[o->axis], extent = o->dim[o->axis];
	int d, k, v[MOST] = { 0 };
	Ix at[F_RANK];

	for (d = 0; d < idx->rank; d++)
		at[d] = o->mode & SCATTER_TUPLES ? ix_const(c, 0) : co[d];
	for (k = 0; k < together; k++) {
		at[o->axis] = at_most(c, ix_plus(c, first, k), n);
		v[k] = f_eval(c, o->in[1], at);
		if (v[k] < 0)
			return 0;
	}
	declare_hits(c, h, c->var[v[0]].lanes || c->lin[co[o->axis]].deps & DEP_LANE);
	for (k = 0; k < together; k++)
		look(c, h, v[k], ix_plus(c, first, k), n, co[o->axis], extent, k);
	c->s->work += c->trial ? 0 : 4 * together * c->times * (h->lanes ? c->s->vec : 1);
	return 1;
}

/* "for (unsigned int m4 = bits; m4; m4 &= m4 - 1) { const int i5 = the lowest of them;", and i5. */
static Ix each_bit(Ctx *c, const Hits *h, int together)
{
	char name[F_NAME], rest[F_NAME];

	f_name(c, 'm', rest);
	f_name(c, 'i', name);
	t_add(c, "for (unsigned int ");
	t_add(c, rest);
	t_add(c, " = ");
	hits(c, h);
	t_add(c, "; ");
	t_add(c, rest);
	t_add(c, "; ");
	t_add(c, rest);
	t_add(c, " &= ");
	t_add(c, rest);
	t_add(c, " - 1) {\nconst int ");
	t_add(c, name);
	t_add(c, " = __ffs((int)");
	t_add(c, rest);
	t_add(c, ") - 1;\n");
	return ix_var(c, name, together - 1, DEP_WIN | DEP_HERE, 0);
}

/* Adds what was found, in order. */
static int add(Ctx *c, const Op *o, const Ix *co, Ix first, int together, const Hits *h, int acc)
{
	int64_t n = c->op[o->in[1]].dim[o->axis];
	int d, u;
	Hits any = *h;
	Ix at[F_RANK], bit;

	if (h->lanes) {
		declare_hits(c, &any, 0);
		f_for_lanes(c, 1);
		hits(c, &any);
		t_add(c, " |= ");
		hits(c, h);
		t_add(c, ";\n");
	}
	bit = each_bit(c, &any, together);
	for (d = 0; d < o->rank; d++)
		at[d] = co[d];
	at[o->axis] = at_most(c, ix_add(c, first, bit), n);
	u = f_eval(c, o->in[2], at);
	if (u < 0)
		return -1;
	f_for_lanes(c, c->var[acc].lanes);
	if (h->lanes) {
		t_add(c, "if (");
		hits(c, h);
		t_add(c, " >> ");
		t_ix(c, bit);
		t_add(c, " & 1) ");
	}
	f_ref(c, c->out, acc);
	t_add(c, " += ");
	f_ref(c, c->out, u);
	t_add(c, ";\n}\n");
	return acc;
}

/* "if ((a < 7) && (b < 5)) {", where there are fewer lines of indices than places, and the coordinates inside
 * it; how many of all places these are. */
static double indexed(Ctx *c, const Op *o, const Ix *co, Ix *in)
{
	const Op *u = &c->op[o->in[2]];
	double part = 1;
	int d;

	for (d = 0; d < o->rank; d++)
		if (d != o->axis && c->lin[co[d]].hi >= u->dim[d]) {
			t_add(c, part < 1 ? " && " : "if (");
			f_below(c, co[d], u->dim[d]);
			part *= (double)u->dim[d] / (double)o->dim[d];
		}
	t_add(c, part < 1 ? ") {\n" : "");
	for (d = 0; d < o->rank; d++)
		in[d] = d == o->axis ? co[d] : f_confine(c, co[d], u->dim[d] - 1);
	return part;
}

/* "i7 = first + 31 - __clz((int)h5);" where there is one: the last update so far. */
static void take_last(Ctx *c, Ix first, const Hits *h, const char *last)
{
	f_for_lanes(c, h->lanes);
	t_add(c, "if (");
	hits(c, h);
	t_add(c, ") ");
	t_add(c, last);
	t_add(c, h->lanes ? "[j] = " : " = ");
	t_ix(c, first);
	t_add(c, " + 31 - __clz((int)");
	hits(c, h);
	t_add(c, ");\n");
}

/* y becomes the update that `last` says, if there is one. Without an update the first one is read. */
static int replace(Ctx *c, const Op *o, const Ix *co, const char *last, int lanes, int y)
{
	int64_t n = c->op[o->in[1]].dim[o->axis];
	int d, u;
	char name[F_NAME];
	Ix at[F_RANK];

	f_name(c, 'x', name);
	t_add(c, "int ");
	t_add(c, name);
	if (lanes) {
		t_add(c, "[");
		t_int(c, c->s->vec);
		t_add(c, "]");
	}
	t_add(c, ";\n");
	f_for_lanes(c, lanes);
	t_add(c, name);
	t_add(c, lanes ? "[j] = max(" : " = max(");
	t_add(c, last);
	t_add(c, lanes ? "[j], 0);\n" : ", 0);\n");
	for (d = 0; d < o->rank; d++)
		at[d] = co[d];
	at[o->axis] = ix_var(c, name, n - 1, DEP_HERE | (lanes ? DEP_LANE : 0), lanes);
	u = f_eval(c, o->in[2], at);
	if (u < 0)
		return 0;
	c->var[y].exact &= c->var[u].exact;
	f_for_lanes(c, c->var[y].lanes);
	t_add(c, "if (");
	t_add(c, last);
	t_add(c, lanes ? "[j] >= 0) " : " >= 0) ");
	f_ref(c, c->out, y);
	t_add(c, " = ");
	f_ref(c, c->out, u);
	t_add(c, ";\n");
	return 1;
}

static void declare_last(Ctx *c, char last[F_NAME], int lanes)
{
	f_name(c, 'l', last);
	t_add(c, "int ");
	t_add(c, last);
	if (lanes) {
		t_add(c, "[");
		t_int(c, c->s->vec);
		t_add(c, "]");
	}
	t_add(c, ";\n");
	f_for_lanes(c, lanes);
	t_add(c, last);
	t_add(c, lanes ? "[j] = -1;\n" : " = -1;\n");
}

/* All turns of looking, and what is done about the updates found; `last` is declared where it is known
 * whether lanes differ. */
static int search(Ctx *c, const Op *o, const Ix *co, double part, int y)
{
	int64_t n = c->op[o->in[1]].dim[o->axis];
	int together = at_once(n), ok;
	double times = c->times, turns = c->turns;
	PmText *out = c->out, *body;
	char last[F_NAME] = "";
	Ix first;
	Hits h = { 0 };

	if (c->depth == F_DEPTH)
		return f_fail(c, "it has loops in loops in loops") + 1;
	body = c->out = &c->body[c->depth++];
	body->n = 0;
	first = loop(c, n, together);
	if (!c->trial)
		c->s->looks += turns * (double)((n + together - 1) / together);
	c->times = times * part * (double)n / together;
	c->turns = turns * (double)n;
	ok = find(c, o, co, first, together, &h);
	c->out = out;
	if (ok && o->mode & SCATTER_LAST)
		declare_last(c, last, h.lanes);
	c->out = body;
	/* As often as updates spread evenly are for a place. */
	c->times = times * part * (double)n / (double)o->dim[o->axis];
	if (o->mode & SCATTER_LAST)
		take_last(c, first, &h, last);
	else
		ok = ok && add(c, o, co, first, together, &h, y) >= 0;
	t_add(c, "}\n");
	c->depth--;
	c->out = out;
	if (!c->dry) {
		body->s[body->n] = 0;
		c->out->full |= body->full;
		t_add(c, body->s);
	}
	c->times = times * part;
	c->turns = turns;
	ok = ok && (!(o->mode & SCATTER_LAST) || replace(c, o, co, last, h.lanes, y));
	c->times = times;
	return ok;
}

int f_eval_scatter(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->op[op];
	double part;
	int x, y, mark, ok;
	Ix in[F_RANK];

	if (o->par)
		return f_eval_steps(c, op, co);
	x = f_eval(c, o->in[0], co);
	if (x < 0)
		return x;
	if (c->at_row && c->s->rows)
		return f_fail(c, "the threads of a row would find updates of other rows");
	y = f_new_var(c, o->dtype, (f_deps(c, co, o->rank) & DEP_LANE) != 0);
	f_declare(c, y, NULL);
	f_for_lanes(c, c->var[y].lanes);
	f_ref(c, c->out, y);
	t_add(c, " = ");
	f_ref(c, c->out, x);
	t_add(c, ";\n");
	c->var[y].exact = o->mode & SCATTER_LAST && c->var[x].exact;
	mark = f_mark(c);
	c->branch++;
	part = indexed(c, o, co, in);
	ok = search(c, o, in, part, y);
	t_add(c, part < 1 ? "}\n" : "");
	c->branch--;
	f_forget(c, mark);
	return ok ? y : -1;
}
