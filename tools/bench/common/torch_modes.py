#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_modes.py - PyTorch's modes by name, and which of them was best. Needs no PyTorch: pages use it, too.

A mode's name is BASE[-search][-graph]. BASE says how the module runs:

    eager            operator by operator
    inductor         torch.compile, TorchInductor as it comes
    max-autotune     TorchInductor, which times its templates and libraries, with coordinate descent tuning
    reduce-overhead  TorchInductor with CUDA graphs of its own

-search lets cuDNN search its algorithms (torch.backends.cudnn.benchmark). -graph replays the calls as one CUDA graph that is recorded
from outside. A time is a dictionary {kind: {"seconds"}}: `cold` and `replay` are on the GPU's clock, `wall`, `latency`, `graph_wall` and
`graph_latency` on the host's. What was not measured is absent.

Within one process PyTorch keeps cuDNN's choice for a convolution whatever the switch says later. So modes with and without -search are
measured in processes of their own (`groups`).
"""
import argparse
import collections

BASES = {"eager": "eager", "inductor": "TorchInductor", "max-autotune": "TorchInductor, max-autotune",
         "reduce-overhead": "TorchInductor, CUDA graphs"}
# What a careful user would try; max-autotune takes minutes for a graph.
CAREFUL = "eager,inductor,eager-search,inductor-search,max-autotune-search"
# Kinds of a time by the clock that they are on. A call of the first of each pair launches, of the second replays a graph.
GPU, HOST, HOST_LATENCY = ("replay",), ("wall", "graph_wall"), ("latency", "graph_latency")
Mode = collections.namedtuple("Mode", "name base search graph")


class ModeError(argparse.ArgumentTypeError, ValueError):
    """A sentence about a name that is no mode; argparse prints it."""


def mode(name):
    """The parts of a name; ModeError with a sentence for a name that is none."""
    rest, graph = (name[:-len("-graph")], True) if name.endswith("-graph") else (name, False)
    base, search = (rest[:-len("-search")], True) if rest.endswith("-search") else (rest, False)
    if base not in BASES:
        raise ModeError(f"There is no mode '{name}'; give {', '.join(BASES)}, each also with -search, -graph or -search-graph behind it.")
    if graph and base == "reduce-overhead":
        raise ModeError(f"The mode '{name}' would record CUDA graphs in a CUDA graph; give reduce-overhead or inductor-graph.")
    return Mode(name, base, search, graph)


def parse(text):
    """The names of a list with commas, checked."""
    names = [n for n in text.split(",") if n]
    if not names:
        raise ModeError("The list of modes is empty; give at least eager.")
    for n in names:
        mode(n)
        if names.count(n) > 1:
            raise ModeError(f"The mode '{n}' is given twice.")
    return names


def groups(names):
    """The names in lists of which each can be measured in one process: without cuDNN's search, then with it."""
    parts = [[n for n in names if mode(n).search == search] for search in (False, True)]
    return [p for p in parts if p]


def title(name, search=True):
    """For people; `search` False leaves out what a page says of all its modes."""
    m = mode(name)
    return BASES[m.base] + (", cuDNN search" if m.search and search else "") + (", CUDA graph" if m.graph else "")


def system(name):
    """The mode in a file for `passmith results import`."""
    return "torch " + name


def column(name):
    """The mode as `passmith bench` calls it."""
    return "torch-" + name


def best(times, kinds):
    """(seconds, mode, kind) of the fastest of {mode: {kind: {"seconds": s} or s}}; None when nothing was measured."""
    found = []
    for name, of in times.items():
        for kind in kinds:
            s = of.get(kind)
            s = s.get("seconds") if isinstance(s, dict) else s
            if s:
                found.append((s, name, kind))
    return min(found) if found else None


# ---- files of before ----

OLD = ("eager", "inductor", "max-autotune", "eager-graph", "reduce-overhead")
NAMED = 2  # "mode_names" of a file of levels.py or deploy.py whose modes are named as here


def searching(name):
    m = mode(name)
    return f"{m.base}-search" + ("-graph" if m.graph else "")


def renew(data, rows_of):
    """levels.json and deploy.json once had eager for what is eager-search: all their modes searched. Renames those of the dictionaries that
    rows_of(data) gives, in place."""
    if data.get("mode_names") == NAMED:
        return data
    for row in rows_of(data):
        for old in OLD:
            if old in row:
                row[searching(old)] = row.pop(old)
    if isinstance(data.get("modes"), str):
        data["modes"] = ",".join(searching(n) for n in data["modes"].split(","))
    data["mode_names"] = NAMED
    return data
