/* SPDX-License-Identifier: Apache-2.0 */
/* test_sandbox_place.c - the sandbox holds wherever the C library was put: also where its code lies on both
 * sides of a multiple of 4 GiB, as it does in one process of three thousand.
 *
 * Without randomisation the system puts libraries below the room that the stack may take, so that its limit
 * moves them. This program runs itself with a limit that puts a chosen address of that code on the boundary.
 */
#include "base/sandbox/sandbox.h"
#include "base/sys/proc.h"
#include "tests/lib/need.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

/* What a run of this program says of itself. */
typedef struct Place {
	uint64_t from, to;        /* the C library's code */
	unsigned passes, kernels; /* layers that hold */
} Place;

static int find_write(struct dl_phdr_info *info, size_t size, void *arg)
{
	static ssize_t (*const fn)(int, const void *, size_t) = write;
	Place *p = arg;
	uintptr_t at;

	(void)size;
	memcpy(&at, &fn, sizeof at);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		p->from = info->dlpi_addr + h->p_vaddr;
		p->to = p->from + h->p_memsz;
		if (h->p_type == PT_LOAD && (h->p_flags & PF_X) && at >= p->from && at < p->to)
			return 1;
	}
	return 0;
}

/* The run that is looked at; status 1 when it cannot tell. */
static int tell(void)
{
	Place p;
	PmErr err;

	pm_err_init(&err);
	if (!dl_iterate_phdr(find_write, &p) || pm_sandbox_probe(&p.passes, &err) ||
	    pm_sandbox_probe_kernels(&p.kernels, &err))
		return 1;
	printf("%llu %llu %u %u\n", (unsigned long long)p.from, (unsigned long long)p.to, p.passes,
	       p.kernels);
	return 0;
}

/* Runs this program not randomised, with so much room for the stack. */
static Place run_with_stack(rlim_t bytes)
{
	const char *argv[] = { "/proc/self/exe", "tell", NULL };
	int before = personality(0xffffffff);
	unsigned long long from, to;
	struct rlimit old, room;
	PmProcResult r;
	PmStatus st;
	Place p;
	PmErr err;

	pm_err_init(&err);
	getrlimit(RLIMIT_STACK, &old);
	room = old;
	room.rlim_cur = bytes;
	if (before == -1 || personality((unsigned long)before | ADDR_NO_RANDOMIZE) == -1)
		pm_test_skip("this machine does not let a program choose that addresses are not random");
	if (setrlimit(RLIMIT_STACK, &room) != 0) {
		personality((unsigned long)before);
		pm_test_skip("the limit of the stack cannot be raised to %llu", (unsigned long long)bytes);
	}
	st = pm_run(argv, NULL, 0, &(PmLimits){ .seconds = 300, .file_size = -1, .tries = 3 }, &r, &err);
	setrlimit(RLIMIT_STACK, &old);
	personality((unsigned long)before);
	assert_int_equal(st, PM_OK);
	assert_int_equal(r.end, PM_PROC_EXITED);
	assert_int_equal(r.code, 0);
	assert_int_equal(sscanf(r.out.s, "%llu %llu %u %u", &from, &to, &p.passes, &p.kernels), 4);
	p.from = from;
	p.to = to;
	pm_proc_result_release(&r);
	return p;
}

/* With the boundary at one, two and three quarters of the code: what the sandbox needs of it lies on the one
 * side, then on the other. */
static void the_library_on_both_sides_of_a_boundary(void **state)
{
	const rlim_t room = (rlim_t)256 << 20, page = (rlim_t)sysconf(_SC_PAGESIZE);
	Place home = run_with_stack(room), there;

	(void)state;
	assert_true(home.from >> 32 == (home.to - 1) >> 32);
	for (uint64_t quarter = 1; quarter <= 3; quarter++) {
		uint64_t at = home.from + (home.to - home.from) * quarter / 4;

		there = run_with_stack((room + (uint32_t)at) / page * page);
		if (there.from >> 32 == (there.to - 1) >> 32)
			pm_test_skip(
				"the limit of the stack does not say where libraries are on this machine");
		assert_int_equal(there.passes, home.passes);
		assert_int_equal(there.kernels, home.kernels);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_library_on_both_sides_of_a_boundary),
	};

	if (argc == 2 && !strcmp(argv[1], "tell"))
		return tell();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
