/* SPDX-License-Identifier: Apache-2.0 */
/* test_replay_verify.c - what a list of timed calls is found to be, when the list, the outputs or the
 * candidate are not what they should be. On the emulated device, whose calls are rehearsed. */
#include "base/core/rng.h"
#include "base/sys/pool.h"
#include "bench/timing/far.h"
#include "bench/timing/replay_verify.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/killed.h"
#include "tests/lib/passes/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

enum { CALLS = 12 };

static const char silu[] = "g (float[5,67] x) => (float[5,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";

typedef struct Bed {
	PmWorker *w;
	PmGraph *g;
	PmWork work;
	PmClockResult c;
	PmReplayResult d;
} Bed;

/* CALLS calls of the graph, as of a candidate that is the baseline; all outputs are kept unless keep_bytes
 * says otherwise. */
static void make_of(Bed *b, const char *graph, int64_t keep_bytes)
{
	PmClockOpts o = { .secret = test_secret(3), .deadline = 60, .keep = 1, .keep_bytes = keep_bytes };
	PmErr err;

	memset(b, 0, sizeof *b);
	pm_err_init(&err);
	b->g = pm_test_graph(graph);
	b->w = pm_worker_new("emu");
	b->work.g = b->g;
	if (pm_clock_rehearse(b->w, b->g, &b->work, CALLS, &o, &b->c, &err))
		fail_msg("%s", err.text);
	assert_int_equal(b->c.calls.n, CALLS);
}

static void make(Bed *b, int64_t keep_bytes)
{
	make_of(b, silu, keep_bytes);
}

static void drop(Bed *b)
{
	pm_clock_release(&b->c);
	pm_worker_free(b->w);
	pm_graph_free(b->g);
}

/* As if the baseline had been timed beside the candidate: every call once more, by side 0. */
static void add_baseline(Bed *b)
{
	for (size_t i = 0; i < CALLS; i++) {
		PmTimedCall t = b->c.calls.v[i];

		t.side = PM_SIDE_BASELINE;
		t.out = NULL;
		PM_VEC_PUSH(&b->c.calls, t);
	}
}

static void check(Bed *b, int baseline, PmReplayState want)
{
	PmReplayOpts o = { .deadline = 60, .secret = test_secret(5), .baseline = baseline ? &b->work : NULL };
	PmErr err;

	pm_err_init(&err);
	if (pm_replay_verify(b->w, b->g, &b->work, 1, &b->c, &o, &b->d, &err))
		fail_msg("%s", err.text);
	if (b->d.state != want)
		fail_msg("state %d (%s) instead of %d", b->d.state, b->d.why, want);
	assert_int_equal(b->d.calls, CALLS);
	assert_int_equal(b->d.replayed, CALLS);
	assert_int_equal(!b->d.why[0], want == PM_REPLAY_OK);
}

/* Changes an element of what a call made, and the digest with it, as if the call had made it so. */
static void alter(Bed *b, size_t call, float value)
{
	PmTimedCall *t = &b->c.calls.v[call];

	pm_tensor_set(&t->out[0], 100, value);
	t->made.out = pm_input_pool_digest(&b->c.pool, t->out, 1);
}

static void honest_calls_are_found_so(void **state)
{
	Bed b;

	(void)state;
	make(&b, 0);
	check(&b, 0, PM_REPLAY_OK);
	assert_int_equal(b.d.compared, 0);
	assert_int_equal(b.d.referenced, CALLS); /* a small graph: there is time for all */
	add_baseline(&b);
	check(&b, 1, PM_REPLAY_OK);
	assert_true(b.d.compared == CALLS && b.d.baseline == CALLS && !b.d.undetermined);
	/* Some while calls were made again, the others behind that; each once. */
	assert_true(b.d.beside >= 1 && b.d.referenced == CALLS);
	drop(&b);
}

/* What a killed process was asked is asked again: no call stays without an answer, and no graph unjudged. */
static void killed_processes_of_the_reference_cost_nothing(void **state)
{
	static const char large[] =
		"g (float[128,1024] x, float[1024,128] y) => (float[128,128] z) { z = MatMul(x, y) }";
	Bed b;

	(void)state;
	make_of(&b, large, 0);
	pm_test_kill_pool(5000, 0);
	check(&b, 0, PM_REPLAY_OK);
	assert_int_equal(b.d.referenced, CALLS);
	assert_true(pm_test_kill_pool_end() > 0 || pm_cpu_count() == 1);
	drop(&b);
}

