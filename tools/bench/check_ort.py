#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_ort.py - a second opinion: models through ONNX Runtime and through passmith, every output compared.

    tools/bench/check_ort.py MODEL.onnx|FOLDER... [--device ref,emu] [--out results.jsonl] [--pick N] [--shard I/N]

For each model passmith fills in the missing weights, draws inputs and runs it (`passmith run --save`); ONNX
Runtime (CPU, one thread) runs the same file on the same inputs. A model of more than --max-gflop, or with
operators that passmith does not run, is compared in part: the largest part of at most --part-gflop, exported by
passmith, with what enters it as inputs. Random nodes become inputs first, drawn from the same range.

What must hold, per output y of ONNX Runtime against r of the device (nrms = sqrt(sum (y-r)^2 / sum r^2)):
  integers and bool   equal
  floating point      NaN and infinities in the same places, nrms <= B and max|y-r| <= 1000 B rms(r), with B
                      1e-12 double, 1e-5 float, 5e-3 float16, 4e-2 bfloat16; for float at least sqrt(L) 2^-24, where
                      L is the most numbers that one reduction of the model sums: the error of a plain float sum,
                      which says nothing about what is summed
Where that fails, every input and weight is moved by one unit in its last place, up or down at random, and `ref`
runs again: r'. Both differences may be 16 times what that does to r: nrms(r',r), max|r'-r| (for integers the
share of elements that differ). If it moves an output by more than 0.1 of its norm, the model is ill-conditioned
on this output and no agreement is claimed.

