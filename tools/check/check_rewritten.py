#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_rewritten.py - rewritten models in ONNX's checker and in ONNX Runtime, beside the models they came from.

    tools/check/check_rewritten.py MODEL.onnx|FOLDER... --pass PASS.so [--pick N] [--out results.jsonl]

For each model passmith rewrites it (`apply`) and reads what it wrote as text and back. What was written must be the
same bytes again; ONNX's checker must accept it with shape inference (`full_check`). Then missing weights are filled in
(`materialize`), ONNX Runtime (CPU, one thread) runs the original and the rewritten model with equal inputs and
weights, random nodes having become inputs, and each output is compared by the first rule of tools/bench/check_ort.py, with the original's output in the place of the
reference. Both files are ONNX Runtime's to optimise, and it knows patterns that a function hides or shows: where
the rule fails, it runs both once more with its optimisations off.

Verdicts: equal (all outputs, bit for bit); agrees (within the bound); agrees-plain (within it without ONNX Runtime's
optimisations); loads (more than --max-gflop or --max-gb: checked and loaded over weights of zeros, not run);
original-fails (ONNX Runtime does not run the original either; the rewritten model passed the checker);
original-invalid (the checker refuses the original too); unchanged (no rule applied); differs, fails: these are wrong. Results are JSON lines, written as they come; a model whose line is
there already is not run again. Exit status 0: nothing is wrong, and something was compared.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import check_ort  # noqa: E402  (says what to install)
from check_ort import np, onnx, ort  # noqa: E402

GOOD = ("equal", "agrees", "agrees-plain")
WRONG = ("differs", "fails")


def passmith(args, *words, ok=(0,)):
    p = subprocess.run([args.passmith, *words], capture_output=True, text=True, timeout=args.timeout)
    if p.returncode not in ok:
        raise RuntimeError(f"passmith {words[0]}: exit {p.returncode}: {p.stderr.strip()[-300:]}")
    return p


def draw(info, stats, rng):
    """An input within what the model's own statistics say of it."""
    t = info.type.tensor_type
    shape = [d.dim_value or 1 for d in t.shape.dim]
    n = int(np.prod(shape, dtype=np.int64))
    s = stats.get(info.name, {})
    dtype = onnx.helper.tensor_dtype_to_np_dtype(t.elem_type)
    if len(s.get("data", [])) == n and n:
        return np.array(s["data"]).reshape(shape).astype(dtype)
    if t.elem_type == onnx.TensorProto.BOOL:
        return rng.integers(0, 2, shape).astype(bool)
    if np.issubdtype(dtype, np.integer):
        low = int(s.get("min", 0))
        return rng.integers(low, max(low, int(s.get("max", 1))) + 1, shape).astype(dtype)
    if "mean" not in s and "max" in s:
        return rng.uniform(s.get("min", 0), s["max"], shape).astype(dtype)
    return (s.get("mean", 0) + (s.get("std", 1) or 1) * rng.standard_normal(shape)).astype(dtype)


def inputs_of(path):
    m = onnx.load(path, load_external_data=False)
    stats = next((json.loads(p.value) for p in m.metadata_props if p.key == "tensor_stats"), {})
    weights = {t.name for t in m.graph.initializer}
    rng = np.random.default_rng(1)
    return {i.name: draw(i, stats, rng) for i in m.graph.input if i.name not in weights}


def session(path, plain):
    o = ort.SessionOptions()
    o.intra_op_num_threads = o.inter_op_num_threads = 1
    o.log_severity_level = 4
    if plain:
        o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(path, o, providers=["CPUExecutionProvider"])


def run(path, feed, plain):
    s = session(path, plain)
    return {o.name: v for o, v in zip(s.get_outputs(), s.run(None, feed))}


