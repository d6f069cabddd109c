#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_systems.py --db DB -o FOLDER [--pass PASS.so]... [--modes LIST] - PyTorch in its modes, the eager run and passes on one machine.

Takes the tasks of a split (default eval), exports their graphs, lets TorchInductor compile them with every core, then on each GPU times
PyTorch (tools/bench/torch_bench.py), evaluates the passes (`passmith bench`), and times both with replayed CUDA graphs on the host's clock
(`passmith time --graphs`), task by task, one process at a time. It makes one table of what is complete, and FOLDER/systems.json
(systems_file.py). What is stored is not measured again, so that a run which was stopped goes on, and modes may be added later. A mode
that fails on a graph is in the file with its reason. Needs PyTorch and one or more GPUs.

--quick: quick times, which no judge saw, in minutes where judged ones take hours: one process of each side takes all tasks of a GPU,
`passmith time` for the eager run and one pass, torch_bench.py for PyTorch.

--fresh: DB is the benchmark, and the tasks are drawn now, from models and with lists of operators that it does not have (fresh.py). The
database of the draw is FOLDER/fresh.db. It refuses when the code is not committed.

    tools/bench/bench_systems.py --db bench.db --pass build/passes/fuse.so --shapes 1 -o out
    tools/bench/bench_systems.py --fresh --db bench.db --models ~/models --which held-out --pass build/passes/fuse.so -o fresh
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

from common import fresh, systems_file, torch_modes

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def call(command, log, env=None, seconds=None):
    """The exit code; 124 when it took longer and was ended, with all that it had started."""
    with open(log, "a") as f:
        f.write("$ " + " ".join(command) + "\n")
        f.flush()
        child = subprocess.Popen(command, stdout=f, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env, start_new_session=True)
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            f.write(f"It took more than {seconds:.0f} seconds.\n")
            return 124
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()


def tasks_of(o):
    said = fresh.answer([o.passmith, "task", "list", "--db", o.db])
    if said.get("error"):
        sys.exit(f"bench_systems: {said['error']}")
    tasks = [t for t in said["results"] if t.get("split") == o.split]
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


