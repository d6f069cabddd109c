/* cuda_device.c - the device interface on a GPU, through the driver API.
 *
 * Everything goes to one stream. After a kernel error the context is lost: the error is kept, every call
 * returns it, and the process (a worker, see run.c) has to end.
 */
#include "runtime/cuda_priv.h"

#include "base/str.h"
#include "runtime/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	N_EVENTS = 256,
	MAX_ARGS = 128,
	ALIGN = 512,           /* of allocations: what the driver gives */
	KEEP_SHARE = 4,        /* released memory is kept up to this share of the device's */
	MAX_KEPT = 4096,       /* blocks */
	PLAIN_SMEM = 48 * 1024 /* dynamic shared memory that needs no opting in */
};

typedef struct Fn {
	const char *name;
	CuFn *f;
	const PmPtxEntry *entry;
	int max_threads, static_smem, smem_allowed;
} Fn;

typedef struct Module {
	CuMod *m; /* NULL = this handle is free */
	const char *label;
	PmPtx ptx;
	PM_VEC(Fn) fns; /* those that were launched */
} Module;

typedef struct Block {
	CuPtr base;
	int64_t total;
} Block;

typedef struct CudaDevice {
	PmDevice base;
	const PmCuda *cu;
	int dev, has_ctx;
	PmDeviceInfo info;
	CuStream *stream;
	PmCudaGuard guard;
	PmCudaBufs bufs; /* handle id - 1 */
	PM_VEC(Module) modules;
	PM_VEC(Block) kept; /* released, to be used again */
	int64_t kept_bytes;
	CuEvent *event[N_EVENTS];
	unsigned char recorded[N_EVENTS];
	PmIntern *names;                     /* labels and entries, so that messages may outlive modules */
	uint64_t n_pending;                  /* launches since the last sync, */
	const char *first_label;             /* the first of them, */
	const char *last_label, *last_entry; /* and the last */
	PmErr failed;                        /* the first kernel error; code 0 = none */
} CudaDevice;

static const char *keep_name(CudaDevice *d, const char *s)
{
	return pm_intern_text(d->names, pm_intern(d->names, s, strlen(s)));
}

/* --- errors --------------------------------------------------------------------------------------------- */

/* Remembers err as what every later call returns. */
static PmStatus fail_with(CudaDevice *d, PmStatus st, const PmErr *why, PmErr *err)
{
	d->failed = *why;
	if (err)
		*err = *why;
	return st;
}

static PmStatus failed(const CudaDevice *d, PmErr *err)
{
	if (d->failed.code && err)
		*err = d->failed;
	return d->failed.code;
}

static const struct {
	int error;
	PmStatus st;
	const char *what;
} kernel_errors[] = {
	{ CU_ILLEGAL_ADDRESS, PM_E_OOB, "accessed memory outside its buffers (illegal address)" },
	{ CU_INVALID_ADDRESS_SPACE, PM_E_OOB, "accessed memory outside its buffers (wrong address space)" },
	{ CU_MISALIGNED_ADDRESS, PM_E_DEVICE, "used a misaligned address (vector accesses need alignment)" },
	{ CU_ASSERT, PM_E_DEVICE, "stopped at an assertion" },
	{ CU_ILLEGAL_INSTRUCTION, PM_E_DEVICE, "ran into an illegal instruction (such as __trap)" },
	{ CU_HARDWARE_STACK_ERROR, PM_E_DEVICE, "overflowed its stack" },
	{ CU_INVALID_PC, PM_E_DEVICE, "jumped to an invalid address" },
	{ CU_LAUNCH_FAILED, PM_E_DEVICE, "failed (shared memory out of bounds, or a trap)" },
	{ CU_LAUNCH_TIMEOUT, PM_E_TIMEOUT, "was stopped by the driver's watchdog" },
};

