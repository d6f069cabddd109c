/* SPDX-License-Identifier: Apache-2.0 */
/* dim_expr.c - sums and products of open sizes. */
#include "ir/infer/dim_expr.h"

#include "base/core/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TERMS = 16, MAX_FACTORS = 8, MAX_NAME_LEN = 64, MAX_FORMULA = 400 };

typedef struct Term {
	int64_t k; /* never 0 */
	int n;
	char name[MAX_FACTORS][MAX_NAME_LEN + 1]; /* sorted */
} Term;

typedef struct Sum {
	int n;             /* 0: the number 0; -1: not known */
	Term t[MAX_TERMS]; /* sorted, no two with the same names; the plain number last */
} Sum;

static Sum *unknown_sum(Sum *s)
{
	s->n = -1;
	return s;
}

/* ---- arithmetic ---- */

static int compare_names(const Term *a, const Term *b)
{
	int i;

	for (i = 0; i < a->n && i < b->n; i++) {
		int c = strcmp(a->name[i], b->name[i]);

		if (c)
			return c;
	}
	return b->n - a->n; /* longer products first, the number last */
}

static void add_term(Sum *s, const Term *t)
{
	int i, c = 1;

	if (s->n < 0 || t->k == 0)
		return;
	for (i = 0; i < s->n && (c = compare_names(&s->t[i], t)) < 0; i++)
		;
	if (i < s->n && c == 0) {
		if (!pm_add_i64(s->t[i].k, t->k, &s->t[i].k)) {
			unknown_sum(s);
		} else if (s->t[i].k == 0) {
			memmove(&s->t[i], &s->t[i + 1], (size_t)(s->n - i - 1) * sizeof *s->t);
			s->n--;
		}
		return;
	}
	if (s->n == MAX_TERMS) {
		unknown_sum(s);
		return;
	}
	memmove(&s->t[i + 1], &s->t[i], (size_t)(s->n - i) * sizeof *s->t);
	s->t[i] = *t;
	s->n++;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* *out = a * b; 0 when that is too large. */
static int mul_terms(const Term *a, const Term *b, Term *out)
{
	Term r;

	if (a->n + b->n > MAX_FACTORS || !pm_mul_i64(a->k, b->k, &r.k))
		return 0;
	r.n = a->n + b->n;
	memcpy(r.name, a->name, (size_t)a->n * sizeof *r.name);
	memcpy(r.name + a->n, b->name, (size_t)b->n * sizeof *r.name);
	qsort(r.name, (size_t)r.n, sizeof *r.name, by_text);
	*out = r;
	return 1;
}

/* *out = a / b; 0 when a is no multiple of b. */
static int div_terms(const Term *a, const Term *b, Term *out)
{
	int i, k = 0;

	if (b->k == 0 || a->k % b->k != 0)
		return 0;
	out->k = a->k / b->k;
	out->n = 0;
	for (i = 0; i < a->n; i++) {
		if (k < b->n && strcmp(a->name[i], b->name[k]) == 0)
			k++;
		else
			memcpy(out->name[out->n++], a->name[i], sizeof *a->name);
	}
	return k == b->n;
}

/* ---- reading ---- */

static int is_name_char(char c, int first)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (!first && ((c >= '0' && c <= '9') || c == '.'));
}

