/* test_sampler.c - what happens around a timed call: fresh inputs, poison, emptied caches, one order of
 * events. The emulated device gets a clock that writes down what it is asked for. */
#include "base/proc.h"
#include "base/str.h"
#include "bench/inputs.h"
#include "ir/text.h"
#include "runtime/sampler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

enum { SETS = 3 };

static PmStr log_text = PM_STR_INIT; /* a letter per call */
static PmStatus (*inner_launch)(PmDevice *d, const PmDevLaunch *l, PmErr *err);
static PmStatus (*inner_record)(PmDevice *d, int slot, PmErr *err);
static double last_delay;
static int hang_ms; /* how long the host takes over a launch */

static PmStatus quiet(PmDevice *d, int on, PmErr *err)
{
	(void)d, (void)err;
	pm_str_addc(&log_text, on ? 'Q' : 'q');
	return PM_OK;
}

static PmStatus flush(PmDevice *d, PmErr *err)
{
	(void)d, (void)err;
	pm_str_addc(&log_text, 'F');
	return PM_OK;
}

static PmStatus delay(PmDevice *d, double seconds, PmErr *err)
{
	(void)d, (void)err;
	assert_true(seconds > 0);
	last_delay = seconds;
	pm_str_addc(&log_text, 'D');
	return PM_OK;
}

static PmStatus launch(PmDevice *d, const PmDevLaunch *l, PmErr *err)
{
	double until = pm_now() + hang_ms * 1e-3;

	pm_str_addc(&log_text, 'L');
	while (pm_now() < until)
		;
	return inner_launch(d, l, err);
}

static PmStatus record(PmDevice *d, int slot, PmErr *err)
{
	pm_str_addc(&log_text, slot ? 'E' : 'B');
	return inner_record(d, slot, err);
}

static int next_replay;

static PmStatus record_begin(PmDevice *d, PmErr *err)
{
	(void)d, (void)err;
	pm_str_addc(&log_text, '[');
	return PM_OK;
}

static PmStatus record_end(PmDevice *d, PmReplay *out, PmErr *err)
{
	(void)d, (void)err;
	pm_str_addc(&log_text, ']');
	out->id = (uint32_t)++next_replay;
	return PM_OK;
}

static PmStatus replay(PmDevice *d, PmReplay r, PmErr *err)
{
	(void)d, (void)err;
	assert_true(r.id >= 1 && (int)r.id <= next_replay);
	pm_str_addc(&log_text, 'R');
	return PM_OK;
}

static void replay_drop(PmDevice *d, PmReplay r)
{
	(void)d, (void)r;
}

typedef struct Bed {
	PmDevice *d;
	PmDeviceOps ops;
	PmClockOps clock;
	PmGraph *g;
	PmPlan *plan;
	PmExec *x[2];
	PmTensor t[SETS], table;
	PmBank bank;
	PmSampler *s;
} Bed;

static void make(Bed *b)
{
	static const char text[] =
		"g (float[6,4] x) => (float[6,4] y) { a = Neg(x)\n c = Exp(a)\n y = Abs(c) }";
	PmErr err;

	memset(b, 0, sizeof *b);
	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &b->g, &err) || pm_device_open("emu", &b->d, &err) ||
	    pm_plan_new(b->g, NULL, 0, &b->plan, &err))
		fail_msg("%s", err.text);
	b->clock = (PmClockOps){ .quiet = quiet,
				 .flush = flush,
				 .delay = delay,
				 .record_begin = record_begin,
				 .record_end = record_end,
				 .replay = replay,
				 .replay_drop = replay_drop };
	b->ops = *b->d->ops;
	inner_launch = b->ops.launch;
	inner_record = b->ops.event_record;
	b->ops.launch = launch;
	b->ops.event_record = record;
	b->ops.clock = &b->clock;
	b->d->ops = &b->ops;
	for (int i = 0; i < SETS; i++)
		assert_int_equal(pm_inputs_make(b->g, (uint64_t)i, PM_INPUTS_NORMAL, &b->t[i], NULL), PM_OK);
	assert_int_equal(pm_inputs_draw(b->g, 0, 1, PM_INPUTS_NORMAL, PM_BANK_TABLE, &b->table, NULL), PM_OK);
	b->bank = (PmBank){ .t = b->t, .n_sets = SETS, .n_in = 1, .seed = 5, .table = &b->table };
	for (int i = 0; i < 2; i++)
		if (pm_exec_new(b->plan, b->d, &b->x[i], &err))
			fail_msg("%s", err.text);
	pm_str_clear(&log_text);
	if (pm_sampler_new(b->d, b->x, 2, &b->bank, &b->s, &err))
		fail_msg("%s", err.text);
}

