#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# import_kernelbench.sh - PyTorch problems to ONNX: what fails is a row, and the others go on. What fails is tried with a
# stand-in for PyTorch; what works needs PyTorch, onnx and onnxscript.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

tool=$PWD/tools/bench/import_kernelbench.py
if ! command -v python3 >/dev/null; then
	skip "problems become models" "there is no python3"
	tap_done
	exit
fi
convert() # ARGUMENT...
{
	python3 "$tool" "$@" >"$tmp/out" 2>"$tmp/err"
	code=$?
}

mkdir -p "$tmp/stand_in/onnxscript" "$tmp/p/level1"
printf 'def manual_seed(seed):\n    pass\n\n\ndef rand():\n    pass\n\n\nrand_like = rand\n' >"$tmp/stand_in/torch.py"
printf 'ir = optimizer = None\n' >"$tmp/stand_in/onnxscript/__init__.py"
tail='
def get_inputs():
    return []


def get_init_inputs():
    return []
'
printf 'import os\n\n\nclass Model:\n    def __init__(self):\n        os.abort()\n%s' "$tail" >"$tmp/p/level1/1_crash.py"
printf 'x = 1\n' >"$tmp/p/level1/2_nothing.py"
printf 'import time\n\n\nclass Model:\n    def __init__(self):\n        time.sleep(1000000)\n%s' "$tail" >"$tmp/hang.py"
PYTHONPATH=$tmp/stand_in
export PYTHONPATH
convert "$tmp/p" -o "$tmp/o" --json "$tmp/table.json"
exits 1 "problems that are not exported"
says "left out  level1__1_crash  The process died of signal 6." "a crash is a row"
says "left out  level1__2_nothing  ValueError: The file has no Model" "and the next one is tried"
says "0 of 2 problems exported" "they are counted"
grep -q '"reason": "The process died of signal 6."' "$tmp/table.json"
tap "the table as JSON has the reasons"
convert "$tmp/hang.py" -o "$tmp/o" --time-limit 1
exits 1 "a problem that hangs"
says "left out  hang  It takes longer than 1 s." "it is stopped"
[ -z "$(ls "$tmp/o")" ]
tap "nothing is left of what failed"
mkdir -p "$tmp/set/samples/a/net" "$tmp/set/lists"
printf 'samples/a/net\n\n# a comment\nsamples/b/gone\n' >"$tmp/set/lists/some.txt"
printf 'class GraphModule:\n    def forward(self, x):\n        return x\n' >"$tmp/set/samples/a/net/model.py"
convert "$tmp/set/lists/some.txt" -o "$tmp/o"
exits 1 "a list of samples"
says "left out  samples__a__net  ValueError: weight_meta.py and input_meta.py do not describe the operand x." \
	"a sample is found from the list, and its reason is said"
says "left out  samples__b__gone  There is no folder samples/b/gone in" "one that is not there is a row"
says "0 of 2 problems exported" "comments and empty lines are none"

unset PYTHONPATH

if ! python3 -c 'import torch, onnx, onnxscript' 2>/dev/null; then
	skip "a problem becomes a model" "there is no PyTorch with onnx and onnxscript"
	tap_done
	exit
fi
cat >"$tmp/p/level1/3_gate.py" <<'P'
import torch


class Model(torch.nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = torch.nn.Linear(n, m)
        self.bn = torch.nn.BatchNorm1d(m)

    def forward(self, x):
        return torch.relu(self.bn(self.fc(x)))


def get_inputs():
    return [torch.rand(16, 32)]


def get_init_inputs():
    return [32, 24]
P
convert "$tmp/p/level1/3_gate.py" -o "$tmp/trained" --train
exits 0 "a problem is exported in training mode"
pm print "$tmp/trained/level1__3_gate.onnx"
says ReduceMean "mean and variance are those of the batch"
! grep -q "BatchNormalization\|running_mean" "$tmp/out"
tap "BatchNorm is plain operators"
sed 's/self.bn(self.fc(x))/torch.nn.functional.dropout(self.fc(x), 0.5, self.training)/' "$tmp/p/level1/3_gate.py" >"$tmp/drop.py"
convert "$tmp/drop.py" -o "$tmp/trained" --train
exits 1 "what draws random numbers is left out in training mode"
says "draws random numbers" "with the reason"
convert "$tmp/p/level1/3_gate.py" -o "$tmp/o"
exits 0 "a problem is exported"
pm print --stats "$tmp/o/level1__3_gate.onnx"
says 'float[24,32] "fc.weight"' "weights are inputs"
says 'law\": \"uniform\"' "what comes from torch.rand is uniform"
pm task from "$tmp/o/level1__3_gate.onnx" --db "$tmp/t.db" --shapes 1
exits 0 "and becomes a task"
printf '<ir_version: 8, opset_import: ["" : 18]>\nm (float[4,8] x, float[8,6] w, float[6] b) => (float[4,6] y) { a = MatMul (x, w)\n s = Sigmoid (a)\n y = Mul (s, b) }\n' >"$tmp/back.gpt"
pm task from "$tmp/back.gpt" --db "$tmp/there.db" --shapes 1
pm task export back --db "$tmp/there.db" --torch "$tmp/torch"
convert "$tmp/torch" -o "$tmp/models"
exits 0 "a task's PyTorch folder is exported as well"
pm task from "$tmp"/models/*.onnx --db "$tmp/back.db" --shapes 1 --name back
one=$("$passmith" db query "SELECT hash FROM tasks" --db "$tmp/there.db")
[ -n "$one" ] && [ "$one" = "$("$passmith" db query "SELECT hash FROM tasks" --db "$tmp/back.db")" ]
tap "the round trip gives the same task"
pm task from "$tmp/o/level1__3_gate.onnx" --db "$tmp/gate.db" --shapes 1 --name gate
pm task export gate --db "$tmp/gate.db" --torch "$tmp/gate"
convert "$tmp/gate" -o "$tmp/gate_models"
exits 0 "a task of Linear and BatchNorm, with laws, is exported too"
pm task from "$tmp"/gate_models/*.onnx --db "$tmp/gate_back.db" --shapes 1 --name gate
one=$("$passmith" db query "SELECT hash FROM tasks" --db "$tmp/gate.db")
[ -n "$one" ] && [ "$one" = "$("$passmith" db query "SELECT hash FROM tasks" --db "$tmp/gate_back.db")" ]
tap "the round trip gives the same task, laws included"
tap_done
