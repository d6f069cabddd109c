/* SPDX-License-Identifier: Apache-2.0 */
/* fold_seq.c - recursive folding of sequences with exact comparison.
 *
 * A fold sorts the positions by the `window` tokens that begin there (prefix doubling with counting sorts),
 * and walks the tree of common prefixes of neighbours: every node of that tree is a piece with all its
 * occurrences side by side, and every other piece has as many occurrences as a longer one.
 */
#include "extract/fold_seq.h"

#include <string.h>

typedef struct Sorter {
	uint32_t *order; /* positions, sorted by what begins there */
	uint32_t *rank;  /* by position: equal ranks, equal prefixes */
	uint32_t *other, *next_rank, *count;
	uint32_t *lcp;   /* by place in `order`: common prefix with the one before, `window` at most */
	uint32_t *stack; /* three numbers a frame */
} Sorter;

typedef struct Best {
	int64_t score;
	size_t len, from, count; /* `count` places of the order, from `from` */
} Best;

static void sorter_init(Sorter *s, size_t n, size_t n_ids)
{
	size_t counts = (n > n_ids ? n : n_ids) + 2;

	s->order = pm_xcalloc(n + 1, sizeof *s->order);
	s->rank = pm_xcalloc(n + 1, sizeof *s->rank);
	s->other = pm_xcalloc(n + 1, sizeof *s->other);
	s->next_rank = pm_xcalloc(n + 1, sizeof *s->next_rank);
	s->lcp = pm_xcalloc(n + 2, sizeof *s->lcp);
	s->stack = pm_xcalloc(n + 2, 2 * sizeof *s->stack);
	s->count = pm_xcalloc(counts, sizeof *s->count);
}

static void sorter_release(Sorter *s)
{
	free(s->order);
	free(s->rank);
	free(s->other);
	free(s->next_rank);
	free(s->lcp);
	free(s->stack);
	free(s->count);
}

/* Puts the n positions of `in` into order of key[position], keeping the order of equals. */
static void counting_sort(Sorter *s, const uint32_t *in, const uint32_t *key, size_t n, size_t n_keys)
{
	size_t i;

	memset(s->count, 0, (n_keys + 1) * sizeof *s->count);
	for (i = 0; i < n; i++)
		s->count[key[i] + 1]++;
	for (i = 0; i < n_keys; i++)
		s->count[i + 1] += s->count[i];
	for (i = 0; i < n; i++)
		s->order[s->count[key[in[i]]]++] = in[i];
}

/* The ranks for prefixes of 2k tokens from the order and the ranks for k. Returns how many there are. */
static size_t rerank(Sorter *s, size_t n, size_t k)
{
	size_t i, ranks = 1;

	s->next_rank[s->order[0]] = 0;
	for (i = 1; i < n; i++) {
		uint32_t a = s->order[i - 1], b = s->order[i];
		/* a prefix that the end cuts short equals no other */
		int same = s->rank[a] == s->rank[b] && a + k < n && b + k < n &&
			   s->rank[a + k] == s->rank[b + k];

		ranks += !same;
		s->next_rank[b] = (uint32_t)(ranks - 1);
	}
	memcpy(s->rank, s->next_rank, n * sizeof *s->rank);
	return ranks;
}

/* Sorts the positions by `window` tokens at least (it may be more). */
static void sort_positions(Sorter *s, const uint32_t *t, size_t n, size_t n_ids, size_t window)
{
	size_t i, k, m, ranks = n_ids;

	for (i = 0; i < n; i++) {
		s->other[i] = (uint32_t)i;
		s->rank[i] = t[i];
	}
	counting_sort(s, s->other, s->rank, n, n_ids);
	for (k = 1; k < window; k *= 2) {
		/* by the second half first: it is in order already, `k` places further on */
		m = 0;
		for (i = n > k ? n - k : 0; i < n; i++)
			s->other[m++] = (uint32_t)i;
		for (i = 0; i < n; i++) {
			if (s->order[i] >= k)
				s->other[m++] = s->order[i] - (uint32_t)k;
		}
		counting_sort(s, s->other, s->rank, n, ranks);
		ranks = rerank(s, n, k);
		if (ranks == n)
			break;
	}
}

static void common_prefixes(Sorter *s, const uint32_t *t, size_t n, size_t window)
{
	size_t i, l;

	s->lcp[0] = 0;
	for (i = 1; i < n; i++) {
		size_t a = s->order[i - 1], b = s->order[i], room = n - (a > b ? a : b);

		if (room > window)
			room = window;
		for (l = 0; l < room && t[a + l] == t[b + l]; l++)
			continue;
		s->lcp[i] = (uint32_t)l;
	}
	s->lcp[n] = 0;
}

