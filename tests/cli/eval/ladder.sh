#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ladder.sh - tools/bench/common/ladder.py, by which PyTorch's outputs and those of packages are compared, on the ladder that
# `task export --torch` writes; and the page of packages, whose levels come from it. The tensors are PyTorch's where it is
# installed, else lists that have the methods that are used.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

if ! command -v python3 >/dev/null; then
	skip "the ladder of tolerances" "there is no python3"
	tap_done
	exit
fi
silu_graph 'float[8,64]'
pm task export "$tmp/silu.gpt" --torch "$tmp/exported" --max-check 0
exits 0 "an export"
case_json=$(find "$tmp/exported" -name case.json | head -n 1)
[ -n "$case_json" ]
tap "has the ladder"
cat >"$tmp/tensors.py" <<'PYTHON'
"""Lists with the methods of PyTorch's tensors that ladder.py uses; tensor() is PyTorch's own where it is there."""
import math


class DType:
    def __init__(self, name):
        self.name, self.is_floating_point = name, "float" in name

    def __str__(self):
        return "torch." + self.name

    def __eq__(self, o):
        return self.name == o.name


class Tensor:
    def __init__(self, v, dtype):
        self.v, self.dtype, self.shape = list(v), dtype, (len(v),)

    def each(self, f, o=None):
        w = o.v if isinstance(o, Tensor) else [o] * len(self.v)
        return Tensor([f(a, b) for a, b in zip(self.v, w)], self.dtype)

    def __eq__(self, o):
        return self.each(lambda a, b: a == b, o)

    def __or__(self, o):
        return self.each(lambda a, b: a or b, o)

    def __and__(self, o):
        return self.each(lambda a, b: a and b, o)

    def __sub__(self, o):
        return self.each(lambda a, b: a - b, o)

    def __add__(self, o):
        return self.each(lambda a, b: a + b, o)

    def __mul__(self, o):
        return self.each(lambda a, b: a * b, o)

    def __le__(self, o):
        return self.each(lambda a, b: a <= b, o)

    def __getitem__(self, o):
        return Tensor([a for a, b in zip(self.v, o.v) if b], self.dtype)

    def double(self):
        return self

    def abs(self):
        return self.each(lambda a, _: abs(a))

    def isnan(self):
        return self.each(lambda a, _: math.isnan(a))

    def isfinite(self):
        return self.each(lambda a, _: math.isfinite(a))

    def all(self):
        return all(self.v)

    def any(self):
        return any(self.v)

    def max(self):
        return Tensor([max(self.v)], self.dtype)

    def item(self):
        return self.v[0]


def tensor(v, name):
    try:
        import torch
    except ImportError:
        return Tensor(v, DType(name))
    return torch.tensor(v, dtype=getattr(torch, name))
PYTHON
cat >"$tmp/levels.py" <<'PYTHON'
import json
import math
import sys

sys.path[:0] = [sys.argv[1], sys.argv[2]]
from common.ladder import NEVER, error, smallest_t, within, worst
from tensors import tensor

with open(sys.argv[3]) as f:
    ladder = json.load(f)["tolerance"]


def t(got, want, kind="float32", other=None):
    return smallest_t(ladder, [tensor(got, other or kind)], [tensor(want, kind)])


nan, inf = math.nan, math.inf
assert t([1.0, nan, inf], [1.0, nan, inf]) == -10
assert t([1.0, 2.0], [1.0, nan]) == NEVER and t([1.0], [inf]) == NEVER and t([inf], [-inf]) == NEVER
for kind in "float32", "float16", "bfloat16", "float64":
    assert [r[0] for r in ladder["torch." + kind]] == list(range(-10, 6)), kind
    assert t([1.0, -2.0], [1.0, -2.0], kind) == -10
# What is within a level's tolerance by a tenth is right there, and by twice of it not.
for level, atol, rtol in ladder["torch.float64"]:
    assert t([1.0 + 0.9 * (atol + rtol)], [1.0], "float64") <= level < t([1.0 + 2 * (atol + rtol)], [1.0], "float64"), level
