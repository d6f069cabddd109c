/* SPDX-License-Identifier: Apache-2.0 */
/* load_einsum.c - an Einsum of two operands that is a MatMul of views of them: one label is summed over, and
 * the last two of the result are a row of the first and a column of the second operand. All others are
 * batches.
 */
#include "load.h"

typedef struct Labels {
	char of[3][F_RANK + 1]; /* the operands', the result's */
} Labels;

static int at(const char *labels, char l)
{
	int i;

	for (i = 0; labels[i]; i++)
		if (labels[i] == l)
			return i;
	return -1;
}

/* "bhwc,hkc->bhwk"; 0 for anything but letters, each once in an operand. */
static int parse(const char *s, Labels *l)
{
	int which = 0, n = 0;

	for (; *s; s++) {
		if (*s == ' ')
			continue;
		if ((*s == ',' && !which) || (*s == '-' && s[1] == '>' && which == 1)) {
			s += *s == '-';
			l->of[which++][n] = 0;
			n = 0;
			continue;
		}
		l->of[which][n] = 0;
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z')) || n == F_RANK ||
		    at(l->of[which], *s) >= 0)
			return 0;
		l->of[which][n++] = *s;
	}
	l->of[which][n] = 0;
	return which == 2 && n >= 2;
}

/* The label that is summed over; 0 when there is not exactly one, or one of the result's is in no operand. */
static char summed(const Labels *l)
{
	char k = 0;
	int i, which;

	for (which = 0; which < 2; which++)
		for (i = 0; l->of[which][i]; i++) {
			char x = l->of[which][i];

			if (at(l->of[2], x) >= 0)
				continue;
			if ((k && k != x) || at(l->of[1 - which], x) < 0)
				return 0;
			k = x;
		}
	return k;
}

/* x with its axes in the order of the result, 1 for those that it lacks, then `row` and `col`. */
static int as_matrices(Graph *c, int x, const char *labels, const char *result, char row, char col)
{
	int turned = f_op(c, OP_TRANSPOSE, x, -1), k, i, rank = 0, n = 0;
	int64_t *perm = f_alloc(c, F_RANK * sizeof *perm), dim[F_RANK];

	if (*c->fail)
		return 0;
	for (i = 0; result[i]; i++) {
		char l = result[i + 1] == 0 ? col : result[i + 2] == 0 ? row : result[i];
		int from = at(labels, l);

		dim[rank++] = from < 0 ? 1 : c->op[x].dim[from];
		if (from >= 0) {
			c->op[turned].dim[n] = c->op[x].dim[from];
			perm[n++] = from;
		}
	}
	c->op[turned].par = perm;
	k = f_op(c, OP_RESHAPE, turned, -1);
	for (i = 0; i < 2; i++) {
		Op *o = &c->op[i ? k : turned];

		o->in = f_alloc(c, sizeof *o->in);
		if (*c->fail)
			return 0;
		o->in[0] = i ? turned : x;
		o->n_in = 1;
	}
	c->op[k].rank = (uint8_t)rank;
	for (i = 0; i < rank; i++)
		c->op[k].dim[i] = dim[i];
	return n == c->op[x].rank ? k : 0;
}

int f_load_einsum(Graph *c, const Node *n, int *a, int *b)
{
	Labels l;
	char k, row, col;
	int rank, first;

	if (n->n_in != 2 || !parse(pm_attr_s(n->val, "equation", ""), &l))
		return 0;
	k = summed(&l);
	for (rank = 0; l.of[2][rank]; rank++)
		;
	row = l.of[2][rank - 2];
	col = l.of[2][rank - 1];
	first = at(l.of[0], row) < 0; /* the operand that has the rows */
	if (!k || at(l.of[1 - first], row) >= 0 || at(l.of[first], col) >= 0 || at(l.of[first], row) < 0 ||
	    at(l.of[1 - first], col) < 0)
		return 0;
	*a = as_matrices(c, n->in[first], l.of[first], l.of[2], row, k);
	*b = as_matrices(c, n->in[1 - first], l.of[1 - first], l.of[2], k, col);
	return *a && *b && !*c->fail;
}
