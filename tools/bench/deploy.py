#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy.py MODEL... -o DIR [--types float,bfloat16] [--seconds N] - whole models as packages beside PyTorch's best mode, end to end.

Of each model and element type: weights are made up (`passmith materialize`), the model is exported as a PyTorch module, and compiled with
`fuse` for this GPU (`passmith compile --tune`). deploy_torch.py then times both in one process: PyTorch eager, eager as a CUDA graph,
TorchInductor, TorchInductor with CUDA graphs, and the package through the Python package, as one CUDA graph; `passmith serve-bench`
times it through the C library. DIR/deploy.json holds the rows; what it holds is not done again. Needs a GPU and PyTorch.

    tools/bench/deploy.py models/*.onnx -o deploy --seconds 500
    cp deploy/deploy.json docs/results && tools/gen/deploy_page.py
"""
import argparse
import json
import os
import shutil
import sys
import time

from levels import answer, call, driver

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "..", "..", "build")


def prepare(o, model, dtype, at):
    """(module's folder, package, what was said) or the reason why there is none."""
    full, package, torch = (os.path.join(at, n) for n in ("full.onnx", "model.pmz", "torch"))
    said = answer([o.passmith, "materialize", model, "-o", full], o.limit)
    if not said.get("error") and dtype != "float":
        half = os.path.join(at, "half.onnx")
        said = answer([o.passmith, "cast", full, "--to", dtype, "-o", half], o.limit)
        full = half
    if said.get("error"):
        return said["error"]
    said = answer([o.passmith, "task", "export", full, "--torch", torch, "--max-check", "0"], o.limit)
    found = [r for r in said.get("results", []) if not r["refused"]]
    if not found:
        return said.get("error") or said["results"][0]["refused"]
    begin = time.time()
    said = answer([o.passmith, "compile", full, "--pass", os.path.join(o.passes, "fuse.so"), "--arch", o.arch, "--tune", "-o", package],
                  o.limit)
    if said.get("error"):
        return said["error"]
    return found[0]["folder"], package, {"compile_seconds": time.time() - begin, **{k: said[k] for k in said if isinstance(said[k], (int, float))}}


def one(o, model, dtype):
    at = os.path.join(o.out, "work")
    shutil.rmtree(at, ignore_errors=True)
    os.makedirs(at)
    said = prepare(o, model, dtype, at)
    if isinstance(said, str):
        return {"error": said}
    folder, package, row = said
    served = answer([o.passmith, "serve-bench", package, "--device", "cuda", "--graph", "--device-tensors", "--warm", "--runs", "200"], o.limit)
    row["serve"] = {k: v for k, v in served.items() if isinstance(v, (int, float, str)) or k == "host"}
    code, text = call([sys.executable, os.path.join(HERE, "deploy_torch.py"), folder, package, "--modes", o.modes], o.limit)
    try:
        row.update(json.loads(text.strip().splitlines()[-1]))
    except (IndexError, json.JSONDecodeError):
        row["error"] = f"deploy_torch.py ended with {code} and no answer."
    return row


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("models", nargs="+")
    p.add_argument("-o", dest="out", required=True)
    p.add_argument("--types", default="float,bfloat16", type=lambda s: s.split(","))
    p.add_argument("--modes", default="eager,eager-graph,inductor,reduce-overhead")
    p.add_argument("--arch", default="sm_90")
    p.add_argument("--seconds", type=float, default=86400, help="no model is begun after that")
    p.add_argument("--limit", type=float, default=200, help="seconds that one command may take")
    p.add_argument("--passmith", default=os.path.join(BUILD, "passmith"))
    p.add_argument("--passes", default=os.path.join(BUILD, "passes"))
    o = p.parse_args()
    path = os.path.join(o.out, "deploy.json")
    os.makedirs(o.out, exist_ok=True)
    book = {"kind": "deploy", "rows": {}}
    if os.path.exists(path):
        with open(path) as f:
            book = json.load(f)
    until = time.time() + o.seconds
    book.update({"date": time.strftime("%Y-%m-%d"), "hardware": driver(), "version": call([o.passmith, "--version"], 30)[1].strip(), "modes": o.modes})
    for dtype in o.types:
        for model in o.models:
            name = os.path.splitext(os.path.basename(model))[0] + " " + dtype
            if name in book["rows"]:
                continue
            if time.time() > until:
                break
            book["rows"][name] = one(o, model, dtype)
            with open(path + ".tmp", "w") as f:
                json.dump(book, f, indent=1)
            os.replace(path + ".tmp", path)
            r = book["rows"][name]
            if r.get("within") is False:
                print(f"{name}: the package's outputs are further from the eager run than the ladder and PyTorch's own modes allow", file=sys.stderr)
            print(f"{name}: {r.get('error') or {n: round(w.get('latency', 0) * 1e6) for n, w in r['ways'].items()}}", file=sys.stderr, flush=True)
    shutil.rmtree(os.path.join(o.out, "work"), ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
