#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# jobs.sh - eval in several processes: the same report, the same order in a database, and the same first failure.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu_graph "float[8,64]"
silu=$build/passes/silu.so
wrong=$build/tests/plugin/wrong_silu.so

# timeless FILE: a report without what clocks said, and without calls, of which there are as many as a time allows.
timeless()
{
	grep -vE '"(wall_seconds|made|replayed|compared|projected|checked|verdicts_as_reported)":' "$1"
}
# secrets FILE: by which everything was drawn, in order.
secrets()
{
	sed -n 's/^ *"secret": *"\([0-9a-f]*\)".*/\1/p' "$1"
}

pm eval "$tmp/silu.gpt" --pass "$silu" --dtype float16 --jobs 3 -o "$tmp/first" --quiet
exits 0 "ten variants and two hidden shapes by three processes"
for jobs in 1 2 3; do
	pm eval "$tmp/silu.gpt" --pass "$silu" --dtype float16 --jobs $jobs --replay "$tmp/first" -o "$tmp/j$jobs" --quiet
	exits 0 "replayed by $jobs"
	[ "$(timeless "$tmp/j1")" = "$(timeless "$tmp/j$jobs")" ] && [ "$(timeless "$tmp/first" | wc -l)" -gt 100 ]
	tap "is the same report, but for times"
	[ "$(secrets "$tmp/j$jobs")" = "$(secrets "$tmp/first")" ] && [ "$(secrets "$tmp/first" | wc -l)" -eq 11 ]
	tap "with the secrets of the first run"
done

pm eval "$tmp/silu.gpt" --pass "$wrong" --dtype float16 --fail-fast --jobs 3 -o "$tmp/fast" --quiet
exits 1 "--fail-fast with three processes"
[ "$(grep -c '"coverage":' "$tmp/fast")" = 1 ] && grep -q '"left_out": *29' "$tmp/fast" && ! grep -q '"hidden":' "$tmp/fast"
tap "ends with the first variant in the order of the task, and hidden shapes that had begun count for nothing"

pm eval "$tmp/silu.gpt" --pass "$wrong" --dtype float16 --jobs 3 --save-failing "$tmp/saved" --quiet
exits 1 "--save-failing with three processes"
pm eval "$tmp/silu.gpt" --pass "$wrong" --dtype float16 --jobs 1 --save-failing "$tmp/saved1" --quiet
exits 1 "and with one"
grep '^#' "$tmp/saved/replay.sh" >"$tmp/lines3" && grep '^#' "$tmp/saved1/replay.sh" >"$tmp/lines1" && cmp -s "$tmp/lines3" "$tmp/lines1"
tap "saves the same files in the same order"

# A database: rows in the order of the variants, and a second run has nothing to do.
pm extract "$tmp/silu.gpt" --db "$tmp/w.db" --quiet
pm task make --db "$tmp/w.db" --top 1 --name t --shapes 3 --quiet
exits 0 "a task"
cp "$tmp/w.db" "$tmp/w1.db"
pm eval t --db "$tmp/w.db" --pass "$silu" --jobs 3 -o "$tmp/db3" --quiet
exits 0 "evaluated by three processes"
pm db export --db "$tmp/w.db" -o "$tmp/w.jsonl"
pm eval t --db "$tmp/w1.db" --pass "$silu" --jobs 1 --quiet
exits 0 "and by one"
pm db export --db "$tmp/w1.db" -o "$tmp/w1.jsonl"
rows()
{
	sed -n 's/.*\\"variant\\":\\"\([^\\]*\)\\".*/\1/p' "$1"
}
[ "$(rows "$tmp/w.jsonl")" = "$(rows "$tmp/w1.jsonl")" ] && [ "$(rows "$tmp/w.jsonl" | wc -l)" -ge 3 ]
tap "results are stored in the same order"
pm eval t --db "$tmp/w.db" --pass "$silu" --jobs 1 -o "$tmp/again" --quiet
[ "$code" -eq 0 ] && cmp -s "$tmp/again" "$tmp/db3"
tap "what is stored is taken as it is, whoever asks"

pm eval "$tmp/silu.gpt" --pass "$silu" --jobs 2 --timings --json
exits 0 "--timings with two processes"
grep -q '"jobs": *2' "$tmp/out"
tap "says how many there were"
pm eval "$tmp/silu.gpt" --pass "$silu" --jobs 2 --timings
says "of all processes together; 2 at once took" "and that the seconds are of all of them"
# What is wrong is told at once, and looked for first where least is to be computed.
pm eval "$tmp/silu.gpt" --pass "$wrong" --hidden 0
[ "$(grep -c 'Found on variant as written: Too far off' "$tmp/err")" = 1 ]
tap "what is found wrong is told, once"
pm eval "$tmp/silu.gpt" --pass "$wrong" --hidden 0 --quiet
! grep -q Found "$tmp/err"
tap "not with --quiet"
sed 's/8,64/600,900/g' "$tmp/silu.gpt" >"$tmp/large.gpt"
pm eval "$tmp/large.gpt" --pass "$wrong" --jobs 1 --check-only
grep Found "$tmp/err" | head -n 1 | grep -q 'Found on hidden shape ' && grep -q 'Found on variant as written' "$tmp/err"
tap "a hidden shape comes before a variant that is large"
! grep -q 'On the hidden' "$tmp/out" && grep -q 'INCORRECT (as written)' "$tmp/out"
tap "and counts for nothing where the variant is wrong as well"
pm eval "$tmp/silu.gpt" --pass "$silu"
! grep -q Found "$tmp/err"
tap "nothing is found where nothing is wrong"

pm eval "$tmp/silu.gpt" --pass "$silu" --jobs -1 --quiet
exits 2 "--jobs -1"
tap_done
