#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuse_launches.sh - where a kernel has several launches, each has the arguments that it uses, and its bytes are theirs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

fuse=$build/passes/fuse.so

# rewritten NAME: $tmp/NAME.gpt becomes $tmp/fused.gpt, $tmp/out, which agrees with the reference.
rewritten()
{
	pm apply "$tmp/$1.gpt" --pass "$fuse" --target h200 -o "$tmp/fused.gpt"
	exits 0 "apply $1"
	pm run "$tmp/fused.gpt" --device emu --compare ref
	exits 0 "$1 agrees with the reference"
	pm print "$tmp/fused.gpt"
}

# A product with a long sum: parts of it by many blocks, then what is behind it.
cat >"$tmp/product.gpt" <<'GRAPH'
product (float[8,4096] x, float[4096,512] w, float[512] b) => (float[8,512] y)
{
   m = MatMul (x, w)
   a = Add (m, b)
   y = Relu (a)
}
GRAPH
rewritten product
grep -q '"fused0 grid=[0-9,]* block=[0-9,]* smem=0 args=i0,i1,s0", "fused1 grid=[0-9,]* block=[0-9,]* smem=0 args=i2,o0,s0"' "$tmp/out"
tap "the product has its factors, what is behind it the bias and the result"
pm profile "$tmp/product.gpt" --pass "$fuse" --target h200 --json
exits 0 "profile product"
[ "$(tr -d ' \n' <"$tmp/out" | sed 's/.*"entry":"fused1"[^}]*"bytes":\([0-9]*\).*/\1/')" -lt 1000000 ]
tap "the weights count in one launch alone"

# Long rows: each is shared by many blocks, of which the last launch alone stores something.
cat >"$tmp/rows.gpt" <<'GRAPH'
rows (float[2,100000] x, float[100000] b) => (float[2] y)
{
   a = Add (x, b)
   s = Sigmoid (a)
   y = ReduceSum <axes = [1], keepdims = 0> (s)
}
GRAPH
rewritten rows
grep -q 'fused0 [^"]*args=i0,i1,s0", "fused1 [^"]*args=o0,s0"' "$tmp/out"
tap "rows are read by the first launch, and stored by the second"
tap_done
