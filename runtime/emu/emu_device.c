/* SPDX-License-Identifier: Apache-2.0 */
/* emu_device.c - the device interface of the emulated device, and what it says about faults. */
#include "runtime/emu/emu_count.h"
#include "runtime/emu/emu_priv.h"

#include "base/sandbox/sandbox.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "base/sys/proc.h"
#include "runtime/device/input_pool.h"
#include "runtime/device/limits.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

enum { N_EVENTS = 256, MAX_HANDLES = 1 << 24, GAPS = 64 };

typedef struct Module {
	char *path, *label; /* of the compiled kernel; NULL = not in use */
	void *so;           /* NULL = not opened yet */
	const PmEmuModule *m;
	PmEmuRaces *races;     /* NULL = its accesses are not watched */
	PmEmuCounter *counter; /* NULL = it is not counted */
	PmStr object;          /* its bytes, where it is to be counted */
	char code[PM_CHAIN_HEX];
} Module;

typedef struct EmuDevice {
	PmDevice base;
	PmEmuBuilder builder;
	PmEmuSignals signals;
	PmEmuRun *run;
	PmEmuBuf dyn;          /* room for the largest dynamic shared memory; it always ends at the guard */
	PM_VEC(PmEmuBuf) bufs; /* handle id - 1 */
	PM_VEC(Module) modules;
	double event[N_EVENTS];
	uint64_t n_launches;
	uint64_t layout, n_placed; /* of emu_layout; buffers made since */
	PmSampled sampled;
	int shut;     /* this process has shut itself in, and unloads no code */
	PmErr failed; /* the first kernel error; code 0 = none */
} EmuDevice;

/* --- buffers ---------------------------------------------------------------------------------------------
 */

static PmEmuBuf *buf(EmuDevice *d, PmBuf b)
{
	if (b.id == 0 || b.id > d->bufs.n || !d->bufs.v[b.id - 1].map)
		return NULL;
	return &d->bufs.v[b.id - 1];
}

static PmStatus alloc(PmDevice *dev, int64_t bytes, PmBufUse use, int guarded, PmBuf *out, PmErr *err)
{
	EmuDevice *d = (EmuDevice *)dev;
	PmEmuBuf b = { 0 };
	unsigned gap = 0;
	PmStatus rc;
	size_t i;

	if (d->layout) {
		uint64_t h = pm_mix64((d->layout >> 1) + 0x9e3779b97f4a7c15u * ++d->n_placed);

		guarded = (int)((h ^ d->layout) & 1);
		gap = (unsigned)(h >> 1 & (GAPS - 1));
	}
	rc = pm__emu_buf_new(bytes, use, guarded, gap, &b, err);
	if (rc)
		return rc;
	PM_VEC_PUT(&d->bufs, .map, b, i);
	out->id = (uint32_t)i + 1;
	return PM_OK;
}

static PmStatus emu_alloc(PmDevice *dev, int64_t bytes, PmBufUse use, PmBuf *out, PmErr *err)
{
	return alloc(dev, bytes, use, 0, out, err);
}

static PmStatus emu_alloc_guarded(PmDevice *dev, int64_t bytes, PmBufUse use, PmBuf *out, PmErr *err)
{
	return alloc(dev, bytes, use, 1, out, err);
}

static void emu_layout(PmDevice *dev, uint64_t secret)
{
	EmuDevice *d = (EmuDevice *)dev;

	d->layout = secret;
	d->n_placed = 0;
}

static PmStatus emu_mend(PmDevice *dev, PmErr *err)
{
	EmuDevice *d = (EmuDevice *)dev;

	for (size_t i = 0; i < d->bufs.n; i++) {
		const PmEmuBuf *b = &d->bufs.v[i];
		int64_t at = b->map && !b->locked ? pm__emu_buf_damage(b) : 0;

		if (at)
			return pm_err(err, PM_E_OOB,
				      "A kernel wrote %s of buffer %zu (%lld bytes) at byte %lld; it was "
				      "found after the call.",
				      at < 0 ? "before the start" : "past the end", i + 1,
				      (long long)b->bytes, (long long)at);
	}
	return PM_OK;
}

static void emu_release(PmDevice *dev, PmBuf b)
{
	PmEmuBuf *p = buf((EmuDevice *)dev, b);

	if (p)
		pm__emu_buf_free(p);
}

