/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - turns a graph into launches and views. */
#include "runtime/exec/plan_priv.h"

#include "runtime/exec/library_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Planner of each operator, by the reference token of its row. */
static const PmEagerFn planners[PM_N_OPS] = {
#define OP(name, in_min, in_max, out_min, out_max, flags, types, attrs, shape, ref, expr, iexpr)             \
	[PM_OP_##name] = eager_##ref,
#include "ir/core/ops.def"
#undef OP
};

int pm_plan_has_kernel(PmOp op)
{
	return (unsigned)op < PM_N_OPS && planners[op] && planners[op] != eager_none;
}

/* ---- building ---- */

static PmStatus place_source(PmPlan *p, PmValue v, int is_const, PmErr *err)
{
	PmStatus st = pm__place(p, v, err);
	const PmBlob *b = pm_value_blob(p->g, v);

	if (st)
		return st;
	if (is_const && !p->counts && !pm_blob_readable(b))
		return pm_err(err, PM_E_NOT_FOUND,
			      "Constant '%.120s' has no data here (it lives in '%.120s'); put that file "
			      "beside the model.",
			      pm_value_name(p->g, v), b->location ? b->location : "?");
	p->buffers.v[pm__loc(p, v)->buf].use = PM_BUF_INPUT;
	p->buffers.v[pm__loc(p, v)->buf].value = v;
	p->buffers.v[pm__loc(p, v)->buf].is_const = is_const;
	return PM_OK;
}

static PmStatus check_static(const PmGraph *g, PmErr *err)
{
	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		PmValue v = { id };
		PmStr what = PM_STR_INIT;
		int live = pm_value_is_input(g, v) || pm_value_is_const(g, v) || pm_value_def(g, v, NULL).id;

		if (!live || pm_type_is_static(pm_value_type(g, v)))
			continue;
		if (pm_value_def(g, v, NULL).id &&
		    pm_op_desc(pm_node_op(g, pm_value_def(g, v, NULL)))->flags & PM_OPF_DATA) {
			pm_node_describe(g, pm_value_def(g, v, NULL), &what);
			pm_err(err, PM_E_UNSUPPORTED,
			       "How large the result of %s is depends on its data, which is not known when "
			       "kernels "
			       "are planned; use --device ref, or bind its symbol to the number it will "
			       "have.",
			       what.s);
			pm_str_release(&what);
			return PM_E_UNSUPPORTED;
		}
		pm_type_describe(pm_value_type(g, v), &what);
		pm_err(err, PM_E_SHAPE,
		       "Value '%.120s' has type %s, which is not fully known; bind the symbols to numbers "
		       "first.",
		       pm_value_name(g, v), what.s);
		pm_str_release(&what);
		return PM_E_SHAPE;
	}
	return PM_OK;
}

/* 1 when graph output v has a buffer of its own that holds nothing else, in order. */
static int has_its_buffer(const PmPlan *p, PmValue v, int64_t bytes)
{
	const Buffer *b = &p->buffers.v[p->loc[v.id].buf];

	return b->use == PM_BUF_SCRATCH && b->bytes == bytes && pm__is_contiguous(p, v);
}

/* Graph outputs leave through contiguous buffers of their own. */
static PmStatus place_outputs(PmPlan *p, PmErr *err)
{
	size_t n = pm_graph_n_outputs(p->g), n_copies = 0;
	PmCopy *copies = pm_xcalloc(n + 1, sizeof *copies);
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n && !st; i++) {
		PmValue v = pm_graph_output(p->g, i);
		int buf = pm__loc(p, v)->buf;
		int64_t bytes = 0;

		st = pm_type_bytes(pm__type(p, v), &bytes, err);
		if (!st && has_its_buffer(p, v, bytes)) {
			p->buffers.v[buf].use = PM_BUF_OUTPUT;
		} else {
			copies[n_copies++] = (PmCopy){
				pm_value_def(p->g, v, NULL), pm__type(p, v), *pm__loc(p, v), { 0 }
			};
			buf = -1;
		}
		PM_VEC_PUSH(&p->outputs, buf);
	}
	if (!st)
		st = pm__copy_all(p, copies, n_copies, err);
	for (size_t i = 0, k = 0; i < n && !st; i++) {
		if (p->outputs.v[i] >= 0)
			continue;
		p->outputs.v[i] = copies[k++].to.buf;
		p->buffers.v[p->outputs.v[i]].use = PM_BUF_OUTPUT;
	}
	free(copies);
	return st;
}

/* Counting goes on behind a node that cannot be planned: it counts as one launch that writes its results. */
static PmStatus place_unknown(PmPlan *p, PmNode n, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < pm_node_n_out(p->g, n) && !st; k++)
		st = pm__place(p, pm_node_out(p->g, n, k), err);
	return st;
}

