/* SPDX-License-Identifier: Apache-2.0 */
/* exec.c - loads a plan onto a device and runs it. */
#include "runtime/exec/exec.h"

#include "runtime/exec/plan_priv.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 64 << 20 /* bytes of a made-up constant that are held at once */ };

struct PmExec {
	const PmPlan *p;
	PmDevice *d;
	PmBuf *constant;   /* by plan buffer; id 0 = no constant */
	PmModule *module;  /* by plan source; id 0 = no step needs it */
	PmLib *lib;        /* by step; id 0 = our kernel */
	PmDevArg *args;    /* of the launch being made */
	PmSlots slots;     /* which memory buffers take when memory is reused */
	PM_VEC(int) inner; /* plan buffers: values between kernels that outlive a call in a slot of theirs */
	PM_VEC(PmBind *) binds;
	int plain; /* pm_exec_run takes buffers as timed runs do */
};

struct PmBind {
	PmExec *x;
	int reuse;
	PmBuf *buf; /* by plan buffer; constants are the executor's */
	PmBuf *own; /* allocated for this binding */
	size_t n_own;
	char *poisoned; /* by own: it is no input */
	PmCall call;    /* the launches, made ready at the first one; id 0 = not yet */
};

/* Of the values between kernels those that are the last in their slot. */
static void find_inner(PmExec *x)
{
	const PmPlan *p = x->p;

	for (int i = 0; i < (int)p->buffers.n; i++) {
		const Buffer *b = &p->buffers.v[i];
		int slot = x->slots.of[i];

		if (b->holds_value && b->use == PM_BUF_SCRATCH && slot >= 0 && x->slots.holder[slot] == i)
			PM_VEC_PUSH(&x->inner, i);
	}
}

/* --- the executor ----------------------------------------------------------------------------------------
 */

/* Made-up elements go over in pieces, so that they are never held twice; a piece is large enough for all
 * processors to make it. */
static PmStatus upload_constant(PmExec *x, size_t i, const PmBlob *blob, PmErr *err)
{
	size_t piece = blob->size < PIECE ? blob->size : PIECE, at;
	PmStatus st = PM_OK;
	void *buf;

	if (blob->data)
		return x->d->ops->upload(x->d, x->constant[i], 0, blob->data, (int64_t)blob->size, err);
	buf = pm_xmalloc(piece);
	for (at = 0; at < blob->size && !st; at += piece) {
		size_t n = blob->size - at < piece ? blob->size - at : piece;

		pm_blob_read(blob, at, n, buf);
		st = x->d->ops->upload(x->d, x->constant[i], (int64_t)at, buf, (int64_t)n, err);
	}
	free(buf);
	return st;
}

static PmStatus new_buffer(PmExec *x, int guarded, int64_t bytes, PmBufUse use, PmBuf *out, PmErr *err)
{
	const PmDeviceOps *ops = x->d->ops;

	return (guarded && ops->alloc_guarded ? ops->alloc_guarded : ops->alloc)(x->d, bytes, use, out, err);
}

/* They serve timed runs as well: guarded where nothing is timed. */
PmStatus pm_exec_place_constants(PmExec *x, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < x->p->buffers.n && !st; i++) {
		const Buffer *b = &x->p->buffers.v[i];

		if (!b->is_const)
			continue;
		st = new_buffer(x, !x->d->ops->clock, b->bytes, PM_BUF_INPUT, &x->constant[i], err);
		if (!st && b->bytes)
			st = upload_constant(x, i, pm_value_blob(x->p->g, b->value), err);
	}
	return st;
}

/* Steps that a library takes need no kernel. */
static PmStatus prepare_libraries(PmExec *x, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < x->p->steps.n && x->d->ops->lib_prepare && st >= 0; i++)
		if (x->p->steps.v[i].lib)
			st = x->d->ops->lib_prepare(x->d, x->p->steps.v[i].lib, x->p->steps.v[i].label,
						    &x->lib[i], err);
	return st < 0 ? st : PM_OK;
}

/* Compiles and loads the sources that some step launches. */
static PmStatus load_sources(PmExec *x, PmErr *err)
{
	const PmPlan *p = x->p;
	PmSource *src = pm_xcalloc(p->sources.n + 1, sizeof *src);
	PmModule *got = pm_xcalloc(p->sources.n + 1, sizeof *got);
	char *needed = pm_xcalloc(p->sources.n + 1, 1);
	size_t n = 0;
	PmStatus st;

	for (size_t i = 0; i < p->steps.n; i++)
		if (p->steps.v[i].source >= 0 && !x->lib[i].id)
			needed[p->steps.v[i].source] = 1;
	for (size_t i = 0; i < p->sources.n; i++)
		if (needed[i])
			src[n++] = p->sources.v[i];
	st = n ? x->d->ops->load(x->d, src, n, got, err) : PM_OK;
	n = 0;
	for (size_t i = 0; i < p->sources.n && !st; i++)
		if (needed[i])
			x->module[i] = got[n++];
	free(src);
	free(got);
	free(needed);
	return st;
}

