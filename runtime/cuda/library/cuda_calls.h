/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_calls.h - single calls of cuBLASLt (cuda_gemm.c) and cuDNN (cuda_conv.c).
 *
 * The libraries are opened once in a process, with a handle for each device. None of these functions may be
 * called by two threads at a time. */
#ifndef RUNTIME_CUDA_CALLS_H
#define RUNTIME_CUDA_CALLS_H

#include "runtime/cuda/cuda_api.h"
#include "runtime/device/library.h"

enum { CU_LIB_DEVICES = 64 }; /* that libraries may be used on */

/* Prepares a call on device number `dev`, whose context is current: algorithm chosen, descriptors made. *pick
 * is the number of the library's candidate that is wanted; when that one is not allowed or does not work, the
 * next that is. PM_DECLINED when there is none; other errors are the library's. *workspace is what the call
 * wants, at most `limit` bytes. */
PmStatus pm__gemm_prepare(int dev, const PmLibCall *c, int64_t limit, int *pick, void **out,
			  int64_t *workspace, PmErr *err);
PmStatus pm__conv_prepare(int dev, const PmLibCall *c, int64_t limit, int *pick, void **out,
			  int64_t *workspace, PmErr *err);
void pm__gemm_drop(void *call);
void pm__conv_drop(void *call);

/* A call on the arguments of one sequence: p holds their addresses (PmLibCall). What a library wants to be
 * told before it is enqueued is told by place; *placed (may stay NULL) belongs to the sequence. */
PmStatus pm__conv_place(void *call, const CuPtr p[4], CuPtr workspace, void **placed, PmErr *err);
void pm__conv_unplace(void *placed);
PmStatus pm__gemm_run(void *call, const CuPtr p[4], CuPtr workspace, int64_t bytes, CuStream *s, PmErr *err);
PmStatus pm__conv_run(void *call, void *placed, const CuPtr p[4], CuStream *s, PmErr *err);
/* The stream that cuDNN last worked on is not remembered any more: another may have its address. */
void pm__conv_forget_stream(int dev);

#endif
