/* bound.c - runs a graph in double precision with a unit of error beside each value. */
#include "bench/bound_priv.h"

#include "ir/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "strict", "tf32", "bf16", "none" };

const char *pm_lane_name(PmLane lane)
{
	return names[lane <= PM_LANE_NONE ? lane : PM_LANE_NONE];
}

int pm_lane_from_name(const char *name, PmLane *lane)
{
	for (int k = 0; k < PM_LANE_NONE; k++)
		if (!strcmp(name, names[k])) {
			*lane = (PmLane)k;
			return 1;
		}
	return 0;
}

double pm__bound_ud(int dtype)
{
	return dtype == PM_F64    ? 0x1p-53
	       : dtype == PM_F32  ? 0x1p-24
	       : dtype == PM_F16  ? 0x1p-11
	       : dtype == PM_BF16 ? 0x1p-8
				  : 0;
}

double pm__bound_tiny(int dtype)
{
	return dtype == PM_F64    ? 0x1p-1074
	       : dtype == PM_F32  ? 0x1p-149
	       : dtype == PM_F16  ? 0x1p-24
	       : dtype == PM_BF16 ? 0x1p-133
				  : 0;
}

double pm__bound_largest(int dtype)
{
	return dtype == PM_F64    ? INFINITY
	       : dtype == PM_F32  ? 0x1.fffffep127
	       : dtype == PM_F16  ? 65504
	       : dtype == PM_BF16 ? 0x1.fep127
				  : INFINITY;
}

double pm__bound_u(int dtype)
{
	return dtype == PM_F64 ? 0x1p-53 : 0x1p-24;
}

double *pm__bound_full(const PmBoundCall *c, size_t k)
{
	const PmBound *b = &c->in[k];
	int dtype = b->y.type.dtype;
	double ud = pm__bound_ud(dtype), tiny = pm__bound_tiny(dtype), top = pm__bound_largest(dtype), *f;

	if (!b->y.numel || (!b->unit && !b->rounds))
		return NULL;
	f = pm_xcalloc((size_t)b->y.numel, sizeof *f);
	for (int64_t i = 0; i < b->y.numel; i++) {
		f[i] = b->unit ? b->unit[i] : 0;
		if (b->rounds && b->y.f)
			f[i] = fabs(b->y.f[i]) > top && !isinf(b->y.f[i])
				       ? INFINITY
				       : f[i] + (isfinite(b->y.f[i]) ? ud * fabs(b->y.f[i]) + tiny : 0);
	}
	return f;
}

PmStatus pm__bound_again(const PmBoundCall *c, const PmRefTensor *in, PmRefTensor *out, PmErr *err)
{
	PmRefCall call = c->call;
	PmStatus st = PM_OK;

	call.in = in;
	call.out = out;
	memset(out, 0, c->call.n_out * sizeof *out);
	for (size_t k = 0; k < c->call.n_out && !st; k++)
		st = pm_ref_tensor_init(&out[k], &c->call.out[k].type, err);
	return st ? st : pm_ref_node(&call, err);
}

double *pm__bound_unit(PmBoundCall *c, size_t k)
{
	if (!c->out[k].unit)
		c->out[k].unit = pm_xcalloc((size_t)c->call.out[k].numel + 1, sizeof(double));
	return c->out[k].unit;
}

double pm__bound_terms(const PmBoundCall *c)
{
	int64_t n = c->call.out[0].numel, most = 0;

	for (size_t k = 0; k < c->call.n_in; k++)
		if (c->call.in[k].numel > most)
			most = c->call.in[k].numel;
	if (pm_op_desc(pm_node_op(c->call.g, c->call.node))->flags & PM_OPF_DOT)
		most = pm_op_flops(c->call.g, c->call.node) / 2;
	return n > 0 && most > n ? (double)most / (double)n : 1;
}

void pm__bound_release_all(PmRefTensor *t, size_t n)
{
	for (size_t k = 0; k < n; k++)
		pm_ref_tensor_release(&t[k]);
}

void pm__bound_lose(PmBoundCall *c)
{
	for (size_t k = 0; k < c->call.n_out; k++)
		c->out[k].known = 0;
}

void pm__bound_rounded(PmBoundCall *c)
{
	for (size_t k = 0; k < c->call.n_out; k++)
		c->out[k].rounds = c->call.out[k].f != NULL;
}

/* ---- a run ---- */

typedef struct Run {
	const PmGraph *g;
	PmLane lane;
	PmBound *val;   /* by value id */
	uint32_t *left; /* uses still to come, outputs included */
	uint8_t *has;
} Run;