/* Kernels have no narrow element types. */
static PmStatus refuse_narrow(const PmPlan *p, PmNode n, PmErr *err)
{
	size_t n_in = pm_node_n_in(p->g, n), all = n_in + pm_node_n_out(p->g, n);
	PmStr what = PM_STR_INIT;

	for (size_t k = 0; k < all; k++) {
		PmValue v = k < n_in ? pm_node_in(p->g, n, k) : pm_node_out(p->g, n, k - n_in);

		if (!v.id || !pm_dtype_is_narrow(pm__type(p, v)->dtype))
			continue;
		pm_node_describe(p->g, n, &what);
		pm_err(err, PM_E_UNSUPPORTED,
		       "Value '%.120s' of %s is %s, which no kernel can read or write; use --device ref, or "
		       "cast it to int8 or float16 before.",
		       pm_value_name(p->g, v), what.s, pm_dtype_name(pm__type(p, v)->dtype));
		pm_str_release(&what);
		return PM_E_UNSUPPORTED;
	}
	return PM_OK;
}

static PmStatus plan_node(PmPlan *p, PmNode n, size_t *kernels, const int *alts, size_t n_alts, PmErr *err)
{
	PmOp op = pm_node_op(p->g, n);
	size_t first = p->steps.n;
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	st = refuse_narrow(p, n, &why);
	if (st) {
		*kernels += op == PM_OP_Kernel;
	} else if (pm_op_desc(op)->flags & PM_OPF_KERNEL) {
		st = pm__plan_kernel(p, n, *kernels < n_alts ? alts[*kernels] : 0, &why);
		++*kernels;
	} else {
		st = planners[op](p, n, &why);
		if (!st)
			pm__offer_library(p, n, first);
	}
	for (size_t i = first; i < p->steps.n; i++)
		p->steps.v[i].node = n.id;
	if (st && !p->counts)
		return pm_err(err, st, "%s", why.text);
	if (!p->counts)
		return PM_OK;
	p->counts[n.id] = st != PM_OK;
	for (size_t i = first; i < p->steps.n && !st; i++)
		p->counts[n.id] += p->steps.v[i].source >= 0;
	return st ? place_unknown(p, n, err) : PM_OK;
}

static PmStatus build(PmPlan *p, const int *alts, size_t n_alts, PmErr *err)
{
	const PmGraph *g = p->g;
	size_t kernels = 0;
	PmStatus st = check_static(g, err);

	for (size_t i = 0; i < pm_graph_n_inputs(g) && !st; i++)
		st = place_source(p, pm_graph_input(g, i), 0, err);
	for (uint32_t id = 1; id < pm_graph_value_limit(g) && !st; id++) {
		PmValue v = { id };

		if (pm_value_is_const(g, v) && (pm_value_n_uses(g, v) || pm_value_is_output(g, v)))
			st = place_source(p, v, 1, err);
	}
	for (size_t i = 0; i < pm_graph_n_nodes(g) && !st; i++)
		st = plan_node(p, pm_graph_node_at(g, i), &kernels, alts, n_alts, err);
	return st ? st : place_outputs(p, err);
}

static PmStatus make(const PmGraph *g, const int *alts, size_t n_alts, uint32_t *counts, PmPlan **out,
		     PmErr *err)
{
	PmPlan *p = pm_xcalloc(1, sizeof *p);
	PmStatus st;

	p->g = g;
	p->target = pm_target_now();
	p->counts = counts;
	p->arena = pm_arena_new(0);
	p->loc = pm_xcalloc(pm_graph_value_limit(g), sizeof *p->loc);
	for (uint32_t i = 0; i < pm_graph_value_limit(g); i++)
		p->loc[i].buf = -1;
	st = build(p, alts, n_alts, err);
	if (st) {
		pm_plan_free(p);
		return st;
	}
	*out = p;
	return PM_OK;
}

PmStatus pm_plan_new(const PmGraph *g, const int *alts, size_t n_alts, PmPlan **out, PmErr *err)
{
	return make(g, alts, n_alts, NULL, out, err);
}

PmStatus pm_plan_count(const PmGraph *g, uint32_t *launches, PmErr *err)
{
	PmPlan *p = NULL;
	PmStatus st = make(g, NULL, 0, launches, &p, err);

	pm_plan_free(p);
	return st;
}

void pm_plan_free(PmPlan *p)
{
	if (!p)
		return;
	PM_VEC_RELEASE(&p->buffers);
	PM_VEC_RELEASE(&p->steps);
	PM_VEC_RELEASE(&p->sources);
	PM_VEC_RELEASE(&p->outputs);
	pm_arena_free(p->arena);
	free(p->loc);
	free(p);
}

