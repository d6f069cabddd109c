/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_roll_slice_add_layer_norm.c - shifted windows on many shapes, and what only looks like them. */
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PASS "roll_slice_add_layer_norm"

/* $a batch, $b x $c image, $d channels, $e and $f shifts, $g x $h window */
#define IN  "g ($T[$a,$b,$c,$d] x, $T[$a,N,$d] r, $T[$d] w, $T[$d] v) => "
#define Y   "($T[$a,N,$d] y) "
#define YS  "($T[$a,N,$d] y, $T[$a,N,$d] s) "
#define SHP "<int64[3] shape = {$a,-1,$d}> "
#define ALL "9223372036854775807"
/* Slice of one axis. */
#define CUT(x, axis, from, to)                                                                               \
	"Slice<starts = [" from "], ends = [" to "], axes = [" axis "], steps = [1]>(" x ") "
#define ROLL_H                                                                                               \
	"h0 = " CUT("x", "1", "$e", ALL) "h1 = " CUT("x", "1", "0", "$e") "rh = Concat<axis = 1>(h0, h1) "
#define ROLL_W                                                                                               \
	"w0 = " CUT("rh", "2", "$f", ALL) "w1 = " CUT("rh", "2", "0", "$f") "rw = Concat<axis = 2>(w0, w1) "
#define WINDOW "ch = " CUT("rw", "1", "0", "$g") "cw = " CUT("ch", "2", "0", "$h")
#define FLAT   "f = Reshape(cw, shape) "
#define NORM   "y = LayerNormalization<axis = 2>(s, w, v) }"

static const PassDims shapes[] = {
	{ { 1, 2, 2, 2, 1, 1, 2, 2 } },       { { 1, 2, 3, 2, 1, 1, 2, 3 } },
	{ { 1, 4, 4, 3, 1, 3, 3, 2 } },       { { 2, 3, 5, 7, 2, 1, 3, 5 } },
	{ { 1, 5, 3, 13, 4, 2, 1, 1 } },      { { 1, 7, 7, 31, 4, 4, 6, 5 } },
	{ { 1, 4, 4, 32, 2, 2, 4, 4 } },      { { 2, 3, 3, 33, 1, 2, 3, 2 } },
	{ { 1, 7, 7, 64, 4, 4, 7, 7 } },      { { 1, 5, 7, 96, 3, 4, 4, 7 } },
	{ { 1, 3, 3, 100, 1, 1, 2, 3 } },     { { 1, 3, 2, 257, 2, 1, 3, 2 } },
	{ { 1, 2, 2, 768, 1, 1, 2, 2 } },     { { 1, 2, 3, 1021, 1, 2, 1, 3 } },
	{ { 1, 14, 14, 8, 11, 11, 13, 12 } }, { { 2, 3, 3, 1, 1, 1, 2, 2 } },
};
static const PassDims few[] = { { { 2, 3, 5, 7, 2, 1, 3, 4 } },
				{ { 1, 7, 7, 32, 4, 4, 6, 5 } },
				{ { 1, 4, 4, 33, 1, 3, 4, 4 } } };

/* Templates have no products: N is $g times $h. */
static void fuses(const char *tmpl, const PassDims *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char text[4096], number[24];
		size_t at = 0, len;

		snprintf(number, sizeof number, "%lld", (long long)(rows[i].d[6] * rows[i].d[7]));
		len = strlen(number);
		for (const char *p = tmpl; *p; p++) {
			int is_n = p[0] == 'N' && (p[-1] == ',' || p[-1] == '[');

			assert_true(at + len + 1 < sizeof text);
			memcpy(text + at, is_n ? number : p, is_n ? len : 1);
			at += is_n ? len : 1;
		}
		text[at] = '\0';
		pass_fuses(PASS, text, 1, &rows[i], 1);
	}
}

static void two_outputs_fuse_on_every_shape(void **state)
{
	(void)state;
	fuses(IN YS SHP "{" ROLL_H ROLL_W WINDOW FLAT "s = Add(f, r) " NORM, shapes, PASS_COUNT(shapes));
}

