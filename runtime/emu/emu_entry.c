/* SPDX-License-Identifier: Apache-2.0 */
/* emu_entry.c - what a compiled kernel offers, and whether a launch fits it. */
#include "runtime/emu/emu_sched.h"

#include "base/core/str.h"

#include <dlfcn.h>

const PmEmuModule *pm__emu_module_of(void *so)
{
	union {
		void *p;
		const PmEmuModule *(*fn)(void);
	} get;
	const PmEmuModule *m;

	get.p = dlsym(so, "pm_emu_module");
	m = get.p ? get.fn() : NULL;
	return m && m->abi == PM_EMU_ABI ? m : NULL;
}

int pm__emu_module_entries(const PmEmuModule *m)
{
	int n = 0;

	while (m->entries[n].name)
		n++;
	return n;
}

/* Static memory is known for the whole source: only when its kernels together are over, one is. */
PmStatus pm__emu_module_check(const PmEmuModule *m, const char *label, PmErr *err)
{
	size_t shared = (size_t)(m->shared_end - m->shared);
	int n = pm__emu_module_entries(m);

	if (shared <= (size_t)PM_EMU_MAX_STATIC * (size_t)(n > 1 ? n : 1))
		return PM_OK;
	return pm_err(err, PM_E_DEVICE,
		      "Kernel '%s' declares %zu bytes of static shared memory; a kernel may have %d (use "
		      "extern __shared__ and give the launch the size for up to %d).",
		      label, shared, PM_EMU_MAX_STATIC, PM_EMU_MAX_SMEM);
}

PmStatus pm__emu_entry_find(const PmEmuModule *m, const char *label, const char *name, const PmEmuEntry **out,
			    PmErr *err)
{
	PmStr known = PM_STR_INIT;
	const PmEmuEntry *e;
	PmStatus rc;

	for (e = m->entries; e->name; e++) {
		if (pm_str_eq(e->name, name)) {
			*out = e;
			return PM_OK;
		}
	}
	for (e = m->entries; e->name; e++)
		pm_str_addf(&known, "%s'%s'", known.len ? ", " : "", e->name);
	rc = pm_err(err, PM_E_DEVICE,
		    "Kernel '%s' has no entry '%s'; its extern \"C\" __global__ functions are: %s.", label,
		    name ? name : "", known.len ? known.s : "none");
	pm_str_release(&known);
	return rc;
}

size_t pm__emu_entry_shared(const PmEmuModule *m)
{
	return pm__emu_module_entries(m) > 1 ? 0 : (size_t)(m->shared_end - m->shared);
}

PmStatus pm__emu_entry_shape(const PmEmuEntry *e, const char *label, const uint32_t g[3], const uint32_t b[3],
			     uint32_t smem, size_t shared, PmErr *err)
{
	uint64_t n = (uint64_t)b[0] * b[1] * b[2];

	if (!g[0] || !g[1] || !g[2] || g[0] > 0x7fffffffu || g[1] > 65535 || g[2] > 65535)
		return pm_err(
			err, PM_E_LIMIT,
			"Kernel '%s' (entry '%s') is launched with a grid of (%u,%u,%u) blocks; each must be "
			"at least 1, and at most 2147483647, 65535, 65535.",
			label, e->name, g[0], g[1], g[2]);
	if (!b[0] || !b[1] || !b[2] || b[0] > 1024 || b[1] > 1024 || b[2] > 64 || n > PM_EMU_MAX_THREADS)
		return pm_err(err, PM_E_LIMIT,
			      "Kernel '%s' (entry '%s') is launched with blocks of (%u,%u,%u) threads; a "
			      "block has 1 to 1024 threads, at most 1024, 1024, 64 in each direction.",
			      label, e->name, b[0], b[1], b[2]);
	if (e->max_threads > 0 && n > (uint64_t)e->max_threads)
		return pm_err(err, PM_E_LIMIT,
			      "Kernel '%s' (entry '%s') is launched with %llu threads per block, but its "
			      "__launch_bounds__ say %d.",
			      label, e->name, (unsigned long long)n, e->max_threads);
	if (smem + shared > PM_EMU_MAX_SMEM)
		return pm_err(err, PM_E_LIMIT,
			      "Kernel '%s' (entry '%s') wants %zu bytes of shared memory (%zu static, %u "
			      "dynamic); a block has at most %d.",
			      label, e->name, smem + shared, shared, smem, PM_EMU_MAX_SMEM);
	return PM_OK;
}

PmStatus pm__emu_entry_count(const PmEmuEntry *e, const char *label, int n, PmErr *err)
{
	if (n == e->n_params && n <= PM_EMU_MAX_ARGS)
		return PM_OK;
	return pm_err(
		err, PM_E_DEVICE,
		"Kernel '%s' (entry '%s') has %d parameters, but the launch gives %d arguments (at most "
		"%d).",
		label, e->name, e->n_params, n, PM_EMU_MAX_ARGS);
}

const char *pm__emu_kind_name(int kind)
{
	static const char *const names[] = {
		"a pointer", "a 64-bit integer", "a 32-bit integer",
		"float",     "double",           "of a type that no argument has"
	};

	return names[kind >= 0 && kind < PM_EMU_OTHER ? kind : PM_EMU_OTHER];
}
