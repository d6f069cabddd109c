#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_eval.py --json OUT [option...] - how long an author waits for `passmith eval`, on the graphs of eval_graphs.py.

Each round of a graph asks for the first answer of our pass (--quick) with an empty cache, evaluates the pass with
another empty cache (the first candidate on a task), then once more with what that left (the second candidate; its own
compiled kernels are in the cache too), then on graphs that it matches a deliberately wrong pass, whose kernel has to be
compiled. Kept of each: seconds of the wall's clock, user+sys of all
its processes, the largest process, the verdict, the stages. What fails or takes too long is recorded, and the rest
goes on. OUT is written after each round of a graph; the same command again goes on where it stopped.

    tools/bench/bench_eval.py --json times.json [--device emu|cuda|all] [--rounds 5] [--shard I/N] [--only GRAPH]...
                              [--gpu-only] [--budget SECONDS] [--build build] [--limit SECONDS] [--note TEXT]
    tools/bench/bench_eval.py --merge OUT PART...     one file of what all shards found
"""
import argparse
import datetime
import hashlib
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import eval_graphs

EXPECTED = {"quick": "OK", "first": "OK", "second": "OK", "wrong": "INCORRECT"}
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def arguments():
    p = argparse.ArgumentParser(description="times evaluations", allow_abbrev=False)
    p.add_argument("--json", metavar="OUT")
    p.add_argument("--merge", nargs="+", metavar="PATH")
    p.add_argument("--device", default="all", choices=("emu", "cuda", "all"))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--shard", default="0/1")
    p.add_argument("--only", action="append")
    p.add_argument("--gpu-only", action="store_true", help="only the graphs that are too large for emu")
    p.add_argument("--budget", type=float, default=0, help="seconds after which it stops and says what is missing; 0: none")
    p.add_argument("--build", default=os.environ.get("BUILD", "build"))
    p.add_argument("--note", default="", help="what else there is to know of the machine, as other work on it")
    p.add_argument("--limit", type=float, default=600, help="seconds after which a run is ended and recorded as such")
    a = p.parse_args()
    if not a.json and not a.merge:
        p.error("give --json OUT, the file that the times are written to, or --merge OUT PART...")
    unknown = set(a.only or ()) - {g[0] for g in eval_graphs.GRAPHS}
    if unknown:
        p.error(f"there is no graph {sorted(unknown)[0]}; tools/bench/eval_graphs.py list names them")
    try:
        a.shard = tuple(int(n) for n in a.shard.split("/"))
        if len(a.shard) != 2 or not 0 <= a.shard[0] < a.shard[1]:
            raise ValueError
    except ValueError:
        p.error("--shard takes I/N with I from 0 to N-1, as 0/4")
    return a


def read(path):
    with open(path) as f:
        return json.load(f)


def save(path, data):
    """One line for each run, and never half a file."""
    runs = ",\n ".join(json.dumps(r, sort_keys=True) for r in data["runs"])
    head = json.dumps(data["machines"], indent=1, sort_keys=True)
    with open(path + ".part", "w") as f:
        f.write(f'{{"machines": {head},\n"runs": [\n {runs}\n]}}\n')
    os.replace(path + ".part", path)


def doctor(passmith):
    out = subprocess.run([passmith, "doctor", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return {f["what"]: f for f in json.loads(out)["found"]}


def processor():
    with open("/proc/cpuinfo") as f:
        name = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), platform.machine())
    return f"{len(os.sched_getaffinity(0))} processors, {name}"


def run(command, limit, cache):
    """Runs a command to its end: what it printed, its status (None: ended at the limit), wall, user+sys, MB."""
    env = dict(os.environ, PASSMITH_CACHE=cache)
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env=env, start_new_session=True)
        late = []

        def end(*_):
            late.append(True)
            os.killpg(child.pid, signal.SIGKILL)

        signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            _, status, used = os.wait4(child.pid, 0)
        except BaseException:  # we are to end: so is the child
            end()
            os.waitpid(child.pid, 0)
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        wall = time.monotonic() - begin
        child.returncode = 0
        out.seek(0)
        text = out.read()
    return text, None if late else os.waitstatus_to_exitcode(status), wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def told(text, status):
    """Verdict, reason and stages of what an evaluation printed."""
    if status is None:
        return "LIMIT", "it was ended at --limit", {}
    try:
        answer = json.loads(text)
        result = answer["results"][0]
        record = result["records"][0]
        stages = result["timings"]["stages"]
    except (ValueError, LookupError, TypeError):
        return f"EXIT_{status}", text[-300:].decode("utf-8", "replace"), {}
    return record["verdict"], record["why"], {k: round(v, 3) for k, v in stages.items() if v >= 0.0005}


class OutOfTime(Exception):
    """The time of --budget is over."""


def left(a):
    """Seconds that a run may take now, and whether --budget says so."""
    of_budget = a.budget - (time.monotonic() - a.begin) if a.budget > 0 else a.limit
    return max(0.001, min(a.limit, of_budget)), of_budget < a.limit


def evaluate(a, device, path, which, cache, facts):
    passes = {"wrong": os.path.join(a.build, "tests/plugin/wrong_silu.so")}
    chosen = passes.get(which, os.path.join(a.build, "passes/fuse.so"))
    command = [os.path.join(a.build, "passmith"), "eval", path, "--pass", chosen, "--device", device, "--json", "--timings", "--quiet"]
    command += ["--quick"] * (which == "quick")
    limit, by_budget = left(a)
    text, status, wall, cpu, peak = run(command, limit, cache)
    if status is None and by_budget:
        raise OutOfTime
    verdict, why, stages = told(text, status)
    found = dict(facts, case=which, wall=round(wall, 3), cpu=round(cpu, 3), peak_mb=round(peak), verdict=verdict, stages=stages)
    if verdict != "OK":
        found["why"] = why[:160]
    return found


def cases(name):
    return ("quick", "first", "second") + ("wrong",) * name.startswith("silu_")


def key(r):
    return r["device"], r["graph"], r["round"], r["case"]


def one_round(a, device, graph, path, number):
    facts = {"device": device, "graph": graph[0], "round": number, "elements": eval_graphs.elements(graph),
             "sha256": hashlib.sha256(eval_graphs.text(graph).encode()).hexdigest()[:16]}
    caches = {c: tempfile.mkdtemp(prefix="bench-eval-") for c in ("quick", "whole")}
    try:
        return [evaluate(a, device, path, which, caches.get(which, caches["whole"]), facts) for which in cases(graph[0])]
    finally:
        for cache in caches.values():
            shutil.rmtree(cache, ignore_errors=True)


def devices(a):
    found = doctor(os.path.join(a.build, "passmith"))
    gpu = found["GPU"]["found"] and found["CUDA driver"]["found"]
    if a.device == "cuda" and not gpu:
        sys.exit(f"bench_eval: there is no GPU to measure on: {found['GPU']['detail']}.")
    named = {"emu": processor(), "cuda": f"{found['GPU']['detail']}; {processor()}"}
    return {d: named[d] for d in ("emu", "cuda") if a.device in (d, "all") and (d == "emu" or gpu)}


def commit():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.decode().strip() or "no git"


def measure(a):
    folder = tempfile.mkdtemp(prefix="bench-eval-graphs-")
    try:
        return measure_in(a, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def say_missing(a, device, todo):
    print(f"the time of --budget {a.budget:g} is over; on {device} these are missing, and the same command goes on with them:")
    for number in sorted({n for n, _ in todo}):
        print(f"  round {number}: " + ", ".join(g[0] for n, g in todo if n == number))


def measure_in(a, folder):
    a.begin = time.monotonic()
    data = read(a.json) if os.path.exists(a.json) else {"machines": {}, "runs": []}
    graphs = [g for g in eval_graphs.GRAPHS if (not a.only or g[0] in a.only) and (not a.gpu_only or eval_graphs.gpu_only(g))][a.shard[0]::a.shard[1]]
    paths = eval_graphs.write(folder, [g[0] for g in graphs])
    # A graph that has changed since is measured again.
    now = {g[0]: hashlib.sha256(eval_graphs.text(g).encode()).hexdigest()[:16] for g in eval_graphs.GRAPHS}
    data["runs"] = [r for r in data["runs"] if now.get(r["graph"]) == r["sha256"]]
    for device, machine in devices(a).items():
        facts = data["machines"].setdefault(device, {"hardware": machine, "date": f"{datetime.date.today()}", "commit": commit()})
        if a.note:
            facts["note"] = a.note
        if facts["hardware"] != machine:
            sys.exit(f"bench_eval: {a.json} holds times of another machine ({facts['hardware']}); give another file.")
        there = {key(r) for r in data["runs"]}
        todo = [(n, g) for n in range(a.rounds) for g in graphs if device == "cuda" or not eval_graphs.gpu_only(g)]
        todo = [(n, g) for n, g in todo if any((device, g[0], n, which) not in there for which in cases(g[0]))]
        for at, (number, graph) in enumerate(todo):
            try:
                new = one_round(a, device, graph, paths[graph[0]], number)
            except OutOfTime:
                say_missing(a, device, todo[at:])
                break
            data["runs"] = [r for r in data["runs"] if key(r) not in {key(n) for n in new}] + new
            save(a.json, data)
            print(f"{device} {graph[0]} round {number}: " + ", ".join(f"{r['case']} {r['wall']:.2f} s {r['verdict']}" for r in new), flush=True)
    return data


def merge(out, parts):
    data = {"machines": {}, "runs": []}
    for part in map(read, parts):
        for device, facts in part["machines"].items():
            if data["machines"].setdefault(device, facts)["hardware"] != facts["hardware"]:
                sys.exit("bench_eval: these shards are of several machines; merge those of one.")
        there = {key(r) for r in part["runs"]}
        data["runs"] = [r for r in data["runs"] if key(r) not in there] + part["runs"]
    data["runs"].sort(key=key)
    save(out, data)
    return data


def p95(values):
    return sorted(values)[max(0, -(-95 * len(values) // 100) - 1)]


def per_graph(runs, what):
    """The median of each graph."""
    by = {}
    for r in runs:
        by.setdefault(r["graph"], []).append(r[what])
    return [statistics.median(v) for v in by.values()]


def summary(data):
    for device in data["machines"]:
        for case, verdict in EXPECTED.items():
            runs = [r for r in data["runs"] if r["device"] == device and r["case"] == case]
            if not runs:
                continue
            wall, cpu = per_graph(runs, "wall"), per_graph(runs, "cpu")
            odd = [r for r in runs if r["verdict"] != verdict]
            print(f"{device} {case:6} {len(wall)} graphs, {len(runs)} runs: median {statistics.median(wall):.2f} s, p95 {p95(wall):.2f} s, "
                  f"user+sys {statistics.median(cpu):.2f} s; unexpected verdicts: {len(odd)}")
            for r in odd[:10]:
                print(f"  {r['graph']} round {r['round']}: {r['verdict']} {r.get('why', '')}")


def main():
    a = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    data = merge(a.merge[0], a.merge[1:]) if a.merge else measure(a)
    summary(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
