/* SPDX-License-Identifier: Apache-2.0 */
/* test_base_serve.c - children that answer many requests: echo, memory of their own, hanging, dying. */
#include "base/sys/serve.h"

#include "base/sys/proc_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 1 << 19 }; /* bytes of a reply */

/* Words are orders; anything else comes back with the number of requests so far in front, which begins at 100
 * more than the parent's: what is made without a request is there before the first one. */
static int obey(void *arg, const char *request, size_t n, PmStr *reply)
{
	int *count = arg;

	if (!request) {
		*count += 100;
		pm_str_addf(reply, "nobody reads this");
		return 1; /* ends nothing */
	}
	(*count)++;
	if (n == 4 && !memcmp(request, "hang", 4))
		for (;;)
			pause();
	if (n == 5 && !memcmp(request, "crash", 5)) {
		fprintf(stderr, "about to go\n");
		fflush(stderr);
		abort();
	}
	if (n == 4 && !memcmp(request, "exit", 4))
		_exit(3);
	if (n == 5 && !memcmp(request, "noisy", 5))
		for (int i = 0; i < 20000; i++)
			printf("a line that nobody reads\n");
	if (n == 3 && !memcmp(request, "fat", 3))
		for (int i = 0; i < 1000; i++)
			pm_str_addf(reply, "%1000d", i);
	if (n == 5 && !memcmp(request, "boast", 5)) {
		const uint64_t bytes = (uint64_t)1 << 62;

		if (write(PM__CHANNEL, &bytes, sizeof bytes) != sizeof bytes)
			_exit(4);
		for (;;)
			pause();
	}
	if (n == 6 && !memcmp(request, "double", 6)) { /* the data, twice; of it "half" is left where it is */
		size_t bytes = pm_serve_left();

		for (int i = 0; i < 2; i++) {
			char *data = malloc(bytes + 1);

			if (i == 0 && !pm_serve_take(data, bytes))
				_exit(5);
			memset(data + (i ? 0 : bytes), i ? '2' : 0, i ? bytes : 1);
			pm_serve_give(data, bytes);
		}
	}
	if (n == 4 && !memcmp(request, "half", 4)) {
		char first[2];

		if (!pm_serve_take(first, 2) || pm_serve_take(first, 1 << 24))
			_exit(6);
		pm_str_addn(reply, first, 2);
	}
	pm_str_addf(reply, "%d:", *count);
	pm_str_addn(reply, request, n);
	return n == 4 && !memcmp(request, "last", 4);
}

static PmServer *start(int *count)
{
	PmLimits lim = { .file_size = -1 };
	PmServer *s = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_server_start(obey, count, &lim, &s, &err))
		fail_msg("%s", err.text);
	return s;
}

static void answers(PmServer *s, const char *request, const char *want)
{
	PmStr r = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (pm_server_call(s, "child", request, strlen(request), 20, MOST, &r, &err))
		fail_msg("%s: %s", request, err.text);
	assert_string_equal(r.s, want);
	pm_str_release(&r);
}

static void fails(PmServer *s, const char *request, double seconds, PmStatus want, const char *words)
{
	PmStr r = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_server_call(s, "child", request, strlen(request), seconds, MOST, &r, &err), want);
	if (!strstr(err.text, words))
		fail_msg("\"%s\" does not say \"%s\"", err.text, words);
	assert_false(pm_server_alive(s));
	assert_int_equal(pm_server_call(s, "child", "x", 1, 1, MOST, &r, &err), PM_E_CRASH);
	pm_str_release(&r);
	pm_server_stop(s);
}

static void remembers_between_requests(void **state)
{
	int count = 40;
	PmServer *s = start(&count);

	(void)state;
	answers(s, "a", "141:a");
	answers(s, "", "142:");
	answers(s, "noisy", "143:noisy"); /* what it prints goes nowhere and blocks nothing */
	assert_int_equal(count, 40);      /* its copy, not ours */
	assert_true(pm_server_alive(s));
	pm_server_stop(s);
	pm_server_stop(NULL);
}

/* Its end is not waited for, and nothing can be asked of it. */
static void who_is_dismissed_ends(void **state)
{
	int count = 40;
	PmServer *s = start(&count);
	PmStr r = PM_STR_INIT;

	(void)state;
	answers(s, "a", "141:a");
	pm_server_dismiss(s);
	pm_server_dismiss(s);
	assert_int_equal(pm_server_call(s, "child", "x", 1, 30, MOST, &r, NULL), PM_E_CRASH);
	assert_false(pm_server_alive(s));
	pm_server_kill(s);
	s = start(&count);
	pm_server_dismiss(s); /* maybe before it has begun */
	pm_server_kill(s);
	pm_server_dismiss(NULL);
	pm_server_abandon(start(&count));
	pm_server_abandon(NULL);
	pm_str_release(&r);
}

