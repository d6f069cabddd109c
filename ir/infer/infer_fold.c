/* SPDX-License-Identifier: Apache-2.0 */
/* infer_fold.c - follows small integer values through shape arithmetic while a graph is inferred.
 *
 * Exporters compute shapes with nodes: Shape, Gather, arithmetic, Concat, and then Reshape. Each element of
 * such a value is a known integer, a dimension known by its symbol, or unknown. Values known as a whole
 * become constants.
 */
#include "ir/infer/infer_fold_priv.h"
#include "ir/infer/infer_priv.h"

#include "base/core/vec.h"

#include <stdlib.h>
#include <string.h>

enum {
	FOLD_BUDGET = 64 << 20, /* bytes of elements kept; beyond it values count as unknown */
	LONG = 2 * PM_MAX_RANK, /* elements of a value that is forgotten after its last use */
};

/* By value: what `of` says of it besides a place in `known`. */
enum { NOT_ASKED, NOTHING, FIRST_PLACE };

struct PmFold {
	int on_demand;
	size_t held; /* bytes of packed elements */
	PM_VEC(PmPacked) known;
	PM_VEC(uint32_t) of;     /* by value id: NOT_ASKED, NOTHING, or FIRST_PLACE + its place in `known` */
	PM_VEC(uint32_t) vacant; /* places in `known` */
};

PmFold *pm__fold_new(int on_demand)
{
	PmFold *f = pm_xcalloc(1, sizeof *f);

	f->on_demand = on_demand;
	return f;
}

void pm__fold_free(PmFold *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->known.n; i++)
		pm__packed_release(&f->known.v[i]);
	PM_VEC_RELEASE(&f->known);
	PM_VEC_RELEASE(&f->of);
	PM_VEC_RELEASE(&f->vacant);
	free(f);
}

static PmPacked *known_of(const PmFold *f, PmValue v)
{
	return f && v.id < f->of.n && f->of.v[v.id] >= FIRST_PLACE ? &f->known.v[f->of.v[v.id] - FIRST_PLACE]
								   : NULL;
}

static void follow(PmFold *f, const PmGraph *g, PmValue v);

PmStatus pm__fold_get(const PmGraph *g, PmFold *f, PmValue v, PmElem *out, size_t max, size_t *n)
{
	int64_t buf[PM_FOLD_MAX];
	const PmPacked *k;
	size_t i;

	if (pm_value_is_const(g, v)) {
		if (pm_value_const_ints(g, v, buf, max < PM_FOLD_MAX ? max : PM_FOLD_MAX, n) != PM_OK)
			return PM_DECLINED;
		for (i = 0; i < *n; i++)
			out[i] = (PmElem){ PM_ELEM_INT, buf[i] };
		return PM_OK;
	}
	if (f && f->on_demand)
		follow(f, g, v);
	k = known_of(f, v);
	if (!k || k->n > max)
		return PM_DECLINED;
	*n = k->n;
	pm__unpack(k, out);
	return PM_OK;
}

/* ---- one evaluation ---- */

/* Words of uint64 would have to be compared and divided in their own way; no shape is of that type. */
static int followed_dtype(int dtype)
{
	return (pm_dtype_is_int(dtype) && dtype != PM_U64) || dtype == PM_BOOL;
}

static int small(const PmType *t, size_t *n)
{
	int64_t numel;

	if (!followed_dtype(t->dtype) || !pm_type_is_static(t) || pm_type_numel(t, &numel, NULL) != PM_OK ||
	    numel > PM_FOLD_MAX)
		return 0;
	*n = (size_t)numel;
	return 1;
}

const PmElem *pm__eval_in(PmEval *e, size_t k)
{
	PmValue v = pm_node_in(e->g, e->node, k);
	PmElem *p;
	size_t i, n, got = 0;

	if (k < PM_EVAL_KEPT && e->in[k])
		return e->in[k];
	if (!v.id || !small(pm_value_type(e->g, v), &n))
		return NULL;
	p = pm_arena_alloc(e->scratch, (n ? n : 1) * sizeof *p);
	if (!p)
		return NULL;
	if (k < PM_EVAL_KEPT)
		e->in[k] = p;
	if (pm__fold_get(e->g, e->f, v, p, n, &got) == PM_OK && got == n)
		return p;
	for (i = 0; i < n; i++)
		p[i] = (PmElem){ PM_ELEM_UNKNOWN, 0 };
	return p;
}

