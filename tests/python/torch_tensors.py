# SPDX-License-Identifier: Apache-2.0
"""torch_tensors.py FOLDER - opened packages on the device emu, called with tensors of PyTorch on the CPU.

FOLDER has the packages of tests/python/models.sh.
"""
import os
import sys

import torch

import passmith
from tap import case, fails, run

FOLDER = sys.argv[1]


def path(name):
    return os.path.join(FOLDER, name)


def near(y, want):
    torch.testing.assert_close(y, want, rtol=1e-5, atol=1e-6)


@case
def calls():
    """Tensors go in, and tensors on the same device come out."""
    with passmith.load(path("gate.pmz"), device=torch.device("cpu")) as m:
        w = torch.randn(4, 4)
        for rows in (2, 5):
            x = torch.randn(rows, 4)
            m.warm(x, w)
            y = m(x, w)
            assert type(y) is torch.Tensor and y.device == x.device and not y.requires_grad, y
            near(y, torch.nn.functional.silu(x @ w))
        near(m(x=x, w=torch.nn.Parameter(w)), torch.nn.functional.silu(x @ w))


@case
def again():
    """A call with tensors where those of the call before lay looks at what they are now."""
    with passmith.load(path("gate.pmz")) as m:
        x, w = torch.randn(5, 4), torch.randn(4, 4)

        def want(x):
            return torch.nn.functional.silu(x @ w)

        kept = [m(x, w) for _ in range(3)]
        assert len({y.data_ptr() for y in kept}) == 3
        x.neg_()
        near(m(x, w), want(x))
        near(kept[0], want(-x))
        near(m(x[:2], w), want(x[:2]))  # of the same address, another shape of the package
        near(m(x, w), want(x))
        square, other = x[:4], w.clone()
        with fails(6, "has no shape"):
            m(square, w)
        near(m(x[:2], other), want(x[:2]))
        near(m(x[:2], w), want(x[:2]))
        w.t_()  # of the same address and sizes, otherwise in memory
        near(m(x[:2], w), want(x[:2]))
        w.t_()
        near(m(x[:2], w), want(x[:2]))
        minus = torch._neg_view(x[:2])  # reads as the negative of its memory
        assert minus.is_neg() and minus.data_ptr() == x.data_ptr()
        near(m(minus, w), want(-x[:2]))
        near(m(x, w), want(x))
        with fails(4, "Input 'x'", "int32"):
            m(x.view(torch.int32), w)
        near(m(torch.nn.Parameter(x), w), want(x))
        with fails(2, "was given 3"):
            m(x, w, w)
        with fails(2, "was given 1"):
            m(x)
    with fails(2, "closed"):
        m(x, w)


@case
def layouts():
    """Tensors of other strides are copied once and give the same."""
    with passmith.load(path("gate.pmz")) as m:
        x, w = torch.randn(4, 2).t(), torch.randn(4, 8)[:, ::2]
        assert not x.is_contiguous() and not w.is_contiguous()
        near(m(x, w), torch.nn.functional.silu(x @ w))


@case
def types():
    """Each element type goes in and comes out, bfloat16 too."""
    with passmith.load(path("types.pmz")) as m:
        f, d, h, i, u, b, s = m(torch.tensor([1., 2., 3.]), torch.tensor([1., 2., 3.], dtype=torch.float64),
                                torch.tensor([1., 2., 3.], dtype=torch.float16), torch.tensor([[1, -2], [3, 1 << 40]]),
                                torch.tensor([1, 2, 3, 4], dtype=torch.uint8), torch.tensor([True, False]))
        for x, dtype in ((f, torch.float32), (d, torch.float64), (h, torch.float16)):
            assert x.dtype is dtype and x.tolist() == [2, 4, 6], x
        assert i.dtype is torch.int64 and i.tolist() == [[2, -4], [6, 1 << 41]], i
        assert u.tolist() == [2, 4, 6, 8] and b.tolist() == [False, True] and b.dtype is torch.bool, (u, b)
        assert s.shape == () and s.item() == 6, s
    with passmith.load(path("brain.pmz")) as m:
        y = m(torch.tensor([1, 2, 3, 4], dtype=torch.bfloat16))
        assert y.dtype is torch.bfloat16 and y.tolist() == [2, 4, 6, 8], y


@case
def given_memory():
    """Results go to tensors that are given."""
    with passmith.load(path("gate.pmz")) as m:
        x, w, y = torch.randn(2, 4), torch.randn(4, 4), torch.zeros(2, 4)
        assert m.run([x, w], out=[y])[0] is y
        near(y, torch.nn.functional.silu(x @ w))
        with fails(4, "output 'y'", "in place"):
            m.run([x, w], out=[torch.zeros(4, 2).t()])


@case
def mixed():
    """The first input says of which kind the result is."""
    try:
        import numpy
    except ImportError:
        numpy = None
    with passmith.load(path("gate.pmz")) as m:
        x, w = torch.randn(2, 4), torch.randn(4, 4)
        flat = memoryview(bytearray(64)).cast("f", shape=[4, 4])
        assert torch.is_tensor(m(x, flat)) and m(x, flat).abs().max() == 0
        if numpy is not None:
            assert isinstance(m(x.numpy(), w), numpy.ndarray)
            near(torch.from_numpy(m(x.numpy(), w)), torch.nn.functional.silu(x @ w))


@case
def wrong():
    """What is no such tensor is refused with its name."""
    with passmith.load(path("gate.pmz")) as m:
        w = torch.randn(4, 4)
        with fails(4, "'x'", "float64"):
            m(torch.randn(2, 4).double(), w)
        with fails(4, "'x'", "complex64"):
            m(torch.randn(2, 4, dtype=torch.complex64), w)
        with fails(4, "'x'", "sparse"):
            m(torch.eye(4).to_sparse(), w)
        with fails(4, "'x'", "meta"):
            m(torch.empty(2, 4, device="meta"), w)
        with fails(6, "x [3,4]"):
            m(torch.randn(3, 4), w)


run()
