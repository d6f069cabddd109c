#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# choice.sh - what passes/fuse takes as one kernel where the estimates are near each other: a graph that becomes one launch,
# the kernels that may be tried, and few rows that lie across memory.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

fuse=$build/passes/fuse.so
head='<ir_version: 10, opset_import: ["" : 21]>'

# A product of one row, 1 us dearer as a kernel than by the library: a run of one launch saves more than that.
cat >"$tmp/alone.gpt" <<GRAPH
$head
g (float[1,600] x, float[1000,600] w, float[1000] b) => (float[1,1000] y)
{
   p = Gemm <transB = 1> (x, w, b)
   y = Relu (p)
}
GRAPH
pm apply "$tmp/alone.gpt" --pass "$fuse" -o "$tmp/out.gpt"
says "launches 2 -> 1 " "what is all of a graph becomes one launch"
[ "$(grep -o ' source_[0-9] = ' "$tmp/out.gpt" | wc -l)" -eq 5 ]
tap "by one of five kernels, which differ in how the product is made"
pm eval "$tmp/alone.gpt" --pass "$fuse" --hidden 0
exits 0 "all of which are right"
# kernels N: the most kernels that are described for one place of a product behind N operators that no kernel takes.
kernels()
{
	{
		printf '%s\ng (float16[64,96] x0, float16[96,96] w, float16[96] b) => (float16[64,96] y)\n<int64[1] k = {96}>\n{\n' "$head"
		n=0
		while [ $n -lt "$1" ]; do
			printf 'x%d, i%d = TopK <axis = 1> (x%d, k)\n' $((n + 1)) $n $n
			n=$((n + 1))
		done
		printf 'p = MatMul (x%d, w)\na = Add (p, b)\ns = Sigmoid (a)\ny = Mul (a, s)\n}\n' "$n"
	} >"$tmp/far.gpt"
	pm apply "$tmp/far.gpt" --pass "$fuse" -o "$tmp/out.gpt"
	grep -o ' source_[0-9] = ' "$tmp/out.gpt" | sort -u | wc -l
}
[ "$(kernels 3)" -eq 5 ]
tap "a product near a model's begin has five kernels to try"
[ "$(kernels 120)" -eq 2 ]
tap "one far from it has two, since the sources of all kernels are limited together"
cat >"$tmp/beside.gpt" <<GRAPH
$head
g (float[1,600] x, float[1000,600] w, float[1000] b) => (float[1,1000] y, float[1,5] z, int64[1,5] i)
<int64[1] k = {5}>
{
   p = Gemm <transB = 1> (x, w, b)
   y = Relu (p)
   z, i = TopK <axis = 1> (y, k)
}
GRAPH
pm apply "$tmp/beside.gpt" --pass "$fuse" -o "$tmp/out.gpt"
says "launches 3 -> 3 " "and stays with the library where another launch is left"

# 144 rows of 96 in the order of the launch in front: 5 blocks of 32 rows, 18 of 8.
cat >"$tmp/across.gpt" <<GRAPH
$head
g (float16[1,64,24,24] x, float16[96,64,3,3] w, float16[96] b, float16[96] s, float16[96] u) => (float16[1,144,96] y)
<int64[3] h = {1, 96, 144}>
{
   p = Conv <group = 1, strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]> (x, w, b)
   r = Reshape (p, h)
   e = Transpose <perm = [0, 2, 1]> (r)
   y = LayerNormalization <axis = 2> (e, s, u)
}
GRAPH
pm apply "$tmp/across.gpt" --pass "$fuse" -o "$tmp/out.gpt"
exits 0 "a norm behind a convolution"
grep -q 'launch_0 = \["fused0 [^"]*", "fused1 grid=18,1,1 block=256,1,1 ' "$tmp/out.gpt"
tap "few rows across memory are shared by blocks of 8"
pm eval "$tmp/across.gpt" --pass "$fuse" --hidden 0
exits 0 "which are right"
tap_done
