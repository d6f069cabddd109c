#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_measure.py - how PyTorch is run and timed in each of its modes (torch_modes.py); used by torch_bench, torch_ops, levels_torch, deploy_torch.

On a GPU by Passmith's protocol (bench/timing/timer.h). With `use("cpu")` the same code measures on the processor, and only what there
is: no CUDA graphs, no GPU's clock, kinds `wall` and `latency`. It tries the tools; nothing of it is a result.
"""
import contextlib
import random
import signal
import statistics
import time

import torch

from common import torch_modes

TRAIN = 16  # calls of which a host's time per call is taken
FLUSH_BYTES = 256 << 20
GPU_KINDS, HOST_KINDS, GRAPH_KINDS = ("cold", "replay"), ("wall", "latency"), ("graph_wall", "graph_latency")
OPTIONS = {"inductor": {}, "max-autotune": {"options": {"max_autotune": True, "coordinate_descent_tuning": True}},
           "reduce-overhead": {"mode": "reduce-overhead"}}
_device = "cuda:0"


def use(name):
    """Everything after this runs on cuda:0 or cpu."""
    global _device
    _device = "cuda:0" if name == "cuda" else name


def device():
    return _device


def on_gpu():
    return _device != "cpu"


def synchronize():
    if on_gpu():
        torch.cuda.synchronize()


def about():
    """What a file says of the machine and the software."""
    return {"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version() if on_gpu() else None,
            "device": torch.cuda.get_device_name(0) if on_gpu() else "cpu"}


def prepare(names, tf32=False):
    """Sets cuDNN's search and TF32 for the modes of one process; ValueError when they do not go together."""
    if len(torch_modes.groups(names)) > 1:
        raise ValueError(f"Modes with cuDNN's search and without it need a process each, since PyTorch keeps cuDNN's choices: {', '.join(names)}.")
    torch.backends.cudnn.benchmark = torch_modes.mode(names[0]).search
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32


def built(name, module):
    """What runs the module in a mode; it is compiled by its first call."""
    base = torch_modes.mode(name).base
    return module if base == "eager" else torch.compile(module, dynamic=False, **OPTIONS[base])


@contextlib.contextmanager
def limit(seconds):
    """TimeoutError with a sentence when the block takes longer, also where a compiler made another error of it or went on: it is raised
    again until the block has ended."""
    late = TimeoutError(f"It takes more than the {seconds:g} seconds of --limit.")
    raised = []

    def too_long(*_):
        raised.append(late)
        raise late

    old = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds, min(seconds, 1.0))
    try:
        yield
    except Exception:
        if not raised:
            raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    if raised:
        raise late


def sentence(e):
    """A failure as it is written into a file."""
    said = str(e) if isinstance(e, TimeoutError) else f"{type(e).__name__}: {e}"
    return said.replace("\n", " ")[:300]


def is_fatal(said):
    """After a CUDA error every call of the process fails."""
    return "CUDA error" in said


def recorded(run, args):
    """(CUDA graph, results) of one call; the results stay where the graph writes them."""
    side = torch.cuda.Stream()
    torch.cuda.synchronize()  # the other stream must not read what is not there yet
    with torch.cuda.stream(side):
        for _ in range(3):
            run(*args)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    # PyTorch keeps cuBLAS' workspace by stream. One from before would not be the graph's own, and other code that lets
    # go of all of them (reduce-overhead does) would leave the graph an address of which nobody knows: without one, the
    # capture takes it from the graph's memory. After it, nobody else gets that one.
    forget_workspaces()
    with torch.cuda.stream(side):  # torch.cuda.graph would collect garbage each time, which takes longer than the rest
        graph.capture_begin()
        kept = run(*args)
        graph.capture_end()
    torch.cuda.synchronize()
    forget_workspaces()
    return graph, kept


def forget_workspaces():
    forget = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
    if forget:
        forget()


def peak_bytes(call, args):
    """The most that was allocated while `call` ran, and the arguments; None on a processor, where PyTorch does not count."""
    if not on_gpu():
        return None
    synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    kept = call()
    synchronize()
    peak = torch.cuda.max_memory_allocated() - before + sum(a.numel() * a.element_size() for a in args)
    del kept
    return peak


class Clock:
    def __init__(self):
        self.last = 0.0  # when something was timed
        if not on_gpu():
            return
        self.area = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device=_device)
        self.a, self.b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.work = torch.randn(4096, 4096, device=_device)
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
        if begin - self.last < 2 or not on_gpu():
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
        """Seconds between two events with nothing between them."""
        if not on_gpu():
            return 0.0
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


