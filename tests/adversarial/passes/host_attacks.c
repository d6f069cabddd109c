/* SPDX-License-Identifier: Apache-2.0 */
/* host_attacks.c - passes whose host code attacks the process it runs in: one rule each, named by its
 * fixture.
 *
 * All match Mul(x, Sigmoid(x)) and would be honest but for what their check does first. tests pick one with
 * only_rule.
 */
#include "tests/adversarial/passes/attack.h"
#include "tests/adversarial/passes/find_libc.h"

#include <string.h>

/* Declines with a reason that the test reads when an attack came back, which none should. */
#define SURVIVED(m) return pm_decline(m, "survived")

static PmStatus read_task_file(PmMatch *m)
{
	sys(NR_open, (long)"task.json", 0, 0);
	SURVIVED(m);
}

static PmStatus write_cache(PmMatch *m)
{
	sys(NR_open, (long)"/tmp/tuned.txt", 0102 /* O_CREAT | O_RDWR */, 0600);
	SURVIVED(m);
}

static PmStatus open_results(PmMatch *m)
{
	static const char *const path[] = { "/", "/proc/self/fd", ".", "results.sqlite" };

	for (int i = 0; i < 4; i++)
		sys(NR_open, (long)path[i], 0, 0);
	SURVIVED(m);
}

/* Writes over whatever looks like a table of pointers behind the host functions it was given. */
static PmStatus got_patch(PmMatch *m)
{
	uintptr_t *p = (uintptr_t *)(uintptr_t)pm_host_;

	for (int i = 0; i < 4096; i++)
		p[i] = 0x4141414141414141;
	SURVIVED(m);
}

static PmStatus patch_host_table(PmMatch *m)
{
	((volatile uintptr_t *)(uintptr_t)pm_host_)[2] = 0;
	SURVIVED(m);
}

static PmStatus clone_thread(PmMatch *m)
{
	sys(NR_clone, 0x10f00 /* CLONE_THREAD and what it needs */, 0, 0);
	SURVIVED(m);
}

static PmStatus plain_syscall(PmMatch *m)
{
	sys(NR_getpid, 0, 0, 0);
	SURVIVED(m);
}

#if defined(__x86_64__)
/* The bytes of a system call inside an immediate operand, where a disassembler sees a move. */
static PmStatus misaligned_syscall(PmMatch *m)
{
	__asm__ volatile("mov $39, %%eax\n\t"
			 "jmp 1f+1\n"
			 "1:\tmov $0x90c3050f, %%ecx\n\t" /* b9 0f 05 c3 90: jumping one byte in runs 0f 05 */
			 :
			 :
			 : "rax", "rcx", "r11", "memory");
	SURVIVED(m);
}

static PmStatus int80(PmMatch *m)
{
	__asm__ volatile("mov $20, %%eax\n\tint $0x80" : : : "rax", "memory");
	SURVIVED(m);
}

static PmStatus rdtsc(PmMatch *m)
{
	__asm__ volatile("rdtsc" : : : "rax", "rdx");
	SURVIVED(m);
}
#else
#define misaligned_syscall plain_syscall
#define int80              plain_syscall
#define rdtsc              plain_syscall
#endif

static PmStatus x32(PmMatch *m)
{
	sys(0x40000000 | NR_getpid, 0, 0, 0);
	SURVIVED(m);
}

static PmStatus make_executable(PmMatch *m)
{
	static char page[8192];

	sys(NR_mprotect, (long)page & ~4095L, 4096, 7);
	SURVIVED(m);
}

static PmStatus procmem(PmMatch *m)
{
	sys(NR_open, (long)"/proc/self/mem", 2, 0);
	SURVIVED(m);
}

static PmStatus poke_parent(PmMatch *m)
{
	sys(NR_process_vm_writev, 1, 0, 0);
	SURVIVED(m);
}

static PmStatus forge_result(PmMatch *m)
{
	for (int fd = 0; fd < 1024; fd++)
		sys(NR_write, fd, (long)"OK speedup 100\n", 15);
	SURVIVED(m);
}

static PmStatus exit_early(PmMatch *m)
{
	sys(NR_exit_group, 0, 0, 0);
	SURVIVED(m);
}

static PmStatus kill_parent(PmMatch *m)
{
	sys(NR_kill, sys(NR_getppid, 0, 0, 0), 9, 0);
	SURVIVED(m);
}

static PmStatus double_fork(PmMatch *m)
{
	if (sys(NR_fork, 0, 0, 0) == 0 && sys(NR_fork, 0, 0, 0) == 0)
		for (;;)
			;
	SURVIVED(m);
}

static PmStatus open_socket(PmMatch *m)
{
	sys(NR_socket, 2, 1, 0);
	SURVIVED(m);
}

static PmStatus run_program(PmMatch *m)
{
	sys(NR_execve, (long)"/bin/sh", 0, 0);
	SURVIVED(m);
}

static volatile int on = 1;

static PmStatus spin(PmMatch *m)
{
	(void)m;
	while (on)
		;
	return PM_OK;
}

static PmStatus alloc_forever(PmMatch *m)
{
	while (on)
		*(volatile char *)pm_alloc(1 << 20) = 1;
	SURVIVED(m);
}

static PmStatus (*volatile deeper)(PmMatch *);

static PmStatus recursion(PmMatch *m)
{
	volatile char big[4096];

	big[0] = 0;
	deeper = recursion;
	return deeper(m) + big[0];
}

#define F(c) (char)~(c)

static int at(const char *p, const char *flipped, int n)
{
	int k = 0;

	while (k < n && p[k] == (char)~flipped[k])
		k++;
	return k == n;
}