/* The sentence about an error that the driver reports some time after a launch. */
static PmStatus kernel_error(CudaDevice *d, int error, PmErr *err)
{
	const char *what = NULL, *name = NULL;
	PmStatus st = PM_E_DEVICE;
	PmErr why;
	size_t i;

	pm_err_init(&why);
	for (i = 0; i < sizeof kernel_errors / sizeof kernel_errors[0]; i++)
		if (kernel_errors[i].error == error) {
			st = kernel_errors[i].st;
			what = kernel_errors[i].what;
		}
	if (!d->n_pending || !what) {
		d->cu->error_string(error, &what);
		d->cu->error_name(error, &name);
		pm_err(&why, st, "The GPU failed: %s (%s).", what ? what : "the driver gives no reason",
		       name ? name : "unknown error");
	} else if (d->n_pending == 1) {
		pm_err(&why, st, "Kernel '%s' (entry '%s') %s.", d->last_label, d->last_entry, what);
	} else {
		pm_err(&why, st,
		       "One of %llu kernels, from '%s' to '%s', %s; run with CUDA_LAUNCH_BLOCKING=1 to learn "
		       "which.",
		       (unsigned long long)d->n_pending, d->first_label, d->last_label, what);
	}
	return fail_with(d, st, &why, err);
}

/* --- buffers -------------------------------------------------------------------------------------------- */

static PmCudaBuf *buf(CudaDevice *d, PmBuf b)
{
	if (b.id == 0 || b.id > d->bufs.n || !d->bufs.v[b.id - 1].base)
		return NULL;
	return &d->bufs.v[b.id - 1];
}

static void drop_kept(CudaDevice *d)
{
	size_t i;

	for (i = 0; i < d->kept.n; i++)
		d->cu->mem_free(d->kept.v[i].base);
	d->kept.n = 0;
	d->kept_bytes = 0;
}

/* A block of exactly that size: a released one, or a new one. 0 or the driver's error. */
static int take_block(CudaDevice *d, int64_t total, CuPtr *out)
{
	size_t i;
	int rc;

	for (i = d->kept.n; i-- > 0;)
		if (d->kept.v[i].total == total) {
			*out = d->kept.v[i].base;
			d->kept.v[i] = d->kept.v[--d->kept.n];
			d->kept_bytes -= total;
			return 0;
		}
	rc = d->cu->mem_alloc(out, (size_t)total);
	if (rc == CU_OUT_OF_MEMORY && d->kept.n) {
		drop_kept(d);
		rc = d->cu->mem_alloc(out, (size_t)total);
	}
	return rc;
}

static PmStatus cuda_alloc(PmDevice *dev, int64_t bytes, PmBufUse use, PmBuf *out, PmErr *err)
{
	CudaDevice *d = (CudaDevice *)dev;
	PmCudaBuf b = { .bytes = bytes, .use = use };
	PmStatus st = failed(d, err);
	size_t i;
	int rc;

	if (st)
		return st;
	if (bytes < 0 || bytes > d->info.memory)
		return pm_err(err, PM_E_LIMIT,
			      "A buffer of %lld bytes does not fit on this device, which has %lld.",
			      (long long)bytes, (long long)d->info.memory);
	for (i = 0; i < d->bufs.n && d->bufs.v[i].base; i++)
		;
	if (i >= CU_MAX_BUFS)
		return pm_err(err, PM_E_LIMIT, "This device already has %d buffers, which is the limit.",
			      CU_MAX_BUFS);
	b.total = (bytes + 2 * CU_ZONE + ALIGN - 1) / ALIGN * ALIGN;
	rc = take_block(d, b.total, &b.base);
	if (rc == CU_OUT_OF_MEMORY)
		return pm_err(
			err, PM_E_LIMIT,
			"The GPU has no room for a buffer of %lld bytes; use smaller sizes or end other "
			"programs on it.",
			(long long)bytes);
	if (rc)
		return kernel_error(d, rc, err);
	b.p = b.base + CU_ZONE;
	if (i < d->bufs.n)
		d->bufs.v[i] = b;
	else
		PM_VEC_PUSH(&d->bufs, b);
	d->guard.stale = 1;
	out->id = (uint32_t)i + 1;
	return pm__guard_fill(d->cu, d->stream, &b, err);
}

static void cuda_release(PmDevice *dev, PmBuf h)
{
	CudaDevice *d = (CudaDevice *)dev;
	PmCudaBuf *b = buf(d, h);

	if (!b)
		return;
	if (d->kept.n < MAX_KEPT && d->kept_bytes + b->total <= d->info.memory / KEEP_SHARE) {
		PM_VEC_PUSH(&d->kept, ((Block){ b->base, b->total }));
		d->kept_bytes += b->total;
	} else {
		d->cu->mem_free(b->base);
	}
	memset(b, 0, sizeof *b);
	d->guard.stale = 1;
}

