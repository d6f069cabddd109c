#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy.py MODEL... -o DIR [--types float,bfloat16] [--seconds N] - whole models as packages beside PyTorch's best mode, end to end.

Of each model and element type: weights are made up (`passmith materialize`), the model is exported as a PyTorch module, and compiled with
`fuse` for this GPU (`passmith compile --tune`). deploy_torch.py then times both in one process: the modes of --modes (torch_modes.py), and the
package through the Python package, as one CUDA graph; `passmith serve-bench`
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

from common import torch_modes
from levels import answer, call, driver

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "..", "..", "build")


def exported(o, model, dtype, at):
    """(model file with weights, of that type; folder of its PyTorch module), or a sentence why there is none."""
    full, torch = os.path.join(at, "full.onnx"), os.path.join(at, "torch")
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
    return full, found[0]["folder"]


def prepare(o, model, dtype, at):
    """(module's folder, package, what was said) or the reason why there is none."""
    made = exported(o, model, dtype, at)
    if isinstance(made, str):
        return made
    full, package = made[0], os.path.join(at, "model.pmz")
    begin = time.time()
    said = answer([o.passmith, "compile", full, "--pass", os.path.join(o.passes, "fuse.so"), "--arch", o.arch, "--tune", "-o", package],
                  o.limit)
    if said.get("error"):
        return said["error"]
    return made[1], package, {"compile_seconds": time.time() - begin, **{k: said[k] for k in said if isinstance(said[k], (int, float))}}


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


def fill(o, path, kind, pairs, measured, told):
    """Measures the pairs (model, type) that the file has no row of, and writes it after each. What fails is a row, too."""
    os.makedirs(o.out, exist_ok=True)
    book = {"kind": kind, "mode_names": torch_modes.NAMED, "rows": {}}
    if os.path.exists(path):
        with open(path) as f:
            book = torch_modes.renew(json.load(f), lambda d: [r["ways"] for r in d["rows"].values() if "ways" in r])
    until = time.time() + o.seconds
    book.update({"date": time.strftime("%Y-%m-%d"), "hardware": driver(), "version": call([o.passmith, "--version"], 30)[1].strip(), "modes": o.modes})
    for model, dtype in pairs:
        name = os.path.splitext(os.path.basename(model))[0] + " " + dtype
        if name in book["rows"]:
            continue
        if time.time() > until:
            break
        book["rows"][name] = measured(o, model, dtype)
        with open(path + ".tmp", "w") as f:
            json.dump(book, f, indent=1)
            f.write("\n")
        os.replace(path + ".tmp", path)
        print(f"{name}: {told(book['rows'][name])}", file=sys.stderr, flush=True)
    shutil.rmtree(os.path.join(o.out, "work"), ignore_errors=True)
    return book


def with_libraries_of_torch():
    """What is tuned holds for one version of cuBLASLt and cuDNN: all commands take those that PyTorch brings."""
    code, text = call([sys.executable, "-c", "import torch; from passmith import _find; print(_find.environment().get('LD_LIBRARY_PATH', ''))"], 120)
    if code:
        sys.exit("deploy: PyTorch or the Python package cannot be imported; install both, or name them in PYTHONPATH.")
    os.environ["LD_LIBRARY_PATH"] = text.splitlines()[-1]


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("models", nargs="+")
    p.add_argument("-o", dest="out", required=True)
    p.add_argument("--types", default="float,bfloat16", type=lambda s: s.split(","))
    p.add_argument("--modes", default="eager-search,eager-search-graph,inductor-search,reduce-overhead-search",
                   help="of torch_modes.py: all with cuDNN's search or all without")
    p.add_argument("--arch", default="sm_90")
    p.add_argument("--seconds", type=float, default=86400, help="no model is begun after that")
    p.add_argument("--limit", type=float, default=200, help="seconds that one command may take")
    p.add_argument("--passmith", default=os.path.join(BUILD, "passmith"))
    p.add_argument("--passes", default=os.path.join(BUILD, "passes"))
    o = p.parse_args()

    def told(r):
        if r.get("within") is False:
            return "the package's outputs are further from the eager run than the ladder and PyTorch's own modes allow"
        return r.get("error") or {n: round(w.get("latency", 0) * 1e6) for n, w in r["ways"].items()}

    with_libraries_of_torch()
    fill(o, os.path.join(o.out, "deploy.json"), "deploy", [(m, t) for t in o.types for m in o.models], one, told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
