#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modelled.py - modelled times beside measured ones, graph by graph.

    tools/bench/modelled.py measure graphs/*.gpt --pass build/passes/fuse.so -o times.json    # on a GPU
    tools/bench/modelled.py model times.json --pass build/passes/fuse.so                      # anywhere; prints a summary
    tools/bench/modelled.py print times.json                                                  # the summary again

`measure` takes replayed times of the eager run and of the pass (`passmith time`), and keeps them with the graphs' texts. `model` asks for
the modelled times of the same graphs: of the plain run as planned, of the rewritten one with its accesses counted (`passmith profile`). The
file is written anew with both. A graph of one node is a `call`: only its plain run counts.

A graph is LEFT OUT of fits of the model when the SHA-256 of its name up to the first "_" begins with a byte below 64: a quarter, with all
types of a graph on one side. Of a call it is the SHA-256 of its text.
"""
import argparse
import concurrent.futures
import datetime
import hashlib
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import fit_cost  # noqa: E402  the numbers of how well


def is_left_out(g):
    return hashlib.sha256((g["text"] if g["call"] else g["name"].split("_")[0]).encode()).digest()[0] < 64


def ask(*command):
    r = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return json.loads(r.stdout)
    except ValueError:
        return {"error": f"{' '.join(command)} ended with {r.returncode} and gave no JSON: {r.stderr.strip()}"}


# ---- measured ----

def measure(o):
    names = {os.path.splitext(os.path.basename(f))[0]: f for f in o.graphs}
    j = ask(o.passmith, "time", *names.values(), "--pass", o.fuse, "--blocks", str(o.blocks), "--json")
    if j.get("error"):
        sys.exit(f"modelled: {j['error']}")
    by_path, graphs = {r["target"]: r for r in j["records"]}, []
    for name, path in names.items():
        times = by_path.get(path, {}).get("times", {})
        got = {n == "passmith eager": w["replay"].get("seconds") for n, w in times.items()}
        if got.get(True):
            with open(path, encoding="utf-8") as f:
                graphs.append({"name": name, "text": f.read(), "eager_us": got[True] * 1e6, "pass_us": (got.get(False) or 0) * 1e6 or None})
    return {"kind": "modelled times", "clock": "replay", "blocks": o.blocks, "measured": datetime.date.today().isoformat(), "graphs": graphs}


# ---- modelled ----

def plain(o, path):
    """Microseconds of the plain run, and how many nodes the graph has."""
    j = ask(o.passmith, "apply", path, "--pass", o.fuse, "--target", o.target, "-o", path + ".out", "--json")
    return (None, 0) if j.get("error") else (j["modelled_seconds_before"] * 1e6, j["nodes_before"])


def rewritten(o, path):
    """Microseconds with the pass; None where it changes nothing, or accesses could not be counted."""
    j = ask(o.passmith, "profile", path, "--pass", o.fuse, "--target", o.target, "--json", "--quiet")
    kernels = j.get("kernels") or [{}]
    return j["modelled"]["seconds"] * 1e6 if j.get("verdict") == "OK" and all("counted" in k for k in kernels) else None


def model_one(o, folder, g):
    path = os.path.join(folder, g["name"] + ".gpt")
    with open(path, "w", encoding="utf-8") as f:
        f.write(g["text"])
    g["modelled_eager_us"], nodes = plain(o, path)
    g["call"] = nodes == 1
    g["modelled_pass_us"] = None if g["call"] else rewritten(o, path)


def model(o):
    with open(o.graphs[0], encoding="utf-8") as f:
        j = json.load(f)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for at, _ in enumerate(pool.map(lambda g: model_one(o, folder, g), j["graphs"])):
            print(f"\r{at + 1}/{len(j['graphs'])}", end="", file=sys.stderr)
    print(file=sys.stderr)
    j["target"], j["version"] = o.target, subprocess.run([o.passmith, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return j


# ---- how well ----

def pairs(graphs, what):
    """(measured, modelled) of `call`, `eager`, `pass` or `speedup`, where both are known."""
    out = []
    for g in graphs:
        if g["call"] != (what == "call") or not g["modelled_eager_us"]:
            continue
        if what in ("call", "eager"):
            out.append((g["eager_us"], g["modelled_eager_us"]))
        elif g["pass_us"] and g["modelled_pass_us"]:
            out.append((g["pass_us"], g["modelled_pass_us"]) if what == "pass" else
                       (g["eager_us"] / g["pass_us"], g["modelled_eager_us"] / g["modelled_pass_us"]))
    return out


def summary(p):
    """Of (measured, modelled): what fit_cost.summary says, and the share beyond a ratio of 2."""
    return {**fit_cost.summary([b for _, b in p], [a for a, _ in p]), "beyond": sum(max(a / b, b / a) > 2 for a, b in p) / len(p)}


def summaries(graphs, split=True):
    """By what and part, of 3 graphs and more."""
    rows = []
    for what in ("call", "eager", "pass", "speedup"):
        for part in (False, True) if split else (None,):
            p = pairs([g for g in graphs if part is None or is_left_out(g) == part], what)
            if len(p) > 2:
                rows.append({"what": what, "left_out": part, **summary(p)})
    return rows


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("verb", choices=("measure", "model", "print"))
    p.add_argument("graphs", nargs="+", help="graph files; model, print: the file of times")
    p.add_argument("--pass", dest="fuse", default="build/passes/fuse.so")
    p.add_argument("--passmith", default="build/passmith")
    p.add_argument("--target", default="h200")
    p.add_argument("--blocks", type=int, default=2)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("-o", dest="out", help="model: default is the file itself")
    o = p.parse_args()
    if o.verb == "measure" and not o.out:
        p.error("give -o FILE")
    if o.verb == "print":
        with open(o.graphs[0], encoding="utf-8") as f:
            j = json.load(f)
    else:
        j = measure(o) if o.verb == "measure" else model(o)
        with open(o.out or o.graphs[0], "w", encoding="utf-8") as f:
            json.dump(j, f, indent=0)
            f.write("\n")
    if o.verb == "measure":
        print(f"{len(j['graphs'])} of {len(o.graphs)} graphs timed")
        return
    for r in summaries(j["graphs"]):
        print(f"{r['what']:8} {'left out' if r['left_out'] else 'others':9} {r['graphs']:4} graphs, rank correlation {r['rank']:.3f}, median ratio "
              f"{r['median']:.2f}, within 1.3 {100 * r['within']:.0f} %, beyond 2 {100 * r['beyond']:.0f} %")


if __name__ == "__main__":
    main()
