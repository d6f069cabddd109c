/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - asks a device worker, and replaces it when it fails. */
#include "runtime/worker/worker.h"

#include "base/core/hash.h"
#include "base/sys/serve.h"
#include "runtime/device/device.h"
#include "runtime/worker/worker_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_SECONDS = 60, TRIES = 3, LEAVING = 4 };

struct PmWorker {
	char device[16];
	PmServer *server; /* NULL = not started */
	int starts;
	char held[WORKER_SLOTS][PM_SHA256_HEX];  /* what each slot of the process holds; "" = nothing */
	char digest[WORKER_SLOTS][PM_CHAIN_HEX]; /* of the same */
	int bare[WORKER_SLOTS];                  /* 1: it is held without its constants, and cannot be run */
	int next;                                /* slot to be filled next */
	int side[PM_SAMPLER_SIDES];              /* slots of the last run, or of the clock's sides */
	double clock_deadline;
	int killed;                       /* the last process, from outside */
	PmServer *spare[PM_WORKER_SPARE]; /* have opened the device, or do; NULL = none */
	PmServer *leaving[LEAVING];       /* were told to end; NULL = none */
	PmPrint *print;                   /* borrowed, or NULL */
};

PmWorker *pm_worker_new(const char *device)
{
	PmWorker *w = pm_xcalloc(1, sizeof *w);

	snprintf(w->device, sizeof w->device, "%s", device);
	return w;
}

/* Waits until all that were told to end have left the device. */
static void see_off(PmWorker *w)
{
	for (int i = 0; i < LEAVING; i++) {
		pm_server_kill(w->leaving[i]);
		w->leaving[i] = NULL;
	}
}

/* A GPU is a tenth of a second in taking back what a process had, and others can open it meanwhile. */
static void leave(PmWorker *w, PmServer *s)
{
	int at = 0;

	while (at < LEAVING && w->leaving[at])
		at++;
	if (at == LEAVING) {
		see_off(w);
		at = 0;
	}
	pm_server_dismiss(s);
	w->leaving[at] = s;
}

void pm_worker_renew(PmWorker *w)
{
	if (pm_device_kind(w->device) == PM_DEVICE_CUDA)
		leave(w, w->server);
	else
		pm_server_stop(w->server);
	w->server = NULL;
	memset(w->held, 0, sizeof w->held);
	memset(w->digest, 0, sizeof w->digest);
}

void pm_worker_free(PmWorker *w)
{
	if (!w)
		return;
	pm_worker_renew(w);
	for (int i = 0; i < PM_WORKER_SPARE; i++) /* a GPU takes them back side by side */
		pm_server_dismiss(w->spare[i]);
	for (int i = 0; i < PM_WORKER_SPARE; i++)
		pm_server_kill(w->spare[i]);
	see_off(w);
	free(w);
}

const char *pm_worker_device(const PmWorker *w)
{
	return w->device;
}

void pm_worker_print_to(PmWorker *w, PmPrint *to)
{
	w->print = to;
}

int pm_worker_starts(const PmWorker *w)
{
	return w->starts;
}

/* --- one request -----------------------------------------------------------------------------------------
 */

static PmStatus start_process(PmWorker *w, PmServer **out, PmErr *err)
{
	PmLimits lim = { .file_size = -1 };
	PmStatus st = pm_server_start(pm__worker_serve, w->device, &lim, out, err);

	if (!st)
		w->starts++;
	return st;
}

static PmServer *take_spare(PmWorker *w)
{
	PmServer *s = NULL;

	for (int i = 0; i < PM_WORKER_SPARE && !s; i++) {
		s = w->spare[i];
		w->spare[i] = NULL;
	}
	for (int i = 0, to = 0; i < PM_WORKER_SPARE; i++) { /* the one that was started first comes next */
		PmServer *at = w->spare[i];

		w->spare[i] = NULL;
		if (at)
			w->spare[to++] = at;
	}
	return s;
}

static PmStatus start(PmWorker *w, PmErr *err)
{
	if (!w->server)
		w->server = take_spare(w);
	return w->server ? PM_OK : start_process(w, &w->server, err);
}

void pm_worker_prepare(PmWorker *w, int n)
{
	for (int i = 0; i < n && i < PM_WORKER_SPARE; i++)
		if (!w->spare[i] && start_process(w, &w->spare[i], NULL))
			w->spare[i] = NULL; /* those behind a gap are taken all the same */
}

