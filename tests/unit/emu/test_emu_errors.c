/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu_errors.c - what goes wrong in a kernel ends as one sentence that names kernel, place and thread.
 */
#include "base/sys/io.h"
#include "runtime/emu/emu_priv.h"
#include "tests/lib/device/emu.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static PmDevice *dev;
static PmModule bad;
static PmBuf in, out; /* 1000 bytes each: 250 floats, not a multiple of 16 bytes */

static int open_device(void **state)
{
	static float x[250];

	(void)state;
	dev = emu_open();
	bad = emu_load(dev, "errors.cu", PM_F32);
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof x);
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	dev->ops->close(dev);
	return 0;
}

/* The launch must fail with the status that comes first, and a sentence that holds every one of the words. */
static void refuses(const char *entry, uint32_t blocks, uint32_t threads, uint32_t smem, const PmDevArg *args,
		    int n_args, const char *const *words)
{
	PmErr err, again;
	PmStatus rc;

	pm_err_init(&err);
	pm_err_init(&again);
	rc = emu_launch(dev, bad, entry, blocks, threads, smem, args, n_args, &err);
	if (strcmp(pm_status_name(rc), *words++))
		fail_msg("%s ended as %s: %s", entry, pm_status_name(rc), err.text);
	for (; *words; words++)
		if (!strstr(err.text, *words))
			fail_msg("\"%s\" does not say \"%s\"", err.text, *words);
	/* The device stays failed, with the first error. */
	assert_int_equal(dev->ops->sync(dev, &again), rc);
	assert_string_equal(again.text, err.text);
}
#define ARGS(...) (PmDevArg[]){ __VA_ARGS__ }, (int)(sizeof(PmDevArg[]){ __VA_ARGS__ } / sizeof(PmDevArg))
#define LIST(...)                                                                                            \
	(const char *const[])                                                                                \
	{                                                                                                    \
		__VA_ARGS__, NULL                                                                            \
	}
#define WORDS(...)   LIST("E_DEVICE", __VA_ARGS__)
#define OUTSIDE(...) LIST("E_OOB", __VA_ARGS__)
#define REFUSED(...) LIST("E_LIMIT", __VA_ARGS__)

static void reading_past_a_buffer_is_named(void **state)
{
	(void)state;
	refuses("oob_read", 2, 128, 0, ARGS(emu_arg(in), emu_arg(out), emu_i32(250)),
		OUTSIDE("Kernel 'errors.cu' (entry 'oob_read')", "read past the end of buffer 1",
			"(argument 0, 1000 bytes)", "in block (1,0,0) thread (12"));
}

static void writing_past_a_buffer_is_named(void **state)
{
	(void)state;
	refuses("oob_write", 1, 32, 0, ARGS(emu_arg(in), emu_arg(out), emu_i32(260)),
		OUTSIDE("wrote past the end of buffer 2 (argument 1, 1000 bytes) at byte 1040",
			"block (0,0,0) thread (3,0,0)"));
}

static void writing_into_the_slack_is_found_afterwards(void **state)
{
	(void)state;
	refuses("oob_write", 1, 32, 0, ARGS(emu_arg(in), emu_arg(out), emu_i32(250)),
		OUTSIDE("wrote past the end of buffer 2 (argument 1, 1000 bytes) at byte 1000"));
}

static void writing_before_a_buffer_is_found(void **state)
{
	(void)state;
	refuses("oob_write", 1, 32, 0, ARGS(emu_arg(in), emu_arg(out), emu_i32(-1)),
		OUTSIDE("wrote before the start of buffer 2 (argument 1, 1000 bytes) at byte -4"));
}

static void far_before_a_buffer_is_the_guard(void **state)
{
	(void)state;
	refuses("oob_write", 1, 32, 0, ARGS(emu_arg(in), emu_arg(out), emu_i32(-2000)),
		OUTSIDE("wrote before the start of buffer 2 (argument 1, 1000 bytes) at byte -8000",
			"thread (3,0,0)"));
}

static void writing_to_an_input_is_named(void **state)
{
	(void)state;
	refuses("mutate", 2, 32, 0, ARGS(emu_arg(in), emu_arg(out)),
		LIST("E_MUTATED", "which it may only read",
		     "wrote buffer 1 (argument 0, 1000 bytes) at byte 8", "block (1,0,0) thread (5,0,0)"));
}

