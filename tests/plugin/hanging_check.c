/* SPDX-License-Identifier: Apache-2.0 */
/* hanging_check.c - never returns from its check. */
#include "passmith/dsl.h"

enum { X };

static PmStatus check(PmMatch *m)
{
	volatile int wait = 1;

	while (wait)
		;
	(void)m;
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	(void)rw;
	return pm_decline(m, "never reached");
}

PM_RULE(hanging_check, .doc = "never returns from its check",
	.pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X))), .check = check, .rewrite = rewrite);

PM_PLUGIN("hanging_check", "1", &hanging_check)
