/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose.c - kernels compiled for what the compiler says. */
#include "runtime/worker/diagnose.h"

#include "base/core/arena.h"
#include "base/sandbox/sandbox.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/cuda/nvrtc/nvrtc_box.h"
#include "runtime/emu/emu_priv.h"

#include <stdlib.h>

enum { ARCH = 90 }; /* what a run on emu is judged for */

static void close_off(void)
{
	pm_sandbox_enter_compiler();
}

static PmStatus by_nvrtc(const PmSource *s, size_t n, PmKernelLog *out, PmErr *err)
{
	PmBoxOpts o = { .cc = ARCH, .enter = close_off, .whole_log = 1, .seconds = 30 };
	PmBoxed *b = pm_xcalloc(n + 1, sizeof *b);
	PmStatus st = pm_nvrtc_boxed(s, n, &o, b, err);

	for (size_t i = 0; i < n; i++) {
		out[i].st = b[i].st;
		if (b[i].st && b[i].ptx.len)
			pm_str_addn(&out[i].text, b[i].ptx.s, b[i].ptx.len);
		else if (b[i].st)
			pm_str_add(&out[i].text, b[i].why);
		pm_boxed_release(&b[i]);
	}
	free(b);
	return st;
}

static PmStatus by_emu(const PmSource *s, size_t n, PmKernelLog *out, PmStr *by, PmErr *err)
{
	PmEmuBuilder b;
	PmStatus st = pm__emu_builder_open(&b, PM_EMU_PRINT, err);

	if (st)
		return st;
	pm_str_addf(by, "%s for emu", b.cxx.s);
	for (size_t i = 0; i < n && !st; i++)
		st = pm__emu_say(&b, &s[i], &out[i].st, &out[i].text, err);
	pm__emu_builder_close(&b);
	return st;
}

PmStatus pm_kernel_diagnose(const PmSource *s, size_t n, PmStr *by, PmKernelLog *out, PmErr *err)
{
	PmStr version = PM_STR_INIT;
	PmStatus st;

	for (size_t i = 0; i < n; i++) {
		out[i].st = PM_OK;
		pm_str_init(&out[i].text);
	}
	pm_str_clear(by);
	if (!pm_nvrtc_version(&version, NULL)) {
		pm_str_addf(by, "NVRTC %s", version.s);
		st = by_nvrtc(s, n, out, err);
	} else {
		st = by_emu(s, n, out, by, err);
	}
	pm_str_release(&version);
	return st;
}
