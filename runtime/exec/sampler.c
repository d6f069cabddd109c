/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.c - single timed samples of plans on a device: what happens around each timed call. */
#include "runtime/exec/sampler.h"

#include "base/sys/proc.h"
#include "runtime/device/poison.h"

#include <stdlib.h>
#include <string.h>

enum {
	MIN_DEPTH = 2,
	UNTIMED_DEPTH =
		24, /* bindings where nothing is timed: each call has its own, and their places say nothing */
	UNTIMED_BYTES = 16 << 20, /* of them all, unless there would be fewer than */
	UNTIMED_LEAST = 4,
	PLAIN_DEPTH = 16, /* bindings when calls are not very short */
	FEW_LAUNCHES = 4, /* at most so many: batches may be needed, and bindings are cheap */
	MEMORY_SHARE = 4  /* bindings of all sides together take at most this share of the memory */
};
/* The device is kept busy before a timed call for a while and half as long again as the host took lately,
 * which is not the same for a launch of ours and a library's call. */
static const double delay_base = 40e-6, delay_launch = 5e-6, delay_share = 1.5, delay_most = 4e-3,
		    host_forget = 0.95;

typedef struct Side {
	PmExec *x;
	PmBind *bind[PM_SAMPLER_DEPTH];
	PmReplay replay[PM_SAMPLER_DEPTH]; /* id 0 = not yet recorded */
	int n_launches;
	double host[PM_N_TIME_KINDS]; /* seconds that the host lately took to enqueue a sample, per call */
} Side;

struct PmSampler {
	PmDevice *d;
	Side side[PM_SAMPLER_SIDES];
	int n_sides, depth;
	PmInputPool pool; /* its tensors: types and sizes only are used after the upload */
	PmBuf *stored;    /* n_sets * n_in; of the first set's drawn inputs the tables, of others' nothing */
	PmBind *used[PM_SAMPLER_DEPTH]; /* by the last sample, to be poisoned by the next */
	int n_used;
};

/* --- the input pool
 * --------------------------------------------------------------------------------------------
 */

static PmStatus store(PmSampler *s, const PmTensor *t, PmBuf *out, PmErr *err)
{
	PmStatus st = s->d->ops->alloc(s->d, (int64_t)t->bytes, PM_BUF_SCRATCH, out, err);

	return st || !t->bytes ? st : s->d->ops->upload(s->d, *out, 0, t->data, (int64_t)t->bytes, err);
}

static PmStatus store_input_pool(PmSampler *s, PmErr *err)
{
	size_t n_in = s->pool.n_in, n = (size_t)s->pool.n_sets * n_in;
	PmStatus st = PM_OK;

	s->stored = pm_xcalloc(n + 1, sizeof *s->stored);
	for (size_t i = 0; i < n && !st; i++)
		if (!pm_input_pool_is_drawn(&s->pool, i % n_in))
			st = store(s, &s->pool.t[i], &s->stored[i], err);
		else if (i < n_in)
			st = store(s, &s->pool.table[i], &s->stored[i], err);
	return st;
}

static PmStatus turn_input(PmSampler *s, PmBuf to, size_t i, uint64_t index, PmErr *err)
{
	int64_t turn, bytes;
	size_t from, at;
	PmStatus st;

	pm_input_pool_choice(&s->pool, index, i, &from, &at);
	turn = (int64_t)at;
	bytes = (int64_t)s->pool.t[from].bytes;
	st = s->d->ops->copy(s->d, to, 0, s->stored[from], turn, bytes - turn, err);
	return st ? st : s->d->ops->copy(s->d, to, bytes - turn, s->stored[from], 0, turn, err);
}

static PmStatus give_inputs(PmSampler *s, PmBind *b, uint64_t index, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < s->pool.n_in && !st; i++) {
		const PmType *t = &s->pool.t[i].type;
		int64_t n = 0;

		if (!pm_input_pool_is_drawn(&s->pool, i))
			st = turn_input(s, pm_bind_input(b, i), i, index, err);
		else if (!pm_type_numel(t, &n, NULL))
			st = s->d->ops->draw(s->d, pm_bind_input(b, i), n, t->dtype, s->stored[i],
					     pm_input_pool_base(&s->pool, index, i), err);
	}
	return st;
}

