#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""eval_many.py --graphs DIR --json OUT [option...] - how many graphs a minute `passmith eval` judges with one pass.

All *.gpt of the folder are given to passmith eval in groups, by name, with a cache that is empty at first. OUT is written
after each group, and the same command again goes on with what is missing. Kept are seconds of the wall's clock and user+sys
of each group, and of each graph verdict, speedup with its interval, and its seconds. One file holds several runs, as with
other --jobs; `--compare A B` holds two of them against each other: speedups of the same graph have to agree.

    tools/bench/eval_many.py --graphs DIR --json many.json [--device emu|cuda] [--jobs N] [--pass P.so] [--build build]
                             [--first N] [--group N] [--budget SECONDS] [--note TEXT]
    tools/bench/eval_many.py --json many.json --compare 1 4     of the runs with 1 and with 4 jobs
"""
import argparse
import collections
import datetime
import hashlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time

import bench_eval

NOT_EVALUATED = "NOT_EVALUATED"


def arguments():
    p = argparse.ArgumentParser(description="times evaluations of many graphs", allow_abbrev=False)
    p.add_argument("--json", metavar="OUT", required=True)
    p.add_argument("--graphs", metavar="DIR")
    p.add_argument("--compare", nargs=2, type=int, metavar="JOBS")
    p.add_argument("--device", default="emu", choices=("emu", "cuda"))
    p.add_argument("--jobs", type=int, default=0, help="evaluations at once; 0: what passmith eval takes by itself")
    p.add_argument("--pass", dest="so")
    p.add_argument("--build", default=os.environ.get("BUILD", "build"))
    p.add_argument("--first", type=int, default=0, help="only so many of the graphs")
    p.add_argument("--group", type=int, default=64, help="graphs of one command")
    p.add_argument("--budget", type=float, default=0, help="seconds after which it stops and says what is missing; 0: none")
    p.add_argument("--note", default="", help="what else there is to know of the machine, as other work on it")
    a = p.parse_args()
    if not a.graphs and not a.compare:
        p.error("give --graphs DIR, the folder with the graphs, or --compare A B")
    a.so = a.so or os.path.join(a.build, "passes/fuse.so")
    return a


def save(path, data):
    """One line for each graph, and never half a file."""
    runs = []
    for run in data["runs"]:
        head = json.dumps({k: v for k, v in run.items() if k != "graphs"}, indent=1, sort_keys=True)[:-2]
        graphs = ",\n  ".join(json.dumps(g, sort_keys=True) for g in run["graphs"])
        runs.append(f'{head},\n "graphs": [\n  {graphs}\n ]}}')
    with open(path + ".part", "w") as f:
        f.write('{"runs": [\n' + ",\n".join(runs) + "\n]}\n")
    os.replace(path + ".part", path)


def graphs_of(a):
    names = sorted(n for n in os.listdir(a.graphs) if n.endswith(".gpt"))
    if not names:
        sys.exit(f"eval_many: the folder {a.graphs} has no .gpt file; name one that has graphs.")
    return names[:a.first or len(names)]


def digest(paths):
    h = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as f:
            h.update(hashlib.sha256(f.read()).digest())
    return h.hexdigest()[:16]


def find_run(a, data, names):
    """The run that is gone on with, or a new one."""
    facts = {"device": a.device, "jobs": a.jobs, "of": digest([os.path.join(a.graphs, n) for n in names]), "pass": digest([a.so]),
             "hardware": bench_eval.devices(a)[a.device]}
    for run in data["runs"]:
        if all(run[k] == v for k, v in facts.items()):
            return run
    run = dict(facts, n=len(names), date=f"{datetime.date.today()}", commit=bench_eval.commit(), note=a.note, groups=[], graphs=[])
    data["runs"].append(run)
    return run


def told(name, result):
    record, clock = result["records"][0], result["records"][0].get("clock") or {}
    found = {"graph": name, "verdict": record["verdict"], "seconds": round(result["timings"]["wall_seconds"], 3),
             "stages": {k: round(v, 3) for k, v in result["timings"]["stages"].items() if v >= 0.0005}}
    if record.get("speedup") is not None:
        found["speedup"] = record["speedup"]
    if clock.get("speedup_lo") is not None:
        found["interval"] = [clock["speedup_lo"], clock["speedup_hi"]]
    if record["verdict"] != "OK":
        found["why"] = record["why"][:160]
    return found


def evaluate(a, group, cache, limit):
    """The graphs of one group and what the command took; None where the time was over before."""
    command = [os.path.join(a.build, "passmith"), "eval", *(os.path.join(a.graphs, n) for n in group), "--pass", a.so, "--device", a.device,
               "--json", "--timings", "--quiet"]
    command += ["--jobs", f"{a.jobs}"] * (a.jobs > 0)
    text, status, wall, cpu, peak = bench_eval.run(command, limit, cache)
    if status is None:
        return None, None
    try:
        answer = json.loads(text)
        by_name = {os.path.basename(r["task"]): r for r in answer["results"]}
    except (ValueError, LookupError, TypeError):
        sys.exit(f"eval_many: passmith eval ended with status {status} and without an answer; run it by hand:\n  {' '.join(command[:3])} ...")
    graphs = [told(n, by_name[n]) if n in by_name else {"graph": n, "verdict": NOT_EVALUATED, "why": answer["error"] or ""} for n in group]
    return graphs, {"n": len(group), "wall": round(wall, 3), "cpu": round(cpu, 3), "peak_mb": round(peak)}


def measure(a):
    data = bench_eval.read(a.json) if os.path.exists(a.json) else {"runs": []}
    names = graphs_of(a)
    run = find_run(a, data, names)
    there = {g["graph"] for g in run["graphs"]}
    missing = [n for n in names if n not in there]
    cache = tempfile.mkdtemp(prefix="eval-many-")
    begin = time.monotonic()
    try:
        while missing:
            left = a.budget - (time.monotonic() - begin) if a.budget > 0 else 86400
            graphs, took = evaluate(a, missing[:a.group], cache, left) if left > 0 else (None, None)
            if graphs is None:
                break
            run["graphs"] += graphs
            run["groups"].append(took)
            missing = missing[a.group:]
            save(a.json, data)
            print(f"{len(run['graphs'])} of {len(names)}: {took['n']} in {took['wall']:.1f} s", flush=True)
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    summary(run)
    if missing:
        print(f"the time of --budget {a.budget:g} is over; {len(missing)} graphs are missing, from {missing[0]} on; the same command goes on with them")
    return 2 if missing else 0


def per_minute(run):
    wall = sum(g["wall"] for g in run["groups"])
    return 60 * len(run["graphs"]) / wall if wall else 0


def summary(run):
    verdicts = collections.Counter(g["verdict"] for g in run["graphs"])
    wall, cpu = (sum(g[k] for g in run["groups"]) for k in ("wall", "cpu"))
    n = len(run["graphs"]) or 1
    print(f"{run['device']}, jobs {run['jobs'] or 'by itself'}: {len(run['graphs'])} graphs in {wall:.1f} s, {per_minute(run):.1f} a minute, "
          f"user+sys {cpu:.1f} s; " + ", ".join(f"{k} {v}" for k, v in verdicts.most_common())
          + f"; TIMING_UNSTABLE {100 * verdicts['TIMING_UNSTABLE'] / n:.1f} %")


def compare(a):
    runs = [next((r for r in bench_eval.read(a.json)["runs"] if r["jobs"] == jobs), None) for jobs in a.compare]
    if None in runs:
        sys.exit(f"eval_many: {a.json} has no run with --jobs {a.compare[runs.index(None)]}.")
    one, other = ({g["graph"]: g for g in run["graphs"]} for run in runs)
    both = [g for g in one if g in other]
    apart = [g for g in both if one[g]["verdict"] != other[g]["verdict"]]
    timed = [g for g in both if "interval" in one[g] and "interval" in other[g]]
    far = [g for g in timed if one[g]["interval"][0] > other[g]["interval"][1] or other[g]["interval"][0] > one[g]["interval"][1]]
    for g in apart:
        print(f"{g}: {one[g]['verdict']} and {other[g]['verdict']} {one[g].get('why', '')}{other[g].get('why', '')}")
    for g in far:
        print(f"{g}: {one[g]['speedup']:.4g} {one[g]['interval']} and {other[g]['speedup']:.4g} {other[g]['interval']}")
    print(f"{len(both)} graphs: {len(apart)} with another verdict; {len(timed)} timed in both: the intervals of {len(far)} have nothing in common")
    return 1 if apart or far else 0


def main():
    a = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return compare(a) if a.compare else measure(a)


if __name__ == "__main__":
    sys.exit(main())
