/* SPDX-License-Identifier: Apache-2.0 */
/* E10_kernels.c - a rule on what rules leave, which would never be done. */
#include "tests/adversarial/passes/attack.h"

PM_RULE(pong, .pattern = OP(Kernel, V(X)), .rewrite = honest);

PM_PLUGIN("kernels", "1", &pong)
