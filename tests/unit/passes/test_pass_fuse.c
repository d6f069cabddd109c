/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_fuse.c - automatic fusion: kinds of sets that become one kernel, random graphs, and real models.
 */
#include "base/sys/io.h"
#include "bench/compare/agree.h"
#include "bench/inputs/inputs.h"
#include "ir/core/kernel.h"
#include "ir/text/text.h"
#include "matcher/host/pass_host.h"
#include "runtime/exec/exec.h"
#include "runtime/worker/run.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PASS "fuse"

/* ---- one kernel each ---- */

static void chains_become_one_kernel(void **state)
{
	static const PassDims rows[] = { { { 3, 5, 7 } }, { { 2, 4, 64 } } };

	(void)state;
	/* broadcasting, a scalar, a condition, several results */
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c] x, $T[$b,1] s, $T[$c] t, bool[$a,1,$c] m) => ($T[$a,$b,$c] y, "
		   "$T[$a,$b,$c] z) "
		   "<$T half = {0.5}> { a = Mul(x, s) z = Add(a, t) b = Erf(z) c = Mul(b, half) y = Where(m, "
		   "c, x) }",
		   1, rows, PASS_COUNT(rows));
}

static void views_become_indices(void **state)
{
	static const PassDims rows[] = { { { 2, 6, 8 } }, { { 1, 10, 3 } } };

	(void)state;
	pass_fuses(
		PASS,
		"g ($T[$a,$b,$c] x, $T[$c,$b] w) => ($T[$c,$a,$b] y) { "
		"t = Transpose<perm = [2, 0, 1]>(x) r = Relu(t) u = Unsqueeze<axes = [1]>(w) y = Add(r, u) }",
		1, rows, PASS_COUNT(rows));
	/* rolled by two slices, padded, every second element */
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c] x) => ($T[$a,5,$c] y) { n = Neg(x) "
		   "p = Slice<starts = [0], ends = [2], axes = [1], steps = [1]>(n) "
		   "q = Slice<starts = [2], ends = [$b], axes = [1], steps = [1]>(n) "
		   "r = Concat<axis = 1>(q, p) s = Pad<pads = [0, 1, 0, 0, 3, 0]>(r) "
		   "h = Slice<starts = [0], ends = [10], axes = [1], steps = [2]>(s) y = Exp(h) }",
		   1, rows, 1);
}

/* Pairs of neighbours, turned: vectors are taken apart and put together by lanes, and rows of an odd number
 * of pairs element by element. */
