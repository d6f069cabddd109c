#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# deploy_page.py - writes docs/results/deploy.md from docs/results/deploy.json (made by tools/bench/deploy.py on a GPU).
#
# deploy_page.py [--check] [JSON MD]     --check: changes nothing; exit 1 when the page is not what the numbers give.
import sys

import page_file
from page_file import gmean

sys.path.insert(0, str(page_file.ROOT.parents[1] / "tools" / "bench"))
from common import torch_modes  # noqa: E402


def name_of(mode):
    """The page says of all modes that cuDNN searches."""
    return torch_modes.title(mode, search=False)


def micro(seconds):
    return "-" if seconds is None else f"{seconds * 1e6:,.0f}"


def best(row, what):
    """(seconds, mode) of the fastest of PyTorch."""
    return min((w[what], n) for n, w in row["ways"].items() if n != "passmith" and what in w)


def level_cells(row):
    """ t of the package, and the loosest of PyTorch's modes."""
    ours = row["ways"]["passmith"].get("smallest_t", "-")
    others = [w["smallest_t"] for n, w in row["ways"].items() if n != "passmith" and "smallest_t" in w]
    return f" {ours} | {max(others) if others else '-'} |"


def double_cells(row):
    """Errors of the package and of the eager run beside the same model in double."""
    ours = row["ways"]["passmith"].get("error_of_double")
    eager = [w["error_of_double"] for n, w in row["ways"].items() if n.startswith("eager") and "error_of_double" in w]
    return f" {ours:.1e} | {max(eager):.1e} |" if ours is not None and eager else " - | - |"


def through_c(rows):
    """What serve-bench said: earlier runs had no warm sessions, and no cost of the host."""
    served = {n: r for n, r in sorted(rows.items()) if "mean_seconds" in r.get("serve", {})}
    warm = any("warming_seconds" in r["serve"] for r in served.values())
    out = ["", "## Through the C library", "",
           f"`passmith serve-bench PACKAGE --device cuda --graph --device-tensors {'--warm ' if warm else ''}--runs 200`, one thread, in milliseconds.", *(
               ["*Host* is what a run costs the host, in microseconds, and how many times a bare launch of a CUDA graph of the same launches that is."] if warm else []), "",
           f"| model, type | opening | {'warm | ' if warm else ''}first call | tenth call | mean | {'host | ' if warm else ''}compiling, s | package, MB |",
           "|---|---|---|---|---|---|---|" + "---|---|" * warm]
    for n, r in served.items():
        s = r["serve"]
        ms = [f"{s[k] * 1e3:.2f}" if k in s else "-" for k in ["open_seconds"] + ["warming_seconds"] * warm + ["first_seconds", "tenth_seconds", "mean_seconds"]]
        host = s.get("host")
        ms += [f"{host['run_seconds'] * 1e6:.1f}, {host['run_seconds'] / host['launch_seconds']:.2f} times" if host else "-"] * warm
        out.append(f"| {n} | {' | '.join(ms)} | {r['compile_seconds']:.1f} | {r['bytes'] / 1e6:.1f} |")
    return out


def page(data):
    torch_modes.renew(data, lambda d: [r["ways"] for r in d["rows"].values() if "ways" in r])
    good = {n: r for n, r in data["rows"].items() if "passmith" in r.get("ways", {}) and "latency" in r["ways"]["passmith"]}
    levels = any("smallest_t" in r["ways"]["passmith"] for r in good.values())
    ratio = {n: {w: best(r, w)[0] / r["ways"]["passmith"][w] for w in ("latency", "train")} for n, r in good.items()}
    out = ["# Whole models as packages", "", "<!-- Written by tools/gen/deploy_page.py from deploy.json; do not edit. -->", "",
           "|  |  |", "|---|---|", f"| date | {data['date']} |", f"| hardware | {data['hardware']} |",
           f"| software | {data['version']}; PyTorch {next(iter(good.values()))['about']['torch']} |",
           "| command | `tools/bench/deploy.py MODEL... -o DIR` |", "| data | [deploy.json](deploy.json) |", ""]
    out += [data["remark"], ""] if data.get("remark") else []
    out += ["Weights are made up. `fuse` rewrites each model, `passmith compile --tune` makes the package, and the [Python package](../reference/python.md) runs it as one",
            "CUDA graph. PyTorch runs the same graph, written back as a module, with TF32 off and cuDNN's own search on. All sides have the same tensors on the GPU.",
            "Times are of the host's clock, in microseconds: *latency* is one call and the wait for its result, between calls of the other sides; *train* is 16 calls and a wait, per call.",
            "*Best* is the fastest of PyTorch's modes: " + "; ".join(name_of(m) for m in data["modes"].split(",")) + ".",
            "*Difference* is the largest of an output's elements, relative to its largest element.", "",
            *(["*t* is the strictest level of the [ladder of tolerances](../reference/scoring.md) at which all outputs agree with the eager run's, "
               "and the loosest one that PyTorch's other modes need; 99: none.",
               "*Of double* is how far the package's outputs are from those of the same module in double, and how far the eager run's are.",
               "A row is within bounds when our *t* is at most PyTorch's, or at most -5, or when we are no further from the eager run, or from double, than the eager run is from double.", ""] if levels else []),
            f"| model, type | latency | best of PyTorch | ratio | train | best of PyTorch | ratio | difference from eager |{' t | PyTorch | of double | eager |' if levels else ''}",
            "|---|---|---|---|---|---|---|---|" + "---|---|---|---|" * levels]
    for n, r in sorted(good.items()):
        w, l, t = r["ways"]["passmith"], best(r, "latency"), best(r, "train")
        out.append(f"| {n} | {micro(w['latency'])} | {micro(l[0])} ({name_of(l[1])}) | {ratio[n]['latency']:.2f} | {micro(w['train'])} | "
                   f"{micro(t[0])} ({name_of(t[1])}) | {ratio[n]['train']:.2f} | {w['error_of_eager']:.1e} |" + (level_cells(r) + double_cells(r) if levels else ""))
    for kind in ("float", "bfloat16"):
        some = [v for n, v in ratio.items() if n.endswith(" " + kind)]
        if some:
            out += ["", f"{kind}: {len(some)} models, geometric mean of the ratios {gmean([v['latency'] for v in some]):.2f} in latency "
                    f"(least {min(v['latency'] for v in some):.2f}), {gmean([v['train'] for v in some]):.2f} in trains (least {min(v['train'] for v in some):.2f})."]
    held = [r["within"] for r in good.values() if r.get("within") is not None]
    if held:
        out += ["", f"Outputs of {sum(held)} of {len(held)} packages are within bounds."]
    bad = {n: r["error"] for n, r in data["rows"].items() if n not in good and "error" in r}
    if bad:
        out += ["", "Not compared:", ""] + [f"* {n}: {e.split(':')[0] if '/' in e else e}" for n, e in sorted(bad.items())]
    out += through_c(good)
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.exit(page_file.main(page, "deploy.json", "deploy.md", "tools/bench/deploy.py"))
