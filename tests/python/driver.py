# SPDX-License-Identifier: Apache-2.0
"""driver.py FOLDER - the device cuda on a driver whose GPU is this processor (tests/machine/emu_cuda.c): streams, graphs,
arrays of other libraries, and nothing left behind. tests/gpu/python_cuda.py is the same for a GPU.

FOLDER has the packages of tests/python/models.sh.
"""
import array
import ctypes
import hashlib
import math
import os
import struct
import sys
import threading

import passmith
from passmith import _tensor
from tap import case, fails, run

FOLDER = sys.argv[1]
DRIVER = ctypes.CDLL(os.path.join(os.environ["PASSMITH_BUILD"], "tests", "machine", "emu", "libcuda.so.1"))
DRIVER.emu_cuda_count.restype = ctypes.c_long
RETAINED, MODULES, MEMORY, STREAMS, GRAPHS = range(5)
GRAPH_LAUNCHES, WAITS = 9, 11


def as_cuda(name):
    """Names what was compiled for emu as code for this driver's GPU (rt/format.h), as tests/unit/rt/test_rt_cuda.c."""
    with open(os.path.join(FOLDER, name), "rb") as f:
        data = bytearray(f.read())
    section = 72 + 11 * 56  # that of images
    offset, size = struct.unpack_from("<QQ", data, section + 8)
    for at in range(offset, offset + size, 32):
        struct.pack_into("<II", data, at + 4, 1, 90)
    data[section + 24:section + 56] = hashlib.sha256(data[offset:offset + size]).digest()
    data[40:72] = bytes(32)
    data[40:72] = hashlib.sha256(data[:72 + 16 * 56]).digest()
    path = os.path.join(FOLDER, "cuda_" + name)
    with open(path, "wb") as f:
        f.write(data)
    return path


GATE = as_cuda("gate.pmz")


def count(what):
    return DRIVER.emu_cuda_count(what)


def check(code):
    assert code == 0, code


check(DRIVER.cuInit(0))
_context = ctypes.c_void_p()
check(DRIVER.cuDevicePrimaryCtxRetain(ctypes.byref(_context), 0))
check(DRIVER.cuCtxSetCurrent(_context))


class Gpu:
    """An array on the GPU, which says no more than __cuda_array_interface__."""

    def __init__(self, values, shape, stream=None):
        self.n, self.own = len(values), ctypes.c_uint64()
        check(DRIVER.cuMemAlloc_v2(ctypes.byref(self.own), ctypes.c_size_t(4 * self.n)))
        ctypes.memmove(self.own.value, (ctypes.c_float * self.n)(*values), 4 * self.n)
        self.__cuda_array_interface__ = {"version": 3, "typestr": "<f4", "shape": shape, "stream": stream,
                                         "data": (self.own.value, False)}

    def values(self):
        return list((ctypes.c_float * self.n).from_address(self.own.value))

    def __del__(self):
        DRIVER.cuMemFree_v2(self.own)


class Pack:
    """The same by DLPack alone, on the GPU of a number."""

    def __init__(self, gpu, shape, number=0):
        self.gpu, self.number = gpu, number
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.tensor = _tensor._DLTensor(gpu.own.value, 2, number, len(shape), 2, 32, 1, self.shape, None, 0)
        self.streams = []

    def __dlpack_device__(self):
        return 2, self.number

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


def stream():
    s = ctypes.c_void_p()
    check(DRIVER.cuStreamCreate(ctypes.byref(s), 0))
    return s.value


IDENTITY = [float(i % 5 == 0) for i in range(16)]
A, B = stream(), stream()
BEFORE = [count(k) for k in range(5)]


def inputs(rows, start=0):
    return [((start + i) % 17 - 8) / 4 for i in range(4 * rows)]


def near(got, values):
    want = [v / (1 + math.exp(-v)) for v in values]
    assert len(got) == len(want) and all(abs(a - b) <= 1e-6 for a, b in zip(got, want)), (got, want)


def host(values, shape):
    return memoryview(array.array("f", values)).cast("B").cast("f", shape=list(shape))


@case
def from_the_host():
    """Tensors of the host are copied to the GPU and back, plain and as a graph."""
    for graph in (False, True):
        with passmith.load(GATE, "cuda:0", graph=graph) as m:
            assert m.device.startswith("cuda:0"), m.device
            before = count(GRAPH_LAUNCHES)
            for rows in (2, 5, 2, 5, 5):
                y = m(host(inputs(rows), (rows, 4)), host(IDENTITY, (4, 4)))
                near([v for row in y.tolist() for v in row], inputs(rows))
            assert count(GRAPH_LAUNCHES) == before + 3 * graph  # the first run of each shape is none


