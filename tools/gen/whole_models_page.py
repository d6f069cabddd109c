#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# whole_models_page.py - writes docs/results/whole-models.md from docs/results/whole_models.json (made by tools/bench/whole_models.py on a GPU).
#
# whole_models_page.py [--check] [JSON MD]     --check: changes nothing; exit 1 when the page is not what the numbers give.
# Without the file of numbers there is no page.
import statistics
import sys

import page_file
from systems_tables import files, table, torch_modes

STEPS = {"apply": "`passmith apply`", "ours": "`passmith time`", "ours_graphs": "`passmith time --graphs`", "torch": "PyTorch"}
LEAST = 0.95  # a model below it is counted apart


def seconds(times, kind):
    """Of {kind: {"seconds"}}; None where it was not measured."""
    t = (times or {}).get(kind)
    return t.get("seconds") if isinstance(t, dict) else None


class Row:
    """A model in one type: microseconds and bytes, None where there are none."""

    def __init__(self, name, row):
        self.model, self.type = name.rsplit(" ", 1)
        self.row, self.held_out = row, row.get("held_out")
        self.modes = {n.split(" ", 1)[1]: t for n, t in row.get("torch", {}).get("times", {}).items()}
        self.fuse, self.eager = row.get("ours", {}).get("fuse"), row.get("ours", {}).get("eager")
        self.best = torch_modes.best(self.modes, torch_modes.GPU)
        self.gpu = seconds(self.fuse, "replay")
        self.best_host = torch_modes.best(self.modes, torch_modes.HOST)
        self.host = seconds(row.get("ours_graphs", {}).get("fuse"), "wall")
        # A mode that is replayed takes what its graph holds.
        self.torch_memory = self.modes[self.best[1]].get("graph_memory") if self.best else None
        self.memory = (self.fuse or {}).get("memory")

    def lead(self):
        return self.best[0] / self.gpu if self.best and self.gpu else None

    def host_lead(self):
        return self.best_host[0] / self.host if self.best_host and self.host else None

    def memory_ratio(self):
        return self.memory / self.torch_memory if self.memory and self.torch_memory else None

    def over_own_eager(self):
        t = seconds(self.eager, "replay")
        return t / self.gpu if t and self.gpu else None


def known(rows, value):
    return [v for v in map(value, rows) if v]


def mean(values):
    return f"{files.gmean(values):.2f}" if values else "-"


def least(values):
    return f"{min(values):.2f}" if values else "-"


def figures(rows):
    out = []
    for what, some in [(t, [r for r in rows if r.type == t]) for t in dict.fromkeys(r.type for r in rows)] + [("all", rows)]:
        leads, hosts, memory = known(some, Row.lead), known(some, Row.host_lead), known(some, Row.memory_ratio)
        takes = [r.row["apply"]["seconds"] for r in some if "seconds" in r.row.get("apply", {})]
        out.append([what, len(leads), mean(leads), least(leads), sum(v < LEAST for v in leads), mean(hosts), least(hosts), mean(known(some, Row.over_own_eager)),
                    f"{sum(v <= 1 for v in memory)} of {len(memory)}", mean(memory), f"{statistics.median(takes):.1f}, {max(takes):.1f}" if takes else "-"])
    return table(["type", "models compared", "best of PyTorch / `fuse`, GPU", "least", f"below {LEAST}", "by the host's clock", "least", "over our eager run",
                  "memory at most PyTorch's", "memory, ours / PyTorch's", "`apply`, s: median, most"], out)


def micro(s):
    return "-" if not s else f"{1e6 * s:,.0f}"


def number(v):
    return "-" if v is None else f"{v:.2f}"


def every(rows):
    out = []
    for r in sorted(rows, key=lambda r: (r.lead() or float("inf"), r.model)):
        best = f"{micro(r.best[0])} ({torch_modes.title(r.best[1], search=False)})" if r.best else "-"
        host = f"{micro(r.best_host[0])} ({torch_modes.title(r.best_host[1], search=False)}{', replayed' if r.best_host[2].startswith('graph') else ''})" if r.best_host else "-"
        memory = [f"{b / 1e6:,.0f}" if b else "-" for b in (r.torch_memory, r.memory)]
        right = (r.fuse or {}).get("smallest_t")
        out.append([r.model + (" (held out)" if r.held_out else ""), r.type, micro(seconds(self_eager(r), "replay")), best, micro(seconds(r.eager, "replay")), micro(r.gpu),
                    number(r.lead()), host, micro(r.host), number(r.host_lead()), *memory, "-" if right is None else right])
    return table(["model", "type", "PyTorch eager, us", "best of PyTorch", "our eager run", "`fuse`", "ratio", "host's clock: best of PyTorch", "`fuse`", "ratio",
                  "memory of PyTorch's best, MB", "of `fuse`", "right at t"], out)


def self_eager(r):
    return r.modes.get("eager-search") or r.modes.get("eager")


def failures(rows):
    out = [[r.model, r.type, "the model", r.row["error"]] for r in rows if r.row.get("error")]
    for r in rows:
        out += [[r.model, r.type, name, r.row[step]["error"]] for step, name in STEPS.items() if "error" in r.row.get(step, {})]
        out += [[r.model, r.type, torch_modes.title(m, search=False), why] for m, why in r.row.get("torch", {}).get("failed", {}).items()]
    return table(["model", "type", "what", "why"], [[str(c).replace("|", "\\|") for c in x] for x in out]) if out else ["Nothing."]


def page(data):
    rows = [Row(n, r) for n, r in data["rows"].items()]
    about = next((r.row["torch"]["about"] for r in rows if "about" in r.row.get("torch", {})), {})
    software = ", ".join([data["version"]] + [f"{k} {about[v]}" for k, v in (("PyTorch", "torch"), ("CUDA", "cuda"), ("its cuDNN", "cudnn")) if about.get(v)])
    modes = "; ".join(torch_modes.title(m, search=False) for m in data["modes"].split(","))
    out = ["# Whole models", "", "<!-- Written by tools/gen/whole_models_page.py from whole_models.json; do not edit. -->", "", "| | |", "| --- | --- |",
           f"| date | {data['date']} |", f"| hardware | {data.get('hardware') or about.get('device') or '-'} |", f"| software | {software} |",
           "| command | `tools/bench/whole_models.py --core DIR --corpus DIR -o OUT` |", "| data | [whole_models.json](whole_models.json) |", ""]
    out += [data["remark"], ""] if data.get("remark") else []
    out += [f"{len({r.model for r in rows})} models, {len({r.model for r in rows if r.held_out})} of them held out of whatever tunes. Weights are made up. PyTorch runs the same graph, written",
            f"back as a module, with cuDNN's own search on, in these modes: {modes}. By the GPU's clock all are replayed as CUDA graphs. By the host's clock ours is",
            "replayed, and PyTorch is launched or replayed, whichever is faster; a time is that of a call in a train of 16. `tf32` is float whose products may be in TF32 on both sides.",
            "Memory is what the buffers of a call take, with weights. A model that `fuse` declined has the times of our eager run.", "", *figures(rows),
            "", "## Every model", "", *every(rows), "", "## What failed", "", *failures(rows)]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.exit(page_file.main(page, "whole_models.json", "whole-models.md", "tools/bench/whole_models.py"))
