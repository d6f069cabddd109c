/* SPDX-License-Identifier: Apache-2.0 */
/* worker_serve.c - what a device worker does: holds a device, a few loaded graphs and a sampler. */
#include "base/sys/serve.h"
#include "runtime/device/limits.h"
#include "runtime/worker/worker_priv.h"

#include <stdlib.h>
#include <string.h>

typedef struct Slot {
	PmGraph *g; /* NULL = empty */
	PmPlan *plan;
	PmExec *exec;
} Slot;

/* Of this process, which is a worker and nothing else. */
static struct {
	PmDevice *d;
	Slot slot[WORKER_SLOTS];
	PmSampler *sampler;
	PmExec *side[PM_SAMPLER_SIDES]; /* of the sampler */
	size_t n_out[PM_SAMPLER_SIDES];
	int n_sides, last_side;
	PmTensor *pool, *table; /* of the sampler's input pool */
	size_t n_pool, n_table;
} w;

static void empty_slot(Slot *s)
{
	pm_exec_free(s->exec);
	pm_plan_free(s->plan);
	pm_graph_free(s->g);
	memset(s, 0, sizeof *s);
}

static PmStatus load(const WorkerAsk *a, Cursor *c, PmStr *payload, PmErr *err)
{
	const char *alts = pm__take(c, (size_t)a->n * sizeof(int));
	int *copy = pm_xcalloc((size_t)a->n + 1, sizeof *copy);
	Slot *s = &w.slot[a->slot];
	PmDeviceInfo info;
	PmStatus st;

	empty_slot(s);
	if (alts && a->n)
		memcpy(copy, alts, (size_t)a->n * sizeof *copy);
	w.d->ops->info(w.d, &info);
	st = pm__graph_unpack(c, &s->g, err);
	if (!st)
		st = pm_limit_sources(s->g, err);
	if (!st)
		st = pm_limit_scratch(s->g, info.max_scratch, err);
	if (!st)
		st = pm_plan_new(s->g, copy, (size_t)a->n, &s->plan, err);
	if (!st)
		st = (a->bare ? pm_exec_new_bare : pm_exec_new)(s->plan, w.d, &s->exec, err);
	if (!st) {
		char digest[PM_CHAIN_HEX];

		pm_exec_digest(s->exec, copy, (size_t)a->n, digest);
		pm_str_addn(payload, digest, sizeof digest);
	}
	free(copy);
	return st;
}

/* Inputs follow a request as they are. */
static PmStatus take_input(const PmType *type, PmTensor *t, PmErr *err)
{
	PmStatus st = pm_tensor_room(t, type, err);

	if (!st && t->bytes && !pm_serve_take(t->data, t->bytes))
		st = pm_err(err, PM_E_CRASH, "A message of the device worker is cut short.");
	return st;
}

/* Outputs follow the reply, which owns them then. */
static void give_outputs(PmTensor *out, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (out[i].bytes)
			pm_serve_give(out[i].data, out[i].bytes);
		out[i].data = NULL;
	}
}

static PmStatus run(const WorkerAsk *a, WorkerReply *r, PmErr *err)
{
	Slot *s = &w.slot[a->slot];
	size_t n_in = pm_graph_n_inputs(s->g), n_out = pm_graph_n_outputs(s->g), n = 0;
	PmTensor *in = pm_xcalloc(n_in + 1, sizeof *in), *out = pm_xcalloc(n_out + 1, sizeof *out);
	PmStatus st = PM_OK;

	for (; n < n_in && !st; n++)
		st = take_input(pm_value_type(s->g, pm_graph_input(s->g, n)), &in[n], err);
	pm_exec_plain(s->exec, a->plain);
	if (w.d->ops->layout)
		w.d->ops->layout(w.d, a->layout);
	if (w.d->ops->sample)
		w.d->ops->sample(w.d, &a->sampled);
	if (!st)
		st = pm_exec_run_isolated(s->exec, in, n_in, a->poison, out, n_out, &r->sample.seconds, err);
	for (size_t i = 0; i < n_in; i++)
		pm_tensor_release(&in[i]);
	if (!st)
		give_outputs(out, n_out);
	for (size_t i = 0; i < n_out; i++)
		pm_tensor_release(&out[i]);
	free(in);
	free(out);
	return st;
}

