/* SPDX-License-Identifier: Apache-2.0 */
/* diff.c - unified diffs: Myers' shortest edit script, hunks, and applying them. */
#include "app/trajectory/diff.h"

#include "base/core/vec.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 3 };
static const char no_end[] = "\\ No newline at end of file\n";

typedef struct Line {
	const char *s;
	size_t n; /* with its '\n', which the last may lack */
} Line;
typedef PM_VEC(Line) Lines;

static void split(const char *s, Lines *out)
{
	while (*s) {
		const char *end = strchr(s, '\n');
		size_t n = end ? (size_t)(end - s) + 1 : strlen(s);

		PM_VEC_PUSH(out, ((Line){ s, n }));
		s += n;
	}
}

static int same(const Line *a, const Line *b)
{
	return a->n == b->n && memcmp(a->s, b->s, a->n) == 0;
}

/* ---- the shortest edit script ---- */

/* What becomes of the lines: gone[i] of the first text, added[j] of the second; all others are in both. */
typedef struct Edits {
	char *gone, *added;
} Edits;

/* Row d of the trace holds the furthest x on the diagonals -d, -d + 2, ..., d after d edits. */
static int *row_of(int *trace, int d)
{
	return trace + (size_t)d * ((size_t)d + 1) / 2;
}

/* How edit d gets furthest on its diagonal i (x - y = 2i - d): the new x, -1 when it cannot stay inside the
 * texts of n and m lines; *put_in: by a line that is put in, from diagonal i of the row before, else by one
 * that is taken out, from i - 1. */
static int furthest(const int *before, int d, int i, int n, int m, int *put_in)
{
	int out = i > 0 && before[i - 1] >= 0 && before[i - 1] < n ? before[i - 1] + 1 : -1;
	int in = i < d && before[i] >= 0 && before[i] - (2 * i - d) <= m ? before[i] : -1;

	*put_in = in > out;
	return in > out ? in : out;
}

static void trace_back(int *trace, int d, int n, int m, Edits *e)
{
	int x = n, y = m;

	for (; d > 0; d--) {
		const int *before = row_of(trace, d - 1);
		int i = (x - y + d) / 2, put_in, from;

		furthest(before, d, i, n, m, &put_in);
		from = put_in ? i : i - 1;
		x = before[from];
		y = x - (2 * from - (d - 1));
		if (put_in)
			e->added[y] = 1;
		else
			e->gone[x] = 1;
	}
}

/* 0 when more than PM_DIFF_EDITS edits are needed. */
static int find_edits(const Line *a, int n, const Line *b, int m, Edits *e)
{
	int *trace = pm_xcalloc((size_t)(PM_DIFF_EDITS + 1) * (PM_DIFF_EDITS + 2) / 2, sizeof *trace);
	int found = 0;

	for (int d = 0; d <= PM_DIFF_EDITS && !found; d++) {
		int *row = row_of(trace, d);

		for (int i = 0; i <= d && !found; i++) {
			int put_in, x = d ? furthest(row_of(trace, d - 1), d, i, n, m, &put_in) : 0;
			int y = x - (2 * i - d);

			while (x >= 0 && x < n && y < m && same(&a[x], &b[y])) {
				x++;
				y++;
			}
			row[i] = x;
			if (x == n && y == m) {
				found = 1;
				trace_back(trace, d, n, m, e);
			}
		}
	}
	free(trace);
	return found;
}

/* ---- hunks ---- */

static void put_line(PmStr *out, char mark, const Line *l)
{
	pm_str_addc(out, mark);
	pm_str_addn(out, l->s, l->n);
	if (l->s[l->n - 1] != '\n') {
		pm_str_addc(out, '\n');
		pm_str_add(out, no_end);
	}
}

/* Lines [i0, i1) and [j0, j1). Empty ranges name the line before, as diff(1) does. */
static void put_hunk(PmStr *out, const Lines *a, const Lines *b, const Edits *e, size_t i0, size_t i1,
		     size_t j0, size_t j1)
{
	pm_str_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", i0 + (i1 > i0), i1 - i0, j0 + (j1 > j0), j1 - j0);
	while (i0 < i1 || j0 < j1) {
		if (i0 < i1 && e->gone[i0]) {
			put_line(out, '-', &a->v[i0++]);
		} else if (j0 < j1 && e->added[j0]) {
			put_line(out, '+', &b->v[j0++]);
		} else {
			put_line(out, ' ', &a->v[i0++]);
			j0++;
		}
	}
}

