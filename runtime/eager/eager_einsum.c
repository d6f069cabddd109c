/* SPDX-License-Identifier: Apache-2.0 */
/* eager_einsum.c - Einsum: a product of matrices for each of a number of batches where it is one, else one
 * thread per result, which sums products over the labels the result lacks. */
#include "runtime/exec/plan_priv.h"

#include "ir/core/einsum.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

/* What the labels are to two operands. */
enum { BATCH, ROWS, COLS, SUMS, N_GROUPS };

typedef struct Group {
	int n;
	int64_t size, dim[PM_EINSUM_LABELS], stride[2][PM_EINSUM_LABELS];
} Group;

static void put(Group *g, int64_t dim, int64_t first, int64_t second)
{
	g->dim[g->n] = dim;
	g->stride[0][g->n] = first;
	g->stride[1][g->n++] = second;
	g->size *= dim;
}

/* Sorts labels of more than one element into groups: of the result those of both operands, of one, of the
 * other; and what is summed. The result must have them group by group. 0 when a label is none of these. */
static int sort_labels(const PmEinsum *e, const int64_t *dim, int64_t step[][PM_EINSUM_LABELS],
		       Group group[N_GROUPS], int *swap)
{
	int last = BATCH;

	*swap = 0;
	for (int l = 0; l < e->n_labels; l++) {
		int64_t a = step[0][l], b = step[1][l];
		int g = a && b ? (l < e->n_out ? BATCH : SUMS) : (a ? ROWS : COLS);

		if (dim[l] == 1)
			continue;
		if ((!a && !b) || (l >= e->n_out && g != SUMS))
			return 0;
		put(&group[g], dim[l], a, b);
		if (l >= e->n_out || g == last)
			continue;
		if (last == BATCH)
			*swap = g == COLS;
		else if (g == BATCH || g == (*swap ? COLS : ROWS))
			return 0;
		last = g;
	}
	return 1;
}

int pm__einsum_gemm(const PmPlan *p, PmNode n, PmLibGemm *out, int *swap)
{
	PmValue v[2] = { pm_node_in(p->g, n, 0), pm_node_in(p->g, n, 1) };
	const PmType *in[2] = { pm__type(p, v[0]), pm__type(p, v[1]) };
	int64_t step[2][PM_EINSUM_LABELS] = { { 0 } }, dim[PM_EINSUM_LABELS], one[2][N_GROUPS];
	Group group[N_GROUPS] = { { .size = 1 }, { .size = 1 }, { .size = 1 }, { .size = 1 } };
	int dtype = pm__type(p, pm_node_out(p->g, n, 0))->dtype, rows, cols;
	PmEinsum e;
	char why[160];

	*swap = 0;
	if (pm_node_n_in(p->g, n) != 2 || in[0]->dtype != dtype || in[1]->dtype != dtype ||
	    pm_einsum_read(pm_node_s(p->g, n, "equation", ""), in, 2, &e, why))
		return 0;
	pm_einsum_dims(&e, in, dim);
	for (int i = 0; i < 2; i++)
		for (int d = 0; d < e.rank[i]; d++)
			step[i][e.label[i][d]] += in[i]->dim[d] == 1 ? 0 : pm__loc(p, v[i])->stride[d];
	if (!sort_labels(&e, dim, step, group, swap) || !group[SUMS].n)
		return 0;
	for (int i = 0; i < 2; i++)
		for (int g = 0; g < N_GROUPS; g++)
			if (!group[g].size ||
			    !pm__merge_strides(group[g].dim, group[g].stride[i], group[g].n, &one[i][g]))
				return 0;
	rows = *swap ? COLS : ROWS;
	cols = *swap ? ROWS : COLS;
	*out = (PmLibGemm){ .m = group[rows].size,
			    .n = group[cols].size,
			    .k = group[SUMS].size,
			    .batch = group[BATCH].size,
			    .a_row = one[*swap][rows],
			    .a_col = one[*swap][SUMS],
			    .a_batch = one[*swap][BATCH],
			    .b_row = one[!*swap][SUMS],
			    .b_col = one[!*swap][cols],
			    .b_batch = one[!*swap][BATCH],
			    .outer = 1,
			    .alpha = 1 };
	return 1;
}

