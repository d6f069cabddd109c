#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# torch_bench.sh - the tools that time PyTorch in its modes, on a processor. `make check-python` runs it with PyTorch from PyPI.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/python.sh
. tests/lib/python.sh

if ! has torch; then
	echo "PyTorch is not installed: make check-python"
	exit 77
fi
if ! command -v g++ >/dev/null; then
	echo "TorchInductor needs g++"
	exit 77
fi
# One thread: threads that wait for each other take minutes on a busy machine.
TORCHINDUCTOR_CACHE_DIR=$tmp/inductor TORCHINDUCTOR_COMPILE_THREADS=1 OMP_NUM_THREADS=1
export TORCHINDUCTOR_CACHE_DIR TORCHINDUCTOR_COMPILE_THREADS OMP_NUM_THREADS
silu_graph "float[8,64]"
pm task export "$tmp/silu.gpt" --torch "$tmp/exports/silu"
exits 0 "a graph for PyTorch"
cat >"$tmp/norm.gpt" <<'GRAPH'
norm (float[8,64] x, float[64] s, float[64] b) => (float[8,64] y)
{
   y = LayerNormalization <axis = 1> (x, s, b)
}
GRAPH
pm task export "$tmp/norm.gpt" --torch "$tmp/exports/norm"
exits 0 "and another"
py torch_bench_cpu.py "$tmp"

module=$(dirname "$(find "$tmp/exports/silu" -name model.py)")
"$python" tools/bench/levels_torch.py "$module" "$tmp/none" --device cpu --blocks 2 --modes eager-search,inductor-search >"$tmp/out" 2>"$tmp/err" &&
	"$python" -c 'import json, sys
lines = [json.loads(x) for x in open(sys.argv[1])]
row, bad = (x["row"] for x in lines if "row" in x)
assert sorted(row) == ["eager-search", "inductor-search"] and all(row[m]["wall"] > 0 and "cold" not in row[m] for m in row), row
assert row["inductor-search"]["error_of_eager"] < 1e-5 and "FileNotFoundError" in bad["error"], bad' "$tmp/out"
tap "levels_torch.py: a row for each folder, one that is not there among them"
"$python" tools/bench/levels_torch.py "$module" --device cpu --modes eager,eager-search >"$tmp/out" 2>"$tmp/err"
[ $? -ne 0 ] && grep -q 'need a process each' "$tmp/err"
tap "levels_torch.py: modes that need two processes are refused"

pm compile "$tmp/silu.gpt" --pass "$build/passes/silu.so" --arch emu -o "$tmp/m.pmz"
"$python" tools/bench/deploy_torch.py "$module" "$tmp/m.pmz" --device cpu --modes eager-search,inductor-search --rounds 2 >"$tmp/out" 2>"$tmp/err" &&
	"$python" -c 'import json, sys
ways = json.load(open(sys.argv[1]))["ways"]
assert sorted(ways) == ["eager-search", "inductor-search", "passmith"], ways
assert all(w["latency"] > 0 and w["train"] > 0 and w["error_of_eager"] < 1e-5 for w in ways.values()), ways
assert all(0 < w["error_of_double"] < 1e-6 for w in ways.values()), ways' "$tmp/out"
tap "deploy_torch.py: the package beside PyTorch's modes"

cat >"$tmp/ours.jsonl" <<'CASES'
{"name": "gelu 3MB", "kind": "elementwise", "dtype": "float", "inputs": [["float", 64, 256]], "us": 3.0, "bytes": 131072}
{"name": "product 1024", "kind": "product", "dtype": "float", "inputs": [["float", 64, 256], ["float", 32, 4]], "us": 3.0, "bytes": 65536}
CASES
ops()
{
	"$python" tools/bench/torch_ops.py "$tmp/ours.jsonl" "$tmp/ops.json" --device cpu "$@" >"$tmp/out" 2>"$tmp/err"
}
ops --modes eager,eager-search && "$python" -c 'import json, sys
one, bad = json.load(open(sys.argv[1]))["cases"]
assert sorted(one["modes"]) == ["eager", "eager-search"] and one["torch_us"] == one["modes"]["eager"], one
assert one["best_us"] == min(one["modes"].values()) == one["modes"][one["best_mode"]], one
assert bad["modes"] == {} and "shapes cannot be multiplied" in bad["failed"]["eager"], bad' "$tmp/ops.json"
tap "torch_ops.py: the best of the modes, and a case that fails beside one that does not"
cp "$tmp/ops.json" "$tmp/before"
ops --modes eager --resume && cmp -s "$tmp/before" "$tmp/ops.json"
tap "torch_ops.py: the same again measures nothing"
tap_done
