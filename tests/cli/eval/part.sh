#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# part.sh - eval of a part of the variants: which, that it has no score, and what fails as files that can be run again.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu_graph "float[8,64]"
silu=$build/passes/silu.so
wrong=$build/tests/plugin/wrong_silu.so

# variants FILE: how many records a report has.
variants()
{
	grep -c '"coverage":' "$1"
}
why()
{
	sed -n 's/^ *"why": *"\(Too far off[^"]*\)".*/\1/p' "$1" | head -n 1
}

pm eval "$tmp/silu.gpt" --pass "$silu" --only 0 --only 5 --hidden 0 -o "$tmp/only" --quiet
exits 0 "two variants by number"
[ "$(variants "$tmp/only")" = 2 ] && grep -q '"variant": *"shape 0, float: 8x64"' "$tmp/only"
tap "are evaluated, and the first has number 0"
says "a part, no score" "the table says that a part has no score"
grep -q '"left_out": *28' "$tmp/only" && ! grep -q -e '"AS"' -e '"ES"' -e '"fast_1"' "$tmp/only"
tap "the report of a part has no score either"
pm eval "$tmp/silu.gpt" --pass "$silu" --only 0 --only 5 --hidden 0 --replay "$tmp/only" --quiet
exits 0 "a part is replayed with the same options"
says "2 of 2 verdicts" "and gives the same verdicts"
pm eval "$tmp/silu.gpt" --pass "$silu" --dtype float16 --shape 2 --hidden 0 -o "$tmp/one" --quiet
[ "$(variants "$tmp/one")" = 1 ] && grep -q '"variant": *"shape 2, float16: ' "$tmp/one"
tap "a variant by element type and shape"
pm eval "$tmp/silu.gpt" --pass "$silu" --only 400 --quiet
[ "$code" -ne 0 ] && grep -q "None of the 30 variants" "$tmp/err"
tap "a number that no variant has"
for bad in "--only x" "--only -1" "--dtype float17" "--shape -2" "--shape 99999"; do
	# shellcheck disable=SC2086
	pm eval "$tmp/silu.gpt" --pass "$silu" $bad --quiet
	exits 2 "$bad"
done
pm eval "$tmp/silu.gpt" --pass "$silu" --only 5 --hidden 0 --check-only -o "$tmp/only" --quiet
[ "$code" -eq 0 ] && grep -q '"left_out": *29' "$tmp/only" && [ "$(variants "$tmp/only")" = 1 ]
tap "a part without times"
for part in "--only 0" "--dtype float" "--shape 0" "--fail-fast"; do
	# shellcheck disable=SC2086
	pm eval "$tmp/silu.gpt" --pass "$silu" $part --record "$tmp/rec" --quiet
	[ "$code" -eq 2 ] && [ ! -e "$tmp/rec" ]
	tap "$part makes no record"
done

pm eval "$tmp/silu.gpt" --pass "$wrong" --dtype float16 --fail-fast -o "$tmp/first" --quiet
exits 1 "--fail-fast with a wrong pass"
[ "$(variants "$tmp/first")" = 1 ] && grep -q '"left_out": *29' "$tmp/first"
tap "ends with the first variant on which it fails"
pm eval "$tmp/silu.gpt" --pass "$wrong" --dtype float16 --fail-fast --replay "$tmp/first" -o "$tmp/again" --quiet
[ "$(why "$tmp/first")" = "$(why "$tmp/again")" ] && [ -n "$(why "$tmp/again")" ]
tap "whose report is replayed, to the same sentence"

dir="$tmp/it's failing"
pm eval "$tmp/silu.gpt" --pass "$wrong" --only 1 --only 2 --hidden 0 --save-failing "$dir" -o "$tmp/all" --quiet
exits 1 "--save-failing with a wrong pass"
says "Failing variants: 2 in $dir" "says how many it wrote"
[ "$(grep -c ' eval ' "$dir/replay.sh")" = 2 ] && grep -q '^# shape 0, float16: 8x64: INCORRECT$' "$dir/replay.sh"
tap "a line for each, with what it was"
pm print "$dir/wrong_silu-0.gpt"
exits 0 "the graph is one that can be read"
says "float16[8,64]" "of the variant"
! grep -q -e '"AS"' -e '"ES"' -e '"fast_1"' "$dir/wrong_silu-0.json"
tap "its report has no score"
# Each line by itself, as pasted into a shell that is elsewhere and where PATH has no passmith.
grep ' eval ' "$dir/replay.sh" | while read -r line; do
	(cd / && PATH=/usr/bin:/bin sh -c "$line" </dev/null)
	echo "exit code $?"
