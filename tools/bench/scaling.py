#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scaling.py DB|GRAPH|FOLDER... --pass SO --gpus 0,1 - what several GPUs bring, and whether they find the same.

Graphs go to `passmith eval`, the tasks of a database to `passmith bench` on a copy of it that has no results. The same
ones are evaluated by all GPUs and by each GPU alone, in turn: A all all B A all all B. The commands on one GPU are the
time that all GPUs are held against. They are also the control: the speedup of a graph on one GPU and on another must
agree within their intervals. Commands with the same GPU twice say how often intervals miss each other by chance.

A first command on a few graphs, which does not count, says how many fit into --seconds. Each command begins with an
empty cache of compiled kernels; with --warm all of them find what another command left. What does not end in the time
is stopped and does not count, nor does a command in which a GPU was left. --json is written after each command.

    tools/bench/scaling.py DB|GRAPH|FOLDER... --pass SO [--gpus all] [--seconds 240] [--json scaling.json] [--passmith FILE]
                           [--jobs N] [--first N] [--shapes 1] [--cycles 4] [--warm] [--with OPTIONS]

Exit code 0: measured, and the GPUs agree; 1: a speedup or a verdict differs; 2: not measured.
"""
import argparse
import collections
import datetime
import itertools
import json
import math
import os
import platform
import resource
import shlex
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CYCLES = 2  # that the number of graphs is chosen for, at most


def program():
    there = [os.path.join(ROOT, p) for p in ("run.sh", os.path.join(os.environ.get("BUILD", "build"), "passmith"))]
    return there[0] if os.path.exists(there[0]) else there[1]


def arguments():
    p = argparse.ArgumentParser(description="measures one GPU against several", allow_abbrev=False)
    p.add_argument("what", nargs="+", metavar="DB|GRAPH|FOLDER")
    p.add_argument("--pass", dest="so", required=True)
    p.add_argument("--gpus", default="all")
    p.add_argument("--seconds", type=float, default=240)
    p.add_argument("--json", default="scaling.json")
    p.add_argument("--passmith", default=program())
    p.add_argument("--jobs", type=int, default=0, help="evaluations at once on each GPU; 0: what passmith takes by itself")
    p.add_argument("--first", type=int, default=0, help="at most so many graphs or tasks; 0: as many as fit")
    p.add_argument("--shapes", type=int, default=1, help="of each task of a database")
    p.add_argument("--cycles", type=int, default=4, help="at most so often is each GPU alone")
    p.add_argument("--warm", action="store_true", help="kernels are compiled before the first command that counts")
    p.add_argument("--with", dest="extra", default="", help="more options of passmith, in one text")
    a = p.parse_args()
    for path in (*a.what, a.so, a.passmith):
        if not os.path.exists(path):
            p.error(f"{path} is not there")
    a.db = a.what[0] if is_database(a.what[0]) else None
    if a.db and len(a.what) > 1:
        p.error("give one database, or graphs")
    return a


def is_database(path):
    if os.path.isdir(path):
        return False
    with open(path, "rb") as f:
        return f.read(15) == b"SQLite format 3"


def fail(text):
    print(f"scaling: {text}", file=sys.stderr)
    sys.exit(2)


def version(a):
    return subprocess.run([a.passmith, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout.strip()


# ---- one command ----


def names_of(a):
    """The graphs, or the tasks of the database by their numbers."""
    if a.db:
        with sqlite3.connect(a.db) as db:
            names = [str(row[0]) for row in db.execute("SELECT id FROM tasks ORDER BY id")]
    else:
        names = [n for path in a.what for n in (sorted(os.path.join(path, f) for f in os.listdir(path) if f.endswith(".gpt"))
                                                if os.path.isdir(path) else [path])]
    if not names:
        fail(f"{a.what[0]} has no {'tasks' if a.db else '.gpt files'}; name one that has some.")
    return spread(names, a.first or len(names))


def spread(names, n):
    """n of them, from all parts of the list."""
    return [names[i * len(names) // n] for i in range(n)] if n < len(names) else names


def copy_without_results(path, to):
    with sqlite3.connect(path) as old, sqlite3.connect(to) as new:
        old.backup(new)
        new.execute("PRAGMA foreign_keys = ON")
        new.execute("DELETE FROM runs")


def command_of(a, names, gpus, db):
    c = [a.passmith, "bench", *names, "--db", db, "--shapes", f"{a.shapes}", "--baselines", "eager", "--weak-sandbox"] if a.db else \
        [a.passmith, "eval", *names]
    c += ["--pass", a.so, "--device", "cuda", "--gpus", ",".join(gpus), "--json", "--quiet"]
    return c + ["--jobs", f"{a.jobs}"] * (a.jobs > 0) + shlex.split(a.extra)


def told(record, gpu):
    clock = record.get("clock") or {}
    found = {"verdict": record["verdict"], "gpu": gpu}
    if isinstance(clock.get("speedup_lo"), (int, float)) and clock["speedup_lo"] > 0:
        found.update(speedup=record["speedup"], lo=clock["speedup_lo"], hi=clock["speedup_hi"])
    return found


def found_by_eval(answer):
    return {f"{r['task']}: {record['variant']}" if len(r["records"]) > 1 else r["task"]: told(record, r["gpu"]["index"])
            for r in answer.get("results", ()) for record in r["records"]}


def found_by_bench(db):
    with sqlite3.connect(db) as c:
        rows = c.execute("SELECT task, ordinal, json FROM results ORDER BY task, ordinal").fetchall()
    found = {}
    for task, ordinal, text in rows:
        record = json.loads(text)
        seen = (record.get("clock") or {}).get("gpu") or {}
        found[f"task {task}, variant {ordinal}"] = told(record, seen.get("index"))
    return found


def end(process):
    for sig in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sig)
            return process.communicate(timeout=10)
        except ProcessLookupError:
            return process.communicate()
        except subprocess.TimeoutExpired:
            continue
    return process.communicate()


def evaluate(a, names, gpus, limit, cache=None):
    """What one command found and took; `why` says why it does not count."""
    with tempfile.TemporaryDirectory(prefix="scaling-") as own:
        db = os.path.join(own, "copy.db")
        if a.db:
            copy_without_results(a.db, db)
        env = dict(os.environ, PASSMITH_CACHE=cache or os.path.join(own, "cache"))
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        process = subprocess.Popen(command_of(a, names, gpus, db), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=env, start_new_session=True)
        run = {"gpus": gpus, "n": len(names)}
        try:
            out, err = process.communicate(timeout=max(limit, 1))
        except subprocess.TimeoutExpired:
            end(process)
            return dict(run, why="the time was over", found={})
        except BaseException:
            end(process)
            raise
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        run.update(wall=round(time.monotonic() - begin, 3), status=process.returncode,
                   cpu=round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 3))
        try:
            answer = json.loads(out)
        except ValueError:
            return dict(run, why=f"no answer: {err.strip()[-600:]}", found={})
        run["seats"] = answer.get("gpus") or []
        run["found"] = found_by_bench(db) if a.db and os.path.exists(db) else found_by_eval(answer)
        left = [f"GPU {g['index']} was left: {g['why']}" for g in run["seats"] if g.get("left")]
        if process.returncode not in (0, 1) or left:
            run["why"] = "; ".join(left) or f"status {process.returncode}: {answer.get('error') or err.strip()[-600:]}"
        return run


# ---- what follows ----


def counts(run):
    return "why" not in run


def alone(data):
    """Runs that count, by the GPU that they had alone."""
    by_gpu = collections.OrderedDict((g, []) for g in data["gpus"])
    for run in data["commands"]:
        if counts(run) and len(run["gpus"]) == 1:
            by_gpu[run["gpus"][0]].append(run)
    return by_gpu


def together(data):
    return [r for r in data["commands"] if counts(r) and len(r["gpus"]) > 1]


def apart(x, y):
    return x["lo"] > y["hi"] or y["lo"] > x["hi"]


def compare(x, y):
    """Two runs of the same graphs: y's speedups over x's."""
    both = [g for g in x["found"] if g in y["found"]]
    timed = [g for g in both if "lo" in x["found"][g] and "lo" in y["found"][g]]
    logs = [math.log(y["found"][g]["speedup"] / x["found"][g]["speedup"]) for g in timed]
    c = {"graphs": len(both), "timed": len(timed),
         "apart": [g for g in timed if apart(x["found"][g], y["found"][g])],
         "verdicts": [g for g in both if x["found"][g]["verdict"] != y["found"][g]["verdict"]]}
    if logs:
        mean = statistics.fmean(logs)
        half = 1.96 * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else None
        c.update(ratio=math.exp(mean), largest=math.exp(max(map(abs, logs))))
        if half is not None:
            c.update(ratio_lo=math.exp(mean - half), ratio_hi=math.exp(mean + half))
    return c


def sum_up(data):
    """Fills in what the commands so far say."""
    by_gpu, all_of = alone(data), together(data)
    one = [statistics.median(r["wall"] for r in runs) for runs in by_gpu.values() if runs]
    data["graphs"] = n = max((len(r["found"]) for r in data["commands"]), default=0)
    data["one"] = {g: {"commands": len(runs), "wall": statistics.median(r["wall"] for r in runs),
                       "per_minute": 60 * n / statistics.median(r["wall"] for r in runs)} for g, runs in by_gpu.items() if runs}
    if all_of:
        wall = statistics.median(r["wall"] for r in all_of)
        data["all"] = {"commands": len(all_of), "wall": wall, "per_minute": 60 * n / wall}
        if one:
            data["ratio"] = statistics.fmean(one) / wall
            data["efficiency"] = data["ratio"] / len(data["gpus"])
    pairs = [dict(compare(x, y), gpus=[g, h]) for g, h in itertools.combinations(by_gpu, 2) for x, y in zip(by_gpu[g], by_gpu[h])]
    data["between_gpus"] = pairs
    data["same_gpu"] = [dict(compare(x, y), gpus=[g, g]) for g, runs in by_gpu.items() for x, y in zip(runs, runs[1:])]
    data["alone_and_all"] = [dict(compare(x, y), gpus=[g, "all"]) for g, runs in by_gpu.items() for x, y in zip(runs, all_of)]
    return data


def save(path, data):
    with open(path + ".part", "w") as f:
        json.dump(data, f, indent=1)
        f.write("\n")
    os.replace(path + ".part", path)


def line_of(what, pairs):
    timed = sum(p["timed"] for p in pairs)
    far = sum(len(p["apart"]) for p in pairs)
    other = sum(len(p["verdicts"]) for p in pairs)
    share = f" ({100 * far / timed:.1f} %)" if timed else ""
    print(f"{what}: {timed} pairs of speedups, {far} with intervals apart{share}; {other} other verdicts")
    for g, n in collections.Counter(g for p in pairs for g in (*p["apart"], *p["verdicts"])).most_common(10):
        print(f"  {g}: {n} times")
    for p in pairs:
        if "ratio" in p:
            within = f" [{p['ratio_lo']:.4f}, {p['ratio_hi']:.4f}]" if "ratio_lo" in p else ""
            print(f"  GPU {p['gpus'][1]} / GPU {p['gpus'][0]}: geometric mean {p['ratio']:.4f}{within}, furthest {p['largest']:.4f}")


def show(data):
    print(f"{data['of']}: {data['graphs']} graphs, {'warm' if data['warm'] else 'empty'} cache")
    for g, s in data["one"].items():
        print(f"GPU {g} alone: {s['wall']:.1f} s, {s['per_minute']:.1f} graphs a minute ({s['commands']} commands)")
    if "all" in data:
        s = data["all"]
        print(f"{len(data['gpus'])} GPUs: {s['wall']:.1f} s, {s['per_minute']:.1f} graphs a minute ({s['commands']} commands)")
    if "ratio" in data:
        print(f"ratio {data['ratio']:.2f} of {len(data['gpus'])} ({100 * data['efficiency']:.0f} %)")
    line_of("between GPUs", data["between_gpus"])
    line_of("the same GPU twice", data["same_gpu"])
    line_of("alone and all at once", data["alone_and_all"])
    for run in data["commands"]:
        if not counts(run):
            print(f"does not count: GPUs {','.join(run['gpus'])}: {run['why']}")


# ---- in turn ----


def turns(gpus):
    """A all, all B, A all, ...: each GPU alone in turn, beside all of them; what comes first changes."""
    for k in itertools.count():
        pair = [[gpus[k % len(gpus)]], gpus]
        yield from pair if k % 2 == 0 else reversed(pair)


def fitting(a, names, trial, n_gpus, left):
    """How many of them the cycles have time for. A cycle is each GPU alone, and all GPUs as often."""
    each = trial["wall"] / trial["n"]  # on all GPUs
    n = int(left * 0.85 / (min(CYCLES, a.cycles) * n_gpus * (n_gpus + 1) * each))
    return min(max(n, 2 * n_gpus), len(names))


def measure(a, data, cache):
    begin, names = time.monotonic(), names_of(a)
    left = lambda: a.seconds - (time.monotonic() - begin)
    gpus = a.gpus.split(",")
    trial = evaluate(a, spread(names, 4 * len(gpus)), gpus, left(), cache)
    if not counts(trial):
        fail(f"the first command, on {trial['n']} graphs, did not end well: {trial['why']}")
    if a.gpus == "all":
        gpus = [f"{g['index']}" for g in trial["seats"]]
    if len(gpus) < 2:
        fail(f"--gpus {a.gpus} is one GPU; several are needed.")
    chosen = spread(names, fitting(a, names, trial, len(gpus), left()))
    data.update(gpus=gpus, given=len(chosen), trial={k: v for k, v in trial.items() if k != "found"})
    print(f"{trial['n']} in {trial['wall']:.1f} s on {len(gpus)} GPUs; {len(chosen)} of {len(names)} are measured", flush=True)
    if a.warm:
        evaluate(a, chosen, gpus, left(), cache)
    last = {}
    for use in turns(gpus):
        if left() < last.get(len(use), 1) or len(data["commands"]) == 2 * a.cycles * len(gpus):
            break
        run = evaluate(a, chosen, use, left(), cache)
        last[len(use)] = run.get("wall", a.seconds)
        data["commands"].append(run)
        save(a.json, sum_up(data))
        print(f"GPUs {','.join(use)}: " + (f"{run['wall']:.1f} s" if counts(run) else run["why"]), flush=True)


def main():
    a = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cache = tempfile.mkdtemp(prefix="scaling-cache-") if a.warm else None
    data = {"of": "bench" if a.db else "eval", "pass": os.path.basename(a.so), "with": a.extra,
            "jobs": a.jobs, "warm": a.warm, "processors": len(os.sched_getaffinity(0)), "passmith": version(a), "system": platform.platform(),
            "date": f"{datetime.datetime.now():%Y-%m-%d %H:%M}", "commands": []}
    try:
        measure(a, data, cache)
    finally:
        if cache:
            shutil.rmtree(cache, ignore_errors=True)
    if "ratio" not in data:
        fail("no command on one GPU and on all of them came to its end; give more --seconds, or fewer graphs by --first. "
             + "; ".join(r["why"] for r in data["commands"] if not counts(r)))
    show(data)
    print(f"JSON: {a.json}")
    return 1 if any(p["apart"] or p["verdicts"] for p in data["between_gpus"]) else 0


if __name__ == "__main__":
    sys.exit(main())
