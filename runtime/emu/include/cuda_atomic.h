/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_atomic.h - atomic operations.
 *
 * Threads of a block take turns only at barriers and collectives, and blocks run one after another, so a
 * plain read, change and write is atomic here.
 */
#ifndef RUNTIME_EMU_CUDA_ATOMIC_H
#define RUNTIME_EMU_CUDA_ATOMIC_H
#ifdef __cplusplus

#include "cuda_base.h"

#define PM_EMU_ATOMIC1(name, U, expr)                                                                        \
	PM_EMU_INLINE U name(U *p, U v)                                                                      \
	{                                                                                                    \
		volatile U *q = p;                                                                           \
		U old = *q;                                                                                  \
		*q = expr;                                                                                   \
		return old;                                                                                  \
	}
/* The same for the scopes that CUDA distinguishes. */
#define PM_EMU_ATOMIC(name, U, expr)                                                                         \
	PM_EMU_ATOMIC1(name, U, expr)                                                                        \
	PM_EMU_ATOMIC1(name##_block, U, expr)                                                                \
	PM_EMU_ATOMIC1(name##_system, U, expr)

PM_EMU_ATOMIC(atomicAdd, int, (int)((unsigned)old + (unsigned)v))
PM_EMU_ATOMIC(atomicAdd, unsigned, old + v)
PM_EMU_ATOMIC(atomicAdd, unsigned long long, old + v)
PM_EMU_ATOMIC(atomicAdd, float, old + v)
PM_EMU_ATOMIC(atomicAdd, double, old + v)
PM_EMU_ATOMIC(atomicSub, int, (int)((unsigned)old - (unsigned)v))
PM_EMU_ATOMIC(atomicSub, unsigned, old - v)
PM_EMU_ATOMIC(atomicExch, int, v)
PM_EMU_ATOMIC(atomicExch, unsigned, v)
PM_EMU_ATOMIC(atomicExch, unsigned long long, v)
PM_EMU_ATOMIC(atomicExch, float, v)
PM_EMU_ATOMIC(atomicInc, unsigned, old >= v ? 0u : old + 1u)
PM_EMU_ATOMIC(atomicDec, unsigned, old == 0u || old > v ? v : old - 1u)

#define PM_EMU_ATOMIC_INT(U)                                                                                 \
	PM_EMU_ATOMIC(atomicMin, U, v < old ? v : old)                                                       \
	PM_EMU_ATOMIC(atomicMax, U, v > old ? v : old)                                                       \
	PM_EMU_ATOMIC(atomicAnd, U, (U)(old & v))                                                            \
	PM_EMU_ATOMIC(atomicOr, U, (U)(old | v))                                                             \
	PM_EMU_ATOMIC(atomicXor, U, (U)(old ^ v))
PM_EMU_ATOMIC_INT(int)
PM_EMU_ATOMIC_INT(unsigned)
PM_EMU_ATOMIC_INT(unsigned long long)
PM_EMU_ATOMIC_INT(long long)

#define PM_EMU_CAS1(name, U)                                                                                 \
	PM_EMU_INLINE U name(U *p, U compare, U v)                                                           \
	{                                                                                                    \
		volatile U *q = p;                                                                           \
		U old = *q;                                                                                  \
		if (old == compare)                                                                          \
			*q = v;                                                                              \
		return old;                                                                                  \
	}
#define PM_EMU_CAS(U)                                                                                        \
	PM_EMU_CAS1(atomicCAS, U)                                                                            \
	PM_EMU_CAS1(atomicCAS_block, U)                                                                      \
	PM_EMU_CAS1(atomicCAS_system, U)
PM_EMU_CAS(int)
PM_EMU_CAS(unsigned)
PM_EMU_CAS(unsigned short)
PM_EMU_CAS(unsigned long long)

#endif
#endif
