/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_call.c - calls of cuBLASLt and cuDNN in the place of launches.
 *
 * A call is prepared once for a model: descriptors and the library's algorithm. Nothing is tried out; the
 * package may say which algorithm was found to be the fastest on this GPU with these libraries. Handles and
 * descriptors are shared by all sessions, so that one lock is held while a call is enqueued (not while it
 * runs). A graph needs it only when it is captured.
 */
#include "rt/cuda_priv.h"

#include "base/core/arena.h"
#include "base/core/str.h"
#include "ir/core/onnx_dtype.h"
#include "runtime/cuda/library/cuda_calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Recursive: who captures holds it from the first launch to the last. */
static pthread_mutex_t libraries = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void pm_rt_calls_hold(int on)
{
	if (on)
		pthread_mutex_lock(&libraries);
	else
		pthread_mutex_unlock(&libraries);
}

static void get(const int64_t *v, int *at, int64_t *to, int n)
{
	memcpy(to, v + *at, (size_t)n * sizeof *to);
	*at += n;
}

/* As app/compile put it (format.h). */
static void call_of(const PmRtfCall *from, PmLibCall *to)
{
	const int64_t *v = from->v;
	int at = 4;

	memset(to, 0, sizeof *to);
	to->kind = from->kind == PM_RTF_GEMM ? PM_LIB_GEMM : PM_LIB_CONV;
	to->dtype = pm_dtype_from_onnx((int)from->type);
	memcpy(to->align, from->align, sizeof to->align);
	memcpy(to->step, from->step, sizeof to->step);
	if (to->kind == PM_LIB_GEMM) {
		to->gemm = (PmLibGemm){ .m = v[0],
					.n = v[1],
					.k = v[2],
					.batch = v[3],
					.a_row = v[4],
					.a_col = v[5],
					.a_batch = v[6],
					.b_row = v[7],
					.b_col = v[8],
					.b_batch = v[9],
					.outer = v[10],
					.a_outer = v[11],
					.b_outer = v[12],
					.c = (PmLibC)v[13] };
		to->gemm.alpha = from->alpha;
		to->gemm.beta = from->beta;
		return;
	}
	to->conv.spatial = (int)v[0];
	to->conv.transposed = v[1] != 0;
	to->conv.groups = v[2];
	to->conv.has_bias = v[3] != 0;
	get(v, &at, to->conv.x, 5);
	get(v, &at, to->conv.w, 5);
	get(v, &at, to->conv.y, 5);
	get(v, &at, to->conv.pad, 3);
	get(v, &at, to->conv.stride, 3);
	get(v, &at, to->conv.dilation, 3);
	to->conv.constant = v[at] != 0;
}

/* ---- preparing ---- */

typedef struct Loading {
	PmRtModel *m;
	PmRtCuda *c;
	const PmRtfChoice *elsewhere; /* of a call that was tuned, but not here; NULL = none yet */
	int others;                   /* kernels around calls are another version's */
} Loading;

/* The kernels around calls: compiled ahead as everything else. What another version wrote has other
 * arguments, or is not there: such an algorithm is not taken. */
static PmStatus kernel_around(void *arg, int dtype, const char *entry, CuFn **out, PmErr *err)
{
	Loading *l = arg;
	const PmRtPackage *p = &l->m->pk;
	uint32_t type = (uint32_t)pm_dtype_to_onnx(dtype);
	PmStatus st = PM_OK;
	int rc;

	for (size_t i = 0; i < p->n_unit && type < PM_RT_TYPES && !l->c->around[type] && !st; i++)
		if (p->unit[i].around && p->unit[i].type == type) {
			l->others |= p->unit[i].mark != pm_algo_mark();
			st = l->others ? PM_DECLINED
				       : pm_rt_cuda_load(l->m, l->c, i, &l->c->around[type], err);
		}
	if (st)
		return st;
	if (type >= PM_RT_TYPES || !l->c->around[type])
		return PM_DECLINED;
	rc = l->c->cu->module_function(out, l->c->around[type], entry);
	return rc ? pm__cuda_fail(l->c->cu, PM_E_ENV, "find a kernel around a library's call", rc, err)
		  : PM_OK;
}

