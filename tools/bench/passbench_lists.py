#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""passbench_lists.py - the lists of PassBench: which folders of GraphNet they name, and which of these are one task.

Forms of a list, told apart by what is in it:
    PATH                     a line: a folder of GraphNet, or of a task (it holds graph_list.txt). Where empty lines
                             part the paths, each part is a group; a file graph_list.txt is one group.
    UID<TAB>PATH             a line: a folder of GraphNet. Other lists name it by its UID.
    UID,UID,... or PATH,...  a line: a group.
    .csv                     a header with graph_path, sample_path or path; rows of one sample_id (or group) are a group.
A group has the name of PassBench's folder for it: the SHA-256 of its sorted UIDs, 12 digits of it; without UIDs the
name of its list and a number.
"""
import collections
import csv
import hashlib
import os
import re

UID = re.compile(r"[0-9a-f]{32}")
LONGEST = 200  # bytes of a name: with an ending it has to be a file's

# path is "" where nothing is to be exported, and why says so.
Problem = collections.namedtuple("Problem", "name path why")
Group = collections.namedtuple("Group", "name problems")


def model_name(line):
    """samples/timm/net is samples__timm__net; a name that is too long for a file keeps its end."""
    name = re.sub(r"[,\s]", "_", os.path.normpath(line).strip("/.").replace("/", "__"))
    if len(name.encode()) <= LONGEST:
        return name
    end = name.encode()[-(LONGEST - 14):].decode(errors="ignore")
    return hashlib.sha256(name.encode()).hexdigest()[:12] + "__" + end


def above(folder):
    while True:
        yield folder
        if os.path.dirname(folder) == folder:
            return
        folder = os.path.dirname(folder)


class Lists:
    def __init__(self, roots=(), uid_lists=()):
        self.roots = [os.path.abspath(r) for r in roots]
        self.uid_lists = list(uid_lists)
        self.uids = {}  # by the folder of the list that asked: UID to path

    def find(self, line, top):
        """The folder that a line names, from --root or from the list's folder or one above it; None without one."""
        return next((p for p in (os.path.join(at, line) for at in self.roots + list(above(top))) if os.path.isdir(p)), None)

    def path_of(self, uid, top):
        if top not in self.uids:
            beside = [os.path.join(top, f) for f in sorted(os.listdir(top)) if f.endswith(".txt")]
            self.uids[top] = {}
            for path in beside + self.uid_lists:
                with open(path, encoding="utf-8") as f:
                    for line in f:
                        if "\t" in line:
                            u, p = line.strip().split("\t", 1)
                            self.uids[top][u] = p.strip()
        return self.uids[top].get(uid)

    def problem(self, token, top):
        line = token
        if UID.fullmatch(token) and not self.find(token, top):
            line = self.path_of(token, top)
            if not line:
                return Problem(token, "", f"No list of UID<TAB>PATH in {top} has this UID; name the list with --uids.")
        path = self.find(line, top)
        if path:
            return Problem(model_name(line), path, "")
        return Problem(model_name(line), "", f"There is no folder {line} in {top} or above it; --root names the folder "
                                             "that paths of a list begin in.")

    def group(self, tokens, top, fallback):
        tokens = list(dict.fromkeys(tokens))
        if all(UID.fullmatch(t) for t in tokens):
            fallback = hashlib.sha256("\n".join(sorted(tokens)).encode()).hexdigest()
        if re.fullmatch(r"[0-9a-f]{64}", fallback):
            fallback = fallback[:12]
        return Group("passbench__" + model_name(fallback), [self.problem(t, top) for t in tokens])

    def task(self, folder):
        """The group of a task's folder."""
        with open(os.path.join(folder, "graph_list.txt"), encoding="utf-8") as f:
            lines = [s.strip() for s in f]
        folder = os.path.abspath(folder)
        return self.group([s for s in lines if s and not s.startswith("#")], folder, os.path.basename(folder))

    def entry(self, token, top):
        """A line that is no group by itself: a graph, or a task's folder, which is a group."""
        p = self.problem(token, top)
        return self.task(p.path) if p.path and os.path.isfile(os.path.join(p.path, "graph_list.txt")) else p

    def read(self, path):
        """Problems and Groups of a list, in its order."""
        top = os.path.dirname(os.path.abspath(path))
        if path.endswith(".csv"):
            return self.read_csv(path, top)
        if os.path.basename(path) == "graph_list.txt":
            return [self.task(top)]
        with open(path, encoding="utf-8") as f:
            lines = [s.strip("\r\n ") for s in f if not s.startswith("#")]
        said = [s for s in lines if s]
        stem = os.path.splitext(os.path.basename(path))[0]
        if any("\t" in s for s in said):
            return [self.entry(s.split("\t", 1)[1].strip(), top) for s in said if "\t" in s]
        if any("," in s for s in said) or (said and all(UID.fullmatch(s) for s in said)):
            return [self.group([t.strip() for t in s.split(",") if t.strip()], top, f"{stem}__{i + 1}")
                    for i, s in enumerate(said)]
        parts = [p.split("\n") for p in re.split(r"\n\n+", "\n".join(lines).strip("\n")) if p]
        if len(parts) > 1:
            return [self.group(p, top, f"{stem}__{i + 1}") for i, p in enumerate(parts)]
        return [self.entry(s, top) for s in said]

    def read_csv(self, path, top):
        with open(path, encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(f))
        columns = list(rows[0]) if rows else []
        what = next((c for c in ("graph_path", "sample_path", "path") if c in columns), None)
        by = next((c for c in ("sample_id", "group") if c in columns), None)
        stem = os.path.splitext(os.path.basename(path))[0]
        if not what:
            return [Problem(stem, "", f"{path} has no row below a header with graph_path, sample_path or path.")]
        if not by:
            return [self.entry(r[what].strip(), top) for r in rows]
        parts = {}
        for r in rows:
            parts.setdefault(r[by], []).append(r[what].strip())
        return [self.group(p, top, f"{stem}__{k}") for k, p in parts.items()]
