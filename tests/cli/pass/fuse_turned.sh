#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuse_turned.sh - results of passes/fuse that lie across their rows: stored through shared memory, at sizes that fill no block, in
# several types, beside results that do not; and gathers whose indices are known to be equally far apart.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/fuse.sh
. "$(dirname "$0")/../../lib/fuse.sh"
staged()
{
	[ "$(grep -c '^  drain q' "$tmp/out")" -eq "$1" ] && [ "$(grep -c 'stage q' "$tmp/out")" -eq "$1" ]
	tap "of its results $1 go through shared memory"
}

right half 'half (float16[7,409,104] x) => (float16[7,104,409] y)
{
   s = Softmax <axis = 2> (x)
   y = Transpose <perm = [0, 2, 1]> (s)
}'
staged 1
right norm 'norm (float[5,331,64] x, float[64] w, float[64] c) => (float[5,64,331] y)
{
   s = LayerNormalization <axis = 2, epsilon = 0.00001> (x, w, c)
   y = Transpose <perm = [0, 2, 1]> (s)
}'
staged 1
right both 'both (bfloat16[5,1,401,64] x) => (bfloat16[5,1,401,64] s, bfloat16[5,64,401,1] y, bool[5,64,401,1] z)
<bfloat16 k = {0.0625}>
{
   s = Softmax <axis = 3> (x)
   y = Transpose <perm = [0, 3, 2, 1]> (s)
   z = Greater (y, k)
}'
staged 2
right sums 'sums (float[2,1601,72] x, float[72] w) => (float[2,72,1601] y, float[2,1601] m)
<float k = {0.000001}>
{
   m = ReduceMax <axes = [2], keepdims = 0> (x)
   q = Mul (x, x)
   a = ReduceMean <axes = [2], keepdims = 1> (q)
   e = Add (a, k)
   r = Sqrt (e)
   n = Div (x, r)
   t = Mul (n, w)
   y = Transpose <perm = [0, 2, 1]> (t)
}'
staged 1
# Vectors of 32 bytes lie side by side, too.
cat >"$tmp/wide.gpt" <<'GRAPH'
wide (double[4096,1024] x) => (double[4096,1024] y)
{
   s = Softmax <axis = 1> (x)
   y = Mul (s, x)
}
GRAPH
pm explain "$tmp/wide.gpt" --pass "$fuse"
exits 0 "rows of double"
says 'cluster Mul Softmax' "are fused"
right line 'line (float[1,1,97] x) => (float[97,1,1] y)
{
   s = Softmax <axis = 2> (x)
   y = Transpose <perm = [2, 1, 0]> (s)
}'
staged 0

# Nothing is reduced: a block transposes pieces of the axis along which the operands lie.
right prime 'prime (float[16,197,230] x, float[16,1,230] w) => (float[16,230,197] y, bool[16,230,197] z)
<float k = {0.5}>
{
   a = Add (x, w)
   y = Transpose <perm = [0, 2, 1]> (a)
   z = Less (y, k)
}'
staged 2
right joined 'joined (bfloat16[23,16,24,21] a, bfloat16[23,40,24,21] b, bfloat16[23,504,56] p) => (bfloat16[23,504,56] y)
<int64[3] flat = {23, 56, 504}>
{
   c = Concat <axis = 1> (a, b)
   r = Relu (c)
   v = Reshape (r, flat)
   t = Transpose <perm = [0, 2, 1]> (v)
   y = Add (t, p)
}'
staged 1
right pieces 'pieces (float16[5,112,400] x, float16[400] w) => (float16[5,400,112] y)
{
   a = Mul (x, w)
   t = Transpose <perm = [0, 2, 1]> (a)
   y = Relu (t)
}'
staged 1
grep -q '^nest rows 5600 vec 8 .* per_block 32 ' "$tmp/out"
tap "a row is 40 of 400 elements, whole vectors of it"
right aside 'aside (float[16,40,48,32] x, float[32] w) => (float[16,32,40,48] y, float[16,40,48,32] z)
{
   z = Mul (x, w)
   t = Transpose <perm = [0, 3, 1, 2]> (z)
   y = Relu (t)
}'
staged 1
[ "$(grep -c '^nest rows 0 vec 4 ' "$tmp/out")" -eq 1 ] && [ "$(grep -c '^nest rows' "$tmp/out")" -eq 2 ]
tap "what lies as the operand does is made beside it"

