/* SPDX-License-Identifier: Apache-2.0 */
/* races.h - a kernel whose accesses to shared memory are watched: put in front of it instead of cuda_host.h.
 *
 * The compiler calls a function before each access (-fsanitize=thread, whose run time this replaces); what
 * touches shared memory is told to the program, which knows threads and barriers (emu_race.c). Volatile
 * accesses, and so atomics, are not told. Every __shared__ array has a gap before it; up to 15 bytes behind
 * one belong to nobody.
 */
#ifndef RUNTIME_EMU_RACES_H
#define RUNTIME_EMU_RACES_H

/* What the program fills in. */
typedef struct PmEmuWatch {
	void (*access)(const void *p, unsigned n, int write);
	const unsigned char *dyn, *dyn_end; /* dynamic shared memory */
} PmEmuWatch;

/* How a gap is told from everything else when the kernel is loaded. */
enum { PM_EMU_GAP_WORDS = 8 };
#define PM_EMU_GAP_WORD 0x9e3779b97f4a7c15ull

#ifdef __cplusplus
#include "cuda_host.h"

#define PM_EMU_UNWATCHED __attribute__((no_sanitize("thread")))

extern "C" {
PM_EMU_EXPORT PmEmuWatch pm_emu_watch;

/* Reports an access of n bytes when it is to shared memory; all other memory is not watched. */
PM_EMU_UNWATCHED static inline void pm_emu_touch(const void *p, unsigned n, int write)
{
	const unsigned char *c = (const unsigned char *)p;

	if ((c >= pm_emu_shared_begin && c < pm_emu_shared_end) ||
	    (c >= pm_emu_watch.dyn && c < pm_emu_watch.dyn_end))
		pm_emu_watch.access(p, n, write);
}
#define PM_EMU_HOOK(name, n, write)                                                                          \
	PM_EMU_UNWATCHED void __tsan_##name(void *p)                                                         \
	{                                                                                                    \
		pm_emu_touch(p, n, write);                                                                   \
	}                                                                                                    \
	PM_EMU_UNWATCHED void __tsan_volatile_##name(void *)                                                 \
	{                                                                                                    \
	}
#define PM_EMU_HOOKS(n)                                                                                      \
	PM_EMU_HOOK(read##n, n, 0)                                                                           \
	PM_EMU_HOOK(write##n, n, 1)                                                                          \
	PM_EMU_HOOK(unaligned_read##n, n, 0)                                                                 \
	PM_EMU_HOOK(unaligned_write##n, n, 1)
PM_EMU_HOOKS(1)
PM_EMU_HOOKS(2)
PM_EMU_HOOKS(4)
PM_EMU_HOOKS(8)
PM_EMU_HOOKS(16)
PM_EMU_UNWATCHED void __tsan_read_range(void *p, size_t n)
{
	pm_emu_touch(p, (unsigned)n, 0);
}
PM_EMU_UNWATCHED void __tsan_write_range(void *p, size_t n)
{
	pm_emu_touch(p, (unsigned)n, 1);
}
PM_EMU_UNWATCHED void __tsan_func_entry(void *)
{
}
PM_EMU_UNWATCHED void __tsan_func_exit()
{
}
PM_EMU_UNWATCHED void __tsan_init()
{
}
}

struct pm_emu_gap {
	unsigned long long word[PM_EMU_GAP_WORDS];
};
/* Said aloud, or the compiler aligns what is large by more, and leaves room between gap and array. */
#define PM_EMU_SECTION(n, part) __attribute__((section(".pm_shared." #n part), used, aligned(16)))
#define PM_EMU_GAPPED2(n)                                                                                    \
	static PM_EMU_SECTION(n, ".a")                                                                       \
		pm_emu_gap pm_emu_gap_##n = { { PM_EMU_GAP_WORD, PM_EMU_GAP_WORD, PM_EMU_GAP_WORD,           \
						PM_EMU_GAP_WORD, PM_EMU_GAP_WORD, PM_EMU_GAP_WORD,           \
						PM_EMU_GAP_WORD, PM_EMU_GAP_WORD } };                        \
	static PM_EMU_SECTION(n, ".b")
#define PM_EMU_GAPPED(n) PM_EMU_GAPPED2(n)
#undef __shared__
#define __shared__ PM_EMU_GAPPED(__COUNTER__)

#endif
#endif