# float32 at -5 is PyTorch's own: rtol 1.3e-6, atol 1e-5.
assert t([1.0 + 1.0e-5], [1.0]) == -5 and t([1.0 + 1.3e-5], [1.0]) == -4
assert t([1000.0, 0.0], [1000.0, 1e-6]) <= -5
assert t([1, 2], [1, 2], "int64") == -10 and t([1, 3], [1, 2], "int64") == NEVER
assert t([1.0], [1.0], "float32", "float64") == NEVER and t([1.0, 1.0], [1.0]) == NEVER
assert smallest_t(ladder, [], [tensor([1.0], "float32")]) == NEVER
two = [tensor([1.0], "float32"), tensor([2.1], "float32")]
assert smallest_t(ladder, two, [tensor([1.0], "float32"), tensor([2.0], "float32")]) == t([2.1], [2.0])
assert abs(worst([tensor([4.0, 1.0], "float32")], [tensor([4.0, 2.0], "float32")]) - 0.25) < 1e-12
assert worst([tensor([1, 3], "int64")], [tensor([1, 2], "int64")]) == inf
assert worst([tensor([nan], "float32")], [tensor([1.0], "float32")]) == inf
assert worst([tensor([1.0], "float32")], [tensor([1.0], "float64")]) == inf and error([tensor([1.5], "float32")], [tensor([2.0], "float64")]) == 0.25
assert within({"passmith": {"smallest_t": -5}, "eager-graph": {"smallest_t": -10}}) is True
assert within({"passmith": {"smallest_t": -4}, "eager-graph": {"smallest_t": -10}}) is False
assert within({"passmith": {"smallest_t": -2}, "inductor": {"smallest_t": -2}}) is True
assert within({"passmith": {"smallest_t": -2}, "inductor": {"smallest_t": NEVER}}) is False
for ours, name, want in (2e-3, "eager-search", True), (4e-3, "eager-search", False), (2e-3, "inductor", False):
    assert within({"passmith": {"smallest_t": -3, "error_of_double": ours}, name: {"smallest_t": -4, "error_of_double": 3e-3}}) is want, (ours, name)
for far, want in (2e-3, True), (4e-3, False):
    assert within({"passmith": {"smallest_t": -3, "error_of_eager": far, "error_of_double": 5e-3}, "eager": {"smallest_t": -4, "error_of_double": 3e-3}}) is want
assert within({"passmith": {"smallest_t": -3, "error_of_eager": 0.1}, "eager": {"smallest_t": -4}}) is False
assert within({"passmith": {"smallest_t": -3}, "eager": {"smallest_t": -4, "error_of_double": 3e-3}}) is False
assert within({"passmith": {"error": "no"}, "inductor": {"smallest_t": -2}}) is None
PYTHON
python3 "$tmp/levels.py" tools/bench "$tmp" "$case_json" >"$tmp/out" 2>"$tmp/err"
tap "levels, NaNs, infinities, other types and shapes, and what is within bounds"
if command -v "${TEST_PYTHON:-}" >/dev/null && "$TEST_PYTHON" -c 'import torch' 2>/dev/null; then
	"$TEST_PYTHON" "$tmp/levels.py" tools/bench "$tmp" "$case_json" >"$tmp/out" 2>"$tmp/err"
	tap "the same with PyTorch's tensors"
fi

# The page: a row that is within bounds, one that is not, one of an earlier run that says nothing.
cat >"$tmp/deploy.json" <<'JSON'
{"date": "2026-01-02", "hardware": "GPU X", "version": "passmith 0", "modes": "eager,inductor", "rows": {
 "near float": {"about": {"torch": "2.11"}, "within": true, "serve": {"open_seconds": 0.1, "warming_seconds": 0.02, "first_seconds": 4e-4, "tenth_seconds": 3e-4,
  "mean_seconds": 3e-4, "host": {"runs": 200, "run_seconds": 5.5e-6, "launch_seconds": 5e-6}}, "compile_seconds": 1, "bytes": 1e6, "ways": {
  "passmith": {"latency": 1e-4, "train": 1e-4, "error_of_eager": 1e-6, "error_of_double": 3e-7, "smallest_t": -6}, "eager": {"latency": 2e-4, "train": 2e-4, "smallest_t": -10, "error_of_double": 4e-7},
  "inductor": {"latency": 3e-4, "train": 3e-4, "smallest_t": -5}}},
 "far float": {"about": {"torch": "2.11"}, "within": false, "compile_seconds": 1, "bytes": 1e6, "ways": {
  "passmith": {"latency": 1e-4, "train": 1e-4, "error_of_eager": 1e-1, "smallest_t": 99}, "eager": {"latency": 2e-4, "train": 2e-4, "smallest_t": -10}}},
 "old float": {"about": {"torch": "2.11"}, "compile_seconds": 1, "bytes": 1e6, "ways": {
  "passmith": {"latency": 1e-4, "train": 1e-4, "error_of_eager": 1e-6}, "eager": {"latency": 2e-4, "train": 2e-4}}}}}
JSON
python3 tools/gen/deploy_page.py "$tmp/deploy.json" "$tmp/deploy.md" >"$tmp/out" 2>"$tmp/err"
tap "a page is made"
grep -q '^| near float .* | -6 | -5 | 3.0e-07 | 4.0e-07 |$' "$tmp/deploy.md" && grep -q '^| far float .* | 99 | -10 | - | - |$' "$tmp/deploy.md" &&
	grep -q '^| old float .* | - | - | - | - |$' "$tmp/deploy.md" && grep -q '^Outputs of 1 of 2 packages are within bounds\.$' "$tmp/deploy.md"
tap "with the level of each package and of PyTorch's modes, both errors beside double, and how many are within bounds"
grep -q '^| near float | 100.00 | 20.00 | 0.40 | 0.30 | 0.30 | 5.5, 1.10 times | ' "$tmp/deploy.md"
tap "and what serve-bench said of warm sessions and of the host"
tap_done
