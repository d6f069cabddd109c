#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sampled.sh - a kernel over more than 2^26 elements runs some of its blocks on emu, the last one among them, and the
# command says so. What blocks find is in tests/unit/bench/test_sample.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# The graph needs 2 GB; with room for processes beside this one.
free=$(awk '/^MemAvailable:/ { print int($2 / 1000000) }' /proc/meminfo)
if [ "${free:-0}" -ge 6 ]; then
	silu_graph "float16[8193,8192]"
	pm eval "$tmp/silu.gpt" --pass "$build/tests/plugin/oob_silu.so" --deadline 100000 --check-only --hidden 0 -o "$tmp/r" --quiet
	exits 1 "a kernel that writes past the end in its last block"
	says "OOB" "is found"
	grep -q '"sampled": *{' "$tmp/r" && grep -q '"of_blocks": *1048704' "$tmp/r"
	tap "JSON has the blocks"
	says "Sampled (as written): 256 of 1048704 blocks" "the table says which part ran"
else
	skip "a large kernel" "it takes 6 GB of memory"
fi

silu_graph "float16[8,64]"
pm eval "$tmp/silu.gpt" --pass "$build/passes/silu.so" --check-only --hidden 0 -o "$tmp/r" --quiet
exits 0 "a small kernel"
! grep -q '"sampled"' "$tmp/r"
tap "all of its blocks run"
tap_done
