/* SPDX-License-Identifier: Apache-2.0 */
/* compile_tables.c - plans as the tables of a package. */
#include "app/compile/compile_priv.h"

#include "base/core/arena.h"

#include <string.h>

/* ---- values ---- */

/* A value in the model as it was read, whose sizes are open, and in the first shape. */
static PmStatus add_value(PmPackage *p, PmValue open, PmValue bound, PmErr *err)
{
	const PmGraph *g = p->shape.v[0].apply.after;
	const PmType *t = pm_value_type(g, bound), *o = pm_value_type(p->open, open);
	PmRtfValue v = { .name = pm__text(p, pm_value_name(g, bound)),
			 .type = pm__onnx_type(t->dtype),
			 .rank = (uint32_t)t->rank };

	if (!v.type || t->rank > PM_RTF_RANK)
		return pm_err(err, PM_E_UNSUPPORTED,
			      "Value '%.120s' has type %s and rank %d; packages have values of at most rank "
			      "%d, and no "
			      "narrow types.",
			      pm_value_name(g, bound), pm_dtype_name(t->dtype), (int)t->rank, PM_RTF_RANK);
	for (int k = 0; k < PM_RTF_RANK; k++)
		v.symbol[k] = PM_RTF_NONE;
	for (int k = 0; k < t->rank; k++) {
		PmDim d = o->rank == t->rank ? o->dim[k] : -1;
		const char *symbol = o->rank == t->rank && d < 0 ? pm_graph_symbol_name(p->open, d) : NULL;

		v.dim[k] = d < 0 ? -1 : d;
		if (symbol)
			v.symbol[k] = pm__text(p, symbol);
	}
	PM_VEC_PUSH(&p->value, v);
	return PM_OK;
}

static PmStatus add_values(PmPackage *p, PmErr *err)
{
	const PmGraph *g = p->shape.v[0].apply.after;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_inputs(g) && !st; i++)
		st = add_value(p, pm_graph_input(p->open, i), pm_graph_input(g, i), err);
	for (size_t i = 0; i < pm_graph_n_outputs(g) && !st; i++)
		st = add_value(p, pm_graph_output(p->open, i), pm_graph_output(g, i), err);
	return st;
}

/* A size that one shape has otherwise than the model as it was read says is open. */
static void add_extent(PmPackage *p, size_t value, const PmType *t)
{
	PmRtfExtent e = { { 0 } };

	for (int k = 0; k < t->rank && k < PM_RTF_RANK; k++) {
		e.dim[k] = t->dim[k];
		if (p->value.v[value].dim[k] >= 0 && p->value.v[value].dim[k] != t->dim[k])
			p->value.v[value].dim[k] = -1;
	}
	PM_VEC_PUSH(&p->extent, e);
}

/* ---- calls ---- */

static int put(int64_t *v, int at, const int64_t *from, int n)
{
	memcpy(v + at, from, (size_t)n * sizeof *v);
	return at + n;
}

static void put_gemm(PmRtfCall *to, const PmLibGemm *g)
{
	const int64_t v[] = { g->m,     g->n,     g->k,       g->batch, g->a_row,   g->a_col,   g->a_batch,
			      g->b_row, g->b_col, g->b_batch, g->outer, g->a_outer, g->b_outer, g->c };

	put(to->v, 0, v, sizeof v / sizeof *v);
	to->alpha = g->alpha;
	to->beta = g->beta;
}

static void put_conv(PmRtfCall *to, const PmLibConv *c)
{
	const int64_t head[] = { c->spatial, c->transposed, c->groups, c->has_bias };
	int at = put(to->v, 0, head, 4);

	at = put(to->v, at, c->x, 5);
	at = put(to->v, at, c->w, 5);
	at = put(to->v, at, c->y, 5);
	at = put(to->v, at, c->pad, 3);
	at = put(to->v, at, c->stride, 3);
	at = put(to->v, at, c->dilation, 3);
	to->v[at] = c->constant;
}

/* Equal calls are one. */
static uint32_t add_call(PmPackage *p, const PmLibCall *c)
{
	PmRtfCall call = { .kind = c->kind == PM_LIB_GEMM ? PM_RTF_GEMM : PM_RTF_CONV,
			   .type = pm__onnx_type(c->dtype) };
	uint32_t i = 0;

	memcpy(call.align, c->align, sizeof call.align);
	memcpy(call.step, c->step, sizeof call.step);
	if (c->kind == PM_LIB_GEMM)
		put_gemm(&call, &c->gemm);
	else
		put_conv(&call, &c->conv);
	while (i < p->call.n && memcmp(&p->call.v[i], &call, sizeof call) != 0)
		i++;
	if (i == p->call.n) {
		PM_VEC_PUSH(&p->call, call);
		PM_VEC_PUSH(&p->lib, *c);
	}
	return i;
}

