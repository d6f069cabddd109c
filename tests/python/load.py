# SPDX-License-Identifier: Apache-2.0
"""load.py FOLDER buffer|numpy - opened packages on the device emu, with arrays of NumPy or without NumPy.

FOLDER has the packages of tests/python/models.sh.
"""
import array
import os
import pickle
import subprocess
import sys
import threading

FOLDER, KIND = sys.argv[1:]
if KIND == "buffer":
    sys.modules["numpy"] = None  # cannot be imported
else:
    import numpy

import passmith  # noqa: E402
from tap import Skip, case, fails, run  # noqa: E402

LETTERS = {"float32": "f", "float64": "d", "int64": "q", "uint8": "B", "bool": "?"}


def path(name):
    return os.path.join(FOLDER, name)


def tensor(values, shape, dtype="float32"):
    """A tensor of the kind that is tested."""
    if KIND == "numpy":
        return numpy.array(values, dtype=dtype).reshape(shape)
    letter = LETTERS[dtype]
    flat = array.array("B" if letter == "?" else letter, values)
    return memoryview(flat).cast("B").cast(letter, shape=list(shape))


def flat(x):
    if x.ndim == 0:
        return [x.tolist()]
    values = x.tolist()
    for _ in range(x.ndim - 1):
        values = [v for row in values for v in row]
    return values


def gate_input(rows, start=0):
    return [((start + i) % 17 - 8) / 4 for i in range(4 * rows)]


IDENTITY = [float(i % 5 == 0) for i in range(16)]


def silu(values):
    import math
    return [v / (1 + math.exp(-v)) for v in values]


def near(x, want):
    got = flat(x)
    assert len(got) == len(want), (got, want)
    assert all(abs(a - b) <= 1e-6 * (1 + abs(b)) for a, b in zip(got, want)), (got, want)


@case
def describes():
    """Inputs, outputs and shapes are those of the model."""
    with passmith.load(path("gate.pmz"), "emu") as m:
        assert m.inputs == (("x", "float32", ("b", 4)), ("w", "float32", (4, 4))), m.inputs
        assert m.outputs == (("y", "float32", ("b", 4)),), m.outputs
        assert m.shapes == ({"x": (2, 4), "w": (4, 4)}, {"x": (5, 4), "w": (4, 4)}), m.shapes
        assert m.device == "emu" and m.about["architectures"] == ["emu"], m.about
        assert "float32[b,4] x" in repr(m), m
        m.verify()


@case
def calls():
    """A call gives the kind of its first input, at each specialised shape."""
    with passmith.load(path("gate.pmz")) as m:
        w = tensor(IDENTITY, (4, 4))
        for rows in (2, 5, 2):
            y = m(tensor(gate_input(rows), (rows, 4)), w)
            assert isinstance(y, numpy.ndarray if KIND == "numpy" else memoryview), type(y)
            assert tuple(y.shape) == (rows, 4), y.shape
            near(y, silu(gate_input(rows)))


@case
def names():
    """Inputs are taken by place, by name and from a dict."""
    with passmith.load(path("gate.pmz")) as m:
        x, w = tensor(gate_input(2), (2, 4)), tensor(IDENTITY, (4, 4))
        for y in (m(x, w), m(x, w=w), m(w=w, x=x), m.run([x, w]), m.run({"w": w, "x": x})):
            near(y, silu(gate_input(2)))
        with fails(2, "Input 'w' is missing"):
            m(x=x)
        with fails(2, "2 inputs and was given 1"):
            m(x)
        with fails(2, "2 inputs and was given 3"):
            m(x, w, w)
        with fails(2, "no input 'v'", "x, w"):
            m(x, v=w)
        with fails(2, "'x' is given twice"):
            m(x, x=x)
        with fails(2, "list", "dict"):
            m.run(x)


