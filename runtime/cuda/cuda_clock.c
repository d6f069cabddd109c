/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_clock.c - what timing takes on a GPU: events, emptying caches, waiting, recorded launches. */
#include "runtime/cuda/cuda_priv.h"

#include "kernels/clock.cu.h"
#include "kernels/redraw.cu.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/device/input_pool.h"

#include <stddef.h>
#include <stdlib.h>

enum { MIN_AREA = 256 << 20, WORK_STEPS = 20000 };

/* --- events --------------------------------------------------------------------------------------------- */

static PmStatus check_slot(int slot, PmErr *err)
{
	if (slot >= 0 && slot < CU_N_EVENTS)
		return PM_OK;
	return pm_err(err, PM_E_INVALID, "There is no event %d; the slots are 0 to %d.", slot,
		      CU_N_EVENTS - 1);
}

PmStatus pm__cuda_event_record(PmDevice *dev, int slot, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = pm__cuda_failed(d, err);
	int rc = 0;

	if (!st)
		st = check_slot(slot, err);
	if (st)
		return st;
	if (!d->event[slot])
		rc = d->cu->event_create(&d->event[slot], 0);
	if (!rc)
		rc = d->cu->event_record(d->event[slot], d->stream);
	if (rc)
		return pm__cuda_kernel_error(d, rc, err);
	d->recorded[slot] = 1;
	return PM_OK;
}

PmStatus pm__cuda_event_elapsed(PmDevice *dev, int from, int to, double *seconds, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = pm__cuda_failed(d, err);
	float ms = 0;
	int rc;

	if (!st)
		st = check_slot(from, err);
	if (!st)
		st = check_slot(to, err);
	if (st)
		return st;
	if (!d->recorded[from] || !d->recorded[to])
		return pm_err(err, PM_E_INVALID,
			      "Event %d was not recorded; record it before asking for a time.",
			      d->recorded[from] ? to : from);
	rc = d->cu->event_sync(d->event[from]);
	if (!rc)
		rc = d->cu->event_sync(d->event[to]);
	if (!rc)
		rc = d->cu->event_elapsed(&ms, d->event[from], d->event[to]);
	if (rc)
		return pm__cuda_kernel_error(d, rc, err);
	*seconds = (double)ms * 1e-3;
	return PM_OK;
}

/* --- work around timed launches ------------------------------------------------------------------------- */

static const char *const redraw_names[] = { "redraw1", "redraw2", "redraw4", "redraw8" };

static PmStatus load_module(PmCudaDevice *d, const char *label, const char *text, CuMod **out, PmErr *err)
{
	PmSource source = { .label = label, .source = text, .type = PM_F32 };
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
	PmStatus st = pm_nvrtc_compile(&source, d->info.cc, &ptx, &cubin, err);
	int rc = st ? 0 : d->cu->module_load(out, cubin.len ? cubin.s : ptx.s);

	pm_str_release(&ptx);
	pm_str_release(&cubin);
	return rc ? pm__cuda_fail(d->cu, PM_E_ENV, "load the clock's kernels", rc, err) : st;
}

static PmStatus load_clock(PmCudaDevice *d, PmErr *err)
{
	PmCudaClock *c = &d->clock;
	PmStatus st = load_module(d, "redraw.cu", redraw_cu, &c->drawing, err);
	int rc = 0;

	if (!st)
		st = load_module(d, "clock.cu", clock_cu, &c->module, err);
	if (st)
		return st;
	rc = d->cu->module_function(&c->spin, c->module, "spin");
	if (!rc)
		rc = d->cu->module_function(&c->sweep, c->module, "sweep");
	if (!rc)
		rc = d->cu->module_function(&c->work, c->module, "work");
	if (!rc)
		rc = d->cu->module_function(&c->digest, c->module, "digest");
	if (!rc)
		rc = d->cu->module_function(&c->sketch, c->module, "sketch");
	for (int i = 0; i < 4 && !rc; i++)
		rc = d->cu->module_function(&c->redraw[i], c->drawing, redraw_names[i]);
	if (!rc)
		rc = d->cu->mem_alloc(&c->sum, sizeof(PmSketch));
	return rc ? pm__cuda_fail(d->cu, PM_E_ENV, "load the clock's kernels", rc, err) : PM_OK;
}

/* What every call of this part needs: a device without errors, kernels and an area. */
static PmStatus ready(PmCudaDevice *d, PmErr *err)
{
	PmCudaClock *c = &d->clock;
	PmStatus st = pm__cuda_failed(d, err);
	int rc;

	if (!st && !c->module)
		st = load_clock(d, err);
	if (st || c->area)
		return st;
	c->bytes = 4 * d->info.l2 > MIN_AREA ? 4 * d->info.l2 : MIN_AREA;
	rc = d->cu->mem_alloc(&c->area, (size_t)c->bytes);
	if (rc == CU_OUT_OF_MEMORY) {
		pm__cuda_drop_kept(d);
		rc = d->cu->mem_alloc(&c->area, (size_t)c->bytes);
	}
	return rc ? pm__cuda_fail(d->cu, PM_E_ENV, "make room for emptying its caches", rc, err) : PM_OK;
}

