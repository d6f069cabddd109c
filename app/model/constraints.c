/* SPDX-License-Identifier: Apache-2.0 */
/* constraints.c - is a model runnable, serializable, decomposable, analyzable, and are its operators ours. */
#include "app/model/constraints.h"

#include "app/model/feasible.h"
#include "base/core/rng.h"
#include "base/core/vec.h"
#include "bench/inputs/inputs.h"
#include "extract/cut.h"
#include "extract/fusible.h"
#include "extract/variants/variants.h"
#include "ir/canon/canon.h"
#include "ir/infer/infer.h"
#include "ir/onnx/onnx.h"
#include "runtime/ref/ref.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 4 };

/* Output tensors of one run. */
typedef struct Outputs {
	PmTensor *v;
	size_t n;
} Outputs;

const char *pm_constraint_name(PmConstraintKind k)
{
	static const char *const names[PM_N_CONSTRAINTS] = { "runnable", "serializable", "decomposable",
							     "statically analyzable",
							     "custom operators accessible" };

	return (unsigned)k < PM_N_CONSTRAINTS ? names[k] : "unknown";
}

const char *pm_constraint_verdict(PmConstraintVerdict v)
{
	return v == PM_HOLDS ? "holds" : v == PM_BROKEN ? "broken" : "undecided";
}

static void say(PmConstraints *c, PmConstraintKind k, PmConstraintVerdict v, const char *fmt, ...)
	PM_PRINTF(4, 5);

static void say(PmConstraints *c, PmConstraintKind k, PmConstraintVerdict v, const char *fmt, ...)
{
	va_list ap;

	c->of[k].verdict = v;
	va_start(ap, fmt);
	vsnprintf(c->of[k].why, sizeof c->of[k].why, fmt, ap);
	va_end(ap);
}

/* ---- what can be told without running ---- */

static void check_analyzable(const PmGraph *g, PmConstraints *c)
{
	PmStr where = PM_STR_INIT;
	size_t i, bad = 0;
	PmErr err;

	pm_err_init(&err);
	for (i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		/* operators that only read shapes do not fuse, but nothing about them is unknown */
		if (pm_fusible_node(g, n) || (pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_SHAPE))
			continue;
		if (!bad++)
			pm_node_describe(g, n, &where);
	}
	if (pm_verify(g, &err))
		say(c, PM_CONSTRAINT_ANALYZABLE, PM_BROKEN, "%.200s", err.text);
	else if (bad)
		say(c, PM_CONSTRAINT_ANALYZABLE, PM_BROKEN,
		    "%zu of %zu nodes have no known meaning or sizes that depend on data, the first is "
		    "%.120s.",
		    bad, pm_graph_n_nodes(g), where.s);
	else
		say(c, PM_CONSTRAINT_ANALYZABLE, PM_HOLDS, "All types of %zu nodes are known.",
		    pm_graph_n_nodes(g));
	pm_str_release(&where);
}

static void check_custom_ops(const PmGraph *g, PmConstraints *c)
{
	size_t i, standard = 0;

	for (i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);
		const char *domain = pm_node_domain(g, n);

		if (pm_node_op(g, n) != PM_OP_Opaque)
			continue;
		if (*domain && strcmp(domain, "ai.onnx") != 0) {
			say(c, PM_CONSTRAINT_CUSTOM_OPS, PM_BROKEN,
			    "'%.60s' of domain '%.60s' comes without a body and has no schema here.",
			    pm_node_op_name(g, n), domain);
			return;
		}
		standard++;
	}
	say(c, PM_CONSTRAINT_CUSTOM_OPS, PM_HOLDS, "No operator of another domain is left%s.",
	    standard ? " (operators of ONNX itself that are not known are kept as they are)" : "");
}

/* ---- running ---- */

static void outputs_release(Outputs *o)
{
	if (o->v)
		pm_tensors_release(o->v, o->n);
	free(o->v);
	*o = (Outputs){ NULL, 0 };
}