static void different_barriers_are_divergent(void **state)
{
	(void)state;
	refuses("two_barriers", 1, 32, 0, ARGS(emu_arg(out)),
		WORDS("divergent barrier", "line 22", "line 25", "errors.cu",
		      "block (0,0,0) thread (10,0,0)"));
}

static void a_barrier_that_some_threads_skip_is_divergent(void **state)
{
	(void)state;
	refuses("some_leave", 1, 64, 0, ARGS(emu_arg(out), emu_i32(60)),
		WORDS("divergent barrier", "thread (0,0,0) and 59 more threads", "line 32",
		      "4 threads of the block have ended"));
}

static void lanes_that_never_come_are_named(void **state)
{
	(void)state;
	refuses("stuck_shuffle", 1, 32, 0, ARGS(emu_arg(out)),
		WORDS("stuck in a warp collective", "thread (0,0,0) waits in __shfl_sync at line 38",
		      "mask 0xffffffff"));
}

static void masks_that_disagree_are_named(void **state)
{
	(void)state;
	refuses("two_masks", 1, 32, 0, ARGS(emu_arg(out)),
		WORDS("stuck in a warp collective", "__shfl_sync at line 45"));
}

static void a_mask_without_its_own_lane_is_named(void **state)
{
	(void)state;
	refuses("not_in_mask", 1, 32, 0, ARGS(emu_arg(out)),
		WORDS("with mask 0xfffffffd", "thread (1,0,0), which is lane 1"));
}

static void null_pointers_are_named(void **state)
{
	(void)state;
	refuses("null_pointer", 1, 1, 0, ARGS(emu_arg(out), emu_i32(4)),
		WORDS("wrote through a null pointer (address 0x10)", "thread (0,0,0)"));
}

static void wild_pointers_are_named(void **state)
{
	(void)state;
	refuses("wild_pointer", 1, 1, 0, ARGS(emu_arg(out), emu_i64(0x7123456789abcdef)),
		WORDS("misaligned vector access or an impossible address"));
}

static void dividing_by_zero_is_named(void **state)
{
	(void)state;
#if defined(__x86_64__)
	refuses("divide", 1, 32, 0, ARGS(emu_arg(out), emu_i32(5), emu_i32(9)),
		WORDS("divided an integer by zero in block (0,0,0) thread (9,0,0)"));
#else
	/* Other machines give 0, as a GPU gives something. */
	EMU_CALL(dev, bad, "divide", 1, 32, 0, emu_arg(out), emu_i32(5), emu_i32(9));
#endif
}

static void a_stack_overflow_is_named(void **state)
{
	(void)state;
	EMU_CALL(dev, bad, "stack", 1, 1, 0, emu_arg(out), emu_i32(100));
	refuses("stack", 1, 1, 0, ARGS(emu_arg(out), emu_i32(1000000)),
		WORDS("overflowed a thread's stack of 256 KiB", "thread (0,0,0)"));
}

static void dynamic_shared_memory_has_an_end(void **state)
{
	(void)state;
	refuses("past_dynamic", 1, 1, 64, ARGS(emu_arg(out), emu_i32(16)),
		OUTSIDE("wrote outside its 64 bytes of dynamic shared memory, at byte 64"));
}

static void dynamic_shared_memory_ends_at_the_byte(void **state)
{
	(void)state;
	refuses("past_dynamic", 1, 1, 36, ARGS(emu_arg(out), emu_i32(9)),
		OUTSIDE("wrote past the end of its dynamic shared memory (byte 36 of 36)"));
}

static void no_dynamic_shared_memory_is_none(void **state)
{
	(void)state;
	refuses("past_dynamic", 1, 1, 0, ARGS(emu_arg(out), emu_i32(0)),
		OUTSIDE("outside its 0 bytes of dynamic shared memory, at byte 0"));
}

static void a_trap_is_named(void **state)
{
	(void)state;
	refuses("trap", 1, 32, 0, ARGS(emu_arg(out)),
		WORDS("called __trap() at line 85", "block (0,0,0) thread (2,0,0)"));
}

static void misaligned_vectors_are_named(void **state)
{
	(void)state;
	refuses("misaligned", 1, 1, 0, ARGS(emu_arg(in), emu_arg(out)),
		WORDS("misaligned vector access or an impossible address"));
}

static void a_missing_entry_lists_what_there_is(void **state)
{
	(void)state;
	refuses("finer", 1, 1, 0, ARGS(emu_arg(out)), WORDS("has no entry 'finer'", "'oob_read'", "'fine'"));
}

