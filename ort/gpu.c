/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c - kernels of a file on a GPU, by the CUDA driver, which is opened at run time.
 *
 * The stream that ONNX Runtime gives says which context is meant. It is made current around our calls and the
 * one before is put back. A module stays loaded as long as the process: ONNX Runtime uses the device's
 * primary context, which lives as long.
 */
#include "ort/ort_priv.h"

#include "base/core/arena.h"
#include "runtime/cuda/cuda_api.h"

#include <stdlib.h>
#include <string.h>

struct PmOrtGpuModule {
	PmOrtGpuModule *next;
	CuCtx *ctx;
	CuMod *mod;
};

struct PmOrtGpuKernel {
	PmOrtGpuKernel *next;
	CuCtx *ctx;
	CuFn *fn[PM_ORT_MAX_LAUNCHES]; /* of each launch */
};

/* --- the driver ------------------------------------------------------------------------------------------
 */

static const PmCuda *driver;
static pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;

static PmStatus need_driver(PmErr *err)
{
	PmStatus st = PM_OK;

	pthread_mutex_lock(&driver_lock);
	if (!driver) {
		const PmCuda *cu = NULL;

		st = pm__cuda_open(&cu, err);
		if (!st)
			driver = cu;
	}
	pthread_mutex_unlock(&driver_lock);
	return st;
}

/* `what` it cannot do, and with which kernel; NULL = none in particular. */
static PmStatus fail(const char *what, const PmOrtKernel *k, int error, PmErr *err)
{
	const char *name = NULL;

	if (driver->error_name(error, &name) != 0 || !name)
		name = "an unknown error";
	return pm_err(err, PM_E_DEVICE, "The GPU cannot %s%s%s%s (%s).", what, k ? " kernel '" : "",
		      k ? k->label : "", k ? "'" : "", name);
}

/* --- loading ---------------------------------------------------------------------------------------------
 */

int pm__ort_gpu_has(const PmOrtKernels *all, const PmOrtKernel *k)
{
	for (uint32_t i = 0; i < k->n_images; i++)
		if (all->image[k->images[i]].kind != PM_ORT_EMU)
			return 1;
	return 0;
}

/* Machine code of the same major version that is not newer; else the newest PTX that is not. */
static int better(const PmOrtImage *a, const PmOrtImage *than, uint32_t cc)
{
	if (a->kind == PM_ORT_EMU || a->arch > cc || (a->kind == PM_ORT_CUBIN && a->arch / 10 != cc / 10))
		return 0;
	if (!than || a->kind != than->kind)
		return !than || a->kind == PM_ORT_CUBIN;
	return a->arch > than->arch;
}

static PmStatus choose(const PmOrtKernels *all, const PmOrtKernel *k, uint32_t cc, uint32_t *number,
		       PmErr *err)
{
	const PmOrtImage *best = NULL;
	PmStr known = PM_STR_INIT;
	PmStatus st;

	for (uint32_t i = 0; i < k->n_images; i++) {
		const PmOrtImage *a = &all->image[k->images[i]];

		if (!better(a, best, cc))
			continue;
		best = a;
		*number = k->images[i];
	}
	if (best)
		return PM_OK;
	for (uint32_t i = 0; i < k->n_images; i++)
		if (all->image[k->images[i]].kind == PM_ORT_CUBIN)
			pm_str_addf(&known, "%ssm_%u", known.len ? ", " : "", all->image[k->images[i]].arch);
	st = pm_err(
		err, PM_E_UNSUPPORTED,
		"Kernel '%s' is compiled for %s, and this GPU is sm_%u; write the file of kernels again with "
		"--arch sm_%u.",
		k->label, known.len ? known.s : "no GPU", cc, cc);
	pm_str_release(&known);
	return st;
}

/* The image as a module of the current context. */
static PmStatus load_module(PmOrtLoaded *l, const PmOrtKernel *k, CuCtx *ctx, CuMod **out, PmErr *err)
{
	int device = 0, major = 0, minor = 0, rc;
	uint32_t number = 0;
	PmOrtGpuModule *m;
	void *image;
	PmStatus st;

	rc = driver->ctx_device(&device);
	rc = rc ? rc : driver->device_attr(&major, CU_DEV_CC_MAJOR, device);
	rc = rc ? rc : driver->device_attr(&minor, CU_DEV_CC_MINOR, device);
	if (rc)
		return fail("say what it is", NULL, rc, err);
	st = choose(&l->all, k, (uint32_t)(major * 10 + minor), &number, err);
	if (st)
		return st;
	for (m = l->module[number]; m && m->ctx != ctx; m = m->next)
		;
	if (!m) {
		m = pm_xcalloc(1, sizeof *m);
		image = pm_xmalloc(l->all.image[number].n + 1); /* aligned as the driver expects it */
		memcpy(image, l->all.image[number].p, l->all.image[number].n);
		rc = driver->module_load(&m->mod, image);
		free(image);
		if (rc) {
			free(m);
			return fail("load", k, rc, err);
		}
		m->ctx = ctx;
		m->next = l->module[number];
		l->module[number] = m;
	}
	*out = m->mod;
	return PM_OK;
}

