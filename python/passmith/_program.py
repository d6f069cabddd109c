# SPDX-License-Identifier: Apache-2.0
"""Commands of the program passmith: a subprocess each, whose JSON comes back as a dict."""
import json
import os
import subprocess
import tempfile

from . import _find
from ._error import ENV, INTERNAL, Error


_NOT_LOADED = 127  # what the dynamic linker ends with where a library is missing


def _run(line, own_libraries):
    return subprocess.run(line, env=_find.environment(own_libraries), stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)


def command(*words):
    """Runs `passmith WORDS --json`. Its failure is raised, with its sentence and its exit code."""
    line = [_find.program(), *(os.fspath(w) for w in words), "--json"]
    done = _run(line, False)
    if done.returncode == _NOT_LOADED and _find.bundled("lib"):
        done = _run(line, True)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {}
    if done.returncode or answer.get("error"):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        text = answer.get("error") or (said[-1] if said else f"`passmith {words[0]}` ended with status "
                                       f"{done.returncode} and said nothing.")
        raise Error(done.returncode if done.returncode > 0 else INTERNAL, text)
    return {k: v for k, v in answer.items() if k not in ("error", "stage")}


def compile(model, out, *, arch="emu", passes=None, shapes=(), options=()):
    """Writes a package of a model, as `passmith compile` does, and returns what that says.

    model: a path of an ONNX file or a graph in text. arch: "emu", "sm_90", or several with commas. passes: a folder of
    passes, None: those beside the program. shapes: sizes to specialise for, a dict each: {"batch": 4}. options: more
    words of the command, as "--external-weights".
    """
    words = ["compile", model, "--arch", arch, "--passes", passes or _find.passes(), "-o", out]
    for sizes in shapes:
        words += ["--shape", ",".join(f"{name}={int(n)}" for name, n in sizes.items())]
    return command(*words, *options)


def extract(model, example_inputs=(), *, db, options=()):
    """Cuts a model into subgraphs and stores them, as `passmith extract` does.

    model: a module of PyTorch, which is called with `example_inputs` (a tuple, or a dict of named ones) to be exported to
    ONNX without its weights; or a path of a model. db: the database, made when missing. Returns what the command says,
    and in "added" how many models, subgraphs, structures and occurrences the database has more than before.
    """
    before = command("db", "stats", "--db", db) if os.path.exists(db) else {}
    if isinstance(model, (str, os.PathLike)):
        said = command("extract", model, "--db", db, *options)
    else:
        try:
            from . import _export
        except ImportError:
            raise Error(ENV, "extract takes a path, or a module where PyTorch is installed.") from None
        with tempfile.TemporaryDirectory(prefix="passmith-") as folder:
            path = os.path.join(folder, type(model).__name__ + ".onnx")
            _export.module(model, example_inputs, path)
            said = command("extract", path, "--db", db, *options)
    after = command("db", "stats", "--db", db)
    said["added"] = {what: int(after[what] - before.get(what, 0)) for what in _COUNTED}
    return said


_COUNTED = ("models", "subgraphs", "structures", "occurrences")