PmStatus pm_exec_new_bare(const PmPlan *p, PmDevice *d, PmExec **out, PmErr *err)
{
	PmExec *x = pm_xcalloc(1, sizeof *x);
	int most = 0;
	PmStatus st = PM_OK;

	x->p = p;
	x->d = d;
	x->constant = pm_xcalloc(p->buffers.n + 1, sizeof *x->constant);
	x->module = pm_xcalloc(p->sources.n + 1, sizeof *x->module);
	for (size_t i = 0; i < p->steps.n; i++)
		if (p->steps.v[i].n_args > most)
			most = p->steps.v[i].n_args;
	x->args = pm_xcalloc((size_t)most + 1, sizeof *x->args);
	pm__slots_assign(p, &x->slots);
	find_inner(x);
	x->lib = pm_xcalloc(p->steps.n + 1, sizeof *x->lib);
	st = prepare_libraries(x, err);
	if (!st)
		st = load_sources(x, err);
	if (st) {
		pm_exec_free(x);
		return st;
	}
	*out = x;
	return PM_OK;
}

PmStatus pm_exec_new(const PmPlan *p, PmDevice *d, PmExec **out, PmErr *err)
{
	PmExec *x = NULL;
	PmStatus st = pm_exec_new_bare(p, d, &x, err);

	if (!st)
		st = pm_exec_place_constants(x, err);
	if (st)
		pm_exec_free(x);
	else
		*out = x;
	return st;
}

static void bind_free(PmBind *b)
{
	if (b->call.id)
		b->x->d->ops->call_drop(b->x->d, b->call);
	for (size_t i = 0; i < b->n_own; i++)
		if (b->own[i].id)
			b->x->d->ops->release(b->x->d, b->own[i]);
	free(b->buf);
	free(b->own);
	free(b->poisoned);
	free(b);
}

PmBind *pm_exec_bind(const PmExec *x, size_t i)
{
	return i < x->binds.n ? x->binds.v[i] : NULL;
}

void pm_exec_drop_binds(PmExec *x)
{
	for (size_t i = 0; i < x->binds.n; i++)
		bind_free(x->binds.v[i]);
	x->binds.n = 0;
}

void pm_exec_plain(PmExec *x, int plain)
{
	x->plain = plain;
}

const PmPlan *pm_exec_plan(const PmExec *x)
{
	return x->p;
}

PmDevice *pm_exec_device(const PmExec *x)
{
	return x->d;
}

PmModule pm_exec_module(const PmExec *x, int source)
{
	return x->module[source];
}

int pm_exec_launches(const PmExec *x)
{
	int n = 0;

	for (size_t i = 0; i < x->p->steps.n; i++)
		n += x->p->steps.v[i].source >= 0;
	return n;
}

void pm_exec_free(PmExec *x)
{
	if (!x)
		return;
	pm_exec_drop_binds(x);
	for (size_t i = 0; i < x->p->buffers.n; i++)
		if (x->constant[i].id)
			x->d->ops->release(x->d, x->constant[i]);
	for (size_t i = 0; i < x->p->sources.n; i++)
		if (x->module[i].id)
			x->d->ops->unload(x->d, x->module[i]);
	for (size_t i = 0; x->lib && i < x->p->steps.n; i++)
		if (x->lib[i].id)
			x->d->ops->lib_drop(x->d, x->lib[i]);
	PM_VEC_RELEASE(&x->inner);
	PM_VEC_RELEASE(&x->binds);
	free(x->constant);
	free(x->module);
	free(x->lib);
	free(x->args);
	pm__slots_release(&x->slots);
	free(x);
}

/* --- bindings --------------------------------------------------------------------------------------------
 */

int64_t pm_bind_bytes(const PmExec *x, int reuse)
{
	int64_t sum = reuse ? pm__slots_bytes(&x->slots) : 0;

	for (size_t i = 0; !reuse && i < x->p->buffers.n; i++)
		sum += x->p->buffers.v[i].is_const ? 0 : x->p->buffers.v[i].bytes;
	return sum;
}

