/* exec.c - loads a plan onto a device and runs it. */
#include "runtime/exec.h"

#include "runtime/plan_priv.h"

#include <stdlib.h>
#include <string.h>

struct PmExec {
	const PmPlan *p;
	PmDevice *d;
	PmBuf *buf;       /* by plan buffer */
	PmModule *module; /* by plan source */
	PmArg *args;      /* of the launch being made */
};

/* Made-up elements go over in pieces, so that they are never held twice. */
static PmStatus upload_const(PmExec *x, size_t i, const PmBlob *blob, PmErr *err)
{
	size_t piece = (size_t)4 << 20, at;
	PmStatus st = PM_OK;
	void *buf;

	if (blob->data)
		return x->d->ops->upload(x->d, x->buf[i], 0, blob->data, x->p->buffers.v[i].bytes, err);
	piece = piece < blob->size ? piece : blob->size;
	buf = pm_xmalloc(piece);
	for (at = 0; at < blob->size && !st; at += piece) {
		size_t n = blob->size - at < piece ? blob->size - at : piece;

		pm_blob_read(blob, at, n, buf);
		st = x->d->ops->upload(x->d, x->buf[i], (int64_t)at, buf, (int64_t)n, err);
	}
	free(buf);
	return st;
}

static PmStatus upload_consts(PmExec *x, PmErr *err)
{
	for (size_t i = 0; i < x->p->buffers.n; i++) {
		const Buffer *b = &x->p->buffers.v[i];
		PmStatus st;

		if (!b->is_const || !b->bytes)
			continue;
		st = upload_const(x, i, pm_value_blob(x->p->g, b->value), err);
		if (st)
			return st;
	}
	return PM_OK;
}

PmStatus pm_exec_new(const PmPlan *p, PmDevice *d, PmExec **out, PmErr *err)
{
	PmExec *x = pm_xcalloc(1, sizeof *x);
	int most = 0;
	PmStatus st = PM_OK;

	x->p = p;
	x->d = d;
	x->buf = pm_xcalloc(p->buffers.n + 1, sizeof *x->buf);
	x->module = pm_xcalloc(p->sources.n + 1, sizeof *x->module);
	for (size_t i = 0; i < p->steps.n; i++)
		if (p->steps.v[i].n_args > most)
			most = p->steps.v[i].n_args;
	x->args = pm_xcalloc((size_t)most + 1, sizeof *x->args);
	if (p->sources.n)
		st = d->ops->load(d, p->sources.v, p->sources.n, x->module, err);
	for (size_t i = 0; i < p->buffers.n && !st; i++)
		st = d->ops->alloc(d, p->buffers.v[i].bytes, p->buffers.v[i].use, &x->buf[i], err);
	if (!st)
		st = upload_consts(x, err);
	if (st) {
		pm_exec_free(x);
		return st;
	}
	*out = x;
	return PM_OK;
}

void pm_exec_free(PmExec *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->p->buffers.n; i++)
		if (x->buf[i].id)
			x->d->ops->release(x->d, x->buf[i]);
	for (size_t i = 0; i < x->p->sources.n; i++)
		if (x->module[i].id)
			x->d->ops->unload(x->d, x->module[i]);
	free(x->buf);
	free(x->module);
	free(x->args);
	free(x);
}

static PmStatus prepare(PmExec *x, const PmTensor *in, uint32_t poison, PmErr *err)
{
	for (size_t i = 0; i < x->p->buffers.n; i++) {
		const Buffer *b = &x->p->buffers.v[i];
		PmStatus st = PM_OK;

		if (b->bytes && b->use != PM_BUF_INPUT)
			st = x->d->ops->fill(x->d, x->buf[i], 0, b->bytes, poison, err);
		if (st)
			return st;
	}
	for (size_t i = 0; i < pm_graph_n_inputs(x->p->g); i++) {
		PmValue v = pm_graph_input(x->p->g, i);
		PmStatus st;

		if (!pm_type_equal(&in[i].type, pm_value_type(x->p->g, v)))
			return pm_err(err, PM_E_TYPE,
				      "The tensor given for input '%.120s' is of another type.",
				      pm_value_name(x->p->g, v));
		if (!in[i].bytes)
			continue;
		st = x->d->ops->upload(x->d, x->buf[pm__loc(x->p, v)->buf], 0, in[i].data,
				       (int64_t)in[i].bytes, err);
		if (st)
			return st;
	}
	return PM_OK;
}

static PmStatus launch(PmExec *x, const Step *s, PmErr *err)
{
	PmLaunch l = { .module = x->module[s->source],
		       .entry = s->entry,
		       .smem = s->smem,
		       .args = x->args,
		       .n_args = s->n_args };

	memcpy(l.grid, s->grid, sizeof l.grid);
	memcpy(l.block, s->block, sizeof l.block);
	for (int i = 0; i < s->n_args; i++) {
		x->args[i] = s->args[i];
		if (s->args[i].kind == PM_ARG_BUF)
			x->args[i].buf = x->buf[s->args[i].buf.id - 1];
	}
	return x->d->ops->launch(x->d, &l, err);
}

PmStatus pm_exec_run(PmExec *x, const PmTensor *in, size_t n_in, uint32_t poison, PmTensor *out, size_t n_out,
		     PmErr *err)
{
	PmStatus st;

	if (n_in != pm_graph_n_inputs(x->p->g) || n_out != pm_graph_n_outputs(x->p->g))
		return pm_err(err, PM_E_INVALID,
			      "The graph has %zu inputs and %zu outputs; %zu and %zu were given.",
			      pm_graph_n_inputs(x->p->g), pm_graph_n_outputs(x->p->g), n_in, n_out);
	memset(out, 0, n_out * sizeof *out);
	st = prepare(x, in, poison, err);
	for (size_t i = 0; i < x->p->steps.n && !st; i++)
		if (x->p->steps.v[i].source >= 0)
			st = launch(x, &x->p->steps.v[i], err);
	if (!st)
		st = x->d->ops->sync(x->d, err);
	for (size_t i = 0; i < n_out && !st; i++) {
		st = pm_tensor_init(&out[i], pm_value_type(x->p->g, pm_graph_output(x->p->g, i)), err);
		if (!st && out[i].bytes)
			st = x->d->ops->download(x->d, x->buf[x->p->outputs.v[i]], 0, out[i].data,
						 (int64_t)out[i].bytes, err);
	}
	if (st)
		for (size_t i = 0; i < n_out; i++)
			pm_tensor_release(&out[i]);
	return st;
}
