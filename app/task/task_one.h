/* SPDX-License-Identifier: Apache-2.0 */
/* task_one.h - making one task of a few stored graphs: variants, gate, difficulty. */
#ifndef APP_TASK_ONE_H
#define APP_TASK_ONE_H

#include "bench/gate/gate.h"
#include "dataset/store/db.h"

enum { PM_TASK_MIN_SHAPES = 5, PM_TASK_MAX_BASES = 4 };

/* What the gate said of a graph. */
typedef struct PmTaskVerdict {
	int ok;
	char rule[32];
	char *why, *json; /* owned */
} PmTaskVerdict;

typedef struct PmTaskSpec {
	const int64_t
		*base;   /* numbers of stored graphs with the same operators; the first is the one judged */
	size_t n_base;   /* at most PM_TASK_MAX_BASES */
	const char *key; /* what names the attempt: 64 hexadecimal digits */
	const char *split, *policy;
	int64_t shapes, max_elements, seed;
	int n_honest;
	/* Gives a verdict on another graph of the same structure (borrowed); NULL: the first base is judged
	 * itself. */
	PmStatus (*judge)(void *arg, const PmTaskVerdict **out, PmErr *err);
	void *judge_arg;
} PmTaskSpec;

typedef struct PmTaskMade {
	int made;   /* 1: stored now or before; 0: rejected, now or before */
	int before; /* it was decided by an earlier run */
	int64_t task;
	int64_t variants;
	int64_t shapes_dropped; /* now, because the reference does not run them */
	char rule[32];          /* why it was rejected, now: a rule of the gate, "shapes", "types", "size" or
				   "variants" */
} PmTaskMade;

/* Makes the task, or remembers that and why it is none. Every base gets its shapes in float, float16 and
 * bfloat16; one base gets `shapes` of them, several get PM_TASK_MIN_SHAPES each, and a base that cannot is
 * left out. */
PmStatus pm_task_make_one(PmDb *db, const PmTaskSpec *spec, PmTaskMade *out, PmErr *err);

/* "Mul_Sigmoid-1a2b3c4d": what a graph does and which it is, by the first 8 digits of `hash`; appended. */
void pm_task_default_name(const PmGraph *g, const char *hash, PmStr *out);

/* Asks the gate about a graph's proxy (below). Release with pm_task_verdict_release. */
PmStatus pm_task_judge(const PmGraph *g, int64_t seed, int n_honest, PmTaskVerdict *out, PmErr *err);
void pm_task_verdict_release(PmTaskVerdict *v);

/* A report of the gate as JSON text, appended. */
void pm_task_gate_json(const PmGateReport *r, const char *label, PmStr *out);

#endif
