#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_ort_library.py - rewritten models in ONNX Runtime with libpassmith_ort and without it.

    tools/check/check_ort_library.py MODEL|FOLDER... --pass PASS.so [--pick N] [--out results.jsonl] [--probe PROBE.so]

For each model passmith rewrites it and compiles its kernels (`apply --ort-kernels`); weights that are missing are
filled in. ONNX Runtime (CPU, one thread) then runs the rewritten model twice on equal inputs: as it is, which runs the
bodies of the functions, and with the library registered, which runs the kernels. The library counts its launches: with
it there must be one for each kernel at least, without it none. Outputs are compared as check_rewritten.py does. Where that
fails, every input and weight is moved by one unit in its last place, and the bodies run again: the difference may be 16
times what that does, the second rule of check_ort.py (conditioning; ill-conditioned: it does too much to say anything).
Where that fails too, the bodies may be what is wrong: ONNX Runtime sums long rows in float. Then passmith's reference in
double precision runs the original model, and the kernels must be within the bound of that (agrees-ref).

--probe also loads tests/ort/ort_probe.c, which calls each function of ort/api.h and sees what it does.

Kernels of a pass that takes products in run for long on a CPU: a model of more than --max-gflop is rewritten with the
passes of --large instead, whose products stay ONNX Runtime's, where one of them applies.

Verdicts are those of check_rewritten.py; also: unmoved (the kernels did not run, or ran without the library), slow (none
of --large applies, and it has more than ten times --max-gflop: it is loaded with the library and not run) and large
(more than --max-gb). Results are JSON
lines; a model whose line is there already is not run again. Exit status 0: nothing is wrong, and kernels have run.