static void pairs_are_woven(void **state)
{
	static const PassDims rows[] = { { { 530, 512, 256 } }, { { 3, 6, 3 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b] x, $T[$a,$c] s, $T[$a,$c] t) => ($T[$a,$b] y) <int64[2] k = {$a, $b}> { "
		   "e = Slice<starts = [0], ends = [$b], axes = [1], steps = [2]>(x) "
		   "o = Slice<starts = [1], ends = [$b], axes = [1], steps = [2]>(x) "
		   "p = Mul(e, s) q = Mul(o, t) u = Sub(p, q) v = Mul(o, s) w = Mul(e, t) z = Add(v, w) "
		   "f = Unsqueeze<axes = [2]>(u) h = Unsqueeze<axes = [2]>(z) c = Concat<axis = 2>(f, h) "
		   "y = Reshape(c, k) }",
		   1, rows, PASS_COUNT(rows));
}

/* Along the last axis and another one, from either end, with and without the element itself; positions from a
 * mask. */
static void running_sums(void **state)
{
	static const PassDims rows[] = { { { 2, 5, 12 } }, { { 3, 33, 7 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c] x, $T[$c] w) => ($T[$a,$b,$c] y) <int64 p = {1}, int64 q = {-1}> { "
		   "u = CumSum(x, p) v = CumSum<reverse = 1, exclusive = 1>(x, q) n = Neg(w) m = Mul(v, n) "
		   "y = Max(u, m) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses_float(
		PASS,
		"g (int32[$a,$b] x) => (int64[$a,$b] y) <int64 p = {1}, int64 one = {1}> { "
		"i = Cast<to = 7>(x) u = CumSum<exclusive = 1>(i, p) s = Mul(u, i) y = Add(s, one) }",
		1, rows, PASS_COUNT(rows));
}

static void data_are_indices(void **state)
{
	static const PassDims rows[] = { { { 3, 5, 16 } }, { { 1, 7, 33 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[9,$c] table, bool[$a,$b] which, $T[$c] scale, $T[$c] bias) => ($T[$a,$b,$c] y) { "
		   "i = Cast<to = 7>(which) e = Gather<axis = 0>(table, i) "
		   "y = LayerNormalization<axis = 2>(e, scale, bias) }",
		   1, rows, PASS_COUNT(rows));
}

/* The kernel that is made of the graph in float16 has this in its text. */
static void has_text(const char *tmpl, PassDims row, const char *text)
{
	PmGraph *g = pass_fused(PASS, tmpl, "float16", row);
	PmArena *arena = pm_arena_new(0);
	PmKernelDesc d;
	PmErr err;

	pm_err_init(&err);
	if (pm_kernel_decode(g, pm_graph_node_at(g, 0), arena, &d, &err))
		fail_msg("%s", err.text);
	assert_non_null(strstr(d.alts[0].source, text));
	pm_arena_free(arena);
	pm_graph_free(g);
}

/* Updates of a line that come in pieces and rest, an index for each element or for a row of them, places from
 * the end, an axis with lines on both sides, and one that neighbours lie along. */
static void scatters_look_for_their_updates(void **state)
{
	static const PassDims rows[] = { { { 5, 16 } }, { { 19, 33 } } }, inner[] = { { { 3, 7 } } };

	(void)state;
	pass_fuses(
		PASS,
		"g ($T[9,$b] x, bool[$a,$b] which, $T[$a,$b] u, $T[$b] b) => ($T[9,$b] y) <int64 k = {-4}> { "
		"j = Cast<to = 7>(which) i = Mul(j, k) v = Relu(u) "
		"s = ScatterElements<axis = 0, reduction = \"add\">(x, i, v) y = Mul(s, b) }",
		1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[2,6,$b] x, bool[$a,1] which, $T[2,$a,$b] u) => ($T[2,6,$b] y) <int64 k = {5}, "
		   "int64[3] e = "
		   "{2, $a, $b}> { j = Cast<to = 7>(which) m = Mul(j, k) i = Expand(m, e) v = Relu(u) "
		   "s = ScatterElements<axis = 1, reduction = \"add\">(x, i, v) y = Neg(s) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$a,40] x, bool[$a,$b] which, $T[$a,$b] u) => ($T[$a,40] y) <int64 k = {21}> { "
		   "j = Cast<to = 7>(which) i = Mul(j, k) v = Relu(u) "
		   "s = ScatterElements<axis = 1, reduction = \"add\">(x, i, v) y = Neg(s) }",
		   1, inner, 1);
	pass_fuses(PASS,
		   "g ($T[9,$b] x, bool[$a,1] which, $T[$a,$b] u) => ($T[9,$b] y) <int64 k = {-2}> { "
		   "j = Cast<to = 7>(which) i = Mul(j, k) v = Relu(u) "
		   "s = ScatterND<reduction = \"add\">(x, i, v) y = Neg(s) }",
		   1, rows, PASS_COUNT(rows));
}

/* An index for each element and many of them: a thread has several places of a line, 8 or 2 of them, and
 * lines lie beside each other by 32 or not; more indices than are found before anything is added. */
static void places_share_an_index(void **state)
{
	static const PassDims rows[] = { { { 64, 2112, 40 } }, { { 16, 2113, 35 } }, { { 26, 3001, 37 } } },
			      many[] = { { { 2, 640, 150 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b] x, bool[$c,$b] which, $T[$c,$b] u, $T[$a,$b] w) => ($T[$a,$b] y) <int64 k = "
		   "{-5}> { "
		   "j = Cast<to = 7>(which) i = Mul(j, k) v = Relu(u) "
		   "s = ScatterElements<axis = 0, reduction = \"add\">(x, i, v) y = Mul(s, w) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$a,64,$b] x, bool[$a,$c,$b] which, $T[$a,$c,$b] u) => ($T[$a,64,$b] y) <int64 k = "
		   "{63}> { "
		   "j = Cast<to = 7>(which) i = Mul(j, k) v = Relu(u) "
		   "s = ScatterElements<axis = 1, reduction = \"add\">(x, i, v) y = Neg(s) }",
		   1, many, 1);
	has_text("g ($T[$a,$b] x, int64[$c,$b] i, $T[$c,$b] u) => ($T[$a,$b] y) { v = Relu(u) "
		 "s = ScatterElements<axis = 0, reduction = \"add\">(x, i, v) y = Neg(s) }",
		 rows[0], "names_any(v");
}

/* Lines without an index: along either side of the axis, and by vectors. */
static void scatters_into_some_lines(void **state)
{
	static const PassDims rows[] = { { { 5, 16 } }, { { 19, 33 } } }, wide[] = { { { 2, 16000 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[3,6,35] x, bool[2,$a,1] which, $T[2,$a,$b] u, $T[35] b) => ($T[3,6,35] y) "
		   "<int64 k = {-2}, int64[3] e = {2, $a, $b}> { j = Cast<to = 7>(which) m = Mul(j, k) "
		   "i = Expand(m, e) v = Relu(u) s = ScatterElements<axis = 1, reduction = \"add\">(x, i, v) "
		   "y = Mul(s, b) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[4,34000] x, bool[$a,$b] which, $T[$a,$b] u) => ($T[4,34000] y) { "
		   "i = Cast<to = 7>(which) v = Relu(u) "
		   "s = ScatterElements<axis = 0, reduction = \"add\">(x, i, v) y = Neg(s) }",
		   1, wide, 1);
}

/* The last update takes a place: of one index for a row, of one for each element (neighbours go different
 * ways), of pieces of indices, of places that neighbours lie along, and of whole numbers. */
static void scatters_that_replace(void **state)
{
	static const PassDims rows[] = { { { 5, 16 } }, { { 37, 33 } } }, inner[] = { { { 3, 7 } } };

	(void)state;
	pass_fuses(
		PASS,
		"g ($T[9,$b] x, bool[$a,1] which, $T[$a,$b] u, $T[$b] b) => ($T[9,$b] y) <int64 k = {-4}> { "
		"j = Cast<to = 7>(which) i = Mul(j, k) v = Relu(u) s = ScatterND(x, i, v) y = Mul(s, b) }",
		1, rows, PASS_COUNT(rows));
	pass_fuses(
		PASS,
		"g ($T[9,$b] x, bool[$a,$b] which, $T[$a,$b] u, $T[$b] b) => ($T[9,$b] y) <int64 k = {6}> { "
		"j = Cast<to = 7>(which) i = Mul(j, k) v = Exp(u) s = ScatterElements<axis = 0>(x, i, v) "
		"y = Add(s, b) }",
		1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$a,40] x, bool[2,$b] which, $T[2,$b] u) => ($T[$a,40] y) <int64 k = {21}> { "
		   "j = Cast<to = 7>(which) i = Mul(j, k) v = Relu(u) "
		   "s = ScatterElements<axis = 1>(x, i, v) y = Neg(s) }",
		   1, inner, 1);
	pass_fuses(PASS,
		   "g (int64[9,$b] x, bool[$a,1] which, int64[$a,$b] u) => (int64[9,$b] y) <int64 k = {2}> { "
		   "j = Cast<to = 7>(which) i = Mul(j, k) v = Neg(u) s = ScatterND(x, i, v) y = Mul(s, k) }",
		   1, rows, 1);
}

/* Places equally far apart: some rows, and slices that meet all of these or none; from the end; behind a
 * norm, whose threads share a row; the places themselves along a vector. */
static void scatters_to_known_places(void **state)
{
	static const PassDims rows[] = { { { 7, 16 } }, { { 3, 33 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,11,$b] x) => ($T[$a,11,$b] y, $T[$a,4,$b] z, $T[$a,3,$b] w) "
		   "<int64[3,1] i = {2, 5, 8}, $T two = {2}> { t = Transpose<perm = [1, 0, 2]>(x) "
		   "p = Slice<starts = [2], ends = [9], axes = [1], steps = [3]>(x) v = Sigmoid(p) "
		   "u = Transpose<perm = [1, 0, 2]>(v) s = ScatterND(t, i, u) y = Transpose<perm = [1, 0, "
		   "2]>(s) "
		   "q = Slice<starts = [0], ends = [11], axes = [1], steps = [3]>(y) z = Mul(q, two) "
		   "r = Slice<starts = [2], ends = [9], axes = [1], steps = [3]>(y) w = Mul(r, two) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses(
		PASS,
		"g ($T[9,$b] x, $T[2,$b] u, $T[$b] g, $T[$b] b) => ($T[9,$b] y) <int64[2,1] i = {-3, -1}> { "
		"v = Relu(u) s = ScatterND(x, i, v) y = LayerNormalization<axis = 1>(s, g, b) }",
		1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[60] x, $T[1] u, $T[60] b) => ($T[60] y) <int64[1,1] i = {17}> { v = Exp(u) "
		   "s = ScatterND(x, i, v) y = Add(s, b) }",
		   1, rows, 1);
	/* Not equally far apart, and one place twice: looked for. */
	pass_fuses(PASS,
		   "g ($T[9,$b] x, $T[4,$b] u) => ($T[9,$b] y) <int64[4,1] i = {1, -8, 4, 6}> { v = Relu(u) "
		   "s = ScatterND(x, i, v) y = Neg(s) }",
		   1, rows, PASS_COUNT(rows));
}

static void rows_are_shared(void **state)
{
	static const PassDims rows[] = { { { 2, 3, 40 } }, { { 1, 5, 257 } }, { { 3, 2, 1024 } } };

	(void)state;
	/* a residual that is wanted too, norm, activation */
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c] x, $T[$a,$b,$c] r, $T[$c] s, $T[$c] b) => ($T[$a,$b,$c] y, $T[$a,$b,$c] "
		   "h) { "
		   "h = Add(x, r) n = LayerNormalization<axis = 2>(h, s, b) g = Sigmoid(n) y = Mul(n, g) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c] x, $T[$a,1,$c] m) => ($T[$a,$b,$c] y) <$T k = {0.125}> { "
		   "s = Mul(x, k) t = Add(s, m) y = Softmax<axis = 2>(t) }",
		   1, rows, 2);
	/* a mean of what is a mean already: one thread's loop of one turn reads what the row shared */
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c,4] x) => ($T[$a,$b,1,1] y) <$T k = {0.5}> { "
		   "p = Mul(x, k) m = ReduceMean<axes = [2, 3]>(p) y = ReduceMean<axes = [2, 3]>(m) }",
		   1, rows, 2);
}

