#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuse_tail.sh - rows of many large reductions: what their vectors leave for a last turn of few threads goes one element a thread.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/fuse.sh
. "$(dirname "$0")/../../lib/fuse.sh"

# reduced TYPE ROWS LENGTH OPERATOR TARGET: rows of so many elements become one each; $tmp/sources has the kernel.
reduced()
{
	cat >"$tmp/rows.gpt" <<GRAPH
rows ($1[$2,$3] x) => ($1[$2,1] y)
{
   s = Sigmoid (x)
   a = Mul (x, s)
   y = $4 <axes = [1]> (a)
}
GRAPH
	pm apply "$tmp/rows.gpt" --pass "$fuse" --target "$5" -o "$tmp/fused.gpt"
	exits 0 "apply to $2 rows of $3 elements of $1"
	first_kernel "$tmp/fused.gpt" >"$tmp/sources"
	pm run "$tmp/fused.gpt" --device emu --compare ref
	exits 0 "$4 agrees with the reference"
}

# has_tail THREADS ELEMENTS TURNS: of a row
has_tail()
{
	grep -q "^if (lane < $2) {" "$tmp/sources" && grep -q "k \* $1 + lane;" "$tmp/sources" && grep -q "k < $3; k++" "$tmp/sources"
	tap "$1 threads have $3 turns, and $2 of them an element more"
	! grep -q '^if (m0 < ' "$tmp/sources"
	tap "there is no turn for some of them"
}

has_none()
{
	grep -q 'fused0(' "$tmp/sources" && ! grep -q '^if (lane < ' "$tmp/sources"
	tap "$1"
}

reduced float16 9001 784 ReduceMean h200
has_tail 32 16 3
reduced bfloat16 9001 784 ReduceMax h200
has_tail 32 16 3
reduced float 9001 784 ReduceSum h200
has_tail 32 16 6
reduced float16 3001 3136 ReduceMean l4
has_tail 64 64 6
reduced float16 30001 264 ReduceMin h200
has_tail 32 8 1
reduced float16 9001 768 ReduceMean h200
has_none "rows of whole turns have no tail"
reduced float16 9001 824 ReduceMean h200
has_none "what is left is more than an element for each thread"
reduced float16 900 784 ReduceMean h200
has_none "few rows have no tail"

# Values that are asked for again, element by element.
cat >"$tmp/softmax.gpt" <<'GRAPH'
softmax (float16[9001,784] x) => (float16[9001,784] y)
{
   s = Sigmoid (x)
   a = Mul (x, s)
   y = Softmax <axis = 1> (a)
}
GRAPH
pm apply "$tmp/softmax.gpt" --pass "$fuse" -o "$tmp/fused.gpt"
first_kernel "$tmp/fused.gpt" >"$tmp/sources"
has_none "rows that are results have no tail"

pm explain "$tmp/rows.gpt" --pass "$fuse"
exits 0 "explain few rows"
reduced float16 9001 784 ReduceMean h200
pm explain "$tmp/rows.gpt" --pass "$fuse"
says "extent 784 tail 16 by" "the nest says what is left of a row"
says "tail 16 {" "and what is done with it"

if "$passmith" doctor 2>/dev/null | grep -q '^yes NVRTC'; then
	pm compile "$tmp/rows.gpt" --pass "$fuse" --arch sm_80,sm_90 -o "$tmp/rows.pmz"
	exits 0 "it is compiled for sm_80 and sm_90"
else
	skip "machine code of tails" "NVRTC is not here"
fi
tap_done
