/* SPDX-License-Identifier: Apache-2.0 */
/* bound.c - runs a graph in double precision with a unit of error beside each value. */
#include "bench/compare/bound/bound_priv.h"

#include "ir/core/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "strict", "tf32", "bf16", "none" };

const char *pm_tier_name(PmPrecisionTier tier)
{
	return names[tier <= PM_TIER_NONE ? tier : PM_TIER_NONE];
}

int pm_tier_from_name(const char *name, PmPrecisionTier *tier)
{
	for (int k = 0; k < PM_TIER_NONE; k++)
		if (!strcmp(name, names[k])) {
			*tier = (PmPrecisionTier)k;
			return 1;
		}
	return 0;
}

typedef struct Run {
	const PmGraph *g;
	PmPrecisionTier tier;
	const PmBoundRows *rows; /* NULL = the whole */
	int kept;                /* values of half types are stored as float */
	PmBound *val;            /* by value id */
	uint32_t *left;          /* uses still to come, outputs included */
	uint8_t *has;
} Run;

static void release(PmBound *b)
{
	if (!b->lent)
		pm_ref_tensor_release(&b->y);
	pm_ref_tensor_release(&b->eager);
	pm_ref_tensor_release(&b->stored);
	free(b->unit);
	free(b->shared);
	free(b->scale);
	free(b->mass);
	memset(b, 0, sizeof *b);
}

static PmStatus load(const PmTensor *from, PmBound *to, PmErr *err)
{
	PmStatus st = pm_ref_tensor_init(&to->y, &from->type, err);

	to->known = 1;
	if (!st)
		pm_ref_load(&to->y, from);
	return st;
}

static PmStatus need(Run *r, PmValue v, PmErr *err)
{
	PmTensor t;
	PmStatus st;

	if (r->has[v.id])
		return PM_OK;
	if (!pm_value_is_const(r->g, v))
		return pm_err(err, PM_E_INVALID, "Value '%.200s' is used before it is computed.",
			      pm_value_name(r->g, v));
	st = pm_tensor_from_const(&t, r->g, v, err);
	if (st)
		return st;
	st = load(&t, &r->val[v.id], err);
	r->has[v.id] = !st;
	pm_tensor_release(&t);
	return st;
}

/* Units that are not numbers come of infinite ones times nothing: open. */
static void settle(PmBoundCall *c)
{
	for (size_t k = 0; k < c->call.n_out; k++)
		for (int64_t i = 0; c->out[k].unit && i < c->call.out[k].numel; i++)
			if (isnan(c->out[k].unit[i]))
				c->out[k].unit[i] = INFINITY;
}

static PmStatus apply_rule(PmBoundCall *c, PmErr *err)
{
	PmBoundRule *rule = pm__bound_rule(c);
	int known = 1;
	int64_t elements = 0;
	PmStatus st = PM_OK;

	for (size_t k = 0; k < c->call.n_in; k++)
		known = known && (c->in[k].known || !c->in[k].y.numel);
	for (size_t k = 0; k < c->call.n_out; k++) {
		c->out[k].known = known;
		c->out[k].alike = pm__bound_neighbours(&c->call.out[k]);
		elements += c->call.out[k].numel;
	}
	if (known && elements)
		st = rule(c, err);
	settle(c);
	for (size_t k = 0; k < c->call.n_out; k++) {
		PmBound *o = &c->out[k];

		o->equal = o->rounds && c->call.out[k].f ? pm__bound_rounded_alike(&c->call.out[k]) : 0;
		o->widened = c->widened;
		o->source = o->rounds || o->unit ? pm__bound_bit(c) : 0;
		for (size_t i = 0; i < c->call.n_in; i++) {
			o->source |= c->in[i].source;
			o->widened |= c->in[i].widened;
			o->lean = fmax(o->lean, c->in[i].lean);
		}
		o->inv = c->weight[k] > 0 ? c->spread[k] / c->weight[k] : 0;
		o->weight = c->weight[k];
		o->split = c->parts > 1;
	}
	return st;
}

