/* SPDX-License-Identifier: Apache-2.0 */
/* ksig.h - the parameter list of a kernel entry, read from its CUDA source, compared with launch arguments.
 *
 * A small tokenizer, not a C++ parser: it knows comments, strings, preprocessor lines, `__global__`, the
 * name, and a list of parameters whose types are written out. Templates and macros as parameters are refused.
 */
#ifndef MATCHER_KSIG_H
#define MATCHER_KSIG_H

#include "ir/core/kernel.h"

typedef enum { PM_KP_POINTER, PM_KP_I64, PM_KP_I32, PM_KP_F32, PM_KP_F64 } PmKParam;

/* Finds `__global__ ... entry(...)` and classifies its parameters, at most `max`. */
PmStatus pm_ksig_params(const char *source, const char *entry, PmKParam *out, int max, int *n, PmErr *err);
/* Calls `each` with the name (n bytes, not terminated) of every kernel that the source writes out as
 * `__global__ ... name(`. What macros make is not among them, and no launch can name it either. */
typedef void PmKsigName(void *arg, const char *name, size_t n);
void pm_ksig_kernels(const char *source, PmKsigName *each, void *arg);
/* Compares one launch with its entry; the sentence names the parameter. */
PmStatus pm_ksig_check(const char *source, const PmKLaunch *launch, PmErr *err);
/* Every launch of every alternative of a Kernel node. */
PmStatus pm_ksig_check_node(const PmGraph *g, PmNode n, PmErr *err);

#endif
