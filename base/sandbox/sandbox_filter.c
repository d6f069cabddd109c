/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_filter.c - the system calls that are left, as a BPF program.
 *
 * For plugins and kernels, and only from the C library's code: taking and giving back memory that is not
 * executable, writing to descriptors 1 and 2 (kernels: to 3), returning from a signal handler, ending; for
 * kernels, whose guard needs them, protection and handlers too. The rest kills the process. The place of the
 * call matters: code that makes a system call of its own is killed even for one that is on the list.
 *
 * So code must stay where it is, or that place means nothing. New memory is private, empty, not executable,
 * and where the kernel wants it; what the program and its libraries consist of is not given back nor
 * protected otherwise. Nothing is ever moved: realloc, which asks to, is told that there is no memory and
 * copies; a place to move to kills.
 *
 * For compilers: everything but a list of calls that reach other processes, the network or the kernel's
 * insides, which fail.
 */
#include "base/sandbox/sandbox_priv.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
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

enum { MAX_PROGRAM = 1024, MAX_OBJECTS = 64 };

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

/* The loader lists the kernel's code that tells the time, which is gone (sandbox_clock.c). */
static int is_gone(const struct dl_phdr_info *info)
{
	uintptr_t header = getauxval(AT_SYSINFO_EHDR);

	return header && (uintptr_t)info->dlpi_phdr - header < 4096;
}

static int find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	Code *c = arg;

	(void)size;
	if (is_gone(info))
		return 0;
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

/* The executable segment that holds the C library's syscall(): unlike write() no preloaded library, as some
 * that watch a program, puts its own in the place of it. */
static int libc_code(Code *c)
{
	static long (*const fn)(long, ...) = syscall;

	memcpy(&c->inside, &fn, sizeof c->inside);
	return dl_iterate_phdr(find_code, c) == 1;
}

/* What the program and its libraries occupy: an address and the first one behind it. */
typedef struct Images {
	int n;
	struct {
		uintptr_t from, to;
	} at[MAX_OBJECTS];
} Images;

static int add_image(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t from = UINTPTR_MAX, to = 0;
	Images *all = arg;

	(void)size;
	if (is_gone(info))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + p->p_vaddr < from)
			from = info->dlpi_addr + p->p_vaddr;
		if (info->dlpi_addr + p->p_vaddr + p->p_memsz > to)
			to = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	if (to <= from)
		return 0;
	if (all->n == MAX_OBJECTS) /* the program and its libraries come first, kernels last */
		return 1;
	all->at[all->n].from = from;
	all->at[all->n++].to = to;
	return 0;
}

/* ---- the rules ---- */

/* Runs `body` for one system call number and kills afterwards unless it allowed. */
typedef void Rule(Program *p);

static void up_to(Program *p, uint32_t last)
{
	load(p, ARG(0, 0));
	kill_if(p, BPF_JEQ, 0);
	kill_if(p, BPF_JGT, last);
	allow(p);
}

static void only_out_and_err(Program *p)
{
	up_to(p, 2);
}

static void only_out_err_and_channel(Program *p)
{
	up_to(p, 3);
}

static void only_input(Program *p)
{
	load(p, ARG(0, 0));
	kill_unless(p, BPF_JEQ, 0);
	allow(p);
}

static void zero(Program *p, uint32_t field)
{
	load(p, field);
	kill_unless(p, BPF_JEQ, 0);
}

/* A field of 64 bits with no bits but these. */
static void only_bits(Program *p, int arg, uint32_t bits)
{
	zero(p, ARG(arg, 1));
	load(p, ARG(arg, 0));
	kill_if(p, BPF_JSET, ~bits);
}

static void only_data(Program *p)
{
	only_bits(p, 2, PROT_READ | PROT_WRITE);
	allow(p);
}

static void only_new_memory(Program *p)
{
	zero(p, ARG(0, 0)); /* no wish for a place, so none that is taken */
	zero(p, ARG(0, 1));
	only_bits(p, 2, PROT_READ | PROT_WRITE);
	only_bits(p, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK);
	kill_unless(p, BPF_JSET, MAP_ANONYMOUS);
	allow(p);
}

static void refuse_to_move(Program *p)
{
	zero(p, ARG(3, 1));
	load(p, ARG(3, 0));
	kill_unless(p, BPF_JEQ, MREMAP_MAYMOVE);
	emit(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOMEM);
}

