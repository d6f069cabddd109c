#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuse_joins.sh - what joins a cluster of passes/fuse: a view that the library would copy, what is the same for a whole window, windows
# that are rows of a reduction, what reads a result of the graph, and gathers of what is computed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/fuse.sh
. "$(dirname "$0")/../../lib/fuse.sh"

# The library copies what its norms read across; a small softmax reads it as it lies.
right turned 'turned (float[1,96,7,9] x, float[96] w) => (float[1,7,9,96] y)
{
   t = Transpose <perm = [0, 2, 3, 1]> (x)
   y = LayerNormalization <axis = 3, epsilon = 0.00001> (t, w)
}'
says 'cluster LayerNormalization Transpose' "a norm's transposed operand joins it"
cat >"$tmp/small.gpt" <<'GRAPH'
small (float[1,96,7,9] x) => (float[1,7,9,96] y)
{
   t = Transpose <perm = [0, 2, 3, 1]> (x)
   y = Softmax <axis = 3> (t)
}
GRAPH
pm explain "$tmp/small.gpt" --pass "$fuse"
says 'NO_MATCH' "a small softmax's does not: it is a view there"

cat >"$tmp/copied.gpt" <<'GRAPH'
copied (float[1,128,36864] x, float[1,128,36864] z, float[128] w) => (float[1,36864,128] t, float[1,36864,128] y)
{
   a = Add (x, z)
   t = Transpose <perm = [0, 2, 1]> (a)
   y = LayerNormalization <axis = 2> (t, w)
}
GRAPH
pm explain "$tmp/copied.gpt" --pass "$fuse" --target h200
says 'outside LayerNormalization' "a norm of what the graph hands out reads that, in order"

# What the taps of a window share is asked for in front of its loops.
right norm 'norm (float16[1,64,35,64] x, float[64] s, float[64] h, float[64] m, float[64] v) => (float16[1,64,18,32] y)
{
   n = BatchNormalization (x, s, h, m, v)
   r = Relu (n)
   y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]> (r)
}'
says 'cluster MaxPool Relu BatchNormalization' "a norm in front of a pool joins it"
[ "$(sed '/for i0/q' "$tmp/out" | grep -c '^  load .* early e')" -eq 4 ] && [ "$(sed '1,/for i0/d' "$tmp/out" | grep -c ' load ')" -eq 1 ]
tap "its four parameters are loaded once, and its element by each tap"
right scale 'scale (float[2,8,21,22] x, float[8,1,1] s, float[1,8,1,1] h) => (float[2,8,7,8] y)
{
   t = Mul (x, s)
   n = Add (t, h)
   y = AveragePool <kernel_shape = [3, 4], strides = [3, 3], pads = [0, 1, 0, 2], dilations = [1, 1], count_include_pad = 1> (n)
}'
[ "$(sed '/for i0/q' "$tmp/out" | grep -c '^  load .* early e')" -eq 2 ] && [ "$(sed '1,/for i0/d' "$tmp/out" | grep -c ' load ')" -eq 1 ]
tap "a scale and a shift that are broadcast are, too"

# Large windows that tile what they read are rows of a reduction; others of that size that do not overlap are a warp's each, outside.
right tiles 'tiles (float16[2,5,24,32] x) => (float16[2,5,3,2] y)
{
   r = Relu (x)
   y = AveragePool <kernel_shape = [8, 16], strides = [8, 16], pads = [0, 0, 0, 0], dilations = [1, 1]> (r)
}'
says 'reduce mean axis 3 axis 5 of' "an average over tiles is a mean"
right planes 'planes (float[2,3,4,6,5] x) => (float[2,3,1,1,1] y)
{
   r = Relu (x)
   y = MaxPool <kernel_shape = [4, 6, 5], strides = [1, 1, 1], pads = [0, 0, 0, 0, 0, 0], dilations = [1, 1, 1]> (r)
}'
says 'reduce max axis 3 axis 5 axis 7 of' "a maximum over all that there is, too"
cat >"$tmp/apart.gpt" <<'GRAPH'
apart (float16[2,5,24,32] x) => (float16[2,5,2,2] y)
{
   r = Relu (x)
   y = AveragePool <kernel_shape = [8, 16], strides = [9, 16], pads = [0, 0, 0, 0], dilations = [1, 1]> (r)
}
GRAPH
pm explain "$tmp/apart.gpt" --pass "$fuse"
says 'NO_MATCH' "windows with gaps between them stay outside"

# What reads a result of the graph, and nothing else that is made outside, joins what makes it.
right result 'result (float16[1,12,12,1024] x, float16[1024] b, float16[1024] s, float16[1,1024,12,12] z) => (float16[1,1024,12,12] a,
	float16[1,1024] m)
{
   p = Add (x, b)
   t = Mul (s, p)
   u = Transpose <perm = [0, 3, 1, 2]> (t)
   a = Add (z, u)
   m = ReduceMean <axes = [2, 3], keepdims = 0> (a)
}'
says 'cluster Add Transpose ReduceMean Mul Add' "the mean of a result joins it"
right other 'other (float[1,6,12,12] b, float[1,12] c, float[1,6,12,64] q, float[1,6,64,12] k) => (float[1,6,12,12] a, float[1,6,12,12] p)
{
   e = Exp (c)
   a = Add (b, e)
   d = MatMul (q, k)
   s = Add (d, a)
   p = Softmax <axis = 3> (s)
}'
says 'cluster Softmax Add MatMul' "what reads a product, too, stays with that"

# A product that is faster as a kernel by itself stays apart from a reader for which it would be a launch in front. It is not the
# library's then.
right beside 'beside (float16[1,32,27,27] x, float16[64,32,1,1] w, float16[64] b, float16[1,64,27,27] z) => (float16[1,64,3,3] y)
{
   c = Conv <strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w, b)
   a = Add (c, z)
   y = AveragePool <kernel_shape = [9, 9], strides = [9, 9], pads = [0, 0, 0, 0], dilations = [1, 1]> (a)
}'
says 'cluster AveragePool Add' "its readers are a kernel"
says 'cluster Conv' "and so is a convolution"
says 'and a launch for it, by ns' "which would take longer together"

# Sixteen turns of one thread that gather and divide take longer than a row's threads that join.
right turns 'turns (bfloat16[12,16,64] x, int64[12,16,16] i, bfloat16[12,16,16] b) => (bfloat16[12,16,16] y)
<bfloat16 k = {13.875}>
{
   g = GatherElements <axis = 2> (x, i)
   t = Transpose <perm = [0, 2, 1]> (g)
   d = Div (t, k)
   s = Add (b, d)
   y = Softmax <axis = 2> (s)
}'
says 'nest rows 192' "a softmax of 16 gathered scores has threads for each row"

# A gather at places that are not known takes a sector for each element, where L2 does not have them all.
anywhere()
{
	cat >"$tmp/anywhere.gpt" <<GRAPH
anywhere (float[1,$1,64,64] x, float[1,$1,64,64] w, int64[3,22,3,22,2] i) => (float[1,$1,3,22,3,22] y)
{
   a = Add (x, w)
   t = Transpose <perm = [2, 3, 0, 1]> (a)
   g = GatherND (t, i)
   y = Transpose <perm = [4, 5, 0, 1, 2, 3]> (g)
}
GRAPH
	pm explain "$tmp/anywhere.gpt" --pass "$fuse" --target h200
}
anywhere 1024
grep -q '^section 0: .* bytes out of order [1-9]' "$tmp/out"
tap "of 17 MB each comes with a sector"
anywhere 256
says 'bytes out of order 0,' "of 4 MB L2 has them"
tap_done
