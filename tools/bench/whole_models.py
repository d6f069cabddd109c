#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whole_models.py --core DIR [--corpus DIR] -o OUT [--types LIST] [--seconds N] - whole models with `fuse` beside PyTorch in its modes.

All models of --core, and --count (50) of --corpus: held-out ones first (held_out.py), in an order by a hash of the name. Of each model and
type: weights are made up, the model is cast (`passmith cast`), `passmith apply` says what `fuse` saves and how long it takes, `passmith time`
times the eager run and `fuse`, launched and replayed, and torch_bench.py times PyTorch in the modes of --modes; both say how much memory a call
takes. Type `tf32` is float whose products may be computed in TF32 on both sides.

OUT/whole_models.json holds the rows. What it holds is not done again. A step that fails, or takes longer than --limit, is in the row with its
reason; the other side and the other models stand. Needs a GPU and PyTorch.

    tools/bench/whole_models.py --core ~/models/core --corpus ~/models/corpus -o whole --seconds 3000
    cp whole/whole_models.json docs/results && tools/gen/whole_models_page.py
"""
import argparse
import hashlib
import json
import os
import shutil
import sys
import time

from common import held_out, torch_modes
from deploy import BUILD, HERE, exported, fill
from levels import answer, call

TYPES = ("float", "tf32", "float16", "bfloat16")
CAREFUL = ",".join(m for m in torch_modes.parse(torch_modes.CAREFUL) if torch_modes.mode(m).search)
TOLD = ("launches_before", "launches_after", "memory_before", "memory_after", "applied")  # of `passmith apply --json`


def models_in(folder):
    return sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith((".onnx", ".gpt")))


def choose(core, corpus, count):
    """The paths: all of core, then `count` of corpus, held-out models first; each part in an order by a hash of the name."""
    def place(path):
        return hashlib.sha256(b"whole models: " + held_out.model_name(path).encode()).hexdigest()
    return sorted(core, key=place) + sorted(corpus, key=lambda p: (not held_out.held_out(p), place(p)))[:count]


def applied(o, model, at):
    """What `passmith apply` says, and the seconds that it takes."""
    begin = time.time()
    said = answer([o.passmith, "apply", model, "--pass", os.path.join(o.passes, "fuse.so"), "-o", os.path.join(at, "fused.onnx")], o.limit)
    row = {"seconds": round(time.time() - begin, 3), **{k: said[k] for k in TOLD if k in said}}
    return dict(row, error=said["error"]) if said.get("error") else row


def timed(o, model, dtype, at, graphs):
    """{"eager", "fuse": times} of `passmith time`, or {"error"}."""
    out = os.path.join(at, "graphs.json" if graphs else "time.json")
    code, _ = call([o.passmith, "time", model, "--pass", os.path.join(o.passes, "fuse.so"), "--blocks", str(o.blocks), "-o", out, "--quiet"]
                   + ["--tf32"] * (dtype == "tf32") + ["--graphs"] * graphs, o.limit)
    record = {}
    if os.path.exists(out):
        with open(out) as f:
            record = next(iter(json.load(f).get("records", [])), {})
    if "times" not in record:
        return {"error": record.get("error") or (f"It takes more than {o.limit:.0f} s." if code == 124 else f"passmith time ended with {code} and no row.")}
    return {n.split(" ", 1)[1]: t for n, t in record["times"].items()}


def in_torch(o, folder, dtype, at):
    """{"times", "failed"} of torch_bench.py, or {"error"}. A process that dies goes on behind the mode that it was at."""
    out, names = os.path.join(at, "torch.json"), torch_modes.parse(o.modes)
    command = [sys.executable, o.torch_side, folder, "-o", out, "--modes", o.modes, "--resume", "--places", "1", "--memory", "--blocks", str(o.blocks), "--budget",
               str(o.budget), "--limit", str(o.limit)] + ["--tf32"] * (dtype == "tf32")
    for _ in range(len(names) + 1):
        code, _ = call(command, 2 * o.limit * len(names) + 600)
        if 0 <= code < 124:
            break
    record = {}
    if os.path.exists(out):
        with open(out) as f:
            data = json.load(f)
        record = next(iter(data["records"]), {})
        record["about"] = {k: data.get(k) for k in ("torch", "cuda", "cudnn", "device")}
    row = {k: record[k] for k in ("times", "failed", "about") if record.get(k)}
    row.get("times", {}).pop("control", None)
    return row if row.get("times") else {**row, "error": record.get("error") or f"torch_bench.py ended with {code} and no times."}


def one(o, model, dtype):
    at = os.path.join(o.out, "work")
    shutil.rmtree(at, ignore_errors=True)
    os.makedirs(at)
    row = {"held_out": held_out.held_out(model)}
    made = exported(o, model, "float" if dtype == "tf32" else dtype, at)
    if isinstance(made, str):
        return dict(row, error=made)
    row["apply"] = applied(o, made[0], at)
    row["ours"] = timed(o, made[0], dtype, at, False)
    row["ours_graphs"] = timed(o, made[0], dtype, at, True)
    row["torch"] = in_torch(o, made[1], dtype, at)
    return row


def told(row):
    """A line for who watches: what failed, or how many modes have times."""
    bad = [f"{k}: {row[k]['error']}" for k in ("apply", "ours", "ours_graphs", "torch") if "error" in row.get(k, {})]
    return row.get("error") or "; ".join(bad) or f"{len(row['torch']['times'])} modes of PyTorch, apply {row['apply']['seconds']} s"


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--core", required=True)
    p.add_argument("--corpus")
    p.add_argument("--count", type=int, default=50)
    p.add_argument("-o", dest="out", required=True)
    p.add_argument("--types", default=",".join(TYPES), type=lambda s: s.split(","))
    p.add_argument("--modes", default=CAREFUL)
    p.add_argument("--blocks", type=int, default=10)
    p.add_argument("--budget", type=float, default=2, help="seconds that PyTorch's calls of one kind and mode may take, about")
    p.add_argument("--seconds", type=float, default=86400, help="no model is begun after that")
    p.add_argument("--limit", type=float, default=300, help="seconds that one command, or compiling in one mode, may take")
    p.add_argument("--passmith", default=os.path.join(BUILD, "passmith"))
    p.add_argument("--passes", default=os.path.join(BUILD, "passes"))
    p.add_argument("--torch-side", default=os.path.join(HERE, "torch_bench.py"), help=argparse.SUPPRESS)
    o = p.parse_args()
    torch_modes.parse(o.modes)
    unknown = [t for t in o.types if t not in TYPES]
    if unknown:
        p.error(f"there is no type {unknown[0]}; give {', '.join(TYPES)}")
    models = choose(models_in(o.core), models_in(o.corpus) if o.corpus else [], o.count)
    # All types of a model before the next one: a run that is stopped has a fair sample.
    book = fill(o, os.path.join(o.out, "whole_models.json"), "whole_models", [(m, t) for m in models for t in o.types], one, told)
    print(f"{len(book['rows'])} of {len(models) * len(o.types)} rows; the same line goes on with the others")
    return 0


if __name__ == "__main__":
    sys.exit(main())
