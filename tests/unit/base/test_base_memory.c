/* SPDX-License-Identifier: Apache-2.0 */
/* test_base_memory.c - arenas, checked heap calls and vectors. */
#include "base/core/arena.h"
#include "base/core/vec.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void arena_memory_is_zeroed_aligned_and_apart(void **state)
{
	PmArena *a = pm_arena_new(0);
	unsigned char *p[200];
	size_t i, k, n;

	(void)state;
	for (i = 0; i < 200; i++) {
		n = i * 37 % 1000;
		p[i] = pm_arena_alloc(a, n);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		for (k = 0; k < n; k++)
			assert_int_equal(p[i][k], 0);
		memset(p[i], (int)i, n);
	}
	for (i = 0; i < 200; i++) {
		n = i * 37 % 1000;
		for (k = 0; k < n; k++)
			assert_int_equal(p[i][k], (unsigned char)i);
	}
	assert_ptr_not_equal(pm_arena_alloc(a, 0), pm_arena_alloc(a, 0));
	pm_arena_free(a);
	pm_arena_free(NULL);
}

static void arena_budget_gives_null_and_stays_usable(void **state)
{
	PmArena *a = pm_arena_new(100);

	(void)state;
	assert_null(pm_arena_alloc(a, 101));
	assert_non_null(pm_arena_alloc(a, 50));
	assert_null(pm_arena_alloc(a, 51));
	assert_non_null(pm_arena_alloc(a, 16));
	assert_true(pm_arena_used(a) >= 66 && pm_arena_used(a) <= 100);
	assert_null(pm_arena_alloc(a, SIZE_MAX));
	assert_null(pm_arena_strndup(a, "x", SIZE_MAX));
	pm_arena_free(a);
}

static void arena_budget_may_be_used_to_the_last_byte(void **state)
{
	PmArena *a = pm_arena_new(100);

	(void)state;
	assert_non_null(pm_arena_alloc(a, 100));
	assert_int_equal(pm_arena_used(a), 100);
	assert_null(pm_arena_alloc(a, 0));
	pm_arena_free(a);
}

static void a_reset_arena_starts_again_zeroed(void **state)
{
	PmArena *a = pm_arena_new(1 << 20);
	unsigned char *p;
	size_t i, k;

	(void)state;
	pm_arena_reset(a);
	for (i = 0; i < 50; i++) {
		assert_int_equal(pm_arena_used(a), 0);
		for (k = 1; k < 100000; k = k * 3 + i) { /* the largest fill blocks of their own */
			p = pm_arena_alloc(a, k);
			assert_non_null(p);
			for (size_t b = 0; b < k; b++)
				assert_int_equal(p[b], 0);
			memset(p, 0xff, k);
		}
		pm_arena_reset(a);
	}
	pm_arena_free(a);
}

static void arena_strings_are_terminated_copies(void **state)
{
	PmArena *a = pm_arena_new(0);
	char text[] = "abcdef";
	char *p = pm_arena_strndup(a, text, 3), *q = pm_arena_strdup(a, text);

	(void)state;
	text[0] = 'X';
	assert_string_equal(p, "abc");
	assert_string_equal(q, "abcdef");
	assert_string_equal(pm_arena_strndup(a, NULL, 0), "");
	pm_arena_free(a);
}

static void vectors_keep_their_elements_when_they_grow(void **state)
{
	PM_VEC(int) v = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 10000; i++)
		PM_VEC_PUSH(&v, i);
	assert_int_equal(v.n, 10000);
	for (i = 0; i < 10000; i++)
		assert_int_equal(v.v[i], i);
	PM_VEC_RELEASE(&v);
	assert_int_equal(v.n, 0);
	assert_null(v.v);
}

/* A table gives away the first place that is free, and grows only when there is none. */
static void free_places_are_used_again(void **state)
{
	PM_VEC(int) v = { 0 };
	size_t at;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		PM_VEC_PUT(&v, , 7, at);
		assert_int_equal(at, i);
	}
	v.v[1] = 0;
	PM_VEC_PUT(&v, , 8, at);
	assert_int_equal(at, 1);
	assert_int_equal(v.v[1], 8);
	assert_int_equal(v.n, 3);
	PM_VEC_PUT(&v, , 9, at);
	assert_int_equal(at, 3);
	PM_VEC_RELEASE(&v);
}

static void hostile_growth_always_moves(void **state)
{
	void *p = pm_xmalloc(16), *q;
	uintptr_t old = (uintptr_t)p;

	(void)state;
	memcpy(p, "0123456789abcdef", 16);
	q = pm_xrealloc(p, 8, 2);
	assert_memory_equal(q, "0123456789abcdef", 16);
#ifdef PM_HOSTILE
	assert_true((uintptr_t)q != old);
#else
	(void)old;
#endif
	free(q);
}

static void products_and_sums_that_do_not_fit_are_refused(void **state)
{
	int64_t v = 5;
	size_t z = 5;

	(void)state;
	assert_true(pm_mul_i64(-3, 7, &v));
	assert_int_equal(v, -21);
	assert_false(pm_mul_i64(INT64_MAX, 2, &v));
	assert_false(pm_mul_i64(INT64_MIN, -1, &v));
	assert_false(pm_add_i64(INT64_MAX, 1, &v));
	assert_int_equal(v, -21);
	assert_true(pm_add_i64(INT64_MAX, INT64_MIN, &v));
	assert_int_equal(v, -1);
	assert_false(pm_mul_size(SIZE_MAX, 2, &z));
	assert_int_equal(z, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_memory_is_zeroed_aligned_and_apart),
		cmocka_unit_test(arena_budget_gives_null_and_stays_usable),
		cmocka_unit_test(arena_budget_may_be_used_to_the_last_byte),
		cmocka_unit_test(a_reset_arena_starts_again_zeroed),
		cmocka_unit_test(arena_strings_are_terminated_copies),
		cmocka_unit_test(vectors_keep_their_elements_when_they_grow),
		cmocka_unit_test(free_places_are_used_again),
		cmocka_unit_test(hostile_growth_always_moves),
		cmocka_unit_test(products_and_sums_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
