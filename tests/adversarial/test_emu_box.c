/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu_box.c - kernels for the emulated device that try to leave it: while they are compiled, when they
 * are loaded, while they run. A GPU's compiler never sees what stands in #ifdef PASSMITH_EMU.
 */
#include "base/sandbox/sandbox.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "tests/lib/device/emu.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define KERNEL(body) "extern \"C\" __global__ void k(int *y) { " body " }\n"
/* The shim takes the word away; an attacker takes it back. */
#define ASM "#undef asm\n#undef __asm__\n"

static PmDevice *dev;

static int open_device(void **state)
{
	(void)state;
	dev = emu_open();
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	dev->ops->close(dev);
	return 0;
}

static void need_layers(unsigned layers)
{
	char text[128];
	PmStr what = PM_STR_INIT;
	unsigned have = 0;

	if (pm_sandbox_probe_kernels(&have, NULL))
		have = 0;
	pm_sandbox_names(layers & ~have, &what);
	snprintf(text, sizeof text, "%s", what.s);
	pm_str_release(&what); /* skipping does not return */
	if (layers & ~have)
		pm_test_skip("the sandbox of this build or machine lacks: %s", text);
}

/* ---- while it is compiled ---- */

/* A file that the user may read and no kernel should: its path is appended. */
static void make_secret(PmStr *path)
{
	const char *dir = getenv("TMPDIR");

	pm_str_addf(path, "%s/secret-%ld", dir ? dir : "/tmp", (long)getpid());
	assert_int_equal(pm_write_file(path->s, "42, 43\n", 7, NULL), PM_OK);
}

static void does_not_load(const char *source, const char *word)
{
	PmModule m;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(emu_load_text(dev, "attack", source, &m, &err), PM_E_INVALID);
	if (!strstr(err.text, word))
		fail_msg("\"%s\" does not say \"%s\"", err.text, word);
	assert_null(strstr(err.text, "42, 43"));
}

static void the_compiler_reads_no_files(void **state)
{
	static const char *const parts[][2] = {
		{ "#include \"", "\"\n" KERNEL("*y = 1;") },
		{ "static const int t[] = {\n#include \"", "\"\n};\n" KERNEL("*y = t[0];") },
		{ ASM "asm(\".incbin \\\"", "\\\"\");\n" KERNEL("*y = 1;") },
	};
	PmStr path = PM_STR_INIT, source = PM_STR_INIT;

	(void)state;
	need_layers(PM_BOX_LANDLOCK);
	make_secret(&path);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		pm_str_clear(&source);
		pm_str_addf(&source, "%s%s%s", parts[i][0], path.s, parts[i][1]);
		does_not_load(source.s, "does not compile");
	}
	unlink(path.s);
	pm_str_release(&path);
	pm_str_release(&source);
}

/* ---- when it is loaded ---- */

static void nothing_runs_when_it_is_loaded(void **state)
{
	(void)state;
	does_not_load("static int f(int *p) { return *p + 1; }\nint one = 1;\nstatic volatile int x = "
		      "f(&one);\n" KERNEL("*y = x;"),
		      "may not be loaded");
	does_not_load("__attribute__((constructor)) static void f() { *(volatile int *)0 = 1; }\n" KERNEL(
			      "*y = 1;"),
		      "may not be loaded");
	does_not_load(
		"__attribute__((destructor)) static void f() { *(volatile int *)0 = 1; }\n" KERNEL("*y = 1;"),
		"may not be loaded");
	does_not_load(ASM "asm(\".section .init_array,\\\"aw\\\"\\n.quad k\\n.text\");\n" KERNEL("*y = 1;"),
		      "may not be loaded");
}

static void nothing_is_called_by_the_loader(void **state)
{
	(void)state;
	does_not_load("static void g() {}\nextern \"C\" void *resolve() { return (void *)&g; }\n"
		      "extern \"C\" __attribute__((ifunc(\"resolve\"))) void f();\n" KERNEL("f(); *y = 1;"),
		      "may not be loaded");
	does_not_load("thread_local int n = 3;\n" KERNEL("*y = n++;"), "");
}

static void no_function_of_the_program_is_found(void **state)
{
	(void)state;
	does_not_load("extern \"C\" int system(const char *);\n" KERNEL("*y = system(\"true\");"),
		      "does not link");
	does_not_load("extern \"C\" __attribute__((weak)) int system(const char *);\n" KERNEL(
			      "*y = system(\"true\");"),
		      "may not be loaded");
}

static void its_stack_stays_data(void **state)
{
	(void)state;
	does_not_load(ASM
		      "asm(\".section .note.GNU-stack,\\\"x\\\",@progbits\\n.text\");\n" KERNEL("*y = 1;"),
		      "may not be loaded");
}

/* ---- while it runs ---- */

typedef struct Job {
	PmModule m;
	PmBuf y;
} Job;

