/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.c - which nodes to take together: from a seed, every neighbour that makes the whole faster. */
#include "fuse.h"

static const double MOST_OWED_US = 0.7, /* microseconds that views may cost before something pays for them */
	LEAST_SAVED_SHARE = 0.05,       /* of its time, which a product of our own has to save */
	LEAST_GAIN = 1.05,              /* of a kernel's time, which the library has to take */
	NODE_SHARE = 0.95,    /* of a node's time by itself, that counts for taking it into the kernel */
	PRODUCT_SHARE = 0.90, /* the same of a product, where the fastest of several kernels counts */
	APART_US = 0.3;       /* that a product as a kernel by itself has to save (docs/design/fusion.md) */

enum { LOOKED = 512 /* nodes that one question about order may visit */, MOST_TRIES = 4, MOST_KNOWN = 256 };

/* Whether the node whose first result this is is in the set. */
static int in_set(const Ctx *c, PmVal first)
{
	int op = f_known(c->g, first);

	return op >= 0 && f_computed(c, &c->g->op[op]);
}

void f_results(Ctx *c)
{
	int i, k, u, at;

	c->n_arg_out = 0;
	for (i = 0; i < c->g->n_nodes && !c->fail; i++) {
		const Node *n = &c->g->node[i];

		for (k = at = 0; n->in_set && k < n->n_out; k++) {
			int outside = n->n_user[k] == 0xff;

			for (u = 0; !outside && u < n->n_user[k]; u++)
				outside = !in_set(c, n->user[at + u]);
			at += n->n_user[k] == 0xff ? 0 : n->n_user[k];
			if (!outside)
				continue;
			if (c->n_arg_out == F_ARGS)
				f_fail(c, "it has too many results");
			else
				c->arg_out[c->n_arg_out++] = n->out[k];
		}
	}
}

/* ---- order ---- */

typedef struct Walk {
	PmVal todo[LOOKED];
	uint32_t seen[LOOKED];
	int n, n_seen;
} Walk;

/* 0 when there are too many to look at. */
static int visit(Walk *w, PmVal first)
{
	int i;

	for (i = 0; i < w->n_seen; i++)
		if (w->seen[i] == first.id)
			return 1;
	if (w->n == LOOKED || w->n_seen == LOOKED)
		return 0;
	w->seen[w->n_seen++] = first.id;
	w->todo[w->n++] = first;
	return 1;
}

/* Whether no operand from outside depends on a node of the set. */
static int convex(Ctx *c, Walk *w)
{
	int64_t first = INT64_MAX;
	uint32_t k;
	int i;

	w->n = w->n_seen = 0;
	for (i = 0; i < c->g->n_nodes; i++)
		if (c->g->node[i].in_set && c->g->node[i].order < first)
			first = c->g->node[i].order;
	for (i = 0; i < c->g->n_nodes; i++)
		for (k = 0; c->g->node[i].in_set && k < c->g->node[i].n_in; k++) {
			PmVal def = c->g->node[i].in[k] < 0 ? (PmVal){ 0 }
							    : pm_out(c->g->op[c->g->node[i].in[k]].val, 0);

			if (def.id && !in_set(c, def) && pm_order(def) > first && !visit(w, def))
				return 0;
		}
	while (w->n) {
		PmVal v = w->todo[--w->n];

		for (k = 0; k < pm_n_in(v); k++) {
			PmVal def = pm_out(pm_in(v, k), 0);

			if (!def.id || pm_order(def) < first)
				continue;
			if (in_set(c, def) || !visit(w, def))
				return 0;
		}
	}
	return 1;
}

/* ---- growing ---- */

/* A set, and what it takes; the same sets are met again without the products. */
typedef struct Known {
	uint64_t set[F_NODES / 64];
	double time;     /* microseconds, less what a run of one launch saves; -1: it cannot be one kernel */
	const char *why; /* it cannot */
} Known;

typedef struct Grow {
	Ctx *c;
	Known known[MOST_KNOWN];
	int n_known;
	Walk walk;
	double now;               /* the kernel's time, as Known has it */
	double debt;              /* what views have cost so far */
	const char *why[F_NODES]; /* why this node stayed outside the last time it was tried; NULL: */
	double slower[F_NODES];   /* it would be slower by so many microseconds; for reports */
	int size;
	int again;         /* the set has changed since nodes were refused */
	int products_stay; /* with the library */
} Grow;

/* The nodes that make the kernel's operands, so that the estimate knows which are views. */
static void load_operands(Ctx *c)
{
	int i;

	for (i = 0; i < c->n_arg_in; i++)
		if (pm_out(c->g->op[c->arg_in[i]].val, 0).id)
			f_node(c->g, c->g->op[c->arg_in[i]].val);
	c->fail = NULL;
}

