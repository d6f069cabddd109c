/* SPDX-License-Identifier: Apache-2.0 */
/* stateful.c - passes that behave otherwise on a later graph: one rule each, named by its fixture. */
#include "tests/adversarial/passes/attack.h"

static int seen;

static PmStatus counting(PmRewriter *rw, PmMatch *m)
{
	return emit_silu(rw, m, seen++ < 2 ? SRC : SRC + 1);
}

static volatile int on = 1;

static PmStatus hang_on_ten(PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]); /* once: calls of the host are counted */

	while (n == 10 && on)
		;
	return PM_OK;
}

PM_RULE(D24_static_counter, .pattern = SILU, .rewrite = counting);
PM_RULE(D19b_hang_on_3rd_graph, .pattern = SILU, .check = hang_on_ten, .rewrite = honest);

PM_PLUGIN("stateful", "1", &D24_static_counter, &D19b_hang_on_3rd_graph)
