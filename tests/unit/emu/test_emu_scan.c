/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu_scan.c - what is read out of a CUDA source before it is compiled, and what is rewritten. */
#include "base/sys/io.h"
#include "runtime/emu/emu_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static PmEmuScan scan(const char *source)
{
	PmEmuScan s = { .text = PM_STR_INIT };

	assert_int_equal(pm__emu_scan("test", source, strlen(source), &s, NULL), PM_OK);
	return s;
}

/* Names, "!" behind those without C linkage, bounds in parentheses. */
static void finds(const char *source, const char *want)
{
	PmEmuScan s = scan(source);
	PmStr got = PM_STR_INIT;
	size_t i;

	for (i = 0; i < s.kernels.n; i++) {
		const PmEmuName *k = &s.kernels.v[i];

		pm_str_addf(&got, "%s%s%s", i ? " " : "", k->name, k->c_linkage ? "" : "!");
		if (k->bounds)
			pm_str_addf(&got, "(%s)", k->bounds);
	}
	assert_string_equal(got.s, want);
	pm_str_release(&got);
	pm__emu_scan_release(&s);
}

static void kernels_are_found_by_name(void **state)
{
	(void)state;
	finds("extern \"C\" __global__ void a(int x) {}", "a");
	finds("__global__ void a(int x) {}", "a!");
	finds("extern \"C\" __global__ void __launch_bounds__(256) a() {}", "a(256)");
	finds("extern \"C\" __global__ __launch_bounds__(N * f(2, 3), 4) void a() {}", "a(N * f(2, 3))");
	finds("extern \"C\" __global__ void a(int);\nextern \"C\" void __global__ b();", "a b");
	finds("extern \"C\" { __global__ void a() { if (1) {} } __global__ void b(); } __global__ void c();",
	      "a b c!");
	finds("extern \"C\" __global__ void a();\n__global__ void a() {}", "a");
	finds("template<class U> __global__ void a(U x) {} extern \"C\" __global__ void b();", "b");
	finds("extern \"C\" __global__ __attribute__((noinline)) void a() {}", "a");
}

static void comments_and_strings_hide_kernels(void **state)
{
	(void)state;
	finds("// __global__ void a();\n/* __global__ void b(); */", "");
	finds("const char *s = \"__global__ void a();\";", "");
	finds("const char *s = R\"x( \" __global__ void a(); )x\"; extern \"C\" __global__ void b();", "b");
	finds("char c = '\"'; extern \"C\" __global__ void a(); char d = '\\'';", "a");
	finds("int n = 1'000'000; extern \"C\" __global__ void a();", "a");
	finds("// joined \\\n__global__ void a();\nextern \"C\" __global__ void b();", "b");
	finds("__global__", "");
	finds("__global__ void", "");
	finds("", "");
}

#define K "extern \"C\" __global__ void a()"

