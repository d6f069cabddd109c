/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - the device "cuda": a GPU, by the driver's interface. Kernels, weights and sessions' memory.
 *
 * The primary context of the device is retained while a model is open, and current only within calls: what
 * the caller had current before is so again afterwards.
 */
#include "rt/cuda_priv.h"

#include "base/core/arena.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Dynamic shared memory beyond what a kernel has without asking. */
static PmStatus allow_smem(PmRtCuda *c, CuFn *f, uint32_t smem, PmErr *err)
{
	int fixed = 0, allowed = 0, rc;

	if (!smem) /* what is static has its limit when it is compiled */
		return PM_OK;
	rc = c->cu->fn_attr(&fixed, CU_FN_STATIC_SMEM, f);
	if (!rc && (int64_t)smem + fixed > CU_PLAIN_SMEM) {
		rc = c->cu->fn_attr(&allowed, CU_FN_MAX_DYNAMIC_SMEM, f);
		if (!rc && (int64_t)smem > allowed)
			rc = c->cu->fn_set_attr(f, CU_FN_MAX_DYNAMIC_SMEM, (int)smem);
	}
	return rc ? pm_rt_cuda_fail(c, "give a kernel its shared memory", rc, err) : PM_OK;
}

static PmStatus find_function(PmRtModel *m, PmRtCuda *c, size_t step, PmErr *err)
{
	const PmRtfStep *s = &m->pk.step[step];
	CuMod *module = NULL;
	PmStatus st = pm_rt_cuda_load(m, c, s->unit, &module, err);
	int rc;

	if (st)
		return st;
	rc = c->cu->module_function(&c->fn[step], module, pm_package_text(&m->pk, s->entry));
	return rc ? pm_rt_cuda_fail(c, "find an entry of a kernel", rc, err) : PM_OK;
}

/* Of every step that no library takes, its function. Many steps launch what a step before launches: the last
 * one of each unit is remembered. */
static PmStatus find_functions(PmRtModel *m, PmRtCuda *c, PmErr *err)
{
	const PmRtPackage *p = &m->pk;
	size_t *last = pm_xcalloc(p->n_unit + 1, sizeof *last); /* by unit: number of a step, from 1 on */
	PmStatus st = PM_OK;

	for (size_t i = 0; i < p->n_step && !st; i++) {
		const PmRtfStep *s = &p->step[i], *before = NULL;

		if (s->call != PM_RTF_NONE && c->has_algo[s->call])
			continue;
		if (last[s->unit])
			before = &p->step[last[s->unit] - 1];
		if (before && before->entry == s->entry)
			c->fn[i] = c->fn[last[s->unit] - 1];
		else
			st = find_function(m, c, i, err);
		if (!st && !(before && before->entry == s->entry && before->smem >= s->smem))
			st = allow_smem(c, c->fn[i], s->smem, err);
		last[s->unit] = i + 1;
	}
	free(last);
	return st;
}

/* ---- weights ---- */

static uint64_t room_of(const PmRtfConst *k)
{
	return (k->bytes + PM_RTF_CONST_ALIGN - 1) / PM_RTF_CONST_ALIGN * PM_RTF_CONST_ALIGN;
}

/* How many constants from number i on lie in the same file as they lie on the GPU, one behind the other: the
 * package's own always do. *bytes: from the first one's begin to the last one's end. */
static size_t in_one_copy(const PmRtModel *m, size_t i, uint64_t *bytes)
{
	const PmRtfConst *k = &m->pk.constant[i];
	const char *from = pm_rt_constant(m, i);
	uint64_t at = 0;
	size_t n = 0;

	do {
		*bytes = at + k[n].bytes;
		at += room_of(&k[n++]);
	} while (i + n < m->pk.n_constant && k[n].file == k->file && k[n].offset == k->offset + at &&
		 (const char *)pm_rt_constant(m, i + n) == from + at);
	return n;
}

