#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fit_calls.py - how well the constants of library calls (call_* of a target) foretell plain runs, and what these runs say of them.

    tools/fit_calls.py docs/results/h200_products.json docs/results/h200_long_sums.json
    tools/fit_calls.py docs/results/h200_products.json docs/results/modelled_times.json

A file has graphs with times of their plain run (eager_us; without start_us, but for a file of modelled times). Those count that have one product or
one convolution of 1 by 1. What the others take is the modelled time of the run less that of the call, so that only the call is judged here.
The formula of a call stands in include/passmith/target.h and docs/reference/modelled-times.md; tests/unit/runtime/test_library_time.c holds
the engine to it, and `kinds` here repeats it for constants that no target has.

Graphs of a file of modelled times that its tool leaves out of fits are left out here, too.

For each kind: graphs, the mean ratio of modelled and measured times, the share within 1.3, and the same with the constants that fit best (least
squares of logarithms, none with more weight than a ratio of 1.5). Nothing is written: a person decides what becomes a constant.
"""
import argparse
import concurrent.futures
import json
import math
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench"))

import fit_cost  # noqa: E402  the constants of a target
import modelled  # noqa: E402  plain runs

FEWEST = 8  # graphs of a kind that is fitted
CALLS = ("MatMul", "Gemm", "Einsum", "Conv", "ConvTranspose")
PARTS = ("us", "ramp_us", "rise_us", "term_us", "flops_per_us")


def product(sizes, start=1):
    for n in sizes:
        start *= n
    return start


class Call:
    """The one call of a graph: its kind, terms, operations and bytes; kind None where there are others, or it is none of the kinds. hides: a
    launch behind it begins while it runs."""

    def __init__(self, text):
        self.kind = None
        body = text[text.rindex("{"):]
        nodes = re.findall(r"\b\w+(?:, \w+)* = (\w+) ?[<(]", body)
        self.hides = len(nodes) > 1 and nodes[0] in CALLS
        values = {n: (t, [int(d) for d in dims.split(",")]) for t, dims, n in re.findall(r"(\w+)\[([\d,]+)\] (\w+)", text)}
        found = re.search(r"= (MatMul|Gemm|Conv) ?(?:<([^>]*)>)? ?\((\w+), (\w+)", body)
        if sum(n in CALLS for n in nodes) != 1 or not found or found[3] not in values or found[4] not in values:
            return
        how, (dtype, x), (_, w) = found[2] or "", values[found[3]], values[found[4]]
        half, size = dtype != "float", 4 if dtype == "float" else 2
        if found[1] == "Conv":
            self.convolution(how, x, w, half, size)
        elif len(x) > 1 and len(w) > 1:
            self.matrices(how, x, w, half, size)

    def matrices(self, how, x, w, half, size):
        m, self.terms = (x[-1], x[-2]) if "transA = 1" in how else (x[-2], x[-1])
        n = w[-2] if "transB = 1" in how else w[-1]
        batch, shared = product(x[:-2]), product(w[:-2]) == 1
        m, batch = (m * batch, 1) if shared else (m, batch)
        self.operations = 2.0 * batch * m * n * self.terms
        self.bytes = size * (product(x) + product(w) + batch * m * n)
        odd = half and (n % 8 or self.terms % 8)
        self.kind = "row" if 1 in (m, n) or self.terms <= 2 else "odd" if odd else "half" if half else "f32"

    def convolution(self, how, x, w, half, size):
        steps = [int(s) for s in (re.search(r"strides = \[([\d, ]+)\]", how) or ["", "1"])[1].split(",")]
        if product(w[2:]) > 1 or w[1] != x[1]:
            return
        places = product((d - 1) // s + 1 for d, s in zip(x[2:], steps * len(x)))
        self.terms, self.operations = w[1], 2.0 * x[0] * places * w[0] * w[1]
        self.bytes = size * (x[0] * places * (w[0] + w[1]) + product(w))
        self.kind = "row" if x[0] * places == 1 else "image_f32" if not half else "uneven" if places % 8 and places > 1 else "image_half"


def far(kind):
    """The constant by which long sums of a kind are cheaper; None: there is none."""
    return {"row": "call_row_long_terms", "odd": "call_long_terms", "f32": "call_long_terms", "half": "call_long_terms"}.get(kind)


def kinds(call, c):
    """Microseconds of a call by constants c, named as those of a target; without a bias, which takes the same by all of them."""
    k = {part: c.get(f"call_{call.kind}_{part}", 0) for part in PARTS}
    bend = call.terms / c[far(call.kind)] if far(call.kind) else 0
    return (k["us"] + k["ramp_us"] * call.operations / (call.operations + c["call_ramp_flops"]) +
            k["rise_us"] * call.terms / (call.terms + c["call_short_terms"]) + k["term_us"] * call.terms / (1 + bend) +
            (call.operations / k["flops_per_us"] if k["flops_per_us"] else 0) + call.bytes / c["copy_bytes_per_us"])


def begun(call, c):
    """A call and what begins the launches behind it, as far as the call does not hide that."""
    us = kinds(call, c)
    return us + (max(0, c["several_us"] - max(0, us - c["launch_us"])) if call.hides else 0)


def off(rows, c):
    """Logarithms of modelled over measured."""
    return [math.log((others + begun(call, c)) / us) for call, others, us in rows]


def loss(rows, c):
    most = math.log(1.5)
    return sum(x * x if abs(x) < most else most * (2 * abs(x) - most) for x in off(rows, c))


def fitted(rows, c, kind):
    """c with the constants of a kind changed one by one, by less and less, while that makes the loss smaller."""
    names = [n for n in [f"call_{kind}_{part}" for part in PARTS] + [far(kind)] if n in c]
    best, least, step = dict(c), loss(rows, c), 0.5
    while step > 0.005:
        moved = False
        for name in names:
            for factor in (1 + step, 1 / (1 + step)):
                now = {**best, name: best[name] * factor}
                if loss(rows, now) < least - 1e-9:
                    best, least, moved = now, loss(rows, now), True
        step = step if moved else step / 2
    return best, names


def told(rows, c):
    r = off(rows, c)
    return f"ratio {math.exp(sum(r) / len(r)):.2f} in the mean, within 1.3 {100 * sum(abs(x) <= math.log(1.3) for x in r) / len(r):.0f} %"


def plain_us(o, folder, at, text):
    """Modelled microseconds of a graph's plain run."""
    path = os.path.join(folder, f"{at}.gpt")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    us = modelled.plain(o, path)[0]
    if us is None:
        sys.exit(f"fit_calls: graph {at} of the files has no modelled time; passmith apply says why, of this text: {text}")
    return us


