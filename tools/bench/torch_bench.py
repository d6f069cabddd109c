#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_bench.py FOLDER... [-o OUT.json] [--check] [--modes eager,inductor] [--resume] - times exported graphs in PyTorch.

FOLDER is what `passmith task export --torch` wrote, or a folder of such folders. The modes (torch_modes.py) are timed by Passmith's
protocol (bench/timing/timer.h): blocks that take every side twice in a random order and its reverse, fresh inputs in buffers chosen
anew, caches emptied, a delay that hides the host, events whose own cost is subtracted; then as replayed CUDA graphs; then on the
host's clock, as trains of 16 calls and a wait ("wall", per call) and as one call and the wait for its result ("latency"), launched
and replayed ("graph_wall", "graph_latency"). The first side, repeated as the last, is the control. --check compares outputs with what
the export stored. `passmith results import OUT.json` keeps the times in a dataset. Needs PyTorch and a GPU; --device cpu tries the tool.

OUT is written after each graph. A mode that fails on a graph, or takes longer than --limit, is written down with its reason, and
the others stand. With --resume what OUT has is not measured again: modes may be added later. Modes with cuDNN's search and
without it run in processes of their own.

    passmith task export models/llama_block.gpt --torch /tmp/t
    tools/bench/torch_bench.py /tmp/t -o /tmp/torch.json --check
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import torch

from common import torch_measure, torch_modes
from common.torch_case import Bank, accuracy, check, find_cases, in_order, load_module
from common.torch_measure import Clock, Side, built, is_fatal, measure, sentence


class Store:
    """OUT: a record for each folder, written as a whole whenever something is new. OUT.begun names the mode that runs: a process that
    finds it knows what ended the one before."""

    def __init__(self, path, about, resume):
        self.path, self.marker, self.about, self.records = path, path + ".begun", about, {}
        if resume and os.path.exists(path) and os.path.getsize(path):
            with open(path) as f:
                old = json.load(f)
            for key in ("torch", "device", "blocks", "graphs", "tf32"):
                if old.get(key, about[key]) != about[key]:
                    print(f"torch_bench: {path} has times with {key} {old[key]}, and now it is {about[key]}; name another file.", file=sys.stderr)
                    sys.exit(4)
            self.records = {r["folder"]: r for r in old["records"]}
        if os.path.exists(self.marker) and not resume:
            os.unlink(self.marker)
        elif os.path.exists(self.marker):  # also where it ended before there was a first record
            with open(self.marker) as f:
                begun = json.load(f)
            self.put(begun["folder"], {"failed": {begun["mode"]: "The process ended while it ran."}})

    def missing(self, folder, names):
        r = self.records.get(folder, {})
        return [n for n in names if n not in r.get("failed", {}) and torch_modes.system(n) not in r.get("times", {})]

    def begin(self, folder, mode):
        with open(self.marker, "w") as f:
            json.dump({"folder": folder, "mode": mode}, f)

    def put(self, folder, new):
        self.records[folder] = merged(self.records.get(folder, {"folder": folder}), new)
        with open(self.path + ".tmp", "w") as f:
            json.dump(dict(self.about, records=list(self.records.values())), f, indent=1)
            f.write("\n")
        os.replace(self.path + ".tmp", self.path)
        if os.path.exists(self.marker):
            os.unlink(self.marker)


def merged(old, new):
    """A graph's record with what was measured later. The control of another process stands beside the first one's."""
    out = dict(old)
    if "control" in old.get("times", {}) and "control" in new.get("times", {}):
        times = dict(new["times"])
        new = dict(new, times=times, controls={**old.get("controls", {}), next(iter(times)): times.pop("control")})
    for key, value in new.items():
        out[key] = {**out[key], **value} if isinstance(value, dict) and isinstance(out.get(key), dict) else value
    if out.get("failed") and not out.get("times"):
        out["error"] = next(iter(out["failed"].values()))
    else:
        out.pop("error", None)
    return out