static void offer(Best *best, size_t len, size_t from, size_t count)
{
	int64_t score = (int64_t)(len - 1) * (int64_t)(count - 1);

	if (len < 2 || score < best->score)
		return;
	if (score == best->score && (len > best->len || (len == best->len && from > best->from)))
		return;
	*best = (Best){ score, len, from, count };
}

/* Every run of neighbours with a common prefix, by a stack of open runs with growing prefixes. */
static Best best_piece(Sorter *s, size_t n)
{
	uint32_t *len = s->stack, *from = s->stack + n + 2;
	Best best = { 1, SIZE_MAX, SIZE_MAX, 0 };
	size_t depth = 0, i;

	for (i = 1; i <= n; i++) {
		size_t begin = i - 1;

		while (depth && len[depth - 1] > s->lcp[i]) {
			depth--;
			begin = from[depth];
			offer(&best, len[depth], begin, i - begin);
		}
		if (s->lcp[i] && (!depth || len[depth - 1] < s->lcp[i])) {
			len[depth] = s->lcp[i];
			from[depth++] = (uint32_t)begin;
		}
	}
	return best;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Moves the starts that do not overlap to the front; returns how many. */
static size_t disjoint(const uint32_t *starts, size_t n, size_t len, uint32_t *kept)
{
	size_t i, m = 0;

	for (i = 0; i < n; i++) {
		if (!m || starts[i] >= kept[m - 1] + len)
			kept[m++] = starts[i];
	}
	return m;
}

/* Copies the tokens between two occurrences, or the symbol when they are another one. */
static size_t copy_gap(uint32_t *to, size_t at, const uint32_t *t, size_t from, size_t end,
		       const uint32_t *piece, size_t len, uint32_t symbol)
{
	if (end - from == len && memcmp(t + from, piece, len * sizeof *t) == 0) {
		to[at++] = symbol;
		return at;
	}
	memmove(to + at, t + from, (end - from) * sizeof *t);
	return at + (end - from);
}

static void add_symbol(PmFoldSeq *f, const uint32_t *piece, size_t len)
{
	size_t i, total = 0;

	for (i = 0; i < len; i++) {
		total += piece[i] < f->first_symbol ? 1 : f->length.v[piece[i] - f->first_symbol];
		PM_VEC_PUSH(&f->body, piece[i]);
	}
	PM_VEC_PUSH(&f->length, total);
	PM_VEC_PUSH(&f->body_at, f->body.n);
}

/* Replaces the piece; 0 when it is no piece worth replacing. */
static int replace(PmFoldSeq *f, Sorter *s, Best best)
{
	uint32_t *t = f->tokens.v, *starts = s->other, *kept = s->next_rank;
	uint32_t symbol = f->first_symbol + (uint32_t)f->length.n;
	size_t n = f->tokens.n, len = best.len, m, i, at = 0, from = 0;
	const uint32_t *piece;
	PmFoldStep step = { symbol, len, best.count, len, 0, best.score, 0 };

	memcpy(starts, s->order + best.from, best.count * sizeof *starts);
	qsort(starts, best.count, sizeof *starts, by_number);
	while ((m = disjoint(starts, best.count, len, kept)) < 2)
		len--;
	if (len < 2)
		return 0;
	add_symbol(f, t + starts[0], len);
	piece = f->body.v + f->body_at.v[f->body_at.n - 2];
	for (i = 0; i < m; i++) {
		at = copy_gap(t, at, t, from, kept[i], piece, len, symbol);
		t[at++] = symbol;
		from = kept[i] + len;
	}
	f->tokens.n = copy_gap(t, at, t, from, n, piece, len, symbol);
	step.used_len = len;
	step.disjoint = m;
	step.n_tokens = f->tokens.n;
	PM_VEC_PUSH(&f->steps, step);
	return 1;
}

/* ---- ranges ---- */

typedef struct Part {
	uint32_t token;
	size_t offset;
} Part;

typedef struct Emit {
	PmFoldSeq *f;
	size_t min, max;
	uint32_t seq;
	PM_VEC(Part) stack;
} Emit;

static void keep_range(Emit *e, size_t offset, size_t len)
{
	PmSeqRange r = { e->seq, (uint32_t)offset, (uint32_t)(offset + len) };

	if (len >= e->min && len < e->max)
		PM_VEC_PUSH(&e->f->ranges, r);
}

static size_t length_of(const PmFoldSeq *f, uint32_t token)
{
	return token < f->first_symbol ? 1 : f->length.v[token - f->first_symbol];
}

/* A body that is too long to be kept whole: its symbols are looked at one by one, and operators that stand
 * between symbols count as one piece. A body of operators alone repeats nowhere in part, and is dropped. */
static void descend(Emit *e, const uint32_t *body, size_t n, size_t offset)
{
	size_t first = e->stack.n, i, j;

	for (i = 0; i < n; i = j) {
		j = i + 1;
		if (body[i] >= e->f->first_symbol) {
			PM_VEC_PUSH(&e->stack, ((Part){ body[i], offset }));
			offset += length_of(e->f, body[i]);
			continue;
		}
		while (j < n && body[j] < e->f->first_symbol)
			j++;
		if (j - i < n)
			keep_range(e, offset, j - i);
		offset += j - i;
	}
	for (i = first, j = e->stack.n; i + 1 < j; i++) { /* so that the first comes off the stack first */
		Part p = e->stack.v[i];

		e->stack.v[i] = e->stack.v[--j];
		e->stack.v[j] = p;
	}
}

static void emit_sequence(Emit *e, const uint32_t *t, size_t n)
{
	size_t i, total = 0;

	for (i = 0; i < n; i++)
		total += length_of(e->f, t[i]);
	if (total < e->max) {
		keep_range(e, 0, total);
		return;
	}
	descend(e, t, n, 0);
	while (e->stack.n) {
		Part p = e->stack.v[--e->stack.n];
		size_t len = length_of(e->f, p.token), k = p.token - e->f->first_symbol;

		if (len < e->min)
			continue;
		if (len < e->max)
			keep_range(e, p.offset, len);
		else
			descend(e, e->f->body.v + e->f->body_at.v[k],
				e->f->body_at.v[k + 1] - e->f->body_at.v[k], p.offset);
	}
}

static int by_place(const void *a, const void *b)
{
	const PmSeqRange *x = a, *y = b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

static void emit_all(PmFoldSeq *f, size_t min, size_t max)
{
	Emit e = { f, min, max, 0, { NULL, 0, 0 } };
	size_t i, from = 0;

	for (i = 0; i <= f->tokens.n && f->n_seq; i++) {
		if (i < f->tokens.n && f->tokens.v[i] >= f->n_seq)
			continue;
		emit_sequence(&e, f->tokens.v + from, i - from);
		e.seq++;
		from = i + 1;
	}
	if (f->ranges.n)
		qsort(f->ranges.v, f->ranges.n, sizeof *f->ranges.v, by_place);
	PM_VEC_RELEASE(&e.stack);
}

PmStatus pm_fold_seq(const uint32_t *ops, const size_t *start, size_t n, uint32_t n_ops,
		     const PmFoldSeqOpts *opts, PmFoldSeq *out, PmErr *err)
{
	size_t window = opts && opts->window ? opts->window : 64, i, k;
	size_t folds = opts && opts->folds ? opts->folds : 17;
	Sorter s;

	memset(out, 0, sizeof *out);
	out->n_seq = n;
	if (n && start[n] + n + folds + n_ops >= INT32_MAX)
		return pm_err(err, PM_E_LIMIT,
			      "Folding takes 2^31 tokens at most; %zu sequences of %zu operators in all are "
			      "more, so fold fewer at once.",
			      n, start[n]);
	out->first_symbol = (uint32_t)n + n_ops;
	PM_VEC_PUSH(&out->body_at, 0);
	PM_VEC_RESERVE(&out->tokens, 1);
	for (i = 0; i < n; i++) {
		if (i)
			PM_VEC_PUSH(&out->tokens, (uint32_t)i);
		for (k = start[i]; k < start[i + 1]; k++)
			PM_VEC_PUSH(&out->tokens, ops[k] + (uint32_t)n);
	}
	sorter_init(&s, out->tokens.n, (size_t)out->first_symbol + folds);
	for (i = 0; i < folds && out->tokens.n; i++) {
		size_t w = window < out->tokens.n ? window : out->tokens.n;
		Best best;

		sort_positions(&s, out->tokens.v, out->tokens.n, out->first_symbol + out->length.n, w);
		common_prefixes(&s, out->tokens.v, out->tokens.n, w);
		best = best_piece(&s, out->tokens.n);
		if (!best.count || !replace(out, &s, best))
			break;
	}
	sorter_release(&s);
	emit_all(out, opts && opts->min_len ? opts->min_len : 4, opts && opts->max_len ? opts->max_len : 64);
	return PM_OK;
}

void pm_fold_seq_release(PmFoldSeq *f)
{
	PM_VEC_RELEASE(&f->steps);
	PM_VEC_RELEASE(&f->tokens);
	PM_VEC_RELEASE(&f->body);
	PM_VEC_RELEASE(&f->body_at);
	PM_VEC_RELEASE(&f->length);
	PM_VEC_RELEASE(&f->ranges);
}
