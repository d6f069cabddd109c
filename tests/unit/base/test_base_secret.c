/* SPDX-License-Identifier: Apache-2.0 */
/* test_base_secret.c - secrets: drawn, derived, kept from child processes. */
#include "base/secret/secret.h"
#include "base/sys/proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { KEY = 32 };

static void two_draws_differ_and_derivation_is_determined(void **state)
{
	PmSecret *a = pm_secret_draw(), *b = pm_secret_draw(), *c = pm_secret_of(5), *d = pm_secret_of(5);
	char ha[PM_SECRET_HEX], hb[PM_SECRET_HEX];

	(void)state;
	pm_secret_hex(a, ha);
	pm_secret_hex(b, hb);
	assert_string_not_equal(ha, hb);
	assert_true(pm_secret_u64(a, "x", 0) != pm_secret_u64(b, "x", 0));
	assert_true(pm_secret_u64(c, "x", 0) == pm_secret_u64(d, "x", 0));
	assert_true(pm_secret_u64(c, "x", 0) != pm_secret_u64(c, "x", 1));
	assert_true(pm_secret_u64(c, "x", 0) != pm_secret_u64(c, "y", 0));
	pm_secret_free(a);
	pm_secret_free(b);
	pm_secret_free(c);
	pm_secret_free(d);
}

static void derived_keys_differ_in_purpose_subject_and_number(void **state)
{
	static const struct {
		const char *purpose, *subject;
		uint64_t number;
	} k[] = { { "a", "", 0 },  { "a", NULL, 1 }, { "", "a", 0 },  { "a", "b", 0 },
		  { "ab", "", 0 }, { "", "ab", 0 },  { "a", "b", 1 }, { "b", "a", 0 } };
	enum { N = sizeof k / sizeof *k };
	PmSecret *root = pm_secret_of(1);
	char hex[N][PM_SECRET_HEX];

	(void)state;
	for (size_t i = 0; i < N; i++) {
		PmSecret *s = pm_secret_derive(root, k[i].purpose, k[i].subject, k[i].number);

		pm_secret_hex(s, hex[i]);
		pm_secret_free(s);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(hex[i], hex[j]);
	}
	pm_secret_free(root);
}