static int sweep(PmCudaDevice *d)
{
	int64_t n = d->clock.bytes / 16;
	CuPtr p = d->clock.area;
	void *params[] = { &p, &n, &p };

	return d->cu->launch(d->clock.sweep, (unsigned)d->info.n_sm * 8, 1, 1, 256, 1, 1, 0, d->stream,
			     params, NULL);
}

static PmStatus clock_quiet(PmDevice *dev, int on, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = pm__cuda_failed(d, err);

	if (st || on == d->quiet)
		return st;
	d->n_checks++;
	if (on) {
		st = pm__cuda_sync(dev, err);
		d->quiet = 1;
		return st;
	}
	d->quiet = 0;
	d->n_pending++; /* so that the guard looks */
	if (!d->first_label)
		d->first_label = d->last_label = d->last_entry = "?";
	return pm__cuda_sync(dev, err);
}

static PmStatus clock_flush(PmDevice *dev, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = ready(d, err);
	int rc;

	if (st)
		return st;
	rc = d->cu->ctx_reset_l2();
	if (!rc)
		rc = pm__guard_scrub(d->cu, d->stream, &d->guard, d->info.n_sm, 0xffc5ffc5u);
	if (!rc)
		rc = d->cu->set32(d->clock.area, 0x12345678u, (size_t)d->clock.bytes / 4, d->stream);
	if (!rc)
		rc = sweep(d);
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}

static PmStatus clock_delay(PmDevice *dev, double seconds, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	int64_t ns = (int64_t)(seconds * 1e9);
	void *params[] = { &ns };
	PmStatus st = ready(d, err);
	int rc;

	if (st)
		return st;
	rc = d->cu->launch(d->clock.spin, 1, 1, 1, 1, 1, 1, 0, d->stream, params, NULL);
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}

static PmStatus clock_work(PmDevice *dev, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	int n = WORK_STEPS, rc;
	void *params[] = { &n, &d->clock.area };
	PmStatus st = ready(d, err);

	if (st)
		return st;
	rc = d->cu->launch(d->clock.work, (unsigned)d->info.n_sm * 4, 1, 1, 256, 1, 1, 0, d->stream, params,
			   NULL);
	for (int i = 0; i < 8 && !rc; i++)
		rc = sweep(d);
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}

/* --- recorded launches ---------------------------------------------------------------------------------- */

static PmStatus record_begin(PmDevice *dev, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = pm__cuda_failed(d, err);
	int rc;

	if (st)
		return st;
	if (!d->quiet)
		return pm_err(err, PM_E_INVALID, "Launches are recorded in quiet mode only.");
	rc = d->cu->capture_begin(d->stream, CU_CAPTURE_RELAXED);
	d->recording = rc == 0;
	return rc ? pm__cuda_fail(d->cu, PM_E_DEVICE, "begin recording launches", rc, err) : PM_OK;
}

static PmStatus record_end(PmDevice *dev, PmReplay *out, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	CuGraphExec *x = NULL;
	CuGraph *g = NULL;
	int rc = d->cu->capture_end(d->stream, &g);
	size_t i = 0;

	d->recording = 0;
	if (!rc)
		rc = d->cu->graph_make(&x, g, 0);
	if (g)
		d->cu->graph_destroy(g);
	if (rc)
		return pm__cuda_fail(d->cu, PM_E_DEVICE, "record launches", rc, err);
	PM_VEC_PUT(&d->replays, , x, i);
	out->id = (uint32_t)i + 1;
	return PM_OK;
}

static CuGraphExec **find_replay(PmCudaDevice *d, PmReplay r)
{
	return r.id && r.id <= d->replays.n && d->replays.v[r.id - 1] ? &d->replays.v[r.id - 1] : NULL;
}

static PmStatus replay(PmDevice *dev, PmReplay r, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	CuGraphExec **x = find_replay(d, r);
	PmStatus st = pm__cuda_failed(d, err);
	int rc;

	if (st)
		return st;
	if (!x)
		return pm_err(err, PM_E_INVALID, "There is no recording %u on this device.", r.id);
	rc = d->cu->graph_launch(*x, d->stream);
	d->n_pending++;
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}

static void replay_drop(PmDevice *dev, PmReplay r)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	CuGraphExec **x = find_replay(d, r);

	if (x) {
		d->cu->graph_exec_destroy(*x);
		*x = NULL;
	}
}

/* --- what a launch made ----------------------------------------------------------------------------------
 */

static int add_digest(PmCudaDevice *d, const PmCudaBuf *b, int64_t bytes, uint64_t key, uint64_t which)
{
	uint64_t base[2] = { pm_digest_base(key, which, bytes, 0), pm_digest_base(key, which, bytes, 1) };
	int64_t blocks = (bytes + 2047) / 2048, most = (int64_t)d->info.n_sm * 8;
	CuPtr p = b->p;
	void *params[] = { &p, &bytes, &base[0], &base[1], &d->clock.sum };

	return d->cu->launch(d->clock.digest, (unsigned)(blocks < most ? blocks : most), 1, 1, 256, 1, 1, 0,
			     d->stream, params, NULL);
}

