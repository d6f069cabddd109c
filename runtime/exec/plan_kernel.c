/* SPDX-License-Identifier: Apache-2.0 */
/* plan_kernel.c - launches of fused (Kernel) nodes, as they describe themselves. */
#include "runtime/exec/plan_priv.h"

#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

/* One argument of a fused kernel as an argument of a step. */
static PmDevArg bind(const PmKArg *a, const Loc *in, const Loc *out, const int *scratch)
{
	PmDevArg r = { .i = a->i, .f = a->f };

	switch (a->kind) {
	case PM_KARG_IN:
	case PM_KARG_OUT: {
		const Loc *l = &(a->kind == PM_KARG_IN ? in : out)[a->index];

		r.kind = PM_DARG_BUF;
		r.readonly = a->kind == PM_KARG_IN;
		r.buf.id = (uint32_t)l->buf + 1;
		r.offset = l->off; /* filled in bytes by the caller */
		return r;
	}
	case PM_KARG_SCRATCH:
		r.kind = PM_DARG_BUF;
		r.buf.id = (uint32_t)scratch[a->index] + 1;
		return r;
	case PM_KARG_I64:
		r.kind = PM_DARG_I64;
		return r;
	case PM_KARG_I32:
		r.kind = PM_DARG_I32;
		return r;
	case PM_KARG_F32:
		r.kind = PM_DARG_F32;
		return r;
	case PM_KARG_F64:
		r.kind = PM_DARG_F64;
		return r;
	}
	PM_BUG("kernel argument kind %d", (int)a->kind);
}

/* Of `needed` elements, at most all that there are. */
static int64_t operand_bytes(const PmPlan *p, PmValue v, int64_t needed)
{
	int64_t n = pm__numel(p, v);

	return (n < needed ? n : needed) * (int64_t)pm_dtype_size(pm__type(p, v)->dtype);
}

/* Bytes a launch moves: of each operand what the body needs, each result and scratch buffer, once. */
static int64_t launch_bytes(const PmPlan *p, PmNode n, const PmKAlt *alt, const PmKLaunch *l,
			    const PmGraph *body, const int64_t *needed)
{
	int64_t bytes = 0;

	for (int i = 0; i < l->n_args; i++) {
		const PmKArg *a = &l->args[i];
		int64_t b = 0;

		if (a->kind == PM_KARG_IN)
			b = operand_bytes(p, pm_node_in(p->g, n, a->index),
					  needed[pm_graph_input(body, (size_t)a->index).id]);
		else if (a->kind == PM_KARG_OUT)
			pm_type_bytes(pm__type(p, pm_node_out(p->g, n, a->index)), &b, NULL);
		else if (a->kind == PM_KARG_SCRATCH)
			b = alt->scratch[a->index];
		bytes += b;
	}
	return bytes;
}

/* The peak that a node's operations count against: that of its result, or of what is compared or counted. */
static PmDTypePeak peak_of(const PmGraph *g, PmNode n)
{
	int dtype = pm_value_type(g, pm_node_out(g, n, 0))->dtype;

	for (size_t i = 0; i < pm_node_n_in(g, n) && !pm_dtype_is_float(dtype); i++) {
		PmValue v = pm_node_in(g, n, i);

		if (v.id && pm_dtype_is_float(pm_value_type(g, v)->dtype))
			dtype = pm_value_type(g, v)->dtype;
	}
	return pm_dtype_peak(dtype);
}

/* Operations of the body, and the peak of those that take the longest: by the types of what was replaced.
 * What element type the kernel says that it has is the author's word. */
static int64_t body_flops(const PmGraph *body, const PmTarget *t, int *peak)
{
	int64_t of[PM_N_DTYPE_PEAKS] = { 0 }, sum = 0;
	const PmProfile *p = pm_profile_of(t);

	for (size_t i = 0; i < pm_graph_n_nodes(body); i++) {
		PmNode n = pm_graph_node_at(body, i);
		int64_t flops = pm_op_flops(body, n);

		of[peak_of(body, n)] += flops;
		sum += flops;
	}
	*peak = 0;
	for (int k = 1; k < PM_N_DTYPE_PEAKS; k++)
		if ((double)of[k] / p->flops_per_second[k] > (double)of[*peak] / p->flops_per_second[*peak])
			*peak = k;
	return sum;
}

static PmStatus plan_launches(PmPlan *p, PmNode n, const PmKernelDesc *d, const PmKAlt *alt, const Loc *in,
			      PmErr *err)
{
	Loc out[PM_MAX_OPERANDS];
	int scratch[PM_MAX_SCRATCH];
	char label[160];
	size_t n_out = pm_node_n_out(p->g, n);
	const int64_t *needed = pm__needed(d->body, p->arena);
	int peak;
	int64_t flops = body_flops(d->body, p->target, &peak);
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n_out && !st; i++) {
		st = pm__place(p, pm_node_out(p->g, n, i), err);
		out[i] = *pm__loc(p, pm_node_out(p->g, n, i));
	}
	if (st)
		return st;
	for (int i = 0; i < alt->n_scratch; i++)
		scratch[i] = pm__add_buffer(p, alt->scratch[i], PM_BUF_SCRATCH);
	PM_VEC_PUSH(&p->sources, ((PmSource){ pm_arena_strdup(p->arena, d->name), alt->source, alt->type }));
	for (int j = 0; j < alt->n_launches; j++) {
		const PmKLaunch *l = &alt->launches[j];
		Step s = {
			.source = (int)p->sources.n - 1, .smem = l->smem, .n_args = l->n_args, .fused = 1
		};

		snprintf(label, sizeof label, "kernel %.64s:%.64s", d->name, l->entry);
		s.label = pm_arena_strdup(p->arena, label);
		s.entry = pm_arena_strdup(p->arena, l->entry);
		memcpy(s.grid, l->grid, sizeof s.grid);
		memcpy(s.block, l->block, sizeof s.block);
		s.args = pm_arena_alloc(p->arena, (size_t)l->n_args * sizeof *s.args);
		for (int i = 0; i < l->n_args; i++) {
			s.args[i] = bind(&l->args[i], in, out, scratch);
			if (l->args[i].kind == PM_KARG_IN)
				s.args[i].offset *= (int64_t)pm_dtype_size(
					pm__type(p, pm_node_in(p->g, n, l->args[i].index))->dtype);
		}
		s.bytes = launch_bytes(p, n, alt, l, d->body, needed);
		s.flops = j == 0 ? flops : 0;
		s.flop_class = peak;
		PM_VEC_PUSH(&p->steps, s);
	}
	return PM_OK;
}

PmStatus pm__plan_kernel(PmPlan *p, PmNode n, int alt, PmErr *err)
{
	PmKernelDesc d;
	Loc in[PM_MAX_OPERANDS];
	size_t n_in = pm_node_n_in(p->g, n);
	PmStatus st = pm_kernel_decode(p->g, n, p->arena, &d, err);

	if (st)
		return st;
	if (alt < 0 || alt >= d.n_alts || n_in > PM_MAX_OPERANDS || pm_node_n_out(p->g, n) > PM_MAX_OPERANDS)
		return pm_err(err, PM_E_INVALID,
			      "Kernel '%.64s' has %d alternatives; number %d does not exist.", d.name,
			      d.n_alts, alt);
	for (size_t i = 0; i < n_in && !st; i++)
		st = pm__make_contiguous(p, n, pm_node_in(p->g, n, i), &in[i], err);
	return st ? st : plan_launches(p, n, &d, &d.alts[alt], in, err);
}