/* Operand k as the eager run stores it: rounded to its type. Borrowed. */
static PmStatus stored(PmBound *b, PmRefTensor *t, PmErr *err)
{
	const PmRefTensor *from = b->eager.numel ? &b->eager : &b->y;
	PmStatus st;

	*t = *from;
	if (!from->f || !b->rounds || !pm_dtype_is_half(from->type.dtype))
		return PM_OK;
	if (!b->stored.numel) {
		st = pm_ref_tensor_init(&b->stored, &from->type, err);
		for (int64_t i = 0; !st && i < from->numel; i++)
			b->stored.f[i] = pm__bound_round(from->type.dtype, from->f[i]);
		if (st)
			return st;
	}
	*t = b->stored;
	return PM_OK;
}

/* The second reference, where it may differ from the first. `v` are the operands' stores. */
static PmStatus run_eager(PmBoundCall *c, PmBound **v, PmErr *err)
{
	PmRefTensor *in = pm_xcalloc(c->call.n_in + 1, sizeof *in), *out;
	int differs = 0;
	PmStatus st = PM_OK;

	for (size_t k = 0; k < c->call.n_in && !st; k++) {
		in[k] = c->call.in[k];
		if (!v[k] || !in[k].numel)
			continue;
		st = stored(v[k], &in[k], err);
		differs |= in[k].f != c->call.in[k].f || in[k].i != c->call.in[k].i;
	}
	if (!st && (differs || pm__bound_narrows(c))) {
		out = pm_xcalloc(c->call.n_out + 1, sizeof *out);
		st = pm__bound_again(c, in, out, err);
		for (size_t k = 0; k < c->call.n_out; k++)
			c->out[k].eager = out[k];
		free(out);
	}
	free(in);
	return st;
}

/* The reference, the eager run beside it (without `kept`), and what may lie between and around them. */
static PmStatus run_node(PmBoundCall *c, PmBound **v, int kept, PmErr *err)
{
	PmStatus st = pm_ref_node(&c->call, err);

	if (!st && !kept)
		st = run_eager(c, v, err);
	/* A kernel may leave a rounding out, and a Cast to the same type stores nothing anew. */
	if (!st && (pm__bound_narrows(c) || pm__bound_same_type(c)))
		memcpy(c->call.out[0].f, c->call.in[0].f, (size_t)c->call.out[0].numel * sizeof(double));
	return st ? st : apply_rule(c, err);
}

static PmStatus load_operands(Run *r, PmNode n, PmBoundCall *c, PmRefTensor *in, PmBound **v, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < c->call.n_in && !st; k++) {
		PmValue value = pm_node_in(r->g, n, k);

		in[k].type = c->in[k].y.type = pm_type_unknown();
		if (!value.id)
			continue;
		st = need(r, value, err);
		v[k] = &r->val[value.id];
		c->in[k] = *v[k];
		in[k] = c->in[k].y;
		if (r->kept && c->in[k].rounds && pm_dtype_is_half(in[k].type.dtype))
			c->in[k].y.type.dtype = PM_F32;
	}
	return st;
}

static void keep_results(Run *r, PmNode n, PmBoundCall *c, int failed)
{
	for (size_t k = 0; k < c->call.n_out; k++) {
		PmValue v = pm_node_out(r->g, n, k);

		c->out[k].y = c->call.out[k];
		if (failed || !r->left[v.id]) {
			release(&c->out[k]);
		} else {
			r->val[v.id] = c->out[k];
			r->has[v.id] = 1;
		}
	}
	for (size_t k = 0; k < c->call.n_in; k++) {
		PmValue v = pm_node_in(r->g, n, k);

		if (v.id && r->left[v.id] && !--r->left[v.id] && r->has[v.id]) {
			release(&r->val[v.id]);
			r->has[v.id] = 0;
		}
	}
}

