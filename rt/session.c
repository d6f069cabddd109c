/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - bindings, and runs of the shape that they need. */
#include "rt/rt_priv.h"

#include "base/core/arena.h"
#include "ir/core/onnx_dtype.h"
#include "ir/core/type.h"

#include <stdlib.h>
#include <string.h>

/* ---- sessions ---- */

int pm_rt_session_new(PmRtModel *m, PmRtSession **out, PmRtError *err)
{
	PmRtSession *s;
	size_t n;
	PmErr why;
	PmStatus st;

	if (!m || !out)
		return pm_rt_usage(err, "pm_rt_session_new needs a model and a place for the session.");
	*out = NULL;
	pm_err_init(&why);
	n = m->n_in + m->n_out;
	s = pm_xcalloc(1, sizeof *s);
	s->m = m;
	s->binds = 1;
	s->bound = pm_xcalloc(n + 1, sizeof *s->bound);
	s->extent = pm_xcalloc(n + 1, sizeof *s->extent);
	s->ready = pm_xcalloc(m->pk.n_shape + 1, sizeof *s->ready);
	s->piece = pm_xcalloc(m->pk.n_shape + 1, sizeof *s->piece);
	st = m->device->session_new(s, &why);
	if (!st && m->arena)
		st = m->device->alloc(s, m->arena, &s->arena, &why);
	if (st) {
		pm_rt_session_free(s);
		return pm_rt_fail(&why, err);
	}
	*out = s;
	return PM_RT_OK;
}

void pm_rt_session_free(PmRtSession *s)
{
	if (!s)
		return;
	for (size_t k = 0; k < s->m->pk.n_shape; k++) {
		PmRtReady *r = &s->ready[k];

		if (r->own)
			s->m->device->ready_free(s, r);
		free(r->value);
		free(r->params);
		free(r->at);
	}
	if (s->arena)
		s->m->device->release(s, s->arena);
	if (s->staging)
		s->m->device->release(s, s->staging);
	s->m->device->session_free(s);
	free(s->bound);
	free(s->extent);
	free(s->ready);
	free(s->piece);
	free(s);
}

/* ---- bindings ---- */

static const char *side(const PmRtModel *m, size_t value)
{
	return value < m->n_in ? "input" : "output";
}

/* "int64"; "undefined" for a number that is no type. */
static const char *type_name(PmRtType type)
{
	return pm_dtype_name(pm_dtype_from_onnx((int)type));
}

/* PM_RT_OK when the tensor can be that value. */
static int check_tensor(const PmRtModel *m, size_t value, const PmRtTensor *t, PmRtError *err)
{
	const PmRtValue *v = &m->value[value];
	PmErr why;
	int64_t n = 1;

	pm_err_init(&why);
	if (t->type != v->type || t->rank != v->rank) {
		pm_err(&why, PM_E_TYPE,
		       "The tensor for %s '%.120s' has elements of type %s and rank %d; the model wants %s "
		       "and "
		       "rank %d.",
		       side(m, value), v->name, type_name(t->type), t->rank, type_name(v->type), v->rank);
		return pm_rt_fail(&why, err);
	}
	if (t->place != PM_RT_HOST && t->place != PM_RT_ON_DEVICE)
		return pm_rt_usage(err, "The tensor for %s '%.120s' lies at place %d, which is none.",
				   side(m, value), v->name, (int)t->place);
	for (int k = 0; k < v->rank; k++) {
		if (t->dim[k] < 0 || (v->dim[k] >= 0 && t->dim[k] != v->dim[k])) {
			pm_err(&why, PM_E_TYPE,
			       "Size %d of the tensor for %s '%.120s' is %lld; the model wants %lld (-1: "
			       "any).",
			       k, side(m, value), v->name, (long long)t->dim[k], (long long)v->dim[k]);
			return pm_rt_fail(&why, err);
		}
		if (!pm_mul_i64(n, t->dim[k], &n))
			n = INT64_MAX;
	}
	if (n && !t->data)
		return pm_rt_usage(err, "The tensor for %s '%.120s' has elements and no data.",
				   side(m, value), v->name);
	return PM_RT_OK;
}

