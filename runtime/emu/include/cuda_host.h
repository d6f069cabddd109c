/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_host.h - CUDA C++ for a host compiler and the prelude; put in front of every kernel by emu_build.c,
 * which has it compiled once (emu_head.c). */
#ifndef RUNTIME_EMU_CUDA_HOST_H
#define RUNTIME_EMU_CUDA_HOST_H
#ifdef __cplusplus

#include "cuda_atomic.h"
#include "cuda_base.h"
#include "cuda_bf16.h"
#include "cuda_entry.h"
#include "cuda_fp16.h"
#include "cuda_math.h"
#include "cuda_vector.h"
#include "cuda_warp.h"

/* Last, since the headers above use the word themselves. */
#define PM_EMU_NO_PTX static_assert(false, "inline PTX (asm) is for a GPU only; use #ifndef PASSMITH_EMU");
#define asm PM_EMU_NO_PTX
#define __asm__ PM_EMU_NO_PTX
#define __asm PM_EMU_NO_PTX

#include "passmith/kernel.cuh"

#endif
#endif
