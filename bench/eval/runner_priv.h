/* SPDX-License-Identifier: Apache-2.0 */
/* runner_priv.h - what the stages of an evaluation share.
 *
 * pm_eval_variant (runner.c) runs them in this order until one says a verdict other than OK: match, compile,
 * correctness, speed, which ends with the clock where the device has one. A stage fills its part of the
 * record. Its status is the harness's own; whatever the pass did is the record's verdict.
 */
#ifndef BENCH_RUNNER_PRIV_H
#define BENCH_RUNNER_PRIV_H

#include "base/sys/serve.h"
#include "bench/eval/probe.h"
#include "bench/eval/runner.h"
#include "bench/rows/rows.h"
#include "ir/core/kernel.h"
#include "runtime/worker/run.h"

/* What the comparisons of one result said that the error bound cannot tell from another answer. */
typedef struct PmSilence {
	int silent, telling; /* comparisons */
	int doubtful;        /* of the silent: not within the ladder's level that decides, or no better than
			      * a constant */
	char why[PM_ERR_MAX / 2];
	PmFailure failure; /* the same as fields */
} PmSilence;

/* Runs of which only some blocks run (runner_sample.c). */
typedef struct PmSampling {
	int on;
	uint64_t n_drawn;
	PmSampled run;                 /* of the run that is judged now; zeros while all blocks run */
	uint32_t grid[PM_MAX_ALTS][3]; /* of the kernel's one launch, by alternative */
	PmRows rows;                   /* owned: of its results */
	int64_t *row, n_row;           /* owned: those that the run has written, as far as they are judged */
} PmSampling;

/* What one variant's evaluation carries from stage to stage. */
typedef struct Eval {
	const PmEvalVariant *m;
	const PmEvalOpts *o;
	PmEvalRecord *rec;
	PmCandidate cand;
	PmWorker *worker;     /* the candidate's own */
	PmProducts *products; /* large ones of the reference; NULL = the processor computes all */
	PmServer *ahead;      /* compiles meanwhile; NULL = nobody does */
	PmProbe probe;        /* the candidate with every kernel's operands and results as outputs */
	int quick;            /* the reference is: all classes are drawn, and what they reach is measured */
	PmTensor *first; /* owned: inputs of the first class, which the reference has run; NULL once used */
	PmReached first_reached;
	int again;        /* which repetition of a class this is; 0 = the first time */
	PmBranches taken; /* by all inputs so far */
	double deadline;  /* seconds of a run on the device, from what the reference took */
	int exclusive;    /* the device takes one process at a time: none is prepared for what comes later */
	int n_alts;       /* most alternatives of any kernel */
	char plan[PM_MAX_ALTS][PM_CHAIN_HEX]; /* pm_exec_digest of each when it was judged; "" = not yet */
	struct {
		int done; /* 1: counted; -1: not to be had */
		PmPlanStats stats;
		int launches; /* of which times are of counts */
	} counted[PM_MAX_ALTS];
	int by_ladder;       /* a result for which there is no bound is wrong at the level that decides */
	PmSilence *silence;  /* owned; by result, while results are judged */
	PmFailure beyond;    /* what bound.why says, as fields */
	PmFailure not_close; /* the same of the worst that the ladder refuses, */
	int not_close_t;     /* and the level from which on it is close; 0 = none yet */
	PmSampling sample;
	PmFailure run;     /* of the run that is judged now: inputs and alternative */
	PmSecret *secret;  /* owned; of this variant alone */
	uint64_t n_poison; /* what buffers hold before a run is new for each */
	int told;          /* that something is wrong */
	int n_right;       /* classes of inputs of this alternative that have been looked at */
	int right;         /* they all were, in the end */
	int answered;      /* the first answer was told */
	int first_alt;     /* of a first answer: the alternative that is looked at */
	double start;      /* of the evaluation, on pm_now()'s clock */
	double waited;     /* until then, for the lock: what it waits from then on is no time of its own */
	double longest;    /* seconds of a check so far */
	PmStages stages;   /* runs from the first stage to the last */
	const PmTensor
		*unwritten; /* inputs of this run that are not in the record's digest yet; NULL = none */
} Eval;

