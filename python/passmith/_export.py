# SPDX-License-Identifier: Apache-2.0
"""From PyTorch to ONNX, by torch.export and torch.onnx: modules without their weights, and graphs of torch.compile."""
import contextlib
import importlib.util
import logging
import warnings

import torch

from ._error import ENV, INPUT, Error


class Refused(Exception):
    """A graph that cannot be taken. Its text is the reason, without a full stop."""


def missing():
    """What the export lacks on this machine: a reason, or None."""
    for name in ("onnx", "onnxscript"):
        if importlib.util.find_spec(name) is None:
            return f"the package {name} is not installed"
    if not hasattr(torch, "export"):
        return f"PyTorch {torch.__version__} has no torch.export"
    return None


def versions():
    """Versions of all that decides how an export looks."""
    from importlib.metadata import PackageNotFoundError, version
    said = [f"torch {torch.__version__}"]
    for name in ("onnx", "onnxscript", "onnx_ir"):
        with contextlib.suppress(PackageNotFoundError):
            said.append(f"{name} {version(name)}")
    return said


@contextlib.contextmanager
def _quietly():
    """Exporters warn people; here nobody asked them."""
    loggers = [logging.getLogger(n) for n in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [lg.level for lg in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for lg in loggers:
            lg.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            for lg, level in zip(loggers, levels):
                lg.setLevel(level)


def _to_onnx(program, **names):
    with _quietly():
        return torch.onnx.export(program, (), dynamo=True, verbose=False, **names)


def module(model, example_inputs, path):
    """Writes a module as ONNX. Parameters and floating-point buffers become inputs of the graph: names and sizes
    without data."""
    why = missing()
    if why:
        raise Error(ENV, f"The module cannot be exported: {why}; install it.")
    if not isinstance(model, torch.nn.Module):
        raise Error(INPUT, f"extract was given a {type(model).__name__}; give a module of PyTorch or the path of a model.")
    args, kwargs = ((), example_inputs) if isinstance(example_inputs, dict) else (example_inputs, {})
    if isinstance(args, torch.Tensor):
        args = (args,)
    training = [m for m in model.modules() if m.training]
    model.eval()
    try:
        with torch.no_grad(), _quietly():
            program = torch.export.export(model, tuple(args), dict(kwargs), strict=False)
        written = _to_onnx(program)
    except Exception as e:
        raise Error(INPUT, f"The module {type(model).__name__} cannot be exported to ONNX: {sentence(e)}; export it "
                    "yourself, and give the path of the file.") from e
    finally:
        for m in training:
            m.training = True
    graph, state = written.model.graph, program.state_dict
    for name in [n for n in graph.initializers if n in state and state[n].is_floating_point()]:
        value = graph.initializers.pop(name)
        value.const_value = None
        graph.inputs.append(value)
    with _quietly():
        written.save(path, external_data=False)


def sentence(e):
    """The first line of an exception, as a part of a sentence."""
    lines = [text.strip() for text in str(e).splitlines() if text.strip()] or [type(e).__name__]
    return lines[0].rstrip(".")[:300]


# --- graphs of torch.compile --------------------------------------------------------------------------------------


class _Fixed(torch.nn.Module):
    """A graph as a function of its tensors alone: other arguments keep their values, and the graph's own parameters
    come in with the tensors. Results are the different tensors among the graph's; the list `outputs` is made to say
    which is where."""

    def __init__(self, gm, args, own, outputs):
        super().__init__()
        self.hidden = (gm, args, own, outputs)  # in a tuple, so that they are no modules or parameters of this one

    def forward(self, *tensors):
        gm, args, own, outputs = self.hidden
        given = iter(tensors)
        args = [next(given) if isinstance(a, torch.Tensor) else a for a in args]
        out = torch.func.functional_call(gm, dict(zip(own, given)), tuple(args)) if own else gm(*args)
        different = []
        outputs.clear()
        for y in out if isinstance(out, (tuple, list)) else [out]:
            if not isinstance(y, torch.Tensor):
                if not (y is None or type(y) in (int, bool, float)):
                    raise Refused(f"it returns a {type(y).__name__}")
                outputs.append(["value", y])
                continue
            at = next((i for i, other in enumerate(different) if other is y), len(different))
            if at == len(different):
                different.append(y)
            outputs.append(["tensor", at])
        return tuple(different)


def own_tensors(gm):
    """Names of the tensors that a graph holds and that may change: parameters and buffers."""
    return [n for n, _ in gm.named_parameters(remove_duplicate=False)] + \
        [n for n, _ in gm.named_buffers(remove_duplicate=False)]


def _base(node):
    """The value whose memory a node's result may share, by the aliases that operators declare."""
    while node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload) and node.args:
        returns, first = node.target._schema.returns, node.target._schema.arguments
        if len(returns) != 1 or returns[0].alias_info is None or not first or first[0].alias_info is None:
            break
        if not isinstance(node.args[0], torch.fx.Node):
            break
        node = node.args[0]
    return node


def _arguments(node):
    """The arguments of a call of an operator by their names."""
    formal = node.target._schema.arguments
    said = {a.name: a.default_value for a in formal if a.has_default_value()}
    said.update((a.name, value) for a, value in zip(formal, node.args))
    return {**said, **node.kwargs}


def _draws(node):
    """Whether a call draws random numbers: operators with dropout may not."""
    if torch.Tag.nondeterministic_seeded not in node.target.tags:
        return False
    said = _arguments(node)
    return not (said.get("dropout_p", said.get("p")) == 0 or said.get("train", said.get("training")) is False)


def _check_call(node):
    for a in node.target._schema.arguments:
        written = _arguments(node).get(a.name) if a.alias_info is not None and a.alias_info.is_write else None
        for x in written if isinstance(written, (tuple, list)) else [written]:
            if isinstance(x, torch.fx.Node) and _base(x).op == "placeholder":
                raise Refused("it changes its inputs in place")
    if node.target.overloadpacket is torch.ops.aten.as_strided:
        raise Refused("it takes apart how a tensor lies in memory (as_strided)")
    if _draws(node):
        raise Refused(f"{node.target} draws random numbers")


def _check(program):
    """Refuses what a package would compute otherwise than PyTorch does."""
    for n in program.graph.nodes:
        if n.op == "call_function" and isinstance(n.target, torch._ops.OpOverload):
            _check_call(n)
        value = n.meta.get("val")
        if isinstance(value, torch.Tensor) and value.dtype.is_complex:
            raise Refused(f"{n.name} computes complex numbers")
    outputs = next(n for n in program.graph.nodes if n.op == "output").args[0]
    bases = [_base(n) for n in outputs if isinstance(n, torch.fx.Node)]
    if any(b.op == "placeholder" for b in bases):
        raise Refused("a result shares the memory of an input")
    if len(set(bases)) < len(bases):
        raise Refused("two results share memory")


def graph(gm, args, path):
    """Writes a graph as ONNX with inputs x0, x1, ... for the tensors among `args` and then those of own_tensors, and
    outputs y0, y1, ...; all sizes are those of `args`. Returns what is where in the graph's results: for each
    ["tensor", number of the output] or ["value", value]."""
    own = own_tensors(gm)
    state = {**dict(gm.named_parameters(remove_duplicate=False)), **dict(gm.named_buffers(remove_duplicate=False))}
    tensors = [a for a in args if isinstance(a, torch.Tensor)] + [state[n] for n in own]
    outputs = []
    fixed = _Fixed(gm, list(args), own, outputs)
    with torch.inference_mode(False), torch.no_grad():
        with torch._subclasses.FakeTensorMode():
            fakes = tuple(torch.empty(t.shape, dtype=t.dtype, device=t.device) for t in tensors)
        with _quietly():
            program = torch.export.export(fixed, fakes, strict=False)
        _check(program)
        n = 1 + max((at for kind, at in outputs if kind == "tensor"), default=-1)
        if not n:
            raise Refused("it returns no tensor")
        written = _to_onnx(program, input_names=[f"x{i}" for i in range(len(tensors))],
                           output_names=[f"y{i}" for i in range(n)])
        with _quietly():
            written.save(path, external_data=False)
    return outputs