/* Checks a range of a buffer that the program itself copies. */
static PmStatus range(CudaDevice *d, PmBuf h, int64_t offset, int64_t n, const char *what, PmCudaBuf **out,
		      PmErr *err)
{
	PmCudaBuf *b = buf(d, h);
	PmStatus st = failed(d, err);

	if (st)
		return st;
	if (!b)
		return pm_err(err, PM_E_INVALID,
			      "Cannot %s buffer %u: there is no such buffer on this device.", what, h.id);
	if (offset < 0 || n < 0 || offset > b->bytes || n > b->bytes - offset)
		return pm_err(err, PM_E_INVALID,
			      "Cannot %s %lld bytes at byte %lld of buffer %u, which has %lld bytes.", what,
			      (long long)n, (long long)offset, h.id, (long long)b->bytes);
	*out = b;
	return PM_OK;
}

static PmStatus cuda_upload(PmDevice *dev, PmBuf h, int64_t offset, const void *src, int64_t n, PmErr *err)
{
	CudaDevice *d = (CudaDevice *)dev;
	PmCudaBuf *b;
	PmStatus st = range(d, h, offset, n, "write", &b, err);
	int rc = 0;

	if (st || !n)
		return st;
	b->hashed = 0;
	rc = d->cu->copy_to(b->p + (uint64_t)offset, src, (size_t)n, d->stream);
	if (!rc)
		rc = d->cu->stream_sync(d->stream);
	return rc ? kernel_error(d, rc, err) : PM_OK;
}

static PmStatus cuda_download(PmDevice *dev, PmBuf h, int64_t offset, void *dst, int64_t n, PmErr *err)
{
	CudaDevice *d = (CudaDevice *)dev;
	PmCudaBuf *b;
	PmStatus st = range(d, h, offset, n, "read", &b, err);
	int rc = 0;

	if (st || !n)
		return st;
	rc = d->cu->copy_from(dst, b->p + (uint64_t)offset, (size_t)n, d->stream);
	if (!rc)
		rc = d->cu->stream_sync(d->stream);
	return rc ? kernel_error(d, rc, err) : PM_OK;
}

static PmStatus cuda_fill(PmDevice *dev, PmBuf h, int64_t offset, int64_t n, uint32_t pattern, PmErr *err)
{
	CudaDevice *d = (CudaDevice *)dev;
	PmCudaBuf *b;
	PmStatus st = range(d, h, offset, n, "fill", &b, err);
	unsigned char bytes[4];
	int64_t i;
	CuPtr p;
	int rc = 0;

	if (st || !n)
		return st;
	b->hashed = 0;
	p = b->p + (uint64_t)offset;
	memcpy(bytes, &pattern, 4);
	if (p % 4 == 0) {
		rc = n / 4 ? d->cu->set32(p, pattern, (size_t)(n / 4), d->stream) : 0;
		for (i = n / 4 * 4; i < n && !rc; i++)
			rc = d->cu->set8(p + (uint64_t)i, bytes[i % 4], 1, d->stream);
	} else {
		unsigned char *text = pm_xcalloc((size_t)n, 1);

		for (i = 0; i < n; i++)
			text[i] = bytes[i % 4];
		rc = d->cu->copy_to(p, text, (size_t)n, d->stream);
		if (!rc)
			rc = d->cu->stream_sync(d->stream);
		free(text);
	}
	return rc ? kernel_error(d, rc, err) : PM_OK;
}

/* --- modules -------------------------------------------------------------------------------------------- */

static Module *module(CudaDevice *d, PmModule m)
{
	if (m.id == 0 || m.id > d->modules.n || !d->modules.v[m.id - 1].m)
		return NULL;
	return &d->modules.v[m.id - 1];
}

static void close_module(CudaDevice *d, Module *m)
{
	if (m->m)
		d->cu->module_unload(m->m);
	pm__ptx_release(&m->ptx);
	PM_VEC_RELEASE(&m->fns);
	memset(m, 0, sizeof *m);
}

