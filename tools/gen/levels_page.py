#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# levels_page.py - writes docs/results/levels.md from docs/results/levels.json (made by tools/bench/levels.py on a GPU).
#
# levels_page.py [--check] [JSON MD]     --check: changes nothing; exit 1 when the page is not what the numbers give.
# Without the file of numbers there is no page. Definitions: docs/reference/metrics.md. A speedup is PyTorch's time over that of the rewritten
# graph, GPU time with cold caches. What fuse declined has the speedup 1 and is not fast; what is wrong or failed is not right.
import math
import re
import statistics
import sys

import page_file
from page_file import gmean

sys.path.insert(0, str(page_file.ROOT.parents[1] / "tools" / "bench"))
from common import torch_modes  # noqa: E402

EAGER, INDUCTOR, AUTOTUNE = "eager-search", "inductor-search", "max-autotune-search"


def table(head, rows):
    return ["", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(map(str, r)) + " |" for r in rows]


def number(v, form="{:.2f}"):
    return "-" if v is None or v != v else form.format(v)


class Problem:
    """One row of the file, and what it is worth."""

    def __init__(self, name, row, limits):
        self.name, self.row, self.limits = name, row, limits
        self.level, self.category = row["level"], row.get("category", "-")
        self.ours, self.torch = row.get("ours", {}), row.get("torch", {})
        if "error" in self.torch:
            self.torch = {}

    def cold(self, mode):
        return self.torch.get(mode, {}).get("cold")

    def best_mode(self):
        found = [self.cold(m) for m in (INDUCTOR, AUTOTUNE) if self.cold(m)]
        return min(found) if found else None

    def is_compared(self):
        return bool(self.ours.get("fuse")) and bool(self.cold(EAGER))

    def matched(self, what="fuse"):
        return bool(self.ours.get(what, {}).get("changed"))

    def right(self, what="fuse", strict=False):
        """What a pass declined runs as it did before, and is right."""
        r = self.ours.get(what, {})
        t = r.get("smallest_t")
        return "error" not in r and bool(r.get("cold")) and t is not None and t <= self.limits[1 if strict else 0]

    def seconds(self, what="fuse"):
        return self.ours.get(what, {}).get("cold")

    def speedup(self, over, what="fuse"):
        """1 where nothing was changed; None where it is not right or there is no time."""
        base = self.best_mode() if over == "best" else self.cold(over)
        if not base or not self.right(what):
            return None
        return base / self.seconds(what) if self.matched(what) else 1.0

    def speedup_as_run(self, over):
        """What was declined counts with the time that our runtime takes for it; None where it is not right or there is no time."""
        base = self.best_mode() if over == "best" else self.cold(over)
        return base / self.seconds() if base and self.right() else None

    def speedup_of_best_pass(self):
        found = [self.speedup(EAGER, w) for w in self.ours if w != "eager"]
        return max((s for s in found if s), default=None)


def faster(some, over):
    """How many of those that have a time of that system are faster than it."""
    have = [p for p in some if (p.best_mode() if over == "best" else p.cold(over))]
    n = sum((p.speedup(over) or 0) > 1 and p.matched() for p in have)
    return f"{n} of {len(have)}" if have else "-"


def fast(some, p0):
    return f"{sum((p.speedup(EAGER) or 0) > p0 for p in some) / len(some):.2f}" if some else "-"


def mean_right(some, over):
    return number(gmean([p.speedup(over) for p in some if p.speedup(over)]))


def average(some, speedup):
    """METR's average: the best of the attempts, floored at 1, geometric mean over all problems."""
    return number(gmean([max(1.0, speedup(p) or 0.0) for p in some]))


def figures(groups):
    """A row for each (name, problems)."""
    head = ["", "problems", "matched", "right", "at t = {strict}", "faster than eager", "than TorchInductor", "than its best mode", "fast_1", "fast_2",
            "mean over eager", "over TorchInductor", "METR average", "with the library"]
    rows = []
    for name, some in groups:
        rows.append([name, len(some), sum(p.matched() for p in some), sum(p.right() for p in some), sum(p.right(strict=True) for p in some),
                     faster(some, EAGER), faster(some, INDUCTOR), faster(some, "best"), fast(some, 1), fast(some, 2),
                     mean_right(some, EAGER), mean_right(some, INDUCTOR), average(some, lambda p: p.speedup(EAGER)),
                     average(some, Problem.speedup_of_best_pass)])
    return head, rows


