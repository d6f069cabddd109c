# SPDX-License-Identifier: Apache-2.0
"""Opened packages: what is in them, and calls."""
import ctypes
import json
import os
import threading
import warnings
import weakref
from typing import NamedTuple

from . import _rt, _tensor
from ._error import INPUT, USAGE, Error


class Value(NamedTuple):
    """An input or an output of a model."""
    name: str
    dtype: str    # float32, int64, ...
    shape: tuple  # a size, the name of an open size, or None where it is open and has no name


def _value(v):
    shape = tuple(v.dim[k] if v.dim[k] >= 0 else v.symbol[k].decode() if v.symbol[k] else None for k in range(v.rank))
    return Value(v.name.decode(), _rt.TYPES[v.type][0], shape)


class _Session:
    """A session of the library, and what is bound to it. A call with tensors where those of the call before lay, which
    is the rule with an allocator that keeps memory, binds nothing again."""

    def __init__(self, rt, model, n_inputs, n_outputs):
        self.handle = ctypes.c_void_p()
        rt.session_new(model, ctypes.byref(self.handle))
        self.inputs = [None] * n_inputs  # address, type, sizes, GPU
        self.outputs = [None] * n_outputs
        self.dims = None  # of the inputs that `made` is for
        self.made = None  # of each output (type, sizes)
        self.tensor = _rt.Tensor()
        self.value = _rt.Value()

    def bind(self, function, bound, i, taken):
        now = taken[:4]
        if bound[i] != now:
            bound[i] = None
            function(self.handle, i, self.fill(*now))
            bound[i] = now

    def fill(self, address, number, dims, gpu):
        t = self.tensor
        t.data, t.type, t.rank = address or None, number, len(dims)
        t.place = _rt.HOST if gpu is None else _rt.ON_DEVICE
        t.dim[:t.rank] = dims
        return ctypes.byref(t)


class _Like:
    """What a call with PyTorch's tensors was: one with tensors where those lay does not look at the rest again. Python is
    most of what a call of a small model costs, and costs several times as much when other code ran in between."""

    def __init__(self, inputs, bound, made):
        self.bound = list(bound)
        self.inputs = [(address, x.dtype, dims, x.get_device()) for x, (address, _, dims, _) in zip(inputs, bound)]
        self.device = inputs[0].device
        self.made = [(number, dims, _tensor.torch_types()[number]) for number, dims in made]

    def holds(self, tensors):
        for x, (address, dtype, dims, gpu) in zip(tensors, self.inputs):
            if (type(x) is not _tensor.torch_tensor or x.data_ptr() != address or x.dtype is not dtype or x.shape != dims
                    or x.get_device() != gpu or not x.is_contiguous() or x.is_neg()):
                return False
        return len(tensors) == len(self.inputs)


class _Opened:
    """The library's model and its sessions that nobody uses. Lives until the model is closed and no call is left."""

    def __init__(self, rt, path, device):
        self.rt = rt
        self.handle = ctypes.c_void_p()
        rt.open(path, device, ctypes.byref(self.handle))
        self.n = rt.n_inputs(self.handle), rt.n_outputs(self.handle)
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.free = {}  # by stream: lists
        self.calls = 0
        self.closed = False
        self.gpu = None  # its number, where it is one

    def enter(self):
        with self.lock:
            self._entered()

    def leave(self):
        with self.lock:
            self._left()

    def _entered(self):
        if self.closed:
            raise Error(USAGE, "The model is closed; open the package again with passmith.load.")
        self.calls += 1

    def _left(self):
        self.calls -= 1
        if self.closed:
            self.changed.notify_all()

    def begin(self, stream):
        """Enters, and gives a session that only this stream has used: what a session runs on another one would not wait
        for that."""
        with self.lock:
            self._entered()
            free = self.free.setdefault(stream, [])
            if free:
                return free.pop()
        try:
            return _Session(self.rt, self.handle, *self.n)
        except BaseException:
            self.leave()
            raise

    def end(self, stream, session):
        """Gives the session back, and leaves."""
        with self.lock:
            self.free[stream].append(session)
            self._left()

    def close(self):
        with self.changed:
            if self.closed:
                return
            self.closed = True
            while self.calls:
                self.changed.wait()
        if self.gpu is not None and any(self.free):
            _rt.synchronize(self.gpu)
        for sessions in self.free.values():
            for s in sessions:
                self.rt.session_free(s.handle)
        self.rt.close(self.handle)


