/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_interval.h - arithmetic on intervals of integers as PTX computes with them (private to integrity/). */
#ifndef INTEGRITY_PTX_INTERVAL_H
#define INTEGRITY_PTX_INTERVAL_H

#include "integrity/ptx/ptx_lex.h"

#include <stdint.h>

/* A number between lo and hi, or, with `object` >= 0, that many bytes behind the beginning of a variable. */
typedef struct PmPtxRange {
	int known;
	int32_t object;
	int64_t lo, hi;
} PmPtxRange;

/* Intervals hold a register's bits read as a signed number of its width. */

/* Any bits: nothing is known of the register. */
PmPtxRange pm__ptx_unknown(void);
/* All numbers of a width; unknown for 64 bits and more. */
PmPtxRange pm__ptx_any(int bits);
PmPtxRange pm__ptx_between(int64_t lo, int64_t hi);
/* r when it fits into a signed number of the width, else any. */
PmPtxRange pm__ptx_fit(PmPtxRange r, int bits);
PmPtxRange pm__ptx_union(PmPtxRange a, PmPtxRange b);
/* The same bits read as unsigned. */
PmPtxRange pm__ptx_unsigned(PmPtxRange r, int bits);
/* What an instruction computes: its opcode, the name of its row in ptx_ops.def, and up to three operands
 * (`n`). Unknown for what is not handled. */
PmPtxRange pm__ptx_compute(PmPtxToken opcode, const char *name, const PmPtxRange *a, int n);
/* What is left of r, bits wide, where `r compare b` is true (`is`) or false. `compare`: "lt" and the like;
 * is_unsigned: u32 and its kind. */
PmPtxRange pm__ptx_where(PmPtxRange r, const char *compare, PmPtxRange b, int bits, int is_unsigned, int is);

#endif