static PmStatus bind_new(PmExec *x, int reuse, int guarded, PmBind **out, PmErr *err)
{
	const PmPlan *p = x->p;
	PmBind *b = pm_xcalloc(1, sizeof *b);
	PmStatus st = PM_OK;

	b->x = x;
	b->reuse = reuse;
	b->n_own = reuse ? (size_t)x->slots.n : p->buffers.n;
	b->buf = pm_xcalloc(p->buffers.n + 1, sizeof *b->buf);
	b->own = pm_xcalloc(b->n_own + 1, sizeof *b->own);
	b->poisoned = pm_xcalloc(b->n_own + 1, 1);
	for (size_t i = 0; i < p->buffers.n && !st; i++) {
		const Buffer *f = &p->buffers.v[i];
		size_t at = reuse ? (size_t)x->slots.of[i] : i;

		if (f->is_const) {
			b->buf[i] = x->constant[i];
			continue;
		}
		if (!b->own[at].id)
			st = new_buffer(x, guarded, reuse ? x->slots.bytes[at] : f->bytes, f->use,
					&b->own[at], err);
		b->buf[i] = b->own[at];
		b->poisoned[at] = f->use != PM_BUF_INPUT;
	}
	if (st) {
		bind_free(b);
		return st;
	}
	*out = b;
	return PM_OK;
}

PmStatus pm_bind_new(PmExec *x, int reuse, PmBind **out, PmErr *err)
{
	PmStatus st = bind_new(x, reuse, 0, out, err);

	if (!st)
		PM_VEC_PUSH(&x->binds, *out);
	return st;
}

PmBuf pm_bind_input(const PmBind *b, size_t i)
{
	return b->buf[pm__loc(b->x->p, pm_graph_input(b->x->p->g, i))->buf];
}

PmBuf pm_bind_output(const PmBind *b, size_t i)
{
	return b->buf[b->x->p->outputs.v[i]];
}

size_t pm_bind_n_outputs(const PmBind *b)
{
	return b->x->p->outputs.n;
}

const PmType *pm_bind_output_type(const PmBind *b, size_t i)
{
	return pm_value_type(b->x->p->g, pm_graph_output(b->x->p->g, i));
}

int64_t pm_bind_output_bytes(const PmBind *b, size_t i)
{
	int64_t bytes = 0;

	pm_type_bytes(pm_bind_output_type(b, i), &bytes, NULL);
	return bytes;
}

size_t pm_bind_n_inner(const PmBind *b)
{
	return b->x->inner.n;
}

PmBuf pm_bind_inner(const PmBind *b, size_t i, int64_t *bytes)
{
	int at = b->x->inner.v[i];

	*bytes = b->x->p->buffers.v[at].bytes;
	return b->buf[at];
}

PmStatus pm_bind_poison(PmBind *b, uint32_t pattern, PmErr *err)
{
	const PmExec *x = b->x;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < b->n_own && !st; i++) {
		int64_t bytes = b->reuse ? x->slots.bytes[i] : x->p->buffers.v[i].bytes;

		if (b->poisoned[i] && bytes)
			st = x->d->ops->fill(x->d, b->own[i], 0, bytes, pattern, err);
	}
	return st;
}

/* A step of the plan on this binding's buffers; args has room for its arguments. */
static void describe_step(const PmBind *b, const Step *s, PmDevArg *args, PmDevStep *out)
{
	const PmExec *x = b->x;

	*out = (PmDevStep){ .launch = { .module = x->module[s->source],
					.entry = s->entry,
					.smem = s->smem,
					.args = args,
					.n_args = s->n_args },
			    .lib = x->lib[s - x->p->steps.v] };
	memcpy(out->launch.grid, s->grid, sizeof s->grid);
	memcpy(out->launch.block, s->block, sizeof s->block);
	for (int i = 0; i < s->n_args; i++) {
		args[i] = s->args[i];
		if (s->args[i].kind == PM_DARG_BUF)
			args[i].buf = b->buf[s->args[i].buf.id - 1];
	}
}

static PmStatus launch(PmBind *b, const Step *s, PmErr *err)
{
	PmExec *x = b->x;
	PmDevStep step;

	describe_step(b, s, x->args, &step);
	if (step.lib.id)
		return x->d->ops->lib_run(x->d, step.lib, x->args, s->n_args, err);
	return x->d->ops->launch(x->d, &step.launch, err);
}

/* Makes all steps ready as one sequence. */
static PmStatus make_call(PmBind *b, PmErr *err)
{
	const PmPlan *p = b->x->p;
	PmDevStep *step = pm_xcalloc(p->steps.n + 1, sizeof *step);
	PmDevArg *args;
	size_t n = 0, n_args = 0;
	PmStatus st;

	for (size_t i = 0; i < p->steps.n; i++)
		n_args += (size_t)p->steps.v[i].n_args;
	args = pm_xcalloc(n_args + 1, sizeof *args);
	n_args = 0;
	for (size_t i = 0; i < p->steps.n; i++)
		if (p->steps.v[i].source >= 0) {
			describe_step(b, &p->steps.v[i], args + n_args, &step[n++]);
			n_args += (size_t)p->steps.v[i].n_args;
		}
	st = b->x->d->ops->call_new(b->x->d, step, n, &b->call, err);
	free(step);
	free(args);
	return st;
}

