/* SPDX-License-Identifier: Apache-2.0 */
/* bad_rules.c - what lint finds, all of it in one report. Ends as REJECT_LINT. */
#include "passmith/dsl.h"

enum { A, B, C };

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	(void)rw;
	return pm_decline(m, "not reached");
}

static PmStatus region(PmRegion *r, PmVal seed)
{
	return pm_region_add(r, seed);
}

PM_RULE(root_is_alt, .pattern = ALT(OP(Relu, V(A)), OP(Tanh, V(A))), .rewrite = rewrite);
PM_RULE(arity, .pattern = OP(Add, V(A)), .rewrite = rewrite);
PM_RULE(arity_over, .pattern = OP(Relu, V(A), V(B)), .rewrite = rewrite);
PM_RULE(attribute, .pattern = WITH(OP(Relu, V(A)), INT(axis, 1)), .rewrite = rewrite);
PM_RULE(attribute_kind, .pattern = WITH(OP(Softmax, V(A)), FLOAT(axis, 1)), .rewrite = rewrite);
PM_RULE(required, .pattern = OP(Softmax, V(A)), .rewrite = rewrite);
PM_RULE(one_alt, .pattern = OP(Relu, ALT(OP(Add, V(A), V(B)), OP(Tanh, V(A)))), .rewrite = rewrite);
PM_RULE(unbound, .pattern = OP(Relu, V(C)), .n_slots = 3, .rewrite = rewrite);
PM_RULE(range, .pattern = OP(Add, V(A), V(B)), .n_slots = 1, .rewrite = rewrite);
PM_RULE(rest_first, .pattern = OP(Concat, REST, V(A)), .rewrite = rewrite);
PM_RULE(no_rewrite, .pattern = OP(Relu, V(A)));
PM_RULE(both, .pattern = OP(Relu, V(A)), .region = region, .rewrite = rewrite);
PM_RULE(neither, .rewrite = rewrite);
PM_RULE(as_of_var, .pattern = OP(Relu, AS(B, V(A))), .rewrite = rewrite);
static const PmRule again = {
	.struct_size = sizeof(PmRule), .name = "neither", .region = region, .rewrite = rewrite
};
static const PmPat typo = { .struct_size = sizeof(PmPat),
			    .kind = PM_PAT_OP,
			    .op = "Sigmiod",
			    .in = (const PmPat *const[]){ V(A), NULL } };
PM_RULE(misspelt, .pattern = &typo, .rewrite = rewrite);
static const PmRule unnamed = { .struct_size = sizeof(PmRule),
				.pattern = OP(Relu, V(A)),
				.rewrite = rewrite };
static const PmRule small = { .struct_size = 12 };

PM_PLUGIN("bad_rules", "1", &root_is_alt, &arity, &arity_over, &attribute, &attribute_kind, &required,
	  &one_alt, &unbound, &range, &rest_first, &no_rewrite, &both, &neither, &as_of_var, &again,
	  &misspelt, &unnamed, &small)
