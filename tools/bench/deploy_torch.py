#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy_torch.py MODULE PACKAGE [--modes ...] [--rounds N] - one model in PyTorch's modes and as a package, in one process.

MODULE is one graph of `passmith task export --torch`, PACKAGE what `passmith compile` made of the same model. All sides get the same
tensors on the GPU, which stay where they are. Each round takes every side twice, in a random order and its reverse: one call and the wait
for its result ("latency"), and 16 calls and a wait ("train", per call). Outputs are held to the ladder of tolerances beside the eager run's
(ladder.py). One line of JSON. cuDNN searches its algorithms; TF32 is off.
deploy.py calls it.
"""
import argparse
import json
import random
import signal
import statistics
import sys
import time

import torch

import passmith
from ladder import smallest_t, within, worst
from levels_torch import arguments, too_long
from torch_bench import DEVICE, load_module

COMPILED = {"inductor": {}, "reduce-overhead": {"mode": "reduce-overhead"}, "max-autotune": {"mode": "max-autotune"}}
TRAIN = 16


def recorded(module, args):
    """The eager module as a CUDA graph over these tensors."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            module(*args)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = module(*args)

    def run():
        graph.replay()
        return out

    return run


def way(name, module, args, package, inputs):
    """A function of no arguments that runs the model once."""
    if name == "passmith":
        return lambda: package(*inputs)
    if name == "eager":
        return lambda: module(*args)
    if name == "eager-graph":
        return recorded(module, args)
    compiled = torch.compile(module, dynamic=False, **COMPILED[name])
    return lambda: compiled(*args)


def as_tuple(x):
    return tuple(x) if isinstance(x, (list, tuple)) else (x,)


def latency(run):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def train(run):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(TRAIN):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / TRAIN


def measure(ways, rounds, seed):
    rng, times = random.Random(seed), {n: ([], []) for n in ways}
    for _ in range(rounds):
        order = list(ways)
        rng.shuffle(order)
        for n in order + order[::-1]:
            times[n][0].append(latency(ways[n]))
            times[n][1].append(train(ways[n]))
    return {n: {"latency": statistics.median(a), "train": statistics.median(b)} for n, (a, b) in times.items()}


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("module")
    p.add_argument("package")
    p.add_argument("--modes", default="eager,eager-graph,inductor,reduce-overhead", type=lambda s: s.split(","))
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--limit", type=int, default=120, help="seconds that the first call of one mode may take")
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    signal.signal(signal.SIGALRM, too_long)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    module, args = load_module(o.module), arguments(o.module, o.seed)
    with open(o.module + "/case.json") as f:
        case = json.load(f)
    inputs = [t for t, a in zip(args, case["arguments"]) if a["kind"] == "input"]
    out = {"about": {"torch": torch.__version__, "device": torch.cuda.get_device_name(0)}, "ways": {}}
    ways, row = {}, out["ways"]
    with torch.inference_mode():
        begin = time.perf_counter()
        package = passmith.load(o.package, device="cuda", graph=True)
        out["open_seconds"] = time.perf_counter() - begin
        expected = as_tuple(module(*args))
        for name in ["passmith"] + o.modes:
            try:
                signal.alarm(o.limit)
                begin = time.perf_counter()
                run = way(name, module, args, package, inputs)
                got = as_tuple(run())
                torch.cuda.synchronize()
                row[name] = {"first_seconds": time.perf_counter() - begin, "error_of_eager": worst(got, expected),
                             "smallest_t": smallest_t(case["tolerance"], got, expected)}
                for _ in range(10):
                    run()
                ways[name] = run
            except Exception as e:  # one way's failure is its row
                row[name] = {"error": f"{type(e).__name__}: {e}"[:300]}
            finally:
                signal.alarm(0)
        for name, t in measure(ways, o.rounds, o.seed).items():
            row[name].update(t)
    out["within"] = within(row)
    print(json.dumps(out), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
