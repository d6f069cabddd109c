/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_lib_priv.h - calls of cuBLASLt and cuDNN on a cuda device: cuda_gemm.c and cuda_conv.c make one,
 * cuda_algo.c a sequence of them and kernels, cuda_site.c has what the device does that with, cuda_trial.c
 * finds the fastest, cuda_lib.c keeps them. */
#ifndef RUNTIME_CUDA_LIB_PRIV_H
#define RUNTIME_CUDA_LIB_PRIV_H

#include "runtime/cuda/cuda_priv.h"
#include "runtime/cuda/library/cuda_algo.h"
#include "runtime/device/library.h"

/* What the device runs algorithms with. */
PmCudaSite pm__cuda_site(PmCudaDevice *d);

/* The algorithm and candidate for a call on this device: what the cache says, else the outcome of a trial,
 * which is kept there. PM_DECLINED when the call cannot be done at all. */
PmStatus pm__algo_choose(PmCudaDevice *d, const PmLibCall *c, PmCudaAlgo *out, PmErr *err);

/* NULL for an unknown handle. */
PmCudaLib *pm__cuda_lib(PmCudaDevice *d, PmLib h);

#endif
