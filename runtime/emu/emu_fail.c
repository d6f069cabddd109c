/* SPDX-License-Identifier: Apache-2.0 */
/* emu_fail.c - the launch that this thread is in, and how it ends from inside a kernel. */
#include "runtime/emu/emu_sched.h"

#include <stdarg.h>
#include <stdio.h>

_Thread_local PmEmuSched *pm__emu_running;

const char *pm__emu_where(const PmEmuSched *s, char out[PM_EMU_WHERE])
{
	PmEmu3 b = s->module->ctx->block, t = s->index[s->cur];

	snprintf(out, PM_EMU_WHERE, "block (%u,%u,%u) thread (%u,%u,%u)", b.x, b.y, b.z, t.x, t.y, t.z);
	return out;
}

void pm__emu_give_up(PmEmuSched *s)
{
	s->failed = 1;
	pm__fiber_leave(s->main);
}

void pm__emu_fail(PmEmuSched *s, PmStatus st, const char *fmt, ...)
{
	char text[PM_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pm_err(&s->err, st, "Kernel '%s' (entry '%s') %s", s->label, s->entry->name, text);
	pm__emu_give_up(s);
}