void pm_worker_settle(PmWorker *w)
{
	WorkerAsk a = { .what = WORKER_INFO };

	see_off(w);
	for (int i = 0; i < PM_WORKER_SPARE; i++) {
		PmStr reply = PM_STR_INIT;
		WorkerReply r = { .status = PM_E_CRASH };
		uint64_t most = sizeof r + sizeof(PmDeviceInfo) + PM_PRINT_MAX;

		if (w->spare[i] &&
		    !pm_server_call(w->spare[i], "device worker", &a, sizeof a, OPEN_SECONDS, most, &reply,
				    NULL) &&
		    reply.len >= sizeof r)
			memcpy(&r, reply.s, sizeof r);
		if (r.status) {
			pm_server_kill(w->spare[i]);
			w->spare[i] = NULL;
		}
		pm_str_release(&reply);
	}
}

PmWorker *pm_worker_second(PmWorker *w)
{
	PmWorker *second = pm_worker_new(w->device);

	second->spare[0] = take_spare(w);
	return second;
}

void pm_worker_join(PmWorker *w, PmWorker *second)
{
	pm_worker_renew(second);
	for (int i = 0; i < LEAVING; i++) {
		if (second->leaving[i])
			leave(w, second->leaving[i]);
		second->leaving[i] = NULL;
	}
	pm_worker_free(second);
}

int pm_worker_processes(const PmWorker *w)
{
	int n = w->server != NULL;

	for (int i = 0; i < PM_WORKER_SPARE; i++)
		n += w->spare[i] != NULL;
	for (int i = 0; i < LEAVING; i++)
		n += w->leaving[i] != NULL;
	return n;
}

void pm_worker_begin(PmWorker *w)
{
	start(w, NULL);
}

/* What was printed goes before the payload. */
static PmStatus take_printed(PmWorker *w, const WorkerReply *r, PmStr *reply, PmErr *err)
{
	if (r->n_printed > reply->len || r->n_printed > PM_PRINT_MAX)
		return pm_err(err, PM_E_CRASH, "The device worker sent half an answer.");
	if (w->print)
		pm_print_take(w->print, reply->s, r->n_printed, r->cut);
	reply->len -= r->n_printed;
	memmove(reply->s, reply->s + r->n_printed, reply->len + 1);
	return PM_OK;
}

/* Nothing is checked or timed beside what ran before. Calls that are made again are neither: their bits alone
 * count, and the baseline's run beside them anyway. */
static int waits_for_leaving(const WorkerAsk *a)
{
	switch (a->what) {
	case WORKER_INFO:
	case WORKER_LOAD:
	case WORKER_CLOCK:
	case WORKER_OUTPUTS:
	case WORKER_SKETCH:
	case WORKER_CLOSE:
		return 0;
	case WORKER_TAKE:
		return a->ask.kind != PM_TIME_NONE;
	default:
		return 1;
	}
}

/* Sends head and payload, and data behind them; *payload becomes the reply's, of at most `most` bytes.
 * Whatever fails ends the worker. */
static PmStatus ask_with(PmWorker *w, const WorkerAsk *a, PmStr *payload, PmServeData *data, double deadline,
			 uint64_t most, WorkerReply *r, PmErr *err)
{
	PmStr request = PM_STR_INIT, reply = PM_STR_INIT;
	PmStatus st = start(w, err);

	memset(r, 0, sizeof *r);
	if (st)
		return st;
	if (waits_for_leaving(a))
		see_off(w);
	pm_str_addn(&request, a, sizeof *a);
	pm_str_addn(&request, payload->s, payload->len);
	st = pm_server_call_with(w->server, "device worker", request.s, request.len, data, deadline,
				 sizeof *r + most + (w->print ? PM_PRINT_MAX : 0), &reply, err);
	pm_str_release(&request);
	pm_str_clear(payload);
	if (!st && reply.len < sizeof *r)
		st = pm_err(err, PM_E_CRASH, "The device worker sent half an answer.");
	if (!st) {
		size_t left = reply.len - sizeof *r;

		memcpy(r, reply.s, sizeof *r);
		r->text[sizeof r->text - 1] = '\0';
		memmove(reply.s, reply.s + sizeof *r, left + 1);
		reply.len = left;
		st = take_printed(w, r, &reply, err);
		left = reply.len;
		pm_str_adopt(payload, pm_str_detach(&reply, NULL), left);
		if (!st && r->status)
			st = pm_err(err, r->status < 0 ? r->status : PM_E_INTERNAL, "%s", r->text);
	}
	pm_str_release(&reply);
	w->killed = st == PM_E_CRASH && pm_server_killed(w->server);
	if (st)
		pm_worker_renew(w);
	return st;
}