def read(path):
    """A file with graphs; a sentence and the end where it is none."""
    try:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
    except (OSError, ValueError) as e:
        sys.exit(f"fit_calls: {path} cannot be read as JSON ({e}); give a file like docs/results/h200_long_sums.json")
    if not isinstance(data, dict) or "graphs" not in data:
        sys.exit(f"fit_calls: {path} has no graphs; give a file like docs/results/h200_long_sums.json")
    return data


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("files", nargs="+")
    p.add_argument("--target", default="h200")
    p.add_argument("--passmith", default=os.path.join(root, "build", "passmith"))
    p.add_argument("--pass", dest="fuse", default=os.path.join(root, "build", "passes", "fuse.so"))
    o = p.parse_args()
    known, by_kind = fit_cost.constants_of(o, o.target), {}
    graphs = []
    for path in o.files:
        data = read(path)
        is_whole = data.get("kind") == "modelled times"
        graphs += [(Call(g["text"]), dict(g, eager_us=g["eager_us"] - is_whole * known["start_us"], left_out=is_whole and modelled.is_left_out(g)))
                   for g in data["graphs"] if g.get("eager_us")]
    graphs = [(c, g) for c, g in graphs if c.kind]
    if not graphs:
        sys.exit("fit_calls: no graph of these files has one product or one convolution of 1 by 1, and a time of its plain run (eager_us)")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(lambda at: plain_us(o, folder, at, graphs[at][1]["text"]), range(len(graphs))))
    for (call, g), us in zip(graphs, runs):
        by_kind.setdefault(call.kind, ([], []))[g["left_out"]].append((call, us - begun(call, known) - known["start_us"], g["eager_us"]))
    for kind, (rows, left_out) in sorted(by_kind.items()):
        print(f"{kind:10} {len(rows):4} graphs, {told(rows, known)}")
        if left_out:
            print(f"{'':10} {len(left_out):4} left out, {told(left_out, known)}")
        if len(rows) < FEWEST:
            continue
        best, names = fitted(rows, known, kind)
        print(f"{'':10} fitted:      {told(rows, best)}: " + ", ".join(f"{n} {known[n]:g} -> {best[n]:.3g}" for n in names))


if __name__ == "__main__":
    main()