/* Sets verdict and reason; returns PM_OK. */
PmStatus pm__say(Eval *e, PmVerdict v, const char *text);
/* 1 when one more check, as long as the longest so far, ends before the deadline. */
int pm__may_go_on(const Eval *e);
/* The locks of evaluations in other processes (PmEvalOpts). What this one has of them ends when it is called,
 * and others may use the device while it waits. At the beginning, for all that is not timed; */
PmStatus pm__share_device(Eval *e, PmErr *err);
/* before what opens the device, which may have to wait for another one's clock; */
PmStatus pm__follow_clock(Eval *e, PmErr *err);
/* for a clock; and when it is over. */
PmStatus pm__have_device_alone(Eval *e, PmErr *err);
PmStatus pm__let_others(Eval *e, PmErr *err);
/* At the end, when the worker is gone. */
void pm__leave_device(Eval *e);
/* 1 for an evaluation that opens the device after another one's clock. */
int pm__follows(const Eval *e);
/* runner_products.c: from here on the device computes large products of the reference, until `end`. */
void pm__products_begin(Eval *e);
void pm__products_end(Eval *e);
/* Writes down what is not checked for want of time, and says the verdict of that. */
void pm__leave_out(Eval *e, const char *what);
void pm__say_unchecked(Eval *e);
/* Tells the caller at once that something is wrong, the first time. */
void pm__tell(Eval *e, const char *why);
/* runner_first.c: chooses the alternative of a first answer, by the model, before anything is compiled. */
PmStatus pm__first_choose(Eval *e, PmErr *err);
/* How many classes of inputs make a first answer. */
int pm__first_classes(const Eval *e);
/* Writes down what a first answer did not look at, once it is known to be right so far. */
void pm__first_leave_out(Eval *e);
/* Tells the first answer of an evaluation that goes on: after enough classes of inputs of alternative `alt`
 * where times are modelled, or not asked for; */
void pm__first_tell(Eval *e, int alt);
/* and where they are measured, with the interval, before the timed calls have been looked at. */
void pm__first_tell_measured(Eval *e, int alt, double speedup, double lo, double hi);
/* A number that nobody knows before the evaluation is over (base/secret/secret.h). Drawn where it is used:
 * what a variable holds, a worker that is started later inherits. */
uint64_t pm__draw(const Eval *e, const char *purpose, uint64_t number);
/* The verdict of a failed device run. */
PmVerdict pm__device_verdict(PmStatus st);
/* Failures that are the machine's, not the pass's. */
int pm__is_our_fault(PmStatus st);
/* Where the candidate's kernels run: the device, or that on which they may print. */
const char *pm__eval_device(const Eval *e);
/* How a device run ended: PM_OK, with the verdict of `why` when it failed, or an error that is ours. */
PmStatus pm__device_said(Eval *e, PmStatus st, const PmErr *why, PmErr *err);
/* Verdicts about results alone, which may be good enough at some level of the ladder. */
int pm__is_inexact(PmVerdict v);
/* Alternative `k` for every kernel that has one, its last otherwise: *n of them, in execution order, owned by
 * the caller. */
int *pm__choose_alternatives(const PmGraph *g, int k, size_t *n);

/* What is tuned, timed, checked and stored is what was judged: the first digest of an alternative, in the
 * correctness stage, is the one that every later has to be. PM_E_ENV when it is another. */
PmStatus pm__same_plan(Eval *e, int alt, const char *digest, PmErr *err);
/* The record is of this alternative. */
void pm__choose(Eval *e, int alt);

/* runner_inputs.c: inputs that the reference has run. The stage comes before the pass sees the graph: where
 * the reference refuses the first class, nobody can be judged (HARNESS_FAIL). */
PmStatus pm__stage_inputs(Eval *e, PmErr *err);
/* Inputs of a class for one alternative, as far as the graph defines a result for them: no two runs get the
 * same, but that an edited one differs from its class's by eight elements. *use = 0 when the class has to be
 * left out. What a class reaches is noted the first time; all is, where the reference is quick. */
