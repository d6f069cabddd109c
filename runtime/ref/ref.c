/* SPDX-License-Identifier: Apache-2.0 */
/* ref.c - the reference device: dispatch by operator and execution of whole graphs. */
#include "runtime/ref/ref_priv.h"

#include "base/sys/threads.h"
#include "ir/infer/infer.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 16 }; /* Kernel bodies inside Kernel bodies */

#define pm__ref_none NULL
#define OP(name, in_min, in_max, out_min, out_max, flags, types, attrs, shape, ref, expr, iexpr)             \
	[PM_OP_##name] = pm__ref_##ref,
static PmRefFn *const functions[PM_N_OPS] = {
#include "ir/core/ops.def"
};
#undef OP
#undef pm__ref_none

typedef struct Load {
	PmRefTensor *wide;
	PmTensor *t; /* read by load(), written by store() */
} Load;

static void load_part(void *arg, int64_t from, int64_t to)
{
	const Load *l = arg;

	if (l->wide->f)
		pm_tensor_gets(l->t, from, to - from, l->wide->f + from);
	for (int64_t k = from; k < to && !l->wide->f; k++)
		l->wide->i[k] = pm_tensor_get_i(l->t, k);
}

void pm_ref_load(PmRefTensor *to, const PmTensor *from)
{
	PmTensor t = *from;
	Load l = { to, &t };

	pm_threads_run(to->numel, PM__REF_LEAST, load_part, &l);
}

static void store_part(void *arg, int64_t from, int64_t to)
{
	const Load *l = arg;

	if (l->wide->f)
		pm_tensor_sets(l->t, from, to - from, l->wide->f + from);
	for (int64_t k = from; k < to && !l->wide->f; k++)
		pm_tensor_set_i(l->t, k, l->wide->i[k]);
}

PmStatus pm_ref_store(PmTensor *to, const PmRefTensor *from, PmErr *err)
{
	PmRefTensor wide = *from;
	PmStatus st = pm_tensor_init(to, &from->type, err);

	if (!st)
		pm_threads_run(from->numel, PM__REF_LEAST, store_part, &(Load){ &wide, to });
	return st;
}

static PmStatus run_graph(const PmGraph *g, const PmRefTensor *in, size_t n_in, PmRefTensor *out,
			  size_t n_out, int depth, PmErr *err);

static PmStatus run_kernel(const PmRefCall *c, int depth, PmErr *err)
{
	const PmAttr *body = pm_node_attr(c->g, c->node, "body");
	PmRefTensor *tmp;
	PmStatus st;
	size_t k;

	if (!body || body->kind != PM_ATTR_GRAPH || !body->graph)
		return pm__ref_fail(c, err, PM_E_INVALID, "a Kernel node needs a graph attribute 'body'.");
	if (depth >= MAX_DEPTH)
		return pm__ref_fail(c, err, PM_E_LIMIT, "kernel bodies are nested more than %d deep.",
				    MAX_DEPTH);
	if (pm_graph_n_outputs(body->graph) != c->n_out)
		return pm__ref_fail(c, err, PM_E_INVALID, "the body has %zu outputs, the node %zu results.",
				    pm_graph_n_outputs(body->graph), c->n_out);
	tmp = pm_xcalloc(c->n_out ? c->n_out : 1, sizeof *tmp);
	st = run_graph(body->graph, c->in, c->n_in, tmp, c->n_out, depth + 1, err);
	for (k = 0; !st && k < c->n_out; k++) {
		if (!pm_type_equal(&tmp[k].type, &c->out[k].type)) {
			st = pm__ref_fail(c, err, PM_E_TYPE,
					  "output %zu of the body has another type than the node's result.",
					  k);
			break;
		}
		free(c->out[k].f);
		free(c->out[k].i);
		c->out[k].f = tmp[k].f;
		c->out[k].i = tmp[k].i;
		tmp[k].f = NULL;
		tmp[k].i = NULL;
	}
	for (k = 0; k < c->n_out; k++)
		pm_ref_tensor_release(&tmp[k]);
	free(tmp);
	return st;
}

static PmStatus run_node(const PmRefCall *c, int depth, PmErr *err)
{
	PmOp op = pm_node_op(c->g, c->node);

	if (op == PM_OP_NONE)
		return pm_err(err, PM_E_INVALID, "The node to run does not exist in its graph.");
	if (pm_op_desc(op)->flags & PM_OPF_KERNEL)
		return run_kernel(c, depth, err);
	if (!functions[op])
		return pm__ref_fail(c, err, PM_E_UNSUPPORTED,
				    "the meaning of this operator is not known here, so it cannot be run.");
	return functions[op](c, err);
}

PmStatus pm_ref_node(const PmRefCall *c, PmErr *err)
{
	return run_node(c, 0, err);
}

/* ---- whole graphs ---- */

/* The state of one run. A value's storage is owned here unless `borrowed`.
 *
 * Where a type is not known before the run (NonZero, a Reshape to a computed shape), the run works on a copy
 * of the graph and infers each node again, from what its operands turned out to be, just before it runs. */
typedef struct Run {
	const PmGraph *g;
	PmGraph *copy;    /* g, when types have to be found on the way; else NULL */
	PmFold *known;    /* the integer values so far, with copy */
	PmRefTensor *val; /* by value id */
	uint32_t *left;   /* uses still to come, outputs included */
	uint8_t *has, *borrowed;
	const PmTensor *narrow; /* the outermost graph's inputs, widened at their first use; NULL: they were
				   lent wide */
	int depth;
	PmRefWatch *watch; /* of the outermost graph; may be NULL */
	void *watch_arg;
} Run;

static void drop(Run *r, PmValue v)
{
	if (!r->has[v.id])
		return;
	if (!r->borrowed[v.id])
		pm_ref_tensor_release(&r->val[v.id]);
	r->has[v.id] = 0;
}

static void use_done(Run *r, PmValue v)
{
	if (v.id && r->left[v.id] && --r->left[v.id] == 0)
		drop(r, v);
}

static PmStatus widen(Run *r, PmValue v, const PmTensor *t, PmErr *err)
{
	PmStatus st = pm_ref_tensor_init(&r->val[v.id], &t->type, err);

	if (!st) {
		pm_ref_load(&r->val[v.id], t);
		r->has[v.id] = 1;
	}
	return st;
}

/* The tensor that was given for an input of the outermost graph; NULL when v is none. */
static const PmTensor *narrow_input(const Run *r, PmValue v)
{
	for (size_t k = 0; r->narrow && k < pm_graph_n_inputs(r->g); k++)
		if (pm_graph_input(r->g, k).id == v.id)
			return &r->narrow[k];
	return NULL;
}

/* Makes sure that a value is there: constants and inputs in their own types are read at their first use, so
 * that no more of them are held in double than the rest of the graph still needs. */
static PmStatus need(Run *r, PmValue v, PmErr *err)
{
	const PmTensor *given;
	PmTensor t;
	PmStatus st;

	if (r->has[v.id])
		return PM_OK;
	given = narrow_input(r, v);
	if (given)
		return widen(r, v, given, err);
	if (!pm_value_is_const(r->g, v))
		return pm_err(err, PM_E_INVALID,
			      "Value '%s' is used before it is computed; sort the graph before running it.",
			      pm_value_name(r->g, v));
	st = pm_tensor_from_const(&t, r->g, v, err);
	if (st)
		return st;
	st = widen(r, v, &t, err);
	pm_tensor_release(&t);
	return st;
}

static void count_uses(Run *r)
{
	size_t i, k;

	for (i = 0; i < pm_graph_n_nodes(r->g); i++) {
		PmNode n = pm_graph_node_at(r->g, i);

		for (k = 0; k < pm_node_n_in(r->g, n); k++)
			r->left[pm_node_in(r->g, n, k).id]++;
	}
	for (i = 0; i < pm_graph_n_outputs(r->g); i++)
		r->left[pm_graph_output(r->g, i).id]++;
}

/* Notes an integer value that shapes may depend on. */
static void note(Run *r, PmValue v)
{
	const PmRefTensor *t = &r->val[v.id];

	if (r->known && (!t->f || !t->numel) && !pm_dtype_is_float(t->type.dtype) && v.id)
		pm_known_set(r->known, v, t->i, (size_t)t->numel);
}

/* 1 when a result of the node is sized by the function that computes it. */
static int sizes_itself(const Run *r, PmNode n, PmValue v)
{
	return pm_op_desc(pm_node_op(r->g, n))->flags & PM_OPF_DATA &&
	       !pm_type_is_static(pm_value_type(r->g, v));
}

/* Allocates the results of a node; names the value that is not static. */
static PmStatus make_results(Run *r, PmNode n, PmRefTensor *out, size_t n_out, PmErr *err)
{
	size_t k;

	for (k = 0; k < n_out; k++) {
		PmValue v = pm_node_out(r->g, n, k);
		PmStatus st = PM_OK;

		if (sizes_itself(r, n, v))
			out[k].type = *pm_value_type(r->g, v);
		else
			st = pm_ref_tensor_init(&out[k], pm_value_type(r->g, v), err);
		if (st)
			return pm_err_ctx(err, "Value '%s' cannot be computed", pm_value_name(r->g, v));
	}
	return PM_OK;
}

static PmStatus step(Run *r, PmNode n, PmErr *err)
{
	size_t n_in = pm_node_n_in(r->g, n), n_out = pm_node_n_out(r->g, n), k;
	PmRefTensor *in = pm_xcalloc(n_in ? n_in : 1, sizeof *in);
	PmRefTensor *out = pm_xcalloc(n_out ? n_out : 1, sizeof *out);
	PmRefCall call = { r->g, n, in, n_in, out, n_out };
	PmStatus st = PM_OK;

	for (k = 0; !st && k < n_in; k++) {
		PmValue v = pm_node_in(r->g, n, k);

		in[k].type = pm_type_unknown();
		if (!v.id)
			continue;
		st = need(r, v, err);
		if (!st)
			in[k] = r->val[v.id];
	}
	if (!st && r->copy)
		st = pm_infer_node_known(r->copy, n, r->known, err);
	if (!st)
		st = make_results(r, n, out, n_out, err);
	if (!st)
		st = run_node(&call, r->depth, err);
	if (!st && r->watch)
		st = r->watch(r->watch_arg, &call, err);
	for (k = 0; k < n_out; k++) {
		PmValue v = pm_node_out(r->g, n, k);

		if (!st && r->copy)
			pm_value_set_type(r->copy, v, &out[k].type);

		if (st || !r->left[v.id]) {
			pm_ref_tensor_release(&out[k]);
		} else {
			r->val[v.id] = out[k];
			r->has[v.id] = 1;
			note(r, v);
		}
	}
	for (k = 0; k < n_in; k++)
		use_done(r, pm_node_in(r->g, n, k));
	free(in);
	free(out);
	return st;
}

static PmStatus take_outputs(Run *r, PmRefTensor *out, size_t n_out, PmErr *err)
{
	size_t k;

	for (k = 0; k < n_out; k++) {
		PmValue v = pm_graph_output(r->g, k);
		PmStatus st = need(r, v, err);

		if (st)
			return st;
		if (r->left[v.id] == 1 && !r->borrowed[v.id]) {
			out[k] = r->val[v.id];
			r->has[v.id] = 0;
			continue;
		}
		st = pm_ref_tensor_init(&out[k], &r->val[v.id].type, err);
		if (st)
			return st;
		if (out[k].f)
			memcpy(out[k].f, r->val[v.id].f, (size_t)out[k].numel * sizeof *out[k].f);
		else if (out[k].i)
			memcpy(out[k].i, r->val[v.id].i, (size_t)out[k].numel * sizeof *out[k].i);
		use_done(r, v);
	}
	return PM_OK;
}

static PmStatus check_input(const Run *r, PmValue v, const PmType *type, PmErr *err)
{
	PmStr want = PM_STR_INIT, got = PM_STR_INIT;

	if (pm_type_equal(type, pm_value_type(r->g, v)))
		return PM_OK;
	pm_type_describe(pm_value_type(r->g, v), &want);
	pm_type_describe(type, &got);
	pm_err(err, PM_E_TYPE, "Input '%s' is %s, but a tensor of type %s was given.", pm_value_name(r->g, v),
	       want.s, got.s);
	pm_str_release(&want);
	pm_str_release(&got);
	return PM_E_TYPE;
}

/* Checks the inputs against the graph and lends them to the run. In their own types only those are widened
 * now that shapes may depend on. */
static PmStatus lend_inputs(Run *r, const PmRefTensor *in, size_t n_in, PmErr *err)
{
	size_t k;

	if (n_in != pm_graph_n_inputs(r->g))
		return pm_err(err, PM_E_INVALID, "Graph '%s' has %zu inputs, but %zu were given.",
			      pm_graph_name(r->g), pm_graph_n_inputs(r->g), n_in);
	for (k = 0; k < n_in; k++) {
		PmValue v = pm_graph_input(r->g, k);
		const PmType *type = r->narrow ? &r->narrow[k].type : &in[k].type;
		PmStatus st = check_input(r, v, type, err);

		if (!st && r->narrow && r->known && !pm_dtype_is_float(type->dtype))
			st = need(r, v, err);
		if (st)
			return st;
		if (!r->narrow) {
			r->val[v.id] = in[k];
			r->has[v.id] = 1;
			r->borrowed[v.id] = 1;
		}
		if (r->has[v.id])
			note(r, v);
	}
	return PM_OK;
}

static int has_open_types(const PmGraph *g)
{
	size_t i, k;

	for (i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		for (k = 0; k < pm_node_n_out(g, n); k++)
			if (!pm_type_is_static(pm_value_type(g, pm_node_out(g, n, k))))
				return 1;
	}
	return 0;
}

static PmStatus run_on(Run *r, const PmRefTensor *in, size_t n_in, PmRefTensor *out, size_t n_out, PmErr *err)
{
	uint32_t limit = pm_graph_value_limit(r->g) + 1, v;
	PmStatus st;
	size_t i;

	r->val = pm_xcalloc(limit, sizeof *r->val);
	r->left = pm_xcalloc(limit, sizeof *r->left);
	r->has = pm_xcalloc(limit, 1);
	r->borrowed = pm_xcalloc(limit, 1);
	count_uses(r);
	st = lend_inputs(r, in, n_in, err);
	for (i = 0; !st && i < pm_graph_n_nodes(r->g); i++)
		st = step(r, pm_graph_node_at(r->g, i), err);
	if (!st)
		st = take_outputs(r, out, n_out, err);
	for (v = 0; v < limit; v++)
		drop(r, (PmValue){ v });
	free(r->val);
	free(r->left);
	free(r->has);
	free(r->borrowed);
	return st;
}

/* Runs the graph of r on `in`, or on r->narrow. */
static PmStatus run_whole(Run *r, const PmRefTensor *in, size_t n_in, PmRefTensor *out, size_t n_out,
			  PmErr *err)
{
	const PmGraph *g = r->g;
	PmStatus st = PM_OK;
	size_t i;

	memset(out, 0, n_out * sizeof *out);
	for (i = 0; i < n_out; i++)
		out[i].type = pm_type_unknown();
	if (n_out != pm_graph_n_outputs(g))
		return pm_err(err, PM_E_INVALID, "Graph '%s' has %zu outputs, but %zu were asked for.",
			      pm_graph_name(g), pm_graph_n_outputs(g), n_out);
	if (has_open_types(g)) {
		st = pm_graph_clone(g, &r->copy, err);
		if (st)
			return st;
		r->g = r->copy;
		r->known = pm_known_new();
	}
	st = run_on(r, in, n_in, out, n_out, err);
	for (i = 0; st && i < n_out; i++)
		pm_ref_tensor_release(&out[i]);
	pm_graph_free(r->copy);
	pm_known_free(r->known);
	return st;
}

static PmStatus run_graph(const PmGraph *g, const PmRefTensor *in, size_t n_in, PmRefTensor *out,
			  size_t n_out, int depth, PmErr *err)
{
	return run_whole(&(Run){ .g = g, .depth = depth }, in, n_in, out, n_out, err);
}

static PmStatus run_inputs(const PmGraph *g, const PmTensor *in, size_t n_in, PmRefTensor *out, size_t n_out,
			   PmRefWatch *watch, void *arg, PmErr *err)
{
	static const PmTensor none;
	Run r = { .g = g, .narrow = in ? in : &none, .watch = watch, .watch_arg = arg };

	return run_whole(&r, NULL, n_in, out, n_out, err);
}

PmStatus pm_ref_run_exact(const PmGraph *g, const PmTensor *in, size_t n_in, PmRefTensor *out, size_t n_out,
			  PmErr *err)
{
	return run_inputs(g, in, n_in, out, n_out, NULL, NULL, err);
}

PmStatus pm_ref_run_watched(const PmGraph *g, const PmTensor *in, size_t n_in, PmRefWatch *watch, void *arg,
			    PmErr *err)
{
	size_t n_out = pm_graph_n_outputs(g);
	PmRefTensor *out = pm_xcalloc(n_out + 1, sizeof *out);
	PmStatus st = run_inputs(g, in, n_in, out, n_out, watch, arg, err);

	for (size_t k = 0; k < n_out; k++)
		pm_ref_tensor_release(&out[k]);
	free(out);
	return st;
}

PmStatus pm_ref_run(const PmGraph *g, const PmTensor *in, size_t n_in, PmTensor *out, size_t n_out,
		    PmErr *err)
{
	PmRefTensor *exact = pm_xcalloc(n_out ? n_out : 1, sizeof *exact);
	PmStatus st = pm_ref_run_exact(g, in, n_in, exact, n_out, err);
	size_t k;

	memset(out, 0, n_out * sizeof *out);
	for (k = 0; !st && k < n_out; k++)
		st = pm_ref_store(&out[k], &exact[k], err);
	for (k = 0; k < n_out; k++) {
		pm_ref_tensor_release(&exact[k]);
		if (st)
			pm_tensor_release(&out[k]);
	}
	free(exact);
	return st;
}