static PmStatus run(const PmGraph *g, const PmTensor *in, Outputs *out, PmErr *err)
{
	PmStatus st;

	out->n = pm_graph_n_outputs(g);
	out->v = pm_xcalloc(out->n + 1, sizeof *out->v);
	st = pm_ref_run(g, in, pm_graph_n_inputs(g), out->v, out->n, err);
	if (st) {
		free(out->v);
		*out = (Outputs){ NULL, 0 };
	}
	return st;
}

static PmStatus run_seed(const PmGraph *g, uint64_t seed, Outputs *out, PmErr *err)
{
	size_t n = pm_graph_n_inputs(g);
	PmTensor *in = pm_xcalloc(n + 1, sizeof *in);
	PmStatus st = pm_inputs_make(g, seed, PM_INPUTS_NORMAL, in, err);

	if (!st) {
		st = run(g, in, out, err);
		pm_tensors_release(in, n);
	}
	free(in);
	return st;
}

/* The name of the first output that holds a number that is not finite, or NULL. */
static const char *not_finite(const PmGraph *g, const Outputs *o)
{
	size_t i;
	int64_t k;

	for (i = 0; i < o->n; i++) {
		for (k = 0; k < pm_tensor_numel(&o->v[i]) && pm_dtype_is_float(o->v[i].type.dtype); k++) {
			if (!isfinite(pm_tensor_get(&o->v[i], k)))
				return pm_value_name(g, pm_graph_output(g, i));
		}
	}
	return NULL;
}

static int same_bits(const Outputs *a, const Outputs *b)
{
	size_t i;

	if (a->n != b->n)
		return 0;
	for (i = 0; i < a->n; i++) {
		if (a->v[i].bytes != b->v[i].bytes ||
		    (a->v[i].bytes && memcmp(a->v[i].data, b->v[i].data, a->v[i].bytes)))
			return 0;
	}
	return 1;
}

static void check_runnable(const PmGraph *part, int seeds, PmConstraints *c)
{
	const char *bad = NULL;
	PmStatus st = PM_OK;
	Outputs o;
	PmErr err;
	int s;

	pm_err_init(&err);
	for (s = 1; s <= seeds && !st && !bad; s++) {
		st = run_seed(part, (uint64_t)s, &o, &err);
		if (st)
			break;
		bad = not_finite(part, &o);
		outputs_release(&o);
	}
	if (st)
		say(c, PM_CONSTRAINT_RUNNABLE, PM_BROKEN, "%.220s", err.text);
	else if (bad)
		say(c, PM_CONSTRAINT_RUNNABLE, PM_BROKEN, "Output '%.120s' is not finite for seed %d.", bad,
		    s - 1);
	else
		say(c, PM_CONSTRAINT_RUNNABLE, PM_HOLDS,
		    "%d of %d nodes run for %d seeds, all outputs finite.", c->n_run, c->n_nodes, seeds);
}

/* ---- writing and reading ---- */

static PmStatus there_and_back(const PmGraph *g, PmGraph **back, PmErr *err)
{
	PmStr bytes = PM_STR_INIT;
	PmStatus st = pm_onnx_export_mem(g, &bytes, err);

	if (!st)
		st = pm_onnx_import_mem(bytes.s, bytes.len, pm_graph_name(g), NULL, back, NULL, err);
	pm_str_release(&bytes);
	return st;
}

static int same_text(const PmGraph *a, const PmGraph *b)
{
	PmStr x = PM_STR_INIT, y = PM_STR_INIT;
	int same = !pm_canon_text(a, PM_CANON_FULL, &x, NULL) && !pm_canon_text(b, PM_CANON_FULL, &y, NULL) &&
		   pm_str_eq(x.s, y.s);

	pm_str_release(&x);
	pm_str_release(&y);
	return same;
}