static PmStatus ask(PmWorker *w, const WorkerAsk *a, PmStr *payload, double deadline, uint64_t most,
		    WorkerReply *r, PmErr *err)
{
	PmServeData none = { 0 };

	return ask_with(w, a, payload, &none, deadline, most, r, err);
}

/* Asks for a graph's outputs, which go to `out`; n_in tensors are sent. */
static PmStatus ask_outputs(PmWorker *w, const WorkerAsk *a, const PmGraph *g, const PmTensor *in,
			    size_t n_in, double deadline, PmTensor *out, WorkerReply *r, PmErr *err)
{
	size_t n = pm_graph_n_outputs(g);
	PmServeBytes *send = pm_xcalloc(n_in + 1, sizeof *send);
	PmServeRoom *take = pm_xcalloc(n + 1, sizeof *take);
	PmServeData data = { send, n_in, take, n, 0 };
	PmStr payload = PM_STR_INIT;
	PmStatus st = PM_OK;
	size_t bytes = 0;

	memset(out, 0, n * sizeof *out);
	for (size_t i = 0; i < n_in; i++)
		send[i] = (PmServeBytes){ in[i].data, in[i].bytes };
	for (size_t i = 0; i < n && !st; i++) {
		st = pm_tensor_room(&out[i], pm_value_type(g, pm_graph_output(g, i)), err);
		take[i] = (PmServeRoom){ out[i].data, out[i].bytes };
		bytes += out[i].bytes;
	}
	if (!st)
		st = ask_with(w, a, &payload, &data, deadline, 0, r, err);
	if (!st && (payload.len || (bytes && !data.taken))) {
		pm_worker_renew(w);
		st = pm_err(err, PM_E_CRASH, "The device worker sent half an answer.");
	}
	for (size_t i = 0; i < n && st; i++)
		pm_tensor_release(&out[i]);
	pm_str_release(&payload);
	free(send);
	free(take);
	return st;
}

/* The n bytes that an answer has to be. */
static PmStatus take_exactly(PmWorker *w, const PmStr *payload, void *out, size_t n, PmErr *err)
{
	if (payload->len != n) {
		pm_worker_renew(w);
		return pm_err(err, PM_E_CRASH, "The device worker sent half an answer.");
	}
	if (n)
		memcpy(out, payload->s, n);
	return PM_OK;
}

int pm_worker_killed(const PmWorker *w)
{
	return w->killed;
}

const char *pm_worker_digest(const PmWorker *w, int side)
{
	return w->digest[w->side[side]];
}

/* A process that something outside killed says nothing of the work: it is asked of another one. */
static int try_again(const PmWorker *w, PmStatus st, int *n)
{
	return st && w->killed && ++*n < TRIES;
}

PmStatus pm_worker_info(PmWorker *w, PmDeviceInfo *out, PmErr *err)
{
	WorkerAsk a = { .what = WORKER_INFO };
	PmStr payload = PM_STR_INIT;
	WorkerReply r;
	PmStatus st;
	int n = 0;

	do
		st = ask(w, &a, &payload, OPEN_SECONDS, sizeof *out, &r, err);
	while (try_again(w, st, &n));
	if (!st && payload.len != sizeof *out)
		st = pm_err(err, PM_E_CRASH, "The device worker sent half an answer.");
	if (!st)
		memcpy(out, payload.s, sizeof *out);
	pm_str_release(&payload);
	return st;
}

/* Makes sure that the worker holds the work; *slot says where. Slots in the set `keep` are not given away.
 * `bare`: it is not to be run, so that its constants are not needed. */
static PmStatus load(PmWorker *w, const PmWork *work, unsigned keep, int bare, double deadline, int *slot,
		     PmErr *err)
{
	WorkerAsk a = { .what = WORKER_LOAD, .n = (int)work->n_alts, .bare = bare };
	int held;
	char hex[PM_SHA256_HEX];
	PmStr payload = PM_STR_INIT;
	WorkerReply r;
	PmStatus st;

	if (work->n_alts)
		pm_str_addn(&payload, work->alts, work->n_alts * sizeof *work->alts);
	st = pm__graph_pack(work->g, &payload, err);
	if (!st) {
		pm_sha256_hex(payload.s, payload.len, hex);
		for (*slot = 0; *slot < WORKER_SLOTS && strcmp(w->held[*slot], hex) != 0; (*slot)++)
			;
	}
	held = !st && *slot < WORKER_SLOTS;
	if (!st && (!held || (w->bare[*slot] && !bare))) {
		while (!held && keep >> w->next & 1)
			w->next = (w->next + 1) % WORKER_SLOTS;
		a.slot = *slot = held ? *slot : w->next;
		st = ask(w, &a, &payload, deadline, PM_CHAIN_HEX, &r, err);
		if (!st)
			st = take_exactly(w, &payload, w->digest[*slot], PM_CHAIN_HEX, err);
		w->digest[*slot][PM_CHAIN_HEX - 1] = 0;
		if (!st) {
			memcpy(w->held[*slot], hex, sizeof hex);
			w->bare[*slot] = bare;
			w->next = held ? w->next : (w->next + 1) % WORKER_SLOTS;
		}
	}
	pm_str_release(&payload);
	return st;
}

