#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# results_pages.py - fills the tables of docs/results/*.md from the committed JSON beside them.
#
# results_pages.py [--check]     --check: changes nothing; exit 1 when a table is not what the numbers give.
# A table stands between the lines "<!-- table NAME -->" and "<!-- end of table -->"; NAME is a function below.
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "results"
TYPES = ("float", "float16", "bfloat16")


def read(name):
    return json.loads((ROOT / name).read_text())


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    return lines + ["| " + " | ".join(str(c) for c in r) + " |" for r in rows]


def gmean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def median(values):
    v = sorted(values)
    return (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2


SYSTEMS = {"torch-inductor": "TorchInductor", "eager": "Passmith eager", "fuse": "`fuse`"}


def us(graph, system, clock):
    """Of a graph that `fuse` declined, the eager run's."""
    return (graph[system] or graph["eager"])[clock]


def over_torch(graphs, system, clock):
    return f"{gmean([g['torch-eager'][clock] / us(g, system, clock) for g in graphs]):.2f}"


def ahead(graphs, clock):
    return f"{100 * sum(us(g, 'fuse', clock) < us(g, 'torch-inductor', clock) for g in graphs) / len(graphs):.1f} %"


def systems():
    """Speedup over PyTorch eager, geometric mean of all graphs."""
    j = read("h200_systems.json")
    g, summary = j["graphs"], j["summary"]
    rows = [[name] + [over_torch(g, key, c) for c in range(3)] for key, name in SYSTEMS.items()]
    rows.append(["graphs on which `fuse` is faster than TorchInductor"] + [ahead(g, c) for c in range(3)])
    for key, name in (("timed-fuse", "`fuse`"), ("torch-inductor", "TorchInductor")):
        rows.append([f"AS (`passnet`), {name}"] + [f"{summary[key][c]['as']:.2f}" for c in ("replay", "cold", "wall")])
        rows.append([f"right at t = -5, {name}"] + [summary[key][c]["right"] for c in ("replay", "cold", "wall")])
    return table([f"{len(g)} graphs", "GPU, replayed", "GPU, caches cold", "host's clock"], rows)


def systems_types():
    """By element type, replayed."""
    rows = []
    for t in TYPES:
        g = [x for x in read("h200_systems.json")["graphs"] if f", {t}:" in x["variant"]]
        rows.append([t, len(g)] + [over_torch(g, key, 0) for key in SYSTEMS] + [ahead(g, 0)])
    return table(["type", "graphs"] + list(SYSTEMS.values()) + ["`fuse` faster than TorchInductor on"], rows)


def large():
    """Kernels over 50 MB: per cent of the bandwidth of a plain copy."""
    j = read("h200_large.json")
    rows, shares = [], {}
    for name, kind, mb, _, _, share in j["graphs"]:
        shares.setdefault(name, {})[kind] = share
        if kind == "float":
            shares[name]["mb"] = mb
    for name, s in sorted(shares.items()):
        rows.append([f"`{name}`", f"{s.get('mb', 0):.0f}"] + [f"{100 * s[t]:.0f}" if t in s else "-" for t in TYPES])
    for what, begins in (("reductions and norms", ("r.",)), ("element-wise and moving", None)):
        some = [s for n, s in shares.items() if n.startswith("r.") == (begins is not None)]
        rows.append([f"median, {what}", ""] + [f"{100 * median([s[t] for s in some if t in s]):.0f}" for t in TYPES])
    return table(["graph", "MB (float)"] + list(TYPES), rows)


def launch():
    """What a call costs the host."""
    rows, cases = [], read("h200_launch.json")["cases"]
    for name in dict.fromkeys(c["name"] for c in cases):
        by = {("graph" if "graph" in c["how"] else "launches"): c for c in cases if c["name"] == name}
        cells = []
        for how in ("launches", "graph"):
            c = by.get(how)
            cells += [f"{c['enqueue_us']:.2f}", f"{c['latency_us']:.2f}"] if c else ["", ""]
        rows.append([name, by["launches"]["launches"] if "launches" in by else by["graph"]["launches"]] + cells)
    return table(["graph", "launches", "enqueue", "one call", "as a CUDA graph: enqueue", "one call"], rows)


def parity():
    """The eager baseline over PyTorch eager, by element type."""
    j = read("h200_parity.json")
    clocks = {"replay": "replayed as a CUDA graph", "cold": "caches cold", "wall": "a call of a batch of 16", "latency": "one call and the wait for it"}
    return table([""] + list(TYPES) + ["all"], [[what] + [f"{j['types'][t][c]:.3f}" for t in TYPES] + [f"{j['all'][c]:.3f}"] for c, what in clocks.items()])


def parity_classes():
    """The same by the operator that dominates."""
    j = read("h200_parity.json")
    rows = sorted(j["classes"].items(), key=lambda x: -x[1]["replay"])
    return table(["class", "graphs", "replayed", "caches cold", "worst graph"], [[n, c["n"], f"{c['replay']:.2f}", f"{c['cold']:.2f}", f"{c['worst']:.2f}"] for n, c in rows])


def calls():
    """Library calls, first proposal and trial, over PyTorch eager."""
    rows = []
    for t in ("float", "float16"):
        c = [(x[2], x[5] if x[5] is not None else x[3], x[4]) for x in read("h200_calls.json")["calls"] if x[1] == t]
        c = [x for x in c if all(x)]
        rows.append([t, len(c), f"{gmean([b / a for a, b, _ in c]):.2f}", f"{gmean([b / p for _, b, p in c]):.2f}", f"{gmean([a / p for a, _, p in c]):.2f}"])
    return table(["type", "calls", "with a trial / first proposal", "with a trial / PyTorch eager", "first proposal / PyTorch eager"], rows)


def library():
    """Hand-written passes: GPU time with cold caches / host's clock, microseconds."""
    rows = []
    pair = lambda v: f"{v[0]:.1f} / {v[2]:.1f}"
    times = [x for x in read("h200_library_kernels.json")["times"] if x.get("torch") and x.get("inductor")]
    for x in times:
        mine = x["mine"]
        rows.append([f"`{x['pass']}` {x['graph']}, {x['type']}", pair(x["eager"]), pair(mine), pair(x["torch"]), pair(x["inductor"]),
                     f"{x['eager'][0] / mine[0]:.2f}", f"{x['torch'][0] / mine[0]:.2f}", f"{x['inductor'][0] / mine[0]:.2f} / {x['inductor'][2] / mine[2]:.1f}"])
    mean = lambda key, k: gmean([x[key][k] / x["mine"][k] for x in times])
    rows.append([f"geometric mean of {len(times)}", "", "", "", "", f"{mean('eager', 0):.2f}", f"{mean('torch', 0):.2f}", f"{mean('inductor', 0):.2f} / {mean('inductor', 2):.1f}"])
    return table(["pass and graph", "Passmith eager", "pass", "PyTorch eager", "TorchInductor", "vs eager", "vs PyTorch", "vs TorchInductor"], rows)


def eager():
    """Eager kernels by kind, over PyTorch's."""
    j = read("h200-eager.json")
    return table(["kind", "time ours / PyTorch, geometric mean"], [[k, f"{v:.2f}"] for k, v in j["kinds"].items()] + [["all", f"{j['all']:.2f}"]])


def fill(match):
    name = match.group(1)
    f = globals().get(name)
    if not callable(f) or not f.__doc__:
        sys.exit(f"results_pages: there is no table {name}")
    return "\n".join([f"<!-- table {name} -->"] + f() + ["<!-- end of table -->"])


def main():
    check, bad = "--check" in sys.argv[1:], 0
    for page in sorted(ROOT.glob("*.md")):
        old = page.read_text()
        new = re.sub(r"<!-- table (\w+) -->\n.*?<!-- end of table -->", fill, old, flags=re.S)
        if new == old:
            continue
        if check:
            print(f"docs/results/{page.name} is not what the numbers give: run tools/gen/results_pages.py", file=sys.stderr)
            bad = 1
        else:
            page.write_text(new)
    return bad


if __name__ == "__main__":
    sys.exit(main())
