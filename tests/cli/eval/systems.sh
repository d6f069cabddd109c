#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# systems.sh - tools/bench/bench_systems.py and its pages: what it decides, a draw of fresh tasks in a repository of its own, a run with a
# stand-in for PyTorch that dies once, and a page whose figures are computed by hand. No time is looked at.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/python.sh
. tests/lib/python.sh
PYTHONPATH=$PYTHONPATH:$PWD/tests/python
export PYTHONPATH
py bench_tools.py

# ---- the page ----

drawn=tests/golden/systems/drawn.json
page=$tmp/fresh.md
"$python" tools/gen/systems_tables.py "$drawn" "$page" 2>"$tmp/err" && "$python" tools/gen/systems_tables.py --check "$drawn" "$page"
tap "a page is made, and is fresh"
# Replayed: inductor 2 4 1 1, search 4/3 2 1 1, max-autotune 4 - 2 1, their best 4 4 2 1, ours 1.6 2 1 2, fuse 8 2 (declined) 10/5.1 8.
holds '| TorchInductor | 1.68 | 1.68 | 0.90 | 2.22 (of 1) |' "TorchInductor has its means"
holds '| PyTorch eager, cuDNN search | 1.28 | 1.28 | 1.01 | 1.11 (of 1) |' "cuDNN's search has a row"
holds '| TorchInductor, max-autotune, cuDNN search | 2.00 (of 3) | 2.00 (of 3) | 0.93 (of 3) | - |' "a mode that failed on a graph has the mean of the others, and says so"
holds '| best of PyTorch on each graph | 2.38 | 2.38 | 1.01 | 2.22 (of 1) |' "the best on each graph"
holds '| `fuse` | 3.98 | 3.98 | 5.40 | 6.67 (of 1) |' "what was declined has the eager run's time"
# Best / fuse: 4/2, 4/8, 5/5.1, 8/1; launched 39/6, 40/10, 40/10, 40/5; replayed 9/3.
holds '| `fuse` over the best of PyTorch | 1.67 | 1.67 | 5.37 | 3.00 (of 1) |' "the lead over the best, launched and replayed"
holds '| graphs on which `fuse` is faster than the best, or equal within 2 % | 75.0 % | 75.0 % | 100.0 % | 100.0 % (of 1) |' "5.1 beside 5 is equal"
holds '| float | 2 | 2.83 | 1.79 | 4.00 | 50.0 % | 1.00 | 50.0 % |' "by element type"
holds '| shape 0, float of task 1 | 16.0 | 4.0 (TorchInductor) | 8.0 | 8.0 | 0.50 |' "each graph names the best mode"
holds '| TorchInductor, max-autotune, cuDNN search | 1 | It takes more than the 900 seconds of --limit. |' "why a mode has no time"
holds 'Seed 281474976710655, drawn 2026-11-28 15:33:20 UTC, after commit 0123456789ab of 2026-11-28 15:00:00 UTC.' "seed, draw and commit"
holds '4 graphs of 2 tasks from 3 models, 2 of them held out. None of their 2 lists of operators is among the 1076 of the benchmark' "graphs, tasks and models"
lacks 'no figure that counts' "nothing is held against it"
sed 's/"dirty": 0/"dirty": 2/; s/"seed_given": false/"seed_given": true/' "$drawn" >"$tmp/dirty.json"
"$python" tools/gen/systems_tables.py "$tmp/dirty.json" "$page"
holds '2 files differed from the commit: this is no figure that counts.' "a draw of code that is not committed is said"
holds 'Seed 281474976710655 (given by hand)' "and a seed that was given"
sed 's/"commit": /"remark": "The first two tasks alone.", "commit": /' "$drawn" >"$tmp/remark.json"
"$python" tools/gen/systems_tables.py "$tmp/remark.json" "$page"
holds 'The first two tasks alone.' "a remark of the file is on the page"
! "$python" tools/gen/systems_tables.py docs/results/h200_systems.json "$tmp/none.md" 2>"$tmp/err" && grep -q 'is of no draw' "$tmp/err" && [ ! -e "$tmp/none.md" ]
tap "there is no such page of another run"
pm report --times "$drawn" -o "$tmp/times.html"
exits 0 "a report reads the file"
page=$tmp/times.html
holds 'torch-max-autotune-search' "also the mode that the first graph lacks"
lacks 'graph_host' "what is no system is no column"

# ---- which models ----

printf '/m/timm__model_1.onnx\n/m/timm__model_2.onnx\n' | "$python" tools/bench/common/held_out.py kept >"$tmp/out"
[ "$(cat "$tmp/out")" = /m/timm__model_2.onnx ]
tap "held_out.py takes held-out models out of a list"

# ---- a draw ----

if ! command -v git >/dev/null; then
	skip "draws" "git is not here"
	tap_done
