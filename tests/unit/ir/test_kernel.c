/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernel.c - kernel nodes: launch lines, decoding with its limits, adding, inlining. */
#include "ir/core/kernel.h"
#include "ir/infer/infer.h"
#include "ir/text/text.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect_text(const PmGraph *g, const char *want)
{
	const PmPrintOpts opts = { .no_header = 1 };
	PmStr have = PM_STR_INIT;

	assert_int_equal(pm_graph_print(g, &opts, &have, NULL), PM_OK);
	assert_string_equal(have.s, want);
	pm_str_release(&have);
}

/* ---- launch lines ---- */

static void launches_read_and_print(void **state)
{
	static const char line[] =
		"my_kernel2 grid=2147483647,65535,65535 block=32,8,4 smem=232448 "
		"args=i0,i63,o1,s15,i64:-9223372036854775808,i32:-1,f32:0x1p-3,f64:0x1.8p+1,"
		"f32:-inf,f64:nan,f32:-0x0p+0";
	PmArena *arena = pm_arena_new(0);
	PmKLaunch l;
	PmStr back = PM_STR_INIT;

	(void)state;
	assert_int_equal(pm_klaunch_parse(line, arena, &l, NULL), PM_OK);
	assert_string_equal(l.entry, "my_kernel2");
	assert_int_equal(l.grid[0], INT32_MAX);
	assert_int_equal(l.block[2], 4);
	assert_int_equal(l.smem, PM_MAX_SMEM);
	assert_int_equal(l.n_args, 11);
	assert_int_equal(l.args[1].kind, PM_KARG_IN);
	assert_int_equal(l.args[1].index, 63);
	assert_true(l.args[4].i == INT64_MIN);
	assert_int_equal(l.args[5].kind, PM_KARG_I32);
	assert_true(l.args[6].f == 0.125);
	assert_int_equal(l.args[7].kind, PM_KARG_F64);
	assert_true(l.args[7].f == 3.0);
	assert_true(l.args[9].f != l.args[9].f);
	pm_klaunch_print(&l, &back);
	assert_string_equal(back.s, line);
	pm_str_release(&back);
	pm_arena_free(arena);
}

static void a_launch_without_arguments_is_fine(void **state)
{
	PmArena *arena = pm_arena_new(0);
	PmKLaunch l;

	(void)state;
	assert_int_equal(pm_klaunch_parse("k grid=1,1,1 block=1,1,1 smem=0 args=", arena, &l, NULL), PM_OK);
	assert_int_equal(l.n_args, 0);
	pm_arena_free(arena);
}

static void bad_launches_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"k",
		" grid=1,1,1 block=1,1,1 smem=0 args=",
		"2k grid=1,1,1 block=1,1,1 smem=0 args=",
		"k-l grid=1,1,1 block=1,1,1 smem=0 args=",
		"k grid=0,1,1 block=1,1,1 smem=0 args=",
		"k grid=1,1 block=1,1,1 smem=0 args=",
		"k grid=2147483648,1,1 block=1,1,1 smem=0 args=",
		"k grid=1,65536,1 block=1,1,1 smem=0 args=",
		"k grid=01,1,1 block=1,1,1 smem=0 args=",
		"k grid=-1,1,1 block=1,1,1 smem=0 args=",
		"k grid=1,1,1 block=1025,1,1 smem=0 args=",
		"k grid=1,1,1 block=1,1,65 smem=0 args=",
		"k grid=1,1,1 block=1,1,1 smem=232449 args=",
		"k grid=1,1,1 block=1,1,1 smem=0",
		"k grid=1,1,1 block=1,1,1 smem=0 args=x0",
		"k grid=1,1,1 block=1,1,1 smem=0 args=i",
		"k grid=1,1,1 block=1,1,1 smem=0 args=i0,",
		"k grid=1,1,1 block=1,1,1 smem=0 args=i0 ",
		"k grid=1,1,1 block=1,1,1 smem=0 args=i99999999999",
		"k grid=1,1,1 block=1,1,1 smem=0 args=i32:2147483648",
		"k grid=1,1,1 block=1,1,1 smem=0 args=i64:",
		"k grid=1,1,1 block=1,1,1 smem=0 args=i64:1.5",
		"k grid=1,1,1 block=1,1,1 smem=0 args=f32:0x1.000001p+0",
		"k grid=1,1,1 block=1,1,1 smem=0 args=f32:1e300",
		"k grid=1,1,1 block=1,1,1 smem=0 args=f64:1e999",
		"k grid=1,1,1 block=1,1,1 smem=0 args=f64:0x1p+0x",
		"k  grid=1,1,1 block=1,1,1 smem=0 args=",
	};
	PmArena *arena = pm_arena_new(0);
	PmKLaunch l;
	PmErr err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		pm_err_init(&err);
		if (pm_klaunch_parse(bad[i], arena, &l, &err) != PM_E_INVALID)
			fail_msg("accepted: %s", bad[i]);
		assert_non_null(strstr(err.text, "malformed at character"));
	}
	assert_int_equal(pm_klaunch_parse("k grid=1,1,1 block=64,32,1 smem=0 args=", arena, &l, NULL),
			 PM_E_LIMIT);
	pm_arena_free(arena);
}

