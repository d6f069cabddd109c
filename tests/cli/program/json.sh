#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# json.sh - what --json prints is JSON, one value on stdout.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

model=models/llama_block.gpt

# The check itself: it must be able to fail.
for bad in '{"a":1' '{"a":1}}' '{"a" 1}' '[1,]' '{"a":1,}' '' '{"a":x}' '{"a":1}{"b":2}'; do
	printf '%s' "$bad" >"$tmp/bad"
	! is_json "$tmp/bad"
	tap "no JSON: $bad"
done
printf '{"a": [1, -2.5e-3, "x\\"y", {}], "b": {"c": null}, "d": []}' >"$tmp/good"
is_json "$tmp/good"
tap "JSON with everything in it"

pm doctor --json
json "doctor"
says '"what"' "doctor lists what it looked for"
says '"usable"' "doctor says whether the program is usable"
pm import $model --json
json "import"
pm print $model --json
json "print"
pm run $model --device ref --json
json "run"
says '"device"' "run names the device"
pm check "$build/passes/silu.so" --json
json "check"
pm explain $model --pass "$build/passes/silu.so" --json
json "explain"
pm eval $model --pass "$build/passes/silu.so" --json
json "eval"
pm new made_here --dir "$tmp" --json
json "new"
pm build "$tmp/made_here.c" --json
json "build"
pm extract $model --db "$tmp/j.db" --json
json "extract"
for args in "task list" "db stats" "db report" "db report -o $tmp/report.html" "db export -o $tmp/j.jsonl" "db vacuum" "mine"; do
	# shellcheck disable=SC2086
	pm $args --db "$tmp/j.db" --json
	json "$args"
done
mkdir "$tmp/empty"
pm conform "$tmp/empty"
exits 4 "conform on a folder without cases"
tap_done
