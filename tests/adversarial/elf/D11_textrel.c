/* SPDX-License-Identifier: Apache-2.0 */
/* D11_textrel.c - has addresses inside its code */
// build: published -Wl,-z,notext
#include "tests/adversarial/passes/attack.h"

__asm__(".text\n\t.quad passmith_plugin_v1\n");

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D11_textrel", "1", &silu)