/* --- as products for batches of any strides --------------------------------------------------------------
 */

/* The result's labels as [batches..., rows, cols]: those of the end belong to one operand, b, those before
 * them to the other, a. */
typedef struct Split {
	PmProduct m;
	int swap; /* a is the second operand */
	int batch;
	int64_t dim[PM_EINSUM_LABELS], as[PM_EINSUM_LABELS], bs[PM_EINSUM_LABELS];
} Split;

/* Takes labels off the result's end that `owner` alone has and that have one stride. */
static void take(const int64_t *dim, int64_t step[][PM_EINSUM_LABELS], int owner, int *end, int64_t *size,
		 int64_t *stride)
{
	*size = 1;
	*stride = 0;
	for (int l = *end - 1; l >= 0; l--) {
		int64_t mine = step[owner][l];

		if (dim[l] != 1) {
			if (step[!owner][l] || !mine || (*size > 1 && mine != *stride * *size))
				return;
			if (*size == 1)
				*stride = mine;
			*size *= dim[l];
		}
		*end = l;
	}
}

static int split_labels(const PmEinsum *e, const int64_t *dim, int64_t step[][PM_EINSUM_LABELS], Split *s)
{
	int end = e->n_out, sums = e->n_labels - e->n_out;

	memset(s, 0, sizeof *s);
	take(dim, step, 1, &end, &s->m.cols, &s->m.bn);
	if (s->m.cols == 1) {
		end = e->n_out;
		s->swap = 1;
		take(dim, step, 0, &end, &s->m.cols, &s->m.bn);
	}
	take(dim, step, s->swap, &end, &s->m.rows, &s->m.am);
	s->batch = end;
	s->m.batches = s->m.depth = 1;
	for (int l = 0; l < end; l++) {
		s->dim[l] = dim[l];
		s->as[l] = step[s->swap][l];
		s->bs[l] = step[!s->swap][l];
		s->m.batches *= dim[l];
	}
	for (int l = e->n_out; l < e->n_labels; l++)
		s->m.depth *= dim[l];
	return s->m.rows > 1 && s->m.cols > 1 && s->m.depth > 1 &&
	       pm__merge_strides(dim + e->n_out, step[s->swap] + e->n_out, sums, &s->m.ak) &&
	       pm__merge_strides(dim + e->n_out, step[!s->swap] + e->n_out, sums, &s->m.bk);
}

/* PM_DECLINED when it is no such product. */
static PmStatus as_products(PmPlan *p, PmNode n, const PmEinsum *e, const PmType *const *in,
			    const int64_t *dim, int library, int swap, PmErr *err)
{
	int64_t step[2][PM_EINSUM_LABELS] = { { 0 } };
	PmValue y = pm_node_out(p->g, n, 0), v[2] = { pm_node_in(p->g, n, 0), pm_node_in(p->g, n, 1) };
	int dtype = pm__type(p, y)->dtype;
	char label[96];
	Split s;
	KGen k;

	for (int i = 0; i < 2; i++)
		for (int d = 0; d < e->rank[i]; d++)
			step[i][e->label[i][d]] += in[i]->dim[d] == 1 ? 0 : pm__loc(p, v[i])->stride[d];
	if (!split_labels(e, dim, step, &s) || (library && s.swap != swap))
		return PM_DECLINED;
	pm__kg_init(&k, p, n, dtype);
	pm_str_addf(&k.head, "typedef %s A;\n", pm__acc_type(dtype));
	pm__kg_out(&k, "y", pm__loc(p, y), dtype, pm__numel(p, y));
	for (int i = 0; i < 2; i++) {
		int at = s.swap ? !i : i;

		pm__kg_in(&k, i ? "b" : "a", pm__loc(p, v[at]), dtype,
			  pm__distinct(in[at], pm__loc(p, v[at])));
	}
	pm__kg_space(&k, "o", s.dim, s.batch, (const int64_t *const[]){ s.as, s.bs }, 2);
	snprintf(label, sizeof label, "eager Einsum %s", pm_dtype_name(dtype));
	return pm__multiply(&k, label, &s.m, err);
}

