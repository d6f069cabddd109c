/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_warp.h - barriers, warp collectives, bit counting and cached loads. */
#ifndef RUNTIME_EMU_CUDA_WARP_H
#define RUNTIME_EMU_CUDA_WARP_H
#ifdef __cplusplus

#include "cuda_base.h"

#define PM_EMU_HERE int line = __builtin_LINE(), const char *file = __builtin_FILE()

/* --- barriers of the block ------------------------------------------------------------------------ */

PM_EMU_INLINE void __syncthreads(PM_EMU_HERE)
{
	pm_emu_ctx.calls->barrier(PM_EMU_BAR_SYNC, 0, line, file);
}
PM_EMU_INLINE int __syncthreads_count(int pred, PM_EMU_HERE)
{
	return pm_emu_ctx.calls->barrier(PM_EMU_BAR_COUNT, pred, line, file);
}
PM_EMU_INLINE int __syncthreads_and(int pred, PM_EMU_HERE)
{
	return pm_emu_ctx.calls->barrier(PM_EMU_BAR_AND, pred, line, file);
}
PM_EMU_INLINE int __syncthreads_or(int pred, PM_EMU_HERE)
{
	return pm_emu_ctx.calls->barrier(PM_EMU_BAR_OR, pred, line, file);
}
/* Threads of the emulated device run one at a time: a compiler fence is all that ordering needs. */
PM_EMU_INLINE void __threadfence()
{
	__asm__ volatile("" ::: "memory");
}
PM_EMU_INLINE void __threadfence_block()
{
	__asm__ volatile("" ::: "memory");
}
PM_EMU_INLINE void __threadfence_system()
{
	__asm__ volatile("" ::: "memory");
}
PM_EMU_INLINE void __trap(PM_EMU_HERE)
{
	pm_emu_ctx.calls->trap("called __trap()", line, file);
}
#define assert(e) ((e) ? (void)0 : pm_emu_ctx.calls->trap("failed assert(" #e ")", __LINE__, __FILE__))

/* --- warp collectives ------------------------------------------------------------------------------- */

PM_EMU_INLINE void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE())
{
	pm_emu_ctx.calls->warp(PM_EMU_WARP_SYNC, mask, 0, 0, line);
}
PM_EMU_INLINE unsigned __ballot_sync(unsigned mask, int pred, int line = __builtin_LINE())
{
	return (unsigned)pm_emu_ctx.calls->warp(PM_EMU_WARP_BALLOT, mask, pred != 0, 0, line);
}
PM_EMU_INLINE int __any_sync(unsigned mask, int pred, int line = __builtin_LINE())
{
	return __ballot_sync(mask, pred, line) != 0;
}
PM_EMU_INLINE int __all_sync(unsigned mask, int pred, int line = __builtin_LINE())
{
	return __ballot_sync(mask, !pred, line) == 0;
}
PM_EMU_INLINE unsigned __activemask(int line = __builtin_LINE())
{
	return (unsigned)pm_emu_ctx.calls->warp(PM_EMU_WARP_ACTIVE, 0, 0, 0, line);
}

/* The value that lane `src` of the warp gave; every lane of `mask` takes part. */
template <class U> PM_EMU_INLINE U pm_emu_exchange(unsigned mask, const U &v, int src, int line)
{
	unsigned long long in = 0, out;
	U r;

	static_assert(sizeof(U) <= 8, "a shuffled value has at most 8 bytes");
	__builtin_memcpy(&in, &v, sizeof v);
	out = pm_emu_ctx.calls->warp(PM_EMU_WARP_SHFL, mask, in, src, line);
	__builtin_memcpy(&r, &out, sizeof r);
	return r;
}

/* What each lane of a whole warp gave: one wait instead of one for every value that is asked for. Stays until
 * the next such call. */
template <class U> struct pm_emu_lanes {
	const unsigned char *at;

	PM_EMU_INLINE pm_emu_lanes share(const U &mine, int line = __builtin_LINE())
	{
		static_assert(sizeof(U) <= PM_EMU_SHARE, "a lane shares at most 32 bytes");
		return pm_emu_lanes{ (const unsigned char *)pm_emu_ctx.calls->warp(
			PM_EMU_WARP_SHARE, 0xffffffffu, (unsigned long long)&mine, (int)sizeof(U), line) };
	}
	__forceinline__ U operator[](int lane) const
	{
		U r;

		__builtin_memcpy(&r, at + lane * PM_EMU_SHARE, sizeof r);
		return r;
	}
};

