/* SPDX-License-Identifier: Apache-2.0 */
/* trial_data.h - the operands on which algorithms of library calls are tried.
 *
 * A GPU draws less power over zeros and clocks higher, so that another algorithm may be the fastest there.
 * Operands are normal numbers, the same in every trial: PM_TRIAL_ELEMENTS of them, over and over.
 */
#ifndef RUNTIME_TRIAL_DATA_H
#define RUNTIME_TRIAL_DATA_H

#include "runtime/device/tensor.h"

enum { PM_TRIAL_ELEMENTS = 1 << 16 };

/* What the key of a kept choice says of it. */
extern const char pm__trial_data_name[];

/* The elements of operand number `operand` (0 to 3), no two operands alike: a tensor of one dimension,
 * released by the caller. */
PmStatus pm__trial_data(PmDType dtype, int operand, PmTensor *out, PmErr *err);

#endif
