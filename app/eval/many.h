/* SPDX-License-Identifier: Apache-2.0 */
/* many.h - whole evaluations, of many graphs or tasks, several at once, whose results come in order.
 *
 * Each runs in a process of this program (base/sys/pool.h), and says what came of it as bytes. One that fails
 * or dies is one that failed: the others go on. */
#ifndef APP_MANY_H
#define APP_MANY_H

#include "app/eval/variant_list.h"
#include "app/gpus/seats.h"
#include "base/core/str.h"
#include "bench/eval/runner.h"

/* How one ended. */
typedef struct PmManyEnd {
	PmStatus status;  /* what `work` returned; PM_E_CRASH when its process died */
	const char *why;  /* the sentence of a failure; borrowed */
	const PmStr *out; /* what it said; borrowed; empty after a failure */
} PmManyEnd;

typedef struct PmMany {
	size_t n;
	int jobs; /* processes, at least 1 */
	/* Several GPUs: the processes take turns among them, and what one of them cannot do because of its
	 * GPU another one does. `work` then ends with another status than PM_OK where pm_many_accept said so.
	 * What no GPU is left for ends with PM_E_ENV. NULL = one device for all. Borrowed. */
	PmSeats *seats;
	/* In a process of its own for each of `jobs`: evaluates one, and appends what is to be known of it.
	 */
	PmStatus (*work)(void *arg, size_t item, PmStr *out, PmErr *err);
	/* In the caller, as soon as one has ended, and so in any order; may be NULL. */
	void (*ended)(void *arg, size_t item);
	/* In the caller, in order. Another status than PM_OK ends what runs. */
	PmStatus (*take)(void *arg, size_t item, const PmManyEnd *end, PmErr *err);
	/* In the caller, many times a second while others evaluate; may be NULL. */
	void (*tick)(void *arg);
	void *arg;
} PmMany;

/* PM_OK when all were taken, whatever became of them. */
PmStatus pm_many(const PmMany *m, PmErr *err);

/* Whether a record counts, or the GPU that it comes from is left (PmEvalTask.accept; `seats` is a PmSeats).
 */
PmStatus pm_many_accept(void *seats, const PmEvalRecord *rec, PmErr *err);

/* Bytes of this machine that an evaluation of the most demanding of these variants needs, as far as graphs
 * say (bench/eval/memory.h). */
int64_t pm_many_need(const PmVariantList *list, const char *device);
/* How many evaluations run at once when `asked` were asked for: that many. Where nobody asked (0): on `emu`
 * as many as there are processors; on a GPU, where clocks take turns and each evaluation has three processes
 * at work, a third of them and at most 4; everywhere not more than the memory that is free has room for, when
 * each needs `need` bytes. At least 1. */
int pm_many_jobs(int64_t asked, const char *device, int64_t need);
/* The same for each of n_gpus GPUs, which share processors and memory. */
int pm_many_jobs_each(int64_t asked, int n_gpus, int64_t need);

#endif