Verdicts: agrees; conditioning (agrees by the second rule); ill-conditioned; degenerate (equal, but nothing finite
or only one value, so that nothing is shown); differs; unsupported (passmith); ort-fails. Results are JSON lines,
written as they come; a model whose line is there already is not run again. Exit status 0: nothing differs.
"""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, numpy_helper
except ImportError as e:
    sys.exit(f"check_ort: {e.name} is not installed; this optional check needs: pip install onnx onnxruntime numpy")

BOUND = {"float64": 1e-12, "float32": 1e-5, "float16": 5e-3, "bfloat16": 4e-2}
MAX_FACTOR = 1000
COND_FACTOR = 16
ILL = 0.1


def read_pb(path):
    t = TensorProto()
    with open(path, "rb") as f:
        t.ParseFromString(f.read())
    return t


def dtype_of(t):
    return {TensorProto.BFLOAT16: "bfloat16"}.get(t.data_type) or np.dtype(
        onnx.helper.tensor_dtype_to_np_dtype(t.data_type)).name


def value_of(t):
    """A tensor as numpy; bfloat16 as the float32 of the same value."""
    a = numpy_helper.to_array(t)
    return a.astype(np.float32) if t.data_type == TensorProto.BFLOAT16 else a


def read_set(folder, kind):
    out = []
    while os.path.exists(p := f"{folder}/test_data_set_0/{kind}_{len(out)}.pb"):
        out.append(read_pb(p))
    return out


# ---- comparison ----

def finite_diff(y, r):
    """(same places of NaN and infinities, nrms, max difference, rms of r)"""
    y, r = y.astype(np.float64).ravel(), r.astype(np.float64).ravel()
    f = np.isfinite(y) & np.isfinite(r)
    same = bool(np.array_equal(y[~f], r[~f], equal_nan=True))
    if not f.any():
        return same, 0.0, 0.0, 0.0
    # Scaled, so that squares of numbers near the end of the range stay finite.
    scale = float(np.max(np.abs(r[f]))) or 1.0
    d, rf = (y[f] - r[f]) / scale, r[f] / scale
    num, den = float(np.sqrt(np.sum(d * d))), float(np.sqrt(np.sum(rf * rf)))
    nrms = 0.0 if num == 0 else num / den if den else float("inf")
    return same, nrms, float(np.max(np.abs(d))) * scale, den / np.sqrt(f.sum()) * scale


def longest_sum(path):
    """The most elements that one result of a node is summed from, as far as the model states shapes."""
    m = onnx.load(path, load_external_data=False)
    g = m.graph
    size = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
            for v in [*g.input, *g.output, *g.value_info]}
    size.update({t.name: list(t.dims) for t in g.initializer})
    most = 1
    for n in g.node:
        i = size.get(n.input[0]) if n.input else None
        o = size.get(n.output[0]) if n.output else None
        if not i or o is None:
            continue
        if n.op_type.startswith("Reduce") or n.op_type.startswith("Global"):
            most = max(most, int(np.prod(i)) // max(1, int(np.prod(o))))
        elif n.op_type in ("InstanceNormalization", "GroupNormalization"):
            most = max(most, int(np.prod(i[2:])))
        elif n.op_type in ("Softmax", "LogSoftmax", "MatMul", "LayerNormalization"):
            most = max(most, i[-1])
    return most


def judge(y, r, dtype, longest):
    """First rule: (verdict or None, numbers)."""
    if y.shape != r.shape:
        return "differs", {"why": f"shape {y.shape}, not {r.shape}"}
    if dtype not in BOUND:
        n = int(np.sum(y != r))
        return (None if n else "agrees"), {"unequal": n, "elements": int(r.size)}
    same, nrms, worst, rms = finite_diff(y, r)
    b = max(BOUND[dtype], longest**0.5 * 2.0**-24 if dtype == "float32" else 0)
    num = {"nrms": nrms, "max": worst, "rms": rms, "same_nonfinite": same, "elements": int(r.size)}
    if same and nrms <= b and worst <= MAX_FACTOR * b * rms:
        flat = r.ravel()
        vacuous = r.size > 1 and (not np.isfinite(flat).any() or bool((flat == flat[0]).all()))
        return ("degenerate" if vacuous else "agrees"), num
    return None, num


def judge_moved(y, r, m, dtype):
    """Second rule, with m what ref gives for moved inputs and weights."""
    if dtype not in BOUND:
        moved = int(np.sum(m != r))
        ok = int(np.sum(y != r)) <= COND_FACTOR * moved
        return ("conditioning" if ok else "differs"), {"moved_unequal": moved}
    same_y, nrms, worst, _ = finite_diff(y, r)
    same_m, by, by_max, _ = finite_diff(m, r)
    num = {"moved_nrms": by, "moved_max": by_max}
    if by > ILL or not same_m:
        return "ill-conditioned", num
    ok = same_y and nrms <= COND_FACTOR * by and worst <= COND_FACTOR * by_max
    return ("conditioning" if ok else "differs"), num


# ---- the two sides ----

def passmith(args, *words):
    p = subprocess.run([args.passmith, *words], capture_output=True, text=True, timeout=args.timeout)
    if p.returncode:
        raise RuntimeError(f"exit {p.returncode}: {p.stderr.strip().splitlines()[-1] if p.stderr else ''}")
    return p.stdout


def ort_run(model, inputs):
    o = ort.SessionOptions()
    o.intra_op_num_threads = 1
    o.inter_op_num_threads = 1
    o.log_severity_level = 4
    s = ort.InferenceSession(model, o, providers=["CPUExecutionProvider"])
    wanted = {i.name for i in s.get_inputs()}
    feed = {}
    for t in inputs:
        if t.name in wanted:
            if t.data_type == TensorProto.BFLOAT16:
                feed[t.name] = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(
                    numpy_helper.to_array(t).view(np.uint16), TensorProto.BFLOAT16)
            else:
                feed[t.name] = ort.OrtValue.ortvalue_from_numpy(numpy_helper.to_array(t))
    names = [i.name for i in s.get_outputs()]
    out = s.run_with_ort_values(names, feed)
    return {n: v for n, v in zip(names, out)}


def ort_value(v):
    if v.element_type() == TensorProto.BFLOAT16:
        raw = v.numpy().view(np.uint16).astype(np.uint32) << 16
        return raw.view(np.float32)
    return v.numpy()


def ulp_moved(a, dtype, rng):
    if dtype not in BOUND:
        return a
    eps = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
    sign = rng.integers(0, 2, a.shape) * 2 - 1
    with np.errstate(over="ignore", invalid="ignore"):
        return (a.astype(np.float64) * (1 + sign * eps)).astype(a.dtype)


def moved_tensor(t, rng):
    d = dtype_of(t)
    if d not in BOUND:
        return t
    m = numpy_helper.from_array(ulp_moved(numpy_helper.to_array(t), d, rng), t.name)
    return m


def weights_of(path):
    """Names of the initializers that the file as shipped keeps elsewhere."""
    m = onnx.load(path, load_external_data=False)
    return {t.name for t in m.graph.initializer if t.data_location == TensorProto.EXTERNAL}


def run_moved(args, folder, weights, moved):
    """ref on inputs and weights moved by one ulp: the outputs. Other constants (a Resize's scales) stay."""
    rng = np.random.default_rng(1)
    os.makedirs(f"{moved}/test_data_set_0", exist_ok=True)
    m = onnx.load(f"{folder}/model.onnx")
    for t in m.graph.initializer:
        if t.name in weights:
            t.CopyFrom(moved_tensor(t, rng))
    onnx.save(m, f"{moved}/model.onnx", save_as_external_data=m.ByteSize() > 2**31 - 1)
    for k, t in enumerate(read_set(folder, "input")):
        with open(f"{moved}/test_data_set_0/input_{k}.pb", "wb") as f:
            f.write(moved_tensor(t, rng).SerializeToString())
    passmith(args, "run", f"{moved}/model.onnx", "--device", "ref", "--inputs", moved, "--save", f"{moved}/out",
             "--quiet")
    return {t.name: value_of(t) for t in read_set(f"{moved}/out", "output")}


def widen(model, inputs):
    """A bfloat16 model as float32, for an ONNX Runtime without bfloat16 kernels: values are kept exactly."""
    m = onnx.load(model)

    def types(infos):
        for v in infos:
            if v.type.tensor_type.elem_type == TensorProto.BFLOAT16:
                v.type.tensor_type.elem_type = TensorProto.FLOAT

    def tensor(t):
        if t.data_type == TensorProto.BFLOAT16:
            t.CopyFrom(numpy_helper.from_array(value_of(t), t.name))
        return t

    types(m.graph.input)
    types(m.graph.output)
    types(m.graph.value_info)
    for t in m.graph.initializer:
        tensor(t)
    for n in m.graph.node:
        for a in n.attribute:
            if n.op_type == "Cast" and a.name == "to" and a.i == TensorProto.BFLOAT16:
                a.i = TensorProto.FLOAT
            if a.HasField("t"):
                tensor(a.t)
    onnx.save(m, model)
    return [tensor(t) for t in inputs]


def free_random(path, to):
    """A copy in which nodes that draw uniform numbers are inputs drawn likewise; `path` when there are none."""
    m = onnx.load(path, load_external_data=False)
    drawn = [n for n in m.graph.node if n.op_type in ("RandomUniformLike", "RandomUniform")]
    shapes = {v.name: v for v in m.graph.value_info}
    if not drawn or any(n.output[0] not in shapes for n in drawn):
        return path
    meta = next((p for p in m.metadata_props if p.key == "tensor_stats"), None) or m.metadata_props.add(
        key="tensor_stats", value="{}")
    stats = json.loads(meta.value)
    for n in drawn:
        at = {a.name: a.f for a in n.attribute if a.name in ("low", "high")}
        stats[n.output[0]] = {"min": at.get("low", 0.0), "max": at.get("high", 1.0)}
        m.graph.input.append(shapes[n.output[0]])
        m.graph.node.remove(n)
    meta.value = json.dumps(stats)
    onnx.save(m, to)
    return to


# ---- one model ----

def compare(args, rec, device, outputs, got, moved, longest):
    res = rec["devices"].setdefault(device, {"outputs": []})
    for t in outputs:
        r, dtype = value_of(t), dtype_of(t)
        y = ort_value(got[t.name])
        verdict, num = judge(y, r, dtype, longest)
        if verdict is None:
            verdict, more = judge_moved(y, r, moved()[t.name], dtype)
            num.update(more)
        res["outputs"].append({"name": t.name, "dtype": dtype, "verdict": verdict, **num})
    order = ["differs", "ill-conditioned", "conditioning", "agrees", "degenerate"]
    res["verdict"] = min((o["verdict"] for o in res["outputs"]), key=order.index, default="degenerate")


def check(args, job, tmp):
    path, part = free_random(job["file"], f"{tmp}/free.onnx"), job["part"]
    if path != job["file"]:
        m = json.loads(passmith(args, "import", "--json", path))["results"][0]
        part = part_of(args, m)
    rec = {"file": os.path.basename(job["file"]), "part": part, "gflop": job["gflop"], "devices": {}}
    case, cache = f"{tmp}/case", {}
    cut = ["--cut", str(int(args.part_gflop * 1000))] if part else []
    t0 = time.time()
    first, rest = args.device[0], args.device[1:]
    try:
        passmith(args, "run", path, "--device", first, *cut, "--save", case, "--quiet")
    except (RuntimeError, subprocess.TimeoutExpired) as e:
        rec.update(verdict="unsupported", why=str(e)[:400])
        return rec
    t1 = time.time()
    inputs, outputs = read_set(case, "input"), read_set(case, "output")
    try:
        got = ort_run(f"{case}/model.onnx", inputs)
    except Exception as e:
        if "NOT_IMPLEMENTED" not in str(e) and "bfloat16" not in str(e):
            rec.update(verdict="ort-fails", why=str(e)[:400])
            return rec
        try:
            inputs = widen(f"{case}/model.onnx", inputs)
            for k, t in enumerate(inputs):
                with open(f"{case}/test_data_set_0/input_{k}.pb", "wb") as f:
                    f.write(t.SerializeToString())
            path, cut, rec["widened"] = f"{case}/model.onnx", [], True
            passmith(args, "run", path, "--device", first, "--inputs", case, "--save", f"{tmp}/wide", "--quiet")
            outputs = read_set(f"{tmp}/wide", "output")
            got = ort_run(path, inputs)
        except Exception as e2:
            rec.update(verdict="ort-fails", why=str(e2)[:400])
            return rec
    t2 = time.time()

    def moved():
        if "m" not in cache:
            cache["m"] = run_moved(args, case, weights_of(job["file"]), f"{tmp}/moved")
        return cache["m"]

    try:
        rec["longest_sum"] = longest = longest_sum(f"{case}/model.onnx")
        compare(args, rec, first, outputs, got, moved, longest)
        for d in rest:
            passmith(args, "run", f"{case}/model.onnx", "--device", d, "--inputs", case, "--save",
                     f"{tmp}/{d}", "--quiet", "--deadline", str(args.timeout))
            compare(args, rec, d, read_set(f"{tmp}/{d}", "output"), got, moved, longest)
    except (RuntimeError, subprocess.TimeoutExpired) as e:
        rec.update(verdict="unsupported", why=str(e)[:400])
        return rec
    order = ["differs", "ill-conditioned", "conditioning", "agrees", "degenerate"]
    rec["verdict"] = min((d["verdict"] for d in rec["devices"].values()), key=order.index)
    rec["seconds"] = {"passmith": round(t1 - t0, 2), "ort": round(t2 - t1, 2), "all": round(time.time() - t0, 2)}
    return rec


# ---- which models ----

def find_models(paths):
    for p in paths:
        if os.path.isdir(p):
            yield from (os.path.join(p, f) for f in sorted(os.listdir(p)) if f.endswith(".onnx"))
        else:
            yield p


def part_of(args, m):
    return m["flops"] > args.max_gflop * 1e9 or m["opaque_nodes"] > 0 or m["weights"]["bytes"] > args.max_gb * 1e9


def jobs_of(args):
    files = list(find_models(args.models))
    jobs = []
    for k in range(0, len(files), 100):
        for m in json.loads(passmith(args, "import", "--json", *files[k:k + 100]))["results"]:
            jobs.append({"file": m["file"], "gflop": round(m["flops"] / 1e9, 4), "part": part_of(args, m),
                         "cost": m["flops"] + 20 * m["weights"]["bytes"]})
    jobs.sort(key=lambda j: (j["part"], j["cost"], j["file"]))
    if args.pick:
        jobs = jobs[:args.pick]
    i, n = (int(x) for x in args.shard.split("/"))
    return jobs[i::n]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("models", nargs="+")
    ap.add_argument("--passmith", default=os.environ.get("BUILD", "build") + "/passmith")
    ap.add_argument("--device", default="ref", help="ref, emu or both, separated by a comma")
    ap.add_argument("--out", default="build/check_ort.jsonl", help="results, a line per model; resumed")
    ap.add_argument("--pick", type=int, default=0, help="only the N cheapest models (operations, and 20 for each byte of weights)")
    ap.add_argument("--shard", default="0/1", help="I/N: every N-th model from the I-th on")
    ap.add_argument("--max-gflop", type=float, default=20, help="larger models are compared in part")
    ap.add_argument("--max-gb", type=float, default=4, help="and those with more GB of weights")
    ap.add_argument("--part-gflop", type=float, default=2)
    ap.add_argument("--timeout", type=float, default=900, help="seconds for one run")
    ap.add_argument("--json", action="store_true", help="print the summary as JSON")
    args = ap.parse_args()
    args.device = args.device.split(",")
    done = {}
    if os.path.exists(args.out):
        with open(args.out) as f:
            done = {(r["file"], r["gflop"], ",".join(r["asked"])): r for r in map(json.loads, f)}
    with open(args.passmith, "rb") as f:
        binary = hashlib.sha256(f.read()).hexdigest()[:16]
    jobs, recs = jobs_of(args), []
    for k, job in enumerate(jobs):
        key = (os.path.basename(job["file"]), job["gflop"], ",".join(args.device))
        if key not in done:
            tmp = tempfile.mkdtemp(prefix="check_ort-")
            try:
                rec = check(args, job, tmp)
            finally:
                shutil.rmtree(tmp, ignore_errors=True)
            rec.update(asked=args.device, passmith=binary, onnxruntime=ort.__version__)
            with open(args.out, "a") as f:
                f.write(json.dumps(rec) + "\n")
            done[key] = rec
        r = done[key]
        recs.append(r)
        worst = max((o.get("nrms", 0) for d in r["devices"].values() for o in d["outputs"]), default=0)
        print(f"[{k + 1}/{len(jobs)}] {r['verdict']:15} {'part ' if r['part'] else 'whole'} nrms {worst:8.2g} "
              f"{r.get('seconds', {}).get('all', 0):6.1f} s  {r['file']}" + (f"  {r['why']}" if "why" in r else ""),
              file=sys.stderr, flush=True)
    counts = {}
    for r in recs:
        counts[r["verdict"]] = counts.get(r["verdict"], 0) + 1
    summary = {"models": len(recs), "verdicts": counts, "onnxruntime": ort.__version__, "onnx": onnx.__version__,
               "devices": args.device, "passmith": binary}
    if args.json:
        print(json.dumps(summary, indent=2))
    else:
        print(f"{len(recs)} models, " + ", ".join(f"{v} {k}" for k, v in sorted(counts.items())))
    return 1 if counts.get("differs") else 0


if __name__ == "__main__":
    sys.exit(main())
