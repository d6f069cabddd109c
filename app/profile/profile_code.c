/* SPDX-License-Identifier: Apache-2.0 */
/* profile_code.c - from the sources of a plan to registers, shared memory and instructions. */
#include "app/profile/profile_code.h"

#include "app/profile/disassemble.h"

#include "base/sandbox/sandbox.h"
#include "integrity/cubin/cubin_gate.h"
#include "runtime/cuda/nvrtc/nvrtc_box.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 64, SECONDS = 60 };

static void close_off(void)
{
	pm_sandbox_enter_compiler();
}

/* 1 when a source is of a kernel that is reported. */
static int is_wanted(const PmProfileReport *r, size_t source)
{
	for (size_t i = 0; i < r->kernel.n; i++)
		if ((size_t)r->kernel.v[i].launch.source == source)
			return 1;
	return 0;
}

static void compile(PmProfileReport *r, const PmSource *src, size_t n)
{
	const PmBoxOpts box = { .cc = r->cc, .enter = close_off, .seconds = SECONDS };
	PmSource *s = pm_xcalloc(n + 1, sizeof *s);
	PmBoxed *b = pm_xcalloc(n + 1, sizeof *b);
	size_t *of = pm_xcalloc(n + 1, sizeof *of), k = 0;
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	for (size_t i = 0; i < n; i++)
		if (is_wanted(r, i)) {
			of[k] = i;
			s[k++] = src[i];
		}
	st = pm_nvrtc_boxed(s, k, &box, b, &why);
	for (size_t i = 0; i < k; i++) {
		PmProfileCode *c = &r->code.v[of[i]];

		if (st || b[i].st) {
			snprintf(c->why, sizeof c->why, "%s", st ? why.text : b[i].why);
		} else {
			pm_str_addn(&c->ptx, b[i].ptx.s, b[i].ptx.len);
			pm_str_addn(&c->cubin, b[i].cubin.s, b[i].cubin.len);
			if (!c->cubin.len)
				snprintf(c->why, sizeof c->why,
					 "NVRTC is older than sm_%d and made no machine code for it; install "
					 "a newer CUDA toolkit.",
					 r->cc);
		}
		pm_boxed_release(&b[i]);
	}
	free(of);
	free(b);
	free(s);
}

/* From sm_90 on the static bytes contain those that the system keeps for each block. */
static uint32_t of_author(const PmProfileReport *r, uint32_t shared)
{
	const PmArch *a = pm_arch(r->cc);
	uint32_t kept = a ? (uint32_t)a->shared_kept : 0;

	return r->cc >= 90 && shared >= kept ? shared - kept : shared;
}

static void read_kernel(const PmProfileReport *r, PmProfileKernel *k)
{
	static PmCubinKernel found[MAX_ENTRIES];
	const PmProfileCode *c = &r->code.v[k->launch.source];
	const PmArch *arch = pm_arch(r->cc);
	PmStr problems = PM_STR_INIT;
	const uint32_t *g = k->launch.grid, *b = k->launch.block;
	size_t n = 0;

	if (*c->why)
		return;
	pm_cubin_gate(c->cubin.s, c->cubin.len, NULL, 0, found, MAX_ENTRIES, &n, &problems);
	pm_str_release(&problems);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(found[i].name, k->launch.entry) != 0)
			continue;
		k->has_code = 1;
		k->registers = found[i].registers;
		k->local = found[i].local;
		k->shared = of_author(r, found[i].shared);
	}
	k->has_mix = k->has_code && pm_cubin_mix(c->cubin.s, c->cubin.len, k->launch.entry, &k->mix);
	k->has_occupancy = k->has_code && arch;
	if (k->has_occupancy)
		pm_occupancy(arch, r->n_sm, (int)(b[0] * b[1] * b[2]), (int)k->registers,
			     (int64_t)k->shared + k->launch.smem, (uint64_t)g[0] * g[1] * g[2],
			     &k->occupancy);
}

static void disassemble(PmProfileCode *c)
{
	PmErr why;

	pm_err_init(&why);
	if (c->cubin.len && pm__disassemble(&c->cubin, &c->sass, &why))
		snprintf(c->why_sass, sizeof c->why_sass, "%s", why.text);
}

void pm__profile_code(PmProfileReport *r, const PmProfileOpts *o)
{
	const PmSource *src;
	size_t n = pm_plan_sources(r->plan, &src);

	for (size_t i = 0; i < n; i++)
		PM_VEC_PUSH(
			&r->code,
			((PmProfileCode){ .ptx = PM_STR_INIT, .cubin = PM_STR_INIT, .sass = PM_STR_INIT }));
	compile(r, src, n);
	for (size_t i = 0; i < r->kernel.n; i++)
		read_kernel(r, &r->kernel.v[i]);
	for (size_t i = 0; o->listing && i < r->code.n; i++)
		disassemble(&r->code.v[i]);
}