/* Which row a thread reads depends on where the row ends up: behind padding and a roll, and in front of a
 * constant place (an index that is a number once stood in the wrong part of the kernel). */
static void rows_behind_pieces_are_shared(void **state)
{
	static const PassDims rows[] = { { { 5, 32, 6 } }, { { 7, 17, 8 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b] x, $T[$b] s, $T[$b] b) => ($T[$c,$b] y) { n = LayerNormalization<axis = "
		   "1>(x, s, b) "
		   "p = Pad<pads = [0, 0, 1, 0]>(n) "
		   "u = Slice<starts = [0], ends = [2], axes = [0], steps = [1]>(p) "
		   "v = Slice<starts = [2], ends = [$c], axes = [0], steps = [1]>(p) y = Concat<axis = 0>(v, "
		   "u) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses(
		PASS,
		"g ($T[1,$b] cls, $T[$b,$a] x, $T[$c,$b] e) => ($T[$b] y, $T[$c,$b] z) <int64 first = {0}> { "
		"t = Transpose<perm = [1, 0]>(x) c = Concat<axis = 0>(cls, t) z = Add(c, e) "
		"f = Gather<axis = 0>(z, first) y = Relu(f) }",
		1, rows, PASS_COUNT(rows));
}

static void columns_are_shared(void **state)
{
	static const PassDims rows[] = { { { 2, 37, 40 } }, { { 3, 3, 5 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c] x, $T[$a,$b,1] w) => ($T[$a,$c] y) { "
		   "p = Mul(x, w) n = ReduceSum<axes = [1], keepdims = 0>(p) d = ReduceSum<axes = [1], "
		   "keepdims = 0>(w) "
		   "y = Div(n, d) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c] x) => ($T[$a,$b,$c] y) { a = Abs(x) s = Softmax<axis = 1>(a) y = Mul(s, "
		   "x) }",
		   1, rows, PASS_COUNT(rows));
}

static void channels_and_windows(void **state)
{
	static const PassDims rows[] = { { { 2, 6, 9, 8 } }, { { 1, 4, 5, 5 } } };

	(void)state;
	pass_fuses(
		PASS,
		"g ($T[$a,$b,$c,$d] x, $T[$b] s, $T[$b] b, $T[$b] m) => ($T[$a,$b,1,1] y, $T[$a,$b,$c,$d] z) "
		"{ p = Abs(s) n = BatchNormalization(x, s, b, m, p) z = HardSwish(n) y = "
		"GlobalAveragePool(z) }",
		1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c,$d] x, $T[$b] s, $T[$b] b) => ($T[$a,$b,$c,$d] y) { "
		   "n = GroupNormalization<num_groups = 2>(x, s, b) y = Relu(n) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c,$d] x) => ($T[$a,$b,$c,$d] y) { "
		   "p = AveragePool<kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], dilations "
		   "= [1, 1]>(x) "
		   "y = Sub(p, x) }",
		   1, rows, PASS_COUNT(rows));
}

static void resizes_read_their_neighbours(void **state)
{
	static const PassDims rows[] = { { { 1, 3, 5, 4, 10, 12 } }, { { 2, 1, 7, 1, 5, 3 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c,$d] x, $T[$a,$b,$e,$f] w) => ($T[$a,$b,$e,$f] y) <int64[4] to = "
		   "{$a,$b,$e,$f}> { "
		   "r = Resize<mode = \"linear\">(x, , , to) y = Mul(r, w) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[1,2,5,4] x, $T[1,2,10,12] w) => ($T[1,2,10,12] y) <int64[4] to = {1,2,10,12}> { "
		   "r = Resize<coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\">(x, "
		   ", , to) "
		   "y = Add(r, w) }",
		   1, rows, 1);
}

static void nothing_to_gain(void **state)
{
	static const PassDims row = { { 4, 8 } };

	(void)state;
	pass_refuses(PASS, "g ($T[$a,$b] x) => ($T[$a,$b] y) { y = Relu(x) }", row, "");
	pass_refuses(PASS, "g ($T[$a,$b] x) => ($T[$b,$a] y) { y = Transpose<perm = [1, 0]>(x) }", row, "");
	pass_refuses(PASS, "g ($T[0,$b] x) => ($T[0,$b] y) { z = Relu(x) y = Exp(z) }", row, "");
	/* Rows that are known are views: one Gather is left, and an index written out that was a view. */
	pass_refuses(
		PASS,
		"g (int64[16,33] t, $T[2,7] x, $T[32,7] w) => ($T[32,7] y) <int64 one = {1}, int64 none = "
		"{0}, int64[2] r = {-1, 1}, int64[2] e = {33, 7}> { to = Gather<axis = 0>(t, one) "
		"from = Gather<axis = 0>(t, none) u = Gather<axis = 0>(x, from) k = Reshape<allowzero = "
		"0>(to, r) i = Expand(k, e) y = ScatterElements<axis = 0, reduction = \"max\">(w, i, u) }",
		row, "");
}

/* ---- random graphs ---- */

static void so_path(PmStr *out)
{
	const char *build = getenv("PASSMITH_BUILD");

	pm_str_addf(out, "%s/passes/" PASS ".so", build ? build : "build");
}

static void fuse(const PmGraph *g, PmPassOutcome *out)
{
	PmPassOpts opts = { .seconds = 60 };
	PmStr path = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	so_path(&path);
	if (pm_pass_apply(path.s, g, &opts, out, &err))
		fail_msg("%s", err.text);
	pm_str_release(&path);
}

/* Kernels on emu against the original on ref, as far as the graph's conditioning lets them agree. */
static void agrees(const PmGraph *g, const PmGraph *fused, uint64_t seed)
{
	PmRunOpts ref = { .device = "ref" }, emu = { .device = "emu", .deadline = 100, .poison = 0x7fc1d00d };
	size_t n_in = pm_graph_n_inputs(g), n_out = pm_graph_n_outputs(g);
	PmTensor *in = test_calloc(n_in + 1, sizeof *in);
	PmAgreement *a = test_calloc(n_out + 1, sizeof *a);
	PmRunResult want, got;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_inputs_make(g, seed, PM_INPUTS_NORMAL, in, &err), PM_OK);
	if (pm_run_graph(g, in, n_in, &ref, &want, &err))
		fail_msg("seed %d on ref: %s", (int)seed, err.text);
	if (pm_run_graph(fused, in, n_in, &emu, &got, &err))
		fail_msg("seed %d on emu: %s", (int)seed, err.text);
	assert_int_equal(pm_agree(g, in, got.out, want.out, n_out, 1, a, &err), PM_OK);
	for (size_t k = 0; k < n_out; k++)
		if (!a[k].agrees && !a[k].ill_conditioned)
			fail_msg("seed %d, output '%s': element %lld is %g instead of %g", (int)seed,
				 pm_value_name(g, pm_graph_output(g, k)), (long long)a[k].c.worst.index,
				 a[k].c.worst.got, a[k].c.worst.expected);
	pm_run_result_release(&want);
	pm_run_result_release(&got);
	pm_tensors_release(in, n_in);
	test_free(in);
	test_free(a);
}