/* Whether nothing but the set reads this value. */
static int is_read_inside(const Ctx *c, PmVal v)
{
	enum { MANY = 24 };
	uint32_t u, uses = pm_n_uses(v);

	for (u = 0; u < uses && uses <= MANY && in_set(c, pm_out(pm_user(v, u), 0)); u++)
		;
	return u == uses;
}

/* Whether no other node makes what the set reads, or reads what it makes. */
static int is_closed(const Ctx *c)
{
	int i, k;

	for (i = 0; i < c->g->n_nodes; i++) {
		const Node *n = &c->g->node[i];

		for (k = 0; n->in_set && k < n->n_in; k++) {
			PmVal v = n->in[k] < 0 ? (PmVal){ 0 } : c->g->op[n->in[k]].val;

			if (v.id && !pm_is_const(v) && pm_out(v, 0).id && !in_set(c, pm_out(v, 0)))
				return 0;
		}
		for (k = 0; n->in_set && k < n->n_out; k++)
			if (!is_read_inside(c, pm_out(n->val, (uint32_t)k)))
				return 0;
	}
	return 1;
}

/* What is saved where the planned kernel, and no launch beside it, is all of the graph. */
static double saved_by_one(const Ctx *c)
{
	return f_launches(c) == 1 && is_closed(c) ? f_target()->several_us : 0;
}

static const char between[] = "something outside would stand between it and the others";

/* Microseconds of the set as one kernel; -1 and *why when it cannot be one. */
static double time_of_set(Grow *g, const char **why)
{
	Ctx *c = g->c;
	Known k = { { 0 }, -1, NULL };
	int i, w;

	for (i = 0; i < c->g->n_nodes; i++)
		k.set[i / 64] |= (uint64_t)c->g->node[i].in_set << i % 64;
	for (i = 0; i < g->n_known; i++) {
		for (w = 0; w < F_NODES / 64 && g->known[i].set[w] == k.set[w]; w++)
			;
		if (w == F_NODES / 64) {
			*why = g->known[i].why;
			return g->known[i].time;
		}
	}
	f_results(c);
	if (!convex(c, &g->walk))
		k.why = between;
	else if (f_plan(c))
		k.time = f_kernel_time(c) - saved_by_one(c);
	else
		k.why = c->fail ? c->fail : "it cannot be planned";
	c->fail = NULL;
	*why = k.why;
	if (g->n_known < MOST_KNOWN)
		g->known[g->n_known++] = k;
	return k.time;
}

/* Microseconds of one node as a kernel by itself; -1 when it cannot be one. */
static double time_alone(Grow *g, int at)
{
	Ctx *c = g->c;
	uint8_t was[F_NODES];
	int i, n = c->g->n_nodes;
	const char *why;
	double time;

	for (i = 0; i < n; i++) {
		was[i] = c->g->node[i].in_set;
		c->g->node[i].in_set = i == at;
	}
	time = time_of_set(g, &why);
	for (i = 0; i < n; i++)
		c->g->node[i].in_set = was[i];
	return time;
}

/* What of a node's time outside counts for taking it into the kernel. Outside, a product becomes a kernel of
 * its own where that pays. */
static double time_outside(Grow *g, int at)
{
	const Node *n = &g->c->g->node[at];
	double library = f_library_time(g->c, n), own;

	if (!n->dot)
		return library * NODE_SHARE;
	own = time_alone(g, at) + APART_US;
	return own >= APART_US && own < library * PRODUCT_SHARE ? own : library * PRODUCT_SHARE;
}

static void try_node(Grow *g, PmVal v)
{
	Ctx *c = g->c;
	int at = f_node(c->g, v);
	Node *n = at < 0 ? NULL : &c->g->node[at];
	double then, outside, gain = 0;
	const char *why;

	c->fail = NULL;
	if (!n || !n->ok || n->in_set || n->tried == MOST_TRIES || n->tried_at == g->size || g->size == F_SET)
		return;
	if (n->dot && g->products_stay) {
		g->why[at] = "products stay with the library, which makes more of the rest";
		return;
	}
	n->tried++;
	n->tried_at = (uint8_t)g->size;
	outside = time_outside(g, at);
	n->in_set = 1;
	then = time_of_set(g, &why);
	if (then >= 0) {
		gain = g->now + outside - then;
		/* Views may cost a little: what stands behind them makes up for that, or the set is declined.
		 */
		if (gain >= -0.05 || (!n->launches && g->debt - gain <= MOST_OWED_US)) {
			g->debt -= gain < 0 ? gain : 0;
			g->now = then;
			g->size++;
			g->again = 1;
			return;
		}
	}
	n->in_set = 0;
	/* What stands between joins one by one; nothing was planned for that answer. */
	n->tried -= then < 0 && why == between;
	g->why[at] = why;
	g->slower[at] = -gain;
}

