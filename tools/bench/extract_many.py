#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""extract_many.py --models DIR --work DIR --json OUT --copies N [option...] - `passmith extract` of a corpus, copied N times.

Copy 0 is the folder's *.onnx under other names; the others have other bytes, and every --rename-th has other names of all values and
nodes too. So no file's SHA-256 is that of another, and graphs are equal. The copies of one call are made, extracted into WORK/many.db
and deleted. OUT is written after each call, and the same command again goes on with what is missing. Kept of each call: seconds of
the wall's clock and user+sys, the largest process's memory, the database's bytes, and what is stored, with a digest over all graphs. At the
end the places of every copy are compared with those of the first.

    tools/bench/extract_many.py --models DIR --work DIR --json many.json --copies 123 [--calls 1,10,4] [--jobs 2] [--build build]
                                [--rename-every 5] [--budget SECONDS] [--note TEXT]
    tools/bench/extract_many.py --models DIR --work DIR --json many.json --memory 1,10,100 [--largest BYTES]

--calls: copies of the first call, the second, ...; the last number stays. --memory: only the memory of one call over so many copies, each into a
new database, of the models of at most --largest bytes.
"""
import argparse
import datetime
import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import bench_eval

# Where ONNX's messages have names: field -> True for a name, or the message that it holds.
TENSOR, VALUE = {8: True}, {1: True}
NODE = {1: True, 2: True, 3: True, 5: {}}
GRAPH = {1: NODE, 5: TENSOR, 11: VALUE, 12: VALUE, 13: VALUE, 15: {1: TENSOR, 2: TENSOR}}
NODE[5].update({6: GRAPH, 11: GRAPH})
MODEL = {7: GRAPH, 25: {4: True, 5: True, 7: NODE, 12: VALUE}}
METADATA = 14  # of a model: entries that only a reader looks at


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def read_varint(b, at):
    n = shift = 0
    while True:
        c = b[at]
        at += 1
        n |= (c & 127) << shift
        if c < 128:
            return n, at
        shift += 7


def renamed(b, message, prefix):
    """The bytes of a message with a prefix before every name that is not empty."""
    out, at = [], 0
    while at < len(b):
        begin = at
        tag, at = read_varint(b, at)
        kind = tag & 7
        if kind == 2:
            n, at = read_varint(b, at)
            inner, at = b[at:at + n], at + n
            what = message.get(tag >> 3)
            if what and inner:
                inner = prefix + inner if what is True else renamed(inner, what, prefix)
                out += [varint(tag), varint(len(inner)), inner]
                continue
        elif kind == 0:
            _, at = read_varint(b, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            sys.exit(f"extract_many: a field of kind {kind} is in no ONNX file.")
        out.append(b[begin:at])
    return b"".join(out)


def entry(key, value):
    body = b"".join(varint(field << 3 | 2) + varint(len(text)) + text for field, text in ((1, key), (2, value)))
    return varint(METADATA << 3 | 2) + varint(len(body)) + body


def arguments():
    p = argparse.ArgumentParser(description="extracts many copies of a corpus", allow_abbrev=False)
    p.add_argument("--models", metavar="DIR", required=True)
    p.add_argument("--work", metavar="DIR", required=True, help="the database, and the copies of one call")
    p.add_argument("--json", metavar="OUT", required=True)
    p.add_argument("--copies", type=int, default=0)
    p.add_argument("--calls", default="1,10,4", help="copies of the first call, the second, ...")
    p.add_argument("--memory", default="", help="numbers of copies")
    p.add_argument("--largest", type=int, default=1 << 40, help="leave out larger models")
    p.add_argument("--rename-every", type=int, default=5)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--build", default=os.environ.get("BUILD", "build"))
    p.add_argument("--budget", type=float, default=0, help="seconds after which no call is begun; 0: none")
    p.add_argument("--note", default="", help="what else there is to know of the machine")
    a = p.parse_args()
    if not a.copies and not a.memory:
        p.error("give --copies N or --memory N,N")
    a.calls = [int(n) for n in a.calls.split(",")]
    if min(a.calls) < 1:
        p.error("--calls needs numbers from 1")
    return a


def models_of(a):
    names = sorted(n for n in os.listdir(a.models) if n.endswith(".onnx") and os.path.getsize(os.path.join(a.models, n)) <= a.largest)
    if not names:
        sys.exit(f"extract_many: the folder {a.models} has no .onnx file of at most {a.largest} bytes; name one that has models.")
    return names


def is_renamed(a, k):
    return k > 0 and k % a.rename_every == 0


def make_copy(a, names, k, folder):
    """Writes copy k into the folder; returns its paths. Renaming is slow, and done once."""
    os.makedirs(os.path.join(a.work, "renamed"), exist_ok=True)
    paths = []
    for n in names:
        source = os.path.join(a.models, n)
        if is_renamed(a, k):
            other = os.path.join(a.work, "renamed", n)
            if not os.path.exists(other):
                with open(source, "rb") as f, open(other + ".part", "wb") as g:
                    g.write(renamed(f.read(), MODEL, b"again_"))
                os.replace(other + ".part", other)
            source = other
        paths.append(os.path.join(folder, f"c{k:04d}_{n}"))
        shutil.copyfile(source, paths[-1])
        if k > 0:
            with open(paths[-1], "ab") as f:
                f.write(entry(b"copy", b"%d" % k))
    return paths


def apart(f, *args):
    """f in a process of its own: what this one ever held would count as memory of the programs that it starts."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(f, args)


