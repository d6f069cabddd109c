/* SPDX-License-Identifier: Apache-2.0 */
/* D03_needed.c - brings another library along */
// build: published -Wl,--no-as-needed -lm
#include "tests/adversarial/passes/attack.h"

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D03_needed", "1", &silu)
