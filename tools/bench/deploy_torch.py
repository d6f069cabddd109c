#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy_torch.py MODULE PACKAGE [--modes ...] [--rounds N] - one model in PyTorch's modes and as a package, in one process.

MODULE is one graph of `passmith task export --torch`, PACKAGE what `passmith compile` made of the same model. All sides get the same
tensors on the GPU, which stay where they are. Each round takes every side twice, in a random order and its reverse: one call and the wait
for its result ("latency"), and 16 calls and a wait ("train", per call). Outputs are held to the ladder of tolerances beside the eager run's
(ladder.py), and to those of the module in double, where it runs in double. One line of JSON. TF32 is off; the modes (torch_modes.py) are all with cuDNN's search or all without it. deploy.py calls it.
--device cpu tries the tool on a processor.
"""
import argparse
import json
import sys
import time

import torch

import passmith
from common import torch_measure, torch_modes
from levels_torch import arguments
from common.ladder import error, smallest_t, within, worst
from common.torch_case import load_module
from common.torch_measure import Fixed, Side, built, measure, sentence

OURS = "passmith"


def way(name, module, args, package, inputs):
    """A function that runs the model once, whatever it is given: the tensors stay where they are."""
    if name == OURS:
        return lambda *_: package(*inputs)
    run = built(name, module)
    if not torch_modes.mode(name).graph:
        return run
    graph, kept = torch_measure.recorded(run, args)

    def replay(*_):
        graph.replay()
        return kept

    return replay


def as_tuple(x):
    return tuple(x) if isinstance(x, (list, tuple)) else (x,)


def in_double(module, args):
    """Outputs of the module for the same numbers in double; None where its operators do not take double."""
    try:
        exact = as_tuple(module(*(a.double() if a.is_floating_point() else a for a in args)))
    except (RuntimeError, TypeError, ValueError):
        return None
    return exact if all(e.dtype == torch.double or not e.is_floating_point() for e in exact) else None


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("module")
    p.add_argument("package")
    p.add_argument("--modes", default="eager-search,eager-search-graph,inductor-search,reduce-overhead-search", type=torch_modes.parse)
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--limit", type=float, default=120, help="seconds that the first calls of one mode may take")
    p.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    torch_measure.use(o.device)
    try:
        torch_measure.prepare(o.modes)
    except ValueError as e:
        sys.exit(f"deploy_torch: {e}")
    module, args = load_module(o.module), arguments(o.module, o.seed)
    with open(o.module + "/case.json") as f:
        case = json.load(f)
    inputs = [t for t, a in zip(args, case["arguments"]) if a["kind"] == "input"]
    about = torch_measure.about()
    out = {"about": {k: about[k] for k in ("torch", "device")}, "ways": {}}
    bank, sides, row = Fixed(args), [], out["ways"]
    with torch.inference_mode():
        begin = time.perf_counter()
        package = passmith.load(o.package, device=o.device, graph=torch_measure.on_gpu())
        out["open_seconds"] = time.perf_counter() - begin
        expected, exact = as_tuple(module(*args)), in_double(module, args)
        for name in [OURS] + o.modes:
            try:
                with torch_measure.limit(o.limit):
                    begin = time.perf_counter()
                    run = way(name, module, args, package, inputs)
                    got = as_tuple(run(*args))
                    torch_measure.synchronize()
                    row[name] = {"first_seconds": time.perf_counter() - begin, "error_of_eager": worst(got, expected),
                                 "smallest_t": smallest_t(case["tolerance"], got, expected)}
                    if exact is not None:
                        row[name]["error_of_double"] = error(got, exact)
                    sides.append(Side(name, run, bank, "no"))
            except Exception as e:  # one way's failure is its row
                row[name] = {"error": sentence(e)}
        del exact
        times, _ = measure(None, sides, bank, o.rounds, o.seed, ("latency", "wall"))
        for i, side in enumerate(sides):
            row[side.name].update(latency=times["latency"][i]["seconds"], train=times["wall"][i]["seconds"])
    out["within"] = within(row)
    print(json.dumps(out), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
