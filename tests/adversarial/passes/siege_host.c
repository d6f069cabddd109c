/* SPDX-License-Identifier: Apache-2.0 */
/* siege_host.c - passes that look for a clock, or move code so that their own system calls look like the C
 * library's: one rule each, named by its fixture. They call the library's own syscall(), which passes for
 * allowed by its place. */
#include "tests/adversarial/passes/attack.h"
#include "tests/adversarial/passes/find_libc.h"

#if defined(__x86_64__)

enum {
	NR_munmap = 11,
	NR_mremap = 25,
	NR_remap_file_pages = 216,
	NR_clock_gettime = 228,
	NR_userfaultfd = 323,
	NR_pkey_mprotect = 329,
	READ = 1,
	READ_WRITE = 3,
	PRIVATE_NEW = 0x22,
	AT_A_PLACE = 0x10, /* MAP_FIXED */
	MOVE = 1,
	MOVE_TO_A_PLACE = 3,
	PAGE = 4096,
};

typedef long Syscall(long, ...);

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	Syscall *const fn = (Syscall *)(uintptr_t)libc_function("syscall");

	return fn(nr, a, b, c, d, e, f);
}

/* A page of code that makes a system call and returns. */
__asm__(".pushsection .text.siege,\"ax\",@progbits\n"
	".balign 4096\n"
	".hidden siege_page\n"
	".globl siege_page\n"
	"siege_page:\n"
	"	mov $12, %eax\n"
	"	xor %edi, %edi\n"
	"	syscall\n"
	"	ret\n"
	".balign 4096\n"
	".popsection\n");
extern char siege_page[];

/* A page of the library that nothing here needs: far behind memcpy. */
static char *victim(void)
{
	void *(*const given)(void *, const void *, size_t) = memcpy;

	return (char *)(((uintptr_t)given & ~(uintptr_t)(PAGE - 1)) + 8 * PAGE);
}

#define SURVIVED(m) return pm_decline(m, "survived")

/* ---- clocks ---- */

/* The auxiliary vector lies above the stack; its entry 33 is the address of the code that tells the time. The
 * two entries that the kernel writes behind it tell it from other numbers that lie on the stack. */
static const char *time_page(void)
{
	const uint64_t *p = (const uint64_t *)__builtin_frame_address(0);

	p = (const uint64_t *)((uintptr_t)p & ~(uintptr_t)7);
	for (;; p++)
		if (p[0] == 33 && ((p[2] == 51 && p[4] == 16) || (p[2] == 16 && p[4] == 6)))
			return (const char *)(uintptr_t)p[1];
}

static PmStatus vdso_by_auxv(PmMatch *m)
{
	const char *page = time_page();

	if (*(const volatile char *)page != 0x7f)
		return pm_decline(m, "another page");
	SURVIVED(m);
}

/* The numbers that the code reads lie right below it. */
static PmStatus vvar_below(PmMatch *m)
{
	const char *page = time_page();

	return *(const volatile char *)(page - 4 * PAGE) == 1 ? pm_decline(m, "survived") : PM_OK;
}

static PmStatus time_of_the_library(PmMatch *m)
{
	typedef int Gettime(int, long *);
	Gettime *const now = (Gettime *)(uintptr_t)libc_function("clock_gettime");
	long t[2];

	now(5 /* CLOCK_REALTIME_COARSE */, t);
	SURVIVED(m);
}

static PmStatus clock_by_call(PmMatch *m)
{
	long t[2];

	call(NR_clock_gettime, 5, (long)t, 0, 0, 0, 0);
	SURVIVED(m);
}

static PmStatus counter_and_cpu(PmMatch *m)
{
	__asm__ volatile("rdtscp" : : : "rax", "rdx", "rcx");
	SURVIVED(m);
}

/* time() at the address that it had twenty years ago. */
static PmStatus old_time_page(PmMatch *m)
{
	typedef long Time(long *);

	((Time *)(uintptr_t)0xffffffffff600400)(0);
	SURVIVED(m);
}