/* PASSMITH_FUSE_SEEDS=FROM-TO tries others. */
static void random_graphs_agree(void **state)
{
	const char *range = getenv("PASSMITH_FUSE_SEEDS");
	int from = 1, to = 16, applied = 0;

	(void)state;
	pm_test_need_device("emu");
	if (range && sscanf(range, "%d-%d", &from, &to) != 2)
		fail_msg("PASSMITH_FUSE_SEEDS is '%s', not FROM-TO", range);
	for (int seed = from; seed <= to; seed++) {
		GenOpts o = { .seed = (uint64_t)seed,
			      .n_nodes = 14,
			      .max_dim = seed % 3 ? 5 : 12,
			      .zero_dims = seed % 4 == 0,
			      .max_numel = 2048 };
		PmGraph *g = gen_graph(&o);
		PmPassOutcome out;

		fuse(g, &out);
		if (out.verdict == PM_VERDICT_OK)
			agrees(g, out.graph, (uint64_t)seed);
		else if (out.verdict != PM_VERDICT_NO_MATCH)
			fail_msg("seed %d: %s: %s", seed, pm_verdict_name(out.verdict), out.message);
		applied += (int)out.applied;
		pm_pass_outcome_release(&out);
		pm_graph_free(g);
	}
	assert_true(applied > (to - from) / 2);
}

