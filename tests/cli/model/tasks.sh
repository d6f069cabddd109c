#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tasks.sh - from models to a benchmark and to packs: extract, build, check, pack, verify, unpack, evaluate, and the database's
# copies.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

db=$tmp/set.db
pm extract "$build"/models/*.onnx --db "$db" --quiet
exits 0 "extract the bundled models"
pm task build --db "$db" --eval 3 --ratio 1 --stride 1 --honest 1 --quiet
exits 0 "a benchmark of 3 tasks and as many to train on"
says "eval:  3 tasks" "the eval tasks are counted"
says "0 leaks" "nothing leaks"
pm task build --db "$db" --eval 3 --ratio 1 --stride 1 --honest 1 --quiet --json
exits 0 "build again"
json "build --json is JSON"
says '"eval_tasks": 3' "the same tasks"
says '"rejected_now": {' "it goes on where it stopped"
grep -q '"rejected_now": {}' "$tmp/out" || grep -A 1 '"rejected_now": {' "$tmp/out" | grep -q '}'
tap "nothing is judged twice"
rev=
for m in "$build"/models/*.onnx; do rev="$m $rev"; done
# shellcheck disable=SC2086 # paths of the build folder
pm extract $rev --db "$tmp/rev.db" --quiet
pm task build --db "$tmp/rev.db" --eval 3 --ratio 1 --stride 1 --honest 1 --quiet
exits 0 "the same from models in the other order"
pm db export --db "$db" -o "$tmp/fwd.jsonl"
pm db export --db "$tmp/rev.db" -o "$tmp/rev.jsonl"
[ -s "$tmp/fwd.jsonl" ] && cmp -s "$tmp/fwd.jsonl" "$tmp/rev.jsonl"
tap "both databases export the same bytes, tasks and gate reports included"
pm task show "$("$passmith" task list --db "$db" --split eval | awk 'NR == 1 { print $2 }')" --db "$db"
says "on the reference: whole" "each variant says how the reference ran it"
! grep '^# variant' "$tmp/out" | grep -v "on the reference: \(whole\|proxy, \)"
tap "none is left out"
# Constant indices: with fewer than four rows they would leave their axis, and no such variant is made.
printf 'm (float[4,16] x, float[4,16] z) => (float[4,16] y, float[4,16] w)\n<int64[4] k = {0, 1, 2, 3}, int64 zero = {0}> {\n i = ArgMax <axis = 1, keepdims = 0> (x)\n j = ReduceMax <axes = [0], keepdims = 0> (i)\n o = Mul (j, zero)\n p = Add (k, o)\n u = Unsqueeze <axes = [1]> (p)\n a = Tanh (x)\n w = Exp (a)\n g = GatherND (a, u)\n b = Mul (g, z)\n y = Tanh (b)\n}\n' >"$tmp/rows.gpt"
pm extract "$tmp/rows.gpt" --db "$tmp/rows.db" --quiet
pm task build --db "$tmp/rows.db" --eval 1 --ratio 0 --honest 0 --quiet --json
exits 0 "a task of a graph with constant indices"
says '"shapes_dropped_now": 0' "no shape is made that does not run"
pm db query "SELECT count(*) FROM variants JOIN ref_runs USING (subgraph) WHERE how = 'whole'" --db "$tmp/rows.db"
says "30" "all ten shapes run"

pm task build --db "$db" --eval 2 --quiet
exits 4 "other options need --rebuild"
warns "--rebuild" "and the sentence says so"
pm task check --db "$db"
exits 0 "the checker finds no leak"
pm task list --db "$db" --split eval --json
json "list --json is JSON"
says '"gate": "ok"' "every task passed the gate"
eval_task=$("$passmith" task list --db "$db" --split eval | awk 'NR == 1 { print $2 }')
pm task gate "$eval_task" --db "$db" --honest 0
exits 0 "the gate passes a task again"

pm mine --db "$db" --top 8 -o "$tmp/mined" --quiet
exits 0 "mine"
says "at stake" "structures are ranked"
pm mine --db "$db" --top 2 --quiet --json
json "mine --json is JSON"
n=0
for c in "$tmp"/mined/*.c; do
	name=$(basename "$c" .c)
	pm build "$c"
	exits 0 "$name: the mined pass compiles"
	pm check "${c%.c}.so"
	exits 0 "$name: and is a good plugin"
	pm explain "${c%.c}.gpt" --pass "${c%.c}.so"
	says "the kernel is not written yet" "$name: it matches where it came from"
	n=$((n + 1))
done
[ $n -ge 5 ]
tap "at least five of eight structures have a pattern ($n)"

for m in llama_block bert_encoder_layer; do
	pm apply "models/$m.gpt" --passes "$build/passes" -o "$tmp/$m.onnx"
	exits 0 "$m: apply all passes"
	says "saved" "$m: launches and bytes saved are reported"
	pm run "models/$m.gpt" --device ref
	cp "$tmp/out" "$tmp/want"
	pm run "$tmp/$m.onnx" --device ref
	sed 's/^[^:]*: //' "$tmp/want" >"$tmp/want.1"
	sed 's/^[^:]*: //' "$tmp/out" | cmp -s - "$tmp/want.1"
	tap "$m: the rewritten model gives the same results on ref"
done
pm apply models/llama_block.gpt --pass "$build/passes/silu.so" -o "$tmp/llama.gpt"
pm run "$tmp/llama.gpt"
exits 0 "apply writes text where the name says so"
pm apply models/llama_block.gpt --passes "$build/passes" -o "$tmp/llama.onnx" --json
json "apply --json is JSON"

pm task pack --split eval -o "$tmp/packs" --db "$db" --quiet
exits 0 "pack"
pm task verify "$tmp/packs"
exits 0 "verify"
says "3 packs verified" "all packs are verified"
pm task unpack "$tmp/packs" --db "$tmp/other.db"
exits 0 "unpack"

# tampered NAME WORD: the pack that was changed in $tmp/bad is refused, and says why.
tampered()
{
	grep -q . "$tmp/bad/task.json" && pm task verify "$tmp/bad"
	[ "$code" -eq 4 ] && grep -qF -e "$2" "$tmp/err"
	tap "S95_tampered_pack: $1"
	pm task unpack "$tmp/bad" --db "$tmp/bad.db"
	[ "$code" -eq 4 ]
	tap "S95_tampered_pack: $1: nothing of it is unpacked"
}
pack=$(dirname "$(find "$tmp/packs" -name task.json | head -n 1)")
fresh()
{
	rm -rf "$tmp/bad" && cp -r "$pack" "$tmp/bad"
	first=$(find "$tmp/bad/graphs" -type f | LC_ALL=C sort | head -n 1)
	other=$(find "$tmp/bad/graphs" -type f | LC_ALL=C sort | tail -n 1)
}
fresh
printf x >>"$first"
tampered "a member with a byte more" "is not the file that task.json describes"
fresh
cp "$other" "$first"
sed -i "s/\"sha256\": *\"[0-9a-f]*\"/\"sha256\": \"$(sha256sum "$first" | cut -d' ' -f1)\"/" "$tmp/bad/task.json"
tampered "another graph with its digest" "damaged"
fresh
sed -i 's,"graphs/,"graphs/../graphs/,' "$tmp/bad/task.json"
tampered "a path that leads elsewhere" "not named graphs/NAME"
fresh
mv "$first" "$tmp/kept.member" && ln -s "$tmp/kept.member" "$first"
tampered "a link for a member" "is a link"
fresh
mv "$tmp/bad/graphs" "$tmp/kept.graphs" && ln -s "$tmp/kept.graphs" "$tmp/bad/graphs"
tampered "a link for the folder" "graphs is a link"
fresh
rm "$first" && mkfifo "$first"
tampered "a pipe for a member" "bad/graphs/"
pm task pack --split eval -o "$tmp/packs2" --db "$tmp/other.db" --quiet
diff -r "$tmp/packs" "$tmp/packs2" >/dev/null
tap "packing what was unpacked gives the same files"

pack=$(dirname "$(find "$tmp/packs" -name task.json | sort | head -n 1)")
pm eval "$pack" --pass "$build/passes/silu.so" --summary --quiet
[ "$code" -le 1 ]
tap "a pack is evaluated"
says "silu" "and the pass has a line"
sums()
{
	find "$pack" -type f -exec sha256sum {} + | sort
}
sums >"$tmp/before"
for k in 1 2; do
	"$passmith" eval "$pack" --pass "$build/passes/silu.so" --summary --quiet >"$tmp/eval.$k" 2>&1 </dev/null &
done
wait
# Each draws its own inputs, so that the line of the pass is what has to be the same.
grep "^  silu" "$tmp/eval.1" >"$tmp/line.1"
grep "^  silu" "$tmp/eval.2" >"$tmp/line.2"
cat "$tmp/eval.1" "$tmp/eval.2" >"$tmp/out"
[ -s "$tmp/line.1" ] && cmp -s "$tmp/line.1" "$tmp/line.2"
tap "two evaluations at once say the same"
sums | cmp -s - "$tmp/before"
tap "and leave the pack as it was"
pm eval "$pack" --pass "$build/passes/silu.so" --db "$tmp/other.db" --summary --quiet
pm db query "SELECT count(*) > 0 AS kept FROM results" --db "$tmp/other.db"
tail -n 1 "$tmp/out" | grep -qx 1
tap "with a database the results are kept"
pm task gate models/llama_block.gpt --honest 0 --json
json "gate --json of a model file is JSON"
graph=$(find "$pack/graphs" -name '*.onnx' | sort | head -n 1)
printf x >>"$graph"
pm task verify "$pack"
exits 4 "a changed file is found"
warns "$(basename "$graph")" "and named"

pm db stats --db "$db" --json
json "stats --json is JSON"
pm db report --db "$db" -o "$tmp/report.html"
exits 0 "a report on one page"
n=$("$passmith" db query "SELECT count(*) FROM occurrences" --db "$db" | tail -n 1)
grep -q "places in models</text>.*>$n</text>" "$tmp/report.html"
tap "with the number of places ($n)"
if command -v python3 >/dev/null; then
	python3 -c "import sys, xml.dom.minidom as m; t = open(sys.argv[1]).read().replace('<!DOCTYPE html>', '').replace('<meta charset=\"utf-8\">', '')
m.parseString(t)" "$tmp/report.html" 2>/dev/null
	tap "and every tag is closed"
else
	skip "and every tag is closed" "there is no python3"
fi
pm db query "SELECT rule, count(*) AS n FROM rejected GROUP BY rule" --db "$db"
exits 0 "a question in SQL"
pm db query "DELETE FROM tasks" --db "$db"
exits 4 "a question that would write is refused"
pm db export --db "$db" -o "$tmp/a.jsonl"
exits 0 "export"
pm db import "$tmp/a.jsonl" --db "$tmp/copy.db"
exits 0 "import"
pm db export --db "$tmp/copy.db" -o "$tmp/b.jsonl"
cmp -s "$tmp/a.jsonl" "$tmp/b.jsonl"
tap "the copy exports the same bytes"
pm task unpack "$tmp/packs2" --db "$tmp/third.db"
pm db merge "$tmp/third.db" --db "$tmp/copy.db"
exits 0 "merge"
pm db vacuum --db "$tmp/copy.db"
exits 0 "vacuum"
pm db export --db "$tmp/copy.db" -o "$tmp/b.jsonl"
cmp -s "$tmp/a.jsonl" "$tmp/b.jsonl"
tap "what was merged was there"

# Every graph has a category, and a task the one of its first variant's graph.
pm db query "SELECT count(*) FROM subgraphs WHERE category = ''" --db "$db"
grep -qx '[^0-9]*0' "$tmp/out" || tail -n 1 "$tmp/out" | grep -qx ' *0'
tap "every stored graph has a category"
pm task list --db "$db" --json
[ "$(grep -c '"category": "[a-z]*"' "$tmp/out")" -gt 1 ] && [ "$(grep -c '"category": ' "$tmp/out")" -eq "$(grep -c '"gate": ' "$tmp/out")" ]
tap "every task has one"
all=$(grep -c '"category": ' "$tmp/out")
sum=0
for c in $(sed -n 's/^ *"category": "\(.*\)",$/\1/p' "$tmp/out" | sort -u); do
	pm task list --db "$db" --category "$c" --json
	n=$(grep -c '"category": ' "$tmp/out")
	[ "$n" -ge 1 ] && [ "$n" -eq "$(grep -c "\"category\": \"$c\"" "$tmp/out")" ]
	tap "task list --category $c lists those alone"
	sum=$((sum + n))
done
[ "$sum" -eq "$all" ]
tap "and together all"
pm task list --db "$db" --category nothing
exits 4 "a category that there is not"
warns "There is no category 'nothing'" "is named"
pm db report --db "$db"
says "Tasks by category" "the report counts tasks by category"
says "Extracted graphs by category" "and graphs"
tap_done