/* The stack of the process, upwards from here, to its end: arguments, environment, and the program's name
 * once more. The needles are stored with every bit flipped, not to find themselves. */
static PmStatus stack_environ(PmMatch *m)
{
	static const char secret[] = {
		F('C'), F('A'), F('N'), F('A'), F('R'), F('Y'), F('='), F('4'), F('2')
	};
	static const char name[] = { F('m'), F('i'), F('t'), F('h'), F('-'), F('h'), F('o'), F('s'), F('t') };
	const char *p = (const char *)__builtin_frame_address(0);
	int names = 0, found = 0;

	for (; names < 2; p++) {
		found |= at(p, secret, sizeof secret);
		names += at(p, name, sizeof name);
	}
	return pm_decline(m, found ? "found" : "not found");
}

/* Every readable word near each thing it was given: its match, the host's table, what alloc returned. */
static PmStatus scan_secret(PmMatch *m)
{
	static const char needle[] = {
		F('C'), F('A'), F('N'), F('A'), F('R'), F('Y'), F('='), F('4'), F('2')
	};
	const char *start[] = { (const char *)m, (const char *)pm_alloc(64), (const char *)pm_host_ };

	for (int s = 0; s < 3; s++) {
		const char *page = (const char *)((uintptr_t)start[s] & ~(uintptr_t)4095);

		for (int i = 0; i + (int)sizeof needle <= 4096; i++) {
			if (at(page + i, needle, sizeof needle))
				return pm_decline(m, "found");
		}
	}
	return pm_decline(m, "not found");
}

static PmStatus walk_libc(PmMatch *m)
{
#if defined(__x86_64__)
	int (*const open_file)(const char *,
			       int) = (int (*)(const char *, int))(uintptr_t)libc_function("open");

	if (!open_file)
		return pm_decline(m, "no C library was found");
	open_file("/etc/passwd", 0);
#else
	sys(NR_open, (long)"/etc/passwd", 0, 0);
#endif
	SURVIVED(m);
}

/* Rewrites what it has rewritten. */
static PmStatus ping_pong(PmRewriter *rw, PmMatch *m)
{
	while (on)
		emit_silu(rw, m, SRC);
	return PM_OK;
}

PM_RULE(A03_read_task_file, .pattern = SILU, .check = read_task_file, .rewrite = honest);
PM_RULE(B12_write_cache, .pattern = SILU, .check = write_cache, .rewrite = honest);
PM_RULE(C02_got_patch, .pattern = SILU, .check = got_patch, .rewrite = honest);
PM_RULE(C03_clone, .pattern = SILU, .check = clone_thread, .rewrite = honest);
PM_RULE(D04b, .pattern = SILU, .check = stack_environ, .rewrite = honest);
PM_RULE(D06_patch_host_table, .pattern = SILU, .check = patch_host_table, .rewrite = honest);
PM_RULE(D07_scan, .pattern = SILU, .check = scan_secret, .rewrite = honest);
PM_RULE(D08b_walk_libc, .pattern = SILU, .check = walk_libc, .rewrite = honest);
PM_RULE(D09_syscall, .pattern = SILU, .check = plain_syscall, .rewrite = honest);
PM_RULE(D09b_misaligned, .pattern = SILU, .check = misaligned_syscall, .rewrite = honest);
PM_RULE(D09c_int80, .pattern = SILU, .check = int80, .rewrite = honest);
PM_RULE(D09d_x32, .pattern = SILU, .check = x32, .rewrite = honest);
PM_RULE(D10e_mprotect, .pattern = SILU, .check = make_executable, .rewrite = honest);
PM_RULE(D13_procmem, .pattern = SILU, .check = procmem, .rewrite = honest);
PM_RULE(D13b_poke_parent, .pattern = SILU, .check = poke_parent, .rewrite = honest);
PM_RULE(D14_forge_result, .pattern = SILU, .check = forge_result, .rewrite = honest);
PM_RULE(D15_exit0_early, .pattern = SILU, .check = exit_early, .rewrite = honest);
PM_RULE(D15b_kill_parent, .pattern = SILU, .check = kill_parent, .rewrite = honest);
PM_RULE(D16_double_fork, .pattern = SILU, .check = double_fork, .rewrite = honest);
PM_RULE(D17_socket, .pattern = SILU, .check = open_socket, .rewrite = honest);
PM_RULE(D17b_execve, .pattern = SILU, .check = run_program, .rewrite = honest);
PM_RULE(D18b_rdtsc, .pattern = SILU, .check = rdtsc, .rewrite = honest);
PM_RULE(D19_spin, .pattern = SILU, .check = spin, .rewrite = honest);
PM_RULE(D20_alloc_forever, .pattern = SILU, .check = alloc_forever, .rewrite = honest);
PM_RULE(D20b_recursion, .pattern = SILU, .check = recursion, .rewrite = honest);
PM_RULE(D26_open_results, .pattern = SILU, .check = open_results, .rewrite = honest);
PM_RULE(E10_ping_pong, .pattern = SILU, .rewrite = ping_pong);

PM_PLUGIN("host_attacks", "1", &A03_read_task_file, &B12_write_cache, &C02_got_patch, &C03_clone, &D04b,
	  &D06_patch_host_table, &D07_scan, &D08b_walk_libc, &D09_syscall, &D09b_misaligned, &D09c_int80,
	  &D09d_x32, &D10e_mprotect, &D13_procmem, &D13b_poke_parent, &D14_forge_result, &D15_exit0_early,
	  &D15b_kill_parent, &D16_double_fork, &D17_socket, &D17b_execve, &D18b_rdtsc, &D19_spin,
	  &D20_alloc_forever, &D20b_recursion, &D26_open_results, &E10_ping_pong)
