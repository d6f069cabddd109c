/* SPDX-License-Identifier: Apache-2.0 */
/* algebra.c - which graphs are worth less than they look. */
#include "app/model/algebra.h"

#include "bench/score/stratum.h"
#include "simplify/simplify.h"

static const double left_at_most = 0.9;

int pm_cli_is_algebraic(const PmGraph *g)
{
	PmGraph *clean = NULL;
	PmSimplifyReport report;
	PmStratum before, after;
	int algebraic = 0;

	if (pm_graph_clone(g, &clean, NULL))
		return 0;
	if (!pm_simplify(clean, NULL, &report, NULL) &&
	    report.rounds > 1 && /* the last round changes nothing */
	    !pm_stratum(g, &before, NULL) && !pm_stratum(clean, &after, NULL))
		algebraic = after.seconds < left_at_most * before.seconds;
	pm_graph_free(clean);
	return algebraic;
}
