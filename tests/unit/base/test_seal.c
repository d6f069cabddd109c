/* SPDX-License-Identifier: Apache-2.0 */
/* test_seal.c - a sealed text holds for its very bytes and its key, and for nothing else. */
#include "base/secret/seal.h"
#include "base/sys/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char payload[] = "{\"verdict\":\"OK\",\"speedup\":1.5}";

typedef struct Keys {
	PmStr dir, one, two;
	char key_one[PM_SEAL_KEY_HEX], key_two[PM_SEAL_KEY_HEX];
} Keys;

static int make_keys(void **state)
{
	static Keys k = { PM_STR_INIT, PM_STR_INIT, PM_STR_INIT, "", "" };

	if (pm_temp_dir("seal", &k.dir, NULL))
		return -1;
	pm_path_join(k.dir.s, "one.key", &k.one);
	pm_path_join(k.dir.s, "two.key", &k.two);
	*state = &k;
	return pm_seal_make_key(k.one.s, k.key_one, NULL) || pm_seal_make_key(k.two.s, k.key_two, NULL);
}

static int remove_keys(void **state)
{
	Keys *k = *state;

	pm_remove_tree(k->dir.s, NULL);
	pm_str_release(&k->dir);
	pm_str_release(&k->one);
	pm_str_release(&k->two);
	return 0;
}

static void seal(const char *key, PmStr *out)
{
	PmErr err;

	pm_err_init(&err);
	if (pm_seal(payload, strlen(payload), key, out, &err))
		fail_msg("%s", err.text);
}

static void what_is_sealed_is_valid(void **state)
{
	const Keys *k = *state;
	PmStr text = PM_STR_INIT;
	PmSealed s;

	seal(k->one.s, &text);
	assert_int_equal(pm_seal_open(text.s, text.len, &s, NULL), PM_OK);
	assert_true(s.is_signed && s.is_valid);
	assert_string_equal(s.key, k->key_one);
	assert_int_equal(s.n, strlen(payload));
	assert_memory_equal(s.payload, payload, s.n);
	assert_string_not_equal(k->key_one, k->key_two);
	pm_str_release(&text);
}

static void a_text_without_a_key_says_so(void **state)
{
	PmStr text = PM_STR_INIT;
	PmSealed s;

	(void)state;
	seal(NULL, &text);
	assert_int_equal(pm_seal_open(text.s, text.len, &s, NULL), PM_OK);
	assert_false(s.is_signed || s.is_valid);
	assert_string_equal(s.key, "");
	pm_str_release(&text);
}

/* Every bit of the payload, of the key and of the signature. */
static void no_bit_can_be_changed(void **state)
{
	const Keys *k = *state;
	PmStr text = PM_STR_INIT;
	PmSealed s;

	seal(k->one.s, &text);
	for (size_t i = 0; i < text.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			char was = text.s[i];

			text.s[i] = (char)(was ^ (1 << bit));
			if (!pm_seal_open(text.s, text.len, &s, NULL) && s.is_valid) {
				/* Digits A to F are those of a to f, and stand for the same bytes. */
				assert_true(i > strlen(payload) && bit == 5 && strchr("abcdef", was));
				assert_string_equal(s.key, k->key_one);
			}
			text.s[i] = was;
		}
	pm_str_release(&text);
}

static void another_key_is_another_signer(void **state)
{
	const Keys *k = *state;
	PmStr one = PM_STR_INIT, two = PM_STR_INIT, mixed = PM_STR_INIT;
	PmSealed s;
	const char *at;

	seal(k->one.s, &one);
	seal(k->two.s, &two);
	assert_int_equal(pm_seal_open(two.s, two.len, &s, NULL), PM_OK);
	assert_string_equal(s.key, k->key_two);
	/* The signature of one under the name of the other. */
	pm_str_add(&mixed, one.s);
	at = strstr(mixed.s, k->key_one);
	assert_non_null(at);
	memcpy(mixed.s + (at - mixed.s), k->key_two, PM_SEAL_KEY_HEX - 1);
	assert_int_equal(pm_seal_open(mixed.s, mixed.len, &s, NULL), PM_OK);
	assert_true(s.is_signed && !s.is_valid);
	pm_str_release(&one);
	pm_str_release(&two);
	pm_str_release(&mixed);
}

static void other_texts_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"{}",
		"\n{}\n",
		"{}\n{}\n",
		"{}\nno\n",
		"{}\n{\"algorithm\":\"ed25519\",\"key\":\"00\",\"signature\":\"00\"}\n",
		"{}\n{}\n{}\n",
		"{}\n{}"
	};
	const Keys *k = *state;
	PmStr text = PM_STR_INIT;
	PmSealed s;
	PmErr err;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		pm_err_init(&err);
		assert_int_equal(pm_seal_open(bad[i], strlen(bad[i]), &s, &err), PM_E_INVALID);
		assert_true(err.text[0]);
	}
	/* Cut off anywhere: never valid, and whole only where the signature is missing altogether. */
	seal(k->one.s, &text);
	for (size_t n = 0; n < text.len; n++) {
		PmStatus st = pm_seal_open(text.s, n, &s, NULL);

		assert_true(st == PM_E_INVALID || (n == strlen(payload) + 1 && !s.is_signed));
	}
	pm_str_release(&text);
}

/* RFC 8032, section 7.1, test 2: the message is the byte 0x72. */
static void signatures_are_those_of_the_standard(void **state)
{
	static const char file[] = "passmith key 1, ed25519: keep this file secret\n"
				   "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb\n";
	static const char want[] =
		"r\n{\"algorithm\":\"ed25519\","
		"\"key\":\"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c\","
		"\"signature\":\"92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
		"085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00\"}\n";
	const Keys *k = *state;
	PmStr path = PM_STR_INIT, out = PM_STR_INIT;

	pm_path_join(k->dir.s, "standard.key", &path);
	assert_int_equal(pm_write_file(path.s, file, sizeof file - 1, NULL), PM_OK);
	assert_int_equal(pm_seal("r", 1, path.s, &out, NULL), PM_OK);
	assert_string_equal(out.s, want);
	pm_str_release(&path);
	pm_str_release(&out);
}

static void keys_are_private_and_not_replaced(void **state)
{
	const Keys *k = *state;
	char again[PM_SEAL_KEY_HEX];
	PmStr out = PM_STR_INIT;
	struct stat info;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(stat(k->one.s, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_int_equal(pm_seal_make_key(k->one.s, again, &err), PM_E_IO);
	assert_non_null(strstr(err.text, "not replaced"));
	assert_int_equal(pm_write_file(k->two.s, "no key", 6, NULL), PM_OK);
	assert_int_equal(pm_seal("{}", 2, k->two.s, &out, &err), PM_E_INVALID);
	assert_int_equal(pm_seal("{}", 2, "/no/such/key", &out, &err), PM_E_NOT_FOUND);
	assert_int_equal(out.len, 0);
	pm_str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sealed_is_valid),
		cmocka_unit_test(a_text_without_a_key_says_so),
		cmocka_unit_test(no_bit_can_be_changed),
		cmocka_unit_test(another_key_is_another_signer),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(keys_are_private_and_not_replaced),
		cmocka_unit_test(signatures_are_those_of_the_standard),
	};

	return cmocka_run_group_tests(tests, make_keys, remove_keys);
}