@case
def wrong():
    """What is no such input is refused with its name."""
    with passmith.load(path("gate.pmz")) as m:
        x, w = tensor(gate_input(2), (2, 4)), tensor(IDENTITY, (4, 4))
        with fails(4, "Input 'x' is float64", "float32"):
            m(tensor(gate_input(2), (2, 4), "float64"), w)
        with fails(4, "Input 'w'", "[16]", "[4,4]"):
            m(x, tensor(IDENTITY, (16,)))
        with fails(4, "'w'", "Size 1"):
            m(x, tensor(IDENTITY[:12], (4, 3)))
        with fails(4, "'w'", "type int"):
            m(x, 3)
        with fails(6, "x [3,4]", "b=2; b=5"):
            m(tensor(gate_input(3), (3, 4)), w)
        near(m(x, w), silu(gate_input(2)))


@case
def layouts():
    """What is not in row-major order, or read-only, gives the same result."""
    with passmith.load(path("gate.pmz")) as m:
        w = tensor(IDENTITY, (4, 4))
        values = gate_input(2)
        if KIND == "numpy":
            x = tensor(values, (2, 4))
            turned = numpy.asfortranarray(x)
            assert not turned.flags.c_contiguous
            x.flags.writeable = False
            for other in (x, turned, x.astype(">f4"), numpy.repeat(x, 2, axis=0)[::2]):
                near(m(other, w), silu(values))
        else:
            sparse = [0.0] * 16
            sparse[::2] = values
            with fails(4, "'x'", "[8]"):
                m(memoryview(array.array("f", sparse))[::2], w)
            read_only = memoryview(bytes(array.array("f", values))).cast("f", shape=[2, 4])
            assert read_only.readonly
            near(m(read_only, w), silu(values))


@case
def types():
    """Each element type goes in and comes out; a scalar has no sizes."""
    with passmith.load(path("types.pmz")) as m:
        inputs = {"f": tensor([1, 2, 3], (3,)), "d": tensor([1, 2, 3], (3,), "float64"),
                  "i": tensor([1, -2, 3, 1 << 40], (2, 2), "int64"), "u": tensor([1, 2, 3, 4], (4,), "uint8"),
                  "b": tensor([1, 0], (2,), "bool")}
        assert [v.dtype for v in m.inputs] == ["float32", "float64", "float16", "int64", "uint8", "bool"], m.inputs
        if KIND == "buffer":
            inputs["h"] = tensor([1, 2, 3], (3,))
            with fails(4, "'h'", "float32", "float16"):
                m(**inputs)
            return
        inputs["h"] = tensor([1, 2, 3], (3,), "float16")
        f, d, h, i, u, b, s = m(**inputs)
        for x, name in ((f, "float32"), (d, "float64"), (h, "float16")):
            assert str(x.dtype) == name and flat(x) == [2, 4, 6], x
        assert str(i.dtype) == "int64" and i.tolist() == [[2, -4], [6, 1 << 41]], i
        assert str(u.dtype) == "uint8" and flat(u) == [2, 4, 6, 8] and b.tolist() == [False, True], (u, b)
        assert s.shape == () and float(s) == 6, s


@case
def brain():
    """bfloat16 needs a library that has it."""
    with passmith.load(path("brain.pmz")) as m:
        assert m.inputs[0].dtype == "bfloat16"
        if KIND == "buffer":
            with fails(4, "uint16", "bfloat16", "ml_dtypes"):
                m(array.array("H", [0x3f80] * 4))
            return
        with fails(4, "uint16", "bfloat16", "ml_dtypes"):
            m(numpy.full(4, 0x3f80, "uint16"))
        try:
            import ml_dtypes
        except ImportError:
            raise Skip("ml_dtypes is not installed") from None
        y = m(numpy.array([1, 2, 3, 4], dtype=ml_dtypes.bfloat16))
        assert y.dtype == ml_dtypes.bfloat16 and y.astype("float32").tolist() == [2, 4, 6, 8], y


