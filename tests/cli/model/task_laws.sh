#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# task_laws.sh - the statistics of a model's inputs act on its task: packed, read back, judged, exported; a task without
# them draws as before.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

db=$tmp/k.db
net()
{
	echo 'm (float[8,64] x, float[64,32] w) => (float[8,32] y) { g = MatMul (x, w)'
	echo ' s = Sigmoid (g)'
	echo ' y = Mul (g, s) }'
}
{
	printf '<ir_version: 8, opset_import: ["" : 18], metadata_props: ["tensor_stats": "%s"]>\n' \
		'{\"x\":{\"mean\":55,\"std\":2.89,\"min\":50,\"max\":60,\"law\":\"uniform\"},\"w\":{\"mean\":0,\"std\":0.02,\"min\":-0.05,\"max\":0.05}}'
	net
} >"$tmp/stated.gpt"
net >"$tmp/plain.gpt"

# largest CLASS: the greatest magnitude in the inputs of that class, of all variants of the report in $tmp/out.
largest()
{
	tr -d ' \n' <"$tmp/out" | tr '{' '\n' |
		sed -n "s/^\"class\":\"$1\".*\"largest_input\":\([-0-9.e+]*\).*/\1/p" | sort -g | tail -n 1
}

pm task from "$tmp/stated.gpt" "$tmp/plain.gpt" --db "$db" --shapes 2 --json
exits 0 "a model with statistics, and the same without"
says '"laws": 2' "two inputs have laws"
says '"laws": 0' "and none without statistics"
pm db query "SELECT count(DISTINCT subgraph) FROM variants" --db "$db"
says 4 "what an input is drawn from is a part of what a graph is"
pm task show stated --db "$db"
says '"input_law.v0": "uniform(50, 60)", "input_law.v1": "normal(0, 0.02, -0.05, 0.05)"' "the laws have the task's names"
! grep -q tensor_stats "$tmp/out"
tap "and the names of the model are gone"
pm task show plain --db "$db"
! grep -q input_law "$tmp/out"
tap "a task without them states none"

pm task pack stated --db "$db" -o "$tmp/packs"
exits 0 "it is packed"
pack=$(cat "$tmp/out")
pm task verify "$pack"
exits 0 "and read back"
pm eval "$pack" --pass "$build/passes/silu.so" --check-only --json
exits 0 "and judged"
top=$(largest normal)
awk "BEGIN { exit !($top > 50 && $top < 60) }"
tap "the first class is drawn from the law ($top)"
top=$(largest uniform)
awk "BEGIN { exit !($top > 0.9 && $top <= 1) }"
tap "the others are drawn as ever ($top)"
pm task pack plain --db "$db" -o "$tmp/packs"
pm eval "$(cat "$tmp/out")" --pass "$build/passes/silu.so" --check-only --json
top=$(largest normal)
awk "BEGIN { exit !($top > 1.2 && $top < 50) }"
tap "without a law the first class is as ever ($top)"

# What one version drew, the next must draw: the digests are those of the version before there were laws.
relu='m (float[8,64] x) => (float[8,64] y) { y = Relu (x) }'
echo "$relu" >"$tmp/relu.gpt"
pm run "$tmp/relu.gpt" --device ref
says "sha256:cb36053109a57615" "a graph without laws has the numbers that it always had"
{
	printf '<ir_version: 8, opset_import: ["" : 18], metadata_props: ["tensor_stats": "%s"]>\n' \
		'{\"x\":{\"mean\":0.5,\"std\":0.3,\"min\":-1,\"max\":2}}'
	echo "$relu"
} >"$tmp/relu.gpt"
pm run "$tmp/relu.gpt" --device ref
says "sha256:b45cbfb851b25349" "and so has a run of a model with statistics"

{
	printf '<ir_version: 8, opset_import: ["" : 18], metadata_props: ["input_law.x": "uniform(6, 5)"]>\n'
	net
} >"$tmp/bad.gpt"
pm run "$tmp/bad.gpt" --device ref
exits 4 "a law that is none"
one_sentence "is one sentence"
warns "input 'x': The law 'uniform(6, 5)'" "that names the input"
tap_done