PmStatus pm_bind_ready(PmBind *b, PmErr *err)
{
	return b->x->d->ops->call_run && !b->call.id ? make_call(b, err) : PM_OK;
}

PmStatus pm_bind_launch(PmBind *b, PmErr *err)
{
	const PmDeviceOps *ops = b->x->d->ops;
	const PmPlan *p = b->x->p;
	PmStatus st = pm_bind_ready(b, err);

	if (ops->call_run)
		return st ? st : ops->call_run(b->x->d, b->call, err);
	for (size_t i = 0; i < p->steps.n && !st; i++)
		if (p->steps.v[i].source >= 0)
			st = launch(b, &p->steps.v[i], err);
	return st;
}

/* One step of the plan alone; where the device has sequences, only those run library calls. */
static PmStatus launch_alone(PmBind *b, const Step *s, PmErr *err)
{
	const PmDeviceOps *ops = b->x->d->ops;
	PmDevStep step;
	PmCall call = { 0 };
	PmStatus st;

	if (!ops->call_run)
		return launch(b, s, err);
	describe_step(b, s, b->x->args, &step);
	st = ops->call_new(b->x->d, &step, 1, &call, err);
	if (!st)
		st = ops->call_run(b->x->d, call, err);
	if (call.id)
		ops->call_drop(b->x->d, call);
	return st;
}

PmStatus pm_bind_launch_watched(PmBind *b, size_t n, const PmLaunchWatch *w, PmErr *err)
{
	const PmPlan *p = b->x->p;
	PmStatus st = PM_OK;

	for (size_t i = 0, k = 0; i < p->steps.n && k < n && !st; i++) {
		if (p->steps.v[i].source < 0)
			continue;
		st = w->before(w->arg, k, err);
		if (!st)
			st = launch_alone(b, &p->steps.v[i], err);
		if (!st)
			st = w->after(w->arg, k, err);
		k++;
	}
	return st;
}

PmStatus pm_bind_outputs(PmBind *b, PmTensor *out, size_t n_out, PmErr *err)
{
	const PmPlan *p = b->x->p;
	PmStatus st = b->x->d->ops->sync(b->x->d, err);

	memset(out, 0, n_out * sizeof *out);
	for (size_t i = 0; i < n_out && !st; i++) {
		st = pm_tensor_room(&out[i], pm_value_type(p->g, pm_graph_output(p->g, i)), err);
		if (!st && out[i].bytes)
			st = b->x->d->ops->download(b->x->d, pm_bind_output(b, i), 0, out[i].data,
						    (int64_t)out[i].bytes, err);
	}
	if (st)
		for (size_t i = 0; i < n_out; i++)
			pm_tensor_release(&out[i]);
	return st;
}

static PmStatus upload_inputs(PmBind *b, const PmTensor *in, PmErr *err)
{
	const PmGraph *g = b->x->p->g;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_inputs(g) && !st; i++) {
		PmValue v = pm_graph_input(g, i);

		if (!pm_type_equal(&in[i].type, pm_value_type(g, v)))
			return pm_err(err, PM_E_TYPE,
				      "The tensor given for input '%.120s' is of another type.",
				      pm_value_name(g, v));
		if (in[i].bytes)
			st = b->x->d->ops->upload(b->x->d, pm_bind_input(b, i), 0, in[i].data,
						  (int64_t)in[i].bytes, err);
	}
	return st;
}

PmStatus pm_exec_run(PmExec *x, const PmTensor *in, size_t n_in, uint32_t poison, PmTensor *out, size_t n_out,
		     PmErr *err)
{
	PmBind *b = NULL;
	PmStatus st;

	if (n_in != pm_graph_n_inputs(x->p->g) || n_out != pm_graph_n_outputs(x->p->g))
		return pm_err(err, PM_E_INVALID,
			      "The graph has %zu inputs and %zu outputs; %zu and %zu were given.",
			      pm_graph_n_inputs(x->p->g), pm_graph_n_outputs(x->p->g), n_in, n_out);
	memset(out, 0, n_out * sizeof *out);
	st = bind_new(x, 0, !x->plain, &b, err); /* each run elsewhere */
	if (!st)
		st = pm_bind_poison(b, poison, err);
	if (!st)
		st = upload_inputs(b, in, err);
	if (!st)
		st = pm_bind_launch(b, err);
	if (!st)
		st = pm_bind_outputs(b, out, n_out, err);
	if (b)
		bind_free(b);
	return st;
}
