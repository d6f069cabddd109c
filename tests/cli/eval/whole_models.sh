#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# whole_models.sh - tools/bench/whole_models.py and its page: models are cast, applied and exported by the real program; the GPU's clock and
# PyTorch are stand-ins, which fail or die on some. Figures are computed by hand. No time is looked at.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/python.sh
. tests/lib/python.sh

mkdir "$tmp/core" "$tmp/corpus" "$tmp/passes"
cp "$build/passes/fuse.so" "$tmp/passes"
silu_graph "float[8,64]"
cp "$tmp/silu.gpt" "$tmp/core/silu.gpt"
sed 's/Sigmoid/Tanh/' "$tmp/silu.gpt" >"$tmp/core/tanh.gpt"
echo broken >"$tmp/core/broken.onnx"
for k in 1 2 3 4; do # the first is held out
	sed 's/Sigmoid/Exp/' "$tmp/silu.gpt" >"$tmp/corpus/timm__model_$k.gpt"
done

# The program: `time` is a stand-in, which has no row of tanh in float16.
cat >"$tmp/passmith" <<'P'
#!/usr/bin/env python3
import json, os, sys
a = sys.argv[1:]
if a[0] != "time":
    os.execv(os.environ["REAL"], [os.environ["REAL"]] + a)
with open(os.environ["CALLS"], "a") as f:
    f.write("time" + " tf32" * ("--tf32" in a) + " graphs" * ("--graphs" in a) + "\n")
model = open(a[1], errors="replace").read() if a[1].endswith(".gpt") else open(a[1], "rb").read().decode("latin1")
if "Tanh" in model and "half" in a[1]:
    sys.exit(3)
us = {"eager": 10, "fuse": 5}
if "--tf32" in a:
    us["fuse"] = 4
if "--graphs" in a:
    us["fuse"] = 6
t = {"passmith " + n: {**{k: {"seconds": v * 1e-6} for k in ("cold", "replay", "wall", "latency")}, "memory": 3000000, "changed": n == "fuse", "smallest_t": -6} for n, v in us.items()}
json.dump({"kind": "passmith_time", "device": "a GPU", "records": [{"target": a[1], "times": t}]}, open(a[a.index("-o") + 1], "w"))
P
# PyTorch: it dies once, and max-autotune fails.
cat >"$tmp/side.py" <<'P'
import json, os, sys
a = sys.argv[1:]
modes = a[a.index("--modes") + 1].split(",")
assert os.path.exists(os.path.join(a[0], "model.py")) and "--memory" in a
if not os.path.exists(os.environ["ONCE"]):
    open(os.environ["ONCE"], "w").close()
    os.abort()
us = {"eager-search": 20, "inductor-search": 8}
times = {"torch " + m: {"replay": {"seconds": us[m] * 1e-6}, "wall": {"seconds": 40e-6}, "graph_wall": {"seconds": 1.5 * us[m] * 1e-6}, "memory": 1, "graph_memory": 4000000}
         for m in modes if m in us}
record = {"folder": a[0], "times": {**times, "control": {}}, "failed": {"max-autotune-search": "It is too hard."}}
json.dump({"torch": "9.9", "cuda": "1", "cudnn": 2, "device": "a GPU", "records": [record]}, open(a[a.index("-o") + 1], "w"))
P
sed -i "1s|.*|#!$(command -v "$python")|" "$tmp/passmith"
chmod +x "$tmp/passmith"
REAL=$(cd "$(dirname "$passmith")" && pwd)/passmith CALLS=$tmp/calls ONCE=$tmp/once
export REAL CALLS ONCE
whole()
{
	code=0
	"$python" tools/bench/whole_models.py --core "$tmp/core" --corpus "$tmp/corpus" --count 1 -o "$tmp/w" --passmith "$tmp/passmith" --passes "$tmp/passes" \
		--torch-side "$tmp/side.py" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}
whole --seconds 0
says "0 of 16 rows" "a run without time"
whole
exits 0 "a run"
says "16 of 16 rows" "ends with all models and types"
warns "broken float: " "a file that is no model is a row"
warns "tanh float16: ours: passmith time ended with 3 and no row." "one side that fails is said"
warns "timm__model_1 bfloat16: 2 modes of PyTorch" "of the corpus the held-out model came first"
[ "$(grep -c '^time tf32$' "$CALLS")" = 3 ] && [ "$(grep -c '^time tf32 graphs$' "$CALLS")" = 3 ] && [ "$(grep -c '^time$' "$CALLS")" = 9 ]
tap "float, half types and TF32 were timed, launched and replayed"
cp "$tmp/w/whole_models.json" "$tmp/before"
: >"$CALLS"
whole
[ ! -s "$CALLS" ] && cmp -s "$tmp/before" "$tmp/w/whole_models.json"
tap "the same again measures nothing"
whole --types float,double
exits 2 "a type that there is not"
warns "there is no type double; give float, tf32, float16, bfloat16" "is said"

page=$tmp/page.md
"$python" tools/gen/whole_models_page.py "$tmp/w/whole_models.json" "$page" && "$python" tools/gen/whole_models_page.py --check "$tmp/w/whole_models.json" "$page"
tap "a page is made, and is fresh"
# Best of PyTorch 8 us, fuse 5 (TF32: 4); by the host's clock 12 replayed and 6; memory 3 and 4 MB.
grep -q '^| float | 3 | 1.60 | 1.60 | 0 | 2.00 | 2.00 | 2.00 | 3 of 3 | 0.75 | ' "$page"
tap "float has the figures that hands compute"
grep -q '^| tf32 | 3 | 2.00 | 2.00 | 0 | 2.00 | 2.00 | 2.50 | 3 of 3 | 0.75 | ' "$page"
tap "so has TF32"
grep -q '^| float16 | 2 | 1.60 | ' "$page"
tap "what failed is in no mean"
holds '| timm__model_1 (held out) | bfloat16 | 20 | 8 (TorchInductor) | 10 | 5 | 1.60 | 12 (TorchInductor, replayed) | 6 | 2.00 | 4 | 3 | -6 |' "each model has a line"
holds '| tanh | float16 | `passmith time` | passmith time ended with 3 and no row. |' "and each failure"
holds '| silu | float | TorchInductor, max-autotune | It is too hard. |' "a mode's, too"
holds '4 models, 1 of them held out' "held-out models are counted"
tap_done
