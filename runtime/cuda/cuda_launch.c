/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_launch.c - kernels on a GPU: loading, checking a launch, enqueueing it, waiting. */
#include "runtime/cuda/cuda_priv.h"

#include "base/sys/cpus.h"
#include "runtime/cuda/nvrtc/nvrtc.h"

#include <string.h>

/* --- modules -------------------------------------------------------------------------------------------- */

PmCudaModule *pm__cuda_module(PmCudaDevice *d, PmModule m)
{
	if (m.id == 0 || m.id > d->modules.n || !d->modules.v[m.id - 1].m)
		return NULL;
	return &d->modules.v[m.id - 1];
}

void pm__cuda_close_module(PmCudaDevice *d, PmCudaModule *m)
{
	if (m->m)
		d->cu->module_unload(m->m);
	pm__ptx_release(&m->ptx);
	PM_VEC_RELEASE(&m->fns);
	memset(m, 0, sizeof *m);
}

void pm__cuda_unload(PmDevice *dev, PmModule h)
{
	PmCudaModule *m = pm__cuda_module((PmCudaDevice *)dev, h);

	if (m)
		pm__cuda_close_module((PmCudaDevice *)dev, m);
}

void pm__cuda_code(PmDevice *dev, PmModule h, char hex[PM_CHAIN_HEX])
{
	const PmCudaModule *m = pm__cuda_module((PmCudaDevice *)dev, h);

	memcpy(hex, m ? m->code : "", m ? sizeof m->code : 1);
}

static PmStatus refuse_module(PmCudaDevice *d, const PmSource *s, int error, PmErr *err)
{
	const char *name = NULL;
	PmStr nvrtc = PM_STR_INIT;
	PmStatus st;

	d->cu->error_name(error, &name);
	if (error == CU_INVALID_IMAGE || error == CU_NO_BINARY_FOR_GPU ||
	    error == CU_UNSUPPORTED_PTX_VERSION || error == CU_INVALID_PTX) {
		pm_nvrtc_version(&nvrtc, NULL);
		st = pm_err(err, PM_E_ENV,
			    "The driver (CUDA %d.%d) does not take kernel '%s' as NVRTC %s compiled it (%s); "
			    "install a newer driver or an older CUDA toolkit.",
			    d->cu->version / 1000, d->cu->version % 1000 / 10, s->label, nvrtc.s,
			    name ? name : "unknown error");
	} else {
		st = pm_err(err, PM_E_DEVICE, "The GPU cannot load kernel '%s' (%s).", s->label,
			    name ? name : "unknown error");
	}
	pm_str_release(&nvrtc);
	return st;
}

static PmStatus load_one(PmCudaDevice *d, const PmSource *s, PmModule *out, PmErr *err)
{
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
	PmCudaModule m = { 0 };
	PmStatus st = pm_nvrtc_compile(s, d->info.cc, &ptx, &cubin, err);
	size_t i;
	int rc;

	if (!st) {
		rc = d->cu->module_load(&m.m, cubin.len ? cubin.s : ptx.s);
		if (rc)
			st = refuse_module(d, s, rc, err);
		else
			pm__ptx_read(ptx.s, &m.ptx);
		pm_chain_hex(m.code, cubin.len ? cubin.s : ptx.s, cubin.len ? cubin.len : ptx.len);
	}
	pm_str_release(&ptx);
	pm_str_release(&cubin);
	if (st)
		return st;
	m.label = pm__cuda_keep_name(d, s->label);
	PM_VEC_PUT(&d->modules, .m, m, i);
	out->id = (uint32_t)i + 1;
	return PM_OK;
}

PmStatus pm__cuda_load(PmDevice *dev, const PmSource *src, size_t n, PmModule *out, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = pm__cuda_failed(d, err);
	size_t i;

	if (st)
		return st;
	/* The children run NVRTC alone: the driver must not be used behind a fork. */
	if (n > 1)
		pm_nvrtc_ahead(src, n, d->info.cc, pm_cpus_unpinned_count());
	for (i = 0; i < n && !st; i++)
		st = load_one(d, &src[i], &out[i], err);
	if (st)
		for (i--; i-- > 0;)
			pm__cuda_unload(dev, out[i]);
	return st;
}

/* --- launches ------------------------------------------------------------------------------------------- */

