#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# levels.sh - tools/bench/levels.py and its page: a dry run with the real program, and a run on a GPU with stand-ins for the clock and
# for PyTorch, one of which dies. The page's figures are computed by hand.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

if ! command -v python3 >/dev/null; then
	skip "levels 1 to 3" "there is no python3"
	tap_done
	exit
fi
levels()
{
	verb=$1
	shift
	python3 tools/bench/levels.py "$verb" "$@" --passes "$tmp/passes" >"$tmp/out" 2>"$tmp/err"
	code=$?
}
mkdir "$tmp/passes" "$tmp/ex"
cp "$build/passes/fuse.so" "$build/passes/silu.so" "$build/passes/TEMPLATE.so" "$tmp/passes"
export_graph() # NAME TEXT
{
	printf '%s\n' "$2" >"$tmp/$1.gpt"
	"$passmith" import "$tmp/$1.gpt" -o "$tmp/ex/$1.onnx" >/dev/null
}
export_graph level1__1_silu 'm (float[8,32] x) => (float[8,32] y) { a = Sigmoid(x) y = Mul(x, a) }'
export_graph level1__2_relu 'm (float[8,32] x, float[8,32] z) => (float[8,32] y) { a = Add(x, z) y = Relu(a) }'
export_graph level2__3_sum 'm (float[8,32] x) => (float[8,1] y) { a = Tanh(x) y = ReduceSum <axes = [1]> (a) }'
export_graph mkb_math__other 'm (float[8] x) => (float[8] y) { y = Tanh(x) }'
echo broken >"$tmp/ex/level3__4_broken.onnx"
printf 'problem,h100_eager_ms,h100_inductor_default_ms\nlevel1__1_silu,7.25,2\n' >"$tmp/table.csv"

