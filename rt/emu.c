/* SPDX-License-Identifier: Apache-2.0 */
/* emu.c - the device "emu": kernels compiled for this CPU, run by the thread that asks. */
#include "rt/rt_priv.h"

#include "base/core/arena.h"
#include "base/core/elf.h"
#include "runtime/emu/include/emu_abi.h"
#include "runtime/host/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16 }; /* that plans for this device take for granted */

/* Kinds of arguments have the numbers of the emulated device's parameters. */
_Static_assert((int)PM_RTF_BUF == PM_EMU_POINTER && (int)PM_RTF_I64 == PM_EMU_INT64 &&
		       (int)PM_RTF_I32 == PM_EMU_INT32 && (int)PM_RTF_F32 == PM_EMU_FLOAT &&
		       (int)PM_RTF_F64 == PM_EMU_DOUBLE,
	       "kinds of arguments are those of emu_abi.h");

typedef struct Emu {
	PmHostModule **module; /* owned; by unit; NULL where none is needed */
	unsigned char *kinds;  /* owned; by argument */
	void **moved;          /* owned; by constant: a copy of it where it is not aligned */
} Emu;

static const PmRtfImage *image_of(const PmRtPackage *p, size_t unit, int *foreign)
{
	for (size_t i = 0; i < p->n_image; i++) {
		const PmRtfImage *m = &p->image[i];

		if (m->unit != unit || m->form != PM_RTF_EMU)
			continue;
		if (m->host == PM_ELF_NATIVE)
			return m;
		*foreign = 1;
	}
	return NULL;
}

static PmStatus load(PmRtModel *m, Emu *e, size_t unit, PmErr *err)
{
	const PmRtPackage *p = &m->pk;
	const char *label = pm_package_text(p, p->unit[unit].label);
	int foreign = 0;
	const PmRtfImage *image = image_of(p, unit, &foreign);

	if (!image)
		return pm_err(err, PM_E_ENV,
			      "%s has no kernel '%.120s' for %s; compile it with --arch emu on a machine "
			      "like this one.",
			      m->path, label, foreign ? "this kind of processor" : "the device emu");
	return pm_host_load(p->code + image->offset, (size_t)image->bytes, label, &e->module[unit], err);
}

static PmStatus place_constants(PmRtModel *m, Emu *e, PmErr *err)
{
	for (size_t i = 0; i < m->pk.n_constant; i++) {
		const void *p = pm_rt_constant(m, i);
		uint64_t n = m->pk.constant[i].bytes;
		PmStatus st;

		if ((uintptr_t)p % ALIGN) { /* of a file that is not ours */
			st = pm_rt_take(n, &e->moved[i], err);
			if (st)
				return st;
			memcpy(e->moved[i], p, (size_t)n);
			p = e->moved[i];
		}
		m->constant[i] = (PmRtAddress)(uintptr_t)p;
	}
	return PM_OK;
}

static PmStatus emu_open(PmRtModel *m, int ordinal, PmErr *err)
{
	const PmRtPackage *p = &m->pk;
	Emu *e = pm_xcalloc(1, sizeof *e);
	PmStatus st = PM_OK;

	(void)ordinal;
	m->own = e;
	snprintf(m->device_name, sizeof m->device_name, "emu");
	e->module = pm_xcalloc(p->n_unit + 1, sizeof *e->module);
	e->kinds = pm_xcalloc(p->n_arg + 1, 1);
	e->moved = pm_xcalloc(p->n_constant + 1, sizeof *e->moved);
	for (size_t i = 0; i < p->n_arg; i++)
		e->kinds[i] = (unsigned char)p->arg[i].kind;
	for (size_t i = 0; i < p->n_step && !st; i++)
		if (!e->module[p->step[i].unit])
			st = load(m, e, p->step[i].unit, err);
	return st ? st : place_constants(m, e, err);
}

static void emu_close(PmRtModel *m)
{
	Emu *e = m->own;

	if (!e)
		return;
	for (size_t i = 0; i < m->pk.n_unit; i++)
		if (e->module[i])
			pm_host_unload(e->module[i]);
	for (size_t i = 0; i < m->pk.n_constant; i++)
		free(e->moved[i]);
	free(e->module);
	free(e->kinds);
	free(e->moved);
	free(e);
}

static PmStatus emu_session_new(PmRtSession *s, PmErr *err)
{
	(void)s, (void)err;
	return PM_OK;
}

static void emu_session_free(PmRtSession *s)
{
	(void)s;
}

static PmStatus emu_alloc(PmRtSession *s, uint64_t bytes, PmRtAddress *out, PmErr *err)
{
	void *p = NULL;
	PmStatus st = pm_rt_take(bytes, &p, err);

	(void)s;
	*out = (PmRtAddress)(uintptr_t)p;
	return st;
}

static void emu_release(PmRtSession *s, PmRtAddress p)
{
	(void)s;
	free((void *)(uintptr_t)p);
}

static PmStatus emu_enter(PmRtSession *s, void *stream, PmErr *err)
{
	(void)s, (void)stream, (void)err;
	return PM_OK;
}

static void emu_leave(PmRtSession *s)
{
	(void)s;
}

static PmStatus emu_copy_in(PmRtSession *s, PmRtAddress to, const void *from, PmRtPlace place, uint64_t n,
			    PmErr *err)
{
	(void)s, (void)place, (void)err;
	memcpy((void *)(uintptr_t)to, from, (size_t)n);
	return PM_OK;
}

static PmStatus emu_copy_out(PmRtSession *s, void *to, PmRtPlace place, PmRtAddress from, uint64_t n,
			     PmErr *err)
{
	(void)s, (void)place, (void)err;
	memcpy(to, (const void *)(uintptr_t)from, (size_t)n);
	return PM_OK;
}

static PmStatus emu_launch(const PmRtRun *r, PmErr *err)
{
	const PmRtPackage *p = &r->s->m->pk;
	const PmRtfShape *shape = &p->shape[r->shape];
	const Emu *e = r->s->m->own;
	size_t arg = 0;
	PmStatus st = PM_OK;

	for (uint32_t i = 0; i < shape->n_steps && !st; i++) {
		const PmRtfStep *step = &p->step[shape->first_step + i];
		PmHostLaunch l = { .entry = pm_package_text(p, step->entry),
				   .grid = { step->grid[0], step->grid[1], step->grid[2] },
				   .block = { step->block[0], step->block[1], step->block[2] },
				   .smem = step->smem,
				   .args = r->ready->params + arg,
				   .kinds = e->kinds + step->first_arg,
				   .n_args = (int)step->n_args };

		arg += step->n_args;
		st = pm_host_launch(e->module[step->unit], &l, err);
	}
	return st;
}

static PmStatus emu_wait(PmRtSession *s, PmErr *err)
{
	(void)s, (void)err;
	return PM_OK;
}

const PmRtDevice pm_rt_emu = {
	.name = "emu",
	.align = ALIGN,
	.on_host = 1,
	.open = emu_open,
	.close = emu_close,
	.session_new = emu_session_new,
	.session_free = emu_session_free,
	.alloc = emu_alloc,
	.release = emu_release,
	.enter = emu_enter,
	.leave = emu_leave,
	.copy_in = emu_copy_in,
	.copy_out = emu_copy_out,
	.launch = emu_launch,
	.wait = emu_wait,
};
