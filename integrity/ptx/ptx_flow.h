/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_flow.h - where the values in a module's registers come from (private to integrity/).
 *
 * For each register the union of all that any statement may put into it, whatever the order of statements:
 * plain numbers, a kernel's 64-bit parameters, what memory held, addresses in shared memory, in a local
 * frame, in constants, in a table of the compiler. Every instruction that computes passes on the union of
 * what it reads. Local memory, shared memory and the arguments of calls are one value each.
 */
#ifndef INTEGRITY_PTX_FLOW_H
#define INTEGRITY_PTX_FLOW_H

#include "integrity/ptx/ptx_body.h"

enum {
	PM__PTX_PARAM = 1,  /* an argument of 64 bits of a launch: a pointer, or a number */
	PM__PTX_READ = 2,   /* from global memory */
	PM__PTX_SHARED = 4, /* an address, as the following */
	PM__PTX_LOCAL = 8,
	PM__PTX_CONST = 16,
	PM__PTX_TABLE = 32,
};

typedef struct PmPtxFlow {
	uint8_t **of; /* [function][register] */
	size_t n;
	uint8_t args, local, shared; /* what these hold */
} PmPtxFlow;

/* Follows all values. Returns 0 when that takes more than a bounded number of rounds. */
int pm__ptx_flow(const PmPtxFunctions *f, const PmPtxObjects *module, PmPtxFlow *out);
void pm__ptx_flow_release(PmPtxFlow *flow);

/* The object that an operand names. */
const PmPtxObject *pm__ptx_object(const PmPtxFunction *f, const PmPtxObjects *module, int32_t id);
/* The state space of the address o of statement s: its letter. */
char pm__ptx_address_space(const PmPtxFunction *f, const PmPtxStatement *s, const PmPtxOperand *o);

#endif
