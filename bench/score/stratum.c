/* SPDX-License-Identifier: Apache-2.0 */
/* stratum.c - how hard a task looks. */
#include "bench/score/stratum.h"

#include "runtime/exec/exec.h"
#include "runtime/ref/ref.h"

#include <math.h>

const char *pm_stratum_name(const PmStratum *s)
{
#define NAMES(algebraic)                                                                                     \
	"easy" algebraic, "easy launch-bound" algebraic, "medium" algebraic,                                 \
		"medium launch-bound" algebraic, "hard" algebraic, "hard launch-bound" algebraic
	static const char *const names[] = { NAMES(""), NAMES(" algebraic") };
#undef NAMES
	int level = s->points < 2 ? 0 : s->points < 4 ? 1 : 2;

	return names[6 * (s->algebraic != 0) + 2 * level + (s->launch_bound != 0)];
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

static int is_depthwise(const PmGraph *g, PmNode n)
{
	return pm_node_op(g, n) == PM_OP_Conv && pm_node_i(g, n, "group", 1) > 1 &&
	       pm_value_type(g, pm_node_in(g, n, 1))->dim[1] == 1;
}

/* Seconds that a node takes at least: its bytes or its operations, whichever is more. */
static double node_seconds(const PmGraph *g, PmNode n, const PmProfile *p)
{
	int dtype = pm_value_type(g, pm_node_out(g, n, 0))->dtype;
	PmDTypePeak peak = pm_dtype_peak(dtype);
	double bytes = 0, flops = (double)pm_op_flops(g, n);

	if (pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_VIEW)
		return 0;
	for (size_t i = 0; i < pm_node_n_in(g, n); i++)
		if (pm_node_in(g, n, i).id)
			bytes += (double)bytes_of(g, pm_node_in(g, n, i));
	for (size_t i = 0; i < pm_node_n_out(g, n); i++)
		if (pm_node_out(g, n, i).id)
			bytes += (double)bytes_of(g, pm_node_out(g, n, i));
	return fmax(bytes / p->bytes_per_second, flops / p->flops_per_second[peak]);
}

const char *pm_graph_class(const PmGraph *g)
{
	enum { N_CLASSES = PM_N_OPS + 1 }; /* the last: depthwise */
	double sum[N_CLASSES] = { 0 };
	const PmProfile *p = pm_profile(NULL);
	int best = -1;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);
		int class = is_depthwise(g, n) ? PM_N_OPS : (int)pm_node_op(g, n);

		sum[class] += node_seconds(g, n, p);
	}
	for (int c = 0; c < N_CLASSES; c++)
		if (sum[c] > 0 && (best < 0 || sum[c] > sum[best]))
			best = c;
	return best < 0 ? "none" : (best == PM_N_OPS ? "depthwise Conv" : pm_op_desc((PmOp)best)->name);
}

PmStatus pm_stratum(const PmGraph *g, PmStratum *out, PmErr *err)
{
	PmPlanStats s;
	PmStatus st = pm_graph_plan_stats(g, NULL, 0, NULL, &s, err);

	if (st)
		return st;
	*out = (PmStratum){ .points = points(g),
			    .launch_bound = s.modelled_seconds < 20e-6,
			    .seconds = s.modelled_seconds,
			    .launches = s.n_launches,
			    .bytes = s.bytes,
			    .memory = s.peak_memory };
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		out->memory += bytes_of(g, pm_graph_input(g, i));
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		out->memory += bytes_of(g, pm_graph_output(g, i));
	return PM_OK;
}
