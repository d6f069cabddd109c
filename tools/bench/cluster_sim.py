#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cluster_sim.py - simulates workers that take shards of evaluations from a shared folder, and writes the tables of docs/design/scale.md.

The model. An item is one pass on one task; it has as many variants as the task has graphs. How long a variant takes is drawn from
measured evaluations. Items are dealt to shards by their modelled cost, the longest first, each to the shard that has least. A worker
claims the next shard by a rename, works on its items in order, publishes a file of what is new after every so many variants, and the item when
it is done. Operations on the folder wait in one line at the file server; each has a time that the server is busy, and a delay on the way that
only its worker sees. A worker may be killed; what it did since the last file is lost, the rest of its shard can be claimed again after the lease, and
the worker comes back after a while. One process collects the results of items that are done. All is drawn from a seed: the same seed gives the same numbers.

    tools/bench/cluster_sim.py --write             fills the tables of docs/design/scale.md, from docs/results/*.json
    tools/bench/cluster_sim.py --check             exit 1 when they are not what the numbers give
    tools/bench/cluster_sim.py --measure DIR -o F  times the operations on a folder of DIR, and writes docs/results/cluster-costs.json to F
"""
import argparse
import datetime
import heapq
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "docs" / "results", ROOT / "docs" / "design" / "scale.md"


@dataclass
class Server:
    """The folder. Seconds; an operation is a claim, a published file, or the end of a shard."""
    busy_s: float = 0.0   # of the server, for one operation
    delay_s: float = 0.0  # of the worker besides


@dataclass
class Options:
    workers: int = 1
    server: Server = field(default_factory=Server)
    start_s: float = 0.0        # of a worker: program, device, its copy of the tasks
    publish_every: int = 1      # variants; 0: only whole items
    kills_per_hour: float = 0.0  # of one worker
    lease_s: float = 0.0        # until another may take a dead worker's shard
    back_s: float = 0.0         # until a killed worker is there again
    collect_s: float = 0.0      # to collect the result of one variant, by one process while the workers work
    seed: int = 1


@dataclass
class Outcome:
    seconds: float = 0.0       # until the last item is published
    collected_s: float = 0.0   # until the last result is collected
    work_s: float = 0.0        # evaluations that were published
    lost_s: float = 0.0        # evaluations that were not
    most_lost_s: float = 0.0   # by one kill
    wait_s: float = 0.0        # of workers, for the folder
    claims: int = 0
    files: int = 0             # published
    kills: int = 0
    variants: int = 0          # published
    items: list = field(default_factory=list)  # how often each was published


def deal(costs, n):
    """n shards of item numbers: the longest first, each to the shard with least; a shard keeps the order in which it got them."""
    heap, shards = [(0.0, s) for s in range(n)], [[] for _ in range(n)]
    for k in sorted(range(len(costs)), key=lambda k: (-costs[k], k)):
        load, s = heap[0]
        shards[s].append(k)
        heapq.heapreplace(heap, (load + costs[k], s))
    return shards


class Simulation:
    def __init__(self, items, shards, options):
        self.items, self.o = items, options
        self.draw = random.Random(options.seed)
        self.out = Outcome(items=[0] * len(items))
        self.free_at = 0.0  # of the server
        self.pending = []   # (from when, number, items, variants of the first item that are published)
        self.events = []    # (when, number, what, argument)
        self.number = 0
        self.left = sum(map(len, shards))
        for s in shards:
            if s:
                self.put_back(0.0, s, 0)
        self.idle = []

    def put_back(self, when, items, done):
        heapq.heappush(self.pending, (when, self.number, items, done))
        self.number += 1

    def at(self, when, what, argument):
        heapq.heappush(self.events, (when, self.number, what, argument))
        self.number += 1

    def operation(self, now):
        """One operation on the folder, asked for now; returns when the worker has its answer."""
        self.free_at = max(self.free_at, now) + self.o.server.busy_s
        end = self.free_at + self.o.server.delay_s
        self.out.wait_s += end - now
        return end

    def next_kill(self, now):
        rate = self.o.kills_per_hour / 3600
        return now - math.log(1 - self.draw.random()) / rate if rate else math.inf

    def run(self):
        for w in range(self.o.workers):
            self.at(self.o.start_s, self.claim, self.next_kill(0.0))
        while self.events and self.left:
            now, _, what, argument = heapq.heappop(self.events)
            what(now, argument)
        if self.left:
            raise RuntimeError(f"{self.left} items were never done")
        return self.out

    def claim(self, now, kill):
        """A worker wants a shard. One that finds none looks again when one comes back."""
        if not self.pending or self.pending[0][0] > now:
            if self.pending:
                self.at(self.pending[0][0], self.claim, kill)
            else:
                self.idle.append(kill)
            return
        if kill <= now:
            return self.die(now, None, 0.0)
        _, _, items, done = heapq.heappop(self.pending)
        self.out.claims += 1
        self.at(self.operation(now), self.work, (kill, items, 0, done, done, 0.0))

    def die(self, now, rest, lost):
        """Ends a worker; rest: what of its shard is not published."""
        self.out.kills += 1
        self.out.lost_s += lost
        self.out.most_lost_s = max(self.out.most_lost_s, lost)
        if rest:
            self.put_back(now + self.o.lease_s, *rest)
            for kill in self.idle:
                self.at(now + self.o.lease_s, self.claim, kill)
            self.idle.clear()
        again = now + self.o.back_s + self.o.start_s
        self.at(again, self.claim, self.next_kill(again))

    def work(self, now, argument):
        """Up to the next operation on the folder: item number `at` of the shard, `done` of its variants evaluated, `kept` of them published."""
        kill, items, at, done, kept, fresh = argument
        variants = self.items[items[at]]
        every = self.o.publish_every or len(variants)
        while done < len(variants):
            if now + variants[done] > kill:
                return self.die(kill, (items[at:], kept), fresh + kill - now if kill > now else fresh)
            now += variants[done]
            fresh += variants[done]
            done += 1
            if (done - kept) >= every or done == len(variants):
                break
        self.at(now, self.publish, (kill, items, at, done, kept, fresh))

    def publish(self, now, argument):
        kill, items, at, done, kept, fresh = argument
        end = self.operation(now)
        if end > kill:
            return self.die(max(kill, now), (items[at:], kept), fresh)
        self.out.files += 1
        self.out.work_s += fresh
        self.out.variants += done - kept
        if done < len(self.items[items[at]]):
            return self.at(end, self.work, (kill, items, at, done, done, 0.0))
        self.out.items[items[at]] += 1
        self.out.collected_s = max(self.out.collected_s, end) + len(self.items[items[at]]) * self.o.collect_s
        self.left -= 1
        self.out.seconds = max(self.out.seconds, end)
        if at + 1 < len(items):
            return self.at(end, self.work, (kill, items, at + 1, 0, 0, 0.0))
        self.at(end, self.claim, kill)  # the end of the shard is told by the next claim's rename


def simulate(items, shards, options):
    """items: seconds of each variant, by item; shards: numbers of items."""
    return Simulation(items, shards, options).run()


# ---- what is simulated ----

TASKS, GRAPHS, ITERATIONS, SAMPLES = 200, 2060, 50, 8
GPUS = (1, 8, 64, 512)
DOLLARS = 3.0          # an hour of one GPU with its share of the node
# Name; seconds that it is busy with one operation, None: as measured; seconds on the way.
SERVERS = (("measured disk", None, None), ("0.5 ms, 2 ms away", 0.0005, 0.002), ("5 ms, 50 ms away", 0.005, 0.05))


def read(name):
    return json.loads((RESULTS / name).read_text())


def measured(case="first", device="cuda"):
    return [r for r in read("evaluation-time.json")["runs"] if r["device"] == device and r["case"] == case]


def sizes_of_tasks(n_tasks=TASKS, n_graphs=GRAPHS):
    """Graphs of each task: as equal as they can be."""
    return [n_graphs // n_tasks + (k < n_graphs % n_tasks) for k in range(n_tasks)]


def workload(seed, rounds, spread=0.3):
    """Items of so many rounds and their modelled costs. A graph's measured time is drawn once, since it is the graph that decides it; a pass
    moves it by up to `spread`. The model knows the mean of all graphs and how many a task has."""
    draw = random.Random(seed)
    walls = [r["wall"] for r in measured()]
    graphs = [[walls[int(draw.random() * len(walls))] for _ in range(n)] for n in sizes_of_tasks()]
    mean = statistics.mean(walls)
    items, costs = [], []
    for _ in range(rounds):
        for task in graphs:
            for _ in range(SAMPLES):
                factor = 1 + spread * (2 * draw.random() - 1)
                items.append([w * factor for w in task])
                costs.append(mean * len(task))
    return items, costs


def server_of(row):
    costs = read("cluster-costs.json")
    busy, delay = row[1], row[2]
    return Server(costs["publish_s"] if busy is None else busy, 0.0 if delay is None else delay)


# ---- tables ----

def table(head, rows):
    return ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"] + ["| " + " | ".join(map(str, r)) + " |" for r in rows]


def span(seconds):
    for unit, name in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.1f} {name}"
    return f"{seconds:.1f} s"


def count(n):
    return f"{n:,.0f}"


def volume(n):
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n >= unit:
            return f"{n / unit:,.1f} {name}"
    return f"{n:.0f} B"


def inputs():
    """What was measured."""
    costs, runs = read("cluster-costs.json"), measured()
    walls, cpus = [r["wall"] for r in runs], [r["cpu"] for r in runs]
    many = read("extract-many.json")
    cpu, models = sum(c["cpu"] for c in many["calls"]), sum(c["models"] for c in many["calls"])
    return table(["what", "value", "from"], [
        ["one evaluation on a GPU, first candidate: mean, median, longest", f"{statistics.mean(walls):.2f}, {statistics.median(walls):.2f}, {max(walls):.1f} s",
         f"evaluation-time.json, {len(runs)} graphs on an H200"],
        ["processors that it keeps busy", f"{sum(cpus) / sum(walls):.1f}", "the same: user+sys over wall"],
        ["a rename; a claim (list, rename, write)", f"{1e6 * costs['rename_s']:.0f}; {1e6 * costs['claim_s']:.0f} us", "cluster-costs.json"],
        ["a file published (write, fsync, rename)", f"{1e3 * costs['publish_s']:.2f} ms", "cluster-costs.json"],
        ["a stored result", f"{costs['result_bytes']:,} bytes", "cluster-costs.json"],
        ["extraction of a model: processor time", f"{1e3 * cpu / models:.1f} ms", "extract-many.json"],
    ])


def whole_job():
    """The whole job: 200 tasks of 2,060 graphs in all, 50 iterations of 8 samples."""
    runs = measured()
    mean, cores = statistics.mean(r["wall"] for r in runs), sum(r["cpu"] for r in runs) / sum(r["wall"] for r in runs)
    n = GRAPHS * ITERATIONS * SAMPLES
    size = read("cluster-costs.json")["result_bytes"]
    rows = []
    for gpus in GPUS:
        seconds = n * mean / gpus
        rows.append([gpus, span(seconds), f"{n * mean / 3600:,.0f}", f"{n * mean / 3600 * DOLLARS:,.0f} $", math.ceil(cores * gpus), f"{gpus / mean:,.1f}",
                     volume(gpus / mean * size) + "/s"])
    return [f"{count(n)} evaluations, {count(TASKS * ITERATIONS * SAMPLES)} items; all results take {volume(n * size)}.", ""] + table(
        ["GPUs", "time at least", "GPU hours", f"at {DOLLARS:.2f} $ an hour", "processors", "results a second", "network"], rows)


COLLECT_S = 0.001  # a result: what collect is asked for
ROUNDS = 4  # of the 50 iterations, in simulations: 6,400 items of 65,920 variants


def overhead(seconds, items, workers):
    return f"{100 * (seconds * workers / sum(map(sum, items)) - 1):.1f} %"


def shards():
    """Claims by item or by shard: what the wall time is over an ideal division, by number of shards and server."""
    items, costs = workload(1, ROUNDS)
    rows = []
    for gpus in GPUS[1:]:
        for n in sorted({min(each * gpus, len(items)) for each in (1, 4, 16, len(items))}):
            cells = []
            for row in SERVERS:
                out = simulate(items, deal(costs, n), Options(workers=gpus, server=server_of(row), start_s=3.0))
                cells.append(overhead(out.seconds, items, gpus))
            known = simulate(items, deal(list(map(sum, items)), n), Options(workers=gpus, server=server_of(SERVERS[1]), start_s=3.0))
            rows.append([gpus, f"{n:,}", f"{len(items) / n:.1f}", *cells, overhead(known.seconds, items, gpus)])
    return table(["GPUs", "shards", "items each"] + [r[0] for r in SERVERS] + [f"costs known, {SERVERS[1][0]}"], rows)


def partials():
    """How often unfinished items are published, with a kill for each worker every two hours."""
    items, costs = workload(2, ROUNDS)
    size = read("cluster-costs.json")["result_bytes"]
    rows = []
    for every, name in ((1, "each variant"), (4, "every 4"), (0, "whole items")):
        cells = []
        for row in SERVERS[1:]:
            out = simulate(items, deal(costs, len(items)), Options(workers=64, server=server_of(row), start_s=3.0, publish_every=every, kills_per_hour=0.5,
                                                                lease_s=60.0, back_s=120.0, seed=3))
            cells.append(overhead(out.seconds, items, 64))
        again = sum(-(-k // (every or k)) * (-(-k // (every or k)) + 1) // 2 * (every or k) * size for k in map(len, items))
        rows.append([name, f"{out.files:,}", f"{out.kills}", f"{out.lost_s / max(out.kills, 1):.1f} s", f"{out.most_lost_s:.1f} s",
                     f"{100 * out.lost_s / out.work_s:.3f} %", *cells, volume(sum(map(len, items)) * size), volume(again)])
    return table(["published", "files", "kills", "lost by a kill", "at most", "of the work", *(f"over ideal, {r[0]}" for r in SERVERS[1:]), "bytes: what is new",
                  "bytes: the whole again"], rows)


def growth():
    """An item's files when each has what is new, or everything again."""
    size = read("cluster-costs.json")["result_bytes"]
    return table(["variants of the item", "what is new", "everything again"], [[count(n), volume(n * size), volume(n * (n + 1) // 2 * size)] for n in (10, 30, 100, 1000)])


def barriers():
    """One plan for each iteration, whose end is waited for, beside one plan for all."""
    rows, n = [], 4
    items, costs = workload(4, n)
    per = len(items) // n
    for gpus in GPUS:
        server = server_of(SERVERS[1])
        one = simulate(items, deal(costs, len(items)), Options(workers=gpus, server=server, start_s=3.0)).seconds
        each = 0.0
        for k in range(n):
            part = items[k * per:(k + 1) * per]
            each += simulate(part, deal(costs[k * per:(k + 1) * per], per), Options(workers=gpus, server=server, start_s=3.0)).seconds
        rows.append([gpus, overhead(one, items, gpus), overhead(each, items, gpus), f"{per / gpus:.1f}"])
    return table(["GPUs", "all at once", "iteration by iteration", "items of an iteration for each"], rows)


def server_load():
    """Operations on the folder in a second, and how busy they keep a server."""
    mean = statistics.mean(r["wall"] for r in measured())
    graphs = GRAPHS / TASKS
    rows = []
    for gpus in GPUS:
        for name, per in (("claims of items", 1 / graphs), ("files of each variant", 1.0), ("files of whole items", 1 / graphs)):
            rate = gpus / mean * per
            rows.append([gpus, name, f"{rate:,.2f}", *(f"{100 * rate * server_of(r).busy_s:,.2f} %" for r in SERVERS)])
    return table(["GPUs", "what", "a second", *(f"busy: {r[0]}" for r in SERVERS)], rows)


def collecting():
    """One process that collects 1,000 results a second, while the workers work or after them."""
    items, costs = workload(1, ROUNDS)
    n, rows = sum(map(len, items)), []
    for gpus in GPUS[1:]:
        out = simulate(items, deal(costs, len(items)), Options(workers=gpus, server=server_of(SERVERS[1]), start_s=3.0, collect_s=COLLECT_S))
        rows.append([gpus, span(out.seconds), f"{out.collected_s - out.seconds:.2f} s", span(n * COLLECT_S)])
    return table(["GPUs", "wall time", "then, when collected meanwhile", "then, when collected afterwards"], rows)


def extraction():
    """100,000 models, by processors."""
    many = read("extract-many.json")
    calls = many["calls"]
    cpu, models = sum(c["cpu"] for c in calls), sum(c["models"] for c in calls)
    last, first = calls[-1], calls[0]
    a_model = (last["db_bytes"] - first["db_bytes"]) / (last["models_held"] - first["models_held"]) if len(calls) > 1 else first["db_bytes"] / first["models_held"]
    rows = [[n, span(1e5 * cpu / models / n)] for n in (2, 16, 64)]
    return [f"A model takes {1e3 * cpu / models:.1f} ms of a processor, and {volume(a_model)} of the database when its graphs are there already: "
            f"{volume(1e5 * a_model)} for 100,000.", ""] + table(["processors", "100,000 models at least"], rows)


TABLES = {f.__name__: f for f in (inputs, whole_job, server_load, shards, partials, growth, barriers, collecting, extraction)}


def fill(match):
    if match.group(1) not in TABLES:
        sys.exit(f"cluster_sim: there is no table {match.group(1)}")
    return "\n".join([f"<!-- table {match.group(1)} -->", "", *TABLES[match.group(1)](), "", "<!-- end of table -->"])


def write(check):
    old = PAGE.read_text()
    new = re.sub(r"<!-- table (\w+) -->\n.*?<!-- end of table -->", fill, old, flags=re.S)
    if new == old:
        return 0
    if check:
        print(f"{PAGE.relative_to(ROOT)} is not what the numbers give: run tools/bench/cluster_sim.py --write", file=sys.stderr)
        return 1
    PAGE.write_text(new)
    return 0


# ---- measuring ----

def median_of(action, n):
    took = []
    for k in range(n):
        begin = time.perf_counter()
        action(k)
        took.append(time.perf_counter() - begin)
    return statistics.median(took)


def measure(folder, out, result_bytes):
    """Medians of 500 operations each; the folder that is claimed from has 1,000 entries."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="cluster-sim-", dir=folder))
    try:
        for d in ("pending", "running", "results"):
            (work / d).mkdir()
        for k in range(1500):
            (work / "pending" / f"{k:06d}").write_text("")

        def rename(k):
            os.rename(work / "pending" / f"{k:06d}", work / "running" / f"r{k:06d}")

        def claim(_):
            name = min(os.listdir(work / "pending"))
            os.rename(work / "pending" / name, work / "running" / name)
            (work / "running" / name).write_text('{"worker": 1, "host": "node", "pid": 1}')

        def publish(k):
            with open(work / f"{k}.part", "wb") as f:
                f.write(b"x" * result_bytes)
                f.flush()
                os.fsync(f.fileno())
            os.rename(work / f"{k}.part", work / "results" / f"{k}.jsonl")

        found = {"rename_s": median_of(rename, 500), "claim_s": median_of(claim, 500), "publish_s": median_of(publish, 500)}
    finally:
        shutil.rmtree(work)
    import bench_eval
    found = {k: float(f"{v:.3g}") for k, v in found.items()}
    found.update(result_bytes=result_bytes, date=f"{datetime.date.today()}", hardware=bench_eval.processor(), commit=bench_eval.commit(),
                 command=f"tools/bench/cluster_sim.py --measure DIR -o FILE --result-bytes {result_bytes}", folder="a local disk (ext4)")
    pathlib.Path(out).write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    return 0


def main():
    p = argparse.ArgumentParser(description="simulates a cluster's queue", allow_abbrev=False)
    p.add_argument("--write", action="store_true")
    p.add_argument("--check", action="store_true")
    p.add_argument("--measure", metavar="DIR")
    p.add_argument("-o", dest="out", metavar="FILE")
    p.add_argument("--result-bytes", type=int, default=3368, help="of a stored result: avg(length(json)) of the table results")
    a = p.parse_args()
    if a.measure:
        if not a.out:
            p.error("--measure needs -o FILE")
        return measure(a.measure, a.out, a.result_bytes)
    if a.write == a.check:
        p.error("give --write or --check")
    return write(a.check)


if __name__ == "__main__":
    sys.exit(main())