static void arguments_are_counted(void **state)
{
	(void)state;
	refuses("fine", 1, 1, 0, ARGS(emu_arg(out), emu_i32(1)),
		WORDS("has 1 parameters, but the launch gives 2"));
}

static void arguments_have_kinds(void **state)
{
	(void)state;
	refuses("oob_write", 1, 1, 0, ARGS(emu_arg(in), emu_arg(out), emu_i64(1)),
		WORDS("parameter 2 is a 32-bit integer, but the launch gives i64"));
}

static void integers_must_fit(void **state)
{
	PmDevArg big = { .kind = PM_DARG_I32, .i = 1ll << 32 };

	(void)state;
	refuses("oob_write", 1, 1, 0, ARGS(emu_arg(in), emu_arg(out), big), WORDS("4294967296", "32 bits"));
}

static void blocks_have_at_most_1024_threads(void **state)
{
	(void)state;
	refuses("fine", 1, 1025, 0, ARGS(emu_arg(out)), REFUSED("blocks of (1025,1,1) threads", "1024"));
}

static void empty_grids_are_refused(void **state)
{
	(void)state;
	refuses("fine", 0, 1, 0, ARGS(emu_arg(out)), REFUSED("grid of (0,1,1) blocks"));
}

static void launch_bounds_hold(void **state)
{
	(void)state;
	EMU_CALL(dev, bad, "bounded", 1, 64, 0, emu_arg(out));
	refuses("bounded", 1, 65, 0, ARGS(emu_arg(out)),
		REFUSED("65 threads per block", "__launch_bounds__ say 64"));
}

static void shared_memory_is_limited(void **state)
{
	(void)state;
	EMU_CALL(dev, bad, "fine", 1, 1, 227 * 1024, emu_arg(out));
	refuses("fine", 1, 1, 227 * 1024 + 1, ARGS(emu_arg(out)),
		REFUSED("232449 dynamic", "at most 232448"));
}

static void static_shared_memory_is_limited(void **state)
{
	static const char *const source =
		"extern \"C\" __global__ void k(int *y) { __shared__ int s[12289]; s[threadIdx.x] = 1;\n"
		"__syncthreads(); y[0] = s[threadIdx.x ^ 1]; }\n";
	PmModule m;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(emu_load_text(dev, "wide", source, &m, &err), PM_OK);
	assert_int_equal(emu_launch(dev, m, "k", 1, 1, 0, NULL, 0, &err), PM_E_DEVICE);
	assert_non_null(strstr(err.text, "'wide' declares 49156 bytes of static shared memory"));
}

static void handles_are_checked(void **state)
{
	PmBuf none = { 77 };
	PmDevArg a = emu_arg(none);
	PmModule no_module = { 5 };

	(void)state;
	assert_int_equal(emu_launch(dev, no_module, "fine", 1, 1, 0, &a, 1, NULL), PM_E_INVALID);
	assert_int_equal(emu_launch(dev, bad, "fine", 1, 1, 0, &a, 1, NULL), PM_E_INVALID);
}

/* Loads a source that must not compile and checks the sentence. */
static void does_not_compile(const char *source, PmStatus want, const char *const *words)
{
	PmModule m;
	PmErr err;
	PmStatus rc;

	pm_err_init(&err);
	rc = emu_load_text(dev, "author", source, &m, &err);
	if (rc != want)
		fail_msg("%s: %s", pm_status_name(rc), err.text);
	for (; *words; words++)
		if (!strstr(err.text, *words))
			fail_msg("\"%s\" does not say \"%s\"", err.text, *words);
}

static void compile_errors_count_lines_of_the_source(void **state)
{
	(void)state;
	does_not_compile("extern \"C\" __global__ void k(float *y)\n{\n\tint a = 1;\n\ty[0] = b;\n}\n",
			 PM_E_INVALID, LIST("Kernel 'author' does not compile: line 4: ", "'b'"));
	/* After a declaration that is rewritten, and on two lines at that. */
	does_not_compile("extern \"C\" __global__ void k(float *y)\n{\n\textern __shared__\n\tfloat s[];\n"
			 "\ty[0] = s[0] + ;\n}\n",
			 PM_E_INVALID, LIST("line 5: "));
	does_not_compile(
		"#if 1\nextern \"C\" __global__ void k(float *y)\n{\n\ty[0] = missing();\n}\n#endif\n",
		PM_E_INVALID, LIST("line 4: ", "missing"));
	does_not_compile("extern \"C\" __global__ void k(float *y)\n{\n\ty[0] = 1;\n", PM_E_INVALID,
			 LIST("does not compile"));
}

