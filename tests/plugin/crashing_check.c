/* SPDX-License-Identifier: Apache-2.0 */
/* crashing_check.c - crashes in its check. */
#include "passmith/dsl.h"

enum { X };

static PmStatus check(PmMatch *m)
{
	volatile int *p = 0;

	return pm_numel(m->v[X]) > 0 ? *p : PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	(void)rw;
	return pm_decline(m, "never reached");
}

PM_RULE(crashing_check, .doc = "crashes in its check",
	.pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X))), .check = check, .rewrite = rewrite);

PM_PLUGIN("crashing_check", "1", &crashing_check)
