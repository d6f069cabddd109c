/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_base.h - the words, types and built-in variables of CUDA C++ for a host compiler.
 *
 * No header of the host is included, so that a kernel sees what it would see under NVRTC and compiles
 * quickly. Functions of libm are declared in cuda_math.h; nothing else outside the module is called except
 * through PmEmuCalls.
 */
#ifndef RUNTIME_EMU_CUDA_BASE_H
#define RUNTIME_EMU_CUDA_BASE_H
#ifdef __cplusplus

#include "emu_abi.h"

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#ifndef NULL
#define NULL __null
#endif

#define __CUDA_ARCH__ 900
#define __CUDACC__    1
/* What NVRTC defines too: "compiled at run time, no host headers". */
#define __CUDACC_RTC__       1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define PASSMITH_EMU         1
#define PM_EMU_STRING2(x)    #x
#define PM_EMU_STRING(x)     PM_EMU_STRING2(x)
#define PM_EMU_EXPORT        __attribute__((visibility("default")))
#define PM_EMU_INLINE        static inline __attribute__((always_inline))
/* Of what a GPU has an instruction for, or a few: branches in it are none of the kernel's. Where accesses are
 * counted (counts.h), nothing in it is. */
#ifndef PM_EMU_BUILTIN
#define PM_EMU_BUILTIN PM_EMU_INLINE
#define PM_EMU_ASIDE
#endif
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
#define __align__(n)    __attribute__((aligned(n)))
/* emu_build.c looks for these words in the preprocessed text when kernels depend on macros. */
#ifndef PM_EMU_SCAN
#define __global__ PM_EMU_EXPORT
#define __launch_bounds__(...)
#define __maxnreg__(n)
#define __cluster_dims__(...)
#endif
/* A section of its own for each variable: one section for all would mix variables of templates with others,
 * which GCC refuses. shared.ld gathers them. `used` tells compilers that somebody else writes there too. */
#define __shared__ static __attribute__((section(".pm_shared." PM_EMU_STRING(__COUNTER__)), used))

extern "C" {
__attribute__((visibility("hidden"))) PmEmuCtx pm_emu_ctx;
extern __attribute__((visibility("hidden"))) unsigned char pm_emu_shared_begin[], pm_emu_shared_end[];
}

static const uint3 &threadIdx = pm_emu_ctx.thread;
static const uint3 &blockIdx = pm_emu_ctx.block;
static const uint3 &blockDim = pm_emu_ctx.block_dim;
static const uint3 &gridDim = pm_emu_ctx.grid_dim;
static const int warpSize = 32;

struct dim3 {
	unsigned int x, y, z;
	constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c)
	{
	}
	constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
	{
	}
	constexpr operator uint3() const
	{
		return uint3{ x, y, z };
	}
};

/* The same bits as another type. */
template <class To, class From> PM_EMU_INLINE To pm_emu_bits(const From &from)
{
	static_assert(sizeof(To) == sizeof(From), "sizes differ");
	To to;
	__builtin_memcpy(&to, &from, sizeof to);
	return to;
}

#endif
#endif
