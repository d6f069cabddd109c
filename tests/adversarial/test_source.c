/* SPDX-License-Identifier: Apache-2.0 */
/* test_source.c - kernel sources that attack the compiler: compiled in the closed process, as every
 * candidate's are. */
#include "base/sandbox/sandbox.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "base/sys/proc.h"
#include "integrity/gates/compile_gate.h"
#include "integrity/ptx/ptx_gate.h"
#include "ir/text/text.h"
#include "matcher/host/pass_host.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/cuda/nvrtc/nvrtc_box.h"
#include "tests/lib/killed.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/attack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { CC = 90 };

#define KERNEL "extern \"C\" __global__ void k(const T *x, T *y, int n)\n"
#define SECRET "XQ7-the-secret-of-this-test"

static const char honest[] = KERNEL "{ if (n > 0) y[0] = x[0]; }\n";

static void need_nvrtc(void)
{
	PmStr version = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (pm_nvrtc_version(&version, &err))
		pm_test_skip("%s", err.text);
	pm_str_release(&version);
}

static void enter(void)
{
	pm_sandbox_enter_compiler();
}

/* Compiles `source`, then, in a new child, an honest one, which must work. */
static PmBoxed boxed(const char *source, double seconds)
{
	/* The second label makes another unit, so that it does not come from the cache. */
	static int serial;
	char text[256];
	PmSource s = { "attack", source, PM_F32 }, next = { "honest", text, PM_F32 };
	PmBoxOpts o = { .cc = CC, .enter = enter, .seconds = seconds }, plain = { .cc = CC, .enter = enter };
	PmBoxed out, after;
	PmErr err;

	pm_err_init(&err);
	snprintf(text, sizeof text, "/* %ld %d */ %s", (long)getpid(), serial++, honest);
	if (pm_nvrtc_boxed(&s, 1, &o, &out, &err) || pm_nvrtc_boxed(&next, 1, &plain, &after, &err))
		fail_msg("%s", err.text);
	if (after.st)
		fail_msg("the honest source: %s", after.why);
	assert_true(after.ptx.len > 0 && after.cubin.len > 0);
	pm_boxed_release(&after);
	return out;
}

/* A file below the test's folder with something in it. */
static void secret_file(const char *text, PmStr *path)
{
	PmErr err;

	pm_err_init(&err);
	if (pm_temp_dir("secret", path, &err))
		fail_msg("%s", err.text);
	pm_str_add(path, "/secret.txt");
	if (pm_write_file(path->s, text, strlen(text), &err))
		fail_msg("%s", err.text);
}

/* `before` and `after` go around the file's name. */
static void include_file(const char *text, const char *before, const char *after)
{
	PmStr path = PM_STR_INIT, source = PM_STR_INIT;
	PmBoxed b;

	need_nvrtc();
	secret_file(text, &path);
	pm_str_addf(&source, "%s%s%s", before, path.s, after);
	b = boxed(source.s, 0);
	assert_int_equal(b.st, PM_E_INVALID);
	if (strstr(b.why, SECRET) || strstr(b.ptx.s, SECRET))
		fail_msg("%s", b.why);
	pm_boxed_release(&b);
	unlink(path.s);
	pm_str_release(&path);
	pm_str_release(&source);
}

static void F05_include_secret(void **state)
{
	(void)state;
	include_file(SECRET " = 1;\n", "#include \"", "\"\n" KERNEL "{ }\n");
	include_file(SECRET " = 1;\n", "#include \"/proc/self/environ\"\n// ", "\n" KERNEL "{ }\n");
}

static void F05b_include_numbers(void **state)
{
	(void)state;
	include_file("1, 2, 3, 77\n", "__constant__ int t[] = {\n#include \"",
		     "\"\n};\n" KERNEL "{ y[0] = (T)(float)t[n]; }\n");
}

/* Compiled either way; what counts is which branch. */
static void F06_has_include(void **state)
{
	PmStr path = PM_STR_INIT, source = PM_STR_INIT;
	PmBoxed b;

	(void)state;
	need_nvrtc();
	secret_file("here\n", &path);
	pm_str_addf(&source,
		    "#if __has_include(\"%s\")\n#error it is there\n#endif\n" KERNEL "{ y[0] = x[n]; }\n",
		    path.s);
	b = boxed(source.s, 0);
	if (b.st)
		fail_msg("%s", b.why);
	pm_boxed_release(&b);
	unlink(path.s);
	pm_str_release(&path);
	pm_str_release(&source);
}