def as_run(groups):
    """The same problems, declined or not, by the time that a user of `passmith apply` and our runtime would see."""
    rows = []
    for name, some in groups:
        row = [name, len(some)]
        for over in (EAGER, INDUCTOR):
            have = [p.speedup_as_run(over) for p in some if p.cold(over)]
            row += [f"{sum((s or 0) > 1 for s in have)} of {len(have)}", f"{sum((s or 0) > 0.98 for s in have)} of {len(have)}", number(gmean([s for s in have if s]))]
        rows.append(row + [average(some, lambda p: p.speedup_as_run(EAGER))])
    return ["", "## As it runs", "",
            "Here a problem that `fuse` declined counts with the time of our runtime, which runs it by kernels or libraries of its own. KernelBench and METR count so:",
            "what is timed is the program that stands for the problem."] + table(
                ["level", "problems", "faster than eager", "or equal within 2 %", "mean over eager", "faster than TorchInductor", "or equal within 2 %", "mean over TorchInductor", "METR average"], rows)


def memory_ratio(p):
    ours, theirs = p.ours.get("fuse", {}).get("memory"), p.torch.get(EAGER, {}).get("memory")
    return ours / theirs if ours and theirs else None


def memory(some):
    known = [p for p in some if memory_ratio(p)]
    if not known:
        return []
    known.sort(key=lambda p: -p.torch[EAGER]["memory"])
    over = sum(memory_ratio(p) > 1.5 for p in known)
    lines = ["", "## Memory", "",
             "Ours is what the buffers of a call take, PyTorch's the most that its allocator gave out during one. Workspaces of our libraries are not counted.",
             f"Of {len(known)} problems {over} take more than 1.5 times as much. The largest:"]
    return lines + table(["problem", "PyTorch eager, GB", "TorchInductor", "ours", "ours / eager"],
                         [[p.name, number(p.torch[EAGER]["memory"] / 1e9), number((p.torch.get(INDUCTOR, {}).get("memory") or math.nan) / 1e9),
                           number(p.ours["fuse"]["memory"] / 1e9), number(memory_ratio(p))] for p in known[:20]])


def us(v):
    return number(v * 1e6 if v else None, "{:.1f}")


def every(some):
    rows = []
    for p in some:
        fuse = p.ours.get("fuse", {})
        limit = fuse.get("roofline_seconds")
        said = "-" if "error" in fuse else "declined" if not p.matched() else f"t = {fuse.get('smallest_t')}" if p.right() else "wrong"
        rows.append([p.name, p.category, said, us(p.cold(EAGER)), us(p.cold(INDUCTOR)), us(p.cold(AUTOTUNE)), us(p.seconds()),
                     number(p.speedup(EAGER)), us(limit), number(100 * limit / p.seconds() if limit and p.seconds() else None, "{:.0f} %"),
                     number(p.row.get("h100_eager_ms"), "{:g}")])
    return table(["problem", "category", "`fuse`", "eager, us", "TorchInductor", "max-autotune", "ours", "speedup", "limit, us", "limit / ours", "KernelBench's H100 eager, ms"], rows)


def failures(all_problems):
    rows = []
    for p in all_problems:
        for what, why in [("reading", p.row.get("error")), ("PyTorch module", p.row.get("torch_error")), ("`fuse`", p.row.get("fuse_error")), ("PyTorch", p.row.get("torch", {}).get("error"))]:
            if why:
                rows.append([p.name, what, why])
        rows += [[p.name, f"`{w}`", r["error"]] for w, r in p.ours.items() if "error" in r]
        rows += [[p.name, torch_modes.title(m, search=False), r["error"]] for m, r in p.torch.items() if "error" in r]
    return ["", "## What failed"] + (table(["problem", "what", "why"], [[c.replace("|", "\\|").replace("\n", " ") for c in r] for r in rows]) if rows else ["", "Nothing."])


