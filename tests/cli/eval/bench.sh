#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench.sh - passmith bench: systems in one table, from evaluations and from imported times.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

cat >"$tmp/m.gpt" <<'GRAPH'
m (float[8,32] x) => (float[8,32] y) { s = Sigmoid(x)
 y = Mul(x, s) }
GRAPH
pm extract "$tmp/m.gpt" --db "$tmp/w.db"
pm task make --db "$tmp/w.db" --top 1 --name t --shapes 2
exits 0 "a task"
pm bench --db "$tmp/w.db" --baselines eager,silu,other="$build/passes/bias_gelu.so" -o "$tmp/o"
exits 0 "bench"
says "modelled time (nothing was measured); speedup over eager, 6 graphs" "it says that nothing was measured"
grep -Eq '^  silu +6 +6 +6 +6 ' "$tmp/out"
tap "silu is timed, right, applied and faster on all six"
grep -Eq '^  other +6 +6 +0 +0 +1.000 ' "$tmp/out"
tap "a pass that declines is the eager run"
for f in bench.json bench.txt es_t.svg speedup.svg; do
	[ -s "$tmp/o/$f" ]
	tap "$f is there"
done
is_json "$tmp/o/bench.json"
tap "bench.json is JSON"
cp "$tmp/o/bench.json" "$tmp/first.json"
pm bench --db "$tmp/w.db" --baselines eager,silu,other="$build/passes/bias_gelu.so" --stored -o "$tmp/o"
exits 0 "again from what is stored"
cmp -s "$tmp/first.json" "$tmp/o/bench.json"
tap "the same table to the byte"

# On a terminal the bar of one task counts the graphs of every pass, and ends full.
if command -v script >/dev/null; then
	script -qec "$build/passmith bench --db $tmp/w.db --baselines eager,silu,other=$build/passes/bias_gelu.so" /dev/null >"$tmp/out" </dev/null
	grep -qF '] 12/12' "$tmp/out" && ! grep -oE '\] [0-9]+/[0-9]+' "$tmp/out" | grep -qvE '^\] ([0-9]|1[0-2])/12$'
	tap "a bar of two passes and six graphs counts twelve"
else
	skip "a bar of two passes and six graphs counts twelve" "script is not here"
fi

cat >"$tmp/one.gpt" <<'GRAPH'
one (float[8,32] x) => (float[8,32] y) <float k = {1}> { s = Sigmoid(x)
 t = Mul(x, s)
 y = Mul(t, k) }
GRAPH
pm extract "$tmp/one.gpt" --db "$tmp/a.db"
pm task make --db "$tmp/a.db" --top 1 --name a --shapes 2
exits 0 "a task with a product by one"
pm bench --db "$tmp/a.db" --baselines eager,silu
says "stratum algebraic: 6 graphs" "what clean-up alone gains is reported apart"

pm task export t --db "$tmp/w.db" --torch "$tmp/d"
hash=$(sed -n 's/.*"graph": "\([0-9a-f]*\)".*/\1/p' "$tmp"/d/000_*/case.json)
grep -q '"tolerance": {"torch.float32": \[\[-10, 1e-10, ' "$tmp"/d/000_*/case.json
tap "an export carries the ladder of tolerances"
cat >"$tmp/torch.json" <<TIMES
{"kind": "torch_bench", "torch": "2.11.0", "device": "GPU X", "records": [
 {"graph": "$hash", "times": {"torch eager": {"cold": {"seconds": 12e-6}, "replay": {"seconds": 10e-6}},
  "torch inductor": {"cold": {"seconds": 6e-6}, "replay": {"seconds": 4e-6}, "smallest_t": -3}}}]}
TIMES
pm results import "$tmp/torch.json" --db "$tmp/w.db"
exits 0 "import"
pm bench t --db "$tmp/w.db" --baselines torch-eager,torch-inductor --against torch-eager --stored
exits 0 "bench of imported times"
grep -Eq '^  torch-inductor +1 +0 +1 +0 ' "$tmp/out"
tap "an answer right at t = -3 only is timed, not right"
says "GPU time, caches cold; speedup over torch-eager" "a table for each clock"

cat >"$tmp/quick.json" <<TIMES
{"kind": "passmith_time", "device": "GPU X", "records": [
 {"graph": "$hash", "times": {"passmith eager": {"replay": {"seconds": 9e-6}},
  "passmith silu": {"replay": {"seconds": 9e-6}, "changed": false, "smallest_t": -10}}}]}
TIMES
pm results import "$tmp/quick.json" --db "$tmp/w.db"
says "2 times stored" "quick times are imported too"
pm bench t --db "$tmp/w.db" --baselines torch-eager,timed-silu --against torch-eager --stored
grep -Eq '^  timed-silu +1 +1 +0 +1 +1.111 ' "$tmp/out"
tap "quick times of a pass that declined: right, unchanged, 10 us over 9 us"
sed 's/GPU X/GPU Y/; s/passmith silu/passmith other/' "$tmp/quick.json" >"$tmp/y.json"
pm results import "$tmp/y.json" --db "$tmp/w.db"
pm bench t --db "$tmp/w.db" --baselines torch-eager,timed-other --against torch-eager --stored
[ "$code" -eq 4 ]
tap G12_baseline_of_another_machine
warns "timed on GPU X by torch-eager and on GPU Y by timed-other" "both machines are named"
many=eager
for k in $(seq 24); do
	many=$many,pass$k="$build/passes/silu.so"
