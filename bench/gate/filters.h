/* SPDX-License-Identifier: Apache-2.0 */
/* filters.h - the filters that others have published for tasks, measured beside the gate's own rules.
 *
 * METR removed problems from KernelBench whose results are near zero, or hardly vary over seeds or axes, and
 * found that many of them are constant by algebra; robust-kbench asks besides whether inputs and weights have
 * an influence. The filters measure on the inputs that a model states (pm_inputs_of_model), weights among
 * them. Unlike the gate's rules they know no element type, have no order, and nothing depends on them.
 *
 * What they measure (limits: filters.def; a filter is broken below its limit):
 *   range     max |y|, of the output where it is least
 *   seeds     deviation of an element over seeds of the data, weights kept; root mean square over elements,
 *             of the output where it is least
 *   axes      deviation along an axis of the first seed's results, root mean square over lines; of the axis
 *             and the output where it is least
 *   inputs    max |dy| / max |y| when all data inputs are drawn again and the weights are kept, of any output
 *   weights   the same when all weights are drawn again and the data are kept
 *   constant  the same when all are drawn from another, wide distribution: what does not move then is
 *             constant by algebra, and not because the distribution misses the range of a function
 * `range` implies `seeds` and `axes`; `constant` implies `inputs`, `weights` and `seeds`; `inputs` implies
 * `seeds`. Elements that are not finite on both sides count as no change when they are equal.
 */
#ifndef BENCH_FILTERS_H
#define BENCH_FILTERS_H

#include "ir/core/graph.h"

typedef enum PmFilter {
#define PM_FILTER(id, name, limit, what) PM_FILTER_##id,
#include "bench/gate/filters.def"
	PM_N_FILTERS
} PmFilter;

const char *pm_filter_name(PmFilter f); /* "range"; static */
const char *pm_filter_what(PmFilter f); /* what it measures, in a few words; static */
double pm_filter_limit(PmFilter f);     /* a task below this is removed */

typedef struct PmFilterReport {
	double found[PM_N_FILTERS]; /* NaN where there is nothing to measure: no weights, no axis */
	size_t n_data, n_weights;   /* inputs of each kind (pm_input_is_parameter) */
} PmFilterReport;

/* Whether a report breaks a filter; what was not measured breaks none. */
int pm_filter_broken(const PmFilterReport *r, PmFilter f);

/* Measures a sorted, static graph on the reference, with `n_seeds` draws of the data (at least 2; 0 = 4).
 * When no input is data by its role, all are. PM_E_INVALID for a graph without inputs, outputs or elements;
 * else a status of the reference's. */
PmStatus pm_filters(const PmGraph *g, uint64_t seed, int n_seeds, PmFilterReport *out, PmErr *err);

#endif