static void kernels_in_conditions_are_noticed(void **state)
{
	static const struct {
		const char *source;
		int conditional;
		size_t found;
	} cases[] = {
		{ "#ifdef X\n" K ";\n#endif\n", 1, 1 },
		{ "#if 1\n#if 2\n#endif\n" K ";\n#endif\n", 1, 1 },
		{ "#define K(n) extern \"C\" \\\n\t__global__ void n()\nK(a) {}\n", 1, 0 },
		{ "#define C extern \"C\"\nC __global__ void a() {}", 1, 1 },
		{ "#define a b\n" K " {}", 1, 1 },
		{ "extern \"C\" __global__ void\n#if 1\na()\n#endif\n{}", 1, 1 },
		{ "__global__ void\n#ifdef X\n#endif\na() {}", 1, 1 },
		{ "#ifdef X\nextern \"C\" {\n#endif\n" K ";\n", 1, 1 },
		{ "#ifdef X\n}\n#else\n{\n#endif\n" K ";\n", 1, 1 },
		{ "#endif\n" K ";\n", 1, 1 },
		/* Within a function, or of nothing that matters. */
		{ "#define N 3\n#pragma unroll\n" K ";\n", 0, 1 },
		{ K " {\n#if N > 1\n{ x(); }\n#elif M\n#else\ny();\n#endif\n}", 0, 1 },
		{ "#ifndef N\n#define N 3\n#endif\n" K " {}\n", 0, 1 },
		{ "#define IF if (a) {\nextern \"C\" { __global__ void a() {} }", 0, 1 },
		{ "extern \"C\" {\n#define END }\n__global__ void a() {}\n}", 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		PmEmuScan s = scan(cases[i].source);

		if (s.conditional != cases[i].conditional || s.kernels.n != cases[i].found)
			print_message("# %s\n", cases[i].source);
		assert_int_equal(s.conditional, cases[i].conditional);
		assert_int_equal(s.kernels.n, cases[i].found);
		pm__emu_scan_release(&s);
	}
}

static void becomes(const char *source, const char *want)
{
	PmEmuScan s = scan(source);

	assert_string_equal(s.text.s, want);
	pm__emu_scan_release(&s);
}

static void dynamic_shared_memory_is_rewritten(void **state)
{
	(void)state;
	becomes("a; extern __shared__ float s[]; b;",
		"a; float (*const &s) = *(float (*const *))&pm_emu_ctx.dyn; b;");
	becomes("__shared__ extern float4 s[];", "float4 (*const &s) = *(float4 (*const *))&pm_emu_ctx.dyn;");
	becomes("extern __shared__ __align__(16) unsigned char s [ ] ;",
		"unsigned char (*const &s) = *(unsigned char (*const *))&pm_emu_ctx.dyn;");
	becomes("extern\n__shared__\nT s[][4];\nx",
		"T (*const &s)[4] = *(T (*const *)[4])&pm_emu_ctx.dyn;\n\n\nx");
	/* Others stay as they are; the macro says static already. */
	becomes("__shared__ float s[4];", "__shared__ float s[4];");
	becomes("static __shared__ float s[4];", " __shared__ float s[4];");
	becomes("__shared__ static float s[4];", "__shared__ float s[4];");
	becomes("extern __shared__ float s[4];", "extern __shared__ float s[4];");
	becomes("extern __shared__ float", "extern __shared__ float");
	becomes("// extern __shared__ float s[];\n", "// extern __shared__ float s[];\n");
}

static void zero_bytes_are_refused(void **state)
{
	PmEmuScan s = { .text = PM_STR_INIT };
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm__emu_scan("test", "a\0b", 3, &s, &err), PM_E_INVALID);
	pm__emu_scan_release(&s);
}

static size_t lines(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

/* Every prefix of every kernel of the tests: nothing is read past the end, and lines stay. */
static void cut_off_sources_are_survived(void **state)
{
	PmStr root = PM_STR_INIT, dir = PM_STR_INIT;
	PmNames names = { 0 };
	size_t i, n;

	(void)state;
	assert_int_equal(pm_root_dir(&root, NULL), PM_OK);
	pm_path_join(root.s, "tests/kernels", &dir);
	assert_int_equal(pm_list_dir(dir.s, &names, NULL), PM_OK);
	assert_true(names.n > 10);
	for (i = 0; i < names.n; i++) {
		PmStr path = PM_STR_INIT, text = PM_STR_INIT;

		pm_path_join(dir.s, names.v[i], &path);
		assert_int_equal(pm_read_file(path.s, 1 << 20, &text, NULL), PM_OK);
		for (n = 0; n <= text.len; n += n % 7 + 1) {
			char *cut = malloc(n + 1); /* of its own, so that a sanitizer sees the end */
			PmEmuScan s = { .text = PM_STR_INIT };

			memcpy(cut, text.s, n);
			cut[n] = '\0';
			assert_int_equal(pm__emu_scan("cut", cut, n, &s, NULL), PM_OK);
			assert_int_equal(lines(s.text.s), lines(cut));
			pm__emu_scan_release(&s);
			free(cut);
		}
		pm_str_release(&path);
		pm_str_release(&text);
	}
	pm_names_release(&names);
	pm_str_release(&dir);
	pm_str_release(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_are_found_by_name),
		cmocka_unit_test(comments_and_strings_hide_kernels),
		cmocka_unit_test(kernels_in_conditions_are_noticed),
		cmocka_unit_test(dynamic_shared_memory_is_rewritten),
		cmocka_unit_test(zero_bytes_are_refused),
		cmocka_unit_test(cut_off_sources_are_survived),
	};

	return cmocka_run_group_tests_name("emu_scan", tests, NULL, NULL);
}
