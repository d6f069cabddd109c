#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# narrow_types.sh - element types of 8, 6, 4 and 2 bits as users meet them: read, converted, run, written, refused.
. "$(dirname "$0")/../../lib/tap.sh"

# message TYPE COUNT: the first TensorProto of tests/golden/narrow/tensors.txt with so many elements; onnx wrote it.
message()
{
	awk -v t="$1" -v n="$2" '$1 == t && $2 == n { print $3; exit }' tests/golden/narrow/tensors.txt |
		sed 's/../\\x&/g' | tr -d '\n' | xargs -0 /usr/bin/printf
}

# ---- conversion, folded so that the numbers are printed ----

cat >"$tmp/casts.gpt" <<'G'
casts (float[2,5] x, float8e4m3fn[2,5] q) => (float8e4m3fn[2,5] ya, float8e5m2[2,5] yb, float8e4m3fn[2,5] yc, float4e2m1[2,5] yd, int4[2,5] ye, float[2,5] yp)
<float[5] k = {0.3, -17, 500, -1e9, 6.5}, float[5] w = {0, 3, 6, -8, 7.9}, float[5] s = {1, 3, 0.75, 5e-45, 100}, float[5] one = {1, 1, 1, 1, 1}>
{
   a = Cast <to = 17> (k)
   b = Cast <to = 19, saturate = 0> (k)
   c = Cast <to = 17, saturate = 0> (k)
   d = Cast <to = 23> (k)
   e = Cast <to = 22> (w)
   p = Cast <to = 24, round_mode = "down"> (s)
   ya = QuantizeLinear (x, one, a)
   yb = QuantizeLinear (x, one, b)
   yc = QuantizeLinear (x, one, c)
   yd = QuantizeLinear (x, one, d)
   ye = QuantizeLinear (x, one, e)
   yp = DequantizeLinear <output_dtype = 1> (q, p)
}
G
# -17 lies in the middle of two numbers of each format with 4 digits, and so does 6.5 with 3: the even one is taken.
pm simplify "$tmp/casts.gpt" -o "$tmp/folded.gpt"
[ $code -eq 0 ] && pm print "$tmp/folded.gpt" && grep -q 'float8e4m3fn\[5\] v[0-9]* = {0.3125, -16, 448, -448, 6.5}' "$tmp/out"
tap "float8e4m3fn: to the nearest, ties to even, saturated"
grep -q 'float8e5m2\[5\] v[0-9]* = {0.3125, -16, 512, -inf, 6}' "$tmp/out"
tap "float8e5m2 without saturation: infinity"
grep -q 'float8e4m3fn\[5\] v[0-9]* = {0.3125, -16, nan, nan, 6.5}' "$tmp/out"
tap "float8e4m3fn without saturation: NaN"
grep -q 'float4e2m1\[5\] v[0-9]* = {0.5, -6, 6, -6, 6}' "$tmp/out"
tap "float4e2m1 always saturates"
grep -q 'int4\[5\] v[0-9]* = {0, 3, 6, -8, 7}' "$tmp/out"
tap "int4: towards zero"
grep -q 'float8e8m0\[5\] v[0-9]* = {1, 2, 0.5, 5.87747175e-39, 64}' "$tmp/out"
tap "float8e8m0: down to a power of two, and no lower than the least"

# ---- a model goes out as ONNX, comes back, and runs the same ----

cat >"$tmp/model.gpt" <<'G'
m (float[4,8] x, int4[4,8] w, float8e8m0[4,2] s) => (float[4,8] y, float8e5m2[8,4] q, float6e2m3[4,8] z, bool[8,4] n, int4[6] u)
<float[1] c = {0.5}, int4[2,3] k = {-8, -1, 0, 3, 7, 1}, int64[1] six = {6}>
{
   y = DequantizeLinear <block_size = 4, output_dtype = 1> (w, s)
   a = Cast <to = 19, saturate = 0> (x)
   q = Transpose <perm = [1, 0]> (a)
   n = IsNaN (q)
   z = QuantizeLinear <output_dtype = 27> (x, c)
   u = Reshape (k, six)
}
G
pm import "$tmp/model.gpt" -o "$tmp/model.onnx" && pm print "$tmp/model.gpt" && cp "$tmp/out" "$tmp/before" &&
	pm print "$tmp/model.onnx" && cmp -s "$tmp/before" "$tmp/out"
tap "what is written as ONNX is read back as the same text"
pm run "$tmp/model.gpt" --device ref && cp "$tmp/out" "$tmp/before" && grep -q 'q float8e5m2\[8,4\] sha256:' "$tmp/out" &&
	pm run "$tmp/model.onnx" --device ref && cmp -s "$tmp/before" "$tmp/out"
