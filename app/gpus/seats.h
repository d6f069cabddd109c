/* SPDX-License-Identifier: Apache-2.0 */
/* seats.h - several GPUs to which items of work are given, by processes that see one GPU each.
 *
 * Made before the processes of a pool (base/sys/pool.h) are forked; worker number w of it sits at GPU w
 * modulo their number. Before each item a process looks how its GPU is and claims it from other commands
 * (runtime/gpus/gpu_claim.h); afterwards it says how the item ended. What follows from that is in
 * seat_rules.h.
 */
#ifndef APP_SEATS_H
#define APP_SEATS_H

#include "base/core/json.h"
#include "base/core/str.h"
#include "base/sys/pool.h"
#include "runtime/gpus/gpus.h"

typedef struct PmSeats PmSeats;

/* The GPUs that `text` names (pm_gpus_select). `locks`: the folder of pm_gpu_claim_open, or NULL. `say` gets
 * each sentence about a GPU that is left or taken, once, in the process that finds out. Returns owned; errors
 * are those of pm_gpus_find, pm_gpus_select and pm_gpu_claim_open. */
PmStatus pm_seats_new(const char *text, const char *locks, void (*say)(const char *text), PmSeats **out,
		      PmErr *err);
void pm_seats_free(PmSeats *s); /* NULL is allowed */
int pm_seats_n(const PmSeats *s);
const PmGpu *pm_seats_gpu(const PmSeats *s, int seat);
/* The seat of this process; 0 in the one that made it. */
int pm_seats_at(const PmSeats *s);

/* In a worker, before it begins: from here on it and what it starts see this GPU alone, and run on the
 * processors nearest to it. The driver has not been initialised in this process. */
void pm_seats_sit(PmSeats *s, int worker);
/* PmPool.may and PmPool.pass. */
PmPoolMay pm_seats_may(PmSeats *s);
void pm_seats_pass(PmSeats *s);
void pm_seats_begin(PmSeats *s, int64_t item);

/* What one result says of the GPU. */
typedef struct PmSeatSaw {
	int error;       /* it ended with an error that a broken GPU may give as well as a kernel */
	uint64_t slowed; /* reasons for low clocks that NVML gave while it was measured */
	int others;      /* processes that were no part of this */
} PmSeatSaw;
/* Before a result counts: PM_OK when it does, PM_E_DEVICE when the GPU is left, and the item to be given
 * back. */
PmStatus pm_seats_accept(PmSeats *s, const PmSeatSaw *saw, PmErr *err);
/* The item is over, with this status: 1 when it is to be given back (PM_DECLINED), as another GPU may do it.
 */
int pm_seats_end(PmSeats *s, PmStatus st);

/* [{"index", "uuid", "name", "items", "left", "why"}, ...]; owned. */
cJSON *pm_seats_json(const PmSeats *s);
/* "GPU 0: it is slowed down (heat); GPU 2: ..." of those that were left; appended. */
void pm_seats_why_left(const PmSeats *s, PmStr *out);

#endif
