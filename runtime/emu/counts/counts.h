/* SPDX-License-Identifier: Apache-2.0 */
/* counts.h - a kernel whose accesses are counted: put in front of it instead of cuda_host.h.
 *
 * The compiler calls a function before each access (-fsanitize=thread) and at the beginning of each stretch
 * of code without branches (-fsanitize-coverage=trace-pc); the program is told, with the place in the code
 * (emu_count.c). Such a kernel is for `passmith profile` alone: it computes what any other computes, slower.
 */
#ifndef RUNTIME_EMU_COUNTS_H
#define RUNTIME_EMU_COUNTS_H

/* What happened. ENTER and LEAVE: a function that was not folded into its caller. */
enum {
	PM_EMU_DID_READ,
	PM_EMU_DID_WRITE,
	PM_EMU_DID_ATOMIC,
	PM_EMU_DID_BLOCK,
	PM_EMU_DID_ENTER,
	PM_EMU_DID_LEAVE,
	PM_EMU_DID_BARRIER,
	PM_EMU_DID_COLLECTIVE
};

/* What the program fills in: of n bytes at p, said from place pc. */
typedef struct PmEmuTally {
	void (*did)(int what, unsigned n, const void *p, const void *pc);
	int on;             /* 0: of this block nothing is counted */
	volatile int quiet; /* inside of an atomic operation, which was said as a whole */
} PmEmuTally;

#ifdef __cplusplus
#if defined(__clang__) || __GNUC__ < 12
#error "Accesses are counted with g++ 12 or newer; set PASSMITH_CXX to one."
#endif
#define PM_EMU_UNCOUNTED __attribute__((no_sanitize("thread"), no_sanitize_coverage))
/* What is folded into its caller is counted as that is. */
#define PM_EMU_ASIDE   PM_EMU_UNCOUNTED __attribute__((noinline))
#define PM_EMU_BUILTIN static __attribute__((unused)) PM_EMU_ASIDE
#include "cuda_host.h"