void pm__eval_forget(PmEval *e)
{
	pm_arena_reset(e->scratch);
	memset(e->in, 0, sizeof e->in);
}

const PmType *pm__eval_type(const PmEval *e, size_t k)
{
	return pm_value_type(e->g, pm_node_in(e->g, e->node, k));
}

/* Whether an operand has elements that something is known of, or none at all. */
static int says_something(const PmEval *e, size_t k)
{
	PmValue v = pm_node_in(e->g, e->node, k);
	size_t n;

	return v.id && small(pm_value_type(e->g, v), &n) &&
	       (!n || pm_value_is_const(e->g, v) || known_of(e->f, v));
}

/* Whether an evaluation could end with an element known: most index lists come from outside. */
static int worth_it(const PmEval *e)
{
	PmReads reads = pm__eval_reads(pm_node_op(e->g, e->node));
	size_t k, say = 0, n_in = pm_node_n_in(e->g, e->node);

	if (!e->n || reads == PM_READS_TYPES)
		return 1;
	if (reads == PM_READS_FIRST)
		return says_something(e, 0);
	for (k = 0; k < n_in; k++)
		say += says_something(e, k);
	return reads == PM_READS_ALL ? say == n_in : say > 0;
}

/* Evaluates the result that *e names into e->out. *ints of its elements are integers; 0 when nothing is
 * known. */
static int evaluate(PmEval *e, size_t *ints)
{
	PmEvalFn fn = pm__eval_fn(pm_node_op(e->g, e->node));
	size_t i, known = 0;

	*ints = 0;
	e->type = pm_value_type(e->g, pm_node_out(e->g, e->node, e->result));
	if (!fn || !small(e->type, &e->n) || !worth_it(e))
		return 0;
	e->scratch = pm_arena_new(0);
	e->out = pm_xcalloc(e->n ? e->n : 1, sizeof *e->out);
	if (fn(e) != PM_OK)
		return 0;
	for (i = 0; i < e->n; i++) {
		known += e->out[i].kind != PM_ELEM_UNKNOWN;
		*ints += e->out[i].kind == PM_ELEM_INT;
	}
	return known || !e->n; /* an empty value is known as a whole */
}

static void release(PmEval *e)
{
	pm_arena_free(e->scratch);
	free(e->out);
}

/* ---- keeping and replacing ---- */

static void set_of(PmFold *f, PmValue v, uint32_t what)
{
	if (v.id >= f->of.n) {
		PM_VEC_RESERVE(&f->of, (size_t)v.id + 1);
		memset(f->of.v + f->of.n, 0, (v.id + 1 - f->of.n) * sizeof *f->of.v);
		f->of.n = (size_t)v.id + 1;
	}
	f->of.v[v.id] = what;
}

/* Keeps elements; after so many uses they are forgotten, after none never. */
static void remember(PmFold *f, PmValue v, const PmElem *e, size_t n, size_t uses)
{
	PmPacked p = pm__pack(e, n);
	uint32_t place;

	if (p.size > FOLD_BUDGET - f->held) {
		pm__packed_release(&p);
		return;
	}
	f->held += p.size;
	p.left = uses < UINT16_MAX ? (uint16_t)uses : 0;
	if (f->vacant.n) {
		place = f->vacant.v[--f->vacant.n];
		f->known.v[place] = p;
	} else {
		place = (uint32_t)f->known.n;
		PM_VEC_PUSH(&f->known, p);
	}
	set_of(f, v, FIRST_PLACE + place);
}

/* A use of the value has been inferred. Rules look at their operands, and Range behind a cast: at one
 * element. */
static void used(PmFold *f, PmValue v)
{
	PmPacked *p = known_of(f, v);

	if (!p || p->n < LONG || !p->left || --p->left)
		return;
	f->held -= p->size;
	pm__packed_release(p);
	PM_VEC_PUSH(&f->vacant, f->of.v[v.id] - FIRST_PLACE);
	set_of(f, v, NOTHING);
}

