#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""levels.py prepare EXPORTS -o DIR | levels.py run DIR - KernelBench's levels 1 to 3 with `fuse`, the pass library and PyTorch.

prepare: needs no GPU. EXPORTS is a folder of LEVEL__NUMBER_NAME.onnx (tools/bench/import_kernelbench.py). Of each problem of the levels it
keeps the model, the graph as a PyTorch module (`passmith task export --torch`), its category, which passes apply, and the memory that
the plan takes. run: needs a GPU and PyTorch. It times the problems at their own sizes: PyTorch eager and TorchInductor (levels_torch.py),
the eager run, `fuse`, and each pass of the library that applies (`passmith time`).

Problems come in an order by a hash of their names, in batches that are finished one by one, so that a run that is stopped at any time
has a fair sample. DIR/levels.json holds the rows. What it holds is not done again: start the same line again to go on. Compiling is
done ahead, by --jobs processes, in front of each batch; while something is timed, nothing else runs.

    tools/bench/levels.py prepare onnx -o levels --table kernelbench.csv
    tools/bench/levels.py run levels --seconds 1000
    tools/bench/levels.py run levels --seconds 1000 --modes max-autotune-search
    cp levels/levels.json docs/results && tools/gen/levels_page.py

run --dry: the device `emu` and modelled times, small models, no PyTorch: it tries the tool, and no page is made of it.
"""
import argparse
import concurrent.futures
import csv
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from common import torch_modes

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "..", "..", "build")
FUSE = "fuse"
# A matched graph is right when its outputs agree with those of the eager run in float at this level of tolerance or a stricter one.
RIGHT_T, STRICT_T = -2, -4


def in_order(names):
    return sorted(names, key=lambda n: hashlib.sha256(f"levels:{n}".encode()).hexdigest())


def call(command, seconds):
    """(exit code, stdout); 124 when it took longer and was ended. Its messages go where ours go."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True)
    try:
        out = child.communicate(timeout=seconds)[0]
        return child.returncode, out
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # and what it started
        return 124, child.communicate()[0]


def answer(command, seconds):
    """The object that a command of passmith prints with --json; its error where there is none."""
    code, text = call(command + ["--json", "--quiet"], seconds)
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return {"error": f"It takes more than {seconds:.0f} s." if code == 124 else f"The command ended with {code} and no answer."}


def torch_rows(data):
    """What has PyTorch's modes as keys."""
    return [p["torch"] for p in data["problems"].values() if "torch" in p]


