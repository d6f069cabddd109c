/* SPDX-License-Identifier: Apache-2.0 */
/* runner.h - evaluates one pass on the variants of a task: match, correctness, speed, score.
 *
 * Order (reverse order evaluation): the candidate's outputs exist before any reference is computed, and
 * references are computed in this process, which runs no candidate code.
 * Correctness under the sound preset is judged kernel by kernel (probe.h) by the error bound, or where there
 * is none at t = -5 of the ladder; results within the bound count as close from t = -5 on. Under passnet, the
 * graph's outputs are compared with the eager baseline's, as published. Every variant gets a record, whatever
 * happens to it: N is fixed, less the records that are no fault of the pass (HARNESS_FAIL).
 */
#ifndef BENCH_RUNNER_H
#define BENCH_RUNNER_H

#include "base/core/hash.h"
#include "base/secret/secret.h"
#include "base/sys/rwlock.h"
#include "bench/compare/allclose.h"
#include "bench/compare/bound/bound.h"
#include "bench/compare/failure.h"
#include "bench/eval/stages.h"
#include "bench/inputs/inputs.h"
#include "bench/score/score.h"
#include "bench/timing/clock.h"
#include "integrity/gates/compile_gate.h"
#include "integrity/referee/referee.h"
#include "runtime/exec/exec.h"
#include "runtime/worker/products.h"

typedef struct PmEvalVariant {
	const char *label;  /* "s0 float16" */
	const PmGraph *g;   /* sorted, static, verified; borrowed */
	int64_t number;     /* its place in the session: two variants never have label and number in common */
	const char *replay; /* the secret of an earlier record, whose draws are made again; NULL = none */
} PmEvalVariant;

/* Classes of inputs of a first answer: the normal one, on which buffers are looked at too, and others that
 * are drawn. Most mistakes show on every class. One class more costs each author a run and a reference; what
 * it would find the whole evaluation finds. Where that takes longer than the compiler, one other has to do:
 * for graphs of more elements than PM_FIRST_LARGE, inputs and outputs together, or a slow reference. */
enum { PM_FIRST_CLASSES = 4, PM_FIRST_LARGE_CLASSES = 2, PM_FIRST_LARGE = 1 << 18 };

/* What is known of a variant before its evaluation is over. */
typedef struct PmFirstAnswer {
	const char *label;
	int n_classes;   /* of inputs, on which everything was right */
	int alternative; /* that was looked at */
	double speedup;  /* NaN = nobody asked for it */
	int measured;    /* and then with its interval; the calls that were timed have not been looked at */
	double lo, hi;
} PmFirstAnswer;

/* Elements of a result over which the emulated device runs some blocks of a kernel only, where there is a
 * deadline: drawing, running and judging that many takes two processors 20 s and more, and an evaluation does
 * so eight times for each alternative. */
enum { PM_EVAL_SAMPLE_ABOVE = 1 << 26 };
enum { PM_EVAL_DEADLINE = 120 }; /* seconds of one variant, unless a command is told otherwise */

