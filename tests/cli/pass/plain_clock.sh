#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plain_clock.sh - what the modelled clock adds to launches of the plain run, as `passmith apply` says it: begins that are
# hidden, sums, rows of few blocks, windows of pools.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# us GRAPH: modelled microseconds of its plain run on h200.
us()
{
	echo "$1" >"$tmp/g.gpt"
	pm apply "$tmp/g.gpt" --pass "$build/passes/silu.so" --target h200 -o "$tmp/out.gpt" --json
	sed -n 's/.*"modelled_seconds_before":[ ]*\([0-9.e+-]*\).*/\1/p' "$tmp/out" | awk 'NR == 1 { printf "%.4f\n", $1 * 1e6 }'
}

# between LOW HIGH NUMBER SENTENCE
between()
{
	awk -v l="$1" -v h="$2" -v n="$3" 'BEGIN { exit !(n != "" && n >= l && n <= h) }'
	tap "$4 ($3 us)"
}

less()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", b - a }'
}

x='g (float[4096,64] x) => (float[4096,64] y)'
one=$(us "$x { y = Exp (x) }")
between 2.9 3.1 "$one" "a launch"
two=$(us "$x { a = Exp (x) y = Neg (a) }")
between 2.65 2.75 "$(less "$one" "$two")" "a second small one, and what begins it"
product=$(us 'g (float[512,512] x, float[512,512] w) => (float[512,512] y) { y = MatMul (x, w) }')
more=$(us 'g (float[512,512] x, float[512,512] w) => (float[512,512] y) { p = MatMul (x, w) y = Neg (p) }')
between 1.9 2.1 "$(less "$product" "$more")" "behind a long one that begin is hidden"
sums=$(us "$x { y = Softmax <axis = 1> (x) }")
between 0.59 0.61 "$(less "$one" "$sums")" "a softmax waits for its sums"
norm=$(us 'g (float[4096,64] x, float[64] s) => (float[4096,64] y) { y = LayerNormalization <axis = 1> (x, s) }')
between 1.19 1.21 "$(less "$one" "$norm")" "and a norm"
row=$(us 'g (float[1,1,524288] x, float[1] s, float[1] b) => (float[1,1,524288] y) { y = InstanceNormalization (x, s, b) }')
rows=$(us 'g (float[1024,1,512] x, float[1] s, float[1] b) => (float[1024,1,512] y) { y = InstanceNormalization (x, s, b) }')
between 60 90 "$(less "$rows" "$row")" "one row is moved by one multiprocessor"
small=$(us 'g (float[1,192,8,6] x) => (float[1,192,8,6] y) { y = MaxPool <kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]> (x) }')
large=$(us 'g (float[1,192,8,6] x) => (float[1,192,8,6] y) { y = MaxPool <kernel_shape = [13, 13], strides = [1, 1], pads = [6, 6, 6, 6], dilations = [1, 1]> (x) }')
between 4 7 "$(less "$small" "$large")" "a pool looks through its windows"
tap_done
