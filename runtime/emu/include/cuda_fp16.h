/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_fp16.h - __half and __half2; stands in for CUDA's header of that name. */
#ifndef RUNTIME_EMU_CUDA_FP16_H
#define RUNTIME_EMU_CUDA_FP16_H
#ifdef __cplusplus

#include "cuda_round.h"
#include "cuda_vector.h"
#include "cuda_warp.h"

/* To nearest, ties to even; every NaN becomes 0x7fff, as CUDA has it. */
PM_EMU_BUILTIN unsigned short pm_emu_to_f16(float f)
{
	unsigned x = pm_emu_bits<unsigned>(f), sign = x >> 16 & 0x8000u, a = x & 0x7fffffffu;

	if (a > 0x7f800000u)
		return 0x7fffu;
	if (a >= 0x47800000u) /* 65536 and more */
		return (unsigned short)(sign | 0x7c00u);
	if (a < 0x38800000u) /* the addition rounds at 2^-24, the last bit of a subnormal */
		return (unsigned short)(sign |
					(pm_emu_bits<unsigned>(pm_emu_bits<float>(a) + .5f) - 0x3f000000u));
	a += 0xfffu + (a >> 13 & 1u) - 0x38000000u;
	return (unsigned short)(sign | a >> 13);
}

PM_EMU_BUILTIN float pm_emu_from_f16(unsigned short h)
{
	unsigned sign = (h & 0x8000u) << 16, a = (h & 0x7fffu) << 13;

	if (a >= 0x0f800000u)
		return pm_emu_bits<float>(sign | (a + 0x70000000u));
	if (a < 0x00800000u) {
		float v = pm_emu_bits<float>(a + 0x38800000u) - 0x1p-14f;
		return pm_emu_bits<float>(sign | pm_emu_bits<unsigned>(v));
	}
	return pm_emu_bits<float>(sign | (a + 0x38000000u));
}

#define PM_H      __half
#define PM_OTHER  __nv_bfloat16
#define PM_H2     __half2
#define PM_HNAME  half
#define PM_H2NAME half2
#define PM_H2TAIL 2half2
#define PM_H2LOW  low
#define PM_HPAIR  halves2half2
#define PM_HFROM  pm_emu_to_f16
#define PM_HTO    pm_emu_from_f16
#include "cuda_half16.inc"

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fffu)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00u)

#endif
#endif