/* The buffer of a range that the program itself copies. */
static PmStatus range(EmuDevice *d, PmBuf b, int64_t offset, int64_t n, const char *what, PmEmuBuf **out,
		      PmErr *err)
{
	*out = buf(d, b);
	return pm_device_range(b, *out ? (*out)->bytes : -1, offset, n, what, err);
}

static PmStatus emu_upload(PmDevice *dev, PmBuf b, int64_t offset, const void *src, int64_t n, PmErr *err)
{
	PmEmuBuf *p;
	PmStatus rc = range((EmuDevice *)dev, b, offset, n, "write", &p, err);

	if (!rc)
		rc = pm__emu_buf_lock(p, 0, err);
	if (!rc && n)
		memcpy(p->p + offset, src, (size_t)n);
	return rc;
}

static PmStatus emu_download(PmDevice *dev, PmBuf b, int64_t offset, void *dst, int64_t n, PmErr *err)
{
	PmEmuBuf *p;
	PmStatus rc = range((EmuDevice *)dev, b, offset, n, "read", &p, err);

	if (!rc && n)
		memcpy(dst, p->p + offset, (size_t)n);
	return rc;
}

static PmStatus emu_fill(PmDevice *dev, PmBuf b, int64_t offset, int64_t n, uint32_t pattern, PmErr *err)
{
	PmEmuBuf *p;
	PmStatus rc = range((EmuDevice *)dev, b, offset, n, "fill", &p, err);
	int64_t i;

	if (!rc)
		rc = pm__emu_buf_lock(p, 0, err);
	if (rc)
		return rc;
	((EmuDevice *)dev)->run->fresh = pattern;
	for (i = 0; i + 4 <= n; i += 4)
		memcpy(p->p + offset + i, &pattern, 4);
	memcpy(p->p + offset + i, &pattern, (size_t)(n - i));
	return PM_OK;
}

static PmStatus emu_copy(PmDevice *dev, PmBuf to, int64_t to_offset, PmBuf from, int64_t from_offset,
			 int64_t n, PmErr *err)
{
	PmEmuBuf *a, *b;
	PmStatus rc = range((EmuDevice *)dev, to, to_offset, n, "write", &a, err);

	if (!rc)
		rc = range((EmuDevice *)dev, from, from_offset, n, "read", &b, err);
	if (!rc)
		rc = pm__emu_buf_lock(a, 0, err);
	if (!rc)
		rc = pm__emu_buf_lock(b, 0, err);
	if (!rc && n)
		memmove(a->p + to_offset, b->p + from_offset, (size_t)n);
	return rc;
}

static PmStatus emu_draw(PmDevice *dev, PmBuf to, int64_t n, int dtype, PmBuf table, uint64_t base,
			 PmErr *err)
{
	int64_t size = (int64_t)pm_dtype_size(dtype);
	PmEmuBuf *a, *b;
	PmStatus rc = range((EmuDevice *)dev, to, 0, n * size, "write", &a, err);

	if (!rc)
		rc = range((EmuDevice *)dev, table, 0, PM_BANK_TABLE * size, "read", &b, err);
	if (!rc)
		rc = pm__emu_buf_lock(a, 0, err);
	if (!rc)
		pm_input_pool_draw(a->p, n, dtype, b->p, base);
	return rc;
}

/* --- modules ---------------------------------------------------------------------------------------------
 */

static Module *module(EmuDevice *d, PmModule m)
{
	if (m.id == 0 || m.id > d->modules.n || !d->modules.v[m.id - 1].path)
		return NULL;
	return &d->modules.v[m.id - 1];
}

/* Asks the compiled kernel what is in it: the first code of it that runs. */
static PmStatus ask_module(Module *m, PmErr *err)
{
	m->m = pm__emu_module_of(m->so);
	if (!m->m)
		return pm_err(
			err, PM_E_IO,
			"The compiled kernel '%s' is not one of this version; remove \"%s\" and try again.",
			m->label, m->path);
	m->races = pm__emu_races_new(m->so, m->m);
	m->counter = pm__emu_counter_new(m->so, m->object.s, m->object.len);
	return m->races ? PM_OK : pm__emu_module_check(m->m, m->label, err);
}