static PmStatus run(PmWorker *w, const PmWork *work, const PmTensor *in, uint32_t poison, int plain,
		    double deadline, PmTensor *out, double *seconds, PmErr *err)
{
	WorkerAsk a = { .what = WORKER_RUN,
			.poison = poison,
			.plain = plain,
			.layout = plain ? 0 : work->layout,
			.sampled = work->sampled };
	double limit = deadline > 0 ? deadline : OPEN_SECONDS;
	double compiling = limit > OPEN_SECONDS ? limit
						: OPEN_SECONDS; /* no kernel of a candidate runs then */
	size_t n_in = pm_graph_n_inputs(work->g);
	WorkerReply r;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n_in && !st; i++)
		if (!pm_type_equal(&in[i].type, pm_value_type(work->g, pm_graph_input(work->g, i))))
			st = pm_err(err, PM_E_TYPE, "The tensor given for input '%.120s' is of another type.",
				    pm_value_name(work->g, pm_graph_input(work->g, i)));
	if (!st)
		st = load(w, work, 0, 0, compiling, &a.slot, err);
	if (st)
		return st;
	w->side[0] = a.slot;
	st = ask_outputs(w, &a, work->g, in, n_in, limit, out, &r, err);
	if (!st && seconds)
		*seconds = r.sample.seconds;
	return st;
}

/* A GPU does not say what a kernel that faulted had touched: outside its buffers, or an input, which is
 * read-only. Run once more over inputs that can be written, the latter is found by their contents. */
static PmStatus name_fault(PmWorker *w, const PmWork *work, const PmTensor *in, uint32_t poison,
			   double deadline, PmErr *err)
{
	size_t n = pm_graph_n_outputs(work->g);
	PmTensor *out = pm_xcalloc(n + 1, sizeof *out);
	PmErr second;
	PmStatus st;

	pm_err_init(&second);
	st = run(w, work, in, poison, 1, deadline, out, NULL, &second);
	for (size_t i = 0; i < n && !st; i++)
		pm_tensor_release(&out[i]);
	free(out);
	return st == PM_E_MUTATED ? pm_err(err, st, "%s", second.text) : PM_E_OOB;
}

PmStatus pm_worker_run(PmWorker *w, const PmWork *work, const PmTensor *in, uint32_t poison, double deadline,
		       PmTensor *out, double *seconds, PmErr *err)
{
	PmStatus st;
	int n = 0;

	do
		st = run(w, work, in, poison, 0, deadline, out, seconds, err);
	while (try_again(w, st, &n));
	return st == PM_E_OOB && pm_device_kind(w->device) == PM_DEVICE_CUDA
		       ? name_fault(w, work, in, poison, deadline, err)
		       : st;
}

/* --- the clock -------------------------------------------------------------------------------------------
 */

static int same_work(const PmWork *a, const PmWork *b)
{
	return a->g == b->g && a->n_alts == b->n_alts &&
	       (!a->n_alts || !memcmp(a->alts, b->alts, a->n_alts * sizeof *a->alts));
}