/* --- making one ------------------------------------------------------------------------------------------
 */

static int choose_depth(const PmSampler *s, const PmDeviceInfo *info)
{
	int64_t bytes = 1;
	int few = 1, depth;

	for (int k = 0; k < s->n_sides; k++) {
		bytes += pm_bind_bytes(s->side[k].x, 1);
		few &= s->side[k].n_launches <= FEW_LAUNCHES;
	}
	depth = few ? PM_SAMPLER_DEPTH : PLAIN_DEPTH;
	if (!s->d->ops->clock || (s->pool.mixed && depth > UNTIMED_DEPTH))
		depth = UNTIMED_DEPTH;
	while (!s->d->ops->clock && depth > UNTIMED_LEAST && depth * bytes > UNTIMED_BYTES)
		depth = depth / 2 > UNTIMED_LEAST ? depth / 2 : UNTIMED_LEAST;
	while (depth > MIN_DEPTH && depth * bytes > info->memory / MEMORY_SHARE)
		depth /= 2;
	return depth;
}

/* What outputs and scratch hold before a call, by the law of checked runs. */
static uint32_t poison(const PmSampler *s, uint64_t index)
{
	return pm_poison(pm_mix64(s->pool.poison ^ pm_mix64(index + 177)));
}

/* Bindings that are timed lie as the driver's own allocator has it. Others as checked runs do: by chance. */
static void choose_layout(PmSampler *s, int i)
{
	int mixed = s->pool.mixed || !s->d->ops->clock;

	if (s->d->ops->layout)
		s->d->ops->layout(s->d,
				  mixed ? pm_mix64(s->pool.salt + 0x9e3779b97f4a7c15u * (uint64_t)(i + 1)) | 2
					: 0);
}

/* Inputs of a binding before its first call, drawn like those of any call: a kernel that looks into the pool
 * finds none that nobody uses. No call has their number: calls are counted from 0. */
static uint64_t idle_index(const PmSampler *s, int side, int i)
{
	return pm_mix64(s->pool.salt ^ pm_mix64((uint64_t)side << 32 | (uint64_t)i)) | UINT64_C(1) << 63;
}

static PmStatus make_bindings(PmSampler *s, PmErr *err)
{
	PmDeviceInfo info;
	PmStatus st = PM_OK;

	s->d->ops->info(s->d, &info);
	s->depth = choose_depth(s, &info);
	/* Sides take turns, and so does who is first: none has all the low addresses. */
	for (int i = 0; i < s->depth && !st; i++)
		for (int j = 0; j < s->n_sides && !st; j++) {
			int k = (i + j) % s->n_sides;

			choose_layout(s, i);
			st = pm_bind_new(s->side[k].x, 1, &s->side[k].bind[i], err);
			if (!st)
				st = pm_bind_poison(s->side[k].bind[i], poison(s, ~(uint64_t)i), err);
			if (!st)
				st = give_inputs(s, s->side[k].bind[i], idle_index(s, k, i), err);
		}
	return st;
}

PmStatus pm_sampler_new(PmDevice *d, PmExec *const *side, int n_sides, const PmInputPool *pool,
			PmSampler **out, PmErr *err)
{
	PmSampler *s;
	PmStatus st;

	if (n_sides < 1 || n_sides > PM_SAMPLER_SIDES || pool->n_sets < 1)
		return pm_err(err, PM_E_INVALID, "A sampler takes 1 to %d sides and a bank of inputs.",
			      PM_SAMPLER_SIDES);
	s = pm_xcalloc(1, sizeof *s);
	s->d = d;
	s->pool = *pool;
	s->n_sides = n_sides;
	for (int k = 0; k < n_sides; k++) {
		s->side[k].x = side[k];
		s->side[k].n_launches = pm_exec_launches(side[k]);
	}
	st = store_input_pool(s, err);
	if (!st)
		st = make_bindings(s, err);
	if (!st && d->ops->clock)
		st = d->ops->clock->quiet(d, 1, err);
	if (st) {
		pm_sampler_free(s, NULL);
		return st;
	}
	*out = s;
	return PM_OK;
}

