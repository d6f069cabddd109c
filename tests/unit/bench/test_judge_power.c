/* SPDX-License-Identifier: Apache-2.0 */
/* test_judge_power.c - the quick form of `make bench-judge`: honest kernels pass, cheats and drifts do not.
 *
 * One size of each body with at least 1,000 results, in three types. The numbers are the same in every run.
 */
#include "tests/lib/judgelab/judgelab_trial.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SEED = 5, DRAWS = 1, MIXES = 2, CHEATS = 1, TERMS = 100, RESULTS = 1000 };

/* What may pass, in units of the eager run's own error, and where that is more for a reason. */
static double most_drift(const JlCase *c)
{
	static const struct {
		const char *body;
		int type;
		double most;
	} more[] = {
		/* 4.19. All error is that of sums of which only the limit for one element, 1e-9 on the
		 * path of partial sums, asks for (15.1 / 6.1)^2 of their variance
		 * (bench/compare/bound/bound_sum.c). */
		{ "two_layers", 0, 5 },
	};

	for (size_t k = 0; k < sizeof more / sizeof *more; k++)
		if (!strcmp(more[k].body, jl_body_name(c->body)) && more[k].type == c->type)
			return more[k].most;
	return 4;
}

/* Prints what is wrong and returns how much it is. */
static int check(JlCase *c)
{
	static JlHonest h;
	static JlPower p;
	const char *body = jl_body_name(c->body), *type = jl_type_name(c->type);
	int wrong = 0;

	jl_honest_trials(c, SEED, 0, DRAWS, MIXES, &h);
	if (h.refused) {
		wrong++;
		print_error("%s %s: %d of %d honest kernels are refused; %s\n", body, type, h.refused,
			    h.trials, h.worst);
	}
	jl_power_trials(c, SEED, 0, CHEATS, &p);
	for (int k = 0; k < jl_n_cheats(); k++)
		if (p.refused[k] < p.seeds[k]) {
			wrong++;
			print_error("%s %s: '%s' passes; %s\n", body, type, jl_cheat_name(k), p.missed[k]);
		}
	for (int d = 0; d < JL_N_DRIFTS; d++) {
		double passes = jl_largest_drift(c, SEED, (JlDrift)d);

		if (passes > most_drift(c)) {
			wrong++;
			print_error(
				"%s %s: a systematic error (%s) of %.3g times the eager run's own passes\n",
				body, type, jl_drift_name((JlDrift)d), passes);
		}
	}
	return wrong;
}

static void of_type(int type)
{
	int wrong = 0;

	for (int body = 0; body < JL_N_BODIES; body++) {
		int size = -1;
		JlCase c;

		for (int k = 0; k < jl_body_n_sizes(body); k++)
			if (jl_body_size(body, k).terms <= TERMS &&
			    jl_body_size(body, k).outputs >= RESULTS &&
			    jl_body_size(body, k).outputs < 10 * RESULTS)
				size = k;
		assert_true(size >= 0);
		jl_case_open(&c, body, type, size);
		wrong += check(&c);
		jl_case_close(&c);
	}
	assert_int_equal(wrong, 0);
}

static void float32(void **state)
{
	(void)state;
	of_type(0);
}

static void float16(void **state)
{
	(void)state;
	of_type(1);
}

static void bfloat16(void **state)
{
	(void)state;
	of_type(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(float32),
		cmocka_unit_test(float16),
		cmocka_unit_test(bfloat16),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
