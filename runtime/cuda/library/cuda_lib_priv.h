/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_lib_priv.h - calls of cuBLASLt and cuDNN on a cuda device: cuda_gemm.c and cuda_conv.c make one,
 * cuda_algo.c a sequence of them and kernels, cuda_trial.c finds the fastest, cuda_lib.c keeps them. */
#ifndef RUNTIME_CUDA_LIB_PRIV_H
#define RUNTIME_CUDA_LIB_PRIV_H

#include "runtime/cuda/cuda_priv.h"
#include "runtime/cuda/library/lib_algo.h"
#include "runtime/device/library.h"

/* Prepares a call: algorithm chosen, descriptors made. *pick is the number of the library's candidate that
 * is wanted; when that one is not allowed or does not work, the next that is. PM_DECLINED when there is none;
 * other errors are the library's. *workspace is what the call wants, at most `limit` bytes. */
PmStatus pm__gemm_prepare(const PmLibCall *c, int64_t limit, int *pick, void **out, int64_t *workspace,
			  PmErr *err);
PmStatus pm__conv_prepare(const PmLibCall *c, int64_t limit, int *pick, void **out, int64_t *workspace,
			  PmErr *err);
void pm__gemm_drop(void *call);
void pm__conv_drop(void *call);

/* A call on the arguments of one sequence: p holds their addresses (PmLibCall). What a library wants to be
 * told before it is enqueued is told by place; *placed (may stay NULL) belongs to the sequence. */
PmStatus pm__conv_place(void *call, const CuPtr p[4], CuPtr workspace, void **placed, PmErr *err);
void pm__conv_unplace(void *placed);
PmStatus pm__gemm_run(void *call, const CuPtr p[4], CuPtr workspace, int64_t bytes, CuStream *s, PmErr *err);
PmStatus pm__conv_run(void *call, void *placed, const CuPtr p[4], CuStream *s, PmErr *err);

/* An algorithm that is ready to run on any arguments. */
typedef struct PmCudaAlgo {
	PmAlgo algo;
	int pick;                     /* the library's candidate for its call */
	void *call[PM_ALGO_STAGES];   /* NULL for kernels */
	CuFn *kernel[PM_ALGO_STAGES]; /* NULL for calls */
	int64_t workspace;            /* bytes: the algorithm's scratch, then the library's */
} PmCudaAlgo;

/* The same on the arguments and the workspace of one sequence. */
typedef struct PmCudaPlaced {
	CuPtr p[PM_ALGO_STAGES][PM_ALGO_PLACES];
	void *placed[PM_ALGO_STAGES];
	CuPtr workspace;
} PmCudaPlaced;

/* Prepares an algorithm with candidate `pick` or the next that works. PM_DECLINED when there is none. *out is
 * dropped by pm__algo_drop, also after an error. */
PmStatus pm__algo_prepare(PmCudaDevice *d, const PmAlgo *algo, int pick, PmCudaAlgo *out, PmErr *err);
void pm__algo_drop(PmCudaAlgo *w);
PmStatus pm__algo_place(const PmCudaAlgo *w, const CuPtr p[4], CuPtr workspace, PmCudaPlaced *out,
			PmErr *err);
void pm__algo_unplace(PmCudaPlaced *p);
/* Enqueues all stages. */
PmStatus pm__algo_run(PmCudaDevice *d, const PmCudaAlgo *w, const PmCudaPlaced *p, PmErr *err);

/* The algorithm and candidate for a call on this device: what the cache says, else the outcome of a trial,
 * which is kept there. PM_DECLINED when the call cannot be done at all. */
PmStatus pm__algo_choose(PmCudaDevice *d, const PmLibCall *c, PmCudaAlgo *out, PmErr *err);

/* NULL for an unknown handle. */
PmCudaLib *pm__cuda_lib(PmCudaDevice *d, PmLib h);

#endif