/* Whether all that a node reads is made by the set, or by nobody in the graph. What reads a result of the
 * graph takes nothing from the kernel when it stays outside; it may belong to what makes its other operands.
 */
static int reads_set_alone(const Ctx *c, PmVal first)
{
	uint32_t k;

	for (k = 0; k < pm_n_in(first); k++) {
		PmVal v = pm_in(first, k), def = v.id ? pm_out(v, 0) : v;

		if (def.id && !pm_is_const(v) && !in_set(c, def))
			return 0;
	}
	return 1;
}

/* Everything that makes or reads a value of node i, and what reads the same values. */
static void neighbours(Grow *g, int i, int siblings)
{
	enum { SIBLINGS = 11 };
	Ctx *c = g->c;
	uint32_t u, uses;
	int k;

	for (k = 0; k < c->g->node[i].n_in; k++) {
		int op = c->g->node[i].in[k];
		PmVal v = op < 0 ? (PmVal){ 0 } : c->g->op[op].val;

		if (!v.id || pm_is_const(v))
			continue;
		if (pm_out(v, 0).id)
			try_node(g, v);
		uses = siblings ? pm_n_uses(v) : 0;
		for (u = 0; u < uses && uses <= SIBLINGS; u++)
			try_node(g, pm_user(v, u));
	}
	for (k = 0; k < c->g->node[i].n_out; k++) {
		PmVal v = pm_out(c->g->node[i].val, (uint32_t)k);

		uses = v.id ? pm_n_uses(v) : 0;
		for (u = 0; u < uses && uses <= F_READERS; u++)
			if (!pm_is_output(v) || reads_set_alone(c, pm_user(v, u)))
				try_node(g, pm_user(v, u));
	}
}

/* Whether a node is a view of what is made outside, perhaps through other views of the set. */
static int views_others(const Ctx *c, const Node *n)
{
	while (!n->launches && n->n_in) {
		int op = n->in[0] < 0 ? -1 : c->g->op[n->in[0]].node;

		if (op < 0 || !c->g->node[op].in_set)
			return 1;
		n = &c->g->node[op];
	}
	return 0;
}

/* Whether a kernel without the view writes less: nothing for it, or each element once. */
static int may_shed(const Ctx *c, const Node *n)
{
	return views_others(c, n) || (!n->launches && n->n_out == 1 && n->in[0] >= 0 &&
				      f_numel(&c->g->op[n->out[0]]) > f_numel(&c->g->op[n->in[0]]));
}

/* 1, too, where readers are too many to be known. */
static int is_read_by_set(const Ctx *c, const Node *n)
{
	int k, u, at = 0;

	for (k = 0; k < n->n_out; k++) {
		if (n->n_user[k] == 0xff)
			return 1;
		for (u = 0; u < n->n_user[k]; u++)
			if (in_set(c, n->user[at++]))
				return 1;
	}
	return 0;
}

/* Leaves out views that were taken for what stands behind them, where that stayed outside: a kernel would
 * write out what is a view without it. 0 where the seed is one: another will have the rest. */
static int shed_views(Grow *g, int seed)
{
	Ctx *c = g->c;
	const char *why;
	int i, again;

	do
		for (again = 0, i = 0; i < c->g->n_nodes; i++) {
			Node *n = &c->g->node[i];
			double then;

			if (!n->in_set || !may_shed(c, n) || is_read_by_set(c, n))
				continue;
			n->in_set = 0;
			then = time_of_set(g, &why);
			if (then >= 0 && then + f_library_time(c, n) <= g->now) {
				g->now = then;
				g->why[i] = "nothing of the set reads it, and by itself it is a view";
				again = 1;
			} else {
				n->in_set = 1;
			}
		}
	while (again);
	return c->g->node[seed].in_set;
}

static double alone(const Ctx *c, int *launches)
{
	double sum = 0;
	int i;

	*launches = 0;
	for (i = 0; i < c->g->n_nodes; i++)
		if (c->g->node[i].in_set) {
			sum += f_library_time(c, &c->g->node[i]);
			*launches += f_library_launches(c, &c->g->node[i]);
		}
	return sum;
}

int f_has_product(const Ctx *c)
{
	int i;

	for (i = 0; i < c->g->n_nodes; i++)
		if (c->g->node[i].in_set && c->g->node[i].dot)
			return 1;
	return 0;
}

static PmStatus not_faster(double before, double then)
{
	PmText t = pm_text(128);

	pm_text_add(&t, "one kernel would not be faster: an estimate of ");
	pm_text_int(&t, (int64_t)(then * 1000));
	pm_text_add(&t, " ns for ");
	pm_text_int(&t, (int64_t)(before * 1000));
	return pm_host_->decline(t.full ? "one kernel would not be faster" : t.s);
}

