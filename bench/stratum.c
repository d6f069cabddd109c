/* stratum.c - how hard a task looks. */
#include "bench/stratum.h"

#include "runtime/exec.h"

const char *pm_stratum_name(const PmStratum *s)
{
	static const char *const names[] = { "easy", "easy launch-bound", "medium", "medium launch-bound",
					     "hard", "hard launch-bound" };
	int level = s->points < 2 ? 0 : s->points < 4 ? 1 : 2;

	return names[2 * level + (s->launch_bound != 0)];
}

static int points(const PmGraph *g)
{
	size_t n = pm_graph_n_nodes(g);
	uint32_t flags = 0;
	int moves = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t f = pm_op_desc(pm_node_op(g, pm_graph_node_at(g, i)))->flags;

		flags |= f;
		moves |= (f & PM_OPF_MOVE) && !(f & PM_OPF_VIEW);
	}
	return (n > 4) + (n > 10) + ((flags & (PM_OPF_DOT | PM_OPF_POOL)) != 0) +
	       ((flags & (PM_OPF_RED | PM_OPF_NORM)) != 0) + moves + (pm_graph_n_outputs(g) > 1);
}

static int64_t bytes_of(const PmGraph *g, PmValue v)
{
	int64_t b = 0;

	return pm_type_bytes(pm_value_type(g, v), &b, NULL) ? 0 : b;
}

PmStatus pm_stratum(const PmGraph *g, PmStratum *out, PmErr *err)
{
	PmPlan *plan = NULL;
	PmPlanStats s;
	PmStatus st = pm_plan_new(g, NULL, 0, &plan, err);

	if (st)
		return st;
	pm_plan_stats(plan, NULL, &s);
	pm_plan_free(plan);
	*out = (PmStratum){
		points(g),    s.modelled_seconds < 20e-6, s.modelled_seconds, s.n_launches, s.bytes,
		s.peak_memory
	};
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		out->memory += bytes_of(g, pm_graph_input(g, i));
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		out->memory += bytes_of(g, pm_graph_output(g, i));
	return PM_OK;
}
