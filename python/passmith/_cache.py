# SPDX-License-Identifier: Apache-2.0
"""Packages of graphs on disk, by what decides how they look.

KEY.pmz is a package, and KEY.json says which of its outputs is where among the graph's results. The key is a hash of
the graph as text, the types and sizes of its tensors, the values of its other arguments, the device's architecture,
the versions of the exporters, and the contents of the program and the passes. When a package is added and all together
are larger than the option cache_bytes, those that were opened longest ago are removed.
"""
import contextlib
import functools
import hashlib
import json
import os
import tempfile
import uuid

import torch

from . import _export, _find
from ._error import Error
from ._model import load
from ._program import compile


def folder(options):
    """Where packages are kept."""
    own = options["cache"] or os.environ.get("PASSMITH_CACHE")
    if not own:
        own = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "passmith")
    return os.path.join(own, "torch")


@functools.lru_cache(maxsize=16)
def _digest(path, size, changed):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            h.update(block)
    return h.hexdigest()


def _tools(passes):
    """The program and the passes, by their contents."""
    files = [_find.program()] + [os.path.join(passes, n) for n in sorted(os.listdir(passes)) if n.endswith(".so")]
    for path in files:
        s = os.stat(path)
        yield os.path.basename(path) + " " + _digest(path, s.st_size, s.st_mtime_ns)


def _known(target):
    """Whether a function is one whose code the versions tell: not the user's own."""
    if isinstance(target, torch._ops.OpOverload):
        return target.namespace in ("aten", "prim", "prims")
    if isinstance(target, torch._ops.OpOverloadPacket):
        return target._qualified_op_name.split("::")[0] in ("aten", "prim", "prims")
    module = getattr(target, "__module__", None) or type(target).__module__
    return module.split(".")[0] in ("torch", "_operator", "operator", "builtins", "math", "_VariableFunctions")


def key(gm, args, arch, passes):
    """The hash, or None for a graph of functions that nobody knows by their names."""
    said = [*_export.versions(), str(torch.get_default_dtype()), arch, *_tools(passes), str(gm.graph), gm.code]
    for n in gm.graph.nodes:
        if n.op == "call_function" and not _known(n.target):
            return None
        if n.op == "call_module":  # its own settings are no part of the graph's text
            said.append(repr(gm.get_submodule(n.target)))
    for a in args:
        said.append(f"{a.dtype} {tuple(a.shape)} {a.device.type}" if isinstance(a, torch.Tensor) else repr(a))
    own = set(_export.own_tensors(gm))
    for n in gm.graph.nodes:
        if n.op == "get_attr" and n.target not in own:  # a constant: its elements go into the package
            value = gm
            for part in n.target.split("."):
                value = getattr(value, part)
            if not isinstance(value, torch.Tensor):
                return None
            said.append(f"{n.target} {value.dtype} {tuple(value.shape)}")
            said.append(hashlib.sha256(value.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
                        .hexdigest() if value.dim() else repr(value.item()))
    state = dict(gm.named_parameters(remove_duplicate=False))
    state.update(gm.named_buffers(remove_duplicate=False))
    said += [f"{n} {t.dtype} {tuple(t.shape)}" for n, t in state.items()]
    return hashlib.sha256("\0".join(said).encode()).hexdigest()


def _trim(where, most, newest):
    """Removes packages, those opened longest ago first, until all have at most so many bytes; never the newest."""
    kept = []
    for entry in os.scandir(where):
        if entry.name.endswith(".pmz") and not entry.name.startswith("."):
            with contextlib.suppress(FileNotFoundError):  # another process may be at it, too
                s = entry.stat()
                kept.append((s.st_mtime_ns, s.st_size, entry.path))
    total = sum(size for _, size, _ in kept)
    for _, size, path in sorted(kept):
        if total <= most:
            break
        if path != newest:
            total -= size
            for end in (".json", ".pmz"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path[:-len(".pmz")] + end)


def package(gm, args, arch, device, options):
    """The graph as an opened package, what is where among its results, and whether it was on disk."""
    passes = os.fspath(options["passes"] or _find.passes())
    name = key(gm, args, arch, passes)
    where = folder(options)
    if name:
        path = os.path.join(where, name)
        with contextlib.suppress(OSError, ValueError, KeyError, Error):  # made again when it is damaged
            with open(path + ".json", encoding="utf-8") as f:
                outputs = json.load(f)["outputs"]
            model = load(path + ".pmz", device, options["graph"])
            os.utime(path + ".pmz")
            return model, outputs, True
    os.makedirs(where, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="passmith-") as work:
        why = _export.missing()
        if why:
            raise _export.Refused(why)
        onnx, made = os.path.join(work, "graph.onnx"), os.path.join(where, f".{uuid.uuid4().hex}")
        outputs = _export.graph(gm, args, onnx)
        try:
            compile(onnx, made + ".pmz", arch=arch, passes=passes)
            model = load(made + ".pmz", device, options["graph"])  # what is open stays, whatever becomes of its name
            if name:
                with open(made + ".json", "w", encoding="utf-8") as f:
                    json.dump({"outputs": outputs, "graph": gm.code}, f)
                os.replace(made + ".json", path + ".json")
                os.replace(made + ".pmz", path + ".pmz")
                _trim(where, options["cache_bytes"], path + ".pmz")
        finally:
            for end in (".pmz", ".json"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(made + end)
    return model, outputs, False
