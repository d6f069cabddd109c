#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fit_cost.py - fits the constants of a target's cost model to times, and says how well they foretell others.

    tools/fit_cost.py measured.json [more.json] [-o NAME.def.costs]
    tools/fit_cost.py --large docs/results/h200_large.json --check      # how the constants do that are there

A file is of tools/bench/fit_graphs.py: graphs, what each became, and microseconds. With --large it has the times of
tools/bench/large_graphs.py. What the engine expects of each graph comes from `passmith explain --trials`: it decides
with the target's own constants, and then says what the same kernels are expected to take under others. So no formula of
the engine stands here. Where a file also has times of the plain run (eager_us), it is told what the choice by the estimate costs.

A graph is LEFT OUT of the fit when the SHA-256 of its name, up to the first "/", begins with a byte below 64: a quarter. Types
of one graph stand behind the "/", on one side. The rule is fixed; ranks and ratios are printed for both parts, before and
after.

The fit goes by steps that the file names: element-wise graphs tell what a launch and a byte take, rows what is added by
them, and so on; a step holds the constants of the steps before it. Each takes steps of Levenberg and Marquardt on
logarithms of constants and times, each graph with the same weight and none with more than that of a ratio of 1.5.
Constants that decide and are in no time (longest_f32_flops, split_turns and the like), and shares that count bytes when a
kernel is planned (again_share and the like), cannot be fitted so. A constant
counts as identified when the times hold it (one standard deviation) to 25 % of itself, or of where it began; the others
keep their values and are not written.
"""
import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile

STEP = 0.01      # of a logarithm, for derivatives
MOST = 256       # trials of one call
IDENTIFIED = 0.25
LARGEST_WEIGHT = math.log(1.5)
BELIEF = math.log(3)   # one standard deviation of a constant of which no time says anything
PRIOR = 1e-4     # pull towards where the fit began: keeps what no time says anything of
STEPS = 20
FACTORS = (0.1, 1, 10, 100, 1000)   # of the damping, tried at once


def is_left_out(name):
    return hashlib.sha256(name.split("/")[0].encode()).digest()[0] < 64


# ---- the engine ----

class Engine:
    def __init__(self, args, target, graphs, folder):
        self.args, self.target, self.folder = args, target, folder
        self.paths = []
        for i, g in enumerate(graphs):
            path = os.path.join(folder, f"f{i:03}.gpt")
            with open(path, "w", encoding="utf-8") as f:
                f.write(g["text"])
            self.paths.append((path, g["fused"]))

    def one(self, path, fused, trials):
        r = subprocess.run([self.args.passmith, "explain", path, "--pass", self.args.fuse, "--target", self.target,
                            "--trials", trials, "--json"], capture_output=True, text=True, check=False)
        try:
            j = json.loads(r.stdout)
        except ValueError:
            sys.exit(f"passmith explain {path} ended with {r.returncode} and gave no JSON: {r.stderr.strip()}")
        if j["error"]:
            sys.exit(f"passmith explain {path}: {j['error']}")
        said = [e for e in j["results"][0]["expected"] if e["fused"] == fused]
        return said[0]["us"][1:] if said else None

    def ask(self, sets, only=None):
        """Microseconds of each graph (number in `only`) under each set of constants; None where the pass says nothing."""
        paths = [self.paths[i] for i in only] if only is not None else self.paths
        trials = os.path.join(self.folder, "trials.json")
        out = [[] for _ in paths]
        for at in range(0, len(sets), MOST):
            with open(trials, "w", encoding="utf-8") as f:
                json.dump(sets[at:at + MOST], f)
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                for row, us in zip(out, pool.map(lambda p: self.one(p[0], p[1], trials), paths)):
                    row += us or []
        return [row if len(row) == len(sets) else None for row in out]


def constants_of(args, target):
    j = json.loads(subprocess.run([args.passmith, "doctor", "--targets", "--json"], capture_output=True, text=True,
                                  check=False).stdout or "{}")
    for t in j.get("targets", []):
        if t["name"] == target:
            return t["costs"]
    return sys.exit(f"passmith knows no target {target}")


# ---- numbers ----

def solve(a, b):
    """x of a x = b, by elimination with pivots; a is changed."""
    n = len(b)
    for k in range(n):
        p = max(range(k, n), key=lambda r: abs(a[r][k]))
        a[k], a[p], b[k], b[p] = a[p], a[k], b[p], b[k]
        for r in range(k + 1, n):
            f = a[r][k] / a[k][k]
            if f:
                for c in range(k, n):
                    a[r][c] -= f * a[k][c]
                b[r] -= f * b[k]
    for k in reversed(range(n)):
        b[k] = (b[k] - sum(a[k][c] * b[c] for c in range(k + 1, n))) / a[k][k]
    return b


def ranks(v):
    order = sorted(range(len(v)), key=v.__getitem__)
    out = [0.0] * len(v)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and v[order[j + 1]] == v[order[i]]:
            j += 1
        for k in range(i, j + 1):
            out[order[k]] = (i + j) / 2
        i = j + 1
    return out


def rank_correlation(a, b):
    x, y = ranks(a), ranks(b)
    mx, my = sum(x) / len(x), sum(y) / len(y)
    num = sum((p - mx) * (q - my) for p, q in zip(x, y))
    den = math.sqrt(sum((p - mx) ** 2 for p in x) * sum((q - my) ** 2 for q in y))
    return num / den if den else math.nan


def summary(expected, measured):
    """How well: graphs, rank correlation, median and worst of the ratio (above 1), share within 1.3."""
    off = sorted(math.exp(abs(math.log(e / m))) for e, m in zip(expected, measured))
    return {"graphs": len(off), "rank": rank_correlation(expected, measured) if len(off) > 2 else math.nan,
            "median": off[len(off) // 2], "worst": off[-1], "within": sum(x <= 1.3 for x in off) / len(off)} if off else None


class Fit:
    """Constants as exp(p). `free` are those of the step that is fitted, `rows` its graphs that are not left out."""

    def __init__(self, engine, start, graphs):
        self.engine, self.start, self.graphs = engine, start, graphs
        self.p = {n: math.log(v) for n, v in start.items()}
        self.free, self.rows, self.deviation, self.n_rows = [], [], {}, 0

    def expected(self, sets, only=None):
        return self.engine.ask([{n: math.exp(v) for n, v in p.items()} for p in sets], only)

    def begin(self, free, step):
        """Graphs and constants of a step; constants that move no time of it are not free."""
        here = [i for i, g in enumerate(self.graphs) if g.get("step") == step and not is_left_out(g["name"])]
        us = self.expected([self.p] + self.moved(free), here)
        self.rows = [i for i, u in zip(here, us) if u]
        us = [u for u in us if u]
        self.free = [n for k, n in enumerate(free) if any(abs(u[k + 1] / u[0] - 1) > 1e-9 for u in us)]
        self.n_rows += len(self.rows)

    def moved(self, names):
        return [{**self.p, n: self.p[n] + STEP} for n in names]

    def residual(self, us, k):
        return [math.log(u[k] / self.graphs[i]["us"]) for i, u in zip(self.rows, us)]

    @staticmethod
    def weights(res):
        return [1.0 if abs(r) <= LARGEST_WEIGHT else LARGEST_WEIGHT / abs(r) for r in res]

    def loss(self, p, res):
        data = sum(w * r * r for w, r in zip(self.weights(res), res))
        return data + PRIOR * sum((p[n] - math.log(self.start[n])) ** 2 for n in self.free)

    def normal(self):
        """Residuals, JtJ and Jtr at p."""
        us = self.expected([self.p] + self.moved(self.free), self.rows)
        res = self.residual(us, 0)
        w = self.weights(res)
        cols = [[math.log(u[k + 1] / u[0]) / STEP for u in us] for k in range(len(self.free))]
        jtj = [[sum(q * a * b for q, a, b in zip(w, x, y)) for y in cols] for x in cols]
        jtr = [sum(q * a * r for q, a, r in zip(w, x, res)) for x in cols]
        return res, jtj, jtr

    def tries(self, jtj, jtr, damp):
        out = []
        for factor in FACTORS:
            a = [row[:] for row in jtj]
            b = [-v - PRIOR * (self.p[n] - math.log(self.start[n])) for v, n in zip(jtr, self.free)]
            for k in range(len(a)):
                a[k][k] += PRIOR + damp * factor * (1e-3 + a[k][k])
            d = solve(a, b)
            out.append({**self.p, **{n: self.p[n] + max(-1.0, min(1.0, x)) for n, x in zip(self.free, d)}})
        return out

    def run(self):
        damp = 1e-3
        for _ in range(STEPS if self.free and self.rows else 0):
            res, jtj, jtr = self.normal()
            old, tries = self.loss(self.p, res), self.tries(jtj, jtr, damp)
            found = self.expected(tries, self.rows)
            losses = [self.loss(q, self.residual(found, k)) for k, q in enumerate(tries)]
            k = min(range(len(tries)), key=losses.__getitem__)
            if not losses[k] < old:
                break
            self.p = tries[k]
            damp = max(1e-9, damp * FACTORS[k] / 10)
            if old - losses[k] < 1e-5 * old:
                break
        if self.free and self.rows:
            self.deviate()

    def is_identified(self, n):
        """Of what nearly vanished the share of itself says nothing; what divides vanishes as it grows."""
        now = math.exp(self.p[n] - math.log(self.start[n]))
        return self.deviation[n] * min(1, 1 / now if "_per_" in n else now) < IDENTIFIED

    def deviate(self):
        """Standard deviation of the logarithm of each free constant, by what the times say of it."""
        res, jtj, _ = self.normal()
        sigma2 = max(sum(r * r for r in res) / len(res), 1e-6)
        for k, n in enumerate(self.free):
            a = [[v + (sigma2 / BELIEF ** 2 if r == c else 0) for c, v in enumerate(row)] for r, row in enumerate(jtj)]
            self.deviation[n] = math.sqrt(sigma2 * max(solve(a, [float(c == k) for c in range(len(a))])[k], 0))


# ---- what goes in and out ----

def read_measured(paths):
    graphs, target, free = [], None, {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            j = json.load(f)
        if j.get("kind") != "cost model":
            sys.exit(f"{path} is no file of tools/bench/fit_graphs.py")
        if target not in (None, j["target"]):
            sys.exit(f"{path} is of target {j['target']}, the file before it of {target}")
        target = j["target"]
        graphs += j["graphs"]
        free.update(j["free"])
    return graphs, target, free


def read_large(path):
    """Times of tools/bench/large_graphs.py, by its own graphs."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench"))
    import large_graphs
    with open(path, encoding="utf-8") as f:
        rows = json.load(f)["graphs"]
    known, out = {g[0]: g for g in large_graphs.GRAPHS}, []
    for name, t, _, us, *_ in rows:
        if name not in known:
            continue
        _, ins, outs, body = known[name]
        args = ", ".join(f"{t}[{d}] {v}" for v, d in ins.items())
        results = ", ".join(f"{t}[{d}] {v}" for v, d in outs.items())
        out.append({"name": f"{name}.{t}", "fused": True, "us": us, "step": "large",
                    "text": f"{large_graphs.HEAD}({args}) => ({results})\n{{\n {body}\n}}\n"})
    return out