static PmBlob *blob_of(const PmElem *e, size_t n, size_t size)
{
	unsigned char *p = pm_xcalloc(n ? n : 1, size);
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < size; k++)
			p[i * size + k] = (unsigned char)((uint64_t)e[i].v >> (8 * k));
	}
	return pm_blob_take(p, n * size);
}

static PmStatus make_const(PmGraph *g, PmValue v, const PmElem *e, size_t n, PmErr *err)
{
	PmType t = *pm_value_type(g, v);
	PmValue made;
	PmStatus st = pm_graph_add_const(g, NULL, &t, blob_of(e, n, pm_dtype_size(t.dtype)), &made, err);

	if (st == PM_OK)
		pm_graph_replace_uses(g, v, made);
	return st;
}

static PmStatus fold_result(PmGraph *g, PmFold *f, PmNode node, size_t k, PmErr *err)
{
	PmEval e = { .g = g, .f = f, .node = node, .result = k };
	PmValue v = pm_node_out(g, node, k);
	PmStatus st = PM_OK;
	size_t ints, uses = pm_value_n_uses(g, v);

	if (evaluate(&e, &ints)) {
		if (ints == e.n && !pm_value_is_output(g, v) && uses)
			st = make_const(g, v, e.out, e.n, err);
		else
			remember(f, v, e.out, e.n, uses);
	}
	release(&e);
	return st;
}

PmStatus pm__fold_node(PmGraph *g, PmFold *f, PmNode n, PmErr *err)
{
	size_t k, n_in = pm_node_n_in(g, n), n_out = pm_node_n_out(g, n);
	PmStatus st = PM_OK;

	for (k = 0; pm__eval_fn(pm_node_op(g, n)) && k < n_out && st == PM_OK; k++)
		st = fold_result(g, f, n, k, err);
	for (k = 0; k < n_in; k++)
		used(f, pm_node_in(g, n, k));
	return st;
}

/* ---- on demand ---- */

typedef struct Frame {
	uint32_t value, next; /* next: operand of the node that defines it */
} Frame;

/* Whether the value's node is to be evaluated; if so, that is not asked again. */
static int to_evaluate(PmFold *f, const PmGraph *g, PmValue v)
{
	PmNode def = pm_value_def(g, v, NULL);
	size_t n;

	if (!def.id || (v.id < f->of.n && f->of.v[v.id] != NOT_ASKED) || !pm__eval_fn(pm_node_op(g, def)) ||
	    !small(pm_value_type(g, v), &n))
		return 0;
	set_of(f, v, NOTHING);
	return 1;
}

/* Evaluates what the value follows from, operands first. */
static void follow(PmFold *f, const PmGraph *g, PmValue v)
{
	PM_VEC(Frame) stack = { NULL, 0, 0 };

	if (!to_evaluate(f, g, v))
		return;
	PM_VEC_PUSH(&stack, ((Frame){ v.id, 0 }));
	while (stack.n) {
		Frame *top = &stack.v[stack.n - 1];
		PmEval e = { .g = g, .f = f };
		PmValue at = { top->value };
		size_t ints;

		e.node = pm_value_def(g, at, &e.result);
		if (top->next < pm_node_n_in(g, e.node) &&
		    pm__eval_reads(pm_node_op(g, e.node)) != PM_READS_TYPES) {
			v = pm_node_in(g, e.node, top->next++);
			if (to_evaluate(f, g, v))
				PM_VEC_PUSH(&stack, ((Frame){ v.id, 0 }));
			continue;
		}
		stack.n--;
		if (evaluate(&e, &ints))
			remember(f, at, e.out, e.n, 0);
		release(&e);
	}
	PM_VEC_RELEASE(&stack);
}

/* ---- values that a run knows ---- */

PmFold *pm_known_new(void)
{
	return pm__fold_new(0);
}

void pm_known_free(PmFold *k)
{
	pm__fold_free(k);
}

void pm_known_set(PmFold *k, PmValue v, const int64_t *elem, size_t n)
{
	PmElem *e;
	size_t i;

	if (n > PM_FOLD_MAX)
		return;
	e = pm_xcalloc(n ? n : 1, sizeof *e);
	for (i = 0; i < n; i++)
		e[i] = (PmElem){ PM_ELEM_INT, elem[i] };
	remember(k, v, e, n, 0);
	free(e);
}
