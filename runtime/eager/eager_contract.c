/* SPDX-License-Identifier: Apache-2.0 */
/* eager_contract.c - launches of contractions: a product of matrices for each of a number of batches where it
 * is one; element by element where nothing is summed; else one thread per result, which sums products over
 * the labels the result lacks. */
#include "runtime/eager/contract.h"

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

static int group_of(const PmContraction *c, int label)
{
	int64_t a = c->step[0][label], b = c->step[1][label];

	return a && b ? (label < c->n_out ? BATCH : SUMS) : (a ? ROWS : COLS);
}

/* Sorts labels of more than one element into groups: of the result those of both operands, of one, of the
 * other; and what is summed. The result must have them group by group. 0 when a label is none of these. */
static int sort_labels(const PmContraction *c, Group group[N_GROUPS], int *swap)
{
	int last = BATCH;

	*swap = 0;
	for (int l = 0; l < c->n_labels; l++) {
		int64_t a = c->step[0][l], b = c->step[1][l];
		int g = group_of(c, l);

		if (c->dim[l] == 1)
			continue;
		if ((!a && !b) || (l >= c->n_out && g != SUMS))
			return 0;
		put(&group[g], c->dim[l], a, b);
		if (l >= c->n_out || g == last)
			continue;
		if (last == BATCH)
			*swap = g == COLS;
		else if (g == BATCH || g == (*swap ? COLS : ROWS))
			return 0;
		last = g;
	}
	return 1;
}

/* As a product for a library, whose rows are the second operand's when *swap. 0 when it is none. */
static int as_gemm(const PmContraction *c, PmLibGemm *out, int *swap)
{
	int64_t one[2][N_GROUPS];
	Group group[N_GROUPS] = { { .size = 1 }, { .size = 1 }, { .size = 1 }, { .size = 1 } };
	int rows, cols;

	*swap = 0;
	if (c->n_in != 2 || !sort_labels(c, group, swap) || !group[SUMS].n)
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
	int64_t as[PM_EINSUM_LABELS], bs[PM_EINSUM_LABELS];
} Split;

/* Takes labels off the result's end that `owner` alone has and that have one stride. */
static void take(const PmContraction *c, int owner, int *end, int64_t *size, int64_t *stride)
{
	*size = 1;
	*stride = 0;
	for (int l = *end - 1; l >= 0; l--) {
		int64_t mine = c->step[owner][l];

		if (c->dim[l] != 1) {
			if (c->step[!owner][l] || !mine || (*size > 1 && mine != *stride * *size))
				return;
			if (*size == 1)
				*stride = mine;
			*size *= c->dim[l];
		}
		*end = l;
	}
}

/* 0 when it is no such product. */
static int split_labels(const PmContraction *c, Split *s)
{
	int end = c->n_out, sums = c->n_labels - c->n_out;

	memset(s, 0, sizeof *s);
	if (c->n_in != 2)
		return 0;
	take(c, 1, &end, &s->m.cols, &s->m.bn);
	if (s->m.cols == 1) {
		end = c->n_out;
		s->swap = 1;
		take(c, 0, &end, &s->m.cols, &s->m.bn);
	}
	take(c, s->swap, &end, &s->m.rows, &s->m.am);
	s->batch = end;
	s->m.batches = s->m.depth = 1;
	for (int l = 0; l < end; l++) {
		s->as[l] = c->step[s->swap][l];
		s->bs[l] = c->step[!s->swap][l];
		s->m.batches *= c->dim[l];
	}
	for (int l = c->n_out; l < c->n_labels; l++)
		s->m.depth *= c->dim[l];
	s->m.flops = c->flops;
	return s->m.rows > 1 && s->m.cols > 1 && s->m.depth > 1 &&
	       pm__merge_strides(c->dim + c->n_out, c->step[s->swap] + c->n_out, sums, &s->m.ak) &&
	       pm__merge_strides(c->dim + c->n_out, c->step[!s->swap] + c->n_out, sums, &s->m.bk);
}