def make_copies(a, names, copies, folder):
    with open(os.path.join(a.work, "list.txt"), "w") as f:
        for k in copies:
            f.write("".join(p + "\n" for p in make_copy(a, names, k, folder)))


def extract(a, names, copies, db):
    """One call over some copies: its answer and what it took."""
    folder = os.path.join(a.work, "copies")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    child = None
    try:
        apart(make_copies, a, names, copies, folder)
        command = [os.path.join(a.build, "passmith"), "extract", "--from", os.path.join(a.work, "list.txt"), "--db", db, "-j", f"{a.jobs}", "--json", "--quiet"]
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ, TMPDIR=os.path.abspath(a.work)))
        text = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begin
    finally:
        if child and child.returncode is None:  # this program was ended
            child.kill()
            child.wait()
        shutil.rmtree(folder, ignore_errors=True)
    try:
        answer = json.loads(text)
    except ValueError:
        answer = {"error": "no answer"}
    if child.returncode or answer["error"]:
        sys.exit(f"extract_many: {' '.join(command)} ended with status {child.returncode}: {answer['error']}")
    return answer, {"copies": len(copies), "models": answer["models_done"], "before": answer["models_skipped"], "wall": round(wall, 2),
                    "cpu": round(used.ru_utime + used.ru_stime, 2), "peak_kb": used.ru_maxrss, "load": round(os.getloadavg()[0], 1),
                    "structures": answer["structures_folded"], "fold_seconds": round(answer["fold_seconds"], 2),
                    "cut_seconds": round(answer["cut_seconds"], 2)}


def digest(rows):
    h, n = hashlib.sha256(), 0
    for row in rows:
        h.update("\t".join(map(str, row)).encode() + b"\n")
        n += 1
    return n, h.hexdigest()[:16]


def held(db):
    """What the database has: bytes, graphs of each kind, and a digest over all of them."""
    sq = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    kinds = dict(sq.execute("SELECT kind, count(*) FROM kinds GROUP BY kind"))
    n, all_graphs = digest(sq.execute("SELECT k.kind, s.hash, s.text FROM kinds k JOIN subgraphs s ON s.id = k.subgraph ORDER BY 1, 2"))
    models, = sq.execute("SELECT count(*) FROM models WHERE status = 'done'").fetchone()
    sq.close()
    return {"db_bytes": os.path.getsize(db), "models_held": models, "graphs": kinds, "graphs_digest": all_graphs}


def places(db, k):
    """The places of one copy: which graphs at which nodes of which model."""
    sq = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    found = digest(sq.execute("SELECT substr(m.name, 7), s.hash, o.nodes FROM models m JOIN occurrences o ON o.model = m.id "
                              "JOIN subgraphs s ON s.id = o.subgraph WHERE m.name GLOB ? ORDER BY 1, 2, 3", (f"c{k:04d}_*",)))
    sq.close()
    return found


