#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# memory.sh - what a call takes of a device's memory, as apply says it: counted by hand.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# x, w and y have 16,384 bytes, a as many, b and c 256 each. While b is made a and b are alive, and afterwards c may lie where a was,
# though it is much smaller: 3 * 16384 + 16384 + 256.
cat >"$tmp/shrinks.gpt" <<'GRAPH'
m (float[64,64] x, float[64,64] w) => (float[64,64] y)
{
   a = Relu (x)
   b = ReduceSum <axes = [0]> (a)
   c = Tanh (b)
   y = Add (c, w)
}
GRAPH
pm apply "$tmp/shrinks.gpt" --pass "$build/passes/silu.so" -o "$tmp/out.gpt" --json
exits 1 "a pass that does not apply"
says '"memory_before": 65792' "what the eager run takes: the small value lies where the large one was"
says '"memory_after": 65792' "nothing changed"
says '"memory_live_before": 65792' "it is what is alive at one moment"

# Two values of one size that are alive together share nothing.
echo 'm (float[8] x) => (float[8] y) { a = Relu(x) b = Tanh(x) c = Add(a, b) y = Exp(c) }' >"$tmp/two.gpt"
pm apply "$tmp/two.gpt" --pass "$build/passes/silu.so" -o "$tmp/out.gpt" --json
says '"memory_before": 160' "input, result, a, b, and c beside them"
pm apply "$tmp/two.gpt" --pass "$build/passes/fuse.so" -o "$tmp/out.gpt" --json
exits 0 "fused"
says '"memory_after": 64' "only the input and the result are left"
pm apply "$tmp/two.gpt" --pass "$build/passes/fuse.so" -o "$tmp/out.gpt"
says "memory of a call 0.0 -> 0.0 MB" "the text says it in megabytes"

# A large graph is described for PyTorch by samples, not by all of its elements: 4 GB would be drawn otherwise.
silu_graph "float[32768,32768]"
pm task export "$tmp/silu.gpt" --torch "$tmp/t" --max-check 0
exits 0 "4 GB for PyTorch"
grep -q 'shape = \[32768, 32768\]' "$tmp"/t/*/weight_meta.py && grep -q '"shape": \[32768, 32768\]' "$tmp"/t/*/case.json
tap "have the shape that they have"
sed -n 's/^ *std = //p' "$tmp"/t/*/weight_meta.py | grep -qE '^(0\.99|1\.00)'
tap "and the deviation of a normal distribution"
tap_done
