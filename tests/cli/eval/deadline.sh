#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deadline.sh - eval and bench --deadline: what was not checked is named, and is neither right nor wrong.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu_graph "float[8,64]"
silu=$build/passes/silu.so
wrong=$build/tests/plugin/wrong_silu.so

for pass in "$silu" "$wrong"; do
	for jobs in 1 2; do
		pm eval "$tmp/silu.gpt" --pass "$pass" --deadline 0.000001 --jobs $jobs -o "$tmp/r" --quiet
		exits 1 "no time for $(basename "$pass"), $jobs jobs"
		grep -q '"verdict": *"NOT_CHECKED"' "$tmp/r" && grep -q '"not_checked": *{' "$tmp/r" && grep -q '"correct": *0' "$tmp/r"
		tap "is NOT_CHECKED, and counts as right nowhere"
		! grep -q '"hidden": *{' "$tmp/r"
		tap "and no hidden shape is taken for more"
	done
done
says "(--deadline)" "the table names the option"
pm eval "$tmp/silu.gpt" --pass "$silu" --deadline 0 -o "$tmp/r" --quiet
exits 0 "--deadline 0: no limit"
! grep -q not_checked "$tmp/r"
tap "all is checked"
pm eval "$tmp/silu.gpt" --pass "$silu" --deadline -1 --quiet
exits 2 "--deadline -1"

# What is stored belongs to its deadline: with another one it is evaluated again.
pm extract "$tmp/silu.gpt" --db "$tmp/w.db" --quiet
pm task make --db "$tmp/w.db" --top 1 --name t --shapes 1 --quiet
exits 0 "a task"
pm eval t --db "$tmp/w.db" --pass "$silu" --deadline 0.000001 --only 0 --quiet
says NOT_CHECKED "a stored task without time"
pm eval t --db "$tmp/w.db" --pass "$silu" --only 0 --quiet
exits 0 "and with time"
pm bench --db "$tmp/w.db" --pass "mine=$silu" --deadline 0.000001 --shapes 1 --hidden 0 --json
exits 0 "bench without time"
grep -q '"matched": *0' "$tmp/out" || ! grep -q '"matched": *[1-9]' "$tmp/out"
tap "takes it as a graph on which no rule applied"
tap_done