/* Grows the set from node `at`; microseconds that it saves, or why it does not. */
static double from_seed(Grow *g, int at, PmStatus *why)
{
	Ctx *c = g->c;
	int i, siblings, launches;
	double before, then;

	for (i = 0; i < c->g->n_nodes; i++)
		c->g->node[i].in_set = c->g->node[i].tried = c->g->node[i].tried_at = 0;
	for (i = 0; i < F_NODES; i++)
		g->why[i] = NULL;
	c->g->node[at].in_set = 1;
	g->size = 1;
	g->debt = 0;
	f_results(c);
	*why = PM_DECLINED;
	if (!f_plan(c)) {
		*why = pm_host_->decline(c->fail ? c->fail : "it cannot be planned");
		return -1;
	}
	g->now = f_kernel_time(c);
	for (siblings = 0; siblings < 2; siblings++)
		do {
			g->again = 0;
			for (i = 0; i < c->g->n_nodes; i++)
				if (c->g->node[i].in_set)
					neighbours(g, i, siblings);
		} while (g->again);
	if (!shed_views(g, at)) {
		*why = pm_host_->decline("");
		return -1;
	}
	before = alone(c, &launches);
	if (launches < 2 && !f_has_product(c)) {
		*why = pm_host_->decline("");
		return -1;
	}
	f_results(c);
	if (!f_plan(c)) {
		*why = pm_host_->decline(c->fail ? c->fail : "it cannot be planned");
		return -1;
	}
	load_operands(c);
	then = f_kernel_time(c) + f_copies(c) - (launches > 1 ? saved_by_one(c) : 0);
	if (then * LEAST_GAIN > before) {
		*why = not_faster(before, then);
		return -1;
	}
	*why = PM_OK;
	return before - then;
}

/* Which nodes the cluster that has just been grown has, and why its neighbours stayed outside; NULL when it
 * is none, and when nobody asks. */
static const char *told(const Grow *g, PmStatus why)
{
	enum { REPORT = 16 << 10 };
	Ctx *c = g->c;
	PmText t;
	int i;

	if (why != PM_OK || !pm_report(NULL))
		return NULL;
	t = pm_text(REPORT);
	pm_text_add(&t, "cluster");
	for (i = 0; i < c->g->n_nodes; i++)
		if (c->g->node[i].in_set) {
			pm_text_add(&t, " ");
			pm_text_add(&t, pm_op(c->g->node[i].val));
		}
	pm_text_add(&t, "\n");
	for (i = 0; i < c->g->n_nodes; i++) {
		const Node *n = &c->g->node[i];

		if (n->in_set || (!n->tried && !g->why[i]))
			continue;
		pm_text_add(&t, "outside ");
		pm_text_add(&t, pm_op(n->val));
		pm_text_add(&t, ", node ");
		pm_text_int(&t, n->order);
		pm_text_add(&t, ": ");
		if (g->why[i]) {
			pm_text_add(&t, g->why[i]);
		} else {
			pm_text_add(&t, "with it the kernel would be slower than without it and a launch for "
					"it, by ns ");
			pm_text_int(&t, (int64_t)(g->slower[i] * 1000));
		}
		pm_text_add(&t, "\n");
	}
	return t.s;
}

/* With products and without them: a product of our own may keep out what would make more of the rest. */
PmStatus f_grow(PmRegion *r, PmVal seed)
{
	uint8_t with[F_NODES];
	double saved, more, margin;
	PmStatus why, other;
	Grow *g;
	Ctx *c;
	const char *said;
	int at, i, n, products;

	if (!pm_n_in(seed))
		return pm_host_->decline("");
	g = pm_alloc(sizeof *g);
	c = f_new();
	if (!g || !c)
		return pm_host_->decline("there is no memory");
	g->c = c;
	at = f_node(c->g, seed);
	if (at < 0 || !c->g->node[at].ok)
		return pm_host_->decline("");
	saved = from_seed(g, at, &why);
	said = told(g, why);
	products = f_has_product(c);
	margin = LEAST_SAVED_SHARE * g->now;
	n = c->g->n_nodes;
	for (i = 0; i < n; i++)
		with[i] = c->g->node[i].in_set;
	if (products && !c->g->node[at].dot) {
		g->products_stay = 1;
		more = from_seed(g, at, &other);
		if (other == PM_OK && more > saved - margin) {
			why = other;
			said = told(g, why);
		} else {
			for (i = 0; i < c->g->n_nodes; i++)
				c->g->node[i].in_set = i < n && with[i];
		}
	}
	if (said)
		pm_report(said);
	if (why != PM_OK)
		return why;
	for (i = 0; i < c->g->n_nodes; i++)
		if (c->g->node[i].in_set)
			pm_region_add(r, c->g->node[i].val);
	return PM_OK;
}