PM_EMU_INLINE int pm_emu_src_idx(int arg, int width)
{
	int lane = (int)pm_emu_ctx.lane;
	return (lane & ~(width - 1)) | (arg & (width - 1));
}
PM_EMU_INLINE int pm_emu_src_up(unsigned arg, int width)
{
	int lane = (int)pm_emu_ctx.lane, first = lane & ~(width - 1);
	return arg > (unsigned)(lane - first) ? lane : lane - (int)arg;
}
PM_EMU_INLINE int pm_emu_src_down(unsigned arg, int width)
{
	int lane = (int)pm_emu_ctx.lane, last = lane | (width - 1);
	return arg > (unsigned)(last - lane) ? lane : lane + (int)arg;
}
PM_EMU_INLINE int pm_emu_src_xor(int arg, int width)
{
	int lane = (int)pm_emu_ctx.lane, last = lane | (width - 1), src = lane ^ arg;
	return src > last ? lane : src;
}

/* One shuffle for the arithmetic types; cuda_half16.inc adds the 16-bit ones. */
#define PM_EMU_SHFL(U)                                                                                       \
	PM_EMU_INLINE U __shfl_sync(unsigned mask, U v, int src, int width = 32,                             \
				    int line = __builtin_LINE())                                             \
	{                                                                                                    \
		return pm_emu_exchange(mask, v, pm_emu_src_idx(src, width), line);                           \
	}                                                                                                    \
	PM_EMU_INLINE U __shfl_up_sync(unsigned mask, U v, unsigned delta, int width = 32,                   \
				       int line = __builtin_LINE())                                          \
	{                                                                                                    \
		return pm_emu_exchange(mask, v, pm_emu_src_up(delta, width), line);                          \
	}                                                                                                    \
	PM_EMU_INLINE U __shfl_down_sync(unsigned mask, U v, unsigned delta, int width = 32,                 \
					 int line = __builtin_LINE())                                        \
	{                                                                                                    \
		return pm_emu_exchange(mask, v, pm_emu_src_down(delta, width), line);                        \
	}                                                                                                    \
	PM_EMU_INLINE U __shfl_xor_sync(unsigned mask, U v, int lanes, int width = 32,                       \
					int line = __builtin_LINE())                                         \
	{                                                                                                    \
		return pm_emu_exchange(mask, v, pm_emu_src_xor(lanes, width), line);                         \
	}
PM_EMU_SHFL(int)
PM_EMU_SHFL(unsigned)
PM_EMU_SHFL(long)
PM_EMU_SHFL(unsigned long)
PM_EMU_SHFL(long long)
PM_EMU_SHFL(unsigned long long)
PM_EMU_SHFL(float)
PM_EMU_SHFL(double)

#define PM_EMU_REDUCE(name, U, op)                                                                           \
	PM_EMU_INLINE U __reduce_##name##_sync(unsigned mask, U v, int line = __builtin_LINE())              \
	{                                                                                                    \
		return (U)pm_emu_ctx.calls->warp(op, mask, (unsigned long long)v, 0, line);                  \
	}
PM_EMU_REDUCE(add, int, PM_EMU_WARP_ADD)
PM_EMU_REDUCE(add, unsigned, PM_EMU_WARP_ADD)
PM_EMU_REDUCE(min, int, PM_EMU_WARP_MIN)
PM_EMU_REDUCE(min, unsigned, PM_EMU_WARP_UMIN)
PM_EMU_REDUCE(max, int, PM_EMU_WARP_MAX)
PM_EMU_REDUCE(max, unsigned, PM_EMU_WARP_UMAX)
PM_EMU_REDUCE(and, unsigned, PM_EMU_WARP_AND)
PM_EMU_REDUCE(or, unsigned, PM_EMU_WARP_OR)
PM_EMU_REDUCE(xor, unsigned, PM_EMU_WARP_XOR)

#define PM_EMU_MATCH(U)                                                                                      \
	PM_EMU_INLINE unsigned __match_any_sync(unsigned mask, U v, int line = __builtin_LINE())             \
	{                                                                                                    \
		unsigned long long in = 0;                                                                   \
		__builtin_memcpy(&in, &v, sizeof v);                                                         \
		return (unsigned)pm_emu_ctx.calls->warp(PM_EMU_WARP_MATCH, mask, in, 0, line);               \
	}                                                                                                    \
	PM_EMU_INLINE unsigned __match_all_sync(unsigned mask, U v, int *pred, int line = __builtin_LINE())  \
	{                                                                                                    \
		*pred = __match_any_sync(mask, v, line) == mask;                                             \
		return *pred ? mask : 0;                                                                     \
	}
PM_EMU_MATCH(int)
PM_EMU_MATCH(unsigned)
PM_EMU_MATCH(long)
PM_EMU_MATCH(unsigned long)
PM_EMU_MATCH(long long)
PM_EMU_MATCH(unsigned long long)
PM_EMU_MATCH(float)
PM_EMU_MATCH(double)