static PmStatus step(Run *r, PmNode n, PmErr *err)
{
	size_t n_in = pm_node_n_in(r->g, n), n_out = pm_node_n_out(r->g, n);
	PmBoundCall c = { .tier = r->tier, .parts = r->rows ? r->rows->parts : 1 };
	PmRefTensor *in = pm_xcalloc(n_in + 1, sizeof *in), *out = pm_xcalloc(n_out + 1, sizeof *out);
	PmBound **v = pm_xcalloc(n_in + 1, sizeof(void *));
	PmStatus st;

	c.in = pm_xcalloc(n_in + 1, sizeof *c.in);
	c.out = pm_xcalloc(n_out + 1, sizeof *c.out);
	c.weight = pm_xcalloc(n_out + 1, sizeof *c.weight);
	c.spread = pm_xcalloc(n_out + 1, sizeof *c.spread);
	c.call = (PmRefCall){ r->g, n, in, n_in, out, n_out };
	st = load_operands(r, n, &c, in, v, err);
	for (size_t k = 0; k < n_out && !st; k++)
		st = pm_ref_tensor_init(&out[k], pm_value_type(r->g, pm_node_out(r->g, n, k)), err);
	if (!st)
		st = run_node(&c, v, r->kept, err);
	keep_results(r, n, &c, st != PM_OK);
	free(v);
	free(c.in);
	free(c.out);
	free(c.weight);
	free(c.spread);
	free(in);
	free(out);
	return st;
}

static int is_static(const PmGraph *g)
{
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		if (!pm_op_desc(pm_node_op(g, n)) || pm_node_op(g, n) == PM_OP_Kernel)
			return 0;
		for (size_t k = 0; k < pm_node_n_out(g, n); k++)
			if (!pm_type_is_static(pm_value_type(g, pm_node_out(g, n, k))))
				return 0;
	}
	return 1;
}

static void count_uses(Run *r)
{
	for (size_t i = 0; i < pm_graph_n_nodes(r->g); i++) {
		PmNode n = pm_graph_node_at(r->g, i);

		for (size_t k = 0; k < pm_node_n_in(r->g, n); k++)
			r->left[pm_node_in(r->g, n, k).id]++;
	}
	for (size_t i = 0; i < pm_graph_n_outputs(r->g); i++)
		r->left[pm_graph_output(r->g, i).id]++;
}

static PmStatus copy_values(const PmRefTensor *from, PmRefTensor *to, PmErr *err)
{
	PmStatus st = pm_ref_tensor_init(to, &from->type, err);

	if (!st && from->numel)
		memcpy(to->f ? (void *)to->f : (void *)to->i,
		       from->f ? (const void *)from->f : (const void *)from->i,
		       (size_t)from->numel * sizeof(double));
	return st;
}

static double *copy_errors(const double *from, size_t n)
{
	double *to = from ? pm_xcalloc(n + 1, sizeof *to) : NULL;

	return from ? memcpy(to, from, n * sizeof *to) : NULL;
}

static PmStatus copy(const PmBound *from, PmBound *to, PmErr *err)
{
	size_t n = (size_t)from->y.numel;
	PmStatus st = copy_values(&from->y, &to->y, err);

	if (!st && from->eager.numel)
		st = copy_values(&from->eager, &to->eager, err);
	to->widened = from->widened;
	to->alike = from->alike;
	to->rounds = from->rounds;
	to->known = from->known;
	to->repeats = from->repeats;
	to->inv = from->inv;
	to->weight = from->weight;
	to->lean = from->lean;
	to->source = from->source;
	to->unit = copy_errors(from->unit, n);
	to->shared = copy_errors(from->shared, n);
	return st;
}