static PmStatus timing_thread(PmMatch *m)
{
	static char stack[PAGE];

	call(NR_clone, 0x10f00, (long)(stack + sizeof stack - 64), 0, 0, 0, 0);
	SURVIVED(m);
}

/* ---- code that moves ---- */

static PmStatus move_over_library(PmMatch *m)
{
	call(NR_mremap, (long)siege_page, PAGE, PAGE, MOVE_TO_A_PLACE, (long)victim(), 0);
	SURVIVED(m);
}

/* Where the kernel likes it: nothing moves, nothing dies, since realloc asks the same. */
static PmStatus move_somewhere(PmMatch *m)
{
	long to = call(NR_mremap, (long)siege_page, PAGE, 4L * PAGE, MOVE, 0, 0);

	return pm_decline(m, to == -1 ? "nothing moved" : "moved");
}

static PmStatus map_over_library(PmMatch *m)
{
	call(NR_mmap, (long)victim(), PAGE, READ_WRITE, PRIVATE_NEW | AT_A_PLACE, -1, 0);
	SURVIVED(m);
}

/* From far below up into the library, so that the address itself is nobody's. */
static PmStatus unmap_into_library(PmMatch *m)
{
	call(NR_munmap, (long)victim() - (1L << 30), (1L << 30) + PAGE, 0, 0, 0, 0);
	SURVIVED(m);
}

static PmStatus unmap_library(PmMatch *m)
{
	call(NR_munmap, (long)victim(), PAGE, 0, 0, 0, 0);
	call(NR_mmap, 0, PAGE, READ_WRITE, PRIVATE_NEW, -1, 0);
	SURVIVED(m);
}

static PmStatus remap_pages(PmMatch *m)
{
	call(NR_remap_file_pages, (long)siege_page, PAGE, 0, 0, 0, 0);
	SURVIVED(m);
}

static PmStatus protect_by_key(PmMatch *m)
{
	call(NR_pkey_mprotect, (long)victim(), PAGE, READ_WRITE, -1, 0, 0);
	SURVIVED(m);
}

static PmStatus handle_faults(PmMatch *m)
{
	call(NR_userfaultfd, 0, 0, 0, 0, 0, 0);
	SURVIVED(m);
}

#define ATTACK(id, fn) PM_RULE(id, .pattern = SILU, .check = fn, .rewrite = honest)

ATTACK(S15_vdso_by_auxv, vdso_by_auxv);
ATTACK(S15b_vvar, vvar_below);
ATTACK(S15c_library_time, time_of_the_library);
ATTACK(S16_clock_by_call, clock_by_call);
ATTACK(S16b_rdtscp, counter_and_cpu);
ATTACK(S17_old_time_page, old_time_page);
ATTACK(S18_timing_thread, timing_thread);
ATTACK(S19_move_over_library, move_over_library);
ATTACK(S19b_move_somewhere, move_somewhere);
ATTACK(S20_map_over_library, map_over_library);
ATTACK(S21_unmap_library, unmap_library);
ATTACK(S21b_unmap_into_library, unmap_into_library);
ATTACK(S22_remap_pages, remap_pages);
ATTACK(S22b_protect_by_key, protect_by_key);
ATTACK(S22c_handle_faults, handle_faults);
#if defined(SIEGE_ONLY)
PM_PLUGIN("siege_host", "1", &SIEGE_ONLY)
#else
PM_PLUGIN("siege_host", "1", &S15_vdso_by_auxv, &S15b_vvar, &S15c_library_time, &S16_clock_by_call,
	  &S16b_rdtscp, &S17_old_time_page, &S18_timing_thread, &S19_move_over_library, &S19b_move_somewhere,
	  &S20_map_over_library, &S21_unmap_library, &S21b_unmap_into_library, &S22_remap_pages,
	  &S22b_protect_by_key, &S22c_handle_faults)
#endif
#else
PM_RULE(S15_vdso_by_auxv, .pattern = SILU, .rewrite = honest);
PM_PLUGIN("siege_host", "1", &S15_vdso_by_auxv)
#endif
