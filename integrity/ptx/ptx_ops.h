/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_ops.h - which instructions there may be, and what each does with addresses (private to integrity/). */
#ifndef INTEGRITY_PTX_OPS_H
#define INTEGRITY_PTX_OPS_H

#include "integrity/ptx/ptx_lex.h"

#include <stdint.h>

typedef enum {
	PM__PTX_ARITH,   /* registers and numbers only */
	PM__PTX_MOVE,    /* may take a variable's address */
	PM__PTX_POINTER, /* cvta: an address in another space */
	PM__PTX_LOAD,
	PM__PTX_STORE,
	PM__PTX_ATOMIC, /* reads and writes, or copies from one address to another */
	PM__PTX_BRANCH,
	PM__PTX_CALL,
	PM__PTX_PLAIN, /* no registers are written */
} PmPtxClass_;

typedef struct PmPtxOp {
	const char *name;
	PmPtxClass_ cls;
	int results;
	const char *spaces, *modifiers;
} PmPtxOp;

/* The row of an opcode whose every part is known; NULL when it is refused, with *why the reason and what to
 * do (never NULL then). */
const PmPtxOp *pm__ptx_op_find(PmPtxToken opcode, const char **why);
/* The letter of the state space that an opcode names ("ld.global.nc.f32": 'g'): g, s, l, c, p, or x for none.
 */
char pm__ptx_op_space(PmPtxToken opcode);
/* The last type of an opcode in bits (0: none), and its letter u, s, b or f in *kind. With `first` the first.
 */
int pm__ptx_op_type(PmPtxToken opcode, int first, char *kind);
/* Bytes that "ld.global.v4.u32" reaches; 16 without a type. */
int64_t pm__ptx_op_bytes(PmPtxToken opcode);

#endif