static void launches_have_at_most_128_arguments(void **state)
{
	PmArena *arena = pm_arena_new(0);
	PmStr line = PM_STR_INIT;
	PmKLaunch l;

	(void)state;
	pm_str_add(&line, "k grid=1,1,1 block=1,1,1 smem=0 args=i0");
	for (int i = 1; i < PM_MAX_KERNEL_ARGS; i++)
		pm_str_add(&line, ",i0");
	assert_int_equal(pm_klaunch_parse(line.s, arena, &l, NULL), PM_OK);
	assert_int_equal(l.n_args, PM_MAX_KERNEL_ARGS);
	pm_str_add(&line, ",i0");
	assert_int_equal(pm_klaunch_parse(line.s, arena, &l, NULL), PM_E_LIMIT);
	pm_str_release(&line);
	pm_arena_free(arena);
}

/* ---- decoding ---- */

static const char good[] =
	"g (float[N,4] x) => (float[N,4] y) {\n"
	"y = Kernel <name = \"silu\", alts = 2,\n"
	"   body = silu (float[M,4] a) => (float[M,4] c) { b = Sigmoid (a) c = Mul (a, b) },\n"
	"   source_0 = \"code\", type_0 = \"float16\", scratch_0 = [16, 1099511627776],\n"
	"   launch_0 = [\"f grid=4,1,1 block=32,1,1 smem=0 args=i0,s1\", \"h grid=1,1,1 block=1,1,1 smem=0 "
	"args=s1,o0\"],\n"
	"   source_1 = \"other\", type_1 = \"float\", launch_1 = [\"f grid=1,1,1 block=1,1,1 smem=4 "
	"args=\"]> (x) }";

static void kernels_decode(void **state)
{
	PmGraph *g = pm_test_graph(good);
	PmArena *arena = pm_arena_new(0);
	PmKernelDesc d;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_kernel_decode(g, pm_graph_node_at(g, 0), arena, &d, &err) != PM_OK)
		fail_msg("%s", err.text);
	assert_string_equal(d.name, "silu");
	assert_int_equal(d.n_alts, 2);
	assert_int_equal(pm_graph_n_nodes(d.body), 2);
	assert_string_equal(d.alts[0].source, "code");
	assert_int_equal(d.alts[0].type, PM_F16);
	assert_int_equal(d.alts[0].n_scratch, 2);
	assert_true(d.alts[0].scratch[1] == (int64_t)1 << 40);
	assert_int_equal(d.alts[0].n_launches, 2);
	assert_string_equal(d.alts[0].launches[1].entry, "h");
	assert_int_equal(d.alts[1].type, PM_F32);
	assert_int_equal(d.alts[1].n_scratch, 0);
	assert_int_equal(d.alts[1].launches[0].smem, 4);
	pm_arena_free(arena);
	pm_graph_free(g);
}