static const char *skip(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/* NUMBER or NAME, put into *t; NULL when there is neither. */
static const char *read_factor(const char *p, Term *t)
{
	Term f = { .k = 1 };
	size_t n = 0;

	if (*p >= '0' && *p <= '9') {
		for (f.k = 0; *p >= '0' && *p <= '9'; p++)
			if (!pm_mul_i64(f.k, 10, &f.k) || !pm_add_i64(f.k, *p - '0', &f.k))
				return NULL;
	} else {
		while (n <= MAX_NAME_LEN && is_name_char(p[n], n == 0))
			n++;
		if (n == 0 || n > MAX_NAME_LEN)
			return NULL;
		memcpy(f.name[0], p, n);
		f.name[0][n] = '\0';
		f.n = 1;
		p += n;
	}
	return mul_terms(t, &f, t) ? p : NULL;
}

/* FACTOR * FACTOR ... + ... - ...; n is -1 when the text is no such formula. */
static void read_sum(const char *p, Sum *s)
{
	int sign = 1;

	s->n = 0;
	p = skip(p);
	if (*p == '-') {
		sign = -1;
		p = skip(p + 1);
	}
	for (;;) {
		Term t = { .k = sign };

		do {
			p = read_factor(skip(*p == '*' ? p + 1 : p), &t);
			p = p ? skip(p) : NULL;
		} while (p && *p == '*');
		if (!p)
			break;
		add_term(s, &t);
		if (*p == '\0')
			return;
		if (*p != '+' && *p != '-')
			break;
		sign = *p == '-' ? -1 : 1;
		p = skip(p + 1);
	}
	unknown_sum(s);
}

static void number(int64_t v, Sum *s)
{
	s->n = v != 0;
	s->t[0].k = v;
	s->t[0].n = 0;
}

static void load(const PmGraph *g, PmDim d, Sum *s)
{
	const char *name = d < 0 ? pm_graph_symbol_name(g, d) : NULL;

	if (d >= 0)
		number(d, s);
	else if (name)
		read_sum(name, s);
	else
		unknown_sum(s);
}

/* ---- writing ---- */

static void write_sum(const Sum *s, PmStr *out)
{
	int i, k;

	for (i = 0; i < s->n; i++) {
		const Term *t = &s->t[i];
		int64_t size = t->k < 0 ? -t->k : t->k;

		if (i)
			pm_str_add(out, t->k < 0 ? " - " : " + ");
		else if (t->k < 0)
			pm_str_addc(out, '-');
		if (size != 1 || !t->n)
			pm_str_addi(out, size);
		for (k = 0; k < t->n; k++)
			pm_str_addf(out, "%s%s", k || size != 1 ? "*" : "", t->name[k]);
	}
}

/* The dimension for a sum; PM_DIM_UNKNOWN when it has a negative coefficient (unless allowed) or is too long.
 */
static PmDim store(const PmGraph *cg, const Sum *s, int may_be_negative)
{
	PmGraph *g = (PmGraph *)(uintptr_t)cg; /* one more symbol does not change what the graph means */
	PmStr text = PM_STR_INIT;
	PmDim d = PM_DIM_UNKNOWN;
	int i, negative = 0;

	for (i = 0; i < s->n; i++)
		negative |= s->t[i].k < 0;
	if (s->n < 0 || (negative && !may_be_negative))
		return PM_DIM_UNKNOWN;
	if (s->n == 0)
		return 0;
	if (s->n == 1 && s->t[0].n == 0)
		return s->t[0].k < 0 ? PM_DIM_UNKNOWN : s->t[0].k;
	write_sum(s, &text);
	if (text.len <= MAX_FORMULA)
		d = pm_graph_symbol(g, text.s);
	pm_str_release(&text);
	return d;
}

/* ---- the interface ---- */

static PmDim add_scaled(const PmGraph *g, PmDim a, PmDim b, int64_t scale)
{
	Sum x, y;
	int i;

	load(g, a, &x);
	load(g, b, &y);
	if (y.n < 0)
		return PM_DIM_UNKNOWN;
	for (i = 0; i < y.n; i++) {
		if (!pm_mul_i64(y.t[i].k, scale, &y.t[i].k))
			return PM_DIM_UNKNOWN;
		add_term(&x, &y.t[i]);
	}
	return store(g, &x, 0);
}

PmDim pm_dim_add(const PmGraph *g, PmDim a, PmDim b)
{
	if (a == 0)
		return b;
	return b == 0 ? a : add_scaled(g, a, b, 1);
}

PmDim pm_dim_sub(const PmGraph *g, PmDim a, PmDim b)
{
	if (a == b && a != PM_DIM_UNKNOWN)
		return 0;
	return b == 0 ? a : add_scaled(g, a, b, -1);
}

PmDim pm_dim_mul(const PmGraph *g, PmDim a, PmDim b)
{
	Sum x, y, r = { 0 };
	int i, k;
	Term t;

	if (a == 0 || b == 0)
		return 0;
	if (a == 1)
		return b;
	if (b == 1)
		return a;
	load(g, a, &x);
	load(g, b, &y);
	if (x.n < 0 || y.n < 0)
		return PM_DIM_UNKNOWN;
	for (i = 0; i < x.n; i++) {
		for (k = 0; k < y.n; k++) {
			if (!mul_terms(&x.t[i], &y.t[k], &t))
				return PM_DIM_UNKNOWN;
			add_term(&r, &t);
		}
	}
	return store(g, &r, 0);
}

PmDim pm_dim_div(const PmGraph *g, PmDim a, PmDim b)
{
	Sum x, y, r = { 0 };
	int i;
	Term t;

	if (b == 1)
		return a;
	load(g, a, &x);
	load(g, b, &y);
	if (x.n < 0 || y.n != 1)
		return PM_DIM_UNKNOWN;
	for (i = 0; i < x.n; i++) {
		if (!div_terms(&x.t[i], &y.t[0], &t))
			return PM_DIM_UNKNOWN;
		add_term(&r, &t);
	}
	return store(g, &r, 0);
}

PmDim pm_dim_named(PmGraph *g, const char *name)
{
	PmDim d;
	Sum s;

	if (!strpbrk(name, "+-*"))
		return pm_graph_symbol(g, name);
	read_sum(name, &s);
	d = store(g, &s, 1);
	return d == PM_DIM_UNKNOWN || d >= 0 ? pm_graph_symbol(g, name) : d;
}

/* The factors of a term that have sizes become part of its number. */
static int bind_term(Term *t, const PmDimSize *sizes, size_t n)
{
	int i, kept = 0;
	size_t k;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < n && strcmp(sizes[k].name, t->name[i]) != 0; k++)
			;
		if (k == n)
			memmove(t->name[kept++], t->name[i], sizeof *t->name);
		else if (!pm_mul_i64(t->k, sizes[k].size, &t->k))
			return 0;
	}
	t->n = kept;
	return 1;
}

PmDim pm_dim_bind(PmGraph *g, PmDim d, const PmDimSize *sizes, size_t n)
{
	const char *name = d < 0 ? pm_graph_symbol_name(g, d) : NULL;
	Sum x, r = { 0 };
	size_t k;
	PmDim to;
	int i;

	for (k = 0; name && k < n; k++) {
		if (strcmp(sizes[k].name, name) == 0)
			return sizes[k].size;
	}
	if (!name)
		return d;
	read_sum(name, &x);
	for (i = 0; i < x.n; i++) {
		if (!bind_term(&x.t[i], sizes, n))
			return d;
		add_term(&r, &x.t[i]);
	}
	to = x.n < 0 ? PM_DIM_UNKNOWN : store(g, &r, 1);
	return to == PM_DIM_UNKNOWN ? d : to;
}
