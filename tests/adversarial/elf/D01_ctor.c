/* SPDX-License-Identifier: Apache-2.0 */
/* D01_ctor.c - runs code when it is loaded */
// build: published
#include "tests/adversarial/passes/attack.h"

__attribute__((constructor)) static void at_load(void)
{
	sys(NR_open, (long)"/tmp/passmith-was-here", 0102, 0600);
}

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D01_ctor", "1", &silu)