static void text_is_64_digits_or_nothing(void **state)
{
	static const char digits[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
	char hex[PM_SECRET_HEX], bad[80];
	PmSecret *s = pm_secret_parse(digits);

	(void)state;
	assert_non_null(s);
	pm_secret_hex(s, hex);
	assert_string_equal(hex, digits);
	pm_secret_free(s);
	assert_null(pm_secret_parse(NULL));
	assert_null(pm_secret_parse(""));
	assert_null(pm_secret_parse(digits + 1));
	snprintf(bad, sizeof bad, "%s0", digits);
	assert_null(pm_secret_parse(bad));
	snprintf(bad, sizeof bad, "%s", digits);
	bad[20] = 'g';
	assert_null(pm_secret_parse(bad));
}

/* How often the bytes lie in the memory of this process that can be read; each is given with its bits
 * turned, so that the search does not find itself. */
static int find_in_memory(const unsigned char turned[KEY])
{
	FILE *maps = fopen("/proc/self/maps", "r"), *mem = fopen("/proc/self/mem", "r");
	static unsigned char page[4096 + KEY];
	unsigned long from, to;
	char line[512], may;
	int n = 0;

	if (!maps || !mem)
		return -1;
	setvbuf(mem, NULL, _IONBF, 0);
	while (fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%lx-%lx %c", &from, &to, &may) != 3 || may != 'r')
			continue;
		for (; from < to; from += 4096) {
			if (pread(fileno(mem), page, 4096, (off_t)from) != 4096)
				break;
			for (int i = 0; i + KEY <= 4096; i++) {
				int k = 0;

				while (k < KEY && page[i + k] == (unsigned char)~turned[k])
					k++;
				n += k == KEY;
			}
			memset(page, 0, sizeof page);
		}
	}
	fclose(maps);
	fclose(mem);
	return n;
}

static int search(void *arg, PmStr *out)
{
	int n = find_in_memory(arg);

	pm_str_addn(out, &n, sizeof n);
	return 0;
}

static int in_child(unsigned char turned[KEY])
{
	PmLimits lim = { .file_size = -1 };
	PmProcResult r;
	PmErr err;
	int n = -2;

	pm_err_init(&err);
	if (pm_fork_call(search, turned, &lim, &r, &err))
		fail_msg("%s", err.text);
	assert_int_equal(r.out.len, sizeof n);
	memcpy(&n, r.out.s, sizeof n);
	pm_proc_result_release(&r);
	return n;
}

/* What a worker that runs a candidate's kernels could read in its own memory. */
static void no_child_inherits_a_secret(void **state)
{
	PmSecret *root = pm_secret_draw(), *s = pm_secret_derive(root, "member", "a", 0);
	unsigned char *plain = malloc(KEY), turned[KEY];
	char hex[PM_SECRET_HEX];
	int n;

	(void)state;
	assert_non_null(plain);
	pm_secret_u64(s, "inputs", 3);
	pm_secret_hex(s, hex);
	for (int i = 0; i < KEY; i++) {
		unsigned v;

		assert_int_equal(sscanf(hex + (size_t)i * 2, "%2x", &v), 1);
		turned[i] = (unsigned char)~v;
	}
	assert_true(find_in_memory(turned) >= 1); /* here it is */
	n = in_child(turned);
	assert_int_equal(n, 0);
	for (int i = 0; i < KEY; i++) /* and what is inherited would be found */
		plain[i] = (unsigned char)~turned[i];
	assert_true(in_child(turned) >= 1);
	free(plain);
	pm_secret_free(s);
	pm_secret_free(root);
}

static int derive_and_look(void *arg, PmStr *out)
{
	const PmSecret *s = arg;
	uint64_t v = pm_secret_u64(s, "inputs", 3);
	unsigned char here[2];

	pm_secret_lend(s, 0);
	pm_str_addn(out, &v, sizeof v);
	if (fork() == 0) /* mincore tells whether the page is there at all */
		_exit(!mincore((void *)((uintptr_t)s & ~(uintptr_t)4095), 1, here));
	int status = 0;
	wait(&status);
	return WEXITSTATUS(status);
}

/* A process that goes on with the work derives the same; what it starts has nothing. */
static void what_is_lent_goes_one_step(void **state)
{
	PmSecret *s = pm_secret_of(11);
	PmLimits lim = { .file_size = -1 };
	uint64_t mine = pm_secret_u64(s, "inputs", 3), its = 0;
	PmProcResult r;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_secret_lend(s, 1);
	assert_int_equal(pm_fork_call(derive_and_look, s, &lim, &r, &err), PM_OK);
	pm_secret_lend(s, 0);
	assert_int_equal(r.end, PM_PROC_EXITED);
	assert_int_equal(r.code, 0);
	assert_int_equal(r.out.len, sizeof its);
	memcpy(&its, r.out.s, sizeof its);
	assert_true(its == mine);
	pm_proc_result_release(&r);
	/* And when it is no longer lent, children have nothing again. */
	assert_int_equal(pm_fork_call(derive_and_look, s, &lim, &r, &err), PM_OK);
	assert_int_equal(r.end, PM_PROC_SIGNALED);
	pm_proc_result_release(&r);
	pm_secret_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_draws_differ_and_derivation_is_determined),
		cmocka_unit_test(derived_keys_differ_in_purpose_subject_and_number),
		cmocka_unit_test(text_is_64_digits_or_nothing),
		cmocka_unit_test(no_child_inherits_a_secret),
		cmocka_unit_test(what_is_lent_goes_one_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