--time N instead compares times: N rounds of the original model and the rewritten one without the library, one after
the other, each the processor time of one call; the ratio of a model is the median of its rounds' ratios.
"""
import argparse
import ctypes
import os
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_rewritten as rewritten  # noqa: E402  (says what to install)
from check_rewritten import check_ort, np, onnx, ort  # noqa: E402

KEY = "passmith.kernels"


def session(path, kernels, library, plain):
    o = ort.SessionOptions()
    o.intra_op_num_threads = o.inter_op_num_threads = 1
    o.log_severity_level = 4
    if plain:
        o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    if kernels:
        o.add_session_config_entry(KEY, kernels)
        o.register_custom_ops_library(library)
    return ort.InferenceSession(path, o, providers=["CPUExecutionProvider"])


class Library:
    """The library, loaded once more to ask it what it did."""

    def __init__(self, path):
        self.path = path
        self.asked = ctypes.CDLL(path)
        self.asked.passmith_ort_launches.restype = ctypes.c_ulonglong

    def run(self, model, kernels, feed, plain):
        """(outputs, launches)"""
        before = self.asked.passmith_ort_launches()
        s = session(model, kernels, self.path, plain)
        out = {o.name: v for o, v in zip(s.get_outputs(), s.run(None, feed))}
        return out, self.asked.passmith_ort_launches() - before


def probe(path):
    """Every function of ort/api.h stands where it says, or this is an exception that names one."""
    h = onnx.helper
    values = [h.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2, 3]) for n in "xy"]
    node = h.make_node("Probe", ["x"], ["y"], domain="passmith.probe")
    m = h.make_model(h.make_graph([node], "probe", values[:1], values[1:]), ir_version=8,
                     opset_imports=[h.make_opsetid("", 18), h.make_opsetid("passmith.probe", 1)])
    o = ort.SessionOptions()
    o.add_session_config_entry("passmith.probe", "found")
    o.register_custom_ops_library(path)
    s = ort.InferenceSession(m.SerializeToString(), o, providers=["CPUExecutionProvider"])
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    if not np.array_equal(s.run(None, {"x": x})[0], 2 * x):
        raise RuntimeError("the probe gives something else than twice its operand")


def refusals(library, tmp):
    """What ONNX Runtime shows of a file that is missing, damaged or not named."""
    bad = os.path.join(tmp, "bad.kernels")
    with open(bad, "wb") as f:
        f.write(b"PSMORT\r\n" + bytes(100))
    for entry, words in ((os.path.join(tmp, "none"), "cannot be read"), (bad, "cannot be used as a file of kernels"),
                         (None, "does not know which kernels to run")):
        o = ort.SessionOptions()
        if entry:
            o.add_session_config_entry(KEY, entry)
        try:
            o.register_custom_ops_library(library.path)
        except Exception as e:
            if words in str(e):
                continue
            raise RuntimeError(f"'{e}' does not say '{words}'") from e
        raise RuntimeError(f"ONNX Runtime takes what {words}")


def kernel_nodes(path):
    return sum(n.domain == "passmith" for n in onnx.load(path, load_external_data=False).graph.node)


def prepare(args, passes, file, tmp, kernels):
    """Rewritten model and original with all weights; False when no rule applied."""
    original, out, full = f"{tmp}/original.onnx", f"{tmp}/rewritten.onnx", f"{tmp}/full.onnx"
    if not file.endswith(".onnx"):
        rewritten.passmith(args, "import", file, "-o", f"{tmp}/model.onnx", "--quiet")
        file = f"{tmp}/model.onnx"
    if check_ort.free_random(file, original) == file:
        shutil.copy(file, original)
    words = [w for p in passes for w in ("--pass", p)] + (["--ort-kernels", kernels] if kernels else [])
    if rewritten.passmith(args, "apply", original, *words, "-o", out, "--quiet", ok=(0, 1)).returncode:
        return False
    rewritten.passmith(args, "materialize", original, "-o", full)
    rewritten.take_weights(out, full)
    return True


def check(args, library, file, about, tmp):
    rec = {"file": os.path.basename(file)}
    out, full, kernels = f"{tmp}/rewritten.onnx", f"{tmp}/full.onnx", f"{tmp}/model.kernels"
    if about["weights"]["bytes"] > args.max_gb * 1e9:
        return {**rec, "verdict": "large"}
    rec["large"] = about["flops"] > args.max_gflop * 1e9
    if not (rec["large"] and args.large and prepare(args, args.large, file, tmp, kernels)):
        if not prepare(args, args.passes, file, tmp, kernels):
            return {**rec, "verdict": "unchanged"}
        rec["slow"] = about["flops"] > 10 * args.max_gflop * 1e9
    rec["kernels"] = kernel_nodes(out)
    try:
        session(full, None, None, False)
    except Exception as e:
        return {**rec, "verdict": "original-fails", "why": f"{type(e).__name__}: {e}"[:300]}
    if rec.get("slow"):
        session(out, kernels, library.path, False)
        return {**rec, "verdict": "slow"}
    feed = rewritten.inputs_of(full)
    longest = check_ort.longest_sum(full)
    for plain in (False, True):
        bodies, none = library.run(out, None, feed, plain)
        got, rec["launches"] = library.run(out, kernels, feed, plain)
        rec["verdict"], rec["nrms"], rec["bound"] = rewritten.compare(bodies, got, longest)
        if none or rec["launches"] < rec["kernels"]:
            rec["verdict"] = "unmoved"
        if rec["verdict"] != "differs":
            if plain and rec["verdict"] != "unmoved":
                rec["verdict"] = "agrees-plain"
            break
    if rec["verdict"] == "differs":
        rec["verdict"] = by_conditioning(bodies, got, moved(library, out, feed, tmp))
    if rec["verdict"] == "differs":
        verdict, nrms, bound = rewritten.compare(reference(args, feed, tmp), got, longest)
        if verdict != "differs":
            rec.update(verdict="agrees-ref", bodies_nrms=rec["nrms"], nrms=nrms, bound=bound)
    return rec


def moved(library, out, feed, tmp):
    """What the bodies give for inputs and weights that are moved by one unit in their last place."""
    rng = np.random.default_rng(1)
    m = onnx.load(out)
    weights = check_ort.weights_of(f"{tmp}/original.onnx")
    for t in m.graph.initializer:
        if t.name in weights:  # other constants stay: a Resize's scales
            t.CopyFrom(check_ort.moved_tensor(t, rng))
    onnx.save(m, f"{tmp}/moved.onnx")
    feed = {k: check_ort.ulp_moved(v, v.dtype.name, rng) for k, v in feed.items()}
    return library.run(f"{tmp}/moved.onnx", None, feed, True)[0]


def by_conditioning(bodies, got, m):
    order = ["differs", "ill-conditioned", "conditioning"]
    found = [check_ort.judge_moved(got[n], r, m[n], r.dtype.name)[0] for n, r in bodies.items()
             if got[n].tobytes() != r.tobytes()]
    return min(found, key=order.index, default="differs")


def reference(args, feed, tmp):
    """What passmith's reference gives for the original model."""
    os.makedirs(f"{tmp}/in/test_data_set_0", exist_ok=True)
    for k, (name, v) in enumerate(feed.items()):
        with open(f"{tmp}/in/test_data_set_0/input_{k}.pb", "wb") as f:
            f.write(onnx.numpy_helper.from_array(v, name).SerializeToString())
    rewritten.passmith(args, "run", f"{tmp}/full.onnx", "--device", "ref", "--inputs", f"{tmp}/in/test_data_set_0",
                       "--save", f"{tmp}/ref", "--quiet")
    return {t.name: check_ort.value_of(t) for t in check_ort.read_set(f"{tmp}/ref", "output")}


def seconds(s, feed):
    t = time.process_time()
    s.run(None, feed)
    return time.process_time() - t