PmStatus pm_sampler_end(PmSampler *s, PmErr *err)
{
	return s && s->d->ops->clock ? s->d->ops->clock->quiet(s->d, 0, err) : PM_OK;
}

PmStatus pm_sampler_free(PmSampler *s, PmErr *err)
{
	PmStatus st = pm_sampler_end(s, err);

	if (!s)
		return PM_OK;
	for (int k = 0; k < s->n_sides; k++)
		for (int i = 0; i < s->depth; i++)
			if (s->side[k].replay[i].id)
				s->d->ops->clock->replay_drop(s->d, s->side[k].replay[i]);
	for (size_t i = 0; s->stored && i < (size_t)s->pool.n_sets * s->pool.n_in; i++)
		if (s->stored[i].id)
			s->d->ops->release(s->d, s->stored[i]);
	for (int k = 0; k < s->n_sides; k++)
		pm_exec_drop_binds(s->side[k].x);
	free(s->stored);
	free(s);
	return st;
}

int pm_sampler_depth(const PmSampler *s)
{
	return s->depth;
}

/* --- one sample ------------------------------------------------------------------------------------------
 */

static PmStatus need_clock(const PmSampler *s, PmErr *err)
{
	if (s->d->ops->clock)
		return PM_OK;
	return pm_err(err, PM_E_UNSUPPORTED,
		      "This device has no clock; its times are modelled (docs/design/runtime.md).");
}

static PmStatus timed(PmSampler *s, PmStatus st, double *seconds, PmErr *err)
{
	if (!st)
		st = s->d->ops->event_record(s->d, 1, err);
	if (!st)
		st = s->d->ops->sync(s->d, err);
	return st ? st : s->d->ops->event_elapsed(s->d, 0, 1, seconds, err);
}

PmStatus pm_sampler_empty(PmSampler *s, double *seconds, PmErr *err)
{
	PmStatus st = need_clock(s, err);

	if (!st)
		st = s->d->ops->clock->delay(s->d, delay_base, err);
	if (!st)
		st = s->d->ops->event_record(s->d, 0, err);
	return timed(s, st, seconds, err);
}

PmStatus pm_sampler_warm(PmSampler *s, double *seconds, PmErr *err)
{
	PmStatus st = need_clock(s, err);

	if (!st)
		st = s->d->ops->event_record(s->d, 0, err);
	if (!st)
		st = s->d->ops->clock->work(s->d, err);
	return timed(s, st, seconds, err);
}

static int replays(const PmSampleAsk *ask)
{
	return ask->graphs || ask->kind == PM_TIME_REPLAY;
}

static PmStatus record(PmSampler *s, Side *side, int i, PmErr *err)
{
	PmStatus st = pm_bind_ready(side->bind[i], err), launched;

	if (!st)
		st = s->d->ops->clock->record_begin(s->d, err);
	if (st)
		return st;
	launched = pm_bind_launch(side->bind[i], err);
	st = s->d->ops->clock->record_end(s->d, &side->replay[i], launched ? NULL : err);
	return launched ? launched : st;
}

/* Poisons what the last sample used, then chooses bindings for this one and fills their inputs. */
static PmStatus prepare(PmSampler *s, const PmSampleAsk *ask, int *place, PmErr *err)
{
	uint64_t h = pm_mix64(s->pool.salt ^ pm_mix64(ask->index + 77));
	Side *side = &s->side[ask->side];
	PmStatus st = PM_OK;

	for (int i = 0; i < s->n_used && !st; i++)
		st = pm_bind_poison(s->used[i], poison(s, ask->index + (uint64_t)i), err);
	if (!st && s->d->ops->mend)
		st = s->d->ops->mend(s->d, err);
	s->n_used = 0;
	for (int i = 0; i < ask->batch && !st; i++) {
		place[i] = (int)((h + (uint64_t)i) % (uint64_t)s->depth);
		s->used[s->n_used++] = side->bind[place[i]];
		st = give_inputs(s, side->bind[place[i]], ask->index + (uint64_t)i, err);
		if (!st && replays(ask) && !side->replay[place[i]].id)
			st = record(s, side, place[i], err);
	}
	return st;
}

