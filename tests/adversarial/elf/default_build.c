/* SPDX-License-Identifier: Apache-2.0 */
/* default_build.c - what gcc -shared makes without the published line */
// build:
#include "tests/adversarial/passes/attack.h"

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("default_build", "1", &silu)
