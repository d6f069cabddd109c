/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_time.c - a source that knows the time told from a compiler that wavers. */
#include "runtime/cuda/nvrtc/nvrtc_time.h"

#include "base/core/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	ROUNDS = 8, /* compilations at each time, at most */
	ENOUGH = 3, /* that kept to their second */
	DAY = 86400,
	FIRST = 11 * 3600,           /* 11:00:00 */
	SECOND = DAY + 31 * 60 + 57, /* 00:31:57 of the next day: no digit is that of the first */
};
static const double late = 0.3; /* of a second: what begins later waits for the next one */

/* Results at one time, as digests. */
typedef struct Results {
	char hex[ROUNDS][PM_SHA256_HEX];
	int n;
	int steady[ROUNDS]; /* it began and ended in one second: the time that it saw is certain */
} Results;

void pm__time_set(int which)
{
	long long now = (long long)time(NULL) % DAY, ahead = (which ? SECOND : FIRST) - now;
	long long size = ahead < 0 ? -ahead : ahead;
	char zone[64];

	/* POSIX counts zones westwards. */
	snprintf(zone, sizeof zone, "PMT%c%02lld:%02lld:%02lld", ahead > 0 ? '-' : '+', size / 3600,
		 size / 60 % 60, size % 60);
	setenv("TZ", zone, 1);
	tzset();
}

static double seconds_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void wait_for_early(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if ((double)t.tv_nsec * 1e-9 > late) {
		struct timespec rest = { 0, 1000000000L - t.tv_nsec };

		nanosleep(&rest, NULL);
	}
}

static void add(Results *r, PmTimedCompile compile, void *arg, int which)
{
	PmStr ptx = PM_STR_INIT;
	PmErr err;
	time_t began;

	wait_for_early();
	pm_err_init(&err);
	began = time(NULL);
	pm__time_set(which);
	if (compile(arg, &ptx, &err))
		pm_str_addf(&ptx, "fails: %s", err.text);
	r->steady[r->n] = time(NULL) == began;
	pm_sha256_hex(ptx.s, ptx.len, r->hex[r->n]);
	r->n++;
	pm_str_release(&ptx);
}

static int common(const Results *a, const Results *b)
{
	for (int i = 0; i < a->n; i++)
		for (int k = 0; k < b->n; k++)
			if (!strcmp(a->hex[i], b->hex[k]))
				return 1;
	return 0;
}

/* 1 when two of the steady results differ. */
static int varies(const Results *r)
{
	for (int i = 0; i < r->n; i++)
		for (int k = 0; k < i; k++)
			if (r->steady[i] && r->steady[k] && strcmp(r->hex[i], r->hex[k]) != 0)
				return 1;
	return 0;
}

/* 1 when two results are the same. */
static int repeats(const Results *r)
{
	for (int i = 0; i < r->n; i++)
		for (int k = 0; k < i; k++)
			if (!strcmp(r->hex[i], r->hex[k]))
				return 1;
	return 0;
}

static int n_steady(const Results *r)
{
	int n = 0;

	for (int i = 0; i < r->n; i++)
		n += r->steady[i];
	return n;
}

PmTimeFinding pm__time_look(PmTimedCompile compile, void *arg, const PmStr *first, double seconds)
{
	double end = seconds_now(CLOCK_MONOTONIC) + seconds;
	Results at[2] = { 0 };
	PmStr again = PM_STR_INIT;
	PmErr err;
	int same;

	pm_err_init(&err);
	pm__time_set(1);
	same = compile(arg, &again, &err) == PM_OK && again.len == first->len &&
	       !memcmp(again.s, first->s, first->len);
	pm_str_release(&again);
	if (same)
		return PM_TIME_UNKNOWN;
	for (int i = 0; i < ROUNDS && (i < 2 || seconds_now(CLOCK_MONOTONIC) < end); i++) {
		add(&at[0], compile, arg, 0);
		add(&at[1], compile, arg, 1);
		if (common(&at[0], &at[1]) || varies(&at[0]) || varies(&at[1]))
			return PM_TIME_WAVERS;
		if (n_steady(&at[0]) >= ENOUGH && n_steady(&at[1]) >= ENOUGH)
			return PM_TIME_KNOWN;
	}
	/* Slow ones, which do not keep to a second: on a busy machine what knows the time sees several. It
	 * comes to the same one again, and never to one of the other time; who has other results each time
	 * wavers. */
	return repeats(&at[0]) && repeats(&at[1]) ? PM_TIME_KNOWN : PM_TIME_WAVERS;
}