static void variants_fuse(void **state)
{
	static const char *const tmpl[] = {
		/* one output; residual first */
		IN Y SHP "{" ROLL_H ROLL_W WINDOW FLAT "s = Add(r, f) " NORM,
		/* the cut in the other order */
		IN YS SHP "{" ROLL_H ROLL_W
			  "ch = " CUT("rw", "2", "0", "$h") "cw = " CUT("ch", "1", "0", "$g") FLAT
		"s = Add(r, f) " NORM,
		/* a cut that starts inside: the last rows and columns */
		IN YS SHP "{" ROLL_H ROLL_W
			  "ch = " CUT("rw", "1", "-$g", ALL) "cw = " CUT("ch", "2", "-$h", ALL) FLAT
		"s = Add(f, r) " NORM,
		/* a residual that is the same for every row */
		"g ($T[$a,$b,$c,$d] x, $T[$d] r, $T[$d] w, $T[$d] v) => " Y SHP "{" ROLL_H ROLL_W WINDOW FLAT
		"s = Add(f, r) " NORM,
		/* windows stay an image */
		"g ($T[$a,$b,$c,$d] x, $T[$a,$g,$h,$d] r, $T[$d] w, $T[$d] v) => ($T[$a,$g,$h,$d] y) "
		"<int64[4] shape = {$a,$g,$h,$d}> {" ROLL_H ROLL_W WINDOW FLAT
		"s = Add(f, r) y = LayerNormalization<axis = 3>(s, w, v) }",
	};
	static const PassDims whole[] = { { { 2, 3, 5, 7, 2, 1, 3, 5 } }, { { 1, 4, 4, 32, 1, 3, 4, 4 } } };

	(void)state;
	for (size_t i = 0; i < PASS_COUNT(tmpl); i++)
		fuses(tmpl[i], few, PASS_COUNT(few));
	/* without any cut */
	fuses(IN YS SHP "{" ROLL_H ROLL_W "f = Reshape(rw, shape) s = Add(f, r) " NORM, whole,
	      PASS_COUNT(whole));
}

/* All of 4 x 4 pixels and 4 channels, so that only axes and ranges tell the graphs apart. */
static void near_misses_are_left_alone(void **state)
{
	static const PassDims row = { { 4, 4, 4, 4, 1, 2, 4, 4 } };

#define IN16 "g ($T[4,4,4,4] x, $T[4,16,4] r, $T[4] w, $T[4] v) => ($T[4,16,4] y) " SHP
#define REST "f = Reshape(rw, shape) s = Add(f, r) " NORM
	(void)state;
	/* parts that overlap or are swapped are no roll */
	pass_refuses(PASS,
		     IN16 "{ h0 = " CUT("x", "1", "2", "4") "h1 = " CUT(
			     "x", "1", "1", "3") "rh = Concat<axis = 1>(h0, h1) " ROLL_W REST,
		     row, "not a roll");
	pass_refuses(PASS,
		     IN16 "{ h0 = " CUT("x", "1", "0", "3") "h1 = " CUT(
			     "x", "1", "3", "4") "rh = Concat<axis = 1>(h0, h1) " ROLL_W REST,
		     row, "not a roll");
	/* both rolls along one axis */
	pass_refuses(PASS,
		     IN16 "{" ROLL_H "w0 = " CUT("rh", "1", "2", "4") "w1 = " CUT(
			     "rh", "1", "0", "2") "rw = Concat<axis = 1>(w0, w1) " REST,
		     row, "axis");
	/* slices along another axis than the concatenation */
	pass_refuses(PASS,
		     IN16 "{" ROLL_H "w0 = " CUT("rh", "1", "2", "4") "w1 = " CUT(
			     "rh", "1", "0", "2") "rw = Concat<axis = 2>(w0, w1) " REST,
		     row, "not a roll");
	/* a step of two */
	pass_refuses(PASS,
		     "g ($T[4,4,4,4] x, $T[4,8,4] r, $T[4] w, $T[4] v) => ($T[4,8,4] y) " SHP
		     "{" ROLL_H ROLL_W
		     "c = Slice<starts = [0], ends = [4], axes = [1], steps = [2]>(rw) f = Reshape(c, shape) "
		     "s = Add(f, r) " NORM,
		     row, "not a plain range");
	/* a reshape that mixes the channels into the rows */
	pass_refuses(PASS,
		     "g ($T[4,4,4,4] x, $T[4,8,8] r, $T[8] w, $T[8] v) => ($T[4,8,8] y) <int64[3] shape = "
		     "{4,8,8}> {" ROLL_H ROLL_W "f = Reshape(rw, shape) s = Add(f, r) " NORM,
		     row, "changes the rows");
	/* the roll is wanted elsewhere */
	pass_refuses(
		PASS,
		"g ($T[4,4,4,4] x, $T[4,16,4] r, $T[4] w, $T[4] v) => ($T[4,16,4] y, $T[4,4,4,4] rw) " SHP
		"{" ROLL_H ROLL_W REST,
		row, "output of the graph");
	pass_refuses(
		PASS,
		"g ($T[4,4,4,4] x, $T[4,16,4] r, $T[4] w, $T[4] v) => ($T[4,16,4] y, $T[4,4,4,4] rh) " SHP
		"{" ROLL_H ROLL_W REST,
		row, "used outside");
	/* the residual is subtracted */
	pass_refuses(PASS, IN16 "{" ROLL_H ROLL_W "f = Reshape(rw, shape) s = Sub(f, r) " NORM, row, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_outputs_fuse_on_every_shape),
		cmocka_unit_test(variants_fuse),
		cmocka_unit_test(near_misses_are_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
