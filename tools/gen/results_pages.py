#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# results_pages.py - fills the tables of docs/results/*.md and docs/design/timing.md from the JSON in docs/results.
#
# results_pages.py [--check]     --check: changes nothing; exit 1 when a table is not what the numbers give.
# A table stands between the lines "<!-- table NAME -->" and "<!-- end of table -->"; NAME is a function below. Every other table has
# to say in the paragraph before it, "By hand, from ...", where its numbers come from. Each page names date, hardware and command.
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))

import modelled
import systems_tables
from systems_tables import TYPES, table

ROOT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "results"
gmean = systems_tables.files.gmean


def read(name):
    return json.loads((ROOT / name).read_text())


def median(values):
    v = sorted(values)
    return (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2


def us(graph, system, clock):
    """Of a graph that `fuse` declined, the eager run's."""
    return systems_tables.files.time_of(graph, system, clock)


def systems():
    """Speedup over PyTorch eager, geometric mean of all graphs."""
    return systems_tables.systems(read("h200_systems.json"))


def systems_types():
    """By element type, replayed."""
    return systems_tables.systems_types(read("h200_systems.json"))


def large():
    """Kernels over 50 MB: per cent of the bandwidth of a copy of as many bytes."""
    j = read("h200_large.json")
    rows, shares = [], {}
    for name, kind, mb, us, _, copy_us in j["graphs"]:
        shares.setdefault(name, {})[kind] = copy_us / us
        if kind == "float":
            shares[name]["mb"] = mb
    for name, s in sorted(shares.items()):
        rows.append([f"`{name}`", f"{s.get('mb', 0):.0f}"] + [f"{100 * s[t]:.0f}" if t in s else "-" for t in TYPES])
    for what, begins in (("reductions and norms", ("r.",)), ("element-wise and moving", None)):
        some = [s for n, s in shares.items() if n.startswith("r.") == (begins is not None)]
        rows.append([f"median, {what}", ""] + [f"{100 * median([s[t] for s in some if t in s]):.0f}" for t in TYPES])
    return table(["graph", "MB (float)"] + list(TYPES), rows)


def summary_of(name):
    j, rows = read(name), []
    for key, what in (("before", "constants of `h200` as they are"), ("after", "fitted to these times")):
        for part, which in (("fitted to", "three quarters"), ("left out", "the quarter that is left out")):
            s = j[key][part]
            rows.append([what, which, s["graphs"], f"{s['rank']:.3f}", f"{s['median']:.2f}", f"{s['worst']:.2f}", f"{100 * s['within']:.0f} %"])
    return table(["constants", "graphs", "of them", "rank correlation", "ratio, median", "ratio, worst", "within 1.3"], rows)


def constants_of(name):
    rows = [[f"`{n}`", f"{c['was']:.4g}", f"{c['is']:.4g}", f"{100 * c['deviation']:.1f} %"] for n, c in read(name)["constants"].items()]
    return table(["constant", "is", "fitted", "standard deviation"], rows)


def graphs_of(name):
    rows = [[f"`{g['graph']}`", "yes" if g["left_out"] else "", f"{g['measured']:.2f}", f"{g['expected']:.2f}", f"{g['fitted']:.2f}"]
            for g in sorted(read(name)["graphs"], key=lambda g: g["graph"])]
    return table(["graph", "left out", "measured, us", "expected, us", "expected when fitted, us"], rows)


def rows_of_modelled(graphs, split):
    names = {"call": "single calls", "eager": "plain runs", "pass": "with `fuse`", "speedup": "speedup by `fuse`"}
    rows = [[names[r["what"]]] + ["left out" if r["left_out"] else "others"] * split + [
        r["graphs"], f"{r['rank']:.3f}", f"{r['median']:.2f}", f"{100 * r['within']:.1f} %", f"{100 * r['beyond']:.1f} %"]
        for r in modelled.summaries(graphs, split)]
    return table(["what"] + ["graphs"] * split + ["number", "rank correlation", "ratio, median", "within 1.3", "beyond 2"], rows)


def modelled_times():
    """Modelled beside measured times, by tools/bench/modelled.py."""
    return rows_of_modelled(read("modelled_times.json")["graphs"], True)


def modelled_before():
    """The same graphs by the version before."""
    return rows_of_modelled([{**g, "modelled_eager_us": g["was_eager_us"], "modelled_pass_us": g["was_pass_us"]}
                             for g in read("modelled_times.json")["graphs"]], False)


def modelled_held_out():
    """Graphs of models that nothing was fitted to."""
    return rows_of_modelled(read("modelled_held_out.json")["graphs"], False)


def cost_summary():
    """How well the cost model foretells the times of large tensors, as it is and fitted to three quarters of them."""
    return summary_of("cost_model.json")


def cost_constants():
    """The constants that the times of large tensors identify."""
    return constants_of("cost_model.json")


def cost_graphs():
    """Each large graph: measured and expected."""
    return graphs_of("cost_model.json")


def fit_summary():
    """The same of the graphs that were made for the fit."""
    return summary_of("cost_model_fit.json")


def fit_constants():
    """The constants that those identify."""
    return constants_of("cost_model_fit.json")


def fit_graphs():
    """Each of those graphs."""
    return graphs_of("cost_model_fit.json")


def products_summary():
    """How well products and convolutions are foretold that become one kernel."""
    rows = []
    for part, which in (("fitted to", "three quarters"), ("left out", "the quarter that is left out")):
        s = read("cost_model_products.json")["before"][part]
        rows.append([which, s["graphs"], f"{s['rank']:.3f}", f"{s['median']:.2f}", f"{s['worst']:.2f}", f"{100 * s['within']:.0f} %"])
    return table(["graphs", "of them", "rank correlation", "ratio, median", "ratio, worst", "within 1.3"], rows)


def products_choices():
    """What it costs that the estimate chooses."""
    rows = []
    for part, which in (("fitted to", "three quarters"), ("left out", "the quarter that is left out")):
        s = read("cost_model_products.json")["choices"][part]
        rows.append([which, s["graphs"], s["ones"], f"{100 * (s['cost'] - 1):.1f} %", f"{100 * s['over']:.0f} %", s["slower"]])
    return table(["graphs", "of them", "one kernel", "lost, mean", "over 5 % lost on", "slower than the plain run by over 3 %"], rows)


def launch():
    """What a call costs the host."""
    rows, cases = [], read("h200_launch.json")["cases"]
    for name in dict.fromkeys(c["name"] for c in cases):
        by = {("graph" if "graph" in c["how"] else "launches"): c for c in cases if c["name"] == name}
        cells = []
        for how in ("launches", "graph"):
            c = by.get(how)
            cells += [f"{c['enqueue_us']:.2f}", f"{c['latency_us']:.2f}"] if c else ["", ""]
        rows.append([name, by["launches"]["launches"] if "launches" in by else by["graph"]["launches"]] + cells)
    return table(["graph", "launches", "enqueue", "one call", "as a CUDA graph: enqueue", "one call"], rows)


def parity():
    """The eager baseline over PyTorch eager, by element type."""
    j = read("h200_parity.json")
    clocks = {"replay": "replayed as a CUDA graph", "cold": "caches cold", "wall": "a call of a batch of 16", "latency": "one call and the wait for it"}
    return table([""] + list(TYPES) + ["all"], [[what] + [f"{j['types'][t][c]:.3f}" for t in TYPES] + [f"{j['all'][c]:.3f}"] for c, what in clocks.items()])


def parity_classes():
    """The same by the operator that dominates."""
    j = read("h200_parity.json")
    rows = sorted(j["classes"].items(), key=lambda x: -x[1]["replay"])
    return table(["class", "graphs", "replayed", "caches cold", "worst graph"], [[n, c["n"], f"{c['replay']:.2f}", f"{c['cold']:.2f}", f"{c['worst']:.2f}"] for n, c in rows])


def calls():
    """Library calls, first proposal and trial, over PyTorch eager."""
    rows = []
    for t in ("float", "float16"):
        c = [(x[2], x[5] if x[5] is not None else x[3], x[4]) for x in read("h200_calls.json")["calls"] if x[1] == t]
        c = [x for x in c if all(x)]
        rows.append([t, len(c), f"{gmean([b / a for a, b, _ in c]):.2f}", f"{gmean([b / p for _, b, p in c]):.2f}", f"{gmean([a / p for a, _, p in c]):.2f}"])
    return table(["type", "calls", "with a trial / first proposal", "with a trial / PyTorch eager", "first proposal / PyTorch eager"], rows)


def library():
    """Hand-written passes: GPU time with cold caches / host's clock, microseconds."""
    rows = []
    pair = lambda v: f"{v[0]:.1f} / {v[2]:.1f}"
    times = [x for x in read("h200_library_kernels.json")["times"] if x.get("torch") and x.get("inductor")]
    for x in times:
        mine = x["mine"]
        rows.append([f"`{x['pass']}` {x['graph']}, {x['type']}", pair(x["eager"]), pair(mine), pair(x["torch"]), pair(x["inductor"]),
                     f"{x['eager'][0] / mine[0]:.2f}", f"{x['torch'][0] / mine[0]:.2f}", f"{x['inductor'][0] / mine[0]:.2f} / {x['inductor'][2] / mine[2]:.1f}"])
    mean = lambda key, k: gmean([x[key][k] / x["mine"][k] for x in times])
    rows.append([f"geometric mean of {len(times)}", "", "", "", "", f"{mean('eager', 0):.2f}", f"{mean('torch', 0):.2f}", f"{mean('inductor', 0):.2f} / {mean('inductor', 2):.1f}"])
    return table(["pass and graph", "Passmith eager", "pass", "PyTorch eager", "TorchInductor", "vs eager", "vs PyTorch", "vs TorchInductor"], rows)


def eager():
    """Eager kernels by kind, over PyTorch's."""
    j = read("h200-eager.json")
    return table(["kind", "time ours / PyTorch, geometric mean"], [[k, f"{v:.2f}"] for k, v in j["kinds"].items()] + [["all", f"{j['all']:.2f}"]])


def behind_of(graphs):
    """Graphs on which `fuse` takes no less GPU time than TorchInductor, the worst first."""
    ratio = lambda g: us(g, "fuse", 0) / us(g, "torch-inductor", 0)
    return sorted((g for g in graphs if ratio(g) >= 1), key=lambda g: -ratio(g)), ratio


def behind_count():
    """On how many graphs `fuse` is behind, in a sentence."""
    g = read("h200_systems.json")["graphs"]
    behind, ratio = behind_of(g)
    near = sum(ratio(x) < 1.05 for x in behind)
    return [f"`fuse` takes less GPU time than TorchInductor on {len(g) - len(behind)} of {len(g):,} graphs. It is behind on {len(behind)}, by less than 5 % on {near} of them."]


def behind():
    """The ten tasks on which `fuse` is furthest behind, each with its worst graph."""
    words = read("fuse_behind.json")["tasks"]
    worst, rows, every = {}, [], read("h200_systems.json")["graphs"]
    more = bool(systems_tables.further(every))
    graphs, ratio = behind_of(every)
    for g in graphs:
        worst.setdefault(str(g["task"]), g)
    for task, g in list(worst.items())[:10]:
        if task not in words:
            sys.exit(f"results_pages: fuse_behind.json does not say why fuse is behind on task {task}")
        w = words[task]
        kind = g["variant"].split(":")[0].split(", ")[1]
        times = [f"{us(g, s, 0):.0f}" for s in ("torch-eager", "torch-inductor", "eager", "fuse")]
        times[2:2] = [systems_tables.best_cell(g)] * more
        rows.append([f"{w['graph']} ({task}, {kind})"] + times + [f"{ratio(g):.2f}", f"{g['launches']} to {w['launches']}" if w["launches"] < g["launches"] else g["launches"], w["why"]])
    return table(["graph (task, type)", "PyTorch eager", "TorchInductor", *["best of PyTorch"] * more, "Passmith eager", "`fuse`", "`fuse` / TorchInductor", "launches", "why"], rows)


def scatters():
    """Scatters alone, before 0.4.9 and since."""
    rows = [[f"{op}{' along the last axis' if axis else ''}, {'replaces' if how == 'none' else how}", t, *(f"{n:,}" for n in sizes), f"{before:.1f}", f"{us:.1f}", f"{before / us:.2f}"]
            for op, how, axis, t, *sizes, us, before in read("h200_scatter.json")["alone"]]
    return table(["scatter", "type", "places", "updates of a line", "lines", "before, us", "us", "ratio"], rows)


def scatters_summary():
    """By what is done with an update."""
    graphs, rows = read("h200_scatter.json")["alone"], []
    for name, of in (("added", [g for g in graphs if g[1] == "add"]), ("replace", [g for g in graphs if g[1] == "none"])):
        ratios = [g[-1] / g[-2] for g in of]
        rows.append([name, len(of), f"{gmean(ratios):.2f}", f"{min(ratios):.2f}", f"{max(ratios):.2f}"])
    return table(["updates are", "graphs", "times as fast as before, mean", "least", "most"], rows)


def scatters_same():
    """Scatters that add by indices that are the same for all lines, before 0.4.11 and since."""
    rows = [[t, *(f"{n:,}" for n in sizes), f"{before:.1f}", f"{us:.1f}", f"{before / us:.2f}"] for t, *sizes, us, before in read("h200_scatter.json")["same"]]
    return table(["type", "places", "updates", "lines", "before, us", "us", "ratio"], rows)


def clock_records(what, runs=("run 1", "run 2", "run 3")):
    """The records of that name, in the order in which they were measured."""
    j = read("h200_clock.json")
    return [r for run in runs for r in j.get(run, []) if r["what"] == what] + [r for r in read("h200_scatter.json")["clock"] if r["what"] == what]


def clock_slower():
    """3 % more work, found or not."""
    return table(["kernel, us", "found slower", "mean ratio (1 / 1.03 = 0.9709)"], [[f"{r['us']:.1f}", f"{r['found']} of {r['of']}", f"{r['mean_ratio']:.4f}"] for r in sorted(clock_records("3 % slowdown"), key=lambda r: r["us"])])


def clock_equal():
    """The same graph against itself."""
    return table(["kernel, us", "within", "runs", "p2 to p98"], [[f"{r['us']:.1f}", f"{100 * r['bound']:g} %", f"{r['within']} of {r['ok']}", f"{r['p2']:.4f} to {r['p98']:.4f}"] for r in sorted(clock_records("A/A of 100"), key=lambda r: r["us"])])


def clock_now():
    """The clock since 0.4.0: slower kernels found, and the same graph against itself."""
    found = read("h200_clock.json")["0.4.0"]
    rows = [[f"{r['us']:.1f}", "3 % more work", f"{r['found']} of {r['of']} found slower", f"{r['mean_ratio']:.4f} (mean)", ""] for r in found if r["what"] == "3 % slowdown"]
    for r in found:
        if r["what"] == "A/A of 100":
            rows.append([f"{r['us']:.1f}", "the same", f"{r['claims']} of {r['ok']} said to differ; {r['within']} within {100 * r['bound']:g} %", f"{r['p2']:.4f} to {r['p98']:.4f} (p2 to p98)", f"{r['blocks']:.0f}"])
    return table(["kernel, us", "against the baseline", "runs", "ratio", "blocks, mean"], rows)


def clock_loop():
    """A plain loop beside the protocol."""
    return table(["kernel, us", "plain loop", "the protocol"], [[f"{r['us']:.1f}", f"{100 * r['spread']:.2f} %", f"{100 * r['spread_of_protocol']:.2f} %"] for r in sorted(clock_records("A/A of a plain loop of 100 a side"), key=lambda r: r["us"])])


def clock_rules():
    """The clock's rule beside others, on simulated devices (tests/bench/bench_clock.c)."""
    rows, found = read("clock_rules.json"), {}
    for r in rows:
        found[r["device"], r["rule"], r["slower"]] = r

    def share(r, key):
        return f"{100 * r[key] / r['runs']:.1f}"

    def cells(device, rule):
        equal, one, three, ten = (found[device, rule, s] for s in (0, 0.01, 0.03, 0.1))
        false = 100 * (equal["said_faster"] + equal["said_slower"]) / equal["runs"]
        return [f"{false:.1f}", share(equal, "unstable"), " ".join(f"{100 * r['said_slower'] / r['runs']:.0f}" for r in (one, three, ten)),
                f"{100 * equal['deviation']:.2f}", f"{equal['samples_median']:,.0f}"]

    devices = list(dict.fromkeys(r["device"] for r in rows))
    head = ["device", "rule", "said to differ, %", "refused, %", "1, 3, 10 % slower: found, %", "deviation, %", "samples"]
    return table(head, [[d if rule == "median" else "", rule, *cells(d, rule)] for d in devices for rule in ("median", "trimmed mean", "signed ranks", "the clock")])


def clock_orders():
    """How far block ratios of equal sides lie apart, by the order of samples (tools/bench/clock_orders.py)."""
    j = read("h200_blocks.json")
    rows = [[f"`{g['graph']}`", g["us"], len(g["mirrored"]), f"{100 * median(g['mirrored']):.1f} ({100 * min(g['mirrored']):.1f} to {100 * max(g['mirrored']):.1f})",
             f"{100 * median(g['twice']):.1f} ({100 * min(g['twice']):.1f} to {100 * max(g['twice']):.1f})"] for g in j["graphs"]]
    return table(["graph", "us", "runs", "an order and its reverse, %", "both twice, %"], rows)


def clock_memory():
    """Copies and reads after a flush."""
    rows = [[f"a copy of {r['MB']:,} MB, read + written", f"{r['us']:.2f}", f"{r['TB_per_s']:.2f}"] for r in clock_records("copy", ("run 2",))]
    for r in clock_records("read of 16 MB", ("run 2",)):
        names = {"cold_us": "reading 16 MB", "untouched_us": "the same, of memory that was not read before", "held_by_evict_last_us": "the same, read with `evict_last` before the flush", "hot_us": "the same, after itself without a flush"}
        rows += [[text, f"{r[key]:.2f}", f"{16 * 1.048576 / r[key]:.2f}"] for key, text in names.items()]
    for r in [c for c in read("h200_kernels.json")["cases"] if c["name"] == "copy 256MB"]:
        rows.append([f"`Identity` of 256 MB, {r['dtype']}, {100 * r['share']:.1f} % of the driver's copy", f"{r['us']:.2f}", f"{r['bytes'] / r['us'] / 1e6:.2f}"])
    return table(["after a flush", "us", "TB/s"], rows)


def clock_rest():
    """Heat, and the least that can be measured."""
    heat, spins = clock_records("heater")[-1], clock_records("spin", ("run 3",))
    rows = [[f"a graph before and after {heat['seconds']:.1f} s of arithmetic on all units", f"{heat['cool_us']:.2f} and {heat['hot_us']:.2f} us; measured in turn, the ratio is {heat['interleaved']:.4f}"]]
    rows += [["an empty kernel after a flush", f"{r['us']:.2f} us"] for r in clock_records("an empty kernel after a flush", ("run 3",))]
    rows += [[f"a kernel that spins {r['wanted_us']:,.0f} us by the GPU's own clock", f"{r['us'] - r['wanted_us']:.2f} us more"] for r in spins]
    return table(["what", "result"], rows)


def eager_cases():
    """Eager kernels case by case, in the three types."""
    cases = read("h200-eager.json")["cases"]
    rows = []
    for name in dict.fromkeys(c["name"] for c in cases):
        by = {c["dtype"]: c for c in cases if c["name"] == name}
        rows.append([name] + [" / ".join(form.format(scale * by[t][key]) for t in TYPES) for key, form, scale in (("us", "{:.1f}", 1), ("torch_us", "{:.1f}", 1), ("share", "{:.0f}", 100))])
    return table(["case", "ours", "PyTorch", "% copy"], rows)


def extract_all():
    """What extraction finds in 811 models."""
    j = read("extract.json")
    names = {"fusible": "fusible", "classical": "classical", "single": "single (representatives)"}
    rows = []
    for kind, k in j["kinds"].items():
        shares = [f"{100 * k['covered_' + part] / j[of]:.1f} %" for part, of in (("ops", "known_nodes"), ("nodes", "known_nodes"), ("launches", "launches"))]
        rows.append([names[kind]] + [f"{k['stored_' + what]:,}" for what in ("occurrences", "graphs", "structures")] + (shares if kind != "single" else ["", "", ""]) + [k["not_connected"], k["not_convex"], k["rejected"]])
    return table(["kind", "places", "graphs", "structures", "ops", "nodes", "kernels", "disconnected", "not convex", "rejected"], rows)


def round_trips():
    """Models written and read again, and types inferred beside types stated."""
    j = read("import.json")
    inferred = sum(j[k] for k in ("stated_equal", "stated_equal_but_names", "stated_differ"))
    rows = [["print, parse, print: the same text", f"{j['text_unchanged']} of {j['models']} models"],
            ["export, import, print and export: the same text and bytes", f"{j['onnx_unchanged']} of {j['models']} models"],
            ["stated types (`value_info`, outputs) compared with inference that does not see them", f"{inferred:,}"],
            ["of those, equal", f"{j['stated_equal']:,}"],
            ["of those, equal but for the name of a size that the data decides (`NonZero`)", f"{j['stated_equal_but_names']:,}, in {j['models_with_names']} models"],
            ["of those, not equal", j["stated_differ"]],
            ["stated types that inference leaves open", j["stated_not_inferred"]],
            ["stated types of opaque nodes, with nothing to compare", j["stated_opaque"]]]
    return table(["what", "result"], rows)


def apply_launches():
    """Launches of whole models before and after `fuse`."""
    return table(["model", "before", "after"], [[m["model"], f"{m['before']:,}", f"{m['after']:,}"] for m in read("fuse_models.json")["models"]])


def release_totals():
    """Node tests of the newest ONNX release."""
    rows = []
    for device, n in read("onnx_release.json")["devices"].items():
        counted = n["passed"] + n["failed"] + n["unsupported"]
        rows.append([device, counted, n["passed"], n["failed"], n["unsupported"], f"{100 * n['passed'] / counted:.1f} %"])
    return table(["device", "counted", "passed", "failed", "unsupported", "rate"], rows)


def release_operators():
    """The operators of that release that do not pass all cases."""
    return table(["operator", "cases", "passed on ref", "passed on emu"], read("onnx_release.json")["operators"])


def constraints():
    """The constraints of the core models."""
    kinds = ("holds", "broken", "undecided")
    return table(["constraint"] + list(kinds), [[c["constraint"]] + [c.get(k, 0) for k in kinds] for c in read("validate.json")["constraints"]])


def mined():
    """Structures by the time at stake."""
    rows = [[f"{100 * r['share_at_stake']:.1f} %", f"{100 * r['share']:.1f} %", f"{r['occurrences']:,}", r["models"], r["support"], r["ops"].replace(",", ", "), r["structure"][:8]] for r in read("mine.json")["results"]]
    return table(["at stake", "of the time", "occurrences", "models", "without clones", "operators", "structure"], rows)


FILTERS = ("range", "seeds", "axes", "inputs", "weights", "constant")


def metr_rows():
    """Problem and what was found of it, by name; those that were not measured have a `why`."""
    return read("metr-filters.json")["problems"].items()


def metr_counts():
    """What the filters say against what METR did, of the problems of levels 1 to 3 that were measured."""
    j = read("metr-filters.json")
    rows = [r for _, r in metr_rows() if "metr" in r]
    counts = [[sum(r["metr"] == m and "why" not in r and bool(r["broken"]) == b for r in rows) for b in (True, False)] for m in ("removed", "kept")]
    unknown = [sum(r["metr"] == m and "why" in r for r in rows) for m in ("removed", "kept")]
    away = [sum(p not in j["problems"] for p in j["metr_removed"]), "-"]
    names = ("removed by METR", "kept by METR")
    return table(["levels 1 to 3", "a filter is broken", "none is", "not measured", "no export"], [[n, *c, u, a] for n, c, u, a in zip(names, counts, unknown, away)])


def metr_differences():
    """Each problem on which the filters and METR differ, with one sentence why."""
    why = read("metr-differences.json")
    rows = []
    for p, r in metr_rows():
        if "why" not in r and "metr" in r and (r["metr"] == "removed") != bool(r["broken"]):
            rows.append([p, ", ".join(r["broken"]) or "none", r["metr"], why[p]])
    return table(["problem", "broken", "METR", "why"], rows)


def metr_filters():
    """All that was measured."""
    cuts = {"no": "no", "sizes": "sizes", "sums": "sizes, sums"}
    rows = []
    for p, r in metr_rows():
        if "why" not in r:
            found = ["-" if r["found"][f] is None else f"{r['found'][f]:.2g}" for f in FILTERS]
            rows.append([p, *found, cuts[r["cut"]], ", ".join(r["broken"]) or "none", r.get("metr", "-")])
    return table(["problem", *FILTERS, "cut", "broken", "METR"], rows)


def metr_not_measured():
    """What has no numbers, and why."""
    return table(["problem", "METR", "why"], [[p, r.get("metr", "-"), r["why"]] for p, r in metr_rows() if "why" in r])


def many_calls():
    """Calls of the extraction of many copies: about eight of them, the first and the last among them."""
    calls, rows, models, cpu = read("extract-many.json")["calls"], [], 0, 0
    shown = {round(k * (len(calls) - 1) / 7) for k in range(8)}
    for k, c in enumerate(calls):
        models += c["models"]
        cpu += c["cpu"]
        if k in shown:
            rows.append([f"{models:,}", c["copies"], f"{c['models']:,}", f"{1e3 * c['cpu'] / c['models']:.1f}", f"{c['wall']:.0f}", f"{c['peak_kb'] / 1024:.0f}",
                         f"{c['db_bytes'] / 1e6:,.0f}", f"{c['places']:,}", f"{sum(c['graphs'].values()):,}", f"{cpu:,.0f}"])
    return table(["models", "copies of the call", "its models", "processor, ms a model", "wall, s", "largest process, MiB", "database, MB", "places", "graphs",
                  "processor in all, s"], rows)


def many_memory():
    """Memory of one call over more and more copies."""
    return table(["copies", "models", "structures", "largest process, MiB", "processor, ms a model"],
                 [[c["copies"], f"{c['models']:,}", c["structures"], f"{c['peak_kb'] / 1024:.1f}", f"{1e3 * c['cpu'] / c['models']:.1f}"]
                  for c in read("extract-many.json")["memory"]])


def many_same():
    """Whether copies have the same graphs in the same places."""
    s = read("extract-many.json")["same"]
    return table(["copies", "of them with other names", "places of each", "copies with other places", "calls that left other graphs"],
                 [[s["copies"], s["renamed"], f"{s['places_of_a_copy']:,}", s["copies_with_other_places"], s["calls_with_other_graphs"]]])


def many_whole():
    """What 100,000 models take, from the calls."""
    calls = read("extract-many.json")["calls"]
    models, cpu = sum(c["models"] for c in calls), sum(c["cpu"] for c in calls)
    first, last = calls[0], calls[-1]
    size = first["db_bytes"] + (1e5 - first["models_held"]) * (last["db_bytes"] - first["db_bytes"]) / (last["models_held"] - first["models_held"])
    return table(["", f"{models:,} models, measured", "100,000 models, from these"],
                 [["processor, min", f"{cpu / 60:.1f}", f"{1e5 * cpu / models / 60:.1f}"],
                  ["half of that: wall on 2 processors at least, min", "-", f"{1e5 * cpu / models / 120:.1f}"],
                  ["wall as it was, min", f"{sum(c['wall'] for c in calls) / 60:.1f}", "-"],
                  ["largest process, MiB", f"{max(c['peak_kb'] for c in calls) / 1024:.0f}", "the same in such calls"],
                  ["database, GB", f"{last['db_bytes'] / 1e9:.2f}", f"{size / 1e9:.2f}"]])


def fill(match):
    name = match.group(1)
    f = globals().get(name)
    if not callable(f) or not f.__doc__:
        sys.exit(f"results_pages: there is no table {name}")
    return "\n".join([f"<!-- table {name} -->"] + f() + ["<!-- end of table -->"])


def faults(text):
    """What a page lacks: its facts, or a word on a table that nothing generates."""
    if "<!-- Written by tools/" in text:
        return
    for fact in ("date", "hardware", "command"):
        if not re.search(rf"^\| {fact}\b", text, flags=re.M):
            yield f"its table of facts has no row '{fact}'"
    text = re.sub(r"<!-- table \w+ -->\n.*?<!-- end of table -->", "", text, flags=re.S)
    parts = re.split(r"\n\s*\n", text)
    for before, part in zip([""] + parts, parts):
        if part.lstrip().startswith("|") and not part.lstrip().startswith("| | |\n") and not re.search(r"\bBy hand\b", before):
            yield f"no script makes the table that begins '{part.lstrip().splitlines()[0]}', and no 'By hand' stands in front of it"


def main():
    check, bad = "--check" in sys.argv[1:], 0
    design = ROOT.parent / "design" / "timing.md"  # its other tables say what is done, and have no numbers
    for page in [*sorted(ROOT.glob("*.md")), design]:
        old = page.read_text()
        for fault in faults(old) if page != design else []:
            print(f"docs/{page.parent.name}/{page.name}: {fault}", file=sys.stderr)
            bad = 1
        new = re.sub(r"<!-- table (\w+) -->\n.*?<!-- end of table -->", fill, old, flags=re.S)
        if new == old:
            continue
        if check:
            print(f"docs/{page.parent.name}/{page.name} is not what the numbers give: run tools/gen/results_pages.py", file=sys.stderr)
            bad = 1
        else:
            page.write_text(new)
    return bad


if __name__ == "__main__":
    sys.exit(main())