/* The last use of a value is as this result: it need not be held twice. What only a run needs is freed. */
static void hand_over(Run *r, PmValue v, PmBound *to)
{
	*to = r->val[v.id];
	memset(&r->val[v.id], 0, sizeof r->val[v.id]);
	r->has[v.id] = 0;
	pm_ref_tensor_release(&to->stored);
	free(to->scale);
	free(to->mass);
	to->scale = to->mass = NULL;
}

static PmStatus load_input(const Run *r, const PmTensor *in, size_t k, PmBound *to, PmErr *err)
{
	if (!r->rows || r->rows->split[k]) {
		to->split = r->rows != NULL;
		return load(in, to, err);
	}
	to->y = r->rows->wide[k];
	to->lent = to->known = 1;
	return PM_OK;
}

static PmStatus run_on(Run *r, const PmTensor *in, PmBound *out, size_t n_out, PmErr *err)
{
	PmStatus st = PM_OK;

	count_uses(r);
	for (size_t k = 0; k < pm_graph_n_inputs(r->g) && !st; k++) {
		uint32_t id = pm_graph_input(r->g, k).id;

		st = load_input(r, &in[k], k, &r->val[id], err);
		r->has[id] = 1;
	}
	for (size_t i = 0; i < pm_graph_n_nodes(r->g) && !st; i++)
		st = step(r, pm_graph_node_at(r->g, i), err);
	for (size_t k = 0; k < n_out && !st; k++) {
		PmValue v = pm_graph_output(r->g, k);

		st = need(r, v, err);
		if (!st && r->left[v.id] == 1 && !r->val[v.id].lent)
			hand_over(r, v, &out[k]);
		else if (!st)
			st = copy(&r->val[v.id], &out[k], err);
	}
	return st;
}

static PmStatus run_all(Run *run, const PmTensor *in, size_t n_in, PmBound *out, size_t n_out, PmErr *err)
{
	const PmGraph *g = run->g;
	uint32_t limit = pm_graph_value_limit(g) + 1;
	Run r = *run;
	PmStatus st;

	memset(out, 0, n_out * sizeof *out);
	if (!is_static(g))
		return pm_err(
			err, PM_E_UNSUPPORTED,
			"Graph '%.100s' has types that only a run tells; there is no error bound for it.",
			pm_graph_name(g));
	if (n_in != pm_graph_n_inputs(g) || n_out != pm_graph_n_outputs(g))
		return pm_err(err, PM_E_INVALID, "Graph '%.100s' has another number of inputs or outputs.",
			      pm_graph_name(g));
	r.val = pm_xcalloc(limit, sizeof *r.val);
	r.left = pm_xcalloc(limit, sizeof *r.left);
	r.has = pm_xcalloc(limit, 1);
	st = run_on(&r, in, out, n_out, err);
	for (uint32_t v = 0; v < limit; v++)
		release(&r.val[v]);
	free(r.val);
	free(r.left);
	free(r.has);
	if (st)
		pm_bounds_release(out, n_out);
	return st;
}

PmStatus pm_bound_run(const PmGraph *g, const PmTensor *in, size_t n_in, PmPrecisionTier tier, PmBound *out,
		      size_t n_out, PmErr *err)
{
	return run_all(&(Run){ .g = g, .tier = tier }, in, n_in, out, n_out, err);
}

PmStatus pm_bound_part(const PmGraph *g, const PmTensor *in, size_t n_in, const PmBoundRows *rows,
		       PmPrecisionTier tier, PmBound *out, size_t n_out, PmErr *err)
{
	return run_all(&(Run){ .g = g, .tier = tier, .rows = rows }, in, n_in, out, n_out, err);
}

PmStatus pm_bound_kept(const PmGraph *g, const PmTensor *in, size_t n_in, PmBound *out, size_t n_out,
		       PmErr *err)
{
	return run_all(&(Run){ .g = g, .tier = PM_TIER_STRICT, .kept = 1 }, in, n_in, out, n_out, err);
}

void pm_bounds_release(PmBound *b, size_t n)
{
	for (size_t i = 0; b && i < n; i++)
		release(&b[i]);
}
