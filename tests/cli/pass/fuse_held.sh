#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuse_held.sh - rows that no block has registers for are read once where they fit in registers and shared memory.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

fuse=$build/passes/fuse.so

# norm NAME TYPE LENGTH: $tmp/NAME.gpt normalises 270 rows of so many elements.
norm()
{
	cat >"$tmp/$1.gpt" <<GRAPH
norm ($2[9,30,$3] x, $2[30] w, $2[30] b) => ($2[9,30,$3] y)
{
   n = GroupNormalization <num_groups = 30> (x, w, b)
   s = Sigmoid (n)
   y = Mul (n, s)
}
GRAPH
}

# rewritten NAME TARGET: $tmp/NAME.gpt becomes $tmp/fused.gpt, and $tmp/sources its kernels.
rewritten()
{
	pm apply "$tmp/$1.gpt" --pass "$fuse" --target "$2" -o "$tmp/fused.gpt"
	exits 0 "apply $1 for $2"
	sed 's/\\n/\n/g' "$tmp/fused.gpt" >"$tmp/sources"
}

agrees()
{
	pm run "$tmp/fused.gpt" --device emu --compare ref
	exits 0 "$1 agrees with the reference"
}

# held BLOCKS BYTES: of one multiprocessor so many blocks, each with so many bytes of shared memory.
held()
{
	grep -q "fused0 grid=270,1,1 block=512,1,1 smem=$2 " "$tmp/sources" && grep -q "__launch_bounds__(512, $1)" "$tmp/sources"
	tap "$1 blocks of a multiprocessor hold a row each, $2 bytes of it in shared memory"
}

is_not_held()
{
	! grep -q 'smem=[1-9]' "$tmp/sources"
	tap "it is not held"
}

norm half float16 40960
rewritten half h200
agrees "a row of ten vectors a thread"
held 3 65536
grep -q '^join_moments<512, 80, 0>(v[0-9]*, v[0-9]*);' "$tmp/sources"
tap "its mean and variance are of one pass"
rewritten half a100
agrees "with less shared memory"
held 2 16384

norm brain bfloat16 78000
rewritten brain h200
agrees "a row that ends within a turn"
held 2 98304
! grep -q '^join_moments<' "$tmp/sources"
tap "its threads have vectors of different numbers, and so a pass for each"

norm full float 33000
rewritten full h200
agrees "a row of float"
held 2 73728
grep -q '^if (in) v[0-9]* += lanes_sum(v[0-9]*);' "$tmp/sources"
tap "a vector's own sum is one of floats"
! grep -q '^join_moments<' "$tmp/sources"
tap "its sums are of double, in a pass each"
rewritten full l4
is_not_held

# Whole numbers around 896, which half types have: squares of what was read would leave no digits of the variance.
cat >"$tmp/far.gpt" <<'GRAPH'
far (float16[9,30,40960] x, float16[30] w, float16[30] b) => (float16[9,30,40960] y)
{
   four = Constant <value_float = 4.0> ()
   base = Constant <value_float = 896.0> ()
   f = Cast <to = 10> (four)
   c = Cast <to = 10> (base)
   m = Mul (x, f)
   i = Round (m)
   a = Add (i, c)
   y = GroupNormalization <num_groups = 30> (a, w, b)
}
GRAPH
rewritten far h200
agrees "a row around 896"
grep -q '^join_moments<512, 80, 0>' "$tmp/sources"
tap "from one pass"

# A block with two rows: what its threads read of the first is not written over for the second.
cat >"$tmp/flip.gpt" <<'GRAPH'
flip (float16[9,30,40960] x, float16[30] w, float16[30] b) => (float16[9,30,40960] y)
{
   n = GroupNormalization <num_groups = 30> (x, w, b)
   f = Slice <starts = [-1], ends = [-10], axes = [0], steps = [-1]> (n)
   y = Add (n, f)
}
GRAPH
rewritten flip h200
agrees "a row and that of another image"
grep -q '^join_moments<512, 80, 0>' "$tmp/sources" && grep -q '^join_moments<512, 80, 1>' "$tmp/sources"
tap "each has its own place to join moments"

norm long float16 100000
rewritten long h200
is_not_held

# A second operand along the row has no room: it is read again.
cat >"$tmp/two.gpt" <<'GRAPH'
two (float16[9,30,36000] x, float16[9,30,36000] z, float16[30] w, float16[30] b) => (float16[9,30,36000] y)
{
   a = Add (x, z)
   y = GroupNormalization <num_groups = 30> (a, w, b)
}
GRAPH
rewritten two h200
agrees "a row of two operands"
held 3 57344
pm explain "$tmp/two.gpt" --pass "$fuse" --target h200
[ "$(grep -c 'early_array' "$tmp/out")" -eq 1 ]
tap "one of them is held"
says "hold 3" "the nest says by how many blocks"
says "early_array e0 turns 9 shared 7" "and where"

if "$passmith" doctor 2>/dev/null | grep -q '^yes NVRTC'; then
	for name in half full; do
		pm compile "$tmp/$name.gpt" --pass "$fuse" --arch sm_80,sm_90 -o "$tmp/$name.pmz"
		exits 0 "$name is compiled for sm_80 and sm_90"
	done
else
	skip "machine code of held rows" "NVRTC is not here"
fi
tap_done
