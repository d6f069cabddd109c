#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_case.py - what `passmith task export --torch` wrote of a graph: its module, its inputs, and how near results are to what they should be (ladder.py)."""
import importlib.util
import json
import os
import random

import torch

from common.ladder import smallest_t, worst
from common.torch_measure import device

DEPTH, SETS = 8, 4
# How far a computed element may be from the stored one, relative to the largest of the output.
BOUND = {torch.float32: 2e-4, torch.float64: 1e-9, torch.float16: 2e-2, torch.bfloat16: 1e-1}


def find_cases(folders):
    for folder in folders:
        for at, dirs, files in sorted(os.walk(folder)):
            if "graph_net.json" in files and "case.json" in files:
                yield at


def in_order(folders, timed):
    """The folders of the graphs that another file has times of, in its order."""
    if not timed:
        return folders
    with open(timed) as f:
        wanted = [r["graph"] for r in json.load(f)["records"] if "times" in r]
    at = {}
    for folder in folders:
        with open(os.path.join(folder, "case.json")) as f:
            at[json.load(f).get("graph", "")] = folder
    return [at[g] for g in wanted if g in at]


def load_module(folder):
    spec = importlib.util.spec_from_file_location("case_" + str(abs(hash(folder))), os.path.join(folder, "model.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.GraphModule().to(device())


def load_meta(folder):
    names = {}
    with open(os.path.join(folder, "weight_meta.py")) as f:
        exec(f.read(), names)
    return {c.name: c for n, c in names.items() if n.startswith("Program_weight_tensor_meta_")}


def read_tensor(entry, data):
    dtype = getattr(torch, entry["dtype"].split(".")[1])
    if entry["bytes"] == 0:
        return torch.empty(entry["shape"], dtype=dtype, device=device())
    part = bytearray(data[entry["offset"]:entry["offset"] + entry["bytes"]])
    return torch.frombuffer(part, dtype=dtype).reshape(entry["shape"]).to(device())


def draw(meta, generator):
    """A tensor like the one that the export described."""
    dtype = getattr(torch, meta.dtype.split(".")[1])
    shape = list(meta.shape)
    if meta.data is not None:
        return torch.tensor(meta.data, dtype=dtype, device=device()).reshape(shape)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator, device=device()) > 0.5
    if not dtype.is_floating_point:
        return torch.randint(int(meta.min_val), int(meta.max_val) + 1, shape, generator=generator, device=device(),
                             dtype=torch.int64).to(dtype)
    x = torch.randn(shape, generator=generator, device=device()) * (meta.std or 0.0) + (meta.mean or 0.0)
    if getattr(meta, "min_val", None) is not None:
        x = x.clamp(min=meta.min_val)
    return x.to(dtype)


class Bank:
    """Sets of inputs, of which every call gets others: a set's tensors with their rows turned."""

    def __init__(self, case, folder, seed, places=DEPTH):
        generator = torch.Generator(device=device()).manual_seed(seed)
        meta = load_meta(folder)
        with open(os.path.join(folder, "data.bin"), "rb") as f:
            data = f.read()
        self.stored = [read_tensor(a, data) if "offset" in a else None for a in case["arguments"]]
        self.sets = [[self.stored[i] if a["kind"] == "constant" or (s == 0 and self.stored[i] is not None)
                      else draw(meta[a["name"]], generator) for i, a in enumerate(case["arguments"])]
                     for s in range(SETS)]
        self.turned = [a["kind"] == "input" for a in case["arguments"]]
        self.pool = [[torch.empty_like(t) if turn else t for t, turn in zip(self.sets[0], self.turned)]
                     for _ in range(places)]
        self.expected = [read_tensor(r, data) for r in case["results"]]

    def fill(self, place, index):
        for i, turn in enumerate(self.turned):
            if not turn:
                continue
            r = random.Random(index * 1000003 + i)
            x, to = self.sets[r.randrange(SETS)][i], self.pool[place][i]
            dim = 0 if x.dim() == 1 else max(x.dim() - 2, 0)
            n = x.shape[dim] if x.dim() else 1
            k = r.randrange(n) if n > 1 else 0
            if k == 0:
                to.copy_(x)
            else:
                to.narrow(dim, 0, n - k).copy_(x.narrow(dim, k, n - k))
                to.narrow(dim, n - k, k).copy_(x.narrow(dim, 0, k))
        return self.pool[place]


def check(case, run, bank):
    if not bank.expected:
        return None
    error = worst(run(*bank.sets[0]), bank.expected)
    kinds = [t.dtype for t in bank.expected if t.dtype.is_floating_point]
    kinds += [t.dtype for t in bank.sets[0] if t.dtype.is_floating_point]
    return {"error": error, "agrees": error <= max([BOUND[k] for k in kinds] or [0.0])}


def accuracy(case, module, run, bank):
    """How close a way to run the module comes to running it operator by operator, over the sets of inputs: a level of tolerance."""
    return max(smallest_t(case["tolerance"], run(*x), module(*x)) for x in bank.sets)