static PmStatus open_module(Module *m, PmErr *err)
{
	PmStatus st;

	if (m->so)
		return PM_OK;
	m->so = dlopen(m->path, RTLD_NOW | RTLD_LOCAL);
	if (!m->so)
		return pm_err(err, PM_E_IO,
			      "Cannot load the compiled kernel '%s' (%s); remove \"%s\" and try again.",
			      m->label, dlerror(), m->path);
	st = ask_module(m, err);
	if (st) {
		dlclose(m->so);
		m->so = NULL;
	}
	return st;
}

static void close_module(const EmuDevice *d, Module *m)
{
	pm__emu_races_free(m->races);
	pm__emu_counter_free(m->counter);
	pm_str_release(&m->object);
	if (m->so && !d->shut)
		dlclose(m->so);
	free(m->label);
	free(m->path);
	memset(m, 0, sizeof *m);
}

static PmStatus less_layers(unsigned missing, PmErr *err)
{
	PmStr lost = PM_STR_INIT;
	PmStatus st;

	pm_sandbox_lost(missing, &lost);
	st = pm_err(
		err, PM_E_ENV,
		"The sandbox of this process has less layers than this machine offered before: it lacks %s. "
		"Run passmith doctor.",
		lost.s);
	pm_str_release(&lost);
	return st;
}

/* The compiled kernels are opened inside, where asking them cannot hurt; opening alone runs nothing of them
 * (emu_object.c). Buffers lie elsewhere in every such process. */
static PmStatus emu_shut(PmDevice *dev, int serving, PmErr *err)
{
	EmuDevice *d = (EmuDevice *)dev;
	const char **files = pm_xcalloc(d->modules.n + 1, sizeof *files);
	uint16_t gap = 0;
	PmStatus st = PM_OK;
	unsigned layers;
	size_t n = 0;

	for (size_t i = 0; i < d->modules.n; i++)
		if (d->modules.v[i].path && !d->modules.v[i].so)
			files[n++] = d->modules.v[i].path;
	if (getrandom(&gap, sizeof gap, 0) == sizeof gap)
		mmap(NULL, (size_t)(gap + 1) << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		     -1, 0);
	layers = pm_sandbox_load(files, serving);
	for (size_t i = 0; i < d->modules.n && !st; i++)
		if (d->modules.v[i].path)
			st = open_module(&d->modules.v[i], err);
	layers = pm_sandbox_close(layers, serving);
	if (!st && pm_sandbox_required_kernels() & ~layers)
		st = less_layers(pm_sandbox_required_kernels() & ~layers, err);
	d->shut = 1;
	free(files);
	return st;
}

static void emu_unload(PmDevice *dev, PmModule m)
{
	Module *p = module((EmuDevice *)dev, m);

	if (p)
		close_module((EmuDevice *)dev, p);
}

static void emu_code(PmDevice *dev, PmModule m, char hex[PM_CHAIN_HEX])
{
	const Module *p = module((EmuDevice *)dev, m);

	snprintf(hex, PM_CHAIN_HEX, "%s", p ? p->code : "");
}

static PmStatus digest_code(Module *m, PmErr *err)
{
	PmMap map;
	PmStatus st = pm_map_file(m->path, &map, err);

	if (st)
		return st;
	pm_chain_hex(m->code, map.p, map.n);
	pm_unmap(&map);
	return PM_OK;
}

static PmStatus load_one(EmuDevice *d, const PmSource *s, PmModule *out, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	Module m = { .object = PM_STR_INIT };
	PmStatus rc = pm__emu_build(&d->builder, s, &path, err);
	size_t i;

	if (!rc) {
		m.label = pm_xstrdup(s->label);
		m.path = pm_xstrdup(path.s);
		rc = digest_code(&m, err);
		if (!rc && pm_counts_of_source(d->base.counts, s->source))
			rc = pm_read_file(m.path, 0, &m.object, err);
	}
	pm_str_release(&path);
	if (rc) {
		close_module(d, &m);
		return rc;
	}
	PM_VEC_PUT(&d->modules, .path, m, i);
	out->id = (uint32_t)i + 1;
	return PM_OK;
}

static PmStatus emu_load(PmDevice *dev, const PmSource *src, size_t n, PmModule *out, PmErr *err)
{
	EmuDevice *d = (EmuDevice *)dev;
	PmStatus rc = PM_OK;
	size_t i;

	if (n > 1)
		pm__emu_build_ahead(&d->builder, src, n, pm_cpu_count());
	for (i = 0; i < n && !rc; i++)
		rc = load_one(d, &src[i], &out[i], err);
	if (rc)
		for (i--; i-- > 0;)
			emu_unload(dev, out[i]);
	return rc;
}