typedef struct PmEvalOpts {
	const char *device;  /* "emu" or "cuda" */
	const char *profile; /* of the modelled clock; NULL = default */
	PmPreset preset;
	PmPrecisionTier
		tier;  /* of the sound preset: how exact results have to be (bench/compare/bound/bound.h) */
	uint64_t seed; /* of what is published: the task's variants; nothing is drawn by it here */
	/* Of the session (base/secret/secret.h); borrowed. All that an evaluation draws follows from it and
	 * the variant's label. NULL = a new one for each record. Tests alone give one that is known. */
	const PmSecret *secret;
	int check_only; /* no times */
	int cc; /* of the GPU, as pm_look_info said: what has to be compiled for it does not wait until it is
		 * open; 0 = emulated, or not known before */
	/* Seconds of the wall that one variant may take; 0 = no limit. A check that would not fit is left out
	 * and named, and the verdict is NOT_CHECKED unless something is known to be wrong. */
	double deadline;
	int64_t sample_above;                  /* 0 = PM_EVAL_SAMPLE_ABOVE */
	double pass_deadline, device_deadline; /* seconds; 0 = 10, and by what the reference took: 10 to 60,
						* for checked, rehearsed and timed calls alike */
	double clock_seconds;                  /* budget of one variant's measurement; 0 = PM_CLOCK_SECONDS */
	/* Shared by evaluations in several processes on a device whose calls are timed: each shares it, and
	 * is alone while its clock runs. What an evaluation keeps open on the device while it waits is idle,
	 * and its processes are known to the clock that runs. Borrowed; NULL = there are no others. */
	PmRwlock *lock;
	/* Of one graph, in memory: the evaluation that has a clock leads (pm_rwlock_lead). Those of its
	 * hidden shapes (check_only) do what needs no device, and open it when its first clock is over, while
	 * its timed calls are made again. NULL = they use it beside all that comes before the clock.
	 * Borrowed. */
	PmRwlock *turn;
	int reference_on_gpu; /* a GPU that others may open beside it also computes large products of the
			       * reference (runtime/worker/products.h) */
	double confirm_above; /* speedups above are confirmed by a second run; 0 = those that are implausible
			       */
	/* The pass's bytes, read once (borrowed); NULL = each call of pm_eval_variant reads the file. */
	const PmObject *object;
	const char *only_rule; /* this rule of the pass alone; NULL = all */
	int require_sandbox;   /* a machine that lacks a layer evaluates nothing: for what is stored */
	int graphs; /* measured: baseline and candidate replay their launches as one CUDA graph each call */
	/* "emu": kernels may print, and it is kept there (borrowed; given by pm_eval_report_begin where
	 * debug_print is set). Nothing is timed, and the report has no score. */
	int debug_print;
	int timings;        /* reports say where the time went (PmEvalRecord.stages) */
	int keep_rewritten; /* records have the rewritten graph (PmEvalRecord.rewritten) */
	PmPrint *print;
	void (*step)(void *arg, const char *label); /* after each variant; may be NULL */
	void *step_arg;
	/* Once for each variant, as soon as something is known to be wrong: before its record is there, in
	 * the process that evaluates, and in any order. What it says may not be the sentence of the verdict,
	 * which names the worst that was found. May be NULL. */
	void (*found)(void *arg, const char *kind, const char *label, const char *why);
	void *found_arg;
	const char *kind; /* "hidden": what stands before the label there; NULL = "variant" */
	/* The first answer and nothing else: a few classes of inputs (PM_FIRST_CLASSES) on the alternative
	 * that the model prefers, and a short clock. The code is judged as ever. What is wrong is wrong; what
	 * is right so far has the list of what was not looked at (PmEvalRecord.unchecked), and the report no
	 * score. */
	int first_answer;
	/* Called once for each variant (not for hidden shapes, nor where nothing but the first answer is
	 * asked for), as soon as there is a first answer and nothing is known to be wrong: in the process
	 * that evaluates. May be NULL. */
	void (*answered)(void *arg, const PmFirstAnswer *a);
	void *answered_arg;
} PmEvalOpts;

/* What the clock said, where times are measured (bench/timing/timer.h). Seconds per call. */
typedef struct PmEvalTiming {
	int blocks;     /* 0: nothing was measured */
	int by_median;  /* the speedup is the median of the blocks' ratios: a record of before 0.4.0 */
	double lo, hi;  /* 99 % interval of the speedup */
	double control; /* the baseline against itself, */
	double control_lo, control_hi; /* and its interval */
	double replay[2], wall[2];     /* baseline, candidate: as CUDA graphs; on the host's clock */
	double replay_speedup, wall_speedup;
	/* Calls of the candidate whose time counts (or that were rehearsed, where nothing is timed), and how
	 * many of them were made again for the same bits, compared with the baseline's outputs, with those by
	 * sketches, and with the reference (replay_verify.h). */
	int calls, replayed, compared, projected, checked;
	char machine[64]; /* the GPU's name */
	PmGpuSeen gpu;    /* while it was measured */
	/* Runs of the clock in processes of their own, with other inputs, and the speedup that each found:
	 * one, unless a second look was due. The figures above are of the run that is published. */
	int runs;
	double found[3];
	double outside;    /* what the candidate leaves outside of its kernels, by itself; NaN = not timed */
	int host_bound[2]; /* baseline, candidate: launching is what a call waits for (bench/timing/timer.h)
			    */
} PmEvalTiming;

