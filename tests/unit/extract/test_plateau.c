/* SPDX-License-Identifier: Apache-2.0 */
/* test_plateau.c - plateaus of kernel count curves. */
#include "extract/plateau.h"

#include "base/core/str.h"
#include "tests/lib/graphs/vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX = 128 };

static void ranges_of(const int64_t *k, size_t n, PmPlateauRule rule, PmStr *out)
{
	PmOpRange r[MAX];
	size_t i, m = pm_plateaus(k, n, rule, r);

	for (i = 0; i < m; i++) {
		assert_true(r[i].end >= r[i].begin + 2 && r[i].end <= n);
		assert_true(!i || r[i].begin >= r[i - 1].end);
		pm_str_addf(out, "%zu-%zu ", r[i].begin, r[i].end);
	}
}

static void want(const int64_t *k, size_t n, const char *current, const char *old)
{
	PmStr s = PM_STR_INIT;

	ranges_of(k, n, PM_PLATEAU_CURRENT, &s);
	assert_string_equal(s.s ? s.s : "", current);
	pm_str_release(&s);
	ranges_of(k, n, PM_PLATEAU_OLD, &s);
	assert_string_equal(s.s ? s.s : "", old);
	pm_str_release(&s);
}

#define WANT(current, old, ...)                                                                              \
	want((const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t),   \
	     current, old)

static void plain_curves(void **state)
{
	(void)state;
	want(NULL, 0, "", "");
	WANT("", "", 1);
	WANT("", "", 1, 2, 3, 4);
	WANT("0-4 ", "0-4 ", 5, 5, 5, 5);
	WANT("0-3 4-6 ", "0-3 4-6 ", 1, 1, 1, 2, 3, 3);
}

static void a_fall_joins_two_levels(void **state)
{
	(void)state;
	WANT("0-4 ", "0-4 ", 6, 6, 5, 5);
	WANT("1-5 ", "1-5 ", 1, 6, 6, 5, 5);
	/* falls to a level of one operator: the old rule drops that level first */
	WANT("0-3 ", "0-2 ", 6, 6, 5);
}

static void a_level_reaches_over_a_rise(void **state)
{
	(void)state;
	/* the old rule joins the ends of a tooth over the gap and then drops what has one */
	WANT("0-5 ", "", 3, 3, 4, 3, 3);
	WANT("0-5 ", "", 2, 3, 2, 3, 2);             /* saw */
	WANT("0-3 3-5 ", "", 3, 3, 2, 3, 3);         /* a dip is a level of its own */
	WANT("0-2 2-5 ", "0-2 3-5 ", 3, 3, 5, 4, 4); /* a tooth that ends on a level of its own */
}

static void load(const char *name, const char *key, int64_t *k, size_t *n)
{
	cJSON *j = vectors_load(VECTORS_SHARED, name), *e;

	*n = 0;
	cJSON_ArrayForEach(e, cJSON_GetObjectItem(j, key))
	{
		if (cJSON_IsArray(e)) {
			k[(*n)++] = (int64_t)cJSON_GetArrayItem(e, 0)->valuedouble;
			k[(*n)++] = (int64_t)cJSON_GetArrayItem(e, 1)->valuedouble;
		} else {
			k[(*n)++] = (int64_t)e->valuedouble;
		}
		assert_true(*n + 2 < MAX);
	}
	cJSON_Delete(j);
}

static void a_measured_curve_gives_the_published_ranges(void **state)
{
	int64_t k[MAX], r[MAX];
	PmStr old = PM_STR_INIT;
	size_t n, m, i;

	(void)state;
	load("../dataset_fixtures/resnet18_cumsum_num_kernels.json", "num_subgraph_kernels", k, &n);
	load("../dataset_fixtures/resnet18_subgraph_ranges.json", "subgraph_ranges", r, &m);
	assert_int_equal(n, 69);
	assert_int_equal(m, 40);
	for (i = 0; i < m; i += 2)
		pm_str_addf(&old, "%d-%d ", (int)r[i], (int)r[i + 1]);
	want(k, n,
	     "0-3 4-7 7-11 11-14 14-18 18-21 21-26 27-30 30-34 34-37 37-42 43-46 46-50 50-53 53-55 55-58 "
	     "59-62 62-68 ",
	     old.s);
	pm_str_release(&old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_curves),
		cmocka_unit_test(a_fall_joins_two_levels),
		cmocka_unit_test(a_level_reaches_over_a_rise),
		cmocka_unit_test(a_measured_curve_gives_the_published_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