/* --- faults ----------------------------------------------------------------------------------------------
 */

/* "read past the end of buffer 2 (argument 1, 4096 bytes) at byte 4100" */
static void describe_place(const PmEmuBuf *b, uint32_t id, int arg, const PmEmuFault *f, PmStr *out)
{
	const char *verb = f->write < 0 ? "accessed" : f->write ? "wrote" : "read";
	int64_t at = (const unsigned char *)f->addr - b->p;

	if (at >= b->bytes)
		pm_str_addf(out, "%s past the end of buffer %u (", verb, id);
	else if (at < 0)
		pm_str_addf(out, "%s before the start of buffer %u (", verb, id);
	else
		pm_str_addf(out, "%s buffer %u (", verb, id);
	if (arg >= 0)
		pm_str_addf(out, "argument %d, ", arg);
	pm_str_addf(out, "%lld bytes) at byte %lld", (long long)b->bytes, (long long)at);
}

/* PM_E_OOB, PM_E_MUTATED, or PM_DECLINED when the address belongs to no buffer. */
static PmStatus describe_buffers(EmuDevice *d, const PmDevLaunch *l, PmStr *out)
{
	const PmEmuFault *f = &d->run->fault;
	size_t i;
	int a;

	for (i = 0; i < d->bufs.n; i++) {
		PmEmuBuf *b = &d->bufs.v[i];
		int64_t at;

		if (!pm__emu_buf_covers(b, f->addr))
			continue;
		for (a = l->n_args - 1; a >= 0; a--)
			if (l->args[a].kind == PM_DARG_BUF && l->args[a].buf.id == i + 1)
				break;
		at = (const unsigned char *)f->addr - b->p;
		describe_place(b, (uint32_t)i + 1, a, f, out);
		return at >= 0 && at < b->bytes && b->locked ? PM_E_MUTATED : PM_E_OOB;
	}
	return PM_DECLINED;
}

static PmStatus describe_memory(EmuDevice *d, const PmDevLaunch *l, PmStr *out)
{
	const PmEmuFault *f = &d->run->fault;
	const char *verb = f->write < 0 ? "accessed" : f->write ? "wrote" : "read";
	size_t i;
	PmStatus st;

	if (f->wild) {
		pm_str_add(out, "used a misaligned vector access or an impossible address");
		return PM_E_DEVICE;
	}
	if ((uintptr_t)f->addr < 65536) {
		pm_str_addf(out, "%s through a null pointer (address %p)", verb, f->addr);
		return PM_E_DEVICE;
	}
	for (i = 0; i < d->run->s.fibers.n; i++) {
		if (pm__fiber_overflowed(d->run->s.fibers.v[i], f->addr)) {
			pm_str_addf(out, "overflowed a thread's stack of %d KiB", PM_FIBER_STACK / 1024);
			return PM_E_DEVICE;
		}
	}
	if (pm__emu_buf_covers(&d->dyn, f->addr)) {
		pm_str_addf(out, "%s outside its %u bytes of dynamic shared memory, at byte %lld", verb,
			    l->smem, (long long)((const unsigned char *)f->addr - d->run->s.dyn));
		return PM_E_OOB;
	}
	st = describe_buffers(d, l, out);
	if (st != PM_DECLINED)
		return st;
	pm_str_addf(out, "%s address %p, which belongs to no buffer", verb, f->addr);
	return PM_E_OOB;
}

static PmStatus describe_fault(EmuDevice *d, const PmDevLaunch *l, PmErr *err)
{
	const PmEmuFault *f = &d->run->fault;
	char where[PM_EMU_WHERE];
	PmStr what = PM_STR_INIT;
	PmStatus rc = PM_E_DEVICE;

	if (f->signal == SIGFPE)
		pm_str_add(&what, "divided an integer by zero");
	else if (f->signal == SIGILL)
		pm_str_add(&what, "ran into code that cannot be reached (undefined behaviour)");
	else
		rc = describe_memory(d, l, &what);
	rc = pm_err(err, rc, "Kernel '%s' (entry '%s') %s%s in %s.", d->run->s.label, l->entry, what.s,
		    rc == PM_E_MUTATED ? ", which it may only read," : "", pm__emu_where(&d->run->s, where));
	pm_str_release(&what);
	return rc;
}

