/* SPDX-License-Identifier: Apache-2.0 */
/* field.h - attempts at problems, and the figures by which published benchmarks report them.
 *
 * A problem is a task. An attempt is one pass on it, or one sample of a language model. It is compiled, and
 * right, or not; its speedup is the geometric mean over the task's graphs. A baseline is a system that nobody
 * wrote for the problem: an eager run, or a compiler of a framework. docs/reference/metrics.md defines the
 * figures.
 */
#ifndef BENCH_FIELD_H
#define BENCH_FIELD_H

#include "bench/report/published.h"
#include "bench/report/systems.h"

typedef struct PmProblem {
	int64_t task;
	char suite[32], level[16], category[32]; /* tags of the task; "" = none */
} PmProblem;

typedef struct PmFieldSystem {
	char name[64];
	int baseline;
} PmFieldSystem;

typedef struct PmAttempt {
	size_t problem, system;
	int compiled;
	PmItem item;
	double over_best; /* speedup over the best baseline of each graph; NaN = not known */
} PmAttempt;

typedef struct PmField {
	PM_VEC(PmProblem) problems;
	PM_VEC(PmFieldSystem) systems;
	PM_VEC(PmAttempt) attempts;
	char reference[64]; /* what speedups are over */
	PmSysClock clock;   /* by which they were taken */
	size_t n_left_out;  /* samples of models whose speedups are over another reference */
	int64_t k;          /* of pass@k and its relatives */
} PmField;

/* Frees the lists; f may be used again. */
void pm_field_release(PmField *f);

/* Index of a system; it is added when it is not there. */
size_t pm_field_system(PmField *f, const char *name, int baseline);

/* Adds the systems of a table and an attempt for each of them at each problem that it has a result on.
 * Problems have to be there. Every system is there then, "best of baselines" too where the table has more
 * baselines than one. `baseline[i]` says which systems are. */
void pm_field_take_systems(PmField *f, const PmSystems *s, const int *baseline, PmSysClock clock);

/* All candidates together, for pm_field_figures. */
#define PM_FIELD_ALL ((size_t)-1)

enum { PM_N_OVER = 4 };
extern const double pm_field_over[PM_N_OVER]; /* 1.02, 1.05, 2, 6.5: METR's shares and one more */

typedef struct PmFieldFigures {
	size_t n, n_tried, n_attempts;             /* problems; those with an attempt; attempts */
	PmInterval fast[PM_N_FAST_P];              /* of best attempts, at pm_fast_p_levels */
	PmInterval over[PM_N_OVER];                /* the same at pm_field_over */
	PmInterval asked;                          /* the same at the p of the call */
	PmMeans means;                             /* of best attempts */
	double compile_at_k, pass_at_k, fast_at_k; /* NaN when a problem has attempts, and fewer than k */
	PmInterval average;                        /* METR's average speedup, 95 % bootstrap over problems */
	double average_over_best;                  /* the same over the best baseline; NaN = not known */
} PmFieldFigures;

/* Over the problems whose level (kernelbench, metr) or category (multikernelbench) is `group`; NULL = all.
 * `p` as asked for, NaN = none. */
void pm_field_figures(const PmField *f, size_t system, PmView view, const char *group, double p,
		      PmFieldFigures *out);

/* Appends the table of a view, then the published ones. `s` and `preset` are for passnet, whose figures are
 * of graphs and not of problems. */
PmStatus pm_field_text(const PmField *f, PmView view, double p, const PmSystems *s, PmPreset preset,
		       PmStr *out, PmErr *err);
/* {"view", "against", "clock", "k", "p", "left_out", "rows": [...], "passnet": [...], "published": [...]};
 * owned. */
PmStatus pm_field_json(const PmField *f, PmView view, double p, const PmSystems *s, PmPreset preset,
		       cJSON **out, PmErr *err);

#endif