/* What the error bound said of a pass's results (bench/compare/bound/bound.h), worst over everything that was
 * judged. */
typedef struct PmEvalBound {
	PmPrecisionTier tier;     /* the narrowest that holds all */
	int n, n_without;         /* comparisons judged, and those for which there was no rule */
	int n_silent;             /* of those judged: what rounding may do hides what the answer is */
	int n_undecided;          /* results that all comparisons are silent about; judged by the ladder */
	double rms, max;          /* of the strict tier; 1 at the limit */
	double bias, slope;       /* the same */
	PmWorst worst;            /* what is not strict: the element that `why` names, */
	char where[128];          /* and its result and inputs */
	char why[PM_ERR_MAX / 2]; /* "" when all is strict */
} PmEvalBound;

/* What the inputs reached, measured by running the reference on them. */
enum { PM_EVAL_BRANCHES = 12 };
typedef struct PmEvalReached {
	PmReached of[PM_N_ALL_CLASSES];
	int n_not_taken;                             /* ways of conditions that no input went, */
	char not_taken[PM_EVAL_BRANCHES][PM_BRANCH]; /* the first of them by name */
} PmEvalReached;

/* What was left out at the deadline, or is no part of a first answer, by name. */
enum { PM_EVAL_UNCHECKED = 24 };
typedef struct PmEvalUnchecked {
	int n;
	char what[PM_EVAL_UNCHECKED][64]; /* the first of them: "inputs tail, alternative 0" */
} PmEvalUnchecked;

/* Where some blocks of a kernel were run and judged, and its calls were not rehearsed; on the emulated device
 * alone. */
typedef struct PmEvalSampled {
	int64_t blocks, of;            /* in each run, and those of the launch; 0: all ran */
	int64_t elements, of_elements; /* judged, on all inputs together; in a result */
} PmEvalSampled;

typedef struct PmEvalRecord {
	char label[128];
	PmVerdict verdict;
	char why[PM_ERR_MAX]; /* one sentence; empty when OK */
	char *near_miss;      /* owned; when nothing matched */
	char *explained;      /* owned; rules that declined or came near, as a JSON object; may be NULL */
	/* Owned; with opts.keep_rewritten, the rewritten graph as JSON (rewritten.h). NULL = nothing was
	 * rewritten, or the record was stored. No part of a record's JSON. */
	char *rewritten;
	/* match */
	int n_applied, n_kernels;
	double coverage; /* share of the baseline's time spent in what was replaced; measured when
			  * timing.outside is, else modelled */
	/* correctness */
	size_t n_outputs;
	PmScoreOutput *outputs; /* owned: of each kernel result (passnet: graph output), worst over all input
				 * classes and alternatives */
	int smallest_t;         /* PM_T_NEVER when it never passes or was not compared */
	PmWorst worst;          /* of the worst output; index -1 when nothing differs */
	char worst_where[256];  /* "output 'y', inputs normal, alternative 0" */
	PmFailure failure;      /* what `why` says of a result or a run, as fields */
	PmEvalBound bound;
	PmEvalReached reached;
	PmEvalUnchecked unchecked;
	int n_first;                          /* classes of a first answer; 0 = the record is a whole one */
	PmInputClass first[PM_N_ALL_CLASSES]; /* which, in the order they ran */
	PmEvalSampled sampled;
	/* speed */
	int alternative;         /* that the figures below are of */
	char plan[PM_CHAIN_HEX]; /* its digest (runtime/exec/exec.h): what was judged, timed and checked; "" =
				  * none
				  */
	int measured;            /* 0: modelled by a profile */
	PmEvalTiming timing;
	/* Launches of the candidate whose modelled times are of what was counted (runtime/worker/count.h);
	 * and why there are none, where there should be. */
	int counted_launches;
	char not_counted[PM_ERR_MAX];
	double baseline_seconds, candidate_seconds;
	double speedup; /* NaN when there is none */
	int baseline_launches, candidate_launches;
	int64_t baseline_bytes, candidate_bytes;
	double wall_seconds;     /* the evaluation took */
	PmProductsDone products; /* of the reference, on the device */
	PmStageTimes stages;     /* where they went; all 0 in a record that was stored */
	/* By which everything was drawn for this record and for no other: known when it is over. */
	char secret[PM_SECRET_HEX];
	PmCodeDigests code; /* of the kernels */
	int unread_cc; /* the device's architecture when the cubin gate reads no instructions of it, else 0 */
	char inputs[PM_CHAIN_HEX]; /* digest of the inputs of all runs that were judged, in order */
} PmEvalRecord;

