#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accuracy.py PASS.so MODEL... - how near a pass's kernels and the eager run come to the double-precision reference.

For each model and output: the error of the eager run and of the rewritten model against the reference (nrms: root mean
square of the difference over that of the reference), over several seeded inputs, both on the same device. A pass may not
be more than twice as far away as the eager run; errors below half of what rounding the result once may cost count as that.
Prints what is, and a summary; exit 1 when something is. Models that one run of takes longer than --deadline are counted.

    build/passmith task show 13 --db work.db | sed '/^# member 1/,$d' >13.gpt
    tools/bench/accuracy.py build/passes/fuse.so *.gpt
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

ROUNDING = {"float": 2.0**-25, "float16": 2.0**-12, "bfloat16": 2.0**-9, "double": 2.0**-54}


def passmith(args, words, deadline):
    exe = os.path.join(args.build, "passmith")
    try:
        done = subprocess.run([exe] + words, capture_output=True, text=True, timeout=deadline)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def errors(args, path):
    """Of each output its type and the error over all seeds; None when it takes too long."""
    squares, types = [], []
    for seed in range(1, args.seeds + 1):
        out = passmith(args, ["run", path, "--device", args.device, "--compare", "ref", "--seed", str(seed), "--json",
                              "--quiet"], args.deadline)
        if out is None:
            return None
        found = json.loads(out)["outputs"]
        types = [o["type"].split("[")[0] for o in found]
        squares = squares or [0.0] * len(found)
        for i, o in enumerate(found):
            squares[i] += (o["compared"]["nrms"] or 0.0) ** 2
    return [(t, math.sqrt(s / args.seeds)) for t, s in zip(types, squares)]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("so")
    p.add_argument("model", nargs="+")
    p.add_argument("--build", default="build", help="the folder with passmith")
    p.add_argument("--device", default="emu")
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--deadline", type=float, default=20, help="seconds for a run")
    args = p.parse_args()
    ratios, slow, same, far = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as work:
        fused = os.path.join(work, "fused.onnx")
        for path in args.model:
            told = passmith(args, ["apply", path, "--pass", args.so, "-o", fused, "--json", "--quiet"], args.deadline)
            if told is None or not any(d.get("applied") for d in json.loads(told)["passes"]):
                same += 1
                continue
            eager, ours = errors(args, path), errors(args, fused)
            if eager is None or ours is None:
                slow += 1
                continue
            for i, ((t, e), (_, f)) in enumerate(zip(eager, ours)):
                if t not in ROUNDING:
                    continue
                ratio = max(f, ROUNDING[t]) / max(e, ROUNDING[t])
                ratios.append(ratio)
                if ratio > 2:
                    far += 1
                    print(f"{path}: output {i} ({t}): {f:.3g}, eager {e:.3g}: {ratio:.2f} times")
                    sys.stdout.flush()
    ratios.sort()
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} outputs: {mean:.2f} times the eager run's error (geometric mean), median "
              f"{ratios[len(ratios) // 2]:.2f}, largest {ratios[-1]:.2f}, {far} above 2; ", end="")
    print(f"{same} models were left as they are, {slow} took too long")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
