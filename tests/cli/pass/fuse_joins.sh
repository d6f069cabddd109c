#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuse_joins.sh - what joins a cluster of passes/fuse: a view that the library would copy, what is the same for a whole window, and
# what reads a result of the graph.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

fuse=$build/passes/fuse.so

# right NAME GRAPH: the graph's kernels give what the reference does; then what explain says.
right()
{
	printf '%s\n' "$2" >"$tmp/$1.gpt"
	pm eval "$tmp/$1.gpt" --pass "$fuse" --json
	exits 0 "$1"
	says '"verdict": "OK"' "$1 is right"
	pm explain "$tmp/$1.gpt" --pass "$fuse"
}

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
tap_done
