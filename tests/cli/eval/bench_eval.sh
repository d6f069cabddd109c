#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench_eval.sh - the tool behind `make bench-eval` on two small graphs, and its page; no time is looked at.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

if ! command -v python3 >/dev/null; then
	skip "bench-eval" "python3 is not here"
	tap_done
fi

bench()
{
	code=0
	TMPDIR=$tmp tools/bench/bench_eval.py --build "$build" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}

# there PATTERN: it stands for something.
there()
{
	[ -e "$1" ]
}

# runs FILE CASE VERDICT N: so many runs of that case ended with that verdict.
runs()
{
	[ "$(grep -c "\"case\": \"$2\".*\"verdict\": \"$3\"" "$1")" -eq "$4" ]
	tap "$4 of $2: $3"
}

tools/bench/eval_graphs.py list >"$tmp/out"
says "60 graphs" "there are 60 graphs"
tools/bench/eval_graphs.py write "$tmp/graphs"
for g in "$tmp"/graphs/*.gpt; do
	pm print "$g"
	[ "$code" -eq 0 ] || break
done
exits 0 "each of them can be read"

bench --device emu --rounds 1 --only silu_10 --only padding_mask --json "$tmp/both.json"
exits 0 "two graphs are measured"
runs "$tmp/both.json" quick OK 2
runs "$tmp/both.json" first OK 2
runs "$tmp/both.json" second OK 2
runs "$tmp/both.json" wrong INCORRECT 1
[ "$(grep -c '"stages": {"[a-z]' "$tmp/both.json")" -eq 7 ]
tap "each run has its stages"
says "unexpected verdicts: 0" "a summary"
is_json "$tmp/both.json"
tap "the file is JSON"
cp "$tmp/both.json" "$tmp/before.json"
bench --device emu --rounds 1 --only silu_10 --only padding_mask --json "$tmp/both.json"
! grep -q ' round ' "$tmp/out" && cmp -s "$tmp/before.json" "$tmp/both.json"
tap "the same again measures nothing"
! there "$tmp"/bench-eval-*
tap "no cache and no graph is left behind"

# Ended from outside, as soon as an evaluation has its cache: it ends the evaluation, and takes its graphs away.
TMPDIR=$tmp tools/bench/bench_eval.py --build "$build" --device emu --rounds 1 --only softmax_large --json "$tmp/t.json" >"$tmp/out" 2>&1 &
pid=$!
n=0
while [ $n -lt 600 ] && ! there "$tmp"/bench-eval-[!g]*/*; do
	sleep 0.1
	n=$((n + 1))
done
kill $pid
wait $pid
[ $? -eq 143 ] && ! there "$tmp"/bench-eval-graphs-*
tap "ended from outside it takes its graphs away"

bench --device emu --rounds 1 --limit 0.01 --shard 0/2 --only silu_10 --only padding_mask --json "$tmp/a.json"
exits 0 "runs that take too long do not end it"
runs "$tmp/a.json" first LIMIT 1
says "silu_10 round 0: LIMIT it was ended at --limit" "and are named"
bench --device emu --rounds 1 --limit 0.01 --shard 1/2 --only silu_10 --only padding_mask --json "$tmp/b.json"
bench --merge "$tmp/m.json" "$tmp/a.json" "$tmp/b.json"
exits 0 "two shards are merged"
runs "$tmp/m.json" second LIMIT 2
bench --json "$tmp/x.json" --only no_such_graph
warns "there is no graph no_such_graph" "a graph that is not there is named"
bench --json "$tmp/x.json" --shard 2/2
warns "--shard takes I/N" "so is a wrong shard"

# Time that is over is no failure: what is missing is named, and comes next time.
bench --device emu --rounds 2 --budget 0.01 --only silu_10 --only padding_mask --json "$tmp/c.json"
exits 0 "a budget of no time"
says "round 0: silu_10, padding_mask" "names what is missing" && says "round 1: silu_10, padding_mask" "in each round"
bench --device emu --gpu-only --json "$tmp/d.json"
exits 0 "the graphs for a GPU alone" && ! grep -q round "$tmp/out"
tap "are none for emu"

# many ARG...: the tool behind `make bench-eval-many`.
many()
{
	code=0
	TMPDIR=$tmp tools/bench/eval_many.py --build "$build" --json "$tmp/many.json" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}
mkdir "$tmp/few"
for g in silu_10 padding_mask polynomial; do
	cp "$tmp/graphs/$g.gpt" "$tmp/few"
done
many --graphs "$tmp/few" --jobs 1 --group 2 --budget 0.01
exits 2 "many graphs in no time"
says "3 graphs are missing, from padding_mask.gpt on" "are missing"
many --graphs "$tmp/few" --jobs 1 --group 2
exits 0 "three graphs in two groups"
says "3 of 3: 1 in " "go on" && says "OK 3; TIMING_UNSTABLE 0.0 %" "and are counted"
cp "$tmp/many.json" "$tmp/before.json"
many --graphs "$tmp/few" --jobs 1 --group 2
cmp -s "$tmp/before.json" "$tmp/many.json" && is_json "$tmp/many.json"
tap "the same again measures nothing"
many --graphs "$tmp/few" --jobs 3
exits 0 "three at once"
many --compare 1 3
exits 0 "agree with one at a time"
says "3 graphs: 0 with another verdict" "on all graphs"
sed 's/"verdict": "OK"/"verdict": "INCORRECT"/' "$tmp/before.json" >"$tmp/many.json"
many --graphs "$tmp/few" --jobs 3 && many --compare 1 3
exits 1 "what does not agree is found"
many --compare 1 9
warns "has no run with --jobs 9" "a run that is not there is named"
! there "$tmp"/eval-many-*
tap "no cache is left behind"
tools/gen/eval_page.py "$tmp/both.json" "$tmp/page.md" "$tmp/before.json" && grep -q '^| emu |.*| 1 | 3 of 3 |.*| OK 3 | 0.0 % |' "$tmp/page.md"
tap "the page has a row for it"

tools/gen/eval_page.py "$tmp/both.json" "$tmp/page.md" && tools/gen/eval_page.py --check "$tmp/both.json" "$tmp/page.md"
tap "a page is made of it"
grep -q '^| emu | first answer (.--quick.) | 2 |' "$tmp/page.md" && grep -q '| quick: median, s |' "$tmp/page.md"
tap "with the first answers"
sed '/"case": "quick"/d' "$tmp/both.json" >"$tmp/old.json"
tools/gen/eval_page.py "$tmp/old.json" "$tmp/old.md" && ! grep -q quick "$tmp/old.md"
tap "and of numbers from before there were any"
sed -i 's/| emu | first candidate | 2 /| emu | first candidate | 3 /' "$tmp/page.md"
! tools/gen/eval_page.py --check "$tmp/both.json" "$tmp/page.md" 2>"$tmp/err"
tap "a changed number is found"
warns "is not what both.json gives" "and named"
tools/gen/eval_page.py "$tmp/m.json" "$tmp/page.md" && grep -q '| .silu_10. | first candidate | 0 | LIMIT |' "$tmp/page.md"
tap "runs that ended otherwise are listed"
tools/gen/eval_page.py --check 2>"$tmp/err"
tap "docs/results/evaluation-time.md is what its numbers give"
tap_done
