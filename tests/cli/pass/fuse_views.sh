#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuse_views.sh - a view that a kernel's own nodes read is part of the kernel, however many they are.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# graph READERS: of one Expand, which are added up.
graph()
{
	awk -v n="$1" 'BEGIN {
		printf "g (float[1,64] x"
		for (i = 0; i < n; i++) printf ", float[1000,1] c%d", i
		printf ") => (float[1000,64] s%d) <int64[2] k = {1000, 64}>\n{ e = Expand (x, k)\n", n - 1
		for (i = 0; i < n; i++) printf " a%d = Mul (e, c%d)\n", i, i
		print " s1 = Add (a0, a1)"
		for (i = 2; i < n; i++) printf " s%d = Add (s%d, a%d)\n", i, i - 1, i
		print "}"
	}'
}

for readers in 3 26; do
	graph "$readers" >"$tmp/g.gpt"
	pm apply "$tmp/g.gpt" --pass "$build/passes/fuse.so" --target h200 -o "$tmp/fused.gpt"
	exits 0 "$readers readers of a view become a kernel"
	pm run "$tmp/fused.gpt" --device emu --compare ref --plan
	exits 0 "it agrees with the reference"
	grep -q "^1 launches, 0 views" "$tmp/out"
	tap "which repeats the elements itself"
done
tap_done