class Fixed:
    """Arguments that stay as they are; a Bank of torch_case.py gives every call others."""

    def __init__(self, args):
        self.pool = [args]

    def fill(self, place, index):
        return self.pool[place]


class Side:
    """One way to run a graph. `graphs`: "no", "also" (replayed beside launched), "only" (every kind of time is of replays)."""

    def __init__(self, name, run, bank, graphs="also"):
        self.name, self.run, self.pool, self.graphs, self.always = name, run, bank.pool, [], graphs == "only"
        if not on_gpu():
            graphs = "no"
        for place in range(len(self.pool)):
            args = bank.fill(place, place)
            if graphs != "no":
                self.graphs.append(recorded(run, args))
        for _ in range(2):  # what cuDNN searches and the allocator asks for, once
            run(*self.pool[0])
        synchronize()
        begin = time.perf_counter()
        for _ in range(5):
            run(*self.pool[0])
        self.host = (time.perf_counter() - begin) / 5
        synchronize()

    def run_on(self, place):
        return self.run(*self.pool[place])

    def replay(self, place):
        self.graphs[place][0].replay()

    def kinds(self):
        """The kinds of time that it has."""
        if not on_gpu():
            return HOST_KINDS
        return GPU_KINDS + HOST_KINDS + (() if self.always else GRAPH_KINDS) if self.graphs else ("cold",) + HOST_KINDS


def interval(x, rng):
    n, medians = len(x), []
    for _ in range(1000):
        medians.append(statistics.median(rng.choices(x, k=n)))
    medians.sort()
    return statistics.median(x), medians[25], medians[974]


def host_time(call, bank, place, index, train):
    depth = len(bank.pool)
    places = [(place + i) % depth for i in range(train)]
    for i in range(min(train, depth)):
        bank.fill(places[i], index + i)
    synchronize()
    begin = time.perf_counter()
    for at in places:
        call(at)
    synchronize()
    return (time.perf_counter() - begin) / train


def one(clock, side, bank, kind, index, overhead, train):
    """One time; a failure carries the name of its side."""
    place = random.Random(index * 7 + 1).randrange(len(bank.pool))
    call = side.replay if side.always or kind == "replay" or kind in GRAPH_KINDS else side.run_on
    try:
        if kind in HOST_KINDS + GRAPH_KINDS:
            return host_time(call, bank, place, index, train if kind.endswith("wall") else 1)
        delay = 60e-6 if kind == "replay" else min(1.5 * side.host + 50e-6, 8e-3)
        seconds, host = clock.events(lambda: call(place), delay, lambda: bank.fill(place, index))
    except Exception as e:
        e.side = side.name
        raise
    if kind != "replay":
        side.host = max(host, 0.95 * side.host)
    return seconds - overhead


def measure(clock, sides, bank, blocks, seed, kinds=None, budget=None):
    """Seconds per call and ratios to the first side, {kind: [of each side]}; and {"overhead", "blocks"}: what was taken off, and how many
    blocks there were. A block takes every side twice, in a random order and its reverse. A side without a kind has {} there. `budget`:
    seconds that the calls of one kind and side may take, about. Without kinds on the GPU's clock `clock` is None."""
    rng, out, index = random.Random(seed), {}, 100
    kinds = kinds or GPU_KINDS + HOST_KINDS + GRAPH_KINDS
    overhead = clock.overhead() if clock else 0.0
    slowest = max(max(host_time(s.replay if s.always else s.run_on, bank, 0, 0, 1), 1e-6) for s in sides)
    if budget:
        blocks = max(2, min(blocks, int(budget / slowest) // 2))
    train = max(1, min(TRAIN, int(budget / slowest))) if budget else TRAIN
    few = blocks if budget or not clock else min(blocks, 10)
    for kind in kinds:
        ids = [s for s, side in enumerate(sides) if kind in side.kinds()]
        values = {s: [] for s in ids}
        for _ in range((blocks if kind in GPU_KINDS else few) if ids else 0):
            order = list(ids)
            rng.shuffle(order)
            took = dict.fromkeys(ids, 0.0)
            for half, turn in enumerate((order, order[::-1])):
                for s in turn:
                    took[s] += one(clock, sides[s], bank, kind, index + half * TRAIN, overhead, train) / 2
            index += 2 * TRAIN
            for s, t in took.items():
                values[s].append(t)
        if not ids:
            continue
        out[kind] = [{"seconds": statistics.median(values[s])} if s in values else {} for s in range(len(sides))]
        for s in ids:
            if s and 0 in values:
                point, lo, hi = interval([a / b for a, b in zip(values[0], values[s])], rng)
                out[kind][s].update(speedup=point, lo=lo, hi=hi)
    return out, {"overhead": overhead, "blocks": blocks}
