#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""levels_torch.py FOLDER... [--modes eager,inductor,max-autotune] [--blocks N] [--limit SECONDS] [--compile-only] - the PyTorch side of levels.py.

FOLDER is one graph of `passmith task export --torch`. For each folder one line of JSON: GPU time of one call with cold
caches, time on the host's clock, peak memory, and how far a compiled module is from the eager one. cuDNN searches its
algorithms and TF32 is off. A failure is a line with its reason. Needs PyTorch and a GPU; levels.py calls it.
"""
import argparse
import json
import os
import random
import signal
import statistics
import sys
import time

import torch

from ladder import worst
from torch_bench import DEVICE, Clock, draw, load_meta, load_module, read_tensor

# "max-autotune" alone would add CUDA graphs, which copy every input; GPU time has no launches to save.
MODES = {"eager": None, "inductor": {}, "max-autotune": {"mode": "max-autotune-no-cudagraphs"}}
TRAIN = 16
BUDGET = 1.0  # seconds that the calls of one side may take, about


def arguments(folder, seed):
    """The tensors of one call: constants as stored, inputs drawn as the export describes them."""
    with open(os.path.join(folder, "case.json")) as f:
        case = json.load(f)
    with open(os.path.join(folder, "data.bin"), "rb") as f:
        data = f.read()
    meta, generator = load_meta(folder), torch.Generator(device=DEVICE).manual_seed(seed)
    return [read_tensor(a, data) if a["kind"] == "constant" else draw(meta[a["name"]], generator)
            for a in case["arguments"]]


def peak_memory(run, args):
    """Bytes of a call: its arguments and the most that was allocated beside them."""
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    run(*args)
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before + sum(a.numel() * a.element_size() for a in args)


def host_seconds(run, args, calls):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        run(*args)
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / calls


def measure(clock, ways, args, blocks, seed):
    """{way: {"cold", "wall"}}: medians over blocks that take every way twice, in a random order and its reverse."""
    rng, overhead = random.Random(seed), clock.overhead()
    one = {n: host_seconds(run, args, 1) for n, run in ways.items()}
    blocks = max(2, min(blocks, int(BUDGET / max(max(one.values()), 1e-6)) // 2))
    train = max(1, min(TRAIN, int(BUDGET / max(max(one.values()), 1e-6))))
    cold, wall = {n: [] for n in ways}, {n: [] for n in ways}
    for _ in range(blocks):
        order = list(ways)
        rng.shuffle(order)
        for n in order + order[::-1]:
            seconds, _ = clock.events(lambda n=n: ways[n](*args), min(1.5 * one[n] + 50e-6, 8e-3), lambda: None)
            cold[n].append(seconds - overhead)
            wall[n].append(host_seconds(ways[n], args, train))
    return {n: {"cold": statistics.median(cold[n]), "wall": statistics.median(wall[n]), "blocks": blocks} for n in ways}


def too_long(*_):
    raise TimeoutError("It takes more than the seconds of --limit.")


def one_folder(clock, folder, o):
    module, args = load_module(folder), arguments(folder, o.seed)
    torch._dynamo.reset()
    ways, out = {}, {}
    with torch.no_grad():
        for name in o.modes:
            run = module if MODES[name] is None else torch.compile(module, dynamic=False, **MODES[name])
            try:
                signal.alarm(o.limit)
                begin = time.perf_counter()
                got = run(*args)
                torch.cuda.synchronize()
                out[name] = {"first_seconds": time.perf_counter() - begin}
                if name != "eager" and not o.compile_only:
                    out[name]["error_of_eager"] = worst(got, module(*args))
                ways[name] = run
            except Exception as e:  # one way's failure is its row
                out[name] = {"error": f"{type(e).__name__}: {e}"[:300]}
            finally:
                signal.alarm(0)
            got = None
        if o.compile_only:
            return out
        for name, run in ways.items():
            for _ in range(2):  # what cuDNN searches and the allocator asks for, once
                run(*args)
            out[name]["memory"] = peak_memory(run, args)
        for name, t in (measure(clock, ways, args, o.blocks, o.seed) if ways else {}).items():
            out[name].update(t)
    return out


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("folders", nargs="+")
    p.add_argument("--modes", default="eager,inductor", type=lambda s: s.split(","))
    p.add_argument("--blocks", type=int, default=10)
    p.add_argument("--compile-only", action="store_true")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--limit", type=lambda s: max(1, int(float(s))), default=120, help="seconds that the first call of one mode may take")
    o = p.parse_args()
    signal.signal(signal.SIGALRM, too_long)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    clock = None if o.compile_only else Clock()
    if clock:
        clock.warm()
    about = {"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
             "device": torch.cuda.get_device_name(0)}
    print(json.dumps({"about": about}), flush=True)
    for folder in o.folders:
        print(json.dumps({"begin": folder}), flush=True)
        try:
            row = one_folder(clock, folder, o)
        except Exception as e:
            row = {"error": f"{type(e).__name__}: {e}"[:300]}
        print(json.dumps({"folder": folder, "row": row}), flush=True)
        if "CUDA error" in json.dumps(row):  # every later call would fail: the caller begins again behind this one
            return 1
        torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
