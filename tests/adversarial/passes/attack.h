/* SPDX-License-Identifier: Apache-2.0 */
/* attack.h - what malicious passes share: a kernel that is honest, and system calls without a C library. */
#ifndef TESTS_ADVERSARIAL_ATTACK_H
#define TESTS_ADVERSARIAL_ATTACK_H

#include "passmith/dsl.h"

enum { X };

/* It begins with a space, so that SRC + 1 is another text with the same meaning. */
/* clang-format off */
static const char SRC[] = " " PM_CUDA(
	extern "C" __global__ void silu(const T *x, T *y, long long n)
	{
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
		if (i < n)
			y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));
	}
);
/* clang-format on */

/* Replaces the match by a launch of `source`, whose entry is as that of SRC. */
static inline PmStatus emit_silu(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "silu", .source = source, .grid = { pm_blocks(n, 256) },
				      .block = { 256 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)));
}

/* A rewrite that is right. */
static inline PmStatus honest(PmRewriter *rw, PmMatch *m)
{
	return emit_silu(rw, m, SRC);
}

#define SILU OP(Mul, V(X), OP(Sigmoid, V(X)))

/* Linux on x86-64: the numbers that the attacks use. */
enum {
	NR_write = 1,
	NR_open = 2,
	NR_mmap = 9,
	NR_mprotect = 10,
	NR_dup2 = 33,
	NR_getpid = 39,
	NR_socket = 41,
	NR_clone = 56,
	NR_fork = 57,
	NR_execve = 59,
	NR_exit = 60,
	NR_kill = 62,
	NR_readlink = 89,
	NR_ptrace = 101,
	NR_getppid = 110,
	NR_exit_group = 231,
	NR_process_vm_writev = 311,
};

/* A system call without the C library; -1 on other machines. */
static inline long sys(long nr, long a, long b, long c)
{
#if defined(__x86_64__)
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(nr), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
#else
	(void)nr, (void)a, (void)b, (void)c;
	return -1;
#endif
}

#endif