/* Reading back may store nodes and outputs in another order: outputs are compared by name. */
static int same_by_name(const PmGraph *g, const Outputs *a, const PmGraph *h, const Outputs *b)
{
	size_t i, k;

	for (i = 0; i < a->n; i++) {
		const char *name = pm_value_name(g, pm_graph_output(g, i));
		Outputs x = { &a->v[i], 1 }, y = { NULL, 1 };

		for (k = 0; k < b->n && !y.v; k++) {
			if (strcmp(name, pm_value_name(h, pm_graph_output(h, k))) == 0)
				y.v = &b->v[k];
		}
		if (!y.v || !same_bits(&x, &y))
			return 0;
	}
	return a->n == b->n;
}

static void check_serializable(const PmGraph *g, const PmGraph *part, PmConstraints *c)
{
	PmGraph *back = NULL, *part_back = NULL;
	Outputs a = { NULL, 0 }, b = { NULL, 0 };
	PmErr err;
	int same = 1;

	pm_err_init(&err);
	if (there_and_back(g, &back, &err))
		say(c, PM_CONSTRAINT_SERIALIZABLE, PM_BROKEN, "%.220s", err.text);
	else if (!same_text(g, back))
		say(c, PM_CONSTRAINT_SERIALIZABLE, PM_BROKEN,
		    "Written as ONNX and read back, the model has other canonical bytes.");
	else if (part && (there_and_back(part, &part_back, &err) || run_seed(part, 1, &a, &err) ||
			  run_seed(part_back, 1, &b, &err)))
		say(c, PM_CONSTRAINT_SERIALIZABLE, PM_BROKEN, "%.220s", err.text);
	else if (part && !(same = same_by_name(part, &a, part_back, &b)))
		say(c, PM_CONSTRAINT_SERIALIZABLE, PM_BROKEN,
		    "Written as ONNX and read back, the model gives other outputs.");
	else
		say(c, PM_CONSTRAINT_SERIALIZABLE, PM_HOLDS, "Same canonical bytes%s.",
		    part ? ", same outputs bit for bit" : "; nothing was run");
	outputs_release(&a);
	outputs_release(&b);
	pm_graph_free(back);
	pm_graph_free(part_back);
}

/* ---- in parts ---- */

typedef struct Chain {
	const PmGraph *g;
	PmCutter *cutter;
	PmTensor **at; /* by value id: borrowed from `in` or from `made` */
	PM_VEC(PmTensor *) made;
	uint32_t *part; /* by node id: 1 + connected part of the stretch at hand */
} Chain;

static PmStatus run_part(Chain *x, const PmNode *nodes, size_t n, PmErr *err)
{
	PmGraph *sub = NULL;
	Outputs o = { NULL, 0 };
	PmStatus st = pm_cutter_cut(x->cutter, nodes, n, &sub, err);
	size_t i, n_in = st ? 0 : pm_graph_n_inputs(sub);
	PmTensor *in = pm_xcalloc(n_in + 1, sizeof *in);

	for (i = 0; i < n_in; i++)
		in[i] = *x->at[pm_graph_find_value(x->g, pm_value_name(sub, pm_graph_input(sub, i))).id];
	if (!st)
		st = run(sub, in, &o, err);
	for (i = 0; i < o.n; i++) {
		PmTensor *t = pm_xcalloc(1, sizeof *t);

		*t = o.v[i];
		PM_VEC_PUSH(&x->made, t);
		x->at[pm_graph_find_value(x->g, pm_value_name(sub, pm_graph_output(sub, i))).id] = t;
	}
	free(o.v);
	free(in);
	pm_graph_free(sub);
	return st;
}

/* Gives each node of a stretch the number of its connected part, by spreading the least number. */
static void find_parts(Chain *x, size_t from, size_t end)
{
	size_t i, k;
	int changed = 1;

	for (i = from; i < end; i++)
		x->part[pm_graph_node_at(x->g, i).id] = (uint32_t)i + 1;
	while (changed) {
		changed = 0;
		for (i = from; i < end; i++) {
			PmNode n = pm_graph_node_at(x->g, i);

			for (k = 0; k < pm_node_n_in(x->g, n); k++) {
				PmNode d = pm_value_def(x->g, pm_node_in(x->g, n, k), NULL);
				uint32_t *a = &x->part[n.id], *b = &x->part[d.id];

				if (!d.id || !*b || *b <= from || *a == *b)
					continue;
				*a = *b = *a < *b ? *a : *b;
				changed = 1;
			}
		}
	}
}

