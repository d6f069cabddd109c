#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# field.sh - passmith bench --view: tables of published benchmarks, of attempts whose figures are known by hand.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# Four problems. Tags: 1 and 2 are of level 1, 3 is of level 2; 4 is of another suite and has no level.
rest='y = Mul(x, s)'
for k in 1 2 3 4; do
	rest="t$k = Mul(x, s) $(echo "$rest" | sed "s/Mul(x, s)/Exp(t$k)/")"
	echo "m$k (float[8,32] x) => (float[8,32] y) { s = Sigmoid(x) $rest }" >"$tmp/m$k.gpt"
	pm extract "$tmp/m$k.gpt" --db "$tmp/plain.db" --quiet
	pm task make --db "$tmp/plain.db" --top 1 --name "t$k" --shapes 1 --quiet
done
pm db export --db "$tmp/plain.db" -o "$tmp/plain.jsonl"
exits 0 "four tasks, exported"
sed -e '/"name":"t[12]"/s/"tags":{}/"tags":{"level":"1","suite":"kernelbench","category":"math"}/' \
	-e '/"name":"t3"/s/"tags":{}/"tags":{"level":"2","suite":"kernelbench","category":"activation"}/' \
	-e '/"name":"t4"/s/"tags":{}/"tags":{"suite":"other"}/' "$tmp/plain.jsonl" >"$tmp/tagged.jsonl"
pm db import "$tmp/tagged.jsonl" --db "$tmp/f.db"
exits 0 "tags are imported"

# stored_times TASK SYSTEM MICROSECONDS [SMALLEST_T]: a record for each graph of a task.
stored_times()
{
	grep '"row":"task"' "$tmp/plain.jsonl" | grep "\"name\":\"$1\"" | grep -o '"subgraph":"[0-9a-f]*"' |
		sort -u | sed "s/.*:\"\(.*\)\"/ {\"graph\": \"\1\", \"times\": {\"$2\": {\"replay\": {\"seconds\": ${3}e-6}, \"smallest_t\": ${4:--10}}}},/"
}
{
	echo '{"kind": "torch_bench", "torch": "2.11.0", "device": "GPU X", "records": ['
	for k in 1 2 3 4; do stored_times t$k "torch eager" 12; done
	stored_times t1 "torch inductor" 6
	stored_times t2 "torch inductor" 24
	stored_times t3 "torch inductor" 12
	stored_times t4 "torch inductor" 12
	echo ' {"graph": "0000", "times": {}}]}'
} >"$tmp/torch.json"
{
	echo '{"kind": "passmith_time", "device": "GPU X", "records": ['
	stored_times t1 "passmith a" 6
	stored_times t2 "passmith a" 4 -3
	stored_times t3 "passmith a" 24
	stored_times t1 "passmith b" 24
	stored_times t2 "passmith b" 8
	stored_times t3 "passmith b" 3
	echo ' {"graph": "0000", "times": {}}]}'
} >"$tmp/pass.json"
pm results import "$tmp/torch.json" --db "$tmp/f.db"
exits 0 "times of the baselines"
pm results import "$tmp/pass.json" --db "$tmp/f.db"
exits 0 "times of two attempts"

