/* SPDX-License-Identifier: Apache-2.0 */
/* test_fold_seq.c - folding of sequences: worked examples, brute force, the published numbers. */
#include "base/core/rng.h"
#include "base/core/str.h"
#include "base/sys/proc.h"
#include "extract/fold_seq.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Sequences of letters with blanks between; operator numbers are letters. */
typedef struct Corpus {
	PM_VEC(uint32_t) ops;
	PM_VEC(size_t) start;
} Corpus;

static Corpus letters(const char *text)
{
	Corpus c = { 0 };

	PM_VEC_PUSH(&c.start, 0);
	for (; *text; text++) {
		if (*text == ' ')
			PM_VEC_PUSH(&c.start, c.ops.n);
		else
			PM_VEC_PUSH(&c.ops, (uint32_t)*text);
	}
	PM_VEC_PUSH(&c.start, c.ops.n);
	return c;
}

static void fold(const Corpus *c, const PmFoldSeqOpts *o, PmFoldSeq *f)
{
	PmErr err;

	pm_err_init(&err);
	if (pm_fold_seq(c->ops.v, c->start.v, c->start.n - 1, 512, o, f, &err))
		fail_msg("%s", err.text);
}

static void drop(Corpus *c, PmFoldSeq *f)
{
	PM_VEC_RELEASE(&c->ops);
	PM_VEC_RELEASE(&c->start);
	pm_fold_seq_release(f);
}

/* Tokens as letters, symbols as digits, separators as '|'. */
static void want_tokens(const PmFoldSeq *f, const uint32_t *v, size_t n, const char *want)
{
	PmStr s = PM_STR_INIT;
	size_t i;

	for (i = 0; i < n; i++) {
		if (v[i] < f->n_seq)
			pm_str_addc(&s, '|');
		else if (v[i] < f->first_symbol)
			pm_str_addc(&s, (char)(v[i] - f->n_seq));
		else
			pm_str_addf(&s, "%u", (unsigned)(v[i] - f->first_symbol));
	}
	assert_string_equal(s.s ? s.s : "", want);
	pm_str_release(&s);
}

static void want_body(const PmFoldSeq *f, size_t k, const char *want)
{
	want_tokens(f, f->body.v + f->body_at.v[k], f->body_at.v[k + 1] - f->body_at.v[k], want);
}

static void want_ranges(const PmFoldSeq *f, const char *want)
{
	PmStr s = PM_STR_INIT;
	size_t i;

	for (i = 0; i < f->ranges.n; i++)
		pm_str_addf(&s, "%u:%u-%u ", (unsigned)f->ranges.v[i].seq, (unsigned)f->ranges.v[i].begin,
			    (unsigned)f->ranges.v[i].end);
	assert_string_equal(s.s ? s.s : "", want);
	pm_str_release(&s);
}

static void symbols_hold_symbols(void **state)
{
	Corpus c = letters("abc abcd abcde");
	PmFoldSeqOpts once = { 0, 1, 0, 0 };
	PmFoldSeq f;

	(void)state;
	fold(&c, &once, &f);
	want_tokens(&f, f.tokens.v, f.tokens.n, "0|0d|0de");
	want_body(&f, 0, "abc");
	assert_int_equal(f.steps.v[0].score, 4);
	pm_fold_seq_release(&f);
	fold(&c, NULL, &f);
	want_tokens(&f, f.tokens.v, f.tokens.n, "0|1|1e");
	want_body(&f, 1, "0d");
	assert_int_equal(f.steps.n, 2);
	want_ranges(&f, "1:0-4 2:0-5 ");
	drop(&c, &f);
}

/* The operators of ResNet-18: convolution, batch normalisation, relu, add, pools, flatten, linear. */
static const char resnet18[] = "CBRMCBRCB+RCBRCB+RCBRCBCB+RCBRCB+RCBRCBCB+RCBRCB+RCBRCBCB+RCBRCB+RAFL";