PmStatus pm__draw_inputs(Eval *e, PmInputClass cls, int alt, int edited, PmTensor *in, int *use, PmErr *err);
/* Adds the inputs of this run to the record's digest, once. */
void pm__write_down_now(Eval *e);
/* Writes the ways of conditions that no inputs went into the record. */
void pm__note_branches(Eval *e);
void pm__inputs_release(Eval *e);

/* Most alternatives of any kernel, at least 1. */
int pm__count_alternatives(const PmGraph *g);
/* runner_correct.c: the candidate on every class of inputs, each kernel against its body. */
PmStatus pm__stage_correctness(Eval *e, PmErr *err);
/* runner_judge.c: what the results are worth. `begin` makes the record's outputs, after the probe; `got` is
 * what the probe gave on inputs of a class, and is changed under passnet; `end` says the verdict. */
void pm__judge_begin(Eval *e);
PmStatus pm__judge(Eval *e, const PmTensor *in, PmRunResult *got, PmInputClass cls, const char *where,
		   PmErr *err);
void pm__judge_end(Eval *e);
/* 1 when a result is not told from another answer by any comparison so far; the first such in *s (may be
 * NULL). */
int pm__judge_open(Eval *e, const PmSilence **s);
/* 1 when nothing that was compared so far is wrong or open. */
int pm__judge_right(Eval *e);
/* runner_sample.c: a kernel over so many elements that the emulated device cannot run all of it in time is
 * judged on some of its blocks. `begin` decides whether; `next` draws the blocks of the runs on the next
 * inputs. Not on a GPU, ever. */
void pm__sample_begin(Eval *e);
void pm__sample_next(Eval *e);
/* The rows that a run over this poison has written; says NOT_CHECKED where they cannot stand for all. */
void pm__sample_look(Eval *e, const PmRunResult *got, uint32_t poison, int alt);
/* 1 when two runs of the same blocks over poisons p and q made the same bits, what neither wrote aside. Else
 * the first element that differs. */
int pm__sample_same(const PmRunResult *a, const PmRunResult *b, uint32_t p, uint32_t q, size_t *output,
		    int64_t *element);
/* Element i of the judged rows of a result as one of the whole result, and the same of all that a failure
 * names. */
int64_t pm__sample_element(const Eval *e, size_t result, int64_t i);
void pm__sample_place(const Eval *e, size_t result, PmFailure *f);
void pm__sample_release(Eval *e);
/* runner_races.c: one more run of the candidate on emu, if it has shared memory, that looks for races
 * (NONDET) and accesses between two arrays (OOB). */
void pm__check_races(Eval *e, const PmTensor *in, int alt, uint32_t poison);
/* 1 when there is something to watch in alternative `alt`. */
int pm__races_wanted(const Eval *e, int alt);
/* ahead.c: starts compiling what the emulated device will need of the candidate, beside the judgement of its
 * code; elsewhere nothing. `end` stops what is not done. */
void pm__ahead_begin(Eval *e);
void pm__ahead_end(Eval *e);
/* runner_speed.c: modelled times, coverage, and then the clock. */
PmStatus pm__stage_speed(Eval *e, PmErr *err);
/* runner_model.c: modelled times of the baseline and of the fastest alternative, of e->n_alts: by bytes and
 * operations alone, as long as nothing of the candidate may run; */
PmStatus pm__model(Eval *e, PmPlanStats *base, PmPlanStats *best, int *alt, PmErr *err);
/* and once it was judged, on the emulated device by what its kernels' accesses were counted to be. The record
 * says which of the two. */
PmStatus pm__model_counted(Eval *e, PmPlanStats *base, PmPlanStats *best, int *alt, PmErr *err);
/* What was replaced, as a share of the baseline's modelled time; and 1 when that has no credit. */
double pm__modelled_coverage(const PmPlanStats *base, const PmPlanStats *cand);
int pm__has_no_credit(const Eval *e, double share);
/* Modelled speedup of one alternative; NaN where there is none, or none that would have credit. */
double pm__modelled_speedup(Eval *e, int alt);
/* runner_clock.c: measured times with alternative `alt`, or the best by measure where there are several. Does
 * nothing where the device's times mean nothing. */
PmStatus pm__stage_clock(Eval *e, int alt, const PmPlanStats *base, const PmPlanStats *cand, PmErr *err);

#endif