class Run:
    """One run over the tasks of a database."""

    def __init__(self, o, tasks):
        self.o, self.tasks, self.done, self.begin = o, tasks, [], time.time()
        self.log = os.path.join(o.out, "log.txt")
        self.device = "cuda" if o.device == "cuda" else "emu"
        self.names = ["eager"] + [torch_modes.column(m) for m in o.modes]

    def at(self, task, end=""):
        return os.path.join(self.o.out, "torch", task) + end

    def torch_bench(self, tasks, slot, names, *more):
        """PyTorch on the graphs of tasks. A process that dies or does not end is a failure of the mode that it was at; the next one goes on."""
        o = self.o
        command = [sys.executable, o.torch_side, *map(self.at, tasks), "--modes", ",".join(names), "--limit", str(o.limit), "--device", o.device, *more]
        for _ in range(len(names) + 1):
            code = call(command, self.log, self.gpu(slot), o.process_seconds)
            if 0 <= code < 124 or "--resume" not in more:  # it ended by itself
                break
        return code

    def gpu(self, slot):
        return dict(os.environ, CUDA_VISIBLE_DEVICES=self.o.gpus[slot % len(self.o.gpus)])

    def compile_one(self, task, slot):
        o = self.o
        if not os.path.isdir(self.at(task)):
            call([o.passmith, "task", "export", task, "--db", o.db, "--torch", self.at(task), "--shapes", str(o.shapes), "--max-check", "0"], self.log)
        compiled = [m for m in o.modes if torch_modes.mode(m).base != "eager"]
        if compiled:
            self.torch_bench([task], slot, compiled, "--compile-only")

    def measure(self, task, slot):
        o = self.o
        passes = [x for p in o.passes for x in ("--pass", p)]
        code = self.torch_bench([task], slot, o.modes, "-o", self.at(task, ".json"), "--blocks", str(o.blocks), "--resume")
        bench = [o.passmith, "bench", task, "--db", o.db, "--device", self.device, "--shapes", str(o.shapes), "--seconds", str(o.clock_seconds),
                 "--baselines", "eager", "--preset", o.preset, "--quiet"] + passes
        if code in (0, 1) and call(bench, self.log, self.gpu(slot)) == 0 and os.path.exists(self.at(task, ".json")):
            self.done.append(task)
        if o.device == "cuda" and o.passes:
            call([o.passmith, "time", task, "--db", o.db, "--graphs", "--shapes", str(o.shapes), "--blocks", str(o.blocks), "-o",
                  self.at(task, ".graphs.json"), "--resume", "--quiet"] + passes[:2], self.log, self.gpu(slot))
        print(f"{time.time() - self.begin:.0f} s: task {task}, {len(self.done)} of {len(self.tasks)}", flush=True)

    def all(self):
        o = self.o
        # The compiler's cache on disk is what the timing processes find, so they spend their time on timing.
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.abspath(os.path.join(o.out, "inductor")))
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        self.compile_all()
        print(f"{time.time() - self.begin:.0f} s: compiled", flush=True)
        self.measure_all()
        self.done.sort(key=int)
        return self.table() if self.done else 1

    def waiting(self):
        """Tasks that are still to be compiled."""
        return self.tasks

    def compile_all(self):
        Shards(self.waiting(), self.o.jobs, self.compile_one, self.begin + self.o.seconds / 4)

    def measure_all(self):
        Shards(self.tasks, len(self.o.gpus), self.measure, self.begin + self.o.seconds)
        for task in self.done:
            call([self.o.passmith, "results", "import", self.at(task, ".json"), "--db", self.o.db], self.log)

    def table(self):
        o = self.o
        against = torch_modes.column("eager" if "eager" in o.modes else o.modes[0])
        table = [o.passmith, "bench"] + self.done + ["--db", o.db, "--device", self.device, "--stored", "--shapes", str(o.shapes),
                 "--seconds", str(o.clock_seconds), "--baselines", ",".join(self.names), "--against", against, "--preset", o.preset, "-o", o.out]
        return subprocess.call(table + self.judged())

    def judged(self):
        """The passes that the table evaluates."""
        return [x for p in self.o.passes for x in ("--pass", p)]

    def files(self, end):
        return [self.at(task, end) for task in self.done]

    def records(self, end):
        """{graph's hash: record} of the files, and what the first file says of itself."""
        found, about = {}, {}
        for path in self.files(end):
            if os.path.exists(path):
                with open(path) as f:
                    data = json.load(f)
                about = about or {k: data[k] for k in ("device", "torch", "cuda", "cudnn", "date") if k in data}
                found.update({r["graph"]: r for r in data["records"] if r.get("graph")})
        return found, about

    def save(self, draw):
        """FOLDER/systems.json of what the table has."""
        with open(os.path.join(self.o.out, "bench.json")) as f:
            bench = json.load(f)
        hashes = {(t, n): h for t, n, h in fresh.read(self.o.db, "SELECT v.task, v.ordinal, s.hash FROM variants v JOIN subgraphs s ON s.id = v.subgraph")}
        records, about = self.of_torch()
        ours = self.of_ours()
        about.update(commit=fresh.code_of(ROOT).get("commit", "-"), preset=self.o.preset, modes=self.o.modes)
        if draw:
            about["draw"] = {k: v for k, v in draw.items() if k not in ("refused",)}
        systems_file.write(os.path.join(self.o.out, "systems.json"), systems_file.assemble(self.named(bench), hashes, records, ours, about))

    def of_torch(self):
        return self.records(".json")

    def of_ours(self):
        return self.records(".graphs.json")[0]

    def named(self, bench):
        return bench


