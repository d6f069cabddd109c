#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""honest_graphs.py PASS.so MODELS... - how much of what a right pass makes of graphs drawn at random is refused.

MODELS are files or folders of .onnx files, or of graphs (.gpt) that --draw wrote. By the seed, models are drawn, cut into fusible subgraphs, and of these
some are drawn and made into variants of several shapes and element types; of the variants -n are drawn. The pass is
evaluated on each (preset sound, as a stranger's). Prints verdicts, and a line for each refusal with what repeats it.
Nothing is timed. Use a seed that nobody has looked at: the count says nothing about graphs that the judge was mended for.
Exit 1 when more than 0.5 % of the graphs on which the pass applies are refused.

    tools/judge/honest_graphs.py build/passes/fuse.so ~/models -n 300 --seed 20261122 -o drawn.json
    tools/judge/honest_graphs.py build/passes/fuse.so ~/models -n 300 --seed 20261122 --draw drawn    # draws alone
    tools/judge/honest_graphs.py build/passes/fuse.so drawn --seed 20261122 --device cuda             # elsewhere
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

REFUSED_AT_MOST = 0.005
NOT_JUDGED = ("NO_MATCH", "NO_CREDIT")


def run(args, words, ok=(0, 1)):
    done = subprocess.run([os.path.join(args.build, "passmith")] + words, capture_output=True, text=True)
    if done.returncode not in ok:
        sys.exit(f"honest_graphs.py: passmith {' '.join(words[:3])} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def find(places, ending):
    files = []
    for p in places:
        files += sorted(glob.glob(os.path.join(p, "*" + ending))) if os.path.isdir(p) else [p] if p.endswith(ending) else []
    return files


def read(path):
    with open(path) as f:
        return f.read()


def draw_graphs(args, rng, work):
    """(label, text) of -n variants, from as many subgraphs as can be."""
    drawn = find(args.models, ".gpt")
    if drawn:
        return [(os.path.basename(p), read(p)) for p in drawn]
    db = os.path.join(work, "drawn.db")
    files = find(args.models, ".onnx")
    if not files:
        sys.exit("honest_graphs.py: there is no .onnx and no .gpt file in what was given")
    run(args, ["extract", "--quiet", "--db", db] + rng.sample(files, min(args.from_models, len(files))), ok=(0, 1, 4))
    con = sqlite3.connect(db)
    hashes = [h for (h,) in con.execute("SELECT s.hash FROM subgraphs s JOIN kinds k ON k.subgraph = s.id"
                                        " WHERE k.kind = 'fusible' ORDER BY s.hash")]
    rng.shuffle(hashes)
    for h in hashes[: max(args.n // 2, 1)]:
        run(args, ["task", "make", "--quiet", "--db", db, "--subgraph", h, "--name", h[:12], "--shapes", "4",
                   "--max-elements", str(args.max_elements), "--max-mflop", str(args.max_mflop)], ok=(0, 1, 4))
    rows = con.execute("SELECT t.name, m.label, s.text FROM variants m JOIN tasks t ON t.id = m.task"
                       " JOIN subgraphs s ON s.id = m.subgraph ORDER BY t.name, m.ordinal").fetchall()
    con.close()
    rng.shuffle(rows)
    return [(f"{name} {label}", text) for name, label, text in rows[: args.n]]


def evaluate(args, work, i, graph):
    label, text = graph
    path = os.path.join(args.keep or work, f"{i:04d}.gpt")
    with open(path, "w") as f:
        f.write(text)
    out = run(args, ["eval", path, "--pass", args.so, "--hidden", "0", "--check-only", "--device", args.device, "--json", "--quiet"],
              ok=(0, 1, 4, 5))
    told = json.loads(out) if out.strip() else {"error": "the evaluation printed nothing"}
    if told["error"]:
        return label, path, "NO_ANSWER", told["error"]
    r = told["results"][0]["records"][0]
    return label, path, r["verdict"], r.get("why") or ""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("so")
    p.add_argument("models", nargs="+")
    p.add_argument("-n", type=int, default=300, help="graphs")
    p.add_argument("--seed", type=int, required=True)
    p.add_argument("--from-models", type=int, default=40, help="models to draw from")
    p.add_argument("--max-elements", type=int, default=200000, help="of one value")
    p.add_argument("--max-mflop", type=int, default=100, help="of one graph")
    p.add_argument("--build", default="build", help="the folder with passmith")
    p.add_argument("--device", default="emu")
    p.add_argument("--draw", help="write the graphs to this folder, and evaluate nothing")
    p.add_argument("--keep", help="a folder for the graphs' texts")
    p.add_argument("-j", type=int, default=os.cpu_count())
    p.add_argument("-o", help="write what was found to this file, as JSON")
    args = p.parse_args()
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
    counts, refusals = collections.Counter(), []
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        graphs = draw_graphs(args, random.Random(args.seed), work)
        if args.draw:
            os.makedirs(args.draw, exist_ok=True)
            for i, (_, text) in enumerate(graphs):
                with open(os.path.join(args.draw, f"{i:04d}.gpt"), "w") as f:
                    f.write(text)
            print(f"{len(graphs)} graphs in {args.draw}")
            return 0
        for done, r in enumerate(pool.map(lambda g: evaluate(args, work, *g), enumerate(graphs)), 1):
            counts[r[2]] += 1
            if r[2] != "OK" and r[2] not in NOT_JUDGED:
                refusals.append(r)
                print(f"refused: {r[0]} ({r[1]}): {r[2]}: {r[3]}", flush=True)
            print(f"\r{done} of {len(graphs)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    judged = len(graphs) - sum(counts[v] for v in NOT_JUDGED)
    print(", ".join(f"{v} {n}" for v, n in counts.most_common()))
    print(f"graphs drawn by seed {args.seed}: {len(refusals)} of {judged} refused ({len(graphs) - judged} not matched)")
    if args.o:
        with open(args.o, "w") as f:
            json.dump({"seed": args.seed, "drawn": len(graphs), "verdicts": counts, "refused": [r[0::2] + (r[3],) for r in refusals]}, f, indent=1)
    return 1 if not judged or len(refusals) > REFUSED_AT_MOST * judged else 0


if __name__ == "__main__":
    sys.exit(main())
