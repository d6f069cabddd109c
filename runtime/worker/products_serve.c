/* SPDX-License-Identifier: Apache-2.0 */
/* products_serve.c - the process that computes products of the reference on a device. */
#include "base/sys/serve.h"
#include "runtime/device/device.h"
#include "runtime/worker/products_priv.h"

#include "kernels/product.cu.h"

#include <signal.h>
#include <string.h>

enum { A, B, C, MATRICES };

/* Of this process, which does nothing else. */
static struct {
	PmDevice *d;
	PmModule module;
	PmBuf buf[MATRICES];
	int64_t bytes[MATRICES], m, n, k; /* m = 0: there are no buffers */
} w;

static PmStatus open_device(const char *name, PmErr *err)
{
	PmSource s = { "product.cu", product_cu, PM_F64 };
	PmStatus st = w.d ? PM_OK : pm_device_open(name, &w.d, err);

	if (!st && !w.module.id)
		st = w.d->ops->load(w.d, &s, 1, &w.module, err);
	return st;
}

/* Nothing of a product stays on the device. */
static PmStatus end(PmErr *err)
{
	PmStatus st = PM_OK;

	for (int i = 0; i < MATRICES; i++)
		if (w.buf[i].id && !st)
			st = w.d->ops->fill(w.d, w.buf[i], 0, w.bytes[i], 0, err);
	if (!st && w.d)
		st = w.d->ops->sync(w.d, err);
	for (int i = 0; i < MATRICES; i++)
		if (w.buf[i].id)
			w.d->ops->release(w.d, w.buf[i]);
	memset(w.buf, 0, sizeof w.buf);
	w.m = 0;
	return st;
}

static PmStatus begin(const ProductStart *s, const ProductAsk *a, PmErr *err)
{
	static const PmBufUse use[MATRICES] = { PM_BUF_INPUT, PM_BUF_INPUT, PM_BUF_OUTPUT };
	PmStatus st = end(err);

	if (!st)
		st = open_device(s->device, err);
	w.m = a->m;
	w.n = a->n;
	w.k = a->k;
	w.bytes[A] = a->m * a->k * (int64_t)sizeof(double);
	w.bytes[B] = a->k * a->n * (int64_t)sizeof(double);
	w.bytes[C] = a->m * a->n * (int64_t)sizeof(double);
	for (int i = 0; i < MATRICES && !st; i++)
		st = w.d->ops->alloc(w.d, w.bytes[i], use[i], &w.buf[i], err);
	return st;
}

static PmStatus run(PmErr *err)
{
	PmDevArg arg[] = { { .kind = PM_DARG_BUF, .buf = w.buf[A], .readonly = 1 },
			   { .kind = PM_DARG_BUF, .buf = w.buf[B], .readonly = 1 },
			   { .kind = PM_DARG_BUF, .buf = w.buf[C] },
			   { .kind = PM_DARG_I64, .i = w.m },
			   { .kind = PM_DARG_I64, .i = w.n },
			   { .kind = PM_DARG_I64, .i = w.k } };
	PmDevLaunch l = { .module = w.module,
			  .entry = "product",
			  .grid = { (uint32_t)((w.n + PRODUCT_COLUMNS - 1) / PRODUCT_COLUMNS),
				    (uint32_t)((w.m + PRODUCT_ROWS - 1) / PRODUCT_ROWS), 1 },
			  .block = { PRODUCT_THREADS, 1, 1 },
			  .args = arg,
			  .n_args = sizeof arg / sizeof *arg };
	PmStatus st = w.d->ops->launch(w.d, &l, err);

	return st ? st : w.d->ops->sync(w.d, err);
}

static PmStatus answer(const ProductStart *s, const ProductAsk *a, PmErr *err)
{
	PmStatus st;

	if (a->what == PRODUCT_BEGIN)
		return begin(s, a, err);
	if (!w.m || a->which < A || a->which > B || a->bytes < 0 || a->bytes > PRODUCT_ROOM)
		return pm_err(err, PM_E_INTERNAL, "A request for a product is malformed.");
	if (a->what == PRODUCT_PUT)
		return w.d->ops->upload(w.d, w.buf[a->which], a->offset, s->room, a->bytes, err);
	if (a->what == PRODUCT_RUN && s->fault == PM_PRODUCT_DIES)
		raise(SIGKILL);
	if (a->what == PRODUCT_RUN)
		return run(err);
	if (a->what == PRODUCT_END)
		return end(err);
	st = w.d->ops->download(w.d, w.buf[C], a->offset, s->room, a->bytes, err);
	if (!st && s->fault == PM_PRODUCT_WRONG && !a->offset)
		((double *)(void *)s->room)[0] += 1;
	return st;
}

int pm__products_serve(void *arg, const char *request, size_t n, PmStr *reply)
{
	ProductReply r = { PM_OK, "" };
	ProductAsk a;
	PmErr err;

	pm_err_init(&err);
	if (!request)
		return 0;
	if (n != sizeof a) {
		r.status = pm_err(&err, PM_E_INTERNAL, "A request for a product is cut short.");
	} else {
		memcpy(&a, request, sizeof a);
		r.status = answer(arg, &a, &err);
	}
	memcpy(r.text, err.text, sizeof r.text);
	pm_str_addn(reply, &r, sizeof r);
	return r.status != PM_OK; /* its memory goes with the process */
}