def measure(args, file, about, tmp):
    """Both models in turn; the first goes first in every other round."""
    rec = {"file": os.path.basename(file)}
    if about["weights"]["bytes"] > args.max_gb * 1e9 or about["flops"] > args.max_gflop * 1e9:
        return {**rec, "verdict": "large"}
    if not prepare(args, args.passes, file, tmp, None):
        return {**rec, "verdict": "unchanged"}
    feed = rewritten.inputs_of(f"{tmp}/full.onnx")
    try:
        both = [session(f"{tmp}/{m}.onnx", None, None, False) for m in ("full", "rewritten")]
    except Exception as e:
        return {**rec, "verdict": "original-fails", "why": f"{type(e).__name__}: {e}"[:300]}
    rounds = []
    for k in range(args.time + 1):
        t = [0.0, 0.0]
        n = 1 if not rounds else max(1, min(1000, int(0.02 / max(1e-6, rounds[0][0]))))
        for i in (0, 1) if k % 2 else (1, 0):
            t[i] = sum(seconds(both[i], feed) for _ in range(n)) / n
        rounds.append(t)
    ratios = [b / a for a, b in rounds[1:] if a > 0]
    return {**rec, "verdict": "timed", "ratio": statistics.median(ratios),
            "original_ms": 1e3 * statistics.median(a for a, _ in rounds[1:])}


def report(args, recs):
    counts = {}
    for r in recs:
        counts[r["verdict"]] = counts.get(r["verdict"], 0) + 1
    what = "times" if args.time else "library"
    print(f"check-ort: {what}: {len(recs)} models, " + ", ".join(f"{v} {k}" for k, v in sorted(counts.items())))
    if args.time:
        ratios = sorted(r["ratio"] for r in recs if r["verdict"] == "timed")
        if ratios:
            print(f"check-ort: times: rewritten over original, median of {len(ratios)} models "
                  f"{statistics.median(ratios):.3f}, from {ratios[0]:.3f} to {ratios[-1]:.3f}; onnxruntime {ort.__version__}")
        return not ratios or statistics.median(ratios) > 1.05
    good = (*rewritten.GOOD, "conditioning", "agrees-ref")
    worst = max((r for r in recs if r["verdict"] in good), key=lambda r: r["nrms"], default=None)
    print(f"check-ort: library: {sum(r.get('launches', 0) for r in recs)} launches of "
          f"{sum(r.get('kernels', 0) for r in recs)} kernels; onnxruntime {ort.__version__}")
    if worst:
        print(f"check-ort: library: the worst difference between kernels and bodies is {worst['nrms']:.2g} of the norm, in "
              f"{worst['file']}; the bound there is {worst['bound']:.2g} or more")
    return any(counts.get(v) for v in ("differs", "fails", "unmoved")) or not any(counts.get(v) for v in good)


def main():
    build = os.environ.get("BUILD", "build")
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("models", nargs="+")
    ap.add_argument("--pass", dest="passes", action="append", required=True, help="a pass (may be given several times)")
    ap.add_argument("--passmith", default=build + "/passmith")
    ap.add_argument("--library", default=build + "/libpassmith_ort.so")
    ap.add_argument("--probe", default="", help="the library of tests/ort/ort_probe.c")
    ap.add_argument("--out", default=build + "/check-ort-library.jsonl", help="results, a line per model; resumed")
    ap.add_argument("--pick", type=int, default=0, help="only N models, spread over the list")
    ap.add_argument("--large", action="append", default=[], help="a pass for models of more than --max-gflop")
    ap.add_argument("--max-gflop", type=float, default=1, help="larger models are rewritten with the passes of --large")
    ap.add_argument("--max-gb", type=float, default=1.5, help="those with more GB of weights are left out")
    ap.add_argument("--time", type=int, default=0, help="rounds of times; nothing is checked then")
    ap.add_argument("--timeout", type=float, default=900, help="seconds for one command")
    args = ap.parse_args()
    library = Library(os.path.abspath(args.library))
    if args.probe:
        probe(os.path.abspath(args.probe))
        with tempfile.TemporaryDirectory(prefix="check-ort-") as tmp:
            refusals(library, tmp)
        print(f"check-ort: library: every function of ort/api.h is where it says, in onnxruntime {ort.__version__}")
    found = [m for m in args.models if m.endswith(".gpt")]
    rest = [m for m in args.models if not m.endswith(".gpt")]
    files = rewritten.pick(found + (list(check_ort.find_models(rest)) if rest else []), args.pick)
    recs = rewritten.run_all(args, files,
                             lambda file, about, tmp: (measure(args, file, about, tmp) if args.time else
                                                       check(args, library, file, about, tmp)),
                             lambda r: (f"{r.get('kernels', 0):4} kernels {r.get('launches', 0):5} launches  nrms {r.get('nrms', 0):8.2g} "
                                        f"ratio {r.get('ratio', 0):6.3f}"))
    return 1 if report(args, recs) else 0


if __name__ == "__main__":
    sys.exit(main())
