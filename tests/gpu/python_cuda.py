#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_cuda.py - the Python package on a GPU: CUDA tensors of PyTorch, streams, graphs, threads, other libraries'
interfaces, and the backend of torch.compile. Exit status 0: all is right; 1: something is not; 77: there is no GPU.

    PASSMITH_BUILD=build tests/gpu/python_cuda.py [--without-compile]

Needs PyTorch with CUDA, and for the backend onnx and onnxscript. A call that waits where it must not ends the script by
its watchdog after ten minutes.
"""
import ctypes
import faulthandler
import os
import shutil
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))  # the package, where no wheel is installed
sys.path.append(os.path.join(HERE, "..", "python"))  # tap.py

try:
    import torch
except ImportError:
    print("PyTorch is not installed")
    sys.exit(77)
if not torch.cuda.is_available():
    print("there is no GPU that PyTorch can use")
    sys.exit(77)
faulthandler.dump_traceback_later(600, exit=True)

import torch.nn.functional as F  # noqa: E402

import passmith  # noqa: E402
from tap import Skip, case, fails, run  # noqa: E402

WORK = tempfile.TemporaryDirectory(prefix="passmith-cuda-")
os.environ.setdefault("PASSMITH_CACHE", os.path.join(WORK.name, "cache"))
ARCH = "sm_%d%d" % torch.cuda.get_device_capability()
EMU = shutil.which("g++") is not None
ROWS = (4, 96)
WIDTH = 256
torch.backends.cuda.matmul.allow_tf32 = False
torch.manual_seed(5)

MODEL = f"""gate (TYPE[b,{WIDTH}] x, TYPE[{WIDTH},{WIDTH}] w) => (TYPE[b,{WIDTH}] y)
{{
   h = MatMul (x, w)
   s = Sigmoid (h)
   y = Mul (h, s)
}}
"""


def package(dtype):
    path = os.path.join(WORK.name, dtype)
    if not os.path.exists(path + ".pmz"):
        with open(path + ".gpt", "w", encoding="utf-8") as f:
            f.write(MODEL.replace("TYPE", dtype))
        passmith.compile(path + ".gpt", path + ".pmz", arch=ARCH + (",emu" if EMU else ""), shapes=[{"b": n} for n in ROWS])
    return path + ".pmz"


def draw(rows, dtype=torch.float32):
    return torch.randn(rows, WIDTH, device="cuda").to(dtype)


def weight(dtype=torch.float32):
    return (torch.randn(WIDTH, WIDTH, device="cuda") / WIDTH ** 0.5).to(dtype)


def want(x, w):
    return F.silu(x.double() @ w.double())


def near(y, x, w, tolerance=1e-4):
    torch.testing.assert_close(y.double(), want(x, w), rtol=tolerance, atol=tolerance)


class Gate:
    """Holds up a stream until it is opened, whatever the time is: a wait of the GPU for a word of the host's memory."""

    def __init__(self):
        self.word = torch.zeros(1, dtype=torch.int32).pin_memory()
        self.driver = ctypes.CDLL("libcuda.so.1")

    def hold(self, stream):
        handle = ctypes.c_void_p(stream.cuda_stream)
        code = self.driver.cuStreamWaitValue32_v2(handle, ctypes.c_uint64(self.word.data_ptr()), ctypes.c_uint32(1),
                                                  ctypes.c_uint(0))
        if code:
            raise Skip(f"this driver lets no stream wait for a word (error {code})")

    def open(self):
        self.word[0] = 1


@case
def types():
    """Tensors on the GPU give tensors on the GPU, at each shape and floating-point type."""
    for name, tolerance in (("float", 1e-4), ("float16", 1e-2), ("bfloat16", 5e-2)):
        dtype = {"float": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}[name]
        with passmith.load(package(name)) as m:
            assert m.device.startswith("cuda:0"), m.device
            w = weight(dtype)
            for rows in ROWS:
                x = draw(rows, dtype)
                y = m(x, w)
                assert y.device == x.device and y.dtype is dtype, y
                near(y, x, w, tolerance)
                near(m.run([x, w], graph=True), x, w, tolerance)


@case
def warm():
    """A warmed model computes the same, with its graph and without, on the stream it was warmed on and on another; no tensor is written."""
    for graph in (False, True):
        with passmith.load(package("float"), graph=graph) as m:
            x, w = draw(4), weight()
            kept = x.clone(), w.clone()
            m.warm(x, w)
            m.warm()
            assert torch.equal(x, kept[0]) and torch.equal(w, kept[1])
            near(m(x, w), x, w)
            other = torch.cuda.Stream()
            m.warm(x, w, stream=other.cuda_stream)
            other.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(other):
                y = m(x, w)
            torch.cuda.current_stream().wait_stream(other)
            near(y, x, w)
            for rows in ROWS:
                x = draw(rows)
                near(m(x, w), x, w)


@case
def host():
    """Tensors of the host come back to the host; the first input decides."""
    with passmith.load(package("float"), "cuda") as m:
        x, w = draw(4), weight()
        y = m(x.cpu(), w)
        assert y.device.type == "cpu"
        near(y, x.cpu(), w.cpu())
        y = m(x, w.cpu())
        assert y.is_cuda
        near(y, x, w)
        near(m(x.t().contiguous().t(), w), x, w)
        part = torch.empty(1 + 4 * WIDTH, device="cuda")[1:].view(4, WIDTH)  # no multiple of 256 bytes
        part.copy_(x)
        near(m(part, w), x, w)
    if EMU:
        with passmith.load(package("float"), "emu") as m, fails(4, "GPU", "emu"):
            m(x, w)


