/* infer_fold.c - follows small integer values through shape arithmetic while a graph is inferred.
 *
 * Exporters compute shapes with nodes: Shape, Gather, arithmetic, Concat, and then Reshape. Each element of
 * such a value is a known integer, a dimension known by its symbol, or unknown. Values known as a whole
 * become constants.
 */
#include "ir/infer_fold_priv.h"
#include "ir/infer_priv.h"

#include "base/arena.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { FOLD_BUDGET = 64 << 20 }; /* bytes of elements kept; beyond it values count as unknown */

typedef struct Known {
	PmElem *e;
	size_t n;
} Known;

struct PmFold {
	PmArena *arena;
	PM_VEC(Known) known;
	PM_VEC(uint32_t) of; /* by value id: 1 + its place in `known`, 0 = nothing is */
};

PmFold *pm__fold_new(void)
{
	PmFold *f = pm_xcalloc(1, sizeof *f);

	f->arena = pm_arena_new(FOLD_BUDGET);
	return f;
}

void pm__fold_free(PmFold *f)
{
	if (!f)
		return;
	pm_arena_free(f->arena);
	PM_VEC_RELEASE(&f->known);
	PM_VEC_RELEASE(&f->of);
	free(f);
}

PmStatus pm__fold_get(const PmGraph *g, const PmFold *f, PmValue v, PmElem *out, size_t max, size_t *n)
{
	int64_t buf[PM_FOLD_MAX];
	const Known *k;
	size_t i;

	if (pm_value_is_const(g, v)) {
		if (pm_value_const_ints(g, v, buf, max < PM_FOLD_MAX ? max : PM_FOLD_MAX, n) != PM_OK)
			return PM_DECLINED;
		for (i = 0; i < *n; i++)
			out[i] = (PmElem){ PM_ELEM_INT, buf[i] };
		return PM_OK;
	}
	k = f && v.id < f->of.n && f->of.v[v.id] ? &f->known.v[f->of.v[v.id] - 1] : NULL;
	if (!k || k->n > max)
		return PM_DECLINED;
	*n = k->n;
	if (*n)
		memcpy(out, k->e, *n * sizeof *out);
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

	if (!v.id || !small(pm_value_type(e->g, v), &n))
		return NULL;
	p = pm_arena_alloc(e->scratch, (n ? n : 1) * sizeof *p);
	if (!p)
		return NULL;
	if (pm__fold_get(e->g, e->f, v, p, n, &got) == PM_OK && got == n)
		return p;
	for (i = 0; i < n; i++)
		p[i] = (PmElem){ PM_ELEM_UNKNOWN, 0 };
	return p;
}

const PmType *pm__eval_type(const PmEval *e, size_t k)
{
	return pm_value_type(e->g, pm_node_in(e->g, e->node, k));
}

/* ---- keeping and replacing ---- */

static void remember(PmFold *f, PmValue v, const PmElem *e, size_t n)
{
	PmElem *copy = pm_arena_alloc(f->arena, (n ? n : 1) * sizeof *e);

	if (!copy)
		return;
	if (n)
		memcpy(copy, e, n * sizeof *e);
	if (v.id >= f->of.n) {
		PM_VEC_RESERVE(&f->of, (size_t)v.id + 1);
		memset(f->of.v + f->of.n, 0, (v.id + 1 - f->of.n) * sizeof *f->of.v);
		f->of.n = (size_t)v.id + 1;
	}
	PM_VEC_PUSH(&f->known, ((Known){ copy, n }));
	f->of.v[v.id] = (uint32_t)f->known.n;
}

static PmBlob *pack(const PmElem *e, size_t n, size_t size)
{
	unsigned char *p = pm_xcalloc(n ? n : 1, size);
	PmBlob *b;
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < size; k++)
			p[i * size + k] = (unsigned char)((uint64_t)e[i].v >> (8 * k));
	}
	b = pm_blob_copy(p, n * size);
	free(p);
	return b;
}

static PmStatus make_const(PmGraph *g, PmValue v, const PmElem *e, size_t n, PmErr *err)
{
	PmType t = *pm_value_type(g, v);
	PmValue made;
	PmStatus st = pm_graph_add_const(g, NULL, &t, pack(e, n, pm_dtype_size(t.dtype)), &made, err);

	if (st == PM_OK)
		pm_graph_replace_uses(g, v, made);
	return st;
}

/* Evaluates result k of the node. */
static PmStatus eval_result(PmGraph *g, PmFold *f, PmNode node, PmEvalFn fn, size_t k, PmErr *err)
{
	PmEval e = { g, f, node, k, NULL, NULL, 0, NULL };
	PmValue v = pm_node_out(g, node, k);
	PmStatus st = PM_OK;
	size_t i, known = 0, ints = 0;

	if (!small(pm_value_type(g, v), &e.n))
		return PM_OK;
	e.type = pm_value_type(g, v);
	e.scratch = pm_arena_new(0);
	e.out = pm_arena_alloc(e.scratch, (e.n ? e.n : 1) * sizeof *e.out);
	if (e.out && fn(&e) == PM_OK) {
		for (i = 0; i < e.n; i++) {
			known += e.out[i].kind != PM_ELEM_UNKNOWN;
			ints += e.out[i].kind == PM_ELEM_INT;
		}
		if (ints == e.n && !pm_value_is_output(g, v) && pm_value_n_uses(g, v))
			st = make_const(g, v, e.out, e.n, err);
		else if (known || !e.n) /* an empty value is known as a whole */
			remember(f, v, e.out, e.n);
	}
	pm_arena_free(e.scratch);
	return st;
}

PmStatus pm__fold_node(PmGraph *g, PmFold *f, PmNode n, PmErr *err)
{
	PmEvalFn fn = pm__eval_fn(pm_node_op(g, n));
	size_t k, n_out = pm_node_n_out(g, n);
	PmStatus st = PM_OK;

	for (k = 0; fn && k < n_out && st == PM_OK; k++)
		st = eval_result(g, f, n, fn, k, err);
	return st;
}

/* ---- values that a run knows ---- */

PmFold *pm_known_new(void)
{
	return pm__fold_new();
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
	remember(k, v, e, n);
	free(e);
}

PmStatus pm_infer_node_known(PmGraph *g, PmNode n, PmFold *known, PmErr *err)
{
	return pm__infer_node(g, n, known, err);
}