/* Copies to places that m->constant says. */
static int copy_constants(const PmRtModel *m, const PmRtCuda *c, CuStream *stream)
{
	uint64_t bytes;
	int rc = 0;

	for (size_t i = 0; i < m->pk.n_constant && !rc;) {
		size_t n = in_one_copy(m, i, &bytes);

		if (bytes)
			rc = c->cu->copy_to(m->constant[i], pm_rt_constant(m, i), (size_t)bytes, stream);
		i += n;
	}
	return rc;
}

/* All constants in one piece of memory, each aligned. */
static PmStatus upload(PmRtModel *m, PmRtCuda *c, PmErr *err)
{
	uint64_t all = 0;
	CuStream *stream = NULL;
	int rc;

	for (size_t i = 0; i < m->pk.n_constant; i++)
		all += room_of(&m->pk.constant[i]);
	rc = c->cu->mem_alloc(&c->weights, (size_t)all);
	if (rc) {
		c->weights = 0;
		return pm_rt_cuda_fail(c, "hold the weights of the package", rc, err);
	}
	all = 0;
	for (size_t i = 0; i < m->pk.n_constant; i++) {
		m->constant[i] = c->weights + all;
		all += room_of(&m->pk.constant[i]);
	}
	rc = c->cu->stream_create(&stream, CU_STREAM_NON_BLOCKING);
	if (!rc)
		rc = copy_constants(m, c, stream);
	if (!rc)
		rc = c->cu->stream_sync(stream);
	if (stream)
		c->cu->stream_destroy(stream);
	return rc ? pm_rt_cuda_fail(c, "take the weights of the package", rc, err) : PM_OK;
}

/* The weights are read and copied by a thread of its own, while libraries are opened and kernels loaded. */
typedef struct Upload {
	PmRtModel *m;
	pthread_t id;
	int begun; /* the thread runs */
	PmStatus st;
	PmErr err;
} Upload;

static void *upload_work(void *arg)
{
	Upload *u = arg;
	PmRtCuda *c = u->m->own;
	CuCtx *before = NULL;
	int rc = c->cu->ctx_push(c->ctx);

	if (rc) {
		u->st = pm_rt_cuda_fail(c, "be made current", rc, &u->err);
		return NULL;
	}
	u->st = upload(u->m, c, &u->err);
	c->cu->ctx_pop(&before);
	return NULL;
}

static void upload_begin(Upload *u)
{
	uint64_t all = 0;

	for (size_t i = 0; i < u->m->pk.n_constant; i++)
		all += u->m->pk.constant[i].bytes;
	pm_err_init(&u->err);
	if (!all)
		return;
	u->begun = pthread_create(&u->id, NULL, upload_work, u) == 0;
	if (!u->begun)
		upload_work(u);
}

static PmStatus upload_end(Upload *u, PmErr *err)
{
	if (u->begun)
		pthread_join(u->id, NULL);
	return u->st ? pm_err(err, u->st, "%s", u->err.text) : PM_OK;
}

/* ---- models ---- */

static PmStatus find_gpu(PmRtModel *m, PmRtCuda *c, int ordinal, PmErr *err)
{
	int n = 0, major = 0, minor = 0, rc = c->cu->device_count(&n);

	if (!rc && ordinal >= n)
		return pm_err(err, PM_E_ENV, "There is no GPU number %d; this process can use %d of them.",
			      ordinal, n);
	if (!rc)
		rc = c->cu->device_get(&c->dev, ordinal);
	if (!rc)
		rc = c->cu->device_name(c->gpu, sizeof c->gpu, c->dev);
	if (!rc)
		rc = c->cu->device_attr(&major, CU_DEV_CC_MAJOR, c->dev);
	if (!rc)
		rc = c->cu->device_attr(&minor, CU_DEV_CC_MINOR, c->dev);
	if (rc)
		return pm__cuda_fail(c->cu, PM_E_ENV, "say what it is", rc, err);
	c->cc = 10 * major + minor;
	snprintf(m->device_name, sizeof m->device_name, "cuda:%d %s", ordinal, c->gpu);
	return PM_OK;
}

