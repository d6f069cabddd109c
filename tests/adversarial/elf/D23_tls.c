/* SPDX-License-Identifier: Apache-2.0 */
/* D23_tls.c - keeps thread-local state */
// build: published
#include "tests/adversarial/passes/attack.h"

static __thread int counter = 42;

int tick(void);
int tick(void)
{
	return counter++;
}

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D23_tls", "1", &silu)
