/* SPDX-License-Identifier: Apache-2.0 */
/* test_sampler.c - what happens around a timed call: fresh inputs, poison, emptied caches, one order of
 * events. The emulated device gets a clock that writes down what it is asked for. */
#include "base/core/str.h"
#include "base/sys/proc.h"
#include "bench/inputs/inputs.h"
#include "ir/text/text.h"
#include "runtime/device/digest.h"
#include "runtime/device/poison.h"
#include "runtime/exec/sampler.h"

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

/* What buffers were filled with since it was set to 0. */
static uint32_t filled[1024];
static size_t n_filled;
static PmStatus (*inner_fill)(PmDevice *d, PmBuf b, int64_t offset, int64_t n, uint32_t pattern, PmErr *err);

static PmStatus fill(PmDevice *d, PmBuf b, int64_t offset, int64_t n, uint32_t pattern, PmErr *err)
{
	if (n_filled < sizeof filled / sizeof *filled)
		filled[n_filled++] = pattern;
	return inner_fill(d, b, offset, n, pattern, err);
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

/* A device with sequences: made ready (N), run (C), neither of which computes anything. */
static PmStatus call_new(PmDevice *d, const PmDevStep *step, size_t n, PmCall *out, PmErr *err)
{
	(void)d, (void)step, (void)n, (void)err;
	pm_str_addc(&log_text, 'N');
	out->id = 1;
	return PM_OK;
}

static PmStatus call_run(PmDevice *d, PmCall c, PmErr *err)
{
	(void)d, (void)c, (void)err;
	pm_str_addc(&log_text, 'C');
	return PM_OK;
}

static void call_drop(PmDevice *d, PmCall c)
{
	(void)d, (void)c;
}

typedef struct Bed {
	PmDevice *d;
	PmDeviceOps ops;
	PmClockOps clock;
	PmGraph *g;
	PmPlan *plan;
	PmExec *x[2];
	PmTensor t[SETS], table;
	PmInputPool pool;
	PmSampler *s;
} Bed;

static void make_with(Bed *b, const PmInputPool *keys)
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
	inner_fill = b->ops.fill;
	b->ops.launch = launch;
	b->ops.fill = fill;
	b->ops.event_record = record;
	b->ops.clock = &b->clock;
	b->d->ops = &b->ops;
	for (int i = 0; i < SETS; i++)
		assert_int_equal(pm_inputs_make(b->g, (uint64_t)i, PM_INPUTS_NORMAL, &b->t[i], NULL), PM_OK);
	assert_int_equal(pm_inputs_draw(b->g, 0, 1, PM_INPUTS_NORMAL, PM_BANK_TABLE, &b->table, NULL), PM_OK);
	b->pool = (PmInputPool){ .t = b->t, .n_sets = SETS, .n_in = 1, .table = &b->table };
	b->pool.seed = keys->seed;
	b->pool.digest = keys->digest;
	b->pool.inner = keys->inner;
	b->pool.sketch = keys->sketch;
	b->pool.poison = keys->poison;
	b->pool.mixed = keys->mixed;
	for (int i = 0; i < 2; i++)
		if (pm_exec_new(b->plan, b->d, &b->x[i], &err))
			fail_msg("%s", err.text);
	pm_str_clear(&log_text);
	if (pm_sampler_new(b->d, b->x, 2, &b->pool, &b->s, &err))
		fail_msg("%s", err.text);
}