static void cuda_unload(PmDevice *dev, PmModule h)
{
	Module *m = module((CudaDevice *)dev, h);

	if (m)
		close_module((CudaDevice *)dev, m);
}

static PmStatus refuse_module(CudaDevice *d, const PmSource *s, int error, PmErr *err)
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

static PmStatus load_one(CudaDevice *d, const PmSource *s, PmModule *out, PmErr *err)
{
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
	Module m = { 0 };
	PmStatus st = pm_nvrtc_compile(s, d->info.cc, &ptx, &cubin, err);
	size_t i;
	int rc;

	if (!st) {
		rc = d->cu->module_load(&m.m, cubin.len ? cubin.s : ptx.s);
		if (rc)
			st = refuse_module(d, s, rc, err);
		else
			pm__ptx_read(ptx.s, &m.ptx);
	}
	pm_str_release(&ptx);
	pm_str_release(&cubin);
	if (st)
		return st;
	m.label = keep_name(d, s->label);
	for (i = 0; i < d->modules.n && d->modules.v[i].m; i++)
		;
	if (i < d->modules.n)
		d->modules.v[i] = m;
	else
		PM_VEC_PUSH(&d->modules, m);
	out->id = (uint32_t)i + 1;
	return PM_OK;
}

static PmStatus cuda_load(PmDevice *dev, const PmSource *src, size_t n, PmModule *out, PmErr *err)
{
	CudaDevice *d = (CudaDevice *)dev;
	PmStatus st = failed(d, err);
	size_t i;

	if (st)
		return st;
	/* The children run NVRTC alone: the driver must not be used behind a fork. */
	if (n > 1)
		pm_nvrtc_ahead(src, n, d->info.cc, (int)sysconf(_SC_NPROCESSORS_ONLN));
	for (i = 0; i < n && !st; i++)
		st = load_one(d, &src[i], &out[i], err);
	if (st)
		for (i--; i-- > 0;)
			cuda_unload(dev, out[i]);
	return st;
}

/* --- launches ------------------------------------------------------------------------------------------- */

static PmStatus refuse_entry(const Module *m, const char *name, PmErr *err)
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

static PmStatus find_entry(CudaDevice *d, Module *m, const char *name, Fn **out, PmErr *err)
{
	Fn f = { 0 };
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
	f.name = keep_name(d, name);
	f.smem_allowed = PLAIN_SMEM - f.static_smem;
	PM_VEC_PUSH(&m->fns, f);
	*out = &m->fns.v[m->fns.n - 1];
	return PM_OK;
}

static PmStatus check_shape(CudaDevice *d, const Module *m, Fn *f, const PmDevLaunch *l, PmErr *err)
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

typedef union Value {
	CuPtr p;
	int64_t i64;
	int32_t i32;
	float f32;
	double f64;
} Value;

