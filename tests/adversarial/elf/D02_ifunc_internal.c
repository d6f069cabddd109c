/* SPDX-License-Identifier: Apache-2.0 */
/* D02_ifunc_internal.c - a resolver behind a hidden name, which runs while the object is relocated */
// build: published
#include "tests/adversarial/passes/attack.h"

static int plain(int x)
{
	return x;
}

static int (*resolve(void))(int)
{
	sys(NR_getpid, 0, 0, 0);
	return plain;
}

__attribute__((ifunc("resolve"), visibility("hidden"))) int chosen(int x);

int (*volatile keep)(int) = chosen;

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D02_ifunc_internal", "1", &silu)
