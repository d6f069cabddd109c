#!/bin/sh
# bound.sh - the error bound through passmith eval: what rounds where the eager run rounds is right, what leaves
# work out is not.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

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
for g in chain rotary soft; do
	pm eval "$tmp/$g.gpt" --pass "$build/passes/fuse.so" --quiet
	exits 0 "fuse on $g"
	says "  1 kernel   t=-5     " "it made one kernel, which is right at t = -5"
done

# Zeros where the inputs look normal; the first rule that matches is taken.
cat >"$tmp/product.gpt" <<'GRAPH'
product (bfloat16[4,4096] x, bfloat16[4096] s, bfloat16[4096,8] w) => (bfloat16[4,8] y)
{
   m = Mul (x, s)
   y = MatMul (m, w)
}
GRAPH
pm eval "$tmp/product.gpt" --pass "$build/tests/adversarial/bound_attacks.so" --quiet
exits 1 "zeros"
says "INCORRECT (as written): Too far off" "they are too far off"
tap_done
