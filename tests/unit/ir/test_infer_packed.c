/* SPDX-License-Identifier: Apache-2.0 */
/* test_infer_packed.c - packed elements: what goes in comes out, in as few bytes as promised. */
#include "base/core/rng.h"
#include "ir/infer/infer_fold_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void same(const PmElem *a, const PmElem *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(a[i].kind, b[i].kind);
		if (a[i].kind != PM_ELEM_UNKNOWN)
			assert_true(a[i].v == b[i].v);
	}
}

static void round_trip(const PmElem *e, size_t n, size_t most)
{
	PmElem *out = calloc(n + 1, sizeof *out);
	PmPacked p = pm__pack(e, n);

	assert_int_equal(p.n, n);
	assert_true(p.size <= most);
	pm__unpack(&p, out);
	same(e, out, n);
	pm__packed_release(&p);
	free(out);
}

/* The widest element of each width, and the first beyond it. */
static void edges_of_widths_come_back(void **state)
{
	static const struct {
		int64_t v;
		size_t width;
	} row[] = { { 0, 1 },
		    { 127, 1 },
		    { -128, 1 },
		    { 128, 2 },
		    { -129, 2 },
		    { INT16_MAX, 2 },
		    { INT16_MIN, 2 },
		    { (int64_t)INT16_MAX + 1, 4 },
		    { INT32_MAX, 4 },
		    { INT32_MIN, 4 },
		    { (int64_t)INT32_MIN - 1, 8 },
		    { INT64_MAX, 8 },
		    { INT64_MIN, 8 } };

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		PmElem e[3] = { { PM_ELEM_INT, row[i].v }, { PM_ELEM_INT, 1 }, { PM_ELEM_INT, -1 } };

		round_trip(e, 3, 3 * row[i].width);
		round_trip(e, 1, 0);
		e[1].kind = PM_ELEM_UNKNOWN;
		round_trip(e, 3, 1 + 2 * row[i].width);
	}
}

static void any_mixture_comes_back(void **state)
{
	PmElem *e = calloc(PM_FOLD_MAX, sizeof *e);
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 1);
	for (size_t n = 0; n <= PM_FOLD_MAX; n = n < 40 ? n + 1 : n * 2 + n % 3) {
		size_t known = 0;

		for (size_t i = 0; i < n; i++) {
			e[i].kind = (uint8_t)pm_rng_range(&rng, 0, 2);
			e[i].v = (int64_t)(pm_rng_u64(&rng) >> pm_rng_range(&rng, 0, 63));
			known += e[i].kind != PM_ELEM_UNKNOWN;
		}
		round_trip(e, n, (n + 3) / 4 + 8 * known);
	}
	free(e);
}

/* An index list of a graph network: from outside one half, the numbers of its nodes the other. */
static void half_known_index_lists_take_little(void **state)
{
	PmElem *e = calloc(PM_FOLD_MAX, sizeof *e);

	(void)state;
	for (size_t i = 0; i < PM_FOLD_MAX; i++)
		e[i] = (PmElem){ i % 2 ? PM_ELEM_INT : PM_ELEM_UNKNOWN, i % 2 ? (int64_t)i : 0 };
	round_trip(e, PM_FOLD_MAX, PM_FOLD_MAX / 4 + PM_FOLD_MAX / 2 * 2);
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_of_widths_come_back),
		cmocka_unit_test(any_mixture_comes_back),
		cmocka_unit_test(half_known_index_lists_take_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