tap "and gives the same outputs on ref"
pm run "$tmp/model.gpt" --device emu
[ $code -eq 4 ] && grep -q "^passmith: Value 'w' of node .* is int4, which no kernel can read or write; use --device ref" "$tmp/err"
tap "emu refuses it, and names the value"

# ---- the same by someone else's data: these messages have the same bits in both types ----

mkdir -p "$tmp/case/bits/test_data_set_0"
cat >"$tmp/bits.gpt" <<'G'
bits (int4[7] t) => (uint4[7] y)
{
   y = Cast <to = 21> (t)
}
G
pm import "$tmp/bits.gpt" -o "$tmp/case/bits/model.onnx"
message int4 7 >"$tmp/case/bits/test_data_set_0/input_0.pb"
message uint4 7 >"$tmp/case/bits/test_data_set_0/output_0.pb"
pm conform "$tmp/case" --device ref
[ $code -eq 0 ] && pm conform "$tmp/case" --device ref --json && grep -q '"passed": *1' "$tmp/out"
tap "conform reads packed data of other writers"
printf '\10\7\20\25\112\4\345\305\243\1' >"$tmp/case/bits/test_data_set_0/output_0.pb"
pm conform "$tmp/case" --device ref --json
grep -q '"failed": *1' "$tmp/out" && grep -q 'Element 0 is 7 instead of 5' "$tmp/out"
tap "and sees a wrong element"

# ---- what is not there ----

cat >"$tmp/add.gpt" <<'G'
add (int4[4] x) => (int4[4] y)
{
   y = Add (x, x)
}
G
pm run "$tmp/add.gpt" --device ref
[ $code -eq 4 ] && grep -q "(Add -> 'y'), operand 0 is of a narrow element type, in which nothing is computed; cast it first" "$tmp/err"
tap "nothing is computed in them"
cat >"$tmp/mixed.gpt" <<'G'
mixed (float[64,64] x) => (float[64,64] y)
<float[1] c = {0.5}>
{
   a = Relu (x)
   b = Mul (a, x)
   q = QuantizeLinear <output_dtype = 17> (b, c)
   r = Reshape (q, same)
   d = DequantizeLinear (r, c)
   e = Neg (d)
   y = Exp (e)
}
G
sed -i 's/<float\[1\] c = {0.5}>/<float[1] c = {0.5}, int64[2] same = {64, 64}>/' "$tmp/mixed.gpt"
pm extract "$tmp/mixed.gpt" --db "$tmp/s.db" --quiet
[ $code -eq 0 ] && pm db query --db "$tmp/s.db" "select count(*) > 0, sum(text like '%float8%') from subgraphs" &&
	grep -qE '1[^0-9]+0' "$tmp/out"
tap "extraction leaves their nodes out"

pm task from "$tmp/mixed.gpt" --db "$tmp/t.db"
[ $code -ne 0 ] && grep -q "Value 'q' is float8e4m3fn, which no kernel can read or write; extract the parts" "$tmp/err"
tap "and a whole model with them is no task"

# ---- weights that are not at hand: as many bytes in the data file as elements need ----

cat >"$tmp/far.gpt" <<'G'
far (float[4] x) => (float[3,5] y, float[4] z)
<int4[3,5] w = ["location": "w.bin", "offset": "0", "length": "15"], float[1] c = {0.5}>
{
   y = DequantizeLinear (w, c)
   z = Neg (x)
}
G
pm import "$tmp/far.gpt" -o "$tmp/far.onnx" && pm materialize "$tmp/far.onnx" -o "$tmp/near.onnx" --external
[ $code -eq 0 ] && [ "$(wc -c <"$tmp/near.onnx.data")" -eq 8 ]
tap "15 elements of int4 are 8 bytes of a data file"
pm run "$tmp/near.onnx" --device ref
[ $code -eq 0 ] && cp "$tmp/out" "$tmp/before" && pm run "$tmp/far.onnx" --device ref && cmp -s "$tmp/before" "$tmp/out"
tap "which are read back as those that were made up"
head -c 7 "$tmp/near.onnx.data" >"$tmp/cut" && mv "$tmp/cut" "$tmp/near.onnx.data"
pm run "$tmp/near.onnx" --device ref
[ $code -eq 4 ] && grep -q "ends at byte 8 of 'near.onnx.data', which has only 7" "$tmp/err"
tap "a data file that is short is refused"

tap_done
