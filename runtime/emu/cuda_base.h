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
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
typedef long long intptr_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
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
 * which GCC refuses. shared.ld gathers them. */
#define __shared__ static __attribute__((section(".pm_shared." PM_EMU_STRING(__COUNTER__))))

#define FLT_MAX             __FLT_MAX__
#define FLT_MIN             __FLT_MIN__
#define FLT_EPSILON         __FLT_EPSILON__
#define DBL_MAX             __DBL_MAX__
#define DBL_MIN             __DBL_MIN__
#define DBL_EPSILON         __DBL_EPSILON__
#define INT_MAX             __INT_MAX__
#define INT_MIN             (-__INT_MAX__ - 1)
#define UINT_MAX            0xffffffffu
#define LLONG_MAX           __LONG_LONG_MAX__
#define LLONG_MIN           (-__LONG_LONG_MAX__ - 1)
#define INFINITY            (__builtin_inff())
#define NAN                 (__builtin_nanf(""))
#define CUDART_INF_F        (__builtin_inff())
#define CUDART_INF          (__builtin_inf())
#define CUDART_NAN_F        (__builtin_nanf(""))
#define CUDART_NAN          (__builtin_nan(""))
#define CUDART_PI_F         3.141592654f
#define CUDART_PI           3.1415926535897931e+0
#define CUDART_MAX_NORMAL_F __FLT_MAX__
#define M_PI                3.14159265358979323846
#define M_SQRT1_2           0.70710678118654752440
#define M_SQRT2             1.41421356237309504880
#define M_LOG2E             1.44269504088896340736
#define M_LN2               0.69314718055994530942
#define M_2_SQRTPI          1.12837916709551257390

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

#include "cuda_atomic.h"
#include "cuda_entry.h"
#include "cuda_math.h"
#endif
#endif