/* One attribute of the good kernel, dropped (s NULL) or replaced by a string, or by ints for scratch. */
typedef struct Edit {
	const char *name, *s;
	PmStatus want;
} Edit;

static void bad_kernels_are_refused(void **state)
{
	static const Edit edits[] = {
		{ "name", NULL, PM_E_INVALID },
		{ "name", "", PM_E_INVALID },
		{ "body", NULL, PM_E_INVALID },
		{ "body", "text", PM_E_INVALID },
		{ "alts", NULL, PM_E_INVALID },
		{ "alts", "2", PM_E_INVALID },
		{ "source_0", NULL, PM_E_INVALID },
		{ "source_1", "", PM_E_INVALID },
		{ "type_0", NULL, PM_E_INVALID },
		{ "type_1", "half", PM_E_INVALID },
		{ "scratch_0", "16", PM_E_INVALID },
		{ "scratch_0", NULL, PM_E_INVALID }, /* a launch passes s1 */
		{ "launch_0", NULL, PM_E_INVALID },
		{ "launch_1", "f grid=1,1,1 block=1,1,1 smem=0 args=", PM_E_INVALID }, /* a string, no list */
		{ "source_2", "more than alts says", PM_E_INVALID },
		{ "source_00", "not a number", PM_E_INVALID },
		{ "colour", "blue", PM_E_INVALID },
	};

	(void)state;
	for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
		const Edit *e = &edits[i];
		PmGraph *g = pm_test_graph(good);
		PmNode n = pm_graph_node_at(g, 0);
		PmArena *arena = pm_arena_new(0);
		PmKernelDesc d;
		PmErr err;

		pm_err_init(&err);
		pm_node_drop_attr(g, n, e->name);
		if (e->s)
			assert_int_equal(pm_node_set_s(g, n, e->name, e->s, strlen(e->s), NULL), PM_OK);
		if (pm_kernel_decode(g, n, arena, &d, &err) != e->want)
			fail_msg("case %zu (%s): %s", i, e->name, err.text);
		assert_non_null(strstr(err.text, "The attribute '"));
		pm_arena_free(arena);
		pm_graph_free(g);
	}
}

static void expect_refused(const char *attr, const char *const *launches, size_t n_launches,
			   const int64_t *ints, size_t n_ints, PmStatus want)
{
	PmGraph *g = pm_test_graph(good);
	PmNode n = pm_graph_node_at(g, 0);
	PmArena *arena = pm_arena_new(0);
	PmKernelDesc d;

	if (launches)
		assert_int_equal(pm_node_set_strings(g, n, attr, launches, n_launches, NULL), PM_OK);
	else
		assert_int_equal(pm_node_set_ints(g, n, attr, ints, n_ints, NULL), PM_OK);
	assert_int_equal(pm_kernel_decode(g, n, arena, &d, NULL), want);
	pm_arena_free(arena);
	pm_graph_free(g);
}

static void launches_pass_only_what_the_node_has(void **state)
{
	static const char *const bad[] = { "f grid=1,1,1 block=1,1,1 smem=0 args=i1",
					   "f grid=1,1,1 block=1,1,1 smem=0 args=o1",
					   "f grid=1,1,1 block=1,1,1 smem=0 args=s2" };
	const char *many[PM_MAX_LAUNCHES + 1];
	int64_t buffers[PM_MAX_SCRATCH + 1];
	const int64_t zero[2] = { 16, 0 }, huge[2] = { 16, ((int64_t)1 << 40) + 1 };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		expect_refused("launch_0", &bad[i], 1, NULL, 0, PM_E_INVALID);
	for (size_t i = 0; i < sizeof many / sizeof *many; i++)
		many[i] = "f grid=1,1,1 block=1,1,1 smem=0 args=";
	expect_refused("launch_0", many, PM_MAX_LAUNCHES + 1, NULL, 0, PM_E_LIMIT);
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffers[i] = 1;
	expect_refused("scratch_0", NULL, 0, buffers, PM_MAX_SCRATCH + 1, PM_E_LIMIT);
	expect_refused("scratch_0", NULL, 0, zero, 2, PM_E_LIMIT);
	expect_refused("scratch_0", NULL, 0, huge, 2, PM_E_LIMIT);
}