static PmStatus refuse_entry(const PmCudaModule *m, const char *name, PmErr *err)
{
	PmStr known = PM_STR_INIT;
	PmStatus st;
	size_t i;

	for (i = 0; i < m->ptx.entries.n; i++) /* names with C++ linkage begin with _Z */
		if (strncmp(m->ptx.entries.v[i].name, "_Z", 2) != 0)
			pm_str_addf(&known, "%s'%s'", known.len ? ", " : "", m->ptx.entries.v[i].name);
	st = pm_err(err, PM_E_DEVICE,
		    "Kernel '%s' has no entry '%s'; its extern \"C\" __global__ functions are: %s.", m->label,
		    name, known.len ? known.s : "none");
	pm_str_release(&known);
	return st;
}

static PmStatus find_entry(PmCudaDevice *d, PmCudaModule *m, const char *name, PmCudaFn **out, PmErr *err)
{
	PmCudaFn f = { 0 };
	size_t i;
	int rc;

	name = name ? name : "";
	for (i = 0; i < m->fns.n; i++)
		if (strcmp(m->fns.v[i].name, name) == 0) {
			*out = &m->fns.v[i];
			return PM_OK;
		}
	for (i = 0; i < m->ptx.entries.n && !f.entry; i++)
		if (strcmp(m->ptx.entries.v[i].name, name) == 0)
			f.entry = &m->ptx.entries.v[i];
	if (!f.entry)
		return refuse_entry(m, name, err);
	rc = d->cu->module_function(&f.f, m->m, name);
	if (!rc)
		rc = d->cu->fn_attr(&f.max_threads, CU_FN_MAX_THREADS, f.f);
	if (!rc)
		rc = d->cu->fn_attr(&f.static_smem, CU_FN_STATIC_SMEM, f.f);
	if (rc)
		return pm__cuda_fail(d->cu, PM_E_DEVICE, "find an entry of a kernel", rc, err);
	f.name = pm__cuda_keep_name(d, name);
	f.smem_allowed = CU_PLAIN_SMEM - f.static_smem;
	PM_VEC_PUSH(&m->fns, f);
	*out = &m->fns.v[m->fns.n - 1];
	return PM_OK;
}

static PmStatus check_shape(PmCudaDevice *d, const PmCudaModule *m, PmCudaFn *f, const PmDevLaunch *l,
			    PmErr *err)
{
	const uint32_t *g = l->grid, *b = l->block;
	uint64_t n = (uint64_t)b[0] * b[1] * b[2];
	int rc;

	if (!g[0] || !g[1] || !g[2] || g[0] > 0x7fffffffu || g[1] > 65535 || g[2] > 65535)
		return pm_err(
			err, PM_E_LIMIT,
			"Kernel '%s' (entry '%s') is launched with a grid of (%u,%u,%u) blocks; each must be "
			"at least 1, and at most 2147483647, 65535, 65535.",
			m->label, f->name, g[0], g[1], g[2]);
	if (!b[0] || !b[1] || !b[2] || b[0] > 1024 || b[1] > 1024 || b[2] > 64 || n > 1024)
		return pm_err(err, PM_E_LIMIT,
			      "Kernel '%s' (entry '%s') is launched with blocks of (%u,%u,%u) threads; a "
			      "block has 1 to 1024 threads, at most 1024, 1024, 64 in each direction.",
			      m->label, f->name, b[0], b[1], b[2]);
	if (n > (uint64_t)f->max_threads)
		return pm_err(err, PM_E_LIMIT,
			      "Kernel '%s' (entry '%s') is launched with %llu threads per block, but its "
			      "registers or __launch_bounds__ allow %d.",
			      m->label, f->name, (unsigned long long)n, f->max_threads);
	if ((int64_t)l->smem + f->static_smem > d->info.max_smem)
		return pm_err(
			err, PM_E_LIMIT,
			"Kernel '%s' (entry '%s') wants %lld bytes of shared memory (%d static, %u dynamic); "
			"a block has at most %d.",
			m->label, f->name, (long long)l->smem + f->static_smem, f->static_smem, l->smem,
			d->info.max_smem);
	if ((int64_t)l->smem > f->smem_allowed) {
		rc = d->cu->fn_set_attr(f->f, CU_FN_MAX_DYNAMIC_SMEM, (int)l->smem);
		if (rc)
			return pm__cuda_fail(d->cu, PM_E_LIMIT, "give a kernel its shared memory", rc, err);
		f->smem_allowed = (int)l->smem;
	}
	return PM_OK;
}

