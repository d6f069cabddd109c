/* SPDX-License-Identifier: Apache-2.0 */
/* exec.h - the executor: a graph becomes a plan of views, allocations and launches; the plan runs on a
 * device.
 *
 * Eager rule: one kernel per operator; views (Transpose, Slice, Split, Expand, Reshape of contiguous data,
 * Squeeze, Unsqueeze, Flatten, Identity) launch nothing and copy nothing. Kernel nodes launch what they
 * describe; their operands are made contiguous first, and those copies count as launches.
 */
#ifndef RUNTIME_EXEC_H
#define RUNTIME_EXEC_H

#include "base/core/hash.h"
#include "runtime/device/device.h"
#include "runtime/device/tensor.h"
#include "runtime/exec/profiles.h"

typedef struct PmPlan PmPlan;

typedef struct PmPlanStats {
	int n_launches;
	int n_views;
	int64_t bytes; /* unique bytes read and written by launches */
	int64_t flops;
	double modelled_seconds;   /* by the profile below */
	double start_seconds;      /* of that, the start of the run */
	double fused_seconds;      /* of that, in fused kernels */
	double arithmetic_seconds; /* operations alone, at the peaks of the profile */
	int64_t peak_memory;       /* bytes of intermediates */
} PmPlanStats;

/* 1 when an operator can be planned at all: as a view, or as a launch of an eager kernel. */
int pm_plan_has_kernel(PmOp op);

/* Plans a sorted, inferred, static graph for the process's target, whose size decides how launches share
 * their work (pm_target_now). PM_E_UNSUPPORTED names the node the device cannot run (opaque).
 * alts: per Kernel node (in execution order) which alternative to use; NULL = 0 everywhere.
 * The graph is borrowed and must outlive the plan. */
PmStatus pm_plan_new(const PmGraph *g, const int *alts, size_t n_alts, PmPlan **out, PmErr *err);
void pm_plan_free(PmPlan *p);
/* The kernels that each node launches in that plan, by node id (room for pm_graph_node_limit(g)). Constants
 * need no data, and a node that cannot be planned counts as one launch. */
PmStatus pm_plan_count(const PmGraph *g, uint32_t *launches, PmErr *err);
/* Statistics with the given profile (NULL = default). */
void pm_plan_stats(const PmPlan *p, const PmProfile *prof, PmPlanStats *out);
/* What the launches of some nodes cost: a part of PmPlanStats. */
typedef struct PmNodeCost {
	int64_t launches, bytes;
	double seconds; /* modelled */
} PmNodeCost;
/* Of each node, by its id (room for pm_graph_node_limit): the launches that a node was planned as, with the
 * copies that make its operands contiguous. Number 0 has what belongs to no node: the start of a run, and
 * copies of values that are results of the graph and lie elsewhere. All of them together are pm_plan_stats.
 * `prof` NULL = default. */
void pm_plan_node_costs(const PmPlan *p, const PmProfile *prof, PmNodeCost *by_node);
/* Adds c to *sum. */
void pm_node_cost_add(PmNodeCost *sum, const PmNodeCost *c);
/* pm_plan_stats of a graph that is planned for this question only. Statistics are zeros after an error. */
PmStatus pm_graph_plan_stats(const PmGraph *g, const int *alts, size_t n_alts, const PmProfile *prof,
			     PmPlanStats *out, PmErr *err);
/* Bytes of the device that a timed call takes, with inputs, constants and results. What a library asks for as
 * its workspace is not known before, and is in neither. */
typedef struct PmPlanMemory {
	int64_t taken; /* by the buffers of a binding with `reuse` (pm_bind_new) */
	int64_t live; /* by the values that are needed at one moment, most: what an allocator without any loss
		       * takes, and about what a framework's takes that runs the same operators */
} PmPlanMemory;
/* Both of a plan. */
void pm_plan_memory(const PmPlan *p, PmPlanMemory *out);
/* The same of a graph that is planned for this question only. Zeros after an error. */
PmStatus pm_graph_plan_memory(const PmGraph *g, PmPlanMemory *out, PmErr *err);
/* One launch of the plan, as pm_exec_run makes them; strings are the plan's. */
typedef struct PmPlanLaunch {
	const char *label; /* "kernel silu:silu" */
	const char *entry;
	int source; /* number of its source */
	int fused;  /* of a Kernel node */
	uint32_t grid[3], block[3], smem;
	int64_t bytes, flops; /* as in PmPlanStats */
	int flop_class;       /* index into PmProfile.flops_per_second */
} PmPlanLaunch;
/* How many there are. */
size_t pm_plan_n_launches(const PmPlan *p);
/* Number i of them, in order. */
void pm_plan_launch(const PmPlan *p, size_t i, PmPlanLaunch *out);
/* 1 when two launches differ in their arguments alone: same kernel, source, type, grid, block, shared memory,
 * bytes and operations. */
int pm_plan_launch_alike(const PmPlan *p, const PmPlanLaunch *a, const PmPlanLaunch *b);
/* Seconds that the model gives a launch of which nothing was counted (access_time.h: what counting adds). */
double pm_plan_launch_seconds(const PmPlanLaunch *l, const PmProfile *prof);
/* The sources the plan needs (borrowed): for compiling ahead. */
size_t pm_plan_sources(const PmPlan *p, const PmSource **out);
/* Of those the ones that launches need where a library does what it can do: copies (strings are the plan's),
 * with room for pm_plan_sources. Returns how many there are. */