static void drop(Bed *b)
{
	assert_int_equal(pm_sampler_free(b->s, NULL), PM_OK);
	for (int i = 0; i < 2; i++)
		pm_exec_free(b->x[i]);
	pm_plan_free(b->plan);
	pm_graph_free(b->g);
	b->d->ops->close(b->d);
	pm_tensors_release(b->t, SETS);
	pm_tensor_release(&b->table);
	pm_str_release(&log_text);
}

static PmSample take(Bed *b, int side, PmTimeKind kind, uint64_t index, int train)
{
	PmSampleAsk ask = { side, kind, index, train, 0 };
	PmSample out;
	PmErr err;

	pm_err_init(&err);
	pm_str_clear(&log_text);
	if (pm_sampler_take(b->s, &ask, &out, &err))
		fail_msg("%s", err.text);
	return out;
}

/* That call of the last sample computed exp(-x) of the inputs of that number. */
static void computed(Bed *b, int call, uint64_t index)
{
	PmTensor in, out;

	assert_int_equal(pm_sampler_outputs(b->s, call, &out, 1, NULL), PM_OK);
	assert_int_equal(pm_bank_inputs(&b->bank, index, &in, NULL), PM_OK);
	for (int64_t i = 0; i < 24; i++) {
		double want = exp(-pm_tensor_get(&in, i));

		assert_true(fabs(pm_tensor_get(&out, i) - want) <= 1e-6 * want);
	}
	pm_tensor_release(&in);
	pm_tensor_release(&out);
}

static void every_call_has_the_inputs_of_its_number(void **state)
{
	Bed b;

	(void)state;
	make(&b);
	for (uint64_t i = 0; i < 30; i++) {
		take(&b, (int)(i % 2), i % 5 ? PM_TIME_COLD : PM_TIME_WALL, i, 1);
		computed(&b, 0, i);
	}
	take(&b, 0, PM_TIME_COLD, 100, 7); /* a train's last call has the seventh */
	computed(&b, 6, 106);
	drop(&b);
}

/* What a time is divided by is what ran: a train of seven is seven calls with results of their own, those
 * that each makes when it runs alone. */
static void a_train_is_as_many_calls_as_it_is_divided_by(void **state)
{
	enum { TRAIN = 7 };
	PmMade in_train[TRAIN], alone;
	Bed b;

	(void)state;
	make(&b);
	take(&b, 0, PM_TIME_COLD, 40, TRAIN);
	assert_int_equal(strlen(log_text.s), strlen("FDB") + (size_t)3 * TRAIN + strlen("E"));
	for (int i = 0; i < TRAIN; i++) {
		assert_int_equal(pm_sampler_made(b.s, i, &in_train[i], NULL), PM_OK);
		for (int k = 0; k < i; k++)
			assert_false(pm_digest_equal(&in_train[k].out, &in_train[i].out));
	}
	for (int i = 0; i < TRAIN; i++) {
		take(&b, 1, PM_TIME_NONE, 40 + (uint64_t)i, 1);
		assert_int_equal(pm_sampler_made(b.s, 0, &alone, NULL), PM_OK);
		assert_true(pm_digest_equal(&alone.out, &in_train[i].out) &&
			    pm_digest_equal(&alone.inner, &in_train[i].inner));
	}
	assert_int_equal(pm_sampler_made(b.s, 1, &alone, NULL), PM_E_INVALID);
	drop(&b);
}

static void caches_are_emptied_and_the_host_is_hidden(void **state)
{
	Bed b;

	(void)state;
	make(&b);
	assert_string_equal(log_text.s, "Q");
	take(&b, 0, PM_TIME_COLD, 1, 1);
	assert_string_equal(log_text.s, "FDBLLLE");
	take(&b, 1, PM_TIME_COLD, 1, 2); /* one flush, one delay and one pair of marks for a train */
	assert_string_equal(log_text.s, "FDBLLLLLLE");
	take(&b, 1, PM_TIME_WALL, 1, 2);
	assert_string_equal(log_text.s, "LLLLLL");
	take(&b, 1, PM_TIME_LATENCY, 1, 1);
	assert_string_equal(log_text.s, "LLL");
	drop(&b);
}