if "$passmith" doctor 2>/dev/null | grep -q '^yes NVRTC'; then
	for name in half norm both sums prime joined pieces aside; do
		pm compile "$tmp/$name.gpt" --pass "$fuse" --arch sm_80,sm_90 -o "$tmp/$name.pmz"
		exits 0 "$name is compiled for sm_80 and sm_90"
	done
else
	skip "machine code of staged results" "NVRTC is not here"
fi

right places 'places (float[50,32] t, float[1,12,32] x) => (float[1,12,32] y, float[2,3,32] z)
<int64[12] i = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, int64[2,3] j = {-46, 9, 14, 19, 24, 29}>
{
   g = Gather <axis = 0> (t, i)
   y = Add (x, g)
   h = Gather <axis = 0> (t, j)
   z = Relu (h)
}'
grep -q '^cluster .*Gather' "$tmp/out" && ! grep -q ' pick ' "$tmp/out"
tap "their indices are computed, not read"
right uneven 'uneven (float[50,32] t, float[1,4,32] x) => (float[1,4,32] y)
<int64[4] i = {0, 1, 3, 4}>
{
   g = Gather <axis = 0> (t, i)
   y = Add (x, g)
}'
grep -q ' pick ' "$tmp/out"
tap "others are read"
# Tables of indices take no room of the pass.
{
	echo 'tables (float[8192,1] t, float[4096,1] x) => (float[4096,1] y)'
	for k in 0 1 2 3 4 5 6 7 8 9; do
		printf '%s int64[4096] i%d = {%s}' "$([ $k -eq 0 ] && echo '<' || echo ',')" $k "$(seq -s ', ' $k $((k + 4095)))"
	done
	echo '> {'
	last=x
	for k in 0 1 2 3 4 5 6 7 8 9; do
		echo "g$k = Gather <axis = 0> (t, i$k)"
		echo "s$k = Add ($last, g$k)"
		last=s$k
	done
	echo 'y = Relu (s9) }'
} >"$tmp/tables.gpt"
pm explain "$tmp/tables.gpt" --pass "$fuse"
exits 0 "ten tables of 4096 indices"
[ "$(grep -c '^cluster ' "$tmp/out")" -eq 1 ] && [ "$(grep '^cluster ' "$tmp/out" | grep -o Gather | wc -l)" -eq 10 ]
tap "are one kernel"
right backwards 'backwards (float[50,32] t, float[1,3,32] x) => (float[1,3,32] y)
<int64[3] i = {5, 3, 1}>
{
   g = Gather <axis = 0> (t, i)
   y = Add (x, g)
}'

# across N CODE: a norm along 128 elements that lie N elements apart. Each lane of a warp asks for a line of its own.
across()
{
	printf 'across (float16[1,128,%s] a, float16[1,128,%s] b, float16[128] w, float16[128] c) => (float16[1,%s,128] t, float16[1,%s,128] y)
{
   x = Add (a, b)
   t = Transpose <perm = [0, 2, 1]> (x)
   y = LayerNormalization <axis = 2> (t, w, c)
}' "$1" "$1" "$1" "$1" >"$tmp/across.gpt"
	pm explain "$tmp/across.gpt" --pass "$fuse"
	exits "$2" "a norm of $1 rows that lie across memory"
}
across 196 0
says "cluster LayerNormalization Transpose Add" "few of them are one kernel with what stands before"
across 36864 0
says "cluster Transpose Add" "many are turned first, and the norm has them as they lie"
staged 1
tap_done