int pm_rt_bind_input(PmRtSession *s, size_t i, const PmRtTensor *t, PmRtError *err)
{
	int code;

	if (!s || !t || i >= s->m->n_in)
		return pm_rt_usage(err,
				   "pm_rt_bind_input needs a session, the number of an input and a tensor.");
	code = check_tensor(s->m, i, t, err);
	if (code)
		return code;
	if (!s->bound[i].bound || memcmp(s->bound[i].t.dim, t->dim, (size_t)t->rank * sizeof *t->dim) != 0)
		s->chosen = 0;
	s->bound[i] = (PmRtBound){ *t, 1 };
	s->binds++;
	return PM_RT_OK;
}

/* Chooses a shape when sizes have changed since. */
static int choose(PmRtSession *s, PmRtError *err)
{
	PmErr why;

	if (s->chosen)
		return PM_RT_OK;
	for (size_t i = 0; i < s->m->n_in; i++)
		if (!s->bound[i].bound)
			return pm_rt_usage(err,
					   "Input '%.120s' has no tensor; bind one with pm_rt_bind_input.",
					   s->m->value[i].name);
	pm_err_init(&why);
	return pm_rt_choose(s, &why) ? pm_rt_fail(&why, err) : PM_RT_OK;
}

int pm_rt_output_shape(PmRtSession *s, size_t i, PmRtValue *out, PmRtError *err)
{
	size_t value;
	int code;

	if (!s || !out || i >= s->m->n_out)
		return pm_rt_usage(
			err, "pm_rt_output_shape needs a session, the number of an output and a value.");
	code = choose(s, err);
	if (code)
		return code;
	value = s->m->n_in + i;
	*out = s->m->value[value];
	memcpy(out->dim, s->extent[value].dim, sizeof out->dim);
	return PM_RT_OK;
}

int pm_rt_bind_output(PmRtSession *s, size_t i, const PmRtTensor *t, PmRtError *err)
{
	int code;

	if (!s || !t || i >= s->m->n_out)
		return pm_rt_usage(
			err, "pm_rt_bind_output needs a session, the number of an output and a tensor.");
	code = check_tensor(s->m, s->m->n_in + i, t, err);
	if (code)
		return code;
	s->bound[s->m->n_in + i] = (PmRtBound){ *t, 1 };
	s->binds++;
	return PM_RT_OK;
}

/* ---- a run of one shape ---- */

static PmRtAddress address_of(const PmRtSession *s, const PmRtfBuffer *b, const PmRtAddress *at)
{
	switch (b->place) {
	case PM_RTF_INPUT:
		return at[b->index];
	case PM_RTF_OUTPUT:
		return at[s->m->n_in + b->index];
	case PM_RTF_CONST:
		return s->m->constant[b->index];
	default:
		return s->arena + b->offset;
	}
}

static uint32_t first_arg(const PmRtPackage *p, const PmRtfShape *shape)
{
	return shape->n_steps ? p->step[shape->first_step].first_arg : 0;
}

/* Arguments of a shape's steps follow each other (package.c checks that they are there): how many. */
static size_t count_args(const PmRtPackage *p, const PmRtfShape *shape)
{
	size_t n = 0;

	for (uint32_t i = 0; i < shape->n_steps; i++)
		n += p->step[shape->first_step + i].n_args;
	return n;
}

static uint64_t bits_of(const PmRtfArg *a)
{
	uint64_t v = 0;

	if (a->kind == PM_RTF_I32 || a->kind == PM_RTF_F32)
		memcpy(&v, &a->v.i32, sizeof a->v.i32);
	else
		memcpy(&v, &a->v, sizeof v);
	return v;
}

static void make_ready(PmRtSession *s, size_t k)
{
	const PmRtPackage *p = &s->m->pk;
	const PmRtfShape *shape = &p->shape[k];
	PmRtReady *r = &s->ready[k];
	size_t n = count_args(p, shape), from = first_arg(p, shape);

	r->value = pm_xcalloc(n + 1, sizeof *r->value);
	r->params = pm_xcalloc(n + 1, sizeof *r->params);
	r->at = pm_xcalloc(s->m->n_in + s->m->n_out + 1, sizeof *r->at);
	for (size_t i = 0; i < n; i++) {
		r->value[i] = bits_of(&p->arg[from + i]);
		r->params[i] = &r->value[i];
	}
}