def save(path, data):
    """One line for each call, and never half a file."""
    head = json.dumps({k: v for k, v in data.items() if k not in ("calls", "memory")}, indent=1, sort_keys=True)[:-2]
    lists = [f' "{name}": [\n  ' + ",\n  ".join(json.dumps(c, sort_keys=True) for c in data[name]) + "\n ]" if data[name] else f' "{name}": []'
             for name in ("calls", "memory")]
    with open(path + ".part", "w") as f:
        f.write(head + ",\n" + ",\n".join(lists) + "\n}\n")
    os.replace(path + ".part", path)


def start(a):
    if os.path.exists(a.json):
        return bench_eval.read(a.json)
    return {"date": f"{datetime.date.today()}", "hardware": bench_eval.processor(), "commit": bench_eval.commit(),
            "note": a.note, "jobs": a.jobs, "rename_every": a.rename_every, "calls": [], "memory": [], "same": {}}


def measure(a, data, names, begin):
    db = os.path.join(a.work, "many.db")
    done = sum(c["copies"] for c in data["calls"])
    if done and not os.path.exists(db):
        sys.exit(f"extract_many: {a.json} has {done} copies, and {db} is not there; name the folder of that run, or another file.")
    while done < a.copies:
        if a.budget > 0 and time.monotonic() - begin > a.budget:
            print(f"the time of --budget {a.budget:g} is over; copies {done} to {a.copies - 1} are missing; the same command goes on with them")
            return 2
        n = a.calls[min(len(data["calls"]), len(a.calls) - 1)]
        copies = range(done, min(done + n, a.copies))
        answer, call = extract(a, names, copies, db)
        call.update(apart(held, db), places=sum(k["stored_occurrences"] for k in answer["kinds"].values()))
        data["calls"].append(call)
        done += len(copies)
        save(a.json, data)
        print(f"{done} of {a.copies} copies: {call['models']} models in {call['wall']:.1f} s, user+sys {call['cpu']:.1f} s, {call['peak_kb'] / 1024:.0f} MB, "
              f"database {call['db_bytes'] / 1e6:.1f} MB", flush=True)
    return 0


def compare(a, data):
    """Every call left the same graphs, and every copy has the places of the first."""
    db = os.path.join(a.work, "many.db")
    calls = data["calls"]
    n = sum(c["copies"] for c in calls)
    first = apart(places, db, 0)
    other = [k for k in range(1, n) if apart(places, db, k) != first]
    data["same"] = {"copies": n, "places_of_a_copy": first[0], "copies_with_other_places": len(other),
                    "calls_with_other_graphs": sum(c["graphs_digest"] != calls[0]["graphs_digest"] for c in calls),
                    "renamed": sum(is_renamed(a, k) for k in range(n))}
    save(a.json, data)
    print(f"{n} copies, {first[0]} places each: {len(other)} have other places; {data['same']['calls_with_other_graphs']} of {len(calls)} calls left other graphs")
    return 1 if other or data["same"]["calls_with_other_graphs"] else 0


def measure_memory(a, data, names):
    db = os.path.join(a.work, "memory.db")
    for n in map(int, a.memory.split(",")):
        for end in ("", "-wal", "-shm"):
            if os.path.exists(db + end):
                os.unlink(db + end)
        _, call = extract(a, names, range(n), db)
        call.update(apart(held, db), corpus=len(names), largest=a.largest)
        data["memory"].append(call)
        save(a.json, data)
        print(f"{n} copies, {call['models']} models: {call['peak_kb'] / 1024:.1f} MB, user+sys {call['cpu']:.1f} s", flush=True)
    return 0


def main():
    begin = time.monotonic()
    a = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.makedirs(a.work, exist_ok=True)
    names, data = models_of(a), start(a)
    if a.memory:
        return measure_memory(a, data, names)
    data["corpus"] = len(names)
    return measure(a, data, names, begin) or compare(a, data)


if __name__ == "__main__":
    sys.exit(main())
