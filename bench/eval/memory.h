/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - what an evaluation of a graph needs, and what this machine has, before anything is taken. */
#ifndef BENCH_EVAL_MEMORY_H
#define BENCH_EVAL_MEMORY_H

#include "ir/core/graph.h"

/* Bytes; INT64_MAX where a sum does not fit. All follow from the graph alone: no pass can change them. */
typedef struct PmMemoryNeed {
	int64_t inputs, outputs; /* of the graph */
	int64_t values;          /* between operators, most at one time, as eager runs have them */
	int64_t reference;       /* operands and results of the largest operator in double precision */
	int64_t drawing; /* beside the inputs while the reference runs on them: by rows, or all inputs,
			  * and of one operator what are no inputs, in double precision */
	int64_t judging; /* beside inputs and outputs while results are judged: by rows, or the reference */
} PmMemoryNeed;

/* The graph is sorted and static. */
void pm_memory_need(const PmGraph *g, PmMemoryNeed *out);
/* Of the device: inputs, outputs and what lies between. */
int64_t pm_memory_of_device(const PmMemoryNeed *n);
/* Of this machine, the most of three moments: inputs are drawn; a run is repeated over other poison (inputs
 * here and in the device's process, the results of two runs here and of one there); results are judged. With
 * `emulated` the device, too. It is of a graph in one kernel, and what a bound needs that is not judged by
 * rows is more: what is refused by it does not fit, and what is not may still be too much. */
int64_t pm_memory_of_host(const PmMemoryNeed *n, int emulated);

/* Bytes that processes of this machine may still take: of what the system calls available, and of the limits
 * of the control groups that this process is in. INT64_MAX where nobody says. */
int64_t pm_memory_available(void);

/* PM_E_LIMIT, with a sentence that has both numbers, when this needs more than `have`. `where`: "this
 * machine". */
PmStatus pm_memory_check(int64_t need, int64_t have, const char *where, const PmMemoryNeed *n, PmErr *err);

#endif