static PmStatus bind_one(CudaDevice *d, const Module *m, const Fn *f, const PmDevArg *a, int i, Value *v,
			 PmErr *err)
{
	const PmCudaBuf *b;

	switch (a->kind) {
	case PM_DARG_BUF:
		b = buf(d, a->buf);
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

static PmStatus bind(CudaDevice *d, const Module *m, const Fn *f, const PmDevLaunch *l, Value *v,
		     void **params, PmErr *err)
{
	static const char *const given[] = { "a buffer", "i64", "i32", "f32", "f64" };
	static const char *const wanted[] = { "a pointer or a 64-bit integer", "a 32-bit integer", "float",
					      "double", "of a type that no argument has" };
	static const PmPtxKind want[] = { PTX_I64, PTX_I64, PTX_I32, PTX_F32, PTX_F64 };
	PmStatus st = PM_OK;
	int i;

	if (l->n_args != f->entry->n_params || l->n_args > MAX_ARGS)
		return pm_err(
			err, PM_E_DEVICE,
			"Kernel '%s' (entry '%s') has %d parameters, but the launch gives %d arguments (at "
			"most %d).",
			m->label, f->name, f->entry->n_params, l->n_args, MAX_ARGS);
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

/* Buffers that the launch is about to use: inputs are hashed, all remember who used them. */
static PmStatus note_buffers(CudaDevice *d, const Module *m, const PmDevLaunch *l, PmErr *err)
{
	PmStatus st = PM_OK;
	int i;

	for (i = 0; i < l->n_args && !st; i++) {
		PmCudaBuf *b = l->args[i].kind == PM_DARG_BUF ? buf(d, l->args[i].buf) : NULL;

		if (!b)
			continue;
		if (b->use == PM_BUF_INPUT)
			st = pm__guard_input(d->cu, d->stream, &d->guard, b, l->args[i].buf.id - 1, err);
		b->launches++;
		b->kernel = m->label;
		b->arg = i;
	}
	return st;
}

static PmStatus enqueue(CudaDevice *d, const Module *m, const Fn *f, const PmDevLaunch *l, void **params,
			PmErr *err)
{
	const char *name = NULL;
	int rc = d->cu->launch(f->f, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
			       l->block[2], l->smem, d->stream, params, NULL);

	if (rc >= CU_ILLEGAL_ADDRESS && rc != CU_LAUNCH_OUT_OF_RESOURCES && d->n_pending)
		return kernel_error(d, rc, err); /* of an earlier one */
	if (!d->n_pending++)
		d->first_label = m->label;
	d->last_label = m->label;
	d->last_entry = f->name;
	if (!rc)
		return PM_OK;
	if (rc >= CU_ILLEGAL_ADDRESS && rc != CU_LAUNCH_OUT_OF_RESOURCES)
		return kernel_error(d, rc, err); /* CUDA_LAUNCH_BLOCKING=1 */
	d->cu->error_name(rc, &name);
	return pm_err(err, PM_E_LIMIT,
		      "Kernel '%s' (entry '%s') cannot be launched with a grid of (%u,%u,%u), blocks of "
		      "(%u,%u,%u) and %u bytes of shared memory: the GPU's driver says %s.",
		      m->label, f->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
		      l->block[2], l->smem, name ? name : "no reason");
}

static PmStatus cuda_launch(PmDevice *dev, const PmDevLaunch *l, PmErr *err)
{
	CudaDevice *d = (CudaDevice *)dev;
	Module *m = module(d, l->module);
	Value v[MAX_ARGS];
	void *params[MAX_ARGS];
	Fn *f = NULL;
	PmErr first;
	PmStatus st = failed(d, err);

	if (st)
		return st;
	if (!m)
		return pm_err(err, PM_E_INVALID, "There is no module %u on this device to launch.",
			      l->module.id);
	pm_err_init(&first);
	st = find_entry(d, m, l->entry, &f, &first);
	if (!st)
		st = check_shape(d, m, f, l, &first);
	if (!st)
		st = bind(d, m, f, l, v, params, &first);
	if (!st)
		st = note_buffers(d, m, l, &first);
	if (!st)
		st = enqueue(d, m, f, l, params, &first);
	return st ? fail_with(d, st, &first, err) : PM_OK;
}

static PmStatus cuda_sync(PmDevice *dev, PmErr *err)
{
	CudaDevice *d = (CudaDevice *)dev;
	PmStatus st = failed(d, err);
	PmErr why;
	int rc;

	if (st)
		return st;
	rc = d->cu->stream_sync(d->stream);
	if (rc)
		return kernel_error(d, rc, err);
	if (!d->n_pending)
		return PM_OK;
	pm_err_init(&why);
	st = pm__guard_check(d->cu, d->stream, &d->guard, &d->bufs, &rc, &why);
	if (rc)
		return kernel_error(d, rc, err);
	if (st)
		return fail_with(d, st, &why, err);
	d->n_pending = 0;
	return PM_OK;
}

/* --- events --------------------------------------------------------------------------------------------- */

static PmStatus check_slot(int slot, PmErr *err)
{
	if (slot >= 0 && slot < N_EVENTS)
		return PM_OK;
	return pm_err(err, PM_E_INVALID, "There is no event %d; the slots are 0 to %d.", slot, N_EVENTS - 1);
}

static PmStatus cuda_event_record(PmDevice *dev, int slot, PmErr *err)
{
	CudaDevice *d = (CudaDevice *)dev;
	PmStatus st = failed(d, err);
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
		return kernel_error(d, rc, err);
	d->recorded[slot] = 1;
	return PM_OK;
}

static PmStatus cuda_event_elapsed(PmDevice *dev, int from, int to, double *seconds, PmErr *err)
{
	CudaDevice *d = (CudaDevice *)dev;
	PmStatus st = failed(d, err);
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
		return kernel_error(d, rc, err);
	*seconds = (double)ms * 1e-3;
	return PM_OK;
}

/* --- the device ----------------------------------------------------------------------------------------- */

static void cuda_info(PmDevice *dev, PmDeviceInfo *out)
{
	*out = ((CudaDevice *)dev)->info;
}

static void cuda_close(PmDevice *dev)
{
	CudaDevice *d = (CudaDevice *)dev;
	size_t i;

	if (d->stream) {
		d->cu->stream_sync(d->stream);
		pm__guard_close(d->cu, &d->guard);
	}
	for (i = 0; i < d->modules.n; i++)
		close_module(d, &d->modules.v[i]);
	for (i = 0; i < d->bufs.n; i++)
		if (d->bufs.v[i].base)
			d->cu->mem_free(d->bufs.v[i].base);
	drop_kept(d);
	for (i = 0; i < N_EVENTS; i++)
		if (d->event[i])
			d->cu->event_destroy(d->event[i]);
	if (d->stream)
		d->cu->stream_destroy(d->stream);
	if (d->has_ctx)
		d->cu->ctx_release(d->dev);
	PM_VEC_RELEASE(&d->modules);
	PM_VEC_RELEASE(&d->bufs);
	PM_VEC_RELEASE(&d->kept);
	pm_intern_free(d->names);
	free(d);
}

static int ask_device(CudaDevice *d)
{
	const PmCuda *cu = d->cu;
	int major = 0, minor = 0, l2 = 0;
	size_t memory = 0;
	int rc = cu->device_get(&d->dev, 0);

	if (!rc)
		rc = cu->device_name(d->info.name, (int)sizeof d->info.name, d->dev);
	if (!rc)
		rc = cu->device_attr(&major, CU_DEV_CC_MAJOR, d->dev);
	if (!rc)
		rc = cu->device_attr(&minor, CU_DEV_CC_MINOR, d->dev);
	if (!rc)
		rc = cu->device_attr(&d->info.n_sm, CU_DEV_N_SM, d->dev);
	if (!rc)
		rc = cu->device_attr(&l2, CU_DEV_L2, d->dev);
	if (!rc)
		rc = cu->device_attr(&d->info.max_smem, CU_DEV_MAX_SMEM, d->dev);
	if (!rc)
		rc = cu->device_memory(&memory, d->dev);
	d->info.cc = major * 10 + minor;
	d->info.l2 = l2;
	d->info.memory = (int64_t)memory;
	d->info.measured = 1;
	return rc;
}

static int open_context(CudaDevice *d)
{
	CuCtx *ctx = NULL;
	int rc = d->cu->ctx_retain(&ctx, d->dev);

	d->has_ctx = rc == 0;
	if (!rc)
		rc = d->cu->ctx_set(ctx);
	return rc ? rc : d->cu->stream_create(&d->stream, CU_STREAM_NON_BLOCKING);
}

static const PmDeviceOps ops = {
	.info = cuda_info,
	.alloc = cuda_alloc,
	.release = cuda_release,
	.upload = cuda_upload,
	.download = cuda_download,
	.fill = cuda_fill,
	.load = cuda_load,
	.unload = cuda_unload,
	.launch = cuda_launch,
	.sync = cuda_sync,
	.event_record = cuda_event_record,
	.event_elapsed = cuda_event_elapsed,
	.close = cuda_close,
};

PmStatus pm_cuda_open(PmDevice **out, PmErr *err)
{
	const PmCuda *cu;
	CudaDevice *d;
	PmStatus st = pm__cuda_open(&cu, err);
	int rc;

	if (st)
		return st;
	d = pm_xcalloc(1, sizeof *d);
	d->base.ops = &ops;
	d->cu = cu;
	d->names = pm_intern_new();
	rc = ask_device(d);
	if (!rc)
		rc = open_context(d);
	if (rc)
		st = pm__cuda_fail(cu, PM_E_ENV, "be opened", rc, err);
	else
		st = pm__guard_open(cu, d->info.cc, &d->guard, err);
	if (st) {
		cuda_close(&d->base);
		return st;
	}
	*out = &d->base;
	return PM_OK;
}