def compare(want, got, longest):
    """(verdict, worst nrms, bound of the output with it)"""
    verdict, worst, bound = "equal", 0.0, 0.0
    for name, r in want.items():
        y, dtype = got[name], r.dtype.name
        if y.dtype == r.dtype and y.shape == r.shape and y.tobytes() == r.tobytes():
            continue
        v, num = check_ort.judge(y, r, dtype, longest)
        if num.get("nrms", float("inf")) >= worst:
            worst = num.get("nrms", float("inf"))
            bound = check_ort.BOUND.get(dtype, 0)
        verdict = "agrees" if v in ("agrees", "degenerate") and verdict != "differs" else "differs"
    return verdict, worst, bound


def zeros_beside(path):
    """Files of zeros for the weights that are not there; they take no room."""
    m = onnx.load(path, load_external_data=False)
    end = {}
    for t in m.graph.initializer:
        at = {e.key: e.value for e in t.external_data}
        if t.data_location == onnx.TensorProto.EXTERNAL:
            size = int(at.get("length", 8 * np.prod(t.dims, dtype=np.int64)))
            end[at["location"]] = max(end.get(at["location"], 0), int(at.get("offset", 0)) + size)
    for name, size in end.items():
        with open(os.path.join(os.path.dirname(path), name), "wb") as f:
            f.truncate(size)


def functions_in(path):
    m = onnx.load(path, load_external_data=False)
    return len(m.functions), sum(n.domain == "passmith" for n in m.graph.node)


def rewrite(args, file, out, tmp):
    """Whether a rule applied. What is written is the same after a round trip through text."""
    words = [w for p in args.passes for w in ("--pass", p)]
    if passmith(args, "apply", file, *words, "-o", out, "--quiet", ok=(0, 1)).returncode:
        return False
    passmith(args, "import", out, "-o", f"{tmp}/a.gpt", "--quiet")
    passmith(args, "import", f"{tmp}/a.gpt", "-o", f"{tmp}/again.onnx", "--quiet")
    with open(out, "rb") as a, open(f"{tmp}/again.onnx", "rb") as b:
        if a.read() != b.read():
            raise RuntimeError("the round trip through text changed the rewritten model")
    return True


def take_weights(path, full):
    """Puts the weights of the original with all its weights into the rewritten model."""
    m = onnx.load(path, load_external_data=False)
    have = {t.name: t for t in onnx.load(full).graph.initializer}
    for t in m.graph.initializer:
        if t.data_location == onnx.TensorProto.EXTERNAL:
            t.CopyFrom(have[t.name])
    onnx.save(m, path)


def fails(what, *args):
    """What it says when it fails, "" when it works."""
    try:
        what(*args)
        return ""
    except Exception as e:
        return f"{type(e).__name__}: {e}"[:300]


def load(path):
    zeros_beside(path)
    session(path, True)


def check(args, file, about, tmp):
    rec = {"file": os.path.basename(file)}
    original, out = f"{tmp}/original.onnx", f"{tmp}/rewritten.onnx"
    if check_ort.free_random(file, original) == file:
        shutil.copy(file, original)
    if not rewrite(args, original, out, tmp):
        return {**rec, "verdict": "unchanged"}
    rec["functions"], rec["kernels"] = functions_in(out)
    zeros_beside(out)
    why = fails(onnx.checker.check_model, out, True)
    if why:
        bad = fails(onnx.checker.check_model, original, True)
        return {**rec, "verdict": "original-invalid" if bad else "fails", "why": bad or why}
    if about["flops"] > args.max_gflop * 1e9 or about["weights"]["bytes"] > args.max_gb * 1e9:
        why = fails(load, out)
        bad = fails(load, original) if why else ""
        return {**rec, "verdict": "original-fails" if bad else "fails" if why else "loads", "why": bad or why}
    passmith(args, "materialize", original, "-o", f"{tmp}/full.onnx")
    take_weights(out, f"{tmp}/full.onnx")
    return {**rec, **compare_runs(f"{tmp}/full.onnx", out)}