static PmStatus calls(PmSampler *s, const PmSampleAsk *ask, const int *place, PmErr *err)
{
	Side *side = &s->side[ask->side];
	PmStatus st = PM_OK;

	for (int i = 0; i < ask->batch && !st; i++)
		st = replays(ask) ? s->d->ops->clock->replay(s->d, side->replay[place[i]], err)
				  : pm_bind_launch(side->bind[place[i]], err);
	return st;
}

static PmStatus take_wall(PmSampler *s, const PmSampleAsk *ask, const int *place, PmSample *out, PmErr *err)
{
	PmStatus st = s->d->ops->sync(s->d, err);
	double t0 = pm_now();

	if (!st)
		st = calls(s, ask, place, err);
	if (!st)
		st = s->d->ops->sync(s->d, err);
	out->seconds = pm_now() - t0;
	return st;
}

/* How long to keep the device busy, so that the host is hidden. */
static double choose_delay(const Side *side, const PmSampleAsk *ask)
{
	double host = side->host[ask->kind] * ask->batch, t;

	if (!(host > 0))
		host = delay_launch * ask->batch * (replays(ask) ? 2 : side->n_launches);
	t = delay_base + delay_share * host;
	return t < delay_most ? t : delay_most;
}

static void note_host(Side *side, const PmSampleAsk *ask, double seconds)
{
	double *h = &side->host[ask->kind], each = seconds / ask->batch;

	*h = each > *h ? each : host_forget * *h + (1 - host_forget) * each;
}

static PmStatus take_events(PmSampler *s, const PmSampleAsk *ask, const int *place, PmSample *out, PmErr *err)
{
	Side *side = &s->side[ask->side];
	double delay = choose_delay(side, ask), t0, host;
	PmStatus st = s->d->ops->clock->flush(s->d, err);

	/* What is enqueued so far has run before the clock of the host starts: the delay is all there is to
	 * hide behind. */
	if (!st)
		st = s->d->ops->sync(s->d, err);
	t0 = pm_now();
	if (!st)
		st = s->d->ops->clock->delay(s->d, delay, err);
	if (!st)
		st = s->d->ops->event_record(s->d, 0, err);
	if (!st)
		st = calls(s, ask, place, err);
	host = pm_now() - t0;
	out->disturbed = host > delay && delay < delay_most;
	note_host(side, ask, host);
	return timed(s, st, &out->seconds, err);
}

static PmStatus take_untimed(PmSampler *s, const PmSampleAsk *ask, const int *place, PmErr *err)
{
	PmStatus st = calls(s, ask, place, err);

	return st ? st : s->d->ops->sync(s->d, err);
}

PmStatus pm_sampler_take(PmSampler *s, const PmSampleAsk *ask, PmSample *out, PmErr *err)
{
	int place[PM_SAMPLER_DEPTH];
	PmStatus st = ask->kind == PM_TIME_NONE ? PM_OK : need_clock(s, err);

	memset(out, 0, sizeof *out);
	if (st)
		return st;
	if (ask->side < 0 || ask->side >= s->n_sides || ask->batch < 1 || ask->batch > s->depth)
		return pm_err(
			err, PM_E_INVALID,
			"A sample takes 1 to %d calls of one of %d sides; %d of side %d were asked for.",
			s->depth, s->n_sides, ask->batch, ask->side);
	st = prepare(s, ask, place, err);
	if (st)
		return st;
	if (ask->kind == PM_TIME_NONE)
		return take_untimed(s, ask, place, err);
	return (ask->kind >= PM_TIME_WALL ? take_wall : take_events)(s, ask, place, out, err);
}

/* --- what a call made ------------------------------------------------------------------------------------
 */

