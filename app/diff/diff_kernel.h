/* SPDX-License-Identifier: Apache-2.0 */
/* diff_kernel.h - which nodes of the other graph a fused kernel stands for. */
#ifndef APP_DIFF_DIFF_KERNEL_H
#define APP_DIFF_DIFF_KERNEL_H

#include "app/diff/diff_priv.h"

typedef PM_VEC(uint32_t) PmDiffBody; /* places in the other graph, in order */

/* Fills found[i] for each Kernel node i of `own` that has no pair: the nodes of `other` without a pair that
 * have the operators of its body, connected as there. Zeroed by the caller, who releases each. */
void pm__diff_kernels(const Side *own, const Side *other, PmDiffBody *found);

#endif
