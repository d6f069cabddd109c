/* SPDX-License-Identifier: Apache-2.0 */
/* never_matches.c - a well-formed pass whose pattern is in no graph. Ends as NO_MATCH. */
#include "passmith/dsl.h"

enum { X };

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	(void)rw;
	return pm_decline(m, "not reached");
}

PM_RULE(selu_of_selu, .pattern = OP(Selu, OP(Selu, OP(Selu, V(X)))), .rewrite = rewrite);

PM_PLUGIN("never_matches", "1", &selu_of_selu)