class Quick(Run):
    """The same by quick times. Each GPU has a part of the tasks, in their order; what PyTorch has no time for is left out."""

    def __init__(self, o, tasks):
        super().__init__(o, tasks)
        self.parts = [tasks[k::len(o.gpus)] for k in range(len(o.gpus))]
        self.names = None  # the pass's own name is in what `passmith time` writes

    def part(self, slot, end):
        return os.path.join(self.o.out, f"part-{slot}{end}")

    def time(self, slot, *more):
        o = self.o
        command = [o.passmith, "time", *self.parts[slot], "--db", o.db, "--shapes", str(o.shapes), "--quiet", *more]
        return call(command + (["--pass", o.passes[0].split("=", 1)[-1]] if o.passes else []), self.log, self.gpu(slot))

    def timed(self):
        """Tasks that PyTorch has a time of."""
        timed = self.records(".json")[0]
        held = fresh.read(self.o.db, "SELECT v.task, s.hash FROM variants v JOIN subgraphs s ON s.id = v.subgraph")
        return {str(t) for t, h in held if h in timed} & set(self.tasks)

    def waiting(self):
        """Not those of a run before, which may have been on another machine: its files are enough to go on."""
        timed = self.timed()
        return [t for t in self.tasks if t not in timed]

    def compile_all(self):
        """Kernels beside what TorchInductor makes."""
        ours = threading.Thread(target=Shards, args=(range(len(self.parts)), len(self.parts), lambda slot, _: self.time(slot, "--blocks", "1", "--seconds", "0.0001"),
                                                     self.begin + self.o.seconds))
        ours.start()
        super().compile_all()
        ours.join()

    def measure(self, slot, _):
        o, ours, left = self.o, self.part(slot, ".ours.json"), self.begin + self.o.seconds - time.time()
        exported = [t for t in self.parts[slot] if os.path.isdir(self.at(t))]
        if self.time(slot, "--blocks", str(o.blocks), "-o", ours, "--resume", "--seconds", f"{left / 2:.0f}") not in (0, 1) or not exported:
            return
        left = max(0, self.begin + o.seconds - time.time())
        self.torch_bench(exported, slot, o.modes, "--only", ours, "-o", self.part(slot, ".json"), "--blocks", str(o.blocks), "--resume", "--seconds", f"{left:.0f}")

    def measure_all(self):
        o = self.o
        Shards(range(len(self.parts)), len(self.parts), self.measure, self.begin + o.seconds)
        for path in self.files(".ours.json") + self.files(".json"):
            call([o.passmith, "results", "import", path, "--db", o.db], self.log)
        self.done = sorted(self.timed())
        names = {n.split(" ", 1)[1] for r in self.records(".ours.json")[0].values() for n in r.get("times", {})} - {"eager", "control"}
        self.names = ["eager"] + [torch_modes.column(m) for m in o.modes] + [f"timed-{n}" for n in sorted(names)]

    def judged(self):
        return []

    def files(self, end):
        paths = [self.part(k, end) for k in range(len(self.parts))]
        return [p for p in paths if os.path.exists(p)]

    def of_torch(self):
        """Without replays by the host's clock, which our side has not; and how quick it was."""
        records, about = self.records(".json")
        for r in records.values():
            r["times"] = {}
        about["options"] = f"--quick --blocks {self.o.blocks} " + "--which held-out " * (self.o.which == "held-out")
        about["remark"] = f"Quick times of {self.o.blocks} blocks each, which no judge saw; all graphs of a side in one process."
        if len(self.done) < len(self.tasks):
            about["remark"] += f" The time ended: measured are {len(self.done)} of {len(self.tasks)} tasks."
        return records, about

    def of_ours(self):
        return {h: {k: r[k] for k in ("class", "launches") if k in r} for h, r in self.records(".ours.json")[0].items()}

    def named(self, bench):
        """A pass that was timed alone has its own name in the file."""
        if isinstance(bench, dict):
            return {k[len("timed-"):] if k.startswith("timed-") else k: self.named(v) for k, v in bench.items()}
        if isinstance(bench, list):
            return [self.named(v) for v in bench]
        return bench[len("timed-"):] if isinstance(bench, str) and bench.startswith("timed-") else bench


