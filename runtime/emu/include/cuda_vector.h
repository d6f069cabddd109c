/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_vector.h - float4 and its kin: sizes, alignments and make_ functions as in CUDA. */
#ifndef RUNTIME_EMU_CUDA_VECTOR_H
#define RUNTIME_EMU_CUDA_VECTOR_H
#ifdef __cplusplus

#include "cuda_base.h"

#define PM_EMU_VEC(name, base, a2, a4)                                                                       \
	struct name##1                                                                                       \
	{                                                                                                    \
		base x;                                                                                      \
	};                                                                                                   \
	struct __attribute__((aligned(a2))) name##2                                                          \
	{                                                                                                    \
		base x, y;                                                                                   \
	};                                                                                                   \
	struct name##3                                                                                       \
	{                                                                                                    \
		base x, y, z;                                                                                \
	};                                                                                                   \
	struct __attribute__((aligned(a4))) name##4                                                          \
	{                                                                                                    \
		base x, y, z, w;                                                                             \
	};                                                                                                   \
	PM_EMU_MAKE(name, base)

#define PM_EMU_MAKE(name, base)                                                                              \
	PM_EMU_INLINE name##1 make_##name##1(base x)                                                         \
	{                                                                                                    \
		return name##1 { x };                                                                        \
	}                                                                                                    \
	PM_EMU_INLINE name##2 make_##name##2(base x, base y)                                                 \
	{                                                                                                    \
		return name##2 { x, y };                                                                     \
	}                                                                                                    \
	PM_EMU_INLINE name##3 make_##name##3(base x, base y, base z)                                         \
	{                                                                                                    \
		return name##3 { x, y, z };                                                                  \
	}                                                                                                    \
	PM_EMU_INLINE name##4 make_##name##4(base x, base y, base z, base w)                                 \
	{                                                                                                    \
		return name##4 { x, y, z, w };                                                               \
	}

PM_EMU_VEC(char, signed char, 2, 4)
PM_EMU_VEC(uchar, unsigned char, 2, 4)
PM_EMU_VEC(short, short, 4, 8)
PM_EMU_VEC(ushort, unsigned short, 4, 8)
PM_EMU_VEC(int, int, 8, 16)
PM_EMU_VEC(longlong, long long, 16, 16)
PM_EMU_VEC(ulonglong, unsigned long long, 16, 16)
PM_EMU_VEC(float, float, 8, 16)
PM_EMU_VEC(double, double, 16, 16)

/* uint3 is declared in emu_abi.h. */
struct uint1 {
	unsigned int x;
};
struct __attribute__((aligned(8))) uint2 {
	unsigned int x, y;
};
struct __attribute__((aligned(16))) uint4 {
	unsigned int x, y, z, w;
};
PM_EMU_MAKE(uint, unsigned int)

#endif
#endif