static void a_residual_network_folds_as_worked_out_by_hand(void **state)
{
	Corpus c = letters(resnet18);
	PmFoldSeq f;

	(void)state;
	fold(&c, NULL, &f);
	assert_int_equal(f.steps.n, 2);
	want_body(&f, 0, "CB+RCBRCB+RCBRCBCB+RCBRCB+R");
	assert_int_equal(f.steps.v[0].raw, 3);
	assert_int_equal(f.steps.v[0].disjoint, 2);
	assert_int_equal(f.steps.v[0].score, 52);
	assert_int_equal(f.steps.v[0].n_tokens, 17);
	want_body(&f, 1, "CBR");
	assert_int_equal(f.steps.v[1].score, 4);
	assert_int_equal(f.steps.v[1].n_tokens, 11);
	want_ranges(&f, "0:7-34 0:39-66 ");
	drop(&c, &f);
}

/* All pieces of all lengths by comparison. */
static int64_t brute_score(const uint32_t *t, size_t n, size_t window)
{
	int64_t best = 0;
	size_t len, i, j, count;

	for (len = 2; len <= window && len <= n; len++) {
		for (i = 0; i + len <= n; i++) {
			count = 0;
			for (j = 0; j + len <= n; j++)
				count += memcmp(t + i, t + j, len * sizeof *t) == 0;
			if ((int64_t)(len - 1) * (int64_t)(count - 1) > best)
				best = (int64_t)(len - 1) * (int64_t)(count - 1);
		}
	}
	return best;
}

/* Expands a token to operators. */
static void expand(const PmFoldSeq *f, uint32_t token, PmStr *out)
{
	size_t k = token - f->first_symbol, i;

	if (token < f->n_seq)
		pm_str_addc(out, ' ');
	else if (token < f->first_symbol)
		pm_str_addc(out, (char)(token - f->n_seq));
	else
		for (i = f->body_at.v[k]; i < f->body_at.v[k + 1]; i++)
			expand(f, f->body.v[i], out);
}

static void random_corpora_agree_with_brute_force(void **state)
{
	PmRng rng;
	int round;

	(void)state;
	pm_rng_init(&rng, 11);
	for (round = 0; round < 150; round++) {
		int n_letters = (int)pm_rng_range(&rng, 1, 4), len = (int)pm_rng_range(&rng, 1, 60), i;
		PmFoldSeqOpts first = { (size_t)pm_rng_range(&rng, 2, 12), 1, 0, 0 };
		PmStr text = PM_STR_INIT, back = PM_STR_INIT;
		PmFoldSeq f;
		Corpus c;
		size_t k;

		for (i = 0; i < len; i++) {
			if (i && i + 1 < len && !pm_rng_range(&rng, 0, 15))
				pm_str_addc(&text, ' ');
			pm_str_addc(&text, (char)('a' + pm_rng_range(&rng, 0, n_letters - 1)));
		}
		c = letters(text.s);
		fold(&c, &first, &f);
		{
			/* the joined tokens, before any fold */
			PM_VEC(uint32_t) t = { NULL, 0, 0 };
			size_t s = 0, o;
			int64_t score;

			for (o = 0; o < c.ops.n; o++) {
				while (s + 1 < c.start.n - 1 && o == c.start.v[s + 1])
					PM_VEC_PUSH(&t, (uint32_t)++s);
				PM_VEC_PUSH(&t, c.ops.v[o] + (uint32_t)f.n_seq);
			}
			score = brute_score(t.v, t.n, first.window);
			if (f.steps.n)
				assert_int_equal(f.steps.v[0].score, score);
			else
				assert_true(score <= 1); /* aaa: a piece of two that is never beside itself */
			PM_VEC_RELEASE(&t);
		}
		pm_fold_seq_release(&f);
		fold(&c, NULL, &f); /* and everything can be unfolded */
		for (k = 0; k < f.tokens.n; k++)
			expand(&f, f.tokens.v[k], &back);
		assert_string_equal(back.s, text.s);
		for (k = 0; k < f.ranges.n; k++) {
			assert_true(f.ranges.v[k].end - f.ranges.v[k].begin >= 4);
			assert_true(f.ranges.v[k].end - f.ranges.v[k].begin < 64);
			assert_true(!k || f.ranges.v[k].seq > f.ranges.v[k - 1].seq ||
				    f.ranges.v[k].begin >= f.ranges.v[k - 1].end);
		}
		drop(&c, &f);
		pm_str_release(&text);
		pm_str_release(&back);
	}
}