static PmStatus prepare(Loading *l, const PmLibCall *call, uint32_t kind, uint32_t pick, PmCudaAlgo *out)
{
	const PmCudaSite site = { .cu = l->c->cu, .dev = l->c->dev, .kernel = kernel_around, .arg = l };
	PmAlgo algo;
	PmStatus st;

	if (kind >= PM_N_ALGOS || pick > 1000 || !pm_algo_describe(call, (PmAlgoKind)kind, &algo))
		return PM_DECLINED;
	st = pm__algo_prepare(&site, &algo, (int)pick, out, NULL);
	if (st)
		pm__algo_drop(out);
	return st;
}

/* A product has nothing to do with cuDNN, and opening that takes long. */
static int is_product(const PmRtPackage *p, size_t call)
{
	return p->call[call].kind == PM_RTF_GEMM;
}

static int measured_here(const PmRtPackage *p, const PmRtCuda *c, const PmRtfChoice *h)
{
	return !strcmp(pm_package_text(p, h->gpu), c->gpu) &&
	       h->cublaslt == (uint32_t)pm_library_cublaslt()->version &&
	       (is_product(p, h->call) || h->cudnn == (uint32_t)pm_library_cudnn()->version);
}

/* What was measured with this GPU and these libraries, else any that was measured elsewhere. NULL = none. */
static const PmRtfChoice *choice_for(const PmRtPackage *p, const PmRtCuda *c, size_t call, int *here)
{
	const PmRtfChoice *found = NULL;

	*here = 0;
	for (size_t i = 0; i < p->n_choice && !*here; i++)
		if (p->choice[i].call == call) {
			found = &p->choice[i];
			*here = measured_here(p, c, found);
		}
	return found;
}

/* A library that is missing, or does not take the call, is no error: our kernel runs then. */
static void prepare_call(Loading *l, size_t i)
{
	PmCudaAlgo *out = &l->c->algo[i];
	const PmRtfChoice *h;
	PmLibCall call;
	uint32_t kind = PM_ALGO_PLAIN, pick = 0;
	PmStatus st;
	int here;

	call_of(&l->m->pk.call[i], &call);
	if (call.dtype < 0)
		return;
	h = choice_for(&l->m->pk, l->c, i, &here);
	if (here) {
		kind = h->algorithm;
		pick = h->candidate;
	}
	st = prepare(l, &call, kind, pick, out);
	here = here && !st;
	/* As the program does (cuda_trial.c): the first algorithm that takes the call. */
	for (uint32_t k = 0; k < PM_N_ALGOS && st; k++)
		if (k != kind || pick)
			st = prepare(l, &call, k, 0, out);
	l->c->has_algo[i] = !st;
	if (st)
		return;
	if (out->workspace > l->c->workspace)
		l->c->workspace = out->workspace;
	l->m->calls++;
	l->m->calls_tuned += here;
	if (h && !here && !l->elsewhere)
		l->elsewhere = h;
}

/* The libraries that matter for a call: cuDNN not for products. */
static void add_place(PmStr *s, const char *gpu, int product, int cublaslt, int cudnn)
{
	char version[32];

	pm_library_version_text(PM_LIB_GEMM, cublaslt, version);
	pm_str_addf(s, "%s with %s", gpu, version);
	pm_library_version_text(PM_LIB_CONV, cudnn, version);
	if (!product)
		pm_str_addf(s, " and %s", version);
}