def published():
    """The tables of bench/report/published.def that are of KernelBench's problems."""
    text = (page_file.ROOT.parents[1] / "bench" / "report" / "published.def").read_text()
    text = re.sub(r'"\s*\n\s*"', "", text)
    lines, columns, rows, want = [], [], [], False
    for kind, body in re.findall(r"^(TABLE|ROW)\((.*?)\)$", text, flags=re.M | re.S):
        parts = re.findall(r'"((?:[^"\\]|\\.)*)"|([-\w.]+)', body)
        cells = [a or b for a, b in parts]
        if kind == "TABLE":
            lines += table(columns, rows) if want else []
            want = cells[0] in ("KERNELBENCH", "METR")
            columns, rows = [""] + cells[5].split("|"), []
            lines += ["", f"{cells[3]}: {cells[4]}. Hardware: {cells[1]}. Date: {cells[2]}."] if want else []
        elif want:
            rows.append(cells)
    return lines + (table(columns, rows) if want else [])


def head_of(data, problems, compared):
    torch, own = data.get("torch", {}), data.get("passmith", {})
    software = ", ".join(f"{k} {v}" for k, v in [("PyTorch", torch.get("torch")), ("CUDA", torch.get("cuda")), ("its cuDNN", torch.get("cudnn")),
                                                 ("cuBLASLt", own.get("cublaslt")), ("cuDNN", own.get("cudnn"))] if v)
    return [
        "# KernelBench's levels 1 to 3", "",
        "<!-- Written by tools/gen/levels_page.py from levels.json; do not edit. -->",
        *table(["", ""], [["date", data["date"]], ["hardware", data.get("hardware") or "-"], ["software", f"{data.get('version', '')}; {software}"],
                          ["command", "`tools/bench/levels.py prepare EXPORTS -o DIR`, `tools/bench/levels.py run DIR`"], ["data", "[levels.json](levels.json)"]]), "",
        *([data["remark"], ""] if data.get("remark") else []),
        f"Of {len(problems)} exported problems {len(compared)} were compared. Their order is by a hash of the name, so that these are a fair sample where a run was stopped.", "",
        "What runs in PyTorch is no file of KernelBench: the modules are written back from the exports (`passmith task export --torch`), in eval mode. Where the",
        "exporter took an operator apart, PyTorch eager runs the parts. The last column of the last table is for comparison: KernelBench's own eager time on an H100.", "",
        "Times are GPU time of one call with cold caches, in float without TF32; PyTorch lets cuDNN search. *max-autotune* is without CUDA graphs, which GPU time does not show.",
        "*best mode* is the faster of the modes that were measured. Figures are defined in [metrics](../reference/metrics.md). A problem that `fuse` declined has the speedup 1",
        f"and is not fast. *Right* compares with the eager run in float at t = {data['right_t']}. *With the library* takes the best of `fuse` and the passes that apply."]


def page(data):
    torch_modes.renew(data, lambda d: [r["torch"] for r in d["problems"].values() if "torch" in r])
    limits = (data["right_t"], data["strict_t"])
    problems = [Problem(n, r, limits) for n, r in data["problems"].items()]
    compared = [p for p in problems if p.is_compared()]
    levels, categories = sorted({p.level for p in compared}), sorted({p.category for p in compared})
    lines = head_of(data, problems, compared)
    for what, groups in (("level", [(k, [p for p in compared if p.level == k]) for k in levels] + [("all", compared)]),
                         ("category", [(c, [p for p in compared if p.category == c]) for c in categories])):
        head, rows = figures(groups)
        lines += ["", f"## By {what}"] + table([what] + [h.format(strict=data["strict_t"]) for h in head[1:]], rows)
        if what == "level":
            lines += as_run(groups)
    lines += ["", "## Published figures", "", "They were measured elsewhere, by other programs on other machines, and are in no figure above."] + published()
    lines += memory(compared)
    shares = [100 * p.ours["fuse"]["roofline_seconds"] / p.seconds() for p in compared if p.ours["fuse"].get("roofline_seconds") and p.seconds()]
    if shares:
        lines += ["", "## The physical limit", "",
                  "The limit reads the inputs and writes the results once at the bandwidth of a copy, or does the arithmetic at the GPU's peak in float, whichever takes longer.",
                  f"At the median it is {statistics.median(shares):.0f} % of our time. Many problems of level 1 are one call of a library."]
    lines += ["", "## Every problem"] + every(compared) + failures(problems)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(page_file.main(page, "levels.json", "levels.md", "tools/bench/levels.py",
                             lambda data: "of a dry run; there is no page of modelled times." if data.get("dry") else None))
