/* SPDX-License-Identifier: Apache-2.0 */
/* test_einsum_chain.c - the order in which an Einsum is contracted, against all orders. */
#include "ir/core/einsum.h"

#include "base/core/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int below(PmRng *r, int n)
{
	return (int)pm_rng_range(r, 0, n - 1);
}

typedef struct Problem {
	PmEinsum e;
	PmType type[PM_EINSUM_OPERANDS];
	const PmType *in[PM_EINSUM_OPERANDS];
	int64_t dim[PM_EINSUM_LABELS];
	uint32_t out, own[PM_EINSUM_OPERANDS];
} Problem;

/* "bclhn,bhcl->bhn" with the extents of letters in `extent`, "b4096 c2"; "1" before a letter of a term: that
 * operand has 1 there. */
static void set_up(Problem *p, const char *equation, const char *extents)
{
	char plain[128], why[160];
	int64_t of[128] = { 0 };
	int n = 0, used = 0, broken = 0;
	const char *s;

	memset(p, 0, sizeof *p);
	for (s = extents; *s; s += *s == ' ') {
		char letter = *s++;
		long v = 0;

		for (; *s >= '0' && *s <= '9'; s++)
			v = v * 10 + (*s - '0');
		of[(int)letter] = v;
	}
	for (s = equation; *s && *s != '-'; s++) {
		PmType *t = &p->type[n];

		if (*s == ',')
			n++;
		else if (*s == '1')
			broken = 1;
		else
			t->dim[t->rank++] = broken ? 1 : of[(int)*s];
		broken = *s == '1';
		if (*s != '1')
			plain[used++] = *s;
	}
	snprintf(plain + used, sizeof plain - (size_t)used, "%s", s);
	for (int i = 0; i <= n; i++) {
		p->type[i].dtype = PM_F32;
		p->in[i] = &p->type[i];
	}
	assert_int_equal(pm_einsum_read(plain, p->in, (size_t)n + 1, &p->e, why), PM_OK);
	pm_einsum_dims(&p->e, p->in, p->dim);
	for (int l = 0; l < p->e.n_out; l++)
		p->out |= p->dim[l] != 1 ? 1u << l : 0;
	for (int i = 0; i <= n; i++)
		for (int d = 0; d < p->e.rank[i]; d++)
			p->own[i] |= p->type[i].dim[d] != 1 ? 1u << p->e.label[i][d] : 0;
}

static int64_t extent(const Problem *p, uint32_t labels)
{
	int64_t n = 1;

	for (int l = 0; l < PM_EINSUM_LABELS; l++)
		n *= labels >> l & 1 ? p->dim[l] : 1;
	return n;
}

static int64_t most(const Problem *p)
{
	int64_t n = extent(p, p->out);

	for (int i = 0; i < p->e.n_in; i++)
		n = extent(p, p->own[i]) > n ? extent(p, p->own[i]) : n;
	return n * PM_EINSUM_GROWTH;
}

/* The cheapest way to make one of n terms, by trying every pair at each step; INT64_MAX: none. */
static int64_t cheapest(const Problem *p, const uint32_t *term, int n)
{
	int64_t best = INT64_MAX;

	if (n == 1)
		return 0;
	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++) {
			uint32_t left[PM_EINSUM_OPERANDS], both = term[i] | term[j], keep = p->out, made;
			int64_t cost;
			int k = 0, dims = 0;

			for (int o = 0; o < n; o++)
				if (o != i && o != j) {
					left[k++] = term[o];
					keep |= term[o];
				}
			made = both & keep;
			for (int l = 0; l < PM_EINSUM_LABELS; l++)
				dims += made >> l & 1;
			if (n > 2 && (extent(p, made) > most(p) || dims > PM_MAX_RANK))
				continue;
			left[k++] = made;
			cost = cheapest(p, left, k);
			if (cost == INT64_MAX)
				continue;
			cost += extent(p, both) * (both == made ? 1 : 2);
			best = cost < best ? cost : best;
		}
	return best;
}

static int64_t naive(const Problem *p)
{
	int64_t n = p->e.n_in;

	for (int l = 0; l < p->e.n_labels; l++)
		n *= p->dim[l];
	return n;
}

/* Follows the chain: every term is used once, labels are those of its terms that are needed later, and the
 * operations are those that it says. */
static void check_chain(const Problem *p, const PmEinsumChain *c)
{
	uint32_t term[2 * PM_EINSUM_OPERANDS] = { 0 };
	int used[2 * PM_EINSUM_OPERANDS] = { 0 }, n = p->e.n_in;
	int64_t flops = 0;

	assert_int_equal(c->n, n - 1);
	for (int i = 0; i < n; i++) {
		assert_int_equal(c->labels[i], p->own[i]);
		term[i] = p->own[i];
	}
	for (int k = 0; k < c->n; k++) {
		const PmEinsumPair *q = &c->pair[k];
		uint32_t both = 0, keep = p->out;

		for (int i = 0; i < 2; i++) {
			assert_in_range(q->term[i], 0, n + k - 1);
			assert_int_equal(used[q->term[i]]++, 0);
			both |= term[q->term[i]];
		}
		for (int i = 0; i < n + k; i++)
			keep |= used[i] ? 0 : term[i];
		assert_int_equal(q->labels, both & keep);
		term[n + k] = q->labels;
		flops += extent(p, both) * (both == q->labels ? 1 : 2);
	}
	assert_int_equal(term[n + c->n - 1], p->out);
	assert_int_equal(flops, c->flops);
}