static int child(void *arg, PmStr *out)
{
	const Job *j = arg;
	PmDevArg a = emu_arg(j->y);
	PmErr err;
	int got = 0;
	PmStatus st;

	pm_err_init(&err);
	st = dev->ops->shut(dev, 0, &err);
	if (!st)
		st = emu_launch(dev, j->m, "k", 1, 1, 0, &a, 1, &err);
	if (!st)
		st = dev->ops->download(dev, j->y, 0, &got, sizeof got, &err);
	pm_str_addf(out, "%s %d", st ? err.text : "ok", got);
	return 0;
}

/* Runs k(y) in a process that is shut in; what it says is "ok <y>" or an error's sentence. */
static void run(const char *source, PmProcResult *r)
{
	static const PmLimits lim = { .seconds = 100, .file_size = 0 };
	Job j = { .y = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof(int)) };
	PmErr err;

	pm_err_init(&err);
	if (emu_load_text(dev, "attack", source, &j.m, &err) || pm_fork_call(child, &j, &lim, r, &err))
		fail_msg("%s", err.text);
	dev->ops->release(dev, j.y);
	dev->ops->unload(dev, j.m);
}

static void answers(const char *source, const char *want)
{
	PmProcResult r;

	run(source, &r);
	assert_int_equal(r.end, PM_PROC_EXITED);
	if (!strstr(r.out.s, want))
		fail_msg("\"%s\" does not say \"%s\"", r.out.s, want);
	pm_proc_result_release(&r);
}

static void is_killed(const char *source)
{
	PmProcResult r;

	run(source, &r);
	if (r.end != PM_PROC_SIGNALED || r.code != SIGSYS)
		fail_msg("it was not killed: %s", r.out.s);
	pm_proc_result_release(&r);
}

static void honest_kernels_run(void **state)
{
	(void)state;
	answers(KERNEL("*y = 7;"), "ok 7");
	answers(KERNEL("__shared__ int s[2]; s[0] = 8; __syncthreads(); *y = s[0];"), "ok 8");
}

static void its_own_system_call_kills(void **state)
{
	(void)state;
	need_layers(PM_BOX_FILTER);
	is_killed(ASM KERNEL("long r; asm volatile(\"syscall\" : \"=a\"(r) : \"a\"(39L) : \"rcx\", \"r11\"); "
			     "*y = (int)r;"));
}

/* The addresses of the C library's functions are a kernel's to find: the table of calls holds one. */
static void library_call(PmStr *source, const char *arguments)
{
	void *(*copy)(void *, const void *, size_t) = memcpy;
	long (*call)(long, ...) = syscall;
	char *from, *to;

	memcpy(&from, &copy, sizeof from);
	memcpy(&to, &call, sizeof to);
	pm_str_clear(source);
	pm_str_addf(source,
		    KERNEL("typedef long F(long, ...); F *f = (F *)((char *)pm_emu_ctx.calls->copy + (%ld)); "
			   "*y = (int)f(%s) == -1 ? -1 : 5;"),
		    (long)(to - from), arguments);
}

static void the_librarys_calls_kill_too(void **state)
{
	PmStr source = PM_STR_INIT, arguments = PM_STR_INIT;

	(void)state;
	need_layers(PM_BOX_FILTER);
	pm_str_addf(&arguments, "%ldl, -100, \"/etc/passwd\", 0, 0", (long)SYS_openat);
	library_call(&source, arguments.s);
	is_killed(source.s);
	pm_str_clear(&arguments);
	pm_str_addf(&arguments, "%ldl, 2, 1, 0", (long)SYS_socket);
	library_call(&source, arguments.s);
	is_killed(source.s);
	pm_str_clear(&arguments);
	pm_str_addf(&arguments, "%ldl, (long)f & -4096l, 4096, 7", (long)SYS_mprotect);
	library_call(&source, arguments.s);
	is_killed(source.s);
	/* One that is allowed shows that the address is right. */
	pm_str_clear(&arguments);
	pm_str_addf(&arguments, "%ldl, 0l", (long)SYS_brk);
	library_call(&source, arguments.s);
	answers(source.s, "ok 5");
	pm_str_release(&source);
	pm_str_release(&arguments);
}

static void it_has_no_clock(void **state)
{
	(void)state;
	need_layers(PM_BOX_NO_CLOCK);
	answers(KERNEL("*y = (int)__builtin_ia32_rdtsc();"), "Kernel 'attack' (entry 'k')");
}

/* What a kernel keeps ends with the process of its run. */
static void nothing_is_kept_between_runs(void **state)
{
	static const char *const source = "static int n;\n" KERNEL("*y = ++n;");

	(void)state;
	answers(source, "ok 1");
	answers(source, "ok 1");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, open_device, close_device)
		CASE(the_compiler_reads_no_files),
		CASE(nothing_runs_when_it_is_loaded),
		CASE(nothing_is_called_by_the_loader),
		CASE(no_function_of_the_program_is_found),
		CASE(its_stack_stays_data),
		CASE(honest_kernels_run),
#if defined(__x86_64__)
		CASE(its_own_system_call_kills),
		CASE(it_has_no_clock),
#endif
		CASE(the_librarys_calls_kill_too),
		CASE(nothing_is_kept_between_runs),
	};

	return cmocka_run_group_tests_name("emu_box", tests, NULL, NULL);
}
