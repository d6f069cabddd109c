/* SPDX-License-Identifier: Apache-2.0 */
/* eager_einsum.c - Einsum: one contraction, or of more than two operands a chain of contractions of two. */
#include "runtime/eager/contract.h"
#include "runtime/ref/ref.h"

#include <string.h>

/* An operand or an intermediate, by the equation's labels. */
typedef struct Term {
	Loc loc;
	int64_t distinct, step[PM_EINSUM_LABELS];
} Term;

typedef struct Task {
	PmPlan *p;
	PmNode n;
	PmEinsum e;
	int64_t dim[PM_EINSUM_LABELS];
	Term term[2 * PM_EINSUM_OPERANDS]; /* the operands, then intermediates */
} Task;

static PmStatus read_node(Task *t, const PmType **in, PmErr *err)
{
	size_t n_in = pm_node_n_in(t->p->g, t->n);
	char why[160];
	PmStatus st;

	for (size_t i = 0; i < n_in && i < PM_EINSUM_OPERANDS; i++)
		in[i] = pm__type(t->p, pm_node_in(t->p->g, t->n, i));
	st = pm_einsum_read(pm_node_s(t->p->g, t->n, "equation", ""), in, n_in, &t->e, why);
	if (st)
		return pm_err(err, st, "Node %u (Einsum) has an equation that cannot be used: %s.", t->n.id,
			      why);
	pm_einsum_dims(&t->e, in, t->dim);
	for (int i = 0; i < t->e.n_in; i++) {
		const Loc *l = pm__loc(t->p, pm_node_in(t->p->g, t->n, (size_t)i));

		t->term[i].loc = *l;
		t->term[i].distinct = pm__distinct(in[i], l);
		for (int d = 0; d < t->e.rank[i]; d++)
			t->term[i].step[t->e.label[i][d]] += in[i]->dim[d] == 1 ? 0 : l->stride[d];
	}
	return PM_OK;
}

static void add_label(const Task *t, PmContraction *c, int label, const int *term)
{
	c->dim[c->n_labels] = t->dim[label];
	for (int i = 0; i < c->n_in; i++)
		c->step[i][c->n_labels] = t->term[term[i]].step[label];
	c->n_labels++;
}

/* The contraction of some terms; n_out and labels are still to be set. */
static PmContraction begin(const Task *t, const int *term, int n)
{
	PmContraction c = { .n_in = n, .dtype = pm__type(t->p, pm_node_out(t->p->g, t->n, 0))->dtype };

	for (int i = 0; i < n; i++) {
		c.loc[i] = t->term[term[i]].loc;
		c.distinct[i] = t->term[term[i]].distinct;
	}
	return c;
}

/* Computes the node's result, which lies in the order of products when that is none of theirs: what needs
 * another one copies it. */
static PmStatus make_result(const Task *t, PmContraction *c, PmErr *err)
{
	PmValue y = pm_node_out(t->p->g, t->n, 0);
	int axis[PM_EINSUM_LABELS];
	PmStatus st = pm__place(t->p, y, err);
	Loc *l = pm__loc(t->p, y), dense = *l;
	int64_t stride = 1;

	if (st)
		return st;
	if (pm__contract_group(c, axis))
		for (int k = c->n_out; k-- > 0; stride *= c->dim[k])
			l->stride[axis[k]] = stride;
	return pm__contract(t->p, t->n, c, &dense, err);
}

static int64_t product_of(const int64_t *dim, int n)
{
	int64_t v = 1;

	for (int i = 0; i < n; i++)
		v *= dim[i];
	return v;
}

/* A result that later terms need, in a buffer of the result's type. */
static PmStatus make_intermediate(const Task *t, PmContraction *c, const int *label, Term *out, PmErr *err)
{
	int64_t stride = 1, elements = product_of(c->dim, c->n_out);
	int order[PM_EINSUM_LABELS];

	memset(out, 0, sizeof *out);
	pm__contract_arrange(c, order);
	out->loc.buf = pm__add_buffer(t->p, elements * (int64_t)pm_dtype_size(c->dtype), PM_BUF_SCRATCH);
	out->distinct = elements;
	for (int k = c->n_out; k-- > 0; stride *= c->dim[k])
		out->step[label[order[k]]] = stride;
	return pm__contract(t->p, t->n, c, &out->loc, err);
}

/* One pair of a chain. Labels that neither term has, as they have one element, are left out unless the result
 * has them. */
static PmStatus contract_pair(Task *t, const PmEinsumPair *q, uint32_t both, int is_last, Term *out,
			      PmErr *err)
{
	PmContraction c = begin(t, q->term, 2);
	int label[PM_EINSUM_LABELS];

	for (int l = 0; l < t->e.n_labels; l++)
		if (is_last ? l < t->e.n_out : (int)(q->labels >> l & 1)) {
			label[c.n_out++] = l;
			add_label(t, &c, l, q->term);
		}
	for (int l = 0; l < t->e.n_labels; l++)
		if ((both & ~q->labels) >> l & 1)
			add_label(t, &c, l, q->term);
	c.flops = product_of(c.dim, c.n_labels) * (c.n_labels > c.n_out ? 2 : 1);
	return is_last ? make_result(t, &c, err) : make_intermediate(t, &c, label, out, err);
}

static PmStatus contract_chain(Task *t, const PmEinsumChain *chain, PmErr *err)
{
	uint32_t labels[2 * PM_EINSUM_OPERANDS] = { 0 };
	PmStatus st = PM_OK;

	memcpy(labels, chain->labels, sizeof chain->labels);
	for (int k = 0; k < chain->n && !st; k++) {
		const PmEinsumPair *q = &chain->pair[k];
		int made = t->e.n_in + k;

		labels[made] = q->labels;
		st = contract_pair(t, q, labels[q->term[0]] | labels[q->term[1]], k == chain->n - 1,
				   &t->term[made], err);
	}
	return st;
}

PmStatus eager_einsum(PmPlan *p, PmNode n, PmErr *err)
{
	static const int all[PM_EINSUM_OPERANDS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const PmType *in[PM_EINSUM_OPERANDS];
	Task t = { .p = p, .n = n };
	PmEinsumChain chain;
	PmContraction c;
	PmStatus st = read_node(&t, in, err);

	if (st)
		return st;
	if (pm_einsum_chain(&t.e, in, &chain))
		return contract_chain(&t, &chain, err);
	c = begin(&t, all, t.e.n_in);
	for (int l = 0; l < t.e.n_labels; l++)
		add_label(&t, &c, l, all);
	c.n_out = t.e.n_out;
	c.flops = pm_op_flops(p->g, n);
	return make_result(&t, &c, err);
}