size_t pm_plan_sources(const PmPlan *p, const PmSource **out)
{
	*out = p->sources.v;
	return p->sources.n;
}

size_t pm_plan_own_sources(const PmPlan *p, PmSource *out)
{
	char *needed = pm_xcalloc(p->sources.n + 1, 1);
	size_t n = 0;

	for (size_t i = 0; i < p->steps.n; i++)
		if (p->steps.v[i].source >= 0 && !p->steps.v[i].lib)
			needed[p->steps.v[i].source] = 1;
	for (size_t i = 0; i < p->sources.n; i++)
		if (needed[i])
			out[n++] = p->sources.v[i];
	free(needed);
	return n;
}

/* ---- statistics and printing ---- */

static double step_seconds(const PmPlan *p, const Step *s, const PmProfile *prof)
{
	int64_t blocks = (int64_t)s->grid[0] * s->grid[1] * s->grid[2];
	double waits = prof->launch_seconds + s->wait_seconds, takes;

	if (s->lib)
		return pm_library_seconds(s->lib, s->bytes, s->flops, prof);
	if (s->depthwise)
		return pm_depthwise_seconds(s->depthwise == PM__BY_TILES, s->bytes, s->flops, prof);
	if (s->fused || !s->node)
		takes = pm_profile_launch_seconds(prof, s->bytes, s->flops, s->flop_class);
	else
		takes = pm_plain_seconds(pm_node_op(p->g, (PmNode){ s->node }), blocks, s->bytes, s->flops,
					 s->flop_class, prof);
	return waits > takes ? waits : takes;
}

void pm_plan_stats(const PmPlan *p, const PmProfile *prof, PmPlanStats *out)
{
	double first = 0;

	if (!prof)
		prof = pm_profile(NULL);
	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < p->steps.n; i++) {
		const Step *s = &p->steps.v[i];
		double seconds;

		if (s->source < 0) {
			out->n_views++;
			continue;
		}
		out->n_launches++;
		out->bytes += s->bytes;
		out->flops += s->flops;
		seconds = step_seconds(p, s, prof);
		first = out->n_launches == 1 ? seconds : first;
		out->modelled_seconds += seconds;
		out->arithmetic_seconds += (double)s->flops / prof->flops_per_second[s->flop_class];
		out->fused_seconds += s->fused ? seconds : 0;
	}
	out->start_seconds = pm_profile_start_seconds(prof, out->n_launches, first);
	out->modelled_seconds += out->start_seconds;
	for (size_t i = 0; i < p->buffers.n; i++)
		if (p->buffers.v[i].use != PM_BUF_INPUT)
			out->peak_memory += p->buffers.v[i].bytes;
}

void pm_plan_node_costs(const PmPlan *p, const PmProfile *prof, PmNodeCost *by_node)
{
	double first = 0;
	int launches = 0;

	if (!prof)
		prof = pm_profile(NULL);
	memset(by_node, 0, pm_graph_node_limit(p->g) * sizeof *by_node);
	for (size_t i = 0; i < p->steps.n; i++) {
		const Step *s = &p->steps.v[i];
		double seconds;

		if (s->source < 0)
			continue;
		seconds = step_seconds(p, s, prof);
		first = launches++ ? first : seconds;
		pm_node_cost_add(&by_node[s->node], &(PmNodeCost){ 1, s->bytes, seconds });
	}
	by_node[0].seconds += pm_profile_start_seconds(prof, launches, first);
}

void pm_node_cost_add(PmNodeCost *sum, const PmNodeCost *c)
{
	sum->launches += c->launches;
	sum->bytes += c->bytes;
	sum->seconds += c->seconds;
}

PmStatus pm_graph_plan_stats(const PmGraph *g, const int *alts, size_t n_alts, const PmProfile *prof,
			     PmPlanStats *out, PmErr *err)
{
	PmPlan *p = NULL;
	PmStatus st = pm_plan_new(g, alts, n_alts, &p, err);

	memset(out, 0, sizeof *out);
	if (!st)
		pm_plan_stats(p, prof, out);
	pm_plan_free(p);
	return st;
}

PmStatus pm_plan_print(const PmPlan *p, PmStr *out, PmErr *err)
{
	(void)err;
	for (size_t i = 0; i < p->steps.n; i++) {
		const Step *s = &p->steps.v[i];

		if (s->source < 0) {
			pm_str_addf(out, "%4zu  %s\n", i, s->label);
			continue;
		}
		pm_str_addf(out,
			    "%4zu  launch %s  grid=%u,%u,%u block=%u,%u,%u smem=%u  %lld bytes  %lld flops\n",
			    i, s->label, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
			    s->block[2], s->smem, (long long)s->bytes, (long long)s->flops);
	}
	return PM_OK;
}
