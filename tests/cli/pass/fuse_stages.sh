#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuse_stages.sh - what each stage of passes/fuse makes of thirteen graphs (tests/golden/fuse): NAME.nest has the cluster, the
# estimate, the operations and the nests as explain prints them, NAME.kernel the kernels behind what all of them begin with.
# PM_GOLDEN_UPDATE=1 writes both anew: review the diff.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/fuse.sh
. "$(dirname "$0")/../../lib/fuse.sh"

golden=tests/golden/fuse

# same FILE: $tmp/now is what the committed file says, or becomes it.
same()
{
	if [ -n "${PM_GOLDEN_UPDATE-}" ]; then
		cp "$tmp/now" "$1"
	fi
	diff "$1" "$tmp/now" >"$tmp/out" 2>&1
}

n=0
for graph in "$golden"/*.gpt; do
	n=$((n + 1))
	name=$(basename "$graph" .gpt)
	pm explain "$graph" --pass "$fuse"
	exits 0 "explain $name"
	sed -n '/^rewrite 1, by rule fuse: /,$p' "$tmp/out" >"$tmp/now"
	same "$golden/$name.nest"
	tap "$name: cluster, estimate, operations and nests are the committed ones"
	pm apply "$graph" --pass "$fuse" -o "$tmp/fused.gpt"
	exits 0 "apply $name"
	first_kernel "$tmp/fused.gpt" | sed 's/\\"/"/g; s/\\t/\t/g' |
		awk '/^template<int A> .* void body0\(|^extern "C" / { on = 1 } on' >"$tmp/now"
	[ -s "$tmp/now" ] && same "$golden/$name.kernel"
	tap "$name: the kernel is the committed one"
done
[ "$n" -eq 13 ]
tap "there are thirteen graphs"

pm explain "$golden/gelu_half.gpt" --pass "$fuse" --json
exits 0 "explain --json"
grep -q '"reports"' "$tmp/out" && grep -q 'nest rows 0 vec 8' "$tmp/out"
tap "explain --json has the nests in reports"
pm explain models/swin_block.gpt --pass "$fuse"
exits 0 "explain of a model"
says "outside LayerNormalization, node 0: " "explain says which neighbours stayed outside"
says "with it the kernel would be slower than without it and a launch for it, by ns " "and why"

# A cluster grows with products and without them: what is said is of the one that was taken.
pm explain models/swin_block.gpt --pass "$build/passes/fuse.so"
sed -n '/^rewrite 1,/,/^estimate/p' "$tmp/out" | grep -q '^outside MatMul, node [0-9]*: with it the kernel would be slower'
tap "a product that was tried and stayed outside is among the neighbours"
tap_done
