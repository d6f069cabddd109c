/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c - what can be computed ahead: sizes from types, and nodes of constants by the reference device. */
#include "simplify/simplify_priv.h"

#include "ir/infer/infer.h"
#include "runtime/ref/ref.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_BYTES = 1 << 20, /* of one constant that is made; operands are no limit */
	MAX_WORK = 1 << 24   /* operations of one node */
};

PmStatus pm__simplify_fold_shapes(PmGraph *g, size_t *changes, PmErr *err)
{
	size_t nodes = pm_graph_n_nodes(g);
	PmStatus st = pm_fold_shapes(g, err);

	*changes += nodes - pm_graph_n_nodes(g);
	return st;
}

/* ---- constants ---- */

static int is_known(const PmGraph *g, PmValue v)
{
	const PmBlob *b = pm_value_blob(g, v);

	return !v.id || (b && (b->data || b->size == 0));
}

static int worth_it(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);
	int64_t bytes;
	size_t k;

	if (op == PM_OP_NONE || pm_op_desc(op)->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL | PM_OPF_RANDOM))
		return 0;
	for (k = 0; k < pm_node_n_in(g, n); k++)
		if (!is_known(g, pm_node_in(g, n, k)))
			return 0;
	for (k = 0; k < pm_node_n_out(g, n); k++) {
		const PmType *t = pm_value_type(g, pm_node_out(g, n, k));

		if (pm_value_is_output(g, pm_node_out(g, n, k)) || t->dtype < 0 || !pm_type_is_static(t) ||
		    pm_type_bytes(t, &bytes, NULL) || bytes > MAX_BYTES)
			return 0;
	}
	return pm_op_flops(g, n) <= MAX_WORK;
}

/* The element type holds the number as it is. NaN is one number. */
static int same_number(double a, double b)
{
	return (a != a && b != b) || memcmp(&a, &b, sizeof a) == 0;
}

/* Moves a result into a tensor of its element type; 0 when that would round. */
static int store_exactly(const PmRefTensor *r, PmTensor *t)
{
	int64_t i;

	for (i = 0; i < r->numel; i++) {
		if (r->f) {
			pm_tensor_set(t, i, r->f[i]);
			if (!same_number(pm_tensor_get(t, i), r->f[i]))
				return 0;
		} else {
			pm_tensor_set_i(t, i, r->i[i]);
			if (pm_tensor_get_i(t, i) != r->i[i])
				return 0;
		}
	}
	return 1;
}

static PmStatus load(const PmGraph *g, PmValue v, PmRefTensor *to, PmErr *err)
{
	PmTensor t;
	int64_t i;
	PmStatus st;

	memset(to, 0, sizeof *to);
	to->type = pm_type_unknown();
	if (!v.id)
		return PM_OK;
	st = pm_tensor_from_const(&t, g, v, err);
	if (st)
		return st;
	st = pm_ref_tensor_init(to, &t.type, err);
	for (i = 0; !st && i < to->numel; i++) {
		if (to->f)
			to->f[i] = pm_tensor_get(&t, i);
		else
			to->i[i] = pm_tensor_get_i(&t, i);
	}
	pm_tensor_release(&t);
	return st;
}

/* Result k as a constant in its place; PM_DECLINED when its element type would round it. */
static PmStatus make_const(PmGraph *g, PmNode n, size_t k, const PmRefTensor *r, PmErr *err)
{
	PmValue v, out = pm_node_out(g, n, k);
	PmTensor t;
	PmStatus st = pm_tensor_init(&t, &r->type, err);

	if (st)
		return st;
	st = PM_DECLINED;
	if (store_exactly(r, &t))
		st = pm_graph_add_const(g, NULL, &r->type, pm_blob_copy(t.data, t.bytes), &v, err);
	pm_tensor_release(&t);
	if (!st)
		pm_graph_replace_uses(g, out, v);
	return st;
}

/* A node that the reference refuses (an index out of range) stays: whoever runs the graph is told. */
static PmStatus compute(PmGraph *g, PmNode n, size_t *changes, PmErr *err)
{
	size_t n_in = pm_node_n_in(g, n), n_out = pm_node_n_out(g, n), k;
	PmRefTensor *in = pm_xcalloc(n_in + 1, sizeof *in), *out = pm_xcalloc(n_out + 1, sizeof *out);
	PmRefCall call = { g, n, in, n_in, out, n_out };
	PmStatus st = PM_OK;

	for (k = 0; k < n_in && !st; k++)
		st = load(g, pm_node_in(g, n, k), &in[k], NULL);
	for (k = 0; k < n_out && !st; k++)
		st = pm_ref_tensor_init(&out[k], pm_value_type(g, pm_node_out(g, n, k)), NULL);
	if (!st)
		st = pm_ref_node(&call, NULL);
	for (k = 0; k < n_out && !st; k++)
		if (pm_value_n_uses(g, pm_node_out(g, n, k)))
			st = make_const(g, n, k, &out[k], err);
	if (!st)
		*changes += pm_graph_kill_node(g, n, NULL) == PM_OK;
	for (k = 0; k < n_in; k++)
		pm_ref_tensor_release(&in[k]);
	for (k = 0; k < n_out; k++)
		pm_ref_tensor_release(&out[k]);
	free(in);
	free(out);
	return PM_OK;
}

PmStatus pm__simplify_fold_constants(PmGraph *g, size_t *changes, PmErr *err)
{
	uint32_t n_nodes = (uint32_t)pm_graph_n_nodes(g), i;
	uint32_t *order = pm_xcalloc((size_t)n_nodes + 1, sizeof *order);
	PmStatus st = PM_OK;

	for (i = 0; i < n_nodes; i++)
		order[i] = pm_graph_node_at(g, i).id;
	for (i = 0; i < n_nodes && !st; i++)
		if (worth_it(g, (PmNode){ order[i] }))
			st = compute(g, (PmNode){ order[i] }, changes, err);
	free(order);
	return st;
}
