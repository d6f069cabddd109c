# SPDX-License-Identifier: Apache-2.0
"""A backend of torch.compile:

    model = torch.compile(model, backend="passmith")

Each graph that Dynamo finds is exported to ONNX, compiled by `passmith compile` for the device of its tensors, and
run from the package. Weights are inputs of packages: they are not copied, and other weights need no other package.
What cannot be taken runs in PyTorch; report() says how often, and why.
"""
import logging
import threading

import torch

from . import _cache, _export
from ._error import Error

log = logging.getLogger("passmith.torch")

DEFAULTS = {
    "passes": None,  # a folder of passes; None: those beside the program
    "limit": 8,      # packages for each graph of open sizes: one for each of the sizes that were seen
    "cache": None,   # a folder for packages; None: the cache of Passmith
    "cache_bytes": 10 << 30,  # of all packages there; beyond it those opened longest ago are removed
    "graph": False,  # run as CUDA graphs
}

_lock = threading.Lock()
_graphs = []  # what was counted of each since the last reset(); they themselves belong to Dynamo


class _Counts:
    def __init__(self, nodes):
        self.nodes = nodes
        self.packages = self.cached = self.calls = self.eager_calls = 0
        self.reasons = {}  # in their order


def report():
    """What became of the graphs since the process began or reset() was called: a dict.

    graphs, packages (made or found on disk), cached (those found), calls, eager_calls (those of them that PyTorch ran);
    fallbacks: for each graph of which a call fell back its number, nodes, calls and reasons.
    """
    with _lock:
        graphs = list(_graphs)
    said = {"graphs": len(graphs), "packages": 0, "cached": 0, "calls": 0, "eager_calls": 0, "fallbacks": []}
    for number, g in enumerate(graphs):
        for name in ("packages", "cached", "calls", "eager_calls"):
            said[name] += getattr(g, name)
        if g.reasons:
            said["fallbacks"].append({"graph": number, "nodes": g.nodes, "calls": g.eager_calls,
                                      "reasons": list(g.reasons)})
    return said


def reset():
    """Forgets what report() counted."""
    with _lock:
        _graphs.clear()


class _Graph:
    """A graph of Dynamo, and its packages by sizes."""

    def __init__(self, gm, example_inputs, options):
        self.gm = gm
        self.options = options
        self.counts = _Counts(sum(n.op not in ("placeholder", "output") for n in gm.graph.nodes))
        self.open = any(isinstance(x, torch.SymInt) or (isinstance(x, torch.Tensor) and _has_open_size(x))
                        for x in example_inputs)
        self.ready = {}  # by sizes: a _Package, or None where PyTorch runs the graph
        self.lock = threading.Lock()
        with _lock:
            _graphs.append(self.counts)

    def __call__(self, *args):
        key = tuple(tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in args) if self.open else ()
        if key not in self.ready:
            with self.lock:
                if key not in self.ready and not self._full():
                    self.ready[key] = self._make(args)
        package = self.ready.get(key)
        with _lock:
            self.counts.calls += 1
            self.counts.eager_calls += package is None
        return self.gm(*args) if package is None else package(args)

    def _full(self):
        """Whether there are as many packages as may be. Sizes beyond them are not kept either."""
        made = sum(p is not None for p in self.ready.values())
        if made >= self.options["limit"]:
            self._fall_back(f"it has packages for {made} sizes, and more are not wanted (option limit)")
        return made >= self.options["limit"]

    def _make(self, args):
        """The package for these sizes, or None and a reason."""
        try:
            package = self._package(args)
        except _export.Refused as e:
            return self._fall_back(str(e))
        except Error as e:
            return self._fall_back(str(e).rstrip("."))
        except Exception as e:  # the exporters raise anything
            cause = e
            while cause.__cause__ is not None:
                cause = cause.__cause__
            if isinstance(cause, _export.Refused):
                return self._fall_back(str(cause))
            return self._fall_back(f"it cannot be exported: {type(cause).__name__}: {_export.sentence(cause)}")
        self.counts.packages += 1
        self.counts.cached += package.cached
        return package

    def _fall_back(self, reason):
        if reason not in self.counts.reasons:
            self.counts.reasons[reason] = True
            log.warning("A graph of %d nodes runs in PyTorch: %s.", self.counts.nodes, reason)

    def _package(self, args):
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        if not tensors:
            raise _export.Refused("it has no tensor among its inputs")
        if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
            raise _export.Refused("its gradients are wanted; call the model below torch.no_grad() to run packages")
        if torch.is_autocast_enabled("cuda") or torch.is_autocast_enabled("cpu"):
            raise _export.Refused("autocast is on")
        if any(type(t) not in (torch.Tensor, torch.nn.Parameter) for t in tensors):
            raise _export.Refused("an input is of a class of tensors of its own")
        return _Package(self.gm, args, tensors, self.options)


class _Package:
    """A graph at sizes that are known, as an opened package."""

    def __init__(self, gm, args, tensors, options):
        gpus = {t.device for t in tensors if t.is_cuda}
        if len(gpus) > 1:
            raise _export.Refused("its tensors lie on several GPUs")
        if any(t.device.type not in ("cpu", "cuda") for t in tensors):
            raise _export.Refused("its tensors lie neither on the CPU nor on a GPU of NVIDIA")
        device, arch = "emu", "emu"
        if gpus:
            gpu = gpus.pop()
            device, arch = f"cuda:{gpu.index}", "sm_%d%d" % torch.cuda.get_device_capability(gpu)
        self.model, self.outputs, self.cached = _cache.package(gm, args, arch, device, options)
        # What the program found to be unused is no input of the package.
        self.inputs = [int(v.name[1:]) for v in self.model.inputs]
        at = {int(v.name[1:]): i for i, v in enumerate(self.model.outputs)}
        self.outputs = [(kind, at[x] if kind == "tensor" else x) for kind, x in self.outputs]
        self.gm = gm
        self.own = _export.own_tensors(gm)

    def __call__(self, args):
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        for name in self.own:
            tensors.append(_attribute(self.gm, name))
        results = self.model.run([tensors[i] for i in self.inputs])
        if not isinstance(results, tuple):
            results = (results,)
        return tuple(results[x] if kind == "tensor" else x for kind, x in self.outputs)


def _attribute(gm, name):
    for part in name.split("."):
        gm = getattr(gm, part)
    return gm


def _has_open_size(t):
    return any(isinstance(n, torch.SymInt) for n in t.shape)


def backend(gm, example_inputs, *, options=None, mode=None):
    """The backend. `options`: see DEFAULTS. The mode reduce-overhead runs packages as CUDA graphs."""
    unknown = set(options or ()) - set(DEFAULTS)
    if unknown:
        raise ValueError(f"The backend passmith has no option '{min(unknown)}'; it has: {', '.join(DEFAULTS)}.")
    options = {**DEFAULTS, "graph": mode == "reduce-overhead", **(options or {})}
    return torch._dynamo.disable(_Graph(gm, example_inputs, options))


if "passmith" not in torch._dynamo.list_backends(None):  # else torch.compile knows it by its entry point
    torch._dynamo.register_backend(backend, name="passmith")