/* --- the clock -------------------------------------------------------------------------------------------
 */

static PmStatus clock_close(PmErr *err)
{
	PmStatus st = pm_sampler_free(w.sampler, err);

	w.sampler = NULL;
	for (int i = 0; i < w.n_sides; i++)
		pm_exec_free(w.side[i]);
	memset(w.side, 0, sizeof w.side);
	w.n_sides = 0;
	for (size_t i = 0; i < w.n_pool; i++)
		pm_tensor_release(&w.pool[i]);
	for (size_t i = 0; i < w.n_table; i++)
		pm_tensor_release(&w.table[i]);
	free(w.pool);
	free(w.table);
	w.pool = w.table = NULL;
	w.n_pool = w.n_table = 0;
	return st;
}

/* The input pool's tensors, of the types of the first side's inputs. */
static PmStatus take_input_pool(const WorkerAsk *a, const PmGraph *g, Cursor *c, PmErr *err)
{
	size_t n_in = pm_graph_n_inputs(g);
	const PmType **type = pm_xcalloc(n_in + 1, sizeof *type);
	PmStatus st;

	if (a->n_sets < 1) {
		free(type);
		return pm_err(err, PM_E_INTERNAL, "A clock was asked for without inputs.");
	}
	for (size_t i = 0; i < n_in; i++)
		type[i] = pm_value_type(g, pm_graph_input(g, i));
	w.n_table = n_in;
	w.n_pool = n_in * (size_t)a->n_sets;
	w.table = pm_xcalloc(w.n_table + 1, sizeof *w.table);
	w.pool = pm_xcalloc(w.n_pool + 1, sizeof *w.pool);
	st = pm__input_pool_unpack(c, type, n_in, a->n_sets, w.table, w.pool, err);
	free(type);
	return st;
}

static PmStatus clock_open(const WorkerAsk *a, Cursor *c, WorkerReply *r, PmErr *err)
{
	int slot[PM_SAMPLER_SIDES];
	const char *p = pm__take(c, (size_t)a->n * sizeof *slot);
	PmInputPool pool = { .n_sets = a->n_sets,
			     .seed = a->seed,
			     .digest = a->digest,
			     .inner = a->inner,
			     .sketch = a->sketch,
			     .salt = a->salt,
			     .poison = a->bank_poison,
			     .mixed = a->layout != 0 };
	PmStatus st = clock_close(err);

	if (st)
		return st;
	if (!p || a->n < 1 || a->n > PM_SAMPLER_SIDES)
		return pm_err(err, PM_E_INTERNAL, "A clock was asked for with %d sides.", a->n);
	memcpy(slot, p, (size_t)a->n * sizeof *slot);
	for (; w.n_sides < a->n && !st; w.n_sides++) {
		const Slot *s = &w.slot[slot[w.n_sides] % WORKER_SLOTS];

		if (!s->plan)
			return pm_err(err, PM_E_INTERNAL, "A clock was asked for with an empty side.");
		w.n_out[w.n_sides] = pm_graph_n_outputs(s->g);
		st = pm_exec_new(s->plan, w.d, &w.side[w.n_sides], err);
	}
	if (!st)
		st = take_input_pool(a, w.slot[slot[0] % WORKER_SLOTS].g, c, err);
	pool.t = w.pool;
	pool.table = w.table;
	pool.n_in = pm_graph_n_inputs(w.slot[slot[0] % WORKER_SLOTS].g);
	if (w.d->ops->sample) /* a timed call is whole */
		w.d->ops->sample(w.d, &(PmSampled){ 0 });
	if (!st)
		st = pm_sampler_new(w.d, w.side, w.n_sides, &pool, &w.sampler, err);
	/* From here on kernels run in this process, which does nothing else until it ends. */
	if (!st && w.d->ops->shut)
		st = w.d->ops->shut(w.d, 1, err);
	if (!st)
		r->n = pm_sampler_depth(w.sampler);
	return st;
}

static PmStatus clock_take(const WorkerAsk *a, WorkerReply *r, PmStr *payload, PmErr *err)
{
	PmStatus st = pm_sampler_take(w.sampler, &a->ask, &r->sample, err);

	w.last_side = a->ask.side;
	for (int i = 0; i < a->ask.batch && a->n && !st; i++) {
		PmMade d;

		st = pm_sampler_made(w.sampler, i, &d, err);
		pm_str_addn(payload, &d, sizeof d);
	}
	return st;
}