/* Puts the addresses of all buffers into the arguments. */
static void place_args(PmRtSession *s, size_t k)
{
	const PmRtPackage *p = &s->m->pk;
	const PmRtfShape *shape = &p->shape[k];
	PmRtReady *r = &s->ready[k];
	size_t n = count_args(p, shape), from = first_arg(p, shape);

	r->moves++;
	for (size_t i = 0; i < n; i++) {
		const PmRtfArg *a = &p->arg[from + i];

		if (a->kind == PM_RTF_BUF)
			r->value[i] = address_of(s, &p->buffer[shape->first_buffer + a->buffer], r->at) +
				      a->v.offset;
	}
}

/* What a run of a shape reads and writes: of each value the caller's memory. */
static char *data_of(const PmRtSession *s, size_t value, int64_t row)
{
	const PmRtTensor *t = &s->bound[value].t;
	uint64_t bytes = pm_package_type_size((uint32_t)t->type);

	for (int k = 1; k < t->rank; k++)
		bytes *= (uint64_t)t->dim[k];
	return t->data ? (char *)t->data + (t->rank ? bytes * (uint64_t)row : 0) : NULL;
}

/* Whether kernels can use the memory where it lies. */
static int direct(const PmRtSession *s, size_t value, const char *data)
{
	const PmRtDevice *d = s->m->device;

	return (d->on_host || s->bound[value].t.place == PM_RT_ON_DEVICE) && (uintptr_t)data % d->align == 0;
}

static PmStatus need_staging(PmRtSession *s, PmErr *err)
{
	return s->staging || !s->m->staging ? PM_OK : s->m->device->alloc(s, s->m->staging, &s->staging, err);
}

/* Of pieces: whether a value is cut, so that another piece has other rows of it. */
static int64_t row_of(const PmRtSession *s, size_t value, size_t shape, int64_t row)
{
	return s->bound[value].t.rank &&
			       s->extent[value].dim[0] != pm_package_extent(&s->m->pk, shape, value)->dim[0]
		       ? row
		       : 0;
}

/* Whether a run is one shape on the whole tensors. */
static int is_whole(const PmRtSession *s)
{
	return s->n_pieces == 1 && s->piece[0].times == 1;
}

/* Fills r->at for the rows of the bound tensors from `row` on, and copies inputs that kernels cannot use
 * where they lie; *copies: there are such tensors, outputs included. */
static PmStatus take_addresses(PmRtSession *s, size_t shape, int64_t row, int *copies, PmErr *err)
{
	const PmRtModel *m = s->m;
	const PmRtDevice *d = m->device;
	PmRtReady *r = &s->ready[shape];
	int moved = !r->moves;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < m->n_in + m->n_out && !st; i++) {
		char *data = data_of(s, i, row_of(s, i, shape, row));
		uint64_t bytes = pm_package_value_bytes(&m->pk, shape, i);
		PmRtAddress at = (PmRtAddress)(uintptr_t)data;

		if (!direct(s, i, data)) {
			*copies = 1;
			st = need_staging(s, err);
			at = s->staging + m->staged[i];
			if (!st && i < m->n_in && bytes)
				st = d->copy_in(s, at, data, s->bound[i].t.place, bytes, err);
		}
		moved |= at != r->at[i];
		r->at[i] = at;
	}
	if (st) /* so that the next run places all of them */
		memset(r->at, 0xff, (m->n_in + m->n_out) * sizeof *r->at);
	else if (moved)
		place_args(s, shape);
	r->settled = !st && !*copies && is_whole(s) ? s->binds : 0;
	return st;
}

