#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fit_graphs.py - small graphs that tell the constants of the cost model apart, timed; and the fit, as one command.

    tools/bench/fit_graphs.py --device cuda --fit h100 -o measured.json     # on the GPU, at most 5 minutes
    tools/bench/fit_graphs.py --device emu --fit h200 -o measured.json      # the modelled clock in its place
    tools/bench/fit_graphs.py --list                                        # the graphs, and what each is for

Each graph becomes one kernel of `fuse`, or is a single operator that stays a library's call; others are left out, and
counted. Times are replays (`passmith time`), or on emu what `passmith apply` models, less the start of a run (start_us of the
target), which fusion does not count. The file has graphs and times:
tools/fit_cost.py fits what it holds, here or elsewhere. What times are drawn from is this list and no benchmark.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\nsubgraph '
TYPES = ("float", "float16")
OPS = ("Sigmoid", "Tanh", "Exp", "Sigmoid", "Tanh")


# Constants by the step of the fit that they belong to. A step holds those of the steps before it.
FREE = {
    "element-wise": ["launch_us", "copy_bytes_per_us", "work_per_us", "beside_share"],
    "rows": ["row_join_us", "row_turn_us", "overlap_share", "part_join_us", "serial_turn_us", "serial_long_turn_us",
             "look_us"],
    "library": [f"call_{k}" for k in ("ramp_flops", "short_terms", "f32_rise_us", "odd_rise_us", "row_us", "row_term_us", "f32_us", "f32_ramp_us", "f32_term_us", "f32_flops_per_us",
                                      "half_us", "half_term_us", "half_flops_per_us", "odd_us", "odd_term_us", "odd_flops_per_us",
                                      "image_f32_us", "image_f32_ramp_us", "image_f32_term_us", "image_f32_flops_per_us",
                                      "image_half_us", "image_half_term_us", "image_half_flops_per_us", "conv_f32_us",
                                      "conv_f32_ramp_us", "conv_f32_term_us", "conv_f32_flops_per_us", "conv_half_us",
                                      "conv_half_ramp_us", "conv_half_term_us", "conv_half_flops_per_us")] + [
        "scatter_wait_us", "scatter_step_us", "scatter_join_us", "scatter_sort_us"],
    "tiles": ["tile_wait_us", "tile_join_us", "tile_result_us", "tile_result_cycles", "tile_store_cycles", "mma_per_us",
              "fma_per_us", "load_cycles", "sm_cycles_per_us", "sm_load_bytes_per_cycle", "front_join_us", "front_piece_us",
              "front_half_piece_cycles", "front_half_read_cycles", "front_f32_piece_cycles", "front_f32_read_cycles",
              "front_image_piece_us", "front_image_f32_read_cycles", "front_image_half_read_cycles", "slice_bytes_per_us"],
}


def graph(name, what, ins, out, body):
    """what: the constants that it is there for."""
    args = ", ".join(f"{t}[{d}] {v}" for v, (t, d) in ins.items())
    return {"name": name, "for": what, "text": f"{HEAD}({args}) => ({out[0]}[{out[1]}] y)\n{{\n {body}\n}}\n"}


def element_wise():
    for t in TYPES:
        for n in ("1,64", "1,1024", "16,1024"):
            yield graph(f"tiny {t} {n}", ["launch_us"], {"x": (t, n), "z": (t, n)}, (t, n), "a = Add (x, z)\n y = Relu (a)")
        for rows in (256, 1024, 4096, 16384):
            d = f"{rows},4096"
            yield graph(f"sum {t} {d}", ["copy_bytes_per_us", "large_bytes"], {"x": (t, d), "z": (t, d)}, (t, d),
                        "a = Add (x, z)\n y = Relu (a)")
        for rows, ops in ((128, 5), (512, 4), (512, 5), (2048, 3), (2048, 5)):
            d = f"{rows},4096"
            body = "".join(f"{f'a{i}' if i + 1 < ops else 'y'} = {OPS[i]} ({f'a{i - 1}' if i else 'x'})\n " for i in range(ops))
            yield graph(f"chain {ops} {t} {d}", ["work_per_us", "beside_share"], {"x": (t, d)}, (t, d), body.strip())


