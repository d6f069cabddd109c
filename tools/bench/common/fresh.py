#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fresh.py - a draw of tasks that nobody can have tuned for; bench_systems.py --fresh uses it.

A seed is drawn when the tool runs, after the code was committed. Models are those that the benchmark has no task from, or only those
that are held out (held_out.py). They are extracted; of the fusible subgraphs those are left out whose list of operators a task of the
benchmark has; of the others tasks are made, of each list of operators before a second one of any, in an order that the seed gives.
draw.json says all of that.
"""
import hashlib
import json
import os
import secrets
import sqlite3
import subprocess
import time

from common import held_out

KIND = "draw"


class Refused(Exception):
    """A sentence: why nothing is drawn."""


# ---- what is decided without a program or a file ----


def in_order(items, seed, salt):
    """The items in the order that a seed gives; a text names each of them, and its place does not depend on what else there is."""
    return sorted(items, key=lambda x: hashlib.sha256(f"{seed}:{salt}:{x}".encode()).hexdigest())


def objection(code, drawn_at, dirty_allowed):
    """Why a draw at that time says nothing of this code, or None. `code`: {"commit", "committed_at", "dirty"}."""
    if not code.get("commit"):
        return "It is not known at which commit the code is; run it in a git checkout, or in a bundle, which has commit.json."
    if code["dirty"] and not dirty_allowed:
        return f"{code['dirty']} files differ from commit {code['commit'][:12]}; commit them first, or give --allow-dirty, which the table will say."
    if code["committed_at"] >= drawn_at:
        return f"Commit {code['commit'][:12]} is of a time after the draw ({code['committed_at']} and {drawn_at} seconds since 1970); set the clock of this machine."
    return None


def again(draw, code, asked, programs):
    """Why a run cannot go on with a draw that was made before, or None. `asked`: what this run is to draw; `programs`: digests of what runs."""
    if draw["commit"] != code.get("commit"):
        return f"The draw was made at commit {draw['commit'][:12]}, and the code is at {str(code.get('commit'))[:12]}; draw anew into another folder."
    if code.get("dirty") and not draw["dirty"]:
        return f"The code was clean when the draw was made, and now {code['dirty']} files differ; commit, and draw anew into another folder."
    for name, digest in programs.items():
        if draw["programs"].get(name) != digest:
            return f"The draw was made with another {name} than the one that is here now; draw anew into another folder."
    for key, value in asked.items():
        if draw["asked"].get(key) != value:
            return f"The draw was made with {key} {draw['asked'].get(key)}, and now it is {value}; name another folder."
    return None


def eligible(paths, used, which):
    """Model files that the benchmark has no task from."""
    return [p for p in held_out.choose(paths, which) if held_out.model_name(p) not in used]


def chosen(subgraphs, known, seed):
    """(list of operators, hash) of all subgraphs whose list is not known, in the order in which tasks are made of them: one of each list, in
    an order that the seed gives, then a second one of those that have it, and so on. `subgraphs`: (list of operators, hash)."""
    by = {}
    for operators, graph in subgraphs:
        if operators not in known:
            by.setdefault(operators, []).append(graph)
    lists = in_order(by, seed, "operators")
    by = {s: in_order(by[s], seed, "graph") for s in lists}
    return [(s, by[s][k]) for k in range(max(map(len, by.values()), default=0)) for s in lists if k < len(by[s])]


# ---- databases ----


def read(db, question):
    sq = None
    try:
        sq = sqlite3.connect(f"file:{os.path.abspath(db)}?mode=ro", uri=True)
        return sq.execute(question).fetchall()
    except sqlite3.Error as e:
        raise Refused(f"{db} cannot be read as a database of tasks ({e}); name one that passmith task build or task make wrote.") from None
    finally:
        if sq:
            sq.close()


def benchmark_of(db):
    """What a benchmark has: the lists of operators of its tasks, and the models that the tasks are from."""
    sequences = read(db, "SELECT DISTINCT q.text FROM variants v JOIN subgraphs s ON s.id IN (v.subgraph, v.base) JOIN op_seqs q ON q.id = s.op_seq")
    models = read(db, "SELECT DISTINCT m.name FROM variants v JOIN occurrences o ON o.subgraph IN (v.subgraph, v.base) JOIN models m ON m.id = o.model")
    if not sequences:
        raise Refused(f"{db} has no task; give the database of the benchmark that the draw has to stay away from.")
    return {s for s, in sequences}, {held_out.model_name(m) for m, in models}


def subgraphs_of(db):
    return read(db, "SELECT q.text, s.hash FROM kinds k JOIN subgraphs s ON s.id = k.subgraph JOIN op_seqs q ON q.id = s.op_seq WHERE k.kind = 'fusible'")


def models_of(db, graphs):
    """{hash: names of the models that hold the graph}."""
    found = {}
    for graph, model in read(db, "SELECT s.hash, m.name FROM occurrences o JOIN subgraphs s ON s.id = o.subgraph JOIN models m ON m.id = o.model"):
        if graph in graphs:
            found.setdefault(graph, set()).add(held_out.model_name(model))
    return found


# ---- programs ----


def code_of(root):
    """The commit that the code is at, by git or by commit.json of a bundle."""
    git = ["git", "-C", root]
    try:
        top = subprocess.run(git + ["rev-parse", "--show-toplevel"], capture_output=True, text=True, check=True).stdout.strip()
        if os.path.realpath(top) == os.path.realpath(root):
            commit, at = subprocess.run(git + ["log", "-1", "--format=%H %ct"], capture_output=True, text=True, check=True).stdout.split()
            changed = subprocess.run(git + ["status", "--porcelain"], capture_output=True, text=True, check=True).stdout.splitlines()
            return {"commit": commit, "committed_at": int(at), "dirty": len(changed)}
    except (OSError, subprocess.CalledProcessError, ValueError):
        pass
    path = os.path.join(root, "commit.json")
    if os.path.exists(path):
        with open(path) as f:
            return json.load(f)
    return {}


def digests(paths):
    """{name of a file: SHA-256 of its bytes}."""
    out = {}
    for path in paths:
        with open(path, "rb") as f:
            out[os.path.basename(path)] = hashlib.sha256(f.read()).hexdigest()
    return out


def answer(command):
    done = subprocess.run(command + ["--json", "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"error": f"The command ended with {done.returncode} and no answer."}


def extract(passmith, db, paths):
    """Cuts the models; those that cannot be read are noted in the database and give no subgraph."""
    listed = db + ".models"
    with open(listed, "w") as f:
        f.write("".join(p + "\n" for p in paths))
    subprocess.run([passmith, "extract", "--from", listed, "--db", db, "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def make_tasks(passmith, db, wanted, n, shapes):
    """(tasks, refused): tasks of the first n subgraphs of which one can be made."""
    tasks, refused = [], []
    for operators, graph in wanted:
        if len(tasks) == n:
            break
        said = answer([passmith, "task", "make", "--db", db, "--subgraph", graph, "--shapes", str(shapes)])
        made = [t for t in said.get("results") or [] if t.get("variants")]
        if made:
            tasks.append({"id": made[0]["id"], "name": made[0]["name"], "operators": operators, "graph": graph, "graphs": made[0]["variants"]})
        else:
            refused.append({"graph": graph, "why": said.get("error") or "None of its variants can be made."})
    return tasks, refused


def make_draw(o, code, asked, programs, drawn_at):
    """Draws into o.out/fresh.db and returns what draw.json holds."""
    why = objection(code, drawn_at, o.allow_dirty)
    if why:
        raise Refused(why)
    seed = o.draw_seed if o.draw_seed is not None else secrets.randbits(48)
    known, used = benchmark_of(o.db)
    paths = [os.path.join(at, f) for folder in o.models for at, _, files in sorted(os.walk(folder)) for f in sorted(files) if f.endswith((".onnx", ".gpt"))]
    models = eligible(paths, used, o.which)
    if not models:
        raise Refused(f"None of {len(paths)} models ({o.which}) is without a task in {o.db}; give other models.")
    db = os.path.join(o.out, "fresh.db")
    if os.path.exists(db):
        raise Refused(f"{db} is there and draw.json is not: a draw was cut off; name another folder.")
    extract(o.passmith, db, models)
    wanted = chosen(subgraphs_of(db), known, seed)
    tasks, refused = make_tasks(o.passmith, db, wanted, o.tasks, o.shapes)
    where = models_of(db, {t["graph"] for t in tasks})
    for t in tasks:
        t["models"] = sorted(where.get(t["graph"], ()))
    names = sorted({m for t in tasks for m in t["models"]})
    return {"kind": KIND, "seed": seed, "seed_given": o.draw_seed is not None, "drawn_at": drawn_at, **code, "asked": asked, "programs": programs,
            "benchmark": {"operator_lists": len(known), "models": len(used)}, "models_offered": len(models), "operator_lists_offered": len({s for s, _ in wanted}),
            "operator_lists": len({t["operators"] for t in tasks}),
            "models": names, "models_held_out": sum(map(held_out.held_out, names)), "graphs": sum(t["graphs"] for t in tasks), "tasks": tasks,
            "refused": refused}


def the_draw(o, root):
    """The draw of the folder o.out: the one that is there, or a new one."""
    path, code = os.path.join(o.out, "draw.json"), code_of(root)
    programs = digests([o.passmith] + [p.split("=", 1)[-1] for p in o.passes])
    asked = {"tasks": o.tasks, "shapes": o.shapes, "models": o.which, "dirty_allowed": o.allow_dirty}
    if os.path.exists(path):
        with open(path) as f:
            draw = json.load(f)
        why = again(draw, code, asked, programs)
        if why:
            raise Refused(why)
        return draw
    draw = make_draw(o, code, asked, programs, int(time.time()))
    with open(path + ".tmp", "w") as f:
        json.dump(draw, f, indent=1)
        f.write("\n")
    os.replace(path + ".tmp", path)
    return draw


def told(draw):
    """The lines under a table of a draw."""
    day = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(draw["drawn_at"]))
    made = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(draw["committed_at"]))
    lines = [f"Seed {draw['seed']}{' (given by hand)' if draw['seed_given'] else ''}, drawn {day} UTC, after commit {draw['commit'][:12]} of {made} UTC.",
             f"{draw['graphs']} graphs of {len(draw['tasks'])} tasks from {len(draw['models'])} models, {draw['models_held_out']} of them held out. "
             f"None of their {draw['operator_lists']} lists of operators is among the {draw['benchmark']['operator_lists']} of the benchmark, and no model among its {draw['benchmark']['models']}."]
    if len(draw["tasks"]) < draw["asked"]["tasks"]:
        lines.append(f"{draw['asked']['tasks']} tasks were asked for, and the models have no more.")
    if draw["dirty"]:
        lines.append(f"{draw['dirty']} files differed from the commit: this is no figure that counts.")
    if draw["seed_given"]:
        lines.append("The seed was not drawn when it was measured: this is no figure that counts.")
    return lines
