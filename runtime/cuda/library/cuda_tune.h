/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_tune.h - which algorithms calls take on the GPU of this machine, for who keeps that and runs them
 * later. */
#ifndef RUNTIME_CUDA_TUNE_H
#define RUNTIME_CUDA_TUNE_H

#include "base/core/err.h"
#include "runtime/device/library.h"

#include <stddef.h>

/* Of one call: an algorithm (lib_algo.h) and the library's candidate for it. */
typedef struct PmTuned {
	int taken; /* 0: no library takes it, our kernel runs */
	int algorithm, candidate;
} PmTuned;

/* What the choices depend on. */
typedef struct PmTunedOn {
	char gpu[128];
	int cublaslt, cudnn; /* versions; 0 = not there */
} PmTunedOn;

/* Opens the first GPU in this process, which must not fork users of it afterwards, and tries all n calls (or
 * reads from the cache what was found before). out[i] for each. PM_E_ENV says what is missing. */
PmStatus pm_cuda_tune(const PmLibCall *call, size_t n, PmTuned *out, PmTunedOn *on, PmErr *err);

#endif