static void a_kernel_counts_what_its_body_has(void **state)
{
	/* Two operands, but a body with one input: neither decoding nor parsing takes it. */
	static const char text[] =
		"g (float[2] x) => (float[2] y) { y = Kernel <name = \"k\", alts = 1, source_0 = \"c\",\n"
		"type_0 = \"float\", launch_0 = [\"f grid=1,1,1 block=1,1,1 smem=0 args=\"],\n"
		"body = b (float[2] a) => (float[2] c) { c = Relu (a) }> (x, x) }";
	PmGraph *g = NULL;

	(void)state;
	assert_int_equal(pm_graph_parse(text, strlen(text), &g, NULL), PM_E_INVALID);
	assert_null(g);
}

/* ---- adding ---- */

static void added_kernels_print_like_parsed_ones(void **state)
{
	PmGraph *g = pm_test_graph(good), *h = pm_test_graph("g (float[N,4] x) => () {}");
	PmArena *arena = pm_arena_new(0);
	PmKernelDesc d, e;
	PmStr want = PM_STR_INIT;
	PmValue x = pm_graph_input(h, 0), y;
	PmNode n;

	(void)state;
	assert_int_equal(pm_kernel_decode(g, pm_graph_node_at(g, 0), arena, &d, NULL), PM_OK);
	assert_int_equal(pm_kernel_add(h, &d, &x, 1, &n, NULL), PM_OK);
	y = pm_node_out(h, n, 0);
	assert_string_equal(pm_graph_symbol_name(h, pm_value_type(h, y)->dim[0]), "N");
	assert_int_equal(pm_value_set_name(h, y, "y", NULL), PM_OK);
	assert_int_equal(pm_graph_add_output(h, y, NULL), PM_OK);
	assert_int_equal(pm_graph_print(g, &(PmPrintOpts){ .no_header = 1 }, &want, NULL), PM_OK);
	pm_graph_free(g); /* the node must not depend on where its description came from */
	assert_int_equal(pm_kernel_decode(h, n, arena, &e, NULL), PM_OK);
	expect_text(h, want.s);
	assert_int_equal(pm_kernel_add(h, &e, &x, 0, &n, NULL), PM_E_INVALID);
	e.n_alts = PM_MAX_ALTS + 1;
	assert_int_equal(pm_kernel_add(h, &e, &x, 1, &n, NULL), PM_E_LIMIT);
	e.n_alts = 1;
	e.alts[0].n_launches = 0;
	assert_int_equal(pm_kernel_add(h, &e, &x, 1, &n, NULL), PM_E_LIMIT);
	assert_int_equal(pm_graph_n_nodes(h), 1);
	pm_str_release(&want);
	pm_arena_free(arena);
	pm_graph_free(h);
}

/* ---- inlining ---- */

#define CODE "source_0 = \"c\", type_0 = \"float\", launch_0 = [\"f grid=1,1,1 block=1,1,1 smem=0 args=\"]"

