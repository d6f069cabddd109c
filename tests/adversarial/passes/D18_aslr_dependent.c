/* SPDX-License-Identifier: Apache-2.0 */
/* D18_aslr_dependent.c - the source depends on where the plugin lies. */
#include "tests/adversarial/passes/attack.h"

static int here;

static PmStatus by_address(PmRewriter *rw, PmMatch *m)
{
	return emit_silu(rw, m, (uintptr_t)&here >> 12 & 1 ? SRC : SRC + 1);
}

PM_RULE(silu, .pattern = SILU, .rewrite = by_address);

PM_PLUGIN("D18_aslr_dependent", "1", &silu)