/* ---- models ---- */

static int64_t launches(const PmGraph *g)
{
	PmPlanStats stats;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_plan_stats(g, NULL, 0, NULL, &stats, &err))
		fail_msg("%s", err.text);
	return stats.n_launches;
}

/* At most so many launches of each bundled model are left. */
static void models_need_fewer_launches(void **state)
{
	static const struct {
		const char *model;
		int after;
	} rows[] = { { "bert_encoder_layer", 5 },   { "bge_pooling_head", 1 },  { "llama_block", 6 },
		     { "mobilenetv3_se_block", 6 }, { "resnet_bottleneck", 4 }, { "swin_block", 6 } };

	(void)state;
	for (size_t i = 0; i < PASS_COUNT(rows); i++) {
		PmStr text = PM_STR_INIT;
		PmPassOutcome out;
		PmGraph *g = NULL;
		char path[128];
		PmErr err;

		pm_err_init(&err);
		snprintf(path, sizeof path, "models/%s.gpt", rows[i].model);
		if (pm_read_file(path, 1 << 20, &text, &err) || pm_graph_parse(text.s, text.len, &g, &err))
			fail_msg("%s: %s", path, err.text);
		fuse(g, &out);
		assert_int_equal(out.verdict, PM_VERDICT_OK);
		assert_true(launches(out.graph) < launches(g));
		if (launches(out.graph) > rows[i].after)
			fail_msg("%s: %d launches are left, not %d", path, (int)launches(out.graph),
				 rows[i].after);
		pm_pass_outcome_release(&out);
		pm_graph_free(g);
		pm_str_release(&text);
	}
}

