/* SPDX-License-Identifier: Apache-2.0 */
/* torch_priv.h - Python text of types and numbers; shared by torch_module.c and torch_export.c. */
#ifndef BENCH_TORCH_PRIV_H
#define BENCH_TORCH_PRIV_H

#include "base/core/str.h"
#include "runtime/device/tensor.h"

/* A constant of rank 0 with data: written as a number where torch.def allows one. */
int pm__torch_is_number(const PmGraph *g, PmValue v);
/* An argument of forward: inputs first, then constants that some operand or result wants as a tensor, in
 * order of their ids. */
int pm__torch_is_argument(const PmGraph *g, PmValue v);
/* The arguments of F.interpolate behind the first; PM_E_UNSUPPORTED where it computes something else. */
PmStatus pm__torch_resize(const PmGraph *g, PmNode n, PmStr *out, PmErr *err);
/* f for floating types, i for the others. */
void pm__torch_number(PmStr *out, int dtype, double f, int64_t i);

#endif