static void a_piece_whose_occurrences_all_overlap_is_shortened(void **state)
{
	Corpus c = letters("aaaaaaaa"); /* the best piece of at most 6 is a^5: 4 times, never beside itself */
	PmFoldSeqOpts o = { 6, 1, 0, 0 };
	PmFoldSeq f;

	(void)state;
	fold(&c, &o, &f);
	assert_int_equal(f.steps.v[0].len, 4); /* 3 * 4 = 4 * 3: the shorter */
	assert_int_equal(f.steps.v[0].score, 12);
	assert_int_equal(f.steps.v[0].disjoint, 2);
	pm_fold_seq_release(&f);
	PM_VEC_RELEASE(&c.ops);
	PM_VEC_RELEASE(&c.start);
	c = letters("abababa"); /* ababa twice, overlapping: abab fits once, aba twice */
	o.window = 5;
	fold(&c, &o, &f);
	assert_int_equal(f.steps.v[0].score, 4);
	drop(&c, &f);
}

static void nothing_folds_to_nothing(void **state)
{
	Corpus c = letters("");
	PmFoldSeq f;

	(void)state;
	fold(&c, NULL, &f);
	assert_int_equal(f.ranges.n, 0);
	drop(&c, &f);
	c = letters("abcd");
	fold(&c, NULL, &f);
	assert_int_equal(f.steps.n, 0);
	want_ranges(&f, "0:0-4 ");
	drop(&c, &f);
}

/* ---- the published numbers ---- */

static void read_corpus(const char *text, Corpus *c, uint32_t *n_ops)
{
	const char *p = strchr(text, '\n') + 1, *line = strchr(p, '\n');

	*n_ops = 1;
	for (; p < line; p++)
		*n_ops += *p == ',';
	PM_VEC_PUSH(&c->start, 0);
	for (p = line + 1; (p = strchr(p, '\t')) != NULL;) {
		while (*p != '\n' && *p) {
			char *end;
			long v = strtol(p + 1, &end, 10);

			if (end != p + 1)
				PM_VEC_PUSH(&c->ops, (uint32_t)v);
			p = end == p + 1 ? p + 1 : end;
		}
		PM_VEC_PUSH(&c->start, c->ops.n);
	}
}

static void the_corpus_of_2495_models_gives_the_published_numbers(void **state)
{
	static const int64_t want[17] = { 270452, 109497, 77994, 66510, 56952, 48069, 44664, 40752, 39345,
					  37533,  35935,  35154, 33894, 32823, 30318, 28025, 22176 };
	const char *shared = getenv("PASSMITH_SHARED");
	char path[600]; /* a case that is skipped does not come back: nothing is held by then */
	const char *argv[] = { "xz", "-dc", NULL, NULL };
	PmProcResult r;
	Corpus c = { 0 };
	PmFoldSeq f;
	PmErr err;
	uint32_t n_ops;
	size_t i;

	(void)state;
	snprintf(path, sizeof path, "%s/spec/dataset_fixtures/op_sequences.txt.xz",
		 shared ? shared : "../shared");
	pm_test_need_path(path);
	pm_test_need_program("xz");
	pm_err_init(&err);
	argv[2] = path;
	assert_int_equal(pm_run(argv, NULL, 0, NULL, &r, &err), PM_OK);
	assert_true(r.end == PM_PROC_EXITED && r.code == 0);
	read_corpus(r.out.s, &c, &n_ops);
	assert_int_equal(c.start.n - 1, 2495);
	assert_int_equal(c.ops.n, 1386458);
	assert_int_equal(pm_fold_seq(c.ops.v, c.start.v, 2495, n_ops, NULL, &f, &err), PM_OK);
	assert_int_equal(f.steps.n, 17);
	for (i = 0; i < 17; i++)
		assert_int_equal(f.steps.v[i].score, want[i]);
	assert_int_equal(f.steps.v[0].len, 27);
	assert_int_equal(f.steps.v[0].raw, 10403);
	assert_int_equal(f.steps.v[0].disjoint, 7105);
	assert_int_equal(f.tokens.n, 812979);
	assert_int_equal(f.ranges.n, 56419);
	drop(&c, &f);
	pm_proc_result_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_hold_symbols),
		cmocka_unit_test(a_residual_network_folds_as_worked_out_by_hand),
		cmocka_unit_test(random_corpora_agree_with_brute_force),
		cmocka_unit_test(a_piece_whose_occurrences_all_overlap_is_shortened),
		cmocka_unit_test(nothing_folds_to_nothing),
		cmocka_unit_test(the_corpus_of_2495_models_gives_the_published_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
