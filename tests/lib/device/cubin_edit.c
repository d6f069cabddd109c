/* SPDX-License-Identifier: Apache-2.0 */
/* cubin_edit.c - see cubin_edit.h. Bits are moved one by one, unlike in integrity/cubin/sass.c. */
#include "tests/lib/device/cubin_edit.h"

#include "runtime/cuda/nvrtc/nvrtc.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

PmStr pm_cubin_make(const char *source, int cc)
{
	PmSource s = { "cubin", source, PM_F32 };
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (pm_nvrtc_version(&ptx, &err))
		pm_test_skip("%s", err.text);
	pm_str_clear(&ptx);
	if (pm_nvrtc_compile(&s, cc, &ptx, &cubin, &err))
		fail_msg("%s", err.text);
	pm_str_release(&ptx);
	return cubin;
}

PmStr pm_cubin_copy(const PmStr *cubin)
{
	PmStr copy = PM_STR_INIT;

	pm_str_addn(&copy, cubin->s, cubin->len);
	return copy;
}

Elf64_Shdr *pm_cubin_find(PmStr *cubin, const char *name)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)cubin->s;
	Elf64_Shdr *s = (Elf64_Shdr *)(void *)(cubin->s + h->e_shoff);

	for (int i = 0; i < h->e_shnum; i++)
		if (!strcmp(cubin->s + s[h->e_shstrndx].sh_offset + s[i].sh_name, name))
			return &s[i];
	return NULL;
}

Elf64_Shdr *pm_cubin_section(PmStr *cubin, const char *name)
{
	Elf64_Shdr *s = pm_cubin_find(cubin, name);

	if (!s)
		fail_msg("there is no section %s", name);
	return s;
}

uint8_t *pm_cubin_instruction(PmStr *cubin, int opcode, int n, size_t *at)
{
	const Elf64_Shdr *s = pm_cubin_section(cubin, ".text.k");

	for (*at = 0; *at + 16 <= s->sh_size; *at += 16) {
		uint8_t *p = (uint8_t *)cubin->s + s->sh_offset + *at;

		if ((opcode < 0 || pm_cubin_bits(p, 0, 12) == (uint64_t)opcode) && n-- == 0)
			return p;
	}
	return NULL;
}

uint64_t pm_cubin_bits(const uint8_t *p, int from, int count)
{
	uint64_t v = 0;

	for (int i = 0; i < count; i++)
		v |= (uint64_t)(p[(from + i) / 8] >> (from + i) % 8 & 1) << i;
	return v;
}

void pm_cubin_put(uint8_t *p, int from, int count, uint64_t value)
{
	for (int i = 0; i < count; i++) {
		p[(from + i) / 8] &= (uint8_t) ~(1u << (from + i) % 8);
		p[(from + i) / 8] |= (uint8_t)((value >> i & 1) << (from + i) % 8);
	}
}
