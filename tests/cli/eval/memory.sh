#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# memory.sh - eval of a graph that no machine has memory for: said before it starts, with both numbers.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu_graph "float[2000000,400000]"
silu=$build/passes/silu.so
for jobs in 1 2; do
	pm eval "$tmp/silu.gpt" --pass "$silu" --jobs $jobs -o "$tmp/r" --quiet
	exits 1 "a graph of 3,200 GB, $jobs jobs"
	grep -q '"verdict": *"HARNESS_FAIL"' "$tmp/r" && grep -q '"not_judged": *1' "$tmp/r"
	tap "is not judged"
	grep -q 'needs 28800.0 GB of memory (inputs 3200.0, outputs 3200.0, ' "$tmp/r" && grep -q 'and this machine has [0-9.]* GB for it' "$tmp/r"
	tap "with what it needs, and what there is"
done
silu_graph "float[8,64]"
pm eval "$tmp/silu.gpt" --pass "$silu" --hidden 0 --quiet
exits 0 "a graph that fits"
tap_done