static PmStatus bind_one(PmCudaDevice *d, const PmCudaModule *m, const PmCudaFn *f, const PmDevArg *a, int i,
			 PmCudaValue *v, PmErr *err)
{
	const PmCudaBuf *b;

	switch (a->kind) {
	case PM_DARG_BUF:
		b = pm__cuda_buf(d, a->buf);
		if (!b || a->offset < 0 || a->offset > b->bytes)
			return pm_err(err, PM_E_INVALID,
				      "Kernel '%s' (entry '%s'): argument %d is byte %lld of buffer %u, "
				      "which does not exist or is smaller.",
				      m->label, f->name, i, (long long)a->offset, a->buf.id);
		v->p = b->p + (uint64_t)a->offset;
		return PM_OK;
	case PM_DARG_I64:
		v->i64 = a->i;
		return PM_OK;
	case PM_DARG_I32:
		if (a->i < INT32_MIN || a->i > UINT32_MAX)
			return pm_err(err, PM_E_DEVICE,
				      "Kernel '%s' (entry '%s'): argument %d is %lld, which does not fit in "
				      "32 bits.",
				      m->label, f->name, i, (long long)a->i);
		v->i32 = (int32_t)(uint32_t)a->i;
		return PM_OK;
	case PM_DARG_F32:
		v->f32 = (float)a->f;
		return PM_OK;
	default:
		v->f64 = a->f;
		return PM_OK;
	}
}

static PmStatus bind(PmCudaDevice *d, const PmCudaModule *m, const PmCudaFn *f, const PmDevLaunch *l,
		     PmCudaValue *v, void **params, PmErr *err)
{
	static const char *const given[] = { "a buffer", "i64", "i32", "f32", "f64" };
	static const char *const wanted[] = { "a pointer or a 64-bit integer", "a 32-bit integer", "float",
					      "double", "of a type that no argument has" };
	static const PmPtxKind want[] = { PTX_I64, PTX_I64, PTX_I32, PTX_F32, PTX_F64 };
	PmStatus st = PM_OK;
	int i;

	if (l->n_args != f->entry->n_params || l->n_args > CU_MAX_ARGS)
		return pm_err(
			err, PM_E_DEVICE,
			"Kernel '%s' (entry '%s') has %d parameters, but the launch gives %d arguments (at "
			"most %d).",
			m->label, f->name, f->entry->n_params, l->n_args, CU_MAX_ARGS);
	for (i = 0; i < l->n_args && !st; i++) {
		const PmDevArg *a = &l->args[i];

		if (a->kind > PM_DARG_F64 || want[a->kind] != f->entry->kind[i])
			return pm_err(
				err, PM_E_DEVICE,
				"Kernel '%s' (entry '%s'): parameter %d is %s, but the launch gives %s.",
				m->label, f->name, i, wanted[f->entry->kind[i]],
				a->kind > PM_DARG_F64 ? "an unknown kind" : given[a->kind]);
		memset(&v[i], 0, sizeof v[i]);
		st = bind_one(d, m, f, a, i, &v[i], err);
		params[i] = &v[i];
	}
	return st;
}

/* Guarded buffers that the launch may only read, and inputs always, become read-only, others writable; one
 * that is given twice is writable when one of the two says so. Before such a launch, what the one before it
 * left on the chip is overwritten. */
static PmStatus protect(PmCudaDevice *d, const PmDevArg *args, int n, PmErr *err)
{
	int guarded = 0, rc = 0;

	for (int writers = 0; writers < 2; writers++)
		for (int i = 0; i < n && !rc; i++) {
			PmCudaBuf *b = args[i].kind == PM_DARG_BUF ? pm__cuda_buf(d, args[i].buf) : NULL;

			if (!b || !b->mapped)
				continue;
			guarded = 1;
			if (writers == !args[i].readonly)
				rc = pm__vmm_lock(d, b, b->use == PM_BUF_INPUT || args[i].readonly);
		}
	if (guarded && !rc)
		rc = pm__guard_scrub(d->cu, d->stream, &d->guard, d->info.n_sm, d->fresh);
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}