/* --- launches --------------------------------------------------------------------------------------------
 */

static const char *const arg_names[] = { "a buffer", "i64", "i32", "f32", "f64" };
typedef union Value {
	void *p;
	int64_t i64;
	int32_t i32;
	float f32;
	double f64;
} Value;

static PmStatus bind(EmuDevice *d, const Module *m, const PmEmuEntry *e, const PmDevLaunch *l, Value *v,
		     void **args, PmErr *err)
{
	static const unsigned char want[] = { PM_EMU_POINTER, PM_EMU_INT64, PM_EMU_INT32, PM_EMU_FLOAT,
					      PM_EMU_DOUBLE };
	PmStatus rc;
	int i;

	rc = pm__emu_entry_count(e, m->label, l->n_args, err);
	if (rc)
		return rc;
	for (i = 0; i < l->n_args; i++) {
		const PmDevArg *a = &l->args[i];
		PmEmuBuf *b;

		args[i] = &v[i];
		if (a->kind > PM_DARG_F64 || want[a->kind] != e->kind[i])
			return pm_err(
				err, PM_E_DEVICE,
				"Kernel '%s' (entry '%s'): parameter %d is %s, but the launch gives %s.",
				m->label, e->name, i, pm__emu_kind_name(e->kind[i]),
				a->kind > PM_DARG_F64 ? "an unknown kind" : arg_names[a->kind]);
		switch (a->kind) {
		case PM_DARG_BUF:
			b = buf(d, a->buf);
			if (!b || a->offset < 0 || a->offset > b->bytes)
				return pm_err(
					err, PM_E_INVALID,
					"Kernel '%s' (entry '%s'): argument %d is byte %lld of buffer %u, "
					"which does not exist or is smaller.",
					m->label, e->name, i, (long long)a->offset, a->buf.id);
			v[i].p = b->p + a->offset;
			break;
		case PM_DARG_I64:
			v[i].i64 = a->i;
			break;
		case PM_DARG_I32:
			if (a->i < INT32_MIN || a->i > UINT32_MAX)
				return pm_err(
					err, PM_E_DEVICE,
					"Kernel '%s' (entry '%s'): argument %d is %lld, which does not fit "
					"in 32 bits.",
					m->label, e->name, i, (long long)a->i);
			v[i].i32 = (int32_t)(uint32_t)a->i;
			break;
		case PM_DARG_F32:
			v[i].f32 = (float)a->f;
			break;
		default:
			v[i].f64 = a->f;
		}
	}
	return PM_OK;
}

/* What the launch may only read, and inputs always, become read-only; everything else writable. A buffer that
 * is given twice is writable when one of the two says so. */
static PmStatus protect(EmuDevice *d, const PmDevLaunch *l, PmErr *err)
{
	PmStatus rc = PM_OK;

	for (int writers = 0; writers < 2; writers++)
		for (int i = 0; !rc && i < l->n_args; i++) {
			PmEmuBuf *b = l->args[i].kind == PM_DARG_BUF ? buf(d, l->args[i].buf) : NULL;

			if (b && writers == !l->args[i].readonly)
				rc = pm__emu_buf_lock(b, b->use == PM_BUF_INPUT || l->args[i].readonly, err);
		}
	return rc;
}

static PmStatus check_damage(EmuDevice *d, const Module *m, const PmDevLaunch *l, PmErr *err)
{
	int i;

	for (i = 0; i < l->n_args; i++) {
		PmEmuBuf *b = l->args[i].kind == PM_DARG_BUF ? buf(d, l->args[i].buf) : NULL;
		int64_t at = b && !b->locked ? pm__emu_buf_damage(b) : 0;

		if (at < 0)
			return pm_err(
				err, PM_E_OOB,
				"Kernel '%s' (entry '%s') wrote before the start of buffer %u (argument %d, "
				"%lld bytes) at byte %lld.",
				m->label, l->entry, l->args[i].buf.id, i, (long long)b->bytes, (long long)at);
		if (at > 0)
			return pm_err(
				err, PM_E_OOB,
				"Kernel '%s' (entry '%s') wrote past the end of buffer %u (argument %d, %lld "
				"bytes) at byte %lld.",
				m->label, l->entry, l->args[i].buf.id, i, (long long)b->bytes, (long long)at);
	}
	return PM_OK;
}