static PmStatus load_kernel(PmOrtLoaded *l, const PmOrtKernel *k, CuCtx *ctx, PmOrtGpuKernel *out, PmErr *err)
{
	CuMod *mod = NULL;
	PmStatus st = load_module(l, k, ctx, &mod, err);
	int rc = 0;

	for (uint32_t j = 0; j < k->n_launches && !st; j++) {
		rc = driver->module_function(&out->fn[j], mod, k->launches[j].entry);
		if (!rc && k->launches[j].smem > CU_PLAIN_SMEM)
			rc = driver->fn_set_attr(out->fn[j], CU_FN_MAX_DYNAMIC_SMEM,
						 (int)k->launches[j].smem);
		if (rc)
			st = fail("prepare", k, rc, err);
	}
	return st;
}

/* The functions of a kernel in the current context, loaded when they are not; l->lock is held. */
static PmStatus find(PmOrtLoaded *l, const PmOrtKernel *k, CuCtx *ctx, PmOrtGpuKernel **out, PmErr *err)
{
	size_t number = (size_t)(k - l->all.kernel);
	PmStatus st;

	for (*out = l->gpu[number]; *out && (*out)->ctx != ctx; *out = (*out)->next)
		;
	if (*out)
		return PM_OK;
	*out = pm_xcalloc(1, sizeof **out);
	st = load_kernel(l, k, ctx, *out, err);
	if (st) {
		free(*out);
		return st;
	}
	(*out)->ctx = ctx;
	(*out)->next = l->gpu[number];
	l->gpu[number] = *out;
	return PM_OK;
}

PmStatus pm__ort_gpu_load(PmOrtLoaded *l, const PmOrtKernel *k, PmErr *err)
{
	PmStatus st = need_driver(err);
	PmOrtGpuKernel *found;
	CuCtx *ctx = NULL;

	if (st || driver->ctx_current(&ctx) != 0 || !ctx)
		return st;
	pthread_mutex_lock(&l->lock);
	st = find(l, k, ctx, &found, err);
	pthread_mutex_unlock(&l->lock);
	return st;
}

/* --- running ---------------------------------------------------------------------------------------------
 */

/* Makes the context of a stream current; *pushed: it was not. */
static PmStatus enter(void *stream, CuCtx **ctx, int *pushed, PmErr *err)
{
	PmStatus st = need_driver(err);
	CuCtx *now = NULL;
	int rc;

	*pushed = 0;
	if (st)
		return st;
	rc = driver->stream_ctx(stream, ctx);
	rc = rc ? rc : driver->ctx_current(&now);
	if (!rc && now != *ctx) {
		rc = driver->ctx_push(*ctx);
		*pushed = !rc;
	}
	return rc ? fail("use the stream that it is given", NULL, rc, err) : PM_OK;
}

static void leave(int pushed)
{
	CuCtx *ctx;

	if (pushed)
		driver->ctx_pop(&ctx);
}

PmStatus pm__ort_gpu_device(void *stream, int *ordinal, PmErr *err)
{
	CuCtx *ctx = NULL;
	int pushed, rc;
	PmStatus st = enter(stream, &ctx, &pushed, err);

	if (st)
		return st;
	rc = driver->ctx_device(ordinal);
	leave(pushed);
	return rc ? fail("say which one it is", NULL, rc, err) : PM_OK;
}

PmStatus pm__ort_gpu_run(PmOrtLoaded *l, const PmOrtCall *c, void *stream, PmErr *err)
{
	const PmOrtKernel *k = c->kernel;
	PmOrtGpuKernel *found = NULL;
	CuCtx *ctx = NULL;
	int pushed, rc;
	PmStatus st = enter(stream, &ctx, &pushed, err);

	if (st)
		return st;
	pthread_mutex_lock(&l->lock);
	st = find(l, k, ctx, &found, err);
	pthread_mutex_unlock(&l->lock);
	for (uint32_t j = 0; j < k->n_launches && !st; j++) {
		const PmOrtLaunch *n = &k->launches[j];
		PmOrtArgs args;

		pm__ort_args(c, n, &args);
		rc = driver->launch(found->fn[j], n->grid[0], n->grid[1], n->grid[2], n->block[0],
				    n->block[1], n->block[2], n->smem, stream, args.at, NULL);
		if (rc)
			st = fail("launch", k, rc, err);
	}
	leave(pushed);
	return st;
}
