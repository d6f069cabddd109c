/* SPDX-License-Identifier: Apache-2.0 */
/* task_filters.c - cuts a graph to sizes that the reference runs quickly, and asks the published filters. */
#include "app/task/task_filters.h"

#include "app/task/task_proxy.h"
#include "extract/variants/halve.h"
#include "extract/variants/variants.h"
#include "runtime/ref/ref.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Operations and elements of one run. The filters need about ten. */
#define COST_WANTED ((int64_t)20 * 1000 * 1000)
#define COST_MOST   ((int64_t)2000 * 1000 * 1000)

/* All values of a graph together: above these, memory is what runs out. */
#define ELEMENTS_MOST ((int64_t)300 * 1000 * 1000)

/* What a run costs, where memory is scarce by what it holds. */
static int64_t cost_of(const PmGraph *g)
{
	int64_t elements = 0, e;

	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++)
		if (!pm_type_numel(pm_value_type(g, (PmValue){ id }), &e, NULL))
			elements += e;
	return pm_graph_cost(g) + (elements > ELEMENTS_MOST ? 16 * (elements - ELEMENTS_MOST) : 0);
}

/* Operations per result: what stands behind a sum or a window. */
static double terms(const PmGraph *g, PmNode n)
{
	int64_t e;

	if (pm_type_numel(pm_value_type(g, pm_node_out(g, n, 0)), &e, NULL) || e <= 0)
		return 0;
	return (double)pm_op_flops(g, n) / (double)e;
}

/* The extent that a node's results are normalised over; 0 for other nodes. */
static int64_t normalised(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);
	const PmType *t = pm_value_type(g, pm_node_in(g, n, 0));
	int64_t axis = pm_node_i(g, n, "axis", -1);

	if ((op != PM_OP_Softmax && op != PM_OP_LogSoftmax) || t->rank <= 0)
		return 0;
	return t->dim[axis < 0 ? axis + t->rank : axis];
}

/* Borders of convolutions make the mean number of terms of a smaller image a little smaller; half as many are
 * another sum. */
static int keeps_sums(const PmGraph *from, const PmGraph *to)
{
	if (pm_graph_n_nodes(from) != pm_graph_n_nodes(to))
		return 0;
	for (size_t i = 0; i < pm_graph_n_nodes(from); i++) {
		PmNode a = pm_graph_node_at(from, i), b = pm_graph_node_at(to, i);

		if (normalised(from, a) != normalised(to, b) || terms(to, b) < 0.75 * terms(from, a))
			return 0;
	}
	return 1;
}

static PmStatus keep_graph(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	PmGraph **to = arg;

	(void)label;
	(void)shape;
	(void)dtype;
	return *to ? PM_OK : pm_graph_clone(g, to, err);
}

static void write_label(const PmGraph *g, char label[160])
{
	size_t at = 0;

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		const PmType *t = pm_value_type(g, pm_graph_input(g, i));
		PmStr s = PM_STR_INIT;

		for (int k = 0; k < t->rank; k++)
			pm_str_addf(&s, "%s%lld", k ? "x" : i ? " " : "", (long long)t->dim[k]);
		if (!t->rank)
			pm_str_add(&s, i ? " scalar" : "scalar");
		if (at + s.len > 150) {
			snprintf(label + at, 160 - at, " ...");
			pm_str_release(&s);
			return;
		}
		at += (size_t)snprintf(label + at, 160 - at, "%s", s.s);
		pm_str_release(&s);
	}
}

PmStatus pm_task_filters(const PmGraph *g, int64_t seed, int64_t max_mflop, PmTaskFiltered *out, PmErr *err)
{
	PmVariantOpts own = { .n_shapes = 1, .dtypes = 1u << PM_F32 };
	int64_t most = max_mflop > 0 ? max_mflop * 1000 * 1000 : COST_MOST;
	PmHalving how = { cost_of, COST_WANTED, most, keeps_sums };
	PmGraph *base = NULL, *small = NULL;
	int kept = 1;
	PmStatus st;

	memset(out, 0, sizeof *out);
	st = pm_variants_make(g, &own, keep_graph, &base, NULL, err);
	if (!st && !base)
		st = pm_err(err, PM_E_INVALID,
			    "Graph '%.60s' does not exist in float, in which the filters measure.",
			    pm_graph_name(g));
	if (!st)
		st = pm_variant_halve(base, &how, &small, &kept, err);
	if (!st && cost_of(small) > most)
		st = pm_err(
			err, PM_E_LIMIT,
			"Graph '%.60s' takes %.3g operations and elements at the smallest sizes found for "
			"it; %.3g are the most that the filters run. Give a model of smaller sizes, or "
			"--max-mflop "
			"for more.",
			pm_graph_name(g), (double)cost_of(small), (double)most);
	if (!st) {
		out->cut = !kept ? 2 : cost_of(small) < cost_of(base);
		write_label(small, out->label);
		st = pm_filters(small, (uint64_t)seed, 0, &out->report, err);
	}
	pm_graph_free(base);
	pm_graph_free(small);
	return st;
}

/* Four digits: more are of no use, and the text is the same everywhere. */
static double four_digits(double v)
{
	char text[32];
	double back;

	snprintf(text, sizeof text, "%.4g", v);
	return sscanf(text, "%lf", &back) == 1 ? back : v;
}

cJSON *pm_task_filters_json(const PmTaskFiltered *t)
{
	static const char *const cuts[] = { "no", "sizes", "sums" };
	cJSON *j = cJSON_CreateObject(), *list;

	cJSON_AddStringToObject(j, "judged", t->label);
	cJSON_AddStringToObject(j, "cut", cuts[t->cut]);
	pm_json_add_i64(j, "data", (int64_t)t->report.n_data);
	pm_json_add_i64(j, "weights", (int64_t)t->report.n_weights);
	list = cJSON_AddArrayToObject(j, "filters");
	for (int f = 0; f < PM_N_FILTERS; f++) {
		cJSON *one = cJSON_CreateObject();
		double v = t->report.found[f];

		cJSON_AddStringToObject(one, "filter", pm_filter_name((PmFilter)f));
		cJSON_AddStringToObject(one, "measures", pm_filter_what((PmFilter)f));
		if (isnan(v))
			cJSON_AddNullToObject(one, "found");
		else
			cJSON_AddNumberToObject(one, "found", four_digits(v));
		cJSON_AddNumberToObject(one, "limit", pm_filter_limit((PmFilter)f));
		cJSON_AddBoolToObject(one, "broken", pm_filter_broken(&t->report, (PmFilter)f));
		cJSON_AddItemToArray(list, one);
	}
	return j;
}
