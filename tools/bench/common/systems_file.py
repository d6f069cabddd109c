#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""systems_file.py - the times of several systems on the same graphs as one file, the form of docs/results/h200_systems.json.

A graph is {"task", "variant", "class", "launches", SYSTEM: [replay us, cold us, host us, t], ...}: `t` is the level of tolerance from which on the
answer is right, and is absent for what others are compared with; null is a pass that declined. Beside the systems a graph may have

    "graph_host"  {SYSTEM: us}: a call of a train of 16 on the host's clock, each of which replays a CUDA graph
    "failed"      {SYSTEM: sentence}: why it has no times

What was not measured is absent. `passmith report --times` and tools/gen/results_pages.py read the file.
"""
import json
import math
import os

from common import torch_modes

COLUMNS = ["replay us", "cold us", "host us, a call of a train of 16", "t at which it agrees with the eager run of its own side; fuse: null where it declined"]
CLOCKS = ("replay", "cold", "wall")


def us(seconds):
    return float(f"{1e6 * seconds:.4g}")


def cell(one, reference):
    """The list of a system in bench.json, None where it declined; raises KeyError where a clock has no time."""
    if not one["changed"] and not reference:
        return None
    times = [us(one[c]) for c in CLOCKS]
    return times if reference else times + [one["smallest_t"]]


def is_reference(name):
    return name in ("torch-eager", "torch-eager-search", "eager")


def graph_of(g, record, ours):
    """A graph of bench.json with what torch_bench.py (`record`) and `passmith time --graphs` (`ours`) have of it; either may be {}."""
    out = {"task": g["task"], "variant": g["variant"], "class": ours.get("class", ""), "launches": ours.get("launches", 0)}
    for name, one in g["systems"].items():
        if all(c in one for c in CLOCKS):
            out[name] = cell(one, is_reference(name))
    host = {torch_modes.column(n.split(" ", 1)[1]): t["graph_wall"]["seconds"] for n, t in record.get("times", {}).items()
            if n.startswith("torch ") and "graph_wall" in t}
    host.update({n.split(" ", 1)[1]: t["wall"]["seconds"] for n, t in ours.get("times", {}).items() if n.startswith("passmith ") and (t.get("wall") or {}).get("seconds")})
    if host:
        out["graph_host"] = {n: us(s) for n, s in host.items()}
    failed = {torch_modes.column(n): why for n, why in record.get("failed", {}).items()}
    if failed:
        out["failed"] = failed
    return out


def assemble(bench, hashes, records, ours, about):
    """The file. `hashes`: {(task, ordinal): graph's hash}; `records`, `ours`: {hash: record}; `about`: device, torch, date, commit, preset, and
    `draw` of fresh tasks."""
    graphs = []
    for g in bench["graphs"]:
        key = hashes.get((g["task"], g["ordinal"]))
        graphs.append(graph_of(g, records.get(key, {}), ours.get(key, {})))
    return {**about, "columns": COLUMNS, "summary": bench["systems"], "faster": bench["faster"], "graphs": graphs}


def write(path, data):
    """One line for each graph, and never half a file."""
    head = json.dumps({k: v for k, v in data.items() if k != "graphs"}, indent=0)[:-2]
    with open(path + ".tmp", "w") as f:
        f.write(head + ',\n"graphs": [\n' + ",\n".join(json.dumps(g) for g in data["graphs"]) + "\n]}\n")
    os.replace(path + ".tmp", path)


# ---- what follows from the times ----


def gmean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


REPLAY, COLD, HOST, HOST_REPLAYED = range(4)
CLOCK_NAMES = ("GPU, replayed", "GPU, caches cold", "host's clock", "host's clock, replayed")
EQUAL = 0.98  # a ratio of times from which on one counts as faster or equal: within 2 %


def time_of(graph, system, clock):
    """Microseconds; a pass that declined has the eager run's. None where nothing was measured."""
    if clock == HOST_REPLAYED:
        return graph.get("graph_host", {}).get(system)
    cells = graph.get(system)
    if cells is None and system in graph:
        cells = graph.get("eager")
    return cells[clock] if cells else None


def torch_times(graph, clock):
    """{mode: {"launched", "replayed": us}} of PyTorch. On the host's clock, replayed, a user may launch or replay, whichever is faster."""
    out = {}
    for name in graph:
        if name.startswith("torch-") and isinstance(graph[name], list):
            out.setdefault(name[len("torch-"):], {})["launched"] = graph[name][HOST if clock == HOST_REPLAYED else clock]
    if clock == HOST_REPLAYED:
        for name, t in graph.get("graph_host", {}).items():
            if name.startswith("torch-"):
                out.setdefault(name[len("torch-"):], {})["replayed"] = t
    return out


def best_of_torch(graph, clock):
    """(us, mode, "launched" or "replayed") of the fastest of PyTorch on a graph by a clock; None when it has no times."""
    return torch_modes.best(torch_times(graph, clock), ("launched", "replayed"))


def over_best(graphs, system, clock):
    """The best of PyTorch / the system, for each graph that has both."""
    pairs = [(best_of_torch(g, clock), time_of(g, system, clock)) for g in graphs]
    return [b[0] / t for b, t in pairs if b and t]


def equal_or_faster(ratios):
    return sum(r >= EQUAL for r in ratios)


def passes_of(graphs):
    """The systems that are passes."""
    found = {n for g in graphs for n, c in g.items() if n not in ("graph_host", "failed", "task", "variant", "class", "launches", "eager")}
    return sorted(n for n in found if not n.startswith("torch-"))


def modes_of(graphs):
    """PyTorch's modes that any graph has times of, in the order of their names with plain ones first."""
    return sorted({m for g in graphs for m in torch_times(g, REPLAY)}, key=lambda m: (list(torch_modes.BASES).index(torch_modes.mode(m).base), m))
