#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""levels_torch.py FOLDER... [--modes eager-search,inductor-search] [--blocks N] [--limit SECONDS] [--compile-only] - the PyTorch side of levels.py.

FOLDER is one graph of `passmith task export --torch`. For each folder one line of JSON: GPU time of one call with cold caches, time on
the host's clock, peak memory, and how far a compiled module is from the eager one. The modes are those of torch_modes.py, all with
cuDNN's search or all without it. TF32 is off. A failure is a line with its reason. Needs PyTorch and a GPU (--device cpu tries the tool);
levels.py calls it.
"""
import argparse
import json
import os
import sys
import time

import torch

from common import torch_measure, torch_modes
from common.ladder import worst
from common.torch_case import draw, load_meta, load_module, read_tensor
from common.torch_measure import Clock, Fixed, Side, built, is_fatal, measure, sentence

BUDGET = 1.0  # seconds that the calls of one side may take, about


def arguments(folder, seed):
    """The tensors of one call: constants as stored, inputs drawn as the export describes them."""
    with open(os.path.join(folder, "case.json")) as f:
        case = json.load(f)
    with open(os.path.join(folder, "data.bin"), "rb") as f:
        data = f.read()
    meta, generator = load_meta(folder), torch.Generator(device=torch_measure.device()).manual_seed(seed)
    return [read_tensor(a, data) if a["kind"] == "constant" else draw(meta[a["name"]], generator)
            for a in case["arguments"]]


def one_folder(clock, folder, o):
    module, args = load_module(folder), arguments(folder, o.seed)
    torch._dynamo.reset()
    bank, sides, out = Fixed(args), [], {}
    with torch.no_grad():
        for name in o.modes:
            run = built(name, module)
            try:
                with torch_measure.limit(o.limit):
                    begin = time.perf_counter()
                    got = run(*args)
                    torch_measure.synchronize()
                    row = {"first_seconds": time.perf_counter() - begin}
                    if torch_modes.mode(name).base != "eager" and not o.compile_only:
                        row["error_of_eager"] = worst(got, module(*args))
                    got = None
                    if not o.compile_only:
                        sides.append(Side(name, run, bank, "no"))
                        row["memory"] = torch_measure.peak_bytes(lambda run=run: run(*args), args)
                out[name] = row
            except Exception as e:  # one way's failure is its row
                out[name] = {"error": sentence(e)}
            got = None
        if sides:
            times, how = measure(clock, sides, bank, o.blocks, o.seed, ("cold", "wall"), BUDGET)
            for i, side in enumerate(sides):
                out[side.name].update({k: times[k][i]["seconds"] for k in times}, blocks=how["blocks"])
    return out


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("folders", nargs="+")
    p.add_argument("--modes", default="eager-search,inductor-search", type=torch_modes.parse)
    p.add_argument("--blocks", type=int, default=10)
    p.add_argument("--compile-only", action="store_true")
    p.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--limit", type=float, default=120, help="seconds that the first calls of one mode may take")
    o = p.parse_args()
    torch_measure.use(o.device)
    try:
        torch_measure.prepare(o.modes)
    except ValueError as e:
        sys.exit(f"levels_torch: {e}")
    clock = None if o.compile_only else Clock()
    if clock:
        clock.warm()
    print(json.dumps({"about": torch_measure.about()}), flush=True)
    for folder in o.folders:
        print(json.dumps({"begin": folder}), flush=True)
        try:
            row = one_folder(clock, folder, o)
        except Exception as e:
            row = {"error": sentence(e)}
        print(json.dumps({"folder": folder, "row": row}), flush=True)
        if is_fatal(json.dumps(row)):  # every later call would fail: the caller begins again behind this one
            return 1
        if torch_measure.on_gpu():
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
