/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_call.c - sequences of launches and library calls made ready once, so that running one is a call of the
 * driver or a library for each step and nothing else. */
#include "runtime/cuda/library/cuda_lib_priv.h"

#include <stdlib.h>
#include <string.h>

typedef struct Ready {
	PmCudaReady launch;   /* of a kernel */
	PmCudaLib lib;        /* or a library's call, when lib.algo is not NULL, */
	PmCudaPlaced placed;  /* on these addresses */
	const PmDevArg *args; /* for the guard */
	int n_args;
} Ready;

typedef struct PmCudaCall {
	Ready *step;
	size_t n;
	PmDevArg *args; /* of all steps, */
	PmCudaValue *value;
	void **params;
	uint64_t noted; /* the guard's number of looks when it was last told of the buffers, plus 1 */
} PmCudaCall;

static void call_free(PmCudaCall *c)
{
	for (size_t i = 0; i < c->n; i++)
		pm__algo_unplace(&c->step[i].placed);
	free(c->step);
	free(c->args);
	free(c->value);
	free(c->params);
	free(c);
}

/* What the call makes of constant weights, once for all sequences: they are where the plan's constants are.
 * A recording makes it whenever it is replayed. */
static PmStatus make_kept(PmCudaDevice *d, PmCudaLib *l, CuPtr weights, PmErr *err)
{
	PmCudaSite site = pm__cuda_site(d);

	if (!l->kept || l->kept_of == weights)
		return PM_OK;
	if (!d->recording)
		l->kept_of = weights;
	return pm__algo_run_once(&site, l->algo, weights, l->kept, err);
}

static PmStatus ready_lib(PmCudaDevice *d, const PmDevStep *s, Ready *r, PmErr *err)
{
	PmCudaLib *l = pm__cuda_lib(d, s->lib);
	CuPtr p[4] = { 0 };
	PmStatus st;

	if (!l)
		return pm_err(err, PM_E_INVALID, "There is no library call %u on this device.", s->lib.id);
	for (int i = 0; i < s->launch.n_args && i < 4; i++) {
		const PmDevArg *a = &s->launch.args[i];
		const PmCudaBuf *b = a->kind == PM_DARG_BUF ? pm__cuda_buf(d, a->buf) : NULL;

		p[i] = b ? b->p + (uint64_t)a->offset : 0;
	}
	r->lib = *l;
	st = pm__algo_place(l->algo, p, l->workspace, l->kept, &r->placed, err);
	return st ? st : make_kept(d, l, p[2], err);
}

static PmCudaCall *call_alloc(const PmDevStep *step, size_t n)
{
	PmCudaCall *c = pm_xcalloc(1, sizeof *c);
	size_t n_args = 0;

	for (size_t i = 0; i < n; i++)
		n_args += (size_t)step[i].launch.n_args;
	c->step = pm_xcalloc(n + 1, sizeof *c->step);
	c->args = pm_xcalloc(n_args + 1, sizeof *c->args);
	c->value = pm_xcalloc(n_args + 1, sizeof *c->value);
	c->params = pm_xcalloc(n_args + 1, sizeof *c->params);
	return c;
}

PmStatus pm__cuda_call_new(PmDevice *dev, const PmDevStep *step, size_t n, PmCall *out, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = pm__cuda_failed(d, err);
	PmCudaCall *c;
	size_t at = 0, i;
	PmErr why;

	if (st)
		return st;
	pm_err_init(&why);
	c = call_alloc(step, n);
	for (i = 0; i < n && !st; i++) {
		Ready *r = &c->step[c->n++];
		const PmDevLaunch *l = &step[i].launch;

		memcpy(c->args + at, l->args, (size_t)l->n_args * sizeof *l->args);
		r->args = c->args + at;
		r->n_args = l->n_args;
		r->launch.value = c->value + at;
		r->launch.params = c->params + at;
		at += (size_t)l->n_args;
		st = step[i].lib.id ? ready_lib(d, &step[i], r, &why)
				    : pm__cuda_ready_launch(d, l, &r->launch, &why);
	}
	if (st) {
		call_free(c);
		return pm__cuda_fail_with(d, st, &why, err);
	}
	for (i = 0; i < d->calls.n && d->calls.v[i]; i++)
		;
	if (i < d->calls.n)
		d->calls.v[i] = c;
	else
		PM_VEC_PUSH(&d->calls, c);
	out->id = (uint32_t)i + 1;
	return PM_OK;
}

static PmStatus note_step(PmCudaDevice *d, const Ready *r, PmErr *err)
{
	return pm__cuda_note_buffers(d, r->lib.algo ? r->lib.label : r->launch.label, r->args, r->n_args,
				     err);
}

/* While calls are timed: once for all looks. */
static PmStatus tell_guard(PmCudaDevice *d, PmCudaCall *c, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < c->n && !st; i++)
		st = note_step(d, &c->step[i], err);
	c->noted = d->n_checks + 1;
	return st;
}

static PmStatus run_lib(PmCudaDevice *d, const Ready *r, PmErr *err)
{
	PmCudaSite site = pm__cuda_site(d);
	PmStatus st = pm__algo_run(&site, r->lib.algo, &r->placed, err);

	if (!d->n_pending++)
		d->first_label = r->lib.label;
	d->last_label = r->lib.label;
	d->last_entry = "a library's";
	return st;
}

PmStatus pm__cuda_call_run(PmDevice *dev, PmCall h, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmCudaCall *c = h.id && h.id <= d->calls.n ? d->calls.v[h.id - 1] : NULL;
	PmStatus st = d->failed.code ? pm__cuda_failed(d, err) : PM_OK;
	PmErr why;

	if (st)
		return st;
	if (!c)
		return pm_err(err, PM_E_INVALID, "There is no sequence %u on this device.", h.id);
	pm_err_init(&why);
	if (d->quiet && c->noted != d->n_checks + 1)
		st = tell_guard(d, c, &why);
	for (size_t i = 0; i < c->n && !st; i++) {
		/* Each step's buffers are protected for it, and inputs hashed, just before it. */
		if (!d->quiet)
			st = note_step(d, &c->step[i], &why);
		if (!st)
			st = c->step[i].lib.algo ? run_lib(d, &c->step[i], &why)
						 : pm__cuda_enqueue(d, &c->step[i].launch, &why);
	}
	return st ? pm__cuda_fail_with(d, st, &why, err) : PM_OK;
}

void pm__cuda_call_drop(PmDevice *dev, PmCall h)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;

	if (!h.id || h.id > d->calls.n || !d->calls.v[h.id - 1])
		return;
	call_free(d->calls.v[h.id - 1]);
	d->calls.v[h.id - 1] = NULL;
}

void pm__cuda_call_close(PmCudaDevice *d)
{
	for (size_t i = 0; i < d->calls.n; i++)
		pm__cuda_call_drop(&d->base, (PmCall){ (uint32_t)i + 1 });
}