@case
def given_memory():
    """Results go to memory that is given, in place, and nowhere else."""
    with passmith.load(path("gate.pmz")) as m:
        x, w = tensor(gate_input(2), (2, 4)), tensor(IDENTITY, (4, 4))
        y = tensor([7] * 8, (2, 4))
        out = m.run([x, w], out=[y])
        assert out[0] is y
        near(y, silu(gate_input(2)))
        with fails(2, "1 output"):
            m.run([x, w], out=y)
        with fails(4, "output 'y'", "elements of type double"):
            m.run([x, w], out=[tensor([0] * 8, (2, 4), "float64")])
        with fails(2, "output 'y'", "must be 2"):
            m.run([x, w], out=[tensor([0] * 20, (5, 4))])
        with fails(2, "overlaps"):
            m.run([x, w], out=[x])
        with fails(4, "output 'y'", "in place"):
            frozen = y.copy() if KIND == "numpy" else memoryview(bytes(32)).cast("f", shape=[2, 4])
            if KIND == "numpy":
                frozen.flags.writeable = False
            m.run([x, w], out=[frozen])
        with fails(4, "output 'y'", "in place"):
            m.run([x, w], out=[numpy.zeros((4, 2), "float32").T if KIND == "numpy"
                               else memoryview(array.array("f", [0] * 16))[::2]])


class Interface:
    """Another library's array, which says no more than where it lies."""

    def __init__(self, values, shape):
        self.own = array.array("f", values)
        self.__array_interface__ = {"version": 3, "typestr": "<f4", "shape": shape,
                                    "data": (self.own.buffer_info()[0], False)}


@case
def interfaces():
    """Objects of unknown libraries are taken by __array_interface__ and by __dlpack__."""
    with passmith.load(path("gate.pmz")) as m:
        w = Interface(IDENTITY, (4, 4))
        y = m(Interface(gate_input(2), (2, 4)), w)
        assert isinstance(y, numpy.ndarray if KIND == "numpy" else memoryview), type(y)
        near(y, silu(gate_input(2)))
        if KIND == "numpy" and hasattr(numpy.ndarray, "__dlpack__"):
            class Pack:
                def __init__(self, x):
                    self.__dlpack__, self.__dlpack_device__ = x.__dlpack__, x.__dlpack_device__
            x = tensor(gate_input(2), (2, 4))
            for _ in range(100):
                near(m(Pack(x), w), silu(gate_input(2)))
            assert sys.getrefcount(x) < 20, "capsules give their array back"
            with fails(4, "'x'", "one after the other"):
                m(Pack(numpy.asfortranarray(x)), w)


@case
def weights():
    """Constants of the package take part, and are compared with their digest by verify."""
    with passmith.load(path("bias.pmz")) as m:
        m.verify()
        near(m(tensor([0] * 6, (2, 3))), [1, 2, 3, 1, 2, 3])
    whole = bytearray(open(path("bias.pmz"), "rb").read())
    at = whole.rindex(bytes(array.array("f", [1, 2, 3])))
    whole[at + 3] ^= 1
    with open(path("flipped.pmz"), "wb") as f:
        f.write(whole)
    with passmith.load(path("flipped.pmz")) as m, fails(4, "flipped.pmz"):
        m.verify()


@case
def no_inputs():
    """A model without inputs gives arrays of NumPy where it is, else views of memory."""
    with passmith.load(path("alone.pmz")) as m:
        assert m.inputs == () and m.shapes == ({},), m.shapes
        y = m()
        assert isinstance(y, numpy.ndarray if KIND == "numpy" else memoryview), type(y)
        near(y, [2, 4, 6])


@case
def sessions():
    """Calls one after the other share one session."""
    with passmith.load(path("gate.pmz")) as m:
        w = tensor(IDENTITY, (4, 4))
        for k in range(300):
            rows = (2, 5)[k % 2]
            near(m(tensor(gate_input(rows, k), (rows, 4)), w), silu(gate_input(rows, k)))
        assert sum(map(len, m._open.free.values())) == 1, m._open.free


@case
def threads():
    """Several threads call one model at once, and each gets its own results."""
    failures = []
    with passmith.load(path("gate.pmz")) as m:
        w = tensor(IDENTITY, (4, 4))
        begin = threading.Barrier(8)

        def work(number):
            try:
                begin.wait()
                for k in range(100):
                    rows = (2, 5)[(number + k) % 2]
                    near(m(tensor(gate_input(rows, number * k), (rows, 4)), w), silu(gate_input(rows, number * k)))
            except BaseException as e:
                failures.append(repr(e))

        them = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for t in them:
            t.start()
        for t in them:
            t.join()
        assert not failures, failures
        assert 1 <= sum(map(len, m._open.free.values())) <= 8, m._open.free


