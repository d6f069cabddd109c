#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# judge_page.py - writes docs/results/judge.md from docs/results/judge.json (made by `make bench-judge`).
#
# judge_page.py [--check]         --check: changes nothing; exit 1 when the page is not what the numbers give.
# judge_page.py --merge OUT SHARD...  one file of what all shards of bench_judge have found.
# judge_page.py --replace OUT SHARD...  bodies, types and sizes that are in the shards take the place of OUT's.
import json
import math
import pathlib
import sys

import page_file
from page_file import ROOT

MANY = 1000  # outputs from which on the limits hold
MOST = 4.0  # times the eager run's own error
SHARE = 0.99
HONEST = 5 / 10000


def drift_of(cell):
    values = [v for v in cell["drift"].values() if v is not None and not math.isnan(v)]
    return max(values) if values else 0.0


def over_honest(cell):
    """What passes over the error of the worst honest kernel; None where that was not looked for."""
    worst = cell.get("worst_honest")
    return drift_of(cell) / worst if worst and not math.isnan(worst) else None


def cells_of(data):
    for body, cells in data["bodies"].items():
        for cell in cells:
            yield body, cell


def missing_of(data):
    """(body, type, terms, sentence) of every limit that is not kept."""
    out = []
    for body, c in cells_of(data):
        where = (body, c["type"], c["terms"])
        if c["honest"]["refused"]:
            out.append(where + (f"honest: {c['honest']['refused']} of {c['honest']['trials']} refused",))
        if c["outputs"] < MANY:
            continue
        for name, (seeds, refused, _, _) in c["cheats"].items():
            if refused < SHARE * seeds:
                out.append(where + (f"{name}: refused in {refused} of {seeds} seeds",))
        if drift_of(c) > MOST:
            worst = over_honest(c)
            also = f", {worst:.3g} times the worst honest kernel's" if worst else ""
            out.append(where + (f"a systematic error of {drift_of(c):.3g} times eager's passes{also}",))
    return out


def summary(data):
    honest = [c["honest"] for _, c in cells_of(data)]
    trials, refused = sum(h["trials"] for h in honest), sum(h["refused"] for h in honest)
    large = [c for _, c in cells_of(data) if c["outputs"] >= MANY]
    rows = [r for c in large for r in c["cheats"].values()]
    seeds, caught = sum(r[0] for r in rows), sum(r[1] for r in rows)
    drifts = sorted(drift_of(c) for c in large)
    kept = sum(d <= MOST for d in drifts)
    lines = [
        f"* Honest kernels: {refused} of {trials:,} refused (limit: {HONEST * 1e4:.0f} in 10,000). "
        f"{sum(h['not_judged'] for h in honest):,} were not judged by the bound: the ladder of tolerances decides there.",
        f"* Cheats, {MANY:,} outputs and more: {caught:,} of {seeds:,} refused, on normal numbers alone.",
        f"* Largest systematic error that passes: median {drifts[len(drifts) // 2]:.2g}, "
        f"maximum {drifts[-1]:.3g} times the eager run's own; at most {MOST:g} in {kept} of {len(drifts)} cases.",
    ]
    ratios = sorted(r for r in map(over_honest, large) if r is not None)
    if ratios:
        lines.append(
            f"* The same against the worst honest kernel: median {ratios[len(ratios) // 2]:.2g}, maximum "
            f"{ratios[-1]:.3g} times its error; at most {MOST:g} in {sum(r <= MOST for r in ratios)} of {len(ratios)} cases."
        )
    return lines