/* What became of the pass on hidden shapes: of the same computation, drawn when the pass was there. */
typedef struct PmEvalHidden {
	int n, n_matched;  /* shapes; those on which a rule applied */
	PmVerdict verdict; /* OK, or the first that says that the pass is wrong; then no record counts as
			      right */
	char why[PM_ERR_MAX];
	char variant[128];          /* the shape on which it is wrong, */
	PmFailure failure;          /* and what `why` says of it as fields */
	char secret[PM_SECRET_HEX]; /* by which the shapes and their inputs were drawn */
	double wall_seconds;        /* all of them took; 0 when this was stored */
} PmEvalHidden;

typedef struct PmEvalReport {
	char pass[256]; /* path */
	char sha256[65];
	PmObject *object; /* owned: the bytes that have this digest, and that every record is of */
	size_t n;
	PmEvalRecord *rec; /* owned */
	PmScore score;
	size_t n_not_judged; /* records of HARNESS_FAIL: no part of the score */
	size_t n_algebraic;  /* variants that clean-up alone makes faster; filled by the caller */
	double fast1;        /* share that is correct and credited with a speedup above 1 */
	/* Layers that this machine lacks for passes or, on emu, for kernels, and architectures whose machine
	 * code is not read; "" = none. */
	char sandbox_lacks[192];
	PmEvalHidden hidden;
	/* Drawn by what an earlier report says, so that it has no score; of so many records the verdict is
	 * that report's. */
	int replayed;
	size_t n_agree;
	/* Variants of the task that have no record, since a part was asked for or the first failure ended it:
	 * with any, there is no score. Filled by the caller. */
	size_t n_left_out;
	/* How many processes evaluated, and how long all of it took by the wall; 0 where nobody said. */
	int jobs;
	double wall_seconds;
	PmPrint *printed; /* owned; what kernels printed: a debugging run, without a score. NULL = none */
	PmEvalOpts opts;
} PmEvalReport;

/* Evaluates one pass on n variants. PM_OK whatever the pass does; errors are the harness's own. */
PmStatus pm_eval_pass(const char *so_path, const PmEvalVariant *m, size_t n, const PmEvalOpts *opts,
		      PmEvalReport *out, PmErr *err);
void pm_eval_report_release(PmEvalReport *r);

/* One record alone (the same stages), for callers that store each as it comes. What goes wrong with this
 * variant alone and is not the pass's is HARNESS_FAIL; an error is the machine's (no device, a full disk). */
PmStatus pm_eval_variant(const char *so_path, const PmEvalVariant *m, const PmEvalOpts *opts,
			 PmEvalRecord *out, PmErr *err);
/* Seconds that this process has waited for the locks of these options so far, as pm_rwlock_waited. */
double pm_eval_waited(const PmEvalOpts *opts);
/* 1 for verdicts that say that the pass did wrong: not that it declined, that nothing was there to win, that
 * there was no time, or that the harness could not judge it. */
int pm_is_failing(PmVerdict v);
/* The record of a variant whose evaluation ended without one of its own: HARNESS_FAIL or NOT_CHECKED, with
 * this sentence. */
void pm_eval_ended(const PmEvalVariant *m, const PmEvalOpts *opts, PmVerdict v, const char *why,
		   PmEvalRecord *out);
void pm_eval_record_release(PmEvalRecord *r);
/* Starts a report: reads the pass, once (opts.object of the report is what every pm_eval_variant gets), and
 * makes room for n records, which the caller fills. */
PmStatus pm_eval_report_begin(PmEvalReport *r, const char *so_path, size_t n, const PmEvalOpts *opts,
			      PmErr *err);
/* Scores records gathered one by one (fills score and fast1). A measured speedup has its interval with it. */
PmStatus pm_eval_score(PmEvalReport *r, PmErr *err);
/* The status of record i for bench/score/score.h: of its verdict and its time, and of the hidden shapes. */
const char *pm_eval_score_status(const PmEvalReport *r, size_t i);

#endif