@case
def closed():
    """A closed model cannot be called; closing waits for calls of other threads."""
    m = passmith.load(path("gate.pmz"))
    x, w = tensor(gate_input(2), (2, 4)), tensor(IDENTITY, (4, 4))
    ran, said = threading.Semaphore(0), []

    def work():
        try:
            while True:
                near(m(x, w), silu(gate_input(2)))
                ran.release()
        except passmith.Error as e:
            said.append(e)

    them = [threading.Thread(target=work) for _ in range(4)]
    for t in them:
        t.start()
    for _ in range(20):
        ran.acquire()
    m.close()
    for t in them:
        t.join()
    assert len(said) == 4 and all(e.code == 2 and "closed" in str(e) for e in said), said
    m.close()
    with fails(2, "closed"):
        m(x, w)
    with fails(2, "closed"):
        m.verify()


@case
def forgotten():
    """A model that nobody holds gives its package back."""
    m = passmith.load(path("gate.pmz"))
    near(m(tensor(gate_input(2), (2, 4)), tensor(IDENTITY, (4, 4))), silu(gate_input(2)))
    opened = m._open
    del m
    assert opened.closed


@case
def malformed():
    """A file that is no package, or is one no more, is refused with its name."""
    whole = open(path("gate.pmz"), "rb").read()
    parts = {"empty": b"", "text": b"not a package\n" * 100, "cut": whole[:len(whole) // 2],
             "header": whole[:9] + bytes([whole[9] ^ 64]) + whole[10:],
             "middle": whole[:4200] + bytes([whole[4200] ^ 1]) + whole[4201:]}
    for name, data in parts.items():
        with open(path(name + ".pmz"), "wb") as f:
            f.write(data)
        with fails(4, name + ".pmz"):
            passmith.load(path(name + ".pmz"))
    with fails(4, "nowhere.pmz"):
        passmith.load(path("nowhere.pmz"))
    with fails(3, "tpu", "emu"):
        passmith.load(path("gate.pmz"), device="tpu")


@case
def errors():
    """An error keeps its code when it goes to another process."""
    e = pickle.loads(pickle.dumps(passmith.Error(4, "A sentence.")))
    assert (e.code, str(e)) == (4, "A sentence.")


@case
def programs():
    """compile and extract run the program, and raise its sentence."""
    said = passmith.compile(path("gate.gpt"), path("again.pmz"), shapes=[{"b": 3}])
    assert said["shapes"][0]["sizes"] == {"b": 3} and "error" not in said, said
    with passmith.load(path("again.pmz")) as m:
        near(m(tensor(gate_input(3), (3, 4)), tensor(IDENTITY, (4, 4))), silu(gate_input(3)))
    said = passmith.extract(path("gate.gpt"), db=path(KIND + ".db"))
    assert said["models_done"] == 1 and said["kinds"], said
    assert said["added"] == {"models": 1, "subgraphs": 4, "structures": 4, "occurrences": 4}, said["added"]
    said = passmith.extract(path("gate.gpt"), db=path(KIND + ".db"))
    assert said["models_skipped"] == 1 and set(said["added"].values()) == {0}, said
    with fails(4, "nowhere.gpt"):
        passmith.compile(path("nowhere.gpt"), path("x.pmz"))


@case
def nothing_there():
    """Without the library and the program a sentence says what to do."""
    env = {k: v for k, v in os.environ.items() if k not in ("PASSMITH_BUILD", "PATH", "LD_LIBRARY_PATH")}
    line = "import sys, passmith\ntry: passmith.WHAT\nexcept passmith.Error as e: print(e.code, e)"
    for what, words in (("load('x')", "libpassmith_rt"), ("extract('x', db='y')", "program passmith")):
        done = subprocess.run([sys.executable, "-c", line.replace("WHAT", what)], capture_output=True, text=True,
                              env=dict(env, PATH=FOLDER), check=False)
        assert done.stdout.startswith("3 ") and words in done.stdout and "PASSMITH_BUILD" in done.stdout, done


run()