# Over torch-eager: a is 2, wrong, 0.5; b is 0.5, 1.5, 4; inductor is 2, 0.5, 1.
view()
{
	pm bench --db "$tmp/f.db" --baselines torch-eager,torch-inductor,timed-a,timed-b --against torch-eager \
		--stored --suite kernelbench "$@"
}
# row SYSTEM GROUP: the figures of a row, one blank between two.
row()
{
	sed -n "s/^  $1 *$2  *\([0-9]\)/\1/p" "$tmp/out" | tr -d '[],' | tr -s ' ' | sed 's/ $//'
}
is_row()
{
	[ "$(row "$1" "$2")" = "$3" ]
	tap "$4"
}
# same NAME: the last answer is the golden file of this name (`PM_GOLDEN_UPDATE=1` writes it anew).
same()
{
	[ -z "${PM_GOLDEN_UPDATE-}" ] || cp "$tmp/out" "tests/golden/field/$1"
	diff -u "tests/golden/field/$1" "$tmp/out" >"$tmp/diff"
	tap_same=$?
	[ $tap_same -eq 0 ] || sed 's/^/# /' "$tmp/diff"
	[ $tap_same -eq 0 ]
	tap "$1 is as expected"
}
# problems tried fast_0 fast_0.5 fast_0.8 fast_1 lo hi fast_1.5 fast_2 GMSR_correct AMSR_correct
view --view kernelbench
exits 0 "--view kernelbench"
same kernelbench.txt
is_row timed-a all "3 3 66.7 33.3 33.3 33.3 6.1 79.2 33.3 0.0 1.000 1.250" "a: one of three is fast, 2 is not over 2"
is_row timed-b all "3 3 100.0 66.7 66.7 66.7 20.8 93.9 33.3 33.3 1.442 2.000" "b: the cube root of 3, and 6 / 3"
is_row timed-a 1 "2 2 50.0 50.0 50.0 50.0 9.5 90.5 50.0 0.0 2.000 2.000" "a level of its own"
is_row "all attempts" all "3 3 100.0 100.0 100.0 100.0 43.9 100.0 66.7 33.3 2.289 2.500" "the best of each problem"
says "published, on NVIDIA L40S (2025): KernelBench" "published figures have their hardware, date and source"
says "Measured elsewhere, in no figure above" "and stand apart"
view --view kernelbench -p 3.5
[ "$(row timed-b all | cut -d ' ' -f 13-)" = "33.3 6.1 79.2" ]
tap "fast_p at a p that was asked for"
# problems tried average lo hi over_1.02 over_1.05 over_2 over_6.5 over_the_best_baseline; the interval is drawn.
averages()
{
	[ "$(row "$1" "$2" | cut -d ' ' -f 1-3,6-)" = "$3" ]
	tap "$4"
}
view --view metr
exits 0 "--view metr"
same metr.txt
averages timed-a all "3 3 1.260 33.3 33.3 0.0 0.0 1.000" "a: 2 and two at the floor; no gain over inductor's 2"
averages timed-b all "3 3 1.817 66.7 66.7 33.3 0.0 1.817" "b: the cube root of 1.5 x 4"
averages "all attempts" all "3 3 2.289 100.0 100.0 33.3 0.0 1.817" "best of two attempts: the cube root of 12"
averages "best of baselines" all "3 3 1.260 33.3 33.3 0.0 0.0 1.000" "best of wrappers"
cp "$tmp/out" "$tmp/metr.txt"
view --view metr
cmp -s "$tmp/out" "$tmp/metr.txt"
tap "the same table to the byte, intervals too"
# problems tried Comp@k Pass@k SpeedUp_1@k
view --view multikernelbench
exits 0 "--view multikernelbench"
same multikernelbench.txt
is_row timed-a math "2 2 100.0 50.0 50.0" "a category"
is_row "all attempts" all "3 3 100.0 83.3 50.0" "two samples of a problem: five of six are right, three are fast"
pm bench --db "$tmp/f.db" --baselines torch-eager --against torch-eager --stored --view multikernelbench
[ "$(awk '$1 == "torch-eager" && $2 != "all" { n += $3 } END { print n }' "$tmp/out")" -eq 4 ]
tap "a task without a tag has the category of its graph"
view --view multikernelbench -k 2
is_row "all attempts" all "3 3 100.0 100.0 100.0" "one of two is right and fast on each problem"
grep -Eq '^  timed-a +all +3 +3 +- +- +-$' "$tmp/out"
tap "which is said by a dash"
view --view passnet --preset passnet
exits 0 "--view passnet"
same passnet.txt
[ "$(row timed-a '' | cut -d ' ' -f 1-4)" = "33.3 66.7 66.7 1.000" ]
tap "fast_1, share of samples and of subgraphs that are right, G-Mean"
pm bench --db "$tmp/f.db" --baselines torch-eager,timed-b --against torch-eager --stored --view kernelbench
is_row timed-b all "4 3 75.0 50.0 50.0 50.0 15.0 85.0 25.0 25.0 1.442 2.000" "what was not tried is not solved"
view --view metr --json
exits 0 "as JSON"
is_json "$tmp/out"
tap "which is JSON"
# The same figures from the times alone, by another way: exact fractions, products and roots.
if command -v python3 >/dev/null; then
	python3 - "$tmp/out" >"$tmp/differs" <<'PY'
import json, math, sys
from fractions import Fraction as F
T, I = [12, 12, 12], [6, 24, 12]
TRIES = {"timed-a": [6, None, 24], "timed-b": [24, 8, 3], "torch-inductor": I}
TRIES["all attempts"] = [min(t for t in pair if t) for pair in zip(TRIES["timed-a"], TRIES["timed-b"])]
rows = {r["system"]: r for r in json.load(open(sys.argv[1]))["rows"] if r["group"] == "all"}
def near(what, got, want):
    if abs(got - want) > 1e-12 * abs(want):
        print(what, got, want)
def root(v, n):
    return float(math.prod(v)) ** (1 / n)
