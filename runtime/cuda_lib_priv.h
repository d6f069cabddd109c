/* cuda_lib_priv.h - calls of cuBLASLt and cuDNN on a cuda device: cuda_lib.c chooses, cuda_gemm.c and
 * cuda_conv.c call. */
#ifndef RUNTIME_CUDA_LIB_PRIV_H
#define RUNTIME_CUDA_LIB_PRIV_H

#include "runtime/cuda_priv.h"
#include "runtime/library.h"

/* Prepares a call: algorithm chosen, descriptors made. PM_DECLINED when the library has nothing for it; other
 * errors are the library's. *workspace is what the call wants, at most `limit` bytes. */
PmStatus pm__gemm_prepare(const PmLibCall *c, int64_t limit, void **out, int64_t *workspace, PmErr *err);
PmStatus pm__conv_prepare(const PmLibCall *c, int64_t limit, void **out, int64_t *workspace, PmErr *err);
void pm__gemm_drop(void *call);
void pm__conv_drop(void *call);

/* A call on the arguments of one sequence: p holds their addresses (PmLibCall). What a library wants to be
 * told before it is enqueued is told by place; *placed (may stay NULL) belongs to the sequence. */
PmStatus pm__conv_place(void *call, const CuPtr p[4], CuPtr workspace, void **placed, PmErr *err);
void pm__conv_unplace(void *placed);
PmStatus pm__gemm_run(void *call, const CuPtr p[4], CuPtr workspace, int64_t bytes, CuStream *s, PmErr *err);
PmStatus pm__conv_run(void *call, void *placed, const CuPtr p[4], CuStream *s, PmErr *err);

/* NULL for an unknown handle. */
PmCudaLib *pm__cuda_lib(PmCudaDevice *d, PmLib h);

#endif
