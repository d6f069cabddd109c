/* SPDX-License-Identifier: Apache-2.0 */
/* A05_nothing.c - a rule that matches, says that it has rewritten, and has done nothing. */
#include "tests/adversarial/passes/attack.h"

static PmStatus nothing(PmRewriter *rw, PmMatch *m)
{
	(void)rw;
	(void)m;
	return PM_OK;
}

PM_RULE(does_nothing, .pattern = SILU, .rewrite = nothing);

PM_PLUGIN("nothing", "1", &does_nothing)
