/* SPDX-License-Identifier: Apache-2.0 */
/* test_base_str.c - strings, interning, number parsing, hashes. */
#include "base/core/hash.h"
#include "base/core/str.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void strings_grow_and_stay_terminated(void **state)
{
	PmStr s = PM_STR_INIT;
	int i;

	(void)state;
	assert_string_equal(s.s, "");
	for (i = 0; i < 1000; i++)
		pm_str_addf(&s, "%d,", i);
	assert_int_equal(s.len, strlen(s.s));
	assert_memory_equal(s.s, "0,1,2,3,", 8);
	assert_string_equal(s.s + s.len - 5, ",999,");
	pm_str_clear(&s);
	assert_string_equal(s.s, "");
	pm_str_addn(&s, "a\0b", 3);
	pm_str_addc(&s, 'c');
	assert_int_equal(s.len, 4);
	assert_memory_equal(s.s, "a\0bc", 5);
	pm_str_release(&s);
	assert_string_equal(s.s, "");
}

static void detach_gives_an_owned_string_even_when_empty(void **state)
{
	PmStr s = PM_STR_INIT;
	size_t n = 9;
	char *p = pm_str_detach(&s, &n);

	(void)state;
	assert_string_equal(p, "");
	assert_int_equal(n, 0);
	free(p);
	pm_str_add(&s, "abc");
	p = pm_str_detach(&s, NULL);
	assert_string_equal(p, "abc");
	assert_int_equal(s.len, 0);
	free(p);
}

static void quoting_escapes_what_the_contract_lists(void **state)
{
	PmStr s = PM_STR_INIT;

	(void)state;
	pm_str_add_quoted(&s, "a\"b\\c\nd\te\rf\x01g\x7fh\xc3\xa9\0i", 19);
	assert_string_equal(s.s, "\"a\\\"b\\\\c\\nd\\te\\rf\\x01g\\x7Fh\xc3\xa9\\x00i\"");
	pm_str_release(&s);
}

static void equal_strings_get_equal_dense_ids(void **state)
{
	PmIntern *t = pm_intern_new();
	char name[32];
	uint32_t i;

	(void)state;
	assert_int_equal(pm_intern(t, "", 0), 0);
	for (i = 1; i <= 5000; i++) {
		snprintf(name, sizeof name, "name%u", (unsigned)i);
		assert_int_equal(pm_intern(t, name, strlen(name)), i);
	}
	for (i = 1; i <= 5000; i++) {
		snprintf(name, sizeof name, "name%u", (unsigned)i);
		assert_int_equal(pm_intern(t, name, strlen(name)), i);
		assert_int_equal(pm_intern_find(t, name, strlen(name)), i);
		assert_string_equal(pm_intern_text(t, i), name);
	}
	assert_int_equal(pm_intern_find(t, "other", 5), UINT32_MAX);
	assert_string_equal(pm_intern_text(t, 5001), "");
	assert_string_equal(pm_intern_text(t, UINT32_MAX), "");
	pm_intern_free(t);
	pm_intern_free(NULL);
}

static void interned_text_may_hold_nul_and_does_not_move(void **state)
{
	PmIntern *t = pm_intern_new();
	uint32_t a = pm_intern(t, "x\0y", 3), b = pm_intern(t, "x\0z", 3), c = pm_intern(t, "x", 1);
	const char *p = pm_intern_text(t, a);
	char name[16];
	int i;

	(void)state;
	assert_true(a != b && b != c && a != c);
	for (i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, "%d", i);
		pm_intern(t, name, strlen(name));
	}
	assert_ptr_equal(pm_intern_text(t, a), p);
	assert_memory_equal(p, "x\0y", 4);
	pm_intern_free(t);
}

static void borrowed_texts_are_not_copied(void **state)
{
	static const char a[] = "one", b[] = "one";
	PmIntern *t = pm_intern_new_borrowing();

	(void)state;
	assert_int_equal(pm_intern(t, a, 3), 1);
	assert_int_equal(pm_intern(t, b, 3), 1);
	assert_ptr_equal(pm_intern_text(t, 1), a);
	assert_string_equal(pm_intern_text(t, 0), "");
	pm_intern_free(t);
}

static void integers_parse_whole_or_not_at_all(void **state)
{
	static const char *const junk[] = { "",
					    "-",
					    "+",
					    " 1",
					    "1 ",
					    "0x10",
					    "1.0",
					    "1e3",
					    "--1",
					    "9223372036854775808",
					    "-9223372036854775809",
					    "99999999999999999999" };
	int64_t v = 77;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof junk / sizeof *junk; i++)
		assert_false(pm_parse_i64(junk[i], &v));
	assert_int_equal(v, 77);
	assert_true(pm_parse_i64("9223372036854775807", &v));
	assert_true(v == INT64_MAX);
	assert_true(pm_parse_i64("-9223372036854775808", &v));
	assert_true(v == INT64_MIN);
	assert_true(pm_parse_i64("+0042", &v));
	assert_int_equal(v, 42);
}

