/* sandbox_filter.c - the system calls that are left, as a BPF program.
 *
 * Allowed, and only from the C library's code: taking and giving back memory that is not executable, writing
 * to descriptors 1 and 2, returning from a signal handler, ending. The rest kills the process. The place of
 * the call matters: a plugin that makes a system call of its own is killed even for one that is on the list.
 */
#include "integrity/sandbox_priv.h"

#include <elf.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS SECCOMP_RET_KILL
#endif

enum { MAX_PROGRAM = 96 };

typedef struct Program {
	struct sock_filter ins[MAX_PROGRAM];
	unsigned short n;
} Program;

/* A half of a 64-bit field of struct seccomp_data: 0 the low one (little-endian machines). */
#define FIELD(f, half) (uint32_t)(offsetof(struct seccomp_data, f) + 4 * (half))
#define ARG(i, half)   (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (i) + 4 * (half))

static void emit(Program *p, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
	if (p->n < MAX_PROGRAM)
		p->ins[p->n++] = (struct sock_filter){ code, yes, no, k };
}

static void load(Program *p, uint32_t offset)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

static void kill_unless(Program *p, uint16_t test, uint32_t k)
{
	emit(p, (uint16_t)(BPF_JMP | BPF_K | test), 1, 0, k);
	emit(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
}

static void kill_if(Program *p, uint16_t test, uint32_t k)
{
	emit(p, (uint16_t)(BPF_JMP | BPF_K | test), 0, 1, k);
	emit(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
}

static void allow(Program *p)
{
	emit(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

/* ---- where system calls may come from ---- */

typedef struct Code {
	uintptr_t inside, from, to;
} Code;

static int find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	Code *c = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && c->inside >= from &&
		    c->inside - from < p->p_memsz) {
			c->from = from;
			c->to = from + p->p_memsz;
			return 1;
		}
	}
	return 0;
}

/* The executable segment that holds the C library's write(). */
static int libc_code(Code *c)
{
	static ssize_t (*const fn)(int, const void *, size_t) = write;

	memcpy(&c->inside, &fn, sizeof c->inside);
	return dl_iterate_phdr(find_code, c) == 1 && c->from >> 32 == (c->to - 1) >> 32;
}

/* ---- the rules ---- */

/* Runs `body` for one system call number and kills afterwards unless it allowed. */
typedef void Rule(Program *p);

static void only_out_and_err(Program *p)
{
	load(p, ARG(0, 0));
	kill_if(p, BPF_JEQ, 0);
	kill_if(p, BPF_JGT, 2);
	allow(p);
}

static void only_plain_memory(Program *p)
{
	load(p, ARG(2, 0));
	kill_if(p, BPF_JSET, PROT_EXEC);
	load(p, ARG(3, 0));
	kill_unless(p, BPF_JSET, MAP_ANONYMOUS);
	allow(p);
}

static void rule(Program *p, uint32_t nr, Rule *body)
{
	unsigned short at;

	load(p, FIELD(nr, 0));
	at = p->n;
	emit(p, BPF_JMP | BPF_K | BPF_JEQ, 0, 0, nr);
	body(p);
	if (at < MAX_PROGRAM)
		p->ins[at].jf = (uint8_t)(p->n - at - 1);
}

static void build(Program *p, const Code *c)
{
	load(p, FIELD(arch, 0));
	kill_unless(p, BPF_JEQ, ARCH);
	load(p, FIELD(instruction_pointer, 1));
	kill_unless(p, BPF_JEQ, (uint32_t)(c->from >> 32));
	load(p, FIELD(instruction_pointer, 0));
	kill_unless(p, BPF_JGE, (uint32_t)c->from);
	kill_if(p, BPF_JGT, (uint32_t)(c->to - 1));
	rule(p, SYS_write, only_out_and_err);
	rule(p, SYS_mmap, only_plain_memory);
	rule(p, SYS_brk, allow);
	rule(p, SYS_munmap, allow);
	rule(p, SYS_mremap, allow);
	rule(p, SYS_madvise, allow);
	rule(p, SYS_rt_sigreturn, allow);
	rule(p, SYS_exit_group, allow);
	emit(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
}

int pm__filter_install(void)
{
	Program p = { .n = 0 };
	struct sock_fprog prog = { 0, p.ins };
	Code c = { 0, 0, 0 };

	if (!libc_code(&c))
		return -1;
	build(&p, &c);
	if (p.n >= MAX_PROGRAM)
		return -1;
	prog.len = p.n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}