size_t pm_plan_own_sources(const PmPlan *p, PmSource *out);
/* One line per step: "launch ew_Add float grid=4 block=256 <- a, b -> c", "view Transpose ...". */
PmStatus pm_plan_print(const PmPlan *p, PmStr *out, PmErr *err);

/* Loads the plan's modules and its constants onto a device; then runs any number of times. The plan is
 * borrowed.
 */
typedef struct PmExec PmExec;
PmStatus pm_exec_new(const PmPlan *p, PmDevice *d, PmExec **out, PmErr *err);
/* The same without its constants, which may be gigabytes: for whoever wants its modules and its digest.
 * pm_exec_place_constants has to come before its first binding. */
PmStatus pm_exec_new_bare(const PmPlan *p, PmDevice *d, PmExec **out, PmErr *err);
PmStatus pm_exec_place_constants(PmExec *x, PmErr *err);
void pm_exec_free(PmExec *x);          /* frees its bindings first */
int pm_exec_launches(const PmExec *x); /* of one call */
/* Uploads inputs, poisons outputs and scratch with `poison` (before every run, so that unwritten elements
 * show), runs, downloads outputs (initialised here). A kernel that changes what it may only read is
 * PM_E_MUTATED. */
PmStatus pm_exec_run(PmExec *x, const PmTensor *in, size_t n_in, uint32_t poison, PmTensor *out, size_t n_out,
		     PmErr *err);

/* With 1, pm_exec_run takes buffers as timed runs do (PmDeviceOps.alloc instead of alloc_guarded): a write to
 * an input is found by its contents instead of a fault, and so has a name. */
void pm_exec_plain(PmExec *x, int plain);

/* The same in a process of its own that has nothing but the plan's modules and this run's inputs, where the
 * device has such (PmDeviceOps.shut): what a kernel does there ends with it. Elsewhere it is pm_exec_run.
 * *seconds (may be NULL): of the run. A process that dies is PM_E_CRASH, PM_E_FORBIDDEN when it made a system
 * call. */
PmStatus pm_exec_run_isolated(PmExec *x, const PmTensor *in, size_t n_in, uint32_t poison, PmTensor *out,
			      size_t n_out, double *seconds, PmErr *err);
/* What the executor's plan and device are (borrowed). */
const PmPlan *pm_exec_plan(const PmExec *x);
PmDevice *pm_exec_device(const PmExec *x);
/* Of the plan's source number `source`: id 0 when no step needs it. */
PmModule pm_exec_module(const PmExec *x, int source);
/* A digest of the Kernel nodes' launch plans, in execution order: which alternative of each, its source,
 * element type, scratch, launches (grid, block, shared memory, arguments) and the types that it works on, and
 * the machine code that the device loaded for it. What surrounds the nodes does not count, so that it is the
 * same in a graph that has more outputs. exec_digest.c. */
void pm_exec_digest(const PmExec *x, const int *alts, size_t n_alts, char hex[PM_CHAIN_HEX]);

/* A binding: buffers for the inputs, outputs and intermediates of one call. With `reuse`, an intermediate
 * takes the memory of one that no later launch reads, as a framework's allocator would; without, each has its
 * own, so that each is poisoned and guarded. Owned by x, freed with it. */
typedef struct PmBind PmBind;
PmStatus pm_bind_new(PmExec *x, int reuse, PmBind **out, PmErr *err);
/* Binding number i in the order made; NULL past the last. */
PmBind *pm_exec_bind(const PmExec *x, size_t i);
/* Frees all bindings that pm_bind_new gave. */
void pm_exec_drop_binds(PmExec *x);
int64_t pm_bind_bytes(const PmExec *x, int reuse); /* what a binding would take */
PmBuf pm_bind_input(const PmBind *b, size_t i);
size_t pm_bind_n_outputs(const PmBind *b);
PmBuf pm_bind_output(const PmBind *b, size_t i);
int64_t pm_bind_output_bytes(const PmBind *b, size_t i);
const PmType *pm_bind_output_type(const PmBind *b, size_t i); /* borrowed */
/* Values between kernels that are still in the binding's memory when a call is over, in the plan's order:
 * those whose memory no later one took. A kernel's own scratch is none. */
size_t pm_bind_n_inner(const PmBind *b);
PmBuf pm_bind_inner(const PmBind *b, size_t i, int64_t *bytes);
/* Fills everything but the inputs with a pattern. */
PmStatus pm_bind_poison(PmBind *b, uint32_t pattern, PmErr *err);
/* Makes the launches ready, as the first pm_bind_launch does. Before launches are recorded: what depends on
 * constants alone is computed here, and would be in the recording otherwise. */
PmStatus pm_bind_ready(PmBind *b, PmErr *err);
/* Enqueues the plan's launches, nothing else. */
PmStatus pm_bind_launch(PmBind *b, PmErr *err);
/* Called around each launch, number i of pm_plan_launch; an error ends the call. */
typedef struct PmLaunchWatch {
	PmStatus (*before)(void *arg, size_t i, PmErr *err);
	PmStatus (*after)(void *arg, size_t i, PmErr *err);
	void *arg;
} PmLaunchWatch;
/* As pm_bind_launch, but launch by launch, and only the first n of them. */
PmStatus pm_bind_launch_watched(PmBind *b, size_t n, const PmLaunchWatch *w, PmErr *err);
/* The outputs, once what was enqueued is done (waits); tensors are initialised here. */
PmStatus pm_bind_outputs(PmBind *b, PmTensor *out, size_t n_out, PmErr *err);

#endif
