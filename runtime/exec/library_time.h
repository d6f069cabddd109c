/* SPDX-License-Identifier: Apache-2.0 */
/* library_time.h - the modelled time of launches of the plain run: calls that libraries take on a GPU,
 * products and convolutions, by the formula of include/passmith/target.h, and kernels that do more than move
 * bytes.
 */
#ifndef RUNTIME_EXEC_LIBRARY_TIME_H
#define RUNTIME_EXEC_LIBRARY_TIME_H

#include "ir/core/op.h"
#include "runtime/device/library.h"
#include "runtime/exec/profiles.h"

/* Of a call with so many bytes and operations, its launch included. Of types other than float, float16 and
 * bfloat16 it is that of any launch: what prof's first comment says. */
double pm_library_seconds(const PmLibCall *c, int64_t bytes, int64_t flops, const PmProfile *prof);
/* Of a kernel for a node of op, of so many blocks, bytes and operations. It is that of any launch, and more:
 * a norm, softmax or reduction waits for its sums, and the rows of a norm or softmax are moved by so many
 * multiprocessors as there are blocks. A pool looks through its windows. */
double pm_plain_seconds(PmOp op, int64_t blocks, int64_t bytes, int64_t flops, int flop_class,
			const PmProfile *prof);
/* Of a depthwise convolution, which is a kernel of the eager run; tiles: by tiles in shared memory. */
double pm_depthwise_seconds(int tiles, int64_t bytes, int64_t flops, const PmProfile *prof);

#endif