static void check(const Problem *p)
{
	PmEinsumChain c;
	int64_t best = cheapest(p, p->own, p->e.n_in);
	int is = pm_einsum_chain(&p->e, p->in, &c);

	assert_int_equal(is, p->e.n_in > 2 && p->e.n_labels > p->e.n_out && best < naive(p) &&
				     naive(p) > PM_EINSUM_SMALL);
	if (is) {
		assert_int_equal(c.flops, best);
		check_chain(p, &c);
	}
}

static void chains_are_the_cheapest(void **state)
{
	static const char letters[] = "abcdefg";
	PmRng r;

	(void)state;
	pm_rng_init(&r, 71);
	for (int k = 0; k < 4000; k++) {
		static const int size[] = { 1, 2, 3, 5, 7, 40, 64, 0 };
		int n = 2 + below(&r, k % 100 ? 4 : 5), seen[7] = { 0 };
		char equation[128], extents[64] = "";
		size_t at = 0, end = 0;
		Problem p;

		for (int l = 0; l < 7; l++)
			end += (size_t)snprintf(extents + end, sizeof extents - end, "%c%d ", letters[l],
						size[below(&r, k % 20 ? 7 : 8)]);
		for (int i = 0; i < n; i++) {
			int rank = below(&r, 5);

			if (i)
				equation[at++] = ',';
			while (rank--) {
				int l = below(&r, 7);

				seen[l] = 1;
				if (below(&r, 12) == 0)
					equation[at++] = '1';
				equation[at++] = letters[l];
			}
		}
		equation[at++] = '-';
		equation[at++] = '>';
		for (int l = 0; l < 7; l++)
			if (seen[l] && below(&r, 2))
				equation[at++] = letters[l];
		equation[at] = 0;
		set_up(&p, equation, extents);
		check(&p);
	}
}

/* Mamba-2 as a model has it: three Einsums whose loops over all labels do up to 24 times the operations. */
static void state_spaces(void **state)
{
	static const char sizes[] = "b2048 c2 l64 s64 h8 n16 p64";
	static const struct {
		const char *equation;
		int first[2]; /* the pair that is multiplied first */
		int64_t flops, naive;
	} cases[] = {
		{ "bclhn,bcshn,bhcls,bcshp->bclhp", { 0, 1 }, 21609054208, 549755813888 },
		{ "bclhn,bhcl,bclhp->bchpn", { 0, 1 }, 4328521728, 6442450944 },
		{ "bclhn,bchpn,bhcl->bclhp", { 0, 2 }, 4328521728, 6442450944 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		PmEinsumChain c;
		Problem p;

		set_up(&p, cases[k].equation, sizes);
		assert_int_equal(naive(&p), cases[k].naive);
		assert_true(pm_einsum_chain(&p.e, p.in, &c));
		assert_int_equal(c.flops, cases[k].flops);
		assert_int_equal(c.pair[0].term[0], cases[k].first[0]);
		assert_int_equal(c.pair[0].term[1], cases[k].first[1]);
	}
}

static void the_rule(void **state)
{
	PmEinsumChain c;
	Problem p;

	(void)state;
	/* Each pair of two has 16 times the elements of the largest operand, then 17 times. */
	set_up(&p, "ia,ib,ic->abc", "a16 b16 c16 i300");
	assert_true(pm_einsum_chain(&p.e, p.in, &c));
	set_up(&p, "ia,ib,ic->abc", "a17 b17 c17 i300");
	assert_false(pm_einsum_chain(&p.e, p.in, &c));
	set_up(&p, "ai,bi,ci->abc", "a5 b7 c3 i13"); /* 4095 operations, then more */
	assert_false(pm_einsum_chain(&p.e, p.in, &c));
	set_up(&p, "ai,bi,ci->abc", "a5 b7 c3 i14");
	assert_true(pm_einsum_chain(&p.e, p.in, &c));
	set_up(&p, "ab,bc,ca->abc", "a19 b19 c19"); /* nothing is summed over */
	assert_false(pm_einsum_chain(&p.e, p.in, &c));
	set_up(&p, "ab,bc,cd->ad", "a9 b0 c9 d9");
	assert_false(pm_einsum_chain(&p.e, p.in, &c));
	set_up(&p, "ai,aj,ak->ijk", "a16 i5 j5 k5");
	assert_true(pm_einsum_chain(&p.e, p.in, &c));
	assert_int_equal(c.pair[0].term[0], 0); /* three equal ones: from left to right */
	assert_int_equal(c.pair[0].term[1], 1);
	assert_int_equal(c.pair[1].term[0], 3);
	assert_int_equal(c.pair[1].term[1], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_are_the_cheapest),
		cmocka_unit_test(state_spaces),
		cmocka_unit_test(the_rule),
	};

	return cmocka_run_group_tests_name("einsum_chain", tests, NULL, NULL);
}
