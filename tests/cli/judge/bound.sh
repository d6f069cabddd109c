#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bound.sh - the error bound through passmith eval: what rounds where the eager run rounds is right, what leaves
# work out is not.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# The eager run rounds the sum to bfloat16 before a Sigmoid near 0.5: the whole error is in one place.
cat >"$tmp/chain.gpt" <<'GRAPH'
chain (bfloat16[48,64] x, bfloat16[48,64] w) => (bfloat16[48,1] y)
{
   p = Mul (x, w)
   f = Cast <to = 1> (p)
   s = ReduceSum <axes = [1], keepdims = 1> (f)
   h = Cast <to = 16> (s)
   y = Sigmoid (h)
}
GRAPH
# A table of cosines in bfloat16, used in float.
cat >"$tmp/rotary.gpt" <<'GRAPH'
rotary (float[32,16] a, bfloat16[32,32] pos) => (float[32,32] y)
{
   both = Concat <axis = 1> (a, a)
   c = Cos (pos)
   f = Cast <to = 1> (c)
   y = Mul (both, f)
}
GRAPH
cat >"$tmp/soft.gpt" <<'GRAPH'
soft (float16[16,96] x, float16[16,96] bias) => (float16[16,96] y)
{
   s = Add (x, bias)
   f = Cast <to = 1> (s)
   p = Softmax <axis = 1> (f)
   y = Cast <to = 10> (p)
}
GRAPH
# Linear interpolation in bfloat16 before a product and a softmax: what it rounds, the softmax makes large.
cat >"$tmp/resize.gpt" <<'GRAPH'
resize (bfloat16[1,3,13,9] x, bfloat16[1,3,31,20] a) => (bfloat16[1,3,31,20] y) <int64[4] n = {1, 3, 31, 20}>
{
   r = Resize <mode = "linear", coordinate_transformation_mode = "align_corners"> (x, , , n)
   s = Mul (r, a)
   f = Cast <to = 1> (s)
   p = Softmax <axis = 1> (f)
   y = Cast <to = 16> (p)
}
GRAPH
for g in chain rotary soft; do
	pm eval "$tmp/$g.gpt" --pass "$build/passes/fuse.so" --quiet
	exits 0 "fuse on $g"
	says "  1 kernel   t=-5     " "it made one kernel, which is right at t = -5"
done

# How far it is off at t = -5 is another matter: fuse rounds less than the eager run does.
pm eval "$tmp/resize.gpt" --pass "$build/passes/fuse.so" --hidden 0 --quiet
exits 0 "fuse on a Resize before a Softmax"
says "  OK" "it is right within the bound"

# A mask at the end of the type's range, added to scores: in float16 the sum has steps of 32 there, so that what
# keeps it in float and what rounds it differ in whole rows. Each is right, also in turns; what is wrong in masked
# rows only is not. Inputs are drawn anew by each run.
masked() { # TYPE LOWEST SHAPE SHAPE_OF_MASK
	zeros=$(printf '0, %.0s' $(seq 383))0
	axis=$(printf %s "$3" | tr -dc , | wc -c)
	cat >"$tmp/masked.gpt" <<GRAPH
masked ($1[$3] x, $1[$4] keep) => ($1[$3] y) <$1 low = {$2}, $1 zero = {0}, $1[$3] zeros = {$zeros}>
{
   b = Greater (keep, zero)
   m = Where (b, zeros, low)
   a = Add (x, m)
   p = Softmax <axis = $axis> (a)
   n = IsNaN (p)
   y = Where (n, zero, p)
}
GRAPH
	pm eval "$tmp/masked.gpt" --pass "$build/tests/plugin/masked_softmax.so" --hidden 0 --check-only --quiet
}
for rank in "" 1, 1,1,; do
	for columns in 1 24 1; do
		masked float16 -65504 "${rank}16,24" "${rank}16,$columns"
		exits 0 "float16[${rank}16,24], a mask of [${rank}16,$columns]"
		says "  OK" "it is right"
	done
	masked bfloat16 -338953138925153547590470800371487866880 "${rank}16,24" "${rank}16,1"
	exits 0 "bfloat16[${rank}16,24]"
	masked float -340282346638528859811704183484516925440 "${rank}16,24" "${rank}16,1"
	exits 0 "float[${rank}16,24]"
done
for rank in 1,1,1, 1,1,1,1,; do
	for run in 1 2; do
		masked float16 -65504 "${rank}16,24" "${rank}16,1"
		exits 1 "wrong in masked rows, [${rank}16,24], run $run"
	done
done

# Positions that pass through a view choose as before: there is a bound behind them, on each class of inputs.
looked_up() { # SHAPE AXIS
	cat >"$tmp/lookup.gpt" <<GRAPH
lookup (float[$1] x, float[49] table, int64[8,5] index) => (float[$1] y) <int64[1] flat = {-1}>
{
   i = Reshape (index, flat)
   b = Gather <axis = 0> (table, i)
   a = Add (x, b)
   y = Softmax <axis = $2> (a)
}
GRAPH
	pm eval "$tmp/lookup.gpt" --pass "$build/tests/plugin/looked_up_bias.so" --hidden 0 --check-only --json
}
looked_up 64,40 1
exits 0 "a bias that is looked up"
says '"without": 0,' "each comparison has a bound"
looked_up 2,32,40 2
exits 1 "results too large by 3 in a million"
says "Too far off" "the bound refuses them"

# Zeros where the inputs look normal; the first rule that matches is taken.
cat >"$tmp/product.gpt" <<'GRAPH'
product (bfloat16[4,4096] x, bfloat16[4096] s, bfloat16[4096,8] w) => (bfloat16[4,8] y)
{
   m = Mul (x, s)
   y = MatMul (m, w)
}
GRAPH
pm eval "$tmp/product.gpt" --pass "$build/tests/adversarial/passes/bound_attacks.so" --quiet
exits 1 "zeros"
says "INCORRECT (as written): Too far off" "they are too far off"
tap_done