/* A stretch of the execution order is convex, and so are its connected parts. */
static PmStatus run_stretch(Chain *x, size_t from, size_t end, PmErr *err)
{
	PmNode *nodes = pm_xcalloc(end - from + 1, sizeof *nodes);
	PmStatus st = PM_OK;
	size_t p, i, n;

	find_parts(x, from, end);
	for (p = from; p < end && !st; p++) {
		n = 0;
		for (i = from; i < end; i++) {
			PmNode at = pm_graph_node_at(x->g, i);

			if (x->part[at.id] == p + 1)
				nodes[n++] = at;
		}
		if (n)
			st = run_part(x, nodes, n, err);
	}
	free(nodes);
	return st;
}

/* Runs g on `in` in PARTS stretches cut at random; copies nothing: *out borrows until the chain is released.
 */
static PmStatus run_chain(Chain *x, PmTensor *in, uint64_t seed, Outputs *out, PmErr *err)
{
	size_t n = pm_graph_n_nodes(x->g), from = 0, i;
	PmStatus st = pm_cutter_new(x->g, NULL, &x->cutter, err);
	PmRng rng;

	pm_rng_init(&rng, seed);
	x->at = pm_xcalloc((size_t)pm_graph_value_limit(x->g) + 1, sizeof *x->at);
	x->part = pm_xcalloc((size_t)pm_graph_node_limit(x->g) + 1, sizeof *x->part);
	for (i = 0; i < pm_graph_n_inputs(x->g); i++)
		x->at[pm_graph_input(x->g, i).id] = &in[i];
	for (i = 0; i < PARTS && !st && from < n; i++) {
		size_t end = i + 1 == PARTS ? n : (size_t)pm_rng_range(&rng, (int64_t)from + 1, (int64_t)n);

		st = run_stretch(x, from, end, err);
		from = end;
	}
	out->n = pm_graph_n_outputs(x->g);
	out->v = pm_xcalloc(out->n + 1, sizeof *out->v);
	for (i = 0; i < out->n && !st; i++) {
		const PmTensor *t = x->at[pm_graph_output(x->g, i).id];

		if (!t)
			return pm_err(err, PM_E_INTERNAL, "Output %zu is in no part.", i);
		out->v[i] = *t;
	}
	return st;
}

static void chain_release(Chain *x)
{
	size_t i;

	for (i = 0; i < x->made.n; i++) {
		pm_tensor_release(x->made.v[i]);
		free(x->made.v[i]);
	}
	PM_VEC_RELEASE(&x->made);
	pm_cutter_free(x->cutter);
	free(x->at);
	free(x->part);
}

typedef struct Parts {
	PmConstraints *c;
	int runs, same;
} Parts;

/* 1 when a value of another floating point type is left: it would be rounded at the border of a part. */
static int has_narrow_values(const PmGraph *g)
{
	uint32_t id;

	for (id = 1; id < pm_graph_value_limit(g); id++) {
		int dtype = pm_value_type(g, (PmValue){ id })->dtype;

		if (pm_dtype_is_float(dtype) && dtype != PM_F64)
			return 1;
	}
	return 0;
}

/* `g` in double precision: between parts nothing is rounded, as inside them. */
static PmStatus compare_parts(void *arg, const PmGraph *g, const char *label, int shape, int dtype,
			      PmErr *err)
{
	Parts *p = arg;
	Chain x = { .g = g };
	Outputs whole = { NULL, 0 }, parts = { NULL, 0 };
	size_t n = pm_graph_n_inputs(g);
	PmTensor *in;
	PmStatus st;

	(void)label;
	(void)shape;
	(void)dtype;
	if (has_narrow_values(g))
		return PM_OK;
	in = pm_xcalloc(n + 1, sizeof *in);
	st = pm_inputs_make(g, 1, PM_INPUTS_NORMAL, in, err);
	if (!st)
		st = run(g, in, &whole, err);
	if (!st)
		st = run_chain(&x, in, (uint64_t)p->c->n_nodes, &parts, err);
	if (!st) {
		p->runs++;
		p->same += same_bits(&whole, &parts);
	}
	chain_release(&x);
	free(parts.v);
	outputs_release(&whole);
	pm_tensors_release(in, n);
	free(in);
	return st;
}

