/* SPDX-License-Identifier: Apache-2.0 */
/* D10b_execstack.c - wants a stack that can be executed */
// build: -nostdlib -nostartfiles -Wl,-z,now -Wl,-z,execstack -Wl,--build-id=none
#include "tests/adversarial/passes/attack.h"

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D10b_execstack", "1", &silu)