static void inlining_gives_the_body(void **state)
{
	PmGraph *g = pm_test_graph("g (float[N,4] x) => (float[N,4] y) {\n"
				   "t = Neg (x)\n"
				   "k = Kernel <name = \"k\", alts = 1, " CODE ",\n"
				   "   body = b (float[M,4] p) => (float[M,4] r) <float half = {0.5}>\n"
				   "   { q = Sigmoid (p) s = Mul (p, q) r = Mul (s, half) }> (t)\n"
				   "y = Relu (k) }");

	(void)state;
	assert_int_equal(pm_graph_inline_kernels(g, NULL), PM_OK);
	assert_int_equal(pm_verify(g, NULL), PM_OK);
	expect_text(g, "g (float[N,4] x) => (float[N,4] y)\n"
		       "<float half = {0.5}>\n"
		       "{\n"
		       "   t = Neg (x)\n"
		       "   v6 = Sigmoid (t)\n"
		       "   v7 = Mul (t, v6)\n"
		       "   k = Mul (v7, half)\n"
		       "   y = Relu (k)\n"
		       "}\n");
	pm_graph_free(g);
}

static void inlining_keeps_output_names(void **state)
{
	/* The first result is the operand itself, the other two are one value. */
	PmGraph *g = pm_test_graph(
		"g (float[2] x) => (float[2] a, float[2] b, float[2] c) {\n"
		"a, b, c = Kernel <name = \"k\", alts = 1, " CODE ",\n"
		"   body = b (float[2] p) => (float[2] p, float[2] r, float[2] r) { r = Neg (p) }> (x) }");

	(void)state;
	assert_int_equal(pm_graph_inline_kernels(g, NULL), PM_OK);
	assert_int_equal(pm_verify(g, NULL), PM_OK);
	expect_text(g, "g (float[2] x) => (float[2] a, float[2] b, float[2] c)\n"
		       "{\n"
		       "   b = Neg (x)\n"
		       "   a = Identity (x)\n"
		       "   c = Identity (b)\n"
		       "}\n");
	pm_graph_free(g);
}

static void inlining_is_recursive(void **state)
{
	PmGraph *g = pm_test_graph("g (float[3] x) => (float[3] y) {\n"
				   "y = Kernel <name = \"outer\", alts = 1, " CODE ",\n"
				   "   body = o (float[N] p) => (float[N] r) {\n"
				   "      q = Kernel <name = \"inner\", alts = 1, " CODE ",\n"
				   "         body = i (float[K] u) => (float[K] w) { w = Exp (u) }> (p)\n"
				   "      r = Neg (q) }> (x) }");

	(void)state;
	assert_int_equal(pm_graph_inline_kernels(g, NULL), PM_OK);
	assert_int_equal(pm_verify(g, NULL), PM_OK);
	assert_int_equal(pm_graph_n_nodes(g), 2);
	assert_int_equal(pm_node_op(g, pm_graph_node_at(g, 0)), PM_OP_Exp);
	assert_int_equal(pm_value_type(g, pm_node_out(g, pm_graph_node_at(g, 0), 0))->dim[0], 3);
	assert_int_equal(pm_node_op(g, pm_graph_node_at(g, 1)), PM_OP_Neg);
	pm_graph_free(g);
}

static void inlining_leaves_other_graphs_alone(void **state)
{
	static const char text[] = "g (float[2] x) => (float[2] y)\n{\n   y = Relu (x)\n}\n";
	PmGraph *g = pm_test_graph(text);

	(void)state;
	assert_int_equal(pm_graph_inline_kernels(g, NULL), PM_OK);
	expect_text(g, text);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_read_and_print),
		cmocka_unit_test(a_launch_without_arguments_is_fine),
		cmocka_unit_test(bad_launches_are_refused),
		cmocka_unit_test(launches_have_at_most_128_arguments),
		cmocka_unit_test(kernels_decode),
		cmocka_unit_test(bad_kernels_are_refused),
		cmocka_unit_test(launches_pass_only_what_the_node_has),
		cmocka_unit_test(a_kernel_counts_what_its_body_has),
		cmocka_unit_test(added_kernels_print_like_parsed_ones),
		cmocka_unit_test(inlining_gives_the_body),
		cmocka_unit_test(inlining_keeps_output_names),
		cmocka_unit_test(inlining_is_recursive),
		cmocka_unit_test(inlining_leaves_other_graphs_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