/* Why calls run by other algorithms than those that --tune found, as one sentence. */
static char *why_untuned(const Loading *l)
{
	const PmRtPackage *p = &l->m->pk;
	const PmRtfChoice *h = l->elsewhere;
	PmStr s = PM_STR_INIT;
	int product;

	if (l->others) {
		pm_str_addf(
			&s,
			"Some of the %zu calls of %s that a library may take run by other algorithms or by "
			"kernels: "
			"what stands around them was compiled by another version of Passmith; compile the "
			"model again.",
			p->n_call, l->m->path);
		return pm_str_detach(&s, NULL);
	}
	pm_str_addf(&s,
		    "%zu of the %zu library calls of %s run by the first algorithm that is suggested: it was "
		    "tuned on ",
		    l->m->calls - l->m->calls_tuned, l->m->calls, l->m->path);
	product = is_product(p, h->call);
	add_place(&s, pm_package_text(p, h->gpu), product, (int)h->cublaslt, (int)h->cudnn);
	pm_str_add(&s, ", and this is ");
	add_place(&s, l->c->gpu, product, pm_library_cublaslt()->version,
		  product ? 0 : pm_library_cudnn()->version);
	pm_str_add(&s, "; compile it with --tune where these are found.");
	return pm_str_detach(&s, NULL);
}

void pm_rt_calls_prepare(PmRtModel *m, PmRtCuda *c)
{
	Loading l = { m, c, NULL, 0 };

	pthread_mutex_lock(&libraries);
	for (size_t i = 0; i < m->pk.n_call && pm_library_allowed(); i++)
		prepare_call(&l, i);
	if (l.elsewhere || l.others)
		m->untuned = why_untuned(&l);
	pthread_mutex_unlock(&libraries);
}

void pm_rt_calls_drop(PmRtModel *m, PmRtCuda *c)
{
	pthread_mutex_lock(&libraries);
	for (size_t i = 0; i < m->pk.n_call; i++)
		if (c->has_algo[i])
			pm__algo_drop(&c->algo[i]);
	pthread_mutex_unlock(&libraries);
	for (size_t i = 0; i < c->n_kept; i++)
		c->cu->mem_free(c->kept[i].made);
	free(c->kept);
	c->kept = NULL;
	c->n_kept = 0;
}

/* ---- what is made of constants ---- */

static const PmCudaAlgo *algo_of(const PmRtCuda *c, const PmRtfStep *s)
{
	return s->call != PM_RTF_NONE && c->has_algo[s->call] ? &c->algo[s->call] : NULL;
}

/* Where the weights of a call lie, argument 2; 0 where they are no constant. */
static CuPtr constant_weights(const PmRtModel *m, const PmRtfShape *shape, const PmRtfStep *s)
{
	const PmRtfArg *a = &m->pk.arg[s->first_arg + 2];
	const PmRtfBuffer *b;

	if (s->n_args < 3 || a->kind != PM_RTF_BUF)
		return 0;
	b = &m->pk.buffer[shape->first_buffer + a->buffer];
	return b->place == PM_RTF_CONST ? m->constant[b->index] + a->v.offset : 0;
}

/* Stages of a kind of algorithm for the same weights differ by nothing but their numbers. */
static int makes_the_same(const PmAlgo *a, const PmAlgo *b)
{
	int same = a->dtype == b->dtype && a->n_once == b->n_once && a->kept == b->kept;

	for (int i = 0; i < a->n_once && same; i++)
		same = !strcmp(a->stage[i].entry, b->stage[i].entry) &&
		       !memcmp(a->stage[i].v, b->stage[i].v, sizeof a->stage[i].v);
	return same;
}

static CuPtr kept_for(const PmRtCuda *c, const PmCudaAlgo *a, CuPtr weights)
{
	for (size_t i = 0; i < c->n_kept; i++)
		if (c->kept[i].weights == weights && makes_the_same(c->kept[i].how, &a->algo))
			return c->kept[i].made;
	return 0;
}

static PmStatus keep(PmRtModel *m, PmRtCuda *c, const PmCudaAlgo *a, CuPtr weights, CuStream *stream,
		     PmErr *err)
{
	const PmCudaSite site = { .cu = c->cu, .dev = c->dev, .stream = stream };
	PmRtKept *k = &c->kept[c->n_kept];
	int rc = c->cu->mem_alloc(&k->made, (size_t)a->algo.kept);

	if (rc)
		return pm_rt_cuda_fail(c, "hold the weights in another order", rc, err);
	k->how = &a->algo;
	k->weights = weights;
	c->n_kept++;
	m->kept += (uint64_t)a->algo.kept;
	return pm__algo_run_once(&site, a, weights, k->made, err);
}