static void put_hunks(PmStr *out, const Lines *a, const Lines *b, const Edits *e)
{
	size_t i = 0, j = 0;

	while (i < a->n || j < b->n) {
		size_t i0 = i, j0 = j, same_lines = 0;

		if ((i == a->n || !e->gone[i]) && (j == b->n || !e->added[j])) {
			i++;
			j++;
			continue;
		}
		i0 -= i0 < CONTEXT ? i0 : CONTEXT;
		j0 -= i - i0;
		/* Changes with at most twice the context between them are one hunk. */
		while ((i < a->n || j < b->n) && same_lines <= 2 * CONTEXT) {
			int gone = i < a->n && e->gone[i], added = j < b->n && e->added[j];

			same_lines = gone || added ? 0 : same_lines + 1;
			i += (size_t)(gone || !added);
			j += (size_t)(!gone);
		}
		if (same_lines > CONTEXT) {
			i -= same_lines - CONTEXT;
			j -= same_lines - CONTEXT;
		}
		put_hunk(out, a, b, e, i0, i, j0, j);
	}
}

int pm_diff_unified(const char *before, const char *after, PmStr *out)
{
	Lines a = { NULL, 0, 0 }, b = { NULL, 0, 0 };
	Edits e;
	size_t head = 0;
	int ok;

	split(before, &a);
	split(after, &b);
	e.gone = pm_xcalloc(a.n + 1, 1);
	e.added = pm_xcalloc(b.n + 1, 1);
	while (head < a.n && head < b.n && same(&a.v[head], &b.v[head]))
		head++;
	ok = a.n < INT32_MAX / 2 && b.n < INT32_MAX / 2;
	if (ok) {
		Edits rest = { e.gone + head, e.added + head };

		ok = find_edits(a.v + head, (int)(a.n - head), b.v + head, (int)(b.n - head), &rest);
	}
	if (ok)
		put_hunks(out, &a, &b, &e);
	free(e.gone);
	free(e.added);
	PM_VEC_RELEASE(&a);
	PM_VEC_RELEASE(&b);
	return ok;
}

/* ---- applying ---- */

static PmStatus no_fit(PmErr *err, size_t line)
{
	return pm_err(
		err, PM_E_INVALID,
		"Line %zu of a diff does not fit the file that it changes; the trajectory was changed by "
		"hand or is not whole.",
		line);
}

/* "@@ -a,b +c,d @@": the first line of the old text that the hunk has, from 0. */
static int read_header(const Line *l, size_t *at)
{
	const char *p = l->s + 4;
	char *end;
	unsigned long first, count;

	if (l->n < 4 || memcmp(l->s, "@@ -", 4) != 0)
		return 0;
	first = strtoul(p, &end, 10);
	if (end == p || *end != ',')
		return 0;
	p = end + 1;
	count = strtoul(p, &end, 10);
	if (end == p || (count && !first))
		return 0;
	*at = first - (count > 0);
	return 1;
}

PmStatus pm_diff_apply(const char *before, const char *diff, PmStr *out, PmErr *err)
{
	Lines a = { NULL, 0, 0 }, d = { NULL, 0, 0 };
	size_t i = 0, k, at = 0;
	PmStatus st = PM_OK;

	split(before, &a);
	split(diff, &d);
	for (k = 0; k < d.n && !st; k++) {
		const Line *l = &d.v[k];
		int cut = k + 1 < d.n && d.v[k + 1].s[0] == '\\'; /* the line has no end in the file */
		Line body = { l->s + 1, l->n - 1 - (size_t)(cut && l->n > 1) };

		if (read_header(l, &at)) {
			if (at < i || at > a.n)
				st = no_fit(err, k + 1);
			for (; !st && i < at; i++)
				pm_str_addn(out, a.v[i].s, a.v[i].n);
		} else if (*l->s == '+' && k) {
			pm_str_addn(out, body.s, body.n);
		} else if ((*l->s == ' ' || *l->s == '-') && k && i < a.n && same(&a.v[i], &body)) {
			if (*l->s == ' ')
				pm_str_addn(out, body.s, body.n);
			i++;
		} else if (*l->s != '\\' || !k) {
			st = no_fit(err, k + 1);
		}
	}
	for (; !st && i < a.n; i++)
		pm_str_addn(out, a.v[i].s, a.v[i].n);
	PM_VEC_RELEASE(&a);
	PM_VEC_RELEASE(&d);
	return st;
}