static void begin_count(EmuDevice *d, const Module *m, const PmDevLaunch *l)
{
	d->run->counter = m->counter;
	if (!m->counter)
		return;
	pm__emu_count_begin(d->run, pm_counts_of_launch(d->base.counts, d->run->order),
			    pm_grid_blocks(l->grid), (int)(l->block[0] * l->block[1] * l->block[2]));
	for (int i = 0; i < l->n_args; i++)
		if (l->args[i].kind == PM_DARG_BUF)
			pm__emu_count_buffer(m->counter, buf(d, l->args[i].buf)->p,
					     buf(d, l->args[i].buf)->bytes);
}

static PmStatus execute(EmuDevice *d, const Module *m, const PmEmuEntry *e, const PmDevLaunch *l, void **args,
			PmErr *err)
{
	PmEmuRun *r = d->run;
	uint32_t rounded = (l->smem + PM_EMU_ALIGN - 1) / PM_EMU_ALIGN * PM_EMU_ALIGN;
	PmStatus rc;

	r->s.module = m->m;
	r->s.entry = e;
	r->s.args = args;
	r->s.label = m->label;
	r->smem = l->smem;
	r->s.dyn = d->dyn.p + d->dyn.bytes - rounded;
	r->order = d->n_launches++;
	r->n_chosen = pm_sampled_blocks(l->grid, &d->sampled, r->chosen);
	r->races = m->races;
	if (m->races)
		pm__emu_races_begin(m->races, r->s.dyn, l->smem);
	begin_count(d, m, l);
	pm__emu_signals_enter(&d->signals, r);
	rc = pm__emu_run(r, l->grid, l->block, err);
	pm__emu_signals_leave(&d->signals);
	if (m->counter)
		pm__emu_count_end(r, m->label);
	if (rc && r->fault.signal)
		rc = describe_fault(d, l, err);
	return rc ? rc : check_damage(d, m, l, err);
}

static PmStatus emu_launch(PmDevice *dev, const PmDevLaunch *l, PmErr *err)
{
	EmuDevice *d = (EmuDevice *)dev;
	Module *m = module(d, l->module);
	const PmEmuEntry *e = NULL;
	Value v[PM_EMU_MAX_ARGS];
	void *args[PM_EMU_MAX_ARGS];
	PmErr first;
	PmStatus rc;

	if (d->failed.code) {
		if (err)
			*err = d->failed;
		return d->failed.code;
	}
	if (!m)
		return pm_err(err, PM_E_INVALID, "There is no module %u on this device to launch.",
			      l->module.id);
	pm_err_init(&first);
	rc = open_module(m, &first);
	if (!rc)
		rc = pm__emu_entry_find(m->m, m->label, l->entry, &e, &first);
	if (!rc)
		rc = pm__emu_entry_shape(e, m->label, l->grid, l->block, l->smem,
					 m->races ? 0 : pm__emu_entry_shared(m->m),
					 &first); /* gaps count too */
	if (!rc)
		rc = bind(d, m, e, l, v, args, &first);
	if (!rc)
		rc = protect(d, l, &first);
	if (!rc)
		rc = execute(d, m, e, l, args, &first);
	if (rc) {
		d->failed = first;
		if (err)
			*err = first;
	}
	return rc;
}

static void emu_sample(PmDevice *dev, const PmSampled *s)
{
	((EmuDevice *)dev)->sampled = *s;
}

static PmStatus emu_sync(PmDevice *dev, PmErr *err)
{
	EmuDevice *d = (EmuDevice *)dev;

	if (d->failed.code && err)
		*err = d->failed;
	return d->failed.code;
}

/* --- the rest --------------------------------------------------------------------------------------------
 */

static PmStatus check_slot(int slot, PmErr *err)
{
	if (slot >= 0 && slot < N_EVENTS)
		return PM_OK;
	return pm_err(err, PM_E_INVALID, "There is no event %d; events are numbered 0 to %d.", slot,
		      N_EVENTS - 1);
}

