#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_bench.py FOLDER... [-o OUT.json] [--check] [--modes eager,inductor] - times exported graphs in PyTorch.

FOLDER is what `passmith task export --torch` wrote, or a folder of such folders. PyTorch eager and torch.compile
(TorchInductor, default mode) are timed by Passmith's protocol (bench/timing/timer.h): blocks that take every side twice in a
random order and its reverse, fresh inputs in buffers chosen anew, caches emptied, a delay that hides the host, events
whose own cost is subtracted; then as replayed CUDA graphs; then on the host's clock, as trains of 16 calls and a wait
("wall", per call) and as one call and the wait for its result ("latency"). The first side, repeated as the last, is
the control. --check compares outputs with what the export stored. `passmith results import OUT.json` keeps the
times in a dataset. Needs PyTorch and a GPU.

    passmith task export models/llama_block.gpt --torch /tmp/t
    tools/bench/torch_bench.py /tmp/t -o /tmp/torch.json --check
"""
import argparse
import importlib.util
import json
import os
import random
import statistics
import sys
import tempfile
import time

import torch

from ladder import smallest_t, worst

DEPTH, SETS, TRAIN = 8, 4, 16
FLUSH_BYTES = 256 << 20
DEVICE = "cuda:0"
# How far a computed element may be from the stored one, relative to the largest of the output.
BOUND = {torch.float32: 2e-4, torch.float64: 1e-9, torch.float16: 2e-2, torch.bfloat16: 1e-1}


def find_cases(folders):
    for folder in folders:
        for at, dirs, files in sorted(os.walk(folder)):
            if "graph_net.json" in files and "case.json" in files:
                yield at


def in_order(folders, timed):
    """The folders of the graphs that another file has times of, in its order."""
    if not timed:
        return folders
    with open(timed) as f:
        wanted = [r["graph"] for r in json.load(f)["records"] if "times" in r]
    at = {}
    for folder in folders:
        with open(os.path.join(folder, "case.json")) as f:
            at[json.load(f).get("graph", "")] = folder
    return [at[g] for g in wanted if g in at]


def load_module(folder):
    spec = importlib.util.spec_from_file_location("case_" + str(abs(hash(folder))), os.path.join(folder, "model.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.GraphModule().to(DEVICE)


def load_meta(folder):
    names = {}
    with open(os.path.join(folder, "weight_meta.py")) as f:
        exec(f.read(), names)
    return {c.name: c for n, c in names.items() if n.startswith("Program_weight_tensor_meta_")}


def read_tensor(entry, data):
    dtype = getattr(torch, entry["dtype"].split(".")[1])
    if entry["bytes"] == 0:
        return torch.empty(entry["shape"], dtype=dtype, device=DEVICE)
    part = bytearray(data[entry["offset"]:entry["offset"] + entry["bytes"]])
    return torch.frombuffer(part, dtype=dtype).reshape(entry["shape"]).to(DEVICE)


def draw(meta, generator):
    """A tensor like the one that the export described."""
    dtype = getattr(torch, meta.dtype.split(".")[1])
    shape = list(meta.shape)
    if meta.data is not None:
        return torch.tensor(meta.data, dtype=dtype, device=DEVICE).reshape(shape)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator, device=DEVICE) > 0.5
    if not dtype.is_floating_point:
        return torch.randint(int(meta.min_val), int(meta.max_val) + 1, shape, generator=generator, device=DEVICE,
                             dtype=torch.int64).to(dtype)
    x = torch.randn(shape, generator=generator, device=DEVICE) * (meta.std or 0.0) + (meta.mean or 0.0)
    if getattr(meta, "min_val", None) is not None:
        x = x.clamp(min=meta.min_val)
    return x.to(dtype)


class Bank:
    """Sets of inputs, of which every call gets others: a set's tensors with their rows turned."""

    def __init__(self, case, folder, seed):
        generator = torch.Generator(device=DEVICE).manual_seed(seed)
        meta = load_meta(folder)
        with open(os.path.join(folder, "data.bin"), "rb") as f:
            data = f.read()
        self.stored = [read_tensor(a, data) if "offset" in a else None for a in case["arguments"]]
        self.sets = [[self.stored[i] if a["kind"] == "constant" or (s == 0 and self.stored[i] is not None)
                      else draw(meta[a["name"]], generator) for i, a in enumerate(case["arguments"])]
                     for s in range(SETS)]
        self.turned = [a["kind"] == "input" for a in case["arguments"]]
        self.pool = [[torch.empty_like(t) if turn else t for t, turn in zip(self.sets[0], self.turned)]
                     for _ in range(DEPTH)]
        self.expected = [read_tensor(r, data) for r in case["results"]]

    def fill(self, place, index):
        for i, turn in enumerate(self.turned):
            if not turn:
                continue
            r = random.Random(index * 1000003 + i)
            x, to = self.sets[r.randrange(SETS)][i], self.pool[place][i]
            dim = 0 if x.dim() == 1 else max(x.dim() - 2, 0)
            n = x.shape[dim] if x.dim() else 1
            k = r.randrange(n) if n > 1 else 0
            if k == 0:
                to.copy_(x)
            else:
                to.narrow(dim, 0, n - k).copy_(x.narrow(dim, k, n - k))
                to.narrow(dim, n - k, k).copy_(x.narrow(dim, 0, k))
        return self.pool[place]