static void one_wrong_call_is_enough(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) { /* the first and the last, alone and beside a baseline */
		size_t call = i % 2 ? CALLS - 1 : 0;
		Bed b;

		make(&b, 0);
		if (i / 2)
			add_baseline(&b);
		alter(&b, call, 1e6f);
		check(&b, i / 2, PM_REPLAY_WRONG);
		assert_int_equal(b.d.special, 1);
		assert_non_null(strstr(b.d.why, "element 100"));
		assert_true(b.d.failure.timed && b.d.failure.call == (int64_t)call);
		assert_true(b.d.failure.worst.index == 100 && b.d.failure.worst.got == 1e6);
		assert_true(b.d.failure.n_wrong == 1 && b.d.failure.first.index == 100);
		drop(&b);
	}
}

/* The bits differ, the reference has nothing against them: not wrong, but not determined either. */
static void other_bits_of_the_same_value_are_named(void **state)
{
	float y;
	Bed b;

	(void)state;
	make(&b, 0);
	y = (float)pm_tensor_get(b.c.calls.v[4].out, 100);
	alter(&b, 4, y * (1 + 0x1p-22f));
	check(&b, 0, PM_REPLAY_SPECIAL);
	assert_non_null(strstr(b.d.why, "call 4 of 12"));
	drop(&b);
}

/* Nobody kept what it made: its digest gives it away. */
static void a_special_call_is_found_without_its_outputs(void **state)
{
	size_t kept = 0, gone = 0;
	Bed b;

	(void)state;
	make(&b, 1);
	for (size_t i = 0; i < CALLS; i++) {
		kept += b.c.calls.v[i].out != NULL;
		if (!b.c.calls.v[i].out)
			gone = i;
	}
	assert_int_equal(kept, PM_CLOCK_KEPT);
	b.c.calls.v[gone].made.out.v[1] ^= 1;
	check(&b, 0, PM_REPLAY_SPECIAL);
	assert_true(b.d.special == 1 && b.d.referenced == PM_CLOCK_KEPT);
	drop(&b);
}

static void writing_after_the_end_is_found(void **state)
{
	Bed b;

	(void)state;
	make(&b, 0);
	b.c.calls.v[7].altered = 1;
	check(&b, 0, PM_REPLAY_SPECIAL);
	assert_non_null(strstr(b.d.why, "after it had ended"));
	drop(&b);
}

static void a_disturbed_baseline_is_found(void **state)
{
	Bed b;

	(void)state;
	make(&b, 0);
	add_baseline(&b);
	b.c.calls.v[CALLS + 5].made.out.v[0]++;
	check(&b, 1, PM_REPLAY_DISTURBED);
	drop(&b);
}

/* Calls are made again in the processes that were prepared for it; one more is there for the next clock. */
static void prepared_processes_make_the_calls(void **state)
{
	int starts;
	Bed b;

	(void)state;
	make(&b, 0);
	add_baseline(&b);
	pm_worker_prepare(b.w, PM_REPLAY_PROCESSES + 1);
	starts = pm_worker_starts(b.w);
	check(&b, 1, PM_REPLAY_OK);
	assert_int_equal(pm_worker_starts(b.w), starts);
	assert_int_equal(pm_worker_processes(b.w), 1);
	drop(&b);
}

/* Two alternatives that compute the same were timed on the same inputs. */
static void calls_of_every_alternative_are_made_again(void **state)
{
	(void)state;
	for (int wrong = 0; wrong < 2; wrong++) {
		PmReplayOpts o = { .deadline = 60, .secret = test_secret(5) };
		PmWork both[2];
		PmErr err;
		Bed b;

		make(&b, 0);
		both[0] = both[1] = b.work;
		o.baseline = &b.work;
		memcpy(b.c.plan[1], b.c.plan[0], sizeof b.c.plan[0]);
		for (size_t i = 0; i < CALLS; i++) {
			PmTimedCall t = b.c.calls.v[i];

			t.alt = 1;
			t.out = NULL;
			PM_VEC_PUSH(&b.c.calls, t);
		}
		b.c.calls.v[CALLS + 3].out = b.c.calls.v[3].out;
		b.c.calls.v[3].out = NULL;
		if (wrong)
			alter(&b, CALLS + 3, 1e6f);
		pm_err_init(&err);
		assert_int_equal(pm_replay_verify(b.w, b.g, both, 2, &b.c, &o, &b.d, &err), PM_OK);
		assert_int_equal(b.d.replayed, 2 * CALLS);
		assert_int_equal(b.d.compared, CALLS);
		assert_int_equal(b.d.projected, CALLS);
		assert_int_equal(b.d.special, wrong);
		assert_int_equal(b.d.state, wrong ? PM_REPLAY_WRONG : PM_REPLAY_OK);
		assert_int_equal(b.d.failure.alternative, wrong);
		b.c.plan[1][0] ^= 1; /* other kernels than those that were timed */
		assert_int_equal(pm_replay_verify(b.w, b.g, both, 2, &b.c, &o, &b.d, &err), PM_E_ENV);
		drop(&b);
	}
}