static void large_requests_pass(void **state)
{
	enum { N = 300000 };
	int count = 0;
	PmServer *s = start(&count);
	char *big = malloc(N);
	PmStr r = PM_STR_INIT;

	(void)state;
	for (int i = 0; i < N; i++)
		big[i] = (char)(i * 7);
	assert_int_equal(pm_server_call(s, "child", big, N, 20, N + 4, &r, NULL), PM_OK);
	assert_int_equal(r.len, N + 4);
	assert_memory_equal(r.s + 4, big, N);
	pm_str_release(&r);
	free(big);
	pm_server_stop(s);
}

static void ends_are_told_apart(void **state)
{
	int count = 0;
	PmServer *s = start(&count);
	PmStr r = PM_STR_INIT;
	PmErr err;

	(void)state;
	fails(start(&count), "hang", 0.2, PM_E_TIMEOUT, "The child did not finish within 0.2 seconds");
	fails(start(&count), "crash", 20, PM_E_CRASH, "about to go");
	fails(start(&count), "exit", 20, PM_E_CRASH, "exited with status 3");
	fails(start(&count), "fat", 20, PM_E_CRASH, "it sent 1000");
	answers(s, "last", "101:last");
	pm_err_init(&err);
	assert_int_equal(pm_server_call(s, "child", "x", 1, 20, MOST, &r, &err), PM_E_CRASH);
	assert_non_null(strstr(err.text, "exited with status 0"));
	pm_server_stop(s);
	pm_str_release(&r);
}

/* A length is only the child's word: no more than was asked for, and no memory for it is no reason to die. */
static void an_announced_length_is_not_believed(void **state)
{
	int count = 0;
	PmServer *s = start(&count);
	PmStr r = PM_STR_INIT;
	PmErr err;

	(void)state;
	fails(start(&count), "boast", 20, PM_E_CRASH,
	      "it sent 4611686018427387904 bytes, where at most 524288");
	pm_err_init(&err);
	assert_int_equal(pm_server_call(s, "child", "boast", 5, 20, UINT64_MAX, &r, &err), PM_E_ENV);
	assert_non_null(strstr(err.text, "no memory for the 4611686018427387904 bytes that the child sends"));
	assert_false(pm_server_alive(s));
	pm_server_stop(s);
	s = start(&count);
	assert_int_equal(pm_server_call(s, "child", "four", 4, 20, 8, &r, &err), PM_OK);
	assert_int_equal(pm_server_call(s, "child", "four", 4, 20, 7, &r, &err), PM_E_CRASH);
	pm_server_stop(s);
	pm_str_release(&r);
}

static void data_follows_both_ways(void **state)
{
	enum { BYTES = 3 << 20 };
	int count = 0;
	PmServer *s = start(&count);
	char *one = malloc(BYTES), *two = malloc(2 * BYTES);
	PmServeBytes send[2] = { { one, 1000 }, { one + 1000, BYTES - 1000 } };
	PmServeRoom take[2] = { { two, BYTES / 2 }, { two + BYTES / 2, BYTES + BYTES / 2 } };
	PmServeData data = { send, 2, take, 2, 0 }, none = { send, 0, NULL, 0, 1 };
	PmStr reply = PM_STR_INIT;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	for (int i = 0; i < BYTES; i++)
		one[i] = (char)(i * 7 + i / 251);
	if (pm_server_call_with(s, "server", "double", 6, &data, 30, MOST, &reply, &err))
		fail_msg("%s", err.text);
	assert_true(data.taken);
	assert_memory_equal(two, one, BYTES);
	assert_true(two[BYTES] == '2' && two[2 * BYTES - 1] == '2');
	assert_string_equal(reply.s, "101:double");
	/* What a child does not take is passed over, and what it does not send is no mistake. */
	pm_str_clear(&reply);
	assert_int_equal(pm_server_call_with(s, "server", "half", 4, &data, 30, MOST, &reply, &err), PM_OK);
	assert_false(data.taken);
	assert_memory_equal(reply.s, one, 2);
	assert_string_equal(reply.s + 2, "102:half");
	pm_str_clear(&reply);
	assert_int_equal(pm_server_call_with(s, "server", "more", 4, &none, 30, MOST, &reply, &err), PM_OK);
	assert_false(none.taken);
	assert_string_equal(reply.s, "103:more");
	/* Data that nobody has room for. */
	take[1].n--;
	pm_str_clear(&reply);
	assert_int_equal(pm_server_call_with(s, "server", "double", 6, &data, 30, MOST, &reply, &err),
			 PM_E_CRASH);
	assert_non_null(strstr(err.text, "sent 6291456 bytes of data, where 6291455 were expected"));
	assert_false(pm_server_alive(s) || data.taken);
	pm_str_release(&reply);
	pm_server_stop(s);
	free(one);
	free(two);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_follows_both_ways),
		cmocka_unit_test(remembers_between_requests),
		cmocka_unit_test(who_is_dismissed_ends),
		cmocka_unit_test(large_requests_pass),
		cmocka_unit_test(ends_are_told_apart),
		cmocka_unit_test(an_announced_length_is_not_believed),
	};

	return cmocka_run_group_tests_name("base_serve", tests, NULL, NULL);
}