@case
def enqueues():
    """A call on PyTorch's stream waits for nothing, and comes after what the stream had before."""
    for graph in (False, True):
        for stream in (torch.cuda.Stream(), torch.cuda.default_stream()):
            with passmith.load(package("float"), graph=graph) as m, torch.cuda.stream(stream):
                w, x, late, y = weight(), draw(4), draw(4), torch.empty(4, WIDTH, device="cuda")
                near(m(x, w), x, w)  # takes what memory it needs
                m.run([x, w], out=[y])
                torch.cuda.synchronize()
                gate = Gate()
                gate.hold(stream)
                x.copy_(late)
                m.run([x, w], out=[y])
                twice = y * 2
                assert not stream.query(), "the stream is held, and the call came back"
                gate.open()
                stream.synchronize()
                near(twice / 2, late, w)


@case
def graphs():
    """Graphs give the same at changing pointers and shapes."""
    with passmith.load(package("float"), graph=True) as m:
        w, kept = weight(), []
        for k in range(200):
            x = draw(ROWS[k % 2])
            y = m(x, w)
            kept.append((x, y))
            if k % 7 == 0:
                w = weight()
                kept.clear()
            for x, y in kept[-3:]:
                near(y, x, w)


@case
def threads():
    """8 threads with streams of their own call one model at once."""
    failures = []
    for graph in (False, True):
        with passmith.load(package("float"), graph=graph) as m:
            def work(number):
                try:
                    with torch.cuda.stream(torch.cuda.Stream()):
                        w = weight()
                        for k in range(100):
                            x = draw(ROWS[(number + k) % 2])
                            near(m(x, w), x, w)
                except BaseException as e:
                    failures.append(f"{type(e).__name__}: {e}")

            them = [threading.Thread(target=work, args=(n,)) for n in range(8)]
            for t in them:
                t.start()
            for t in them:
                t.join()
    assert not failures, failures[:2]


class Interface:
    def __init__(self, x, stream):
        self.__cuda_array_interface__ = {**x.detach().__cuda_array_interface__, "stream": stream, "version": 3}


class Pack:
    def __init__(self, x):
        self.__dlpack__, self.__dlpack_device__ = x.__dlpack__, x.__dlpack_device__


@case
def interfaces():
    """Arrays of other libraries on the GPU are taken, with memory for the results."""
    with passmith.load(package("float")) as m:
        x, w = draw(4), weight()
        side = torch.cuda.Stream()
        torch.cuda.synchronize()
        for a in (Interface(x, None), Interface(x, side.cuda_stream), Interface(x, 1), Pack(x)):
            y = torch.zeros(4, WIDTH, device="cuda")
            torch.cuda.synchronize()
            m.run([a, Interface(w, None)], out=[Interface(y, None)])
            torch.cuda.synchronize()
            near(y, x, w)
        with fails(4, "out="):
            m(Interface(x, None), w)


@case
def memory():
    """Calls take no more memory of the GPU, and a closed model gives its memory back."""
    x, w = draw(96), weight()
    for _ in range(2):  # the first one pays for what the driver keeps
        torch.cuda.synchronize()
        before = torch.cuda.mem_get_info()[0]
        with passmith.load(package("float"), graph=True) as m:
            for _ in range(20):
                y = m(x, w)
            torch.cuda.synchronize()
            steady = torch.cuda.mem_get_info()[0]
            for _ in range(2000):
                y = m(x, w)
            torch.cuda.synchronize()
            assert torch.cuda.mem_get_info()[0] >= steady, "2000 calls took memory"
            del y
        after = torch.cuda.mem_get_info()[0]
    assert after >= before, f"{before - after} bytes did not come back"


class MLP(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = torch.nn.Linear(64, 128), torch.nn.Linear(128, 64), torch.nn.LayerNorm(64)

    def forward(self, x):
        return self.norm(x + self.down(F.gelu(self.up(x))))


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = torch.nn.Linear(64, 192), torch.nn.Linear(64, 64)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, 4, 16).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, 64))


class Conv(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm = torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16)
        self.b = torch.nn.Conv2d(16, 16, 3, stride=2)

    def forward(self, x):
        return F.relu(self.b(F.relu(self.norm(self.a(x))))).mean((2, 3))


@case
def backend():
    """torch.compile gives what PyTorch gives, by packages alone, plain and as CUDA graphs."""
    if "--without-compile" in sys.argv:
        raise Skip("--without-compile was given")
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        raise Skip("onnxscript is not installed") from None
    import passmith.torch
    torch.backends.cudnn.allow_tf32 = False
    made = ((MLP(), (4, 64), (7, 64), (9, 64)), (Attention(), (2, 16, 64), (2, 40, 64)), (Conv().eval(), (2, 3, 32, 32)))
    for dtype, tolerance in ((torch.float32, 1e-3), (torch.float16, 2e-2)):
        for mode in (None, "reduce-overhead"):
            for model, *shapes in made:
                model = model.to("cuda", dtype)
                torch._dynamo.reset()
                passmith.torch.reset()
                fast = torch.compile(model, backend="passmith", mode=mode)
                with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
                    for shape in (*shapes, *shapes):
                        x = torch.randn(shape, device="cuda", dtype=dtype)
                        torch.testing.assert_close(fast(x), model(x), rtol=tolerance, atol=tolerance)
                    torch.cuda.current_stream().synchronize()
                r = passmith.torch.report()
                assert r["packages"] and r["eager_calls"] == 0, (type(model).__name__, r)


run()
