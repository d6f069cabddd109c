#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""parity.py OURS.json TORCH.json [-o OUT.json] [--md OUT.md] - our eager baseline beside PyTorch's, graph by graph.

OURS is what `passmith time -o` wrote, TORCH what tools/bench/torch_bench.py wrote; graphs meet by their hash. For each kind of
time (replayed as a CUDA graph, caches cold, on the host's clock in trains and for one call) the ratio ours / PyTorch:
geometric means of all, by element type and by class, which is the operator on which most of the modelled time goes
(passmith time says which), and the worst graphs. Exit code 1 when a bar is missed: the mean of replayed times at most
1.0, of every class of three graphs or more 1.25, of the host's time for a call at most 0.5. tools/bench/parity.sh makes both
files.
"""
import argparse
import json
import math
import sys

KINDS = ("replay", "cold", "wall", "latency")
BARS = {"all": 1.0, "class": 1.25, "host": 0.5}
FEW = 3  # a class of fewer graphs says nothing
TYPES = ("bfloat16", "float16", "float")


def mean(x):
    return math.exp(sum(map(math.log, x)) / len(x)) if x else float("nan")


def seconds(record, way):
    times = record.get("times", {}).get(way)
    return times and {k: times[k]["seconds"] for k in KINDS if times.get(k, {}).get("seconds")}


def dtype_of(name):
    return next((t for t in TYPES if t + ":" in name), "other")


def join(ours, torch):
    theirs = {r["graph"]: r for r in torch["records"] if r.get("graph")}
    rows, missing = [], {"ours": 0, "torch": 0}
    for r in ours["records"]:
        o, t = seconds(r, "passmith eager"), seconds(theirs.get(r["graph"], {}), "torch eager")
        missing["ours"] += not o
        missing["torch"] += bool(o) and not t
        if o and t:
            both = [k for k in KINDS if k in o and k in t and o[k] > 0]
            rows.append({"name": r["name"], "graph": r["graph"], "class": r.get("class", "?"), "launches": r["launches"],
                         "dtype": dtype_of(r["name"]), "ours_us": {k: round(o[k] * 1e6, 3) for k in both},
                         "torch_us": {k: round(t[k] * 1e6, 3) for k in both}, "ratio": {k: o[k] / t[k] for k in both}})
    return rows, missing


def means(rows):
    return {k: mean([r["ratio"][k] for r in rows if k in r["ratio"]]) for k in KINDS}


def groups(rows, key):
    found = {}
    for r in rows:
        found.setdefault(r[key], []).append(r)
    return {g: dict(n=len(v), worst=max(r["ratio"]["replay"] for r in v), **means(v)) for g, v in sorted(found.items())}


def table(title, found):
    lines = [f"| {title} | graphs | replayed | cold | train | one call | worst replayed |", "| --- " * 7 + "|"]
    for g, m in found.items():
        lines.append(f"| {g} | {m['n']} | {m['replay']:.3f} | {m['cold']:.3f} | {m['wall']:.3f} | {m['latency']:.3f} | "
                     f"{m['worst']:.2f} |")
    return lines


def report(result):
    rows, lines = result["graphs"], []
    lines += table("all", {"all": dict(n=len(rows), worst=max(r["ratio"]["replay"] for r in rows), **result["all"])}) + [""]
    lines += table("type", result["types"]) + [""]
    lines += table("class", dict(sorted(result["classes"].items(), key=lambda c: -c[1]["replay"]))) + [""]
    for kind, what in (("replay", "replayed"), ("latency", "one call")):
        lines += [f"| slowest, {what} | launches | ours us | PyTorch us | ratio |", "| --- " * 5 + "|"]
        for r in sorted((r for r in rows if kind in r["ratio"]), key=lambda r: -r["ratio"][kind])[:20]:
            lines.append(f"| {r['class']}: {r['name'][:80]} | {r['launches']} | {r['ours_us'][kind]:.1f} | "
                         f"{r['torch_us'][kind]:.1f} | {r['ratio'][kind]:.2f} |")
        lines.append("")
    return lines


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("ours")
    p.add_argument("torch")
    p.add_argument("-o", dest="out")
    p.add_argument("--md")
    o = p.parse_args()
    with open(o.ours) as f:
        ours = json.load(f)
    with open(o.torch) as f:
        torch = json.load(f)
    rows, missing = join(ours, torch)
    if not rows:
        sys.exit("parity.py: no graph was timed by both; are the files of the same tasks?")
    result = {"kind": "parity", "device": ours["device"], "torch": torch["torch"], "date": torch["date"],
              "missing": missing, "all": means(rows), "types": groups(rows, "dtype"), "classes": groups(rows, "class"),
              "graphs": rows}
    lines = report(result)
    bad = {c: m["replay"] for c, m in result["classes"].items() if m["n"] >= FEW and not m["replay"] <= BARS["class"]}
    host = min(result["all"]["wall"], result["all"]["latency"])
    missed = ([f"mean {result['all']['replay']:.3f}"] if not result["all"]["replay"] <= BARS["all"] else []) + \
        [f"class {c} {v:.2f}" for c, v in bad.items()] + ([f"host {host:.2f}"] if not host <= BARS["host"] else [])
    lines.append(f"{len(rows)} graphs on {ours['device']}, PyTorch {torch['torch']}; not timed: {missing['ours']} by us, "
                 f"{missing['torch']} by PyTorch. " + ("Missed: " + ", ".join(missed) if missed else "All bars hold."))
    print("\n".join(lines))
    if o.md:
        with open(o.md, "w") as f:
            f.write("\n".join(lines) + "\n")
    if o.out:
        with open(o.out, "w") as f:
            json.dump(result, f, indent=1)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
