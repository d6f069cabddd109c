/* SPDX-License-Identifier: Apache-2.0 */
/* host_api.c - the functions that a plugin may call (PmHost of passmith/pass.h).
 *
 * Every handle is looked up in the round that runs; every call costs a step. A call that cannot be answered
 * answers as for "none", so a plugin never needs to check before it reads.
 */
#include "matcher/rewrite/rewrite.h"
#include "matcher/rewrite/rule_stats.h"
#include "matcher/rewrite/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The session, when a callback runs and has steps left; else NULL. */
static PmSession *step(uint64_t cost)
{
	PmSession *s = pm__session_current();

	if (!s)
		return NULL;
	s->steps += cost;
	if (s->steps > PM_CALLBACK_STEPS) {
		s->over = 1;
		return NULL;
	}
	return s;
}

/* The value of a handle, or NULL when there is no session; none ({0}) for a bad handle. */
static PmSession *look(PmVal h, PmValue *v)
{
	PmSession *s = step(1);

	*v = (PmValue){ 0 };
	if (s)
		pm__unhandle(s, h, v);
	return s;
}

static PmSession *look_node(PmVal h, PmNode *n)
{
	PmValue v;
	PmSession *s = look(h, &v);

	*n = s ? pm_value_def(s->g, v, NULL) : (PmNode){ 0 };
	return n->id ? s : NULL;
}

/* ---- values ---- */

static int32_t h_dtype(PmVal h)
{
	PmValue v;
	PmSession *s = look(h, &v);

	return s && v.id ? pm_value_type(s->g, v)->dtype : -1;
}

static int32_t h_rank(PmVal h)
{
	PmValue v;
	PmSession *s = look(h, &v);

	return s && v.id ? pm_value_type(s->g, v)->rank : -1;
}

/* The dimension, or NULL. */
static const PmDim *dim_of(PmVal h, int32_t k)
{
	PmValue v;
	PmSession *s = look(h, &v);
	const PmType *t = s && v.id ? pm_value_type(s->g, v) : NULL;

	if (!t)
		return NULL;
	if (k < 0 && k >= -t->rank)
		k += t->rank;
	return k >= 0 && k < t->rank ? &t->dim[k] : NULL;
}

static int64_t h_dim(PmVal h, int32_t k)
{
	const PmDim *d = dim_of(h, k);

	return d && *d >= 0 ? *d : -1;
}

static int32_t h_same_dim(PmVal a, int32_t i, PmVal b, int32_t j)
{
	const PmDim *x = dim_of(a, i), *y = dim_of(b, j);

	return x && y && *x == *y;
}

static int32_t h_same_type(PmVal a, PmVal b)
{
	PmValue v, w;
	PmSession *s = look(a, &v);

	if (!s || !look(b, &w) || !v.id || !w.id)
		return 0;
	return pm_type_equal(pm_value_type(s->g, v), pm_value_type(s->g, w));
}

static int32_t h_is_const(PmVal h)
{
	PmValue v;
	PmSession *s = look(h, &v);

	return s && v.id && pm_value_is_const(s->g, v);
}

static int32_t h_is_output(PmVal h)
{
	PmValue v;
	PmSession *s = look(h, &v);

	return s && v.id && pm_value_is_output(s->g, v);
}

static int32_t h_scalar(PmVal h, double *out)
{
	PmValue v;
	PmSession *s = look(h, &v);
	double x;
	size_t n;

	if (!s || !v.id || pm_value_const_floats(s->g, v, &x, 1, &n) != PM_OK || n != 1)
		return 0;
	*out = x;
	return 1;
}

static int32_t h_ints(PmVal h, int64_t *out, uint32_t max)
{
	PmValue v;
	PmSession *s = look(h, &v);
	size_t n;

	if (!s || !v.id || pm_value_const_ints(s->g, v, out, max, &n) != PM_OK || n > INT32_MAX)
		return -1;
	return (int32_t)n;
}

static int32_t h_floats(PmVal h, double *out, uint32_t max)
{
	PmValue v;
	PmSession *s = look(h, &v);
	size_t n;

	if (!s || !v.id || pm_value_const_floats(s->g, v, out, max, &n) != PM_OK || n > INT32_MAX)
		return -1;
	return (int32_t)n;
}

/* ---- nodes ---- */

static const char *h_op(PmVal h)
{
	PmNode n;
	PmSession *s = look_node(h, &n);

	return s ? pm_node_op_name(s->g, n) : "";
}

static const char *h_expr(PmVal h)
{
	PmNode n;
	PmSession *s = look_node(h, &n);
	const PmOpDesc *d;

	if (!s || pm_node_op(s->g, n) == PM_OP_NONE)
		return NULL;
	d = pm_op_desc(pm_node_op(s->g, n));
	return pm_dtype_is_float(pm_value_type(s->g, pm_node_in(s->g, n, 0))->dtype) ? d->expr : d->iexpr;
}