def rows():
    for t in TYPES:
        for r, n in ((64, 64), (64, 512), (64, 2048), (64, 8192), (1024, 256), (4096, 1024), (4096, 4096), (4, 262144),
                     (8, 1048576)):
            d = f"{r},{n}"
            yield graph(f"softmax {t} {d}", ["row_join_us", "row_turn_us", "overlap_share", "part_join_us"],
                        {"x": (t, d), "m": (t, f"{n}")}, (t, d), "a = Add (x, m)\n y = Softmax <axis = 1> (a)")
            yield graph(f"mean {t} {d}", ["row_join_us", "row_turn_us", "part_join_us"], {"x": (t, d), "z": (t, d)},
                        (t, f"{r},1"), "a = Mul (x, z)\n y = ReduceMean <axes = [1]> (a)")
        for k in (2, 3, 5, 7):
            d = "8,64,56,56"
            out = f"8,64,{57 - k},{57 - k}"
            yield graph(f"pool {k} {t}", ["serial_turn_us", "serial_long_turn_us"], {"x": (t, d)}, (t, out),
                        f"a = Relu (x)\n y = MaxPool <kernel_shape = [{k}, {k}], strides = [1, 1], dilations = [1, 1], "
                        f"pads = [0, 0, 0, 0]> (a)")


        for n, k in ((256, 16), (1024, 64), (1024, 128)):
            yield graph(f"scatter and relu {t} {n} {k}", ["look_us"],
                        {"x": (t, f"{n},64"), "i": ("int64", f"{k},64"), "u": (t, f"{k},64")}, (t, f"{n},64"),
                        's = ScatterElements <axis = 0, reduction = "add"> (x, i, u)\n y = Relu (s)')


def scatters():
    for t in TYPES:
        # The largest are sorted.
        for n, k in ((4096, 16), (4096, 64), (4096, 128), (4096, 512), (4096, 1024), (65536, 4096)):
            ins = {"x": (t, f"{n},64"), "i": ("int64", f"{k},64"), "u": (t, f"{k},64")}
            for how, names in (("add", ["scatter_wait_us", "scatter_step_us", "scatter_join_us"]), ("none", ["scatter_wait_us"])):
                yield graph(f"scatter {how} {t} {n} {k}", [*names, "scatter_sort_us"], ins, (t, f"{n},64"),
                            f'y = ScatterElements <axis = 0, reduction = "{how}"> (x, i, u)')


def products():
    shapes = ((16, 64, 64), (64, 256, 256), (128, 768, 768), (512, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096),
              (64, 256, 4096), (16, 64, 16384), (197, 197, 768), (1, 1024, 1024), (1, 256, 4096))
    for t in TYPES:
        kind = "f32" if t == "float" else "half"
        for m, n, k in shapes:
            odd = t != "float" and (n % 8 or k % 8)
            call = "row" if m == 1 else "odd" if odd else kind
            yield graph(f"product {t} {m} {n} {k}", [f"call_{call}_us", f"call_{call}_term_us"] + [f"call_{call}_flops_per_us"] * (m > 1),
                        {"a": (t, f"{m},{k}"), "b": (t, f"{k},{n}")}, (t, f"{m},{n}"), "y = MatMul (a, b)")
        for m, n, k in ((16, 64, 64), (64, 128, 256), (64, 512, 512), (128, 256, 1024), (32, 256, 4096), (197, 768, 768)):
            yield graph(f"product and gelu {t} {m} {n} {k}", ["tile_wait_us", "tile_join_us", "mma_per_us", "fma_per_us"],
                        {"a": (t, f"{m},{k}"), "b": (t, f"{k},{n}"), "c": (t, f"{n}")}, (t, f"{m},{n}"),
                        "p = MatMul (a, b)\n q = Add (p, c)\n y = Gelu (q)")
            yield graph(f"product and softmax {t} {m} {n} {k}", ["front_join_us", "front_piece_us", "slice_bytes_per_us"],
                        {"a": (t, f"{m},{k}"), "b": (t, f"{k},{n}"), "c": (t, f"{n}")}, (t, f"{m},{n}"),
                        "p = MatMul (a, b)\n q = Add (p, c)\n y = Softmax <axis = 1> (q)")
        for c, f, h, k in ((64, 64, 28, 1), (256, 256, 14, 1), (1024, 256, 28, 1), (64, 64, 56, 3), (256, 256, 14, 3),
                           (512, 512, 28, 3)):
            p = k // 2
            yield graph(f"conv {k} {t} {c} {f} {h}", [f"call_{'image' if k == 1 else 'conv'}_{kind}_us"],
                        {"x": (t, f"1,{c},{h},{h}"), "w": (t, f"{f},{c},{k},{k}")}, (t, f"1,{f},{h},{h}"),
                        f"y = Conv <strides = [1, 1], dilations = [1, 1], pads = [{p}, {p}, {p}, {p}]> (x, w)")
        images = ["front_image_piece_us", f"front_image_{kind}_read_cycles"]
        for c, f, h in ((64, 64, 7), (256, 128, 7), (256, 128, 14)):
            yield graph(f"conv and mean {t} {c} {f} {h}", images,
                        {"x": (t, f"1,{c},{h},{h}"), "w": (t, f"{f},{c},3,3")}, (t, f"1,{f},1,1"),
                        "p = Conv <strides = [1, 1], dilations = [1, 1], pads = [1, 1, 1, 1]> (x, w)\n"
                        " q = Relu (p)\n y = ReduceMean <axes = [2, 3]> (q)")
        # Windows that do not overlap, of few channels.
        for f, h, k in ((32, 32, 4), (192, 112, 16), (384, 224, 16), (64, 112, 7)):
            out = h // k
            yield graph(f"patches and gelu {t} {f} {h} {k}", images,
                        {"x": (t, f"1,3,{h},{h}"), "w": (t, f"{f},3,{k},{k}")}, (t, f"1,{f},{out},{out}"),
                        f"p = Conv <strides = [{k}, {k}], dilations = [1, 1], pads = [0, 0, 0, 0]> (x, w)\n y = Gelu (p)")