static void release(PmBound *b)
{
	pm_ref_tensor_release(&b->y);
	free(b->unit);
	free(b->mass);
	memset(b, 0, sizeof *b);
}

static PmStatus load(const PmTensor *from, PmBound *to, PmErr *err)
{
	PmStatus st = pm_ref_tensor_init(&to->y, &from->type, err);

	to->known = 1;
	for (int64_t i = 0; i < to->y.numel && !st; i++) {
		if (to->y.f)
			to->y.f[i] = pm_tensor_get(from, i);
		else
			to->y.i[i] = pm_tensor_get_i(from, i);
	}
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
		elements += c->call.out[k].numel;
	}
	if (known && elements)
		st = rule(c, err);
	settle(c);
	return st;
}

static PmStatus step(Run *r, PmNode n, PmErr *err)
{
	size_t n_in = pm_node_n_in(r->g, n), n_out = pm_node_n_out(r->g, n);
	PmBoundCall c = { .lane = r->lane };
	PmRefTensor *in = pm_xcalloc(n_in + 1, sizeof *in), *out = pm_xcalloc(n_out + 1, sizeof *out);
	PmStatus st = PM_OK;

	c.in = pm_xcalloc(n_in + 1, sizeof *c.in);
	c.out = pm_xcalloc(n_out + 1, sizeof *c.out);
	c.call = (PmRefCall){ r->g, n, in, n_in, out, n_out };
	for (size_t k = 0; k < n_in && !st; k++) {
		PmValue v = pm_node_in(r->g, n, k);

		in[k].type = c.in[k].y.type = pm_type_unknown();
		if (!v.id)
			continue;
		st = need(r, v, err);
		c.in[k] = r->val[v.id];
		in[k] = c.in[k].y;
	}
	for (size_t k = 0; k < n_out && !st; k++)
		st = pm_ref_tensor_init(&out[k], pm_value_type(r->g, pm_node_out(r->g, n, k)), err);
	if (!st)
		st = pm_ref_node(&c.call, err);
	if (!st)
		st = apply_rule(&c, err);
	for (size_t k = 0; k < n_out; k++) {
		PmValue v = pm_node_out(r->g, n, k);

		c.out[k].y = out[k];
		if (st || !r->left[v.id]) {
			release(&c.out[k]);
		} else {
			r->val[v.id] = c.out[k];
			r->has[v.id] = 1;
		}
	}
	for (size_t k = 0; k < n_in; k++) {
		PmValue v = pm_node_in(r->g, n, k);

		if (v.id && r->left[v.id] && !--r->left[v.id] && r->has[v.id]) {
			release(&r->val[v.id]);
			r->has[v.id] = 0;
		}
	}
	free(c.in);
	free(c.out);
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

static PmStatus copy(const PmBound *from, PmBound *to, PmErr *err)
{
	size_t n = (size_t)from->y.numel;
	PmStatus st = pm_ref_tensor_init(&to->y, &from->y.type, err);

	to->rounds = from->rounds;
	to->known = from->known;
	if (st || !n)
		return st;
	if (from->unit) {
		to->unit = pm_xcalloc(n, sizeof *to->unit);
		memcpy(to->unit, from->unit, n * sizeof *to->unit);
	}
	memcpy(to->y.f ? (void *)to->y.f : (void *)to->y.i,
	       from->y.f ? (const void *)from->y.f : (const void *)from->y.i, n * sizeof(double));
	return PM_OK;
}

static PmStatus run_on(Run *r, const PmTensor *in, PmBound *out, size_t n_out, PmErr *err)
{
	PmStatus st = PM_OK;

	count_uses(r);
	for (size_t k = 0; k < pm_graph_n_inputs(r->g) && !st; k++) {
		uint32_t id = pm_graph_input(r->g, k).id;

		st = load(&in[k], &r->val[id], err);
		r->has[id] = 1;
	}
	for (size_t i = 0; i < pm_graph_n_nodes(r->g) && !st; i++)
		st = step(r, pm_graph_node_at(r->g, i), err);
	for (size_t k = 0; k < n_out && !st; k++) {
		PmValue v = pm_graph_output(r->g, k);

		st = need(r, v, err);
		if (!st)
			st = copy(&r->val[v.id], &out[k], err);
	}
	return st;
}

PmStatus pm_bound_run(const PmGraph *g, const PmTensor *in, size_t n_in, PmLane lane, PmBound *out,
		      size_t n_out, PmErr *err)
{
	Run r = { .g = g, .lane = lane };
	uint32_t limit = pm_graph_value_limit(g) + 1;
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

void pm_bounds_release(PmBound *b, size_t n)
{
	for (size_t i = 0; b && i < n; i++)
		release(&b[i]);
}
