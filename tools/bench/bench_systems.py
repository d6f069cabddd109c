#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_systems.py --db DB -o FOLDER [--pass PASS.so]... - PyTorch, TorchInductor, the eager run and passes on one machine.

Takes the tasks of a split (default eval), exports their graphs, lets TorchInductor compile them with every core, then
on each GPU times PyTorch (tools/bench/torch_bench.py) and evaluates the passes (`passmith bench`) task by task, one process
at a time, and makes one table of what is complete. What is stored in the database is not measured again, so a run that
was stopped goes on. Needs PyTorch and one or more GPUs.

    tools/bench/bench_systems.py --db bench.db --pass build/passes/fuse.so --shapes 1 -o out
"""
import argparse
import json
import os
import random
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def call(command, log, env=None):
    with open(log, "a") as f:
        f.write("$ " + " ".join(command) + "\n")
        f.flush()
        return subprocess.call(command, stdout=f, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env)


def tasks_of(o):
    text = subprocess.run([o.passmith, "task", "list", "--db", o.db, "--json"], check=True, capture_output=True,
                          text=True).stdout
    tasks = [t for t in json.loads(text)["results"] if t.get("split") == o.split]
    random.Random(o.seed).shuffle(tasks)
    return [str(t["id"]) for t in tasks[:o.tasks]]


class Shards:
    """Runs `work(item, slot)` over items with one thread a slot; nothing is begun after `until`."""

    def __init__(self, items, slots, work, until):
        self.items, self.work, self.until, self.lock = list(items), work, until, threading.Lock()
        threads = [threading.Thread(target=self.run, args=(k,)) for k in range(slots)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    def run(self, slot):
        while time.time() < self.until:
            with self.lock:
                if not self.items:
                    return
                item = self.items.pop(0)
            self.work(item, slot)


def on_gpu(o, k):
    return dict(os.environ, CUDA_VISIBLE_DEVICES=o.gpus[k % len(o.gpus)])


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--db", required=True)
    p.add_argument("-o", dest="out", required=True)
    p.add_argument("--passmith", default=os.path.join(HERE, "..", "..", "build", "passmith"))
    p.add_argument("--pass", dest="passes", action="append", default=[], help="NAME=FILE.so or FILE.so")
    p.add_argument("--split", default="eval")
    p.add_argument("--tasks", type=int, default=10**9, help="so many, drawn at random")
    p.add_argument("--shapes", type=int, default=1, help="the first N shapes of each graph")
    p.add_argument("--gpus", default="0", type=lambda s: s.split(","))
    p.add_argument("--jobs", type=int, default=os.cpu_count() // 2, help="processes that compile at once")
    p.add_argument("--blocks", type=int, default=10)
    p.add_argument("--clock-seconds", type=float, default=3)
    p.add_argument("--seconds", type=float, default=1e9, help="no task is begun after that; compiling gets a quarter")
    p.add_argument("--preset", default="passnet")
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    os.makedirs(o.out, exist_ok=True)
    begin, log = time.time(), os.path.join(o.out, "log.txt")
    tasks = tasks_of(o)
    torch_bench = [sys.executable, os.path.join(HERE, "torch_bench.py")]

    def folder(task):
        return os.path.join(o.out, "torch", task)

    def compile_one(task, slot):
        if not os.path.isdir(folder(task)):
            call([o.passmith, "task", "export", task, "--db", o.db, "--torch", folder(task), "--shapes", str(o.shapes),
                  "--max-check", "0"], log)
        call(torch_bench + [folder(task), "--compile-only", "--modes", "inductor"], log, on_gpu(o, slot))

    done = []

    def measure(task, slot):
        times = folder(task) + ".json"
        if not os.path.exists(times):
            call(torch_bench + [folder(task), "-o", times, "--blocks", str(o.blocks)], log, on_gpu(o, slot))
        bench = [o.passmith, "bench", task, "--db", o.db, "--device", "cuda", "--shapes", str(o.shapes), "--seconds",
                 str(o.clock_seconds), "--baselines", "eager", "--preset", o.preset, "--quiet"]
        for x in o.passes:
            bench += ["--pass", x]
        if call(bench, log, on_gpu(o, slot)) == 0 and os.path.exists(times):
            done.append(task)
        print(f"{time.time() - begin:.0f} s: task {task}, {len(done)} of {len(tasks)}", flush=True)

    # The compiler's cache on disk is what the timing processes find, so they spend their time on timing.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.abspath(os.path.join(o.out, "inductor")))
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    Shards(tasks, o.jobs, compile_one, begin + o.seconds / 4)
    print(f"{time.time() - begin:.0f} s: compiled", flush=True)
    Shards(tasks, len(o.gpus), measure, begin + o.seconds)
    for task in done:
        call([o.passmith, "results", "import", folder(task) + ".json", "--db", o.db], log)
    table = [o.passmith, "bench"] + done + ["--db", o.db, "--device", "cuda", "--stored", "--shapes", str(o.shapes),
             "--seconds", str(o.clock_seconds), "--baselines", "eager,torch-eager,torch-inductor", "--against", "torch-eager", "--preset", o.preset,
             "-o", o.out]
    for x in o.passes:
        table += ["--pass", x]
    return subprocess.call(table) if done else 1


if __name__ == "__main__":
    sys.exit(main())