PmStatus pm_rt_calls_keep(PmRtModel *m, PmRtCuda *c, PmErr *err)
{
	const PmRtPackage *p = &m->pk;
	CuStream *stream = NULL;
	PmStatus st = PM_OK;
	int rc = c->cu->stream_create(&stream, CU_STREAM_NON_BLOCKING);

	c->kept = pm_xcalloc(p->n_step + 1, sizeof *c->kept);
	for (size_t i = 0; i < p->n_shape && !st && !rc; i++)
		for (uint32_t k = 0; k < p->shape[i].n_steps && !st; k++) {
			const PmRtfStep *s = &p->step[p->shape[i].first_step + k];
			const PmCudaAlgo *a = algo_of(c, s);
			CuPtr weights = a && a->algo.n_once ? constant_weights(m, &p->shape[i], s) : 0;

			if (weights && !kept_for(c, a, weights))
				st = keep(m, c, a, weights, stream, err);
		}
	if (!rc && !st)
		rc = c->cu->stream_sync(stream);
	if (stream)
		c->cu->stream_destroy(stream);
	return rc ? pm_rt_cuda_fail(c, "put the weights in another order", rc, err) : st;
}

/* ---- running ---- */

int pm_rt_calls_in(const PmRtRun *r)
{
	const PmRtPackage *p = &r->s->m->pk;
	const PmRtfShape *shape = &p->shape[r->shape];

	for (uint32_t i = 0; i < shape->n_steps; i++)
		if (algo_of(pm_rt_cuda_of(r->s), &p->step[shape->first_step + i]))
			return 1;
	return 0;
}

void pm_rt_calls_unplace(size_t n_steps, PmRtCudaReady *own)
{
	if (!own->calls)
		return;
	pthread_mutex_lock(&libraries);
	for (size_t i = 0; i < n_steps; i++)
		pm__algo_unplace(&own->placed[i]);
	pthread_mutex_unlock(&libraries);
	own->placed_at = 0;
}

PmStatus pm_rt_calls_place(const PmRtRun *r, PmRtCudaReady *own, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(r->s);
	const PmRtPackage *p = &r->s->m->pk;
	const PmRtfShape *shape = &p->shape[r->shape];
	CuPtr workspace = ((PmRtCudaSession *)r->s->own)->workspace;
	const uint64_t *value = r->ready->value;
	PmStatus st = PM_OK;

	if (!own->calls) {
		own->placed_at = r->ready->moves;
		return PM_OK;
	}
	pm_rt_calls_unplace(shape->n_steps, own);
	pthread_mutex_lock(&libraries);
	for (uint32_t i = 0; i < shape->n_steps && !st; i++) {
		const PmRtfStep *s = &p->step[shape->first_step + i];
		const PmCudaAlgo *a = algo_of(c, s);
		CuPtr at[4] = { 0 };

		for (uint32_t k = 0; k < s->n_args && k < 4; k++)
			if (p->arg[s->first_arg + k].kind == PM_RTF_BUF)
				at[k] = value[k];
		if (a)
			st = pm__algo_place(a, at, workspace, kept_for(c, a, at[2]), &own->placed[i], err);
		value += s->n_args;
	}
	pthread_mutex_unlock(&libraries);
	own->placed_at = st ? 0 : r->ready->moves;
	return st;
}

PmStatus pm_rt_call_run(const PmRtRun *r, PmRtCudaReady *own, size_t step, CuStream *stream, PmErr *err)
{
	const PmRtCuda *c = pm_rt_cuda_of(r->s);
	const PmRtPackage *p = &r->s->m->pk;
	const PmCudaAlgo *a = algo_of(c, &p->step[p->shape[r->shape].first_step + step]);
	const PmCudaSite site = { .cu = c->cu, .dev = c->dev, .stream = stream };
	PmStatus st;

	pthread_mutex_lock(&libraries);
	/* Another session's stream may have had this one's address. */
	pm__conv_forget_stream(c->dev);
	st = pm__algo_run(&site, a, &own->placed[step], err);
	pthread_mutex_unlock(&libraries);
	return st;
}
