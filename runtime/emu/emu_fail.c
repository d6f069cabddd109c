/* SPDX-License-Identifier: Apache-2.0 */
/* emu_fail.c - the launch that this thread is in, and how it ends from inside a kernel. */
#include "runtime/emu/emu_priv.h"

#include <stdarg.h>
#include <stdio.h>

_Thread_local PmEmuRun *pm__emu_current;

const char *pm__emu_where(const PmEmuRun *r, char out[PM_EMU_WHERE])
{
	PmEmu3 b = r->module->ctx->block, t = r->index[r->cur];

	snprintf(out, PM_EMU_WHERE, "block (%u,%u,%u) thread (%u,%u,%u)", b.x, b.y, b.z, t.x, t.y, t.z);
	return out;
}

void pm__emu_give_up(PmEmuRun *r)
{
	r->failed = 1;
	pm__fiber_leave(r->main);
}

void pm__emu_fail(PmEmuRun *r, PmStatus st, const char *fmt, ...)
{
	char text[PM_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pm_err(&r->err, st, "Kernel '%s' (entry '%s') %s", r->label, r->entry->name, text);
	pm__emu_give_up(r);
}