/* A thread that goes over a window of 169 places, and computes each of them, takes longer than launches do;
 * behind a product in the same kernel too. 80 us on an H200, where the eager run took 39. */
static void large_windows_are_kernels_of_their_own(void **state)
{
	static const char text[] = "g (float[1,384,8,6] x, float[192,384,1,1] w) => (float[1,768,8,6] y) { c "
				   "= Conv<strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]>(x, w) "
				   "s = Sigmoid(c) v = Mul(c, s) "
				   "p = MaxPool<kernel_shape = [5, 5], strides = [1, 1], pads = [2, 2, 2, "
				   "2], dilations = [1, 1]>(v) "
				   "q = MaxPool<kernel_shape = [9, 9], strides = [1, 1], pads = [4, 4, 4, "
				   "4], dilations = [1, 1]>(v) "
				   "r = MaxPool<kernel_shape = [13, 13], strides = [1, 1], pads = [6, 6, 6, "
				   "6], dilations = [1, 1]>(v) "
				   "y = Concat<axis = 1>(v, p, q, r) }";
	PmPassOutcome out;
	PmGraph *g = NULL;

	(void)state;
	g = pm_test_graph(text);
	fuse(g, &out);
	assert_int_equal(out.verdict, PM_VERDICT_OK);
	assert_in_range(launches(out.graph), 3, launches(g) - 1);
	pm_pass_outcome_release(&out);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_become_one_kernel),
		cmocka_unit_test(views_become_indices),
		cmocka_unit_test(pairs_are_woven),
		cmocka_unit_test(running_sums),
		cmocka_unit_test(data_are_indices),
		cmocka_unit_test(scatters_look_for_their_updates),
		cmocka_unit_test(places_share_an_index),
		cmocka_unit_test(scatters_into_some_lines),
		cmocka_unit_test(scatters_that_replace),
		cmocka_unit_test(scatters_to_known_places),
		cmocka_unit_test(rows_are_shared),
		cmocka_unit_test(rows_behind_pieces_are_shared),
		cmocka_unit_test(columns_are_shared),
		cmocka_unit_test(channels_and_windows),
		cmocka_unit_test(resizes_read_their_neighbours),
		cmocka_unit_test(nothing_to_gain),
		cmocka_unit_test(large_windows_are_kernels_of_their_own),
		cmocka_unit_test(random_graphs_agree),
		cmocka_unit_test(models_need_fewer_launches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