def start(name, module, bank, case, o, record):
    """The side of one mode after its first calls. What is known of it goes into the record, a failure too."""
    run, key, args = built(name, module), torch_modes.system(name), bank.sets[0]
    base, graphs = torch_modes.mode(name).base, "only" if o.graphs or torch_modes.mode(name).graph else "also"
    with torch_measure.limit(o.limit):
        run(*args)
        torch_measure.synchronize()
        if o.compile_only:
            return None
        if o.check:
            record["check"][key] = check(case, run, bank)
        if not o.blocks:
            return None
        known = {} if base == "eager" else {"smallest_t": accuracy(case, module, run, bank)}
        if o.memory and torch_measure.on_gpu():
            known["memory"] = torch_measure.peak_bytes(lambda: run(*args), args)
            if base != "reduce-overhead":
                known["graph_memory"] = torch_measure.peak_bytes(lambda: torch_measure.recorded(run, args), args)
        side = Side(key, run, bank, "no" if base == "reduce-overhead" else graphs)
    record["times"][key] = known
    return side


def time_sides(clock, sides, module, bank, o, record):
    """Blocks over all sides, the first once more as the control."""
    begin = time.perf_counter()
    clock.warm()
    first = sides[0]
    control = Side("control", first.run, bank, "only" if first.always else "also" if first.graphs else "no")
    times, how = measure(clock, [*sides, control], bank, o.blocks, o.seed, budget=o.budget)
    record.update(how)
    for i, side in enumerate([*sides, control]):
        record["times"].setdefault(side.name, {}).update({k: times[k][i] for k in times if times[k][i]})
    clock.last = time.perf_counter()
    record["seconds"] = round(clock.last - begin, 3)


def run_case(clock, folder, names, store, o):
    """Measures the modes and stores the record. True after an error that ends the process."""
    record, sides, key = {"folder": folder, "times": {}, "failed": {}}, [], os.path.relpath(folder)
    record["folder"] = key
    try:
        with open(os.path.join(folder, "case.json")) as f:
            case = json.load(f)
        record.update(name=case["name"], graph=case.get("graph", ""))
        if o.check:
            record["check"] = {}
        torch._dynamo.reset()
        bank, module = Bank(case, folder, o.seed, o.places), load_module(folder)
    except Exception as e:
        record["failed"] = dict.fromkeys(names, sentence(e))
    with torch.no_grad():
        for name in [n for n in names if n not in record["failed"]]:
            if any(is_fatal(s) for s in record["failed"].values()):
                break
            store.begin(key, name)
            try:
                side = start(name, module, bank, case, o, record)
                sides += [side] if side else []
            except Exception as e:  # one mode's failure is its own
                record["failed"][name] = sentence(e)
        fatal = any(is_fatal(s) for s in record["failed"].values())
        if sides and not fatal:
            try:
                time_sides(clock, sides, module, bank, o, record)
            except Exception as e:
                bad = getattr(e, "side", sides[0].name).replace("control", sides[0].name)
                record["failed"][bad.split(" ", 1)[1]] = sentence(e)
                fatal, sides = True, []  # the others are measured by a process that begins anew
        if fatal or not sides:
            record["times"] = {}
    if not o.compile_only or fatal:
        store.put(key, {k: v for k, v in record.items() if v != {} or k == "times"})
    return fatal


def told(r):
    """A graph's line."""
    line = [r["folder"][-48:]]
    for n, t in r.get("times", {}).items():
        line.append(n + " " + "/".join(f"{t[k]['seconds'] * 1e6:.1f}" for k in ("cold", "replay", "wall") if k in t))
    line += [f"{n}: {'-' if c is None else format(c['error'], '.1e')}" for n, c in r.get("check", {}).items()]
    line += [f"{n} FAILED {why}" for n, why in r.get("failed", {}).items()]
    return "  ".join(line) + ("  FAILED differs" if differs(r) else "")


def differs(r):
    return any(c and not c["agrees"] for c in r.get("check", {}).values())


