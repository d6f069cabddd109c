#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# torch_autocast.sh - a sample of mixed precision, exported under autocast, gives what PyTorch gives. Needs PyTorch, onnx
# and onnxscript.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

if ! python3 -c 'import torch, onnx, onnxscript' 2>/dev/null; then
	skip "a sample of mixed precision" "there is no PyTorch with onnx and onnxscript"
	tap_done
	exit
fi
mkdir "$tmp/net"
cat >"$tmp/net/model.py" <<'P'
import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, w, b, scale):
        y = torch.nn.functional.linear(x, w, b)
        return (torch.nn.functional.gelu(y) * scale,)
P
for i in 'x [4,32] float16 0.0 1.0' 'w [24,32] float32 0.0 0.2' 'b [24] float32 0.0 0.1' 'scale [24] float32 1.0 0.1'; do
	# shellcheck disable=SC2086
	set -- $i
	printf 'class %s:\n    name = "%s"\n    shape = %s\n    dtype = "torch.%s"\n    mean = %s\n    std = %s\n    data = None\n\n\n' \
		"$1" "$1" "$2" "$3" "$4" "$5" >>"$tmp/net/weight_meta.py"
done
python3 tools/bench/import_kernelbench.py "$tmp/net" -o "$tmp/o" >"$tmp/out" 2>"$tmp/err"
code=$?
exits 0 "the sample, which runs only under autocast, is exported"
pm import --types infer "$tmp/o/net.onnx" -o "$tmp/net.gpt"
exits 0 "and imported"
grep -q "Cast" "$tmp/net.gpt"
tap "what autocast converts is a Cast"
pm run "$tmp/o/net.onnx" --types infer --device ref --save "$tmp/run"
exits 0 "it runs"
# float16's tolerance at level -3 (docs/reference/scoring.md): 10^(-3 * 3/5) + 10^-3 of the value
cat >"$tmp/same.py" <<'P'
import importlib.util
import sys

import onnx
import torch
from onnx import numpy_helper


def tensor(path):
    t = onnx.TensorProto()
    with open(path, "rb") as f:
        t.ParseFromString(f.read())
    return torch.from_numpy(numpy_helper.to_array(t).copy())


spec = importlib.util.spec_from_file_location("model", sys.argv[1] + "/net/model.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
n = len(onnx.load(sys.argv[1] + "/run/model.onnx").graph.input)
data = sys.argv[1] + "/run/test_data_set_0/"
args = [tensor(f"{data}input_{k}.pb") for k in range(n)]
with torch.no_grad(), torch.autocast("cpu", dtype=torch.float16):
    want = module.GraphModule()(*args)[0]
got = tensor(data + "output_0.pb")
assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, want.dtype)
assert want.abs().max() > 0.1, "the sample gives next to nothing"
torch.testing.assert_close(got, want, atol=10 ** (-3 * 3 / 5), rtol=1e-3)
P
python3 "$tmp/same.py" "$tmp" >"$tmp/out" 2>"$tmp/err"
tap "and gives what PyTorch gives under autocast"
tap_done