static void errors_in_the_prelude_name_the_line_that_used_it(void **state)
{
	(void)state;
	does_not_compile("struct Odd {};\nextern \"C\" __global__ void k(float *y, float *x)\n{\n"
			 "\tOdd o = pm_warp_max(Odd());\n}\n",
			 PM_E_INVALID, LIST("does not compile: line 4: ", "kernel.cuh"));
}

static void what_a_gpu_lacks_is_not_there(void **state)
{
	(void)state;
	does_not_compile("#include <stdio.h>\nextern \"C\" __global__ void k() {}\n", PM_E_INVALID,
			 LIST("line 1: ", "stdio.h"));
	does_not_compile("extern \"C\" int system(const char *);\nextern \"C\" __global__ void k() { "
			 "system(\"x\"); }\n",
			 PM_E_INVALID, LIST("does not link", "system"));
	does_not_compile("extern \"C\" __global__ void k(int *y)\n{\n\tasm volatile(\"mov.u32 %0, 1;\" : "
			 "\"=r\"(*y));\n}\n",
			 PM_E_INVALID, LIST("inline PTX", "line 3"));
}

static void sources_without_an_entry_load_but_do_not_launch(void **state)
{
	PmModule m;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(emu_load_text(dev, "cxx", "__global__ void k(int *y) { *y = 1; }\n", &m, &err),
			 PM_OK);
	assert_int_equal(emu_launch(dev, m, "k", 1, 1, 0, NULL, 0, &err), PM_E_DEVICE);
	assert_non_null(strstr(err.text, "extern \"C\" __global__ functions are: none"));
}

static void compiling_ahead_reports_the_first_error(void **state)
{
	PmSource s[] = {
		{ "one", "extern \"C\" __global__ void a(T *y) { *y = st(1.f); }", PM_F16 },
		{ "two", "extern \"C\" __global__ void b(T *y) { *y = nothing; }", PM_F32 },
		{ "three", "extern \"C\" __global__ void c(T *y) { *y = st(2.f); }", PM_I64 },
	};
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_emu_compile(s, 3, 2, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "Kernel 'two' does not compile: line 1: "));
	s[1].source = s[0].source;
	assert_int_equal(pm_emu_compile(s, 3, 2, &err), PM_OK);
	s[1].type = PM_N_DTYPES;
	assert_int_equal(pm_emu_compile(s, 3, 1, &err), PM_E_INVALID);
}

static void a_missing_compiler_is_an_environment_error(void **state)
{
	PmDevice *d;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	setenv("PASSMITH_CXX", "/nowhere/g++", 1);
	assert_int_equal(pm_emu_open(&d, &err), PM_E_ENV);
	unsetenv("PASSMITH_CXX");
	assert_non_null(strstr(err.text, "/nowhere/g++"));
	assert_non_null(strstr(err.text, "PASSMITH_CXX"));
}

/* Many processes compile the same new kernel; every one of them gets it whole. */
static void parallel_writers_share_the_cache(void **state)
{
	char text[256];
	PmSource s[8];
	PmModule m;
	PmErr err;
	int i;

	(void)state;
	pm_err_init(&err);
	snprintf(text, sizeof text, "/* %ld */ extern \"C\" __global__ void k(T *y) { *y = 1; }",
		 (long)getpid());
	for (i = 0; i < 8; i++)
		s[i] = (PmSource){ "same", text, PM_F32 };
	assert_int_equal(pm_emu_compile(s, 8, 8, &err), PM_OK);
	assert_int_equal(emu_load_text(dev, "same", text, &m, &err), PM_OK);
	EMU_CALL(dev, m, "k", 1, 1, 0, emu_arg(out));
}

/* Makes what runs as the C++ compiler from now on: g++, after lines of shell, which do something where it
 * compiles and $dir is its folder. Returns the folder, owned. */
