#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# eval_page.py - writes docs/results/evaluation-time.md from docs/results/evaluation-time.json (made by `make bench-eval`).
#
# eval_page.py [--check] [JSON MD [MANY]]     --check: changes nothing; exit 1 when the page is not what the numbers give.
# MANY is docs/results/evaluation-many.json (made by `make bench-eval-many`); where it is not there the page has no such part.
# A graph's number is the median of its rounds; medians and p95 are over graphs.
import collections
import json
import pathlib
import statistics
import sys

import page_file
from page_file import ROOT
CASES = {"quick": "first answer (`--quick`)", "first": "first candidate", "second": "second candidate", "wrong": "wrong kernel, after these"}
EXPECTED = {"quick": "OK", "first": "OK", "second": "OK", "wrong": "INCORRECT"}
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**9)


def p95(values):
    return sorted(values)[max(0, -(-95 * len(values) // 100) - 1)]


def by_graph(runs, value):
    """graph -> the median of its rounds; value is a function of a run."""
    found = {}
    for r in runs:
        found.setdefault(r["graph"], []).append(value(r))
    return {g: statistics.median(v) for g, v in found.items()}


def wall(r):
    return r["wall"]


def table(head, rows):
    return ["", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(map(str, r)) + " |" for r in rows]


def of(runs, device, case):
    return [r for r in runs if r["device"] == device and r["case"] == case]


def overview(runs, devices):
    rows = []
    for device in devices:
        for case, name in CASES.items():
            some = of(runs, device, case)
            if some:
                seconds, cpu = by_graph(some, wall).values(), by_graph(some, lambda r: r["cpu"]).values()
                as_told = sum(r["verdict"] == EXPECTED[case] for r in some)
                rows.append([device, name, len(seconds), f"{statistics.median(seconds):.2f}", f"{p95(seconds):.2f}", f"{max(seconds):.2f}",
                             f"{statistics.median(cpu):.2f}", f"{as_told} of {len(some)}"])
    return table(["device", "what", "graphs", "median, s", "p95, s", "most, s", "user+sys, median, s", "verdict as it has to be"], rows)


def whole_cases(runs, device):
    """The cases that every graph has; files from before --quick have none of it."""
    return (("quick",) if of(runs, device, "quick") else ()) + ("first", "second")


def by_size(runs, device):
    rows, least, cases = [], 0, whole_cases(runs, device)
    for most in SIZES:
        cells = []
        for case in cases:
            v = by_graph([r for r in of(runs, device, case) if least <= r["elements"] < most], wall).values()
            cells += [len(v)] * (case == cases[0]) + ([f"{statistics.median(v):.2f}", f"{p95(v):.2f}"] if v else ["", ""])
        if cells[0]:
            rows.append([f"{least:,} to {most:,}"] + cells)
        least = most
    return table(["elements", "graphs"] + [c for case in cases for c in (f"{case}: median, s", "p95, s")], rows)


def by_stage(runs, device):
    rows = []
    first, second = of(runs, device, "first"), of(runs, device, "second")
    names = dict.fromkeys(n for r in first + second for n in r["stages"])
    for name in names:
        cells = []
        for some in (first, second):
            v = by_graph(some, lambda r: r["stages"].get(name, 0)).values()
            total = sum(sum(r["stages"].values()) for r in some) or 1
            cells += [f"{statistics.median(v):.2f}", f"{p95(v):.2f}", f"{100 * sum(r['stages'].get(name, 0) for r in some) / total:.1f} %"]
        rows.append([name] + cells)
    rows.sort(key=lambda r: -float(r[3].split()[0]))
    return table(["stage", "first: median, s", "p95, s", "share", "second: median, s", "p95, s", "share"], rows)


def graphs(runs, device):
    rows, cases = [], whole_cases(runs, device)
    first = of(runs, device, "first")
    size = {r["graph"]: r["elements"] for r in first}
    columns = [by_graph(of(runs, device, case), f) for case in cases for f in (wall, lambda r: r["cpu"])]
    peak = by_graph(first, lambda r: r["peak_mb"])
    for g in sorted(size, key=size.get):
        rows.append([f"`{g}`", f"{size[g]:,}"] + [f"{c[g]:.2f}" if g in c else "" for c in columns] + [f"{peak[g]:.0f}"])
    return table(["graph", "elements"] + [c for case in cases for c in (f"{case}, s", "user+sys, s")] + ["largest process, MB"], rows)


def odd(runs):
    rows = [[r["device"], f"`{r['graph']}`", CASES[r["case"]], r["round"], r["verdict"], r.get("why", "").replace("|", "/")]
            for r in runs if r["verdict"] != EXPECTED[r["case"]]]
    if not rows:
        return ["", "Every run ended with the verdict that it has to have."]
    return table(["device", "graph", "what", "round", "verdict", "why"], rows)


def many(data):
    """Runs over many graphs: graphs a minute."""
    if not data["runs"]:
        return []
    lines = ["", "## Many graphs at once", "",
             "`make bench-eval-many GRAPHS=DIR` gives all graphs of a folder to `passmith eval` with one pass, in groups, with a cache that",
             "is empty at first. Jobs are evaluations at once; their clocks take turns ([timing](../design/timing.md#many-graphs))."]
    rows = []
    for run in data["runs"]:
        verdicts = collections.Counter(g["verdict"] for g in run["graphs"])
        wall, cpu = (sum(g[k] for g in run["groups"]) for k in ("wall", "cpu"))
        n = len(run["graphs"])
        rows.append([run["device"], run["date"], run["hardware"], run["commit"], run["jobs"] or "by itself", f"{n} of {run['n']}", f"{wall:.0f}",
                     f"{60 * n / wall:.1f}" if wall else "", f"{wall / n:.2f}" if n else "", f"{cpu / n:.2f}" if n else "",
                     ", ".join(f"{k} {v}" for k, v in verdicts.most_common()),
                     f"{100 * verdicts['TIMING_UNSTABLE'] / n:.1f} %" if n else ""])
    lines += table(["device", "date", "hardware", "commit", "jobs", "graphs", "wall, s", "graphs a minute", "s each", "user+sys each, s", "verdicts",
                    "TIMING_UNSTABLE"], rows)
    return lines + [f"\n{run['device']}, {run['jobs'] or 'default'} jobs: {run['note']}" for run in data["runs"] if run.get("note")]


def page(data, of_many):
    runs, machines = data["runs"], data["machines"]
    rounds = 1 + max(r["round"] for r in runs)
    lines = [
        "# How long an author waits", "",
        "<!-- Written by tools/gen/eval_page.py from evaluation-time.json; do not edit. -->", "",
        "`make bench-eval` times whole runs of `passmith eval GRAPH --pass build/passes/fuse.so` on the 60 graphs of",
        "tools/bench/eval_graphs.py. The first candidate begins with an empty cache. The second is the same pass again: it finds what",
        "the first has left, its own compiled kernels included. A candidate with new kernels waits for the compiler as the first does",
        "(stage `compile`). The wrong kernel is `tests/plugin/wrong_silu.c`. It comes third, and has to be compiled."]
    if any(r["case"] == "quick" for r in runs):
        lines += ["The first answer is that of `--quick`. It begins with an empty cache of its own."]
    lines += ["",
        f"Rounds: {rounds}. A graph's number is the median of its rounds; medians and p95 are over graphs. Graphs whose name begins",
        "with `gpu_` are measured on a GPU only. What the stages are: [writing passes](../guide/writing-passes.md)."]
    lines += table(["device", "date", "hardware", "commit", "command"],
                   [[d, m["date"], m["hardware"], m["commit"], f"`make bench-eval DEVICE={d} ROUNDS={rounds}`"] for d, m in machines.items()])
    lines += [f"\n{d}: {m['note']}" for d, m in machines.items() if m.get("note")]
    lines += overview(runs, machines)
    for device in machines:
        lines += ["", f"## {device}: by size"] + by_size(runs, device)
        lines += ["", f"## {device}: where it goes", "", "Shares are of all seconds of all graphs."] + by_stage(runs, device)
        lines += ["", f"## {device}: every graph"] + graphs(runs, device)
    lines += many(of_many)
    lines += ["", "## What ended otherwise"] + odd(runs)
    return "\n".join(lines) + "\n"


def main():
    rest = page_file.arguments()
    source, target = map(pathlib.Path, rest[:2]) if len(rest) >= 2 else (ROOT / "evaluation-time.json", ROOT / "evaluation-time.md")
    of_many = pathlib.Path(rest[2]) if len(rest) == 3 else ROOT / "evaluation-many.json"
    use = (len(rest) != 2) and of_many.exists()
    text = page(json.loads(source.read_text()), json.loads(of_many.read_text()) if use else {"runs": []})
    return page_file.put(text, target, source)


if __name__ == "__main__":
    sys.exit(main())