static int32_t h_result_index(PmVal h)
{
	PmValue v;
	PmSession *s = look(h, &v);
	size_t k = 0;

	return s && pm_value_def(s->g, v, &k).id ? (int32_t)k : -1;
}

static uint32_t h_n_in(PmVal h)
{
	PmNode n;
	PmSession *s = look_node(h, &n);

	return s ? (uint32_t)pm_node_n_in(s->g, n) : 0;
}

static PmVal h_in(PmVal h, uint32_t k)
{
	PmNode n;
	PmSession *s = look_node(h, &n);

	return s ? pm__handle(s, pm_node_in(s->g, n, k)) : (PmVal){ 0 };
}

static uint32_t h_n_out(PmVal h)
{
	PmNode n;
	PmSession *s = look_node(h, &n);

	return s ? (uint32_t)pm_node_n_out(s->g, n) : 0;
}

static PmVal h_out(PmVal h, uint32_t k)
{
	PmNode n;
	PmSession *s = look_node(h, &n);

	return s ? pm__handle(s, pm_node_out(s->g, n, k)) : (PmVal){ 0 };
}

static uint32_t h_n_uses(PmVal h)
{
	PmValue v;
	PmSession *s = look(h, &v);

	return s && v.id ? (uint32_t)pm_value_n_uses(s->g, v) : 0;
}

static PmVal h_user(PmVal h, uint32_t i)
{
	PmValue v;
	PmSession *s = look(h, &v);
	PmUse u;

	if (!s || !v.id || i >= pm_value_n_uses(s->g, v) || !step(i))
		return (PmVal){ 0 };
	u = pm_value_first_use(s->g, v);
	while (u.slot && i--)
		u = pm_use_next(s->g, u);
	return u.slot ? pm__handle(s, pm_node_out(s->g, u.node, 0)) : (PmVal){ 0 };
}

static int64_t h_attr_i(PmVal h, const char *name, int64_t dflt)
{
	PmNode n;
	PmSession *s = look_node(h, &n);

	return s && name ? pm_node_i(s->g, n, name, dflt) : dflt;
}

static double h_attr_f(PmVal h, const char *name, double dflt)
{
	PmNode n;
	PmSession *s = look_node(h, &n);

	return s && name ? pm_node_f(s->g, n, name, dflt) : dflt;
}

static const char *h_attr_s(PmVal h, const char *name, const char *dflt)
{
	PmNode n;
	PmSession *s = look_node(h, &n);

	return s && name ? pm_node_s(s->g, n, name, dflt) : dflt;
}

static int32_t h_attr_ints(PmVal h, const char *name, int64_t *out, uint32_t max)
{
	PmNode n;
	PmSession *s = look_node(h, &n);
	const PmAttr *a = s && name ? pm_node_attr(s->g, n, name) : NULL;

	if (!a || a->kind != PM_ATTR_INTS || a->n > max || a->n > INT32_MAX)
		return -1;
	if (a->n)
		memcpy(out, a->ints, a->n * sizeof *out);
	return (int32_t)a->n;
}

static int64_t h_order(PmVal h)
{
	PmNode n;
	PmSession *s = look_node(h, &n);

	return s && n.id < s->pos.n ? (int64_t)s->pos.v[n.id] : -1;
}

/* As runtime/eager/eager_ew.c gives them to eager kernels. */
static int32_t h_param(PmVal h, uint32_t k, double *out)
{
	PmNode n;
	PmSession *s = look_node(h, &n);
	const PmOpDesc *d;
	const PmAttr *a;

	if (!s || pm_node_op(s->g, n) == PM_OP_NONE)
		return 0;
	d = pm_op_desc(pm_node_op(s->g, n));
	if (k >= (uint32_t)d->n_attrs)
		return 0;
	a = pm_node_attr(s->g, n, d->attrs[k].name);
	*out = 0;
	if (!a)
		return 1;
	if (a->kind == PM_ATTR_FLOAT)
		*out = a->f;
	else if (a->kind == PM_ATTR_INT)
		*out = (double)a->i;
	else if (a->kind == PM_ATTR_STRING)
		*out = strcmp(a->s, d->attrs[k].s) != 0;
	else
		return 0;
	return 1;
}

/* There is one also where other functions answer as for "none". */
static const PmTarget *h_target(void)
{
	step(1);
	return pm_target_now();
}

static const PmTarget *h_trial(uint32_t i)
{
	step(1);
	return pm_target_trial(i);
}

static PmStatus h_expect(PmVal h, int32_t fused, uint32_t i, double microseconds)
{
	PmValue v;
	PmSession *s = look(h, &v);
	PmExpected *e;

	if (!s || !v.id || !pm_target_trial(i) || !isfinite(microseconds))
		return PM_E_INVALID;
	if (!i && s->expected.n < PM_MAX_EXPECTED) {
		PM_VEC_PUSH(&s->expected, ((PmExpected){ .fused = fused != 0 }));
		e = &s->expected.v[s->expected.n - 1];
		snprintf(e->value, sizeof e->value, "%s", pm_value_name(s->g, v));
	}
	e = s->expected.n ? &s->expected.v[s->expected.n - 1] : NULL;
	if (!e || i != e->n)
		return i ? PM_E_INVALID : PM_E_LIMIT;
	e->us[e->n++] = microseconds;
	return PM_OK;
}

