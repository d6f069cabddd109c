#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""large_graphs.py write FOLDER | report TIMES.json.. | keep FILE TIMES.json.. - how near fused kernels over 50 MB of traffic come to a copy.

write: graphs of element-wise chains, movement, reductions and norms, large enough that memory decides, in three types,
and for each a plain copy that moves as many bytes. report: reads what `passmith time` wrote for them and prints, for
each, bytes (every input and output once), microseconds with cold caches, and the share of its copy's bandwidth. keep: writes
that as FILE, what docs/results/large-tensors.md is made of, but for its commit. Of two times of a graph the last file's counts.

    tools/bench/large_graphs.py write build/large
    passmith time build/large/*.gpt --pass build/passes/fuse.so --blocks 6 -o times.json
    tools/bench/large_graphs.py report times.json
    tools/bench/large_graphs.py keep docs/results/h200_large.json times.json
"""
import datetime
import json
import os
import re
import statistics
import sys

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\nsubgraph '

# name, inputs, output, body; # is the element type. The first letter of a name's group: e(lement-wise), r(eduction, norm).
GRAPHS = [
    ("e.silu_mul", {"x": "2304,4096", "g": "2304,4096"}, {"y": "2304,4096"},
     "s = Sigmoid (x)\n a = Mul (x, s)\n y = Mul (a, g)"),
    ("e.bias_gelu", {"x": "4096,4096", "b": "4096"}, {"y": "4096,4096"}, "a = Add (x, b)\n y = Gelu (a)"),
    ("e.scale_residual", {"x": "2304,4096", "s": "4096", "r": "2304,4096"}, {"y": "2304,4096"},
     "a = Mul (x, s)\n y = Add (a, r)"),
    ("e.batch_norm_relu", {"x": "20,256,56,56", "s": "256", "b": "256", "m": "256", "v": "256"},
     {"y": "20,256,56,56"}, "a = BatchNormalization (x, s, b, m, v)\n y = Relu (a)"),
    ("e.batch_norm_add_relu", {"x": "20,256,56,56", "s": "256", "b": "256", "m": "256", "v": "256", "r": "20,256,56,56"},
     {"y": "20,256,56,56"}, "a = BatchNormalization (x, s, b, m, v)\n c = Add (a, r)\n y = Relu (c)"),
    ("e.gate", {"x": "20,256,56,56", "g": "20,256,1,1", "r": "20,256,56,56"}, {"y": "20,256,56,56"},
     "s = Sigmoid (g)\n a = Mul (x, s)\n y = Add (a, r)"),
    ("e.bias_transpose", {"x": "20,56,56,256", "b": "256"}, {"y": "20,256,56,56"},
     "a = Add (x, b)\n y = Transpose <perm = [0, 3, 1, 2]> (a)"),
    ("e.bias_heads", {"x": "32,512,16,64", "b": "16,64"}, {"y": "32,16,512,64"},
     "a = Add (x, b)\n y = Transpose <perm = [0, 2, 1, 3]> (a)"),
    ("e.concat_relu", {"x": "20,128,56,56", "z": "20,128,56,56"}, {"y": "20,256,56,56"},
     "a = Concat <axis = 1> (x, z)\n y = Relu (a)"),
    ("e.sum_two_outputs", {"x": "2048,4096", "z": "2048,4096"}, {"y": "2048,4096", "w": "2048,4096"},
     "y = Add (x, z)\n w = Tanh (y)"),
    ("r.add_layer_norm_768", {"x": "12288,768", "z": "12288,768", "s": "768", "b": "768"}, {"y": "12288,768"},
     "a = Add (x, z)\n y = LayerNormalization <axis = 1> (a, s, b)"),
    ("r.add_layer_norm_4096", {"x": "2304,4096", "z": "2304,4096", "s": "4096", "b": "4096"}, {"y": "2304,4096"},
     "a = Add (x, z)\n y = LayerNormalization <axis = 1> (a, s, b)"),
    ("r.mask_softmax", {"x": "6,12,512,512", "m": "6,1,1,512"}, {"y": "6,12,512,512"},
     "a = Add (x, m)\n y = Softmax <axis = 3> (a)"),
    ("r.silu_mean_planes", {"x": "72,512,28,28"}, {"y": "72,512,1,1"},
     "s = Sigmoid (x)\n a = Mul (x, s)\n y = ReduceMean <axes = [2, 3]> (a)"),
    ("r.mul_sum_rows", {"x": "3584,4096", "z": "3584,4096"}, {"y": "3584,1"},
     "a = Mul (x, z)\n y = ReduceSum <axes = [1]> (a)"),
    ("r.mul_sum_columns", {"x": "3584,4096", "z": "3584,4096"}, {"y": "4096"},
     "a = Mul (x, z)\n y = ReduceSum <axes = [0], keepdims = 0> (a)"),
    ("r.mean_tokens", {"x": "96,197,768", "z": "96,197,768"}, {"y": "96,768"},
     "a = Add (x, z)\n y = ReduceMean <axes = [1], keepdims = 0> (a)"),
    ("r.group_norm_silu", {"x": "14,320,64,64", "s": "320", "b": "320"}, {"y": "14,320,64,64"},
     "a = GroupNormalization <num_groups = 32> (x, s, b)\n g = Sigmoid (a)\n y = Mul (a, g)"),
    ("r.instance_norm_relu", {"x": "16,64,128,128", "s": "64", "b": "64"}, {"y": "16,64,128,128"},
     "a = InstanceNormalization (x, s, b)\n y = Relu (a)"),
]
COPY = "copy."  # of the graph whose name follows
SIZE = {"float": 4, "float16": 2, "bfloat16": 2}


def elements(dims):
    n = 1
    for d in dims.split(","):
        n *= int(d)
    return n


def places(graph):
    """Elements that a graph has to read and to write."""
    return sum(elements(d) for part in (graph[1], graph[2]) for d in part.values())


def text(t, ins, outs, body):
    args = ", ".join(f"{t}[{d}] {v}" for v, d in ins.items())
    results = ", ".join(f"{t}[{d}] {v}" for v, d in outs.items())
    return f"{HEAD}({args}) => ({results})\n{{\n {body}\n}}\n"


def write(folder):
    os.makedirs(folder, exist_ok=True)
    for graph in GRAPHS:
        name, ins, outs, body = graph
        half = str(places(graph) // 2)
        for t in SIZE:
            with open(os.path.join(folder, f"{name}.{t}.gpt"), "w") as f:
                f.write(text(t, ins, outs, body))
            with open(os.path.join(folder, f"{COPY}{name}.{t}.gpt"), "w") as f:
                f.write(text(t, {"x": half}, {"y": half}, "y = Identity (x)"))


def read(paths):
    """By name and type: seconds with cold caches, of the eager run, and whether the pass changed the graph; and where."""
    found, device = {}, None
    for path in paths:
        with open(path) as f:
            j = json.load(f)
        device = j["device"]
        for r in j["records"]:
            m = re.search(r"([a-z0-9_.]+)\.(float16|bfloat16|float)\.gpt$", r["target"])
            way = next((w for n, w in r.get("times", {}).items() if n != "passmith eager"), None)
            if not m or not way:
                sys.exit(f"{path}: the record of {r['target']} has no times of a pass, or is not of large_graphs.py: "
                         f"{r.get('error', 'time it with --pass')}")
            found[m.groups()] = way["cold"]["seconds"], r["times"]["passmith eager"]["cold"]["seconds"], way["changed"]
    return found, device


def rows_of(found):
    """Name, type, bytes, seconds, those of the eager run, whether it was rewritten, seconds of a copy of as many bytes."""
    return [(graph[0], t, places(graph) * SIZE[t], *found[graph[0], t], found[COPY + graph[0], t][0])
            for graph in GRAPHS for t in SIZE if (graph[0], t) in found and (COPY + graph[0], t) in found]


def keep(path, paths):
    found, device = read(paths)
    rows = [[name, t, round(size / 1e6, 1), round(1e6 * s, 2), round(1e6 * eager, 2), round(1e6 * copy, 2)]
            for name, t, size, s, eager, _, copy in rows_of(found)]
    head = {"device": device, "date": datetime.date.today().isoformat(), "commit": "",
            "columns": "graph, type, MB, us, us of the eager run, us of a copy of as many bytes"}
    with open(path, "w") as f:
        f.write("{\n" + "".join(f' "{k}": {json.dumps(v)},\n' for k, v in head.items()) + ' "graphs": [\n  ' +
                ",\n  ".join(json.dumps(r) for r in rows) + "\n ]\n}\n")


def report(paths):
    rows = rows_of(read(paths)[0])
    for name, t, size, seconds, eager, changed, copy in rows:
        print(f"{name:24} {t:8} {size / 1e6:7.0f} MB {seconds * 1e6:8.1f} us, its copy {copy * 1e6:8.1f} us "
              f"({size / copy / 1e12:.2f} TB/s) {100 * copy / seconds:5.0f} %   eager {eager * 1e6:8.1f} us"
              f"{'' if changed else '   declined'}")
    for group, what in (("e.", "element-wise and movement"), ("r.", "reductions and norms")):
        shares = [copy / seconds for name, _, _, seconds, _, _, copy in rows if name.startswith(group)]
        if shares:
            print(f"{what}: median {100 * statistics.median(shares):.0f} % of the copy, lowest {100 * min(shares):.0f} %, "
                  f"{len(shares)} kernels")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "write":
        write(sys.argv[2])
    elif len(sys.argv) >= 3 and sys.argv[1] == "report":
        report(sys.argv[2:])
    elif len(sys.argv) >= 4 and sys.argv[1] == "keep":
        keep(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(__doc__)