/* ---- steps ---- */

static PmStatus add_arg(PmPackage *p, const PmPlanStep *s, const PmDevArg *a, PmErr *err)
{
	PmRtfArg out = { .kind = PM_RTF_BUF };

	switch (a->kind) {
	case PM_DARG_BUF:
		out.buffer = a->buf.id - 1;
		out.v.offset = (uint64_t)a->offset;
		break;
	case PM_DARG_I64:
		out.kind = PM_RTF_I64;
		out.v.i64 = a->i;
		break;
	case PM_DARG_I32:
		out.kind = PM_RTF_I32;
		if (a->i < INT32_MIN || a->i > UINT32_MAX)
			return pm_err(
				err, PM_E_INVALID,
				"Kernel '%s' (entry '%s') is given %lld, which does not fit in 32 bits.",
				s->label, s->entry, (long long)a->i);
		out.v.i32 = (int32_t)(uint32_t)a->i;
		break;
	case PM_DARG_F32:
		out.kind = PM_RTF_F32;
		out.v.f32 = (float)a->f;
		break;
	default:
		out.kind = PM_RTF_F64;
		out.v.f64 = a->f;
	}
	PM_VEC_PUSH(&p->arg, out);
	return PM_OK;
}

static PmStatus add_step(PmPackage *p, const PmPlanStep *s, const PmSource *sources, PmErr *err)
{
	PmRtfStep step = { .label = pm__text(p, s->label),
			   .entry = pm__text(p, s->entry),
			   .unit = pm__unit(p, &sources[s->source], 0),
			   .call = s->lib ? add_call(p, s->lib) : PM_RTF_NONE,
			   .first_arg = (uint32_t)p->arg.n,
			   .n_args = (uint32_t)s->n_args,
			   .smem = s->smem };
	PmStatus st = PM_OK;

	memcpy(step.grid, s->grid, sizeof step.grid);
	memcpy(step.block, s->block, sizeof step.block);
	if (s->n_args > PM_RTF_MAX_ARGS)
		return pm_err(err, PM_E_UNSUPPORTED,
			      "Kernel '%s' takes %d arguments; packages have at most %d.", s->label,
			      s->n_args, PM_RTF_MAX_ARGS);
	for (int i = 0; i < s->n_args && !st; i++)
		st = add_arg(p, s, &s->args[i], err);
	PM_VEC_PUSH(&p->step, step);
	return st;
}

static PmStatus add_buffer(PmPackage *p, size_t k, const PmPlanBuffer *b, PmErr *err)
{
	static const uint32_t place[] = { [PM_PLAN_INPUT] = PM_RTF_INPUT,
					  [PM_PLAN_OUTPUT] = PM_RTF_OUTPUT,
					  [PM_PLAN_CONST] = PM_RTF_CONST,
					  [PM_PLAN_ARENA] = PM_RTF_ARENA };
	PmRtfBuffer to = { .place = place[b->place],
			   .index = (uint32_t)b->index,
			   .offset = (uint64_t)b->offset,
			   .bytes = (uint64_t)b->bytes };
	PmStatus st = b->place == PM_PLAN_CONST ? pm__constant(p, k, b->value, &to.index, err) : PM_OK;

	PM_VEC_PUSH(&p->buffer, to);
	return st;
}

static PmStatus add_shape(PmPackage *p, size_t k, PmErr *err)
{
	const PmShapePlan *from = &p->shape.v[k];
	const PmGraph *g = from->apply.after;
	PmRtfShape shape = { .first_buffer = (uint32_t)p->buffer.n,
			     .n_buffers = (uint32_t)from->ex.n_buffers,
			     .first_step = (uint32_t)p->step.n,
			     .n_steps = (uint32_t)from->ex.n_steps,
			     .arena = (uint64_t)from->ex.arena };
	const PmSource *sources;
	size_t n_in = pm_graph_n_inputs(g);
	PmStatus st = PM_OK;

	pm_plan_sources(from->plan, &sources);
	for (size_t i = 0; i < n_in; i++)
		add_extent(p, i, pm_value_type(g, pm_graph_input(g, i)));
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		add_extent(p, n_in + i, pm_value_type(g, pm_graph_output(g, i)));
	for (size_t i = 0; i < from->ex.n_buffers && !st; i++)
		st = add_buffer(p, k, &from->ex.buffer[i], err);
	for (size_t i = 0; i < from->ex.n_steps && !st; i++)
		st = add_step(p, &from->ex.step[i], sources, err);
	PM_VEC_PUSH(&p->shapes, shape);
	return st;
}

PmStatus pm__tables_fill(PmPackage *p, PmErr *err)
{
	PmStatus st = add_values(p, err);

	for (size_t k = 0; k < p->shape.n && !st; k++)
		st = add_shape(p, k, err);
	return st;
}