PmStatus pm__cuda_note_buffers(PmCudaDevice *d, const char *label, const PmDevArg *args, int n, PmErr *err)
{
	PmStatus st = d->quiet ? PM_OK : protect(d, args, n, err); /* for one launch, which comes next */

	for (int i = 0; i < n && !st; i++) {
		PmCudaBuf *b = args[i].kind == PM_DARG_BUF ? pm__cuda_buf(d, args[i].buf) : NULL;

		if (!b)
			continue;
		if (b->use == PM_BUF_INPUT && !b->mapped && !d->quiet)
			st = pm__guard_input(d->cu, d->stream, &d->guard, b, args[i].buf.id - 1, err);
		b->launches++;
		b->kernel = label;
		b->arg = i;
	}
	return st;
}

PmStatus pm__cuda_ready_launch(PmCudaDevice *d, const PmDevLaunch *l, PmCudaReady *out, PmErr *err)
{
	PmCudaModule *m = pm__cuda_module(d, l->module);
	PmCudaFn *f = NULL;
	PmStatus st;

	if (!m)
		return pm_err(err, PM_E_INVALID, "There is no module %u on this device to launch.",
			      l->module.id);
	st = find_entry(d, m, l->entry, &f, err);
	if (!st)
		st = check_shape(d, m, f, l, err);
	if (!st)
		st = bind(d, m, f, l, out->value, out->params, err);
	if (st)
		return st;
	out->f = f->f;
	out->label = m->label;
	out->entry = f->name;
	memcpy(out->grid, l->grid, sizeof out->grid);
	memcpy(out->block, l->block, sizeof out->block);
	out->smem = l->smem;
	return PM_OK;
}

static PmStatus refuse_launch(PmCudaDevice *d, const PmCudaReady *r, int rc, PmErr *err)
{
	const char *name = NULL;

	if (rc >= CU_ILLEGAL_ADDRESS && rc != CU_LAUNCH_OUT_OF_RESOURCES)
		return pm__cuda_kernel_error(d, rc, err); /* CUDA_LAUNCH_BLOCKING=1 */
	d->cu->error_name(rc, &name);
	return pm_err(err, PM_E_LIMIT,
		      "Kernel '%s' (entry '%s') cannot be launched with a grid of (%u,%u,%u), blocks of "
		      "(%u,%u,%u) and %u bytes of shared memory: the GPU's driver says %s.",
		      r->label, r->entry, r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1],
		      r->block[2], r->smem, name ? name : "no reason");
}

PmStatus pm__cuda_enqueue(PmCudaDevice *d, const PmCudaReady *r, PmErr *err)
{
	int rc = d->cu->launch(r->f, r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1],
			       r->block[2], r->smem, d->stream, r->params, NULL);

	if (rc >= CU_ILLEGAL_ADDRESS && rc != CU_LAUNCH_OUT_OF_RESOURCES && d->n_pending)
		return pm__cuda_kernel_error(d, rc, err); /* of an earlier one */
	if (!d->n_pending++)
		d->first_label = r->label;
	d->last_label = r->label;
	d->last_entry = r->entry;
	return rc ? refuse_launch(d, r, rc, err) : PM_OK;
}

PmStatus pm__cuda_launch(PmDevice *dev, const PmDevLaunch *l, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmCudaValue v[CU_MAX_ARGS];
	void *params[CU_MAX_ARGS];
	PmCudaReady r = { .value = v, .params = params };
	PmErr first;
	PmStatus st = pm__cuda_failed(d, err);

	if (st)
		return st;
	pm_err_init(&first);
	st = pm__cuda_ready_launch(d, l, &r, &first);
	if (!st)
		st = pm__cuda_note_buffers(d, r.label, l->args, l->n_args, &first);
	if (!st)
		st = pm__cuda_enqueue(d, &r, &first);
	return st ? pm__cuda_fail_with(d, st, &first, err) : PM_OK;
}

PmStatus pm__cuda_sync(PmDevice *dev, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = pm__cuda_failed(d, err);
	PmErr why;
	int rc;

	if (st)
		return st;
	rc = d->cu->stream_sync(d->stream);
	if (rc)
		return pm__cuda_kernel_error(d, rc, err);
	if (d->quiet)
		d->n_pending = 0;
	if (!d->n_pending)
		return PM_OK;
	pm_err_init(&why);
	st = pm__guard_check(d->cu, d->stream, &d->guard, &d->bufs, &rc, &why);
	d->n_checks++;
	if (rc)
		return pm__cuda_kernel_error(d, rc, err);
	if (st)
		return pm__cuda_fail_with(d, st, &why, err);
	d->n_pending = 0;
	return PM_OK;
}
