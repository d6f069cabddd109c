#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# systems_tables.py [--check] [JSON MD] - tables of a file of times of several systems (tools/bench/common/systems_file.py).
#
# results_pages.py fills the tables of docs/results/systems.md with them. By itself it writes the page of graphs that were drawn when they were
# measured: docs/results/fresh.md of fresh.json. Without the file of numbers there is no page. --check: changes nothing; exit 1 when the page is
# not what the numbers give. A row or a column stands only where something was measured.
import sys

import page_file

sys.path.insert(0, str(page_file.ROOT.parents[1] / "tools" / "bench"))
from common import fresh  # noqa: E402
from common import systems_file as files  # noqa: E402
from common import torch_modes  # noqa: E402

TYPES = ("float", "float16", "bfloat16")
PLAIN = ("eager", "inductor")  # PyTorch as it comes: these two are in every file
OURS = {"eager": "Passmith eager", "fuse": "`fuse`"}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    return lines + ["| " + " | ".join(str(c) for c in r) + " |" for r in rows]


def named(mode):
    return {"eager": "PyTorch eager"}.get(mode) or torch_modes.title(mode).replace("eager", "PyTorch eager")


def clocks_of(graphs):
    """The clocks that any graph has times by."""
    return [c for c in range(4) if c != files.HOST_REPLAYED or any("graph_host" in g for g in graphs)]


def counted(ratios, graphs, text):
    """With the number of graphs where it is not all."""
    return "-" if not ratios else text if len(ratios) == len(graphs) else f"{text} (of {len(ratios)})"


def over_torch(graphs, system, clock):
    """PyTorch eager / the system, geometric mean."""
    pairs = [(files.time_of(g, "torch-eager", clock), files.time_of(g, system, clock)) for g in graphs]
    ratios = [a / b for a, b in pairs if a and b]
    return counted(ratios, graphs, f"{files.gmean(ratios):.2f}" if ratios else "")


def best_over_torch(graphs, clock):
    pairs = [(files.time_of(g, "torch-eager", clock), files.best_of_torch(g, clock)) for g in graphs]
    ratios = [a / b[0] for a, b in pairs if a and b]
    return counted(ratios, graphs, f"{files.gmean(ratios):.2f}" if ratios else "")


def ahead(graphs, clock, other="torch-inductor"):
    """Per cent of the graphs with both on which `fuse` is faster."""
    pairs = [(files.time_of(g, "fuse", clock), files.time_of(g, other, clock)) for g in graphs]
    pairs = [(a, b) for a, b in pairs if a and b]
    return counted(pairs, graphs, f"{100 * sum(a < b for a, b in pairs) / len(pairs):.1f} %" if pairs else "")


def lead(graphs, clock):
    """The best of PyTorch / `fuse`."""
    ratios = files.over_best(graphs, "fuse", clock)
    return counted(ratios, graphs, f"{files.gmean(ratios):.2f}" if ratios else "")


def not_behind(graphs, clock):
    ratios = files.over_best(graphs, "fuse", clock)
    return counted(ratios, graphs, f"{100 * files.equal_or_faster(ratios) / len(ratios):.1f} %" if ratios else "")


def further(graphs):
    """The modes that not every file has."""
    return [m for m in files.modes_of(graphs) if m not in PLAIN]


def systems(data):
    """Speedup over PyTorch eager, geometric mean of all graphs."""
    g, summary, more = data["graphs"], data["summary"], further(data["graphs"])
    clocks, rows = clocks_of(g), []
    for mode in ["inductor"] + more:
        rows.append([named(mode)] + [over_torch(g, torch_modes.column(mode), c) for c in clocks])
    if more:
        rows.append(["best of PyTorch on each graph"] + [best_over_torch(g, c) for c in clocks])
    rows += [[name] + [over_torch(g, key, c) for c in clocks] for key, name in OURS.items()]
    rows.append(["graphs on which `fuse` is faster than TorchInductor"] + [ahead(g, c) for c in clocks])
    if more:
        rows.append(["`fuse` over the best of PyTorch"] + [lead(g, c) for c in clocks])
        rows.append(["graphs on which `fuse` is faster than the best, or equal within 2 %"] + [not_behind(g, c) for c in clocks])
    for keys, name in ((("timed-fuse", "fuse"), "`fuse`"), (("torch-inductor",), "TorchInductor")):
        found = next((summary[k] for k in keys if k in summary), None)
        if found:
            rows += [[f"{what}, {name}"] + [form.format(found[c][key]) if c in found else "-" for c in files.CLOCKS] + ["-"] * (len(clocks) - 3)
                     for what, key, form in (("AS (`passnet`)", "as", "{:.2f}"), ("right at t = -5", "right", "{}"))]
    return table([f"{len(g)} graphs"] + [files.CLOCK_NAMES[c] for c in clocks], rows)


