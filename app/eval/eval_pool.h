/* SPDX-License-Identifier: Apache-2.0 */
/* eval_pool.h - evaluations of one pass, several at once, whose results come in order.
 *
 * Each runs in a process of this program (base/sys/pool.h), which starts those that run a stranger's code
 * itself, as the caller would (docs/design/integrity.md). What is drawn follows from the secret of its
 * options and from label and number, so that records are the same, but for times, however many processes
 * there are. */
#ifndef APP_EVAL_POOL_H
#define APP_EVAL_POOL_H

#include "bench/eval/runner.h"

typedef struct PmEvalItem {
	PmEvalVariant v;
	const PmEvalOpts *opts; /* borrowed; with a secret, unless v has a replay */
} PmEvalItem;

typedef struct PmEvalPool {
	const char *so;
	const PmEvalItem *item;
	size_t n;
	size_t first; /* item that is evaluated before the others, and taken in its turn like them */
	int jobs;     /* processes; 0 or 1 = all in this one, one after the other */
	/* In the caller, in the order of the items: *rec becomes the callee's. Any other status than PM_OK
	 * ends what runs; PM_DECLINED is no error. */
	PmStatus (*take)(void *arg, size_t item, PmEvalRecord *rec, PmErr *err);
	/* In the caller, before it is taken: as soon as a record is there, and so in any order. May be NULL.
	 */
	PmStatus (*came)(void *arg, size_t item, const PmEvalRecord *rec, PmErr *err);
	/* In the caller, many times a second while others evaluate: with it there is a process for one job,
	 * too. May be NULL. */
	void (*tick)(void *arg);
	void *arg;
} PmEvalPool;

/* PM_OK when all were taken or `take` declined. An error of pm_eval_variant is returned when everything that
 * was finished before it has been taken. A process that dies is tried again; an item whose process died three
 * times is HARNESS_FAIL. One that is still at work a tenth after the deadline of its options is ended and
 * NOT_CHECKED: with a deadline there is a process for one job, too (not while kernels print). */
PmStatus pm_eval_pool(const PmEvalPool *p, PmErr *err);

#endif