def tell(what, s):
    if s:
        print(f"{what:34} {s['graphs']:4} graphs, rank correlation {s['rank']:.3f}, ratio {s['median']:.2f} in the median and "
              f"{s['worst']:.2f} at worst, {100 * s['within']:.0f} % within 1.3")


def report(fit, p, word):
    us = fit.expected([p])
    parts = {"fitted to": [], "left out": []}
    for g, u in zip(fit.graphs, us):
        if u:
            parts["left out" if is_left_out(g["name"]) else "fitted to"].append((g["name"], u[0], g["us"]))
    out = {}
    for part, rows in parts.items():
        out[part] = summary([r[1] for r in rows], [r[2] for r in rows])
        tell(f"{word}, {part}", out[part])
    return out, parts


def becomes_one(args, target, g, path):
    """Whether the pass makes one kernel of the graph today."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(g["text"])
    r = subprocess.run([args.passmith, "apply", path, "--pass", args.fuse, "--target", target, "-o", path + ".out.gpt", "--json"],
                       capture_output=True, text=True, check=False)
    try:
        j = json.loads(r.stdout)
    except ValueError:
        sys.exit(f"passmith apply {path} ended with {r.returncode} and gave no JSON: {r.stderr.strip()}")
    return j["applied"] == 1 and j["nodes_after"] == 1


def choices(args, target, graphs, folder):
    """What it costs that the estimate chooses between one kernel and the plain run, where both were timed; and the graphs
    without those that are no longer one kernel, which then has no estimate."""
    kernels = [g for g in graphs if g["fused"]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        ones = list(pool.map(lambda p: becomes_one(args, target, p[1], os.path.join(folder, f"c{p[0]:03}.gpt")), enumerate(kernels)))
    out = {}
    for part in ("fitted to", "left out"):
        rows = [(g["us"] if one else g["eager_us"], one, g) for one, g in zip(ones, kernels)
                if g.get("eager_us") and is_left_out(g["name"]) == (part == "left out")]
        if not rows:
            continue
        lost = [t / min(g["us"], g["eager_us"]) for t, _, g in rows]
        slower = sum(one and g["us"] > g["eager_us"] / 0.97 for _, one, g in rows)
        s = {"graphs": len(rows), "ones": sum(one for _, one, _ in rows), "cost": math.exp(sum(map(math.log, lost)) / len(lost)),
             "over": sum(x > 1.05 for x in lost) / len(lost), "slower": slower}
        out[part] = s
        print(f"{'choices, ' + part:34} {s['graphs']:4} graphs, {s['ones']} of them one kernel: {100 * (s['cost'] - 1):.1f} % are lost "
              f"in the mean, over 5 % on {100 * s['over']:.0f} %; {slower} are slower than the plain run by more than 3 %")
    stay = {id(g) for one, g in zip(ones, kernels) if not one}
    return out, [g for g in graphs if id(g) not in stay]


def told(parts):
    return [{"graph": name, "left_out": part == "left out", "measured": m, "expected": round(e, 2)}
            for part, rows in parts.items() for name, e, m in rows]


def worst(parts, n):
    rows = [(abs(math.log(e / m)), name, e, m, part) for part, v in parts.items() for name, e, m in v]
    for _, name, e, m, part in sorted(rows, reverse=True)[:n]:
        print(f"  {name:44} expected {e:9.2f} us, measured {m:9.2f}, ratio {e / m:.2f}, {part}")


def write(path, fit, known, measured):
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"/* Fitted by tools/fit_cost.py to {fit.n_rows} graphs of {', '.join(measured)}; one standard deviation. */\n")
        for n in known:
            f.write(f"COST({n}, {math.exp(fit.p[n]):.4g}) /* +- {100 * fit.deviation[n]:.1f} % */\n")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("measured", nargs="*")
    ap.add_argument("--large", metavar="FILE", help="times of tools/bench/large_graphs.py beside those")
    ap.add_argument("--target", default=None, help="that the graphs are of (default: what the files say, else h200)")
    ap.add_argument("--check", action="store_true", help="fit nothing: how the constants do that are there")
    ap.add_argument("--passmith", default="build/passmith")
    ap.add_argument("--fuse", default="build/passes/fuse.so")
    ap.add_argument("--worst", type=int, default=8, help="graphs to name")
    ap.add_argument("--json", metavar="FILE", help="what was found, as JSON")
    ap.add_argument("-o", dest="out", metavar="FILE", help="the rows COST(...) of a target's .def")
    args = ap.parse_args()
    if not args.measured and not args.large:
        ap.error("give a file of times")
    graphs, target, free = read_measured(args.measured)
    if args.large:
        graphs += read_large(args.large)
    target = args.target or target or "h200"
    start = constants_of(args, target)
    free["large"] = sorted(start)
    with tempfile.TemporaryDirectory() as folder:
        chosen, graphs = choices(args, target, graphs, folder)
        fit = Fit(Engine(args, target, graphs, folder), start, graphs)
        before, parts = report(fit, fit.p, f"{target} as it is")
        found = {"target": target, "before": before, "graphs": told(parts)}
        if chosen:
            found["choices"] = chosen
        if not args.check:
            for step in dict.fromkeys(g.get("step") for g in graphs):
                fit.begin(free.get(step, []), step)
                fit.run()
            known = sorted(n for n in fit.deviation if fit.is_identified(n))
            # Values that no time holds are those of before.
            fit.p = {n: v if n in known else math.log(start[n]) for n, v in fit.p.items()}
            found["after"], parts = report(fit, fit.p, "fitted")
            for row, after in zip(found["graphs"], told(parts)):
                row["fitted"] = after["expected"]
            print(f"identified, {len(known)} of {len(start)} constants:")
            for n in known:
                print(f"  {n:32} {start[n]:12.4g} -> {math.exp(fit.p[n]):12.4g}  +- {100 * fit.deviation[n]:.1f} %")
            found["constants"] = {n: {"was": start[n], "is": math.exp(fit.p[n]), "deviation": fit.deviation[n]} for n in known}
            if args.out:
                write(args.out, fit, known, args.measured + ([args.large] if args.large else []))
        worst(parts, args.worst)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(found, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
