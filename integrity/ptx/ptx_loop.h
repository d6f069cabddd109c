/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_loop.h - registers that grow by a constant in a counted loop of a PTX function (private to integrity/).
 */
#ifndef INTEGRITY_PTX_LOOP_H
#define INTEGRITY_PTX_LOOP_H

#include "integrity/ptx/ptx_cfg.h"

/* The statements that write a register: the first two, and how many there are. */
typedef struct PmPtxWriters {
	int32_t n, s[2];
} PmPtxWriters;

/* A register that one statement sets before a loop and another, in the block that closes the loop, increases.
 */
typedef struct PmPtxCounter {
	int32_t set, grow; /* the statements */
	int64_t step;
	int32_t copies; /* instead of growing it takes over another register, that of a counter; else -1 */
	int32_t head, tail;         /* the loop's first block; the one that goes back to it */
	const PmPtxStatement *test; /* the comparison after which it goes back */
} PmPtxCounter;

/* 1 when the register with these writers is one, and nothing but `set` leads into the loop: neither from
 * outside nor back from its exit. */
int pm__ptx_counter(const PmPtxFunction *f, const PmPtxCfg *c, const PmPtxWriters *w, int32_t reg,
		    PmPtxCounter *out);
/* 1 when the block is inside of the loop. */
int pm__ptx_in_loop(const PmPtxCfg *c, const PmPtxCounter *k, int32_t block);

#endif