static int64_t n_results(const PmContraction *c)
{
	int64_t n = 1;

	for (int l = 0; l < c->n_out; l++)
		n *= c->dim[l];
	return n;
}

static void begin(KGen *k, PmPlan *p, PmNode n, const PmContraction *c, char label[96])
{
	pm__kg_init(k, p, n, c->dtype);
	pm_str_addf(&k->head, "typedef %s A;\n", pm__acc_type(c->dtype));
	snprintf(label, 96, "eager Einsum %s", pm_dtype_name(c->dtype));
}

static PmStatus by_products(PmPlan *p, PmNode n, const PmContraction *c, const Split *s, const Loc *y,
			    PmErr *err)
{
	char label[96];
	KGen k;

	begin(&k, p, n, c, label);
	pm__kg_out(&k, "y", y, c->dtype, n_results(c));
	for (int i = 0; i < 2; i++) {
		int at = s->swap ? !i : i;

		pm__kg_in(&k, i ? "b" : "a", &c->loc[at], c->dtype, c->distinct[at]);
	}
	pm__kg_space(&k, "o", c->dim, s->batch, (const int64_t *const[]){ s->as, s->bs }, 2);
	return pm__multiply(&k, label, &s->m, err);
}

/* --- any -------------------------------------------------------------------------------------------------
 */

/* Nothing is summed over. */
static PmStatus by_elements(PmPlan *p, PmNode n, const PmContraction *c, const Loc *y, PmErr *err)
{
	PmVecOut out = { .loc = y, .dtype = c->dtype, .rank = c->n_out, .dim = c->dim };
	PmVecIn in[PM_EINSUM_OPERANDS];
	PmStr body = PM_STR_INIT;
	char label[96];
	PmStatus st;
	KGen k;

	begin(&k, p, n, c, label);
	pm_str_add(&body, "\tpm_st(&q, (A)pm_ld(e0)");
	for (int i = 0; i < c->n_in; i++) {
		in[i] = (PmVecIn){ .loc = &c->loc[i], .dtype = c->dtype, .numel = c->distinct[i] };
		memcpy(in[i].stride, c->step[i], (size_t)c->n_out * sizeof *c->step[i]);
		if (i)
			pm_str_addf(&body, " * (A)pm_ld(e%d)", i);
	}
	pm_str_add(&body, ");\n");
	st = pm__vec_launch(&k, label, &out, in, c->n_in, body.s, c->flops, err);
	pm_str_release(&body);
	return st;
}

/* The operands from the last to the first when `backwards`. */
static PmStatus by_loops(PmPlan *p, PmNode n, const PmContraction *c, int backwards, const Loc *y, PmErr *err)
{
	const int64_t *over[PM_EINSUM_OPERANDS], *sum[PM_EINSUM_OPERANDS];
	PmStr body = PM_STR_INIT;
	char label[96], name[32];
	PmStatus st;
	KGen k;

	begin(&k, p, n, c, label);
	pm__kg_out(&k, "y", y, c->dtype, n_results(c));
	pm_str_add(&body, "KERNEL\n{\n\tI t = TID;\n\tA sum = 0;\n\n"
			  "\tif (t >= N_o)\n\t\treturn;\n\tfor (I r = 0; r < N_r; r++) {\n"
			  "\t\tA v = (A)pm_ld(x0[OFF_o_0(t) + OFF_r_0(r)]);\n\n");
	for (int at = 0; at < c->n_in; at++) {
		int i = backwards ? c->n_in - 1 - at : at;

		over[i] = c->step[i];
		sum[i] = c->step[i] + c->n_out;
		snprintf(name, sizeof name, "x%d", i);
		pm__kg_in(&k, name, &c->loc[i], c->dtype, c->distinct[i]);
		if (i)
			pm_str_addf(&body, "\t\tv *= (A)pm_ld(x%d[OFF_o_%d(t) + OFF_r_%d(r)]);\n", i, i, i);
	}
	pm_str_add(&body, "\t\tsum += v;\n\t}\n\tpm_st(&y[t], sum);\n}\n");
	pm__kg_space(&k, "o", c->dim, c->n_out, over, c->n_in);
	pm__kg_space(&k, "r", c->dim + c->n_out, c->n_labels - c->n_out, sum, c->n_in);
	st = pm__kg_launch(&k, label, body.s, n_results(c), c->flops, err);
	pm_str_release(&body);
	return st;
}