def systems_types(data):
    """By element type, replayed."""
    rows, more = [], bool(further(data["graphs"]))
    for t in TYPES:
        g = [x for x in data["graphs"] if f", {t}:" in x["variant"]]
        if g:
            rows.append([t, len(g)] + [over_torch(g, key, 0) for key in ["torch-inductor", *OURS]] + [ahead(g, 0)] + ([lead(g, 0), not_behind(g, 0)] if more else []))
    head = ["type", "graphs", "TorchInductor", *OURS.values(), "`fuse` faster than TorchInductor on"]
    return table(head + (["`fuse` over the best of PyTorch", "faster or equal within 2 % on"] if more else []), rows)


def best_cell(graph, digits=0):
    """The best of PyTorch on a graph, replayed, and which mode it was."""
    best = files.best_of_torch(graph, files.REPLAY)
    return f"{best[0]:.{digits}f} ({named(best[1])})" if best else "-"


def every(data, most=None):
    """Each graph, replayed, the furthest behind the best of PyTorch first."""
    def ratio(g):
        found = files.over_best([g], "fuse", 0)
        return found[0] if found else float("inf")
    rows = []
    for g in sorted(data["graphs"], key=ratio)[:most]:
        t = [files.time_of(g, s, 0) for s in ("torch-eager", "eager", "fuse")]
        t = ["-" if v is None else f"{v:.1f}" for v in t]
        rows.append([f"{g['variant'].split(':')[0]} of task {g['task']}", t[0], best_cell(g, 1), t[1], t[2], "-" if ratio(g) == float("inf") else f"{ratio(g):.2f}"])
    return table(["graph", "PyTorch eager, us", "best of PyTorch", "Passmith eager", "`fuse`", "best / `fuse`"], rows)


def failures(graphs):
    """Modes that have no time of a graph, by reason."""
    found = {}
    for g in graphs:
        for system, why in g.get("failed", {}).items():
            found.setdefault((system, why), []).append(g)
    return table(["mode", "graphs", "why"], [[named(s[len("torch-"):]), len(of), why.replace("|", "\\|")] for (s, why), of in sorted(found.items())])


def page(data):
    draw = data["draw"]
    software = ", ".join(f"{k} {data[v]}" for k, v in (("PyTorch", "torch"), ("CUDA", "cuda"), ("cuDNN", "cudnn")) if data.get(v))
    out = ["# Graphs of held-out models", "", "<!-- Written by tools/gen/systems_tables.py from fresh.json; do not edit. -->", "", "| | |", "| --- | --- |",
           f"| date, commit | {data['date']}, {data['commit'][:12]} |", f"| hardware | {data['device']} |", f"| software | {software} |",
           f"| command | `tools/bench/bench_systems.py --fresh {data.get('options', '')}--db bench.db --models DIR --pass build/passes/fuse.so -o OUT` |",
           "| data | [fresh.json](fresh.json) |", "", *fresh.told(draw), "",
           *([data["remark"], ""] if data.get("remark") else []),
           "Speedup over PyTorch eager, geometric mean of all graphs. Where `fuse` declined a graph, its time is that of the eager run. By the host's clock,",
           "replayed, ours and PyTorch's each replay a CUDA graph, and the best of PyTorch launches or replays, whichever is faster.", "", *systems(data),
           "", "By element type, replayed:", "", *systems_types(data), "", "The graphs on which `fuse` is furthest behind, replayed:", "", *every(data, 30)]
    if any(g.get("failed") for g in data["graphs"]):
        out += ["", "Modes without a time:", "", *failures(data["graphs"])]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.exit(page_file.main(page, "fresh.json", "fresh.md", "tools/bench/bench_systems.py --fresh",
                             lambda data: None if "draw" in data else "of no draw; a page is made of what bench_systems.py --fresh measured."))