/* A digest of the same bytes is the same wherever they lie; of others, under another key, or in another
 * order, it is another. */
static void digests_tell_bytes_apart(void **state)
{
	unsigned char a[70], copy[71];
	PmDigest want = { { 0, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof a; i++)
		a[i] = (unsigned char)(i * 37);
	pm_digest_add(&want, 1, 0, a, sizeof a);
	memcpy(copy + 1, a, sizeof a);
	for (int what = 0; what < 6; what++) {
		PmDigest d = { { 0, 0 } };

		memcpy(copy + 1, a, sizeof a);
		copy[1 + 69] ^= what == 1;
		if (what == 2) {
			memcpy(copy + 1, a + 8, 8);
			memcpy(copy + 9, a, 8);
		}
		pm_digest_add(&d, what == 3 ? 2 : 1, what == 4, copy + 1, (int64_t)sizeof a - (what == 5));
		assert_int_equal(pm_digest_equal(&d, &want), what == 0);
	}
}

/* A sketch tells how far tensors are apart, and which have other NaNs; under another key it is another. */
static void sketches_tell_the_distance(void **state)
{
	int64_t dim[] = { 1009 };
	PmType type = pm_type(PM_F16, 1, dim);
	PmTensor a, b;
	PmSketch sa, sb;
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 1);
	assert_true(!pm_tensor_init(&a, &type, NULL) && !pm_tensor_init(&b, &type, NULL));
	for (int64_t i = 0; i < dim[0]; i++) {
		pm_tensor_set(&a, i, pm_rng_normal(&rng));
		pm_tensor_set(&b, i, pm_tensor_get(&a, i));
	}
	pm_sketch_make(&sa, 1, 0, &a);
	pm_sketch_make(&sb, 1, 0, &b);
	assert_true(pm_sketch_distance(&sa, &sb) == 0);
	pm_sketch_make(&sb, 1, 1, &b);
	assert_true(pm_sketch_distance(&sa, &sb) > 1);
	/* One element, by a tenth of the norm, which is about the root of their number. */
	pm_tensor_set(&b, 500, pm_tensor_get(&b, 500) + 0.1 * sqrt((double)dim[0]));
	pm_sketch_make(&sb, 1, 0, &b);
	assert_true(fabs(pm_sketch_distance(&sa, &sb) - 0.1) < 0.04);
	pm_tensor_set(&b, 500, NAN);
	pm_sketch_make(&sb, 1, 0, &b);
	assert_true(isinf(pm_sketch_distance(&sa, &sb)));
	pm_tensor_set(&a, 500, INFINITY);
	pm_sketch_make(&sa, 1, 0, &a);
	assert_true(isinf(pm_sketch_distance(&sa, &sb)));
	pm_tensor_set(&b, 500, INFINITY);
	pm_sketch_make(&sb, 1, 0, &b);
	assert_true(pm_sketch_distance(&sa, &sb) == 0);
	pm_tensor_release(&a);
	pm_tensor_release(&b);
}

static void far_calls_stand_out(void **state)
{
	/* two outputs; call 3 is far in the second, calls 5 in the first, which is bit for bit else */
	static const double d[] = { 0, 1e-7, 0, 2e-7, 0, 1e-7, 0, 9e-7, 0, 1e-7, 1e-9, 0 };
	double times[6];

	(void)state;
	pm_far_times(d, 6, 2, times);
	assert_true(times[0] == 1 && times[1] == 2 && times[2] == 1 && times[4] == 1);
	assert_true(fabs(times[3] - 9) < 1e-9 && isinf(times[5]));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_tell_bytes_apart),
		cmocka_unit_test(sketches_tell_the_distance),
		cmocka_unit_test(far_calls_stand_out),
		cmocka_unit_test(honest_calls_are_found_so),
		cmocka_unit_test(killed_processes_of_the_reference_cost_nothing),
		cmocka_unit_test(one_wrong_call_is_enough),
		cmocka_unit_test(other_bits_of_the_same_value_are_named),
		cmocka_unit_test(a_special_call_is_found_without_its_outputs),
		cmocka_unit_test(writing_after_the_end_is_found),
		cmocka_unit_test(a_disturbed_baseline_is_found),
		cmocka_unit_test(prepared_processes_make_the_calls),
		cmocka_unit_test(calls_of_every_alternative_are_made_again),
	};

	return cmocka_run_group_tests_name("deferred", tests, NULL, NULL);
}