PmStatus pm__contract(PmPlan *p, PmNode n, const PmContraction *c, const Loc *y, PmErr *err)
{
	size_t first = p->steps.n;
	PmLibGemm product;
	PmStatus st;
	int swap, library = as_gemm(c, &product, &swap);
	Split s;

	/* A library's arguments stand in the order of its factors, and so must ours. */
	if (split_labels(c, &s) && (!library || s.swap == swap))
		st = by_products(p, n, c, &s, y, err);
	else if (c->n_labels == c->n_out)
		st = by_elements(p, n, c, y, err);
	else
		st = by_loops(p, n, c, swap, y, err);
	if (!st && library && p->steps.n == first + 1)
		pm__offer_product(p, c->dtype, &product);
	return st;
}

/* --- the order of the result's labels --------------------------------------------------------------------
 */

static void swap_numbers(int64_t *a, int64_t *b)
{
	int64_t t = *a;

	*a = *b;
	*b = t;
}

/* Sorts the result's labels by a key, the least first; equal ones stay as they are. 1 when that changed it.
 */
static int sort_result(PmContraction *c, int64_t *key, int axis[PM_EINSUM_LABELS])
{
	int changed = 0;

	for (int l = 0; l < c->n_out; l++)
		axis[l] = l;
	for (int l = 1; l < c->n_out; l++)
		for (int k = l; k > 0 && key[k - 1] > key[k]; k--) {
			int t = axis[k];

			axis[k] = axis[k - 1];
			axis[k - 1] = t;
			swap_numbers(&key[k], &key[k - 1]);
			swap_numbers(&c->dim[k], &c->dim[k - 1]);
			for (int i = 0; i < c->n_in; i++)
				swap_numbers(&c->step[i][k], &c->step[i][k - 1]);
			changed = 1;
		}
	return changed;
}

static int sort_groups(PmContraction *c, int axis[PM_EINSUM_LABELS])
{
	int64_t key[PM_EINSUM_LABELS];

	for (int l = 0; l < c->n_out; l++)
		key[l] = c->dim[l] == 1 ? BATCH : group_of(c, l);
	return sort_result(c, key, axis);
}

int pm__contract_group(PmContraction *c, int axis[PM_EINSUM_LABELS])
{
	enum { LEAST = 8 }; /* products for each result, from which another launch that moves them is cheap */
	PmContraction sorted = *c;
	PmLibGemm product;
	Split s;
	int swap;

	for (int l = 0; l < c->n_out; l++)
		axis[l] = l;
	if (c->n_in != 2 || as_gemm(c, &product, &swap) || split_labels(c, &s) || !sort_groups(&sorted, axis))
		return 0;
	if (!split_labels(&sorted, &s) || s.m.depth < LEAST)
		return 0;
	*c = sorted;
	return 1;
}

void pm__contract_arrange(PmContraction *c, int axis[PM_EINSUM_LABELS])
{
	int64_t key[PM_EINSUM_LABELS];
	int larger = c->n_in > 1 && c->distinct[1] > c->distinct[0];

	if (c->n_labels > c->n_out) {
		sort_groups(c, axis);
		return;
	}
	/* Labels that it lacks come first: it is read through for each of their combinations. */
	for (int l = 0; l < c->n_out; l++)
		key[l] = c->step[larger][l] ? -c->step[larger][l] : INT64_MIN;
	sort_result(c, key, axis);
}