done
pm bench --db "$tmp/w.db" --baselines "$many" --stored
[ "$code" -eq 4 ]
tap G18_no_pass_is_left_out_silently
warns "'pass24=" "the one too many is named"
pm time "$tmp/m.gpt" --device emu --pass "$build/passes/silu.so"
warns "The device emu has no clock" "no times where there is no clock"
pm time "$tmp/m.gpt" --device emu --pass "$tmp/none.so"
warns "There is no pass $tmp/none.so" "a pass that is not there"
pm time "$tmp/m.gpt" --device emu --pass "$build/tests/plugin/misbehaves.so"
says "went wrong" "a pass that goes wrong is no pass that declines"
# A graph that the file has times of is not timed again: without a clock, that is all that can be had.
target=$tmp/m.gpt
cat >"$tmp/times.json" <<JSON
{"kind": "passmith_time", "device": "@", "tf32": false, "graphs": false, "records": [
 {"target": "$target", "graph": "$hash", "times": {"passmith eager": {"replay": {"seconds": 9e-6}}}},
 {"target": "$target", "graph": "$hash", "error": "The GPU fell over."}]}
JSON
pm time "$target" --device emu --resume -o "$tmp/times.json"
exits 4 "times of another device are not gone on with"
device=$(sed -n "s/.* this is '\\([^']*\\)'.*/\\1/p" "$tmp/err")
sed -i "s/@/$device/" "$tmp/times.json"
pm time "$target" --device emu --resume -o "$tmp/times.json"
exits 0 "a run that is resumed where it was over"
[ "$(grep -c '"times"' "$tmp/times.json")" -eq 1 ] && ! grep -q error "$tmp/times.json"
tap "the times stay, the failure is gone"
pm time "$target" --device emu --resume -o "$tmp/times.json" --graphs
exits 4 "times of other options are not gone on with"
one_sentence "which is said in one sentence"
pm time "$target" --device emu --resume
exits 2 "--resume without a file"
pm bench --db "$tmp/w.db" --baselines eager,silu --stored --shapes 1
says "speedup over eager, 3 graphs" "the first shapes only"
pm task export t --db "$tmp/w.db" --torch "$tmp/first" --shapes 1
says "3 graphs in" "export of the first shapes only"
pm bench --db "$tmp/w.db" --baselines eager,none
exits 4 "an unknown system"
one_sentence "it is named in one sentence"
pm bench --db "$tmp/w.db" --baselines eager,silu,silu
exits 4 "a system given twice"
pm bench --db "$tmp/w.db" --baselines silu
exits 4 "the reference is not among them"
# A line a category, where there are several, and a row of each in JSON.
cat >"$tmp/rows.gpt" <<'GRAPH'
rows (float[8,32] x) => (float[8] y) { e = Exp(x) y = ReduceMax <axes = [1], keepdims = 0> (e) }
GRAPH
pm extract "$tmp/rows.gpt" "$tmp/m.gpt" --db "$tmp/kinds.db" --quiet
pm task make --db "$tmp/kinds.db" --top 9 --shapes 1
exits 0 "tasks of two categories"
pm bench --db "$tmp/kinds.db" --baselines eager,silu
grep -Eq '^  category activation: [0-9]+ graphs?$' "$tmp/out" && grep -Eq '^  category reduce: [0-9]+ graphs?$' "$tmp/out"
tap "bench has a part for each category"
sed -n '/category reduce/,/category/p' "$tmp/out" | grep -Eq '^  silu +[1-9][0-9]* +[1-9][0-9]* +0 +0 +1.000 '
tap "silu changes nothing of reduce"
pm bench --db "$tmp/kinds.db" --baselines eager,silu --stored --json
grep -q '"category": "reduce"' "$tmp/out" && grep -q '"category": "activation"' "$tmp/out"
tap "and a row in JSON"
# Several tasks at once: the same rows, and one that cannot be evaluated is one that was not.
rest='y = Mul(x, s)'
for k in 1 2 3 4; do
	rest="t$k = Mul(x, s) $(echo "$rest" | sed "s/Mul(x, s)/Exp(t$k)/")"
	echo "m$k (float[8,32] x) => (float[8,32] y) { s = Sigmoid(x) $rest }" >"$tmp/m$k.gpt"
	pm extract "$tmp/m$k.gpt" --db "$tmp/many.db" --quiet
	pm task make --db "$tmp/many.db" --top 1 --name "t$k" --shapes 1 --quiet
done
pm task list --db "$tmp/many.db"
[ "$(grep -c "variants " "$tmp/out")" -eq 4 ]
tap "four tasks"
cp "$tmp/many.db" "$tmp/many1.db"
# counts FILE: how many are timed, right, applied and faster, and by how much: what does not hang on draws.
counts()
{
	awk '$1 == "silu" || $1 == "eager" { print $1, $2, $3, $4, $5, $6 }' "$1"
}
pm bench --db "$tmp/many1.db" --baselines eager,silu --hidden 0 -j 1 --quiet -o "$tmp/o1"
exits 0 "bench of several tasks, one at a time"
pm bench --db "$tmp/many.db" --baselines eager,silu --hidden 0 -j 4 --quiet -o "$tmp/o4"
exits 0 "four at once"
[ "$(counts "$tmp/o1/bench.txt")" = "$(counts "$tmp/o4/bench.txt")" ] && counts "$tmp/o4/bench.txt" | grep -q '^silu [1-9]'
tap "give the same table"
pm bench --db "$tmp/many.db" --baselines eager,silu --hidden 0 --stored -o "$tmp/o5" --quiet
cmp -s "$tmp/o4/bench.json" "$tmp/o5/bench.json"
tap "of which all is stored"

pm bench --db "$tmp/w.db" --split eval
exits 4 "no task of that split"
pm bench
exits 2 "no database"
tap_done