class Book:
    """DIR/levels.json, written as a whole whenever a row is new."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "levels.json")
        self.data = {"kind": "levels", "problems": {}}
        if os.path.exists(self.path):
            with open(self.path) as f:
                self.data = json.load(f)
            if self.data.get("kind") != "levels":
                sys.exit(f"levels: {self.path} is not a file of this tool; name another folder.")
        torch_modes.renew(self.data, torch_rows)
        self.problems = self.data["problems"]

    def write(self):
        self.data["problems"] = self.problems = dict(sorted(self.problems.items()))
        with open(self.path + ".tmp", "w") as f:
            json.dump(self.data, f, indent=1)
            f.write("\n")
        os.replace(self.path + ".tmp", self.path)


# ---- prepare ----


def passes_in(folder):
    """{name: file}: what is built, but for the template."""
    return {f[:-3]: os.path.join(folder, f) for f in sorted(os.listdir(folder)) if f.endswith(".so") and f != "TEMPLATE.so"}


def prepare_one(o, name, level, table):
    model = os.path.join(o.out, "models", name + ".onnx")
    shutil.copyfile(os.path.join(o.exports, name + ".onnx"), model)
    said = answer([o.passmith, "import", model, "--types", "infer"], o.limit)
    if said.get("error"):
        return {"level": level, "error": said["error"].replace(model, name + ".onnx")}
    row = {"level": level, "category": said["results"][0]["category"], "nodes": said["results"][0]["nodes"], "applies": []}
    for column, key in (("h100_eager_ms", "h100_eager_ms"), ("h100_inductor_default_ms", "h100_inductor_ms")):
        if table.get(name, {}).get(column):
            row[key] = float(table[name][column])
    with tempfile.TemporaryDirectory() as tmp:
        for what, so in passes_in(o.passes).items():
            said = answer([o.passmith, "apply", model, "--types", "infer", "--pass", so, "-o", os.path.join(tmp, "out.gpt")], o.limit)
            if said.get("applied"):
                row["applies"].append(what)
            if what == FUSE and "memory_after" in said:
                row["memory"] = {k: said["memory_" + k] for k in ("before", "after", "live_before")}
            if what == FUSE and said.get("error"):
                row["fuse_error"] = said["error"]
    if row["nodes"] > o.max_nodes:
        row["torch_error"] = f"The export has {row['nodes']} nodes: it unrolls a recurrent layer, which PyTorch runs as one call of cuDNN. A comparison would not be fair."
        return row
    folder = os.path.join(o.out, "torch", name)
    said = answer([o.passmith, "task", "export", model, "--types", "infer", "--torch", folder, "--max-check", "0"], o.limit)
    found = [r for r in said.get("results", []) if not r["refused"]]
    if found:
        row["torch_folder"] = os.path.relpath(found[0]["folder"], o.out)
    else:
        row["torch_error"] = said.get("error") or said["results"][0]["refused"]
    return row


def prepare(o):
    for sub in ("models", "torch"):
        os.makedirs(os.path.join(o.out, sub), exist_ok=True)
    book, table = Book(o.out), {}
    if o.table:
        with open(o.table, newline="") as f:
            table = {r["problem"]: r for r in csv.DictReader(f)}
    levels = {f"level{k}__": k for k in o.levels.split(",")}
    names = {f[:-5]: levels[f.split("__")[0] + "__"] for f in os.listdir(o.exports)
             if f.endswith(".onnx") and f.split("__")[0] + "__" in levels}
    if not names:
        sys.exit(f"levels: {o.exports} has no file like level2__9_name.onnx; tools/bench/import_kernelbench.py makes them.")
    todo = [n for n in in_order(names) if n not in book.problems]
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        runs = {pool.submit(prepare_one, o, n, names[n], table): n for n in todo}
        for run in concurrent.futures.as_completed(runs):
            book.problems[runs[run]] = run.result()
            book.write()
            print(f"{len(book.problems)} of {len(names)}: {runs[run]}", file=sys.stderr, flush=True)
    bad = sum("error" in r for r in book.problems.values())
    print(f"{len(book.problems)} problems in {o.out}, {bad} of them not read")
    return 0


# ---- run: our side ----


def times_of(record, system):
    """The row of one system of a record of passmith time; None when it has none."""
    t = record.get("times", {}).get("passmith " + system)
    if not t:
        return None
    row = {k: t[k]["seconds"] for k in ("cold", "replay", "wall") if t.get(k, {}).get("seconds")}
    row.update({k: t[k] for k in ("memory", "changed", "smallest_t") if k in t})
    return row


def time_batch(o, book, names, what, until):
    """`passmith time` with one pass on some problems; a batch that dies is tried one by one."""
    models = {os.path.join(o.dir, "models", n + ".onnx"): n for n in names}
    out = os.path.join(o.dir, "times.json")
    if os.path.exists(out):
        os.remove(out)
    limit = max(until - time.time(), 0) + o.limit
    code, _ = call([o.passmith, "time", *models, "--types", "infer", "--pass", passes_in(o.passes)[what], "--blocks", str(o.blocks), "-o", out,
                    "--quiet"], limit)
    records, about = [], {}
    if os.path.exists(out):
        with open(out) as f:
            about = json.load(f)
        records = about.get("records", [])
    for r in records:
        name = models.get(r["target"])
        if name is None:
            continue
        row = times_of(r, what) or {"error": r.get("error", "It was not timed.")}
        row.update({k: r[k] for k in ("roofline_seconds", "launches", "declined") if k in r})
        book.problems[name].setdefault("ours", {})[what] = row
        eager = times_of(r, "eager")
        if eager and what == FUSE:
            book.problems[name]["ours"]["eager"] = eager
    left = [n for n in names if what not in book.problems[n].get("ours", {})]
    if left and len(names) > 1 and time.time() < until:
        for n in left:
            time_batch(o, book, [n], what, until)
    elif left and time.time() < until:
        book.problems[left[0]].setdefault("ours", {})[what] = {"error": f"passmith time ended with {code} and no row."}
    if about.get("device"):
        book.data["passmith"] = {k: about[k] for k in ("device", "cublaslt", "cudnn") if k in about}


def dry_batch(o, book, names):
    """`passmith eval` on emu: verdict and modelled times."""
    for n in names:
        model = os.path.join(o.dir, "models", n + ".onnx")
        said = answer([o.passmith, "eval", model, "--types", "infer", "--pass", passes_in(o.passes)[FUSE], "--hidden", "0"], o.limit)
        records = said.get("results", [{}])[0].get("records", []) if said.get("results") else []
        if not records:
            row = {"error": said.get("error") or "no record"}
        else:
            r = records[0]
            row = {"changed": r.get("kernels", 0) > 0, "verdict": r["verdict"], "smallest_t": r.get("smallest_t"), "modelled": r.get("candidate_seconds")}
        book.problems[n].setdefault("ours", {})[FUSE] = row


# ---- run: PyTorch's side ----


def torch_lines(o, names, modes, extra, seconds):
    """{name: row} and what the process says of itself; a process that dies has one problem for it, and the next goes on."""
    folders = {os.path.join(o.dir, book_row["torch_folder"]): n for n, book_row in names.items()}
    rows, about, todo = {}, None, list(folders)
    until = time.time() + seconds
    while todo and time.time() < until:
        code, text = call([sys.executable, o.torch_side, *todo, "--modes", ",".join(modes), "--blocks", str(o.blocks), "--limit", str(o.limit), *extra],
                          until - time.time())
        begun = None
        for line in text.splitlines():
            try:
                said = json.loads(line)
            except json.JSONDecodeError:
                continue
            about = said.get("about", about)
            begun = said.get("begin", begun)
            if "row" in said:
                rows[folders[said["folder"]]], begun = said["row"], None
        if begun and code != 124:
            rows[folders[begun]] = {"error": f"The process ended with {code}."}
        before = len(todo)
        todo = [f for f in todo if folders[f] not in rows]
        if len(todo) == before and code != 124:
            return rows, about, f"{os.path.basename(o.torch_side)} ended with {code} before its first problem"
    return rows, about, None


def torch_missing(row, modes):
    """The modes that a problem has no row of."""
    have = row.get("torch", {})
    return [] if "torch_folder" not in row or "error" in have else [m for m in modes if m not in have]


def torch_batch(o, book, names, until):
    wanted = {n: book.problems[n] for n in names if torch_missing(book.problems[n], o.modes)}
    if not wanted:
        return
    if any(torch_modes.mode(m).base != "eager" for m in o.modes):  # the compiler's cache on disk is what the timing process finds
        parts = [dict(list(wanted.items())[k::o.jobs]) for k in range(min(o.jobs, len(wanted)))]
        with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
            made = pool.map(lambda part: torch_lines(o, part, o.modes, ["--compile-only"], max(until - time.time(), 1))[0], parts)
        for n, row in ((n, row) for rows in made for n, row in rows.items()):
            failed = {m: r for m, r in row.items() if isinstance(r, dict) and "error" in r}
            book.problems[n].setdefault("torch", {}).update(failed)  # it is not compiled once more to fail again
    for modes in {tuple(torch_missing(row, o.modes)) for row in wanted.values()} - {()}:
        some = {n: row for n, row in wanted.items() if tuple(torch_missing(row, o.modes)) == modes}
        rows, about, why = torch_lines(o, some, modes, [], max(until - time.time(), 0) + o.limit)
        if why:
            sys.exit(f"levels: {why}; run it by hand on one folder below {o.dir}/torch to see why.")
        for n, row in rows.items():
            book.problems[n].setdefault("torch", {}).update(row)
        if about:
            book.data["torch"] = about


# ---- run ----


def is_done(o, row):
    if "error" in row:
        return True
    ours = row.get("ours", {})
    return FUSE in ours and (o.dry or (not torch_missing(row, o.modes) and all(p in ours for p in row["applies"])))


def driver():
    code, text = call(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], 30) if shutil.which("nvidia-smi") else (1, "")
    return text.splitlines()[0].strip() if code == 0 and text else None


def run_batch(o, book, names, until):
    if o.dry:
        dry_batch(o, book, names)
        return
    torch_batch(o, book, names, until)
    book.write()
    here = passes_in(o.passes)
    for what in [FUSE] + [p for p in here if p != FUSE]:
        some = [n for n in names if what not in book.problems[n].get("ours", {}) and (what == FUSE or what in book.problems[n]["applies"])]
        if some and time.time() < until:
            time_batch(o, book, some, what, until)
            book.write()


def run(o):
    book = Book(o.dir)
    if not book.problems:
        sys.exit(f"levels: {book.path} holds no problem; levels.py prepare makes it.")
    if book.data.get("dry", o.dry) != o.dry:
        sys.exit(f"levels: {book.path} is of {'a dry run' if not o.dry else 'a GPU'}; take another folder.")
    begin = time.time()
    until = begin + o.seconds
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.abspath(os.path.join(o.dir, "inductor")))
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    book.data.update({"dry": o.dry, "blocks": o.blocks, "right_t": RIGHT_T, "strict_t": STRICT_T,
                      "date": time.strftime("%Y-%m-%d"), "version": call([o.passmith, "--version"], 30)[1].strip(), "hardware": "emu, modelled times" if o.dry else driver()})
    todo = [n for n in in_order(book.problems) if not is_done(o, book.problems[n])]
    todo.sort(key=lambda n: "torch_error" in book.problems[n])  # what is compared with nothing comes last
    for at in range(0, len(todo), o.batch):
        if time.time() > until:
            break
        run_batch(o, book, todo[at:at + o.batch], until)
        book.write()
        left = sum(not is_done(o, r) for r in book.problems.values())
        print(f"{time.time() - begin:.0f} s: {len(book.problems) - left} of {len(book.problems)} problems", file=sys.stderr, flush=True)
    book.data["seconds"] = round(book.data.get("seconds", 0) + time.time() - begin)
    book.write()
    left = sum(not is_done(o, r) for r in book.problems.values())
    print(f"{len(book.problems) - left} problems done, {left} left: the same line goes on with them")
    return 0


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    verbs = p.add_subparsers(dest="verb", required=True)
    a, b = verbs.add_parser("prepare"), verbs.add_parser("run")
    a.add_argument("exports")
    a.add_argument("-o", dest="out", required=True)
    a.add_argument("--table", help="CSV with the columns problem, h100_eager_ms, h100_inductor_default_ms: KernelBench's own times")
    a.add_argument("--levels", default="1,2,3")
    a.add_argument("--max-nodes", type=int, default=10000, help="a larger graph is not given to PyTorch")
    b.add_argument("dir")
    b.add_argument("--modes", default="eager-search,inductor-search", type=torch_modes.parse, help="of torch_modes.py: all with cuDNN's search or all without")
    b.add_argument("--blocks", type=int, default=4)
    b.add_argument("--batch", type=int, default=12)
    b.add_argument("--seconds", type=float, default=86400, help="no batch is begun after that")
    b.add_argument("--torch-side", default=os.path.join(HERE, "levels_torch.py"), help=argparse.SUPPRESS)
    b.add_argument("--dry", action="store_true", help="on emu, without PyTorch")
    for v in (a, b):
        v.add_argument("--passmith", default=os.path.join(BUILD, "passmith"))
        v.add_argument("--passes", default=os.path.join(BUILD, "passes"))
        v.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
        v.add_argument("--limit", type=float, default=120, help="seconds that one command of one problem may take")
    o = p.parse_args()
    if FUSE not in passes_in(o.passes):
        sys.exit(f"levels: {o.passes} has no {FUSE}.so; make builds it.")
    return prepare(o) if o.verb == "prepare" else run(o)


if __name__ == "__main__":
    sys.exit(main())