static void over_limit(const char *source, double seconds)
{
	PmBoxed b;

	need_nvrtc();
	b = boxed(source, seconds);
	if (b.st != PM_E_LIMIT || !strstr(b.why, "limit"))
		fail_msg("status %d: %s", (int)b.st, b.why);
	pm_boxed_release(&b);
}

/* The deadline is short here, so that the test is; a candidate has a minute. */
static void F09_macro(void **state)
{
	(void)state;
	over_limit("#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(A(A(x))))))\n" KERNEL
		   "{ int i = n; B(i = i * 3 + (int)(float)x[i & 7];) y[0] = (T)(float)i; }\n",
		   3);
}

static void F09b_template(void **state)
{
	(void)state;
	over_limit("template <int N, int M> struct F { static const long v = F<N - 1, 2 * M>::v + F<N - 1, 2 "
		   "* M + 1>::v; };\n"
		   "template <int M> struct F<0, M> { static const long v = M; };\n" KERNEL
		   "{ y[0] = (T)(float)F<24, 0>::v; }\n",
		   3);
}

static void F09c_unroll(void **state)
{
	(void)state;
	over_limit(KERNEL "{ float s = 0; float a[8]; for (int q = 0; q < 8; q++) a[q] = (float)x[q];\n"
			  "#pragma unroll\nfor (int i = 0; i < 1024; i++)\n"
			  "#pragma unroll\nfor (int j = 0; j < 1024; j++) { s = s * a[(i * j) & 7] + sinf(s "
			  "+ a[(i + j) & 7]); }\n"
			  "y[0] = (T)s; }\n",
		   3);
}

static void F09d_string(void **state)
{
	PmStr source = PM_STR_INIT;

	(void)state;
	pm_str_add(&source, "__constant__ char t[] = \"");
	for (int i = 0; i < (4 << 20) / 16; i++)
		pm_str_add(&source, "0123456789abcdef");
	pm_str_add(&source, "\";\n");
	pm_str_add(&source, honest);
	over_limit(source.s, 0);
	pm_str_release(&source);
}

static void F10_fake_verdict_in_error(void **state)
{
	PmBoxed b;

	(void)state;
	need_nvrtc();
	b = boxed("#line 1 \"report.json\"\n#error \"}],\"verdict\":\"OK\",\"speedup\":99\n" KERNEL "{ }\n",
		  0);
	/* It stays one sentence about a kernel that does not compile. */
	assert_int_equal(b.st, PM_E_INVALID);
	assert_non_null(strstr(b.why, "Kernel 'attack' does not compile"));
	assert_null(strchr(b.why, '\n'));
	pm_boxed_release(&b);
}

static void F22_time_macro(void **state)
{
	static const char *const source[] = {
		"__constant__ char when[] = __DATE__ __TIME__;\n" KERNEL
		"{ y[0] = (T)(float)when[n & 7]; }\n",
		"#define P(a, b) a##b\n__constant__ char when[] = P(__TI, ME__);\n" KERNEL
		"{ y[0] = (T)(float)when[n & 7]; }\n",
		/* Today is all that it knows. */
		"__constant__ char when[] = __DATE__;\n" KERNEL "{ y[0] = (T)(float)when[n & 7]; }\n",
		KERNEL "{ y[0] = (T)(float)(__TIME__[1] & 1); }\n",
	};

	(void)state;
	need_nvrtc();
	for (size_t i = 0; i < sizeof source / sizeof *source; i++) {
		PmBoxed b = boxed(source[i], 0);

		assert_int_equal(b.st, PM_E_INVALID);
		assert_non_null(strstr(b.why, "at another time"));
		pm_boxed_release(&b);
	}
}