class Model:
    """A package on a device, opened by passmith.load. Any number of threads may call it at once."""

    def __init__(self, path, device=None, graph=False):
        rt = _rt.library()
        device = None if device is None else str(device)
        if device == "cpu":
            device = "emu"
        self.path = str(path)
        self.graph = bool(graph)
        self._open = o = _Opened(rt, os.fsencode(path), device.encode() if device else None)
        self._close = weakref.finalize(self, o.close)
        self._close.atexit = False  # a thread that ends with the process may be in a call
        self.about = json.loads(rt.about(o.handle).decode("utf-8", "replace"))
        self.device = self.about["device"]
        if self.about.get("untuned"):
            warnings.warn(self.about["untuned"], RuntimeWarning, stacklevel=3)
        if self.device.startswith("cuda:"):
            o.gpu = int(self.device[5:].split()[0])
        inputs = [rt.input(o.handle, i).contents for i in range(o.n[0])]
        outputs = [rt.output(o.handle, i).contents for i in range(o.n[1])]
        self.inputs = tuple(_value(v) for v in inputs)
        self.outputs = tuple(_value(v) for v in outputs)
        self._like = None
        self._types = [(v.type, v.rank) for v in inputs]
        self._said = [f"input '{v.name}'" for v in self.inputs]
        self._said_out = [f"output '{v.name}'" for v in self.outputs]
        self._index = {v.name: i for i, v in enumerate(self.inputs)}
        self.shapes = tuple(self._shape(k) for k in range(rt.n_shapes(o.handle)))

    def _shape(self, k):
        o, v, sizes = self._open, _rt.Value(), {}
        for i, value in enumerate(self.inputs):
            if o.rt.shape_input(o.handle, k, i, ctypes.byref(v)) == 0:
                sizes[value.name] = tuple(v.dim[:v.rank])
        return sizes

    # ---- calls ----

    def __call__(self, *tensors, **named):
        """Runs the model on its inputs, in their order or by name. One output is returned as such, several as a
        tuple: of the kind of the first input, and on its device."""
        if named:
            tensors = self._in_order(tensors, named)
        like = self._like
        return self._again(like) if like is not None and like.holds(tensors) else self.run(tensors)

    def run(self, inputs, *, out=None, graph=None, stream=None):
        """The same with the inputs as a list or by name as a dict.

        out: memory for the outputs, in their order, which is returned. graph: whether to run as one CUDA graph (None:
        as the model was opened). stream: a CUDA stream's handle; nothing is waited for when everything lies on the GPU.
        Without it that is PyTorch's current stream for its tensors, for others the stream that they name; the result
        of a run on no stream is there when the call returns.
        """
        if isinstance(inputs, dict):
            inputs = self._in_order((), inputs)
        elif not isinstance(inputs, (list, tuple)):
            raise Error(USAGE, f"run was given a {type(inputs).__name__}; give the inputs as a list, or as a dict by name.")
        self._check_number(inputs)
        return self._run(self._open, inputs, out, self.graph if graph is None else graph, stream)

    def warm(self, *inputs, graph=None, stream=None):
        """Makes what the first calls would have to, so that the next one is as fast as later ones: on a GPU drivers and
        libraries load their kernels then, and with graph=True the graph is made. It waits until that is done, and reads
        and writes no tensor. Without inputs it does so for every shape of the package, with inputs for their sizes.

        One call at a time becomes fast by it, on `stream` (None: PyTorch's current one, or none where PyTorch does not
        use this GPU). On emu there is nothing to do.
        """
        o = self._open
        taken = []
        if inputs:
            self._check_number(inputs)
            taken = [self._take(x, i, stream) for i, x in enumerate(inputs)]
            stream = self._stream(taken, stream)
        elif stream is None:
            stream = _tensor.torch_stream(o.gpu) if o.gpu is not None and _tensor.torch_has_gpu() else 0
        s = o.begin(stream)
        try:
            for i, t in enumerate(taken):
                s.bind(o.rt.bind_input, s.inputs, i, t)
            if taken and taken[0].kind == "torch":  # its allocator gives the next call the same memory
                for i, (_, t) in enumerate(self._make_out(s, inputs, taken)):
                    s.bind(o.rt.bind_output, s.outputs, i, t)
            o.rt.session_warm(s.handle, _rt.GRAPH if (self.graph if graph is None else graph) else 0)
        finally:
            o.end(stream, s)

    def _check_number(self, inputs):
        if len(inputs) != len(self.inputs):
            raise Error(USAGE, f"{self.path} has {_count(len(self.inputs), 'input')} and was given {len(inputs)}; "
                        "Model.inputs lists them.")

    def _run(self, o, inputs, out, graph, stream):
        taken = [self._take(x, i, stream) for i, x in enumerate(inputs)]
        given = None if out is None else self._take_out(out, stream)
        stream = self._stream(taken + [t for _, t in given or ()], stream)
        for i, t in enumerate(taken):
            if t.asked is not None and t.asked != (stream or _tensor.LEGACY_STREAM):
                taken[i] = self._take(inputs[i], i, stream)
        s = o.begin(stream)
        try:
            for i, t in enumerate(taken):
                s.bind(o.rt.bind_input, s.inputs, i, t)
            results = given if given is not None else self._make_out(s, inputs, taken)
            for i, (_, t) in enumerate(results):
                s.bind(o.rt.bind_output, s.outputs, i, t)
            o.rt.run(s.handle, stream or None, _rt.GRAPH if graph else 0)
            if given is None and all(t.kind == "torch" and not t.copied and t.gpu == o.gpu for t in taken):
                self._like = _Like(inputs, s.inputs, s.made) if taken else None
        finally:
            o.end(stream, s)
        if out is not None:
            return out
        return results[0][0] if len(results) == 1 else tuple(x for x, _ in results)

    def _again(self, like):
        """A call whose inputs `like` holds."""
        o = self._open
        stream = 0 if o.gpu is None else _tensor.torch_stream(o.gpu)
        s = o.begin(stream)
        try:
            if s.inputs != like.bound:
                for i, bound in enumerate(like.bound):
                    s.bind(o.rt.bind_input, s.inputs, i, bound)
            results = []
            for i, (number, dims, dtype) in enumerate(like.made):
                x = _tensor.torch_empty(dims, dtype=dtype, device=like.device)
                bound = (x.data_ptr(), number, dims, o.gpu)
                if s.outputs[i] != bound:
                    s.bind(o.rt.bind_output, s.outputs, i, bound)
                results.append(x)
            o.rt.run(s.handle, stream or None, _rt.GRAPH if self.graph else 0)
        finally:
            o.end(stream, s)
        return results[0] if len(results) == 1 else tuple(results)

    def _in_order(self, tensors, named):
        inputs = list(tensors[:len(self.inputs)]) + [None] * (len(self.inputs) - len(tensors))
        for name, x in named.items():
            i = self._index.get(name)
            if i is None or i < len(tensors):
                raise Error(USAGE, f"{self.path} has no input '{name}'; it has: {', '.join(self._index)}." if i is None
                            else f"Input '{name}' is given twice; give it by its place or by its name.")
            inputs[i] = x
        for v, x in zip(self.inputs, inputs):
            if x is None:
                raise Error(USAGE, f"Input '{v.name}' is missing; give it by its place or by its name.")
        return inputs + list(tensors[len(self.inputs):])

    def _take(self, x, i, stream):
        number, rank = self._types[i]
        t = _tensor.take(x, self._said[i], stream)
        if t.type == number and len(t.dims) == rank and t.gpu == self._open.gpu:
            return t
        v = self.inputs[i]
        if t.type != number:
            way = "; make it bfloat16 with x.view(ml_dtypes.bfloat16)" if (number, t.type) == (16, 4) else "; convert it"
            raise Error(INPUT, f"Input '{v.name}' is {_rt.TYPES[t.type][0]}, and the model wants {v.dtype}{way}.")
        if len(t.dims) != rank:
            raise Error(INPUT, f"Input '{v.name}' has the shape {list(t.dims)}, and the model wants {rank} sizes: "
                        f"{_text(v.shape)}.")
        self._check_place(t, f"Input '{v.name}'")
        return t

    def _check_place(self, t, what):
        gpu = self._open.gpu
        if t.gpu is not None and t.gpu != gpu and not (t.gpu < 0 and gpu is not None):
            where = f"GPU {t.gpu}" if t.gpu >= 0 else "a GPU"
            raise Error(INPUT, f"{what} lies on {where}, and the model is on {self.device}; copy it, or open the package "
                        "on that device.")

    def _take_out(self, out, stream):
        if not isinstance(out, (list, tuple)) or len(out) != len(self.outputs):
            raise Error(USAGE, f"{self.path} has {_count(len(self.outputs), 'output')}; give `out` a list of as many "
                        "tensors.")
        results = []
        for v, x, said in zip(self.outputs, out, self._said_out):
            t = _tensor.take(x, said, stream)
            if t.copied or t.readonly:
                raise Error(INPUT, f"The memory for output '{v.name}' cannot be written in place; give one that is "
                            "contiguous and not read-only.")
            self._check_place(t, f"Output '{v.name}'")
            results.append((x, t))
        return results

    def _make_out(self, s, inputs, taken):
        kind = taken[0].kind if taken else _tensor.default_kind()
        like = inputs[0] if inputs else None
        dims = [t.dims for t in taken]
        if s.dims != dims:
            s.dims, s.made = None, []
            for i in range(len(self.outputs)):
                self._open.rt.output_shape(s.handle, i, ctypes.byref(s.value))
                s.made.append((s.value.type, tuple(s.value.dim[:s.value.rank])))
            s.dims = dims
        return [_tensor.make(kind, like, number, sizes, said) for (number, sizes), said in zip(s.made, self._said_out)]

    def _stream(self, taken, stream):
        """The handle of the stream to run on; 0: the session's own."""
        if stream is not None or self._open.gpu is None:
            return int(stream or 0)
        streams = set()
        for t in taken:
            if t.kind == "torch" and t.gpu is not None:
                streams.add(_tensor.torch_stream(t.gpu))
            elif t.stream:
                streams.add(int(t.stream))
        if len(streams) > 1:
            raise Error(INPUT, "The inputs are made on several streams; order these, and say on which one to run: "
                        "model.run(inputs, stream=...).")
        return streams.pop() if streams else 0

    # ---- the rest ----

    def verify(self):
        """Reads all weights and compares them with their digest: raises where they differ."""
        o = self._open
        o.enter()
        try:
            o.rt.verify(o.handle)
        finally:
            o.leave()

    def close(self):
        """Waits for calls of other threads, then gives everything back. A closed model cannot be called."""
        self._close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def __repr__(self):
        def listed(values):
            return ", ".join(f"{v.dtype}{_text(v.shape)} {v.name}" for v in values)
        return f"<passmith.Model {self.path} on {self.device}: {listed(self.inputs)} -> {listed(self.outputs)}>"


def _count(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"


def _text(shape):
    return "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"


def load(path, device=None, graph=False):
    """Opens a package that `passmith compile` wrote.

    device: "emu" (kernels on this CPU), "cuda", "cuda:1", a torch.device, or None: cuda where there is a GPU and the
    package has kernels for it, else emu. graph: run as one CUDA graph.
    """
    return Model(path, device, graph)