static PmStr compiler_after(const char *lines)
{
	PmStr dir = PM_STR_INIT, file = PM_STR_INIT, script = PM_STR_INIT;

	assert_int_equal(pm_temp_dir("cxx", &dir, NULL), PM_OK);
	pm_str_addf(&file, "%s/bin", dir.s);
	assert_int_equal(mkdir(file.s, 0755), 0);
	pm_str_add(&file, "/cxx");
	pm_str_addf(&script, "#!/bin/sh\ndir=%s\nif [ \"$1\" != --version ]; then\n%s\nfi\nexec g++ \"$@\"\n",
		    dir.s, lines);
	assert_int_equal(pm_write_file(file.s, script.s, script.len, NULL), PM_OK);
	assert_int_equal(chmod(file.s, 0755), 0);
	setenv("PASSMITH_CXX", file.s, 1);
	pm_str_release(&file);
	pm_str_release(&script);
	return dir;
}

/* An evaluation loads the same source dozens of times: what was compiled once needs no compiler and no
 * preprocessor, also where only the preprocessor knows the names of the kernels. */
static void what_is_compiled_starts_no_compiler(void **state)
{
	static const char *const text[] = {
		"extern \"C\" __global__ void plain(T *y) { *y = 1; }",
		"#define NAME behind\nextern \"C\" __global__ void NAME(T *y) { *y = 2; }",
		"#ifdef PASSMITH_EMU\nextern \"C\" __global__ void behind(T *y) { *y = 3; }\n#endif\n",
	};
	PmStr dir = compiler_after("[ ! -e $dir/off ] || exit 1"), off = PM_STR_INIT;
	PmDevice *d = emu_open();
	PmModule m;
	PmErr err;
	PmBuf y;

	(void)state;
	pm_err_init(&err);
	for (int i = 0; i < 3; i++)
		assert_int_equal(emu_load_text(d, "once", text[i], &m, &err), PM_OK);
	pm_str_addf(&off, "%s/off", dir.s);
	assert_int_equal(pm_write_file(off.s, "", 0, NULL), PM_OK);
	y = emu_buf(d, PM_BUF_OUTPUT, NULL, sizeof(float));
	for (int i = 0; i < 3; i++) {
		float made;

		if (emu_load_text(d, "once", text[i], &m, &err))
			fail_msg("source %d: %s", i, err.text);
		EMU_CALL(d, m, i ? "behind" : "plain", 1, 1, 0, emu_arg(y));
		emu_get(d, y, &made, sizeof made);
		assert_true(made == (float)(i + 1));
	}
	/* Another source does need one. */
	assert_int_equal(
		emu_load_text(d, "once",
			      "#define NAME behind\nextern \"C\" __global__ void NAME(T *y) { *y = 4; }", &m,
			      &err),
		PM_E_INVALID);
	d->ops->close(d);
	unsetenv("PASSMITH_CXX");
	assert_int_equal(pm_remove_tree(dir.s, NULL), PM_OK);
	pm_str_release(&dir);
	pm_str_release(&off);
}

/* The headers before watched kernels are compiled once for a key: one that did not change with the compiler
 * let a watched kernel be compiled with headers that are out of date, and no race was seen. */
static void another_compiler_has_other_keys(void **state)
{
	PmEmuBuilder usual, other;
	PmStr dir;

	(void)state;
	assert_int_equal(pm__emu_builder_open(&usual, PM_EMU_RACES, NULL), PM_OK);
	dir = compiler_after(":");
	assert_int_equal(pm__emu_builder_open(&other, PM_EMU_RACES, NULL), PM_OK);
	unsetenv("PASSMITH_CXX");
	assert_string_not_equal(usual.key, other.key);
	assert_string_not_equal(usual.watch_key, other.watch_key);
	pm__emu_builder_close(&usual);
	pm__emu_builder_close(&other);
	assert_int_equal(pm_remove_tree(dir.s, NULL), PM_OK);
	pm_str_release(&dir);
}

/* The number of the only compiled kernel of a cache, 0 when there is none. */
static ino_t object_there(const char *cache)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmNames names = { 0 };
	struct stat s = { 0 };

	pm_path_join(cache, "emu", &dir);
	if (pm_list_dir(dir.s, &names, NULL) == PM_OK)
		for (size_t i = 0; i < names.n; i++)
			if (pm_str_ends(names.v[i], ".so")) {
				pm_str_clear(&path);
				pm_path_join(dir.s, names.v[i], &path);
				stat(path.s, &s);
			}
	pm_names_release(&names);
	pm_str_release(&dir);
	pm_str_release(&path);
	return s.st_ino;
}