/* ---- callbacks ---- */

static PmStatus h_decline(const char *why)
{
	PmSession *s = pm__session_current();

	if (s)
		snprintf(s->why, sizeof s->why, "%.*s", PM_MAX_REASON - 1, why ? why : "declined");
	return PM_DECLINED;
}

static void *h_alloc(uint32_t size)
{
	PmSession *s = step(1);

	if (!s)
		return NULL;
	if (!s->memory)
		s->memory = pm_arena_new(PM_CALLBACK_MEMORY);
	return pm_arena_alloc(s->memory, size);
}

static int32_t h_report(const char *text)
{
	PmSession *s = step(1);
	size_t room;

	if (!s || !s->reports)
		return 0;
	room = PM_MAX_REPORT - s->report.len;
	if (text && (s->rw || s->region))
		pm_str_addn(&s->report, text, strnlen(text, room));
	return 1;
}

static PmStatus h_replace_slot(PmRewriter *rw, uint32_t slot)
{
	PmSession *s = pm__session_current();

	if (!s)
		return PM_E_INVALID;
	if (!rw || rw != s->rw)
		return pm__misuse(s, "The plugin called pm_replace_slot() outside its rewrite callback.");
	return pm__rewriter_slot(rw, slot);
}

static PmStatus h_replace(PmRewriter *rw, const PmKernelSpec *spec)
{
	PmSession *s = pm__session_current();

	if (!s)
		return PM_E_INVALID;
	if (!rw || rw != s->rw)
		return pm__misuse(s, "The plugin described a kernel outside its rewrite callback.");
	return pm__rewriter_replace(rw, spec);
}

static PmStatus h_region_add(PmRegion *r, PmVal h)
{
	PmSession *s = step(1);
	PmValue v;
	PmNode n;

	if (!s)
		return PM_E_LIMIT;
	if (!r || r != s->region)
		return pm__misuse(s, "The plugin called pm_region_add() outside its region callback.");
	if (!pm__unhandle(s, h, &v))
		return PM_E_INVALID;
	n = pm_value_def(s->g, v, NULL);
	if (!n.id)
		return PM_DECLINED;
	while (r->has.n <= n.id)
		PM_VEC_PUSH(&r->has, 0);
	if (r->has.v[n.id])
		return PM_OK;
	if (r->node.n == PM_MAX_REGION_NODES)
		return PM_E_LIMIT;
	r->has.v[n.id] = 1;
	PM_VEC_PUSH(&r->node, n);
	return PM_OK;
}

static int32_t h_region_has(PmRegion *r, PmVal h)
{
	PmNode n;
	PmSession *s = look_node(h, &n);

	if (!s)
		return 0;
	if (!r || r != s->region) {
		pm__misuse(s, "The plugin called pm_region_has() outside its region callback.");
		return 0;
	}
	return n.id < r->has.n && r->has.v[n.id];
}

static uint32_t h_region_size(PmRegion *r)
{
	PmSession *s = step(1);

	if (!s)
		return 0;
	if (!r || r != s->region) {
		pm__misuse(s, "The plugin called pm_region_size() outside its region callback.");
		return 0;
	}
	return (uint32_t)r->node.n;
}

const PmHost *pm_host_v1(void)
{
	static const PmHost host = {
		.struct_size = sizeof(PmHost),
		.abi_major = PM_ABI_MAJOR,
		.abi_minor = PM_ABI_MINOR,
		.dtype = h_dtype,
		.rank = h_rank,
		.dim = h_dim,
		.same_dim = h_same_dim,
		.same_type = h_same_type,
		.is_const = h_is_const,
		.is_output = h_is_output,
		.scalar = h_scalar,
		.ints = h_ints,
		.floats = h_floats,
		.op = h_op,
		.expr = h_expr,
		.result_index = h_result_index,
		.n_in = h_n_in,
		.in = h_in,
		.n_out = h_n_out,
		.out = h_out,
		.n_uses = h_n_uses,
		.user = h_user,
		.attr_i = h_attr_i,
		.attr_f = h_attr_f,
		.attr_s = h_attr_s,
		.attr_ints = h_attr_ints,
		.decline = h_decline,
		.alloc = h_alloc,
		.replace_slot = h_replace_slot,
		.replace = h_replace,
		.region_add = h_region_add,
		.region_has = h_region_has,
		.region_size = h_region_size,
		.order = h_order,
		.param = h_param,
		.target = h_target,
		.report = h_report,
		.trial = h_trial,
		.expect = h_expect,
	};

	return &host;
}
