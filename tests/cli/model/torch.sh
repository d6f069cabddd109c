#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# torch.sh - graphs for PyTorch and times from there: export, import, table. PyTorch itself is not needed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

for m in models/*.gpt; do
	name=$(basename "$m" .gpt)
	pm task export "$m" --torch "$tmp/t/$name"
	exits 0 "$name: export"
	says "1 graphs in" "$name: the export is counted"
	if command -v python3 >/dev/null; then
		python3 -c 'import ast, sys; [ast.parse(open(f).read()) for f in sys.argv[1:]]' \
			"$tmp/t/$name"/*/model.py "$tmp/t/$name"/*/weight_meta.py 2>"$tmp/err"
		tap "$name: Python reads it"
	else
		skip "$name: Python reads it" "there is no python3"
	fi
done
# Indices that are computed, as of a relative position table, and constants where a tensor has to stand.
cat >"$tmp/positions.gpt" <<'GRAPH'
m (float[9,4] table, int64[3] a, int64[3] b) => (float[3,4] y, int64[3] z) <int64 one = {1}, int64[1] s = {3}>
{
   ones = Expand (one, s)
   z = Add (a, ones)
   i = Sub (a, b)
   y = Gather <axis = 0> (table, i)
}
GRAPH
pm task export "$tmp/positions.gpt" --torch "$tmp/p"
exits 0 "a table of relative positions: export"
model=$(echo "$tmp"/p/*/model.py)
grep -q 'w_0\.expand((3,))' "$model"
tap "a constant that is expanded is a tensor"
grep -q '_gather(in_0, _front(tmp_[0-9], 9), 0)' "$model"
tap "indices from the end are counted from the front"
if command -v python3 >/dev/null; then
	python3 -m py_compile "$model" 2>"$tmp/err"
	tap "a table of relative positions: Python compiles it"
else
	skip "a table of relative positions: Python compiles it" "there is no python3"
fi

pm task export models/llama_block.gpt
exits 2 "export without a folder"
pm task export "$tmp/none.gpt" --torch "$tmp/t"
[ "$code" -ne 0 ]
tap "export of a model that is not there fails"

cat >"$tmp/m.gpt" <<'GRAPH'
m (float[8,32] x) => (float[8,32] y) { s = Sigmoid(x)
 y = Mul(x, s) }
GRAPH
pm extract "$tmp/m.gpt" --db "$tmp/w.db"
exits 0 "extract"
pm task make --db "$tmp/w.db" --top 1 --name t --shapes 2
exits 0 "task make"
pm task export t --db "$tmp/w.db" --torch "$tmp/d" --json
exits 0 "export of a task"
json "export --json is JSON"
hash=$(sed -n 's/.*"graph": "\([0-9a-f]*\)".*/\1/p' "$tmp"/d/000_*/case.json)
[ "${#hash}" -eq 64 ]
tap "case.json names the graph by its hash"
cat >"$tmp/torch.json" <<TIMES
{"kind": "torch_bench", "torch": "2.11.0", "device": "GPU X", "records": [
 {"graph": "$hash", "times": {"torch eager": {"cold": {"seconds": 12.5e-6}}, "torch inductor": {"cold": {"seconds": 5e-6}},
  "control": {"cold": {"seconds": 12.6e-6}}}},
 {"graph": "00", "times": {"torch eager": {"cold": {"seconds": 1}}}}, {"error": "failed there"}]}
TIMES
pm results import "$tmp/torch.json" --db "$tmp/w.db"
exits 0 "import"
says "2 times stored, 2 graphs are in no task" "what was stored is counted"
pm results import "$tmp/torch.json" --db "$tmp/w.db"
exits 0 "the same again changes nothing"
pm results show t --db "$tmp/w.db"
exits 0 "show"
says "torch eager" "a column for PyTorch"
says "12.50" "its time"
grep -q control "$tmp/out"
[ $? -eq 1 ]
tap "the control is no column"
pm results show t --db "$tmp/w.db" --json
json "show --json is JSON"
echo '{"records": 3}' >"$tmp/bad.json"
pm results import "$tmp/bad.json" --db "$tmp/w.db"
exits 4 "a file that holds no records is refused"
pm results drop t --db "$tmp/w.db"
exits 2 "unknown word"
# Tasks that take turns among classes, and the comparison by class.
pm extract models/llama_block.gpt models/mobilenetv3_se_block.gpt --db "$tmp/e.db" --quiet
pm task make --db "$tmp/e.db" --even --top 6 --shapes 1 --json --quiet
exits 0 "task make --even"
json "its list is JSON"
cat >"$tmp/ours.json" <<'TIMES'
{"device": "GPU X", "records": [
 {"name": "shape 0, float: 4", "graph": "a", "class": "Add", "launches": 2, "times": {"passmith eager": {
  "replay": {"seconds": 2e-6}, "cold": {"seconds": 3e-6}, "wall": {"seconds": 1e-6}, "latency": {"seconds": 1e-6}}}},
 {"name": "shape 0, float16: 4", "graph": "b", "class": "Add", "launches": 2, "times": {"passmith eager": {
  "replay": {"seconds": 8e-6}, "cold": {"seconds": 3e-6}, "wall": {"seconds": 1e-6}, "latency": {"seconds": 1e-6}}}},
 {"name": "failed", "graph": "c", "launches": 1, "error": "no"}]}
TIMES
cat >"$tmp/theirs.json" <<'TIMES'
{"torch": "2", "date": "today", "records": [
 {"graph": "b", "times": {"torch eager": {"replay": {"seconds": 4e-6}, "cold": {"seconds": 3e-6}, "wall": {"seconds": 4e-6},
  "latency": {"seconds": 4e-6}}}},
 {"graph": "a", "times": {"torch eager": {"replay": {"seconds": 4e-6}, "cold": {"seconds": 3e-6}, "wall": {"seconds": 4e-6},
  "latency": {"seconds": 4e-6}}}}, {"folder": "x", "error": "failed there"}]}
TIMES
if command -v python3 >/dev/null; then
	python3 tools/bench/parity.py "$tmp/ours.json" "$tmp/theirs.json" -o "$tmp/parity.json" >"$tmp/out"
	tap "parity.py: all bars hold"
	says "| all | 2 | 1.000 | 1.000 | 0.250 | 0.250 | 2.00 |" "its means"
	says "not timed: 1 by us, 0 by PyTorch" "what was not timed is counted"
	sed -i 's/8e-6/9e-6/' "$tmp/ours.json"
	python3 tools/bench/parity.py "$tmp/ours.json" "$tmp/theirs.json" >"$tmp/out"
	[ $? -eq 1 ]
	tap "parity.py: a bar that is missed"
	says "Missed: mean 1.061" "is said"
else
	skip "parity.py" "there is no python3"
fi
pm time models/llama_block.gpt --device emu
[ "$code" -ne 0 ]
tap "emu has no clock"
grep -q "no clock" "$tmp/err"
tap "and says so"
tap_done