static PmStatus clock_outputs(int call, PmErr *err)
{
	size_t n = w.n_out[w.last_side];
	PmTensor *out = pm_xcalloc(n + 1, sizeof *out);
	PmStatus st = pm_sampler_outputs(w.sampler, call, out, n, err);

	if (!st)
		give_outputs(out, n);
	for (size_t i = 0; i < n; i++)
		pm_tensor_release(&out[i]);
	free(out);
	return st;
}

static PmStatus clock_sketch(int call, PmStr *payload, PmErr *err)
{
	size_t n = w.n_out[w.last_side];
	PmSketch *s = pm_xcalloc(n + 1, sizeof *s);
	PmStatus st = pm_sampler_sketch(w.sampler, call, s, n, err);

	if (!st)
		pm_str_addn(payload, s, n * sizeof *s);
	free(s);
	return st;
}

static PmStatus with_clock(const WorkerAsk *a, WorkerReply *r, PmStr *payload, PmErr *err)
{
	if (!w.sampler)
		return pm_err(err, PM_E_INTERNAL, "The worker's clock is not open.");
	switch (a->what) {
	case WORKER_TAKE:
		return clock_take(a, r, payload, err);
	case WORKER_EMPTY:
		return pm_sampler_empty(w.sampler, &r->sample.seconds, err);
	case WORKER_WARM:
		return pm_sampler_warm(w.sampler, &r->sample.seconds, err);
	case WORKER_OUTPUTS:
		return clock_outputs(a->n, err);
	case WORKER_SKETCH:
		return clock_sketch(a->n, payload, err);
	default:
		return a->n ? pm_sampler_end(w.sampler, err) : clock_close(err);
	}
}

/* --- requests --------------------------------------------------------------------------------------------
 */

static PmStatus answer(const WorkerAsk *a, Cursor *c, WorkerReply *r, PmStr *payload, PmErr *err)
{
	PmDeviceInfo info;

	if (a->slot < 0 || a->slot >= WORKER_SLOTS || a->n < 0)
		return pm_err(err, PM_E_INTERNAL, "A request to the device worker is malformed.");
	switch (a->what) {
	case WORKER_INFO:
		w.d->ops->info(w.d, &info);
		pm_str_addn(payload, &info, sizeof info);
		return PM_OK;
	case WORKER_LOAD:
		return load(a, c, payload, err);
	case WORKER_RUN:
		if (!w.slot[a->slot].exec)
			return pm_err(err, PM_E_INTERNAL, "The device worker was told to run nothing.");
		return run(a, r, err);
	case WORKER_CLOCK:
		return clock_open(a, c, r, err);
	default:
		return with_clock(a, r, payload, err);
	}
}

int pm__worker_serve(void *arg, const char *request, size_t n, PmStr *reply)
{
	Cursor c = { request, n };
	const char *head = pm__take(&c, sizeof(WorkerAsk));
	PmStr payload = PM_STR_INIT;
	WorkerReply r = { 0 };
	PmPrint *print;
	WorkerAsk a;
	PmErr err;

	pm_err_init(&err);
	if (!request) { /* an error comes again when there is someone to tell */
		pm_device_open(arg, &w.d, NULL);
		return 0;
	}
	if (!head) {
		r.status = pm_err(&err, PM_E_INTERNAL, "A request to the device worker is cut short.");
	} else {
		memcpy(&a, head, sizeof a);
		if (!w.d)
			r.status = pm_device_open(arg, &w.d, &err);
		if (!r.status)
			r.status = answer(&a, &c, &r, &payload, &err);
	}
	print = w.d ? w.d->print : NULL;
	memcpy(r.text, err.text, sizeof r.text);
	if (print) {
		r.n_printed = print->n;
		r.cut = print->cut;
	}
	pm_str_addn(reply, &r, sizeof r);
	if (print) {
		pm_str_addn(reply, print->text, print->n);
		memset(print, 0, sizeof *print); /* it is the parent's now */
	}
	if (!r.status)
		pm_str_addn(reply, payload.s, payload.len);
	pm_str_release(&payload);
	return r.status != PM_OK; /* an error may have spoiled the device: this process ends with it */
}