class Clock:
    def __init__(self):
        self.area = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device=DEVICE)
        self.a, self.b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.work = torch.randn(4096, 4096, device=DEVICE)
        self.last = 0.0  # when something was timed
        self.cycles = torch.cuda.get_device_properties(0).clock_rate * 1e3 if hasattr(
            torch.cuda.get_device_properties(0), "clock_rate") else 1.98e9

    def delay(self, seconds):
        torch.cuda._sleep(int(seconds * self.cycles))

    def span(self):
        self.b.synchronize()
        return self.a.elapsed_time(self.b) * 1e-3

    def warm(self):
        """Works until equal pieces of work take the same time; a GPU that was busy until just now is warm."""
        begin, last = time.perf_counter(), []
        if begin - self.last < 2:
            return
        while time.perf_counter() - begin < 5:
            self.a.record()
            for _ in range(4):
                torch.mm(self.work, self.work)
            self.b.record()
            last = (last + [self.span()])[-20:]
            if time.perf_counter() - begin > 0.3 and len(last) == 20 and max(last) < 1.02 * min(last):
                return

    def overhead(self):
        t = []
        for _ in range(200):
            self.delay(40e-6)
            self.a.record()
            self.b.record()
            t.append(self.span())
        return statistics.median(t)

    def events(self, call, delay, fill):
        """Again with a longer delay when the host did not finish behind it, up to three times."""
        for _ in range(4):
            fill()
            self.area.fill_(0x12345678)
            self.area.sum()
            torch.cuda.synchronize()
            begin = time.perf_counter()
            self.delay(delay)
            self.a.record()
            call()
            self.b.record()
            host = time.perf_counter() - begin
            seconds = self.span()
            if host < delay or delay > 8e-3:
                break
            delay = 2 * host
        return seconds, host


class Side:
    """One way to run the graph, with a CUDA graph for each place of the pool."""

    def __init__(self, name, run, bank, always):
        self.name, self.run, self.graphs, self.pool = name, run, [], bank.pool
        self.always = always  # every kind of time is of replays
        for place in range(DEPTH):
            args = bank.fill(place, place)
            torch.cuda.synchronize()  # the other stream must not read what is not there yet
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                for _ in range(3):
                    run(*args)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.stream(side):  # torch.cuda.graph would collect garbage each time, which takes longer than the rest
                graph.capture_begin()
                kept = run(*args)
                graph.capture_end()
            torch.cuda.synchronize()
            self.graphs.append((graph, kept))
        begin = time.perf_counter()
        for _ in range(5):
            run(*bank.pool[0])
        self.host = (time.perf_counter() - begin) / 5
        torch.cuda.synchronize()

    def run_on(self, place):
        return self.run(*self.pool[place])

    def replay(self, place):
        self.graphs[place][0].replay()


def interval(x, rng):
    n, medians = len(x), []
    for _ in range(1000):
        medians.append(statistics.median(rng.choices(x, k=n)))
    medians.sort()
    return statistics.median(x), medians[25], medians[974]


def one(clock, side, bank, kind, index, overhead):
    place = random.Random(index * 7 + 1).randrange(DEPTH)
    call = side.replay if side.always or kind == "replay" else side.run_on
    if kind in ("wall", "latency"):
        train = TRAIN if kind == "wall" else 1
        places = [(place + i) % DEPTH for i in range(train)]
        for i in range(min(train, DEPTH)):
            bank.fill(places[i], index + i)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for at in places:
            call(at)
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) / train
    delay = 60e-6 if kind == "replay" else min(1.5 * side.host + 50e-6, 8e-3)
    seconds, host = clock.events(lambda: call(place), delay, lambda: bank.fill(place, index))
    if kind != "replay":
        side.host = max(host, 0.95 * side.host)
    return seconds - overhead


def measure(clock, sides, bank, blocks, seed):
    """Seconds per call and ratios to the first side, by kind and side."""
    rng, out, index = random.Random(seed), {}, 100
    overhead = clock.overhead()
    few = min(blocks, 10)
    for kind, n in (("cold", blocks), ("replay", blocks), ("wall", few), ("latency", few)):
        values = [[] for _ in sides]
        for _ in range(n):
            order = list(range(len(sides)))
            rng.shuffle(order)
            took = [0.0] * len(sides)
            for half, ids in enumerate((order, order[::-1])):
                for s in ids:
                    took[s] += one(clock, sides[s], bank, kind, index + half * TRAIN, overhead) / 2
            index += 2 * TRAIN
            for s, t in enumerate(took):
                values[s].append(t)
        out[kind] = [{"seconds": statistics.median(v)} for v in values]
        for s in range(1, len(sides)):
            point, lo, hi = interval([a / b for a, b in zip(values[0], values[s])], rng)
            out[kind][s].update(speedup=point, lo=lo, hi=hi)
    return out, overhead


