/* SPDX-License-Identifier: Apache-2.0 */
/* D05c_df1_interpose.c - asks to be searched before other libraries */
// build: published -Wl,-z,interpose
#include "tests/adversarial/passes/attack.h"

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D05c_df1_interpose", "1", &silu)
