/* SPDX-License-Identifier: Apache-2.0 */
/* gate_honest.c - the rule of the task gate that right kernels must keep: plain ones, and plain ones that add
 * up in another order.
 */
#include "bench/gate/gate_priv.h"

#include "base/core/rng.h"
#include "bench/compare/agree.h"
#include "ir/infer/infer.h"
#include "runtime/ref/ref.h"
#include "runtime/worker/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- another order ---- */

/* Operand k's elements along an axis in the order of `perm`, a constant. */
static PmStatus gather(PmGraph *g, PmNode n, size_t k, int axis, PmValue perm)
{
	PmValue in[2] = { pm_node_in(g, n, k), perm };
	PmNode fresh;
	PmStatus st = pm_graph_add_node(g, PM_OP_Gather, in, 2, 1, &fresh, NULL);

	if (!st)
		st = pm_node_set_i(g, fresh, "axis", axis, NULL);
	if (!st)
		pm_node_set_operand(g, n, k, pm_node_out(g, fresh, 0));
	return st;
}

/* 0 .. n-1 in a random order, as a constant. */
static PmStatus permutation(PmGraph *g, int64_t n, PmRng *r, PmValue *out)
{
	PmType t = pm_type(PM_I64, 1, &n);
	int64_t *v = pm_xcalloc((size_t)n, sizeof *v);
	PmStatus st;

	for (int64_t i = 0; i < n; i++) {
		int64_t k = pm_rng_range(r, 0, i);

		v[i] = v[k];
		v[k] = i;
	}
	st = pm_graph_add_const(g, NULL, &t, pm_blob_copy(v, (size_t)n * sizeof *v), out, NULL);
	free(v);
	return st;
}

/* The axes over which a node adds up products of operands 0 and 1; 0 when it is no such node. */
static int summed_axes(const PmGraph *g, PmNode n, int axis[2])
{
	const PmType *a = pm_value_type(g, pm_node_in(g, n, 0)), *b = pm_value_type(g, pm_node_in(g, n, 1));
	PmOp op = pm_node_op(g, n);

	if (op == PM_OP_MatMul && a->rank > 0 && b->rank > 0) {
		axis[0] = a->rank - 1;
		axis[1] = b->rank > 1 ? b->rank - 2 : 0;
	} else if (op == PM_OP_Gemm) {
		axis[0] = pm_node_i(g, n, "transA", 0) ? 0 : 1;
		axis[1] = pm_node_i(g, n, "transB", 0) ? 1 : 0;
	} else if (op == PM_OP_Conv && pm_node_i(g, n, "group", 1) == 1) {
		axis[0] = axis[1] = 1;
	} else {
		return 0;
	}
	return a->dim[axis[0]] > 1 && a->dim[axis[0]] == b->dim[axis[1]];
}

/* A graph that means the same and adds up in another order; *out is NULL when it adds up nothing. */
static PmStatus shuffled(const PmGraph *g, uint64_t seed, PmGraph **out, PmErr *err)
{
	PmGraph *c = NULL;
	size_t n = pm_graph_n_nodes(g), changed = 0;
	PmStatus st = pm_graph_clone(g, &c, err);
	PmRng r;

	*out = NULL;
	pm_rng_init_named(&r, seed, "gate order");
	for (size_t i = 0; i < n && !st; i++) {
		PmNode node = pm_graph_node_at(c, i);
		PmValue perm;
		int axis[2];

		if (!summed_axes(c, node, axis))
			continue;
		st = permutation(c, pm_value_type(c, pm_node_in(c, node, 0))->dim[axis[0]], &r, &perm);
		for (size_t k = 0; k < 2 && !st; k++)
			st = gather(c, node, k, axis[k], perm);
		changed++;
	}
	if (!st)
		st = pm_graph_sort(c, err);
	if (!st)
		st = pm_infer_graph(c, 0, err);
	if (st || !changed)
		pm_graph_free(c);
	else
		*out = c;
	return st;
}

/* ---- agreement ---- */

/* 1 when the plain kernels of graph g agree with the reference's results `want` of the graph that is judged.
 */
static PmStatus agrees(const PmGate *x, const PmGraph *g, const PmTensor *in, const PmTensor *want, int *yes,
		       PmErr *err)
{
	PmRunOpts o = { .device = "emu" };
	PmRunResult got = { 0 };
	PmAgreement *a = pm_xcalloc(x->n_out + 1, sizeof *a);
	PmStatus st = pm_run_graph(g, in, x->n_in, &o, &got, err);

	if (!st)
		st = pm_agree(x->g, in, got.out, want, x->n_out, x->opts.seed, a, err);
	for (size_t i = 0; i < x->n_out; i++)
		*yes &= a[i].agrees;
	pm_run_result_release(&got);
	free(a);
	return st;
}

/* One seed; those beyond the gate's own draw their inputs here. */
static PmStatus one_seed(const PmGate *x, const PmGraph *other, int s, int *yes, PmErr *err)
{
	PmTensor *want = pm_xcalloc(x->n_out + 1, sizeof *want), *own = NULL;
	const PmTensor *in = s < x->opts.n_seeds ? x->run[s].in : NULL;
	PmStatus st = PM_OK;

	*yes = 1;
	if (!in) {
		own = pm_xcalloc(x->n_in + 1, sizeof *own);
		st = pm_inputs_make(x->g, x->opts.seed + (uint64_t)s, PM_INPUTS_NORMAL, own, err);
		in = own;
	}
	if (!st)
		st = pm_ref_run(x->g, in, x->n_in, want, x->n_out, err);
	if (!st)
		st = agrees(x, x->g, in, want, yes, err);
	if (!st && other)
		st = agrees(x, other, in, want, yes, err);
	pm_tensors_release(want, x->n_out);
	if (own)
		pm_tensors_release(own, x->n_in);
	free(want);
	free(own);
	return st;
}

PmStatus pm__gate_honest(PmGate *x, int *kept, PmErr *err)
{
	int agree = 0, runs = x->opts.n_honest;
	PmGraph *other = NULL;
	PmStatus st = runs > 0 ? shuffled(x->g, x->opts.seed, &other, err) : PM_OK;

	for (int s = 0; s < runs && !st; s++) {
		int yes = 0;

		st = one_seed(x, other, s, &yes, err);
		agree += yes;
	}
	pm_graph_free(other);
	if (st || runs <= 0)
		return st;
	x->r->found[PM_GATE_HONEST] = (double)agree / runs;
	if (agree < runs)
		*kept = pm__gate_break(x, PM_GATE_HONEST,
				       "Plain kernels agree with the reference on %d of %d seeds only.",
				       agree, runs);
	return PM_OK;
}