def check(case, run, bank):
    if not bank.expected:
        return None
    error = worst(run(*bank.sets[0]), bank.expected)
    kinds = [t.dtype for t in bank.expected if t.dtype.is_floating_point]
    kinds += [t.dtype for t in bank.sets[0] if t.dtype.is_floating_point]
    return {"error": error, "agrees": error <= max([BOUND[k] for k in kinds] or [0.0])}


def accuracy(case, ways, bank):
    """How close the later ways come to the first, over the sets of inputs."""
    first, out = next(iter(ways)), {}
    for name, run in ways.items():
        if name != first:
            out[name] = max(smallest_t(case["tolerance"], run(*x), ways[first](*x)) for x in bank.sets)
    return out


def run_case(clock, folder, o):
    with open(os.path.join(folder, "case.json")) as f:
        case = json.load(f)
    bank = Bank(case, folder, o.seed)
    model = load_module(folder)
    record = {"folder": os.path.relpath(folder), "name": case["name"], "graph": case.get("graph", "")}
    ways = {}
    if "eager" in o.modes:
        ways["torch eager"] = model
    if "inductor" in o.modes:
        torch._dynamo.reset()
        ways["torch inductor"] = torch.compile(model, dynamic=False)
    with torch.no_grad():
        if o.compile_only:
            for run in ways.values():
                run(*bank.sets[0])
            torch.cuda.synchronize()
            return record
        if o.check:
            record["check"] = {n: check(case, w, bank) for n, w in ways.items()}
        if o.blocks:
            first = next(iter(ways))
            sides = [Side(n, w, bank, o.graphs) for n, w in ways.items()]
            sides.append(Side("control", ways[first], bank, o.graphs))
            clock.warm()
            times, record["overhead"] = measure(clock, sides, bank, o.blocks, o.seed)
            record["times"] = {s.name: {k: times[k][i] for k in times} for i, s in enumerate(sides)}
            for name, t in accuracy(case, ways, bank).items():
                record["times"][name]["smallest_t"] = t
            clock.last = time.perf_counter()
    return record


def bad_record(r):
    return "error" in r or any(c and not c["agrees"] for c in r.get("check", {}).values())


def start_again(records, begin):
    """After a CUDA error every call fails: a new process goes on behind the graph that caused it."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
        json.dump(records, f)
    again = [a for a in sys.argv[1:] if not a.startswith(("--resume=", "--begin="))]
    os.execv(sys.executable, [sys.executable, os.path.abspath(__file__)] + again +
             [f"--resume={f.name}", f"--begin={begin}"])


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("folders", nargs="+")
    p.add_argument("-o", dest="out")
    p.add_argument("--check", action="store_true")
    p.add_argument("--modes", default="eager,inductor", type=lambda s: s.split(","))
    p.add_argument("--blocks", type=int, default=30, help="0 = check only")
    p.add_argument("--compile-only", action="store_true", help="run each way once: fills the compiler's cache")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--resume", help=argparse.SUPPRESS)
    p.add_argument("--begin", type=float, help=argparse.SUPPRESS)
    p.add_argument("--seconds", type=float, default=1e9, help="no graph is begun after that")
    p.add_argument("--graphs", action="store_true", help="every call replays a CUDA graph, as passmith time --graphs")
    p.add_argument("--only", help="only graphs with times in this file of `passmith time -o`, in its order")
    o = p.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    clock, records, failed, begin = Clock(), [], 0, o.begin or time.time()
    if o.resume:
        with open(o.resume) as f:
            records = json.load(f)
        failed = sum(bad_record(r) for r in records)
    for folder in in_order(list(find_cases(o.folders)), o.only)[len(records):]:
        if time.time() - begin > o.seconds:
            break
        try:
            r = run_case(clock, folder, o)
        except Exception as e:  # one graph's failure is its record
            r = {"folder": os.path.relpath(folder), "error": f"{type(e).__name__}: {e}"[:500]}
        records.append(r)
        bad = bad_record(r)
        failed += bad
        line = [r["folder"][-48:]] + [f"{n} {t['cold']['seconds'] * 1e6:.1f}/{t['replay']['seconds'] * 1e6:.1f}/"
                                      f"{t['wall']['seconds'] * 1e6:.1f}" for n, t in r.get("times", {}).items()]
        line += [f"{n}: {'-' if c is None else format(c['error'], '.1e')}" for n, c in r.get("check", {}).items()]
        print("  ".join(line) + ("  FAILED " + r.get("error", "differs") if bad else ""), flush=True)
        if "CUDA error" in r.get("error", ""):
            start_again(records, begin)
    if o.out:
        with open(o.out, "w") as f:
            json.dump({"kind": "torch_bench", "torch": torch.__version__, "cuda": torch.version.cuda,
                       "device": torch.cuda.get_device_name(0), "date": time.strftime("%Y-%m-%d"),
                       "blocks": o.blocks, "graphs": o.graphs, "records": records}, f, indent=1)
    print(f"{len(records)} graphs, {failed} failed (microseconds cold/replay/wall; relative errors)")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