static void make(Bed *b)
{
	make_with(b, &(PmInputPool){ .seed = 5, .digest = 6, .inner = 7, .sketch = 8 });
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

static PmSample take(Bed *b, int side, PmTimeKind kind, uint64_t index, int batch)
{
	PmSampleAsk ask = { side, kind, index, batch, 0 };
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
	assert_int_equal(pm_input_pool_inputs(&b->pool, index, &in, NULL), PM_OK);
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
	take(&b, 0, PM_TIME_COLD, 100, 7); /* a batch's last call has the seventh */
	computed(&b, 6, 106);
	drop(&b);
}

/* What a time is divided by is what ran: a batch of seven is seven calls with results of their own, those
 * that each makes when it runs alone. */
static void a_batch_is_as_many_calls_as_it_is_divided_by(void **state)
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

/* Calls that nobody times have fewer places: as many as where there is no clock. */
static void calls_that_are_made_again_have_fewer_places(void **state)
{
	Bed b;
	int timed, again;

	(void)state;
	make_with(&b, &(PmInputPool){ .seed = 5 });
	timed = pm_sampler_depth(b.s);
	drop(&b);
	make_with(&b, &(PmInputPool){ .seed = 5, .mixed = 1 });
	again = pm_sampler_depth(b.s);
	take(&b, 0, PM_TIME_NONE, 3, again);
	computed(&b, again - 1, 3 + (uint64_t)again - 1);
	assert_true(timed == PM_SAMPLER_DEPTH && again > 1 && again < timed / 2);
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
	take(&b, 1, PM_TIME_COLD, 1, 2); /* one flush, one delay and one pair of marks for a batch */
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

/* What a sequence computes of constants when it is made ready is in no recording. */
static void calls_are_ready_before_they_are_recorded(void **state)
{
	Bed b;

	(void)state;
	make(&b);
	b.ops.call_new = call_new;
	b.ops.call_run = call_run;
	b.ops.call_drop = call_drop;
	take(&b, 0, PM_TIME_REPLAY, 7, 1);
	assert_string_equal(log_text.s, "N[C]FDBRE");
	take(&b, 0, PM_TIME_COLD, 7, 1);
	assert_string_equal(log_text.s, "FDBCE");
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
	assert_int_equal(pm_sampler_depth(b.s), PM_SAMPLER_DEPTH); /* three launches: batches may be wanted */
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

/* What a kernel finds where no call has been yet: numbers like those of any call, and of none that there is.
 */
static void no_binding_waits_without_inputs(void **state)
{
	float held[2 * PM_SAMPLER_DEPTH][24];
	PmTensor in;
	size_t n = 0;
	Bed b;

	(void)state;
	make(&b);
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < pm_sampler_depth(b.s); i++, n++) {
			PmBuf buf = pm_bind_input(pm_exec_bind(b.x[side], (size_t)i), 0);

			assert_int_equal(b.d->ops->download(b.d, buf, 0, held[n], sizeof held[n], NULL),
					 PM_OK);
			for (int k = 0; k < 24; k++)
				assert_true(fabsf(held[n][k]) < 8 && held[n][k] != 0); /* N(0, 1) */
			for (size_t k = 0; k < n; k++)
				assert_memory_not_equal(held[n], held[k], sizeof held[n]);
		}
	for (uint64_t index = 0; index < 200; index++) {
		assert_int_equal(pm_input_pool_inputs(&b.pool, index, &in, NULL), PM_OK);
		for (size_t k = 0; k < n; k++)
			assert_memory_not_equal(held[k], in.data, sizeof held[k]);
		pm_tensor_release(&in);
	}
	drop(&b);
}

/* Whether a call's output, its two digests and its sketch are those of the keys 5, 6, 7 and 8: a bit each. */
static unsigned same_with(const PmInputPool *keys)
{
	static PmTensor out0;
	static PmMade made0;
	static PmSketch sketch0;
	static int have;
	unsigned same;
	PmTensor out;
	PmMade made;
	PmSketch sketch;
	Bed b;

	make_with(&b, keys);
	take(&b, 0, PM_TIME_NONE, 3, 1);
	assert_int_equal(pm_sampler_outputs(b.s, 0, &out, 1, NULL), PM_OK);
	assert_int_equal(pm_sampler_made(b.s, 0, &made, NULL), PM_OK);
	assert_int_equal(pm_sampler_sketch(b.s, 0, &sketch, 1, NULL), PM_OK);
	drop(&b);
	if (!have) {
		have = 1;
		out0 = out;
		made0 = made;
		sketch0 = sketch;
		return 15;
	}
	same = (unsigned)!memcmp(out.data, out0.data, out.bytes) |
	       (unsigned)pm_digest_equal(&made.out, &made0.out) << 1 |
	       (unsigned)pm_digest_equal(&made.inner, &made0.inner) << 2 |
	       (unsigned)!memcmp(&sketch, &sketch0, sizeof sketch) << 3;
	pm_tensor_release(&out);
	if (keys->seed == 1) /* the last one */
		pm_tensor_release(&out0);
	return same;
}

static void each_key_serves_one_thing(void **state)
{
	(void)state;
	assert_int_equal(same_with(&(PmInputPool){ .seed = 5, .digest = 6, .inner = 7, .sketch = 8 }), 15);
	assert_int_equal(same_with(&(PmInputPool){ .seed = 5, .digest = 1, .inner = 7, .sketch = 8 }),
			 15 - 2);
	assert_int_equal(same_with(&(PmInputPool){ .seed = 5, .digest = 6, .inner = 1, .sketch = 8 }),
			 15 - 4);
	assert_int_equal(same_with(&(PmInputPool){ .seed = 5, .digest = 6, .inner = 7, .sketch = 1 }),
			 15 - 8);
	assert_int_equal(same_with(&(PmInputPool){ .seed = 1, .digest = 6, .inner = 7, .sketch = 8 }), 0);
}

/* Bits that all patterns of a kind have set, and those that any has. */
typedef struct Law {
	uint32_t all[2], any[2];
	size_t n[2];
} Law;

static void seen(Law *l, uint32_t p)
{
	PmPoisonKind k = (p & 0x7fc00000u) == 0x7fc00000u ? PM_POISON_NAN : PM_POISON_NUMBER;

	l->all[k] = l->n[k] ? l->all[k] & p : p;
	l->any[k] |= p;
	l->n[k]++;
}

/* Fills before timed calls are of the same law as those of checked runs: which bits are fixed and how often
 * each kind comes. Another key gives others. */
static void one_law_for_all_fills(void **state)
{
	Law checked = { 0 }, other = { 0 }, timed = { 0 };
	uint32_t first[8];
	Bed b;

	(void)state;
	for (uint64_t i = 0; i < 4096; i++) {
		uint64_t bits = pm_mix64(i);

		seen(&checked, pm_poison(bits));
		seen(&other, pm_poison_other(bits));
		assert_int_not_equal(pm_poison_kind(bits) == PM_POISON_NAN,
				     (pm_poison(bits) & 0x7fc00000u) != 0x7fc00000u);
	}
	n_filled = 0;
	make(&b);
	memcpy(first, filled, sizeof first);
	for (uint64_t i = 0; n_filled < 1000; i++)
		take(&b, (int)(i & 1), PM_TIME_NONE, i, 1);
	drop(&b);
	for (size_t i = 0; i < n_filled; i++)
		seen(&timed, filled[i]);
	for (int k = 0; k < 2; k++) {
		assert_true(timed.all[k] == checked.all[k] && timed.any[k] == checked.any[k]);
		assert_true(other.all[k] == checked.all[k] && other.any[k] == checked.any[k]);
		assert_true(timed.n[k] > 400 && checked.n[k] > 1900);
	}
	n_filled = 0;
	make_with(&b, &(PmInputPool){ .seed = 5, .digest = 6, .inner = 7, .sketch = 8, .poison = 9 });
	assert_memory_not_equal(first, filled, sizeof first);
	drop(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_has_the_inputs_of_its_number),
		cmocka_unit_test(a_batch_is_as_many_calls_as_it_is_divided_by),
		cmocka_unit_test(calls_that_are_made_again_have_fewer_places),
		cmocka_unit_test(caches_are_emptied_and_the_host_is_hidden),
		cmocka_unit_test(calls_are_replayed),
		cmocka_unit_test(calls_are_ready_before_they_are_recorded),
		cmocka_unit_test(a_slow_host_is_a_disturbance),
		cmocka_unit_test(what_cannot_be_taken_is_refused),
		cmocka_unit_test(no_side_finds_anothers_results),
		cmocka_unit_test(no_binding_waits_without_inputs),
		cmocka_unit_test(each_key_serves_one_thing),
		cmocka_unit_test(one_law_for_all_fills),
	};

	return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
