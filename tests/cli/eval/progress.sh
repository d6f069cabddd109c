#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# progress.sh - eval --progress: a line for each variant as soon as it is finished, and nothing that is drawn.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu_graph "float[8,64]"
silu=$build/passes/silu.so
hanging=$build/tests/plugin/hanging_silu.so

# lines WORD FILE: how many lines have the word.
lines()
{
	grep -c -- "$1" "$2"
}

for jobs in 1 3; do
	pm eval "$tmp/silu.gpt" --pass "$silu" --dtype float --hidden 1 --jobs $jobs --progress "$tmp/p" -o "$tmp/r" --quiet
	exits 0 "--progress with $jobs processes"
	[ "$(head -n 1 "$tmp/p")" = "{\"event\":\"begin\",\"pass\":\"$silu\",\"variants\":10}" ]
	tap "the first line says how many there will be"
	[ "$(lines . "$tmp/p")" = 11 ] && [ "$(lines '^{"event":"variant","number":[0-9]*,.*"stored":false,"record":{.*}}$' "$tmp/p")" = 10 ]
	tap "a line for each variant, and none for hidden shapes"
	[ "$(sed -n 's/.*"number":\([0-9]*\),.*/\1/p' "$tmp/p" | sort -un | tr '\n' ' ')" = "0 3 6 9 12 15 18 21 24 27 " ]
	tap "with the numbers of the task"
	grep -q '"secret"' "$tmp/r" && ! grep -q -e '"secret"' -e '"inputs":"' "$tmp/p"
	tap "what was drawn is told at the end alone"
done
pm eval "$tmp/silu.gpt" --pass "$silu" --only 0 --hidden 0 --shape -2 --progress "$tmp/p" --quiet
exits 2 "a usage error"
[ "$(lines . "$tmp/p")" = 11 ]
tap "leaves the file alone"
pm eval "$tmp/silu.gpt" --pass "$silu" --only 0 --hidden 0 --deadline 0 --jobs 1 --progress "$tmp/p" --quiet
[ "$(lines . "$tmp/p")" = 2 ]
tap "in one process too, and the file is begun anew"
pm eval "$tmp/silu.gpt" --pass "$silu" --only 0 --hidden 0 --progress "$tmp/none/p" --quiet --json
exits 3 "a file that cannot be written"
says '"error":' "is an error"

# Before the end: the pass that comes second hangs until its deadline.
"$passmith" eval "$tmp/silu.gpt" --pass "$silu" --pass "$hanging" --only 0 --hidden 0 --progress "$tmp/early" --quiet >/dev/null 2>&1 &
child=$!
i=0
while [ "$(lines '"event":"variant"' "$tmp/early" 2>/dev/null || true)" != 1 ] && [ $i -lt 600 ]; do
	sleep 0.1
	i=$((i + 1))
done
kill -0 $child 2>/dev/null && [ "$(lines '"event":"variant"' "$tmp/early")" = 1 ]
tap "a line is there while the evaluation goes on"
kill $child 2>/dev/null
wait $child 2>/dev/null
tap_done