/* Runs one shape on the rows of the bound tensors from `row` on. */
static PmStatus run_shape(PmRtSession *s, size_t shape, int64_t row, unsigned flags, PmErr *err)
{
	const PmRtModel *m = s->m;
	const PmRtDevice *d = m->device;
	PmRtReady *r = &s->ready[shape];
	PmRtRun run = { .s = s, .shape = shape, .ready = r, .flags = flags };
	PmStatus st = PM_OK;
	int copies = 0;

	if (!r->value)
		make_ready(s, shape);
	if (r->settled != s->binds)
		st = take_addresses(s, shape, row, &copies, err);
	run.alone = r->settled == s->binds && !s->waits;
	if (!st)
		st = d->launch(&run, err);
	for (size_t i = m->n_in; i < m->n_in + m->n_out && copies && !st; i++) {
		char *data = data_of(s, i, row_of(s, i, shape, row));
		uint64_t bytes = pm_package_value_bytes(&m->pk, shape, i);

		if (r->at[i] != (PmRtAddress)(uintptr_t)data && bytes)
			st = d->copy_out(s, data, s->bound[i].t.place, r->at[i], bytes, err);
	}
	return st;
}

/* ---- runs ---- */

static uint64_t bytes_of(const PmRtSession *s, size_t value)
{
	const PmRtTensor *t = &s->bound[value].t;
	uint64_t n = pm_package_type_size((uint32_t)t->type);

	for (int k = 0; k < t->rank; k++)
		n *= (uint64_t)t->dim[k];
	return n;
}

/* PM_RT_OK when every output is bound with its sizes, and shares no byte with another value. */
static int check_outputs(const PmRtSession *s, PmRtError *err)
{
	const PmRtModel *m = s->m;

	for (size_t i = m->n_in; i < m->n_in + m->n_out; i++) {
		const PmRtTensor *t = &s->bound[i].t;
		uintptr_t from = (uintptr_t)t->data;
		uint64_t n;

		if (!s->bound[i].bound)
			return pm_rt_usage(err,
					   "Output '%.120s' has no tensor; bind one with pm_rt_bind_output.",
					   m->value[i].name);
		for (int k = 0; k < t->rank; k++)
			if (t->dim[k] != s->extent[i].dim[k])
				return pm_rt_usage(
					err,
					"Size %d of the tensor for output '%.120s' is %lld and must be %lld "
					"for these inputs; ask pm_rt_output_shape.",
					k, m->value[i].name, (long long)t->dim[k],
					(long long)s->extent[i].dim[k]);
		n = bytes_of(s, i);
		for (size_t j = 0; j < i; j++) {
			uintptr_t other = (uintptr_t)s->bound[j].t.data;

			if (n && bytes_of(s, j) && s->bound[j].t.place == t->place &&
			    from < other + bytes_of(s, j) && other < from + n)
				return pm_rt_usage(
					err,
					"The tensor for output '%.120s' overlaps that for '%.120s'; give it "
					"memory of its own.",
					m->value[i].name, m->value[j].name);
		}
	}
	return PM_RT_OK;
}

static PmStatus run_pieces(PmRtSession *s, unsigned flags, PmErr *err)
{
	int64_t row = 0;
	PmStatus st = PM_OK;

	for (size_t k = 0; k < s->n_pieces; k++)
		for (int64_t i = 0; i < s->piece[k].times && !st; i++, row += s->piece[k].rows)
			st = run_shape(s, s->piece[k].shape, row, flags, err);
	return st;
}

/* What follows from the tensors that are bound, once for each binding. */
static int check_bound(PmRtSession *s, PmRtError *err)
{
	int code = choose(s, err);

	if (code || s->checked == s->binds)
		return code;
	code = check_outputs(s, err);
	if (code)
		return code;
	s->waits = 0;
	for (size_t i = 0; i < s->m->n_in + s->m->n_out; i++)
		s->waits |= s->bound[i].t.place == PM_RT_HOST;
	s->checked = s->binds;
	return PM_RT_OK;
}

/* A run of which nothing has to be looked at. */
static int run_again(PmRtSession *s, void *stream, PmRtError *err)
{
	PmErr why;

	pm_err_init(&why);
	return s->again(s, stream, &why) ? pm_rt_fail(&why, err) : PM_RT_OK;
}