static PmStatus fill_model(PmRtModel *m, PmRtCuda *c, PmErr *err)
{
	Upload up = { .m = m };
	PmStatus st, st_up;

	upload_begin(&up);
	pm_rt_calls_prepare(m, c);
	m->workspace = (uint64_t)c->workspace;
	st = find_functions(m, c, err);
	st_up = upload_end(&up, st ? NULL : err);
	if (!st && !st_up)
		st = pm_rt_calls_keep(m, c, err);
	return st ? st : st_up;
}

static PmStatus cuda_open(PmRtModel *m, int ordinal, PmErr *err)
{
	PmRtCuda *c = pm_xcalloc(1, sizeof *c);
	CuCtx *before = NULL;
	PmStatus st;
	int rc;

	m->own = c;
	c->module = pm_xcalloc(m->pk.n_unit + 1, sizeof *c->module);
	c->fn = pm_xcalloc(m->pk.n_step + 1, sizeof *c->fn);
	c->algo = pm_xcalloc(m->pk.n_call + 1, sizeof *c->algo);
	c->has_algo = pm_xcalloc(m->pk.n_call + 1, 1);
	st = pm_rt_driver_open(&c->cu, err);
	if (!st)
		st = find_gpu(m, c, ordinal, err);
	if (st)
		return st;
	rc = c->cu->ctx_retain(&c->ctx, c->dev);
	if (rc) {
		c->ctx = NULL;
		return pm__cuda_fail(c->cu, PM_E_ENV, "be used", rc, err);
	}
	rc = c->cu->ctx_push(c->ctx);
	if (rc)
		return pm_rt_cuda_fail(c, "be made current", rc, err);
	st = fill_model(m, c, err);
	c->cu->ctx_pop(&before);
	return st;
}

static void cuda_close(PmRtModel *m)
{
	PmRtCuda *c = m->own;
	CuCtx *before = NULL;

	if (!c)
		return;
	if (c->ctx && c->cu->ctx_push(c->ctx) == 0) {
		pm_rt_calls_drop(m, c);
		for (size_t i = 0; i < m->pk.n_unit; i++)
			if (c->module[i])
				c->cu->module_unload(c->module[i]);
		if (c->weights)
			c->cu->mem_free(c->weights);
		c->cu->ctx_pop(&before);
	}
	if (c->ctx)
		c->cu->ctx_release(c->dev);
	free(c->module);
	free(c->fn);
	free(c->algo);
	free(c->has_algo);
	free(c);
}

/* ---- sessions ---- */

static PmStatus cuda_enter(PmRtSession *s, void *stream, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(s);
	PmRtCudaSession *own = s->own;
	int rc = c->cu->ctx_push(c->ctx);

	if (rc)
		return pm_rt_cuda_fail(c, "be made current", rc, err);
	own->now = stream ? stream : own->stream;
	return PM_OK;
}

static void cuda_leave(PmRtSession *s)
{
	CuCtx *before = NULL;

	pm_rt_cuda_of(s)->cu->ctx_pop(&before);
}

static PmStatus cuda_alloc(PmRtSession *s, uint64_t bytes, PmRtAddress *out, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(s);
	CuCtx *before = NULL;
	CuPtr p = 0;
	int rc = c->cu->ctx_push(c->ctx);

	if (rc)
		return pm_rt_cuda_fail(c, "be made current", rc, err);
	rc = c->cu->mem_alloc(&p, bytes ? (size_t)bytes : 1);
	c->cu->ctx_pop(&before);
	*out = rc ? 0 : p;
	return rc ? pm_rt_cuda_fail(c, "hold the memory of a session", rc, err) : PM_OK;
}

static void cuda_release(PmRtSession *s, PmRtAddress p)
{
	const PmRtCuda *c = pm_rt_cuda_of(s);
	CuCtx *before = NULL;

	if (c->cu->ctx_push(c->ctx))
		return;
	c->cu->mem_free(p);
	c->cu->ctx_pop(&before);
}

