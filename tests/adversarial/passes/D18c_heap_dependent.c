/* SPDX-License-Identifier: Apache-2.0 */
/* D18c_heap_dependent.c - the source depends on where the host's memory lies. */
#include "tests/adversarial/passes/attack.h"

static PmStatus by_heap(PmRewriter *rw, PmMatch *m)
{
	return emit_silu(rw, m, (uintptr_t)pm_alloc(64) >> 12 & 1 ? SRC : SRC + 1);
}

PM_RULE(silu, .pattern = SILU, .rewrite = by_heap);

PM_PLUGIN("D18c_heap_dependent", "1", &silu)