def figures(path):
    """The lines that the table of `passmith bench` has not: the best of PyTorch on each graph."""
    with open(path) as f:
        data = json.load(f)
    lines = []
    for name in systems_file.passes_of(data["graphs"]):
        for clock, what in enumerate(systems_file.CLOCK_NAMES):
            ratios = systems_file.over_best(data["graphs"], name, clock)
            if ratios:
                lines.append(f"{name} over the best of PyTorch per graph, {what}: {systems_file.gmean(ratios):.3f}, faster or equal within 2 % on "
                             f"{100 * systems_file.equal_or_faster(ratios) / len(ratios):.1f} % of {len(ratios)} graphs")
    return lines + (fresh.told(data["draw"]) if "draw" in data else [])


def arguments():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--db", required=True)
    p.add_argument("-o", dest="out", required=True)
    p.add_argument("--passmith", default=os.path.join(ROOT, "build", "passmith"))
    p.add_argument("--pass", dest="passes", action="append", default=[], help="NAME=FILE.so or FILE.so")
    p.add_argument("--modes", default=torch_modes.CAREFUL, type=torch_modes.parse, help="of torch_modes.py")
    p.add_argument("--limit", type=float, default=900, help="seconds that a mode may take to compile and begin")
    p.add_argument("--split", default="eval")
    p.add_argument("--tasks", type=int, help="so many, drawn at random (--fresh: 200)")
    p.add_argument("--shapes", type=int, default=1, help="the first N shapes of each graph")
    p.add_argument("--gpus", default="0", type=lambda s: s.split(","))
    p.add_argument("--jobs", type=int, default=max(1, os.cpu_count() // 2), help="processes that compile at once")
    p.add_argument("--blocks", type=int, default=10)
    p.add_argument("--clock-seconds", type=float, default=3)
    p.add_argument("--seconds", type=float, default=1e9, help="no task is begun after that; compiling gets a quarter")
    p.add_argument("--quick", action="store_true", help="quick times of at most one pass, which no judge saw")
    p.add_argument("--preset", default="passnet")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="cpu tries the tool: PyTorch on the processor and passes on emu")
    p.add_argument("--fresh", action="store_true")
    p.add_argument("--models", action="append", default=[], metavar="DIR", help="--fresh: folders of models")
    p.add_argument("--which", default="all", choices=("all", "held-out"), help="--fresh: models without a task in DB, or only those held out")
    p.add_argument("--draw-seed", type=int, help="--fresh: repeat a draw; the table says that the seed was given")
    p.add_argument("--allow-dirty", action="store_true", help="--fresh: also with files that are not committed; the table says so")
    p.add_argument("--draw-only", action="store_true", help="--fresh: draw, and measure nothing")
    p.add_argument("--torch-side", default=os.path.join(HERE, "torch_bench.py"), help=argparse.SUPPRESS)
    o = p.parse_args()
    if o.fresh and not o.models:
        p.error("--fresh needs --models DIR, the models to draw from")
    for path in [o.passmith] + [x.split("=", 1)[-1] for x in o.passes]:
        if not os.path.exists(path):
            p.error(f"{path} does not exist; build it, or name another one with --passmith or --pass")
    if o.quick and (o.device != "cuda" or len(o.passes) > 1):
        p.error("--quick takes at most one pass, and a GPU")
    if o.tasks is None:
        o.tasks = 200 if o.fresh else 10**9
    # Compiling, first calls and blocks of every mode; longer is a process that hangs.
    o.process_seconds = 2 * o.limit * len(o.modes) + 3600
    return o


def main():
    o = arguments()
    os.makedirs(o.out, exist_ok=True)
    draw = None
    if o.fresh:
        try:
            draw = fresh.the_draw(o, ROOT)
        except fresh.Refused as e:
            sys.exit(f"bench_systems: {e}")
        o.db = os.path.join(o.out, "fresh.db")
        print("\n".join(fresh.told(draw)), flush=True)
        if o.draw_only:
            return 0
    run = (Quick if o.quick else Run)(o, [str(t["id"]) for t in draw["tasks"]] if draw else tasks_of(o))
    code = run.all()
    if code == 0:
        run.save(draw)
        print("\n".join(figures(os.path.join(o.out, "systems.json"))))
    return code


if __name__ == "__main__":
    sys.exit(main())