/* --- memory: the module is linked without the C library, and compilers emit calls of these ------------ */

extern "C" {
__attribute__((used)) inline void *memcpy(void *to, const void *from, size_t n) noexcept
{
	return pm_emu_ctx.calls->copy(to, from, n);
}
__attribute__((used)) inline void *memmove(void *to, const void *from, size_t n) noexcept
{
	return pm_emu_ctx.calls->move(to, from, n);
}
__attribute__((used)) inline void *memset(void *to, int byte, size_t n) noexcept
{
	return pm_emu_ctx.calls->set(to, byte, n);
}
}

/* --- bits -------------------------------------------------------------------------------------------- */

PM_EMU_INLINE int __popc(unsigned v)
{
	return __builtin_popcount(v);
}
PM_EMU_INLINE int __popcll(unsigned long long v)
{
	return __builtin_popcountll(v);
}
PM_EMU_INLINE int __clz(int v)
{
	return v ? __builtin_clz((unsigned)v) : 32;
}
PM_EMU_INLINE int __clzll(long long v)
{
	return v ? __builtin_clzll((unsigned long long)v) : 64;
}
PM_EMU_INLINE int __ffs(int v)
{
	return __builtin_ffs(v);
}
PM_EMU_INLINE int __ffsll(long long v)
{
	return __builtin_ffsll(v);
}
PM_EMU_BUILTIN unsigned __brev(unsigned v)
{
	unsigned r = 0;
	for (int i = 0; i < 32; i++)
		r |= (v >> i & 1u) << (31 - i);
	return r;
}
PM_EMU_INLINE unsigned long long __brevll(unsigned long long v)
{
	return (unsigned long long)__brev((unsigned)v) << 32 | __brev((unsigned)(v >> 32));
}
PM_EMU_BUILTIN unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
	unsigned long long v = (unsigned long long)b << 32 | a;
	unsigned r = 0;
	for (int i = 0; i < 4; i++)
		r |= (unsigned)(v >> (s >> 4 * i & 7u) * 8 & 0xffu) << 8 * i;
	return r;
}
PM_EMU_INLINE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n)
{
	return (unsigned)((((unsigned long long)hi << 32 | lo) << (n & 31u)) >> 32);
}
PM_EMU_INLINE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n)
{
	return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31u));
}
PM_EMU_INLINE int __mul24(int a, int b)
{
	return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8));
}
PM_EMU_INLINE int __mulhi(int a, int b)
{
	return (int)((long long)a * b >> 32);
}
PM_EMU_INLINE unsigned __umulhi(unsigned a, unsigned b)
{
	return (unsigned)((unsigned long long)a * b >> 32);
}
PM_EMU_INLINE long long __mul64hi(long long a, long long b)
{
	return (long long)((__int128)a * b >> 64);
}
PM_EMU_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
	return (unsigned long long)((unsigned __int128)a * b >> 64);
}
/* Sum of four signed (unsigned) 8-bit products plus c, modulo 2^32. */
PM_EMU_INLINE int __dp4a(int a, int b, int c)
{
	unsigned sum = (unsigned)c;
	for (int i = 0; i < 32; i += 8)
		sum += (unsigned)((signed char)(a >> i) * (signed char)(b >> i));
	return (int)sum;
}
PM_EMU_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
	for (int i = 0; i < 32; i += 8)
		c += (a >> i & 0xffu) * (b >> i & 0xffu);
	return c;
}

/* --- loads and stores with a cache hint ---------------------------------------------------------------- */

#define PM_EMU_LOAD(name)                                                                                    \
	template <class U> PM_EMU_INLINE U name(const U *p)                                                  \
	{                                                                                                    \
		return *p;                                                                                   \
	}
PM_EMU_LOAD(__ldg)
PM_EMU_LOAD(__ldca)
PM_EMU_LOAD(__ldcg)
PM_EMU_LOAD(__ldcs)
PM_EMU_LOAD(__ldlu)
PM_EMU_LOAD(__ldcv)

/* The stored type is the pointer's, so that the value may convert as in an assignment. */
template <class U> struct pm_emu_same {
	typedef U type;
};
#define PM_EMU_STORE(name)                                                                                   \
	template <class U> PM_EMU_INLINE void name(U *p, typename pm_emu_same<U>::type v)                    \
	{                                                                                                    \
		*p = v;                                                                                      \
	}
PM_EMU_STORE(__stwb)
PM_EMU_STORE(__stcg)
PM_EMU_STORE(__stcs)
PM_EMU_STORE(__stwt)

#endif
#endif