/* Recorded before the clock starts, once for each binding; with `graphs` so for every kind. */
static void calls_are_replayed(void **state)
{
	PmSampleAsk ask = { 0, PM_TIME_LATENCY, 7, 1, 1 };
	PmSample s;
	Bed b;

	(void)state;
	make(&b);
	take(&b, 0, PM_TIME_REPLAY, 7, 1);
	assert_string_equal(log_text.s, "[LLL]FDBRE");
	take(&b, 0, PM_TIME_REPLAY, 7, 1);
	assert_string_equal(log_text.s, "FDBRE");
	pm_str_clear(&log_text);
	assert_int_equal(pm_sampler_take(b.s, &ask, &s, NULL), PM_OK);
	assert_string_equal(log_text.s, "R");
	drop(&b);
}

static void a_slow_host_is_a_disturbance(void **state)
{
	Bed b;
	PmSample s;

	(void)state;
	make(&b);
	hang_ms = 2; /* three launches take far longer than the delay that hides them */
	s = take(&b, 0, PM_TIME_COLD, 1, 1);
	assert_true(s.disturbed && s.seconds >= 6e-3);
	hang_ms = 0;
	take(&b, 0, PM_TIME_COLD, 1, 1);
	assert_true(last_delay >= 4e-3); /* the next delay is as long as is allowed */
	take(&b, 1, PM_TIME_COLD, 1, 1);
	assert_true(last_delay < 1e-3); /* of that side alone */
	s = take(&b, 0, PM_TIME_WALL, 1, 1);
	assert_false(s.disturbed);
	drop(&b);
}

static void what_cannot_be_taken_is_refused(void **state)
{
	PmSampleAsk none = { 0, PM_TIME_COLD, 0, 0, 0 }, side = { 2, PM_TIME_COLD, 0, 1, 0 },
		    lng = { 0, PM_TIME_COLD, 0, 65, 0 };
	PmTensor out;
	PmSample s;
	Bed b;

	(void)state;
	make(&b);
	assert_int_equal(pm_sampler_depth(b.s), PM_SAMPLER_DEPTH); /* three launches: trains may be wanted */
	assert_int_equal(pm_sampler_take(b.s, &none, &s, NULL), PM_E_INVALID);
	assert_int_equal(pm_sampler_take(b.s, &side, &s, NULL), PM_E_INVALID);
	assert_int_equal(pm_sampler_take(b.s, &lng, &s, NULL), PM_E_INVALID);
	assert_int_equal(pm_sampler_outputs(b.s, 0, &out, 1, NULL), PM_E_INVALID);
	drop(&b);
}

/* The memory of a binding: results of one sample are gone when the next begins. */
static void no_side_finds_anothers_results(void **state)
{
	PmTensor want, got;
	Bed b;

	(void)state;
	make(&b);
	take(&b, 0, PM_TIME_COLD, 3, 1);
	assert_int_equal(pm_sampler_outputs(b.s, 0, &want, 1, NULL), PM_OK);
	take(&b, 1, PM_TIME_COLD, 3, 1);
	for (int i = 0; i < pm_sampler_depth(b.s); i++) {
		assert_int_equal(pm_bind_outputs(pm_exec_bind(b.x[0], (size_t)i), &got, 1, NULL), PM_OK);
		assert_memory_not_equal(got.data, want.data, got.bytes);
		pm_tensor_release(&got);
	}
	pm_tensor_release(&want);
	drop(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_has_the_inputs_of_its_number),
		cmocka_unit_test(a_train_is_as_many_calls_as_it_is_divided_by),
		cmocka_unit_test(caches_are_emptied_and_the_host_is_hidden),
		cmocka_unit_test(calls_are_replayed),
		cmocka_unit_test(a_slow_host_is_a_disturbance),
		cmocka_unit_test(what_cannot_be_taken_is_refused),
		cmocka_unit_test(no_side_finds_anothers_results),
	};

	return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
