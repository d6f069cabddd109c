/* SPDX-License-Identifier: Apache-2.0 */
/* D03b_runpath.c - says where its libraries are to be searched */
// build: published -Wl,-rpath,$ORIGIN
#include "tests/adversarial/passes/attack.h"

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D03b_runpath", "1", &silu)
