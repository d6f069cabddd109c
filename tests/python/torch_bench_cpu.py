# SPDX-License-Identifier: Apache-2.0
"""torch_bench_cpu.py FOLDER - tools/bench/torch_bench.py and what it stands on, on a processor: no GPU's clock, no CUDA graphs, all else.

FOLDER holds exports of `passmith task export --torch`. Modes that fail, hang or kill their process are made here. No time is looked at.
"""
import contextlib
import io
import json
import os
import subprocess
import sys
import time

TOOLS = os.path.join(os.environ["PASSMITH_ROOT"], "tools", "bench")
sys.path.insert(0, TOOLS)

import torch

import torch_bench
from common import torch_measure
from tap import case, run

FOLDER = sys.argv[1]
OUT = os.path.join(FOLDER, "out.json")


def bench(*args):
    """(exit code, what it said) of the tool with these arguments, in this process."""
    said, old = io.StringIO(), sys.argv
    sys.argv = ["torch_bench.py", os.path.join(FOLDER, "exports"), "--device", "cpu", "--blocks", "2", *args]
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = torch_bench.main()
    except SystemExit as e:
        code = e.code
    finally:
        sys.argv = old
    return code, said.getvalue()


def records():
    with open(OUT) as f:
        return json.load(f)["records"]


def text():
    with open(OUT) as f:
        return f.read()


@contextlib.contextmanager
def built_as(f):
    """The mode inductor runs f(arguments) in place of what the compiler would make."""
    old = torch_bench.built
    torch_bench.built = lambda name, module: f if name == "inductor" else old(name, module)
    try:
        yield
    finally:
        torch_bench.built = old


@case
def what_there_is():
    """a mode has the times that there are on a processor, and no others"""
    assert bench("-o", OUT, "--modes", "eager", "--check")[0] == 0
    rows = records()
    assert len(rows) == 2
    for r in rows:
        assert sorted(r["times"]) == ["control", "torch eager"] and "failed" not in r and "error" not in r, r
        assert sorted(r["times"]["torch eager"]) == ["latency", "wall"] and r["times"]["torch eager"]["wall"]["seconds"] > 0
        assert r["check"]["torch eager"]["agrees"]


@case
def modes_are_added():
    """modes are added later, in a process for each setting of cuDNN's search, and what was measured stays"""
    before = [r["times"]["torch eager"] for r in records()]
    child = [sys.executable, os.path.join(TOOLS, "torch_bench.py"), os.path.join(FOLDER, "exports"), "--device", "cpu", "--blocks", "2", "-o", OUT, "--resume",
             "--modes", "eager,inductor,eager-search"]
    done = subprocess.run(child, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for r, old in zip(records(), before):
        assert r["times"]["torch eager"] == old
        assert sorted(r["times"]) == ["control", "torch eager", "torch eager-search", "torch inductor"] and r["times"]["torch inductor"]["smallest_t"] < 0, r
    old = text()
    assert subprocess.run(child, capture_output=True, check=False).returncode == 0
    assert text() == old, "the same again measures nothing"


@case
def another_question():
    """a file with other settings is not gone on with"""
    old = text()
    code, said = bench("-o", OUT, "--modes", "eager", "--resume", "--tf32")
    assert code == 4 and "tf32 False, and now it is True" in said, said
    assert text() == old


@case
def a_mode_fails():
    """a mode that fails is written down with its sentence, and the others stand"""
    def fails(*_):
        raise RuntimeError("It cannot be done")
    with built_as(fails):
        code, said = bench("-o", OUT, "--modes", "eager,inductor")
    assert code == 0 and "inductor FAILED RuntimeError: It cannot be done" in said and "2 graphs, 0 failed, 2 modes" in said, said
    for r in records():
        assert r["failed"] == {"inductor": "RuntimeError: It cannot be done"} and "wall" in r["times"]["torch eager"] and "torch inductor" not in r["times"]
    old = text()
    bench("-o", OUT, "--modes", "eager,inductor", "--resume")
    assert text() == old, "it is not tried again"


@case
def a_mode_hangs():
    """a mode that takes longer than its limit has failed, also where a compiler would hide that"""
    def hangs(*_):
        while True:
            time.sleep(0.01)

    def hides(*_):
        try:
            hangs()
        except TimeoutError:
            return ()
    for f in (hangs, hides):
        with built_as(f):
            assert bench("-o", OUT, "--modes", "inductor", "--limit", "0.3")[0] == 1
        for r in records():
            assert r["failed"] == {"inductor": "It takes more than the 0.3 seconds of --limit."} and r["error"] == r["failed"]["inductor"], r


@case
def a_mode_kills():
    """the mode at which a process was ended has failed, and the next process goes on"""
    os.unlink(OUT)
    ends = f"""import os, sys
sys.path.insert(0, {TOOLS!r})
import torch_bench
old = torch_bench.built
torch_bench.built = lambda name, module: (lambda *_: os._exit(7)) if name == "inductor" else old(name, module)
sys.argv = ["torch_bench.py", {os.path.join(FOLDER, "exports")!r}, "--device", "cpu", "--blocks", "2", "-o", {OUT!r}, "--modes", "eager,inductor"]
torch_bench.main()
"""
    assert subprocess.run([sys.executable, "-c", ends], capture_output=True, check=False).returncode == 7
    code, said = bench("-o", OUT, "--modes", "eager", "--resume")
    first, second = records()
    assert first["failed"] == {"inductor": "The process ended while it ran."} and "wall" in first["times"]["torch eager"], first
    assert "failed" not in second and code == 0, said


@case
def mixed():
    """modes with and without cuDNN's search do not run in one process"""
    try:
        torch_measure.prepare(["eager", "eager-search"])
    except ValueError as e:
        assert "a process each" in str(e)
    else:
        raise AssertionError("it was taken")
    torch_measure.prepare(["inductor-search"], tf32=True)
    assert torch.backends.cudnn.benchmark and torch.backends.cuda.matmul.allow_tf32
    torch_measure.prepare(["eager"])
    assert not torch.backends.cudnn.benchmark and not torch.backends.cuda.matmul.allow_tf32


run()
