/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - checks that a graph is what the rest of the program takes for granted. */
#include "ir/infer/infer.h"

#include "ir/core/kernel.h"
#include "ir/infer/infer_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BODY_DEPTH = 8 }; /* kernels inside kernels */

typedef struct Verify {
	const PmGraph *g;
	PmErr *err;
	unsigned char *defined; /* by value id: may be used from here on */
	PmArena *arena;
	int depth;
} Verify;

static PmStatus verify_graph(const PmGraph *g, int depth, PmErr *err);

/* "Node 3 (Add -> 'y') <text>." */
static PmStatus PM_PRINTF(4, 5) node_fail(Verify *v, PmNode n, PmStatus code, const char *fmt, ...);

static PmStatus node_fail(Verify *v, PmNode n, PmStatus code, const char *fmt, ...)
{
	PmStr b = PM_STR_INIT;
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	pm_str_add(&b, "In ");
	pm_node_describe(v->g, n, &b);
	pm_err(v->err, code, "%s, %s.", b.s, why);
	pm_str_release(&b);
	return code;
}

/* ---- values ---- */

static PmStatus check_dims(Verify *v, PmValue x, const PmType *t)
{
	int i;

	if (t->rank > PM_MAX_RANK || t->rank < -1 || t->dtype >= PM_N_DTYPES || t->dtype < -1)
		return pm_err(v->err, PM_E_TYPE,
			      "Value '%.200s' has rank %d and element type %d, which do not exist.",
			      pm_value_name(v->g, x), (int)t->rank, (int)t->dtype);
	for (i = 0; i < t->rank; i++) {
		if (t->dim[i] < 0 && !pm_graph_symbol_name(v->g, t->dim[i]))
			return pm_err(v->err, PM_E_SHAPE,
				      "Dimension %d of value '%.200s' is %lld, neither a size nor a symbol "
				      "of the graph.",
				      i, pm_value_name(v->g, x), (long long)t->dim[i]);
	}
	return PM_OK;
}

static PmStatus check_value(Verify *v, PmValue x)
{
	const char *name = pm_value_name(v->g, x);
	PmValue other = pm_graph_find_value(v->g, name);

	if (other.id && other.id != x.id)
		return pm_err(v->err, PM_E_INVALID, "Two values of the graph are named '%.200s'.", name);
	return check_dims(v, x, pm_value_type(v->g, x));
}

static PmStatus check_blob(Verify *v, const PmType *t, const PmBlob *b, const char *what, const char *name)
{
	int64_t bytes;
	PmStatus st = pm_type_bytes(t, &bytes, v->err);

	if (st)
		return v->err ? pm_err_ctx(v->err, "%s '%.200s'", what, name) : st;
	if (!b || b->size != (uint64_t)bytes)
		return pm_err(v->err, PM_E_INVALID,
			      "%s '%.200s' has %zu bytes of data where its type needs %lld.", what, name,
			      b ? b->size : 0, (long long)bytes);
	return PM_OK;
}

static PmStatus check_sources(Verify *v)
{
	uint32_t id, limit = pm_graph_value_limit(v->g);
	size_t i, n = pm_graph_n_inputs(v->g);
	PmStatus st = PM_OK;

	for (i = 0; i < n && st == PM_OK; i++) {
		PmValue x = pm_graph_input(v->g, i);
		const PmType *t = pm_value_type(v->g, x);

		if (t->dtype < 0 || t->rank < 0)
			st = pm_err(v->err, PM_E_TYPE, "Graph input '%.200s' has no known type.",
				    pm_value_name(v->g, x));
		v->defined[x.id] = 1;
	}
	for (id = 1; id < limit && st == PM_OK; id++) {
		PmValue x = { id };

		if (!pm_value_is_input(v->g, x) && !pm_value_is_const(v->g, x))
			continue;
		st = check_value(v, x);
		if (st == PM_OK && pm_value_is_const(v->g, x)) {
			v->defined[id] = 1;
			st = check_blob(v, pm_value_type(v->g, x), pm_value_blob(v->g, x), "Constant",
					pm_value_name(v->g, x));
		}
	}
	return st;
}

/* ---- nodes ---- */

static PmStatus check_operands(Verify *v, PmNode n)
{
	uint32_t limit = pm_graph_value_limit(v->g);
	size_t k;

	for (k = 0; k < pm_node_n_in(v->g, n); k++) {
		PmValue x = pm_node_in(v->g, n, k);
		PmNode def;

		if (!x.id)
			continue;
		if (x.id < limit && v->defined[x.id])
			continue;
		def = pm_value_def(v->g, x, NULL);
		if (def.id)
			return node_fail(v, n, PM_E_INVALID,
					 "operand %zu ('%.200s') is used before node %u defines it, so the "
					 "graph is not sorted or has a cycle",
					 k, pm_value_name(v->g, x), (unsigned)def.id);
		return node_fail(v, n, PM_E_INVALID, "operand %zu is value %u, which nothing defines", k,
				 (unsigned)x.id);
	}
	return PM_OK;
}

static const char *kind_name(PmAttrKind kind)
{
	static const char *const names[] = { "an int", "a float", "a string", "ints",
					     "floats", "strings", "a tensor", "a graph" };

	return names[kind];
}