def table(data):
    yield (
        "| body | type | honest refused | cheats refused | hardest cheat | error that passes | over worst honest | "
        "by terms |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for body, cells in data["bodies"].items():
        for kind in ("f32", "f16", "bf16"):
            mine = [c for c in cells if c["type"] == kind]
            large = [c for c in mine if c["outputs"] >= MANY]
            seeds = sum(r[0] for c in large for r in c["cheats"].values())
            caught = sum(r[1] for c in large for r in c["cheats"].values())
            worst = min(
                ((r[1] / r[0], n) for c in large for n, r in c["cheats"].items() if r[0]), default=(1, "-")
            )
            ratios = [r for r in map(over_honest, large) if r is not None]
            yield "| {} | {} | {} of {} | {} of {} | {} | {:.3g} | {} | {} |".format(
                body,
                kind,
                sum(c["honest"]["refused"] for c in mine),
                sum(c["honest"]["trials"] for c in mine),
                caught,
                seeds,
                f"{worst[1]}: {worst[0]:.0%}" if worst[0] < 1 else "-",
                max((drift_of(c) for c in large), default=0),
                f"{max(ratios):.3g}" if ratios else "-",
                ", ".join(f"{c['terms']:,}: {drift_of(c):.2g}" if drift_of(c) else f"{c['terms']:,}: -" for c in large),
            )


def cheat_table(data):
    total = {}
    for _, c in cells_of(data):
        if c["outputs"] < MANY:
            continue
        for name, row in c["cheats"].items():
            total[name] = [a + b for a, b in zip(total.get(name, [0] * 4), row)]
    yield "| cheat | seeds | refused | smaller than 4 times eager's error | of these refused |"
    yield "|---|---|---|---|---|"
    for name, (seeds, refused, small, small_refused) in total.items():
        yield f"| {name} | {seeds:,} | {refused:,} | {small:,} | {small_refused:,} |"


def left_out(data):
    return f" {data['left']} pieces of some seeds each were left out for lack of time." if data.get("left") else ""


def page(data):
    s = data["settings"]
    lines = [
        "# What the error bound refuses and admits",
        "",
        "<!-- Written by tools/gen/judge_page.py from judge.json; do not edit. -->",
        "",
        "`make bench-judge` runs 24 bodies of several operators as simulated kernels (tests/lib/judgelab/judgelab.h). They",
        "share no code with the reference or the bound. Honest ones round any of the intermediate values, add in any",
        "order, and evaluate functions and quotients in the usual ways. Cheats do less. The eager run rounds every",
        "intermediate value and adds one term after the other. Its distance from the exact result is its own error.",
        "",
        f"Seeds: {s['seeds']} for each cheat ({s['heavy']} where one run takes more than 2 x 10^7 operations or has",
        "more than 10^5 results). " + f"Honest kernels: {s['draws']} draw{'s' * (s['draws'] > 1)} of each class of "
        f"inputs (1 there), {s['mixes']} kernels on each.",
        f"Sums of up to {s['terms']:,} terms." + left_out(data),
        "",
        "A cheat counts where its error is more than 4 times the eager run's, in root mean square or in the largest",
        "element. What is smaller cannot be told from rounding; it is counted apart.",
        "",
        "## In short",
        "",
        *summary(data),
        "",
        "## By body",
        "",
        "\"Error that passes\": the largest systematic error (a scale, a bias, or a random factor for each element) that",
        f"is admitted on normal numbers, in units of the eager run's own error, where there are {MANY:,} outputs or more.",
        "The last column has it by the number of terms; \"-\": the result is the same whatever the inputs are.",
        "It is counted as it stands in the results: of three units in numbers that are all 1, rounding leaves two.",
        "",
        "Where few sums stand behind many results the eager run's error is one draw: a loop over 10^6 terms may be off",
        "by 60 units on one draw and by 430 on the next. \"Over worst honest\" has the same error over the largest",
        "one of an honest kernel: each order of sums on the same inputs, and plain loops on seven more draws.",
        "",
        *table(data),
        "",
        "## By cheat",
        "",
        *cheat_table(data),
        "",
        "## Limits that are not kept",
        "",
    ]
    missing = missing_of(data)
    lines += [f"* {b}, {t}, {int(n):,} terms: {what}." for b, t, n, what in missing] or ["None."]
    return "\n".join(lines) + "\n"


def add_up(cell, piece):
    """What another piece of the same body, type and size found."""
    for key in ("trials", "refused", "not_judged"):
        cell["honest"][key] += piece["honest"][key]
    if "first" in piece["honest"]:
        cell["honest"].setdefault("first", piece["honest"]["first"])
    cell["drift"].update(piece["drift"])
    if "worst_honest" in piece:
        cell["worst_honest"] = piece["worst_honest"]
    for name, row in piece["cheats"].items():
        cell["cheats"][name] = [a + b for a, b in zip(cell["cheats"].get(name, [0] * 4), row)]
    for name, text in piece.get("missed", {}).items():
        cell.setdefault("missed", {}).setdefault(name, text)
    cell["seconds"] = round(cell["seconds"] + piece["seconds"], 2)


def read_shards(shards):
    """Settings, pieces left out, and by body and place what all shards have found."""
    settings, left, bodies, seen = None, 0, {}, set()
    for path in shards:
        data = json.loads(pathlib.Path(path).read_text())
        if settings not in (None, data["settings"]):
            sys.exit(f"{path} was made with other settings than {shards[0]}; run its shard again.")
        if (data["shards"], data["shard"]) in seen or any(n != data["shards"] for n, _ in seen):
            sys.exit(f"{path} is shard {data['shard']} of {data['shards']}, which does not go with the others.")
        seen.add((data["shards"], data["shard"]))
        settings = data["settings"]
        left += data["left"]
        for piece in data["pieces"]:
            cells = bodies.setdefault(piece.pop("body"), {})
            at = place_of(piece)
            if at in cells:
                add_up(cells[at], piece)
            else:
                cells[at] = piece
    if len(seen) < max(n for n, _ in seen):
        sys.exit(f"{len(seen)} of {max(n for n, _ in seen)} shards are there; run the others, too.")
    return settings, left, bodies


def place_of(cell):
    return (["f32", "f16", "bf16"].index(cell["type"]), cell["terms"], cell["outputs"])


def save(out, settings, left, bodies):
    # A line for each body, type and size.
    lines = [
        f' "{b}": [\n' + ",\n".join("  " + json.dumps(cells[k]) for k in sorted(cells)) + "\n ]"
        for b, cells in bodies.items()
    ]
    head = f'{{"settings": {json.dumps(settings)}, "left": {left}, "bodies": {{\n'
    pathlib.Path(out).write_text(head + ",\n".join(lines) + "\n}}\n")
    return 0


def merge(out, shards):
    return save(out, *read_shards(shards))


def replace(out, shards):
    settings, left, bodies = read_shards(shards)
    whole = json.loads(pathlib.Path(out).read_text())
    if settings != whole["settings"]:
        sys.exit(f"{shards[0]} was made with other settings than {out}; run it with those, or use --merge.")
    there = {b: {place_of(c): c for c in cells} for b, cells in whole["bodies"].items()}
    for body, cells in bodies.items():
        there.setdefault(body, {}).update(cells)
    return save(out, settings, whole["left"] + left, there)


def main():
    if sys.argv[1:2] == ["--merge"]:
        return merge(sys.argv[2], sys.argv[3:])
    if sys.argv[1:2] == ["--replace"]:
        return replace(sys.argv[2], sys.argv[3:])
    source = ROOT / "judge.json"
    return page_file.put(page(json.loads(source.read_text())), ROOT / "judge.md", source)


if __name__ == "__main__":
    sys.exit(main())