for name, times in TRIES.items():
    r, s = rows[name], [F(t, x) if x else None for t, x in zip(T, times)]
    right = [x for x in s if x is not None]
    for f in r["fast_p"]:
        c = sum(x > F(str(f["p"])) for x in right)
        near(name, f["value"], c / 3)
        for end in (f["lo"], f["hi"]):  # (c - n p)^2 = z^2 n p (1 - p)
            if 0 < end < 1 and abs((c - 3 * end) ** 2 - 1.959963984540054**2 * 3 * end * (1 - end)) > 1e-9:
                print(name, "Wilson", end)
    near(name, r["gm_correct"], root(right, len(right)))
    near(name, r["am_correct"], float(sum(right) / len(right)))
    near(name, r["average_speedup"]["value"], root([max(1, x) for x in right], 3))
    best = [max(F(1), F(min(t, i), x)) if x else 1 for t, i, x in zip(T, I, times)]
    near(name, r["average_over_best_baseline"], root(best, 3))
print("compared", len(TRIES))
PY
	[ "$(cat "$tmp/differs")" = "compared 4" ]
	tap "the figures of four systems by fractions"
else
	skip "the figures of four systems by fractions" "there is no python3"
fi
# A pass that changes nothing is right, and as fast as it was: over 0.5 and 0.8, and not over 1.
cp "$tmp/f.db" "$tmp/same.db"
pm bench --db "$tmp/same.db" --baselines eager --pass "$build/passes/bn_relu.so" --suite other --hidden 0 --view kernelbench
exits 0 "a pass that does not match"
is_row bn_relu all "1 1 100.0 100.0 100.0 0.0 0.0 79.3 0.0 0.0 1.000 1.000" "is as fast as the baseline"
pm bench --db "$tmp/f.db" --view best
exits 2 "a view that there is not"
pm bench --db "$tmp/f.db" --view metr -o "$tmp/o"
exits 2 "a view has no folder"
pm bench --db "$tmp/f.db" --view metr -k 0
exits 2 "no samples"
pm bench --db "$tmp/f.db" --runs
exits 2 "--runs without a view"
pm bench --db "$tmp/f.db" --view metr --suite none
exits 4 "no task of that suite"
sed 's/"level":"1"/"level":1/' "$tmp/tagged.jsonl" >"$tmp/bad.jsonl"
pm db import "$tmp/bad.jsonl" --db "$tmp/bad.db"
exits 4 "a tag that is no string is refused"


# Samples of a language model, over eager: t1 3 (and 2), t2 wrong and not compiled, t3 0.5. The tasks' hashes are of their
# graphs, so that a stored session names them.
pm db import tests/golden/trajectory/attempts.jsonl --db "$tmp/f.db"
exits 0 "five samples of a language model"
model()
{
	pm bench --db "$tmp/f.db" --stored --suite kernelbench "$@"
}
model --view kernelbench
is_row model-x all "3 3 66.7 33.3 33.3 33.3 6.1 79.2 33.3 33.3 1.225 1.750" "the best evaluation of the best sample"
model --view metr
averages model-x all "3 3 1.442 33.3 33.3 33.3 0.0 -" "the cube root of 3; over other baselines nothing is known"
model --view multikernelbench
is_row model-x all "3 3 83.3 66.7 33.3" "Comp@1 (1 + 1/2 + 1) / 3, Pass@1 2 / 3, SpeedUp_1@1 1 / 3"
model --view multikernelbench -k 2
is_row model-x math "2 2 100.0 50.0 50.0" "k = 2 where there are two samples"
grep -Eq '^  model-x +all +3 +3 +- +- +-$' "$tmp/out"
tap "and none where a problem has one"
view --view metr
says "left out: 5 stored attempts" "samples over eager are not in a table over another system"
[ -z "$(row model-x all)" ]
tap "and are left out of it"

# A stored evaluation is an attempt. It has the same figures as the pass's own column.
pm eval t1 --db "$tmp/f.db" --pass "$build/passes/silu.so" --quiet
exits 0 "an evaluation"
model --view kernelbench
[ -z "$(row silu all)" ]
tap "a pass that is not named is no attempt"
model --view kernelbench --baselines eager,silu
named=$(row silu 1)
grep -Eq '^2 [12] 50.0 50.0 50.0 50.0 ' <<ROW
$named
ROW
tap "named, it is: right and fast on one of two problems"
model --view kernelbench --runs
is_row silu 1 "$(echo "$named" | sed 's/^2 [12]/2 1/')" "with --runs it is, with the same figures"
model --view kernelbench --runs --baselines eager,silu
is_row silu 1 "$named" "and not twice"
tap_done
