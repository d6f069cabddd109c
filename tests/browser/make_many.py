#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_many.py - a large database out of a small one: many tasks and systems, by copying rows.

make_many.py FROM TO [--tasks N] [--systems N] [--hostile] [--gpu NAME]

FROM holds tasks and finished runs of a pass on them. TO gets N tasks with the same graphs, and runs of N passes on each,
whose speedups are made of numbers that follow from their places: the same call gives the same rows. --hostile gives
tasks, passes and messages names that try to become HTML. --gpu gives the copies times as if they were measured there.
"""
import argparse
import hashlib
import json
import shutil
import sqlite3

HOSTILE = [
    "<script>document.title='broken'</script>",
    "\"><img src=x onerror=\"document.title='broken'\">",
    "'quotes' \"and\" `others` & &amp; </title></script>",
    "right\u202eot\u2066left\u200f",
    "esc\x1b[31m\x07\x08\x1b]0;broken\x07",
    "x" * 10000,
    "]]> <!-- --> {{7*7}} ${7*7} %s%n",
]


def digest(*parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def spread(*parts):
    """A number from 0 to 1."""
    return int(digest(*parts)[:8], 16) / 0xFFFFFFFF


def record(text, task, system, ordinal, opts):
    """A copied record with another speedup; every seventh is wrong."""
    r = json.loads(text)
    speed = 0.5 * 6 ** spread(system, task) * (0.9 + 0.2 * spread(system, task, ordinal))
    r["speedup"] = speed
    r["candidate_seconds"] = r["baseline_seconds"] / speed
    if opts.gpu:
        r["time"] = "measured"
        r["clock"] = {"machine": opts.gpu, "blocks": 9, "speedup_lo": speed * 0.98, "speedup_hi": speed * 1.02,
                      "replay_speedup": speed * 1.1, "replay_baseline_seconds": r["baseline_seconds"] * 0.8,
                      "replay_candidate_seconds": r["candidate_seconds"] * 0.8 / 1.1, "wall_speedup": speed,
                      "wall_baseline_seconds": r["baseline_seconds"] * 2,
                      "wall_candidate_seconds": r["candidate_seconds"] * 2}
    if system > 1 and spread("wrong", system, task) < 1 / 7 and ordinal % 2:
        r["verdict"] = "INCORRECT"
        r["why"] = (HOSTILE[(system + ordinal) % len(HOSTILE)] if opts.hostile else
                    "Output 'y' is wrong at element 7: 1.25 where 1 is expected, on inputs normal.")
        r["worst"] = {"where": "output 'y', inputs normal, alternative 0", "index": 7, "expected": 1.0, "got": 1.25,
                      "abs": 0.25, "rel": 0.25, "ulp": 2097152}
        r["smallest_t"] = 5
        for out in r["outputs"]:
            out["close"] = [0] * len(out["close"])
            out["equal"] = False
    return r


def copy_task(db, number, old, opts):
    name = "task_%03d" % number
    if opts.hostile:
        name = HOSTILE[number % len(HOSTILE)] + str(number)
    db.execute("INSERT INTO tasks (hash, name, kind, created, split) SELECT ?, ?, kind, 0, 'eval' FROM tasks WHERE id = ?",
               (digest("task", number), name, old))
    new = db.execute("SELECT last_insert_rowid()").fetchone()[0]
    db.execute("INSERT INTO variants (task, ordinal, subgraph, label, shape, dtype, base) "
               "SELECT ?, ordinal, subgraph, label, shape, dtype, base FROM variants WHERE task = ?", (new, old))
    return new


def copy_run(db, number, task, system, old_run, opts):
    path = "/passes/system_%02d.so" % system
    if opts.hostile:
        path = "/passes/%d/%s.so" % (system, HOSTILE[system % len(HOSTILE)])
    machine = "GPU=%s; CUDA driver=1" % opts.gpu if opts.gpu else "C++ compiler=1"
    start = 1700000000 + 86400 * (number % 5)
    db.execute("INSERT INTO runs (key, task, pass_path, pass_sha256, device, seed, version, options, started, finished, machine) "
               "SELECT ?, ?, ?, ?, ?, seed, version, options, ?, ?, ? FROM runs WHERE id = ?",
               (digest("run", number, system), task, path, digest("pass", system), "cuda" if opts.gpu else "emu", start,
                start + 60, machine, old_run))
    run = db.execute("SELECT last_insert_rowid()").fetchone()[0]
    found = db.execute("SELECT ordinal, stage, json, rewrite FROM results WHERE run = ?", (old_run,)).fetchall()
    for ordinal, stage, text, rewrite in found:
        r = record(text, number, system, ordinal, opts)
        db.execute("INSERT INTO measurements (run, task, ordinal, key, counts, verdict, stage, speedup, json, rewrite) "
                   "VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?)",
                   (run, task, ordinal, digest("measurement", run, task, ordinal), r["verdict"], stage, r["speedup"], json.dumps(r), rewrite))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("source")
    p.add_argument("target")
    p.add_argument("--tasks", type=int, default=200)
    p.add_argument("--systems", type=int, default=20)
    p.add_argument("--hostile", action="store_true")
    p.add_argument("--gpu", default="")
    opts = p.parse_args()
    shutil.copyfile(opts.source, opts.target)
    db = sqlite3.connect(opts.target)
    # The run with the most right answers on each task is what is copied.
    old = db.execute("SELECT task, run, max(n) FROM (SELECT runs.task AS task, run, count(*) AS n FROM runs JOIN results "
                     "ON results.run = runs.id WHERE verdict = 'OK' GROUP BY run) GROUP BY task ORDER BY task").fetchall()
    for number in range(opts.tasks):
        task, run = old[number % len(old)][:2]
        new = copy_task(db, number, task, opts)
        for system in range(1, opts.systems + 1):
            copy_run(db, number, new, system, run, opts)
    for task in [row[0] for row in old]:
        db.execute("DELETE FROM measurements WHERE task = ?", (task,))
        db.execute("DELETE FROM runs WHERE task = ?", (task,))
    db.execute("DELETE FROM tasks WHERE id NOT IN (SELECT task FROM runs WHERE task IS NOT NULL)")
    db.commit()
    db.close()


if __name__ == "__main__":
    main()
