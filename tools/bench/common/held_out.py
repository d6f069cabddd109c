#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""held_out.py kept|held-out|all [PATH...] - which models no constant and no rule may be fitted to.

A tenth of all models is held out of whatever tunes: benchmarks that a pass is developed on, fits of a cost model, searches for
constants. Which ones follows from the model's name alone, so that a model which comes later has its place already. This is the one
place of the rule: tools import it, or filter paths through it (arguments, or lines of standard input).

    find ~/models -name '*.onnx' | tools/bench/common/held_out.py kept
"""
import hashlib
import os
import sys

ONE_IN = 10
WHICH = ("kept", "held-out", "all")


def model_name(path):
    """The name of a model file: without folder and .onnx or .gpt."""
    base = os.path.basename(path)
    return base[:-len(os.path.splitext(base)[1])] if base.endswith((".onnx", ".gpt")) else base


def held_out(name):
    """Whether the model of this name, or in this file, is held out."""
    digest = hashlib.sha256(b"passmith, held out: " + model_name(name).encode()).digest()
    return int.from_bytes(digest[:8], "big") % ONE_IN == 0


def choose(paths, which):
    """Those of the paths that are kept, held out, or all, in their order."""
    if which not in WHICH:
        raise ValueError(f"There are no models of the kind '{which}'; give {', '.join(WHICH)}.")
    return [p for p in paths if which == "all" or held_out(p) == (which == "held-out")]


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in WHICH:
        sys.exit(__doc__)
    for path in choose(sys.argv[2:] or sys.stdin.read().splitlines(), sys.argv[1]):
        print(path)