fi
mkdir -p "$tmp/repo/tools" "$tmp/models" "$tmp/passes"
cp -r tools/bench "$tmp/repo/tools"
rm -rf "$tmp/repo/tools/bench/__pycache__"
cp "$build/passes/silu.so" "$tmp/passes"
commit() # DATE
{
	(cd "$tmp/repo" && GIT_AUTHOR_DATE=$1 GIT_COMMITTER_DATE=$1 git -c user.name=x -c user.email=x@x -c commit.gpgsign=false commit -qam "$1" --allow-empty) >/dev/null
}
git -c init.defaultBranch=main init -q "$tmp/repo" && git -C "$tmp/repo" add tools && commit "2020-01-01T00:00:00Z"
tap "a repository with the tools"
model() # NAME OPERATORS...
{
	{
		echo "$1 (float[4,8] x) => (float[4,8] y) {"
		shift
		in=x
		n=0
		for op; do
			n=$((n + 1))
			echo "t$n = $op ($in)"
			in=t$n
		done
		echo "y = Mul (x, $in) }"
	} >"$tmp/models/$name.gpt"
}
name=bench model m Sigmoid
pm extract "$tmp/models/bench.gpt" --db "$tmp/b.db"
pm task make --db "$tmp/b.db" --top 1 --name t --shapes 1
exits 0 "a benchmark of one task"
name=other model m Sigmoid      # another model with the benchmark's operators
name=timm__model_1 model m Exp  # held out
name=timm__model_2 model m Tanh # kept
systems()
{
	code=0
	"$python" "$tmp/repo/tools/bench/bench_systems.py" --fresh --db "$tmp/b.db" --models "$tmp/models" --passmith "$passmith" \
		--pass "$tmp/passes/silu.so" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}
systems -o "$tmp/d" --draw-only
exits 0 "a draw"
says "after commit $(git -C "$tmp/repo" rev-parse HEAD | cut -c 1-12) of 2020-01-01 00:00:00 UTC" "says the commit before it"
says "6 graphs of 2 tasks from 2 models, 1 of them held out." "neither the benchmark's model nor its operators are in it"
cp "$tmp/d/draw.json" "$tmp/first"
systems -o "$tmp/d" --draw-only
cmp -s "$tmp/first" "$tmp/d/draw.json"
tap "the same folder has the same draw"
systems -o "$tmp/h" --draw-only --which held-out
says "3 graphs of 1 tasks from 1 models, 1 of them held out." "held-out models alone"
says "200 tasks were asked for, and the models have no more." "that there are fewer is said"
seed=$(sed -n 's/.*"seed": \([0-9]*\).*/\1/p' "$tmp/d/draw.json")
systems -o "$tmp/again" --draw-only --draw-seed "$seed"
says "Seed $seed (given by hand)" "a seed that is given is said"
[ "$(grep '"graph":' "$tmp/d/draw.json")" = "$(grep '"graph":' "$tmp/again/draw.json")" ]
tap "and draws the same"
echo "# changed" >>"$tmp/repo/tools/bench/common/fresh.py"
systems -o "$tmp/dirty" --draw-only
exits 1 "code that is not committed"
warns "1 files differ from commit" "is refused with a sentence"
systems -o "$tmp/dirty" --draw-only --allow-dirty
says "1 files differed from the commit: this is no figure that counts." "unless asked, which is said"
systems -o "$tmp/d" --draw-only
warns "The code was clean when the draw was made" "a draw is not gone on with after a change"
commit "2020-02-01T00:00:00Z"
systems -o "$tmp/d" --draw-only
exits 1 "nor after a commit"
warns "draw anew into another folder" "which says what to do"
commit "2099-01-01T00:00:00Z"
systems -o "$tmp/future" --draw-only
warns "is of a time after the draw" "a commit of a later time is refused"
commit "2020-03-01T00:00:00Z"
systems --db "$tmp/none.db" -o "$tmp/none" --draw-only
exits 1 "a benchmark that is not there"
warns "none.db cannot be read as a database of tasks" "is a sentence"
"$python" tools/bench/bench_systems.py --db "$tmp/none.db" --passmith "$passmith" --pass "$tmp/passes/silu.so" -o "$tmp/none" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q '^bench_systems: .*none.db' "$tmp/err"
tap "and so is a database of tasks"
systems --pass "$tmp/none.so" -o "$tmp/none" --draw-only
exits 2 "a pass that is not there"
warns "none.so does not exist" "is named"
systems --db "$tmp/d/fresh.db" -o "$tmp/used" --draw-only --which held-out
exits 1 "models that the benchmark has"
warns "models (held-out) is without a task" "are not drawn from"

# ---- a run: PyTorch is a stand-in that writes what torch_bench.py would, and dies the first time ----

cat >"$tmp/side.py" <<'P'
import json, os, sys
a = sys.argv[1:]
modes = a[a.index("--modes") + 1].split(",")
with open(os.environ["CALLS"], "a") as f:
    f.write(" ".join(modes) + (" compile\n" if "--compile-only" in a else "\n"))
