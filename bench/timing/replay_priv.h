/* SPDX-License-Identifier: Apache-2.0 */
/* replay_priv.h - what the parts of replay_verify.h share: findings, and lots of calls that are made again.
 */
#ifndef BENCH_REPLAY_PRIV_H
#define BENCH_REPLAY_PRIV_H

#include "base/core/rng.h"
#include "bench/timing/replay_verify.h"

/* More suspicious than any distance makes a call. */
enum { PM_SUSPICION_SPECIAL = 1000 };

/* What is known of one timed call of the candidate. */
typedef struct Finding {
	size_t call;      /* in the clock's list */
	int special;      /* it made other bits than its replay, */
	int inner;        /* but only between its kernels: its outputs are the same */
	int suspicion;    /* orders what the reference is asked about: the largest first */
	PmSketch *sketch; /* of the replay's outputs, where the call's were not kept; owned */
	double *distance; /* of each output from the baseline's, by sketches; owned; NULL = not known */
	PmTensor *out;    /* brought back from a replay of the same bits; owned */
} Finding;

typedef struct Check {
	PmWorker *w; /* the candidate's */
	const PmGraph *original;
	const PmClockResult *c;
	const PmReplayOpts *o;
	PmReplayResult *out;
	PM_VEC(Finding) f; /* calls of the candidate, by alternative and the number of their inputs */
} Check;

static inline const PmTimedCall *pm__call_of(const Check *k, size_t i)
{
	return &k->c->calls.v[k->f.v[i].call];
}

/* What it made; NULL = nobody has it. */
static inline const PmTensor *pm__outputs_of(const Check *k, size_t i)
{
	return k->f.v[i].out ? k->f.v[i].out : pm__call_of(k, i)->out;
}

/* The same outputs, and the same values between the kernels. */
static inline int pm__same_made(const PmMade *a, const PmMade *b)
{
	return pm_digest_equal(&a->out, &b->out) && pm_digest_equal(&a->inner, &b->inner);
}

/* States what is wrong; the first that is stated stays. Returns PM_OK. */
PmStatus pm__found(PmReplayResult *out, PmReplayState s, const char *fmt, ...) PM_PRINTF(3, 4);

/* ---- replay_calls.c: making calls again ---- */

typedef struct Index {
	uint64_t index;
	int alt;     /* 0 for the baseline */
	size_t call; /* in the clock's list, or number of a finding */
} Index;

/* The calls of the candidate, or of all sides, by alternative and the number of their inputs. Owned by the
 * caller. */
Index *pm__list_calls(const PmClockResult *c, int candidate_only, size_t *n);
/* The same order, of any list. */
void pm__sort_calls(Index *list, size_t n);

/* A batch of calls of one side on consecutive inputs: list[first .. last), whose inputs are `batch` numbers
 * from `index` on. */
typedef struct Batch {
	size_t first, last;
	uint64_t index;
	int side, batch;
} Batch;

/* Who makes calls again: a worker of its own, and numbers of its own. */
typedef struct Again {
	Check *k;
	PmWorker *w;
	const PmWork *side; /* n_sides of them */
	int n_sides;
	PmRng rng;
} Again;

/* Opens a clock in a new process and hands its batches to `each`, in a random order. The process has ended
 * then. */
PmStatus pm__replay(Again *a, const Index *list, size_t n,
		    PmStatus (*each)(Again *a, const Index *list, const Batch *b, PmErr *err), PmErr *err);
/* Makes the calls of a batch; room for b->batch in `made`. */
PmStatus pm__make_again(Again *a, const Batch *b, PmMade *made, PmErr *err);

/* ---- replay_baseline.c: the baseline's calls ---- */

/* Sketches of the baseline's outputs on inputs of one number. */
typedef struct Sketched {
	uint64_t index;
	PmSketch *sketch; /* owned */
} Sketched;

/* The baseline makes all calls again, beside the candidate, which does so in another process: what is written
 * here nothing else looks at before pm__baseline_end. */
typedef struct Baseline Baseline;
Baseline *pm__baseline_begin(Check *k);
/* Waits for it, and sets distances. What failed is tried once more: on a GPU that takes one process at a time
 * the candidate's has to end first. Frees `b`. */
PmStatus pm__baseline_end(Baseline *b, PmErr *err);

/* ---- replay_judge.c: the reference ---- */

/* Asks about kept calls drawn at random while calls are made again, in processes that hold no device: for
 * half of its seconds at most. Begin it before the other processes; NULL = there is nobody to ask meanwhile.
 */
typedef struct Beside Beside;
Beside *pm__judge_beside(const Check *k);
/* For what is over without it; NULL is allowed. */
void pm__judge_beside_drop(Beside *b);
/* Ends `b`, which it frees. Orders the other findings whose outputs are here, and asks about as many as there
 * is time left for. */
PmStatus pm__replay_judge(Check *k, Beside *b, PmErr *err);

#endif