/* Loads a source in a process of its own, and says which file it found in the cache then. */
static pid_t load_apart(const char *cache, int to)
{
	PmModule m;
	PmDevice *d;
	PmErr err;
	ino_t found;
	pid_t child = fork();

	if (child)
		return child;
	pm_err_init(&err);
	d = emu_open();
	if (write(to, "", 1) != 1 ||
	    emu_load_text(d, "same", "extern \"C\" __global__ void k(T *y) { *y = 5; }", &m, &err))
		_exit(1);
	found = object_there(cache);
	_exit(write(to, &found, sizeof found) != sizeof found);
}

/* A process that was let at the object of a name and at no other file (landlock goes by the file, not by its
 * name) failed with "Permission denied" when a second compilation of the same source replaced it. */
static void the_first_object_of_a_name_stays(void **state)
{
	const char *was = getenv("PASSMITH_CACHE");
	PmStr dir = compiler_after("while [ -e $dir/hold ]; do sleep 0.05; done"), hold = PM_STR_INIT,
	      keep = PM_STR_INIT;
	int to[2], status, failed = 0;
	ino_t found[2] = { 0 };
	pid_t child[2];
	char ready;

	(void)state;
	pm_str_add(&keep, was ? was : "");
	pm_str_addf(&hold, "%s/hold", dir.s);
	assert_int_equal(pm_write_file(hold.s, "", 0, NULL), PM_OK);
	setenv("PASSMITH_CACHE", dir.s, 1);
	assert_int_equal(pipe(to), 0);
	for (int i = 0; i < 2; i++)
		child[i] = load_apart(dir.s, to[1]);
	for (int i = 0; i < 2; i++)
		assert_int_equal(read(to[0], &ready, 1), 1);
	usleep(500000); /* both are compiling; one that comes later finds the object of the other */
	assert_int_equal(unlink(hold.s), 0);
	for (int i = 0; i < 2; i++)
		failed |= waitpid(child[i], &status, 0) != child[i] || status;
	assert_false(failed);
	for (int i = 0; i < 2; i++)
		assert_int_equal(read(to[0], &found[i], sizeof found[i]), sizeof found[i]);
	assert_true(found[0] != 0 && found[0] == found[1]);
	close(to[0]);
	close(to[1]);
	unsetenv("PASSMITH_CXX");
	setenv("PASSMITH_CACHE", keep.s, 1);
	assert_int_equal(pm_remove_tree(dir.s, NULL), PM_OK);
	pm_str_release(&dir);
	pm_str_release(&hold);
	pm_str_release(&keep);
}

/* A process that is killed between keeping its object and removing its folder leaves the folder. Who finds
 * the object compiles nothing, and removes it all the same. */
static void what_a_killed_compilation_left_goes(void **state)
{
	const char *was = getenv("PASSMITH_CACHE");
	PmStr dir = PM_STR_INIT, left = PM_STR_INIT, keep = PM_STR_INIT;
	PmDevice *d;

	(void)state;
	pm_str_add(&keep, was ? was : "");
	assert_int_equal(pm_temp_dir("left", &dir, NULL), PM_OK);
	pm_str_addf(&left, "%s/emu-work/NzbF7g", dir.s);
	assert_int_equal(pm_mkdirs(left.s, NULL), PM_OK);
	setenv("PASSMITH_CACHE", dir.s, 1);
	d = emu_open();
	assert_false(pm_path_exists(left.s));
	d->ops->close(d);
	setenv("PASSMITH_CACHE", keep.s, 1);
	assert_int_equal(pm_remove_tree(dir.s, NULL), PM_OK);
	pm_str_release(&dir);
	pm_str_release(&left);
	pm_str_release(&keep);
}

static void compiles_anew(const char *text)
{
	PmSource s = { "head", text, PM_F32 };
	PmErr err;

	pm_err_init(&err);
	if (pm_emu_compile(&s, 1, 1, &err))
		fail_msg("%s", err.text);
}

/* The headers of all kernels are compiled once, and used so: a text of the same name beside them is not read.
 * What cannot be used is passed over. */