static PmStatus check_attrs(Verify *v, PmNode n, PmOp op)
{
	const PmOpDesc *d = pm_op_desc(op);
	size_t i, count = pm_node_n_attrs(v->g, n);
	int k;

	for (i = 0; i < count; i++) {
		const PmAttr *a = pm_node_attr_at(v->g, n, i);
		const PmAttrDesc *want = pm_op_attr_desc(op, a->name);

		if (!want)
			return node_fail(v, n, PM_E_INVALID, "the attribute '%.100s' is not one of %s's",
					 a->name, d->name);
		if (want->kind != a->kind)
			return node_fail(v, n, PM_E_TYPE, "the attribute '%s' is %s where %s is needed",
					 a->name, kind_name(a->kind), kind_name(want->kind));
		if (a->kind == PM_ATTR_TENSOR) {
			PmStatus st = check_blob(v, &a->type, a->blob, "Attribute", a->name);

			if (st)
				return st;
		}
	}
	for (k = 0; k < d->n_attrs; k++) {
		if (!d->attrs[k].has_default && !pm_node_attr(v->g, n, d->attrs[k].name))
			return node_fail(v, n, PM_E_INVALID, "the required attribute '%s' is missing",
					 d->attrs[k].name);
	}
	return PM_OK;
}

/* What inference can tell must be what the value says; the rest may be anything. */
static int fits(const PmType *want, const PmType *have)
{
	int i;

	if (want->dtype < 0)
		return 1;
	if (have->dtype != want->dtype)
		return 0;
	if (want->rank < 0)
		return 1;
	if (have->rank != want->rank)
		return 0;
	for (i = 0; i < want->rank; i++) {
		if (want->dim[i] != PM_DIM_UNKNOWN && want->dim[i] != have->dim[i])
			return 0;
	}
	return 1;
}

static PmStatus type_fail(Verify *v, PmNode n, size_t k, const PmType *have, const PmType *want)
{
	PmStr a = PM_STR_INIT, b = PM_STR_INIT;
	PmStatus st = have->dtype == want->dtype ? PM_E_SHAPE : PM_E_TYPE;

	pm_type_describe(have, &a);
	pm_type_describe(want, &b);
	node_fail(v, n, st, "result %zu has type %s where inference gives %s; run inference after editing", k,
		  a.s, b.s);
	pm_str_release(&a);
	pm_str_release(&b);
	return st;
}

static PmStatus check_results(Verify *v, PmNode n)
{
	size_t k, n_out = pm_node_n_out(v->g, n);
	PmType few[4], *want = few;
	PmStatus st;

	if (n_out > sizeof few / sizeof few[0])
		want = pm_xcalloc(n_out, sizeof *want);
	st = pm__infer_types(v->g, n, NULL, want, v->err);
	for (k = 0; k < n_out && st == PM_OK; k++) {
		PmValue x = pm_node_out(v->g, n, k);
		const PmType *have = pm_value_type(v->g, x);

		st = check_value(v, x);
		if (st == PM_OK && !fits(&want[k], have))
			st = type_fail(v, n, k, have, &want[k]);
		v->defined[x.id] = 1;
	}
	if (want != few)
		free(want);
	return st;
}

static PmStatus check_kernel(Verify *v, PmNode n)
{
	PmKernelDesc d;
	PmStatus st;

	if (v->depth >= MAX_BODY_DEPTH)
		return node_fail(v, n, PM_E_LIMIT, "kernels are nested more than %d deep", MAX_BODY_DEPTH);
	st = pm_kernel_decode(v->g, n, v->arena, &d, v->err);
	if (st)
		return st;
	st = verify_graph(d.body, v->depth + 1, v->err);
	if (st && v->err) {
		PmStr b = PM_STR_INIT;

		pm_node_describe(v->g, n, &b);
		st = pm_err_ctx(v->err, "In the body of %s", b.s);
		pm_str_release(&b);
	}
	return st;
}

static PmStatus check_node(Verify *v, PmNode n)
{
	PmOp op = pm_node_op(v->g, n);
	PmStatus st = check_operands(v, n);

	if (st)
		return st;
	if (op == PM_OP_Kernel)
		st = check_kernel(v, n);
	else if (op != PM_OP_Opaque)
		st = check_attrs(v, n, op);
	return st ? st : check_results(v, n);
}

static PmStatus verify_graph(const PmGraph *g, int depth, PmErr *err)
{
	Verify v = { g, err, pm_xcalloc((size_t)pm_graph_value_limit(g) + 1, 1), pm_arena_new(0), depth };
	size_t i, n = pm_graph_n_nodes(g);
	PmStatus st = check_sources(&v);

	for (i = 0; i < n && st == PM_OK; i++)
		st = check_node(&v, pm_graph_node_at(g, i));
	for (i = 0; i < pm_graph_n_outputs(g) && st == PM_OK; i++) {
		PmValue x = pm_graph_output(g, i);

		if (x.id >= pm_graph_value_limit(g) || !v.defined[x.id])
			st = pm_err(err, PM_E_INVALID, "Graph output %zu is value %u, which nothing defines.",
				    i, (unsigned)x.id);
	}
	pm_arena_free(v.arena);
	free(v.defined);
	return st;
}

PmStatus pm_verify(const PmGraph *g, PmErr *err)
{
	return verify_graph(g, 0, err);
}