static void check_decomposable(const PmGraph *part, PmConstraints *c)
{
	PmVariantOpts wide = { .n_shapes = 1, .dtypes = 1u << PM_F64, .max_elements = (int64_t)1 << 40 };
	Parts p = { c, 0, 0 };
	PmErr err;

	pm_err_init(&err);
	if (pm_variants_make(part, &wide, compare_parts, &p, NULL, &err))
		say(c, PM_CONSTRAINT_DECOMPOSABLE, PM_BROKEN, "%.220s", err.text);
	else if (!p.runs)
		say(c, PM_CONSTRAINT_DECOMPOSABLE, PM_UNDECIDED,
		    "The part that runs has no form in double precision to compare in.");
	else if (p.same != p.runs)
		say(c, PM_CONSTRAINT_DECOMPOSABLE, PM_BROKEN, "Run in %d parts, it gives other outputs.",
		    PARTS);
	else
		say(c, PM_CONSTRAINT_DECOMPOSABLE, PM_HOLDS,
		    "%d nodes run in %d convex stretches give the same outputs bit for bit.", c->n_run,
		    PARTS);
}

/* ---- all ---- */

void pm_constraints_check(const PmGraph *g, const PmConstraintOpts *opts, PmConstraints *out)
{
	int64_t max_flops = opts && opts->max_flops ? opts->max_flops : 20000000;
	int seeds = opts && opts->seeds ? opts->seeds : 3;
	PmGraph *part = NULL;
	PmErr err;

	memset(out, 0, sizeof *out);
	pm_err_init(&err);
	out->n_nodes = (int)pm_graph_n_nodes(g);
	check_analyzable(g, out);
	check_custom_ops(g, out);
	if (pm_feasible_cut(g, max_flops, &part, &err)) {
		say(out, PM_CONSTRAINT_RUNNABLE, PM_UNDECIDED, "%.220s", err.text);
		say(out, PM_CONSTRAINT_DECOMPOSABLE, PM_UNDECIDED, "%.220s", err.text);
	} else {
		out->n_run = (int)pm_graph_n_nodes(part);
		check_runnable(part, seeds, out);
		if (out->of[PM_CONSTRAINT_RUNNABLE].verdict == PM_HOLDS)
			check_decomposable(part, out);
		else
			say(out, PM_CONSTRAINT_DECOMPOSABLE, PM_UNDECIDED, "It does not run.");
	}
	check_serializable(g, out->of[PM_CONSTRAINT_RUNNABLE].verdict == PM_HOLDS ? part : NULL, out);
	pm_graph_free(part);
}

int pm_constraints_hold(const PmConstraints *c)
{
	int k;

	for (k = 0; k < PM_N_CONSTRAINTS; k++) {
		if (c->of[k].verdict == PM_BROKEN)
			return 0;
	}
	return 1;
}

cJSON *pm_constraints_json(const PmConstraints *c)
{
	cJSON *o = cJSON_CreateObject();
	int k;

	for (k = 0; k < PM_N_CONSTRAINTS; k++) {
		cJSON *e = cJSON_AddObjectToObject(o, pm_constraint_name((PmConstraintKind)k));

		cJSON_AddStringToObject(e, "verdict", pm_constraint_verdict(c->of[k].verdict));
		cJSON_AddStringToObject(e, "why", c->of[k].why);
	}
	pm_json_add_i64(o, "nodes", c->n_nodes);
	pm_json_add_i64(o, "nodes_run", c->n_run);
	return o;
}
