/* SPDX-License-Identifier: Apache-2.0 */
/* seat_rules.h - when a GPU is left, and when an item of work is to blame: rules without processes or locks.
 *
 * A seat is a GPU that work is given to. It is left for the rest of the command when something is wrong with
 * it. A kernel may break a GPU, too: then the item is tried on another one, and when that one breaks as well
 * the item is to blame, and both seats take work again if they can.
 */
#ifndef APP_SEAT_RULES_H
#define APP_SEAT_RULES_H

#include "runtime/gpus/gpus.h"

#include <stdint.h>

typedef struct PmSeatState {
	PmGpuFault left; /* PM_GPU_WELL = takes work */
	int64_t cause;   /* the item that broke it; -1 = none: it is left for good */
	int on_trial;    /* an item was blamed for what it did: it has to be tried before it takes work */
	int done;        /* items */
	char why[256];
	uint64_t errors; /* of its memory when the command began */
	int told_taken;  /* somebody was told that another command has it */
} PmSeatState;

typedef struct PmSeatRules {
	int n;
	PmSeatState seat[PM_GPUS_MAX];
} PmSeatRules;

typedef enum { PM_SEAT_TAKES, PM_SEAT_WAITS, PM_SEAT_IS_LEFT } PmSeatMay;
/* WAITS: it was broken by an item that another seat may still be trying. */
PmSeatMay pm_seat_may(const PmSeatRules *r, int seat);

/* Leaves a seat; what it had goes elsewhere. `why`: half a sentence. 1 the first time. */
int pm_seat_leave(PmSeatRules *r, int seat, PmGpuFault f, const char *why);

typedef enum {
	PM_FAULT_OF_ITEM, /* what came of it counts */
	PM_FAULT_OF_SEAT  /* it is tried on another one */
} PmFaultOf;
/* `item` ended on a seat with an error of the device, and a new process could (`usable`) or could not use
 * that GPU afterwards. An item that has broken another seat before is to blame. */
PmFaultOf pm_seat_fault(PmSeatRules *r, int seat, int64_t item, int usable, const char *why);
/* An item has come to its end, whatever came of it: seats that it broke, and that nobody else confirmed, are
 * left no longer on its account, but for good. */
void pm_seat_settle(PmSeatRules *r, int64_t item);
/* A seat on trial was tried. */
void pm_seat_tried(PmSeatRules *r, int seat, int usable);

#endif