def again(extra):
    """The command line without the options of `extra`, and with them."""
    skip = {e.split("=")[0] for e in extra}
    return [sys.executable, os.path.abspath(__file__)] + [a for a in sys.argv[1:] if a.split("=")[0] not in skip] + extra


def in_processes(o, parts, path, until):
    """A process for the modes with cuDNN's search and one for those without."""
    codes = []
    for k, part in enumerate(parts):
        extra = [f"--only-modes={','.join(part)}", f"--store={path}", f"--until={until}"] + ["--resume"] * (o.resume or k > 0)
        codes.append(subprocess.call(again(extra)))
    return next((c for c in codes if c not in (0, 1)), max(codes))


def arguments():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("folders", nargs="+")
    p.add_argument("-o", dest="out")
    p.add_argument("--check", action="store_true")
    p.add_argument("--modes", default="eager,inductor", type=torch_modes.parse, help=f"a careful user's: {torch_modes.CAREFUL}")
    p.add_argument("--resume", action="store_true", help="what OUT has is not measured again")
    p.add_argument("--blocks", type=int, default=30, help="0 = check only")
    p.add_argument("--budget", type=float, help="seconds that the calls of one kind and mode may take, about: fewer blocks of slow graphs")
    p.add_argument("--places", type=int, default=8, help="buffers that inputs are chosen from; each has its CUDA graph")
    p.add_argument("--limit", type=float, default=900, help="seconds that compiling and the first calls of a mode may take")
    p.add_argument("--memory", action="store_true", help="also the most bytes that a call takes")
    p.add_argument("--tf32", action="store_true", help="float products and convolutions may be in TF32")
    p.add_argument("--compile-only", action="store_true", help="run each way once: fills the compiler's cache")
    p.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seconds", type=float, default=1e9, help="no graph is begun after that")
    p.add_argument("--graphs", action="store_true", help="every call replays a CUDA graph, as passmith time --graphs")
    p.add_argument("--only", help="only graphs with times in this file of `passmith time -o`, in its order")
    for hidden, kind in (("--only-modes", torch_modes.parse), ("--store", str), ("--until", float)):
        p.add_argument(hidden, type=kind, help=argparse.SUPPRESS)
    o = p.parse_args()
    o.names = o.only_modes or o.modes
    return o


def run_all(o, path, until):
    torch_measure.use(o.device)
    torch_measure.prepare(o.names, o.tf32)
    about = {"kind": "torch_bench", **torch_measure.about(), "date": time.strftime("%Y-%m-%d"), "blocks": o.blocks, "graphs": o.graphs, "tf32": o.tf32}
    store, clock = Store(path, about, o.resume), None
    for folder in in_order(list(find_cases(o.folders)), o.only):
        names = store.missing(os.path.relpath(folder), o.names)
        if not names:
            continue
        if time.time() > until:
            break
        clock = clock or Clock()
        fatal = run_case(clock, folder, names, store, o)
        if not o.compile_only or fatal:
            print(told(store.records[os.path.relpath(folder)]), flush=True)
        if fatal:
            extra = ["--resume", f"--store={path}", f"--until={until}"]
            os.execv(sys.executable, again(extra))
    return list(store.records.values())


def main():
    o = arguments()
    until = o.until or time.time() + o.seconds
    path = o.store or o.out
    if not path:
        handle, path = tempfile.mkstemp(suffix=".json")
        os.close(handle)
    try:
        parts = torch_modes.groups(o.names)
        if len(parts) > 1:
            return in_processes(o, parts, path, until)
        records = run_all(o, path, until)
    finally:
        if not o.store and not o.out and os.path.exists(path):
            os.unlink(path)
    failed = sum("error" in r or differs(r) for r in records)
    modes = sum(len(r.get("failed", {})) for r in records)
    print(f"{len(records)} graphs, {failed} failed, {modes} modes of a graph failed (microseconds cold/replay/wall; relative errors)")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
