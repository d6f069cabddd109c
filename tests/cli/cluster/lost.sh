#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lost.sh - what an element loses that is killed in the middle of an item, counted: the variant that it was in, and no other.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/cluster.sh
. tests/lib/cluster.sh

if nm "$passmith" 2>/dev/null | grep -q __asan_init; then
	skip "lost" "a library cannot be loaded before the sanitizer's"
	tap_done
fi
${CC:-gcc} -D_GNU_SOURCE -O1 -shared -fPIC -Wall -Werror -o "$tmp/faults.so" tests/cli/cluster/faults.c -ldl
tap "the library that stops a process at a step"

# One item of six variants: two shapes in three element types.
silu_graph "float[8,64]"
pm extract "$tmp/silu.gpt" --db "$tmp/w.db" --quiet -j 1
pm task make --db "$tmp/w.db" --top 1 --shapes 2 --quiet
exits 0 "a task"
plan_with()
{
	pm cluster plan --db "$tmp/w.db" --tasks 1 --pass "$1" --hidden 1 --lease 1 --weak-sandbox --deadline 600 -o "$2"
	exits 0 "a plan"
	grep -q ': 1 item (1 pass on 1 task) in 1 shard;' "$tmp/out"
	tap "of one item"
}
plan_with "$build/passes/silu.so" "$tmp/plan"
variants=6

# pm, in a process that has the library and no fault: what it finds is of the same machine.
with_library()
{
	code=0
	LD_PRELOAD=$tmp/faults.so "$passmith" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}

# The numbers of the variants that have been published, each as often as it was.
published()
{
	cat "$1"/*.jsonl 2>/dev/null | sed -n 's/^.*"ordinal": *\([0-9]*\),.*"verdict".*$/\1/p' | sort -n | tr '\n' ' '
}

# A process of the worker stopped itself: waits for it. 1 when the worker ended before.
stopped_below()
{
	while kill -0 "$1" 2>/dev/null; do
		for child in $(ps -o pid= --ppid "$1"); do
			case $(sed 's/.*) //; s/ .*//' "/proc/$child/stat" 2>/dev/null) in
			T) return 0 ;;
			esac
		done
		sleep 0.02
	done
	return 1
}

# Before it publishes variant number k + 1, which it has evaluated, the process of the item stops; then the element is killed.
# A part of an item takes four steps: it is made, written, given to the disk and renamed.
for k in 0 1 3 5; do
	p=$tmp/p$k
	cp -r "$tmp/plan" "$p"
	FAULT=stop FAULT_AT=$((4 * k + 1)) FAULT_DIR=$p/partial/ LD_PRELOAD=$tmp/faults.so \
		"$passmith" cluster work "$p" --shard 0 -j 1 --quiet >"$tmp/first" 2>&1 </dev/null &
	first=$!
	stopped_below "$first"
	tap "an element that has evaluated $((k + 1)) variants"
	kill -9 "$first"
	wait "$first" 2>/dev/null
	[ "$(published "$p/partial/0" | wc -w)" = "$k" ] && [ "$(n_files "$p/results")" = 0 ]
	tap "and is killed then, has published $k of them"
	cat "$p"/partial/0/*.jsonl 2>/dev/null | grep '"verdict"' | sort >"$tmp/rows"
	pm cluster resume "$p"
	exits 0 "resume"
	with_library cluster work "$p" --shard 0 -j 1 --quiet --json
	exits 0 "the next element ends"
	grep -q "\"variants\": $((variants - k))," "$tmp/out"
	tap "it evaluates $((variants - k)): of the $((k + 1)) one was lost"
	[ "$(published "$p/results")" = "$(seq -s ' ' 0 $((variants - 1))) " ]
	tap "the result has each variant once"
	grep -h '"verdict"' "$p/results/0.jsonl" | sort | comm -23 "$tmp/rows" - >"$tmp/lost"
	[ "$(wc -l <"$tmp/rows")" -ge "$k" ] && [ ! -s "$tmp/lost" ]
	tap "and those that were published as they were, with their times"
	[ "$(grep -c '"ordinal": *[0-9]*,.*"verdict": *"OK"' "$p/results/0.jsonl")" = $variants ] && ! grep -q '"verdict": *"[^O]' "$p/results/0.jsonl"
	tap "each is the evaluation of a pass that is right, in its sandbox"
done

# Several at once: what is finished is published, though a variant before it is not. The first shape, of 512 elements, never ends.
sed 's/float v = ld(x\[i\]);/while (n == 512 \&\& *(volatile const unsigned char *)x == *(volatile const unsigned char *)x) ; float v = ld(x[i]);/' \
	passes/library/activation/silu.c >"$tmp/first_hangs.c"
pm build "$tmp/first_hangs.c" -o "$tmp/first_hangs.so"
exits 0 "a pass that never ends on the first shape"
plan_with "$tmp/first_hangs.so" "$tmp/several"
"$passmith" cluster work "$tmp/several" --shard 0 -j 6 --quiet >"$tmp/first" 2>&1 </dev/null &
first=$!
while kill -0 "$first" 2>/dev/null && [ "$(published "$tmp/several/partial/0" | wc -w)" -lt 3 ]; do sleep 0.05; done
kill -9 "$first"
wait "$first" 2>/dev/null
[ "$(published "$tmp/several/partial/0")" = "3 4 5 " ]
tap "an element with six processes, killed while three of them work, has published the other three variants"
tap_done