static void headers_are_compiled_once(void **state)
{
	PmStr cache = PM_STR_INIT, dir = PM_STR_INIT, text = PM_STR_INIT, made = PM_STR_INIT;
	const char *old = getenv("PASSMITH_CACHE");
	char *back = old ? strdup(old) : NULL;
	PmNames names = { 0 };

	(void)state;
	assert_int_equal(pm_temp_dir("head", &cache, NULL), PM_OK);
	setenv("PASSMITH_CACHE", cache.s, 1);
	compiles_anew("extern \"C\" __global__ void a() {}");
	pm_str_addf(&dir, "%s/emu-head", cache.s);
	assert_int_equal(pm_list_dir(dir.s, &names, NULL), PM_OK);
	assert_int_equal(names.n, 1);
	pm_str_addf(&text, "%s/%s/cuda_host.h", dir.s, names.v[0]);
	pm_str_addf(&made, "%s.gch", text.s);
	assert_true(pm_path_exists(made.s));
	assert_int_equal(pm_write_file(text.s, "#error\n", 7, NULL), PM_OK);
	compiles_anew("extern \"C\" __global__ void b() {}");

	assert_int_equal(remove(text.s), 0);
	assert_int_equal(pm_write_file(made.s, "torn", 4, NULL), PM_OK);
	compiles_anew("extern \"C\" __global__ void c() {}");

	if (back)
		setenv("PASSMITH_CACHE", back, 1);
	else
		unsetenv("PASSMITH_CACHE");
	free(back);
	pm_names_release(&names);
	pm_str_release(&dir);
	pm_str_release(&text);
	pm_str_release(&made);
	pm_remove_tree(cache.s, NULL);
	pm_str_release(&cache);
}

static volatile sig_atomic_t seen;

static void note(int sig)
{
	seen = sig;
}

/* The program's own handlers are back after a launch, also after one that faulted. */
static void signal_handlers_are_put_back(void **state)
{
	struct sigaction mine = { .sa_handler = note }, old;

	(void)state;
	sigemptyset(&mine.sa_mask);
	sigaction(SIGFPE, &mine, &old);
	refuses("null_pointer", 1, 1, 0, ARGS(emu_arg(out), emu_i32(4)), WORDS("null pointer"));
	raise(SIGFPE);
	sigaction(SIGFPE, &old, NULL);
	assert_int_equal(seen, SIGFPE);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_device, close_device)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(reading_past_a_buffer_is_named),
		CASE(writing_past_a_buffer_is_named),
		CASE(writing_into_the_slack_is_found_afterwards),
		CASE(writing_before_a_buffer_is_found),
		CASE(far_before_a_buffer_is_the_guard),
		CASE(writing_to_an_input_is_named),
		CASE(different_barriers_are_divergent),
		CASE(a_barrier_that_some_threads_skip_is_divergent),
		CASE(lanes_that_never_come_are_named),
		CASE(masks_that_disagree_are_named),
		CASE(a_mask_without_its_own_lane_is_named),
		CASE(null_pointers_are_named),
		CASE(wild_pointers_are_named),
		CASE(dividing_by_zero_is_named),
		CASE(a_stack_overflow_is_named),
		CASE(dynamic_shared_memory_has_an_end),
		CASE(dynamic_shared_memory_ends_at_the_byte),
		CASE(no_dynamic_shared_memory_is_none),
		CASE(a_trap_is_named),
		CASE(misaligned_vectors_are_named),
		CASE(a_missing_entry_lists_what_there_is),
		CASE(arguments_are_counted),
		CASE(arguments_have_kinds),
		CASE(integers_must_fit),
		CASE(blocks_have_at_most_1024_threads),
		CASE(empty_grids_are_refused),
		CASE(launch_bounds_hold),
		CASE(shared_memory_is_limited),
		CASE(static_shared_memory_is_limited),
		CASE(handles_are_checked),
		CASE(compile_errors_count_lines_of_the_source),
		CASE(errors_in_the_prelude_name_the_line_that_used_it),
		CASE(what_a_gpu_lacks_is_not_there),
		CASE(sources_without_an_entry_load_but_do_not_launch),
		CASE(compiling_ahead_reports_the_first_error),
		CASE(a_missing_compiler_is_an_environment_error),
		CASE(parallel_writers_share_the_cache),
		cmocka_unit_test(what_is_compiled_starts_no_compiler),
		cmocka_unit_test(another_compiler_has_other_keys),
		cmocka_unit_test(the_first_object_of_a_name_stays),
		cmocka_unit_test(what_a_killed_compilation_left_goes),
		cmocka_unit_test(headers_are_compiled_once),
		CASE(signal_handlers_are_put_back),
	};

	return cmocka_run_group_tests_name("emu_errors", tests, NULL, NULL);
}