def graphs():
    out = []
    for part, step in ((element_wise, "element-wise"), (rows, "rows"), (scatters, "library"), (products, None)):
        for g in part():
            g["step"] = step
            out.append(g)
    return out


def step_of(g):
    """Of a product: what it became decides."""
    return g["step"] or ("tiles" if g["fused"] else "library")


# ---- times ----

def ask(passmith, *args):
    r = subprocess.run([passmith, *args, "--json"], capture_output=True, text=True, check=False)
    try:
        return json.loads(r.stdout)
    except ValueError:
        sys.exit(f"passmith {' '.join(args)} ended with {r.returncode} and gave no JSON: {r.stderr.strip()}")


def kind_of(j):
    """What the answer of `apply` says: fused into one kernel, alone, or None."""
    if j.get("applied") == 1 and j.get("nodes_after") == 1:
        return True
    return False if j.get("applied") == 0 and j.get("nodes_before") == 1 else None


def start_us(args):
    """What a run takes before it launches anything."""
    return next(t for t in ask(args.passmith, "doctor", "--targets")["targets"] if t["name"] == args.target)["costs"]["start_us"]


def measure(args, folder):
    """Graphs with "us" and "fused"; the number of those left out."""
    kept, left = [], 0
    for i, g in enumerate(g for g in graphs() if not args.step or g["step"] in args.step or (not g["step"] and set(
            args.step) & {"library", "tiles"})):
        g["path"] = os.path.join(folder, f"g{i:03}.gpt")
        with open(g["path"], "w", encoding="utf-8") as f:
            f.write(g["text"])
        j = ask(args.passmith, "apply", g["path"], "--pass", args.fuse, "--target", args.target, "-o",
                os.path.join(folder, "out.gpt"))
        g["fused"] = kind_of(j)
        if g["fused"] is None:
            left += 1
            continue
        g["step"] = step_of(g)
        g["us"] = 1e6 * j["modelled_seconds_after" if g["fused"] else "modelled_seconds_before"]
        kept.append(g)
    if args.device == "cuda":
        kept = time_on_gpu(args, kept)
    return kept, left


def time_on_gpu(args, kept):
    j = ask(args.passmith, "time", *[g["path"] for g in kept], "--pass", args.fuse, "--target", args.target,
            "--seconds", "200", "--blocks", "4")
    by_path = {r["target"]: r for r in j.get("records", [])}
    out = []
    for g in kept:
        times = by_path.get(g["path"], {}).get("times", {})
        way = next((w for n, w in times.items() if (n != "passmith eager") == g["fused"]), None)
        seconds = way and way["replay"].get("seconds")
        if seconds:
            g["us"] = 1e6 * seconds
            out.append(g)
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--list", action="store_true", help="print the graphs, and end")
    p.add_argument("--device", choices=("emu", "cuda"), default="emu")
    p.add_argument("--target", default="h200", help="that kernels are written for, and that the fit begins with")
    p.add_argument("--step", action="append", choices=sorted(FREE), help="the graphs of this step alone; several add up")
    p.add_argument("--fit", metavar="NAME", help="then fit, and write NAME.def.costs beside the times")
    p.add_argument("--passmith", default="build/passmith")
    p.add_argument("--fuse", default="build/passes/fuse.so")
    p.add_argument("-o", dest="out", metavar="FILE", help="where the times go")
    args = p.parse_args()
    if args.list:
        for g in graphs():
            print(f"{g['name']:44} {' '.join(g['for'])}")
        return
    if not args.out:
        p.error("give -o FILE")
    with tempfile.TemporaryDirectory() as folder:
        kept, left = measure(args, folder)
    start = start_us(args)
    for g in kept:
        del g["path"]
        g["us"] -= start
    record = {"kind": "cost model", "device": args.device, "target": args.target, "clock": "replay" if args.device == "cuda" else
              "modelled", "date": datetime.date.today().isoformat(), "start_us": start, "left_out": left, "free": FREE,
              "graphs": kept}
    with open(args.out, "w", encoding="utf-8") as f:
        json.dump(record, f, indent=1)
        f.write("\n")
    print(f"{len(kept)} graphs timed on {args.device}, {left} left out: several kernels, or several operators that stay apart")
    if args.fit:
        tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fit_cost.py")
        sys.exit(subprocess.run([sys.executable, tool, args.out, "--passmith", args.passmith, "--fuse", args.fuse, "-o",
                                 os.path.join(os.path.dirname(args.out), f"{args.fit}.def.costs")], check=False).returncode)


if __name__ == "__main__":
    main()