/* The session's own stream waits for the legacy default stream as that waits for it, so that who works on the
 * default stream and gives no stream is served in order. What captures must not. */
static PmStatus cuda_session_new(PmRtSession *s, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(s);
	PmRtCudaSession *own = pm_xcalloc(1, sizeof *own);
	PmStatus st;
	int rc;

	s->own = own;
	st = cuda_enter(s, NULL, err);
	if (st)
		return st;
	rc = c->cu->stream_create(&own->stream, 0);
	if (!rc)
		rc = c->cu->stream_create(&own->capture, CU_STREAM_NON_BLOCKING);
	cuda_leave(s);
	if (rc)
		return pm_rt_cuda_fail(c, "make a stream", rc, err);
	return c->workspace ? cuda_alloc(s, (uint64_t)c->workspace, &own->workspace, err) : PM_OK;
}

static void cuda_session_free(PmRtSession *s)
{
	const PmRtCuda *c = pm_rt_cuda_of(s);
	PmRtCudaSession *own = s->own;

	if (!own)
		return;
	if (cuda_enter(s, NULL, NULL) == PM_OK) {
		if (own->workspace)
			c->cu->mem_free(own->workspace);
		if (own->stream)
			c->cu->stream_destroy(own->stream);
		if (own->capture)
			c->cu->stream_destroy(own->capture);
		cuda_leave(s);
	}
	free(own);
}

static PmStatus cuda_copy_in(PmRtSession *s, PmRtAddress to, const void *from, PmRtPlace place, uint64_t n,
			     PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(s);
	CuStream *now = ((PmRtCudaSession *)s->own)->now;
	int rc = place == PM_RT_HOST ? c->cu->copy_to(to, from, (size_t)n, now)
				     : c->cu->copy(to, (CuPtr)(uintptr_t)from, (size_t)n, now);

	return rc ? pm_rt_cuda_fail(c, "copy an input", rc, err) : PM_OK;
}

static PmStatus cuda_copy_out(PmRtSession *s, void *to, PmRtPlace place, PmRtAddress from, uint64_t n,
			      PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(s);
	CuStream *now = ((PmRtCudaSession *)s->own)->now;
	int rc = place == PM_RT_HOST ? c->cu->copy_from(to, from, (size_t)n, now)
				     : c->cu->copy((CuPtr)(uintptr_t)to, from, (size_t)n, now);

	return rc ? pm_rt_cuda_fail(c, "copy an output", rc, err) : PM_OK;
}

static PmStatus cuda_zero(PmRtSession *s, PmRtAddress to, uint64_t n, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(s);
	int rc = c->cu->set8(to, 0, (size_t)n, ((PmRtCudaSession *)s->own)->now);

	return rc ? pm_rt_cuda_fail(c, "set memory to zeros", rc, err) : PM_OK;
}

static PmStatus cuda_wait(PmRtSession *s, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(s);
	int rc = c->cu->stream_sync(((PmRtCudaSession *)s->own)->now);

	return rc ? pm_rt_cuda_fail(c, "finish a run", rc, err) : PM_OK;
}

const PmRtDevice pm_rt_cuda = {
	.name = "cuda",
	.align = PM_RTF_CONST_ALIGN,
	.open = cuda_open,
	.close = cuda_close,
	.session_new = cuda_session_new,
	.session_free = cuda_session_free,
	.ready_free = pm_rt_cuda_ready_free,
	.alloc = cuda_alloc,
	.release = cuda_release,
	.enter = cuda_enter,
	.leave = cuda_leave,
	.copy_in = cuda_copy_in,
	.copy_out = cuda_copy_out,
	.launch = pm_rt_cuda_launch,
	.zero = cuda_zero,
	.prepare = pm_rt_cuda_prepare,
	.wait = cuda_wait,
};
