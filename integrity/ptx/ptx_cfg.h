/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_cfg.h - the blocks of a PTX function and which dominates which (private to integrity/). */
#ifndef INTEGRITY_PTX_CFG_H
#define INTEGRITY_PTX_CFG_H

#include "integrity/ptx/ptx_body.h"

typedef struct PmPtxBlock {
	size_t first, last;      /* statements, the last included */
	int32_t falls, branches; /* the next block, that of its branch; PM__PTX_NONE for none */
	int32_t idom;            /* its immediate dominator; PM__PTX_NONE when no path leads here */
	int32_t order;           /* its number in reverse postorder */
	PM_VEC(int32_t) before;  /* the blocks that lead here */
} PmPtxBlock;

typedef struct PmPtxCfg {
	PM_VEC(PmPtxBlock) blocks;
	int32_t *of; /* the block of each statement */
} PmPtxCfg;

/* Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm". Returns 0 when the function has no
 * statements, a label twice, or too tangled a graph. */
int pm__ptx_cfg(const PmPtxFunction *f, PmPtxCfg *out);
void pm__ptx_cfg_release(PmPtxCfg *cfg);
/* 1 when every path to block b leads through block a. */
int pm__ptx_dominates(const PmPtxCfg *cfg, int32_t a, int32_t b);

#endif
