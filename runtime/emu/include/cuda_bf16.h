/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_bf16.h - __nv_bfloat16 and __nv_bfloat162; stands in for CUDA's header of that name. */
#ifndef RUNTIME_EMU_CUDA_BF16_H
#define RUNTIME_EMU_CUDA_BF16_H
#ifdef __cplusplus

#include "cuda_fp16.h"
#include "cuda_round.h"
#include "cuda_vector.h"
#include "cuda_warp.h"

/* To nearest, ties to even; every NaN becomes 0x7fff, as CUDA has it. */
PM_EMU_BUILTIN unsigned short pm_emu_to_bf16(float f)
{
	unsigned x = pm_emu_bits<unsigned>(f);

	if ((x & 0x7fffffffu) > 0x7f800000u)
		return 0x7fffu;
	return (unsigned short)((x + 0x7fffu + (x >> 16 & 1u)) >> 16);
}

PM_EMU_INLINE float pm_emu_from_bf16(unsigned short h)
{
	return pm_emu_bits<float>((unsigned)h << 16);
}

#define PM_H      __nv_bfloat16
#define PM_OTHER  __half
#define PM_H2     __nv_bfloat162
#define PM_HNAME  bfloat16
#define PM_H2NAME bfloat162
#define PM_H2TAIL 2bfloat162
#define PM_H2LOW  low
#define PM_HPAIR  halves2bfloat162
#define PM_HFROM  pm_emu_to_bf16
#define PM_HTO    pm_emu_from_bf16
#include "cuda_half16.inc"

inline __half::__half(const __nv_bfloat16 &v) : __half(pm_emu_from_bf16(v.pm_bits))
{
}
inline __nv_bfloat16::__nv_bfloat16(const __half &v) : __nv_bfloat16(pm_emu_from_f16(v.pm_bits))
{
}

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fffu)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80u)

#endif
#endif
