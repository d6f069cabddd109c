/* SPDX-License-Identifier: Apache-2.0 */
/* compile_units.c - the sources of all shapes, each compiled once for every architecture. */
#include "app/compile/compile_priv.h"

#include "base/core/arena.h"
#include "base/core/elf.h"
#include "runtime/cuda/cuda_ptx.h"
#include "runtime/cuda/library/lib_algo.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/cuda/nvrtc/nvrtc_images.h"

#include <stdlib.h>
#include <string.h>

uint32_t pm__unit(PmPackage *p, const PmSource *s, int around)
{
	PmUnit u = { *s, around };
	PmRtfUnit record;
	size_t i;

	for (i = 0; i < p->units.n; i++)
		if (p->units.v[i].source.type == s->type && p->units.v[i].around == around &&
		    !strcmp(p->units.v[i].source.source, s->source))
			return (uint32_t)i;
	record = (PmRtfUnit){ .label = pm__text(p, s->label), .around = (uint32_t)around };
	record.type = pm__onnx_type(s->type);
	record.mark = around ? pm_algo_mark() : 0;
	PM_VEC_PUSH(&p->units, u);
	PM_VEC_PUSH(&p->unit, record);
	return (uint32_t)i;
}

/* The kernels that algorithms of libraries have around the calls, for the types that calls have. */
static void add_around(PmPackage *p)
{
	for (size_t i = 0; i < p->call.n; i++)
		for (int t = 0; t < PM_N_DTYPES; t++)
			if (pm__onnx_type(t) == p->call.v[i].type) {
				PmSource s = { "lib_algo.cu", pm_algo_source(), (PmDType)t };

				pm__unit(p, &s, 1);
			}
}

static void add_image(PmPackage *p, size_t unit, uint32_t form, int cc, const char *bytes, size_t n)
{
	PmRtfImage m = { .unit = (uint32_t)unit, .form = form, .cc = (uint32_t)cc };

	while (p->code.len % PM_RTF_ALIGN)
		pm_str_addc(&p->code, '\0');
	m.host = form == PM_RTF_EMU ? PM_ELF_NATIVE : 0;
	m.offset = p->code.len;
	m.bytes = n;
	pm_str_addn(&p->code, bytes, n);
	PM_VEC_PUSH(&p->image, m);
}

static PmStatus compile_emu(PmPackage *p, size_t unit, PmErr *err)
{
	PmStr object = PM_STR_INIT;
	PmStatus st = pm_emu_object(&p->units.v[unit].source, &object, err);

	if (!st)
		add_image(p, unit, PM_RTF_EMU, 0, object.s, object.len);
	pm_str_release(&object);
	return st;
}

/* What a launch gives must be what the kernel takes: the driver does not look. */
static PmStatus check_args(const PmPackage *p, const PmRtfStep *s, const PmPtx *ptx, PmErr *err)
{
	static const PmPtxKind want[] = { [PM_RTF_BUF] = PTX_I64,
					  [PM_RTF_I64] = PTX_I64,
					  [PM_RTF_I32] = PTX_I32,
					  [PM_RTF_F32] = PTX_F32,
					  [PM_RTF_F64] = PTX_F64 };
	const char *label = p->text.s + s->label, *entry = p->text.s + s->entry;
	const PmPtxEntry *e = NULL;

	for (size_t i = 0; i < ptx->entries.n && !e; i++)
		if (!strcmp(ptx->entries.v[i].name, entry))
			e = &ptx->entries.v[i];
	if (!e)
		return pm_err(err, PM_E_INVALID, "Kernel '%s' has no entry '%s'.", label, entry);
	if (e->n_params != (int)s->n_args)
		return pm_err(
			err, PM_E_INVALID,
			"Kernel '%s' (entry '%s') has %d parameters, but the launch gives %u arguments.",
			label, entry, e->n_params, s->n_args);
	for (int i = 0; i < e->n_params; i++)
		if (e->kind[i] != want[p->arg.v[s->first_arg + (size_t)i].kind])
			return pm_err(err, PM_E_INVALID,
				      "Kernel '%s' (entry '%s'): parameter %d is of another type than the "
				      "argument that the "
				      "launch gives.",
				      label, entry, i);
	return PM_OK;
}

static PmStatus check_steps(const PmPackage *p, size_t unit, const char *text, PmErr *err)
{
	PmStatus st = PM_OK;
	PmPtx ptx;

	pm__ptx_read(text, &ptx);
	for (size_t i = 0; i < p->step.n && !st; i++)
		if (p->step.v[i].unit == unit)
			st = check_args(p, &p->step.v[i], &ptx, err);
	pm__ptx_release(&ptx);
	return st;
}

/* A unit that is being compiled. */
typedef struct Compiling {
	PmPackage *p;
	size_t unit;
} Compiling;

static PmStatus take_image(void *arg, const PmGpuImage *g, PmErr *err)
{
	const Compiling *c = arg;

	add_image(c->p, c->unit, g->is_ptx ? PM_RTF_PTX : PM_RTF_CUBIN, g->cc, g->bytes, g->n);
	return g->is_ptx && !c->p->units.v[c->unit].around ? check_steps(c->p, c->unit, g->bytes, err)
							   : PM_OK;
}

/* What caches lack is compiled by several processes. */
static PmStatus compile_ahead(PmPackage *p, PmErr *err)
{
	const PmCompileAsk *a = p->ask;
	PmSource *own = pm_xcalloc(p->units.n + 1, sizeof *own),
		 *all = pm_xcalloc(p->units.n + 1, sizeof *all);
	size_t n_own = 0;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < p->units.n; i++) {
		all[i] = p->units.v[i].source;
		if (!p->units.v[i].around)
			own[n_own++] = p->units.v[i].source;
	}
	if (a->emu)
		st = pm_emu_compile(own, n_own, a->jobs, err);
	for (size_t k = 0; k < a->n_cc && !st; k++)
		if (p->units.n > 1)
			pm_nvrtc_ahead(all, p->units.n, a->cc[k], a->jobs);
	free(own);
	free(all);
	return st;
}

PmStatus pm__units_compile(PmPackage *p, PmErr *err)
{
	const PmCompileAsk *a = p->ask;
	PmStatus st;

	if (a->n_cc)
		add_around(p);
	pm_watch_begin(&a->watch, "compiling", (int64_t)p->units.n);
	st = compile_ahead(p, err);
	for (size_t i = 0; i < p->units.n && !st; i++) {
		if (a->emu && !p->units.v[i].around)
			st = compile_emu(p, i, err);
		if (!st)
			st = pm_nvrtc_images(&p->units.v[i].source, a->cc, a->n_cc, take_image,
					     &(Compiling){ p, i }, err);
		pm_watch_step(&a->watch, p->units.v[i].source.label);
	}
	pm_watch_end(&a->watch);
	return st;
}