static void floats_parse_whole_or_not_at_all(void **state)
{
	static const char *const junk[] = { "",    ".",   "-",     "e5",    "1e",    "1e+",    " 1", "1 ",
					    "inf", "nan", "0x1p3", "1.2.3", "1e999", "-1e999", "1f" };
	double v = 77;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof junk / sizeof *junk; i++)
		assert_false(pm_parse_f64(junk[i], &v));
	assert_true(v == 77);
	assert_true(pm_parse_f64("-1.5e-3", &v) && v == -1.5e-3);
	assert_true(pm_parse_f64(".5", &v) && v == .5);
	assert_true(pm_parse_f64("5.", &v) && v == 5);
	assert_true(pm_parse_f64("+1e-320", &v) && v == 1e-320);
}

static void comparisons_take_null(void **state)
{
	(void)state;
	assert_true(pm_str_eq(NULL, NULL));
	assert_false(pm_str_eq(NULL, ""));
	assert_false(pm_str_eq("a", NULL));
	assert_true(pm_str_eq("a", "a"));
	assert_true(pm_str_ends("model.onnx", ".onnx"));
	assert_false(pm_str_ends("nx", ".onnx"));
	assert_true(pm_str_ends("x", ""));
}

static void sha256_gives_the_published_digests(void **state)
{
	char hex[PM_SHA256_HEX];

	(void)state;
	pm_sha256_hex("abc", 3, hex); /* FIPS 180-4, example B.1 */
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	pm_sha256_hex(NULL, 0, hex);
	assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void fnv1a_gives_the_published_values_and_continues(void **state)
{
	(void)state;
	assert_true(pm_hash64("", 0, PM_HASH_SEED) == 0xcbf29ce484222325ull);
	assert_true(pm_hash64("a", 1, PM_HASH_SEED) == 0xaf63dc4c8601ec8cull);
	assert_true(pm_hash64("foobar", 6, PM_HASH_SEED) == 0x85944171f73967e8ull);
	assert_true(pm_hash64("bar", 3, pm_hash64("foo", 3, PM_HASH_SEED)) == 0x85944171f73967e8ull);
}

static void numbers_are_added_as_printf_writes_them(void **state)
{
	static const int64_t v[] = { 0, 9, -1, 10, 1234567890123, INT64_MAX, INT64_MIN };
	PmStr fast = PM_STR_INIT, slow = PM_STR_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		pm_str_addi(&fast, v[i]);
		pm_str_addf(&slow, "%lld", (long long)v[i]);
	}
	assert_string_equal(fast.s, slow.s);
	pm_str_release(&fast);
	pm_str_release(&slow);
}

/* Every byte and the length count: no two of these texts may share a hash. */
static void the_table_hash_sees_every_byte_and_the_length(void **state)
{
	enum { N = 40 };
	uint64_t seen[2 * N + 1];
	char text[N] = { 0 };
	size_t n = 0;

	(void)state;
	for (size_t len = 0; len <= N; len++) /* zeros of every length */
		seen[n++] = pm_hash_bytes(text, len);
	for (size_t i = 0; i < N; i++) { /* one bit at every place */
		text[i] = 1;
		seen[n++] = pm_hash_bytes(text, N);
		text[i] = 0;
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			assert_true(seen[i] != seen[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_grow_and_stay_terminated),
		cmocka_unit_test(detach_gives_an_owned_string_even_when_empty),
		cmocka_unit_test(quoting_escapes_what_the_contract_lists),
		cmocka_unit_test(equal_strings_get_equal_dense_ids),
		cmocka_unit_test(interned_text_may_hold_nul_and_does_not_move),
		cmocka_unit_test(borrowed_texts_are_not_copied),
		cmocka_unit_test(integers_parse_whole_or_not_at_all),
		cmocka_unit_test(floats_parse_whole_or_not_at_all),
		cmocka_unit_test(comparisons_take_null),
		cmocka_unit_test(sha256_gives_the_published_digests),
		cmocka_unit_test(numbers_are_added_as_printf_writes_them),
		cmocka_unit_test(the_table_hash_sees_every_byte_and_the_length),
		cmocka_unit_test(fnv1a_gives_the_published_values_and_continues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
