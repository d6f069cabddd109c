/* SPDX-License-Identifier: Apache-2.0 */
/* D02b_ifunc_export.c - a resolver behind an exported name, which runs when the name is looked up */
// build: published
#include "tests/adversarial/passes/attack.h"

static int plain(int x)
{
	return x;
}

static int (*resolve(void))(int)
{
	return plain;
}

__attribute__((ifunc("resolve"), visibility("default"))) int chosen(int x);

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D02b_ifunc_export", "1", &silu)