def compare_runs(full, out):
    feed = inputs_of(full)
    try:
        want = run(full, feed, False)
    except Exception as e:
        return {"verdict": "original-fails", "why": f"{type(e).__name__}: {e}"[:300]}
    longest = check_ort.longest_sum(full)
    verdict, worst, bound = compare(want, run(out, feed, False), longest)
    rec = {"verdict": verdict, "nrms": worst, "bound": bound}
    if verdict == "differs":
        rec["optimised_nrms"] = worst
        rec["verdict"], rec["nrms"], rec["bound"] = compare(run(full, feed, True), run(out, feed, True), longest)
        if rec["verdict"] != "differs":
            rec["verdict"] = "agrees-plain"
    return rec


def pick(files, n):
    """n of them, spread over the list."""
    return files if not n or n >= len(files) else [files[i * len(files) // n] for i in range(n)]


def report(recs):
    counts = {}
    for r in recs:
        counts[r["verdict"]] = counts.get(r["verdict"], 0) + 1
    worst = max((r for r in recs if r["verdict"] in GOOD), key=lambda r: r["nrms"], default=None)
    print(f"check-ort: {len(recs)} models, " + ", ".join(f"{v} {k}" for k, v in sorted(counts.items())))
    print(f"check-ort: {sum(r.get('kernels', 0) for r in recs)} kernels in {sum(r.get('functions', 0) for r in recs)} "
          f"functions; onnx {onnx.__version__}, onnxruntime {ort.__version__}")
    if worst:
        print(f"check-ort: the worst difference is {worst['nrms']:.2g} of the norm, in {worst['file']}; the bound "
              f"there is {worst['bound']:.2g} or more")
    return any(counts.get(v) for v in WRONG) or not any(counts.get(v) for v in GOOD)


def run_all(args, files, one, line):
    """The records of `one(file, what import says of it, a folder)` for each file, written to args.out as they come. What that file has
    already is not done again. `line(record)` is what the progress says in the middle."""
    done, recs = {}, []
    if os.path.exists(args.out):
        with open(args.out) as f:
            done = {r["file"]: r for r in map(json.loads, f)}
    for k, file in enumerate(files):
        name, t0 = os.path.basename(file), time.time()
        if name not in done:
            tmp = tempfile.mkdtemp(prefix="check-ort-")
            try:
                rec = one(file, json.loads(passmith(args, "import", "--json", file).stdout)["results"][0], tmp)
            except Exception as e:
                rec = {"file": name, "verdict": "fails", "why": f"{type(e).__name__}: {e}"[:600]}
            finally:
                shutil.rmtree(tmp, ignore_errors=True)
            rec["seconds"] = round(time.time() - t0, 2)
            with open(args.out, "a") as f:
                f.write(json.dumps(rec) + "\n")
            done[name] = rec
        r = done[name]
        recs.append(r)
        print(f"[{k + 1}/{len(files)}] {r['verdict']:14} {line(r)} {r['seconds']:6.1f} s  {name}" + (f"  {r['why']}" if r.get("why") else ""),
              file=sys.stderr, flush=True)
    return recs


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("models", nargs="+")
    ap.add_argument("--pass", dest="passes", action="append", required=True, help="a pass (may be given several times)")
    ap.add_argument("--passmith", default=os.environ.get("BUILD", "build") + "/passmith")
    ap.add_argument("--out", default="build/check-ort.jsonl", help="results, a line per model; resumed")
    ap.add_argument("--pick", type=int, default=0, help="only N models, spread over the list")
    ap.add_argument("--max-gflop", type=float, default=1000, help="larger models are loaded and not run")
    ap.add_argument("--max-gb", type=float, default=1.5, help="and those with more GB of weights")
    ap.add_argument("--timeout", type=float, default=900, help="seconds for one command")
    args = ap.parse_args()
    files = pick(list(check_ort.find_models(args.models)), args.pick)
    recs = run_all(args, files, lambda file, about, tmp: check(args, file, about, tmp),
                   lambda r: f"{r.get('kernels', 0):4} kernels  nrms {r.get('nrms', 0):8.2g}")
    return 1 if report(recs) else 0


if __name__ == "__main__":
    sys.exit(main())