/* What malloc may say of new memory; it changes nothing of what is in it. */
static void only_huge_pages(Program *p)
{
	load(p, ARG(2, 0));
	kill_unless(p, BPF_JEQ, MADV_HUGEPAGE);
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

/* Places of the filter's memory: of a range of addresses its first one and the first one behind it. */
enum { FROM_LO, FROM_HI, END_LO, END_HI };

static void store(Program *p, uint32_t place)
{
	emit(p, BPF_ST, 0, 0, place);
}

/* The range that the first two arguments are, address and length, as they are where 64 bits suffice. */
static void compute_range(Program *p)
{
	load(p, ARG(0, 1));
	kill_if(p, BPF_JGT, 0xffff);
	store(p, FROM_HI);
	load(p, ARG(1, 1));
	kill_if(p, BPF_JGT, 0xffff);
	emit(p, BPF_MISC | BPF_TAX, 0, 0, 0);
	emit(p, BPF_LD | BPF_MEM, 0, 0, FROM_HI);
	emit(p, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
	store(p, END_HI);
	load(p, ARG(0, 0));
	store(p, FROM_LO);
	emit(p, BPF_MISC | BPF_TAX, 0, 0, 0);
	load(p, ARG(1, 0));
	emit(p, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
	store(p, END_LO);
	/* A sum smaller than a term has lost a carry. */
	emit(p, BPF_JMP | BPF_JGE | BPF_X, 3, 0, 0);
	emit(p, BPF_LD | BPF_MEM, 0, 0, END_HI);
	emit(p, BPF_ALU | BPF_ADD | BPF_K, 0, 0, 1);
	store(p, END_HI);
}

/* Kills when the range has an address of [from, to). */
static void kill_inside(Program *p, uint64_t from, uint64_t to)
{
	enum { NEXT = 11, SECOND = 5, KILL = 10 };
#define TO(target, here) (uint8_t)((target) - (here)-1)
	emit(p, BPF_LD | BPF_MEM, 0, 0, FROM_HI); /* it begins at `to` or later: no */
	emit(p, BPF_JMP | BPF_K | BPF_JGT, TO(NEXT, 1), 0, (uint32_t)(to >> 32));
	emit(p, BPF_JMP | BPF_K | BPF_JEQ, 0, TO(SECOND, 2), (uint32_t)(to >> 32));
	emit(p, BPF_LD | BPF_MEM, 0, 0, FROM_LO);
	emit(p, BPF_JMP | BPF_K | BPF_JGE, TO(NEXT, 4), 0, (uint32_t)to);
	emit(p, BPF_LD | BPF_MEM, 0, 0, END_HI); /* it ends at `from` or before: no */
	emit(p, BPF_JMP | BPF_K | BPF_JGT, TO(KILL, 6), 0, (uint32_t)(from >> 32));
	emit(p, BPF_JMP | BPF_K | BPF_JEQ, 0, TO(NEXT, 7), (uint32_t)(from >> 32));
	emit(p, BPF_LD | BPF_MEM, 0, 0, END_LO);
	emit(p, BPF_JMP | BPF_K | BPF_JGT, 0, TO(NEXT, 9), (uint32_t)from);
	emit(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
#undef TO
}

/* Of munmap and mprotect, those that reach into the program or a library. */
static void keep_images(Program *p, const Images *images)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned short over;

	load(p, FIELD(nr, 0));
	emit(p, BPF_JMP | BPF_K | BPF_JEQ, 2, 0, SYS_munmap);
	emit(p, BPF_JMP | BPF_K | BPF_JEQ, 1, 0, SYS_mprotect);
	over = p->n;
	emit(p, BPF_JMP | BPF_JA, 0, 0, 0);
	compute_range(p);
	for (int i = 0; i < images->n; i++)
		kill_inside(p, images->at[i].from / page * page, (images->at[i].to + page - 1) / page * page);
	if (over < MAX_PROGRAM)
		p->ins[over].k = (uint32_t)(p->n - over - 1);
}

/* Kills a call from elsewhere. A program of 32-bit tests compares the halves: the lower ones count only where
 * the upper ones are equal. One process in three thousand has its C library on both sides of a multiple of
 * 4 GiB, so that the halves of its ends differ. */
static void only_from(Program *p, const Code *c)
{
	uint64_t first = c->from, last = c->to - 1;

	load(p, FIELD(instruction_pointer, 1));
	kill_unless(p, BPF_JGE, (uint32_t)(first >> 32));
	kill_if(p, BPF_JGT, (uint32_t)(last >> 32));
	emit(p, BPF_JMP | BPF_K | BPF_JEQ, 0, 3, (uint32_t)(first >> 32));
	load(p, FIELD(instruction_pointer, 0));
	kill_unless(p, BPF_JGE, (uint32_t)first);
	load(p, FIELD(instruction_pointer, 1));
	emit(p, BPF_JMP | BPF_K | BPF_JEQ, 0, 3, (uint32_t)(last >> 32));
	load(p, FIELD(instruction_pointer, 0));
	kill_if(p, BPF_JGT, (uint32_t)last);
}

static void build(Program *p, const Code *c, const Images *images, Pm__Calls calls)
{
	load(p, FIELD(arch, 0));
	kill_unless(p, BPF_JEQ, ARCH);
	only_from(p, c);
	rule(p, SYS_write, calls == PM__CALLS_PLUGIN ? only_out_and_err : only_out_err_and_channel);
	rule(p, SYS_mmap, only_new_memory);
	rule(p, SYS_brk, allow);
	rule(p, SYS_mremap, refuse_to_move);
	rule(p, SYS_madvise, only_huge_pages);
	rule(p, SYS_rt_sigreturn, allow);
	rule(p, SYS_exit_group, allow);
	if (calls == PM__CALLS_SERVING)
		rule(p, SYS_read, only_input);
	keep_images(p, images);
	rule(p, SYS_munmap, allow);
	if (calls != PM__CALLS_PLUGIN) {
		rule(p, SYS_mprotect, only_data);
		rule(p, SYS_rt_sigaction, allow);
		rule(p, SYS_sigaltstack, allow);
	}
	emit(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
}

/* ---- what no compiler does ---- */

static void build_compiler(Program *p, Pm__Calls calls)
{
	static const uint32_t never[] = {
		SYS_socket,
		SYS_connect,
		SYS_bind,
		SYS_ptrace,
		SYS_mount,
		SYS_umount2,
		SYS_process_vm_readv,
		SYS_process_vm_writev,
		SYS_setns,
		SYS_unshare,
		SYS_chroot,
		SYS_pivot_root,
		SYS_bpf,
		SYS_perf_event_open,
		SYS_keyctl,
		SYS_add_key,
		SYS_request_key,
		SYS_userfaultfd,
		SYS_open_by_handle_at,
		SYS_init_module,
		SYS_finit_module,
		SYS_kexec_load,
#ifdef SYS_io_uring_setup
		SYS_io_uring_setup,
#endif
#ifdef SYS_pidfd_getfd
		SYS_pidfd_getfd,
#endif
	};
	static const uint32_t programs[] = { SYS_execve, SYS_execveat };
	size_t n = sizeof never / sizeof *never, n_programs = calls == PM__CALLS_LIBRARY ? 2 : 0;

	load(p, FIELD(arch, 0));
	kill_unless(p, BPF_JEQ, ARCH);
	load(p, FIELD(nr, 0));
#if defined(__x86_64__)
	kill_if(p, BPF_JGE, 0x40000000u); /* the x32 numbers of the same calls */
#endif
	for (size_t i = 0; i < n + n_programs; i++) {
		emit(p, BPF_JMP | BPF_K | BPF_JEQ, 0, 1, i < n ? never[i] : programs[i - n]);
		emit(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM);
	}
	allow(p);
}

int pm__filter_install(Pm__Calls calls)
{
	Program p = { .n = 0 };
	struct sock_fprog prog = { 0, p.ins };
	Code c = { 0, 0, 0 };
	Images images = { .n = 0 };

	if (calls == PM__CALLS_LIBRARY || calls == PM__CALLS_PROGRAM) {
		build_compiler(&p, calls);
	} else if (libc_code(&c)) {
		dl_iterate_phdr(add_image, &images);
		build(&p, &c, &images, calls);
	} else {
		errno = ENOEXEC;
		return -1;
	}
	if (p.n >= MAX_PROGRAM) {
		errno = E2BIG;
		return -1;
	}
	prog.len = p.n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}