PmStatus pm_worker_clock_open(PmWorker *w, const PmWork *side, int n_sides, const PmInputPool *pool,
			      double deadline, int *depth, PmErr *err)
{
	WorkerAsk a = { .what = WORKER_CLOCK,
			.n = n_sides,
			.n_sets = pool->n_sets,
			.seed = pool->seed,
			.digest = pool->digest,
			.inner = pool->inner,
			.sketch = pool->sketch,
			.salt = pool->salt,
			.bank_poison = pool->poison,
			.layout = (uint64_t)pool->mixed };
	int slot[PM_SAMPLER_SIDES];
	unsigned keep = 0;
	PmStr payload = PM_STR_INIT;
	WorkerReply r;
	PmStatus st = PM_OK;

	if (n_sides < 1 || n_sides > PM_SAMPLER_SIDES)
		return pm_err(err, PM_E_INVALID, "A clock compares 1 to %d sides.", PM_SAMPLER_SIDES);
	w->clock_deadline = deadline > 0 ? deadline : OPEN_SECONDS;
	for (int i = 0; i < n_sides && !st; i++) {
		int same = 0;

		while (same < i && !same_work(&side[same], &side[i]))
			same++;
		if (same < i) { /* the control is the baseline again: not packed twice to find that out */
			slot[i] = slot[same];
			continue;
		}
		st = load(w, &side[i], keep, 1,
			  w->clock_deadline > OPEN_SECONDS ? w->clock_deadline : OPEN_SECONDS, &slot[i], err);
		keep |= st ? 0 : 1u << slot[i];
	}
	if (st)
		return st;
	memcpy(w->side, slot, (size_t)n_sides * sizeof *slot);
	pm_str_addn(&payload, slot, (size_t)n_sides * sizeof *slot);
	pm__input_pool_pack(pool, &payload);
	/* No kernel of a candidate runs yet. */
	st = ask(w, &a, &payload, w->clock_deadline > OPEN_SECONDS ? w->clock_deadline : OPEN_SECONDS, 0, &r,
		 err);
	*depth = r.n;
	pm_str_release(&payload);
	return st;
}

static PmStatus clock_is_open(const PmWorker *w, PmErr *err)
{
	return w->server ? PM_OK : pm_err(err, PM_E_INVALID, "The clock of this worker is not open.");
}

static PmStatus clock_ask(PmWorker *w, const WorkerAsk *a, PmStr *payload, uint64_t most, PmSample *sample,
			  PmErr *err)
{
	WorkerReply r;
	PmStatus st = clock_is_open(w, err);

	if (!st)
		st = ask(w, a, payload, w->clock_deadline, most, &r, err);
	if (!st && sample)
		*sample = r.sample;
	return st;
}

static PmStatus clock_simple(PmWorker *w, WorkerWhat what, int n, double *seconds, PmErr *err)
{
	WorkerAsk a = { .what = what, .n = n };
	PmStr payload = PM_STR_INIT;
	PmSample s = { 0 };
	PmStatus st = clock_ask(w, &a, &payload, 0, &s, err);

	if (!st && seconds)
		*seconds = s.seconds;
	pm_str_release(&payload);
	return st;
}

PmStatus pm_worker_clock_take(PmWorker *w, const PmSampleAsk *sample, PmSample *out, PmMade *made, PmErr *err)
{
	WorkerAsk a = { .what = WORKER_TAKE, .ask = *sample, .n = made != NULL };
	PmStr payload = PM_STR_INIT;
	size_t bytes = made ? (size_t)sample->batch * sizeof *made : 0;
	PmStatus st = clock_ask(w, &a, &payload, bytes, out, err);

	if (!st)
		st = take_exactly(w, &payload, made, bytes, err);
	pm_str_release(&payload);
	return st;
}

PmStatus pm_worker_clock_empty(PmWorker *w, double *seconds, PmErr *err)
{
	return clock_simple(w, WORKER_EMPTY, 0, seconds, err);
}

PmStatus pm_worker_clock_warm(PmWorker *w, double *seconds, PmErr *err)
{
	return clock_simple(w, WORKER_WARM, 0, seconds, err);
}

PmStatus pm_worker_clock_outputs(PmWorker *w, const PmGraph *g, int call, PmTensor *out, PmErr *err)
{
	WorkerAsk a = { .what = WORKER_OUTPUTS, .n = call };
	WorkerReply r;
	PmStatus st = clock_is_open(w, err);

	return st ? st : ask_outputs(w, &a, g, NULL, 0, w->clock_deadline, out, &r, err);
}

PmStatus pm_worker_clock_sketch(PmWorker *w, int call, PmSketch *out, size_t n_out, PmErr *err)
{
	WorkerAsk a = { .what = WORKER_SKETCH, .n = call };
	PmStr payload = PM_STR_INIT;
	PmStatus st = clock_ask(w, &a, &payload, n_out * sizeof *out, NULL, err);

	if (!st)
		st = take_exactly(w, &payload, out, n_out * sizeof *out, err);
	pm_str_release(&payload);
	return st;
}

PmStatus pm_worker_clock_end(PmWorker *w, PmErr *err)
{
	PmStatus st = clock_simple(w, WORKER_CLOSE, 1, NULL, err);

	if (!st)
		pm_worker_renew(w);
	return st;
}

PmStatus pm_worker_clock_close(PmWorker *w, PmErr *err)
{
	PmStatus st = clock_simple(w, WORKER_CLOSE, 0, NULL, err);

	if (pm_device_kind(w->device) != PM_DEVICE_CUDA)
		pm_worker_renew(w); /* it has shut itself in with this clock's kernels */
	return st;
}