done >"$tmp/out" 2>"$tmp/err"
[ "$(grep -c '^exit code 1$' "$tmp/out")" = 2 ]
tap "the lines run anywhere, and fail"
grep -qF "$(why "$tmp/all")" "$tmp/out" && [ "$(grep -c '1 of 1 verdicts are' "$tmp/out")" = 2 ]
tap "with the same sentence"
pm eval "$tmp/silu.gpt" --pass "$wrong" --only 1 --only 2 --hidden 0 --check-only --save-failing "$dir" --quiet --json
is_json "$tmp/out" && [ "$(grep -c ' --check-only --replay ' "$dir/replay.sh")" = 2 ]
tap "--check-only and --json: one value, and lines that take no times either"
pm eval "$tmp/silu.gpt" --pass "$silu" --hidden 1 --save-failing "$tmp/none" --quiet
[ "$code" -eq 0 ] && [ ! -e "$tmp/none" ]
tap "nothing fails, nothing is written"
pm eval "$tmp/silu.gpt" --pass "$wrong" --only 0 --save-failing "$tmp/silu.gpt" --quiet
[ "$code" -ne 0 ] && [ "$code" -ne 1 ] && [ -s "$tmp/err" ]
tap "a file is no folder for them"

# Verdicts of other stages: each line gives the verdict that stands above it.
for pass in half oob unsynced uncompilable mutating; do
	rm -rf "$dir"
	pm eval "$tmp/silu.gpt" --pass "$build/tests/plugin/${pass}_silu.so" --hidden 0 --save-failing "$dir" --quiet
	verdict=$(sed -n 's/^# as written: //p' "$dir/replay.sh")
	sh "$dir/replay.sh" >"$tmp/out" 2>"$tmp/err" </dev/null
	[ -n "$verdict" ] && grep -q " $verdict " "$tmp/out" && grep -q '1 of 1 verdicts are' "$tmp/out"
	tap "$pass: again $verdict"
done

# What nobody can judge does not end --fail-fast, and is no failure of the pass.
cat >"$tmp/none.gpt" <<'END'
g (float[8,64] x) => (float[8,64] y, float[1,64] z)
<int64[1] at = {9}>
{
   a = Sigmoid (x)
   y = Mul (x, a)
   z = Gather <axis = 0> (x, at)
}
END
pm eval "$tmp/none.gpt" --pass "$silu" --only 0 --only 1 --only 2 --fail-fast --save-failing "$tmp/none" -o "$tmp/r" --quiet
[ "$code" -eq 1 ] && [ "$(grep -c '"HARNESS_FAIL"' "$tmp/r")" -gt 1 ] && [ "$(variants "$tmp/r")" = 3 ] && [ ! -e "$tmp/none" ]
tap "what the reference refuses is nobody's failure"

# A stored task: what was evaluated as a part counts for the whole, which is evaluated to its end.
pm extract models/llama_block.gpt --db "$tmp/db" --quiet
pm task make --db "$tmp/db" --for "$silu" --top 1 --name t --shapes 2 --max-elements 4000 --quiet
pm eval t --db "$tmp/db" --pass "$silu" --only 1 --hidden 0 -o "$tmp/p" --quiet
exits 0 "a part of a stored task"
pm eval t --db "$tmp/db" --pass "$silu" --hidden 0 -o "$tmp/w" --quiet
grep -q '"AS"' "$tmp/w" && [ "$(variants "$tmp/w")" -gt 1 ] &&
	grep -qF "$(grep '"secret"' "$tmp/p")" "$tmp/w"
tap "is part of the whole, which has a score"

# Hidden shapes are drawn of the variants at hand: those of a part are not those of the whole.
hidden()
{
	sed -n '/"hidden": {/,/}/s/.*"secret": *"\([0-9a-f]*\)".*/\1/p' "$1"
}
pm eval t --db "$tmp/db" --pass "$silu" --seed 5 --only 1 --only 2 -o "$tmp/p" --quiet
pm eval t --db "$tmp/db" --pass "$silu" --seed 5 -o "$tmp/w" --quiet
pm eval t --db "$tmp/db" --pass "$silu" --seed 5 -o "$tmp/w2" --quiet
[ -n "$(hidden "$tmp/p")" ] && [ -n "$(hidden "$tmp/w")" ] && [ "$(hidden "$tmp/p")" != "$(hidden "$tmp/w")" ] &&
	[ "$(hidden "$tmp/w")" = "$(hidden "$tmp/w2")" ]
tap "what a part saw on hidden shapes is not kept"
tap_done