static PmStatus emu_event_record(PmDevice *dev, int slot, PmErr *err)
{
	PmStatus rc = check_slot(slot, err);

	if (!rc)
		((EmuDevice *)dev)->event[slot] = pm_now();
	return rc;
}

static PmStatus emu_event_elapsed(PmDevice *dev, int from, int to, double *seconds, PmErr *err)
{
	EmuDevice *d = (EmuDevice *)dev;
	PmStatus rc = check_slot(from, err);

	if (!rc)
		rc = check_slot(to, err);
	if (!rc && (d->event[from] == 0 || d->event[to] == 0))
		rc = pm_err(err, PM_E_INVALID,
			    "Event %d was not recorded; record it before asking for a time.",
			    d->event[from] == 0 ? from : to);
	if (!rc)
		*seconds = d->event[to] - d->event[from];
	return rc;
}

static void emu_info(PmDevice *dev, PmDeviceInfo *out)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	(void)dev;
	memset(out, 0, sizeof *out);
	snprintf(out->name, sizeof out->name, "emu (host CPU)");
	out->cc = 90;
	out->n_sm = 1;
	out->memory = pages > 0 && page > 0 ? (int64_t)pages * page : 0;
	out->max_smem = PM_EMU_MAX_SMEM;
	out->max_scratch = PM_LIMIT_SCRATCH_EMU;
}

static void emu_close(PmDevice *dev)
{
	EmuDevice *d = (EmuDevice *)dev;
	size_t i;

	for (i = 0; i < d->modules.n; i++)
		close_module(d, &d->modules.v[i]);
	for (i = 0; i < d->bufs.n; i++)
		pm__emu_buf_free(&d->bufs.v[i]);
	PM_VEC_RELEASE(&d->modules);
	PM_VEC_RELEASE(&d->bufs);
	pm__emu_buf_free(&d->dyn);
	pm__emu_run_free(d->run);
	pm__emu_signals_close(&d->signals);
	pm__emu_builder_close(&d->builder);
	free(d->base.print);
	free(d->base.counts);
	free(d);
}

static const PmDeviceOps ops = {
	.info = emu_info,
	.alloc = emu_alloc,
	.alloc_guarded = emu_alloc_guarded,
	.layout = emu_layout,
	.mend = emu_mend,
	.release = emu_release,
	.upload = emu_upload,
	.download = emu_download,
	.fill = emu_fill,
	.copy = emu_copy,
	.draw = emu_draw,
	.load = emu_load,
	.unload = emu_unload,
	.code = emu_code,
	.launch = emu_launch,
	.sample = emu_sample,
	.sync = emu_sync,
	.event_record = emu_event_record,
	.event_elapsed = emu_event_elapsed,
	.close = emu_close,
	.shut = emu_shut,
};

static PmStatus open_device(PmEmuMode mode, PmDevice **out, PmErr *err)
{
	EmuDevice *d = pm_xcalloc(1, sizeof *d);
	PmStatus rc = pm__emu_builder_open(&d->builder, mode, err);

	d->base.ops = &ops;
	if (!rc)
		pm__emu_work_sweep();
	if (rc) {
		free(d);
		return rc;
	}
	d->run = pm__emu_run_new();
	if (mode == PM_EMU_COUNTS)
		d->builder.counts = d->base.counts = pm_xcalloc(1, sizeof *d->base.counts);
	if (mode == PM_EMU_PRINT)
		d->run->print = d->base.print = pm_xcalloc(1, sizeof *d->base.print);
	rc = pm__emu_buf_new(PM_EMU_MAX_SMEM, PM_BUF_SCRATCH, 1, 0, &d->dyn, err);
	if (!rc)
		rc = pm__emu_signals_open(&d->signals, err);
	if (rc) {
		emu_close(&d->base);
		return rc;
	}
	*out = &d->base;
	return PM_OK;
}

PmStatus pm_emu_open(PmDevice **out, PmErr *err)
{
	return open_device(PM_EMU_PLAIN, out, err);
}

PmStatus pm_emu_open_races(PmDevice **out, PmErr *err)
{
	return open_device(PM_EMU_RACES, out, err);
}

PmStatus pm_emu_open_print(PmDevice **out, PmErr *err)
{
	return open_device(PM_EMU_PRINT, out, err);
}

PmStatus pm_emu_open_counts(PmDevice **out, PmErr *err)
{
	return open_device(PM_EMU_COUNTS, out, err);
}