static PmStatus call_of_last(const PmSampler *s, int call, PmErr *err)
{
	if (call >= 0 && call < s->n_used)
		return PM_OK;
	return pm_err(err, PM_E_INVALID,
		      "The last sample has %d calls with outputs; number %d was asked for.", s->n_used, call);
}

PmStatus pm_sampler_outputs(PmSampler *s, int call, PmTensor *out, size_t n_out, PmErr *err)
{
	PmStatus st = call_of_last(s, call, err);

	return st ? st : pm_bind_outputs(s->used[call], out, n_out, err);
}

static PmStatus digest_here(PmSampler *s, const PmBuf *buf, const int64_t *bytes, size_t n, uint64_t key,
			    PmDigest *out, PmErr *err)
{
	PmStatus st = s->d->ops->sync(s->d, err);

	for (size_t i = 0; i < n && !st; i++) {
		void *p = pm_xmalloc((size_t)bytes[i] + 1);

		if (bytes[i])
			st = s->d->ops->download(s->d, buf[i], 0, p, bytes[i], err);
		if (bytes[i] && !st)
			pm_digest_add(out, key, i, p, bytes[i]);
		free(p);
	}
	return st;
}

static PmStatus digest(PmSampler *s, const PmBuf *buf, const int64_t *bytes, size_t n, uint64_t key,
		       PmDigest *out, PmErr *err)
{
	memset(out, 0, sizeof *out);
	if (!n)
		return PM_OK;
	if (!s->d->ops->clock || !s->d->ops->clock->digest)
		return digest_here(s, buf, bytes, n, key, out, err);
	return s->d->ops->clock->digest(s->d, buf, bytes, n, key, out, err);
}

PmStatus pm_sampler_made(PmSampler *s, int call, PmMade *out, PmErr *err)
{
	PmStatus st = call_of_last(s, call, err);
	size_t n, n_inner;
	int64_t *bytes;
	PmBuf *buf;

	if (st)
		return st;
	n = pm_bind_n_outputs(s->used[call]);
	n_inner = pm_bind_n_inner(s->used[call]);
	buf = pm_xcalloc(n + n_inner + 1, sizeof *buf);
	bytes = pm_xcalloc(n + n_inner + 1, sizeof *bytes);
	for (size_t i = 0; i < n; i++) {
		buf[i] = pm_bind_output(s->used[call], i);
		bytes[i] = pm_bind_output_bytes(s->used[call], i);
	}
	for (size_t i = 0; i < n_inner; i++)
		buf[n + i] = pm_bind_inner(s->used[call], i, &bytes[n + i]);
	st = digest(s, buf, bytes, n, s->pool.digest, &out->out, err);
	if (!st)
		st = digest(s, buf + n, bytes + n, n_inner, s->pool.inner, &out->inner, err);
	free(buf);
	free(bytes);
	return st;
}

static PmStatus sketch_here(PmSampler *s, int call, PmSketch *out, size_t n_out, PmErr *err)
{
	PmTensor *t = pm_xcalloc(n_out + 1, sizeof *t);
	PmStatus st = pm_bind_outputs(s->used[call], t, n_out, err);

	for (size_t i = 0; i < n_out && !st; i++) {
		pm_sketch_make(&out[i], s->pool.sketch, i, &t[i]);
		pm_tensor_release(&t[i]);
	}
	free(t);
	return st;
}

PmStatus pm_sampler_sketch(PmSampler *s, int call, PmSketch *out, size_t n_out, PmErr *err)
{
	PmStatus st = call_of_last(s, call, err);

	if (st)
		return st;
	if (!s->d->ops->clock || !s->d->ops->clock->sketch)
		return sketch_here(s, call, out, n_out, err);
	for (size_t i = 0; i < n_out && !st; i++) {
		int dtype = pm_bind_output_type(s->used[call], i)->dtype;
		int64_t bytes = pm_bind_output_bytes(s->used[call], i);

		st = s->d->ops->clock->sketch(s->d, pm_bind_output(s->used[call], i), dtype,
					      bytes / (int64_t)pm_dtype_size(dtype), s->pool.sketch, i,
					      &out[i], err);
	}
	return st;
}
