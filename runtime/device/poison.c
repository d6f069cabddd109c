/* SPDX-License-Identifier: Apache-2.0 */
/* poison.c - what outputs and scratch hold before a call. */
#include "runtime/device/poison.h"

static uint32_t pattern(PmPoisonKind kind, uint32_t r)
{
	return kind == PM_POISON_NAN ? 0x7fc07fc0u | (r & 0x803f803fu) : 0x3f003c00u | (r & 0x80ff83ffu);
}

PmPoisonKind pm_poison_kind(uint64_t bits)
{
	return bits >> 63 ? PM_POISON_NAN : PM_POISON_NUMBER;
}

uint32_t pm_poison(uint64_t bits)
{
	return pattern(pm_poison_kind(bits), (uint32_t)bits);
}

uint32_t pm_poison_other(uint64_t bits)
{
	return pattern(pm_poison_kind(bits) == PM_POISON_NAN ? PM_POISON_NUMBER : PM_POISON_NAN,
		       (uint32_t)(bits >> 31));
}
