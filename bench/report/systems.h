/* SPDX-License-Identifier: Apache-2.0 */
/* systems.h - several systems on the same graphs: PyTorch, its compiler, our eager runs, passes.
 *
 * A table has a column for each system and a row for each graph. One system is the reference; the speedup of
 * another on a graph is reference time / its time, by one clock at a time:
 *   replay    GPU time of a call, replayed as a CUDA graph: no gaps between launches
 *   cold      GPU time of a call after the caches were emptied, launched one by one
 *   wall      time on the host's clock, launching included
 *   modelled  from the profile of a device, where nothing was measured (device emu)
 *
 * A pass that declines a graph leaves it to the eager run: its cell then has the eager time and `matched` 0.
 * Two scores say what that is worth: AS counts it as a right answer at eager speed (what a user gets), and
 * AS "strict" as the error "no_match" (what a submission gets, see bench/score/score.h). N is fixed: a graph
 * that a system has no answer for, or no time by the clock asked for, counts as missing.
 */
#ifndef BENCH_SYSTEMS_H
#define BENCH_SYSTEMS_H

#include "base/core/json.h"
#include "base/core/vec.h"
#include "bench/score/metrics.h"
#include "bench/score/score.h"
#include "ir/category/category.h"
#include "ir/core/graph.h"

enum { PM_MAX_SYSTEMS = 24 };

typedef enum PmSysClock {
	PM_SYS_REPLAY,
	PM_SYS_COLD,
	PM_SYS_WALL,
	PM_SYS_MODELLED,
	PM_N_SYS_CLOCKS
} PmSysClock;
/* "replay", "cold", "wall", "modelled". */
const char *pm_sys_clock_name(PmSysClock clock);

/* What one system did on one graph. */
typedef struct PmSysCell {
	char status[32]; /* of bench/score/score.h: "correct" or what went wrong; "" = there is no result */
	int matched;     /* it changed the graph; 1 for baselines */
	int smallest_t;  /* the strictest level from which on it is right; PM_T_NEVER */
	double seconds[PM_N_SYS_CLOCKS]; /* NaN = not known */
	char machine[64];                /* the GPU that took the times; "" = none, or not written down */
} PmSysCell;

typedef struct PmSysGraph {
	int64_t task, ordinal;
	char label[128];
	int dtype;     /* PmDType of the graph's variant: its tolerances */
	int algebraic; /* clean-up alone makes it faster (app/algebra.h) */
	PmCategory category;
	double roofline; /* seconds: pm_sys_roofline */
	PmSysCell cell[PM_MAX_SYSTEMS];
} PmSysGraph;

typedef struct PmSystems {
	size_t n;
	char name[PM_MAX_SYSTEMS][64];
	size_t reference;        /* index of the system that speedups are over */
	char sandbox_lacks[192]; /* layers that the machine lacked for what was evaluated; "" = none */
	PM_VEC(PmSysGraph) graphs;
} PmSystems;

/* "No result". */
void pm_sys_cell_init(PmSysCell *c);
/* Adds a row whose cells are all "no result", and returns it (valid until the next call). */
PmSysGraph *pm_systems_add(PmSystems *s);
void pm_systems_release(PmSystems *s);
/* A speedup across machines says nothing of a system: PM_E_INVALID, naming both, when the times of a row were
 * not all taken on one GPU. Rows from `first` on are looked at. */
PmStatus pm_systems_one_machine(const PmSystems *s, size_t first, PmErr *err);

/* The time that no implementation can beat on the profile's device: the bytes of the graph's inputs,
 * constants and outputs, each once, at its bandwidth, or the operators' arithmetic at its peak, whichever is
 * longer. Caches are not in the model, so a small replayed graph may show more than 100 %. */
PmStatus pm_sys_roofline(const PmGraph *g, const char *profile, double *seconds, PmErr *err);

/* Figures of one system by one clock over some rows. */
typedef struct PmSysFigures {
	size_t n, n_timed, n_matched; /* rows; those with both times; those that the system changed */
	size_t n_right;               /* correct at t = -5 or stricter */
	size_t n_faster;              /* timed rows that are correct and faster than the reference */
	PmInterval gmean;             /* of speedups over correct, timed rows; 95 % bootstrap over rows */
	double worst;                 /* the lowest of those speedups */
	double roofline;              /* median share of the roofline over timed rows */
	double fast_p[PM_N_FAST_P];
	PmScore score, strict; /* preset as given */
} PmSysFigures;

/* Which rows: graphs that clean-up alone makes faster are reported apart. */
typedef enum PmSysPart { PM_SYS_ALL, PM_SYS_ALGEBRAIC, PM_SYS_OTHERS } PmSysPart;
size_t pm_systems_count(const PmSystems *s, PmSysPart part);

/* Over the rows of one task, or all (task 0), of a part. The bootstrap is seeded by the table's size: the
 * same rows give the same interval. */
PmStatus pm_systems_figures(const PmSystems *s, size_t system, PmSysClock clock, int64_t task, PmSysPart part,
			    PmPreset preset, PmSysFigures *out, PmErr *err);

/* The rows of one category (PM_N_CATEGORIES = any) and of one element type (PmDType; -1 = any). */
typedef struct PmSysGroup {
	PmCategory category;
	int dtype;
} PmSysGroup;
/* Over the rows of a group; and how many those are. */
PmStatus pm_systems_of_group(const PmSystems *s, size_t system, PmSysClock clock, const PmSysGroup *group,
			     PmPreset preset, PmSysFigures *out, PmErr *err);
size_t pm_systems_count_group(const PmSystems *s, const PmSysGroup *group);

/* How many times as fast as `b` system `a` is: the geometric mean over the rows on which both have a right
 * answer and a time, a task counting once, and its 95 % bootstrap interval over tasks (over rows, where there
 * is one task). The interval holds 1 where the two do not differ beyond what other tasks of the kind would
 * show. NaN without any row. */
PmInterval pm_systems_times_as_fast(const PmSystems *s, size_t a, size_t b, PmSysClock clock);

/* Of the rows on which both have a right answer and a time: the share on which system `a` takes less time
 * than `b`, and their number. NaN without any. */
double pm_systems_share_faster(const PmSystems *s, size_t a, size_t b, PmSysClock clock, size_t *n);

#endif