levels prepare "$tmp/ex" -o "$tmp/l" --table "$tmp/table.csv" --passmith "$passmith"
exits 0 "problems are prepared"
says "4 problems in $tmp/l, 1 of them not read" "those of levels 1 to 3"
grep -q '"h100_eager_ms": 7.25' "$tmp/l/levels.json" && [ "$(grep -c '"category": "activation"' "$tmp/l/levels.json")" = 2 ]
tap "with category and published times"
[ "$(tr -d ' \n' <"$tmp/l/levels.json" | grep -o '"applies":\[[^]]*\]' | sort | tr '\n' ' ')" = '"applies":["fuse","silu"] "applies":["fuse"] "applies":["fuse"] ' ]
tap "and with the passes that apply"
ls "$tmp"/l/torch/level2__3_sum/*/model.py >/dev/null
tap "and as a module of PyTorch"
cp "$tmp/l/levels.json" "$tmp/before"
levels prepare "$tmp/ex" -o "$tmp/l" --passmith "$passmith"
cmp -s "$tmp/before" "$tmp/l/levels.json" && ! grep -q level1__1 "$tmp/err"
tap "the same again prepares nothing"
levels prepare "$tmp/passes" -o "$tmp/no" --passmith "$passmith"
exits 1 "a folder without problems"
warns "has no file like level2__9_name.onnx" "is said"

cp -r "$tmp/l" "$tmp/dry"
levels run "$tmp/dry" --dry --batch 1 --seconds 0 --passmith "$passmith"
says "done, " "a run without time"
levels run "$tmp/dry" --dry --passmith "$passmith"
exits 0 "a dry run"
says "4 problems done, 0 left" "goes on to the end"
[ "$(grep -c '"verdict": "OK"' "$tmp/dry/levels.json")" = 3 ] && [ "$(grep -c '"modelled": [0-9.e-]*$' "$tmp/dry/levels.json")" = 3 ]
tap "each problem that can be read has its verdict and a modelled time"
python3 tools/gen/levels_page.py "$tmp/dry/levels.json" "$tmp/page.md" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q 'is of a dry run' "$tmp/err" && [ ! -e "$tmp/page.md" ]
tap "no page is made of modelled times"
levels run "$tmp/dry" --passmith "$passmith"
exits 1 "a dry run and a real one"
warns "is of a dry run" "have a file each"

# Stand-ins. The clock: `passmith time MODEL... -o FILE`; with relu among several it dies. PyTorch: it dies at silu the first time.
cat >"$tmp/passmith" <<'P'
#!/usr/bin/env python3
import json, os, sys
a = sys.argv[1:]
if a[0] != "time":
    sys.exit(print("stand-in 1.0"))
models = [x for x in a[1:] if x.endswith(".onnx")]
what = os.path.basename(a[a.index("--pass") + 1])[:-3]
with open(os.environ["CALLS"], "a") as f:
    f.write(f"time {what} {len(models)}\n")
if any("relu" in m for m in models) and len(models) > 1:
    os.abort()
us = {"level1__1_silu": 4, "level1__2_relu": 20, "level2__3_sum": 5}
records = []
for m in models:
    name = os.path.basename(m)[:-5]
    t = {k: {"seconds": us[name] * 1e-6 / (2 if what == "silu" else 1)} for k in ("cold", "replay", "wall")}
    t.update(changed="sum" not in name, smallest_t=-3, memory=3000)
    records.append({"target": m, "launches": 1, "roofline_seconds": 1e-6, "times": {"passmith eager": dict(t, changed=False), "passmith " + what: t}})
json.dump({"kind": "passmith_time", "device": "a GPU", "records": records}, open(a[a.index("-o") + 1], "w"))
P
cat >"$tmp/side.py" <<'P'
import json, os, sys
folders = [a for a in sys.argv[1:] if "/torch/" in a]
modes = sys.argv[sys.argv.index("--modes") + 1].split(",")
print(json.dumps({"about": {"torch": "9.9", "device": "a GPU"}}))
for f in folders:
    print(json.dumps({"begin": f}), flush=True)
    if "silu" in f and "--compile-only" not in sys.argv and not os.path.exists(os.environ["ONCE"]):
        open(os.environ["ONCE"], "w").close()
        os.abort()
    us = {"eager-search": 16, "inductor-search": 8, "max-autotune-search": 2}
    print(json.dumps({"folder": f, "row": {m: {"cold": us[m] * 1e-6, "wall": 1e-5, "memory": 1500} for m in modes}}), flush=True)
P
chmod +x "$tmp/passmith"
export CALLS="$tmp/calls" ONCE="$tmp/once"
levels run "$tmp/l" --passmith "$tmp/passmith" --torch-side "$tmp/side.py" --jobs 2 --batch 12
exits 0 "a run on a GPU"
says "4 problems done, 0 left" "ends with all"
[ "$(grep -c 'time fuse 1' "$tmp/calls")" = 3 ] && grep -q 'time fuse 3' "$tmp/calls" && grep -q 'time silu 1' "$tmp/calls"
tap "a batch that dies is tried one by one, and the library only where it applies"
[ "$(grep -c '"error": "The process ended with -6."' "$tmp/l/levels.json")" = 1 ] && [ "$(grep -c '"cold": 1.6e-05' "$tmp/l/levels.json")" = 2 ]
tap "what dies in PyTorch is a row, and the others have times"
cp "$tmp/l/levels.json" "$tmp/before"
: >"$tmp/calls"
levels run "$tmp/l" --passmith "$tmp/passmith" --torch-side "$tmp/side.py"
[ ! -s "$tmp/calls" ] && grep -v '"seconds": [0-9]*$' "$tmp/before" >"$tmp/a" && grep -v '"seconds": [0-9]*$' "$tmp/l/levels.json" | cmp -s - "$tmp/a"
tap "the same again measures nothing"

# silu has times again, by hand; speedups over eager: silu 16 / 4 = 4 (8 by the library), relu 16 / 20 = 0.8, sum declined = 1.
python3 - "$tmp/l/levels.json" <<'P'
import json, sys
j = json.load(open(sys.argv[1]))
row = j["problems"]["level1__1_silu"]
assert "error" in row["torch"]
row["torch"] = dict(j["problems"]["level1__2_relu"]["torch"])
json.dump(j, open(sys.argv[1], "w"), indent=1)
P
python3 tools/gen/levels_page.py "$tmp/l/levels.json" "$tmp/page.md" && python3 tools/gen/levels_page.py --check "$tmp/l/levels.json" "$tmp/page.md"
tap "a page is made, and is fresh"
# problems, matched, right, right at -4, faster than eager, inductor, best; fast_1, fast_2; sqrt(4 * 0.8), sqrt(2 * 0.4); sqrt(4 * 1), sqrt(8 * 1)
grep -qF '| 1 | 2 | 2 | 2 | 0 | 1 of 2 | 1 of 2 | 1 of 2 | 0.50 | 0.50 | 1.79 | 0.89 | 2.00 | 2.83 |' "$tmp/page.md"
tap "level 1 has the figures that hands compute"
grep -qF '| 2 | 1 | 0 | 1 | 0 | 0 of 1 | 0 of 1 | 0 of 1 | 0.00 | 0.00 | 1.00 | 1.00 | 1.00 | 1.00 |' "$tmp/page.md"
tap "what was declined is right, has 1 and is not fast"
# as it runs: sum 16 / 5 = 3.2 and 8 / 5 = 1.6; of all silu, relu and sum: (4 * 0.8 * 3.2)^(1/3), (2 * 0.4 * 1.6)^(1/3), (4 * 1 * 3.2)^(1/3)
grep -qF '| 2 | 1 | 1 of 1 | 1 of 1 | 3.20 | 1 of 1 | 1 of 1 | 1.60 | 3.20 |' "$tmp/page.md" && grep -qF '| all | 3 | 2 of 3 | 2 of 3 | 2.17 | 2 of 3 | 2 of 3 | 1.09 | 2.34 |' "$tmp/page.md"
tap "and counts with its own time where it says so"
grep -qF '| reduce | 1 | 0 | 1 |' "$tmp/page.md" && grep -qF '| all | 3 | 2 | 3 |' "$tmp/page.md"
tap "all, and by category"
grep -qF '| level1__1_silu | activation | t = -3 | 16.0 | 8.0 | - | 4.0 | 4.00 | 1.0 | 25 % | 7.25 |' "$tmp/page.md"
tap "each problem has a line, with the limit and the published time"
grep -qF 'Of 3 problems 3 take more than 1.5 times as much.' "$tmp/page.md" && grep -qF '| level3__4_broken | reading |' "$tmp/page.md"
tap "memory, and what failed"
grep -qF '| KernelAgent: best of all models | 2.01 |' "$tmp/page.md" && grep -qF '| GPT-4o | 4 | 5 | 0 | 18 | 4 | 4 |' "$tmp/page.md"
tap "published figures stand apart"
levels run "$tmp/l" --passmith "$tmp/passmith" --torch-side "$tmp/side.py" --modes max-autotune-search
python3 tools/gen/levels_page.py "$tmp/l/levels.json" "$tmp/page2.md"
grep -qF '| 1 | 2 | 2 | 2 | 0 | 1 of 2 | 1 of 2 | 0 of 2 | 0.50 |' "$tmp/page2.md"
tap "a mode that is measured later counts for the best mode"
! python3 tools/gen/levels_page.py --check "$tmp/l/levels.json" "$tmp/page.md" 2>"$tmp/err"
tap "and the page of before is not fresh"
python3 -m py_compile tools/bench/levels_torch.py
tap "the side that needs PyTorch is Python"
rm -rf tools/bench/__pycache__
tap_done