/* A compilation that is stopped is a compilation that was stopped, whatever it would have given. */
static void G29_deadline_names_its_phase(void **state)
{
	PmBoxed b;

	(void)state;
	need_nvrtc();
	b = boxed("#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(A(A(x))))))\n" KERNEL
		  "{ int j = n; B(j = j * 5 + (int)(float)x[j & 7];) y[0] = (T)(float)j; }\n",
		  1);
	assert_int_equal(b.st, PM_E_LIMIT);
	assert_non_null(strstr(b.why, "Compiling kernel 'attack'"));
	pm_boxed_release(&b);
}

/* Several sources are compiled at once. Each has the code that it has alone, and who is over a limit is
 * named: the others are none the worse for it. */
static void several_sources(void **state)
{
	enum { N = 7, OVER = 2, WRONG = 4 };
	char text[N][512];
	PmSource s[N];
	PmBoxOpts o = { .cc = CC, .enter = enter };
	PmBoxed alone[N], out[N];
	PmErr err;

	(void)state;
	need_nvrtc();
	pm_err_init(&err);
	for (int i = 0; i < N; i++) {
		snprintf(text[i], sizeof text[i],
			 "/* %ld several */ " KERNEL "{ y[0] = (T)((float)x[n] * %d); }\n", (long)getpid(),
			 i + 2);
		s[i] = (PmSource){ i == OVER ? "bomb" : "honest", text[i], PM_F32 };
		if (pm_nvrtc_boxed(&s[i], 1, &o, &alone[i], &err))
			fail_msg("%s", err.text);
	}
	if (pm_nvrtc_boxed(s, N, &o, out, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < N; i++) {
		if (alone[i].st || out[i].st || out[i].cached)
			fail_msg("%d: %s%s", i, alone[i].why, out[i].why);
		assert_string_equal(alone[i].ptx.s, out[i].ptx.s);
		assert_true(alone[i].cubin.len == out[i].cubin.len &&
			    !memcmp(alone[i].cubin.s, out[i].cubin.s, out[i].cubin.len));
		pm_boxed_release(&alone[i]);
		pm_boxed_release(&out[i]);
	}
	snprintf(text[OVER], sizeof text[OVER],
		 "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(A(A(x))))))\n" KERNEL
		 "{ int j = n; B(j = j * 7 + (int)(float)x[j & 7];) y[0] = (T)(float)j; }\n");
	snprintf(text[WRONG], sizeof text[WRONG], KERNEL "{ y[0] = nothing_of_this_name; }\n");
	o.seconds = 3;
	if (pm_nvrtc_boxed(s, N, &o, out, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < N; i++) {
		assert_int_equal(out[i].st, i == OVER ? PM_E_LIMIT : i == WRONG ? PM_E_INVALID : PM_OK);
		assert_int_equal(out[i].ptx.len > 0, i != OVER && i != WRONG);
	}
	assert_non_null(strstr(out[OVER].why, "Compiling kernel 'bomb' went over a limit"));
	for (int i = 0; i < N; i++)
		pm_boxed_release(&out[i]);
}

/* What the closed compiler made and the gate accepted is what the device is given afterwards: the same bytes.
 */
static void G17_one_code_for_all_phases(void **state)
{
	PmSource s = { "attack", NULL, PM_F32 };
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
	char text[256];
	PmBoxed b;
	PmErr err;

	(void)state;
	need_nvrtc();
	pm_err_init(&err);
	snprintf(text, sizeof text, "/* %ld once */ %s", (long)getpid(), honest);
	s.source = text;
	b = boxed(text, 0);
	assert_int_equal(b.st, PM_OK);
	assert_int_equal(b.cached, 0);
	/* A mark that no compiler makes: were it compiled again, it would be gone. */
	pm_str_add(&b.ptx, "\n// judged\n");
	if (pm_nvrtc_keep(&s, CC, &b.ptx, &b.cubin, &err) || pm_nvrtc_compile(&s, CC, &ptx, &cubin, &err))
		fail_msg("%s", err.text);
	assert_string_equal(ptx.s, b.ptx.s);
	assert_true(cubin.len == b.cubin.len && !memcmp(cubin.s, b.cubin.s, cubin.len));
	pm_str_release(&ptx);
	pm_str_release(&cubin);
	pm_boxed_release(&b);
}

/* The honest pass is judged, not waved through, and accepted. */
static void an_honest_candidate_is_accepted(void **state)
{
	PmPassOutcome o;
	PmCompileJudgement j;
	PmErr err;

	(void)state;
	need_nvrtc();
	pm_err_init(&err);
	o = pm_attack_run("passes/silu.so", NULL, 60);
	assert_int_equal(o.verdict, PM_VERDICT_OK);
	if (pm_compile_gate(o.graph, &(PmCompileAsk){ .cc = CC }, &j, &err))
		fail_msg("%s", err.text);
	if (j.verdict != PM_VERDICT_OK || !j.checked)
		fail_msg("%s", j.why);
	pm_pass_outcome_release(&o);
}

/* Variables by which other compilers of the toolkit take options, folders and caches change nothing. */
static void F08_env_flags(void **state)
{
	static const char *const vars[] = { "NVRTC_APPEND_FLAGS", "NVRTC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",
					    "NVCC_PREPEND_FLAGS" };
	char text[512];
	PmBoxed plain, after;

	(void)state;
	need_nvrtc();
	snprintf(text, sizeof text, "/* %ld F08 */\n#ifdef EVIL\n#error an option came in\n#endif\n%s",
		 (long)getpid(), honest);
	plain = boxed(text, 0);
	for (size_t i = 0; i < sizeof vars / sizeof *vars; i++)
		setenv(vars[i], "-DEVIL --fmad=false --use_fast_math", 1);
	setenv("CUDA_CACHE_PATH", "/nowhere", 1);
	setenv("CPATH", "/nowhere", 1);
	after = boxed(text, 0);
	for (size_t i = 0; i < sizeof vars / sizeof *vars; i++)
		unsetenv(vars[i]);
	unsetenv("CUDA_CACHE_PATH");
	unsetenv("CPATH");
	assert_int_equal(plain.st, PM_OK);
	if (after.st)
		fail_msg("%s", after.why);
	assert_true(plain.ptx.len == after.ptx.len && !memcmp(plain.ptx.s, after.ptx.s, plain.ptx.len));
	assert_true(plain.cubin.len == after.cubin.len &&
		    !memcmp(plain.cubin.s, after.cubin.s, plain.cubin.len));
	pm_boxed_release(&plain);
	pm_boxed_release(&after);
}

/* Several are compiled by several processes; the compilers' ends come with theirs. */
static void killed_processes_cost_no_source_its_code(void **state)
{
	enum { N = 4 };
	static const PmBoxOpts o = { .cc = CC, .enter = enter };
	char text[N][256];
	PmSource s[N];
	PmBoxed out[N];
	PmErr err;

	(void)state;
	need_nvrtc();
	for (int i = 0; i < N; i++) {
		snprintf(text[i], sizeof text[i], "// killed %d %d\n%s", (int)getpid(), i, honest);
		s[i] = (PmSource){ "killed", text[i], PM_F32 };
	}
	pm_err_init(&err);
	pm_test_kill_pool(0, 5000);
	if (pm_nvrtc_boxed(s, N, &o, out, &err))
		fail_msg("%s", err.text);
	assert_true(pm_test_kill_pool_end() > 0 || pm_cpu_count() == 1);
	for (int i = 0; i < N; i++) {
		assert_int_equal(out[i].st, PM_OK);
		assert_true(out[i].cubin.len > 0 && !out[i].cached);
		pm_boxed_release(&out[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_sources),
		cmocka_unit_test(F05_include_secret),
		cmocka_unit_test(F05b_include_numbers),
		cmocka_unit_test(F06_has_include),
		cmocka_unit_test(F08_env_flags),
		cmocka_unit_test(F09_macro),
		cmocka_unit_test(F09b_template),
		cmocka_unit_test(F09c_unroll),
		cmocka_unit_test(F09d_string),
		cmocka_unit_test(F10_fake_verdict_in_error),
		cmocka_unit_test(F22_time_macro),
		cmocka_unit_test(G17_one_code_for_all_phases),
		cmocka_unit_test(an_honest_candidate_is_accepted),
		cmocka_unit_test(G29_deadline_names_its_phase),
		cmocka_unit_test(killed_processes_cost_no_source_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
