/* algebra.c - which graphs are worth less than they look. */
#include "cli/algebra.h"

#include "bench/stratum.h"
#include "simplify/simplify.h"

static const double left_at_most = 0.9;

PmStatus pm_cli_algebraic(const PmGraph *g, int *algebraic, PmErr *err)
{
	PmGraph *clean = NULL;
	PmSimplifyReport report;
	PmStratum before, after;
	PmStatus st = pm_graph_clone(g, &clean, err);

	*algebraic = 0;
	if (!st)
		st = pm_simplify(clean, NULL, &report, err);
	if (!st && report.rounds > 1) { /* the last round changes nothing */
		st = pm_stratum(g, &before, err);
		if (!st)
			st = pm_stratum(clean, &after, err);
		*algebraic = !st && after.seconds < left_at_most * before.seconds;
	}
	pm_graph_free(clean);
	return st;
}