if "--compile-only" in a:
    sys.exit(0)
if not os.path.exists(os.environ["ONCE"]):
    open(os.environ["ONCE"], "w").close()
    os.abort()
us = {"eager": 16, "inductor": 8, "max-autotune-search": 4}
records = []
for at, _, files in (x for folder in a[:a.index("--modes")] for x in sorted(os.walk(folder))):
    if "case.json" in files:
        case = json.load(open(os.path.join(at, "case.json")))
        times = {"torch " + m: {k: {"seconds": us[m] * 1e-6} for k in ("replay", "cold", "wall", "graph_wall")} for m in modes if m != "max-autotune-search"}
        for m in times:
            times[m]["smallest_t"] = -10
        records.append({"folder": at, "name": case["name"], "graph": case["graph"], "times": times, "failed": {"max-autotune-search": "It is too hard."}})
json.dump({"kind": "torch_bench", "torch": "9.9", "device": os.environ.get("SIDE_GPU", "a GPU"), "date": "2026-01-01", "records": records}, open(a[a.index("-o") + 1], "w"))
P
export CALLS="$tmp/calls" ONCE="$tmp/once"
weak=$("$passmith" doctor 2>/dev/null | grep -q '^no *[a-z_]*sandbox' && echo weak)
if [ -n "$weak" ]; then
	skip "a run" "the sandbox lacks a layer, and bench_systems.py does not ask for less"
	tap_done
fi
systems -o "$tmp/run" --device cpu --modes eager,inductor,max-autotune-search --torch-side "$tmp/side.py" --jobs 1 --tasks 1
exits 0 "a run"
says "3 graphs of 1 tasks from 1 models" "says what was drawn"
[ "$(grep -c compile "$tmp/calls")" = 1 ] && [ "$(grep -cv compile "$tmp/calls")" = 2 ]
tap "a process of PyTorch that dies is begun again"
"$python" - "$tmp/run/systems.json" >"$tmp/out" 2>"$tmp/err" <<'P'
import json, sys
j = json.load(open(sys.argv[1]))
assert len(j["graphs"]) == 3 and j["torch"] == "9.9" and j["draw"]["models_offered"] >= 1 and len(j["commit"]) == 40, j
for g in j["graphs"]:
    assert g["torch-eager"] == [16.0, 16.0, 16.0] and g["torch-inductor"] == [8.0, 8.0, 8.0, -10], g
    assert g["graph_host"] == {"torch-eager": 16.0, "torch-inductor": 8.0} and g["failed"] == {"torch-max-autotune-search": "It is too hard."}
P
tap "systems.json has what was measured, and why a mode was not"

# ---- quick times: `passmith time` on a GPU that is made up ----

# shellcheck source=tests/lib/machine.sh
. tests/lib/machine.sh
if ! "$passmith" doctor 2>/dev/null | grep -q '^yes GPU .*Fake One'; then
	skip "quick times" "no driver can be brought here"
	tap_done
fi
fresh
export SIDE_GPU="Fake One"
: >"$CALLS"
systems -o "$tmp/quick" --quick --blocks 2 --modes eager,inductor --torch-side "$tmp/side.py" --jobs 1
exits 0 "quick times"
[ "$(grep -c compile "$tmp/calls")" = 2 ] && [ "$(grep -cv compile "$tmp/calls")" = 1 ]
tap "one process of PyTorch measures all tasks"
"$python" - "$tmp/quick/systems.json" >"$tmp/out" 2>"$tmp/err" <<'P'
import json, sys
j = json.load(open(sys.argv[1]))
assert len(j["graphs"]) == 6 and j["draw"]["tasks"] and j["remark"].startswith("Quick times of 2 blocks each") and j["options"] == "--quick --blocks 2 ", j
for g in j["graphs"]:
    assert g["torch-eager"] == [16.0, 16.0, 16.0] and g["torch-inductor"] == [8.0, 8.0, 8.0, -10] and "graph_host" not in g, g
    assert g["class"] in ("Exp", "Tanh", "Mul") and g["launches"] == 2, g
assert sorted(j["summary"]) == ["eager", "silu", "torch-eager", "torch-inductor"], j["summary"]  # a GPU that is made up has no times
P
tap "systems.json has both sides, under the pass's own name"
: >"$CALLS"
rm -rf "$tmp/quick/inductor"
systems -o "$tmp/quick" --quick --blocks 2 --modes eager,inductor --torch-side "$tmp/side.py" --jobs 1
exits 0 "the same once more, from its files alone"
! grep -q compile "$tmp/calls"
tap "what has times is not compiled again"
systems -o "$tmp/quick" --quick --blocks 2 --modes eager,inductor --torch-side "$tmp/side.py" --jobs 1 --pass "$tmp/passes/silu.so"
exits 2 "two passes are refused"
tap_done