static PmStatus clock_digest(PmDevice *dev, const PmBuf *buf, const int64_t *bytes, size_t n, uint64_t key,
			     PmDigest *out, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = ready(d, err);
	int rc;

	if (st)
		return st;
	rc = d->cu->set32(d->clock.sum, 0, sizeof *out / 4, d->stream);
	for (size_t i = 0; i < n && !rc; i++) {
		const PmCudaBuf *b = pm__cuda_buf(d, buf[i]);

		if (!b || bytes[i] > b->bytes)
			return pm_err(err, PM_E_INVALID,
				      "There is no buffer %u of %lld bytes on this device.", buf[i].id,
				      (long long)bytes[i]);
		if (bytes[i])
			rc = add_digest(d, b, bytes[i], key, i);
	}
	if (!rc)
		rc = d->cu->copy_from(out, d->clock.sum, sizeof *out, d->stream);
	if (!rc)
		rc = d->cu->stream_sync(d->stream);
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}

static PmStatus clock_sketch(PmDevice *dev, PmBuf buf, int dtype, int64_t n, uint64_t key, uint64_t which,
			     PmSketch *out, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	const PmCudaBuf *b = pm__cuda_buf(d, buf);
	uint64_t base = pm_sketch_base(key, which, n);
	int64_t blocks = (n + 255) / 256, most = (int64_t)d->info.n_sm * 2;
	PmStatus st = ready(d, err);
	CuPtr p, odd;
	int rc;

	if (st)
		return st;
	if (!b || n * (int64_t)pm_dtype_size(dtype) > b->bytes)
		return pm_err(err, PM_E_INVALID, "There is no buffer %u of %lld elements on this device.",
			      buf.id, (long long)n);
	p = b->p;
	odd = d->clock.sum + offsetof(PmSketch, odd);
	rc = d->cu->set32(d->clock.sum, 0, sizeof *out / 4, d->stream);
	if (!rc && n) {

		void *params[] = { &p, &n, &dtype, &base, &d->clock.sum, &odd };

		rc = d->cu->launch(d->clock.sketch, (unsigned)(blocks < most ? blocks : most), 1, 1, 256, 1,
				   1, 0, d->stream, params, NULL);
	}
	if (!rc)
		rc = d->cu->copy_from(out, d->clock.sum, sizeof *out, d->stream);
	if (!rc)
		rc = d->cu->stream_sync(d->stream);
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}

/* --- inputs ----------------------------------------------------------------------------------------------
 */

PmStatus pm__cuda_draw(PmDevice *dev, PmBuf to, int64_t n, int dtype, PmBuf table, uint64_t base, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmCudaBuf *a = pm__cuda_buf(d, to);
	const PmCudaBuf *b = pm__cuda_buf(d, table);
	int64_t size = (int64_t)pm_dtype_size(dtype), blocks = (n * size / 8 + 256) / 256,
		most = (int64_t)d->info.n_sm * 8;
	uint64_t noise = pm_input_pool_noise(dtype);
	PmStatus st = ready(d, err);
	CuPtr p, q;
	void *params[] = { &p, &n, &q, &base, &noise };
	int kind = 0, rc;

	if (st || !n)
		return st;
	if (!a || !b || n * size > a->bytes || PM_BANK_TABLE * size > b->bytes)
		return pm_err(err, PM_E_INVALID,
			      "There is no buffer %u of %lld elements, or no table %u, on this device.",
			      to.id, (long long)n, table.id);
	while (1 << kind < size)
		kind++;
	p = a->p;
	q = b->p;
	a->hashed = 0;
	rc = pm__vmm_lock(d, a, 0);
	if (!rc)
		rc = d->cu->launch(d->clock.redraw[kind], (unsigned)(blocks < most ? blocks : most), 1, 1,
				   256, 1, 1, 0, d->stream, params, NULL);
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}

const PmClockOps pm__cuda_clock_ops = {
	.quiet = clock_quiet,
	.flush = clock_flush,
	.delay = clock_delay,
	.work = clock_work,
	.record_begin = record_begin,
	.record_end = record_end,
	.replay = replay,
	.replay_drop = replay_drop,
	.digest = clock_digest,
	.sketch = clock_sketch,
};

void pm__cuda_clock_give_area(PmCudaDevice *d)
{
	if (d->clock.area)
		d->cu->mem_free(d->clock.area);
	d->clock.area = 0;
}

void pm__cuda_clock_close(PmCudaDevice *d)
{
	for (size_t i = 0; i < d->replays.n; i++)
		if (d->replays.v[i])
			d->cu->graph_exec_destroy(d->replays.v[i]);
	pm__cuda_clock_give_area(d);
	if (d->clock.sum)
		d->cu->mem_free(d->clock.sum);
	if (d->clock.module)
		d->cu->module_unload(d->clock.module);
	if (d->clock.drawing)
		d->cu->module_unload(d->clock.drawing);
}
