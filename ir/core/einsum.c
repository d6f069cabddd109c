/* SPDX-License-Identifier: Apache-2.0 */
/* einsum.c - reads Einsum's equation. */
#include "ir/core/einsum.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Names of labels while reading: letters, and 1, 2, ... for the dimensions of an ellipsis from the right. */
typedef struct Reader {
	const char *at;
	char *why;
	PmStatus st;
	int name[PM_EINSUM_OPERANDS + 1][PM_MAX_RANK]; /* operands, then the result */
	int dots[PM_EINSUM_OPERANDS];                  /* dimensions the ellipsis of an operand stands for */
	int most_dots;
} Reader;

static int fail(Reader *r, PmStatus st, const char *fmt, ...) PM_PRINTF(3, 4);
static int fail(Reader *r, PmStatus st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->why, 160, fmt, ap);
	va_end(ap);
	r->st = st;
	return -1;
}

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* One term: labels up to ',' or '-' or the end. Returns their number; an ellipsis counts as dots[...] when
 * `rank` is known (an operand), else as most_dots. */
static int term(Reader *r, int which, int rank)
{
	int *name = r->name[which], letters = 0, n = 0, dots, seen = 0, k;
	const char *p;

	for (p = r->at; *p && *p != ',' && *p != '-'; p++)
		letters += is_letter(*p) != 0;
	dots = rank < 0 ? r->most_dots : rank - letters;
	for (; *r->at && *r->at != ',' && *r->at != '-'; r->at++) {
		if (*r->at == ' ')
			continue;
		if (strncmp(r->at, "...", 3) == 0) {
			if (seen++ || dots < 0)
				return fail(r, PM_E_INVALID, "the ellipsis of term %d has no place", which);
			for (k = dots; k > 0 && n < PM_MAX_RANK; k--)
				name[n++] = k;
			r->at += 2;
		} else if (!is_letter(*r->at)) {
			return fail(r, PM_E_INVALID, "term %d has a character that is no letter", which);
		} else if (n == PM_MAX_RANK) {
			return fail(r, PM_E_UNSUPPORTED, "term %d has too many labels", which);
		} else {
			name[n++] = *r->at;
		}
	}
	if (rank >= 0 && n != rank)
		return fail(r, PM_E_INVALID, "term %d does not have the rank of its operand", which);
	if (rank >= 0 && seen) {
		r->dots[which] = dots;
		r->most_dots = dots > r->most_dots ? dots : r->most_dots;
	}
	return n;
}

/* The result's labels when the equation does not say them: the ellipsis, then letters that occur once. */
static int implied(Reader *r, const PmEinsum *e)
{
	int *name = r->name[PM_EINSUM_OPERANDS], n = 0, c, i, k, count;

	for (k = r->most_dots; k > 0; k--)
		name[n++] = k;
	for (c = 'A'; c <= 'z'; c++) {
		count = 0;
		for (i = 0; i < e->n_in; i++)
			for (k = 0; k < e->rank[i]; k++)
				count += r->name[i][k] == c;
		if (count != 1)
			continue;
		if (n == PM_MAX_RANK)
			return fail(r, PM_E_UNSUPPORTED, "the result has more than %d dimensions",
				    PM_MAX_RANK);
		name[n++] = c;
	}
	return n;
}

/* Numbers the labels: the result's first. */
static PmStatus number(Reader *r, PmEinsum *e)
{
	int names[PM_EINSUM_LABELS], i, k, j, used;

	for (k = 0; k < e->n_out; k++) {
		names[k] = r->name[PM_EINSUM_OPERANDS][k];
		used = 0;
		for (j = 0; j < k; j++)
			if (names[j] == names[k])
				fail(r, PM_E_INVALID, "the result has label %d twice", k);
		for (i = 0; i < e->n_in; i++)
			for (j = 0; j < e->rank[i]; j++)
				used |= r->name[i][j] == names[k];
		if (!used)
			fail(r, PM_E_INVALID, "label %d of the result is in no operand", k);
	}
	e->n_labels = e->n_out;
	for (i = 0; i < e->n_in && !r->st; i++)
		for (k = 0; k < e->rank[i] && !r->st; k++) {
			for (j = 0; j < e->n_labels && names[j] != r->name[i][k]; j++)
				;
			if (j == PM_EINSUM_LABELS) {
				fail(r, PM_E_UNSUPPORTED, "there are more than %d labels", PM_EINSUM_LABELS);
				break;
			}
			names[j] = r->name[i][k];
			e->n_labels = j == e->n_labels ? j + 1 : e->n_labels;
			e->label[i][k] = j;
		}
	if (!r->st && e->n_labels - e->n_out > PM_MAX_RANK)
		fail(r, PM_E_UNSUPPORTED, "more than %d labels are summed over", PM_MAX_RANK);
	return r->st;
}

PmStatus pm_einsum_read(const char *equation, const PmType *const *in, size_t n_in, PmEinsum *out,
			char why[160])
{
	Reader r = { .at = equation, .why = why, .st = PM_OK };
	int i;

	memset(out, 0, sizeof *out);
	if (n_in > PM_EINSUM_OPERANDS) {
		fail(&r, PM_E_UNSUPPORTED, "there are more than %d operands", PM_EINSUM_OPERANDS);
		return r.st;
	}
	out->n_in = (int)n_in;
	for (i = 0; i < out->n_in && !r.st; i++) {
		out->rank[i] = in[i]->rank;
		term(&r, i, in[i]->rank);
		if (!r.st && (i + 1 < out->n_in ? *r.at != ',' : *r.at == ','))
			fail(&r, PM_E_INVALID, "the terms of the equation are not the %d operands",
			     out->n_in);
		r.at += *r.at == ',';
	}
	if (r.st)
		return r.st;
	if (strncmp(r.at, "->", 2) == 0) {
		r.at += 2;
		out->n_out = term(&r, PM_EINSUM_OPERANDS, -1);
	} else {
		out->n_out = implied(&r, out);
	}
	if (!r.st && *r.at)
		fail(&r, PM_E_INVALID, "the equation does not end after term %d", out->n_in);
	return r.st ? r.st : number(&r, out);
}

void pm_einsum_dims(const PmEinsum *e, const PmType *const *in, int64_t dim[PM_EINSUM_LABELS])
{
	int i, k;

	for (k = 0; k < PM_EINSUM_LABELS; k++)
		dim[k] = 1;
	for (i = 0; i < e->n_in; i++)
		for (k = 0; k < e->rank[i]; k++)
			if (in[i]->dim[k] != 1)
				dim[e->label[i][k]] = in[i]->dim[k];
}