@case
def on_the_gpu():
    """Arrays on the GPU stay there; without a stream the call waits, with one it does not."""
    with passmith.load(GATE, "cuda") as m:
        x, w, y = Gpu(inputs(2), (2, 4)), Gpu(IDENTITY, (4, 4)), Gpu([0] * 8, (2, 4))
        before = count(WAITS)
        assert m.run([x, w], out=[y])[0] is y
        near(y.values(), inputs(2))
        assert count(WAITS) == before + 1
        for graph in (False, True, True):
            y, before, launched = Gpu([0] * 8, (2, 4)), count(WAITS), count(GRAPH_LAUNCHES)
            m.run({"x": x, "w": w}, out=[y], stream=A, graph=graph)
            assert count(WAITS) == before and count(GRAPH_LAUNCHES) == launched + graph
            near(y.values(), inputs(2))
        with fails(4, "out=[...]"):
            m(x, w)


@case
def warm():
    """After it the first call is one launch of a graph, for the sizes that were given or for all."""
    for given in (False, True):
        with passmith.load(GATE, "cuda", graph=True) as m:
            x, w, y = Gpu(inputs(2), (2, 4)), Gpu(IDENTITY, (4, 4)), Gpu([7] * 8, (2, 4))
            m.warm(*((x, w) if given else ()), stream=A)
            assert x.values() == inputs(2) and y.values() == [7] * 8
            launched = count(GRAPH_LAUNCHES)
            m.run([x, w], out=[y], stream=A)
            near(y.values(), inputs(2))
            assert count(GRAPH_LAUNCHES) == launched + 1
            launched, y5 = count(GRAPH_LAUNCHES), Gpu([0] * 20, (5, 4))
            m.run([Gpu(inputs(5), (5, 4)), w], out=[y5], stream=A)
            near(y5.values(), inputs(5))
            assert count(GRAPH_LAUNCHES) == launched + (not given)
            with fails(2, "was given 1"):
                m.warm(x)
    with fails(2, "closed"):
        m.warm()


@case
def streams():
    """The stream that arrays name is taken; a session belongs to one stream; two streams need a word of the caller."""
    with passmith.load(GATE, "cuda") as m:
        w = Gpu(IDENTITY, (4, 4))
        for s in (A, B, A):
            y, before = Gpu([0] * 8, (2, 4)), count(WAITS)
            m.run([Gpu(inputs(2), (2, 4), s), w], out=[y])
            near(y.values(), inputs(2))
            assert count(WAITS) == before
        assert {s: len(free) for s, free in m._open.free.items()} == {A: 1, B: 1}, m._open.free
        with fails(4, "several streams", "stream="):
            m.run([Gpu(inputs(2), (2, 4), A), Gpu(IDENTITY, (4, 4), B)], out=[y])
        m.run([Gpu(inputs(2), (2, 4), A), Gpu(IDENTITY, (4, 4), B)], out=[y], stream=B)
        near(y.values(), inputs(2))


@case
def dlpack():
    """DLPack is asked for the stream of the run, and for its GPU."""
    with passmith.load(GATE, "cuda") as m:
        x, w, y = Pack(Gpu(inputs(2), (2, 4)), (2, 4)), Gpu(IDENTITY, (4, 4)), Gpu([0] * 8, (2, 4))
        m.run([x, w], out=[y], stream=A)
        near(y.values(), inputs(2))
        assert x.streams == [A], x.streams
        with fails(4, "'x'", "GPU 3", "cuda:0"):
            m.run([Pack(x.gpu, (2, 4), 3), w], out=[y])
    with passmith.load(os.path.join(FOLDER, "gate.pmz"), "emu") as m:
        with fails(4, "'x'", "GPU", "emu"):
            m.run([x, w], out=[y])


@case
def threads():
    """Threads with streams of their own call one model at once."""
    failures = []
    with passmith.load(GATE, "cuda", graph=True) as m:
        def work(number):
            try:
                check(DRIVER.cuCtxSetCurrent(_context))
                own, w = stream(), Gpu(IDENTITY, (4, 4))
                for k in range(50):
                    rows = (2, 5)[(number + k) % 2]
                    y = Gpu([0] * 4 * rows, (rows, 4))
                    m.run([Gpu(inputs(rows, number * k), (rows, 4)), w], out=[y], stream=own)
                    near(y.values(), inputs(rows, number * k))
            except BaseException as e:
                failures.append(repr(e))

        them = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for t in them:
            t.start()
        for t in them:
            t.join()
    assert not failures, failures


@case
def nothing_left():
    """Closed models leave no memory, stream, graph or context; what was enqueued is waited for."""
    m = passmith.load(GATE, "cuda")
    x, w, y = Gpu(inputs(2), (2, 4)), Gpu(IDENTITY, (4, 4)), Gpu([0] * 8, (2, 4))
    m.run([x, w], out=[y], stream=A)
    before = count(WAITS)
    m.close()
    assert count(WAITS) == before + 1
    del x, w, y
    now = [count(k) for k in range(5)]
    now[STREAMS] -= 8  # those of the threads
    assert now == BEFORE, (now, BEFORE)


run()
