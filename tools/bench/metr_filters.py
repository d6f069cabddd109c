#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# metr_filters.py - runs `passmith task gate --filters` on exports of KernelBench and keeps what it found, beside METR's removals.
#
# metr_filters.py PASSMITH FOLDER TABLE.csv OUT.json [-j N] [--seconds N] [--max-mflop N] [--again]
# FOLDER holds PROBLEM.onnx; TABLE.csv has the columns problem and missing_in_metr_set. OUT.json is written after each problem; problems
# that it holds are not run again, but with --again those without numbers. A problem that takes more than --seconds (default 120) is
# kept with that as its reason.
import argparse
import concurrent.futures
import csv
import json
import pathlib
import subprocess


def measure(passmith, model, seconds, max_mflop):
    """What the command says of one problem: its JSON, or why there is none."""
    command = [passmith, "task", "gate", str(model), "--filters", "--types", "infer", "--json"]
    if max_mflop:
        command += ["--max-mflop", str(max_mflop)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return {"why": f"It takes more than {seconds} s."}
    try:
        said = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"why": f"The command ended with {done.returncode} and no JSON."}
    if said.get("error"):
        error = said["error"]
        text = error.get("text") or error.get("message") or json.dumps(error) if isinstance(error, dict) else error
        return {"why": text.replace(str(model), model.name)}
    found = {f["filter"]: f["found"] for f in said["filters"]}
    broken = [f["filter"] for f in said["filters"] if f["broken"]]
    return {"judged": said["judged"], "cut": said["cut"], "weights": said["weights"], "found": found, "broken": broken}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("passmith")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--max-mflop", type=int, default=0, help="millions of operations and elements of one run (default 2000)")
    parser.add_argument("--again", action="store_true", help="try again what has no numbers")
    a = parser.parse_args()

    with a.table.open(newline="") as f:
        removed = {row["problem"]: row["missing_in_metr_set"] == "1" for row in csv.DictReader(f)}
    data = json.loads(a.out.read_text()) if a.out.exists() else {}
    data["metr_removed"] = sorted(p for p, gone in removed.items() if gone)
    problems = data.setdefault("problems", {})
    models = {m.stem: m for m in sorted(a.folder.glob("*.onnx")) if m.stem not in problems or (a.again and "why" in problems[m.stem])}
    # Those that METR removed first, then its levels, then what it never had.
    order = sorted(models, key=lambda p: (not removed.get(p, False), not p.startswith("level"), p))
    with concurrent.futures.ThreadPoolExecutor(a.j) as pool:
        runs = {pool.submit(measure, a.passmith, models[p], a.seconds, a.max_mflop): p for p in order}
        for run in concurrent.futures.as_completed(runs):
            p = runs[run]
            problems[p] = run.result()
            if p.startswith("level"):  # METR's set is made from levels 1 to 3
                problems[p]["metr"] = "removed" if removed.get(p) else "kept"
            data["problems"] = problems = dict(sorted(problems.items()))
            a.out.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