extern "C" {
PM_EMU_EXPORT PmEmuTally pm_emu_tally;

#define PM_EMU_DID(name, what, n)                                                                            \
	PM_EMU_UNCOUNTED void __tsan_##name(void *p)                                                         \
	{                                                                                                    \
		if (pm_emu_tally.on)                                                                         \
			pm_emu_tally.did(what, n, p, __builtin_return_address(0));                           \
	}                                                                                                    \
	PM_EMU_UNCOUNTED void __tsan_volatile_##name(void *p)                                                \
	{                                                                                                    \
		if (pm_emu_tally.on && !pm_emu_tally.quiet)                                                  \
			pm_emu_tally.did(what, n, p, __builtin_return_address(0));                           \
	}
#define PM_EMU_DIDS(n)                                                                                       \
	PM_EMU_DID(read##n, PM_EMU_DID_READ, n)                                                              \
	PM_EMU_DID(write##n, PM_EMU_DID_WRITE, n)                                                            \
	PM_EMU_DID(unaligned_read##n, PM_EMU_DID_READ, n)                                                    \
	PM_EMU_DID(unaligned_write##n, PM_EMU_DID_WRITE, n)
PM_EMU_DIDS(1)
PM_EMU_DIDS(2)
PM_EMU_DIDS(4)
PM_EMU_DIDS(8)
PM_EMU_DIDS(16)
PM_EMU_UNCOUNTED void __tsan_read_range(void *p, size_t n)
{
	if (pm_emu_tally.on)
		pm_emu_tally.did(PM_EMU_DID_READ, (unsigned)n, p, __builtin_return_address(0));
}
PM_EMU_UNCOUNTED void __tsan_write_range(void *p, size_t n)
{
	if (pm_emu_tally.on)
		pm_emu_tally.did(PM_EMU_DID_WRITE, (unsigned)n, p, __builtin_return_address(0));
}
PM_EMU_UNCOUNTED void __tsan_func_entry(void *)
{
	if (pm_emu_tally.on)
		pm_emu_tally.did(PM_EMU_DID_ENTER, 0, 0, 0);
}
PM_EMU_UNCOUNTED void __tsan_func_exit()
{
	if (pm_emu_tally.on)
		pm_emu_tally.did(PM_EMU_DID_LEAVE, 0, 0, 0);
}
PM_EMU_UNCOUNTED void __tsan_init()
{
}
PM_EMU_UNCOUNTED void __sanitizer_cov_trace_pc()
{
	if (pm_emu_tally.on)
		pm_emu_tally.did(PM_EMU_DID_BLOCK, 0, 0, __builtin_return_address(0));
}
PM_EMU_UNCOUNTED __attribute__((noinline)) static void pm_emu_did_atomic(const void *p, unsigned n)
{
	if (pm_emu_tally.on)
		pm_emu_tally.did(PM_EMU_DID_ATOMIC, n, p, __builtin_return_address(0));
}
}

#define PM_EMU_COUNTED(name)                                                                                 \
	template <class P, class... A>                                                                       \
	PM_EMU_INLINE auto pm_emu_counted_##name(P *p, A... a)->decltype(name(p, a...))                      \
	{                                                                                                    \
		pm_emu_did_atomic(p, sizeof *p);                                                             \
		pm_emu_tally.quiet = 1;                                                                      \
		auto old = name(p, a...);                                                                    \
		pm_emu_tally.quiet = 0;                                                                      \
		return old;                                                                                  \
	}
#define PM_EMU_COUNTED3(name)                                                                                \
	PM_EMU_COUNTED(name)                                                                                 \
	PM_EMU_COUNTED(name##_block)                                                                         \
	PM_EMU_COUNTED(name##_system)
PM_EMU_COUNTED3(atomicAdd)
PM_EMU_COUNTED3(atomicSub)
PM_EMU_COUNTED3(atomicExch)
PM_EMU_COUNTED3(atomicInc)
PM_EMU_COUNTED3(atomicDec)
PM_EMU_COUNTED3(atomicMin)
PM_EMU_COUNTED3(atomicMax)
PM_EMU_COUNTED3(atomicAnd)
PM_EMU_COUNTED3(atomicOr)
PM_EMU_COUNTED3(atomicXor)
PM_EMU_COUNTED3(atomicCAS)
#define atomicAdd         pm_emu_counted_atomicAdd
#define atomicAdd_block   pm_emu_counted_atomicAdd_block
#define atomicAdd_system  pm_emu_counted_atomicAdd_system
#define atomicSub         pm_emu_counted_atomicSub
#define atomicSub_block   pm_emu_counted_atomicSub_block
#define atomicSub_system  pm_emu_counted_atomicSub_system
#define atomicExch        pm_emu_counted_atomicExch
#define atomicExch_block  pm_emu_counted_atomicExch_block
#define atomicExch_system pm_emu_counted_atomicExch_system
#define atomicInc         pm_emu_counted_atomicInc
#define atomicInc_block   pm_emu_counted_atomicInc_block
#define atomicInc_system  pm_emu_counted_atomicInc_system
#define atomicDec         pm_emu_counted_atomicDec
#define atomicDec_block   pm_emu_counted_atomicDec_block
#define atomicDec_system  pm_emu_counted_atomicDec_system
#define atomicMin         pm_emu_counted_atomicMin
#define atomicMin_block   pm_emu_counted_atomicMin_block
#define atomicMin_system  pm_emu_counted_atomicMin_system
#define atomicMax         pm_emu_counted_atomicMax
#define atomicMax_block   pm_emu_counted_atomicMax_block
#define atomicMax_system  pm_emu_counted_atomicMax_system
#define atomicAnd         pm_emu_counted_atomicAnd
#define atomicAnd_block   pm_emu_counted_atomicAnd_block
#define atomicAnd_system  pm_emu_counted_atomicAnd_system
#define atomicOr          pm_emu_counted_atomicOr
#define atomicOr_block    pm_emu_counted_atomicOr_block
#define atomicOr_system   pm_emu_counted_atomicOr_system
#define atomicXor         pm_emu_counted_atomicXor
#define atomicXor_block   pm_emu_counted_atomicXor_block
#define atomicXor_system  pm_emu_counted_atomicXor_system
#define atomicCAS         pm_emu_counted_atomicCAS
#define atomicCAS_block   pm_emu_counted_atomicCAS_block
#define atomicCAS_system  pm_emu_counted_atomicCAS_system

#endif
#endif