/* --- the node --------------------------------------------------------------------------------------------
 */

PmStatus eager_einsum(PmPlan *p, PmNode n, PmErr *err)
{
	int64_t step[PM_EINSUM_OPERANDS][PM_EINSUM_LABELS] = { { 0 } }, dim[PM_EINSUM_LABELS];
	const int64_t *over[PM_EINSUM_OPERANDS], *sum[PM_EINSUM_OPERANDS];
	const PmType *in[PM_EINSUM_OPERANDS], *t;
	size_t n_in = pm_node_n_in(p->g, n);
	PmValue y = pm_node_out(p->g, n, 0);
	PmStr body = PM_STR_INIT;
	char why[160], label[96];
	PmLibGemm product;
	int swap, library;
	PmEinsum e;
	PmStatus st = pm__place(p, y, err);
	KGen k;

	if (st)
		return st;
	for (size_t i = 0; i < n_in && i < PM_EINSUM_OPERANDS; i++)
		in[i] = pm__type(p, pm_node_in(p->g, n, i));
	st = pm_einsum_read(pm_node_s(p->g, n, "equation", ""), in, n_in, &e, why);
	if (st)
		return pm_err(err, st, "Node %u (Einsum) has an equation that cannot be used: %s.", n.id,
			      why);
	pm_einsum_dims(&e, in, dim);
	t = pm__type(p, y);
	library = pm__einsum_gemm(p, n, &product, &swap);
	if (!library)
		swap = 0;
	if (n_in == 2 && in[0]->dtype == t->dtype && in[1]->dtype == t->dtype) {
		st = as_products(p, n, &e, in, dim, library, swap, err);
		if (st != PM_DECLINED)
			return st;
	}
	pm__kg_init(&k, p, n, t->dtype);
	pm_str_addf(&k.head, "typedef %s A;\n", pm__acc_type(t->dtype));
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm_str_add(&body, "KERNEL\n{\n\tI t = TID;\n\tA sum = 0;\n\n"
			  "\tif (t >= N_o)\n\t\treturn;\n\tfor (I r = 0; r < N_r; r++) {\n"
			  "\t\tA v = (A)pm_ld(x0[OFF_o_0(t) + OFF_r_0(r)]);\n\n");
	for (size_t at = 0; at < n_in; at++) {
		size_t i = swap ? n_in - 1 - at : at; /* a library's arguments stand in this order */
		PmValue v = pm_node_in(p->g, n, i);
		const Loc *l = pm__loc(p, v);
		char name[32];

		for (int d = 0; d < e.rank[i]; d++)
			step[i][e.label[i][d]] += in[i]->dim[d] == 1 ? 0 : l->stride[d];
		over[i] = step[i];
		sum[i] = step[i] + e.n_out;
		snprintf(name, sizeof name, "x%zu", i);
		pm__kg_in(&k, name, l, t->dtype, pm__distinct(in[i], l));
		if (i)
			pm_str_addf(&body, "\t\tv *= (A)pm_ld(x%zu[OFF_o_%zu(t) + OFF_r_%zu(r)]);\n", i, i,
				    i);
	}
	pm_str_add(&body, "\t\tsum += v;\n\t}\n\tpm_st(&y[t], sum);\n}\n");
	pm__kg_space(&k, "o", dim, e.n_out, over, (int)n_in);
	pm__kg_space(&k, "r", dim + e.n_out, e.n_labels - e.n_out, sum, (int)n_in);
	snprintf(label, sizeof label, "eager Einsum %s", pm_dtype_name(t->dtype));
	st = pm__kg_launch(&k, label, body.s, pm__numel(p, y), pm_op_flops(p->g, n), err);
	pm_str_release(&body);
	return st;
}