int pm_rt_run(PmRtSession *s, void *stream, unsigned flags, PmRtError *err)
{
	const PmRtDevice *d;
	int code;
	PmErr why;
	PmStatus st;

	if (s && s->again_binds == s->binds && flags == PM_RT_GRAPH && stream)
		return run_again(s, stream, err);
	if (!s || flags & ~(unsigned)PM_RT_GRAPH)
		return pm_rt_usage(err, "pm_rt_run needs a session, and flags that it knows.");
	code = check_bound(s, err);
	if (code)
		return code;
	d = s->m->device;
	pm_err_init(&why);
	st = d->enter(s, stream, &why);
	if (st)
		return pm_rt_fail(&why, err);
	st = run_pieces(s, flags, &why);
	if (!st && (s->waits || !stream))
		st = d->wait(s, &why);
	d->leave(s);
	return st ? pm_rt_fail(&why, err) : PM_RT_OK;
}

/* ---- before the first run ---- */

/* Every value is bound, and kernels use all of them where they lie. */
static int all_direct(const PmRtSession *s)
{
	for (size_t i = 0; i < s->m->n_in + s->m->n_out; i++)
		if (!s->bound[i].bound || !direct(s, i, s->bound[i].t.data))
			return 0;
	return 1;
}

/* On the zeros in the session's own memory; then, with `bound`, makes the graph for what is bound. */
static PmStatus warm_shape(PmRtSession *s, size_t shape, unsigned flags, int bound, PmErr *err)
{
	const PmRtModel *m = s->m;
	PmRtReady *r = &s->ready[shape];
	PmRtRun run = { .s = s, .shape = shape, .ready = r };
	int copies = 0;
	PmStatus st;

	if (!r->value)
		make_ready(s, shape);
	for (size_t i = 0; i < m->n_in + m->n_out; i++)
		r->at[i] = s->staging + m->staged[i];
	r->settled = 0;
	place_args(s, shape);
	st = m->device->launch(&run, err);
	if (!(flags & PM_RT_GRAPH) || st)
		return st;
	run.flags = flags;
	st = m->device->launch(&run, err);
	if (!st && bound) {
		st = take_addresses(s, shape, 0, &copies, err);
		if (!st)
			st = m->device->prepare(&run, err);
	}
	return st;
}

static PmStatus warm_shapes(PmRtSession *s, unsigned flags, int bound, PmErr *err)
{
	const PmRtDevice *d = s->m->device;
	PmStatus st = need_staging(s, err);

	if (!st && s->m->staging)
		st = d->zero(s, s->staging, s->m->staging, err);
	for (size_t k = 0; k < s->n_pieces && s->chosen && !st; k++)
		st = warm_shape(s, s->piece[k].shape, flags, bound, err);
	for (size_t k = 0; k < s->m->pk.n_shape && !s->chosen && !st; k++)
		st = warm_shape(s, k, flags, 0, err);
	return st ? st : d->wait(s, err);
}

int pm_rt_session_warm(PmRtSession *s, unsigned flags, PmRtError *err)
{
	const PmRtDevice *d;
	size_t bound = 0;
	int code = PM_RT_OK, whole;
	PmErr why;
	PmStatus st;

	if (!s || flags & ~(unsigned)PM_RT_GRAPH)
		return pm_rt_usage(err, "pm_rt_session_warm needs a session, and flags that it knows.");
	d = s->m->device;
	if (!d->zero)
		return PM_RT_OK;
	while (bound < s->m->n_in && s->bound[bound].bound)
		bound++;
	if (bound == s->m->n_in)
		code = choose(s, err);
	if (code)
		return code;
	whole = s->chosen && is_whole(s) && all_direct(s);
	if (whole)
		code = check_bound(s, err);
	if (code)
		return code;
	pm_err_init(&why);
	st = d->enter(s, NULL, &why);
	if (st)
		return pm_rt_fail(&why, err);
	st = warm_shapes(s, flags, whole, &why);
	d->leave(s);
	if (!st && whole && s->staging) {
		d->release(s, s->staging);
		s->staging = 0;
	}
	return st ? pm_rt_fail(&why, err) : PM_RT_OK;
}
